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
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from rapids_tc._typing import Array, Series
    from rapids_tc.frames.backend import Backend
    from rapids_tc.preparation.times import Length, TimeColumn, TimeLine

MOST_WINDOWS = 2**32 - 1  # one past the last is a uint32, too
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
