"""Ends, rows and in-edges counted and added up in Numba."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rapids_tc.engines.cpu.compiled import compiled, inlined
from rapids_tc.frames.backend import as_uint32

if TYPE_CHECKING:
    from rapids_tc.preparation.csr import Array


@compiled
def count_ends(ends: Array, degree: Array) -> int:
    """Add to `degree` how often each number occurs; return how many ends lie outside of it.

    Each end is read once, because another thread may write to the user's memory meanwhile.
    """
    size, outside = np.uint64(len(degree)), 0
    for i in range(len(ends)):
        end = np.uint64(ends[i])  # a negative number becomes a large one
        if end < size:
            degree[end] += 1
        else:
            outside += 1
    return outside


@inlined
def _row(offsets: Array, u: Array) -> tuple[Array, Array]:
    """Return where row u begins and ends; the row before the first is empty."""
    return offsets[max(u, 0)], offsets[u + 1]


@compiled
def probe_counts(
    uv_offsets: Array, uv_columns: Array, uw_offsets: Array, uw_columns: Array, to_row: int,
    shift: int,
) -> Array:  # fmt: skip
    """Sum the lengths of the prefixes in `group`, by column of uv."""
    probes = np.zeros(len(uv_offsets) - 1, np.int64)
    for r in range(len(uv_offsets) - 1):
        begin, end = _row(uw_offsets, np.int64(r) + to_row)
        below = begin
        for p in range(uv_offsets[r], uv_offsets[r + 1]):
            while below < end and uw_columns[below] < uv_columns[p] + shift:
                below += 1
            probes[uv_columns[p]] += below - begin
    return probes


@compiled
def find_in_edges(
    columns: Array, in_offsets: Array, shift: int, first: int, last: int, positions: Array
) -> None:
    """Write the positions in uv of the in-edges that `group` made of it."""
    free = in_offsets[:-1].copy()
    for p in range(len(columns)):
        if first <= columns[p] < last:
            v = np.int64(columns[p]) + shift
            positions[free[v]] = p
            free[v] += 1


@compiled
def split(
    src: Array, dst: Array, rank: Array, numbers: int, n: int, first: int, last: int, free: Array,
    keys: Array,
) -> int:  # fmt: skip
    """Write the keys of rows in blocks `first` to `last` - 1 of n x n: see `protocol.Engine`.

    Without entries in `rank`, the ends are ranks. Return how many rows have an end of `numbers` or
    more. Each end is read once: see `count_ends`.
    """
    capacity, limit, by_number, outside = len(keys), np.uint64(numbers), len(rank) > 0, 0
    for p in range(len(src)):
        source, destination = np.uint64(src[p]), np.uint64(dst[p])
        if source >= limit or destination >= limit:
            outside += 1
            continue
        a = np.int64(rank[source] if by_number else source)
        b = np.int64(rank[destination] if by_number else destination)
        u, v = max(a, b), min(a, b)
        i, j = u % n, v % n
        block = i * n + j
        if u != v and first <= block < last:
            at = np.int64(free[block])
            free[block] = at + 1
            if at < capacity:
                keys[at] = (u // n + (i > j)) << 32 | (v // n)
    return outside


@compiled
def sum_counts(offsets: Array, columns: Array, counts: Array) -> tuple[Array, Array]:
    """Sum the counts of edges by row, and by column."""
    n = len(offsets) - 1
    by_row, by_column = np.zeros(n, np.int64), np.zeros(n, np.int64)
    for r in range(n):
        for p in range(offsets[r], offsets[r + 1]):
            by_row[r] += counts[p]
            by_column[columns[p]] += counts[p]
    return by_row, by_column


def read_only(ends: Array) -> Array:
    """Return the ends as read-only uint32 or int64, so that one compiled version serves all."""
    numbers = (ends if ends.dtype == "int64" else as_uint32(ends)).view()
    numbers.flags.writeable = False
    return numbers
