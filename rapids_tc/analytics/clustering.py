"""Clustering: how often two neighbors of a vertex are neighbors themselves."""

from __future__ import annotations

from dataclasses import replace
from math import fsum
from typing import TYPE_CHECKING, Literal

import numpy as np

from rapids_tc._arguments import check_choice, check_flag
from rapids_tc._typing import Aggregate, Array, ArrayModule, Frame, Label, Method, Vertices
from rapids_tc.analytics import directions
from rapids_tc.analytics.analytic import analytic
from rapids_tc.analytics.kinds import (
    check_alone,
    check_weight,
    counts_where,
    sums_where,
    work_where,
)
from rapids_tc.analytics.tie_weights import root_reading, tie_reading
from rapids_tc.blocks.quantities import Products
from rapids_tc.blocks.ties import AllTriplets, ClosedTriplets
from rapids_tc.engines.quantity import ADDED, LARGEST, LEAST, MULTIPLIED
from rapids_tc.plan.costs import TIES
from rapids_tc.plan.record import (
    Needs,
    OwnOptions,
    Result,
    VertexColumn,
    VertexValues,
    Work,
    of_one_machine,
)
from rapids_tc.preparation.edge_values import Reading, Reduced
from rapids_tc.preparation.readers import WeightReader

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rapids_tc.blocks.quantities import Sum
    from rapids_tc.graphs.edge_graph import EdgeGraph, VertexStatistics
    from rapids_tc.preparation.triangle_kinds import Triangles


OF_VERTICES = Work(Needs.VERTEX_COUNTS | Needs.DEGREES, Result.VERTICES)
OF_ALL = Work(Needs.TOTAL | Needs.DEGREES, Result.VALUE)


def _clustering_work(own: OwnOptions) -> Work:
    if own["where"] is not None:
        return work_where(OF_VERTICES)(own)
    reads_values = own["weight"] is not None or own["directed"]
    needs = Needs.WEIGHTS | Needs.DEGREES if reads_values else Needs.VERTEX_COUNTS
    return Work(needs, Result.VERTICES)


def _clustering_sums(own: OwnOptions) -> Sequence[Sum]:
    if own["where"] is not None:
        return sums_where(own)
    if own["directed"]:
        return directions.clustering_sums(own["weight"], own["aggregate"])
    return [] if own["weight"] is None else [_weighted(own["weight"], own["aggregate"])]


def _check_clustering(own: OwnOptions) -> OwnOptions:
    return check_alone(check_flag(check_weight(own)))


def _of_vertices(vertices: VertexValues) -> Array:
    return _per_pair(vertices.triangles, vertices.degrees, vertices.xp)


COLUMN = VertexColumn("float64", _of_vertices, Needs.VERTEX_COUNTS | Needs.DEGREES)


