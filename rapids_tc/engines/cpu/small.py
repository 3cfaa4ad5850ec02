"""Small graphs on one core, by NumPy, and by one compiled loop in a process that asks often.

Threads, buckets and in-edges pay only on larger graphs, and the functions that serve those take
seconds to compile in the first call of a machine. To load even one compiled function takes a
process longer than NumPy takes to count the triangles of many small graphs.
"""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from rapids_tc._compiling import loading
from rapids_tc.errors import require_unchanged
from rapids_tc.preparation.csr import Csr

if TYPE_CHECKING:
    from rapids_tc.preparation.csr import Array

MOST_KEYS = 1 << 16
MOST_RANKS = 1 << 17  # a table of them stays in the caches
MOST_PROBES = 1 << 20  # by NumPy, of all graphs of a process: about 50 ms
PROBES_OF_CALL = 1 << 12  # as many as take NumPy as long as a call on an empty graph
COMPILED, _LOOP = "rapids_tc.engines.cpu.compiled", "rapids_tc.engines.cpu.small_loop"
SLICE = 1 << 16  # probes whose arrays stay in the caches


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
    lengths = np.diff(graph.offsets)[graph.columns]  # of the row of v, for each edge u > v
    if _asked.by_numpy(int(lengths.sum())):
        return _count_by_search(graph, lengths)
    with nullcontext() if _LOOP in sys.modules else loading.running():
        total = import_module(_LOOP).total
    return int(total(graph.offsets, graph.columns, np.zeros(n, np.uint8)))


class _Asked:
    """What a process has asked of NumPy, which is quicker until compiled code would be by now."""

    def __init__(self) -> None:
        self.probes = 0

    def by_numpy(self, probes: int) -> bool:
        """Return whether NumPy counts the next graph, with so many probes."""
        if COMPILED in sys.modules:  # which other functions have loaded
            return False
        self.probes = min(self.probes + probes + PROBES_OF_CALL, MOST_PROBES + 1)
        return self.probes <= MOST_PROBES


_asked = _Asked()


def _count_by_search(graph: Csr, lengths: Array) -> int:
    """Look the pair (u, w) up in all edges, for each edge u > v and each w in the row of v."""
    keys = graph.rows.astype(np.uint64) << np.uint64(32) | graph.columns
    ends, triangles, first = np.cumsum(lengths), 0, 0
    begins = ends - lengths
    while first < len(keys):
        done = int(ends[first - 1]) if first else 0
        last = max(int(np.searchsorted(ends, done + SLICE, "right")), first + 1)
        edge = np.repeat(np.arange(first, last), lengths[first:last])
        place = np.arange(done, done + len(edge)) - begins[edge]
        w = graph.columns[graph.offsets[graph.columns[edge]] + place]
        pairs = keys[edge] & np.uint64(0xFFFFFFFF << 32) | w
        found = np.searchsorted(keys, pairs)
        triangles += int(np.count_nonzero(keys[np.minimum(found, len(keys) - 1)] == pairs))
        first = last
    return triangles
