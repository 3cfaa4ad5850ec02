"""Values of the edges of a graph out of core, read from its rows block by block."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from rapids_tc.blocks import distributed_values
from rapids_tc.preparation.edge_columns import check_label

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from rapids_tc._progress import Report
    from rapids_tc.blocks.block_work import RowsOfBlock
    from rapids_tc.blocks.geometry import Block
    from rapids_tc.blocks.rows import Chunk, Rows
    from rapids_tc.blocks.store import StoredBlocks
    from rapids_tc.executors.protocol import Task
    from rapids_tc.frames.backend import Array, Backend
    from rapids_tc.preparation.csr import Csr
    from rapids_tc.preparation.edge_values import EdgeRows, Reading
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

    def rows_of(
        self, at: Block, block: Csr, n: int, rank: Array
    ) -> Iterator[tuple[Chunk, RowsOfBlock]]:
        """Yield the rows whose edges are in a block, chunk by chunk."""

    def users_column(self, label: Any) -> Any:
        """Return a column of the user's frame."""

    def stage(self, name: str) -> AbstractContextManager[Report]:
        """Report a stage."""


def read_rows(graph: StoredGraph, reading: Reading) -> tuple[Reading, list[Task]]:
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
            merged = distributed_values.collected(reading, rows, block.m, backend)
            result.append(blocks.executor.keep(merged))
            report.advance(len(result) / blocks.n**2)
    return reading, result


def _rows_of_block(
    graph: StoredGraph, reading: Reading, column: Any, at: Block, block: Csr
) -> Iterator[EdgeRows]:
    """Yield the rows of the edges of a block, chunk by chunk; self loops are left out."""
    for chunk, rows in graph.rows_of(at, block, graph.blocks.n, graph.rank):
        values = []
        if column is not None:
            part, groups = _part(graph, reading, column, chunk)
            values.append(reading.read(part, graph.backend, groups))
        selected = distributed_values.select_rows(rows, values, reading)
        yield distributed_values.edge_rows(reading, selected, graph.backend)


def _parts(
    graph: StoredGraph, reading: Reading, column: Any
) -> Iterator[tuple[int, Any, Array | None]]:
    """Yield parts of a column: the first row, the values, and the groups of rows if needed."""
    if graph.groups is None or not reading.by_group:
        yield from ((at, part, None) for at, part in graph.rows.slices(column))
        return
    for chunk in graph.rows.chunks():
        yield chunk.first, *_part(graph, reading, column, chunk)


def _part(
    graph: StoredGraph, reading: Reading, column: Any, chunk: Chunk
) -> tuple[Any, Array | None]:
    """Return the values of a column in some rows, and the groups of the rows if needed."""
    part, groups = graph.backend.to_working_series(column.iloc[chunk.first : chunk.end]), None
    if graph.groups is not None and reading.by_group:
        groups = graph.groups.group_of[chunk.ends[0]]
    return part, groups
