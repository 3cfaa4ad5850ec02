"""The graph of a partitioned frame, which answers analytics by the tasks of an executor.

The body of an analytic runs in the process that called. Each of its questions to the graph becomes
tasks, and columns of rows stay on the workers. If an analytic needs sums over all blocks with a
value per vertex, and answers with a value or a row per vertex, its body runs on a worker instead.
"""

from __future__ import annotations

import operator
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from inspect import Parameter
from typing import TYPE_CHECKING, Any

from rapids_tc._arguments import checked_limit
from rapids_tc._progress import check_progress
from rapids_tc.blocks import (
    block_values,
    distributed_tallies,
    grid,
    peeling,
    row_lookup,
    sorting,
    squares,
    sums,
    time_slabs,
)
from rapids_tc.blocks.block_map import Blocked, Numbered, TaskMap
from rapids_tc.blocks.block_values import counting_only
from rapids_tc.blocks.context import WorkerContext
from rapids_tc.blocks.distributed_triangles import DistributedTriangles
from rapids_tc.errors import KernelError
from rapids_tc.executors.protocol import ReadAgainError
from rapids_tc.frames.adapters import CudfAdapter, FrameAdapter, PandasAdapter, root
from rapids_tc.frames.backend import check_engine, resolve_engine
from rapids_tc.graphs import one_worker, stages, vertex_answers
from rapids_tc.graphs.edge_graph import IS_GRAPH, check_prepared
from rapids_tc.graphs.kept import WORK, KeptGraph, kept_of
from rapids_tc.plan import cluster, costs, needs
from rapids_tc.plan.answers import require_fields
from rapids_tc.plan.block_layout import forced_layout
from rapids_tc.plan.record import (
    GRAPH,
    Analytic,
    Needs,
    Options,
    OwnOptions,
    Result,
    Work,
    columns_of,
    named_columns,
)
from rapids_tc.plan.slabs import SlabPlan
from rapids_tc.preparation.edge_columns import EdgeColumns, check_label, edge_columns
from rapids_tc.preparation.group_values import refuse_groups
from rapids_tc.preparation.ids import Ids
from rapids_tc.preparation.triangle_kinds import Triangles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rapids_tc.blocks.quantities import Within
    from rapids_tc.engines.quantity import Quantity
    from rapids_tc.executors.protocol import Executor, Task
    from rapids_tc.executors.registry import ExecutorFactory
    from rapids_tc.frames.backend import Frame
    from rapids_tc.preparation.time_order import AsOf

ANSWERED_BY_WORKER = (Result.VALUE, Result.TABLE, Result.VERTICES, Result.TIMES, Result.TRIANGLES)
CALLS = 3  # of one question, if rows are read again and differ
# Values per vertex: the body runs on a worker.
BY_SUMS = Needs.DEGREES | Needs.VERTEX_COUNTS | Needs.TRUSSNESS


def answer(
    factory: ExecutorFactory, record: Analytic, edges: Any, options: Options, own: OwnOptions,
    call: one_worker.Answer,
) -> Any:  # fmt: skip
    """Answer a call of an analytic on a partitioned frame.

    `call` answers for a frame of one machine. If rows come in another order after a worker was
    lost, as behind a shuffle of Spark, the call begins again.
    """
    calls = 1
    while True:
        try:
            return _answer(factory, record, edges, options, own, call)
        except ReadAgainError:
            if calls == CALLS or kept_of(edges) is not None:
                raise
            calls += 1


def _answer(
    factory: ExecutorFactory, record: Analytic, edges: Any, options: Options, own: OwnOptions,
    call: one_worker.Answer,
) -> Any:  # fmt: skip
    executor, kept = factory(edges, check_progress(options.progress)), kept_of(edges)
    unchecked, own = own, record.check(own)
    by = options.by if kept is None else kept.options.by
    if (error := record.local({**own, "by": by}, executor.kind)) is not None:
        raise error
    if kept is None:
        options = replace(options, engine=options.engine or executor.engine)
        adapter, labels = open_partitions(executor, record, options, own)
    else:
        check_prepared(kept, record, options, own)
        if options.memory_limit is not None:
            checked_limit(options.memory_limit)
        adapter, labels = kept.adapter, kept.id_columns
        options = replace(options, engine=kept.options.engine, by=by)
    with executor:
        graph = PartitionedGraph(executor, adapter, labels, record, options, own, kept)
        if kept is None and (answered := graph.answer_by_one(call, unchecked)):
            return executor.small_table(answered[0])
        result = graph.answer(record.arguments(options, own))
    return executor.small_table(result) if record.result in one_worker.VALUES else result


