"""Similarity: how much the neighbourhoods of the two ends of an edge overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rapids_tc._typing import EngineName
from rapids_tc.analytics.analytic import analytic
from rapids_tc.plan.record import Column, EdgeValues, Needs, OwnOptions, Result, Work

if TYPE_CHECKING:
    from collections.abc import Callable


def _column(formula: Callable[[Any, Any, Any, Any], Any]) -> Column:
    """Make a column from a formula of xp, the common neighbours and the degrees of both ends."""

    def of_edges(edges: EdgeValues) -> Any:
        return formula(edges.xp, edges.triangles, *edges.degrees)

    return Column("float64", of_edges, Needs.EDGE_COUNTS | Needs.DEGREES)


MEASURES = {
    "jaccard": _column(lambda xp, common, a, b: common / (a + b - common)),
    "overlap": _column(lambda xp, common, a, b: common / xp.minimum(a, b)),
    "sorensen": _column(lambda xp, common, a, b: 2 * common / (a + b)),
    "cosine": _column(lambda xp, common, a, b: common / xp.sqrt(a * b)),
}


def _check_measure(own: OwnOptions) -> OwnOptions:
    measure = own["measure"]
    if not isinstance(measure, str) or measure not in MEASURES:
        raise ValueError(f"measure={measure!r}; accepted: {', '.join(map(repr, MEASURES))}")
    return own


@analytic(
    Work(Needs.EDGE_COUNTS | Needs.DEGREES, Result.COLUMN), columns=MEASURES, check=_check_measure
)
def similarity(
    edges: Any,
    *,
    measure: str = "jaccard",
    source: Any = None,
    destination: Any = None,
    by: Any = None,
    engine: EngineName | None = None,
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
        One row per edge. All rows of one edge get its value, a self loop gets 0.
    measure : {"jaccard", "overlap", "sorensen", "cosine"}, optional
        One of the measures above.
    source, destination, by, engine, method, progress, memory_limit
        See `count`.

    Returns
    -------
    Series
        Named as the measure, float64, one value per row, with the index of `edges`.

    Raises
    ------
    ValueError
        `measure` is not one of these. Other errors: see `Graph`.

    See Also
    --------
    annotate : Several columns from one preparation.

    Notes
    -----
    Neighbourhoods are open, as in ``networkx.jaccard_coefficient``: v is in N(u) and not in N(v),
    so an edge of a clique of n vertices has a Jaccard index of (n - 2) / n. Each common neighbour
    is a triangle of the edge, so the cost is as of `edge_triangles`. Jaccard, "The distribution
    of the flora in the alpine zone" (1912).

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> df = pd.DataFrame({"src": [0, 1, 2, 2], "dst": [1, 2, 0, 3]})
    >>> df["jaccard"] = tc.similarity(df)
    >>> df["jaccard"].round(3).tolist()
    [0.333, 0.25, 0.25, 0.0]
    """
    return edges.row_columns([measure], method)[measure]
