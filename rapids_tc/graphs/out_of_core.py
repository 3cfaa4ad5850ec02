"""A graph larger than the memory it may take: its blocks are counted one task after another.

The frame is read in chunks of rows: degrees first, then the keys of as many blocks at a time as
fit. A block is sorted once and stored outside: in pinned memory beside a GPU, in a temporary file
beside the CPU engine. From there on it is a graph in blocks as any other, whose tasks follow one
another in this process (`rapids_tc.graphs.spilled`); on a GPU the blocks of the next task are
copied while one counts (the streaming of TriCore: Hu, Liu, Huang, SC 2018).
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from functools import cached_property, partial, reduce
from itertools import pairwise
from operator import or_
from typing import TYPE_CHECKING, Any, cast

from rapids_tc._progress import at_end, report_stage
from rapids_tc.blocks import (
    block_values,
    codec,
    degree_codes,
    geometry,
    grid,
    levels,
    peeling,
    sorting,
    sums,
    time_slabs,
)
from rapids_tc.blocks.block_values import counting_only
from rapids_tc.blocks.block_work import PlacedBlock
from rapids_tc.blocks.row_lookup import ValuesOfRows
from rapids_tc.blocks.store import StoredBlocks, cut
from rapids_tc.blocks.task_triangles import TaskTriangles, Triangles
from rapids_tc.engines import registry
from rapids_tc.errors import require_unchanged
from rapids_tc.executors.spill import SpillExecutor, Unread
from rapids_tc.frames import device
from rapids_tc.frames.backend import Array, Backend, Frame, Series, all_below
from rapids_tc.frames.joining import frame_of, join_columns
from rapids_tc.graphs.edge_graph import EdgeArrays, EdgeGraph
from rapids_tc.graphs.spilled import SpilledGraph, numbered
from rapids_tc.plan import costs
from rapids_tc.plan.record import Needs, columns_of
from rapids_tc.preparation import sampling
from rapids_tc.preparation.orient import Order

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from rapids_tc.blocks.block_work import RowsOfBlock
    from rapids_tc.blocks.geometry import Block
    from rapids_tc.blocks.quantities import Sum, Summed, Within
    from rapids_tc.blocks.rows import Rows
    from rapids_tc.engines.quantity import Quantity
    from rapids_tc.executors.protocol import Task
    from rapids_tc.frames.chunks import Cut
    from rapids_tc.plan.budget import Budget
    from rapids_tc.plan.record import Column
    from rapids_tc.preparation.csr import Csr
    from rapids_tc.preparation.edge_values import Reading
    from rapids_tc.preparation.ids import Ids
    from rapids_tc.preparation.time_order import AsOf


RESERVED = 64  # bytes for the ends of the arrays of a block


class OutOfCoreGraph(EdgeGraph):
    """A graph in blocks outside of memory, made for one call.

    Parameters
    ----------
    frame, labels, rows, backend
        The user's frame, its id columns, its rows as numbers, and where work is done.
    budget : Budget
    method : str
        An intersection method.
    progress : bool or None
        Whether progress is shown.

    Attributes
    ----------
    n : int
        Blocks per side; or ranges of edges, if these are only sorted: then no block is cut.
    blocks : StoredBlocks
    spilled : SpilledGraph
        The same blocks as a graph that answers questions.
    """

    def __init__(
        self, frame: Frame, labels: Any, rows: Rows, backend: Backend, budget: Budget,
        method: str, *, progress: bool | None,
    ) -> None:  # fmt: skip
        self._frame, self.rows, self.backend, self.progress = frame, rows, backend, progress
        self.engine, self._limit = registry.load(backend.engine), budget.limit
        store = self._store = self.engine.block_store()
        at_end(store.close)
        with self.stage("numbering the ids"):
            self.ids = rows.number(store, budget.check_text)
        budget = replace(budget, text=self.ids.text)
        allowed = budget.allowed(rows.size, self.ids.size, self.ids.nbytes)
        executor = SpillExecutor(store, backend.xp.ndarray)
        self._gather, self._keep = executor.gather, executor.keep
        self.n = budget.ranges(rows.size, allowed) if budget.sorts else 1
        of_call = self.ids, executor, backend, labels, budget, method
        bounds = [rows.size * part // self.n for part in range(self.n + 1)]
        cuts = [*pairwise(bounds)] if budget.sorts else rows.cuts()
        self._numbered = numbered(rows, *of_call, cuts)
        self._plan = budget.slabs(backend.engine, rows.size, self.ids.size, allowed)
        if not budget.in_blocks:
            return
        with self.stage("ordering by degree"):
            self.rank, self._vertices = self._order_by_degree()
        with self.stage("cutting into blocks") as report:
            self.blocks = cut(
                rows, self.rank, self._vertices, engine=self.engine, executor=executor,
                budget=budget, allowed=allowed, xp=backend.xp, on_progress=report.advance,
            )  # fmt: skip
        self.n, self.spilled = self.blocks.n, self._spilled(self.blocks)

    def _spilled(self, blocks: StoredBlocks) -> SpilledGraph:
        return SpilledGraph.of(blocks, self._numbered, self.rank, self._stage)

    def _order_by_degree(self) -> tuple[Array, int]:
        """Return the rank of every number, and how many are vertices."""
        xp = self.backend.xp
        degree = xp.zeros(self.ids.size, "uint64")
        for ends in self.rows.chunks(self.engine.costs.row):
            part, _ = self.engine.degrees(*ends, self.ids.size)
            degree += part.view(f"uint{8 * part.itemsize}")
            del part
        order = degree_codes.by_degree(degree, xp)
        return order.rank, order.n

    # What functions of vertices ask --------------------------------------------------------------

    @cached_property
    def order(self) -> Order:  # type: ignore[override]
        """See `VertexStatistics`: made anew from the ranks, since tasks need nothing else of it."""
        return Order.of_ranks(self.rank, self._vertices, self.backend.xp)

    @property
    def n_vertices(self) -> int:
        """See `VertexStatistics`."""
        return self._vertices

    @property
    def n_edges(self) -> int:
        """See `VertexStatistics`."""
        return self.blocks.edges

    @property
    def size(self) -> int:
        """Rows of the frame."""
        return self.rows.size

    @cached_property
    def degrees(self) -> Array:
        """See `VertexStatistics`."""
        return self._by_rank(sums.degrees(self.spilled))

    def _by_rank(self, by_residue: list[Task]) -> Array:
        return grid.by_rank(self._gather(by_residue), self.backend.xp)

    @property
    def neighbor_degrees(self) -> Array:
        """See `VertexStatistics`."""
        return self._by_rank(sums.neighbor_degrees(self.spilled))

    @property
    def tie_squares(self) -> Array:
        """See `VertexStatistics`."""
        return self._by_rank(sums.tie_squares(self.spilled))

    @property
    def vertex_trussness(self) -> Array:
        """See `VertexStatistics`."""
        return self._by_rank(sums.largest_of_edges(self.spilled, self._by_edge("trussness")))

    def edge_blocks(self) -> tuple[int, Any]:
        """See `EdgeGraph`."""
        return self.n, self.blocks

    def valued_blocks(self, values: EdgeArrays) -> Any:
        """See `EdgeGraph`."""
        for place, (at, block) in enumerate(self.blocks):
            yield at, block, self._gather(values.arrays[place][0])

    def _by_edge(self, kind: str | Quantity) -> list[list[Task]]:
        """Submit the values of the edges of each block, in slices."""
        graph = self.spilled
        if kind == "trussness":
            with self.stage("peeling"):
                return peeling.of_every_edge(graph)
        if isinstance(kind, str):
            return sums.by_edge(graph)
        if kind.takes == "corners":
            return sums.third_sums(graph, kind)
        return block_values.visited(graph, kind, self._read(kind.reading))

    def _joined(self, slices: list[Task]) -> Array:
        [values] = self._gather(slices)
        return values

    def count(self, method: str) -> int:
        """See `VertexStatistics`."""
        return sums.total(self.spilled)

    def vertex_counts(self, method: str) -> Array:
        """See `VertexStatistics`."""
        return self._by_rank(sums.by_vertex(self.spilled))

    # What functions of edges ask -----------------------------------------------------------------

    def row_columns(self, asked: Sequence[str | Quantity], method: str) -> dict[str, Any]:
        """Compute columns aligned with the user's rows; self loops get 0."""
        xp, columns = self.backend.xp, columns_of(asked)
        of_blocks = self._values_of_blocks(columns)  # counts, before the columns take memory
        made = {name: xp.zeros(self.size, column.dtype) for name, column in columns.items()}
        for _, first, row, values in of_blocks:
            for name, found in values.items():
                made[name][first + row] = found
        adapter = self.backend.adapter
        return {name: adapter.column_like(self._frame, made[name], name) for name in made}

    def row_parts(self, asked: Sequence[str | Quantity], method: str) -> Iterator[dict[str, Any]]:
        """See `EdgeGraph`: what is found block by block is kept outside until all blocks are."""
        xp, columns, cuts = self.backend.xp, columns_of(asked), self.rows.cuts()
        keep, adapter = self._keep, self.backend.adapter
        kept: list[list[Task]] = [[] for _ in cuts]
        for batch, _, row, values in self._values_of_blocks(columns):
            kept[batch].append(keep([row, *values.values()]))
        for (first, last), pieces in zip(cuts, kept, strict=True):
            size = min(last, self.size) - first
            made = {name: xp.zeros(size, column.dtype) for name, column in columns.items()}
            for piece in pieces:
                row, *found = self._gather(piece)
                for name, values in zip(made, found, strict=True):
                    made[name][row] = values
            pieces.clear()
            yield {name: adapter.column_like(self._frame, made[name], name) for name in made}

    def as_of_columns(self, asked: AsOf) -> dict[str, Any]:
        """See `EdgeGraph`."""
        made = {name: self.backend.xp.empty(self.size, "int64") for name in asked.names}
        for (first, _), values in self._as_of(asked):
            for name, found in zip(asked.names, values, strict=True):
                made[name][first : first + len(found)] = found
        column_like = self.backend.adapter.column_like
        return {name: column_like(self._frame, made[name], name) for name in made}

    def as_of_parts(self, asked: AsOf) -> Iterator[dict[str, Any]]:
        """See `EdgeGraph`."""
        column_like = self.backend.adapter.column_like
        for _, values in self._as_of(asked):
            columns = zip(asked.names, values, strict=True)
            yield {name: column_like(self._frame, found, name) for name, found in columns}

    def _as_of(self, asked: AsOf) -> Iterator[tuple[Cut, Array]]:
        """Yield the rows of each batch with their columns: int64, (columns, rows)."""
        graph, [worker] = self._numbered, self._numbered.workers
        with self.stage("counting"):
            read = self._values_of_rows(asked.reading)
            of_batches = time_slabs.columns(graph, asked, read, self._plan, [worker.address])
        for at, task in zip(self.rows.cuts(), of_batches, strict=True):
            yield at, self._gather(task)

    def _values_of_blocks(
        self, columns: Mapping[str, Column]
    ) -> Iterator[tuple[int, int, Array, dict[str, Array]]]:
        """Count; then yield the values of rows, block by block and batch by batch.

        Each comes with the number of the batch, its first row, and the places of the rows in it.
        """
        kinds = list[str]()
        needs = reduce(or_, (column.needs for column in columns.values()))
        if needs & Needs.EDGE_COUNTS:
            kinds.append("triangles")
        if needs & Needs.TRUSSNESS:
            kinds.append("trussness")
        by_edge = {kind: self._by_edge(kind) for kind in kinds}
        quantities = (column.quantity for column in columns.values())
        by_edge |= {each.name: self._by_edge(each) for each in quantities if each is not None}
        degrees = self.degrees if needs & Needs.DEGREES else None
        return self._looked_up(columns, by_edge, degrees)

    def _looked_up(
        self, columns: Mapping[str, Column], by_edge: dict[str, list[list[Task]]],
        degrees: Array | None,
    ) -> Iterator[tuple[int, int, Array, dict[str, Array]]]:  # fmt: skip
        """See `_values_of_blocks`."""
        xp = self.backend.xp
        with self.stage("looking rows up") as report:
            for number, (at, block) in enumerate(self.blocks):
                of_edges = {kind: self._joined(tasks[number]) for kind, tasks in by_edge.items()}
                batches = self._rows_of(at, block, self.n, self.rank)
                for batch, (first, rows) in enumerate(batches):
                    row, edge = rows.inside
                    if any(column.by_arc for column in columns.values()):
                        edge = edge + block.m * rows.are_reverse(row)
                    of_rows = {kind: values[edge] for kind, values in of_edges.items()}
                    by_end = None if degrees is None else [degrees[end[row]] for end in rows.ranks]
                    values = ValuesOfRows(xp, of_rows, len(row), by_end)
                    found = {name: column.formula(values) for name, column in columns.items()}
                    yield batch, first, row, found
                report.advance((number + 1) / self.n**2)

    @property
    def rows_memory(self) -> int:
        """See `EdgeGraph`."""
        return self._limit // costs.CHUNK_PARTS // 2

    def simple_edges(self) -> Frame:
        """See `EdgeGraph`."""
        with self.stage("sorting the edges"):
            self._store.reserve(2 * costs.KEY * self.size)
            ranges, lengths = sorting.sorted_ranges(self._numbered)
            columns: dict[Any, Series] = {}
            ids = self.ids.with_shared_texts()
            for side, role in enumerate(("src", "dst")):
                parts = (self._named(keys, role, side, ids) for keys in ranges)
                columns |= join_columns(parts, sum(lengths), self.backend)
            return self.backend.adapter.frame(frame_of(columns, self.backend))

    def _named(self, keys: Task, role: str, side: int, ids: Ids) -> dict[Any, Series]:
        """Return the columns of the ids of one end of a range of edges."""
        numbers = sorting.ends_of(self._gather(keys))[side]
        require_unchanged(not all_below(numbers, ids.size))
        return ids.columns([role], [numbers])

    def truss_rows(self, k: int | None) -> Array:
        """See `EdgeGraph`: where the first row of each edge of the truss is, ascending."""
        graph, xp = self.spilled, self.backend.xp
        with self.stage("peeling"):
            marks = peeling.in_truss(graph, k, by_group=self.groups is not None)
        chosen = xp.zeros(self.size, bool)
        with self.stage("looking rows up"):
            select, of_blocks = PlacedBlock.select, [task for (task,) in marks]
            kept = graph.each_block("rows", select, of_blocks)
            truss = replace(self.blocks, stored=dict(zip(self.blocks.stored, kept, strict=True)))
            for at, block, n, rank in self._in_one(truss):
                seen = xp.zeros(block.m, bool)
                for first, rows in self._rows_of(at, block, n, rank) if block.m else ():
                    row, edge = rows.inside
                    new = ~seen[edge]
                    row, edge = row[new], edge[new]
                    chosen[first + row[geometry.is_first(edge, self.backend)]] = True
                    seen[edge] = True
        return xp.flatnonzero(chosen)

    def _in_one(self, blocks: StoredBlocks) -> Iterator[tuple[Block, Csr, int, Array]]:
        """Yield some blocks, joined to one if that fits, so that all rows are read only once.

        Each comes with the number of blocks per side, and the rank of every number.
        """
        if self.n == 1 or not self.spilled.fits(blocks.edges):
            yield from ((at, block, self.n, self.rank) for at, block in blocks)
            return
        xp, size = self.backend.xp, (blocks.edges, self._vertices, self.n)
        block, relabel = levels.join_blocks(blocks, *size, engine=self.engine, xp=xp)
        yield (0, 0), block, 1, relabel[xp.minimum(self.rank, self._vertices - 1)]

    def take_rows(self, positions: Any, limit: int | None) -> Frame:
        """See `EdgeGraph`: the limit is what the call may take, even if the user gave none."""
        return super().take_rows(positions, self.blocks.allowed)

    def sample_moments(self, colors: int, seed: int, method: str) -> list[tuple[int, float]]:
        """See `EdgeGraph`: the sample is blocks of their own, beside the blocks of the graph."""
        stored, xp = {}, self.backend.xp
        with self.stage("sampling the edges"):
            color = sampling.draw(self.ids.words, colors, seed)[self.order.number]
            for at, block in self.blocks:
                larger, smaller = geometry.block_ends(block, self.n, at)
                kept = block.select(color[larger] == color[smaller])
                stored[at] = self.blocks.executor.keep(codec.rows(kept, xp))
            del color
        sample = self._spilled(replace(self.blocks, stored=stored))
        if self.groups is not None:
            return sums.moments_by_group(sample)
        return sums.moments_of_slices(sample)

    def edge_values(self, reading: Reading) -> EdgeArrays:
        """See `EdgeGraph`: a task for each block returns its arrays."""
        return EdgeArrays(*self._read(reading))

    def _read(self, reading: Reading) -> block_values.Read:
        rows = None
        if reading.of_rows:
            rows = self._values_of_rows(reading)
            bytes_of_edge = reading.rule.bytes * (1 + reading.scaled)
            self._store.reserve(bytes_of_edge * self.n_edges + RESERVED * self.n**2)
        return block_values.read(self.spilled, reading, rows)

    def _values_of_rows(self, reading: Reading) -> block_values.Read:
        """Resolve a reading; return it, and the values of each batch, read when a task asks."""
        cuts, backend = self.rows.cuts(), self.backend
        if not reading.readers:
            return reading, [[] for _ in cuts]
        for reader in reading.readers:
            self.require_column(reader.role, reader.label)
        chunks = backend.adapter.chunks(self._frame, [each.label for each in reading.readers])
        by_group = self.groups is not None and reading.by_group

        def parts(cuts: list[Cut]) -> Iterator[tuple[list[Series], Array | None]]:
            """Yield the values of the rows of each cut, and the groups of these if needed."""
            for at, columns in zip(cuts, chunks.read(cuts), strict=True):
                groups = self.ids.group_of[self.rows.ends(*at)[0]] if by_group else None
                yield [*map(backend.to_working_series, columns)], groups

        def read(cuts: list[Cut]) -> Iterator[list[Array]]:
            return ([*resolved.read(values, backend, of)] for values, of in parts(cuts))

        def of_cut(at: Cut) -> list[Array]:
            return next(read([at]))

        firsts = (first for first, _ in cuts)
        profiles = [
            reading.profile(values, first, backend, of)
            for first, (values, of) in zip(firsts, parts(cuts), strict=True)
        ]
        resolved = reading.resolved(profiles)
        if chunks.outside:
            return resolved, [self._keep(values) for values in read(cuts)]
        return resolved, [Unread(partial(of_cut, at)) for at in cuts]

    def of_kind(self, quantity: Within) -> OutOfCoreGraph:
        """Return the graph of which only the triangles of a kind count: as many as a quantity."""
        other, values = copy(self), self._read(quantity.reading)
        other.spilled = cast("SpilledGraph", counting_only(self.spilled, quantity, values))
        return other

    def summed(self, *quantities: Sum) -> list[Summed]:
        """See `VertexStatistics`."""
        limited = [quantity.limited(self._limit) for quantity in quantities]
        by_name = block_values.summed(self.spilled, limited, self._read(limited[0].reading))
        found: list[Summed] = self._gather([by_name[quantity.name] for quantity in limited])
        return found

    @property
    def listing(self) -> StoredTriangles:
        """See `EdgeGraph`."""
        return StoredTriangles(self, self._frame)

    @property
    def _stage(self) -> Any:
        """A function that reports a stage. It does not hold the graph, which blocks outlive."""
        need = partial(_need, self.rows.size, self._limit)
        return partial(report_stage, progress=self.progress, need=need)

    def _need(self) -> str:
        return _need(self.rows.size, self._limit)

    # Rows ----------------------------------------------------------------------------------------

    def _rows_of(
        self, at: Block, block: Csr, n: int, rank: Array
    ) -> Iterator[tuple[int, RowsOfBlock]]:
        """Yield the first row of each batch, and its rows whose edges are in a block."""
        begins = (first for first, _ in self.rows.cuts())
        return zip(begins, self.spilled.rows_in(at, block, n, rank), strict=True)


