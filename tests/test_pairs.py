"""Measures of pairs of vertices, joined by an edge or not: kernels, engines and calls."""

import logging
from dataclasses import replace
from itertools import pairwise

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import reference
from checks import assert_column
from emulator_support import SEEDS, compiler, long, plain_only, run_again
from graphs import edge_lists
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_support import ENGINE, book, keys_of, random_rows
from needs import need_module
from stream_support import in_blocks

import rapids_tc as tc
from rapids_tc import _parallel, datasets, testing
from rapids_tc.analytics.similarity import MEASURES
from rapids_tc.engines.cpu import engine as cpu
from rapids_tc.engines.cpu import pairs as cpu_pairs
from rapids_tc.executors import registry
from rapids_tc.executors.local import LocalExecutor, PartitionedFrame
from rapids_tc.graphs import distributed_pairs
from rapids_tc.graphs import pair_columns as pairs_of_graphs
from rapids_tc.plan.block_layout import BlockLayout, use_layout
from rapids_tc.plan.record import ANALYTICS

__all__ = ["compiler"]
INDEX = {
    "jaccard": nx.jaccard_coefficient,
    "adamic_adar": nx.adamic_adar_index,
    "resource_allocation": nx.resource_allocation_index,
}
EDGES = datasets.rmat(7, edge_factor=6, seed=4)
CLUB = pd.DataFrame({"src": [0, 1, 2, 2], "dst": [1, 2, 0, 3]})


def random_pairs(rows, size, seed=0):
    """Pairs of vertices, loops and repeats and edges among them."""
    vertices = sorted({end for row in rows for end in row})
    random = np.random.default_rng(seed)
    pairs = [tuple(random.choice(vertices, 2).tolist()) for _ in range(size)]
    return [*pairs, *pairs[:3], *list(rows)[:5], (vertices[0], vertices[0])]


def common_of(rows, pairs, values=None):
    """The common neighbors of pairs, counted or summed; those of a loop are left open."""
    near = reference.neighbors(rows)
    values = dict.fromkeys(near, 1) if values is None else values
    return [sum(int(values[w]) for w in near[u] & near[v]) if u != v else None for u, v in pairs]


# Engines ------------------------------------------------------------------------------------------


def check_engine(engine, rows, pairs, n):
    csr = engine.csr(keys_of(rows), n)
    of_all = engine.neighbors(csr)
    near = reference.neighbors(rows)
    assert (of_all.n, of_all.m) == (n, 2 * csr.m) and of_all.columns.dtype == np.uint32
    for u in range(n):
        row = of_all.columns[of_all.offsets[u] : of_all.offsets[u + 1]]
        assert row.tolist() == sorted(near.get(u, ()))
    u, v = np.ascontiguousarray(np.array(pairs, np.uint32).reshape(-1, 2).T)
    for values in (np.zeros(0, np.int64), np.arange(n) * 2**40 - 7):
        sums = engine.common_sums(of_all, u, v, values)
        assert sums.dtype == np.int64
        right = common_of(rows, pairs, values if len(values) else None)
        found = [s if r is not None else None for s, r in zip(sums.tolist(), right, strict=True)]
        assert found == right


@pytest.mark.cpu_only
@settings(max_examples=60, deadline=None)
@given(rows=edge_lists(25, 120), seed=st.integers(0, 9))
def test_any_pairs_on_the_cpu(rows, seed):
    if rows:
        n = 1 + max(map(max, rows))
        check_engine(cpu, rows, random_pairs(rows, 5 * seed, seed), n)


@pytest.mark.cpu_only
@pytest.mark.parametrize("size", [3, 400])
def test_rows_are_searched_or_marked_by_several_threads(monkeypatch, size):
    """A long row with few pairs is searched to its end, and one with many is marked."""
    monkeypatch.setattr(_parallel, "thread_count", lambda: 3)
    monkeypatch.setattr(_parallel, "SERIAL_BELOW", 0)
    rows = [*random_rows(60, 100, 3), *((v, 0) for v in range(1, 60)), (59, 58)]
    check_engine(cpu, rows, [*random_pairs(rows, size), (58, 0)], 60)


