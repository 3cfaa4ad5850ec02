"""Counting on blocks and on parts of a graph: tasks add up to the oracle, by every engine."""

from itertools import cycle, pairwise

import numpy as np
import pandas as pd
import pytest
import reference
from block_support import keys_of, split_keys
from emulator_support import SEEDS, Numpy, compiler, long, plain_only, run_again
from graphs import SMALL, dense_edge_lists, edge_lists
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_support import SIZES, book, fan, hundred, pages, random_rows, union

import rapids_tc as tc
from rapids_tc import _parallel, datasets, testing
from rapids_tc.blocks import codec, geometry, grid, sums
from rapids_tc.blocks.block_work import on_job
from rapids_tc.blocks.context import WorkerContext
from rapids_tc.blocks.grid import BlockTask, Partition
from rapids_tc.engines.cpu import engine as cpu
from rapids_tc.engines.cpu import row_counts
from rapids_tc.engines.gpu import block_layout
from rapids_tc.engines.gpu.block_layout import write_codes
from rapids_tc.engines.gpu.cuda import CudaEngine
from rapids_tc.engines.gpu.layout import SlotView
from rapids_tc.errors import KernelError
from rapids_tc.frames.backend import open_frame
from rapids_tc.preparation.edge_columns import edge_columns

__all__ = ["compiler"]
pytestmark = pytest.mark.usefixtures("compiler")

CUDA = {
    name: CudaEngine(xp=Numpy(), compile=testing.compile, capacities=sizes)
    for name, sizes in SIZES.items()
}
SIDES = (1, 2, 3, 4)
HARD = {  # for kernels: long rows and many in-edges, deep cliques, repeats, loops, skewed degrees
    "hundred": hundred(),
    "pages": pages(),
    "long": union(fan(1025), book(600)),
    "skewed": random_rows(300, 2500, 3),
}
each_engine = pytest.mark.parametrize("engine", [cpu, CUDA["default"]], ids=["cpu", "cuda"])
each_size = pytest.mark.parametrize("engine", CUDA.values(), ids=CUDA)
each_size_in_an_order = pytest.mark.parametrize(
    "engine, seed", [*zip(CUDA.values(), cycle(SEEDS), strict=False)], ids=CUDA
)
many = settings(max_examples=60, deadline=None)


def vertices_of(rows):
    return 1 + max((max(row) for row in rows), default=-1)


def split(engine, rows, n):
    """Every block of a graph of ranks."""
    size = vertices_of(rows)
    local = split_keys(keys_of(rows), n, np)
    return {at: engine.csr(keys, geometry.block_rows(size, n, at)) for at, keys in local.items()}


def by_edge(block, counts, n, at):
    """{(v, u): its count} of the edges of a block."""
    assert counts.dtype == np.uint32 and len(counts) == block.m
    u, v = geometry.block_ends(block, n, at)
    return dict(zip(zip(v.tolist(), u.tolist(), strict=True), counts.tolist(), strict=True))


def check(engine, rows, n, m=1):
    """All tasks of n x n blocks, each in m parts by the work they are: total and edge counts."""
    made = split(engine, rows, n)
    total, sides = 0, {at: np.zeros(block.m, np.uint32) for at, block in made.items()}
    for task in grid.tasks(Partition(n, 1)):
        uv, uw, vw = (made[at] for at in task.blocks)
        bounds = grid.cuts(engine.probe_counts(uv, uw, task.residues), m)
        for pivot_range in pairwise(bounds) if m > 1 else (None,):
            layout = engine.prepare_blocks(uv, uw, vw, task.residues, pivot_range=pivot_range)
            found = engine.count(layout)
            counts = engine.edge_counts(layout)
            assert [int(c.sum(dtype=np.int64)) for c in counts] == [found] * 3
            for at, part in zip(task.blocks, counts, strict=True):
                sides[at] += part
            total += found
    assert total == reference.count(rows)
    known = {}
    for at, counts in sides.items():
        known |= by_edge(made[at], counts, n, at)
    assert known == reference.edge_triangles(rows)


