"""The entries of vertices in the order of time: what columns as of a time are counted from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

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
GROWTH = 3  # slots of entries, if rows are added, for one that is there by then
ROW, ONE, LOW = np.uint64(33), np.uint64(1), np.uint64(2**32 - 1)  # see `Entries`


class Runs(NamedTuple):
    """Entries of some vertices that are counted, in the order of their places.

    Attributes
    ----------
    starts : array of int64
        Where the entries of each vertex begin.
    froms, stops : array of int64
        Those that are counted are entries[from : stop].
    """

    starts: Array
    froms: Array
    stops: Array


@dataclass
class Entries:
    """The entries of all vertices.

    Attributes
    ----------
    starts, stops, limits : array of int64, shape (n,)
        Those of vertex v are entries[starts[v] : stops[v]], in the order of time, and there is room
        up to limits[v].
    entries : array of uint64
        Each is the row << 33 | the other end << 1 | whether the row comes in.
    twins : array of uint32
        The place of the same row's entry at its other end.
    begins : array of uint32
        Where the window of each entry begins.
    used : int
        Where a vertex without room gets it.
    """

    starts: Array
    stops: Array
    limits: Array
    entries: Array
    twins: Array
    begins: Array
    used: int

    def add(self, rows: TimedRows, since: int, oldest: int) -> bool:
        """Add the rows from `since` on; return False if there is no room for them all.

        Entries of rows before `oldest` may be lost.
        """
        self.used = _append(
            rows.src, rows.dst, since, len(rows), oldest, self.starts, self.stops, self.limits,
            self.entries, self.twins, self.begins, self.used,
        )  # fmt: skip
        return self.used >= 0

    def drop(self, rows: TimedRows, since: int) -> None:
        """Take the rows from `since` on out, which are the last of their ends."""
        _take_out(rows.src[since:], rows.dst[since:], self.stops)

    def runs(self, rows: TimedRows, since: int) -> Runs:
        """Return the entries of the rows from `since` on."""
        if not since and self.starts.base is not None:  # nobody has moved
            return Runs(self.starts, self.starts, self.stops)
        vertices = np.unique(np.concatenate([rows.src[since:], rows.dst[since:]]))
        vertices = vertices[np.argsort(self.starts[vertices])]
        starts, stops = self.starts[vertices], self.stops[vertices]
        froms = np.empty(len(vertices), np.int64)
        _find_first(self.entries, starts, stops, since, froms)
        return Runs(starts, froms, stops)


def entries_of(rows: TimedRows, room: int = 0) -> Entries:
    """Write the entries of all vertices; their windows are left open.

    `room` is how many rows may be added at least, unless few vertices have many.
    """
    offsets = np.zeros(rows.n + 1, np.int64)
    size = _count_entries(rows.src, rows.dst, offsets)
    slots = size if not room else GROWTH * (size + 2 * room)
    entries, twins, begins = (np.empty(slots, dtype) for dtype in (np.uint64, np.uint32, np.uint32))
    _place(rows.src, rows.dst, offsets[:-1].copy(), entries, twins)
    if not room:
        return Entries(offsets[:-1], offsets[1:], offsets[1:], entries, twins, begins, size)
    spans = (offsets[:-1].copy(), offsets[1:].copy(), offsets[1:])
    return Entries(*spans, entries, twins, begins, size)


def tasks_of(runs: Runs, used: int, n: int) -> tuple[int, Array]:
    """Return how many threads to start, and the ranges of places of their tasks.

    Fewer threads are started if there are few entries for many vertices, to save memory.
    """
    entries = int((runs.stops - runs.starts).sum())
    most = max(model.TIMED_TABLES * entries // 2, model.MOST_WEDGE_COUNTERS)
    threads = threads_for(entries * STEPS, max(1, most // (model.TIMED_TABLE * max(n, 1))))
    tasks = threads * TASKS_PER_THREAD if threads > 1 else 1
    return threads, np.unique(np.linspace(0, used, tasks + 1).astype(np.int64))


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


@compiled
def _take_out(src: Array, dst: Array, stops: Array) -> None:
    """Let the entries of some rows end before them."""
    for row in range(len(src)):
        if src[row] != dst[row]:
            stops[src[row]] -= 1
            stops[dst[row]] -= 1


@compiled
def _append(
    src: Array, dst: Array, row: int, end: int, oldest: int, starts: Array, stops: Array,
    limits: Array, entries: Array, twins: Array, begins: Array, used: int,
) -> int:  # fmt: skip
    """Write the entries of further rows; return which slots are used then, or -1: too few."""
    while row < end:
        u, v = np.int64(src[row]), np.int64(dst[row])
        for vertex in (u, v):
            if u != v and stops[vertex] == limits[vertex]:
                first = window_of(entries, starts[vertex], stops[vertex], oldest)
                size = stops[vertex] - first
                if used + 2 * size + 2 > len(entries):
                    return -1
                for p in range(first, stops[vertex]):
                    q = used + p - first
                    entries[q], twins[q] = entries[p], twins[p]
                    twins[twins[p]] = q
                    begins[q] = max(np.int64(begins[p]), first) - first + used
                starts[vertex], stops[vertex] = used, used + size
                used += 2 * size + 2
                limits[vertex] = used
        if u != v:
            p, q, at = stops[u], stops[v], np.uint64(row) << ROW
            entries[p] = at | np.uint64(v) << ONE
            entries[q] = at | np.uint64(u) << ONE | ONE
            twins[p], twins[q] = q, p
            stops[u] = p + 1
            stops[v] = q + 1
        row += 1
    return used


@compiled
def _find_first(entries: Array, starts: Array, stops: Array, row: int, found: Array) -> None:
    """Find in each range of entries the first whose row is not before `row`."""
    for i in range(len(starts)):
        found[i] = window_of(entries, starts[i], stops[i], row)


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
