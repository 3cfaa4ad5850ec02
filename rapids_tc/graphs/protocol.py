"""What is known of a graph vertex by vertex, wherever its edges are.

Functions that answer for vertices, or for the whole graph, ask nothing else of it: they are the
same for a `Graph`, for one whose blocks are counted one after another, and for a cluster's sums.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from rapids_tc._progress import Report, reported
from rapids_tc.frames.backend import Array, Backend, Frame, check_engine
from rapids_tc.plan import needs
from rapids_tc.preparation.edges import find_vertices
from rapids_tc.preparation.numbering import Ids
from rapids_tc.preparation.orient import Order


class VertexStatistics(ABC):
    """A graph as seen from its vertices: arrays with a value for every rank.

    Attributes
    ----------
    backend : Backend
        Where the arrays are, and how results go home.
    ids : DenseIds or IndexedIds
        From numbers to the user's ids.
    order : Order
        From numbers to ranks and back.
    """

    backend: Backend
    ids: Ids
    order: Order

    @property
    @abstractmethod
    def n_edges(self) -> int:
        """Distinct undirected edges without self loops."""

    @property
    @abstractmethod
    def degrees(self) -> Array:
        """Neighbours of every rank, int64."""

    @abstractmethod
    def count(self, method: str) -> int:
        """Triangles of the graph."""

    @abstractmethod
    def vertex_counts(self, method: str) -> Array:
        """Triangles at every rank, int64."""

    def stages(self, function: str, method: str = "auto") -> list[needs.Stage]:
        """The memory that a function still needs, on top of what the graph holds."""
        return []

    @property
    def n_vertices(self) -> int:
        """Distinct ids, isolated ones included."""
        return self.order.n

    @property
    def wedges(self) -> int:
        """Paths of two edges."""
        return int((self.degrees * (self.degrees - 1) // 2).sum())

    def vertex_frame(self, columns: dict[str, Array], vertices: Any) -> Frame:
        """A frame of values by rank: all vertices by id, or those asked for in that order."""
        numbers = self._numbers(vertices)
        ranks = self.order.rank[numbers]
        values = {name: by_rank[ranks] for name, by_rank in columns.items()}
        values = {"vertex": self.ids.take(numbers), **values}
        return self.backend.adapter.frame(self.backend.library.DataFrame(values))

    def at_vertices(self, by_rank: Array, vertices: Any) -> Array:
        """The values by rank of the vertices asked for, each once; of all without."""
        if vertices is None:
            return by_rank
        return by_rank[self.order.rank[self._numbers(vertices)]]

    def ids_of(self, ranks: Array) -> Any:
        """The user's ids of some ranks."""
        return self.ids.take(self.order.number[ranks])

    def _numbers(self, vertices: Any) -> Array:
        if vertices is None:
            return self.backend.xp.flatnonzero(self.order.present)
        return find_vertices(self.ids, vertices, self.order.present)


Formula = Callable[[Any, Array, Callable[[], tuple[Array, Array]]], Array]


class EdgeGraph(VertexStatistics):
    """A graph over an edge frame, whose triangles are counted when they are asked for.

    Attributes
    ----------
    progress : bool or None
        Whether progress is shown.
    """

    progress: bool | None
    _frame: Frame

    @abstractmethod
    def row_columns(self, formulas: dict[str, Formula], method: str) -> dict[str, Any]:
        """Columns aligned with the user's rows: of the triangles of each row's edge; loops get 0.

        A formula is given xp, the triangles of some edges (int64), and a function that returns the
        degrees of their two ends.
        """

    @abstractmethod
    def simple_edges(self) -> Frame:
        """Each edge once as ids, src < dst, sorted."""

    @abstractmethod
    def truss_rows(self, k: int | None) -> Array:
        """Where the first rows of the edges of the k-truss are; of the last that has any."""

    def stage(self, name: str) -> AbstractContextManager[Report]:
        """Report a stage, and say how large the graph was where memory ran out."""
        return reported(name, self.progress, self._need)

    @abstractmethod
    def _need(self) -> str:
        """What to say where memory runs out."""

    def take_rows(self, positions: Array) -> Frame:
        """The user's rows at these positions, as they are."""
        return self.backend.adapter.take(self._frame, positions)

    def assign(self, columns: dict[str, Any]) -> Frame:
        """The user's frame with aligned columns behind its own."""
        return self.backend.adapter.assign(self._frame, columns)

    @property
    def labels(self) -> list[Any]:
        """The column labels of the user's frame."""
        return self.backend.adapter.labels(self._frame)

    def column(self, label: Any) -> Any:
        """A column of the user's frame, in the working library."""
        return self.backend.to_working_series(self.backend.adapter.column(self._frame, label))


class VertexTotals(VertexStatistics):
    """A graph that was counted elsewhere, such as on a cluster: its sums are given.

    Parameters
    ----------
    backend, ids, order
        See `VertexStatistics`.
    n_edges, degrees
        See there, too.
    total : int, optional
        Triangles of the graph.
    sums : array of int64, optional
        Triangles at every rank. Without it, only what needs no more than the total is answered.
    """

    def __init__(
        self,
        backend: Backend,
        ids: Ids,
        order: Order,
        *,
        n_edges: int,
        degrees: Array,
        total: int | None = None,
        sums: Array | None = None,
    ) -> None:
        self.backend, self.ids, self.order = backend, ids, order
        self._n_edges, self._degrees, self._total, self._sums = n_edges, degrees, total, sums

    @property
    def n_edges(self) -> int:
        return self._n_edges

    @property
    def degrees(self) -> Array:
        return self._degrees

    def count(self, method: str) -> int:
        return int(self.vertex_counts(method).sum()) // 3 if self._total is None else self._total

    def vertex_counts(self, method: str) -> Array:
        if self._sums is None:
            raise ValueError("the triangles of this graph were counted, not those of its vertices")
        return self._sums


def check_prepared(
    edges: VertexStatistics, where: tuple[Any, Any, Any], function: str, method: str
) -> VertexStatistics:
    """The graph that is given, if it can be asked so."""
    source, destination, engine = where
    needs.require_method(method, function, edges.backend.engine)
    if source is not None or destination is not None:
        raise ValueError("a Graph has its columns chosen: give source= to Graph() instead")
    check_engine(engine)
    if engine not in (None, edges.backend.engine):
        raise ValueError(
            f"this Graph lives on {edges.backend.engine!r}, not on {engine!r}: make another, "
            f"Graph(edges, engine={engine!r})"
        )
    return edges
