"""Edges looked up in a CSR, on all cores.

Searches wait for memory. Pairs are written to buckets of neighboring rows first, so that the rows
that are searched stay in the caches of a core; and `LANES` searches go on side by side, one step of
each after another, so that they wait together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rapids_tc._parallel import SERIAL_BELOW, parallel_for, thread_count
from rapids_tc.engines.cpu.compiled import compiled
from rapids_tc.engines.cpu.sorting import (
    BUCKETS,
    PER_THREAD,
    count_by_bucket,
    cut_evenly,
    place_buckets,
)
from rapids_tc.errors import require_unchanged
from rapids_tc.frames.backend import as_names, gather
from rapids_tc.preparation.csr import pack_keys

if TYPE_CHECKING:
    from rapids_tc.preparation.csr import Array, Csr

BUCKET = 1 << 13  # columns of a bucket, about
LANES = 16
TAKEN = 1 << 16  # values of a task, at most
SHORT = 8  # a row of fewer columns is read at once: buckets would take longer than they save


def find_edges(csr: Csr, u: Array, v: Array, threads: int, rank: Array | None = None) -> Array:
    """Find the positions of edges: see `rapids_tc.engines.protocol.Engine`."""
    tasks = threads * PER_THREAD if threads > 1 else 1
    keys, row = _to_buckets(csr, u, v, cut_evenly(len(u), tasks), threads, rank)
    positions, parts = np.empty(len(u), np.int64), cut_evenly(len(u), 4 * tasks)

    def find(number: int, thread: int) -> None:
        part = parts[number]
        _find(csr.offsets, csr.columns, keys[part], row[part], positions)

    parallel_for(find, len(parts), threads)
    return positions


def take(values: Array, positions: Array) -> Array:
    """Return the value at each position, and 0 for the position -1."""
    rows, taken = len(positions), np.zeros(len(positions), values.dtype)
    threads = thread_count() if rows > SERIAL_BELOW else 1
    parts = cut_evenly(rows, -(-rows // TAKEN)) if rows and len(values) else []

    def write(number: int, thread: int) -> None:
        part = parts[number]
        own, where = taken[part], positions[part]
        own[:] = values[where]  # the last value for the position -1
        own[where < 0] = 0

    parallel_for(write, len(parts), threads)
    return taken


def _to_buckets(
    csr: Csr, u: Array, v: Array, parts: list[slice], threads: int, rank: Array | None
) -> tuple[Array, Array]:
    """Pack the pairs into keys, by bucket; return them and the row of each in `u` and `v`."""
    bits, buckets = max(csr.n - 1, 1).bit_length(), 1
    if csr.m >= SHORT * csr.n:
        buckets = max(min(csr.m // BUCKET, len(u) // BUCKET, BUCKETS), 1)
    width = bits - min(bits, buckets.bit_length() - 1)
    counts = np.zeros((len(parts), (max(csr.n - 1, 0) >> width) + 1), np.int64)
    keys = np.empty(len(u), np.uint64)

    def count(number: int, thread: int) -> int:
        part = parts[number]
        ends = (end[part] if rank is None else gather(rank, end[part]) for end in (u, v))
        first, second = map(as_names, ends)
        pack_keys(np.maximum(first, second), np.minimum(first, second), np, keys[part])
        return count_by_bucket(keys[part], csr.n, width, counts[number])

    require_unchanged(parallel_for(count, len(parts), threads))
    _, places = place_buckets(counts)
    by_bucket, row = np.empty_like(keys), np.empty(len(u), np.uint32)

    def write(number: int, thread: int) -> None:
        part = parts[number]
        _write_to_buckets(keys[part], part.start, width, places[number], by_bucket, row)

    parallel_for(write, len(parts), threads)
    return by_bucket, row


@compiled
def _write_to_buckets(
    keys: Array, first: int, width: int, places: Array, by_bucket: Array, row: Array
) -> None:
    """Write the keys and their row numbers, from `first` on, to buckets of keys."""
    shift = np.uint64(width + 32)
    for i in range(len(keys)):
        bucket = keys[i] >> shift
        place = places[bucket]
        by_bucket[place], row[place] = keys[i], first + i
        places[bucket] = place + 1


@compiled
def _find(offsets: Array, columns: Array, keys: Array, row: Array, positions: Array) -> None:
    """Write the position of each key's edge to the place of its row; -1 if there is no such edge.

    What a lane searches is in columns[begin:begin + size], if anywhere.
    """
    begins, sizes = np.zeros(LANES, np.int64), np.zeros(LANES, np.int64)
    for first in range(0, len(keys), LANES):
        lanes, longest = min(len(keys) - first, LANES), np.int64(0)
        for lane in range(lanes):
            u = np.int64(keys[first + lane] >> np.uint64(32))
            begins[lane] = offsets[u]
            sizes[lane] = offsets[u + 1] - offsets[u]
            longest = max(longest, sizes[lane])
        while longest > 1:
            for lane in range(lanes):
                half = sizes[lane] >> 1
                if half:
                    middle, v = begins[lane] + half, keys[first + lane] & np.uint64(0xFFFFFFFF)
                    begins[lane] += half * (columns[middle] <= v)
                    sizes[lane] -= half
            longest -= longest >> 1
        for lane in range(lanes):
            begin, v = begins[lane], keys[first + lane] & np.uint64(0xFFFFFFFF)
            is_edge = sizes[lane] > 0 and columns[begin] == v
            positions[row[first + lane]] = begin if is_edge else -1
