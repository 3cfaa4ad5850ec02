"""The triangles of a graph out of core, to be listed task by task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from rapids_tc.blocks import geometry
from rapids_tc.blocks.stored_values import StoredGraph
from rapids_tc.blocks.task_triangles import TaskTriangles, Triangles
from rapids_tc.frames.device import place

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager
    from typing import Any

    from rapids_tc.frames.backend import Array


class ListedGraph(StoredGraph, Protocol):
    """What a list of triangles needs of a graph out of core."""

    def count(self, method: str) -> int:
        """Count the triangles of the graph."""

    def group_counts(self, method: str) -> Array:
        """Count the triangles of each group."""


class StoredTriangles(Triangles):
    """The triangles of a graph out of core.

    Parameters
    ----------
    graph : OutOfCoreGraph
    frame : DataFrame
        The user's frame, where work is done.
    """

    def __init__(self, graph: ListedGraph, frame: Any) -> None:
        self._graph, self._frame = graph, frame

    @property
    def number(self) -> Array:
        """See `Triangles`."""
        return self._graph.order.number

    def by_group(self) -> Array:
        """See `Triangles`."""
        return self._graph.backend.host(self._graph.group_counts("auto"))

    def placed(self) -> AbstractContextManager[None]:
        """See `Triangles`."""
        return place(self._frame)

    def counted(self) -> tuple[int, Iterator[TaskTriangles]]:
        """See `Triangles`."""
        return self._graph.count("auto"), self.tasks()

    def tasks(self) -> Iterator[TaskTriangles]:
        """See `Triangles`: blocks are loaded when a task needs them, and none in advance."""
        graph, laid_out = self._graph, self._graph.blocks.laid_out()
        while True:
            with graph.stage("counting"):
                if (part := next(laid_out, None)) is None:
                    return
                task, blocks, layout = part
                of_task = (layout, blocks, task, graph.blocks.n, graph.backend.xp)
                triangles = [TaskTriangles.count(graph.engine, *of_task)]
            del part, blocks, layout, of_task  # held by the caller alone, until it asks for more
            yield triangles.pop()

    def memory(self, limit: int | None, *, beside_task: bool) -> int:
        """See `Triangles`: blocks were cut so that a task takes half of the memory."""
        allowed = self._graph.blocks.allowed
        memory: int = self._graph.engine.memory()
        return min(memory, allowed // 2 if beside_task else allowed)

    def side_values(self, arrays: Any, triangles: TaskTriangles) -> Sequence[Array]:
        """See `Triangles`."""
        n, gather = self._graph.blocks.n, self._graph.blocks.executor.gather
        return [gather(arrays[i * n + j][0]) for i, j in triangles.task.blocks]

    def edge_numbers(self, triangles: TaskTriangles) -> Sequence[int]:
        """See `Triangles`: edges are numbered block by block."""
        first = self._graph.blocks.first_edges
        return [first[at] for at in triangles.task.blocks]

    def edge_ends(self, numbers: Array) -> tuple[Array, Array]:
        """See `Triangles`."""
        blocks, xp = self._graph.blocks, self._graph.backend.xp
        first, u, v = blocks.first_edges, *(xp.empty(len(numbers), "int64") for _ in range(2))
        for at, block in blocks:
            bounds = xp.asarray([first[at], first[at] + block.m])
            begin, end = xp.searchsorted(numbers, bounds).tolist()
            if begin < end:
                where = numbers[begin:end] - first[at]
                larger, smaller = geometry.block_ends(block, blocks.n, at)
                u[begin:end], v[begin:end] = larger[where], smaller[where]
        return u, v