@analytic(
    Work(Needs.VERTEX_COUNTS, Result.VERTICES),
    vertex_columns={"clustering": COLUMN},
    fields=("clustering",),
    check=_check_clustering,
    work=_clustering_work,
    sums=_clustering_sums,
)
def clustering(
    graph: EdgeGraph,
    *,
    vertices: Vertices | None = None,
    weight: Label | None = None,
    aggregate: Aggregate | None = None,
    directed: bool = False,
    where: Triangles | None = None,
    method: Method = "auto",
) -> Frame:
    """Compute for each vertex the share of the pairs of its neighbors that are edges.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge.
    vertices : list, array, Series, Index or DataFrame, optional
        The vertices to report, row by row, repeats included; by default all, sorted by id. A frame
        if ids are made of several columns; with `by`, in every group that has them.
    weight : label, optional
        A column of weights, not negative; without it every edge counts alike. Accepts only
        ``method="auto"``, as `directed` does.
    aggregate : {"first", "last", "sum", "mean", "min", "max"}, optional
        The weight of an edge that several rows name. By default these rows must agree; earlier
        the last row gave the weight, as ``aggregate="last"`` does.
    directed : bool, optional
        Whether the rows a, b and b, a are two edges, each with its own weight and its own repeats.
    where : Triangles, optional
        Count only triangles of a kind, over the pairs of all neighbors: see `count`. Not with
        `weight` or `directed`.

    Returns
    -------
    DataFrame
        ========== ======= ============================================
        vertex     as ids  every id seen in either column, or `vertices`
        clustering float64 from 0 to 1; 0 below two neighbors
        ========== ======= ============================================

    Raises
    ------
    ColumnNotFoundError
        There is no column `weight`.
    ValueError
        A weight is missing, negative or infinite, or `weight` is not a column of numbers; rows of
        one edge have other weights, and `aggregate` is None; some of `vertices` are not in the
        graph. Other errors: see `Graph`.

    See Also
    --------
    annotate_vertices : Several columns from one preparation.
    average_clustering : The mean over vertices.
    transitivity : The share of wedges that close.
    vertex_triangles : The triangles of each vertex.

    Notes
    -----
    The local clustering coefficient of Watts and Strogatz, "Collective dynamics of 'small-world'
    networks" (1998): triangles of the vertex over pairs of its neighbors. With weights, a
    triangle counts with the cube root of the product of its three weights, each divided by the
    largest of the graph, or of its group: Onnela et al., "Intensity and coherence of motifs in
    weighted complex networks" (2005). With directions, a triangle counts once for each way to
    choose a direction of each of its sides, and a vertex of d edges in and out, m of them mutual,
    has d (d - 1) - 2 m pairs: Fagiolo, "Clustering in complex directed networks" (2007). All agree
    with ``networkx.clustering``, except that here self loops do not count toward the largest
    weight.

    Cost: as `vertex_triangles`, and with weights one look-up more per triangle. The weights of a
    `Graph` come from the frame that it was made from. Sums of weights are floats that threads add
    up in any order: their last digits may differ between runs.

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> df = pd.DataFrame({"src": [0, 1, 2, 2], "dst": [1, 2, 0, 3]})
    >>> tc.clustering(df)["clustering"].round(3).tolist()
    [1.0, 1.0, 0.333, 0.0]
    """
    values = _by_rank(graph, weight, aggregate, where, method, directed=directed)
    return graph.vertex_frame({"clustering": values}, vertices)


def _check_average(own: OwnOptions) -> OwnOptions:
    return check_flag(_check_clustering(own), "count_zeros")


def _average_work(own: OwnOptions) -> Work:
    return replace(_clustering_work(own), result=Result.VALUE)


@analytic(
    Work(Needs.VERTEX_COUNTS, Result.VALUE),
    fields=("average_clustering",),
    check=_check_average,
    work=_average_work,
    sums=_clustering_sums,
)
def average_clustering(
    graph: EdgeGraph,
    *,
    vertices: Vertices | None = None,
    count_zeros: bool = True,
    weight: Label | None = None,
    aggregate: Aggregate | None = None,
    directed: bool = False,
    where: Triangles | None = None,
    method: Method = "auto",
) -> float | Frame:
    """Average the clustering over the vertices.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge.
    vertices : list, array, Series, Index or DataFrame, optional
        The vertices to average over, each once; by default all. A frame if ids are made of several
        columns.
    count_zeros : bool, optional
        Whether to include vertices with a clustering of 0.
    weight : label, optional
        A column of weights, not negative: see `clustering`.
    aggregate : {"first", "last", "sum", "mean", "min", "max"}, optional
        The weight of an edge that several rows name; by default these rows must agree.
    directed : bool, optional
        Whether the rows a, b and b, a are two edges: see `clustering`.
    where
        See `clustering`.

    Returns
    -------
    float or DataFrame
        NaN if there is no vertex to average over. With `by`, one row per group, sorted by group:
        the columns of groups, and ``average_clustering``.

    Raises
    ------
    ColumnNotFoundError
        There is no column `weight`.
    ValueError
        Some of `vertices` are not in the graph; weights are unusable, as in `clustering`. Other
        errors: see `Graph`.

    See Also
    --------
    clustering : The value of each vertex.
    transitivity : Another mean, by wedges.

    Notes
    -----
    As ``networkx.average_clustering``, which fails if there is no vertex to average over. Vertices
    with fewer than two neighbors count as 0; ``Graph(vertices=)`` adds isolated ones. The mean of
    `clustering` with the same options, at its cost.

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> df = pd.DataFrame({"src": [0, 1, 2, 2], "dst": [1, 2, 0, 3]})
    >>> round(tc.average_clustering(df), 3), round(tc.average_clustering(df, count_zeros=False), 3)
    (0.583, 0.778)
    """
    by_rank = _by_rank(graph, weight, aggregate, where, method, directed=directed)
    if graph.groups is not None:
        numbers = graph.numbers_of(vertices)
        values, groups = by_rank[graph.order.rank[numbers]], graph.groups.group_of[numbers]
        if not count_zeros:
            values, groups = values[values > 0], groups[values > 0]
        return graph.group_frame({"average_clustering": graph.group_means(values, groups)})
    values = graph.at_vertices(by_rank, vertices)
    values = values if count_zeros else values[values > 0]
    return graph.mean(values)


