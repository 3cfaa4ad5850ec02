"""Approximate counts: the sample as defined, right on average, and intervals that hold."""

import tracemalloc
from fractions import Fraction
from itertools import product
from math import inf, isfinite, nan, sqrt
from statistics import NormalDist

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import reference
from checks import rows_of
from graphs import (
    SMALL,
    book,
    complete,
    dense_edge_lists,
    edge_frames,
    friendship,
    multipartite,
    wheel,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from stream_support import assert_same, in_blocks

import rapids_tc as tc
from rapids_tc import datasets
from rapids_tc.analytics import approximate
from rapids_tc.executors.local import PartitionedFrame
from rapids_tc.plan.block_layout import BlockLayout, use_layout
from rapids_tc.preparation import orient, sampling, splitmix

many = settings(max_examples=60, deadline=None)


def frame_of(rows):
    return pd.DataFrame(rows, columns=["src", "dst"], dtype="int64")


def expected(rows, colors, seed, words=None):
    """The estimate and its standard error, by the definition."""
    words = {v: v for row in rows for v in row} if words is None else words
    color = {v: reference.color(word, colors, seed) for v, word in words.items()}
    value, variance = reference.approximate_count(rows, color, colors)
    return value, sqrt(variance)


def assert_estimate(found, value, stderr):
    assert type(found) is tc.Estimate
    assert [type(x) for x in (found.value, found.stderr, found.low, found.high)] == [
        int, float, float, float,
    ]  # fmt: skip
    assert found.value == value
    assert found.stderr == pytest.approx(stderr, rel=1e-12)
    assert 0 <= found.low <= found.value <= found.high


# The sample ---------------------------------------------------------------------------------------


def test_the_sequence_is_splitmix64():
    """The first numbers from state 0, as they are published."""
    words = splitmix.mix(sampling._step(np.arange(3, dtype="uint64")))
    assert words.tolist() == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]


@many
@given(
    words=st.lists(st.integers(0, 2**64 - 1), min_size=1),
    colors=st.integers(1, 2**32 - 1),
    seed=st.integers(0, 2**64 - 1),
)
def test_colors_are_those_of_the_definition(words, colors, seed):
    found = sampling.draw(np.array(words, "uint64"), colors, seed)
    assert found.tolist() == [reference.color(word, colors, seed) for word in words]


@pytest.mark.parametrize("colors", [2, 3, 7, 16, 256, 257])
def test_colors_are_even(colors):
    for seed in range(3):
        number = np.bincount(sampling.draw(np.arange(10**5, dtype="uint64"), colors, seed))
        assert len(number) == colors
        share = 10**5 / colors
        assert ((number - share) ** 2 / share).sum() < colors + 5 * sqrt(2 * colors)


@many
@given(edges=edge_frames(), colors=st.integers(1, 5), seed=st.integers(0, 2**64 - 1))
def test_ids_of_any_dtype(backend, edges, colors, seed):
    rows = rows_of(edges)
    ids = sorted({v for row in rows for v in row})
    words = {v: int(v) if edges["src"].dtype.kind in "iuf" else i for i, v in enumerate(ids)}
    found = tc.approximate_count(backend.frame(edges), colors=colors, seed=seed)
    assert_estimate(found, *expected(rows, colors, seed, words))


def variants(rows):
    """The same graph in other rows, widths and neighborhoods."""
    turned = [(v, u) for u, v in rows]
    yield "as it is", frame_of(rows)
    yield "shuffled", frame_of(rows[::-1])
    yield "turned", frame_of(turned)
    yield "repeated", frame_of(rows * 40 + turned)
    yield "with loops", frame_of([(5, 5), *rows, (2, 2)])
    yield "narrow", frame_of(rows).astype("int8")
    yield "unsigned", frame_of(rows).astype("uint64")
    yield "floats", frame_of(rows).astype("float32")
    yield "far away vertices beside", frame_of([*rows, (2**50, 2**60), (2**55, 2**60)])
    yield "nearer ones beside", frame_of([*rows, (200, 199)])


