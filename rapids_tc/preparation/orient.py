"""Numbered edges → degree order → oriented keys: dataframe operations.

Degrees count the raw rows, with repeats and loops: every order of the vertices gives the right
answer, so the order comes first, and repeats are dropped after the only sort. Also with raw degrees
a row of the oriented graph has at most sqrt(2 * rows) entries.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc._parallel import SERIAL_BELOW, parallel_for, thread_count
from rapids_tc.frames.backend import gather
from rapids_tc.preparation.csr import pack_keys

if TYPE_CHECKING:
    from collections.abc import Callable

    from rapids_tc._typing import Array
    from rapids_tc.frames.backend import Backend

BATCH_ROWS = 1 << 18  # most rows of a batch of one thread
LARGE_ROWS, BATCHES = 1 << 14, 6  # least rows of a batch of all threads, and the most batches


@dataclass(frozen=True)
class Order:
    """Ranks of the vertices, 0 for the highest degree.

    Attributes
    ----------
    rank : array of uint32, one per number
        The rank of every number; n or more for a number that occurs in no row: it is no vertex.
    number : array of int64, shape (n,)
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
    """Rank the numbers by descending degree; all but `n` have degree 0, and are no vertices."""
    if backend.library.__name__ == "pandas":  # whose sort of a Series takes 50 times a small sort
        from_last = backend.library.Index(degree[::-1]).argsort()
        number = len(degree) - 1 - from_last[::-1]  # equal degrees in the order of sort_values
    else:
        by_degree = backend.library.Series(degree).sort_values(ascending=False)
        number = backend.array(by_degree.index)
    rank = backend.xp.empty(len(degree), "uint32")
    rank[number] = backend.xp.arange(len(number), dtype="uint32")
    return Order(rank, number[:n])


def ranks_of_ends(ends: tuple[Array, Array], rank: Array, backend: Backend) -> tuple[Array, Array]:
    """Return the larger and the smaller rank (uint32) of every raw row, from its ends' numbers."""
    if backend.engine == "cpu" and len(ends[0]) > BATCH_ROWS:
        larger, smaller = (np.empty(len(ends[0]), "uint32") for _ in range(2))

        def write(batch: slice) -> None:
            own = (ends[0][batch], ends[1][batch])
            larger[batch], smaller[batch] = ranks_of_ends(own, rank, backend)

        _for_batches(write, len(ends[0]))
        return larger, smaller
    # From an array: a Series would gather its index as well.
    library, (source, destination) = backend.library, (gather(rank, end) for end in ends)
    if library.__name__ == "pandas":  # whose Series would be aligned, and `where` copies first
        values = library.Series(source, copy=False).array
        pair = np.maximum(values, destination), np.minimum(values, destination)
        return pair[0].to_numpy(), pair[1].to_numpy()
    src, dst = library.Series(source), library.Series(destination)
    return backend.array(src.where(src > dst, dst)), backend.array(src.where(src < dst, dst))


def orient(ends: tuple[Array, Array], rank: Array, backend: Backend) -> Array:
    """Direct every raw row from its larger to its smaller rank, from the numbers of its ends.

    Returns
    -------
    array of uint64
        Larger rank << 32 | smaller rank, in the order of the rows, with repeats and loops.
    """
    if backend.engine != "cpu":
        return pack_keys(*ranks_of_ends(ends, rank, backend), backend.xp)
    keys = np.empty(len(ends[0]), "uint64")

    def write(batch: slice) -> None:
        own = (ends[0][batch], ends[1][batch])
        pack_keys(*ranks_of_ends(own, rank, backend), np, keys[batch])

    _for_batches(write, len(ends[0]))
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
    threads = thread_count() if rows > SERIAL_BELOW else 1
    step = min(BATCH_ROWS, max(rows // (4 * threads), BATCH_ROWS // 8))

    def task(number: int, thread: int) -> None:
        function(slice(number * step, (number + 1) * step))

    parallel_for(task, -(-rows // step), threads)
