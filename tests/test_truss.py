"""Trussness as a column, and k-trusses as the user's own rows."""

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import reference
from checks import assert_column, rows_of
from graphs import SMALL, book, complete, dense_edge_lists, disturbed, edge_frames, edge_lists, tube
from hypothesis import given, settings
from hypothesis import strategies as st
from needs import need_module

import rapids_tc as tc
from rapids_tc import datasets
from rapids_tc.engines import registry
from rapids_tc.graphs.in_memory import InMemoryGraph

many = settings(max_examples=40, deadline=None)
ATLAS = [list(graph.edges) for graph in nx.graph_atlas_g() if graph.size()]


def frame_of(rows):
    return pd.DataFrame(rows, columns=["src", "dst"], dtype="int64")


def side_by_side(graphs):
    """The disjoint union of lists of rows, with ids apart."""
    return [(1000 * i + u, 1000 * i + v) for i, rows in enumerate(graphs) for u, v in rows]


def first_rows(rows, kept):
    """The places of the rows that are the first of an edge in `kept`."""
    seen, places = set(), []
    for place, (u, v) in enumerate(rows):
        edge = (min(u, v), max(u, v))
        if edge in kept and edge not in seen:
            places.append(place)
            seen.add(edge)
    return places


def check(backend, frame):
    """Ask for the trussness and every k-truss of a pandas frame, against repeated filtering."""
    rows, edges = rows_of(frame), backend.frame(frame)
    number = reference.trussness(rows)
    column = backend.to_pandas(tc.trussness(edges))
    by_row = reference.by_row(rows, number)
    assert_column(column, "trussness", np.int32, frame.index, by_row)
    most = max(number.values(), default=2)
    graph = tc.Graph(edges)
    for k in range(2, most + 2):
        places = first_rows(rows, {edge for edge, numbered in number.items() if numbered >= k})
        pd.testing.assert_frame_equal(backend.to_pandas(tc.k_truss(graph, k)), frame.iloc[places])
    places = first_rows(rows, {edge for edge, numbered in number.items() if numbered == most})
    pd.testing.assert_frame_equal(backend.to_pandas(tc.k_truss(graph, "max")), frame.iloc[places])


# Against repeated filtering -----------------------------------------------------------------------


@many
@given(edges=edge_frames())
def test_raw_rows_of_any_dtype(backend, edges):
    if len(edges):
        check(backend, edges)


@many
@given(rows=st.one_of(dense_edge_lists(), edge_lists(), dense_edge_lists(16)))
def test_dense_graphs(backend, rows):
    check(backend, frame_of(rows))


def test_every_graph_of_the_atlas_at_once(backend):
    check(backend, frame_of(side_by_side(ATLAS)))


@pytest.mark.parametrize("name", SMALL)
def test_ids_order_and_direction_do_not_matter(backend, name):
    for seed in range(3):
        check(backend, disturbed(SMALL[name], seed)[0])


@many
@given(rows=st.one_of(edge_lists(), dense_edge_lists(14)), k=st.integers(2, 8))
def test_networkx_agrees(backend, rows, k):
    edges = reference.simple_edges(rows)
    expected = {tuple(sorted(edge)) for edge in nx.k_truss(nx.Graph(edges), k).edges}
    found = backend.to_pandas(tc.k_truss(backend.frame(frame_of(rows)), k))
    assert {tuple(sorted(row)) for row in rows_of(found)} == expected


# Closed forms -------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 3, 4, 32, 33, 70])
def test_a_clique_of_n_has_trussness_n(backend, n):
    edges = backend.frame(complete(n).frame())
    assert backend.to_pandas(tc.trussness(edges)).unique().tolist() == [n]
    assert len(tc.k_truss(edges, n)) == len(edges)
    assert len(tc.k_truss(edges, n + 1)) == 0


