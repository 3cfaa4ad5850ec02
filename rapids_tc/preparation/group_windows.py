"""Windows of time of every group of rows: those of a group begin at its own first time.

The windows of all groups follow one another, so that a row of a group is in consecutive windows,
and a triangle, whose edges are of one group, never meets the windows of another.

First each part of the rows is summarized: what times its groups have. All summaries make a
`GroupPresence`, which finds the windows of any rows, again part by part.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.preparation.spans import MOST_WINDOWS, Formation, Windows

if TYPE_CHECKING:
    from collections.abc import Callable

    from rapids_tc._typing import Array, Series
    from rapids_tc.frames.backend import Backend
    from rapids_tc.preparation.spans import Presence
    from rapids_tc.preparation.times import TimeRange

Summary = list[Any]  # arrays in the memory of the host: keys, or groups with two times of each
LOW_BITS = 2**32 - 1


def summarize(presence: Presence, times: Array, groups: Array, backend: Backend) -> Summary:
    """Summarize some rows, from the time and the group of each.

    `presence` says in which windows rows would be if all were one group; its reader reads `times`.
    """
    if isinstance(presence, Formation):
        return [backend.host(backend.xp.unique(_keys(presence, times, groups, backend.xp)))]
    library = backend.library
    by_group = library.Series(times).groupby(library.Series(groups))
    least, most = by_group.min(), by_group.max()
    return [backend.host(backend.array(part)) for part in (least.index, least, most)]


def joined(
    presence: Presence, summaries: list[Summary], groups: int, check: Callable[[int], None]
) -> GroupPresence:
    """Return the windows of so many groups, from the summaries of all their rows.

    `check` receives the number of windows before they are made.
    """
    columns = [np.concatenate(parts) for parts in zip(*summaries, strict=True)]
    if isinstance(presence, Formation):
        return FormationOfGroups(presence, groups, np.unique(columns[0]))
    present, least, most = columns
    start = (np.inf, -np.inf) if presence.times.kind == "float" else (np.uint64(2**64 - 1), 0)
    lowest, highest = (np.full(groups, value, least.dtype) for value in start)
    np.minimum.at(lowest, present, least)
    np.maximum.at(highest, present, most)
    kind = WindowsOfFloats if presence.times.kind == "float" else WindowsOfTicks
    return kind.of_ranges(presence, lowest, highest, check)


def _keys(presence: Formation, times: Array, groups: Array, xp: Any) -> Array:
    """Return keys (uint64) group << 32 | place of the time among all distinct times."""
    place = xp.searchsorted(xp.asarray(presence.distinct), times).astype("uint64")
    return (groups.astype("uint64") << 32) | place


@dataclass(frozen=True)
class GroupPresence(ABC):
    """In which windows a row counts, if each group has windows of its own.

    A row is read as its first and its last window, in one number: see `pack`.

    Attributes
    ----------
    presence : Presence
        In which windows rows would be if all were one group.
    groups : int
        How many groups there are.
    """

    presence: Any
    groups: int

    @property
    def times(self) -> TimeRange:
        """The range of the times of all groups."""
        times: TimeRange = self.presence.times
        return times

    @property
    @abstractmethod
    def count(self) -> int:
        """The number of windows."""

    @abstractmethod
    def owners(self, xp: Any) -> Array:
        """Return the group (int64) of each window."""

    @abstractmethod
    def starts(self, backend: Backend) -> Series:
        """Return the time at which each window begins."""

    @abstractmethod
    def windows(self, times: Array, groups: Array, xp: Any) -> tuple[Array, Array]:
        """Return the first and the last window of some rows; first > last is none."""

    def pack(self, times: Array, groups: Array, xp: Any) -> Array:
        """Return the first window << 32 | the last one, uint64, of some rows."""
        first, last = self.windows(times, groups, xp)
        return (first.astype("uint64") << 32) | last.astype("uint64")

    def of(self, packed: Array, xp: Any) -> tuple[Array, Array]:
        """Return the first and the last window (uint32) of rows that are packed."""
        return (packed >> 32).astype("uint32"), (packed & LOW_BITS).astype("uint32")


@dataclass(frozen=True)
class FormationOfGroups(GroupPresence):
    """A window per distinct time of each group.

    Attributes
    ----------
    distinct : array of uint64
        The keys group << 32 | place of the time, ascending, in the memory of the host.
    """

    distinct: Array

    @property
    def count(self) -> int:
        """See `GroupPresence`."""
        return len(self.distinct)

    def owners(self, xp: Any) -> Array:
        """See `GroupPresence`."""
        return (xp.asarray(self.distinct) >> 32).astype("int64")

    def starts(self, backend: Backend) -> Series:
        """See `GroupPresence`."""
        places = (backend.xp.asarray(self.distinct) & LOW_BITS).astype("int64")
        starts: Series = self.presence.starts(backend).take(places).reset_index(drop=True)
        return starts

    def windows(self, times: Array, groups: Array, xp: Any) -> tuple[Array, Array]:
        """See `GroupPresence`."""
        distinct = xp.asarray(self.distinct)
        ends = xp.searchsorted(self.owners(xp), xp.arange(self.groups), side="right")
        return xp.searchsorted(distinct, _keys(self.presence, times, groups, xp)), ends[groups] - 1


@dataclass(frozen=True)
class _Laid(GroupPresence):
    """Windows that are laid out from the first time of each group on.

    Attributes
    ----------
    lowest, highest : array
        The first and the last time of each group, in the memory of the host.
    counts : array of int64
        How many windows each group has, in the memory of the host.
    """

    lowest: Array
    highest: Array
    counts: Array

    @property
    def count(self) -> int:
        """See `GroupPresence`."""
        return int(self.counts.sum())

    @cached_property
    def before(self) -> Array:
        """For each group, the number of windows of all earlier groups."""
        before: Array = np.cumsum(self.counts) - self.counts
        return before

    def owners(self, xp: Any) -> Array:
        """See `GroupPresence`."""
        return xp.asarray(np.repeat(np.arange(self.groups), self.counts))


@dataclass(frozen=True)
class WindowsOfTicks(_Laid):
    """Windows of times that are integers or datetimes, which are compared exactly."""

    @classmethod
    def of_ranges(
        cls, presence: Windows, lowest: Array, highest: Array, check: Callable[[int], None]
    ) -> WindowsOfTicks:
        """Lay the windows of all groups out, from the first and the last time of each."""
        counts, present = np.zeros(len(lowest), "int64"), lowest <= highest
        counts[present] = presence.counts((highest - lowest)[present])
        check(int(counts.sum()))
        return cls(presence, len(lowest), lowest, highest, counts)

    def starts(self, backend: Backend) -> Series:
        """See `GroupPresence`."""
        owners, xp = self.owners(np), backend.xp
        numbers = np.arange(len(owners)) - self.before[owners]
        ticks = xp.asarray(self.lowest[owners])
        starts: Series = self.presence.starts(backend, xp.asarray(numbers), ticks)
        return starts

    def windows(self, times: Array, groups: Array, xp: Any) -> tuple[Array, Array]:
        """See `GroupPresence`."""
        lowest, before = xp.asarray(self.lowest), xp.asarray(self.before)[groups]
        first, last = self.presence.of(times - lowest[groups], xp)
        return first.astype("int64") + before, last.astype("int64") + before


@dataclass(frozen=True)
class WindowsOfFloats(_Laid):
    """Windows of times that are floats: starts are rounded in each group as `Windows` says."""

    @classmethod
    def of_ranges(
        cls, presence: Windows, lowest: Array, highest: Array, check: Callable[[int], None]
    ) -> WindowsOfFloats:
        """Lay the windows of all groups out, from the first and the last time of each."""
        groups = np.flatnonzero(lowest <= highest)
        counts, last = np.zeros(len(lowest), "int64"), highest[groups]
        laid = cls(presence, len(lowest), lowest, highest, counts)
        most = np.full(len(groups), MOST_WINDOWS + 1)
        counts[groups] = _hold(
            laid._steps(last, groups, np), most, lambda k: laid._start(k, groups, np) <= last, np
        )
        check(int(counts.sum()))
        return laid

    def _start(self, windows: Array, groups: Array, xp: Any) -> Array:
        """Return where windows begin, by their numbers in their groups."""
        starts = windows.astype("float64")
        starts *= self.presence.amounts[1]
        starts += xp.asarray(self.lowest)[groups]
        return starts

    def _steps(self, times: Array, groups: Array, xp: Any) -> Array:
        """Return how many steps times are past the first of their groups, but for rounding."""
        step = self.presence.amounts[1]
        return times / step - xp.asarray(self.lowest)[groups] / step

    def starts(self, backend: Backend) -> Series:
        """See `GroupPresence`."""
        owners = self.owners(np)
        starts = self._start(np.arange(len(owners)) - self.before[owners], owners, np)
        return backend.library.Series(backend.xp.asarray(starts))

    def windows(self, times: Array, groups: Array, xp: Any) -> tuple[Array, Array]:
        """See `GroupPresence`."""
        window, step = self.presence.amounts
        counts, before = (xp.asarray(of_all)[groups] for of_all in (self.counts, self.before))

        def has_begun(k: Array) -> Array:
            return self._start(k, groups, xp) <= times

        def has_ended(k: Array) -> Array:
            if window == step:
                return has_begun(k + 1)
            return self._start(k, groups, xp) + window <= times

        steps = self._steps(times, groups, xp)
        first = _hold(steps - window / step, counts, has_ended, xp)
        return first + before, _hold(steps, counts, has_begun, xp) - 1 + before


def _hold(estimate: Array, most: Array, holds: Callable[[Array], Array], xp: Any) -> Array:
    """Return how many of the numbers 0, 1, … `most` - 1 hold: the first ones, about `estimate`."""
    count = xp.clip(estimate, 0, most).astype("int64")
    while bool((more := (count < most) & holds(count)).any()):
        count += more
    while bool((fewer := (count > 0) & ~holds(count - 1)).any()):
        count -= fewer
    return count
