"""Lines of text → two columns of ids, in bulk: by PyArrow, or by pandas; errors name the line."""

from __future__ import annotations

import csv
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.files.guess import BLANKS, CALLED, INTEGER, split
from rapids_tc.files.source import CHECK_BYTES, EdgeFileError, Source, Stream, shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Frame = Any  # pandas.DataFrame
Array = np.ndarray

_PIECE = 2**18  # rows that pandas parses at a time
_ROW_BYTES = 16  # of a row when the pieces are joined: two ids, or pointers to them
_CHECK_ROWS = 2**22  # rows that are read between two checks of the free memory: each takes 3 ms
_NONE = np.zeros(0, np.int64)


@dataclass(frozen=True)
class LineFormat:
    """The way to read the lines of one file."""

    marks: str
    separator: str
    skip_first: bool = False
    columns: tuple[int, int] = (0, 1)
    integers: bool = True
    width: int = 0  # columns, if the sampled lines all have as many separators
    quoted: bool = False  # whether quotes may enclose a field

    def fields(self, line: str) -> list[str]:
        """Split a line into its fields."""
        return split(line, self.separator, quoted=self.quoted)

    def wrong(self, line: str) -> str:
        """Say what is wrong with a line; return an empty text if nothing is."""
        fields = self.fields(line)
        if len(fields) <= max(self.columns):
            columns = "" if self.columns == (0, 1) else " in columns {} and {}".format(
                *(c + 1 for c in self.columns)
            )  # fmt: skip
            separator = CALLED.get(self.separator, repr(self.separator))
            return f"expected two ids{columns} separated by {separator}"
        for field in (fields[c] for c in self.columns):
            if not field:
                return "an id is empty"
            if self.integers and not INTEGER.fullmatch(field):
                advice = " (ids=string takes it for an id)"
                if field.endswith(".0"):  # pandas writes so a column that had a null
                    advice = ": leave out '.0', as ids=string takes '7.0' and '7' for two vertices"
                return f"{shortened(field)} is not an integer{advice}"
            digits = len(field.lstrip("+-0"))  # int() refuses more than some thousand digits
            if self.integers and not (digits <= 20 and -(2**63) <= int(field) < 2**64):
                return f"{shortened(field)} does not fit 64 bits (ids=string takes it for an id)"
        return ""


def parse(source: Source, line_format: LineFormat) -> Frame:
    """Read the ids in bulk; an error names the first wrong line."""
    import pandas as pd

    if line_format.width > max(line_format.columns) and find_spec("pyarrow"):
        from pyarrow import ArrowInvalid

        # pandas reads lines of different shapes, in twice the time; for text ids in ten times.
        with suppress(ArrowInvalid):
            return _parse_by_arrow(source, line_format)

    try:
        pieces = pd.read_csv(
            Stream(source.blocks(line_format.marks, skip_first=line_format.skip_first)),
            sep=r"\s+" if line_format.separator == BLANKS else line_format.separator,
            header=None,
            names=range(max(line_format.columns) + 1),
            index_col=False,
            usecols=list(line_format.columns),
            # With "int64" pandas would read 5.0 as 5, and convert all ids beside it by float64.
            dtype=None if line_format.integers else str,
            chunksize=_PIECE,
            low_memory=False,
            na_filter=False,
            skipinitialspace=True,
            quoting=csv.QUOTE_MINIMAL if line_format.quoted else csv.QUOTE_NONE,
            encoding_errors="replace" if line_format.integers else "strict",
        )
        if line_format.integers:
            frame = _exact(_within_memory(source, pieces), line_format.columns)
        else:
            frame = pd.concat(_within_memory(source, pieces), ignore_index=True)
            frame = frame[list(line_format.columns)]
            for column in line_format.columns:
                frame[column] = frame[column].str.strip(" \t")
                if (frame[column] == "").any():
                    raise ValueError("an id is empty")
    except EdgeFileError:
        raise
    except (ValueError, OverflowError) as error:
        syntax = not line_format.integers or isinstance(error, pd.errors.ParserError)
        whole = error if syntax else "negative ids beside ids of 2**63 or more in one column"
        raise source.locate(
            line_format.marks, line_format.wrong, skip_first=line_format.skip_first, otherwise=whole
        ) from error
    frame.columns = ["src", "dst"]
    return frame


