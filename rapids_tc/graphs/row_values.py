"""The values that formulas of columns of rows and of vertices ask for; the bytes of rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rapids_tc.errors import CapacityError
from rapids_tc.plan import costs

if TYPE_CHECKING:
    from rapids_tc._typing import Array
    from rapids_tc.engines.quantity import Quantity
    from rapids_tc.frames.adapters import FrameAdapter
    from rapids_tc.frames.backend import Frame
    from rapids_tc.preparation.community_tree import CommunityTree


@dataclass(frozen=True)
class RowValues:
    """What formulas may ask about the edges of a graph, in the order of ``csr.columns``."""

    graph: Any
    method: str

    @property
    def xp(self) -> Any:
        """NumPy or CuPy."""
        return self.graph.backend.xp

    @property
    def counts(self) -> Array:
        """The triangles of every edge, uint32."""
        return self.graph.count_edges(self.method)

    @cached_property
    def triangles(self) -> Array:
        """The triangles of every edge, int64."""
        return self.counts.astype("int64")

    @cached_property
    def degrees(self) -> tuple[Array, Array]:
        """The degrees of both ends of every edge."""
        csr, degrees = self.graph.csr, self.graph.degrees
        return degrees[csr.rows], degrees[csr.columns]

    @property
    def trussness(self) -> Array:
        """The trussness of every edge."""
        return self.graph.trussness

    def visited(self, quantity: Quantity) -> Array:
        """Return what a quantity makes of the triangles of every edge."""
        return self.graph.visited(quantity)

    @property
    def community(self) -> Array:
        """The community of every edge at its own trussness."""
        tree = self.graph.community_tree
        return numbers(self.graph, tree)[tree.of_edge]

    @property
    def squares(self) -> Array:
        """The squares of every edge, int64."""
        return self.graph.squares("edge")[1]

    @property
    def bitruss(self) -> Array:
        """The bitruss number of every edge, int32."""
        return self.graph.bitruss()


@dataclass(frozen=True)
class ValuesByRank:
    """What formulas may ask about the vertices of a graph, by rank: each is computed once.

    `counted`, if given, are the triangles of every vertex, such as those of a kind.
    """

    graph: Any
    method: str
    counted: Array | None = None

    @property
    def xp(self) -> Any:
        """NumPy or CuPy."""
        return self.graph.backend.xp

    @cached_property
    def triangles(self) -> Array:
        """The triangles of every vertex, int64."""
        return self.graph.vertex_counts(self.method) if self.counted is None else self.counted

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

    @cached_property
    def squares(self) -> Array:
        """The squares of every vertex, int64."""
        return self.graph.squares("vertex")[1]


def require_rows(rows: int, frame: Frame, adapter: FrameAdapter, memory: int) -> None:
    """Raise CapacityError if so many rows of the user's frame, with all columns, exceed memory."""
    need = rows * (adapter.nbytes(frame) // max(adapter.rows(frame), 1) + costs.INDEX)
    if need > memory:
        raise CapacityError(
            f"the {rows:,} rows of the answer take about {need:,} bytes, and {memory:,} are left: "
            "raise the limit, give fewer columns, or a larger k"
        )


def numbers(graph: Any, tree: CommunityTree) -> Array:
    """Return the number that each community has in answers, within its group; behind all, -1."""
    xp = graph.backend.xp
    number = xp.arange(tree.size + 1, dtype="int64")
    if graph.groups is not None:
        group = graph.groups.group_of[tree.smallest]
        number[:-1] -= xp.searchsorted(group, group)
    number[-1] = -1
    return number
