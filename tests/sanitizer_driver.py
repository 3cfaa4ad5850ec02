r"""Every method and visitor on small graphs with CuPy alone, for compute-sanitizer.

    compute-sanitizer --tool memcheck python tests/sanitizer_driver.py
    compute-sanitizer --tool racecheck --kernel-name-exclude kns=cupy_ \
        python tests/sanitizer_driver.py K40 wheel

Without names of graphs all are run. CuPy's memory pool is off, so that an overrun leaves its
allocation and is seen.
"""

import sys
from dataclasses import replace
from itertools import combinations
from types import SimpleNamespace

import cupy
import numpy as np
from block_support import split_keys

from rapids_tc.blocks import geometry, grid
from rapids_tc.blocks.quantities import (
    ChangesByWindow,
    CommonNeighborSums,
    Products,
    SmallProducts,
    TrianglesByType,
    TriangleSideSums,
    Within,
)
from rapids_tc.engines.as_of import COLUMNS, TimedRows
from rapids_tc.engines.gpu.cuda import engine
from rapids_tc.engines.neighbor_rows import END, LIVE, WHEN, WORDS, NeighborRows
from rapids_tc.engines.protocol import Spans
from rapids_tc.engines.similarity_formulas import Ranking
from rapids_tc.kernels import catalogue
from rapids_tc.kernels.method import Capacities
from rapids_tc.plan.costs import NO_RANK
from rapids_tc.preparation.community_tree import LEVEL_AT
from rapids_tc.preparation.intervals import merged

cupy.cuda.set_allocator(None)


def keys_of(edges: np.ndarray) -> cupy.ndarray:
    """Sorted packed keys of an edge array, ranks by degree."""
    n = int(edges.max()) + 1
    order = np.argsort(-np.bincount(edges.ravel(), minlength=n), kind="stable")
    rank = np.empty(n, np.uint64)
    rank[order] = np.arange(n, dtype=np.uint64)
    ends = np.sort(rank[edges], axis=1)
    return cupy.asarray(np.sort(ends[:, 1] << np.uint64(32) | ends[:, 0])), n


def graphs():
    random = np.random.default_rng(1)
    yield "K40", np.array(list(combinations(range(40), 2))), 9880
    hub = np.stack([np.zeros(300, int), np.arange(1, 301)], 1)
    rim = np.stack([np.arange(1, 301), np.roll(np.arange(1, 301), 1)], 1)
    yield "wheel", np.concatenate([hub, rim]), 300
    yield "random", random.integers(0, 500, (20_000, 2)), None
    yield "K300", np.array(list(combinations(range(300), 2))), 4_455_100


