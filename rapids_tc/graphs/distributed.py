"""A graph whose edges lie on many machines: numbered, ordered, cut in blocks and counted by tasks.

The calling process holds tasks and a few integers, but no arrays. A graph that fits one machine is
one block: each machine merges the parts of all batches into its own copy, and counts the triangles
of its share of the pivot vertices. A larger graph is n x n blocks, each merged on one machine, and
n**3 tasks that fetch three blocks each: see `rapids_tc.blocks.grid`.
"""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from math import ceil, sqrt
from typing import TYPE_CHECKING, Any

from rapids_tc.blocks import grid, id_ranges, id_tasks, parts, ranges, worker_tasks
from rapids_tc.blocks.grid import Partition
from rapids_tc.blocks.grid import Task as BlockTask
from rapids_tc.blocks.submission import Submission
from rapids_tc.errors import CapacityError
from rapids_tc.executors.protocol import Batch, Executor, Task, Worker, split_batches
from rapids_tc.frames.backend import resolve_engine
from rapids_tc.plan import costs, needs
from rapids_tc.plan.layout import given_layout
from rapids_tc.plan.record import Needs, Result, Work
from rapids_tc.preparation.edge_columns import EdgeColumns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rapids_tc.blocks.id_ranges import IdRanges
    from rapids_tc.blocks.parts import Range
    from rapids_tc.blocks.worker_tasks import WorkerContext
    from rapids_tc.preparation.fingerprints import Fingerprint

PEELING = Work(Needs.EDGE_COUNTS | Needs.TRUSSNESS, Result.ROWS)
LEAST_ROWS = 2**16  # per counting machine, at least: fewer rows are not worth sending
AT_ONCE = 2  # tasks on blocks under way per thread of the cluster
BY_HOST = ("tcp://", "tls://")  # addresses of workers that cannot send from GPU memory
log = logging.getLogger("rapids_tc")


@dataclass(frozen=True)
class Job:
    """Tasks on the same three blocks, and the machine that runs them; None if any may."""

    tasks: list[BlockTask]
    worker: str | None


