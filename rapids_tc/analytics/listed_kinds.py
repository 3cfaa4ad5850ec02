"""The triangles of a kind, to be listed as all triangles of a graph are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.blocks.kept_triangles import KeptTriangles, kind_test
from rapids_tc.blocks.task_triangles import Triangles
from rapids_tc.graphs.out_of_core import StoredTriangles

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from rapids_tc.blocks.quantities import Within
    from rapids_tc.blocks.task_triangles import TaskTriangles
    from rapids_tc.frames.backend import Array
    from rapids_tc.graphs.edge_graph import EdgeGraph

HELD = 2  # copies of what is read of edges: one of them as the engine tests it


class TrianglesOfKind(Triangles):
    """The triangles of a graph that are of a kind. Rows are read when this is made.

    Parameters
    ----------
    graph : EdgeGraph
    source : Triangles
        All triangles, or those at some vertices.
    kind : Within
        What counts the triangles of the kind.
    chosen : array of bool, optional
        Marks of ranks: only triangles with such a corner are listed.
    """

    def __init__(
        self, graph: EdgeGraph, source: Triangles, kind: Within, chosen: Array | None = None
    ) -> None:
        read = graph.edge_values(kind.reading)
        self._graph, self._source, self._chosen = graph, source, chosen
        self._kind, self._arrays = kind.resolved(read.reading), read.arrays
        self._kept: list[KeptTriangles] = []

    @property
    def number(self) -> Array:
        """See `Triangles`."""
        return self._source.number

    def placed(self) -> AbstractContextManager[None]:
        """See `Triangles`."""
        return self._source.placed()

    def counted(self) -> tuple[int, Iterator[Any]]:
        """See `Triangles`: all triangles are listed to be counted."""
        return sum(task.total for task in self.tasks()), self.tasks()

    def tasks(self) -> Iterator[Any]:
        """See `Triangles`; what is kept of a graph in memory stays."""
        if self._kept:
            yield from self._kept
            return
        memory = self.memory(None, beside_task=True)
        for task in self._source.tasks():
            with self._graph.stage("counting"):
                passes = self._test(task)
                kept = KeptTriangles.count(task, passes, memory, self._graph.backend.xp)
            if not isinstance(self._source, StoredTriangles):
                self._kept.append(kept)
            del task, passes
            yield kept
            del kept  # before the next is loaded

    def _test(self, task: TaskTriangles) -> Any:
        """Return the test of the triangles of a task, from their ranks."""
        source, chosen = self._source, self._chosen
        test = kind_test(self._graph.engine, self._kind, source.side_arrays(self._arrays, task))

        def passes(ranks: Array) -> Array:
            found = test(source.sides(ranks, task))
            return found if chosen is None else found & chosen[ranks].any(axis=0)

        return passes

    def by_group(self) -> Array:
        """See `Triangles`."""
        graph, groups = self._graph, self._graph.groups
        assert groups is not None
        group, counts = groups.group_of[self.number], np.zeros(len(groups.starts), "int64")
        for task in self.tasks():
            for ranks in task.all_ranks():
                counts += np.bincount(graph.backend.host(group[ranks[0]]), minlength=len(counts))
        return counts

    def memory(self, limit: int | None, *, beside_task: bool) -> int:
        """See `Triangles`: beside what was read of the edges of a graph in memory."""
        memory = self._source.memory(limit, beside_task=beside_task)
        if isinstance(self._source, StoredTriangles):
            return memory
        held: int = HELD * sum(array.nbytes for array in self._arrays)
        return max(memory - held, 0)

    def side_arrays(self, arrays: Any, triangles: TaskTriangles) -> Sequence[list[Array]]:
        """See `Triangles`."""
        return self._source.side_arrays(arrays, triangles)

    def edge_numbers(self, triangles: TaskTriangles) -> Sequence[int]:
        """See `Triangles`."""
        return self._source.edge_numbers(triangles)

    def edge_ends(self, numbers: Array) -> tuple[Array, Array]:
        """See `Triangles`."""
        return self._source.edge_ends(numbers)
