"""Frames of triangles by type: of the whole graph, and of its vertices or edges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.blocks import tallies
from rapids_tc.blocks.quantities import TooManyTypes
from rapids_tc.blocks.tallies import TypeTally
from rapids_tc.graphs.edge_graph import VertexTotals

if TYPE_CHECKING:
    from rapids_tc.blocks.quantities import TrianglesByType
    from rapids_tc.frames.backend import Array, Backend, Frame, Series
    from rapids_tc.graphs.edge_graph import EdgeGraph, VertexStatistics
    from rapids_tc.preparation.edge_values import Reading


def whole(graph: EdgeGraph | VertexTotals, quantity: TrianglesByType, limit: int | None) -> Frame:
    """Return the combinations that occur in the graph, or in each of its groups.

    If the counters of all combinations do not fit, the triangles are listed.
    """
    if isinstance(graph, VertexTotals):
        counted = graph.tallied or _sum(graph, quantity)
    elif graph.groups is not None:
        counted = tally(graph, quantity.reading, "group", limit)
    else:
        try:
            memory = graph.listing.memory(limit, beside_task=True)
            counted = _sum(graph, quantity.limited(memory))
        except TooManyTypes:
            counted = tally(graph, quantity.reading, "all", limit)
    xp = graph.backend.xp
    codes = [xp.asarray(codes) for codes in counted.codes]
    columns = _type_columns(graph.backend, codes, counted.reading.types)
    if graph.groups is not None:
        columns = {**graph.groups.group_columns(counted.owner), **columns}
    columns["triangles"] = xp.asarray(counted.counts)
    return _in_users_library(graph, columns, counted.reading)


def _sum(graph: VertexStatistics, quantity: TrianglesByType) -> TypeTally:
    [by_type] = graph.summed(quantity)
    return TypeTally.of_counters(graph.backend.host(by_type.values), by_type.reading)


def _in_users_library(graph: VertexStatistics, columns: dict[Any, Any], reading: Reading) -> Frame:
    """Return a frame of the user's library, in which types have the dtype of their column."""
    label = reading.label
    sources = {} if label is None else {f"type_{place}": (label,) for place in (1, 2, 3)}
    answer = graph.backend.library.DataFrame(columns)
    return graph.adapter_of(sources).frame(answer)


def tally(
    graph: EdgeGraph | VertexTotals, reading: Reading, what: str, limit: int | None = None
) -> TypeTally:
    """Count the triangles of "all", each "group", "vertex" or "edge" by type, by listing them.

    A graph that was counted elsewhere has them, as the record of the analytic says.

    Raises
    ------
    CapacityError
        The answer has more rows than a frame, or takes more than memory.
    """
    if isinstance(graph, VertexTotals):
        counted: TypeTally = graph.tallied
        return counted
    values, xp, listing = graph.edge_values(reading), graph.backend.xp, graph.listing
    keys, counts = xp.zeros(0, "uint64"), xp.zeros(0, "int64")
    memory, groups = listing.memory(limit, beside_task=True), None
    if what == "group" and graph.groups is not None:
        groups = graph.groups.group_of[graph.order.number]
    for task in listing.tasks():
        sides, starts = listing.side_values(values.arrays, task), listing.edge_numbers(task)
        for first, last in tallies.batches(task.total, memory):
            with graph.stage("listing"):
                ranks = task.ranks(first, last)
                given = ranks, sides, values.reading, what
                for new in tallies.keys_of(task, *given, groups=groups, starts=starts, xp=xp):
                    keys, counts = tallies.add(keys, counts, new, xp)
            tallies.require_rows(len(keys), memory)
        del task, sides  # before the next is loaded
    return TypeTally.of_keys(keys, counts, values.reading)


def per(graph: Any, reading: Reading, what: str, limit: int | None) -> Frame:
    """Return the combinations of every vertex, or of every edge; see `tally`."""
    tallied, backend = tally(graph, reading, what, limit), graph.backend
    with graph.stage("sorting the answer"):
        ends = _owner_numbers(graph, tallied, what)
        order = backend.xp.lexsort(backend.xp.stack([*tallied.codes[::-1], *ends[::-1]]))
        names = ("vertex",) if what == "vertex" else ("src", "dst")
        ordered_ends = (end[order] for end in ends)
        ids = graph.ids.columns(names, ordered_ends)
        types = _type_columns(
            backend, [codes[order] for codes in tallied.codes], tallied.reading.types
        )
        columns = {**ids, **types, "triangles": tallied.counts[order]}
        return _in_users_library(graph, columns, tallied.reading)


def sum_by_group(graph: Any, tallied: TypeTally, kind: Array, kinds: int) -> Array:
    """Sum the counts of a tally by group, and by the kind of each of its rows.

    The sums are int64, shape (groups, kinds).
    """
    backend, groups = graph.backend, len(graph.groups.starts)
    place = backend.host(tallied.owner) * kinds + backend.host(kind)
    counts = np.zeros(groups * kinds, "int64")
    np.add.at(counts, place, backend.host(tallied.counts))
    return counts.reshape(groups, kinds)


def _type_columns(backend: Backend, codes: list[Array], types: Series) -> dict[str, Any]:
    return {
        f"type_{place}": types.take(codes_of).reset_index(drop=True)
        for place, codes_of in enumerate(codes, 1)
    }


def _owner_numbers(graph: Any, tallied: TypeTally, what: str) -> list[Array]:
    """Return the numbers of vertices, or of both ends of edges, the smaller first."""
    number, xp = graph.order.number, graph.backend.xp
    if what == "vertex":
        return [number[tallied.owner]]
    ends = graph.listing.edge_ends(tallied.owner) if tallied.ends is None else tallied.ends
    u, v = (number[end] for end in ends)
    return [xp.minimum(u, v), xp.maximum(u, v)]
