"""The values by rank that the formulas of columns of vertices ask for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rapids_tc._typing import Array


@dataclass(frozen=True)
class VertexValues:
    """What formulas may ask about the vertices of a graph, by rank: each is computed once."""

    graph: Any
    method: str

    @property
    def xp(self) -> Any:
        """NumPy or CuPy."""
        return self.graph.backend.xp

    @cached_property
    def triangles(self) -> Array:
        """The triangles of every vertex, int64."""
        return self.graph.vertex_counts(self.method)

    @cached_property
    def degrees(self) -> Array:
        """The neighbors of every vertex, int64."""
        return self.graph.degrees

    @cached_property
    def neighbor_degrees(self) -> Array:
        """The sum over the neighbors of every vertex of their degrees less one, int64."""
        return self.graph.neighbor_degrees

    @cached_property
    def tie_squares(self) -> Array:
        """The sum over the neighbors of each vertex of (1 + resource allocation) ** 2, float64."""
        return self.graph.tie_squares

    @cached_property
    def trussness(self) -> Array:
        """The largest trussness of an edge of every vertex, int32; 0 without an edge."""
        return self.graph.vertex_trussness
