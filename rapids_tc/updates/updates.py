"""Edges put into a graph, and taken out of it."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from rapids_tc._progress import report_stage
from rapids_tc.engines.neighbor_rows import RowSlots
from rapids_tc.frames.joining import dtypes
from rapids_tc.graphs.in_memory import InMemoryGraph
from rapids_tc.preparation.edge_columns import check_fields, ids_in_answers
from rapids_tc.preparation.id_columns import check, describe
from rapids_tc.updates import sliding, updated
from rapids_tc.updates.batches import (
    FIELDS,
    IN_BOTH,
    NOT_THERE,
    ROLES,
    UpdateFrames,
    open_batch,
    refuse,
)
from rapids_tc.updates.sliding import SlidingGraph
from rapids_tc.updates.tally import Found, FullError, Tally
from rapids_tc.updates.updated import UpdatedGraph, UpdateStep

if TYPE_CHECKING:
    from rapids_tc._typing import Array, Frame
    from rapids_tc.frames.backend import Backend
    from rapids_tc.preparation.edge_columns import EdgeColumns
    from rapids_tc.preparation.id_columns import IdColumn
    from rapids_tc.updates.batches import Delta
    from rapids_tc.updates.kept_rows import Window

ROOM = 1 << 12  # edges that a tally has room for, at least
SHARE = 16  # a tally has room for one new edge per so many edges of the graph


def update(
    graph: Any, insert: Any, delete: Any, *, progress: bool | None
) -> tuple[InMemoryGraph, Delta]:
    """Return the graph with the rows of `insert`, and without the edges of `delete`.

    The graph that is given stays as it is.

    Raises
    ------
    TypeError
        The graph is on the workers of a cluster, or bipartite.
    ValueError
        Two columns of a frame of the `Delta` would have one name.
    """
    if not isinstance(graph, InMemoryGraph):
        raise TypeError(
            "update needs the rows on one machine, and this Graph is of a partitioned frame: make "
            "Graph(edges.compute()), or a new Graph of the new frame, which took a second "
            "per million rows on two workers"
        )
    labels = graph.id_columns
    require_columns(labels)
    if isinstance(graph, SlidingGraph):
        return sliding.update(graph, insert, delete)
    base = graph.tally.base if isinstance(graph, UpdatedGraph) and graph.has_tally else graph
    batch = open_batch(insert, delete, base.user_frame, labels.labels, base.backend)
    with report_stage("updating", progress, lambda: "an update needs as much as a new graph"):
        return _by_tally(graph, base, batch) or updated.update(graph, batch)


def slide(graph: Any, window: Window) -> SlidingGraph:
    """Return the graph of the rows of another that a window of time keeps.

    Raises
    ------
    ColumnNotFoundError, NullIdError, TypeError, ValueError
        The graph takes no updates, or its rows do not suit the window.
    """
    require_columns(graph.id_columns)
    return sliding.begin(graph, window)


def require_columns(labels: EdgeColumns) -> None:
    """Raise an error unless a graph with these columns of ids takes updates."""
    if labels.bipartite:
        raise TypeError(
            "update takes no bipartite Graph: make Graph(edges, bipartite=True) of the new frame"
        )
    if labels.given:
        raise TypeError(
            f"update has no values of the group {labels.given[0]!r} for its rows, as it came as "
            "an array: make the Graph of a frame that has it as a column"
        )
    ids = ids_in_answers([part.label for part in labels.ids], ROLES)
    check_fields([part.label for part in labels.groups], [*ids, *FIELDS])


def _by_tally(
    graph: InMemoryGraph, base: InMemoryGraph, batch: UpdateFrames
) -> tuple[InMemoryGraph, Delta] | None:
    """Update by a tally; None if the graph has to be made anew."""
    if base.ids.labels != (None,):
        return None
    backend = base.backend
    inserted, deleted = (
        _describe(frame, name, base.id_columns.labels, backend)
        for frame, name in zip(batch, batch._fields, strict=True)
    )
    if any(column.categorical for column in (*inserted, *deleted)):
        return None
    if isinstance(graph, UpdatedGraph):
        if graph.is_current:
            with suppress(FullError):
                return _apply(graph.tally, graph.steps, batch, inserted, deleted)
        graph = graph.settled()
    if not _keeps_dtype(graph):
        return None
    rows = 0 if batch.insert is None else backend.adapter.rows(batch.insert)
    room = max(ROOM, graph.n_edges // SHARE, 2 * rows)
    if not Tally.fits(graph, room):
        return None
    return _apply(Tally(graph, room), (), batch, inserted, deleted)


def _apply(
    tally: Tally,
    steps: tuple[UpdateStep, ...],
    batch: UpdateFrames,
    inserted: list[IdColumn],
    deleted: list[IdColumn],
) -> tuple[InMemoryGraph, Delta]:
    """Change a tally and return the graph.

    Raises
    ------
    FullError
        The tally has no room for the edges, and is as it was.
    """
    found = _find(tally, inserted, deleted)
    frame = batch.insert
    if frame is not None:
        frame = tally.base.backend.adapter.snapshot(frame)
    delta = tally.apply(found)
    tally.version = object()
    return UpdatedGraph(tally, (*steps, UpdateStep(found.deleted, frame, found.inserted))), delta


def _keeps_dtype(graph: InMemoryGraph) -> bool:
    """Return whether the ids keep their dtype when new ids, not categories, are added."""
    if graph.ids.parts[0].kind == "empty":
        return False
    adapter, rows = graph.backend.adapter, graph.user_frame
    by_label = dict(zip(adapter.labels(rows), dtypes(rows), strict=True))
    first, second = (by_label[label] for label in graph.id_columns.labels)
    return bool(first == second)


def _describe(
    frame: Frame | None, name: str, labels: list[Any], backend: Backend
) -> list[IdColumn]:
    """Describe the id columns of a frame of the batch; an empty list if it has no rows.

    Raises
    ------
    IdTypeError, NullIdError
        A column cannot name vertices.
    """
    if frame is None or not backend.adapter.rows(frame):
        return []
    columns = [
        describe(
            backend.to_working_series(backend.adapter.column(frame, label)),
            f"column {label!r} of {name}=",
            backend,
        )
        for label in labels
    ]
    check(columns)
    return columns


def _find(tally: Tally, inserted: list[IdColumn], deleted: list[IdColumn]) -> Found:
    """Find the edges of a batch.

    Raises
    ------
    ValueError
        An edge to delete is not there, or is inserted, too.
    FullError
        The tally has no room for the edges.
    """
    xp, ids = tally.xp, tally.ids
    new, none = xp.zeros(0, "uint64"), RowSlots(xp.zeros(0, "int64"), 0, 0, 0)
    left = came = none
    if deleted:
        left = tally.find(*map(ids.find, deleted))
        if left.loops or left.unknown or left.absent:
            refuse(~tally.is_there(left), partial(_names, deleted), NOT_THERE, xp)
    if inserted:
        ends = [ids.find(column) for column in inserted]
        came = tally.find(*ends)
        if deleted:
            both = xp.isin(came.slots, left.slots)
            refuse(both, partial(_names, inserted), IN_BOTH, xp)
        if came.unknown:
            ids = ids.with_all(inserted, ends)
            if ids is not tally.ids:
                ends = [ids.find(column) for column in inserted]
                came = tally.find(*ends)
            slots, new = tally.with_new(came, ends, ids)
            came = came._replace(slots=slots)
    return Found(left.slots, came.slots, bool(left.loops or came.loops), new, ids)


def _names(columns: list[IdColumn], rows: Array) -> tuple[list[str], list[str]]:
    """Return both ends of some rows as text for a message."""
    ends = (column.values.take(rows) for column in columns)
    source, destination = (
        [str(i) for i in (end.to_pandas() if hasattr(end, "to_pandas") else end)] for end in ends
    )
    return source, destination
