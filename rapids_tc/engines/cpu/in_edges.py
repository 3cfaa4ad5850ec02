"""In-edges grouped by pivot vertex, on all cores.

Each task groups the in-edges of a range of pivot vertices. These are neighbours in every row, which
is ascending, so that a task finds its part of a row by a search, and shares no counter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc._parallel import SERIAL_BELOW, parallel_for
from rapids_tc.engines.cpu.compiled import compiled, inlined

if TYPE_CHECKING:
    from rapids_tc.engines.protocol import PivotRange
    from rapids_tc.preparation.csr import Array, Csr

SAMPLE = 1 << 12  # columns by which ranges of about as many in-edges are found


def group(
    uv: Csr, uw: Csr, to_row: int, shift: int, n: int, pivot_range: PivotRange, threads: int
) -> tuple[Array, Array, Array]:
    """Group the edges of uv by the row of v: see `rapids_tc.engines.cpu.engine.Layout`.

    Row r of uv is row r + `to_row` of uw; v, a column in the pivot range, has row v + `shift` of
    `n`.
    """
    bounds = _cut(uv.columns, pivot_range, threads)
    places, probe_counts = np.zeros(n + 2, np.int64), np.zeros(n, np.int64)
    tasks = len(bounds) - 1

    def count(number: int, thread: int) -> None:
        _count(uv.offsets, uv.columns, bounds[number], bounds[number + 1], places[shift + 2 :])

    parallel_for(count, tasks, threads)
    np.cumsum(places, out=places)  # places[v + 1] is the place of v's first in-edge now
    in_edges = np.empty(places[-1], np.uint64)

    def write(number: int, thread: int) -> None:
        _write(
            uv.offsets, uv.columns, uw.offsets, uw.columns, to_row, shift,
            bounds[number], bounds[number + 1], places[1:], in_edges, probe_counts,
        )  # fmt: skip

    parallel_for(write, tasks, threads)
    return places[:-1], in_edges, probe_counts  # where those of v end now: where v + 1's begin


def _cut(columns: Array, pivot_range: PivotRange, threads: int) -> Array:
    """Cut a range of columns into one for each thread, with about as many entries each."""
    first, last = pivot_range
    # Two ranges suit one thread too, if there is much to write: caches hold more of each.
    parts = max(threads, 2) if len(columns) > SERIAL_BELOW else threads
    if parts == 1:
        return np.array([first, max(first, last)])
    sample = np.sort(columns[:: max(len(columns) // SAMPLE, 1)])
    sample = sample[slice(*np.searchsorted(sample, [first, last]))].astype(np.int64)
    inner = sample[len(sample) * np.arange(1, parts) // parts] if len(sample) else sample
    return np.unique(np.concatenate([[first], inner, [max(first, last)]]))


@inlined
def _first_from(columns: Array, begin: Any, end: Any, v: Any) -> Any:
    """Return the position of the first of the ascending columns[begin:end] from v on."""
    if begin < end and columns[begin] < v:
        while begin < end:
            middle = (begin + end) >> 1
            if columns[middle] < v:
                begin = middle + 1
            else:
                end = middle
    return begin


@compiled
def _count(offsets: Array, columns: Array, first: int, last: int, counts: Array) -> None:
    """Count the entries of each column of the range."""
    for r in range(len(offsets) - 1):
        end = offsets[r + 1]
        p = _first_from(columns, offsets[r], end, first)
        while p < end and columns[p] < last:
            counts[columns[p]] += 1
            p += 1


@compiled
def _write(
    uv_offsets: Array, uv_columns: Array, uw_offsets: Array, uw_columns: Array, to_row: int,
    shift: int, first: int, last: int, places: Array, in_edges: Array, probes: Array,
) -> None:  # fmt: skip
    """Write the in-edges of the range to their places, and sum their probes."""
    for r in range(len(uv_offsets) - 1):
        end = uv_offsets[r + 1]
        p = _first_from(uv_columns, uv_offsets[r], end, first)
        if p == end or uv_columns[p] >= last:
            continue
        u = np.int64(r) + to_row
        begin, stop = uw_offsets[max(u, 0)], uw_offsets[u + 1]
        below = _first_from(uw_columns, begin, stop, np.int64(uv_columns[p]) + shift)
        while p < end and uv_columns[p] < last:
            v = np.int64(uv_columns[p]) + shift
            while below < stop and uw_columns[below] < v:
                below += 1
            place = places[v]
            in_edges[place] = u << 32 | (below - begin)
            places[v] = place + 1
            probes[v] += below - begin
            p += 1
