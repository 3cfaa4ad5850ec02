"""Times of rows as windows: every width and unit, without rounding; and merged intervals."""

from datetime import timedelta
from fractions import Fraction
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from emulator_support import SEEDS, compiler
from hypothesis import given
from hypothesis import strategies as st

import rapids_tc as tc
from rapids_tc import testing
from rapids_tc.frames.backend import open_frame
from rapids_tc.preparation import intervals, spans, times, windows
from rapids_tc.preparation.spans import Formation, Reach, TickReach, reach

__all__ = ["compiler"]
pytestmark = pytest.mark.cpu_only

_, BACKEND = open_frame(pd.DataFrame({"src": [0], "dst": [1]}), "cpu")
MOMENT = pd.Timestamp("2024-03-10 01:30")


def read(values):
    """The codes of a column, what the column is, and its distinct times."""
    column = pd.Series(values)
    of, line = times.joined_profile([profile(column)])
    return of.codes(column, BACKEND), of, line


def profile(values):
    return times.profile_times(pd.Series(values), "t", None, BACKEND, distinct=True)


def laid_out(of, line, window, step):
    lengths = (times.check_length(*both) for both in (("window", window), ("step", step)))
    return windows.laid_out(of, line, *lengths, check=lambda windows: None)


def windows_of(values, window, step=None):
    """For each row the set of its windows, and the starts of all windows."""
    codes, of, line = read(values)
    presence = laid_out(of, line, window, window if step is None else step)
    return sets(presence, codes), presence.starts(BACKEND).tolist()


def sets(presence, codes):
    first, last = presence.of(codes, None, np)
    return [{*range(a, b + 1)} for a, b in zip(first.tolist(), last.tolist(), strict=True)]


def reach_of(values, within):
    """For each pair of rows whether they are at most `within` apart, by the windows of both."""
    codes, of, line = read(values)
    length = times.check_length("within", within, zero=True)
    found = meeting(Reach(of, line, length), codes)
    assert meeting(reach(of, line, length), codes) == found
    return found


def meeting(presence, codes):
    """For each pair of rows whether they have a window in common."""
    firsts, lasts = (bounds.tolist() for bounds in presence.of(codes, None, np))
    rows = [*zip(firsts, lasts, strict=True)]
    return [max(a, c) <= min(b, d) for a, b in rows for c, d in rows]


# Lengths of time ----------------------------------------------------------------------------------


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("value", "amount"),
    [
        (3, 3), (2.5, 2.5), (np.int8(4), 4), (np.float32(0.5), 0.5), (10**30, 10**30),
        ("1h", 3600 * 10**9), ("90min", 5400 * 10**9), ("1D 1ns", 86400 * 10**9 + 1),
        (pd.Timedelta("1us"), 1000), (np.timedelta64(10**11, "s"), 10**20),
        (timedelta(days=1000), 86_400_000 * 10**9), (np.timedelta64(2, "W"), 1_209_600 * 10**9),
        (pd.offsets.Minute(5), 300 * 10**9), ("1d", 86400 * 10**9), ("2 d 1h", 176400 * 10**9),
        ("1days", 86400 * 10**9),
    ],
)  # fmt: skip
def test_lengths_that_pandas_takes(value, amount):
    assert times.check_length("window", value).amount == amount


@pytest.mark.parametrize(
    "value",
    [
        0, -1, -0.5, 0.0, float("nan"), float("inf"), -(10**400), True,
        "1ME", "1M", "month", "", "NaT", "-1h", "0s", pd.NaT, pd.NA, None, [1], "h",
        np.timedelta64(1, "M"), np.timedelta64("NaT"), np.timedelta64(0, "s"), b"1h",
        pd.Timedelta(0), timedelta(0), pd.Timestamp("2024"), 1 + 2j, np.array([1, 2]),
        pd.offsets.MonthEnd(),
    ],
)  # fmt: skip
def test_lengths_that_are_none(value):
    with pytest.raises(ValueError, match="step="):
        times.check_length("step", value)


