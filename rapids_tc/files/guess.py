"""Guesses about a text file: its separator, header, columns and kind of ids."""

from __future__ import annotations

import csv
import itertools
import re
from typing import TYPE_CHECKING, Any

from rapids_tc.errors import ColumnNotFoundError
from rapids_tc.files.source import shortened
from rapids_tc.preparation.edges import find_pair

if TYPE_CHECKING:
    from rapids_tc.files.source import Column, Source

Frame = Any  # pandas.DataFrame

BLANKS = " "  # the separator that is any run of blanks and tabs
SPELLED = {"blanks": BLANKS, "tab": "\t", "\\t": "\t", "comma": ","}
CALLED = {BLANKS: "blanks", "\t": "tabs", ",": "commas", ";": "semicolons", "|": "bars"}
INTEGER = re.compile(r"[+-]?[0-9]+")
_PLAIN = re.compile(r"-?(0|[1-9][0-9]*)")  # printed as an integer, it is the same text
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", re.I)
SIZES = re.compile(r"\s*[0-9]+(\s+[0-9]+){1,2}\s*")
_FRACTION = re.compile(r"[+-]?[0-9]*(\.[0-9]*(e[+-]?[0-9]+)?|e[+-]?[0-9]+)", re.I)
_SIZE = re.compile(r"[0-9]{1,18}")
_DIMACS_COMMENT = re.compile(r"c(\s.*)?")
_DIMACS = re.compile(r"p\s+[a-z]+\s+[0-9]+\s+[0-9]+\s*")
_DIMACS_EDGE = re.compile(r"[ea]\s+[0-9]+\s+[0-9]+(\s+\S+)?\s*")
_WORD = re.compile(r"([^\W\d].*)?")  # a column's name; none above a column of row numbers
# If the ids are text, a first line is a header only if it begins with one of these words.
_NAME = re.compile(
    r"(src|source|from|u|node|vertex|id)[ _-]?(node|vertex|id|name)?[ _-]?[01]?", re.I
)
MATRIX = 10  # columns from which a file with as many lines is taken for a matrix


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
        places = _place(file, names, source, width), _place(file, names, destination, width)
        if places[0] == places[1]:
            raise ValueError(f"source and destination are both column {source!r}")
        return places
    if source is not None or destination is not None:
        raise ValueError("source and destination are given together or not at all")
    if names and (pair := find_pair(names)):
        return _position(file, names, pair[0]), _position(file, names, pair[1])
    row_numbers = names is not None and names[:1] == [""]
    if names and is_wordy(names) and width - row_numbers > 2:
        raise ColumnNotFoundError(f"name source and destination; columns: {_listed(names, width)}")
    return (1, 2) if row_numbers and width > 2 else (0, 1)


def _place(file: Source, names: list[str] | None, column: str | int, width: int) -> int:
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


def split(line: str, separator: str) -> list[str]:
    """Split a line into its fields."""
    if separator == BLANKS:
        return re.findall(r"[^ \t]+", line)
    if separator in ",;":
        try:
            fields = next(csv.reader([line], delimiter=separator))
        except csv.Error:  # a field is longer than a limit that only the user's program may set
            quoted = rf'{separator}[ \t]*("(?:[^"]|"")*"[^{separator}]*|[^{separator}]*)'
            fields = [field.strip('"') for field in re.findall(quoted, separator + line)]
    else:
        fields = line.split(separator)
    return [field.strip(BLANKS + "\t") for field in fields]


def guess_separator(lines: list[str]) -> str:
    """Return the character that separates the fields of most lines, else `BLANKS`."""
    # NetworkX writes attributes behind the ids, {...}, which may contain any character.
    body = [line.partition("{")[0] for line in lines[1:] or lines]
    lines_with = {sep: sum(sep in line for line in body) for sep in (",", "\t", ";", "|")}
    best = max(lines_with, key=lambda sep: lines_with[sep])
    mixed = best == "\t" and lines_with[best] < len(body)  # some lines have tabs, others blanks
    if mixed and all(re.match(r"\s*-?[0-9]+\s+-?[0-9]+(\s|$)", line) for line in body):
        return BLANKS
    return best if 2 * lines_with[best] >= len(body) else BLANKS