ROWS = [(int(u), int(v)) for u, v in nx.karate_club_graph().edges]


@pytest.mark.parametrize(("name", "frame"), list(variants(ROWS)), ids=lambda value: str(value)[:20])
def test_the_sample_is_of_the_graph_not_of_its_rows(backend, name, frame):
    edges = backend.frame(frame)
    for colors, seed in ((2, 0), (3, 2**64 - 1)):
        value, stderr = expected(ROWS, colors, seed)
        assert value
        assert_estimate(tc.approximate_count(edges, colors=colors, seed=seed), value, stderr)


def test_a_graph_is_sampled_like_its_frame(backend):
    edges = backend.frame(frame_of(ROWS))
    graph = tc.Graph(edges, vertices=[99, 2**40])
    tc.count(graph)
    for seed in range(5):
        found = tc.approximate_count(graph, colors=2, seed=seed)
        assert found == tc.approximate_count(edges, colors=2, seed=seed)
    assert (tc.count(graph), graph.n_vertices) == (45, 36)  # it is left as it was


def test_seeds_are_samples(backend):
    edges = backend.frame(frame_of(ROWS))
    found = [tc.approximate_count(edges, colors=2, seed=seed).value for seed in range(20)]
    assert len(set(found)) > 8
    assert found == [tc.approximate_count(edges, colors=2, seed=s).value for s in range(20)]


def test_edges_are_dropped_before_they_are_sorted(backend, monkeypatch):
    sorted_rows = []
    original = orient.orient

    def spy(ends, *args):
        sorted_rows.append(len(ends[0]))
        return original(ends, *args)

    monkeypatch.setattr(orient, "orient", spy)
    edges = backend.frame(complete(60).frame())
    tc.approximate_count(edges, colors=10, seed=1)
    graph = tc.Graph(edges)
    tc.approximate_count(graph, colors=10, seed=1)
    assert sorted_rows == [sorted_rows[0], 1770, sorted_rows[0]]
    assert sorted_rows[0] < 300


# Right on average ---------------------------------------------------------------------------------

ENUMERATED = {
    "K4": (complete(4), 3),
    "K5": (complete(5), 2),
    "book": (book(3), 3),
    "friendship": (friendship(2), 3),
    "octahedron": (multipartite(3, 2), 2),
    "wheel": (wheel(5), 2),
    "K4 of 4 colors": (complete(4), 4),
}


@pytest.mark.parametrize("name", ENUMERATED)
def test_the_mean_over_all_colourings_is_the_count(backend, monkeypatch, name):
    """And that of the variances is the variance: exactly, for every graph and number of colors."""
    known, colors = ENUMERATED[name]
    edges, values, variances = backend.frame(known.frame()), [], []
    for chosen in product(range(colors), repeat=known.n_vertices):
        drawn = backend.frame({"color": chosen})["color"].values
        monkeypatch.setattr(sampling, "draw", lambda *_, drawn=drawn: drawn)
        found = tc.approximate_count(edges, colors=colors, seed=0)
        values.append(Fraction(found.value))
        variances.append(Fraction(round(found.stderr**2)))
    mean = sum(values) / len(values)
    assert mean == known.triangles
    spread = sum((value - mean) ** 2 for value in values) / len(values)
    assert sum(variances) / len(variances) == spread
    assert spread > 0


@pytest.mark.parametrize("name", SMALL)
def test_one_colour_is_exact(backend, name):
    known = SMALL[name]
    found = tc.approximate_count(backend.frame(known.frame()), colors=1, seed=7)
    assert found == tc.Estimate(known.triangles, 0.0, known.triangles, known.triangles)


COVERED = {
    "R-MAT": datasets.rmat(10),
    "uniform": frame_of(list(nx.gnm_random_graph(400, 8000, seed=1).edges)),
    "small world": frame_of(list(nx.watts_strogatz_graph(1000, 14, 0.1, seed=1).edges)),
    "scale-free": frame_of(list(nx.powerlaw_cluster_graph(800, 8, 0.6, seed=1).edges)),
    "wheel": wheel(2000).frame(),
}