@pytest.mark.cpu_only
def test_equal_pairs_read_their_rows_once_on_the_cpu():
    """The loop runs as plain Python, and what it reads is counted."""
    rows = cpu.neighbors(cpu.csr(keys_of(book(20)), 22))
    reads = []

    class Columns:
        def __getitem__(self, place):
            reads.append(place)
            return rows.columns[place]

    for repeats in (1, 50):
        hub, other = np.repeat(np.array([[0, 0], [1, 5]], np.uint32), repeats, axis=1)
        sums = np.zeros(2 * repeats, np.int64)
        arrays = np.arange(len(sums)), np.zeros(22, np.uint8), np.zeros(0, np.int64), sums
        reads.clear()
        cpu_pairs._sum_common.py_func(rows.offsets, Columns(), hub, other, *arrays)
        assert sums.tolist() == [20] * repeats + [1] * repeats
        assert len(reads) == 21 + 21 + 2 + 21  # the hub's row marked, both walked, marks cleared


@pytest.mark.cpu_only
@pytest.mark.usefixtures("compiler")
def test_equal_pairs_are_compared_once_by_kernels():
    sizes = []

    def compiled(*source):
        [(name, kernel)] = testing.compile(*source).items()

        def launch(grid, block, arguments):
            sizes.append(int(arguments[4]))
            kernel(grid, block, arguments)

        return {name: launch}

    rows = ENGINE.neighbors(ENGINE.csr(keys_of(book(20)), 22))
    u, v = np.array([[0, 1, 5, 0] * 9, [1, 0, 0, 5] * 9])
    sums = replace(ENGINE, compile=compiled).common_sums(rows, u, v, np.zeros(0, np.int64))
    assert sums.tolist() == [20, 20, 1, 1] * 9 and sizes == [2]


@pytest.mark.cpu_only
@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize("seed", SEEDS)
def test_hundred_pairs_by_kernels(seed):
    rows = random_rows(40, 200, 5)
    with testing.thread_order(seed):
        check_engine(ENGINE, rows, random_pairs(rows, 100), 41)


@pytest.mark.cpu_only
@pytest.mark.usefixtures("compiler")
@plain_only
@long
@pytest.mark.parametrize("tool", ["address", "thread"])
def test_overruns_and_races(tool):
    run_again(__file__, tool, "-k", "hundred")


# Calls --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", INDEX)
def test_networkx_agrees(backend, measure):
    graph = nx.Graph(EDGES.to_numpy().tolist())
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    pairs = [(u, v) for u, v in random_pairs(EDGES.to_numpy().tolist(), 300) if u != v]
    asked = backend.frame(pd.DataFrame(pairs, columns=["src", "dst"]))
    found = tc.similarity(backend.frame(EDGES), measure=measure, pairs=asked)
    expected = [value for _, _, value in INDEX[measure](graph, pairs)]
    assert backend.to_pandas(found).tolist() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("measure", MEASURES)
def test_pairs_of_edges_have_the_bits_of_edges(backend, measure, monkeypatch):
    monkeypatch.setattr(pairs_of_graphs, "BATCH", 100)
    edges = backend.frame(EDGES)
    by_row = backend.to_pandas(tc.similarity(edges, measure=measure))
    turned = backend.frame(EDGES.rename(columns={"src": "dst", "dst": "src"})[["src", "dst"]])
    for pairs in (edges, turned):
        found = backend.to_pandas(tc.similarity(edges, measure=measure, pairs=pairs))
        assert_column(found, measure, np.float64, EDGES.index, by_row.tolist())


@pytest.mark.parametrize("measure", MEASURES)
def test_every_pair_of_a_small_graph(backend, measure):
    """Isolated vertices, pairs that are no edges, loops and repeats, by the definitions."""
    pairs = pd.DataFrame([(u, v) for u in (0, 1, 2, 3, 7) for v in (0, 1, 2, 3, 7)] * 2)
    pairs = pairs.set_axis(["src", "dst"], axis=1).set_axis(range(100, 150))
    graph = tc.Graph(backend.frame(CLUB), vertices=[7])
    found = backend.to_pandas(graph.similarity(measure=measure, pairs=backend.frame(pairs)))
    near = {**reference.neighbors(CLUB.to_numpy().tolist()), 7: set()}
    expected = [
        0.0 if u == v else reference.similarity_of(near, measure, u, v)
        for u, v in pairs.itertuples(index=False)
    ]
    assert_column(found.round(9), measure, np.float64, pairs.index, np.round(expected, 9))


