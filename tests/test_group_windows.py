"""Triangles over time by group: windows of each group begin at its own first time."""

import numpy as np
import pandas as pd
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

import rapids_tc as tc
from rapids_tc.executors.local import PartitionedFrame

pytestmark = pytest.mark.cpu_only

START = pd.Timestamp("2024-03-10 01:30", tz="UTC")
# By kind of times: from whole numbers to times, and from numbers to lengths.
KINDS = {
    "integers": (lambda n: pd.Series(n) - 3, lambda n: n),
    "unsigned": (lambda n: pd.Series(n, dtype="uint64") + np.uint64(2**63), lambda n: n),
    "floats": (lambda n: pd.Series(n) / 4 - 1, lambda n: n / 4),
    "datetimes": (lambda n: START + pd.to_timedelta(pd.Series(n), "h"), lambda n: f"{n}h"),
    "in a finer unit": (
        lambda n: (START.tz_localize(None) + pd.to_timedelta(pd.Series(n), "s")).dt.as_unit("s"),
        lambda n: pd.Timedelta(n, "s"),
    ),
}
ROWS = st.lists(
    st.tuples(*[st.integers(0, 4)] * 2, st.integers(0, 12), st.integers(0, 3)), min_size=1
)
WIDTHS = st.one_of(st.none(), st.tuples(st.integers(1, 9), st.one_of(st.none(), st.integers(1, 9))))


@given(ROWS, WIDTHS, st.sampled_from(list(KINDS)))
@settings(max_examples=100)
def test_times_of_each_group(rows, widths, kind):
    times, length = KINDS[kind]
    src, dst, ticks, day = (np.array(column) for column in zip(*rows, strict=True))
    frame = pd.DataFrame({"src": src, "dst": dst, "when": times(ticks), "day": day * 10**12})
    asked, known = {}, {}
    if widths is not None:
        window, step = widths
        known = {"window": window, "step": step}
        asked = {"window": length(window), "step": step and length(step)}
    right = [
        (group, tick, *counts)
        for group, own in frame.assign(tick=ticks).groupby("day")
        for tick, *counts in reference.triangles_over_time(
            list(zip(own["src"], own["dst"], own["tick"], strict=True)), **known
        )
    ]
    found = tc.triangles_over_time(frame, time="when", by="day", **asked)
    names = ["triangles"] if widths else ["formed", "triangles"]
    assert found.columns.tolist() == ["day", "t", *names]
    starts = times(np.array([tick for _, tick, *_ in right]))
    assert found["day"].tolist() == [group for group, *_ in right]
    assert found["t"].tolist() == starts.tolist()
    assert found[names].to_numpy().tolist() == [counts for _, _, *counts in right]
    alone = tc.triangles_over_time(frame, time="when", **asked)
    assert found["t"].dtype == alone["t"].dtype


def test_groups_far_apart_have_few_windows():
    frame = pd.DataFrame({"src": [0, 1, 2] * 2, "dst": [1, 2, 0] * 2, "g": [0] * 3 + [1] * 3})
    frame["t"] = [0, 1, 2, 10**15, 10**15 + 1, 10**15 + 2]
    for times in (frame["t"], frame["t"].astype("float64")):
        found = tc.triangles_over_time(frame.assign(t=times), time="t", by="g", window=4, step=2)
        assert found["t"].tolist() == [0, 2, 10**15, 10**15 + 2]
        assert found["triangles"].tolist() == [1, 0, 1, 0]


def test_a_graph_with_groups():
    frame = pd.DataFrame(
        {"src": [0, 1, 2, 5], "dst": [1, 2, 0, 5], "t": [3, 5, 9, 4], "g": list("aaab")}
    )
    more = pd.DataFrame({"g": ["c"], "vertex": [1]})  # a group without a row has no time
    graph = tc.Graph(frame, by="g", vertices=more)
    found = graph.triangles_over_time(time="t")
    assert found.values.tolist() == [["a", 3, 0, 0], ["a", 5, 0, 0], ["a", 9, 1, 1], ["b", 4, 0, 0]]
    assert tc.triangles_over_time(frame[:0], time="t", by="g").columns.tolist() == [
        "g",
        "t",
        "formed",
        "triangles",
    ]


@pytest.mark.parametrize("dtype", ["int64", "float64", "datetime64[s]"])
def test_no_rows(dtype):
    frame = pd.DataFrame({"src": [0], "dst": [1], "t": [3], "g": ["a"]}).astype({"t": dtype})
    window = "1h" if dtype == "datetime64[s]" else 1
    for options in ({}, {"window": window}, {"window": window, "step": window}):
        right = tc.triangles_over_time(frame, time="t", by="g", **options)
        found = tc.triangles_over_time(frame.iloc[:0], time="t", by="g", **options)
        assert len(found) == 0 and found.dtypes.equals(right.dtypes)


def test_what_is_refused():
    frame = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 0], "t": [3, 5, 9], "g": list("aab")})
    asked = {"time": "t", "by": "g"}
    with pytest.raises(TypeError, match="triangles_over_time with by= runs on one machine"):
        tc.triangles_over_time(PartitionedFrame([frame]), **asked)
    with pytest.raises(tc.ColumnNotFoundError, match="time='x' is not a column"):
        tc.triangles_over_time(frame, time="x", by="g")
    with pytest.raises(tc.NullIdError, match="time='t' has 1 null"):
        tc.triangles_over_time(frame.assign(t=[1, None, 2]), **asked)
    with pytest.raises(ValueError, match="by= names the column 't', and the answer has"):
        tc.triangles_over_time(frame, time="t", by="t")
    with pytest.raises(tc.CapacityError, match=r"windows take about .*give a longer step="):
        tc.triangles_over_time(frame.assign(t=[0, 10**9, 0]), window=1, memory_limit=10**6, **asked)
