"""The triangles of a graph in memory, in the order of the in-edges of its layout."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.blocks.grid import BlockTask
from rapids_tc.blocks.task_triangles import TaskTriangles, Triangles
from rapids_tc.engines import protocol
from rapids_tc.frames.device import device_of, on_device
from rapids_tc.plan.record import Needs, Result, Work

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from rapids_tc.frames.backend import Array

LISTING = Work(Needs.TRIANGLES, Result.TRIANGLES)
WHOLE = (0, 0, 0)  # the residues of the only task on the only block


class WholeTriangles(Triangles):
    """The triangles of a graph in memory.

    Attributes
    ----------
    work : Work
        What a call needs that lists them.
    """

    work = LISTING

    def __init__(self, graph: Any) -> None:
        self._graph = graph

    @property
    def number(self) -> Array:
        """See `Triangles`."""
        return self._graph.order.number

    def placed(self) -> AbstractContextManager[None]:
        """See `Triangles`."""
        return on_device(device_of(self._graph.some_array))

    def counted(self) -> tuple[int, Iterator[TaskTriangles]]:
        """See `Triangles`."""
        return self._whole.total, self.tasks()

    def tasks(self) -> Iterator[TaskTriangles]:
        """See `Triangles`."""
        yield self._whole

    @cached_property
    def _whole(self) -> TaskTriangles:
        return self._count()

    def _count(self) -> TaskTriangles:
        layout = self._graph.layout  # reports its own stages
        with self._graph.stage("counting") as report:
            engine = self._graph.engine
            counts = engine.triangles_per_in_edge(layout, on_progress=report.on_progress)
            return self.of_counts(layout, counts)

    def of_counts(self, layout: Any, per_in_edge: Array) -> TaskTriangles:
        """Return the triangles of a layout of a graph, from how many each in-edge has."""
        task = layout, (layout.csr,) * 3, BlockTask(*WHOLE), 1
        graph = self._graph
        return TaskTriangles.of_counts(graph.engine, *task, per_in_edge, graph.backend.xp)

    def by_group(self) -> Array:
        """See `Triangles`: from the triangles of the in-edges of each pivot vertex."""
        graph, csr, starts = self._graph, self._whole.layout.csr, self._whole.starts
        host, groups = graph.backend.host, graph.groups
        assert groups is not None
        in_edges = protocol.column_counts(graph.engine, csr, csr.n).astype("int64")
        ends = in_edges.cumsum()
        by_pivot = starts[ends] - starts[ends - in_edges]
        of_pivot = host(groups.group_of[self.number])
        sums = np.bincount(of_pivot, weights=host(by_pivot), minlength=len(groups.starts))
        return sums.astype("int64")

    def memory(self, limit: int | None, *, beside_task: bool) -> int:
        """See `Triangles`: the graph stays, whatever is done."""
        room: int = self._graph.room(self.work, limit)
        return room

    def side_arrays(self, arrays: Any, triangles: TaskTriangles) -> Sequence[list[Array]]:
        """See `Triangles`."""
        return (arrays,) * 3

    def edge_numbers(self, triangles: TaskTriangles) -> Sequence[int]:
        """See `Triangles`: edges have their positions in ``csr.columns``."""
        return (0, 0, 0)

    def edge_ends(self, numbers: Array) -> tuple[Array, Array]:
        """See `Triangles`."""
        return self._graph.csr.rows[numbers], self._graph.csr.columns[numbers]
