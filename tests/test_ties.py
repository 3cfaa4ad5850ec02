"""Weights of ties: structural holes, transitivity and Jaccard, against NetworkX and sums."""

from contextlib import nullcontext
from math import fsum, isnan, nan

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import reference
from checks import rows_of
from every_path import ENGINES, in_parts
from graphs import dense_arcs, edge_lists
from hypothesis import given, settings
from hypothesis import strategies as st

import rapids_tc as tc
from rapids_tc import datasets
from rapids_tc.plan.block_layout import BlockLayout, use_layout

many = settings(max_examples=40, deadline=None)
fine = pytest.approx
IDS = {"source": "src", "destination": "dst"}
BOTH = ("constraint", "effective_size")
MEANS = ("arithmetic", "geometric", "max", "min")
WEIGHTS = st.sampled_from([0.0, 1.0, 2.0, 0.1, 3e-7, 1e5])


def weighted(rows, weights):
    return pd.DataFrame(rows, columns=["src", "dst"]).assign(w=np.array(weights, "float64"))


def plain(frame):
    return list(frame[["src", "dst", "w"]].itertuples(index=False, name=None))


def by_vertex(backend, frame, name):
    return dict(rows_of(backend.to_pandas(frame), "vertex", name))


# Structural holes ---------------------------------------------------------------------------------


@many
@given(rows=edge_lists(9, 50) | dense_arcs(), directed=st.booleans(), data=st.data())
def test_networkx_agrees_on_structural_holes(backend, rows, directed, data):
    """Of the edges that weigh something: those of weight 0 are no ties."""
    weights = data.draw(st.lists(WEIGHTS, min_size=len(rows), max_size=len(rows)))
    frame = weighted(rows, weights)
    graph = nx.DiGraph() if directed else nx.Graph()
    for u, v, w in plain(frame):
        graph.add_edge(u, v, weight=w)
    none = [(u, v) for u, v, w in graph.edges(data="weight") if u == v or not w]
    graph.remove_edges_from(none)
    call = {"weight": "w", "aggregate": "last", "directed": directed, **IDS}
    found = tc.annotate_vertices(backend.frame(frame), *BOTH, **call)
    if len(graph):
        right = nx.constraint(graph, weight="weight")
        assert by_vertex(backend, found, "constraint") == fine(right, rel=1e-12, nan_ok=True)
    # Of all nodes at once, NetworkX 3.6 divides by the largest weight of the other end of a tie.
    right = nx.effective_size(graph, nodes=[*graph], weight="weight")
    right = {v: own for v, own in right.items() if not (directed and isnan(own))}
    sizes = by_vertex(backend, found, "effective_size")
    assert {v: sizes[v] for v in right} == fine(right, rel=1e-12, nan_ok=True)


@many
@given(rows=edge_lists(9, 50) | dense_arcs(), directed=st.booleans(), data=st.data())
def test_structural_holes_by_definition(backend, rows, directed, data):
    """Repeats, loops, isolated vertices and groups among them."""
    weights = data.draw(st.lists(WEIGHTS, min_size=len(rows), max_size=len(rows)))
    aggregate = data.draw(st.sampled_from([None, *reference.AGGREGATES]))
    frame, call = weighted(rows, weights), {"aggregate": aggregate, "directed": directed}
    definition = f"{'directed_' * directed}weighted_annotate_vertices"
    try:
        right = getattr(reference, definition)(plain(frame), BOTH, aggregate=aggregate)
    except ValueError:
        with pytest.raises(ValueError, match=r"weight='w': the rows of the edge \d"):
            tc.annotate_vertices(backend.frame(frame), *BOTH, weight="w", **call, **IDS)
        return
    twice = pd.concat([frame.assign(day=2), frame.assign(day=1)])
    found = tc.annotate_vertices(backend.frame(twice), *BOTH, weight="w", by="day", **call, **IDS)
    values = [*backend.to_pandas(found).itertuples(index=False, name=None)]
    expected = [(day, v, *right[v]) for day in (1, 2) for v in sorted(right)]
    assert len(values) == len(expected)
    for one, other in zip(values, expected, strict=True):
        assert one == fine(other, rel=1e-12, nan_ok=True)


