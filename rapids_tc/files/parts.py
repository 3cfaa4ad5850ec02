"""Folders and patterns of names: the parts of one edge list, in files of their own."""

from __future__ import annotations

import glob
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.files.source import EdgeFileError, NoEdgeError, Source

if TYPE_CHECKING:
    from collections.abc import Callable

    from rapids_tc.files.source import Options

_OF_ONE_PART = ("the first line ", "first edge: ", "comment lines ")  # guesses that are told once


def find_parts(path: Path) -> list[Path] | None:
    """Return the parts of a folder or a pattern, by name; None if `path` is one file."""
    if path.is_dir():
        if (path / "_delta_log").is_dir():
            raise EdgeFileError(
                f"{path.name}: a Delta table, some of whose files may be deleted rows: read it by "
                "a library that knows Delta, and hand the frame on"
            )
        inside = (file.relative_to(path) for file in path.rglob("*") if file.is_file())
        shown = (file for file in inside if not any(name[0] in "_." for name in file.parts))
        parts = sorted(path / file for file in shown)
        if not parts:
            raise NoEdgeError(f"{path.name}: a folder without files")
        return parts
    if glob.has_magic(str(path)) and not path.exists():
        return sorted(map(Path, glob.glob(str(path), recursive=True))) or None
    return None


def _share(
    tick: Callable[[float], None] | None, number: int, parts: int
) -> Callable[[float], None] | None:
    """Return what reports the share of one part as one of the whole."""
    return tick and (lambda done: tick((number + done) / parts))


def join_parts(
    path: Path,
    parts: list[Path],
    options: Options,
    read: Callable[[Source, Options], Any],
    tick: Callable[[float], None] | None,
) -> tuple[Any, str, np.ndarray, list[str], tuple[str, str], Any]:
    """Read all parts, and return the fields of the whole as an `EdgeFile` has them."""
    import pandas as pd

    def read_all(options: Options) -> list[Any]:
        files = []
        for number, part in enumerate(parts):
            files.append(read(Source(part, _share(tick, number, len(parts))), options))
        return [file for file in files if file is not None]

    files = read_all(options)
    if not files:
        raise NoEdgeError(f"{path.name}: {len(parts)} parts, and no edge in any")
    formats = sorted({file.format for file in files})
    if len(formats) > 1:
        raise EdgeFileError(f"{path.name}: parts of several formats: {', '.join(formats)}")
    dtypes = {
        dtype.kind in "iu"
        for file in files
        for dtype in file.frame[list(file.ids)].dtypes
        if len(file.frame)
    }
    if len(dtypes) > 1 and formats == ["text"] and options.ids is None:
        files = read_all(replace(options, ids="string"))
    frame = pd.concat([file.frame for file in files], ignore_index=True)
    isolated = np.concatenate([file.isolated for file in files])
    if len(isolated):  # in one part, and perhaps not in another
        ends = pd.concat([frame[name] for name in files[0].ids])
        isolated = pd.Index(isolated).difference(pd.Index(ends), sort=False).to_numpy()
    guesses = list(files[0].guesses)
    for file in files[1:]:
        guesses += [g for g in file.guesses if g not in guesses and not g.startswith(_OF_ONE_PART)]
    guesses = [f"{len(parts)} parts, from {parts[0].name} on", *guesses]
    return frame, formats[0], isolated, guesses, files[0].ids, _directions(files)


def _directions(files: list[Any]) -> Any:
    """Return which edges of all parts have a direction; of a part that does not say it, all."""
    one_way = (True if file.directed is None else file.directed for file in files)
    said = [np.broadcast_to(a, len(f.frame)) for a, f in zip(one_way, files, strict=True)]
    if all(file.directed is None for file in files):
        return None
    every = np.concatenate(said)
    return every if len({*every.tolist()}) == 2 else bool(every.all())
