"""Triangles over time: of windows, as they form, and of edges that are close in time."""

from contextlib import nullcontext
from datetime import timedelta

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import reference
from checks import assert_columns
from hypothesis import given, settings
from hypothesis import strategies as st
from needs import need_module

import rapids_tc as tc
from rapids_tc import datasets
from rapids_tc.blocks import codec
from rapids_tc.executors.local import PartitionedFrame
from rapids_tc.plan.block_layout import BlockLayout, use_layout
from rapids_tc.preparation import time_values

many = settings(max_examples=15, deadline=None)
MOMENT = pd.Timestamp("2024-03-10 01:30")

# Few vertices and times: many repeats, equal times, loops, and rows of both directions.
VERTEX = st.integers(0, 6)
ROWS = st.lists(st.tuples(VERTEX, VERTEX, st.integers(0, 12)), max_size=40)
WIDTH = st.integers(1, 15)
ONE = [(0, 1, 3), (1, 2, 5), (2, 0, 9), (2, 2, 20)]  # a triangle from 3 to 9, and a loop


def frame_of(rows):
    return pd.DataFrame(rows, columns=["src", "dst", "t"]).astype("int64")


def tuples(backend, frame):
    if isinstance(frame, PartitionedFrame):
        frame = frame.partitions[0]
    return list(backend.to_pandas(frame).itertuples(index=False, name=None))


def ways(frame):
    """The rows as a frame, prepared, and cut in blocks, on one machine and on a cluster."""
    yield frame, nullcontext()
    yield tc.Graph(frame), nullcontext()
    if len(frame):
        for n in (1, 3):
            yield frame, use_layout(BlockLayout(n))
        third = len(frame) // 3
        parts = PartitionedFrame([frame.iloc[:third], frame.iloc[third:third], frame.iloc[third:]])
        yield parts, nullcontext()
        yield parts, use_layout(BlockLayout(2, 2))


def by_row(edges, **options):
    """The triangles of rows; None on a cluster, which has no column of its own."""
    if not isinstance(edges, PartitionedFrame):
        return tc.edge_triangles(edges, **options)
    with pytest.raises(TypeError, match="edge_triangles with within= runs on one machine"):
        tc.edge_triangles(edges, **options)
    return None


# Against the oracle and NetworkX ------------------------------------------------------------------


def in_networkx(rows, start, end):
    """The triangles of the rows in a window, counted by NetworkX."""
    graph = nx.Graph([(u, v) for u, v, t in rows if start <= t < end and u != v])
    return sum(nx.triangles(graph).values()) // 3


@many
@given(rows=ROWS, window=WIDTH, step=WIDTH)
def test_windows(backend, rows, window, step):
    right = reference.triangles_over_time(rows, window=window, step=step)
    assert [count for _, count in right] == [in_networkx(rows, t, t + window) for t, _ in right]
    for edges, way in ways(backend.frame(frame_of(rows))):
        with way:
            found = tc.triangles_over_time(edges, time="t", window=window, step=step)
        assert tuples(backend, found) == right


@many
@given(rows=ROWS)
def test_triangles_form_with_their_last_edge(backend, rows):
    right = reference.triangles_over_time(rows)
    assert [total for _, _, total in right] == [in_networkx(rows, 0, t + 1) for t, _, _ in right]
    for edges, way in ways(backend.frame(frame_of(rows))):
        with way:
            found = tc.triangles_over_time(edges, time="t")
        assert tuples(backend, found) == right


@many
@given(rows=ROWS, within=st.integers(0, 13))
def test_within(backend, rows, within):
    frame, options = frame_of(rows), {"time": "t", "within": within}
    timed, plain = [(u, v, {"time": t}) for u, v, t in rows], [(u, v) for u, v, _ in rows]
    triangles = reference.list_triangles_where(timed, within=within)
    by_edge = reference.edge_triangles_of(triangles, plain)
    for edges, way in ways(backend.frame(frame)):
        with way:
            assert tc.count(edges, **options) == len(triangles)
            by_vertex = tc.vertex_triangles(edges, **options)
            column = by_row(edges, **options)
        assert dict(tuples(backend, by_vertex)) == reference.vertex_triangles_of(triangles, plain)
        if column is not None:
            assert backend.to_pandas(column).tolist() == reference.by_row(plain, by_edge)


