"""Values of the edges of a graph in blocks: read batch by batch of the rows, and added up.

A reading is profiled by batch and resolved for all of them. Then its column is read for all rows,
and the rows of each block are collected to the arrays of its edges.
"""

from __future__ import annotations

import operator
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc._arguments import warn_user
from rapids_tc.blocks import block_work, id_ranges, sums
from rapids_tc.blocks.block_map import BlockKind
from rapids_tc.blocks.codec import require_below, require_length, require_values
from rapids_tc.blocks.id_tasks import Fingerprints, Numbers, id_columns
from rapids_tc.blocks.quantities import EdgeSum, Summed, TieSum
from rapids_tc.blocks.ties import BlockedSteps, WeightedJaccard
from rapids_tc.frames.backend import Array, Backend, Frame, sum64
from rapids_tc.preparation.edge_columns import check_label
from rapids_tc.preparation.edge_values import EdgeError, EdgeRows, Reading
from rapids_tc.preparation.orient import Order

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rapids_tc.blocks.block_map import Blocked, Numbered
    from rapids_tc.blocks.block_work import PlacedBlock, RowsOfBlock
    from rapids_tc.blocks.codec import EncodedBlock
    from rapids_tc.blocks.context import WorkerContext
    from rapids_tc.blocks.quantities import Sum, Within
    from rapids_tc.engines.quantity import Quantity
    from rapids_tc.executors.protocol import Task
    from rapids_tc.preparation.ids import Ids

Read = tuple["Task", list["Task"]]  # the resolved reading, and arrays by block or by batch
Profiled = tuple[list[Any], Fingerprints]  # of the partitions of a batch
Merged = tuple[list[Array], float, Any]  # arrays of a block, the largest value, what is wrong


def read(graph: Blocked, reading: Reading, rows: Read | None = None) -> Read:
    """Submit a reading of all rows; return its resolved form, and the arrays of each block.

    `rows` are what `read_rows` returns, if a column of the rows is read otherwise.

    Raises
    ------
    ValueError
        Values are unusable, or rows of one edge disagree.
    """
    if not reading.of_rows:
        resolved = graph.submit("values", of_graph, reading, graph.ids, graph.order)
        _warn_user(graph, reading, resolved)
        return resolved, graph.each_block("values", of_ends, more=(resolved,))
    resolved, of_rows = rows or read_rows(graph, reading)
    merged = graph.each_of_rows("values", select_rows, merge, of_rows, more=(resolved,))
    states = graph.each("values", operator.getitem, merged, more=(slice(1, 3),))
    largest_and_errors = graph.executor.gather(states)
    for place, (_, error) in enumerate(largest_and_errors):
        if error is not None:
            raise _name_edge(graph, error, place)
    if reading.scaled and _has_groups(graph):
        both = merged, sums.edge_groups(graph)
        tops = graph.each("values", largest_by_group, *both, more=(resolved, graph.ids))
        largest = graph.reduce("values", block_work.largest, tops)
        arrays = graph.each("values", scaled_by_group, *both, more=(resolved, largest))
    else:
        largest = max(value for value, _ in largest_and_errors)
        arrays = graph.each("values", scaled, merged, more=(resolved, largest))
    if reading.names_vertices:
        resolved = graph.submit("values", of_graph, resolved, graph.ids, graph.order)
        arrays = graph.each_block("values", with_ends, arrays, more=(resolved,))
    _warn_user(graph, reading, resolved)
    return resolved, arrays


def counting_only(graph: Blocked, quantity: Within, values: Read) -> Blocked:
    """Return the same blocks, of which the triangles of a kind count alone.

    `values` are what `read` has returned.
    """
    _, arrays = values
    further = sum(graph.executor.gather(graph.each("values", further_intervals, arrays)))
    rule = Reading(quantity.reading.rule)  # all of it that tasks ask
    return replace(graph, kind=BlockKind(quantity.resolved(rule), arrays, further), known={})


def _warn_user(graph: Blocked, reading: Reading, resolved: Task) -> None:
    """Give warnings of the types that are asked for, once they are compared with all of them."""
    if getattr(reading.rule, "types", ""):
        warn_user(graph.executor.gather(graph.submit("values", remarks, resolved)))