def _within_memory(source: Source, pieces: Iterable[Frame]) -> Iterator[Frame]:
    """Yield the pieces of a frame; raise CapacityError before they are too many to be joined."""
    rows, checked = 0, 0
    for piece in pieces:
        rows += len(piece)
        if rows >= checked + _CHECK_ROWS:
            source.require(f"{rows:,} lines or more take", _ROW_BYTES * rows)
            checked = rows
        yield piece


def _exact(pieces: Iterable[Frame], columns: tuple[int, int]) -> Frame:
    """Join the pieces, as int64, or as uint64 if there are ids of 2**63 and more."""
    import pandas as pd

    parts: dict[int, list[Array]] = {column: [] for column in columns}
    for piece in pieces:
        for column in columns if len(piece) else ():
            ids = piece[column].to_numpy()
            if ids.dtype not in ("int64", "uint64"):
                raise ValueError("not all ids are integers of 64 bits")
            parts[column].append(ids)
    for ids in parts.values():
        if len({part.dtype for part in ids}) == 2:
            if any(part.min() < 0 for part in ids):
                raise OverflowError
            ids[:] = [part.astype("uint64") for part in ids]
    whole = {c: np.concatenate(ids) if ids else _NONE for c, ids in parts.items()}
    return pd.DataFrame(whole, copy=False)


def _parse_by_arrow(source: Source, line_format: LineFormat) -> Frame:
    """Read the ids by PyArrow; raise ArrowInvalid if pandas might read a line differently."""
    import pandas as pd
    import pyarrow
    from pyarrow import compute
    from pyarrow.csv import ConvertOptions, ParseOptions, ReadOptions, read_csv

    names = [str(place) for place in range(line_format.width)]
    id_columns = [names[place] for place in line_format.columns]
    kind = pyarrow.int64() if line_format.integers else pyarrow.string()
    table = read_csv(
        Stream(_blocks_for_arrow(source, line_format)),
        ReadOptions(column_names=names),
        ParseOptions(delimiter=line_format.separator, quote_char=False),
        ConvertOptions(
            include_columns=id_columns,
            column_types=dict.fromkeys(id_columns, kind),
            null_values=[],
        ),
    )
    if line_format.integers:
        ends = {}
        for end, name in zip(("src", "dst"), id_columns, strict=True):
            ends[end] = table[name].to_numpy()
            table = table.drop_columns(name)  # so that no more than half is there twice
        return pd.DataFrame(ends, copy=False)
    odd = r"^$|\t" if line_format.separator == BLANKS else "^$"
    trimmed = [compute.utf8_trim(column, " \t") for column in table.columns]
    for column in trimmed:
        if compute.any(compute.match_substring_regex(column, odd)).as_py():
            raise pyarrow.ArrowInvalid("an id is empty or has blanks")
    return pyarrow.table(trimmed, names=["src", "dst"]).to_pandas()


def _blocks_for_arrow(source: Source, line_format: LineFormat) -> Iterator[bytes]:
    """Yield the lines of the file; raise ArrowInvalid for what Arrow reads in its own way."""
    from pyarrow import ArrowInvalid

    total = rows = checked = 0
    for block in source.blocks(line_format.marks, skip_first=line_format.skip_first):
        if line_format.quoted and b'"' in block:
            raise ArrowInvalid("it lets a quote without its like pass")
        if line_format.integers:
            if b"x" in block or b"X" in block:
                raise ArrowInvalid("it reads hexadecimal numbers")
            rows += int(np.count_nonzero(np.frombuffer(block, np.uint8) == ord("\n")))
            if rows >= checked + _CHECK_ROWS:
                source.require(f"{rows:,} lines or more take", _ROW_BYTES * rows)
                checked = rows
        else:
            total += len(block)
            if total >= checked + CHECK_BYTES:
                source.require(f"{total:,} bytes of text or more take", total)  # ids are trimmed
                checked = total
        yield block
