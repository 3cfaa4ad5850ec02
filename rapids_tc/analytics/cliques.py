"""Cliques of three to five vertices: of the graph, of its vertices and of its edges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rapids_tc._arguments import is_integer
from rapids_tc._typing import Array, Frame, Series, Vertices
from rapids_tc.analytics.analytic import analytic
from rapids_tc.errors import CapacityError
from rapids_tc.frames.backend import exact_sum
from rapids_tc.plan.record import Needs, OwnOptions, Result, Work, of_one_machine

if TYPE_CHECKING:
    from collections.abc import Callable

    from rapids_tc.graphs.in_memory import InMemoryGraph

SIZES = (3, 4, 5)


def _check_k(own: OwnOptions) -> OwnOptions:
    k = own["k"]
    if not is_integer(k) or k not in SIZES:
        raise ValueError(f"k={k!r}; accepted: 3 (triangles, which count finds faster), 4 or 5")
    return {**own, "k": int(k)}


def _in_memory(own: OwnOptions) -> str:
    return f"k_truss(edges, {own['k']}) is, and its rows have the same cliques"


def _local(name: str) -> Callable[[OwnOptions, str], TypeError]:
    def local(own: OwnOptions, kind: str) -> TypeError:
        rows = f"k_truss(edges, {own['k']}).compute(), whose rows have the same cliques"
        return of_one_machine(name, kind, rows)

    return local


def count_cliques(
    graph: InMemoryGraph, k: int, per: str = "row"
) -> tuple[int, Array, Array | None]:
    """Count the cliques of the graph, at their last rank, and per vertex or edge."""
    csr = graph.csr  # reports its own stages
    with graph.stage("counting") as report:
        at_last, counts = graph.engine.cliques(csr, k, per=per, on_progress=report.on_progress)
    return exact_sum(at_last), at_last, counts


def require_int64(total: int, k: int) -> None:
    """Raise CapacityError if there are so many cliques that a sum of some may not fit int64."""
    if total >= 2**63:
        raise CapacityError(
            f"there are {total:,} cliques of {k} vertices, and int64 holds less than 2**63: "
            f"cliques(edges, k={k}) without by= gives the number of the graph"
        )


@analytic(
    Work(Needs.CLIQUES, Result.VALUE),
    fields=("cliques",),
    check=_check_k,
    in_memory=_in_memory,
    local=_local("cliques"),
)
def cliques(graph: InMemoryGraph, k: int = 4) -> int | Frame:
    """Count the cliques of k vertices: the sets of k vertices of which each two are neighbors.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge. The edges are counted in memory.
    k : int, optional
        The vertices of a clique: 3, 4 or 5.

    Returns
    -------
    int or DataFrame
        With `by`, one row per group, sorted by group: the columns of groups, and ``cliques``,
        int64. Without, exact however large.

    Raises
    ------
    ValueError
        `k` is not 3, 4 or 5.
    CapacityError
        A vertex has more than 65,536 neighbors of a degree no lower; or, with `by`, the groups have
        2**63 cliques or more. Other errors: see `Graph`.

    See Also
    --------
    vertex_cliques : The cliques of each vertex.
    edge_cliques : The cliques of each edge.
    count : The cliques of three vertices, on every path, and faster.
    k_truss : The edges that cliques of k vertices can be made of, and others.

    Notes
    -----
    All cliques count, within larger ones too. For each vertex, the edges among its neighbors of
    higher degree become a matrix of bits, where the common neighbors of an edge are the AND of two
    rows. Work for k = 4: a look-up per entry of the rows of these neighbors, and d / 64 words per
    triangle, if d is the length of the rows; for k = 5, so many per clique of four.

    The order by degree is from Chiba and Nishizeki, "Arboricity and subgraph listing algorithms",
    SIAM J. Comput. 14 (1985), who list cliques in O(m a(G) ** (k - 2)); a local graph per vertex is
    from Danisch, Balalau and Sozio, "Listing k-cliques in sparse real-world graphs", WWW (2018).

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> df = pd.DataFrame({"src": [0, 0, 0, 1, 1, 2, 3], "dst": [1, 2, 3, 2, 3, 3, 4]})
    >>> tc.cliques(df, k=4)
    1
    >>> tc.cliques(df.assign(day=["mon"] * 6 + ["tue"]), k=4, by="day")
       day  cliques
    0  mon        1
    1  tue        0
    """
    total, at_last, _ = count_cliques(graph, k)
    if graph.groups is None:
        return total
    require_int64(total, k)
    return graph.group_frame({"cliques": graph.group_sums(at_last)})


@analytic(
    Work(Needs.CLIQUES, Result.VERTICES),
    fields=("cliques",),
    check=_check_k,
    in_memory=_in_memory,
    local=_local("vertex_cliques"),
)
def vertex_cliques(graph: InMemoryGraph, k: int = 4, *, vertices: Vertices | None = None) -> Frame:
    """Count the cliques of k vertices that each vertex is in.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge. The edges are counted in memory.
    k : int, optional
        The vertices of a clique: 3, 4 or 5.
    vertices : list, array, Series, Index or DataFrame, optional
        The vertices to report; see `vertex_triangles`.

    Returns
    -------
    DataFrame
        ======= ======= ==============================================
        vertex  as ids  every id seen in either column, or `vertices`
        cliques int64   cliques of k vertices that the vertex is in
        ======= ======= ==============================================

    Raises
    ------
    ValueError
        `k` is not 3, 4 or 5, or some of `vertices` are not in the graph.
    CapacityError
        A vertex has more than 65,536 neighbors of a degree no lower, or the graph has 2**63 cliques
        or more. Other errors: see `Graph`.

    See Also
    --------
    cliques : The cliques of the graph.
    edge_cliques : The cliques of each edge.
    vertex_triangles : The cliques of three vertices, on every path, and faster.

    Notes
    -----
    The sum over all vertices is k times `cliques`. Cost: up to three times that of `cliques`.

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> df = pd.DataFrame({"src": [0, 0, 0, 1, 1, 2, 3], "dst": [1, 2, 3, 2, 3, 3, 4]})
    >>> tc.vertex_cliques(df, k=4, vertices=[3, 4])
       vertex  cliques
    0       3        1
    1       4        0
    """
    total, _, counts = count_cliques(graph, k, "vertex")
    require_int64(total, k)
    return graph.vertex_frame({"cliques": counts}, vertices)


@analytic(
    Work(Needs.CLIQUES, Result.COLUMN),
    fields=("cliques",),
    check=_check_k,
    in_memory=_in_memory,
    local=_local("edge_cliques"),
)
def edge_cliques(graph: InMemoryGraph, k: int = 4) -> Series:
    """Count the cliques of k vertices that the edge of each row is in.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge. All rows of one edge get its value, a self loop gets 0. The edges
        are counted in memory.
    k : int, optional
        The vertices of a clique: 3, 4 or 5.

    Returns
    -------
    Series
        ``cliques``, int64, one value per row, with the index of `edges`.

    Raises
    ------
    ValueError
        `k` is not 3, 4 or 5.
    CapacityError
        A vertex has more than 65,536 neighbors of a degree no lower, or the graph has 2**63 cliques
        or more. Other errors: see `Graph`.

    See Also
    --------
    cliques : The cliques of the graph.
    vertex_cliques : The cliques of each vertex.
    edge_triangles : The cliques of three vertices, on every path, and faster.

    Notes
    -----
    The sum over all edges is k (k - 1) / 2 times `cliques`. Cost: up to four times that of
    `cliques`, and one search per row.

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> df = pd.DataFrame({"src": [0, 0, 0, 1, 1, 2, 3], "dst": [1, 2, 3, 2, 3, 3, 4]})
    >>> tc.edge_cliques(df, k=4).tolist()
    [1, 1, 1, 1, 1, 1, 0]
    """
    total, _, counts = count_cliques(graph, k, "edge")
    require_int64(total, k)
    return graph.edge_columns({"cliques": counts})["cliques"]
