"""What is in memory while tasks run: schedules, shelves, rooms, and the order of copies."""

import errno
import os
import tempfile
import tracemalloc
import weakref
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from itertools import combinations, product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import reference
from emulator_support import compiler
from graphs import SMALL, complete
from hypothesis import given, settings
from hypothesis import strategies as st
from stage_peaks import OutsideCopies
from stream_support import FUNCTIONS, budget_of, in_blocks

import rapids_tc as tc
from rapids_tc import datasets, testing
from rapids_tc.blocks import codec, grid
from rapids_tc.blocks.grid import Partition
from rapids_tc.blocks.prefetch import load_plan
from rapids_tc.blocks.rows import Rows
from rapids_tc.blocks.store import StoredBlocks
from rapids_tc.engines.cpu import engine as cpu
from rapids_tc.engines.cpu import host_slots
from rapids_tc.engines.gpu import device_slots
from rapids_tc.engines.gpu.cuda import CudaEngine
from rapids_tc.engines.gpu.device_slots import CardCopies, HostCopies
from rapids_tc.errors import CapacityError
from rapids_tc.frames.backend import open_frame
from rapids_tc.kernels import launch
from rapids_tc.plan import costs as model
from rapids_tc.plan.block_layout import BlockLayout, forced_layout, use_layout
from rapids_tc.plan.budget import Budget
from rapids_tc.plan.costs import MOST_BLOCKS, ROW_WORK, SORTED_ROW, VERTEX_SUMS
from rapids_tc.preparation import id_scheme
from rapids_tc.preparation.csr import Csr
from rapids_tc.preparation.edge_columns import edge_columns

__all__ = ["compiler"]
pytestmark = pytest.mark.usefixtures("compiler")


# Schedules ----------------------------------------------------------------------------------------

steps = st.lists(st.lists(st.integers(0, 6), min_size=1, max_size=3, unique=True), max_size=12)


def loads(needs, slots, ahead):
    """How many blocks a schedule brings in; each step's are there, and none comes twice."""
    place, total = {}, 0
    plan = load_plan(needs, slots, prefetch=ahead)
    for step, (keys, (made, own)) in enumerate(zip(needs, plan, strict=True)):
        for slot, key in made:
            assert 0 <= slot < slots and key not in place
            here = [other for other, where in place.items() if where == slot]
            assert not set(here) & set(keys), "a block goes that is needed"
            place = {k: s for k, s in place.items() if s != slot} | {key: slot}
        total += len(made)
        coming = needs[step + 1] if ahead and step + 1 < len(needs) else []
        assert {*keys, *coming} <= place.keys()
        assert own == {key: place[key] for key in keys}
    return total


@settings(max_examples=300, deadline=None)
@given(needs=steps, more=st.integers(0, 3), ahead=st.booleans())
def test_every_step_has_its_blocks(needs, more, ahead):
    loads(needs, most_at_once(needs, prefetch=ahead) + more, ahead)


@settings(max_examples=60, deadline=None)
@given(needs=st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=2, unique=True), max_size=6))
def test_no_replacement_brings_in_less(needs):
    """Against all ways to choose what goes."""
    slots = max(most_at_once(needs, prefetch=False), 1)

    def least(step, there):
        if step == len(needs):
            return 0
        new = [key for key in needs[step] if key not in there]
        stay = [key for key in there if key not in needs[step]]
        room = slots - len(needs[step])
        choices = product((True, False), repeat=len(stay))
        stays = ([k for k, keep in zip(stay, choice, strict=True) if keep] for choice in choices)
        ways = {frozenset(kept) for kept in stays if len(kept) <= room}
        return len(new) + min(least(step + 1, frozenset(needs[step]) | way) for way in ways)

    assert loads(needs, slots, False) == least(0, frozenset())


def most_at_once(needs, prefetch):
    """Count the slots that `load_plan` takes at least."""
    following = [*needs[1:], []] if prefetch else [[]] * len(needs)
    return max((len({*a, *b}) for a, b in zip(needs, following, strict=False)), default=0)


@pytest.mark.parametrize("n", range(1, 7))
@pytest.mark.parametrize("sides", [False, True])
def test_the_slots_of_an_engine_are_enough_for_its_tasks(n, sides):
    for engine in (cpu, CudaEngine(xp=np, compile=testing.compile)):
        budget = budget_of(1, "edge_triangles" if sides else "count", engine.costs)
        made = StoredBlocks(engine, None, budget, 0, 0, n, np, {})
        plan = made._plan(grid.tasks(Partition(n, 1)))
        assert plan.tasks == n**3 and len(plan.steps) == n**3 + n**2
        assert most_at_once(plan.needs, prefetch=engine.costs.prefetch) <= engine.costs.slots(sides)


