"""Several measures of each vertex from one preparation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rapids_tc._typing import Array, Frame, Method, Vertices
from rapids_tc.analytics.analytic import analytic
from rapids_tc.analytics.annotate import check_names, of_one_column, without_columns
from rapids_tc.plan import costs
from rapids_tc.plan.record import (
    Needs,
    OwnOptions,
    Result,
    VertexColumn,
    VertexValues,
    Work,
    vertex_columns,
)

if TYPE_CHECKING:
    from rapids_tc.graphs.edge_graph import EdgeGraph

CLOSURE = Needs.VERTEX_COUNTS | Needs.DEGREES | Needs.NEIGHBOR_DEGREES
ANY = CLOSURE | Needs.EDGE_SUMS | Needs.EDGE_COUNTS | Needs.TRUSSNESS | Needs.SQUARES


def _effective_size(vertices: VertexValues) -> Array:
    degrees = _or_nan(vertices)
    return degrees - 2 * vertices.triangles / degrees


def _constraint(vertices: VertexValues) -> Array:
    return vertices.tie_squares / _or_nan(vertices) ** 2


def _closure(vertices: VertexValues) -> Array:
    closed = 2 * vertices.triangles / vertices.xp.maximum(vertices.neighbor_degrees, 1)
    closed[vertices.degrees == 0] = vertices.xp.nan
    return closed


def _or_nan(vertices: VertexValues) -> Array:
    """Return the degrees, and NaN for a vertex without a neighbor."""
    degrees = vertices.degrees.astype("float64")
    degrees[degrees == 0] = vertices.xp.nan
    return degrees


OWN = {
    "degree": VertexColumn("int64", lambda vertices: vertices.degrees, Needs.DEGREES),
    "effective_size": VertexColumn("float64", _effective_size, Needs.VERTEX_COUNTS | Needs.DEGREES),
    "constraint": VertexColumn("float64", _constraint, Needs.EDGE_SUMS | Needs.DEGREES),
    "closure": VertexColumn("float64", _closure, CLOSURE),
}


def _check(own: OwnOptions) -> OwnOptions:
    check_names(own["columns"], vertex_columns(), "annotate_vertices")
    return own


def _work(own: OwnOptions) -> Work:
    known, needs = vertex_columns(), Needs.NOTHING
    for name in own["columns"]:
        needs |= known[name].needs
    values = costs.EDGE_SUM if needs & Needs.EDGE_SUMS else 0
    levels = bool(needs & Needs.TRUSSNESS)
    return Work(needs, Result.VERTICES, len(own["columns"]), values=values, levels=levels)


def _in_memory(own: OwnOptions) -> str:
    return without_columns(own["columns"], vertex_columns())


def _local(own: OwnOptions, kind: str) -> Exception | None:
    return of_one_column("annotate_vertices", own["columns"], vertex_columns(), kind)


@analytic(
    Work(ANY, Result.VERTICES, columns=3, values=costs.EDGE_SUM),
    vertex_columns=OWN,
    fields=lambda own: own["columns"],
    check=_check,
    work=_work,
    in_memory=_in_memory,
    local=_local,
)
def annotate_vertices(
    graph: EdgeGraph, *columns: str, vertices: Vertices | None = None, method: Method = "auto"
) -> Frame:
    """Measure each vertex in several ways, all from one preparation.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge.
    *columns : str
        The measures, by their names in the table below.
    vertices : list, array, Series, Index or DataFrame, optional
        The vertices to report, row by row, repeats included; by default all, sorted by id. A frame
        if ids are made of several columns; with `by`, in every group that has them.

    Returns
    -------
    DataFrame
        ``vertex``, as ids, and the columns that are named, in their order. For a vertex of d
        neighbors and t triangles:

        ================= ======= ==============================================================
        degree            int64   d, repeats and self loops apart
        triangles         int64   t, as `vertex_triangles`
        clustering        float64 t / (d (d - 1) / 2), as `clustering`; 0.0 below two neighbors
        trussness         int32   the largest `trussness` of its edges; 0 without an edge
        effective_size    float64 d - 2 t / d; NaN without a neighbor
        constraint        float64 the sum over its neighbors of ((1 + r) / d) ** 2, with r the sum
                                  of 1 over the degree of each common neighbor; NaN without a
                                  neighbor
        closure           float64 2 t over the sum of the neighbors' degrees less one each; 0.0 if
                                  this sum is 0, NaN without a neighbor
        squares           int64   s, as `vertex_squares`
        square_clustering float64 s over (d - 1) D - d (d - 1) - 2 t - s, with D the sum of the
                                  neighbors' degrees; 0.0 if this is 0
        ================= ======= ==============================================================

    Raises
    ------
    ValueError
        No column is named, or one that is unknown or named twice; some of `vertices` are not in
        the graph. Other errors: see `Graph`.

    See Also
    --------
    annotate : Columns of the rows of edges.
    vertex_triangles : One column of triangles.
    clustering : One column of clustering, with weights and directions.
    trussness : The trussness of each edge.
    vertex_squares : One column of squares.

    Notes
    -----
    The effective size of Burt, "Structural Holes" (1992), in the simple form of Borgatti,
    "Structural holes: unpacking Burt's redundancy measures" (1997): the neighbors, less their mean
    number of ties to one another. The constraint of Burt, "Structural holes and good ideas" (2004),
    which is high if the neighbors are few and know each other; r is the `similarity`
    "resource_allocation" of the edge. Both as ``networkx.effective_size`` and
    ``networkx.constraint`` without weights, which count self loops; here they are dropped first.
    The closure coefficient of Yin, Benson and Leskovec, "The local closure coefficient" (2019): of
    the paths of two edges that begin at the vertex, the share whose ends are neighbors.

    The clustering coefficient of squares of Zhang et al., "Clustering coefficient and community
    structure of bipartite networks" (2008), as ``networkx.square_clustering``: of the squares that
    two neighbors of the vertex could close with each other vertex that either is joined to, the
    share that is there.

    Cost: as `vertex_triangles`, or as `trussness` if it is asked for, for any number of columns;
    and as `edge_triangles` once more for "constraint", and as `vertex_squares` for the last two.

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> df = pd.DataFrame({"src": [0, 1, 2, 2], "dst": [1, 2, 0, 3]})
    >>> tc.annotate_vertices(df, "degree", "triangles", "effective_size").round(3)
       vertex  degree  triangles  effective_size
    0       0       2          1           1.000
    1       1       2          1           1.000
    2       2       3          1           2.333
    3       3       1          0           1.000
    """
    return graph.vertex_frame(graph.vertex_columns(columns, method), vertices)