def prepare(factory: ExecutorFactory, edges: Any, vertices: Any, options: Options) -> KeptGraph:
    """Make a graph of a partitioned frame that outlives the call.

    Raises
    ------
    TypeError
        `edges` is a graph already, or `vertices` are given.
    """
    executor = factory(edges, check_progress(options.progress))
    options = replace(options, engine=options.engine or executor.engine)
    if kept_of(edges) is not None:
        raise TypeError(IS_GRAPH)
    if vertices is not None:
        raise TypeError(
            f"vertices= of a {executor.kind}: append a row to it for each isolated vertex, whose "
            "two ends are the vertex; such a self loop is no edge"
        )
    adapter, labels = open_partitions(executor, GRAPH, options, {})
    kept = KeptGraph(executor, adapter, labels, options)
    with executor:
        kept.prepare(PartitionedGraph(executor, adapter, labels, GRAPH, options, {}).begin(kept))
    return kept


@dataclass(frozen=True)
class _Columns:
    """The values that make columns of the user's rows, as tasks.

    Attributes
    ----------
    graph : Blocked
    asked : list of str or Quantity
    by_edge : dict of str to list of list of Task
        By kind of value ("triangles", "trussness", or the name of a sum): for each batch a list of
        tasks, one per block, that return the values of the rows.
    degrees : list of Task or None
        For each batch the degrees of both ends of its rows.
    """

    graph: Blocked
    asked: list[str | Quantity]
    by_edge: dict[str, list[list[Task]]]
    degrees: list[Task | None]

    @property
    def dtypes(self) -> dict[str, str]:
        """The dtype of each column."""
        return {name: column.dtype for name, column in columns_of(self.asked).items()}

    def added(self) -> list[Task]:
        """Submit the user's rows with the columns, by batch."""
        graph = self.graph
        by_edge = [
            {kind: values[i] for kind, values in self.by_edge.items()}
            for i in range(len(graph.batches))
        ]
        rows = *graph.to_read, graph.ranks, self.degrees, by_edge
        return graph.each_batch("columns", row_lookup.columns, *rows, more=(self.asked,))


@dataclass(frozen=True)
class _AsOfColumns:
    """Columns of rows as of their time, as tasks: the values of the rows of each batch."""

    graph: Numbered
    names: tuple[str, ...]
    by_batch: list[Task]

    @property
    def dtypes(self) -> dict[str, str]:
        """The dtype of each column."""
        return dict.fromkeys(self.names, "int64")

    def added(self) -> list[Task]:
        """Submit the user's rows with the columns, by batch."""
        graph = self.graph
        rows = *graph.to_read, self.by_batch
        return graph.each_batch("columns", time_slabs.add, *rows, more=(self.names,))


