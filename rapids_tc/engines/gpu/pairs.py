"""What the neighbors of two vertices have in common, for pairs of vertices, on the CUDA engine.

The functions are methods of `rapids_tc.engines.gpu.cuda.CudaEngine`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rapids_tc.engines.gpu import block_layout
from rapids_tc.frames.backend import as_uint32
from rapids_tc.kernels import launch
from rapids_tc.preparation.csr import Csr, pack_keys

if TYPE_CHECKING:
    from rapids_tc.engines.gpu.layout import GpuEngine
    from rapids_tc.preparation.csr import Array

_LANES = 8  # as in pairs.cu
_LOW = np.uint64(2**32 - 1)


def neighbors(engine: GpuEngine, csr: Csr) -> Csr:
    """Return the rows of all neighbors of every rank, ascending: first the lower ranks."""
    xp = engine.xp
    with engine.device(csr.columns):
        grouped = block_layout.to_csc(engine, csr)
        in_offsets, columns = grouped.offsets.astype("int64"), xp.empty(2 * csr.m, "uint32")
        columns[xp.arange(csr.m) + in_offsets[csr.rows]] = csr.columns
        larger = (grouped.packed >> 32).view("int64")
        larger += 1
        places = csr.offsets[larger]
        del larger
        places += xp.arange(csr.m)
        columns[places] = grouped.packed.astype("uint32")
        return Csr(csr.offsets + in_offsets, columns)


def common_sums(engine: GpuEngine, rows: Csr, u: Array, v: Array, values: Array) -> Array:
    """Sum a value of the common neighbors of pairs of ranks: int64."""
    xp, u, v = engine.xp, as_uint32(u), as_uint32(v)
    with engine.device(rows.columns):
        keys = pack_keys(xp.minimum(u, v), xp.maximum(u, v), xp)
        pairs, place = xp.unique(keys, return_inverse=True)  # equal pairs are compared once
        size = len(pairs)
        sums = xp.empty(size, "int64")
        kernel = engine.compile(launch.read("pairs.cu"), ("common_sums",), ())["common_sums"]
        ends = as_uint32(pairs >> 32), as_uint32(pairs & _LOW), np.uint64(size)
        arguments = (*ends, values, np.uint32(len(values) > 0), sums)
        launch.per_element(kernel, size * _LANES, rows.offsets, rows.columns, *arguments)
        return sums[place]
