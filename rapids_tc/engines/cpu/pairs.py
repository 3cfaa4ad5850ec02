"""What the neighbors of two vertices have in common, for pairs of vertices, on all cores.

Pairs are grouped by the vertex that has more neighbors, the lower rank. Its neighbors are marked
once for all pairs of the group, whose other rows are walked, each once: equal pairs are neighbors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rapids_tc._parallel import parallel_for, threads_for
from rapids_tc.engines.cpu.compiled import compiled
from rapids_tc.engines.cpu.parallel import find
from rapids_tc.preparation.csr import Csr

if TYPE_CHECKING:
    from rapids_tc.preparation.csr import Array

TASKS_PER_THREAD = 16
STEPS = 16  # of a pair, at least: a walk, and look-ups
SEARCHED = 4  # a row with so many times the entries that are walked is searched, not marked


def neighbors(csr: Csr) -> Csr:
    """Return the rows of all neighbors of every rank, ascending."""
    offsets = np.zeros(csr.n + 1, np.int64)
    np.cumsum(np.diff(csr.offsets) + np.bincount(csr.columns, minlength=csr.n), out=offsets[1:])
    columns = np.empty(2 * csr.m, np.uint32)
    _mirror(csr.offsets, csr.columns, offsets, columns)
    return Csr(offsets, columns)


def common_sums(rows: Csr, u: Array, v: Array, values: Array) -> Array:
    """Sum a value of the common neighbors of pairs: see `rapids_tc.engines.protocol.Engine`."""
    hub, other = np.minimum(u, v), np.maximum(u, v)
    order = np.arange(len(hub), dtype=np.uint32)
    for end in (other, hub):
        order = _group(end, np.zeros(rows.n + 1, np.int64), order)
    threads = threads_for(len(hub) * STEPS)
    bounds = np.linspace(0, len(hub), threads * TASKS_PER_THREAD + 1).astype(np.int64)
    tables, sums = np.zeros((threads, rows.n), np.uint8), np.empty(len(hub), np.int64)

    def task(number: int, thread: int) -> None:
        pairs = hub, other, order[bounds[number] : bounds[number + 1]]
        _sum_common(rows.offsets, rows.columns, *pairs, tables[thread], values, sums)

    parallel_for(task, len(bounds) - 1, threads)
    return sums


@compiled
def _mirror(offsets: Array, columns: Array, all_offsets: Array, all_columns: Array) -> None:
    """Write each edge to the rows of both ends: lower ranks first, then higher ones in order."""
    free = np.empty(len(offsets) - 1, np.int64)
    for u in range(len(free)):
        free[u] = all_offsets[u] + offsets[u + 1] - offsets[u]
    for u in range(len(free)):
        shift = all_offsets[u] - offsets[u]
        for p in range(offsets[u], offsets[u + 1]):
            v = columns[p]
            all_columns[p + shift] = v
            all_columns[free[v]] = u
            free[v] += 1


@compiled
def _group(end: Array, places: Array, order: Array) -> Array:
    """Return the numbers of the pairs by the rank of an end, in their order; `places` are zeros."""
    grouped = np.empty_like(order)
    for i in range(len(end)):
        places[end[i] + 1] += 1
    for v in range(1, len(places)):
        places[v] += places[v - 1]
    for i in order:
        grouped[places[end[i]]] = i
        places[end[i]] += 1
    return grouped


@compiled
def _sum_common(
    offsets: Array, columns: Array, hub: Array, other: Array, order: Array, mark: Array,
    values: Array, sums: Array,
) -> None:  # fmt: skip
    """Sum the values of the common neighbors of some pairs, or count these; `mark` is all zero."""
    counts, i = len(values) == 0, 0
    while i < len(order):
        v, end, walked = np.int64(hub[order[i]]), i, np.int64(0)
        while end < len(order) and hub[order[end]] == v:
            u = np.int64(other[order[end]])
            if end == i or u != other[order[end - 1]]:
                walked += offsets[u + 1] - offsets[u]
            end += 1
        begin, stop = offsets[v], offsets[v + 1]
        marked = stop - begin <= SEARCHED * walked
        for p in range(begin, stop if marked else begin):
            mark[columns[p]] = 1
        for k in range(i, end):
            u, total = np.int64(other[order[k]]), np.int64(0)
            if k > i and u == other[order[k - 1]]:
                sums[order[k]] = sums[order[k - 1]]
                continue
            first, last = offsets[u], offsets[u + 1]
            if not marked:
                for p in range(first, last):
                    if find(columns, begin, stop, columns[p]) >= 0:
                        total += np.int64(1) if counts else values[columns[p]]
            elif counts:
                for p in range(first, last):
                    total += np.int64(mark[columns[p]])
            else:
                for p in range(first, last):
                    total += values[columns[p]] & -np.int64(mark[columns[p]])
            sums[order[k]] = total
        for p in range(begin, stop if marked else begin):
            mark[columns[p]] = 0
        i = end
