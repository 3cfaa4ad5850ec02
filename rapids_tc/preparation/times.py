"""Columns of times as codes, and lengths of time.

The *code* of a time is an int64: codes have the order of the times, and equal times have equal
codes. Integers are their own codes, datetimes are counted in their unit, and of floats the bits are
the code. So times are sorted, told apart and searched as integers, whatever they are, and without
rounding. The kind of times matters only where a length of time is added.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from math import inf
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.errors import shown
from rapids_tc.preparation import decimals, moments
from rapids_tc.preparation.id_columns import inspect, integers, refuse_nulls

if TYPE_CHECKING:
    from rapids_tc._typing import Array, Frame, Series
    from rapids_tc.frames.backend import Backend

KINDS = {"i": "integer", "u": "integer", "f": "float", "M": "datetime"}  # by kind of dtype
LATEST = 2**63 - 1  # the greatest code
NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}  # per unit
DAY = 86400 * NANOSECONDS["s"]
LOW_BITS = np.uint64(2**32 - 1)
NULLS = "a row needs a time. Drop those rows or fill them"
MONTHS = re.compile(r"[MYQ](S|E)?\b")  # months, years and quarters have no fixed length
DAYS = re.compile(r"(?<![A-Za-z])d(?![A-Za-z])")
LENGTHS = (
    'a number for times that are numbers; "1h", a Timedelta, a timedelta or a timedelta64 for '
    "datetimes; "
)
NO_MONTHS = "months have no fixed length"
PERIODS = 'text such as "W", "MS", "QS" or "YS" for weeks, months, quarters or years'


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

    Months and years are refused: they have no fixed length. So is text of more than the 292 years
    that pandas reads.
    """
    is_number = isinstance(value, Real) and not isinstance(value, bool | np.timedelta64)
    amount = _number(value) if is_number else _nanoseconds(name, value)
    if amount is None:
        more = PERIODS if name == "window" else NO_MONTHS
        raise ValueError(f"{name}={shown(value)}; accepted: {LENGTHS}{more}")
    if not (0 < amount < inf or (zero and amount == 0)):
        least, finite = "from 0 on" if zero else "above 0", "finite " * (not amount < inf)
        raise ValueError(f"{name}={shown(value)}: a {finite}length of time {least} is accepted")
    return Length(name, value, amount, is_number)


def _number(value: Any) -> int | float:
    if isinstance(value, Integral):
        return int(value)
    try:
        return float(value)
    except OverflowError:
        return inf


def _nanoseconds(name: str, value: Any) -> int | None:
    """Return the nanoseconds of what pandas takes for a length of time; None for anything else.

    ValueError for text of a length that pandas cannot hold.
    """
    from datetime import timedelta

    from pandas import Timedelta, isna
    from pandas.errors import OutOfBoundsDatetime, OutOfBoundsTimedelta
    from pandas.tseries.offsets import Tick

    if not isinstance(value, str | timedelta | np.timedelta64 | Tick):
        return None
    if isinstance(value, str):
        if MONTHS.search(value):  # pandas reads "1MS" as a millisecond
            return None
        value = DAYS.sub("D", value)  # "1d" is deprecated in pandas
    try:
        length = Timedelta(value)
    except (ValueError, TypeError, OverflowError) as error:
        if isinstance(value, str) and isinstance(error, OutOfBoundsDatetime | OutOfBoundsTimedelta):
            raise ValueError(
                f"{name}={shown(value)} is longer than the 292 years that pandas reads from text: "
                "give a timedelta64 of NumPy, as np.timedelta64(4_000_000, 'D')"
            ) from None
        return None
    if isna(length):
        return None
    seconds = length.days * 86_400 + length.seconds
    return (seconds * 10**6 + length.microseconds) * 1000 + length.nanoseconds


