"""Windows of the calendar, and windows from an origin on, against those of pandas' resample."""

from datetime import date, datetime
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

import rapids_tc as tc
from rapids_tc.executors.local import PartitionedFrame
from rapids_tc.plan.block_layout import BlockLayout, use_layout

ZONES = [None, "UTC", "America/New_York", "America/Havana", "Australia/Lord_Howe", "+05:30"]
UNITS = ["s", "ms", "us", "ns"]
PERIODS = ["W", "W-WED", "2W", "3W-MON", "MS", "5MS", "ME", "2ME", "QS", "2QS-FEB", "QE", "QE-NOV",
           "3QE-FEB", "YS", "YS-APR", "YE", "2YE-MAR"]  # fmt: skip
PARTS = [0, 1, 3]

# Few vertices, so that there are triangles; clocks change in March and November, and in April.
HOURS = st.lists(st.integers(-700, 9000), min_size=1, max_size=25)
NEAR = st.lists(st.integers(1700, 1950), min_size=1, max_size=25)  # clocks change in New York
ENDS = np.random.default_rng(0).integers(0, 4, (25, 2))


def frame_of(hours, zone=None, unit="ns", start="2023-12-25 00:40"):
    times = pd.Timestamp(start, tz="UTC") + pd.to_timedelta(sorted(hours), unit="h")
    times = times.tz_localize(None) if zone is None else times.tz_convert(zone)
    frame = pd.DataFrame(ENDS[: len(hours)], columns=["src", "dst"])
    frame = frame.assign(t=times.as_unit(unit))
    return frame.sample(frac=1, random_state=len(hours), ignore_index=True)


def count(rows):
    return reference.count(list(zip(rows["src"].tolist(), rows["dst"].tolist(), strict=True)))


def tuples(found):
    if isinstance(found, PartitionedFrame):
        found = pd.concat(found.partitions)
    return list(found.itertuples(index=False, name=None))


def everywhere(frame, way):
    """The answer in memory, in blocks, prepared, or of partitions, as rows."""

    def ask(**options):
        with use_layout(BlockLayout(*way[1:])) if way[1:] else use_layout(None):
            edges = frame
            if way[0] == "graph":
                edges, options = tc.Graph(frame, by=options.pop("by", None)), options
            elif way[0]:
                cuts = np.linspace(0, len(frame), way[0] + 1).astype(int)
                edges = PartitionedFrame([frame.iloc[a:b] for a, b in pairwise(cuts)])
            return tuples(tc.triangles_over_time(edges, time="t", **options))

    return ask


WAYS = st.sampled_from([(0,), ("graph",), (0, 2), (3,), (2, 2)])


def in_pandas(frame, freq, **options):
    """The labels of the windows of pandas, and the triangles of each."""
    zone = frame["t"].dt.tz
    if str(zone) == "America/Havana" and isinstance(
        freq, str
    ):  # where clocks skip a midnight, which pandas cannot add
        labels, counts = in_pandas(frame.assign(t=frame["t"].dt.tz_localize(None)), freq, **options)
        return moments(labels, zone), counts
    grouped = frame.sort_values("t").groupby(pd.Grouper(key="t", freq=freq, **options))
    left = grouped.size().index
    counts = [count(rows) for _, rows in grouped]
    assert sum(len(rows) for _, rows in grouped) == len(frame)
    return left, counts


def first_moments(labels, freq):
    """Where windows begin that pandas shows by their last day, or by their first."""
    offset = pd.tseries.frequencies.to_offset(freq)
    if freq.lstrip("0123456789").split("-")[0] not in ("W", "ME", "QE", "YE"):
        return list(labels)
    days = labels.tz_localize(None).normalize()
    begins = [day - offset + pd.Timedelta("1D") for day in days]
    index = pd.DatetimeIndex(begins).as_unit(labels.unit)
    return list(index if labels.tz is None else moments(index, labels.tz))


def moments(clock, zone):
    """When clocks of a zone show some times, the first of two moments, or the next there is."""
    ambiguous = np.ones(len(clock), bool)
    return clock.tz_localize(zone, ambiguous=ambiguous, nonexistent="shift_forward")


# Periods of the calendar --------------------------------------------------------------------------


