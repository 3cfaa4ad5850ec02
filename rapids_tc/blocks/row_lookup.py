"""Run the tasks of a cluster's workers on rows: look up values of their edges, and select rows.

The values of the rows of a batch come block by block: [values of all rows] if the graph is one
block, else [positions of the rows that lie in the block, their values].
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
from rapids_tc.blocks.worker_tasks import Numbers, WorkerContext, worker_task
from rapids_tc.engines import registry
from rapids_tc.frames.backend import Array, Frame, gather, sum64
from rapids_tc.plan.record import row_columns
from rapids_tc.preparation.edges import check_new

if TYPE_CHECKING:
    from rapids_tc.blocks.codec import EncodedBlock

NONE = 2**31 - 1  # a place of a partition that is behind all others


@worker_task
def values(
    context: WorkerContext,
    numbers: Numbers,
    order: list[Any],
    rows: EncodedBlock,
    by_edge: Any,
    place: int,
    n: int,
) -> list[Array]:
    """Look up the value of each row's edge in slices of the values of a block; self loops get 0."""
    xp = context.backend.xp
    known = xp.concatenate(by_edge)
    require_length(known, len(rows[1]), "values of edges")
    with_loop = xp.concatenate([known, xp.zeros(1, known.dtype)])  # a loop is at -1
    *those, where = _locate(context, numbers, order, rows, place, n)
    return [*those, with_loop[where]]


@worker_task
def columns(
    context: WorkerContext,
    partitions: list[Frame],
    prints: Fingerprints,
    numbers: Numbers,
    order: list[Any],
    degrees: Array | None,
    found: dict[str, list[list[Array]]],
    names: list[str],
) -> list[Frame]:
    """Add columns to partitions, from the values of their rows by block."""
    for partition, seen in zip(partitions, prints, strict=True):  # may have more columns than meta
        check_new(names, context.adapter.labels(partition), f"partition {seen.place} of the frame")
    id_columns(context, partitions, prints)
    rows = len(numbers[0])
    values = _RowValues(
        context,
        {name: _together(context, blocks, rows) for name, blocks in found.items()},
        numbers,
        order,
        degrees,
    )
    known, loops, made = row_columns(), numbers[0] == numbers[1], {}
    for name in names:
        made[name] = known[name].formula(values).astype(known[name].dtype)
        made[name][loops] = 0
    adapter, result, start = context.adapter, [], 0
    for partition in partitions:
        end = start + len(partition)
        own = {name: adapter.column_like(partition, made[name][start:end], name) for name in names}
        result.append(adapter.assign(partition, own))
        start = end
    return result


@dataclass(frozen=True)
class _RowValues:
    """What formulas may ask about the edges of some rows."""

    context: WorkerContext
    by_edge: dict[str, Array]
    numbers: Numbers
    order: list[Any]
    by_rank: Array | None

    @property
    def xp(self) -> Any:
        return self.context.backend.xp

    @property
    def triangles(self) -> Array:
        return self.by_edge["triangles"].astype("int64")

    @cached_property
    def degrees(self) -> tuple[Array, Array]:
        require_length(self.by_rank, self.order[1], "degrees")
        u, v = (gather(self.order[0], end) for end in self.numbers)
        # A vertex that has only loops has no neighbours.
        a, b = (self.xp.maximum(gather(self.by_rank, end), 1) for end in (u, v))
        return a, b

    @property
    def trussness(self) -> Array:
        return self.by_edge["trussness"]


@worker_task
def first_rows(
    context: WorkerContext,
    numbers: Numbers,
    order: list[Any],
    rows: EncodedBlock,
    wanted: Any,
    place: int,
    n: int,
    places: list[int],
    lengths: list[int],
) -> list[Array]:
    """Look up the rows of a batch, for the first row of each wanted edge of a block.

    Returns
    -------
    For each wanted edge the first partition that holds it, `NONE` without one; and of the edges
    that the batch holds the number of the edge, its first row, and the partition of the row.
    """
    given = (numbers, order, rows, wanted, place, n, places, lengths)
    edge, row, partition = _first_rows(context, *given)
    first = context.backend.xp.full(sum64(_mask(context, wanted)), NONE, "int32")
    first[edge] = partition
    return [first, edge, row, partition]


