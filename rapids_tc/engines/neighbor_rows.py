"""The neighbors of the vertices of a graph whose edges change, and the edges that change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from rapids_tc.preparation.csr import Array, Csr

# The state of a slot, uint32 each: one line of a cache has all of them.
WHEN, CHANGE, COUNT, END, WORDS = 0, 1, 2, 3, 4
LIVE = 2**32 - 1  # `WHEN` of an edge that is there, and does not change


@dataclass(frozen=True)
class NeighborRows:
    """All neighbors of every vertex, with the *slot* of each edge, which arrays of edges have.

    The slot of an edge of the graph is its position in ``csr.columns``; slots of edges that were
    added later follow. An edge that was taken away keeps its slot.

    Attributes
    ----------
    csr : Csr
        The graph. Vertices from ``csr.n`` on have no edges in it.
    in_offsets : array of int64, shape (n + 1,)
    in_rows, positions : array of uint32, shape (m,)
        The larger ends of the edges to v, ascending, and their slots, from in_offsets[v] on.
    degrees : array of int64, shape (n,)
    keys : array of uint64
        The edges that were added, both ways: one end << 32 | the other, ascending.
    slots : array of uint32
        The slot of each key.
    added : array of uint32, shape (room,)
        The smaller end of each edge that was added, in the order of slots.
    size : int
        The number of vertices, those that were added included.
    """

    csr: Csr
    in_offsets: Array
    in_rows: Array
    positions: Array
    degrees: Array
    keys: Array
    slots: Array
    added: Array
    size: int

    def ranges(self, v: Array, xp: Any) -> tuple[Array, Array]:
        """Return where the keys of some vertices begin and end."""
        if not len(self.keys):
            return (xp.zeros(len(v), "int64"),) * 2
        first = v.astype("uint64") << 32
        last = first + np.uint64(1 << 32)
        return xp.searchsorted(self.keys, first), xp.searchsorted(self.keys, last)

    def lengths(self, v: Array, xp: Any) -> Array:
        """Count the neighbors of some vertices, int64; edges that were taken away count."""
        first, last = self.ranges(v, xp)
        return self.degree(v, xp) + (last - first)

    def degree(self, v: Array, xp: Any) -> Array:
        """Return the neighbors of some vertices in ``csr``, int64."""
        if not len(self.degrees):
            return xp.zeros(len(v), "int64")
        in_graph = v < self.csr.n
        return xp.where(in_graph, self.degrees[xp.where(in_graph, v, 0)], 0)

    def smaller_ends(self, slots: Array, xp: Any) -> Array:
        """Return the smaller end (uint32) of each of some ascending slots."""
        m = self.csr.m
        if not self.csr.m or not len(slots):
            return self.added[slots - slots.dtype.type(m)]
        middle = int(xp.searchsorted(slots, xp.asarray([m], slots.dtype))[0])
        added = self.added[slots[middle:] - slots.dtype.type(m)]
        return xp.concatenate([self.csr.columns[slots[:middle]], added])


@dataclass(frozen=True)
class ChangedEdges:
    """Edges that change at once.

    Attributes
    ----------
    walked, hubs : array of uint32
        The two ends: the neighbors of the first are walked, and looked up among those of the hub.
    slots : array of uint32
        Each slot stands here once.
    """

    walked: Array
    hubs: Array
    slots: Array