PAIRS = {"arithmetic": ADDED, "geometric": MULTIPLIED, "max": LARGEST, "min": LEAST}
SORTED = ("max", "min")  # for which the edges of each vertex are sorted, in memory alone


def _check_transitivity(own: OwnOptions) -> OwnOptions:
    own = check_choice(check_alone(check_flag(check_weight(own))), "mean", PAIRS)
    if own["weight"] is None and own["mean"] != "arithmetic":
        raise ValueError(f"mean={own['mean']!r} is about weights: give weight= as well")
    if own["weight"] is not None and own["directed"]:
        raise ValueError(
            "weight= and directed= are not asked for together: weights of both directions have no "
            "transitivity; aggregate= says what an edge of several rows weighs"
        )
    return own


def _in_memory(own: OwnOptions) -> str:
    """Say what is counted in blocks in place of means that sort the edges of each vertex."""
    return 'mean="arithmetic" and mean="geometric" are' if own["mean"] in SORTED else ""


def _local_transitivity(own: OwnOptions, kind: str) -> Exception | None:
    if own["mean"] not in SORTED:
        return None
    return of_one_machine(f"transitivity(mean={own['mean']!r})", kind, "")


def _transitivity_work(own: OwnOptions) -> Work:
    if own["weight"] is not None:
        values = TIES * 3 // 2 if own["mean"] in SORTED else TIES
        return Work(Needs.WEIGHTS | Needs.DEGREES, Result.VALUE, values=values)
    return directions.census_work(own) if own["where"] is None else work_where(OF_ALL)(own)


def _transitivity_sums(own: OwnOptions) -> Sequence[Sum]:
    if own["weight"] is not None:
        return _triplets(own["weight"], own["aggregate"], own["mean"])
    return directions.census_sums(own) if own["where"] is None else sums_where(own)


