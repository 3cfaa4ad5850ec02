"""Map plain functions over the batches, blocks and jobs of a partitioned graph, on an executor.

A function runs on a worker: see `rapids_tc.blocks.context.WorkerContext.run` for what it may ask
for. A function of a block gets it decoded, with its place; a function of a job gets three blocks.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from rapids_tc.blocks import codec, geometry, grid
from rapids_tc.blocks.arrivals import require, require_below, require_length

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from types import ModuleType

    from rapids_tc.blocks.codec import EncodedBlock
    from rapids_tc.blocks.context import WorkerContext
    from rapids_tc.blocks.geometry import Block
    from rapids_tc.blocks.grid import Partition
    from rapids_tc.blocks.grid import Task as BlockTask
    from rapids_tc.engines.protocol import Engine
    from rapids_tc.executors.protocol import Batch, Executor, Task, Worker
    from rapids_tc.frames.backend import Array, Frame
    from rapids_tc.preparation.csr import Csr

FEW = 8  # results that every machine fetches; more results are combined first
AT_ONCE = 2  # tasks on blocks under way per thread of the cluster
SAMPLE = 2**25  # edges by which parts of a whole graph are made even


# On a worker --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PlacedBlock:
    """A block (i, j) of n x n of a graph of so many vertices, which are the limit of its ranks."""

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
        """Join the slices of the values of all edges."""
        of_edges = self.xp.concatenate(values)
        require_length(of_edges, self.csr.m, f"{what} of edges")
        return of_edges

    def by_end(
        self, by_row: Array, by_column: Array, combine: Callable[..., Any] = operator.add
    ) -> Any:
        """Return values by rank of the residue of each end; of a graph in one block, combined."""
        by_ends = geometry.end_sums(self.vertices, self.n, self.at, by_row, by_column)
        return combine(*by_ends) if self.n == 1 else by_ends


def on_block(
    function: Callable[..., Any], rows: EncodedBlock, place: int, n: int, vertices: int, *args: Any,
    engine: Engine, xp: ModuleType,
) -> Any:  # fmt: skip
    """Decode the block at place i * n + j, and call a function of it."""
    block, at = codec.block(rows, place, n, vertices, xp)
    return function(PlacedBlock(block, at, n, vertices, engine, xp), *args)


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

    def layouts(self, *, of_blocks: bool = False) -> Iterator[Any]:
        """Yield the layout of each task, one at a time; `of_blocks` also if the graph is one."""
        of_blocks = of_blocks or self.n > 1
        engine, (uv, uw, vw) = self.engine, self.three
        parts, residues, bounds = self.tasks[0].parts, self.residues, [0]
        i, j, k = residues  # of a whole graph all are the same, and so are the blocks
        require(uv.n - (i > j) == uw.n - (i > k), f"blocks of {uv.n} and {uw.n} rows")
        require_below(uv.columns, vw.n - (j > k), "ranks")
        grouped = engine.to_csc(uv) if of_blocks else uv  # once for all
        if parts > 1 and self.n > 1:
            probes = engine.probe_counts(grouped, uw, residues)
            bounds = grid.cuts(grid.cost(probes, uv, engine), parts)
        elif parts > 1:  # by some rows: nearly as even, and no sort of all in-edges
            some = grid.sampled(uv, 1 + uv.m // SAMPLE, self.xp)
            bounds = grid.cuts(grid.cost(engine.probe_counts(some), some, engine), parts)
        for task in self.tasks:
            pivot_range = (bounds[task.part], bounds[task.part + 1]) if parts > 1 else None
            if not of_blocks:
                yield engine.prepare(uv, pivot_range=pivot_range)
            else:
                yield engine.prepare_blocks(grouped, uw, vw, residues, pivot_range=pivot_range)

    def by_edge(self, count: Callable[[Any], Any]) -> list[Array]:
        """Add up what `count` returns for each layout: an array per block, or one of the graph."""
        sums: list[Array] = []
        for layout in self.layouts():
            more = [count(layout)] if self.n == 1 else [*count(layout)]
            sums = [a + b for a, b in zip(sums, more, strict=True)] if sums else more
        return sums


def on_job(
    function: Callable[..., Any], encoded: list[EncodedBlock], tasks: list[BlockTask], n: int,
    method: str, *args: Any, engine: Engine, xp: ModuleType,
) -> Any:  # fmt: skip
    """Decode the blocks uv, uw and vw of a job, each once, and call a function of the job."""
    apart = {id(rows): rows for rows in encoded}
    decoded = {at: codec.csr(rows, xp) for at, rows in apart.items()}
    three = tuple(decoded[id(rows)] for rows in encoded)
    return function(BlockJob(three, tasks, n, method, engine, xp), *args)


def add(several: list[Array]) -> Array:
    """Add several arrays up."""
    for array in several:
        require_length(array, len(several[0]), "sums")
    total = several[0].copy()
    for array in several[1:]:
        total += array
    return total


def largest(several: list[Array], *, xp: ModuleType) -> Array:
    """Return the largest entries of several arrays; of marks, whether any array has them."""
    result = several[0].copy()
    for array in several[1:]:
        require_length(array, len(result), "values")
        xp.maximum(result, array, out=result)
    return result


def head(frame: Frame) -> Frame:
    """Return a frame without its rows."""
    return frame.iloc[:0]


# In the process that calls ------------------------------------------------------------------------


@dataclass(frozen=True)
class Job:
    """Tasks on the same three blocks, and the machine that runs them; None if any may."""

    tasks: list[BlockTask]
    worker: str | None


class Sum:
    """The sum of results that come one by one: some sums of equally many are added at once.

    So few results are held: of two at once, no more than the number of all results has bits.

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
        self._held: list[list[Task]] = []  # by how often they were added

    def add(self, result: Task) -> None:
        """Add one more result, of the kind that `combine` takes a list of."""
        for held in self._held:
            held.append(result)
            if len(held) < self._at_once:
                return
            result = self._submit(self._combine, [*held])
            held.clear()
        self._held.append([result])

    def left(self, most: int) -> list[Task]:
        """Add up until so many results are left, at the most; of one, the sum of all."""
        results = [result for held in self._held for result in held]
        while len(results) > most:
            some, results = results[: self._at_once], results[self._at_once :]
            results.insert(0, self._submit(self._combine, some))
        return results


