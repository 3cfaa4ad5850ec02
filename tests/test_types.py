"""Triangles by the types of sides and corners, and by signs, against joins, matrices and sets."""

import datetime
import tracemalloc
from collections import Counter
from contextlib import nullcontext
from functools import partial
from itertools import combinations

import duckdb
import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import reference
from checks import assert_columns
from graphs import complete, edge_lists
from hypothesis import given, settings
from hypothesis import strategies as st
from needs import need_module

import rapids_tc as tc
from rapids_tc import datasets
from rapids_tc.blocks.quantities import TrianglesByType
from rapids_tc.executors.local import PartitionedFrame
from rapids_tc.plan import costs
from rapids_tc.plan.block_layout import BlockLayout, use_layout

many = settings(max_examples=40, deadline=None)
IDS = {"source": "src", "destination": "dst"}
KINDS = st.sampled_from("abc")
TRIANGLE = [(0, 1), (1, 2), (2, 0)]


def typed(rows, types, **columns):
    return pd.DataFrame(rows, columns=["src", "dst"]).assign(kind=types, **columns)


def plain(frame):
    return [*frame.itertuples(index=False, name=None)]


# Against the oracles ------------------------------------------------------------------------------


@many
@given(rows=edge_lists(8, 50), data=st.data())
def test_types_of_edges(backend, rows, data):
    kinds = data.draw(st.lists(KINDS, min_size=len(rows), max_size=len(rows)))
    aggregate = data.draw(st.sampled_from(["first", "last", None]))
    per = data.draw(st.sampled_from([None, "vertex", "edge"]))
    frame = typed(rows, pd.Series(kinds, dtype="str"))
    call = {"edge_type": "kind", "per": per, "aggregate": aggregate, **IDS}
    try:
        right = reference.triangles_by_type(plain(frame), per=per, aggregate=aggregate)
    except ValueError:
        with pytest.raises(ValueError, match=r"'kind': the rows of the edge \d, \d say '.' and '"):
            tc.triangles_by_type(backend.frame(frame), **call)
        return
    found = backend.to_pandas(tc.triangles_by_type(backend.frame(frame), **call))
    owner = {None: [], "vertex": ["vertex"], "edge": ["src", "dst"]}[per]
    assert_columns(found, *owner, "type_1", "type_2", "type_3", "triangles")
    assert found["triangles"].dtype == np.int64
    assert plain(found) == right


@pytest.mark.parametrize("path", ["whole", "blocks", "partitions"])
@pytest.mark.parametrize("fits", [True, False])
def test_counters_that_do_not_fit_are_not_made(monkeypatch, path, fits):
    """The triangles are then listed, and the answer is the same."""
    edges = datasets.rmat(5, edge_factor=6, seed=2).astype("int64")
    frame = edges.assign(kind=(edges.min(axis=1) * 7 + edges.max(axis=1) * 5) % 60)
    if not fits:
        monkeypatch.setattr(costs, "COMBINATION", 10**12)
        monkeypatch.setattr(TrianglesByType, "visitor", None)
    given = PartitionedFrame([frame[:50], frame[50:]]) if path == "partitions" else frame
    corners = {v: 31 - v for v in range(32)}
    rows = list(zip(edges["src"], edges["dst"], strict=True))
    of_corners = Counter(
        tuple(sorted(corners[v] for v in three)) for three in reference.list_triangles(rows)
    )
    with nullcontext() if path == "whole" else use_layout(BlockLayout(2, 2)):
        by_sides = tc.triangles_by_type(given, edge_type="kind", **IDS)
        by_corners = tc.triangles_by_type(given, vertex_type=corners, **IDS)
    assert plain(by_sides) == reference.triangles_by_type(plain(frame))
    assert plain(by_corners) == [(*types, n) for types, n in sorted(of_corners.items())]


