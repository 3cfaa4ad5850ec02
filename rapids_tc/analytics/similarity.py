"""Similarity: how much the neighborhoods of the two ends of an edge overlap."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rapids_tc._arguments import check_choice
from rapids_tc._typing import (
    Aggregate,
    Array,
    ArrayModule,
    Frame,
    Label,
    Labels,
    Measure,
    Method,
    Series,
)
from rapids_tc.analytics.analytic import analytic, no_column
from rapids_tc.analytics.directions import require_auto
from rapids_tc.analytics.kinds import check_weight
from rapids_tc.analytics.tie_weights import tie_reading
from rapids_tc.blocks.quantities import CommonNeighborSums
from rapids_tc.blocks.ties import WeightedJaccard
from rapids_tc.engines.similarity_formulas import FORMULAS
from rapids_tc.executors.registry import executor_of
from rapids_tc.graphs import distributed_pairs
from rapids_tc.graphs.edge_graph import EdgeGraph
from rapids_tc.graphs.pair_columns import pair_column
from rapids_tc.plan import costs
from rapids_tc.plan.record import (
    Column,
    EdgeValues,
    Needs,
    OwnOptions,
    Result,
    Work,
    of_one_machine,
)

if TYPE_CHECKING:
    from collections.abc import Callable


SUMMED = Work(Needs.EDGE_SUMS, Result.COLUMN, values=costs.EDGE_SUM)


def _column(formula: Callable[[Any, Any, Any, Any], Any]) -> Column:
    """Make a column from a formula of xp, the common neighbors and the degrees of both ends."""

    def of_edges(edges: EdgeValues) -> Array:
        return formula(edges.xp, edges.triangles, *edges.degrees)

    return Column("float64", of_edges, Needs.EDGE_COUNTS | Needs.DEGREES)


def _clustering(xp: ArrayModule, common: Array, a: Array, b: Array) -> Array:
    """Return the share of the triangles that an edge can be in; 0 if it can be in none."""
    fewer = xp.minimum(a, b)
    return common * (fewer > 1) / xp.maximum(fewer - 1, 1)


MEASURES = {
    **{name: _column(FORMULAS[name]) for name in ("jaccard", "overlap", "sorensen")},
    "cosine": _column(lambda xp, common, a, b: common / xp.sqrt(a * b)),
    "adamic_adar": Column.of(CommonNeighborSums("adamic_adar")),
    "resource_allocation": Column.of(CommonNeighborSums("resource_allocation")),
    "forman": _column(lambda xp, common, a, b: (4 - a - b + 3 * common).astype("float64")),
    "edge_clustering": _column(_clustering),
}


def _check_measure(own: OwnOptions) -> OwnOptions:
    own = check_weight(check_choice(own, "measure", MEASURES))
    if own["weight"] is not None and own["measure"] != "jaccard":
        raise ValueError(
            f'measure={own["measure"]!r} takes no weight=: of all measures, "jaccard" alone does'
        )
    if own["weight"] is not None and own["pairs"] is not None:
        raise ValueError(
            "weight= and pairs= are not asked for together: weighted values are of the edges alone"
        )
    return own


def _weighted(own: OwnOptions) -> list[WeightedJaccard]:
    if own["weight"] is None:
        return []
    return [WeightedJaccard("jaccard", tie_reading(own["weight"], own["aggregate"]))]


def _work(own: OwnOptions) -> Work:
    if own["weight"] is not None:
        needs = Needs.WEIGHTS | Needs.EDGE_SUMS | Needs.DEGREES
        return Work(needs, Result.COLUMN, values=costs.TIES // 2)
    if own["pairs"] is not None:
        pairs = own["pairs"]
        number = 0 if executor_of(pairs) or not hasattr(pairs, "__len__") else len(pairs)
        return Work(Needs.DEGREES | Needs.NEIGHBORS, Result.COLUMN, pairs=number)
    needs = MEASURES[own["measure"]].needs
    return SUMMED if needs & Needs.EDGE_SUMS else Work(needs, Result.COLUMN)


def _local(own: OwnOptions, kind: str) -> Exception | None:
    if own["weight"] is not None:
        return of_one_machine("similarity(weight=)", kind, "")
    return no_column(kind, own["measure"]) if own["pairs"] is None else None


@analytic(
    replace(SUMMED, needs=SUMMED.needs | Needs.EDGE_COUNTS | Needs.DEGREES), columns=MEASURES,
    check=_check_measure, work=_work,
    local=_local, sums=_weighted,
)  # fmt: skip
def similarity(
    graph: EdgeGraph,
    *,
    measure: Measure = "jaccard",
    pairs: Frame | None = None,
    weight: Label | None = None,
    aggregate: Aggregate | None = None,
    source: Labels | None = None,
    destination: Labels | None = None,
    method: Method = "auto",
) -> Series | Frame:
    """Compare the neighborhoods of the two ends of each row's edge, or of other pairs.

    With N(u) the set of neighbors of u, to which u itself does not belong:

    ===================== ======================================================
    "jaccard"             ``|N(u) & N(v)| / |N(u) | N(v)|``
    "overlap"             ``|N(u) & N(v)| / min(|N(u)|, |N(v)|)``
    "sorensen"            ``2 |N(u) & N(v)| / (|N(u)| + |N(v)|)``
    "cosine"              ``|N(u) & N(v)| / sqrt(|N(u)| |N(v)|)``
    "adamic_adar"         sum of ``1 / log |N(w)|`` over all w in ``N(u) & N(v)``
    "resource_allocation" sum of ``1 / |N(w)|`` over all w in ``N(u) & N(v)``
    "forman"              ``4 - |N(u)| - |N(v)| + 3 |N(u) & N(v)|``
    "edge_clustering"     ``|N(u) & N(v)| / (min(|N(u)|, |N(v)|) - 1)``, or 0.0 if
                          that minimum is 1
    ===================== ======================================================

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge. All rows of one edge get its value, a self loop gets 0.
    measure : {"jaccard", "overlap", "sorensen", "cosine", "adamic_adar", "resource_allocation", \
"forman", "edge_clustering"}, optional
        One of the measures above.
    pairs : DataFrame or arrays, optional
        Pairs of vertices to compare in place of the edges, joined by an edge or not: arrays, or a
        frame of any accepted library, whose two id columns are found as in `edges`, and named by
        `source` and `destination`, too. If `edges` is a Dask frame, or the `Graph` of one, `pairs`
        may be a frame of this process or a Dask frame.
    weight : label, optional
        A column of weights, not negative, of "jaccard": the lesser weights of both ends to each
        vertex, added up, over the larger ones. Accepts only ``method="auto"``, and no `pairs`.
    aggregate : {"first", "last", "sum", "mean", "min", "max"}, optional
        The weight of an edge that several rows name; by default these rows must agree.

    Returns
    -------
    Series or DataFrame
        Named as the measure, float64, one value per row, with the index of `edges`; with `pairs`,
        in the library of `pairs` and with its index. If `pairs` is a Dask frame, this frame with
        the column behind its own, for Dask aligns a column of its own by a shuffle. A pair of a
        vertex with itself gets 0.

    Raises
    ------
    ColumnNotFoundError
        There is no column `weight`.
    ValueError
        `measure` is not one of these, or takes no weights; weights are unusable, as in
        `clustering`; or a pair has an end that is not in the graph, of which up to
        five are listed. Other errors, of `pairs` as of `edges`: see `Graph`.
    TypeError
        `pairs` is no frame, or a Dask frame and `edges` is not; `edges` is a Dask frame and there
        are no `pairs`: `annotate` adds the column.

    See Also
    --------
    annotate : Several columns from one preparation.

    Notes
    -----
    Neighborhoods are open, as in ``networkx.jaccard_coefficient``: v is in N(u) and not in N(v),
    so an edge of a clique of n vertices has a Jaccard index of (n - 2) / n. Each common neighbor
    is a triangle of the edge, so the cost is as of `edge_triangles`.

    With `pairs`, the same formulas hold for pairs that are no edges, and values without a common
    neighbor are 0, but for "forman". In memory, the rows of all neighbors take 8 bytes per edge,
    and a pair up to 56: `memory_limit` counts them, while `memory_estimate` is of calls without
    `pairs`. In blocks, only the rows of vertices in pairs are made, for as many pairs at a time as
    fit: all blocks are read once for each part. On a cluster it is the same: for each part, blocks
    send the rows of its vertices, 8 bytes a neighbor, to one worker. Each pair costs the length of
    the shorter of its two rows. `pairs` takes neither `by`, nor ids of several columns.

    With `weight`, the index of Ružička, "Anwendung mathematisch-statistischer Methoden in der
    Geobotanik" (1958): a vertex that is no neighbor of an end has the weight 0 to it, so that equal
    weights give the index without weights. 0.0 if all weights are 0. Of a partitioned frame, it is
    refused.

    The terms of "adamic_adar" and "resource_allocation" are rounded to multiples of one power of
    two, so that their sum does not depend on the order of addition: answers have the same bits on
    all engines and paths. The error is below 2^-62 times the largest degree for each term.

    Jaccard, "The distribution of the flora in the alpine zone" (1912). Adamic and Adar, "Friends
    and neighbors on the Web" (2003). Zhou, Lü and Zhang, "Predicting missing links via local
    information" (2009), for resource allocation. Samal et al., "Comparative analysis of two
    discretizations of Ricci curvature for complex networks" (2018), for the augmented curvature of
    Forman. Radicchi et al., "Defining and identifying communities in networks" (2004), for edge
    clustering.

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> df = pd.DataFrame({"src": [0, 1, 2, 2], "dst": [1, 2, 0, 3]})
    >>> df["jaccard"] = tc.similarity(df)
    >>> df["jaccard"].round(3).tolist()
    [0.333, 0.25, 0.25, 0.0]
    >>> tc.similarity(df[["src", "dst"]], pairs=pd.DataFrame({"src": [3], "dst": [0]})).tolist()
    [0.5]
    """
    if pairs is not None and not isinstance(graph, EdgeGraph):  # its edges lie on many machines
        return distributed_pairs.pair_column(graph, measure, pairs, source, destination)
    if pairs is not None:
        return pair_column(graph, measure, MEASURES[measure], pairs, source, destination)
    weighted = _weighted({"weight": weight, "aggregate": aggregate})
    if weighted:
        require_auto(method, "weight=")
    return graph.row_columns(weighted or [measure], method)[measure]
