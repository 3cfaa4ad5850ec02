"""Run the tasks of a cluster's workers on blocks: count triangles, and add counts up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.blocks import codec, geometry, grid, parts
from rapids_tc.blocks import third_sums as third_sums_of
from rapids_tc.blocks.arrivals import require, require_below, require_length
from rapids_tc.blocks.worker_tasks import WorkerContext, worker_task
from rapids_tc.engines import registry
from rapids_tc.graphs.protocol import VertexTotals
from rapids_tc.plan.record import ANALYTICS, OwnOptions
from rapids_tc.preparation import sampling
from rapids_tc.preparation.orient import Order

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rapids_tc.blocks.codec import EncodedBlock
    from rapids_tc.blocks.grid import Task
    from rapids_tc.blocks.tallies import Tally
    from rapids_tc.blocks.third_sums import ThirdTable, ThirdValues
    from rapids_tc.blocks.triangle_sums import Summed
    from rapids_tc.frames.backend import Array
    from rapids_tc.preparation.composite import CompositeIds
    from rapids_tc.preparation.csr import Csr
    from rapids_tc.preparation.numbering import Ids

SAMPLE = 2**25  # edges by which parts of a whole graph are made even


@worker_task
def count(
    context: WorkerContext,
    uv: EncodedBlock,
    uw: EncodedBlock,
    vw: EncodedBlock,
    tasks: list[Task],
    n: int,
    method: str,
) -> int:
    """Count the triangles of some tasks on the same blocks."""
    engine = registry.load(context.backend.engine)
    layouts = task_layouts(context, decode_blocks(context, uv, uw, vw), tasks, n)
    return sum(engine.count(layout, method=method) for layout in layouts)


@worker_task
def edge_counts(
    context: WorkerContext,
    uv: EncodedBlock,
    uw: EncodedBlock,
    vw: EncodedBlock,
    tasks: list[Task],
    n: int,
    method: str,
) -> list[Array]:
    """Count triangles by edge of some tasks on the same blocks: the graph, or three blocks."""
    return counts_by_edge(context, decode_blocks(context, uv, uw, vw), tasks, n, method)


def counts_by_edge(
    context: WorkerContext, three: tuple[Csr, ...], tasks: list[Task], n: int, method: str
) -> list[Array]:
    """Count triangles by edge of some tasks on the same blocks, which are decoded."""
    engine = registry.load(context.backend.engine)
    sums: list[Array] = []
    for layout in task_layouts(context, three, tasks, n):
        counts = engine.edge_counts(layout, method=method)
        sums = added(sums, [counts] if n == 1 else counts)
    return sums


@worker_task
def distinct_degrees(context: WorkerContext, degrees: Array) -> Any:
    """Copy the distinct degrees of the ranks of a residue to the host."""
    return context.backend.host(context.backend.xp.unique(degrees))


@worker_task
def third_table(context: WorkerContext, name: str, degrees: list[Any]) -> ThirdTable:
    """Return what a formula of `rapids_tc.blocks.third_sums` gives for all degrees."""
    return third_sums_of.third_table(name, np.unique(np.concatenate(degrees)))


@worker_task
def third_values(context: WorkerContext, table: ThirdTable, degrees: Array) -> ThirdValues:
    """Return what a formula gives for the ranks of a residue."""
    return table.of(degrees, context.backend.xp)


@worker_task
def third_sums(
    context: WorkerContext,
    uv: EncodedBlock,
    uw: EncodedBlock,
    vw: EncodedBlock,
    tasks: list[Task],
    n: int,
    method: str,
    corners: list[ThirdValues],
) -> list[Array]:
    """Sum values of third vertices by edge, of some tasks on the same blocks.

    `corners` are the values of the ranks with the residues of u, v and w.
    """
    three, xp = decode_blocks(context, uv, uw, vw), context.backend.xp
    engine = registry.load(context.backend.engine)
    (i, j, _k), (of_u, of_v, of_w) = tasks[0].residues, (each.by_rank for each in corners)
    rows_before = xp.zeros(int(i > j), "int64")  # without a vertex
    of_corners = of_u if n == 1 else (xp.concatenate([rows_before, of_u]), of_v, of_w)
    require(len(of_u) + len(rows_before) == three[0].n, f"{len(of_u)} values")
    require_below(three[0].columns, len(of_v), "ranks")
    require_below(three[1].columns, len(of_w), "ranks")
    sums: list[Array] = []
    for layout in task_layouts(context, three, tasks, n):
        found = engine.third_sums(layout, of_corners)
        sums = added(sums, [found] if n == 1 else found)
    return sums


@worker_task
def as_floats(context: WorkerContext, sums: Array, values: ThirdValues) -> Array:
    """Return sums of values of third vertices as float64."""
    return values.as_floats(sums)


def added(sums: Sequence[Array], more: Sequence[Array]) -> list[Array]:
    """Add arrays to the sums of the arrays before, of which there are none at first."""
    return [a + b for a, b in zip(sums, more, strict=True)] if sums else list(more)


def decode_blocks(context: WorkerContext, *blocks: EncodedBlock) -> tuple[Csr, ...]:
    """Decode the blocks of a task; a block that is given twice is decoded once."""
    encoded = {id(rows): rows for rows in blocks}
    decoded = {at: codec.csr(rows, context.backend.xp) for at, rows in encoded.items()}
    return tuple(decoded[id(rows)] for rows in blocks)


def task_layouts(
    context: WorkerContext,
    three: tuple[Csr, ...],
    tasks: list[Task],
    n: int,
    *,
    of_blocks: bool = False,
) -> Iterator[Any]:
    """Yield the layout of each task, one at a time; `of_blocks` also if the graph is one block."""
    of_blocks = of_blocks or n > 1
    engine, xp, (uv, uw, vw) = registry.load(context.backend.engine), context.backend.xp, three
    parts, residues, bounds = tasks[0].parts, tasks[0].residues, [0]
    i, j, k = residues  # of a whole graph all are the same, and so are the blocks
    require(uv.n - (i > j) == uw.n - (i > k), f"blocks of {uv.n} and {uw.n} rows")
    require_below(uv.columns, vw.n - (j > k), "ranks")
    grouped = engine.to_csc(uv) if of_blocks else uv  # once for all
    if parts > 1 and n > 1:
        bounds = grid.cuts(grid.cost(engine.probe_counts(grouped, uw, residues), uv, engine), parts)
    elif parts > 1:  # by some rows: nearly as even, and no sort of all in-edges
        some = grid.sampled(uv, 1 + uv.m // SAMPLE, xp)
        bounds = grid.cuts(grid.cost(engine.probe_counts(some), some, engine), parts)
    for task in tasks:
        pivot_range = (bounds[task.part], bounds[task.part + 1]) if parts > 1 else None
        if not of_blocks:
            yield engine.prepare(uv, pivot_range=pivot_range)
        else:
            yield engine.prepare_blocks(grouped, uw, vw, residues, pivot_range=pivot_range)


@worker_task
def add(context: WorkerContext, several: list[Array]) -> Array:
    """Add several arrays up."""
    for array in several:
        require_length(array, len(several[0]), "sums")
    total = several[0].copy()
    for array in several[1:]:
        total += array
    return total


@worker_task
def largest(context: WorkerContext, several: list[Array]) -> Array:
    """Return the largest entries of several arrays; of marks, whether any array has them."""
    result = several[0].copy()
    for array in several[1:]:
        require_length(array, len(result), "values")
        context.backend.xp.maximum(result, array, out=result)
    return result


@worker_task
def slices(context: WorkerContext, counts: list[Array], parts: int) -> list[Array]:
    """Cut the `edge_counts` of a whole graph into so many parts."""
    return list(context.backend.xp.array_split(counts[0], parts))


@worker_task
def moments(context: WorkerContext, counts: Array) -> tuple[int, float]:
    """Return what an estimate needs of the triangles of some edges."""
    return sampling.moments(counts)


@worker_task
def edge_groups(
    context: WorkerContext,
    rows: EncodedBlock,
    ids: CompositeIds,
    order: list[Any],
    place: int,
    n: int,
) -> Array:
    """Return the group of every edge of a block."""
    xp, (rank, vertices) = context.backend.xp, order
    require_length(rank, ids.size, "ranks")
    by_rank = ids.group_of[Order.of_ranks(rank, vertices, xp).number]
    ends, _ = geometry.block_ends(codec.csr(rows, xp), n, divmod(place, n))
    require_below(ends, len(by_rank), "ranks")
    return by_rank[ends]


@worker_task
def moments_by_group(
    context: WorkerContext, counts: list[Array], groups: Array, ids: CompositeIds
) -> list[tuple[int, float]]:
    """Return what an estimate needs of the triangles of the edges of each group in a block."""
    xp, host = context.backend.xp, context.backend.host
    triangles = xp.concatenate(counts)
    require_length(triangles, len(groups), "counts of edges")
    return sampling.moments_by(host(triangles), host(groups), len(ids.starts))


@worker_task
def group_frame(context: WorkerContext, ids: CompositeIds, columns: dict[str, Any]) -> Any:
    """Make a frame of values by group."""
    return ids.group_frame(columns, context.backend)


@worker_task
def answer(
    context: WorkerContext,
    name: str,
    options: OwnOptions,
    ids: Ids,
    order: list[Any],
    by_residue: dict[str, list[Array]],
    total: int | None,
    summed: dict[str, Summed],
    tallied: Tally | None,
) -> Any:
    """Answer an analytic of vertices, or of the whole graph, from the sums over all blocks."""
    backend, (rank, n) = context.backend, order
    by_rank = {kind: parts.by_rank(values, backend.xp) for kind, values in by_residue.items()}
    for values in by_rank.values():
        require_length(values, n, "sums by vertex")
    graph = VertexTotals(
        backend, ids, Order.of_ranks(rank, n, backend.xp), **by_rank,
        n_edges=int(by_rank["degrees"].sum()) // 2, total=total, summed=summed, tallied=tallied,
    )  # fmt: skip
    return ANALYTICS[name].body(graph, **options)
