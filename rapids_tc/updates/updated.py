"""A graph after updates, which knows its total, and prepares its rows for all other answers."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from rapids_tc.engines import registry
from rapids_tc.frames.device import device_of
from rapids_tc.frames.joining import append, select
from rapids_tc.graphs import in_memory
from rapids_tc.graphs.in_memory import InMemoryGraph
from rapids_tc.plan.record import Needs
from rapids_tc.preparation.numbering import number_edges
from rapids_tc.preparation.triangles import edge_keys
from rapids_tc.updates.batches import IN_BOTH, NOT_THERE, Delta, UpdateFrames, changes_frame, refuse

if TYPE_CHECKING:
    from rapids_tc._typing import Array, Frame
    from rapids_tc.plan.needs import Stage
    from rapids_tc.plan.record import Work
    from rapids_tc.updates.tally import Tally

TALLY = ("tally", "version", "steps")
OWN = (*TALLY, "total")
ROWS = ("_frame", "_edges", "ids")  # what reading the rows makes; all else is made from these


@dataclass(frozen=True)
class UpdateStep:
    """One update: the slots of edges that left, and the rows that came, with their slots.

    Attributes
    ----------
    deleted : array of int64
        -1 - v for the loop of vertex v.
    frame : DataFrame or None
    slots : array of int64
        The slot of each row of the frame; -1 - v for a loop.
    """

    deleted: Array
    frame: Frame | None
    slots: Array


class UnreadGraph(InMemoryGraph):
    """A graph whose rows are read once a function needs them."""

    def __getattr__(self, name: str) -> Any:
        if name not in ROWS or not self.is_unread():
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        graph = self.read_rows()
        graph.copy_rows(self.id_columns)
        self.__dict__.update({name: graph.__dict__[name] for name in ROWS})
        return self.__dict__[name]

    @abstractmethod
    def is_unread(self) -> bool:
        """Return whether rows are there that can be read."""

    @abstractmethod
    def read_rows(self) -> InMemoryGraph:
        """Read the rows, as for a graph made anew."""


class UpdatedGraph(UnreadGraph):
    """A graph after updates.

    Parameters
    ----------
    tally : Tally
        The counts of the graph, as long as the tally has the version that it has now.
    steps : tuple of UpdateStep
        All updates since the tally was made.
    """

    def __init__(self, tally: Tally, steps: tuple[UpdateStep, ...]) -> None:
        base = tally.base
        self.backend, self.progress, self.engine = base.backend, base.progress, base.engine
        self.id_columns, self.lasting = base.id_columns, True
        self._limit, self._keys, self._numbers_rows = None, None, False
        self.tally, self.version, self.steps = tally, tally.version, steps
        self.total = tally.total

    def is_unread(self) -> bool:
        """Return whether rows are there that can be read."""
        return self.has_tally

    @property
    def has_tally(self) -> bool:
        """Whether the graph has its tally. Without one it is a graph like any other."""
        return "tally" in self.__dict__

    @property
    def is_current(self) -> bool:
        """Whether the tally's counts are those of this graph."""
        return self.has_tally and self.tally.version is self.version

    def settled(self) -> InMemoryGraph:
        """Return a graph of the same rows that has no tally."""
        _ = self.ids  # reads the rows
        graph = object.__new__(InMemoryGraph)
        graph.__dict__.update(self.__dict__)
        for name in OWN:
            graph.__dict__.pop(name, None)
        return graph

    def read_rows(self) -> InMemoryGraph:
        """Read the rows that are left, as for a graph made anew."""
        return read(self.tally.base, self._rows())

    def _rows(self) -> list[Frame]:
        """Return the rows of the base that are left, and those that came and did not leave."""
        tally, xp, adapter = self.tally, self.backend.xp, self.backend.adapter
        base = tally.base
        # The last step in which each edge left, and at the end, backwards, each vertex' loop.
        left = xp.zeros(base.n_edges + tally.room + tally.most_vertices, "uint32")
        for number, step in enumerate(self.steps, 1):
            left[step.deleted] = number
        frames = [_kept(base.user_frame, _base_slots(base), left, 0, adapter, xp)]
        for number, step in enumerate(self.steps, 1):
            if step.frame is not None:
                frames.append(_kept(step.frame, step.slots, left, number, adapter, xp))
        return frames

    @property
    def some_array(self) -> Array:
        """See `InMemoryGraph`."""
        return self.tally.base.some_array if self.has_tally else super().some_array

    @property
    def groups(self) -> None:
        """None: a graph with groups is made anew by an update."""
        return None

    def count(self, method: str) -> int:
        """Return the total, which updates keep."""
        return self.total if method == "auto" else super().count(method)

    def stages(self, work: Work, method: str) -> list[Stage]:
        """See `InMemoryGraph`: the total needs none."""
        is_total = work.needs == Needs.TOTAL and method == "auto"
        return [] if is_total else super().stages(work, method)

    def __getstate__(self) -> dict[str, Any]:
        _ = self.ids  # reads the rows
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name not in TALLY}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.engine = registry.load(self.backend.engine)


def _base_slots(base: InMemoryGraph) -> Array:
    """Return the slot of each row of a tally's base; -1 - v for a loop of vertex v."""
    slots = base.row_edges()
    loops = base.backend.xp.flatnonzero(slots < 0)
    slots[loops] = -1 - base.order.rank[base.ends[0][loops]].astype("int64")
    return slots


