"""Triangles over time by group: windows of each group begin at its own first time."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

import rapids_tc as tc
from rapids_tc.executors.local import PartitionedFrame
from rapids_tc.plan.block_layout import BlockLayout, use_layout

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
@settings(max_examples=50)
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
    assert found.columns.tolist() == ["day", "when", *names]
    starts = times(np.array([tick for _, tick, *_ in right]))
    assert found["day"].tolist() == [group for group, *_ in right]
    assert found["when"].tolist() == starts.tolist()
    assert found[names].to_numpy().tolist() == [counts for _, _, *counts in right]
    alone = tc.triangles_over_time(frame, time="when", **asked)
    assert found["when"].dtype == alone["when"].dtype
    n, parts = PATHS[len(rows) % len(PATHS)]
    with use_layout(BlockLayout(n, 2)):
        edges = partitioned(frame, parts) if parts else frame
        apart = tc.triangles_over_time(edges, time="when", by="day", **asked)
    apart = pd.concat(apart.partitions) if parts else apart
    pd.testing.assert_frame_equal(apart, found)


PATHS = [(1, 0), (2, 0), (3, 0), (1, 3), (2, 5), (3, 1)]  # blocks a side, and partitions


def partitioned(frame, parts):
    bounds = np.linspace(0, len(frame), parts + 1).astype(int)
    return PartitionedFrame([frame.iloc[a:b] for a, b in pairwise(bounds)])


@pytest.mark.parametrize("groups", [20, 200])
def test_floats_are_rounded_in_each_group(groups):
    random = np.random.default_rng(groups)
    frame = pd.DataFrame({"g": np.repeat(np.arange(groups), 3), "src": [0, 1, 2] * groups})
    frame["dst"] = (frame["src"] + 1) % 3
    times = random.integers(0, 30, (groups, 3)) * 0.1 + 10.0 ** random.integers(-3, 9, (groups, 1))
    frame["t"] = times.ravel()
    for window, step in (0.3, 0.1), (0.1, 0.1), (0.7, 0.3):
        found = tc.triangles_over_time(frame, time="t", by="g", window=window, step=step)
        right = []
        for group, own in enumerate(times.tolist()):
            first, last, k = min(own), max(own), 0
            while (begin := first + k * step) <= last:
                k += 1
                end = first + k * step if window == step else begin + window
                right.append((group, begin, all(begin <= time < end for time in own)))
        assert list(found.itertuples(index=False, name=None)) == right


def test_groups_far_apart_have_few_windows():
    frame = pd.DataFrame({"src": [0, 1, 2] * 2, "dst": [1, 2, 0] * 2, "g": [0] * 3 + [1] * 3})
    frame["t"] = [0, 1, 2, 10**15, 10**15 + 1, 10**15 + 2]
    for times in (frame["t"], frame["t"].astype("float64")):
        edges, asked = frame.assign(t=times), {"time": "t", "by": "g", "window": 4, "step": 2}
        in_parts = tc.triangles_over_time(partitioned(edges, 4), **asked).partitions
        for found in (tc.triangles_over_time(edges, **asked), pd.concat(in_parts)):
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
    kept = tc.Graph(partitioned(frame, 2), by="g").triangles_over_time(time="t")
    pd.testing.assert_frame_equal(pd.concat(kept.partitions), found)
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
        none = partitioned(frame.iloc[:0], 2)
        [found] = tc.triangles_over_time(none, time="t", by="g", **options).partitions
        assert len(found) == 0 and found.dtypes.equals(right.dtypes)


def test_what_is_refused():
    frame = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 0], "t": [3, 5, 9], "g": list("aab")})
    asked = {"time": "t", "by": "g"}
    with pytest.raises(tc.ColumnNotFoundError, match="time='x' is not a column"):
        tc.triangles_over_time(frame, time="x", by="g")
    with pytest.raises(tc.NullIdError, match="time='t' has 1 null"):
        tc.triangles_over_time(frame.assign(t=[1, None, 2]), **asked)
    with pytest.raises(ValueError, match="by= names the column 't', and the answer has"):
        tc.triangles_over_time(frame, time="t", by="t")
    many = frame.assign(t=[0, 10**9, 0])
    for edges in (many, partitioned(many, 2)):
        with pytest.raises(tc.CapacityError, match=r"windows take about .*give a longer step="):
            tc.triangles_over_time(edges, window=1, memory_limit=10**6, **asked)