def test_directions_without_weights(backend):
    """A mutual edge weighs twice as much; NetworkX says so of its DiGraph."""
    graph = nx.gnp_random_graph(30, 0.15, seed=5, directed=True)
    graph.add_node(30)
    edges = pd.DataFrame([*graph.edges], columns=["src", "dst"])
    edges = tc.Graph(backend.frame(edges), vertices=range(31))
    found = tc.annotate_vertices(edges, *BOTH, directed=True)
    right = nx.constraint(graph)
    assert by_vertex(backend, found, "constraint") == fine(right, rel=1e-12, nan_ok=True)
    sizes = nx.effective_size(graph, nodes=[*graph])
    own = by_vertex(backend, found, "effective_size")
    assert isnan(own[30])
    assert {v: own[v] for v in range(30) if graph.out_degree(v)} == fine(
        {v: sizes[v] for v in range(30) if graph.out_degree(v)}, rel=1e-12
    )


def test_equal_weights_are_no_weights(backend):
    edges = backend.frame(datasets.karate().assign(w=0.3))
    one = backend.to_pandas(tc.annotate_vertices(edges, *BOTH, **IDS))
    other = backend.to_pandas(tc.annotate_vertices(edges, *BOTH, weight="w", **IDS))
    for name in BOTH:
        assert other[name].tolist() == fine(one[name].tolist(), rel=1e-12)
    same = tc.transitivity(edges, weight="w", **IDS)
    assert same == fine(tc.transitivity(edges, **IDS), rel=1e-12)
    indices = (tc.similarity(edges, **IDS, **own) for own in ({}, {"weight": "w"}))
    one, other = (backend.to_pandas(index).tolist() for index in indices)
    assert other == fine(one, rel=1e-12)


def test_a_hub_among_light_ties(backend):
    """What is heavy elsewhere takes no digit from light ties."""
    spokes = [(0, v) for v in range(1, 40)] + [(v, v + 1) for v in range(1, 39)]
    frame = weighted(
        [*spokes, (100, 101), (101, 102)], [1e-6 * (1 + i % 7) for i in range(77)] + [1e9, 2e9]
    )
    found = tc.annotate_vertices(backend.frame(frame), *BOTH, weight="w", **IDS)
    right = reference.weighted_annotate_vertices(plain(frame), BOTH)
    for place, name in enumerate(BOTH):
        expected = {v: values[place] for v, values in right.items()}
        assert by_vertex(backend, found, name) == fine(expected, rel=1e-12)
    index = backend.to_pandas(tc.similarity(backend.frame(frame), weight="w", **IDS))
    right = reference.weighted_similarity(plain(frame), "jaccard")
    pairs = [(min(u, v), max(u, v)) for u, v, _ in plain(frame)]
    assert index.tolist() == fine([right[pair] for pair in pairs], rel=1e-12)


def test_a_vertex_of_many_light_ties(backend):
    """None is lost beside a heavy one: the sum of all is exact but for one rounding."""
    weights = [1.0] + [1e-12 / 3] * 4000
    edges = weighted([(0, v) for v in range(1, 4002)], weights)
    found = tc.annotate_vertices(backend.frame(edges), "constraint", weight="w", vertices=[0])
    right = fsum((w / fsum(weights)) ** 2 for w in weights)
    assert by_vertex(backend, found, "constraint")[0] == fine(right, rel=1e-14)


