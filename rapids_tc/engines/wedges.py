"""What both engines share in counting squares, cycles of four vertices, by wedges.

A *wedge* u - v - w is a path of two edges, with v in the middle. It is walked at its end u if u is
the lowest of the three ranks. Let c(w) be how many wedges lead from u to w: a square whose lowest
rank is u, and whose opposite vertex is w, is two of them, so that there are C(c(w), 2). Every
square has one such pair of vertices, and is counted once.

The square is counted at its other vertices by a second walk: the wedge u - v - w is in c(w) - 1
squares, which are those of v, and of the edges (u, v) and (v, w), among the squares of u and w.
An edge has two *entries*, one in the row of each end: (u, v) adds to the entry v of row u, (v, w)
to the entry w of row v, and the squares of an edge are the sum over both.

The order by degree is from Chiba and Nishizeki, "Arboricity and subgraph listing algorithms", SIAM
J. Comput. 14 (1985), whose bound of m a(G) steps holds; counting at the end of highest degree is
from Wang, Lin, Qin, Zhang and Zhang, "Vertex priority based butterfly counting", VLDB 2019.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rapids_tc.errors import CapacityError
from rapids_tc.plan import costs as model

if TYPE_CHECKING:
    from rapids_tc.preparation.csr import Array, Csr


@dataclass(frozen=True)
class WedgeRows:
    """The rows of all neighbors, and where the wedges from u by way of v begin in row v.

    Attributes
    ----------
    csr : Csr
        The graph.
    rows : Csr
        All neighbors of every rank, ascending: first those of `csr`, then higher ranks.
    places : array of uint32, shape (m,)
        For u, and each neighbor v of a higher rank: the position in ``rows.columns`` behind the
        entry u of row v. The place of the entry at p in row u is ``places[p - offsets[u + 1]]``,
        with the offsets of `csr`.
    """

    csr: Csr
    rows: Csr
    places: Array


def check_edges(csr: Csr) -> None:
    """Raise CapacityError if positions of all neighbors, or numbers of squares, may not fit."""
    if csr.m >= model.MOST_SQUARE_EDGES:
        raise CapacityError(
            f"{csr.m:,} edges, and squares are counted of fewer than {model.MOST_SQUARE_EDGES:,}: "
            "give fewer, such as those between vertices of two neighbors or more"
        )