@settings(max_examples=30)
@given(HOURS, st.sampled_from(PERIODS), st.sampled_from(ZONES), st.sampled_from(UNITS), WAYS)
def test_periods_have_the_rows_that_resample_puts_together(hours, freq, zone, unit, way):
    frame = frame_of(hours, zone, unit)
    labels, right = in_pandas(frame, freq)
    found = everywhere(frame, way)(window=freq)
    known = list(zip(first_moments(labels, freq), right, strict=True))
    assert found == [row for row in known if row[0] <= frame["t"].max()]
    assert not any(triangles for _, triangles in known[len(found) :])


@settings(max_examples=15)
@given(HOURS, st.sampled_from(PERIODS), st.sampled_from(ZONES), WAYS)
def test_periods_of_each_group(hours, freq, zone, way):
    frame = frame_of(hours, zone)
    frame["g"] = np.arange(len(frame)) * 7 % 3
    found = everywhere(frame, way)(window=freq, by="g")
    right = [
        (group, *row)
        for group, own in frame.groupby("g")
        for row in tuples(tc.triangles_over_time(own.drop(columns="g"), time="t", window=freq))
    ]
    assert found == right


def test_answers_keep_the_dtype_of_the_times(backend):
    frame = frame_of(range(0, 3000, 120))
    for dtype in ("datetime64[s]", "datetime64[ns, Europe/Paris]", "timestamp[us][pyarrow]"):
        values = frame["t"].dt.tz_localize("UTC") if "Paris" in dtype else frame["t"]
        edges = backend.frame(frame.assign(t=values.astype(dtype)))
        found = backend.to_pandas(tc.triangles_over_time(edges, time="t", window="MS"))
        assert found["t"].dtype == backend.to_pandas(edges)["t"].dtype
        assert found["t"].dt.day.eq(1).all() and found["t"].dt.hour.eq(0).all()


@pytest.mark.cpu_only
def test_dates_stay_dates():
    frame = pl.from_pandas(frame_of(range(0, 3000, 120))).with_columns(pl.col("t").cast(pl.Date))
    for options in ({"window": "W-TUE"}, {"window": "2D", "origin": date(2020, 1, 1)}):
        assert tc.triangles_over_time(frame, time="t", **options).schema["t"] == pl.Date
    noon = tc.triangles_over_time(frame, time="t", window="1D", origin="2020-01-01 12:00")
    assert noon.schema["t"].is_temporal() and noon.schema["t"] != pl.Date
    assert noon["t"].dt.hour().unique().to_list() == [12]


def test_known_weeks_and_months(backend):
    days = ["2024-01-31", "2024-02-01", "2024-02-04", "2024-02-05"]  # a Sunday, a Monday
    frame = pd.DataFrame({"src": [0, 1, 2, 5], "dst": [1, 2, 0, 6], "t": pd.to_datetime(days)})
    edges = backend.frame(frame)
    known = {
        "W": [("2024-01-29", 1), ("2024-02-05", 0)],
        "W-SAT": [("2024-01-28", 0), ("2024-02-04", 0)],
        "1w": [("2024-01-29", 1), ("2024-02-05", 0)],
        "MS": [("2024-01-01", 0), ("2024-02-01", 0)],
        "2MS": [("2024-01-01", 1)],
        "2ME": [("2023-12-01", 0), ("2024-02-01", 0)],
        "QS": [("2024-01-01", 1)],
        "YE-JAN": [("2023-02-01", 0), ("2024-02-01", 0)],
    }
    for window, right in known.items():
        found = backend.to_pandas(tc.triangles_over_time(edges, time="t", window=window))
        assert tuples(found) == [(pd.Timestamp(day), triangles) for day, triangles in right], window


# Days of a time zone, and origins -----------------------------------------------------------------


@settings(max_examples=20)
@given(NEAR, st.sampled_from(ZONES), st.sampled_from(UNITS), st.integers(1, 4), WAYS)
def test_days_begin_at_midnight_as_those_of_resample(hours, zone, unit, days, way):
    frame = frame_of(hours, zone, unit)
    labels, right = in_pandas(frame, f"{days}D")
    found = everywhere(frame, way)(window=f"{days}D", origin="start_day")
    known = list(zip(labels, right, strict=True))
    assert found == known[: len(found)]
    assert not any(triangles for _, triangles in known[len(found) :])
    assert len(found) == sum(label <= frame["t"].max() for label in labels)


