"""Sums over triangles, or over edges, of values that were read for the edges.

A `Sum`, or *quantity*, is the same on every path: it starts with zeros, to which each task, or each
block, adds its part. In memory there is one task, the whole graph; on a cluster each task starts a
sum of its own, and these sums are added up. A graph that was counted elsewhere finds a sum by name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from rapids_tc.blocks import geometry
from rapids_tc.plan import costs
from rapids_tc.preparation.edge_values import DOWN, UP

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rapids_tc.engines.protocol import ProgressCallback, Residues
    from rapids_tc.frames.backend import Array
    from rapids_tc.preparation.csr import Csr
    from rapids_tc.preparation.edge_values import Reading


class TooManyTypes(Exception):
    """The counters of all combinations of types do not fit: triangles are listed instead."""


@dataclass(frozen=True)
class Summed:
    """A sum, and the reading it was made of, whose reader is resolved."""

    values: Array
    reading: Reading


@dataclass(frozen=True)
class _Sum(ABC):
    """A sum of values that were read for the edges.

    Attributes
    ----------
    name : str
        No two sums of a call have the same.
    reading : Reading
        Where the values come from.
    """

    name: str
    reading: Reading
    by_vertex: ClassVar[bool] = False  # whether there is a sum for every rank

    def resolved(self, reading: Reading) -> Self:
        """Return the sum of a reading whose reader is resolved."""
        return replace(self, reading=reading)

    def limited(self, memory: int) -> Self:
        """Return the sum for a graph where so many bytes may be taken."""
        return self

    @abstractmethod
    def zeros(self, vertices: int, xp: Any) -> Array:
        """Return the sum of nothing."""


@dataclass(frozen=True)
class TriangleSum(_Sum):
    """A sum over triangles."""

    @property
    def of_blocks(self) -> bool:
        """Whether a whole graph is laid out as three blocks, for values of ends, not of edges."""
        return False

    @abstractmethod
    def add_task(
        self, total: Array, engine: Any, layout: Any, values: list[Any], n: int,
        residues: Residues, blocks: Sequence[Csr], on_progress: ProgressCallback | None = None,
    ) -> Array:  # fmt: skip
        """Add the triangles of a task on n x n blocks, or of a whole graph; return the sum.

        Each of `values` is an array of the reading: on blocks, the three arrays of uv, uw and vw.
        `blocks` are these three, or the whole graph alone.
        """


@dataclass(frozen=True)
class EdgeSum(_Sum):
    """A sum over edges."""

    @abstractmethod
    def add_block(
        self, total: Array, engine: Any, block: Csr, values: list[Array], n: int, at: geometry.Block
    ) -> Array:
        """Add the edges of a block, or of a whole graph; return the sum."""


Sum = TriangleSum | EdgeSum


@dataclass(frozen=True)
class Products(TriangleSum):
    """For each rank, the products of the values of the sides of its triangles, float64.

    Attributes
    ----------
    array : int
        Which array of the reading has the values.
    """

    array: int = 0
    by_vertex: ClassVar[bool] = True

    def zeros(self, vertices: int, xp: Any) -> Array:
        """See `_Sum`."""
        return xp.zeros(vertices, "float64")

    def add_task(
        self, total: Array, engine: Any, layout: Any, values: list[Any], n: int,
        residues: Residues, blocks: Sequence[Csr], on_progress: ProgressCallback | None = None,
    ) -> Array:  # fmt: skip
        """See `TriangleSum`."""
        sums = engine.vertex_sums(layout, values[self.array], on_progress=on_progress)
        if layout.whole:
            total += sums
            return total
        (i, j, k), (of_u, of_v, of_w) = residues, sums
        geometry.add_ends(total, n, (i, j), of_u, of_v)
        geometry.add_columns(total, n, k, of_w)
        return total


@dataclass(frozen=True)
class TypeCounts(TriangleSum):
    """The triangles by the types of their sides uv, uw and vw, int64, shape (types,) * 3.

    Attributes
    ----------
    types : int
        How many types there are; 0 if the resolved reading says so.
    per : str
        "vertex" or "edge" if the triangles of each are asked for: a tally, and no sum.
    memory : int, optional
        Bytes that the counters of all combinations may take, and the answer that is made of them.
    """

    types: int = 0
    per: str = ""
    memory: int | None = None

    def limited(self, memory: int) -> Self:
        """See `_Sum`."""
        return replace(self, memory=memory if self.memory is None else min(memory, self.memory))

    def fits(self, types: int) -> bool:
        """Return whether the counters of so many types may be made."""
        return self.memory is None or costs.COMBINATION * types**3 <= self.memory

    @property
    def of_blocks(self) -> bool:
        """See `TriangleSum`."""
        return self.reading.vertex_types is not None

    def zeros(self, vertices: int, xp: Any) -> Array:
        """See `_Sum`; TooManyTypes if the counters do not fit."""
        if not self.fits(self._size):
            raise TooManyTypes
        return xp.zeros((self._size,) * 3, "int64")

    @property
    def _size(self) -> int:
        return self.types or len(self.reading.types)

    def add_task(
        self, total: Array, engine: Any, layout: Any, values: list[Any], n: int,
        residues: Residues, blocks: Sequence[Csr], on_progress: ProgressCallback | None = None,
    ) -> Array:  # fmt: skip
        """See `TriangleSum`."""
        types = values[0]
        if self.of_blocks:  # the types of v, u and w, by the edges uv, uw and vw
            larger, smaller = values
            types = smaller[0], larger[1], smaller[2]
        counts: Array = engine.type_counts(layout, types, total, on_progress=on_progress)
        return counts


@dataclass(frozen=True)
class Degrees(EdgeSum):
    """For each rank, the edges that lead out, that lead in, and that do both: int64, (3, ranks).

    Attributes
    ----------
    array : int
        Which array of the reading has the states.
    mark : int
        Bits that the states of the edges have that count.
    """

    array: int = 0
    mark: int = 0
    by_vertex: ClassVar[bool] = True

    def zeros(self, vertices: int, xp: Any) -> Array:
        """See `_Sum`."""
        return xp.zeros((3, vertices), "int64")

    def add_block(
        self, total: Array, engine: Any, block: Csr, values: list[Array], n: int, at: geometry.Block
    ) -> Array:
        """See `EdgeSum`."""
        states = values[self.array]
        outward, inward, mutual = total
        for bits, of_rows, of_columns in (
            (DOWN, outward, inward), (UP, inward, outward), (DOWN | UP, mutual, mutual),
        ):  # fmt: skip
            has = ((states & (bits | self.mark)) == (bits | self.mark)).astype("uint32")
            by_row, by_column = engine.sum_counts(block, has)
            geometry.add_rows(of_rows, n, at, by_row)
            geometry.add_columns(of_columns, n, at[1], by_column)
            del has, by_row, by_column
        return total


@dataclass(frozen=True)
class Ends(EdgeSum):
    """For each rank, the values, which are small integers, of its edges: int64."""

    by_vertex: ClassVar[bool] = True

    def zeros(self, vertices: int, xp: Any) -> Array:
        """See `_Sum`."""
        return xp.zeros(vertices, "int64")

    def add_block(
        self, total: Array, engine: Any, block: Csr, values: list[Array], n: int, at: geometry.Block
    ) -> Array:
        """See `EdgeSum`."""
        geometry.add_ends(total, n, at, *engine.sum_counts(block, values[0].astype("uint32")))
        return total
