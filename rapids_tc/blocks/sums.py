"""Submit the tasks on the blocks of a graph, and add their results up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rapids_tc.blocks import counting, parts, ranges, row_lookup, vertex_tasks, worker_tasks
from rapids_tc.plan.record import Needs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from rapids_tc.executors.protocol import Task
    from rapids_tc.graphs.distributed import DistributedGraph, Job


class Sum:
    """The sum of results that come one by one: some sums of equally many are added at once.

    So few results are held: of two at once, no more than the number of all results has bits.

    Parameters
    ----------
    graph : DistributedGraph
    combine : callable
        The task that adds a list of results.
    at_once : int
        How many results a task adds.
    """

    def __init__(
        self, graph: DistributedGraph, combine: Callable[..., Any] = counting.add, at_once: int = 2
    ) -> None:
        self._graph, self._combine, self._at_once = graph, combine, at_once
        self._held: list[list[Task]] = []  # by how often they were added

    def add(self, result: Task) -> None:
        """Add one more result, of the kind that `combine` takes a list of: an array, by default."""
        for held in self._held:
            held.append(result)
            if len(held) < self._at_once:
                return
            result = self._sum(held)
            held.clear()
        self._held.append([result])

    @property
    def total(self) -> Task:
        """The sum of all results."""
        results = [result for held in self._held for result in held]
        while len(results) > 1:
            some, results = results[: self._at_once], results[self._at_once :]
            results.insert(0, self._sum(some))
        return results[0]

    def _sum(self, results: list[Task]) -> Task:
        return self._graph.submit("sum", self._combine, list(results), first=True)


def total(graph: DistributedGraph) -> int:
    """Count the triangles of the graph."""
    total: int = graph.once("total", lambda: _total(graph))
    return total


def _total(graph: DistributedGraph) -> int:
    if slices := graph.known.get("edge counts"):
        parts = [part for block in slices for part in block]
        tasks = [graph.submit("sum", counting.moments, part) for part in parts]
        return sum(int(triangles) for triangles, _ in graph.executor.gather(tasks)) // 3
    jobs = graph.each_job(counting.count)
    if graph.n == 1:  # a task per machine: asked for their results together
        return sum(graph.executor.gather([task for _, task in jobs]))
    return sum(int(graph.executor.gather(task)) for _, task in jobs)


def by_vertex(graph: DistributedGraph) -> list[Task]:
    """Count the triangles of every rank: a task per residue."""
    by_residue: list[Task] = graph.once("vertex counts", lambda: _by_vertex(graph))
    return by_residue


def _by_vertex(graph: DistributedGraph) -> list[Task]:
    if slices := graph.known.get("edge counts"):
        doubled = _by_residue(graph, _of_blocks(graph, "sum", vertex_tasks.ends_of, slices))
        return [graph.submit("sum", vertex_tasks.halved, own) for own in doubled]
    return count_by_vertex(graph)


def count_by_vertex(graph: DistributedGraph, of: list[Task] | None = None) -> list[Task]:
    """Count the triangles of every rank; `of` are blocks in place of the blocks of the graph."""
    jobs = graph.each_job(vertex_tasks.vertex_counts, graph.vertices, of=of)
    return _by_residue(graph, ((job.tasks[0].residues, task) for job, task in jobs))


def _by_residue(
    graph: DistributedGraph, results: Iterable[tuple[tuple[int, ...], Task]],
    combine: Callable[..., Any] = counting.add,
) -> list[Task]:  # fmt: skip
    """Sum results, each a list of the values of ranks of some residues, or of all ranks."""
    by_residue = [Sum(graph, combine) for _ in range(graph.n)]
    for residues, task in results:
        if graph.n == 1:
            by_residue[0].add(task)
            continue
        for side, residue in enumerate(residues):
            own = graph.submit("sum", worker_tasks.one, task, side, first=True)
            by_residue[residue].add(own)
    return [each.total for each in by_residue]


def _of_blocks(
    graph: DistributedGraph, stage: str, chunk: Callable[..., Any], *values: list[Any]
) -> Iterator[tuple[tuple[int, ...], Task]]:
    """Submit a task per block that returns values of ranks; `values` are lists by block."""
    for place, block in enumerate(graph.blocks[: graph.n**2]):
        of_block = (each[place] for each in values)
        task = graph.submit(stage, chunk, block, *of_block, place, graph.n, graph.vertices)
        yield divmod(place, graph.n), task


def whole(graph: DistributedGraph, by_residue: list[Task]) -> Task:
    """Join the values of all ranks on one machine.

    Raises
    ------
    CapacityError
        There are too many.
    """
    graph.require_whole()
    return (
        graph.submit("sum", vertex_tasks.by_rank, by_residue) if by_residue[1:] else by_residue[0]
    )


def degrees(graph: DistributedGraph) -> list[Task]:
    """Count the neighbours of every rank: a task per residue."""
    by_residue: list[Task] = graph.once("degrees", lambda: _degrees(graph))
    return by_residue


def _degrees(graph: DistributedGraph) -> list[Task]:
    return _by_residue(graph, _of_blocks(graph, "degrees", vertex_tasks.degrees_of))


def of_neighbors(
    graph: DistributedGraph, degrees: list[Task], needs: Needs
) -> dict[str, list[Task]]:
    """Return the sums over the neighbors of every rank that are needed, by their names."""
    result = {}
    if needs & Needs.NEIGHBOR_DEGREES:
        result["neighbor_degrees"] = _neighbor_degrees(graph, degrees)
    if needs & Needs.THIRD_SUMS:
        result["tie_squares"] = _tie_squares(graph, degrees)
    return result


def _tie_squares(graph: DistributedGraph, degrees: list[Task]) -> list[Task]:
    resources = third_sums(graph, degrees, "resource_allocation")
    return _by_residue(graph, _of_blocks(graph, "sum", vertex_tasks.tie_squares_of, resources))


def _neighbor_degrees(graph: DistributedGraph, degrees: list[Task]) -> list[Task]:
    places = range(graph.n**2)
    of_rows = [degrees[place // graph.n] for place in places]
    of_columns = [degrees[place % graph.n] for place in places]
    task = vertex_tasks.neighbor_degrees_of
    return _by_residue(graph, _of_blocks(graph, "degrees", task, of_rows, of_columns))


def largest_of_edges(graph: DistributedGraph, by_block: list[list[Task]]) -> list[Task]:
    """Find the largest value of the edges of every rank, 0 without any: a task per residue."""
    of_blocks = _of_blocks(graph, "sum", vertex_tasks.largest_of_ends, by_block)
    return _by_residue(graph, of_blocks, counting.largest)


def by_edge(graph: DistributedGraph, left: list[Task] | None = None) -> list[list[Task]]:
    """Count the triangles of every edge of each block, or of what is left of it.

    Returns
    -------
    for each block a list of tasks, slices (uint32).
    """
    if left is not None:
        return _by_edge(graph, counting.edge_counts, of=left)
    by_block: list[list[Task]] = graph.once(
        "edge counts", lambda: _by_edge(graph, counting.edge_counts)
    )
    return by_block


def of_row_ends(graph: DistributedGraph, by_residue: list[Task]) -> list[Task]:
    """Look up values of ranks for both ends of the rows of each batch."""
    values = by_residue, [parts.Residue(residue, graph.n) for residue in range(graph.n)]
    return ranges.look_up(graph, "columns", graph.ranks, graph.workers_of_rows, *values)


def third_sums(graph: DistributedGraph, degrees: list[Task], name: str) -> list[list[Task]]:
    """Sum a value of the third vertices of every edge of each block, as `by_edge` counts: float64.

    `name` is of a formula of `rapids_tc.blocks.third_sums`.
    """
    values = third_values(graph, degrees, name)
    by_block = _by_edge(graph, counting.third_sums, by_residue=values)
    return [
        [graph.submit("sum", counting.as_floats, part, values[0]) for part in parts]
        for parts in by_block
    ]


def third_values(graph: DistributedGraph, degrees: list[Task], name: str) -> list[Task]:
    """Return what a formula gives for the ranks of each residue, from their degrees."""
    distinct = [graph.submit("degrees", counting.distinct_degrees, own) for own in degrees]
    table = graph.submit("degrees", counting.third_table, name, distinct)
    return [graph.submit("degrees", counting.third_values, table, own) for own in degrees]


def _by_edge(
    graph: DistributedGraph, chunk: Callable[..., Any], *, of: list[Task] | None = None,
    by_residue: list[Task] | None = None,
) -> list[list[Task]]:  # fmt: skip
    """Add up by block what all jobs have for the edges of three blocks."""
    jobs = graph.each_job(chunk, of=of, by_residue=by_residue)
    if graph.n == 1:
        return [_in_slices(graph, jobs)]
    return [[total] for total in add_by_block(graph, jobs)]


def add_by_block(
    graph: DistributedGraph, jobs: Iterator[tuple[Job, Task]], at_once: int = 2
) -> list[Task]:
    """Sum what jobs return for each of their blocks."""
    by_block = [Sum(graph, at_once=at_once) for _ in range(graph.n**2)]
    for job, task in jobs:
        for side, place in enumerate(graph.places(job)):
            by_block[place].add(graph.submit("sum", worker_tasks.one, task, side, first=True))
    return [block.total for block in by_block]


def moments(graph: DistributedGraph) -> list[tuple[int, float]]:
    """Return what an estimate needs of the triangles of all edges, part by part."""
    parts = [part for block in by_edge(graph) for part in block]
    tasks = [graph.submit("sum", counting.moments, part) for part in parts]
    return list(graph.executor.gather(tasks))


def moments_by_group(graph: DistributedGraph) -> list[tuple[int, float]]:
    """Return what an estimate needs of the triangles of the edges of each group."""
    tasks = [
        graph.submit("sum", counting.moments_by_group, slices, groups, graph.ids)
        for slices, groups in zip(by_edge(graph), edge_groups(graph), strict=True)
    ]
    of_blocks: list[list[tuple[int, float]]] = graph.executor.gather(tasks)
    by_group = zip(*of_blocks, strict=True)
    return [(sum(t for t, _ in parts), sum(pairs for _, pairs in parts)) for parts in by_group]


def edge_groups(graph: DistributedGraph) -> list[Task]:
    """Submit the group of every edge of each block."""
    return [
        graph.submit(
            "sum", counting.edge_groups, graph.block_at(place, None), graph.ids, graph.order,
            place, graph.n,
        )
        for place in range(graph.n**2)
    ]  # fmt: skip


def _in_slices(graph: DistributedGraph, jobs: Iterator[tuple[Job, Task]]) -> list[Task]:
    """Add up by edge on a graph that is one block, in slices, each where a job was."""
    counts = {job.worker: task for job, task in jobs}
    cut = {
        worker: graph.submit("sum", counting.slices, task, len(counts), on=worker)
        for worker, task in counts.items()
    }
    sums = []
    for place, worker in enumerate(counts):
        parts = [
            graph.submit("sum", worker_tasks.one, task, place, on=w) for w, task in cut.items()
        ]
        sums.append(graph.submit("sum", counting.add, parts, on=worker))
    return sums


def by_row(graph: DistributedGraph, by_edge: list[list[Task]]) -> list[list[Task]]:
    """Look up the values of the rows of each batch, in a task per block."""
    return [
        [
            graph.submit(
                "columns", row_lookup.values, graph.ranks[i],
                graph.block_at(place, batch.worker), slices, place, graph.n, on=batch.worker,
            )
            for place, slices in enumerate(by_edge)
        ]
        for i, batch in enumerate(graph.batches)
    ]  # fmt: skip
