"""A graph in memory, which computes each step from numbers to counts at its first use."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rapids_tc._progress import report_stage
from rapids_tc.blocks import geometry
from rapids_tc.blocks.quantities import CommonNeighborSums, EdgeSum, Summed, TieSum
from rapids_tc.blocks.third_sums import third_values
from rapids_tc.blocks.ties import WeightedJaccard, WholeSteps
from rapids_tc.engines import protocol, registry
from rapids_tc.engines.cpu import small
from rapids_tc.engines.last_truss import last_truss
from rapids_tc.frames.backend import Array, Backend, Frame, as_uint32, gather, sum64
from rapids_tc.graphs.as_of import as_of_columns
from rapids_tc.graphs.communities import hierarchy
from rapids_tc.graphs.edge_graph import EdgeArrays, EdgeGraph
from rapids_tc.graphs.row_values import RowValues
from rapids_tc.graphs.whole_triangles import WHOLE, WholeTriangles
from rapids_tc.plan import needs
from rapids_tc.plan.record import Needs, Result, Work, columns_of, row_columns
from rapids_tc.preparation import orient, sampling
from rapids_tc.preparation.edge_values import EdgeError, EdgeRows
from rapids_tc.preparation.ids import largest_by_group
from rapids_tc.preparation.numbering import InspectedColumns, NumberedEdges, number_edges
from rapids_tc.preparation.triangles import sorted_edges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rapids_tc.blocks.quantities import Sum
    from rapids_tc.engines.protocol import Engine, Kind
    from rapids_tc.engines.quantity import Quantity
    from rapids_tc.plan.needs import Stage
    from rapids_tc.preparation.community_tree import CommunityTree
    from rapids_tc.preparation.csr import Csr
    from rapids_tc.preparation.edge_columns import EdgeColumns
    from rapids_tc.preparation.edge_values import Reading, Rule
    from rapids_tc.preparation.orient import Order
    from rapids_tc.preparation.time_order import AsOf

PEELED = Work(Needs.BITRUSS, Result.VALUE)  # the peel is the last stage of this work
SAMPLED = Work(Needs.VERTEX_COUNTS, Result.VALUE)  # the counts of the edges of a sample


@dataclass(frozen=True)
class Unlaid:
    """A graph without a layout."""

    csr: Csr


class InMemoryGraph(EdgeGraph):
    """A graph in memory. Ids are numbered at once; all else is computed at its first use.

    Parameters
    ----------
    frame : DataFrame
        The user's frame.
    backend : Backend
    progress : bool or None
    edges : NumberedEdges
        The rows of the frame, or only the sampled edges in the graph of a sample.
    limit : int, optional
        Bytes that may be taken by the call that makes the graph.
    numbers_rows : bool
        Whether the edges of rows are found while keys are sorted: see `needs.numbers_rows`.
    """

    def __init__(
        self, frame: Frame, backend: Backend, progress: bool | None, edges: NumberedEdges,
        limit: int | None = None, *, numbers_rows: bool = False,
    ) -> None:  # fmt: skip
        self._numbers_rows = numbers_rows
        self._frame, self.backend, self.progress = frame, backend, progress
        self._edges, self.ids, self._limit = edges, edges.ids, limit
        self.lasting = False  # whether the user keeps this graph
        self.id_columns: Any = None  # of a graph that was read from a frame

    @cached_property
    def engine(self) -> Engine:  # type: ignore[override]
        """The engine, which small graphs do without if only their triangles are counted."""
        return registry.load(self.backend.engine)

    @cached_property
    def order(self) -> Order:  # type: ignore[override]
        """The maps from numbers to ranks and back."""
        with self.stage("ordering by degree"):
            return self._order_by_degree()[0]

    def _order_by_degree(self) -> tuple[Order, Any]:
        """Return the order, and the numbers of both ends of every row as the engine read them."""
        ends, size = self._edges.ends, self._edges.ids.size
        copied = orient.own_ends(ends, self.backend)
        degree, n = self.engine.degrees(*ends, size, copied)
        ends = ends if copied is None else copied
        return orient.degree_order(degree, n, self.backend), ends

    @cached_property
    def csr(self) -> Csr:
        """The oriented graph."""
        ends = self._ranked_ends()
        with self.stage("orienting and sorting"):
            keys = orient.orient(ends, self.order.rank, self.backend)
            del ends  # frees the copy that an engine may have made
            if not self._numbers_rows:
                return self.engine.csr(keys, self.order.n)
            csr, found = self.engine.csr_of_rows(keys, self.order.n)
            if found is not None:
                self._found_edges = found[: self._edges.rows]  # without those of vertices
            return csr

    def _ranked_ends(self) -> Any:
        """Make the order, if need be; return the numbers of both ends of every row."""
        ends = self._edges.ends
        if "order" not in self.__dict__:
            with self.stage("ordering by degree"):
                self.order, ends = self._order_by_degree()
        return ends

    def _count_small(self) -> int | None:
        """Count a small graph from its keys, without a CSR; None if it has one, or is larger."""
        if "csr" in self.__dict__:
            return None
        size = self._edges.ids.size
        # That of a CPU needs no engine to be loaded.
        make = small.graph if self.backend.engine == "cpu" else self.engine.small_graph
        graph = make(*self._edges.ends, size)
        if graph is None:
            return None
        with self.stage("ordering by degree"):
            order = orient.degree_order(graph.degrees(), size, self.backend)
        with self.stage("orienting and sorting"):
            keys = orient.orient(graph.ends, order.rank, self.backend)
        with self.stage("counting"):
            return graph.count(keys)

    def keep(self, labels: EdgeColumns) -> None:
        """Build the CSR, and copy what the graph shares with the frame, which may change later."""
        _ = self.csr
        self.copy_rows(labels)

    def copy_rows(self, labels: EdgeColumns) -> None:
        """Copy what the graph shares with the frame, and keep the labels of its id columns."""
        src, dst = self._edges.src.copy(), self._edges.dst.copy()
        self._edges = replace(self._edges, src=src, dst=dst)
        self._frame = self.backend.adapter.snapshot(self._frame)
        self.lasting, self._limit, self.id_columns = True, None, labels.without_values()

    @property
    def n_groups(self) -> int:
        """The number of groups; 0 if there are no columns of groups."""
        return 0 if self.groups is None else len(self.groups.starts)

    @property
    def n_edges(self) -> int:
        """The number of distinct undirected edges without self loops."""
        return self.csr.m

    @cached_property
    def layout(self) -> Any:
        """The engine's own layout of the CSR, which counts need."""
        csr = self.csr  # reports its own stages
        with self.stage("laying out"):
            return self.engine.prepare(csr)

    @cached_property
    def degrees(self) -> Array:
        """The number of neighbors of every rank, int64."""
        csr = self.csr
        return self.backend.xp.diff(csr.offsets) + protocol.column_counts(self.engine, csr, csr.n)

    @property
    def neighbor_degrees(self) -> Array:
        """See `VertexStatistics`."""
        ends = self.degrees, self.degrees
        by_row, by_column = geometry.neighbor_degrees(self.csr, (0, 0), *ends, self.engine)
        return by_row + by_column

    @property
    def tie_squares(self) -> Array:
        """See `VertexStatistics`."""
        csr, resources = self.csr, self.visited(CommonNeighborSums("resource_allocation"))
        by_row, by_column = geometry.tie_squares(csr, csr.n, resources, self.backend.xp)
        return by_row + by_column

    @property
    def vertex_trussness(self) -> Array:
        """See `VertexStatistics`."""
        csr, xp = self.csr, self.backend.xp
        return xp.maximum(*geometry.largest_at_ends(csr, csr.n, self.trussness, xp))

    def edge_blocks(self) -> tuple[int, Any]:
        """See `EdgeGraph`."""
        return 1, [((0, 0), self.csr)]

    def valued_blocks(self, values: EdgeArrays) -> Any:
        """See `EdgeGraph`."""
        return [((0, 0), self.csr, values.arrays[0])]

    @cached_property
    def edge_counts(self) -> Array:
        """Triangles of every oriented edge, uint32, aligned with ``csr.columns``."""
        return self._count_edges("auto")

    def count_edges(self, method: str) -> Array:
        """Count the triangles of every oriented edge; the counts of "auto" are kept."""
        return self.edge_counts if method == "auto" else self._count_edges(method)

    def _count_edges(self, method: str) -> Array:
        layout = self._layout_for(method)
        with self.stage("counting") as report:
            return self.engine.edge_counts(layout, method=method, on_progress=report.on_progress)

    def _layout_for(self, method: str, *, sides: bool = True) -> Any:
        """Return what is counted from: a small graph on a GPU needs no layout."""
        laid_out = "layout" in self.__dict__
        bare = None if laid_out else self.engine.bare(self.csr, method, sides=sides)
        return bare or self.layout

    def visited(self, quantity: Quantity) -> Array:
        """Return what a quantity makes of the triangles of every oriented edge."""
        if quantity.takes != "corners":
            edges = self.edge_values(quantity.reading, keep=True)  # `edge_columns` comes next
            if isinstance(quantity, WeightedJaccard):
                return quantity.by_edge(WholeSteps(self, self._visit), edges.arrays[0])
            return self._visit(quantity.resolved(edges.reading), edges.arrays)
        layout = self.layout
        with self.stage("summing over triangles") as report:
            values = third_values(quantity.name, self.degrees, self.backend)
            report_to = report.on_progress
            sums = self.engine.visit(layout, quantity, values.by_rank, on_progress=report_to)
            return values.as_floats(sums)

    def vertex_counts(self, method: str) -> Array:
        """Count the triangles at every rank, int64: half the sum over the edges around it."""
        counts = self.count_edges(method)
        with self.stage("summing by vertex"):
            by_row, by_column = self.engine.sum_counts(self.csr, counts)
            return (by_row + by_column) // 2

    def count(self, method: str) -> int:
        """Count the triangles of the graph."""
        if method == "auto" and "edge_counts" in self.__dict__:
            return sum64(self.edge_counts) // 3
        if method == "auto" and (total := self._count_small()) is not None:
            return total
        layout = self._layout_for(method, sides=False)
        with self.stage("counting") as report:
            return self.engine.count(layout, method=method, on_progress=report.on_progress)

    @cached_property
    def wedge_layout(self) -> Any:
        """The engine's own layout of the wedges, which squares are counted from."""
        csr = self.csr  # reports its own stages
        with self.stage("laying out wedges"):
            return self.engine.prepare_wedges(csr)

    @cached_property
    def neighbors(self) -> Csr:
        """The neighbors of every rank, of lower ranks and of higher ones."""
        return self.engine.neighbors(self.csr)

    def squares(self, per: str) -> tuple[int, Any]:
        """Count the squares of the graph, and per "vertex", by rank, or "edge": int64."""
        layout = self.wedge_layout
        if not self.lasting:
            del self.wedge_layout  # what is asked next needs none
        with self.stage("counting") as report:
            return self.engine.squares(layout, per=per, on_progress=report.on_progress)

    def bitruss(self, limit: int | None = None) -> Array:
        """Find the bitruss number of every oriented edge, int32, by an index of all wedges.

        The index may take what the other arrays of a limit leave, or what is free.
        """
        if "bitruss_numbers" not in self.__dict__:
            free, spare = self.engine.free(), self.spare(PEELED, limit or self._limit)
            layout, (_, squares) = self.wedge_layout, self.squares("edge")
            memory = free if spare is None else min(free, spare)
            with self.stage("peeling") as report:
                self.bitruss_numbers: Array = self.engine.bitruss(
                    layout, squares, memory, on_progress=report.on_progress
                )
        return self.bitruss_numbers

    @property
    def kind(self) -> Kind | None:
        """Which triangles count in trusses and communities; None stands for all."""
        return None

    @cached_property
    def trussness(self) -> Array:
        """The trussness of every oriented edge, int32, aligned with ``csr.columns``."""
        return self.peel(None)

    def peel(self, k: int | None) -> Array:
        """Compute the trussness of every edge; given `k`, only find which edges reach k."""
        counts = self.edge_counts
        layout = self._layout_for("auto")  # of which a peel needs the graph alone
        if "_found_edges" in self.__dict__:  # which take what the layout gives back
            self.__dict__.pop("layout", None)
            layout = Unlaid(layout.csr)
        with self.stage("peeling") as report:
            told = report.on_progress
            return self.engine.truss(layout, counts, k=k, kind=self.kind, on_progress=told)

    @cached_property
    def last_truss(self) -> Array:
        """Whether each edge has the largest trussness of all, which is looked for from the top."""
        csr, counts, xp = self.csr, self.edge_counts, self.backend.xp
        with self.stage("peeling") as report:
            return last_truss(self.engine, csr, counts, xp, report.on_progress)

    def stages(self, work: Work, method: str) -> list[Stage]:
        """List the memory of the stages that a call still needs, on top of what the graph holds."""
        has, text = set(self.__dict__), needs.Text(self.ids.text)
        stages = needs.remaining(work, *self.dimensions, method, has, text)
        return [stage for stage in stages if stage.name != "layout" or not self._bare(work, method)]

    def _bare(self, work: Work, method: str) -> bool:
        """Return whether a call counts from the CSR alone, as a small graph on a GPU is."""
        if "csr" not in self.__dict__ or work.needs & Needs.LAID_OUT:
            return False
        return self.engine.bare(self.csr, method, sides=work.by_edge) is not None

    def spare(self, work: Work, limit: int | None) -> int | None:
        """Subtract the bytes of a call's last stage from a limit; return None without a limit.

        On a user's `Graph`, the stage counts only what the call adds to the graph.
        """
        if limit is None:
            return None
        stages = self.stages(work, "auto") if self.lasting else needs.stages(work, *self.dimensions)
        return limit - stages[-1].bytes

    def room(self, work: Work, limit: int | None) -> int:
        """Return the bytes that the answer of a call may take: free ones that a limit leaves."""
        memory: int = self.engine.memory()
        spare = self.spare(work, limit)
        return memory if spare is None else min(memory, spare)

    def _need(self) -> str:
        return needs.describe(*self.dimensions)

    @property
    def dimensions(self) -> tuple[int, int, bool, str]:
        """The number of rows and of distinct ids, whether ids are dense, and the engine."""
        edges = self._edges
        return len(edges.src), edges.ids.size, edges.ids.dense, self.backend.engine

    def row_edges(self, *, keep: bool = False) -> Array:
        """Find the position in ``csr.columns`` of each row's edge; -1 for a self loop.

        Positions are int64, or int32 if they were found while keys were sorted. With `keep` the
        next call gets the same array, unless users keep the graph.
        """
        found = self._kept_edges()
        if found is None:
            found = self.engine.find_edges(self.csr, *self.ends, self.order.rank)
        if keep and not self.lasting:
            self._found_edges = found
        return found

    def _kept_edges(self) -> Array | None:
        """Return what an earlier call of `row_edges` has kept for this one, if any."""
        found: Array | None = self.__dict__.pop("_found_edges", None)
        return found

    def edge_values(self, reading: Reading, *, keep: bool = False) -> EdgeArrays:
        """See `EdgeGraph`: the arrays are aligned with ``csr.columns``; `keep`: see `row_edges`."""
        _ = self.csr  # reports its own stages
        with self.stage("reading the values"):
            return EdgeArrays(*self._read(reading, keep=keep))

    def _read(self, reading: Reading, *, keep: bool) -> tuple[Reading, list[Array]]:
        """Read values of all edges; return the resolved reading, and its arrays."""
        xp = self.backend.xp
        if reading.names_vertices:
            reading = reading.of_graph(self.ids, self.order)
        if not reading.of_rows:
            return reading.told(), reading.with_ends([], self.csr.rows, self.csr.columns, xp)
        groups, columns = None, []
        for reader in reading.readers:
            self.require_column(reader.role, reader.label)
            columns.append(self.column(reader.label))
        if self.groups is not None and reading.by_group:
            groups = self.groups.group_of[self.ends[0]]
        reading = reading.whole(columns, self.backend, groups).told()
        values = reading.read(columns, self.backend, groups)
        del columns, groups
        rows = self._edge_rows(values, reading.rule, keep=keep)
        del values
        try:
            arrays = reading.collect([rows], self.csr.m, self.backend)
        except EdgeError as error:
            raise self._name_edge(error) from None
        largest = self._largest(reading, arrays) if reading.scaled else 0.0
        arrays = reading.formula(arrays, largest, xp)
        if reading.names_vertices:
            arrays = reading.with_ends(arrays, self.csr.rows, self.csr.columns, xp)
        return reading, arrays

    def _largest(self, reading: Reading, arrays: list[Array]) -> Any:
        """Return the largest value of the graph, or of the group of each edge."""
        if self.groups is None:
            return reading.largest(arrays)
        group, size = self.edge_groups(), len(self.groups.starts)
        return reading.largest_by_group(arrays, group, size, self.backend.xp)[group]

    def _edge_rows(self, values: tuple[Array, ...], rule: Rule, *, keep: bool) -> EdgeRows:
        """Find the edges of all rows, and leave out self loops that a rule does not take.

        `keep`: see `row_edges`.
        """
        edge = self.row_edges(keep=keep).astype("int64", copy=False)
        reverse = self._are_reverse() if rule.directed else None
        rows = EdgeRows(edge, reverse, values)
        if not rule.takes_loops:
            rows = rows.without_loops()
        return rows.both_ways(self.backend)

    def _are_reverse(self) -> Array:
        """Return whether the source of each row has the smaller rank."""
        rank = self.order.rank

        def is_reverse(*ends: Array) -> Array:
            source, destination = (gather(rank, end) for end in ends)
            return source < destination

        return orient.in_batches(is_reverse, self.ends, "bool", self.backend)

    def _name_edge(self, error: EdgeError) -> ValueError:
        """Return the error with the ids of its edge."""
        csr, position = self.csr, self.backend.xp.asarray([error.position])
        larger = self.backend.xp.searchsorted(csr.offsets, position, side="right") - 1
        return error.with_ids(*(self.ids_of(r).iloc[0] for r in (larger, csr.columns[position])))

    def summed(self, *quantities: Sum) -> list[Summed]:
        """See `VertexStatistics`."""
        memory = self.engine.memory()
        limited = [quantity.limited(memory) for quantity in quantities]
        edges = self.edge_values(limited[0].reading)
        return [self._sum(each.resolved(edges.reading), edges.arrays) for each in limited]

    def _sum(self, quantity: Sum, arrays: list[Array]) -> Summed:
        csr, engine = self.csr, self.engine
        if isinstance(quantity, EdgeSum):
            zeros = quantity.zeros(csr.n, self.backend.xp)
            total = quantity.add_block(zeros, engine, csr, arrays, 1, (0, 0))
            return Summed(total, quantity.reading)
        if isinstance(quantity, TieSum):
            steps = WholeSteps(self, self._visit)
            return Summed(quantity.by_rank(steps, arrays[0]), quantity.reading)
        sums = self._visit(quantity, arrays)
        if quantity.per == "edge":  # a triangle is counted at two edges of each of its corners
            by_row, by_column = engine.sum_counts(csr, sums)
            sums = (by_row + by_column) // 2
        return Summed(sums, quantity.reading)

    def _visit(self, quantity: Quantity, arrays: list[Array]) -> Array:
        """Combine what a quantity makes of all triangles, from the arrays of its reading."""
        csr, engine = self.csr, self.engine
        values: Any = tuple(quantity.values(arrays, side) for side in range(3))
        if quantity.as_blocks:
            layout = engine.prepare_blocks(engine.to_csc(csr), csr, csr, WHOLE)
        else:
            layout, values = self.layout, values[0]
        with self.stage("summing over triangles") as report:
            sums = engine.visit(layout, quantity, values, on_progress=report.on_progress)
            return quantity.of_edges(sums)

    @property
    def ends(self) -> tuple[Array, Array]:
        """The numbers of both ends of each of the user's rows."""
        src, dst = (end[: self._edges.rows] for end in self._edges.ends)
        return src, dst

    def edge_groups(self) -> Array:
        """Return the group of every oriented edge."""
        assert self.groups is not None
        return self.groups.group_of[self.order.number][self.csr.rows]

    @property
    def listing(self) -> WholeTriangles:
        """See `EdgeGraph`."""
        return WholeTriangles(self)

    def group_largest(self, values: Array) -> Array:
        """Return, for every oriented edge, the largest value of an edge in its group."""
        return largest_by_group(values, self.edge_groups(), self.backend)

    def edge_columns(self, columns: dict[str, Array], *, by_arc: bool = False) -> dict[str, Any]:
        """Align values of edges, or of arcs, with the user's rows; self loops get 0."""
        with self.stage("looking rows up"):
            known, of_rows = row_columns(), []
            for name, values in columns.items():
                column = known.get(name)
                absent, dtype = (column.absent, column.dtype) if column else (0, values.dtype)
                of_rows.append(protocol.RowColumn(values, absent, dtype))
            found, column_like = self._kept_edges(), self.backend.adapter.column_like
            if by_arc:
                found = self.row_edges() if found is None else found
                found = found.astype("int64", copy=False) + self.csr.m * self._are_reverse()
            if found is None:
                asked = self.csr, *self.ends, self.order.rank, of_rows
                made = self.engine.row_values(*asked)
            else:
                made = protocol.take_columns(self.engine, found, of_rows)
            del found, of_rows
            taken = dict(zip(columns, made, strict=True))
            # One by one, since on a GPU each is copied into the user's memory.
            del made
            return {name: column_like(self._frame, taken.pop(name), name) for name in [*taken]}

    def row_columns(self, asked: Sequence[str | Quantity], method: str) -> dict[str, Any]:
        """Compute columns aligned with the user's rows; self loops get 0."""
        values, columns = RowValues(self, method), columns_of(asked)
        made = {name: columns[name].formula(values) for name in columns}
        return self.edge_columns(made, by_arc=any(column.by_arc for column in columns.values()))

    def as_of_columns(self, asked: AsOf) -> dict[str, Any]:
        """See `EdgeGraph`."""
        return as_of_columns(self, self.ends, asked)

    def truss_rows(self, k: int | None) -> Array:
        """Find the first row of each edge of the k-truss; None is the largest k with an edge."""
        present = self.truss_edges(k)
        with self.stage("looking rows up"):
            return self.first_rows(self.row_edges(), present)

    def truss_edges(self, k: int | None) -> Array:
        """Return whether each edge is in the k-truss; None is the largest k with an edge."""
        if k is not None:
            return (self.trussness if "trussness" in self.__dict__ else self.peel(k)) >= k
        if self.groups is not None:
            return self.trussness == self.group_largest(self.trussness)
        return self.trussness == self.max_truss if "trussness" in self.__dict__ else self.last_truss

    def first_rows(self, where: Array, present: Array) -> Array:
        """Find the first row of each present edge; `where` is the edge of each row, or -1."""
        positions = self.backend.xp.flatnonzero(self.engine.take(present, where))
        return positions[geometry.is_first(where[positions], self.backend)]

    @cached_property
    def community_tree(self) -> CommunityTree:
        """The communities of every k that triangles join."""
        return hierarchy(self, "triangles")

    @property
    def max_truss(self) -> int:
        """The largest k whose truss has an edge; 2 if the graph has none."""
        return int(self.trussness.max()) if self.n_edges else 2  # CuPy's max has no initial=

    def simple_edges(self) -> Frame:
        """List each edge once as ids, src < dst, sorted."""
        csr = self.csr  # reports its own stages
        with self.stage("sorting the edges"):
            number = as_uint32(self.order.number)
            made = sorted_edges(number[csr.rows], number[csr.columns], self.ids)
            return self.backend.adapter.frame(made)

    def sample_moments(self, colors: int, seed: int, method: str) -> list[tuple[int, float]]:
        """Count a sample of the edges, whose real size is checked against the limit."""
        with self.stage("sampling the edges"):
            edges = sampling.one_colored(self._edges, colors=colors, seed=seed)
        sample = InMemoryGraph(self._frame, self.backend, self.progress, edges)
        needs.require(needs.stages(SAMPLED, *sample.dimensions), self._limit)
        counts = sample.count_edges(method)
        if self.groups is None:
            return [sampling.moments(counts)]
        host, groups = self.backend.host, sample.edge_groups()
        return sampling.moments_by(host(counts), host(groups), len(self.groups.starts))

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        state.pop("layout", None)  # cheap to compute again
        state.pop("wedge_layout", None)
        state.pop("neighbors", None)
        state.pop("engine", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


def read(
    frame: Frame,
    labels: EdgeColumns,
    backend: Backend,
    progress: bool | None,
    *,
    vertices: Any = None,
    inspected: InspectedColumns | None = None,
    limit: int | None = None,
    numbers_rows: bool = False,
) -> InMemoryGraph:
    """Read the graph of a frame: number its ids.

    `inspected` holds the id columns, if they have been inspected already. For `numbers_rows` see
    `InMemoryGraph`.
    """

    def need() -> str:
        rows = backend.adapter.rows(frame)  # as if there were as many ids as rows
        return needs.describe(rows, rows, False, backend.engine)

    with report_stage("numbering the ids", progress, need):
        edges = number_edges(frame, labels, backend, vertices=vertices, inspected=inspected)
    graph = InMemoryGraph(frame, backend, progress, edges, limit, numbers_rows=numbers_rows)
    graph.id_columns = labels
    return graph
