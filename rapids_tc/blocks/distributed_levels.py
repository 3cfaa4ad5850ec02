"""The truss numbers of a graph on a cluster: the rounds of `levels` on the blocks of workers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rapids_tc.blocks import level_tasks, levels, sums
from rapids_tc.blocks.worker_tasks import edges_of, one

if TYPE_CHECKING:
    from rapids_tc.blocks.levels import Survey
    from rapids_tc.executors.protocol import Task
    from rapids_tc.graphs.distributed import DistributedGraph

AT_ONCE = 4  # counts of a block that a task adds: there are many rounds of them


class DistributedLevels:
    """See `rapids_tc.blocks.levels.LevelBlocks`: the blocks, and what is known of them, are tasks.

    Parameters
    ----------
    graph : DistributedGraph
    counts : list of list of Task
        The triangles of the edges of each block, in slices.
    """

    def __init__(self, graph: DistributedGraph, counts: list[list[Task]]) -> None:
        self._graph, self._blocks, self._first = graph, graph.blocks, counts
        self.edges = sum(map(sum, graph.rows))  # at most, until they are surveyed
        self._most = levels.most_levels(self.edges)
        self._bounds: list[Task] = []
        self._states = self._each(level_tasks.begin, self._blocks)
        self._marks: list[Task] = []

    def fits(self, edges: int) -> bool:
        """See `LevelBlocks`."""
        return self._graph.fits(edges)

    def begin(self) -> Survey:
        """See `LevelBlocks`."""
        most = [self._most] * len(self._blocks)
        self._bounds = self._each(level_tasks.first_bounds, self._first, most)
        parts = self._each(level_tasks.first_tally, self._bounds, most)
        survey = self._survey(parts)
        self.edges = int(survey.edges.sum())
        return survey

    def lower(self, survey: Survey) -> Survey:
        """See `LevelBlocks`."""
        caps = [survey.cap] * len(self._blocks)
        asked = self._each(level_tasks.probes, self._bounds, caps)
        counts = self._count(asked)
        self._bounds = self._each(level_tasks.lowered, asked, counts)
        most = [self._most] * len(self._blocks)
        return self._survey(self._each(level_tasks.tally, asked, self._bounds, most))

    def drop(self, floor: int) -> None:
        """See `LevelBlocks`."""
        floors = [floor] * len(self._blocks)
        self._states = self._each(level_tasks.note, self._states, self._bounds, floors)
        self._blocks = self._each(level_tasks.compress, self._blocks, self._bounds, floors)
        self._bounds = self._each(level_tasks.keep_bounds, self._bounds, floors)
        sizes = self._each(edges_of, self._blocks)
        self.edges = sum(self._graph.executor.gather(sizes))

    def peel(self) -> None:
        """See `LevelBlocks`; one worker does it."""
        peeled = self._graph.submit("peel", level_tasks.peel_all, self._blocks, self._graph.n)
        self._bounds = self._take(peeled)

    def count_companions(self, survey: Survey) -> int:
        """See `LevelBlocks`."""
        surveys = [survey] * len(self._blocks)
        asked = self._each(level_tasks.marks, self._bounds, surveys)
        counts = self._count(asked)
        self._marks = self._each(level_tasks.chosen, self._bounds, counts, surveys)
        sizes = self._each(level_tasks.marked, self._marks)
        return sum(self._graph.executor.gather(sizes))

    def peel_ranges(self, survey: Survey) -> None:
        """See `LevelBlocks`; one worker does it."""
        surveys = [survey] * len(self._blocks)
        asked = self._each(level_tasks.of_range, self._bounds, surveys)
        counts = self._count(asked)
        arguments = self._blocks, self._bounds, counts, self._marks
        parts = self._each(level_tasks.select, *arguments)
        peeled = self._graph.submit("peel", level_tasks.peel_some, parts, self._graph.n, survey)
        self._bounds = self._each(
            level_tasks.replaced, self._bounds, self._marks, self._take(peeled)
        )

    def trussness(self) -> list[list[Task]]:
        """Submit the trussness of every edge of each block: for each a list of one task."""
        floors = [0] * len(self._blocks)
        states = self._each(level_tasks.note, self._states, self._bounds, floors)
        return [[self._graph.submit("peel", one, state, 1)] for state in states]

    def _count(self, asked: list[Task]) -> list[Task]:
        """Count the triangles of every edge of each block that reach its levels."""
        jobs = self._graph.each_job(level_tasks.level_counts, of=self._blocks, values=asked)
        return sums.add_by_block(self._graph, jobs, AT_ONCE)

    def _survey(self, parts: list[Task]) -> Survey:
        total = self._graph.tree("peel", level_tasks.add, parts)
        return levels.Survey(*self._graph.executor.gather(total).reshape(2, -1))

    def _take(self, by_block: Task) -> list[Task]:
        places = range(len(self._blocks))
        return [self._graph.submit("peel", one, by_block, place) for place in places]

    def _each(self, task: Any, *of_blocks: list[Any]) -> list[Task]:
        """Submit a task per block."""
        return [self._graph.submit("peel", task, *own) for own in zip(*of_blocks, strict=True)]
