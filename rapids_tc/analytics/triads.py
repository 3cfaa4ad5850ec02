"""Triads: which subgraph three vertices span."""

from __future__ import annotations

from dataclasses import replace
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc._arguments import check_flag
from rapids_tc._typing import Array, Frame, Method, Vertices
from rapids_tc.analytics import directions
from rapids_tc.analytics.analytic import analytic
from rapids_tc.blocks.quantities import Products, ValuesAtEnds
from rapids_tc.errors import CapacityError
from rapids_tc.plan.record import Needs, OwnOptions, Result, Work
from rapids_tc.preparation.chosen_vertices import apart
from rapids_tc.preparation.triads import TRIADS

if TYPE_CHECKING:
    from rapids_tc.blocks.quantities import Sum
    from rapids_tc.frames.backend import Backend
    from rapids_tc.graphs.edge_graph import EdgeGraph, VertexStatistics

COLUMNS = ("triad", "count")  # of the answer
NAMES = ("empty", "edge", "wedge", "triangle")
MOST_VERTICES = 3_810_778  # of a group, whose sets of three are fewer than 2**63


def _fields(own: OwnOptions) -> tuple[str, ...]:
    return TRIADS if own["directed"] else NAMES


def _sums(own: OwnOptions) -> list[Sum]:
    if own["directed"] or own["vertices"] is None:
        return directions.census_sums(own)
    reading = apart(own["vertices"])
    return [Products("triangles apart", reading), ValuesAtEnds("degrees apart", reading)]


def _work(own: OwnOptions) -> Work:
    work = directions.census_work(own)
    if own["directed"] or own["vertices"] is None:
        return work
    return replace(work, needs=work.needs | Needs.WEIGHTS)


@analytic(
    Work(Needs.TOTAL | Needs.DEGREES, Result.VALUE),
    fields=_fields,
    check=check_flag,
    work=_work,
    sums=_sums,
)
def triad_counts(
    graph: EdgeGraph,
    *,
    vertices: Vertices | None = None,
    directed: bool = False,
    method: Method = "auto",
) -> Frame:
    """Count the sets of three vertices by how many edges they span.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge; ``Graph(vertices=)`` adds isolated vertices.
    vertices : list, array, Series, Index or DataFrame, optional
        Count only sets with at least one of these vertices; by default all. A frame if ids are made
        of several columns; with `by`, in every group that has them.
    directed : bool, optional
        Whether the rows a, b and b, a are two edges. Accepts only ``method="auto"``.

    Returns
    -------
    DataFrame
        The columns ``triad``, text, and ``count``, int64, with one row per triad in this order:

        ======== ===================================
        empty    sets of three vertices with no edge
        edge     with one edge
        wedge    with two
        triangle with three
        ======== ===================================

        If a count exceeds int64, as those of more than 3,810,778 vertices may, all are exact
        still: Python's integers in pandas and NumPy, and decimals of 38 digits in cuDF, Polars and
        Arrow. Of a partitioned frame, a frame of its partitions' library.

    With `directed`, 16 rows, named as by Holland and Leinhardt: how many of the three pairs are
    mutual, lead one way, and have no edge; then a letter for how the edges lead: D down from one
    vertex, U up to one, T transitively, C in a cycle or a chain. "003" has no edge, "300" all six.

    With `by`, one row per group, sorted by group: the columns of groups, and a column for each of
    the four or 16 triads, int64.

    Raises
    ------
    CapacityError
        With `by`, a group has 3,810,779 vertices or more, whose sets of three exceed int64.
    ValueError
        Some of `vertices` are not in the graph. Other errors: see `Graph`.

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

    With `vertices`, as ``networkx.triadic_census`` with a `nodelist`: all sets, less the sets of
    the other vertices alone. Both are counted, at twice the cost of `edge_triangles`; with
    `directed`, in one pass.

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> tc.triad_counts(pd.DataFrame({"src": [0, 1, 2, 2], "dst": [1, 2, 0, 3]}))
          triad  count
    0     empty      0
    1      edge      1
    2     wedge      2
    3  triangle      1
    """
    if directed:
        directions.require_auto(method, "directed=True")
    if vertices is not None:
        triads = _with_some(graph, vertices, method, directed=directed)
    elif directed:
        triads = directions.triads(directions.Census.of(graph), *_host_sizes(graph))
    else:
        triads = _triads(*_sizes(graph), *_totals(graph, method))
    if graph.groups is not None:
        return graph.group_frame(triads)
    return _frame(graph.backend, triads)


