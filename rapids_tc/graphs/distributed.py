"""A graph whose edges lie on many machines: numbered, ordered, cut in blocks and counted by tasks.

The calling process holds tasks and a few integers, but no arrays. A graph that fits one machine is
one block: each machine merges the parts of all batches into its own copy, and counts the triangles
of its share of the pivot vertices. A larger graph is n x n blocks, each merged on one machine, and
n**3 tasks that fetch three blocks each: see `rapids_tc.blocks.grid`.
"""

from __future__ import annotations

import logging
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rapids_tc.blocks import build, grid, ranges
from rapids_tc.blocks.block_map import Job
from rapids_tc.graphs.distributed_ids import DistributedIds
from rapids_tc.plan import costs

if TYPE_CHECKING:
    from collections.abc import Callable

    from rapids_tc.blocks.context import WorkerContext
    from rapids_tc.blocks.grid import Partition
    from rapids_tc.executors.protocol import Batch, Executor, Task, Worker
    from rapids_tc.plan.record import Work

LEAST_ROWS = 2**16  # per counting machine, at least: fewer rows are not worth sending
BY_HOST = ("tcp://", "tls://")  # addresses of workers that cannot send from GPU memory
log = logging.getLogger("rapids_tc")


class DistributedGraph(DistributedIds):
    """The graph of one call. Call `profile` before any other method.

    Parameters
    ----------
    executor, context, workers, batches, name, limit
        See `DistributedIds`.
    work : Work
        What the call needs.
    method : str
        An intersection method; any but "auto" counts the whole graph on one machine.
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
        super().__init__(executor, context, workers, batches, method, name, limit)
        self._work = work
        self.known: dict[str, Any] = {}  # what functions have asked of the whole graph, by name

    def once(self, name: str, submit: Callable[[], Any]) -> Any:
        """Return what `submit` returns; what is known by that name already is not asked again."""
        if name not in self.known:
            self.known[name] = submit()
        return self.known[name]

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

    @cached_property
    def orders(self) -> dict[str, Task]:
        """The rank of every number, and the number of vertices, on each machine that has rows.

        Raises
        ------
        CapacityError
            Numbers are ranked in several ranges.
        """
        self.require_whole()
        codes = self.each_batch("degrees", ranges.degrees, self.numbers, more=(self.size,))
        codes = self.few("degrees", ranges.add_degrees, codes)
        workers = dict.fromkeys(batch.worker for batch in self.batches)
        return {at: self.submit("order", ranges.order, codes, on=at) for at in workers}

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
        return self.submit("order", ranges.vertices_of, self.order)

    @cached_property
    def ranks(self) -> list[Task]:
        """The ranks of both ends of every row, by batch."""
        if len(self.ranges) > 1:
            values = self.ranked[0], self.ranges
            return ranges.look_up(self, "rank", self.numbers, self.workers_of_rows, *values)
        orders = [self.orders[worker] for worker in self.workers_of_rows]
        return self.each_batch("rank", ranges.ranks_of_ends, self.numbers, orders)

    @cached_property
    def partition(self) -> Partition:
        """The numbers n and m: the graph is n x n blocks, and each task is in m parts."""
        rows, engine = sum(map(sum, self.rows)), "cuda" if self.on_cards else "cpu"
        asked = self.free, len(self.counting_workers), self._work, engine
        made = grid.plan(rows, self.size, *asked)
        made = grid.of_method(made, self.method)
        log.info(
            "%s: %d rows in %d partitions on %d workers; %d x %d blocks, %d tasks",
            self._name, rows, sum(map(len, self.rows)), len(self.workers), made.n, made.n,
            made.n**3 * made.m,
        )  # fmt: skip
        return made

    @property
    def peels_whole(self) -> bool:
        """Whether the graph is one block, which is peeled as it is."""
        return self.n == 1

    def fits(self, edges: int, level: int = 0) -> bool:
        """Return whether so many edges can be peeled as one graph; no level is below `level`."""
        return grid.fits(edges, self.size, self.free, "cuda" if self.on_cards else "cpu")

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
        shape = self.vertices, self.n, batch
        return self.each_batch("pack", build.pack, self.ranks, more=shape)

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
            self.submit("merge", build.merge, self._pieces(place, worker), *shape, place, on=worker)
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
            self.submit("pack", build.pick, packed, place, on=holder)
            for holder, packed in by_holder.items()
        ]

    @cached_property
    def _sent(self) -> list[Task]:
        """The parts as other machines fetch them: on the host if workers cannot send from a GPU."""
        if not self.on_cards or not self.workers[0].address.startswith(BY_HOST):
            return self.packed
        return self.each_batch("send", build.by_host, self.packed)

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
