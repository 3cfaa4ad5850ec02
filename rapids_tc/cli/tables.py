"""Tables in answers: where they are written, and how."""

from __future__ import annotations

import errno
import gzip
import json
import os
import sys
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial, wraps
from importlib import import_module
from importlib.util import find_spec
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rapids_tc.cli.output import note
from rapids_tc.cli.reading import FileName

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence


_SHOWN = 50  # rows of a table on a terminal, if no other number is asked for
_JSON_ROWS = 100_000  # that are made at a time


@dataclass(frozen=True)
class Output:
    """Where an answer is written, and how.

    Attributes
    ----------
    out : Path, optional
        The file; "-" is stdout, and by default stdout is a table for the eye on a terminal.
    as_json : bool
    limit : int, optional
        The most rows to write.
    force : bool
        Whether a file that is there is replaced.
    """

    out: Path | None = None
    as_json: bool = False
    limit: int | None = None
    force: bool = False

    @property
    def file(self) -> Path | None:
        """The file that is written, or None for stdout."""
        return None if self.out is None or str(self.out) == "-" else self.out

    @property
    def is_free(self) -> bool:
        """Whether the user has not said in what form the answer is to be."""
        return self.out is None and not self.as_json

    def some(self, rows: Sequence[Any]) -> Sequence[Any]:
        """Return the rows that are asked for."""
        return rows[: self.limit]


def takes_out(
    command: Callable[..., Any],
    told: str = "a table on a terminal, else CSV to stdout",
    files: str = "File to write: .csv, .csv.gz or .parquet; - is stdout.",
) -> Callable[..., Any]:
    """Add the options that say where and how an answer is written: its argument `output`.

    The help says how it is `told` by default, and which `files` there are.
    """

    @wraps(command)
    def run(
        *, out: Path | None, as_json: bool, limit: int | None, force: bool, **options: Any
    ) -> None:
        command(output=Output(out, as_json, limit, force), **options)

    for option in (
        click.option("--force", is_flag=True, help="Replace the file, if it is there."),
        click.option(
            "--limit", type=click.IntRange(1), metavar="N", help="Write the first N rows alone."
        ),
        click.option("--json", "as_json", is_flag=True, help="Print JSON: an object per row."),
        click.option(
            "--out",
            type=FileName(path_type=Path),
            help=f"{files} [default: {told}]",
        ),
    ):
        run = option(run)
    return run


# Of answers that are told in words and tables for the eye, on a terminal or not.
takes_out_of_few = partial(takes_out, told="for the eye, on stdout")


def require_out(output: Output, suffixes: Sequence[str] = ()) -> None:
    """Raise the error that would stop an answer from being written, before any work is done.

    A file has one of some suffixes, by default one of a table.
    """
    if output.file is None:
        return
    if output.as_json:
        raise ValueError(f"--json goes to stdout: leave out --json, or --out {output.out}")
    _check_file(output.file, suffixes or tuple(_WRITERS), force=output.force)


def write(frames: Iterable[Any], output: Output) -> None:
    """Write pandas frames one after another to a file or to stdout."""
    if output.limit is not None:
        frames = _first(frames, output.limit)
    if output.as_json:
        _write_json(frames)
    elif output.file is not None:
        with whole(output.file) as part:
            _WRITERS[suffix_of(output.file)](frames, part)
    elif output.out is None and _on_terminal():
        _show(frames, output.limit)
    else:
        _write_csv(frames, sys.stdout)


def write_rows(rows: Sequence[Mapping[str, Any]], output: Output) -> None:
    """Write a few rows that are told otherwise, or print them as JSON, without pandas."""
    if output.as_json:
        lines = map(json.dumps, output.some(rows))
        click.echo("[" + ",\n ".join(lines) + "]")
    else:
        write([import_module("pandas").DataFrame(rows)], output)


def write_value(table: Any) -> None:
    """Print the one row of a table as a JSON object."""
    click.echo(json.dumps(*_records(table), default=str))


def _on_terminal() -> bool:
    return sys.stdout.isatty()


def _first(frames: Iterable[Any], limit: int) -> Iterator[Any]:
    """Yield the first rows of frames."""
    for frame in frames:
        yield frame.head(limit)
        limit -= len(frame)
        if limit <= 0:
            return


def _show(frames: Iterable[Any], limit: int | None) -> None:
    """Print a table for the eye: at most 50 rows, unless another number is asked for."""
    parts = [*_first(frames, limit or _SHOWN + 1)]
    pandas = import_module("pandas")
    table = pandas.concat(parts) if len(parts) > 1 else parts[0]
    shown = table if limit else table.head(_SHOWN)
    text = shown.to_string(index=False) if len(shown) else "  ".join(map(str, shown.columns))
    click.echo(text)
    if len(shown) < len(table):
        note(f"the first {_SHOWN} rows: --limit N shows N, --out FILE writes all")


def _write_json(frames: Iterable[Any]) -> None:
    """Print rows as an array of JSON objects, one a line."""
    between = "["
    for frame in frames:
        for first in range(0, len(frame), _JSON_ROWS):
            for record in _records(frame[first : first + _JSON_ROWS]):
                click.echo(between + json.dumps(record, default=str), nl=False)
                between = ",\n "
    click.echo("[]" if between == "[" else "]")


def _records(frame: Any) -> list[dict[str, Any]]:
    """Return the rows as what JSON has; what is missing is null."""
    plain = frame.astype(object)
    found: list[dict[str, Any]] = plain.where(plain.notna(), None).to_dict("records")
    return found


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


def _check_file(out: Path, suffixes: Sequence[str], *, force: bool) -> None:
    if suffix_of(out) not in suffixes:
        raise ValueError(f"--out {out}: the suffix says how, one of {', '.join(suffixes)}")
    if out.suffix.lower() == ".parquet" and find_spec("pyarrow") is None:
        raise ValueError(f"--out {out}: Parquet needs PyArrow: pip install 'rapids_tc[arrow]'")
    if out.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(out))
    if not out.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(out.parent))
    if out.is_file() and not force:
        raise FileExistsError(errno.EEXIST, "is there already; --force replaces it", str(out))
