"""Both engines' peeling with every size that changes its course, in any thread order, sanitized.

The sizes make rounds large or small, walks marked or searched, graphs shrink early or never.
ThreadSanitizer is slow: it meets the graphs of a hundred edges.
"""

import threading
from dataclasses import replace
from functools import partial
from itertools import combinations, pairwise

import networkx as nx
import numpy as np
import pytest
import reference
from emulator_support import SEEDS, Numpy, compiler, long, plain_only, run_again
from graphs import book, complete, tube, wheel
from kernel_support import ENGINE, keys_of, random_rows, union

from rapids_tc import _parallel, testing
from rapids_tc.engines.cpu import engine as cpu
from rapids_tc.engines.cpu import truss
from rapids_tc.engines.cpu.coded import pack_kind
from rapids_tc.engines.cpu.truss import CpuPeeler
from rapids_tc.engines.gpu.truss import CudaPeeler
from rapids_tc.engines.gpu.visitors import kind_of
from rapids_tc.engines.last_truss import last_truss
from rapids_tc.engines.peel import ALL, decompose
from rapids_tc.engines.protocol import Coded, Spans
from rapids_tc.kernels import launch
from rapids_tc.preparation.code_tables import code_table

__all__ = ["compiler"]

SHARED = {"shared": 0, "large": 0, "scanned": 0}  # among threads, whatever there is to do
ON_CPU = {
    "default": (1, CpuPeeler()),
    "hashes": (1, CpuPeeler(room=0, least=0, shrink=0.9)),
    "bits": (1, CpuPeeler(room=10**6, least=0, pause=10)),
    "hashes, 2 threads": (2, CpuPeeler(**SHARED, room=0, least=0)),
    "bits, 3 threads": (3, CpuPeeler(**SHARED, room=10**6, least=0, shrink=0.3)),
    "alone at times": (2, CpuPeeler(shared=0, large=50, scanned=90, pause=500, least=0)),
}
# Blocks of 128 threads, four stamps of rounds, and few edges that a block keeps.
TINY = {"threads": 128, "options": ("-DRTC_PEEL_TINY",), "least": 0}
ON_CARD = {
    "default": {},  # one block
    "blocks": {**TINY, "share": 9, "few": 4, "many": 0, "per_task": 2, "shrink": 240},
    "lists": {**TINY, "share": 9, "few": 0, "per_task": 10**9, "shrink": 250},
    "pauses": {**TINY, "share": 50, "few": 8, "rounds": 2, "work": 5},
    "tasks": {**TINY, "few": 0, "many": 9, "per_task": 1},
}


# The sanitizers are slow: one k at which the peel stops, and one at which a round removes all.
KS = (2, 3, 4, 5, 9, 10**9) if testing.sanitizer() is None else (4, 10**9)


def atlas():
    return list(nx.disjoint_union_all(nx.graph_atlas_g()).edges)


def hundred():
    """A hundred edges with something of everything: cascades, deep cliques, shared triangles."""
    return union(complete(9).rows, tube(4, 5).rows, wheel(5).rows, book(4).rows)


def nearly_a_clique():
    """26 edges: of a small round's tasks there is room for three, and one round has more."""
    missing = {(0, 2), (0, 5), (0, 8), (1, 7), (1, 8), (2, 6), (2, 8), (3, 5), (5, 7), (5, 8)}
    return [pair for pair in combinations(range(9), 2) if pair not in missing]


