"""Run the tasks of a cluster's workers that add values up by vertex, for the ranks of a residue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rapids_tc.blocks import codec, counting, geometry, parts
from rapids_tc.blocks.arrivals import require_length
from rapids_tc.blocks.worker_tasks import WorkerContext, worker_task
from rapids_tc.engines import protocol, registry

if TYPE_CHECKING:
    from rapids_tc.blocks.codec import EncodedBlock
    from rapids_tc.blocks.grid import Task
    from rapids_tc.frames.backend import Array
    from rapids_tc.preparation.csr import Csr


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
) -> Any:
    """Count the triangles of some tasks on the same blocks at u, v and w; see `by_residue`."""
    engine = registry.load(context.backend.engine)
    three, (i, j, k) = counting.decode_blocks(context, uv, uw, vw), tasks[0].residues
    counts = counting.counts_by_edge(context, three, tasks, n, method)
    by_ends = geometry.end_sums(vertices, n, (i, j), *engine.sum_counts(three[0], counts[0]))
    if n == 1:  # a triangle is counted at two edges of each of its corners
        return by_residue(by_ends, n) // 2
    _, by_w = geometry.end_sums(vertices, n, (j, k), *engine.sum_counts(three[2], counts[2]))
    return [*by_ends, by_w]


def by_residue(by_ends: list[Array], n: int) -> Any:
    """Return values by rank of the residue of each end; of a graph in one block, their sums."""
    return by_ends[0] + by_ends[1] if n == 1 else by_ends


@worker_task
def ends_of(
    context: WorkerContext, rows: EncodedBlock, counts: list[Array], place: int, n: int,
    vertices: int,
) -> Any:  # fmt: skip
    """Add the triangles of the edges of a block up at both of their ends; see `by_residue`."""
    block, at, triangles = _with_values(context, rows, counts, place, n, vertices, "counts")
    engine = registry.load(context.backend.engine)
    by_ends = engine.sum_counts(block, triangles)
    return by_residue(geometry.end_sums(vertices, n, at, *by_ends), n)


@worker_task
def halved(context: WorkerContext, sums: Array) -> Array:
    """Halve sums over edges: a triangle is counted at two edges of each of its corners."""
    return sums // 2


@worker_task
def degrees_of(
    context: WorkerContext, rows: EncodedBlock, place: int, n: int, vertices: int
) -> Any:
    """Count the neighbours within a block of the ends of its edges; see `by_residue`."""
    block, at = codec.block(rows, place, n, vertices, context.backend.xp)
    engine = registry.load(context.backend.engine)
    by_row = block.offsets[1:] - block.offsets[:-1]
    by_column = protocol.column_counts(engine, block, block.n)
    by_ends = geometry.end_sums(vertices, n, at, by_row, by_column)
    return by_residue([degrees.astype("int64") for degrees in by_ends], n)


@worker_task
def neighbor_degrees_of(
    context: WorkerContext, rows: EncodedBlock, of_rows: Array, of_columns: Array, place: int,
    n: int, vertices: int,
) -> Any:  # fmt: skip
    """Add up the degrees less one of the other ends of the edges of a block; see `by_residue`."""
    block, at = codec.block(rows, place, n, vertices, context.backend.xp)
    engine = registry.load(context.backend.engine)
    for degrees, residue in zip((of_rows, of_columns), at, strict=True):
        require_length(degrees, geometry.members(vertices, n, residue), "degrees")
    by_ends = geometry.neighbor_degrees(block, at, of_rows, of_columns, engine)
    return by_residue(geometry.end_sums(vertices, n, at, *by_ends), n)


@worker_task
def tie_squares_of(
    context: WorkerContext, rows: EncodedBlock, resources: list[Array], place: int, n: int,
    vertices: int,
) -> Any:  # fmt: skip
    """Add `geometry.tie_squares` up at the ends of the edges of a block; see `by_residue`."""
    block, at, of_edges = _with_values(context, rows, resources, place, n, vertices, "sums")
    columns = geometry.members(vertices, n, at[1])
    by_ends = geometry.tie_squares(block, columns, of_edges, context.backend.xp)
    return by_residue(geometry.end_sums(vertices, n, at, *by_ends), n)


@worker_task
def largest_of_ends(
    context: WorkerContext, rows: EncodedBlock, values: list[Array], place: int, n: int,
    vertices: int,
) -> Any:  # fmt: skip
    """Return the largest value of the edges of a block at each of their ends; see `by_residue`."""
    xp = context.backend.xp
    block, at, of_edges = _with_values(context, rows, values, place, n, vertices, "values")
    columns = geometry.members(vertices, n, at[1])
    by_ends = geometry.largest_at_ends(block, columns, of_edges, xp)
    of_residues = geometry.end_sums(vertices, n, at, *by_ends)
    return xp.maximum(*of_residues) if n == 1 else of_residues


def _with_values(
    context: WorkerContext, rows: EncodedBlock, values: list[Array], place: int, n: int,
    vertices: int, kind: str,
) -> tuple[Csr, geometry.Block, Array]:  # fmt: skip
    """Decode a block with its place, and join the slices of the values of its edges.

    `kind` is what an error calls the values.
    """
    xp = context.backend.xp
    block, at = codec.block(rows, place, n, vertices, xp)
    of_edges = xp.concatenate(values)
    require_length(of_edges, block.m, f"{kind} of edges")
    return block, at, of_edges


@worker_task
def by_rank(context: WorkerContext, residues: list[Array]) -> Array:
    """Join the values of the ranks of all residues, in the order of the ranks."""
    return parts.by_rank(residues, context.backend.xp)