def test_a_day_has_as_many_hours_as_clocks_show():
    times = ["2024-03-09 00:00", "2024-03-10 09:00", "2024-03-10 23:00", "2024-03-11 00:00"]
    frame = pd.DataFrame({"src": [0, 0, 1, 2], "dst": [1, 1, 2, 0], "t": pd.to_datetime(times)})
    frame["t"] = frame["t"].dt.tz_localize("America/New_York")
    days = tuples(tc.triangles_over_time(frame, time="t", window="1D", origin="start_day"))
    assert [day.isoformat() for day, _ in days] == [
        "2024-03-09T00:00:00-05:00", "2024-03-10T00:00:00-05:00", "2024-03-11T00:00:00-04:00",
    ]  # fmt: skip
    assert [triangles for _, triangles in days] == [0, 0, 0]
    hours = tuples(tc.triangles_over_time(frame, time="t", window="24h", origin="start_day"))
    assert [day.isoformat() for day, _ in hours] == [
        "2024-03-09T00:00:00-05:00", "2024-03-10T00:00:00-05:00",
    ]  # fmt: skip
    assert [triangles for _, triangles in hours] == [0, 1]


def test_a_day_begins_at_the_first_of_two_moments():
    times = ["2024-11-02 12:00", "2024-11-03 05:20", "2024-11-03 05:45", "2024-11-03 06:45"]
    frame = pd.DataFrame({"src": [0, 0, 1, 2], "dst": [1, 1, 2, 0], "t": pd.to_datetime(times)})
    frame["t"] = frame["t"].dt.tz_localize("UTC").dt.tz_convert("America/New_York")
    origin = pd.Timestamp("2024-10-20 01:30", tz="America/New_York")
    days = tuples(tc.triangles_over_time(frame, time="t", window="1D", origin=origin))
    assert [day.isoformat() for day, _ in days] == [
        "2024-11-02T01:30:00-04:00", "2024-11-03T01:30:00-04:00",
    ]  # fmt: skip


def test_numbers_count_from_the_origin_on(backend):
    rows = [(0, 1, 6), (1, 2, 8), (2, 0, 9), (0, 1, 10), (1, 2, 11), (2, 0, 14)]
    edges = backend.frame(pd.DataFrame(rows, columns=["src", "dst", "t"]))
    for origin, right in [
        (0, [(5, 1), (10, 1)]),
        (-4, [(6, 1), (11, 0)]),
        (101, [(6, 1), (11, 0)]),
        (3, [(3, 0), (8, 1), (13, 0)]),
    ]:
        found = tc.triangles_over_time(edges, time="t", window=5, origin=origin)
        assert tuples(backend.to_pandas(found)) == right


def by_clock(frame, first, step, window):
    """(start, triangles) by the definition: starts are `step` days apart on the clock."""
    times, zone, result, k = frame["t"], frame["t"].dt.tz, [], 0

    def moment(clock):
        stamp = pd.Timestamp(clock)
        return stamp.tz_localize(zone, ambiguous=True, nonexistent="shift_forward")

    while moment(first + k * step) > times.min():
        k -= 1
    while moment(first + (k + 1) * step) <= times.min():
        k += 1
    while (start := moment(first + k * step)) <= times.max():
        end = moment(first + k * step + window) if isinstance(window, Days) else start + window
        inside = frame[(times >= start) & (times < end)]
        result.append((start, count(inside)))
        k += 1
    return result


class Days(pd.DateOffset):
    """Days of the calendar, not so many hours."""