class PartitionedGraph:
    """The graph of a partitioned frame, for one call of an analytic.

    Parameters
    ----------
    executor : Executor
        The executor of the frame, inside its ``with`` block.
    adapter : FrameAdapter
        The adapter of the partitions.
    id_columns : EdgeColumns
    record, options, own
        The analytic, and the shared and own options of the call.
    kept : KeptGraph, optional
        The prepared graph that answers the call.
    """

    def __init__(
        self,
        executor: Executor,
        adapter: FrameAdapter,
        id_columns: EdgeColumns,
        record: Analytic,
        options: Options,
        own: OwnOptions,
        kept: KeptGraph | None = None,
    ) -> None:
        self.executor, self.adapter, self.id_columns = executor, adapter, id_columns
        self._record, self._options, self._own, self._kept = record, options, own, kept
        self.work = record.work_of(own, grouped=options.by is not None)
        self._known: dict[Any, Any] = {}  # answers that a kept graph keeps after the call
        self._kind: Within | None = None  # which triangles count; None stands for all
        readers = (quantity.reading.readers for quantity in record.sums(own))
        every = record.result in one_worker.FRAMES or (kept is not None and kept.whole_rows)
        self._source = FrameSource(
            executor, adapter, id_columns, options.engine,
            [reader for several in readers for reader in several], every=every,
        )  # fmt: skip

    def answer(self, arguments: OwnOptions) -> Any:
        """Answer the call by the tasks of all workers."""
        record, work = self._record, self.work
        squares_of_vertices = Needs.SQUARES in work.needs and work.result is Result.VERTICES
        added_up = record.sums(self._own) and not lists(work)
        by_sums = squares_of_vertices or work.needs & BY_SUMS or added_up
        try:
            if by_sums and work.result in ANSWERED_BY_WORKER:
                result = self.answer_by_sums(record, arguments)
            else:
                result = record.body(self, **arguments)
        except KernelError:
            if self._kept is not None:
                self._kept.forget()
            raise
        if self._kept is not None:
            self._kept.keep(self._known)
        return result

    @cached_property
    def _partitions(self) -> list[Task]:
        """The partitions, evaluated, with the columns that the call reads."""
        return self._source.evaluate()

    @cached_property
    def _context(self) -> WorkerContext:
        """The first argument of every task."""
        threads = min(worker.threads for worker in self.executor.workers())
        return WorkerContext(self.adapter, self.id_columns, self._options.engine, threads)

    def begin(self, kept: KeptGraph) -> Numbered:
        """Assign numbers to the ids of the partitions of a graph that is to be kept.

        Dask may read several files as one partition. Which files depends on the columns that are
        read: then every call reads all columns, so that partitions stay the same.
        """
        kept.whole_rows = len(self._partitions) != self.executor.npartitions
        if kept.whole_rows:
            del self._partitions
            self._source = replace(self._source, every=True)
        return self.with_ids()

    def with_ids(self) -> Numbered:
        """Assign numbers to the ids of the partitions."""
        executor, limit = self.executor, self._options.limit
        partitions, workers = self._partitions, executor.workers()
        del self._partitions  # which are to be let go with the rows
        tasks = TaskMap(
            executor=executor, context=self._context, workers=workers,
            batches=executor.batches(partitions, workers, limit), name=self._record.name,
            method=self._options.method,
        )  # fmt: skip
        return stages.number_ids(tasks, limit)

    def numbered(self) -> Numbered:
        """Look up the numbers of all rows, or take the graph that is kept."""
        if self._kept is None:
            return stages.number_rows(self.with_ids())
        asked = self.executor, self._record.name, self.work, self._options, self._source.evaluate
        return self._kept.call(*asked)

    def blocked(self, *, rows: bool = False) -> Blocked:
        """Return the blocks of the graph; with `rows`, the ranks of the rows, too."""
        graph = self.numbered()
        if not isinstance(graph, Blocked):
            graph = stages.cut(graph, self.work)
        elif rows:
            graph = replace(graph, ranks=stages.rank_rows(graph, graph.orders, graph.ranked))
        if self._kind is not None:
            values = block_values.read(graph, self._kind.reading)
            graph = counting_only(graph, self._kind, values)
        elif self._options.method == "auto":  # a method that is named is run, whatever is known
            self._known = graph.known
        return graph if rows else graph.without_rows()

    def of_kind(self, quantity: Within) -> PartitionedGraph:
        """Return the graph of which only the triangles of a kind count: as many as a quantity."""
        other = copy(self)
        other._kind = quantity
        return other

    def answer_by_one(self, call: one_worker.Answer, own: OwnOptions) -> tuple[Any] | None:
        """Have one worker answer the call, if the frame is small; return None if no worker can."""
        executor, record = self.executor, self._record
        asked = record, self._options, self._own, self.id_columns, executor.meta
        if not one_worker.serves(*asked):
            return None
        partitions, context = self._partitions, self._context
        own = in_process(executor, own)
        arguments = call, record, self._options, own, partitions
        return one_worker.ask(executor, context, *arguments)

    # What analytics ask --------------------------------------------------------------------------

    @property
    def groups(self) -> EdgeColumns | None:
        """The id columns, if some of them are of groups."""
        return self.id_columns if self.id_columns.groups else None

    def group_frame(self, columns: dict[str, Any]) -> Frame:
        """Make a frame of values by group on a worker, sorted by group."""
        graph = self._rows
        reply = graph.submit("answer", Ids.group_frame, graph.ids, columns)
        return vertex_answers.split(graph, reply)

    @property
    def labels(self) -> list[Any]:
        """The column labels of the user's frame."""
        return self.adapter.labels(self.executor.meta)

    def count(self, method: str) -> int:
        """Count the triangles of the graph."""
        return sums.total(self.blocked())

    def squares(self, per: str) -> tuple[int, None]:
        """Count the squares of the graph; those of vertices and edges stay on the workers."""
        return squares.total(self.blocked()), None

    def sample_moments(self, colors: int, seed: int, method: str) -> list[tuple[int, float]]:
        """Count a sample of the edges, and return the `sampling.moments` of each part of it."""
        sample = stages.sample(self.numbered(), colors, seed)
        graph = self._rows = stages.cut(sample, self.work)
        return sums.moments_by_group(graph) if self.groups else sums.moments_of_slices(graph)

    def answer_by_sums(self, record: Analytic, own: OwnOptions) -> Any:
        """Answer an analytic of vertices, or of the whole graph, from sums by vertex."""
        own = in_process(self.executor, own)
        needs, total, asked = self.work.needs, None, record.sums(own)
        rows = any(quantity.reading.of_rows for quantity in asked)
        graph, summed, tally = distributed_tallies.summed(
            self.blocked(rows=rows), asked, self.groups
        )
        by_residue = {"degrees": sums.degrees(graph)}
        if needs & Needs.NEIGHBOR_DEGREES:
            by_residue["neighbor_degrees"] = sums.neighbor_degrees(graph)
        if needs & Needs.EDGE_SUMS:
            by_residue["tie_squares"] = sums.tie_squares(graph)
        if needs & Needs.TRUSSNESS:
            of_edges = peeling.of_every_edge(graph)
            by_residue["vertex_trussness"] = sums.largest_of_edges(graph, of_edges)
        if needs & Needs.SQUARES:
            by_residue["squares"] = squares.by_vertex(graph)
        if needs & Needs.VERTEX_COUNTS:
            by_residue["sums"] = sums.by_vertex(graph)
        elif needs & Needs.TOTAL:
            total = sums.total(graph)
        return vertex_answers.answer(
            graph, self.work, record.name, own, by_residue, total, summed, tally
        )

    def row_columns(self, columns: Sequence[str | Quantity], method: str) -> _Columns:
        """Compute the values that make columns of the user's rows; self loops get 0."""
        graph = self.blocked(rows=True)
        asked, by_edge = self.work.needs, {}
        counts = sums.by_edge(graph) if asked & (Needs.EDGE_COUNTS | Needs.TRUSSNESS) else []
        if asked & Needs.EDGE_COUNTS:
            by_edge["triangles"] = counts
        if asked & Needs.TRUSSNESS:
            by_edge["trussness"] = peeling.of_every_edge(graph)
        if asked & Needs.SQUARES:
            by_edge["squares"] = squares.by_edge(graph)
        of_ends = [None] * len(graph.batches)
        for column in columns_of(columns).values():
            if (quantity := column.quantity) is not None:
                by_edge[quantity.name] = block_values.by_edge(graph, quantity)
        if asked & Needs.DEGREES:
            of_ends = sums.of_row_ends(graph, sums.degrees(graph))
        arcs = {name for name, column in columns_of(columns).items() if column.by_arc}
        by_row = {
            kind: row_lookup.by_row(graph, values, by_arc=kind in arcs)
            for kind, values in by_edge.items()
        }
        return _Columns(graph, list(columns), by_row, of_ends)

    def as_of_columns(self, asked: AsOf) -> _AsOfColumns:
        """Compute the columns of the user's rows as of their time."""
        graph = self.numbered()
        read, on = block_values.read_rows(graph, asked.reading), stages.machines_that_count(graph)
        of_call = self._record.name, self.work, graph.engine, graph.size, graph.free
        layout = forced_layout.get()
        plan = SlabPlan(*of_call, layout.n if layout else len(on))
        columns = time_slabs.columns(graph, asked, read, plan, on)
        return _AsOfColumns(graph, asked.names, columns)

    def assign(self, columns: _Columns | _AsOfColumns) -> Frame:
        """Append columns to the user's frame."""
        meta = one_worker.meta_of_dtypes(self.adapter, self.executor.meta, columns.dtypes)
        return self._aligned(columns.graph, columns.added(), meta)

    def truss_rows(self, k: int | None) -> list[list[Task]]:
        """Find the first row of each edge of the k-truss: for each batch, a task per block."""
        graph = self._rows = self.blocked(rows=True)
        return row_lookup.first_rows(
            graph, peeling.in_truss(graph, k, by_group=self.groups is not None)
        )

    def take_rows(self, rows: list[list[Task]], limit: int | None) -> Frame:
        """Select the user's rows that `truss_rows` has found, part by part on their workers."""
        graph = self._rows
        made = graph.each_batch("rows", row_lookup.take, *graph.to_read, rows)
        return self._aligned(graph, made, self.executor.meta)

    def listing_of(self, vertices: Any, kind: Within | None) -> DistributedTriangles:
        """Return the triangles at some vertices, or of a kind, to be listed by the workers."""
        graph = self.blocked(rows=kind is not None and kind.reading.of_rows)
        return DistributedTriangles(graph, self.executor.in_process(vertices), kind)

    def simple_edges(self) -> Frame:
        """List each edge once as ids, src < dst, sorted."""
        graph = self.numbered()
        frames, lengths = sorting.simple_edges(graph)
        stages.log.info(
            "%s: %d rows in %d partitions on %d workers; %d ranges of edges",
            self._record.name, sum(map(sum, graph.rows)), sum(map(len, graph.rows)),
            len(graph.workers), len(frames),
        )  # fmt: skip
        return graph.to_frame("edges", frames, lengths)

    # Frames of the answer ------------------------------------------------------------------------

    def _aligned(self, graph: TaskMap, made: list[Task], meta: Frame) -> Frame:
        """Join the partitions that all batches return, in the order of the user's partitions."""
        frames: dict[int, Task] = {}
        for batch, several in zip(graph.batches, made, strict=True):
            for i, place in enumerate(batch.places):
                own = graph.submit("rows", operator.getitem, several, i, on=batch.worker)
                frames[place] = own
        return self.executor.to_frame([frames[place] for place in sorted(frames)], meta, None)