@analytic(
    OF_ALL,
    fields=("transitivity",),
    check=_check_transitivity,
    work=_transitivity_work,
    in_memory=_in_memory,
    local=_local_transitivity,
    sums=_transitivity_sums,
)
def transitivity(
    graph: EdgeGraph,
    *,
    weight: Label | None = None,
    mean: Literal["arithmetic", "geometric", "max", "min"] = "arithmetic",
    aggregate: Aggregate | None = None,
    directed: bool = False,
    where: Triangles | None = None,
    method: Method = "auto",
) -> float | Frame:
    """Compute the share of wedges (paths of two edges) that are closed: 3 * triangles / wedges.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge.
    weight : label, optional
        A column of weights, not negative: a wedge then counts with the mean of its two weights.
        Accepts only ``method="auto"``, as `directed` does.
    mean : {"arithmetic", "geometric", "max", "min"}, optional
        The mean of two weights; the last two are counted in memory alone.
    aggregate : {"first", "last", "sum", "mean", "min", "max"}, optional
        The weight of an edge that several rows name; by default these rows must agree.
    directed : bool, optional
        Whether the rows a, b and b, a are two edges. Not with `weight`.
    where : Triangles, optional
        Count only triangles of a kind, over all wedges: see `count`. Not with `weight` or
        `directed`.

    Returns
    -------
    float or DataFrame
        0.0 for a graph without a wedge, or of weight 0. With `by`, one row per group, sorted by
        group: the columns of groups, and ``transitivity``.

    Raises
    ------
    ColumnNotFoundError
        There is no column `weight`.
    ValueError
        Weights are unusable, as in `clustering`; options are given that are not asked for together.
    TypeError
        `edges` is partitioned, and `mean` is counted in memory alone. Other errors: see `Graph`.

    See Also
    --------
    average_clustering : Another mean, by vertices.
    triad_counts : The wedges and triangles that it is made of.

    Notes
    -----
    The global clustering coefficient, as ``networkx.transitivity``. With directions, a wedge is an
    ordered pair of edges x to y and x to z, which an edge from y to z closes; this is not the ratio
    of the sums in Fagiolo's `clustering`. Cost: as `count`; with directions, as `edge_triangles`.

    With weights, the generalized clustering coefficient of Opsahl and Panzarasa, "Clustering in
    weighted networks" (2009): the value of all closed wedges over that of all wedges. If all
    weights are equal, it is the transitivity without weights. Cost: as `edge_triangles`, with a
    look at three weights for each triangle, and some passes over the edges. Sums are of whole
    multiples of units that are powers of two: the answer has the same bits on all paths.

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> tc.transitivity(pd.DataFrame({"src": [0, 1, 2, 2], "dst": [1, 2, 0, 3]}))
    0.6
    """
    if weight is not None:
        directions.require_auto(method, "weight=")
        return _weighted_transitivity(graph, _triplets(weight, aggregate, mean))
    if directed:
        directions.require_auto(method, "directed=True")
        share = directions.transitivity(graph)
        return float(share) if graph.groups is None else graph.group_frame({"transitivity": share})
    if graph.groups is not None:
        wedges = graph.group_sums(graph.degrees * (graph.degrees - 1) // 2)
        closed = graph.group_sums(counts_where(graph, where, method))
        share = closed / graph.backend.xp.maximum(wedges, 1)
        return graph.group_frame({"transitivity": share})
    wedges = graph.wedges  # from the CSR, of which the count makes use
    if where is None:
        closed = 3 * graph.count(method)
    else:
        closed = int(counts_where(graph, where, method).sum())
    return closed / wedges if wedges else 0.0


def _triplets(weight: Label, aggregate: str | None, mean: str) -> list[Sum]:
    """Return the sums of closed wedges, and of all wedges, of every vertex."""
    if mean == "geometric":
        reading = root_reading(weight, aggregate)
    else:
        reading = tie_reading(weight, aggregate)
    rule = PAIRS[mean]
    return [ClosedTriplets("closed", reading, rule), AllTriplets("wedges", reading, rule)]


def _weighted_transitivity(graph: EdgeGraph, sums: list[Sum]) -> float | Frame:
    """Divide the values of all closed wedges by those of all wedges: added up on the host."""
    host = graph.backend.host
    closed, wedges = (host(summed.values) for summed in graph.summed(*sums))
    if graph.groups is None:
        total = fsum(wedges)
        return fsum(closed) / total if total else 0.0
    rank, groups = host(graph.order.rank), host(graph.groups.group_of)
    size = len(graph.groups.starts)
    of_groups = [np.bincount(groups, sums[rank], size) for sums in (closed, wedges)]
    share = of_groups[0] / np.where(of_groups[1] > 0, of_groups[1], 1.0)
    return graph.group_frame({"transitivity": graph.backend.xp.asarray(share)})


def _by_rank(
    graph: EdgeGraph, weight: Label | None, aggregate: str | None, where: Triangles | None,
    method: Method, *, directed: bool,
) -> Array:  # fmt: skip
    """Compute the clustering of every rank."""
    if directed:
        directions.require_auto(method, "directed=True")
        return directions.clustering(graph, directions.clustering_sums(weight, aggregate))
    if weight is None:
        return per_pair(graph, counts_where(graph, where, method))
    directions.require_auto(method, "weight=")
    [weighted] = graph.summed(_weighted(weight, aggregate))
    return per_pair(graph, weighted.values)


def per_pair(graph: VertexStatistics, sums: Array) -> Array:
    """Divide the sums over the triangles of every rank by the pairs of its neighbors."""
    return _per_pair(sums, graph.degrees, graph.backend.xp)


def _per_pair(sums: Array, degrees: Array, xp: ArrayModule) -> Array:
    return sums / xp.maximum(degrees * (degrees - 1) // 2, 1)  # no pair, no triangle


def _weighted(label: Label, aggregate: str | None) -> Products:
    """Sum, over the triangles of each rank, the cube root of the product of scaled weights."""
    reading = Reading(Reduced(aggregate), (WeightReader(label=label),), _roots, scaled=True)
    return Products("weighted", reading)


def _roots(arrays: list[Array], largest: Array | float, xp: ArrayModule) -> list[Array]:
    """Take the cube root of each weight over the largest."""
    return [xp.cbrt(arrays[0] / directions.divisor(largest, xp))]
