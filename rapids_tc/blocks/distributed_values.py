"""Values of the edges of a graph on a cluster: read by its tasks, and added up by them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.blocks import counting, group_value_tasks, sums, value_tasks
from rapids_tc.blocks.triangle_sums import EdgeSum
from rapids_tc.preparation.edge_columns import EdgeColumns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rapids_tc.blocks.triangle_sums import Sum
    from rapids_tc.executors.protocol import Task
    from rapids_tc.graphs.distributed import DistributedGraph
    from rapids_tc.preparation.edge_values import EdgeError, Reading


Read = tuple["Task", list["Task"]]  # the resolved reading, and the arrays of each block


def read(graph: DistributedGraph, reading: Reading) -> Read:
    """Submit a reading of all rows; return its resolved form, and the arrays of each block.

    Raises
    ------
    ValueError
        Values are unusable, or rows of one edge disagree.
    """
    if reading.vertex_types is not None:
        resolved = graph.submit("values", value_tasks.of_graph, reading, graph.ids, graph.order)
        return resolved, [
            graph.submit("values", value_tasks.end_types, block, resolved, place, graph.n)
            for place, block in enumerate(graph.blocks[: graph.n**2])
        ]
    resolved, values = _read_rows(graph, reading)
    merged = [_merge(graph, resolved, values, place) for place in range(graph.n**2)]
    states = [graph.submit("values", value_tasks.status, block) for block in merged]
    largest_and_errors = graph.executor.gather(states)
    for place, (_, error) in enumerate(largest_and_errors):
        if error is not None:
            raise _name_edge(graph, error, place)
    if reading.scaled and _has_groups(graph):
        arrays = _scaled_by_group(graph, resolved, merged)
    else:
        largest = max(value for value, _ in largest_and_errors)
        arrays = [
            graph.submit("values", value_tasks.arrays, block, resolved, largest) for block in merged
        ]
    if reading.chosen is not None:
        resolved = graph.submit("values", value_tasks.of_graph, resolved, graph.ids, graph.order)
        arrays = [
            graph.submit("values", value_tasks.marked, block, of_block, resolved, place, graph.n)
            for place, (block, of_block) in enumerate(zip(graph.blocks, arrays, strict=False))
        ]
    return resolved, arrays


def _has_groups(graph: DistributedGraph) -> bool:
    labels = graph.context.labels
    return isinstance(labels, EdgeColumns) and bool(labels.groups)


def _scaled_by_group(graph: DistributedGraph, reading: Task, merged: list[Task]) -> list[Task]:
    """Submit the arrays of each block, scaled by the largest value of each group."""
    both = list(zip(merged, sums.edge_groups(graph), strict=True))
    tops = [
        graph.submit("values", group_value_tasks.largest_by_group, *of_block, reading, graph.ids)
        for of_block in both
    ]
    largest = graph.tree("values", counting.largest, tops)
    return [
        graph.submit("values", group_value_tasks.arrays_by_group, *of_block, reading, largest)
        for of_block in both
    ]


def summed(
    graph: DistributedGraph, quantities: Sequence[Sum], values: Read | None = None
) -> dict[str, Task]:
    """Submit sums of values of all edges, all of one reading, by name.

    `values` is what `read` has returned, if it was called before.
    """
    if not quantities:
        return {}
    resolved, arrays = values or read(graph, quantities[0].reading)
    return {quantity.name: _sum(graph, quantity, resolved, arrays) for quantity in quantities}


def _sum(graph: DistributedGraph, quantity: Sum, resolved: Task, values: list[Task]) -> Task:
    result, more = sums.Sum(graph), (quantity, resolved)
    if isinstance(quantity, EdgeSum):
        for place, arrays in enumerate(values):
            of_block = graph.submit(
                "sum", value_tasks.edge_sum, graph.block_at(place, None), arrays, *more, place,
                graph.n, graph.vertices,
            )  # fmt: skip
            result.add(of_block)
    else:
        jobs = graph.each_job(value_tasks.triangle_sum, *more, graph.vertices, values=values)
        for _, task in jobs:
            result.add(task)
    return graph.submit("sum", value_tasks.summed, result.total, resolved)


def _read_rows(graph: DistributedGraph, reading: Reading) -> tuple[Task, list[Any]]:
    """Submit the reading of the column for all rows; return the resolved reading, too."""
    if reading.reader is None:
        return reading, [[] for _ in graph.batches]
    starts, (partitions, prints) = _starts(graph), graph.to_read
    profiled = graph.map_batches("values", value_tasks.profile, partitions, prints, reading, starts)
    prints = graph.executor.gather(graph.map_batches("values", value_tasks.seen, profiled))
    if reading.reader.by_group and _has_groups(graph):
        rows = partitions, prints, graph.numbers, graph.ids
        of_all = reading, profiled, prints
        resolved = graph.submit("values", group_value_tasks.resolve_range, *of_all)
        summaries = graph.map_batches("values", group_value_tasks.summarize, *rows, resolved)
        of_groups = resolved, summaries, graph.ids
        resolved = graph.submit("values", group_value_tasks.of_groups, *of_groups)
        return resolved, graph.map_batches(
            "values", group_value_tasks.read_by_group, *rows, resolved
        )
    resolved = graph.submit("values", value_tasks.resolve, reading, profiled, prints)
    return resolved, graph.map_batches(
        "values", value_tasks.read, partitions, prints, resolved, starts
    )


def _starts(graph: DistributedGraph) -> list[list[int]]:
    """Return the number of the first row of each partition, by batch."""
    rows = {
        place: rows
        for batch, of_batch in zip(graph.batches, graph.rows, strict=True)
        for place, rows in zip(batch.places, of_batch, strict=True)
    }
    starts = np.cumsum([0, *(rows[place] for place in sorted(rows))]).tolist()
    first = dict(zip(sorted(rows), starts, strict=False))
    return [[first[place] for place in batch.places] for batch in graph.batches]


def _merge(graph: DistributedGraph, reading: Task, values: list[Any], place: int) -> Task:
    """Submit the values of a block, on a machine that has the block."""
    workers = graph.counting_workers
    parts = [
        graph.submit(
            "values", value_tasks.rows, graph.ranks[i],
            graph.block_at(place, batch.worker), values[i], reading, place, graph.n,
            on=batch.worker,
        )
        for i, batch in enumerate(graph.batches)
    ]  # fmt: skip
    worker = workers[place % len(workers)]
    block = graph.block_at(place, worker)
    return graph.submit("values", value_tasks.merge, block, parts, reading, on=worker)


def _name_edge(graph: DistributedGraph, error: EdgeError, place: int) -> ValueError:
    """Return the error with the ids of its edge."""
    block, gather = graph.block_at(place, None), graph.executor.gather
    if len(graph.ranges) > 1:
        located = block, error, place, graph.n
        ranks = gather(graph.submit("values", value_tasks.end_ranks, *located))
        by_range = zip(graph.ranked[0], graph.ids_by_range, strict=True)
        ids_of_ranges = gather(
            [graph.submit("values", value_tasks.ids_of_ranks, *each, ranks) for each in by_range]
        )
        by_end = zip(*ids_of_ranges, strict=True)
        return error.with_ids(*(next(filter(None, ids))[0] for ids in by_end))
    where = graph.ids, graph.order, place, graph.n
    return error.with_ids(*gather(graph.submit("values", value_tasks.ends, block, error, *where)))
