"""Readers of files of columns, by PyArrow: Parquet, and Arrow's IPC, which Feather is."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.files.beside import kept_places
from rapids_tc.files.guess import choose_columns
from rapids_tc.preparation.edge_columns import find_ends

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rapids_tc._typing import DType, Frame
    from rapids_tc.files.source import ReadOptions, Source

Table = Any  # pyarrow.Table

_ROW_BYTES = 16  # of a row: two ids, or offsets of texts


def read_parquet(source: Source, options: ReadOptions) -> tuple[Frame, np.ndarray, list[str]]:
    """Read the two id columns, and no other."""

    def opened(plain: DType) -> tuple[Any, int, Callable[[list[str]], Table]]:
        file = import_module("pyarrow.parquet").ParquetFile(plain)
        return file.schema_arrow, file.metadata.num_rows, lambda ids: file.read(columns=ids)

    return _read_columns(source, options, "pyarrow.parquet", opened)


def read_arrow(source: Source, options: ReadOptions) -> tuple[Frame, np.ndarray, list[str]]:
    """Read the two id columns of an IPC file, and no other."""

    def opened(plain: DType) -> tuple[Any, int, Callable[[list[str]], Table]]:
        pyarrow = import_module("pyarrow")
        file = import_module("pyarrow.ipc").open_file(plain)

        def read(ids: list[str]) -> Table:
            batches, rows = [], 0
            for number in range(file.num_record_batches):
                batches.append(file.get_batch(number).select(ids))
                rows += batches[-1].num_rows
                source.require(f"{rows:,} rows or more take", _ROW_BYTES * rows)
            schema = pyarrow.schema([file.schema.field(name) for name in ids])
            return pyarrow.Table.from_batches(batches, schema)

        return file.schema, 0, read

    return _read_columns(source, options, "pyarrow.ipc", opened)


def _read_columns(
    source: Source, options: ReadOptions, module: str, opener: Callable[[Any], Any]
) -> tuple[Frame, np.ndarray, list[str]]:
    try:
        import_module(module)
        pyarrow = import_module("pyarrow")
    except ImportError as error:
        raise source.fault('columns need PyArrow: pip install "rapids_tc[arrow]"') from error
    try:
        with source.open() as (plain, _):
            schema, rows, read = opener(plain)
            places: Sequence[int] = _places(source, options, schema.names)
            source.ends = schema.names[places[0]], schema.names[places[1]]
            if options.keep:
                places = kept_places(
                    source, options, schema.names, (places[0], places[1]), len(schema.names)
                )
            ids = [schema.names[place] for place in places]
            least = sum(_least_bytes(schema.field(place).type) for place in places)
            source.claim(f"{rows:,} rows", rows * least)
            frame = read(ids).select(ids).replace_schema_metadata().to_pandas()
    except MemoryError:
        raise
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise source.fault(str(error)) from error
    if not (options.keep or options.named):
        frame.columns = source.ends = ("src", "dst")
    return frame, np.zeros(0, np.int64), []


def _places(source: Source, options: ReadOptions, names: list[str]) -> tuple[int, int]:
    chosen = options.columns != (None, None) or find_ends(names) is not None
    if not chosen and len(names) != 2:
        raise source.fault(f"name source= and destination=; columns: {names}")
    places = choose_columns(source, names, options.columns, width=len(names))
    for name in (names[place] for place in places):
        if names.count(name) > 1:
            raise source.fault(f"{names.count(name)} columns are called {name!r}: rename")
    return places


def _least_bytes(kind: DType) -> int:
    """Return the least bytes of a value of an Arrow type; of a text, the bytes of its offset."""
    try:
        return max(int(kind.bit_width) // 8, 1)
    except ValueError:
        return 4
