"""The CPU engine: the W1 count in Numba, on all cores.

For a *middle* vertex v, mark N+(v) in a table of bytes. For every u with v in N+(u), walk the
prefix of N+(u) below v: each marked entry w closes the triangle (u, v, w). Every wedge at the
corner of lowest degree is looked at once, so the work is W1 = sum over u of C(d+(u), 2).

The in-edges of all middle vertices lie one after another, and a task is a range of them with
about the same number of probes: a hub of a million in-neighbours is many tasks. The table of a
thread has at most `TABLE` entries, whatever the graph: a vertex below that is its own slot; above
it, ranks share slots and a hit is confirmed in N+(v).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from rapids_tc.csr import Array, Csr
from rapids_tc.engines import Tick, _cpu_list, _cpu_rows, _truss, host_memory
from rapids_tc.engines._cpu_truss import CpuPeeler
from rapids_tc.engines._numba import atomic_add, cores, find, share

TABLE = 1 << 22  # slots of a thread's table: 4 MiB of marks, 16 MiB where places are kept
TASKS_A_THREAD = 64  # of uneven length after all, and drawn one by one
ALONE = 1 << 18  # probes, or look-ups, that are not worth waking a second thread

memory = host_memory


@dataclass(frozen=True)
class Layout:
    """What the CPU engine keeps of a graph between calls.

    Attributes
    ----------
    csr : Csr
    in_offsets : array of int64, shape (n + 1,)
        The in-edges of ``v`` are ``in_rows[in_offsets[v]:in_offsets[v + 1]]``.
    in_rows : array of uint32, shape (m,)
        Every u with v in N+(u), ascending.
    work : array of int64, shape (n,)
        Probes of each middle vertex.
    """

    csr: Csr
    in_offsets: Array
    in_rows: Array
    work: Array


def degrees(src: Array, dst: Array, size: int) -> tuple[Array, int]:
    """Count how often each number below `size` stands in either array, and how many do."""
    degree = np.bincount(src, minlength=size) + np.bincount(dst, minlength=size)
    return degree, int(np.count_nonzero(degree))


def csr(keys: Array, n: int) -> Csr:
    """Build the CSR of `n` ranks from packed keys (larger rank << 32 | smaller rank).

    They are sorted by counting: a stable pass over the smaller ranks and one over the larger,
    O(rows + n) each. Repeats and self loops among them are dropped.
    """
    by_smaller = _cpu_rows.sorted_by(keys, np.uint64(0), n)
    return Csr(*_cpu_rows.csr(_cpu_rows.sorted_by(by_smaller, np.uint64(32), n), n))


def prepare(csr: Csr) -> Layout:
    """Group the in-edges by middle vertex. O(m) time, 4 m + 16 n bytes."""
    return Layout(csr, *_cpu_rows.transpose(csr.offsets, csr.columns))


def count(layout: Layout, *, method: str = "auto", tick: Tick | None = None) -> int:
    """Count the triangles of the graph."""
    return _run(layout, _count, np.uint8, tick, np.zeros(0, np.uint32))


def edge_counts(layout: Layout, *, method: str = "auto", tick: Tick | None = None) -> Array:
    """Count the triangles of every oriented edge: uint32, aligned with ``csr.columns``."""
    counts = np.zeros(layout.csr.m, np.uint32)
    _run(layout, _count_edges, np.int32, tick, counts)
    return counts


def closed(layout: Layout, *, tick: Tick | None = None) -> Array:
    """Count the triangles that each in-edge closes: uint32, in the order of the layout."""
    counts = np.zeros(layout.csr.m, np.uint32)
    _run(layout, _count, np.uint8, tick, counts)
    return counts


def list_triangles(layout: Layout, starts: Array, first: int, last: int) -> Array:
    """The ranks u > v > w of triangles `first` to `last` - 1: uint32, shape (3, last - first)."""
    graph, threads = layout.csr, cores() if last - first > ALONE else 1
    ranks = np.empty((3, last - first), np.uint32)
    targets = np.linspace(first, last, threads * TASKS_A_THREAD + 1).astype(np.int64)
    bounds = np.searchsorted(starts, targets, side="right") - 1
    bounds[-1] = np.searchsorted(starts, last)
    bounds = np.unique(bounds)
    tables = np.zeros((threads, _slots(graph)), np.uint8)
    arrays = (graph.offsets, graph.columns, layout.in_offsets, layout.in_rows)

    def task(number: int, thread: int) -> None:
        here, end = bounds[number], bounds[number + 1]
        _cpu_list.write(*arrays, here, end, tables[thread], starts, first, last, ranks)

    share(task, len(bounds) - 1, threads)
    return ranks


def vertex_sums(layout: Layout, sides: Array, *, tick: Tick | None = None) -> Array:
    """For each rank the sum, over its triangles, of the products of their sides' values."""
    sums = np.zeros(layout.csr.n, np.float64)
    _run(layout, _cpu_list.sum_products, np.int32, tick, sides, sums)
    return sums


