"""Similarity: how much the neighbourhoods of the two ends of an edge overlap."""

from __future__ import annotations

from typing import Any

from rapids_tc.frames.backend import Array
from rapids_tc.frames.device import placed
from rapids_tc.graphs.protocol import Formula
from rapids_tc.graphs.resolve import resolve_graph

# Each from the common neighbours of an edge and the degrees of its ends.
_FORMULAS = {
    "jaccard": lambda xp, common, a, b: common / (a + b - common),
    "overlap": lambda xp, common, a, b: common / xp.minimum(a, b),
    "sorensen": lambda xp, common, a, b: 2 * common / (a + b),
    "cosine": lambda xp, common, a, b: common / xp.sqrt(a * b),
}
MEASURES = tuple(_FORMULAS)


@placed
def similarity(
    edges: Any,
    *,
    measure: str = "jaccard",
    source: Any = None,
    destination: Any = None,
    engine: str | None = None,
    method: str = "auto",
    progress: bool | None = None,
    memory_limit: int | None = None,
) -> Any:
    """Compare the neighbourhoods of the two ends of each row's edge.

    With N(u) the set of neighbours of u, to which u itself does not belong:

    ========== =========================================
    "jaccard"  ``|N(u) & N(v)| / |N(u) | N(v)|``
    "overlap"  ``|N(u) & N(v)| / min(|N(u)|, |N(v)|)``
    "sorensen" ``2 |N(u) & N(v)| / (|N(u)| + |N(v)|)``
    "cosine"   ``|N(u) & N(v)| / sqrt(|N(u)| |N(v)|)``
    ========== =========================================

    Parameters
    ----------
    edges : DataFrame or Graph
        One row an edge. All rows of one edge get its value, a self loop gets 0.
    measure : {"jaccard", "overlap", "sorensen", "cosine"}, optional
        Which of them.
    source, destination, engine, method, progress, memory_limit
        See `count`.

    Returns
    -------
    Series
        Named as the measure, float64, one value a row, with the index of `edges`.

    Raises
    ------
    ValueError
        `measure` is another. Further: see `Graph`.

    Notes
    -----
    Neighbourhoods are open, as in ``networkx.jaccard_coefficient``: v is in N(u) and not in N(v),
    so an edge of a clique of n vertices has a Jaccard index of (n - 2) / n. Common neighbours are
    the triangles of the edge, so the cost is that of `edge_triangles`. Jaccard, "The distribution
    of the flora in the alpine zone" (1912).

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> df = pd.DataFrame({"src": [0, 1, 2, 2], "dst": [1, 2, 0, 3]})
    >>> df["jaccard"] = tc.similarity(df)
    >>> df["jaccard"].round(3).tolist()
    [0.333, 0.25, 0.25, 0.0]
    """
    if not isinstance(measure, str) or measure not in MEASURES:
        raise ValueError(f"measure={measure!r}; accepted: {', '.join(map(repr, MEASURES))}")
    graph = resolve_graph(
        edges, source=source, destination=destination, engine=engine, progress=progress,
        memory_limit=memory_limit, function="similarity", method=method,
    )  # fmt: skip
    return graph.row_columns({measure: FORMULAS[measure]}, method)[measure]


def compare(measure: str, xp: Any, common: Array, a: Array, b: Array) -> Array:
    """The measure of edges from their common neighbours and the degrees of their ends."""
    return _FORMULAS[measure](xp, common, a, b)


def _formula(measure: str) -> Formula:
    return lambda xp, common, ends: compare(measure, xp, common, *ends())


FORMULAS = {measure: _formula(measure) for measure in MEASURES}
