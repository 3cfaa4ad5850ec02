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
    WORDS,
    Runs,
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


class KeptRows:
    """Rows and their entries: see `rapids_tc.engines.protocol.KeptRows`.

    The tables of threads, which no later run takes for its own, are kept as well: a few rows would
    pay for the memory of all vertices each time.
    """

    def __init__(self, rows: TimedRows, asked: Sequence[str], room: int = 0) -> None:
        self.rows, self._asked, self._names = rows, asked, {*asked}
        self._given, self._room = entries_of(rows, room), room
        self._places = np.array([asked.index(name) if name in asked else -1 for name in COLUMNS])
        self._with_squares = bool(self._names & {*SQUARES})
        self._before = np.zeros((len(rows) + room) * self._with_squares, np.uint32)
        self._noted = 0  # rows whose place in `_before` is filled
        self._scratch: dict[str, Array] = {}

    def drop(self, since: int) -> None:
        """Forget the rows from `since` on; see the protocol."""
        self._given.drop(self.rows, since)
        self._before[since:] = 0
        self._scratch.pop("seen", None)  # in which numbers of rows stand, that others get now
        self.rows, self._noted = self.rows.until(since), min(self._noted, since)

    def add(self, rows: TimedRows, oldest: int) -> bool:
        """Take all rows, of which those that are new follow the others; see the protocol."""
        known, self.rows = len(self.rows), rows
        return self._given.add(rows, known, oldest)

    def counts(self, since: int = 0, *, on_progress: ProgressCallback | None = None) -> Array:
        """Count what the rows from `since` on form with earlier rows; see the protocol."""
        rows, names, given, places = self.rows, self._names, self._given, self._places
        begin = min(since, self._noted) if self._with_squares else since
        counts = np.zeros((len(self._asked), len(rows) - begin), np.int64)
        graph, spans = (given.entries, rows.first), (given.starts, given.stops)
        walks = given.twins, given.begins
        written: Any = (places, counts, begin)
        runs, before, slots = given.runs(rows, begin), self._before, len(given.entries)
        threads, cuts = tasks_of(runs, given.used, rows.n)
        parts = [(cuts[number], cuts[number + 1]) for number in range(len(cuts) - 1)]
        looks_up = self._with_squares or bool(names & {*DISTINCT, *PAIRS})
        looked_up = rows.n * (looks_up or bool(names & {*TRIANGLES}))
        tables = self._memory("tables", (threads, looked_up, WORDS), np.uint32)

        def fans(number: int, thread: int) -> None:
            own = tables[thread, : rows.n * looks_up], given.begins, before
            _count_fans(*parts[number], runs, *graph, *own, *written)

        parallel_for(fans, len(parts), threads)
        self._noted, runs = len(rows), given.runs(rows, since) if since != begin else runs
        if names & {*TRIANGLES}:
            seen = self._memory("seen", (threads, rows.n), np.int64)
            with_links = "cycles_closed" in names
            links = self._memory("links", (slots * with_links,), np.uint32)

            def triangles(number: int, thread: int) -> None:
                own = tables[thread], seen[thread], links
                _count_triangles(*parts[number], runs, *graph, *walks, *own, *written)

            parallel_for(triangles, len(parts), threads, on_progress)
        if self._with_squares:
            work = self._memory("work", (slots,), np.int64)
            steps, ins, of_rows = given.entries, np.empty(0, np.uint32), counts[places[-1]]
            if not self._room:
                steps, ins = np.empty_like(steps), np.empty(slots + 1, np.uint32)
                _split(given.entries, steps, ins)

            def add_work(number: int, thread: int) -> None:
                _add_work(*parts[number], runs, *walks, work)

            def squares(number: int, thread: int) -> None:
                own = before, work, steps, ins, tables[thread], of_rows, begin
                _count_squares(*parts[number], runs, *graph, *spans, *walks, *own)

            parallel_for(add_work, len(parts), threads)
            parallel_for(squares, len(parts), threads, on_progress)
        return counts[:, since - begin :]

    def _memory(self, name: str, shape: tuple[int, ...], dtype: Any) -> Array:
        """Return zeros, or what an earlier call has left of them."""
        found = self._scratch.get(name)
        if found is None or any(has < size for has, size in zip(found.shape, shape, strict=True)):
            found = np.zeros(shape, dtype)
            if self._room:
                self._scratch[name] = found
        return found


