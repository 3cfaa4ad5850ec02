"""What engines find of the three sides of every triangle: types, windows, products of values.

The values of edges are random, and the oracle knows each edge by its ends.
"""

from collections import Counter
from functools import cache, cached_property
from itertools import pairwise, product
from math import prod

import numpy as np
import pytest
import reference
from block_support import split_keys
from emulator_support import SEEDS, Numpy, compiler, long, plain_only, run_again
from graphs import SMALL, dense_edge_lists, edge_lists
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_support import SIZES, book, fan, hundred, keys_of, random_rows, union

from rapids_tc import _parallel, datasets, testing
from rapids_tc.blocks import geometry, grid
from rapids_tc.blocks.grid import Partition
from rapids_tc.blocks.quantities import (
    ChangesByWindow,
    CommonNeighborSums,
    EndPairSums,
    PairSums,
    Products,
    SmallProducts,
    TrianglesByLevel,
    TrianglesByType,
    TriangleSideSums,
    Within,
)
from rapids_tc.engines.cpu import communities, row_counts, visitors
from rapids_tc.engines.cpu import engine as cpu
from rapids_tc.engines.cpu import spans as cpu_spans
from rapids_tc.engines.gpu.cuda import CudaEngine
from rapids_tc.engines.protocol import SHORT, Spans
from rapids_tc.engines.quantity import ADDED, LARGEST, LEAST, MULTIPLIED, REDUNDANT, THROUGH
from rapids_tc.preparation.community_tree import LEVEL_AT

__all__ = ["compiler"]
pytestmark = pytest.mark.usefixtures("compiler")

WINDOWS = 9  # and intervals reach two windows further
TYPES = 3
LEVELS = 4
CHANGES, WITHIN, PRODUCTS = ChangesByWindow("", windows=WINDOWS), Within(""), Products("")
THIRDS, BY_LEVEL, OF_SIDES = CommonNeighborSums(""), TrianglesByLevel(""), TriangleSideSums("")
SMALL_PRODUCTS = SmallProducts("")
PAIRS = [PairSums("", rule=rule) for rule in (LEAST, LARGEST, ADDED, MULTIPLIED, THROUGH)]
PAIRS += [EndPairSums("", rule=REDUNDANT)]
MADE = {  # of the values of two sides, the first from the larger end, and of their vertex
    LEAST: lambda a, b, x: [min(a, b)],
    LARGEST: lambda a, b, x: [max(a, b)],
    ADDED: lambda a, b, x: [a + b],
    MULTIPLIED: lambda a, b, x: [a * b],
    THROUGH: lambda a, b, x: [a * b * x],
    REDUNDANT: lambda a, b, x: [b * x if a else 0.0, a * x if b else 0.0],
}
FORMS = ("one", "several", "mixed")  # of intervals: mixed, some blocks have one of each edge


def vertices_of(rows):
    return 1 + max((max(row) for row in rows), default=-1)


def intervals_of(random, form):
    """One interval, which may be empty, or up to four ascending ones."""
    if form == "one":
        first = int(random.integers(0, WINDOWS + 2))
        return [(first, first + int(random.integers(-1, WINDOWS)))] if first else [(1, 0)]
    ends = sorted(random.choice(WINDOWS + 2, 2 * int(random.integers(0, 5)), replace=False))
    return [(int(first), int(last)) for first, last in zip(ends[::2], ends[1::2], strict=True)]


