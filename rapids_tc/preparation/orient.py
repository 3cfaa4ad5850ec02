"""Numbered edges → degree order → oriented keys: dataframe operations.

Degrees are those of the raw rows, repeats and loops included: any order of the vertices gives the
right answer, so the order comes first and repeats are dropped after the only sort. By raw degree a
row of the oriented graph still has at most sqrt(2 * rows) entries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from rapids_tc.frames.backend import Array, Backend, gathered
from rapids_tc.preparation.csr import packed_keys

PIECE, PIECES = 1 << 18, 16  # least rows per piece, and the most pieces


@dataclass(frozen=True)
class Order:
    """Ranks of the vertices, 0 for the highest degree.

    Attributes
    ----------
    rank : array of uint32, one for every number
        n or more where the number is no vertex: it stands in no row.
    number : array of int64, shape (n,)
        The number of every rank.
    """

    rank: Array
    number: Array

    @classmethod
    def of_ranks(cls, rank: Array, n: int, xp: Any) -> Order:
        """The order, from its ranks alone."""
        present = xp.flatnonzero(rank < n)
        number = xp.empty(n, "int64")
        number[rank[present]] = present
        return cls(rank, number)

    @property
    def n(self) -> int:
        return len(self.number)

    @property
    def present(self) -> Array:
        """Whether each number is a vertex: bool, one for every number."""
        return self.rank < self.n


def degree_order(degree: Array, n: int, backend: Backend) -> Order:
    """Rank the numbers by descending degree; all but `n` have degree 0 and are no vertices."""
    by_degree = backend.library.Series(degree).sort_values(ascending=False)
    number = backend.array(by_degree.index)
    rank = backend.xp.empty(len(degree), "uint32")
    rank[number] = backend.xp.arange(len(number), dtype="uint32")
    return Order(rank, number[:n])


def ranked(ends: Iterable[Array], rank: Array, backend: Backend) -> tuple[Array, Array]:
    """The larger and the smaller rank of every raw row, uint32, from the numbers of its ends."""
    # Taken from an array: a Series would take its index along.
    src, dst = (backend.library.Series(gathered(rank, end)) for end in ends)
    return backend.array(src.where(src > dst, dst)), backend.array(src.where(src < dst, dst))


def orient(ends: tuple[Array, Array], rank: Array, backend: Backend) -> Array:
    """Direct every raw row from its larger to its smaller rank, from the numbers of its ends.

    Returns
    -------
    array of uint64
        larger rank << 32 | smaller rank, in the order of the rows; repeats and loops are inside.
    """

    def keys(*some: Array) -> Array:
        return packed_keys(*ranked(some, rank, backend), backend.xp)

    return in_pieces(keys, ends, "uint64", backend)


def in_pieces(
    function: Callable[..., Array], ends: tuple[Array, Array], dtype: str, backend: Backend
) -> Array:
    """Compute a value for every row from its two ends, in pieces to keep temporary arrays small.

    On a GPU all rows are one piece: many launches would cost more than they save.
    """
    if backend.engine != "cpu":
        return function(*ends)
    rows = len(ends[0])
    values, step = backend.xp.empty(rows, dtype), max(PIECE, rows // PIECES)
    for first in range(0, rows, step):
        piece = slice(first, first + step)
        values[piece] = function(*(end[piece] for end in ends))
    return values