def test_zero_is_a_length_where_equal_times_are_meant():
    assert times.check_length("within", 0, zero=True).amount == 0
    assert times.check_length("within", "0s", zero=True).amount == 0
    with pytest.raises(ValueError, match=r"within=-1: a length of time from 0 on"):
        times.check_length("within", -1, zero=True)


@pytest.mark.parametrize(
    ("values", "length", "message"),
    [
        ([1, 2], "1h", "time='t' has dtype int64: give a number"),
        ([1.0, 2.0], pd.Timedelta("1h"), "has dtype float64: give a number"),
        ([MOMENT], 3600, "a length such as"),
        ([1, 2], 2.5, "give a whole number"),
    ],
)
def test_lengths_of_another_kind_than_the_times(values, length, message):
    for use in (windows_of, reach_of):
        with pytest.raises(ValueError, match=message):
            use(values, length)
    assert windows_of([1, 4], 2.0)[1] == [1, 3]


# Columns of times ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "values",
    [
        pd.Series(["a", "b"]), pd.Series([True, False]), pd.Series([timedelta(1)]),
        pd.Series([MOMENT]).astype("category"), pd.Series([MOMENT.date()], dtype="object"),
        pd.Series([1.0], dtype="float16"), pd.Series([MOMENT]).dt.to_period("M"),
    ],
)  # fmt: skip
def test_columns_that_hold_no_times(values):
    with pytest.raises(ValueError, match=r"time='t' has dtype .*; accepted: integers, floats, dat"):
        read(values)


@pytest.mark.parametrize(
    "values",
    [
        [1.0, None], [MOMENT, None], pd.Series([1, None], dtype="Int64"),
        pd.Series([1, None], dtype="int64[pyarrow]"),
        pd.Series([MOMENT, None]).dt.tz_localize("UTC"),
        pd.Series([MOMENT, None]).astype("date32[pyarrow]"),
    ],
)  # fmt: skip
def test_nulls_are_refused(values):
    with pytest.raises(tc.NullIdError, match=r"time='t' has 1 null: a row needs a time"):
        read(values)


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinite_times_are_refused(value):
    with pytest.raises(ValueError, match="infinite times"):
        read([0.0, value])


DATES = pd.Series(pd.to_datetime(["2024-03-09", "2024-03-10", "2024-03-12"]))
COLUMNS = {
    **{dtype: pd.Series([3, 5, 9]).astype(dtype) for dtype in (
        "int8", "uint64", "Int32", "float32", "Float64", "int16[pyarrow]", "double[pyarrow]")},
    **{unit: DATES.dt.as_unit(unit) for unit in ("s", "ms", "us", "ns")},
    "zone": DATES.dt.tz_localize("Europe/Berlin"),
    "arrow": DATES.astype("timestamp[us][pyarrow]"),
    "arrow zone": DATES.dt.tz_localize("Asia/Tokyo").astype("timestamp[s, tz=Asia/Tokyo][pyarrow]"),
    "date32": DATES.astype("date32[pyarrow]"),
    "date64": DATES.astype("date64[pyarrow]"),
}  # fmt: skip


@pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS)
def test_times_come_back_as_they_were(column):
    _, of, line = read(column)
    back = Formation(of, line).starts(BACKEND)
    pd.testing.assert_series_equal(back, column, check_names=False)
    length = "1D" if of.kind == "datetime" else 2
    starts = laid_out(of, line, length, length).starts(BACKEND)
    assert starts.dtype == (np.float64 if of.kind == "float" else column.dtype)
    assert len(starts) == 4 and starts[0] == column[0]


@pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS)
def test_times_of_no_rows_have_the_dtype_of_times_of_some(column):
    day = column.dtype.kind == "M"
    frame = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 0], "t": column, "g": 1})
    ids = {"source": "src", "destination": "dst", "time": "t"}
    for options in ({}, {"window": "1D" if day else 2}, {"window": "6h" if day else 1}):
        for by in ({}, {"by": "g"}):
            options = ids | options | by
            some, none = (
                tc.triangles_over_time(rows, **options) for rows in (frame, frame.iloc[:0])
            )
            assert len(none) == 0 and [*none.dtypes] == [*some.dtypes]


