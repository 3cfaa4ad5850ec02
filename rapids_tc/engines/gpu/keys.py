"""Raw rows → degrees, and keys → CSR on the CUDA engine.

Most functions are methods of `rapids_tc.engines.gpu.cuda.CudaEngine`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rapids_tc.engines.gpu import partition
from rapids_tc.errors import CapacityError, require_unchanged
from rapids_tc.frames.backend import as_names
from rapids_tc.kernels import launch, raw_rows
from rapids_tc.plan import costs as model
from rapids_tc.preparation.csr import Array, Csr

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rapids_tc.engines.gpu.layout import GpuEngine
    from rapids_tc.kernels.method import Kernel

_TILE, _SCAN_THREADS = 2048, 1024  # as in block.cuh and csr.cu
_KERNELS = (
    "count_kept",
    "scan_counts",
    "write_rows",
    "count_keys",
    "count_tile",
    "count_sides",
)
# Kernels number them in 32 bits.
MOST_EDGES, _MOST_RANKS = model.MOST_GRAPH_ROWS["cuda"], model.MOST_GPU_RANKS
IN_BLOCKS = "a function that is given the frame itself and memory_limit= counts more, in blocks"


def degrees(
    engine: GpuEngine, src: Array, dst: Array, size: int, out: Array = None
) -> tuple[Array, int]:
    """Count how often each number below `size` stands in either array, and how many do.

    The numbers of many rows that are copied to `out` are counted in buckets, in shared memory, with
    4 bytes per row; other numbers by atomics.
    """
    xp, compile = engine.xp, engine.compile
    with engine.device(src):
        zeros = xp.zeros(2 + size, "uint32")  # in one array, as an array costs a small call much
        counts, degree = zeros[:2], zeros[2:]
        if out is None:
            for ends in (src, dst):
                array = (as_names(ends), np.uint64(len(ends)))
                engine.step("count_ends", len(ends), *array, degree, np.uint64(size), counts[1:])
        elif len(src) >= engine.capacities.bucketed_from and _has_buckets(engine, size):
            read = (compile, xp, (src, dst), degree, out, counts[1:])
            raw_rows.count_in_buckets(*read, engine.scan, 4 * engine.sm_count)
        else:
            raw_rows.read_ends(compile, xp, (src, dst), size, out, counts[1:], degree)
        engine.step("count_present", size, degree, np.uint64(size), counts)
        present, outside = counts.tolist()
        require_unchanged(outside)
        return degree, present


def csr(engine: GpuEngine, keys: Array, n: int) -> Csr:
    """Build the CSR of `n` ranks from packed keys, larger rank << 32 | smaller rank.

    Repeats and loops are dropped; the content of `keys` is undefined afterwards. Beside a sort in
    place, this takes 4 bytes per edge and 8 per rank.
    """
    return _csr(engine, keys, n, numbered=False)[0]


def csr_of_rows(engine: GpuEngine, keys: Array, n: int) -> tuple[Csr, Array | None]:
    """Build the CSR, and find the position of the edge of each key: int32, and -1 for loops.

    None if a search in the CSR is left to do it: keys are few, or were sorted in place.
    """
    return _csr(engine, keys, n, numbered=True)


def _csr(engine: GpuEngine, keys: Array, n: int, *, numbered: bool) -> tuple[Csr, Array | None]:
    """Build the CSR, and if asked for the positions of `csr_of_rows`."""
    xp, size = engine.xp, len(keys)
    if size >= MOST_EDGES or n >= _MOST_RANKS:
        raise CapacityError(
            f"{size:,} rows over {n:,} vertices: one GPU takes fewer than "
            f"{MOST_EDGES:,} rows and {_MOST_RANKS:,} vertices; {IN_BLOCKS}"
        )
    with engine.device(keys):
        if not size:
            return Csr(xp.zeros(n + 1, "int64"), xp.empty(0, "uint32")), None
        if partition.pays(engine, size, n, numbered=numbered):
            made = partition.csr(engine, keys, n, numbered=numbered)
            if made is not None:
                return made
        counts = xp.zeros(tiles(size) + 2, "uint32")
        count_kept(engine, keys, n, counts)
        m, outside = counts[-2:].tolist()
        require_unchanged(outside)
        offsets, columns = xp.empty(n + 1, "int64"), xp.empty(m, "uint32")
        return write_rows(engine, keys, counts, offsets, columns), None


def is_small(engine: GpuEngine, rows: int, n: int) -> bool:
    """Return whether lists are best merged by a thread per edge, without a layout."""
    sizes = engine.capacities
    return rows <= sizes.small or rows <= min(sizes.small_sparse, sizes.sparse * n)


def count_sides(engine: GpuEngine, csr: Csr, counts: Array) -> None:
    """Add to counts (uint32, zeros) the triangles of each edge of a small graph."""
    arguments = (csr.offsets, csr.columns, np.uint64(csr.n), np.uint64(csr.m), counts)
    launch.per_element(kernels(engine)["count_sides"], csr.m, *arguments)


def scan(engine: GpuEngine, counts: Array, size: int) -> None:
    """Turn `size` counts into the sums of the counts before them, and of all at the end."""
    kernels(engine)["scan_counts"]((1,), (_SCAN_THREADS,), (counts, np.uint32(size)))


def tiles(size: int) -> int:
    """Return the thread blocks of so many keys."""
    return -(-size // _TILE)


def count_kept(engine: GpuEngine, keys: Array, n: int, counts: Array) -> None:
    """Sort keys; count the kept ones: before each tile, in all, and at the end keys outside."""
    keys.sort()
    arguments = (keys, np.uint64(len(keys)), np.uint64(n), counts, counts[-1:])
    kernels(engine)["count_kept"]((tiles(len(keys)),), (launch.THREADS,), arguments)
    scan(engine, counts, tiles(len(keys)))


def write_rows(
    engine: GpuEngine, keys: Array, counts: Array, offsets: Array, columns: Array
) -> Csr:
    """Write the CSR of sorted keys, from what `_count_kept` counts."""
    n = np.uint64(len(offsets) - 1)
    arguments = (keys, np.uint64(len(keys)), counts, n, columns, offsets)
    kernels(engine)["write_rows"]((tiles(len(keys)),), (launch.THREADS,), arguments)
    return Csr(offsets, columns)


def kernels(engine: GpuEngine) -> Mapping[str, Kernel]:
    """Return the kernels of ``csr.cu``."""
    return engine.compile(launch.read("csr.cu"), _KERNELS, ())


def _has_buckets(engine: GpuEngine, size: int) -> bool:
    """Return whether shared memory holds the counts of a bucket of so many numbers."""
    bits = raw_rows.bucket_bits(size)
    return bits <= 16 and raw_rows.bucket_bytes(size) <= engine.most_shared
