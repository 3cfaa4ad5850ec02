"""The triangles of every edge of a whole graph, or a sum over them, a range of rows in each task.

A task counts the triangles u > v > w whose u is in its range, so that the counts of (u, v) and
(u, w) are its own, and stay in a core's cache. It marks the rows of all its pivot vertices: with
few ranges, this is little beside the walks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc._parallel import parallel_for
from rapids_tc.engines.cpu.compiled import compiled
from rapids_tc.engines.cpu.counting import walk
from rapids_tc.engines.cpu.in_edges import group_rows
from rapids_tc.engines.cpu.parallel import atomic_add, find

if TYPE_CHECKING:
    from collections.abc import Callable

    from rapids_tc.engines.cpu.layout import CpuLayout
    from rapids_tc.engines.protocol import ProgressCallback
    from rapids_tc.preparation.csr import Array

PER_THREAD = 8  # ranges of about equal work
RANGE = 1 << 17  # columns of a range, about, at most, if four bytes are added up for each


def count_edges(
    layout: CpuLayout, counts: Array, slots: int, threads: int, on_progress: ProgressCallback | None
) -> None:
    """Add the triangles of every edge to `counts`."""
    _each_range(layout, counts, slots, threads, on_progress, _count_edges, lambda thread: ())


def sum_thirds(
    layout: CpuLayout, values: Array, slots: int, threads: int, on_progress: ProgressCallback | None
) -> Array:
    """Sum for every edge the values, by rank, of the third vertices of its triangles: int64."""
    sums = np.zeros(layout.csr.m, np.int64)
    hits = np.zeros((threads, layout.csr.longest_row + 1), np.uint32)

    def more(thread: int) -> tuple[Array, Array]:
        return values, hits[thread]

    _each_range(layout, sums, slots, threads, on_progress, _sum_thirds, more)
    return sums


BY_ROWS = {"ThirdSums": sum_thirds}  # by visitor: what takes its place on a whole graph


def _each_range(
    layout: CpuLayout, sums: Array, slots: int, threads: int, on_progress: ProgressCallback | None,
    kernel: Callable[..., None], more: Callable[[int], tuple[Any, ...]],
) -> None:  # fmt: skip
    """Call a kernel for each range of rows; `more` are its last arguments, by thread."""
    csr, columns = layout.csr, RANGE * 4 // sums.itemsize
    bounds = _cut_rows(csr.offsets, threads * PER_THREAD if threads > 1 else 1, columns)
    ends = csr.offsets[bounds]
    tables = np.zeros((threads, slots), np.uint32)
    scratch = np.zeros((threads, csr.longest_row + 1), sums.dtype)

    def task(number: int, thread: int) -> None:
        base, in_edges, of_rows = ends[number], (layout.in_offsets, layout.in_edges), sums
        if len(bounds) > 2:
            rows = bounds[number], bounds[number + 1]
            in_edges = group_rows(csr, *rows, layout.pivot_range)
            of_rows = np.zeros(ends[number + 1] - base, sums.dtype)
        own = (tables[thread], scratch[thread], base, of_rows, sums, len(bounds) > 2)
        kernel(csr.offsets, csr.columns, *in_edges, *own, *more(thread))

    parallel_for(task, len(bounds) - 1, threads, on_progress)


def _cut_rows(offsets: Array, tasks: int, columns: int) -> Array:
    """Cut the rows into ranges of about equal probes, and of not many more columns than these."""
    if tasks == 1 and offsets[-1] <= columns:
        return np.array([0, len(offsets) - 1])
    lengths = np.diff(offsets).astype(np.float64)
    work = np.cumsum(lengths * (lengths - 1) + 1)
    inner = [np.searchsorted(work, np.linspace(0, work[-1], tasks + 1)[1:-1])]
    inner.append(np.searchsorted(offsets, np.arange(columns, offsets[-1], columns)))
    return np.unique(np.concatenate([[0, len(offsets) - 1], *inner]))


@compiled
def _count_edges(
    offsets: Array, columns: Array, in_offsets: Array, in_edges: Array, place: Array,
    scratch: Array, base: int, of_rows: Array, counts: Array, apart: int,
) -> None:  # fmt: skip
    """Count the triangles of in-edges of a range of rows, which other threads do not count.

    `of_rows` are the counts of the range, whose columns are at `base` and later. If they lie apart,
    they are added to `counts` at the end, so that the walk needs no atomics. It has no branch that
    a processor has to guess, either: entries without a triangle are counted in scratch[0].
    """
    mask = np.int64(len(place) - 1)
    for v in range(len(in_offsets) - 1):
        begin, end = offsets[v], offsets[v + 1]
        if begin == end or in_offsets[v] == in_offsets[v + 1]:
            continue
        for p in range(begin, end):
            place[columns[p] & mask] = p - begin + 1
        exact = v <= mask + 1  # every w < v has a slot of its own
        for i in range(in_offsets[v], in_offsets[v + 1]):
            _, first, below = walk(offsets, in_edges[i])
            hits = np.uint32(0)
            for j in range(first, below):
                index = np.int64(place[columns[j] & mask])
                if not exact and index > 0:
                    p = find(columns, begin, end, columns[j])
                    index = np.int64(p - begin + 1 if p >= 0 else 0)
                hit = np.uint32(index > 0)
                scratch[index] += np.uint32(1)
                of_rows[j - base] += hit
                hits += hit
            of_rows[below - base] += hits
        for p in range(begin, end):
            place[columns[p] & mask] = 0
            amount = scratch[p - begin + 1]
            if amount:
                atomic_add(counts, p, amount)
                scratch[p - begin + 1] = 0
    for j in range(len(of_rows) if apart else 0):
        if of_rows[j]:
            atomic_add(counts, base + j, of_rows[j])


@compiled
def _sum_thirds(
    offsets: Array, columns: Array, in_offsets: Array, in_edges: Array, place: Array,
    scratch: Array, base: int, of_rows: Array, sums: Array, apart: int, values: Array, hits: Array,
) -> None:  # fmt: skip
    """Sum the values of third vertices as `_count_edges` counts.

    Three sums of eight bytes cost more than a guess: the entries that may close a triangle are
    first written to `hits`, without a branch, and only these are added up.
    """
    mask = np.int64(len(place) - 1)
    for v in range(len(in_offsets) - 1):
        begin, end = offsets[v], offsets[v + 1]
        if begin == end or in_offsets[v] == in_offsets[v + 1]:
            continue
        for p in range(begin, end):
            place[columns[p] & mask] = p - begin + 1
        exact = v <= mask + 1  # every w < v has a slot of its own
        of_v = values[v]
        for i in range(in_offsets[v], in_offsets[v + 1]):
            u, first, below = walk(offsets, in_edges[i])
            of_u, of_w, found = values[u], np.int64(0), np.int64(0)
            for j in range(first, below):
                hits[found] = j - first
                found += np.int64(place[columns[j] & mask] > 0)
            if exact:
                for hit in range(found):
                    j = first + np.int64(hits[hit])
                    w = columns[j]
                    scratch[place[w]] += of_u
                    of_rows[j - base] += of_v
                    of_w += values[w]
            else:
                for hit in range(found):
                    j = first + np.int64(hits[hit])
                    w = columns[j]
                    p = find(columns, begin, end, w)
                    if p >= 0:
                        scratch[p - begin + 1] += of_u
                        of_rows[j - base] += of_v
                        of_w += values[w]
            of_rows[below - base] += of_w
        for p in range(begin, end):
            place[columns[p] & mask] = 0
            amount = scratch[p - begin + 1]
            if amount:
                atomic_add(sums, p, amount)
                scratch[p - begin + 1] = 0
    for j in range(len(of_rows) if apart else 0):
        if of_rows[j]:
            atomic_add(sums, base + j, of_rows[j])
