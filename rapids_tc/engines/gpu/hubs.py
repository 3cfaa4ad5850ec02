"""Bit rows of hubs on the CUDA engine: ``hubs.cu`` makes them, and counts edges by them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rapids_tc.engines.gpu.layout import GpuEngine, HubRows, Layout
from rapids_tc.kernels import launch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rapids_tc.kernels.method import Kernel
    from rapids_tc.preparation.csr import Array, Csr

_THREADS, _HUB_THREADS, _BLOCKS_PER_SM = 256, 128, 5  # as in tile.cuh and hubs.cu
_MOST_SHARED = 48 * 1024  # bytes of a block's counters
_NONE = 0xFFFFFFFF
_KERNELS = ("list_hub_rows", "write_hub_rows", "mark_middles", "count_middles", "count_rows")


def hub_rows(engine: GpuEngine, csr: Csr) -> HubRows | None:
    """Make the bit rows of a graph; None if it is too small for them to pay.

    A row of at least `least` hubs takes ``hubs / 8`` bytes: no more than ``hubs / 8 / least`` per
    edge; and while all are listed, `rows` and `places` take ``4 / least`` each.
    """
    sizes, xp = engine.capacities, engine.xp
    if csr.m < sizes.hubs_from or sizes.hubs > sizes.bits - sizes.bits // 8:
        return None
    kernels, graph = _kernels(engine, f"-DRTC_HUBS={sizes.hubs}"), (csr.offsets, csr.columns)
    most = csr.m // sizes.least_hubs  # rows
    count, rows = xp.zeros(1, "uint32"), xp.empty(most, "uint32")
    limits = (np.uint64(csr.n), np.uint32(sizes.least_hubs), np.uint32(most))
    grid = (-(-csr.n // _THREADS),)
    if most:
        kernels["list_hub_rows"](grid, (_THREADS,), (*graph, *limits, count, rows))
    n = int(count[0])
    if n == 0:
        return None
    bits = xp.empty((n + 1) * (sizes.hubs // 32), "uint32")
    places, covered = xp.full(most + 1, _NONE, "uint32"), xp.empty(n, "uint32")
    made = HubRows(sizes.hubs, sizes.least_hubs, rows[:n], bits, places, covered)
    number, grain = made.arguments[-2:]
    arguments = (*graph, rows, number, grain, places, covered, bits)
    kernels["write_hub_rows"]((-(-(n + 1) * 32 // _THREADS),), (_THREADS,), arguments)
    return made


def add_edge_counts(engine: GpuEngine, layout: Layout, counts: Array) -> bool:
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

    grid = (-(-n_tasks // _THREADS),)
    arguments = (csr.offsets, tasks, np.uint64(n_tasks), *hubs.arguments, middles)
    kernels["mark_middles"](grid, (_THREADS,), arguments)

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
