"""The oracle itself: against NetworkX, closed forms and the cases people reported."""

import math

import networkx as nx
import pytest
import reference
from answers import CASES
from graphs import SMALL

ATLAS = [graph for graph in nx.graph_atlas_g() if graph.size()][::7]


@pytest.mark.parametrize("name", SMALL)
def test_named_graphs_have_the_answers_they_claim(name):
    known = SMALL[name]
    support = list(reference.edge_triangles(known.rows).values())
    assert reference.count(known.rows) == known.triangles
    assert {t: support.count(t) for t in set(support)} == known.by_edge
    assert len(reference.neighbors(known.rows)) == known.n_vertices
    assert reference.triad_counts(known.rows)["triangle"] == known.triangles
    assert reference.triad_counts(known.rows)["wedge"] == (
        reference.wedges(known.rows) - 3 * known.triangles
    )


def test_agrees_with_networkx_on_the_atlas():
    for graph in ATLAS:
        rows, nodes = list(graph.edges), list(graph)
        assert reference.vertex_triangles(rows, nodes) == nx.triangles(graph)
        assert reference.clustering(rows, nodes) == pytest.approx(nx.clustering(graph))
        assert reference.average_clustering(rows, nodes) == pytest.approx(
            nx.average_clustering(graph)
        )
        assert reference.transitivity(rows) == pytest.approx(nx.transitivity(graph))
        jaccard = {tuple(sorted((u, v))): p for u, v, p in nx.jaccard_coefficient(graph, rows)}
        assert reference.similarity(rows, "jaccard") == pytest.approx(jaccard)
        for k in range(2, 8):
            edges = nx.k_truss(graph, k).edges
            assert reference.k_truss(rows, k) == sorted(tuple(sorted(e)) for e in edges)


def test_weighted_clustering_agrees_with_networkx():
    for graph in ATLAS:
        for i, edge in enumerate(graph.edges):
            graph.edges[edge]["weight"] = 1 + i % 5
        rows = list(graph.edges(data="weight"))
        expected = nx.clustering(graph, weight="weight")
        assert reference.weighted_clustering(rows, list(graph)) == pytest.approx(expected)


def test_weighted_clustering_takes_the_last_repeat_and_no_loop():
    rows = [(0, 1, 9.0), (1, 2, 1.0), (2, 0, 8.0), (3, 3, 100.0), (1, 0, 1.0)]
    # 1 * 1 * 8 / 8**3: the cube root is 1/4.
    found = reference.weighted_clustering(rows, aggregate="last")
    assert found == pytest.approx({0: 0.25, 1: 0.25, 2: 0.25, 3: 0})


def test_averages_without_vertices_are_nan():
    assert math.isnan(reference.average_clustering([]))
    assert math.isnan(reference.average_clustering([(0, 1)], count_zeros=False))
    assert reference.average_clustering([(0, 1), (1, 2), (2, 0), (2, 3)], count_zeros=False) == (
        pytest.approx((1 + 1 + 1 / 3) / 3)
    )


def test_similarities_by_hand():
    rows = [(0, 1), (0, 2), (1, 2), (0, 3), (0, 0)]  # degrees 3, 2, 2, 1
    assert reference.similarity(rows, "jaccard")[0, 1] == 1 / 4
    assert reference.similarity(rows, "overlap")[0, 1] == 1 / 2
    assert reference.similarity(rows, "sorensen")[0, 1] == 2 / 5
    assert reference.similarity(rows, "cosine")[0, 1] == pytest.approx(1 / math.sqrt(6))
    assert reference.similarity(rows, "cosine")[0, 3] == 0


@pytest.mark.parametrize("case", CASES)
def test_reported_cases(case):
    rows, extra = [tuple(row) for row in case["edges"]], case["extra_vertices"]
    near = reference.neighbors(rows, extra)
    assert (len(near), len(reference.simple_edges(rows))) == (case["n"], case["m"])
    assert reference.list_triangles(rows) == sorted(map(tuple, case["triangles"]))
    assert reference.vertex_triangles(rows, extra) == dict(case["per_vertex"])
    assert reference.edge_triangles(rows) == {(u, v): t for u, v, t in case["per_edge"]}
    assert reference.trussness(rows) == {(u, v): k for u, v, k in case["truss"]}
    assert reference.clustering(rows, extra) == pytest.approx(dict(case["clustering"]))
    average = case["average_clustering"]
    expected = math.nan if average is None else average
    assert reference.average_clustering(rows, extra) == pytest.approx(expected, nan_ok=True)
    assert reference.transitivity(rows) == pytest.approx(case["transitivity"])
