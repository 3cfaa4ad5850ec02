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

_KERNELS = "count_fans", "count_triangles", "count_squares"
_INSERTS = "write_keys", "place_near", "place_rows", "insert"
_WARP, _OWN = 32, 4  # lanes, and rows that a warp counts triangles of, as in ``as_of.cu``
_FEW = 1 << 14  # rows that warps take as they come
_ROW_BITS = np.uint64((1 << 31) - 1)  # of an entry of `near`


class KeptRows:
    """Rows and their lists: see `rapids_tc.engines.protocol.KeptRows`, and ``as_of.cu``."""

    def __init__(self, engine: GpuEngine, rows: TimedRows, asked: Sequence[str]) -> None:
        self._engine, self._asked, self._rows, xp = engine, asked, rows, engine.xp
        with engine.device(rows.src):
            none = xp.zeros(0, "uint32")
            self._offsets = [xp.zeros(rows.n + 1, "int64") for _ in range(2)]
            self._lists = [[none, none, none] for _ in range(2)]  # rows, other ends, rows before
            self._near, self._before = none.astype("uint64"), none
            places = [asked.index(name) if name in asked else -1 for name in COLUMNS]
            self._places = xp.asarray(places, "int64")
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
            self._near = self._near[xp.flatnonzero((self._near & _ROW_BITS) < since)]
            self._before, self._rows = self._before[:since], rows.until(since)

    def add(self, rows: TimedRows, oldest: int) -> bool:
        """Take all rows, of which those that are new follow the others; see the protocol."""
        xp, known, self._rows = self._engine.xp, len(self._before), rows
        with self._engine.device(rows.src):
            new = slice(known, len(rows))
            self._before = xp.concatenate([self._before, xp.zeros(len(rows) - known, "uint32")])
            kept = xp.flatnonzero(rows.src[new] != rows.dst[new]).astype("uint32")
            kept += np.uint32(known)
            self._added = known, kept
            if size := len(kept):
                pairs = xp.empty(2 * size, "uint64")
                keys = [xp.empty(size, "uint64") for _ in range(2)]
                arguments = rows.src, rows.dst, kept, np.uint64(size), pairs, *keys
                launch.per_element(self._kernels["write_keys"], size, *arguments)
                near = self._new_near(pairs, kept)
                lists = [self._new_entries(way, own, kept) for way, own in enumerate(keys)]
                self._insert(near, lists)
        return True

    def _new_near(self, pairs: Array, kept: Array) -> tuple[Array, Array]:
        """Return the entries of rows by neighbor, and their places among all of these.

        The row before each is found on the way.
        """
        xp, size = self._engine.xp, len(pairs)
        order = xp.argsort(pairs, kind="stable")  # by pair, then those that go out by time
        keys, places = xp.empty(size, "uint64"), xp.empty(size, "int64")
        arguments = *self._offsets, self._near, pairs, order, kept, np.uint64(len(kept))
        written = keys, places, self._before
        launch.per_element(self._kernels["place_near"], size, *arguments, *written)
        return keys, places

    def _new_entries(self, way: int, keys: Array, kept: Array) -> tuple[list[Array], Array, Array]:
        """Return the entries of rows in a list by time, their places, and their sorted keys."""
        xp, size, rows = self._engine.xp, len(kept), self._rows
        keys.sort()
        entries, places = [xp.empty(size, "uint32") for _ in range(3)], xp.empty(size, "int64")
        others = rows.src if way else rows.dst
        arguments = self._offsets[way], keys, kept, others, self._before, np.uint64(size)
        launch.per_element(self._kernels["place_rows"], size, *arguments, *entries, places)
        return entries, places, keys

    def _insert(
        self, near: tuple[Array, Array], lists: list[tuple[list[Array], Array, Array]]
    ) -> None:
        """Put entries between those that are there, at their places."""
        xp, known, more = self._engine.xp, len(self._lists[0][0]), len(lists[0][1])
        all_near, written = near[0], [entries for entries, *_ in lists]
        if known:
            all_near = xp.empty(2 * (known + more), "uint64")
            written = [[xp.empty(known + more, "uint32") for _ in range(3)] for _ in range(2)]
        fields: list[Any] = [self._near, *near]
        fields += [np.uint64(size) for size in (known, more, self._rows.n)]
        for way, (entries, places, keys) in enumerate(lists):
            fields += [*self._lists[way], *entries, *written[way], places, keys, self._offsets[way]]
        size = max(self._rows.n + 1, 2 * (known + more) if known else 0)
        packed = launch.Payload(tuple(fields)).pack(all_near)
        launch.per_element(self._kernels["insert"], size, packed)
        self._near, self._lists = all_near, written

    @property
    def _kernels(self) -> Any:
        return self._engine.compile(launch.read("insert.cu"), _INSERTS, ())

    def counts(self, since: int = 0, *, on_progress: ProgressCallback | None = None) -> Array:
        """Count what the rows from `since` on form with earlier rows; see the protocol."""
        xp, asked, rows, engine = self._engine.xp, self._asked, self._rows, self._engine
        with engine.device(rows.src):
            size = len(rows) - since
            counts = xp.zeros((len(asked), size), "int64")
            ends = self._last_rows() if {*asked} & {*DISTINCT} else [None, None]
            columns = zip(self._offsets, self._lists, ends, strict=True)
            lists = [array for offsets, own, end in columns for array in (offsets, *own, end)]
            turns = self._turns(since)
            arrays = rows.src, rows.dst, rows.first, turns, self._places, self._near
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

    def _turns(self, since: int) -> Array:
        """Return the rows from `since` on that are no loops; many in the order of their pivots.

        That is the end which has more rows in all.
        """
        xp, rows, (added, kept) = self._engine.xp, self._rows, self._added
        if since != added:
            kept = xp.flatnonzero(rows.src[since:] != rows.dst[since:]).astype("uint32")
            kept += np.uint32(since)
        if len(kept) < _FEW:
            return kept
        src, dst = rows.src[kept], rows.dst[kept]
        degrees = xp.diff(self._offsets[0]) + xp.diff(self._offsets[1])
        pivots = xp.where(degrees[src] > degrees[dst], src, dst)
        return kept[xp.argsort(pivots, kind="stable")]

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


def _sorted(keys: Array) -> Array:
    keys.sort()
    return keys
