"""The bitruss decomposition in Numba: `rapids_tc.engines.blooms` says what is done, this file how.

`bitruss_rounds` peels. Here, blooms are made: a task is a range of vertices u, whose wedges a
thread counts by their ends, in a table by rank.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc._parallel import parallel_for, run_together, threads_for
from rapids_tc.engines.blooms import NO_BLOOM, Blooms, WedgeLists, require_index
from rapids_tc.engines.cpu import bitruss_rounds as rounds
from rapids_tc.engines.cpu.compiled import compiled
from rapids_tc.engines.cpu.parallel import LINE
from rapids_tc.engines.cpu.wedges import wedge_threads

if TYPE_CHECKING:
    from rapids_tc.engines.protocol import ProgressCallback
    from rapids_tc.engines.wedges import WedgeRows
    from rapids_tc.preparation.csr import Array

TASKS_PER_THREAD = 64  # vertices differ much in their wedges
LARGE = 1 << 13  # steps above which threads share a part of a round
PAUSE = 1 << 28  # steps after which threads return, so that Ctrl-C comes through


def decompose(
    wedges: WedgeRows,
    squares: Array,
    memory: int,
    *,
    on_progress: ProgressCallback | None = None,
    large: int = LARGE,
    pause: int = PAUSE,
) -> Array:
    """Find the bitruss number of every edge; see `rapids_tc.engines.protocol.Engine`."""
    if wedges.csr.m == 0:
        return np.zeros(0, np.int32)
    lists, starts = list_wedges(wedges)
    require_index(int(starts[-1]), memory)
    blooms = make_blooms(lists, starts)
    del starts
    words = np.empty(wedges.csr.m, np.int64)
    words[lists.numbers] = squares
    _peel(blooms, words, large, pause, on_progress)
    return (words[lists.numbers] & rounds.LOW).astype(np.int32)


def list_wedges(wedges: WedgeRows) -> tuple[WedgeLists, Array]:
    """Give edges and wedges their numbers; return where each list of wedges starts, too."""
    csr, rows = wedges.csr, wedges.rows
    lower, numbers = np.empty(csr.m, np.uint32), np.empty(csr.m, np.uint32)
    starts = np.zeros(csr.m + 1, np.int64)
    _number(csr.offsets, rows.offsets, rows.columns, wedges.places, lower, numbers, starts)
    np.cumsum(starts, out=starts)
    return WedgeLists(wedges, lower, numbers, starts[:-1] - wedges.places), starts


def make_blooms(lists: WedgeLists, starts: Array) -> Blooms:
    """Find the blooms of all wedges."""
    wedges, csr = lists.wedges, lists.wedges.csr
    n, size = csr.n, int(starts[-1])
    arrays = (csr.offsets, wedges.rows.offsets, wedges.rows.columns, wedges.places)
    # The lists of u are the edges whose lower rank it is: they follow one another.
    first_lists = wedges.rows.offsets - csr.offsets
    ends = starts[first_lists]
    threads = wedge_threads(csr, size, tables=2)
    targets = np.linspace(0, size, threads * TASKS_PER_THREAD + 1)[1:-1]
    cuts = np.unique(np.concatenate([[0], np.searchsorted(ends, targets), [n]]))
    counts = np.zeros((threads, n), np.uint32)
    numbers_at = np.empty((threads, n), np.uint32)
    blooms_of, wedges_of = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)

    def count(number: int, thread: int) -> None:
        part = cuts[number], cuts[number + 1]
        _count_blooms(*part, *arrays, counts[thread], blooms_of[1:], wedges_of[1:])

    parallel_for(count, len(cuts) - 1, threads)
    np.cumsum(blooms_of, out=blooms_of)
    np.cumsum(wedges_of, out=wedges_of)
    bloom_of = np.empty(size, np.uint32)
    begins = np.empty(blooms_of[-1] + 1, np.int64)
    begins[-1] = wedges_of[-1]
    pairs = np.empty((wedges_of[-1], 2), np.uint32)

    def fill(number: int, thread: int) -> None:
        part = cuts[number], cuts[number + 1]
        own = counts[thread], numbers_at[thread]
        _fill_blooms(
            *part, *arrays, lists.numbers, *own, blooms_of, wedges_of, lists.bases, bloom_of,
            begins, pairs,
        )  # fmt: skip

    parallel_for(fill, len(cuts) - 1, threads)
    return Blooms(lists, bloom_of, begins, pairs)


def _lists(lists: WedgeLists) -> Any:
    """Return what compiled code reads of the lists of wedges."""
    wedges, csr = lists.wedges, lists.wedges.csr
    return rounds.Lists(
        csr.offsets, wedges.rows.offsets, wedges.rows.columns, wedges.places, lists.lower,
        lists.numbers, lists.bases,
    )  # fmt: skip


def _peel(
    blooms: Blooms, words: Array, large: int, pause: int, on_progress: ProgressCallback | None
) -> None:
    """Peel all levels: the words become bitruss numbers."""
    m, sizes = len(words), np.diff(blooms.begins).astype(np.uint32)
    threads = threads_for(len(blooms.bloom_of))
    state = np.zeros(rounds.STATE, np.int64)
    state[rounds.FAR] = m
    index = rounds.Index(
        blooms.bloom_of, blooms.begins, blooms.pairs, sizes, np.zeros(len(sizes), np.uint32),
        np.empty(len(sizes), np.uint32),
    )  # fmt: skip
    edges = rounds.EdgeQueues(
        words, np.empty(m, np.uint32), np.empty(m, np.uint32), np.arange(m, dtype=np.uint32)
    )
    lists, limits = _lists(blooms.lists), rounds.StepLimits(large, pause)

    def task(thread: int) -> int:
        return int(rounds.peel(lists, index, edges, state, thread, threads, limits))

    def report() -> None:
        if on_progress is not None:
            dead, level, done = state[[rounds.END, rounds.LEVEL, rounds.ROUNDS]].tolist()
            on_progress(dead / m, f"k = {level}, {m - dead:,} edges, round {done:,}")

    def stop() -> None:
        state[rounds.BARRIER + 2 * LINE] = 1

    stopped = rounds.PAUSED
    while stopped == rounds.PAUSED:
        state[rounds.WALKED] = 0
        stopped = task(0) if threads == 1 else run_together(task, threads, stop, report)
        report()


@compiled
def _number(
    offsets: Array, all_offsets: Array, columns: Array, places: Array, lower: Array,
    numbers: Array, starts: Array,
) -> None:  # fmt: skip
    """Write the lower rank of every edge, its number by position, and its wedges in `starts`."""
    for u in range(len(offsets) - 1):
        for i in range(all_offsets[u] - offsets[u], all_offsets[u + 1] - offsets[u + 1]):
            v, place = np.int64(columns[i + offsets[u + 1]]), np.int64(places[i])
            lower[i] = u
            numbers[place - 1 - all_offsets[v] + offsets[v]] = i
            starts[i + 1] = all_offsets[v + 1] - place


@compiled
def _count_ends(
    u: int, offsets: Array, all_offsets: Array, columns: Array, places: Array, counts: Array
) -> None:
    """Count the wedges from u by their ends."""
    shift = offsets[u + 1]
    for i in range(all_offsets[u] - offsets[u], all_offsets[u + 1] - shift):
        for q in range(np.int64(places[i]), all_offsets[columns[i + shift] + 1]):
            counts[columns[q]] += np.uint32(1)


@compiled
def _count_blooms(
    first: int, last: int, offsets: Array, all_offsets: Array, columns: Array, places: Array,
    counts: Array, blooms_of: Array, wedges_of: Array,
) -> None:  # fmt: skip
    """Count the blooms of each vertex of a range, and their wedges. `counts` are all 0."""
    for u in range(first, last):
        _count_ends(u, offsets, all_offsets, columns, places, counts)
        shift, blooms, wedges = offsets[u + 1], 0, np.int64(0)
        for i in range(all_offsets[u] - offsets[u], all_offsets[u + 1] - shift):
            for q in range(np.int64(places[i]), all_offsets[columns[i + shift] + 1]):
                count = counts[columns[q]]
                counts[columns[q]] = 0
                if count > 1:
                    blooms, wedges = blooms + 1, wedges + np.int64(count)
        blooms_of[u], wedges_of[u] = blooms, wedges


@compiled
def _fill_blooms(
    first: int, last: int, offsets: Array, all_offsets: Array, columns: Array, places: Array,
    numbers: Array, counts: Array, numbers_at: Array, blooms_of: Array, wedges_of: Array,
    bases: Array, bloom_of: Array, begins: Array, pairs: Array,
) -> None:  # fmt: skip
    """Write the blooms of each vertex of a range, in the order in which their ends are found.

    `counts` are all 0. Of an end whose bloom has a number, `numbers_at` has the number among those
    of the vertex, and `counts` how many of its wedges are still to be written.
    """
    for u in range(first, last):
        _count_ends(u, offsets, all_offsets, columns, places, counts)
        shift, bloom, place = offsets[u + 1], blooms_of[u], wedges_of[u]
        for i in range(all_offsets[u] - offsets[u], all_offsets[u + 1] - shift):
            v = np.int64(columns[i + shift])
            for q in range(np.int64(places[i]), all_offsets[v + 1]):
                numbers_at[columns[q]] = NO_BLOOM
        for i in range(all_offsets[u] - offsets[u], all_offsets[u + 1] - shift):
            v = np.int64(columns[i + shift])
            base = bases[i]
            for q in range(np.int64(places[i]), all_offsets[v + 1]):
                w = columns[q]
                if numbers_at[w] == NO_BLOOM:
                    if counts[w] == 1:
                        bloom_of[base + q] = NO_BLOOM
                        counts[w] = 0
                        continue
                    numbers_at[w], begins[bloom] = bloom - blooms_of[u], place
                    place += np.int64(counts[w])
                    bloom += 1
                b = blooms_of[u] + np.int64(numbers_at[w])
                counts[w] -= np.uint32(1)
                at = begins[b] + np.int64(counts[w])
                bloom_of[base + q] = b
                pairs[at, 0] = i
                pairs[at, 1] = rounds.number_at(v, q, offsets, all_offsets, numbers)
