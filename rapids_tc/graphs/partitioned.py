"""The graph of a partitioned frame, which answers analytics by the tasks of an executor.

The body of an analytic runs in the process that called. Each of its questions to the graph becomes
tasks, and columns of rows stay on the workers. If an analytic needs sums over all blocks with a
value per vertex, and answers with a value or a row per vertex, its body runs on a worker instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from rapids_tc._progress import check_progress
from rapids_tc.blocks import (
    counting,
    distributed_values,
    peeling,
    row_lookup,
    sorting,
    sums,
    worker_tasks,
)
from rapids_tc.blocks.third_sums import FORMULAS
from rapids_tc.blocks.worker_tasks import WorkerContext
from rapids_tc.frames.adapters import CudfAdapter, FrameAdapter, PandasAdapter, root
from rapids_tc.frames.backend import Frame, check_engine, resolve_engine
from rapids_tc.graphs import one_worker
from rapids_tc.graphs.distributed import DistributedGraph, log
from rapids_tc.plan import needs
from rapids_tc.plan.answers import named_columns, require_fields
from rapids_tc.plan.record import Analytic, Needs, Options, OwnOptions, Result
from rapids_tc.preparation.edge_columns import EdgeColumns, edge_columns
from rapids_tc.preparation.edges import check_label

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rapids_tc.executors.protocol import Batch, Executor, Task
    from rapids_tc.executors.registry import ExecutorFactory

PART_ROWS = 2**20  # the least rows of a partition, if one worker's answer is split
ANSWERED_BY_WORKER = (Result.VALUE, Result.TABLE, Result.VERTICES, Result.TIMES)
BY_SUMS = Needs.DEGREES | Needs.VERTEX_COUNTS  # values per vertex: the body runs on a worker


def answer(
    factory: ExecutorFactory, record: Analytic, edges: Any, options: Options, own: OwnOptions,
    call: one_worker.Answer,
) -> Any:  # fmt: skip
    """Answer a call of an analytic on a partitioned frame.

    `call` answers for a frame of one machine.
    """
    executor = factory(edges, check_progress(options.progress))
    unchecked, own = own, record.check(own)
    if (error := record.local({**own, "by": options.by}, executor.kind)) is not None:
        raise error
    adapter = CudfAdapter() if root(executor.meta) == "cudf" else PandasAdapter()
    check_engine(options.engine)
    needs.require_method(options.method, record, resolve_engine(adapter, options.engine))
    needs.check_limit(options.memory_limit)
    ids = options.source, options.destination, options.by
    labels = edge_columns(adapter.labels(executor.meta), *ids, named_columns(own))
    if isinstance(labels, EdgeColumns):
        require_fields(record, [part.label for part in labels.components], len(labels.groups))
    with executor:
        graph = PartitionedGraph(executor, adapter, labels, record, options, own)
        if answered := graph.answer_by_one(call, unchecked):
            return answered[0]
        arguments = record.arguments(options, own)
        of_vertices = graph.work.needs & BY_SUMS or record.sums(own)
        if graph.work.result in ANSWERED_BY_WORKER and of_vertices:
            return graph.answer_by_sums(record, arguments)
        return record.body(graph, **arguments)


@dataclass(frozen=True)
class _Columns:
    """The values that make columns of the user's rows, as tasks.

    Attributes
    ----------
    names : list of str
    by_edge : dict of str to list of list of Task
        By kind of value ("triangles", "trussness", or the name of a sum): for each batch a list of
        tasks, one per block, that return the values of the rows.
    degrees : Task or None
        The degree of every rank.
    """

    names: list[str]
    by_edge: dict[str, list[list[Task]]]
    degrees: Task | None


class PartitionedGraph:
    """The graph of a partitioned frame, for one call of an analytic.

    Parameters
    ----------
    executor : Executor
        The executor of the frame, inside its ``with`` block.
    adapter : FrameAdapter
        The adapter of the partitions.
    labels : tuple or EdgeColumns
        The two id columns, or those of composite ids.
    record, options, own
        The analytic, and the shared and own options of the call.
    """

    def __init__(
        self,
        executor: Executor,
        adapter: FrameAdapter,
        labels: tuple[Any, Any] | EdgeColumns,
        record: Analytic,
        options: Options,
        own: OwnOptions,
    ) -> None:
        self.executor, self.adapter, self._labels = executor, adapter, labels
        self._record, self._options, self._own = record, options, own
        self.work = record.work_of(own, grouped=options.by is not None)

    @cached_property
    def _partitions(self) -> list[Task]:
        """The partitions, evaluated, with the columns that the call reads."""
        self.executor.workers()  # raises if versions differ, before any task is sent
        columns = None if self._record.result in one_worker.FRAMES else self._columns
        try:
            return self.executor.partitions(columns)
        except KeyError:
            self._require_columns()
            raise

    @cached_property
    def _context(self) -> WorkerContext:
        """The first argument of every task."""
        threads = min(worker.threads for worker in self.executor.workers())
        return WorkerContext(self.adapter, self._labels, self._options.engine, threads)

    def _graph(self) -> DistributedGraph:
        """Profile the ids of the partitions."""
        executor, options, record = self.executor, self._options, self._record
        partitions, workers = self._partitions, executor.workers()
        del self._partitions  # which `drop_rows` is to let go
        batches = executor.batches(partitions, workers, options.memory_limit)
        graph = DistributedGraph(
            executor, self._context, workers, batches, record.name, self.work,
            options.method, options.memory_limit,
        )  # fmt: skip
        graph.profile()
        return graph

    def answer_by_one(self, call: one_worker.Answer, own: OwnOptions) -> tuple[Any] | None:
        """Have one worker answer the call, if the frame is small; return None if none can."""
        executor, record = self.executor, self._record
        asked = record, self._options, self._own, self._labels, executor.meta
        if not one_worker.serves(*asked):
            return None
        partitions, context = self._partitions, self._context
        own = {name: executor.in_process(value) for name, value in own.items()}
        arguments = call, record, self._options, own, partitions
        return one_worker.ask(executor, context, *arguments)

    @property
    def _readers(self) -> list[Any]:
        """The readers of the columns of values."""
        readers = (quantity.reading.reader for quantity in self._record.sums(self._own))
        return [reader for reader in readers if reader is not None]

    @property
    def _columns(self) -> list[Any]:
        """The columns that the call reads: ids, and values."""
        for reader in self._readers:
            check_label(reader.role, reader.label, self.labels)
        labels = self._labels
        ids = labels.labels if isinstance(labels, EdgeColumns) else labels
        return list(dict.fromkeys([*ids, *(reader.label for reader in self._readers)]))

    def _require_columns(self) -> None:
        """Raise ColumnNotFoundError, naming the partition, if one lacks a column that is read."""
        context = WorkerContext(self.adapter, self._labels, self._options.engine, 1)
        for place, head in enumerate(self.executor.heads()):
            context.columns(head, place)
            for reader in self._readers:
                role = f"partition {place}: {reader.role}"
                check_label(role, reader.label, self.adapter.labels(head))

    # What analytics ask --------------------------------------------------------------------------

    @property
    def groups(self) -> EdgeColumns | None:
        """The columns, if some are of groups."""
        labels = self._labels
        return labels if isinstance(labels, EdgeColumns) and labels.groups else None

    def group_frame(self, columns: dict[str, Any]) -> Frame:
        """Make a frame of values by group on a worker, sorted by group."""
        graph = self._rows
        reply = graph.submit("answer", counting.group_frame, graph.ids, columns)
        return self._split(graph, reply)

    @property
    def labels(self) -> list[Any]:
        """The column labels of the user's frame."""
        return self.adapter.labels(self.executor.meta)

    def count(self, method: str) -> int:
        """Count the triangles of the graph."""
        graph = self._graph()
        graph.drop_rows()
        return sums.total(graph)

    def sample_moments(self, colours: int, seed: int, method: str) -> list[tuple[int, float]]:
        """Count a sample of the edges, and return the `sampling.moments` of each part of it."""
        graph = self._rows = self._graph()
        graph.sample(colours, seed)
        return sums.moments_by_group(graph) if self.groups else sums.moments(graph)

    def answer_by_sums(self, record: Analytic, own: OwnOptions) -> Any:
        """Answer an analytic of vertices, or of the whole graph, on one worker."""
        graph, total, by_vertex = self._graph(), None, None
        own = {name: self.executor.in_process(value) for name, value in own.items()}
        summed = distributed_values.summed(
            graph, [quantity.limited(graph.free) for quantity in record.sums(own)]
        )
        graph.drop_rows()
        degrees = sums.degrees(graph)
        of_neighbors = sums.of_neighbors(graph, degrees, self.work.needs)
        if self.work.needs & Needs.VERTEX_COUNTS:
            by_vertex = sums.by_vertex(graph)
        elif self.work.needs & Needs.TOTAL:
            total = sums.total(graph)
        reply = graph.submit(
            "answer", counting.answer, record.name, own, graph.ids, graph.order, degrees,
            of_neighbors, total, by_vertex, summed, on=graph.counting_workers[0],
        )  # fmt: skip
        if self.work.result in (Result.VERTICES, Result.TIMES):
            return self._split(graph, reply)
        return self.executor.gather(reply)

    def row_columns(self, names: Sequence[str], method: str) -> _Columns:
        """Compute the values that make columns of the user's rows; self loops get 0."""
        graph = self._rows = self._graph()
        asked, by_edge = self.work.needs, {}
        counts = sums.by_edge(graph) if asked & (Needs.EDGE_COUNTS | Needs.TRUSSNESS) else []
        if asked & Needs.EDGE_COUNTS:
            by_edge["triangles"] = counts
        if asked & Needs.TRUSSNESS:
            by_edge["trussness"] = peeling.trussness(graph, None, counts)
        by_degree = asked & (Needs.DEGREES | Needs.THIRD_SUMS)
        degrees = sums.degrees(graph) if by_degree else None
        by_edge |= {
            name: sums.third_sums(graph, degrees, name) for name in names if name in FORMULAS
        }
        by_row = {kind: sums.by_row(graph, values) for kind, values in by_edge.items()}
        return _Columns(list(names), by_row, degrees)

    def assign(self, columns: _Columns) -> Frame:
        """Append columns to the user's frame."""
        graph = self._rows
        partitions, prints = graph.to_read
        made = [
            graph.submit(
                "columns", row_lookup.columns, partitions[i], prints[i], graph.numbers[i],
                graph.orders[batch.worker], columns.degrees,
                {kind: values[i] for kind, values in columns.by_edge.items()}, columns.names,
                on=batch.worker,
            )
            for i, batch in enumerate(graph.batches)
        ]  # fmt: skip
        meta = one_worker.meta_with(self.adapter, self.executor.meta, columns.names)
        return self._aligned(graph, made, meta)

    def truss_rows(self, k: int | None) -> list[list[Task]]:
        """Find the first row of each edge of the k-truss: for each batch, a task per block."""
        graph = self._rows = self._graph()
        rows: list[list[Task]] = [[] for _ in graph.batches]
        chosen = peeling.in_truss(graph, k, by_group=self.groups is not None)
        for place, edges in enumerate(chosen):
            looked_up = [
                graph.submit("rows", row_lookup.first_rows, *given, on=batch.worker)
                for batch, given in _rows_of(graph, place, edges)
            ]
            firsts = graph.map_batches("rows", worker_tasks.one, looked_up, 0)
            first = graph.tree("rows", row_lookup.least, firsts)
            kept = graph.map_batches("rows", row_lookup.kept_rows, looked_up, first)
            for own, task in zip(rows, kept, strict=True):
                own.append(task)
        return rows

    def take_rows(self, rows: list[list[Task]]) -> Frame:
        """Select the user's rows that `truss_rows` has found."""
        graph = self._rows
        made = graph.map_batches("rows", row_lookup.take, *graph.to_read, rows)
        return self._aligned(graph, made, self.executor.meta)

    def simple_edges(self) -> Frame:
        """List each edge once as ids, src < dst, sorted."""
        graph = self._graph()
        frames, lengths = sorting.simple_edges(graph)
        log.info(
            "%s: %d rows in %d partitions on %d workers; %d ranges of edges",
            self._record.name, sum(map(sum, graph.rows)), sum(map(len, graph.rows)),
            len(graph.workers), len(frames),
        )  # fmt: skip
        meta = self.executor.gather(graph.submit("edges", worker_tasks.head, frames[0]))
        return self.executor.to_frame(frames, meta, lengths)

    # Frames of the answer ------------------------------------------------------------------------

    def _split(self, graph: DistributedGraph, frame: Task) -> Frame:
        """Split the frame of one worker into at most one partition per worker, or keep it whole."""
        rows, meta = self.executor.gather(
            [graph.submit("answer", f, frame) for f in (worker_tasks.length, worker_tasks.head)]
        )
        parts = max(1, min(len(graph.workers), rows // PART_ROWS))
        bounds = [rows * part // parts for part in range(parts + 1)]
        frames = (
            [frame]
            if parts == 1
            else [
                graph.submit("answer", worker_tasks.cut, frame, a, b) for a, b in pairwise(bounds)
            ]
        )
        return self.executor.to_frame(frames, meta, [b - a for a, b in pairwise(bounds)])

    def _aligned(self, graph: DistributedGraph, made: list[Task], meta: Frame) -> Frame:
        """Join the partitions that all batches return, in the order of the user's partitions."""
        frames: dict[int, Task] = {}
        for batch, several in zip(graph.batches, made, strict=True):
            for i, place in enumerate(batch.places):
                frames[place] = graph.submit("rows", worker_tasks.one, several, i, on=batch.worker)
        return self.executor.to_frame([frames[place] for place in sorted(frames)], meta, None)


def _rows_of(
    graph: DistributedGraph, place: int, wanted: list[Task]
) -> Iterator[tuple[Batch, tuple[Any, ...]]]:
    """Yield each batch with the arguments of `row_lookup.first_rows` for a block."""
    for i, (batch, rows) in enumerate(zip(graph.batches, graph.rows, strict=True)):
        block = graph.block_at(place, batch.worker)
        order = graph.orders[batch.worker]
        given = (graph.numbers[i], order, block, wanted, place, graph.n, batch.places, rows)
        yield batch, given