def locate(csr: Csr, u: Array, v: Array) -> Array:
    """Position in ``csr.columns`` of the edge {u, v} for each pair of ranks; -1 for a loop."""
    positions, threads = np.empty(len(u), np.int64), cores() if len(u) > ALONE else 1
    bounds = np.linspace(0, len(u), threads + 1).astype(np.int64)

    def task(number: int, thread: int) -> None:
        part = slice(bounds[number], bounds[number + 1])
        _locate(csr.offsets, csr.columns, u[part], v[part], positions[part])

    share(task, threads, threads)
    return positions


def truss(
    layout: Layout, counts: Array, *, k: int | None = None, tick: Tick | None = None
) -> Array:
    """The trussness of every oriented edge; with `k`, of those in the k-truss k, of others less."""
    return _truss.decompose(CpuPeeler(), layout.csr, counts, k, tick)


def _slots(graph: Csr) -> int:
    return min(TABLE, 1 << max(graph.n - 1, 1).bit_length())


def _run(layout: Layout, kernel, slot, tick: Tick | None, *arrays: Array) -> int:
    """Share out the in-edges, by probes; the sum of what the tasks return."""
    graph = layout.csr
    threads = cores() if layout.work.sum() > ALONE else 1
    bounds = _cut(layout, threads * TASKS_A_THREAD if threads > 1 else 1)
    tables = np.zeros((threads, _slots(graph)), slot)
    given = (graph.offsets, graph.columns, layout.in_offsets, layout.in_rows)

    def task(number: int, thread: int) -> int:
        return kernel(*given, bounds[number], bounds[number + 1], tables[thread], *arrays)

    return share(task, len(bounds) - 1, threads, tick)


def _cut(layout: Layout, tasks: int) -> Array:
    """Cut the in-edges into ranges of about equal work: positions, shape (tasks + 1,)."""
    ends = np.cumsum(layout.work, dtype=np.float64)
    total = ends[-1] if len(ends) else 0.0
    if total == 0.0:
        return np.zeros(1, np.int64)
    targets = np.linspace(0.0, total, tasks + 1)[1:-1]
    v = np.searchsorted(ends, targets, side="right")
    share = (targets - (ends[v] - layout.work[v])) / layout.work[v]
    first, last = layout.in_offsets[v], layout.in_offsets[v + 1]
    inner = first + (np.clip(share, 0.0, 1.0) * (last - first)).astype(np.int64)
    return np.concatenate([[0], np.maximum.accumulate(inner), [layout.in_offsets[-1]]])


@njit(cache=True, nogil=True)
def _count(offsets, columns, in_offsets, in_rows, here, last, mark, closed):
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
                j = offsets[in_rows[i]]
                w = np.int64(columns[j])
                hits = np.int64(0)
                if own:
                    while w < v:  # v itself is in the row, so the walk ends
                        hits += np.int64(mark[w])
                        j += 1
                        w = np.int64(columns[j])
                while w < v:
                    if mark[w & mask] and find(columns, begin, end, w) >= 0:
                        hits += 1
                    j += 1
                    w = np.int64(columns[j])
                mine += hits
                if len(closed):
                    closed[i] = hits
            for p in range(begin, end):
                mark[columns[p] & mask] = 0
        here = stop
    return mine


@njit(cache=True, nogil=True)
def _count_edges(offsets, columns, in_offsets, in_rows, here, last, place, counts):
    """As `_count`; a table entry is 1 + the place of w in N+(v).

    (u, v) is added to once a walk. (u, w) and (v, w) may be another thread's too: atomics.
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
                j = offsets[in_rows[i]]
                w = np.int64(columns[j])
                of_uv = np.int64(0)
                while w < v:
                    at = np.int64(place[w & mask]) - 1
                    if at >= 0 and v > mask + 1:
                        p = find(columns, begin, end, w)
                        at = np.int64(p - begin if p >= 0 else -1)
                    if at >= 0:
                        of_uv += 1
                        closed[at] += np.uint32(1)
                        atomic_add(counts, j, 1)
                    j += 1
                    w = np.int64(columns[j])
                if of_uv:
                    atomic_add(counts, j, of_uv)
                    mine += of_uv
            for p in range(begin, end):
                place[columns[p] & mask] = 0
                if closed[p - begin]:
                    atomic_add(counts, p, closed[p - begin])
        here = stop
    return mine


@njit(cache=True, nogil=True)
def _locate(offsets, columns, u, v, positions):
    for i in range(len(u)):
        low, high = min(u[i], v[i]), max(u[i], v[i])
        positions[i] = find(columns, offsets[high], offsets[high + 1], low)
