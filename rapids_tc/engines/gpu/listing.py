"""Triangles one by one on the CUDA engine: listed, or summed over with values of their sides.

`triangles_per_in_edge` and `list_triangles` are methods of
`rapids_tc.engines.gpu.cuda.CudaEngine`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.engines.gpu import grouping
from rapids_tc.engines.gpu.block_layout import align
from rapids_tc.kernels import catalogue, launch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rapids_tc.engines.gpu.layout import GpuEngine, GpuLayout
    from rapids_tc.engines.protocol import ProgressCallback
    from rapids_tc.engines.quantity import Quantity
    from rapids_tc.kernels.method import Kernel
    from rapids_tc.preparation.csr import Array

_BLOCKS_PER_SM = 8  # blocks that fill a multiprocessor


def triangles_per_in_edge(
    engine: GpuEngine, layout: GpuLayout, *, on_progress: ProgressCallback | None = None
) -> Array:
    """Count the triangles of each in-edge: uint32, in the order of the layout.

    The layout is put in order first: frames of triangles are the same on every run.
    """
    blocks = layout.blocks
    with engine.device(layout.csr.columns):
        grouping.sort(engine, layout)
        size = layout.csr.m + (0 if blocks is None else len(layout.in_edges))
        counts = engine.xp.zeros(size, "uint32")
        launch.run(
            engine,
            layout,
            catalogue.find("auto", returns="edges"),
            "InEdgeCounts",
            counts,
            on_progress=on_progress,
        )
        if blocks is not None:
            return counts[layout.csr.m :]  # behind the columns: the in-edges in their order
        positions = layout.in_edges >> 32
        positions += layout.in_edges & 0xFFFFFFFF
        return counts[positions.view("int64")]


def list_triangles(
    engine: GpuEngine, layout: GpuLayout, starts: Array, first: int, last: int
) -> Array:
    """List the ranks u > v > w of triangles `first` to `last` - 1: uint32, (3, last - first).

    On blocks, list u by row of uv, v by column of uv, and w by column of uw.
    """
    xp, blocks = engine.xp, layout.blocks
    of_blocks = (None, np.uint32(0)) if blocks is None else (blocks.packed, np.uint32(blocks.shift))
    with engine.device(layout.csr.columns):
        ranks = xp.empty((3, last - first), "uint32")
        ends = xp.searchsorted(starts, xp.asarray([first, last - 1]), side="right").tolist()
        limits = np.int64(first), np.int64(last)
        edges = ends[0] - 1, ends[1]  # from the first triangle's in-edge to the last triangle's
        if first < last:
            _launch(
                engine, layout, "list_triangles", edges, starts, after=(*limits, ranks, *of_blocks)
            )
        return ranks


def vertex_sums(
    engine: GpuEngine, layout: GpuLayout, quantity: Quantity, sides: Any,
    *, on_progress: ProgressCallback | None,
) -> Any:  # fmt: skip
    """Sum for each rank, over its triangles, the products of the values of their sides."""
    xp, blocks = engine.xp, layout.blocks
    with engine.device(layout.csr.columns):
        values = align(engine, layout, sides, quantity.value)
        if blocks is None:
            sums = (quantity.start(layout.csr.n, xp),) * 3
            edges: tuple[Any, ...] = (None, np.uint64(0), np.uint32(0))
        else:
            lengths = (blocks.uv.n, layout.csr.n - blocks.shift, layout.csr.n)
            sums = tuple(quantity.start(length, xp) for length in lengths)
            edges = (blocks.packed, np.uint64(layout.csr.m), np.uint32(blocks.shift))
        slices, m = launch.SLICES if on_progress else 1, len(layout.in_edges)
        for part in range(slices):
            bounds = m * part // slices, m * (part + 1) // slices
            _launch(engine, layout, "vertex_sums", bounds, after=(values, *sums, *edges))
            if on_progress:
                engine.wait()
                on_progress((part + 1) / slices)
        return sums[0] if blocks is None else sums


def _launch(
    engine: GpuEngine,
    layout: GpuLayout,
    name: str,
    edges: tuple[int, int],
    *before: Array,
    after: tuple[Any, ...],
) -> None:
    """Launch a kernel of ``list.cu`` with a warp per in-edge, as many as the GPU holds at once.

    `before` and `after` are the kernel's arguments on both sides of the range of in-edges.
    """
    first, last = edges
    if first == last:
        return
    graph, warps = layout.csr, launch.THREADS // 32
    blocks = min(-(-(last - first) // warps), engine.sm_count * _BLOCKS_PER_SM)
    arrays = (graph.offsets, np.uint64(graph.n), graph.columns, layout.in_edges, *before)
    _kernels(engine)[name](
        (blocks,), (launch.THREADS,), (*arrays, np.uint64(first), np.uint64(last), *after)
    )


def _kernels(engine: GpuEngine) -> Mapping[str, Kernel]:
    """Return the kernels of ``list.cu``."""
    return engine.compile(launch.read("list.cu"), ("list_triangles", "vertex_sums"), ())