@many
@given(rows=ROWS, within=st.integers(0, 13))
def test_a_triangle_within_a_length_is_in_a_window_that_is_longer_by_one(rows, within):
    """Windows that begin at each time find the same triangles, the one way or the other."""
    frame = frame_of(rows)
    windows = tc.triangles_over_time(frame, time="t", window=within + 1, step=1)
    assert (tc.count(frame, time="t", within=within) > 0) == windows["triangles"].any()


def karate():
    return datasets.karate().assign(t=range(78))


def test_karate_by_the_place_of_its_edges(backend):
    edges = backend.frame(karate())
    windows = backend.to_pandas(tc.triangles_over_time(edges, time="t", window=20, step=10))
    assert dict(zip(windows["t"], windows["triangles"], strict=True)) == {
        0: 4, 10: 3, 20: 2, 30: 1, 40: 0, 50: 2, 60: 7, 70: 3,
    }  # fmt: skip
    formed = backend.to_pandas(tc.triangles_over_time(edges, time="t"))
    assert [*formed["triangles"].tolist()[19::20], 45] == [4, 25, 27, 45]
    assert formed["formed"].sum() == 45
    assert tc.count(edges, time="t", within=20) == 24
    assert backend.to_pandas(tc.edge_triangles(edges, time="t", within=20)).sum() == 72
    assert tc.count(edges, time="t", within=77) == tc.count(edges) == 45


@pytest.mark.cpu_only
def test_duckdb_agrees_on_windows_of_datetimes():
    duckdb = need_module("duckdb")
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.integers(0, 30, (400, 2)), columns=["src", "dst"])
    rows["t"] = MOMENT + pd.to_timedelta(rng.integers(0, 10**6, 400), unit="s")
    found = tc.triangles_over_time(rows, time="t", window="2D", step="15h")
    query = """
        with windows as (
            select unnest(range(min(t), max(t) + interval 1 microsecond, interval 15 hours)) as w
            from rows
        ), edges as (
            select distinct w, least(src, dst) as u, greatest(src, dst) as v
            from windows join rows on t >= w and t < w + interval 48 hours where src <> dst
        ), triangles as (
            select a.w from edges a
            join edges b on a.w = b.w and a.v = b.u
            join edges c on a.w = c.w and a.u = c.u and b.v = c.v
        )
        select windows.w as t, count(triangles.w) as triangles
        from windows left join triangles using (w) group by windows.w order by windows.w
    """
    right = duckdb.sql(query).df()
    assert found["triangles"].tolist() == right["triangles"].tolist()
    assert (found["t"] == right["t"]).all() and found["triangles"].sum() > 100


# Shapes and dtypes --------------------------------------------------------------------------------


def test_the_frame_of_windows(backend):
    found = tc.triangles_over_time(backend.frame(frame_of(ONE)), time="t", window=7)
    assert type(found) is type(backend.frame(frame_of(ONE)))
    found = backend.to_pandas(found)
    assert_columns(found, "t", "triangles")
    assert found.to_dict("list") == {"t": [3, 10, 17], "triangles": [1, 0, 0]}
    assert [*found.dtypes] == ["int64", "int64"]


def test_the_frame_of_formed_triangles(backend):
    found = backend.to_pandas(tc.triangles_over_time(backend.frame(frame_of(ONE)), time="t"))
    assert_columns(found, "t", "formed", "triangles")
    assert found.to_dict("list") == {
        "t": [3, 5, 9, 20], "formed": [0, 0, 1, 0], "triangles": [0, 0, 1, 1],
    }  # fmt: skip
    assert [*found.dtypes] == ["int64", "int64", "int64"]


