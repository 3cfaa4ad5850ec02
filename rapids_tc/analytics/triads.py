"""Triads: which subgraph three vertices span."""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING, Any

from rapids_tc._typing import EngineName
from rapids_tc.analytics import directions
from rapids_tc.analytics.analytic import analytic
from rapids_tc.errors import CapacityError
from rapids_tc.plan.record import Needs, Result, Work

if TYPE_CHECKING:
    from rapids_tc.frames.backend import Array
    from rapids_tc.graphs.protocol import VertexStatistics

COLUMNS = ("triad", "count")  # of the answer in libraries without an index
NAMES = ("empty", "edge", "wedge", "triangle")
MOST_VERTICES = 3_810_778  # of a group, whose sets of three are fewer than 2**63


@analytic(
    Work(Needs.TOTAL | Needs.DEGREES, Result.VALUE),
    fields=(*NAMES, *directions.TRIADS),
    check=directions.check_flag,
    work=directions.census_work,
    alone=directions.census_alone,
    sums=directions.census_sums,
)
def triad_counts(
    edges: Any,
    *,
    directed: bool = False,
    source: Any = None,
    destination: Any = None,
    by: Any = None,
    engine: EngineName | None = None,
    method: str = "auto",
    progress: bool | None = None,
    memory_limit: int | None = None,
) -> Any:
    """Count the sets of three vertices by how many edges they span.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge; ``Graph(vertices=)`` adds isolated vertices.
    directed : bool, optional
        Whether the rows a, b and b, a are two edges.
    source, destination, by, engine, method, progress, memory_limit
        See `count`; `directed` accepts only ``method="auto"``.

    Returns
    -------
    pandas.Series or DataFrame
        Four exact integers. For pandas and cuDF a Series ``triads`` of pandas, whose dtype is
        object, as integers soon exceed 2**63. For Polars and Arrow a frame with the columns
        ``triad``, str, and ``count``, decimals of 38 digits without a fraction:

        ======== ===================================
        empty    sets of three vertices with no edge
        edge     with one edge
        wedge    with two
        triangle with three
        ======== ===================================

    With `directed`, 16 integers, named as by Holland and Leinhardt: how many of the three pairs are
    mutual, lead one way, and have no edge; then a letter for how the edges lead: D down from one
    vertex, U up to one, T transitively, C in a cycle or a chain. "003" has no edge, "300" all six.

    With `by`, a DataFrame with one row per group, sorted by group: the columns of groups, and these
    four or 16, int64.

    Raises
    ------
    CapacityError
        With `by`, a group has 3,810,779 vertices or more, whose sets of three exceed int64.
        Other errors: see `Graph`.

    See Also
    --------
    transitivity : Triangles by wedges, as a share.

    Notes
    -----
    The undirected triad census: induced subgraphs, so the four add up to C(n, 3) for n vertices,
    isolated ones included. Cost: as `count`; the rest is arithmetic on the number of vertices,
    edges, wedges and triangles. Holland and Leinhardt, "A method for detecting structure in
    sociometric data" (1970). With directions, as ``networkx.triadic_census``, at the cost of
    `edge_triangles`: one pass counts triangles by the directions of their sides, and the other
    triads follow from the degrees in, out and both.

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> tc.triad_counts(pd.DataFrame({"src": [0, 1, 2, 2], "dst": [1, 2, 0, 3]})).to_dict()
    {'empty': 0, 'edge': 1, 'wedge': 2, 'triangle': 1}
    """
    if directed:
        directions.require_auto(method, "directed=True")
        if edges.groups is not None:
            n, sets = map(edges.backend.host, _sets(edges))
            return edges.group_frame(directions.triads(edges, n, sets))
        n = edges.n_vertices
        triads = directions.triads(edges, n, comb(n, 3))
        return edges.backend.adapter.integers(triads, "triads", COLUMNS)
    if edges.groups is not None:
        return edges.group_frame(_by_group(edges, method))
    n, m, triangle = edges.n_vertices, edges.n_edges, edges.count(method)
    triads = _triads(n, comb(n, 3), m, edges.wedges, triangle)
    return edges.backend.adapter.integers(triads, "triads", COLUMNS)


def _by_group(graph: VertexStatistics, method: str) -> dict[str, Array]:
    """Count the sets of three vertices of each group."""
    degrees, (n, sets) = graph.degrees, _sets(graph)
    wedges = graph.group_sums(degrees * (degrees - 1) // 2)
    return _triads(n, sets, graph.group_sums(degrees) // 2, wedges, graph.group_counts(method))


def _triads(n: Any, sets: Any, m: Any, wedges: Any, triangle: Any) -> dict[str, Any]:
    """Return the number of sets of three vertices by their edges.

    Of `n` vertices with `m` edges there are `sets` in all, and `wedges` paths of two edges.
    """
    wedge = wedges - 3 * triangle
    edge = m * (n - 2) - 2 * wedge - 3 * triangle
    return dict(zip(NAMES, (sets - edge - wedge - triangle, edge, wedge, triangle), strict=True))


def _sets(graph: VertexStatistics) -> tuple[Array, Array]:
    """Return how many vertices each group has, and how many sets of three of them there are."""
    xp = graph.backend.xp
    n = graph.group_sums(xp.ones(graph.n_vertices, "int64"))
    if len(n) and int(n.max()) > MOST_VERTICES:
        raise CapacityError(
            f"a group has {int(n.max()):,} vertices, and the sets of three of more than "
            f"{MOST_VERTICES:,} exceed int64: give the rows of that group alone, without by="
        )
    pairs = n * (n - 1) // 2
    sets = xp.where(n % 3 == 2, pairs * ((n - 2) // 3), pairs // 3 * (n - 2))  # of the two, a third
    return n, sets
