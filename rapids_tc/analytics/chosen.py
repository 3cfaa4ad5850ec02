"""Chosen vertices: the graph around them, where all triangles with such a corner are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rapids_tc.blocks import geometry
from rapids_tc.errors import CapacityError
from rapids_tc.graphs.out_of_core import StoredTriangles
from rapids_tc.graphs.whole_triangles import LISTING, WholeTriangles
from rapids_tc.plan import needs
from rapids_tc.preparation.csr import pack_keys
from rapids_tc.preparation.triangles import ordered_corners

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from rapids_tc.blocks.task_triangles import TaskTriangles
    from rapids_tc.frames.backend import Array
    from rapids_tc.graphs.edge_graph import EdgeGraph
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
    def of(
        cls, graph: EdgeGraph, numbers: Array, check: Callable[[int, int], None]
    ) -> Surroundings:
        """Cut the surroundings of the vertices of some numbers out of a graph.

        `check` gets the edges of the surroundings that are collected so far, and the vertices.
        """
        engine, xp, vertices = graph.engine, graph.backend.xp, graph.n_vertices
        chosen, near, place = (xp.zeros(vertices, dtype) for dtype in (bool, bool, "uint32"))
        chosen[graph.order.rank[numbers]] = True
        for rows, columns in _ends(graph):
            near[rows[chosen[columns]]] = True
            near[columns[chosen[rows]]] = True
        members = xp.concatenate([xp.flatnonzero(chosen), xp.flatnonzero(near & ~chosen)])
        place[members] = xp.arange(len(members), dtype="uint32")
        near |= chosen
        parts, edges = [], 0
        for rows, columns in _ends(graph):
            inside = near[rows]
            inside &= near[columns]
            u, v = place[rows[inside]], place[columns[inside]]
            del rows, columns, inside
            edges += len(u)
            check(edges, len(members))
            parts.append(pack_keys(xp.maximum(u, v), xp.minimum(u, v), xp))
            del u, v
        keys = parts.pop() if len(parts) == 1 else xp.concatenate(parts)
        parts.clear()
        around = engine.csr(keys, len(members))
        return cls(around, graph.order.number[members], len(numbers))

    def layout(self, engine: Any) -> tuple[Any, Array]:
        """Lay the graph out; return the triangles with a chosen corner of each in-edge, too.

        These come first among the triangles of an in-edge, since w ascends there. They are all
        triangles but those of the other vertices, whose in-edges are the last ones of the layout:
        these are grouped by pivot vertex.
        """
        layout = engine.prepare(self.csr)
        counts = engine.triangles_per_in_edge(layout)
        others = self.csr.select(self.csr.columns >= self.chosen)
        if others.m:
            counts[self.csr.m - others.m :] -= engine.triangles_per_in_edge(engine.prepare(others))
        return layout, counts


def _ends(graph: EdgeGraph) -> Iterator[tuple[Array, Array]]:
    """Yield the larger and the smaller rank of every edge, block by block."""
    n, blocks = graph.edge_blocks()
    for at, block in blocks:
        yield (block.rows, block.columns) if n == 1 else geometry.block_ends(block, n, at)


class TrianglesAround(WholeTriangles):
    """The triangles of a graph that have a corner among some vertices.

    Only the surroundings of these are held, and counted in memory, if the graph is in blocks, too.

    Parameters
    ----------
    graph : EdgeGraph
    numbers : array
        The numbers of the vertices.
    """

    work = OF_SOME

    def __init__(self, graph: Any, numbers: Array) -> None:
        super().__init__(graph)
        self._numbers = numbers
        self._stored = graph.listing if isinstance(graph.listing, StoredTriangles) else None

    @cached_property
    def _around(self) -> Surroundings:
        return Surroundings.of(self._graph, self._numbers, self._check)

    def _check(self, edges: int, vertices: int) -> None:
        """Raise CapacityError if surroundings do not fit beside the blocks of a graph."""
        if self._stored is None:
            return
        memory = self._stored.memory(None, beside_task=True)
        size = edges, vertices, True
        stages = needs.stages(OF_SOME, *size, self._graph.backend.engine)
        if (need := max(stage.bytes for stage in stages)) > memory:
            raise CapacityError(
                f"the surroundings of vertices= have {edges:,} edges or more, which take about "
                f"{need:,} bytes, and {memory:,} may be taken: raise the limit, give fewer "
                "vertices, or list all triangles, without vertices="
            )

    def placed(self) -> AbstractContextManager[None]:
        """See `Triangles`."""
        return super().placed() if self._stored is None else self._stored.placed()

    def memory(self, limit: int | None, *, beside_task: bool) -> int:
        """See `Triangles`: beside the surroundings, if these are of a graph in blocks."""
        if self._stored is None:
            return super().memory(limit, beside_task=beside_task)
        return self._stored.memory(limit, beside_task=True)

    @property
    def number(self) -> Array:
        """See `Triangles`."""
        return self._around.number

    def sides(self, ranks: Array, triangles: TaskTriangles) -> list[Array]:
        """See `Triangles`: ranks of the surroundings become those of the graph in memory."""
        graph: Any = self._graph
        of_graph = ordered_corners(graph.order.rank[self.number[ranks]], graph.backend.xp)
        w, v, u = (corner.astype("uint32") for corner in of_graph)
        return [graph.engine.find_edges(graph.csr, *ends) for ends in ((u, v), (u, w), (v, w))]

    def _count(self) -> TaskTriangles:
        graph: Any = self._graph
        _ = graph.n_edges  # reports its own stages
        with graph.stage("counting"):
            layout, per_in_edge = self._around.layout(graph.engine)
            return self.of_counts(layout, per_in_edge)
