"""Both engines' peeling with every size that changes its course, in any thread order, sanitized.

The sizes make rounds large or small, walks marked or searched, graphs shrink early or never.
ThreadSanitizer is slow: it meets the graphs of a hundred edges.
"""

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
import reference
from emulator_support import SEEDS, compiler, plain_only, run_again
from graphs import book, complete, tube, wheel
from kernel_support import ENGINE, keys_of, random_rows, union

from rapids_tc import testing
from rapids_tc.engines.cpu import engine as cpu
from rapids_tc.engines.cpu.truss import CpuPeeler
from rapids_tc.engines.gpu.truss import CudaPeeler
from rapids_tc.engines.peel import Peeler, decompose

__all__ = ["compiler"]

ON_CPU = {
    "default": CpuPeeler(),
    "large": CpuPeeler(large=0, least=0),
    "pieces": CpuPeeler(large=50, piece=5, least=0, shrink=0.9),
    "collisions": CpuPeeler(large=10**9, table=4, pause=10),
    "shared": CpuPeeler(large=0, piece=3, table=1, shrink=0.3, least=0),
}
ON_CARD = {
    "default": {},
    "large": {"marked": 0, "scanned": 0},
    "shrinking": {"shrink": 0.95, "least": 0, "batch": 1},
    "mixed": {"marked": 6, "steps": 40, "scanned": 30, "rounds": 2, "shrink": 0.7, "least": 0},
    "steps": {"steps": 0, "batch": 2},
}


# The sanitizers are slow: one k at which the peel stops, and one at which a round removes all.
KS = (2, 3, 4, 5, 9, 10**9) if testing.sanitizer() is None else (4, 10**9)


def atlas():
    return list(nx.disjoint_union_all(nx.graph_atlas_g()).edges)


def hundred():
    """A hundred edges with something of everything: cascades, deep cliques, shared triangles."""
    return union(complete(9).rows, tube(4, 5).rows, wheel(5).rows, book(4).rows)


GRAPHS = {
    "atlas": atlas,
    "hundred": hundred,
    "cliques": lambda: union(*(complete(n).rows for n in (2, 3, 4, 5, 6, 31, 33, 40))),
    "tubes": lambda: union(tube(4, 40).rows, tube(7, 9).rows, tube(33, 3).rows),
    "sparse": lambda: random_rows(300, 1200, 1),
    "skewed": lambda: random_rows(200, 3000, 3),
    "dense": lambda: random_rows(60, 1400, 1),
    "none": lambda: [],
    "star": lambda: [(0, leaf) for leaf in range(1, 40)],
}


@pytest.fixture(scope="module", params=GRAPHS)
def graph(request):
    """The CSR of a graph, the triangles of its edges and their trussness."""
    rows = GRAPHS[request.param]()
    csr = cpu.csr(keys_of(rows), 1 + max((max(row) for row in rows), default=-1))
    number = reference.trussness(rows)
    edges = zip(csr.columns.tolist(), csr.rows.tolist(), strict=True)
    counts = cpu.edge_counts(cpu.prepare(csr))
    return csr, counts, np.array([number[edge] for edge in edges], np.int32)


def check(peeler: Peeler, graph):
    csr, counts, numbers = graph
    before = counts.copy()
    found = decompose(peeler, csr, counts)
    assert found.dtype == np.int32
    assert found.tolist() == numbers.tolist()
    for k in KS:
        found = decompose(peeler, csr, counts, k)
        assert ((found >= k) == (numbers >= k)).all()
        assert found.max(initial=2) <= k
    assert (counts == before).all()


@pytest.mark.parametrize("peeler", ON_CPU.values(), ids=ON_CPU)
def test_on_the_cpu(graph, peeler):
    check(peeler, graph)


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("sizes", ON_CARD.values(), ids=ON_CARD)
def test_on_the_emulated_card(graph, sizes, seed):
    with testing.thread_order(seed):
        check(CudaPeeler(np, testing.compile, 2, **sizes), graph)


@pytest.mark.usefixtures("compiler")
def test_an_engine_peels_what_it_counted(graph):
    csr, _, numbers = graph
    layout = ENGINE.prepare(csr)
    assert ENGINE.truss(layout, ENGINE.edge_counts(layout)).tolist() == numbers.tolist()


@pytest.mark.usefixtures("compiler")
def test_both_engines_make_the_same_graph():
    rows = random_rows(100, 900, 2)
    csr = cpu.csr(keys_of(rows), 101)  # the last rank has no edge
    ours, theirs = CpuPeeler(), CudaPeeler(np, testing.compile, 2)
    edge_rows = ours.rows(csr)
    assert (edge_rows == csr.rows).all()
    assert (theirs.rows(csr) == edge_rows).all()
    made = [peeler.build_adjacency(edge_rows, csr.columns, csr.n) for peeler in (ours, theirs)]
    (offsets, starts, adjacency), (same_offsets, same_starts, same_adjacency) = made
    assert (offsets == csr.offsets).all()
    assert (offsets == same_offsets).all()
    assert (starts == same_starts).all()
    for begin, end in pairwise(starts):  # in any order
        assert sorted(adjacency[begin:end]) == sorted(same_adjacency[begin:end])


@pytest.mark.usefixtures("compiler")
def test_probes_are_about_the_pairs_of_a_row():
    """Shrinking keeps the walks close to what counting costs; without it they are several times."""
    csr = cpu.csr(keys_of(random_rows(400, 6000, 2)), 400)
    counts, lengths = cpu.edge_counts(cpu.prepare(csr)), np.diff(csr.offsets)
    with testing.measure() as work:
        decompose(CudaPeeler(np, testing.compile, 2, least=0), csr, counts)
    assert work.probes < 2 * (lengths * (lengths - 1) // 2).sum()


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize("on", ["cpu", "card"])
def test_levels_and_rounds_are_told(on):
    peeler = CpuPeeler() if on == "cpu" else CudaPeeler(np, testing.compile, 2)
    csr = cpu.csr(keys_of(tube(4, 30).rows), 120)
    counts = cpu.edge_counts(cpu.prepare(csr))
    told = []
    decompose(peeler, csr, counts, on_progress=lambda done, note: told.append((done, note)))
    assert told[-1] == (1, "k = 3, 0 edges, round 30")


@plain_only
def test_overruns_and_undefined_arithmetic():
    run_again(__file__, "address", "-k", "card or engine")


@plain_only
def test_races():
    run_again(__file__, "thread", "-k", "emulated and hundred")
