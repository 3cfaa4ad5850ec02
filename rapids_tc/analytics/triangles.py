"""Triangle counts: of the graph, of its vertices and of its edges; and the simple edges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rapids_tc._typing import Frame, Label, Length, Method, Series, Vertices
from rapids_tc.analytics.analytic import analytic, no_column
from rapids_tc.analytics.kinds import (
    check_arcs,
    counts_where,
    require_auto,
    sums_where,
    work_where,
)
from rapids_tc.blocks.quantities import of_kind
from rapids_tc.plan.record import (
    Column,
    Needs,
    OwnOptions,
    Result,
    VertexColumn,
    Work,
    of_one_machine,
)

if TYPE_CHECKING:
    from rapids_tc.graphs.edge_graph import EdgeGraph
    from rapids_tc.preparation.triangle_kinds import Triangles

TRIANGLES = Column("int64", lambda edges: edges.counts)
OF_VERTICES = VertexColumn("int64", lambda vertices: vertices.triangles, Needs.VERTEX_COUNTS)


def _local(own: OwnOptions, kind: str) -> TypeError:
    """Return the error of `edge_triangles` for a partitioned frame."""
    if own["within"] is not None:
        return of_one_machine("edge_triangles with within=", kind)
    return no_column(kind, "triangles", ", where=..." if own["where"] is not None else "")


TOTAL = Work(Needs.TOTAL, Result.VALUE)
BY_VERTEX = Work(Needs.VERTEX_COUNTS, Result.VERTICES)
BY_ROW = Work(Needs.EDGE_COUNTS, Result.COLUMN)


@analytic(TOTAL, check=check_arcs, work=work_where(TOTAL), sums=sums_where, fields=("triangles",))
def count(
    graph: EdgeGraph,
    *,
    time: Label | None = None,
    within: Length | None = None,
    where: Triangles | None = None,
    method: Method = "auto",
) -> int | Frame:
    """Count the triangles of the graph.

    Parameters
    ----------
    edges : DataFrame, Graph, arrays or sparse matrix
        One row per edge. Direction, repeats and self loops do not count. A Dask frame is counted by
        the cluster of the current client; functions that return a frame then return a Dask frame.
        On a LazyFrame of Polars they return a LazyFrame; a number is computed at once. Of arrays,
        a frame that is returned is a dict of arrays, and a Series is an array.
    time : label, optional
        A column of times: integers, floats or datetimes. Give `within`, too.
    within : number, str, Timedelta, timedelta or timedelta64, optional
        Count only triangles for which some choice of one time per edge, of the rows of that edge,
        spans at most this: a number for times that are numbers, ``"1h"`` and the like for
        datetimes, 0 for equal times. See Notes.
    where : Triangles, optional
        Count only triangles of a kind: see `Triangles`, of which `time` and `within` are a short
        form.

    Returns
    -------
    int or DataFrame
        With `by`, one row per group, sorted by group: the columns of groups, and ``triangles``,
        int64.

    Raises
    ------
    ColumnNotFoundError, IdTypeError, NullIdError, CapacityError, KernelError, ValueError, TypeError
        See `Graph`.

    See Also
    --------
    vertex_triangles : The triangles of each vertex.
    edge_triangles : The triangles of each edge.
    list_triangles : The triangles themselves.
    approximate_count : An estimate from a sample.
    triangles_over_time : The number by windows of time.

    Notes
    -----
    Work: one sort of the rows, then one look-up per wedge at its corner of lowest degree, at most
    O(m ** 1.5). Ordering by degree is from Chiba and Nishizeki, "Arboricity and subgraph
    listing algorithms", SIAM J. Comput. 14 (1985).

    With `within`, times are compared exactly, floats without rounding their differences; a length
    of time is fixed, so months are refused. An edge with the times t is present in
    [t, t + within], and a triangle counts if its three edges are present at once. Repeated rows
    give an edge several times. Only ``method="auto"`` does this, at the cost of `edge_triangles`
    and a sort of the rows; the times of a `Graph` come from the frame that it was made from.
    Temporal motifs differ from this: they count every choice of three rows, in order of time
    (Paranjape, Benson, Leskovec, "Motifs in temporal networks", 2017).

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> df = pd.DataFrame({"src": [0, 1, 2, 2], "dst": [1, 2, 0, 3]})
    >>> df.pipe(tc.count)
    1
    >>> tc.count(df.assign(day=["mon", "mon", "mon", "tue"]), by="day")
       day  triangles
    0  mon          1
    1  tue          0
    >>> tc.count(df.assign(t=[0, 3, 9, 9]), time="t", within=5)
    0
    """
    if graph.groups is not None:
        by_group = graph.group_sums(counts_where(graph, where, method)) // 3
        return graph.group_frame({"triangles": by_group})
    if where is not None:
        return int(counts_where(graph, where, method).sum()) // 3
    return int(graph.count(method))


@analytic(
    BY_VERTEX,
    vertex_columns={"triangles": OF_VERTICES},
    check=check_arcs,
    work=work_where(BY_VERTEX),
    sums=sums_where,
    fields=("triangles",),
)
def vertex_triangles(
    graph: EdgeGraph,
    *,
    vertices: Vertices | None = None,
    time: Label | None = None,
    within: Length | None = None,
    where: Triangles | None = None,
    method: Method = "auto",
) -> Frame:
    """Count the triangles that each vertex is a corner of.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge.
    vertices : list, array, Series, Index or DataFrame, optional
        The vertices to report, row by row, repeats included; by default all, sorted by id. A frame
        if ids are made of several columns; with `by`, in every group that has them.
    time, within, where
        See `count`.

    Returns
    -------
    DataFrame
        ========= ======= ==============================================
        vertex    as ids  every id seen in either column, or `vertices`
        triangles int64   triangles with this corner
        ========= ======= ==============================================

    Raises
    ------
    ValueError
        Some of `vertices` are not in the graph. Other errors: see `Graph`.

    See Also
    --------
    count : The triangles of the graph.
    annotate_vertices : Several columns from one preparation.
    edge_triangles : The triangles of each edge.
    clustering : Triangles by pairs of neighbors, as a share.

    Notes
    -----
    Half the sum of `edge_triangles` around the vertex. Cost: as `edge_triangles`.

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> df = pd.DataFrame({"src": [0, 1, 2, 2], "dst": [1, 2, 0, 3]})
    >>> tc.vertex_triangles(df)
       vertex  triangles
    0       0          1
    1       1          1
    2       2          1
    3       3          0
    """
    counts = counts_where(graph, where, method)
    return graph.vertex_frame({"triangles": counts}, vertices)


@analytic(
    BY_ROW,
    columns={"triangles": TRIANGLES},
    check=check_arcs,
    work=work_where(BY_ROW),
    local=_local,
    sums=sums_where,  # not asked for, but of the same reading, whose bytes count
)
def edge_triangles(
    graph: EdgeGraph,
    *,
    time: Label | None = None,
    within: Length | None = None,
    where: Triangles | None = None,
    method: Method = "auto",
) -> Series:
    """Count the triangles that the edge of each row is a side of.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge. All rows of one edge get its value, a self loop gets 0.
    time, within, where
        See `count`.

    Returns
    -------
    Series
        ``triangles``, int64, one value per row, with the index of `edges`.

    Raises
    ------
    ColumnNotFoundError, IdTypeError, NullIdError, CapacityError, KernelError, ValueError, TypeError
        See `Graph`.

    See Also
    --------
    annotate : Several columns from one preparation.
    vertex_triangles : The triangles of each vertex.
    trussness : The largest k whose k-truss holds the edge.

    Notes
    -----
    The support of an edge, in the terms of Cohen, "Trusses: cohesive subgraphs for social network
    analysis" (2008). Cost: about three times `count`, and one search per row.

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> df = pd.DataFrame({"src": [0, 1, 2, 2], "dst": [1, 2, 0, 3]})
    >>> df["triangles"] = tc.edge_triangles(df)
    >>> df["triangles"].tolist()
    [1, 1, 1, 0]
    """
    require_auto(method, where)
    asked = "triangles" if where is None else of_kind("triangles", where.reading)
    return graph.row_columns([asked], method)["triangles"]


@analytic(Work(Needs.EDGES, Result.EDGES))
def simple_edges(
    graph: EdgeGraph,
) -> Frame:
    """List each undirected edge once: the graph on which all other functions count.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge.

    Returns
    -------
    DataFrame
        === ====== =========================
        src as ids the smaller id by value
        dst as ids the larger one
        === ====== =========================

        Sorted by both; no self loops, no repeats.

    Raises
    ------
    ColumnNotFoundError, IdTypeError, NullIdError, CapacityError, KernelError, ValueError, TypeError
        See `Graph`.

    See Also
    --------
    Graph : The graph, prepared for many questions.

    Notes
    -----
    Cost: two sorts of the rows.

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> tc.simple_edges(pd.DataFrame({"src": [2, 1, 2, 3], "dst": [1, 2, 2, 1]}))
       src  dst
    0    1    2
    1    1    3
    """
    return graph.simple_edges()
