"""Similarity of the ends of each row's edge, in all measures."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import reference
from checks import assert_column, rows_of
from graphs import complete, dense_edge_lists, edge_frames
from hypothesis import example, given, settings
from needs import need_module

import rapids_tc as tc
from rapids_tc import datasets
from rapids_tc.plan.block_layout import BlockLayout, use_layout

MEASURES = [
    "jaccard", "overlap", "sorensen", "cosine",
    "adamic_adar", "resource_allocation", "forman", "edge_clustering",
]  # fmt: skip
INDEX = {
    "jaccard": nx.jaccard_coefficient,
    "adamic_adar": nx.adamic_adar_index,
    "resource_allocation": nx.resource_allocation_index,
}
many = settings(max_examples=50, deadline=None)


def assert_similarity(backend, edges, measure):
    """The measure of a pandas edge frame is the oracle's, in the promised shape."""
    rows = rows_of(edges)
    expected = reference.by_row(rows, reference.similarity(rows, measure))
    found = backend.to_pandas(tc.similarity(backend.frame(edges), measure=measure))
    assert_column(found.round(0), measure, np.float64, edges.index, np.round(expected, 0))
    assert found.tolist() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("measure", MEASURES)
@many
@given(edges=edge_frames())
def test_raw_rows_of_any_dtype(backend, measure, edges):
    if len(edges):
        assert_similarity(backend, edges, measure)


@pytest.mark.parametrize("measure", MEASURES)
@many
@given(rows=dense_edge_lists())
@example(rows=[(0, 1), (1, 2), (2, 0), (2, 3)])  # ends of an edge with different degrees
def test_dense_graphs(backend, measure, rows):
    if rows:
        assert_similarity(backend, pd.DataFrame(rows, columns=["src", "dst"]), measure)


def test_jaccard_is_the_default(backend):
    edges = backend.frame({"src": [0, 1, 2, 2], "dst": [1, 2, 0, 3]})
    found = backend.to_pandas(tc.similarity(edges))
    assert found.name == "jaccard"
    assert found.tolist() == pytest.approx([1 / 3, 1 / 4, 1 / 4, 0])


@pytest.mark.parametrize("measure", INDEX)
def test_networkx_agrees(backend, measure):
    graph = nx.gnm_random_graph(50, 400, seed=3)
    pairs = list(graph.edges)
    edges = backend.frame(pd.DataFrame(pairs, columns=["src", "dst"]))
    found = tc.similarity(edges, measure=measure)
    expected = [share for _, _, share in INDEX[measure](graph, pairs)]
    assert backend.to_pandas(found).tolist() == pytest.approx(expected, abs=1e-12)


@pytest.mark.cpu_only
def test_igraph_agrees_on_adamic_adar():
    igraph = need_module("igraph")
    graph = igraph.Graph.Famous("Zachary")
    edges = pd.DataFrame(graph.get_edgelist(), columns=["src", "dst"])
    all_pairs = graph.similarity_inverse_log_weighted()
    expected = [all_pairs[u][v] for u, v in edges.itertuples(index=False)]
    found = tc.similarity(edges, measure="adamic_adar")
    assert found.tolist() == pytest.approx(expected, rel=1e-12)


def test_the_karate_club(backend):
    """Figures from NetworkX, computed edge by edge."""
    club = pd.DataFrame(nx.karate_club_graph().edges, columns=["src", "dst"])
    found = backend.to_pandas(tc.annotate(backend.frame(club), "triangles", *MEASURES))
    first = found[(found["src"] == 0) & (found["dst"] == 1)].iloc[0]
    assert first["triangles"] == 7 and first["forman"] == 0 and first["edge_clustering"] == 0.875
    assert first["adamic_adar"] == pytest.approx(6.130716871863, abs=1e-12)
    assert first["resource_allocation"] == pytest.approx(2.05, abs=1e-12)
    totals = found[["triangles", "adamic_adar", "resource_allocation", "forman"]].sum()
    assert totals.tolist() == pytest.approx([135, 79.968005854, 23.357352941, -495], abs=1e-9)


@pytest.mark.parametrize("measure", ["adamic_adar", "resource_allocation"])
def test_sums_of_any_layout_have_the_same_bits(backend, measure):
    """Integers are added up, so that the order of addition is not seen."""
    edges = datasets.rmat(9, seed=2)
    frame = backend.frame(edges)
    whole = backend.to_pandas(tc.similarity(frame, measure=measure))
    shuffled = backend.frame(edges.sample(frac=1, random_state=1))
    moved = backend.to_pandas(tc.similarity(shuffled, measure=measure))
    assert moved.sort_index().tolist() == whole.tolist()
    for n in (1, 3):
        with use_layout(BlockLayout(n)):
            assert (
                backend.to_pandas(tc.similarity(frame, measure=measure)).tolist() == whole.tolist()
            )


def test_a_hub_that_all_edges_have_in_common(backend):
    """Terms are as small as they get, and the unit is as large."""
    n = 3000
    spokes = pd.DataFrame({"src": 0, "dst": np.arange(1, n + 1)})
    rim = pd.DataFrame({"src": [1, 3], "dst": [2, 4]})
    edges = backend.frame(pd.concat([spokes, rim], ignore_index=True))
    for measure, term in (("adamic_adar", 1 / np.log(n)), ("resource_allocation", 1 / n)):
        found = backend.to_pandas(tc.similarity(edges, measure=measure))
        assert found[n:].tolist() == pytest.approx([term] * 2, rel=1e-12)


@pytest.mark.parametrize("measure", MEASURES)
def test_cliques(backend, measure):
    n = 7
    found = backend.to_pandas(tc.similarity(backend.frame(complete(n).frame()), measure=measure))
    expected = {
        "jaccard": (n - 2) / n,
        "adamic_adar": (n - 2) / np.log(n - 1),
        "forman": 4 - 2 * (n - 1) + 3 * (n - 2),
        "edge_clustering": 1,
    }.get(measure, (n - 2) / (n - 1))
    assert found.tolist() == pytest.approx([expected] * (n * (n - 1) // 2))


def test_rows_keep_their_index(backend):
    frame = pd.DataFrame({"src": [5, 1, 9, 7, 1], "dst": [1, 9, 5, 7, 5]}, index=list("vwxyz"))
    found = backend.to_pandas(tc.similarity(backend.frame(frame), measure="overlap"))
    assert_column(found, "overlap", np.float64, frame.index, [0.5, 0.5, 0.5, 0.0, 0.5])


@pytest.mark.parametrize("wrong", ["Jaccard", "", None, 3, "dice"])
def test_other_measures_are_refused(backend, wrong):
    with pytest.raises(ValueError, match=r"jaccard.*overlap.*sorensen.*cosine"):
        tc.similarity(backend.frame({"src": [0], "dst": [1]}), measure=wrong)


@pytest.mark.parametrize("measure", MEASURES)
def test_no_rows(backend, measure):
    edges = backend.frame(pd.DataFrame({"src": [], "dst": []}, dtype="int64"))
    found = backend.to_pandas(tc.similarity(edges, measure=measure))
    assert (len(found), found.name, found.dtype) == (0, measure, np.float64)
