"""Map plain functions over the batches, blocks and jobs of a partitioned graph, on an executor.

What is mapped over is a frozen value: `Numbered`, a frame whose ids have numbers, then `Blocked`,
its graph in blocks. The process that calls holds tasks and a few integers in it, but no arrays.

A function runs on a worker: see `rapids_tc.blocks.context.WorkerContext.run` for what it may ask
for, and `rapids_tc.blocks.block_work` for what a function of a block, of rows or of a job gets.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial, wraps
from typing import TYPE_CHECKING, Any, TypeVar

from rapids_tc.blocks import codec, grid
from rapids_tc.blocks.block_work import add, on_block, on_job, on_rows
from rapids_tc.errors import CapacityError, KernelError
from rapids_tc.executors.protocol import Batch
from rapids_tc.frames.backend import resolve_engine
from rapids_tc.plan import costs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Self

    from rapids_tc.blocks.context import WorkerContext
    from rapids_tc.blocks.geometry import Block
    from rapids_tc.blocks.grid import BlockTask, IdRanges, Partition, Range
    from rapids_tc.blocks.quantities import Within
    from rapids_tc.executors.protocol import Executor, Task, Worker
    from rapids_tc.frames.backend import Frame
    from rapids_tc.preparation.fingerprints import Fingerprint

FEW = 8  # results that every machine fetches; more results are combined first
AT_ONCE = 2  # tasks on blocks under way per thread of the cluster


def head(frame: Frame) -> Frame:
    """Return a frame without its rows."""
    return frame.iloc[:0]


@dataclass(frozen=True)
class PlacedJob:
    """Tasks on the same three blocks, and the machine that runs them; None if any may."""

    tasks: list[BlockTask]
    worker: str | None


class PendingSum:
    """The sum of results that come one by one, like a counter whose carries are additions.

    Only sums of equally many results are added, `at_once` at a time. So few results are held: if
    two are added at a time, at most one per binary digit of the number of results.

    Parameters
    ----------
    submit : callable
        Submits the tasks that add.
    combine : callable
        Adds a list of results.
    at_once : int
        How many results a task adds.
    """

    def __init__(
        self, submit: Callable[..., Task], combine: Callable[..., Any], at_once: int
    ) -> None:
        self._submit, self._combine, self._at_once = submit, combine, at_once
        self._held: list[list[Task]] = []  # level by level: results, sums of `at_once` results, …

    def add(self, result: Task) -> None:
        """Add one more result."""
        for held in self._held:
            held.append(result)
            if len(held) < self._at_once:
                return
            result = self._submit(self._combine, [*held])
            held.clear()
        self._held.append([result])

    def left(self, most: int) -> list[Task]:
        """Add up until at most so many are left; return them. If one is left, it is the sum."""
        results = [result for held in self._held for result in held]
        while len(results) > most:
            some, results = results[: self._at_once], results[self._at_once :]
            results.insert(0, self._submit(self._combine, some))
        return results


Found = TypeVar("Found")


def once(find: Callable[[Blocked], Found]) -> Callable[[Blocked], Found]:
    """Decorate a question about a whole graph, which keeps the answer in `Blocked.known`."""

    @wraps(find)
    def found(graph: Blocked) -> Found:
        if found not in graph.known:
            graph.known[found] = find(graph)
        result: Found = graph.known[found]
        return result

    return found


@dataclass(frozen=True, kw_only=True, eq=False)
class TaskMap:
    """Where and how the tasks of a call run.

    Attributes
    ----------
    executor : Executor
        Runs the tasks.
    context : WorkerContext
        Where and how each works.
    workers, batches : list of Worker, list of Batch
        The machines, and the user's edges by the machine that has them.
    name : str
        The name of the analytic.
    method : str
        An intersection method; any but "auto" counts the whole graph on one machine.
    """

    executor: Executor
    context: WorkerContext
    workers: list[Worker]
    batches: list[Batch]
    name: str
    method: str

    @property
    def workers_of_rows(self) -> list[str]:
        """The worker of each batch."""
        return [batch.worker for batch in self.batches]

    def submit(
        self, stage: str, function: Callable[..., Any], *args: Any, on: str | None = None,
        first: bool = False,
    ) -> Task:  # fmt: skip
        """Submit one task."""
        return self.executor.submit(stage, self.context.run, function, *args, on=on, first=first)

    def each_batch(
        self, stage: str, function: Callable[..., Any], *by_batch: list[Any],
        more: tuple[Any, ...] = (),
    ) -> list[Task]:  # fmt: skip
        """Submit a task per batch, on its worker; `more` follows the arguments of the batch."""
        return [
            self.submit(stage, function, *own, *more, on=worker)
            for worker, *own in zip(self.workers_of_rows, *by_batch, strict=True)
        ]

    def sum_of(self, stage: str, combine: Callable[..., Any], at_once: int = 2) -> PendingSum:
        """Return a sum whose tasks run before others, so that what they add up is freed early."""
        return PendingSum(partial(self.submit, stage, first=True), combine, at_once)

    def reduce(
        self, stage: str, combine: Callable[..., Any], tasks: Iterable[Task], at_once: int = 2
    ) -> Task:
        """Combine results, some at once, until one is left."""
        return self._combined(stage, combine, tasks, at_once).left(1)[0]

    def few(self, stage: str, combine: Callable[..., Any], tasks: Iterable[Task]) -> list[Task]:
        """Combine results, a few at once, until few are left."""
        return self._combined(stage, combine, tasks, FEW).left(FEW)

    def _combined(
        self, stage: str, combine: Callable[..., Any], tasks: Iterable[Task], at_once: int
    ) -> PendingSum:
        result = self.sum_of(stage, combine, at_once)
        for task in tasks:
            result.add(task)
        return result

    def to_frame(self, stage: str, frames: list[Task], lengths: list[int]) -> Frame:
        """Make the partitioned frame of frames that tasks return, of so many rows each."""
        meta = self.executor.gather(self.submit(stage, head, frames[0]))
        return self.executor.to_frame(frames, meta, lengths)


@dataclass(frozen=True, kw_only=True, eq=False)
class Numbered(TaskMap):
    """A partitioned frame whose ids have numbers.

    Attributes
    ----------
    free : int
        Bytes that a machine may take.
    rows : list of list of int
        How many rows the partitions of each batch have.
    size : int
        How many ids there are.
    ranges : list of Range
        The ranges in which numbers are ranked: one, if every machine may hold all ranks.
    ids_of_all : Task
        The ids by number; None if they lie in ranges.
    id_ranges : IdRanges or None
        The ids in ranges.
    listed : int
        Bytes of a list of all ids, while it is made.
    scheme : Task
        How ids are numbered.
    prints : dict of int to Fingerprint
        What was seen of each partition at the first look.
    numbers : list of Task
        The numbers of both ends of every row, by batch; none until they are asked for.
    read : callable, optional
        Evaluates the partitions of a graph that is kept.
    """

    free: int
    rows: list[list[int]]
    size: int
    ranges: list[Range]
    ids_of_all: Task
    id_ranges: IdRanges | None = None
    listed: int = 0
    scheme: Task = None
    prints: dict[int, Fingerprint] = field(default_factory=dict)
    numbers: list[Task] = field(default_factory=list)
    read: Callable[[], list[Task]] | None = None

    @property
    def ids(self) -> Task:
        """The ids by number, on any machine.

        Raises
        ------
        CapacityError
            They lie in ranges.
        """
        if self.id_ranges is not None:
            self.require_whole()
        return self.ids_of_all

    @property
    def engine(self) -> str:
        """The name of the engine of the machines."""
        return resolve_engine(self.context.adapter, self.context.engine)

    def require_whole(self) -> None:
        """Raise CapacityError if no machine may hold a value of every vertex."""
        if (count := len(self.ranges)) > 1:
            need = costs.CLUSTER_NUMBER * self.size + self.listed
            why = (
                f": {need:,} bytes while they are made, of {self.free:,}; raise memory_limit=, or "
                "take workers of more memory"
                if need > self.free
                else f", and they are cut in {count} ranges by use_layout(): give it ranges=1"
            )
            raise CapacityError(
                f"{self.name}, as it is called, needs the ranks of all {self.size:,} ids on one "
                f"worker{why}"
            )

    @property
    def to_read(self) -> tuple[list[list[Task]], list[list[Fingerprint]]]:
        """The partitions of each batch, and their fingerprints."""
        by_batch = [batch.partitions for batch in self.batches]
        if self.read is not None:
            partitions, places = self.read(), sum(len(batch.places) for batch in self.batches)
            if len(partitions) != places:
                raise KernelError(
                    f"the frame has {len(partitions)} partitions, and had {places} when the Graph "
                    "was made of it: make another"
                )
            by_batch = [[partitions[place] for place in batch.places] for batch in self.batches]
        return by_batch, [[self.prints[place] for place in batch.places] for batch in self.batches]

    def without_partitions(self) -> Self:
        """Return the same without the user's rows, whose numbers stay."""
        batches = [Batch(batch.worker, batch.places, []) for batch in self.batches]
        id_ranges = None if self.id_ranges is None else self.id_ranges.without_rows()
        return replace(self, batches=batches, id_ranges=id_ranges, scheme=None)


