"""Where windows of time begin: periods of the calendar, days of a time zone, and origins.

The calendar is that of the column's time zone: a day has 23 or 25 hours where clocks change. If
clocks show a time twice, the first moment is meant; if they skip it, the next one, as in pandas.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from math import isfinite
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.errors import shown
from rapids_tc.preparation import moments
from rapids_tc.preparation.times import LATEST, NANOSECONDS, Length, check_length

if TYPE_CHECKING:
    from rapids_tc._typing import Array
    from rapids_tc.preparation.times import TimeColumn

MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
WEEKDAYS = ["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"]
MONDAY = 4  # the first of 1970, in days from its start
SIZES = {"W": 7, "M": 1, "Q": 3, "Y": 12}  # days of a week, and months of the others
PERIODS = re.compile(r"\s*(\d*)\s*(W|MS|ME|QS|QE|YS|YE)(?:-([A-Z]{3}))?\s*", re.IGNORECASE)
DAYS = re.compile(r"\s*\d*\s*D\s*", re.IGNORECASE)
WORDS = ("start", "start_day", "epoch")
SECOND, DAY = NANOSECONDS["s"], 86400


@dataclass(frozen=True)
class Calendar:
    """Windows of whole weeks, months, quarters or years.

    Attributes
    ----------
    name, value
        See `Length`.
    unit : str
        "D" for weeks, "M" for the others: what they are counted in.
    size : int
        The days or months of one period.
    count : int
        The periods in a window.
    first : int
        A day or month, counted from 1970 on, with which a period begins.
    by_end : bool
        Whether the name says how periods end, as that of weeks does: of several periods in a
        window, the first time is then in the last.
    """

    name: str
    value: Any
    unit: str
    size: int
    count: int
    first: int
    by_end: bool
    is_number = False

    def periods(self, lowest: Array, highest: Array) -> tuple[Array, Array, int]:
        """Return the first unit of the windows of groups, how many there are, and their length.

        `lowest` and `highest` are the first and the last datetimes that clocks show in each group.
        """
        first, last = (times.astype(f"datetime64[{self.unit}]").astype("int64")
                       for times in (lowest, highest))  # fmt: skip
        begin = first - (first - self.first) % self.size
        begin -= (self.count - 1) * self.size * self.by_end
        every = self.size * self.count
        return begin, (last - begin) // every + 1, every


def check_window(value: Any) -> Length | Calendar:
    """Return the length of windows, or the periods of the calendar that text names.

    Raises
    ------
    ValueError
        It is neither; see `check_length`.
    """
    found = PERIODS.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return check_length("window", value)
    count, kind, anchor = found[1], found[2].upper(), (found[3] or "").upper()
    letter, by_end, names = kind[0], kind in ("W", "ME", "QE", "YE"), MONTHS
    if letter == "W":
        names, anchor = WEEKDAYS, anchor or "SUN"
    elif letter != "M":
        anchor = anchor or ("DEC" if by_end else "JAN")
    if anchor not in (names if letter != "M" else [""]) or count == "0":
        raise ValueError(
            f'window={shown(value)}: accepted are "W-MON" and the like, "MS" and "ME" for months, '
            '"QS-FEB" and the like for quarters, "YS-APR" for years, with a number above 0 before'
        )
    first = (names.index(anchor) if anchor else 0) + by_end * (letter != "M")
    first = MONDAY + first % 7 if letter == "W" else first % SIZES[letter]
    unit = "D" if letter == "W" else "M"
    return Calendar("window", value, unit, SIZES[letter], int(count or 1), first, by_end)


def is_days(length: Length) -> bool:
    """Return whether a length is text of whole days, which are the calendar's in a time zone."""
    return isinstance(length.value, str) and DAYS.fullmatch(length.value) is not None


# The time zone ------------------------------------------------------------------------------------


def clocks_change(times: TimeColumn) -> bool:
    """Return whether a column has a time zone whose distance from UTC is not always the same."""
    zone = moments.zone(times.dtype) if times.kind == "datetime" else None
    if zone is None:
        return False
    from pandas import DatetimeTZDtype

    return DatetimeTZDtype("ns", zone).tz.utcoffset(None) is None


def clock(codes: Array, times: TimeColumn) -> Array:
    """Return what clocks show at moments: datetimes without a zone, from codes on the host."""
    datetimes, zone = codes.view(f"datetime64[{times.unit}]"), moments.zone(times.dtype)
    if zone is None:
        return datetimes
    from pandas import DatetimeIndex

    index = DatetimeIndex(datetimes).tz_localize("UTC").tz_convert(zone)
    return index.tz_localize(None).to_numpy()


def codes_of_clock(datetimes: Array, times: TimeColumn) -> Array:
    """Return the codes of the moments at which clocks show datetimes."""
    datetimes, zone = datetimes.astype(f"datetime64[{times.unit}]"), moments.zone(times.dtype)
    if zone is not None:
        from pandas import DatetimeIndex

        first = np.ones(len(datetimes), bool)  # of two moments, that of summer time
        index = DatetimeIndex(datetimes).tz_localize(
            zone, ambiguous=first, nonexistent="shift_forward"
        )
        datetimes = index.tz_convert("UTC").tz_localize(None).to_numpy()
    return datetimes.astype("int64")


