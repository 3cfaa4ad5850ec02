"""The walks of the W1 count in Numba, on the layout of `rapids_tc.engines.cpu.engine`.

A task is a range of in-edges, `start` to `last` - 1. N+(v) is marked once for all in-edges of v.
Inner loops read arrays at unsigned places: of others Numba asks whether they are negative, and
counted from the end, which takes longer than to read the entry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.engines.cpu.compiled import compiled, inlined
from rapids_tc.engines.cpu.parallel import find
from rapids_tc.engines.cpu.visitors import (
    close_edge,
    close_middle,
    open_edge,
    open_middle,
    triangle,
    zero,
)

if TYPE_CHECKING:
    from rapids_tc.preparation.csr import Array


@inlined
def walk(offsets: Array, in_edge: Array) -> tuple[Array, Array, Array]:
    """Return u of an in-edge, and where the entries of its row below v begin and end."""
    u = in_edge >> np.uint64(32)
    begin = offsets[u]
    return u, begin, begin + np.int64(in_edge & np.uint64(0xFFFFFFFF))


@inlined
def pivot_of(in_offsets: Array, place: Any) -> Any:
    """Return the pivot vertex of an in-edge: a search that compiles faster than NumPy's."""
    v, above = np.int64(0), np.int64(len(in_offsets) - 1)
    while above - v > 1:
        middle = (v + above) >> 1
        if in_offsets[middle] <= place:
            v = middle
        else:
            above = middle
    return v


@compiled
def total(
    offsets: Array, columns: Array, walk_offsets: Array, walked: Array, in_offsets: Array,
    in_edges: Array, start: int, last: int, mark: Array, of_uv: Array,
) -> Array:  # fmt: skip
    """Count the triangles; write the count of every in-edge too, unless `of_uv` is empty."""
    mask = np.int64(len(mark) - 1)
    v = pivot_of(in_offsets, start)
    triangles = np.int64(0)
    while start < last:
        while in_offsets[v + 1] <= start:
            v += 1
        stop = min(last, in_offsets[v + 1])
        begin, end = offsets[v], offsets[v + 1]
        if begin < end:
            for p in range(begin, end):
                mark[columns[np.uint64(p)] & mask] = 1
            exact = v <= mask + 1  # every w < v has a slot of its own
            for i in range(start, stop):
                _, first, below = walk(walk_offsets, in_edges[i])
                hits = np.int64(0)
                if exact:
                    for j in range(first, below):
                        hits += np.int64(mark[walked[np.uint64(j)]])
                else:
                    for j in range(first, below):
                        w = walked[np.uint64(j)]
                        if mark[w & mask] and find(columns, begin, end, w) >= 0:
                            hits += 1
                triangles += hits
                if len(of_uv):
                    of_uv[i] = hits
            for p in range(begin, end):
                mark[columns[np.uint64(p)] & mask] = 0
        start = stop
    return triangles


@compiled
def visit(
    offsets: Array, columns: Array, walk_offsets: Array, walked: Array, in_offsets: Array,
    in_edges: Array, start: int, last: int, place: Array, uv_at: Array, visitor: Any,
) -> None:  # fmt: skip
    """Call the hooks of a visitor for every triangle; a table entry is 1 + the place of w in N+(v).

    In-edge i is the edge uv_at[i] of uv; if `uv_at` is empty, uv is the graph that is walked.
    """
    mask = np.int64(len(place) - 1)
    v = pivot_of(in_offsets, start)
    while start < last:
        while in_offsets[v + 1] <= start:
            v += 1
        stop = min(last, in_offsets[v + 1])
        begin, end = offsets[v], offsets[v + 1]
        if begin < end:
            scratch, of_v = open_middle(visitor, end - begin), zero(visitor)
            for p in range(begin, end):
                place[columns[np.uint64(p)] & mask] = p - begin + 1
            for i in range(start, stop):
                u, first, below = walk(walk_offsets, in_edges[i])
                uv = np.int64(uv_at[i]) if len(uv_at) else below  # where v is in N+(u)
                edge, of_uv = open_edge(visitor, uv), zero(visitor)
                for j in range(first, below):
                    w = walked[np.uint64(j)]
                    index = np.int64(place[w & mask]) - 1
                    if index >= 0 and v > mask + 1:
                        p = find(columns, begin, end, w)
                        index = np.int64(p - begin if p >= 0 else -1)
                    if index >= 0:
                        of_uv += triangle(visitor, edge, scratch, j, begin + index, index)
                close_edge(visitor, uv, u, of_uv)
                of_v += of_uv
            close_middle(visitor, scratch, v, begin, columns[begin:end], of_v)
            for p in range(begin, end):
                place[columns[np.uint64(p)] & mask] = 0
        start = stop
