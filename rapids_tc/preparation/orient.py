"""Numbered edges → degree order → oriented keys: dataframe operations.

Degrees count the raw rows, with repeats and loops: every order of the vertices gives the right
answer, so the order comes first, and repeats are dropped after the only sort. Also with raw degrees
a row of the oriented graph has at most sqrt(2 * rows) entries.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc._parallel import parallel_for, threads_for
from rapids_tc.frames.backend import gather
from rapids_tc.kernels import raw_rows
from rapids_tc.preparation.csr import pack_keys

if TYPE_CHECKING:
    from collections.abc import Callable

    from rapids_tc._typing import Array
    from rapids_tc.frames.backend import Backend

Ends = Any  # the numbers of both ends of every row: a tuple of arrays, or an array, (2, rows)

BATCH_ROWS = 1 << 18  # most rows of a batch of one thread
LARGE_ROWS, BATCHES = 1 << 14, 6  # least rows of a batch of all threads, and the most batches


@dataclass(frozen=True)
class Order:
    """Ranks of the vertices, 0 for the highest degree.

    Attributes
    ----------
    rank : array of uint32, one per number
        The rank of every number; n or more for a number that occurs in no row: it is no vertex.
    number : array of int64, or of int32 on a GPU, shape (n,)
        The number of every rank.
    """

    rank: Array
    number: Array

    @classmethod
    def of_ranks(cls, rank: Array, n: int, xp: Any) -> Order:
        """Return the order with these ranks."""
        present = xp.flatnonzero(rank < n)
        number = xp.empty(n, "int64")
        number[rank[present]] = present
        return cls(rank, number)

    @property
    def n(self) -> int:
        """The number of vertices."""
        return len(self.number)

    @property
    def present(self) -> Array:
        """Whether each number is a vertex: bool, one per number."""
        return self.rank < self.n


def degree_order(degree: Array, n: int, backend: Backend) -> Order:
    """Rank the numbers by descending degree; all but `n` have degree 0, and are no vertices.

    On a GPU the ranks take the memory of the degrees.
    """
    if backend.engine != "cpu":
        by_degree = backend.operations.descending(degree)
        raw_rows.write_ranks(backend.compile, by_degree, degree)
        return Order(degree, by_degree[:n])
    # pandas' sort of a Series takes 50 times a small sort
    from_last = backend.library.Index(degree[::-1]).argsort(kind="stable")
    number = len(degree) - 1 - from_last[::-1]  # equal degrees by number, as in blocks
    rank = backend.xp.empty(len(degree), "uint32")
    rank[number] = backend.xp.arange(len(number), dtype="uint32")
    return Order(rank, number[:n])


def ranks_of_ends(ends: tuple[Array, Array], rank: Array, backend: Backend) -> tuple[Array, Array]:
    """Return the larger and the smaller rank (uint32) of every raw row, from its ends' numbers."""
    if len(ends[0]) > BATCH_ROWS:
        larger, smaller = (np.empty(len(ends[0]), "uint32") for _ in range(2))

        def write(batch: slice) -> None:
            own = (ends[0][batch], ends[1][batch])
            larger[batch], smaller[batch] = ranks_of_ends(own, rank, backend)

        _for_batches(write, len(ends[0]))
        return larger, smaller
    source, destination = (gather(rank, end) for end in ends)
    # No Series: it would be aligned, and making one takes longer than a small comparison.
    values = backend.library.arrays.NumpyExtensionArray(source)
    larger, smaller = np.maximum(values, destination), np.minimum(values, destination)
    return larger.to_numpy(), smaller.to_numpy()


def _trusted(ends: Ends, rank: Array, backend: Backend) -> Array:
    """Return the ends as numbers that have a rank, in memory that no other thread writes.

    An array of both ends was written by `Engine.degrees`; a tuple may be the user's memory.
    """
    if not isinstance(ends, tuple):
        return ends
    numbers, outside = own_ends(ends, backend), backend.xp.zeros(1, "uint32")
    raw_rows.read_ends(backend.compile, backend.xp, ends, len(rank), numbers, outside)
    return numbers


def own_ends(ends: tuple[Array, Array], backend: Backend) -> Any:
    """Return memory for a copy of the numbers on a GPU, which `Engine.degrees` writes; or None."""
    return None if backend.engine == "cpu" else backend.xp.empty((2, len(ends[0])), "uint32")


def orient(ends: Ends, rank: Array, backend: Backend) -> Array:
    """Direct every raw row from its larger to its smaller rank, from the numbers of its ends.

    An array of both ends is used as memory for the keys: its content is undefined afterwards.

    Returns
    -------
    array of uint64
        Larger rank << 32 | smaller rank, in the order of the rows, with repeats and loops.
    """
    if backend.engine != "cpu":
        numbers = _trusted(ends, rank, backend)
        compared = backend.operations.compared(rank, numbers)
        keys = numbers.reshape(-1).view("uint64")  # they take the memory of the ends
        return raw_rows.pack(backend.compile, backend.xp, *compared, keys)
    keys = np.empty(len(ends[0]), "uint64")

    def write(batch: slice) -> None:
        own = (ends[0][batch], ends[1][batch])
        pack_keys(*ranks_of_ends(own, rank, backend), np, keys[batch])

    _for_batches(write, len(ends[0]))
    return keys


def ranks_in_order(ends: tuple[Array, Array], rank: Array, backend: Backend) -> list[Array]:
    """Return the rank (uint32) of both ends of every row, each end apart, from their numbers."""
    if backend.engine != "cpu":
        return [gather(rank, end) for end in ends]
    ranks = [np.empty(len(end), "uint32") for end in ends]

    def write(batch: slice) -> None:
        for end, own in zip(ends, ranks, strict=True):
            own[batch] = gather(rank, end[batch])

    _for_batches(write, len(ends[0]))
    return ranks


def keys_of_ranks(ranks: tuple[Array, Array], backend: Backend) -> Array:
    """Direct every row as `orient` does, from the ranks of its ends."""
    xp = backend.xp
    if backend.engine != "cpu":
        return raw_rows.pack(backend.compile, xp, *ranks, ranks[0] < ranks[1])
    keys = np.empty(len(ranks[0]), "uint64")

    def write(batch: slice) -> None:
        a, b = (end[batch] for end in ranks)
        pack_keys(np.maximum(a, b), np.minimum(a, b), np, keys[batch])

    _for_batches(write, len(ranks[0]))
    return keys


def in_batches(
    function: Callable[..., Array], ends: tuple[Array, Array], dtype: str, backend: Backend
) -> Array:
    """Compute a value for every row from its two ends, in batches to keep temporary arrays small.

    On a GPU all rows are one batch: many launches would cost more than they save.
    """
    if backend.engine != "cpu":
        return function(*ends)
    rows = len(ends[0])
    values, step = backend.xp.empty(rows, dtype), max(LARGE_ROWS, rows // BATCHES)
    for first in range(0, rows, step):
        batch = slice(first, first + step)
        values[batch] = function(*(end[batch] for end in ends))
    return values


def _for_batches(function: Callable[[slice], None], rows: int) -> None:
    """Call a function for ranges of the rows, on all cores, which keeps temporary arrays small."""
    if rows <= BATCH_ROWS // 8:
        function(slice(0, rows))
        return
    threads = threads_for(rows)
    step = min(BATCH_ROWS, max(rows // (4 * threads), BATCH_ROWS // 8))

    def task(number: int, thread: int) -> None:
        function(slice(number * step, (number + 1) * step))

    parallel_for(task, -(-rows // step), threads)
