"""The rounds of the peel in Numba.

Tables do not change while a round is walked, so that threads draw edges of the frontier one by
one. The scheme of parallel rounds is PKT's (Kabir and Madduri, 2017). All threads run `peel`, from
one barrier to the next. The first thread decides what is done next. Rounds of little work it peels
alone, one after another: there can be a hundred thousand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rapids_tc.engines.cpu.compiled import compiled, inlined
from rapids_tc.engines.cpu.parallel import LINE, atomic_add, fetch_to_write, load, wait_for_all
from rapids_tc.engines.cpu.spans import larger, meet, open_span, smaller
from rapids_tc.engines.cpu.truss_tables import (
    LOW_BITS,
    NO_EDGE,
    find_slot,
    hash_of,
    slot_of_bit,
    take_out,
)
from rapids_tc.engines.peel import DEAD

if TYPE_CHECKING:
    from rapids_tc.preparation.csr import Array

# Places in the state: words that many threads write lie LINE apart.
_STEP, LEVEL, _TARGET, _HEAD, END, ROUNDS, WALKED, _SHARED = range(8)
_TAIL, _TICKET, BARRIER, STATE = LINE, 2 * LINE, 3 * LINE, 6 * LINE
PAIRS = 32  # of edges, whose supports are fetched before they are counted down
# What all threads do next; from _SHRINK on, why they stop.
_WALK, _SCAN, _MARK, _SHRINK, DONE, PAUSE, _STOPPED = range(7)


class Limits(NamedTuple):
    """The levels of `PeelState`, the dead edges from which a graph shrinks, and sizes."""

    first: int
    last: int
    shrink_at: int
    large: int
    scanned: int
    pause: int


class Edges(NamedTuple):
    """What compiled code reads of `ActiveEdges`, and which of their triangles count."""

    rows: Array
    columns: Array
    support: Array
    ids: Array
    kind: Any


@compiled
def peel(
    edges: Any, tables: Any, queue: Array, state: Array, buffer: Array, least: Array, thread: int,
    threads: int, limits: Any,
) -> Any:  # fmt: skip
    """Do what the first thread decides until there is a reason to stop."""
    barrier = state[BARRIER:]
    while True:
        if thread == 0:
            state[_STEP] = _decide(edges, tables.starts, queue, state, least, threads, limits)
        # Others wait while the first thread works alone.
        if (thread > 0 or state[_SHARED]) and not wait_for_all(barrier, threads):
            return _STOPPED
        step, sharing = state[_STEP], threads if state[_SHARED] else 1
        if step >= _SHRINK:
            return step
        if step == _SCAN:
            begin, end = _share(0, len(edges.rows), thread, sharing)
            least[thread, 0] = _scan(edges.support, begin, end, queue, state, buffer)
        elif step == _MARK:
            begin, end = _share(state[_HEAD], state[_TAIL], thread, sharing)
            _mark(edges, tables, queue, begin, end, state[END])
        else:
            _walk(edges, tables, queue, state, buffer, sharing)
        if sharing > 1 and not wait_for_all(barrier, threads):
            return _STOPPED


@inlined
def _share(begin: Any, end: Any, thread: Any, threads: Any) -> Any:
    """Return a thread's share of a range."""
    size = end - begin
    return begin + size * thread // threads, begin + size * (thread + 1) // threads


@compiled
def _decide(
    edges: Any, starts: Array, queue: Array, state: Array, least: Array, threads: int, limits: Any
) -> int:
    """Return what is done next, after what was done last; note whether threads share it."""
    m, after, shared = len(edges.rows), state[_STEP], threads > 1
    if after == _MARK:
        state[_HEAD], state[END], state[_TICKET] = state[END], state[_TAIL], state[END]
        return _WALK
    if after == _SCAN:
        nearest = np.int64(DEAD)
        for other in range(threads if state[_SHARED] else 1):
            nearest = min(nearest, least[other, 0])
        none = nearest > limits.last
        if state[_TAIL] > state[END]:
            state[LEVEL], none = state[_TARGET], False
        state[_TARGET] = max(nearest, limits.first)
    else:  # after a round, no edge of its level is left
        state[_TARGET] = max(state[LEVEL] + (state[END] > 0), limits.first)
        none = state[_TARGET] > limits.last and state[_TAIL] == state[END]
    stopped = 0
    if none or state[END] == m:
        stopped = DONE
    elif state[END] >= limits.shrink_at and after == _WALK:
        stopped = _SHRINK
    elif state[WALKED] >= limits.pause:
        stopped = PAUSE
    elif state[_TAIL] == m:  # no active edge loses a triangle
        for i in range(state[END], m):
            edges.support[queue[i]] = DEAD | state[LEVEL] + 2
        state[ROUNDS] += 1
        state[END], stopped = m, DONE
    if stopped:
        state[_SHARED] = shared
        return stopped
    if state[_TAIL] == state[END]:
        state[_SHARED] = shared and m >= limits.scanned
        return _SCAN
    steps, i = 0, state[END]
    while i < state[_TAIL] and steps <= limits.large:
        u, v = np.int64(edges.rows[queue[i]]), np.int64(edges.columns[queue[i]])
        steps += min(starts[u + 1] - starts[u], starts[v + 1] - starts[v])
        i += 1
    state[WALKED] += (state[_TAIL] - state[END]) * steps // (i - state[END])
    state[ROUNDS] += 1
    state[_SHARED] = shared and steps > limits.large
    return _MARK


