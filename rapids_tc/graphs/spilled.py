"""The blocks of a graph larger than memory: `Blocked`, and the only worker is this process.

What its tasks return is kept outside of memory. Blocks are counted in the slots of a pool, to which
the blocks of the next tasks are copied meanwhile. The pool lays a job out before the job is run.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc._parallel import thread_count
from rapids_tc._progress import at_end
from rapids_tc.blocks import grid, levels, sums
from rapids_tc.blocks.block_map import Blocked, Numbered, PendingSum, PlacedJob
from rapids_tc.blocks.block_work import BlockJob, RowsOfBlock, add, find_rows, on_block
from rapids_tc.blocks.context import WorkerContext
from rapids_tc.blocks.grid import Partition
from rapids_tc.executors.protocol import Batch
from rapids_tc.executors.spill import Unread
from rapids_tc.frames.backend import gather
from rapids_tc.plan import costs
from rapids_tc.plan.block_layout import forced_layout

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from rapids_tc._progress import Report
    from rapids_tc.blocks.geometry import Block
    from rapids_tc.blocks.rows import Rows
    from rapids_tc.blocks.store import StoredBlocks
    from rapids_tc.executors.protocol import Task
    from rapids_tc.executors.spill import SpillExecutor
    from rapids_tc.frames.backend import Array, Backend
    from rapids_tc.frames.chunks import Cut
    from rapids_tc.plan.budget import Budget
    from rapids_tc.preparation.csr import Csr
    from rapids_tc.preparation.ids import Ids


def numbered(
    rows: Rows, ids: Ids, executor: SpillExecutor, backend: Backend, labels: Any, budget: Budget,
    method: str, cuts: list[Cut],
) -> Numbered:  # fmt: skip
    """Return the user's rows, cut in batches, whose numbers are read when a task asks."""
    context = WorkerContext(backend.adapter, labels, backend.engine, thread_count())
    vars(context)["backend"] = backend  # which is known here
    [worker] = executor.workers()
    return Numbered(
        executor=executor, context=context, workers=[worker],
        batches=[Batch(worker.address, [place], []) for place, _ in enumerate(cuts)],
        name=budget.name, method=method, free=budget.limit,
        rows=[[min(last, rows.size) - first] for first, last in cuts],
        size=ids.size, ranges=grid.cut(ids.size, 1), ids_of_all=ids,
        numbers=[Unread(partial(rows.ends, *cut)) for cut in cuts],
    )  # fmt: skip


@dataclass(frozen=True)
class LaidOutJob(BlockJob):
    """One task on three blocks, with its layout."""

    layout: Any

    def layouts(self, *, as_blocks: bool = False) -> Iterator[Any]:
        """See `BlockJob`."""
        yield self.layout


class RunningSum(PendingSum):
    """A sum of results in which what a job returns is added before the next job."""

    def __init__(self, graph: SpilledGraph, stage: str, combine: Callable[..., Any]) -> None:
        super().__init__(partial(graph.submit, stage), combine, 2)
        self._keep = graph.stored.executor.keep

    def add(self, result: Task) -> None:
        """Add one more result."""
        for [total] in self._held:
            result = self._submit(self._combine, [total, result])
        self._held = [[self._keep(result)]]


