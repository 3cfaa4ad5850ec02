"""The truss numbers of a graph on a cluster: the rounds of `levels` on the blocks of workers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rapids_tc.blocks import level_tasks, levels, sums
from rapids_tc.blocks.worker_tasks import edges_of, one

if TYPE_CHECKING:
    from rapids_tc.blocks.levels import Goal, Survey
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
        self._asked: list[Task] = []
        self._counts: list[Task] = []
        self._parts: list[Task] = []

    def fits(self, edges: int, low: int) -> bool:
        """See `LevelBlocks`."""
        return self._graph.fits(edges)

    def begin(self) -> Survey:
        """See `LevelBlocks`."""
        most = self._same(self._most)
        self._bounds = self._each(level_tasks.first_bounds, self._first, most)
        survey = self._survey(None)
        self.edges = int(survey.edges.sum())
        return survey

    def count(self, goal: Goal) -> tuple[int, int]:
        """See `LevelBlocks`."""
        graph = self._graph
        self._asked = self._each(level_tasks.asked, self._bounds, self._same(goal))
        jobs = graph.each_job(level_tasks.level_counts, of=self._blocks, values=self._asked)
        self._counts = sums.add_by_block(graph, jobs, AT_ONCE)
        self._parts = []
        if not goal.chooses:
            return 0, 0
        self._parts = self._each(level_tasks.select, self._blocks, self._asked, self._counts)
        sizes = graph.executor.gather(self._each(level_tasks.sizes, self._parts))
        chosen, companions = map(sum, zip(*sizes, strict=True))
        return chosen, companions

    def lower(self, goal: Goal, survey: Survey, *, peel: bool) -> Survey:
        """See `LevelBlocks`; one worker peels."""
        asked, counts = self._asked, self._counts
        if peel:
            where = self._parts, self._graph.n, goal
            peeled = self._take(self._graph.submit("peel", level_tasks.peel_chosen, *where))
            more = peeled, self._same(goal)
            self._bounds = self._each(level_tasks.settled, asked, counts, *more)
        else:
            self._bounds = self._each(level_tasks.lowered, asked, counts, self._same(goal))
        self._counts, self._parts = [], []
        return self._survey(survey)

    def drop(self, floor: int) -> None:
        """See `LevelBlocks`."""
        floors = self._same(floor)
        self._states = self._each(level_tasks.note, self._states, self._bounds, floors)
        self._blocks = self._each(level_tasks.compress, self._blocks, self._bounds, floors)
        self._bounds = self._each(level_tasks.keep_bounds, self._bounds, floors)
        sizes = self._each(edges_of, self._blocks)
        self.edges = sum(self._graph.executor.gather(sizes))

    def peel(self, floor: int) -> None:
        """See `LevelBlocks`; one worker does it."""
        where = self._blocks, self._graph.n, floor
        self._bounds = self._take(self._graph.submit("peel", level_tasks.peel_all, *where))

    def trussness(self) -> list[list[Task]]:
        """Submit the trussness of every edge of each block: for each a list of one task."""
        floors = self._same(0)
        states = self._each(level_tasks.note, self._states, self._bounds, floors)
        return [[self._graph.submit("peel", one, state, 1)] for state in states]

    def _survey(self, before: Survey | None) -> Survey:
        tallies = self._each(level_tasks.tally, self._bounds, self._same(self._most))
        total = self._graph.tree("peel", level_tasks.add, tallies)
        return levels.Survey.of(self._graph.executor.gather(total).reshape(2, -1), before)

    def _same(self, value: Any) -> list[Any]:
        """Return a value for each block."""
        return [value] * len(self._blocks)

    def _take(self, by_block: Task) -> list[Task]:
        places = range(len(self._blocks))
        return [self._graph.submit("peel", one, by_block, place) for place in places]

    def _each(self, task: Any, *of_blocks: list[Any]) -> list[Task]:
        """Submit a task per block."""
        return [self._graph.submit("peel", task, *own) for own in zip(*of_blocks, strict=True)]
