"""Squares, cycles of four vertices: the engines against the square of the adjacency matrix."""

from dataclasses import replace
from itertools import cycle
from math import comb

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import reference
from emulator_support import SEEDS, compiler, long, plain_only, run_again
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_support import ENGINE, biclique, clique, hundred, keys_of, random_rows, union, wheel

import rapids_tc as tc
from rapids_tc import _parallel, datasets, testing
from rapids_tc.engines.cpu import engine as cpu
from rapids_tc.engines.cpu import wedges
from rapids_tc.engines.wedges import check_edges
from rapids_tc.kernels.method import Capacities
from rapids_tc.plan import costs
from rapids_tc.preparation.csr import Csr

__all__ = ["compiler"]
pytestmark = [pytest.mark.cpu_only, pytest.mark.usefixtures("compiler")]


def grid(side):
    right = [(r * side + c, r * side + c + 1) for r in range(side) for c in range(side - 1)]
    return right + [
        (r * side + c, (r + 1) * side + c) for r in range(side - 1) for c in range(side)
    ]


FEW = {"wedge_small": 0, "wedge_threads": 64, "wedge_list": 8}
SIZES = [  # a task of every vertex; tables alone, in many windows; and all kinds of tables
    Capacities(wedge_list=64),
    Capacities(**FEW, wedge_words=512, wedge_slots=2, wedge_warp_slots=2, wedge_windows=4),
    Capacities(**FEW, wedge_words=2048, wedge_slots=64, wedge_warp_slots=16),
]
ROWS = {
    "empty": [],
    "loops": [(0, 0), (2, 2)],
    "star": [(0, leaf) for leaf in range(1, 100)],
    # Loops, repeats, both directions, and ranks that do not follow degrees.
    "mixed": union(
        *(clique(n) for n in range(2, 10)),
        [*wheel(40), (1, 0), (3, 3), (2, 1)],
        biclique(5, 7),
        grid(5),
        random_rows(60, 700, 1.3),
    ),
    # Counters of 16 bits and fewer, tasks that are cut, and lists that all warps share.
    "skewed": random_rows(1500, 5000, 3.0),
    "wide": union(biclique(6, 300), biclique(3, 40)),
}


def csr_of(rows):
    n = 1 + max((max(row) for row in rows), default=-1)
    return cpu.csr(keys_of(rows), n)


def counted(csr):
    """By the square of the adjacency matrix: the total, by rank and by edge."""
    rows, columns, near = csr.rows, csr.columns, np.zeros((csr.n, csr.n))
    near[rows, columns] = near[columns, rows] = 1
    common = near @ near
    np.fill_diagonal(common, 0)
    by_vertex = (common * (common - 1) / 2).sum(axis=1)
    paths = common @ near  # of three edges, whose second vertex is another than the last
    by_edge = paths[rows, columns] - (near.sum(axis=1)[columns] - 1)
    return int(by_vertex.sum()) // 4, by_vertex.astype(int), by_edge.astype(int)


def assert_squares(engine, csr, right, parts=1):
    layout = engine.prepare_wedges(csr)
    for per, values in zip(("graph", "vertex", "edge"), (None, *right[1:]), strict=True):
        found = [engine.squares(layout, per=per, share=(part, parts)) for part in range(parts)]
        assert sum(total for total, _ in found) == right[0]
        if values is None:
            assert found[0][1] is None
        else:
            np.testing.assert_array_equal(sum(counts for _, counts in found), values)
            assert found[0][1].dtype == np.int64


@plain_only
@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
def test_the_cpu_engine(rows, monkeypatch):
    csr = csr_of(rows)
    right = counted(csr)
    assert_squares(cpu, csr, right)
    for serial_below, hot, parts in ((0, 0, 2), (10**9, 3, 7)):
        monkeypatch.setattr(_parallel, "SERIAL_BELOW", serial_below)
        monkeypatch.setattr(wedges, "HOT", hot)
        assert_squares(cpu, csr, right, parts)


@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
def test_the_kernels(rows):
    csr = csr_of(rows)
    right = counted(csr)
    for seed, sizes in zip(cycle(SEEDS), SIZES, strict=False):
        with testing.thread_order(seed):
            assert_squares(replace(ENGINE, capacities=sizes), csr, right)
    assert_squares(replace(ENGINE, capacities=SIZES[2]), csr, right, parts=3)


@plain_only
def test_kernels_count_every_wedge_once():
    """From the end of lowest rank; large graphs leave out ends of one wedge."""
    csr = csr_of(ROWS["mixed"])
    rows = cpu.prepare_wedges(csr).rows
    near = np.split(rows.columns, rows.offsets[1:-1])
    of_ranks = [sum((near[v] > u).sum() for v in near[u] if v > u) for u in range(csr.n)]
    for sizes, least in zip(SIZES, (1, 2, 2), strict=True):
        engine = replace(ENGINE, capacities=sizes)
        layout = engine.prepare_wedges(csr)
        with testing.measure() as work:
            engine.squares(layout)
        assert work.probes == sum(wedges for wedges in of_ranks if wedges >= least)


