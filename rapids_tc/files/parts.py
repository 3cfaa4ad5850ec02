"""Folders and patterns of names: the parts of one edge list, in files of their own."""

from __future__ import annotations

import glob
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import numpy as np

from rapids_tc.files.beside import one_or_each
from rapids_tc.files.source import EdgeFileError, NoEdgeError, Source

if TYPE_CHECKING:
    from collections.abc import Callable

    from rapids_tc.files.source import ReadOptions

_NULL = "__HIVE_DEFAULT_PARTITION__"
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


def keys_of(part: Path, path: Path) -> dict[str, str | None]:
    """Return the keys and values in the names of folders, day=mo, as Hive and Spark write them."""
    folders = part.relative_to(path).parts[:-1] if path.is_dir() else part.parts[:-1]
    pairs = (folder.split("=", 1) for folder in folders if folder.find("=") > 0)
    return {unquote(key): None if value == _NULL else unquote(value) for key, value in pairs}


def _with_keys(file: Any, part: Path, keys: dict[str, str | None]) -> Any:
    """Return a part with the keys of its folders as columns of text."""
    import pandas as pd

    frame = file.frame
    if twice := [name for name in keys if name in frame.columns]:
        raise EdgeFileError(
            f"{part.name}: {twice[0]!r} is a column and a key of the folder: rename one of them"
        )
    columns = {name: pd.Series([keys[name]] * len(frame), frame.index) for name in keys}
    return replace(file, frame=frame.assign(**columns))


def join_parts(
    path: Path,
    parts: list[Path],
    options: ReadOptions,
    read: Callable[[Source, ReadOptions], Any],
    tick: Callable[[float], None] | None,
) -> tuple[Any, str, np.ndarray, list[str], tuple[str, str], Any]:
    """Read all parts, and return the fields of the whole as an `EdgeFile` has them."""
    import pandas as pd

    keys = [keys_of(part, path) for part in parts]
    known = dict.fromkeys(name for found in keys for name in found)
    wanted = [name for name in known if options.keep == "all" or name in options.keep]
    if wanted and any(found.keys() != known.keys() for found in keys):
        raise EdgeFileError(f"{path.name}: not all folders have the keys {', '.join(known)}")
    if wanted and not isinstance(options.keep, str):
        others = tuple(column for column in options.keep if column not in wanted)
        options = replace(options, keep=others, named=True)

    def read_all(options: ReadOptions) -> list[Any]:
        files = []
        for number, part in enumerate(parts):
            try:
                file = read(Source(part, _share(tick, number, len(parts))), options)
            except EdgeFileError as error:
                raise EdgeFileError(f"{error}{_of_several_kinds(path, parts)}") from error
            if file is not None:
                files.append(_with_keys(file, part, {name: keys[number][name] for name in wanted}))
        filled = [file for file in files if len(file.frame) or len(file.isolated)]
        return filled or files[:1]

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
        if more := _of_several_kinds(path, parts):
            raise EdgeFileError(
                f"{path.name}: ids are integers in some parts, text in others{more}"
            )
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


def _of_several_kinds(path: Path, parts: list[Path]) -> str:
    """Say, of parts whose names end in several ways, how some are named; else nothing."""
    ends = sorted({part.suffix or part.name for part in parts})
    if len(ends) < 2:
        return ""
    pattern = path / f"*{ends[0]}" if path.is_dir() else f"*{ends[0]}"
    return (
        f"; there are {', '.join(ends)} files: name those with edges by a pattern, {str(pattern)!r}"
    )


def _directions(files: list[Any]) -> Any:
    """Return which edges of all parts have a direction; of a part that does not say it, all."""
    one_way = (True if file.directed is None else file.directed for file in files)
    said = [np.broadcast_to(a, len(f.frame)) for a, f in zip(one_way, files, strict=True)]
    if all(file.directed is None for file in files):
        return None
    return one_or_each(np.concatenate(said))