@pytest.mark.parametrize("scale", [1e-300, 1e300, 5e-324])
def test_the_unit_of_weights_does_not_matter(backend, scale):
    """As no power of two does; the sum of both directions is no overflow."""
    rows, steps = [(0, 1), (1, 2), (2, 0), (2, 3), (1, 0)], [4.0, 1.0, 8.0, 2.0, 4.0]
    found = []
    for unit in (1.0, scale):
        edges = backend.frame(weighted(rows, steps).assign(w=np.array(steps) * unit))
        ties = tc.annotate_vertices(edges, *BOTH, weight="w", directed=True, **IDS)
        own = backend.to_pandas(ties)[[*BOTH]].to_numpy().ravel().tolist()
        own += [tc.transitivity(edges, weight="w", mean=mean, **IDS) for mean in MEANS]
        found.append(own + backend.to_pandas(tc.similarity(edges, weight="w", **IDS)).tolist())
    assert found[1] == fine(found[0], rel=1e-12)


# Transitivity -------------------------------------------------------------------------------------


def test_transitivity_of_the_karate_club(backend):
    """By sums over all pairs of edges at a member, as the paper defines it."""
    club = nx.karate_club_graph()
    rows = [(u, v, w) for u, v, w in club.edges(data="weight")]
    edges = backend.frame(weighted([row[:2] for row in rows], [row[2] for row in rows]))
    found = [tc.transitivity(edges, weight="w", mean=mean) for mean in MEANS]
    assert [round(share, 4) for share in found] == [0.2958, 0.2988, 0.2887, 0.3069]


@many
@given(rows=edge_lists(9, 50), data=st.data())
def test_weighted_transitivity(backend, rows, data):
    weights = data.draw(st.lists(WEIGHTS, min_size=len(rows), max_size=len(rows)))
    aggregate = data.draw(st.sampled_from([*reference.AGGREGATES]))
    mean, frame = data.draw(st.sampled_from(MEANS)), weighted(rows, weights)
    right = reference.weighted_transitivity(plain(frame), mean=mean, aggregate=aggregate)
    call = {"weight": "w", "mean": mean, "aggregate": aggregate, **IDS}
    assert tc.transitivity(backend.frame(frame), **call) == fine(right, rel=1e-9, abs=1e-12)
    twice = pd.concat([frame.assign(day=2), frame.assign(day=1, w=frame["w"] * 1e9)])
    found = backend.to_pandas(tc.transitivity(backend.frame(twice), by="day", **call))
    assert found["transitivity"].tolist() == fine([right] * len(found), rel=1e-9, abs=1e-12)


# Jaccard ------------------------------------------------------------------------------------------


@many
@given(rows=edge_lists(9, 50), data=st.data())
def test_weighted_jaccard(backend, rows, data):
    weights = data.draw(st.lists(WEIGHTS, min_size=len(rows), max_size=len(rows)))
    aggregate, frame = data.draw(st.sampled_from([*reference.AGGREGATES])), weighted(rows, weights)
    right = reference.weighted_similarity(plain(frame), "jaccard", aggregate=aggregate)
    call = {"weight": "w", "aggregate": aggregate, **IDS}
    found = backend.to_pandas(tc.similarity(backend.frame(frame), **call))
    assert found.name == "jaccard" and found.dtype == np.float64
    expected = [right.get((min(u, v), max(u, v)), 0.0) for u, v in rows]
    assert found.tolist() == fine(expected, rel=1e-12)


# Paths and refusals -------------------------------------------------------------------------------


def bits(found):
    """An answer to the bit."""
    found = pd.concat(found.partitions) if hasattr(found, "partitions") else found
    if isinstance(found, float):
        return found.hex()
    columns = found.columns if isinstance(found, pd.DataFrame) else [None]
    return [(found if c is None else found[c]).to_numpy().tobytes() for c in columns]


CALLS = {
    "ties": lambda e, **by: tc.annotate_vertices(e, *BOTH, weight="w", aggregate="sum", **by),
    "mutual ties": lambda e, **by: tc.annotate_vertices(
        e, *BOTH, weight="w", aggregate="sum", directed=True, **by
    ),
    "arithmetic": lambda e, **by: tc.transitivity(e, weight="w", aggregate="max", **by),
    "geometric": lambda e, **by: tc.transitivity(
        e, weight="w", aggregate="max", mean="geometric", **by
    ),
    "jaccard": lambda e, **by: tc.similarity(e, weight="w", aggregate="min", **by),
}


