"""What is made of every triangle of a graph: a `Quantity`, which `Engine.visit` adds up."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from rapids_tc.preparation.edge_values import UNREAD, Reading

if TYPE_CHECKING:
    from rapids_tc.preparation.csr import Array


# What the values a and b of two sides that meet at a vertex of value x make for the third side:
# the least, the largest, the sum, the product, a * b * x; or b * x, but 0 if a is.
LEAST, LARGEST, ADDED, MULTIPLIED, THROUGH, REDUNDANT = range(6)  # as in ties.cuh


@dataclass(frozen=True)
class Quantity:
    """What is combined over triangles, part by part: a sum, or a largest value.

    An engine calls a visitor for each triangle u > v > w. The visitor has the same name on both
    engines: a class of `rapids_tc.engines.cpu.visitors`, and a struct of ``triangles.cuh``.

    Attributes
    ----------
    name : str
        No two quantities of a call have the same.
    reading : Reading, optional
        Where the values of edges come from, if they are read from the user's rows.
    visitor : str
        The name of the visitor.
    per : {"edge", "vertex", "total"}
        What has a sum of its own: each edge, each vertex, or the graph.
    takes : {"sides", "spans", "codes", "levels", "corners", "pairs", "ties"}
        What the visitor is given: a value of each edge, the `Spans` of each edge, what is `Coded`
        of each edge, a value of each edge with one of these two or None, a value of each vertex, or
        four values of each edge. What takes "ties" has no visitor, but asks for such pairs itself:
        see `rapids_tc.blocks.ties`.
    value : str
        The dtype of these values, unless they are spans.
    dtype : str
        The dtype of the sums.
    rows : int
        How many sums an edge has.
    answer : str
        The dtype of a column made of the sums, if it is not `dtype`.
    zero : number
        The sum of an edge or vertex without a triangle.
    combine : {"add", "maximum"}
        The function of NumPy that makes one sum of two parts.
    by_vertex : bool
        Whether the answer has a value for every rank, even if each edge has a sum.
    small : bool
        Whether the values of sides are whole numbers from -128 to 127.
    by_arc : bool
        Whether each arc has a sum, two of an edge: `rows` is 2. What the visitor is given is of
        arcs, too, in the order of `EdgeRows.arcs`, and the ``choices`` of arcs that count.
    """

    name: str
    reading: Reading = UNREAD
    visitor: ClassVar[str]
    per: ClassVar[str] = "edge"
    takes: ClassVar[str] = "sides"
    value: ClassVar[str] = "float64"
    dtype: ClassVar[str] = "int64"
    rows: ClassVar[int] = 1
    answer: ClassVar[str] = ""
    zero: ClassVar[Any] = 0
    combine: ClassVar[str] = "add"
    by_vertex: ClassVar[bool] = False
    small: ClassVar[bool] = False
    by_arc: ClassVar[bool] = False

    @property
    def choices(self) -> int:
        """Which arcs of three sides count: bit i if those up are uv for 1, uw for 2, vw for 4."""
        return 1

    @property
    def as_blocks(self) -> bool:
        """Whether even a whole graph gets a layout of blocks: values of ends need one."""
        return False

    @property
    def size(self) -> int:
        """How many types or windows a total tells apart."""
        return 0

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of a total."""
        return (self.size,)

    def resolved(self, reading: Reading) -> Self:
        """Return the quantity with a reading whose reader is resolved."""
        return replace(self, reading=reading)

    def limited(self, memory: int) -> Self:
        """Return the quantity for a graph that may take so many bytes of memory."""
        return self

    def values(self, arrays: list[Array], side: int) -> Any:
        """Return what the visitor is given of uv, uw or vw, from the arrays of the reading."""
        return arrays[0]

    def start(self, edges: int, xp: Any) -> Array:
        """Return the sums of so many edges before any triangle is seen."""
        shape = (self.rows, edges) if self.rows > 1 else edges
        return xp.full(shape, self.zero, self.dtype) if self.zero else xp.zeros(shape, self.dtype)

    def finished(self, sums: Array) -> Array:
        """Return the final sums of edges, from what a visitor of all triangles has left."""
        return sums

    def of_edges(self, sums: Array) -> Array:
        """Return the sums of edges in one row, as a graph keeps them."""
        return sums

    def combined(self, one: Array, other: Array, xp: Any) -> Array:
        """Return what two parts of the sums combine to."""
        return getattr(xp, self.combine)(one, other)
