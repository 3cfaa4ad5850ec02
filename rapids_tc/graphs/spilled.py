"""The blocks of a graph larger than memory: a `DistributedGraph` whose only worker is this process.

What its tasks return is kept outside of memory. Blocks are counted in the slots of a pool, to which
those of the next tasks are copied meanwhile; so a job comes with its layout.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc._parallel import thread_count
from rapids_tc.blocks import levels, parts, sums
from rapids_tc.blocks.block_map import BlockJob, Job, Sum
from rapids_tc.blocks.context import WorkerContext
from rapids_tc.blocks.grid import Partition
from rapids_tc.graphs.distributed import DistributedGraph
from rapids_tc.plan import costs
from rapids_tc.plan.layout import forced_layout

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from rapids_tc._progress import Report
    from rapids_tc.blocks.parts import Range
    from rapids_tc.blocks.store import StoredBlocks
    from rapids_tc.executors.protocol import Task
    from rapids_tc.frames.backend import Array, Backend
    from rapids_tc.preparation.numbering import Ids


@dataclass(frozen=True)
class LaidOutJob(BlockJob):
    """One task on three blocks, with its layout."""

    layout: Any

    def layouts(self, *, of_blocks: bool = False) -> Iterator[Any]:
        """See `BlockJob`."""
        yield self.layout


class RunningSum(Sum):
    """A sum of results that is kept up to date: what a job returns is added before the next job."""

    def __init__(self, graph: SpilledGraph, stage: str, combine: Callable[..., Any]) -> None:
        super().__init__(partial(graph.submit, stage), combine, 2)
        self._keep = graph.keep

    def add(self, result: Task) -> None:
        """Add one more result."""
        for [total] in self._held:
            result = self._submit(self._combine, [total, result])
        self._held = [[self._keep(result)]]


class SpilledGraph(DistributedGraph):
    """The graph of one call, cut in blocks already.

    Parameters
    ----------
    stored : StoredBlocks
    ids, rank
        The ids by number, and the rank of every number.
    backend : Backend
    labels : EdgeColumns
    method : str
        An intersection method.
    stage : callable
        Reports a stage of the call, by its name.
    """

    def __init__(
        self, stored: StoredBlocks, ids: Ids, rank: Array, backend: Backend, labels: Any,
        method: str, stage: Callable[[str], AbstractContextManager[Report]],
    ) -> None:  # fmt: skip
        executor, budget = stored.executor, stored.budget
        workers = executor.workers()
        context = WorkerContext(backend.adapter, labels, backend.engine, thread_count())
        vars(context)["backend"] = backend  # which is known here
        call = budget.name, budget.work, method, budget.limit
        super().__init__(executor, context, workers, [], *call)
        self._stored, self._ids, self._stage = stored, ids, stage
        self.keep, self._run = executor.keep, executor.run
        self.size, self.free, self.rows = ids.size, stored.allowed, [[stored.edges]]
        self._order = [rank, stored.vertices]

    @property
    def order(self) -> Task:
        """The rank of every number, and the number of vertices."""
        return self._order

    @property
    def vertices(self) -> Task:
        """The number of vertices."""
        return self._stored.vertices

    @property
    def ranges(self) -> list[Range]:
        """One: the ranks of all numbers are in memory."""
        return parts.cut(self.size, 1)

    @property
    def partition(self) -> Partition:
        """The numbers n and m."""
        return Partition(self._stored.n, 1)

    @cached_property
    def blocks(self) -> list[Task]:
        """Every block (i, j), at place i * n + j."""
        return [*self._stored.stored.values()]

    @property
    def counting_workers(self) -> list[str]:
        """The address of this process."""
        return [worker.address for worker in self.workers]

    def drop_rows(self) -> None:
        """Do nothing: the rows are the user's."""

    @property
    def peels_whole(self) -> bool:
        """Whether the graph is one block, which is peeled as it is."""
        return self.n == 1 and self.fits(self._stored.edges)

    def fits(self, edges: int, level: int = 0) -> bool:
        """Return whether so many edges can be peeled as one graph, whose levels are no lower."""
        if (layout := forced_layout.get()) and layout.peel_below is not None:
            return edges < layout.peel_below
        ranks = int(self._rank_limits[level]) if level else self._stored.vertices
        peeling = costs.PEELED_EDGE * edges + costs.PEELED_VERTEX * min(ranks, 2 * edges)
        return peeling + costs.PEELED_RANK * ranks <= self.free

    @cached_property
    def _rank_limits(self) -> Any:
        """By level x: the largest rank of a degree above x, plus one; others have no such edge."""
        residues = self.executor.gather(sums.degrees(self))
        degrees = self.context.backend.host(parts.by_rank(residues, self.context.backend.xp))
        ascending = np.maximum.accumulate(degrees[::-1])
        most = levels.most_levels(self._stored.edges)
        return len(degrees) - np.searchsorted(ascending, np.arange(1, most + 3))

    def sum_of(self, stage: str, combine: Callable[..., Any], at_once: int = 2) -> Sum:
        """See `BlockMap`."""
        return RunningSum(self, stage, combine)

    def by_job(
        self,
        function: Callable[..., Any],
        *more: Any,
        of: list[Task] | None = None,
        values: list[Task] | None = None,
        by_residue: list[Task] | None = None,
    ) -> Iterator[tuple[Job, Task]]:
        """See `BlockMap`: a job is one task, laid out by the plan of `StoredBlocks`.

        Results are in memory; a list is emptied when the next job is asked for.
        """
        stored = self._stored
        if of:
            stored = replace(stored, stored=dict(zip(self.places_of_blocks, of, strict=True)))
        with self._stage("counting") as report:
            if self.n == 1:
                yield from super().by_job(
                    function, *more, of=of, values=values, by_residue=by_residue
                )
                return
            engine, xp = stored.engine, stored.xp
            for task, three, layout in stored.pooled(report.advance):
                job = Job([task], None)
                laid_out = LaidOutJob(three, [task], self.n, self.method, engine, xp, layout)
                of_job = self.values_of(job, values, by_residue)
                result = self._run(self.context.run, function, laid_out, *of_job, *more)
                yield job, result
                if isinstance(result, list):
                    result.clear()  # the caller may hold it
                del three, layout, laid_out, result  # before other blocks are loaded
