"""What the machines of a cluster do with blocks: they count tasks, and add up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rapids_tc.blocks import codec, grid
from rapids_tc.blocks.arrivals import require, require_below, require_length
from rapids_tc.blocks.codec import EncodedBlock
from rapids_tc.blocks.grid import Task
from rapids_tc.blocks.worker_tasks import WorkerContext, worker_task
from rapids_tc.engines import registry
from rapids_tc.frames.backend import Array
from rapids_tc.graphs.protocol import VertexTotals
from rapids_tc.plan.record import ANALYTICS, OwnOptions
from rapids_tc.preparation import sampling
from rapids_tc.preparation.csr import Csr
from rapids_tc.preparation.numbering import Ids
from rapids_tc.preparation.orient import Order

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
    """The triangles of some tasks on the same blocks."""
    engine = registry.load(context.backend.engine)
    layouts = _layouts(context, _three(context, uv, uw, vw), tasks, n)
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
    """The triangles of some tasks on the same blocks, by edge: of the graph, or of three blocks."""
    return _edge_counts(context, _three(context, uv, uw, vw), tasks, n, method)


def _edge_counts(
    context: WorkerContext, three: tuple[Csr, ...], tasks: list[Task], n: int, method: str
) -> list[Array]:
    engine = registry.load(context.backend.engine)
    sums: list[Array] = []
    for layout in _layouts(context, three, tasks, n):
        found = engine.edge_counts(layout, method=method)
        several = [found] if n == 1 else list(found)
        sums = [a + b for a, b in zip(sums, several, strict=True)] if sums else several
    return sums


def _three(context: WorkerContext, *several: EncodedBlock) -> tuple[Csr, ...]:
    """The blocks of a task, each once where it is the same."""
    made = {id(rows): rows for rows in several}
    decoded = {at: codec.csr(rows, context.backend.xp) for at, rows in made.items()}
    return tuple(decoded[id(rows)] for rows in several)


def _layouts(
    context: WorkerContext, three: tuple[Csr, ...], tasks: list[Task], n: int
) -> Iterator[Any]:
    """What the engine counts of each task, one at a time."""
    engine, xp, (uv, uw, vw) = registry.load(context.backend.engine), context.backend.xp, three
    parts, residues, bounds = tasks[0].parts, tasks[0].residues, [0]
    i, j, k = residues  # of a whole graph all are the same, and so are the blocks
    require(uv.n - (i > j) == uw.n - (i > k), f"blocks of {uv.n} and {uw.n} rows")
    require_below(uv.columns, vw.n - (j > k), "ranks")
    grouped = engine.to_csc(uv) if n > 1 else uv  # once for all
    if parts > 1 and n > 1:
        bounds = grid.cuts(grid.cost(engine.probe_counts(grouped, uw, residues), uv, engine), parts)
    elif parts > 1:  # by some rows: nearly as even, and no sort of all in-edges
        some = grid.sampled(uv, 1 + uv.m // SAMPLE, xp)
        bounds = grid.cuts(grid.cost(engine.probe_counts(some), some, engine), parts)
    for task in tasks:
        pivot_range = (bounds[task.part], bounds[task.part + 1]) if parts > 1 else None
        if n == 1:
            yield engine.prepare(uv, pivot_range=pivot_range)
        else:
            yield engine.prepare_blocks(grouped, uw, vw, residues, pivot_range=pivot_range)


@worker_task
def add(context: WorkerContext, several: list[Array]) -> Array:
    """The sum of several arrays."""
    for array in several:
        require_length(array, len(several[0]), "sums")
    total = several[0].copy()
    for array in several[1:]:
        total += array
    return total


@worker_task
def slices(context: WorkerContext, counts: list[Array], parts: int) -> list[Array]:
    """The `edge_counts` of a whole graph, in so many parts."""
    return context.backend.xp.array_split(counts[0], parts)


@worker_task
def moments(context: WorkerContext, counts: Array) -> tuple[int, float]:
    """What an estimate needs of the triangles of some edges."""
    return sampling.moments(counts)


@worker_task
def vertex_counts(
    context: WorkerContext,
    uv: EncodedBlock,
    uw: EncodedBlock,
    vw: EncodedBlock,
    tasks: list[Task],
    n: int,
    method: str,
    vertices: int,
) -> Array:
    """The triangles of some tasks on the same blocks, by rank: half the sum around each."""
    engine, sums = (
        registry.load(context.backend.engine),
        context.backend.xp.zeros(vertices, "int64"),
    )
    three = _three(context, uv, uw, vw)
    found = _edge_counts(context, three, tasks, n, method)
    for block, at, counts in zip(three, tasks[0].blocks, found, strict=False):
        grid.add_ends(sums, n, at, *engine.sum_counts(block, counts))
    return sums // 2


@worker_task
def degrees_of(
    context: WorkerContext, rows: EncodedBlock, place: int, n: int, vertices: int
) -> Array:
    """The neighbours of every rank within a block."""
    xp = context.backend.xp
    require_length(rows[0], grid.shape(vertices, n, *divmod(place, n)), "rows of a block")
    sums = xp.zeros(vertices, "int64")
    found = grid.degrees(codec.csr(rows, xp), registry.load(context.backend.engine))
    grid.add_ends(sums, n, divmod(place, n), *found)
    return sums


@worker_task
def answer(
    context: WorkerContext,
    name: str,
    options: OwnOptions,
    ids: Ids,
    order: list[Any],
    degrees: Array,
    total: int | None,
    sums: Array | None,
) -> Any:
    """Answer an analytic of vertices, or of the whole graph, from the sums over all blocks."""
    backend, (rank, n) = context.backend, order
    for values in (degrees, degrees if sums is None else sums):
        require_length(values, n, "sums by vertex")
    graph = VertexTotals(
        backend, ids, Order.of_ranks(rank, n, backend.xp), n_edges=int(degrees.sum()) // 2,
        degrees=degrees, total=total, sums=sums,
    )  # fmt: skip
    return ANALYTICS[name].body(graph, **options)