def codes_of_units(units: Array, calendar: Calendar, times: TimeColumn, *, end: bool) -> Array:
    """Return the codes of the starts of days or months, or, at an `end`, those before them.

    A window may end beyond all datetimes of the unit, and has the last of them then.

    Raises
    ------
    ValueError
        A start lies before them.
    """
    seconds = units.view(f"datetime64[{calendar.unit}]").astype("datetime64[s]").astype("int64")
    most = LATEST * NANOSECONDS[times.unit] // SECOND - DAY  # a zone may be a day from UTC
    beyond = seconds > most
    if not end and (beyond | (seconds < -most)).any():
        raise ValueError(
            f"{calendar.name}={calendar.value!r}: a window begins before the first datetime of the "
            f"unit {times.unit!r}, in which time={times.label!r} is: convert it to a coarser one"
        )
    codes = codes_of_clock(np.where(beyond, 0, seconds).view("datetime64[s]"), times)
    return np.where(beyond, LATEST, codes - end)


# Origins ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Origin:
    """A moment at which a window begins, from which all are laid out.

    Attributes
    ----------
    given : object
        The argument, for messages.
    value : object
        A word of `WORDS`, a number, or a Timestamp of pandas.
    """

    given: Any
    value: Any

    def check(self, times: TimeColumn) -> None:
        """Raise ValueError unless the origin suits the times."""
        name = f"origin={shown(self.given)}: time={times.label!r} has dtype {times.dtype}"
        if self.value == "start" or times.kind == "empty":
            return
        if isinstance(self.value, Real) == (times.kind == "datetime"):
            like = "a timestamp" if times.kind == "datetime" else "a number"
            raise ValueError(f'{name}: give {like}, or "start"')
        if times.kind == "integer" and self.value != int(self.value):
            raise ValueError(f"{name}: give a whole number")
        has_zone = getattr(self.value, "tz", None) is not None
        if not isinstance(self.value, str | Real) and has_zone != (
            moments.zone(times.dtype) is not None
        ):
            raise ValueError(f"{name}: give an origin with a time zone, or both without")

    def before(self, lowest: Array, times: TimeColumn) -> tuple[list[int], int]:
        """Return how long before the first times of groups an origin lies, or after, as a minus.

        Both are integers, of units that are so many to a unit of the times; see `check`.
        """
        codes = [int(code) for code in lowest]
        if self.value == "start":
            return [0] * len(codes), 1
        if isinstance(self.value, int | float):
            origin = int(self.value) - 2**63 * times.unsigned
            return [code - origin for code in codes], 1
        if self.value == "start_day":
            days = codes_of_clock(clock(lowest, times).astype("datetime64[D]"), times)
            return [code - int(day) for code, day in zip(codes, days, strict=True)], 1
        unit = NANOSECONDS[times.unit]
        if self.value == "epoch":
            [epoch] = codes_of_clock(np.zeros(1, "datetime64[s]"), times).tolist()
            return [code - epoch for code in codes], 1
        origin = _nanoseconds(self.value)
        return [code * unit - origin for code in codes], unit

    def on_clocks(self, lowest: Array, times: TimeColumn) -> Array:
        """Return the origin of each group as clocks show it, in the unit of the times (int64).

        Raises
        ------
        ValueError
            A timestamp is finer than the unit.
        """
        if self.value == "epoch":
            return np.zeros(len(lowest), "int64")
        if isinstance(self.value, str):
            datetimes = clock(lowest, times)
            if self.value == "start_day":
                datetimes = datetimes.astype("datetime64[D]").astype(datetimes.dtype)
            return datetimes.astype("int64")
        local = self.value.tz_convert(moments.zone(times.dtype)).tz_localize(None)
        units, rest = divmod(_nanoseconds(local), NANOSECONDS[times.unit])
        if rest:
            raise ValueError(
                f"origin={shown(self.given)} is finer than the unit {times.unit!r} of "
                f"time={times.label!r}: give a whole number of it"
            )
        return np.full(len(lowest), units)


def check_origin(value: Any) -> Origin:
    """Return where windows are laid out from; ValueError if it is no origin."""
    if isinstance(value, str) and value in WORDS:
        return Origin(value, value)
    if isinstance(value, Real) and not isinstance(value, bool | np.timedelta64):
        if isinstance(value, Integral) or isfinite(value):
            return Origin(value, int(value) if isinstance(value, Integral) else float(value))
    elif isinstance(value, str | date | np.datetime64):
        from pandas import NaT, Timestamp

        with suppress(ValueError):
            moment: Any = Timestamp(value)
            if moment is not NaT:
                return Origin(value, moment)
    raise ValueError(
        f'origin={shown(value)}; accepted: "start", "start_day", "epoch", a timestamp, or a number '
        "for times that are numbers"
    )


def _nanoseconds(moment: Any) -> int:
    """Return the nanoseconds of a Timestamp from the start of 1970, in UTC if it has a zone."""
    moment = moment if moment.tz is None else moment.tz_convert(None)
    return int(moment.asm8.astype("int64")) * NANOSECONDS[moment.unit]


START = Origin("start", "start")
