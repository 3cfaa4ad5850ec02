"""The triangles of one task after another: of a whole graph, or of three blocks of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rapids_tc.blocks.geometry import row_shift

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager
    from types import ModuleType

    from rapids_tc.blocks.grid import BlockTask
    from rapids_tc.engines.protocol import Engine
    from rapids_tc.frames.backend import Array
    from rapids_tc.preparation.csr import Csr


@dataclass(frozen=True)
class TaskTriangles:
    """The triangles of a task on n x n blocks, numbered in the order of the layout's in-edges.

    Attributes
    ----------
    engine : Engine
    layout : Layout
        The layout of the task. If `n` is 1, it may be the layout of a whole graph.
    blocks : sequence of Csr
        The blocks uv, uw and vw.
    task : BlockTask
    n : int
    starts : array of int64
        The place of the first triangle of each in-edge, and how many triangles there are.
    """

    engine: Engine
    layout: Any
    blocks: Sequence[Csr]
    task: BlockTask
    n: int
    starts: Array

    @classmethod
    def count(
        cls,
        engine: Engine,
        layout: Any,
        blocks: Sequence[Csr],
        task: BlockTask,
        n: int,
        xp: ModuleType,
    ) -> TaskTriangles:
        """Count the triangles of every in-edge, so that each triangle has its place."""
        per_in_edge = engine.triangles_per_in_edge(layout)
        return cls.of_counts(engine, layout, blocks, task, n, per_in_edge, xp)

    @classmethod
    def of_counts(
        cls, engine: Engine, layout: Any, blocks: Sequence[Csr], task: BlockTask, n: int,
        per_in_edge: Array, xp: ModuleType,
    ) -> TaskTriangles:  # fmt: skip
        """Place the triangles of every in-edge behind one another."""
        starts = xp.zeros(len(per_in_edge) + 1, "int64")
        xp.cumsum(per_in_edge, dtype="int64", out=starts[1:])
        return cls(engine, layout, blocks, task, n, starts)

    @property
    def total(self) -> int:
        """The number of triangles."""
        return int(self.starts[-1])

    def ranks(self, first: int, last: int) -> Array:
        """List the ranks u > v > w of the triangles `first` to `last` - 1: uint32, three rows."""
        ranks = self.engine.list_triangles(self.layout, self.starts, first, last)
        if self.n > 1:
            ranks[0] -= row_shift(self.task.blocks[0])
            ranks *= self.n
            for corner, residue in zip(ranks, self.task.residues, strict=True):
                corner += residue
        return ranks

    def sides(self, ranks: Array) -> list[Array]:
        """Find the sides uv, uw and vw of triangles: their positions in these blocks."""
        u, v, w = ranks if self.n == 1 else ranks // self.n
        pairs = (u, v), (u, w), (v, w)
        return [
            self.engine.find_edges(block, larger + row_shift(at) if self.n > 1 else larger, smaller)
            for block, at, (larger, smaller) in zip(
                self.blocks, self.task.blocks, pairs, strict=True
            )
        ]


class Triangles(ABC):
    """The triangles of a graph, to be listed task by task."""

    @property
    @abstractmethod
    def number(self) -> Array:
        """The number of every rank, as ranks are listed."""

    @abstractmethod
    def by_group(self) -> Array:
        """Count the triangles of each group, on the host."""

    @abstractmethod
    def placed(self) -> AbstractContextManager[None]:
        """Work where the graph is, after the call that made it."""

    @abstractmethod
    def counted(self) -> tuple[int, Iterator[TaskTriangles]]:
        """Count all triangles; return how many there are, and what `tasks` does."""

    @abstractmethod
    def tasks(self) -> Iterator[TaskTriangles]:
        """Yield the triangles of one task after another, whose blocks are held until the next."""

    @abstractmethod
    def memory(self, limit: int | None, *, beside_task: bool) -> int:
        """Return the bytes that a list may take, beside the blocks of a task or without these.

        `limit` is the limit of the call, if the graph was made before it.
        """

    @abstractmethod
    def side_arrays(self, arrays: Any, triangles: TaskTriangles) -> Sequence[list[Array]]:
        """Return the arrays that were read for the edges, for uv, uw and vw of a task."""

    def sides(self, ranks: Array, triangles: TaskTriangles) -> list[Array]:
        """Find the sides uv, uw and vw of triangles: their positions in these arrays."""
        return triangles.sides(ranks)

    @abstractmethod
    def edge_numbers(self, triangles: TaskTriangles) -> Sequence[int]:
        """Return the numbers of the first edges of the blocks uv, uw and vw of a task."""

    @abstractmethod
    def edge_ends(self, numbers: Array) -> tuple[Array, Array]:
        """Return the larger and the smaller rank of edges of ascending numbers."""
