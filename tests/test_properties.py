"""Any graph: against the oracle, over every id dtype, and under every disguise of one graph."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import reference
from checks import check, rows_of
from graphs import SMALL, dense_edge_lists, disturbed, edge_frames, edge_lists
from hypothesis import given, settings
from hypothesis import strategies as st

import rapids_tc as tc

ATLAS = [list(graph.edges) for graph in nx.graph_atlas_g() if graph.size()]
many = settings(max_examples=100, deadline=None)


def frame_of(rows, dtype="int64"):
    return pd.DataFrame(rows, columns=["src", "dst"], dtype=dtype)


@many
@given(edges=edge_frames())
def test_raw_rows_of_any_dtype(backend, edges):
    if len(edges):  # the dtypes of empty answers have their own tests
        check(backend, edges)


@many
@given(rows=dense_edge_lists())
def test_dense_graphs(backend, rows):
    check(backend, frame_of(rows))


@many
@given(rows=edge_lists(), extra=st.lists(st.integers(-3, 20), max_size=5), data=st.data())
def test_chosen_vertices(backend, rows, extra, data):
    graph = tc.Graph(backend.frame(frame_of(rows)), vertices=extra)
    corners = reference.vertex_triangles(rows, extra)
    some = st.lists(st.sampled_from(sorted(corners)), max_size=8) if corners else st.just([])
    chosen = data.draw(some, label="vertices")
    frame = backend.to_pandas(tc.vertex_triangles(graph, vertices=chosen))
    assert frame["vertex"].tolist() == chosen
    assert frame["triangles"].tolist() == [corners[v] for v in chosen]
    assert (graph.n_vertices, tc.count(graph)) == (len(corners), reference.count(rows))


@many
@given(rows=edge_lists())
def test_simple_edges_are_a_graph_with_the_same_answers(backend, rows):
    edges = backend.frame(frame_of(rows))
    once = tc.simple_edges(edges)
    assert tc.count(once) == tc.count(edges)
    assert backend.to_pandas(tc.simple_edges(once)).equals(backend.to_pandas(once))


def test_every_graph_of_the_atlas_at_once(backend):
    union = frame_of([(10 * i + u, 10 * i + v) for i, rows in enumerate(ATLAS) for u, v in rows])
    check(backend, union)


@pytest.mark.parametrize("start", range(10))
def test_graphs_of_the_atlas_one_by_one(backend, start):
    for rows in ATLAS[start::60]:
        check(backend, frame_of(rows))


@pytest.mark.parametrize("name", SMALL)
def test_closed_forms(backend, name):
    known = SMALL[name]
    edges = backend.frame(known.frame())
    sides = backend.to_pandas(tc.edge_triangles(edges))
    assert tc.count(edges) == known.triangles
    assert sides.value_counts().to_dict() == known.by_edge
    assert len(backend.to_pandas(tc.vertex_triangles(edges))) == known.n_vertices


@pytest.mark.parametrize("name", SMALL)
def test_ids_order_and_direction_do_not_matter(backend, name):
    known = SMALL[name]
    corners, sides = reference.vertex_triangles(known.rows), reference.edge_triangles(known.rows)
    for seed in range(20):
        frame, ids = disturbed(known, seed)
        edges = backend.frame(frame)
        was = {new: old for old, new in enumerate(ids.tolist())}
        assert tc.count(edges) == known.triangles
        vertices = backend.to_pandas(tc.vertex_triangles(edges))
        assert vertices["vertex"].tolist() == sorted(was)
        assert vertices["triangles"].tolist() == [corners[was[v]] for v in sorted(was)]
        rows = [(was[u], was[v]) for u, v in rows_of(frame)]
        assert backend.to_pandas(tc.edge_triangles(edges)).tolist() == reference.by_row(rows, sides)


def test_answers_are_the_same_on_every_run(backend):
    rng = np.random.default_rng(0)
    edges = backend.frame(frame_of(rng.integers(0, 300, (4000, 2))))
    first, again = tc.annotate(edges, "triangles"), tc.annotate(edges, "triangles")
    assert backend.to_pandas(first).equals(backend.to_pandas(again))
    first, again = tc.vertex_triangles(edges), tc.vertex_triangles(edges)
    assert backend.to_pandas(first).equals(backend.to_pandas(again))
