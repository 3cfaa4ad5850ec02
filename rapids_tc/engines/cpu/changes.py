"""The triangles that changed edges close, on all cores.

For a changed edge, the neighbors of the end of lower degree are walked, and each is looked up among
those of the other end, the *hub*. Edges of one hub follow one another: if they walk much, the hub's
neighbors are marked in a table first, else searched. Rows are the rows of the CSR, their in-edges,
and the few edges that were added later, sorted by both ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc._parallel import parallel_for, threads_for
from rapids_tc.engines.cpu import look_up
from rapids_tc.engines.cpu.compiled import compiled, inlined
from rapids_tc.engines.cpu.parallel import atomic_add, exchange, find
from rapids_tc.engines.cpu.sorting import cut_evenly
from rapids_tc.engines.neighbor_rows import (
    CHANGE,
    COUNT,
    END,
    LIVE,
    NO_SLOT,
    NO_VERTEX,
    WHEN,
    WORDS,
    RowSlots,
)
from rapids_tc.preparation.csr import pack_keys

if TYPE_CHECKING:
    from rapids_tc.engines.neighbor_rows import NeighborRows
    from rapids_tc.preparation.csr import Array

PER_THREAD = 16  # tasks of about equal work
MARK = 4  # neighbors of a hub that are marked in the time in which one is searched
SETTLE = 8  # probes in the time in which a change is settled


def find_slots(near: NeighborRows, u: Array, v: Array, states: Array) -> RowSlots:
    """Find the slots of pairs of vertices: see `rapids_tc.engines.protocol.Engine`."""
    high, low = np.maximum(u, v), np.minimum(u, v)
    in_base = high < near.csr.n  # any other pair becomes a loop, which has no slot
    threads = threads_for(len(u))
    slots = np.full(len(u), -1)
    if near.csr.m:
        slots = look_up.find_edges(near.csr, high * in_base, low * in_base, threads)
    if len(near.keys):
        keys = pack_keys(high, low, np)
        place = np.minimum(np.searchsorted(near.keys, keys), len(near.keys) - 1)
        slots = np.where(near.keys[place] == keys, near.slots[place].astype(np.int64), slots)
    is_loop = (u == v) & (u != NO_VERTEX)
    unknown = (slots < 0) & ~is_loop
    absent = (slots >= 0) & (states[slots, WHEN] == 0)
    slots = np.where(is_loop, -1 - high.astype(np.int64), np.where(unknown, NO_SLOT, slots))
    return RowSlots(slots, *(int(rows.sum()) for rows in (is_loop, unknown, absent)))


def add_changes(near: NeighborRows, slots: Array, states: Array, sign: int) -> tuple[int, Array]:
    """Count the triangles of edges that change: see `rapids_tc.engines.protocol.Engine`.

    What `settle` needs are the slots that may have a change, with repeats.
    """
    before, after = (LIVE, 0) if sign < 0 else (0, LIVE)
    slots = np.unique(slots[slots >= 0]).astype(np.uint32)
    slots = slots[states[slots, WHEN] == before]
    states[slots, WHEN] = np.arange(1, len(slots) + 1, dtype=np.uint32)
    u, v = states[slots, END], near.smaller_ends(slots)
    larger = near.degree(u) >= near.degree(v)
    found = _walk(near, np.where(larger, v, u), np.where(larger, u, v), slots, states, sign)
    states[slots, WHEN] = after
    return found


def _walk(
    near: NeighborRows, walked: Array, hubs: Array, changing: Array, states: Array, sign: int
) -> tuple[int, Array]:
    """Count the triangles of edges, of which one end is walked, and the other the hub."""
    csr = near.csr
    lengths = near.lengths(walked)
    by_hub = np.argsort(hubs, kind="stable")
    arrays = walked[by_hub], hubs[by_hub], changing[by_hub]
    ends = np.cumsum(lengths[by_hub] + 1)
    total = int(ends[-1]) if len(ends) else 0
    threads = threads_for(total)
    tasks = threads * PER_THREAD if threads > 1 else 1
    cuts = np.searchsorted(ends, np.linspace(0, total, tasks + 1)[1:-1])
    bounds = np.unique(np.concatenate([[0], cuts, [len(walked)]]))
    work = np.concatenate([[0], ends])[bounds]
    rooms = np.minimum(2 * np.diff(work) + 1, 2 * len(states) + 1)
    tables: list[Array | None] = [None] * threads
    touched: list[Array] = [np.empty(0, np.uint32)] * len(rooms)
    rows = (csr.offsets, csr.columns, near.in_offsets, near.in_rows, near.positions)
    added, words = (near.keys, near.slots), states.reshape(-1)

    def task(number: int, thread: int) -> int:
        table = tables[thread]
        if table is None:
            table = tables[thread] = np.zeros(near.size, np.uint32)
        slots, counted = np.empty(rooms[number], np.uint32), np.zeros(2, np.int64)
        first, last = bounds[number], bounds[number + 1]
        own = (words, sign, table, slots, counted)
        _add(*rows, *added, *arrays, first, last, *own)
        touched[number] = slots[: counted[0]].copy()
        return int(counted[1])

    triangles = parallel_for(task, len(rooms), threads)
    return triangles, np.concatenate([np.empty(0, np.uint32), *touched])


def settle(
    near: NeighborRows,
    changed: list[Array],
    states: Array,
    of_vertex: Array,
    at_vertex: Array,
) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
    """Move changes to counts: see `rapids_tc.engines.protocol.Engine`."""
    slots = np.concatenate([np.empty(0, np.uint32), *changed])
    threads = threads_for(len(slots) * SETTLE)
    parts = cut_evenly(len(slots), threads)
    ends, numbers = np.empty((2, len(slots)), np.uint32), np.empty((2, len(slots)), np.int64)
    edges = (states.reshape(-1), near.csr.columns, near.added)

    def task(number: int, thread: int) -> int:
        part = parts[number]
        kept = (ends[:, part], numbers[:, part])
        size = _settle(slots[part], *edges, of_vertex, *kept)
        parts[number] = slice(part.start, part.start + size)
        return size

    parallel_for(task, threads, threads)
    kept = [array[:, part] for array in (ends, numbers) for part in parts]
    u, v = kept[0] if threads == 1 else np.concatenate(kept[:threads], axis=1)
    triangles, delta = kept[1] if threads == 1 else np.concatenate(kept[threads:], axis=1)
    return (u, v, triangles, delta), _settle_vertices(of_vertex, at_vertex)


def _settle_vertices(of_vertex: Array, at_vertex: Array) -> tuple[Array, Array, Array]:
    """Move changes to the counts of vertices; return the vertices, their counts and changes."""
    vertices = np.flatnonzero(of_vertex).astype(np.uint32)
    delta = of_vertex[vertices].view(np.int64) // 2
    of_vertex[vertices] = 0
    at_vertex[vertices] += delta
    return vertices, at_vertex[vertices], delta


@compiled
def _settle(
    slots: Array, words: Array, columns: Array, added: Array, of_vertex: Array, ends: Array,
    numbers: Array,
) -> int:  # fmt: skip
    """Move the changes of some slots to counts; return how many are written to the last arrays."""
    size, m = 0, len(columns)
    for slot in slots:
        at = np.int64(slot) * WORDS
        delta = np.int64(np.int32(exchange(words, at + CHANGE, 0)))
        if not delta:
            continue
        count = np.int64(words[at + COUNT]) + delta
        words[at + COUNT] = np.uint32(count)
        u, v = words[at + END], columns[slot] if slot < m else added[slot - m]
        atomic_add(of_vertex, u, np.uint64(delta))
        atomic_add(of_vertex, v, np.uint64(delta))
        ends[0, size], ends[1, size] = u, v
        numbers[0, size], numbers[1, size] = count, delta
        size += 1
    return size


@inlined
def _first_key(keys: Array, low: Any) -> Any:
    """Return the place of the first of the ascending keys from `low` << 32 on."""
    begin, end, key = 0, len(keys), np.uint64(low) << np.uint64(32)
    while begin < end:
        middle = (begin + end) >> 1
        if keys[middle] < key:
            begin = middle + 1
        else:
            end = middle
    return begin


@inlined
def _add_one(words: Array, slot: Any, sign: Any, touched: Array, counted: Array) -> None:
    """Add to the change of an edge, and list the edge if it had no change before."""
    if atomic_add(words, slot * WORDS + CHANGE, sign) == 0:
        touched[counted[0]] = slot
        counted[0] += 1


@compiled
def _add(
    offsets: Array, columns: Array, in_offsets: Array, in_rows: Array, positions: Array,
    keys: Array, key_slots: Array, walked: Array, hubs: Array, slots: Array, first: Any, last: Any,
    words: Array, sign: Any, place: Array, touched: Array, counted: Array,
) -> None:  # fmt: skip
    """Add the triangles of changed edges `first` to `last` - 1 to the changes of their sides.

    place[w] is one more than the slot of the edge between w and the hub, while a hub is marked.
    The first word of `counted` becomes the number of slots in `touched`, the second the triangles.
    """
    n = len(offsets) - 1
    i = first
    while i < last:
        hub = np.int64(hubs[i])
        begin = end = in_begin = in_end = np.int64(0)
        if hub < n:
            begin, end = offsets[hub], offsets[hub + 1]
            in_begin, in_end = in_offsets[hub], in_offsets[hub + 1]
        key_begin, key_end = _first_key(keys, hub), _first_key(keys, hub + 1)
        length = end - begin + in_end - in_begin + key_end - key_begin
        stop, steps = i, np.int64(0)
        while stop < last and hubs[stop] == hub:
            s = np.int64(walked[stop])
            if s < n:
                steps += offsets[s + 1] - offsets[s] + in_offsets[s + 1] - in_offsets[s]
            stop += 1
        marks = steps * MARK > length
        if marks:
            for p in range(begin, end):
                place[columns[p]] = p + 1
            for p in range(in_begin, in_end):
                place[in_rows[p]] = positions[p] + np.uint32(1)
            for p in range(key_begin, key_end):
                place[keys[p] & np.uint64(0xFFFFFFFF)] = key_slots[p] + np.uint32(1)
        while i < stop:
            s, slot, hits = np.int64(walked[i]), np.int64(slots[i]), np.int64(0)
            after = words[slot * WORDS]
            for part in range(3):
                if part == 2:
                    j, until = _first_key(keys, s), _first_key(keys, s + 1)
                elif s >= n:
                    continue
                elif part == 0:
                    j, until = offsets[s], offsets[s + 1]
                else:
                    j, until = in_offsets[s], in_offsets[s + 1]
                while j < until:
                    if part == 0:
                        w, near = np.int64(columns[j]), np.int64(j)
                    elif part == 1:
                        w, near = np.int64(in_rows[j]), np.int64(positions[j])
                    else:
                        w = np.int64(keys[j] & np.uint64(0xFFFFFFFF))
                        near = np.int64(key_slots[j])
                    j += 1
                    far = np.int64(-1)
                    if marks:
                        far = np.int64(place[w]) - 1
                    elif words[near * WORDS] > after:
                        far = _far(
                            columns, begin, end, in_rows, in_begin, in_end, positions,
                            keys, key_begin, key_end, key_slots, hub, w,
                        )  # fmt: skip
                    if far >= 0 and words[far * WORDS] > after and words[near * WORDS] > after:
                        hits += 1
                        _add_one(words, near, sign, touched, counted)
                        _add_one(words, far, sign, touched, counted)
            if hits:
                _add_one(words, slot, sign * hits, touched, counted)
                counted[1] += hits
            i += 1
        if marks:
            for p in range(begin, end):
                place[columns[p]] = 0
            for p in range(in_begin, in_end):
                place[in_rows[p]] = 0
            for p in range(key_begin, key_end):
                place[keys[p] & np.uint64(0xFFFFFFFF)] = 0


@compiled
def _far(
    columns: Array, begin: Any, end: Any, in_rows: Array, in_begin: Any, in_end: Any,
    positions: Array, keys: Array, key_begin: Any, key_end: Any, key_slots: Array, hub: Any, w: Any,
) -> Any:  # fmt: skip
    """Return the slot of the edge between the hub and w; -1 if there is none."""
    if w < hub:
        p = find(columns, begin, end, w)
        if p >= 0:
            return np.int64(p)
    else:
        p = find(in_rows, in_begin, in_end, w)
        if p >= 0:
            return np.int64(positions[p])
    p = find(keys, key_begin, key_end, np.uint64(hub) << np.uint64(32) | np.uint64(w))
    return np.int64(key_slots[p]) if p >= 0 else np.int64(-1)