def as_of(
    rows: TimedRows, asked: Sequence[str], *, on_progress: ProgressCallback | None = None
) -> Array:
    """Count what rows form with earlier rows: see `rapids_tc.engines.protocol.Engine`."""
    return KeptRows(rows, asked).counts(on_progress=on_progress)


@inlined
def _add(
    places: Array, counts: Array, since: Any, column: Any, row: Any, value: Any
) -> None:  # fmt: skip
    if places[column] >= 0:
        counts[places[column], row - since] += value


@compiled
def _count_fans(
    begin: int, end: int, runs: Runs, entries: Array, first: Array, table: Array,
    begins: Array, before: Array, places: Array, counts: Array, since: int,
) -> None:  # fmt: skip
    """Find the windows of a range of entries, and count their rows, neighbors and repeats.

    With a `table`, which has for each neighbor the last entry of either direction, and how many of
    them are in the window. before[row] is the last row of the same ends in the window, counted
    from 1; 0 if there is none.
    """
    run = np.searchsorted(runs.stops, begin, side="right")
    sizes = np.zeros(4, np.int64)  # rows that go out, that come in, and their distinct neighbors
    while run < len(runs.stops) and runs.froms[run] < end:
        p, stop = max(runs.froms[run], begin), min(runs.stops[run], end)
        if p >= stop:
            run += 1
            continue
        tail = oldest = window_of(entries, runs.starts[run], p, np.int64(first[row_of(entries[p])]))
        sizes[:] = 0
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
                _add(places, counts, since, 2 * side + way, row, sizes[way])
                _add(places, counts, since, 4 + 2 * side + way, row, sizes[2 + way])
                if side == 0 and len(table) and table[other, way] > tail:
                    _add(places, counts, since, PAIR + way, row, np.int64(table[other, 2 + way]))
                    if way == 0 and len(before):
                        before[row] = row_of(entries[np.int64(table[other, 0]) - 1]) + 1
            _enter(entry, p, tail, table, sizes)
            p += 1
        if len(table):
            _clear(entries, oldest, stop, table)
        run += 1


@inlined
def _clear(entries: Array, tail: Any, p: Any, table: Array) -> None:
    """Take the neighbors of the entries from `tail` to before p out of the table."""
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
    begin: int, end: int, runs: Runs, entries: Array, first: Array, twins: Array, begins: Array,
    table: Array, seen: Array, links: Array, places: Array, counts: Array, since: int,
) -> None:  # fmt: skip
    """Count the triangles that rows close whose pivots have a range of entries.

    `table` has for each neighbor of the pivot the last entry of either direction, and the first in
    the window that goes out; links[p] is the next entry that goes out to the same neighbor as the
    one at p. seen[w] tells by which rows w was met: see `_meet`.
    """
    run = np.searchsorted(runs.stops, begin, side="right")
    while run < len(runs.stops) and runs.froms[run] < end:
        p, stop = max(runs.froms[run], begin), min(runs.stops[run], end)
        if p >= stop:
            run += 1
            continue
        tail = oldest = np.int64(begins[p])
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
                        _meet(entries, p, t, w, tail, table, seen, places, counts, since)
            _note(entries[p], p, tail, table, links)
            p += 1
        _clear(entries, oldest, stop, table)
        run += 1


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
    counts: Array, since: Any,
) -> None:  # fmt: skip
    """Count what the entry at t of the other end, whose neighbor is w, closes with the row of p."""
    row, is_v, way = row_of(entries[p]), side_of(entries[p]), side_of(entries[t])
    before = seen[w] if seen[w] >> SEEN == row + 1 else (row + 1) << SEEN
    out, into = np.int64(table[w, OUT_LAST]), np.int64(table[w, IN_LAST])
    now = before | (OUT_SEEN if way == 0 else IN_SEEN)
    if now != before:
        if before & (OUT_SEEN | IN_SEEN) == 0:
            _add(places, counts, since, CLOSED, row, 1)
        goes, comes = np.int64(out > tail), np.int64(into > tail)
        if way == 0:  # the other end goes to w, as the pivot may
            _add(places, counts, since, CLOSED_IN, row, goes)
            _add(places, counts, since, MIDDLE if is_v else CYCLE, row, comes)
        else:
            _add(places, counts, since, CYCLE if is_v else MIDDLE, row, goes)
            _add(places, counts, since, CLOSED_OUT, row, comes)
    if places[IN_TIME] >= 0 and way == is_v and before & CYCLE_SEEN == 0:
        if is_v:
            in_time = out > tail and entries[np.int64(table[w, OUT_FIRST]) - 1] < entries[t]
        else:
            in_time = into > tail and entries[t] < entries[into - 1]
        if in_time:
            now |= CYCLE_SEEN
            counts[places[IN_TIME], row - since] += 1
    seen[w] = now