@dataclass(frozen=True, kw_only=True, eq=False)
class SpilledGraph(Blocked):
    """The graph of one call, cut in blocks already.

    Attributes
    ----------
    stored : StoredBlocks
    stage : callable
        Reports a stage of the call, by its name.
    """

    stored: StoredBlocks
    stage: Callable[[str], AbstractContextManager[Report]]

    @classmethod
    def of(
        cls,
        stored: StoredBlocks,
        numbered: Numbered,
        rank: Array,
        stage: Callable[[str], AbstractContextManager[Report]],
    ) -> SpilledGraph:
        """Return the graph of blocks, from the rank of every number."""
        [worker] = numbered.workers
        return cls(
            **vars(replace(numbered, rows=[[stored.edges]], free=stored.allowed)),
            vertices=stored.vertices, orders={worker.address: [rank, stored.vertices]},
            partition=Partition(stored.n, 1), counting_workers=[worker.address],
            blocks=[*stored.stored.values()], stored=stored, stage=stage,
        )  # fmt: skip

    @property
    def peels_whole(self) -> bool:
        """Whether the graph is one block, which is peeled as it is."""
        return self.n == 1 and self.fits(self.stored.edges)

    def fits(self, edges: int, level: int = 0) -> bool:
        """See `Blocked`: it is counted how many vertices edges of such levels may have."""
        if (layout := forced_layout.get()) and layout.peel_below is not None:
            return edges < layout.peel_below
        ranks = int(self._rank_limits[level]) if level else self.stored.vertices
        peeling = costs.PEELED_EDGE * edges + costs.PEELED_VERTEX * min(ranks, 2 * edges)
        return peeling + costs.PEELED_RANK * ranks + self.kind_or_all.bytes(edges) <= self.free

    @cached_property
    def _rank_limits(self) -> Any:
        """By level x: how many of the first ranks may have edges of level x, by their degrees."""
        residues = self.executor.gather(sums.degrees(self))
        degrees = self.context.backend.host(grid.by_rank(residues, self.context.backend.xp))
        ascending = np.maximum.accumulate(degrees[::-1])
        most = levels.most_levels(self.stored.edges)
        return len(degrees) - np.searchsorted(ascending, np.arange(1, most + 3))

    def sum_of(self, stage: str, combine: Callable[..., Any], at_once: int = 2) -> PendingSum:
        """See `Blocked`."""
        return RunningSum(self, stage, combine)

    def edges_of(self, stage: str, blocks: list[Task]) -> list[int]:
        """See `Blocked`: nothing is read."""
        return [len(columns) for _, columns in blocks]

    def rows_in(self, at: Block, block: Csr, n: int, rank: Array) -> Iterator[RowsOfBlock]:
        """Yield the rows of each batch whose edges are in block (i, j) of n x n."""
        engine, backend = self.stored.engine, self.context.backend
        for numbers in self.numbers:
            ranks = [gather(rank, end) for end in self.executor.gather(numbers)]
            yield find_rows(ranks, block, at, n, engine=engine, backend=backend)

    def each_of_rows(
        self, stage: str, select: Callable[..., Any], merge: Callable[..., Any],
        *by_batch: list[Any], more: tuple[Any, ...] = (),
    ) -> list[Task]:  # fmt: skip
        """See `Blocked`: the rows of a batch are read when those of a block are merged."""
        executor, rank, result = self.stored.executor, self.order[0], list[Any]()
        with self.stage("reading the values") as report:
            for at, block in self.stored:
                batches = zip(self.rows_in(at, block, self.n, rank), *by_batch, strict=True)
                pieces = ([executor.run(select, *of_batch, *more)] for of_batch in batches)
                # Not as tasks: batches are many, and errors of reading are of no partition.
                merged = merge(self.stored.stored[at], pieces, *more, backend=self.context.backend)
                result.append(executor.keep(merged))
                report.advance(len(result) / self.n**2)
        return result

    def at_ends(
        self, function: Callable[..., Any], *by_block: list[Any],
        combine: Callable[..., Any] = add,
    ) -> list[Task]:  # fmt: skip
        """See `Blocked`."""
        run, places = self.stored.executor.run, self.places_of_blocks
        results = (
            run(self.context.run, on_block, function, block, place, self.n, self.vertices, *own)
            for place, (block, *own) in enumerate(zip(self.blocks, *by_block, strict=True))
        )
        return self.by_residue(zip(places, results, strict=True), combine)

    def by_residue(
        self, results: Iterable[tuple[Sequence[int], Task]], combine: Callable[..., Any] = add
    ) -> list[Task]:
        """See `Blocked`: values of all ranks stay in memory, if that is planned."""
        if not self.stored.budget.by_vertex:
            return super().by_residue(results, combine)
        executor, combined = self.stored.executor, partial(self.context.run, combine)
        totals: dict[int, Array] = {}
        for residues, result in results:
            of_ends = zip(residues, result, strict=True) if self.n > 1 else [(0, result)]
            for residue, values in of_ends:
                if residue in totals:
                    totals[residue][...] = executor.run(combined, [totals[residue], values])
                else:
                    with executor.store.apart():
                        totals[residue] = executor.run(combined, [values])
            del values, result, of_ends  # before other blocks are loaded
        return [totals[residue] for residue in range(self.n)]

    def by_job(
        self,
        function: Callable[..., Any],
        *more: Any,
        of: list[Task] | None = None,
        values: list[Task] | None = None,
        by_residue: list[Task] | None = None,
    ) -> Iterator[tuple[PlacedJob, Task]]:
        """See `Blocked`: a job is one task, laid out by the plan of `StoredBlocks`.

        Results are in memory; a list is emptied when the next job is asked for.
        """
        stored = self.stored
        if of:
            stored = replace(stored, stored=dict(zip(self.places_of_blocks, of, strict=True)))
        with self.stage("counting") as report:
            if self.n == 1:
                yield from super().by_job(
                    function, *more, of=of, values=values, by_residue=by_residue
                )
                return
            engine, xp = stored.engine, stored.xp
            tasks = stored.pooled(report.advance)
            at_end(tasks.close)  # the traceback of an error in the caller would keep the pool open
            for task, three, layout in tasks:
                job = PlacedJob([task], None)
                laid_out = LaidOutJob(three, [task], self.n, self.method, engine, xp, layout)
                of_job = self.values_of(job, values, by_residue)
                result = stored.executor.run(self.context.run, function, laid_out, *of_job, *more)
                yield job, result
                if isinstance(result, list):
                    result.clear()  # the caller may hold it
                del three, layout, laid_out, result  # before other blocks are loaded