@settings(max_examples=20)
@given(
    hours=NEAR,
    zone=st.sampled_from(ZONES[2:5]),
    days=st.tuples(st.integers(1, 5), st.integers(1, 5)),
    origin=st.sampled_from(["start", "start_day", "epoch", "2024-03-10 02:30", "2023-11-05 01:30"]),
    way=WAYS,
)
def test_days_from_an_origin_on(hours, zone, days, origin, way):
    frame = frame_of(hours, zone)
    first, given_origin = frame["t"].min().tz_localize(None), origin
    if origin == "start_day":
        first = first.normalize()
    elif origin == "epoch":
        first = pd.Timestamp("1970-01-01")
    elif origin != "start":
        first = pd.Timestamp(origin)
        given_origin = first.tz_localize(zone, ambiguous=True, nonexistent="shift_forward")
        first = given_origin.tz_localize(None)
    window, step = days
    found = everywhere(frame, way)(window=f"{window}D", step=f"{step}D", origin=given_origin)
    assert found == by_clock(frame, first, Days(days=step), Days(days=window))
    found = everywhere(frame, way)(window="7h", step=f"{step}D", origin=given_origin)
    assert found == by_clock(frame, first, Days(days=step), pd.Timedelta("7h"))


@settings(max_examples=30)
@given(
    hours=NEAR,
    zone=st.sampled_from(ZONES),
    unit=st.sampled_from(UNITS),
    window=st.sampled_from(["7h", "36h", "90min", "1000s", "24h"]),
    origin=st.sampled_from(["start", "start_day", "epoch", "2024-03-10 06:30:00.25"]),
    way=WAYS,
)
def test_fixed_lengths_from_an_origin_on(hours, zone, unit, window, origin, way):
    frame = frame_of(hours[:6] if window in ("90min", "1000s") else hours, zone, unit)
    if window in ("90min", "1000s"):
        near = frame["t"].min() + (frame["t"] - frame["t"].min()) / 20
        frame["t"] = near.dt.floor("s").astype(frame["t"].dtype)
    if "2024" in origin:  # pandas cuts an origin off that is finer than the times
        origin = pd.Timestamp(origin[: 19 if unit == "s" else None], tz=zone)
    labels, right = in_pandas(frame, pd.Timedelta(window), origin=origin)
    known = list(zip(labels, right, strict=True))
    found = everywhere(frame, way)(window=window, origin=origin)
    assert found == known[: len(found)]
    assert not any(triangles for _, triangles in known[len(found) :])
    assert len(found) == sum(label <= frame["t"].max() for label in labels)


@settings(max_examples=25)
@given(
    rows=st.lists(st.tuples(*[st.integers(0, 4)] * 2, st.integers(-20, 30)), min_size=1),
    widths=st.tuples(st.integers(1, 9), st.integers(1, 9)),
    origin=st.integers(-1000, 1000),
    kind=st.sampled_from(["int8", "int64", "Int32", "uint64", "float64", "int64[pyarrow]"]),
    way=WAYS,
)
def test_numbers_from_an_origin_on(rows, widths, origin, kind, way):
    window, step = widths
    shift = 40 if kind == "uint64" else 0
    origin = max(origin, -1000) if kind != "int8" else origin % 60 - 30
    frame = pd.DataFrame(rows, columns=["src", "dst", "t"])
    frame["t"] += shift
    right = reference.triangles_over_time(
        list(frame.itertuples(index=False, name=None)), window=window, step=step, origin=origin
    )
    scale = 0.25 if kind == "float64" else 1
    frame["t"] = (frame["t"] * scale).astype(kind)
    found = everywhere(frame, way)(window=window * scale, step=step * scale, origin=origin * scale)
    assert found == [(start * scale, triangles) for start, triangles in right]


def test_the_step_is_from_the_origin_on(backend):
    frame = frame_of(range(0, 300, 12))
    edges = backend.frame(frame)
    found = tc.triangles_over_time(edges, time="t", window="48h", step="24h", origin="start_day")
    starts = pd.date_range("2023-12-25", frame["t"].max(), freq="24h")
    right = [
        count(frame[(frame["t"] >= start) & (frame["t"] < start + pd.Timedelta("48h"))])
        for start in starts
    ]
    assert tuples(backend.to_pandas(found)) == list(zip(starts, right, strict=True))
    found = tc.triangles_over_time(edges, time="t", window="2h", origin=datetime(2024, 1, 1, 1))
    assert backend.to_pandas(found)["t"][0] == pd.Timestamp("2023-12-24 23:00")


# What is refused ----------------------------------------------------------------------------------

