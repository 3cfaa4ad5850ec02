"""Rows written to a folder of Parquet with further columns, some rows at a time."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from rapids_tc.frames.adapters import pyarrow, root
from rapids_tc.frames.scans import RowSource

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rapids_tc._typing import Frame

PART = "part-0.parquet"
MOST = 1 << 18  # rows that are written at a time
LEAST = 1024


def check_folder(out: Any, *, force: bool) -> None:
    """Raise the error that would stop a folder from being written, before any work is done."""
    if not isinstance(out, str | os.PathLike) or not os.fspath(out):
        raise ValueError(f"out={out!r}: give the name of a folder")
    folder = Path(out).resolve()
    if folder.exists() and not folder.is_dir():
        raise FileExistsError(f"out={str(out)!r} is a file: give the name of a folder")
    if not folder.parent.is_dir():
        raise FileNotFoundError(f"out={str(out)!r}: there is no folder {str(folder.parent)!r}")
    if folder.is_dir() and any(folder.iterdir()) and not force:
        raise FileExistsError(
            f"out={str(out)!r} is there already, and is not empty; force=True replaces it"
        )


def require_apart(source: RowSource, out: Any) -> None:
    """Raise ValueError if a folder has the files of some rows, or would be read as one of them."""
    folder = Path(out).resolve()
    if any(file.resolve().is_relative_to(folder) for file in source.files):
        raise ValueError(f"out={str(out)!r} holds the files that edges are read from: name another")
    if any(folder.is_relative_to(scanned.resolve()) for scanned in source.folders):
        raise ValueError(
            f"out={str(out)!r} lies in a folder that edges are read from, and would be read as a "
            "part of them: name another"
        )


def rows_of(frame: Frame) -> RowSource:
    """Return the rows of a frame that can be written; TypeError if its own library writes it."""
    if isinstance(frame, pyarrow().Table):
        return RowSource(
            "the table", frame.schema, lambda names: iter([frame.select(names)]), frame.num_rows
        )
    if not isinstance(frame, RowSource):
        raise TypeError(
            "out= writes what files.scan reads, datasets, tables of Arrow, DuckDB relations and "
            f"lazy frames of Polars; edges is a frame of {root(frame)}: leave out= out, and write "
            "the frame that comes back"
        )
    return frame


def write(rows: RowSource, parts: Iterator[dict[str, Any]], out: Any, *, most: int) -> None:
    """Write rows with further columns, which come in parts, to a folder.

    At most so many bytes of rows are in memory at a time, if a row takes as many as its type says.
    A folder that is there is replaced, once all is written.
    """
    step = min(max(most // (rows.row_bytes(rows.column_names) + 1), LEAST), MOST)
    added: list[dict[str, Any]] = []

    def cuts() -> Iterator[tuple[int, int]]:
        begin = 0
        for part in parts:
            size = len(next(iter(part.values())))
            for first in range(0, max(size, 1), step):
                added[:] = [{name: values.slice(first, step) for name, values in part.items()}]
                yield begin + first, begin + min(first + step, size)
            begin += size

    with _replaced(Path(out).resolve(), out) as folder:
        writer = None
        try:
            for table in rows.cut(rows.column_names, cuts()):
                for name, values in added[0].items():
                    table = table.append_column(name, values)
                if writer is None:
                    parquet = import_module("pyarrow.parquet")
                    writer = parquet.ParquetWriter(folder / PART, table.schema)
                writer.write_table(table)
        finally:
            if writer is not None:
                writer.close()


@contextmanager
def _replaced(folder: Path, out: Any) -> Iterator[Path]:
    """Yield a new folder that takes the place of `folder` at the end, or goes after an error.

    Its name begins with a dot, so that nobody who reads a folder takes it for a part.
    """
    new = folder.with_name(f".{folder.name}.{uuid4().hex[:8]}.part")
    old = new.with_suffix(".old")
    try:
        new.mkdir()
        yield new
        if folder.exists():
            folder.rename(old)
        new.rename(folder)
        shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(out)) from error
    finally:
        if old.exists() and not folder.exists():
            old.rename(folder)  # what was there, if the new one could not take its place
        shutil.rmtree(new, ignore_errors=True)
