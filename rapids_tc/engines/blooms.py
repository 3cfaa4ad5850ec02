"""What both engines share in the bitruss decomposition: an index of wedges by their two ends.

An edge has *bitruss number* k if k is the largest number for which it is in a subgraph whose every
edge is in k squares of it. The *peel* starts from the *support* of every edge, the number of its
squares, and removes, level by level, the edges of too little support.

A *bloom* is a pair of vertices u and w, and all wedges u - v - w whose lowest rank is u: c of them
make c (c - 1) / 2 squares, and every square is in one bloom (`rapids_tc.engines.wedges`). So the
support of an edge is the sum, over its wedges, of the wedges of their blooms less one. Both edges
of a wedge are *twins* there. A round removes its whole frontier at once, in two steps:

- Each edge of the frontier goes through its wedges, and takes those out of which no earlier round
  has taken an edge. Its twin loses all squares of the wedge: one for each other wedge of the bloom.
  If both twins are in the frontier, the one of the smaller number takes the wedge out.
- In each bloom that r wedges were taken out of, both edges of every other wedge lose r squares.

No wedge is taken out twice, and squares are counted off once, so that no support falls below 0.
The first step looks at each wedge of the graph at most twice in all rounds. The second looks at no
more wedges than there are squares, and at far fewer, since a bloom that loses many wedges in one
round is walked once.

Blooms are the index of Wang, Lin, Qin, Zhang and Zhang, "Efficient bitruss decomposition for
large-scale bipartite graphs", ICDE 2020, and batches of one level their BiT-BU++. They hold for any
graph, since no step asks for two sides. The bitruss is from Zou, "Bitruss decomposition of
bipartite graphs", DASFAA 2016.

Edges are numbered by their lower ranks, and for one of these by the higher: as the lists of wedges
are. List i has the wedges that begin with edge i = (u, v) at u, in the order of row v. The wedges
of an edge are

- those of its own list;
- those that end with it at u, in the lists of the edges (x, v), with x < u;
- those that end with it at v, in the lists of the edges (x, u), where x < u.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rapids_tc.errors import CapacityError
from rapids_tc.plan import costs as model

if TYPE_CHECKING:
    from rapids_tc.engines.wedges import WedgeRows
    from rapids_tc.preparation.csr import Array

NO_BLOOM = 0xFFFFFFFF  # of a wedge that is alone: it is in no square


@dataclass(frozen=True)
class WedgeLists:
    """The lists of wedges, of all edges.

    Attributes
    ----------
    wedges : WedgeRows
    lower : array of uint32, shape (m,)
        The lower rank of each edge, by number.
    numbers : array of uint32, shape (m,)
        The number of each edge, by its position in ``csr.columns``.
    bases : array of int64, shape (m,)
        The wedge of list i that ends at position q of a row of all neighbors has number
        ``bases[i] + q``: those of a list follow one another, and so do lists.
    """

    wedges: WedgeRows
    lower: Array
    numbers: Array
    bases: Array


@dataclass(frozen=True)
class Blooms:
    """The wedges of the graph by their ends.

    Attributes
    ----------
    lists : WedgeLists
    bloom_of : array of uint32, shape (wedges,)
        The bloom of every wedge, or `NO_BLOOM`.
    begins : array of int64, shape (blooms + 1,)
        The wedges of bloom b are ``pairs[begins[b]:begins[b + 1]]``.
    pairs : array of uint32, shape (wedges of blooms, 2), or longer
        The numbers of the two edges of each wedge.
    """

    lists: WedgeLists
    bloom_of: Array
    begins: Array
    pairs: Array


def require_index(wedges: int, memory: int, together: int = 0) -> None:
    """Raise CapacityError if the index of so many wedges is more than can be made.

    While it is made, so many wedges are sorted together.
    """
    need = model.WEDGE * wedges + model.SORTED_WEDGE * min(wedges, together)
    if wedges >= model.MOST_WEDGES or need > memory:
        raise CapacityError(
            f"the index of {wedges:,} wedges, paths of two edges, takes about {need:,} bytes; it "
            f"may have fewer than {model.MOST_WEDGES:,} and take {memory:,} bytes: give fewer "
            "edges, such as those that edge_squares(edges) finds in many squares"
        )
