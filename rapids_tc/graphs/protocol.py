"""What analytics ask of a graph, wherever its edges are.

Analytics of vertices, or of the whole graph, ask a `VertexStatistics`; others ask an `EdgeGraph`.
Each is the same for a graph in memory, for one whose blocks are counted one after another, and for
one on a cluster.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rapids_tc._progress import Report, report_stage
from rapids_tc.preparation.edges import find_vertices

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager

    from rapids_tc.blocks.triangle_sums import Sum, Summed
    from rapids_tc.frames.backend import Array, Backend, Frame
    from rapids_tc.preparation.edge_values import Reading
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
        """Count the triangles of the graph."""

    @abstractmethod
    def vertex_counts(self, method: str) -> Array:
        """Count the triangles at every rank, int64."""

    @abstractmethod
    def summed(self, wanted: Sum) -> Summed:
        """Add up values that are read of the edges; the record of the analytic names all sums."""

    @property
    def n_vertices(self) -> int:
        """Distinct ids, isolated ones included."""
        return self.order.n

    @property
    def wedges(self) -> int:
        """Paths of two edges."""
        return int((self.degrees * (self.degrees - 1) // 2).sum())

    def vertex_frame(self, columns: dict[str, Array], vertices: Any) -> Frame:
        """Make a frame of values by rank: all vertices by id, or those asked for in that order."""
        numbers = self._numbers(vertices)
        ranks = self.order.rank[numbers]
        values = {name: by_rank[ranks] for name, by_rank in columns.items()}
        values = {"vertex": self.ids.take(numbers), **values}
        return self.backend.adapter.frame(self.backend.library.DataFrame(values))

    def at_vertices(self, by_rank: Array, vertices: Any) -> Array:
        """Select the values by rank of the vertices asked for, each once; all if None are."""
        if vertices is None:
            return by_rank
        return by_rank[self.order.rank[self._numbers(vertices)]]

    def ids_of(self, ranks: Array) -> Any:
        """Look up the user's ids of some ranks."""
        return self.ids.take(self.order.number[ranks])

    def _numbers(self, vertices: Any) -> Array:
        if vertices is None:
            return self.backend.xp.flatnonzero(self.order.present)
        return find_vertices(self.ids, vertices, self.order.present)


@dataclass(frozen=True)
class EdgeArrays:
    """Arrays with a value per edge, where a graph keeps them.

    Attributes
    ----------
    reading : Reading
        What was read, with its reader resolved.
    arrays : any
        In memory a list of arrays, aligned with ``csr.columns``; out of core such a list, as the
        block store keeps it, by block; on a cluster, by place of the block, a task that returns it.
    """

    reading: Reading
    arrays: Any


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
    def row_columns(self, names: Sequence[str], method: str) -> dict[str, Any]:
        """Compute columns aligned with the user's rows; self loops get 0.

        `names` are those of `rapids_tc.plan.record.row_columns`.
        """

    @abstractmethod
    def edge_values(self, reading: Reading) -> EdgeArrays:
        """Read values of all edges from the user's rows.

        Raises
        ------
        ColumnNotFoundError
            There is no such column.
        ValueError
            Values are unusable, or rows of one edge disagree.
        """

    @abstractmethod
    def simple_edges(self) -> Frame:
        """List each edge once as ids, src < dst, sorted."""

    @abstractmethod
    def truss_rows(self, k: int | None) -> Any:
        """Find the first rows of the edges of the k-truss, or of the last truss with an edge."""

    def sample_moments(self, colours: int, seed: int, method: str) -> list[tuple[int, float]]:
        """Count a sample of the edges: `sampling.moments` of each part of the sample."""
        raise NotImplementedError

    def stage(self, name: str) -> AbstractContextManager[Report]:
        """Report a stage, and say how large the graph was if memory runs out."""
        return report_stage(name, self.progress, self._need)

    @abstractmethod
    def _need(self) -> str:
        """Say what to do if memory runs out."""

    def take_rows(self, positions: Any) -> Frame:
        """Select the user's rows at these positions, as they are."""
        return self.backend.adapter.take(self._frame, positions)

    def assign(self, columns: dict[str, Any]) -> Frame:
        """Add aligned columns behind those of the user's frame."""
        return self.backend.adapter.assign(self._frame, columns)

    @property
    def labels(self) -> list[Any]:
        """The column labels of the user's frame."""
        return self.backend.adapter.labels(self._frame)

    def column(self, label: Any) -> Any:
        """Read a column of the user's frame into the working library."""
        return self.backend.to_working_series(self.backend.adapter.column(self._frame, label))


class VertexTotals(VertexStatistics):
    """A graph that was counted elsewhere, such as on a cluster, with the sums of the counts.

    Parameters
    ----------
    backend, ids, order
        See `VertexStatistics`.
    n_edges, degrees
        See `VertexStatistics`.
    total : int, optional
        Triangles of the graph.
    sums : array of int64, optional
        Triangles at every rank. Without it, only what needs no more than the total is answered.
    summed : mapping of str to Summed, optional
        The sums that the record of the analytic names.
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
        summed: Mapping[str, Summed] | None = None,
    ) -> None:
        self.backend, self.ids, self.order = backend, ids, order
        self._summed = summed or {}
        self._n_edges, self._degrees, self._total, self._sums = n_edges, degrees, total, sums

    @property
    def n_edges(self) -> int:
        """Distinct undirected edges without self loops."""
        return self._n_edges

    @property
    def degrees(self) -> Array:
        """Neighbours of every rank, int64."""
        return self._degrees

    def count(self, method: str) -> int:
        """Return the total, or add up the sums."""
        return int(self.vertex_counts(method).sum()) // 3 if self._total is None else self._total

    def vertex_counts(self, method: str) -> Array:
        """Return the sums; ValueError if only the total was counted."""
        if self._sums is None:
            raise ValueError("the triangles of this graph were counted, not those of its vertices")
        return self._sums

    def summed(self, wanted: Sum) -> Summed:
        """Return the sum of that name."""
        return self._summed[wanted.name]
