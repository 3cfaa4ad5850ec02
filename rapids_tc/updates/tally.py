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

from rapids_tc.engines.neighbor_rows import (
    COUNT,
    END,
    LIVE,
    NO_SLOT,
    WHEN,
    WORDS,
    NeighborRows,
    RowSlots,
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
    deleted, inserted : array of int64
        The slot of each row that leaves, and of each that comes: see `RowSlots`.
    with_loops : bool
        Whether some rows are loops.
    new : array of uint64
        The keys of the edges that get the next slots.
    ids : NewIds
        The ids of vertices that the tally's graph does not have.
    """

    deleted: Array
    inserted: Array
    with_loops: bool
    new: Array
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
        none, added = (xp.zeros(0, "uint64"), xp.zeros(0, "uint32")), xp.zeros(room, "uint32")
        self._near = NeighborRows(csr, *base.engine.csc(csr), *none, added, size)
        self._number = xp.empty(size, "uint32")
        self._number[order.rank] = xp.arange(size, dtype="uint32")
        self._at_vertex = xp.zeros(size + 2 * room, "int64")
        self._at_vertex[: csr.n] = base.vertex_counts("auto")
        self._of_vertex = xp.zeros(size + 2 * room, "uint64")  # scratch memory of `settle`
        self._has_loop = xp.zeros(size + 2 * room, bool)
        src, dst = base.ends
        self._has_loop[order.rank[src[src == dst]]] = True
        [part] = base.ids.parts
        finder = base.engine.rank_finder(part, order.rank)
        self.ids = NewIds(part, order.rank, self._number, finder)
        self.edges_added, self.total = 0, sum64(base.count_edges("auto")) // 3
        self.version: object = object()

    @staticmethod
    def fits(base: InMemoryGraph, room: int) -> bool:
        """Return whether slots and vertices have 32 bits."""
        return max(base.n_edges + room, base.ids.size + 2 * room) < MOST

    @property
    def most_vertices(self) -> int:
        """How many vertices the tally has room for."""
        return len(self._at_vertex)

    # Look up -------------------------------------------------------------------------------------

    def find(self, u: Array, v: Array) -> RowSlots:
        """Find the edges of rows, given by the vertices of both ends."""
        return self.base.engine.find_slots(self._near, u, v, self._states)

    def is_there(self, found: RowSlots) -> Array:
        """Return which rows name edges, or loops, that are there."""
        slots = found.slots
        is_edge = (slots >= 0) & (self._states[self.xp.maximum(slots, 0), WHEN] == LIVE)
        is_loop = (slots < 0) & (slots != NO_SLOT)
        return is_edge | (is_loop & self._has_loop[self.xp.where(is_loop, -1 - slots, 0)])

    def with_new(self, found: RowSlots, ends: list[Array], ids: NewIds) -> tuple[Array, Array]:
        """Return the slots of rows, with slots for new edges, and the keys of these.

        Raises
        ------
        FullError
            The tally has no room for them.
        """
        xp, slots = self.xp, found.slots
        unknown = xp.flatnonzero(slots == NO_SLOT)
        u, v = (end[unknown] for end in ends)
        keys = edge_keys(u, v, xp)
        new = sorted_once(keys, xp)
        if self.edges_added + len(new) > self.room or len(ids) > 2 * self.room:
            raise FullError
        slots[unknown] = xp.searchsorted(new, keys) + self._near.csr.m + self.edges_added
        return slots, new

    # Change --------------------------------------------------------------------------------------

    def apply(self, found: Found) -> Delta:
        """Change the edges; return what changes.

        The tally has no version until the caller gives it one: if a step fails, no graph uses it.
        """
        self.version = None
        self._add(found)
        change, changed = 0, []
        for slots, sign in ((found.deleted, -1), (found.inserted, 1)):
            if not len(slots):
                continue
            arguments = self._near, slots, self._states, sign
            triangles, of_edges = self.base.engine.add_changes(*arguments)
            change += sign * triangles
            changed.append(of_edges)
            if found.with_loops:
                self._has_loop[-1 - slots[slots < 0]] = sign > 0
        self.total += change
        return self._settle(change, changed)

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
        both_ways = xp.concatenate([new, pack_keys(low, high, xp)])
        order = xp.argsort(both_ways)
        of_new = both_ways[order], xp.concatenate([slots, slots])[order]
        keys, slots = _merged((near.keys, near.slots), of_new, xp)
        self._near = replace(near, keys=keys, slots=slots, size=size)

    def _settle(self, change: int, changed: list[Any]) -> Delta:
        """Add changes to the counts; return them, with the change of the total."""
        counts = self._states, self._of_vertex, self._at_vertex
        edges, vertices = self.base.engine.settle(self._near, changed, *counts)
        backend = self.base.backend
        vertex_frame = partial(_vertex_frame, self.ids, vertices, backend)
        edge_frame = partial(_edge_frame, self.ids, edges, backend)
        return Delta(change, vertex_frame, edge_frame, device_of(self._at_vertex))


def _vertex_frame(ids: NewIds, changes: tuple[Array, ...], backend: Backend) -> Frame:
    """Return changes of vertices, sorted by id."""
    vertices, triangles, delta = changes
    order = ids.by_value(vertices)
    names = {"vertex": ids.take(vertices[order])}
    return changes_frame(names, triangles[order], delta[order], backend)


def _edge_frame(ids: NewIds, changes: tuple[Array, ...], backend: Backend) -> Frame:
    """Return changes of edges, sorted by ids."""
    u, v, triangles, delta = changes
    names, order = ids.edges(u, v)
    return changes_frame(names, triangles[order], delta[order], backend)


def _merged(
    first: tuple[Array, Array], second: tuple[Array, Array], xp: Any
) -> tuple[Array, Array]:
    """Merge ascending keys, none of which is in both, and the values of each."""
    (keys, values), (more, more_values) = first, second
    places = (
        xp.arange(len(keys)) + xp.searchsorted(more, keys),
        xp.arange(len(more)) + xp.searchsorted(keys, more),
    )
    merged = xp.empty(len(keys) + len(more), keys.dtype)
    of_merged = xp.empty(len(merged), values.dtype)
    for place, some, their in zip(places, (keys, more), (values, more_values), strict=True):
        merged[place], of_merged[place] = some, their
    return merged, of_merged


def edge_keys(u: Array, v: Array, xp: Any) -> Array:
    """Return keys (uint64) larger vertex << 32 | smaller vertex."""
    return pack_keys(xp.maximum(u, v), xp.minimum(u, v).astype("uint64"), xp)


def sorted_once(values: Array, xp: Any) -> Array:
    """Return each of some values once, ascending."""
    values = xp.sort(values)
    is_first = xp.ones(len(values), bool)
    is_first[1:] = values[1:] != values[:-1]
    return values[is_first]
