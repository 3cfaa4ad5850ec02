"""What the tasks on the blocks of a graph add up to."""

from __future__ import annotations

from rapids_tc.blocks import counting, worker_tasks
from rapids_tc.graphs.distributed import Future, Spread


class Sum:
    """The sum of results that come one by one: two of a size are added at once.

    So no more are kept than the number of them has bits, wherever they were made.
    """

    def __init__(self, spread: Spread) -> None:
        self._spread = spread
        self._sizes: dict[int, Future] = {}  # by how often it was doubled

    def add(self, result: Future) -> None:
        """Take one more, an array."""
        size = 0
        while size in self._sizes:
            result = self._both(self._sizes.pop(size), result)
            size += 1
        self._sizes[size] = result

    @property
    def total(self) -> Future:
        """All together."""
        result, *others = (self._sizes[size] for size in sorted(self._sizes))
        for other in others:
            result = self._both(result, other)
        return result

    def _both(self, one: Future, other: Future) -> Future:
        return self._spread.submit("sum", counting.add, [one, other], first=True)


def total(spread: Spread) -> int:
    """Triangles of the graph."""
    return sum(spread.cluster.get(task) for _, task in spread.each_job(counting.count))


def by_vertex(spread: Spread) -> Future:
    """Triangles of every rank."""
    result = Sum(spread)
    for _, task in spread.each_job(counting.vertex_counts, spread.vertices):
        result.add(task)
    return result.total


def degrees(spread: Spread) -> Future:
    """Neighbours of every rank."""
    result = Sum(spread)
    for place, block in enumerate(spread.blocks[: spread.n**2]):
        given = (block, place, spread.n, spread.vertices)
        result.add(spread.submit("degrees", counting.degrees_of, *given))
    return result.total


def by_edge(spread: Spread, left: list[Future] | None = None) -> list[list[Future]]:
    """Triangles of every edge of each block, or of what is left of it.

    Returns
    -------
    for each block a list of tasks, slices (uint32).
    """
    if spread.n == 1:
        return [_in_slices(spread)]
    found = [Sum(spread) for _ in range(spread.n**2)]
    for job, task in spread.each_job(counting.edge_counts, of=left):
        for side, place in enumerate(spread.places(job)):
            found[place].add(spread.submit("sum", worker_tasks.one, task, side, first=True))
    return [[block.total] for block in found]


def seen(spread: Spread) -> list[tuple[int, float]]:
    """What an estimate needs of the triangles of all edges, part by part."""
    parts = [part for block in by_edge(spread) for part in block]
    return spread.cluster.get([spread.submit("sum", counting.seen, part) for part in parts])


def _in_slices(spread: Spread) -> list[Future]:
    """The edge counts of a graph that is one block, in slices, each added up where a job was."""
    counts = {job.worker: task for job, task in spread.each_job(counting.edge_counts)}
    cut = {
        worker: spread.submit("sum", counting.slices, task, len(counts), on=worker)
        for worker, task in counts.items()
    }
    sums = []
    for place, there in enumerate(counts):
        own = [spread.submit("sum", worker_tasks.one, task, place, on=w) for w, task in cut.items()]
        sums.append(spread.submit("sum", counting.add, own, on=there))
    return sums
