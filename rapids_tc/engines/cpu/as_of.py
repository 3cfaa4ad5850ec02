"""What rows form with earlier rows, on all cores: see `rapids_tc.engines.as_of`.

The *entries* of a vertex are its rows in the order of time, as it sees them. A window slides along
the entries of a vertex, and a table has for each of its neighbors the last entry so far: it lies in
the window if it is not before the window's first entry, so that nothing is taken out.

A row is answered at the one of its ends that has more entries in the window, its pivot: those of
the other end are walked, and looked up in the table of the pivot. A task is a range of entries; if
it begins in the middle of a vertex, its window is filled first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc._parallel import SERIAL_BELOW, parallel_for, thread_count
from rapids_tc.engines.as_of import COLUMNS, DISTINCT, PAIRS, TRIANGLES
from rapids_tc.engines.cpu.compiled import compiled, inlined
from rapids_tc.engines.cpu.parallel import exchange, load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rapids_tc.engines.as_of import TimedRows
    from rapids_tc.engines.protocol import ProgressCallback
    from rapids_tc.preparation.csr import Array

TASKS_PER_THREAD = 64
WORDS, SLOT = 4, 24  # of a vertex in the tables of a thread: words of 32 bits, and bytes in all
ROW, ONE, LOW = np.uint64(33), np.uint64(1), np.uint64(2**32 - 1)  # see `Entries`
OUT_LAST, IN_LAST, OUT_FIRST = 0, 1, 2  # columns of a table of triangles
OUT_SEEN, IN_SEEN, CYCLE_SEEN, SEEN = 1, 2, 4, 3  # bits of what a row has met, and their number
PAIR = COLUMNS.index(PAIRS[0])
CLOSED, CYCLE, MIDDLE, CLOSED_IN, CLOSED_OUT, IN_TIME = (COLUMNS.index(t) for t in TRIANGLES)


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


def as_of(
    rows: TimedRows, asked: Sequence[str], *, on_progress: ProgressCallback | None = None
) -> Array:
    """Count what rows form with earlier rows: see `rapids_tc.engines.protocol.Engine`."""
    counts = np.zeros((len(asked), len(rows)), np.int64)
    places = np.array([asked.index(name) if name in asked else -1 for name in COLUMNS])
    given = _entries(rows)
    graph = given.offsets, given.entries, rows.first
    threads, cuts, tables = _tasks(len(given.entries), rows.n)
    seen, links = np.zeros((threads, rows.n), np.int64), np.zeros(0, np.uint32)
    if "cycles_closed" in asked:
        links = np.zeros(len(given.entries), np.uint32)
    looked_up = bool({*asked} & {*DISTINCT, *PAIRS})

    def fans(number: int, thread: int) -> None:
        part, table = (cuts[number], cuts[number + 1]), tables[thread, : rows.n * looked_up]
        _count_fans(*part, *graph, table, given.begins, places, counts)

    def triangles(number: int, thread: int) -> None:
        part, windows = (cuts[number], cuts[number + 1]), (given.twins, given.begins)
        own = tables[thread], seen[thread], links
        _count_triangles(*part, *graph, *windows, *own, places, counts)

    parallel_for(fans, len(cuts) - 1, threads)
    if {*asked} & {*TRIANGLES}:
        tables.fill(0)
        parallel_for(triangles, len(cuts) - 1, threads, on_progress)
    return counts


def _entries(rows: TimedRows) -> Entries:
    """Write the entries of all vertices; their windows are left open."""
    offsets = np.zeros(rows.n + 1, np.int64)
    size = _count_entries(rows.src, rows.dst, offsets)
    entries, twins, begins = (np.empty(size, dtype) for dtype in (np.uint64, np.uint32, np.uint32))
    _place(rows.src, rows.dst, offsets[:-1].copy(), entries, twins)
    return Entries(offsets, entries, twins, begins)


def _tasks(entries: int, n: int) -> tuple[int, Array, Array]:
    """Return how many threads to start, the ranges of entries of their tasks, and their tables.

    All tables take no more than the entries do, or are one.
    """
    threads = thread_count() if entries > SERIAL_BELOW >> 4 else 1
    threads = max(1, min(threads, 8 * entries // (SLOT * max(n, 1))))
    tasks = threads * TASKS_PER_THREAD if threads > 1 else 1
    cuts = np.unique(np.linspace(0, entries, tasks + 1).astype(np.int64))
    return threads, cuts, np.zeros((threads, n, WORDS), np.uint32)


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
def _row(entry: Any) -> Any:
    return np.int64(entry >> ROW)


@inlined
def _other(entry: Any) -> Any:
    return np.int64(entry >> ONE & LOW)


@inlined
def _side(entry: Any) -> Any:
    return np.int64(entry & ONE)


@inlined
def _window(entries: Array, begin: Any, end: Any, row: Any) -> Any:
    """Return the place of the first of some entries whose row is not before `row`."""
    while begin < end:
        middle = (begin + end) >> 1
        if _row(entries[middle]) < row:
            begin = middle + 1
        else:
            end = middle
    return begin


@inlined
def _add(places: Array, counts: Array, column: Any, row: Any, value: Any) -> None:
    if places[column] >= 0:
        counts[places[column], row] += value


@compiled
def _count_fans(
    begin: int, end: int, offsets: Array, entries: Array, first: Array, table: Array,
    begins: Array, places: Array, counts: Array,
) -> None:  # fmt: skip
    """Find the windows of a range of entries, and count their rows, neighbors and repeats.

    With a `table`, which has for each neighbor the last entry of either direction, and how many of
    them are in the window.
    """
    vertex, p = np.searchsorted(offsets, begin, side="right") - 1, begin
    sizes = np.zeros(4, np.int64)  # rows that go out, that come in, and their distinct neighbors
    while p < end:
        stop = min(offsets[vertex + 1], end)
        if p < stop:
            tail = _window(entries, offsets[vertex], p, np.int64(first[_row(entries[p])]))
            sizes[:] = 0
            if len(table):
                for t in range(tail, p):  # an earlier task may have had them
                    table[_other(entries[t]), 0] = table[_other(entries[t]), 1] = 0
            for t in range(tail, p):
                _enter(entries[t], t, tail, table, sizes)
        while p < stop:
            entry = entries[p]
            row, other, side = _row(entry), _other(entry), _side(entry)
            while tail < p and _row(entries[tail]) < first[row]:
                _leave(entries[tail], tail, table, sizes)
                tail += 1
            begins[p] = tail
            for way in range(2):
                _add(places, counts, 2 * side + way, row, sizes[way])
                _add(places, counts, 4 + 2 * side + way, row, sizes[2 + way])
                if side == 0 and len(table) and table[other, way] > tail:
                    _add(places, counts, PAIR + way, row, np.int64(table[other, 2 + way]))
            _enter(entry, p, tail, table, sizes)
            p += 1
        vertex += 1


@inlined
def _enter(entry: Any, p: Any, tail: Any, table: Array, sizes: Array) -> None:
    """Let the entry at p into the window that begins at `tail`."""
    way = _side(entry)
    sizes[way] += 1
    if len(table):
        other = _other(entry)
        if table[other, way] <= tail:  # places are counted from 1: none is in the window
            sizes[2 + way] += 1
            table[other, 2 + way] = 0
        table[other, 2 + way] += 1
        table[other, way] = p + 1


@inlined
def _leave(entry: Any, tail: Any, table: Array, sizes: Array) -> None:
    """Let the first entry out of a window."""
    way = _side(entry)
    sizes[way] -= 1
    if len(table):
        other = _other(entry)
        table[other, 2 + way] -= 1
        if table[other, way] == tail + 1:
            sizes[2 + way] -= 1


@compiled
def _count_triangles(
    begin: int, end: int, offsets: Array, entries: Array, first: Array, twins: Array,
    begins: Array, table: Array, seen: Array, links: Array, places: Array, counts: Array,
) -> None:  # fmt: skip
    """Count the triangles that rows close whose pivots have a range of entries.

    `table` has for each neighbor of the pivot the last entry of either direction, and the first in
    the window that goes out; links[p] is the next entry that goes out to the same neighbor as the
    one at p. seen[w] tells by which rows w was met: see `_meet`.
    """
    vertex, p = np.searchsorted(offsets, begin, side="right") - 1, begin
    while p < end:
        stop = min(offsets[vertex + 1], end)
        if p < stop:
            tail = np.int64(begins[p])
            for t in range(tail, p):  # an earlier task may have had them
                table[_other(entries[t]), 0] = table[_other(entries[t]), 1] = 0
            for t in range(tail, p):
                _note(entries[t], t, tail, table, links)
        while p < stop:
            while tail < begins[p]:
                _forget(entries[tail], tail, table, links)
                tail += 1
            q = np.int64(twins[p])
            own, walked = p - tail, q - np.int64(begins[q])
            if own > walked or (own == walked and _side(entries[p]) == 0):
                for t in range(q - walked, q):
                    w = _other(entries[t])
                    if table[w, OUT_LAST] > tail or table[w, IN_LAST] > tail:
                        _meet(entries, p, t, w, tail, table, seen, places, counts)
            _note(entries[p], p, tail, table, links)
            p += 1
        vertex += 1


@inlined
def _note(entry: Any, p: Any, tail: Any, table: Array, links: Array) -> None:
    """Note the entry at p in the table of a window that begins at `tail`."""
    other, way = _other(entry), _side(entry)
    if way == 0 and len(links):
        last = np.int64(table[other, OUT_LAST])
        if last <= tail:
            table[other, OUT_FIRST] = p + 1
        else:
            exchange(links, last - 1, np.uint32(p))  # other tasks may note the same
    table[other, way] = p + 1


@inlined
def _forget(entry: Any, tail: Any, table: Array, links: Array) -> None:
    """Let the first entry out of a window: the next one to its neighbor becomes the first."""
    other = _other(entry)
    if len(links) and _side(entry) == 0 and table[other, OUT_LAST] > tail + 1:
        table[other, OUT_FIRST] = load(links, tail) + 1


@inlined
def _meet(
    entries: Array, p: Any, t: Any, w: Any, tail: Any, table: Array, seen: Array, places: Array,
    counts: Array,
) -> None:  # fmt: skip
    """Count what the entry at t of the other end, whose neighbor is w, closes with the row of p."""
    row, is_v, way = _row(entries[p]), _side(entries[p]), _side(entries[t])
    before = seen[w] if seen[w] >> SEEN == row + 1 else (row + 1) << SEEN
    out, into = np.int64(table[w, OUT_LAST]), np.int64(table[w, IN_LAST])
    now = before | (OUT_SEEN if way == 0 else IN_SEEN)
    if now != before:
        if before & (OUT_SEEN | IN_SEEN) == 0:
            _add(places, counts, CLOSED, row, 1)
        goes, comes = np.int64(out > tail), np.int64(into > tail)
        if way == 0:  # the other end goes to w, as the pivot may
            _add(places, counts, CLOSED_IN, row, goes)
            _add(places, counts, MIDDLE if is_v else CYCLE, row, comes)
        else:
            _add(places, counts, CYCLE if is_v else MIDDLE, row, goes)
            _add(places, counts, CLOSED_OUT, row, comes)
    if places[IN_TIME] >= 0 and way == is_v and before & CYCLE_SEEN == 0:
        if is_v:
            in_time = out > tail and entries[np.int64(table[w, OUT_FIRST]) - 1] < entries[t]
        else:
            in_time = into > tail and entries[t] < entries[into - 1]
        if in_time:
            now |= CYCLE_SEEN
            counts[places[IN_TIME], row] += 1
    seen[w] = now