@dataclass(frozen=True, eq=False)
class BlockKind:
    """Which triangles of a graph in blocks count.

    Attributes
    ----------
    quantity : Within, optional
        The triangles of the kind of every edge; None if all triangles count.
    arrays : list of Task
        What was read for the edges of each block.
    further : int
        Intervals of the edges, without the first of each.
    """

    quantity: Within | None
    arrays: list[Task]
    further: int = 0

    def with_arrays(self, arrays: Callable[[list[Task]], list[Task]]) -> BlockKind:
        """Return the kind with what a function makes of the arrays; all triangles have none."""
        return self if self.quantity is None else replace(self, arrays=arrays(self.arrays))

    def bytes(self, edges: int) -> int:
        """Return the bytes that so many edges take at most, while they are peeled as one graph."""
        if self.quantity is None:
            return 0
        own = self.quantity.reading.rule.bytes
        return (costs.PEELED_KIND + own) * edges + own * self.further


@dataclass(frozen=True, kw_only=True, eq=False)
class Blocked(Numbered):
    """A graph in n x n blocks, each on one machine, which plain functions are mapped over.

    Attributes
    ----------
    orders : dict of str to Task
        For each machine that has rows: the rank of every number, and the number of vertices. Empty
        if numbers are ranked in several ranges.
    ranked : list of Task
        The ranks of each range of numbers, if there are several.
    vertices : Task
        The number of vertices.
    partition : Partition
        Has n and m: the graph is n x n blocks, and each task is cut in m parts.
    counting_workers : list of str
        The machines that count: those with most rows.
    blocks : list of Task
        Every block (i, j), at place i * n + j; if n is 1, a copy for each counting machine.
    ranks : list of Task
        The ranks of both ends of every row, by batch; none if the rows are dropped.
    kind : BlockKind, optional
        Which triangles count; by default all.
    known : dict
        What has been asked of the whole graph, by the question: see `once`.
    """

    orders: dict[str, Task]
    vertices: Task
    partition: Partition
    counting_workers: list[str]
    blocks: list[Task]
    ranked: list[Task] = field(default_factory=list)
    ranks: list[Task] = field(default_factory=list)
    kind: BlockKind | None = None
    known: dict[Callable[..., Any], Any] = field(default_factory=dict)

    def without_rows(self) -> Self:
        """Return the blocks alone, for analytics that need no rows."""
        return replace(self.without_partitions(), numbers=[], ranks=[])

    @property
    def n(self) -> int:
        """The number of blocks per side."""
        return self.partition.n

    @property
    def order(self) -> Task:
        """Any of `orders`, which are equal.

        Raises
        ------
        CapacityError
            Numbers are ranked in several ranges.
        """
        self.require_whole()
        return next(iter(self.orders.values()))

    @property
    def peels_whole(self) -> bool:
        """Whether the graph is one block, which is peeled as it is."""
        return self.n == 1

    def fits(self, edges: int, level: int = 0) -> bool:
        """Return whether so many edges can be peeled as one graph; no level is below `level`."""
        return grid.fits(edges, self.size, self.free - self.kind_or_all.bytes(edges), self.engine)

    @property
    def kind_or_all(self) -> BlockKind:
        """Which triangles count, also if all do."""
        return self.kind or BlockKind(None, [None] * self.n**2)

    @cached_property
    def jobs(self) -> list[PlacedJob]:
        """All tasks: if n is 1, a share for each counting machine; else one job per task."""
        tasks = grid.tasks(self.partition)
        if self.n > 1:
            return [PlacedJob([task], None) for task in tasks]
        dealt = grid.assign_snake(tasks, len(self.counting_workers))
        return [
            PlacedJob(own, worker)
            for own, worker in zip(dealt, self.counting_workers, strict=True)
            if own
        ]

    @property
    def places_of_blocks(self) -> list[Block]:
        """The residues (i, j) of every block, in the order of `blocks`."""
        return [divmod(place, self.n) for place in range(self.n**2)]

    def each(
        self, stage: str, function: Callable[..., Any], *by_block: list[Any],
        more: tuple[Any, ...] = (),
    ) -> list[Task]:  # fmt: skip
        """Submit a task per block; `more` follows the arguments of the block."""
        of_blocks = zip(range(self.n**2), *by_block, strict=True)
        return [self.submit(stage, function, *own, *more) for _, *own in of_blocks]

    def edges_of(self, stage: str, blocks: list[Task]) -> list[int]:
        """Return the number of edges of each of some blocks."""
        counted = [self.submit(stage, codec.edges, block) for block in blocks]
        return list(self.executor.gather(counted))

    def each_block(
        self, stage: str, function: Callable[..., Any], *by_block: list[Any],
        more: tuple[Any, ...] = (), of: list[Task] | None = None,
    ) -> list[Task]:  # fmt: skip
        """Submit a function of a `PlacedBlock` per block; `of`, if given, replaces `blocks`."""
        return [
            self.submit_block(stage, function, place, *own, *more, of=of)
            for place, *own in zip(range(self.n**2), *by_block, strict=True)
        ]

    def submit_block(
        self, stage: str, function: Callable[..., Any], place: int, *args: Any,
        of: list[Task] | None = None, on: str | None = None,
    ) -> Task:  # fmt: skip
        """Submit a function of a `PlacedBlock`; `of`, if given, replaces `blocks`."""
        block = of[place] if of else self.block_at(place, on)
        where = block, place, self.n, self.vertices
        return self.submit(stage, on_block, function, *where, *args, on=on)

    def rows_of_block(
        self, stage: str, function: Callable[..., Any], place: int, *by_batch: list[Any],
        more: tuple[Any, ...] = (),
    ) -> list[Task]:  # fmt: skip
        """Submit a function of the `RowsOfBlock` of a block for each batch, on its worker."""
        return [
            self.submit(
                stage, on_rows, function, ranks, self.block_at(place, worker), place, self.n, *own,
                *more, on=worker,
            )
            for worker, ranks, *own in zip(self.workers_of_rows, self.ranks, *by_batch, strict=True)
        ]  # fmt: skip

    def each_of_rows(
        self, stage: str, select: Callable[..., Any], merge: Callable[..., Any],
        *by_batch: list[Any], more: tuple[Any, ...] = (),
    ) -> list[Task]:  # fmt: skip
        """Submit a task per block, of what `select` makes of the `RowsOfBlock` of each batch.

        `merge` gets the block, encoded, lists of the results of several batches, `more`, and the
        backend. The rows of a list are in any order, and follow those of the list before it.
        """
        workers, result = self.counting_workers, []
        for place in range(self.n**2):
            worker = workers[place % len(workers)]
            parts = self.rows_of_block(stage, select, place, *by_batch, more=more)
            of_block = self.block_at(place, worker), [parts]
            result.append(self.submit(stage, merge, *of_block, *more, on=worker))
        return result

    def at_ends(
        self, function: Callable[..., Any], *by_block: list[Any],
        combine: Callable[..., Any] = add,
    ) -> list[Task]:  # fmt: skip
        """Combine what a function of a `PlacedBlock` returns for both ends of its edges."""
        tasks = self.each_block("sum", function, *by_block)
        return self.by_residue(zip(self.places_of_blocks, tasks, strict=True), combine)

    def by_job(
        self,
        function: Callable[..., Any],
        *more: Any,
        of: list[Task] | None = None,
        values: list[Task] | None = None,
        by_residue: list[Task] | None = None,
    ) -> Iterator[tuple[PlacedJob, Task]]:
        """Yield each job with its task, as tasks end: a function of a `BlockJob`.

        `of`, if given, replaces `blocks`. With `values` of each block, the task gets those of its
        three blocks, before `more`; with values of ranks `by_residue`, those of the residues of its
        three corners.

        Few tasks are under way at once, so that workers do not fetch all blocks at the same time.
        """

        def submitted() -> Iterator[tuple[PlacedJob, Task]]:
            for job in self.jobs:
                of_job = self.values_of(job, values, by_residue)
                yield job, self.submit_job("count", function, job, *of_job, *more, of=of)

        at_once = AT_ONCE * sum(worker.threads for worker in self.workers)
        return self.executor.as_completed(
            submitted(), max(at_once, len(self.counting_workers)), len(self.jobs)
        )

    def by_share(self, function: Callable[..., Any]) -> dict[str | None, Task]:
        """Submit a function of a graph in one block and of a share of its work, on each machine.

        A share is a part, and of how many.
        """
        workers = self.counting_workers
        return {
            worker: self.submit_block("count", function, 0, (part, len(workers)), on=worker)
            for part, worker in enumerate(workers)
        }

    def submit_job(
        self, stage: str, function: Callable[..., Any], job: PlacedJob, *more: Any,
        of: list[Task] | None = None,
    ) -> Task:  # fmt: skip
        """Submit a function of a `BlockJob`; `of`, if given, replaces `blocks`."""
        three = [of[p] if of else self.block_at(p, job.worker) for p in self.places(job)]
        return self.submit(
            stage, on_job, function, three, job.tasks, self.n, self.method, *more, on=job.worker
        )

    def values_of(
        self, job: PlacedJob, values: list[Task] | None, by_residue: list[Task] | None
    ) -> list[list[Task]]:
        """Return the values of a job's three blocks and of its three corners, as far as given."""
        of_job = [[values[p] for p in self.places(job)]] if values else []
        if by_residue:
            of_job.append([by_residue[r] for r in job.tasks[0].residues])
        return of_job

    def places(self, job: PlacedJob) -> list[int]:
        """Return the places in `blocks` of a job's three blocks uv, uw and vw."""
        return [i * self.n + j for i, j in job.tasks[0].blocks]

    def block_at(self, place: int, worker: str | None) -> Task:
        """Return a block; if n is 1, the copy on that machine, or else the first copy."""
        if self.n == 1:
            place = self.counting_workers.index(worker) if worker in self.counting_workers else 0
        return self.blocks[place]

    def by_residue(
        self, results: Iterable[tuple[Sequence[int], Task]], combine: Callable[..., Any] = add
    ) -> list[Task]:
        """Combine results by residue: each lists values for some residues, or is for all ranks."""
        if self.n == 1:
            return [self.reduce("sum", combine, (task for _, task in results))]
        return self._by_place(self.n, results, combine)

    def by_block(
        self,
        jobs: Iterable[tuple[PlacedJob, Task]],
        combine: Callable[..., Any] = add,
        at_once: int = 2,
    ) -> list[Task]:
        """Combine what jobs return for each of their three blocks."""
        results = ((self.places(job) if self.n > 1 else [0], task) for job, task in jobs)
        return self._by_place(self.n**2, results, combine, at_once)

    def _by_place(
        self, count: int, results: Iterable[tuple[Sequence[int], Task]],
        combine: Callable[..., Any], at_once: int = 2,
    ) -> list[Task]:  # fmt: skip
        by_place = [self.sum_of("sum", combine, at_once) for _ in range(count)]
        for places, task in results:
            for side, place in enumerate(places):
                by_place[place].add(
                    self.submit("sum", operator.getitem, task, side, first=True)  # frees the rest
                )
        return [each.left(1)[0] for each in by_place]
