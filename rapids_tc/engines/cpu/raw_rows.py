"""Rows of a CSR made of keys, and in-edges made of rows, in Numba: counted, then written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rapids_tc.engines.cpu.compiled import compiled, inlined
from rapids_tc.engines.cpu.parallel import find

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


@compiled
def sort_by(keys: Array, shift: Array, n: int, ordered: Array) -> int:
    """Write the keys to `ordered`, sorted by the 32 bits from `shift` on; return how many are kept.

    The sort is stable. Keys whose bits are n or more come last, and are not among those kept.
    """
    low_bits, past = np.uint64(0xFFFFFFFF), np.uint64(n)
    free = np.zeros(n + 2, np.int64)
    for key in keys:
        free[min((key >> shift) & low_bits, past) + np.uint64(1)] += 1
    for rank in range(n):
        free[rank + 1] += free[rank]
    inside: int = free[n]
    for key in keys:
        rank = min((key >> shift) & low_bits, past)
        ordered[free[rank]] = key
        free[rank] += 1
    return inside


@compiled
def csr(keys: Array, n: int, columns: Array) -> Array:
    """Write the columns of ascending keys, without repeats and loops; return the rows' offsets.

    `columns` may share the memory of the keys: no entry is written before its key is read.
    """
    offsets = np.zeros(n + 1, np.int64)
    m, last = 0, np.uint64(0)  # the key of a loop, so that no other key equals it
    for key in keys:
        u, v = key >> np.uint64(32), key & np.uint64(0xFFFFFFFF)
        if u != v and key != last:
            columns[m] = v
            offsets[u + np.uint64(1)] += 1
            m += 1
        last = key
    for u in range(n):
        offsets[u + 1] += offsets[u]
    return offsets


@inlined
def _row(offsets: Array, u: Array) -> tuple[Array, Array]:
    """Return where row u begins and ends; the row before the first is empty."""
    return offsets[max(u, 0)], offsets[u + 1]


@compiled
def group(
    uv_offsets: Array, uv_columns: Array, uw_offsets: Array, uw_columns: Array, to_row: int,
    shift: int, n: int, first: int, last: int,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """Group the edges of uv by the row of v: see `rapids_tc.engines.cpu.engine.Layout`.

    Row r of uv is row r + `to_row` of uw; v has row v + `shift` of `n`; only `first` <= v < `last`.
    """
    in_offsets, probes = np.zeros(n + 1, np.int64), np.zeros(n, np.int64)
    for v in uv_columns:
        if first <= v < last:
            in_offsets[np.int64(v) + shift + 1] += 1
    for v in range(n):
        in_offsets[v + 1] += in_offsets[v]
    free = in_offsets[:-1].copy()
    in_edges = np.empty(in_offsets[n], np.uint64)
    for r in range(len(uv_offsets) - 1):
        u = np.int64(r) + to_row
        begin, end = _row(uw_offsets, u)
        below = begin
        for p in range(uv_offsets[r], uv_offsets[r + 1]):
            if first <= uv_columns[p] < last:
                v = np.int64(uv_columns[p]) + shift
                while below < end and uw_columns[below] < v:
                    below += 1
                in_edges[free[v]] = u << 32 | (below - begin)
                probes[v] += below - begin
                free[v] += 1
    return in_offsets, in_edges, probes


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
    src: Array, dst: Array, rank: Array, n: int, first: int, last: int, free: Array, keys: Array
) -> int:
    """Write the keys of rows in blocks `first` to `last` - 1 of n x n: see `protocol.Engine`.

    Return how many rows have an end without a rank. Each end is read once: see `count_ends`.
    """
    capacity, numbers, outside = len(keys), np.uint64(len(rank)), 0
    for p in range(len(src)):
        source, destination = np.uint64(src[p]), np.uint64(dst[p])
        if source >= numbers or destination >= numbers:
            outside += 1
            continue
        a, b = np.int64(rank[source]), np.int64(rank[destination])
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


@compiled
def find_edges(offsets: Array, columns: Array, u: Array, v: Array, positions: Array) -> int:
    """Write the positions of the edges; return how many edges have an end without a row."""
    n, outside = len(offsets) - 1, 0
    for i in range(len(u)):
        low, high = min(u[i], v[i]), max(u[i], v[i])
        if high < n:
            positions[i] = find(columns, offsets[high], offsets[high + 1], low)
        else:
            outside += 1
    return outside