def lists(work: Work) -> bool:
    """Return whether a call lists triangles, and does not only count them one by one."""
    return work.result is Result.TRIANGLES and not work.needs & Needs.TYPE_COUNTS


def in_process(executor: Executor, own: OwnOptions) -> OwnOptions:
    """Return the own options of a call, what of them is partitioned computed in this process."""
    own = {name: executor.in_process(value) for name, value in own.items()}
    where = own.get("where")
    if isinstance(where, Triangles):
        own["where"] = replace(where, vertex_type=executor.in_process(where.vertex_type))
    return own


# What a call reads of the frame -------------------------------------------------------------------


def open_partitions(
    executor: Executor, record: Analytic, options: Options, own: OwnOptions
) -> tuple[FrameAdapter, EdgeColumns]:
    """Check the options of a call; return the adapter of the partitions, and the id columns."""
    adapter = CudfAdapter() if root(executor.meta) == "cudf" else PandasAdapter()
    check_engine(options.engine)
    needs.require_method(options.method, record, resolve_engine(adapter, options.engine))
    if options.memory_limit is not None:
        checked_limit(options.memory_limit)
    if options.by is not None:
        refuse_groups(options.by, executor.kind)
    ids = options.source, options.destination, options.by
    labels = edge_columns(adapter.labels(executor.meta), *ids, named_columns(own))
    require_fields(record, own, labels)
    return adapter, labels


