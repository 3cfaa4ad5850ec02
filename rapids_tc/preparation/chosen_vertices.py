"""Vertices that the user chooses, and the edges apart from them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rapids_tc.preparation.edge_values import EndTypes, Reading
from rapids_tc.preparation.named_ids import find_vertices
from rapids_tc.preparation.readers import VertexReader

if TYPE_CHECKING:
    from rapids_tc._typing import Array, ArrayModule
    from rapids_tc.preparation.ids import Ids
    from rapids_tc.preparation.orient import Order


@dataclass(frozen=True, eq=False)
class ChosenVertices(VertexReader):
    """The vertices that the user chooses.

    Attributes
    ----------
    source : any
        The vertices as the user names them.
    codes : array of bool or None
        Whether each rank is chosen, once that is resolved.
    """

    source: Any
    types: Any = None
    codes: Any = None

    def resolve(self, ids: Ids, order: Order) -> ChosenVertices:
        """Find the ranks of the vertices in a graph; errors are those of `find_vertices`."""
        codes = ids.backend.xp.zeros(order.n, bool)
        codes[order.rank[find_vertices(ids, self.source, order.present)]] = True
        return replace(self, source=None, codes=codes)


@dataclass(frozen=True)
class Marks(EndTypes):
    """One float64 per edge, made from its ends."""

    bytes = 8


@dataclass(frozen=True)
class Apart(Reading):
    """1.0 for an edge without a chosen end, and 0.0 for others."""

    def with_ends(
        self, arrays: list[Array], larger: Array, smaller: Array, xp: ArrayModule
    ) -> list[Array]:
        """Return the mark of each edge, from the ranks of its ends."""
        chosen: Any = self.vertex_types and self.vertex_types.codes
        return [(~(chosen[larger] | chosen[smaller])).astype("float64")]


def apart(vertices: Any) -> Apart:
    """Return the reading that marks the edges apart from some vertices."""
    return Apart(Marks(), vertex_types=ChosenVertices(vertices))