def analytics(card, layout, total: int) -> None:
    """What is built on the counts: listing, sums over triangles, look-ups and the truss."""
    csr, counts = layout.csr, card.edge_counts(layout)
    found = cupy.asnumpy(card.triangles_per_in_edge(layout)).astype(np.int64)
    starts = cupy.asarray(np.concatenate([[0], np.cumsum(found)]))
    assert int(starts[-1]) == total
    for first, last in ((0, total // 3), (total // 3, total)):
        u, v, w = card.list_triangles(layout, starts, first, last)
        assert bool(((u > v) & (v > w)).all())
    by_sides(card, layout, [csr], total)
    assert bool((card.find_edges(csr, csr.rows, csr.columns) == cupy.arange(csr.m)).all())
    every = card.truss(layout, counts)
    levels = every.astype("uint32")
    for words in (card.join_levels(csr, levels), card.join_triangles(layout, levels)):
        assert bool((words >> LEVEL_AT <= levels).all())
    assert int(every.min()) >= 2 and bool(
        ((card.truss(layout, counts, k=3) >= 3) == (counts > 0)).all()
    )


def by_sides(card, layout, graphs, total: int) -> None:
    """Triangles by types and windows, counted in shared memory and in global memory.

    `graphs` is the graph, or the blocks uv, uw and vw.
    """
    alike = (lambda values: values[0]) if len(graphs) == 1 else (lambda values: values)
    some = [cupy.arange(graph.m) for graph in graphs]
    for types in (2, 20):
        of_edges = alike([(e % types).astype("uint8") for e in some])
        counts = card.visit(layout, TrianglesByType("", types=types), of_edges)
        assert int(counts.sum()) == total
    counts = card.edge_counts(layout)
    for windows in (5, 5000, 70_000):
        first = [(e % windows).astype("uint32") // 2 for e in some]
        one = [Spans(f, f + np.uint32(windows)) for f in first]
        for spans in (one, [replace(s, offsets=cupy.arange(len(s.first) + 1)) for s in one]):
            changes = card.visit(layout, ChangesByWindow("", windows=windows), alike(spans))
            assert int(changes.cumsum()[:-1].max()) == total and int(changes.sum()) == 0
            found = card.visit(layout, Within(""), alike(spans))
            for mine, right in zip(parts(found), parts(counts), strict=True):
                assert bool((mine == right).all())
    repeated = alike([spans_of_rows(card, graph.m) for graph in graphs])
    found = card.visit(layout, Within(""), repeated)
    for mine, right in zip(parts(found), parts(counts), strict=True):
        assert bool((mine == right).all())
    sums = card.visit(layout, Products(""), alike([cupy.ones(graph.m) for graph in graphs]))
    assert round(sum(float(corner.sum()) for corner in parts(sums))) == 3 * total
    small = card.visit(layout, SmallProducts(""), alike([cupy.ones(graph.m) for graph in graphs]))
    assert sum(int(corner.sum()) for corner in parts(small)) == 3 * total
    ones = alike([cupy.ones(graph.m, "uint32") for graph in graphs])
    both = parts(card.visit(layout, TriangleSideSums(""), ones))  # 3 at two edges of each triangle
    assert sum(int(sums.sum()) for sums in both) == 6 * total
    by_row, by_column = card.sum_counts(graphs[0], both[0][0])
    assert int(by_row.sum()) == int(by_column.sum()) == int(both[0][0].sum())
    uv, vw = graphs[0], graphs[-1]  # v has the rows of vw, and w at most one row more
    ones = [cupy.ones(size, "int64") for size in (uv.n, vw.n, uv.n + 1)]
    found = card.visit(layout, CommonNeighborSums(""), alike(ones))
    for mine, right in zip(parts(found), parts(counts), strict=True):
        assert bool((mine == right).all())


def spans_of_rows(card, m: int) -> Spans:
    """Two windows of each edge, the later of which is that of all; one has two rows. And loops."""
    edges, windows = cupy.arange(m), 70_000
    own, last = (edges % windows).astype("uint64"), cupy.full(m, windows + 1, "uint64")
    rows = cupy.concatenate([edges, edges, edges, cupy.full(5, -1)])
    first = cupy.concatenate([own, last, own, cupy.zeros(5, "uint64")])
    backend = SimpleNamespace(engine="cuda", xp=cupy, compile=card.compile)
    return Spans(*merged(rows, first << 32 | first, m, backend))


def pairs(card, csr, total: int) -> None:
    """The ends of all edges have their triangles in common, in either order."""
    rows = card.neighbors(csr)
    u, v = csr.rows.astype("uint32"), csr.columns
    for first, second in ((u, v), (v, u)):
        for values in (cupy.ones(csr.n, "int64"), cupy.empty(0, "int64")):
            assert int(card.common_sums(rows, first, second, values).sum()) == 3 * total


def earlier_rows(card, csr, total: int) -> None:
    """Each triangle is closed by the last of its rows alone, if every edge has one."""
    rows = TimedRows(csr.rows.astype("uint32"), csr.columns, cupy.zeros(csr.m, "uint32"), csr.n)
    counts = card.as_of(rows, COLUMNS)
    assert int(counts[COLUMNS.index("triangles_closed")].sum()) == total
    assert not card.as_of(replace(rows, first=cupy.arange(csr.m, dtype="uint32")), COLUMNS).any()
    half = csr.m // 2
    first = TimedRows(rows.src[:half], rows.dst[:half], rows.first[:half], csr.n)
    kept = card.keep_rows(first, COLUMNS, half)
    kept.add(rows, 0)
    assert (kept.counts(half) == counts[:, half:]).all()
    table = card.number_ids()
    for words in (csr.rows[:half], csr.rows, csr.columns):  # it grows
        numbers = table.find(words.astype("uint64") * cupy.uint64(10**12))
        assert len(cupy.unique(numbers)) == len(cupy.unique(words))
    [kept] = table.keep([numbers], csr.n)
    assert (table.find(words.astype("uint64") * cupy.uint64(10**12)) == kept).all()


def changes(card, csr, total: int) -> None:
    """Every triangle has a first edge if all edges leave at once, or come; ids are in a table."""
    numbers = cupy.arange(csr.n, dtype="uint32")
    words = numbers * cupy.uint64(10**12)
    part = SimpleNamespace(kind="integer", dense=False, size=csr.n, words=lambda of: words[of])
    find = card.rank_finder(part, numbers)
    none = cupy.empty(0, "uint64"), *[cupy.empty(0, "uint32")] * 2
    near = NeighborRows(csr, *card.csc(csr), *none, csr.n)
    states, zeros = cupy.zeros((csr.m, WORDS), "uint32"), cupy.zeros(csr.n, "uint64")
    states[:, WHEN], states[:, END], at_vertex = LIVE, csr.rows, cupy.zeros(csr.n, "int64")
    slots = card.find_slots(near, find(words[csr.columns]), find(words[csr.rows]), states).slots
    assert bool((slots == cupy.arange(csr.m)).all())
    for sign in (-1, 1):
        found, changed = card.add_changes(near, slots, states, sign)
        of_edges, of_vertices = card.settle(near, [changed], states, zeros, at_vertex)
        sums = int(of_edges[3].sum()), int(of_vertices[2].sum())
        assert (found, *sums) == (total, 3 * sign * total, 3 * sign * total)
    assert not bool(at_vertex.any())


def by_bits(card, csr, total: int) -> None:
    """Totals and edge counts by the bit rows of hubs, which small graphs do without."""
    counts = card.edge_counts(card.prepare(csr))
    for hubs, least in ((1024, 1), (2048, 8), (4096, 4)):
        limits = {"hubs_from": 0, "edge_hubs_from": 0, "heavy_from": 64, "least_heavy": 64}
        sizes = Capacities(hubs=hubs, least_hubs=least, **limits)
        engine = replace(card, capacities=sizes)
        layout = engine.prepare(csr)
        assert layout.hubs is not None or least > 1
        assert engine.count(layout, method="bitmap") == total
        assert bool((engine.edge_counts(layout) == counts).all())
        assert int(engine.triangles_per_in_edge(layout).sum()) == total


def without_layout(card, csr, total: int) -> None:
    """Totals from the CSR alone, by lanes and by warps."""
    for warps in (1, 8192):
        engine = replace(card, capacities=Capacities(warps=warps))
        assert engine.count(engine.bare(csr, "short-rows")) == total


def cliques(card, csr, total: int) -> None:
    """Cliques by edge, with the bits of rows in shared memory and in global memory."""
    for sizes in (Capacities(), Capacities(clique_row=16, clique_words=5000)):
        engine = replace(card, capacities=sizes)
        for k in (3, 4, 5):
            at_last, sides = engine.cliques(csr, k, per="edge")
            found = int(at_last.sum())
            assert found == total or k > 3
            assert int(sides.sum()) == found * k * (k - 1) // 2
            assert int(engine.cliques(csr, k, per="vertex")[1].sum()) == found * k


def squares(card, csr) -> None:
    """Squares by vertex and by edge, in hash tables and in tables of many windows."""
    few = {"wedge_slots": 16, "wedge_warp_slots": 8, "wedge_words": 1024, "wedge_list": 64}
    tables = Capacities(wedge_small=0, **few)
    for sizes in (Capacities(), Capacities(wedge_small=0), tables):
        engine = replace(card, capacities=sizes)
        wedges = engine.prepare_wedges(csr)
        total, _ = engine.squares(wedges)
        for per, narrow in (("vertex", True), ("edge", wedges.narrow), ("edge", False)):
            found, counts = engine.squares(replace(wedges, narrow=narrow), per=per)
            assert (found, int(counts.sum())) == (total, 4 * total)


def bitruss(card, csr) -> None:
    """A bitruss number is no more than the squares of the edge, and is there if these are."""
    wedges = card.prepare_wedges(csr)
    _, squares = card.squares(wedges, per="edge")
    numbers = card.bitruss(wedges, squares, 2**40)
    assert bool((numbers <= squares).all()) and bool(((numbers > 0) == (squares > 0)).all())


def wedge_ends(card, csr) -> None:
    """Most similar vertices and pairs in dense tables, in hash tables of blocks, and of warps."""
    places = cupy.arange(csr.n, dtype="uint32")
    tiers = (
        Capacities(dense_wedges=1, end_words=256),
        Capacities(dense_wedges=2**20, brief_wedges=0),
        Capacities(dense_wedges=2**20, brief_wedges=2**20),
    )
    for sizes in tiers:
        engine = replace(card, capacities=sizes)
        rows = engine.neighbors(csr)
        for values in (None, cupy.full(csr.n, 3, "int64")):  # counters, and sums of 64 bits
            ends = engine.prepare_ends(rows, places, values=values)
            starts = cupy.zeros(csr.n + 1, "int64")
            cupy.cumsum(cupy.minimum(ends.work, csr.n - 1), out=starts[1:])
            for apart in (False, True):
                best, sums = engine.most_similar(ends, starts, Ranking("sum", places, apart))
                found = int(sums.sum())
                if not apart:
                    assert found == int(ends.work.sum()) * (1 if values is None else 3)
                assert bool(((best == NO_RANK) == (sums == 0)).all())
        ends = engine.prepare_ends(rows, places)
        pairs = engine.count_pairs(ends, places, 1)
        starts = cupy.concatenate([cupy.zeros(1, "int64"), cupy.cumsum(pairs)])
        middle, listed = csr.n // 2, 0
        for first, last in ((0, middle), (middle, csr.n)):
            ranks, common = engine.list_pairs(ends, places, 1, starts, first, last)
            assert len(ranks) == int(starts[last] - starts[first])
            listed += int(common.sum())
        assert 2 * listed == int(ends.work.sum())  # a pair has its wedges at both ends


def parts(answer) -> tuple:
    """The answer of a graph, or the three of a task on blocks."""
    return answer if isinstance(answer, tuple) else (answer,)


def in_blocks(card, keys, n: int, total: int) -> None:
    """The tasks of 2 x 2 blocks, in two parts each, find every triangle and all its sides once."""
    partition, found, sides = grid.Partition(2, 2), 0, 0
    made = {
        at: card.csr(local, geometry.block_rows(n, partition.n, at))
        for at, local in split_keys(keys, partition.n, cupy).items()
    }
    for task in grid.tasks(partition):
        uv, uw, vw = (made[at] for at in task.blocks)
        bounds = grid.cuts(card.probe_counts(uv, uw, task.residues), task.parts)
        pivot_range = bounds[task.part], bounds[task.part + 1]
        layout = card.prepare_blocks(uv, uw, vw, task.residues, pivot_range=pivot_range)
        found += (of_task := card.count(layout))
        by_sides(card, layout, (uv, uw, vw), of_task)
        sides += sum(int(counts.sum(dtype="uint64")) for counts in card.edge_counts(layout))
    assert (found, sides) == (total, 3 * total)


def in_buckets(card, keys, n: int, csr) -> None:
    """Keys that are moved to buckets make the same CSR, and know their edges."""
    of_buckets = {"bucket_weight": 200, "part_ranges": 32, "parted_from": 0}
    engine = replace(card, capacities=Capacities(**of_buckets))
    made, found = engine.csr_of_rows(keys.copy(), n)
    for graph in (made, engine.csr(keys.copy(), n)):
        assert (graph.offsets == csr.offsets).all() and (graph.columns == csr.columns).all()
    if found is not None:
        ends = (keys >> 32).astype("uint32"), keys.astype("uint32")
        assert (card.find_edges(csr, *ends) == found).all()


def main(*names: str) -> None:
    card = engine()
    for name, edges, total in graphs():
        if names and name not in names:
            continue
        keys, n = keys_of(edges)
        csr = card.csr(keys.copy(), n)
        csr.validate()
        in_buckets(card, keys, n, csr)
        layout = card.prepare(csr)
        totals = {}
        for method in catalogue.METHODS:
            totals[method.name] = card.count(layout, method=method.name)
            if "edges" in method.returns:
                counts = card.edge_counts(layout, method=method.name)
                assert int(counts.sum(dtype="uint64")) == 3 * totals[method.name], method.name
        by_bits(card, csr, totals["bitmap"])
        without_layout(card, csr, totals["bitmap"])
        cliques(card, csr, totals["bitmap"])
        squares(card, csr)
        bitruss(card, csr)
        wedge_ends(card, csr)
        pairs(card, csr, totals["bitmap"])
        earlier_rows(card, csr, totals["bitmap"])
        changes(card, csr, totals["bitmap"])
        analytics(card, layout, totals["bitmap"])
        in_blocks(card, keys, n, totals["bitmap"])
        assert len(set(totals.values())) == 1 and total in (None, totals["bitmap"]), (name, totals)
        print(name, totals["bitmap"], "by", len(totals), "methods", flush=True)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
