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
from rapids_tc.blocks.worker_tasks import Site
from rapids_tc.executors.dask_cluster import Cluster
from rapids_tc.frames.adapters import CudfHome, PandasHome, root
from rapids_tc.frames.backend import check_engine, engine_of
from rapids_tc.graphs.distributed import Future, Spread, log
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
        self.home = CudfHome() if root(edges._meta) == "cudf" else PandasHome()
        check_engine(options["engine"])
        needs.require_method(self.method, self.name, engine_of(self.home, options["engine"]))
        if options.get("weight") is not None:
            raise ValueError(
                f"weight={options['weight']!r}: a Dask frame's clustering counts every edge alike; "
                "weights are for one machine, clustering(edges.compute(), weight=...)"
            )
        needs.check_limit(options["memory_limit"])
        self.labels = id_columns(list(edges.columns), options["source"], options["destination"])

    def spread(self, cluster: Cluster, *, whole: bool = False) -> Spread:
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
        site = Site(self.home, self.labels, self.options["engine"], threads)
        limit = self.options["memory_limit"]
        groups = cluster.groups(partitions, workers, limit)
        return Spread(cluster, site, workers, groups, self.name, self.method, limit)

    def _require_ids(self, cluster: Cluster) -> None:
        """Raise ColumnNotFoundError, naming it, where a partition lacks an id column of meta."""
        heads = self.edges.map_partitions(_head, meta=self.edges._meta, enforce_metadata=False)
        site = Site(self.home, self.labels, self.options["engine"], 1)
        for place, head in enumerate(cluster.get(cluster.persist(heads.optimize()))):
            site.columns(head, place)

    @property
    def cluster(self) -> Cluster:
        return Cluster(self.edges, self.options["progress"])


def _head(partition: Any) -> Any:
    return partition.iloc[:0]


def _count(call: Call) -> int:
    with call.cluster as cluster:
        spread = call.spread(cluster)
        spread.let_rows_go()
        return sums.total(spread)


def _approximate_count(call: Call) -> Estimate:
    given = (call.options[name] for name in ("colours", "seed", "confidence"))
    colours, seed, confidence = checked(*given)
    with call.cluster as cluster:
        spread = call.spread(cluster)
        spread.sample(colours, seed)
        return estimate(sums.seen(spread), colours, confidence)


def _of_vertices(call: Call) -> Any:
    """What is answered from sums: on one machine, by the function itself."""
    with call.cluster as cluster:
        spread, total, by_vertex = call.spread(cluster), None, None
        given = {k: call.options[k] for k in ("vertices", "count_zeros") if k in call.options}
        if isinstance(given.get("vertices"), dd.Series | dd.Index):
            given["vertices"] = given["vertices"].compute()
        spread.let_rows_go()
        degrees = sums.degrees(spread)
        if call.name in needs.BY_EDGE:
            by_vertex = sums.by_vertex(spread)
        else:
            total = sums.total(spread)
        answer = spread.submit(
            "answer", counting.summarise, call.function, given, spread.ids, spread.order, degrees,
            total, by_vertex, on=spread.shares[0],
        )  # fmt: skip
        if call.name in ("vertex_triangles", "clustering"):
            return _split(cluster, spread, answer)
        return cluster.get(answer)


def _annotate(call: Call) -> Frame:
    names = call.options["columns"]
    check_names(names)
    check_new(names, list(call.edges.columns))
    with call.cluster as cluster:
        spread = call.spread(cluster, whole=True)
        counts, compared = sums.by_edge(spread), bool(set(names) & set(MEASURES))
        by_edge = {"triangles": counts} if compared or "triangles" in names else {}
        if "trussness" in names:
            by_edge["trussness"] = peeling.trussness(spread, None, counts)
        degrees = sums.degrees(spread) if compared else None
        found = {name: _by_row(spread, counts) for name, counts in by_edge.items()}
        partitions, prints = spread.to_read
        made = [
            spread.submit(
                "columns", row_lookup.columns, partitions[i], prints[i], spread.numbers[i],
                spread.orders[group.worker], degrees, {k: v[i] for k, v in found.items()},
                list(names), on=group.worker,
            )
            for i, group in enumerate(spread.groups)
        ]  # fmt: skip
        meta = call.edges._meta
        dtypes = {"triangles": "int64", "trussness": "int32"}
        added = {
            name: call.home.aligned(meta, np.zeros(0, dtypes.get(name, "float64")), name)
            for name in names
        }
        return _aligned(cluster, spread, made, call.home.assign(meta, added), call.divisions)


