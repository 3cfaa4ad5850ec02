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

_KERNELS = "count_fans", "count_triangles", "count_squares"
_WARP = 32


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
        sorted_pairs = pack_keys(*ends, xp)
        order = xp.argsort(sorted_pairs, kind="stable")  # by pair, then by time
        repeats = xp.flatnonzero(xp.diff(sorted_pairs[order]) == 0)
        earlier, later = kept[order[repeats]], kept[order[repeats + 1]]
        before = xp.zeros(size, "uint32")
        before[later] = earlier + np.uint32(1)
        gone = None
        if {*asked} & {*DISTINCT}:
            # An entry counts until its window has passed it, or there is a later one of its pair.
            gone = xp.searchsorted(rows.first, xp.arange(size, dtype="uint32"), side="right")
            gone[earlier] = xp.minimum(gone[earlier], later + np.int64(1))
            gone = gone.astype("uint32")[kept]
        places = [asked.index(name) if name in asked else -1 for name in COLUMNS]
        arrays = rows.src, rows.dst, rows.first, before, xp.asarray(places, "int64")
        lists = [_lists(end, kept, ends[1 - way], gone, rows.n, xp) for way, end in enumerate(ends)]
        packed = launch.Payload((*arrays, np.uint64(size), *lists[0], *lists[1])).pack(counts)
        kernels = engine.compile(launch.read("as_of.cu"), _KERNELS, ())
        launch.per_element(kernels["count_fans"], size, packed)
        for kernel, columns in zip(_KERNELS[1:], (TRIANGLES, SQUARES), strict=True):
            if {*asked} & {*columns}:
                launch.per_element(kernels[kernel], _WARP * size, packed)
        return counts


def _lists(end: Array, kept: Array, other: Array, gone: Array | None, n: int, xp: Any) -> list[Any]:
    """Return the lists of ``as_of.cu`` of all vertices, from the ends of rows that are no loops.

    `gone` is the row from which on each counts no more, if the distinct neighbors are asked for.
    """
    by_time = _sorted(pack_keys(end, kept, xp))
    offsets = xp.searchsorted(by_time >> 32, xp.arange(n + 1, dtype="uint64"))
    near = pack_keys(other, kept, xp)[xp.argsort(pack_keys(end, other, xp), kind="stable")]
    ends = None if gone is None else _sorted(pack_keys(end, gone, xp)).astype("uint32")
    return [offsets.astype("int64"), by_time.astype("uint32"), near, ends]


def _sorted(keys: Array) -> Array:
    keys.sort()
    return keys
