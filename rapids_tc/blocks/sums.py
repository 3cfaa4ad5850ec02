"""Sums over the triangles and edges of a partitioned graph: by edge, by vertex, and in all.

Each question has the functions that workers run, of a block or of a job, and a function that maps
them over the graph. Values by edge are a list of slices per block; values by vertex are an array
per residue of ranks.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.blocks import block_map, block_work, geometry, grid, ranges
from rapids_tc.blocks.codec import require, require_below, require_length, require_values
from rapids_tc.blocks.quantities import CommonNeighborSums
from rapids_tc.blocks.third_sums import ThirdTable, ThirdValues, third_table
from rapids_tc.engines import protocol
from rapids_tc.preparation import sampling
from rapids_tc.preparation.orient import Order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rapids_tc.blocks.block_map import Blocked, BlockKind, PlacedJob
    from rapids_tc.blocks.block_work import BlockJob, PlacedBlock
    from rapids_tc.engines.quantity import Quantity
    from rapids_tc.executors.protocol import Task
    from rapids_tc.frames.backend import Array, Backend
    from rapids_tc.preparation.edge_values import Reading
    from rapids_tc.preparation.ids import Ids

# All triangles ------------------------------------------------------------------------------------


def count(job: BlockJob) -> int:
    """Count the triangles of a job."""
    return sum(job.engine.count(layout, method=job.method) for layout in job.layouts())


@block_map.once
def total(graph: Blocked) -> int:
    """Count the triangles of the graph."""
    if by_edge in graph.known:
        return sum(int(triangles) for triangles, _ in moments_of_slices(graph)) // 3
    jobs = graph.by_job(count)
    if graph.n == 1:  # one task per machine: all are waited for at once
        return sum(graph.executor.gather([task for _, task in jobs]))
    return sum(int(graph.executor.gather(task)) for _, task in jobs)


def moments_of_slices(graph: Blocked) -> list[tuple[int, float]]:
    """Return what an estimate needs of the triangles of all edges, slice by slice."""
    slices = [part for block in by_edge(graph) for part in block]
    tasks = [graph.submit("sum", sampling.moments, part) for part in slices]
    return list(graph.executor.gather(tasks))


# By edge ------------------------------------------------------------------------------------------


def edge_counts(job: BlockJob) -> list[Array]:
    """Count the triangles of a job by edge."""
    return job.combined(lambda layout: job.engine.edge_counts(layout, method=job.method))


def slices(counts: list[Array], count: int, *, xp: Any) -> list[Array]:
    """Cut the `edge_counts` of a whole graph into so many slices."""
    return list(xp.array_split(counts[0], count))


@block_map.once
def by_edge(graph: Blocked) -> list[list[Task]]:
    """Count the triangles of every edge of each block; if the graph has a kind, those of it.

    Returns
    -------
    For each block, a list of tasks that return slices (uint32) of the counts.
    """
    return by_edge_of(graph, None, graph.kind)


def by_edge_of(
    graph: Blocked, left: list[Task] | None, kind: BlockKind | None = None
) -> list[list[Task]]:
    """Count the triangles of the edges that are left of each block; None stands for all edges.

    A `kind` has the arrays of these edges.
    """
    if kind is None or kind.quantity is None:
        return _by_edge(graph, graph.by_job(edge_counts, of=left))
    return visited_by_edge(graph, kind.quantity, kind.quantity.reading, kind.arrays, left)


def _by_edge(
    graph: Blocked, jobs: Iterator[tuple[PlacedJob, Task]],
    combine: Callable[..., Any] = block_work.add,
) -> list[list[Task]]:  # fmt: skip
    """Combine, block by block, what each job returns for the edges of its three blocks."""
    if graph.n == 1:
        return [in_slices(graph, {job.worker: task for job, task in jobs}, combine)]
    return [[total] for total in graph.by_block(jobs, combine)]


def in_slices(
    graph: Blocked, counts: dict[str | None, Task], combine: Callable[..., Any] = block_work.add
) -> list[Task]:
    """Combine by edge, on a graph of one block, what each machine counted: in a slice on each."""
    cut = {
        worker: graph.submit("sum", slices, task, len(counts), on=worker)
        for worker, task in counts.items()
    }
    sums = []
    for place, worker in enumerate(counts):
        own = [graph.submit("sum", operator.getitem, task, place, on=w) for w, task in cut.items()]
        sums.append(graph.submit("sum", combine, own, on=worker))
    return sums


# What a quantity makes of triangles ---------------------------------------------------------------


def visit(
    job: BlockJob, of_blocks: list[list[Array]], quantity: Quantity, reading: Reading, vertices: int
) -> Any:
    """Combine what a quantity makes of the triangles of a job.

    `of_blocks` are the arrays of its reading for uv, uw and vw.
    """
    quantity = quantity.resolved(reading)
    for block, arrays in zip(job.three, of_blocks, strict=True):
        require_values(reading, arrays, block.m)
    found = job.visit(quantity, [quantity.values(a, side) for side, a in enumerate(of_blocks)])
    if quantity.per == "edge" and quantity.by_vertex:
        return at_corners(job, found, vertices)
    if quantity.per == "edge":  # slices are of edges, whose sums in several rows become columns
        return [rows.T.copy() if rows.ndim > 1 else rows for rows in found]
    if len(found) == 1:
        return found[0]
    i, j, k = job.residues
    of_w = found.pop()[: geometry.members(vertices, job.n, k)]
    return [*geometry.end_sums(vertices, job.n, (i, j), *found), of_w]


def visited_by_edge(
    graph: Blocked, quantity: Quantity, resolved: Task, values: list[Task],
    left: list[Task] | None = None,
) -> list[list[Task]]:  # fmt: skip
    """Combine what a quantity makes of the triangles of every edge, as `by_edge_of` counts them.

    `resolved` and `values` are what `block_values.read` returns.
    """
    jobs = graph.by_job(visit, quantity, resolved, graph.vertices, of=left, values=values)
    return _by_edge(graph, jobs, block_work.COMBINE[quantity.combine])


def visited_by_vertex(
    graph: Blocked, quantity: Quantity, resolved: Task, values: list[Task]
) -> list[Task]:
    """Combine what a quantity makes of the triangles of every rank: a task per residue."""
    jobs = graph.by_job(visit, quantity, resolved, graph.vertices, values=values)
    return _at_corners(graph, jobs, block_work.COMBINE[quantity.combine])


def visited_in_all(graph: Blocked, quantity: Quantity, resolved: Task, values: list[Task]) -> Task:
    """Combine what a quantity makes of all triangles."""
    jobs = graph.by_job(visit, quantity, resolved, graph.vertices, values=values)
    return graph.reduce("sum", block_work.COMBINE[quantity.combine], (task for _, task in jobs))


def _at_corners(
    graph: Blocked, jobs: Iterator[tuple[PlacedJob, Task]],
    combine: Callable[..., Any] = block_work.add,
) -> list[Task]:  # fmt: skip
    """Combine, by residue, what each job returns for the ranks of its corners u, v and w."""
    return graph.by_residue(((job.tasks[0].residues, task) for job, task in jobs), combine)


# By third vertex ----------------------------------------------------------------------------------


def distinct_degrees(degrees: Array, *, backend: Backend) -> Any:
    """Copy the distinct degrees of the ranks of a residue to the host."""
    return backend.host(backend.xp.unique(degrees))


def table_of(name: str, degrees: list[Any]) -> ThirdTable:
    """Return what a formula of `rapids_tc.blocks.third_sums` gives for all degrees."""
    return third_table(name, np.unique(np.concatenate(degrees)))


def job_third_sums(job: BlockJob, corners: list[ThirdValues], quantity: Quantity) -> list[Array]:
    """Sum values of third vertices by edge; `corners` are of the residues of u, v and w."""
    (i, j, _k), (of_u, of_v, of_w) = job.residues, (each.by_rank for each in corners)
    rows_before = job.xp.zeros(int(i > j), "int64")  # a row of uv that stands for no vertex
    of_corners = job.xp.concatenate([rows_before, of_u]), of_v, of_w
    require(len(of_u) + len(rows_before) == job.three[0].n, f"{len(of_u)} values")
    require_below(job.three[0].columns, len(of_v), "ranks")
    require_below(job.three[1].columns, len(of_w), "ranks")
    return job.visit(quantity, of_corners)


def third_values(graph: Blocked, degrees: list[Task], name: str) -> list[Task]:
    """Return what a formula gives for the ranks of each residue, from their degrees."""
    distinct = [graph.submit("degrees", distinct_degrees, own) for own in degrees]
    table = graph.submit("degrees", table_of, name, distinct)
    return [graph.submit("degrees", ThirdTable.of, table, own) for own in degrees]


def third_sums(graph: Blocked, quantity: Quantity) -> list[list[Task]]:
    """Sum a value of the common neighbors of the ends of every edge, in the order of `by_edge`.

    The sums are float64. The quantity has the name of a formula in `rapids_tc.blocks.third_sums`.
    """
    values = third_values(graph, degrees(graph), quantity.name)
    by_block = _by_edge(graph, graph.by_job(job_third_sums, quantity, by_residue=values))
    return [
        [graph.submit("sum", ThirdValues.as_floats, values[0], part) for part in slices]
        for slices in by_block
    ]


# By vertex ----------------------------------------------------------------------------------------


def corner_counts(job: BlockJob, vertices: int) -> Any:
    """Count the triangles of a job at u, v and w: for the ranks of each of their residues.

    If the graph is one block, the result is one array, for all ranks.
    """
    return at_corners(job, edge_counts(job), vertices)


def at_corners(job: BlockJob, counts: list[Array], vertices: int) -> Any:
    """Add the triangles of a job up at u, v and w, from those of its edges; see `corner_counts`."""
    (i, j, k), n = job.residues, job.n
    del counts[1:2]  # no corner needs the counts of uw, which take as much memory as the others
    of_uv = job.engine.sum_counts(job.three[0], counts.pop(0))
    by_ends = geometry.end_sums(vertices, n, (i, j), *of_uv)
    if n == 1:  # a triangle is counted at two edges of each of its corners
        return (by_ends[0] + by_ends[1]) // 2
    of_vw = job.engine.sum_counts(job.three[2], counts.pop())
    return [*by_ends, geometry.end_sums(vertices, n, (j, k), *of_vw)[1]]


def ends_of(block: PlacedBlock, counts: list[Array]) -> Any:
    """Add the triangles of the edges of a block up at both of their ends."""
    return block.by_end(*block.engine.sum_counts(block.csr, block.joined(counts, "counts")))


def degrees_of(block: PlacedBlock) -> Any:
    """Count the neighbors within a block of the ends of its edges."""
    by_row = block.csr.offsets[1:] - block.csr.offsets[:-1]
    by_column = protocol.column_counts(block.engine, block.csr, block.csr.n)
    return block.by_end(by_row.astype("int64"), by_column.astype("int64"))


def neighbor_degrees_of(block: PlacedBlock, of_rows: Array, of_columns: Array) -> Any:
    """Add up the degrees less one of the other ends of the edges of a block."""
    for degrees, residue in zip((of_rows, of_columns), block.at, strict=True):
        require_length(degrees, geometry.members(block.vertices, block.n, residue), "degrees")
    return block.by_end(
        *geometry.neighbor_degrees(block.csr, block.at, of_rows, of_columns, block.engine)
    )


def tie_squares_of(block: PlacedBlock, resources: list[Array]) -> Any:
    """Add `geometry.tie_squares` up at the ends of the edges of a block."""
    of_edges = block.joined(resources, "sums")
    return block.by_end(*geometry.tie_squares(block.csr, block.columns, of_edges, block.xp))


def largest_of_ends(block: PlacedBlock, values: list[Array]) -> Any:
    """Return the largest value of the edges of a block at each of their ends."""
    of_edges = block.joined(values, "values")
    by_ends = geometry.largest_at_ends(block.csr, block.columns, of_edges, block.xp)
    return block.by_end(*by_ends, block.xp.maximum)


@block_map.once
def by_vertex(graph: Blocked) -> list[Task]:
    """Count the triangles of every rank: a task per residue."""
    if by_edge in graph.known:
        doubled = graph.at_ends(ends_of, by_edge(graph))
        return [graph.submit("sum", operator.floordiv, own, 2) for own in doubled]
    return count_by_vertex(graph)


def count_by_vertex(graph: Blocked, of: list[Task] | None = None) -> list[Task]:
    """Count the triangles of every rank; `of`, if given, replaces the blocks of the graph."""
    return _at_corners(graph, graph.by_job(corner_counts, graph.vertices, of=of))


def whole(graph: Blocked, by_residue: list[Task]) -> Task:
    """Join the values of all ranks on one machine.

    Raises
    ------
    CapacityError
        There are too many.
    """
    graph.require_whole()
    return graph.submit("sum", grid.by_rank, by_residue) if by_residue[1:] else by_residue[0]


@block_map.once
def degrees(graph: Blocked) -> list[Task]:
    """Count the neighbors of every rank: a task per residue."""
    return graph.at_ends(degrees_of)


def neighbor_degrees(graph: Blocked) -> list[Task]:
    """Add up the degrees less one of the neighbors of every rank: a task per residue."""
    of_ranks, (rows, columns) = degrees(graph), zip(*graph.places_of_blocks, strict=True)
    ends = [of_ranks[i] for i in rows], [of_ranks[j] for j in columns]
    return graph.at_ends(neighbor_degrees_of, *ends)


def tie_squares(graph: Blocked) -> list[Task]:
    """Add up `geometry.tie_squares` of the edges of every rank: a task per residue."""
    resources = third_sums(graph, CommonNeighborSums("resource_allocation"))
    return graph.at_ends(tie_squares_of, resources)


def largest_of_edges(graph: Blocked, by_block: list[list[Task]]) -> list[Task]:
    """Find the largest value of the edges of every rank, 0 without any: a task per residue."""
    return graph.at_ends(largest_of_ends, by_block, combine=block_work.largest)


def of_row_ends(graph: Blocked, by_residue: list[Task]) -> list[Task]:
    """Look up values of ranks for both ends of the rows of each batch."""
    values = by_residue, [grid.Residue(residue, graph.n) for residue in range(graph.n)]
    return ranges.look_up(graph, "columns", graph.ranks, graph.workers_of_rows, *values)


# By group -----------------------------------------------------------------------------------------


def groups_of(block: PlacedBlock, ids: Ids, order: list[Any]) -> Array:
    """Return the group of every edge of a block."""
    rank, vertices = order
    require_length(rank, ids.size, "ranks")
    by_rank = ids.group_of[Order.of_ranks(rank, vertices, block.xp).number]
    ends, _ = block.ends
    require_below(ends, len(by_rank), "ranks")
    return by_rank[ends]


def moments_in_groups(
    counts: list[Array], groups: Array, ids: Ids, *, backend: Backend
) -> list[tuple[int, float]]:
    """Return what an estimate needs of the triangles of the edges of each group in a block."""
    triangles = backend.xp.concatenate(counts)
    require_length(triangles, len(groups), "counts of edges")
    return sampling.moments_by(backend.host(triangles), backend.host(groups), len(ids.starts))


def edge_groups(graph: Blocked) -> list[Task]:
    """Submit the group of every edge of each block."""
    return graph.each_block("sum", groups_of, more=(graph.ids, graph.order))


def moments_by_group(graph: Blocked) -> list[tuple[int, float]]:
    """Return what an estimate needs of the triangles of the edges of each group."""
    by_block = by_edge(graph), edge_groups(graph)
    tasks = graph.each("sum", moments_in_groups, *by_block, more=(graph.ids,))
    of_blocks: list[list[tuple[int, float]]] = graph.executor.gather(tasks)
    by_group = zip(*of_blocks, strict=True)
    return [(sum(t for t, _ in parts), sum(pairs for _, pairs in parts)) for parts in by_group]
