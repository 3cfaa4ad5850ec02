"""The reader of text: two ids per line, any separator, with or without a header."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rapids_tc.files.adjacency import vertices_of_sizes
from rapids_tc.files.beside import directions, kept_places, with_columns
from rapids_tc.files.guess import (
    CALLED,
    SIZES,
    SPELLED,
    choose_columns,
    filled,
    guess_separator,
    is_quoted,
    is_size_line,
    is_wordy,
    mostly_integers,
    split,
)
from rapids_tc.files.header import column_names, guess_header, is_doubtful, names_in_comments
from rapids_tc.files.lines import LineFormat, parse
from rapids_tc.files.shapes import refuse_matrix, refuse_other_formats, refuse_shapes
from rapids_tc.files.source import NoEdgeError, ReadOptions, Source, shortened

Frame = Any  # pandas.DataFrame
Array = np.ndarray

_SHOWN_COLUMNS = 5  # names of ignored columns that a guess shows
_NONE = np.zeros(0, np.int64)  # most text names a vertex by its edges only


@dataclass(frozen=True)
class TextShape:
    """What the first lines of a text say of all.

    Attributes
    ----------
    line_format : LineFormat
    first : str
        The first line that is no comment.
    rows, body : list of list of str
        The fields of these lines, and of those that are edges.
    names : list of str
        The names of the columns, if they have any.
    width : int
        How many columns there are.
    named, sizes_only : bool
        Whether the first line has the names of columns, or surely gives sizes.
    chosen : bool
        Whether the user has named the columns of ids.
    guessed : bool
        Whether the separator is a guess.
    """

    line_format: LineFormat
    first: str
    rows: list[list[str]]
    body: list[list[str]]
    names: list[str]
    width: int
    named: bool
    sizes_only: bool
    chosen: bool
    guessed: bool


def shape_of(source: Source, options: ReadOptions) -> TextShape | None:
    """Guess the shape of a text from its first lines; None if it has none but comments."""
    separator, header, comment = options.separator, options.header, options.comment
    marks = "#%" if comment is None else comment
    lines = source.sample(marks)
    if not lines:
        return None
    if separator is None:
        separator = source.separator
    refuse_other_formats(source, lines, named=options.format is not None)
    sep = guess_separator(lines) if separator is None else SPELLED.get(separator, separator)
    if len(sep) != 1 or sep in "\r\n":
        raise ValueError(
            "separator must be one character, 'tab' or 'blanks', and no end of a line, "
            f"not {separator!r}"
        )
    quoted = is_quoted(lines, sep)
    split_lines = [split(line, sep, quoted=quoted) for line in lines]
    rows = list(map(filled, split_lines))
    # A first line with other separators than the rest gives sizes, and cannot be an edge.
    sizes_only = header is None and len(rows[0]) < 2 and SIZES.fullmatch(lines[0]) is not None
    first = rows[0] if header is False else column_names(source, rows)
    if first is not rows[0]:  # a table of R
        split_lines[0] = first
    chosen = options.columns != (None, None)
    kept = () if options.keep == "all" else options.keep
    asked = {str(column) for column in (*options.columns, *kept) if column is not None}
    asked = {name for name in asked if not name.isdecimal()}
    named = bool(asked & set(first)) or guess_header(first, rows[1:]) if header is None else header
    names = first if named else names_in_comments(source, marks, rows, sep, asked)
    width = max(len(names), *map(len, rows))
    if options.format is None and not chosen and not sizes_only:
        refuse_shapes(source, lines, split_lines, named=bool(names), text=options.ids == "string")
        if header is None and not names and is_doubtful(rows):
            raise source.fault(
                f"the first line {shortened(lines[0])} may name the columns or be an edge: say "
                "which, header=True or header=False"
            )
    places = choose_columns(source, names or None, options.columns, width=width)
    body = rows[1:] if named or is_wordy(rows[0]) else rows
    integers = mostly_integers(body, places) if options.ids is None else options.ids == "integer"
    if comment is None and not integers:
        # Ids that are text may begin with a comment mark: only one that opens the file counts.
        opening = source.head().decode(errors="replace").lstrip()[:1]
        marks = opening if opening in marks else ""
    widths = {len(line.split(sep)) for line in lines}
    fixed_width = widths.pop() if len(widths) == 1 else 0
    line_format = LineFormat(marks, sep, named or sizes_only, places, integers, fixed_width, quoted)
    return TextShape(
        line_format, lines[0], rows, body, names, width, named=named, sizes_only=sizes_only,
        chosen=chosen, guessed=separator is None,
    )  # fmt: skip


def read_text(source: Source, options: ReadOptions) -> tuple[Frame, Array, list[str]]:
    """Read the edges, the vertices without any if a line of sizes says so, and the guesses."""
    if (shape := shape_of(source, options)) is None:
        return _nothing(source)
    line_format, names, rows, width = shape.line_format, shape.names, shape.rows, shape.width
    places, integers, sep = line_format.columns, line_format.integers, line_format.separator
    named, sizes_only, header = shape.named, shape.sizes_only, options.header
    frame = parse(source, line_format)
    if named and header is None and not integers:
        src, dst = (names[place] for place in places)
        if ((frame["src"] == src) & (frame["dst"] == dst)).any():
            raise source.fault(
                f"the header {shortened(shape.first)} comes again below, as if several tables were "
                "in the file: leave one"
            )
    guesses, alone = [], _NONE
    if shape.guessed:
        guesses.append(f"text separated by {CALLED[sep]}")
    if header is None:
        role = "names the columns" if named else "is an edge: no header"
        size_line = not named and places == (0, 1) and is_size_line(source, rows, sep, frame)
        if size_line:
            frame = frame.iloc[1:].reset_index(drop=True)
        if sizes_only or size_line:
            role = "gives sizes and is no edge"
        guesses.append(f"the first line {shortened(shape.first)} {role}")
        if sizes_only or size_line:
            alone, told = vertices_of_sizes(source, shape.first, frame)
            guesses += told
    if names and not named:
        guesses.append(f"the comment above it names the columns: {', '.join(map(repr, names))}")
    if not shape.chosen and width > 2:
        used = kept_places(source, options, names or None, places, width)
        guesses.append(_chosen(names or list(range(1, width + 1)), places, used))
    if options.ids is None:
        guesses.append("ids are integers" if integers else "ids are text")
    if options.comment is None and source.comments:
        guesses.append(
            _left_out(source, [row[p] for row in shape.body for p in places if p < len(row)])
        )
    if options.format is None and not shape.chosen and integers:
        refuse_matrix(source, len(rows[-1]), len(frame))
    if frame.empty and header is None:
        guesses.append("no edge below it")
        frame = frame if options.ids == "string" else frame.astype("int64")
    if guesses and len(frame):
        guesses.append("first edge: {} to {}".format(*frame.iloc[0]))
    if names:
        source.directed = directions(source, line_format, names, shape.body, frame, width)
    if (options.keep or options.named) and (len(frame) or names):
        frame = with_columns(source, options, line_format, frame, names or None, width)
    return frame, alone, guesses


def _nothing(source: Source) -> tuple[Frame, Array, list[str]]:
    """Return no edges of an empty file; NoEdgeError if it has comments."""
    import pandas as pd

    if source.comments:
        raise NoEdgeError(
            f"{source.name}: nothing but comment lines; comment='' reads lines that begin "
            "with # or %, too"
        )
    return pd.DataFrame({"src": [], "dst": []}, dtype="int64"), _NONE, ["an empty file"]


def _chosen(names: list[Any], places: tuple[int, int], used: list[int]) -> str:
    """Say which columns hold the ids, and which are not used."""
    ignored = [repr(name) for place, name in enumerate(names) if place not in used and name]
    source, destination = (repr(names[place]) for place in places)
    told = f"ids in columns {source} and {destination} of {len(names)}"
    if not ignored:
        return told
    rest = len(ignored) - _SHOWN_COLUMNS
    shown = [*ignored[:_SHOWN_COLUMNS], f"{rest} more"] if rest > 0 else ignored
    return f"{told}, ignored: {', '.join(shown)}"


def _left_out(source: Source, ids: list[str]) -> str:
    """Say how many lines are comments, and whether they may be edges."""
    marks = sorted({field[0] for field in ids if field[:1] in ("#", "%")})
    doubt = f", though ids begin with {' and '.join(map(repr, marks))}, too" if marks else ""
    return f"comment lines left out: {source.comments:,}{doubt}"
