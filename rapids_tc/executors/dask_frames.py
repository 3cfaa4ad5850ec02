"""Functions on Dask frames: the same names, rules and errors, on the cluster of the client.

A call persists the frame's partitions, the two id columns alone where no others are given back,
and lets go of them at its end; the caller's frame is read and left as it is. Frames come back as
persisted Dask frames, numbers as Python's.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import dask.dataframe as dd
import numpy as np

from rapids_tc.analytics.annotate import check_names, check_new
from rapids_tc.analytics.approximate import Estimate, checked, estimate
from rapids_tc.analytics.similarity import MEASURES
from rapids_tc.analytics.truss import checked_k
from rapids_tc.blocks import counting, peeling, row_lookup, sorting, sums, worker_tasks
from rapids_tc.blocks.worker_tasks import WorkerContext
from rapids_tc.executors.dask_cluster import Cluster
from rapids_tc.frames.adapters import CudfAdapter, PandasAdapter, root
from rapids_tc.frames.backend import check_engine, engine_of
from rapids_tc.graphs.distributed import DistributedGraph, Future, log
from rapids_tc.plan import needs
from rapids_tc.preparation.edges import id_columns

Frame = dd.DataFrame
ROWS = 2**20  # of a partition of an answer, at least

INSTEAD = {
    "edge_triangles": 'annotate(edges, "triangles")',
    "trussness": 'annotate(edges, "trussness")',
    "similarity": 'annotate(edges, measure), such as "jaccard",',
}


def run(function: Callable[..., Any], edges: Frame, args: Any, keywords: Any) -> Any:
    """Answer a public function, given as it is defined, for a Dask frame."""
    name = function.__name__
    try:
        bound = inspect.signature(function).bind(edges, *args, **keywords)
    except TypeError as error:
        raise TypeError(f"{name}() {error}") from None
    bound.apply_defaults()
    options = dict(bound.arguments)
    del options["edges"]
    if name not in ANSWERS:
        raise TypeError(_refusal(name))
    return ANSWERS[name](Call(function, edges, options))


def _refusal(name: str) -> str:
    if name in INSTEAD:
        return (
            f"edges is a Dask DataFrame, to whose rows no column of its own can be aligned without "
            f"a shuffle: {INSTEAD[name]} adds it to the frame"
        )
    return (
        f"edges is a Dask DataFrame, and {name} is of one machine: give it edges.compute(), or the "
        f"rows that matter, such as k_truss(edges, k).compute(). Dask frames are taken by "
        f"{', '.join(ANSWERS)}"
    )


class Call:
    """One call of a function on a Dask frame: its arguments, checked before any work."""

    def __init__(self, function: Callable[..., Any], edges: Frame, options: dict[str, Any]) -> None:
        self.function, self.name, self.edges = function, function.__name__, edges
        self.options, self.method = options, options.get("method", "auto")
        self.adapter = CudfAdapter() if root(edges._meta) == "cudf" else PandasAdapter()
        check_engine(options["engine"])
        needs.require_method(self.method, self.name, engine_of(self.adapter, options["engine"]))
        if options.get("weight") is not None:
            raise ValueError(
                f"weight={options['weight']!r}: a Dask frame's clustering counts every edge alike; "
                "weights are for one machine, clustering(edges.compute(), weight=...)"
            )
        needs.check_limit(options["memory_limit"])
        self.labels = id_columns(list(edges.columns), options["source"], options["destination"])

    def graph(self, cluster: Cluster, *, whole: bool = False) -> DistributedGraph:
        """The graph on the cluster, from the id columns, or the `whole` frame."""
        frame = (self.edges if whole else self.edges[list(self.labels)]).optimize()
        self.divisions = frame.divisions  # of what is read: perhaps several files a partition
        cluster.workers()  # of this version, before any is sent something of it
        try:
            partitions = cluster.persist(frame)
        except KeyError:
            self._require_ids(cluster)
            raise
        workers = cluster.workers()
        threads = min(worker.threads for worker in workers)
        context = WorkerContext(self.adapter, self.labels, self.options["engine"], threads)
        limit = self.options["memory_limit"]
        groups = cluster.groups(partitions, workers, limit)
        return DistributedGraph(cluster, context, workers, groups, self.name, self.method, limit)

    def _require_ids(self, cluster: Cluster) -> None:
        """Raise ColumnNotFoundError, naming it, where a partition lacks an id column of meta."""
        heads = self.edges.map_partitions(_head, meta=self.edges._meta, enforce_metadata=False)
        context = WorkerContext(self.adapter, self.labels, self.options["engine"], 1)
        for place, head in enumerate(cluster.get(cluster.persist(heads.optimize()))):
            context.columns(head, place)

    @property
    def cluster(self) -> Cluster:
        return Cluster(self.edges, self.options["progress"])


def _head(partition: Any) -> Any:
    return partition.iloc[:0]


def _count(call: Call) -> int:
    with call.cluster as cluster:
        graph = call.graph(cluster)
        graph.drop_rows()
        return sums.total(graph)


def _approximate_count(call: Call) -> Estimate:
    given = (call.options[name] for name in ("colours", "seed", "confidence"))
    colours, seed, confidence = checked(*given)
    with call.cluster as cluster:
        graph = call.graph(cluster)
        graph.sample(colours, seed)
        return estimate(sums.seen(graph), colours, confidence)


def _of_vertices(call: Call) -> Any:
    """What is answered from sums: on one machine, by the function itself."""
    with call.cluster as cluster:
        graph, total, by_vertex = call.graph(cluster), None, None
        given = {k: call.options[k] for k in ("vertices", "count_zeros") if k in call.options}
        if isinstance(given.get("vertices"), dd.Series | dd.Index):
            given["vertices"] = given["vertices"].compute()
        graph.drop_rows()
        degrees = sums.degrees(graph)
        if call.name in needs.BY_EDGE:
            by_vertex = sums.by_vertex(graph)
        else:
            total = sums.total(graph)
        answer = graph.submit(
            "answer", counting.summarise, call.function, given, graph.ids, graph.order, degrees,
            total, by_vertex, on=graph.counting_workers[0],
        )  # fmt: skip
        if call.name in ("vertex_triangles", "clustering"):
            return _split(cluster, graph, answer)
        return cluster.get(answer)


def _annotate(call: Call) -> Frame:
    names = call.options["columns"]
    check_names(names)
    check_new(names, list(call.edges.columns))
    with call.cluster as cluster:
        graph = call.graph(cluster, whole=True)
        counts, compared = sums.by_edge(graph), bool(set(names) & set(MEASURES))
        by_edge = {"triangles": counts} if compared or "triangles" in names else {}
        if "trussness" in names:
            by_edge["trussness"] = peeling.trussness(graph, None, counts)
        degrees = sums.degrees(graph) if compared else None
        found = {name: _by_row(graph, counts) for name, counts in by_edge.items()}
        partitions, prints = graph.to_read
        made = [
            graph.submit(
                "columns", row_lookup.columns, partitions[i], prints[i], graph.numbers[i],
                graph.orders[group.worker], degrees, {k: v[i] for k, v in found.items()},
                list(names), on=group.worker,
            )
            for i, group in enumerate(graph.groups)
        ]  # fmt: skip
        meta = call.edges._meta
        dtypes = {"triangles": "int64", "trussness": "int32"}
        added = {
            name: call.adapter.column_like(meta, np.zeros(0, dtypes.get(name, "float64")), name)
            for name in names
        }
        return _aligned(cluster, graph, made, call.adapter.assign(meta, added), call.divisions)


def _k_truss(call: Call) -> Frame:
    k = checked_k(call.options["k"])
    with call.cluster as cluster:
        graph = call.graph(cluster, whole=True)
        wanted = peeling.in_truss(graph, k)
        firsts = []
        for place, block in enumerate(wanted):
            own = [
                graph.submit("rows", row_lookup.first_places, *given, on=group.worker)
                for group, given in _rows_of(graph, place, block)
            ]
            firsts.append(graph.tree("rows", row_lookup.least, own))
        kept: list[list[Future]] = [[] for _ in graph.groups]
        for place, block in enumerate(wanted):
            for i, (group, given) in enumerate(_rows_of(graph, place, block)):
                rows = graph.submit(
                    "rows", row_lookup.kept_rows, *given, firsts[place], on=group.worker
                )
                kept[i].append(rows)
        made = graph.map_batches("rows", row_lookup.take, *graph.to_read, kept)
        return _aligned(cluster, graph, made, call.edges._meta, call.divisions)


def _rows_of(
    graph: DistributedGraph, place: int, wanted: list[Future]
) -> list[tuple[Any, tuple[Any, ...]]]:
    """For each group what the functions of `rowwise` need for its rows in a block."""
    return [
        (
            group,
            (
                graph.numbers[i], graph.orders[group.worker],
                graph.block_at(place, group.worker), wanted, place, graph.n, group.places, rows,
            ),
        )
        for i, (group, rows) in enumerate(zip(graph.groups, graph.rows, strict=True))
    ]  # fmt: skip


def _by_row(graph: DistributedGraph, by_edge: list[list[Future]]) -> list[list[Future]]:
    """For each group the values of its rows, block by block."""
    return [
        [
            graph.submit(
                "columns", row_lookup.values, graph.numbers[i], graph.orders[group.worker],
                graph.block_at(place, group.worker), slices, place, graph.n, on=group.worker,
            )
            for place, slices in enumerate(by_edge)
        ]
        for i, group in enumerate(graph.groups)
    ]  # fmt: skip


def _simple_edges(call: Call) -> Frame:
    with call.cluster as cluster:
        graph = call.graph(cluster)
        frames, lengths = sorting.simple_edges(graph)
        log.info(
            "%s: %d rows in %d partitions on %d workers; %d ranges of edges",
            call.name, sum(map(sum, graph.rows)), sum(map(len, graph.rows)),
            len(graph.workers), len(frames),
        )  # fmt: skip
        meta = cluster.get(graph.submit("edges", worker_tasks.head, frames[0]))
        return _persisted(cluster, frames, meta, lengths)


def _split(cluster: Cluster, graph: DistributedGraph, answer: Future) -> Frame:
    """A frame that one machine has made, in as many partitions as are worth it."""
    rows, meta = cluster.get(
        [graph.submit("answer", f, answer) for f in (worker_tasks.length, worker_tasks.head)]
    )
    parts = max(1, min(len(graph.workers), rows // ROWS))
    bounds = [rows * part // parts for part in range(parts + 1)]
    lengths = [b - a for a, b in pairwise(bounds)]
    frames = (
        [answer]
        if parts == 1
        else [graph.submit("answer", worker_tasks.cut, answer, a, b) for a, b in pairwise(bounds)]
    )
    return _persisted(cluster, frames, meta, lengths)


def _persisted(cluster: Cluster, frames: list[Future], meta: Any, lengths: list[int]) -> Frame:
    """Frames whose rows are numbered through, as one."""
    starts = np.cumsum([0, *lengths]).tolist()
    known = all(lengths)
    divisions = (*starts[:-1], starts[-1] - 1) if known else (None,) * len(starts)
    return cluster.persisted(frames, meta, divisions)


def _aligned(
    cluster: Cluster,
    graph: DistributedGraph,
    made: list[Future],
    meta: Any,
    divisions: tuple[Any, ...],
) -> Frame:
    """The partitions that each group has made, in the order of the user's."""
    frames: dict[int, Future] = {}
    for group, several in zip(graph.groups, made, strict=True):
        for i, place in enumerate(group.places):
            frames[place] = graph.submit("rows", worker_tasks.one, several, i, on=group.worker)
    return cluster.persisted([frames[place] for place in sorted(frames)], meta, divisions)


ANSWERS: dict[str, Callable[[Call], Any]] = {
    "count": _count,
    "approximate_count": _approximate_count,
    "vertex_triangles": _of_vertices,
    "annotate": _annotate,
    "clustering": _of_vertices,
    "average_clustering": _of_vertices,
    "transitivity": _of_vertices,
    "triad_counts": _of_vertices,
    "k_truss": _k_truss,
    "simple_edges": _simple_edges,
}