KNOWN = {
    "clique": (clique(60), 3 * comb(60, 4)),
    "biclique": (biclique(300, 200), comb(300, 2) * comb(200, 2)),
    "two hubs": (biclique(2, 70_000), comb(70_000, 2)),
    "grid": (grid(30), 29**2),
}


@plain_only
@pytest.mark.parametrize(
    ("engine", "name"),
    [*((cpu, name) for name in KNOWN), (replace(ENGINE, capacities=SIZES[2]), "two hubs")],
    ids=[*KNOWN, "two hubs, kernels"],
)
def test_closed_forms(engine, name):
    """Of two hubs, a counter passes 2**16, and the total 2**31."""
    rows, total = KNOWN[name]
    layout = engine.prepare_wedges(csr_of(rows))
    for per in ("vertex", "edge")[: 1 + (engine is cpu)]:
        found, counts = engine.squares(layout, per=per)
        assert found == total and counts.sum() == 4 * total
        assert len(set(counts)) == 1 or name != "clique"


@plain_only
def test_fewer_threads_save_memory(monkeypatch):
    """Counters of 4 bytes for each of 100,000 vertices, at 8 bytes an edge: so many threads."""
    monkeypatch.setattr(_parallel, "thread_count", lambda: 64)
    csr = Csr(np.zeros(100_001, "int64"), np.zeros(150_000, "uint32"))
    monkeypatch.setattr(costs, "MOST_WEDGE_COUNTERS", 0)
    assert wedges.wedge_threads(csr, 2**30) == 3
    monkeypatch.undo()
    assert wedges.wedge_threads(csr, 10) == 1


@pytest.mark.parametrize("edges", [2**31 - 1, 2**31])
def test_the_most_edges_of_which_squares_are_counted(edges):
    csr = Csr(np.array([0, edges]), np.broadcast_to(np.uint32(0), edges))
    if edges < 2**31:
        check_edges(csr)
        return
    with pytest.raises(tc.CapacityError, match="2,147,483,648 edges, and squares are counted of"):
        check_edges(csr)


@plain_only
@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8), st.sampled_from("ab")), max_size=50)
)
def test_small_graphs_in_groups(rows):
    """Repeats, loops and both directions, whose degrees do not follow their rows."""
    edges = pd.DataFrame(rows, columns=["src", "dst", "g"]).astype({"src": "i8", "dst": "i8"})
    totals, sides = tc.squares(edges, by="g"), tc.edge_squares(edges, by="g")
    corners = tc.vertex_squares(edges, by="g")
    assert totals["g"].tolist() == sorted(set(edges["g"]))
    for group, total in zip(totals["g"], totals["squares"], strict=True):
        own = edges["g"] == group
        pairs = list(zip(edges["src"][own], edges["dst"][own], strict=True))
        assert total == reference.squares(pairs)
        of_group = corners[corners["g"] == group]
        found = zip(of_group["vertex"], of_group["squares"], strict=True)
        assert dict(found) == reference.vertex_squares(pairs)
        assert sides[own].tolist() == reference.by_row(pairs, reference.edge_squares(pairs))


@plain_only
@pytest.mark.parametrize(
    ("graph", "total"),
    [
        (nx.karate_club_graph(), 154),
        (nx.les_miserables_graph(), 2672),
        (nx.davis_southern_women_graph(), 341),
    ],
    ids=["karate", "les_miserables", "davis_women"],
)
def test_known_graphs_as_networkx(graph, total):
    """Totals are published; of Davis' women they are butterflies."""
    edges = pd.DataFrame(list(graph.edges()), columns=["src", "dst"])
    assert tc.squares(edges) == total
    found = tc.annotate_vertices(edges, "squares", "square_clustering").set_index("vertex")
    assert found["squares"].sum() == 4 * total
    right = pd.Series(nx.square_clustering(graph))
    assert (found["square_clustering"] - right).abs().max() < 1e-12


@plain_only
def test_a_graph_keeps_what_squares_are_counted_from():
    edges = datasets.karate()
    graph = tc.Graph(edges)
    assert "wedges" in tc.memory_estimate(graph, function="squares")
    assert graph.squares() == 154
    assert "wedges" not in tc.memory_estimate(graph, function="squares")
    assert graph.annotate("squares", "triangles")["squares"].sum() == 4 * 154


@plain_only
def test_progress_of_the_kernels():
    engine, done = replace(ENGINE, capacities=SIZES[2]), []
    engine.squares(engine.prepare_wedges(csr_of(ROWS["skewed"])), on_progress=done.append)
    assert done == sorted(done)
    assert len(done) > 20 and done[-1] == 1


@long
@plain_only
def test_overruns():
    run_again(__file__, "address", "-k", "kernels and mixed")


@long
@plain_only
def test_races():
    run_again(__file__, "thread", "-k", "hundred")


def test_a_hundred_rows():
    """As few as ThreadSanitizer takes: in tables, and in hash tables."""
    csr = csr_of(hundred())
    for sizes in SIZES[:2]:
        assert_squares(replace(ENGINE, capacities=sizes), csr, counted(csr))
