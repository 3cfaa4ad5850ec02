"""A prepared graph that stays on the workers of a cluster, and answers many calls.

What is kept are tasks: the numbers of both ends of every row, the order, and the blocks. A call
works on a copy that holds the same tasks, with an executor of its own; once the call has succeeded,
what it has asked of the whole graph is kept, too. Rows of the frame are read when a call needs
them, and compared with the fingerprints of the first look.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rapids_tc.blocks import codec, grid, id_tasks
from rapids_tc.errors import CapacityError, KernelError
from rapids_tc.executors.protocol import Batch
from rapids_tc.executors.registry import register_executor
from rapids_tc.frames.backend import resolve_engine
from rapids_tc.graphs.distributed import DistributedGraph
from rapids_tc.graphs.prepared import prepared_in
from rapids_tc.plan.layout import forced_layout
from rapids_tc.plan.record import Needs, Result, Work

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    from rapids_tc._progress import Choice
    from rapids_tc.executors.protocol import Executor, Task, Worker
    from rapids_tc.executors.registry import ExecutorFactory
    from rapids_tc.frames.adapters import FrameAdapter
    from rapids_tc.plan.record import Options
    from rapids_tc.preparation.edge_columns import EdgeColumns
    from rapids_tc.preparation.fingerprints import Fingerprint

MOST_VALUES = 17  # bytes of values that an analytic reads for an edge, at most
WORK = Work(Needs.EDGE_COUNTS | Needs.TRUSSNESS, Result.GRAPH, values=MOST_VALUES, levels=True)

# Attributes of `DistributedGraph` that calls share.
NUMBERED = ("_ids", "id_ranges", "listed", "size", "rows", "free", "numbers", "_prints")
IN_BLOCKS = (*NUMBERED, "ranges", "vertices", "partition", "counting_workers", "blocks")


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
        self.known: dict[str, Any] = {}

    def prepare(self, graph: DistributedGraph) -> None:
        """Make the order and the blocks of a graph whose ids have been profiled; wait for all."""
        gather = self._executor.gather
        graph.numbers = graph.each_batch("number", id_tasks.compact, graph.numbers)
        if graph.id_ranges is not None:
            graph.id_ranges = graph.id_ranges.without_rows()
        blocks = graph.blocks[: graph.n**2]  # if n is 1, others are copies
        self.n_edges = sum(gather(graph.each("merge", codec.edges, blocks)))
        self.n_vertices = gather(graph.vertices)
        if self.id_columns.groups:
            self.n_groups = gather(graph.submit("ids", id_tasks.group_count, graph.ids))
        ranks = "ranked" if len(graph.ranges) > 1 else "orders"
        self.state = {name: getattr(graph, name) for name in (*IN_BLOCKS, ranks)}
        self._context = graph.context
        self.batches = [(batch.worker, batch.places) for batch in graph.batches]

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
    ) -> tuple[DistributedGraph, dict[str, Any]]:
        """Return the graph of a call, which `read` evaluates the partitions for.

        Also return what will be known of the whole graph, for `keep`.

        Raises
        ------
        KernelError
            What is kept is lost, and cannot be computed again.
        CapacityError
            The blocks are too large for the call.
        """
        known = dict(self.known)
        names = NUMBERED if work.needs & Needs.SAMPLE else self.state
        state = {name: self.state[name] for name in names}
        workers = self._require(executor, [state["numbers"], state.get("blocks", [])])
        graph = _GraphOfCall(
            executor, self._context, workers,
            [Batch(worker, places, []) for worker, places in self.batches], name, work,
            options.method, options.memory_limit,
        )  # fmt: skip
        vars(graph).update(state)
        graph.read = read
        graph.free = options.memory_limit or graph.free
        if "blocks" in state:
            self._check(graph, work)
            if options.method == "auto":  # another is wanted to be seen at work
                graph.known = known
        return graph, known

    def keep(self, known: dict[str, Any]) -> None:
        """Keep what a call that has succeeded has asked of the whole graph."""
        self.known.update(known)

    def forget(self) -> None:
        """Forget what calls have asked of the whole graph: some of it may be lost."""
        self.known.clear()

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

    def _check(self, graph: DistributedGraph, work: Work) -> None:
        """Raise CapacityError if a call may take less than its blocks do."""
        partition = grid.of_method(graph.partition, graph.method)
        if partition != graph.partition:
            vars(graph).update(partition=partition, counting_workers=graph.counting_workers[:1])
        if forced_layout.get():
            return
        rows = sum(map(sum, graph.rows))
        need = grid.need(rows, graph.size, graph.n, grid.values_of(work))
        peeled = graph.n > 1 or not work.needs & Needs.TRUSSNESS or graph.fits(rows)
        if need > graph.free or not peeled:
            raise CapacityError(
                f"this Graph was cut into {graph.n} x {graph.n} blocks for {self.state['free']:,} "
                f"bytes, and the call may take {graph.free:,}: raise the limit, or make another, "
                "Graph(edges, memory_limit=...)"
            )


class _GraphOfCall(DistributedGraph):
    """A kept graph during one call."""

    read: Callable[[], list[Task]] | None = None

    @property
    def to_read(self) -> tuple[list[list[Task]], list[list[Fingerprint]]]:
        """The partitions of each batch, evaluated when they are first asked for."""
        if self.read is not None:
            partitions, self.read = self.read(), None
            places = sum(len(batch.places) for batch in self.batches)
            if len(partitions) != places:
                raise KernelError(
                    f"the frame has {len(partitions)} partitions, and had {places} when the Graph "
                    "was made of it: make another"
                )
            for batch in self.batches:
                batch.partitions.extend(partitions[place] for place in batch.places)
        return super().to_read


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