@compiled
def _scan(support: Array, begin: int, end: int, queue: Array, state: Array, buffer: Array) -> Any:
    """Queue active edges whose support reaches the target; return the least support of others."""
    least, count, target = np.int64(DEAD), 0, state[_TARGET]
    for e in range(begin, end):
        value = np.int64(support[e])  # of a dead edge it is DEAD or more
        if value <= target:
            count = _push(e, queue, state, buffer, count)
        else:
            least = min(least, value)
    _flush(queue, state, buffer, count)
    return least


@compiled
def _push(e: Any, queue: Array, state: Array, buffer: Array, count: int) -> int:
    """Keep an edge of the next frontier; return how many are kept."""
    buffer[0, count] = e
    count += 1
    if count == buffer.shape[1]:
        _flush(queue, state, buffer, count)
        count = 0
    return count


@compiled
def _flush(queue: Array, state: Array, buffer: Array, count: int) -> None:
    """Write the edges that are kept to the end of the queue."""
    place = atomic_add(state, _TAIL, count)
    for i in range(count):
        queue[place + i] = buffer[0, i]


@compiled
def _mark(edges: Any, tables: Any, queue: Array, begin: int, end: int, first: int) -> None:
    """Take dead edges out of the tables; from place `first` of the queue on, mark the frontier."""
    for i in range(begin, end):
        e = queue[i]
        u, v = np.int64(edges.rows[e]), np.int64(edges.columns[e])
        if i >= first:
            edges.support[e] |= np.uint32(DEAD)
        else:
            take_out(tables, u, v)


