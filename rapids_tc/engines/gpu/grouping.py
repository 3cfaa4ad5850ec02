"""The in-edges of a whole graph, grouped by pivot vertex: moved to their places, or sorted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rapids_tc.kernels import launch

if TYPE_CHECKING:
    from rapids_tc.engines.gpu.layout import GpuEngine, GpuLayout
    from rapids_tc.preparation.csr import Array, Csr

_GROUPS, _COUNT_THREADS = 256, 1024  # as in group.cu
_TILE = 12 * launch.THREADS  # in-edges that a thread block moves
_COUNT_BLOCKS = 2  # of a multiprocessor, which count columns
_KERNELS = ("count_columns", "group_starts", "part_columns", "place_rows")

Grouped = tuple["Array", "Array", "Array"]  # in_edges, in_offsets, and probes by pivot vertex


def group(engine: GpuEngine, csr: Csr) -> Grouped:
    """Group all in-edges by pivot vertex without a sort: 8 bytes per edge, 16 at the peak.

    In-edges of low ranks are moved to their places by ``group.cu``; the others are sorted.
    """
    xp, n, m = engine.xp, csr.n, np.uint64(csr.m)
    kernels = engine.compile(launch.read("group.cu"), _KERNELS, ())
    hot = min(n, engine.capacities.hot)
    in_offsets = _count_columns(engine, csr)
    rest = csr.m - int(in_offsets[hot]) if hot < n else 0
    words, probes = _row_words(engine, csr), xp.zeros(n, "uint64")
    in_edges, parted = xp.empty(csr.m, "uint64"), xp.empty(csr.m - rest, "uint64")
    cold = in_edges[csr.m - rest :]
    free, tiles = (xp.empty(_GROUPS + 1, "uint32") for _ in range(2))
    sizes = (np.uint64(n), np.uint32(hot))
    kernels["group_starts"]((1,), (launch.THREADS,), (in_offsets, *sizes, free, tiles))
    arguments = (csr.columns, words, m, np.uint32(hot), free, parted, cold)
    kernels["part_columns"]((-(-csr.m // _TILE),), (launch.THREADS,), arguments)
    free = in_offsets.copy()
    arguments = (parted, in_offsets, np.uint64(n), tiles, free, in_edges, probes)
    kernels["place_rows"]((-(-len(parted) // _TILE) + _GROUPS,), (launch.THREADS,), arguments)
    del parted
    if rest:
        cold.sort()
        engine.step("describe_in_edges", rest, cold, words, np.uint64(rest), probes)
    return in_edges, in_offsets, probes


def describe(engine: GpuEngine, csr: Csr, packed: Array) -> Grouped:
    """Make the in-edges of sorted packed edges, v << 32 | position, in their place."""
    xp, n, size = engine.xp, csr.n, np.uint64(len(packed))
    in_offsets, probes = xp.empty(n + 1, "uint32"), xp.zeros(n, "uint64")
    engine.step("find_in_edges", n + 1, packed, size, np.uint64(n), in_offsets)
    words = _row_words(engine, csr)
    engine.step("describe_in_edges", len(packed), packed, words, size, probes)
    return packed, in_offsets, probes


def sort(engine: GpuEngine, layout: GpuLayout) -> None:
    """Put the in-edges of a graph in the order of their rows, the same on every run, in place."""
    if layout.complete and len(layout.in_edges) >= engine.capacities.grouped_from:
        csr = layout.csr
        packed, m = layout.in_edges, np.uint64(csr.m)
        engine.step("pack_in_edges", csr.m, csr.columns, m, packed)
        packed.sort()
        probes = engine.xp.zeros(csr.n, "uint64")
        engine.step("describe_in_edges", csr.m, packed, _row_words(engine, csr), m, probes)


def _count_columns(engine: GpuEngine, csr: Csr) -> Array:
    """Find where the in-edges of each pivot vertex begin: uint32, shape (n + 1,)."""
    xp, kernel = engine.xp, engine.compile(launch.read("group.cu"), _KERNELS, ())["count_columns"]
    shared = min(csr.n, engine.capacities.counted, engine.most_shared // 8)
    if 4 * shared > engine.shared_limit:
        kernel.max_dynamic_shared_size_bytes = 4 * shared
    counts = xp.zeros(csr.n + 1, "uint32")
    blocks = min(_COUNT_BLOCKS * engine.sm_count, -(-csr.m // _COUNT_THREADS))
    arguments = (csr.columns, np.uint64(csr.m), np.uint32(shared), counts[1:])
    kernel((blocks,), (_COUNT_THREADS,), arguments, shared_mem=4 * shared)
    return xp.cumsum(counts, dtype="uint32")


def _row_words(engine: GpuEngine, csr: Csr) -> Array:
    """Make the words of ``row_words.cuh``, from which the row of any position is read."""
    words = engine.xp.zeros(2 * (csr.m // 32 + 1), "uint32")
    engine.step("row_words", csr.n, csr.offsets, np.uint64(csr.n), words)
    return words
