"""Triangles listed: in one frame, in frames of some rows, and refused where there are too many."""

from itertools import combinations, islice

import numpy as np
import pandas as pd
import pytest
import reference
from checks import assert_columns, rows_of
from graphs import ID_DTYPES, SMALL, complete, dense_edge_lists, edge_frames, edge_lists
from hypothesis import given, settings
from hypothesis import strategies as st

import rapids_tc as tc
from rapids_tc.engines import registry
from rapids_tc.plan import costs
from rapids_tc.preparation.triangles import sorted_corners

many = settings(max_examples=50, deadline=None)


def frame_of(rows):
    return pd.DataFrame(rows, columns=["src", "dst"], dtype="int64")


def triangles_of(frame):
    return list(frame.itertuples(index=False, name=None))


def listed(backend, edges, **options):
    """The frame of all triangles, as pandas, in the promised shape."""
    frame = backend.to_pandas(tc.list_triangles(edges, **options))
    assert_columns(frame, "u", "v", "w")
    return frame


def frames(backend, edges, rows, **options):
    """The frames of so many rows, as pandas, in the promised shape."""
    found = tc.iter_triangles(edges, max_rows=rows, **options)
    result = [backend.to_pandas(frame) for frame in found]
    for frame in result:
        assert_columns(frame, "u", "v", "w")
        assert triangles_of(frame) == sorted(triangles_of(frame))
    assert all(len(frame) == rows for frame in result[:-1])
    assert all(1 <= len(frame) <= rows for frame in result[-1:])
    return result


# Against the oracle -------------------------------------------------------------------------------


@many
@given(edges=edge_frames())
def test_raw_rows_of_any_dtype(backend, edges):
    found = listed(backend, backend.frame(edges))
    assert triangles_of(found) == reference.list_triangles(rows_of(edges))


@many
@given(rows=st.one_of(edge_lists(), dense_edge_lists()), data=st.data())
def test_triangles_at_some_vertices(backend, rows, data):
    seen = sorted({v for row in rows for v in row} | {99})
    some = data.draw(st.lists(st.sampled_from(seen)))
    graph = tc.Graph(backend.frame(frame_of(rows)), vertices=[99])
    expected = reference.list_triangles(rows, among=some)
    assert triangles_of(listed(backend, graph, vertices=some)) == expected
    parts = frames(backend, graph, data.draw(st.integers(1, 9)), vertices=some)
    assert sorted(t for part in parts for t in triangles_of(part)) == expected


@many
@given(rows=st.one_of(edge_lists(), dense_edge_lists()), size=st.integers(1, 40))
def test_frames_hold_each_triangle_once(backend, rows, size):
    found = frames(backend, backend.frame(frame_of(rows)), size)
    together = [triangle for frame in found for triangle in triangles_of(frame)]
    assert sorted(together) == reference.list_triangles(rows)


