"""Projections of bipartite frames: the pairs of one side with enough neighbors in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rapids_tc._typing import Frame, ProjectionMeasure, Side
from rapids_tc.analytics.analytic import analytic
from rapids_tc.blocks.third_sums import third_values
from rapids_tc.engines.likeness import MOST, likeness
from rapids_tc.frames.backend import as_uint32
from rapids_tc.plan import needs
from rapids_tc.plan.record import Needs, OwnOptions, Result, Work, of_one_machine

if TYPE_CHECKING:
    from rapids_tc._typing import Array
    from rapids_tc.graphs.in_memory import InMemoryGraph

PROJECTION = Work(Needs.LIKENESS, Result.PAIRS)
SIDES = ("source", "destination")
FRACTIONS = ("jaccard", "cosine", "sorensen", "overlap")  # of `engines.likeness`
SUMS = ("adamic_adar", "resource_allocation", "newman")  # of `blocks.third_sums`
MEASURES = (*FRACTIONS, *SUMS, "ratio")
ROWS = "the rows that matter, such as those of one group"


def _check(own: OwnOptions) -> OwnOptions:
    side, at_least, measure = own["side"], own["at_least"], own["measure"]
    if not isinstance(side, str) or side not in SIDES:
        raise ValueError(f"side={side!r}; accepted: 'source', 'destination'")
    if not (needs.is_integer(at_least) and at_least >= 1):
        raise ValueError(f"at_least={at_least!r}; accepted: an integer from 1 on")
    if measure is not None and (not isinstance(measure, str) or measure not in MEASURES):
        accepted = ", ".join(map(repr, MEASURES))
        raise ValueError(f"measure={measure!r}; accepted: {accepted}, or None")
    return {**own, "at_least": min(int(at_least), MOST + 1)}


@analytic(
    PROJECTION,
    fields=lambda own: ("common", *([own["measure"]] if own["measure"] else ())),
    check=_check,
    in_memory=lambda own: f"give {ROWS}",
    local=lambda own, kind: of_one_machine("project", kind, ROWS),
    bipartite=True,
)
def project(
    graph: InMemoryGraph,
    *,
    side: Side = "source",
    at_least: int = 1,
    measure: ProjectionMeasure | None = None,
    memory_limit: int | None = None,
) -> Frame:
    """List the pairs of one side of a bipartite frame that have neighbors in common.

    The ids of the two columns never meet: user 5 is not item 5.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge, from a vertex of one side to one of the other; of graphs, one made by
        ``Graph(edges, bipartite=True)``. The edges are compared in memory.
    side : {"source", "destination"}, optional
        The column whose vertices make the pairs.
    at_least : int, optional
        The least number of common neighbors of a pair, from 1 on. Other pairs are never made.
    measure : {"jaccard", "cosine", "sorensen", "overlap", "adamic_adar", "resource_allocation", \
"newman", "ratio"}, optional
        A further column. See `most_similar` for the first six. "newman" is the sum of
        ``1 / (|N(w)| - 1)`` over the common neighbors w, "ratio" the share of the other side's
        vertices that are common neighbors.

    Returns
    -------
    DataFrame
        ========= ======= ===========================================
        u         as ids  the smaller id of the pair by value
        v         as ids  the larger one
        common    int64   their common neighbors
        `measure` float64 if it is asked for
        ========= ======= ===========================================

        Sorted by u and v.

    Raises
    ------
    ValueError
        An option is none of these; or `edges` is a `Graph` that is not bipartite.
    CapacityError
        There are more pairs than the 2**31 - 1 rows of a frame, or than memory holds. They are
        counted before anything is allocated for them. Other errors: see `Graph`.

    See Also
    --------
    most_similar : The best pairs of each vertex.

    Notes
    -----
    Cost: twice a step for each path of two edges between vertices of the side; a sum over common
    neighbors takes one more walk of the shorter row of each pair. Sums are of integers, as in
    `similarity`. "newman" is ``networkx.bipartite.collaboration_weighted_projected_graph``: Newman,
    "Scientific collaboration networks. II", Phys. Rev. E 64, 016132 (2001). "ratio" is
    ``networkx.bipartite.weighted_projected_graph(ratio=True)``.

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> df = pd.DataFrame({"user": [1, 1, 2, 2, 3], "item": [1, 2, 1, 2, 2]})
    >>> tc.project(df, source="user", destination="item", measure="newman")
       u  v  common  newman
    0  1  2       2     1.5
    1  1  3       1     0.5
    2  2  3       1     0.5
    """
    engine, xp, ids, order = graph.engine, graph.backend.xp, graph.ids, graph.order
    csr, numbers = graph.csr, xp.flatnonzero(graph.order.present)
    with graph.stage("comparing vertices"):
        is_chosen = ids.is_destination(numbers) == (side == "destination")
        chosen, others = numbers[is_chosen], numbers[~is_chosen]
        rows, asked = engine.neighbors(csr), order.rank[chosen]
        work = engine.wedge_counts(rows, asked, MOST)
        query = rows, asked, work, as_uint32(order.number), at_least
        starts = xp.zeros(len(asked) + 1, "int64")
        xp.cumsum(engine.common_pairs(*query), out=starts[1:])
        size, memory = int(starts[-1]), graph.spare(PROJECTION, memory_limit)
        memory = engine.memory() if memory is None else memory
        needs.require_pairs(size, memory, "ask for at_least= more", ids.text)
        ranks, common = engine.common_pairs(*query, starts)
        of_u = xp.searchsorted(starts, xp.arange(size), side="right") - 1
        u = chosen[of_u]
        columns = ids.of_side(side).columns(("u", "v"), (u, order.number[ranks]))
        columns["common"] = common
        if measure == "ratio":
            columns[measure] = common / _sizes(graph, others, u)
        elif measure is not None:
            columns[measure] = _values(graph, rows, asked[of_u], ranks, common, measure)
        return graph.backend.adapter.frame(graph.backend.library.DataFrame(columns))


def _sizes(graph: InMemoryGraph, others: Array, u: Array) -> Any:
    """Return the vertices of the other side, in the group of each of some numbers."""
    if graph.groups is None:
        return max(len(others), 1)
    group_of = graph.groups.group_of
    sizes = graph.backend.xp.bincount(group_of[others], minlength=len(graph.groups.starts))
    return sizes[group_of[u]]


def _values(
    graph: InMemoryGraph, rows: Any, u: Array, v: Array, common: Array, measure: str
) -> Array:
    """Return the values of a measure for pairs of ranks."""
    xp = graph.backend.xp
    degrees = xp.diff(rows.offsets)
    if measure in FRACTIONS:
        return likeness(measure, common, degrees[u], degrees[v], xp)
    third = third_values(measure, degrees, graph.backend)
    return third.as_floats(graph.engine.common_sums(rows, u, v, third.by_rank))
