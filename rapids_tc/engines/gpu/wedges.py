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
    from collections.abc import Callable, Iterator, Mapping

    from rapids_tc.engines.gpu.layout import GpuEngine
    from rapids_tc.engines.protocol import ProgressCallback
    from rapids_tc.kernels.method import Capacities, Kernel
    from rapids_tc.preparation.csr import Array

_EACH = 8  # as in block.cuh
_WARP = 32
_DECLARED = 1024  # bytes of shared memory that kernels declare, and that each block takes
_BLOCK = 256  # threads of a block with a hash table
_RESIDENT = 2048  # threads of a multiprocessor, at most
_MOST_BLOCKS = 32  # of a multiprocessor
_TWO_FROM = 4  # tables of half the size, up to which two smaller blocks are better than one
_ROWS = ("join_rows", "find_bounds", "count_wedges", "add_entries", "add_wide_entries")


@dataclass(frozen=True)
class Tables:
    """Tasks that count in tables of shared memory.

    Attributes
    ----------
    packing : Packing
    words : int
        Of a table.
    threads, resident : int
        Of a block; and blocks of a multiprocessor.
    tasks : array of uint32, shape (tasks, 3)
    """

    packing: Packing
    words: int
    threads: int
    resident: int
    tasks: Array


@dataclass(frozen=True)
class Hashed:
    """Tasks that count in hash tables: their slots, the threads of a block, and the tasks."""

    slots: int
    threads: int
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
    tables : Tables
    hashed : tuple of Hashed
    narrow : bool
        Whether the squares of an edge are below 2**32.
    """

    ends: Array
    cuts: Array
    bounds: Array
    bounded: int
    tables: Tables
    hashed: tuple[Hashed, ...]
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
    csr, xp, steps = wedges.csr, engine.xp, []
    with engine.device(csr.columns):
        total = xp.zeros(1, "uint64")
        sums = xp.zeros(csr.n if per == "vertex" else 0, "uint64")
        entries, options = xp.zeros(0, "uint64"), [f"-DRTC_LONG={engine.capacities.wedge_list}"]
        if per == "vertex":
            options.append("-DRTC_VERTEX")
        if per == "edge":
            narrow = csr.m == 0 or wedges.narrow
            entries = xp.zeros(2 * csr.m, "uint32" if narrow else "uint64")
            options += ["-DRTC_EDGE", f"-DRTC_COUNT={'u32' if narrow else 'u64'}"]
        if csr.m:
            counted = launch.Payload((sums, entries)).pack(total)
            slices = launch.SLICES if on_progress else 1
            steps = [*_launches(engine, wedges, share, options, counted, slices)]
        for number, step in enumerate(steps):
            step()
            if on_progress is not None:
                engine.wait()
                on_progress((number + 1) / len(steps))
        if per == "edge":
            sums = _add_entries(engine, wedges, entries)
        return int(total[0]), None if per == "graph" else sums.view("int64")


def _join_rows(engine: GpuEngine, csr: Csr) -> WedgeRows:
    """Make the rows of all neighbors, and where their wedges begin."""
    xp = engine.xp
    in_offsets, in_rows, positions = engine.csc(csr)
    columns, places = xp.empty(2 * csr.m, "uint32"), xp.empty(csr.m, "uint32")
    sizes = np.uint64(csr.n), np.uint64(csr.m)
    edges = (csr.offsets, in_offsets, in_rows, positions, *sizes)
    _step(engine, "join_rows", -(-csr.m // _EACH), *edges, columns, places)
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
    tables = Tables(packing, end // 2, _BLOCK, 1, tasks)
    graph = made.csr, made.rows, made.places
    return GpuWedges(*graph, ends, cuts, ends[:0], 0, tables, (), narrow=True)


def _tasks(engine: GpuEngine, made: WedgeRows) -> GpuWedges:
    """Count the wedges of every vertex, and make the tasks."""
    xp, csr, rows, sizes = engine.xp, made.csr, made.rows, engine.capacities
    degrees = xp.diff(rows.offsets)
    packing = Packing.of(degrees, xp)
    ends = _bounds(engine, rows, csr.n, [packing.end])
    of_ranks = xp.zeros(csr.n, "uint64")
    edges = (csr.offsets, rows.offsets - csr.offsets, rows.columns, made.places)
    numbers = np.uint64(csr.n), np.uint64(csr.m)
    _step(engine, "count_wedges", -(-csr.m // _EACH), *edges, ends, *numbers, of_ranks)
    wedges = of_ranks.view("int64")
    slots, warp_slots = _slots(engine, _BLOCK, sizes.wedge_slots), sizes.wedge_warp_slots
    most = int(slots * FILLED), min(int(warp_slots * FILLED), int(slots * FILLED))
    hashed = tuple(
        Hashed(size, threads, _hashed(wedges, above, last, xp))
        for size, threads, above, last in (
            (slots, _BLOCK, most[1], most[0]),
            (warp_slots, _WARP, 1, most[1]),
        )
    )
    total, (d, e) = int(wedges.sum()), _two_largest(degrees)
    heavy = xp.flatnonzero(wedges > most[0])
    tables, windows = _tables(engine, rows, packing, heavy, wedges[heavy], total)
    inner = windows.cuts[1:-1].tolist()
    bounded = min(csr.n, max(csr.m // len(inner), ALIGN)) if inner else 0
    bounds = _bounds(engine, rows, bounded, inner)
    cuts = xp.asarray(windows.cuts.astype("uint32"))
    graph = made.csr, made.rows, made.places, ends, cuts, bounds, bounded
    return GpuWedges(*graph, tables, hashed, (d - 1) * (e - 1) < 2**32)


def _hashed(wedges: Array, above: int, most: int, xp: Any) -> Array:
    """Make the tasks of vertices with so many wedges; one wedge is in no square."""
    u = xp.flatnonzero((wedges > above) & (wedges <= most))
    return hash_tasks(u, wedges[u], xp)


def _tables(
    engine: GpuEngine, rows: Csr, packing: Packing, u: Array, wedges: Array, total: int
) -> tuple[Tables, Windows]:
    """Make the tasks of vertices whose wedges are counted in tables, and the windows of these."""
    xp, sizes, all_words = engine.xp, engine.capacities, int(packing.words(packing.end))
    rooms = [_room(engine, sizes, resident) for resident in (1, 2)]
    resident = 1 if all_words > _TWO_FROM * rooms[1] else 2
    room, threads = rooms[resident - 1], sizes.wedge_threads // resident
    grid = np.arange(0, packing.end + 1, ALIGN) if len(u) else np.array([0, packing.end])
    share = rows.offsets[xp.asarray(np.minimum(grid, rows.n))] / len(rows.columns)
    share = np.asarray(share.get() if hasattr(share, "get") else share)
    least = sizes.wedge_windows if len(u) else 1
    windows = Windows.cut(packing, grid, share, room if len(u) else all_words, least)
    most = max(total // (SPLITS * resident * engine.sm_count), 1)
    tasks = table_tasks(u, wedges, windows, room, most, xp)
    return Tables(packing, min(room, all_words), threads, resident, tasks), windows


def _room(engine: GpuEngine, sizes: Capacities, resident: int) -> int:
    """Return the words of a table, if so many blocks share a multiprocessor."""
    shared = engine.most_shared // resident - 4 * (sizes.wedge_threads // resident) - _DECLARED
    words = min(sizes.wedge_words // resident, shared // 4)
    return max(words // ALIGN * ALIGN, ALIGN)


def _slots(engine: GpuEngine, threads: int, most: int) -> int:
    """Return the slots of a hash table that fits shared memory."""
    while 8 * most + 4 * threads + _DECLARED > engine.most_shared:
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


def _bounds(engine: GpuEngine, rows: Csr, n: int, cuts: list[int]) -> Array:
    """Return the position of the first entry from each cut on, in each of the first n rows."""
    xp = engine.xp
    bounds = xp.empty(n * len(cuts), "uint32")
    if len(bounds):
        args = (xp.asarray(np.array(cuts, np.uint32)), np.uint32(len(cuts)), np.uint64(n))
        _step(engine, "find_bounds", len(bounds), rows.offsets, rows.columns, *args, bounds)
    return bounds


def _launches(
    engine: GpuEngine, wedges: GpuWedges, share: tuple[int, int], options: list[str],
    sums: np.ndarray, slices: int,
) -> Iterator[Callable[[], None]]:  # fmt: skip
    """Yield the launches that count all tasks of a share, those of the heaviest vertices first."""
    csr, rows, tables = wedges.csr, wedges.rows, wedges.tables
    arrays = (rows.offsets, rows.columns, wedges.places, wedges.ends, wedges.cuts, wedges.bounds)
    sizes = np.uint32(len(wedges.cuts) - 1), np.uint32(wedges.bounded)
    graph = launch.Payload((*arrays, *sizes)).pack(csr.offsets)

    def launched(
        name: str, tasks: Array, threads: int, resident: int, size: int, shared: int, *more: Any
    ) -> Iterator[Callable[[], None]]:
        part, parts = share
        tasks = tasks[tasks[:, 0] % parts == part] if parts > 1 else tasks
        if not len(tasks):
            return
        of_blocks = (f"-DRTC_THREADS={threads}", f"-DRTC_RESIDENT={resident}")
        source = launch.read("wedges.cu")
        kernel = engine.compile(source, (name,), (*options, *of_blocks))[name]
        if shared > engine.shared_limit:
            kernel.max_dynamic_shared_size_bytes = shared
        each = shared + 4 * threads + _DECLARED
        per_sm = max(1, min(_RESIDENT // threads, _MOST_BLOCKS, engine.most_shared // each))
        cuts = np.linspace(0, len(tasks), min(slices, len(tasks)) + 1).astype(np.uint32)
        for first, last in pairwise(cuts):
            grid = (min(int(last - first), engine.sm_count * per_sm),)
            ticket = xp.zeros(1, "uint32")
            args = (graph, *more, tasks, first, last, np.uint32(size), ticket, sums)
            yield partial(kernel, grid, (threads,), args, shared_mem=shared)

    xp, packing = engine.xp, tables.packing
    first, *rest = map(np.uint32, (*packing.starts, *packing.bases))
    levels, words = launch.Payload(tuple(rest)).pack(first), tables.words
    blocks = (tables.threads, tables.resident, words, 4 * words, levels)
    yield from launched("count_tables", tables.tasks, *blocks)
    for one in wedges.hashed:
        yield from launched("count_hashed", one.tasks, one.threads, 1, one.slots, 8 * one.slots)


def _add_entries(engine: GpuEngine, wedges: WedgeRows, entries: Array) -> Array:
    """Add the two entries of every edge: uint64, aligned with the columns of the graph."""
    csr, rows = wedges.csr, wedges.rows
    sums = engine.xp.empty(csr.m, "uint64")
    if csr.m:
        edges = (csr.offsets, rows.offsets - csr.offsets, rows.columns, wedges.places)
        kernel = "add_entries" if entries.dtype == np.uint32 else "add_wide_entries"
        numbers = np.uint64(csr.n), np.uint64(csr.m)
        _step(engine, kernel, -(-csr.m // _EACH), *edges, *numbers, entries, sums)
    return sums


def _step(engine: GpuEngine, kernel: str, size: int, *args: Any) -> None:
    """Launch a kernel of ``wedge_rows.cu`` with a thread per element."""
    launch.per_element(_steps(engine)[kernel], size, *args)


def _steps(engine: GpuEngine) -> Mapping[str, Kernel]:
    return engine.compile(launch.read("wedge_rows.cu"), _ROWS, ())
