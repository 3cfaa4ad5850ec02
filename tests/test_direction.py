"""Graphs with directions: clustering, transitivity and triads, against NetworkX."""

import sys
from contextlib import nullcontext
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import reference
from checks import assert_columns, by_triad, rows_of
from every_path import in_parts
from graphs import dense_arcs, edge_lists
from hypothesis import given, settings
from hypothesis import strategies as st

import rapids_tc as tc
from rapids_tc.plan.block_layout import BlockLayout, use_layout

many = settings(max_examples=40, deadline=None)
fine = pytest.approx
IDS = {"source": "src", "destination": "dst"}


def frame_of(rows):
    return pd.DataFrame(rows, columns=["src", "dst"])


def by_vertex(backend, frame):
    return dict(rows_of(backend.to_pandas(frame), "vertex", "clustering"))


@many
@given(rows=edge_lists(9, 60) | dense_arcs(), extra=st.lists(st.integers(0, 12), max_size=3))
def test_networkx_agrees(backend, rows, extra):
    """Repeats, loops, reciprocal pairs and isolated vertices among them."""
    graph = tc.Graph(backend.frame(frame_of(rows)), vertices=extra)
    right = reference.digraph(rows, extra)
    triads = by_triad(backend.to_pandas(tc.triad_counts(graph, directed=True)))
    assert triads == nx.triadic_census(right)
    assert tc.transitivity(graph, directed=True) == fine(nx.transitivity(right), abs=1e-12)
    clustering = nx.clustering(right)
    assert by_vertex(backend, tc.clustering(graph, directed=True)) == fine(clustering, abs=1e-12)
    if right:
        average = tc.average_clustering(graph, directed=True)
        assert average == fine(nx.average_clustering(right), abs=1e-12)


@many
@given(rows=edge_lists(8, 50) | dense_arcs(), data=st.data())
def test_networkx_agrees_on_weights(backend, rows, data):
    """Each direction has its own weight, and its own repeats."""
    weights = data.draw(st.lists(st.integers(0, 9), min_size=len(rows), max_size=len(rows)))
    aggregate = data.draw(st.sampled_from([*reference.AGGREGATES, None]))
    valued = [(*row, w) for row, w in zip(rows, weights, strict=True)]
    edges = backend.frame(frame_of(rows).assign(w=np.array(weights, "int64")))
    call = {"weight": "w", "aggregate": aggregate, "directed": True, **IDS}
    try:
        right = reference.directed_weighted_clustering(valued, aggregate=aggregate)
    except ValueError:
        with pytest.raises(ValueError, match=r"'w': the rows of the edge \d -> \d say"):
            tc.clustering(edges, **call)
        return
    assert by_vertex(backend, tc.clustering(edges, **call)) == fine(right, abs=1e-12)
    average = tc.average_clustering(edges, **call)
    right = reference.directed_weighted_average_clustering(valued, aggregate=aggregate)
    assert average == fine(right, abs=1e-12, nan_ok=True)


def test_the_census_of_a_random_graph(backend):
    """Values found by NetworkX and by igraph."""
    graph = nx.gnp_random_graph(40, 0.12, seed=11, directed=True)
    edges = tc.Graph(backend.frame(frame_of([*graph.edges])), vertices=range(40))
    assert by_triad(backend.to_pandas(tc.triad_counts(edges, directed=True))) == {
        "003": 4686, "012": 3703, "102": 291, "021D": 225, "021U": 249, "021C": 479, "111D": 70,
        "111U": 69, "030T": 73, "030C": 15, "201": 4, "120D": 3, "120U": 4, "120C": 7, "210": 2,
        "300": 0,
    }  # fmt: skip
    assert tc.transitivity(edges, directed=True) == fine(0.127226463104)


