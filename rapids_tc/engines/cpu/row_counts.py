"""The triangles of every edge of a whole graph, or a sum over them, a range of rows in each task.

A task counts the triangles u > v > w whose u is in its range, so that the counts of (u, v) and
(u, w) are its own, and stay in a core's cache. It marks the rows of all its pivot vertices, which
takes as long as the walks if there are many ranges. So a range has as many columns as a cache
holds, and is cut by its pivot vertices if it has more work than a task should have: each of these
tasks has counts of its own for all columns of the range, and adds them up at the end.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

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

PER_THREAD = 8  # tasks of about equal work
RANGE = 1 << 17  # columns of a range, about, at most, if four bytes are added up for each
PROBES = 8  # of a task that is a part of a range, at least, for each column that it adds up


class Task(NamedTuple):
    """The triangles of a range of rows u, and of a range of pivot vertices v."""

    rows: tuple[int, int]
    pivots: tuple[int, int]


def count_edges(
    layout: CpuLayout, counts: Array, slots: int, threads: int, on_progress: ProgressCallback | None
) -> None:
    """Add the triangles of every edge to `counts`."""
    _each_task(layout, counts, slots, threads, on_progress, _count_edges, lambda thread: ())


def sum_thirds(
    layout: CpuLayout, values: Array, slots: int, threads: int, on_progress: ProgressCallback | None
) -> Array:
    """Sum for every edge the values, by rank, of the third vertices of its triangles: int64."""
    sums = np.zeros(layout.csr.m, np.int64)
    _each_task(layout, sums, slots, threads, on_progress, _sum_thirds, lambda thread: (values,))
    return sums


BY_ROWS = {"ThirdSums": sum_thirds}  # by visitor: what takes its place on a whole graph


def _each_task(
    layout: CpuLayout, sums: Array, slots: int, threads: int, on_progress: ProgressCallback | None,
    kernel: Callable[..., None], more: Callable[[int], tuple[Any, ...]],
) -> None:  # fmt: skip
    """Call a kernel for each task; `more` are its last arguments, by thread."""
    csr, columns = layout.csr, RANGE * 4 // sums.itemsize
    tasks = _cut(layout, threads, columns)
    tables = np.zeros((threads, slots), np.uint32)
    scratch = np.zeros((threads, csr.longest_row + 1), sums.dtype)
    hits = np.zeros((threads, csr.longest_row + 1), np.uint32)

    def task(number: int, thread: int) -> None:
        rows, pivots = tasks[number]
        base, end = csr.offsets[list(rows)]
        in_edges, of_rows = (layout.in_offsets, layout.in_edges), sums
        if len(tasks) > 1:
            in_edges = group_rows(csr, *rows, pivots)
            of_rows = np.zeros(end - base, sums.dtype)
        own = (tables[thread], scratch[thread], hits[thread], base, of_rows, sums, len(tasks) > 1)
        kernel(csr.offsets, csr.columns, *in_edges, *own, *more(thread))

    parallel_for(task, len(tasks), threads, on_progress)


def _cut(layout: CpuLayout, threads: int, columns: int) -> list[Task]:
    """Cut the graph into tasks of about equal work, whose rows have about `columns` at most."""
    offsets, m = layout.csr.offsets, layout.csr.m
    step = min(columns, -(-m // threads))
    inner = np.searchsorted(offsets, np.arange(step, m, max(step, 1)))
    bounds = np.unique(np.concatenate([[0, layout.csr.n], inner]))
    work = np.diff(offsets)
    work *= work - 1  # twice the probes of each row; in place, since there may be many rows
    work = np.append(0, np.cumsum(work, out=work)[bounds[1:] - 1])
    probes, tasks = np.cumsum(layout.probe_counts), []
    for (first, last), of_range in zip(pairwise(bounds), np.diff(work), strict=True):
        parts = 1
        if threads > 1:
            wanted = of_range * threads * PER_THREAD // max(work[-1], 1)
            parts = max(min(wanted, of_range // (2 * PROBES * step)), 1)
        targets = np.linspace(0, probes[last - 1], parts + 1)[1:-1]
        cuts = np.searchsorted(probes, targets).clip(*layout.pivot_range)
        pivots = [layout.pivot_range[0], *cuts.tolist(), min(layout.pivot_range[1], last)]
        tasks += [Task((int(first), int(last)), part) for part in pairwise(pivots)]
    return tasks


@compiled
def _count_edges(
    offsets: Array, columns: Array, in_offsets: Array, in_edges: Array, place: Array,
    scratch: Array, hits: Array, base: int, of_rows: Array, counts: Array, apart: int,
) -> None:  # fmt: skip
    """Count the triangles of in-edges of a range of rows, which other threads do not count.

    `of_rows` are the counts of the range, whose columns are at `base` and later. If they lie apart,
    they are added to `counts` at the end, so that the walk needs no atomics. It has no branch that
    a processor has to guess, either: the entries that may close a triangle are first written to
    `hits`.
    """
    mask = np.int64(len(place) - 1)
    for v in range(len(in_offsets) - 1):
        begin, end = offsets[v], offsets[v + 1]
        if begin == end or in_offsets[v] == in_offsets[v + 1]:
            continue
        for p in range(begin, end):
            place[columns[np.uint64(p)] & mask] = p - begin + 1
        exact = v <= mask + 1  # every w < v has a slot of its own
        for i in range(in_offsets[v], in_offsets[v + 1]):
            _, first, below = walk(offsets, in_edges[i])
            found = np.uint64(0)
            for j in range(first, below):
                w = columns[np.uint64(j)]
                index = place[w & mask]
                if not exact and index > 0:
                    p = find(columns, begin, end, w)
                    index = np.uint32(p - begin + 1 if p >= 0 else 0)
                hit = np.uint32(index > 0)
                hits[found] = index
                found += np.uint64(hit)
                of_rows[np.uint64(j - base)] += hit
            for number in range(found):
                scratch[hits[number]] += np.uint32(1)
            of_rows[below - base] += np.uint32(found)
        for p in range(begin, end):
            place[columns[np.uint64(p)] & mask] = 0
            amount = scratch[np.uint64(p - begin + 1)]
            if amount:
                atomic_add(counts, p, amount)
                scratch[np.uint64(p - begin + 1)] = 0
    for j in range(len(of_rows) if apart else 0):
        if of_rows[j]:
            atomic_add(counts, base + j, of_rows[j])


@compiled
def _sum_thirds(
    offsets: Array, columns: Array, in_offsets: Array, in_edges: Array, place: Array,
    scratch: Array, hits: Array, base: int, of_rows: Array, sums: Array, apart: int, values: Array,
) -> None:  # fmt: skip
    """Sum the values of third vertices as `_count_edges` counts.

    Three sums of eight bytes cost more than a guess: only hits are added up.
    """
    mask = np.int64(len(place) - 1)
    for v in range(len(in_offsets) - 1):
        begin, end = offsets[v], offsets[v + 1]
        if begin == end or in_offsets[v] == in_offsets[v + 1]:
            continue
        for p in range(begin, end):
            place[columns[np.uint64(p)] & mask] = p - begin + 1
        exact = v <= mask + 1  # every w < v has a slot of its own
        of_v = values[v]
        for i in range(in_offsets[v], in_offsets[v + 1]):
            u, first, below = walk(offsets, in_edges[i])
            of_u, of_w, found = values[u], np.int64(0), np.uint64(0)
            for j in range(first, below):
                hits[found] = j - first
                found += np.uint64(place[columns[np.uint64(j)] & mask] > 0)
            if exact:
                for hit in range(found):
                    j = first + np.int64(hits[hit])
                    w = columns[np.uint64(j)]
                    scratch[place[w]] += of_u
                    of_rows[np.uint64(j - base)] += of_v
                    of_w += values[w]
            else:
                for hit in range(found):
                    j = first + np.int64(hits[hit])
                    w = columns[np.uint64(j)]
                    p = find(columns, begin, end, w)
                    if p >= 0:
                        scratch[p - begin + 1] += of_u
                        of_rows[j - base] += of_v
                        of_w += values[w]
            of_rows[below - base] += of_w
        for p in range(begin, end):
            place[columns[np.uint64(p)] & mask] = 0
            amount = scratch[np.uint64(p - begin + 1)]
            if amount:
                atomic_add(sums, p, amount)
                scratch[np.uint64(p - begin + 1)] = 0
    for j in range(len(of_rows) if apart else 0):
        if of_rows[j]:
            atomic_add(sums, base + j, of_rows[j])
