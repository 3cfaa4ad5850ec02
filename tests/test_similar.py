"""The most similar vertices: against NetworkX, closed forms, and the square of the matrix."""

from contextlib import nullcontext
from itertools import cycle, pairwise

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import reference
from emulator_support import SEEDS, compiler, plain_only
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_support import ENGINE, clique, keys_of, random_rows, union, wheel

import rapids_tc as tc
from rapids_tc import _parallel, datasets, testing
from rapids_tc.analytics.similar import MEASURES
from rapids_tc.engines.cpu import engine as cpu
from rapids_tc.engines.similarity_formulas import FORMULAS, Ranking, similarity_of
from rapids_tc.engines.wedge_ends import MOST_DEGREE
from rapids_tc.kernels.method import Capacities
from rapids_tc.plan import costs

__all__ = ["compiler"]
pytestmark = [pytest.mark.cpu_only, pytest.mark.usefixtures("compiler")]

# All dense, in several windows; all in hash tables of a block; some of each, and of a warp.
TIERS = [
    Capacities(dense_threads=64, dense_wedges=1, end_words=256),
    Capacities(dense_threads=96, dense_wedges=2000, brief_wedges=0),
    Capacities(dense_threads=128, dense_wedges=60, brief_wedges=20),
]
ROWS = {
    "empty": [],
    "loops": [(0, 0), (2, 2)],
    # Hubs, repeats and loops.
    "mixed": union(clique(7), wheel(20), [(1, 0), (3, 3), (2, 1)], random_rows(40, 200, 1.5)),
    # Rows that warps share, of vertices of many wedges and of few.
    "long": [(u, v) for u in range(3) for v in range(3, 1200) if u < 2 or v < 5],
}


def best_of(csr, asked, top, ranking, most_degree, values):
    """The best of ranks, from the square of the adjacency matrix: rows of ranks and sums."""
    n, places = csr.n, ranking.places.astype(int)
    near = np.zeros((n, n), np.int64)
    near[csr.rows, csr.columns] = near[csr.columns, csr.rows] = 1
    degrees = near.sum(axis=1)
    weights = np.ones(n, np.int64) if values is None else values
    sums = near[asked] @ (near * (weights * (degrees <= most_degree))[:, None])
    sums[np.arange(len(asked)), asked] = 0
    if ranking.apart:
        sums[near[asked] > 0] = 0
    found = []
    for u, of_u in zip(asked, sums, strict=True):
        (some,) = np.nonzero(of_u)
        alike = similarity_of(ranking.formula, of_u[some], degrees[u], degrees[some], np)
        order = some[np.lexsort([places[some], -alike])][:top]
        found.append((order.tolist(), of_u[order].tolist()))
    return found


def found_by(engine, csr, asked, top, ranking, *middles):
    """The best of ranks, by an engine."""
    ends = engine.prepare_ends(engine.neighbors(csr), asked, *middles)
    starts = np.concatenate([[0], np.cumsum(np.minimum(ends.work, min(top, max(csr.n - 1, 0))))])
    best, sums = engine.most_similar(ends, starts.astype("int64"), ranking)
    there = best != costs.NO_RANK
    parts = [slice(*pair) for pair in pairwise(starts)]
    return [(best[p][there[p]].tolist(), sums[p][there[p]].tolist()) for p in parts]