def by_edge(graph: Blocked, quantity: Quantity) -> list[list[Task]]:
    """Submit what a quantity makes of the triangles of every edge of each block, in slices."""
    if quantity.takes == "corners":
        return sums.third_sums(graph, quantity)
    return visited(graph, quantity, read(graph, quantity.reading))


def visited(graph: Blocked, quantity: Quantity, values: Read) -> list[list[Task]]:
    """Submit the same of a quantity of values, which `read` has returned."""
    if isinstance(quantity, WeightedJaccard):
        return [[task] for task in quantity.by_edge(BlockedSteps(graph), _first(graph, values))]
    return sums.visited_by_edge(graph, quantity, *values)


def _first(graph: Blocked, values: Read) -> list[Task]:
    """Return the first array of each block."""
    return graph.each("values", operator.getitem, values[1], more=(0,))


def summed(graph: Blocked, quantities: Sequence[Sum], values: Read) -> dict[str, Task]:
    """Submit sums of the values of all edges, which `read` has returned, by name."""
    return {quantity.name: _sum(graph, quantity, *values) for quantity in quantities}


def _sum(graph: Blocked, quantity: Sum, resolved: Task, values: list[Task]) -> Task:
    if isinstance(quantity, EdgeSum):
        parts = graph.each_block("sum", edge_sum, values, more=(quantity, resolved))
        total = graph.reduce("sum", block_work.add, parts)
    elif isinstance(quantity, TieSum):
        by_residue = quantity.by_rank(BlockedSteps(graph), _first(graph, (resolved, values)))
        total = sums.whole(graph, by_residue)
    elif quantity.by_vertex:
        total = sums.whole(graph, sums.visited_by_vertex(graph, quantity, resolved, values))
    else:
        total = sums.visited_in_all(graph, quantity, resolved, values)
    return graph.submit("sum", Summed, total, resolved)


def read_rows(graph: Numbered, reading: Reading) -> Read:
    """Submit the reading of columns; return its resolved form, and the values of each batch."""
    if not reading.readers:
        return reading, [[] for _ in graph.batches]
    starts, (partitions, prints) = first_rows(graph), graph.to_read
    numbers, ids = [None] * len(graph.batches), None
    if reading.by_group and _has_groups(graph):
        numbers, ids = graph.numbers, graph.ids
    rows = partitions, prints, starts, numbers
    profiled = graph.each_batch("values", profile, *rows, more=(ids, reading))
    seen = graph.each_batch("values", operator.getitem, profiled, more=(1,))
    prints = graph.executor.gather(seen)
    resolved = graph.submit("values", resolve, reading, profiled, prints)
    rows = partitions, prints, starts, numbers
    return resolved, graph.each_batch("values", read_batch, *rows, more=(ids, resolved))


def _has_groups(graph: Numbered) -> bool:
    return bool(graph.context.labels.groups)


def first_rows(graph: Numbered) -> list[list[int]]:
    """Return the number of the first row of each partition, by batch."""
    rows = {
        place: rows
        for batch, of_batch in zip(graph.batches, graph.rows, strict=True)
        for place, rows in zip(batch.places, of_batch, strict=True)
    }
    starts = np.cumsum([0, *(rows[place] for place in sorted(rows))]).tolist()
    first = dict(zip(sorted(rows), starts, strict=False))
    return [[first[place] for place in batch.places] for batch in graph.batches]


def _name_edge(graph: Blocked, error: EdgeError, place: int) -> ValueError:
    """Return the error with the ids of its edge."""
    gather = graph.executor.gather
    ranks = gather(graph.submit_block("values", end_ranks, place, error))
    if len(graph.ranges) > 1:
        by_range = zip(graph.ranked, id_ranges.ids_of(graph), strict=True)
        ids_of_ranges = gather(
            [graph.submit("values", ids_in_range, *each, ranks) for each in by_range]
        )
        by_end = zip(*ids_of_ranges, strict=True)
        return error.with_ids(*(next(filter(None, ids))[0] for ids in by_end))
    return error.with_ids(
        *gather(graph.submit("values", ids_of_ranks, graph.ids, graph.order, ranks))
    )


# What workers read --------------------------------------------------------------------------------


