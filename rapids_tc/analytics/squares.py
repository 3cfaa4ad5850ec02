"""Squares, cycles of four vertices: of the graph, of its vertices and of its edges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rapids_tc._arguments import check_flag
from rapids_tc._typing import Array, Frame, Series, Vertices
from rapids_tc.analytics.analytic import analytic
from rapids_tc.plan.record import (
    Column,
    Needs,
    OwnOptions,
    Result,
    VertexColumn,
    VertexValues,
    Work,
    of_one_machine,
)

if TYPE_CHECKING:
    from rapids_tc.graphs.edge_graph import VertexTotals
    from rapids_tc.graphs.in_memory import InMemoryGraph

CLUSTERED = Needs.SQUARES | Needs.VERTEX_COUNTS | Needs.DEGREES | Needs.NEIGHBOR_DEGREES


def _square_clustering(vertices: VertexValues) -> Array:
    """Divide the squares of each vertex by those that its neighbors' degrees allow."""
    degrees, squares = vertices.degrees, vertices.squares
    possible = (degrees - 1) * (vertices.neighbor_degrees + degrees)
    possible -= degrees * (degrees - 1) + 2 * vertices.triangles + squares
    return squares / vertices.xp.where(possible > 0, possible, 1)


COLUMN = Column("int64", lambda edges: edges.squares, Needs.SQUARES)
VERTEX_COLUMNS = {
    "squares": VertexColumn("int64", lambda vertices: vertices.squares, Needs.SQUARES),
    "square_clustering": VertexColumn("float64", _square_clustering, CLUSTERED),
}


def _in_memory(own: OwnOptions) -> str:
    return "leave out vertices of one neighbor, which are in no square"


def _check(own: OwnOptions) -> OwnOptions:
    return check_flag(own, "bipartite")


def _local(own: OwnOptions, kind: str) -> TypeError | None:
    return of_one_machine("bipartite=True", kind, "") if own["bipartite"] else None


