"""Cliques of three to five vertices in Numba, by the bits of local graphs.

See `rapids_tc.engines.local_graphs`. A task is a range of vertices u, whose local graphs a thread
makes one after another in memory of its own. All threads share the local graph of a longer row: a
task is some of its rows then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc._parallel import parallel_for, thread_count, threads_for
from rapids_tc.engines.cpu.compiled import compiled, inlined
from rapids_tc.engines.cpu.parallel import atomic_add, count_ones, find, lowest_one
from rapids_tc.engines.local_graphs import check_rows, divide
from rapids_tc.plan import costs as model

if TYPE_CHECKING:
    from rapids_tc.engines.protocol import ProgressCallback
    from rapids_tc.preparation.csr import Array, Csr

WORD = 64
TABLE = 1 << 22  # slots of a thread's table, at most: ranks share slots then
TASKS_PER_THREAD = 64  # vertices differ in work more than their rows differ in length


def bits_bytes(rows: int) -> int:
    """Return the most bytes of the bits of local graphs, of a frame of so many rows."""
    most, largest = model.CLIQUE_ROW**2 // 8, rows // 4  # no row is longer than sqrt(2 * rows)
    return thread_count() * min(most, largest) + largest * (largest > most)


def count(
    csr: Csr, k: int, *, per: str = "row", on_progress: ProgressCallback | None = None
) -> tuple[Array, Array | None]:
    """Count cliques; see `rapids_tc.engines.protocol.Engine`."""
    check_rows(csr)
    of_rows = np.zeros(csr.n, np.int64)
    spokes = np.zeros(0 if per == "row" else csr.m, np.int64)
    counts = np.zeros(csr.m if per == "edge" else 0, np.int64)
    lengths = np.diff(csr.offsets)
    work = np.cumsum(lengths.astype(np.float64) ** 2 * (1 + lengths / (8 * WORD)))
    threads = threads_for(int(work[-1]) if len(work) else 0)
    slots = min(TABLE, 1 << max(csr.n - 1, 1).bit_length())
    places = np.zeros((threads, slots), np.int32)
    shared = (csr.offsets, csr.columns, k, of_rows, spokes, counts)
    _count_short(work, lengths, places, shared, on_progress)
    for u in np.flatnonzero(lengths > model.CLIQUE_ROW).tolist():
        _count_long(u, int(lengths[u]), places, shared, on_progress)
    if per == "row":
        return of_rows, None
    divide(k, of_rows, spokes)
    if per == "vertex":
        corners = of_rows.copy()
        _add_by_column(csr.columns, spokes, corners)
        return of_rows, corners
    counts += spokes
    return of_rows, counts


def _count_short(
    work: Array,
    lengths: Array,
    places: Array,
    shared: tuple[Any, ...],
    on_progress: ProgressCallback | None,
) -> None:
    """Count the cliques of all vertices whose local graph a thread makes for itself."""
    threads = len(places)
    if not len(lengths):
        return
    targets = np.linspace(0, work[-1], threads * TASKS_PER_THREAD + 1)[1:-1]
    cuts = np.unique(np.concatenate([[0], np.searchsorted(work, targets), [len(lengths)]]))
    longest = min(int(lengths.max()), model.CLIQUE_ROW)
    bits = np.empty((threads, longest * -(-longest // WORD)), np.uint64)

    def task(number: int, thread: int) -> None:
        rows = cuts[number], cuts[number + 1], longest
        _count_rows(*rows, places[thread], bits[thread], *shared)

    parallel_for(task, len(cuts) - 1, threads, on_progress)


def _count_long(
    u: int,
    length: int,
    places: Array,
    shared: tuple[Any, ...],
    on_progress: ProgressCallback | None,
) -> None:
    """Count the cliques of a vertex on all threads, which share the bits of its local graph.

    A task has whole words of every row, so that no two write to one word.
    """
    threads, words = len(places), -(-length // WORD)
    bits, (offsets, columns, *_, spokes, _) = np.zeros(length * words, np.uint64), shared
    cuts = np.minimum(np.arange(words + 1) * WORD, length)

    def set_bits(number: int, thread: int) -> None:
        rows = cuts[number], cuts[number + 1]
        _set_bits(u, *rows, places[thread], bits, offsets, columns, spokes)

    def add(number: int, thread: int) -> None:
        rows = cuts[words - number - 1], cuts[words - number]  # the last rows have the most work
        _add_cliques(u, *rows, threads, bits, *shared)

    parallel_for(set_bits, words, threads)
    parallel_for(add, words, threads, on_progress)


@inlined
def _bit(place: Array) -> Array:
    return np.uint64(1) << np.uint64(place & 63)


@compiled
def _set_bits(
    u: int, first: int, last: int, place: Array, bits: Array, offsets: Array, columns: Array,
    spokes: Array,
) -> None:  # fmt: skip
    """Set the bits of rows `first` to `last` - 1 of the local graph of u.

    Bit j < i of row i is set if entries i and j of N+(u) are neighbors; if sides are counted, since
    there are `spokes`, bit i of row j is set, too. `place`, all 0 before and
    after, has 1 + the index of an entry of N+(u) in the slot of the entry.
    """
    begin, end = offsets[u], offsets[u + 1]
    words, mask = (end - begin + 63) >> 6, np.int64(len(place) - 1)
    exact = u <= mask + 1  # every entry has a slot of its own
    for p in range(begin, begin + last):
        place[columns[p] & mask] = p - begin + 1
    for i in range(first, last):
        v = columns[begin + i]
        for q in range(offsets[v], offsets[v + 1]):
            w = columns[q]
            j = np.int64(place[w & mask]) - 1
            if j >= 0 and not exact:
                j = np.int64(find(columns, begin, begin + i, w))
                j = j - begin if j >= 0 else j
            if j >= 0:
                bits[i * words + (j >> 6)] |= _bit(j)
                if len(spokes):
                    bits[j * words + (i >> 6)] |= _bit(i)
    for p in range(begin, begin + last):
        place[columns[p] & mask] = 0


@inlined
def _common(bits: Array, one: int, other: int, words: int) -> Array:
    """Count the bits that two rows have in common in their first words."""
    ones = np.int64(0)
    for a in range(words):
        ones += count_ones(bits[one + a] & bits[other + a])
    return ones


@inlined
def _common_edges(bits: Array, one: int, other: int, words: int, row: int, both: Array) -> Array:
    """Count the edges among the common neighbors of two rows in their first words."""
    ones = np.int64(0)
    for a in range(words):
        both[a] = bits[one + a] & bits[other + a]
        word = both[a]
        while word:
            c = np.int64(a * 64 + lowest_one(word))
            word &= word - np.uint64(1)
            for b in range(a):
                ones += count_ones(both[b] & bits[c * row + b])
            ones += count_ones(both[a] & bits[c * row + a] & (_bit(c) - np.uint64(1)))
    return ones


@compiled
def _add_cliques(
    u: int, first: int, last: int, threads: int, bits: Array, offsets: Array, columns: Array,
    k: int, of_rows: Array, spokes: Array, counts: Array,
) -> None:  # fmt: skip
    """Add the cliques of u and entries i and j < i of N+(u), for i from `first` to `last` - 1.

    They are added to of_rows[u], and if these are not empty, to the positions of (u, i) and (u, j)
    in `spokes`, and to the position of (i, j) in `counts`. So many `threads` add for this u.
    """
    begin, sides = offsets[u], len(spokes) > 0
    words = (offsets[u + 1] - begin + 63) >> 6
    scratch = np.empty(words, np.uint64)
    of_u = np.int64(0)
    for i in range(first, last):
        v = columns[begin + i]
        q, of_i = offsets[v], np.int64(0)
        for a in range((i >> 6) + 1):
            word = bits[i * words + a]
            if a == i >> 6:
                word &= _bit(i) - np.uint64(1)
            while word:
                j = np.int64(a * 64 + lowest_one(word))
                word &= word - np.uint64(1)
                wide = words if sides else a + 1
                if k == 3:
                    cliques = np.int64(1)
                elif k == 4:
                    cliques = _common(bits, i * words, j * words, wide)
                else:
                    cliques = _common_edges(bits, i * words, j * words, wide, words, scratch)
                of_i += cliques
                if sides and cliques:
                    if threads > 1:
                        atomic_add(spokes, begin + j, cliques)
                    else:
                        spokes[begin + j] += cliques
                    if len(counts):
                        while columns[q] < columns[begin + j]:
                            q += 1
                        atomic_add(counts, q, cliques)
        of_u += of_i
        if sides and of_i:
            if threads > 1:
                atomic_add(spokes, begin + i, of_i)
            else:
                spokes[begin + i] += of_i
    atomic_add(of_rows, u, of_u)


@compiled
def _count_rows(
    first: int, last: int, longest: int, place: Array, bits: Array, offsets: Array,
    columns: Array, k: int, of_rows: Array, spokes: Array, counts: Array,
) -> None:  # fmt: skip
    """Count the cliques of vertices `first` to `last` - 1 with k - 1 to `longest` neighbors."""
    for u in range(first, last):
        length = offsets[u + 1] - offsets[u]
        if k - 1 <= length <= longest:
            bits[: length * ((length + 63) >> 6)] = 0
            _set_bits(u, 0, length, place, bits, offsets, columns, spokes)
            rest = (bits, offsets, columns, k, of_rows, spokes, counts)
            _add_cliques(u, 0, length, 1, *rest)


@compiled
def _add_by_column(columns: Array, values: Array, sums: Array) -> None:
    """Add the value of each entry to the sum of its column."""
    for p in range(len(columns)):
        sums[columns[p]] += values[p]