@dataclass(frozen=True)
class FrameSource:
    """What a call reads of a partitioned frame.

    Attributes
    ----------
    executor, adapter, labels
        See `rapids_tc.graphs.partitioned.PartitionedGraph`.
    engine : str or None
    readers : list
        The readers of the columns of values.
    every : bool
        Whether all columns are read.
    """

    executor: Executor
    adapter: FrameAdapter
    labels: EdgeColumns
    engine: str | None
    readers: list[Any]
    every: bool

    def evaluate(self) -> list[Task]:
        """Evaluate the partitions."""
        self.executor.workers()  # raises if versions differ, before any task is sent
        columns = self._columns
        try:
            return self.executor.partitions(None if self.every else columns)
        except KeyError:
            self._require_columns()
            raise

    @property
    def _columns(self) -> list[Any]:
        """The columns that the call reads: ids, and values."""
        for reader in self.readers:
            check_label(reader.role, reader.label, self.adapter.labels(self.executor.meta))
        read = [*self.labels.labels, *(reader.label for reader in self.readers)]
        return list(dict.fromkeys(read))

    def _require_columns(self) -> None:
        """Raise ColumnNotFoundError, naming the partition, if one lacks a column that is read."""
        context = WorkerContext(self.adapter, self.labels, self.engine, 1)
        for place, head in enumerate(self.executor.heads()):
            context.columns(head, place)
            for reader in self.readers:
                role = f"partition {place}: {reader.role}"
                check_label(role, reader.label, self.adapter.labels(head))


