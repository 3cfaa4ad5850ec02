"""CUDA sources as one string each: our includes inlined, lines still named by file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

FOLDER = Path(__file__).with_name("cuda")
_INCLUDE = re.compile(r"\s*#\s*include\s*(?:\"([^\"]+)\"|(\S+))")
_ONCE = re.compile(r"\s*#\s*pragma\s+once\b")


def read(file: str | os.PathLike[str]) -> str:
    """Read a CUDA source with every ``#include "x.cuh"`` inlined, each file once.

    Compilers of CUDA are given one string: caches that hash the source then see the headers too,
    and no include path reaches a machine without a toolkit. ``#line`` directives keep the name
    and the line of every statement, in compiler messages and in the emulator's errors.

    Parameters
    ----------
    file : str or path
        A file of ours by its name (``"bitmap.cu"``), or the path of your own. Its includes are
        looked for beside the file that includes them, then among ours.

    Returns
    -------
    str
        The whole source.

    Raises
    ------
    ValueError
        An include of anything but such files: a kernel must compile without a toolkit.
    """
    path = FOLDER / file
    return "\n".join(_inline(path if path.is_file() else Path(file), set())) + "\n"


def _inline(path: Path, seen: set[Path]) -> Iterator[str]:
    seen.add(path.resolve())
    yield f'#line 1 "{path.name}"'
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if found := _INCLUDE.match(line):
            target = _find(found, path, number)
            if target.resolve() not in seen:
                yield from _inline(target, seen)
            yield f'#line {number + 1} "{path.name}"'
        else:
            yield "" if _ONCE.match(line) else line


def _find(include: re.Match[str], path: Path, number: int) -> Path:
    for folder in (path.parent, FOLDER):
        if include[1] and (folder / include[1]).is_file():
            return folder / include[1]
    raise ValueError(
        f"{path.name}:{number}: cannot inline {include[1] or include[2]}: a kernel may include, in "
        f'"quotes", files beside it and those of {FOLDER}'
    )
