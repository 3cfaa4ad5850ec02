"""The rounds of the bitruss peel in Numba.

The word of an edge is ``round << 32 | support``. The round is that in which the edge is in the
frontier, from 1 on; 0 while it is in none. Edges that fall meanwhile are in the frontier of the
next round, and count as active until then, so that their support is counted down to what is left.
When an edge has been walked, its support becomes its bitruss number.

The first thread decides what is done next, and does it alone if it is little work. Active edges of
a support below BEYOND are in the list of near edges, in which the next level is found; the others
are in that of far ones. BEYOND is so little above the least support that most edges are far.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rapids_tc.engines.blooms import NO_BLOOM
from rapids_tc.engines.cpu.compiled import compiled
from rapids_tc.engines.cpu.parallel import LINE, atomic_add, load, wait_for_all

if TYPE_CHECKING:
    from rapids_tc.preparation.csr import Array

LOW = (1 << 32) - 1  # the support in a word
WIDTH = 8  # near edges reach so many parts of the least support above it
# Places in the state: words that many threads write lie LINE apart.
_STEP, LEVEL, BEYOND, FAR, _HEAD, END, ROUNDS, WALKED, _SHARED = range(9)
_TAIL, _NEAR, _TOUCHED, _TICKET, BARRIER, STATE = (LINE * i for i in (1, 2, 3, 4, 5, 8))
FALLS, COMES_NEAR = 1, 2  # what an edge does when it loses squares
# What all threads do next; from DONE on, why they stop.
_BEGIN, _TAKE, _LOSE, DONE, PAUSED, _STOPPED = range(6)


class StepLimits(NamedTuple):
    """Steps above which threads share a part of a round, and after which they return."""

    large: int
    pause: int


class Lists(NamedTuple):
    """What compiled code reads of `WedgeLists`."""

    offsets: Array
    all_offsets: Array
    columns: Array
    places: Array
    lower: Array
    numbers: Array
    bases: Array


class Index(NamedTuple):
    """The blooms, how many wedges each has left, how many a round takes out, and of which blooms.

    The wedges that are left come first in ``pairs`` of a bloom.
    """

    bloom_of: Array
    begins: Array
    pairs: Array
    sizes: Array
    taken: Array
    touched: Array


class EdgeQueues(NamedTuple):
    """The words of edges, those that have fallen in the order of rounds, and both lists."""

    words: Array
    queue: Array
    near: Array
    far: Array


@compiled
def number_at(v: Any, q: Any, offsets: Array, all_offsets: Array, numbers: Array) -> Any:
    """Return the number of the edge at a position of row v of all neighbors."""
    lower = q - all_offsets[v] + offsets[v]
    return np.int64(numbers[lower]) if lower < offsets[v + 1] else q - offsets[v + 1]


@compiled
def _ranges(lists: Any, e: Any) -> tuple[Any, Any, Any, Any, Any]:
    """Return both ranks of an edge, the wedges of its list, and those after which others follow."""
    u = np.int64(lists.lower[e])
    v = np.int64(lists.columns[e + lists.offsets[u + 1]])
    place = np.int64(lists.places[e])
    own = lists.all_offsets[v + 1] - place
    to_u = own + place - 1 - lists.all_offsets[v]
    return u, v, own, to_u, to_u + lists.offsets[u + 1] - lists.offsets[u]


@compiled
def _wedge(
    offsets: Array, all_offsets: Array, places: Array, numbers: Array, bases: Array, e: Any, u: Any,
    v: Any, own: Any, to_u: Any, k: Any,
) -> tuple[Any, Any]:  # fmt: skip
    """Return wedge k of an edge, and the twin there."""
    place = np.int64(places[e])
    if k < own:
        twin = number_at(v, place + k, offsets, all_offsets, numbers)
        return bases[e] + place + k, twin
    if k < to_u:
        twin, end = np.int64(numbers[offsets[v] + k - own]), place - 1
    else:
        twin, end = np.int64(numbers[offsets[u] + k - to_u]), e + offsets[u + 1]
    return bases[twin] + end, twin


@compiled
def peel(
    lists: Any, index: Any, edges: Any, state: Array, thread: int, threads: int, limits: Any
) -> Any:
    """Do what the first thread decides until there is a reason to stop."""
    barrier = state[BARRIER:]
    while True:
        if thread == 0:
            state[_STEP] = _decide(lists, index, edges, state, threads, limits)
        # Others wait while the first thread works alone.
        if (thread > 0 or state[_SHARED]) and not wait_for_all(barrier, threads):
            return _STOPPED
        step, shared = state[_STEP], state[_SHARED]
        if step >= DONE:
            return step
        if step == _TAKE:
            _take(lists, index, edges, state, shared)
        else:
            _lose(index, edges, state, shared)
        if shared and not wait_for_all(barrier, threads):
            return _STOPPED


@compiled
def _decide(lists: Any, index: Any, edges: Any, state: Array, threads: int, limits: Any) -> int:
    """Return what is done next, after what was done last; note whether threads share it."""
    steps, state[_TICKET] = np.int64(0), 0
    if state[_STEP] == _TAKE and state[_TOUCHED]:
        i = 0
        while i < state[_TOUCHED] and steps <= limits.large:
            steps += np.int64(index.sizes[index.touched[i]])
            i += 1
        state[WALKED] += state[_TOUCHED] * steps // i
        state[_SHARED] = threads > 1 and steps > limits.large
        return _LOSE
    state[_TOUCHED], state[_HEAD] = 0, state[END]
    if state[WALKED] >= limits.pause:
        state[_STEP], state[_SHARED] = _LOSE, threads > 1
        return PAUSED
    if state[_TAIL] == state[END] and not _seek(edges, state):
        state[_SHARED] = threads > 1
        return DONE
    state[END] = state[_TAIL]
    state[ROUNDS] += 1
    i = state[_HEAD]
    while i < state[END] and steps <= limits.large:
        e = np.int64(edges.queue[i])
        _, _, _, _, size = _ranges(lists, e)
        steps += size if edges.words[e] & LOW else 1
        i += 1
    state[WALKED] += (state[END] - state[_HEAD]) * steps // (i - state[_HEAD])
    state[_SHARED] = threads > 1 and steps > limits.large
    return _TAKE


@compiled
def _seek(edges: Any, state: Array) -> bool:
    """Queue the edges of the least support, the next level; return whether there are any."""
    words, near, far = edges.words, edges.near, edges.far
    least, kept = np.int64(LOW), 0
    for i in range(state[_NEAR]):
        e = near[i]
        if words[e] <= LOW:  # active
            near[kept] = e
            kept += 1
            least = min(least, words[e])
    if kept == 0:
        before, left = state[BEYOND], 0
        for i in range(state[FAR]):
            e = far[i]
            if before <= words[e] <= LOW:  # others have been near
                far[left] = e
                left += 1
                least = min(least, words[e])
        state[BEYOND] = least + least // WIDTH + 1
        state[FAR] = left
        for i in range(left):
            if words[far[i]] < state[BEYOND]:
                near[kept] = far[i]
                kept += 1
    state[_NEAR] = kept
    if kept:
        state[LEVEL] = least
    for i in range(kept):
        e = near[i]
        if words[e] == least:
            _fall(e, edges, state, 0)
    return kept > 0


@compiled
def _add(array: Array, index: Any, value: Any, shared: Any) -> Any:
    """Add to an entry, which other threads may do, too, if work is shared; return what it was."""
    if shared:
        return atomic_add(array, index, value)
    before = array[index]
    array[index] = before + value
    return before


@compiled
def _fall(e: Any, edges: Any, state: Array, shared: Any) -> None:
    """Put an edge in the frontier of the next round."""
    edges.queue[_add(state, _TAIL, 1, shared)] = e
    _add(edges.words, np.int64(e), (state[ROUNDS] + 1) << 32, shared)


@compiled
def _count_off(words: Array, e: Any, squares: Any, level: Any, beyond: Any, shared: Any) -> int:
    """Take squares off an edge, and return what it does: whether it falls, or comes near."""
    before = np.int64(_add(words, e, -squares, shared))
    after = before - squares
    if before > LOW or after >= beyond or before <= level:  # it has fallen, or is far
        return 0
    if after <= level:
        return FALLS
    return COMES_NEAR if before >= beyond else 0


@compiled
def _note(e: Any, does: Any, edges: Any, state: Array, shared: Any) -> None:
    """Put an edge where edges that fall are, or those that come near."""
    if does == FALLS:
        _fall(e, edges, state, shared)
    else:
        edges.near[_add(state, _NEAR, 1, shared)] = e


@compiled
def _take(lists: Any, index: Any, edges: Any, state: Array, shared: Any) -> None:
    """Draw edges of the frontier, and take out their wedges, until no edge is left."""
    words, now, first = edges.words, state[ROUNDS], state[_HEAD]
    bloom_of, sizes, taken = index.bloom_of, index.sizes, index.taken
    level, beyond = state[LEVEL], state[BEYOND]
    arrays = lists.offsets, lists.all_offsets, lists.places, lists.numbers, lists.bases
    while True:
        place = first + _add(state, _TICKET, 1, shared)
        if place >= state[END]:
            return
        e = np.int64(edges.queue[place])
        left = words[e] & LOW
        u, v, own, to_u, size = _ranges(lists, e)
        k = 0
        while left > 0 and k < size:
            wedge, twin = _wedge(*arrays, e, u, v, own, to_u, k)
            k += 1
            b = np.int64(bloom_of[wedge])
            if b == NO_BLOOM or sizes[b] < 2:
                continue
            fell = load(words, twin) >> 32
            if 0 < fell < now:  # an earlier round has taken the wedge out
                continue
            squares = np.int64(sizes[b]) - 1
            left -= squares
            if fell == now and twin < e:
                continue
            if _add(taken, b, np.uint32(1), shared) == 0:
                index.touched[_add(state, _TOUCHED, 1, shared)] = b
            if fell != now:
                does = _count_off(words, twin, squares, level, beyond, shared)
                if does:
                    _note(twin, does, edges, state, shared)
        words[e] = now << 32 | level


@compiled
def _lose(index: Any, edges: Any, state: Array, shared: Any) -> None:
    """Draw blooms that wedges were taken out of, and count these off the edges of the others."""
    while True:
        place = _add(state, _TICKET, 1, shared)
        if place >= state[_TOUCHED]:
            return
        b = np.int64(index.touched[place])
        taken, begin = np.int64(index.taken[b]), index.begins[b]
        size = np.int64(index.sizes[b])
        index.taken[b] = 0
        index.sizes[b] = size - taken
        if size > taken:
            _lose_in(begin, begin + size, taken, index.pairs, edges.words, edges, state, shared)


@compiled
def _lose_in(
    begin: Any, end: Any, taken: Any, pairs: Array, words: Array, edges: Any, state: Array,
    shared: Any,
) -> None:  # fmt: skip
    """Go through the wedges of a bloom, of which a round has taken so many out."""
    now, level, beyond = state[ROUNDS], state[LEVEL], state[BEYOND]
    kept = begin
    for i in range(begin, end):
        e, f = np.int64(pairs[i, 0]), np.int64(pairs[i, 1])
        of_e, of_f = load(words, e) >> 32, load(words, f) >> 32
        if 0 < of_e <= now or 0 < of_f <= now:
            continue
        pairs[kept, 0], pairs[kept, 1] = e, f
        kept += 1
        for edge in (e, f):
            does = _count_off(words, edge, taken, level, beyond, shared)
            if does:
                _note(edge, does, edges, state, shared)
