"""Rows outside of memory: files and queries, whose columns are read batch by batch.

Files are read again whenever they are needed. A query runs once: what it gives is held in a table,
or in a temporary file if that would take too much memory.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib import import_module
from itertools import chain, islice
from typing import IO, TYPE_CHECKING, Any, ClassVar

from rapids_tc.errors import CapacityError, KernelError
from rapids_tc.frames.adapters import ArrowAdapter, arrow_of_polars, column_of_arrow, pyarrow, root
from rapids_tc.frames.chunks import ColumnChunks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from rapids_tc._typing import Array, Frame, Label, Series
    from rapids_tc.frames.chunks import Cut

Batches = Callable[[list[str]], "Iterator[Any]"]  # from names to tables or record batches

BATCH = 1 << 16  # rows that are decoded at a time
BUFFER = 1 << 20  # bytes of a column of a file that are read at a time
ROW_GROUP = 1 << 17  # rows of a temporary file that are written at a time, at least
NARROWER = "leave columns out, or give ids of a narrower type"
TEXT = 24  # bytes that a value without a fixed width is taken for


@dataclass(frozen=True)
class Scan:
    """Edges in files, which each function reads batch by batch: what `files.scan` returns.

    Attributes
    ----------
    name : str
        The path, as messages show it.
    columns : list of str
        The names of the columns, which are read anew.

    Examples
    --------
    >>> import rapids_tc as tc
    >>> edges = tc.files.scan("examples/karate.csv")
    >>> edges.columns
    ['src', 'dst']
    """

    name: str
    opened: Callable[[], RowSource] = field(repr=False)

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.opened().column_names)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Read all rows as a stream of Arrow, which other libraries take."""
        source = self.opened()
        parts = (
            part for rows in source.read(source.column_names) for part in _record_batches(rows)
        )
        reader = pyarrow().RecordBatchReader.from_batches(source.schema, parts)
        return reader.__arrow_c_stream__(requested_schema)


@dataclass(frozen=True)
class RowSource:
    """Rows outside of memory, as they are during one call.

    Attributes
    ----------
    name : str
        What messages call them.
    schema : pyarrow.Schema
    batches : callable
        Yields the rows in order, with the columns that are named.
    rows : int or None
        How many there are; None if only reading tells, and then they are read once.
    holds : callable
        Returns whether the rows are still those that were opened.
    files, folders : tuple of Path
        Where they are, and the folders all of whose files are read.
    needed : tuple of str
        The columns that a call reads.
    ids : tuple of str
        The columns of ids, if they are known.
    directed : bool
        Whether every row may lead from its source to its destination alone.
    """

    name: str
    schema: Any
    batches: Batches
    rows: int | None = None
    holds: Callable[[], bool] = lambda: True
    files: tuple[Path, ...] = ()
    folders: tuple[Path, ...] = ()
    needed: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    directed: bool = True

    @property
    def column_names(self) -> list[str]:
        """The names of all columns."""
        return list(self.schema.names)

    @property
    def size(self) -> int:
        """How many rows there are, as far as it is known."""
        return self.rows or 0

    def row_bytes(self, columns: Sequence[str]) -> int:
        """Return the bytes of these columns in a row, as Arrow holds them."""
        return sum(_width(self.schema.field(name).type) for name in columns)

    def read(self, columns: Sequence[str]) -> Iterator[Any]:
        """Yield the rows, batch by batch.

        Raises
        ------
        KernelError
            They are not those that were opened.
        """
        rows, arrow = 0, pyarrow()
        self._require(self.holds())
        try:
            for batch in self.batches([*columns]):
                rows += batch.num_rows
                yield batch
        except (arrow.ArrowException, OSError, EOFError):
            self._require(self.holds())
            raise
        self._require(self.holds() and self.rows in (None, rows))

    def cut(self, columns: Sequence[str], cuts: Iterable[Cut]) -> Iterator[Any]:
        """Yield a table of the rows of each cut, which follow one another from the first row on."""
        names, arrow = [*columns], pyarrow()
        schema = arrow.schema([self.schema.field(name) for name in names])
        reading, held, rows = self.read(names), list[Any](), 0
        for first, last in cuts:
            size = min(last, self.size) - first
            while rows < size:
                for batch in islice(reading, 1):  # none, if there are fewer rows: `read` says so
                    held += _record_batches(batch)
                    rows += batch.num_rows
            table = arrow.Table.from_batches(held, schema)
            held, rows = table.slice(size).to_batches(), rows - size
            yield table.slice(0, size)
            del table
        for batch in reading:  # the end, where it is seen whether more has come
            self._require(not batch.num_rows)

    def table(
        self, columns: Sequence[str], most: float = float("inf"), advice: str = NARROWER
    ) -> Any:
        """Read the rows into a table; CapacityError if they take more than `most` bytes."""
        found = hold(self, columns, most, advice)
        assert not isinstance(found, RowSource)
        return found

    def _require(self, unchanged: bool) -> None:  # noqa: FBT001
        if not unchanged:
            raise KernelError(
                f"{self.name} changed during the call: its rows are not those that were read at "
                "first. Wait until nothing writes to it, and call again"
            )


