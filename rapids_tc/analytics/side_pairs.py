"""The pairs of one side of a bipartite graph that have neighbors in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rapids_tc.blocks.third_sums import third_values
from rapids_tc.engines.similarity_formulas import similarity_of
from rapids_tc.frames.backend import as_uint32
from rapids_tc.plan.record import Needs, Result, Work

if TYPE_CHECKING:
    from rapids_tc._typing import Array, Frame, Side
    from rapids_tc.engines.wedge_ends import WedgeEnds
    from rapids_tc.graphs.in_memory import InMemoryGraph

PROJECTION = Work(Needs.SIMILAR_PAIRS, Result.PAIRS)
FRACTIONS = ("jaccard", "cosine", "sorensen", "overlap")  # of `engines.similarity_formulas`


@dataclass(frozen=True)
class SidePairs:
    """The pairs of one side of a bipartite graph: counted by vertex, and listed by ranges of these.

    Attributes
    ----------
    graph : InMemoryGraph
    side : {"source", "destination"}
    at_least : int
        How many common neighbors are enough.
    chosen, others : arrays of integers
        The numbers of the vertices of this side, ascending, and of the other side.
    ends : WedgeEnds
        The wedges that begin at each chosen vertex.
    starts : array of int64, shape (chosen + 1,)
        The running sum of the numbers of pairs. A pair belongs to the smaller of its two numbers.
    """

    graph: InMemoryGraph
    side: Side
    at_least: int
    chosen: Array
    others: Array
    ends: WedgeEnds
    starts: Array

    @classmethod
    def counted(cls, graph: InMemoryGraph, side: Side, at_least: int) -> SidePairs:
        """Count the pairs of each vertex of a side."""
        engine, xp, ids, order = graph.engine, graph.backend.xp, graph.ids, graph.order
        numbers = xp.flatnonzero(order.present)
        is_chosen = ids.is_destination(numbers) == (side == "destination")
        chosen, others = numbers[is_chosen], numbers[~is_chosen]
        ends = engine.prepare_ends(graph.csr, order.rank[chosen])
        starts = xp.zeros(len(chosen) + 1, "int64")
        xp.cumsum(engine.count_pairs(ends, as_uint32(order.number), at_least), out=starts[1:])
        return cls(graph, side, at_least, chosen, others, ends, starts)

    @property
    def total(self) -> int:
        """The number of pairs."""
        return int(self.starts[-1])

    @property
    def most(self) -> int:
        """The pairs of the vertex that has most."""
        return int(self.graph.backend.xp.diff(self.starts).max()) if len(self.chosen) else 0

    def memory(self, limit: int | None) -> int:
        """Return the bytes that pairs may take while they are listed."""
        return self.graph.room(PROJECTION, limit)

    def listed(self, first: int, last: int) -> tuple[Array, Array]:
        """List the pairs of some vertices: the ranks of the other ends, and the common neighbors.

        The vertices are from `first` to `last` - 1, by their places in `chosen`.
        """
        pairs = self.ends, as_uint32(self.graph.order.number), self.at_least, self.starts
        ranks, common = self.graph.engine.list_pairs(*pairs, first, last)
        return ranks, common

    def frame(self, first: int, ranks: Array, common: Array, measure: str | None) -> Frame:
        """Make a frame of listed pairs that follow one another, the first of all from `first`."""
        graph, xp = self.graph, self.graph.backend.xp
        places = xp.arange(first, first + len(ranks))
        of_u = xp.searchsorted(self.starts, places, side="right") - 1
        del places
        u = self.chosen[of_u]
        numbers = u, graph.order.number[ranks]
        columns = graph.ids.of_side(self.side).columns(("u", "v"), numbers)
        columns["common"] = common
        if measure == "ratio":
            columns[measure] = common / _sizes(graph, self.others, u)
        elif measure is not None:
            columns[measure] = _values(graph, self.ends, of_u, ranks, common, measure)
        return graph.backend.adapter.frame(graph.backend.library.DataFrame(columns))


def _sizes(graph: InMemoryGraph, others: Array, u: Array) -> Any:
    """Return the vertices of the other side, in the group of each of some numbers."""
    if graph.groups is None:
        return max(len(others), 1)
    group_of = graph.groups.group_of
    sizes = graph.backend.xp.bincount(group_of[others], minlength=len(graph.groups.starts))
    return sizes[group_of[u]]


def _values(
    graph: InMemoryGraph, ends: WedgeEnds, of_u: Array, v: Array, common: Array, measure: str
) -> Array:
    """Return the values of a measure for pairs of ranks."""
    rows, u, xp = ends.rows, ends.asked[of_u], graph.backend.xp
    degrees = xp.diff(rows.offsets)
    if measure in FRACTIONS:
        return similarity_of(measure, common, degrees[u], degrees[v], xp)
    third = third_values(measure, degrees, graph.backend)
    return third.as_floats(graph.engine.common_sums(rows, u, v, third.by_rank))
