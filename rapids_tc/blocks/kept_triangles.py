"""Those triangles of a task that are of a kind: listed as all are, and tested batch by batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rapids_tc.blocks.quantities import Within
    from rapids_tc.blocks.task_triangles import TaskTriangles
    from rapids_tc.engines.protocol import Engine
    from rapids_tc.frames.backend import Array

BATCH = 1 << 19  # triangles that are tested at a time, at most
TESTED = 96  # bytes of one of them
SHARE = 16  # a batch takes no more than this part of the memory


@dataclass(frozen=True)
class KeptTriangles:
    """The triangles of a task that pass a test, numbered in the same order.

    Attributes
    ----------
    triangles : TaskTriangles
        All of them.
    passes : callable
        The test: from ranks u > v > w of triangles, in three rows, to a mark of each.
    memory : int
        Bytes that lists may take.
    starts : array of int64
        The place of the first triangle of each in-edge that is kept, and how many are.
    xp : module
    """

    triangles: TaskTriangles
    passes: Callable[[Array], Array]
    memory: int
    starts: Array
    xp: Any

    @classmethod
    def count(
        cls, triangles: TaskTriangles, passes: Callable[[Array], Array], memory: int, xp: Any
    ) -> KeptTriangles:
        """Test all triangles, so that each that is kept has its place."""
        of_all, starts, kept = triangles.starts, xp.zeros(len(triangles.starts), "int64"), 0
        for first, last in batches(0, triangles.total, memory):
            before = xp.zeros(last - first + 1, "int64")
            xp.cumsum(passes(triangles.ranks(first, last)), dtype="int64", out=before[1:])
            bounds = xp.asarray([first, last])  # in-edges whose triangles begin within the batch
            begin, end = xp.searchsorted(of_all, bounds, side="right").tolist()
            starts[begin:end] = before[of_all[begin:end] - first] + kept
            kept += int(before[-1])
        return cls(triangles, passes, memory, starts, xp)

    @property
    def n(self) -> int:
        """The number of blocks per side."""
        return self.triangles.n

    @property
    def total(self) -> int:
        """The number of triangles that are kept."""
        return int(self.starts[-1])

    def ranks(self, first: int, last: int) -> Array:
        """List the ranks u > v > w of the kept triangles `first` to `last` - 1: uint32."""
        parts, xp = [self.xp.empty((3, 0), "uint32")], self.xp
        if first == last:
            return parts[0]
        bounds = xp.asarray([first, last - 1])
        begin, end = xp.searchsorted(self.starts, bounds, side="right").tolist()
        begin -= 1
        of_all = self.triangles.starts[xp.asarray([begin, end])].tolist()
        parts += self._passing(*of_all)
        skipped = first - int(self.starts[begin])
        return xp.concatenate(parts, axis=1)[:, skipped : skipped + last - first]

    def all_ranks(self) -> Iterator[Array]:
        """Return the ranks of all triangles that are kept, batch by batch."""
        return self._passing(0, self.triangles.total)

    def _passing(self, first: int, end: int) -> Iterator[Array]:
        """Yield the ranks of those triangles from `first` to before `end`, of all, that pass."""
        for batch in batches(first, end, self.memory):
            ranks = self.triangles.ranks(*batch)
            yield ranks[:, self.passes(ranks)]


def batches(first: int, end: int, memory: int) -> Iterator[tuple[int, int]]:
    """Yield the bounds of parts of a list of triangles that are tested at a time."""
    batch = max(min(BATCH, memory // (SHARE * TESTED)), 1)
    for begin in range(first, end, batch):
        yield begin, min(begin + batch, end)


def kind_test(
    engine: Engine, kind: Within, of_sides: Sequence[list[Array]]
) -> Callable[[Sequence[Array]], Array]:
    """Return the test of a kind by the places of sides, from the arrays of its reading there.

    `kind` is resolved; `of_sides` are the arrays of uv, uw and vw, perhaps three times the same.
    """
    made = {id(arrays): kind.values(arrays, side) for side, arrays in enumerate(of_sides)}
    return engine.kind_test([made[id(arrays)] for arrays in of_sides], kind.choices)
