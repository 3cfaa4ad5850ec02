"""Sums over triangles whose three edges are present at the same time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from rapids_tc.blocks import geometry
from rapids_tc.blocks.triangle_sums import TriangleSum
from rapids_tc.engines.protocol import Spans
from rapids_tc.preparation.time_values import presence_of, with_memory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rapids_tc.engines.protocol import ProgressCallback, Residues
    from rapids_tc.frames.backend import Array
    from rapids_tc.preparation.csr import Csr


def spans_of(values: list[Any]) -> Any:
    """Return what an engine takes: the spans of a graph, or of the three blocks of a task."""
    if isinstance(values[0], tuple):
        return tuple(spans_of(list(block)) for block in zip(*values, strict=True))
    first, last, offsets = values
    return Spans(first=first, last=last, offsets=offsets if len(offsets) else None)


@dataclass(frozen=True)
class WindowChanges(TriangleSum):
    """By how much the triangles of a window exceed those of the window before: int64."""

    def limited(self, memory: int) -> Self:
        """See `_Sum`: windows may take so many bytes."""
        return replace(self, reading=with_memory(self.reading, memory))

    def zeros(self, vertices: int, xp: Any) -> Array:
        """See `_Sum`."""
        return xp.zeros(presence_of(self.reading.reader).count + 1, "int64")

    def add_task(
        self, total: Array, engine: Any, layout: Any, values: list[Any], n: int,
        residues: Residues, blocks: Sequence[Csr], on_progress: ProgressCallback | None = None,
    ) -> Array:  # fmt: skip
        """See `TriangleSum`."""
        windows = len(total) - 1
        total += engine.window_changes(layout, spans_of(values), windows, on_progress=on_progress)
        return total


@dataclass(frozen=True)
class Corners(TriangleSum):
    """For each rank, the triangles whose edges are present at once: int64."""

    by_vertex: ClassVar[bool] = True

    def zeros(self, vertices: int, xp: Any) -> Array:
        """See `_Sum`."""
        return xp.zeros(vertices, "int64")

    def add_task(
        self, total: Array, engine: Any, layout: Any, values: list[Any], n: int,
        residues: Residues, blocks: Sequence[Csr], on_progress: ProgressCallback | None = None,
    ) -> Array:  # fmt: skip
        """See `TriangleSum`."""
        counts = engine.edge_counts(layout, spans=spans_of(values), on_progress=on_progress)
        if layout.whole:  # a triangle is counted at two edges of each of its corners
            by_row, by_column = engine.sum_counts(blocks[0], counts)
            total += (by_row + by_column) // 2
        else:
            of_uv, of_vw = (blocks[0], counts[0]), (blocks[-1], counts[2])
            geometry.add_corners(total, n, residues, of_uv, of_vw, engine=engine)
        return total