FRAME = frame_of(range(20))
NEW_YORK = frame_of(range(20), "America/New_York")
NUMBERS = FRAME.assign(t=np.arange(20))
BYTES = FRAME.assign(t=np.arange(20, dtype="uint8"))
REFUSED = [
    (FRAME, {"origin": "epoch"}, "origin= was given without window="),
    (FRAME, {"window": "MS", "step": "1D"}, "window='MS' follows the calendar, and takes no step="),
    (FRAME, {"window": "1W", "step": "1D"}, 'a window of a fixed length, such as "7D"'),
    (FRAME, {"window": "QS", "origin": "epoch"}, "follows the calendar, and takes no origin="),
    (FRAME, {"window": "MS-JAN"}, "window='MS-JAN': accepted are"),
    (FRAME, {"window": "W-JAN"}, "window='W-JAN': accepted are"),
    (FRAME, {"window": "0W"}, "window='0W': accepted are"),
    (FRAME, {"window": "1M"}, "window='1M'; accepted: "),
    (FRAME, {"window": "BMS"}, "window='BMS'; accepted: "),
    (FRAME, {"window": pd.offsets.MonthBegin()}, "accepted: .*text such as \"W\", \"MS\""),
    (NUMBERS, {"window": "MS"}, "window='MS': time='t' has dtype int64: give a number"),
    (FRAME, {"window": "1h", "origin": "end"}, "origin='end'; accepted: \"start\", \"start_day\""),
    (FRAME, {"window": "1h", "origin": True}, "origin=True; accepted: "),
    (FRAME, {"window": "1h", "origin": float("nan")}, "origin=nan; accepted: "),
    (FRAME, {"window": "1h", "origin": pd.NaT}, "origin=NaT; accepted: "),
    (FRAME, {"window": "1h", "origin": 5}, "origin=5: time='t' has dtype .*: give a timestamp"),
    (NUMBERS, {"window": 5, "origin": "epoch"}, "origin='epoch': .*int64: give a number"),
    (NUMBERS, {"window": 5, "origin": 0.5}, "origin=0.5: .*int64: give a whole number"),
    (BYTES, {"window": 5, "origin": -3}, "a window begins before the least uint8"),
    (NUMBERS.assign(t=1.0), {"window": 5, "origin": 1e300}, "too many steps from time='t'"),
    (FRAME, {"window": "1h", "origin": pd.Timestamp("2024", tz="UTC")}, "or both without"),
    (NEW_YORK, {"window": "1h", "origin": "2024-01-01"}, "an origin with a time zone, or both"),
    (NEW_YORK, {"window": "1D", "step": "6h"}, "may have 23 or 25 hours, and step='6h' is no"),
    (NEW_YORK.assign(t=NEW_YORK["t"].dt.as_unit("s")),
     {"window": "1D", "origin": pd.Timestamp("2024-01-01 00:00:00.5", tz="UTC")}, "is finer than"),
    (FRAME.assign(t=pd.Timestamp.min), {"window": "YS"}, "begins before the first datetime of the"),
]  # fmt: skip


@pytest.mark.cpu_only
@pytest.mark.parametrize(("frame", "options", "words"), REFUSED)
def test_what_is_refused(frame, options, words):
    for way in ((0,), (0, 2), (2,)):
        with pytest.raises(ValueError, match=words):
            everywhere(frame, way)(**options)


def test_the_last_window_may_end_behind_all_datetimes():
    frame = FRAME.assign(t=pd.Timestamp.max)
    [(start, triangles)] = tuples(tc.triangles_over_time(frame, time="t", window="YS"))
    assert (start, triangles) == (pd.Timestamp("2262-01-01"), count(frame))


def test_more_periods_than_memory_holds():
    far = FRAME.assign(t=FRAME["t"].dt.as_unit("s"))
    far.loc[0, "t"] = pd.Timestamp(np.datetime64("4000-01-01", "s"))
    with pytest.raises(tc.CapacityError, match=r"23,7\d\d windows take about"):
        tc.triangles_over_time(far, time="t", window="MS", memory_limit=9 * 10**5)
    assert len(tc.triangles_over_time(far, time="t", window="YS", memory_limit=9 * 10**5)) == 1978
