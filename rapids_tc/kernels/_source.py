"""CUDA sources as one string each: includes are inlined, and lines keep their file's name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

FOLDER = Path(__file__).with_name("cuda")
_INCLUDE = re.compile(r"\s*#\s*include\s*(?:\"([^\"]+)\"|(\S+))")
_ONCE = re.compile(r"\s*#\s*pragma\s+once\b")


def read(file: str | os.PathLike[str]) -> str:
    """Read a CUDA source with every ``#include "x.cuh"`` inlined, each file once.

    A compiler gets one string: caches that hash the source see the headers, too, and no include
    path has to exist on a machine without a toolkit. ``#line`` directives keep the name
    and the line of every statement, in compiler messages and in the emulator's errors.

    Parameters
    ----------
    file : str or path
        The name of a file of rapids_tc (``"bitmap.cu"``), or the path of your own. Its includes are
        looked for beside the file that includes them, then among the files of rapids_tc.

    Returns
    -------
    str
        The whole source.

    Raises
    ------
    ValueError
        The source includes any other file: a kernel must compile without a toolkit.
    """
    path = FOLDER / file
    return "\n".join(_inline(path if path.is_file() else Path(file), set())) + "\n"


def _inline(path: Path, seen: set[Path]) -> Iterator[str]:
    """Yield the lines of a file and of the files that it includes, except files in `seen`."""
    seen.add(path.resolve())
    yield f'#line 1 "{path.name}"'
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if include := _INCLUDE.match(line):
            target = _find(include, path, number)
            if target.resolve() not in seen:
                yield from _inline(target, seen)
            yield f'#line {number + 1} "{path.name}"'
        else:
            yield "" if _ONCE.match(line) else line


def _find(include: re.Match[str], path: Path, number: int) -> Path:
    """Return the path of an included file."""
    for folder in (path.parent, FOLDER):
        if include[1] and (folder / include[1]).is_file():
            return folder / include[1]
    raise ValueError(
        f"{path.name}:{number}: cannot inline {include[1] or include[2]}: a kernel may include, in "
        f'"quotes", files beside it and those of {FOLDER}'
    )
