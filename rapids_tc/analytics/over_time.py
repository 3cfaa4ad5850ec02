"""Triangles over time: when they form, and how many the rows of each window have."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rapids_tc._typing import Array, Frame, Label, Length, Moment
from rapids_tc.analytics.analytic import analytic
from rapids_tc.blocks.quantities import ChangesByWindow
from rapids_tc.plan.record import Needs, OwnOptions, Result, Work
from rapids_tc.preparation import time_values
from rapids_tc.preparation.calendars import START, Calendar, check_origin, check_window
from rapids_tc.preparation.times import check_length

if TYPE_CHECKING:
    from rapids_tc.graphs.edge_graph import EdgeGraph


COUNTED = ("formed", "triangles")  # columns of the answer, beside the times
MOST = Work(Needs.SPANS, Result.TIMES, by_time=True)


def _check(own: OwnOptions) -> OwnOptions:
    window, step, origin = own["window"], own["step"], check_origin(own["origin"])
    for name, given in (("step", step is not None), ("origin", origin != START)):
        if window is None and given:
            raise ValueError(f"{name}= was given without window=: name the length of a window, too")
    time = own["time"]
    if isinstance(time, str) and time in COUNTED:
        raise ValueError(f"time={time!r}: the answer has another column of this name: rename it")
    if window is None:
        return {**own, "origin": origin}
    window = check_window(window)
    if isinstance(window, Calendar):
        for name, given in (("step", step is not None), ("origin", origin != START)):
            if given:
                raise ValueError(
                    f"window={window.value!r} follows the calendar, and takes no {name}=: leave it "
                    'out, or give a window of a fixed length, such as "7D"'
                )
    step = None if step is None else check_length("step", step)
    return {**own, "window": window, "step": step, "origin": origin}


def _fields(own: OwnOptions) -> tuple[str, ...]:
    named = [own["time"]] if isinstance(own["time"], Hashable) else []  # others are no label
    return (*named, *(COUNTED if own["window"] is None else COUNTED[1:]))


def _changes(time: Label, window: Any, step: Any, origin: Any) -> ChangesByWindow:
    reading = time_values.reading(time, window=window, step=step, origin=origin)
    return ChangesByWindow("changes", reading)


def _sums(own: OwnOptions) -> list[ChangesByWindow]:
    return [_changes(own["time"], own["window"], own["step"], own["origin"])]


def _work(own: OwnOptions) -> Work:
    return replace(MOST, by_time=own["window"] is None)


@analytic(
    MOST,
    fields=_fields,
    check=_check,
    sums=_sums,
    work=_work,
)
def triangles_over_time(
    graph: EdgeGraph,
    *,
    time: Label,
    window: Length | None = None,
    step: Length | None = None,
    origin: Moment = "start",
    memory_limit: int | None = None,
) -> Frame:
    """Count the triangles that form at each time, or the triangles of the rows in each window.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge and time.
    time : label
        A column of times: integers, floats or datetimes.
    window : number, str, Timedelta, timedelta or timedelta64, optional
        The length of a window: a number for times that are numbers, ``"1h"`` and the like for
        datetimes. By default there are no windows: triangles stay from the time at which they form.
        ``"W"``, ``"MS"``, ``"QS"`` and ``"YS"`` are weeks, months, quarters and years of the
        calendar, as in pandas (``"2W-MON"`` and ``"QE-NOV"``, too); ``"1D"`` is a day of the
        calendar, which may have 23 or 25 hours in the time zone of the column, and ``"24h"`` is 24
        hours.
    step : number, str, Timedelta, timedelta or timedelta64, optional
        From the start of a window to the start of the next; by default `window`. Windows overlap if
        it is shorter, and leave gaps if it is longer. Not with weeks, months, quarters and years.
    origin : {"start", "start_day", "epoch"}, timestamp or number, optional
        A moment at which a window begins, from which all are laid out: the earliest time, its
        midnight, the start of 1970 (both in the time zone of the column), or a moment that is
        given, a number for times that are numbers. The first window is the last one that begins at
        or before the earliest time.

    Returns
    -------
    DataFrame
        Without `window`, one row per distinct time of the rows, sorted:

        ========= ======= =================================================================
        `time`    as time the time, in a column of the same name
        formed    int64   triangles that form: whose last edge has its earliest row then
        triangles int64   triangles of all rows up to then
        ========= ======= =================================================================

        With `window`, one row per window, from that of the earliest time on, step by step, up to
        the last time:

        ========= ======= =================================================================
        `time`    as time the start t of the window [t, t + window); float64 for floats
        triangles int64   triangles of the rows in the window: what `count` gives on them
        ========= ======= =================================================================

        Self loops have times, too: the first and the last time of all rows count. With `by`, the
        columns of groups stand in front, and times and windows are of each group.

    Raises
    ------
    ColumnNotFoundError
        There is no column `time`.
    NullIdError
        A row has no time.
    ValueError
        `window` or `step` is not above 0, or no length of such times, or `origin` is none of
        these; `time` is a column of something else, or has infinite values. Other errors: see
        `Graph`.
    CapacityError
        There are more windows than memory holds.

    Notes
    -----
    Integers and datetimes are compared exactly. If the step is finer than the unit of datetimes,
    the answer has a finer unit; of dates, it has datetimes if the step is no whole number of days.
    For floats, a window begins at the float64 first + k * step, and ends at t + window, or where
    the next begins if `step` is `window`.

    Windows of datetimes have the rows that ``resample(window, origin=origin)`` of pandas puts
    together, and `t` is always the start of the window, which pandas shows by its end for weeks
    and for ``"ME"``: ``"W"`` begins on Mondays, and ``"ME"`` is ``"MS"``. Days of the calendar
    begin when clocks show the same time again, at the next moment where clocks skip it, and at the
    first where they show it twice; pandas begins them at midnight alone. Other lengths are fixed,
    and are laid out in UTC. With `by`, ``"start"`` and ``"start_day"`` are of each group.

    Cost: one sort of the rows by edge and time, and one pass over the triangles, as
    `edge_triangles`. It does not depend on the number of windows, however much they overlap: each
    triangle adds one to the window in which its edges meet, and takes one away behind the last.
    The times of a `Graph` come from the frame that it was made from.

    Temporal motifs differ from this: they count every choice of three rows, in order of time
    (Paranjape, Benson, Leskovec, "Motifs in temporal networks", 2017).

    See Also
    --------
    count : With ``time=, within=``, triangles whose edges are close in time.

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> df = pd.DataFrame({"src": [0, 1, 2, 2, 3], "dst": [1, 2, 0, 3, 0], "day": [1, 1, 2, 5, 6]})
    >>> tc.triangles_over_time(df, time="day")
       day  formed  triangles
    0    1       0          0
    1    2       1          1
    2    5       0          1
    3    6       1          2
    >>> tc.triangles_over_time(df, time="day", window=5, step=2)
       day  triangles
    0    1          1
    1    3          0
    2    5          0
    """
    quantity = _changes(time, window, step, origin)
    if memory_limit is not None:
        quantity = quantity.limited(memory_limit)
    [changes] = graph.summed(quantity)
    presence, backend = time_values.windows_of(changes.reading.readers[0]), graph.backend
    formed, by_window = changes.values[:-1], changes.values[:-1].cumsum()
    of_groups: dict[Any, Any] = {}
    if graph.groups is not None:
        owners = backend.xp.asarray(presence.owners)
        formed, of_groups = _formed(by_window, owners), graph.groups.group_columns(owners)
    columns = {time: presence.starts(backend), "formed": formed, "triangles": by_window}
    if window is not None:
        del columns["formed"]
    return backend.answer({**of_groups, **columns})


def _formed(by_window: Array, owners: Array) -> Array:
    """Return by how much the triangles of each window exceed those of the group's window before."""
    formed = by_window.copy()
    formed[1:] -= by_window[:-1] * (owners[1:] == owners[:-1])
    return formed
