"""Graphlets: the induced subgraphs of up to four vertices, of the graph and around each vertex."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rapids_tc._typing import Frame, Vertices
from rapids_tc.analytics import orbits
from rapids_tc.analytics.analytic import analytic
from rapids_tc.errors import CapacityError
from rapids_tc.plan.record import Needs, OwnOptions, Result, Work, of_one_machine

if TYPE_CHECKING:
    from collections.abc import Callable

    from rapids_tc.graphs.in_memory import InMemoryGraph

ORBITS = tuple(f"o{i}" for i in range(15))
GRAPHLETS = tuple(f"g{i}" for i in range(9))
COUNTS = Needs.DEGREES | Needs.EDGE_COUNTS | Needs.VERTEX_COUNTS | Needs.CLIQUES | Needs.SQUARES


def _in_memory(own: OwnOptions) -> str:
    return "triad_counts is, of sets of three vertices"


def _local(name: str) -> Callable[[OwnOptions, str], TypeError]:
    return lambda own, kind: of_one_machine(name, kind, rows="")


@analytic(
    Work(COUNTS | Needs.NEIGHBOR_DEGREES | Needs.EDGE_SUMS, Result.VERTICES),
    fields=ORBITS,
    in_memory=_in_memory,
    local=_local("graphlets"),
)
def graphlets(graph: InMemoryGraph, *, vertices: Vertices | None = None) -> Frame:
    """Count how often each vertex is in each place of the subgraphs of up to four vertices.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge. The edges are counted in memory.
    vertices : list, array, Series, Index or DataFrame, optional
        The vertices to report; see `vertex_triangles`.

    Returns
    -------
    DataFrame
        ``vertex``, as ids, and ``o0`` to ``o14``, int64: how many connected induced subgraphs have
        the vertex in this place, its orbit.

        ====================== === ============= === ================= === ===========
        two vertices, an edge  o0  either end
        a path of three        o1  an end        o2  the middle
        a triangle             o3  any corner
        a path of four         o4  an end        o5  one in the middle
        a star of three edges  o6  an end        o7  the center
        a cycle of four        o8  any corner
        a triangle with a tail o9  the tail's    o10 a corner without  o11 the joint
                                   end               a tail
        a diamond              o12 of degree two o13 of degree three
        a clique of four       o14 any corner
        ====================== === ============= === ================= === ===========

        A diamond is a clique of four but an edge.

    Raises
    ------
    ValueError
        Some of `vertices` are not in the graph.
    CapacityError
        A vertex has more than 3,810,779 neighbors, or more than 65,536 of a degree no lower; or the
        graph has 2**31 edges or more, or 2**63 cliques of four. Other errors: see `Graph`.

    See Also
    --------
    graphlet_counts : The subgraphs of the graph.
    vertex_triangles : Triangles alone, on every path.
    vertex_cliques : Cliques alone, of five vertices, too.

    Notes
    -----
    The row of a vertex is its graphlet degree vector (Przulj, "Biological network comparison using
    graphlet degree distribution", Bioinformatics 23 (2007)), with orbits numbered as there, and as
    by ORCA (Hocevar and Demsar, "A combinatorial approach to graphlet counting", Bioinformatics 30
    (2014)). No subgraph is looked at: the orbits follow from degrees, and from the triangles,
    squares and cliques of four of each vertex and edge. Cost: most of all, that of the squares of
    each vertex.

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> df = pd.DataFrame({"src": [0, 1, 2, 2], "dst": [1, 2, 0, 3]})
    >>> tc.graphlets(df)[["vertex", "o0", "o1", "o2", "o3", "o9", "o10", "o11"]]
       vertex  o0  o1  o2  o3  o9  o10  o11
    0       0   2   1   0   1   0    1    0
    1       1   2   1   0   1   0    1    0
    2       2   3   0   2   1   0    0    1
    3       3   1   2   0   0   1    0    0
    """
    return graph.vertex_frame(dict(zip(ORBITS, orbits.by_rank(graph), strict=True)), vertices)


@analytic(
    Work(COUNTS, Result.TABLE),
    fields=("graphlet", "count"),
    in_memory=_in_memory,
    local=_local("graphlet_counts"),
)
def graphlet_counts(graph: InMemoryGraph) -> Frame:
    """Count the induced connected subgraphs of two, three and four vertices.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge. The edges are counted in memory.

    Returns
    -------
    DataFrame
        ======== ===== ===================================================================
        graphlet text  ``g0``: an edge; ``g1``: a path of three vertices; ``g2``: a
                       triangle; ``g3``: a path of four; ``g4``: a star of three edges;
                       ``g5``: a cycle of four; ``g6``: a triangle with a tail; ``g7``: a
                       diamond, that is a clique but an edge; ``g8``: a clique of four
        count    int64 how many sets of vertices span it, with all their edges
        ======== ===== ===================================================================

        With `by`, nine rows for each group, behind its columns.

    Raises
    ------
    CapacityError
        There are 2**63 subgraphs of a kind or more; or a vertex has more than 3,810,779 neighbors,
        or more than 65,536 of a degree no lower; or the graph has 2**31 edges or more. Other
        errors: see `Graph`.

    See Also
    --------
    graphlets : The places of each vertex in these subgraphs.
    triad_counts : All sets of three vertices, directed ones too, on every path.
    count, cliques : One of them, faster.

    Notes
    -----
    Graphlets are numbered as by Przulj, Corneil and Jurisica, "Modeling interactome: scale-free or
    geometric?", Bioinformatics 20 (2004), here with the edge as the first. Those of four vertices
    follow from all squares and cliques, as by Ahmed et al., "Efficient graphlet counting for large
    networks", ICDM (2015). Cost: as the squares and cliques of the graph; with `by`, as those of
    each vertex.

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> df = pd.DataFrame({"src": [0, 1, 2, 2], "dst": [1, 2, 0, 3]})
    >>> tc.graphlet_counts(df)["count"].tolist()
    [4, 2, 1, 0, 0, 0, 1, 0, 0]
    """
    backend, totals = graph.backend, np.stack(orbits.totals(graph), axis=1)  # by group
    _require_int64(totals)
    groups, many, series = {}, len(totals), backend.library.Series
    if graph.groups is not None:
        groups = graph.groups.group_columns(backend.xp.repeat(backend.xp.arange(many), 9))
    names = series([*GRAPHLETS] * max(many, 1)).iloc[: 9 * many]  # without rows, of a dtype
    counts = backend.xp.asarray(totals.ravel().astype("int64"))
    columns = {**groups, "graphlet": names, "count": counts}
    return backend.answer(columns)


def _require_int64(totals: np.ndarray) -> None:
    """Raise CapacityError if some of the graphlets, by their last axis, are 2**63 or more."""
    largest = totals.max(axis=0, initial=0).tolist()
    for name, count in zip(GRAPHLETS, largest, strict=True):
        if count >= 2**63:
            raise CapacityError(
                f"{name} occurs {count:,} times, and int64 holds less than 2**63; drop the rows of "
                "the vertices with the most neighbors"
            )
