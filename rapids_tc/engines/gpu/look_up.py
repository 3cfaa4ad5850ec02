"""The edges of pairs of vertices, and values of these edges, on the CUDA engine.

The functions are methods of `rapids_tc.engines.gpu.cuda.CudaEngine`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.engines.protocol import take_columns
from rapids_tc.frames.backend import as_names
from rapids_tc.kernels import launch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rapids_tc.engines.gpu.layout import GpuEngine
    from rapids_tc.engines.protocol import RowColumn
    from rapids_tc.preparation.csr import Array, Csr

_EVERY = 16  # as in look_up.cu
_KERNELS = ("write_heads", "locate", "take8", "take32", "take64")


def find_edges(engine: GpuEngine, csr: Csr, u: Array, v: Array, rank: Array | None = None) -> Array:
    """Find the position in ``csr.columns`` of the edge {u, v} of pairs of ranks; -1 if none.

    With `rank`, the pairs are numbers of vertices, whose ranks it holds.
    """
    xp, m, size = engine.xp, csr.m, len(u)
    with engine.device(csr.columns):
        heads = xp.empty(-(-m // _EVERY) if m >= engine.capacities.heads_from else 0, "uint32")
        _run(engine, "write_heads", len(heads), csr.columns, np.uint64(m), heads)
        graph = (csr.offsets, csr.columns, np.uint64(m), heads, np.uint64(len(heads)))
        ranks = heads[:0] if rank is None else rank
        ends = (as_names(u), as_names(v), np.uint64(size))
        positions = xp.empty(size, "int64")
        sizes = (np.uint64(csr.n), ranks, np.uint64(len(ranks)))
        _run(engine, "locate", size, *graph, *sizes, *ends, positions)
        return positions


def take(engine: GpuEngine, values: Array, positions: Array) -> Array:
    """Return the value at each position (int32 or int64), and 0 for the position -1."""
    with engine.device(values):
        size, bits = len(positions), 8 * values.itemsize
        taken = engine.xp.empty(size, values.dtype)
        source, target = (array.view(f"uint{bits}") for array in (values, taken))
        sizes = np.uint32(positions.itemsize // 4), np.uint64(size)
        _run(engine, f"take{bits}", size, source, positions.view("int32"), *sizes, target)
        return taken


def row_values(
    engine: GpuEngine, csr: Csr, u: Array, v: Array, rank: Array, columns: Sequence[RowColumn]
) -> list[Array]:
    """Find the edge of each row, and return its value of every column."""
    return take_columns(engine, find_edges(engine, csr, u, v, rank), columns)


def _run(engine: GpuEngine, kernel: str, size: int, *arguments: Any) -> None:
    """Launch a kernel of ``look_up.cu`` with a thread per element."""
    kernels = engine.compile(launch.read("look_up.cu"), _KERNELS, ())
    launch.per_element(kernels[kernel], size, *arguments)
