"""Other libraries as contenders: each is imported when it first builds something."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

from rapids_tc.bench.clock import Job
from rapids_tc.bench.contestants import TRUSSES, Contender, to_card, to_pandas
from rapids_tc.frames.backend import Frame

# Rows past which a library is left out unless it is asked for: it takes minutes.
SENSIBLE = {"networkx": 1_000_000}


def numbers(frame: Frame) -> np.ndarray:
    """The first two columns as vertex numbers, int64, a row an edge.

    Integers of a range of a few times the rows are numbers already, as they are to us.
    """
    columns = [frame.iloc[:, side] for side in (0, 1)]
    if all(column.dtype.kind in "iu" for column in columns):
        known = [column.to_numpy() for column in columns]
        top = 4 * len(frame)
        if not top or all(ids.min() >= 0 and ids.max() <= top for ids in known):
            return np.column_stack([ids.astype(np.int64) for ids in known])
    import pandas as pd

    ids = pd.concat([column.astype("object") for column in columns], ignore_index=True)
    return pd.factorize(ids)[0].reshape(2, -1).T


def igraph() -> Contender:
    """igraph, which counts in C around every vertex."""

    def build(frame: Frame) -> Any:
        import igraph

        pairs = numbers(frame)
        made = igraph.Graph(n=int(pairs.max(initial=-1)) + 1, edges=pairs)
        made.simplify()
        return made

    def count(graph: Any) -> int:
        # list_triangles would make a Python tuple a triangle; this counts in C.
        degree = np.array(graph.degree(), dtype=np.float64)
        closed = np.array(graph.transitivity_local_undirected(mode="zero"))
        corners = np.rint(closed * degree * (degree - 1) / 2).astype(np.int64)
        return int(corners.sum()) // 3

    return _contender("igraph", to_pandas, build, count)


def networkit() -> Contender:
    """networkit, which counts around every edge on all cores."""

    def build(frame: Frame) -> Any:
        import networkit

        src, dst = numbers(frame).astype(np.uint64).T
        n = int(max(src.max(initial=0), dst.max(initial=0))) + 1
        made = networkit.GraphFromCoo(
            (np.ones(len(src)), (src.copy(), dst.copy())), n=n, directed=False, weighted=False
        )
        made.removeMultiEdges()
        made.removeSelfLoops()
        made.indexEdges()
        return made

    def count(graph: Any) -> int:
        import networkit

        scores = networkit.sparsification.TriangleEdgeScore(graph)
        scores.run()
        return int(np.sum(scores.scores())) // 3

    return _contender("networkit", to_pandas, build, count)


def networkx() -> Contender:
    """NetworkX, in Python."""

    def build(frame: Frame) -> Any:
        import networkx

        made = networkx.from_pandas_edgelist(frame, *frame.columns[:2])
        made.remove_edges_from(list(networkx.selfloop_edges(made)))
        return made

    def count(graph: Any) -> int:
        import networkx

        # By itself, whatever backend is configured: that might be us.
        return sum(networkx.triangles(graph, backend="networkx").values()) // 3

    return _contender("networkx", to_pandas, build, count)


def cugraph() -> Contender:
    """cuGraph, on the card; its answers come back as numbers, so that no work is left queued."""

    def build(frame: Frame) -> Any:
        import cugraph

        made = cugraph.Graph(directed=False)
        source, destination = frame.columns[:2]
        made.from_cudf_edgelist(frame, source=source, destination=destination, renumber=True)
        return made

    def count(graph: Any) -> int:
        import cugraph

        return int(cugraph.triangle_count(graph)["counts"].astype("int64").sum()) // 3

    def truss(k: int) -> Job:
        def edges(graph: Any) -> int:
            import cugraph

            return cugraph.ktruss_subgraph(graph, k).number_of_edges()

        return Job("cugraph", f"{k}-truss", edges, question=f"the edges of the {k}-truss")

    return _contender("cugraph", to_card, build, count, *map(truss, TRUSSES))


def _contender(
    name: str,
    bring: Callable[[Frame], Frame],
    build: Callable[[Frame], Any],
    count: Callable[[Any], int],
    *more: Job,
) -> Contender:
    stages = (Job(name, "count", count), *more)
    whole = (Job(name, "frame to count", lambda frame: count(build(frame))),)
    return Contender(name, bring, build, stages, whole)


NEIGHBOURS: dict[str, Callable[[], Contender]] = {
    make.__name__: make for make in (igraph, networkit, networkx, cugraph)
}


def installed(engine: str) -> list[str]:
    """The neighbours that are installed and of use: cuGraph where there is a card."""
    return [name for name in NEIGHBOURS if find_spec(name) and (name, engine) != ("cugraph", "cpu")]