# Estimates ----------------------------------------------------------------------------------------


def estimate(
    factory: ExecutorFactory, edges: Any, record: Analytic, options: Options, own: OwnOptions
) -> dict[str, int]:
    """Estimate what a call takes: see `rapids_tc.memory_estimate`.

    Raises
    ------
    ValueError
        The rows of the frame are not known before it is computed.
    """
    executor, kept = factory(edges, None), kept_of(edges)
    by = options.by if kept is None else kept.options.by
    given = {name: it for name, it in record.defaults.items() if it is not Parameter.empty}
    if (error := record.local({"k": 3, **given, **own, "by": by}, executor.kind)) is not None:
        raise error
    work = WORK if record is GRAPH else _most_in_blocks(record, grouped=by is not None)
    if kept is not None:
        check_prepared(kept, record, options, record.defaults)
        graph = kept.blocked
        rows, holders = sum(map(sum, graph.rows)), {*graph.workers_of_rows}
        of_graph = graph.n, graph.free, kept.id_columns.joined
        of_call = graph.n, rows, graph.size, options.limit or graph.free
        grid.require_one_block(*of_call, work, graph.engine, record.name)
        sizes = cluster.ClusterSizes(rows, graph.size, len(holders), *of_graph)
        return {"worker": cluster.answering(work, sizes), "blocks": sizes.n}
    options = replace(options, engine=options.engine or executor.engine)
    adapter, labels = open_partitions(executor, record, options, record.defaults)
    with executor:
        workers, listed, free = executor.workers(), 0, options.limit
        if executor.is_held():
            profiled = PartitionedGraph(executor, adapter, labels, GRAPH, options, {}).with_ids()
            rows, ids, listed = sum(map(sum, profiled.rows)), profiled.size, profiled.listed
            free = profiled.free
            del profiled
        else:
            rows, ids = _bounds(executor)
    if free is None:
        free = int(costs.MEMORY_SHARE * min(worker.memory or 2**40 for worker in workers))
    engine = resolve_engine(adapter, options.engine)
    n = grid.plan(rows, ids, free, len(workers), work, engine, record.name).n
    sizes = cluster.ClusterSizes(rows, ids, len(workers), n, free, labels.joined, listed)
    return {"worker": cluster.worker_bytes(work, sizes), "blocks": n}


def _most_in_blocks(record: Analytic, *, grouped: bool) -> Work:
    """Return the most that a call needs; of columns, those that a graph in blocks has alone."""
    work = record.most_of(grouped=grouped)
    if "columns" not in record.defaults:
        return work
    return replace(work, needs=work.needs & ~Needs.IN_MEMORY)


def _bounds(executor: Executor) -> tuple[int, int]:
    """Return the rows of a frame that is not computed yet, and the most ids that it may have."""
    if (rows := executor.rows()) is None:
        raise ValueError(
            f"how many rows this {executor.kind} has is not known before it is computed: persist() "
            "it, or read it from Parquet files, which say so"
        )
    return rows, 2 * rows
