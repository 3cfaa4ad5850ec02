"""Keys sorted into rows, on all cores.

Rows are divided into *buckets* of 2**width neighboring ranks. Each task writes its keys to their
buckets, then each bucket is sorted on its own by digits of its keys, in the caches of one core.
Tasks write to places that were counted before, so that the result is the same for any number of
threads. Sorting takes the memory of the keys and as much again.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from rapids_tc._parallel import parallel_for
from rapids_tc.engines.cpu.compiled import compiled
from rapids_tc.errors import require_unchanged
from rapids_tc.preparation.csr import Csr

if TYPE_CHECKING:
    from rapids_tc.preparation.csr import Array

BUCKET = 1 << 12  # keys of a bucket, about: two copies of them fit in a core's second cache
BUCKETS = 1 << 11  # at most: a write to each touches another page
DIGIT = 11  # bits of a digit at most: its counters fit in a core's first cache
PER_THREAD = 4  # tasks, so that a thread that is held up holds up no other


def sort_keys(keys: Array, n: int, threads: int) -> Csr:
    """Build the CSR of `n` ranks from packed keys, whose memory is used; see `engine.csr`."""
    bits = max(n - 1, 1).bit_length()
    buckets = min(max(len(keys) // BUCKET, 1), BUCKETS)
    width = bits - min(bits, buckets.bit_length() - 1)
    offsets, columns = np.zeros(n + 1, np.int64), keys.view(np.uint32)
    cuts, bounds, kept = _sort(keys, bits, width, threads, columns, offsets)
    np.cumsum(kept, out=kept)
    dense = np.empty(kept[-1], np.uint32)

    def join(number: int, thread: int) -> None:
        for bucket in range(cuts[number], cuts[number + 1]):
            first, end = kept[bucket], kept[bucket + 1]
            begin = 2 * bounds[bucket]
            dense[first:end] = columns[begin : begin + end - first]

    parallel_for(join, len(cuts) - 1, threads)
    np.cumsum(offsets, out=offsets)
    return Csr(offsets, dense)


def _sort(
    keys: Array, bits: int, width: int, threads: int, columns: Array, offsets: Array
) -> tuple[Array, Array, Array]:
    """Sort the keys, and write columns and lengths of rows as `_sort_buckets` does.

    Returns
    -------
    cuts : array of int64
        The first bucket of each task, with about as many keys each, and one past the last.
    bounds : array of int64
        The first key of every bucket, and one past the last.
    kept : array of int64
        0, and the columns of every bucket.
    """
    n = len(offsets) - 1
    tasks = threads * PER_THREAD if threads > 1 else 1
    parts = cut_evenly(len(keys), tasks)
    counts = np.zeros((tasks, (max(n - 1, 0) >> width) + 1), np.int64)

    def count(number: int, thread: int) -> int:
        return count_by_bucket(keys[parts[number]], n, width, counts[number])

    require_unchanged(parallel_for(count, tasks, threads))
    by_bucket, scratch = keys, np.empty_like(keys)
    buckets, bounds, cuts = counts.shape[1], np.array([0, len(keys)]), np.array([0, 1])
    if buckets > 1:
        bounds, places = place_buckets(counts)
        ordered = scratch

        def write(number: int, thread: int) -> None:
            _write_to_buckets(keys[parts[number]], width, places[number], ordered)

        parallel_for(write, tasks, threads)
        by_bucket, scratch = ordered, keys
        starts = np.searchsorted(bounds, [part.start for part in parts[1:]])
        cuts = np.unique([0, *starts.tolist(), buckets])
    kept = np.zeros(buckets + 1, np.int64)

    def sort(number: int, thread: int) -> None:
        first, last, counters = cuts[number], cuts[number + 1], np.empty(1 << DIGIT, np.int64)
        written = (columns, kept, offsets)
        _sort_buckets(by_bucket, scratch, bounds, first, last, bits, width, counters, *written)

    parallel_for(sort, len(cuts) - 1, threads)
    return cuts, bounds, kept


def place_buckets(counts: Array) -> tuple[Array, Array]:
    """Return where each bucket begins, and where each task writes its first key of each bucket."""
    bounds = np.zeros(counts.shape[1] + 1, np.int64)
    np.cumsum(counts.sum(axis=0), out=bounds[1:])
    places = np.cumsum(counts, axis=0)
    places += bounds[:-1] - counts
    return bounds, places


def cut_evenly(size: int, parts: int) -> list[slice]:
    """Cut an array of `size` entries into parts of about equal length."""
    bounds = [size * part // parts for part in range(parts + 1)]
    return [slice(begin, end) for begin, end in pairwise(bounds)]


@compiled
def count_by_bucket(keys: Array, n: int, width: int, counts: Array) -> int:
    """Count the keys of every bucket; return how many keys have an end without a rank."""
    past, low_bits, shift, outside = np.uint64(n), np.uint64(0xFFFFFFFF), np.uint64(width), 0
    for key in keys:
        u = key >> np.uint64(32)
        if u < past and key & low_bits < past:
            counts[u >> shift] += 1
        else:
            outside += 1
    return outside


@compiled
def _write_to_buckets(keys: Array, width: int, places: Array, by_bucket: Array) -> None:
    """Write the keys to their buckets, from the task's place in each on."""
    shift = np.uint64(width + 32)
    for key in keys:
        bucket = key >> shift
        place = places[bucket]
        by_bucket[place] = key
        places[bucket] = place + 1


@compiled
def _sort_buckets(
    by_bucket: Array, scratch: Array, bounds: Array, first: int, last: int, bits: int, width: int,
    counters: Array, columns: Array, kept: Array, offsets: Array,
) -> None:  # fmt: skip
    """Sort buckets `first` to `last` - 1, and drop repeats and loops.

    The columns of a bucket are written from twice its bound on, since two fit in a key; `columns`
    may share the memory of either array of keys: no entry is written before its key is read.
    kept[b + 1] becomes the number of bucket b's columns, and offsets[u + 1] the length of row u.
    """
    digits_of_v = (bits + DIGIT - 1) // DIGIT
    digits = digits_of_v + (width + DIGIT - 1) // DIGIT
    for bucket in range(first, last):
        begin, end = bounds[bucket], bounds[bucket + 1]
        source, target = by_bucket, scratch
        for digit in range(digits):
            if digit < digits_of_v:
                size = (bits + digits_of_v - 1) // digits_of_v
                shift = np.uint64(size * digit)
            else:
                size = (width + digits - digits_of_v - 1) // (digits - digits_of_v)
                shift = np.uint64(32 + size * (digit - digits_of_v))
            mask = np.uint64((1 << size) - 1)
            for value in range(1 << size):
                counters[value] = 0
            for i in range(begin, end):
                counters[(source[i] >> shift) & mask] += 1
            place = begin
            for value in range(1 << size):
                place += counters[value]
                counters[value] = place - counters[value]
            for i in range(begin, end):
                key = source[i]
                place = counters[(key >> shift) & mask]
                target[place] = key
                counters[(key >> shift) & mask] = place + 1
            source, target = target, source
        m, before = 2 * begin, np.uint64(0)  # the key of a loop, so that no other key equals it
        for i in range(begin, end):
            key = source[i]
            u, v = key >> np.uint64(32), key & np.uint64(0xFFFFFFFF)
            if u != v and key != before:
                columns[m] = v
                offsets[u + np.uint64(1)] += 1
                m += 1
            before = key
        kept[bucket + 1] = m - 2 * begin