def test_more_slots_move_less():
    needs = [list(dict.fromkeys(task.blocks)) for task in grid.tasks(Partition(4, 1))]
    moved = [loads(needs, slots, False) for slots in (3, 5, 8, 16)]
    assert moved == sorted(moved, reverse=True) and moved[-1] == 16
    assert moved[0] <= 2 * len(needs) + 1


# Budgets ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", ["count", "vertex_triangles", "annotate"])
def test_smaller_limits_make_more_blocks(function):
    rows, numbers, sides = 10**8, 10**6, []
    for limit in (10**11, 10**10, 5 * 10**9, 3 * 10**9, 2 * 10**9):
        budget = budget_of(limit, function, CudaEngine.costs)
        try:
            room = budget.allowed(rows, numbers)
            sides.append(next(budget.blocks_per_side(rows, numbers, room)))
        except CapacityError:
            break
        assert room <= limit
        assert budget.fits(rows // sides[-1] ** 2, numbers // sides[-1] + 1, rows, room)
    assert sides == sorted(sides) and sides[0] == 1 and len(sides) > 1


def test_smaller_limits_make_more_ranges_of_edges():
    """No range takes more than the limit, and the most ranges are told if they are too few."""
    rows, counts = 10**8, []
    for limit in (10**10, 10**9, 10**8):
        budget = budget_of(limit, "simple_edges", cpu.costs)
        counts.append(budget.ranges(rows, budget.allowed(rows, 10**6)))
        assert SORTED_ROW * rows / counts[-1] <= limit
    assert counts == [1, 5, 48]
    with pytest.raises(CapacityError, match=r"10,000,000 bytes, sorted in up to 64 ranges"):
        budget_of(10**7, "simple_edges", cpu.costs).ranges(rows, 10**7)
    free = replace(budget_of(10**10, "simple_edges", cpu.costs), with_answer=True)
    assert free.ranges(rows, 10**10) == 1 and free.ranges(rows, 3 * 10**9) > 5
    with pytest.raises(CapacityError, match="gives back"):
        replace(free, limit=10**9).allowed(rows, 10**6)


@pytest.mark.parametrize("function", ["edge_triangles", "annotate"])
def test_columns_count_if_the_limit_is_what_is_free(function):
    own = budget_of(10**8, function, cpu.costs)
    free = replace(own, with_answer=True)
    assert own.result(10**6) == 0 and free.result(10**6) == 8 * 10**6 * own.work.columns
    with pytest.raises(CapacityError, match="gives back"):
        free.allowed(10**8, 10**4)


@pytest.mark.parametrize("function", ["count", "vertex_triangles", "annotate"])
@pytest.mark.parametrize("rows", [2**29, 2**30, 2**31 - 1, 2**32, 2**34, 2**36])
def test_edges_of_all_slots_have_32_bit_positions(function, rows):
    """However much memory there is: kernels number the edges of a whole room, and count uv's."""
    budget = budget_of(2**62, function, CudaEngine.costs)
    sides, least = budget.sides, CudaEngine.costs.slots(budget.sides)
    n = next(budget.blocks_per_side(rows, 2**20, budget.allowed(rows, 2**20)))
    for edges in {rows // n**2, rows // n**2 // 2, 1000}:
        slots = budget.slots(edges, 2**20, 2 * n * n, 2**62)
        assert slots == 2 * n * n or slots >= least
        assert (slots + sides) * (edges + 8) < 2**32
        assert slots == 2 * n * n or (slots + 1 + sides) * (edges + 8) >= 2**32
    assert n == 1 or (least + sides) * (rows // (n - 1) ** 2 + 8) >= 2**32


@pytest.mark.parametrize("function", ["count", "edge_triangles"])
def test_a_room_has_no_more_slots_than_blocks(function):
    budget = budget_of(2**62, function, CudaEngine.costs)
    for there in (1, 2, 7):
        assert budget.slots(1000, 10, there, 2**40) == there


def test_a_block_has_fewer_edges_than_offsets_of_32_bits():
    budget = budget_of(2**62, "count", cpu.costs)
    assert [budget.fits(edges, 10, edges, 2**62) for edges in (2**32 - 1, 2**32)] == [True, False]


def test_a_layout_that_is_given_ends_with_its_block():
    with use_layout(BlockLayout(2)):
        assert forced_layout.get() == BlockLayout(2)
    assert forced_layout.get() is None


@pytest.mark.parametrize("function", ["count", "vertex_triangles", "edge_triangles"])
def test_kernels_are_given_no_more_positions_than_they_have(function, monkeypatch):
    """An engine of fewer positions, and memory for all blocks: every launch stays below them."""
    edges, launches, run = datasets.rmat(7, seed=2), [], launch.run

    def watched(engine, layout, *args, **options):
        launches.append(layout.csr.m + len(layout.in_edges) * (function != "count"))
        return run(engine, layout, *args, **options)

    monkeypatch.setattr(launch, "run", watched)
    expected = FUNCTIONS[function](edges)
    for positions in (len(edges) * 2, len(edges)):
        monkeypatch.setitem(model.MOST_GRAPH_ROWS, "cuda", 1)
        monkeypatch.setattr(CudaEngine, "costs", replace(CudaEngine.costs, positions=positions))
        with testing.host_engine():
            found = FUNCTIONS[function](edges)
        assert found.equals(expected) if hasattr(found, "equals") else found == expected
        assert positions // 4 < max(launches) < positions
        launches.clear()


def test_what_cannot_be_cut_small_enough_is_refused():
    budget = budget_of(10**7, "count", CudaEngine.costs)
    with pytest.raises(CapacityError, match=rf"1,000,000,000 rows.*{MOST_BLOCKS} x {MOST_BLOCKS}"):
        next(budget.blocks_per_side(10**9, 10**5, budget.allowed(10**9, 10**5)))
    with pytest.raises(CapacityError, match=r"1,000,000 vertices and what count gives back"):
        budget.allowed(10**7, 10**6)


@pytest.mark.parametrize("dtype, each", [("int32", 0), ("str", 8)])
def test_ids_that_are_held_leave_less_for_blocks(dtype, each):
    edges = datasets.rmat(12).astype(dtype)
    graph = tc.Graph(edges)
    assert graph._prepared.ids.nbytes >= each * graph.n_vertices and (
        each or not graph._prepared.ids.nbytes
    )
    budget = budget_of(10**7, "count", cpu.costs)
    left = budget.allowed(10**5, 10**4) - budget.allowed(10**5, 10**4, graph._prepared.ids.nbytes)
    assert left == graph._prepared.ids.nbytes
    with pytest.raises(CapacityError, match="vertices"):
        budget.allowed(10**5, 10**4, 10**7)


def test_blocks_that_are_uneven_are_cut_again(monkeypatch):
    """All edges have one end in common: half of the blocks, or more, are empty."""
    star = pd.DataFrame({"src": np.zeros(20_000, "int64"), "dst": 1 + np.arange(20_000) % 30})
    triangle = pd.DataFrame({"src": [1], "dst": [2]})
    asked, fits = [], Budget.fits
    monkeypatch.setattr(
        Budget, "fits", lambda self, *args: asked.append(fits(self, *args)) or asked[-1]
    )
    edges = pd.concat([star, triangle])
    assert tc.count(edges, memory_limit=max(tc.memory_estimate(edges).values()) // 2) == 1
    first = asked.index(True)
    assert asked[-1] and False in asked[first:]  # what fits on average did not fit, more did


@pytest.mark.parametrize("vertices", [4, 5, 8, 11])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 6])
def test_no_block_is_longer_than_thought(n, vertices, monkeypatch):
    asked, fits = [], Budget.fits
    monkeypatch.setattr(Budget, "fits", lambda self, *args: asked.append(args) or fits(self, *args))
    with in_blocks(n) as made:
        tc.count(pd.DataFrame(combinations(range(vertices), 2), columns=["src", "dst"]))
    stored = made[0].blocks.stored.values()
    edges, rows = asked[-1][:2]
    assert edges >= max(len(columns) for _, columns in stored)
    assert rows >= max(len(lengths) for lengths, _ in stored) + 1


def test_as_many_keys_are_collected_as_fit():
    budget = budget_of(8000, "count", CudaEngine.costs)
    assert budget.together([100] * 9, 10, 10**6) == 9
    assert 1 < budget.together([100] * 9, 10, 8000) < 9
    assert budget.together([100] * 9, 10, 1) == 1  # one at a time, however little there is
    for count in range(2, 9):
        need = budget.collecting([100] * count, 10)
        assert budget.together([100] * 9, 10, need) == count
        assert budget.together([100] * 9, 10, need - 1) == count - 1


# Shelves and rooms --------------------------------------------------------------------------------


@pytest.fixture(params=["cpu", "cuda"])
def engine(request):
    return cpu if request.param == "cpu" else CudaEngine(xp=np, compile=testing.compile)


def test_a_shelf_keeps_arrays(engine):
    shelf = engine.block_store()
    shelf.reserve(100)
    arrays = [np.arange(n, dtype=dtype) for n in (0, 1, 1000) for dtype in ("uint32", "int64")]
    places = [shelf.store(array.copy()) for array in arrays]
    shelf.synchronize()
    for array, place in zip(arrays, places, strict=True):
        found = shelf.load(place)
        assert found.dtype == array.dtype and (found == array).all() and place.size == len(array)
    shorter = shelf.store(arrays[4][::-1][:10].copy(), places[4])
    shelf.release()
    assert shelf.load(shorter).tolist() == arrays[4][::-1][:10].tolist()
    narrow = shelf.store(np.arange(20, dtype="uint8"), places[4])
    shelf.release()
    assert shelf.load(narrow).dtype == "uint8" and (shelf.load(narrow) == np.arange(20)).all()
    assert (shelf.load(places[5]) == arrays[5]).all()  # its neighbors are as they were


@pytest.mark.parametrize("k", [3, 7, "max"])
def test_a_truss_takes_no_more_of_the_disk_the_longer_it_peels(k, monkeypatch):
    """The graph, what is left of it, one count of all edges, and what a task adds to it.

    For the last truss also bounds, levels and two counts of every edge, its state, and its
    trussness: those of a round while the next are made.
    """
    edges, rounds, sizes = datasets.rmat(7, seed=2), [], []
    expected = tc.k_truss(edges, k)

    def closed(shelf):
        sizes.append(os.fstat(shelf._file.fileno()).st_size)

    monkeypatch.setattr(host_slots.BlockStore, "close", closed)
    run = StoredBlocks.pooled
    monkeypatch.setattr(StoredBlocks, "pooled", lambda self, *a: rounds.append(a) or run(self, *a))
    with in_blocks(2, peel_below=0) as made:
        assert tc.k_truss(edges, k).equals(expected)
    whole = made[0].blocks
    stored = sum(4 * (1 + len(a) + len(b)) for a, b in whole.stored.values())
    (size,) = sizes
    per_edge = 12 if k != "max" else 80
    assert size <= 2 * stored + per_edge * whole.edges and len(rounds) > 1


def test_what_is_got_from_a_shelf_is_a_copy(engine):
    shelf = engine.block_store()
    place = shelf.store(np.arange(5, dtype="uint32"))
    shelf.load(place)[:] = 0
    assert shelf.load(place).tolist() == [0, 1, 2, 3, 4]


class Disk:
    """A file that moves few bytes at a time; one of its methods may fail."""

    def __init__(self, file, fails="nothing", code=0):
        self.file, self.fails, self.code = file, fails, code

    def __getattr__(self, name):
        def call(*given):
            if name == self.fails:
                raise OSError(self.code, os.strerror(self.code))
            return getattr(self.file, name)(
                *(g[:7] if isinstance(g, np.ndarray) else g for g in given)
            )

        return call


def test_a_disk_that_moves_a_part_at_a_time():
    shelf, array = host_slots.BlockStore(), np.arange(1000, dtype="uint32")
    shelf._file = Disk(shelf._file)
    place, other = shelf.store(array[::-1]), shelf.store(array)
    assert (shelf.load(place) == array[::-1]).all() and (shelf.load(other) == array).all()


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO])
@pytest.mark.parametrize(
    ("fails", "stopped"), [("seek", "store load"), ("write", "store"), ("readinto", "load")]
)
def test_a_disk_that_fails_is_told(fails, stopped, code):
    shelf, array = host_slots.BlockStore(), np.arange(2500, dtype="uint32")
    place, told = shelf.store(array), rf"10,000 bytes.*{os.strerror(code)}.*TMPDIR"
    given = {"store": (array,), "load": (place,)}
    shelf._file = Disk(shelf._file, fails, code)
    for name in stopped.split():
        with pytest.raises(CapacityError, match=rf"in {tempfile.gettempdir()}, and {told}"):
            getattr(shelf, name)(*given[name])