@pytest.mark.parametrize("n", SIDES)
@pytest.mark.parametrize("name", SMALL)
def test_closed_forms(name, n):
    rows = SMALL[name].rows
    check(cpu, rows, n)
    check(cpu, [(v, u) for u, v in rows] + rows, n, m=2)


@each_size
@pytest.mark.parametrize("name, n, m", [("long", 2, 1), ("skewed", 1, 1), ("skewed", 3, 2)])
def test_blocks_by_kernels(engine, name, n, m):
    check(engine, HARD[name], n, m)


@each_size_in_an_order
@pytest.mark.parametrize("name, n", [("hundred", 2), ("pages", 3)])
def test_hundred_edges_in_blocks(engine, name, n, seed):
    with testing.thread_order(seed):
        check(engine, HARD[name], n)


@each_size_in_an_order
def test_hundred_edges_in_parts(engine, seed):
    with testing.thread_order(seed):
        check_parts(engine, HARD["hundred"], 3)


@many
@given(rows=edge_lists(25, 120) | dense_edge_lists(), n=st.integers(1, 5), m=st.integers(1, 3))
def test_any_graph_on_the_cpu(rows, n, m):
    check(cpu, rows, n, m)


@many
@given(rows=edge_lists(25, 120), parts=st.integers(1, 5))
def test_parts_of_a_graph_on_the_cpu(rows, parts):
    check_parts(cpu, rows, parts)


def check_parts(engine, rows, parts):
    """A whole graph in parts of its middle vertices."""
    graph = engine.csr(keys_of(rows), vertices_of(rows))
    work = engine.probe_counts(graph)
    total, sides = 0, np.zeros(graph.m, np.uint32)
    for pivot_range in pairwise(grid.cuts(work, parts)):
        layout = engine.prepare(graph, pivot_range)
        total += engine.count(layout)
        sides += engine.edge_counts(layout)
    assert total == reference.count(rows)
    assert by_edge(graph, sides, 1, (0, 0)) == reference.edge_triangles(rows)
    whole = engine.prepare(graph)
    assert (engine.edge_counts(whole) == sides).all()


@pytest.mark.parametrize("parts", [1, 2, 7])
def test_parts_of_a_graph(parts):
    for name in ("K9", "wheel", "book", "star"):
        check_parts(cpu, SMALL[name].rows, parts)


@pytest.mark.parametrize("columns", [3, 40])
def test_parts_of_a_graph_whose_rows_are_cut_too(monkeypatch, columns):
    """Each part counts its own middle vertices alone, however many ranges of rows there are."""
    monkeypatch.setattr(row_counts, "RANGE", columns)
    for name in ("hundred", "skewed"):
        check_parts(cpu, HARD[name], 3)


@each_size
def test_parts_of_a_graph_by_kernels(engine):
    check_parts(engine, HARD["skewed"], 4)


@each_engine
@pytest.mark.parametrize("n", SIDES)
def test_work_is_the_entries_below_each_middle_vertex(engine, n):
    rows = SMALL["K9"].rows + SMALL["tube"].rows
    made, near = split(engine, rows, n), reference.neighbors(rows)
    for task in grid.tasks(Partition(n, 1)):
        i, j, k = task.residues
        uv, uw, _ = (made[at] for at in task.blocks)
        work = engine.probe_counts(uv, uw, task.residues)
        assert work.dtype == np.int64
        for v, probes in enumerate(work.tolist()):
            rank = v * n + j
            lists = [u for u in near.get(rank, ()) if u > rank and u % n == i]
            assert probes == sum(w < rank and w % n == k for u in lists for w in near[u])


