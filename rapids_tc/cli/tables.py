"""The commands whose answer is a table: clustering, truss and list."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import contextmanager, nullcontext
from importlib import import_module
from importlib.util import find_spec
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import rapids_tc as tc
from rapids_tc.cli.reading import FileName, prepare, read, takes_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from rapids_tc._typing import EngineName

_ROWS = 10_000_000  # triangles that `list` keeps in memory at a time
_OUT = click.option(
    "--out",
    type=FileName(path_type=Path),
    help="File to write, .parquet or .csv. [default: CSV to stdout]",
)


@click.command()
@takes_file
@_OUT
def clustering(file: Path, engine: EngineName | None, out: Path | None, **reading: Any) -> None:
    """Write the clustering of every vertex of the graph in FILE.

    Columns: vertex, clustering. `rapids-tc count --help` tells how FILE is read.
    """
    graph = _open(file, engine, out, reading)
    _write([tc.clustering(graph)], out)


@click.command()
@takes_file
@_OUT
@click.option("--k", metavar="K", help="Only the k-truss: an integer from 2 on, or 'max'.")
def truss(
    file: Path, engine: EngineName | None, out: Path | None, k: str | None, **reading: Any
) -> None:
    """Write the edges in FILE with their truss numbers.

    Columns: src, dst and trussness, the largest k whose k-truss holds the edge. With --k the edges
    of that truss alone, src and dst, each once. `rapids-tc count --help` tells how FILE is read.
    """
    graph = _open(file, engine, out, reading)
    if k is None:
        _write([tc.annotate(graph, "trussness")], out)
    else:
        _write([tc.k_truss(graph, int(k) if k.lstrip("-").isdigit() else k)], out)


@click.command("list")
@takes_file
@_OUT
def list_(file: Path, engine: EngineName | None, out: Path | None, **reading: Any) -> None:
    """Write every triangle of the graph in FILE once.

    Columns: u, v, w, with u < v < w. Ten million rows are made, sorted and written at a time.
    `rapids-tc count --help` tells how FILE is read.
    """
    graph = _open(file, engine, out, reading)
    frames = tc.iter_triangles(graph, rows=_ROWS)
    first = next(frames, None)
    _write(chain([tc.list_triangles(graph) if first is None else first], frames), out)


COMMANDS = (clustering, truss, list_)


def _open(
    file: Path, engine: EngineName | None, out: Path | None, reading: dict[str, Any]
) -> tc.Graph:
    """Return the graph of a file, after checking that the answer can be written."""
    if out is not None:
        check_out(out, tuple(_WRITERS))
    return prepare(read(file, reading), engine)


def _write(frames: Iterable[Any], out: Path | None) -> None:
    """Write pandas frames one after another to a file or to stdout."""
    if out is None:
        _write_csv(frames, sys.stdout)
    else:
        with whole(out) as part:
            _WRITERS[out.suffix.lower()](frames, part)


@contextmanager
def whole(out: Path) -> Iterator[Path]:
    """Yield a temporary file that replaces `out` at the end, or is removed after an error.

    It has the suffixes of `out`, because some writers choose the format by them. If `out` is not a
    regular file, but a pipe for example, `out` itself is yielded.
    """
    target = out.resolve()  # a link stays a link
    parts = (target.with_name(f"part{number or ''}.{target.name}") for number in count())
    # The user may have a file of such a name.
    part = next(part for part in parts if not os.path.lexists(part))
    try:
        if target.exists() and not target.is_file():
            yield target
        else:
            yield part
            os.replace(part, target)
    except OSError as error:  # the error for a failed write names no file
        raise OSError(error.errno, error.strerror, str(out)) from error
    finally:
        part.unlink(missing_ok=True)


def _write_csv(frames: Iterable[Any], out: Any) -> None:
    to_file = isinstance(out, Path)
    with open(out, "w", newline="", encoding="utf-8") if to_file else nullcontext(out) as file:
        for number, frame in enumerate(frames):
            frame.to_csv(file, index=False, header=number == 0)


def _write_parquet(frames: Iterable[Any], out: Any) -> None:
    pyarrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    tables = (pyarrow.Table.from_pandas(frame, preserve_index=False) for frame in frames)
    first = next(tables)
    with parquet.ParquetWriter(out, first.schema) as writer:
        for table in chain([first], tables):
            writer.write_table(table)


_WRITERS: dict[str, Callable[[Iterable[Any], Any], None]] = {
    ".csv": _write_csv,
    ".parquet": _write_parquet,
}


def check_out(out: Path, suffixes: tuple[str, ...]) -> None:
    """Raise the error that would stop an answer from being written, before any work is done."""
    if out.suffix.lower() not in suffixes:
        raise ValueError(f"--out {out}: the suffix says how, one of {', '.join(suffixes)}")
    if out.suffix.lower() == ".parquet" and find_spec("pyarrow") is None:
        raise ValueError(f"--out {out}: Parquet needs PyArrow: pip install 'rapids_tc[arrow]'")
    if out.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(out))
    if not out.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(out.parent))