@worker_task
def least(context: WorkerContext, several: list[Array]) -> Array:
    """Return the lesser of two arrays, place by place."""
    require_length(several[0], len(several[-1]), "places of edges")
    return context.backend.xp.minimum(*several)


@worker_task
def kept_rows(context: WorkerContext, looked_up: list[Array], first: Array) -> Array:
    """Select the rows of a batch that are the first of all rows of a wanted edge of a block.

    `looked_up` is what `first_rows` returned for the batch, `first` the least of its first arrays.
    """
    _, edge, row, partition = looked_up
    require_below(edge, len(first), "edges")
    return row[first[edge] == partition]


@worker_task
def take(
    context: WorkerContext, partitions: list[Frame], prints: Fingerprints, kept: list[Array]
) -> list[Frame]:
    """Take the kept rows of every partition, in their order."""
    id_columns(context, partitions, prints)
    xp, row = context.backend.xp, context.backend.xp.sort(context.backend.xp.concatenate(kept))
    starts = np.cumsum([0, *map(len, partitions)])
    cuts = xp.searchsorted(row, xp.asarray(starts)).tolist()
    return [
        context.adapter.take(partition, row[a:b] - int(start))
        for partition, start, (a, b) in zip(partitions, starts, pairwise(cuts), strict=False)
    ]


def _first_rows(
    context: WorkerContext,
    numbers: Numbers,
    order: list[Any],
    rows: EncodedBlock,
    wanted: Any,
    place: int,
    n: int,
    places: list[int],
    lengths: list[int],
) -> tuple[Array, Array, Array]:
    """Find the wanted edges of a block that a batch has, the first row of each, its partition.

    The rows of the batch are the rows of the partitions `places`, which have `lengths`.
    """
    xp = context.backend.xp
    mask = _mask(context, wanted)
    require_length(mask, len(rows[1]), "marks of edges")
    *those, where = _locate(context, numbers, order, rows, place, n)
    row = those[0] if those else xp.arange(len(where))
    chosen = xp.concatenate([mask, xp.zeros(1, bool)])[where]  # a loop is at -1
    where, row = where[chosen], row[chosen]
    first = geometry.is_first(where, context.backend)
    number, row = xp.cumsum(mask) - 1, row[first]
    ends = xp.asarray(np.cumsum(lengths))
    partition = xp.asarray(np.array(places, "int32"))[xp.searchsorted(ends, row, side="right")]
    return number[where[first]], row, partition


def _mask(context: WorkerContext, wanted: Any) -> Array:
    return context.backend.xp.concatenate(wanted)


def _locate(
    context: WorkerContext,
    numbers: Numbers,
    order: list[Any],
    rows: EncodedBlock,
    place: int,
    n: int,
) -> list[Array]:
    """Find rows' edges in the columns of a block, -1 for loops; and of which rows, if n > 1."""
    backend = context.backend
    engine, block = registry.load(backend.engine), codec.csr(rows, backend.xp)
    larger, smaller = geometry.ranked_ends((numbers[0], numbers[1]), order[0], backend.xp)
    if n == 1:
        require_below(larger, block.n, "ranks")
        return [engine.find_edges(block, larger, smaller)]
    row, u, v = geometry.rows_in_block(larger, smaller, n, divmod(place, n), backend.xp)
    require_below(u, block.n, "ranks")
    return [row, engine.find_edges(block, u, v)]


def _together(context: WorkerContext, several: list[list[Array]], rows: int) -> Array:
    """Join the values of all rows of a batch."""
    if len(several[0]) == 1:
        require_length(several[0][0], rows, "values of rows")
        return several[0][0]
    result = context.backend.xp.zeros(rows, several[0][1].dtype)
    for row, found in several:
        require_below(row, rows, "rows")
        require_length(found, len(row), "values of rows")
        result[row] = found
    return result
