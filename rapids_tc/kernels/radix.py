"""The loop of ``radix.cu``: batches of wedges, and a round per digit while candidates are left."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rapids_tc.kernels import launch
from rapids_tc.kernels.method import Array, Capacities, Kernel, KernelEngine, KernelLayout
from rapids_tc.plan import costs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

KERNELS = ("radix_wedges", "radix_split", "radix_count", "radix_place")
_DIGIT, _DIGITS = 4, 16  # as in radix.cu


@dataclass(frozen=True)
class _Bins:
    """Candidates by bin, and the edges of each bin, all uint32: see ``Bins`` in radix.cu."""

    keys: Array
    bins: Array
    lows: Array
    highs: Array


def memory(edges: int, vertices: int) -> int:
    """Return the bytes that `count` takes besides the layout, at most, by edges and by batch."""
    wedges = edges * math.isqrt(2 * edges)  # no row has more entries than the root
    batch = min(Capacities().batch, wedges)
    own = costs.RADIX
    return own["edge"] * edges + own["vertex"] * vertices + own["wedge"] * batch


def count(
    engine: KernelEngine,
    layout: KernelLayout,
    kernels: Mapping[str, Kernel],
    out: Array,
    on_progress: Callable[[float], None] | None,
) -> None:
    """Add the number of triangles to ``out``."""
    xp, csr = engine.xp, layout.csr
    lengths = (layout.in_edges & 0xFFFFFFFF).astype("int64")
    middles = csr.columns[(layout.in_edges >> 32).astype("int64") + lengths]
    lengths[(csr.offsets[1:] == csr.offsets[:-1])[middles]] = 0  # no edge could close them
    before = xp.concatenate([xp.zeros(1, "int64"), xp.cumsum(lengths)])
    del lengths, middles
    digits = max(1, -(-csr.n.bit_length() // _DIGIT))
    for bins, done in _batches(engine, layout, kernels, before):
        for digit in reversed(range(digits)):
            if len(bins.keys):
                bins = _round(engine, layout, kernels, bins, shift=digit * _DIGIT, out=out)
        if on_progress:
            engine.wait()
            on_progress(done)
    if on_progress:
        on_progress(1.0)


def _batches(
    engine: KernelEngine, layout: KernelLayout, kernels: Mapping[str, Kernel], before: Array
) -> Iterator[tuple[_Bins, float]]:
    """Yield the wedges in batches, binned by pivot vertex, and the part done after each batch."""
    xp, csr = engine.xp, layout.csr
    by_middle = before[layout.in_offsets.astype("int64")]  # wedges before those of each vertex
    total = int(before[-1])
    for begin in range(0, total, layout.capacities.batch):
        end = min(total, begin + layout.capacities.batch)
        edges = xp.searchsorted(before, xp.asarray([begin, end - 1]), side="right").tolist()
        first, last = edges[0] - 1, edges[1]
        keys = xp.empty(end - begin, "uint32")
        wedges = (
            np.uint64(first),
            np.uint64(last - first),
            np.int64(begin),
            np.uint32(end - begin),
        )
        launch.per_element(
            kernels["radix_wedges"],
            end - begin,
            csr.columns,
            layout.in_edges,
            before,
            *wedges,
            keys,
        )
        vertices = xp.searchsorted(by_middle, xp.asarray([begin, end - 1]), side="right").tolist()
        starts = by_middle[vertices[0] - 1 : vertices[1] + 1].clip(begin, end) - begin
        used = xp.flatnonzero(starts[1:] > starts[:-1])
        middles = used + (vertices[0] - 1)
        bins = xp.append(starts[used], end - begin).astype("uint32")
        lows, highs = csr.offsets[middles], csr.offsets[middles + 1]
        yield _Bins(keys, bins, lows.astype("uint32"), highs.astype("uint32")), end / total


def _round(
    engine: KernelEngine,
    layout: KernelLayout,
    kernels: Mapping[str, Kernel],
    round_bins: _Bins,
    *,
    shift: int,
    out: Array,
) -> _Bins:
    """Decide candidates by a digit; return the undecided candidates in their smaller bins."""
    xp, columns, width = engine.xp, layout.csr.columns, layout.capacities.tile
    per_bin = -(-(round_bins.bins[1:] - round_bins.bins[:-1]).astype("int64") // width)
    tiles = xp.concatenate([xp.zeros(1, "int64"), xp.cumsum(per_bin)])
    n_bins, n_tiles = len(per_bin), int(tiles[-1])
    arrays = (round_bins.bins, tiles.astype("uint32"), round_bins.lows, round_bins.highs)
    digit_bins = (*arrays, np.uint32(n_bins), np.uint32(shift))
    splits = xp.empty(n_bins * _DIGITS, "uint32")
    launch.per_element(kernels["radix_split"], n_bins * _DIGITS, columns, *digit_bins, splits)
    work = (*digit_bins, splits, np.uint32(n_tiles), np.uint32(width), round_bins.keys)
    counts = xp.empty(n_tiles * _DIGITS, "uint32")
    launch.per_element(kernels["radix_count"], n_tiles * 32, columns, *work, counts, out)
    sums = xp.concatenate([xp.zeros(1, "uint32"), xp.cumsum(counts, dtype="uint32")])
    placed = xp.empty(int(sums[-1]), "uint32")
    if len(placed):
        launch.per_element(kernels["radix_place"], n_tiles * 32, *work, sums, placed)
    at = _DIGITS * tiles[:-1, None] + xp.arange(_DIGITS) * per_bin[:, None]
    begins, ends = sums[at].ravel(), sums[at + per_bin[:, None]].ravel()
    used = xp.flatnonzero(ends > begins)
    highs = xp.concatenate([splits.reshape(-1, _DIGITS)[:, 1:], round_bins.highs[:, None]], axis=1)
    bins = xp.append(begins[used], sums[-1:])
    return _Bins(placed, bins, splits[used], highs.ravel()[used])