def test_a_disk_that_says_at_the_end_what_it_lost(monkeypatch):
    """As file systems of a network do: the answer may be made of what was not kept."""
    make = tempfile.TemporaryFile
    lost = partial(Disk, fails="close", code=errno.EDQUOT)
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **options: lost(make(**options)))
    with in_blocks(2), pytest.raises(CapacityError, match=r"not all of it was kept.*TMPDIR"):
        tc.count(datasets.rmat(6), engine="cpu")


def test_a_file_that_was_cut_short_is_told():
    shelf = host_slots.BlockStore()
    place = shelf.store(np.arange(100, dtype="uint32"))
    shelf._file.truncate(399)
    with pytest.raises(CapacityError, match=r"400 bytes.*: 1 of them are missing; TMPDIR"):
        shelf.load(place)


@pytest.mark.parametrize("error", [tc.CapacityError, KeyboardInterrupt, ValueError])
def test_the_disk_is_given_back_when_a_call_ends_in_an_error(error, monkeypatch):
    """Even while somebody has the error, and with it all that the call had."""
    shelves, make = [], host_slots.BlockStore
    monkeypatch.setattr(cpu, "block_store", lambda: shelves.append(make()) or shelves[-1])

    def stopped(*args, **options):
        raise error

    monkeypatch.setattr(cpu, "edge_counts", stopped)
    with in_blocks(2) as made, pytest.raises(error) as held:
        tc.edge_triangles(datasets.rmat(6), engine="cpu")
    assert held and made and [shelf._file.closed for shelf in shelves] == [True]