@pytest.mark.parametrize("dtype", [pl.Date, pl.Datetime("ms", "Europe/Rome"), pl.Float32, pl.UInt8])
def test_times_of_no_rows_in_polars(dtype):
    frame = pl.DataFrame({"src": [0], "dst": [1], "t": pl.Series([7]).cast(dtype)})
    for options in ({}, {"window": "1D" if dtype.is_temporal() else 2}):
        some, none = (
            tc.triangles_over_time(rows, time="t", **options) for rows in (frame, frame.clear())
        )
        assert len(none) == 0 and none.schema == some.schema


def test_a_step_finer_than_the_unit_is_told_in_a_finer_unit():
    column = pd.Series([MOMENT, MOMENT + timedelta(seconds=2)]).dt.as_unit("s")
    codes, of, line = read(column)
    presence = laid_out(of, line, "1s 1ns", "500ms")
    assert presence.starts(BACKEND).tolist() == [
        MOMENT + timedelta(milliseconds=500 * k) for k in range(5)
    ]
    assert presence.starts(BACKEND).dtype == "datetime64[ms]"
    assert sets(presence, codes) == [{0}, {2, 3, 4}]


def test_windows_that_no_unit_can_tell():
    column = pd.Series(["0001-01-01", "2024-01-01"], dtype="datetime64[s]")
    with pytest.raises(ValueError, match="finer than theirs: give a whole number of 's'"):
        windows_of(column, "100D 1ns")
    rows, starts = windows_of(column, timedelta(days=36500))
    assert rows == [{0}, {20}] and len(starts) == 21


def test_days_have_24_hours_if_they_are_given_as_hours():
    hours = pd.date_range("2024-03-10", periods=30, freq="h", tz="America/New_York")
    rows, starts = windows_of(pd.Series(hours), "24h")
    assert [*map(len, rows)] == [1] * 30 and rows[23] == {0} and rows[24] == {1}
    assert [str(start) for start in starts] == [
        "2024-03-10 00:00:00-05:00", "2024-03-11 01:00:00-04:00",
    ]  # fmt: skip


def test_floats_too_large_for_a_step():
    with pytest.raises(ValueError, match=r"step=0\.0001 is below .* subtract the first time"):
        windows_of([1e15, 1e15 + 1], 1.0, 0.0001)


def test_partitions_need_one_dtype():
    zoned = DATES.dt.tz_localize("UTC")
    for one, other in [
        ([1], [1.0]),
        ([1], [MOMENT]),
        (DATES, zoned),
        (DATES, DATES.dt.as_unit("s")),
    ]:
        profiles = [profile(one), profile(other)]
        with pytest.raises(ValueError, match="in some partitions and"):
            times.joined_profile(profiles)
    nothing = profile(pd.Series([], dtype="int64"))
    joined, line = times.joined_profile([nothing, profile([4, 6]), profile([1, 6, 5])])
    assert joined.kind == "integer" and line.times.tolist() == [1, 4, 5, 6]
    assert times.joined_profile([nothing, nothing])[0] == nothing.times
    with pytest.raises(tc.NullIdError, match="3 nulls"):
        times.joined_profile([profile([1.0, None]), profile([None, None, 2.0])])


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_codes_of_floats_have_the_order_of_the_floats(values):
    codes = times.codes_of_floats(np.array(values)).tolist()
    assert times.floats_of_codes(np.array(codes)).tolist() == values
    for one, code in zip(values, codes, strict=True):
        below = [other < one for other in values]
        assert [other < code for other in codes] == below
    assert times.codes_of_floats(np.array([-0.0, 0.0])).tolist() == [0, 0]


# Windows ------------------------------------------------------------------------------------------

INTEGERS = st.one_of(
    st.lists(st.integers(-20, 20), min_size=1, max_size=8),
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=4),
)
LENGTHS = st.one_of(st.integers(1, 12), st.integers(2**61, 2**66))


