"""The CUDA engine's triangles one by one: listed, or summed over with values of their sides.

Functions of a `rapids_tc.engines.gpu.cuda.CudaEngine`, which has them as its methods.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rapids_tc.engines.protocol import ProgressCallback
from rapids_tc.kernels import catalogue, launch
from rapids_tc.preparation.csr import Array

_THREADS, _BLOCKS_PER_SM = 256, 8  # of list.cu's kernels


def triangles_per_in_edge(
    engine: Any, layout: Any, *, on_progress: ProgressCallback | None = None
) -> Array:
    """The triangles that each in-edge closes: uint32, in the order of the layout."""
    with engine.device(layout.csr.columns):
        counts = engine.xp.zeros(layout.csr.m, "uint32")
        launch.run(
            engine,
            layout,
            catalogue.find("auto", returns="edges"),
            "InEdgeCounts",
            counts,
            on_progress,
        )
        positions = layout.in_edges >> 32
        positions += layout.in_edges & 0xFFFFFFFF
        return counts[positions.view("int64")]


def list_triangles(engine: Any, layout: Any, starts: Array, first: int, last: int) -> Array:
    """The ranks u > v > w of triangles `first` to `last` - 1: uint32, shape (3, last - first)."""
    xp = engine.xp
    with engine.device(layout.csr.columns):
        ranks = xp.empty((3, last - first), "uint32")
        ends = xp.searchsorted(starts, xp.asarray([first, last - 1]), side="right").tolist()
        limits = np.int64(first), np.int64(last)
        edges = ends[0] - 1, ends[1]  # the in-edge of the first one, and past that of the last
        if first < last:
            _launch(engine, "list_triangles", layout, edges, (starts,), (*limits, ranks))
        return ranks


def vertex_sums(
    engine: Any, layout: Any, sides: Array, *, on_progress: ProgressCallback | None = None
) -> Array:
    """For each rank the sum, over its triangles, of the products of their sides' values."""
    with engine.device(layout.csr.columns):
        sums = engine.xp.zeros(layout.csr.n, "float64")
        slices, m = launch.SLICES if on_progress else 1, layout.csr.m
        for part in range(slices):
            edges = m * part // slices, m * (part + 1) // slices
            _launch(engine, "vertex_sums", layout, edges, (), (sides, sums))
            if on_progress:
                engine.wait()
                on_progress((part + 1) / slices)
        return sums


def _launch(
    engine: Any, name: str, layout: Any, edges: tuple[int, int], before: Any, after: Any
) -> None:
    """Launch a kernel of list.cu with a warp an in-edge, as many as the card holds at a time."""
    first, last = edges
    if first == last:
        return
    graph, warps = layout.csr, _THREADS // 32
    blocks = min(-(-(last - first) // warps), engine.sm_count * _BLOCKS_PER_SM)
    given = (graph.offsets, np.uint64(graph.n), graph.columns, layout.in_edges, *before)
    _kernels(engine)[name](
        (blocks,), (_THREADS,), (*given, np.uint64(first), np.uint64(last), *after)
    )


def _kernels(engine: Any) -> Mapping[str, Any]:
    return engine.compile(launch.read("list.cu"), ("list_triangles", "vertex_sums"), ())
