"""Trusses and their communities, of which only triangles of a kind count."""

from functools import partial
from itertools import cycle

import numpy as np
import pandas as pd
import pytest
import reference
from checks import rows_of
from graphs import complete
from hypothesis import given, settings
from hypothesis import strategies as st
from kind_support import OF_EDGES, ROW, SIGNS, TIMES, TYPES, by_definition, frame_of, kinds

import rapids_tc as tc
from rapids_tc import datasets, testing
from rapids_tc.executors.local import PartitionedFrame
from rapids_tc.plan.block_layout import BlockLayout, use_layout

VERTEX = st.integers(0, 6)
ROWS = st.lists(st.tuples(VERTEX, VERTEX, ROW), max_size=45)


def first_rows(rows):
    """{edge: the place of its first row}."""
    places = {}
    for place, (u, v) in enumerate(rows):
        if u != v:
            places.setdefault((min(u, v), max(u, v)), place)
    return places


def check(backend, rows, where, edges):
    """All trusses of a kind, against repeated filtering of the triangles that are of it."""
    plain, triangles = [row[:2] for row in rows], by_definition(rows, where)
    number, first = reference.trussness_of(triangles, plain), first_rows(plain)
    found = backend.to_pandas(tc.trussness(edges, where=where))
    assert (found.name, found.dtype) == ("trussness", np.int32)
    assert found.tolist() == reference.by_row(plain, number)
    most = max(number.values(), default=2)
    for k in [*range(2, most + 2), "max"]:
        level = most if k == "max" else k
        right = sorted(first[edge] for edge, own in number.items() if own >= level)
        assert backend.to_pandas(tc.k_truss(edges, k, where=where)).index.tolist() == right


def check_communities(backend, rows, where, edges):
    """The communities of two k, and the tables of all."""
    plain, triangles = [row[:2] for row in rows], by_definition(rows, where)
    first = first_rows(plain)
    for connected in ("triangles", "edges"):
        for k in (2, 3):
            number = reference.truss_communities_of(triangles, plain, k, connected=connected)
            found = tc.truss_communities(edges, k, connected=connected, where=where)
            found = backend.to_pandas(found)["community"]
            assert found.to_dict() == {first[edge]: own for edge, own in number.items()}
        table = backend.to_pandas(tc.truss_hierarchy(edges, connected=connected, where=where))
        table = table.astype(object).replace({pd.NA: None, np.nan: None})
        right = reference.truss_hierarchy_of(triangles, plain, connected=connected)
        assert [*table.itertuples(index=False, name=None)] == right
    columns = ("truss_community", "triangles", "trussness")
    found = backend.to_pandas(tc.annotate(edges, *columns, where=where))
    for name, by_edge in reference.annotate_of(triangles, plain, columns).items():
        loop = -1 if name == "truss_community" else 0
        assert found[name].tolist() == reference.by_row(plain, by_edge, loop)


@settings(max_examples=25, deadline=None)
@given(rows=ROWS, where=kinds())
def test_a_truss_of_a_kind_is_its_definition(backend, rows, where):
    if where.aggregate == "sum":
        rows = [(u, v, {**row, "sign": 3 * row["sign"] + 1}) for u, v, row in rows]  # -5 and 4
        rows = rows[:4]  # which never add up to 0
    for edges in (frame := backend.frame(frame_of(rows)), tc.Graph(frame)):
        check(backend, rows, where, edges)
        check_communities(backend, rows, where, edges)


def many_rows(seed, vertices=14, rows=230):
    """Rows of a multigraph, about three of each edge."""
    random = np.random.default_rng(seed)
    ends, times = random.integers(0, vertices, (2, rows)).tolist(), random.integers(0, 30, rows)
    types, signs = random.choice([*"aab"], rows).tolist(), random.choice([-1, 1], rows).tolist()
    return [
        (u, v, {"time": t, "type": kind, "sign": sign})
        for u, v, t, kind, sign in zip(*ends, times.tolist(), types, signs, strict=True)
    ]


OF_VERTICES = {"vertex_type": TYPES | {12: "a", 13: "b"}, "types": ("a", None, "b")}
GIVEN = {
    "times": TIMES,
    "types": OF_EDGES,
    "signs": SIGNS | {"aggregate": "first"},
    "types and signs": OF_EDGES | SIGNS,
    "types and times": OF_EDGES | TIMES,
    "signs and times": SIGNS | TIMES | {"aggregate": "last"},
    "vertices": OF_VERTICES,
    "vertices and signs": OF_VERTICES | SIGNS | {"aggregate": "first"},
    "vertices and times": OF_VERTICES | TIMES,
}


