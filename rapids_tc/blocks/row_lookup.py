"""Look up values for the rows of a partitioned frame, and select rows.

A task on a block has the rows of a batch that lie in it. It returns [values of all rows] if the
graph is one block, else [positions of the rows that lie in the block, values of these rows].
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from rapids_tc.blocks import geometry
from rapids_tc.blocks.codec import require_below, require_length
from rapids_tc.blocks.id_tasks import Fingerprints, id_columns
from rapids_tc.frames.backend import Array, Frame, sum64
from rapids_tc.plan.record import columns_of
from rapids_tc.preparation.edge_columns import check_new

if TYPE_CHECKING:
    from types import ModuleType

    from rapids_tc.blocks.block_map import Blocked
    from rapids_tc.blocks.block_work import Ranks, RowsOfBlock
    from rapids_tc.blocks.context import WorkerContext
    from rapids_tc.engines.quantity import Quantity
    from rapids_tc.executors.protocol import Task

NONE = 2**31 - 1  # no partition: larger than the number of any partition


# Columns ------------------------------------------------------------------------------------------


def values_of_rows(rows: RowsOfBlock, by_edge: list[Array], arcs: int) -> list[Array]:
    """Look up the values of the rows in a block; `by_edge` are of its edges, in slices.

    `arcs` is 2 if they are of arcs, else 1.
    """
    return [*rows.rows, rows.take(by_edge, arcs)]


def by_row(graph: Blocked, by_edge: list[list[Task]], *, by_arc: bool = False) -> list[list[Task]]:
    """Look up the values of the rows of each batch, of their edges or arcs, in a task per block."""
    by_block = [
        graph.rows_of_block("columns", values_of_rows, place, more=(slices, 1 + by_arc))
        for place, slices in enumerate(by_edge)
    ]
    return [list(of_batch) for of_batch in zip(*by_block, strict=True)]


def columns(
    partitions: list[Frame], prints: Fingerprints, ranks: Ranks, degrees: list[Array] | None,
    by_block: dict[str, list[list[Array]]], asked: list[str | Quantity], *,
    context: WorkerContext,
) -> list[Frame]:  # fmt: skip
    """Add columns to partitions, computed from the values of their rows in each block."""
    made = columns_of(asked)
    rows, xp = len(ranks[0]), context.backend.xp
    by_edge = {name: _together(blocks, rows, xp) for name, blocks in by_block.items()}
    values = ValuesOfRows(xp, by_edge, rows, degrees)
    loops, arrays = ranks[0] == ranks[1], {}
    for name, column in made.items():
        arrays[name] = column.formula(values).astype(column.dtype)
        arrays[name][loops] = 0
    return with_columns(partitions, prints, arrays, context)


def with_columns(
    partitions: list[Frame], prints: Fingerprints, arrays: dict[str, Array], context: WorkerContext
) -> list[Frame]:
    """Add columns, of all rows of some partitions one after another, to each of these.

    Raises
    ------
    KernelError
        A partition has changed since it was first looked at.
    ValueError
        A partition has a column of such a name.
    """
    # A partition may have columns that the meta of the frame lacks.
    for partition, seen in zip(partitions, prints, strict=True):
        labels = context.adapter.labels(partition)
        check_new([*arrays], labels, f"partition {seen.place} of the frame")
    id_columns(context, partitions, prints)
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
class ValuesOfRows:
    """What formulas may ask about the edges of some rows: values of their edges, and degrees."""

    xp: ModuleType
    by_edge: dict[str, Array]
    rows: int
    by_end: list[Array] | None

    @property
    def counts(self) -> Array:
        """The triangles of every edge, as they were counted."""
        return self.by_edge["triangles"]

    @cached_property
    def triangles(self) -> Array:
        """The triangles of every edge, int64."""
        return self.counts.astype("int64")

    @cached_property
    def degrees(self) -> tuple[Array, Array]:
        """The degrees of both ends of every edge."""
        assert self.by_end is not None
        for end in self.by_end:
            require_length(end, self.rows, "degrees of rows")
        # A vertex with only self loops has degree 0, by which formulas would divide.
        a, b = (self.xp.maximum(end, 1) for end in self.by_end)
        return a, b

    @property
    def trussness(self) -> Array:
        """The trussness of every edge."""
        return self.by_edge["trussness"]

    def visited(self, quantity: Quantity) -> Array:
        """Return what a quantity makes of the triangles of every edge."""
        return self.by_edge[quantity.name]

    @property
    def community(self) -> Array:
        """No graph in blocks has communities."""
        raise NotImplementedError("communities are found in memory alone")

    @property
    def squares(self) -> Array:
        """The squares of every edge."""
        return self.by_edge["squares"]

    @property
    def bitruss(self) -> Array:
        """No graph in blocks has bitruss numbers."""
        raise NotImplementedError("a bitruss is peeled in memory alone")


def _together(several: list[list[Array]], rows: int, xp: ModuleType) -> Array:
    """Join the values of the rows of a batch from all blocks."""
    if len(several[0]) == 1:
        require_length(several[0][0], rows, "values of rows")
        return several[0][0]
    result = xp.zeros(rows, several[0][1].dtype)
    for row, found in several:
        require_below(row, rows, "rows")
        require_length(found, len(row), "values of rows")
        result[row] = found
    return result


# Rows ---------------------------------------------------------------------------------------------


def first_in_batch(
    rows: RowsOfBlock, places: list[int], lengths: list[int], wanted: list[Array]
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
    xp, mask = rows.backend.xp, rows.backend.xp.concatenate(wanted)
    chosen = rows.take(wanted)
    where, row = rows.where[chosen], rows.row[chosen]
    is_first = geometry.is_first(where, rows.backend)
    edge, row = (xp.cumsum(mask) - 1)[where[is_first]], row[is_first]
    ends = xp.asarray(np.cumsum(lengths))
    partition = xp.asarray(np.array(places, "int32"))[xp.searchsorted(ends, row, side="right")]
    first = xp.full(sum64(mask), NONE, "int32")
    first[edge] = partition
    return [first, edge, row, partition]


def least(several: list[Array], *, xp: ModuleType) -> Array:
    """Return the smaller entries of two arrays."""
    require_length(several[0], len(several[-1]), "places of edges")
    return xp.minimum(*several)


def kept_rows(looked_up: list[Array], first: Array) -> Array:
    """Select the rows of a batch that are, in the whole frame, the first row of a wanted edge.

    `looked_up` is the result of `first_in_batch`; `first` is the minimum over all batches of the
    first array of these results.
    """
    _, edge, row, partition = looked_up
    require_below(edge, len(first), "edges")
    return row[first[edge] == partition]


def first_rows(graph: Blocked, chosen: list[list[Task]]) -> list[list[Task]]:
    """Find the first row of each marked edge of each block: for each batch, a task per block."""
    by_block = []
    batches = [batch.places for batch in graph.batches], graph.rows
    for place, edges in enumerate(chosen):
        looked_up = graph.rows_of_block("rows", first_in_batch, place, *batches, more=(edges,))
        firsts = graph.each_batch("rows", operator.getitem, looked_up, more=(0,))
        first = graph.reduce("rows", least, firsts)
        by_block.append(graph.each_batch("rows", kept_rows, looked_up, more=(first,)))
    return [list(of_batch) for of_batch in zip(*by_block, strict=True)]


def take(
    partitions: list[Frame], prints: Fingerprints, kept: list[Array], *, context: WorkerContext
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