class Valued:
    """Rows of ranks, and a type, a float and intervals of each edge.

    What is right of them is found once: several engines are checked on a graph.
    """

    def __init__(self, rows, seed, form="one", types=TYPES):
        random = np.random.default_rng(seed)
        self.rows, self.n, self.form, edges = (
            rows,
            vertices_of(rows),
            form,
            reference.simple_edges(rows),
        )
        self.types = types
        self.upper = {edge: int(random.integers(5)) for edge in edges}
        self.probe = {edge: int(random.integers(5)) for edge in edges}
        self.type = {edge: int(random.integers(types)) for edge in edges}
        self.value = {edge: float(random.random()) - 0.25 for edge in edges}
        self.count = {edge: int(random.integers(2**32)) for edge in edges}
        self.small = {edge: float(random.integers(-128, 128)) for edge in edges}
        self.third = random.integers(-(2**40), 2**60 // (self.n + 1), self.n)  # by vertex
        self.weight = {edge: float(random.integers(0, 9)) / 8 for edge in edges}
        self.scale = {edge: 2.0 ** int(random.integers(20, 40)) for edge in edges}
        self.at = random.random(self.n)  # of vertices
        self.level = {edge: int(random.integers(LEVELS + 1)) for edge in edges}
        self.intervals = {edge: intervals_of(random, form) for edge in edges}
        if form == "mixed":  # in one of 2 x 2 blocks, each edge has one interval
            even = [edge for edge in edges if edge[0] % 2 == edge[1] % 2 == 0]
            self.intervals |= {edge: intervals_of(random, "one") for edge in even}
        self.windows = {
            edge: {t for first, last in intervals for t in range(first, last + 1)}
            for edge, intervals in self.intervals.items()
        }

    @cached_property
    def triangles(self):
        return reference.list_triangles(self.rows)

    @cached_property
    def sides(self):
        """The sides (v, u), (w, u) and (w, v) of the triangles u > v > w."""
        return [((v, u), (w, u), (w, v)) for w, v, u in self.triangles]

    @cached_property
    def by_types(self):
        return Counter(tuple(self.type[side] for side in sides) for sides in self.sides)

    @cached_property
    def by_window(self):
        met = Counter()
        for sides in self.sides:
            met.update(set.intersection(*(self.windows[side] for side in sides)))
        return [met[t] for t in range(WINDOWS)]

    @cached_property
    def by_edge(self):
        met = Counter()
        for sides in self.sides:
            if set.intersection(*(self.windows[side] for side in sides)):
                met.update(sides)
        return {edge: met[edge] for edge in self.type}

    @cached_property
    def joined(self):
        """By level, the sets of edges that triangles, or ends, of edges of that level join."""
        present = [[e for e, level in self.level.items() if level > i] for i in range(LEVELS)]
        return {
            connected: [reference.joined_edges(edges, connected) for edges in present]
            for connected in ("triangles", "edges")
        }

    @cached_property
    def thirds(self):
        sums = dict.fromkeys(self.type, 0)
        for w, v, u in self.triangles:
            for edge, third in ((v, u), w), ((w, u), v), ((w, v), u):
                sums[edge] += int(self.third[third])
        return sums

    def pairs(self, rule):
        """What the two other sides of the triangles of each edge make, cut off in its scale."""
        sums = {edge: [0] * (1 + (rule == REDUNDANT)) for edge in self.weight}
        for uv, uw, vw in self.sides:
            (w, _), (v, u) = vw, uv
            for edge, a, b, x in (uv, uw, vw, w), (uw, uv, vw, v), (vw, uv, uw, u):
                made = MADE[rule](self.weight[a], self.weight[b], self.at[x])
                for row, amount in enumerate(made):
                    sums[edge][row] += int(amount * self.scale[edge])
        return sums

    @cached_property
    def of_sides(self):
        """The counts of the sides of triangles, at their larger two ranks, and at the smaller."""
        sums = {edge: [0, 0] for edge in self.type}
        for uv, uw, vw in self.sides:
            for row, edge in enumerate((uv, vw)):
                sums[edge][row] += self.count[uv] + self.count[uw] + self.count[vw]
        return sums

    @cached_property
    def by_level(self):
        """The triangles of each edge whose other two sides reach its upper level, or its probe."""
        reached = {edge: [0, 0] for edge in self.type}
        for sides in self.sides:
            for edge in sides:
                others = min(self.upper[side] for side in sides if side != edge)
                reached[edge][0] += others >= max(self.upper[edge], self.probe[edge])
                reached[edge][1] += others >= self.probe[edge]
        return reached

    @cached_property
    def sums(self):
        return self._sums(self.value)

    @cached_property
    def small_sums(self):
        return self._sums(self.small)

    def _sums(self, value):
        sums = np.zeros(self.n)
        for sides in self.sides:
            for corner in {end for side in sides for end in side}:
                sums[corner] += prod(value[side] for side in sides)
        return sums


def edges_of(block, n, at):
    u, v = geometry.block_ends(block, n, at)
    return list(zip(v.tolist(), u.tolist(), strict=True))


class Aligned:
    """The values of the edges of a graph or block, in its order."""

    def __init__(self, valued, block, n=1, at=(0, 0)):
        self.edges = edges_of(block, n, at)
        self.type = np.array([valued.type[edge] for edge in self.edges], np.uint8)
        self.upper = np.array([valued.upper[edge] for edge in self.edges], np.uint32)
        self.probe = np.array([valued.probe[edge] for edge in self.edges], np.uint32)
        self.count = np.array([valued.count[edge] for edge in self.edges], np.uint32)
        self.levels = self.upper.astype(np.uint64) << np.uint64(32) | self.probe
        self.value = np.array([valued.value[edge] for edge in self.edges], float)
        self.small = np.array([valued.small[edge] for edge in self.edges], float)
        of_pairs = [
            (valued.weight[e], valued.scale[e], valued.at[e[1]], valued.at[e[0]])
            for e in self.edges
        ]
        of_pairs = np.array(of_pairs).reshape(-1, 4).T
        self.pairs = tuple(map(np.ascontiguousarray, of_pairs))
        self.level = np.array([valued.level[edge] for edge in self.edges], np.uint32)
        lists = [valued.intervals[edge] for edge in self.edges]
        flat = np.array([ends for one in lists for ends in one], np.uint32).reshape(-1, 2)
        first, last = (np.ascontiguousarray(side) for side in flat.T)
        single = all(len(one) == 1 for one in lists)
        if valued.form == "one" or (valued.form == "mixed" and single):
            self.spans = Spans(first, last)
        else:
            ends = np.cumsum([0, *map(len, lists)], dtype=np.int64)
            self.spans = Spans(first, last, ends)


def triangles_of_windows(changes):
    assert changes.dtype == np.int64 and changes.shape == (WINDOWS + 1,) and changes.sum() == 0
    return changes.cumsum()[:-1].tolist()


def counted(counts):
    """{types of uv, uw and vw: triangles}."""
    assert counts.dtype == np.int64
    cells = map(tuple, np.argwhere(counts).tolist())
    return Counter({cell: int(counts[cell]) for cell in cells})


def sets_by_level(words, values):
    """The sets of edges that a forest has at each level."""
    assert words.dtype == np.uint64 and words.shape == values.level.shape
    parents = [(int(word) >> LEVEL_AT, int(word) % 2**LEVEL_AT) for word in words]
    sets = []
    for level in range(1, LEVELS + 1):
        members = {}
        for edge, own in enumerate(values.level.tolist()):
            head = edge
            while own >= level and parents[head][0] >= level:
                assert parents[head][0] <= values.level[parents[head][1]]
                head = parents[head][1]
            if own >= level:
                members.setdefault(head, []).append(values.edges[edge])
        sets.append(sorted(map(sorted, members.values())))
    return sets


def check_joins(engine, valued):
    """The sets that triangles join, and those of common ends."""
    graph = engine.csr(keys_of(valued.rows), valued.n)
    values = Aligned(valued, graph)
    words = engine.join_triangles(engine.prepare(graph), values.level)
    assert sets_by_level(words, values) == valued.joined["triangles"]
    words = engine.join_levels(graph, values.level)
    assert sets_by_level(words, values) == valued.joined["triangles"]
    assert sets_by_level(engine.join_ends(graph, values.level), values) == valued.joined["edges"]


def check(engine, valued):
    """A whole graph, and parts of it."""
    graph = engine.csr(keys_of(valued.rows), valued.n)
    values, whole = Aligned(valued, graph), engine.prepare(graph)
    types, changes, sums = (
        engine.visit(whole, TrianglesByType("", types=valued.types), values.type),
        engine.visit(whole, CHANGES, values.spans),
        engine.visit(whole, PRODUCTS, values.value),
    )
    of_small = engine.visit(whole, SMALL_PRODUCTS, values.small)
    counts = engine.visit(whole, WITHIN, values.spans)
    levels = engine.visit(whole, BY_LEVEL, (values.levels, None))
    assert levels.dtype == np.uint32
    assert dict(zip(values.edges, levels.T.tolist(), strict=True)) == valued.by_level
    assert types.shape == (valued.types,) * 3 and counted(types) == valued.by_types
    assert triangles_of_windows(changes) == valued.by_window
    assert counts.dtype == np.uint32
    assert dict(zip(values.edges, counts.tolist(), strict=True)) == valued.by_edge
    np.testing.assert_allclose(sums, valued.sums, atol=1e-9)
    assert of_small.dtype == np.float64 and (of_small == valued.small_sums).all()
    thirds = engine.visit(whole, THIRDS, valued.third)
    assert thirds.dtype == np.int64
    assert dict(zip(values.edges, thirds.tolist(), strict=True)) == valued.thirds
    for quantity in PAIRS:
        found = engine.visit(whole, quantity, values.pairs).reshape(quantity.rows, -1)
        assert found.dtype == np.int64
        right = valued.pairs(quantity.rule)
        assert dict(zip(values.edges, found.T.tolist(), strict=True)) == right
    of_sides = engine.visit(whole, OF_SIDES, values.count)
    assert of_sides.dtype == np.int64
    assert dict(zip(values.edges, of_sides.T.tolist(), strict=True)) == valued.of_sides


def check_parts(engine, valued, parts):
    graph = engine.csr(keys_of(valued.rows), valued.n)
    values, total = Aligned(valued, graph), np.zeros((valued.types,) * 3, np.int64)
    changes, counts = np.zeros(WINDOWS + 1, np.int64), np.zeros(graph.m, np.int64)
    thirds = np.zeros(graph.m, np.int64)
    for pivot_range in pairwise(grid.cuts(engine.probe_counts(graph), parts)):
        layout = engine.prepare(graph, pivot_range)
        total += engine.visit(layout, TrianglesByType("", types=valued.types), values.type)
        changes += engine.visit(layout, CHANGES, values.spans)
        counts += engine.visit(layout, WITHIN, values.spans)
        thirds += engine.visit(layout, THIRDS, valued.third)
    assert counted(total) == valued.by_types
    assert triangles_of_windows(changes) == valued.by_window
    assert dict(zip(values.edges, counts.tolist(), strict=True)) == valued.by_edge
    assert dict(zip(values.edges, thirds.tolist(), strict=True)) == valued.thirds


def check_blocks(engine, valued, n, m=1):
    """All tasks of n x n blocks, each in m parts."""
    local = split_keys(keys_of(valued.rows), n, np)
    blocks = {
        at: engine.csr(keys, geometry.block_rows(valued.n, n, at)) for at, keys in local.items()
    }
    values = {at: Aligned(valued, block, n, at) for at, block in blocks.items()}
    types, changes = np.zeros((valued.types,) * 3, np.int64), np.zeros(WINDOWS + 1, np.int64)
    counts, thirds = (
        {at: np.zeros(block.m, np.int64) for at, block in blocks.items()} for _ in range(2)
    )
    levels, of_sides = (
        {at: np.zeros((2, block.m), np.int64) for at, block in blocks.items()} for _ in range(2)
    )
    pairs = [
        {at: np.zeros((each.rows, block.m), np.int64) for at, block in blocks.items()}
        for each in PAIRS
    ]
    sums = np.zeros(valued.n)
    for task in grid.tasks(Partition(n, 1)):
        three, sides = [blocks[at] for at in task.blocks], [values[at] for at in task.blocks]
        bounds = grid.cuts(engine.probe_counts(*three[:2], task.residues), m)
        for pivot_range in pairwise(bounds) if m > 1 else (None,):
            layout = engine.prepare_blocks(*three, task.residues, pivot_range=pivot_range)
            by_type, of_types = (
                TrianglesByType("", types=valued.types),
                [side.type for side in sides],
            )
            types += engine.visit(layout, by_type, of_types)
            spans = [side.spans for side in sides]
            changes += engine.visit(layout, CHANGES, spans)
            for at, part in zip(task.blocks, engine.visit(layout, WITHIN, spans), strict=True):
                counts[at] += part
            i, j, k = task.residues
            before = [0] * geometry.row_shift((i, j))  # rows without a vertex
            of_u = np.concatenate([np.array(before, np.int64), valued.third[i::n]])
            of_corners = of_u, valued.third[j::n], valued.third[k::n]
            of_blocks = engine.visit(layout, THIRDS, of_corners)
            for at, part in zip(task.blocks, of_blocks, strict=True):
                thirds[at] += part
            of_blocks = engine.visit(layout, BY_LEVEL, [(side.levels, None) for side in sides])
            for at, part in zip(task.blocks, of_blocks, strict=True):
                levels[at] += part
            of_blocks = engine.visit(layout, OF_SIDES, [side.count for side in sides])
            for at, part in zip(task.blocks, of_blocks, strict=True):
                of_sides[at] += part
            for quantity, found in zip(PAIRS, pairs, strict=True):
                of_blocks = engine.visit(layout, quantity, [side.pairs for side in sides])
                for at, part in zip(task.blocks, of_blocks, strict=True):
                    found[at] += part.reshape(quantity.rows, -1)
            of_u, of_v, of_w = engine.visit(layout, PRODUCTS, [side.value for side in sides])
            geometry.add_ends(sums, n, (i, j), of_u, of_v)
            sums[k::n] += of_w[: geometry.members(valued.n, n, k)]
    assert counted(types) == valued.by_types
    assert triangles_of_windows(changes) == valued.by_window
    for by_block, expected in (counts, valued.by_edge), (thirds, valued.thirds):
        by_edge = {
            edge: count
            for at in blocks
            for edge, count in zip(values[at].edges, by_block[at].tolist(), strict=True)
        }
        assert by_edge == expected
    of_pairs = [(found, valued.pairs(q.rule)) for q, found in zip(PAIRS, pairs, strict=True)]
    for by_block, expected in (levels, valued.by_level), (of_sides, valued.of_sides), *of_pairs:
        by_edge = {
            edge: both
            for at in blocks
            for edge, both in zip(values[at].edges, by_block[at].T.tolist(), strict=True)
        }
        assert by_edge == expected
    np.testing.assert_allclose(sums, valued.sums, atol=1e-9)


graphs_and_values = given(
    rows=edge_lists(25, 120) | dense_edge_lists(),
    seed=st.integers(0, 9),
    form=st.sampled_from(FORMS),
)


@settings(max_examples=60, deadline=None)
@graphs_and_values
def test_any_graph_on_the_cpu(rows, seed, form):
    check(cpu, Valued(rows, seed, form))


@settings(max_examples=40, deadline=None)
@given(rows=edge_lists(25, 120) | dense_edge_lists(), seed=st.integers(0, 9))
def test_joins_of_any_graph_on_the_cpu(rows, seed):
    check_joins(cpu, Valued(rows, seed))


@settings(max_examples=40, deadline=None)
@graphs_and_values
def test_any_graph_in_blocks_on_the_cpu(rows, seed, form):
    check_blocks(cpu, Valued(rows, seed, form), 1 + seed % 5, 1 + seed % 2)


@pytest.mark.parametrize("name", SMALL)
def test_closed_forms(name):
    for form in FORMS:
        valued = Valued(SMALL[name].rows, 1, form)
        assert valued.by_types.total() == SMALL[name].triangles
        check(cpu, valued)
        check_parts(cpu, valued, 2)
        check_blocks(cpu, valued, 2)


@pytest.mark.parametrize("slots", [1, 2, 16])
def test_ranks_that_share_slots(monkeypatch, slots):
    monkeypatch.setattr(cpu, "TABLE", slots)
    for name, form in product(("K9", "tube"), FORMS):
        check(cpu, Valued(SMALL[name].rows, 2, form))
        check_blocks(cpu, Valued(SMALL[name].rows, 2, form), 3)


@cache
def middle_sized():
    graph = cpu.csr(keys_of(datasets.rmat(10, seed=1).to_numpy().tolist()), 1024)
    return graph, cpu.prepare(graph)


def joins(graph, layout, levels):
    """Forests of triangles and of ends, each with its levels."""
    yield cpu.join_triangles(layout, levels), levels
    yield cpu.join_levels(graph, levels), levels
    yield cpu.join_ends(graph, levels), levels


def sets_of_heads(forest):
    """By level, the smallest edge of each edge's set, which no order of joins changes."""
    words, levels = forest
    parent, at = (words % 2**LEVEL_AT).astype(np.int64), words >> np.uint64(LEVEL_AT)
    smallest = []
    for level in range(1, int(levels.max()) + 1):
        head = np.where((at >= level), parent, np.arange(len(words)))
        for _ in range(20):
            head = head[head]
        least = np.full(len(words), len(words))
        np.minimum.at(least, head, np.arange(len(words)))
        smallest.append(np.where(levels >= level, least[head], -1).tolist())
    return smallest


@pytest.mark.parametrize("shared", [False, True])
def test_several_threads(monkeypatch, shared):
    """Their counters apart, and together."""
    graph, layout = middle_sized()
    random = np.random.default_rng(3)
    types = random.integers(0, 4, graph.m).astype(np.uint8)
    first = random.integers(0, WINDOWS, graph.m).astype(np.uint32)
    one = Spans(first, first + np.uint32(3))
    several = Spans(one.first, one.last, np.arange(graph.m + 1))

    def answers():
        return (
            cpu.visit(layout, TrianglesByType("", types=4), types),
            *(cpu.visit(layout, CHANGES, spans) for spans in (one, several)),
            *(cpu.visit(layout, WITHIN, spans) for spans in (one, several)),
            cpu.visit(layout, THIRDS, np.arange(1024) ** 5),
            cpu.visit(layout, OF_SIDES, types.astype(np.uint32)),
        )

    expected, levels = answers(), random.integers(0, 9, graph.m).astype(np.uint32)
    sets = [sets_of_heads(words) for words in joins(graph, layout, levels)]
    monkeypatch.setattr(_parallel, "SERIAL_BELOW", 0)
    monkeypatch.setattr(_parallel, "thread_count", lambda: 4)
    monkeypatch.setattr(row_counts, "RANGE", 200)
    monkeypatch.setattr(visitors, "SHARED_FROM", 0 if shared else 1 << 20)
    for mine, alone in zip(answers(), expected, strict=True):
        assert (mine == alone).all()
    assert [sets_of_heads(words) for words in joins(graph, layout, levels)] == sets
    assert expected[0].sum() == cpu.count(layout) and (expected[1] == expected[2]).all()
    assert (expected[3] == expected[4]).all()


@pytest.mark.parametrize("windows", [1, 2, SHORT - 1, SHORT, SHORT + 1])
def test_numbers_of_windows(windows):
    """At the sizes where the spans of edges take more bits."""
    graph, layout = middle_sized()
    total = cpu.count(layout)
    for last in (windows - 1, windows, 2**32 - 1):
        present = Spans(np.zeros(graph.m, np.uint32), np.full(graph.m, last, np.uint32))
        changes = cpu.visit(layout, ChangesByWindow("", windows=windows), present)
        assert (changes[0], changes[-1], np.count_nonzero(changes)) == (total, -total, 2)
    behind = Spans(np.full(graph.m, windows, np.uint32), np.full(graph.m, 2**32 - 1, np.uint32))
    assert not cpu.visit(layout, ChangesByWindow("", windows=windows), behind).any()


def test_the_last_windows_of_all():
    """Ends of 32 bits, if edges are counted."""
    graph, layout = middle_sized()
    most = np.full(graph.m, 2**32 - 1, np.uint32)
    counts = cpu.edge_counts(layout)
    assert (cpu.visit(layout, WITHIN, Spans(most, most)) == counts).all()
    assert not cpu.visit(layout, WITHIN, Spans(most, most - np.uint32(1))).any()


@pytest.mark.parametrize("types", [1, 13, 255])
def test_numbers_of_types(types):
    valued = Valued(SMALL["K9"].rows, 5, types=types)
    check(cpu, valued)


CUDA = {
    name: CudaEngine(xp=Numpy(), compile=testing.compile, capacities=sizes)
    for name, sizes in SIZES.items()
}
HARD = {
    "hundred": hundred(),
    "long": union(fan(1025), book(300)),
    "skewed": random_rows(300, 2500, 3),
}
each_size = pytest.mark.parametrize("engine", CUDA.values(), ids=CUDA)


@cache
def hard(name, form):
    return Valued(HARD[name], 4, form)


@pytest.mark.parametrize("engine", [cpu, CUDA["default"]], ids=["cpu", "cuda"])
@pytest.mark.parametrize("lengths", [(300, 1, 1), (1, 300, 2), (40, 3, 300), (200, 200, 200)])
def test_edges_of_many_intervals(engine, lengths):
    """Of each triangle of a book, a side has so many intervals that most are passed over."""
    windows, random = 2000, np.random.default_rng(sum(lengths))
    graph = engine.csr(keys_of(book(8)), 10)
    edges = edges_of(graph, 1, (0, 0))
    of_edge = {}
    for edge in edges:
        length = lengths[0 if edge == (0, 1) else 1 + edge[0]]
        of_edge[edge] = np.sort(random.choice(windows, 2 * length, replace=False)).reshape(-1, 2)
    offsets = np.cumsum([0, *(len(of_edge[edge]) for edge in edges)])
    first, last = np.concatenate([of_edge[edge] for edge in edges]).T.astype(np.uint32).copy()
    spans = Spans(first, last, offsets)
    present = {e: np.zeros(windows, int) for e in edges}
    for edge, intervals in of_edge.items():
        for begin, end in intervals:
            present[edge][begin : end + 1] = 1
    met = [present[0, 1] * present[0, page] * present[1, page] for page in range(2, 10)]
    layout = engine.prepare(graph)
    changes = engine.visit(layout, ChangesByWindow("", windows=windows), spans)
    assert (changes.cumsum()[:-1] == sum(met)).all()
    counts = dict(zip(edges, engine.visit(layout, WITHIN, spans).tolist(), strict=True))
    assert counts[0, 1] == sum(one.any() for one in met)
    assert [counts[1, page] for page in range(2, 10)] == [int(one.any()) for one in met]


@pytest.mark.parametrize("long", [0, 1, 2])
def test_a_long_list_of_intervals_costs_its_logarithm(monkeypatch, long):
    """The loop of `meet` runs as plain Python, and its steps are counted."""
    steps, step = [], cpu_spans.next_common.py_func
    monkeypatch.setattr(cpu_spans, "next_common", lambda *a: steps.append(1) or step(*a))
    for times in (1000, 2000, 4000):
        starts = np.arange(0, 10 * times, 10)
        sides = [cpu_spans.Intervals(starts[-2:-1] + 5, starts[-2:-1] + 6, np.array([0, 1]))] * 3
        sides[long] = cpu_spans.Intervals(starts, starts + 3, np.array([0, times]))
        steps.clear()
        assert cpu_spans.SeveralIntervals(*sides).meet(0, 0, 0) == 0
        assert len(steps) < 3 * np.log2(times) + 4  # the first four are of one interval each


class Read(np.ndarray):
    """Words whose reads are counted."""

    times = 0

    def __getitem__(self, index):
        Read.times += 1
        return np.uint64(super().__getitem__(index))


@pytest.mark.parametrize("pairs", ["the highest and each", "any two"])
def test_joins_leap_over_nested_levels(monkeypatch, pairs):
    """The loops of `join` run as plain Python, and the words that they read are counted."""

    def swap_if(words, at, old, new):
        was = words[at]
        words[at] = new if was == old else was
        return was

    monkeypatch.setattr(communities, "load", lambda words, at: words[at])
    monkeypatch.setattr(communities, "swap_if", swap_if)
    monkeypatch.setattr(communities, "_climb", communities._climb.py_func)
    reads = []
    for levels in (100, 200, 400):
        forest = [np.zeros(levels, np.uint64).view(Read) for _ in range(2)]
        joins = [(x, x + 1) for x in range(levels - 1)]  # a chain: node x has level levels - x
        random = np.random.default_rng(1).integers(0, levels, (levels, 2))
        joins += np.sort(random).tolist() if pairs == "any two" else [(0, y) for y in range(levels)]
        Read.times = 0
        for x, y in joins:
            nodes = ((np.uint64(node), np.uint64(levels - node)) for node in (x, y))
            communities.join.py_func(*forest, *next(nodes), *next(nodes))
        reads.append(Read.times / levels)
    assert reads[2] < 2 * reads[0]  # a walk of each level: four times


@plain_only
@pytest.mark.parametrize("highest", ["first", "last"])
@pytest.mark.parametrize("engine", [cpu, CUDA["default"]], ids=["cpu", "cuda"])
def test_joins_of_nested_cliques(engine, highest):
    """At each level there is one clique, so that climbs are long enough to leap."""
    graph = engine.csr(keys_of([(v, u) for u in range(32) for v in range(u)]), 32)
    ends = np.array(edges_of(graph, 1, (0, 0)))
    levels = (31 - ends.max(1) if highest == "first" else ends.min(1)).astype(np.uint32)
    one_set = [
        np.where(levels >= level, np.argmax(levels >= level), -1).tolist()
        for level in range(1, int(levels.max()) + 1)
    ]
    with testing.thread_order(1):
        words = engine.join_triangles(engine.prepare(graph), levels)
        assert sets_of_heads((words, levels)) == one_set
        words = engine.join_levels(graph, levels)
        assert sets_of_heads((words, levels)) == one_set
        assert (words >> np.uint64(LEVEL_AT) <= levels).all()
        assert sets_of_heads((engine.join_ends(graph, levels), levels)) == one_set


@plain_only
@pytest.mark.parametrize("seed", [0, 1])
@each_size
def test_small_graphs_by_kernels(engine, seed):
    with testing.thread_order(seed):
        check(engine, hard("hundred", FORMS[seed]))
        check_joins(engine, hard("hundred", "one"))
        check_parts(engine, hard("hundred", FORMS[seed]), 3)
        check_blocks(engine, hard("hundred", FORMS[2 * seed]), 2, 1 + seed)


@plain_only
@each_size
@pytest.mark.parametrize("name, form", [("long", "one"), ("skewed", "several")])
def test_hard_graphs_by_kernels(engine, name, form):
    check(engine, hard(name, form))
    if name == "skewed" and engine in (CUDA["default"], CUDA["heavy"]):  # dear in the emulator
        check_joins(engine, hard(name, form))
    check_blocks(engine, hard(name, form), 3)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("size", ["default", "tiny", "pieces"])
def test_hundred_edges_by_kernels(size, seed):
    """What a sanitizer sees: counters on a graph, and the sides of triangles on blocks."""
    engine = CUDA[size]
    valued = hard("hundred", "several")
    graph = engine.csr(keys_of(valued.rows), valued.n)
    with testing.thread_order(seed):
        layout, by_type = engine.prepare(graph), TrianglesByType("", types=TYPES)
        types = engine.visit(layout, by_type, Aligned(valued, graph).type)
        assert counted(types) == valued.by_types
        thirds = engine.visit(engine.prepare(graph), THIRDS, valued.third)
        by_edge = zip(Aligned(valued, graph).edges, thirds.tolist(), strict=True)
        assert dict(by_edge) == valued.thirds
        check_joins(engine, valued)
        check_spans_on_blocks(engine, valued)


def check_spans_on_blocks(engine, valued):
    """The tasks of 2 x 2 blocks: edge counts within spans."""
    local, total = split_keys(keys_of(valued.rows), 2, np), Counter()
    blocks = {
        at: engine.csr(keys, geometry.block_rows(valued.n, 2, at)) for at, keys in local.items()
    }
    values = {at: Aligned(valued, block, 2, at) for at, block in blocks.items()}
    for task in grid.tasks(Partition(2, 1)):
        layout = engine.prepare_blocks(*(blocks[at] for at in task.blocks), task.residues)
        counts = engine.visit(layout, WITHIN, [values[at].spans for at in task.blocks])
        for at, part in zip(task.blocks, counts, strict=True):
            total.update(dict(zip(values[at].edges, part.tolist(), strict=True)))
    assert dict(total) == valued.by_edge


@plain_only
@long
def test_overruns_and_undefined_arithmetic():
    run_again(__file__, "address", "-k", "hundred")


@plain_only
@long
def test_races():
    run_again(__file__, "thread", "-k", "hundred")
