"""The orbits of graphlets at every vertex, and the graphlets of a graph, from counts that overlap.

A graphlet is an induced subgraph: of its vertices, all edges count. Where it is easier to count all
subgraphs of a shape, induced or not, these are counted first, and those that are parts of denser
graphlets are taken away, from the densest on. Ahmed et al., "Efficient graphlet counting for large
networks", ICDM (2015), do so for a graph; Hocevar and Demsar, "A combinatorial approach to graphlet
counting", Bioinformatics 30 (2014), for its vertices.

All numbers are int64. What is taken away is part of what it is taken from, so that no difference is
negative. The most that a vertex can have are stars, which `require_int64` limits. Others have less
than four for each edge and each neighbor of a vertex: below 2**55, as graphs of fewer than 2**31
edges have their squares counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rapids_tc.analytics import cliques
from rapids_tc.blocks.quantities import TriangleSideSums
from rapids_tc.errors import CapacityError
from rapids_tc.frames.backend import sum64

if TYPE_CHECKING:
    from rapids_tc._typing import Array
    from rapids_tc.graphs.in_memory import InMemoryGraph

HALF, LOW_HALF = 32, 2**32 - 1  # of 64 bits
MOST_NEIGHBORS = 3_810_779  # of which fewer than 2**63 sets of three can be made


def require_int64(degree: int) -> None:
    """Raise CapacityError if int64 may not hold the stars at a vertex of the largest degree."""
    if degree > MOST_NEIGHBORS:
        raise CapacityError(
            f"a vertex has {degree:,} neighbors, and graphlets are counted around vertices of at "
            f"most {MOST_NEIGHBORS:,}, which have less than 2**63 stars of three edges; drop the "
            "rows of such hubs"
        )


# By vertex ----------------------------------------------------------------------------------------


def by_rank(graph: InMemoryGraph) -> list[Array]:
    """Count how often every rank is in each orbit, from 0 to 14: int64.

    Squares and cliques come first, while no layout takes memory beside them.
    """
    _check(graph)
    (_, squares), o14 = graph.squares("vertex"), _cliques(graph)
    degrees, wedges = graph.degrees, graph.neighbor_degrees  # wedges with an end there
    of_edges, triangles = graph.edge_counts, graph.vertex_counts("auto")
    triangle_pairs = sum(_triangle_pairs(graph))
    opposite = _side_sums(graph) - triangle_pairs - triangles

    # All subgraphs of a shape, induced or not, less those that lie in denser graphlets: of each of
    # these, as many as have the vertex in this place.
    o13 = triangle_pairs // 2 - triangles - 3 * o14
    o12 = opposite - 3 * o14
    o11 = triangles * (degrees - 2) - 2 * o13 - 3 * o14
    o10 = _sum_neighbors(graph, degrees, of_edges) - 4 * triangles - 2 * o13 - 2 * o12 - 6 * o14
    o9 = _sum_neighbors(graph, triangles) - 2 * triangles - 2 * o12 - 3 * o14
    o8 = squares - o12 - o13 - 3 * o14
    o7 = _threes(degrees) - o11 - o13 - o14
    o6 = _sum_neighbors(graph, _pairs(degrees - 1)) - o9 - o10 - 2 * o12 - o13 - 3 * o14
    paths_inside = (degrees - 1) * wedges - 2 * triangles
    o5 = paths_inside - 2 * o8 - 2 * o11 - o10 - 2 * o12 - 4 * o13 - 6 * o14
    paths = _sum_neighbors(graph, wedges) - 2 * _pairs(degrees) - 2 * triangles
    o4 = paths - 2 * o8 - 2 * o9 - o10 - 4 * o12 - 2 * o13 - 6 * o14
    o1, o2 = wedges - 2 * triangles, _pairs(degrees) - triangles
    return [degrees, o1, o2, triangles, o4, o5, o6, o7, o8, o9, o10, o11, o12, o13, o14]


def _check(graph: InMemoryGraph) -> None:
    require_int64(int(graph.degrees.max()) if graph.n_edges else 0)


def _cliques(graph: InMemoryGraph) -> Array:
    """Count the cliques of four at every rank."""
    total, _, by_rank = cliques.count_cliques(graph, 4, "vertex")
    cliques.require_int64(total, 4)
    return by_rank


def _side_sums(graph: InMemoryGraph) -> Array:
    """Sum over the triangles at every rank the triangles of their three sides."""
    csr, engine, of_edges, layout = graph.csr, graph.engine, graph.edge_counts, graph.layout
    with graph.stage("summing over triangles") as report:
        quantity = TriangleSideSums("sides")
        both = engine.visit(layout, quantity, of_edges, on_progress=report.on_progress)
        by_row, by_column = engine.sum_counts(csr, both[0])
        _, by_third = engine.sum_counts(csr, both[1])
        return by_row + by_column + by_third


def _triangle_pairs(graph: InMemoryGraph) -> tuple[Array, Array]:
    """Sum at the larger, and at the smaller end of edges, the square of their triangles.

    So many ordered pairs of triangles share the edge, each triangle with itself among them.
    """
    pairs = graph.edge_counts.astype("int64")
    pairs *= pairs
    return graph.engine.sum_counts(graph.csr, pairs)


def _sum_neighbors(graph: InMemoryGraph, values: Array, of_edges: Array | None = None) -> Array:
    """Sum over the neighbors of every rank their values, each times that of the edge, if given."""
    csr = graph.csr

    def of_ends(ends: Array) -> Array:
        taken = values[ends]
        if of_edges is not None:
            taken *= of_edges
        return taken

    by_row, _ = graph.engine.sum_counts(csr, of_ends(csr.columns))
    _, by_column = graph.engine.sum_counts(csr, of_ends(csr.rows))
    return by_row + by_column


def _pairs(numbers: Array) -> Array:
    """Return how many pairs can be made of so many things."""
    pairs = numbers - 1
    pairs *= numbers
    pairs //= 2
    return pairs


def _threes(numbers: Array) -> Array:
    """Return how many sets of three can be made of so many things; nothing larger is made.

    Either the last factor of n (n - 1) / 2 * (n - 2) is a multiple of three, or the pairs are.
    """
    pairs, last = _pairs(numbers), numbers - 2
    threes = 1 + 2 * (last % 3 == 0)
    return pairs // (4 - threes) * (last // threes)


# Of the graph, or of each group -------------------------------------------------------------------


def totals(graph: InMemoryGraph) -> list[Array]:
    """Count the graphlets from 0 to 8 of each group, or of the graph: on the host, exactly.

    Arrays are int64, or of Python's integers if some sum is 2**63 or more.
    """
    _check(graph)
    squares, (_, at_last, _) = _all_squares(graph), cliques.count_cliques(graph, 4)
    degrees, wedges = graph.degrees, graph.neighbor_degrees  # wedges with an end there
    triangles = graph.vertex_counts("auto")
    triangle_pairs, _ = _triangle_pairs(graph)

    def of(values: Array) -> Array:
        return _sums(graph, values)

    g0, g2, g8 = of(degrees) // 2, of(triangles) // 3, of(at_last)
    g1 = of(_pairs(degrees)) - 3 * g2
    g7 = (of(triangle_pairs) - 3 * g2) // 2 - 6 * g8
    g6 = of(triangles * (degrees - 2)) - 4 * g7 - 12 * g8
    g5 = squares - g7 - 3 * g8
    g4 = of(_threes(degrees)) - g6 - 2 * g7 - 4 * g8
    g3 = of((degrees - 1) * wedges) // 2 - 3 * g2 - 4 * g5 - 2 * g6 - 6 * g7 - 12 * g8
    return [g0, g1, g2, g3, g4, g5, g6, g7, g8]


def _all_squares(graph: InMemoryGraph) -> Array:
    """Count the squares of each group, or of the graph, induced or not."""
    total, by_rank = graph.squares("graph" if graph.groups is None else "vertex")
    return np.array([total]) if graph.groups is None else _sums(graph, by_rank) // 4


def _sums(graph: InMemoryGraph, by_rank: Array) -> Array:
    """Add values by rank up over each group, or over the graph: exactly, on the host."""
    high, low = (_half_sums(graph, half) for half in (by_rank >> HALF, by_rank & LOW_HALF))
    high += low >> HALF
    if high.max(initial=0) >= 2**31:
        high = high.astype(object)
    return (high << HALF) + (low & LOW_HALF)


def _half_sums(graph: InMemoryGraph, values: Array) -> Array:
    if graph.groups is None:
        return np.array([sum64(values)])
    return graph.backend.host(graph.group_sums(values))
