"""What analytics ask of a graph: quantities over triangles, and sums over edges.

Each is the same on every path: each task, or each block, makes a part, and the parts combine. In
memory the whole graph is one task. Where sums were made by other workers, they are found by name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from rapids_tc.blocks import geometry
from rapids_tc.engines.protocol import Coded, Spans
from rapids_tc.engines.quantity import LEAST, Quantity
from rapids_tc.plan import costs
from rapids_tc.preparation.edge_values import DOWN, UP
from rapids_tc.preparation.entries import Entries
from rapids_tc.preparation.time_values import windows_of, with_memory

if TYPE_CHECKING:
    from rapids_tc.frames.backend import Array
    from rapids_tc.preparation.csr import Csr
    from rapids_tc.preparation.edge_values import Reading

ENDS = (1, 0, 1)  # which end of uv is v, of uw is u, and of vw is w: 0 the larger, 1 the smaller

_AROUND = 1 << 2 | 1 << 5  # uv and vw down and uw up, or the other way round
CHOICES = {"": 1, "cycle": _AROUND, "flow": 255 ^ _AROUND}  # by what counts: see `Quantity.choices`


class TooManyTypes(Exception):
    """The counters of all combinations of types do not fit: triangles are listed instead."""


@dataclass(frozen=True)
class Summed:
    """A sum, and the reading that it was made from, whose reader is resolved."""

    values: Array
    reading: Reading


# Over triangles -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Products(Quantity):
    """For each rank, the sum over its triangles of the product of their three values: float64.

    Attributes
    ----------
    array : int
        Which array of the reading has the values.
    """

    array: int = 0
    visitor = "VertexSums"
    per = "vertex"
    dtype = "float64"
    by_vertex = True

    def values(self, arrays: list[Array], side: int) -> Array:
        """See `Quantity`."""
        return arrays[self.array]


@dataclass(frozen=True)
class SmallProducts(Products):
    """The same, of values that are whole numbers from -128 to 127: a GPU has them in a byte."""

    small = True


@dataclass(frozen=True)
class TrianglesByType(Quantity):
    """The triangles by the types of their sides uv, uw and vw: int64, shape (types,) * 3.

    Attributes
    ----------
    types : int
        How many types there are; 0 if the resolved reading says so.
    by : str
        "vertex" or "edge" if the triangles of each are asked for: these are tallied, not summed.
    memory : int, optional
        Bytes that may be taken by the counters of all combinations and the answer made from them.
    """

    types: int = 0
    by: str = ""
    memory: int | None = None
    visitor = "TypeCounts"
    per = "total"
    value = "uint8"

    def limited(self, memory: int) -> Self:
        """See `Quantity`: the counters of `types` that are known before are few, and always fit."""
        if self.types:
            return self
        return replace(self, memory=memory if self.memory is None else min(memory, self.memory))

    def fits(self, types: int) -> bool:
        """Return whether the counters of so many types may be made."""
        return self.memory is None or costs.COMBINATION * types**3 <= self.memory

    def resolved(self, reading: Reading) -> Self:
        """See `Quantity`; TooManyTypes if the counters do not fit."""
        result = super().resolved(reading)
        if not self.fits(result.size):
            raise TooManyTypes
        return result

    @property
    def size(self) -> int:
        """See `Quantity`."""
        return self.types or len(self.reading.types)

    @property
    def shape(self) -> tuple[int, ...]:
        """See `Quantity`."""
        return (self.size,) * 3

    @property
    def as_blocks(self) -> bool:
        """See `Quantity`."""
        return self.reading.vertex_types is not None

    def values(self, arrays: list[Array], side: int) -> Array:
        """See `Quantity`: of vertices, uv gives the type of v, uw gives u's, and vw gives w's."""
        return arrays[ENDS[side] if self.as_blocks else 0]


@dataclass(frozen=True)
class TrianglesByLevel(Quantity):
    """The triangles of every edge whose two other sides reach its levels: uint32, in two rows.

    The value of an edge (uint64) holds two levels, upper << 32 | probe. A triangle counts as the
    smaller upper level of its two other sides. The second row has the triangles that count as no
    less than the edge's probe; the first row has those that also reach its upper level. With these
    values come kinds of the edges, if triangles of a kind count alone.
    """

    visitor = "LevelCounts"
    takes = "levels"
    value = "uint64"
    dtype = "uint32"
    rows = 2

    def finished(self, sums: Array) -> Array:
        """See `Quantity`: the visitor counts a triangle of both rows in the first one only."""
        sums[1] += sums[0]
        return sums


@dataclass(frozen=True)
class CommonNeighborSums(Quantity):
    """For every edge, the sum of the values of the common neighbors of its ends: int64.

    The sums are exact as long as they fit. `name` is the name of a formula in
    `rapids_tc.blocks.third_sums`.
    """

    visitor = "ThirdSums"
    takes = "corners"
    value = "int64"
    answer = "float64"


@dataclass(frozen=True)
class TriangleSideSums(Quantity):
    """For every triangle, the sum of the values (uint32) of its sides, at two of them: int64.

    The first row has the sums of the triangles u > v > w whose side uv the edge is, the second row
    those of the triangles whose side vw it is. So the sums of a vertex are those at its edges, both
    ends of the first row, and the smaller end of the second.
    """

    visitor = "SideSums"
    value = "uint32"
    rows = 2


@dataclass(frozen=True)
class PairSums(Quantity):
    """For every edge, the sum over its triangles of what their two other sides make: int64.

    The visitor takes four arrays of float64, from 0 on: the value of each edge, the scale in which
    its sum is made of whole numbers, and a value of its larger end and of its smaller end.

    Attributes
    ----------
    rule : int
        What two sides make: `LEAST` or another of `rapids_tc.engines.quantity`.
    """

    rule: int = LEAST
    visitor = "PairSums"
    takes = "pairs"

    def values(self, arrays: list[Array], side: int) -> tuple[Array, ...]:
        """See `Quantity`."""
        return tuple(arrays)


@dataclass(frozen=True)
class EndPairSums(PairSums):
    """The same for either end of every edge, in two rows.

    For an edge from u to v, the first row has b * x if a is not 0, with a the value of the side
    from the larger end, u, to x, and b that of the side from x to v. The second row is that of v.
    """

    rows = 2


@dataclass(frozen=True)
class _InTime(Quantity):
    """A quantity of the windows in which all sides of a triangle are present."""

    takes = "spans"

    def values(self, arrays: list[Array], side: int) -> Spans:
        """See `Quantity`."""
        first, last, offsets = arrays
        return Spans(first=first, last=last, offsets=offsets if len(offsets) else None)


@dataclass(frozen=True)
class ChangesByWindow(_InTime):
    """By how many triangles each window has more than the window before: int64.

    Their running sum is the number of triangles of each window; it ends at 0.

    Attributes
    ----------
    windows : int
        How many windows there are; 0 if the resolved reading says so.
    """

    windows: int = 0
    visitor = "WindowChanges"
    per = "total"

    def limited(self, memory: int) -> Self:
        """See `Quantity`: the limit is for the windows."""
        return replace(self, reading=with_memory(self.reading, memory))

    @property
    def size(self) -> int:
        """See `Quantity`."""
        return self.windows or windows_of(self.reading.readers[0]).count

    @property
    def shape(self) -> tuple[int, ...]:
        """See `Quantity`."""
        return (self.size + 1,)


@dataclass(frozen=True)
class Within(_InTime):
    """The triangles of every edge whose edges are present at once: uint32."""

    visitor = "SpanEdgeCounts"
    dtype = "uint32"
    answer = "int64"

    @property
    def choices(self) -> int:
        """See `Quantity`."""
        return CHOICES[self.reading.rule.arcs]


@dataclass(frozen=True)
class WithinByVertex(Within):
    """For each rank, the triangles whose edges are present at once: int64."""

    by_vertex = True


@dataclass(frozen=True)
class OfKind(Within):
    """The triangles of every edge whose edges have codes that go together: uint32.

    The rule of the reading is `Entries`.
    """

    takes = "codes"

    def values(self, arrays: list[Array], side: int) -> Any:
        """See `Quantity`: a `Coded`."""
        *intervals, codes = arrays
        spans = super().values(intervals, side) if intervals else None
        return Coded(codes, cast("Entries", self.reading.rule).table, spans)


@dataclass(frozen=True)
class OfKindByVertex(OfKind):
    """For each rank, the triangles whose edges have codes that go together: int64."""

    by_vertex = True


@dataclass(frozen=True)
class ArcsWithin(Within):
    """The directed triangles of every arc whose arcs are present at once: int64."""

    visitor = "ArcCounts"
    dtype = "int64"
    rows = 2
    by_arc = True

    def of_edges(self, sums: Array) -> Array:
        """See `Quantity`: those of arcs up are behind those of arcs down."""
        return sums.ravel()


@dataclass(frozen=True)
class ArcsWithinByVertex(ArcsWithin):
    """For each rank, the directed triangles whose arcs are present at once: int64."""

    by_vertex = True

    def of_edges(self, sums: Array) -> Array:
        """See `Quantity`: those of both arcs."""
        return sums.sum(axis=0)


@dataclass(frozen=True)
class ArcsOfKind(ArcsWithin, OfKind):
    """The directed triangles of every arc whose arcs have codes that go together: int64."""


@dataclass(frozen=True)
class ArcsOfKindByVertex(ArcsWithinByVertex, OfKind):
    """For each rank, the directed triangles whose arcs have codes that go together: int64."""


def of_kind(name: str, reading: Reading, *, by_vertex: bool = False) -> Within:
    """Return the triangles of the kind of a reading, of every edge or arc, or of every rank."""
    if reading.rule.arcs:
        if isinstance(reading.rule, Entries):
            return (ArcsOfKindByVertex if by_vertex else ArcsOfKind)(name, reading)
        return (ArcsWithinByVertex if by_vertex else ArcsWithin)(name, reading)
    if isinstance(reading.rule, Entries):
        return (OfKindByVertex if by_vertex else OfKind)(name, reading)
    return (WithinByVertex if by_vertex else Within)(name, reading)


# Over edges ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RankSum(ABC):
    """A value of each rank that follows from values that were read for edges.

    Attributes
    ----------
    name : str
        No two sums of a call have the same.
    reading : Reading
        Where the values come from.
    """

    name: str
    reading: Reading
    by_vertex: ClassVar[bool] = True

    def resolved(self, reading: Reading) -> Self:
        """Return the sum of a reading whose reader is resolved."""
        return replace(self, reading=reading)

    def limited(self, memory: int) -> Self:
        """Return the sum for a graph that may take so many bytes of memory."""
        return self


class EdgeSum(RankSum):
    """A sum over edges of values that were read for them, for each rank."""

    @abstractmethod
    def zeros(self, vertices: int, xp: Any) -> Array:
        """Return the sum of nothing."""

    @abstractmethod
    def add_block(
        self, total: Array, engine: Any, block: Csr, values: list[Array], n: int, at: geometry.Block
    ) -> Array:
        """Add the edges of a block, or of a whole graph; return the sum."""


@dataclass(frozen=True)
class Degrees(EdgeSum):
    """For each rank, how many edges lead out, lead in, and do both: int64, (3, ranks).

    Attributes
    ----------
    array : int
        Which array of the reading has the states.
    mark : int
        Bits that the state of an edge must have for the edge to count.
    """

    array: int = 0
    mark: int = 0

    def zeros(self, vertices: int, xp: Any) -> Array:
        """See `EdgeSum`."""
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
class ValuesAtEnds(EdgeSum):
    """For each rank, the sum of the values of its edges, which are small integers: int64."""

    def zeros(self, vertices: int, xp: Any) -> Array:
        """See `EdgeSum`."""
        return xp.zeros(vertices, "int64")

    def add_block(
        self, total: Array, engine: Any, block: Csr, values: list[Array], n: int, at: geometry.Block
    ) -> Array:
        """See `EdgeSum`."""
        geometry.add_ends(total, n, at, *engine.sum_counts(block, values[0].astype("uint32")))
        return total


class TieSum(RankSum):
    """A value of each rank that follows from the weights of edges, float64.

    The reading gives one array, of weights from 0 to 2.
    """

    @abstractmethod
    def by_rank(self, steps: Any, weights: Any) -> Any:
        """Make the steps of `rapids_tc.blocks.ties`; return the values of ranks."""


Sum = Quantity | EdgeSum | TieSum
