"""Numbered edges → degree order → sorted, oriented keys: dataframe operations.

Degrees are those of the raw rows, repeats and loops included: any order of the vertices gives the
right answer, so the order comes first and repeats are dropped after the only sort. By raw degree a
row of the oriented graph still has at most sqrt(2 * rows) entries.
"""

from __future__ import annotations

from dataclasses import dataclass

from rapids_tc._backend import Array, Backend, Series
from rapids_tc.edges import NumberedEdges


@dataclass(frozen=True)
class Order:
    """Ranks of the vertices, 0 for the highest degree.

    Attributes
    ----------
    rank : Series of uint32, one for every number
        Of no meaning where the number is no vertex.
    number : array of int64, shape (n,)
        The number of every rank.
    present : array of bool, one for every number
        Whether the number is a vertex: it stands in some row.
    """

    rank: Series
    number: Array
    present: Array

    @property
    def n(self) -> int:
        return len(self.number)


def degree_order(edges: NumberedEdges, backend: Backend) -> Order:
    """Rank the vertices by descending raw degree."""
    xp, library, size = backend.xp, backend.library, edges.ids.size
    # Counting in an array of all numbers takes a third of two groupby().size().
    degree = xp.bincount(edges.src, minlength=size) + xp.bincount(edges.dst, minlength=size)
    present = degree > 0
    numbers = xp.flatnonzero(present)
    by_degree = library.Series(degree[numbers], index=numbers).sort_values(ascending=False)
    number = backend.array(by_degree.index)
    rank = xp.zeros(edges.ids.size, "uint32")
    rank[number] = xp.arange(len(number), dtype="uint32")
    return Order(library.Series(rank), number, present)


def ranked(edges: NumberedEdges, order: Order, backend: Backend) -> tuple[Array, Array]:
    """The larger and the smaller rank of every raw row, uint32."""
    src = order.rank.take(edges.src).reset_index(drop=True)
    dst = order.rank.take(edges.dst).reset_index(drop=True)
    return backend.array(src.where(src > dst, dst)), backend.array(src.where(src < dst, dst))


def orient(edges: NumberedEdges, order: Order, backend: Backend) -> Array:
    """Direct every raw row from its larger to its smaller rank and sort.

    Returns
    -------
    array of uint64
        larger rank << 32 | smaller rank, ascending; repeats and loops are still inside.
    """
    keys, smaller = ranked(edges, order, backend)
    keys = keys.astype("uint64")
    keys <<= 32
    keys |= smaller
    keys.sort()
    return keys
