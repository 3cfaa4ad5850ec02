"""The tasks of a cluster's workers that look up values for rows, and that select rows.

A task returns the values of a batch's rows for one block: [values of all rows] if the graph is one
block, else [positions of the rows that lie in the block, values of these rows].
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.blocks import codec, geometry
from rapids_tc.blocks.arrivals import require_below, require_length
from rapids_tc.blocks.id_tasks import Fingerprints, id_columns
from rapids_tc.blocks.worker_tasks import Ranks, WorkerContext, worker_task
from rapids_tc.engines import registry
from rapids_tc.frames.backend import Array, Frame, sum64
from rapids_tc.plan.record import row_columns
from rapids_tc.preparation.edges import check_new

if TYPE_CHECKING:
    from rapids_tc.blocks.codec import EncodedBlock

NONE = 2**31 - 1  # stands for no partition: above the number of any


@worker_task
def values(
    context: WorkerContext,
    ranks: Ranks,
    rows: EncodedBlock,
    by_edge: Any,
    place: int,
    n: int,
) -> list[Array]:
    """Look up the values of the rows in a block; self loops get 0.

    `by_edge` holds the values of the block's edges, in slices.
    """
    xp = context.backend.xp
    of_edges = xp.concatenate(by_edge)
    require_length(of_edges, len(rows[1]), "values of edges")
    with_loop = xp.concatenate([of_edges, xp.zeros(1, of_edges.dtype)])  # for loops, at -1
    *block_rows, positions = locate(context, ranks, rows, place, n)
    return [*block_rows, with_loop[positions]]


@worker_task
def columns(
    context: WorkerContext,
    partitions: list[Frame],
    prints: Fingerprints,
    ranks: Ranks,
    degrees: list[Array] | None,
    by_block: dict[str, list[list[Array]]],
    names: list[str],
) -> list[Frame]:
    """Add columns to partitions, computed from the values of their rows in each block."""
    # A partition may have columns that the meta of the frame lacks.
    for partition, seen in zip(partitions, prints, strict=True):
        check_new(names, context.adapter.labels(partition), f"partition {seen.place} of the frame")
    id_columns(context, partitions, prints)
    rows = len(ranks[0])
    by_edge = {name: _together(context, blocks, rows) for name, blocks in by_block.items()}
    values = _RowValues(context, by_edge, rows, degrees)
    loops, arrays = ranks[0] == ranks[1], {}
    for name in names:
        column = row_columns()[name]
        arrays[name] = column.formula(values).astype(column.dtype)
        arrays[name][loops] = 0
    adapter, result, start = context.adapter, [], 0
    for partition in partitions:
        end = start + len(partition)
        added = {
            name: adapter.column_like(partition, array[start:end], name)
            for name, array in arrays.items()
        }
        result.append(adapter.assign(partition, added))
        start = end
    return result


@dataclass(frozen=True)
class _RowValues:
    """What formulas may ask about the edges of the rows of a batch."""

    context: WorkerContext
    by_edge: dict[str, Array]
    rows: int
    by_end: list[Array] | None

    @property
    def xp(self) -> Any:
        return self.context.backend.xp

    @cached_property
    def triangles(self) -> Array:
        return self.by_edge["triangles"].astype("int64")

    @cached_property
    def degrees(self) -> tuple[Array, Array]:
        assert self.by_end is not None
        for end in self.by_end:
            require_length(end, self.rows, "degrees of rows")
        # A vertex with only self loops has degree 0, by which formulas would divide.
        a, b = (self.xp.maximum(end, 1) for end in self.by_end)
        return a, b

    @property
    def trussness(self) -> Array:
        return self.by_edge["trussness"]

    def third_sums(self, name: str) -> Array:
        return self.by_edge[name]

    @property
    def community(self) -> Array:
        raise NotImplementedError("communities are never found on a cluster")


@worker_task
def first_rows(
    context: WorkerContext,
    ranks: Ranks,
    rows: EncodedBlock,
    wanted: Any,
    place: int,
    n: int,
    places: list[int],
    lengths: list[int],
) -> list[Array]:
    """Find the first row of each wanted edge of a block among the rows of a batch.

    `places` are the numbers of the batch's partitions in the frame, `lengths` their rows.

    Returns
    -------
    first, edge, row, partition
        For each wanted edge, the first partition of the batch that holds it, or `NONE`. Then for
        each wanted edge that the batch holds: its number among the wanted edges, its first row,
        and the partition of this row.
    """
    xp = context.backend.xp
    mask = xp.concatenate(wanted)
    require_length(mask, len(rows[1]), "marks of edges")
    *block_rows, where = locate(context, ranks, rows, place, n)
    row = block_rows[0] if block_rows else xp.arange(len(where))
    chosen = xp.concatenate([mask, xp.zeros(1, bool)])[where]  # for loops, at -1
    where, row = where[chosen], row[chosen]
    is_first = geometry.is_first(where, context.backend)
    edge, row = (xp.cumsum(mask) - 1)[where[is_first]], row[is_first]
    ends = xp.asarray(np.cumsum(lengths))
    partition = xp.asarray(np.array(places, "int32"))[xp.searchsorted(ends, row, side="right")]
    first = xp.full(sum64(mask), NONE, "int32")
    first[edge] = partition
    return [first, edge, row, partition]


@worker_task
def least(context: WorkerContext, several: list[Array]) -> Array:
    """Return the smaller entries of two arrays."""
    require_length(several[0], len(several[-1]), "places of edges")
    return context.backend.xp.minimum(*several)


@worker_task
def kept_rows(context: WorkerContext, looked_up: list[Array], first: Array) -> Array:
    """Select the rows of a batch that are, in the whole frame, the first row of a wanted edge.

    `looked_up` is the result of `first_rows` for the batch; `first` is the minimum over all batches
    of the first array of these results.
    """
    _, edge, row, partition = looked_up
    require_below(edge, len(first), "edges")
    return row[first[edge] == partition]


@worker_task
def take(
    context: WorkerContext, partitions: list[Frame], prints: Fingerprints, kept: list[Array]
) -> list[Frame]:
    """Take the kept rows of every partition, in the order of the frame."""
    id_columns(context, partitions, prints)
    xp, row = context.backend.xp, context.backend.xp.sort(context.backend.xp.concatenate(kept))
    starts = np.cumsum([0, *map(len, partitions)])
    cuts = xp.searchsorted(row, xp.asarray(starts)).tolist()
    return [
        context.adapter.take(partition, row[a:b] - int(start))
        for partition, start, (a, b) in zip(partitions, starts, pairwise(cuts), strict=False)
    ]


def locate(
    context: WorkerContext,
    ranks: Ranks,
    rows: EncodedBlock,
    place: int,
    n: int,
) -> list[Array]:
    """Return [positions of the rows' edges in a block's columns], -1 for self loops.

    If n > 1, return [rows, positions], for only some rows lie in the block.
    """
    xp = context.backend.xp
    engine, block = registry.load(context.backend.engine), codec.csr(rows, xp)
    larger, smaller = xp.maximum(*ranks), xp.minimum(*ranks)
    if n == 1:
        require_below(larger, block.n, "ranks")
        return [engine.find_edges(block, larger, smaller)]
    row, u, v = geometry.rows_in_block(larger, smaller, n, divmod(place, n), xp)
    require_below(u, block.n, "ranks")
    return [row, engine.find_edges(block, u, v)]


def _together(context: WorkerContext, several: list[list[Array]], rows: int) -> Array:
    """Join the values of the rows of a batch from all blocks."""
    if len(several[0]) == 1:
        require_length(several[0][0], rows, "values of rows")
        return several[0][0]
    result = context.backend.xp.zeros(rows, several[0][1].dtype)
    for row, found in several:
        require_below(row, rows, "rows")
        require_length(found, len(row), "values of rows")
        result[row] = found
    return result
