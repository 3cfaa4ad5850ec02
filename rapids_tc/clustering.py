"""Clustering: how often two neighbours of a vertex are neighbours themselves."""

from __future__ import annotations

from typing import Any

from rapids_tc.graph import as_graph


def transitivity(
    edges: Any,
    *,
    source: Any = None,
    destination: Any = None,
    engine: str | None = None,
    method: str = "auto",
    progress: bool | None = None,
    memory_limit: int | None = None,
) -> float:
    """Share of the wedges (paths of two edges) that are closed: 3 * triangles / wedges.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row an edge.
    source, destination, engine, method, progress, memory_limit
        See `count`.

    Returns
    -------
    float
        0.0 for a graph without a wedge.

    Raises
    ------
    ColumnNotFoundError, IdTypeError, NullIdError, CapacityError, KernelError, ValueError, TypeError
        See `Graph`.

    Notes
    -----
    The global clustering coefficient, as ``networkx.transitivity``. Cost: as `count`.

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> tc.transitivity(pd.DataFrame({"src": [0, 1, 2, 2], "dst": [1, 2, 0, 3]}))
    0.6
    """
    graph = as_graph(
        edges, source=source, destination=destination, engine=engine, progress=progress,
        memory_limit=memory_limit,
    )  # fmt: skip
    wedges = int((graph.degrees * (graph.degrees - 1) // 2).sum())
    return 3 * graph.count(method) / wedges if wedges else 0.0
