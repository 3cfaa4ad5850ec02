"""Triangles one by one in Numba: written to arrays, or summed over with values of their sides.

The walks are as in `counting`: a task is a range of in-edges, and N+(v) is marked once for all
in-edges of v. The triangles of every in-edge are counted before, so the walk of an in-edge ends at
its last triangle, and an in-edge without triangles is not walked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rapids_tc.engines.cpu.compiled import compiled
from rapids_tc.engines.cpu.counting import walk
from rapids_tc.engines.cpu.parallel import atomic_add, find

if TYPE_CHECKING:
    from rapids_tc.preparation.csr import Array


@compiled
def write(
    offsets: Array, columns: Array, in_offsets: Array, in_edges: Array, start: int,
    end_of_task: int, mark: Array, starts: Array, first: int, last: int, ranks: Array,
) -> None:  # fmt: skip
    """Write triangles `first` to `last` - 1, in the order of in-edges, to the rows of `ranks`.

    In-edge i has the triangles starts[i] to starts[i + 1] - 1.
    """
    mask = np.int64(len(mark) - 1)
    v = np.searchsorted(in_offsets, start, side="right") - 1
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
                u, j, _ = walk(offsets, in_edges[i])
                while t < until:
                    w = np.int64(columns[j])
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


@compiled
def sum_products(
    offsets: Array, columns: Array, walk_offsets: Array, walked: Array, in_offsets: Array,
    in_edges: Array, start: int, end_of_task: int, place: Array, sides: Array, sums: Array,
) -> None:  # fmt: skip
    """Add to each corner of a triangle the product of the values of its sides."""
    mask = np.int64(len(place) - 1)
    v = np.searchsorted(in_offsets, start, side="right") - 1
    while start < end_of_task:
        while in_offsets[v + 1] <= start:
            v += 1
        stop = min(end_of_task, in_offsets[v + 1])
        begin, end = offsets[v], offsets[v + 1]
        if begin < end:
            of_v, of_w = 0.0, np.zeros(end - begin)
            for p in range(begin, end):
                place[columns[p] & mask] = p - begin + 1
            for i in range(start, stop):
                (u, first, uv), of_u = walk(walk_offsets, in_edges[i]), 0.0
                for j in range(first, uv):  # v itself comes next
                    index = np.int64(place[walked[j] & mask]) - 1
                    if index >= 0 and v > mask + 1:
                        index = max(find(columns, begin, end, walked[j]) - begin, np.int64(-1))
                    if index >= 0:
                        product = sides[uv] * sides[j] * sides[begin + index]
                        of_u += product
                        of_w[index] += product
                if of_u:
                    atomic_add(sums, u, of_u)
                    of_v += of_u
            if of_v:
                atomic_add(sums, v, of_v)
            for p in range(begin, end):
                place[columns[p] & mask] = 0
                if of_w[p - begin]:
                    atomic_add(sums, columns[p], of_w[p - begin])
        start = stop
