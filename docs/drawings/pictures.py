"""The pictures of the examples, in the two forms of the site, and what is said of them.

    cd docs && python -m drawings.pictures [name ...]

runs the scripts and writes ``images/``, with what they print. The site, its notebooks and the
README show these files; a test says which of them are older than their script.
"""

import hashlib
import json
import re
import sys
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from runpy import run_path
from unittest.mock import patch

import matplotlib

from drawings.style import COLORS, FIXED, color

DOCS = Path(__file__).parents[1]
IMAGES, EXAMPLES = DOCS / "images", DOCS.parent / "examples"
MADE_BY = IMAGES / "made_by.json"
# Colors of `rapids_tc.plot`, and of marks that stand out by a white rim.
_DARK = dict(COLORS.values()) | {
    "#dd6b20": "#f7a35c", "#c9d1d9": "#3b4450", "#2d3748": "#e2e8f0", "#ffffff": "#131416",
    "#d9d9d9": "#3b4450",
}  # fmt: skip


@dataclass(frozen=True)
class Picture:
    """What the gallery and those who do not see it read of the picture of an example."""

    title: str
    about: str
    alt: str
    caption: str
    page: str
    arguments: tuple[str, ...] = ()  # with which the script draws


PICTURES = {
    "les_miserables": Picture(
        "Les Misérables",
        "Who is at the heart of the novel, by trusses.",
        "On the left a graph with its dense part on a circle; on the right a falling line.",
        "Left: characters of Les Misérables, those of the last truss on the circle, their ties in "
        "orange. Right: how many edges each k-truss has (line), and how many have trussness k "
        "(dots).",
        "examples/les_miserables",
    ),
    "novel_in_pictures": Picture(
        "A novel in four pictures",
        "Communities, their hierarchy, triads and squares.",
        "Four charts of one graph: its edges in three colors, a tree, four bars over little "
        "drawings of three vertices, and a falling line with dots.",
        "Les Misérables. Above: the communities at k = 6, and those of every k; the area of a dot "
        "is the number of characters. Below: sets of three characters by their ties, and how many "
        "characters are in at least so many squares.",
        "examples/novel_in_pictures",
    ),
    "karate_club": Picture(
        "The karate club",
        "Which ties held the club together before it split.",
        "Two drawings of the graph of a karate club, with a dense part of it on a circle.",
        "Members of the karate club. On the circle, in orange: the 4-truss, on the left, and the "
        "5-truss, on the right. All other ties are gray.",
        "examples/karate_club",
    ),
    "rings": Picture(
        "Rings of strangers",
        "Fraud rings among payments and devices, by types.",
        "Three bars on a logarithmic scale, for triangles by the types of their sides.",
        "Triangles by the types of their three sides, on a logarithmic scale. The lowest bar is "
        "the rings.",
        "examples/rings",
    ),
    "fraud_rings": Picture(
        "Fraud rings, day by day",
        "Truss communities of a graph that is updated.",
        "For each of nine rings a bar of days on a line of time, with dots in its second half.",
        "Gray: the days on which a ring works. Dots: the days on which a truss community consists "
        "of members of this ring alone.",
        "examples/fraud_rings",
    ),
    "paid_reviews": Picture(
        "Paid reviews",
        "Accounts that review the same products, by squares.",
        "On the left dots of two colors, which part well; on the right three curves.",
        "Left: each account by its products and its squares. Right: how many paid accounts are "
        "among the first that each ranking names.",
        "examples/paid_reviews",
    ),
    "messages_over_time": Picture(
        "Messages over time",
        "A project mixes the teams of a firm.",
        "On the left two lines over time with a dip in the middle; on the right a rising line.",
        "Left: triangles of the messages of seven days from each day on, and of one. Right: "
        "triangles formed so far. The project lasts from day 60 to day 80, in March.",
        "examples/messages_over_time",
    ),
    "python_imports": Picture(
        "Imports of Python's library",
        "Directions, loops and repeats in a real graph.",
        "On the left dots with a falling line of means; on the right a falling line with dots.",
        "Left: clustering of each module over its number of neighbors, and the mean. Right: how "
        "many modules are in at least so many triangles.",
        "examples/python_imports",
    ),
    "laundering": Picture(
        "Money laundering",
        "A model that learns with and without columns as of their time.",
        "On the left five lines that rise by columns; on the right bars in groups of three.",
        "Left: how well a model ranks planted payments, on each of five sets of data, if it has "
        "columns of accounts, fans as well, and shapes as well. Right: the share of each pattern "
        "that is found, on average.",
        "howto/learning",
        ("--picture", "laundering.png"),
    ),
}  # fmt: skip
_LONG = re.compile(r"(\.\d\d)\d+")  # a hundredth of a point is not seen
_STYLE = FIXED | {
    "font.size": 10, "axes.spines.top": False, "axes.spines.right": False,
    "savefig.transparent": True, "legend.facecolor": "none", "legend.edgecolor": "none",
    "axes.prop_cycle": matplotlib.cycler(color=[color(x) for x in ("main", "accent", "third")]),
} | dict.fromkeys(
    ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), color("ink")
)  # fmt: skip


def script(name):
    """The path of an example."""
    return EXAMPLES / f"{name}.py"


def made_by():
    """{example: hash of the script that its picture in ``images/`` was made by}."""
    return json.loads(MADE_BY.read_text()) if MADE_BY.exists() else {}


def hashed(name):
    """The hash of a script."""
    return hashlib.sha256(script(name).read_bytes()).hexdigest()


def dark(light):
    """The dark form of a file: the other color of each role."""
    return re.sub(r"#[0-9a-f]{6}\b", lambda x: _DARK.get(x[0], x[0]), light)


def printed(name):
    """What an example printed when its picture was made."""
    path = IMAGES / f"{name}.txt"
    return path.read_text() if path.exists() else ""


def drawn(name):
    """Run an example, and return its picture as SVG, and what it prints."""
    file, lines = StringIO(), StringIO()
    save = matplotlib.figure.Figure.savefig

    def to_text(figure, *args, **options):
        save(figure, file, format="svg", metadata={"Date": None})

    patched = patch.object(matplotlib.figure.Figure, "savefig", to_text)
    argv = patch.object(sys, "argv", [name, *PICTURES[name].arguments])
    with matplotlib.rc_context(_STYLE), argv, patched, redirect_stdout(lines):
        run_path(str(script(name)), run_name="__main__")
    text = re.sub(r"[ \t]+$", "", file.getvalue(), flags=re.M)
    text = re.sub(r'(?<= [dxy]=")[^"]*', lambda x: _LONG.sub(r"\1", x[0]), text)
    return text, lines.getvalue()


def write(names):
    """Write both forms of the pictures of some examples."""
    IMAGES.mkdir(exist_ok=True)
    for name in names:
        light, lines = drawn(name)
        (IMAGES / f"{name}-light.svg").write_text(light)
        (IMAGES / f"{name}-dark.svg").write_text(dark(light))
        if lines and PICTURES[name].page.startswith("examples/"):
            (IMAGES / f"{name}.txt").write_text(lines)
        MADE_BY.write_text(json.dumps(made_by() | {name: hashed(name)}, indent=1) + "\n")


if __name__ == "__main__":
    write(sys.argv[1:] or PICTURES)
