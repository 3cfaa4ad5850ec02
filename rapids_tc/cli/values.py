"""Columns of text as what they say: integers, numbers in any notation, times of ISO 8601."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

Column = Any  # pandas.Series

_COMMA = r"[+-]?(?:[0-9]{1,3}(?:\.[0-9]{3})+|[0-9]*)(?:,[0-9]+)?"  # 1.234,5
_POINT = r"[+-]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]*)(?:\.[0-9]+)?"  # 1,234.5
_OFFSET = r".*[0-9][T ][0-9].*(?:[Zz]|[+-][0-9]{2}(?::?[0-9]{2})?)"
_ERRORS = (ValueError, TypeError, OverflowError)


def is_text(column: Column) -> bool:
    """Return whether a column holds text."""
    from pandas.api.types import is_string_dtype

    return bool(is_string_dtype(column.dtype))


def as_integers(column: Column) -> Column:
    """Return a column of text as integers, if they are written as the text is; 007 is not 7."""
    import pandas as pd

    if not is_text(column):
        return column
    with suppress(*_ERRORS):
        numbers: Any = pd.to_numeric(column)
        integers = numbers.astype("int64")
        if (integers.astype(str) == column).all():
            return integers
    return column


def as_numbers(column: Column, option: str) -> Column:
    """Return a column of text as numbers; ValueError that names the first value that is none."""
    import pandas as pd

    if not is_text(column):
        return column
    with suppress(*_ERRORS):
        return pd.to_numeric(column)
    text = column.str.strip()
    marks = [
        mark for mark, form in ((",", _COMMA), (".", _POINT)) if text.str.fullmatch(form).all()
    ]
    if len(marks) > 1:
        shown = text[text.str.contains(",")].iloc[0]
        raise ValueError(
            f"{_named(option, column)}: {shown!r} may be {shown.replace(',', '.')} or "
            f"{shown.replace(',', '')}: write the numbers with a point, or without a comma"
        )
    if marks:
        grouped = text.str.replace("." if marks == [","] else ",", "", regex=False)
        return pd.to_numeric(grouped.str.replace(",", ".", regex=False))
    raise _unread(column, option, _is_no_number(column), "no number")


def as_times(column: Column, option: str) -> Column:
    """Return a column of text as numbers, or as times: in UTC if their offsets differ.

    Raises
    ------
    ValueError
        A value is neither, or only some have an offset; the message names the first.
    """
    import pandas as pd

    if not is_text(column):
        return column
    with suppress(ValueError):
        return as_numbers(column, option)

    dated = column.where(column.str.contains("[0-9]"))  # pandas knows the words now and today
    found: Column = pd.to_datetime(dated, format="ISO8601", errors="coerce", utc=True)
    if (wrong := found.isna()).any():
        neither = wrong & _is_no_number(column)
        what = "no time of ISO 8601, such as 2026-02-13 or 2026-02-13T10:00+01:00, and no number"
        raise _unread(column, option, neither if neither.any() else wrong, what)
    has_offset = column.str.fullmatch(_OFFSET)
    if has_offset.any() and not has_offset.all():
        raise ValueError(
            f"{_named(option, column)}: {column[~has_offset].iloc[0]!r} has no offset from UTC, "
            f"and {column[has_offset].iloc[0]!r} has one: write it in all times, or in none"
        )
    return found if has_offset.any() else found.dt.tz_localize(None)


def _is_no_number(column: Column) -> Column:
    import pandas as pd

    return pd.isna(pd.Series(pd.to_numeric(column, errors="coerce")))


def _unread(column: Column, option: str, wrong: Column, what: str) -> Exception:
    """Return the error that names the first value that is wrong."""
    return ValueError(f"{_named(option, column)}: {column[wrong].iloc[0]!r} is {what}")


def _named(option: str, column: Column) -> str:
    return f"{option}={column.name!r}"
