"""The walks of the W1 count in Numba, on the layout of `rapids_tc.engines.cpu.engine`.

A task is a range of in-edges, `here` to `last` - 1. N+(v) is marked once for all in-edges of v.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from rapids_tc.engines.cpu.compiled import compiled
from rapids_tc.engines.cpu.parallel import atomic_add, find


@njit(inline="always")
def walk(offsets, in_edge):
    """The row of u of an in-edge, and where its entries below v begin and end."""
    u = in_edge >> np.uint64(32)
    begin = offsets[u]
    return u, begin, begin + np.int64(in_edge & np.uint64(0xFFFFFFFF))


@compiled
def total(offsets, columns, walk_offsets, walked, in_offsets, in_edges, here, last, mark, closed):
    """The number of triangles; those of every in-edge too, where `closed` has room for them."""
    mask = np.int64(len(mark) - 1)
    v = np.searchsorted(in_offsets, here, side="right") - 1
    mine = np.int64(0)
    while here < last:
        while in_offsets[v + 1] <= here:
            v += 1
        stop = min(last, in_offsets[v + 1])
        begin, end = offsets[v], offsets[v + 1]
        if begin < end:
            for p in range(begin, end):
                mark[columns[p] & mask] = 1
            own = v <= mask + 1  # every w < v has a slot of its own
            for i in range(here, stop):
                _, first, below = walk(walk_offsets, in_edges[i])
                hits = np.int64(0)
                if own:
                    for j in range(first, below):
                        hits += np.int64(mark[walked[j]])
                else:
                    for j in range(first, below):
                        w = walked[j]
                        if mark[w & mask] and find(columns, begin, end, w) >= 0:
                            hits += 1
                mine += hits
                if len(closed):
                    closed[i] = hits
            for p in range(begin, end):
                mark[columns[p] & mask] = 0
        here = stop
    return mine


@compiled
def edges(
    offsets, columns, walk_offsets, walked, in_offsets, in_edges, here, last, place,
    of_uv, of_uw, of_vw,
):  # fmt: skip
    """As `total`; a table entry is 1 + the place of w in N+(v).

    (u, v) is this task's own. (u, w) and (v, w) may be another thread's too: atomics.
    """
    mask = np.int64(len(place) - 1)
    v = np.searchsorted(in_offsets, here, side="right") - 1
    mine = np.int64(0)
    while here < last:
        while in_offsets[v + 1] <= here:
            v += 1
        stop = min(last, in_offsets[v + 1])
        begin, end = offsets[v], offsets[v + 1]
        if begin < end:
            closed = np.zeros(end - begin, np.uint32)
            for p in range(begin, end):
                place[columns[p] & mask] = p - begin + 1
            for i in range(here, stop):
                _, first, below = walk(walk_offsets, in_edges[i])
                hits = np.int64(0)
                for j in range(first, below):
                    w = walked[j]
                    at = np.int64(place[w & mask]) - 1
                    if at >= 0 and v > mask + 1:
                        p = find(columns, begin, end, w)
                        at = np.int64(p - begin if p >= 0 else -1)
                    if at >= 0:
                        hits += 1
                        closed[at] += np.uint32(1)
                        atomic_add(of_uw, j, 1)
                of_uv[i] = hits
                mine += hits
            for p in range(begin, end):
                place[columns[p] & mask] = 0
                if closed[p - begin]:
                    atomic_add(of_vw, p, closed[p - begin])
        here = stop
    return mine
