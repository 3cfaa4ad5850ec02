"""What a call on a partitioned frame will take: tasks that nobody runs, and what they would move.

The body of an analytic runs as in a call, on an executor that counts tasks and gives back stand-ins
for their results. So the tasks are those of the call, unless results decide about tasks: of a peel
in blocks one round is counted. What moves follows from the sizes of the results.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from inspect import Parameter
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.blocks import grid
from rapids_tc.blocks.block_map import innermost
from rapids_tc.blocks.context import WorkerContext
from rapids_tc.blocks.ranges import CODES
from rapids_tc.executors.local import LocalExecutor
from rapids_tc.executors.protocol import Batch
from rapids_tc.graphs.distributed import PEELING, DistributedGraph
from rapids_tc.graphs.frame_source import open_partitions
from rapids_tc.graphs.kept import WORK, KeptGraph, kept_of
from rapids_tc.graphs.partitioned import PartitionedGraph
from rapids_tc.graphs.prepared import check_prepared
from rapids_tc.graphs.result_sizes import Sizes
from rapids_tc.plan import costs, needs
from rapids_tc.plan.record import GRAPH, Needs, Result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from rapids_tc.executors.protocol import Executor, Worker
    from rapids_tc.executors.registry import ExecutorFactory
    from rapids_tc.frames.adapters import FrameAdapter
    from rapids_tc.frames.backend import Frame
    from rapids_tc.plan.record import Analytic, Options, OwnOptions, Work
    from rapids_tc.preparation.edge_columns import EdgeColumns

# Values of own options that a call must give; most decide about no task.
ASKED: OwnOptions = {
    "k": 3, "colours": 2, "seed": 0, "columns": ("triangles",), "time": "time", "sign": "sign",
    "edge_type": "type", "rows": 1,
}  # fmt: skip


@dataclass
class StandIn:
    """Stands for the result of a task.

    Attributes
    ----------
    function : str
        What the task runs: the last name of its module, and its own.
    bytes : float
    parts : int
        How many results it is a list of, each of which another task takes.
    holders : set of str
        The workers that have it, or have fetched it.
    """

    function: str
    bytes: float
    parts: int
    holders: set[str]


class Rehearsal(LocalExecutor):
    """Counts the tasks of a call, and the bytes that they would fetch; runs none."""

    def __init__(self, meta: Frame, workers: list[Worker], kind: str) -> None:
        super().__init__(None, None)
        self._meta, self._workers, self.kind = meta, workers, kind
        self.sizes = Sizes(0, 0, 1, 1, 1, 1)
        self.tasks, self.moved = 0, 0.0

    @property
    def meta(self) -> Any:
        """The frame without rows of the executor whose call is rehearsed."""
        return self._meta

    def workers(self) -> list[Worker]:
        """Return the workers of the cluster."""
        return self._workers

    def submit(
        self, stage: str, function: Any, *args: Any, on: str | None = None, first: bool = False
    ) -> StandIn:
        """Count a task; where it may run anywhere, in turn on each worker."""
        inputs = list(_stand_ins(args))
        place = on or self._workers[self.tasks % len(self._workers)].address
        self.tasks += 1
        for result in inputs:
            if place not in result.holders:
                self.moved += result.bytes if stage != "sum" else result.bytes / result.parts
                result.holders.add(place)
        asked = innermost(function, args)
        name = f"{asked.__module__.rpartition('.')[2]}.{asked.__name__}"
        largest = max(inputs, key=lambda result: result.bytes, default=StandIn("", 0, 1, set()))
        size, parts = self.sizes.of(name, largest.bytes, largest.parts)
        return StandIn(name, size, parts, {place})

    def gather(self, tasks: Any) -> Any:
        """Return what stands for results in the process that calls."""
        if isinstance(tasks, list | tuple):
            return [self.gather(task) for task in tasks]
        plain: dict[str, Any] = {
            "distributed_values.status": (0.0, None),
            "ranges.code_sizes": [0] * CODES,
            "sorting.sample": np.zeros(0, "uint64"),
            "block_map.head": self._meta,
            "sums.moments": (0, 0.0),
            "sums.moments_in_groups": [],
            "distributed_levels.add_tallies": np.zeros(4, "int64"),  # no level is open
        }
        return plain.get(tasks.function, 0)

    def to_frame(self, parts: list[Any], meta: Any, lengths: list[int] | None) -> Any:
        """Return nothing: there is no frame."""
        return None


def _stand_ins(values: Iterable[Any]) -> Iterable[StandIn]:
    """Yield the results among arguments, and in lists and dicts of them."""
    for value in values:
        if isinstance(value, StandIn):
            yield value
        elif isinstance(value, list | tuple | dict):
            yield from _stand_ins(value.values() if isinstance(value, dict) else value)


class RehearsedGraph(KeptGraph):
    """A graph of a known size, none of whose results is there; or a stand-in for one that is kept.

    Parameters
    ----------
    rehearsal : Rehearsal
    adapter, labels, options
        See `KeptGraph`.
    rows, ids : int
    kept : KeptGraph, optional
    """

    whole_rows = False

    def __init__(
        self, rehearsal: Rehearsal, adapter: FrameAdapter, labels: tuple[Any, Any] | EdgeColumns,
        options: Options, rows: int, ids: int, kept: KeptGraph | None,
    ) -> None:  # fmt: skip
        super().__init__(rehearsal, adapter, labels, options)
        self._rehearsal, self._rows, self._ids, self._kept = rehearsal, rows, ids, kept
        self.bytes = self.blocks = 0  # of a worker, and of a side: once a call has begun

    def call(
        self, executor: Executor, name: str, work: Work, options: Options,
        read: Callable[[], list[Any]],
    ) -> tuple[DistributedGraph, dict[str, Any]]:  # fmt: skip
        """Return a graph of stand-ins, whose rows are dealt out evenly."""
        rows, ids, workers = self._rows, self._ids, self._rehearsal.workers()
        least = min(worker.memory or 2**40 for worker in workers)
        free = options.memory_limit or int(costs.MEMORY_SHARE * least)
        turns = max(1, ceil(rows / len(workers) / max(1, free // costs.CLUSTER_ROW)))
        places = [worker.address for worker in workers for _ in range(turns)]
        if self._kept is not None:
            places = [address for address, _ in self._kept.batches]
        context = WorkerContext(self.adapter, self.labels, options.engine, 1)
        graph = DistributedGraph(
            executor, context, workers,
            [Batch(at, [i], [self._stand_in({at})]) for i, at in enumerate(places)], name, work,
            options.method, options.memory_limit,
        )  # fmt: skip
        everywhere = {worker.address for worker in workers}
        graph.id_ranges = None
        graph._ids, graph.scheme = (self._stand_in(everywhere) for _ in range(2))
        graph.size, graph.free = ids, free
        graph.rows = [[ceil(rows / len(places))] for _ in places]
        vars(graph)["_prints"] = dict.fromkeys(range(len(places)))
        if self._kept is None:
            self._rehearsal.tasks += len(places) + 4  # that profile ids, and settle their numbers
        else:
            graph.numbers = [self._stand_in({place}) for place in places]
            if not work.needs & Needs.SAMPLE:
                self._take_over(graph, self._kept)
        n = graph.n
        jobs = len(graph.counting_workers) if n == 1 else n**3
        self._rehearsal.sizes = Sizes(rows, ids, len(graph.ranges), len(places), n, jobs)
        self.blocks, self.bytes = n, self._need(graph, work)
        return graph, {}

    def _take_over(self, graph: DistributedGraph, kept: KeptGraph) -> None:
        """Give a graph stand-ins for all that another one keeps."""
        state, places = kept.state, [batch.worker for batch in graph.batches]
        everywhere = {worker.address for worker in graph.workers}
        holders, n = state["counting_workers"], state["partition"].n
        at = holders if n == 1 else [holders[i % len(holders)] for i in range(n * n)]
        block = 4 * self._rows / n**2 + 8 * self._ids / n
        vars(graph).update(
            partition=state["partition"], counting_workers=holders,
            vertices=self._stand_in(everywhere),
            ranges=state["ranges"],
            blocks=[StandIn("", block, 1, {place}) for place in at],
        )  # fmt: skip
        if len(graph.ranges) > 1:
            ranked = [self._stand_in(everywhere) for _ in graph.ranges]
            vars(graph).update(ranked=(ranked, self._stand_in(everywhere)))
        else:
            vars(graph).update(orders={place: self._stand_in({place}) for place in places})
        graph.known = {name: self._known_in(value) for name, value in kept.known.items()}

    def _known_in(self, value: Any) -> Any:
        """Return a known result with stand-ins for tasks."""
        if isinstance(value, list):
            return [self._known_in(one) for one in value]
        if isinstance(value, int):
            return value
        return StandIn("", 8 * self._ids, 1, {self._rehearsal.workers()[0].address})

    def _stand_in(self, holders: set[str]) -> StandIn:
        return StandIn("", 0, 1, set(holders))

    def _need(self, graph: DistributedGraph, work: Work) -> int:
        """Return the bytes of the largest stage on a worker."""
        engine, rows = self.backend.engine, self._rows
        stages = [
            ceil(costs.CLUSTER_NUMBER * self._ids / len(graph.ranges)),
            costs.CLUSTER_ROW * max(map(sum, graph.rows)),
            grid.need(rows, self._ids, graph.n, grid.values_of(work)),
        ]
        if self._kept is not None:
            stages = stages[2:]
        if work.needs & Needs.TRUSSNESS:
            dense = True
            peeled = needs.stages(PEELING, rows, self._ids, dense, engine)
            most = max(stage.bytes for stage in peeled)
            stages.append(most if graph.n == 1 else min(most, graph.free))
        if work.result in (Result.VERTICES, Result.TIMES):
            stages.append(costs.STAGES[engine]["by vertex"][1] * self._ids)
        return max(stages)


def _bounds(executor: Executor) -> tuple[int, int]:
    """Return the rows of a frame that is not computed yet, and the most ids that it may have."""
    if (rows := executor.rows()) is None:
        raise ValueError(
            f"how many rows this {executor.kind} has is not known before it is computed: persist() "
            "it, or read it from Parquet files, which say so"
        )
    return rows, 2 * rows


def _options_of(record: Analytic) -> OwnOptions:
    """Return own options with which an analytic may be called: its defaults, as far as they go."""
    missing = (Parameter.empty, ())
    own = {n: ASKED[n] if value in missing else value for n, value in record.defaults.items()}
    try:
        return record.check(own)
    except ValueError:  # it takes one of several, none of them by default
        return record.check({name: ASKED.get(name, value) for name, value in own.items()})


def estimate(
    factory: ExecutorFactory, edges: Any, record: Analytic, options: Options
) -> dict[str, int]:
    """Estimate what a call takes: see `rapids_tc.memory_estimate`.

    Raises
    ------
    ValueError
        The rows of the frame are not known before it is computed.
    """
    executor, kept = factory(edges, None), kept_of(edges)
    own = _options_of(record)
    by = options.by if kept is None else kept.options.by
    if (error := record.local({**own, "by": by}, executor.kind)) is not None:
        raise error
    if kept is None:
        adapter, labels = open_partitions(executor, record, options, record.defaults)
    else:
        check_prepared(kept, record, options, record.defaults)
        adapter, labels = kept.adapter, kept.labels
        options = replace(options, engine=kept.options.engine, by=by)
    with executor:
        workers = executor.workers()
        if kept is not None:
            rows, ids = sum(map(sum, kept.state["rows"])), kept.state["size"]
        elif executor.is_held():
            profiled = PartitionedGraph(executor, adapter, labels, GRAPH, options, {}).profiled()
            rows, ids = sum(map(sum, profiled.rows)), profiled.size
            del profiled
        else:
            rows, ids = _bounds(executor)
    rehearsal = Rehearsal(executor.meta, workers, executor.kind)
    graph = RehearsedGraph(rehearsal, adapter, labels, options, rows, ids, kept)
    if record is GRAPH:
        prepared, _ = graph.call(rehearsal, record.name, WORK, options, list)
        KeptGraph(rehearsal, adapter, labels, options).prepare(prepared)
    else:
        of_call = PartitionedGraph(rehearsal, adapter, labels, record, options, own, graph)
        of_call.answer(record.arguments(options, own))
    return {
        "worker": graph.bytes,
        "blocks": graph.blocks,
        "tasks": rehearsal.tasks,
        "moved": int(rehearsal.moved),
    }
