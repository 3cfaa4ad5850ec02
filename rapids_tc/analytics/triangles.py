"""Triangle counts: of the graph, of its vertices and of its edges; and the simple edges."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rapids_tc._typing import Array, Frame, Label, Length, Method, Series, Vertices
from rapids_tc.analytics.analytic import analytic, no_column
from rapids_tc.blocks.quantities import Within, WithinByVertex
from rapids_tc.plan.record import (
    Column,
    Needs,
    OwnOptions,
    Result,
    VertexColumn,
    Work,
    of_one_machine,
)
from rapids_tc.preparation.edge_values import Reading
from rapids_tc.preparation.time_values import check_within

if TYPE_CHECKING:
    from collections.abc import Callable

    from rapids_tc.graphs.edge_graph import EdgeGraph, VertexStatistics

TRIANGLES = Column("int64", lambda edges: edges.triangles)
OF_VERTICES = VertexColumn("int64", lambda vertices: vertices.triangles, Needs.VERTEX_COUNTS)


def _check_within(own: OwnOptions) -> OwnOptions:
    if own["time"] is None and own["within"] is None:
        return own
    return {**own, "within": check_within(own["time"], own["within"])}


def _work(without: Work) -> Callable[[OwnOptions], Work]:
    """Return the work of a call by its options; without `within` it is `without`."""

    def work(own: OwnOptions) -> Work:
        if own["within"] is None:
            return without
        by_row = without.result is Result.COLUMN
        needs = Needs.SPANS | (Needs.EDGE_COUNTS if by_row else Needs.NOTHING)
        return replace(without, needs=needs, by_time=True)

    return work


def _sums(own: OwnOptions) -> list[WithinByVertex]:
    return [] if own["within"] is None else [WithinByVertex("within", own["within"])]


def _local(own: OwnOptions, kind: str) -> TypeError:
    """Return the error of `edge_triangles` for a partitioned frame."""
    if own["within"] is None:
        return no_column(kind, "triangles")
    return of_one_machine("edge_triangles with within=", kind)


def _reading(within: Length | Reading | None, method: str) -> Reading | None:
    """Return `within` as `_check_within` leaves it; ValueError if a method is named beside it."""
    assert within is None or isinstance(within, Reading)
    if within is not None and method != "auto":
        raise ValueError(f'method={method!r}: with within= only method="auto" works')
    return within


def _corners(graph: VertexStatistics, method: str, within: Length | None) -> Array | None:
    """Count the triangles at every rank whose edges are close in time; None without `within`."""
    if (reading := _reading(within, method)) is None:
        return None
    [corners] = graph.summed(WithinByVertex("within", reading))
    return corners.values


TOTAL = Work(Needs.TOTAL, Result.VALUE)
BY_VERTEX = Work(Needs.VERTEX_COUNTS, Result.VERTICES)
BY_ROW = Work(Needs.EDGE_COUNTS, Result.COLUMN)


@analytic(TOTAL, check=_check_within, work=_work(TOTAL), sums=_sums, fields=("triangles",))
def count(
    graph: EdgeGraph,
    *,
    time: Label | None = None,
    within: Length | None = None,
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
    if (corners := _corners(graph, method, within)) is not None:
        if graph.groups is None:
            return int(corners.sum()) // 3
        return graph.group_frame({"triangles": graph.group_sums(corners) // 3})
    if graph.groups is not None:
        return graph.group_frame({"triangles": graph.group_counts(method)})
    return int(graph.count(method))


@analytic(
    BY_VERTEX,
    vertex_columns={"triangles": OF_VERTICES},
    check=_check_within,
    work=_work(BY_VERTEX),
    sums=_sums,
    fields=("triangles",),
)
def vertex_triangles(
    graph: EdgeGraph,
    *,
    vertices: Vertices | None = None,
    time: Label | None = None,
    within: Length | None = None,
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
    time, within
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
    corners = _corners(graph, method, within)
    counts = graph.vertex_counts(method) if corners is None else corners
    return graph.vertex_frame({"triangles": counts}, vertices)


@analytic(
    BY_ROW,
    columns={"triangles": TRIANGLES},
    check=_check_within,
    work=_work(BY_ROW),
    local=_local,
    sums=_sums,  # not asked for, but of the same reading, whose bytes count
)
def edge_triangles(
    graph: EdgeGraph,
    *,
    time: Label | None = None,
    within: Length | None = None,
    method: Method = "auto",
) -> Series:
    """Count the triangles that the edge of each row is a side of.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge. All rows of one edge get its value, a self loop gets 0.
    time, within
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
    reading = _reading(within, method)
    asked = "triangles" if reading is None else Within("triangles", reading)
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
