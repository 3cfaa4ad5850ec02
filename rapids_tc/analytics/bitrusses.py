"""Bitrusses: subgraphs in which every edge is in many squares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rapids_tc._arguments import check_flag
from rapids_tc._typing import Series
from rapids_tc.analytics.analytic import analytic
from rapids_tc.plan.record import Column, Needs, OwnOptions, Result, Work, of_one_machine

if TYPE_CHECKING:
    from rapids_tc.graphs.in_memory import InMemoryGraph

COLUMN = Column("int32", lambda edges: edges.bitruss, Needs.BITRUSS)


def _in_memory(own: OwnOptions) -> str:
    return "leave out vertices of one neighbor, whose edges are in no square"


def _local(own: OwnOptions, kind: str) -> TypeError:
    return of_one_machine("bitruss", kind, rows="")  # squares lie outside of trusses, too


@analytic(
    Work(Needs.BITRUSS, Result.COLUMN),
    columns={"bitruss": COLUMN},
    check=lambda own: check_flag(own, "bipartite"),
    in_memory=_in_memory,
    local=_local,
)
def bitruss(
    graph: InMemoryGraph, *, bipartite: bool = False, memory_limit: int | None = None
) -> Series:
    """Find the largest k whose k-bitruss holds the edge of each row: the bitruss decomposition.

    The k-bitruss is the largest subgraph whose every edge is in at least k squares of it, cycles of
    four vertices: the butterflies of a bipartite graph, for which it is defined in the literature.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge. All rows of one edge get its value, a self loop gets 0. The edges are
        peeled in memory.
    bipartite : bool, optional
        Whether the two columns never meet: user 5 is not item 5. By default equal ids are one
        vertex. A `Graph` has it chosen.

    Returns
    -------
    Series
        ``bitruss``, int32, one value per row, with the index of `edges`: 0 for an edge in no
        square, (a - 1) (b - 1) for the edges of a complete bipartite graph of a and b vertices that
        lie in nothing denser.

    Raises
    ------
    CapacityError
        The index of wedges, paths of two edges, takes more than the limit, or than is free; or the
        graph has 2**31 edges or more. Other errors: see `Graph`.

    See Also
    --------
    edge_squares : The squares of each row's edge in the whole graph.
    trussness : The same of triangles, on every path.
    annotate : Several columns from one preparation.

    Notes
    -----
    The bitruss is from Zou, "Bitruss decomposition of bipartite graphs", DASFAA (2016); some call
    it the k-wing. All edges of the least number of squares are removed together, round by round, by
    an index of wedges with the same ends, as in Wang, Lin, Qin, Zhang and Zhang, "Efficient bitruss
    decomposition for large-scale bipartite graphs", ICDE (2020).

    The index takes up to 24 bytes for each wedge whose ends both have a higher rank by degree than
    its middle has, or whose middle is between them. `memory_estimate` leaves it out, since the
    number of wedges is known when the edges are laid out: it is at most the sum, over the edges, of
    the smaller degree of their ends. Cost: as `edge_squares`, and then about 20 looks per wedge,
    where vertices differ much in their degrees.

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> df = pd.DataFrame({"buyer": [0, 0, 1, 1, 2], "good": [0, 1, 0, 1, 1]})
    >>> tc.bitruss(df, source="buyer", destination="good", bipartite=True).tolist()
    [1, 1, 1, 1, 0]
    """
    return graph.edge_columns({"bitruss": graph.bitruss(memory_limit)})["bitruss"]