@pytest.mark.parametrize("what", ["gone", "a file", "nowhere"])
def test_a_folder_for_temporary_files_that_is_none(monkeypatch, tmp_path, what):
    """TMPDIR as it was at the first look, and no folder at all."""
    folder = tmp_path / "scratch"
    if what == "a file":
        folder.touch()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None if what == "nowhere" else str(folder))
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: [str(folder)])
    edges = complete(60).frame()
    for function in (tc.count, tc.edge_triangles, tc.simple_edges):
        with in_blocks(2), pytest.raises(CapacityError, match=rf"{folder}.*TMPDIR"):
            function(edges)
    folder.unlink(missing_ok=True)
    folder.mkdir()
    with in_blocks(2):
        assert tc.count(edges) == 34220


def test_a_room_has_blocks_in_slots(engine):
    shelf = engine.block_store()
    made = [Csr(np.array([0, 1, 3][: n + 1]), np.arange(m, dtype="uint32"))
            for n, m in ((2, 3), (1, 1), (2, 3))]  # fmt: skip
    made[2] = Csr(made[2].offsets, made[2].columns + np.uint32(7))
    places = [[shelf.store(array) for array in codec.rows(b, np)] for b in made]
    room = engine.slot_pool(shelf, 2, 3, 2)
    for slot, number in ((0, 0), (1, 1), (0, 2), (1, 0)):
        room.load(slot, *places[number])
        for _ in range(2):
            block = room.block(slot)
            assert block.offsets.dtype == np.int64 and block.columns.dtype == np.uint32
            assert block.offsets.tolist() == made[number].offsets.tolist()
            assert block.columns.tolist() == made[number].columns.tolist()
        room.release(slot)


