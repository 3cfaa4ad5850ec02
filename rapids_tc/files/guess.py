"""Guesses about a text file: its separator, header, columns and kind of ids."""

from __future__ import annotations

import csv
import itertools
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.errors import ColumnNotFoundError
from rapids_tc.files.source import shortened
from rapids_tc.preparation.edge_columns import find_ends

if TYPE_CHECKING:
    from rapids_tc.files.source import Column, Source

Frame = Any  # pandas.DataFrame

BLANKS = " "  # the separator that is any run of blanks and tabs
SPELLED = {"blanks": BLANKS, "tab": "\t", "\\t": "\t", "comma": ","}
CALLED = {BLANKS: "blanks", "\t": "tabs", ",": "commas", ";": "semicolons", "|": "bars"}
INTEGER = re.compile(r"[+-]?[0-9]+")
_PLAIN = re.compile(r"-?(0|[1-9][0-9]*)")  # printed as an integer, it is the same text
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", re.I)
SIZES = re.compile(r"\s*[0-9]+(\s+[0-9]+){1,2}\s*")
_FRACTION = re.compile(r"[+-]?[0-9]*(\.[0-9]*(e[+-]?[0-9]+)?|e[+-]?[0-9]+)", re.I)
_SIZE = re.compile(r"[0-9]{1,18}")
WORD = re.compile(r"(:?[^\W\d].*)?")  # a column's name; none above a column of row numbers
NO_VALUE = {"", "na", "nan", "none", "null", "inf"}  # words for a number that is not there
_QUOTED = re.compile(r'"([^"]*)"')
_DECIMAL = re.compile(r"(?<=[0-9]),(?=[0-9])")


def choose_columns(
    file: Source,
    names: list[str] | None,
    columns: tuple[Column, Column],
    *,
    width: int,
) -> tuple[int, int]:
    """Return the positions of the id columns: as chosen, else by their names, else the first."""
    source, destination = columns
    if source is not None and destination is not None:
        places = place_of(file, names, source, width), place_of(file, names, destination, width)
        if places[0] == places[1]:
            raise ValueError(f"source and destination are both column {source!r}")
        return places
    if source is not None or destination is not None:
        raise ValueError("source and destination are given together or not at all")
    if names and (ends := find_ends(names)):
        return _position(file, names, ends[0]), _position(file, names, ends[1])
    row_numbers = names is not None and names[:1] == [""]
    if names and is_wordy(names) and width - row_numbers > 2:
        raise ColumnNotFoundError(
            f"name source= and destination=; columns: {_listed(names, width)}"
        )
    return (1, 2) if row_numbers and width > 2 else (0, 1)


def place_of(file: Source, names: list[str] | None, column: str | int, width: int) -> int:
    """Return the position of a column that is named, or numbered from 1."""
    if names and column in names:
        return _position(file, names, str(column))
    if str(column).isdecimal() and 1 <= int(column) <= width:
        return int(column) - 1
    raise ColumnNotFoundError(f"no column {column!r}; columns: {_listed(names, width)}")


def _position(file: Source, names: list[str], name: str) -> int:
    if names.count(name) > 1:
        raise file.fault(
            f"{names.count(name)} columns are called {name!r}: rename them, or choose columns of "
            "text by their numbers"
        )
    return names.index(name)


def _listed(names: list[str] | None, width: int) -> str:
    return ", ".join(map(repr, names)) if names else f"1 to {width}"


def split(line: str, separator: str, *, quoted: bool = False) -> list[str]:
    """Split a line into its fields; `quoted` says that quotes may enclose one."""
    if separator == BLANKS:
        if not quoted or '"' not in line:
            return re.findall(r"[^ \t]+", line)
        fields = re.findall(r'"[^"]*"|[^ \t]+', line)
        return [field[1:-1] if field[0] == '"' == field[-1] else field for field in fields]
    if quoted or separator in ",;":
        try:
            fields = next(csv.reader([line], delimiter=separator))
        except csv.Error:  # a field is longer than a limit that only the user's program may set
            quotes = rf'{separator}[ \t]*("(?:[^"]|"")*"[^{separator}]*|[^{separator}]*)'
            fields = [field.strip('"') for field in re.findall(quotes, separator + line)]
    else:
        fields = line.split(separator)
    return [field.strip(BLANKS + "\t") for field in fields]


def filled(fields: list[str]) -> list[str]:
    """Leave out the empty fields at the end of a line."""
    while len(fields) > 1 and not fields[-1]:
        fields = fields[:-1]
    return fields