@given(INTEGERS, LENGTHS, LENGTHS)
def test_integers_are_in_the_windows_of_the_definition(values, window, step):
    if (max(values) - min(values)) // step > 1000:
        step = (max(values) - min(values)) // 10 + 1
    rows, starts = windows_of(np.array(values, "int64"), window, step)
    right = range(min(values), max(values) + 1, step)
    assert starts == [*right]
    assert rows == [{k for k, t in enumerate(right) if t <= v < t + window} for v in values]


@given(st.lists(st.integers(2**63 - 3, 2**64 - 1), min_size=1, max_size=5), st.integers(1, 2**63))
def test_unsigned_integers_too(values, window):
    step = max(window, 2**60)
    rows, starts = windows_of(np.array(values, "uint64"), window, step)
    right = range(min(values), max(values) + 1, step)
    assert starts == [*right]
    assert rows == [{k for k, t in enumerate(right) if t <= v < t + window} for v in values]


@given(
    st.lists(st.integers(0, 30), min_size=1, max_size=8),
    st.sampled_from(["s", "ms", "us", "ns"]), st.integers(1, 9), st.integers(1, 9),
)  # fmt: skip
def test_datetimes_are_in_the_windows_of_the_definition(values, unit, window, step):
    """In nanoseconds, whatever the unit: 300 ms are no whole number of seconds."""
    column = pd.Series(np.array(values, f"datetime64[{unit}]"))
    per = times.NANOSECONDS[unit]
    small = per // 10 or 1  # a tenth of the unit, if there is one
    lengths = [pd.Timedelta(size * 7 * small, unit="ns") for size in (window, step)]
    rows, starts = windows_of(column, *lengths)
    nanoseconds = [per * v for v in values]
    right = range(min(nanoseconds), max(nanoseconds) + 1, step * 7 * small)
    assert [start.value for start in starts] == [*right]
    assert rows == [
        {k for k, t in enumerate(right) if t <= v < t + window * 7 * small} for v in nanoseconds
    ]


FLOATS = st.one_of(
    st.integers(0, 40).map(lambda i: i / 10), st.floats(-1e3, 1e3, allow_subnormal=False),
)  # fmt: skip
WIDTHS = st.one_of(st.sampled_from([0.1, 0.2, 0.3, 0.7, 1.0]), st.floats(0.05, 1e4))


@given(st.lists(FLOATS, min_size=1, max_size=8), WIDTHS, WIDTHS)
def test_floats_are_in_the_windows_of_the_definition(values, window, step):
    rows, starts = windows_of(values, window, step)
    first, last = min(values), max(values)
    right = [first + k * step for k in range(len(starts) + 1)]
    assert starts == right[:-1] and right[-2] <= last < right[-1]
    ends = right[1:] if window == step else [start + window for start in starts]
    assert rows == [
        {k for k, (a, b) in enumerate(zip(starts, ends, strict=True)) if a <= v < b} for v in values
    ]


@given(st.lists(FLOATS, min_size=1, max_size=8), WIDTHS)
def test_a_float_is_in_one_window_if_windows_follow_one_another(values, window):
    rows, _ = windows_of(values, window)
    assert [*map(len, rows)] == [1] * len(values)


# Within -------------------------------------------------------------------------------------------


@given(INTEGERS, st.one_of(st.just(0), LENGTHS))
def test_integers_reach_as_far_as_the_definition(values, within):
    found = reach_of(np.array(values, "int64"), within)
    assert found == [abs(a - b) <= within for a in values for b in values]


@pytest.mark.parametrize(("apart", "kind"), [(2**32 - 2, TickReach), (2**32 - 1, Reach)])
def test_units_are_windows_while_32_bits_name_them(apart, kind):
    codes, of, line = read(np.array([-5, 0, apart - 5]))
    presence = reach(of, line, times.check_length("within", 10**30))
    assert type(presence) is kind
    first, last = presence.of(codes, None, np)
    assert last.tolist() == [last.max()] * 3
    assert first.max() == last.max() < spans.MOST_WINDOWS


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6), st.integers(0, 99))
def test_datetimes_reach_as_far_as_the_definition(values, tenths):
    column = pd.Series(np.array(values, "datetime64[s]"))
    found = reach_of(column, pd.Timedelta(100 * tenths, unit="ms"))
    assert found == [10 * abs(a - b) <= tenths for a in values for b in values]