# The order of copies ------------------------------------------------------------------------------


SPOILED = 85  # each byte of memory that is not copied to yet


class LateCopies(HostCopies):
    """Copies that are done as late as a card may do them, and tell what a card would not.

    A copy spoils what was there at once, and is done when it is waited for, after those before it,
    if what is copied is still there.
    """

    def __init__(self):
        self.time, self.copies = 0, []

    def mark(self):
        self.time += 1
        return self.time

    def up(self, host, device, after):
        assert all(isinstance(mark, int) and mark <= self.time for mark in after)
        device.view("uint8")[...] = SPOILED
        self.copies.append((self.mark(), lambda: host, device))
        return self.time

    def wait(self, mark):
        while self.copies and self.copies[0][0] <= mark:
            _, source, target = self.copies.pop(0)
            assert source() is not None, "let go of before it was copied"
            target[...] = source()

    def down(self, device, host):
        host.view("uint8")[...] = SPOILED
        self.copies.append((self.mark(), weakref.ref(device), host))

    def follow(self):
        self.wait(self.time)

    def finish(self):
        self.wait(self.time)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_copies_are_waited_for(function):
    edges = datasets.rmat(7, seed=2)
    expected = FUNCTIONS[function](edges)
    with testing.host_engine(copies=LateCopies), in_blocks(3):
        found = FUNCTIONS[function](edges)
    if hasattr(expected, "equals"):
        assert found.equals(expected)
    else:
        assert found == expected


