"""Truss communities of all levels, on the CUDA engine: the launches of ``levels.cu``.

`join_levels` is a method of `rapids_tc.engines.gpu.cuda.CudaEngine`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.engines.protocol import column_counts
from rapids_tc.kernels import launch
from rapids_tc.preparation.community_tree import words_of

if TYPE_CHECKING:
    from rapids_tc.engines.gpu.layout import GpuEngine
    from rapids_tc.engines.protocol import ProgressCallback
    from rapids_tc.preparation.csr import Array, Csr

_KERNELS = ("add_edges", "join_edges", "hang_edges")
_BUCKET, _NONE, _WARP = 8, 2**32 - 1, 32  # as in levels.cu


def join_levels(
    engine: GpuEngine, csr: Csr, levels: Array, *, on_progress: ProgressCallback | None = None
) -> Array:
    """Join the sides of triangles, level by level; return the word of every edge: uint64, m."""
    xp = engine.xp
    with engine.device(csr.columns):
        kernels = engine.compile(launch.read("levels.cu"), _KERNELS, ())
        order, bounds = _by_level(levels, xp)
        parents, rows = xp.arange(csr.m, dtype="uint32"), _rows(engine, csr)
        ends, forest = (csr.rows, csr.columns), (xp.full(csr.m, _NONE, "uint32"), parents, levels)
        for first, last in bounds:
            size = last - first
            edges = (*ends, order[first:last], np.uint32(size))
            launch.per_element(kernels["add_edges"], size, *edges, *rows)
            launch.per_element(kernels["join_edges"], _WARP * size, *edges, *rows, *forest)
            launch.per_element(kernels["hang_edges"], size, *edges[2:], *forest)
            if on_progress is not None:
                on_progress((csr.m - first) / csr.m)
        del ends, rows, order, edges, forest
        return words_of(parents, levels, xp)


def _by_level(levels: Array, xp: Any) -> tuple[Array, list[tuple[int, int]]]:
    """Order the edges by level (uint32); return where each level begins and ends, highest first.

    Level 0 is none of these.
    """
    order = xp.argsort(levels)
    ordered = levels[order]
    order = order.astype("uint32")
    top = int(ordered[-1]) if len(levels) else 0
    cuts = xp.searchsorted(ordered, xp.arange(1, top + 2, dtype="uint32")).tolist()
    levels_of_edges = ((cuts[level - 1], cuts[level]) for level in range(top, 0, -1))
    return order, [(first, last) for first, last in levels_of_edges if first < last]


def _rows(engine: GpuEngine, csr: Csr) -> tuple[Array, ...]:
    """Make empty rows and tables with room for all edges, as ``truss.cuh`` has them."""
    xp, n = engine.xp, csr.n
    below = xp.diff(csr.offsets)
    degrees = below + column_counts(engine, csr, n)
    begin = (xp.cumsum(degrees) - degrees).astype("uint32")
    buckets = (below + below // 2 + _BUCKET - 1) // _BUCKET
    ends = xp.cumsum(buckets)
    slots = _BUCKET * int(ends[-1]) if n else 0
    tables = xp.empty((n, 2), "uint32")  # the first bucket, and how many there are
    tables[:, 0], tables[:, 1] = ends - buckets, buckets
    keys, edges = xp.full(slots, _NONE, "uint32"), xp.empty(slots, "uint32")
    return begin, xp.zeros(n, "uint32"), tables, keys, edges, xp.empty(2 * csr.m, "uint64")