@given(
    st.lists(st.one_of(FLOATS, st.floats(allow_nan=False, allow_infinity=False)), min_size=1,
             max_size=6),
    st.one_of(st.just(0.0), WIDTHS, st.floats(0, 1e308)),
)  # fmt: skip
def test_floats_reach_as_far_as_the_definition(values, within):
    """As numbers are, not as differences are rounded."""
    found, exact = reach_of(values, within), [*map(Fraction, values)]
    assert found == [abs(a - b) <= Fraction(within) for a in exact for b in exact]


# Intervals ----------------------------------------------------------------------------------------

EDGES, FIRSTS, MORE = st.integers(-1, 3), st.integers(1, 12), st.integers(-2, 5)  # edge -1: a loop
ROWS = st.lists(st.tuples(EDGES, FIRSTS, MORE), max_size=14)
EMULATED = SimpleNamespace(engine="cuda", xp=np, compile=testing.compile)


@pytest.mark.parametrize("backend", [BACKEND, EMULATED], ids=["cpu", "emulated"])
@given(ROWS, st.sampled_from(SEEDS))
def test_intervals_are_the_union_of_those_of_the_rows(compiler, backend, rows, seed):
    edges = np.array([edge for edge, _, _ in rows], "int64")
    bounds = [(first, max(first + more, 0)) for _, first, more in rows]
    with testing.thread_order(seed):
        found = intervals.merged(edges, packed(bounds), 4, backend)
    right = [set() for _ in range(5)]
    for edge, (a, b) in zip(edges.tolist(), bounds, strict=True):
        right[edge] |= {*range(a, b + 1)}
    assert windows_by_edge(*found) == right[:4]


def packed(bounds):
    """The first window and the last of each row in one number."""
    return np.array([first << 32 | last for first, last in bounds], "uint64")


def windows_by_edge(first, last, offsets):
    """The windows of each edge; intervals are disjoint, apart and ascending."""
    assert first.dtype == last.dtype == np.uint32
    if offsets is None:
        offsets = np.arange(len(first) + 1)
    else:
        assert offsets.dtype == np.int64 and (np.diff(offsets) > 0).all()
        assert np.diff(offsets).max() > 1  # else one interval an edge would do
    result = []
    for a, b in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        intervals = [*zip(first[a:b].tolist(), last[a:b].tolist(), strict=True)]
        assert all(end + 1 < begin for (_, end), (begin, _) in pairwise(intervals))
        result.append({w for begin, end in intervals for w in range(begin, end + 1)})
    return result


def test_windows_up_to_the_last():
    most = spans.MOST_WINDOWS - 1
    found = intervals.merged(np.array([1, 1]), packed([(0, 0), (most, most)]), 2, BACKEND)
    assert [array.tolist() for array in found] == [[1, 0, most], [0, 0, most], [0, 1, 3]]


def test_more_edges_than_can_be_named():
    none = np.zeros(0, "int64")
    with pytest.raises(tc.CapacityError, match="4,294,967,297 edges"):
        intervals.merged(none, none, 2**32 + 1, BACKEND)


@pytest.mark.cpu_only
@pytest.mark.parametrize(
    "options", [{"window": "1M"}, {"window": "2Y"}, {"window": "1 Q"}, {"window": 1, "step": "1MS"}]
)
def test_months_have_no_fixed_length(options):
    frame = pd.DataFrame({"src": [0], "dst": [1], "t": pd.to_datetime(["2026-01-01"])})
    with pytest.raises(ValueError, match=r"window=|step="):
        tc.triangles_over_time(frame, time="t", **options)


@pytest.mark.parametrize("option", [{"within": 10**400}, {"window": 10**400}])
def test_a_length_beyond_all_floats_reaches_every_time(option):
    edges = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 0], "t": [-1.5, 0.5, 1e308]})
    function = tc.count if "within" in option else tc.triangles_over_time
    answer = function(edges, time="t", **option)
    assert (answer if isinstance(answer, int) else answer.triangles.tolist()) in (1, [1])