def test_the_counters_of_255_types_are_within_the_limit():
    n = 300
    fan = [(0, v) for v in range(1, n + 1)] + [(v, v + 1) for v in range(1, n)]
    frame = typed(fan, np.arange(len(fan)) % 255)
    call = partial(tc.triangles_by_type, edge_type="kind", memory_limit=10**6, **IDS)
    call(frame)  # what is compiled is compiled here
    tracemalloc.start()
    try:
        limited = call(frame)
        assert tracemalloc.get_traced_memory()[1] < 4 * 10**6  # counters take 132 MB
    finally:
        tracemalloc.stop()
    assert plain(limited) == reference.triangles_by_type(plain(frame))


@many
@given(rows=edge_lists(8, 50), types=st.lists(KINDS, min_size=8, max_size=8))
def test_types_of_vertices(backend, rows, types):
    types = dict(enumerate(types))
    frame = typed(rows, "")
    for per in (None, "vertex", "edge"):
        right = reference.triangles_by_type(plain(frame), vertex_type=types, per=per)
        found = tc.triangles_by_type(backend.frame(frame), vertex_type=types, per=per, **IDS)
        assert plain(backend.to_pandas(found)) == right


@pytest.mark.parametrize("types", [2, 5, 40])
def test_a_three_way_join_agrees(backend, types):
    """DuckDB's join of the simple edges with themselves, grouped by its three sorted types."""
    rng = np.random.default_rng(types)
    pairs = np.array([*combinations(range(60), 2)])[rng.random(60 * 59 // 2) < 0.4]
    edges = pd.DataFrame(pairs, columns=["src", "dst"])
    edges["kind"] = rng.integers(0, types, len(edges))
    right = duckdb.sql("""
        WITH sides AS (
            SELECT list_sort([a.kind, b.kind, c.kind]) AS k
            FROM edges a JOIN edges b ON a.dst = b.src
            JOIN edges c ON a.src = c.src AND b.dst = c.dst
        )
        SELECT k[1], k[2], k[3], count(*) FROM sides GROUP BY k ORDER BY k
    """).fetchall()
    ends = np.where(rng.random((len(edges), 1)) < 0.5, pairs, pairs[:, ::-1])
    turned = edges.assign(src=ends[:, 0], dst=ends[:, 1]).sample(frac=1, random_state=1)
    found = tc.triangles_by_type(backend.frame(turned), edge_type="kind")
    assert plain(backend.to_pandas(found)) == right


def test_the_two_sides_of_the_karate_club(backend):
    """Values of NetworkX's graph, by the attribute ``club`` of its vertices."""
    club = nx.get_node_attributes(nx.karate_club_graph(), "club")
    edges = backend.frame(datasets.karate())
    found = backend.to_pandas(tc.triangles_by_type(edges, vertex_type=club))
    officer, teacher = "Officer", "Mr. Hi"
    assert plain(found) == [
        (teacher, teacher, teacher, 26), (teacher, teacher, officer, 1),
        (teacher, officer, officer, 3), (officer, officer, officer, 15),
    ]  # fmt: skip


@many
@given(rows=edge_lists(8, 50), data=st.data())
def test_signs(backend, rows, data):
    """Also tr(A**3): six times the balanced triangles less the others."""
    numbers = st.sampled_from([-2.5, -1.0, 1.0, 3.0])
    trust = data.draw(st.lists(numbers, min_size=len(rows), max_size=len(rows)))
    aggregate = data.draw(st.sampled_from([None, *reference.AGGREGATES]))
    frame = typed(rows, np.array(trust, "float64"))
    call = {"sign": "kind", "aggregate": aggregate, **IDS}
    try:
        right = reference.balance(plain(frame), aggregate=aggregate)
    except ValueError:
        with pytest.raises(ValueError, match=r"'kind': the (rows|value) of the edge \d, \d "):
            tc.balance(backend.frame(frame), **call)
        return
    found = backend.to_pandas(tc.balance(backend.frame(frame), **call))
    assert_columns(found, "signs", "triangles", "balanced")
    assert (found["triangles"].dtype, found["balanced"].dtype) == (np.int64, bool)
    assert plain(found) == right
    matrix = np.zeros((8, 8))
    for (u, v), value in reference.edge_values(plain(frame), aggregate or "first").items():
        matrix[u, v] = matrix[v, u] = np.sign(value)
    signed = found["triangles"].where(found["balanced"], -found["triangles"]).sum()
    assert 6 * signed == np.trace(np.linalg.matrix_power(matrix, 3))
    by_vertex = backend.to_pandas(tc.balance(backend.frame(frame), per="vertex", **call))
    assert_columns(by_vertex, "vertex", "balanced", "unbalanced")
    assert by_vertex["balanced"].dtype == by_vertex["unbalanced"].dtype == np.int64
    assert plain(by_vertex) == reference.balance(plain(frame), per="vertex", aggregate=aggregate)


# Types of every dtype -----------------------------------------------------------------------------

DAY = datetime.date(2024, 2, 28)
TYPES = {  # three values in ascending order
    "str": pd.Series(["a", "b\0", "é"], dtype="str"),
    "object": pd.Series(["a", "b", "c"], dtype="object"),
    "dates": pd.Series([DAY, DAY.replace(day=29), DAY.replace(month=3)], dtype="object"),
    "int8": pd.Series([-128, 0, 127], dtype="int8"),
    "uint64": pd.Series([0, 2**63, 2**64 - 1], dtype="uint64"),
    "float32": pd.Series([-np.inf, -0.5, 1e30], dtype="float32"),
    "bool": pd.Series([False, True, True]),
    "Int64": pd.Series([1, 2, 3], dtype="Int64"),
    "boolean": pd.Series([False, True, True], dtype="boolean"),
    "datetimes": pd.Series(pd.date_range("2024", periods=3, tz="Asia/Tokyo")),
    "durations": pd.Series(pd.to_timedelta([1, 2, 3], "s")),
    "category": pd.Series(["a", "m", "z"]).astype(pd.CategoricalDtype(["z", "y", "m", "a"])),
    "ordered": pd.Series([3, 2, 1]).astype(pd.CategoricalDtype([3, 2, 1], ordered=True)),
}


@pytest.mark.pandas_only
@pytest.mark.parametrize("name", TYPES)
def test_types_come_back_in_their_dtype(backend, name):
    types = TYPES[name]
    frame = typed([*TRIANGLE, (2, 3), (3, 1)], types.take([2, 0, 1, 2, 1]).reset_index(drop=True))
    found = tc.triangles_by_type(frame, edge_type="kind")
    ranks = [sorted([2, 0, 1]), sorted([0, 2, 1])]
    if name in ("bool", "boolean"):
        assert plain(found) == [(False, True, True, 2)]
    else:
        [row] = {tuple(types.iloc[i] for i in three) for three in ranks}
        assert plain(found) == [(*row, 2)]
    assert {found[f"type_{i}"].dtype for i in (1, 2, 3)} == {frame["kind"].dtype}
    by_vertex = tc.triangles_by_type(frame, edge_type="kind", per="vertex")
    assert by_vertex["triangles"].sum() == 6 and by_vertex["type_1"].dtype == frame["kind"].dtype


@pytest.mark.parametrize(
    "types",
    [
        np.array([-128, 127, 0], "int8"), np.array([0, 255, 3], "uint8"),
        np.array([2**63 - 1, 2**63 - 2, 2**63 - 2**16], "int64"),
        np.array([2**64 - 1, 2**64 - 2**16, 2**64 - 2], "uint64"),
        np.array([2**64 - 1, 2**63, 2], "uint64"), np.array([-(2**63), 2**63 - 1, 5], "int64"),
    ],
    ids=lambda types: f"{types[0]} {types[1]}",
)  # fmt: skip
def test_integers_at_the_ends_of_their_range(backend, types):
    """Whether the range that they span is narrow or wide."""
    found = tc.triangles_by_type(backend.frame(typed(TRIANGLE, types)), edge_type="kind")
    assert plain(backend.to_pandas(found)) == [(*sorted(types.tolist()), 1)]
    assert found["type_1"].dtype == types.dtype


@pytest.mark.pandas_only
def test_types_of_half_precision():
    """pandas has no Index of them."""
    frame = typed(TRIANGLE, np.array([0.5, 0.25, 0.5], "float16"))
    assert plain(tc.triangles_by_type(frame, edge_type="kind")) == [(0.25, 0.5, 0.5, 1)]
    types = pd.Series(np.array([2, 1, 2, 1], "float16"))
    assert plain(tc.triangles_by_type(frame, vertex_type=types)) == [(1.0, 2.0, 2.0, 1)]


@pytest.mark.cpu_only
def test_types_of_other_libraries():
    pl = need_module("polars")
    columns = {"src": [0, 1, 2], "dst": [1, 2, 0], "kind": ["b", "a", "b"]}
    right = {"type_1": ["a"], "type_2": ["b"], "type_3": ["b"], "triangles": [1]}
    for found in (
        tc.triangles_by_type(pl.DataFrame(columns), edge_type="kind"),
        tc.triangles_by_type(pl.DataFrame(columns), vertex_type=pl.DataFrame(
            {"vertex": [2, 1, 0], "type": ["b", "a", "b"]})),
    ):  # fmt: skip
        assert isinstance(found, pl.DataFrame) and found.to_dict(as_series=False) == right
        assert found.schema["type_1"] == pl.String
    for rows in ([0, 1, 2], [2, 1, 0]):  # a Categorical's codes follow the order of rows
        kind = pl.Series([["mm", "aa", "zz"][row] for row in rows], dtype=pl.Categorical)
        frame = pl.DataFrame({"src": rows, "dst": [(row + 1) % 3 for row in rows], "kind": kind})
        of_vertices = frame.select(vertex="src", type="kind")
        for types in ({"edge_type": "kind"}, {"vertex_type": of_vertices}):
            found = tc.triangles_by_type(frame, **types, **IDS)
            assert found.rows() == [("aa", "mm", "zz", 1)]
    kinds = pl.Enum(["b", "a"])
    found = tc.triangles_by_type(
        pl.DataFrame(columns).cast({"kind": kinds}), edge_type="kind", per="edge"
    )
    assert found.schema["type_3"] == kinds and found["type_3"].to_list() == ["a"] * 3
    table = pa.table(columns)
    found = tc.triangles_by_type(table, edge_type="kind")
    assert isinstance(found, pa.Table) and found.to_pydict() == right
    assert found.schema.field("type_1").type == pa.string()
    days = table.set_column(2, "kind", pa.array([DAY] * 3))
    found = tc.triangles_by_type(days, edge_type="kind")
    assert found.schema.field("type_2").type == pa.date32() and found["type_2"].to_pylist() == [DAY]


def test_255_types_and_one_more(backend):
    edges = complete(24).frame()  # of 276 edges
    kinds = np.arange(len(edges)) % 255
    found = backend.to_pandas(
        tc.triangles_by_type(backend.frame(edges.assign(kind=kinds)), edge_type="kind")
    )
    rows = plain(edges.assign(kind=kinds))
    assert plain(found) == reference.triangles_by_type(rows)
    with pytest.raises(tc.CapacityError, match="more than 255 types"):
        tc.triangles_by_type(
            backend.frame(edges.assign(kind=np.arange(len(edges)) % 256)), edge_type="kind"
        )
    path = backend.frame(pd.DataFrame({"src": range(255), "dst": range(1, 256)}))
    with pytest.raises(tc.CapacityError, match="vertex_type= has more than 255 types"):
        tc.triangles_by_type(path, vertex_type=dict(enumerate(range(256))))


# Types of vertices --------------------------------------------------------------------------------


def test_every_way_to_give_the_types_of_vertices(backend):
    edges = backend.frame(typed([*TRIANGLE, (2, 3)], 0))
    types = {3: "x", 1: "a", 2: "b", 0: "a", 77: "not in the graph"}
    series = pd.Series(types)
    frame = pd.DataFrame({"type": series.values, "vertex": series.index, "other": 1})
    twice = pd.concat([frame, frame.iloc[:2]])
    for given_as in (types, series, series.astype("category"), frame, twice, pa.table(frame)):
        found = tc.triangles_by_type(edges, vertex_type=given_as, **IDS)
        assert plain(backend.to_pandas(found)) == [("a", "a", "b", 1)]
    other = pd.concat([frame, pd.DataFrame({"type": ["z"], "vertex": [1]})])
    with pytest.raises(ValueError, match=r"vertex_type=: 1 has several types"):
        tc.triangles_by_type(edges, vertex_type=other, **IDS)
    found = tc.triangles_by_type(edges, vertex_type=other, aggregate="last", **IDS)
    assert plain(backend.to_pandas(found)) == [("a", "b", "z", 1)]


def test_ids_of_typed_vertices_meet_the_graphs(backend):
    edges = backend.frame(typed(TRIANGLE, 0))
    floats = pd.Series(["a", "b", "a"], index=[0.0, 1.0, 2.0])
    found = tc.triangles_by_type(edges, vertex_type=floats, **IDS)
    assert plain(backend.to_pandas(found)) == [("a", "a", "b", 1)]
    with pytest.raises(tc.IdTypeError, match="vertex_type= has dtype"):
        tc.triangles_by_type(edges, vertex_type={"0": "a", "1": "b", "2": "a"}, **IDS)
    with pytest.raises(tc.NullIdError, match=r"no type for 2 of the vertices: 1, 2;"):
        tc.triangles_by_type(edges, vertex_type={0: "a", 2: None}, **IDS)


# Nothing, and what is not accepted ----------------------------------------------------------------


@pytest.mark.parametrize("rows", [[], [(4, 4), (5, 5)], [(0, 1), (1, 2)]])
def test_no_triangles(backend, rows):
    frame = pd.DataFrame(rows, columns=["src", "dst"]).astype("int64")
    edges = backend.frame(frame.assign(kind=np.arange(len(rows)) + 1))
    for per, columns in ((None, ()), ("vertex", ("vertex",)), ("edge", ("src", "dst"))):
        found = backend.to_pandas(tc.triangles_by_type(edges, edge_type="kind", per=per, **IDS))
        assert_columns(found, *columns, "type_1", "type_2", "type_3", "triangles")
        assert len(found) == 0 and found["type_1"].dtype == np.int64
    signs = backend.to_pandas(tc.balance(edges, sign="kind", **IDS))
    assert signs["triangles"].tolist() == [0, 0, 0, 0]
    by_vertex = backend.to_pandas(tc.balance(edges, sign="kind", per="vertex", **IDS))
    assert by_vertex["vertex"].tolist() == sorted({end for row in rows for end in row})
    assert not by_vertex[["balanced", "unbalanced"]].to_numpy().any()


def test_signs_that_are_none(backend):
    def call(trust, **options):
        return tc.balance(backend.frame(typed(TRIANGLE, trust)), sign="kind", **options)

    with pytest.raises(ValueError, match="the value of the edge 1, 2 is 0, which has no sign"):
        call([1, 0, -1])
    with pytest.raises(ValueError, match=r"1 of the signs are missing or infinite, the.* row 2"):
        call([1.0, 2.0, np.nan])
    with pytest.raises(ValueError, match="has dtype"):
        call(["+", "-", "+"])
    loop = backend.frame(typed([*TRIANGLE, (3, 3)], [1, 1, 1, 0]))
    assert backend.to_pandas(tc.balance(loop, sign="kind"))["triangles"].tolist() == [1, 0, 0, 0]
