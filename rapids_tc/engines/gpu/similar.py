"""The most similar vertices of each vertex on the CUDA engine.

See `rapids_tc.engines.similarity_formulas` for what is compared.
The functions are methods of `rapids_tc.engines.gpu.cuda.CudaEngine`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.engines.gpu.wedge_tasks import ALIGN, Packing, Windows
from rapids_tc.engines.wedge_ends import MOST_DEGREE, WedgeEnds
from rapids_tc.errors import CapacityError
from rapids_tc.frames.backend import as_uint32
from rapids_tc.kernels import launch
from rapids_tc.plan import costs as model

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rapids_tc.engines.gpu.layout import GpuEngine
    from rapids_tc.engines.protocol import ProgressCallback
    from rapids_tc.engines.similarity_formulas import Ranking
    from rapids_tc.kernels.method import Kernel
    from rapids_tc.preparation.csr import Array, Csr

_KERNELS = "similar_dense", "similar_hashed", "similar_brief", "wedge_counts"
_PAIRS = "pairs_dense", "pairs_hashed", "pairs_brief"
_WARP, _ROUND = 32, 32  # the best of a vertex that are found at once, as in best.cuh
_KEPT = 28  # bytes of shared memory per thread, beside the table: a candidate, and a long row
_SLACK = 1024  # bytes of shared memory that a block may need besides
_RESIDENT = 2048  # threads of a multiprocessor, at most


@dataclass(frozen=True)
class GpuEnds(WedgeEnds):
    """Wedges, and windows of ranks whose counters fit in a table of shared memory: ``ends.cuh``.

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
        kernel = _kernels(engine)["wedge_counts"]
        launch.per_element(
            kernel, _WARP * len(asked), rows.offsets, rows.columns, asked, *sizes, work
        )
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
        query = (ends.work, starts, ranking.places, *map(np.uint32, (ranking.kind, ranking.apart)))
        rounds = range(0, int(xp.diff(starts).max()), _ROUND)
        kernels = _kernels(engine, wide=ends.values is not None)
        for done in rounds:
            found = (*query, np.uint32(done), best, sums)
            _search(engine, kernels, "similar", ends, (ends.asked, ends.work), found)
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
    """Launch the kernels that count or list pairs, as ``projection.cu`` says."""
    asked, work = (array[slice(*part)] for array in (ends.asked, ends.work))
    if len(asked):
        kernels = engine.compile(launch.read("projection.cu"), _PAIRS, ())
        query = (work, places, np.uint32(min(at_least, model.NO_RANK)), *found)
        _search(engine, kernels, "pairs", ends, (asked, work), query)


def _search(
    engine: GpuEngine, kernels: Mapping[str, Kernel], name: str, ends: GpuEnds,
    part: tuple[Array, Array], found: tuple[Any, ...],
) -> None:  # fmt: skip
    """Launch the kernels that search the ends of some vertices, those with most wedges first.

    `part` is these vertices, of all that are asked for, and the wedges of each.
    """
    xp, sizes, (asked, work) = engine.xp, engine.capacities, part
    rows, wide = ends.rows, ends.values is not None
    stride, most = np.uint32(len(ends.cuts)), np.uint32(ends.most_degree)
    arrays = (rows.offsets, rows.columns, ends.bounds, ends.values, stride, most)
    slot = 12 if wide else 8
    slots = _slots(engine, slot, _KEPT * launch.THREADS)
    dense = min(sizes.dense_wedges, slots * 3 // 4)
    brief = min(sizes.brief_wedges, dense - 1)
    cuts = [0, *(int((work >= least).sum()) for least in (dense, brief + 1, 1))]
    order, tickets = as_uint32(xp.argsort(-work)), xp.zeros(3, "uint32")
    levels = map(np.uint32, (*ends.packing.starts, *ends.packing.bases))
    of_dense = (ends.cuts, *levels, np.uint32(len(ends.cuts) - 1))
    few = _fewest_slots(brief)
    tiers = [  # kernel, threads, arguments of its own, bytes of shared memory
        (f"{name}_dense", sizes.dense_threads, (*of_dense, np.uint32(ends.words)),
         ends.words * (8 if wide else 4)),
        (f"{name}_hashed", min(sizes.dense_threads, launch.THREADS), (np.uint32(slots),),
         slots * slot),
        (f"{name}_brief", _WARP, (np.uint32(few),), few * slot),
    ]  # fmt: skip
    for tier, (kernel_name, threads, own, shared) in enumerate(tiers):
        first, last = cuts[tier], cuts[tier + 1]
        if first == last:
            continue
        kernel, per_sm = kernels[kernel_name], _RESIDENT // threads
        if shared > engine.shared_limit - _KEPT * threads - _SLACK:
            kernel.max_dynamic_shared_size_bytes = shared
        per_sm = max(1, min(per_sm, engine.most_shared // (shared + _KEPT * threads + _SLACK)))
        grid = (min(last - first, engine.sm_count * per_sm),)
        drawn = (asked, order, np.uint32(first), np.uint32(last), tickets[tier : tier + 1])
        kernel(grid, (threads,), (*arrays, *own, *drawn, *found), shared_mem=shared)


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
    cuts = Windows.cut(packing, grid, np.zeros(len(grid)), room, 1).cuts.astype(np.uint32)
    bounds = xp.empty(rows.n * len(cuts), "uint32")
    on_device, numbers = xp.asarray(cuts), (np.uint32(len(cuts)), np.uint64(rows.n))
    kernel = engine.compile(launch.read("wedge_rows.cu"), ("find_bounds",), ())["find_bounds"]
    launch.per_element(kernel, len(bounds), rows.offsets, rows.columns, on_device, *numbers, bounds)
    words = min(room, int(packing.words(np.array(packing.end))))
    return GpuEnds(**vars(ends), cuts=on_device, bounds=bounds, words=words, packing=packing)


def _slots(engine: GpuEngine, slot: int, kept: int) -> int:
    """Return the slots of the largest hash table of a block, a power of two."""
    room = (engine.most_shared - kept - _SLACK) // slot
    return min(_fewest_slots(engine.capacities.dense_wedges - 1), 1 << (room.bit_length() - 1))


def _fewest_slots(wedges: int) -> int:
    """Return the slots of a table that u and the ends of so many wedges fill to three quarters."""
    return 1 << max((4 * (wedges + 1) - 1) // 3, 1).bit_length()


def _kernels(engine: GpuEngine, *, wide: bool = False) -> Mapping[str, Kernel]:
    """Return the kernels of ``similar.cu``, which count middles, or add their values up."""
    options = ("-DRTC_SUMS",) if wide else ()
    return engine.compile(launch.read("similar.cu"), _KERNELS, options)


def tables_bytes(vertices: int) -> int:
    """Return the bytes of the bounds of windows, and of the order of tasks."""
    return model.WINDOW_BOUNDS * vertices