# The closed triads, drawn as NetworkX names them.
CLOSED = {
    "030T": [(0, 1), (1, 2), (0, 2)],
    "030C": [(0, 1), (1, 2), (2, 0)],
    "120D": [(0, 1), (0, 2), (1, 2), (2, 1)],
    "120U": [(1, 0), (2, 0), (1, 2), (2, 1)],
    "120C": [(0, 1), (2, 0), (1, 2), (2, 1)],
    "210": [(0, 1), (1, 0), (1, 2), (2, 1), (0, 2)],
    "300": [(0, 1), (1, 0), (1, 2), (2, 1), (0, 2), (2, 0)],
}


@pytest.mark.parametrize("name", CLOSED)
def test_a_closed_triad(backend, name):
    census = tc.triad_counts(backend.frame(frame_of(CLOSED[name])), directed=True)
    census = backend.to_pandas(census)
    assert by_triad(census[census["count"] > 0]) == {name: 1}


@many
@given(rows=edge_lists(9, 60) | dense_arcs(), per=st.sampled_from([None, "vertex", "edge"]))
def test_triangles_by_triad(backend, rows, per):
    """Repeats, loops and reciprocal pairs among them; of groups, too."""
    frame = frame_of(rows)
    right = reference.triangles_by_type(rows, directed=True, per=per)
    found = backend.to_pandas(tc.triangles_by_type(backend.frame(frame), directed=True, per=per))
    owner = {None: [], "vertex": ["vertex"], "edge": ["src", "dst"]}[per]
    assert_columns(found, *owner, "triad", "triangles")
    assert found["triangles"].dtype == np.int64
    assert [*found.itertuples(index=False, name=None)] == right
    twice = pd.concat([frame.assign(day=2), frame.assign(day=1)])
    found = tc.triangles_by_type(backend.frame(twice), directed=True, per=per, by="day", **IDS)
    rows_found = [*backend.to_pandas(found).itertuples(index=False, name=None)]
    assert rows_found == [(day, *row) for day in (1, 2) for row in right]


def test_the_triads_of_a_random_graph(backend):
    """As many of each as the census has."""
    graph = nx.gnp_random_graph(40, 0.12, seed=11, directed=True)
    edges = backend.frame(frame_of([*graph.edges]))
    found = backend.to_pandas(tc.triangles_by_type(edges, directed=True))
    assert [*found.itertuples(index=False, name=None)] == [
        ("030T", 73), ("030C", 15), ("120D", 3), ("120U", 4), ("120C", 7), ("210", 2),
    ]  # fmt: skip


@many
@given(
    rows=edge_lists(9, 60) | dense_arcs(),
    some=st.booleans(),
    layout=st.sampled_from([None, BlockLayout(1), BlockLayout(3)]),
)
def test_the_triad_of_each_triangle(backend, rows, some, layout):
    """Repeats, loops and reciprocal pairs among them; at some vertices, by group, and in parts."""
    frame, chosen = frame_of(rows), [row[0] for row in rows[:2]] if some else None
    right = reference.list_triangles(rows, among=chosen, directed=True)
    twice = backend.frame(pd.concat([frame.assign(day=2), frame.assign(day=1)]))
    call = {"directed": True, "vertices": chosen, **IDS}
    with use_layout(layout) if layout else nullcontext():
        found = backend.to_pandas(tc.list_triangles(backend.frame(frame), **call))
        by_day = backend.to_pandas(tc.list_triangles(twice, by="day", **call))
        parts = [*tc.iter_triangles(backend.frame(frame), max_rows=2, **call)]
    assert_columns(found, "u", "v", "w", "triad")
    assert [*found.itertuples(index=False, name=None)] == right
    expected = [(day, *row) for day in (1, 2) for row in right]
    assert [*by_day.itertuples(index=False, name=None)] == expected
    rows_found = (backend.to_pandas(part).itertuples(index=False, name=None) for part in parts)
    assert sorted(row for part in rows_found for row in part) == right