@pytest.mark.parametrize("size", [1, 2, 7, 20, 34, 35, 1000])
def test_frames_may_end_inside_an_edge(backend, size):
    """K7: its edges are in five triangles each."""
    known = complete(7)
    found = frames(backend, backend.frame(known.frame()), size)
    assert [len(frame) for frame in found] == [size] * (35 // size) + [35 % size] * (35 % size > 0)
    together = pd.concat(found)
    assert sorted(triangles_of(together)) == reference.list_triangles(known.rows)


@pytest.mark.parametrize("name", SMALL)
def test_closed_forms(backend, name):
    known = SMALL[name]
    edges = backend.frame(known.frame())
    assert len(listed(backend, edges)) == known.triangles
    assert sum(map(len, frames(backend, edges, 5))) == known.triangles


def test_hubs_and_long_rows(backend):
    """Rows past one step of a warp, and in-edges without a triangle between those with many."""
    rng = np.random.default_rng(4)
    ends = (rng.random((3000, 2)) ** 3 * 300).astype(int)
    rows = [
        *map(tuple, ends.tolist()),
        *((0, leaf) for leaf in range(300, 400)),
        *complete(70).rows,
    ]
    edges = backend.frame(frame_of(rows))
    expected = reference.list_triangles(rows)
    assert triangles_of(listed(backend, edges)) == expected
    together = pd.concat(frames(backend, edges, 999))
    assert sorted(triangles_of(together)) == expected


# Ids, order and shape -----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ID_DTYPES)
def test_ids_come_back_as_they_came(backend, dtype):
    source, destination = map(ID_DTYPES[dtype], ([0, 1, 2, 3, 3], [1, 2, 0, 0, 2]))
    edges = backend.frame({"src": source, "dst": destination})
    vertex = backend.to_pandas(tc.vertex_triangles(edges))["vertex"]
    found = listed(backend, edges)
    assert {found[corner].dtype for corner in "uvw"} == {vertex.dtype}
    assert triangles_of(found) == reference.list_triangles(rows_of(backend.to_pandas(edges)))


def test_numbers_too_large_to_pack_three_in_64_bits(backend):
    """Sorted by all three corners too, where 2**22 ids leave no room for one key."""
    rows = [(u + 2**22 * (u % 2), v + 2**22 * (v % 2)) for u, v in complete(9).rows]
    graph = tc.Graph(backend.frame(frame_of(rows)), vertices=np.arange(2**22))
    assert triangles_of(listed(backend, graph)) == reference.list_triangles(rows)


def test_the_same_frames_in_the_same_order_on_every_run(backend):
    rng = np.random.default_rng(1)
    edges = backend.frame(frame_of(rng.integers(0, 60, (700, 2))))
    first, again = frames(backend, edges, 100), frames(backend, tc.Graph(edges), 100)
    assert len(first) == len(again) > 3
    assert all(a.equals(b) for a, b in zip(first, again, strict=True))


def test_frames_are_made_when_asked_for(backend):
    graph = tc.Graph(backend.frame(complete(30).frame()))
    asked = []

    class Watching:
        def __getattr__(self, name):
            asked.append(name)
            return getattr(registry.load(graph._prepared.backend.engine), name)

    graph._prepared.engine = Watching()
    found = tc.iter_triangles(graph, max_rows=10)
    assert asked == []
    assert len(list(islice(found, 2))) == 2
    assert asked.count("triangles_per_in_edge") == 1
    assert asked.count("list_triangles") == 2


@pytest.mark.parametrize("rows", [[], [(3, 3)], [(1, 2), (2, 3)]], ids=["none", "loop", "path"])
def test_no_triangle(backend, rows):
    edges = backend.frame(frame_of(rows))
    found = listed(backend, edges)
    assert len(found) == 0
    assert {found[corner].dtype for corner in "uvw"} == {np.dtype("int64")}
    assert frames(backend, edges, 3) == []
    assert len(listed(backend, edges, max_rows=0)) == 0


@pytest.mark.parametrize("dtype", ["uint8", "str", "datetime64[ns]"])
def test_no_rows_of_any_dtype(backend, dtype):
    edges = backend.frame(pd.DataFrame({"src": [], "dst": []}).astype(dtype))
    found = listed(backend, edges)
    assert {found[corner].dtype for corner in "uvw"} == {backend.to_pandas(edges)["src"].dtype}


@pytest.mark.pandas_only
def test_arrow_libraries_get_their_own(backend):
    import polars as pl
    import pyarrow as pa

    frame = complete(4).frame()
    expected = tc.list_triangles(frame)
    found = tc.list_triangles(pl.DataFrame(frame.to_dict("list")))
    assert type(found) is pl.DataFrame
    assert found.rows() == triangles_of(expected)
    table = pa.Table.from_pandas(frame)
    parts = list(tc.iter_triangles(table, max_rows=3))
    assert [type(part) for part in parts] == [pa.Table, pa.Table]
    assert sorted(map(tuple, pa.concat_tables(parts).to_pandas().values)) == triangles_of(expected)


# Refusals -----------------------------------------------------------------------------------------


def test_max_rows(backend):
    edges = backend.frame(complete(6).frame())
    assert len(listed(backend, edges, max_rows=20)) == 20
    with pytest.raises(tc.CapacityError, match=r"20 triangles.*max_rows=19.*iter_triangles"):
        tc.list_triangles(edges, max_rows=19)


def test_what_memory_cannot_hold_is_refused(backend):
    graph = tc.Graph(backend.frame(complete(200).frame()))
    next(tc.iter_triangles(graph, max_rows=1))  # what is made once is held
    held = tc.memory_estimate(graph, function="list_triangles")["columns"]
    need = costs.LISTED * 1_313_400
    limit = held + need
    assert len(listed(backend, graph, memory_limit=limit)) == 1_313_400
    with pytest.raises(tc.CapacityError, match=rf"{need:,} bytes.*{need - 1:,} bytes.*iter_tri"):
        tc.list_triangles(graph, memory_limit=limit - 1)
    with pytest.raises(tc.CapacityError, match="fewer rows"):
        next(tc.iter_triangles(graph, max_rows=10**9, memory_limit=limit - 1))
    assert len(next(tc.iter_triangles(graph, max_rows=1000, memory_limit=limit - 1))) == 1000


@pytest.mark.large
def test_more_triangles_than_rows_of_a_frame(backend):
    """K700 has 57 million: refused as soon as they are counted; the first frames come at once."""
    graph = tc.Graph(backend.frame(complete(700).frame()))
    with pytest.raises(tc.CapacityError, match=r"56,921,900 triangles.*iter_triangles"):
        tc.list_triangles(graph, memory_limit=2**30)
    for frame in islice(tc.iter_triangles(graph, max_rows=1000), 2):
        assert len(frame) == 1000


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "10", None])
def test_rows_of_a_frame_are_a_positive_integer(backend, wrong):
    with pytest.raises(ValueError, match="rows="):
        tc.iter_triangles(backend.frame(complete(3).frame()), max_rows=wrong)


