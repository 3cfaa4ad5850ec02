"""Edge lists as text: two ids a line, separated by anything, with or without a header."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from rapids_tc.files.guess import (
    BLANKS,
    CALLED,
    INTEGER,
    MATRIX,
    SIZES,
    SPELLED,
    choose_columns,
    guess_header,
    guess_separator,
    is_size_line,
    is_wordy,
    mostly_integers,
    refuse_matrix,
    refuse_other_formats,
    refuse_ragged,
    split,
)
from rapids_tc.files.source import EdgeFileError, Options, Source, Stream, shortened

Frame = Any  # pandas.DataFrame
Array = np.ndarray

_PIECE = 2**18  # rows that pandas parses at a time
_NONE = np.zeros(0, np.int64)  # text names a vertex by its edges only


@dataclass(frozen=True)
class IdScheme:
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
        return split(line, self.separator)

    def wrong(self, line: str) -> str:
        """What is wrong with a line; empty when nothing is."""
        fields = self.fields(line)
        if len(fields) <= max(self.columns):
            where = "" if self.columns == (0, 1) else " in columns {} and {}".format(
                *(c + 1 for c in self.columns)
            )  # fmt: skip
            called = CALLED.get(self.separator, repr(self.separator))
            return f"expected two ids{where} separated by {called}"
        for field in (fields[c] for c in self.columns):
            if not field:
                return "an id is empty"
            if self.integers and not INTEGER.fullmatch(field):
                return f"{shortened(field)} is not an integer (ids=string takes any text)"
            digits = len(field.lstrip("+-0"))  # int() takes no more than some thousand
            if self.integers and not (digits <= 20 and -(2**63) <= int(field) < 2**64):
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
    if options.format is None:
        refuse_other_formats(source, lines)
    sep = guess_separator(lines) if separator is None else SPELLED.get(separator, separator)
    if len(sep) != 1:
        raise ValueError(f"separator must be one character, 'tab' or 'blanks', not {separator!r}")
    rows = [split(line, sep) for line in lines]
    body = rows[1:] if is_wordy(rows[0]) else rows
    # A line of sizes apart from the rest by its separator too, which no edge can be.
    sizes_only = header is None and len(rows[0]) < 2 and SIZES.fullmatch(lines[0]) is not None
    named = guess_header(rows) if header is None else header
    places = choose_columns(rows[0] if named else None, options.columns, width=max(map(len, rows)))
    integers = mostly_integers(body, places) if options.ids is None else options.ids == "integer"
    if comment is None and not integers:
        # Text ids may begin with a mark: believe only one that opens the file.
        opening = source.head().decode(errors="replace").lstrip()[:1]
        marks = opening if opening in marks else ""
    widths = {len(line.split(sep)) for line in lines}
    width = widths.pop() if len(widths) == 1 else 0
    rules = IdScheme(marks, sep, named or sizes_only, places, integers, width)
    if options.format is None and integers:
        refuse_ragged(source, rows[1:])
    frame = parse(source, rules)
    guesses = []
    if separator is None:
        guesses.append(f"text separated by {CALLED[sep]}")
    if header is None:
        role = "names the columns" if named else "is an edge: no header"
        if sizes_only:
            role = "gives sizes and is no edge"
        elif integers and not named and places == (0, 1) and is_size_line(rows, sep, frame):
            role = "gives sizes and is no edge"
            frame = frame.iloc[1:].reset_index(drop=True)
        guesses.append(f"the first line {shortened(lines[0])} {role}")
    if options.columns == (None, None) and named and len(rows[0]) > 2:
        guesses.append("ids in columns {!r} and {!r}".format(*(rows[0][c] for c in places)))
    if options.ids is None:
        guesses.append("ids are integers" if integers else "ids are text")
    if comment is None and source.comments:
        guesses.append(f"comment lines left out: {source.comments:,}")
    if options.format is None and integers and len(rows[-1]) >= MATRIX:
        refuse_matrix(source, len(rows[-1]), len(frame))
    return frame, _NONE, guesses


def parse(source: Source, rules: IdScheme) -> Frame:
    """Read the ids in bulk; a line that breaks the rules is named."""
    import pandas as pd

    if not rules.integers and rules.width > max(rules.columns) and find_spec("pyarrow"):
        from pyarrow import ArrowInvalid

        # Lines that are not all alike are pandas' business, which is ten times slower at text.
        with suppress(ArrowInvalid):
            return _parse_by_arrow(source, rules)

    try:
        pieces = pd.read_csv(
            Stream(source.blocks(rules.marks, skip_first=rules.skip_first)),
            sep=r"\s+" if rules.separator == BLANKS else rules.separator,
            header=None,
            names=range(max(rules.columns) + 1),
            index_col=False,
            usecols=list(rules.columns),
            # Told "int64", pandas would take 5.0 for 5, and all ids beside it through float64.
            dtype=None if rules.integers else str,
            chunksize=_PIECE,
            low_memory=False,
            na_filter=False,
            skipinitialspace=True,
            quoting=csv.QUOTE_MINIMAL if rules.quoted else csv.QUOTE_NONE,
            encoding_errors="replace" if rules.integers else "strict",
        )
        if rules.integers:
            frame = _exact(pieces, rules.columns)
        else:
            frame = pd.concat(pieces, ignore_index=True)[list(rules.columns)]
            for column in rules.columns:
                frame[column] = frame[column].str.strip(" \t")
                if (frame[column] == "").any():
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


def _exact(pieces: Iterable[Frame], columns: tuple[int, int]) -> Frame:
    """The pieces in one, as int64, or uint64 where there are ids of 2**63 and more."""
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


def _parse_by_arrow(source: Source, rules: IdScheme) -> Frame:
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
    odd = r"^$|\t" if rules.separator == BLANKS else "^$"
    trimmed = [compute.utf8_trim(column, " \t") for column in table.columns]
    for column in trimmed:
        if compute.any(compute.match_substring_regex(column, odd)).as_py():
            raise pyarrow.ArrowInvalid("an id is empty or has blanks")
    return pyarrow.table(trimmed, names=["src", "dst"]).to_pandas()
