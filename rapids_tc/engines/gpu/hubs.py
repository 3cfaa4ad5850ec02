"""Bit rows of hubs on the CUDA engine: ``hubs.cu`` makes them, and counts edges by them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.engines.gpu.layout import GpuEngine, GpuLayout, HubRows
from rapids_tc.kernels import launch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rapids_tc.kernels.method import Kernel
    from rapids_tc.preparation.csr import Array, Csr

_HUB_THREADS, _BLOCKS_PER_SM = 128, 5  # as in hubs.cu
_MOST_SHARED = 48 * 1024  # bytes of a block's counters
_NONE = 0xFFFFFFFF
Listing = tuple[Any, tuple[Any, ...], int]  # a kernel, its arguments, and words of an item
_KERNELS = ("list_hub_rows", "write_hub_rows", "mark_middles", "count_middles", "count_rows")


def listing(engine: GpuEngine, csr: Csr) -> list[Listing]:
    """Return how the rows that have bits are listed; nothing if the graph is too small."""
    sizes = engine.capacities
    if csr.m < sizes.hubs_from or sizes.hubs > sizes.bits - sizes.bits // 8:
        return []
    kernel = _kernels(engine, f"-DRTC_HUBS={sizes.hubs}")["list_hub_rows"]
    limits = np.uint64(csr.n), np.uint32(sizes.least_hubs)
    return [(kernel, (csr.offsets, csr.columns, *limits), 1)]


def hub_rows(engine: GpuEngine, csr: Csr, rows: Array) -> HubRows | None:
    """Make the bits of the rows that are listed; None if there are none.

    A row of at least `least` hubs takes ``hubs / 8`` bytes: no more than ``hubs / 8 / least`` per
    edge. `places` takes ``4 / least``.
    """
    xp, sizes, n = engine.xp, engine.capacities, len(rows)
    if n == 0:
        return None
    bits = xp.empty((n + 1) * (sizes.hubs // 32), "uint32")
    places = xp.full(csr.m // sizes.least_hubs + 1, _NONE, "uint32")
    made = HubRows(sizes.hubs, sizes.least_hubs, rows, bits, places, xp.empty(n, "uint32"))
    graph, (number, grain) = (csr.offsets, csr.columns), made.arguments[-2:]
    arguments = (*graph, rows, number, grain, places, made.covered, bits)
    launch.per_element(_kernels(engine, made.option)["write_hub_rows"], (n + 1) * 32, *arguments)
    return made


def add_edge_counts(engine: GpuEngine, layout: GpuLayout, counts: Array) -> bool:
    """Add to the counts of edges the triangles that bit rows count; return whether they do.

    The walk leaves these triangles out then.
    """
    hubs, csr, xp = layout.hubs, layout.csr, engine.xp
    tasks, n_tasks = layout.heavy, len(layout.heavy) // 4
    if hubs is None or csr.m < layout.capacities.edge_hubs_from:
        return False
    if n_tasks == 0:
        return True
    kernels, n_rows = _kernels(engine, hubs.option), len(hubs.rows)
    graph, most = (csr.offsets, csr.columns), engine.sm_count * _BLOCKS_PER_SM
    groups = 32 // (hubs.hubs // 128)
    queue, map_bytes, counters = 8 * (8 * groups + 32), hubs.hubs // 8, 4 * hubs.hubs
    middles, tickets = xp.full(csr.n, _NONE, "uint32"), xp.zeros(2, "uint32")

    arguments = (csr.offsets, tasks, np.uint64(n_tasks), *hubs.arguments, middles)
    launch.per_element(kernels["mark_middles"], n_tasks, *arguments)

    arguments = (*graph, layout.in_edges, tasks, np.uint32(n_tasks), *hubs.arguments)
    kernels["count_middles"](
        (min(n_tasks, most),),
        (_HUB_THREADS,),
        (*arguments, tickets[:1], counts),
        shared_mem=_HUB_THREADS // 32 * queue + map_bytes + counters,
    )

    warps = min(_HUB_THREADS // 32, _MOST_SHARED // (queue + counters))
    arguments = (*graph, hubs.rows, middles, *hubs.arguments, tickets[1:], counts)
    kernels["count_rows"](
        (min(-(-n_rows // warps), most * _HUB_THREADS // 32 // warps),),
        (32 * warps,),
        arguments,
        shared_mem=warps * (queue + counters),
    )
    return True


def _kernels(engine: GpuEngine, option: str) -> Mapping[str, Kernel]:
    """Return the kernels of ``hubs.cu``."""
    return engine.compile(launch.read("hubs.cu"), _KERNELS, (option,))