@pytest.mark.cpu_only
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("by", [{}, {"by": "g"}], ids=["", "by"])
def test_answers_are_the_same_to_the_bit_on_all_paths(name, engine, by):
    random = np.random.default_rng(3)
    frame = pd.DataFrame(random.integers(0, 20, (120, 2)), columns=["src", "dst"])
    frame["w"] = random.random(120) * 10.0 ** random.integers(-3, 4, 120)
    frame["g"] = random.integers(0, 2, 120)
    call = CALLS[name]
    right = bits(call(frame, **by, **IDS))
    with ENGINES[engine]():
        for turn, layout in enumerate((None, BlockLayout(1), BlockLayout(3), BlockLayout(3, 2))):
            with use_layout(layout) if layout else nullcontext():
                if engine == "cpu" or turn % 2 == 0:  # of dear emulated calls, one of the two
                    assert bits(call(frame, **by, **IDS)) == right
                if name != "jaccard" and (engine == "cpu" or turn % 2):
                    assert bits(call(in_parts(frame, 4), **by, **IDS)) == right


def test_what_takes_no_weights_is_refused(backend):
    edges = backend.frame(weighted([(0, 1), (1, 2), (2, 0)], 1.0))
    wrong = [
        (lambda e: tc.annotate_vertices(e, "degree", "constraint", weight="w"), 'ask for "degree"'),
        (lambda e: tc.annotate_vertices(e, "closure", directed=True), "are about \"constraint\""),
        (lambda e: tc.annotate_vertices(e, "constraint", aggregate="sum"), "give weight= as well"),
        (lambda e: tc.annotate_vertices(e, "constraint", directed=1), "accepted: True, False"),
        (lambda e: tc.transitivity(e, mean="max"), "mean='max' is about weights"),
        (lambda e: tc.transitivity(e, weight="w", mean="median"), "mean='median'; accepted"),
        (lambda e: tc.transitivity(e, weight="w", directed=True), "not asked for together"),
        (lambda e: tc.transitivity(e, aggregate="sum"), "give weight= as well"),
        (lambda e: tc.similarity(e, measure="cosine", weight="w"), "'cosine' takes no weight="),
        (lambda e: tc.similarity(e, weight="w", pairs=e, **IDS), "of the edges alone"),
        (lambda e: tc.similarity(e, aggregate="sum"), "give weight= as well"),
    ]  # fmt: skip
    for call, message in wrong:
        with pytest.raises(ValueError, match=message):
            call(edges)
    for values in (-1.0, nan, np.inf):
        for call in (tc.transitivity, tc.similarity):
            with pytest.raises(ValueError, match="are missing, negative or infinite"):
                call(backend.frame(weighted([(0, 1)], [values])), weight="w")
    parts = in_parts(weighted([(0, 1), (1, 2)], 1.0), 2)
    for mean in ("max", "min"):
        with pytest.raises(TypeError, match="runs on one machine"):
            tc.transitivity(parts, weight="w", mean=mean)
    with pytest.raises(TypeError, match=r"similarity\(weight=\) runs on one machine"):
        tc.similarity(parts, weight="w")


def test_no_edge_and_no_weight(backend):
    for rows, weights in ([], []), ([(1, 1)], [2.0]), ([(0, 1), (1, 2), (2, 0)], 0.0):
        edges = backend.frame(weighted(np.array(rows, "int64").reshape(-1, 2), weights))
        for mean in MEANS:
            assert tc.transitivity(edges, weight="w", mean=mean, **IDS) == 0.0
        found = backend.to_pandas(tc.annotate_vertices(edges, *BOTH, weight="w", **IDS))
        assert found[[*BOTH]].isna().all(axis=None)
        index = backend.to_pandas(tc.similarity(edges, weight="w", **IDS))
        assert index.tolist() == [0.0] * len(rows)
