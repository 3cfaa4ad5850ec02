"""Triads: all sets of three vertices, by the edges they span."""

from math import comb

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import reference
from graphs import SMALL, dense_edge_lists, edge_lists, star
from hypothesis import given, settings
from hypothesis import strategies as st

import rapids_tc as tc


def assert_triads(series, expected):
    """`series` is what is promised: of pandas, four Python integers by name."""
    assert type(series) is pd.Series
    assert series.name == "triads"
    assert series.dtype == object
    assert series.to_dict() == expected
    assert list(series.index) == ["empty", "edge", "wedge", "triangle"]
    assert {type(value) for value in series.tolist()} == {int}


def frame_of(rows):
    return pd.DataFrame(rows, columns=["src", "dst"], dtype="int64")


@settings(max_examples=50, deadline=None)
@given(rows=st.one_of(edge_lists(), dense_edge_lists()), extra=st.lists(st.integers(-3, 20)))
def test_triads(backend, rows, extra):
    graph = tc.Graph(backend.frame(frame_of(rows)), vertices=extra)
    assert_triads(tc.triad_counts(graph), reference.triad_counts(rows, extra))


def test_networkx_agrees(backend):
    graph = nx.gnm_random_graph(40, 200, seed=5)
    census = nx.triadic_census(graph.to_directed())  # of both directions: 003, 102, 201, 300
    expected = dict(zip(("empty", "edge", "wedge", "triangle"), _mutual(census), strict=True))
    assert_triads(tc.triad_counts(backend.frame(frame_of(list(graph.edges)))), expected)


def _mutual(census):
    return [census[name] for name in ("003", "102", "201", "300")]


@pytest.mark.parametrize("name", SMALL)
def test_they_add_up_to_all_sets_of_three(backend, name):
    known = SMALL[name]
    found = tc.triad_counts(backend.frame(known.frame()))
    assert found.sum() == comb(known.n_vertices, 3)
    assert found["triangle"] == known.triangles


def test_isolated_vertices_past_64_bits(backend):
    """Five million vertices: more sets of three than an int64 holds."""
    n = 5_000_000
    assert comb(n, 3) > 2**63
    graph = tc.Graph(backend.frame(star(2).frame()), vertices=np.arange(n))
    edge = 2 * (n - 3)
    expected = {"empty": comb(n, 3) - edge - 1, "edge": edge, "wedge": 1, "triangle": 0}
    assert_triads(tc.triad_counts(graph), expected)


@pytest.mark.parametrize("rows", [[], [(4, 4)], [(4, 5)], [(4, 5), (6, 6)]], ids=str)
def test_next_to_nothing(backend, rows):
    assert_triads(tc.triad_counts(backend.frame(frame_of(rows))), reference.triad_counts(rows))