@compiled
def _walk(edges: Any, tables: Any, queue: Array, state: Array, buffer: Array, threads: int) -> None:
    """Draw edges of the round, and remove their triangles, until no edge is left.

    Nothing writes the tables meanwhile. In the support of a marked edge are the triangles that it
    has at the beginning of the round, and its trussness when it has been walked.
    """
    count, starts = 0, tables.starts
    drawn = max(min((state[END] - state[_HEAD]) // (8 * threads), 64), 1)
    while True:
        begin = atomic_add(state, _TICKET, drawn)
        if begin >= state[END]:
            break
        for place in range(begin, min(begin + drawn, state[END])):
            e = np.int64(queue[place])
            short, long = np.int64(edges.rows[e]), np.int64(edges.columns[e])
            if starts[short + 1] - starts[short] > starts[long + 1] - starts[long]:
                short, long = long, short
            if len(tables.words):
                count = _walk_bits(
                    edges, tables, e, short, long, queue, state, buffer, count, threads
                )
            else:
                count = _walk_slots(
                    edges, tables, e, short, long, queue, state, buffer, count, threads
                )
            edges.support[e] = DEAD | state[LEVEL] + 2
    _flush(queue, state, buffer, count)


@compiled
def _walk_slots(
    edges: Any, tables: Any, e: Any, short: Any, long: Any, queue: Array, state: Array,
    buffer: Array, count: int, threads: int,
) -> int:  # fmt: skip
    """Walk the slots of one end of an edge, and look each neighbor up in the other end's."""
    slots, sieve, pairs = tables.slots, tables.sieve, 0
    first, last = tables.starts[long], tables.starts[long + 1]
    left = np.int64(edges.support[e] & np.uint32(DEAD - 1))
    for p in range(tables.starts[short], tables.starts[short + 1]):
        if left == 0:
            break
        entry = slots[p]
        w, f = entry & LOW_BITS, np.int64(entry >> np.uint64(32))
        spread = hash_of(w, first, last)
        bit = np.uint64(sieve[spread >> np.uint64(3)]) >> (spread & np.uint64(7))
        if (bit & np.uint64(1)) & np.uint64(w != 0) & np.uint64(f != NO_EDGE):
            entry = slots[find_slot(slots, w, first, last)]
            g = np.int64(entry >> np.uint64(32))
            if entry != 0 and g != NO_EDGE and _is_of_kind(edges, e, f, g):
                left -= 1
                pairs = _keep_pair(edges.support, f, g, buffer, pairs)
                if pairs == PAIRS:
                    count = _remove(edges.support, e, pairs, queue, state, buffer, count, threads)
                    pairs = 0
    return _remove(edges.support, e, pairs, queue, state, buffer, count, threads)


@compiled
def _walk_bits(
    edges: Any, tables: Any, e: Any, u: Any, v: Any, queue: Array, state: Array, buffer: Array,
    count: int, threads: int,
) -> int:  # fmt: skip
    """Walk the bits that both ends of an edge have."""
    left, pairs = np.int64(edges.support[e] & np.uint32(DEAD - 1)), 0
    for i in range(tables.words.shape[1]):
        if left == 0:
            break
        both = tables.words[u, i] & tables.words[v, i]
        while both != 0:
            bit = both & (~both + np.uint64(1))
            both ^= bit
            f = np.int64(tables.slots[slot_of_bit(tables, u, i, bit)])
            g = np.int64(tables.slots[slot_of_bit(tables, v, i, bit)])
            if not _is_of_kind(edges, e, f, g):
                continue
            left -= 1
            pairs = _keep_pair(edges.support, f, g, buffer, pairs)
            if pairs == PAIRS:
                count = _remove(edges.support, e, pairs, queue, state, buffer, count, threads)
                pairs = 0
    return _remove(edges.support, e, pairs, queue, state, buffer, count, threads)


@inlined
def _is_of_kind(edges: Any, e: Any, f: Any, g: Any) -> Any:
    """Return 1 if the triangle of three edges is of the kind, else 0.

    Of its corners u > v > w, the edges {v, w}, {u, w} and {u, v} have ascending numbers.
    """
    vw, uv = smaller(smaller(e, f), g), larger(larger(e, f), g)
    uw = e ^ f ^ g ^ vw ^ uv
    of_uw, of_vw = np.int64(edges.ids[uw]), np.int64(edges.ids[vw])
    return meet(edges.kind, open_span(edges.kind, np.int64(edges.ids[uv])), of_uw, of_vw)


@compiled
def _keep_pair(support: Array, f: Any, g: Any, buffer: Array, pairs: int) -> int:
    """Keep two edges of a triangle, and let the core fetch their support; return how many pairs."""
    fetch_to_write(support, f)
    fetch_to_write(support, g)
    buffer[1, 2 * pairs], buffer[1, 2 * pairs + 1] = f, g
    return pairs + 1


@compiled
def _remove(
    support: Array, e: Any, pairs: int, queue: Array, state: Array, buffer: Array, count: int,
    threads: int,
) -> int:  # fmt: skip
    """Count triangles of a marked edge e off their other two edges, if these are not marked.

    The first of marked edges does it for all. Atomics wait for memory that other cores have
    written, one after another: fetched before, the supports of all pairs are waited for together.
    """
    dead, level = np.uint32(DEAD), state[LEVEL]
    for pair in range(pairs):
        f, g = np.int64(buffer[1, 2 * pair]), np.int64(buffer[1, 2 * pair + 1])
        of_f, of_g = load(support, f), load(support, g)
        if (of_f >= dead and f < e) or (of_g >= dead and g < e):
            continue
        if of_f < dead and _count_off(support, f, threads) == level + 1:
            count = _push(f, queue, state, buffer, count)
        if of_g < dead and _count_off(support, g, threads) == level + 1:
            count = _push(g, queue, state, buffer, count)
    return count


@compiled
def _count_off(support: Array, e: Any, threads: int) -> Any:
    """Take one triangle off an edge; return how many it had."""
    if threads == 1:
        before = support[e]
        support[e] = before - np.uint32(1)
    else:
        before = atomic_add(support, e, np.uint32(0xFFFFFFFF))
    return np.int64(before)