def test_no_copy_runs_on_when_a_call_is_stopped(monkeypatch):
    shelves = []

    class Watched(LateCopies):
        def __init__(self):
            super().__init__()
            shelves.append(self)

    def stopped(self, layout, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(CudaEngine, "count", stopped)
    with testing.host_engine(copies=Watched), in_blocks(2), pytest.raises(KeyboardInterrupt):
        tc.count(datasets.rmat(6))
    (copies,) = shelves
    assert copies.time and not copies.copies


def test_memory_that_cannot_be_pinned_is_told():
    class Failed(RuntimeError):
        pass

    def fail(size):
        raise Failed("cudaErrorMemoryAllocation: out of memory")

    runtime = SimpleNamespace(CUDARuntimeError=Failed)
    cuda = SimpleNamespace(runtime=runtime, alloc_pinned_memory=fail, Stream=lambda **options: None)
    copies = CardCopies(SimpleNamespace(cuda=cuda))
    with pytest.raises(CapacityError, match=r"8,000 bytes.*pinned.*out of memory"):
        copies.host(1000, "uint64")


def test_more_rows_than_a_card_takes_are_cut(monkeypatch, caplog):
    edges = datasets.rmat(6)
    monkeypatch.setitem(model.MOST_GRAPH_ROWS, "cuda", len(edges))
    with testing.host_engine():
        assert tc.count(edges[:-1]) == tc.count(edges[:-1], engine="cpu") and not caplog.records
        assert tc.count(edges) == tc.count(edges, engine="cpu")
    assert "in 1 x 1 blocks" in caplog.text


def test_a_slot_is_written_when_its_readers_are_done():
    """A copy waits for a mark behind the last task that read the slot."""

    class Watched(LateCopies):
        def __init__(self):
            super().__init__()
            self.waited = []

        def up(self, host, device, after):
            self.waited.append(max(after, default=0))
            return super().up(host, device, after)

    engine = CudaEngine(xp=np, compile=testing.compile, copies=Watched)
    shelf = engine.block_store()
    block = Csr(np.array([0, 0, 1]), np.zeros(1, "uint32"))
    place = [shelf.store(array) for array in codec.rows(block, np)]
    room = engine.slot_pool(shelf, 1, 1, 2)
    read = 0
    for _ in range(3):
        room.load(0, *place)
        assert shelf.copies.waited[-2] >= read
        room.block(0)
        read = shelf.copies.time + 1
        room.release(0)


# What a card would hold ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "function, share, dtype",
    [
        ("count", 0.4, "int32"), ("count", 0.2, "int32"), ("count", 0.2, "str"),
        ("vertex_triangles", 0.9, "str"), ("vertex_triangles", 0.45, "int32"),
        ("edge_triangles", 0.4, "str"), ("edge_triangles", 0.2, "int32"),
    ],
)  # fmt: skip
def test_a_card_takes_no_more_than_its_limit(function, share, dtype, monkeypatch):
    """Of arrays: what Python's own objects take is allowed on top."""
    ends = (2000 * np.random.default_rng(0).random((2, 100_000)) ** 1.5).astype("int32")
    edges, objects = pd.DataFrame({"src": ends[0], "dst": ends[1]}).astype(dtype), 300_000
    few = edges[:15_000]
    with testing.host_engine():
        least, limit = (
            int(share * max(tc.memory_estimate(some, function=function).values()))
            for some in (few, edges)
        )
    expected = FUNCTIONS[function](edges)
    with testing.host_engine(copies=OutsideCopies):
        FUNCTIONS[function](few, memory_limit=least)  # what is compiled is compiled here
        peaks, without = [], share <= 0.5 and dtype != "str"  # a limit, more is taken
        for options in ({"memory_limit": limit}, {})[: 1 + without]:
            tracemalloc.start()
            found = FUNCTIONS[function](edges, **options)
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
            assert found.equals(expected) if hasattr(found, "equals") else found == expected
    assert peaks[0] < limit + objects
    assert not without or peaks[1] > limit + objects


