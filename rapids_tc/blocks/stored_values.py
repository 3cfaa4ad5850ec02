"""Values of the edges of a graph out of core, read from its rows block by block."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from rapids_tc.blocks import geometry
from rapids_tc.frames.backend import gather
from rapids_tc.preparation.edge_columns import check_label
from rapids_tc.preparation.edge_values import EdgeError, EdgeRows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from rapids_tc._progress import Report
    from rapids_tc.blocks.distributed_values import Merged
    from rapids_tc.blocks.geometry import Block
    from rapids_tc.blocks.rows import Chunk, Rows
    from rapids_tc.blocks.store import StoredBlocks
    from rapids_tc.executors.protocol import Task
    from rapids_tc.frames.backend import Array, Backend
    from rapids_tc.preparation.csr import Csr
    from rapids_tc.preparation.edge_values import Reading
    from rapids_tc.preparation.orient import Order

RESERVED = 64  # bytes for the ends of the arrays of a block


class StoredGraph(Protocol):
    """What is asked of a graph out of core.

    Attributes
    ----------
    rank : array
        The rank of every number.
    """

    backend: Backend
    blocks: StoredBlocks
    engine: Any
    rank: Array

    @property
    def order(self) -> Order:
        """The maps from numbers to ranks and back."""

    @property
    def labels(self) -> list[Any]:
        """The column labels of the user's frame."""

    @property
    def rows(self) -> Rows:
        """The user's rows."""

    @property
    def groups(self) -> Any:
        """The ids, if they have groups."""

    def users_column(self, label: Any) -> Any:
        """Return a column of the user's frame."""

    def stage(self, name: str) -> AbstractContextManager[Report]:
        """Report a stage."""


def merged(graph: StoredGraph, reading: Reading) -> tuple[Reading, list[Task]]:
    """Read values of all edges; return the resolved reading, and what each block has: `Merged`."""
    backend, blocks, column = graph.backend, graph.blocks, None
    if (reader := reading.reader) is not None:
        check_label(reader.role, reading.label, graph.labels)
        column = graph.users_column(reading.label)
        parts = _parts(graph, reading, column)
        reading = reading.resolved(
            [reader.profile(part, at, backend, of) for at, part, of in parts]
        )
    bytes_of_edge = reading.rule.bytes * (1 + reading.scaled)
    blocks.executor.store.reserve(bytes_of_edge * blocks.edges + RESERVED * blocks.n**2)
    result: list[Task] = []
    with graph.stage("reading the values") as report:
        for at, block in blocks:
            rows = _rows_of_block(graph, reading, column, at, block)
            result.append(blocks.executor.keep(_merged(reading, rows, block.m, backend)))
            report.advance(len(result) / blocks.n**2)
    return reading, result


def _merged(reading: Reading, rows: Iterator[EdgeRows], edges: int, backend: Backend) -> Merged:
    try:
        arrays = reading.collect(rows, edges, backend)
    except EdgeError as error:
        return [], 0.0, error
    if reading.scaled:
        return arrays, reading.largest(arrays), None
    return reading.formula(arrays, 0.0, backend.xp), 0.0, None


def _rows_of_block(
    graph: StoredGraph, reading: Reading, column: Any, at: Block, block: Csr
) -> Iterator[EdgeRows]:
    """Yield the rows of the edges of a block, chunk by chunk; self loops are left out."""
    n, xp = graph.blocks.n, graph.backend.xp
    for chunk in graph.rows.chunks():
        source, destination = (gather(graph.rank, end) for end in chunk.ends)
        larger, smaller = xp.maximum(source, destination), xp.minimum(source, destination)
        row, u, v = geometry.rows_in_block(larger, smaller, n, at, xp)
        edge = graph.engine.find_edges(block, u, v)
        present = edge >= 0
        row, edge = row[present], edge[present]
        reverse = values = None
        if reading.rule.directed:
            reverse = source[row] < destination[row]
        if column is not None:
            values = _read(graph, reading, column, chunk)[row]
        yield EdgeRows(edge, reverse, values).both_ways(graph.backend)


def _parts(
    graph: StoredGraph, reading: Reading, column: Any
) -> Iterator[tuple[int, Any, Array | None]]:
    """Yield parts of a column: the first row, the values, and the groups of rows if needed."""
    if graph.groups is None or not reading.by_group:
        yield from ((at, part, None) for at, part in graph.rows.slices(column))
        return
    for chunk in graph.rows.chunks():
        part = graph.backend.to_working_series(column.iloc[chunk.first : chunk.end])
        yield chunk.first, part, graph.groups.group_of[chunk.ends[0]]


def _read(graph: StoredGraph, reading: Reading, column: Any, chunk: Chunk) -> Array:
    """Read the column of some rows."""
    part, groups = graph.backend.to_working_series(column.iloc[chunk.first : chunk.end]), None
    if graph.groups is not None and reading.by_group:
        groups = graph.groups.group_of[chunk.ends[0]]
    return reading.read(part, graph.backend, groups)
