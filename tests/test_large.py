"""Graphs past the limits of 32 bits, of one row a vertex and of one row a thread."""

import numpy as np
import pandas as pd
import pytest
from graphs import book, complete, disjoint_triangles, star, wheel

import rapids_tc as tc

pytestmark = pytest.mark.large


def test_more_triangles_than_32_bits_count(backend):
    n, triangles = 3000, 4_495_501_000
    known = complete(n)
    assert known.triangles == triangles > 2**32
    assert tc.count(backend.frame(known.frame().astype("int32"))) == triangles


def test_a_star_of_a_million_leaves_costs_no_probe(backend):
    known = star(1_000_000)
    edges = backend.frame(known.frame())
    assert tc.count(edges) == 0
    graph = tc.Graph(edges)
    assert int(graph._prepared.engine.probe_counts(graph.csr).sum()) == 0
    assert (graph.n_vertices, graph.n_edges) == (1_000_001, 1_000_000)
    assert tc.transitivity(graph) == 0.0


def test_a_wheel_of_a_million(backend):
    known = wheel(1_000_000)
    graph = tc.Graph(backend.frame(known.frame()))
    assert tc.count(graph) == 1_000_000
    corners = backend.to_pandas(tc.vertex_triangles(graph))["triangles"]
    assert corners.iloc[0] == 1_000_000
    assert (corners.iloc[1:] == 2).all()


def test_a_book_of_50_000_pages(backend):
    known = book(50_000)
    edges = backend.frame(known.frame())
    assert tc.count(edges) == 50_000
    sides = backend.to_pandas(tc.edge_triangles(edges))
    assert sides.value_counts().to_dict() == known.by_edge


def test_many_disjoint_triangles(backend):
    """More than 2**21 vertices: a key of two ranks has more bits than a float64 tells apart."""
    known = disjoint_triangles(750_000)
    graph = tc.Graph(backend.frame(known.frame()))
    assert (graph.n_vertices, graph.n_edges) == (2_250_000, 2_250_000)
    assert tc.count(graph) == 750_000
    corners = backend.to_pandas(tc.vertex_triangles(graph))["triangles"]
    assert (corners == 1).all()


def test_keys_past_float64_keep_close_neighbors_apart(backend):
    """A million isolated pairs, then edges of high numbers that differ in the last bit."""
    pairs = np.arange(2_200_000, dtype="int64").reshape(-1, 2)
    high = 2**40 + np.arange(8)
    source, destination = np.triu_indices(8, 1)
    clique = np.stack([high[source], high[destination]], axis=1)
    edges = backend.frame(pd.DataFrame(np.concatenate([pairs, clique]), columns=["src", "dst"]))
    graph = tc.Graph(edges)
    assert (graph.n_edges, tc.count(graph)) == (1_100_028, 56)


def test_a_hub_of_65_537(backend):
    """The first degree d with d (d - 1) past 2**32, and a rank past 16 bits."""
    rim = 65_537
    assert rim * (rim - 1) > 2**32
    known = wheel(rim)
    graph = tc.Graph(backend.frame(known.frame()))
    assert tc.count(graph) == rim
    wedges = rim * (rim - 1) // 2 + 3 * rim
    assert tc.transitivity(graph) == pytest.approx(3 * rim / wedges, rel=1e-12)
    sides = backend.to_pandas(tc.edge_triangles(graph))
    assert sides.value_counts().to_dict() == known.by_edge


def test_two_hubs_that_share_everything(backend):
    """Long rows on both ends of an edge, repeated and turned round."""
    known = book(70_000)
    frame = pd.concat([known.frame(), known.frame().rename(columns={"src": "dst", "dst": "src"})])
    edges = backend.frame(frame.sample(frac=1, random_state=2))
    assert tc.count(edges) == 70_000
    assert backend.to_pandas(tc.edge_triangles(edges)).max() == 70_000
