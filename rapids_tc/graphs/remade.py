"""An update by making the graph anew, for ids that a tally does not keep."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from rapids_tc.frames.device import device_of
from rapids_tc.frames.joining import append, select
from rapids_tc.graphs import in_memory
from rapids_tc.graphs.batches import IN_BOTH, NOT_THERE, Batch, refuse
from rapids_tc.graphs.delta import Delta, changes_frame
from rapids_tc.preparation.composite import CompositeIds, answer_columns, ids_in_messages
from rapids_tc.preparation.composite_edges import number_composite
from rapids_tc.preparation.edges import edge_keys, number_edges

if TYPE_CHECKING:
    from rapids_tc._typing import Array, Frame
    from rapids_tc.graphs.in_memory import InMemoryGraph


def update(graph: InMemoryGraph, batch: Batch) -> tuple[InMemoryGraph, Delta]:
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
        source, destination = (ids_in_messages(numbered.ids, end[first:][rows]) for end in (u, v))
        return source, destination

    refuse(~xp.isin(deleted, old), names, NOT_THERE, xp)
    refuse(xp.isin(deleted, inserted), names, IN_BOTH, xp)
    stays, kept = ~xp.isin(old, deleted), graph.user_frame
    if not bool(stays.all()):
        kept = backend.adapter.take(kept, xp.flatnonzero(stays))
    updated = read(graph, [kept] if batch.insert is None else [kept, batch.insert])
    updated.keep(graph.id_columns)
    before = _by_key(graph, old)
    after = _by_key(updated, xp.concatenate([old[stays], inserted]))
    return updated, _compare(before, after, numbered.ids, graph)


def read(graph: InMemoryGraph, frames: list[Frame]) -> InMemoryGraph:
    """Read rows as those of a graph with the columns and the further vertices of another."""
    rows, labels, vertices = append(frames), graph.id_columns, _added_vertices(graph)
    return in_memory.read(rows, labels, graph.backend, graph.progress, vertices=vertices)


def _added_vertices(graph: InMemoryGraph) -> Any:
    """Return the ids that ``Graph(vertices=)`` was given, with repeats; None if there are none."""
    edges, ids = graph._edges, graph.ids
    numbers = edges.src[edges.rows :]
    if not len(numbers):
        return None
    if not isinstance(ids, CompositeIds):
        return ids.take(numbers)
    library = graph.backend.library
    return graph.backend.adapter.frame(library.DataFrame(ids.columns({"vertex": numbers})))


def _number_together(graph: InMemoryGraph, frames: list[Frame | None], sizes: list[int]) -> Any:
    """Assign numbers to the ids of frames, which follow one another."""
    labels, vertices = graph.id_columns, _added_vertices(graph)
    parts = [select(f, labels.labels) for f, size in zip(frames, sizes, strict=True) if size]
    frame = append(parts or [graph.user_frame])
    if labels.pair is None:
        return number_composite(frame, labels, graph.backend, vertices=vertices)
    return number_edges(frame, labels, graph.backend, vertices=vertices)


def _by_key(graph: InMemoryGraph, keys: Array) -> tuple[Array, Array]:
    """Return the keys of a graph's edges, ascending, and their triangles, from a key per row."""
    xp, positions = graph.backend.xp, graph.row_edges()
    rows = xp.flatnonzero(positions >= 0)
    distinct, first = xp.unique(keys[rows], return_index=True)
    counts = graph.count_edges("auto")[positions[rows[first]]]
    return distinct, counts.astype("int64")


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
    names = answer_columns(ids, {"vertex": vertices})
    sides = answer_columns(ids, {"src": ends[0][changed], "dst": ends[1][changed]})
    return Delta(
        int(change.sum()) // 3,
        partial(changes_frame, names, now[vertices], more[vertices], backend),
        partial(changes_frame, sides, new[changed], change[changed], backend),
        device_of(keys),
    )