@pytest.mark.parametrize("options", [{}, {"window": 1}])
def test_no_rows(backend, options):
    for dtype in ("int64", "uint8", "float64", "datetime64[s]", "datetime64[ms, Asia/Tokyo]"):
        frame = backend.frame(frame_of([]).astype({"t": dtype}))
        found = backend.to_pandas(tc.triangles_over_time(frame, time="t", **options))
        assert len(found) == 0 and found["t"].dtype == dtype and found["triangles"].dtype == "int64"
    assert tc.count(frame, time="t", within=1) == 0
    assert len(tc.edge_triangles(frame, time="t", within=1)) == 0


def test_loops_alone(backend):
    frame = backend.frame(frame_of([(1, 1, 4), (2, 2, 6)]))
    found = tc.triangles_over_time(frame, time="t", window=1)
    assert tuples(backend, found) == [(4, 0), (5, 0), (6, 0)]
    assert tuples(backend, tc.vertex_triangles(frame, time="t", within=9)) == [(1, 0), (2, 0)]


def test_isolated_vertices_have_no_time(backend):
    graph = tc.Graph(backend.frame(frame_of(ONE)), vertices=[7])
    found = tc.vertex_triangles(graph, vertices=[7, 0], time="t", within=6)
    assert tuples(backend, found) == [(7, 0), (0, 1)]
    assert tuples(backend, tc.triangles_over_time(graph, time="t", window=17)) == [(3, 1), (20, 0)]


def test_within_groups(backend):
    """The lengths are the same in all; rows of another group are as if they were not there."""
    late = [(u, v, t * 10) for u, v, t in ONE]
    frame = pd.concat([frame_of(ONE).assign(g="b"), frame_of(late).assign(g="a")])
    options = {"by": "g", "time": "t", "within": 6}
    found = tc.count(backend.frame(frame.reset_index(drop=True)), **options)
    assert tuples(backend, found) == [("a", 0), ("b", 1)]
    by_vertex = tc.vertex_triangles(backend.frame(frame), vertices=[0], **options)
    assert tuples(backend, by_vertex) == [("a", 0, 0), ("b", 0, 1)]
    by_row = backend.to_pandas(tc.edge_triangles(backend.frame(frame), **options))
    assert by_row.tolist() == [1, 1, 1, 0, 0, 0, 0, 0]
    parts = PartitionedFrame([backend.frame(frame[:3]), backend.frame(frame[3:])])
    assert tuples(backend, tc.count(parts, **options)) == [("a", 0), ("b", 1)]


def test_windows_with_gaps(backend):
    rows = [(0, 1, 0), (1, 2, 1), (2, 0, 2), (2, 0, 5), (0, 1, 10), (1, 2, 10), (0, 2, 11)]
    found = tc.triangles_over_time(backend.frame(frame_of(rows)), time="t", window=2, step=10)
    assert tuples(backend, found) == [(0, 0), (10, 1)]


@pytest.mark.parametrize("within", [6, "6h", pd.Timedelta("6h"), timedelta(hours=6),
                                    np.timedelta64(6, "h"), 5.5, "5h"])  # fmt: skip
def test_times_of_every_kind_and_lengths_of_every_kind(backend, within):
    frame = frame_of(ONE)
    if not isinstance(within, int):
        hours = pd.to_timedelta(frame["t"], unit="h")
        frame["t"] = frame["t"] / 1 if isinstance(within, float) else MOMENT + hours
    short = within in (5.5, "5h")
    edges = backend.frame(frame)
    assert tc.count(edges, time="t", within=within) == (not short)
    found = backend.to_pandas(tc.triangles_over_time(edges, time="t", window=within))
    assert found["triangles"].sum() == 0 and len(found) == (4 if short else 3)
    assert found["t"][0] == frame["t"][0] and found["t"].dtype == frame["t"].dtype