GRAPHS = {
    "atlas": atlas,
    "nearly a clique": nearly_a_clique,
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


def check(decomposed, graph):
    csr, counts, numbers = graph
    before = counts.copy()
    found = decomposed(csr, counts)
    assert found.dtype == np.int32
    assert found.tolist() == numbers.tolist()
    for k in KS:
        found = decomposed(csr, counts, k)
        assert ((found >= k) == (numbers >= k)).all()
        assert found.max(initial=2) <= k
    assert (counts == before).all()


@pytest.mark.parametrize(("threads", "peeler"), ON_CPU.values(), ids=ON_CPU)
def test_on_the_cpu(monkeypatch, graph, threads, peeler):
    for module in (truss, _parallel):
        monkeypatch.setattr(module, "thread_count", lambda: threads)
    if threads > 1:
        monkeypatch.setattr(_parallel, "SERIAL_BELOW", 0)
    check(partial(decompose, peeler), graph)


@pytest.mark.parametrize(("room", "width"), [(0, 0), (10**6, 2)])
def test_tables_have_the_neighbors_of_every_vertex(monkeypatch, room, width):
    rows = random_rows(100, 900, 2)
    csr = cpu.csr(keys_of(rows), 300)  # other ranks have no edge
    peeler = CpuPeeler(room=room)
    monkeypatch.setattr(_parallel, "SERIAL_BELOW", 0)
    edges = peeler.edges_in_triangles(csr, np.ones(csr.m, np.uint32))
    expected = [set() for _ in range(csr.n)]
    for number, (u, v) in enumerate(zip(csr.rows.tolist(), csr.columns.tolist(), strict=True)):
        expected[u].add((v, number))
        expected[v].add((u, number))
    tables = peeler.build_adjacency(edges, csr.n, edges.m)
    assert tables.words.shape[1] == width
    for u, (begin, end) in enumerate(pairwise(tables.starts)):
        slots = tables.slots[begin:end].tolist()
        if width:
            bits = [w for w in range(64 * width) if int(tables.words[u, w // 64]) >> w % 64 & 1]
            pairs = list(zip(bits, slots, strict=True))
        else:
            pairs = [((slot & 0xFFFFFFFF) - 1, slot >> 32) for slot in slots if slot]
        assert sorted(pairs) == sorted(expected[u])
    assert len(tables.starts) == (101 if width else 301)


def test_peeling_ends_if_a_thread_cannot_start(monkeypatch, graph):
    csr, counts, _ = graph
    monkeypatch.setattr(truss, "thread_count", lambda: 3)
    start = threading.Thread.start

    def fail(thread):
        if thread.name.endswith("_2"):
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", fail)
    if counts.any():
        with pytest.raises(MemoryError, match="new thread"):
            decompose(CpuPeeler(**SHARED), csr, counts)


# One thread order of each graph and size, in turn, so that each order is tried with all of either.
PEELED = {
    f"{name}-{size}-{SEEDS[(row + column) % len(SEEDS)]}": (name, ON_CARD[size], row + column)
    for row, name in enumerate(GRAPHS)
    for column, size in enumerate(ON_CARD)
}


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize("graph, sizes, turn", PEELED.values(), ids=PEELED, indirect=["graph"])
def test_on_the_emulated_card(graph, sizes, turn):
    peeler = CudaPeeler(Numpy(), testing.compile, 2, **sizes)
    with testing.thread_order(SEEDS[turn % len(SEEDS)]):
        check(peeler.decompose, graph)


@pytest.mark.usefixtures("compiler")
def test_an_engine_peels_what_it_counted(graph):
    csr, _, numbers = graph
    layout = ENGINE.prepare(csr)
    assert ENGINE.truss(layout, ENGINE.edge_counts(layout)).tolist() == numbers.tolist()


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize("few", [0, 60])
def test_the_last_truss_is_looked_for_from_the_top(graph, few):
    csr, counts, numbers = graph
    for engine in (cpu, ENGINE):
        found = last_truss(engine, csr, counts, np, few_edges=few)
        assert found.dtype == bool
        assert found.tolist() == (numbers == numbers.max(initial=2)).tolist()


class Recorder:
    """An engine that keeps the first level and the edges of each peel."""

    def __init__(self):
        self.peels = []

    def __getattr__(self, name):
        return getattr(cpu, name)

    def truss(self, layout, counts, **options):
        self.peels.append((options["levels"][0] + 1, layout.csr.m))
        return cpu.truss(layout, counts, **options)


@pytest.mark.parametrize(
    ("rows", "peels"),
    [
        (complete(20).rows, [(18, 190)]),
        (union(complete(20).rows, book(300).rows), [(9, 191)]),
        (tube(4, 200).rows, [(1, 2392)]),
        # All edges of a tube but those of its rims are in two triangles, none in a truss of them.
        (union(tube(4, 200).rows, book(2000).rows), [(2, 2385), (1, 6393)]),
    ],
)
def test_few_edges_are_peeled_for_the_last_truss(rows, peels):
    csr, engine = cpu.csr(keys_of(rows), 1 + max(map(max, rows))), Recorder()
    last_truss(engine, csr, cpu.edge_counts(cpu.prepare(csr)), np, few_edges=0)
    assert engine.peels == peels


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize("levels", [(0, 1), (1, 4), (2, 2**16)])
@pytest.mark.parametrize(
    "decompose", [partial(decompose, CpuPeeler()), CudaPeeler(np, testing.compile, 2).decompose]
)
def test_levels_that_are_told_apart(graph, decompose, levels):
    """Edges of lower levels get the first or less; edges of higher ones one more than the last."""
    csr, counts, numbers = graph
    (first, last), expected = levels, np.array(numbers) - 2
    found = decompose(csr, counts, levels=levels).astype(int) - 2
    apart = (expected >= first) & (expected <= last)
    assert (found[apart] == expected[apart]).all()
    assert (found[expected < first] <= first).all() and (found[expected > last] == last + 1).all()


@pytest.mark.usefixtures("compiler")
def test_rows_of_a_gpu_have_the_neighbors_of_every_vertex():
    rows = random_rows(100, 900, 2)
    csr = cpu.csr(keys_of(rows), 101)  # the last rank has no edge
    peeler = CudaPeeler(Numpy(), testing.compile, 2, **TINY, rounds=0)  # and no more
    words, state = np.ones(csr.m, np.uint32), np.zeros(26, np.uint32)
    arrays = peeler._arrays(csr, words, csr.m, 2)
    limits = map(np.uint32, peeler._limits(csr.m, 0, ALL))
    graph = csr.offsets, csr.columns, np.uint32(csr.n), np.uint32(csr.m)
    args = (*graph, *arrays, *limits, peeler.kind.pack(), state)
    assert launch.together(peeler._kernels["truss_peel"], 2, 128, args)
    edge_rows, _, begins, sizes, tables, _, adjacency, keys, edges, members, lengths, *_ = arrays
    assert (edge_rows == csr.rows).all()
    assert (sorted(members), lengths.sum(), state[3]) == ([*range(csr.m)], csr.m, csr.m)
    expected, below = [[] for _ in range(csr.n)], [{} for _ in range(csr.n)]
    for number, (u, v) in enumerate(zip(csr.rows.tolist(), csr.columns.tolist(), strict=True)):
        expected[u].append(number << 32 | v)
        expected[v].append(number << 32 | u)
        below[u][v] = number
    for u, (begin, size) in enumerate(zip(begins, sizes, strict=True)):  # in any order
        assert sorted(adjacency[begin : begin + size].tolist()) == sorted(expected[u])
        first, buckets = map(int, tables[2 * u : 2 * u + 2])
        slots = slice(8 * first, 8 * (first + buckets))
        pairs = zip(keys[slots].tolist(), edges[slots].tolist(), strict=True)
        assert {v: number for v, number in pairs if v != 2**32 - 1} == below[u]


@pytest.mark.usefixtures("compiler")
def test_a_gpu_that_cannot_hold_all_blocks_gets_one(monkeypatch):
    csr = cpu.csr(keys_of(complete(30).rows), 30)
    counts, launches = cpu.edge_counts(cpu.prepare(csr)), []

    def together(kernel, blocks, threads, args, together=launch.together):
        launches.append(blocks)
        return blocks == 1 and together(kernel, blocks, threads, args)

    monkeypatch.setattr(launch, "together", together)
    peeler = CudaPeeler(Numpy(), testing.compile, 2, **TINY, share=9)
    assert peeler.decompose(csr, counts).tolist() == [30] * csr.m
    assert launches == [2, 1]


@pytest.mark.usefixtures("compiler")
def test_probes_are_about_the_pairs_of_a_row():
    """Shrinking keeps the walks close to what counting costs; without it they are several times."""
    csr = cpu.csr(keys_of(random_rows(400, 6000, 2)), 400)
    counts, lengths = cpu.edge_counts(cpu.prepare(csr)), np.diff(csr.offsets)
    with testing.measure() as work:
        CudaPeeler(np, testing.compile, 2, least=0).decompose(csr, counts)
    assert work.probes < 2 * (lengths * (lengths - 1) // 2).sum()


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize("on", ["cpu", "card"])
def test_levels_and_rounds_are_told(on):
    on_card = CudaPeeler(np, testing.compile, 2, rounds=7).decompose
    decomposed = partial(decompose, CpuPeeler()) if on == "cpu" else on_card
    csr = cpu.csr(keys_of(tube(4, 30).rows), 120)
    counts = cpu.edge_counts(cpu.prepare(csr))
    told = []
    decomposed(csr, counts, on_progress=lambda done, note: told.append((done, note)))
    assert told[-1] == (1, "k = 3, 0 edges, round 30")
    assert on == "cpu" or len(told) == 5  # a launch is 7 rounds, or searches


# Of a kind ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["words", "intervals", "codes", "coded words", "coded"])
def peeled(request):
    """A graph, a kind of its triangles, their counts, and the right trussness of every edge."""
    random = np.random.default_rng(5)
    ends = random.integers(0, 30, (2, 360))
    rows = [(int(u), int(v)) for u, v in zip(*ends, strict=True) if u != v]
    csr = cpu.csr(keys_of(rows), 30)
    sizes = np.ones(csr.m, int) if "words" in request.param else random.integers(1, 4, csr.m)
    offsets = np.append(0, np.cumsum(sizes))
    first = random.integers(0, 5, offsets[-1]).astype("uint32")
    for edge in range(csr.m):
        first[offsets[edge] : offsets[edge + 1]] += 10 * np.arange(sizes[edge], dtype="uint32")
    last = first + random.integers(0, 2, len(first)).astype("uint32")
    spans = Spans(first, last, None if "words" in request.param else offsets)
    codes = random.integers(1, 8, offsets[-1]).astype("uint8")
    table = code_table("edge", "")
    if request.param == "codes":
        kind, of_edge = Coded(codes[: csr.m], table), lambda e: [(0, 99, codes[e])]
    else:
        coded = "coded" in request.param
        kind = Coded(codes, table, spans) if coded else spans
        of_edge = lambda e: [  # noqa: E731
            (first[i], last[i], codes[i] if coded else 7) for i in range(offsets[e], offsets[e + 1])
        ]
    edges = zip(csr.columns.tolist(), csr.rows.tolist(), strict=True)
    number = {edge: place for place, edge in enumerate(edges)}
    triangles = [t for t in reference.list_triangles(rows) if _meet(t, number, of_edge)]
    counts = reference.edge_triangles_of(triangles, rows)
    right = reference.trussness_of(triangles, rows)
    assert 0 < len(triangles) < reference.count(rows)
    return (
        csr, kind, np.array([counts[edge] for edge in number], "uint32"),
        [right[edge] for edge in number],
    )  # fmt: skip


def _meet(triangle, number, of_edge):
    u, v, w = triangle
    three = [of_edge(number[side]) for side in ((u, v), (u, w), (v, w))]
    return any(
        max(a[0], b[0], c[0]) <= min(a[1], b[1], c[1])
        and any(
            a[2] >> i & 1 and b[2] >> j & 1 and c[2] >> k & 1
            for i, j, k in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))
        )
        for a in three[0] for b in three[1] for c in three[2]
    )  # fmt: skip


@pytest.mark.parametrize(("threads", "peeler"), ON_CPU.values(), ids=ON_CPU)
def test_peels_of_a_kind_on_the_cpu(monkeypatch, peeled, threads, peeler):
    csr, kind, counts, right = peeled
    for module in (truss, _parallel):
        monkeypatch.setattr(module, "thread_count", lambda: threads)
    if threads > 1:
        monkeypatch.setattr(_parallel, "SERIAL_BELOW", 0)
    peeler = replace(peeler, kind=pack_kind(kind))
    assert decompose(peeler, csr, counts).tolist() == right
    for k in (3, 4, 5):
        found = decompose(peeler, csr, counts, k) >= k
        assert found.tolist() == [level >= k for level in right]


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize("seed, size", [*enumerate(ON_CARD)], ids=ON_CARD)
def test_peels_of_a_kind_on_the_emulated_card(peeled, seed, size):
    csr, kind, counts, right = peeled
    told = kind_of(ENGINE, ENGINE.prepare(csr), kind)
    peeler = CudaPeeler(Numpy(), testing.compile, 2, kind=told, **ON_CARD[size])
    with testing.thread_order(seed):
        assert peeler.decompose(csr, counts).tolist() == right
        assert (peeler.decompose(csr, counts, 4) >= 4).tolist() == [k >= 4 for k in right]


@long
@plain_only
def test_overruns_and_undefined_arithmetic():
    run_again(__file__, "address", "-k", "card or engine")


@long
@plain_only
def test_races():
    run_again(__file__, "thread", "-k", "emulated and hundred")