@pytest.mark.cpu_only
@pytest.mark.parametrize("engine", ["cpu", "cuda"])
@pytest.mark.parametrize("name", GIVEN)
def test_every_kind_on_both_engines(backend, name, engine):
    where = tc.Triangles(**GIVEN[name])
    for seed in range(3 if engine == "cpu" else 1):
        rows = many_rows(seed)
        number = reference.trussness_of(by_definition(rows, where), [row[:2] for row in rows])
        assert max(number.values()) >= 3 and len({*number.values()}) > 1, "a trivial case"
        assert number != reference.trussness([row[:2] for row in rows])
        with testing.host_engine():
            edges = tc.Graph(frame_of(rows), engine=engine)
            check(backend, rows, where, edges)
            check_communities(backend, rows, where, edges)


def test_a_kind_that_all_triangles_have(backend):
    """The trusses are those of all triangles; and a graph keeps those of its own apart."""
    frame = datasets.rmat(8)
    frame["t"] = np.arange(len(frame)) % 50
    graph = tc.Graph(backend.frame(frame))
    every, few = (tc.Triangles(time="t", within=length) for length in (50, 3))
    first = backend.to_pandas(tc.trussness(graph, where=few))
    right = backend.to_pandas(tc.trussness(graph))
    assert backend.to_pandas(tc.trussness(graph, where=every)).equals(right)
    assert backend.to_pandas(tc.trussness(graph, where=few)).equals(first)
    assert (first <= right).all() and (first < right).any()
    communities = backend.to_pandas(tc.annotate(graph, "truss_community"))
    found = backend.to_pandas(tc.annotate(graph, "truss_community", where=every))
    pd.testing.assert_frame_equal(found, communities)


def test_groups(backend):
    """Each group is a graph of its own, and has its own last truss."""
    rows, where = {day: many_rows(day, 9, 90) for day in range(3)}, tc.Triangles(**TIMES)
    frame = pd.concat([frame_of(own).assign(day=day) for day, own in rows.items()])
    frame = frame.reset_index(drop=True)
    edges, before = backend.frame(frame), 0
    found = backend.to_pandas(tc.trussness(edges, where=where, by="day")).tolist()
    last = backend.to_pandas(tc.k_truss(edges, "max", where=where, by="day"))
    parts = backend.to_pandas(tc.truss_communities(edges, 3, where=where, by="day"))
    for day, own in rows.items():
        plain, triangles = [row[:2] for row in own], by_definition(own, where)
        number = reference.trussness_of(triangles, plain)
        assert found[before : before + len(own)] == reference.by_row(plain, number)
        before += len(own)
        most = max(number.values())
        assert {*rows_of(last[last["day"] == day])} == {
            plain[first_rows(plain)[edge]] for edge, level in number.items() if level == most
        }
        communities = reference.truss_communities_of(triangles, plain, 3)
        of_day = parts[parts["day"] == day]
        assert dict(zip(rows_of(of_day), of_day["community"], strict=True)) == {
            plain[first_rows(plain)[edge]]: community for edge, community in communities.items()
        }


def test_a_clique_that_is_closed_in_time_stays(backend):
    """Of two cliques of five, which share a vertex, one is closed in time."""
    clique = complete(5).rows
    rows = [(u, v, 0) for u, v in clique] + [(u + 4, v + 4, u + v) for u, v in clique]
    edges = backend.frame(pd.DataFrame(rows, columns=["src", "dst", "t"]))
    found = backend.to_pandas(tc.trussness(edges, where=tc.Triangles(time="t", within=2))).tolist()
    assert found[:10] == [5] * 10
    assert max(found[10:]) == 3


# In blocks ----------------------------------------------------------------------------------------


def in_parts(frame):
    return PartitionedFrame([frame[:50], frame[50:50], frame[50:]])