@pytest.mark.cpu_only
@pytest.mark.parametrize("zone", [None, "America/New_York"])
def test_answers_in_polars_and_arrow(zone):
    polars, arrow = need_module("polars"), need_module("pyarrow")
    frame = frame_of(ONE)
    frame["t"] = (MOMENT + pd.to_timedelta(frame["t"], unit="D")).dt.tz_localize(zone)
    right = tc.triangles_over_time(frame, time="t", window="7D")
    table = arrow.Table.from_pandas(frame)
    for edges in (table, polars.from_arrow(table)):
        found = tc.triangles_over_time(edges, time="t", window="7D")
        assert type(found) is type(edges)
        pd.testing.assert_frame_equal(found.to_pandas(), right)
        types = found.schema.field("t").type if edges is table else found.schema["t"]
        assert types == (table.schema.field("t").type if edges is table else edges.schema["t"])
    days = polars.from_arrow(table).with_columns(polars.col("t").cast(polars.Date))
    assert tc.triangles_over_time(days, time="t", window="7D").schema["t"] == polars.Date
    halves = tc.triangles_over_time(days, time="t", window="7D", step="12h")  # no dates
    assert halves.schema["t"].is_temporal() and halves["t"].is_unique().all()
    assert (halves["t"].diff().drop_nulls().dt.total_hours() == 12).all()


@pytest.mark.cpu_only
@pytest.mark.parametrize("kind", ["zone", "dates", "floats", "bytes"])
def test_times_of_every_kind_on_every_path(kind):
    frame = frame_of(ONE)
    days = MOMENT.normalize() + pd.to_timedelta(frame["t"], unit="D")
    frame["t"], window = {
        "zone": (days.dt.tz_localize("America/New_York"), "36h"),
        "dates": (days.astype("date32[pyarrow]"), "2D"),
        "floats": (frame["t"] / 8, 0.25),
        "bytes": (frame["t"].astype("uint8"), 2),
    }[kind]
    for options in ({}, {"window": window}):
        right = tc.triangles_over_time(frame, time="t", **options)
        assert right["t"].dtype == frame["t"].dtype and right["t"][0] == frame["t"][0]
        for edges, way in ways(frame):
            with way:
                found = tc.triangles_over_time(edges, time="t", **options)
            found = found.partitions[0] if isinstance(found, PartitionedFrame) else found
            pd.testing.assert_frame_equal(found, right)


@pytest.mark.pandas_only
def test_the_frame_stays_as_it_was(backend):
    frame = frame_of(ONE)
    before = frame.copy()
    tc.triangles_over_time(frame, time="t", window=2)
    tc.edge_triangles(frame, time="t", within=2)
    pd.testing.assert_frame_equal(frame, before)


# What is refused ----------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [tc.count, tc.vertex_triangles, tc.edge_triangles])
def test_within_needs_a_time_and_a_time_needs_within(backend, function):
    for edges, way in ways(backend.frame(frame_of(ONE))):
        with way:
            with pytest.raises(ValueError, match="within= was given without time=: give both"):
                function(edges, within=3)
            with pytest.raises(ValueError, match="time= was given without within=: give both"):
                function(edges, time="t")
            with pytest.raises(ValueError, match="within=-1: a length of time from 0 on"):
                function(edges, time="t", within=-1)
            if function is tc.edge_triangles and isinstance(edges, PartitionedFrame):
                continue
            with pytest.raises(tc.ColumnNotFoundError, match="time='x' is not a column"):
                function(edges, time="x", within=3)
            with pytest.raises(ValueError, match="within='1h': time='t' has dtype int64"):
                function(edges, time="t", within="1h")


def test_wrong_windows(backend):
    for edges, way in ways(backend.frame(frame_of(ONE))):
        with way:
            with pytest.raises(ValueError, match="step= was given without window="):
                tc.triangles_over_time(edges, time="t", step=3)
            with pytest.raises(ValueError, match="window=0: a length of time above 0"):
                tc.triangles_over_time(edges, time="t", window=0)
            with pytest.raises(ValueError, match=r"step='1ME'; accepted: .*no fixed length"):
                tc.triangles_over_time(edges, time="t", window=1, step="1ME")
            with pytest.raises(ValueError, match=r"window=2\.5: .* give a whole number"):
                tc.triangles_over_time(edges, time="t", window=2.5)


