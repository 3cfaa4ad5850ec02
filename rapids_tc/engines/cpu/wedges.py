"""Squares in Numba, by wedges: see `rapids_tc.engines.wedges`.

A task is a range of vertices u. The counters c(w) of a thread are a table by rank, which stays in
the cache of its core for the most part: most wedges end at low ranks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc._parallel import parallel_for, thread_count, threads_for
from rapids_tc.engines.cpu.compiled import compiled, inlined
from rapids_tc.engines.cpu.parallel import atomic_add
from rapids_tc.engines.wedges import WedgeRows, check_edges
from rapids_tc.plan import costs as model
from rapids_tc.preparation.csr import Csr

if TYPE_CHECKING:
    from rapids_tc.engines.protocol import ProgressCallback
    from rapids_tc.preparation.csr import Array

TASKS_PER_THREAD = 64  # vertices differ much in their wedges
SCANNED = 16  # counters that are cleared in order in the time of one that is looked up
HOT = 1 << 14  # ranks whose sums each thread adds up for itself: all threads add to them


@dataclass(frozen=True)
class CpuWedges(WedgeRows):
    """What squares are counted from.

    Attributes
    ----------
    work : array of int64, shape (n,)
        How many wedges are walked from each vertex.
    """

    work: Array


def prepare_wedges(csr: Csr) -> CpuWedges:
    """Make the rows of all neighbors, and the places of wedges: 12 bytes per edge."""
    check_edges(csr)
    offsets = np.zeros(csr.n + 1, np.int64)
    np.cumsum(np.diff(csr.offsets) + np.bincount(csr.columns, minlength=csr.n), out=offsets[1:])
    columns, places = np.empty(2 * csr.m, np.uint32), np.empty(csr.m, np.uint32)
    work = np.zeros(csr.n, np.int64)
    _lay_out(csr.offsets, csr.columns, offsets, columns, places, work)
    return CpuWedges(csr, Csr(offsets, columns), places, work)


def squares(
    wedges: CpuWedges,
    *,
    per: str = "graph",
    share: tuple[int, int] = (0, 1),
    on_progress: ProgressCallback | None = None,
) -> tuple[int, Array | None]:
    """Count squares; see `rapids_tc.engines.protocol.Engine`."""
    csr, rows, work = wedges.csr, wedges.rows, wedges.work
    arrays = csr.offsets, rows.offsets, rows.columns, wedges.places
    ends = np.cumsum(work, dtype=np.float64)
    threads = wedge_threads(csr, int(ends[-1]) if csr.n else 0)
    targets = np.linspace(0, ends[-1] if csr.n else 0, threads * TASKS_PER_THREAD + 1)[1:-1]
    cuts = np.unique(np.concatenate([[0], np.searchsorted(ends, targets), [csr.n]]))
    counts = np.zeros((threads, csr.n), np.uint32)
    sums = np.zeros(csr.n if per == "vertex" else 0, np.int64)
    own = np.zeros((threads, min(HOT, len(sums))), np.int64)
    entries = np.zeros(2 * csr.m if per == "edge" else 0, np.int64)

    def task(number: int, thread: int) -> Any:
        part = cuts[number], cuts[number + 1], *share
        if per == "graph":
            return _count(*part, *arrays, work, counts[thread])
        return _count_each(*part, *arrays, work, counts[thread], own[thread], sums, entries)

    total = parallel_for(task, len(cuts) - 1, threads, on_progress)
    if per == "graph":
        return total, None
    if per == "vertex":
        sums[: own.shape[1]] += own.sum(axis=0)
        return total, sums
    of_edges = np.empty(csr.m, np.int64)
    _add_entries(*arrays, entries, of_edges)
    return total, of_edges


def counters_bytes(rows: int, vertices: int) -> int:
    """Return the most bytes of the counters of all threads, for a graph of so many rows."""
    counters = model.WEDGE_COUNTER * vertices
    most = max(model.WEDGE_COUNTERS * rows, model.MOST_WEDGE_COUNTERS, counters)
    return min(thread_count() * counters, most) + thread_count() * min(HOT, vertices) * 8


def wedge_threads(csr: Csr, steps: int, tables: int = 1) -> int:
    """Return how many threads count: fewer in a graph of few edges per vertex, to save memory.

    Each has so many tables of counters.
    """
    most = max(model.WEDGE_COUNTERS * csr.m, model.MOST_WEDGE_COUNTERS)
    return threads_for(steps, max(1, most // max(tables * model.WEDGE_COUNTER * csr.n, 1)))


@compiled
def _lay_out(
    offsets: Array, columns: Array, all_offsets: Array, all_columns: Array, places: Array,
    work: Array,
) -> None:  # fmt: skip
    """Write each edge to the rows of both ends, and its place; count the wedges of lower ends."""
    n = len(offsets) - 1
    free = np.empty(n, np.int64)
    for u in range(n):
        free[u] = all_offsets[u] + offsets[u + 1] - offsets[u]
    for v in range(n):
        shift = all_offsets[v] - offsets[v]
        for p in range(offsets[v], offsets[v + 1]):
            u = columns[p]
            all_columns[p + shift] = u
            all_columns[free[u]] = v
            places[free[u] - offsets[u + 1]] = p + shift + 1
            work[u] += all_offsets[v + 1] - p - shift - 1
            free[u] += 1


@inlined
def _lists(u: int, offsets: Array, all_offsets: Array) -> tuple[Any, Any, Any]:
    """Return where the higher neighbors of u begin and end, and how far their places are off."""
    shift = offsets[u + 1]
    return shift + all_offsets[u] - offsets[u], all_offsets[u + 1], shift


@inlined
def _clear(
    u: int, begin: int, end: int, shift: int, all_offsets: Array, columns: Array, places: Array,
    work: Array, counts: Array,
) -> None:  # fmt: skip
    """Set the counters of the ends of all wedges from u to 0: in order, if most are not 0."""
    if work[u] * SCANNED > len(counts) - u:
        counts[u:] = 0
    else:
        for p in range(begin, end):
            for q in range(places[p - shift], all_offsets[columns[p] + 1]):
                counts[columns[q]] = 0


@compiled
def _count(
    first: int, last: int, part: int, parts: int, offsets: Array, all_offsets: Array,
    columns: Array, places: Array, work: Array, counts: Array,
) -> Any:  # fmt: skip
    """Count the squares whose lowest rank is in a range, and is `part` modulo `parts`.

    A wedge closes as many squares as there were wedges to its end before. `counts` are all 0.
    """
    total = np.int64(0)
    for u in range(first, last):
        if u % parts != part or work[u] < 2:
            continue
        begin, end, shift = _lists(u, offsets, all_offsets)
        for p in range(begin, end):
            for q in range(places[p - shift], all_offsets[columns[p] + 1]):
                w = columns[q]
                before = counts[w]
                total += np.int64(before)
                counts[w] = before + np.uint32(1)
        _clear(u, begin, end, shift, all_offsets, columns, places, work, counts)
    return total


@compiled
def _count_each(
    first: int, last: int, part: int, parts: int, offsets: Array, all_offsets: Array,
    columns: Array, places: Array, work: Array, counts: Array, own: Array, sums: Array,
    entries: Array,
) -> Any:  # fmt: skip
    """Count squares as `_count` does, and add them at each vertex, or at each entry of an edge.

    `sums` or `entries` are empty. `own` takes the sums of the first ranks. Nothing here is left to
    an inlined function that takes arrays: Numba would count references to them for each wedge.
    """
    total, by_vertex, by_edge = np.int64(0), len(sums) > 0, len(entries) > 0
    hot = len(own)
    for u in range(first, last):
        if u % parts != part or work[u] < 2:
            continue
        begin, end, shift = _lists(u, offsets, all_offsets)
        for p in range(begin, end):
            for q in range(places[p - shift], all_offsets[columns[p] + 1]):
                counts[columns[q]] += np.uint32(1)
        twice = np.int64(0)  # the squares of u, each by both of its wedges
        for p in range(begin, end):
            of_v = np.int64(0)
            for q in range(places[p - shift], all_offsets[columns[p] + 1]):
                others = np.int64(counts[columns[q]]) - 1
                of_v += others
                if by_edge and others:
                    atomic_add(entries, q, others)
            if of_v:
                twice += of_v
                v = np.int64(columns[p])
                if by_edge:
                    atomic_add(entries, p, of_v)
                elif v < hot:
                    own[v] += of_v
                else:
                    atomic_add(sums, v, of_v)
        total += twice // 2
        if by_vertex and twice:
            if u < hot:
                own[u] += twice // 2
            else:
                atomic_add(sums, u, twice // 2)
            if work[u] * SCANNED > len(counts) - u:
                for rank in range(u, len(counts)):
                    c = np.int64(counts[rank])
                    if c > 1 and rank < hot:
                        own[rank] += c * (c - 1) // 2
                    elif c > 1:
                        atomic_add(sums, rank, c * (c - 1) // 2)
            else:
                for p in range(begin, end):
                    for q in range(places[p - shift], all_offsets[columns[p] + 1]):
                        w = columns[q]
                        c = np.int64(counts[w])
                        if c > 1 and w < hot:
                            own[w] += c * (c - 1) // 2
                        elif c > 1:
                            atomic_add(sums, w, c * (c - 1) // 2)
                        counts[w] = 0
                continue
        _clear(u, begin, end, shift, all_offsets, columns, places, work, counts)
    return total


@compiled
def _add_entries(
    offsets: Array, all_offsets: Array, columns: Array, places: Array, entries: Array,
    of_edges: Array,
) -> None:  # fmt: skip
    """Add the two entries of every edge, in the order of the columns of the graph."""
    for u in range(len(offsets) - 1):
        begin, end, shift = _lists(u, offsets, all_offsets)
        for p in range(begin, end):
            v, other = columns[p], np.int64(places[p - shift]) - 1
            of_edges[other - all_offsets[v] + offsets[v]] = entries[p] + entries[other]
