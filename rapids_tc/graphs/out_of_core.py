"""A graph larger than the memory it may take: its blocks are counted one task after another.

The frame is read in chunks of rows: degrees first, then the keys of as many blocks at a time as
fit. A block is sorted once and stored outside: in pinned memory beside a GPU, in a temporary file
beside the CPU engine. Tasks follow one another; on a GPU the blocks of the next task are copied
while one counts (the streaming of TriCore: Hu, Liu, Huang, SC 2018).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rapids_tc._progress import at_end
from rapids_tc.blocks import geometry, stored_levels, stored_sample, stored_values, truss
from rapids_tc.blocks.store import Found, StoredBlocks, cut
from rapids_tc.blocks.stored_triangles import StoredTriangles
from rapids_tc.blocks.third_sums import ThirdValues, third_values
from rapids_tc.blocks.time_sums import spans_of
from rapids_tc.engines import registry
from rapids_tc.frames.backend import Array, Backend, Frame, as_uint32, sum64
from rapids_tc.graphs.protocol import EdgeArrays, EdgeGraph
from rapids_tc.plan.record import Needs, row_columns
from rapids_tc.preparation import orient
from rapids_tc.preparation.edges import edge_keys, named_edges
from rapids_tc.preparation.orient import Order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rapids_tc.blocks.geometry import Block
    from rapids_tc.blocks.grid import Task
    from rapids_tc.blocks.rows import Rows
    from rapids_tc.blocks.triangle_sums import Sum, Summed
    from rapids_tc.plan.budget import Budget
    from rapids_tc.preparation.csr import Csr
    from rapids_tc.preparation.edge_values import Reading


class OutOfCoreGraph(EdgeGraph):
    """A graph in blocks outside of memory, made for one call.

    Parameters
    ----------
    frame, rows, backend
        The user's frame, its rows as numbers, and where work is done.
    budget : Budget
    progress : bool or None
        Whether progress is shown.

    Attributes
    ----------
    blocks : StoredBlocks
    """

    def __init__(
        self, frame: Frame, rows: Rows, backend: Backend, budget: Budget, *, progress: bool | None
    ) -> None:
        self._frame, self.rows, self.backend, self.progress = frame, rows, backend, progress
        self.engine = registry.load(backend.engine)
        store = self.engine.block_store()
        at_end(store.close)
        with self.stage("numbering the ids"):
            self.ids = rows.number(store, budget.check_text)
        budget = self._budget = replace(budget, text=self.ids.text)
        allowed = budget.allowed(rows.size, self.ids.size, self.ids.nbytes)
        with self.stage("ordering by degree"):
            self.rank, self._vertices = self._order_by_degree()
        with self.stage("cutting into blocks") as report:
            self.blocks = cut(
                rows, self.rank, self._vertices, engine=self.engine, store=store, budget=budget,
                allowed=allowed, xp=backend.xp, on_progress=report.advance,
            )  # fmt: skip

    def _order_by_degree(self) -> tuple[Array, int]:
        """Return the rank of every number, and how many are vertices."""
        degree: Any = None
        for chunk in self.rows.chunks(self.engine.costs.row):
            part, _ = self.engine.degrees(*chunk.ends, self.ids.size)
            degree = part if degree is None else degree + part
            del part
        n = sum64(degree > 0)
        return orient.degree_order(degree, n, self.backend).rank, n

    # What functions of vertices ask --------------------------------------------------------------

    @cached_property
    def order(self) -> Order:  # type: ignore[override]
        """Made of the ranks, which alone are kept while tasks run."""
        return Order.of_ranks(self.rank, self._vertices, self.backend.xp)

    @property
    def n_vertices(self) -> int:
        """See `VertexStatistics`."""
        return self._vertices

    @property
    def n_edges(self) -> int:
        """See `VertexStatistics`."""
        return self.blocks.edges

    @property
    def n(self) -> int:
        """Blocks a side."""
        return self.blocks.n

    @property
    def size(self) -> int:
        """Rows of the frame."""
        return self.rows.size

    @cached_property
    def degrees(self) -> Array:
        """See `VertexStatistics`."""
        degrees = self.backend.xp.zeros(self._vertices, "int64")
        for at, block in self.blocks:
            geometry.add_degrees(degrees, self.n, at, block, self.engine)
        return degrees

    def edge_blocks(self, values: str = "") -> tuple[int, Any]:
        """See `EdgeGraph`."""
        load = self.blocks.store.load
        if not values:
            return self.n, ((at, block, None) for at, block in self.blocks)
        if values == "trussness":
            numbers = stored_levels.trussness(self, self.edge_counts("auto"))
            return self.n, ((at, block, load(numbers[at])) for at, block in self.blocks)
        third, sums = self.third_sums(values)
        return self.n, ((at, block, third.as_floats(load(sums[at]))) for at, block in self.blocks)

    def count(self, method: str) -> int:
        """See `VertexStatistics`."""
        total = 0

        def found(task: Task, made: list[Csr], layout: Any) -> None:
            nonlocal total
            total += self.engine.count(layout, method=method)

        self.run(found)
        return total

    def vertex_counts(self, method: str) -> Array:
        """See `VertexStatistics`."""
        sums = self.backend.xp.zeros(self._vertices, "int64")

        def found(task: Task, made: list[Csr], layout: Any) -> None:
            (uv, _, vw), engine = made, self.engine
            of_uv, _, of_vw = engine.edge_counts(layout, method=method)
            pairs = (uv, of_uv), (vw, of_vw)
            geometry.add_corners(sums, self.n, task.residues, *pairs, engine=engine)

        self.run(found)
        return sums

    # What functions of edges ask -----------------------------------------------------------------

    def _spans(self, within: Reading | None) -> Callable[[Task], dict[str, Any]]:
        """Read times, if any; return a function from a task to the spans that engines take."""
        if within is None:
            return lambda task: {}
        values = self.edge_values(within).arrays
        return lambda task: {"spans": spans_of(stored_values.load_sides(self, values, task))}

    def edge_counts(
        self,
        method: str,
        of: StoredBlocks | None = None,
        over: dict[Block, Any] | None = None,
        within: Reading | None = None,
    ) -> dict[Block, Any]:
        """Count the triangles of the edges of every block; return the counters on the store.

        `of` are the blocks to count, if not all of the graph; `over` are counters of at least as
        many edges, which are written over.
        """
        blocks, spans = of or self.blocks, self._spans(within)
        counts, store = blocks.zeros(over or {}), blocks.store

        def found(task: Task, made: list[Csr], layout: Any) -> None:
            parts = self.engine.edge_counts(layout, method=method, **spans(task))
            for at, part in zip(task.blocks, parts, strict=True):
                store.add(counts[at], part)

        self.run(found, blocks)
        return counts

    def third_sums(self, name: str) -> tuple[ThirdValues, dict[Block, Any]]:
        """Sum a value of the third vertices of the edges of every block.

        Returns the values, and on the store the sums (int64), which `ThirdValues.as_floats` takes.
        """
        values, xp = third_values(name, self.degrees, self.backend), self.backend.xp
        sums, store = self.blocks.zeros({}, "int64"), self.blocks.store

        def found(task: Task, made: list[Csr], layout: Any) -> None:
            of_corners = values.of_task(self.n, task.residues, xp)
            parts = self.engine.third_sums(layout, of_corners)
            for at, part in zip(task.blocks, parts, strict=True):
                store.add(sums[at], part)

        self.run(found)
        return values, sums

    def row_columns(
        self, names: Sequence[str], method: str, within: Reading | None = None
    ) -> dict[str, Any]:
        """Compute columns aligned with the user's rows; self loops get 0."""
        xp, columns, store = self.backend.xp, row_columns(), self.blocks.store
        asked = [columns[name].needs for name in names]
        counted = any(needs & (Needs.EDGE_COUNTS | Needs.TRUSSNESS) for needs in asked)
        counts = self.edge_counts(method, within=within) if counted else {}
        peeled = any(needs & Needs.TRUSSNESS for needs in asked)
        trussness = stored_levels.trussness(self, counts) if peeled else {}
        summed = [name for name in names if columns[name].needs & Needs.THIRD_SUMS]
        thirds = {name: self.third_sums(name) for name in summed}
        made = {name: xp.zeros(self.size, columns[name].dtype) for name in names}
        with self.stage("looking rows up") as report:
            for number, (at, block) in enumerate(self.blocks):
                known = store.load(counts[at]) if counted else None
                numbers = store.load(trussness[at]) if peeled else None
                sums = {name: v.as_floats(store.load(by[at])) for name, (v, by) in thirds.items()}
                for row, where, ends in self.located(at, block, self.n, self.rank):
                    values = _Values(self, where, known, numbers, sums, ends)
                    for name in names:
                        made[name][row] = columns[name].formula(values)
                report.advance((number + 1) / self.n**2)
        adapter = self.backend.adapter
        return {name: adapter.column_like(self._frame, made[name], name) for name in names}

    def simple_edges(self) -> Frame:
        """See `EdgeGraph`."""
        xp, number = self.backend.xp, as_uint32(self.order.number)

        def pack(u: Array, v: Array, out: Array) -> None:
            edge_keys(number[u], number[v], xp, out)

        with self.stage("sorting the edges"):
            keys = geometry.collect_keys(self.blocks, self.n_edges, self.n, pack, xp)
            keys.sort()
            return self.backend.adapter.frame(named_edges(keys, self.ids))

    def truss_rows(self, k: int | None) -> Array:
        """See `EdgeGraph`."""
        if k is not None:
            return truss.truss_rows(self, k)
        trussness = stored_levels.trussness(self, self.edge_counts("auto"))
        return truss.last_truss_rows(self, trussness)

    def take_rows(self, positions: Any, limit: int | None) -> Frame:
        """See `EdgeGraph`: the call has a limit, which the user may not have given."""
        return super().take_rows(positions, self.blocks.allowed)

    def sample_moments(self, colours: int, seed: int, method: str) -> list[tuple[int, float]]:
        """See `EdgeGraph`: the sample is blocks of their own, beside the blocks of the graph."""
        return stored_sample.moments(self, colours, seed, method)

    def edge_values(self, reading: Reading) -> EdgeArrays:
        """See `EdgeGraph`: the arrays of every block are kept on the store."""
        return EdgeArrays(*stored_values.read(self, reading))

    def summed(self, *quantities: Sum) -> list[Summed]:
        """See `VertexStatistics`."""
        limit = self._budget.limit
        return stored_values.summed(self, [quantity.limited(limit) for quantity in quantities])

    @property
    def listing(self) -> StoredTriangles:
        """See `EdgeGraph`."""
        return StoredTriangles(self, self._frame)

    def users_column(self, label: Any) -> Any:
        """Return a column of the user's frame, in the library of the adapter."""
        return self.backend.adapter.column(self._frame, label)

    def _need(self) -> str:
        return (
            f"{self.size:,} rows were counted in blocks, for {self._budget.limit:,} bytes were "
            "allowed: memory_limit= may say less"
        )

    # Blocks and rows -----------------------------------------------------------------------------

    def run(
        self, found: Found, of: StoredBlocks | None = None,
        at_end: Callable[[], None] = lambda: None,
    ) -> None:  # fmt: skip
        """Count every task: `found` receives its layout while its blocks are in memory.

        `at_end` drops arrays that `found` holds from task to task.
        """
        with self.stage("counting") as report:
            (of or self.blocks).run(found, report.advance, at_end)

    def located(
        self, at: Block, block: Csr, n: int, rank: Array
    ) -> Iterator[tuple[Array, Array, tuple[Array, Array]]]:
        """Yield the rows whose edges are in a block, where in the block, and their ends, by chunk.

        `rank` is by number; the ends are ranks, the larger first.
        """
        xp = self.backend.xp
        for chunk in self.rows.chunks():
            larger, smaller = geometry.ranked_ends(chunk.ends, rank, xp)
            row, u, v = geometry.rows_in_block(larger, smaller, n, at, xp)
            edge = self.engine.find_edges(block, u, v)
            present = edge >= 0  # loops are not
            row, edge = row[present], edge[present]
            yield row + chunk.first, edge, (larger[row], smaller[row])


@dataclass(frozen=True)
class _Values:
    """What formulas may ask about the edges of some rows."""

    graph: OutOfCoreGraph
    where: Array
    counts: Array | None
    numbers: Array | None
    sums: dict[str, Array]
    ends: tuple[Array, Array]

    @property
    def xp(self) -> Any:
        return self.graph.backend.xp

    @cached_property
    def triangles(self) -> Array:
        assert self.counts is not None
        return self.counts[self.where].astype("int64")

    @property
    def trussness(self) -> Array:
        assert self.numbers is not None
        return self.numbers[self.where]

    def third_sums(self, name: str) -> Array:
        return self.sums[name][self.where]

    @cached_property
    def degrees(self) -> tuple[Array, Array]:
        u, v = self.ends
        return self.graph.degrees[u], self.graph.degrees[v]

    @property
    def community(self) -> Array:
        raise NotImplementedError("communities are never found in blocks")
