"""Estimate what a call on a partitioned frame takes of a worker, from the sizes of the frame."""

from __future__ import annotations

from inspect import Parameter
from typing import TYPE_CHECKING

from rapids_tc.blocks import grid
from rapids_tc.frames.backend import resolve_engine
from rapids_tc.graphs.frame_source import open_partitions
from rapids_tc.graphs.kept import WORK, kept_of
from rapids_tc.graphs.partitioned import PartitionedGraph
from rapids_tc.graphs.prepared import check_prepared
from rapids_tc.plan import cluster, costs
from rapids_tc.plan.record import GRAPH

if TYPE_CHECKING:
    from typing import Any

    from rapids_tc.executors.protocol import Executor
    from rapids_tc.executors.registry import ExecutorFactory
    from rapids_tc.plan.record import Analytic, Options


def estimate(
    factory: ExecutorFactory, edges: Any, record: Analytic, options: Options
) -> dict[str, int]:
    """Estimate what a call takes: see `rapids_tc.memory_estimate`.

    Raises
    ------
    ValueError
        The rows of the frame are not known before it is computed.
    """
    executor, kept = factory(edges, None), kept_of(edges)
    by = options.by if kept is None else kept.options.by
    given = {name: own for name, own in record.defaults.items() if own is not Parameter.empty}
    if (error := record.local({"k": 3, **given, "by": by}, executor.kind)) is not None:
        raise error
    work = WORK if record is GRAPH else record.most_of(grouped=by is not None)
    if kept is not None:
        check_prepared(kept, record, options, record.defaults)
        graph = kept.blocked
        rows, holders = sum(map(sum, graph.rows)), {*graph.workers_of_rows}
        of_graph = graph.n, graph.free, kept.id_columns.joined
        sizes = cluster.Sizes(rows, graph.size, len(holders), *of_graph)
        return {"worker": cluster.answering(work, sizes), "blocks": sizes.n}
    adapter, labels = open_partitions(executor, record, options, record.defaults)
    with executor:
        workers, listed = executor.workers(), 0
        if executor.is_held():
            profiled = PartitionedGraph(executor, adapter, labels, GRAPH, options, {}).with_ids()
            rows, ids, listed = sum(map(sum, profiled.rows)), profiled.size, profiled.listed
            del profiled
        else:
            rows, ids = _bounds(executor)
    least = min(worker.memory or 2**40 for worker in workers)
    free = options.memory_limit or int(costs.MEMORY_SHARE * least)
    engine = resolve_engine(adapter, options.engine)
    n = grid.plan(rows, ids, free, len(workers), work, engine).n
    sizes = cluster.Sizes(rows, ids, len(workers), n, free, labels.joined, listed)
    return {"worker": cluster.worker_bytes(work, sizes), "blocks": n}


def _bounds(executor: Executor) -> tuple[int, int]:
    """Return the rows of a frame that is not computed yet, and the most ids that it may have."""
    if (rows := executor.rows()) is None:
        raise ValueError(
            f"how many rows this {executor.kind} has is not known before it is computed: persist() "
            "it, or read it from Parquet files, which say so"
        )
    return rows, 2 * rows
