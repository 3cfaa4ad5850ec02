"""What analytics ask of a graph, wherever its edges are.

Analytics of vertices, or of the whole graph, ask a `VertexStatistics`; others ask an `EdgeGraph`.
Each is the same for a graph in memory, for one whose blocks are counted one after another, and for
one on a cluster.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable
from contextlib import nullcontext
from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc._progress import Report, report_stage
from rapids_tc.blocks.block_work import find_rows
from rapids_tc.errors import ColumnNotFoundError
from rapids_tc.frames import written
from rapids_tc.frames.arrays import ArraysAdapter
from rapids_tc.frames.backend import check_engine, sum64
from rapids_tc.graphs.row_values import ValuesByRank, require_rows
from rapids_tc.plan import needs
from rapids_tc.plan.answers import require_fields
from rapids_tc.plan.record import vertex_columns
from rapids_tc.preparation.edge_columns import check_label
from rapids_tc.preparation.given import with_dtypes
from rapids_tc.preparation.named_ids import find_vertices

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from rapids_tc.blocks.geometry import Block
    from rapids_tc.blocks.quantities import Sum, Summed
    from rapids_tc.blocks.task_triangles import Triangles
    from rapids_tc.engines.protocol import Engine
    from rapids_tc.engines.quantity import Quantity
    from rapids_tc.frames.adapters import FrameAdapter
    from rapids_tc.frames.backend import Array, Backend, Frame
    from rapids_tc.plan.record import Analytic, Options, OwnOptions
    from rapids_tc.preparation.csr import Csr
    from rapids_tc.preparation.edge_values import Reading
    from rapids_tc.preparation.ids import Ids
    from rapids_tc.preparation.orient import Order
    from rapids_tc.preparation.time_order import AsOf


ROWS_MEMORY = 1 << 26


class VertexStatistics(ABC):
    """A graph as seen from its vertices: arrays with a value for every rank.

    Attributes
    ----------
    backend : Backend
        Where the arrays are, and how results go home.
    ids : Ids
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
        """Neighbors of every rank, int64."""

    @property
    @abstractmethod
    def neighbor_degrees(self) -> Array:
        """The sum over the neighbors of every rank of their degrees less one, int64."""

    @property
    @abstractmethod
    def tie_squares(self) -> Array:
        """The sum over the neighbors of every rank of (1 + resource allocation) ** 2, float64.

        The resource allocation of an edge is the sum of 1 / degree over its common neighbors.
        """

    @property
    @abstractmethod
    def vertex_trussness(self) -> Array:
        """The largest trussness of an edge of every rank, int32; 0 without an edge."""

    @abstractmethod
    def count(self, method: str) -> int:
        """Count the triangles of the graph."""

    @abstractmethod
    def vertex_counts(self, method: str) -> Array:
        """Count the triangles at every rank, int64."""

    @abstractmethod
    def summed(self, *quantities: Sum) -> list[Summed]:
        """Add up values that are read for the edges.

        All quantities have the same reading. The record of the analytic lists them, too.
        """

    @property
    def n_vertices(self) -> int:
        """Distinct ids, isolated ones included."""
        return self.order.n

    @property
    def some_array(self) -> Array:
        """An array in the memory where the graph is."""
        return self.order.rank

    @property
    def wedges(self) -> int:
        """Paths of two edges."""
        return int((self.degrees * (self.degrees - 1) // 2).sum())

    def vertex_frame(self, columns: dict[str, Array], vertices: Any) -> Frame:
        """Make a frame of values by rank: all vertices by id, or a row for each row asked for.

        The values are taken out of `columns` one by one, since all may be as large as the answer.
        """
        numbers = self.row_numbers(vertices)
        ranks = self.order.rank[numbers]
        values = {name: columns.pop(name)[ranks] for name in [*columns]}
        values = {**self.ids.columns(["vertex"], [numbers]), **values}
        return self.backend.answer(values)

    def mean(self, values: Array) -> Any:
        """Average values of some vertices; NaN if there are none."""
        return float(values.mean()) if len(values) else nan

    def vertex_columns(
        self, names: Sequence[str], method: str, counted: Array | None = None
    ) -> dict[str, Array]:
        """Compute columns by rank; `names` are those of `plan.record.vertex_columns`.

        `counted`, if given, stand for the triangles of every rank.
        """
        values, columns = ValuesByRank(self, method, counted), vertex_columns()
        return {name: columns[name].formula(values) for name in names}

    def adapter_of(self, sources: dict[Any, tuple[Any, ...]]) -> FrameAdapter:
        """Return the adapter of an answer whose columns come from columns of the user's frame."""
        return self.backend.adapter

    def at_vertices(self, by_rank: Array, vertices: Any) -> Array:
        """Select the values by rank of the vertices asked for, each once; None asks for all."""
        if vertices is None:
            return by_rank
        return by_rank[self.order.rank[self.numbers_of(vertices)]]

    def ids_of(self, ranks: Array) -> Any:
        """Look up the user's ids of some ranks; ids of several parts become text."""
        return self.ids.named(self.order.number[ranks])

    def numbers_of(self, vertices: Any) -> Array:
        """Return the numbers of the vertices asked for, each once; None asks for all."""
        numbers = self.row_numbers(vertices)
        if vertices is None:
            return numbers
        return self.backend.array(self.backend.library.Series(numbers).drop_duplicates())

    def row_numbers(self, vertices: Any) -> Array:
        """Return the numbers of the vertices asked for, row by row; None asks for all."""
        if vertices is None:
            return self.backend.xp.flatnonzero(self.order.present)
        return find_vertices(self.ids, vertices, self.order.present)

    # Groups --------------------------------------------------------------------------------------

    @property
    def groups(self) -> Ids | None:
        """The ids, if they have groups."""
        return self.ids if self.ids.groups else None

    def group_frame(self, columns: dict[str, Array]) -> Frame:
        """Make a frame of values by group, sorted by group."""
        assert self.groups is not None
        return self.groups.group_frame(columns, self.backend)

    def group_sums(self, by_rank: Array) -> Array:
        """Add integers by rank up over the vertices of each group, in int64."""
        assert self.groups is not None
        xp, starts = self.backend.xp, self.groups.starts
        sums = xp.zeros(len(by_rank) + 1, "int64")
        xp.cumsum(by_rank[self.order.rank], dtype="int64", out=sums[1:])
        ends = xp.concatenate([starts[1:], xp.asarray([len(by_rank)])])
        return sums[ends] - sums[starts]

    def group_counts(self, method: str) -> Array:
        """Count the triangles of each group."""
        return self.group_sums(self.vertex_counts(method)) // 3

    def group_means(self, values: Array, groups: Array) -> Array:
        """Average values by their groups; NaN for a group without a value.

        On the host, which adds floats up in one order, so that answers do not differ in a bit.
        """
        assert self.groups is not None
        host, size = self.backend.host, len(self.groups.starts)
        sums = np.bincount(host(groups), weights=host(values), minlength=size)
        counts = np.bincount(host(groups), minlength=size)
        with np.errstate(invalid="ignore"):
            return self.backend.xp.asarray(sums / counts)


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
    engine: Engine
    _frame: Frame

    @abstractmethod
    def edge_blocks(self) -> tuple[int, Iterable[tuple[Block, Csr]]]:
        """Return the number of blocks a side, and all blocks; a graph in memory is one."""

    def adapter_of(self, sources: dict[Any, tuple[Any, ...]]) -> FrameAdapter:
        """See `VertexStatistics`: columns of the answer get the dtypes of their sources."""
        return with_dtypes(self.backend.adapter, self._frame, sources)

    @abstractmethod
    def row_columns(self, asked: Sequence[str | Quantity], method: str) -> dict[str, Any]:
        """Compute columns aligned with the user's rows; self loops get 0.

        What is `asked` are names of `rapids_tc.plan.record.row_columns`, or quantities by edge.
        """

    @abstractmethod
    def as_of_columns(self, asked: AsOf) -> dict[str, Any]:
        """Compute columns of rows as of their time, aligned with the user's rows.

        Raises
        ------
        CapacityError
            There are more rows, or more in one window, than may be counted together.
        ColumnNotFoundError, NullIdError, ValueError
            There is no such column of times, or it does not suit what is asked for.
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
    def valued_blocks(self, values: EdgeArrays) -> Iterable[tuple[Block, Csr, Array]]:
        """Yield all blocks, each with the first array that was read for its edges."""

    def values_at(self, values: EdgeArrays, larger: Array, smaller: Array) -> Array:
        """Look values up that were read for edges, by the larger and the smaller rank of each."""
        n, _ = self.edge_blocks()
        found: Any = None
        for at, block, of_edges in self.valued_blocks(values):
            ranks, engine, backend = [larger, smaller], self.engine, self.backend
            rows = find_rows(ranks, block, at, n, engine=engine, backend=backend)
            row, edge = rows.inside
            if found is None:
                found = self.backend.xp.zeros(len(larger), of_edges.dtype)
            found[row] = of_edges[edge]
        return found

    @abstractmethod
    def simple_edges(self) -> Frame:
        """List each edge once as ids, src < dst, sorted."""

    @abstractmethod
    def truss_rows(self, k: int | None) -> Any:
        """Find the first rows of the edges of the k-truss, or of the last truss with an edge."""

    @property
    @abstractmethod
    def listing(self) -> Triangles:
        """The triangles, to be listed."""

    def sample_moments(self, colors: int, seed: int, method: str) -> list[tuple[int, float]]:
        """Count a sample of the edges: `sampling.moments` of each part of the sample."""
        raise NotImplementedError

    def stage(self, name: str) -> AbstractContextManager[Report]:
        """Report a stage, and say how large the graph was if memory runs out."""
        return report_stage(name, self.progress, self._need)

    @abstractmethod
    def _need(self) -> str:
        """Say what to do if memory runs out."""

    def take_rows(self, positions: Any, limit: int | None) -> Frame:
        """Select the user's rows at these positions, as they are, within the limit of the call.

        Raises
        ------
        CapacityError
            The rows take more.
        """
        frame, adapter = self._frame, self.backend.adapter
        if limit is not None:
            memory = self.listing.memory(limit, beside_task=False)
            require_rows(len(positions), frame, adapter, memory)
        return adapter.take(frame, positions)

    def assign(self, columns: dict[str, Any]) -> Frame:
        """Add aligned columns behind those of the user's frame."""
        return self.backend.adapter.assign(self._frame, columns)

    def row_parts(self, asked: Sequence[str | Quantity], method: str) -> Iterator[dict[str, Any]]:
        """Yield `row_columns`, some rows at a time, from the first on."""
        yield self.row_columns(asked, method)

    def as_of_parts(self, asked: AsOf) -> Iterator[dict[str, Any]]:
        """Yield `as_of_columns`, some rows at a time, from the first on."""
        yield self.as_of_columns(asked)

    def write(self, parts: Iterator[dict[str, Any]], out: Any) -> None:
        """Write the user's rows to a folder of Parquet, with columns that come as `row_parts`."""
        rows = written.rows_of(self._frame)
        with self.stage("writing the rows"):
            written.write(rows, parts, out, most=self.rows_memory)

    @property
    def rows_memory(self) -> int:
        """Bytes for the rows that are written at a time."""
        return ROWS_MEMORY

    @property
    def user_frame(self) -> Frame:
        """The user's frame."""
        return self._frame

    @property
    def labels(self) -> list[Any]:
        """The column labels of the user's frame."""
        return self.backend.adapter.labels(self._frame)

    def require_column(self, role: str, label: Any) -> None:
        """Raise an error unless the rows have a column, which the option `role` names."""
        is_label = isinstance(label, Hashable)
        if isinstance(self.backend.adapter, ArraysAdapter) and not (
            is_label and label in self.labels
        ):
            raise (ColumnNotFoundError if is_label else ValueError)(
                f"{role}=: a Graph of arrays has no columns but {', '.join(self.labels)}: give the "
                f"arrays to the function itself, with an array of one value per edge as {role}="
            )
        check_label(role, label, self.labels)

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
    neighbor_degrees, tie_squares, vertex_trussness : array of int64, float64, int32, optional
        See `VertexStatistics`.
    total : int, optional
        Triangles of the graph.
    sums : array of int64, optional
        Triangles at every rank. Without it, only what needs no more than the total is answered.
    squares : array of int64, optional
        Squares at every rank.
    summed : mapping of str to Summed, optional
        The sums that the record of the analytic names.
    tallied : Tally, optional
        The triangles by type, if the record of the analytic asks for a tally.
    """

    def __init__(
        self,
        backend: Backend,
        ids: Ids,
        order: Order,
        *,
        n_edges: int,
        degrees: Array,
        neighbor_degrees: Array | None = None,
        tie_squares: Array | None = None,
        vertex_trussness: Array | None = None,
        total: int | None = None,
        sums: Array | None = None,
        squares: Array | None = None,
        summed: Mapping[str, Summed] | None = None,
        tallied: Any = None,
    ) -> None:
        self.backend, self.ids, self.order = backend, ids, order
        self._summed, self.tallied = summed or {}, tallied
        self._n_edges, self._degrees, self._total, self._sums = n_edges, degrees, total, sums
        self._neighbor_degrees, self._tie_squares = neighbor_degrees, tie_squares
        self._vertex_trussness, self._squares = vertex_trussness, squares

    @property
    def n_edges(self) -> int:
        """Distinct undirected edges without self loops."""
        return self._n_edges

    @property
    def degrees(self) -> Array:
        """Neighbors of every rank, int64."""
        return self._degrees

    @property
    def neighbor_degrees(self) -> Array:
        """The sums, which only some analytics need."""
        return self._neighbor_degrees

    @property
    def tie_squares(self) -> Array:
        """The sums, which only some analytics need."""
        return self._tie_squares

    @property
    def vertex_trussness(self) -> Array:
        """The largest trussness at every rank, which only some analytics need."""
        return self._vertex_trussness

    def count(self, method: str) -> int:
        """Return the total, or add up the sums."""
        return int(self.vertex_counts(method).sum()) // 3 if self._total is None else self._total

    def vertex_counts(self, method: str) -> Array:
        """Return the sums; ValueError if only the total was counted."""
        if self._sums is None:
            raise ValueError("the triangles of this graph were counted, not those of its vertices")
        return self._sums

    def squares(self, per: str) -> tuple[int, Any]:
        """Return the squares of the graph, and those at every rank, which some analytics need."""
        return sum64(self._squares) // 4, self._squares

    def summed(self, *quantities: Sum) -> list[Summed]:
        """Return the sums of these names."""
        return [self._summed[quantity.name] for quantity in quantities]

    def stage(self, name: str) -> AbstractContextManager[None]:
        """Report nothing: the tasks of the call do."""
        return nullcontext()


# What a `Graph` has had chosen --------------------------------------------------------------------


CHOSEN = "a Graph has its columns chosen: give {}= to Graph() instead"
POOLED = (
    "in this Graph, equal ids of both columns are one vertex: give {} the frame itself, or make "
    "Graph(edges, bipartite=True)"
)
IS_GRAPH = "edges is a Graph already: give it to the functions, or its frame to Graph()"


def prepared_in(edges: Any) -> Any:
    """Return what a `Graph` holds, and of a frame None, or whatever it calls by that name."""
    return getattr(edges, "__dict__", {}).get("_prepared")  # pandas takes long to lack a name


def check_prepared(graph: Any, record: Analytic, options: Options, own: OwnOptions) -> None:
    """Raise ValueError if a call's options contradict those that its graph was prepared with.

    `graph` is an `InMemoryGraph` or a `KeptGraph`.
    """
    needs.require_method(options.method, record, graph.backend.engine)
    for option in ("source", "destination", "by"):
        if getattr(options, option) is not None:
            raise ValueError(CHOSEN.format(option))
    require_fields(record, own, graph.id_columns)
    check_engine(options.engine)
    if options.engine not in (None, graph.backend.engine):
        raise ValueError(
            f"this Graph lives on {graph.backend.engine!r}, not on {options.engine!r}: make "
            f"another, Graph(edges, engine={options.engine!r})"
        )


def require_sides(graph: Any, record: Analytic, own: OwnOptions) -> None:
    """Raise ValueError if a call wants two sides of a graph that was prepared without."""
    if record.is_bipartite(own) and not graph.id_columns.bipartite:
        raise ValueError(POOLED.format(record.name))
