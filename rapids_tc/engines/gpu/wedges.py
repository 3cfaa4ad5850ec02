"""Squares on the CUDA engine, by wedges; see `rapids_tc.engines.wedges`.

The functions are methods of `rapids_tc.engines.gpu.cuda.CudaEngine`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.engines.gpu.wedge_tasks import (
    ALIGN,
    FILLED,
    SPLITS,
    Packing,
    Windows,
    hash_tasks,
    table_tasks,
)
from rapids_tc.engines.wedges import WedgeRows, check_edges
from rapids_tc.kernels import launch
from rapids_tc.preparation.csr import Csr

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rapids_tc.engines.gpu.layout import GpuEngine
    from rapids_tc.engines.protocol import ProgressCallback
    from rapids_tc.preparation.csr import Array

_EACH = 8  # as in block.cuh
_WARP = 32
_DECLARED = 1024  # bytes of shared memory that a block takes, beside a word per thread and tables
_BLOCK = 256  # threads of a block of a small graph, or with a hash table
_THREADS = {  # of a block of each kernel of wedges.cu, at most
    "count_whole": 1024, "count_half": 512, "count_small": _BLOCK,
    "count_hashed": _BLOCK, "count_brief": _WARP,
}  # fmt: skip
_KERNELS = "count_whole", "count_half"  # by the blocks that a multiprocessor holds
_ROWS = (
    "join_rows", "find_bounds", "count_wedges", "wedge_counts", "add_entries", "add_wide_entries",
)  # fmt: skip


@dataclass(frozen=True)
class TableTasks:
    """Tasks that count in tables of shared memory.

    Attributes
    ----------
    kernel : str
        Of ``wedges.cu``.
    packing : Packing
    words : int
        Of a table.
    threads : int
        Of a block.
    tasks : array of uint32, shape (tasks, 3)
    """

    kernel: str
    packing: Packing
    words: int
    threads: int
    tasks: Array


@dataclass(frozen=True)
class HashTasks:
    """Tasks that count in hash tables: the kernel, their slots, and the tasks."""

    kernel: str
    slots: int
    tasks: Array


@dataclass(frozen=True)
class GpuWedges(WedgeRows):
    """What ``wedges.cu`` reads.

    Attributes
    ----------
    ends : array of uint32, shape (n,)
        Where every row is walked to.
    cuts : array of uint32, shape (windows + 1,)
    bounds : array of uint32
        Positions of the cuts between windows in the first `bounded` rows, row by row.
    bounded : int
    tables : TableTasks
    hashed : tuple of HashTasks
    narrow : bool
        Whether the squares of an edge are below 2**32.
    """

    ends: Array
    cuts: Array
    bounds: Array
    bounded: int
    tables: TableTasks
    hashed: tuple[HashTasks, ...]
    narrow: bool


def prepare_wedges(engine: GpuEngine, csr: Csr) -> WedgeRows:
    """Make the rows of all neighbors, and the tasks: 12 bytes per edge, 24 at the peak."""
    check_edges(csr)
    with engine.device(csr.columns):
        if not csr.m:
            return WedgeRows(csr, csr, csr.columns)
        made = _join_rows(engine, csr)
        is_small = csr.n <= engine.capacities.wedge_small
        return _all(engine, made) if is_small else _tasks(engine, made)


def squares(
    engine: GpuEngine,
    wedges: Any,
    *,
    per: str = "graph",
    share: tuple[int, int] = (0, 1),
    on_progress: ProgressCallback | None = None,
) -> tuple[int, Array | None]:
    """Count squares; see `rapids_tc.engines.protocol.Engine`."""
    csr, xp = wedges.csr, engine.xp
    counting = "OfGraph"  # the struct of wedges.cu that gets the squares, and its arrays
    sums: tuple[Array, ...] = ()
    launches: list[Callable[[], None]] = []
    with engine.device(csr.columns):
        total = xp.zeros(1, "uint64")
        if per == "vertex":
            counting, sums = "OfVertices", (xp.zeros(csr.n, "uint64"),)
        if per == "edge":
            width = 32 if csr.m == 0 or wedges.narrow else 64
            counting, sums = f"OfEntries<u{width}>", (xp.zeros(2 * csr.m, f"uint{width}"),)
        if csr.m:
            squares = launch.Payload(sums).pack(total)
            slices = launch.SLICES if on_progress else 1
            launches = [*_launches(engine, wedges, share, counting, squares, slices)]
        for number, launched in enumerate(launches):
            launched()
            if on_progress is not None:
                engine.wait()
                on_progress((number + 1) / len(launches))
        if per == "edge":
            sums = (_add_entries(engine, wedges, *sums),)
        return int(total[0]), sums[0].view("int64") if sums else None


def _join_rows(engine: GpuEngine, csr: Csr) -> WedgeRows:
    """Make the rows of all neighbors, and where their wedges begin."""
    xp = engine.xp
    in_offsets, in_rows, positions = engine.csc(csr)
    columns, places = xp.empty(2 * csr.m, "uint32"), xp.empty(csr.m, "uint32")
    sizes = np.uint64(csr.n), np.uint64(csr.m)
    edges = (csr.offsets, in_offsets, in_rows, positions, *sizes)
    step(engine, "join_rows", -(-csr.m // _EACH), *edges, columns, places)
    return WedgeRows(csr, Csr(csr.offsets + in_offsets, columns), places)


def _all(engine: GpuEngine, made: WedgeRows) -> GpuWedges:
    """Make a task of every vertex of a small graph: nothing is counted, or read by the host.

    No degree reaches 2**16: all counters have 16 bits.
    """
    xp, n = engine.xp, made.csr.n
    end = -(-n // ALIGN) * ALIGN
    tasks = xp.zeros((n, 3), "uint32")
    tasks[:, 0], tasks[:, 2] = xp.arange(n, dtype="uint32"), 1
    packing = Packing((0, end, end), (0, end // 2, end // 2), end)
    cuts, ends = xp.asarray(np.array([0, end], np.uint32)), made.rows.offsets[1:].astype("uint32")
    tables = TableTasks("count_small", packing, end // 2, _BLOCK, tasks)
    graph = made.csr, made.rows, made.places
    return GpuWedges(*graph, ends, cuts, ends[:0], 0, tables, (), narrow=True)


def _tasks(engine: GpuEngine, made: WedgeRows) -> GpuWedges:
    """Count the wedges of every vertex, and make the tasks."""
    xp, csr, rows, sizes = engine.xp, made.csr, made.rows, engine.capacities
    degrees = xp.diff(rows.offsets)
    packing = Packing.of(degrees, xp)
    ends = find_bounds(engine, rows, csr.n, [packing.end])
    of_ranks = xp.zeros(csr.n, "uint64")
    edges = (csr.offsets, rows.offsets - csr.offsets, rows.columns, made.places)
    numbers = np.uint64(csr.n), np.uint64(csr.m)
    step(engine, "count_wedges", -(-csr.m // _EACH), *edges, ends, *numbers, of_ranks)
    wedges = of_ranks.view("int64")
    slots, warp_slots = _slots(engine, sizes.wedge_slots), sizes.wedge_warp_slots
    most = int(slots * FILLED), min(int(warp_slots * FILLED), int(slots * FILLED))
    hashed = tuple(
        HashTasks(kernel, size, _hashed(wedges, above, last, xp))
        for kernel, size, above, last in (
            ("count_hashed", slots, most[1], most[0]),
            ("count_brief", warp_slots, 1, most[1]),
        )
    )
    total, (d, e) = int(wedges.sum()), _two_largest(degrees)
    heavy = xp.flatnonzero(wedges > most[0])
    tables, windows = _tables(engine, rows, packing, heavy, wedges[heavy], total)
    inner = windows.cuts[1:-1].tolist()
    bounded = min(csr.n, max(csr.m // len(inner), ALIGN)) if inner else 0
    bounds = find_bounds(engine, rows, bounded, inner)
    cuts = xp.asarray(windows.cuts.astype("uint32"))
    graph = made.csr, made.rows, made.places, ends, cuts, bounds, bounded
    return GpuWedges(*graph, tables, hashed, (d - 1) * (e - 1) < 2**32)


def _hashed(wedges: Array, above: int, most: int, xp: Any) -> Array:
    """Make the tasks of vertices with so many wedges; one wedge is in no square."""
    u = xp.flatnonzero((wedges > above) & (wedges <= most))
    return hash_tasks(u, wedges[u], xp)


def _tables(
    engine: GpuEngine, rows: Csr, packing: Packing, u: Array, wedges: Array, total: int
) -> tuple[TableTasks, Windows]:
    """Make the tasks of vertices whose wedges are counted in tables, and the windows of these."""
    xp, sizes, all_words = engine.xp, engine.capacities, int(packing.words(packing.end))
    rooms = [_room(engine, resident) for resident in (1, 2)]
    resident = 1 if all_words > sizes.wedge_halves * rooms[1] else 2
    room, threads = rooms[resident - 1], sizes.wedge_threads // resident
    grid = np.arange(0, packing.end + 1, ALIGN) if len(u) else np.array([0, packing.end])
    share = rows.offsets[xp.asarray(np.minimum(grid, rows.n))] / len(rows.columns)
    share = np.asarray(share.get() if hasattr(share, "get") else share)
    least = sizes.wedge_windows if len(u) else 1
    windows = Windows.cut(packing, grid, share, room if len(u) else all_words, least)
    most = max(total // (SPLITS * resident * engine.sm_count), 1)
    tasks = table_tasks(u, wedges, windows, room, most, xp)
    kernel = _KERNELS[resident - 1]
    return TableTasks(kernel, packing, min(room, all_words), threads, tasks), windows


def _declared(kernel: str) -> int:
    """Return the bytes of shared memory that a block takes beside its table."""
    return 4 * _THREADS[kernel] + _DECLARED


def _room(engine: GpuEngine, resident: int) -> int:
    """Return the words of a table, if so many blocks share a multiprocessor."""
    shared = engine.most_shared // resident - _declared(_KERNELS[resident - 1])
    words = min(engine.capacities.wedge_words // resident, shared // 4)
    return max(words // ALIGN * ALIGN, ALIGN)


def _slots(engine: GpuEngine, most: int) -> int:
    """Return the slots of a hash table that fits shared memory."""
    while 8 * most + _declared("count_hashed") > engine.most_shared:
        most //= 2
    return most


def _two_largest(degrees: Array) -> tuple[int, int]:
    """Return the two largest degrees, of an array that is overwritten.

    An edge is in no more squares than the product of both, each less one.
    """
    first = int(degrees.argmax())
    top = int(degrees[first])
    degrees[first] = 0
    return top, max(int(degrees.max()), 1)


def find_bounds(engine: GpuEngine, rows: Csr, n: int, cuts: Any) -> Array:
    """Return the position of the first entry from each cut on, in each of the first n rows."""
    xp = engine.xp
    bounds = xp.empty(n * len(cuts), "uint32")
    if len(bounds):
        args = (xp.asarray(np.array(cuts, np.uint32)), np.uint32(len(cuts)), np.uint64(n))
        step(engine, "find_bounds", len(bounds), rows.offsets, rows.columns, *args, bounds)
    return bounds


def _launches(
    engine: GpuEngine, wedges: GpuWedges, share: tuple[int, int], counting: str,
    squares: np.ndarray, slices: int,
) -> Iterator[Callable[[], None]]:  # fmt: skip
    """Yield the launches that count all tasks of a share, those of the heaviest vertices first.

    `counting` names the struct of ``wedges.cu`` that gets the squares, `squares` is the struct.
    """
    csr, rows, tables = wedges.csr, wedges.rows, wedges.tables
    arrays = (rows.offsets, rows.columns, wedges.places, wedges.ends, wedges.cuts, wedges.bounds)
    numbers = len(wedges.cuts) - 1, wedges.bounded, engine.capacities.wedge_list
    graph = launch.Payload((*arrays, *map(np.uint32, numbers))).pack(csr.offsets)
    source, options = launch.read("wedges.cu"), (f"-DRTC_SQUARES={counting}",)
    kernels = engine.compile(source, tuple(_THREADS), options)

    def launched(
        name: str, tasks: Array, threads: int, size: int, shared: int, *packing: Any
    ) -> Iterator[Callable[[], None]]:
        part, parts = share
        tasks = tasks[tasks[:, 0] % parts == part] if parts > 1 else tasks
        if not len(tasks):
            return
        cuts = np.linspace(0, len(tasks), min(slices, len(tasks)) + 1).astype(np.uint32)
        for first, last in pairwise(cuts):
            blocks = (int(last - first), threads, shared, _declared(name))
            grid = launch.resident_grid(engine, kernels[name], *blocks)
            drawn = tasks, first, last, engine.xp.zeros(1, "uint32")
            args = (graph, *packing, *drawn, np.uint32(size), squares)
            yield partial(kernels[name], grid, (threads,), args, shared_mem=shared)

    of_tables = (tables.threads, tables.words, 4 * tables.words, packed(tables.packing))
    yield from launched(tables.kernel, tables.tasks, *of_tables)
    for one in wedges.hashed:
        threads = _THREADS[one.kernel]
        yield from launched(one.kernel, one.tasks, threads, one.slots, 8 * one.slots)


def packed(packing: Packing) -> np.ndarray:
    """Return a packing as ``counters.cuh`` reads it."""
    first, *rest = map(np.uint32, (*packing.starts, *packing.bases))
    return launch.Payload(tuple(rest)).pack(first)


def _add_entries(engine: GpuEngine, wedges: WedgeRows, entries: Array) -> Array:
    """Add the two entries of every edge: uint64, aligned with the columns of the graph."""
    csr, rows = wedges.csr, wedges.rows
    sums = engine.xp.empty(csr.m, "uint64")
    if csr.m:
        edges = (csr.offsets, rows.offsets - csr.offsets, rows.columns, wedges.places)
        kernel = "add_entries" if entries.dtype == np.uint32 else "add_wide_entries"
        numbers = np.uint64(csr.n), np.uint64(csr.m)
        step(engine, kernel, -(-csr.m // _EACH), *edges, *numbers, entries, sums)
    return sums


def step(engine: GpuEngine, kernel: str, size: int, *args: Any) -> None:
    """Launch a kernel of ``wedge_rows.cu`` with a thread per element."""
    kernels = engine.compile(launch.read("wedge_rows.cu"), _ROWS, ())
    launch.per_element(kernels[kernel], size, *args)
