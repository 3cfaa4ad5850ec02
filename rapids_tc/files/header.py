"""Which line names the columns of a text: the first, a comment above it, or none."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from rapids_tc.files.guess import (
    BLANKS,
    NO_VALUE,
    NUMBER,
    WORD,
    filled,
    is_wordy,
    mostly_integers,
    split,
)
from rapids_tc.preparation.edge_columns import find_ends, find_pair

if TYPE_CHECKING:
    from rapids_tc.files.source import Source

# If the ids are text, a first line is a header only if it begins with one of these words.
_NAME = re.compile(
    r"(src|source|from|u|node|vertex|id)[ _-]?(node|vertex|id|name)?[ _-]?[01]?", re.I
)
_DAY, _HOUR = re.compile(r"[0-9]+([-./])[0-9]+\1[0-9]+"), re.compile("[0-9]{1,2}:[0-9]{2}")
_TRUTH = {"true", "false", "yes", "no", "+", "-"}
_ENOUGH = 16  # lines: among fewer, a first line of other labels than the rest may be chance
# The letters in dates, times, amounts of money, shares and numbers with a unit.
_LETTERS = re.compile(
    r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b"
    r"|\b(?:mon|tue|wed|thu|fri|sat|sun)(?:[a-z]*day)?\b|\b(?:[ap]m|utc|gmt)\b"
    r"|(?<=[0-9])(?:t(?=[0-9])|e(?=[+-]?[0-9])|z\b|st\b|nd\b|rd\b|th\b|[ap]m\b)"
    r"|(?<=[0-9]) ?(?:ms|min|km|kg|[kmg]b|[hdsmg])$|^(?-i:[A-Z]{3}) |(?<=[0-9]) (?-i:[A-Z]{3})$",
    re.I,
)


def names_in_comments(
    source: Source, marks: str, rows: list[list[str]], separator: str, asked: set[str]
) -> list[str]:
    """Return the fields of the last comment above the rows that has as many, if they are names."""
    lines = (line.strip() for line in source.head().decode(errors="replace").splitlines())
    above = itertools.takewhile(lambda line: not line or line[0] in marks, lines)
    for line in reversed([line.lstrip(marks).strip() for line in above]):
        names = filled(split(line, separator, quoted=True))
        if len(names) == max(map(len, rows)) and all(map(WORD.fullmatch, names)):
            # Words between blanks may be a sentence.
            known = separator != BLANKS or asked & set(names) or find_ends(names)
            return names if known and is_wordy(names) else []
    return []


def column_names(source: Source, rows: list[list[str]]) -> list[str]:
    """Return the names in the first row; R leaves out the name of the column of row names."""
    first, *body = rows
    widths = {len(row) for row in body}
    attributes = any(field.startswith("{") for row in body for field in row)
    short = widths == {len(first) + 1} and len(first) > 1 and not attributes
    if short and is_wordy(first) and len({row[0] for row in body}) == len(body):
        if all(_DAY.fullmatch(row[-2]) and _HOUR.match(row[-1]) for row in body):
            raise source.fault(
                f"{first[-1]!r} stands above a date and a time, which the separator parts: write "
                "one field, such as 2026-01-01T10:00"
            )
        return ["", *first]
    return first


def guess_header(names: list[str], body: list[list[str]]) -> bool:
    """Return whether the first row, as `column_names` returns it, names the columns."""
    words = names[1:] if names[:1] == [""] else names
    if not is_wordy(words):
        return False
    if names is not words and len(names) > 2 and all(len(row) == len(names) for row in body):
        return True
    if _NAME.fullmatch(words[0]) or find_pair(words) or mostly_integers(body, (0, 1)):
        return True
    fields = {field for row in body for field in row}
    if fields & set(words[:2]):
        return False
    kinds = {re.sub(r"[0-9]+", "0", field) for field in fields}
    if (ends := find_ends(names)) and not kinds & {re.sub("[0-9]+", "0", e) for e in ends}:
        return True
    return any(_is_word_above_values(names, body, place) for place in range(len(names)))


def _is_word_above_values(names: list[str], body: list[list[str]], place: int) -> bool:
    """Return whether a word stands above numbers, dates, money and the like, some missing."""
    if names[place].lower() in NO_VALUE or _is_value(names[place]):
        return False
    below = [row[place] for row in body if place < len(row) and row[place].lower() not in NO_VALUE]
    return 2 * len(below) > len(body) and all(map(_is_value, below))


def _is_value(field: str) -> bool:
    """Return whether a field is no name: a number in any notation, a date, a time, yes or no."""
    if NUMBER.fullmatch(field) or field.lower() in _TRUTH:
        return True
    rest = _LETTERS.sub("", field)
    return re.search("[0-9]", rest) is not None and not re.search(r"[^\W\d]", rest)


def is_doubtful(rows: list[list[str]]) -> bool:
    """Return whether the first row may name the columns as well as be an edge.

    Its ends are in no other row, and neither is its label, while the labels of others repeat.
    """
    first, *body = rows
    fields = {field for row in body for field in row}
    if not is_wordy(first) or len(body) < _ENOUGH or fields & set(first):
        return False
    labels = [{row[place] for row in body if place < len(row)} for place in range(2, len(first))]
    return any(2 * len(values) <= len(body) for values in labels)
