"""Trusses: subgraphs in which every edge is in many triangles."""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from rapids_tc._typing import Frame, Series
from rapids_tc.analytics.analytic import analytic, no_column
from rapids_tc.analytics.kinds import check_where, sums_where, work_where
from rapids_tc.graphs.of_kind import counting_only
from rapids_tc.plan.record import Column, Needs, OwnOptions, Result, VertexColumn, Work

if TYPE_CHECKING:
    from rapids_tc.graphs.edge_graph import EdgeGraph
    from rapids_tc.preparation.triangle_kinds import Triangles

MOST = 2**31 - 1  # the largest k: trussness has 32 bits, and no edge reaches it


NUMBERS = Column("int32", lambda edges: edges.trussness, Needs.TRUSSNESS)
OF_VERTICES = VertexColumn("int32", lambda vertices: vertices.trussness, Needs.TRUSSNESS)


OF_ROWS = Work(Needs.EDGE_COUNTS | Needs.TRUSSNESS, Result.COLUMN, levels=True)
OF_ONE = Work(Needs.EDGE_COUNTS | Needs.TRUSSNESS, Result.ROWS)


def _local(own: OwnOptions, kind: str) -> Exception:
    return no_column(kind, "trussness", ", where=..." if own["where"] is not None else "")


@analytic(
    OF_ROWS,
    columns={"trussness": NUMBERS},
    vertex_columns={"trussness": OF_VERTICES},
    check=check_where,
    work=work_where(OF_ROWS),
    local=_local,
    sums=sums_where,  # not asked for, but of the same reading, whose bytes count
)
def trussness(graph: EdgeGraph, *, where: Triangles | None = None) -> Series:
    """Find the largest k whose k-truss holds the edge of each row: the truss decomposition.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge. All rows of one edge get its value, a self loop gets 0.
    where : Triangles, optional
        Count only triangles of a kind: in a k-truss, each edge is in at least k - 2 of them whose
        three edges are all in the truss. See `Triangles`.

    Returns
    -------
    Series
        ``trussness``, int32, one value per row, with the index of `edges`: 2 for an edge in
        no triangle, n for the edges of a clique of n vertices that lie in nothing denser.

    Raises
    ------
    ColumnNotFoundError, IdTypeError, NullIdError, CapacityError, KernelError, ValueError, TypeError
        See `Graph`.

    See Also
    --------
    k_truss : The rows of one truss.
    annotate : Several columns from one preparation.

    Notes
    -----
    The truss number of an edge, found by peeling as in Wang and Cheng, "Truss decomposition in
    massive networks", PVLDB 5 (2012). Cost: as `edge_triangles`, and about as many look-ups again;
    some 50 bytes per edge.

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> df = pd.DataFrame({"src": [0, 1, 2, 2, 3], "dst": [1, 2, 0, 3, 3]})
    >>> tc.trussness(df).tolist()
    [3, 3, 3, 2, 0]
    """
    return counting_only(graph, where).row_columns(["trussness"], "auto")["trussness"]


def _check_k(own: OwnOptions) -> OwnOptions:
    checked_k(own["k"])
    return check_where(own)


def _k_work(own: OwnOptions) -> Work:
    return work_where(replace(OF_ONE, levels=own["k"] == "max"))(own)


@analytic(
    OF_ONE,
    check=_check_k,
    work=_k_work,
    sums=sums_where,
)
def k_truss(
    graph: EdgeGraph,
    k: int | Literal["max"],
    *,
    where: Triangles | None = None,
    memory_limit: int | None = None,
) -> Frame:
    """Select the k-truss: the largest subgraph with each edge in at least k - 2 of its triangles.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge.
    k : int or "max"
        From 2 on; 2 keeps every edge. "max" is the largest k whose truss has an edge (of a group,
        with `by`).
    where : Triangles, optional
        Count only triangles of a kind: see `trussness`.

    Returns
    -------
    DataFrame
        The first row of each edge in the truss, in whichever direction it is, with all columns
        and the index, in the order of the frame. Self loops are left out; if k is past the maximum,
        there are no rows.

    Raises
    ------
    ValueError
        `k` is below 2, or neither an integer nor "max". Other errors: see `Graph`.

    See Also
    --------
    trussness : The truss number of every edge.

    Notes
    -----
    The truss of Cohen, "Trusses: cohesive subgraphs for social network analysis" (2008). A truss is
    a set of edges: an edge between two of its vertices need not be in it. One k costs less than
    `trussness`, and so does "max", which is looked for from the top: few edges are peeled for it,
    and with `by` all. If `trussness` of the same `Graph` was computed before, a truss costs one
    comparison per row. NetworkX counts k in the same way; some tools start from another number.

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> df = pd.DataFrame({"src": [0, 1, 2, 2], "dst": [1, 2, 0, 3], "name": list("abcd")})
    >>> tc.k_truss(df, 3)
       src  dst name
    0    0    1    a
    1    1    2    b
    2    2    0    c
    """
    graph = counting_only(graph, where)
    return graph.take_rows(graph.truss_rows(checked_k(k)), memory_limit)


def checked_k(k: Any, words: str = '"max"') -> int | None:
    """Return `k` as an integer that engines accept; None for "max". `words` are all accepted."""
    if isinstance(k, str) and k == "max":
        return None
    try:
        number = 0 if isinstance(k, bool) else operator.index(k)
    except TypeError:
        number = 0
    if number < 2:
        raise ValueError(f"k={k!r}; accepted: an integer from 2 on, or {words}")
    return min(number, MOST)
