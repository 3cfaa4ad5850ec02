"""Cliques of three to five vertices on the CUDA engine, by the bits of local graphs.

The functions are methods of `rapids_tc.engines.gpu.cuda.CudaEngine`; see
`rapids_tc.engines.local_graphs`.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.engines.local_graphs import check_rows
from rapids_tc.kernels import launch
from rapids_tc.kernels.method import Capacities

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from rapids_tc.engines.gpu.layout import GpuEngine
    from rapids_tc.engines.protocol import ProgressCallback
    from rapids_tc.kernels.method import Kernel
    from rapids_tc.preparation.csr import Array, Csr

_LIST_WORDS, _PART = 2048, 64  # as in cliques.cu
_BLOCKS_PER_SM, _SLICES = 8, 16
_TIERS = (128, 256)  # rows up to these lengths take less shared memory
_KERNELS = ("clique_rows", "clique_bits", "clique_parts", "divide")


def bits_bytes(rows: int) -> int:
    """Return the most bytes of the bits of long rows, of a frame of so many rows."""
    sizes = Capacities()
    longest = 2 * rows > sizes.clique_row**2  # no row is longer than sqrt(2 * rows)
    return longest * max(4 * sizes.clique_words, rows // 3)


def count(
    engine: GpuEngine,
    csr: Csr,
    k: int,
    *,
    per: str = "row",
    on_progress: ProgressCallback | None = None,
) -> tuple[Array, Array | None]:
    """Count cliques; see `rapids_tc.engines.protocol.Engine`."""
    check_rows(csr)
    xp = engine.xp
    with engine.device(csr.columns):
        at_last = xp.zeros(csr.n, "uint64")
        spokes = None if per == "row" else xp.zeros(csr.m, "uint64")
        counts = xp.zeros(csr.m, "uint64") if per == "edge" else None
        sums = (np.uint32(k), at_last, spokes, counts)
        sliced = on_progress is not None
        steps = [*_short_rows(engine, csr, sums, sliced=sliced), *_long_rows(engine, csr, sums)]
        for number, step in enumerate(steps):
            step()
            if on_progress is not None:
                engine.wait()
                on_progress((number + 1) / len(steps))
        if spokes is None:
            return at_last.view("int64"), None
        _divide(engine, at_last, comb(k - 1, 2))
        if counts is not None:
            _divide(engine, spokes, k - 2)
            counts += spokes
        else:
            counts = at_last.copy()
            _divide(engine, spokes, k - 2, csr.columns, counts)
        return at_last.view("int64"), counts.view("int64")


def _short_rows(
    engine: GpuEngine, csr: Csr, sums: tuple[Any, ...], *, sliced: bool
) -> Iterator[Callable[[], None]]:
    """Yield the launches of rows whose bits are in shared memory, the longest first."""
    kernel, longest = _kernels(engine)["clique_rows"], engine.capacities.clique_row
    k, _, spokes, _ = sums
    tiers = [k - 2, *(tier for tier in _TIERS if k - 2 < tier < longest), longest]
    for least, most in reversed([*pairwise(map(int, tiers))]):
        rows, size = engine.rows(csr, least + 1, most)
        shared = 4 * (_LIST_WORDS + _words(most)) + 8 * most * (spokes is not None)
        slices = min(_SLICES, size) if sliced else min(1, size)
        tickets = engine.xp.zeros(slices, "uint32")
        for part in range(slices):
            first, last = size * part // slices, size * (part + 1) // slices
            grid = (min(last - first, engine.sm_count * _BLOCKS_PER_SM),)
            drawn = (rows, np.uint32(first), np.uint32(last), k, np.uint32(most))
            args = (csr.offsets, csr.columns, *drawn, *sums[1:], tickets[part : part + 1])
            yield partial(kernel, grid, (launch.THREADS,), args, shared_mem=shared)


def _long_rows(engine: GpuEngine, csr: Csr, sums: tuple[Any, ...]) -> Iterator[Callable[[], None]]:
    """Yield what counts longer rows, some at a time, whose bits are in global memory."""
    sizes, (k, *_) = engine.capacities, sums
    if csr.longest_row <= max(sizes.clique_row, k - 2):
        return
    rows, _ = engine.rows(csr, max(sizes.clique_row + 1, k - 1), csr.longest_row)
    rows = engine.xp.sort(rows).astype("int64")
    lengths = (csr.offsets[rows + 1] - csr.offsets[rows]).tolist()
    first, words = 0, 0
    for last, length in enumerate(lengths):
        if last > first and words + _words(length) > sizes.clique_words:
            yield partial(_count_long, engine, csr, sums, rows[first:last], lengths[first:last])
            first, words = last, 0
        words += _words(length)
    yield partial(_count_long, engine, csr, sums, rows[first:], lengths[first:])


def _count_long(
    engine: GpuEngine, csr: Csr, sums: tuple[Any, ...], rows: Array, lengths: list[int]
) -> None:
    """Count the cliques of some vertices with long rows; parts with the most work begin first."""
    xp, kernels = engine.xp, _kernels(engine)
    ends = np.cumsum([_words(length) for length in lengths], dtype=np.uint64)
    starts = np.concatenate([np.zeros(1, np.uint64), ends[:-1]])
    vertex = np.repeat(np.arange(len(lengths)), [-(-length // _PART) for length in lengths])
    row = np.concatenate([np.arange(0, length, _PART) for length in lengths])
    parts = np.stack([vertex, row], axis=1)[np.argsort(-row, kind="stable")].astype(np.uint32)
    bits = xp.zeros(int(ends[-1]), "uint32")
    graph = (csr.offsets, csr.columns, rows.astype("uint32"))
    where = (xp.asarray(starts), xp.asarray(parts.ravel()), bits)
    grid, both = (len(parts),), np.uint32(sums[2] is not None)
    kernels["clique_bits"](grid, (launch.THREADS,), (*graph, *where, both))
    kernels["clique_parts"](grid, (launch.THREADS,), (*graph, *where, *sums))


def _words(length: int) -> int:
    """Return the words of the bits of a row of so many entries: `stride_of` in ``cliques.cu``."""
    return length * (-(-length // 32) | 1)


def _divide(
    engine: GpuEngine, values: Array, divisor: int, columns: Array = None, sums: Array = None
) -> None:
    """Divide values in place, and add them to the sums of their columns, if there are sums."""
    args = (values, np.uint64(len(values)), np.uint32(divisor), columns, sums)
    launch.per_element(_kernels(engine)["divide"], len(values), *args)


def _kernels(engine: GpuEngine) -> Mapping[str, Kernel]:
    """Return the kernels of ``cliques.cu``."""
    return engine.compile(launch.read("cliques.cu"), _KERNELS, ())
