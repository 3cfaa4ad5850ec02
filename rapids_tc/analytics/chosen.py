"""Chosen vertices: the graph around them, where all triangles with such a corner are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rapids_tc.blocks.whole_triangles import LISTING, WholeTriangles
from rapids_tc.preparation.csr import pack_keys

if TYPE_CHECKING:
    from rapids_tc.blocks.task_triangles import TaskTriangles
    from rapids_tc.frames.backend import Array
    from rapids_tc.graphs.in_memory import InMemoryGraph
    from rapids_tc.preparation.csr import Csr

OF_SOME = replace(LISTING, around=True)


@dataclass(frozen=True)
class Surroundings:
    """The graph of some chosen vertices and their neighbors, which have ranks of their own.

    The chosen vertices have the lowest ranks: a triangle has one of them if its lowest rank is one.
    In each part, ranks are in the order of the whole graph.

    Attributes
    ----------
    csr : Csr
    number : array of int64
        The number of every rank, as in `Order`.
    chosen : int
        How many vertices are chosen.
    """

    csr: Csr
    number: Array
    chosen: int

    @classmethod
    def of(cls, graph: InMemoryGraph, numbers: Array) -> Surroundings:
        """Cut the surroundings of the vertices of some numbers out of a graph."""
        csr, engine, xp = graph.csr, graph.engine, graph.backend.xp
        chosen, near, place = (xp.zeros(csr.n, dtype) for dtype in (bool, bool, "uint32"))
        chosen[graph.order.rank[numbers]] = True
        rows, columns = csr.rows, csr.columns
        near[rows[chosen[columns]]] = True
        near[columns[chosen[rows]]] = True
        members = xp.concatenate([xp.flatnonzero(chosen), xp.flatnonzero(near & ~chosen)])
        place[members] = xp.arange(len(members), dtype="uint32")
        near |= chosen
        inside = near[rows]
        inside &= near[columns]
        u, v = place[rows[inside]], place[columns[inside]]
        del rows, inside
        keys = pack_keys(xp.maximum(u, v), xp.minimum(u, v), xp)
        del u, v
        around = engine.csr(keys, len(members))
        return cls(around, graph.order.number[members], len(numbers))

    def layout(self, engine: Any) -> tuple[Any, Array]:
        """Lay the graph out; return the triangles with a chosen corner of each in-edge, too.

        These come first among the triangles of an in-edge, since w ascends there. They are all
        triangles but those of the other vertices, whose in-edges are the last ones of the layout:
        these are grouped by middle vertex.
        """
        layout = engine.prepare(self.csr)
        counts = engine.triangles_per_in_edge(layout)
        others = self.csr.select(self.csr.columns >= self.chosen)
        if others.m:
            counts[self.csr.m - others.m :] -= engine.triangles_per_in_edge(engine.prepare(others))
        return layout, counts


class TrianglesAround(WholeTriangles):
    """The triangles of a graph in memory that have a corner among some vertices.

    Parameters
    ----------
    graph : InMemoryGraph
    numbers : array
        The numbers of the vertices.
    """

    work = OF_SOME

    def __init__(self, graph: InMemoryGraph, numbers: Array) -> None:
        super().__init__(graph)
        self._in_memory, self._numbers = graph, numbers

    @cached_property
    def _around(self) -> Surroundings:
        return Surroundings.of(self._in_memory, self._numbers)

    @property
    def number(self) -> Array:
        """See `Triangles`."""
        return self._around.number

    def _count(self) -> TaskTriangles:
        graph = self._graph
        _ = graph.csr  # reports its own stages
        with graph.stage("counting"):
            layout, per_in_edge = self._around.layout(graph.engine)
            return self.of_counts(layout, per_in_edge)