@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
def test_engines_agree_with_the_square_of_the_matrix(rows, monkeypatch):
    csr = cpu.csr(keys_of(rows), 1 + max((max(row) for row in rows), default=-1))
    ranks = np.arange(csr.n) if csr.n < 999 else np.array([0, 1, 2, 4, csr.n - 1])
    rng = np.random.default_rng(0)
    places = rng.permutation(csr.n).astype("uint32")
    values = rng.integers(1, 2**40, csr.n)
    monkeypatch.setattr(_parallel, "SERIAL_BELOW", 0)
    asked = [(formula, False, MOST_DEGREE, None) for formula in FORMULAS]
    asked += [("sum", True, MOST_DEGREE, values), ("jaccard", True, 20, None)]
    for one, seed, sizes in zip(asked, cycle(SEEDS), cycle(TIERS), strict=False):
        formula, apart, *middles = one
        ranking = Ranking(formula, places, apart)
        right = best_of(csr, ranks, 40, ranking, *middles)
        gpu = testing.host_engine(xp=ENGINE.xp, capacities=sizes)
        with testing.thread_order(seed), gpu as engine:
            assert found_by(engine, csr, ranks, 40, ranking, *middles) == right
        if testing.sanitizer() is None:
            assert found_by(cpu, csr, ranks, 40, ranking, *middles) == right


@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
def test_pairs_of_both_engines(rows, monkeypatch):
    csr = cpu.csr(keys_of(rows), 1 + max((max(row) for row in rows), default=-1))
    asked = np.arange(csr.n) if csr.n < 999 else np.array([0, 1, 2, 4, csr.n - 1])
    places = np.random.default_rng(0).permutation(csr.n).astype("uint32")
    near = np.zeros((csr.n, csr.n), np.int64)
    near[csr.rows, csr.columns] = near[csr.columns, csr.rows] = 1
    common = near[asked] @ near * (places > places[asked][:, None])
    monkeypatch.setattr(_parallel, "SERIAL_BELOW", 0)
    for at_least, seed, sizes in zip((1, 2, 5), cycle(SEEDS), TIERS, strict=False):
        right = []
        for of_u in common:
            (some,) = np.nonzero(of_u >= at_least)
            right.append(some[np.argsort(places[some])])
        gpu = testing.host_engine(xp=ENGINE.xp, capacities=sizes)
        with testing.thread_order(seed), gpu as engine:
            for each in (engine, cpu)[: 1 + (testing.sanitizer() is None)]:
                ends = each.prepare_ends(each.neighbors(csr), asked)
                pairs = each.count_pairs(ends, places, at_least)
                assert pairs.tolist() == [*map(len, right)]
                starts = np.concatenate([[0], np.cumsum(pairs)]).astype("int64")
                for part in pairwise((0, len(asked) // 3, len(asked))):
                    ranks, sums = each.list_pairs(ends, places, at_least, starts, *part)
                    some = slice(*part)
                    assert ranks.tolist() == [w for of_u in right[some] for w in of_u.tolist()]
                    of_asked = np.repeat(np.arange(*part), pairs[some])
                    assert sums.tolist() == common[of_asked, ranks].tolist()


@plain_only
@pytest.mark.parametrize("engine", [nullcontext, testing.host_engine])
def test_counters_of_every_width(engine):
    """K_{2,b} has pairs of b common neighbors: past 2**16, and below 2**16, 2**8 and 2**4."""
    sides = (65_537, 256, 255, 16, 15, 3)
    first, rows, hubs = 0, [], []
    for b in sides:
        leaves = first + 2 + np.arange(b)
        rows += [pd.DataFrame({"src": hub, "dst": leaves}) for hub in (first, first + 1)]
        hubs += [first, first + 1]
        first += 2 + b
    edges = pd.concat(rows)
    with engine():
        found = tc.most_similar(edges, 1, measure="common_neighbors", vertices=hubs)
    assert found["common_neighbors"].tolist() == [b for b in sides for _ in range(2)]
    assert (found["v"] - found["u"]).tolist() == [1, -1] * len(sides)


OF_NETWORKX = {
    "jaccard": nx.jaccard_coefficient,
    "adamic_adar": nx.adamic_adar_index,
    "resource_allocation": nx.resource_allocation_index,
}


@plain_only
@pytest.mark.parametrize("measure", OF_NETWORKX)
def test_networkx_gives_the_same_links_to_come(measure):
    graph = nx.les_miserables_graph()
    edges = nx.to_pandas_edgelist(graph)[["source", "target"]]
    found = tc.most_similar(edges, len(graph), measure=measure, exclude_neighbors=True)
    values = {(u, v): value for u, v, value in OF_NETWORKX[measure](graph) if value > 0}
    values |= {(v, u): value for (u, v), value in values.items()}
    pairs = list(zip(found["u"], found["v"], strict=True))
    assert {*pairs} == {*values} and len(pairs) == len(values)
    np.testing.assert_allclose(found[measure], [values[pair] for pair in pairs], rtol=1e-13)


@plain_only
@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.sampled_from("ab")), max_size=60),
    st.sampled_from([*MEASURES]),
    st.integers(1, 4),
    st.booleans(),
)
def test_small_graphs_in_groups(rows, measure, top, apart):
    """Repeats, loops and both directions; every group is a graph of its own."""
    edges = pd.DataFrame(rows, columns=["src", "dst", "g"]).astype({"src": "i8", "dst": "i8"})
    found = tc.most_similar(edges, top, measure=measure, exclude_neighbors=apart, by="g")
    right = [
        (group, *row)
        for group in sorted({group for *_, group in rows})
        for row in reference.most_similar(
            [(u, v) for u, v, g in rows if g == group],
            top,
            measure=measure,
            exclude_neighbors=apart,
        )
    ]
    listed = [*found.itertuples(index=False, name=None)]
    assert [row[:3] for row in listed] == [row[:3] for row in right]
    assert [row[3] for row in listed] == pytest.approx([row[3] for row in right], rel=1e-13)
    assert found[measure].dtype == ("int64" if measure == "common_neighbors" else "float64")


