"""The triangles that changed edges close, on the CUDA engine.

The functions are methods of `rapids_tc.engines.gpu.cuda.CudaEngine`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.engines.neighbor_rows import LIVE, RowSlots
from rapids_tc.kernels import launch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rapids_tc.engines.gpu.layout import GpuEngine
    from rapids_tc.engines.neighbor_rows import NeighborRows
    from rapids_tc.kernels.method import Kernel
    from rapids_tc.preparation.csr import Array

_EDGE_WORDS, _TILE = 7, 2048  # as in changes.cu, and in block.cuh
_BLOCKS_PER_SM = 8
_KERNELS = ("find_slots", "claim", "add_changes", "end_changes", "settle", "settle_vertices")


def find_slots(
    engine: GpuEngine, near: NeighborRows, u: Array, v: Array, states: Array
) -> RowSlots:
    """Find the slots of pairs of vertices: see `rapids_tc.engines.protocol.Engine`."""
    xp, size = engine.xp, len(u)
    with engine.device(states):
        slots, found = xp.empty(size, "int64"), xp.zeros(3, "uint64")
        arguments = (_rows(near), u, v, np.uint64(size), states, slots, found)
        launch.per_element(_kernels(engine)["find_slots"], size, *arguments)
        return RowSlots(slots, *found.tolist())


def add_changes(
    engine: GpuEngine, near: NeighborRows, slots: Array, states: Array, sign: int
) -> tuple[int, int]:
    """Count the triangles of edges that change: see `rapids_tc.engines.protocol.Engine`.

    What `settle` needs is how many slots have a change, at most.
    """
    xp, size, rows, kernels = engine.xp, len(slots), _rows(near), _kernels(engine)
    before, after = (LIVE, 0) if sign < 0 else (0, LIVE)
    with engine.device(states):
        counts = xp.zeros(3, "uint64")
        n_edges, found = counts[:1].view("uint32"), counts[1:]
        edges, chunks = xp.empty(_EDGE_WORDS * size, "uint32"), xp.zeros(size, "int64")
        m, n_rows = np.uint64(near.csr.m), np.uint64(size)
        claimed = (np.uint32(before), m, near.added, states, edges, chunks, n_edges)
        launch.per_element(kernels["claim"], size, rows, slots, n_rows, *claimed)
        starts = xp.zeros(size + 1, "int64")
        xp.cumsum(chunks, out=starts[1:])
        arguments = (edges, starts, n_rows, states, np.uint32(sign % 2**32), found)
        blocks = engine.sm_count * _BLOCKS_PER_SM
        kernels["add_changes"]((blocks,), (launch.THREADS,), (rows, *arguments))
        ended = (edges, n_edges, np.uint32(after), states)
        launch.per_element(kernels["end_changes"], size, *ended)
        changed, triangles = found.tolist()
        return triangles, changed


def settle(
    engine: GpuEngine,
    near: NeighborRows,
    changed: list[int],
    states: Array,
    of_vertex: Array,
    at_vertex: Array,
) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
    """Move changes to counts: see `rapids_tc.engines.protocol.Engine`."""
    xp, csr, kernels = engine.xp, near.csr, _kernels(engine)
    n_edges, n_slots = sum(changed), len(states)
    n_vertices = min(near.size, 2 * n_edges)
    with engine.device(states):
        counts = xp.zeros(2, "uint32")
        edges, vertices = _lists(xp, n_edges, 2), _lists(xp, n_vertices, 1)
        if n_edges:
            blocks = min(-(-n_slots // _TILE), engine.sm_count * _BLOCKS_PER_SM)
            slots = (states, np.uint64(n_slots), np.uint64(csr.m), csr.columns, near.added)
            of_edges = (*slots, of_vertex, *edges, counts[:1])
            kernels["settle"]((blocks,), (launch.THREADS,), of_edges)
            of_ends = (of_vertex, at_vertex, np.uint64(near.size), *vertices, counts[1:])
            launch.per_element(kernels["settle_vertices"], near.size, *of_ends)
        edges_changed, vertices_changed = counts.tolist()
        return (
            tuple(array[:edges_changed] for array in edges),
            tuple(array[:vertices_changed] for array in vertices),
        )


def _lists(xp: Any, size: int, ends: int) -> list[Array]:
    """Make the arrays in which vertices are listed, or ends of edges, and their numbers."""
    names = [xp.empty(size, "uint32") for _ in range(ends)]
    return [*names, *(xp.empty(size, "int64") for _ in range(2))]


def _rows(near: NeighborRows) -> np.ndarray:
    """Return the rows of all neighbors as the struct of ``changes.cu``."""
    csr = near.csr
    arrays = (csr.columns, near.in_offsets, near.in_rows, near.positions, near.keys, near.slots)
    sizes = np.uint32(csr.n), np.uint32(len(near.keys))
    return launch.Payload((*arrays, *sizes)).pack(csr.offsets)


def _kernels(engine: GpuEngine) -> Mapping[str, Kernel]:
    """Return the kernels of ``changes.cu``."""
    return engine.compile(launch.read("changes.cu"), _KERNELS, ())
