"""The triangles of every edge and vertex of a graph whose edges change, kept up to date.

Edges have slots: see `rapids_tc.engines.neighbor_rows`. Vertices are the ranks of the graph that
the tally was made of. Numbers that named no vertex there have ranks, too, and new ids follow them.
Degrees change, but ranks stay: counts are right for any order of the vertices.

Arrays of all edges are changed in place, which a `version` guards: a graph that does not have the
tally's version makes a tally of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.engines.neighbor_rows import (
    COUNT,
    END,
    LIVE,
    WHEN,
    WORDS,
    ChangedEdges,
    NeighborRows,
)
from rapids_tc.frames.backend import sum64
from rapids_tc.frames.device import device_of
from rapids_tc.preparation.csr import pack_keys
from rapids_tc.updates.batches import Delta, changes_frame
from rapids_tc.updates.new_ids import NewIds

if TYPE_CHECKING:
    from rapids_tc._typing import Array, Frame
    from rapids_tc.frames.backend import Backend
    from rapids_tc.graphs.in_memory import InMemoryGraph

MOST = 2**32 - 2  # slots, or vertices: they have 32 bits, and one value stands for "none"


class FullError(Exception):
    """There is no room for so many new edges or vertices; a new tally would have it."""


@dataclass(frozen=True)
class Found:
    """The edges of an update, found in a tally, which is not changed yet.

    Attributes
    ----------
    deleted, inserted : array of uint32
        The slots of the edges that leave, and of the edges that come.
    new : array of uint64
        The keys of the edges that get the next slots.
    row_slots : array of int64
        The slot of each inserted row; -1 for a loop.
    ids : NewIds
        The ids of vertices that the tally's graph does not have.
    """

    deleted: Array
    inserted: Array
    new: Array
    row_slots: Array
    ids: NewIds


class Tally:
    """The triangles of every edge and vertex of a graph whose edges change.

    Parameters
    ----------
    base : InMemoryGraph
        The graph as it is when the tally begins.
    room : int
        How many edges may be added at most.
    """

    def __init__(self, base: InMemoryGraph, room: int) -> None:
        csr, order, xp = base.csr, base.order, base.backend.xp
        self.base, self.xp, self.room = base, xp, room
        size, slots = base.ids.size, csr.m + room
        self._states = xp.zeros((slots, WORDS), "uint32")
        words = {WHEN: LIVE, COUNT: base.count_edges("auto"), END: csr.rows}
        for word, values in words.items():
            self._states[: csr.m, word] = values
        offsets, rows, positions = base.engine.csc(csr)
        degrees = xp.diff(csr.offsets) + xp.diff(offsets)
        none = xp.zeros(0, "uint64"), xp.zeros(0, "uint32")
        added = xp.zeros(room, "uint32")
        self._near = NeighborRows(csr, offsets, rows, positions, degrees, *none, added, size)
        self._number = xp.empty(size, "uint32")
        self._number[order.rank] = xp.arange(size, dtype="uint32")
        self._at_vertex = xp.zeros(size + 2 * room, "int64")
        self._at_vertex[: csr.n] = base.vertex_counts("auto")
        self._of_vertex = xp.zeros(size + 2 * room, "uint64")  # changes, modulo 2**64: 0 in between
        [part] = base.ids.parts
        self.ids = NewIds(part, order.rank, self._number)
        self.edges_added, self.total = 0, sum64(base.count_edges("auto")) // 3
        self.version: object = object()

    @staticmethod
    def fits(base: InMemoryGraph, room: int) -> bool:
        """Return whether slots and vertices have 32 bits."""
        return max(base.n_edges + room, base.ids.size + 2 * room) < MOST

    # Look up -------------------------------------------------------------------------------------

    def slots_of(self, keys: Array) -> Array:
        """Return the slots (int64) of edges, larger vertex << 32 | smaller one; -1 for no slot."""
        xp, near = self.xp, self._near
        high, low = (keys >> 32).astype("uint32"), keys.astype("uint32")
        in_base = high < near.csr.n  # any other pair becomes a loop, which has no slot
        slots = xp.full(len(keys), -1, "int64")
        if near.csr.m:
            slots = self.base.engine.find_edges(near.csr, high * in_base, low * in_base)
        if len(near.keys):
            place = xp.minimum(xp.searchsorted(near.keys, keys), len(near.keys) - 1)
            slots = xp.where(near.keys[place] == keys, near.slots[place].astype("int64"), slots)
        return slots

    def is_live(self, slots: Array) -> Array:
        """Return which slots are of edges that are there."""
        return (slots >= 0) & (self._states[slots, WHEN] == LIVE)

    def find(self, inserted: Array, deleted: Array, ids: NewIds) -> Found:
        """Find the edges of rows to insert, given by `edge_keys`, and of slots to delete.

        Raises
        ------
        FullError
            The tally has no room for them.
        """
        xp, slots = self.xp, self.slots_of(inserted)
        unknown = xp.flatnonzero((slots < 0) & ~is_loop(inserted))
        new = sorted_once(inserted[unknown], xp)
        if self.edges_added + len(new) > self.room or len(ids) > 2 * self.room:
            raise FullError
        first = self._near.csr.m + self.edges_added
        slots[unknown] = xp.searchsorted(new, inserted[unknown]) + first
        absent = slots[(slots >= 0) & ~self.is_live(slots)]
        left, came = (sorted_once(each.astype("uint32"), xp) for each in (deleted, absent))
        return Found(left, came, new, slots, ids)

    # Change --------------------------------------------------------------------------------------

    def apply(self, found: Found) -> Delta:
        """Change the edges; return what changes.

        The tally has no version until the caller gives it one: if a step fails, no graph uses it.
        """
        self.version = None
        self._add(found)
        lost, left = self._run(found.deleted, -1)
        self._states[found.deleted, WHEN] = 0
        gained, came = self._run(found.inserted, 1)
        self._states[found.inserted, WHEN] = LIVE
        self.total += gained - lost
        return self._settle(gained - lost, self.xp.concatenate([left, came]))

    def _add(self, found: Found) -> None:
        """Give new edges their slots."""
        xp, near, new = self.xp, self._near, found.new
        self.ids = found.ids
        if not len(new):
            return
        size = self.base.ids.size + len(found.ids)
        high, low = (new >> 32).astype("uint32"), new.astype("uint32")
        first, last = self.edges_added, self.edges_added + len(new)
        near.added[first:last] = low
        self._states[near.csr.m + first : near.csr.m + last, END] = high
        self.edges_added = last
        slots = xp.arange(near.csr.m + first, near.csr.m + last, dtype="uint32")
        keys = xp.concatenate([near.keys, new, pack_keys(low, high, xp)])
        order = xp.argsort(keys)
        slots = xp.concatenate([near.slots, slots, slots])[order]
        self._near = replace(near, keys=keys[order], slots=slots, size=size)

    def _run(self, slots: Array, sign: int) -> tuple[int, Array]:
        """Add the triangles of edges that leave, or come, to the changes of their sides."""
        xp, near = self.xp, self._near
        if not len(slots):
            return 0, slots
        self._states[slots, WHEN] = xp.arange(1, len(slots) + 1, dtype="uint32")
        u, v = self._states[slots, END], near.smaller_ends(slots, xp)
        larger = near.degree(u, xp) >= near.degree(v, xp)
        edges = ChangedEdges(xp.where(larger, v, u), xp.where(larger, u, v), slots)
        return self.base.engine.add_changes(near, edges, self._states, sign)

    def _settle(self, change: int, slots: Array) -> Delta:
        """Add changes to the counts; return them, with the change of the total."""
        arrays = slots, self._states, self._of_vertex
        edges = self.base.engine.settle(self._near, *arrays)
        vertices = self.xp.flatnonzero(self._of_vertex).astype("uint32")
        delta = self._of_vertex[vertices].view("int64") // 2
        self._of_vertex[vertices] = 0
        self._at_vertex[vertices] += delta
        backend, triangles = self.base.backend, self._at_vertex[vertices]
        vertex_frame = partial(_vertex_frame, self.ids, vertices, triangles, delta, backend)
        edge_frame = partial(_edge_frame, self.ids, *edges, backend)
        return Delta(change, vertex_frame, edge_frame, device_of(vertices))


def _vertex_frame(
    ids: NewIds, vertices: Array, triangles: Array, delta: Array, backend: Backend
) -> Frame:
    """Return changes of vertices, sorted by id."""
    order = ids.by_value(vertices)
    names = {"vertex": ids.take(vertices[order])}
    return changes_frame(names, triangles[order], delta[order], backend)


def _edge_frame(
    ids: NewIds, u: Array, v: Array, triangles: Array, delta: Array, backend: Backend
) -> Frame:
    """Return changes of edges, sorted by ids."""
    names, order = ids.edges(u, v)
    return changes_frame(names, triangles[order], delta[order], backend)


def edge_keys(u: Array, v: Array, xp: Any) -> Array:
    """Return keys (uint64) larger vertex << 32 | smaller vertex."""
    return pack_keys(xp.maximum(u, v), xp.minimum(u, v).astype("uint64"), xp)


def is_loop(keys: Array) -> Array:
    """Return which keys have the same vertex twice."""
    return keys >> 32 == keys & np.uint64(2**32 - 1)


def sorted_once(values: Array, xp: Any) -> Array:
    """Return each of some values once, ascending."""
    values = xp.sort(values)
    is_first = xp.ones(len(values), bool)
    is_first[1:] = values[1:] != values[:-1]
    return values[is_first]
