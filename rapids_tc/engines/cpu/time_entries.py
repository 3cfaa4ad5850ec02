"""The entries of vertices in the order of time: what columns as of a time are counted from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc._parallel import thread_count, threads_for
from rapids_tc.engines.cpu.compiled import compiled, inlined
from rapids_tc.plan import costs as model

if TYPE_CHECKING:
    from rapids_tc.engines.as_of import TimedRows
    from rapids_tc.preparation.csr import Array

TASKS_PER_THREAD = 64
STEPS = 16  # of an entry, at least: it enters a table, leaves it, and is looked up
WORDS = 4  # of 32 bits, of a vertex in the table of a thread
ROW, ONE, LOW = np.uint64(33), np.uint64(1), np.uint64(2**32 - 1)  # see `Entries`


@dataclass(frozen=True)
class Entries:
    """The entries of all vertices.

    Attributes
    ----------
    offsets : array of int64, shape (n + 1,)
    entries : array of uint64
        Those of vertex v are entries[offsets[v] : offsets[v + 1]], in the order of time: each the
        row << 33 | the other end << 1 | whether the row comes in.
    twins : array of uint32
        The place of the same row's entry at its other end.
    begins : array of uint32
        Where the window of each entry begins.
    """

    offsets: Array
    entries: Array
    twins: Array
    begins: Array


def entries_of(rows: TimedRows) -> Entries:
    """Write the entries of all vertices; their windows are left open."""
    offsets = np.zeros(rows.n + 1, np.int64)
    size = _count_entries(rows.src, rows.dst, offsets)
    entries, twins, begins = (np.empty(size, dtype) for dtype in (np.uint64, np.uint32, np.uint32))
    _place(rows.src, rows.dst, offsets[:-1].copy(), entries, twins)
    return Entries(offsets, entries, twins, begins)


def tasks_of(entries: int, n: int) -> tuple[int, Array, Array]:
    """Return how many threads to start, the ranges of entries of their tasks, and their tables.

    Fewer threads are started if there are few entries for many vertices, to save memory.
    """
    most = max(model.TIMED_TABLES * entries // 2, model.MOST_WEDGE_COUNTERS)
    threads = threads_for(entries * STEPS, max(1, most // (model.TIMED_TABLE * max(n, 1))))
    tasks = threads * TASKS_PER_THREAD if threads > 1 else 1
    cuts = np.unique(np.linspace(0, entries, tasks + 1).astype(np.int64))
    return threads, cuts, np.zeros((threads, n, WORDS), np.uint32)


def tables_bytes(rows: int, vertices: int) -> int:
    """Return the most bytes of the tables of all threads, for so many rows."""
    table = model.TIMED_TABLE * vertices
    most = max(model.TIMED_TABLES * rows, model.MOST_WEDGE_COUNTERS, table)
    return min(thread_count() * table, most)


@compiled
def _count_entries(src: Array, dst: Array, offsets: Array) -> int:
    """Count the entries of all vertices, in all and up to each; `offsets` are zeros."""
    for row in range(len(src)):
        if src[row] != dst[row]:
            offsets[np.int64(src[row]) + 1] += 1
            offsets[np.int64(dst[row]) + 1] += 1
    for v in range(1, len(offsets)):
        offsets[v] += offsets[v - 1]
    return int(offsets[-1])


@compiled
def _place(src: Array, dst: Array, free: Array, entries: Array, twins: Array) -> None:
    """Write both entries of each row; free[v] is the place of the next entry of v."""
    for row in range(len(src)):
        u, v = src[row], dst[row]
        if u != v:
            p, q, at = free[u], free[v], np.uint64(row) << ROW
            entries[p] = at | np.uint64(v) << ONE
            entries[q] = at | np.uint64(u) << ONE | ONE
            twins[p], twins[q] = q, p
            free[u] = p + 1
            free[v] = q + 1


@inlined
def row_of(entry: Any) -> Any:
    """Return the row of an entry."""
    return np.int64(entry >> ROW)


@inlined
def other_of(entry: Any) -> Any:
    """Return the other end of an entry."""
    return np.int64(entry >> ONE & LOW)


@inlined
def side_of(entry: Any) -> Any:
    """Return 0 if the row of an entry goes out, and 1 if it comes in."""
    return np.int64(entry & ONE)


@inlined
def window_of(entries: Array, begin: Any, end: Any, row: Any) -> Any:
    """Return the place of the first of some entries whose row is not before `row`."""
    while begin < end:
        middle = (begin + end) >> 1
        if row_of(entries[middle]) < row:
            begin = middle + 1
        else:
            end = middle
    return begin
