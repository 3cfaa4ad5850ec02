"""Values of the edges of a graph in memory, and sums of them: all rows are one chunk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from rapids_tc.blocks.quantities import EdgeSum, Summed
from rapids_tc.frames.backend import gather, sum64
from rapids_tc.preparation import orient
from rapids_tc.preparation.edge_columns import check_label
from rapids_tc.preparation.edge_values import EdgeError, EdgeRows

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from rapids_tc._progress import Report
    from rapids_tc.blocks.quantities import Sum
    from rapids_tc.engines.quantity import Quantity
    from rapids_tc.frames.backend import Array, Backend
    from rapids_tc.preparation.csr import Csr
    from rapids_tc.preparation.edge_values import Reading
    from rapids_tc.preparation.numbering import Ids
    from rapids_tc.preparation.orient import Order


WHOLE = (0, 0, 0)  # the residues of the only task on the only block


class WholeGraph(Protocol):
    """What values of edges need of a graph in memory."""

    backend: Backend
    engine: Any
    ids: Ids

    @property
    def order(self) -> Order:
        """The maps from numbers to ranks and back."""

    @property
    def csr(self) -> Csr:
        """The oriented graph."""

    @property
    def layout(self) -> Any:
        """The engine's own layout of the CSR."""

    @property
    def labels(self) -> list[Any]:
        """The column labels of the user's frame."""

    @property
    def ends(self) -> tuple[Array, Array]:
        """The numbers of both ends of each of the user's rows."""

    @property
    def groups(self) -> Any:
        """The ids, if they have groups."""

    def edge_groups(self) -> Array:
        """Return the group of every edge, if ids have groups."""

    def column(self, label: Any) -> Any:
        """Read a column of the user's frame."""

    def row_edges(self) -> Array:
        """Find the position of each row's edge; -1 for a self loop."""

    def edge_values(self, reading: Reading) -> Any:
        """Read values of all edges."""

    def ids_of(self, ranks: Array) -> Any:
        """Look up ids."""

    def stage(self, name: str) -> AbstractContextManager[Report]:
        """Report a stage."""


def read(graph: WholeGraph, reading: Reading) -> tuple[Reading, list[Array]]:
    """Read values of all edges; return the resolved reading, and its arrays."""
    if reading.names_vertices:
        reading = reading.of_graph(graph.ids, graph.order)
    if reading.vertex_types is not None:
        return reading, reading.end_types(graph.csr.rows, graph.csr.columns)
    values: Array | None = None
    if (reader := reading.reader) is not None:
        check_label(reader.role, reading.label, graph.labels)
        column = graph.column(reading.label)
        groups = None
        if graph.groups is not None and reading.by_group:
            groups = graph.groups.group_of[graph.ends[0]]
        reading = reading.resolved([reader.profile(column, 0, graph.backend, groups)])
        values = reading.read(column, graph.backend, groups)
        del column, groups
    rows = _rows(graph, values, directed=reading.rule.directed)
    del values
    try:
        arrays = reading.collect([rows], graph.csr.m, graph.backend)
    except EdgeError as error:
        raise _name_edge(graph, error) from None
    largest = _largest(graph, reading, arrays) if reading.scaled else 0.0
    arrays = reading.formula(arrays, largest, graph.backend.xp)
    if reading.chosen is not None:
        arrays = reading.marked(arrays, graph.csr.rows, graph.csr.columns)
    return reading, arrays


def _largest(graph: WholeGraph, reading: Reading, arrays: list[Array]) -> Any:
    """Return the largest value of the graph, or of the group of each edge."""
    if graph.groups is None:
        return reading.largest(arrays)
    group, size = graph.edge_groups(), len(graph.groups.starts)
    return reading.largest_by_group(arrays, group, size, graph.backend.xp)[group]


def summed(graph: WholeGraph, quantities: Sequence[Sum]) -> list[Summed]:
    """Add up values of all edges, all of one reading."""
    edges = graph.edge_values(quantities[0].reading)
    return [_sum(graph, quantity.resolved(edges.reading), edges.arrays) for quantity in quantities]


def _sum(graph: WholeGraph, quantity: Sum, arrays: list[Array]) -> Summed:
    csr, engine = graph.csr, graph.engine
    if isinstance(quantity, EdgeSum):
        zeros = quantity.zeros(csr.n, graph.backend.xp)
        total = quantity.add_block(zeros, engine, csr, arrays, 1, (0, 0))
        return Summed(total, quantity.reading)
    sums = visit(graph, quantity, arrays)
    if quantity.per == "edge":  # a triangle is counted at two edges of each of its corners
        by_row, by_column = engine.sum_counts(csr, sums)
        sums = (by_row + by_column) // 2
    return Summed(sums, quantity.reading)


def visit(graph: WholeGraph, quantity: Quantity, arrays: list[Array]) -> Array:
    """Combine what a quantity makes of all triangles, from the arrays of its reading."""
    csr, engine = graph.csr, graph.engine
    values: Any = tuple(quantity.values(arrays, side) for side in range(3))
    if quantity.of_blocks:
        layout = engine.prepare_blocks(engine.to_csc(csr), csr, csr, WHOLE)
    else:
        layout, values = graph.layout, values[0]
    with graph.stage("summing over triangles") as report:
        return engine.visit(layout, quantity, values, on_progress=report.on_progress)


def _rows(graph: WholeGraph, values: Array | None, *, directed: bool) -> EdgeRows:
    """Find the edges of all rows, and leave self loops out."""
    edge, rank, reverse = graph.row_edges(), graph.order.rank, None

    def is_reverse(*ends: Array) -> Array:
        source, destination = (gather(rank, end) for end in ends)
        return source < destination

    if directed:
        reverse = orient.in_batches(is_reverse, graph.ends, "bool", graph.backend)
    inside = edge >= 0
    if sum64(inside) < len(inside):
        edge = edge[inside]
        reverse = None if reverse is None else reverse[inside]
        values = None if values is None else values[inside]
    return EdgeRows(edge, reverse, values).both_ways(graph.backend)


def _name_edge(graph: WholeGraph, error: EdgeError) -> ValueError:
    """Return the error with the ids of its edge."""
    csr, position = graph.csr, graph.backend.xp.asarray([error.position])
    larger = graph.backend.xp.searchsorted(csr.offsets, position, side="right") - 1
    return error.with_ids(*(graph.ids_of(r).iloc[0] for r in (larger, csr.columns[position])))
