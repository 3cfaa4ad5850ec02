"""Files that are read batch by batch: Parquet, Arrow and text, or parts of these in a folder."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rapids_tc.files.beside import DIRECTIONS
from rapids_tc.files.formats import guess_format, refuse_unused
from rapids_tc.files.guess import BLANKS, INTEGER, NUMBER, choose_columns
from rapids_tc.files.parts import find_parts, keys_of
from rapids_tc.files.source import (
    Column,
    EdgeFileError,
    ReadOptions,
    Source,
    Stream,
    check_choices,
    shortened,
)
from rapids_tc.files.text import TextShape, shape_of
from rapids_tc.frames.scans import BATCH, RowSource, Scan, parquet_batches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FORMATS = ("parquet", "arrow", "text")
Paths = str | PathLike[str] | Sequence[str | PathLike[str]]
_CODE = re.compile("[+-]?0[0-9]")  # 007 is the name of something
_BLOCK = 1 << 18  # bytes of text that are parsed at a time


def scan(
    path: Paths,
    *,
    format: str | None = None,
    separator: str | None = None,
    header: bool | None = None,
    comment: str | None = None,
    ids: str | None = None,
    source: Column = None,
    destination: Column = None,
) -> Scan:
    """Name files as edges, which functions read batch by batch: they may be larger than memory.

    Parameters
    ----------
    path : path, or list of paths
        A file of Parquet, Arrow (IPC) or text; a folder, or a pattern such as ``"day-*.parquet"``:
        all parts, one after another; names that begin with ``_`` or ``.`` are left out. Keys in the
        names of folders, ``day=mo``, are columns of text.
    format : {"parquet", "arrow", "text"}, optional
        By default, the first bytes of each file say it. Other formats: see `read_edges`.
    separator, header, comment, ids
        For text: see `read_edges`. The first lines decide for all.
    source, destination : str or int, optional
        The columns of ids; by default as `Graph` finds them.

    Returns
    -------
    Scan
        It takes the place of a frame. Nothing but names and types is read until then.

    Raises
    ------
    EdgeFileError
        A file is of a format that is not read batch by batch, is damaged, or its columns are not
        those of the others; or a value of a text is not what the first lines let expect.
    ColumnNotFoundError
        `source` or `destination` is none of the columns.
    KernelError
        When a function reads: files have changed since the call began.

    See Also
    --------
    read_edges : The rows of a file in a frame.

    Notes
    -----
    Functions read only the columns that they need. If these and the graph fit in what is free, or
    in ``memory_limit=``, they are held; else the graph is cut in blocks, and no column is ever
    whole in memory. Parquet and Arrow are then read several times. Text is parsed once, into a
    temporary file.

    Columns of text that hold nothing but integers, or numbers, in the first lines are columns of
    numbers; others are text.

    Examples
    --------
    >>> import rapids_tc as tc
    >>> edges = tc.files.scan("examples/karate.csv")
    >>> tc.count(edges)
    45
    """
    paths = [path] if isinstance(path, str | PathLike) else path
    if not isinstance(paths, list | tuple) or not all(
        isinstance(each, str | PathLike) for each in paths
    ):
        raise TypeError(f"path is of type {type(path).__name__}: give a path, or a list of paths")
    if not paths or not all(map(str, paths)):
        raise ValueError("the name of the file is empty" if paths else "path is an empty list")
    check_choices(FORMATS, format, ids, header=header)
    options = ReadOptions(format, separator, header, comment, ids, (source, destination))
    found = Scan(", ".join(map(str, paths)), partial(_opened, [*map(Path, paths)], options))
    found.opened()  # or the error of what cannot be read
    return found


@dataclass(frozen=True)
class Part:
    """One file of a scan.

    Attributes
    ----------
    name : str
    schema : pyarrow.Schema
    rows : int or None
        None if only reading tells.
    batches : callable
        See `RowSource`.
    keys : dict
        The values of the keys in the names of its folders.
    ids : tuple of str
    directed : bool
        See `RowSource`.
    """

    name: str
    schema: Any
    rows: int | None
    batches: Callable[[list[str]], Iterator[Any]]
    keys: dict[str, str | None]
    ids: tuple[str, ...] = ()
    directed: bool = True

    def read(self, columns: list[str], schema: Any) -> Iterator[Any]:
        """Yield the rows as tables of a schema that has these columns of all parts."""
        pyarrow = import_module("pyarrow")
        own = [name for name in columns if name not in self.keys] or self.schema.names[:1]
        for batch in self.batches(own):
            table = pyarrow.Table.from_batches([batch])
            for name in columns:
                if name in self.keys:
                    values = pyarrow.repeat(pyarrow.scalar(self.keys[name], "string"), len(table))
                    table = table.append_column(name, values)
            yield table.select(columns).cast(schema)


def _opened(paths: list[Path], options: ReadOptions) -> RowSource:
    """Return the rows of all files as they are now."""
    try:
        pyarrow = import_module("pyarrow")
    except ImportError as error:
        raise EdgeFileError('files.scan needs PyArrow: pip install "rapids_tc[arrow]"') from error
    named = [(file, path) for path in paths for file in find_parts(path) or [path]]
    seen = [_state(file) for file, _ in named]
    parts = [part for file, path in named if (part := _part(file, path, options)) is not None]
    name = paths[0].name if len(paths) == 1 else f"{len(paths)} paths"
    if not parts:
        raise EdgeFileError(f"{name}: no edges")
    if (odd := next((p for p in parts if {*p.keys} != {*parts[0].keys}), None)) is not None:
        raise EdgeFileError(f"{odd.name}: not all folders have the same keys, day=mo")
    if (
        odd := next((p for p in parts if {*p.schema.names} != {*parts[0].schema.names}), None)
    ) is not None:
        raise EdgeFileError(
            f"{odd.name} has the columns {odd.schema.names}, and {parts[0].name} "
            f"{parts[0].schema.names}: all parts need the same"
        )
    try:
        first = parts[0].schema
        schema = pyarrow.unify_schemas(
            [part.schema for part in parts], promote_options="permissive"
        )
    except pyarrow.ArrowException as error:
        raise EdgeFileError(f"{name}: columns of the parts have other types: {error}") from error
    schema = schema.with_metadata(first.metadata)
    for key in parts[0].keys:
        schema = schema.append(pyarrow.field(key, pyarrow.string()))

    def batches(columns: list[str]) -> Iterator[Any]:
        chosen = pyarrow.schema([schema.field(name) for name in columns])
        for part in parts:
            yield from part.read(columns, chosen)

    known = [part.rows for part in parts if part.rows is not None]
    return RowSource(
        name, schema, batches, sum(known) if len(known) == len(parts) else None,
        lambda: [_state(file) for file, _ in named] == seen, tuple(file for file, _ in named),
        tuple(path for path in paths if path.is_dir()),
        ids=parts[0].ids, directed=all(part.directed for part in parts),
    )  # fmt: skip


def _state(file: Path) -> tuple[int, ...] | None:
    """Return what is different when a file has changed; None if it is gone."""
    try:
        found = file.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def _part(file: Path, path: Path, options: ReadOptions) -> Part | None:
    """Return one file of the parts of a path; None if it has no edge."""
    source = Source(file)
    kind = options.format or guess_format(source)
    if kind not in FORMATS:
        raise source.fault(
            f"{kind} is not read batch by batch, as {', '.join(FORMATS)} are: give "
            f"files.read_edges({str(file)!r})"
        )
    refuse_unused(kind, options)
    keys = keys_of(file, path) if file != path else {}
    opened = {"parquet": _parquet, "arrow": _arrow, "text": _text}[kind]
    try:
        part = opened(source, options)
    except (import_module("pyarrow").ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise source.fault(str(error)) from error
    if part is None:
        return None
    names = part.schema.names
    if twice := [name for name in names if names.count(name) > 1]:
        raise source.fault(f"{names.count(twice[0])} columns are called {twice[0]!r}: rename them")
    if twice := [key for key in keys if key in part.schema.names]:
        raise source.fault(f"{twice[0]!r} is a column and a key of the folder: rename one of them")
    return replace(part, keys=keys)


def _chosen(source: Source, options: ReadOptions, names: list[str]) -> tuple[str, ...]:
    """Return the columns of ids, if the user has named them."""
    if options.columns == (None, None):
        return ()
    return tuple(
        names[at] for at in choose_columns(source, names, options.columns, width=len(names))
    )


def _parquet(source: Source, options: ReadOptions) -> Part:
    _require_plain(source, b"PAR1")
    metadata = import_module("pyarrow.parquet").read_metadata(source.path)
    schema = metadata.schema.to_arrow_schema()
    batches = partial(parquet_batches, source.path)
    ids = _chosen(source, options, schema.names)
    return Part(source.name, schema, metadata.num_rows, batches, {}, ids)


def _arrow(source: Source, options: ReadOptions) -> Part:
    _require_plain(source, b"ARROW1")
    pyarrow, dataset = import_module("pyarrow"), import_module("pyarrow.dataset")
    rows = dataset.dataset(source.path, format="ipc").count_rows()

    def batches(columns: list[str]) -> Iterator[Any]:
        with pyarrow.memory_map(str(source.path)) as mapped:
            file = pyarrow.ipc.open_file(mapped)
            for number in range(file.num_record_batches):
                batch = file.get_batch(number).select(columns)
                for first in range(0, batch.num_rows, BATCH):
                    yield batch.slice(first, BATCH)

    with pyarrow.memory_map(str(source.path)) as mapped:
        schema = pyarrow.ipc.open_file(mapped).schema
    return Part(source.name, schema, rows, batches, {}, _chosen(source, options, schema.names))


def _require_plain(source: Source, start: bytes) -> None:
    """Raise EdgeFileError for a file of columns that is compressed as a whole."""
    with source.path.open("rb") as file:
        if file.read(len(start)) != start:
            raise source.fault("compressed as a whole: decompress it, or use files.read_edges")


# Text ---------------------------------------------------------------------------------------------


def _text(source: Source, options: ReadOptions) -> Part | None:
    pyarrow = import_module("pyarrow")
    if str(source.path) == "-" or not source.path.is_file():
        raise source.fault("a scan reads files, which are there for every call: use read_edges")
    if (shape := shape_of(source, options)) is None or not shape.body:
        return None
    _refuse_sizes(source, options, shape)
    names, line_format = _names(shape), shape.line_format
    values = [[row[at] for row in shape.body if at < len(row)] for at in range(shape.width)]
    kinds = [_kind(of_column) for of_column in values]
    for at in line_format.columns:
        large = any(
            len(value) > 18 and int(value) >= 2**63
            for value in values[at]
            if line_format.integers and INTEGER.fullmatch(value)
        )
        kinds[at] = ("uint64" if large else "int64") if line_format.integers else "string"
    schema = pyarrow.schema([*zip(names, map(pyarrow.type_for_alias, kinds), strict=True)])
    lower = [name.lower() for name in names]
    directed = True
    if "type" in lower:
        said = {value.lower() for value in values[lower.index("type")]}
        directed = not said or not said <= DIRECTIONS.keys() or said == {"directed"}
    ids = tuple(names[at] for at in line_format.columns)
    batches = partial(_text_batches, source, shape, schema)
    return Part(source.name, schema, None, batches, {}, ids, directed)


def _names(shape: TextShape) -> list[str]:
    """Return the names of all columns: of the file, or src, dst, and numbers from 1."""
    ends = dict(zip(shape.line_format.columns, ("src", "dst"), strict=True))
    found = [
        ends.get(at, str(at + 1)) if not shape.names else str(at + 1) for at in range(shape.width)
    ]
    return [name or found[at] for at, name in enumerate(shape.names)] + found[len(shape.names) :]


def _refuse_sizes(source: Source, options: ReadOptions, shape: TextShape) -> None:
    """Raise EdgeFileError if the first line may give sizes, which only all lines would tell."""
    first = shape.rows[0]
    numbers = [int(field) for field in first if field.isdecimal() and len(field) < 19]
    if (
        shape.named
        or options.header is not None
        or len(numbers) != len(first)
        or len(first) not in (2, 3)
    ):
        return
    below = [int(field) for row in shape.rows[1:] for field in row[:2] if INTEGER.fullmatch(field)]
    if below and numbers[0] >= max(below) and numbers[-1] >= len(shape.rows) - 1:
        raise source.fault(
            f"the first line {shortened(shape.first)} may be an edge, or say how many edges and "
            "vertices follow: say which, header=False or header=True"
        )


def _kind(values: list[str]) -> str:
    """Return the type of a column, by its values in the first lines."""
    filled = [value for value in values if value]
    if filled and all(INTEGER.fullmatch(v) and str(int(v)) == v for v in filled):
        return "int64"
    plain = filled and all(map(NUMBER.fullmatch, filled)) and not any(map(_CODE.match, filled))
    return "double" if plain else "string"


def _text_batches(
    source: Source, shape: TextShape, schema: Any, columns: list[str]
) -> Iterator[Any]:
    """Yield the rows of a text, parsed by PyArrow as far as it can, and by pandas from there on."""
    pyarrow = import_module("pyarrow")
    places, done = [schema.names.index(name) for name in columns], 0
    chosen = pyarrow.schema([schema.field(name) for name in columns])
    ends = {schema.names[place] for place in shape.line_format.columns}
    try:
        if shape.line_format.width:
            try:
                for texts in _by_arrow(source, shape, places):
                    batch = _typed(texts, chosen, ends)
                    done += batch.num_rows
                    yield batch
                return
            except pyarrow.ArrowInvalid:
                pass
        for texts in _by_pandas(source, shape, places, done):
            yield _typed(texts, chosen, ends)
    except (pyarrow.ArrowInvalid, ValueError) as error:
        if isinstance(error, EdgeFileError):
            raise
        how = shape.line_format
        raise source.locate(
            how.marks, how.wrong, skip_first=how.skip_first,
            otherwise=f"a column is not what the first lines let expect ({error}): read_edges "
            "takes it for text",
        ) from error  # fmt: skip


def _by_arrow(source: Source, shape: TextShape, places: list[int]) -> Iterator[list[Any]]:
    pyarrow, how = import_module("pyarrow"), shape.line_format
    from pyarrow.csv import ConvertOptions, ParseOptions, ReadOptions, open_csv

    def lines() -> Iterator[bytes]:
        for block in source.blocks(how.marks, skip_first=how.skip_first):
            if how.quoted and b'"' in block:
                raise pyarrow.ArrowInvalid("it lets a quote without its like pass")
            yield block

    names = [str(place) for place in range(how.width)]
    chosen = [names[place] for place in places]
    with open_csv(
        Stream(lines()),
        ReadOptions(column_names=names, block_size=_BLOCK, use_threads=False),
        ParseOptions(delimiter=how.separator, quote_char=False),
        ConvertOptions(
            include_columns=chosen,
            column_types=dict.fromkeys(chosen, pyarrow.string()),
            null_values=[],
        ),
        pyarrow.system_memory_pool(),  # the default one keeps what its threads have freed
    ) as reader:
        for batch in reader:
            yield batch.columns


def _by_pandas(
    source: Source, shape: TextShape, places: list[int], done: int
) -> Iterator[list[Any]]:
    import pandas as pd

    pyarrow, how = import_module("pyarrow"), shape.line_format
    pieces = pd.read_csv(
        Stream(source.blocks(how.marks, skip_first=how.skip_first)),
        sep=r"\s+" if how.separator == BLANKS else how.separator,
        header=None, names=range(shape.width), index_col=False, usecols=places, dtype=str,
        chunksize=BATCH, na_filter=False, skipinitialspace=True, encoding_errors="strict",
        quoting=csv.QUOTE_MINIMAL if how.quoted else csv.QUOTE_NONE,
    )  # fmt: skip
    for piece in pieces:
        rest, done = piece.iloc[done:], max(done - len(piece), 0)
        yield [pyarrow.array(rest[place].fillna(""), "string") for place in places]


def _typed(texts: list[Any], schema: Any, ends: set[str]) -> Any:
    """Return columns of text in the types of a schema; empty ones are no numbers, and no ids."""
    pyarrow, compute = import_module("pyarrow"), import_module("pyarrow.compute")
    columns = []
    for column, field in zip(texts, schema, strict=True):
        values = compute.utf8_trim(column, " \t")
        if field.name in ends and compute.any(compute.equal(values, "")).as_py():
            raise pyarrow.ArrowInvalid("an id is empty")
        if not pyarrow.types.is_string(field.type):
            values = compute.if_else(compute.equal(values, ""), None, values).cast(field.type)
        columns.append(values)
    return pyarrow.record_batch(columns, schema=schema)
