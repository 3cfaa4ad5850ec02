"""Small graphs on the CUDA engine: from raw rows to a total, in two arrays and with one wait.

What a small call takes is not the work of its kernels but what stands around them: an array, a wait
and a launch take as long as a kernel each. So all arrays of such a graph are parts of two, and the
host waits once, at the end, where it also learns whether other threads have changed the ids.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rapids_tc.engines.gpu import keys as of_keys
from rapids_tc.errors import require_unchanged
from rapids_tc.kernels import launch, raw_rows

if TYPE_CHECKING:
    from rapids_tc.engines.gpu.layout import GpuEngine
    from rapids_tc.preparation.csr import Array

_SUMS = 6  # words of the triangles, of keys without a row, and of ids without a number


@dataclass(frozen=True)
class SmallGraph:
    """A graph that is counted from its keys: 20 bytes per row beside the sort, 16 per number.

    Attributes
    ----------
    engine : CudaEngine
    src, dst : arrays of integers
        The numbers of both ends of every row, which may be the user's memory.
    size : int
        Numbers are below it; all of them get a rank, so that none need be counted first.
    zeros : array of uint32
        `_SUMS` words that are read at the end; degrees; the keys that are kept before each tile.
    room : array of uint64
        The numbers, which keys take the place of; then offsets and columns, if keys are many.
    """

    engine: GpuEngine
    src: Array
    dst: Array
    size: int
    zeros: Array
    room: Array

    @cached_property
    def ends(self) -> Array:
        """The numbers of both ends that were counted: uint32, shape (2, rows)."""
        rows = len(self.src)
        return self.room[:rows].view("uint32").reshape(2, rows)

    def degrees(self) -> Array:
        """Count how often each number stands in either array; write `ends`."""
        engine, degree = self.engine, self.zeros[_SUMS : _SUMS + self.size]
        ends, outside = (self.src, self.dst), self.zeros[4:]
        raw_rows.read_ends(engine.compile, engine.xp, ends, self.size, self.ends, outside, degree)
        return degree

    def count(self, keys: Array) -> int:
        """Count the triangles from the keys of all rows, which may be sorted in place."""
        total = self.zeros[:_SUMS].view("uint64")
        if _is_tile(self.engine, len(keys)):
            sizes = np.uint32(len(keys)), np.uint64(self.size)
            kernel = of_keys.kernels(self.engine)["count_tile"]
            kernel((1,), (launch.THREADS,), (keys, *sizes, total))
        else:
            self._count_by_rows(keys, total)
        triangles, *changed = total.tolist()
        require_unchanged(any(changed))
        return int(triangles)

    def _count_by_rows(self, keys: Array, total: Array) -> None:
        """Add up the triangles of every edge, from the keys and the CSR that is made of them."""
        engine, rows, size = self.engine, len(keys), self.size
        counts = self.zeros[_SUMS + size :]
        of_keys.count_kept(engine, keys, size, counts)
        offsets = self.room[rows : rows + size + 1].view("int64")
        columns = self.room[rows + size + 1 :].view("uint32")
        graph = of_keys.write_rows(engine, keys, counts, offsets, columns)
        arguments = (keys, np.uint64(rows), np.uint64(size), graph.offsets, graph.columns, total)
        launch.per_element(of_keys.kernels(engine)["count_keys"], rows, *arguments)


def graph(engine: GpuEngine, src: Array, dst: Array, size: int) -> SmallGraph | None:
    """Return a graph if it is counted in less time than a layout and a count take."""
    rows = len(src)
    if not rows or not of_keys.is_small(engine, rows, size):
        return None
    with engine.device(src):
        zeros = engine.xp.zeros(_SUMS + of_keys.tiles(rows) + 2 + size, "uint32")
        of_csr = 0 if _is_tile(engine, rows) else size + 1 + -(-rows // 2)
        room = engine.xp.empty(rows + of_csr, "uint64")
        return SmallGraph(engine, src, dst, size, zeros, room)


def _is_tile(engine: GpuEngine, rows: int) -> bool:
    """Return whether one block sorts and counts all keys."""
    return rows <= engine.capacities.one_tile
