"""Similarity of the ends of each row's edge, in four measures."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import reference
from checks import assert_column, rows_of
from graphs import complete, dense_edge_lists, edge_frames
from hypothesis import given, settings

import rapids_tc as tc

MEASURES = ["jaccard", "overlap", "sorensen", "cosine"]
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
def test_dense_graphs(backend, measure, rows):
    if rows:
        assert_similarity(backend, pd.DataFrame(rows, columns=["src", "dst"]), measure)


def test_jaccard_is_the_default(backend):
    edges = backend.frame({"src": [0, 1, 2, 2], "dst": [1, 2, 0, 3]})
    found = backend.to_pandas(tc.similarity(edges))
    assert found.name == "jaccard"
    assert found.tolist() == pytest.approx([1 / 3, 1 / 4, 1 / 4, 0])


def test_networkx_agrees_on_jaccard(backend):
    graph = nx.gnm_random_graph(50, 400, seed=3)
    pairs = list(graph.edges)
    found = tc.similarity(backend.frame(pd.DataFrame(pairs, columns=["src", "dst"])))
    expected = [share for _, _, share in nx.jaccard_coefficient(graph, pairs)]
    assert backend.to_pandas(found).tolist() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("measure", MEASURES)
def test_cliques(backend, measure):
    n = 7
    found = backend.to_pandas(tc.similarity(backend.frame(complete(n).frame()), measure=measure))
    expected = (n - 2) / n if measure == "jaccard" else (n - 2) / (n - 1)
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
