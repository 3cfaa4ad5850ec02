"""Edges looked up in a CSR, on all cores, and the values of these edges.

Look-ups wait for memory. Pairs are written to buckets of neighboring rows first, so that the rows
that are read stay in the caches of a core. The pairs of a bucket are looked up row by row: a row is
marked in a table, where each of its pairs is found in one step. A few pairs, or those of short
rows, are searched instead: `LANES` searches go on side by side, one step of each after another, so
that they wait together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc._parallel import parallel_for, threads_for
from rapids_tc.engines.cpu.compiled import compiled, inlined
from rapids_tc.engines.cpu.parallel import find
from rapids_tc.engines.cpu.raw_rows import read_only
from rapids_tc.engines.cpu.sorting import BUCKETS, PER_THREAD, cut_evenly, place_buckets
from rapids_tc.engines.protocol import RowColumn
from rapids_tc.errors import require_unchanged

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rapids_tc.preparation.csr import Array, Csr

BATCH, BATCHES = 1 << 15, 3  # pairs of a batch, at least, and the most batches: they share memory
BUCKET = 1 << 10  # columns of a bucket, about
LANES = 16
TAKEN, LEAST = 1 << 15, 1 << 12  # pairs of a task, at most; and at least, of a small frame
SHORT = 8  # a row of fewer columns is read at once: buckets would take longer than they save
FEW = 8  # vertices to a pair from which pairs are few: hardly two are of one row
SLOTS = 1 << 16  # of the table of a thread, at most: the columns of a row share them then
SORTED = 1 << 14  # pairs of a bucket that are put in order at once, if it has no more rows
MARKED = 8  # columns that are marked in the time of one search
_LOW_BITS, _NO_KEY = np.uint64(0xFFFFFFFF), np.uint64(2**64 - 1)


def find_edges(csr: Csr, u: Array, v: Array, threads: int, rank: Array | None = None) -> Array:
    """Find the positions of edges: see `rapids_tc.engines.protocol.Engine`."""
    positions = np.empty(len(u), np.int64)

    def write(found: Array, rows: Array) -> None:
        positions[rows] = found

    _look_up(csr, u, v, threads, rank, write)
    return positions


def row_values(
    csr: Csr, u: Array, v: Array, threads: int, rank: Array, columns: Sequence[RowColumn]
) -> list[Array]:
    """Find the values of rows: see `rapids_tc.engines.protocol.Engine`."""
    taken = [np.empty(len(u), column.dtype) for column in columns]

    def write(found: Array, rows: Array) -> None:
        for column, answer in zip(columns, taken, strict=True):
            answer[rows] = _take(column, found)

    _look_up(csr, u, v, threads, rank, write)
    return taken


def take(values: Array, positions: Array) -> Array:
    """Return the value at each position, and 0 for the position -1."""
    rows, taken = len(positions), np.empty(len(positions), values.dtype)
    column = RowColumn(values, 0, values.dtype)
    threads = threads_for(rows)
    parts = cut_evenly(rows, max(-(-rows // TAKEN), 1))

    def write(number: int, thread: int) -> None:
        part = parts[number]
        taken[part] = _take(column, positions[part])

    parallel_for(write, len(parts), threads)
    return taken


def _take(column: RowColumn, positions: Array) -> Array:
    if not len(column.values):
        return np.full(len(positions), column.absent, column.dtype)
    taken = column.values[positions]  # the last value for the position -1
    taken = taken.astype(column.dtype, copy=False)
    taken[positions < 0] = column.absent
    return taken


def _look_up(
    csr: Csr, u: Array, v: Array, threads: int, rank: Array | None,
    write: Callable[[Array, Array], None],
) -> None:  # fmt: skip
    """Find the positions of all pairs; call `write` with those of some rows, and with these rows.

    Batches of pairs follow one another in the same memory.
    """
    step = max(BATCH, -(-len(u) // BATCHES))
    memory = [np.empty(min(step, len(u)), dtype) for dtype in (np.uint64, np.uint32)]
    ranks = (np.empty(0, np.uint32), csr.n) if rank is None else (rank, len(rank))
    for first in range(0, len(u), step):
        ends = [_words(end[first : first + step]) for end in (u, v)]
        keys, row = (array[: len(ends[0])] for array in memory)
        _look_up_batch(csr, (*ends, *ranks, csr.n), first, threads, keys, row, write)


def _look_up_batch(
    csr: Csr, pairs: tuple[Any, ...], first: int, threads: int, keys: Array, row: Array,
    write: Callable[[Array, Array], None],
) -> None:  # fmt: skip
    """Look up the pairs of the rows from `first` on; for `pairs` see `_to_buckets`."""
    size, (buckets, width) = len(keys), _buckets(csr, len(keys))
    tasks = cut_evenly(size, threads * PER_THREAD if threads > 1 else 1)
    _to_buckets(pairs, tasks, threads, buckets, width, keys, row)
    by_row = buckets > 1 and csr.n < FEW * size
    tables = [_tables(csr.n, width) for _ in range(threads if by_row else 0)]
    parts = cut_evenly(size, -(-size // max(min(size // 8, TAKEN), LEAST)))

    def find_part(number: int, thread: int) -> None:
        part = parts[number]
        found = np.empty(part.stop - part.start, np.int64)
        if by_row:
            _find_by_row(csr.offsets, csr.columns, keys[part], width, *tables[thread], found)
        else:
            _search(csr.offsets, csr.columns, keys[part], found)
        write(found, first + row[part].astype(np.int64))

    parallel_for(find_part, len(parts), threads)


def _words(end: Array) -> Array:
    """Return numbers as `read_only` does; a number of 64 bits that is none stays one."""
    return read_only(end.view("int64") if end.itemsize == 8 else end)


def _buckets(csr: Csr, size: int) -> tuple[int, int]:
    """Return how many buckets so many pairs have, and the bits of a rank below its bucket."""
    bits, buckets = max(csr.n - 1, 1).bit_length(), 1
    if csr.m >= SHORT * csr.n:
        buckets = max(min(csr.m // BUCKET, size // BUCKET, BUCKETS), 1)
    width = bits - min(bits, buckets.bit_length() - 1)
    return (max(csr.n - 1, 0) >> width) + 1, width


def _to_buckets(
    pairs: tuple[Any, ...], parts: list[slice], threads: int, buckets: int, width: int, keys: Array,
    row: Array,
) -> None:  # fmt: skip
    """Write the key and the row of each pair, by bucket.

    `pairs` are both ends, the ranks of their numbers or none, how many numbers, and how many ranks
    there are.
    """
    u, v, rank, numbers, n = pairs
    counts = np.zeros((len(parts), buckets), np.int64)

    def count(number: int, thread: int) -> int:
        part = parts[number]
        return _count_rows(u[part], v[part], rank, numbers, n, width, counts[number])

    require_unchanged(parallel_for(count, len(parts), threads))
    _, places = place_buckets(counts)
    ends = places + counts

    def write(number: int, thread: int) -> int:
        part = parts[number]
        own = (width, part.start, places[number], ends[number])
        return _write_rows(u[part], v[part], rank, numbers, n, *own, keys, row)

    require_unchanged(parallel_for(write, len(parts), threads))


@inlined
def _key(first: Any, second: Any, rank: Array, numbers: int, n: int) -> Any:
    """Return the larger rank << 32 | the smaller one; `_NO_KEY` if an end has no rank.

    The ends are ranks themselves if there are no entries in `rank`.
    """
    a, b, key = np.uint64(first), np.uint64(second), _NO_KEY  # a negative one becomes a large one
    if a < np.uint64(numbers) and b < np.uint64(numbers):
        if len(rank) > 0:
            a, b = np.uint64(rank[a]), np.uint64(rank[b])
        if max(a, b) < np.uint64(n):
            key = max(a, b) << np.uint64(32) | min(a, b)
    return key


@compiled
def _count_rows(
    u: Array, v: Array, rank: Array, numbers: int, n: int, width: int, counts: Array
) -> int:
    """Count the pairs of every bucket; return how many have an end without a rank.

    Each end is read once, because another thread may write to the user's memory meanwhile.
    """
    shift, outside = np.uint64(width + 32), 0
    for i in range(len(u)):
        key = _key(u[i], v[i], rank, numbers, n)
        if key == _NO_KEY:
            outside += 1
        else:
            counts[key >> shift] += 1
    return outside


@compiled
def _write_rows(
    u: Array, v: Array, rank: Array, numbers: int, n: int, width: int, first: int, places: Array,
    ends: Array, keys: Array, row: Array,
) -> int:  # fmt: skip
    """Write the keys of pairs, and their rows from `first` on, to the task's places in buckets.

    Return how many pairs have changed since they were counted, and have no place.
    """
    shift, changed = np.uint64(width + 32), 0
    for i in range(len(u)):
        key = _key(u[i], v[i], rank, numbers, n)
        bucket = key >> shift
        if key == _NO_KEY or places[bucket] == ends[bucket]:
            changed += 1
            continue
        place = places[bucket]
        keys[place], row[place] = key, first + i
        places[bucket] = place + 1
    return changed


@compiled
def _search(offsets: Array, columns: Array, keys: Array, found: Array) -> None:
    """Search the position of each key's edge; -1 if there is no such edge.

    What a lane searches is in columns[begin:begin + size], if anywhere.
    """
    begins, sizes = np.zeros(LANES, np.int64), np.zeros(LANES, np.int64)
    for first in range(0, len(keys), LANES):
        lanes, longest = min(len(keys) - first, LANES), np.int64(0)
        for lane in range(lanes):
            u = keys[first + lane] >> np.uint64(32)
            begins[lane] = offsets[u]
            sizes[lane] = offsets[u + np.uint64(1)] - offsets[u]
            longest = max(longest, sizes[lane])
        while longest > 1:
            for lane in range(lanes):
                half = sizes[lane] >> 1
                if half:
                    middle, v = begins[lane] + half, keys[first + lane] & _LOW_BITS
                    begins[lane] += half * (columns[middle] <= v)
                    sizes[lane] -= half
            longest -= longest >> 1
        for lane in range(lanes):
            begin, v = begins[lane], keys[first + lane] & _LOW_BITS
            is_edge = sizes[lane] > 0 and columns[begin] == v
            found[first + lane] = begin if is_edge else -1


@compiled
def _find_by_row(
    offsets: Array, columns: Array, keys: Array, width: int, place: Array, order: Array,
    starts: Array, found: Array,
) -> None:  # fmt: skip
    """Find the position of each key's edge; -1 if there is no such edge. Keys are by bucket.

    A row marks, in the slots of its columns, the low bits of their positions. What other rows left
    in a slot is far from the row, or another column is there. `order` and `starts` are memory for
    keys by row, as many as `order` has entries at a time.
    """
    size, begin, inner = np.uint64(len(keys)), np.uint64(0), np.uint64((1 << width) - 1)
    while begin < size:
        end = _sort_by_row(keys, begin, width, order, starts)
        at = np.uint64(0)
        while at < end - begin:
            u = keys[begin + np.uint64(order[at])] >> np.uint64(32)
            stop = np.uint64(starts[u & inner])  # where the next row begins
            first, length = np.uint64(offsets[u]), np.uint64(offsets[u + np.uint64(1)] - offsets[u])
            marked = length <= np.uint64(MARKED) * (stop - at)
            if marked:
                _mark(columns, first, length, place)
            while at < stop:
                i = begin + np.uint64(order[at])
                found[i] = _find_in_row(columns, first, length, keys[i] & _LOW_BITS, place, marked)
                at += np.uint64(1)
        begin = end


@inlined
def _mark(columns: Array, first: Any, length: Any, place: Array) -> None:
    mask = np.uint64(len(place) - 1)
    for p in range(first, first + length):
        place[columns[p] & mask] = np.uint32(p & _LOW_BITS)


@inlined
def _find_in_row(columns: Array, first: Any, length: Any, v: Any, place: Array, marked: Any) -> Any:
    """Return the position of column v of a row, by its mark, or by a search; -1 if it has none."""
    position = np.int64(-1)
    after = length  # how far from the first column the mark is
    if marked:
        mark = np.uint64(place[v & np.uint64(len(place) - 1)])
        after = (mark - first) & _LOW_BITS
        if after < length and columns[first + after] == v:
            position = np.int64(first + after)
    if position < 0 and (after < length or not marked):
        position = np.int64(find(columns, np.int64(first), np.int64(first + length), v))
    return position


@inlined
def _sort_by_row(keys: Array, begin: Any, width: int, order: Array, starts: Array) -> Any:
    """Write the places, after `begin`, of keys of the first bucket by row; return where they end.

    `starts` becomes where the next row begins in `order`, by the low bits of a row.
    """
    shift, inner = np.uint64(width + 32), np.uint64((1 << width) - 1)
    limit = min(np.uint64(len(keys)), begin + np.uint64(len(order)))
    bucket, end, sum_ = keys[begin] >> shift, begin, np.uint32(0)
    for value in range(1 << width):
        starts[value] = 0
    while end < limit and keys[end] >> shift == bucket:
        starts[keys[end] >> np.uint64(32) & inner] += np.uint32(1)
        end += np.uint64(1)
    for value in range(1 << width):
        count = starts[value]
        starts[value] = sum_
        sum_ += count
    for i in range(begin, end):
        of_row = keys[i] >> np.uint64(32) & inner
        order[starts[of_row]] = i - begin
        starts[of_row] += np.uint32(1)
    return end


def _tables(n: int, width: int) -> tuple[Array, Array, Array]:
    """Return a thread's memory: slots of columns, the order of keys by row, and where rows end."""
    slots = min(SLOTS, 1 << max(n - 1, 1).bit_length())
    sizes = (slots, max(SORTED, 1 << width), 1 << width)
    place, order, starts = (np.empty(size, np.uint32) for size in sizes)
    return place, order, starts
