"""The most similar vertices of each vertex, by the neighbors that they have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rapids_tc._arguments import check_flag
from rapids_tc._typing import Frame, RankingMeasure, Vertices
from rapids_tc.analytics.analytic import analytic
from rapids_tc.blocks.third_sums import third_values
from rapids_tc.engines.similarity_formulas import Ranking, similarity_of
from rapids_tc.engines.wedge_ends import MOST_DEGREE
from rapids_tc.frames.backend import as_uint32
from rapids_tc.plan import costs, needs
from rapids_tc.plan.record import Needs, OwnOptions, Result, Work, of_one_machine

if TYPE_CHECKING:
    from rapids_tc._typing import Array
    from rapids_tc.blocks.third_sums import ThirdValues
    from rapids_tc.graphs.in_memory import InMemoryGraph

SIMILAR = Work(Needs.SIMILAR_PAIRS, Result.PAIRS)
# By measure: the formula of `engines.similarity_formulas`, and the name of what is summed over the
# common neighbors, if these are not counted.
MEASURES = {
    "jaccard": ("jaccard", ""),
    "cosine": ("cosine", ""),
    "sorensen": ("sorensen", ""),
    "overlap": ("overlap", ""),
    "common_neighbors": ("sum", ""),
    "adamic_adar": ("sum", "adamic_adar"),
    "resource_allocation": ("sum", "resource_allocation"),
}
FEWER = "ask for a lower top=, or for some vertices="
PAIRS = "similarity(edges, pairs=...) is, for pairs that you name"


def _check(own: OwnOptions) -> OwnOptions:
    top, measure, most = own["top"], own["measure"], own["most_degree"]
    if not (needs.is_integer(top) and top >= 1):
        raise ValueError(f"top={top!r}; accepted: an integer from 1 on")
    if not isinstance(measure, str) or measure not in MEASURES:
        raise ValueError(f"measure={measure!r}; accepted: {', '.join(map(repr, MEASURES))}")
    if most is not None and not (needs.is_integer(most) and most >= 1):
        raise ValueError(f"most_degree={most!r}; accepted: an integer from 1 on, or None")
    return {**check_flag(own, "exclude_neighbors"), "top": int(top)}


def _local(own: OwnOptions, kind: str) -> TypeError:
    return of_one_machine("most_similar", kind, "similarity the pairs= that matter")


@dataclass(frozen=True)
class _Candidates:
    """What a measure compares: the values of middles, if they are summed up."""

    formula: str
    third: ThirdValues | None

    @classmethod
    def of(cls, measure: str, degrees: Array, graph: InMemoryGraph) -> _Candidates:
        """Return what a measure compares in a graph."""
        formula, summed = MEASURES[measure]
        return cls(formula, third_values(summed, degrees, graph.backend) if summed else None)

    @property
    def values(self) -> Array | None:
        """The values of middles by rank; none if these are counted."""
        return None if self.third is None else self.third.by_rank

    def column(self, sums: Array, a: Array, b: Array, measure: str, xp: Any) -> Array:
        """Return the column of an answer, from the sums and degrees of pairs."""
        if self.third is not None:
            return self.third.as_floats(sums)
        if measure == "common_neighbors":
            return sums
        return similarity_of(self.formula, sums, a, b, xp)


@analytic(
    SIMILAR,
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
    engine, xp, order = graph.engine, graph.backend.xp, graph.order
    csr, numbers = graph.csr, xp.sort(graph.numbers_of(vertices))
    with graph.stage("comparing vertices") as report:
        degrees = graph.degrees
        compared = _Candidates.of(measure, degrees, graph)
        most = MOST_DEGREE if most_degree is None else min(int(most_degree), MOST_DEGREE)
        ends = engine.prepare_ends(csr, order.rank[numbers], most, compared.values)
        starts = xp.zeros(len(numbers) + 1, "int64")
        xp.cumsum(xp.minimum(ends.work, min(top, max(csr.n - 1, 0))), out=starts[1:])
        room = graph.room(SIMILAR, memory_limit)
        needs.require_pairs(int(starts[-1]), room, FEWER, graph.ids.text)
        ranking = Ranking(compared.formula, as_uint32(order.number), exclude_neighbors)
        best, sums = engine.most_similar(ends, starts, ranking, on_progress=report.on_progress)
        found = xp.flatnonzero(best != costs.NO_RANK)
        of_u = xp.searchsorted(starts, found, side="right") - 1
        best, sums, numbers = best[found], sums[found], numbers[of_u]
        of_pairs = sums, degrees[ends.asked[of_u]], degrees[best], measure
        del found, of_u, ends, starts
        values = compared.column(*of_pairs, xp)
        columns = graph.ids.columns(("u", "v"), (numbers, order.number[best]))
        frame = graph.backend.library.DataFrame({**columns, measure: values})
        return graph.backend.adapter.frame(frame)