def guess_header(rows: list[list[str]]) -> bool:
    """Return whether the first row names the columns."""
    first, *body = rows
    return is_wordy(first) and (
        _NAME.fullmatch(first[0]) is not None
        or find_pair(first) is not None
        or mostly_integers(body, (0, 1))
    )


def is_wordy(fields: list[str]) -> bool:
    """Return whether the first two fields may be names of columns."""
    return len(fields) > 1 and all(_WORD.fullmatch(field) for field in fields[:2])


def mostly_integers(rows: list[list[str]], places: tuple[int, int]) -> bool:
    """Return whether most ids are integers.

    Not all: one wrong line should be an error that names it, not turn all ids into text.
    """
    fields = [row[p] for row in rows for p in places if p < len(row)]
    plain = sum(_PLAIN.fullmatch(field) is not None for field in fields)
    # Integers beside fractions are no names: an error should name their lines too.
    numbers = plain and all(_FRACTION.fullmatch(f) or _PLAIN.fullmatch(f) for f in fields)
    return 2 * plain > len(fields) or bool(numbers and plain < len(fields))


def is_size_line(rows: list[list[str]], separator: str, frame: Frame) -> bool:
    """Return whether the first row is "n m", "n n m" or "n,m,words", and not an edge.

    m rows (or 2 m) must follow with no id above n; numbers alone must be separated by blanks. A
    row that might be an edge of a triangle, because both ids are in other rows, is an edge.
    """
    first, second = rows[0], rows[1] if len(rows) > 1 else []
    numbers = list(itertools.takewhile(_SIZE.fullmatch, first))
    sizes, rest = [int(field) for field in numbers], frame.iloc[1:]
    if not len(rest) or not 2 <= len(sizes) <= 3 or len(set(sizes[:-1])) > 1:
        return False
    both_directions = len(rest) == 2 * sizes[-1] and rest["src"].sum() == rest["dst"].sum()
    if rest.max().max() > sizes[0] or not (len(rest) == sizes[-1] or both_directions):
        return False
    words = first[len(sizes) :]
    apart = len(first) != len(second) if words else separator in (BLANKS, "\t")
    u, v = frame["src"].iloc[0], frame["dst"].iloc[0]
    in_other_rows = all(((rest["src"] == end) | (rest["dst"] == end)).any() for end in (u, v))
    return apart and (u == v or not in_other_rows)


def refuse_other_formats(source: Source, lines: list[str]) -> None:
    """Raise EdgeFileError for text of another format that could be read as an edge list."""
    format_name = {"{": "JSON", "[": "JSON", "<": "HTML or XML"}.get(lines[0].lstrip()[:1])
    rest = [line for line in lines if not _DIMACS_COMMENT.fullmatch(line)]
    if rest and (_DIMACS.fullmatch(rest[0]) or all(map(_DIMACS_EDGE.fullmatch, rest))):
        format_name = "DIMACS"
    if format_name:
        raise source.fault(
            f"this looks like {format_name}, which is not read; format text takes it for an edge "
            f"list all the same: {shortened(lines[0])}"
        )


def refuse_ragged(source: Source, body: list[list[str]]) -> None:
    """Raise EdgeFileError for rows of numbers of many lengths, as METIS files have."""
    lengths = {len(row) for row in body}
    if len(lengths) > 2 and all(_NUMBER.fullmatch(field) for row in body for field in row):
        raise source.fault(
            f"lines of {min(lengths)} to {max(lengths)} numbers do not look like an edge list; "
            "name the format: metis, or text for the ids of the first two columns"
        )


def refuse_matrix(source: Source, width: int, rows: int) -> None:
    """Raise EdgeFileError for a file with as many lines as columns."""
    if rows in (width, width - 1):
        raise source.fault(
            f"{rows} lines of {width} columns look like an adjacency matrix, not an edge list; "
            "format text takes the ids of the first two columns all the same"
        )
