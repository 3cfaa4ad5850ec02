"""The windows that are asked for: of fixed lengths, of the calendar, and from an origin on."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from functools import cached_property
from math import gcd
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.preparation.calendars import (
    START,
    Calendar,
    Origin,
    clock,
    clocks_change,
    codes_of_clock,
    codes_of_units,
    is_days,
)
from rapids_tc.preparation.spans import Bounds, Formation, Windows
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

MOST_TICKS = 2**64 - 1
MOST_STEPS = 2**53  # whose number a float64 has exactly
FARTHEST = sys.float_info.max


def laid_out(
    times: TimeColumn, line: TimeLine, window: Length | Calendar, step: Length | Calendar,
    check: Callable[[int], None], origin: Origin = START,
) -> Windows:  # fmt: skip
    """Lay out windows [origin + k * step, origin + k * step + window) of the times of each group.

    The first one begins at the first time of the group, or at the last moment before it, and they
    go up to the last time. Those of the calendar have no origin.

    Parameters
    ----------
    line : TimeLine
        The first and the last time of each group, or all its times.
    check : callable
        Receives the number of windows before they are made.

    Raises
    ------
    ValueError
        A length, or the origin, does not suit the times.
    """
    if not len(line):
        times = replace(times, kind=KINDS.get(times.dtype.kind, "empty"))
        wrong = [length.is_number == (times.kind == "datetime") for length in (window, step)]
        # With rows, wrong lengths are an error.
        if times.kind == "empty" or any(wrong) or isinstance(window, Calendar):
            return Formation(times, line)
    if isinstance(window, Calendar) or isinstance(step, Calendar):
        return _of_calendar(times, line, window, check)
    origin.check(times)
    if times.kind == "float":
        return _of_floats(times, line, window, step, check, origin)
    if clocks_change(times) and (is_days(window) or is_days(step)):
        return _of_days(times, line, window, step, check, origin)
    return _of_ticks(times, line, window, step, check, origin)


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
    lead : array of uint64
        How many ticks before its first time the windows of each group begin.
    counts : array of int64
        How many windows each group has, in the memory of the host.
    """

    times: TimeColumn
    window: int
    step: int
    per_unit: int
    lowest: Array
    lead: Array
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
        times, unit, whole, step, per, lead = self.times, None, DAY, self.step, 1, self.lead
        if times.kind == "datetime":
            tick = NANOSECONDS[times.unit] // self.per_unit
            whole = gcd(step, int(np.gcd.reduce(lead))) * tick
            unit = finest_unit(times.unit, whole)
            step, per = step * tick // NANOSECONDS[unit], _per_unit(times, unit)
            lead = np.array([int(ticks) * tick // NANOSECONDS[unit] for ticks in lead], "uint64")
        numbers = np.arange(self.count) - self.before[self.owners]
        codes = self.lowest.view("uint64") * np.uint64(per) - lead  # modulo 2**64
        codes = codes[self.owners] + numbers.view("uint64") * np.uint64(step % 2**64)
        return times.series(backend.xp.asarray(codes.view("int64")), backend, unit, whole)

    def of(self, codes: Array, groups: Array | None, xp: Any) -> Bounds:
        """See `Presence`."""
        group = 0 if groups is None else groups
        lowest, before = xp.asarray(self.lowest).view("uint64"), xp.asarray(self.before)
        ticks = (codes.view("uint64") - lowest[group]) * np.uint64(self.per_unit)
        ticks += xp.asarray(self.lead)[group]
        past = ticks > np.uint64(min(self.window - 1, MOST_TICKS))
        ended = _divided(ticks - np.uint64(min(self.window, MOST_TICKS)), self.step) + np.uint64(1)
        first = xp.where(past, ended, np.uint64(0)).view("int64")
        last = _divided(ticks, self.step).view("int64")
        return first + before[group], last + before[group]


def _divided(ticks: Array, step: int) -> Array:
    return ticks // np.uint64(step) if step <= MOST_TICKS else ticks * np.uint64(0)


def _of_ticks(
    times: TimeColumn, line: TimeLine, window: Length, step: Length, check: Callable[[int], None],
    origin: Origin,
) -> TickWindows:  # fmt: skip
    width, apart = times.amount(window), times.amount(step)
    (groups, lowest, highest), per_unit = line.ranges, 1
    before, of_unit = origin.before(lowest, times)
    if times.kind == "datetime":
        unit = NANOSECONDS[times.unit]
        in_ns = unit // of_unit
        tick = gcd(unit, width, apart, *{distance * in_ns % unit for distance in before})
        per_unit, width, apart = unit // tick, width // tick, apart // tick
        before = [distance * in_ns // tick for distance in before]
    lead = np.array([distance % apart for distance in before], "object")
    longest = int(lead.max(initial=0))
    if times.kind == "datetime" and len(line):
        whole = gcd(apart, *(int(ticks) for ticks in lead)) * tick
        ends = int(lowest.min()) * per_unit - longest, int(highest.max()) * per_unit
        _require_unit(times, *ends, per_unit, finest_unit(times.unit, whole))
    elif len(line) and int(lowest.min()) - longest < _least_code(times):
        raise ValueError(
            f"origin={origin.given!r}: a window begins before the least {times.dtype}, the dtype "
            f"of time={times.label!r}: cast it to a wider one"
        )
    extents = (highest.view("uint64") - lowest.view("uint64")) * np.uint64(per_unit)
    extents += lead.astype("uint64")
    steps = _divided(extents, apart)
    check(int(steps.sum(dtype="float64")) + len(steps))
    size = groups.max(initial=0) + 1
    first_of, counts, leads = (np.zeros(size, dtype) for dtype in ("int64", "int64", "uint64"))
    first_of[groups], counts[groups], leads[groups] = lowest, steps + np.uint64(1), lead
    return TickWindows(times, width, apart, per_unit, first_of, leads, counts)


def _least_code(times: TimeColumn) -> int:
    """Return the code of the least integer that the column can hold."""
    name = str(times.dtype).lower().removesuffix("[pyarrow]")
    return int(np.iinfo(name).min) - 2**63 * times.unsigned


def _per_unit(times: TimeColumn, unit: str) -> int:
    """Return how many of another unit a unit of the times has."""
    return NANOSECONDS[times.unit] // NANOSECONDS[unit]


def _require_unit(times: TimeColumn, first: int, last: int, per_unit: int, unit: str) -> None:
    """Raise ValueError unless all ticks from the first to the last fit, and in the unit shown."""
    per_shown = _per_unit(times, unit)
    shown_fit = first * per_shown >= -(2**63) * per_unit and last * per_shown < 2**63 * per_unit
    if last - first > MOST_TICKS or not shown_fit:
        raise ValueError(
            f"the times of time={times.label!r} do not fit int64 in the unit of window=, step= and "
            f"origin=, which is finer than theirs: give a whole number of {times.unit!r}"
        )


@dataclass(frozen=True)
class ListedWindows(Windows):
    """Windows whose ends are listed, since they are not all as long, or are rounded.

    Attributes
    ----------
    times : TimeColumn
    begins, lasts : TimeLine
        The codes of the first and the last time in each window.
    """

    times: TimeColumn
    begins: TimeLine
    lasts: TimeLine

    @property
    def owners(self) -> Array:
        """See `Windows`."""
        return self.begins.owners

    def starts(self, backend: Backend) -> Series:
        """See `Windows`."""
        codes = backend.xp.asarray(self.begins.times)
        if self.times.kind == "float":
            return backend.library.Series(floats_of_codes(codes))
        return self.times.series(codes, backend)

    def of(self, codes: Array, groups: Array | None, xp: Any) -> Bounds:
        """See `Presence`."""
        last = self.begins.before(codes, groups, xp, side="right") - 1
        return self.lasts.before(codes, groups, xp), last


def _listed(
    times: TimeColumn, line: TimeLine, owners: Array, begins: Array, lasts: Array
) -> ListedWindows:
    """Return windows by their groups, and the codes of their ends."""
    of_group = None if line.keys is None else owners
    return ListedWindows(
        times, *(TimeLine.of_ascending(codes, of_group) for codes in (begins, lasts))
    )


def _numbered(counts: Array) -> tuple[Array, Array]:
    """Return the place of the group of each window, and the number of the window in the group."""
    place = np.repeat(np.arange(len(counts)), counts)
    return place, np.arange(len(place)) - np.repeat(np.cumsum(counts) - counts, counts)


def _of_calendar(
    times: TimeColumn, line: TimeLine, calendar: Any, check: Callable[[int], None]
) -> ListedWindows:
    if times.kind != "datetime":
        raise ValueError(
            f"{calendar.name}={calendar.value!r}: time={times.label!r} has dtype {times.dtype}: "
            "give a number"
        )
    groups, *ends = line.ranges
    begin, counts, every = calendar.periods(*(clock(codes, times) for codes in ends))
    check(int(counts.sum()))
    place, number = _numbered(counts)
    units = begin[place] + number * every
    begins = codes_of_units(units, calendar, times, end=False)
    lasts = codes_of_units(units + every, calendar, times, end=True)
    return _listed(times, line, groups[place], begins, lasts)


def _of_days(
    times: TimeColumn, line: TimeLine, window: Length, step: Length, check: Callable[[int], None],
    origin: Origin,
) -> ListedWindows:  # fmt: skip
    """Lay out windows a number of days apart, as clocks show them.

    A window of days, too, ends when clocks show the time of its start again.
    """
    if not is_days(step):
        raise ValueError(
            f"window={window.value!r} are days of the time zone of time={times.label!r}, which may "
            f"have 23 or 25 hours, and step={step.value!r} is no number of these: give the window "
            'in hours, such as "24h", or the step in days'
        )
    (groups, lowest, highest), unit = line.ranges, NANOSECONDS[times.unit]
    apart, width = times.amount(step) // unit, times.amount(window)
    first, last = (clock(codes, times).astype("int64") for codes in (lowest, highest))
    origins = origin.on_clocks(lowest, times)
    skipped = (first - origins) // apart - 1  # clocks go back: one more at either end is tried
    steps = (last - origins) // apart - skipped + 2
    check(int(steps.sum()))
    place, number = _numbered(steps)
    shown = origins[place] + (skipped[place] + number) * apart
    begins, following = (_at(shown + later, times) for later in (0, apart))
    kept = (begins <= highest[place]) & (following > lowest[place])
    if is_days(window):
        ends = _at(shown + width // unit, times) - 1
    else:
        ends = begins + (width - 1) // unit
    return _listed(times, line, groups[place[kept]], begins[kept], ends[kept])


def _at(shown: Array, times: TimeColumn) -> Array:
    return codes_of_clock(shown.view(f"datetime64[{times.unit}]"), times)


def _of_floats(
    times: TimeColumn, line: TimeLine, window: Length, step: Length, check: Callable[[int], None],
    origin: Origin,
) -> ListedWindows:  # fmt: skip
    """Lay out windows k, which begin at the float64 origin + k * step.

    They end at their start + window; if window and step are equal, where the next one begins, so
    that each time is in one window.
    """
    groups, *codes = line.ranges
    lowest, highest = map(floats_of_codes, codes)
    least = float(np.spacing(max(abs(lowest).max(initial=0), abs(highest).max(initial=0))))
    for length in (window, step):
        if times.amount(length) < least:
            raise ValueError(
                f"{length.name}={length.value!r} is below {least}, the distance of floats as large "
                f"as those of time={times.label!r}: subtract the first time"
            )
    width, apart = times.amount(window), times.amount(step)
    origins, skipped = lowest, np.zeros(len(lowest), "int64")
    if origin.value != "start":
        origins = np.full(len(lowest), float(min(max(origin.value, -FARTHEST), FARTHEST)))
        skipped = np.floor(lowest / apart - origins / apart)
        if not (abs(skipped) < MOST_STEPS).all():
            raise ValueError(
                f"origin={origin.given!r} is too many steps from time={times.label!r} for floats: "
                "give one that is nearer"
            )
        skipped = skipped.astype("int64") - 2
    steps = highest / apart - lowest / apart
    check(int(steps.sum()) + len(steps))
    # Rounding moves a start, and this estimate, by two steps.
    place, number = _numbered(steps.astype("int64") + (5 if origin.value == "start" else 9))
    number += skipped[place]
    with np.errstate(over="ignore"):
        starts = number * apart + origins[place]
        following = (number + 1) * apart + origins[place]
        ends = following if width == apart else starts + width
    kept = (starts <= highest[place]) & (following > lowest[place])
    begins, lasts = codes_of_floats(starts[kept]), codes_of_floats(ends[kept]) - 1
    return _listed(times, line, groups[place[kept]], begins, lasts)
