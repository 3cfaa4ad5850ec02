"""Tables in answers: where they are written, and how."""

from __future__ import annotations

import errno
import gzip
import os
import sys
from contextlib import contextmanager, nullcontext
from importlib import import_module
from importlib.util import find_spec
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rapids_tc.cli.reading import FileName

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


def takes_out(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the option that says where a table is written."""
    return click.option(
        "--out",
        type=FileName(path_type=Path),
        help="File to write: .csv, .csv.gz or .parquet; - is stdout. [default: CSV to stdout]",
    )(command)


def require_out(out: Any) -> None:
    """Raise the error that would stop a table from being written, before any work is done."""
    if not _is_stdout(out):
        assert out is not None
        check_out(out, tuple(_WRITERS))


def write(frames: Iterable[Any], out: Any) -> None:
    """Write pandas frames one after another to a file or to stdout."""
    if _is_stdout(out):
        _write_csv(frames, sys.stdout)
    else:
        assert out is not None
        with whole(out) as part:
            _WRITERS[suffix_of(out)](frames, part)


def _is_stdout(out: Any) -> bool:
    return out is None or str(out) == "-"


def suffix_of(out: Path) -> str:
    """Return the suffix that says how a file is written, in lower case."""
    name = out.name.lower()
    return ".csv.gz" if name.endswith(".csv.gz") else out.suffix.lower()


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
    opener: Any = nullcontext(out)
    if isinstance(out, Path):
        compressed = suffix_of(out) == ".csv.gz"
        opener = (gzip.open if compressed else open)(out, "wt", newline="", encoding="utf-8")
    with opener as file:
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
    ".csv.gz": _write_csv,
}


def check_out(out: Path, suffixes: tuple[str, ...]) -> None:
    """Raise the error that would stop an answer from being written, before any work is done."""
    if suffix_of(out) not in suffixes:
        raise ValueError(f"--out {out}: the suffix says how, one of {', '.join(suffixes)}")
    if out.suffix.lower() == ".parquet" and find_spec("pyarrow") is None:
        raise ValueError(f"--out {out}: Parquet needs PyArrow: pip install 'rapids_tc[arrow]'")
    if out.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(out))
    if not out.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(out.parent))
