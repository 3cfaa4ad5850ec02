"""Triangles one by one in Numba, written to arrays.

The walks are as in `counting`: a task is a range of in-edges, and N+(v) is marked once for all
in-edges of v. The triangles of every in-edge are counted before, so the walk of an in-edge ends at
its last triangle, and an in-edge without triangles is not walked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc._parallel import parallel_for
from rapids_tc.engines.cpu.compiled import compiled
from rapids_tc.engines.cpu.counting import pivot_of, walk
from rapids_tc.engines.cpu.parallel import find

if TYPE_CHECKING:
    from rapids_tc.preparation.csr import Array


_TASKS = 64  # per thread


def list_ranks(
    layout: Any, starts: Array, first: int, last: int, threads: int, slots: int
) -> Array:
    """List the ranks u > v > w of triangles `first` to `last` - 1: uint32, (3, last - first)."""
    graph, walked = layout.csr, layout.walked
    ranks = np.empty((3, last - first), np.uint32)
    targets = np.linspace(first, last, threads * _TASKS + 1).astype(np.int64)
    bounds = np.searchsorted(starts, targets, side="right") - 1
    bounds[-1] = np.searchsorted(starts, last)
    bounds = np.unique(bounds)
    tables = np.zeros((threads, slots), np.uint8)
    of_rows = (graph.offsets, graph.columns, walked.offsets, walked.columns)
    arrays = (*of_rows, layout.in_offsets, layout.in_edges)

    def task(number: int, thread: int) -> None:
        begin, end = bounds[number], bounds[number + 1]
        write(*arrays, begin, end, tables[thread], starts, first, last, ranks)

    parallel_for(task, len(bounds) - 1, threads)
    if not layout.whole:
        to_uv(ranks, walked.n - layout.edges.n, layout.shift)
    return ranks


@compiled
def write(
    offsets: Array, columns: Array, walk_offsets: Array, walked: Array, in_offsets: Array,
    in_edges: Array, start: int, end_of_task: int, mark: Array, starts: Array, first: int,
    last: int, ranks: Array,
) -> None:  # fmt: skip
    """Write triangles `first` to `last` - 1, in the order of in-edges, to the rows of `ranks`.

    In-edge i has the triangles starts[i] to starts[i + 1] - 1. On blocks, u is written by row of
    uw, and v by row of vw.
    """
    mask = np.int64(len(mark) - 1)
    v = pivot_of(in_offsets, start)
    while start < end_of_task:
        while in_offsets[v + 1] <= start:
            v += 1
        stop = min(end_of_task, in_offsets[v + 1])
        begin, end = offsets[v], offsets[v + 1]
        if starts[start] < starts[stop]:
            for p in range(begin, end):
                mark[columns[p] & mask] = 1
            for i in range(start, stop):
                t, until = starts[i], min(starts[i + 1], last)
                u, j, below = walk(walk_offsets, in_edges[i])
                while t < until and j < below:
                    w = np.int64(walked[j])
                    if mark[w & mask] and (v <= mask + 1 or find(columns, begin, end, w) >= 0):
                        if t >= first:
                            ranks[0, t - first] = u
                            ranks[1, t - first] = v
                            ranks[2, t - first] = w
                        t += 1
                    j += 1
            for p in range(begin, end):
                mark[columns[p] & mask] = 0
        start = stop


def to_uv(ranks: Array, to_row: int, shift: int) -> None:
    """Turn the rows of u in uw, and of v in vw, into the rows and the columns of uv, in place.

    `to_row` and `shift` are the steps back: see `rapids_tc.engines.protocol.shifts`.
    """
    ranks[0] -= np.array(to_row).astype(np.uint32)  # of -1, the unsigned number that adds 1
    ranks[1] -= np.uint32(shift)
