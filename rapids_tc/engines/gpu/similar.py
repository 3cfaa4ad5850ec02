"""The most similar vertices of each vertex on the CUDA engine.

See `rapids_tc.engines.similarity_formulas` for what is compared.
The functions are methods of `rapids_tc.engines.gpu.cuda.CudaEngine`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.engines.gpu.wedge_tasks import ALIGN, Packing, Windows
from rapids_tc.engines.gpu.wedges import find_bounds, packed, step
from rapids_tc.engines.wedge_ends import MOST_DEGREE, WedgeEnds
from rapids_tc.errors import CapacityError
from rapids_tc.frames.backend import as_uint32
from rapids_tc.kernels import launch
from rapids_tc.plan import costs as model

if TYPE_CHECKING:
    from rapids_tc.engines.gpu.layout import GpuEngine
    from rapids_tc.engines.protocol import ProgressCallback
    from rapids_tc.engines.similarity_formulas import Ranking
    from rapids_tc.preparation.csr import Array, Csr

_KERNELS = "search_dense", "search_hashed", "search_brief"
_WARP, _ROUND = 32, 32  # the best of a vertex that are found at once, as in similar.cuh
_KEPT = 28  # bytes of shared memory per thread, beside the table: a candidate, and a long row
_SLACK = 1024  # bytes of shared memory that a block may need besides


@dataclass(frozen=True)
class GpuEnds(WedgeEnds):
    """Wedges, and windows of ranks whose counters fit in a table: ``counters.cuh``.

    Attributes
    ----------
    cuts : array of uint32, shape (windows + 1,)
    bounds : array of uint32
        See ``middles.cuh``.
    words : int
        Words of the table.
    packing : Packing
    """

    cuts: Array
    bounds: Array
    words: int
    packing: Packing


def prepare_ends(
    engine: GpuEngine,
    rows: Csr,
    asked: Array,
    most_degree: int = MOST_DEGREE,
    values: Array | None = None,
) -> WedgeEnds:
    """Count wedges, and cut windows: see `rapids_tc.engines.protocol.Engine`."""
    if rows.m >= model.MOST_ENTRIES:
        raise CapacityError(
            f"{rows.m // 2:,} edges, and one GPU compares the neighbors of fewer than "
            f'{model.MOST_ENTRIES // 2:,}: give the rows that matter, or engine="cpu"'
        )
    with engine.device(rows.columns):
        asked, work = as_uint32(asked), engine.xp.empty(len(asked), "int64")
        sizes = np.uint64(len(asked)), np.uint32(most_degree)
        of_asked = (rows.offsets, rows.columns, asked, *sizes, work)
        step(engine, "wedge_counts", _WARP * len(asked), *of_asked)
        ends = WedgeEnds(rows, asked, work, most_degree, values)
        return _windows(engine, ends) if len(asked) else ends


def most_similar(
    engine: GpuEngine,
    ends: Any,
    starts: Array,
    ranking: Ranking,
    *,
    on_progress: ProgressCallback | None = None,
) -> tuple[Array, Array]:
    """Find the most similar vertices: see `rapids_tc.engines.protocol.Engine`."""
    xp = engine.xp
    with engine.device(ends.rows.columns):
        best = xp.full(int(starts[-1]), model.NO_RANK, "uint32")
        sums = xp.zeros(len(best), "int64")
        if not len(best):
            return best, sums
        search = "Similar<u32>" if ends.values is None else "Similar<u64>"
        rounds = range(0, int(xp.diff(starts).max()), _ROUND)
        for done in rounds:
            numbers = map(np.uint32, (ranking.kind, ranking.apart, done))
            query = launch.Payload((ranking.places, *numbers, best, sums)).pack(starts)
            _search(engine, search, ends, (ends.asked, ends.work), query)
            if on_progress is not None:
                engine.wait()
                on_progress((done + _ROUND) / (rounds[-1] + _ROUND))
        return best, sums


def count_pairs(engine: GpuEngine, ends: Any, places: Array, at_least: int) -> Array:
    """Count pairs of vertices: see `rapids_tc.engines.protocol.Engine`."""
    with engine.device(ends.rows.columns):
        counts = engine.xp.zeros(len(ends.asked), "int64")
        _find_pairs(engine, ends, (0, len(counts)), places, at_least, (counts, None, None))
        return counts


def list_pairs(
    engine: GpuEngine, ends: Any, places: Array, at_least: int, starts: Array, first: int, last: int
) -> tuple[Array, Array]:
    """List pairs of vertices: see `rapids_tc.engines.protocol.Engine`."""
    xp = engine.xp
    with engine.device(ends.rows.columns):
        begins = starts[first : last + 1] - starts[first]
        size = int(begins[-1])
        ranks, common = xp.empty(size, "uint32"), xp.empty(size, "int64")
        _find_pairs(engine, ends, (first, last), places, at_least, (begins, ranks, common))
        of_asked = xp.searchsorted(begins, xp.arange(size), side="right") - 1
        keys = of_asked.astype("uint64") << np.uint64(32)
        keys |= places[ranks]
        in_order = xp.argsort(keys)
        return ranks[in_order], common[in_order]


def _find_pairs(
    engine: GpuEngine, ends: Any, part: tuple[int, int], places: Array, at_least: int,
    found: tuple[Any, ...],
) -> None:  # fmt: skip
    """Launch the kernels that count or list pairs, as ``common_pairs.cuh`` says."""
    asked, work = (array[slice(*part)] for array in (ends.asked, ends.work))
    least = np.uint32(min(at_least, model.NO_RANK))
    if len(asked):
        query = launch.Payload((least, *found)).pack(places)
        _search(engine, "CommonPairs", ends, (asked, work), query)


def _search(
    engine: GpuEngine, search: str, ends: GpuEnds, part: tuple[Array, Array], query: np.ndarray
) -> None:
    """Launch the kernels that search the ends of some vertices, those with most wedges first.

    `search` names the struct of ``wedge_ends.cu`` that looks at ends, `query` is what it gets.
    `part` is these vertices, of all that are asked for, and the wedges of each.
    """
    xp, sizes, rows, (asked, work) = engine.xp, engine.capacities, ends.rows, part
    wide = ends.values is not None
    slot = 12 if wide else 8  # bytes
    slots = _slots(engine, slot, _KEPT * launch.THREADS)
    dense = min(sizes.dense_wedges, slots * 3 // 4)
    brief = min(sizes.brief_wedges, dense - 1)
    few = _fewest_slots(brief)
    options = (f"-DRTC_SEARCH={search}",)
    kernels = engine.compile(launch.read("wedge_ends.cu"), _KERNELS, options)
    limits = np.uint32(len(ends.cuts)), np.uint32(ends.most_degree)
    middles = launch.Payload((rows.columns, ends.bounds, ends.values, *limits)).pack(rows.offsets)
    of_dense = (ends.cuts, packed(ends.packing), np.uint32(ends.words))
    tiers = [  # kernel, the wedges of its vertices, threads, arguments, bytes of shared memory
        ("search_dense", dense, sizes.dense_threads, of_dense, ends.words * (8 if wide else 4)),
        ("search_hashed", brief + 1, min(sizes.dense_threads, launch.THREADS), (np.uint32(slots),),
         slots * slot),
        ("search_brief", 1, _WARP, (np.uint32(few),), few * slot),
    ]  # fmt: skip
    order, tickets, first = as_uint32(xp.argsort(-work)), xp.zeros(3, "uint32"), 0
    for tier, (name, least, threads, arguments, shared) in enumerate(tiers):
        last = int((work >= least).sum())
        if first < last:
            tasks = (order, work, np.uint32(first), np.uint32(last), tickets[tier : tier + 1])
            drawn, declared = launch.Payload(tasks).pack(asked), _KEPT * threads + _SLACK
            blocks = (last - first, threads, shared, declared)
            grid = launch.resident_grid(engine, kernels[name], *blocks)
            kernels[name](grid, (threads,), (middles, drawn, query, *arguments), shared_mem=shared)
        first = last


def _windows(engine: GpuEngine, ends: WedgeEnds) -> GpuEnds:
    """Cut the ranks in windows whose counters, or sums of 64 bits, fit in shared memory."""
    xp, rows, wide = engine.xp, ends.rows, ends.values is not None
    room = engine.most_shared - _KEPT * engine.capacities.dense_threads - _SLACK
    room = min(room // (8 if wide else 4), engine.capacities.end_words)
    room = max(room // ALIGN, 1) * ALIGN
    packing = Packing.of(xp.diff(rows.offsets), xp, least=1)
    if wide:  # as if all counters had a word
        packing = Packing((packing.end,) * 3, (packing.end,) * 3, packing.end)
    grid = np.arange(0, packing.end + 1, ALIGN)
    cuts = Windows.cut(packing, grid, np.zeros(len(grid)), room, 1).cuts.astype("uint32")
    words = min(room, int(packing.words(np.array(packing.end))))
    windows = (xp.asarray(cuts), find_bounds(engine, rows, rows.n, cuts), words, packing)
    return GpuEnds(rows, ends.asked, ends.work, ends.most_degree, ends.values, *windows)


def _slots(engine: GpuEngine, slot: int, kept: int) -> int:
    """Return the slots of the largest hash table of a block, a power of two."""
    room = (engine.most_shared - kept - _SLACK) // slot
    return min(_fewest_slots(engine.capacities.dense_wedges - 1), 1 << (room.bit_length() - 1))


def _fewest_slots(wedges: int) -> int:
    """Return the slots of a table that u and the ends of so many wedges fill to three quarters."""
    return 1 << max((4 * (wedges + 1) - 1) // 3, 1).bit_length()


def tables_bytes(vertices: int) -> int:
    """Return the bytes of the bounds of windows, and of the order of tasks."""
    return model.WINDOW_BOUNDS * vertices
