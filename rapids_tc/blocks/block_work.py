"""What functions of blocks get on a worker: a block, the rows of a batch in it, or a job.

`on_block`, `on_rows` and `on_job` decode what has travelled, check it, and call such a function.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from rapids_tc.blocks import codec, geometry, grid
from rapids_tc.blocks.codec import require, require_below, require_length, require_values

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from types import ModuleType

    from rapids_tc.blocks.codec import EncodedBlock
    from rapids_tc.blocks.geometry import Block
    from rapids_tc.blocks.grid import BlockTask
    from rapids_tc.blocks.quantities import Within
    from rapids_tc.engines.protocol import Engine, Kind
    from rapids_tc.engines.quantity import Quantity
    from rapids_tc.frames.backend import Array, Backend
    from rapids_tc.preparation.csr import Csr

Ranks = list["Array"]  # of both ends of every row, uint32
Arrays = list[Any]  # of a kind, for some edges
SAMPLE = 2**25  # edges of a whole graph from whose cost its parts are cut, about equally large


# A block ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PlacedBlock:
    """Block (i, j) of the n x n blocks of a graph, whose ranks are below `vertices`."""

    csr: Csr
    at: Block
    n: int
    vertices: int
    engine: Engine
    xp: ModuleType

    @property
    def ends(self) -> tuple[Array, Array]:
        """The larger and the smaller rank of every edge; they may index values of all ranks."""
        return geometry.block_ends(self.csr, self.n, self.at)

    @property
    def columns(self) -> int:
        """The number of ranks with the residue of the columns."""
        return geometry.members(self.vertices, self.n, self.at[1])

    def select(self, stays: Array) -> EncodedBlock:
        """Return the block with the marked edges alone, encoded."""
        require_length(stays, self.csr.m, "marks of edges")
        return codec.rows(self.csr.select(stays), self.xp)

    def joined(self, values: list[Array], what: str) -> Array:
        """Join the slices of the values of the block's edges."""
        of_edges = self.xp.concatenate(values)
        require_length(of_edges, self.csr.m, f"{what} of edges")
        return of_edges

    def by_end(
        self, by_row: Array, by_column: Array, combine: Callable[..., Any] = operator.add
    ) -> Any:
        """Return values for the ranks of both residues; of a graph in one block, combine both."""
        by_ends = geometry.end_sums(self.vertices, self.n, self.at, by_row, by_column)
        return combine(*by_ends) if self.n == 1 else by_ends


def on_block(
    function: Callable[..., Any], rows: EncodedBlock, place: int, n: int, vertices: int, *args: Any,
    engine: Engine, xp: ModuleType,
) -> Any:  # fmt: skip
    """Decode the block at place i * n + j, and call a function of it."""
    block, at = codec.block(rows, place, n, vertices, xp)
    return function(PlacedBlock(block, at, n, vertices, engine, xp), *args)


# The rows of a batch in a block -------------------------------------------------------------------


@dataclass(frozen=True)
class RowsOfBlock:
    """The rows of a batch that lie in a block.

    Attributes
    ----------
    ranks : list of array
        Of both ends of all rows of the batch.
    rows : list of array
        The positions of the rows that lie in the block, if it is one of several.
    where : array
        Where the edge of each of these rows is in the block; -1 for self loops.
    edges : int
        The edges of the block.
    backend : Backend
    """

    ranks: Ranks
    rows: list[Array]
    where: Array
    edges: int
    backend: Backend

    @property
    def row(self) -> Array:
        """The positions of the rows that lie in the block."""
        return self.rows[0] if self.rows else self.backend.xp.arange(len(self.where))

    @property
    def inside(self) -> tuple[Array, Array]:
        """The positions of the rows in the block that are no self loop, and of their edges."""
        present = self.where >= 0
        return self.row[present], self.where[present]

    def are_reverse(self, row: Array) -> Array:
        """Return whether the sources of some rows, by their positions, have the smaller ranks."""
        source, destination = (end[row] for end in self.ranks)
        return source < destination

    def take(self, values: list[Array], arcs: int = 1) -> Array:
        """Return the values of the rows' edges, from slices for all edges; self loops get 0.

        If edges have two `arcs`, the values are those of arcs, in the order of `EdgeRows.arcs`.
        """
        xp, of_edges, where = self.backend.xp, self.backend.xp.concatenate(values), self.where
        require_length(of_edges, self.edges * arcs, "values of edges")
        with_loop = xp.concatenate([of_edges, xp.zeros(1, of_edges.dtype)])
        if arcs > 1:
            where = where + self.edges * self.are_reverse(self.row)
        return with_loop[where]


