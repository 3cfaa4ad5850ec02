"""The triangles that changed edges close, on the CUDA engine.

The functions are methods of `rapids_tc.engines.gpu.cuda.CudaEngine`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rapids_tc.engines.neighbor_rows import CHANGE, COUNT, END
from rapids_tc.kernels import launch

if TYPE_CHECKING:
    from rapids_tc.engines.gpu.layout import GpuEngine
    from rapids_tc.engines.neighbor_rows import ChangedEdges, NeighborRows
    from rapids_tc.preparation.csr import Array

_CHUNK = 256  # as in changes.cu


def add_changes(
    engine: GpuEngine,
    near: NeighborRows,
    edges: ChangedEdges,
    states: Array,
    sign: int,
) -> tuple[int, Array]:
    """Count the triangles of changed edges: see `rapids_tc.engines.protocol.Engine`."""
    xp, csr, size = engine.xp, near.csr, len(edges.slots)
    with engine.device(csr.columns):
        total = xp.zeros(1, "uint64")
        lengths = near.lengths(edges.walked, xp)
        chunks = xp.zeros(size + 1, "int64")
        xp.cumsum(-(-lengths // _CHUNK), out=chunks[1:])
        n_chunks = int(chunks[-1])
        if n_chunks:
            rows = (csr.offsets, csr.columns, near.in_offsets, near.in_rows, near.positions)
            added = (near.keys, near.slots, np.uint32(csr.n))
            ends = (edges.walked, edges.hubs, edges.slots, np.uint64(size), lengths)
            walked_keys, _ = near.ranges(edges.walked, xp)
            ranges = (walked_keys, *near.ranges(edges.hubs, xp), chunks, np.uint64(n_chunks))
            counters = (states, np.uint32(sign % 2**32), total)
            kernel = engine.compile(launch.read("changes.cu"), ("add_changes",), ())["add_changes"]
            arguments = (*rows, *added, *ends, *ranges, *counters)
            launch.per_element(kernel, n_chunks * 32, *arguments)
        return int(total[0]), xp.empty(0, "uint32")  # `settle` finds them


def settle(
    engine: GpuEngine,
    near: NeighborRows,
    slots: Array,
    states: Array,
    of_vertex: Array,
) -> tuple[Array, Array, Array, Array]:
    """Move changes to counts: see `rapids_tc.engines.protocol.Engine`."""
    xp = engine.xp
    with engine.device(states):
        slots = xp.flatnonzero(states[:, CHANGE]).astype("uint32")
        u, v = states[slots, END], near.smaller_ends(slots, xp)
        delta = states[slots, CHANGE].view("int32").astype("int64")
        triangles = states[slots, COUNT] + delta
        states[slots, COUNT] = triangles.astype("uint32")
        states[slots, CHANGE] = 0
        for ends in (u, v):
            xp.add.at(of_vertex, ends, delta.view("uint64"))
        return u, v, triangles, delta
