"""Refusals of text that can be split into fields, and is no edge list: each names what it is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rapids_tc.files.guess import NO_VALUE, NUMBER, SIZES
from rapids_tc.files.source import shortened

if TYPE_CHECKING:
    from rapids_tc.files.source import Source

# What the first lines of other formats look like, comments left out.
_OTHERS = (
    ("RDF", r"@prefix\b|(?:_:\S+|<[^>\n]*>)[ \t]+<[^>\n]*>[ \t].*\.[ \t]*$"),
    ("JSON without nodes and links", r"[\[{]"),
    ("HTML or XML", r"<"),
    ("DOT", r"(?:(?://|/\*).*\n)*(?:strict\s+)?(?:di)?graph\b[^\n{]*\{"),
    ("DL of UCINET", r"dl\s(?:.*\n){0,2}?.*\bn\s*="),
    ("LEDA", r"leda\.graph\b"),
    ("WebGraph", r"(?:.*\n){0,9}?graphclass\s*="),
    ("PBBS", r"(?:weighted)?(?:adjacencygraph|edgearray)\s*$"),
    ("gSpan", r"t[ \t]+#[ \t]+-?[0-9]+"),
    (
        "DIMACS without its line p",
        r"(?:[ea][ \t]+[0-9]+[ \t]+[0-9]+(?:[ \t]+\S+)?[ \t]*(?:\n|\Z))+\Z",
    ),
    ("printed tuples", r"(?:\([^\n]*\)[ \t]*,?(?:\n|\Z))+\Z"),
)
_LGL = re.compile(r"^#[ \t]+(\S+)[ \t]*$", re.M)
_ARROW = re.compile(r"[-<>=~:|.]+")
_MATRIX = 10  # columns from which a file with as many lines is taken for a matrix
_ROWS = 3  # the least rows of a matrix: fewer may be edges


def refuse_other_formats(source: Source, lines: list[str]) -> None:
    """Raise EdgeFileError for text of another format that could be read as an edge list."""
    text = "\n".join(line.strip() for line in lines)
    name = next((n for n, sign in _OTHERS if re.match(sign, text, re.I | re.M)), None)
    if name is None:
        head = source.head().decode(errors="replace")
        marked = set(_LGL.findall(head))
        of_lgl = _LGL.match(head.lstrip()) and marked & {line.split()[0] for line in lines}
        name = "LGL" if of_lgl or source.path.suffix.lower() == ".lgl" else None
    if name:
        raise source.fault(
            f"this looks like {name}, which is not read; format text takes it for an edge "
            f"list all the same: {shortened(lines[0])}"
        )


def refuse_shapes(source: Source, rows: list[list[str]], *, named: bool) -> None:
    """Raise EdgeFileError for rows that are a matrix, adjacency lists, triples, or in one line."""
    _refuse_small_matrix(source, rows)
    if named:
        return
    fields = re.findall(r"[^\s,;|]+", " ".join(rows[0]).partition("{")[0])
    again = len(rows[0]) > 3 and set(fields[:2]) & set(fields[2:])
    alike = again or all(map(NUMBER.fullmatch, fields))
    if len(rows) == 1 and len(fields) > 3 and alike:
        raise source.fault(
            f"1 line of {len(fields)} fields does not look like an edge list, which has a line "
            "per edge; format text takes it for one edge all the same"
        )
    _refuse_ragged(source, rows)
    _refuse_middles(source, rows)
    _refuse_triples(source, rows)


def refuse_matrix(source: Source, width: int, rows: int) -> None:
    """Raise EdgeFileError for a large file with as many lines as columns."""
    if width >= _MATRIX and rows in (width, width - 1):
        raise _matrix(source, rows, width)


def _matrix(source: Source, rows: int, width: int) -> Exception:
    return source.fault(
        f"{rows} lines of {width} columns look like an adjacency matrix, not an edge list; "
        "format text takes the ids of the first two columns all the same"
    )


def _refuse_small_matrix(source: Source, rows: list[list[str]]) -> None:
    """Raise EdgeFileError for a matrix of names, or one that is symmetric or of 0 and 1 alone."""
    heads = [row[0] for row in rows[1:]]
    cells = [field for row in rows[1:] for field in row[1:]]
    labelled = heads in (rows[0], rows[0][1:]) and not any(map(NUMBER.fullmatch, rows[0]))
    if len(heads) > 1 and labelled and all(map(NUMBER.fullmatch, cells)):
        raise _matrix(source, len(heads), len(rows[-1]))
    n = len(rows)
    if n < _ROWS or n >= _MATRIX or any(len(row) != n for row in rows):
        return
    fields = {field for row in rows for field in row}
    symmetric = all(rows[i][j] == rows[j][i] for i in range(n) for j in range(i))
    diagonal = {row[i] for i, row in enumerate(rows)}
    if all(map(NUMBER.fullmatch, fields)) and (
        fields <= {"0", "1"} or (symmetric and len(diagonal) == 1)
    ):
        raise _matrix(source, n, n)


def _refuse_ragged(source: Source, rows: list[list[str]]) -> None:
    """Raise EdgeFileError for rows of numbers of many lengths, as METIS files have."""
    sizes = SIZES.fullmatch(" ".join(rows[0])) and len(set(rows[0][:-1])) == 1
    body = rows[1:] if sizes else rows
    lengths = {len(row) for row in body}
    several = len(lengths) > 2 or (len(lengths) == 2 and min(lengths) > 1)
    if several and all(NUMBER.fullmatch(field) for row in body for field in row):
        raise source.fault(
            f"lines of {min(lengths)} to {max(lengths)} numbers do not look like an edge list, "
            "but like adjacency lists; name the format: metis, or text for the ids of the first "
            "two columns"
        )


def _refuse_middles(source: Source, rows: list[list[str]]) -> None:
    """Raise EdgeFileError if arrows stand between the ids, or colons behind the first."""
    if all(len(row) > 1 and row[0].endswith(":") for row in rows):
        raise _adjacency(source, f"{rows[0][0]!r} begins the first line")
    if all(len(row) > 2 and _ARROW.fullmatch(row[1]) for row in rows):
        raise source.fault(
            f"the second column is an arrow, {rows[0][1]!r}, and no id: choose the columns, "
            "source=1 and destination=3"
        )


def _refuse_triples(source: Source, rows: list[list[str]]) -> None:
    """Raise EdgeFileError if ids stand in the third column of text, too."""
    wide = [row for row in rows if len(row) > 2]
    if all(NUMBER.fullmatch(field) for row in wide for field in row[:2]):
        return
    if len(wide) < 2 or 2 * len(wide) < len(rows):
        return
    heads, middles = {row[0] for row in rows}, {row[1] for row in wide}
    tails = {field for row in wide for field in row[2:] if field.lower() not in NO_VALUE}
    few = 2 * len(middles) <= len(wide)
    both = {field for field in heads & tails if few or not NUMBER.fullmatch(field)}
    forms = {*map(_form, tails)} & {*map(_form, heads)} - {""}
    alike = len(middles) == 1 and len(tails) > 1 and forms
    if not both and not alike:
        return
    if middles & (heads | tails):
        raise _adjacency(source, f"{next(iter(both or tails))!r} is in the third column, too")
    raise source.fault(
        f"this looks like SIF or other triples, with {rows[0][1]!r} for a relation: read it "
        "with format='sif', or choose the columns, source=1 and destination=3 (or 1 and 2)"
    )


def _form(field: str) -> str:
    """Return what a field looks like: 0 for a number in it, a for a word, "" for a number."""
    form = re.sub(r"[0-9]+", "0", re.sub(r"[^\W\d_]+", "a", field))
    return "" if NUMBER.fullmatch(field) else form


def _adjacency(source: Source, why: str) -> Exception:
    return source.fault(
        f"this looks like adjacency lists, which are not read ({why}); if the first two columns "
        "are an edge, choose them: source=1 and destination=2"
    )
