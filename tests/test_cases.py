"""Small graphs from faults people reported in other tools: every right value of each."""

import math

import pandas as pd
import pytest
from answers import CASES

import rapids_tc as tc


def rows_of(frame):
    """A pandas frame as a list of Python tuples."""
    return list(frame.itertuples(index=False, name=None))


def expected_rows(case, values):
    """The value of each raw row, loops 0, from the case's value of each edge."""
    known = {(u, v): value for u, v, value in case[values]}
    return [known.get((min(row), max(row)), 0) for row in case["edges"]]


def count(case, edges, graph, back):
    assert tc.count(edges) == tc.count(graph) == case["total"]


def graph_size(case, edges, graph, back):
    assert (graph.n_vertices, graph.n_edges) == (case["n"], case["m"])


def vertex_triangles(case, edges, graph, back):
    frame = back(tc.vertex_triangles(graph))
    assert rows_of(frame) == sorted(map(tuple, case["per_vertex"]))


def edge_triangles(case, edges, graph, back):
    assert back(tc.edge_triangles(edges)).tolist() == expected_rows(case, "per_edge")
    assert back(tc.edge_triangles(graph)).tolist() == expected_rows(case, "per_edge")


def annotate(case, edges, graph, back):
    frame = back(tc.annotate(edges, "triangles"))
    assert frame["triangles"].tolist() == expected_rows(case, "per_edge")


def simple_edges(case, edges, graph, back):
    expected = sorted((min(u, v), max(u, v)) for u, v, _ in case["per_edge"])
    assert rows_of(back(tc.simple_edges(edges))) == expected


def transitivity(case, edges, graph, back):
    assert tc.transitivity(edges) == pytest.approx(case["transitivity"], abs=1e-12)


def clustering(case, edges, graph, back):
    frame = back(tc.clustering(graph))
    expected = dict(case["clustering"])
    assert frame["vertex"].tolist() == sorted(expected)
    assert dict(rows_of(frame)) == pytest.approx(expected, abs=1e-12)


def average_clustering(case, edges, graph, back):
    average = case["average_clustering"]
    expected = math.nan if average is None else average
    assert tc.average_clustering(graph) == pytest.approx(expected, abs=1e-12, nan_ok=True)


def trussness(case, edges, graph, back):
    assert back(tc.trussness(edges)).tolist() == expected_rows(case, "truss")


def k_truss(case, edges, graph, back):
    def as_edges(frame):
        return sorted(tuple(sorted(row)) for row in rows_of(frame))

    number = {tuple(sorted((u, v))): k for u, v, k in case["truss"]}
    kmax = case["kmax"] or 2
    for k in range(2, kmax + 2):
        kept = sorted(edge for edge, most in number.items() if most >= k)
        assert as_edges(back(tc.k_truss(edges, k))) == kept
    most = sorted(edge for edge, most in number.items() if most == kmax)
    assert as_edges(back(tc.k_truss(edges, "max"))) == most


def list_triangles(case, edges, graph, back):
    assert rows_of(back(tc.list_triangles(edges))) == sorted(map(tuple, case["triangles"]))


def iter_triangles(case, edges, graph, back):
    frames = [back(frame) for frame in tc.iter_triangles(edges, max_rows=3)]
    assert all(len(frame) <= 3 for frame in frames)
    found = [row for frame in frames for row in rows_of(frame)]
    assert sorted(found) == sorted(map(tuple, case["triangles"]))


CHECKS = {
    "count": count,
    "Graph": graph_size,
    "vertex_triangles": vertex_triangles,
    "edge_triangles": edge_triangles,
    "annotate": annotate,
    "simple_edges": simple_edges,
    "transitivity": transitivity,
    "clustering": clustering,
    "average_clustering": average_clustering,
    "trussness": trussness,
    "k_truss": k_truss,
    "list_triangles": list_triangles,
    "iter_triangles": iter_triangles,
}


@pytest.mark.parametrize("name", CHECKS)
@pytest.mark.parametrize("case", CASES)
def test_case(backend, case, name):
    edges = backend.frame(pd.DataFrame(case["edges"], columns=["src", "dst"]))
    graph = tc.Graph(edges, vertices=case["extra_vertices"] or None)
    CHECKS[name](case, edges, graph, backend.to_pandas)