class DistributedGraph(Submission):
    """The graph of one call. Call `profile` before any other method.

    Parameters
    ----------
    executor : Executor
        Runs the tasks.
    context : WorkerContext
        The first argument of every task.
    workers, batches : list of Worker, list of Batch
        The machines, and the user's edges by the machine that has them.
    name : str
        The name of the analytic.
    work : Work
        What the call needs.
    method : str
        An intersection method; any but "auto" counts the whole graph on one machine.
    limit : int or None
        Bytes that a machine may take.
    """

    def __init__(
        self,
        executor: Executor,
        context: WorkerContext,
        workers: list[Worker],
        batches: list[Batch],
        name: str,
        work: Work,
        method: str,
        limit: int | None,
    ) -> None:
        super().__init__(executor, context, workers, batches)
        self.method, self._limit, self._name, self._work = method, limit, name, work
        self.known: dict[str, Any] = {}  # what functions have asked of the whole graph, by name

    def once(self, name: str, submit: Callable[[], Any]) -> Any:
        """Return what `submit` returns; what is known by that name already is not asked again."""
        if name not in self.known:
            self.known[name] = submit()
        return self.known[name]

    def profile(self) -> None:
        """Profile the ids of all partitions; decide how to number them and how much may fit."""
        gather = self.executor.gather
        places = [batch.places for batch in self.batches]
        partitions = [batch.partitions for batch in self.batches]
        profiles = self.map_batches("profile", id_tasks.profile, partitions, places)
        scheme = self.submit("profile", id_tasks.resolve_scheme, profiles)
        prints, size, memory = gather(self.submit("profile", id_tasks.known, scheme))
        self._prints = {own.place: own for some in prints for own in some}  # to check later reads
        self.scheme = self.submit("profile", id_tasks.settled, scheme, prints)
        self.rows: list[list[int]] = [[own.rows for own in some] for some in prints]
        self._split(memory)
        self.id_ranges: IdRanges | None = None
        self._ids = distinct = None
        if size is None:
            distinct = self._distinct()
        if self.id_ranges is not None:
            self.size: int = self.id_ranges.size
        else:
            self._ids = self.submit("ids", id_tasks.make_ids, self.scheme, distinct)
            if isinstance(self.context.labels, EdgeColumns):
                self._find_keys()
            known = size is not None
            self.size = size if known else gather(self.submit("ids", id_tasks.size_of, self._ids))
        least = ceil(self.size / costs.RANGES)
        needs.require([needs.Stage("order", costs.CLUSTER_NUMBER * least)], self._limit)

    def _distinct(self) -> Task | None:
        """Find the distinct ids; None if they are to lie in ranges, which are then set."""
        apart = self.map_batches("ids", id_tasks.distinct, *self.to_read, self.scheme)
        if not isinstance(self.context.labels, EdgeColumns):
            held = self.map_batches("ids", id_ranges.nbytes, apart)
            ids, used = (sum(side) for side in zip(*self.executor.gather(held), strict=True))
            layout, sizes = given_layout(), (ids, self.free, len(self.workers), used)
            count = layout.ranges if layout else parts.range_count(*sizes)
            if count > 1:
                self.id_ranges = id_ranges.cut(self, self.scheme, apart, count)
                return None
        return self.tree("ids", id_tasks.union, apart)

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
        return self._ids

    def _find_keys(self) -> None:
        """Find the keys of all composite ids; first of some digits, if all exceed 64 bits."""
        while True:
            digits = self.executor.gather(self.submit("ids", id_tasks.overflow, self._ids))
            arguments = self._ids, self.scheme, digits
            apart = self.map_batches("ids", id_tasks.distinct_keys, *self.to_read, *arguments)
            keys = self.tree("ids", id_tasks.union_keys, apart)
            self._ids = self.submit("ids", id_tasks.with_keys, self._ids, keys, digits)
            if digits is None:
                return

    def _split(self, memory: int) -> None:
        """Set the bytes that a machine may take, and split the batches that are too large."""
        if not self._on_cards:  # workers of one host have the same memory
            memory //= max(Counter(w.address.rpartition(":")[0] for w in self.workers).values())
        least = min([memory, *(w.memory for w in self.workers if w.memory)])
        self.free = self._limit or int(costs.MEMORY_SHARE * least)
        rows = self.free // costs.CLUSTER_ROW
        self.batches, self.rows = split_batches(self.batches, self.rows, rows)

    @property
    def _on_cards(self) -> bool:
        return resolve_engine(self.context.adapter, self.context.engine) == "cuda"

    # The way to blocks ----------------------------------------------------------------------------

    def drop_rows(self) -> None:
        """Drop the rows, for analytics that need only blocks."""
        self.blocks  # noqa: B018 - built now, while there are rows
        for name in ("numbers", "ranks"):
            self.__dict__.pop(name, None)
        if self.id_ranges is not None:
            self.id_ranges = self.id_ranges.without_rows()
        for group in self.batches:
            group.partitions.clear()

    @property
    def to_read(self) -> tuple[list[list[Task]], list[list[Fingerprint]]]:
        """The partitions of each batch, and their fingerprints from `profile`."""
        prints = [[self._prints[place] for place in group.places] for group in self.batches]
        return [group.partitions for group in self.batches], prints

    @cached_property
    def numbers(self) -> list[Task]:
        """The numbers of both ends of every row, by batch."""
        if self.id_ranges is not None:
            of_ids = self.id_ranges.pieces, self.id_ranges.numbers
            return self.map_batches("number", id_ranges.number, *self.to_read, self.scheme, *of_ids)
        return self.map_batches("number", id_tasks.number, *self.to_read, self.ids, self.scheme)

    def sample(self, colours: int, seed: int) -> None:
        """Keep only the edges of a sample, whose two ends have the same colour."""
        given = (self.numbers, self.ids, colours, seed)
        self.numbers = self.map_batches("sample", id_tasks.one_coloured, *given)
        kept = self.map_batches("sample", id_tasks.rows_of, self.numbers)
        self.rows = [[rows] for rows in self.executor.gather(kept)]

    @cached_property
    def ranges(self) -> list[Range]:
        """The ranges in which numbers are ranked: one, if every machine may hold all ranks."""
        if self.id_ranges is not None:
            return self.id_ranges.parts
        layout, sizes = given_layout(), (self.size, self.free, len(self.workers))
        return parts.cut(self.size, layout.ranges if layout else parts.range_count(*sizes))

    def require_whole(self) -> None:
        """Raise CapacityError if no machine may hold a value of every vertex."""
        if len(self.ranges) > 1:
            raise CapacityError(
                f"{self._name}, as it is called, needs the ranks of all {self.size:,} ids on one "
                f"worker: {costs.CLUSTER_NUMBER * self.size:,} bytes while they are made, of "
                f"{self.free:,}; raise memory_limit=, or take workers of more memory"
            )

    @cached_property
    def orders(self) -> dict[str, Task]:
        """The rank of every number, and the number of vertices, on each machine that has rows.

        Raises
        ------
        CapacityError
            Numbers are ranked in several ranges.
        """
        self.require_whole()
        codes = self.map_batches("degrees", worker_tasks.degrees, self.numbers, self.size)
        codes = self.few("degrees", worker_tasks.add_degrees, codes)
        workers = dict.fromkeys(batch.worker for batch in self.batches)
        return {at: self.submit("order", worker_tasks.order, codes, on=at) for at in workers}

    @property
    def order(self) -> Task:
        """Any of `orders`, which are equal."""
        return next(iter(self.orders.values()))

    @cached_property
    def ranked(self) -> tuple[list[Task], Task]:
        """The ranks of each of several ranges of numbers, and the number of vertices."""
        return ranges.ranks(self, self.numbers, self.size, self.ranges)

    @cached_property
    def vertices(self) -> Task:
        """The number of vertices."""
        if len(self.ranges) > 1:
            return self.ranked[1]
        return self.submit("order", worker_tasks.count_ranks, self.order)

    @cached_property
    def ranks(self) -> list[Task]:
        """The ranks of both ends of every row, by batch."""
        if len(self.ranges) > 1:
            values = self.ranked[0], self.ranges
            return ranges.look_up(self, "rank", self.numbers, self.workers_of_rows, *values)
        orders = [self.orders[worker] for worker in self.workers_of_rows]
        return self.map_batches("rank", worker_tasks.ranks, self.numbers, orders)

    @cached_property
    def partition(self) -> Partition:
        """The numbers n and m: the graph is n x n blocks, and each task is in m parts."""
        rows, least, values = sum(map(sum, self.rows)), 1, grid.values_of(self._work)
        if self._work.needs & Needs.TRUSSNESS and not self.fits(rows):
            least = 2
        if self._on_cards and rows > costs.MOST_KEYS:  # limits three blocks' edges to 2**32
            least = max(2, ceil(sqrt(3 * costs.UNEVEN * rows / costs.MOST_POSITIONS["cuda"])))
        if layout := given_layout():
            made = Partition(layout.n, layout.m)
        else:
            made = grid.choose(
                rows, self.size, self.free, len(self.counting_workers), least, values
            )
        made = grid.of_method(made, self.method)
        log.info(
            "%s: %d rows in %d partitions on %d workers; %d x %d blocks, %d tasks",
            self._name, rows, sum(map(len, self.rows)), len(self.workers), made.n, made.n,
            made.n**3 * made.m,
        )  # fmt: skip
        return made

    def fits(self, edges: int) -> bool:
        """Return whether one machine can peel a graph of so many edges."""
        if (layout := given_layout()) and layout.peel_below is not None:
            return edges < layout.peel_below
        engine = "cuda" if self._on_cards else "cpu"
        stages = needs.stages(PEELING, edges, min(self.size, 2 * edges), True, engine)
        return max(stage.bytes for stage in stages) <= self.free

    @property
    def n(self) -> int:
        """The number of blocks per side."""
        return self.partition.n

    @cached_property
    def counting_workers(self) -> list[str]:
        """The machines that count: those with most rows, at most one per `LEAST_ROWS` rows."""
        held = dict.fromkeys((w.address for w in self.workers), 0)
        for group, rows in zip(self.batches, self.rows, strict=True):
            held[group.worker] = held.get(group.worker, 0) + sum(rows)
        useful = 1 if self.method != "auto" else max(1, sum(held.values()) // LEAST_ROWS)
        return sorted(held, key=lambda worker: -held[worker])[:useful]

    @cached_property
    def packed(self) -> list[Task]:
        """The edges of each batch, encoded in one part per block."""
        batch = min(costs.MOST_KEYS, max(LEAST_ROWS, self.free // costs.CLUSTER_ROW))
        shape = self.vertices, self.n
        return self.map_batches("pack", worker_tasks.pack, self.ranks, *shape, batch)

    @cached_property
    def blocks(self) -> list[Task]:
        """Every block (i, j), at place i * n + j; if n is 1, a copy for each counting machine."""
        counting_workers = self.counting_workers
        copies = [(0, worker) for worker in counting_workers]
        apart = [
            (place, counting_workers[place % len(counting_workers)]) for place in range(self.n**2)
        ]
        shape = self.vertices, self.n
        made = [
            self.submit(
                "merge", worker_tasks.merge, self._pieces(place, worker), *shape, place, on=worker
            )
            for place, worker in (copies if self.n == 1 else apart)
        ]
        for name in ("packed", "_sent"):
            self.__dict__.pop(name, None)
        return made

    def _pieces(self, place: int, worker: str) -> list[Task]:
        """Return tasks that list the parts of a block, for the machine that merges them.

        If there are several blocks, each worker picks the parts of all its batches in one task:
        tasks per batch and block would be many more than all others together.
        """
        by_holder: dict[str, list[Task]] = {}
        for group, near, far in zip(self.batches, self.packed, self._sent, strict=True):
            packed = by_holder.setdefault(group.worker, [])
            packed.append(near if group.worker == worker else far)
        if self.n == 1:
            return [task for packed in by_holder.values() for task in packed]
        return [
            self.submit("pack", worker_tasks.pick, packed, place, on=holder)
            for holder, packed in by_holder.items()
        ]

    @cached_property
    def _sent(self) -> list[Task]:
        """The parts as other machines fetch them: on the host if workers cannot send from a GPU."""
        if not self._on_cards or not self.workers[0].address.startswith(BY_HOST):
            return self.packed
        return self.map_batches("send", worker_tasks.by_host, self.packed)

    def block_at(self, place: int, worker: str | None) -> Task:
        """Return a block; if n is 1, the copy on that machine, or else the first copy."""
        if self.n == 1:
            place = self.counting_workers.index(worker) if worker in self.counting_workers else 0
        return self.blocks[place]

    @property
    def ids_by_range(self) -> list[Task]:
        """The ids of each of `ranges`."""
        if self.id_ranges is not None:
            return self.id_ranges.ids
        return [self.submit("ids", id_tasks.ids_in, self.ids, part) for part in self.ranges]

    # Tasks on blocks ------------------------------------------------------------------------------

    @cached_property
    def jobs(self) -> list[Job]:
        """All tasks: if n is 1, a share for each counting machine; else one job per task."""
        tasks, counting_workers = grid.tasks(self.partition), self.counting_workers
        if self.n > 1:
            return [Job([task], None) for task in tasks]
        dealt = grid.assign_snake(tasks, len(counting_workers))
        return [
            Job(own, worker) for own, worker in zip(dealt, counting_workers, strict=True) if own
        ]

    def each_job(
        self,
        chunk: Callable[..., Any],
        *more: Any,
        of: list[Task] | None = None,
        values: list[Task] | None = None,
    ) -> Iterator[tuple[Job, Task]]:
        """Yield each job with its task, as tasks end; `of`, if given, replaces `blocks`.

        With `values` of each block, the task gets those of its three blocks, before `more`.

        Few tasks are under way at once, so that workers do not fetch all blocks at the same time.
        """

        def submitted() -> Iterator[tuple[Job, Task]]:
            for job in self.jobs:
                places = self.places(job)
                three = [of[p] if of else self.block_at(p, job.worker) for p in places]
                of_blocks = [[values[p] for p in places]] if values else []
                rest = (job.tasks, self.n, self.method, *of_blocks, *more)
                yield job, self.submit("count", chunk, *three, *rest, on=job.worker)

        at_once = AT_ONCE * sum(worker.threads for worker in self.workers)
        return self.executor.as_completed(
            submitted(), max(at_once, len(self.counting_workers)), len(self.jobs)
        )

    def places(self, job: Job) -> list[int]:
        """Return the places in `blocks` of a job's three blocks uv, uw and vw."""
        return [i * self.n + j for i, j in job.tasks[0].blocks]