@dataclass(frozen=True)
class TimeColumn:
    """A column of times.

    Attributes
    ----------
    label : label
        The column.
    kind : str
        A value of `KINDS`; "empty" if there are no rows.
    dtype : dtype
        The dtype of the column.
    """

    label: Any
    kind: str
    dtype: Any

    @property
    def unit(self) -> str:
        """The unit in which datetimes are counted."""
        return moments.counting_unit(self.dtype)

    @property
    def unsigned(self) -> bool:
        """Whether times are integers of an unsigned dtype: their codes are less by 2**63."""
        return bool(self.dtype.kind == "u")

    def codes(self, values: Series, backend: Backend) -> Array:
        """Return the codes of times without nulls."""
        values = decimals.as_numbers(values, floats=True)
        if len(values) == 0:
            return backend.xp.zeros(0, "int64")
        if self.kind == "datetime":
            return backend.array(moments.counts(values))
        if self.kind == "float":
            return codes_of_floats(backend.array(_cast(values, "float64")))
        numbers = integers(values, f"time={self.label!r}", backend)
        if self.unsigned:
            return (numbers.astype("uint64") ^ np.uint64(2**63)).view("int64")
        return numbers.astype("int64", copy=False)

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
        if self.kind == "float":
            return float(min(length.amount, sys.float_info.max))  # an int may be larger
        if self.kind != "integer":
            return length.amount
        if length.amount != int(length.amount):
            raise ValueError(f"{name}: {column}: give a whole number")
        return int(length.amount)

    def latest(self, codes: Array, length: Length, xp: Any) -> Array:
        """Return the codes of the latest times that are at most a length past some times."""
        if self.kind == "float":
            return _latest_floats(floats_of_codes(codes), self.amount(length))
        most = min(self.units(length), 2**64 - 1)
        earlier = xp.minimum(codes, np.int64(LATEST - most)).view("uint64")
        return (earlier + np.uint64(most)).view("int64")  # modulo 2**64, as a length may be larger

    def units(self, length: Length) -> int:
        """Return how far the codes of times may differ that are at most a length apart.

        Times are integers or datetimes. Errors: see `amount`.
        """
        amount: int = self.amount(length)
        return amount // NANOSECONDS[self.unit] if self.kind == "datetime" else amount

    def series(
        self, codes: Array, backend: Backend, unit: str | None = None, step: int = DAY
    ) -> Series:
        """Return times as a column of the user's dtype, from their codes.

        Datetimes that are counted in a finer `unit` than the user's keep this unit; so do those a
        `step` of nanoseconds apart that is no whole number of days, if the user's are days.
        """
        kind = KINDS.get(self.dtype.kind)
        if kind == "float":
            codes = floats_of_codes(codes)
        elif self.unsigned:
            codes = codes.view("uint64") ^ np.uint64(2**63)
        values = backend.library.Series(codes)
        if kind != "datetime":
            return _cast(values, self.dtype)
        unit, zone = unit or self.unit, moments.zone(self.dtype)
        values = values.astype(f"datetime64[{unit}]")
        if zone is not None:
            values = values.dt.tz_localize("UTC").dt.tz_convert(zone)
        days_hold = not (moments.is_date(self.dtype) and step % DAY)
        return _cast(values, self.dtype) if unit == self.unit and days_hold else values


def codes_of_floats(values: Array) -> Array:
    """Return the codes of floats: their bits, those behind the sign turned round if it is minus."""
    bits = (values + 0.0).view("int64")  # -0.0 becomes 0.0
    return bits ^ ((bits >> 63) & LATEST)


def floats_of_codes(codes: Array) -> Array:
    """Return the floats that have some codes."""
    return (codes ^ ((codes >> 63) & LATEST)).view("float64")


def _latest_floats(times: Array, length: float) -> Array:
    """Return the codes of the latest floats that are at most a length past some times.

    The sum and its rounding error are exact together: Knuth's TwoSum. If the sum was rounded up,
    the float before it is the latest.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        ends = times + length
        added = ends - times
        error = (times - (ends - added)) + (length - added)
    return codes_of_floats(ends) - (error < 0)


@dataclass(frozen=True)
class TimeLine:
    """Times of groups in ascending order: by group, then by time; in the memory of the host.

    Attributes
    ----------
    codes : array of int64
        The codes of all times, ascending.
    keys : array of uint64 or None
        Of each time group << 32 | place in `codes`, ascending; None if there are no groups: each
        code is then a time.
    """

    codes: Array
    keys: Array | None

    @classmethod
    def of(cls, codes: Array, groups: Array | None, backend: Backend) -> TimeLine:
        """Return the distinct times of some rows."""
        xp = backend.xp
        distinct = _distinct(codes.copy(), xp)
        if groups is None:
            return cls(backend.host(distinct), None)
        keys = _distinct(_keys(groups, xp.searchsorted(distinct, codes)), xp)
        return cls(backend.host(distinct), backend.host(keys))

    @classmethod
    def of_ascending(cls, codes: Array, groups: Array | None) -> TimeLine:
        """Return times that ascend in each group, of which some may be equal."""
        if groups is None:
            return cls(codes, None)
        distinct = _distinct(codes.copy(), np)
        return cls(distinct, _keys(groups, np.searchsorted(distinct, codes)))

    @classmethod
    def joined(cls, lines: list[TimeLine]) -> TimeLine:
        """Return the distinct times of several lines."""
        if len(lines) == 1:
            return lines[0]
        codes = _distinct(np.concatenate([line.codes for line in lines]), np)
        if lines[0].keys is None:
            return cls(codes, None)
        keys = [_keys(line.owners, np.searchsorted(codes, line.times)) for line in lines]
        return cls(codes, _distinct(np.concatenate(keys), np))

    def __len__(self) -> int:
        return len(self.codes if self.keys is None else self.keys)

    @property
    def times(self) -> Array:
        """The code of each time."""
        return self.codes if self.keys is None else self.codes[self.keys & LOW_BITS]

    @property
    def owners(self) -> Array:
        """The group of each time (int64); without groups 0."""
        if self.keys is None:
            return np.zeros(len(self.codes), "int64")
        return (self.keys >> 32).view("int64")

    @property
    def ranges(self) -> tuple[Array, Array, Array]:
        """The groups that have times, and the first and the last time of each."""
        groups, first = np.unique(self.owners, return_index=True)
        last = np.append(first[1:], len(self)) - 1
        return groups, self.times[first], self.times[last[: len(first)]]

    def before(self, codes: Array, groups: Array | None, xp: Any, side: str = "left") -> Array:
        """Return how many times of the line come before rows; with "right" as side, or with them.

        All times of an earlier group come before a row.
        """
        places = xp.searchsorted(xp.asarray(self.codes), codes, side=side)
        if groups is None:
            return places
        return xp.searchsorted(xp.asarray(self.keys), _keys(groups, places))


def _keys(groups: Array, places: Array) -> Array:
    return (groups.astype("uint64") << 32) | places.astype("uint64")


def _distinct(values: Array, xp: Any) -> Array:
    """Return the distinct values, ascending; the array itself is sorted.

    NumPy's unique hashes, which takes ten times as long as this sort.
    """
    values.sort()
    is_first = xp.ones(len(values), bool)
    is_first[1:] = values[1:] != values[:-1]
    return values[is_first]


@dataclass(frozen=True)
class TimeProfile:
    """What some rows of a column of times hold.

    Attributes
    ----------
    times : TimeColumn
    nulls : int
        How many of the rows have no time; the rest is then not profiled.
    line : TimeLine
        The distinct times of the rows, or the first and the last of each group.
    """

    times: TimeColumn
    nulls: int
    line: TimeLine


def profile_times(
    values: Series, label: Any, groups: Array | None, backend: Backend, *, distinct: bool
) -> TimeProfile:
    """Profile some rows of a column of times; without `distinct`, by their first and last times.

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
    if column.kind not in (*KINDS.values(), "empty") or column.categorical:
        raise ValueError(
            f"{name} has dtype {values.dtype}; accepted: integers, floats, datetimes; convert the "
            "column to one of them"
        )
    if nulls or column.kind == "empty":
        none = TimeLine(np.zeros(0, "int64"), None if groups is None else np.zeros(0, "uint64"))
        return TimeProfile(TimeColumn(label, "empty", values.dtype), nulls, none)
    times = TimeColumn(label, column.kind, values.dtype)
    codes = times.codes(values, backend)
    if not distinct:
        codes, groups = _extremes(codes, groups, backend)
    line = TimeLine.of(codes, groups, backend)
    if times.kind == "float" and not np.isfinite(floats_of_codes(line.codes[[0, -1]])).all():
        raise ValueError(f"{name} holds infinite times: drop those rows, or give them finite times")
    return TimeProfile(times, 0, line)


