"""What rows form with earlier rows, on all cores: see `rapids_tc.engines.as_of`.

A window slides along the entries of a vertex, and a table has for each of its neighbors the last
entry so far: it lies in the window if it is not before the window's first entry, so that nothing is
taken out. A task is a range of entries; if it begins in the middle of a vertex, its window is
filled first.

Triangles: a row is answered at the one of its ends that has more entries in the window, its pivot.
Those of the other end are walked, and looked up in the table of the pivot.

Squares: from the other end two steps are walked, from its entries to the entries of their other
ends, which are looked up at the pivot. The pivot is the end from which more would be walked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc._parallel import parallel_for
from rapids_tc.engines.as_of import COLUMNS, DISTINCT, PAIRS, SQUARES, TRIANGLES
from rapids_tc.engines.cpu.compiled import compiled, inlined
from rapids_tc.engines.cpu.parallel import exchange, load
from rapids_tc.engines.cpu.time_entries import (
    entries_of,
    other_of,
    row_of,
    side_of,
    tasks_of,
    window_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rapids_tc.engines.as_of import TimedRows
    from rapids_tc.engines.protocol import ProgressCallback
    from rapids_tc.preparation.csr import Array

OUT_LAST, IN_LAST, OUT_FIRST = 0, 1, 2  # columns of a table of triangles
OUT_SEEN, IN_SEEN, CYCLE_SEEN, SEEN = 1, 2, 4, 3  # bits of what a row has met, and their number
PAIR = COLUMNS.index(PAIRS[0])
CLOSED, CYCLE, MIDDLE, CLOSED_IN, CLOSED_OUT, IN_TIME = (COLUMNS.index(t) for t in TRIANGLES)


def as_of(
    rows: TimedRows, asked: Sequence[str], *, on_progress: ProgressCallback | None = None
) -> Array:
    """Count what rows form with earlier rows: see `rapids_tc.engines.protocol.Engine`."""
    counts = np.zeros((len(asked), len(rows)), np.int64)
    places = np.array([asked.index(name) if name in asked else -1 for name in COLUMNS])
    names, given = {*asked}, entries_of(rows)
    graph, size = (given.offsets, given.entries, rows.first), len(given.entries)
    walks = given.twins, given.begins
    threads, cuts, tables = tasks_of(size, rows.n)
    with_squares = bool(names & {*SQUARES})
    looked_up = rows.n * bool(with_squares or names & {*DISTINCT, *PAIRS})
    before = np.zeros(len(rows) * with_squares, np.uint32)
    parts = [(cuts[number], cuts[number + 1]) for number in range(len(cuts) - 1)]

    def fans(number: int, thread: int) -> None:
        own = tables[thread, :looked_up], given.begins, before
        _count_fans(*parts[number], *graph, *own, places, counts)

    parallel_for(fans, len(parts), threads)
    if names & {*TRIANGLES}:
        tables.fill(0)
        seen = np.zeros((threads, rows.n), np.int64)
        links = np.zeros(size if "cycles_closed" in names else 0, np.uint32)

        def triangles(number: int, thread: int) -> None:
            own = tables[thread], seen[thread], links
            _count_triangles(*parts[number], *graph, *walks, *own, places, counts)

        parallel_for(triangles, len(parts), threads, on_progress)
    if with_squares:
        tables.fill(0)
        work, of_rows = np.empty(size, np.int64), counts[places[-1]]
        steps, ins = np.empty(size, np.uint64), np.empty(size + 1, np.uint32)
        _split(given.entries, steps, ins)

        def add_work(number: int, thread: int) -> None:
            _add_work(*parts[number], given.offsets, *walks, work)

        def squares(number: int, thread: int) -> None:
            own = before, work, steps, ins, tables[thread]
            _count_squares(*parts[number], *graph, *walks, *own, of_rows)

        parallel_for(add_work, len(parts), threads)
        parallel_for(squares, len(parts), threads, on_progress)
    return counts


@inlined
def _add(places: Array, counts: Array, column: Any, row: Any, value: Any) -> None:
    if places[column] >= 0:
        counts[places[column], row] += value


@compiled
def _count_fans(
    begin: int, end: int, offsets: Array, entries: Array, first: Array, table: Array,
    begins: Array, before: Array, places: Array, counts: Array,
) -> None:  # fmt: skip
    """Find the windows of a range of entries, and count their rows, neighbors and repeats.

    With a `table`, which has for each neighbor the last entry of either direction, and how many of
    them are in the window. before[row] is the last row of the same ends in the window, counted
    from 1; 0 if there is none.
    """
    vertex, p = np.searchsorted(offsets, begin, side="right") - 1, begin
    sizes = np.zeros(4, np.int64)  # rows that go out, that come in, and their distinct neighbors
    while p < end:
        stop = min(offsets[vertex + 1], end)
        if p < stop:
            tail = window_of(entries, offsets[vertex], p, np.int64(first[row_of(entries[p])]))
            sizes[:] = 0
            if len(table):
                _clear(entries, tail, p, table)
            for t in range(tail, p):
                _enter(entries[t], t, tail, table, sizes)
        while p < stop:
            entry = entries[p]
            row, other, side = row_of(entry), other_of(entry), side_of(entry)
            while tail < p and row_of(entries[tail]) < first[row]:
                _leave(entries[tail], tail, table, sizes)
                tail += 1
            begins[p] = tail
            for way in range(2):
                _add(places, counts, 2 * side + way, row, sizes[way])
                _add(places, counts, 4 + 2 * side + way, row, sizes[2 + way])
                if side == 0 and len(table) and table[other, way] > tail:
                    _add(places, counts, PAIR + way, row, np.int64(table[other, 2 + way]))
                    if way == 0 and len(before):
                        before[row] = row_of(entries[np.int64(table[other, 0]) - 1]) + 1
            _enter(entry, p, tail, table, sizes)
            p += 1
        vertex += 1


@inlined
def _clear(entries: Array, tail: Any, p: Any, table: Array) -> None:
    """Take the neighbors of a window out of the table, in which an earlier task may have put them.

    Then the entries from `tail` to before p are put in.
    """
    for t in range(tail, p):
        table[other_of(entries[t]), 0] = table[other_of(entries[t]), 1] = 0


@inlined
def _enter(entry: Any, p: Any, tail: Any, table: Array, sizes: Array) -> None:
    """Let the entry at p into the window that begins at `tail`."""
    way = side_of(entry)
    sizes[way] += 1
    if len(table):
        other = other_of(entry)
        if table[other, way] <= tail:  # places are counted from 1: none is in the window
            sizes[2 + way] += 1
            table[other, 2 + way] = 0
        table[other, 2 + way] += 1
        table[other, way] = p + 1


@inlined
def _leave(entry: Any, tail: Any, table: Array, sizes: Array) -> None:
    """Let the first entry out of a window."""
    way = side_of(entry)
    sizes[way] -= 1
    if len(table):
        other = other_of(entry)
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
            _clear(entries, tail, p, table)
            for t in range(tail, p):
                _note(entries[t], t, tail, table, links)
        while p < stop:
            while tail < begins[p]:
                _forget(entries[tail], tail, table, links)
                tail += 1
            q = np.int64(twins[p])
            own, walked = p - tail, q - np.int64(begins[q])
            if own > walked or (own == walked and side_of(entries[p]) == 0):
                for t in range(q - walked, q):
                    w = other_of(entries[t])
                    if table[w, OUT_LAST] > tail or table[w, IN_LAST] > tail:
                        _meet(entries, p, t, w, tail, table, seen, places, counts)
            _note(entries[p], p, tail, table, links)
            p += 1
        vertex += 1


@inlined
def _note(entry: Any, p: Any, tail: Any, table: Array, links: Array) -> None:
    """Note the entry at p in the table of a window that begins at `tail`."""
    other, way = other_of(entry), side_of(entry)
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
    other = other_of(entry)
    if len(links) and side_of(entry) == 0 and table[other, OUT_LAST] > tail + 1:
        table[other, OUT_FIRST] = load(links, tail) + 1


@inlined
def _meet(
    entries: Array, p: Any, t: Any, w: Any, tail: Any, table: Array, seen: Array, places: Array,
    counts: Array,
) -> None:  # fmt: skip
    """Count what the entry at t of the other end, whose neighbor is w, closes with the row of p."""
    row, is_v, way = row_of(entries[p]), side_of(entries[p]), side_of(entries[t])
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


@compiled
def _add_work(
    begin: int, end: int, offsets: Array, twins: Array, begins: Array, work: Array
) -> None:
    """Add up how many entries a walk of two steps meets from each of a range of entries.

    The windows of the other ends are taken as they were when their entries came.
    """
    vertex, p = np.searchsorted(offsets, begin, side="right") - 1, begin
    while p < end:
        stop, total = min(offsets[vertex + 1], end), np.int64(0)
        if p < stop:
            tail = np.int64(begins[p])
            for t in range(tail, p):
                total += np.int64(twins[t]) - np.int64(begins[twins[t]]) + 1
        while p < stop:
            while tail < begins[p]:
                total -= np.int64(twins[tail]) - np.int64(begins[twins[tail]]) + 1
                tail += 1
            work[p] = total
            total += np.int64(twins[p]) - np.int64(begins[twins[p]]) + 1
            p += 1
        vertex += 1


@compiled
def _count_squares(
    begin: int, end: int, offsets: Array, entries: Array, first: Array, twins: Array,
    begins: Array, before: Array, work: Array, steps: Array, ins: Array, table: Array,
    counts: Array,
) -> None:  # fmt: skip
    """Count the squares that rows close whose pivots have a range of entries: see `_walk_twice`."""
    none = np.zeros(0, np.uint32)
    vertex, p = np.searchsorted(offsets, begin, side="right") - 1, begin
    while p < end:
        stop = min(offsets[vertex + 1], end)
        if p < stop:
            tail = np.int64(begins[p])
            _clear(entries, tail, p, table)
            for t in range(tail, p):
                _note(entries[t], t, tail, table, none)
        while p < stop:
            tail, q, row = np.int64(begins[p]), np.int64(twins[p]), row_of(entries[p])
            if work[q] < work[p] or (work[q] == work[p] and side_of(entries[p]) == 0):
                since = np.int64(first[row])
                counts[row] = _walk_twice(
                    p, q, row, since, offsets, entries, twins, begins, before, steps, ins, table,
                    tail,
                )  # fmt: skip
            _note(entries[p], p, tail, table, none)
            p += 1
        vertex += 1


@inlined
def _walk_twice(
    p: Any, q: Any, row: Any, since: Any, offsets: Array, entries: Array, twins: Array,
    begins: Array, before: Array, steps: Array, ins: Array, table: Array, tail: Any,
) -> Any:  # fmt: skip
    """Count the squares of the row whose entries are p, at the pivot, and q, at the other end.

    Its window begins with the row `since`. From y, the other end, rows of either way lead to a w,
    and from there, in if the pivot x is the source and else out, to a z; a row of the way of the
    first step between x and z makes the square. If it goes out, the row scatters; if in, it
    gathers.
    """
    total, y, x = np.int64(0), other_of(entries[p]), other_of(entries[q])
    then, comes = 1 - side_of(entries[p]), np.int64(ins[p]) - np.int64(ins[tail])
    goes = p - tail - comes
    for t in range(np.int64(begins[q]), q):
        w, way = other_of(entries[t]), side_of(entries[t])
        if w == x or before[row_of(entries[t])] > since or (comes if way else goes) == 0:
            continue
        low, high = _step(ins, offsets[w], then), _step(ins, offsets[w + 1], then)
        at = _step(ins, np.int64(twins[t]), then)
        i = at - 1
        while i >= low and row_of(steps[i]) >= since:
            z = other_of(steps[i])
            if table[z, way] > tail and z != y:
                total += np.int64(before[row_of(steps[i])] <= since)
            i -= 1
        i = at
        while i < high and row_of(steps[i]) < row:
            z = other_of(steps[i])
            if table[z, way] > tail and z != y:
                total += np.int64(before[row_of(steps[i])] <= since)
            i += 1
    return total


@inlined
def _step(ins: Array, p: Any, way: Any) -> Any:
    """Return the place in `steps` of the first entry of a way, from that at p on."""
    before = np.int64(ins[p])
    return (len(ins) >> 1) + before if way else p - before


@compiled
def _split(entries: Array, steps: Array, ins: Array) -> None:
    """Write the entries that go out, then those that come in, and how many come in before each."""
    out, comes, half = 0, 0, len(entries) >> 1
    for p in range(len(entries)):
        ins[p] = comes
        if side_of(entries[p]):
            steps[half + comes] = entries[p]
            comes += 1
        else:
            steps[out] = entries[p]
            out += 1
    ins[len(entries)] = comes
