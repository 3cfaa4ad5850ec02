"""Every launch of ours, as it is and a little wrong: more threads, less shared memory."""

import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import reference
from emulator_support import PLANTED, SEEDS, compiler
from kernel_support import ENGINE, SIZES, book, clique, fan, gives_edges, keys_of, union

import rapids_tc
from rapids_tc import testing
from rapids_tc.blocks.quantities import (
    ChangesByWindow,
    CommonNeighborSums,
    OfKind,
    Products,
    TrianglesByType,
    Within,
)
from rapids_tc.engines.as_of import COLUMNS, TimedRows
from rapids_tc.engines.gpu import keys, partition, small
from rapids_tc.engines.gpu.truss import CudaPeeler
from rapids_tc.engines.neighbor_rows import END, LIVE, WORDS, NeighborRows
from rapids_tc.engines.protocol import Coded, Spans
from rapids_tc.engines.similarity_formulas import Ranking
from rapids_tc.errors import KernelError
from rapids_tc.frames.adapters import PandasAdapter
from rapids_tc.frames.backend import emulator, resolve_backend
from rapids_tc.kernels import _nvrtc, raw_rows
from rapids_tc.kernels.catalogue import METHODS, Capacities
from rapids_tc.preparation import orient
from rapids_tc.preparation.code_tables import code_table
from rapids_tc.preparation.intervals import merged

__all__ = ["compiler"]
pytestmark = pytest.mark.usefixtures("compiler")

FOLDER = Path(rapids_tc.__file__).parent / "kernels" / "cuda"
KERNEL = re.compile(r'extern "C" __global__ void\s+(__launch_bounds__\(.*?\))?\s*(\w+)\(')
SOURCES = [path for path in sorted(FOLDER.iterdir()) if path.suffix in (".cu", ".cuh")]
FOUND = [found for path in SOURCES for found in KERNEL.findall(path.read_text())]
# A few rows for a block, and enough for all warps of one.
ROWS = union(clique(40), fan(40), book(5), *[clique(8)] * 9)


class Launches:
    """Compiles as `testing.compile`, and tries every launch a little wrong before it is made."""

    def __init__(self):
        self.made, self.shared, self.short = set(), set(), set()  # kernels; made: blocks too

    def compile(self, source, names, options=()):
        kernels = testing.compile(source, names, options)
        return {name: partial(self.launch, name, kernel) for name, kernel in kernels.items()}

    def launch(self, name, kernel, grid, block, args, shared_mem=0, **how):
        if (name, block) not in self.made:
            with pytest.raises(KernelError, match=r"__launch_bounds__|a block has 1 to"):
                kernel(grid, (block[0] + 32,), args, shared_mem=shared_mem, **how)
        self.made.add((name, block))
        if shared_mem:
            self.shared.add(name)
        if shared_mem and name not in self.short:
            copies = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]
            try:
                kernel(grid, block, copies, shared_mem=shared_mem - 4)
            except KernelError as error:
                assert re.search("past the end of|heap-buffer-overflow", str(error)), error
                self.short.add(name)
        kernel(grid, block, args, shared_mem=shared_mem, **how)


