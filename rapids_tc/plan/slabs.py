"""Slabs of time: into how many parts, in the order of time, rows are cut that are counted apart.

What the rows of a slab form with earlier rows of their windows is known from the slab and its
*halo*, the earlier rows that lie in one of these windows.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from math import ceil, sqrt
from typing import TYPE_CHECKING

import numpy as np

from rapids_tc.engines import registry
from rapids_tc.errors import CapacityError
from rapids_tc.plan import costs
from rapids_tc.plan.block_layout import forced_layout

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rapids_tc._typing import Array
    from rapids_tc.plan.record import Work

SHARE = 16  # of a slab and its halo, parts: one for what samples do not tell, one for new rows
SAMPLE = 40  # bytes of a sample, with what is made of it to sort them
Key = tuple[int, int]  # the code of a time and the number of a row, by which rows are in order
EARLIEST: Key = (-(2**63), 0)  # before all rows


@dataclass(frozen=True)
class Slab:
    """Rows that follow one another in the order of time.

    Attributes
    ----------
    begin : Key
        No row is before it that is not in an earlier slab.
    halo : int
        The first slab that may have rows in the windows of these.
    """

    begin: Key
    halo: int


@dataclass(frozen=True)
class SlabPlan:
    """What slabs are cut by.

    Attributes
    ----------
    name : str
        Of the analytic.
    work : Work
    engine : str
    ids : int
        How many vertices there may be.
    free : int
        Bytes that the rows of a slab and its halo may take.
    least : int
        How many slabs there are at least, if there are as many rows.
    """

    name: str
    work: Work
    engine: str
    ids: int
    free: int
    least: int

    def bytes(self, rows: int) -> int:
        """Return the bytes that a slab and its halo take, of so many rows together."""
        vertices = min(self.ids, 2 * rows)  # others get no number
        row, vertex = costs.SLAB[self.engine]
        of_row = row + costs.COLUMN * self.work.columns + self.work.values
        tables = registry.costs_of(self.engine).timed_tables(rows, vertices)
        return of_row * rows + vertex * vertices + tables

    @property
    def most(self) -> int:
        """The rows that a slab and its halo may have together."""
        if forced_layout.get():
            return costs.MOST_TIMED_ROWS - 1
        rows = range(costs.MOST_TIMED_ROWS)
        return max(bisect_right(rows, self.free, key=self.bytes) - 1, 0)

    def step(self, rows: int, parts: int) -> int:
        """Return how many rows one sample stands for, of so many rows in so many parts.

        Each part is off by half a step at most, in either direction: not all are in the same.
        """
        if forced_layout.get():
            return 1
        of_slab = min(self.most, ceil(rows / self.least))
        finest = ceil(rows * SAMPLE * SHARE / max(self.free, 1))
        return max(int(of_slab / (SHARE * sqrt(parts))), finest, 1)

    def cut(self, samples: Array, latest: Callable[[Array], Array]) -> list[Slab]:
        """Cut rows in slabs that fit, as few as there may be.

        Parameters
        ----------
        samples : array of int64, shape (3, samples)
            Codes and numbers of some rows, in any order, and of how many rows each is one.
        latest : callable
            From codes to those of the latest times whose windows reach back to them.

        Raises
        ------
        CapacityError
            The rows of one window take too much, even without the rows that see them.
        """
        codes, rows, weights = samples[:, np.lexsort(samples[1::-1])]
        before, seen = np.append(0, np.cumsum(weights)), latest(codes)
        most = self.most - self.most // SHARE  # for what samples do not tell
        least, begins, at = max(self.most // SHARE, 1), [EARLIEST], 0
        while True:
            halo = int(before[at] - before[np.searchsorted(seen, codes[at])]) if at else 0
            left = int(before[-1] - before[at])
            if most - halo < min(least, left):
                raise CapacityError(self._too_wide(halo + min(least, left)))
            each = left / max(self.least + 1 - len(begins), 1)
            fitting = np.searchsorted(before, before[at] + most - halo, side="right") - 1
            nearest = np.searchsorted(before, before[at] + each - weights[at : at + 1].sum() / 2)
            at = max(int(min(fitting, nearest)), at + 1)
            if at >= len(codes):
                break
            begins.append((int(codes[at]), int(rows[at])))
        first = np.array([code for code, _ in begins])
        reach = latest(first[1:])
        return [Slab(begin, int(np.searchsorted(reach[:i], first[i])))
                for i, begin in enumerate(begins)]  # fmt: skip

    def _too_wide(self, rows: int) -> str:
        """Say how much the rows of one window take, and what to do."""
        need = self.bytes(rows + self.most // SHARE)
        return (
            f"{self.name}: windows of time hold about {rows:,} rows together, which take "
            f"{need:,} bytes, and {self.free:,} may be taken: give a shorter within= "
            "(without it, they reach back to the first row), raise memory_limit=, or give more "
            "memory"
        )


def slabs_of(begins: Sequence[Key], ends: Array) -> range:
    """Return the slabs that have rows of a part, from its first row and its last: (2, 2) or (2, 0).

    Each has the code and the number of a row.
    """
    if not ends.shape[1]:
        return range(0)
    first, last = (bisect_right(begins, tuple(end)) - 1 for end in ends.T.tolist())
    return range(first, last + 1)
