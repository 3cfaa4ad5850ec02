"""The most similar vertices of each vertex, on all cores.

See `rapids_tc.engines.similarity_formulas` for what is compared.
A thread takes one vertex u after another. It counts the wedges of u by their other ends in a table
with an entry for every rank, lists the ends that it meets, and keeps the best of them in a heap
whose root is the worst.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc._parallel import parallel_for, thread_count, threads_for
from rapids_tc.engines.cpu.compiled import compiled, inlined
from rapids_tc.engines.wedge_ends import MOST_DEGREE, WedgeEnds
from rapids_tc.plan import costs as model

if TYPE_CHECKING:
    from rapids_tc.engines.protocol import ProgressCallback
    from rapids_tc.engines.similarity_formulas import Ranking
    from rapids_tc.preparation.csr import Array, Csr

TASKS_PER_THREAD = 64  # vertices differ much in work


def tables_bytes(vertices: int) -> int:
    """Return the bytes of the tables of all threads, for so many vertices."""
    return thread_count() * model.WEDGE_END * vertices


def prepare_ends(
    rows: Csr, asked: Array, most_degree: int = MOST_DEGREE, values: Array | None = None
) -> WedgeEnds:
    """Count wedges: see `rapids_tc.engines.protocol.Engine`."""
    counts = np.empty(len(asked), np.int64)
    threads = threads_for(rows.m)
    cuts = np.linspace(0, len(asked), threads * TASKS_PER_THREAD + 1).astype(np.int64)

    def task(number: int, thread: int) -> None:
        part = slice(cuts[number], cuts[number + 1])
        _count_wedges(rows.offsets, rows.columns, asked[part], most_degree, counts[part])

    parallel_for(task, len(cuts) - 1, threads)
    return WedgeEnds(rows, asked, counts, most_degree, values)


def most_similar(
    ends: WedgeEnds, starts: Array, ranking: Ranking, *, on_progress: ProgressCallback | None = None
) -> tuple[Array, Array]:
    """Find the most similar vertices: see `rapids_tc.engines.protocol.Engine`."""
    rows, best = ends.rows, np.full(int(starts[-1]), model.NO_RANK, np.uint32)
    sums = np.zeros(len(best), np.int64)
    threads, cuts = _cut(ends.work)
    tables, met = _tables(threads, rows.n)
    heaps = np.empty((threads, int(np.diff(starts).max(initial=0))), np.float64)
    values = np.zeros(0, np.int64) if ends.values is None else ends.values
    options = ranking.kind, ends.most_degree, int(ranking.apart), values, ranking.places

    def task(number: int, thread: int) -> None:
        own = tables[thread], met[thread], heaps[thread]
        part = (cuts[number], cuts[number + 1], ends.asked, starts, *own)
        _rank(rows.offsets, rows.columns, *part, *options, best, sums)

    parallel_for(task, len(cuts) - 1, threads, on_progress)
    return best, sums


def count_pairs(ends: WedgeEnds, places: Array, at_least: int) -> Array:
    """Count pairs of vertices: see `rapids_tc.engines.protocol.Engine`."""
    rows, counts = ends.rows, np.zeros(len(ends.asked), np.int64)
    threads, cuts = _cut(ends.work)
    tables, met = _tables(threads, rows.n)

    def task(number: int, thread: int) -> None:
        part = (cuts[number], cuts[number + 1], ends.asked, tables[thread], met[thread])
        _count_pairs(rows.offsets, rows.columns, *part, places, at_least, counts)

    parallel_for(task, len(cuts) - 1, threads)
    return counts


def list_pairs(
    ends: WedgeEnds, places: Array, at_least: int, starts: Array, first: int, last: int
) -> tuple[Array, Array]:
    """List pairs of vertices: see `rapids_tc.engines.protocol.Engine`."""
    rows, asked, begins = ends.rows, ends.asked[first:last], starts[first:last] - starts[first]
    size = int(starts[last] - starts[first])
    ranks, common = np.empty(size, np.uint32), np.empty(size, np.int64)
    threads, cuts = _cut(ends.work[first:last])
    tables, met = _tables(threads, rows.n)

    def task(number: int, thread: int) -> None:
        part = (cuts[number], cuts[number + 1], asked, tables[thread], met[thread])
        _list_pairs(rows.offsets, rows.columns, *part, places, at_least, begins, ranks, common)

    parallel_for(task, len(cuts) - 1, threads)
    return ranks, common


def _tables(threads: int, n: int) -> tuple[Array, Array]:
    """Make for each thread a table of sums by rank, all zero, and room to list ranks."""
    return np.zeros((threads, n), np.int64), np.empty((threads, n + 1), np.uint32)


def _cut(work: Array) -> tuple[int, Array]:
    """Return how many threads are worth starting, and tasks of about equal work."""
    total = np.cumsum(work)
    most = int(total[-1]) if len(work) else 0
    threads = threads_for(most)
    tasks = threads * TASKS_PER_THREAD if threads > 1 else 1
    inner = np.searchsorted(total, np.linspace(0, most, tasks + 1)[1:-1])
    return threads, np.unique(np.concatenate([[0], inner, [len(work)]]))


@compiled
def _count_pairs(
    offsets: Array, columns: Array, begin: int, end: int, asked: Array, table: Array, met: Array,
    places: Array, at_least: int, counts: Array,
) -> None:  # fmt: skip
    """Count the pairs of some vertices; `table` is all zero before and after."""
    none = np.zeros(0, np.int64)
    for i in range(begin, end):
        u = np.int64(asked[i])
        size = _add_wedges(u, offsets, columns, len(places), none, table, met)
        kept = _keep_pairs(u, size, table, met, places, at_least)
        counts[i] = kept
        for t in range(kept):
            table[met[t]] = 0


@compiled
def _list_pairs(
    offsets: Array, columns: Array, begin: int, end: int, asked: Array, table: Array, met: Array,
    places: Array, at_least: int, begins: Array, ranks: Array, common: Array,
) -> None:  # fmt: skip
    """List the pairs of some vertices by place; `table` is all zero before and after."""
    none = np.zeros(0, np.int64)
    for i in range(begin, end):
        u, first = np.int64(asked[i]), begins[i]
        size = _add_wedges(u, offsets, columns, len(places), none, table, met)
        kept = _keep_pairs(u, size, table, met, places, at_least)
        keys = np.empty(kept, np.uint64)
        for t in range(kept):
            keys[t] = np.uint64(places[met[t]]) << np.uint64(32) | np.uint64(met[t])
        keys.sort()
        for t in range(kept):
            w = np.uint32(keys[t])
            ranks[first + t], common[first + t] = w, table[w]
            table[w] = 0


@inlined
def _keep_pairs(u: Any, size: Any, table: Array, met: Array, places: Array, at_least: Any) -> Any:
    """Keep in `met` the other ends of pairs of u, and return how many; the others are cleared."""
    kept = np.int64(0)
    for t in range(size):
        w = met[t]
        if table[w] >= at_least and places[w] > places[u]:
            met[kept] = w
            kept += 1
        else:
            table[w] = 0
    return kept


@compiled
def _count_wedges(
    offsets: Array, columns: Array, asked: Array, most_degree: int, counts: Array
) -> None:
    """Count the wedges of some vertices, by the degrees of their middles."""
    for i in range(len(asked)):
        u, total = np.int64(asked[i]), np.int64(0)
        for p in range(offsets[u], offsets[u + 1]):
            v = np.int64(columns[p])
            degree = offsets[v + 1] - offsets[v]
            if degree <= most_degree:
                total += degree - 1
        counts[i] = total


@inlined
def _add_wedges(
    u: Any, offsets: Array, columns: Array, most_degree: int, values: Array, table: Array,
    met: Array,
) -> Any:  # fmt: skip
    """Add the wedges of u up in the table, by their other ends; list these, and return how many."""
    weighted, size = len(values) > 0, np.int64(0)
    for p in range(offsets[u], offsets[u + 1]):
        v = np.int64(columns[p])
        degree = offsets[v + 1] - offsets[v]
        if degree < 2 or degree > most_degree:  # a middle of one neighbor has no other end
            continue
        value = values[v] if weighted else np.int64(1)
        for q in range(offsets[v], offsets[v + 1]):
            w = columns[q]
            met[size] = w
            size += np.int64(table[w] == 0)
            table[w] += value
    return size


@compiled
def _similarity(kind: int, common: Any, a: Any, b: Any) -> Any:
    """Return how alike two vertices of these degrees are: see `similarity_formulas.FORMULAS`."""
    c, x, y = np.float64(common), np.float64(a), np.float64(b)
    if kind == 0:
        return c
    if kind == 1:
        return c / (x + y - c)
    if kind == 2:
        return np.sqrt(c * c / (x * y))
    if kind == 3:
        return 2 * c / (x + y)
    return c / min(x, y)


@inlined
def _before(value: float, place: int, other: float, other_place: int) -> bool:
    """Return whether a candidate comes before another one."""
    return value > other or (value == other and place < other_place)


@inlined
def _sift(heap: Array, best: Array, sums: Array, first: int, size: int, places: Array) -> None:
    """Let the root of a heap sink: every entry is before the one above it, the worst is the root.

    The heap has similarities in `heap`, and its ranks and sums from `first` on in `best` and
    `sums`.
    """
    value, rank, total, at = heap[0], best[first], sums[first], 0
    while 2 * at + 1 < size:
        below = 2 * at + 1
        if below + 1 < size and _before(
            heap[below], places[best[first + below]], heap[below + 1],
            places[best[first + below + 1]],
        ):  # fmt: skip
            below += 1
        if not _before(value, places[rank], heap[below], places[best[first + below]]):
            break
        heap[at], best[first + at] = heap[below], best[first + below]
        sums[first + at] = sums[first + below]
        at = below
    heap[at], best[first + at], sums[first + at] = value, rank, total


@compiled
def _rank(
    offsets: Array, columns: Array, begin: int, end: int, asked: Array, starts: Array,
    table: Array, met: Array, heap: Array, kind: int, most_degree: int, apart: int,
    values: Array, places: Array, best: Array, sums: Array,
) -> None:  # fmt: skip
    """Find the most similar vertices of some vertices; `table` is all zero before and after."""
    for i in range(begin, end):
        u, first, room = np.int64(asked[i]), starts[i], starts[i + 1] - starts[i]
        if room == 0:
            continue
        size = _add_wedges(u, offsets, columns, most_degree, values, table, met)
        table[u] = 0
        if apart:
            for p in range(offsets[u], offsets[u + 1]):
                table[columns[p]] = 0
        degree, kept = offsets[u + 1] - offsets[u], 0
        for t in range(size):
            w = np.int64(met[t])
            common = table[w]
            table[w] = 0
            if common == 0:
                continue
            # No vertex has fewer neighbors than it has in common with u: most need no look at more.
            if kept == room and _similarity(kind, common, degree, common) < heap[0]:
                continue
            value = _similarity(kind, common, degree, offsets[w + 1] - offsets[w])
            if kept < room:
                at = kept
                kept += 1
                while at > 0:
                    above = (at - 1) >> 1
                    other = best[first + above]
                    if not _before(heap[above], places[other], value, places[w]):
                        break
                    heap[at], best[first + at], sums[first + at] = (
                        heap[above], other, sums[first + above],
                    )  # fmt: skip
                    at = above
                heap[at], best[first + at], sums[first + at] = value, w, common
            elif _before(value, places[w], heap[0], places[best[first]]):
                heap[0], best[first], sums[first] = value, w, common
                _sift(heap, best, sums, first, kept, places)
        for last in range(kept - 1, 0, -1):  # the worst goes behind all others
            value, rank, total = heap[0], best[first], sums[first]
            heap[0], best[first], sums[first] = heap[last], best[first + last], sums[first + last]
            _sift(heap, best, sums, first, last, places)
            heap[last], best[first + last], sums[first + last] = value, rank, total
