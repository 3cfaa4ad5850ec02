"""The CUDA engine on blocks and on ranges of middle vertices: ``blocks.cu`` makes their in-edges.

Functions of a `rapids_tc.engines.cuda.CudaEngine`, which has them as its methods.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rapids_tc.csr import Array, Csr
from rapids_tc.engines import Middles, Residues, shifts
from rapids_tc.engines._cuda_layout import Blocks, Layout
from rapids_tc.kernels import launch

_THREADS, _EACH = 256, 8  # as in blocks.cu


@dataclass(frozen=True)
class InEdges:
    """The edges of a block uv grouped by v, for every block uw and vw that they meet.

    Attributes
    ----------
    csr : Csr
        The block.
    packed : array of uint64
        v << 32 | row, ascending.
    offsets : array of uint32, shape (n + 1,)
        Those of ``v`` are ``packed[offsets[v]:offsets[v + 1]]``.
    """

    csr: Csr
    packed: Array
    offsets: Array


def transpose(engine: Any, uv: Csr) -> InEdges:
    """Group the edges of a block by middle vertex: 8 bytes an edge, 16 while it is made."""
    xp, n, m = engine.xp, np.uint64(uv.n), np.uint64(uv.m)
    with engine.device(uv.columns):
        packed, offsets = xp.empty(uv.m, "uint64"), xp.empty(uv.n + 1, "uint32")
        _step(engine, "pack_rows", -(-uv.m // _EACH), uv.offsets, uv.columns, n, m, packed)
        packed.sort()
        engine.step("find_in_edges", uv.n + 1, packed, m, n, offsets)
        return InEdges(uv, packed, offsets)


def group(engine: Any, csr: Csr, middles: Middles | None) -> Array:
    """The in-edges of middle vertices as v << 32 | position, ascending; of all without a range."""
    xp, m = engine.xp, np.uint64(csr.m)

    def fill(room: int, middles: Middles) -> tuple[Array, Array]:
        count, packed = xp.zeros(1, "uint32"), xp.empty(room, "uint64")
        limits = (*map(np.uint32, middles), np.uint32(room))
        _step(engine, "pack_middles", csr.m, csr.columns, m, *limits, count, packed)
        return count, packed

    if middles is None:
        packed = xp.empty(csr.m, "uint64")
        engine.step("pack_in_edges", csr.m, csr.columns, m, packed)
    else:
        packed = fill(int(fill(0, middles)[0][0]), middles)[1]
    packed.sort()
    return packed


def prepare_blocks(
    engine: Any,
    uv: Csr | InEdges,
    uw: Csr,
    vw: Csr,
    residues: Residues,
    middles: Middles | None = None,
) -> Layout:
    """As `CudaEngine.prepare`, for a task on blocks."""
    xp, (_, shift) = engine.xp, shifts(residues)
    grouped = uv if isinstance(uv, InEdges) else transpose(engine, uv)
    with engine.device(vw.columns):
        first, last = middles or (0, vw.n - shift)
        begin, end = grouped.offsets[xp.asarray([first, last])].tolist()
        packed = grouped.packed[begin:end]
        columns = xp.concatenate([uw.columns, vw.columns])
        in_edges, probes = _describe(engine, grouped, packed, uw, residues, vw.n)
        ends = xp.clip(grouped.offsets[: vw.n - shift + 1], begin, end) - np.uint32(begin)
        in_offsets = xp.concatenate([xp.zeros(shift, "uint32"), ends])
        low = engine.low(len(columns) + 1)  # the last prefix may be read past its end
        for graph, part in ((uw, low[: uw.m]), (vw, low[uw.m : len(columns)])):
            engine.expand(graph, part)
        rows = Csr(vw.offsets + uw.m, columns)
        made = Blocks(grouped.csr, packed, uw.m)
        return engine.layout(rows, low, in_edges, in_offsets, probes, made)


def work(engine: Any, uv: Csr | InEdges, uw: Csr | None = None, residues: Residues = (0, 0, 0)):
    """Probes of every middle vertex: int64, by column of `uv`."""
    grouped = uv if isinstance(uv, InEdges) else transpose(engine, uv)
    n, (_, shift) = grouped.csr.n, shifts(residues)
    with engine.device(grouped.packed):
        walked = uw or grouped.csr
        _, probes = _describe(engine, grouped, grouped.packed, walked, residues, n + shift)
        return probes[shift:].view("int64")


def apart(engine: Any, blocks: Blocks, counts: Array) -> tuple[Array, Array, Array]:
    """Edge counts of columns, and of in-edges behind them, as those of uv, uw and vw."""
    at = len(counts) - len(blocks.packed)
    uw, vw = counts[: blocks.split], counts[blocks.split : at]
    v, rows = blocks.packed >> 32, blocks.packed & 0xFFFFFFFF
    uv = engine.xp.zeros(blocks.uv.m, "uint32")
    uv[engine.locate(blocks.uv, rows, v)] = counts[at:]
    return uv, uw, vw


def _describe(
    engine: Any, grouped: InEdges, packed: Array, uw: Csr, residues: Residues, n: int
) -> tuple[Array, Array]:
    """The in-edges of ``bitmap.cu``, and the probes of each of `n` rows of v."""
    xp, (to_row, shift) = engine.xp, shifts(residues)
    in_edges, probes = xp.empty(len(packed), "uint64"), xp.zeros(n, "uint64")
    by = (uw.offsets, uw.columns, np.int64(to_row), np.uint32(shift), np.uint32(0))
    size = len(packed)
    _step(engine, "describe_rows", size, packed, np.uint64(size), *by, in_edges, probes)
    return in_edges, probes


def _step(engine: Any, kernel: str, size: int, *args: Any) -> None:
    """Launch a kernel of ``blocks.cu`` with a thread an element."""
    if size:
        _kernels(engine)[kernel]((-(-size // _THREADS),), (_THREADS,), args)


def _kernels(engine: Any) -> Mapping[str, Any]:
    return engine.compile(
        launch.read("blocks.cu"), ("pack_middles", "pack_rows", "describe_rows"), ()
    )
