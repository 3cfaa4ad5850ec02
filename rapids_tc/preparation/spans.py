"""Times of rows → the windows in which each edge is present, as intervals of windows.

A *presence* says in which windows a row counts: windows may be intervals of time that the user
asks for, `Formation` begins at the row's time and never ends, `Reach` and `TickReach` last as long
as `within=`.
Windows have numbers from 0 on, and a row is in consecutive ones. If a graph has groups, the windows
of each follow those of the group before, so that a triangle, whose edges are of one group, never
meets the windows of another. Times are the codes of `rapids_tc.preparation.times`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from math import gcd
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.errors import CapacityError
from rapids_tc.frames.backend import sum64
from rapids_tc.kernels import time_spans
from rapids_tc.preparation.csr import pack_keys
from rapids_tc.preparation.times import (
    DAY,
    KINDS,
    LOW_BITS,
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
ABSENT = np.uint64(1 << 32)  # the first window and the last, in halves, of what is in none
MOST_EDGES = 2**32  # while intervals are merged, a key is an edge and a window, 32 bits each
Intervals = tuple[Any, Any, Any]  # first and last window of each interval; offsets by edge or None
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


# Intervals of edges -------------------------------------------------------------------------------


def merged(edges: Array, windows: Array, size: int, backend: Backend) -> Intervals:
    """Merge the windows of all rows of each edge into disjoint ascending intervals.

    Most edges have one row. Each row writes its windows at its edge, and what is not found there
    afterwards is of an edge that has more: the rows of such edges alone are sorted.

    Parameters
    ----------
    edges : array of int64
        The edge of each row, below `size`; -1 for a self loop.
    windows : array of uint64
        The first window of each row, in the upper half, and the last. A row whose first is larger
        is in none.

    Returns
    -------
    first, last : array of uint32
        All intervals, by edge, of which each has one at least: an empty one (first > last) if it
        is in no window.
    offsets : array of int64, shape (size + 1,), or None
        Where the intervals of each edge begin; None if no edge has two.
    """
    _require_keys(size)
    xp = backend.xp
    of_edges = xp.full(size, ABSENT, "uint64")
    edges, windows = _write(edges, windows, of_edges, backend)
    if not len(edges):
        return (*_halves(of_edges), None)
    windows = xp.concatenate([windows, of_edges[edges]])
    edges, windows = _united(xp.concatenate([edges, edges]), windows, xp)
    begins = _are_first(edges, xp)
    if sum64(begins) == len(begins):
        of_edges[edges] = windows
        return (*_halves(of_edges), None)
    offsets, places = _places(size, edges, begins, xp)
    return (*_halves(_laid(of_edges, windows, offsets, places, xp)), offsets)


def coded(
    edges: Array, windows: Array, codes: Array, size: int, backend: Backend
) -> tuple[Intervals, Array]:
    """Cut the windows of all rows of each edge where the codes of the rows in them change.

    As in `merged`, the rows of edges that have several are sorted, and no others.

    Parameters
    ----------
    edges, windows
        See `merged`.
    codes : array of uint8
        The code of each row; a row of code 0 is in no window.

    Returns
    -------
    intervals
        See `merged`; an interval may begin where another of the edge ends.
    codes : array of uint8
        For each interval, the bits of the codes of all rows that are present in it.
    """
    _require_keys(size)
    xp = backend.xp
    first, last = _halves(windows)
    present = (first <= last) & (codes > 0)
    if sum64(present) < len(present):
        edges, windows, codes = edges[present], windows[present], codes[present]
    del first, last, present
    of_edges, codes_of = xp.full(size, ABSENT, "uint64"), xp.zeros(size, "uint8")
    of_edges[edges], codes_of[edges] = windows, codes
    several = xp.zeros(size, bool)
    several[edges[(of_edges[edges] != windows) | (codes_of[edges] != codes)]] = True
    rows = xp.flatnonzero(several[edges])
    del several
    if not len(rows):
        return (*_halves(of_edges), None), codes_of
    edges, windows, codes = _cut(edges[rows], windows[rows], codes[rows], xp)
    begins = _are_first(edges, xp)
    if sum64(begins) == len(begins):
        of_edges[edges], codes_of[edges] = windows, codes
        return (*_halves(of_edges), None), codes_of
    offsets, places = _places(size, edges, begins, xp)
    laid = _laid(of_edges, windows, offsets, places, xp)
    return (*_halves(laid), offsets), _laid(codes_of, codes, offsets, places, xp)


def _cut(edges: Array, windows: Array, codes: Array, xp: Any) -> tuple[Array, Array, Array]:
    """Return the intervals of `coded` of some edges, by edge and ascending, and their codes."""
    by_bit, bounds = {}, []
    for bit in range(8):
        rows = xp.flatnonzero(codes >> bit & 1)
        if len(rows):
            of_bit, present = _united(edges[rows], windows[rows], xp)
            first, last = _halves(present)
            starts, behind = pack_keys(of_bit, first, xp), pack_keys(of_bit, last, xp) + 1
            by_bit[bit] = starts, behind
            bounds += [starts, behind]
    cuts = xp.concatenate(bounds)
    del bounds
    cuts.sort()
    cuts = cuts[_are_first(cuts, xp)]
    found = xp.zeros(len(cuts), "uint8")
    for bit, (starts, behind) in by_bit.items():
        begun = xp.searchsorted(starts, cuts, side="right")
        ended = xp.searchsorted(behind, cuts, side="right")
        found |= (begun > ended).astype("uint8") << bit
    place = xp.flatnonzero(found)  # behind the last window of an edge no row is present
    starts, ends = cuts[place], cuts[place + 1] - 1
    return (starts >> 32).astype("int64"), starts << 32 | ends & LOW_BITS, found[place]


def _are_first(sorted_values: Array, xp: Any) -> Array:
    """Return whether each of some sorted values is the first of its kind."""
    first = xp.ones(len(sorted_values), bool)
    first[1:] = sorted_values[1:] != sorted_values[:-1]
    return first


def _require_keys(size: int) -> None:
    """Raise CapacityError if there are more edges than keys of an edge and a window tell apart."""
    if size > MOST_EDGES:
        raise CapacityError(f"{size:,} edges; times are kept of at most {MOST_EDGES:,}")


def _write(edges: Array, windows: Array, of_edges: Array, backend: Backend) -> tuple[Array, Array]:
    """Write the windows of a row at each edge; return edges and windows of rows that find others.

    A GPU does it in one pass.
    """
    xp = backend.xp
    if backend.engine != "cpu":
        others = time_spans.write_windows(backend.compile, xp, edges, windows, of_edges)
    else:
        first, last = _halves(windows)
        present = (first <= last) & (edges >= 0)
        if sum64(present) < len(present):
            edges, windows = edges[present], windows[present]
        of_edges[edges] = windows
        others = of_edges[edges] != windows
    rows = xp.flatnonzero(others)
    return edges[rows], windows[rows]


def _halves(windows: Array) -> tuple[Array, Array]:
    """Return the first windows and the last: in memory, the lower half of a word comes first."""
    words = windows.view("uint32")
    return words[1::2].copy(), words[::2].copy()


def _united(edges: Array, windows: Array, xp: Any) -> tuple[Array, Array]:
    """Return disjoint intervals of the same windows, by edge and ascending, and their edges."""
    first, last = _halves(windows)
    starts, ends = pack_keys(edges, first, xp), pack_keys(edges, last, xp)
    del edges, first, last, windows
    starts.sort()
    ends.sort()
    ends += 1
    # A gap follows the i-th start if the next start is later than the i-th end, of any row.
    begins = xp.ones(len(starts), bool)
    begins[1:] = starts[1:] > ends[:-1]  # of another edge, too: ends are below 2**32
    lasts = xp.ones(len(ends), bool)
    lasts[:-1] = begins[1:]  # an interval ends where the next one begins
    starts, ends = starts[begins], ends[lasts] - 1
    return (starts >> 32).astype("int64"), starts << 32 | ends & LOW_BITS


def _places(size: int, edges: Array, begins: Array, xp: Any) -> tuple[Array, Array]:
    """Return where the intervals of each edge begin, and the places of those of some edges.

    Parameters
    ----------
    size : int
        How many edges there are. The others have one interval each.
    edges : array
        The edge of each interval, ascending.
    begins : array of bool
        Whether each of them is the first of its edge.
    """
    own_begin = xp.flatnonzero(begins)
    sizes = xp.full(len(own_begin), len(edges), "int64")
    sizes[:-1] = own_begin[1:]
    sizes -= own_begin
    offsets = xp.ones(size + 1, "int64")
    offsets[0] = 0
    offsets[edges[own_begin] + 1] = sizes
    offsets = xp.cumsum(offsets)
    owner = xp.cumsum(begins, dtype="int64") - 1
    return offsets, offsets[edges] + xp.arange(len(edges)) - own_begin[owner]


def _laid(of_edges: Array, of_some: Array, offsets: Array, places: Array, xp: Any) -> Array:
    """Return what is known of all intervals: one of each edge, and at their `places` of some."""
    laid = xp.empty(int(offsets[-1]), of_edges.dtype)
    laid[offsets[:-1]] = of_edges
    laid[places] = of_some
    return laid
