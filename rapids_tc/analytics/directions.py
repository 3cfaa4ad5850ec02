"""What analytics of directed graphs share: states of edges, degrees, and the triads of states."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.analytics import triangle_types
from rapids_tc.blocks.quantities import Degrees, Products, SmallProducts, TrianglesByType
from rapids_tc.plan.record import Needs, Result, Work
from rapids_tc.preparation.chosen_vertices import ChosenVertices
from rapids_tc.preparation.edge_values import APART, DOWN, UP, Directions, Reading, Reduced
from rapids_tc.preparation.readers import WeightReader
from rapids_tc.preparation.triads import PAIRS, TRIADS, closed_triad

if TYPE_CHECKING:
    from collections.abc import Callable

    from rapids_tc._typing import ArrayModule, Label, Vertices
    from rapids_tc.blocks.quantities import Sum
    from rapids_tc.blocks.tallies import TypeTally
    from rapids_tc.frames.backend import Array
    from rapids_tc.graphs.edge_graph import EdgeGraph
    from rapids_tc.plan.record import OwnOptions

STATES = Reading(Directions())
STATE_TYPES = 4  # no state, and the three there are
# How often an edge leads on from an edge in each closed triad: x -> y and x -> z, and y -> z.
CLOSED_PATHS = {"030T": 1, "120D": 2, "120U": 2, "120C": 1, "210": 3, "300": 6}


def census_sums(own: OwnOptions) -> list[Sum]:
    """Return the sums of the triads of a directed graph; with ``vertices=``, of others, too."""
    if not own["directed"]:
        return []
    if (vertices := own.get("vertices")) is None:
        return [TrianglesByType("census", STATES, STATE_TYPES), Degrees("degrees", STATES)]
    states = Reading(Directions(), chosen=ChosenVertices(vertices))
    degrees = Degrees("degrees", states), Degrees("degrees apart", states, mark=APART)
    return [TrianglesByType("census", states, 2 * APART), *degrees]


def census_work(own: OwnOptions) -> Work:
    """Return what a call needs whose directed form asks for the triads."""
    total = Needs.TYPE_COUNTS if own["directed"] else Needs.TOTAL
    return Work(total | Needs.DEGREES, Result.VALUE)


def require_auto(method: str, option: str) -> None:
    """Raise ValueError unless the method is "auto"."""
    if method != "auto":
        raise ValueError(f'method={method!r}: with {option} only method="auto" works')


# Clustering ---------------------------------------------------------------------------------------


def clustering_sums(weight: Label | None, aggregate: str | None) -> list[Sum]:
    """Return the sums of directed clustering: over triangles of each vertex, and its degrees."""
    if weight is None:
        reading = Reading(Directions(), formula=_ways)
        return [SmallProducts("directed", reading), Degrees("degrees", reading, 1)]
    rule = Reduced(aggregate, directed=True)
    reading = Reading(rule, (WeightReader(label=weight),), _roots_both_ways, scaled=True)
    return [Products("directed", reading), Degrees("degrees", reading, 1)]


def clustering(graph: EdgeGraph, sums: list[Sum]) -> Array:
    """Return Fagiolo's clustering of every rank.

    It is the sum, over the triangles of the vertex, of the product of the values of the three
    sides; over d (d - 1) - 2 m for d edges in and out, of which m are mutual.
    """
    triangles, degrees = (summed.values for summed in graph.summed(*sums))
    outward, inward, mutual = degrees
    total = outward + inward
    pairs = total * (total - 1) - 2 * mutual
    return triangles / graph.backend.xp.maximum(pairs, 1)  # no pair, no triangle


def _ways(arrays: list[Array], largest: Array | float, xp: ArrayModule) -> list[Array]:
    """Return how many ways each edge leads, one or two, and its state."""
    [state] = arrays
    return [(1.0 + (state == DOWN + UP)).astype("float64"), state]


def _roots_both_ways(arrays: list[Array], largest: Array | float, xp: ArrayModule) -> list[Array]:
    """Return the sum of the cube roots of the scaled weights of both directions, and the state."""
    down, up, state = arrays
    scale = divisor(largest, xp)
    sides = xp.cbrt(down / scale)
    sides += xp.cbrt(up / scale)
    return [sides, state]


def divisor(largest: Array | float, xp: ArrayModule) -> Array | float:
    """Return what scales weights: the largest, of the graph or for each edge; 1 in place of 0."""
    return largest or 1.0 if isinstance(largest, float) else xp.where(largest > 0, largest, 1.0)


# Triads -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Census:
    """What the triads of a graph follow from, or of each of its groups: integers, or arrays.

    Attributes
    ----------
    closed : list of (states of uv, uw and vw, how many triangles have them)
    total : callable
        Adds up values by rank.
    degrees : array of int64, shape (3, ranks)
        Edges that lead out of each rank, that lead in, and that do both.
    """

    closed: list[tuple[tuple[int, ...], Any]]
    total: Callable[[Array], Any]
    degrees: Array

    @classmethod
    def of(cls, graph: EdgeGraph) -> Census:
        """Ask a graph for all its triads."""
        types, degrees = census_sums({"directed": True})
        if graph.groups is None:
            by_state, summed = (one.values for one in graph.summed(types, degrees))
            closed = closed_triangles(graph.backend.host(by_state))
        else:
            [summed] = (one.values for one in graph.summed(degrees))
            closed = _closed_by_group(graph, triangle_types.tally(graph, STATES, "group"))
        return cls(closed, partial(_total, graph), summed)

    @classmethod
    def apart(cls, graph: Any, vertices: Vertices | None) -> tuple[Census, Census, Array]:
        """Ask a graph for all its triads, and for those of the vertices that are not chosen.

        Which ranks are chosen is returned, too, as bool. One pass counts both: states say which
        edges have no chosen end.
        """
        types, *degrees = census_sums({"directed": True, "vertices": vertices})
        if graph.groups is None:
            by_state, every, apart = graph.summed(types, *degrees)
            closed = closed_triangles(graph.backend.host(by_state.values))
        else:
            every, apart = graph.summed(*degrees)
            closed = _closed_by_group(graph, triangle_types.tally(graph, types.reading, "group"))
        total, chosen = partial(_total, graph), every.reading.chosen.codes
        others = [(sides, number) for sides, number in closed if min(sides) >= APART]
        return cls(closed, total, every.values), cls(others, total, apart.values), chosen


def _total(graph: EdgeGraph, by_rank: Array) -> int | Array:
    """Add values by rank up, over the graph or over each group."""
    if graph.groups is None:
        return int(by_rank.sum())
    return graph.backend.host(graph.group_sums(by_rank))


def _closed_by_group(graph: EdgeGraph, tallied: TypeTally) -> list[tuple[tuple[int, ...], Any]]:
    """List the states of uv, uw and vw that occur, each with the number in each group.

    All three sides of a triangle are returned as `APART`, or none: callers ask for no more.
    """
    xp = graph.backend.xp
    apart = xp.minimum(xp.minimum(*tallied.codes[:2]), tallied.codes[2]) >= APART
    place = sum((codes % APART) << (2 * i) for i, codes in enumerate(tallied.codes))
    counts = triangle_types.sum_by_group(graph, tallied, place + 64 * apart, 128)
    marks = [(i & 63, APART * (i >> 6)) for i in range(128)]
    return [
        ((i & 3 | mark, i >> 2 & 3 | mark, i >> 4 | mark), counts[:, at])
        for at, (i, mark) in enumerate(marks)
        if counts[:, at].any()
    ]


def triads(census: Census, n: int | Array, sets: int | Array) -> dict[str, Any]:
    """Count the sets of three vertices by the 16 triads; of `n` vertices there are `sets`.

    Closed triads are counted by the states of their sides. Each has three pairs of edges at a
    vertex; the other such pairs, whose number follows from degrees, are the open triads of two
    edges. The triads of one edge are the rest of the n - 2 that each edge is in.
    """
    counts = dict.fromkeys(TRIADS, 0 * n)
    for sides, number in census.closed:
        counts[closed_triad(sides)] = counts[closed_triad(sides)] + number
    outward, inward, mutual = census.degrees
    outward, inward = outward - mutual, inward - mutual  # the one-way edges
    pairs = {
        "021D": outward * (outward - 1) // 2,
        "021U": inward * (inward - 1) // 2,
        "021C": outward * inward,
        "111D": mutual * inward,
        "111U": mutual * outward,
        "201": mutual * (mutual - 1) // 2,
    }
    for name, by_rank in pairs.items():
        closed = sum(counts[triad] * number[name] for triad, number in PAIRS.items())
        counts[name] = census.total(by_rank) - closed
    edges = {"012": census.total(outward), "102": census.total(mutual) // 2}
    for name, kind in (("012", 1), ("102", 0)):
        of_others = sum(number * int(triad[kind]) for triad, number in counts.items())
        counts[name] = edges[name] * (n - 2) - of_others
    counts["003"] = sets - sum(counts.values())
    return counts


def closed_triangles(by_state: Array) -> list[tuple[tuple[int, ...], int]]:
    """List the states of uv, uw and vw that occur, each with the number of such triangles."""
    places = zip(*np.nonzero(by_state), strict=True)
    return [((int(a), int(b), int(c)), int(by_state[a, b, c])) for a, b, c in places]


def transitivity(graph: EdgeGraph) -> Array | float:
    """Return the share of the ordered pairs of edges x -> y and x -> z that have an edge y -> z.

    Of a graph with groups, return it of each.
    """
    census = Census.of(graph)
    closed = sum(
        CLOSED_PATHS.get(closed_triad(states), 0) * number for states, number in census.closed
    )
    pairs = census.total(census.degrees[0] * (census.degrees[0] - 1))
    return closed / np.maximum(pairs, 1)