def test_columns_of_pairs_are_found_as_those_of_edges(backend):
    edges = backend.frame(CLUB.set_axis(["a", "b"], axis=1))
    pairs = pd.DataFrame({"b": [3, 1], "x": [9, 9], "a": [0, 0]})
    named = {"source": "a", "destination": "b"}
    found = tc.similarity(edges, pairs=backend.frame(pairs), **named)
    assert backend.to_pandas(found).tolist() == [0.5, pytest.approx(1 / 3)]
    in_pair = backend.frame(pd.DataFrame({"target": [3], "source": [0]}))
    assert backend.to_pandas(tc.similarity(edges, pairs=in_pair)).tolist() == [0.5]
    with pytest.raises(ValueError, match="which columns hold the edges"):
        tc.similarity(edges, pairs=backend.frame(pairs))
    with pytest.raises(tc.ColumnNotFoundError, match="'a'"):
        tc.similarity(edges, pairs=in_pair, **named)


@pytest.mark.parametrize("dtype", ["str", "category", "datetime64[ns]"])
def test_ids_of_other_dtypes(backend, dtype):
    make = lambda frame: backend.frame(frame.astype("int64").astype("str").astype(dtype))  # noqa: E731
    if dtype == "datetime64[ns]":
        make = lambda frame: backend.frame(frame.astype("int64").astype(dtype))  # noqa: E731
    pairs = pd.DataFrame({"src": [3, 0, 1], "dst": [1, 1, 1]})
    found = backend.to_pandas(tc.similarity(make(CLUB), measure="overlap", pairs=make(pairs)))
    assert found.tolist() == [1.0, 0.5, 0.0]


def test_pairs_without_rows(backend):
    none = backend.frame(pd.DataFrame({"src": [], "dst": []}, dtype="int64"))
    found = backend.to_pandas(tc.similarity(backend.frame(CLUB), pairs=none))
    assert (len(found), found.name, found.dtype) == (0, "jaccard", np.float64)


def test_unknown_vertices_are_named(backend):
    pairs = pd.DataFrame({"src": [0, 9, *range(10, 16)], "dst": [8, 9, *[1] * 6]})
    words = r"8 of pairs= have .*: \(0, 8\), \(9, 9\), \(10, 1\), \(11, 1\), \(12, 1\), …;"
    with pytest.raises(ValueError, match=words):
        tc.similarity(backend.frame(CLUB), pairs=backend.frame(pairs))


@pytest.mark.cpu_only
def test_pairs_of_another_library():
    polars = need_module("polars")
    pairs = {"src": [3, 0], "dst": [1, 1]}
    found = tc.similarity(CLUB, pairs=polars.DataFrame(pairs))
    assert isinstance(found, polars.Series) and found.to_list() == [0.5, pytest.approx(1 / 3)]
    found = tc.similarity(polars.DataFrame(CLUB.to_dict("list")), pairs=pd.DataFrame(pairs))
    assert isinstance(found, pd.Series) and found.tolist() == [0.5, pytest.approx(1 / 3)]


@pytest.mark.cpu_only
def test_what_takes_no_pairs():
    with pytest.raises(tc.NullIdError, match=r"column 'dst' of pairs="):
        tc.similarity(CLUB, pairs=pd.DataFrame({"src": [0.0], "dst": [np.nan]}))
    with pytest.raises(tc.IdTypeError, match=r"column 'src' of pairs="):
        tc.similarity(CLUB, pairs=pd.DataFrame({"src": ["0"], "dst": ["1"]}))
    with pytest.raises(TypeError, match="pairs= is a list; give a frame"):
        tc.similarity(CLUB, pairs=[(0, 1)])
    with pytest.raises(ValueError, match="neither by= nor ids of several columns"):
        tc.similarity(CLUB.assign(g=1), by="g", pairs=CLUB)
    with pytest.raises(tc.CapacityError, match="10,000 may be taken"):
        tc.similarity(EDGES, pairs=EDGES, memory_limit=10_000)


def test_a_graph_keeps_the_rows_that_pairs_read(backend):
    graph = tc.Graph(backend.frame(EDGES))
    first = graph.similarity(measure="jaccard", pairs=backend.frame(EDGES))
    rows = graph._prepared.neighbors
    again = graph.similarity(measure="jaccard", pairs=backend.frame(EDGES))
    assert graph._prepared.neighbors is rows
    assert backend.to_pandas(first).tolist() == backend.to_pandas(again).tolist()
    assert "neighbors" not in graph._prepared.__getstate__()


