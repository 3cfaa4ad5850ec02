"""The most similar vertices of each vertex, by the neighbors that they have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rapids_tc._arguments import check_choice, check_flag, check_integer
from rapids_tc._typing import Frame, RankingMeasure, Vertices
from rapids_tc.analytics.analytic import analytic
from rapids_tc.analytics.pair_frames import (
    FRACTIONS,
    SIMILAR_PAIRS,
    SUMS,
    PairMeasure,
    owners,
    pair_frame,
    require_pairs,
    running_sum,
)
from rapids_tc.engines.similarity_formulas import Ranking
from rapids_tc.engines.wedge_ends import MOST_DEGREE
from rapids_tc.frames.backend import as_uint32
from rapids_tc.plan import costs
from rapids_tc.plan.record import OwnOptions, of_one_machine

if TYPE_CHECKING:
    from rapids_tc.graphs.in_memory import InMemoryGraph

MEASURES = (*FRACTIONS, "common_neighbors", *SUMS)
FEWER = "ask for a lower top=, or for some vertices="
PAIRS = "similarity(edges, pairs=...) is, for pairs that you name"


def _check(own: OwnOptions) -> OwnOptions:
    own = check_integer(check_choice(own, "measure", MEASURES), "top", 1)
    own = check_integer(own, "most_degree", 1, optional=True)
    return check_flag(own, "exclude_neighbors")


def _local(own: OwnOptions, kind: str) -> TypeError:
    return of_one_machine("most_similar", kind, "similarity the pairs= that matter")


@analytic(
    SIMILAR_PAIRS,
    fields=lambda own: (own["measure"],),
    check=_check,
    in_memory=lambda own: PAIRS,
    local=_local,
)
def most_similar(
    graph: InMemoryGraph,
    top: int = 10,
    *,
    measure: RankingMeasure = "jaccard",
    most_degree: int | None = None,
    exclude_neighbors: bool = False,
    vertices: Vertices | None = None,
    memory_limit: int | None = None,
) -> Frame:
    """Find, for each vertex, the vertices whose neighborhoods are most like its own.

    With N(u) the set of neighbors of u, to which u itself does not belong:

    ===================== ======================================================
    "jaccard"             ``|N(u) & N(v)| / |N(u) | N(v)|``
    "cosine"              ``|N(u) & N(v)| / sqrt(|N(u)| |N(v)|)``
    "sorensen"            ``2 |N(u) & N(v)| / (|N(u)| + |N(v)|)``
    "overlap"             ``|N(u) & N(v)| / min(|N(u)|, |N(v)|)``
    "common_neighbors"    ``|N(u) & N(v)|``
    "adamic_adar"         sum of ``1 / log |N(w)|`` over all w in ``N(u) & N(v)``
    "resource_allocation" sum of ``1 / |N(w)|`` over all w in ``N(u) & N(v)``
    ===================== ======================================================

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge. The edges are compared in memory.
    top : int, optional
        The most rows of each vertex, from 1 on.
    measure : {"jaccard", "cosine", "sorensen", "overlap", "common_neighbors", "adamic_adar", \
"resource_allocation"}, optional
        One of the measures above.
    most_degree : int, optional
        Leave common neighbors that have more neighbors out of the sums: a hub says little, and
        costs most. The degrees in a formula stay as they are.
    exclude_neighbors : bool, optional
        Leave the neighbors of a vertex out: what remains may be edges to come.
    vertices : list, array, Series, Index or DataFrame, optional
        Find only those that are similar to these vertices; by default to all. A frame if ids are
        made of several columns; with `by`, in every group that has them.

    Returns
    -------
    DataFrame
        ========= ======= ===============================================
        u         as ids  the vertex
        v         as ids  another one, with a neighbor in common
        `measure` float64 named as the measure; of common neighbors int64
        ========= ======= ===============================================

        Sorted by u, then from the most similar v on; of equal values, by v. A vertex that has no
        neighbor in common with another one has no row.

    Raises
    ------
    ValueError
        An option is none of these, or some of `vertices` are not in the graph.
    CapacityError
        There may be more rows than the 2**31 - 1 of a frame, or than memory holds. They are counted
        before anything is allocated for them. Other errors: see `Graph`.

    See Also
    --------
    similarity : The same measures for edges, and for pairs that you name.

    Notes
    -----
    Values are those of `similarity`, but that "cosine" may differ in the last bit: it divides
    before it takes the root, so that equal fractions are equal floats. Sums are of integers, as
    there: answers have the same bits on both engines.

    Cost: a step for each path of two edges at each of its two ends, that is the sum over all
    vertices of d (d - 1), if d is the degree, which `most_degree` bounds. Memory: 12 bytes per
    edge, and on a CPU 12 bytes per vertex and thread.

    Paths of a vertex are added up in a table by their other ends, as in Gustavson, "Two fast
    algorithms for sparse matrices", ACM TOMS 4 (1978). For the measures see `similarity`.

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> df = pd.DataFrame({"src": [0, 0, 1, 1, 2], "dst": [3, 4, 3, 4, 4]})
    >>> tc.most_similar(df, 1)
       u  v   jaccard
    0  0  1  1.000000
    1  1  0  1.000000
    2  2  0  0.500000
    3  3  4  0.666667
    4  4  3  0.666667
    """
    backend, order, csr = graph.backend, graph.order, graph.csr
    numbers = backend.xp.sort(graph.numbers_of(vertices))
    with graph.stage("comparing vertices") as report:
        rows = graph.engine.neighbors(csr)
        compared = PairMeasure.of(measure, rows, backend)
        most = MOST_DEGREE if most_degree is None else min(most_degree, MOST_DEGREE)
        ends = graph.engine.prepare_ends(rows, order.rank[numbers], most, compared.values)
        starts = running_sum(backend.xp.minimum(ends.work, min(top, max(csr.n - 1, 0))), backend)
        require_pairs(graph, int(starts[-1]), memory_limit, FEWER)
        ranking = Ranking(compared.formula, as_uint32(order.number), exclude_neighbors)
        on_progress = report.on_progress
        best, sums = graph.engine.most_similar(ends, starts, ranking, on_progress=on_progress)
        found = backend.xp.flatnonzero(best != costs.NO_RANK)
        of_u = owners(starts, found, backend)
        u, v, values = ends.asked[of_u], best[found], sums[found]
        pairs = numbers[of_u], order.number[v]
        del found, of_u, rows, ends, starts, best, sums
        if measure != "common_neighbors":
            values = compared.of_pairs(u, v, values, backend)
        return pair_frame(backend, graph.ids, pairs, {measure: values})