def guess_separator(lines: list[str]) -> str:
    """Return what gives integers in two columns, else as many fields on every line, else `BLANKS`.

    A separator must give two fields on half of the lines. Commas are none if all are in decimal
    numbers, and tabs go before others, since texts that are ids have blanks and commas.
    """
    # NetworkX writes attributes behind the ids, {...}, which may contain any character.
    body = [line.partition("{")[0] for line in lines]
    body = [_QUOTED.sub(lambda text: re.sub(r"[\t;|, ]", "_", text[1]), line) for line in body]
    scores: dict[str, tuple[int, ...]] = {}
    columns: dict[str, int] = {}
    for separator in ("\t", ";", "|", ",", BLANKS):  # among equals, the first
        rows = [filled(split(line, separator)) for line in body]
        wide = [len(row) for row in rows if sum(map(bool, row)) > 1]
        integers = sum(len(row) > 1 and all(map(INTEGER.fullmatch, row[:2])) for row in rows)
        if 2 * len(wide) >= len(body) and wide:
            uniform = max(map(wide.count, set(wide)))
            scores[separator] = (integers, separator != BLANKS, len(wide), uniform)
            columns[separator] = min(wide)
    decimal = not any("," in _DECIMAL.sub("", line) for line in body)
    others = [columns[separator] for separator in scores if separator != ","]
    if decimal and "," in scores and not scores[","][0] and max(others, default=0) > 2:
        del scores[","]
    return max(scores, key=lambda separator: scores[separator], default=BLANKS)


def is_quoted(lines: list[str], separator: str) -> bool:
    """Return whether quotes enclose whole fields, wherever there are quotes."""
    if separator in ",;":
        return True
    apart = r"[ \t]+" if separator == BLANKS else re.escape(separator)
    plain = r'[^"\s]+' if separator == BLANKS else rf'[^"{re.escape(separator)}]*'
    field = rf'(?:"[^"]*"|{plain})'
    whole = re.compile(rf"\s*{field}(?:{apart}{field})*\s*")
    with_quotes = [line.partition("{")[0] for line in lines if '"' in line.partition("{")[0]]
    return bool(with_quotes) and all(map(whole.fullmatch, with_quotes))


def is_wordy(fields: list[str]) -> bool:
    """Return whether the first two fields may be names of columns."""
    return len(fields) > 1 and all(WORD.fullmatch(field) for field in fields[:2])


def mostly_integers(rows: list[list[str]], places: tuple[int, int]) -> bool:
    """Return whether most ids are integers.

    Not all: one wrong line should be an error that names it, not turn all ids into text.
    """
    fields = [row[p] for row in rows for p in places if p < len(row)]
    plain = sum(_PLAIN.fullmatch(field) is not None for field in fields)
    # Integers beside fractions are no names: an error should name their lines too.
    numbers = plain and all(_FRACTION.fullmatch(f) or _PLAIN.fullmatch(f) for f in fields)
    return 2 * plain > len(fields) or bool(numbers and plain < len(fields))


def is_size_line(source: Source, rows: list[list[str]], separator: str, frame: Frame) -> bool:
    """Return whether the first row is "n m", "n n m" or "n,m,words", and not an edge.

    m rows (or 2 m) must follow with no id above n, or no more than n words; numbers alone must be
    separated by blanks.

    Raises
    ------
    EdgeFileError
        The row might also be an edge of a triangle, because both ids are in other rows.
    """
    first, second = rows[0], rows[1] if len(rows) > 1 else []
    numbers = list(itertools.takewhile(_SIZE.fullmatch, first))
    sizes, rest = [int(field) for field in numbers], frame.iloc[1:]
    if not len(rest) or not 2 <= len(sizes) <= 3 or len(set(sizes[:-1])) > 1:
        return False
    integers = rest["src"].dtype.kind in "iu"
    most = rest.max().max() if integers else len({*rest["src"], *rest["dst"]})
    both_directions = len(rest) == 2 * sizes[-1] and _same(rest)
    if not most <= sizes[0] < 2**32 or not (len(rest) == sizes[-1] or both_directions):
        return False
    words = first[len(sizes) :]
    apart = len(first) != len(second) if words else separator in (BLANKS, "\t")
    u, v = frame["src"].iloc[0], frame["dst"].iloc[0]
    in_other_rows = all(((rest["src"] == end) | (rest["dst"] == end)).any() for end in (u, v))
    if apart and u != v and in_other_rows:
        raise source.fault(
            f"the first line {shortened(' '.join(first))} may be an edge, or say that "
            f"{sizes[-1]:,} edges of {sizes[0]:,} vertices follow: say which, header=False or "
            "header=True"
        )
    return apart and (u == v or not in_other_rows)


def _same(edges: Frame) -> bool:
    """Return whether the same ids are sources and destinations, as often."""
    src, dst = (np.sort(edges[end].to_numpy()) for end in ("src", "dst"))
    return bool(np.array_equal(src, dst))