def profile(
    partitions: list[Frame], prints: Fingerprints, starts: list[int], numbers: Numbers | None,
    ids: Ids | None, reading: Reading, *, context: WorkerContext,
) -> Profiled:  # fmt: skip
    """Profile the columns of a reading; `starts` are the first rows of the partitions.

    Numbers and ids are given if the reading is by group.
    """
    columns, seen = columns_of(context, partitions, prints, reading)
    parts = zip(columns, starts, groups_of(columns, numbers, ids), strict=True)
    return [reading.profile(own, at, context.backend, of) for own, at, of in parts], seen


def unchanged(profiled: list[Profiled], prints: list[Fingerprints]) -> list[Any]:
    """Return the profiles of all partitions; KernelError if one was made again of other values."""
    for (_, found), batch in zip(profiled, prints, strict=True):
        for other, own in zip(found, batch, strict=True):
            own.require(other)
    return [part for profiles, _ in profiled for part in profiles]


def remarks(reading: Reading) -> list[str]:
    """Return what users are told of a reading that is resolved."""
    return reading.remarks


def resolve(reading: Reading, profiled: list[Profiled], prints: list[Fingerprints]) -> Reading:
    """Return the reading that all profiles give; ValueError if values are unusable."""
    return reading.resolved(unchanged(profiled, prints))


def read_batch(
    partitions: list[Frame], prints: Fingerprints, starts: list[int], numbers: Numbers | None,
    ids: Ids | None, reading: Reading, *, context: WorkerContext, xp: Any,
) -> list[Array]:  # fmt: skip
    """Read the columns for all rows of a batch; if their order matters, add their places.

    Numbers and ids are given if the reading is by group.
    """
    id_columns(context, partitions, prints)
    columns, _ = columns_of(context, partitions, prints, reading)
    parts = zip(columns, groups_of(columns, numbers, ids), strict=True)
    read = [reading.read(own, context.backend, of) for own, of in parts]
    values = [xp.concatenate(of_column) for of_column in zip(*read, strict=True)]
    if reading.rule.ordered:
        first_rows = zip(starts, partitions, strict=True)
        places = [xp.arange(first, first + len(partition)) for first, partition in first_rows]
        values.append(xp.concatenate(places))
    return values


def groups_of(
    columns: list[list[Any]], numbers: Numbers | None, ids: Ids | None
) -> list[Array | None]:
    """Return the group of each row of each partition; None without numbers and ids."""
    if numbers is None or ids is None:
        return [None] * len(columns)
    rows = [len(own[0]) for own in columns]
    require_length(numbers[0], sum(rows), "numbers of rows")
    require_below(numbers[0], ids.size, "numbers of ids")
    ends = [0, *accumulate(rows)]
    return [ids.group_of[numbers[0][first:end]] for first, end in pairwise(ends)]


def columns_of(
    context: WorkerContext, partitions: list[Frame], prints: Fingerprints, reading: Reading
) -> tuple[list[list[Any]], Fingerprints]:
    """Return the columns of a reading in each partition, in the working library.

    Also return the fingerprints with those of the columns; KernelError if one has changed.
    """
    columns: list[list[Any]] = []
    seen = []
    for partition, own in zip(partitions, prints, strict=True):
        labels = context.adapter.labels(partition)
        columns.append([])
        for reader in reading.readers:
            check_label(f"partition {own.place}: {reader.role}", reader.label, labels)
            column = context.adapter.column(partition, reader.label)
            columns[-1].append(context.backend.to_working_series(column))
            name = f"{reader.role}={reader.label!r}"
            own = own.with_values(name, columns[-1][-1], context.backend)
        seen.append(own)
    return columns, seen


def select_rows(rows: RowsOfBlock, values: list[Array], reading: Reading) -> list[Array]:
    """Select the rows of a batch in a block: [edges, directions if asked for, *values]."""
    for column in values:
        require_length(column, len(rows.ranks[0]), "values of rows")
    row, edge = rows.inside
    directions = []
    if reading.rule.directed:
        directions = [rows.are_reverse(row)]
    return [edge, *directions, *(column[row] for column in values)]


def merge(
    block: EncodedBlock, pieces: Iterable[list[list[Array]]], reading: Reading, *, backend: Backend
) -> Merged:
    """Collect the arrays of a block from its rows, piece by piece: see `Blocked.each_of_rows`."""
    m = len(block[1])
    try:
        rows = (edge_rows(parts, m, reading, backend) for parts in pieces)
        arrays = reading.collect(rows, m, backend)
    except EdgeError as error:
        return [], 0.0, error
    if reading.scaled:
        return arrays, reading.largest(arrays), None
    return reading.formula(arrays, 0.0, backend.xp), 0.0, None