def _frame(backend: Backend, triads: dict[str, int]) -> Frame:
    """Return the frame of the counts of one graph."""
    if max(triads.values()) >= 2**63:
        return backend.adapter.large_integers(triads, COLUMNS)
    names, counts = backend.library.Series([*triads]), np.array([*triads.values()], "int64")
    return backend.answer(dict(zip(COLUMNS, (names, counts), strict=True)))


def _with_some(
    graph: Any, vertices: Vertices | None, method: str, *, directed: bool
) -> dict[str, Any]:
    """Count the sets with one of some vertices: all sets, less those of the other vertices."""
    if directed:
        census, apart, chosen = directions.Census.apart(graph, vertices)
        every = directions.triads(census, *_host_sizes(graph))
        others = directions.triads(apart, *_host_sizes(graph, ~chosen))
    else:
        closed, degrees = graph.summed(*_sums({"directed": False, "vertices": vertices}))
        sizes = _sizes(graph, ~closed.reading.vertex_types.codes)
        triangles = _sum(graph, closed.values.astype("int64")) // 3
        wedges = _sum(graph, degrees.values * (degrees.values - 1) // 2)
        every = _triads(*_sizes(graph), *_totals(graph, method))
        others = _triads(*sizes, _sum(graph, degrees.values) // 2, wedges, triangles)
    return {name: number - others[name] for name, number in every.items()}


def _totals(graph: VertexStatistics, method: str) -> tuple[Any, Any, Any]:
    """Return the edges, wedges and triangles of the graph, or of each group."""
    if graph.groups is None:
        return graph.n_edges, graph.wedges, graph.count(method)
    degrees = graph.degrees
    wedges = graph.group_sums(degrees * (degrees - 1) // 2)
    return graph.group_sums(degrees) // 2, wedges, graph.group_counts(method)


def _sum(graph: VertexStatistics, by_rank: Array) -> int | Array:
    """Add integers by rank up, over all vertices or over those of each group."""
    return int(by_rank.sum()) if graph.groups is None else graph.group_sums(by_rank)


def _sizes(graph: VertexStatistics, members: Array | None = None) -> tuple[Any, Any]:
    """Return the number of the member vertices, and of the sets of three of them.

    `members` is bool, by rank; by default all vertices are members. With groups, both are arrays.
    """
    if graph.groups is None:
        n = graph.n_vertices if members is None else int(members.sum())
        return n, comb(n, 3)
    n, sets = _sets(graph, members)
    return n, sets


def _host_sizes(graph: VertexStatistics, members: Array | None = None) -> tuple[Any, Any]:
    """Return what `_sizes` does, in the memory of the host, as the counts of a census are."""
    sizes = _sizes(graph, members)
    return sizes if graph.groups is None else (*map(graph.backend.host, sizes),)


def _triads(
    n: int | Array, sets: int | Array, m: int | Array, wedges: int | Array, triangle: int | Array
) -> dict[str, Any]:
    """Return the number of sets of three vertices by their edges.

    Of `n` vertices with `m` edges there are `sets` in all, and `wedges` paths of two edges.
    """
    wedge = wedges - 3 * triangle
    edge = m * (n - 2) - 2 * wedge - 3 * triangle
    return dict(zip(NAMES, (sets - edge - wedge - triangle, edge, wedge, triangle), strict=True))


def _sets(graph: VertexStatistics, members: Array | None = None) -> tuple[Array, Array]:
    """Return how many members each group has, and how many sets of three of them there are."""
    xp = graph.backend.xp
    n = graph.group_sums(xp.ones(graph.n_vertices, "int64") if members is None else members)
    if len(n) and int(n.max()) > MOST_VERTICES:
        raise CapacityError(
            f"a group has {int(n.max()):,} vertices, and the sets of three of more than "
            f"{MOST_VERTICES:,} exceed int64: give the rows of that group alone, without by="
        )
    pairs = n * (n - 1) // 2
    sets = xp.where(n % 3 == 2, pairs * ((n - 2) // 3), pairs // 3 * (n - 2))  # of the two, a third
    return n, sets