def _k_truss(call: Call) -> Frame:
    k = checked_k(call.options["k"])
    with call.cluster as cluster:
        spread = call.spread(cluster, whole=True)
        wanted = peeling.in_truss(spread, k)
        firsts = []
        for place, block in enumerate(wanted):
            own = [
                spread.submit("rows", row_lookup.first_places, *given, on=group.worker)
                for group, given in _rows_of(spread, place, block)
            ]
            firsts.append(spread.tree("rows", row_lookup.least, own))
        kept: list[list[Future]] = [[] for _ in spread.groups]
        for place, block in enumerate(wanted):
            for i, (group, given) in enumerate(_rows_of(spread, place, block)):
                rows = spread.submit(
                    "rows", row_lookup.kept_rows, *given, firsts[place], on=group.worker
                )
                kept[i].append(rows)
        made = spread.each_group("rows", row_lookup.take, *spread.to_read, kept)
        return _aligned(cluster, spread, made, call.edges._meta, call.divisions)


def _rows_of(spread: Spread, place: int, wanted: list[Future]) -> list[tuple[Any, tuple[Any, ...]]]:
    """For each group what the functions of `rowwise` need for its rows in a block."""
    return [
        (
            group,
            (
                spread.numbers[i], spread.orders[group.worker],
                spread.block_at(place, group.worker), wanted, place, spread.n, group.places, rows,
            ),
        )
        for i, (group, rows) in enumerate(zip(spread.groups, spread.rows, strict=True))
    ]  # fmt: skip


def _by_row(spread: Spread, by_edge: list[list[Future]]) -> list[list[Future]]:
    """For each group the values of its rows, block by block."""
    return [
        [
            spread.submit(
                "columns", row_lookup.values, spread.numbers[i], spread.orders[group.worker],
                spread.block_at(place, group.worker), slices, place, spread.n, on=group.worker,
            )
            for place, slices in enumerate(by_edge)
        ]
        for i, group in enumerate(spread.groups)
    ]  # fmt: skip


def _simple_edges(call: Call) -> Frame:
    with call.cluster as cluster:
        spread = call.spread(cluster)
        frames, lengths = sorting.simple_edges(spread)
        log.info(
            "%s: %d rows in %d partitions on %d workers; %d ranges of edges",
            call.name, sum(map(sum, spread.rows)), sum(map(len, spread.rows)),
            len(spread.workers), len(frames),
        )  # fmt: skip
        meta = cluster.get(spread.submit("edges", worker_tasks.head, frames[0]))
        return _persisted(cluster, frames, meta, lengths)


def _split(cluster: Cluster, spread: Spread, answer: Future) -> Frame:
    """A frame that one machine has made, in as many partitions as are worth it."""
    rows, meta = cluster.get(
        [spread.submit("answer", f, answer) for f in (worker_tasks.length, worker_tasks.head)]
    )
    parts = max(1, min(len(spread.workers), rows // ROWS))
    bounds = [rows * part // parts for part in range(parts + 1)]
    lengths = [b - a for a, b in pairwise(bounds)]
    frames = (
        [answer]
        if parts == 1
        else [spread.submit("answer", worker_tasks.cut, answer, a, b) for a, b in pairwise(bounds)]
    )
    return _persisted(cluster, frames, meta, lengths)


def _persisted(cluster: Cluster, frames: list[Future], meta: Any, lengths: list[int]) -> Frame:
    """Frames whose rows are numbered through, as one."""
    starts = np.cumsum([0, *lengths]).tolist()
    known = all(lengths)
    divisions = (*starts[:-1], starts[-1] - 1) if known else (None,) * len(starts)
    return cluster.persisted(frames, meta, divisions)


def _aligned(
    cluster: Cluster, spread: Spread, made: list[Future], meta: Any, divisions: tuple[Any, ...]
) -> Frame:
    """The partitions that each group has made, in the order of the user's."""
    frames: dict[int, Future] = {}
    for group, several in zip(spread.groups, made, strict=True):
        for i, place in enumerate(group.places):
            frames[place] = spread.submit("rows", worker_tasks.one, several, i, on=group.worker)
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