def plain_times(frame: Frame, label: Any, backend: Backend) -> tuple[TimeColumn, Array] | None:
    """Return a column of times and its codes if its array holds them as they are; else None.

    So does that of integers with a sign, and of datetimes without a zone, if there are no nulls.
    """
    numbers = backend.adapter.plain_times(frame, label)
    if numbers is None or not len(numbers.values):
        return None
    kind = KINDS[numbers.dtype.kind]
    return TimeColumn(label, kind, numbers.dtype), backend.xp.asarray(numbers.values)


def _extremes(codes: Array, groups: Array | None, backend: Backend) -> tuple[Array, Array | None]:
    """Return the first and the last code of each group, and their groups."""
    library, xp = backend.library, backend.xp
    if groups is None:
        reducible = codes if xp is np else library.Series(codes)
        return xp.array([int(reducible.min()), int(reducible.max())]), None
    by_group = library.Series(codes).groupby(library.Series(groups))
    least, most = by_group.min(), by_group.max()
    both = [backend.array(part) for part in (least, most, least.index, most.index)]
    return xp.concatenate(both[:2]), xp.concatenate(both[2:])


def joined_profile(profiles: list[TimeProfile]) -> tuple[TimeColumn, TimeLine]:
    """Return the column and its times, from the profiles of all parts.

    Raises
    ------
    NullIdError
        A row has no time.
    ValueError
        The dtypes of parts differ.
    """
    times = joined_column([profile.times for profile in profiles])
    refuse_nulls(sum(profile.nulls for profile in profiles), f"time={times.label!r}", NULLS)
    return times, TimeLine.joined([profile.line for profile in profiles])


def joined_column(columns: list[TimeColumn]) -> TimeColumn:
    """Return the column that has rows; ValueError if dtypes differ in parts that have rows."""
    filled = [column for column in columns if column.kind != "empty"]
    if not filled:
        return columns[0]
    first = filled[0]
    for other in filled:
        same = (other.kind, other.unsigned) == (first.kind, first.unsigned)
        if not same or (
            first.kind == "datetime" and not moments.same_moments(first.dtype, other.dtype)
        ):
            raise ValueError(
                f"time={first.label!r} has dtype {first.dtype} in some partitions and "
                f"{other.dtype} in others: give all one dtype"
            )
    return first


def _cast(values: Series, dtype: Any) -> Series:
    return values if values.dtype == dtype else values.astype(dtype)


def finest_unit(unit: str, length: int) -> str:
    """Return the unit itself, or the next finer one that divides a length in nanoseconds."""
    units = list(NANOSECONDS)
    return next(u for u in units[units.index(unit) :] if length % NANOSECONDS[u] == 0)