def edge_rows(parts: list[list[Array]], edges: int, reading: Reading, backend: Backend) -> EdgeRows:
    """Return what `select_rows` has selected of some batches, in the order of the frame."""
    selected = parts[0]
    if len(parts) > 1:
        selected = [backend.xp.concatenate(arrays) for arrays in zip(*parts, strict=True)]
        if reading.rule.ordered:
            by_place = backend.xp.argsort(selected.pop())
            selected = [array[by_place] for array in selected]
    edge, *rest = selected
    require_below(edge, edges, "edges")
    reverse = rest.pop(0) if reading.rule.directed else None
    values = tuple(rest[: len(reading.readers)])  # the places of one batch may be behind them
    return EdgeRows(edge, reverse, values).both_ways(backend)


def scaled(merged: Merged, reading: Reading, largest: float, *, xp: Any) -> list[Array]:
    """Return the arrays of a block, once the largest value of the graph is known."""
    return reading.formula(merged[0], largest, xp) if reading.scaled else merged[0]


def of_graph(reading: Reading, ids: Ids, order: list[Any], *, xp: Any) -> Reading:
    """Find the vertices that a reading names, as the user gives them."""
    return reading.of_graph(ids, Order.of_ranks(order[0], order[1], xp))


def with_ends(block: PlacedBlock, arrays: list[Array], reading: Reading) -> list[Array]:
    """Return the arrays of a block with what is known of the ends of its edges."""
    require_values(reading, arrays, block.csr.m)
    return reading.with_ends(arrays, *block.ends, block.xp)


def of_ends(block: PlacedBlock, reading: Reading) -> list[Array]:
    """Return the arrays of a block for which no row is read."""
    return reading.with_ends([], *block.ends, block.xp)


def end_ranks(block: PlacedBlock, error: EdgeError) -> list[int]:
    """Return the larger and the smaller rank of the edge of an error."""
    return [int(end[error.position]) for end in block.ends]


def ids_in_range(ranked: Array, ids: Ids, ranks: list[int], *, xp: Any) -> list[list[Any]]:
    """Return the id of each of some ranks, in a list that is empty if it is in another range."""
    return [ids.in_messages(xp.flatnonzero(ranked == rank)) for rank in ranks]


def ids_of_ranks(ids: Ids, order: list[Any], ranks: list[int], *, xp: Any) -> list[Any]:
    """Return the ids of some ranks."""
    number = Order.of_ranks(order[0], order[1], xp).number
    return ids.in_messages(number[xp.asarray(ranks)])


def further_intervals(arrays: list[Array], *, xp: Any) -> int:
    """Count the intervals of the edges of a block, without the first of each."""
    if len(arrays) == 1 or not len(arrays[2]):
        return 0
    return len(arrays[0]) - sum64(xp.diff(arrays[2]) > 0)


# What workers scale by group ----------------------------------------------------------------------


def largest_by_group(merged: Merged, group: Array, reading: Reading, ids: Ids, *, xp: Any) -> Array:
    """Return the largest value in a block of each group."""
    _require_groups(merged, group, len(ids.starts))
    return reading.largest_by_group(merged[0], group, len(ids.starts), xp)


def scaled_by_group(
    merged: Merged, group: Array, reading: Reading, largest: Array, *, xp: Any
) -> list[Array]:
    """Return the arrays of a block, once the largest value of each group is known."""
    _require_groups(merged, group, len(largest))
    return reading.formula(merged[0], largest[group], xp)


def _require_groups(merged: Merged, group: Array, groups: int) -> None:
    """Raise KernelError unless each edge of a block has one of so many groups."""
    for array in merged[0]:
        require_length(group, len(array), "groups of edges")
    require_below(group, groups, "groups")


# What workers add up ------------------------------------------------------------------------------


def edge_sum(block: PlacedBlock, values: list[Array], quantity: EdgeSum, reading: Reading) -> Array:
    """Add up the part of a sum that a block has."""
    require_values(reading, values, block.csr.m)
    total, quantity = quantity.zeros(block.vertices, block.xp), quantity.resolved(reading)
    return quantity.add_block(total, block.engine, block.csr, values, block.n, block.at)