def on_rows(
    function: Callable[..., Any], ranks: Ranks, rows: EncodedBlock, place: int, n: int, *args: Any,
    engine: Engine, backend: Backend,
) -> Any:  # fmt: skip
    """Find the rows of a batch in a block, and call a function of these."""
    block, at = codec.csr(rows, backend.xp), divmod(place, n)
    return function(find_rows(ranks, block, at, n, engine=engine, backend=backend), *args)


def find_rows(
    ranks: Ranks, block: Csr, at: Block, n: int, *, engine: Engine, backend: Backend
) -> RowsOfBlock:
    """Find the rows, by the ranks of their ends, whose edges lie in block (i, j) of n x n."""
    larger, smaller = backend.xp.maximum(*ranks), backend.xp.minimum(*ranks)
    positions: list[Array] = []
    if n > 1:
        row, larger, smaller = geometry.rows_in_block(larger, smaller, n, at, backend.xp)
        positions = [row]
    require_below(larger, block.n, "ranks")
    where = engine.find_edges(block, larger, smaller)
    return RowsOfBlock(ranks, positions, where, block.m, backend)


# A job --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BlockJob:
    """Tasks on the same three blocks.

    Attributes
    ----------
    three : tuple of Csr
        The blocks uv, uw and vw: if n is 1, three times the graph.
    tasks : list of Task
    n : int
    method : str
        An intersection method.
    engine, xp
        What the worker counts with.
    """

    three: tuple[Csr, ...]
    tasks: list[BlockTask]
    n: int
    method: str
    engine: Engine
    xp: ModuleType

    @property
    def residues(self) -> tuple[int, int, int]:
        """The residues of u, v and w."""
        return self.tasks[0].residues

    def layouts(self, *, as_blocks: bool = False) -> Iterator[Any]:
        """Yield the layout of each task, one at a time; `as_blocks` makes even one block three."""
        as_blocks = as_blocks or self.n > 1
        engine, (uv, uw, vw) = self.engine, self.three
        parts, residues, bounds = self.tasks[0].parts, self.residues, [0]
        i, j, k = residues  # of a whole graph all are the same, and so are the blocks
        require(uv.n - (i > j) == uw.n - (i > k), f"blocks of {uv.n} and {uw.n} rows")
        require_below(uv.columns, vw.n - (j > k), "ranks")
        grouped = engine.to_csc(uv) if as_blocks else uv  # once for all tasks
        if parts > 1 and self.n > 1:
            probes = engine.probe_counts(grouped, uw, residues)
            bounds = grid.cuts(grid.cost(probes, uv, engine), parts)
        elif parts > 1:  # from some rows: the parts are nearly as even, and less is sorted
            some = grid.sampled(uv, 1 + uv.m // SAMPLE, self.xp)
            bounds = grid.cuts(grid.cost(engine.probe_counts(some), some, engine), parts)
        for task in self.tasks:
            pivot_range = (bounds[task.part], bounds[task.part + 1]) if parts > 1 else None
            if not as_blocks:
                yield engine.prepare(uv, pivot_range=pivot_range)
            else:
                yield engine.prepare_blocks(grouped, uw, vw, residues, pivot_range=pivot_range)

    def visit(self, quantity: Quantity, values: Any) -> list[Array]:
        """Combine what a quantity makes of the triangles of each layout: see `Engine.visit`.

        `values` are what it takes of uv, uw and vw. If each edge or vertex has a sum, the result is
        an array for each of the three, or one for a whole graph; else it is the total alone.
        """
        as_blocks = self.n > 1 or quantity.as_blocks
        taken = values if as_blocks else values[0]

        def visited(layout: Any) -> Any:
            return self.engine.visit(layout, quantity, taken)

        combine = partial(quantity.combined, xp=self.xp)
        found = self.combined(visited, combine, as_blocks=as_blocks)
        return [*map(quantity.of_edges, found)] if quantity.per == "edge" else found

    def combined(
        self, count: Callable[[Any], Any], combine: Callable[..., Array] = operator.add,
        *, as_blocks: bool = False,
    ) -> list[Array]:  # fmt: skip
        """Combine what `count` returns for each layout, array by array."""
        result: list[Array] = []
        for layout in self.layouts(as_blocks=as_blocks):
            found = count(layout)
            more = [*found] if isinstance(found, tuple) else [found]
            result = [*map(combine, result, more)] if result else more
        return result


def on_job(
    function: Callable[..., Any], encoded: list[EncodedBlock], tasks: list[BlockTask], n: int,
    method: str, *args: Any, engine: Engine, xp: ModuleType,
) -> Any:  # fmt: skip
    """Decode the blocks uv, uw and vw of a job, each once, and call a function of the job."""
    apart = {id(rows): rows for rows in encoded}
    decoded = {at: codec.csr(rows, xp) for at, rows in apart.items()}
    three = tuple(decoded[id(rows)] for rows in encoded)
    return function(BlockJob(three, tasks, n, method, engine, xp), *args)


# The triangles of a kind --------------------------------------------------------------------------
#
# A kind is read as one array, of codes, or as first, last and offsets of intervals, then perhaps
# the codes of these: see `rapids_tc.preparation.time_values.Intervals` and `entries.Entries`.


@dataclass(frozen=True)
class KindOfBlocks:
    """Which triangles count of blocks that are joined; their arrays are read when it is asked."""

    quantity: Within | None
    arrays: Sequence[Any]

    def joined(self, places: Callable[[], Iterable[Array]], edges: int, xp: Any) -> Kind | None:
        """Return the kind of a graph of so many edges; `places` are those of each block in it."""
        if self.quantity is None:
            return None
        arrays = join(lambda: zip(self.arrays, places(), strict=True), edges, xp)
        return kind_of(self.quantity, arrays, edges)

    def counts(self, layout: Any, kind: Kind | None, engine: Any) -> Array:
        """Count the triangles of every edge of a graph that are of its kind."""
        if self.quantity is None:
            return engine.edge_counts(layout)
        return engine.visit(layout, self.quantity, kind)


def kind_of(quantity: Within | None, arrays: Arrays | None, edges: int) -> Kind | None:
    """Return which triangles of so many edges count; None if all do."""
    if quantity is None or arrays is None:
        return None
    require_values(quantity.reading, arrays, edges)
    kind: Kind = quantity.values(arrays, 0)
    return kind


def select(arrays: Arrays | None, stays: Array, xp: Any) -> Arrays | None:
    """Return the arrays of the marked edges."""
    if arrays is None:
        return None
    if len(arrays) == 1:
        return [arrays[0][stays]]
    first, last, offsets, *codes = arrays
    inside = stays
    if len(offsets):
        inside = stays[_edges_of(offsets, len(first), xp)]
        offsets = _offsets(xp.diff(offsets)[stays], xp)
    return [first[inside], last[inside], offsets, *(each[inside] for each in codes)]


def join(pieces: Callable[[], Iterable[tuple[Arrays, Array]]], edges: int, xp: Any) -> Arrays:
    """Return the arrays of a graph of so many edges.

    `pieces` returns those of parts of it, with the places of their edges, and is called twice.
    """
    starts = None
    for arrays, place in pieces():
        if len(arrays) > 1 and len(arrays[2]):
            starts = xp.ones(edges, "int64") if starts is None else starts
            starts[place] = xp.diff(arrays[2])
    if starts is not None:
        starts = _offsets(starts, xp)
    columns: Arrays = []
    for arrays, place in pieces():
        of_piece = [arrays[0]] if len(arrays) == 1 else [*arrays[:2], *arrays[3:]]
        if not columns:
            size = edges if starts is None else int(starts[-1])
            columns = [xp.empty(size, column.dtype) for column in of_piece]
        where = place if starts is None else starts[place]
        if len(arrays) > 1 and len(offsets := arrays[2]):
            edge = _edges_of(offsets, len(arrays[0]), xp)
            where = where[edge] + xp.arange(len(edge)) - offsets[edge]
        for column, values in zip(columns, of_piece, strict=True):
            column[where] = values
    if len(columns) > 1:
        columns.insert(2, xp.zeros(0, "int64") if starts is None else starts)
    return columns


def _edges_of(offsets: Array, intervals: int, xp: Any) -> Array:
    """Return the edge of each of so many intervals."""
    return xp.searchsorted(offsets, xp.arange(intervals), side="right") - 1


def _offsets(lengths: Array, xp: Any) -> Array:
    """Return where lists of these lengths begin, one behind the other, and where the last ends."""
    offsets = xp.zeros(len(lengths) + 1, "int64")
    xp.cumsum(lengths, out=offsets[1:])
    return offsets


# Results ------------------------------------------------------------------------------------------


def add(several: list[Array]) -> Array:
    """Add several arrays up."""
    for array in several:
        require_length(array, len(several[0]), "sums")
    total = several[0].copy()
    for array in several[1:]:
        total += array
    return total


def largest(several: list[Array], *, xp: ModuleType) -> Array:
    """Return the largest entries of several arrays; a mark is set if any array sets it."""
    result = several[0].copy()
    for array in several[1:]:
        require_length(array, len(result), "values")
        xp.maximum(result, array, out=result)
    return result


COMBINE: dict[str, Callable[..., Any]] = {"add": add, "maximum": largest}  # by what a quantity says