class BlockMap(ABC):
    """Where and how the tasks of a call run.

    Parameters
    ----------
    executor : Executor
        Runs the tasks.
    context : WorkerContext
        Where and how each works.
    workers, batches : list of Worker, list of Batch
        The machines, and the user's edges by the machine that has them.
    method : str
        An intersection method.
    """

    def __init__(
        self, executor: Executor, context: WorkerContext, workers: list[Worker],
        batches: list[Batch], method: str,
    ) -> None:  # fmt: skip
        self.executor, self.context, self.method = executor, context, method
        self.workers, self.batches = workers, batches

    @property
    @abstractmethod
    def partition(self) -> Partition:
        """The numbers n and m: the graph is n x n blocks, and each task is in m parts."""

    @property
    def n(self) -> int:
        """The number of blocks per side."""
        return self.partition.n

    @property
    @abstractmethod
    def vertices(self) -> Task:
        """The number of vertices."""

    @property
    @abstractmethod
    def counting_workers(self) -> list[str]:
        """The machines that count."""

    @property
    @abstractmethod
    def blocks(self) -> list[Task]:
        """Every block (i, j), at place i * n + j; if n is 1, a copy for each counting machine."""

    @property
    @abstractmethod
    def jobs(self) -> list[Job]:
        """All tasks, by the blocks that they need."""

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
        """Submit a task per batch, on its worker; each gets `more` behind what is of its batch."""
        return [
            self.submit(stage, function, *own, *more, on=worker)
            for worker, *own in zip(self.workers_of_rows, *by_batch, strict=True)
        ]

    @property
    def places_of_blocks(self) -> list[Block]:
        """The residues (i, j) of every block, in the order of `blocks`."""
        return [divmod(place, self.n) for place in range(self.n**2)]

    def each(
        self, stage: str, function: Callable[..., Any], *by_block: list[Any],
        more: tuple[Any, ...] = (),
    ) -> list[Task]:  # fmt: skip
        """Submit a task per block; each gets `more` behind what is of its block."""
        of_blocks = zip(range(self.n**2), *by_block, strict=True)
        return [self.submit(stage, function, *own, *more) for _, *own in of_blocks]

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
    ) -> Iterator[tuple[Job, Task]]:
        """Yield each job with its task, as tasks end: a function of a `BlockJob`.

        `of`, if given, replaces `blocks`. With `values` of each block, the task gets those of its
        three blocks, before `more`; with values of ranks `by_residue`, those of the residues of its
        three corners.

        Few tasks are under way at once, so that workers do not fetch all blocks at the same time.
        """

        def submitted() -> Iterator[tuple[Job, Task]]:
            for job in self.jobs:
                of_job = self.values_of(job, values, by_residue)
                yield job, self.submit_job("count", function, job, *of_job, *more, of=of)

        at_once = AT_ONCE * sum(worker.threads for worker in self.workers)
        return self.executor.as_completed(
            submitted(), max(at_once, len(self.counting_workers)), len(self.jobs)
        )

    def submit_job(
        self, stage: str, function: Callable[..., Any], job: Job, *more: Any,
        of: list[Task] | None = None,
    ) -> Task:  # fmt: skip
        """Submit a function of a `BlockJob`; `of`, if given, replaces `blocks`."""
        three = [of[p] if of else self.block_at(p, job.worker) for p in self.places(job)]
        return self.submit(
            stage, on_job, function, three, job.tasks, self.n, self.method, *more, on=job.worker
        )

    def values_of(
        self, job: Job, values: list[Task] | None, by_residue: list[Task] | None
    ) -> list[list[Task]]:
        """Return the values of a job's three blocks, and those of its corners, as far as given."""
        of_job = [[values[p] for p in self.places(job)]] if values else []
        if by_residue:
            of_job.append([by_residue[r] for r in job.tasks[0].residues])
        return of_job

    def places(self, job: Job) -> list[int]:
        """Return the places in `blocks` of a job's three blocks uv, uw and vw."""
        return [i * self.n + j for i, j in job.tasks[0].blocks]

    def block_at(self, place: int, worker: str | None) -> Task:
        """Return a block; if n is 1, the copy on that machine, or else the first copy."""
        if self.n == 1:
            place = self.counting_workers.index(worker) if worker in self.counting_workers else 0
        return self.blocks[place]

    def sum_of(self, stage: str, combine: Callable[..., Any], at_once: int = 2) -> Sum:
        """Return a sum, whose tasks run before others: then what they add up can go."""
        return Sum(partial(self.submit, stage, first=True), combine, at_once)

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
    ) -> Sum:
        result = self.sum_of(stage, combine, at_once)
        for task in tasks:
            result.add(task)
        return result

    def to_frame(self, stage: str, frames: list[Task], lengths: list[int]) -> Frame:
        """Make the partitioned frame of frames that tasks return, of so many rows each."""
        meta = self.executor.gather(self.submit(stage, head, frames[0]))
        return self.executor.to_frame(frames, meta, lengths)

    def by_residue(
        self, results: Iterable[tuple[Sequence[int], Task]], combine: Callable[..., Any] = add
    ) -> list[Task]:
        """Combine results, each a list of the values of ranks of some residues, or of all ranks."""
        if self.n == 1:
            return [self.reduce("sum", combine, (task for _, task in results))]
        return self._by_place(self.n, results, combine)

    def by_block(self, jobs: Iterable[tuple[Job, Task]], at_once: int = 2) -> list[Task]:
        """Sum what jobs return for each of their three blocks."""
        results = ((self.places(job) if self.n > 1 else [0], task) for job, task in jobs)
        return self._by_place(self.n**2, results, add, at_once)

    def _by_place(
        self, count: int, results: Iterable[tuple[Sequence[int], Task]],
        combine: Callable[..., Any], at_once: int = 2,
    ) -> list[Task]:  # fmt: skip
        by_place = [self.sum_of("sum", combine, at_once) for _ in range(count)]
        for places, task in results:
            for side, place in enumerate(places):
                by_place[place].add(
                    self.submit("sum", operator.getitem, task, side, first=True)  # nobody holds it
                )
        return [each.left(1)[0] for each in by_place]