@pytest.mark.parametrize("wrong", [-1, 1.5, "10"])
def test_max_rows_is_an_integer(backend, wrong):
    with pytest.raises(ValueError, match="max_rows="):
        tc.list_triangles(backend.frame(complete(3).frame()), max_rows=wrong)


def test_errors_come_at_the_call(backend):
    with pytest.raises(tc.ColumnNotFoundError):
        tc.iter_triangles(
            backend.frame(complete(3).frame()), max_rows=1, source="a", destination="b"
        )


@pytest.mark.parametrize("bits", [1, 2, 10, 20, 21, 22, 31, 32])
@pytest.mark.parametrize("off", [0, 1])
def test_triangles_are_sorted_however_many_bits_an_id_has(bits, off):
    """Three ids fit into a sort key of 64 bits up to 2**21 of them: a graph's size is made up."""
    size = min(2**bits + off, 2**32 - 1)
    top = np.array([0, 1, size // 2, size - 3, size - 2, size - 1]).clip(0) % size
    pool = np.unique(np.concatenate([top, np.random.default_rng(bits).integers(0, size, 40)]))
    corners = list(combinations(pool.tolist(), 3))[::-1]
    corners = [corner[i % 3 :] + corner[: i % 3] for i, corner in enumerate(corners)]
    numbers = np.array(corners, "uint32").reshape(-1, 3).T
    found = np.stack([np.asarray(end, "int64") for end in sorted_corners(numbers, size, np)])
    assert found.T.tolist() == sorted(sorted(corner) for corner in corners)


# At some vertices ---------------------------------------------------------------------------------


def test_only_what_is_around_the_vertices_is_walked(monkeypatch):
    """Two cliques that share no vertex: the other one is not laid out."""
    rows = [*combinations(range(6), 2), *combinations(range(10, 30), 2)]
    graph, engine = tc.Graph(frame_of(rows)), registry.load("cpu")
    sizes, prepare = [], engine.prepare
    monkeypatch.setattr(engine, "prepare", lambda csr, *more: sizes.append(csr.m) or prepare(csr))
    assert len(tc.list_triangles(graph, vertices=[2])) == 10
    assert sizes == [15, 10]


def test_some_vertices_and_the_most_rows():
    rows = frame_of(list(combinations(range(7), 2)))
    assert len(tc.list_triangles(rows, vertices=[0], max_rows=15)) == 15
    with pytest.raises(tc.CapacityError, match="the graph has 25 triangles, more than max_rows=24"):
        tc.list_triangles(rows, vertices=[0, 1], max_rows=24)
    days = pd.concat([rows.assign(day=1), frame_of(list(combinations(range(4), 2))).assign(day=2)])
    options = {"by": "day", "source": "src", "destination": "dst", "vertices": [0]}
    found = tc.list_triangles(days, max_rows=15, **options)
    assert found.groupby("day").size().to_dict() == {1: 15, 2: 3}
    with pytest.raises(tc.CapacityError, match="the group 'day': 1 has 15 triangles"):
        tc.list_triangles(days, max_rows=14, **options)


def test_unknown_vertices_are_named_at_the_call():
    for call in (tc.list_triangles, lambda edges, **o: tc.iter_triangles(edges, max_rows=2, **o)):
        with pytest.raises(ValueError, match=r"vertices=.* 7"):
            call(frame_of([(0, 1), (1, 2), (2, 0)]), vertices=[0, 7])


def test_triangles_at_some_vertices_of_several_columns():
    rows = frame_of([(0, 1), (1, 2), (2, 0), (2, 3)]).assign(a=1, b=1)
    ids = {"source": ["src", "a"], "destination": ["dst", "b"]}
    for vertex, expected in ((2, 1), (3, 0)):
        named = pd.DataFrame({"vertex_src": [vertex], "vertex_a": [1]})
        assert len(tc.list_triangles(rows, vertices=named, **ids)) == expected