def test_triads_of_a_partitioned_frame_are_not_listed(backend):
    for function, own in (tc.list_triangles, {}), (tc.iter_triangles, {"max_rows": 5}):
        with pytest.raises(TypeError, match="a list with directed=True runs on one machine"):
            function(in_parts(frame_of([(0, 1), (1, 2), (2, 0)]), 2), directed=True, **own)
    edges = backend.frame(frame_of([(0, 1), (1, 2), (2, 0)]).assign(triad=1))
    with pytest.raises(ValueError, match="triad"):
        tc.list_triangles(edges, directed=True, by="triad", **IDS)


def test_triads_stand_for_types(backend):
    edges = backend.frame(frame_of([(0, 1), (1, 2), (2, 0)]).assign(kind=1))
    for options in ({"edge_type": "kind"}, {"vertex_type": {0: 1, 1: 1, 2: 1}}):
        with pytest.raises(ValueError, match="give either edge_type= or vertex_type="):
            tc.triangles_by_type(edges, directed=True, **IDS, **options)
    with pytest.raises(ValueError, match="aggregate='last' is about types"):
        tc.triangles_by_type(edges, directed=True, aggregate="last", **IDS)


def test_directions_change_nothing_if_every_edge_is_mutual(backend):
    rows = [(0, 1), (1, 2), (2, 0), (2, 3)]
    edges = backend.frame(frame_of([*rows, *((v, u) for u, v in rows)]))
    one_way = by_vertex(backend, tc.clustering(edges, directed=True))
    assert one_way == fine(by_vertex(backend, tc.clustering(edges)))
    assert tc.transitivity(edges, directed=True) == tc.transitivity(edges)


@pytest.mark.parametrize("rows", [[], [(1, 1)], [(0, 1)]])
def test_no_pairs(backend, rows):
    edges = backend.frame(frame_of(rows).astype("int64"))
    assert tc.transitivity(edges, directed=True) == 0.0
    assert set(by_vertex(backend, tc.clustering(edges, directed=True)).values()) <= {0.0}
    assert sum(backend.to_pandas(tc.triad_counts(edges, directed=True))["count"]) == 0


def test_directed_is_a_flag_and_has_one_method(backend):
    edges = backend.frame(frame_of([(0, 1), (1, 2), (2, 0)]))
    for function in (tc.clustering, tc.average_clustering, tc.transitivity, tc.triad_counts):
        with pytest.raises(ValueError, match="directed='yes'; accepted: True, False"):
            function(edges, directed="yes")
        if backend.engine_kwargs["engine"] != "cpu":
            with pytest.raises(ValueError, match='with directed=True only method="auto"'):
                function(edges, directed=True, method="bitmap")


class Undirected:
    """As a cugraph.Graph: its edge list names each edge once."""

    source_columns, destination_columns = "src", "dst"

    def __init__(self, frame, *, directed):
        self._frame, self._directed = frame, directed

    def view_edge_list(self):
        return self._frame

    def is_directed(self):
        return self._directed


@pytest.mark.parametrize("path", ["in memory", "of a Graph", "out of core"])
@pytest.mark.parametrize("directed", [False, True])
def test_a_graph_of_cugraph_says_its_direction(backend, monkeypatch, directed, path):
    monkeypatch.setitem(sys.modules, "cugraph", SimpleNamespace(Graph=Undirected))
    edges = nx.gnm_random_graph(40, 150, seed=3, directed=directed)
    given = Undirected(backend.frame(frame_of([*edges.edges])), directed=directed)
    given, right = tc.Graph(given) if path == "of a Graph" else given, edges.to_directed()
    with use_layout(BlockLayout(2)) if path == "out of core" else nullcontext():
        triads = backend.to_pandas(tc.triad_counts(given, directed=True))
        assert by_triad(triads) == nx.triadic_census(right)
        assert tc.transitivity(given, directed=True) == fine(nx.transitivity(right))
        clustering = by_vertex(backend, tc.clustering(given, directed=True))
        assert clustering == fine(nx.clustering(right))
        average = tc.average_clustering(given, directed=True)
        assert average == fine(nx.average_clustering(right))
