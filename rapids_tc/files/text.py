"""Edge lists as text: two ids a line, separated by anything, with or without a header."""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from rapids_tc.errors import ColumnNotFoundError
from rapids_tc.files.source import Column, EdgeFileError, Options, Source, Stream, shortened

Frame = Any  # pandas.DataFrame
Array = np.ndarray

_NONE = np.zeros(0, np.int64)  # text names a vertex by its edges only
BLANKS = " "  # as a separator: any run of blanks and tabs
_SPELLED = {"blanks": BLANKS, "tab": "\t", "\\t": "\t", "comma": ","}
_CALLED = {BLANKS: "blanks", "\t": "tabs", ",": "commas", ";": "semicolons", "|": "bars"}
PAIRS = (("src", "dst"), ("source", "destination"), ("source", "target"))
_INTEGER = re.compile(r"[+-]?\d+")
_PLAIN = re.compile(r"-?(0|[1-9]\d*)")  # what stays the same when read as a number
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.I)
_SIZES = re.compile(r"\s*\d+(\s+\d+){1,2}\s*")
_WORD = re.compile(r"([^\W\d].*)?")  # a column's name; none above a column of row numbers
# Above ids that are text themselves, only these words are names.
_NAME = re.compile(
    r"(src|source|from|u|node|vertex|id)[ _-]?(node|vertex|id|name)?[ _-]?[01]?", re.I
)
_MATRIX = 10  # columns from which as many lines as columns are taken for a matrix


@dataclass(frozen=True)
class Rules:
    """How the lines of one file are read."""

    marks: str
    separator: str
    skip_first: bool = False
    columns: tuple[int, int] = (0, 1)
    integers: bool = True
    width: int = 0  # columns, if all lines seen so far have one separator between each two

    @property
    def quoted(self) -> bool:
        return self.separator in ",;"

    def fields(self, line: str) -> list[str]:
        return _split(line, self.separator)

    def wrong(self, line: str) -> str:
        """What is wrong with a line; empty when nothing is."""
        fields = self.fields(line)
        if len(fields) <= max(self.columns):
            where = "" if self.columns == (0, 1) else " in columns {} and {}".format(
                *(c + 1 for c in self.columns)
            )  # fmt: skip
            called = _CALLED.get(self.separator, repr(self.separator))
            return f"expected two ids{where} separated by {called}"
        for field in (fields[c] for c in self.columns):
            if not field:
                return "an id is empty"
            if self.integers and not _INTEGER.fullmatch(field):
                return f"{shortened(field)} is not an integer (ids=string takes any text)"
            if self.integers and not -(2**63) <= int(field) < 2**64:
                return f"{shortened(field)} does not fit 64 bits (ids=string takes any text)"
        return ""


def read_text(source: Source, options: Options) -> tuple[Frame, Array, list[str]]:
    """The edges, no further vertices, and what was guessed."""
    import pandas as pd

    separator, header, comment = options.separator, options.header, options.comment
    marks = "#%" if comment is None else comment
    lines = source.sample(marks)
    if not lines:
        empty = pd.DataFrame({"src": [], "dst": []}, dtype="int64")
        return empty, _NONE, ["no lines but comments" if source.comments else "an empty file"]
    sep = _guess_separator(lines) if separator is None else _SPELLED.get(separator, separator)
    if len(sep) != 1:
        raise ValueError(f"separator must be one character, 'tab' or 'blanks', not {separator!r}")
    rows = [_split(line, sep) for line in lines]
    body = rows[1:] if _is_wordy(rows[0]) else rows
    # A line of sizes apart from the rest by its separator too, which no edge can be.
    sizes_only = header is None and len(rows[0]) < 2 and _SIZES.fullmatch(lines[0]) is not None
    named = _guess_header(rows) if header is None else header
    places = choose_columns(rows[0] if named else None, options.columns, width=max(map(len, rows)))
    integers = _mostly_integers(body, places) if options.ids is None else options.ids == "integer"
    if comment is None and not integers:
        # Text ids may begin with a mark: believe only one that opens the file.
        opening = source.head().decode(errors="replace").lstrip()[:1]
        marks = opening if opening in marks else ""
    widths = {len(line.split(sep)) for line in lines}
    width = widths.pop() if len(widths) == 1 else 0
    rules = Rules(marks, sep, named or sizes_only, places, integers, width)
    if options.format is None and integers:
        _refuse_ragged(source, rows[1:])
    frame = parse(source, rules)
    guesses = []
    if separator is None:
        guesses.append(f"text separated by {_CALLED[sep]}")
    if header is None:
        role = "names the columns" if named else "is an edge: no header"
        if sizes_only:
            role = "gives sizes and is no edge"
        elif integers and not named and places == (0, 1) and _is_size_line(rows[0], frame):
            role = "gives sizes and is no edge"
            frame = frame.iloc[1:].reset_index(drop=True)
        guesses.append(f"the first line {shortened(lines[0])} {role}")
    if options.columns == (None, None) and named and len(rows[0]) > 2:
        guesses.append("ids in columns {!r} and {!r}".format(*(rows[0][c] for c in places)))
    if options.ids is None:
        guesses.append("ids are integers" if integers else "ids are text")
    if comment is None and source.comments:
        guesses.append(f"comment lines left out: {source.comments:,}")
    if options.format is None and integers and len(rows[-1]) >= _MATRIX:
        _refuse_matrix(source, len(rows[-1]), len(frame))
    return frame, _NONE, guesses


