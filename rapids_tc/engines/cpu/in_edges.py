"""In-edges grouped by pivot vertex, on all cores.

Each task groups the in-edges of a range of pivot vertices. These are neighbors in every row, which
is ascending, so that a task finds its part of a row by a search, and shares no counter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc._parallel import SERIAL_BELOW, parallel_for
from rapids_tc.engines.cpu import raw_rows
from rapids_tc.engines.cpu.compiled import compiled, inlined

if TYPE_CHECKING:
    from rapids_tc.engines.protocol import PivotRange
    from rapids_tc.preparation.csr import Array, Csr

SAMPLE = 1 << 12  # columns by which ranges of about as many in-edges are found


def bare(csr: Csr, method: str, *, sides: bool = False) -> None:
    """Return None: every count of the CPU engine reads the in-edges."""


def group(
    uv: Csr, uw: Csr, to_row: int, shift: int, n: int, pivot_range: PivotRange, threads: int
) -> tuple[Array, Array, Array]:
    """Group the edges of uv by the row of v: see `rapids_tc.engines.cpu.layout.CpuLayout`.

    Row r of uv is row r + `to_row` of uw; v, a column in the pivot range, has row v + `shift` of
    `n`.
    """
    bounds = _cut(uv.columns, pivot_range, threads)
    places, probe_counts = np.zeros(n + 2, np.int64), np.zeros(n, np.int64)
    rows = (uv.offsets, uv.columns, uw.offsets, uw.columns, to_row, shift)

    def run(counts_or_places: Array, in_edges: Array) -> None:
        def task(number: int, thread: int) -> None:
            v = bounds[number], bounds[number + 1]
            _group(*rows, *v, counts_or_places, in_edges, probe_counts)

        parallel_for(task, len(bounds) - 1, threads)

    run(places[2:], np.zeros(0, np.uint64))
    np.cumsum(places, out=places)  # places[v + 1] is the place of v's first in-edge now
    in_edges = np.empty(places[-1], np.uint64)
    if len(in_edges):
        run(places[1:], in_edges)
    return places[:-1], in_edges, probe_counts  # v's place is past its in-edges now


def group_rows(csr: Csr, first: int, last: int, pivot_range: PivotRange) -> tuple[Array, Array]:
    """Group the in-edges of a pivot range that rows `first` to `last` - 1 make, as `group` does."""
    places, unused = np.zeros(last + 2, np.int64), np.zeros(last, np.int64)
    of_v = pivot_range[0], min(pivot_range[1], last)
    rows = (csr.offsets[first : last + 1], csr.columns, csr.offsets, csr.columns, first, 0, *of_v)
    _group(*rows, places[2:], np.zeros(0, np.uint64), unused)
    np.cumsum(places, out=places)
    in_edges = np.empty(places[-1], np.uint64)
    _group(*rows, places[1:], in_edges, unused)
    return places[:-1], in_edges


def csc(csr: Csr) -> tuple[Array, Array, Array]:
    """Return the CSC of a graph: see `rapids_tc.engines.protocol.Engine`."""
    counts, offsets = np.zeros(csr.n, np.uint32), np.zeros(csr.n + 1, np.int64)
    raw_rows.count_ends(raw_rows.read_only(csr.columns), counts)
    np.cumsum(counts, out=offsets[1:])
    positions = np.empty(csr.m, np.uint32)
    raw_rows.find_in_edges(csr.columns, offsets, 0, 0, csr.n, positions)
    return offsets, csr.rows[positions], positions


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


def cut_by_probes(probe_counts: Array, in_offsets: Array, tasks: int) -> Array:
    """Cut the in-edges into ranges of about equal work: positions, shape (tasks + 1,)."""
    if tasks == 1 and probe_counts.any():
        return np.array([0, in_offsets[-1]])
    ends = np.cumsum(probe_counts, dtype=np.float64)
    total = ends[-1] if len(ends) else 0.0
    if total == 0.0:
        return np.zeros(1, np.int64)
    targets = np.linspace(0.0, total, tasks + 1)[1:-1]
    v = np.searchsorted(ends, targets, side="right")
    fraction = (targets - (ends[v] - probe_counts[v])) / probe_counts[v]
    first, last = in_offsets[v], in_offsets[v + 1]
    inner = first + (np.clip(fraction, 0.0, 1.0) * (last - first)).astype(np.int64)
    return np.concatenate([[0], np.maximum.accumulate(inner), [in_offsets[-1]]])


@inlined
def _first_from(columns: Array, begin: Any, end: Any, v: Any) -> Any:
    """Return the position of the first of the ascending columns[begin:end] from v on."""
    while begin < end:
        middle = (begin + end) >> 1
        if columns[middle] < v:
            begin = middle + 1
        else:
            end = middle
    return begin


@compiled
def _group(
    uv_offsets: Array, uv_columns: Array, uw_offsets: Array, uw_columns: Array, to_row: int,
    shift: int, first: int, last: int, places: Array, in_edges: Array, probes: Array,
) -> None:  # fmt: skip
    """Count the in-edges of a range of columns in `places`, if `in_edges` is empty.

    Else write them to their places, and sum their probes. One function compiles faster than two.
    """
    writes = len(in_edges) > 0
    for r in range(len(uv_offsets) - 1):
        p, end = uv_offsets[r], uv_offsets[r + 1]
        if p < end and uv_columns[p] < first:
            p = _first_from(uv_columns, p, end, first)
        if p == end or uv_columns[p] >= last:
            continue
        u = np.int64(r) + to_row
        begin, stop = uw_offsets[max(u, 0)], uw_offsets[u + 1]  # u may be -1, whose row is empty
        below = begin
        if writes and first > 0:
            below = _first_from(uw_columns, begin, stop, np.int64(uv_columns[p]) + shift)
        while p < end and uv_columns[p] < last:
            v = np.int64(uv_columns[p]) + shift
            place = places[v]
            if writes:
                while below < stop and uw_columns[below] < v:
                    below += 1
                in_edges[place] = u << 32 | (below - begin)
                probes[v] += below - begin
            places[v] = place + 1
            p += 1