def _kept(frame: Frame, slots: Array, left: Array, number: int, adapter: Any, xp: Any) -> Frame:
    """Return the rows of a frame that came in a step and did not leave in a later one."""
    kept = xp.flatnonzero(left[slots] <= number)
    return frame if len(kept) == len(slots) else adapter.rows_at(frame, kept)


# Graphs that are made anew ------------------------------------------------------------------------


def update(graph: InMemoryGraph, batch: UpdateFrames) -> tuple[InMemoryGraph, Delta]:
    """Return the graph after an update, made anew, and what is different.

    The rows of the graph, of `insert` and of `delete` are numbered together, so that edges can be
    compared.
    """
    backend, xp = graph.backend, graph.backend.xp
    frames = [graph.user_frame, *batch]
    sizes = [0 if frame is None else backend.adapter.rows(frame) for frame in frames]
    numbered = _number_together(graph, frames, sizes)
    u, v = (end[: sum(sizes)].astype("uint32") for end in numbered.ends)
    keys, first = edge_keys(u, v, xp), sizes[0] + sizes[1]
    old, inserted, deleted = keys[: sizes[0]], keys[sizes[0] : first], keys[first:]

    def names(rows: Array) -> tuple[list[Any], list[Any]]:
        source, destination = (numbered.ids.in_messages(end[first:][rows]) for end in (u, v))
        return source, destination

    refuse(~xp.isin(deleted, old), names, NOT_THERE, xp)
    refuse(xp.isin(deleted, inserted), names, IN_BOTH, xp)
    stays, kept = ~xp.isin(old, deleted), graph.user_frame
    if not bool(stays.all()):
        kept = backend.adapter.rows_at(kept, xp.flatnonzero(stays))
    updated = read(graph, [kept] if batch.insert is None else [kept, batch.insert])
    updated.keep(graph.id_columns)
    before = _by_key(graph, old)
    after = _by_key(updated, xp.concatenate([old[stays], inserted]))
    return updated, _compare(before, after, numbered.ids, graph)


def read(graph: InMemoryGraph, frames: list[Frame]) -> InMemoryGraph:
    """Make a graph of other rows, with the columns and the added vertices of this graph."""
    rows, labels, vertices = append(frames), graph.id_columns, added_vertices(graph)
    return in_memory.read(rows, labels, graph.backend, graph.progress, vertices=vertices)


def added_vertices(graph: InMemoryGraph) -> Any:
    """Return the ids that ``Graph(vertices=)`` was given, with repeats; None if there are none."""
    edges, ids = graph._edges, graph.ids
    numbers = edges.src[edges.rows :]
    if not len(numbers):
        return None
    columns = ids.columns(["vertex"], [numbers])
    if ids.labels == (None,):
        return columns["vertex"]
    return graph.backend.answer(columns)


def _number_together(graph: InMemoryGraph, frames: list[Frame | None], sizes: list[int]) -> Any:
    """Assign numbers to the ids of several frames, whose rows follow one another."""
    labels, vertices = graph.id_columns, added_vertices(graph)
    parts = [select(f, labels.labels) for f, size in zip(frames, sizes, strict=True) if size]
    frame = append(parts or [graph.user_frame])
    return number_edges(frame, labels, graph.backend, vertices=vertices)


def _by_key(graph: InMemoryGraph, keys: Array) -> tuple[Array, Array]:
    """Return the keys of a graph's edges, ascending, and their triangles, from a key per row."""
    xp, positions = graph.backend.xp, graph.row_edges()
    rows = xp.flatnonzero(positions >= 0)
    distinct, first = xp.unique(keys[rows], return_index=True)
    counts = graph.count_edges("auto")[positions[rows[first]]]
    return distinct, counts.astype("int64")


def changes(before: InMemoryGraph, after: InMemoryGraph) -> Delta:
    """Return what is different between two graphs of like rows."""
    frames = [before.user_frame, after.user_frame]
    sizes = [before.backend.adapter.rows(frame) for frame in frames]
    numbered = _number_together(before, frames, sizes)
    u, v = (end[: sum(sizes)].astype("uint32") for end in numbered.ends)
    keys = edge_keys(u, v, before.backend.xp)
    old, new = keys[: sizes[0]], keys[sizes[0] :]
    return _compare(_by_key(before, old), _by_key(after, new), numbered.ids, before)


def _compare(
    before: tuple[Array, Array], after: tuple[Array, Array], ids: Any, graph: InMemoryGraph
) -> Delta:
    """Return what is different between two lists of edges and their triangles."""
    backend, xp = graph.backend, graph.backend.xp
    keys = xp.unique(xp.concatenate([before[0], after[0]]))
    old, new = (xp.zeros(len(keys), "int64") for _ in range(2))
    for counts, (edges, values) in ((old, before), (new, after)):
        counts[xp.searchsorted(keys, edges)] = values
    ends, change = (keys >> 32, keys & xp.uint64(2**32 - 1)), new - old
    now, more = (xp.zeros(ids.size, "uint64") for _ in range(2))
    for sums, values in ((now, new), (more, change)):
        for end in ends:
            xp.add.at(sums, end.astype("int64"), values.view("uint64"))
    now, more = (sums.view("int64") // 2 for sums in (now, more))
    vertices, changed = xp.flatnonzero(more), xp.flatnonzero(change)
    names = ids.columns(["vertex"], [vertices])
    sides = ids.columns(["src", "dst"], [end[changed] for end in ends])
    return Delta(
        int(change.sum()) // 3,
        partial(changes_frame, names, now[vertices], more[vertices], backend),
        partial(changes_frame, sides, new[changed], change[changed], backend),
        device_of(keys),
    )
