"""Several measures of each vertex from one preparation."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rapids_tc._arguments import check_flag
from rapids_tc._typing import Aggregate, Array, Frame, Label, Method, Vertices
from rapids_tc.analytics.analytic import analytic
from rapids_tc.analytics.annotate import check_names, of_one_column, without_columns
from rapids_tc.analytics.clustering import OF_VERTICES
from rapids_tc.analytics.directions import require_auto
from rapids_tc.analytics.kinds import (
    check_alone,
    check_arcs,
    check_weight,
    counts_where,
    sums_where,
    work_where,
)
from rapids_tc.analytics.tie_weights import tie_reading
from rapids_tc.blocks.ties import Constraint, EffectiveSize
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
    from collections.abc import Sequence

    from rapids_tc.blocks.quantities import Sum
    from rapids_tc.graphs.edge_graph import EdgeGraph
    from rapids_tc.preparation.triangle_kinds import Triangles

CLOSURE = Needs.VERTEX_COUNTS | Needs.DEGREES | Needs.NEIGHBOR_DEGREES
OF_KINDS = ("degree", "triangles", "clustering")  # columns of the triangles of a kind
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


OF_TIES = {"constraint": Constraint, "effective_size": EffectiveSize}


def _weighs(own: OwnOptions) -> bool:
    return own["weight"] is not None or own["directed"]


def _check(own: OwnOptions) -> OwnOptions:
    check_names(own["columns"], vertex_columns(), "annotate_vertices")
    check_flag(check_weight(own))
    if own["where"] is not None:
        if not {*own["columns"]} <= {*OF_KINDS}:
            names = ", ".join(f'"{name}"' for name in OF_KINDS)
            raise ValueError(f"where= counts triangles of a kind: name {names} alone beside it")
        return check_alone(own) if "clustering" in own["columns"] else check_alone(own, check_arcs)
    if others := [name for name in own["columns"] if _weighs(own) and name not in OF_TIES]:
        raise ValueError(
            'weight= and directed= are about "constraint" and "effective_size" alone: ask for '
            f'"{others[0]}" in a call of its own'
        )
    return own


def _sums(own: OwnOptions) -> Sequence[Sum]:
    return _of_ties(own) if own["where"] is None else sums_where(own)


def _of_ties(own: OwnOptions) -> list[Sum]:
    if not _weighs(own):
        return []
    reading = tie_reading(own["weight"], own["aggregate"], directed=own["directed"])
    return [OF_TIES[name](name, reading) for name in own["columns"]]


def _work(own: OwnOptions) -> Work:
    if own["where"] is not None:
        return replace(work_where(OF_VERTICES)(own), columns=len(own["columns"]))
    if _weighs(own):
        needs = Needs.WEIGHTS | Needs.DEGREES
        return Work(needs, Result.VERTICES, len(own["columns"]), values=costs.TIES)
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
    sums=_sums,
)
def annotate_vertices(
    graph: EdgeGraph,
    *columns: str,
    vertices: Vertices | None = None,
    weight: Label | None = None,
    aggregate: Aggregate | None = None,
    directed: bool = False,
    where: Triangles | None = None,
    method: Method = "auto",
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
    weight : label, optional
        A column of weights, not negative, of "constraint" and "effective_size", which then are the
        only columns. Accepts only ``method="auto"``, as `directed` does.
    aggregate : {"first", "last", "sum", "mean", "min", "max"}, optional
        The weight of an edge that several rows name; by default these rows must agree.
    directed : bool, optional
        Whether the rows a, b and b, a are two edges, of these two columns: the weight of a tie is
        the sum of both.
    where : Triangles, optional
        Count only triangles of a kind: see `count`. Of columns, it takes "degree", which is that
        of the whole graph, "triangles" and "clustering".

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
    ColumnNotFoundError
        There is no column `weight`.
    ValueError
        No column is named, or one that is unknown or named twice, or that takes no weights; some of
        `vertices` are not in the graph; weights are unusable, as in `clustering`. Other errors: see
        `Graph`.

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
    ``networkx.constraint``, which count self loops; here they are dropped first. With p_vw the
    weight of a tie over all those of v, and m_vw over the largest of v, the constraint of v is the
    sum over its neighbors w of (p_vw + the sum over x of p_vx p_xw) ** 2, and its effective size
    the sum over them of 1 - the sum over x of p_vx m_wx. An edge of weight 0 is no tie, and a
    vertex without a tie has NaN, as NetworkX says of all nodes.
    The closure coefficient of Yin, Benson and Leskovec, "The local closure coefficient" (2019): of
    the paths of two edges that begin at the vertex, the share whose ends are neighbors.

    The clustering coefficient of squares of Zhang et al., "Clustering coefficient and community
    structure of bipartite networks" (2008), as ``networkx.square_clustering``: of the squares that
    two neighbors of the vertex could close with each other vertex that either is joined to, the
    share that is there.

    Cost: as `vertex_triangles`, or as `trussness` if it is asked for, for any number of columns;
    and as `edge_triangles` once more for "constraint", and as `vertex_squares` for the last two.
    With weights or directions, as `edge_triangles` for each column, with a look at the weights of
    three sides for each triangle; sums are of whole multiples of units that are powers of two, so
    that answers have the same bits on all paths.

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
    if where is not None:
        counted = counts_where(graph, where, method)
        return graph.vertex_frame(graph.vertex_columns(columns, method, counted), vertices)
    own = {"columns": columns, "weight": weight, "aggregate": aggregate, "directed": directed}
    if not (sums := _of_ties(own)):
        return graph.vertex_frame(graph.vertex_columns(columns, method), vertices)
    require_auto(method, "directed=True" if weight is None else "weight=")
    values = {
        name: summed.values for name, summed in zip(columns, graph.summed(*sums), strict=True)
    }
    return graph.vertex_frame(values, vertices)
