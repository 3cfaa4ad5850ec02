"""Numbered edges → degree order → oriented keys: dataframe operations.

Degrees count the raw rows, with repeats and loops: every order of the vertices gives the right
answer, so the order comes first, and repeats are dropped after the only sort. Also with raw degrees
a row of the oriented graph has at most sqrt(2 * rows) entries.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.frames.backend import gather
from rapids_tc.preparation.csr import pack_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from rapids_tc._typing import Array
    from rapids_tc.frames.backend import Backend

BATCH_ROWS, BATCHES = 1 << 18, 16  # least rows per batch, and the most batches


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
    by_degree = backend.library.Series(degree).sort_values(ascending=False)
    number = backend.array(by_degree.index)
    rank = backend.xp.empty(len(degree), "uint32")
    rank[number] = backend.xp.arange(len(number), dtype="uint32")
    return Order(rank, number[:n])


def ranks_of_ends(ends: Iterable[Array], rank: Array, backend: Backend) -> tuple[Array, Array]:
    """Return the larger and the smaller rank (uint32) of every raw row, from its ends' numbers."""
    # From an array: a Series would gather its index as well.
    src, dst = (backend.library.Series(gather(rank, end)) for end in ends)
    if backend.library.__name__ == "pandas":  # whose `where` aligns, copies and compares first
        return backend.array(np.maximum(src, dst)), backend.array(np.minimum(src, dst))
    return backend.array(src.where(src > dst, dst)), backend.array(src.where(src < dst, dst))


def orient(ends: tuple[Array, Array], rank: Array, backend: Backend) -> Array:
    """Direct every raw row from its larger to its smaller rank, from the numbers of its ends.

    Returns
    -------
    array of uint64
        Larger rank << 32 | smaller rank, in the order of the rows, with repeats and loops.
    """

    def keys(*batch: Array) -> Array:
        return pack_keys(*ranks_of_ends(batch, rank, backend), backend.xp)

    return in_batches(keys, ends, "uint64", backend)


def in_batches(
    function: Callable[..., Array], ends: tuple[Array, Array], dtype: str, backend: Backend
) -> Array:
    """Compute a value for every row from its two ends, in batches to keep temporary arrays small.

    On a GPU all rows are one batch: many launches would cost more than they save.
    """
    if backend.engine != "cpu":
        return function(*ends)
    rows = len(ends[0])
    values, step = backend.xp.empty(rows, dtype), max(BATCH_ROWS, rows // BATCHES)
    for first in range(0, rows, step):
        batch = slice(first, first + step)
        values[batch] = function(*(end[batch] for end in ends))
    return values
