"""Times of rows → the windows in which each row counts, which `intervals` merges by edge.

A *presence* says in which windows a row counts: windows may be intervals of time that the user
asks for, `Formation` begins at the row's time and never ends, `Reach` and `TickReach` last as long
as `within=`. Windows have numbers from 0 on, and a row is in consecutive ones. If a graph has
groups, the windows of each follow those of the group before, so that a triangle, whose edges are of
one group, never meets the windows of another. Times are the codes of
`rapids_tc.preparation.times`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from math import gcd
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.preparation.times import (
    DAY,
    KINDS,
    NANOSECONDS,
    Length,
    TimeColumn,
    TimeLine,
    codes_of_floats,
    finest_unit,
    floats_of_codes,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from rapids_tc._typing import Array, Series
    from rapids_tc.frames.backend import Backend

MOST_WINDOWS = 2**32 - 1  # one past the last is a uint32, too
MOST_TICKS = 2**64 - 1
Bounds = tuple[Any, Any]  # the first and the last window of each row; first > last is none


class Presence(ABC):
    """In which windows a row counts."""

    @abstractmethod
    def of(self, codes: Array, groups: Array | None, xp: Any) -> Bounds:
        """Return the windows of rows, from their times, and from their groups if there are any."""


class Windows(Presence):
    """The windows of all groups, of which an answer has a row each."""

    @property
    @abstractmethod
    def owners(self) -> Array:
        """The group (int64) of each window, in the memory of the host; without groups 0."""

    @property
    def count(self) -> int:
        """The number of windows."""
        return len(self.owners)

    @abstractmethod
    def starts(self, backend: Backend) -> Series:
        """Return where windows begin, in the dtype of the times, or float64 of floats."""


@dataclass(frozen=True)
class Formation(Windows):
    """A window per distinct time of each group: an edge is present from its earliest row on.

    Attributes
    ----------
    times : TimeColumn
    line : TimeLine
        The distinct times.
    """

    times: TimeColumn
    line: TimeLine

    @property
    def owners(self) -> Array:
        """See `Windows`."""
        return self.line.owners

    def starts(self, backend: Backend) -> Series:
        """Return the times themselves."""
        return self.times.series(backend.xp.asarray(self.line.times), backend)

    def of(self, codes: Array, groups: Array | None, xp: Any) -> Bounds:
        """See `Presence`."""
        first = self.line.before(codes, groups, xp)
        if groups is None:
            return first, xp.full(len(codes), self.count - 1)
        owners = self.owners
        size = int(owners[-1]) + 1 if len(owners) else 0
        ends = xp.asarray(np.searchsorted(owners, np.arange(size), side="right"))
        return first, ends[groups] - 1


@dataclass(frozen=True)
class Reach(Presence):
    """A window per distinct time: an edge is present from each of its times for a length of time.

    Three edges are present together if and only if some choice of one time each spans at most this
    length. Groups have the same windows.

    Attributes
    ----------
    times, line
        See `Formation`.
    within : Length
    """

    times: TimeColumn
    line: TimeLine
    within: Length

    def of(self, codes: Array, groups: Array | None, xp: Any) -> Bounds:
        """See `Presence`."""
        first = self.line.before(codes, None, xp)
        latest = self.times.latest(xp.asarray(self.line.codes), self.within, xp)
        lasts = self.line.before(latest, None, xp, side="right") - 1  # by time: rows have these
        return first, lasts[first]


@dataclass(frozen=True)
class TickReach(Presence):
    """As `Reach`, with a window per unit of the times: no time is sorted or searched for.

    Attributes
    ----------
    lowest : int
        The code of the first time.
    extent : int
        The last window, which is the number of units from the first time to the last.
    length : int
        For how many units more an edge is present.
    """

    lowest: int
    extent: int
    length: int

    def of(self, codes: Array, groups: Array | None, xp: Any) -> Bounds:
        """See `Presence`."""
        first = codes - np.int64(self.lowest)
        return first, xp.minimum(first + np.int64(self.length), np.int64(self.extent))


def has_ticks(times: TimeColumn, line: TimeLine) -> bool:
    """Return whether windows as short as a unit of the times have numbers: see `TickReach`.

    The first and the last time of the line are enough.
    """
    if times.kind == "float" or not len(line):
        return False
    return int(line.codes[-1]) - int(line.codes[0]) < MOST_WINDOWS


def reach(times: TimeColumn, line: TimeLine, within: Length) -> Presence:
    """Return the windows of rows that are present for a length of time."""
    if not has_ticks(times, line):
        return Reach(times, line, within)
    lowest, highest = int(line.codes[0]), int(line.codes[-1])
    extent = highest - lowest
    return TickReach(lowest, extent, min(times.units(within), extent))


# Windows that are asked for -----------------------------------------------------------------------


def laid_out(
    times: TimeColumn, line: TimeLine, window: Length, step: Length, check: Callable[[int], None]
) -> Windows:
    """Lay out windows [first + k * step, first + k * step + window) of the times of each group.

    They begin at the first time of the group, and go up to its last.

    Parameters
    ----------
    line : TimeLine
        The first and the last time of each group, or all its times.
    check : callable
        Receives the number of windows before they are made.

    Raises
    ------
    ValueError
        A length does not suit the times.
    """
    if not len(line):
        times = replace(times, kind=KINDS.get(times.dtype.kind, "empty"))
        wrong = [length.is_number == (times.kind == "datetime") for length in (window, step)]
        if times.kind == "empty" or any(wrong):  # with rows, wrong lengths are an error
            return Formation(times, line)
    return (_of_floats if times.kind == "float" else _of_ticks)(times, line, window, step, check)


@dataclass(frozen=True)
class TickWindows(Windows):
    """Windows of integers and datetimes: times are compared exactly, as ticks since the first.

    Attributes
    ----------
    times : TimeColumn
    window, step : int
        Both lengths in ticks.
    per_unit : int
        Ticks in a unit of the codes: a length may be a fraction of the unit of datetimes.
    lowest : array of int64
        The code of the first time of each group, in the memory of the host.
    counts : array of int64
        How many windows each group has, in the memory of the host.
    """

    times: TimeColumn
    window: int
    step: int
    per_unit: int
    lowest: Array
    counts: Array

    @cached_property
    def owners(self) -> Array:
        """See `Windows`."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

    @cached_property
    def before(self) -> Array:
        """For each group, the number of windows of all earlier groups."""
        before: Array = np.cumsum(self.counts) - self.counts
        return before

    def starts(self, backend: Backend) -> Series:
        """See `Windows`."""
        times, unit, apart, step, per = self.times, None, DAY, self.step, 1
        if times.kind == "datetime":
            apart = step * (NANOSECONDS[times.unit] // self.per_unit)
            unit = finest_unit(times.unit, apart)
            step, per = apart // NANOSECONDS[unit], NANOSECONDS[times.unit] // NANOSECONDS[unit]
        numbers = np.arange(self.count) - self.before[self.owners]
        codes = self.lowest[self.owners].view("uint64") * np.uint64(per)  # modulo 2**64
        codes += numbers.view("uint64") * np.uint64(step % 2**64)
        return times.series(backend.xp.asarray(codes.view("int64")), backend, unit, apart)

    def of(self, codes: Array, groups: Array | None, xp: Any) -> Bounds:
        """See `Presence`."""
        group = 0 if groups is None else groups
        lowest, before = xp.asarray(self.lowest).view("uint64"), xp.asarray(self.before)
        ticks = (codes.view("uint64") - lowest[group]) * np.uint64(self.per_unit)
        past = ticks > np.uint64(min(self.window - 1, MOST_TICKS))
        ended = _divided(ticks - np.uint64(min(self.window, MOST_TICKS)), self.step) + np.uint64(1)
        first = xp.where(past, ended, np.uint64(0)).view("int64")
        last = _divided(ticks, self.step).view("int64")
        return first + before[group], last + before[group]


def _divided(ticks: Array, step: int) -> Array:
    return ticks // np.uint64(step) if step <= MOST_TICKS else ticks * np.uint64(0)


def _of_ticks(
    times: TimeColumn, line: TimeLine, window: Length, step: Length, check: Callable[[int], None]
) -> TickWindows:
    width, apart = times.amount(window), times.amount(step)
    (groups, lowest, highest), per_unit = line.ranges, 1
    if times.kind == "datetime":
        tick = gcd(NANOSECONDS[times.unit], width, apart)
        per_unit = NANOSECONDS[times.unit] // tick
        if len(line):
            ends = int(lowest.min()), int(highest.max())
            _require_unit(times, *ends, per_unit, finest_unit(times.unit, apart))
        width, apart = width // tick, apart // tick
    extents = (highest.view("uint64") - lowest.view("uint64")) * np.uint64(per_unit)
    steps = _divided(extents, apart)
    check(int(steps.sum(dtype="float64")) + len(steps))
    first_of, counts = (np.zeros(groups.max(initial=0) + 1, "int64") for _ in range(2))
    first_of[groups], counts[groups] = lowest, steps + np.uint64(1)
    return TickWindows(times, width, apart, per_unit, first_of, counts)


def _require_unit(times: TimeColumn, first: int, last: int, per_unit: int, unit: str) -> None:
    """Raise ValueError unless all times fit in ticks, and in the unit that is shown."""
    per_shown = NANOSECONDS[times.unit] // NANOSECONDS[unit]
    shown_fit = first * per_shown >= -(2**63) and last * per_shown < 2**63
    if (last - first) * per_unit > MOST_TICKS or not shown_fit:
        raise ValueError(
            f"the times of time={times.label!r} do not fit int64 in the unit of window= and step=, "
            f"which is finer than theirs: give a whole number of {times.unit!r}"
        )


@dataclass(frozen=True)
class FloatWindows(Windows):
    """Windows of floats: window k begins at the float64 first + k * step.

    It ends at its start + window; if window and step are equal, where the next one begins, so that
    each time is in one window.

    Attributes
    ----------
    begins, lasts : TimeLine
        The first and the last float in each window.
    """

    begins: TimeLine
    lasts: TimeLine

    @property
    def owners(self) -> Array:
        """See `Windows`."""
        return self.begins.owners

    def starts(self, backend: Backend) -> Series:
        """See `Windows`."""
        return backend.library.Series(floats_of_codes(backend.xp.asarray(self.begins.times)))

    def of(self, codes: Array, groups: Array | None, xp: Any) -> Bounds:
        """See `Presence`."""
        last = self.begins.before(codes, groups, xp, side="right") - 1
        return self.lasts.before(codes, groups, xp), last


def _of_floats(
    times: TimeColumn, line: TimeLine, window: Length, step: Length, check: Callable[[int], None]
) -> FloatWindows:
    groups, *ends = line.ranges
    lowest, highest = map(floats_of_codes, ends)
    least = float(np.spacing(max(abs(lowest).max(initial=0), abs(highest).max(initial=0))))
    for length in (window, step):
        if times.amount(length) < least:
            raise ValueError(
                f"{length.name}={length.value!r} is below {least}, the distance of floats as large "
                f"as those of time={times.label!r}: subtract the first time"
            )
    width, apart = times.amount(window), times.amount(step)
    steps = highest / apart - lowest / apart
    check(int(steps.sum()) + len(steps))
    counts = steps.astype("int64") + 5  # rounding moves a start, and this estimate, by two steps
    place = np.repeat(np.arange(len(groups)), counts)
    numbers = np.arange(len(place)) - np.repeat(np.cumsum(counts) - counts, counts)
    with np.errstate(over="ignore"):
        starts = numbers * apart + lowest[place]
        ends = (numbers + 1) * apart + lowest[place] if width == apart else starts + width
    kept = starts <= highest[place]
    owners = None if line.keys is None else groups[place[kept]]
    begins, lasts = codes_of_floats(starts[kept]), codes_of_floats(ends[kept]) - 1
    return FloatWindows(*(TimeLine.of_ascending(codes, owners) for codes in (begins, lasts)))
