"""What rows form with earlier rows on the CUDA engine: see `rapids_tc.engines.as_of`.

The function is a method of `rapids_tc.engines.gpu.cuda.CudaEngine`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.engines.as_of import COLUMNS, DISTINCT, SQUARES, TRIANGLES
from rapids_tc.kernels import launch
from rapids_tc.preparation.csr import pack_keys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rapids_tc.engines.as_of import TimedRows
    from rapids_tc.engines.gpu.layout import GpuEngine
    from rapids_tc.engines.protocol import ProgressCallback
    from rapids_tc.preparation.csr import Array

    Pair = tuple[Array, Array]

_KERNELS = "count_fans", "count_triangles", "count_squares"
_WARP, _OWN = 32, 4  # lanes, and rows that a warp counts triangles of, as in ``as_of.cu``
_COMES = np.uint32(1 << 31)


def as_of(
    engine: GpuEngine,
    rows: TimedRows,
    asked: Sequence[str],
    *,
    on_progress: ProgressCallback | None = None,
) -> Array:
    """Count what rows form with earlier rows: see `rapids_tc.engines.protocol.Engine`."""
    xp, size = engine.xp, len(rows)
    with engine.device(rows.src):
        counts = xp.zeros((len(asked), size), "int64")
        kept = xp.flatnonzero(rows.src != rows.dst).astype("uint32")
        ends = rows.src[kept], rows.dst[kept]
        near, before, later = _near(ends, kept, size, xp)
        gone = None
        if {*asked} & {*DISTINCT}:
            # An entry counts until its window has passed it, or there is a later one of its pair.
            gone = xp.searchsorted(rows.first, xp.arange(size, dtype="uint32"), side="right")
            gone = xp.minimum(gone, later)[kept].astype("uint32")
        del later
        lists = [
            _list(end, kept, ends[1 - way], before, gone, rows.n, xp)
            for way, end in enumerate(ends)
        ]
        turns = kept[_by_pivot(ends, [offsets for offsets, *_ in lists], xp)]
        places = [asked.index(name) if name in asked else -1 for name in COLUMNS]
        arrays = rows.src, rows.dst, rows.first, turns, xp.asarray(places, "int64"), near
        sizes = np.uint64(size), np.uint64(len(turns))
        packed = launch.Payload((*arrays, *sizes, *lists[0], *lists[1])).pack(counts)
        kernels = engine.compile(launch.read("as_of.cu"), _KERNELS, ())
        launch.per_element(kernels["count_fans"], size, packed)
        if {*asked} & {*TRIANGLES}:
            warps = -(-len(turns) // _OWN)
            launch.per_element(kernels["count_triangles"], _WARP * warps, packed)
        if {*asked} & {*SQUARES}:
            launch.per_element(kernels["count_squares"], _WARP * size, packed)
        return counts


def _near(ends: Pair, kept: Array, size: int, xp: Any) -> tuple[Array, Array, Array]:
    """Return the entries of all vertices by neighbor, and the rows before and behind each row.

    These have the same source and destination. Of a row that has none before it, the number is 0,
    else they are counted from 1; of one that has none behind it, the number is `size`.
    """
    pairs = xp.concatenate([pack_keys(*ends, xp), pack_keys(*ends[::-1], xp)])
    order = xp.argsort(pairs, kind="stable")  # by pair, then those that go out by time
    pairs, out = pairs[order], order < len(kept)
    repeats = xp.flatnonzero((pairs[1:] == pairs[:-1]) & out[1:])
    numbers = kept[order - xp.where(out, 0, len(kept))]
    near = pairs << np.uint64(32) | xp.where(out, np.uint32(0), _COMES) | numbers
    before, later = xp.zeros(size, "uint32"), xp.full(size, size, "int64")
    before[numbers[repeats + 1]] = numbers[repeats] + np.uint32(1)
    later[numbers[repeats]] = numbers[repeats + 1] + np.int64(1)
    return near, before, later


def _list(
    end: Array, kept: Array, other: Array, before: Array, gone: Array | None, n: int, xp: Any
) -> list[Any]:
    """Return a list of ``as_of.cu`` of all vertices, from the ends of rows that are no loops.

    `gone` is the row from which on each counts no more, if the distinct neighbors are asked for.
    """
    order = xp.argsort(end, kind="stable")  # rows are in the order of time
    offsets = xp.searchsorted(end[order], xp.arange(n + 1, dtype="uint64"))
    ends = None if gone is None else _sorted(pack_keys(end, gone, xp)).astype("uint32")
    rows = kept[order]
    return [offsets.astype("int64"), rows, other[order], before[rows], ends]


def _by_pivot(ends: Pair, offsets: Sequence[Array], xp: Any) -> Array:
    """Return rows in the order of the end that has more rows in all, then of time."""
    degrees = xp.diff(offsets[0]) + xp.diff(offsets[1])
    pivots = xp.where(degrees[ends[0]] > degrees[ends[1]], *ends)
    return xp.argsort(pivots, kind="stable")


def _sorted(keys: Array) -> Array:
    keys.sort()
    return keys
