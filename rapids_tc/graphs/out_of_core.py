"""A graph larger than the memory it may take: its blocks are counted one task after another.

The frame is read in chunks of rows: degrees first, then the keys of as many blocks at a time as
fit. A block is sorted once and kept outside, in pinned memory beside a card and in a temporary
file beside the CPU engine. Tasks follow one another, the blocks of the next on their way to a card
while it counts (the streaming of TriCore: Hu, Liu, Huang, SC 2018).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from rapids_tc._progress import at_end
from rapids_tc.blocks import grid, truss
from rapids_tc.blocks.grid import Block, Task
from rapids_tc.blocks.rows import Rows
from rapids_tc.blocks.store import Found, StoredBlocks, cut
from rapids_tc.engines import registry
from rapids_tc.frames.backend import Array, Backend, Frame, as_uint32, gather, sum64
from rapids_tc.graphs.protocol import EdgeGraph
from rapids_tc.plan.budget import Budget
from rapids_tc.plan.record import row_columns
from rapids_tc.preparation import orient
from rapids_tc.preparation.csr import Csr
from rapids_tc.preparation.edges import edge_keys, named_edges
from rapids_tc.preparation.orient import Order


class OutOfCoreGraph(EdgeGraph):
    """A graph in blocks outside of memory, made for one call.

    Parameters
    ----------
    frame, rows, backend, progress
        The user's frame, its rows as numbers, where work is done, and whether progress is shown.
    budget : Budget

    Attributes
    ----------
    blocks : KeptBlocks
    """

    def __init__(
        self, frame: Frame, rows: Rows, backend: Backend, progress: bool | None, budget: Budget
    ) -> None:
        self._frame, self._rows, self.backend, self.progress = frame, rows, backend, progress
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
            given = (self.engine, store, budget, allowed, backend.xp, report.advance)
            self.blocks = cut(rows, self.rank, self._vertices, *given)

    def _order_by_degree(self) -> tuple[Array, int]:
        """The rank of every number, and how many are vertices."""
        degree: Any = None
        for chunk in self._rows.chunks(self.engine.costs.row):
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
        return self._vertices

    @property
    def n_edges(self) -> int:
        return self.blocks.edges

    @property
    def n(self) -> int:
        """Blocks a side."""
        return self.blocks.n

    @property
    def size(self) -> int:
        """Rows of the frame."""
        return self._rows.size

    @cached_property
    def degrees(self) -> Array:
        xp, n = self.backend.xp, self.n
        degrees = xp.zeros(self._vertices, "int64")
        for at, block in self.blocks:
            grid.add_ends(degrees, n, at, *grid.degrees(block, self.engine))
        return degrees

    def count(self, method: str) -> int:
        total = 0

        def found(task: Task, made: list[Csr], layout: Any) -> None:
            nonlocal total
            total += self.engine.count(layout, method=method)

        self.run(found)
        return total

    def vertex_counts(self, method: str) -> Array:
        """The triangles of u, v and w are told apart, so that every one is added once to each."""
        n, sums = self.n, self.backend.xp.zeros(self._vertices, "int64")

        def found(task: Task, made: list[Csr], layout: Any) -> None:
            (i, j, k), (uv, _, vw) = task.residues, made
            of_uv, _, of_vw = self.engine.edge_counts(layout, method=method)
            grid.add_ends(sums, n, (i, j), *self.engine.sum_counts(uv, of_uv))
            _, by_w = self.engine.sum_counts(vw, of_vw)
            sums[k::n] += by_w[: grid.members(self._vertices, n, k)]

        self.run(found)
        return sums

    # What functions of edges ask -----------------------------------------------------------------

    def edge_counts(
        self, method: str, of: StoredBlocks | None = None, over: dict[Block, Any] | None = None
    ) -> dict[Block, Any]:
        """The triangles of the edges of every block, on the shelf.

        `of` what is left of the graph, and in place of what was counted `over` more of it.
        """
        kept = of or self.blocks
        counts, store = kept.zeros(over or {}), kept.store

        def found(task: Task, made: list[Csr], layout: Any) -> None:
            parts = self.engine.edge_counts(layout, method=method)
            for at, part in zip(task.blocks, parts, strict=True):
                store.add(counts[at], part)

        self.run(found, kept)
        return counts

    def row_columns(self, names: Sequence[str], method: str) -> dict[str, Any]:
        """Compute columns aligned with the user's rows; self loops get 0."""
        xp, counts, columns = self.backend.xp, self.edge_counts(method), row_columns()
        made = {name: xp.zeros(self.size, columns[name].dtype) for name in names}
        with self.stage("looking rows up") as report:
            for number, (at, block) in enumerate(self.blocks):
                known = self.blocks.store.load(counts[at])
                for row, where, ends in self.located(at, block, self.n, self.rank):
                    values = _Values(self, known[where].astype("int64"), ends)
                    for name in names:
                        made[name][row] = columns[name].formula(values)
                report.advance((number + 1) / self.n**2)
        adapter = self.backend.adapter
        return {name: adapter.column_like(self._frame, made[name], name) for name in names}

    def simple_edges(self) -> Frame:
        xp, number = self.backend.xp, as_uint32(self.order.number)
        with self.stage("sorting the edges"):
            keys, first = xp.empty(self.n_edges, "uint64"), 0
            for (i, j), block in self.blocks:
                u, v = (number[end] for end in grid.ends(block, self.n, i, j))
                edge_keys(u, v, xp, keys[first : first + block.m])
                first += block.m
            keys.sort()
            return self.backend.adapter.frame(named_edges(keys, self.ids))

    def truss_rows(self, k: int | None) -> Array:
        return truss.truss_rows(self, k)

    def _need(self) -> str:
        return (
            f"{self.size:,} rows were counted in blocks, for {self._budget.limit:,} bytes were "
            "allowed: memory_limit= may say less"
        )

    # Blocks and rows -----------------------------------------------------------------------------

    def run(self, found: Found, of: StoredBlocks | None = None) -> None:
        """Count every task: `found` is given its layout while its blocks are in memory."""
        with self.stage("counting") as report:
            (of or self.blocks).run(found, report.advance)

    def located(
        self, at: Block, block: Csr, n: int, rank: Array
    ) -> Iterator[tuple[Array, Array, tuple[Array, Array]]]:
        """The rows whose edges are in a block, some at a time: which, where in it, and their ends.

        `rank` is by number; the ends are ranks, the larger first.
        """
        xp, (i, j) = self.backend.xp, at
        for chunk in self._rows.chunks():
            src, dst = (gather(rank, end) for end in chunk.ends)
            u, v = xp.maximum(src, dst), xp.minimum(src, dst)
            row = xp.flatnonzero((u % n == i) & (v % n == j) & (u != v))
            u, v = u[row], v[row]
            where = self.engine.find_edges(block, u // n + (i > j), v // n)
            there = where >= 0
            yield row[there] + chunk.first, where[there], (u[there], v[there])


@dataclass(frozen=True)
class _Values:
    """What formulas may ask about the edges of some rows."""

    graph: OutOfCoreGraph
    triangles: Array
    ends: tuple[Array, Array]

    @property
    def xp(self) -> Any:
        return self.graph.backend.xp

    @property
    def degrees(self) -> tuple[Array, Array]:
        u, v = self.ends
        return self.graph.degrees[u], self.graph.degrees[v]

    @property
    def trussness(self) -> Array:
        raise NotImplementedError("trussness is never counted in blocks")
