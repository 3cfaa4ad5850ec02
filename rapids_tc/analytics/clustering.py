"""Clustering: how often two neighbours of a vertex are neighbours themselves."""

from __future__ import annotations

from math import inf, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc._typing import EngineName
from rapids_tc.analytics.analytic import analytic
from rapids_tc.frames.backend import Array, sum64
from rapids_tc.plan.record import Needs, OwnOptions, Result, Work
from rapids_tc.preparation.edges import check_label

if TYPE_CHECKING:
    from rapids_tc.graphs.in_memory import InMemoryGraph
    from rapids_tc.graphs.protocol import VertexStatistics


def _clustering_work(own: OwnOptions) -> Work:
    weighted = Needs.WEIGHTS if own["weight"] is not None else Needs.NOTHING
    return Work(Needs.VERTEX_COUNTS | weighted, Result.VERTICES)


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
    work=_clustering_work,
    in_memory=_weights_in_memory,
    local=_weights_local,
)
def clustering(
    edges: Any,
    *,
    vertices: Any = None,
    weight: Any = None,
    source: Any = None,
    destination: Any = None,
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
        A column of weights, not negative; without it every edge counts alike. If rows repeat an
        edge, the last of them gives its weight.
    source, destination, engine, method, progress, memory_limit
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
        A weight is missing, negative or infinite, or `weight` is not a column of numbers; some of
        `vertices` are not in the graph. Other errors: see `Graph`.

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
        sums = _weighted_sums(edges, weight)
    else:
        raise ValueError(f'method={method!r}: with weight= only method="auto" works')
    return edges.vertex_frame({"clustering": per_pair(edges, sums)}, vertices)


def _check_zeros(own: OwnOptions) -> OwnOptions:
    if not isinstance(own["count_zeros"], bool | np.bool_):
        raise ValueError(f"count_zeros={own['count_zeros']!r}; accepted: True, False")
    return own


@analytic(Work(Needs.VERTEX_COUNTS, Result.VALUE), check=_check_zeros)
def average_clustering(
    edges: Any,
    *,
    vertices: Any = None,
    count_zeros: bool = True,
    source: Any = None,
    destination: Any = None,
    engine: EngineName | None = None,
    method: str = "auto",
    progress: bool | None = None,
    memory_limit: int | None = None,
) -> float:
    """Average the clustering over the vertices.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge.
    vertices : list, array, Series or Index, optional
        The vertices to average over, each once; by default all.
    count_zeros : bool, optional
        Whether to include vertices with a clustering of 0.
    source, destination, engine, method, progress, memory_limit
        See `count`.

    Returns
    -------
    float
        NaN if there is no vertex to average over.

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
    values = edges.at_vertices(per_pair(edges, edges.vertex_counts(method)), vertices)
    values = values if count_zeros else values[values > 0]
    return float(values.mean()) if len(values) else nan


@analytic(Work(Needs.TOTAL | Needs.DEGREES, Result.VALUE))
def transitivity(
    edges: Any,
    *,
    source: Any = None,
    destination: Any = None,
    engine: EngineName | None = None,
    method: str = "auto",
    progress: bool | None = None,
    memory_limit: int | None = None,
) -> float:
    """Compute the share of wedges (paths of two edges) that are closed: 3 * triangles / wedges.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge.
    source, destination, engine, method, progress, memory_limit
        See `count`.

    Returns
    -------
    float
        0.0 for a graph without a wedge.

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
    wedges = edges.wedges
    return 3 * edges.count(method) / wedges if wedges else 0.0


def per_pair(graph: VertexStatistics, sums: Array) -> Array:
    """Divide the sums over the triangles of every rank by the pairs of its neighbours."""
    pairs = graph.degrees * (graph.degrees - 1) // 2
    return sums / graph.backend.xp.maximum(pairs, 1)  # no pair, no triangle


def _weighted_sums(graph: InMemoryGraph, label: Any) -> Array:
    """Sum, over the triangles of each rank, the cube root of the product of scaled weights."""
    _ = graph.csr  # reports its own stages
    with graph.stage("looking rows up"):
        weights = _edge_weights(graph, _row_weights(graph, label))
    largest = float(weights.max()) if len(weights) else 0.0
    sides, layout = graph.backend.xp.cbrt(weights / (largest or 1.0)), graph.layout
    with graph.stage("summing over triangles") as report:
        return graph.engine.vertex_sums(layout, sides, on_progress=report.on_progress)


def _edge_weights(graph: InMemoryGraph, by_row: Array) -> Array:
    """Select the weight of every oriented edge from the last row of the edge."""
    backend = graph.backend
    last = backend.library.Series(graph.row_edges()).drop_duplicates(keep="last")
    edge, row = backend.array(last), backend.array(last.index)
    weights = backend.xp.zeros(graph.n_edges, "float64")
    weights[edge[edge >= 0]] = by_row[row[edge >= 0]]
    return weights


def _row_weights(graph: InMemoryGraph, label: Any) -> Array:
    """Read the column of weights as float64; ValueError if a weight is unusable."""
    check_label("weight", label, graph.labels)
    column = graph.column(label)
    if len(column) and column.dtype.kind not in "iuf":
        raise ValueError(f"weight={label!r} has dtype {column.dtype}; accepted: integers, floats")
    values = graph.backend.array(column.astype("float64").fillna(-1.0))
    bad = ~((values >= 0) & (values < inf))  # NaN compares as false
    if unusable := sum64(bad):
        first = int(bad.argmax())
        raise ValueError(
            f"weight={label!r}: {unusable:,} of the weights are missing, negative or infinite, "
            f"the first in row {first}; drop those rows or fill them first"
        )
    return values
