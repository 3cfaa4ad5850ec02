"""Triangles one by one in Numba: written down, or summed over with values of their sides.

The walks are those of `cpu`: a task is a range of in-edges, N+(v) is marked once for all in-edges
of v. As every in-edge's triangles are counted before, its walk ends at the last of them, and an
in-edge without any is passed over.
"""

from __future__ import annotations

import numpy as np

from rapids_tc.engines.cpu.compiled import compiled
from rapids_tc.engines.cpu.counting import walk
from rapids_tc.engines.cpu.parallel import atomic_add, find


@compiled
def write(
    offsets, columns, in_offsets, in_edges, here, end_of_task, mark, starts, first, last, ranks
):
    """Triangles `first` to `last` - 1, in the order of in-edges, into the three rows of `ranks`.

    Those of in-edge i are starts[i] to starts[i + 1] - 1.
    """
    mask = np.int64(len(mark) - 1)
    v = np.searchsorted(in_offsets, here, side="right") - 1
    while here < end_of_task:
        while in_offsets[v + 1] <= here:
            v += 1
        stop = min(end_of_task, in_offsets[v + 1])
        begin, end = offsets[v], offsets[v + 1]
        if starts[here] < starts[stop]:
            for p in range(begin, end):
                mark[columns[p] & mask] = 1
            for i in range(here, stop):
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
        here = stop


@compiled
def sum_products(
    offsets, columns, walk_offsets, walked, in_offsets, in_edges, here, end_of_task, place,
    sides, sums,
):  # fmt: skip
    """Add to each corner of a triangle the product of the values of its sides."""
    mask = np.int64(len(place) - 1)
    v = np.searchsorted(in_offsets, here, side="right") - 1
    while here < end_of_task:
        while in_offsets[v + 1] <= here:
            v += 1
        stop = min(end_of_task, in_offsets[v + 1])
        begin, end = offsets[v], offsets[v + 1]
        if begin < end:
            of_v, of_w = 0.0, np.zeros(end - begin)
            for p in range(begin, end):
                place[columns[p] & mask] = p - begin + 1
            for i in range(here, stop):
                (u, first, uv), of_u = walk(walk_offsets, in_edges[i]), 0.0
                for j in range(first, uv):  # v itself comes next
                    at = np.int64(place[walked[j] & mask]) - 1
                    if at >= 0 and v > mask + 1:
                        at = max(find(columns, begin, end, walked[j]) - begin, np.int64(-1))
                    if at >= 0:
                        product = sides[uv] * sides[j] * sides[begin + at]
                        of_u += product
                        of_w[at] += product
                if of_u:
                    atomic_add(sums, u, of_u)
                    of_v += of_u
            if of_v:
                atomic_add(sums, v, of_v)
            for p in range(begin, end):
                place[columns[p] & mask] = 0
                if of_w[p - begin]:
                    atomic_add(sums, columns[p], of_w[p - begin])
        here = stop
