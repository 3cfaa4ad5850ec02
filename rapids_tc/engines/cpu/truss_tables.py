"""The tables of a vertex's active edges, by hash or as bits, built on all cores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rapids_tc._parallel import parallel_for, threads_for
from rapids_tc.engines.cpu.compiled import compiled
from rapids_tc.engines.cpu.parallel import (
    atomic_add,
    atomic_and,
    atomic_or,
    count_ones,
    load,
    swap_if,
)
from rapids_tc.engines.cpu.sorting import cut_evenly

if TYPE_CHECKING:
    from rapids_tc.engines.peel import ActiveEdges
    from rapids_tc.preparation.csr import Array

NO_EDGE = 0xFFFFFFFF
LOW_BITS, _DEAD_SLOT = np.uint64(0xFFFFFFFF), np.uint64(NO_EDGE << 32)
_WORD, _EDGE = 18, 36  # bytes of a word of bits, and of an edge: see `_build_bits`
_GOLDEN = np.uint64(0x9E3779B1)  # 2**32 over the golden ratio: products spread neighbors


class Tables(NamedTuple):
    """The active edges of every vertex: by hash, or as bits if there are few vertices.

    Attributes
    ----------
    starts : array of int64, shape (vertices + 1,)
        The slots of u are ``slots[starts[u]:starts[u + 1]]``.
    slots : array of uint64
        By hash, edge << 32 | neighbor + 1; 0 if nothing is in it. With bits, the edges of each
        vertex by neighbor.
    sieve : array of uint8
        Eight bits per slot: if the bit of a hash is 0, no neighbor has this hash.
    words : array of uint64, shape (vertices, width)
        A bit per neighbor that an active edge leads to.
    all_words : array of uint64, shape (vertices, width)
        The same when the tables were made.
    before : array of uint16, shape (vertices, width)
        The bits in a row of `all_words` before each word.
    """

    starts: Array
    slots: Array
    sieve: Array
    words: Array
    all_words: Array
    before: Array


def build(edges: ActiveEdges, n: int, room: int) -> Tables:
    """Build the tables of the ends of edges, below n: of bits, if they take no more than `room`.

    With bits, the ends of edges get numbers from 0 on.
    """
    sizes, (threads, parts) = np.zeros(n, np.uint32), cut_edges(edges.m)

    def count(number: int, thread: int) -> None:
        part = parts[number]
        _count_ends(edges.rows[part], edges.columns[part], sizes)

    parallel_for(count, len(parts), threads)
    has_edge = sizes > 0
    vertices = int(np.count_nonzero(has_edge))
    words = vertices * -(-vertices // 64)
    if vertices < 1 << 16 and words * _WORD + edges.m * _EDGE <= room:
        return _build_bits(edges, sizes[has_edge], has_edge)
    starts = np.zeros(n + 1, np.int64)
    np.cumsum(sizes + (sizes >> 2) + has_edge, out=starts[1:])
    none = np.zeros((0, 0), np.uint64)
    slots, sieve = np.zeros(starts[-1], np.uint64), np.zeros(starts[-1], np.uint8)
    tables = Tables(starts, slots, sieve, none, none, none.astype(np.uint16))

    def fill(number: int, thread: int) -> None:
        part = parts[number]
        _fill(edges.rows, edges.columns, part.start, part.stop, tables)

    parallel_for(fill, len(parts), threads)
    return tables


def _build_bits(edges: ActiveEdges, sizes: Array, has_edge: Array) -> Tables:
    """Give the vertices that have an edge numbers from 0 on, and build their bits."""
    number_of = np.cumsum(has_edge, dtype=np.uint32)
    number_of -= np.uint32(1)
    starts = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=starts[1:])
    words = np.zeros((len(sizes), -(-len(sizes) // 64)), np.uint64)
    tables = Tables(
        starts, np.empty(2 * edges.m, np.uint64), np.zeros(0, np.uint8), words,
        np.empty_like(words), np.empty(words.shape, np.uint16),
    )  # fmt: skip
    threads, parts = cut_edges(edges.m)
    rows = cut_evenly(len(sizes), len(parts))

    def set_bits(number: int, thread: int) -> None:
        part = parts[number]
        for ends in (edges.rows[part], edges.columns[part]):
            ends[:] = number_of[ends]
        _set_bits(edges.rows[part], edges.columns[part], words)

    def rank(number: int, thread: int) -> None:
        part = rows[number]
        _rank(words[part], tables.all_words[part], tables.before[part])

    def place(number: int, thread: int) -> None:
        part = parts[number]
        _place(edges.rows, edges.columns, part.start, part.stop, tables)

    for task in (set_bits, rank, place):
        parallel_for(task, len(parts), threads)
    return tables


def cut_edges(size: int) -> tuple[int, list[slice]]:
    """Return how many threads are worth starting for so many edges, and parts of them."""
    threads = threads_for(size)
    return threads, cut_evenly(size, 8 * threads if threads > 1 else 1)


@compiled
def _count_ends(rows: Array, columns: Array, sizes: Array) -> None:
    """Add edges to the degrees of both ends; edges of one row follow one another."""
    e = 0
    while e < len(rows):
        first, u = e, rows[e]
        while e < len(rows) and rows[e] == u:
            atomic_add(sizes, np.int64(columns[e]), 1)
            e += 1
        atomic_add(sizes, np.int64(u), e - first)


@compiled
def hash_of(w: Any, begin: Any, end: Any) -> Any:
    """Return where the search for `w`, a rank + 1, begins, as 8 * slot + bit of `sieve`."""
    spread = ((w * _GOLDEN) & LOW_BITS) * np.uint64(end - begin) >> np.uint64(29)
    return (np.uint64(begin) << np.uint64(3)) + spread


@compiled
def find_slot(slots: Array, w: Any, begin: Any, end: Any) -> Any:
    """Return the slot of `w`, a rank + 1, or an empty slot."""
    place = np.int64(hash_of(w, begin, end) >> np.uint64(3))
    while True:
        entry = load(slots, place)
        if entry == 0 or entry & LOW_BITS == w:
            return place
        place = place + 1 if place + 1 < end else begin


@compiled
def _fill(rows: Array, columns: Array, first: int, last: int, tables: Any) -> None:
    """Put edges `first` to `last` - 1 in the tables of both of their ends."""
    for e in range(first, last):
        for side in range(2):
            vertex, other = (rows[e], columns[e]) if side == 0 else (columns[e], rows[e])
            begin, end = tables.starts[vertex], tables.starts[vertex + 1]
            w = np.uint64(other) + np.uint64(1)
            spread = hash_of(w, begin, end)
            place = np.int64(spread >> np.uint64(3))
            atomic_or(tables.sieve, place, np.uint8(1) << (spread & np.uint64(7)))
            while (
                swap_if(tables.slots, place, np.uint64(0), np.uint64(e) << np.uint64(32) | w) != 0
            ):
                place = place + 1 if place + 1 < end else begin


@compiled
def _set_bits(rows: Array, columns: Array, words: Array) -> None:
    """Set the bits of edges, in the rows of both ends."""
    for e in range(len(rows)):
        u, v = np.int64(rows[e]), np.int64(columns[e])
        atomic_or(words[u], v >> 6, np.uint64(1) << np.uint64(v & 63))
        atomic_or(words[v], u >> 6, np.uint64(1) << np.uint64(u & 63))


@compiled
def _rank(words: Array, all_words: Array, before: Array) -> None:
    """Copy the words of some rows, and count the bits before each."""
    for u in range(words.shape[0]):
        count = 0
        for i in range(words.shape[1]):
            all_words[u, i], before[u, i] = words[u, i], count
            count += count_ones(words[u, i])


@compiled
def slot_of_bit(tables: Any, u: Any, i: Any, bit: Any) -> Any:
    """Return the slot of u's edge to the neighbor that has this bit in word i."""
    below = count_ones(tables.all_words[u, i] & (bit - np.uint64(1)))
    return tables.starts[u] + np.int64(tables.before[u, i]) + below


@compiled
def _place(rows: Array, columns: Array, first: int, last: int, tables: Any) -> None:
    """Write edges `first` to `last` - 1 to the slots of both of their ends."""
    for e in range(first, last):
        u, v = np.int64(rows[e]), np.int64(columns[e])
        tables.slots[slot_of_bit(tables, u, v >> 6, np.uint64(1) << np.uint64(v & 63))] = e
        tables.slots[slot_of_bit(tables, v, u >> 6, np.uint64(1) << np.uint64(u & 63))] = e


@compiled
def take_out(tables: Any, u: Any, v: Any) -> None:
    """Take the edge of u and v out of both of their tables; other threads may take out others."""
    if len(tables.words):
        atomic_and(tables.words[u], v >> 6, ~(np.uint64(1) << np.uint64(v & 63)))
        atomic_and(tables.words[v], u >> 6, ~(np.uint64(1) << np.uint64(u & 63)))
        return
    for vertex, other in ((u, v), (v, u)):
        w = np.uint64(other) + np.uint64(1)
        place = find_slot(tables.slots, w, tables.starts[vertex], tables.starts[vertex + 1])
        tables.slots[place] = w | _DEAD_SLOT