def test_nulls_and_other_columns_are_refused(backend):
    frame = frame_of(ONE)
    nulls = backend.frame(frame.assign(t=[1.0, None, 2.0, None]))
    words = backend.frame(frame.assign(t=list("abcd")))
    for edges, error, match in [
        (nulls, tc.NullIdError, "time='t' has 2 nulls: a row needs"),
        (words, ValueError, "time='t' has dtype .*; accepted: integers"),
    ]:
        for rows, way in ways(edges):
            with way:
                with pytest.raises(error, match=match):
                    tc.triangles_over_time(rows, time="t")
                with pytest.raises(error, match=match):
                    tc.count(rows, time="t", within=2)


def test_more_windows_than_memory_holds(backend):
    far = backend.frame(frame_of([*ONE, (4, 5, 10**15)]))
    with pytest.raises(tc.CapacityError, match=r"999,999,999,999,998 windows take about .*step="):
        tc.triangles_over_time(far, time="t", window=10, step=1)
    edges = backend.frame(frame_of(ONE * 20))
    refused = pytest.raises(tc.CapacityError, match=r"100,000 windows .* 1,000,000 may be taken")
    for rows, way in ways(far):
        with way, refused:
            tc.triangles_over_time(rows, time="t", window=10**10, memory_limit=10**6)
    assert len(tc.triangles_over_time(edges, time="t", window=1, memory_limit=10**6)) == 18


@pytest.mark.cpu_only
def test_a_limit_holds_for_a_row_per_time():
    edges = datasets.rmat(12)
    edges["t"] = np.arange(len(edges))
    limit = 3 * 10**6
    with pytest.raises(tc.CapacityError, match="what triangles_over_time gives back take about"):
        tc.triangles_over_time(edges, time="t", memory_limit=limit)
    windows = tc.triangles_over_time(edges, time="t", window=10**4, memory_limit=limit)
    assert windows.equals(tc.triangles_over_time(edges, time="t", window=10**4))
    few = edges.assign(t=edges["t"] // 10**4)
    assert tc.count(few, time="t", within=1, memory_limit=limit) == tc.count(
        few, time="t", within=1
    )


@pytest.mark.parametrize("backend_name", ["host"])
def test_methods_are_refused_beside_within(backend_name):
    from rapids_tc.testing import host_engine

    with host_engine():
        for function in (tc.count, tc.vertex_triangles, tc.edge_triangles):
            with pytest.raises(ValueError, match='with within= only method="auto" works'):
                function(frame_of(ONE), time="t", within=3, method="bitmap")


@pytest.mark.cpu_only
@pytest.mark.parametrize(
    ("values", "words"),
    [
        (([1, 2], [1], []), "1 ends of intervals for 2"),
        (([1, 2], [1, 2], []), "2 intervals for 3"),
        (([1, 2], [1, 2], [0, 1, 2]), "3 places of intervals for 4"),
        (([1, 2], [1, 2], [0, 1, 2, 3]), "places of intervals of 3 or more"),
        (([1, 2], [1, 2], [0, -1, 2, 2]), "places of intervals of 3 or more"),
    ],
)
def test_intervals_of_another_block_are_refused(values, words):
    """Compiled loops check no index."""
    first, last, places = values
    arrays = [np.array(first, "uint32"), np.array(last, "uint32"), np.array(places, "int64")]
    with pytest.raises(tc.KernelError, match=words):
        codec.require_values(time_values.reading("t"), arrays, 3)


def test_times_are_in_a_column_of_their_own_name(backend):
    frame = frame_of([(0, 1, 3), (1, 2, 5), (2, 0, 9)])
    for name in ("when", "edges", "vertex"):
        edges = backend.frame(frame.rename(columns={"t": name}))
        for window in (None, 4):
            found = tc.triangles_over_time(edges, time=name, window=window)
            assert backend.to_pandas(found).columns[0] == name
    for name in ("formed", "triangles"):
        with pytest.raises(ValueError, match="another column of this name"):
            tc.triangles_over_time(backend.frame(frame.rename(columns={"t": name})), time=name)