def _need(rows: int, limit: int) -> str:
    """Say what to do if memory runs out."""
    return (
        f"{rows:,} rows were counted in blocks, since {limit:,} bytes were allowed: give a lower "
        "memory_limit="
    )


class StoredTriangles(Triangles):
    """The triangles of a graph out of core.

    Parameters
    ----------
    graph : OutOfCoreGraph
    frame : DataFrame
        The user's frame, where work is done.
    """

    def __init__(self, graph: OutOfCoreGraph, frame: Any) -> None:
        self._graph, self._frame = graph, frame

    @property
    def number(self) -> Array:
        """See `Triangles`."""
        return self._graph.order.number

    def by_group(self) -> Array:
        """See `Triangles`."""
        return self._graph.backend.host(self._graph.group_counts("auto"))

    def placed(self) -> AbstractContextManager[None]:
        """See `Triangles`."""
        return device.place(self._frame, self._graph.backend.engine)

    def counted(self) -> tuple[int, Iterator[TaskTriangles]]:
        """See `Triangles`."""
        return self._graph.count("auto"), self.tasks()

    def tasks(self) -> Iterator[TaskTriangles]:
        """See `Triangles`: blocks are loaded when a task needs them, and none in advance."""
        graph, laid_out = self._graph, self._graph.blocks.laid_out()
        while True:
            with graph.stage("counting"):
                if (part := next(laid_out, None)) is None:
                    return
                task, blocks, layout = part
                of_task = (layout, blocks, task, graph.blocks.n, graph.backend.xp)
                triangles = [TaskTriangles.count(graph.engine, *of_task)]
            del part, blocks, layout, of_task  # held by the caller alone, until it asks for more
            yield triangles.pop()

    def memory(self, limit: int | None, *, beside_task: bool) -> int:
        """See `Triangles`: blocks were cut so that a task takes half of the memory."""
        allowed = self._graph.blocks.allowed
        memory: int = self._graph.engine.memory()
        return min(memory, allowed // 2 if beside_task else allowed)

    def side_arrays(self, arrays: Any, triangles: TaskTriangles) -> Sequence[list[Array]]:
        """See `Triangles`."""
        n, gather = self._graph.blocks.n, self._graph.blocks.executor.gather
        return [gather(arrays[i * n + j]) for i, j in triangles.task.blocks]

    def edge_numbers(self, triangles: TaskTriangles) -> Sequence[int]:
        """See `Triangles`: edges are numbered block by block."""
        first = self._graph.blocks.first_edges
        return [first[at] for at in triangles.task.blocks]

    def edge_ends(self, numbers: Array) -> tuple[Array, Array]:
        """See `Triangles`."""
        blocks, xp = self._graph.blocks, self._graph.backend.xp
        first, u, v = blocks.first_edges, *(xp.empty(len(numbers), "int64") for _ in range(2))
        for at, block in blocks:
            bounds = xp.asarray([first[at], first[at] + block.m])
            begin, end = xp.searchsorted(numbers, bounds).tolist()
            if begin < end:
                where = numbers[begin:end] - first[at]
                larger, smaller = geometry.block_ends(block, blocks.n, at)
                u[begin:end], v[begin:end] = larger[where], smaller[where]
        return u, v