@analytic(
    Work(Needs.SQUARES, Result.VALUE),
    fields=("squares",),
    check=_check,
    in_memory=_in_memory,
    local=_local,
)
def squares(graph: InMemoryGraph | VertexTotals, *, bipartite: bool = False) -> int | Frame:
    """Count the squares, cycles of four vertices: the butterflies of a bipartite graph.

    Four vertices form up to three squares, whichever others of their edges there are: a square need
    not be induced.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge. The edges are counted in memory, those of a Dask frame by workers of which
        each holds the graph.
    bipartite : bool, optional
        Whether the two columns never meet: user 5 is not item 5. By default equal ids are one
        vertex. A `Graph` has it chosen. Not of a Dask frame.

    Returns
    -------
    int or DataFrame
        With `by`, one row per group, sorted by group: the columns of groups, and ``squares``,
        int64.

    Raises
    ------
    CapacityError
        The graph has 2**31 edges or more, or that of a Dask frame does not fit a worker. Other
        errors: see `Graph`.

    See Also
    --------
    vertex_squares : The squares of each vertex.
    edge_squares : The squares of each edge.
    count : The cycles of three vertices.
    annotate_vertices : The clustering coefficient of squares, "square_clustering".

    Notes
    -----
    Of every path of two edges, the end of higher degree counts how many lead to the other end: c of
    them make c (c - 1) / 2 squares. Work: one step per path whose ends both have a higher rank by
    degree than its middle has, or whose middle is between them; in all at most the sum, over the
    edges, of the smaller degree of their ends.

    The bound is from Chiba and Nishizeki, "Arboricity and subgraph listing algorithms", SIAM J.
    Comput. 14 (1985). Paths in the order of degrees are from Wang, Lin, Qin, Zhang and Zhang,
    "Vertex priority based butterfly counting for large-scale bipartite networks", VLDB (2019).

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> df = pd.DataFrame({"src": [0, 1, 2, 3, 0], "dst": [1, 2, 3, 0, 4]})
    >>> tc.squares(df)
    1
    >>> tc.squares(df.assign(day=["mon"] * 4 + ["tue"]), by="day")
       day  squares
    0  mon        1
    1  tue        0
    """
    if graph.groups is None:
        return graph.squares("graph")[0]
    return graph.group_frame({"squares": graph.group_sums(graph.squares("vertex")[1]) // 4})


@analytic(
    Work(Needs.SQUARES, Result.VERTICES),
    vertex_columns=VERTEX_COLUMNS,
    fields=("squares",),
    check=_check,
    in_memory=_in_memory,
    local=_local,
)
def vertex_squares(
    graph: InMemoryGraph | VertexTotals,
    *,
    vertices: Vertices | None = None,
    bipartite: bool = False,
) -> Frame:
    """Count the squares that each vertex is in: its butterflies, if the graph is bipartite.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge. The edges are counted in memory, those of a Dask frame by workers of which
        each holds the graph.
    vertices : list, array, Series, Index or DataFrame, optional
        The vertices to report; see `vertex_triangles`. If bipartite, a frame with the columns
        ``side`` and ``vertex``.
    bipartite : bool, optional
        Whether the two columns never meet: user 5 is not item 5. By default equal ids are one
        vertex. A `Graph` has it chosen. Not of a Dask frame.

    Returns
    -------
    DataFrame
        ======= ======= ==============================================
        vertex  as ids  every id seen in either column, or `vertices`
        side    text    "source" or "destination", if bipartite
        squares int64   squares that the vertex is in
        ======= ======= ==============================================

    Raises
    ------
    ValueError
        Some of `vertices` are not in the graph.
    IdTypeError
        If bipartite, no column holds the ids of both sides, such as integers and text.
    CapacityError
        The graph has 2**31 edges or more, or that of a Dask frame does not fit a worker. Other
        errors: see `Graph`.

    See Also
    --------
    squares : The squares of the graph.
    edge_squares : The squares of each edge.
    annotate_vertices : The clustering coefficient of squares, "square_clustering".

    Notes
    -----
    The sum over all vertices is four times `squares`. Cost: two to three times that of `squares`.

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> df = pd.DataFrame({"src": [0, 1, 2, 3, 0], "dst": [1, 2, 3, 0, 4]})
    >>> tc.vertex_squares(df, vertices=[3, 4])
       vertex  squares
    0       3        1
    1       4        0
    >>> tc.vertex_squares(pd.DataFrame({"user": [5, 5], "item": [5, 6]}), bipartite=True)
       vertex         side  squares
    0       5       source        0
    1       5  destination        0
    2       6  destination        0
    """
    return graph.vertex_frame({"squares": graph.squares("vertex")[1]}, vertices)


@analytic(
    Work(Needs.SQUARES, Result.COLUMN),
    columns={"squares": COLUMN},
    check=_check,
    in_memory=_in_memory,
)
def edge_squares(graph: InMemoryGraph, *, bipartite: bool = False) -> Series:
    """Count the squares that each row's edge is in: its butterflies, if the graph is bipartite.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge. All rows of one edge get its value, a self loop gets 0. The edges are
        counted in memory.
    bipartite : bool, optional
        Whether the two columns never meet: user 5 is not item 5. By default equal ids are one
        vertex. A `Graph` has it chosen.

    Returns
    -------
    Series
        ``squares``, int64, one value per row, with the index of `edges`.

    Raises
    ------
    CapacityError
        The graph has 2**31 edges or more. Other errors: see `Graph`.

    See Also
    --------
    squares : The squares of the graph.
    vertex_squares : The squares of each vertex.
    edge_triangles : The triangles of each edge.
    bitruss : The most squares that each edge has in a subgraph whose every edge has as many.
    annotate : The same beside the rows, also those of a Dask frame.

    Notes
    -----
    The sum over all edges is four times `squares`. Cost: two to four times that of `squares`, and
    one search per row.

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> df = pd.DataFrame({"src": [0, 1, 2, 3, 0], "dst": [1, 2, 3, 0, 4]})
    >>> tc.edge_squares(df).tolist()
    [1, 1, 1, 1, 0]
    """
    return graph.row_columns(["squares"], "auto")["squares"]