@compiled
def _add_work(begin: int, end: int, runs: Runs, twins: Array, begins: Array, work: Array) -> None:
    """Add up how many entries a walk of two steps meets from each of a range of entries.

    The windows of the other ends are taken as they were when their entries came.
    """
    run, total = np.searchsorted(runs.stops, begin, side="right"), np.int64(0)
    while run < len(runs.stops) and runs.froms[run] < end:
        p, stop, total = max(runs.froms[run], begin), min(runs.stops[run], end), np.int64(0)
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
        run += 1


@compiled
def _count_squares(
    begin: int, end: int, runs: Runs, entries: Array, first: Array, starts: Array, stops: Array,
    twins: Array, begins: Array, before: Array, work: Array, steps: Array, ins: Array,
    table: Array, counts: Array, since: int,
) -> None:  # fmt: skip
    """Count the squares that rows close whose pivots have a range of entries: see `_walk_twice`."""
    none = np.zeros(0, np.uint32)
    run = np.searchsorted(runs.stops, begin, side="right")
    while run < len(runs.stops) and runs.froms[run] < end:
        p, stop = max(runs.froms[run], begin), min(runs.stops[run], end)
        if p >= stop:
            run += 1
            continue
        first_tail = np.int64(begins[p])
        for t in range(first_tail, p):
            _note(entries[t], t, first_tail, table, none)
        while p < stop:
            tail, q, row = np.int64(begins[p]), np.int64(twins[p]), row_of(entries[p])
            if work[q] < work[p] or (work[q] == work[p] and side_of(entries[p]) == 0):
                oldest = np.int64(first[row])
                counts[row - since] = _walk_twice(
                    p, q, row, oldest, entries, starts, stops, twins, begins, before, steps, ins,
                    table, tail,
                )  # fmt: skip
            _note(entries[p], p, tail, table, none)
            p += 1
        _clear(entries, first_tail, stop, table)
        run += 1


@inlined
def _walk_twice(
    p: Any, q: Any, row: Any, since: Any, entries: Array, starts: Array, stops: Array,
    twins: Array, begins: Array, before: Array, steps: Array, ins: Array, table: Array, tail: Any,
) -> Any:  # fmt: skip
    """Count the squares of the row whose entries are p, at the pivot, and q, at the other end.

    Its window begins with the row `since`. From y, the other end, rows of either way lead to a w,
    and from there, in if the pivot x is the source and else out, to a z; a row of the way of the
    first step between x and z makes the square. If it goes out, the row scatters; if in, it
    gathers.
    """
    total, y, x = np.int64(0), other_of(entries[p]), other_of(entries[q])
    then, comes, goes = 1 - side_of(entries[p]), p - tail, p - tail
    if len(ins):
        comes = np.int64(ins[p]) - np.int64(ins[tail])
        goes -= comes
    for t in range(np.int64(begins[q]), q):
        w, way = other_of(entries[t]), side_of(entries[t])
        if w == x or before[row_of(entries[t])] > since or (comes if way else goes) == 0:
            continue
        low, high, at = starts[w], stops[w], np.int64(twins[t])
        if len(ins):
            low, high, at = _step(ins, low, then), _step(ins, high, then), _step(ins, at, then)
        i = at - 1
        while i >= low and row_of(steps[i]) >= since:
            z = other_of(steps[i])
            if table[z, way] > tail and z != y and side_of(steps[i]) == then:
                total += np.int64(before[row_of(steps[i])] <= since)
            i -= 1
        i = at
        while i < high and row_of(steps[i]) < row:
            z = other_of(steps[i])
            if table[z, way] > tail and z != y and side_of(steps[i]) == then:
                total += np.int64(before[row_of(steps[i])] <= since)
            i += 1
    return total


@inlined
def _step(ins: Array, p: Any, way: Any) -> Any:
    """Return the place in `steps` of the first entry of a way, from the one at p on."""
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
