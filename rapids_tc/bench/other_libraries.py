"""Other libraries as contestants: each is imported when it first builds a graph."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.bench.clock import Job
from rapids_tc.bench.contestants import TRUSSES, Contestant, Frame, to_cudf, to_pandas

if TYPE_CHECKING:
    from collections.abc import Callable

# Rows past which `rapids-tc bench` leaves a library out: it takes minutes.
MAX_ROWS = {"networkx": 1_000_000}


def numbers(frame: Frame) -> np.ndarray:
    """Return the first two columns as vertex numbers: int64, a row per edge.

    Integers whose range is at most four times the rows are used as they are, as rapids_tc does.
    """
    columns = [frame.iloc[:, side] for side in (0, 1)]
    if all(column.dtype.kind in "iu" for column in columns):
        ends = [column.to_numpy() for column in columns]
        top = 4 * len(frame)
        if not top or all(ids.min() >= 0 and ids.max() <= top for ids in ends):
            return np.column_stack([ids.astype(np.int64) for ids in ends])
    import pandas as pd

    ids = pd.concat([column.astype("object") for column in columns], ignore_index=True)
    codes: np.ndarray = pd.factorize(ids)[0]
    return codes.reshape(2, -1).T


def igraph() -> Contestant:
    """Return igraph, which counts in C around every vertex."""

    def build(frame: Frame) -> Any:
        import igraph

        pairs = numbers(frame)
        graph = igraph.Graph(n=int(pairs.max(initial=-1)) + 1, edges=pairs)
        graph.simplify()
        return graph

    def count(graph: Any) -> int:
        # list_triangles would make a Python tuple per triangle; this counts in C.
        degree = np.array(graph.degree(), dtype=np.float64)
        clustering = np.array(graph.transitivity_local_undirected(mode="zero"))
        by_vertex = np.rint(clustering * degree * (degree - 1) / 2).astype(np.int64)
        return int(by_vertex.sum()) // 3

    return _contestant("igraph", to_pandas, build, count)


def networkit() -> Contestant:
    """Return networkit, which counts around every edge on all cores."""

    def build(frame: Frame) -> Any:
        import networkit

        src, dst = numbers(frame).astype(np.uint64).T
        n = int(max(src.max(initial=0), dst.max(initial=0))) + 1
        graph = networkit.GraphFromCoo(
            (np.ones(len(src)), (src.copy(), dst.copy())), n=n, directed=False, weighted=False
        )
        graph.removeMultiEdges()
        graph.removeSelfLoops()
        graph.indexEdges()
        return graph

    def count(graph: Any) -> int:
        import networkit

        scores = networkit.sparsification.TriangleEdgeScore(graph)
        scores.run()
        return int(np.sum(scores.scores())) // 3

    return _contestant("networkit", to_pandas, build, count)


def networkx() -> Contestant:
    """Return NetworkX, which counts in Python."""

    def build(frame: Frame) -> Any:
        import networkx

        graph = networkx.from_pandas_edgelist(frame, *frame.columns[:2])
        graph.remove_edges_from(list(networkx.selfloop_edges(graph)))
        return graph

    def count(graph: Any) -> int:
        import networkx

        # NetworkX itself, even if a backend is configured, which might be rapids_tc.
        by_node: dict[Any, int] = networkx.triangles(graph, backend="networkx")
        return sum(by_node.values()) // 3

    return _contestant("networkx", to_pandas, build, count)


def cugraph() -> Contestant:
    """Return cuGraph, on the GPU; its answers are Python integers, so no work stays queued."""

    def build(frame: Frame) -> Any:
        import cugraph

        graph = cugraph.Graph(directed=False)
        source, destination = frame.columns[:2]
        graph.from_cudf_edgelist(frame, source=source, destination=destination, renumber=True)
        return graph

    def count(graph: Any) -> int:
        import cugraph

        return int(cugraph.triangle_count(graph)["counts"].astype("int64").sum()) // 3

    def truss(k: int) -> Job:
        def n_edges(graph: Any) -> int:
            import cugraph

            return int(cugraph.ktruss_subgraph(graph, k).number_of_edges())

        return Job("cugraph", f"{k}-truss", n_edges, question=f"the edges of the {k}-truss")

    return _contestant("cugraph", to_cudf, build, count, *map(truss, TRUSSES))


def _contestant(
    name: str,
    convert: Callable[[Frame], Frame],
    build: Callable[[Frame], Any],
    count: Callable[[Any], int],
    *more: Job,
) -> Contestant:
    stages = (Job(name, "count", count), *more)
    whole = (Job(name, "frame to count", lambda frame: count(build(frame))),)
    return Contestant(name, convert, build, stages, whole)


OTHER_LIBRARIES: dict[str, Callable[[], Contestant]] = {
    make.__name__: make for make in (igraph, networkit, networkx, cugraph)
}


def not_installed(engine: str) -> list[str]:
    """List the other libraries that `installed` would list if they were installed."""
    served = (name for name in OTHER_LIBRARIES if (name, engine) != ("cugraph", "cpu"))
    return [name for name in served if not find_spec(name)]


def installed(engine: str) -> list[str]:
    """List the other libraries that are installed; cuGraph only for the CUDA engine."""
    return [
        name for name in OTHER_LIBRARIES if find_spec(name) and (name, engine) != ("cugraph", "cpu")
    ]