@pytest.mark.cpu_only
def test_the_memory_of_pairs_is_counted():
    graph, work = tc.Graph(EDGES)._prepared, ANALYTICS["similarity"].work
    few, many = (
        graph.stages(
            work({"measure": "jaccard", "pairs": EDGES.iloc[:size], "weight": None}), "auto"
        )
        for size in (0, len(EDGES))
    )
    assert [stage.name for stage in many] == ["pairs"]
    assert many[0].bytes - few[0].bytes >= 24 * len(EDGES)


# Blocks -------------------------------------------------------------------------------------------


@settings(max_examples=10, deadline=None)
@given(rows=edge_lists().filter(bool), n=st.integers(1, 4), entries=st.sampled_from([1, 9, 10**6]))
def test_pairs_of_a_graph_in_blocks(backend, rows, n, entries):
    """Whatever number of rows fits, the values have the bits of the graph in memory."""
    edges = backend.frame(pd.DataFrame(rows, columns=["src", "dst"], dtype="int64"))
    pairs = pd.DataFrame(random_pairs(rows, 20), columns=["src", "dst"])
    by_pair = reference.similarity(rows, "jaccard", [*map(tuple, pairs.to_numpy().tolist())])
    right = [by_pair[pair] for pair in map(tuple, pairs.to_numpy().tolist())]
    with in_blocks(n) as graphs, pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs_of_graphs, "ENTRY", (1 << 29) // entries)
        found = tc.similarity(edges, pairs=pairs)
        sums = tc.similarity(edges, measure="adamic_adar", pairs=pairs)
    assert len(graphs) == 2 and found.tolist() == pytest.approx(right, abs=1e-12)
    expected = tc.similarity(edges, measure="adamic_adar", pairs=pairs)
    pd.testing.assert_series_equal(sums, expected, check_exact=True)


@pytest.mark.cpu_only
@pytest.mark.parametrize("most", [1, 100, 10**6])
def test_pairs_in_parts_whose_rows_fit(most):
    random = np.random.default_rng(most)
    degrees, (u, v) = random.integers(0, 30, 50), random.integers(0, 50, (2, 70))
    parts = [*pairs_of_graphs.parts_of(u, v, degrees, most, np)]
    assert [place for part in parts for place in range(70)[part]] == [*range(70)]
    sizes = [degrees[np.union1d(u[part], v[part])].sum() for part in parts]
    alone = [part.stop - part.start == 1 for part in parts]
    assert all(size <= most or single for size, single in zip(sizes, alone, strict=True))
    assert len(parts) == {1: 70, 10**6: 1}.get(most, len(parts))


@pytest.mark.cpu_only
def test_a_limit_below_the_graph_in_memory_counts_pairs_in_blocks(caplog):
    edges = datasets.rmat(12, edge_factor=16, seed=4)
    pairs = edges.sample(500, random_state=0)
    expected = tc.similarity(edges, pairs=pairs)
    with caplog.at_level(logging.INFO, logger="rapids_tc"):
        found = tc.similarity(edges, pairs=pairs, memory_limit=1_000_000)
    assert "counted in" in caplog.text
    pd.testing.assert_series_equal(found, expected, check_exact=True)


# Partitioned frames -------------------------------------------------------------------------------


def partitioned(frame, parts):
    bounds = np.linspace(0, len(frame), parts + 1).astype(int)
    return PartitionedFrame([frame.iloc[a:b] for a, b in pairwise(bounds)])


