"""Columns of pairs of vertices, which need not be edges, on a graph on a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.blocks import neighbor_rows, pair_tasks, sums
from rapids_tc.blocks.third_sums import FORMULAS
from rapids_tc.executors.registry import executor_of
from rapids_tc.frames.adapters import CudfAdapter, PandasAdapter, root
from rapids_tc.graphs import pairs as pairs_of_graphs
from rapids_tc.graphs.one_worker import meta_with
from rapids_tc.graphs.prepared import prepared_in
from rapids_tc.preparation.edge_columns import EdgeColumns
from rapids_tc.preparation.edges import check_new, id_columns
from rapids_tc.preparation.pair_ends import SHOWN, require_vertices

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rapids_tc.executors.protocol import Executor, Task
    from rapids_tc.graphs.distributed import DistributedGraph
    from rapids_tc.graphs.partitioned import PartitionedGraph

MOST_PAIRS = 2**18  # of a frame of this process that travel together


def pair_column(
    partitioned: PartitionedGraph, name: str, pairs: Any, source: Any, destination: Any
) -> Any:
    """Compute a column for the rows of `pairs`; loops get 0.

    `pairs` is a frame of this process, and the column is aligned with it and of its library; or a
    partitioned frame of the same kind as the edges, which is returned with the column. For errors
    see `rapids_tc.graphs.pairs.pair_column`.
    """
    if isinstance(partitioned.id_labels, EdgeColumns):
        raise ValueError(pairs_of_graphs.SINGLE_COLUMNS)
    executor = partitioned.executor
    of_pairs = _executor_of_pairs(executor, pairs)
    if of_pairs is None:
        frame, opened = pairs_of_graphs.open_pairs(pairs)
        labels = id_columns(opened.adapter.labels(frame), source, destination)
        ends = [opened.adapter.column(frame, label) for label in labels]
        if not partitioned.adapter.on_gpu:  # workers may have no cuDF
            ends = [end.to_pandas() if root(end) == "cudf" else end for end in ends]
        starts = range(0, max(len(ends[0]), 1), MOST_PAIRS)
        pieces = [[end.iloc[at : at + MOST_PAIRS] for end in ends] for at in starts]
        graph = partitioned.profiled()
        parts = _compare(graph, pieces, labels, name)
        joined = [graph.submit("pairs", pair_tasks.together, of_piece) for of_piece in parts]
        values = np.concatenate(executor.gather(joined))
        return opened.adapter.column_like(frame, values, name)
    meta = of_pairs.meta
    adapter = CudfAdapter() if root(meta) == "cudf" else PandasAdapter()
    labels = id_columns(adapter.labels(meta), source, destination)
    check_new((name,), adapter.labels(meta), "pairs=")
    graph = partitioned.profiled()
    partitions = of_pairs.partitions(None)
    parts = _compare(graph, partitions, labels, name)
    frames = [
        graph.submit("pairs", pair_tasks.with_column, partition, of_partition, adapter, name)
        for partition, of_partition in zip(partitions, parts, strict=True)
    ]
    return of_pairs.to_frame(frames, meta_with(adapter, meta, [name]), None)


def _executor_of_pairs(executor: Executor, pairs: Any) -> Executor | None:
    """Return the executor of a partitioned frame of pairs; None for a frame of this process.

    Raises
    ------
    TypeError
        `pairs` is a prepared graph, or partitioned in another way than the edges.
    """
    if prepared_in(pairs) is not None or (factory := executor_of(pairs)) is None:
        return None
    if not executor.kind.endswith(kind := factory(pairs, None).kind):
        raise TypeError(
            f"pairs= is a {kind}, and edges is a {executor.kind}: give a frame of one machine, or "
            "one that is partitioned as edges"
        )
    return executor.beside(pairs)


def _compare(
    graph: DistributedGraph, partitions: list[Any], labels: tuple[Any, Any], name: str
) -> list[list[Task]]:
    """Submit the values of pairs: for each of `partitions`, a list of tasks.

    A partition of pairs is cut in parts, the rows of whose ends fit a worker. These rows are
    collected from all blocks.
    """
    graph.drop_rows()
    submit, gather = graph.submit, graph.executor.gather
    pairs = [
        submit("pairs", pair_tasks.ranked_pairs, graph.ids, graph.order, part, labels)
        for part in partitions
    ]
    unknown = gather([submit("pairs", pair_tasks.unknown_ends, part) for part in pairs])
    shown = [example for _, examples in unknown for example in examples]
    require_vertices(sum(many for many, _ in unknown), shown[:SHOWN])
    degrees = sums.whole(graph, sums.degrees(graph))
    most = graph.free // (2 * neighbor_rows.ENTRY)
    parts = gather([submit("pairs", pair_tasks.parts_of, part, degrees, most) for part in pairs])
    third = sums.third_values(graph, [degrees], name)[0] if name in FORMULAS else None
    workers = graph.counting_workers

    def submitted() -> Iterator[tuple[int, Task]]:
        turn = 0
        for place, of_pairs in enumerate(parts):
            for part in of_pairs:
                on, turn = workers[turn % len(workers)], turn + 1
                of_part = pairs[place], part
                keys = [
                    submit(
                        "pairs", pair_tasks.keys_of, graph.block_at(at, on), *of_part, at, graph.n,
                        graph.vertices, on=on if graph.n == 1 else None,
                    )
                    for at in range(graph.n**2)
                ]  # fmt: skip
                arguments = keys, *of_part, degrees, third, name
                yield place, submit("pairs", pair_tasks.compared, *arguments, on=on)

    values: list[list[Task]] = [[] for _ in partitions]
    at_once, total = len(graph.workers), sum(map(len, parts))
    for place, task in _in_order(graph, submitted(), at_once, total):
        values[place].append(task)
    return values


def _in_order(
    graph: DistributedGraph, tasks: Iterator[tuple[int, Task]], at_once: int, total: int
) -> list[tuple[int, Task]]:
    """Wait for all tasks, a few at a time; return them in the order in which they are submitted."""
    numbered = (((number, place), task) for number, (place, task) in enumerate(tasks))
    ended = sorted(graph.executor.as_completed(numbered, at_once, total), key=lambda one: one[0])
    return [(place, task) for (_, place), task in ended]
