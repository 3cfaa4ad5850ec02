"""Values of the edges of a graph out of core: read block by block, and kept beside the blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from rapids_tc.blocks import geometry
from rapids_tc.blocks.triangle_sums import EdgeSum, Summed
from rapids_tc.frames.backend import gather
from rapids_tc.preparation.edge_values import EdgeError, EdgeRows
from rapids_tc.preparation.edges import check_label

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from rapids_tc._progress import Report
    from rapids_tc.blocks.geometry import Block
    from rapids_tc.blocks.grid import Task
    from rapids_tc.blocks.rows import Chunk, Rows
    from rapids_tc.blocks.store import Found, StoredBlocks
    from rapids_tc.blocks.triangle_sums import Sum
    from rapids_tc.frames.backend import Array, Backend
    from rapids_tc.preparation.csr import Csr
    from rapids_tc.preparation.edge_values import Reading
    from rapids_tc.preparation.numbering import Ids
    from rapids_tc.preparation.orient import Order

Values = dict[tuple[int, int], list[Any]]  # by block, as the store keeps them

RESERVED = 64  # bytes for the ends of the arrays of a block


class StoredGraph(Protocol):
    """What values of edges need of a graph out of core."""

    backend: Backend
    blocks: StoredBlocks
    engine: Any
    ids: Ids
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
    def n_vertices(self) -> int:
        """The number of vertices."""

    @property
    def groups(self) -> Any:
        """The ids, if they have groups."""

    def users_column(self, label: Any) -> Any:
        """Return a column of the user's frame."""

    def stage(self, name: str) -> AbstractContextManager[Report]:
        """Report a stage."""

    def ids_of(self, ranks: Array) -> Any:
        """Look up ids."""

    def run(self, found: Found, of: StoredBlocks | None = None) -> None:
        """Count every task."""


def read(graph: StoredGraph, reading: Reading) -> tuple[Reading, Values]:
    """Read values of all edges; return the resolved reading, and the arrays of each block."""
    backend, blocks, column = graph.backend, graph.blocks, None
    if reading.names_vertices:
        reading = reading.of_graph(graph.ids, graph.order)
    if reading.vertex_types is not None:
        return reading, _of_vertices(graph, reading)
    if (reader := reading.reader) is not None:
        check_label(reader.role, reading.label, graph.labels)
        column = graph.users_column(reading.label)
        parts = _parts(graph, reading, column)
        reading = reading.resolved(
            [reader.profile(part, at, backend, of) for at, part, of in parts]
        )
    bytes_of_edge = reading.rule.bytes * (1 + reading.scaled)
    blocks.store.reserve(bytes_of_edge * blocks.edges + RESERVED * blocks.n**2)
    values: Values = {}
    scale = _Scale(graph, reading)
    with graph.stage("reading the values") as report:
        for number, (at, block) in enumerate(blocks, 1):
            rows = _rows_of_block(graph, reading, column, at, block)
            try:
                arrays = reading.collect(rows, block.m, backend)
            except EdgeError as error:
                raise _name_edge(graph, error, at, block) from None
            if reading.scaled:
                scale.add(arrays, at, block)
            else:
                arrays = reading.formula(arrays, 0.0, backend.xp)
            if reading.chosen is not None:
                arrays = reading.marked(arrays, *geometry.block_ends(block, blocks.n, at))
            values[at] = [blocks.store.store(array) for array in arrays]
            blocks.store.synchronize()
            report.advance(number / blocks.n**2)
    if reading.scaled:
        values = {at: _scale(graph, reading, values[at], largest) for at, largest in scale.of_all()}
    return reading, values


class _Scale:
    """The largest value of all edges, or of each group, found block by block."""

    def __init__(self, graph: StoredGraph, reading: Reading) -> None:
        self._graph, self._reading, xp = graph, reading, graph.backend.xp
        self._groups = graph.groups if reading.scaled else None
        self._largest: Any = 0.0
        if self._groups is not None:
            self._largest = xp.zeros(len(self._groups.starts), "float64")
            self._by_rank = self._groups.group_of[graph.order.number]

    def add(self, arrays: list[Array], at: Block, block: Csr) -> None:
        """Add the values of a block."""
        reading, xp = self._reading, self._graph.backend.xp
        if self._groups is None:
            self._largest = max(self._largest, reading.largest(arrays))
            return
        of_block = reading.largest_by_group(arrays, self._group(at, block), len(self._largest), xp)
        self._largest = xp.maximum(self._largest, of_block)

    def of_all(self) -> Iterator[tuple[Block, Any]]:
        """Yield what a formula gets for the edges of each block, once all blocks are added."""
        if self._groups is None:
            yield from ((at, self._largest) for at in self._graph.blocks.stored)
            return
        for at, block in self._graph.blocks:
            yield at, self._largest[self._group(at, block)]

    def _group(self, at: Block, block: Csr) -> Array:
        """Return the group of each edge of a block."""
        larger, _ = geometry.block_ends(block, self._graph.blocks.n, at)
        group: Array = self._by_rank[larger]
        return group


def summed(graph: StoredGraph, quantities: Sequence[Sum]) -> list[Summed]:
    """Add up values of all edges, all of one reading."""
    reading, values = read(graph, quantities[0].reading)
    return [_sum(graph, quantity.resolved(reading), values) for quantity in quantities]


def _sum(graph: StoredGraph, quantity: Sum, values: Values) -> Summed:
    load = graph.blocks.store.load
    total, n = quantity.zeros(graph.n_vertices, graph.backend.xp), graph.blocks.n
    if isinstance(quantity, EdgeSum):
        for at, block in graph.blocks:
            arrays = [load(array) for array in values[at]]
            total = quantity.add_block(total, graph.engine, block, arrays, n, at)
        return Summed(total, quantity.reading)

    def found(task: Task, blocks: list[Csr], layout: Any) -> None:
        nonlocal total
        arrays = load_sides(graph, values, task)
        total = quantity.add_task(total, graph.engine, layout, arrays, n, task.residues, blocks)

    graph.run(found)
    return Summed(total, quantity.reading)


def load_sides(graph: StoredGraph, values: Values, task: Task) -> list[Any]:
    """Load what a reading has of a task: of each of its arrays, the three for uv, uw and vw."""
    sides = zip(*(values[at] for at in task.blocks), strict=True)
    return [tuple(map(graph.blocks.store.load, three)) for three in sides]


def _of_vertices(graph: StoredGraph, reading: Reading) -> Values:
    """Store the types of both ends of the edges of every block."""
    blocks, values = graph.blocks, {}
    for at, block in blocks:
        arrays = reading.end_types(*geometry.block_ends(block, blocks.n, at))
        values[at] = [blocks.store.store(array) for array in arrays]
        blocks.store.synchronize()
    return values


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


def _scale(graph: StoredGraph, reading: Reading, stored: list[Any], largest: Any) -> list[Any]:
    """Store what the formula makes of the arrays of a block."""
    store = graph.blocks.store
    arrays = reading.formula([store.load(array) for array in stored], largest, graph.backend.xp)
    result = [store.store(array) for array in arrays]
    store.synchronize()
    return result


def _name_edge(graph: StoredGraph, error: EdgeError, at: Block, block: Csr) -> ValueError:
    """Return the error with the ids of its edge."""
    ends = geometry.block_ends(block, graph.blocks.n, at)
    chosen = slice(error.position, error.position + 1)
    return error.with_ids(*(graph.ids_of(end[chosen]).iloc[0] for end in ends))
