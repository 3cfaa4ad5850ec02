"""Rows made of keys, and in-edges of rows, in Numba: counted, then written in place."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def sorted_by(keys, shift, n):
    """The keys in the order of the 32 bits from `shift` on, all below n; stable."""
    low = np.uint64(0xFFFFFFFF)
    free = np.zeros(n + 1, np.int64)
    for key in keys:
        free[((key >> shift) & low) + np.uint64(1)] += 1
    for rank in range(n):
        free[rank + 1] += free[rank]
    ordered = np.empty_like(keys)
    for key in keys:
        rank = (key >> shift) & low
        ordered[free[rank]] = key
        free[rank] += 1
    return ordered


@njit(cache=True, nogil=True)
def csr(keys, n):
    """Offsets and columns of the rows of ascending keys, without repeats and loops."""
    offsets = np.zeros(n + 1, np.int64)
    columns = np.empty(len(keys), np.uint32)
    m = 0
    for i in range(len(keys)):
        u, v = keys[i] >> np.uint64(32), keys[i] & np.uint64(0xFFFFFFFF)
        if u != v and (i == 0 or keys[i] != keys[i - 1]):
            columns[m] = v
            offsets[u + np.uint64(1)] += 1
            m += 1
    for u in range(n):
        offsets[u + 1] += offsets[u]
    return offsets, columns[:m].copy()


@njit(cache=True, nogil=True)
def transpose(offsets, columns):
    """Offsets and rows of the in-edges by column, and the probes of each column."""
    n = len(offsets) - 1
    in_offsets = np.zeros(n + 1, np.int64)
    work = np.zeros(n, np.int64)
    for u in range(n):
        for p in range(offsets[u], offsets[u + 1]):
            in_offsets[np.int64(columns[p]) + 1] += 1
            work[columns[p]] += p - offsets[u]
    for v in range(n):
        in_offsets[v + 1] += in_offsets[v]
    free = in_offsets[:-1].copy()
    in_rows = np.empty(len(columns), np.uint32)
    for u in range(n):
        for p in range(offsets[u], offsets[u + 1]):
            in_rows[free[columns[p]]] = u
            free[columns[p]] += 1
    return in_offsets, in_rows, work
