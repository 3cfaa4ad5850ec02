"""The CUDA engine on blocks and on ranges of pivot vertices: ``blocks.cu`` makes their in-edges.

The functions are methods of `rapids_tc.engines.gpu.cuda.CudaEngine`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.engines.gpu.layout import Blocks, GpuEngine, GpuLayout, SlotView
from rapids_tc.engines.protocol import PivotRange, Residues, shifts
from rapids_tc.errors import CapacityError
from rapids_tc.kernels import launch
from rapids_tc.plan.costs import MOST_POSITIONS
from rapids_tc.preparation.csr import Array, Csr

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rapids_tc.kernels.method import Kernel

_EACH = 8  # as in block.cuh
_SPLIT_BYTES = 12  # of shared memory, for each block that split_rows writes
_KERNELS = (
    "split_rows",
    "pack_middles",
    "pack_rows",
    "write_codes",
    "describe_rows",
    "unpack_counts",
    "locate_packed",
    "sum_counts",
    "sum_wide_counts",
)


@dataclass(frozen=True)
class InEdges:
    """The edges of a block uv grouped by v, for every block uw and vw that uv meets.

    Attributes
    ----------
    csr : Csr
        The block.
    packed : array of uint64
        v << 32 | row, ascending.
    offsets : array of uint32, shape (n + 1,)
        The edges of ``v`` are ``packed[offsets[v]:offsets[v + 1]]``.
    """

    csr: Csr
    packed: Array
    offsets: Array


def to_csc(engine: GpuEngine, uv: Csr) -> InEdges:
    """Group the edges of a block by pivot vertex: 8 bytes per edge, 16 at the peak."""
    xp, n, m = engine.xp, np.uint64(uv.n), np.uint64(uv.m)
    with engine.device(uv.columns):
        packed, offsets = xp.empty(uv.m, "uint64"), xp.empty(uv.n + 1, "uint32")
        _step(engine, "pack_rows", -(-uv.m // _EACH), uv.offsets, uv.columns, n, m, packed)
        packed.sort()
        engine.step("find_in_edges", uv.n + 1, packed, m, n, offsets)
        return InEdges(uv, packed, offsets)


def csc(engine: GpuEngine, csr: Csr) -> tuple[Array, Array, Array]:
    """Return the CSC of a graph: see `rapids_tc.engines.protocol.Engine`."""
    grouped = to_csc(engine, csr)
    with engine.device(csr.columns):
        positions = _locate(engine, csr, grouped.packed)
        return grouped.offsets.astype("int64"), grouped.packed.astype("uint32"), positions


def group(engine: GpuEngine, csr: Csr, pivot_range: PivotRange | None) -> Array:
    """Sort the in-edges, v << 32 | position, of the pivot vertices of a range, or of all."""
    xp, m = engine.xp, np.uint64(csr.m)

    def fill(capacity: int, pivot_range: PivotRange) -> tuple[Array, Array]:
        count, packed = xp.zeros(1, "uint32"), xp.empty(capacity, "uint64")
        limits = (*map(np.uint32, pivot_range), np.uint32(capacity))
        _step(engine, "pack_middles", csr.m, csr.columns, m, *limits, count, packed)
        return count, packed

    if pivot_range is None:
        packed = xp.empty(csr.m, "uint64")
        engine.step("pack_in_edges", csr.m, csr.columns, m, packed)
    else:
        packed = fill(int(fill(0, pivot_range)[0][0]), pivot_range)[1]
    packed.sort()
    return packed


def prepare_blocks(
    engine: GpuEngine,
    uv: Csr | InEdges,
    uw: Csr,
    vw: Csr,
    residues: Residues,
    *,
    pivot_range: PivotRange | None = None,
) -> GpuLayout:
    """Make the layout of a task on blocks."""
    xp, (_, shift) = engine.xp, shifts(residues)
    grouped = uv if isinstance(uv, InEdges) else to_csc(engine, uv)
    with engine.device(vw.columns):
        begin, end = 0, grouped.csr.m
        if pivot_range is not None:
            begin, end = grouped.offsets[xp.asarray(pivot_range)].tolist()
        packed = grouped.packed[begin:end]
        columns, codes, at_uw, at_vw = _together(engine, uw, vw)
        in_edges, probes = _describe(engine, packed, uw, residues, vw.n, at=at_uw)
        bounds = np.uint32(begin), np.uint32(end)
        ends = xp.clip(grouped.offsets[: vw.n - shift + 1], *bounds) - bounds[0]
        in_offsets = xp.concatenate([xp.zeros(shift, "uint32"), ends])
        rows = Csr(vw.offsets + at_vw, columns)
        parts = slice(at_uw, at_uw + uw.m), slice(at_vw, at_vw + vw.m)
        blocks = Blocks(grouped.csr, packed, *parts, shift)
        return engine.layout(rows, codes, in_edges, in_offsets, probes, blocks=blocks)


def _together(engine: GpuEngine, uw: Csr, vw: Csr) -> tuple[Array, Array, int, int]:
    """Return the columns of both blocks in one array, their codes, and where each block begins."""
    if isinstance(uw, SlotView) and isinstance(vw, SlotView) and uw.all_columns is vw.all_columns:
        first, end = min(uw.at, vw.at), max(uw.at + uw.m, vw.at + vw.m)
        return uw.all_columns[first:end], uw.all_codes[first:], uw.at - first, vw.at - first
    columns = engine.xp.concatenate([uw.columns, vw.columns])
    codes = engine.empty_codes(len(columns) + 1)  # kernels may read past the end of the last prefix
    write_codes(engine, columns, codes)
    return columns, codes, 0, uw.m


def write_codes(engine: GpuEngine, columns: Array, codes: Array) -> None:
    """Write the codes of columns: see `GpuLayout.codes`."""
    bits, m = np.uint32(engine.capacities.bits), np.uint64(len(columns))
    _step(engine, "write_codes", -(-len(columns) // _EACH), columns, m, bits, codes)


def probe_counts(
    engine: GpuEngine, uv: Csr | InEdges, uw: Csr | None = None, residues: Residues = (0, 0, 0)
) -> Array:
    """Count the probes of every pivot vertex: int64, by column of `uv`."""
    grouped = uv if isinstance(uv, InEdges) else to_csc(engine, uv)
    n, (_, shift) = grouped.csr.n, shifts(residues)
    with engine.device(grouped.packed):
        walked = uw or grouped.csr
        _, probes = _describe(engine, grouped.packed, walked, residues, n + shift)
        return probes[shift:].view("int64")


def positions_of(layout: GpuLayout) -> int:
    """Return how many positions edge counts have: of the columns, on blocks of the in-edges too.

    Raises
    ------
    CapacityError
        There are too many for a kernel.
    """
    size = layout.csr.m + (len(layout.in_edges) if layout.blocks else 0)
    require_positions(size)
    return size


def require_positions(size: int, arcs: int = 1) -> None:
    """Raise CapacityError if a kernel does not number so many edges, or the arcs of each."""
    if arcs * size >= MOST_POSITIONS["cuda"]:
        of = " of two arcs each" * (arcs > 1)
        raise CapacityError(f"three blocks of {size:,} edges{of}: cut the graph in more blocks")


def align(engine: GpuEngine, layout: GpuLayout, values: Any, dtype: str) -> Array:
    """Return values of edges in the order of edge counts; on blocks from those of uv, uw and vw."""
    blocks = layout.blocks
    if blocks is None:
        return values
    of_uv, of_uw, of_vw = values
    size = len(blocks.packed)
    aligned = engine.xp.zeros(layout.csr.m + size, dtype)
    aligned[blocks.uw], aligned[blocks.vw] = of_uw, of_vw
    aligned[len(aligned) - size :] = of_uv[_locate(engine, blocks.uv, blocks.packed)]
    return aligned


def apart(engine: GpuEngine, blocks: Blocks, sums: Array) -> tuple[Array, ...]:
    """Split sums of edges, of columns and of in-edges behind them, into those of uv, uw and vw."""
    xp, uv, size = engine.xp, blocks.uv, len(blocks.packed)
    if sums.ndim > 1:
        by_row = (apart(engine, blocks, row) for row in sums)
        return tuple(map(xp.stack, zip(*by_row, strict=True)))
    of_uv, of_in_edges = xp.zeros(uv.m, sums.dtype), sums[len(sums) - size :]
    if sums.dtype == np.uint32:
        arguments = (blocks.packed, np.uint64(size), uv.offsets, uv.columns, of_in_edges)
        _step(engine, "unpack_counts", size, *arguments, of_uv)
    else:
        of_uv[_locate(engine, uv, blocks.packed)] = of_in_edges
    return of_uv, sums[blocks.uw], sums[blocks.vw]


def _locate(engine: GpuEngine, uv: Csr, packed: Array) -> Array:
    """Find the position (uint32) in the columns of uv of each of its edges v << 32 | row."""
    size, found = len(packed), engine.xp.empty(len(packed), "uint32")
    arguments = (packed, np.uint64(size), uv.offsets, uv.columns, found)
    _step(engine, "locate_packed", size, *arguments)
    return found


def sum_counts(engine: GpuEngine, csr: Csr, counts: Array) -> tuple[Array, Array]:
    """Sum the counts of edges by row, and by column: int64, n each."""
    xp, sizes = engine.xp, (np.uint64(csr.n), np.uint64(csr.m))
    with engine.device(counts):
        by_row, by_column = xp.zeros(csr.n, "uint64"), xp.zeros(csr.n, "uint64")
        arguments = (csr.offsets, csr.columns, *sizes, counts, by_row, by_column)
        kernel = "sum_counts" if counts.dtype == "uint32" else "sum_wide_counts"
        _step(engine, kernel, -(-csr.m // _EACH), *arguments)
        return by_row.view("int64"), by_column.view("int64")


def split(
    engine: GpuEngine,
    ends: tuple[Array, Array],
    rank: Array | None,
    n: int,
    group: PivotRange,
    *,
    free: Array,
    keys: Array,
) -> None:
    """Write the keys of some of n x n blocks; see `rapids_tc.engines.protocol.Engine`."""
    size, most = len(ends[0]), engine.shared_limit // _SPLIT_BYTES
    for first in range(*group, most) if size else ():
        last = min(first + most, group[1])
        # Without ranks by number, the kernel reads none: any array stands for them.
        by_number = (ends[0], np.uint64(0)) if rank is None else (rank, np.uint64(len(rank)))
        rows = (*ends, np.uint64(size), *by_number)
        grid, shared = (-(-size // (launch.THREADS * _EACH)),), _SPLIT_BYTES * (last - first)
        args = (*rows, *map(np.uint32, (n, first, last)), np.uint64(len(keys)), free, keys)
        _kernels(engine)["split_rows"](grid, (launch.THREADS,), args, shared_mem=shared)


def _describe(
    engine: GpuEngine, packed: Array, uw: Csr, residues: Residues, n: int, *, at: int = 0
) -> tuple[Array, Array]:
    """Make the in-edges of ``bitmap.cu``; count the probes of each of `n` rows of v."""
    xp, (to_row, shift) = engine.xp, shifts(residues)
    in_edges, probes = xp.empty(len(packed), "uint64"), xp.zeros(n, "uint64")
    rows = (uw.offsets, uw.columns, np.int64(to_row), np.uint32(shift), np.uint32(at))
    size = len(packed)
    _step(engine, "describe_rows", size, packed, np.uint64(size), *rows, in_edges, probes)
    return in_edges, probes


def _step(engine: GpuEngine, kernel: str, size: int, *args: Any) -> None:
    """Launch a kernel of ``blocks.cu`` with a thread per element."""
    launch.per_element(_kernels(engine)[kernel], size, *args)


def _kernels(engine: GpuEngine) -> Mapping[str, Kernel]:
    """Return the kernels of ``blocks.cu``."""
    return engine.compile(launch.read("blocks.cu"), _KERNELS, ())