@plain_only
def test_ranks_that_follow_repeated_rows():
    """Vertices of many rows and few neighbors have low ranks: narrow counters begin behind hubs."""
    leaves = [(hub, v) for hub in (0, 1) for v in range(2, 30)]
    pairs = [(v, v + 1) for v in range(40, 340, 2)] * 40  # of ranks below those of the hubs
    edges = pd.DataFrame([*leaves, *pairs], columns=["src", "dst"])
    with testing.host_engine(capacities=TIERS[0]):
        found = tc.most_similar(edges, 1, measure="common_neighbors", vertices=[0, 1])
    assert [*found.itertuples(index=False, name=None)] == [(0, 1, 28), (1, 0, 28)]


@plain_only
def test_an_answer_that_is_too_long_is_refused_before_it_is_made():
    edges = pd.DataFrame(clique(60), columns=["src", "dst"])
    graph = tc.Graph(edges)
    limit = max(tc.memory_estimate(graph, function="most_similar").values())
    with pytest.raises(tc.CapacityError, match=r"may have 3,540 rows.*lower top="):
        tc.most_similar(graph, 100, memory_limit=limit)
    few = tc.most_similar(graph, 100, vertices=[7], memory_limit=limit + 59 * costs.PAIRED)
    assert len(few) == 59 and few["u"].eq(7).all()


@plain_only
def test_progress_and_threads(monkeypatch):
    edges, done = datasets.rmat(9), []
    right = tc.most_similar(edges)
    monkeypatch.setattr(_parallel, "SERIAL_BELOW", 0)
    with monkeypatch.context() as patch:
        patch.setattr(_parallel, "POLL", 1e-4)
        assert tc.most_similar(edges, progress=True).equals(right)
    csr = cpu.csr(keys_of(ROWS["mixed"]), 1 + max(max(row) for row in ROWS["mixed"]))
    ends = ENGINE.prepare_ends(ENGINE.neighbors(csr), np.arange(csr.n))
    starts = np.concatenate([[0], np.cumsum(np.minimum(ends.work, 50))])
    ranking = Ranking("jaccard", np.arange(csr.n, dtype="uint32"))
    ENGINE.most_similar(ends, starts, ranking, on_progress=done.append)
    assert done == [0.5, 1.0]