def parse(source: Source, rules: Rules) -> Frame:
    """Read the ids in bulk; a line that breaks the rules is named."""
    import pandas as pd

    if not rules.integers and rules.width > max(rules.columns) and find_spec("pyarrow"):
        from pyarrow import ArrowInvalid

        # Lines that are not all alike are pandas' business, which is ten times slower at text.
        with suppress(ArrowInvalid):
            return _parse_by_arrow(source, rules)

    def read(dtype: Any, column: int | None = None) -> Frame:
        return pd.read_csv(
            Stream(source.blocks(rules.marks, skip_first=rules.skip_first)),
            sep=r"\s+" if rules.separator == BLANKS else rules.separator,
            header=None,
            names=range(max(rules.columns) + 1),
            index_col=False,
            usecols=list(rules.columns) if column is None else [column],
            dtype=dtype,
            na_filter=False,
            skipinitialspace=True,
            quoting=csv.QUOTE_MINIMAL if rules.quoted else csv.QUOTE_NONE,
            encoding_errors="replace" if rules.integers else "strict",
        )

    try:
        frame = read("int64" if rules.integers else str)[list(rules.columns)]
        for column in rules.columns:
            if rules.integers and frame[column].dtype != "int64":
                # Ids of 2**63 and more. A read as uint64 would wrap negative ones round.
                if (read("float64", column)[column] < 0).any():
                    raise OverflowError
                frame[column] = read("uint64", column)[column]
            elif not rules.integers and (frame[column] == "").any():
                raise ValueError("an id is empty")
    except EdgeFileError:
        raise
    except (ValueError, OverflowError) as error:
        syntax = not rules.integers or isinstance(error, pd.errors.ParserError)
        whole = error if syntax else "negative ids beside ids of 2**63 or more in one column"
        raise source.locate(
            rules.marks, rules.wrong, skip_first=rules.skip_first, otherwise=whole
        ) from error
    frame.columns = ["src", "dst"]
    return frame


def _parse_by_arrow(source: Source, rules: Rules) -> Frame:
    """Ids that are text, by PyArrow; ArrowInvalid if pandas might see a line otherwise."""
    import pyarrow
    from pyarrow import compute
    from pyarrow.csv import ConvertOptions, ParseOptions, ReadOptions, read_csv

    names = [str(place) for place in range(rules.width)]
    chosen = [names[place] for place in rules.columns]

    def blocks() -> Iterator[bytes]:
        for block in source.blocks(rules.marks, skip_first=rules.skip_first):
            if rules.quoted and b'"' in block:
                raise pyarrow.ArrowInvalid("it lets a quote without its like pass")
            yield block

    table = read_csv(
        Stream(blocks()),
        ReadOptions(column_names=names),
        ParseOptions(delimiter=rules.separator, quote_char=False),
        ConvertOptions(
            include_columns=chosen,
            column_types=dict.fromkeys(chosen, pyarrow.string()),
            null_values=[],
        ),
    )
    odd = r"^$|\s" if rules.separator == BLANKS else r"^$|^\s"
    for column in table.columns:
        if compute.any(compute.match_substring_regex(column, odd)).as_py():
            raise pyarrow.ArrowInvalid("an id is empty or has blanks")
    return table.rename_columns(["src", "dst"]).to_pandas()


