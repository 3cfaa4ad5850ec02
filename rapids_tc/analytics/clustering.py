"""Clustering: how often two neighbours of a vertex are neighbours themselves."""

from __future__ import annotations

from functools import partial
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc._typing import EngineName
from rapids_tc.analytics.analytic import analytic
from rapids_tc.blocks.triangle_sums import Products
from rapids_tc.plan.record import Needs, OwnOptions, Result, Work
from rapids_tc.preparation.edge_values import Reading, Reduced, check_aggregate
from rapids_tc.preparation.readers import WeightReader

if TYPE_CHECKING:
    from rapids_tc.frames.backend import Array
    from rapids_tc.graphs.in_memory import InMemoryGraph
    from rapids_tc.graphs.protocol import VertexStatistics


def _clustering_work(own: OwnOptions) -> Work:
    weighted = Needs.WEIGHTS if own["weight"] is not None else Needs.NOTHING
    return Work(Needs.VERTEX_COUNTS | weighted, Result.VERTICES)


def _check_aggregate(own: OwnOptions) -> OwnOptions:
    check_aggregate(own["aggregate"])
    return own


def _weights_in_memory(own: OwnOptions) -> str:
    return "clustering without weight= is" if own["weight"] is not None else ""


def _weights_local(own: OwnOptions, kind: str) -> Exception | None:
    if own["weight"] is None:
        return None
    return ValueError(
        f"weight={own['weight']!r}: the clustering of a {kind} counts every edge alike; weights "
        "are for one machine, clustering(edges.compute(), weight=...)"
    )


@analytic(
    Work(Needs.VERTEX_COUNTS, Result.VERTICES),
    fields=("clustering",),
    check=_check_aggregate,
    work=_clustering_work,
    in_memory=_weights_in_memory,
    local=_weights_local,
)
def clustering(
    edges: Any,
    *,
    vertices: Any = None,
    weight: Any = None,
    aggregate: str | None = None,
    source: Any = None,
    destination: Any = None,
    by: Any = None,
    engine: EngineName | None = None,
    method: str = "auto",
    progress: bool | None = None,
    memory_limit: int | None = None,
) -> Any:
    """Compute for each vertex the share of the pairs of its neighbours that are edges.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge.
    vertices : list, array, Series or Index, optional
        The vertices to report, each once and in this order; by default all, sorted by id.
    weight : label, optional
        A column of weights, not negative; without it every edge counts alike.
    aggregate : {"first", "last", "sum", "mean", "min", "max"}, optional
        The weight of an edge that several rows name; by default these rows must agree. (Up to
        version 0.1 it was the weight of the last row.)
    source, destination, by, engine, method, progress, memory_limit
        See `count`; `weight` accepts only ``method="auto"``.

    Returns
    -------
    DataFrame
        ========== ======= ============================================
        vertex     as ids  every id seen in either column, or `vertices`
        clustering float64 from 0 to 1; 0 below two neighbours
        ========== ======= ============================================

    Raises
    ------
    ColumnNotFoundError
        There is no column `weight`.
    ValueError
        A weight is missing, negative or infinite, or `weight` is not a column of numbers; rows of
        one edge have other weights, and `aggregate` is None; some of `vertices` are not in the
        graph. Other errors: see `Graph`.

    Notes
    -----
    The local clustering coefficient of Watts and Strogatz, "Collective dynamics of 'small-world'
    networks" (1998): triangles of the vertex over pairs of its neighbours. With weights, a
    triangle counts with the cube root of the product of its three weights, each divided by the
    largest of the graph: Onnela et al., "Intensity and coherence of motifs in weighted complex
    networks" (2005). Both agree with ``networkx.clustering``, except that here self loops do not
    count towards the largest weight.

    Cost: as `vertex_triangles`, and with weights one look-up more per triangle. The weights of a
    `Graph` come from the frame that it was made from.

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> df = pd.DataFrame({"src": [0, 1, 2, 2], "dst": [1, 2, 0, 3]})
    >>> tc.clustering(df)["clustering"].round(3).tolist()
    [1.0, 1.0, 0.333, 0.0]
    """
    if weight is None:
        sums = edges.vertex_counts(method)
    elif method == "auto":
        sums = edges.summed(_weighted(edges, weight, aggregate)).values
    else:
        raise ValueError(f'method={method!r}: with weight= only method="auto" works')
    return edges.vertex_frame({"clustering": per_pair(edges, sums)}, vertices)


def _check_zeros(own: OwnOptions) -> OwnOptions:
    if not isinstance(own["count_zeros"], bool | np.bool_):
        raise ValueError(f"count_zeros={own['count_zeros']!r}; accepted: True, False")
    return own