def launch_all(engine):
    """Take every step of the engine, and count by every method."""
    n = 1 + max(max(row) for row in ROWS)
    ends = tuple(np.array(side, np.uint32) for side in zip(*ROWS, strict=True))
    engine.degrees(*ends, n)
    token = emulator.set(engine)  # for the kernels that a Backend launches
    try:
        backend = resolve_backend(PandasAdapter(), "cuda")
        for dtype in ("uint32", "int64"):
            wide = [end.astype(dtype) for end in ends]
            backend.min_max(wide)
            numbers = np.empty((2, len(ROWS)), np.uint32)
            degree, found = engine.degrees(*wide, n, numbers)
            orient.orient(numbers, orient.degree_order(degree, found, backend).rank, backend)
        merged(np.zeros(9, np.int64), np.arange(9, dtype=np.uint64), 1, backend)
    finally:
        emulator.reset(token)
    csr = engine.csr(keys_of(ROWS), n)
    for most in (0, 2048):  # keys of one block
        of_keys = replace(engine, capacities=Capacities(one_tile=most))
        small.graph(of_keys, *ends, n).count(keys_of(ROWS))
    free = np.zeros(9, np.uint64)
    engine.split(
        ends, np.arange(n, dtype=np.uint32), 3, (0, 9), free=free, keys=np.empty(99, np.uint64)
    )
    keys.count_sides(engine, csr, np.zeros(csr.m, np.uint32))
    layout = engine.prepare(csr)
    for method in METHODS:
        engine.count(layout, method=method.name)
        if gives_edges(method.name):
            counts = engine.edge_counts(layout, method=method.name)
    by_bits = replace(engine, capacities=SIZES["hubs"])
    by_bits.edge_counts(by_bits.prepare(csr))
    starts = np.concatenate([[0], np.cumsum(engine.triangles_per_in_edge(layout), dtype=np.int64)])
    engine.list_triangles(layout, starts, 0, int(starts[-1]))
    engine.sum_counts(csr, counts)
    engine.sum_counts(csr, counts.astype(np.int64))
    engine.join_triangles(layout, np.ones(csr.m, np.uint32))
    engine.join_levels(csr, counts)
    engine.join_ends(csr, np.ones(csr.m, np.uint32))
    for sizes in ({}, {"clique_row": 16, "clique_words": 5000}):  # short rows, and long ones
        of_cliques = replace(engine, capacities=replace(engine.capacities, **sizes))
        for per in ("row", "vertex", "edge"):
            of_cliques.cliques(csr, 4, per=per)
    few = {"wedge_small": 0, "wedge_slots": 16, "wedge_warp_slots": 4}
    for sizes in ({}, few, {**few, "wedge_halves": 0}):
        of_squares = replace(engine, capacities=replace(engine.capacities, **sizes))
        wedges = of_squares.prepare_wedges(csr)
        for per, narrow in (("graph", True), ("vertex", True), ("edge", True), ("edge", False)):
            _, squares = of_squares.squares(replace(wedges, narrow=narrow), per=per)
        engine.bitruss(wedges, squares, 2**40)
    search_wedges(engine, csr)
    ends = csr.rows.astype(np.uint32), csr.columns
    engine.common_sums(engine.neighbors(csr), *ends, np.ones(csr.n, np.int64))
    change_edges(engine, csr)
    timed = [*ends, np.zeros(csr.m, np.uint32)]
    kept = engine.keep_rows(TimedRows(*(each[:-9] for each in timed), csr.n), COLUMNS, 9)
    kept.add(TimedRows(*timed, csr.n), 0)
    kept.counts()
    engine.number_ids().find(csr.columns.astype(np.uint64))
    raw_rows.unite(engine.compile, engine.xp, np.arange(9) // 2, np.ones(9, np.uint8), 5)
    places = engine.find_edges(csr, csr.rows, csr.columns)
    for dtype in ("bool", "uint32", "int64"):
        engine.take(np.zeros(csr.m, dtype), places)
    for sizes in ({}, {"share": 99}):  # one block, and two that wait for each other
        peeler = CudaPeeler(engine.xp, engine.compile, engine.sm_count, **sizes)
        peeler.decompose(csr, counts)
    uv = engine.to_csc(csr)
    engine.probe_counts(uv, csr, (0, 0, 0))
    for pivot_range in (None, (1, 9)):
        engine.prepare(csr, pivot_range)
        blocks = engine.prepare_blocks(uv, csr, csr, (0, 0, 0), pivot_range=pivot_range)
        engine.edge_counts(blocks)
    one = Spans(*np.zeros((2, csr.m), np.uint32))
    several = replace(one, offsets=np.arange(csr.m + 1))
    for of in (layout, blocks):
        alike = (lambda values: values) if of is layout else (lambda values: [values] * 3)
        engine.visit(of, TrianglesByType("", types=2), alike(np.zeros(csr.m, np.uint8)))
        engine.visit(of, Products(""), alike(np.ones(csr.m)))
        engine.visit(of, CommonNeighborSums(""), alike(np.ones(csr.n, np.int64)))
        for intervals in (one, several):
            engine.visit(of, ChangesByWindow("", windows=5), alike(intervals))
            engine.visit(of, Within(""), alike(intervals))
        for intervals in (None, several):
            coded = Coded(np.ones(csr.m, np.uint8), code_table("edge", ""), intervals)
            engine.visit(of, OfKind(""), alike(coded))
    engine.kind_test([one] * 3)([np.zeros(9, np.int64)] * 3)
    room = engine.slot_pool(store := engine.block_store(), 1, csr.m, csr.n)
    lengths = np.diff(csr.offsets).astype(np.uint32)
    room.load(0, store.store(lengths), store.store(csr.columns))
    room.block(0)


def sort_in_buckets(engine):
    """Sort keys in buckets of a few rows, and of so many that they have more than 32 bits there."""
    n, last = 1 + max(max(row) for row in ROWS), 2**20
    for rows, size, weight in ((ROWS, n, 60), ([(0, last), (5, last - 1)], last + 1, 40_000)):
        few = {"part_ranges": 32, "sort_threads": 64, "bucket_weight": weight}
        of_rows = replace(engine, capacities=replace(engine.capacities, **few))
        assert partition.csr(of_rows, keys_of(rows), size, numbered=True) is not None


def change_edges(engine, csr):
    """Take out all edges, whose ends are found in a table, and settle their changes."""
    numbers = np.arange(csr.n, dtype=np.uint32)
    words = numbers * np.uint64(10**12)
    part = SimpleNamespace(kind="integer", dense=False, size=csr.n, words=lambda of: words[of])
    find = engine.rank_finder(part, numbers)
    ends = (find(words[end]) for end in (csr.rows, csr.columns))
    none = np.zeros(0, np.uint64), *[np.zeros(0, np.uint32)] * 2
    near = NeighborRows(csr, *engine.csc(csr), *none, csr.n)
    states = np.full((csr.m, WORDS), LIVE, np.uint32)
    states[:, 1:END], states[:, END] = 0, csr.rows
    slots = engine.find_slots(near, *ends, states).slots
    _, changed = engine.add_changes(near, slots, states, -1)
    engine.settle(near, [changed], states, np.zeros(csr.n, np.uint64), np.zeros(csr.n, np.int64))


def search_wedges(engine, csr):
    """Find similar vertices and pairs by a table, by a hash table of a block, and of a warp."""
    numbers = np.arange(csr.n, dtype=np.uint32)
    for dense, brief in ((0, 0), (1 << 20, 0), (1 << 20, 1 << 20)):
        sizes = replace(engine.capacities, dense_wedges=dense, brief_wedges=brief)
        searching = replace(engine, capacities=sizes)
        ends = searching.prepare_ends(searching.neighbors(csr), numbers)
        starts = np.concatenate([[0], np.cumsum(np.minimum(ends.work, 3))])
        searching.most_similar(ends, starts, Ranking("jaccard", numbers))
        searching.count_pairs(ends, numbers, 1)


def test_every_kernel_bounds_its_blocks():
    assert len(FOUND) > 40
    assert [name for bounds, name in FOUND if not bounds] == []


def test_threads_and_shared_memory_of_every_launch():
    """Blocks are as large as bounds allow, and with a word of shared memory less it is an error.

    That is seen without a sanitizer. Each kernel needs its last word with some sizes.
    """
    launches = Launches()
    single = replace(SIZES["single"], vector=1)
    for sizes in (SIZES["tiny"], SIZES["pieces"], single):
        with testing.thread_order(1):  # in ascending order the first warp takes all there is
            launch_all(replace(ENGINE, capacities=sizes, compile=launches.compile))
            if sizes is single:
                sort_in_buckets(replace(ENGINE, compile=launches.compile))
    assert {name for name, _ in launches.made} == {name for _, name in FOUND}
    assert launches.short == launches.shared


@pytest.mark.parametrize("lanes", [0, 1, 8, 32])
@pytest.mark.parametrize("seed", SEEDS)
def test_totals_hold_more_than_32_bits(lanes, seed):
    """Of a lane, of a warp and of all of them."""
    source = testing.read(PLANTED / "huge_hits.cu")
    kernel = testing.compile(source, ("huge_hits",))["huge_hits"]
    for hits, times in ((2**32 - 1, 3), (2**31, 1), (2**27, 1)):
        total = np.zeros(1, np.uint64)
        with testing.thread_order(seed):
            kernel((3,), (64,), (np.uint32(hits), np.uint32(times), np.uint32(lanes), total))
        assert int(total[0]) == hits * times * 3 * 64


def test_an_error_on_the_device_names_its_kernel(monkeypatch):
    """CUDA tells it only to who waits."""
    launched = []

    def compile(*args):
        kernels = {
            name: lambda *launch, kernel=kernel, name=name, **how: (
                launched.append(name), kernel(*launch, **how)
            )
            for name, kernel in testing.compile(*args).items()
        }  # fmt: skip
        return _nvrtc.awaited(kernels, wait)

    def wait():
        if launched[-1] == "scan_counts" and fails:
            raise RuntimeError("cudaErrorIllegalAddress")

    engine, keys, fails = replace(ENGINE, compile=compile), keys_of(ROWS), True
    size = 1 + max(max(row) for row in ROWS)
    engine.csr(keys.copy(), size)  # nobody waits
    monkeypatch.setenv("RAPIDS_TC_DEBUG", "1")
    with pytest.raises(KernelError, match=r"scan_counts failed, of .*: cudaErrorIllegalAddress"):
        engine.csr(keys.copy(), size)
    fails = False
    assert engine.csr(keys.copy(), size).m == ENGINE.csr(keys.copy(), size).m


def test_a_kernel_that_is_waited_for_is_like_any_other(monkeypatch):
    monkeypatch.setenv("RAPIDS_TC_DEBUG", "1")
    waits = []

    def compile(*args):
        return _nvrtc.awaited(testing.compile(*args), lambda: waits.append(args[1]))

    engine = replace(ENGINE, capacities=SIZES["tiny"], compile=compile)
    layout = engine.prepare(engine.csr(keys_of(ROWS), 1 + max(max(row) for row in ROWS)))
    assert engine.count(layout) == reference.count(ROWS)
    assert len(waits) > 3
