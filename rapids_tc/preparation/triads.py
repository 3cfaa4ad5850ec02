"""The triads of Holland and Leinhardt: what three vertices span, by the states of their sides."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from rapids_tc.preparation.edge_values import APART, DOWN, UP

if TYPE_CHECKING:
    from rapids_tc._typing import Array, ArrayModule

# Names of Holland and Leinhardt, in the order of NetworkX: mutual, one-way and no edges, and how
# the one-way edges lead.
TRIADS = (
    "003", "012", "102", "021D", "021U", "021C", "111D", "111U",
    "030T", "030C", "201", "120D", "120U", "120C", "210", "300",
)  # fmt: skip


def _arcs(states: tuple[int, ...]) -> set[tuple[int, int]]:
    """Return the directed edges between three vertices 0, 1 and 2, for u, v and w."""
    ends = (0, 1), (0, 2), (1, 2)
    sides = zip(ends, states, strict=True)
    return {
        arc for (x, y), state in sides for arc, bit in (((x, y), DOWN), ((y, x), UP)) if state & bit
    }


def _pair(arcs: set[tuple[int, int]], x: int) -> str:
    """Return the open triad of the two edges at a vertex."""
    ways = [((x, y) in arcs, (y, x) in arcs) for y in range(3) if y != x]
    mutual, one_way = ways.count((True, True)), [way for way in ways if way != (True, True)]
    if mutual == 2:
        return "201"
    if mutual:
        return "111U" if one_way[0][0] else "111D"
    return {2: "021D", 1: "021C", 0: "021U"}[sum(out for out, _ in one_way)]


def closed_triad(states: tuple[int, ...]) -> str:
    """Return the triad of a triangle with these states of uv, uw and vw."""
    states = tuple(state % APART for state in states)
    arcs = _arcs(states)
    mutual = states.count(DOWN + UP)
    if mutual == 1:  # the way of both other edges at the vertex that the mutual edge leaves out
        corner = next(x for x in range(3) if _pair(arcs, x).startswith("021"))
        return "120" + _pair(arcs, corner)[-1]
    if mutual == 0:
        outward = [sum(x == tail for tail, _ in arcs) for x in range(3)]
        return "030C" if outward == [1, 1, 1] else "030T"
    return {2: "210", 3: "300"}[mutual]


def _pairs_of_triads() -> dict[str, dict[str, int]]:
    """Return how many pairs of edges at a vertex of each kind are in each closed triad."""
    result = {}
    for states in product((DOWN, UP, DOWN + UP), repeat=3):
        kinds = [_pair(_arcs(states), x) for x in range(3)]
        result[closed_triad(states)] = {kind: kinds.count(kind) for kind in TRIADS}
    return result


PAIRS = _pairs_of_triads()
CLOSED = tuple(name for name in TRIADS if name in PAIRS)


def _places() -> Array:
    """Return the place in `CLOSED` of the triad of each three states, of uv, uw and vw."""
    places = np.zeros((4, 4, 4), "int64")
    for states in product((DOWN, UP, DOWN + UP), repeat=3):
        places[states] = CLOSED.index(closed_triad(states))
    return places.ravel()


_PLACES = _places()


def places_of(states: list[Array], xp: ArrayModule) -> Array:
    """Return the place in `CLOSED` of the triad of each triangle, by the states of its sides."""
    uv, uw, vw = (state.astype("int64") for state in states)
    return xp.asarray(_PLACES)[(uv * 4 + uw) * 4 + vw]