def test_components_do_not_matter(backend):
    cliques = [complete(n).rows for n in range(2, 30)]
    frame = frame_of(side_by_side(cliques))
    found = backend.to_pandas(tc.trussness(backend.frame(frame)))
    assert found.tolist() == [n for n in range(2, 30) for _ in range(n * (n - 1) // 2)]


@pytest.mark.parametrize(("circumference", "rings"), [(4, 300), (5, 40), (64, 6)])
def test_a_tube_is_peeled_from_its_ends(backend, circumference, rings):
    # An inner edge is in two triangles and one of a rim in one: with the rims gone, there are new.
    edges = backend.frame(tube(circumference, rings).frame())
    assert backend.to_pandas(tc.trussness(edges)).unique().tolist() == [3]
    assert len(tc.k_truss(edges, 3)) == len(edges)
    assert len(tc.k_truss(edges, 4)) == 0


def test_many_triangles_do_not_make_a_truss(backend):
    edges = backend.frame(book(500).frame())
    assert backend.to_pandas(tc.trussness(edges)).unique().tolist() == [3]


def test_trusses_are_nested(backend):
    edges = backend.frame(datasets.rmat(8))
    graph, outer = tc.Graph(edges), None
    most = int(backend.to_pandas(tc.trussness(graph)).max())
    for k in range(2, most + 1):
        inner = set(rows_of(backend.to_pandas(tc.k_truss(edges, k))))
        assert inner
        assert outer is None or inner <= outer
        outer = inner
    assert set(rows_of(backend.to_pandas(tc.k_truss(edges, "max")))) == outer
    assert len(tc.k_truss(graph, most + 1)) == 0


# The user's own rows ------------------------------------------------------------------------------


@pytest.fixture
def own():
    """A frame with an index and columns of its own: a triangle, repeats, a loop and a tail."""
    frame = pd.DataFrame(
        {
            "when": pd.date_range("2026-01-01", periods=8, tz="UTC"),
            "src": [5, 1, 9, 9, 7, 1, 5, 9],
            "dst": [1, 9, 5, 2, 7, 5, 1, 9],
            "kind": pd.Categorical(list("abcabcab")),
            "share": [0.5, None, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5],
        },
        index=pd.Index([10, 10, 11, 12, 13, 14, 15, 16], name="row"),
    )
    return frame


def test_rows_come_back_as_they_were(backend, own):
    edges = backend.frame(own)
    for k, places in ((2, [0, 1, 2, 3]), (3, [0, 1, 2]), ("max", [0, 1, 2]), (4, [])):
        found = tc.k_truss(edges, k, source="src", destination="dst")
        assert type(found) is type(edges)
        pd.testing.assert_frame_equal(backend.to_pandas(found), own.iloc[places])
    pd.testing.assert_frame_equal(backend.to_pandas(edges), own)


@pytest.mark.pandas_only
def test_rows_of_arrow_and_polars(own):
    pa, pl = need_module("pyarrow"), need_module("polars")
    table = pa.Table.from_pandas(own)
    assert tc.k_truss(table, 3).equals(table.slice(0, 3))
    assert tc.k_truss(table, 4).equals(table.slice(0, 0))
    assert tc.trussness(table).to_pylist() == [3, 3, 3, 2, 0, 3, 3, 0]
    frame = pl.from_arrow(table)
    assert tc.k_truss(frame, 3).equals(frame.head(3))
    assert tc.trussness(frame).to_list() == [3, 3, 3, 2, 0, 3, 3, 0]


@pytest.mark.parametrize("rows", [[], [(3, 3)], [(1, 2)], [(1, 2), (2, 1), (1, 1)]])
def test_graphs_without_a_triangle(backend, rows):
    frame = frame_of(rows)
    edges = backend.frame(frame)
    expected = [0 if u == v else 2 for u, v in rows]
    assert backend.to_pandas(tc.trussness(edges)).tolist() == expected
    for k, size in ((2, int(2 in expected)), ("max", int(2 in expected)), (3, 0), (2**40, 0)):
        found = backend.to_pandas(tc.k_truss(edges, k))
        pd.testing.assert_frame_equal(found, frame.head(size))


@pytest.mark.parametrize("k", [1, 0, -3, True, False, 3.0, "3", "MAX", "", None, [3], np.bool_(1)])
def test_what_is_no_k(backend, k):
    for edges in (frame_of([(1, 2)]), frame_of([])):
        with pytest.raises(ValueError, match=r'k=.*2 on, or "max"'):
            tc.k_truss(backend.frame(edges), k)


def test_k_may_be_any_integer(backend):
    edges = backend.frame(complete(5).frame())
    for k, size in ((np.int8(5), 10), (np.uint64(2**63), 0), (2**31, 0), (2**100, 0)):
        assert len(tc.k_truss(edges, k)) == size


# A graph asked again, and what a call does meanwhile ----------------------------------------------


def test_a_graph_is_peeled_once(backend, monkeypatch):
    edges = backend.frame(complete(6).frame())
    graph = tc.Graph(edges)
    expected = backend.to_pandas(tc.trussness(graph))
    monkeypatch.setattr(InMemoryGraph, "peel", None)
    assert backend.to_pandas(tc.trussness(graph)).equals(expected)
    assert len(tc.k_truss(graph, 6)) == len(tc.k_truss(graph, "max")) == 15


def test_an_interrupted_call_leaves_the_graph_as_it_was(backend):
    edges = backend.frame(datasets.rmat(7))
    graph = tc.Graph(edges)
    counts = backend.to_pandas(tc.edge_triangles(graph))
    engine = registry.load(graph._prepared.backend.engine)

    def interrupt(done, note):
        raise KeyboardInterrupt

    for k in (None, 4):
        with pytest.raises(KeyboardInterrupt):
            prepared = graph._prepared
            engine.truss(prepared.layout, prepared.edge_counts, k=k, on_progress=interrupt)
    assert backend.to_pandas(tc.edge_triangles(graph)).equals(counts)
    assert backend.to_pandas(tc.trussness(graph)).equals(backend.to_pandas(tc.trussness(edges)))


def test_progress_says_where_it_is(backend):
    graph = tc.Graph(backend.frame(tube(4, 2000).frame()))
    engine, told = registry.load(graph._prepared.backend.engine), []
    engine.truss(
        graph._prepared.layout,
        graph._prepared.edge_counts,
        on_progress=lambda done, note: told.append((done, note)),
    )
    shares = [done for done, _ in told]
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert told[-1][1] == "k = 3, 0 edges, round 2,000"


def test_answers_are_the_same_on_every_run(backend):
    edges = backend.frame(datasets.rmat(9))
    first, again = tc.trussness(edges), tc.trussness(edges)
    assert backend.to_pandas(first).equals(backend.to_pandas(again))


# Large --------------------------------------------------------------------------------------------


@pytest.mark.large
def test_a_long_tube(backend):
    """125,000 rounds: what a round costs."""
    edges = backend.frame(tube(4, 125_001).frame())
    assert backend.to_pandas(tc.trussness(edges)).unique().tolist() == [3]


@pytest.mark.large
def test_a_large_clique(backend):
    edges = backend.frame(complete(1500).frame())
    assert backend.to_pandas(tc.trussness(edges)).unique().tolist() == [1500]


@pytest.mark.large
def test_one_k_and_all_k_agree(backend):
    graph = tc.Graph(backend.frame(datasets.rmat(14)))
    asked = {k: len(tc.k_truss(graph, k)) for k in (3, 4, 8, 16, 40)}
    number = graph._prepared.trussness
    assert asked == {k: int((number >= k).sum()) for k in asked}
    assert int(number.max()) == 77
    assert int(number.sum()) == 4_424_781


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
@pytest.mark.parametrize("path", ["in memory", "in blocks", "kept"])
def test_the_rows_of_a_truss_are_within_the_limit(kind, path):
    """All columns of the user's count: the truss is most of the frame, which is wide."""
    edges = datasets.rmat(9, edge_factor=8, seed=1).assign(**{f"c{i}": 1.0 for i in range(40)})
    frame = {"pandas": lambda f: f, "polars": pl.from_pandas, "arrow": pa.Table.from_pandas}[kind](
        edges
    )
    ids = {} if path == "kept" else {"source": "src", "destination": "dst"}
    given = tc.Graph(frame, source="src", destination="dst") if path == "kept" else frame
    limit = 200_000 if path == "in blocks" else 900_000
    with pytest.raises(
        tc.CapacityError, match=r"rows of the answer take about \d{3},\d{3} bytes, and"
    ):
        tc.k_truss(given, 3, memory_limit=limit, **ids)
    few = tc.k_truss(given, "max", memory_limit=limit, **ids)
    assert 0 < len(few) < 200
    assert len(tc.k_truss(given, 3, memory_limit=10**8, **ids)) > 2500
