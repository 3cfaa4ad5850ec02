"""What rows form with earlier rows on the CUDA engine: see `rapids_tc.engines.as_of`.

The functions are methods of `rapids_tc.engines.gpu.cuda.CudaEngine`.
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
_INSERTS = "find_near", "insert_words", "insert_keys"
_WARP, _OWN = 32, 4  # lanes, and rows that a warp counts triangles of, as in ``as_of.cu``
_COMES = np.uint32(1 << 31)


class KeptRows:
    """Rows and their lists: see `rapids_tc.engines.protocol.KeptRows`, and ``as_of.cu``."""

    def __init__(self, engine: GpuEngine, rows: TimedRows, asked: Sequence[str]) -> None:
        self._engine, self._asked, self._rows, xp = engine, asked, rows, engine.xp
        with engine.device(rows.src):
            none = xp.zeros(0, "uint32")
            self._offsets = [xp.zeros(rows.n + 1, "int64") for _ in range(2)]
            self._lists = [[none, none, none] for _ in range(2)]  # rows, other ends, rows before
            self._near, self._before = none.astype("uint64"), none
            self.add(rows, 0)

    def drop(self, since: int) -> None:
        """Forget the rows from `since` on; see the protocol."""
        xp, rows = self._engine.xp, self._rows
        with self._engine.device(rows.src):
            gone = xp.flatnonzero(rows.src[since:] != rows.dst[since:])
            vertices = xp.arange(rows.n + 1, dtype="uint32")
            for way, end in enumerate((rows.src[since:], rows.dst[since:])):
                stays = xp.flatnonzero(self._lists[way][0] < since)
                self._lists[way] = [values[stays] for values in self._lists[way]]
                before = xp.searchsorted(_sorted(end[gone]), vertices)
                self._offsets[way] = self._offsets[way] - before
            numbers = self._near & np.uint64(_COMES - np.uint32(1))
            self._near = self._near[xp.flatnonzero(numbers < since)]
            self._before, self._rows = self._before[:since], rows.until(since)

    def add(self, rows: TimedRows, oldest: int) -> bool:
        """Take all rows, of which those that are new follow the others; see the protocol."""
        xp, known, self._rows = self._engine.xp, len(self._before), rows
        with self._engine.device(rows.src):
            src, dst = rows.src[known:], rows.dst[known:]
            kept = xp.flatnonzero(src != dst).astype("uint32")
            ends = src[kept], dst[kept]
            kept += np.uint32(known)
            self._before = xp.concatenate([self._before, xp.zeros(len(src), "uint32")])
            self._add_near(ends, kept)
            for way, end in enumerate(ends):
                self._add_to_list(way, end, ends[1 - way], kept)
        return True

    def _add_near(self, ends: Pair, kept: Array) -> None:
        """Put entries of rows into those by neighbor, and find the row before each.

        It has the same source and destination, and is counted from 1; 0 stands for none.
        """
        xp = self._engine.xp
        pairs = xp.concatenate([pack_keys(*ends, xp), pack_keys(*ends[::-1], xp)])
        order = xp.argsort(pairs, kind="stable")  # by pair, then those that go out by time
        pairs, out = pairs[order], order < len(kept)
        numbers = kept[order - xp.where(out, 0, len(kept))]
        near = pairs << np.uint64(32) | xp.where(out, np.uint32(0), _COMES) | numbers
        vertices = (pairs >> np.uint64(32)).astype("uint32")
        del pairs, order
        places = xp.zeros(len(near), "int64")
        if len(self._near):
            arguments = *self._offsets, self._near, vertices, near, np.uint64(len(near)), places
            launch.per_element(self._kernel("find_near"), len(near), *arguments)
        places += xp.arange(len(near))
        self._near = self._with("insert_keys", self._near, near, places)
        entries = xp.flatnonzero(out)
        first = sum(offsets[vertices[entries]] for offsets in self._offsets)
        first = first + xp.searchsorted(vertices, vertices[entries])
        previous = self._near[xp.maximum(places[entries], 1) - 1]
        is_same = previous >> np.uint64(31) == near[entries] >> np.uint64(31)
        is_same &= places[entries] > first
        before = xp.where(is_same, previous.astype("uint32") + np.uint32(1), np.uint32(0))
        self._before[numbers[entries]] = before

    def _add_to_list(self, way: int, end: Array, other: Array, kept: Array) -> None:
        """Put rows into the lists by time of one end."""
        xp, offsets = self._engine.xp, self._offsets[way]
        order = xp.argsort(end, kind="stable")  # rows are in the order of time
        end, rows = end[order], kept[order]
        places = offsets[1:][end] + xp.arange(len(end))
        new = rows, other[order], self._before[rows]
        lists = zip(self._lists[way], new, strict=True)
        self._lists[way] = [self._with("insert_words", *both, places) for both in lists]
        steps = xp.arange(len(offsets), dtype="uint64")
        self._offsets[way] = offsets + xp.searchsorted(end, steps)

    def _with(self, kernel: str, values: Array, others: Array, places: Array) -> Array:
        """Return values with others between them, at these places of what is returned."""
        if not len(values) or not len(others):
            return values if len(values) else others
        written = self._engine.xp.empty(len(values) + len(others), values.dtype)
        sizes = np.uint64(len(others)), np.uint64(len(written))
        arguments = values, others, places, *sizes, written
        launch.per_element(self._kernel(kernel), len(written), *arguments)
        return written

    def _kernel(self, name: str) -> Any:
        return self._engine.compile(launch.read("insert.cu"), _INSERTS, ())[name]

    def counts(self, since: int = 0, *, on_progress: ProgressCallback | None = None) -> Array:
        """Count what the rows from `since` on form with earlier rows; see the protocol."""
        xp, asked, rows, engine = self._engine.xp, self._asked, self._rows, self._engine
        with engine.device(rows.src):
            size = len(rows) - since
            counts = xp.zeros((len(asked), size), "int64")
            ends = self._last_rows() if {*asked} & {*DISTINCT} else [None, None]
            columns = zip(self._offsets, self._lists, ends, strict=True)
            lists = [array for offsets, own, end in columns for array in (offsets, *own, end)]
            kept = xp.flatnonzero(rows.src[since:] != rows.dst[since:])
            both = rows.src[since:][kept], rows.dst[since:][kept]
            turns = (kept[_by_pivot(both, self._offsets, xp)] + since).astype("uint32")
            places = [asked.index(name) if name in asked else -1 for name in COLUMNS]
            arrays = rows.src, rows.dst, rows.first, turns, xp.asarray(places, "int64"), self._near
            sizes = np.uint64(len(rows)), np.uint64(len(turns)), np.uint64(since)
            packed = launch.Payload((*arrays, *sizes, *lists)).pack(counts)
            kernels = engine.compile(launch.read("as_of.cu"), _KERNELS, ())
            launch.per_element(kernels["count_fans"], size, packed)
            if {*asked} & {*TRIANGLES}:
                warps = -(-len(turns) // _OWN)
                launch.per_element(kernels["count_triangles"], _WARP * warps, packed)
            if {*asked} & {*SQUARES}:
                launch.per_element(kernels["count_squares"], _WARP * size, packed)
            return counts

    def _last_rows(self) -> list[Array]:
        """Return, for the lists of each end, the row from which on each entry counts no more.

        An entry counts until its window has passed it, or there is a later one of its pair.
        """
        xp, rows, size = self._engine.xp, self._rows, len(self._rows)
        later = xp.full(size, size, "int64")
        behind = xp.flatnonzero(self._before)
        later[self._before[behind] - np.uint32(1)] = behind + np.int64(1)
        kept = xp.flatnonzero(rows.src != rows.dst)
        gone = xp.searchsorted(rows.first, xp.arange(size, dtype="uint32"), side="right")
        gone = xp.minimum(gone, later)[kept].astype("uint32")
        both = rows.src[kept], rows.dst[kept]
        return [_sorted(pack_keys(end, gone, xp)).astype("uint32") for end in both]


def keep_rows(engine: GpuEngine, rows: TimedRows, asked: Sequence[str], room: int = 0) -> KeptRows:
    """Make the lists of rows: see `rapids_tc.engines.protocol.Engine`."""
    return KeptRows(engine, rows, asked)


def as_of(
    engine: GpuEngine,
    rows: TimedRows,
    asked: Sequence[str],
    *,
    on_progress: ProgressCallback | None = None,
) -> Array:
    """Count what rows form with earlier rows: see `rapids_tc.engines.protocol.Engine`."""
    return KeptRows(engine, rows, asked).counts(on_progress=on_progress)


def _by_pivot(ends: Pair, offsets: Sequence[Array], xp: Any) -> Array:
    """Return rows in the order of the end that has more rows in all, then of time."""
    degrees = xp.diff(offsets[0]) + xp.diff(offsets[1])
    pivots = xp.where(degrees[ends[0]] > degrees[ends[1]], *ends)
    return xp.argsort(pivots, kind="stable")


def _sorted(keys: Array) -> Array:
    keys.sort()
    return keys
