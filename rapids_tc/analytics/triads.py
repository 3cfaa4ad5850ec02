"""Triads: which subgraph three vertices span."""

from __future__ import annotations

from math import comb
from typing import Any

from rapids_tc._typing import EngineName
from rapids_tc.analytics.analytic import analytic
from rapids_tc.plan.record import Needs, Result, Work


@analytic(Work(Needs.TOTAL | Needs.DEGREES, Result.VALUE))
def triad_counts(
    edges: Any,
    *,
    source: Any = None,
    destination: Any = None,
    engine: EngineName | None = None,
    method: str = "auto",
    progress: bool | None = None,
    memory_limit: int | None = None,
) -> Any:
    """Count the sets of three vertices by how many edges they span.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge; ``Graph(vertices=)`` adds isolated vertices.
    source, destination, engine, method, progress, memory_limit
        See `count`.

    Returns
    -------
    pandas.Series
        Four exact Python integers, named ``triads``. The dtype is object, as they soon exceed
        2**63; cuDF has no such dtype, so the Series is always of pandas:

        ======== ===================================
        empty    sets of three vertices with no edge
        edge     with one edge
        wedge    with two
        triangle with three
        ======== ===================================

    Raises
    ------
    ColumnNotFoundError, IdTypeError, NullIdError, CapacityError, KernelError, ValueError, TypeError
        See `Graph`.

    Notes
    -----
    The undirected triad census: induced subgraphs, so the four add up to C(n, 3) for n vertices,
    isolated ones included. Cost: as `count`; the rest is arithmetic on the number of vertices,
    edges, wedges and triangles. Holland and Leinhardt, "A method for detecting structure in
    sociometric data" (1970).

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> tc.triad_counts(pd.DataFrame({"src": [0, 1, 2, 2], "dst": [1, 2, 0, 3]})).to_dict()
    {'empty': 0, 'edge': 1, 'wedge': 2, 'triangle': 1}
    """
    import pandas as pd

    n, m, triangle = edges.n_vertices, edges.n_edges, edges.count(method)
    wedge = edges.wedges - 3 * triangle
    edge = m * (n - 2) - 2 * wedge - 3 * triangle
    spans = {"empty": comb(n, 3) - edge - wedge - triangle, "edge": edge, "wedge": wedge}
    return pd.Series({**spans, "triangle": triangle}, dtype="object", name="triads")
