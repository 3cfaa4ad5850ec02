"""Graphs of which only the triangles of a kind count."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from rapids_tc.blocks.quantities import of_kind
from rapids_tc.graphs.in_memory import InMemoryGraph

if TYPE_CHECKING:
    from rapids_tc.blocks.quantities import Within
    from rapids_tc.engines.protocol import Kind
    from rapids_tc.frames.backend import Array
    from rapids_tc.preparation.triangle_kinds import Triangles

OF_ALL = ("edge_counts", "trussness", "last_truss", "community_tree")  # made of all triangles


class GraphOfKind(InMemoryGraph):
    """A graph in memory of which only the triangles of a kind count.

    It has all that another graph has, but counts, trusses and communities of its own.
    """

    def __init__(self, graph: InMemoryGraph, where: Triangles) -> None:
        if graph.lasting:
            _ = graph.layout  # which later calls find there
        made = {name: value for name, value in graph.__dict__.items() if name not in OF_ALL}
        self.__dict__.update(made)
        self._asked = of_kind("triangles", where.reading)

    @cached_property
    def _read_kind(self) -> tuple[Within, list[Array]]:
        """The quantity with its reading resolved, and the arrays of all edges."""
        edges = self.edge_values(self._asked.reading)
        return self._asked.resolved(edges.reading), edges.arrays

    @property
    def kind(self) -> Kind:
        """See `InMemoryGraph`."""
        quantity, arrays = self._read_kind
        kind: Kind = quantity.values(arrays, 0)
        return kind

    def _count_edges(self, method: str) -> Array:
        return self._visit(*self._read_kind)

    @cached_property
    def last_truss(self) -> Array:
        """Whether each edge has the largest trussness of all."""
        return self.trussness == self.max_truss


def counting_only(graph: Any, where: Triangles | None) -> Any:
    """Return a graph of which the triangles of a kind count alone; None stands for all."""
    if where is None:
        return graph
    if isinstance(graph, InMemoryGraph):
        return GraphOfKind(graph, where)
    return graph.of_kind(of_kind("triangles", where.reading))