def choose_columns(
    names: list[str] | None, wanted: tuple[Column, Column], *, width: int
) -> tuple[int, int]:
    """Where the ids are: as wanted, by name or number from 1; else as named; else first."""
    source, destination = wanted
    if source is not None and destination is not None:
        places = _place(names, source, width), _place(names, destination, width)
        if places[0] == places[1]:
            raise ValueError(f"source and destination are both column {source!r}")
        return places
    if source is not None or destination is not None:
        raise ValueError("source and destination are given together or not at all")
    lower = [name.lower() for name in names or ()]
    for pair in PAIRS:
        if set(pair) <= set(lower):
            return lower.index(pair[0]), lower.index(pair[1])
    return (1, 2) if lower[:1] == [""] and width > 2 else (0, 1)


def _place(names: list[str] | None, column: str | int, width: int) -> int:
    if names and column in names:
        return names.index(str(column))
    if str(column).isdigit() and 1 <= int(column) <= width:
        return int(column) - 1
    known = ", ".join(map(repr, names)) if names else f"1 to {width}"
    raise ColumnNotFoundError(f"no column {column!r}; columns: {known}")


def _split(line: str, separator: str) -> list[str]:
    if separator == BLANKS:
        return line.split()
    if separator in ",;":
        return [field.strip() for field in next(csv.reader([line], delimiter=separator))]
    return [field.strip() for field in line.split(separator)]


def _guess_separator(lines: list[str]) -> str:
    # Attributes that NetworkX writes behind the ids, {...}, may hold anything.
    body = [line.partition("{")[0] for line in lines[1:] or lines]
    lines_with = {sep: sum(sep in line for line in body) for sep in (",", "\t", ";", "|")}
    best = max(lines_with, key=lambda sep: lines_with[sep])
    mixed = best == "\t" and lines_with[best] < len(body)  # tabs here, blanks there
    if mixed and all(re.match(r"\s*-?\d+\s+-?\d+(\s|$)", line) for line in body):
        return BLANKS
    return best if 2 * lines_with[best] >= len(body) else BLANKS


def _guess_header(rows: list[list[str]]) -> bool:
    first, *body = rows
    return _is_wordy(first) and (
        _NAME.fullmatch(first[0]) is not None or _mostly_integers(body, (0, 1))
    )


def _is_wordy(fields: list[str]) -> bool:
    return len(fields) > 1 and all(_WORD.fullmatch(field) for field in fields[:2])


def _mostly_integers(rows: list[list[str]], places: tuple[int, int]) -> bool:
    # Mostly: one line that is wrong should be found by name, not turn all ids into text.
    fields = [row[p] for row in rows for p in places if p < len(row)]
    return 2 * sum(_PLAIN.fullmatch(field) is not None for field in fields) > len(fields)


def _is_size_line(first: list[str], frame: Frame) -> bool:
    """Whether the first row is "n m": m rows follow (or 2 m), and no id is above n."""
    sizes = [int(field) for field in itertools.takewhile(str.isdigit, first)]
    rest = frame.iloc[1:]
    if not 2 <= len(sizes) <= 3 or not len(rest) or rest.max().max() > max(sizes[:-1]):
        return False
    both_ways = len(rest) == 2 * sizes[-1] and rest["src"].sum() == rest["dst"].sum()
    return len(rest) == sizes[-1] or both_ways


def _refuse_ragged(source: Source, body: list[list[str]]) -> None:
    lengths = {len(row) for row in body}
    if len(lengths) > 2 and all(_NUMBER.fullmatch(field) for row in body for field in row):
        raise source.fault(
            f"lines of {min(lengths)} to {max(lengths)} numbers do not look like an edge list; "
            "name the format: metis, or text for the ids of the first two columns"
        )


def _refuse_matrix(source: Source, width: int, rows: int) -> None:
    if rows in (width, width - 1):
        raise source.fault(
            f"{rows} lines of {width} columns look like an adjacency matrix, not an edge list; "
            "format text takes the ids of the first two columns all the same"
        )
