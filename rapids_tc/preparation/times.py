"""Columns of times, and lengths of time: numbers that are compared without rounding."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from math import gcd, inf, isfinite
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.preparation import decimals, moments
from rapids_tc.preparation.id_columns import inspect, integers, refuse_nulls

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rapids_tc._typing import Array, Series
    from rapids_tc.frames.backend import Backend

KINDS = ("integer", "float", "datetime")
NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}  # per unit
DAY = 86400 * NANOSECONDS["s"]
NULLS = "a row needs a time. Drop those rows or fill them"
MONTHS = re.compile(r"[MYQ](S|E)?\b")  # months, years and quarters have no fixed length
LENGTHS = (
    'a number for times that are numbers; "1h", a Timedelta, a timedelta or a timedelta64 for '
    "datetimes"
)


@dataclass(frozen=True)
class Length:
    """A length of time, as an option says it.

    Attributes
    ----------
    name : str
        The option.
    value : object
        The argument, for messages.
    amount : int or float
        A number in the unit of times that are numbers, or nanoseconds.
    is_number : bool
        Whether it measures times that are numbers, not datetimes.
    """

    name: str
    value: Any
    amount: Any
    is_number: bool


def check_length(name: str, value: Any, *, zero: bool = False) -> Length:
    """Return the length of time of an option; ValueError unless it is positive, or allowed zero.

    Months and years are refused: they have no fixed length.
    """
    is_number = isinstance(value, Real) and not isinstance(value, bool | np.timedelta64)
    amount = _number(value) if is_number else _nanoseconds(value)
    if amount is None:
        raise ValueError(f"{name}={value!r}; accepted: {LENGTHS}; months have no fixed length")
    if not (0 < amount < inf or (zero and amount == 0)):
        least = "from 0 on" if zero else "above 0"
        raise ValueError(f"{name}={value!r}: a length of time {least} is accepted")
    return Length(name, value, amount, is_number)


def _number(value: Any) -> int | float:
    if isinstance(value, Integral):
        return int(value)
    try:
        return float(value)
    except OverflowError:
        return inf


def _nanoseconds(value: Any) -> int | None:
    """Return the nanoseconds of what pandas takes for a length of time; None for anything else."""
    from datetime import timedelta

    from pandas import Timedelta, isna
    from pandas.tseries.offsets import Tick

    if not isinstance(value, str | timedelta | np.timedelta64 | Tick):
        return None
    if isinstance(value, str) and MONTHS.search(value):  # pandas reads "1MS" as a millisecond
        return None
    try:
        length = Timedelta(value)
    except (ValueError, TypeError, OverflowError):
        return None
    if isna(length):
        return None
    seconds = length.days * 86_400 + length.seconds
    return (seconds * 10**6 + length.microseconds) * 1000 + length.nanoseconds


@dataclass(frozen=True)
class TimeRange:
    """What a column of times holds, or some rows of it.

    Attributes
    ----------
    label : label
        The column.
    kind : str
        One of `KINDS`; "empty" if there are no rows.
    dtype : dtype
        The dtype of the column.
    first, last : int or float
        The least and the greatest time: numbers, or datetimes since 1970 in UTC, in `unit`.
    """

    label: Any
    kind: str
    dtype: Any
    first: Any = 0
    last: Any = 0

    @property
    def unit(self) -> str:
        """The unit in which datetimes are counted."""
        return moments.counting_unit(self.dtype)

    @property
    def number_dtype(self) -> str:
        """The dtype of the times as `read_times` returns them."""
        if self.kind == "float":
            return "float64"
        unsigned = self.kind == "integer" and self.dtype.kind == "u"
        return "uint64" if unsigned else "int64"

    @property
    def tick_dtype(self) -> str:
        """The dtype of the times as `ticks` returns them."""
        return "float64" if self.kind == "float" else "uint64"

    @property
    def extent(self) -> Any:
        """The distance from the first to the last time."""
        return self.last - self.first

    @property
    def of_dtype(self) -> TimeRange:
        """The same range with the kind of its dtype, where it has no rows that tell the kind."""
        kinds = {"i": "integer", "u": "integer", "f": "float", "M": "datetime"}
        return replace(self, kind=kinds.get(self.dtype.kind, self.kind))

    def ticks(self, times: Array) -> Array:
        """Return how far times lie behind the first: uint64, exact; floats are left as they are."""
        if self.kind == "float":
            return times
        return times.astype("uint64") - np.uint64(self.first % 2**64)  # modulo 2**64

    def amount(self, length: Length) -> Any:
        """Return a length in the numbers of this column, or in nanoseconds.

        Raises
        ------
        ValueError
            The length does not suit the times: a number for datetimes, a fraction for integers.
        """
        name = f"{length.name}={length.value!r}"
        column = f"time={self.label!r} has dtype {self.dtype}"
        if self.kind != "empty" and length.is_number == (self.kind == "datetime"):
            like = 'a length such as "1h" or a Timedelta' if length.is_number else "a number"
            raise ValueError(f"{name}: {column}: give {like}")
        if self.kind != "integer":
            return float(length.amount) if self.kind == "float" else length.amount
        if length.amount != int(length.amount):
            raise ValueError(f"{name}: {column}: give a whole number")
        return int(length.amount)

    def series(self, counts: Array, unit: str, backend: Backend, step: int = DAY) -> Series:
        """Return times as a column of the user's dtype, from counts in a unit, or from numbers.

        Datetimes of a finer unit than the user's keep this unit; so do those a `step` of
        nanoseconds apart that is no whole number of days, if the user's are days.
        """
        values = backend.library.Series(counts)
        if self.kind != "datetime":
            return _cast(values, self.dtype)
        values, zone = values.astype(f"datetime64[{unit}]"), moments.zone(self.dtype)
        if zone is not None:
            values = values.dt.tz_localize("UTC").dt.tz_convert(zone)
        days_hold = not (moments.is_date(self.dtype) and step % DAY)
        return _cast(values, self.dtype) if unit == self.unit and days_hold else values


def read_times(values: Series, label: Any, backend: Backend) -> Array:
    """Read a column of times without nulls as numbers: int64, uint64 or float64."""
    values = decimals.as_numbers(values, floats=True)
    column, _ = inspect(values, f"time={label!r}", backend)
    if column.kind == "float":
        return backend.array(_cast(values, "float64"))
    if column.kind == "datetime":
        return backend.array(moments.counts(values))
    if column.kind == "empty":
        return backend.xp.zeros(0, "int64")
    numbers = integers(values, column.name, backend)
    return numbers.astype(f"{'u' * (numbers.dtype.kind == 'u')}int64", copy=False)


@dataclass(frozen=True)
class TimeProfile:
    """What some rows of a column of times hold.

    Attributes
    ----------
    times : TimeRange
    nulls : int
        How many of the rows have no time; the rest is then not profiled.
    distinct : array or None
        The distinct times, ascending, in the memory of the host, if they are asked for.
    """

    times: TimeRange
    nulls: int = 0
    distinct: Array | None = None


def profile_times(values: Series, label: Any, backend: Backend, *, distinct: bool) -> TimeProfile:
    """Profile some rows of a column of times.

    Raises
    ------
    ValueError
        The column holds no times, or infinite ones.
    """
    name = f"time={label!r}"
    if decimals.is_rounded(values):
        raise ValueError(
            f"{name} holds decimals that float64 rounds: multiply them, and lengths of time, to "
            "whole numbers, and cast these to integers"
        )
    values = decimals.as_numbers(values, floats=True)
    column, nulls = inspect(values, name, backend)
    if column.kind not in (*KINDS, "empty") or column.categorical:
        raise ValueError(
            f"{name} has dtype {values.dtype}; accepted: integers, floats, datetimes; convert the "
            "column to one of them"
        )
    if nulls or column.kind == "empty":
        return TimeProfile(TimeRange(label, "empty", values.dtype), nulls)
    times = read_times(values, label, backend)
    reducible = times if backend.xp is np else backend.library.Series(times)
    first, last = reducible.min().item(), reducible.max().item()
    if not (isfinite(first) and isfinite(last)):
        raise ValueError(f"{name} holds infinite times: drop those rows, or give them finite times")
    profile = TimeProfile(TimeRange(label, column.kind, values.dtype, first, last))
    if not distinct:
        return profile
    return replace(profile, distinct=backend.host(_distinct(times.copy(), backend.xp)))


def joined_profile(profiles: list[TimeProfile]) -> tuple[TimeRange, Array]:
    """Return the range of all rows and their distinct ticks, from the profiles of all parts.

    Raises
    ------
    NullIdError
        A row has no time.
    ValueError
        The dtypes of parts differ.
    """
    times = joined_range([profile.times for profile in profiles])
    refuse_nulls(sum(profile.nulls for profile in profiles), f"time={times.label!r}", NULLS)
    parts = [profile.distinct for profile in profiles if profile.distinct is not None]
    if len(parts) == 1:
        return times, times.ticks(parts[0])
    joined, first = np.empty(sum(map(len, parts)), times.tick_dtype), 0
    for part in parts:
        joined[first : first + len(part)] = times.ticks(part)
        first += len(part)
    return times, _distinct(joined, np)


def joined_range(ranges: Iterable[TimeRange]) -> TimeRange:
    """Return the range of all rows from the ranges of parts; ValueError if dtypes differ."""
    ranges = list(ranges)
    filled = [one for one in ranges if one.kind != "empty"]
    if not filled:
        return ranges[0]
    first = filled[0]
    for other in filled:
        same = other.number_dtype == first.number_dtype and other.kind == first.kind
        if not same or (
            first.kind == "datetime" and not moments.same_moments(first.dtype, other.dtype)
        ):
            raise ValueError(
                f"time={first.label!r} has dtype {first.dtype} in some partitions and "
                f"{other.dtype} in others: give all one dtype"
            )
    lowest, highest = min(one.first for one in filled), max(one.last for one in filled)
    return TimeRange(first.label, first.kind, first.dtype, lowest, highest)


def _distinct(values: Array, xp: Any) -> Array:
    """Return the distinct values, ascending; the array itself is sorted.

    NumPy's unique hashes, which takes ten times as long as this sort.
    """
    values.sort()
    is_first = xp.ones(len(values), bool)
    is_first[1:] = values[1:] != values[:-1]
    return values[is_first]


def _cast(values: Series, dtype: Any) -> Series:
    return values if values.dtype == dtype else values.astype(dtype)


def common_unit(unit: str, *lengths: int) -> int:
    """Return the most nanoseconds that divide a unit, and lengths in nanoseconds."""
    return gcd(NANOSECONDS[unit], *lengths)


def finest_unit(unit: str, length: int) -> str:
    """Return the unit itself, or the next finer one that divides a length in nanoseconds."""
    units = list(NANOSECONDS)
    return next(u for u in units[units.index(unit) :] if length % NANOSECONDS[u] == 0)