@pytest.mark.cpu_only
@settings(max_examples=10, deadline=None)
@given(
    rows=edge_lists().filter(bool), n=st.integers(1, 3), entries=st.sampled_from([1, 9, 10**6]),
    most=st.sampled_from([3, 10**6]), measure=st.sampled_from(sorted(MEASURES)),
)  # fmt: skip
def test_pairs_of_a_partitioned_frame(rows, n, entries, most, measure):
    """Of this process, cut in pieces, or partitioned: aligned, by the definition, in its bits."""
    edges = pd.DataFrame(rows, columns=["src", "dst"], dtype="int64")
    pairs = pd.DataFrame(random_pairs(rows, 20), columns=["src", "dst"]).iloc[::-1]
    ends = [*pairs.itertuples(index=False, name=None)]
    by_pair = reference.similarity(rows, measure, ends)
    cut = partitioned(edges, 4)
    with use_layout(BlockLayout(n, 2)), pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs_of_graphs, "ENTRY", (1 << 29) // entries)
        patch.setattr(distributed_pairs, "MOST_PAIRS", most)
        found = tc.similarity(cut, measure=measure, pairs=pairs, memory_limit=1 << 30)
        apart = tc.similarity(tc.Graph(cut), measure=measure, pairs=partitioned(pairs, 5))
    right = [0.0 if u == v else by_pair[u, v] for u, v in ends]
    assert found.tolist() == pytest.approx(right, abs=1e-12)
    expected = tc.similarity(edges, measure=measure, pairs=pairs)
    pd.testing.assert_series_equal(found, expected, check_exact=True)
    assert len(apart.partitions) == 5
    wide = pairs.assign(**{measure: expected})
    pd.testing.assert_frame_equal(pd.concat(apart.partitions), wide, check_exact=True)


@pytest.mark.cpu_only
def test_pairs_of_other_libraries_and_ids_of_a_partitioned_frame():
    edges = CLUB.astype("str").set_axis(["a", "b"], axis=1)
    named = {"source": "a", "destination": "b"}
    pairs = pd.DataFrame({"b": ["1", "1"], "a": ["3", "0"]}, index=[9, 4])
    found = tc.similarity(partitioned(edges, 2), pairs=pairs, **named)
    assert_column(found, "jaccard", np.float64, pairs.index, [0.5, pytest.approx(1 / 3)])
    polars = need_module("polars")
    found = tc.similarity(partitioned(edges, 2), pairs=polars.from_pandas(pairs), **named)
    assert isinstance(found, polars.Series) and found.to_list() == [0.5, pytest.approx(1 / 3)]
    none = tc.similarity(partitioned(edges, 2), pairs=partitioned(pairs.iloc[:0], 1), **named)
    assert_column(none.partitions[0]["jaccard"], "jaccard", np.float64, pairs.index[:0], [])


@pytest.mark.cpu_only
def test_pairs_that_a_partitioned_frame_does_not_take():
    edges, graph = partitioned(CLUB, 2), tc.Graph(partitioned(CLUB, 2))
    pairs = pd.DataFrame({"src": [0, 9, *range(10, 16)], "dst": [8, 9, *[1] * 6]})
    words = r"8 of pairs= have .*: \(0, 8\), \(9, 9\), \(10, 1\), \(11, 1\), \(12, 1\), …;"
    for asked in (pairs, partitioned(pairs, 3)):
        with pytest.raises(ValueError, match=words):
            tc.similarity(edges, pairs=asked)
    with pytest.raises(tc.IdTypeError, match=r"column 'src' of pairs="):
        tc.similarity(edges, pairs=pd.DataFrame({"src": ["0"], "dst": ["1"]}))
    with pytest.raises(TypeError, match="pairs= is a list; give a frame"):
        tc.similarity(edges, pairs=[(0, 1)])
    with pytest.raises(ValueError, match="jaccard"):
        tc.similarity(
            edges, pairs=partitioned(CLUB.assign(jaccard=1), 1), source="src", destination="dst"
        )
    with pytest.raises(TypeError, match="pairs= is a Graph; give a frame"):
        tc.similarity(edges, pairs=graph)
    with pytest.raises(TypeError, match="pairs= is a PartitionedFrame; give a frame of one"):
        tc.similarity(CLUB, pairs=edges)
    with pytest.raises(ValueError, match="neither by= nor ids of several columns"):
        tc.similarity(partitioned(CLUB.assign(g=1), 2), by="g", pairs=CLUB)


class _Elsewhere(LocalExecutor):
    kind = "frame of elsewhere"


@pytest.mark.cpu_only
def test_pairs_that_are_partitioned_elsewhere():
    class Elsewhere(PartitionedFrame):
        pass

    load = lambda: _Elsewhere  # noqa: E731
    registry.register_executor(lambda frame: isinstance(frame, Elsewhere), load)
    try:
        with pytest.raises(TypeError, match="a frame of elsewhere, and edges is a Partitioned"):
            tc.similarity(partitioned(CLUB, 2), pairs=Elsewhere([CLUB]))
    finally:
        registry.unregister_executor(load)