BLOCKS = {  # to the end, until few edges are left, and in one block
    "2 x 2": (lambda frame: frame, BlockLayout(2, peel_below=0)),
    "3 x 3, then in memory": (lambda frame: frame, BlockLayout(3, peel_below=50)),
    "one block": (lambda frame: frame, BlockLayout(1, peel_below=0)),
    "partitions": (in_parts, BlockLayout(2, 2, peel_below=30)),
    "partitions in one block": (in_parts, BlockLayout(1)),
    "kept partitions": (lambda frame: tc.Graph(in_parts(frame)), BlockLayout(3, peel_below=0)),
}


def whole(backend, found):
    """The rows of an answer in the order of the frame."""
    parts = found.partitions if isinstance(found, PartitionedFrame) else [found]
    return pd.concat([*map(backend.to_pandas, parts)]).sort_index()


def check_in_blocks(backend, rows, where, edges):
    plain, triangles = [row[:2] for row in rows], by_definition(rows, where)
    number, first = reference.trussness_of(triangles, plain), first_rows(plain)
    columns = "trussness", "triangles"
    found = whole(backend, tc.annotate(edges, *columns, where=where))
    for name, by_edge in reference.annotate_of(triangles, plain, columns).items():
        assert found[name].tolist() == reference.by_row(plain, by_edge)
    for k in (2, 3, 4, "max"):
        level = max(number.values()) if k == "max" else k
        right = sorted(first[edge] for edge, own in number.items() if own >= level)
        assert whole(backend, tc.k_truss(edges, k, where=where)).index.tolist() == right


@pytest.mark.cpu_only
@pytest.mark.parametrize(("name", "path"), [*zip(GIVEN, cycle(BLOCKS), strict=False)])
def test_a_graph_in_blocks(backend, name, path):
    rows, where = many_rows(len(name), rows=150), tc.Triangles(**GIVEN[name])
    given, layout = BLOCKS[path]
    with use_layout(layout):
        check_in_blocks(backend, rows, where, given(frame_of(rows)))


@pytest.mark.cpu_only
@pytest.mark.parametrize("name", ["types", "types and times"])
def test_a_graph_in_blocks_on_a_gpu(backend, name):
    rows, where = many_rows(7, rows=150), tc.Triangles(**GIVEN[name])
    for below in (0, 50):
        with testing.host_engine(), use_layout(BlockLayout(2, peel_below=below)):
            check_in_blocks(backend, rows, where, frame_of(rows))


def test_a_limit_of_memory(backend):
    """Each group has its own last truss; and what a limit allows is as in memory."""
    frame = datasets.rmat(10)
    frame = frame.assign(t=frame.index % 50, day=frame["src"] % 2)
    edges, where = backend.frame(frame), tc.Triangles(time="t", within=20)
    limit = {"memory_limit": 800_000}
    for call in (partial(tc.k_truss, k="max", by="day"), partial(tc.k_truss, k=4), tc.trussness):
        found, right = (call(edges, where=where, **given) for given in (limit, {}))
        assert backend.to_pandas(found).equals(backend.to_pandas(right))


# Refusals -----------------------------------------------------------------------------------------


CALLS = {
    "trussness": (tc.trussness,),
    "k_truss": (tc.k_truss, 4),
    "annotate": (tc.annotate, "triangles", "trussness"),
    "truss_communities": (tc.truss_communities, 4),
    "truss_hierarchy": (tc.truss_hierarchy,),
}


@pytest.mark.parametrize("name", ["truss_communities", "truss_hierarchy"])
def test_communities_of_a_kind_are_found_in_memory_alone(backend, name):
    (call, *asked), where = CALLS[name], tc.Triangles(time="t", within=1)
    edges = backend.frame(datasets.rmat(10).assign(t=1))
    told = r"is not counted in blocks: k_truss\(edges, k, where=\) is$"
    with pytest.raises(tc.CapacityError, match=told):
        call(edges, *asked, where=where, memory_limit=500_000)
    with pytest.raises(TypeError, match=r"runs on one machine: give it edges.compute\(\)$"):
        call(PartitionedFrame([edges]), *asked, where=where)


@pytest.mark.parametrize(("call", "asked"), [(call, asked) for call, *asked in CALLS.values()])
def test_trusses_of_directed_triangles_are_refused(backend, call, asked):
    edges = backend.frame(complete(4).frame())
    with pytest.raises(ValueError, match=r"directed='cycle'\): .* asks for triangles of edges"):
        call(edges, *asked, where=tc.Triangles(directed="cycle"))