def _record_batches(rows: Any) -> list[Any]:
    """Return the batches of a table, or of a batch."""
    return rows.to_batches() if hasattr(rows, "to_batches") else [rows]


def _width(kind: Any) -> int:
    """Return the bytes of a value of an Arrow type."""
    try:
        return max(int(kind.bit_width) // 8, 1)
    except ValueError:
        return TEXT


# Where rows come from -----------------------------------------------------------------------------


def source_of(edges: Any) -> RowSource | None:
    """Return the rows of a scan, a dataset, a query or a lazy frame; None of what is in memory."""
    if isinstance(edges, RowSource):
        return edges
    if isinstance(edges, Scan):
        return edges.opened()
    if root(edges) == "duckdb" and hasattr(edges, "to_arrow_reader"):
        return _of_duckdb(edges)
    for module, name, make in _OF_ARROW:
        known = getattr(sys.modules.get(module), name, None)
        if known is not None and isinstance(edges, known):
            return make(edges)
    return None


def _of_duckdb(relation: Any) -> RowSource:
    duckdb = sys.modules["duckdb"]

    def batches(columns: list[str]) -> Iterator[Any]:
        chosen = relation.select(*map(duckdb.ColumnExpression, columns))
        yield from chosen.to_arrow_reader(BATCH)

    return RowSource("the relation", relation.limit(0).to_arrow_table().schema, batches)


def _of_dataset(dataset: Any) -> RowSource:
    def batches(columns: list[str]) -> Iterator[Any]:
        read_ahead = {"batch_readahead": 1, "fragment_readahead": 1}
        yield from dataset.to_batches(columns=columns, batch_size=BATCH, **read_ahead)

    return RowSource("the dataset", dataset.schema, batches)


def _of_scanner(scanner: Any) -> RowSource:
    def batches(columns: list[str]) -> Iterator[Any]:
        return (batch.select(columns) for batch in scanner.to_batches())

    return RowSource("the scanner", scanner.projected_schema, batches)


def _of_parquet_file(file: Any) -> RowSource:
    def batches(columns: list[str]) -> Iterator[Any]:
        read = file.iter_batches(BATCH, columns=columns)
        return (batch.select(columns) for batch in read)

    return RowSource("the file", file.schema_arrow, batches)


_OF_ARROW = (
    ("pyarrow.dataset", "Dataset", _of_dataset),
    ("pyarrow.dataset", "Scanner", _of_scanner),
    ("pyarrow.parquet", "ParquetFile", _of_parquet_file),
)


def of_lazy(frame: Any) -> RowSource:
    """Return the rows of a lazy frame of Polars."""

    def batches(columns: list[str]) -> Iterator[Any]:
        for part in frame.select(columns).collect_batches(chunk_size=BATCH, maintain_order=True):
            yield _of_polars(part)

    return RowSource("the lazy frame", _of_polars(_without_rows(frame)).schema, batches)


def _without_rows(frame: Any) -> Any:
    return frame.collect_schema().to_frame()


def _of_polars(frame: Any) -> Any:
    columns = [arrow_of_polars(column, f"column {column.name!r}") for column in frame.get_columns()]
    return pyarrow().table(columns, names=frame.columns)


# What is held -------------------------------------------------------------------------------------


def hold(
    source: RowSource, columns: Sequence[str], most: float, advice: str = ""
) -> Any | RowSource:
    """Read columns into a table of at most so many bytes, else into a temporary file.

    Raises
    ------
    CapacityError
        They take more, and there is `advice` in place of a file, or the disk is full.
    """
    arrow, held, size = pyarrow(), list[Any](), 0
    reading = source.read(columns)
    for batch in reading:
        held.append(batch)
        size += batch.nbytes
        if size > most and not advice:
            return _spilled(source, columns, held, reading)
        if size > most:
            raise CapacityError(
                f"{source.name}: {len(columns)} columns take more than the {int(most):,} bytes "
                f"that are free: {advice}"
            )
    schema = arrow.schema([source.schema.field(name) for name in columns])
    return arrow.Table.from_batches(chain(*map(_record_batches, held)), schema)


def _spilled(
    source: RowSource, columns: Sequence[str], held: list[Any], rest: Iterator[Any]
) -> RowSource:
    """Write rows to a temporary file, and return them as they are read from there.

    The file has no name, and goes with its last reference.
    """
    arrow, parquet = pyarrow(), import_module("pyarrow.parquet")
    schema = arrow.schema([source.schema.field(name) for name in columns], source.schema.metadata)
    how = {"compression": "lz4", "use_dictionary": False, "write_statistics": False}
    with _disk_errors(source.name):
        file = tempfile.TemporaryFile()  # noqa: SIM115 - it outlives this function
        writer = parquet.ParquetWriter(file, schema, **how)
    for table in _joined(held, rest, schema):
        with _disk_errors(source.name):
            writer.write_table(table)
    with _disk_errors(source.name):
        writer.close()
        rows = parquet.read_metadata(file).num_rows
    return replace(source, schema=schema, batches=_ParquetBatches(file), rows=rows)


@contextmanager
def _disk_errors(name: str) -> Iterator[None]:
    """Turn an OSError of the disk that has a temporary file into a CapacityError."""
    try:
        yield
    except OSError as error:
        folder = tempfile.tempdir or os.environ.get("TMPDIR", "a folder of the system")
        raise CapacityError(
            f"{name} is kept in a temporary file in {folder}, which it does not fit: {error}; "
            "TMPDIR names a folder that has more room"
        ) from error


def _joined(held: list[Any], rest: Iterator[Any], schema: Any) -> Iterator[Any]:
    """Yield tables of at least `ROW_GROUP` rows; `held` is emptied."""
    arrow, pieces, rows = pyarrow(), list[Any](), 0
    held.reverse()
    for batch in chain(_popped(held), rest):
        pieces += _record_batches(batch)
        rows += batch.num_rows
        if rows >= ROW_GROUP:
            table, pieces, rows = arrow.Table.from_batches(pieces, schema), [], 0
            yield table
            del table
    yield arrow.Table.from_batches(pieces, schema)


def _popped(held: list[Any]) -> Iterator[Any]:
    while held:
        yield held.pop()


@dataclass(frozen=True)
class _ParquetBatches:
    """The batches of a Parquet file of ours."""

    file: IO[bytes]

    def __call__(self, columns: list[str]) -> Iterator[Any]:
        return parquet_batches(self.file, columns)


def parquet_batches(file: Any, columns: list[str]) -> Iterator[Any]:
    """Yield the rows of a Parquet file, of which no more than a part is in memory at a time."""
    parquet = import_module("pyarrow.parquet")
    if hasattr(file, "seek"):
        file.seek(0)
    opened = parquet.ParquetFile(file, buffer_size=BUFFER, pre_buffer=False)
    try:
        for batch in opened.iter_batches(BATCH, columns=columns, use_threads=False):
            yield batch.select(columns)
    finally:
        opened.close(force=not hasattr(file, "seek"))


# What functions ask of it -------------------------------------------------------------------------


@dataclass(frozen=True)
class SourceChunks(ColumnChunks):
    """Columns of rows outside of memory, which are read anew each time.

    Attributes
    ----------
    source : RowSource
    labels : tuple of str
    """

    source: RowSource
    labels: tuple[str, ...]
    outside: ClassVar[bool] = True

    def read(self, cuts: Iterable[Cut]) -> Iterator[tuple[Series, ...]]:
        """Yield the columns of each cut, which follow one another from the first row on."""
        names = list(dict.fromkeys(self.labels))
        for table in self.source.cut(names, cuts):
            columns = {n: column_of_arrow(table.column(n), f"column {n!r}") for n in names}
            del table
            yield tuple(columns[label] for label in self.labels)


@dataclass(frozen=True)
class SourceAdapter(ArrowAdapter):
    """The adapter of rows outside of memory; answers are tables of PyArrow."""

    def labels(self, frame: Frame) -> list[Label]:
        """Return the labels of all columns."""
        return list(frame.column_names)

    def rows(self, frame: Frame) -> int:
        """Return the number of rows."""
        return frame.size if isinstance(frame, RowSource) else super().rows(frame)

    def column(self, frame: Frame, label: Label) -> Series:
        """Read one column whole."""
        table = frame.table([str(label)]) if isinstance(frame, RowSource) else frame
        return super().column(table, label)

    def chunks(self, frame: Frame, labels: Sequence[Label]) -> ColumnChunks:
        """Return columns that are read chunk by chunk."""
        return SourceChunks((), frame, tuple(map(str, labels)))

    def nbytes(self, frame: Frame) -> int:
        """Return the bytes of all columns, if they were read."""
        return int(frame.rows * frame.row_bytes(frame.column_names))

    def loaded(self, frame: Frame) -> int:
        """Return the bytes of the columns that a call reads: as Arrow has them, and as pandas."""
        return int(2 * frame.rows * frame.row_bytes(frame.needed))

    def take(self, frame: Frame, positions: Array) -> Frame:
        """Read the rows at ascending positions."""
        if not isinstance(frame, RowSource):
            return super().take(frame, positions)
        first, found = 0, []
        bounds = [(at, at + BATCH) for at in range(0, max(frame.size, 1), BATCH)]
        for table in frame.cut(frame.column_names, bounds):
            begin, end = positions.searchsorted([first, first + table.num_rows])
            found.append(super().take(table, positions[begin:end] - first))
            first += table.num_rows
        return pyarrow().concat_tables(found)
