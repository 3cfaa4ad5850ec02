"""Windows of time of every group of rows: those of a group begin at its own first time.

The windows of all groups follow one another, so that a row of a group is in consecutive windows,
and a triangle, whose edges are of one group, never meets the windows of another.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rapids_tc.preparation.spans import Formation, Windows

if TYPE_CHECKING:
    from collections.abc import Callable

    from rapids_tc._typing import Array, Series
    from rapids_tc.frames.backend import Backend
    from rapids_tc.preparation.spans import Presence


@dataclass(frozen=True)
class GroupWindows:
    """The windows of all groups, one group after another.

    Attributes
    ----------
    first, last : arrays of int64
        The first and the last window of each row; a row whose first is larger is in none.
    group : array of int64
        The group of each window.
    starts : Series
        The time at which each window begins.
    """

    first: Array
    last: Array
    group: Array
    starts: Series

    @property
    def count(self) -> int:
        """The number of windows."""
        return len(self.group)


def windows_of_groups(
    presence: Presence,
    times: Array,
    groups: Array,
    size: int,
    backend: Backend,
    check: Callable[[int], None],
) -> GroupWindows:
    """Return the windows of `size` groups, from the time and the group of each row.

    `presence` says in which windows rows would be if all were one group; its reader reads `times`.
    `check` receives the number of windows before they are made.
    """
    if isinstance(presence, Formation):
        return _formation(presence, times, groups, size, backend)
    if presence.times.kind == "float":
        return _of_floats(presence, times, groups, size, backend, check)
    return _of_ticks(presence, times, groups, size, backend, check)


def _formation(
    presence: Formation, times: Array, groups: Array, size: int, backend: Backend
) -> GroupWindows:
    """Return a window per distinct time of each group."""
    xp = backend.xp
    place = xp.searchsorted(xp.asarray(presence.distinct), times).astype("uint64")
    keys = (groups.astype("uint64") << 32) | place
    distinct = xp.unique(keys)
    group = (distinct >> 32).astype("int64")
    ends = xp.searchsorted(group, xp.arange(size), side="right")
    starts = presence.starts(backend).take((distinct & 0xFFFFFFFF).astype("int64"))
    first = xp.searchsorted(distinct, keys)
    return GroupWindows(first, ends[groups] - 1, group, starts.reset_index(drop=True))


def _of_ticks(
    presence: Windows,
    ticks: Array,
    groups: Array,
    size: int,
    backend: Backend,
    check: Callable[[int], None],
) -> GroupWindows:
    """Return the windows of times that are integers or datetimes, which are compared exactly."""
    xp, library = backend.xp, backend.library
    by_group = library.Series(ticks).groupby(library.Series(groups))
    lowest, extent = xp.zeros(size, "uint64"), xp.zeros(size, "uint64")
    least, most = by_group.min(), by_group.max()
    present = backend.array(least.index)
    lowest[present] = backend.array(least)
    extent[present] = backend.array(most) - backend.array(least)
    windows = xp.zeros(size, "int64")
    windows[present] = presence.counts(extent[present])
    check(int(windows.sum()))
    group = xp.repeat(xp.arange(size), windows)
    before = xp.cumsum(windows) - windows
    first, last = (ends.astype("int64") for ends in presence.of(ticks - lowest[groups], xp))
    number = xp.arange(len(group)) - before[group]
    starts = presence.starts(backend, number, lowest[group])
    return GroupWindows(first + before[groups], last + before[groups], group, starts)


def _of_floats(
    presence: Windows,
    times: Array,
    groups: Array,
    size: int,
    backend: Backend,
    check: Callable[[int], None],
) -> GroupWindows:
    """Return the windows of times that are floats, group by group, since starts are rounded."""
    xp, host, before = backend.xp, backend.host, 0
    order = xp.argsort(groups, kind="stable")
    bounds = host(xp.searchsorted(groups[order], xp.arange(size + 1))).tolist()
    first, last = xp.zeros(len(times), "int64"), xp.zeros(len(times), "int64")
    owners: list[Any] = [xp.zeros(0, "int64")]
    starts: list[Any] = [xp.zeros(0, "float64")]
    for group in range(size):
        rows = order[bounds[group] : bounds[group + 1]]
        if not len(rows):
            continue
        of_group = times[rows]
        span = replace(presence.times, first=float(of_group.min()), last=float(of_group.max()))
        windows = Windows(span, presence.window, presence.step)
        check(before + windows.count)
        for result, places in zip((first, last), windows.of(of_group, xp), strict=True):
            result[rows] = places.astype("int64") + before
        owners.append(xp.full(windows.count, group))
        starts.append(backend.array(windows.starts(backend)))
        before += windows.count
    all_starts = backend.library.Series(xp.concatenate(starts))
    return GroupWindows(first, last, xp.concatenate(owners), all_starts)
