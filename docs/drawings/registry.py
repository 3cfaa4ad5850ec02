"""Every drawing by its name, and the files that are made of them."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import matplotlib

DRAWINGS = {}
FORMS = ("light", "dark")
_SOURCES = Path(__file__).parent
_RESULTS = _SOURCES.parents[1] / "benchmarks" / "results"


@dataclass(frozen=True)
class Drawing:
    """A function that makes a sheet, and what is said of it."""

    draw: object
    alt: str  # for those who do not see it
    caption: str
    functions: tuple[str, ...]  # whose page of the reference shows it
    narrow: bool  # it can be read on a phone without scrolling


def _line(words):
    return " ".join(words.split())


def drawing(alt, caption, functions=(), narrow=False):
    """Register a function by its name."""

    def register(draw):
        DRAWINGS[draw.__name__] = Drawing(draw, _line(alt), _line(caption), functions, narrow)
        return draw

    return register


def of_function(name):
    """The drawings of the page of a function."""
    return [key for key, drawing in DRAWINGS.items() if name in drawing.functions]


def write(folder):
    """Write both forms of all drawings into a folder, if code or figures have changed."""
    paths = [*_SOURCES.glob("*.py"), *_RESULTS.glob("*.jsonl")]
    sources = [path.read_bytes() for path in sorted(paths)]
    made_by = hashlib.sha256(b"".join(sources) + matplotlib.__version__.encode()).hexdigest()
    stamp = folder / "made_by"
    wanted = {f"{name}-{form}.svg" for name in DRAWINGS for form in FORMS}
    there = {path.name for path in folder.glob("*.svg")}
    if wanted == there and stamp.exists() and stamp.read_text() == made_by:
        return
    folder.mkdir(exist_ok=True)
    for name in there - wanted:
        (folder / name).unlink()
    for name, drawing in DRAWINGS.items():
        sheet = drawing.draw()
        for form in FORMS:
            (folder / f"{name}-{form}.svg").write_text(sheet.svg(dark=form == "dark"))
    stamp.write_text(made_by)