@pytest.mark.large
@pytest.mark.parametrize(
    ("name", "colors"),
    [("R-MAT", 2), ("R-MAT", 12), ("uniform", 5), ("small world", 12), ("scale-free", 2),
     ("scale-free", 5), ("wheel", 5)],
)  # fmt: skip
def test_intervals_hold_the_count_as_often_as_they_say(backend, name, colors):
    edges, seeds = backend.frame(COVERED[name]), range(300)
    count = tc.count(edges)
    found = [tc.approximate_count(edges, colors=colors, seed=seed) for seed in seeds]
    held = [e.low <= count <= e.high for e in found]
    assert 0.91 <= np.mean(held) <= 0.99  # 0.95; of 300 draws 0.013 is a standard deviation
    values = np.array([e.value for e in found], "float64")
    stderr = sqrt(np.mean([e.stderr**2 for e in found]))
    assert abs(values.mean() - count) < 3 * stderr / sqrt(len(seeds))
    assert values.std() == pytest.approx(stderr, rel=0.15)


# The interval -------------------------------------------------------------------------------------


@many
@given(
    seen=st.integers(1, 10**9),
    sharing=st.floats(0, 100),
    colors=st.integers(2, 1000),
    confidence=st.sampled_from([0.5, 0.8, 0.95, 0.999]),
)
def test_the_ends_are_as_many_standard_errors_away_as_asked_for(seen, sharing, colors, confidence):
    found = approximate.estimate([(3 * seen, seen * sharing)], colors, confidence)
    away = NormalDist().inv_cdf((1 + confidence) / 2)
    for end in (found.low, found.high):
        stderr = found.stderr * sqrt(end / found.value)  # were the count there
        assert end == seen or abs(end - found.value) == pytest.approx(away * stderr, rel=1e-6)
    assert seen <= found.low < found.value < found.high


def test_no_triangle_seen_is_no_proof_of_none():
    found = approximate.estimate([(0, 0.0)], 10, 0.95)
    assert (found.value, found.stderr, found.low) == (0, 0.0, 0.0)
    assert found.high == pytest.approx(1.96**2 * 99, rel=1e-3)


def test_counts_past_64_bits_are_exact():
    found = approximate.estimate([(3 * (2**63 - 1), 1e30)], 2**20, 0.95)
    assert found.value == (2**63 - 1) * 2**40
    assert all(map(isfinite, (found.stderr, found.low, found.high)))


def test_more_confidence_is_a_wider_interval(backend):
    edges = backend.frame(frame_of(ROWS))
    found = [tc.approximate_count(edges, colors=2, seed=1, confidence=c) for c in (0.5, 0.9, 0.99)]
    assert found[0].low > found[1].low > found[2].low
    assert found[0].high < found[1].high < found[2].high
    assert len({(e.value, e.stderr) for e in found}) == 1
    assert tc.approximate_count(edges, colors=2, seed=1, confidence=0.9) == found[1]


# Misuse, and nothing ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        {"colors": 0},
        {"colors": -1},
        {"colors": 2.0},
        {"colors": True},
        {"colors": 2**32},
        {"colors": "3"},
        {"seed": -1},
        {"seed": 2**64},
        {"seed": 1.5},
        {"seed": None},
        {"confidence": 0},
        {"confidence": 1},
        {"confidence": inf},
        {"confidence": nan},
        {"confidence": 1 - 2**-53},
        {"confidence": "0.95"},
        {"confidence": None},
    ],
    ids=str,
)
def test_arguments_that_cannot_be(backend, wrong):
    edges = backend.frame(frame_of(ROWS))
    [name] = wrong
    with pytest.raises(ValueError, match=f"{name}=.*accepted"):
        tc.approximate_count(edges, **{"colors": 2, "seed": 0, **wrong})


