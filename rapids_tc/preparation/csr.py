"""The oriented graph as two arrays, which every engine and every method reads."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rapids_tc import _typing

Array = _typing.Array  # for those who import it with `Csr`


def pack_keys(row: Array, column: Array, xp: Any, out: Array | None = None) -> Array:
    """Return keys (uint64) row << 32 | column of unsigned columns; in `out`, if given."""
    keys = xp.empty(len(row), "uint64") if out is None else out
    keys[:] = row
    keys <<= 32
    keys |= column
    return keys


@dataclass(frozen=True)
class Csr:
    """Compressed sparse rows of the oriented graph, which share no buffer with the user's frame.

    Vertices are ranks, 0 for the highest degree. Row ``u`` holds N+(u), the neighbors of
    smaller rank: ascending, without repeats or loops. As ranks follow degrees, no row is longer
    than the square root of twice the number of raw edge rows.

    Attributes
    ----------
    offsets : array of int64, shape (n + 1,)
        Row ``u`` is ``columns[offsets[u]:offsets[u + 1]]``.
    columns : array of uint32, shape (m,)
        The smaller rank of every edge.
    """

    offsets: Array
    columns: Array

    @cached_property
    def n(self) -> int:
        """The number of ranked vertices."""
        return len(self.offsets) - 1

    @cached_property
    def m(self) -> int:
        """The number of simple undirected edges."""
        return len(self.columns)

    @property
    def rows(self) -> Array:
        """The larger rank of every edge, uint32, shape (m,); computed again at each access."""
        xp = self._xp
        if self.n < 2:
            return xp.zeros(self.m, "uint32")
        filled = xp.flatnonzero(self.offsets[1:] > self.offsets[:-1]).astype("uint32")
        begins = self.offsets[filled]
        filled[1:] -= filled[:-1].copy()
        steps = xp.zeros(self.m, "uint32")
        steps[begins] = filled  # the distance of each filled row from the filled row before it
        return xp.cumsum(steps, dtype="uint32")

    @cached_property
    def longest_row(self) -> int:
        """The number of entries of the longest row; 0 if there is no row."""
        return int(self._xp.diff(self.offsets).max()) if self.n else 0

    def select(self, stays: Array) -> Csr:
        """Return the same rows with only the edges that stay (bool, shape (m,))."""
        stay_before = self._xp.zeros(self.m + 1, "int64")
        stay_before[1:] = self._xp.cumsum(stays, dtype="int64")
        return Csr(stay_before[self.offsets], self.columns[stays])

    def without_last_rows(self) -> Csr:
        """Return the graph without the vertices behind the last edge, if there are any."""
        end = int(self._xp.searchsorted(self.offsets, self._xp.asarray([self.m]))[0])
        return Csr(self.offsets[: end + 1], self.columns)

    @property
    def _xp(self) -> Any:
        return sys.modules[type(self.offsets).__module__.partition(".")[0]]

    def validate(self) -> None:
        """Check the invariants that kernels rely on; raise ValueError for the first one broken."""
        offsets, columns = self.offsets, self.columns
        if offsets.dtype != "int64" or columns.dtype != "uint32":
            raise ValueError(
                f"offsets must be int64 and columns uint32, not {offsets.dtype} and {columns.dtype}"
            )
        if len(offsets) == 0 or int(offsets[0]) != 0 or int(offsets[-1]) != self.m:
            raise ValueError(f"offsets must run from 0 to the number of edges, {self.m}")
        if bool((offsets[1:] < offsets[:-1]).any()):
            raise ValueError("offsets must not descend")
        rows = self.rows
        if bool((columns >= rows).any()):
            raise ValueError("a row must hold ranks below its own")
        if bool(((columns[1:] <= columns[:-1]) & (rows[1:] == rows[:-1])).any()):
            raise ValueError("a row must ascend without repeats")
