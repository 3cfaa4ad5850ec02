"""A prepared graph that stays on the workers of a cluster, and answers many calls.

What is kept are values of `rapids_tc.graphs.stages`: the numbers of both ends of every row, and the
order and the blocks. A call works on one of them, with an executor of its own; once the call has
succeeded, what it has asked of the whole graph is kept, too. Rows of the frame are read when a call
needs them, and compared with the fingerprints of the first look.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rapids_tc.blocks import grid, id_tasks
from rapids_tc.blocks.block_map import Blocked
from rapids_tc.errors import CapacityError, KernelError
from rapids_tc.executors.registry import register_executor
from rapids_tc.frames.backend import resolve_engine
from rapids_tc.graphs import stages
from rapids_tc.graphs.edge_graph import prepared_in
from rapids_tc.plan.block_layout import forced_layout
from rapids_tc.plan.record import Needs, Result, Work

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    from rapids_tc._progress import Choice
    from rapids_tc.blocks.block_map import Numbered
    from rapids_tc.executors.protocol import Executor, Task, Worker
    from rapids_tc.executors.registry import ExecutorFactory
    from rapids_tc.frames.adapters import FrameAdapter
    from rapids_tc.plan.record import Options
    from rapids_tc.preparation.edge_columns import EdgeColumns

MOST_VALUES = 17  # bytes of values that an analytic reads for an edge, at most
WORK = Work(Needs.EDGE_COUNTS | Needs.TRUSSNESS, Result.GRAPH, values=MOST_VALUES, levels=True)


@dataclass(frozen=True)
class WorkersBackend:
    """The engine of the workers; the process that calls may lack its libraries."""

    engine: str


class KeptGraph:
    """A graph of a partitioned frame, kept on the workers. The first call to make is `prepare`.

    Parameters
    ----------
    executor : Executor
        The executor of the call that prepares the graph.
    adapter : FrameAdapter
        The adapter of the partitions.
    id_columns : EdgeColumns
    options : Options
        Those of the call that prepares the graph.
    """

    n_vertices: int
    n_edges: int
    n_groups = 0
    numbered: Numbered
    blocked: Blocked
    whole_rows: bool  # whether all columns of the frame are read whenever some are

    def __init__(
        self,
        executor: Executor,
        adapter: FrameAdapter,
        id_columns: EdgeColumns,
        options: Options,
    ) -> None:
        self._executor, self.adapter, self.id_columns, self.options = (
            executor,
            adapter,
            id_columns,
            options,
        )
        self.backend = WorkersBackend(resolve_engine(adapter, options.engine))

    def prepare(self, graph: Numbered) -> None:
        """Make the order and the blocks of a graph whose ids have numbers; wait for all."""
        gather = self._executor.gather
        graph = stages.number_rows(graph).without_partitions()
        compact = graph.each_batch("number", id_tasks.compact, graph.numbers)
        self.numbered = replace(graph, numbers=compact)
        graph = self.blocked = replace(stages.cut(self.numbered, WORK), ranks=[])
        self.n_edges = sum(graph.edges_of("merge", graph.blocks[: graph.n**2]))  # others are copies
        self.n_vertices = gather(graph.vertices)
        if self.id_columns.groups:
            self.n_groups = gather(graph.submit("ids", id_tasks.group_count, graph.ids))

    @property
    def csr(self) -> NoReturn:
        """Raise TypeError: no process holds it."""
        raise TypeError(
            f"this is a {self.kind}, whose edges lie on many workers: give Graph() a frame of this "
            "process, such as frame.compute(), for its csr"
        )

    def __reduce__(self) -> NoReturn:
        """Raise TypeError: another process would not keep the workers' results."""
        raise TypeError(
            f"a {self.kind} lives as long as the process that made it, and cannot be pickled: make "
            "another of the same frame in the process that needs it"
        )

    @property
    def kind(self) -> str:
        """What users call such a graph."""
        return f"Graph of a {self._executor.kind}"

    def executor(self, progress: Choice) -> Executor:
        """Return the executor of a further call, which may leave `progress` to the graph."""
        return self._executor.renewed(self.options.progress if progress is None else progress)

    def call(
        self,
        executor: Executor,
        name: str,
        work: Work,
        options: Options,
        read: Callable[[], list[Task]],
    ) -> Numbered:
        """Return the graph of a call, which `read` evaluates the partitions for.

        Raises
        ------
        KernelError
            What is kept is lost, and cannot be computed again.
        CapacityError
            The blocks are too large for the call.
        """
        kept = self.numbered if work.needs & Needs.SAMPLE else self.blocked
        blocks = kept.blocks if isinstance(kept, Blocked) else []
        graph = replace(
            kept, executor=executor, workers=self._require(executor, [kept.numbers, blocks]),
            name=name, method=options.method, free=options.limit or kept.free, read=read,
        )  # fmt: skip
        return self._checked(graph, work) if isinstance(graph, Blocked) else graph

    def keep(self, known: dict[Any, Any]) -> None:
        """Keep what a call that has succeeded has asked of the whole graph."""
        self.blocked.known.update(known)

    def forget(self) -> None:
        """Forget what calls have asked of the whole graph: some of it may be lost."""
        self.blocked.known.clear()

    def _require(self, executor: Executor, tasks: list[list[Task]]) -> list[Worker]:
        """Wait for tasks that a lost worker had, if there are; KernelError if that is in vain.

        Return the workers.
        """
        flat = [(None, task) for some in tasks for task in some]
        try:
            for _ in executor.as_completed(iter(flat), len(flat), len(flat)):
                pass
            return executor.workers()
        except KernelError as error:
            raise KernelError(
                f"what this Graph keeps was lost: {error}; then make another Graph of it"
            ) from error

    def _checked(self, graph: Blocked, work: Work) -> Blocked:
        """Return the graph of a call; CapacityError if it may take less than the blocks do."""
        partition = grid.of_method(graph.partition, graph.method)
        known = dict(graph.known) if graph.method == "auto" else {}  # to be seen at work
        if partition != graph.partition:
            graph = replace(graph, counting_workers=graph.counting_workers[:1])
        graph = replace(graph, partition=partition, known=known)
        rows = sum(map(sum, graph.rows))
        sizes = graph.n, rows, graph.size, graph.free
        grid.require_one_block(*sizes, work, graph.engine, graph.name)
        if forced_layout.get():
            return graph
        need = grid.need(rows, graph.size, graph.n, grid.values_of(work))
        to_peel = graph.free - grid.kind_bytes(work, rows)
        peeled = graph.n > 1 or not work.needs & Needs.TRUSSNESS
        peeled = peeled or grid.fits(rows, graph.size, to_peel, graph.engine)
        if need > graph.free or not peeled:
            raise CapacityError(
                f"this Graph was cut into {graph.n} x {graph.n} blocks for "
                f"{self.blocked.free:,} bytes, and the call may take {graph.free:,}: raise the "
                "limit, or make another, Graph(edges, memory_limit=...)"
            )
        return graph


def kept_of(edges: Any) -> KeptGraph | None:
    """Return what a `Graph` of a partitioned frame holds; None of anything else."""
    graph = prepared_in(edges)
    return graph if isinstance(graph, KeptGraph) else None


def _of_graph(edges: Any, progress: Choice) -> Executor:
    graph = kept_of(edges)
    assert graph is not None
    return graph.executor(progress)


def _load() -> ExecutorFactory:
    return _of_graph


register_executor(lambda edges: kept_of(edges) is not None, _load)