def test_the_work_of_all_tasks_is_that_of_the_graph():
    graph = tc.Graph(datasets.rmat(10)).csr
    keys = graph.rows.astype(np.uint64) << np.uint64(32) | graph.columns
    local = split_keys(keys, 3, np)
    made = {at: cpu.csr(part, geometry.block_rows(graph.n, 3, at)) for at, part in local.items()}
    probes = 0
    for task in grid.tasks(Partition(3, 1)):
        probes += int(
            cpu.probe_counts(made[task.blocks[0]], made[task.blocks[1]], task.residues).sum()
        )
    lengths = np.diff(graph.offsets)
    assert probes == int(cpu.probe_counts(graph).sum()) == int((lengths * (lengths - 1) // 2).sum())


@pytest.mark.parametrize("slots", [1, 2, 16])
def test_blocks_whose_ranks_share_slots(monkeypatch, slots):
    monkeypatch.setattr(cpu, "TABLE", slots)
    for name in ("K9", "tube", "K4,4,4,4"):
        for n in SIDES:
            check(cpu, SMALL[name].rows, n)


def test_blocks_on_several_threads(monkeypatch):
    """A middle-sized graph, its tasks shared out, against the graph as a whole."""
    monkeypatch.setattr(_parallel, "SERIAL_BELOW", 0)
    monkeypatch.setattr(_parallel, "thread_count", lambda: 4)
    graph = tc.Graph(datasets.rmat(11))
    keys = graph.csr.rows.astype(np.uint64) << np.uint64(32) | graph.csr.columns
    for n in (2, 3):
        local = split_keys(keys, n, np)
        made = {
            at: cpu.csr(part, geometry.block_rows(graph.csr.n, n, at)) for at, part in local.items()
        }
        sides = np.zeros(graph.csr.m, np.uint32)
        for task in grid.tasks(Partition(n, 1)):
            layout = cpu.prepare_blocks(*(made[at] for at in task.blocks), task.residues)
            for at, counts in zip(task.blocks, cpu.edge_counts(layout), strict=True):
                sides[cpu.find_edges(graph.csr, *geometry.block_ends(made[at], n, at))] += counts
        assert (sides == graph._prepared.edge_counts).all()
        assert int(sides.sum()) == 3 * tc.count(graph)


def test_a_method_for_whole_graphs_says_so():
    engine = CUDA["default"]
    made = split(engine, SMALL["K9"].rows, 2)
    layout = engine.prepare_blocks(*(made[at] for at in BlockTask(1, 0, 0).blocks), (1, 0, 0))
    with pytest.raises(ValueError, match=r"method='tricore' counts whole graphs.*auto"):
        engine.count(layout, method="tricore")


def test_what_is_transposed_once_serves_every_task():
    engine, n = CUDA["default"], 3
    made = split(engine, HARD["skewed"], n)
    total = 0
    for i in range(n):
        for j in range(n):
            uv = engine.to_csc(made[i, j])
            for k in range(n):
                layout = engine.prepare_blocks(uv, made[i, k], made[j, k], (i, j, k))
                total += engine.count(layout)
                work = engine.probe_counts(uv, made[i, k], (i, j, k))
                assert (work == engine.probe_counts(made[i, j], made[i, k], (i, j, k))).all()
    assert total == reference.count(HARD["skewed"])


@pytest.mark.parametrize("residues", [(1, 0, 0), (0, 1, 1)])
@pytest.mark.parametrize("parts", [1, 3])
def test_a_job_of_a_machine_groups_and_decodes_its_blocks_once(parts, residues, monkeypatch):
    """For all parts, and for the work they are cut by."""
    made = split(CUDA["default"], HARD["skewed"], 2)
    tasks = [BlockTask(*residues, part, parts) for part in range(parts)]
    names = dict.fromkeys(tasks[0].blocks)
    packed = {at: codec.rows(made[at], np) for at in names}
    three, seen = [packed[at] for at in tasks[0].blocks], {"grouped": [], "decoded": []}

    def watch(place, name, kind):
        function = getattr(place, name)
        watched = lambda *args: seen[kind].append(args) or function(*args)  # noqa: E731
        monkeypatch.setattr(place, name, watched)

    watch(block_layout, "to_csc", "grouped")
    monkeypatch.setattr(CudaEngine, "to_csc", block_layout.to_csc)
    watch(codec, "csr", "decoded")
    with testing.host_engine():
        site = WorkerContext(
            open_frame(pd.DataFrame({"src": [], "dst": []}), None)[1].adapter,
            edge_columns([0, 1]),
            None,
            1,
        )
        total = site.run(on_job, sums.count, three, tasks, 2, "auto")
        for function, more in ((sums.edge_counts, ()), (sums.corner_counts, (300,))):
            calls = {kind: len(calls) for kind, calls in seen.items()}
            found = site.run(on_job, function, three, tasks, 2, "auto", *more)
            assert len(seen["grouped"]) == calls["grouped"] + 1
            assert len(seen["decoded"]) == calls["decoded"] + len(names)
            assert sum(int(part.sum()) for part in found) == 3 * total > 0


@pytest.mark.parametrize("group", [(0, 9), (0, 1), (3, 7), (8, 9)])
@each_engine
def test_hundred_rows_are_split_into_blocks(engine, group):
    check_split(engine, HARD["hundred"], 3, group)


@each_engine
@pytest.mark.parametrize("n", [1, 4, 64, 65])  # of 65 a side, not all fit shared memory
def test_rows_are_split_into_blocks_by_kernels(engine, n):
    check_split(engine, HARD["skewed"], n, (0, n * n))


def check_split(engine, rows, n, group):
    """The keys of a group of blocks from rows under other numbers, against `split_keys`."""
    size = vertices_of(rows)
    rank = np.random.default_rng(0).permutation(size).astype(np.uint32)
    number = np.argsort(rank)
    ends = tuple(number[list(end)].astype(np.uint32) for end in zip(*rows, strict=True))
    expected = split_keys(keys_of([row for row in rows if row[0] != row[1]]), n, np)
    found = np.zeros(n * n, np.uint64)
    engine.split(ends, rank, n, (0, n * n), free=found, keys=np.zeros(0, np.uint64))
    assert found.tolist() == [len(keys) for keys in expected.values()]
    starts = np.concatenate([[0], np.cumsum(found)]).astype(np.uint64)
    first, last = group
    free = starts[:-1] - starts[first]
    keys = np.zeros(int(starts[last] - starts[first]), np.uint64)
    for part in (slice(0, 17), slice(17, None)):  # as of two chunks of a frame
        engine.split(tuple(end[part] for end in ends), rank, n, group, free=free, keys=keys)
    for number, wanted in list(enumerate(expected.values()))[first:last]:
        bounds = (starts[number : number + 2] - starts[first]).tolist()
        assert np.sort(keys[slice(*bounds)]).tolist() == np.sort(wanted).tolist()


OUTSIDE = pytest.mark.parametrize("outside", [60, 2**31, 2**32 - 1])  # of 60 numbers, or ranks


@OUTSIDE
@each_engine
def test_ends_without_a_number_are_refused_by_kernels(engine, outside):
    ends, nothing = np.arange(60, dtype=np.uint32), np.zeros(0, np.uint32)
    for dtype in ("uint32", "int64"):
        right = ends.astype(dtype)
        assert engine.degrees(right, right, 60)[0].tolist() == [2] * 60
        wrong = right.copy()
        wrong[33] = outside
        for pair in ((wrong, right), (right, wrong), (wrong, nothing)):
            with pytest.raises(KernelError, match="changed during the call"):
                engine.degrees(*pair, 60)
        for pair in ((wrong, right), (right, wrong)):
            with pytest.raises(KernelError, match="changed during the call"):
                engine.degrees(*pair, 60, np.empty((2, 60), np.uint32))
    if engine is cpu:
        with pytest.raises(KernelError, match="changed during the call"):
            engine.degrees(-ends.astype("int8"), nothing, 60)


@OUTSIDE
@each_engine
def test_keys_without_a_row_are_refused_by_kernels(engine, outside):
    u = np.arange(1, 60, dtype=np.uint64)
    right = u << np.uint64(32) | u - np.uint64(1)
    assert engine.csr(right.copy(), 60).m == 59
    for row, column in ((outside, 3), (outside, outside), (outside, 59), (outside, outside - 1)):
        wrong = right.copy()
        wrong[33] = np.uint64(row) << np.uint64(32) | np.uint64(column)
        with pytest.raises(KernelError, match="changed during the call"):
            engine.csr(wrong, 60)


@OUTSIDE
@each_engine
def test_rows_without_a_number_are_in_no_block_by_kernels(engine, outside):
    right, n = np.arange(60, dtype=np.uint32), 2
    rank, wrong = right[::-1].copy(), right.copy()
    wrong[33] = outside
    for ends in ((wrong, right), (right, wrong)):
        free, keys = np.zeros(n * n, np.uint64), np.zeros(60, np.uint64)
        if engine is cpu:
            with pytest.raises(KernelError, match="changed during the call"):
                engine.split(ends, rank, n, (0, n * n), free=free, keys=keys)
        else:
            engine.split(ends, rank, n, (0, n * n), free=free, keys=keys)
        assert not free.any() and not keys.any()  # what is left are loops


@OUTSIDE
@each_engine
def test_pairs_without_a_row_are_nowhere_by_kernels(engine, outside):
    graph = engine.csr(keys_of([(u, u + 1) for u in range(59)]), 60)
    u = np.arange(1, 60, dtype=np.uint32)
    assert engine.find_edges(graph, u, u - 1).tolist() == [*range(59)]
    wrong = u.copy()
    wrong[33] = outside
    for pair in ((wrong, u - 1), (u - 1, wrong)):
        if engine is cpu:
            with pytest.raises(KernelError, match="changed during the call"):
                engine.find_edges(graph, *pair)
        else:
            assert engine.find_edges(graph, *pair).tolist() == [*range(33), -1, *range(34, 59)]


@pytest.mark.parametrize("dtype, limit", [("uint32", 2**32), ("int64", 2**56)])
@each_engine
def test_hundred_counts_are_summed_by_row_and_column(engine, dtype, limit):
    graph = engine.csr(keys_of(HARD["hundred"]), vertices_of(HARD["hundred"]) + 3)
    counts = np.random.default_rng(1).integers(0, limit, graph.m, dtype=dtype)
    by_row, by_column = engine.sum_counts(graph, counts)
    expected = {"row": [0] * graph.n, "column": [0] * graph.n}
    for u, v, count in zip(
        *map(np.ndarray.tolist, (graph.rows, graph.columns, counts)), strict=True
    ):
        expected["row"][u] += count
        expected["column"][v] += count
    assert by_row.dtype == by_column.dtype == np.int64
    assert {"row": by_row.tolist(), "column": by_column.tolist()} == expected


@each_size
@pytest.mark.parametrize("name, n", [("pages", 2), ("skewed", 3)])
def test_blocks_of_one_room_by_kernels(engine, name, n):
    """Blocks side by side in one array, in any order, what is between them being none of theirs."""
    made = split(engine, HARD[name], n)
    size = -(-max(block.m for block in made.values()) // 8) * 8 + 8
    columns = np.full(3 * size, 7, np.uint32)
    codes = engine.empty_codes(3 * size + 8)
    total = 0
    for place, task in enumerate(grid.tasks(Partition(n, 1))):
        uv, *others = (made[at] for at in task.blocks)
        slots = [(place % 3) * size, ((place + 1 + place % 2) % 3) * size]
        for block, at in zip(others, slots, strict=True):
            columns[at : at + block.m] = block.columns
        write_codes(engine, columns, codes)
        placed = [
            SlotView(block.offsets, columns[at : at + block.m], columns, codes, at)
            for block, at in zip(others, slots, strict=True)
        ]
        layout = engine.prepare_blocks(uv, *placed, task.residues)
        apart = engine.prepare_blocks(uv, *others, task.residues)
        total += engine.count(layout)
        for found, expected in zip(*map(engine.edge_counts, (layout, apart)), strict=True):
            assert (found == expected).all()
    assert total == reference.count(HARD[name])


@plain_only
@long
def test_overruns_and_undefined_arithmetic():
    run_again(__file__, "address", "-k", "hundred or kernels")


@plain_only
@long
def test_races():
    run_again(__file__, "thread", "-k", "hundred")


@pytest.mark.parametrize("outside", [2**32 + 3, 3 - 2**32])
@each_engine
def test_numbers_of_64_bits_are_not_taken_modulo_32(engine, outside):
    graph = engine.csr(keys_of([(u, u + 1) for u in range(59)]), 60)
    right = np.arange(1, 60)
    wrong = np.where(right == 33, outside, right)
    with pytest.raises(KernelError, match="changed during the call"):
        engine.degrees(wrong, right, 60)
    if engine is cpu:
        with pytest.raises(KernelError, match="changed during the call"):
            engine.find_edges(graph, wrong, right - 1)
    else:
        assert engine.find_edges(graph, wrong, right - 1)[32] == -1
