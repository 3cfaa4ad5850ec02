"""Submit the tasks that find rows of edges among the rows of a frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rapids_tc.blocks import row_lookup, worker_tasks

if TYPE_CHECKING:
    from rapids_tc.executors.protocol import Task
    from rapids_tc.graphs.distributed import DistributedGraph


def first_rows(graph: DistributedGraph, chosen: list[list[Task]]) -> list[list[Task]]:
    """Find the first row of each marked edge of each block: for each batch, a task per block."""
    rows: list[list[Task]] = [[] for _ in graph.batches]
    for place, edges in enumerate(chosen):
        looked_up = [
            graph.submit(
                "rows", row_lookup.first_rows, graph.ranks[i],
                graph.block_at(place, batch.worker), edges, place, graph.n, batch.places,
                graph.rows[i], on=batch.worker,
            )
            for i, batch in enumerate(graph.batches)
        ]  # fmt: skip
        firsts = graph.map_batches("rows", worker_tasks.one, looked_up, 0)
        first = graph.tree("rows", row_lookup.least, firsts)
        kept = graph.map_batches("rows", row_lookup.kept_rows, looked_up, first)
        for own, task in zip(rows, kept, strict=True):
            own.append(task)
    return rows
