"""What both engines share in counting cliques.

For a vertex u, the *local graph* is the edges among N+(u). A clique of k vertices is a clique of
k - 1 vertices in the local graph of its last vertex, and of no other. The local graph is a matrix
of bits, a row per vertex of N+(u), in which the common neighbors of an edge are the AND of two
rows: Chiba and Nishizeki, "Arboricity and subgraph listing algorithms", SIAM J. Comput. 14 (1985),
whose order by degree bounds the rows; Danisch, Balalau and Sozio, "Listing k-cliques in sparse
real-world graphs" (2018), take a local graph per vertex of an ordered graph, and per edge.

By edge, an edge (v, w) of the local graph of u is in as many cliques of u as its ends have common
cliques of k - 3 vertices there. A clique adds to k - 2 such edges at (u, v), and to all C(k - 1, 2)
of u: sums over the local graph need a division, and no counter per clique.
"""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING

from rapids_tc.errors import CapacityError
from rapids_tc.plan import costs as model

if TYPE_CHECKING:
    from rapids_tc.preparation.csr import Array, Csr


def check_rows(csr: Csr) -> None:
    """Raise CapacityError if a row is so long that sums over its local graph may pass 2**63."""
    if csr.longest_row > model.MOST_CLIQUE_ROW:
        raise CapacityError(
            f"a vertex has {csr.longest_row:,} neighbors of a degree no lower, and cliques are "
            f"counted of at most {model.MOST_CLIQUE_ROW:,}: give the rows that matter, such as "
            "k_truss(edges, 4)"
        )


def divide(k: int, of_rows: Array, spokes: Array | None) -> None:
    """Turn sums over the edges of local graphs into cliques: of u, and of u and v together."""
    of_rows //= comb(k - 1, 2)
    if spokes is not None:
        spokes //= k - 2
