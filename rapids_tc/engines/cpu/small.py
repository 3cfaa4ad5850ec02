"""Small graphs on one core, by NumPy and one compiled loop.

Threads, buckets and in-edges pay only on larger graphs, and the functions that serve those take
seconds to compile in the first call of a machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.engines.cpu.compiled import compiled
from rapids_tc.errors import require_unchanged
from rapids_tc.preparation.csr import Csr

if TYPE_CHECKING:
    from rapids_tc.preparation.csr import Array

MOST_KEYS = 1 << 16
MOST_RANKS = 1 << 17  # a table of them stays in the caches


def is_small(rows: int, n: int) -> bool:
    """Return whether one core does best without threads and without a layout."""
    return rows <= MOST_KEYS and n <= MOST_RANKS


@dataclass(frozen=True)
class SmallGraph:
    """A graph that is counted from its keys.

    Attributes
    ----------
    ends : tuple of two arrays of integers
        The numbers of both ends of every row.
    size : int
        Numbers are below it; all of them get a rank.
    """

    ends: tuple[Array, Array]
    size: int

    def degrees(self) -> Array:
        """Count how often each number stands in either array."""
        return degrees(*self.ends, self.size)[0]

    def count(self, keys: Array) -> int:
        """Count the triangles from the keys of all rows, which are sorted in place."""
        return count_keys(keys, self.size)


def graph(src: Array, dst: Array, size: int) -> SmallGraph | None:
    """Return a graph if it is small."""
    return SmallGraph((src, dst), size) if is_small(len(src), size) else None


def degrees(src: Array, dst: Array, size: int) -> tuple[Array, int]:
    """Count how often each number below `size` stands in either array, and how many do."""
    # A copy: another thread may write to the user's memory.
    numbers = np.concatenate([end.astype(np.int64) for end in (src, dst)])
    if len(numbers):
        require_unchanged(numbers.min() < 0 or numbers.max() >= size)
    degree = np.bincount(numbers, minlength=size)
    return degree, int(np.count_nonzero(degree))


def csr(keys: Array, n: int) -> Csr:
    """Build the CSR of `n` ranks from packed keys, which are sorted in place."""
    keys.sort()
    require_unchanged(len(keys) > 0 and int(keys[-1]) >> 32 >= n)
    columns, kept = keys.astype(np.uint32), np.ones(len(keys), bool)
    kept[:-1] = keys[1:] != keys[:-1]
    ends = np.searchsorted(keys, np.arange(n + 1, dtype=np.uint64) << np.uint64(32))
    rows = np.flatnonzero(ends[1:] > ends[:-1])
    last = ends[rows + 1] - 1
    kept[last] &= columns[last] != rows  # a loop is the last entry of its row
    kept_before = np.zeros(len(keys) + 1, np.uint32)
    np.cumsum(kept, out=kept_before[1:])
    return Csr(kept_before[ends].astype(np.int64), columns[kept])


def count_keys(keys: Array, n: int) -> int:
    """Count the triangles of a small graph from its packed keys, which are sorted in place."""
    graph = csr(keys, n)
    return int(_total(graph.offsets, graph.columns, np.zeros(n, np.uint8)))


@compiled
def _total(offsets: Array, columns: Array, mark: Array) -> Any:
    """Mark N+(u), and count for each v in it the marked entries of N+(v)."""
    triangles = np.int64(0)
    for u in range(len(offsets) - 1):
        begin, end = offsets[u], offsets[u + 1]
        if end - begin > 1:
            for p in range(begin, end):
                mark[columns[p]] = 1
            for p in range(begin, end):
                v = columns[p]
                for q in range(offsets[v], offsets[v + 1]):
                    triangles += np.int64(mark[columns[q]])
            for p in range(begin, end):
                mark[columns[p]] = 0
    return triangles
