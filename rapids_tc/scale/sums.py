"""What the tasks on the blocks of a graph add up to."""

from __future__ import annotations

from rapids_tc.scale import chunks, counting
from rapids_tc.scale.spread import Future, Spread


def total(spread: Spread) -> int:
    """Triangles of the graph."""
    counts = spread.each_job(counting.count)
    spread.let_rows_go()
    return sum(spread.cluster.get(counts))


def by_vertex(spread: Spread) -> Future:
    """Triangles of every rank, as a list of one array."""
    counts = spread.each_job(counting.vertex_counts, spread.vertices)
    return spread.tree("sum", counting.add, counts)


def degrees(spread: Spread) -> Future:
    """Neighbours of every rank, as a list of one array."""
    made = [
        spread.submit("degrees", counting.degrees_of, block, place, spread.n, spread.vertices)
        for place, block in enumerate(spread.blocks[: spread.n**2])
    ]
    return spread.tree("sum", counting.add, made)


def by_edge(spread: Spread, left: list[Future] | None = None) -> list[list[Future]]:
    """Triangles of every edge of each block, or of what is left of it.

    Returns
    -------
    for each block a list of tasks, slices that each are a list of one array (uint32).
    """
    counts = spread.each_job(counting.edge_counts, of=left)
    if spread.n == 1:
        return [_in_slices(spread, counts)]
    found: list[list[Future]] = [[] for _ in range(spread.n**2)]
    for job, several in zip(spread.jobs, counts, strict=True):
        for side, place in enumerate(spread.places(job)):
            found[place].append(spread.submit("sum", chunks.pick, several, side))
    return [[spread.tree("sum", counting.add, parts)] for parts in found]


def seen(spread: Spread) -> list[tuple[int, float]]:
    """What an estimate needs of the triangles of all edges, part by part."""
    parts = [part for block in by_edge(spread) for part in block]
    return spread.cluster.get([spread.submit("sum", counting.seen, part) for part in parts])


def _in_slices(spread: Spread, counts: list[Future]) -> list[Future]:
    """The sum of an array of every job, in slices, each added up where a job was done."""
    workers = [job.worker for job in spread.jobs]
    cut = [
        spread.submit("sum", counting.slices, array, len(workers), on=worker)
        for array, worker in zip(counts, workers, strict=True)
    ]
    sums = []
    for place, there in enumerate(workers):
        own = [
            spread.submit("sum", chunks.pick, array, place, on=worker)
            for array, worker in zip(cut, workers, strict=True)
        ]
        sums.append(spread.submit("sum", counting.add, own, on=there))
    return sums