@analytic(
    Work(Needs.VERTEX_COUNTS, Result.VALUE), fields=("average_clustering",), check=_check_zeros
)
def average_clustering(
    edges: Any,
    *,
    vertices: Any = None,
    count_zeros: bool = True,
    source: Any = None,
    destination: Any = None,
    by: Any = None,
    engine: EngineName | None = None,
    method: str = "auto",
    progress: bool | None = None,
    memory_limit: int | None = None,
) -> Any:
    """Average the clustering over the vertices.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge.
    vertices : list, array, Series or Index, optional
        The vertices to average over, each once; by default all.
    count_zeros : bool, optional
        Whether to include vertices with a clustering of 0.
    source, destination, by, engine, method, progress, memory_limit
        See `count`.

    Returns
    -------
    float or DataFrame
        NaN if there is no vertex to average over. With `by`, one row per group, sorted by group:
        the columns of groups, and ``average_clustering``.

    Raises
    ------
    ValueError
        Some of `vertices` are not in the graph. Other errors: see `Graph`.

    Notes
    -----
    As ``networkx.average_clustering``, which fails if there is no vertex to average over. Vertices
    with fewer than two neighbours count as 0; ``Graph(vertices=)`` adds isolated ones. Cost: as
    `vertex_triangles`.

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> df = pd.DataFrame({"src": [0, 1, 2, 2], "dst": [1, 2, 0, 3]})
    >>> round(tc.average_clustering(df), 3), round(tc.average_clustering(df, count_zeros=False), 3)
    (0.583, 0.778)
    """
    by_rank = per_pair(edges, edges.vertex_counts(method))
    if edges.groups is not None:
        numbers = edges.numbers_of(vertices)
        values, groups = by_rank[edges.order.rank[numbers]], edges.groups.group_of[numbers]
        if not count_zeros:
            values, groups = values[values > 0], groups[values > 0]
        return edges.group_frame({"average_clustering": edges.group_means(values, groups)})
    values = edges.at_vertices(by_rank, vertices)
    values = values if count_zeros else values[values > 0]
    return float(values.mean()) if len(values) else nan


@analytic(Work(Needs.TOTAL | Needs.DEGREES, Result.VALUE), fields=("transitivity",))
def transitivity(
    edges: Any,
    *,
    source: Any = None,
    destination: Any = None,
    by: Any = None,
    engine: EngineName | None = None,
    method: str = "auto",
    progress: bool | None = None,
    memory_limit: int | None = None,
) -> Any:
    """Compute the share of wedges (paths of two edges) that are closed: 3 * triangles / wedges.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge.
    source, destination, by, engine, method, progress, memory_limit
        See `count`.

    Returns
    -------
    float or DataFrame
        0.0 for a graph without a wedge. With `by`, one row per group, sorted by group: the columns
        of groups, and ``transitivity``.

    Raises
    ------
    ColumnNotFoundError, IdTypeError, NullIdError, CapacityError, KernelError, ValueError, TypeError
        See `Graph`.

    Notes
    -----
    The global clustering coefficient, as ``networkx.transitivity``. Cost: as `count`.

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> tc.transitivity(pd.DataFrame({"src": [0, 1, 2, 2], "dst": [1, 2, 0, 3]}))
    0.6
    """
    if edges.groups is not None:
        wedges = edges.group_sums(edges.degrees * (edges.degrees - 1) // 2)
        share = 3 * edges.group_counts(method) / edges.backend.xp.maximum(wedges, 1)
        return edges.group_frame({"transitivity": share})
    wedges = edges.wedges
    return 3 * edges.count(method) / wedges if wedges else 0.0


def per_pair(graph: VertexStatistics, sums: Array) -> Array:
    """Divide the sums over the triangles of every rank by the pairs of its neighbours."""
    pairs = graph.degrees * (graph.degrees - 1) // 2
    return sums / graph.backend.xp.maximum(pairs, 1)  # no pair, no triangle


def _weighted(graph: Any, label: Any, aggregate: str | None) -> Products:
    """Sum, over the triangles of each rank, the cube root of the product of scaled weights."""
    grouped = graph.groups is not None
    formula = partial(cube_roots_by_group, graph) if grouped else cube_roots
    reading = Reading(Reduced(aggregate), WeightReader(label=label), formula, scaled=not grouped)
    return Products("weighted", reading)


def cube_roots(arrays: list[Array], largest: float, xp: Any) -> list[Array]:
    """Take the cube root of each weight over the largest."""
    return [xp.cbrt(arrays[0] / (largest or 1.0))]


def cube_roots_by_group(
    graph: InMemoryGraph, arrays: list[Array], largest: float, xp: Any
) -> list[Array]:
    """Take the cube root of each weight over the largest of its group."""
    scale = graph.group_largest(arrays[0])
    return [xp.cbrt(arrays[0] / xp.where(scale > 0, scale, 1.0))]