IDS = {
    "texts": lambda numbers: [f"number {n:02}" for n in numbers],
    "sparse": lambda numbers: numbers.astype("int64") * 2**40,
}


def read_named(ids, rows, copies):
    """Rows whose ids are no numbers yet, to be read in chunks of 2,000, and a card's shelf."""
    ends = np.random.default_rng(0).integers(0, 100, (2, rows))
    frame = pd.DataFrame({"src": IDS[ids](ends[0]), "dst": IDS[ids](ends[1])})
    home, opened = open_frame(frame, "cuda")
    engine = CudaEngine(xp=np, compile=testing.compile, copies=copies)
    return (
        ends,
        Rows(home, edge_columns(["src", "dst"]), opened, 2000 * ROW_WORK),
        engine.block_store(),
    )


@pytest.mark.parametrize("ids", IDS)
def test_numbers_of_rows_leave_the_card_chunk_by_chunk(ids):
    """And memory for all of them is pinned at once."""
    pinned = []

    class Watched(OutsideCopies):
        def host(self, size, dtype):
            pinned.append(size)
            return super().host(size, dtype)

    with testing.host_engine():
        ends, rows, shelf = read_named(ids, 200_000, Watched)
        pinned.clear()
        tracemalloc.start()
        numbered = rows.number(shelf)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        found = list(rows.chunks())
    assert numbered.size == 100 and len(found) == 100
    for side in (0, 1):
        assert (np.concatenate([ends[side] for ends in found]) == ends[side]).all()
    assert peak < 1_000_000 < 8 * 200_000
    assert len(pinned) == 1 and 8 * 200_000 <= pinned[0] < 9 * 200_000


@pytest.mark.parametrize("ids", IDS)
@pytest.mark.parametrize("stopped_at", [0, 1, 7])
def test_no_copy_of_numbers_runs_on_when_a_call_is_stopped(ids, stopped_at, monkeypatch):
    keys, calls = id_scheme.keys, []

    def stopped(*args):
        calls.append(args)
        if len(calls) > stopped_at:
            raise KeyboardInterrupt
        return keys(*args)

    monkeypatch.setattr(id_scheme, "keys", stopped)
    with testing.host_engine():
        _, rows, shelf = read_named(ids, 20_000, LateCopies)
        with pytest.raises(KeyboardInterrupt):
            rows.number(shelf)
    assert not shelf.copies.copies


def test_blocks_are_brought_in_no_more_than_needed(backend, monkeypatch):
    """Of a graph whose blocks all fit, each once."""
    loads, edges = [], backend.frame(SMALL["K9"].frame())
    for room in (host_slots.SlotPool, device_slots.SlotPool):
        monkeypatch.setattr(
            room,
            "load",
            lambda self, *what, load=room.load: loads.append(what) or load(self, *what),
        )
    with in_blocks(3) as made:
        assert tc.count(edges) == reference.count(SMALL["K9"].rows) == 84
    stored = {id(columns.stored) for _, columns in made[0].blocks.stored.values()}
    assert {id(columns) for _, _, columns in loads} == stored and len(loads) == len(stored)


@pytest.mark.parametrize("function", ["count", "vertex_triangles", "clustering"])
def test_sums_by_vertex_stay_where_they_are_added_up(function, engine, monkeypatch):
    """Nothing but the blocks is stored: two arrays each, however many tasks there are."""
    stored, kind = [], type(engine.block_store())
    store = kind.store
    monkeypatch.setattr(
        kind, "store", lambda self, *what: stored.append(what) or store(self, *what)
    )
    edges = datasets.rmat(6, seed=2)
    expected = FUNCTIONS[function](edges)
    with in_blocks(3), nullcontext() if engine is cpu else testing.host_engine():
        found = FUNCTIONS[function](edges)
    assert found.equals(expected) if hasattr(found, "equals") else found == expected
    assert len(stored) == 2 * 9


@pytest.mark.parametrize("function", ["count", "vertex_triangles", "edge_triangles"])
def test_a_block_goes_before_the_next_comes(function, monkeypatch):
    """On the CPU, where each is arrays of its own: no more are alive than there are slots."""
    edges, made, alive, load = datasets.rmat(7, seed=2), [], [], host_slots.SlotPool.load

    def watched(self, slot, *stored):
        load(self, slot, *stored)
        made.append(weakref.ref(self.block(slot).columns))
        alive.append(sum(columns() is not None for columns in made))

    expected = FUNCTIONS[function](edges, engine="cpu")
    monkeypatch.setattr(host_slots.SlotPool, "load", watched)
    monkeypatch.setattr(Budget, "slots", lambda *args: 3)
    with in_blocks(4):
        found = FUNCTIONS[function](edges, engine="cpu")
    assert found.equals(expected) if hasattr(found, "equals") else found == expected
    assert max(alive) == 3 and len(made) > 16


