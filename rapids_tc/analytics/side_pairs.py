"""The pairs of one side of a bipartite graph that have neighbors in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rapids_tc.analytics.pair_frames import PairMeasure, owners, pair_frame, running_sum
from rapids_tc.frames.backend import as_uint32

if TYPE_CHECKING:
    from rapids_tc._typing import Array, Frame, Side
    from rapids_tc.engines.wedge_ends import WedgeEnds
    from rapids_tc.graphs.in_memory import InMemoryGraph


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
        ends = engine.prepare_ends(engine.neighbors(graph.csr), order.rank[chosen])
        counts = engine.count_pairs(ends, as_uint32(order.number), at_least)
        starts = running_sum(counts, graph.backend)
        return cls(graph, side, at_least, chosen, others, ends, starts)

    @property
    def total(self) -> int:
        """The number of pairs."""
        return int(self.starts[-1])

    @property
    def most(self) -> int:
        """The pairs of the vertex that has most."""
        return int(self.graph.backend.xp.diff(self.starts).max()) if len(self.chosen) else 0

    def listed(self, first: int, last: int) -> tuple[Array, Array]:
        """List the pairs of some vertices: the ranks of the other ends, and the common neighbors.

        The vertices are from `first` to `last` - 1, by their places in `chosen`.
        """
        pairs = self.ends, as_uint32(self.graph.order.number), self.at_least, self.starts
        ranks, common = self.graph.engine.list_pairs(*pairs, first, last)
        return ranks, common

    def frame(self, first: int, ranks: Array, common: Array, measure: str | None) -> Frame:
        """Make a frame of listed pairs that follow one another, the first of all from `first`."""
        graph, backend, columns = self.graph, self.graph.backend, {"common": common}
        of_u = owners(self.starts, backend.xp.arange(first, first + len(ranks)), backend)
        u = self.chosen[of_u]
        if measure == "ratio":
            columns[measure] = common / _sizes(graph, self.others, u)
        elif measure is not None:
            columns[measure] = self._values(self.ends.asked[of_u], ranks, common, measure)
        adapter = graph.adapter_of(graph.id_columns.in_answers(self.side))
        ids, ends = graph.ids.of_side(self.side), (u, graph.order.number[ranks])
        return pair_frame(backend.with_adapter(adapter), ids, ends, columns)

    def _values(self, u: Array, v: Array, common: Array, name: str) -> Array:
        """Measure pairs of ranks, of which the common neighbors are known."""
        graph, rows = self.graph, self.ends.rows
        measure = PairMeasure.of(name, rows, graph.backend)
        if measure.values is not None:
            common = graph.engine.common_sums(rows, u, v, measure.values)
        return measure.of_pairs(u, v, common, graph.backend)


def _sizes(graph: InMemoryGraph, others: Array, u: Array) -> Any:
    """Return the vertices of the other side, in the group of each of some numbers."""
    if graph.groups is None:
        return max(len(others), 1)
    group_of = graph.groups.group_of
    sizes = graph.backend.xp.bincount(group_of[others], minlength=len(graph.groups.starts))
    return sizes[group_of[u]]