def test_four_colors_of_seed_0_if_none_are_chosen(backend):
    edges = backend.frame(frame_of(ROWS))
    assert tc.approximate_count(edges) == tc.approximate_count(edges, colors=4, seed=0)
    assert tc.approximate_count(edges, colors=np.int64(2), seed=np.uint64(3)) == (
        tc.approximate_count(edges, colors=2, seed=3)
    )


@pytest.mark.parametrize("rows", [[], [(4, 4)], [(4, 5)], [(4, 5), (6, 6)]], ids=str)
@pytest.mark.parametrize("colors", [1, 3, 1000])
def test_next_to_nothing(backend, rows, colors):
    found = tc.approximate_count(backend.frame(frame_of(rows)), colors=colors, seed=0)
    assert (found.value, found.stderr, found.low) == (0, 0.0, 0.0)
    assert (found.high > 0) is (colors > 1)


def test_more_colors_than_vertices(backend):
    edges = backend.frame(complete(30).frame())
    assert tc.approximate_count(edges, colors=2**32 - 1, seed=0).value == 0
    with pytest.raises(tc.CapacityError):
        tc.approximate_count(edges, colors=1, seed=0, memory_limit=1000)


@pytest.mark.parametrize("ids", ["int8", "uint16", "int32", "uint32", "int64", "uint64", "str"])
def test_the_numbers_of_a_sample_are_no_wider_than_ranks(backend, ids):
    edges = complete(20).frame().astype(ids)
    graph = tc.Graph(backend.frame(edges))
    sample = sampling.one_colored(graph._prepared._edges, colors=2, seed=3)
    assert {end.dtype.name for end in sample.ends} == {"uint32"}
    assert 0 < sample.rows < len(edges)


@pytest.mark.cpu_only
def test_pairs_are_summed_in_less_memory_than_the_counts_take():
    counts = np.arange(1 << 20, dtype="uint32") % 1000
    expected = sum(c * (c - 1) // 2 for c in range(1000)) * (len(counts) // 1000)
    expected += sum(c * (c - 1) // 2 for c in range(len(counts) % 1000))
    tracemalloc.start()
    _, pairs = sampling.moments(counts)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert pairs == expected and peak < 3 * counts.nbytes


# Blocks -------------------------------------------------------------------------------------------


@settings(max_examples=8, deadline=None)
@given(rows=dense_edge_lists().filter(bool), n=st.integers(1, 3), colors=st.integers(1, 3))
def test_samples_of_blocks(backend, rows, n, colors):
    """The estimate of the definition, of the graph and of each group."""
    frame = frame_of(rows)
    days = frame.assign(day=frame.index % 2)
    own, ids = {"colors": colors, "seed": n}, {"source": "src", "destination": "dst"}
    of_days = tc.approximate_count(backend.frame(days), by="day", **own, **ids)
    with in_blocks(n) as made:
        found = tc.approximate_count(backend.frame(frame), **own)
        by_day = tc.approximate_count(backend.frame(days), by="day", **own, **ids)
    assert len(made) == 2
    assert_estimate(found, *expected(rows, **own))
    assert_same(backend, by_day, of_days)


def test_a_limit_below_the_graph_takes_the_sample_in_blocks(backend):
    edges = backend.frame(datasets.rmat(11, seed=2))
    own = {"colors": 2, "seed": 5}
    limit = max(tc.memory_estimate(edges, function="approximate_count").values()) // 2
    found = tc.approximate_count(edges, memory_limit=limit, **own)
    assert found == tc.approximate_count(edges, **own)


@pytest.mark.cpu_only
@pytest.mark.parametrize("names", [lambda ids: ids, lambda ids: "v" + ids.astype("str")])
def test_a_sample_in_ranges_of_ids_is_that_of_the_graph(names):
    """Colours are those of an id's number among all ids, whichever range it is in."""
    frame = datasets.rmat(7).map(np.int64).apply(names)
    parts = PartitionedFrame([frame.iloc[:900], frame.iloc[900:]])
    with use_layout(BlockLayout(2, ranges=3)):
        found = tc.approximate_count(parts, colors=3, seed=5)
    assert found == tc.approximate_count(frame, colors=3, seed=5)
