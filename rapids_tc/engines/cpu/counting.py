"""The walks of the W1 count in Numba, on the layout of `rapids_tc.engines.cpu.engine`.

A task is a range of in-edges, `start` to `last` - 1. N+(v) is marked once for all in-edges of v.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rapids_tc.engines.cpu.compiled import compiled, inlined
from rapids_tc.engines.cpu.parallel import atomic_add, find

if TYPE_CHECKING:
    from rapids_tc.preparation.csr import Array


@inlined
def walk(offsets: Array, in_edge: Array) -> tuple[Array, Array, Array]:
    """Return u of an in-edge, and where the entries of its row below v begin and end."""
    u = in_edge >> np.uint64(32)
    begin = offsets[u]
    return u, begin, begin + np.int64(in_edge & np.uint64(0xFFFFFFFF))


@compiled
def total(
    offsets: Array, columns: Array, walk_offsets: Array, walked: Array, in_offsets: Array,
    in_edges: Array, start: int, last: int, mark: Array, of_uv: Array,
) -> Array:  # fmt: skip
    """Count the triangles; write the count of every in-edge too, unless `of_uv` is empty."""
    mask = np.int64(len(mark) - 1)
    v = np.searchsorted(in_offsets, start, side="right") - 1
    triangles = np.int64(0)
    while start < last:
        while in_offsets[v + 1] <= start:
            v += 1
        stop = min(last, in_offsets[v + 1])
        begin, end = offsets[v], offsets[v + 1]
        if begin < end:
            for p in range(begin, end):
                mark[columns[p] & mask] = 1
            exact = v <= mask + 1  # every w < v has a slot of its own
            for i in range(start, stop):
                _, first, below = walk(walk_offsets, in_edges[i])
                hits = np.int64(0)
                if exact:
                    for j in range(first, below):
                        hits += np.int64(mark[walked[j]])
                else:
                    for j in range(first, below):
                        w = walked[j]
                        if mark[w & mask] and find(columns, begin, end, w) >= 0:
                            hits += 1
                triangles += hits
                if len(of_uv):
                    of_uv[i] = hits
            for p in range(begin, end):
                mark[columns[p] & mask] = 0
        start = stop
    return triangles


@compiled
def edges(
    offsets: Array, columns: Array, walk_offsets: Array, walked: Array, in_offsets: Array,
    in_edges: Array, start: int, last: int, place: Array, of_uv: Array, of_uw: Array, of_vw: Array,
) -> Array:  # fmt: skip
    """Count as `total` does, for each edge too; a table entry is 1 + the place of w in N+(v).

    No other task counts (u, v). Other threads may count (u, w) and (v, w): these take atomics.
    """
    mask = np.int64(len(place) - 1)
    v = np.searchsorted(in_offsets, start, side="right") - 1
    triangles = np.int64(0)
    while start < last:
        while in_offsets[v + 1] <= start:
            v += 1
        stop = min(last, in_offsets[v + 1])
        begin, end = offsets[v], offsets[v + 1]
        if begin < end:
            of_w = np.zeros(end - begin, np.uint32)
            for p in range(begin, end):
                place[columns[p] & mask] = p - begin + 1
            for i in range(start, stop):
                _, first, below = walk(walk_offsets, in_edges[i])
                hits = np.int64(0)
                for j in range(first, below):
                    w = walked[j]
                    index = np.int64(place[w & mask]) - 1
                    if index >= 0 and v > mask + 1:
                        p = find(columns, begin, end, w)
                        index = np.int64(p - begin if p >= 0 else -1)
                    if index >= 0:
                        hits += 1
                        of_w[index] += np.uint32(1)
                        atomic_add(of_uw, j, 1)
                of_uv[i] = hits
                triangles += hits
            for p in range(begin, end):
                place[columns[p] & mask] = 0
                if of_w[p - begin]:
                    atomic_add(of_vw, p, of_w[p - begin])
        start = stop
    return triangles
