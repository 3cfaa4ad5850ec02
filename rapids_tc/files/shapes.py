"""Refusals of text that can be split into fields, and is no edge list: each names what it is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rapids_tc.files.guess import NO_VALUE, NUMBER, SIZES, filled, mostly_integers
from rapids_tc.files.source import shortened

if TYPE_CHECKING:
    from rapids_tc.files.source import Source

# What the first lines of other formats look like, comments left out.
_JSON = ("JSON", r'\{\s*(?:"|$)|\[\s*(?:[\[{"]|-?[0-9]+\s*,|$)')
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
    ("a labeled graph of lines t, v and e", r"t[ \t]+[0-9]+[ \t]+[0-9]+\s*\nv[ \t]+[0-9]+\b"),
    ("GDF of GUESS", r"(?:node|edge)def\s*>"),
    ("VNA of NetDraw", r"\*\s*(?:node|tie) (?:data|properties)\b"),
    ("ARFF", r"@relation\b"),
    ("SQL", r"(?:.*\n)*?(?:(?:create|drop)\s+table|insert\s+into|copy\s.*\sfrom\s+stdin)\b"),
    (
        "DIMACS without its line p",
        r"(?:[ea][ \t]+[0-9]+[ \t]+[0-9]+(?:[ \t]+\S+)?[ \t]*(?:\n|\Z))+\Z",
    ),
    ("printed tuples", r"(?:\([^\n]*\)[ \t]*,?(?:\n|\Z))+\Z"),
)
_LGL = re.compile(r"^#[ \t]+(\S+)[ \t]*$", re.M)
_TGF = re.compile(r"\A(?!\s*#)[^\n]*\n(?:[^#\n][^\n]*\n)*#[ \t]*\r?\n[^#\s]")
_ARROW = re.compile(r"[-<>=~:|.]+")
_MATRIX = 10  # columns from which a file with as many lines is taken for a matrix
_ROWS = 3  # the least rows of a matrix: fewer may be edges


def refuse_other_formats(source: Source, lines: list[str], *, named: bool) -> None:
    """Raise EdgeFileError for text of another format that could be read as an edge list.

    If the user `named` the format, text, nothing but JSON is refused.
    """
    text = "\n".join(line.strip() for line in lines)
    others = [_JSON] if named else _OTHERS
    name = next((n for n, sign in others if re.match(sign, text, re.I | re.M)), None)
    if name is None and not named:
        head = source.head().decode(errors="replace")
        marked = set(_LGL.findall(head))
        of_lgl = _LGL.match(head.lstrip()) and marked & {line.split()[0] for line in lines}
        if of_lgl or source.path.suffix.lower() == ".lgl":
            name = "LGL"
        elif _TGF.search(head):
            name = "TGF, vertices above and edges below a line #"
    if name:
        raise source.fault(
            f"this looks like {name}, which is not read: make it an edge list, a line per edge: "
            f"{shortened(lines[0])}"
        )


def refuse_shapes(
    source: Source, lines: list[str], fields: list[list[str]], *, named: bool, text: bool
) -> None:
    """Raise EdgeFileError for lines, split in fields, that are no edge list.

    They may be a matrix, adjacency lists, triples, several tables or all edges in one line, or have
    another column before the ids. `named` says that the columns have names, `text` that ids are
    text.
    """
    rows = list(map(filled, fields))
    _refuse_small_matrix(source, rows)
    _refuse_lists(source, lines)
    text = text or not mostly_integers(rows, (0, 1))
    if not named:
        _refuse_unnamed(source, rows)
    if text:
        _refuse_ragged_text(source, rows, fields)
    if not named:
        _refuse_other_first(source, rows)


def _refuse_unnamed(source: Source, rows: list[list[str]]) -> None:
    if len(rows) > 1 and len(rows[0]) == 1 and rows[0][0].isdecimal():
        raise source.fault(
            f"the first line is {rows[0][0]} alone: if edges follow, header=True leaves it out; "
            "adjacency lists, such as WebGraph's, are not read: make them an edge list"
        )
    fields = re.findall(r"[^\s,;|]+", " ".join(rows[0]).partition("{")[0])
    again = len(rows[0]) > 3 and set(fields[:2]) & set(fields[2:])
    alike = again or all(map(NUMBER.fullmatch, fields))
    if len(rows) == 1 and len(fields) > 3 and alike:
        raise source.fault(
            f"1 line of {len(fields)} fields does not look like an edge list: put each edge in a "
            "line"
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
        f"{rows} lines of {width} columns look like an adjacency matrix, not an edge list: save it "
        "as MatrixMarket, or its numpy.argwhere as .npy"
    )


def _refuse_small_matrix(source: Source, rows: list[list[str]]) -> None:
    """Raise EdgeFileError for a matrix of names, or one that is symmetric or of 0 and 1 alone."""
    heads = [row[0] for row in rows[1:]]
    cells = [field for row in rows[1:] for field in row[1:]]
    labeled = heads in (rows[0], rows[0][1:]) and not any(map(NUMBER.fullmatch, rows[0]))
    of_two_modes = not rows[0][0] and not any(map(NUMBER.fullmatch, heads)) and _is_binary(cells)
    labeled |= of_two_modes
    if len(heads) > 1 and labeled and all(map(NUMBER.fullmatch, cells)):
        raise _matrix(source, len(heads), len(rows[-1]))
    n = len(rows)
    cells = [field for row in rows for field in row]
    width = min(map(len, rows))
    if n > 1 and width >= _ROWS and _is_binary(cells):  # square or not
        raise _matrix(source, n, width)
    if not _ROWS <= n < _MATRIX or any(len(row) != n for row in rows):
        return
    symmetric = all(rows[i][j] == rows[j][i] for i in range(n) for j in range(i))
    diagonal = {row[i] for i, row in enumerate(rows)}
    if all(map(NUMBER.fullmatch, cells)) and symmetric and len(diagonal) == 1:
        raise _matrix(source, n, n)


def _is_binary(cells: list[str]) -> bool:
    return {*cells} <= {"0", "1"}


def _refuse_lists(source: Source, lines: list[str]) -> None:
    """Raise EdgeFileError if each line is a vertex, a colon and its neighbors."""
    if all(re.match(r'[^\s,;|:"]+:(\s|$)', line.strip()) for line in lines):
        raise source.fault(
            "this looks like adjacency lists, which are not read: make it an edge list: "
            f"{shortened(lines[0])}"
        )


def _refuse_ragged(source: Source, rows: list[list[str]]) -> None:
    """Raise EdgeFileError for rows of numbers of many lengths, as METIS files have."""
    sizes = SIZES.fullmatch(" ".join(rows[0])) and len(set(rows[0][:-1])) == 1
    body = rows[1:] if sizes else rows
    lengths = {len(row) for row in body}
    several = len(lengths) > 2 or (len(lengths) == 2 and min(lengths) > 1)
    if several and all(NUMBER.fullmatch(field) for row in body for field in row):
        raise source.fault(
            f"lines of {min(lengths)} to {max(lengths)} numbers do not look like an edge list, but "
            "like adjacency lists: name the format metis, or make it an edge list"
        )


def _refuse_ragged_text(source: Source, rows: list[list[str]], fields: list[list[str]]) -> None:
    """Raise EdgeFileError for rows of text of several lengths, as of several tables."""
    # NetworkX writes attributes behind the ids; a line of one field is an error later.
    most = min((n for row in rows for n, field in enumerate(row) if field[:1] == "{"), default=None)
    lengths = {len(of_line[:most]) for of_line in fields} - {1}
    if len(lengths) > 1:
        raise source.fault(
            f"lines of {min(lengths)} to {max(lengths)} fields do not look like one table of "
            "edges: leave one table in the file, and put fields that hold the separator in quotes"
        )


def _refuse_other_first(source: Source, rows: list[list[str]]) -> None:
    """Raise EdgeFileError if columns 2 and 3 share more values than columns 1 and 2 do.

    The first column may be a time, a layer or a number of the row.
    """
    if min(map(len, rows)) < 3:
        return
    first, second, third = (set(column) for column in zip(*(row[:3] for row in rows), strict=True))
    few = 2 * len(third) < len(second)  # weights, ranks or types
    if not few and _shared(second, third) > _shared(first, second):
        raise source.fault(
            "columns 2 and 3 hold more of the same values than columns 1 and 2: say which two are "
            "the ends of edges, source=2 and destination=3, or source=1 and destination=2"
        )


def _shared(some: set[str], others: set[str]) -> float:
    return len(some & others) / len(some | others)


def _refuse_middles(source: Source, rows: list[list[str]]) -> None:
    """Raise EdgeFileError if arrows stand between the ids."""
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
