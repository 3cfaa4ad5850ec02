"""Frames of triangles by type: of the whole graph, and of its vertices or edges."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.blocks import tallies
from rapids_tc.blocks.quantities import TooManyTypes
from rapids_tc.blocks.tallies import TypeTally
from rapids_tc.graphs.edge_graph import VertexTotals
from rapids_tc.preparation.triads import CLOSED

if TYPE_CHECKING:
    from rapids_tc.blocks.quantities import TrianglesByType
    from rapids_tc.frames.backend import Array, Backend, Frame
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
    owner, counts = xp.asarray(counted.owner), xp.asarray(counted.counts)
    counted = _answered(replace(counted, codes=codes, owner=owner, counts=counts), xp)
    columns = _kind_columns(graph.backend, counted.codes, counted.reading)
    if graph.groups is not None:
        columns = {**graph.groups.group_columns(counted.owner), **columns}
    columns["triangles"] = counted.counts
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
        read, starts = listing.side_arrays(values.arrays, task), listing.edge_numbers(task)
        sides = [of_side[0] for of_side in read]
        for first, last in tallies.batches(task.total, memory):
            with graph.stage("listing"):
                ranks = task.ranks(first, last)
                given = ranks, sides, values.reading, what
                for new in tallies.keys_of(task, *given, groups=groups, starts=starts, xp=xp):
                    keys, counts = tallies.add(keys, counts, new, xp)
            tallies.require_rows(len(keys), memory)
        del task, read, sides  # before the next is loaded
    return TypeTally.of_keys(keys, counts, values.reading)


def per(graph: Any, reading: Reading, what: str, limit: int | None) -> Frame:
    """Return the combinations of every vertex, or of every edge; see `tally`."""
    backend = graph.backend
    tallied = _answered(tally(graph, reading, what, limit), backend.xp)
    with graph.stage("sorting the answer"):
        ends = _owner_numbers(graph, tallied, what)
        order = backend.xp.lexsort(backend.xp.stack([*tallied.codes[::-1], *ends[::-1]]))
        names = ("vertex",) if what == "vertex" else ("src", "dst")
        ordered_ends = (end[order] for end in ends)
        ids = graph.ids.columns(names, ordered_ends)
        codes = [of_place[order] for of_place in tallied.codes]
        kinds = _kind_columns(backend, codes, tallied.reading)
        columns = {**ids, **kinds, "triangles": tallied.counts[order]}
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


def _answered(tallied: TypeTally, xp: Any) -> TypeTally:
    """Return a tally as frames show it: states of edges by triads."""
    return tallied.by_triad(xp) if tallies.of_states(tallied.reading) else tallied


def _kind_columns(backend: Backend, codes: list[Array], reading: Reading) -> dict[str, Any]:
    """Return the columns of types, or of triads."""
    names = ["triad"] if tallies.of_states(reading) else ["type_1", "type_2", "type_3"]
    types = backend.library.Series([*CLOSED]) if tallies.of_states(reading) else reading.types
    return {
        name: types.take(of_place).reset_index(drop=True)
        for name, of_place in zip(names, codes, strict=True)
    }


def _owner_numbers(graph: Any, tallied: TypeTally, what: str) -> list[Array]:
    """Return the numbers of vertices, or of both ends of edges, the smaller first."""
    number, xp = graph.order.number, graph.backend.xp
    if what == "vertex":
        return [number[tallied.owner]]
    ends = graph.listing.edge_ends(tallied.owner) if tallied.ends is None else tallied.ends
    u, v = (number[end] for end in ends)
    return [xp.minimum(u, v), xp.maximum(u, v)]
