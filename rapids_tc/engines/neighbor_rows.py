"""The neighbors of the vertices of a graph whose edges change, and the slots of edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from rapids_tc.preparation.csr import Array, Csr

# The state of a slot, uint32 each: one line of a cache has all of them.
WHEN, CHANGE, COUNT, END, WORDS = 0, 1, 2, 3, 4
LIVE = 2**32 - 1  # `WHEN` of an edge that is there, and does not change
NO_VERTEX = 2**32 - 1  # of an id that names none
NO_SLOT = -(2**62)  # of a pair of vertices


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
    keys: Array
    slots: Array
    added: Array
    size: int

    def lengths(self, v: Array) -> Array:
        """Count the neighbors of some vertices, int64; edges that were taken away count."""
        first = v.astype(np.uint64) << np.uint64(32)
        last = first + np.uint64(1 << 32)
        keys = np.searchsorted(self.keys, last) - np.searchsorted(self.keys, first)
        return self.degree(v) + keys

    def degree(self, v: Array) -> Array:
        """Return the neighbors of some vertices in ``csr``, int64."""
        if not self.csr.n:
            return np.zeros(len(v), np.int64)
        in_graph = v < self.csr.n
        v = np.where(in_graph, v, 0).astype(np.int64)
        bounds = self.csr.offsets, self.in_offsets
        return sum(ends[v + 1] - ends[v] for ends in bounds) * in_graph

    def smaller_ends(self, slots: Array) -> Array:
        """Return the smaller end (uint32) of each of some ascending slots."""
        m = self.csr.m
        middle = np.searchsorted(slots, m)
        added = self.added[slots[middle:] - slots.dtype.type(m)]
        return np.concatenate([self.csr.columns[slots[:middle]], added])


class RowSlots(NamedTuple):
    """The slots of the edges that rows name.

    Attributes
    ----------
    slots : array of int64
        Of each row. A loop of vertex v has -1 - v instead, and any other pair of vertices whose
        edge has no slot has `NO_SLOT`, as has a vertex that is not known.
    loops : int
        How many rows are loops.
    unknown : int
        How many rows have `NO_SLOT`.
    absent : int
        How many rows name an edge that has a slot, but is not there.
    """

    slots: Array
    loops: int
    unknown: int
    absent: int