# Memory of the card -------------------------------------------------------------------------------


class Memory:
    """A pool as CuPy's: what is let go is kept; all of it can be given back."""

    def __init__(self, allocator):
        self.allocator, self.kept = allocator, []

    def malloc(self, size):
        return self.kept.pop() if self.kept else self.allocator(size)

    def free_all_blocks(self):
        self.kept.clear()


@pytest.mark.parametrize("fits", [True, False])
def test_memory_is_kept_while_tasks_run_and_given_back_before_more_is_taken(fits):
    pools, taken, inner, piece = [], [], [], 99

    def device(size):
        taken.append((size, [len(pool.kept) for pool in pools]))
        if size == piece and not fits:
            raise MemoryError
        return size

    @contextmanager
    def using(allocator):
        inner.append(allocator)
        try:
            yield
        finally:
            inner.pop()

    def make(allocator):
        pools.append(Memory(allocator))
        return pools[-1]

    cuda = SimpleNamespace(
        Stream=lambda **options: None, MemoryPool=make, get_allocator=lambda: device,
        using_allocator=using,
    )  # fmt: skip
    copies = CardCopies(SimpleNamespace(cuda=cuda))
    with pytest.raises(KeyboardInterrupt), copies.pooled(piece):
        (malloc,), (pool,) = inner, pools
        assert malloc(5) == 5
        pool.kept = [5, 7]  # let go
        assert malloc(7) == 7  # no more is taken
        pool.kept = [5]
        pool.malloc = lambda size: pool.allocator(size)  # it does not fit what is kept
        assert pool.malloc(9) == 9
        pool.kept = [9]
        raise KeyboardInterrupt
    # Nothing was kept when more was taken; a piece that is not there is no failure.
    pieces = [(piece, [0])] * (1 if fits else 2)  # what is garbage by then may have it
    assert taken == [*pieces, (5, [0]), (9, [0])]
    assert not pool.kept and not inner
    del malloc
    pool = weakref.ref(pools.pop())
    assert pool() is None  # without a cycle's being collected


OBJECTS = 1 << 16  # bytes of Python's own beside arrays
ARRAYS = tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)


def in_arrays():
    """Bytes of all arrays there are."""
    traces = tracemalloc.take_snapshot().filter_traces([ARRAYS]).traces
    return sum(trace.size for trace in traces)


class Weighed(OutsideCopies):
    """Notes of every piece its bytes, the most that was taken meanwhile, and what arrays kept."""

    def __init__(self, pieces):
        self.pieces = pieces

    @contextmanager
    def pooled(self, size):
        arrays, (before, _) = in_arrays(), tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        yield
        most = tracemalloc.get_traced_memory()[1] - before
        self.pieces.append((size, most, in_arrays() - arrays))


@pytest.mark.parametrize("name", ["count", "vertex_triangles", "edge_triangles", "k_truss"])
def test_a_piece_of_memory_is_enough_and_given_back(name):
    """One array that is left in a piece would hold all of it, and the next would come on top."""
    frame, options = datasets.rmat(12).astype("int64"), {"k": 5} if name == "k_truss" else {}
    limit = max(tc.memory_estimate(frame, function=name, engine="cpu").values()) // 2
    vertices = tc.Graph(frame).n_vertices
    pieces, call = [], partial(getattr(tc, name), memory_limit=limit, **options)
    with testing.host_engine(copies=partial(Weighed, pieces)):
        for _ in range(2):  # what is compiled is compiled in the first
            pieces.clear()
            tracemalloc.start()
            try:
                call(frame)
            finally:
                tracemalloc.stop()
    assert len(pieces) > 1
    # What a job adds up by vertex has its own share of the limit.
    by_vertex = VERTEX_SUMS * 2**12 * (name == "vertex_triangles")
    for size, most, _ in pieces:
        assert most < size + OBJECTS + by_vertex
    # These sums are made apart from any piece, once.
    assert sum(left for *_, left in pieces) == (8 * vertices if by_vertex else 0)
