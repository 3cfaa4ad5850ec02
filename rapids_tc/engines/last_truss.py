"""The last truss: the edges of the largest trussness, without the trussness of all others.

Peeling takes every edge away, from the lowest level on, and most edges are far below the last
truss. So it is looked for from the top. The truss of level x, whose edges are each in x of its
triangles, has at least as many edges as a clique of x + 2 vertices, and all of them are in x
triangles of the graph. So edges in few triangles bound its level, and are left out for a *guess*
halfway to the bound; what remains is counted again, until one of three is known:

- Too few edges remain: there is no truss of this level, and the guess is a new bound.
- All edges remain: they are a truss. The search goes on among them alone, above the guess.
- Nearly all edges remain, as if a core collapsed edge by edge: they are peeled from the guess on,
  which finds the last truss, or that there is none of this level.

When few edges remain, they are peeled from the highest level on that is known to have a truss. So
are edges of which nearly all remain if they are most of the graph: no guess would spare much.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
from typing import TYPE_CHECKING, Any

from rapids_tc.engines.peel import ALL
from rapids_tc.frames.backend import sum64

if TYPE_CHECKING:
    from rapids_tc.engines.protocol import Engine, ProgressCallback
    from rapids_tc.preparation.csr import Array, Csr

FEW_EDGES = 1 << 15  # that are peeled: a search would take longer
NEARLY = 64  # of so many edges, less than one is left out: edges are not counted again


@dataclass(frozen=True)
class _Part:
    """Some edges of a graph, in their order.

    Attributes
    ----------
    csr : Csr
        These edges alone. A peel needs no layout but this.
    counts : array of uint32, shape (csr.m,)
        How many triangles of these edges each is in.
    positions : array of int64, optional
        Where the edges are in the whole graph; None if they are all edges.
    """

    csr: Csr
    counts: Array
    positions: Array | None

    def among(self, stays: Array, engine: Engine, xp: Any) -> _Part:
        """Return the edges that stay, counted again."""
        csr = self.csr.select(stays).without_last_rows()
        positions = xp.flatnonzero(stays) if self.positions is None else self.positions[stays]
        layout = engine.bare(csr, "auto", sides=True) or engine.prepare(csr)
        return _Part(csr, engine.edge_counts(layout), positions)


def last_truss(
    engine: Engine,
    csr: Csr,
    counts: Array,
    xp: Any,
    on_progress: ProgressCallback | None = None,
    *,
    few_edges: int = FEW_EDGES,
) -> Array:
    """Mark the edges of the largest trussness: bool, aligned with ``csr.columns``.

    `counts` are what `Engine.edge_counts` returns; `few_edges` are always peeled.
    """
    part, level, bound = _Part(csr, counts, None), 0, _highest_level(counts)
    while bound > 0:
        # What is peeled, and from which level on: a graph with a triangle has a truss of level 1.
        peeled, first = part, max(level, 1)
        if part.csr.m > few_edges and level < bound:
            guess = (level + bound + 1) // 2
            inner = _cut(part, guess, engine, xp)
            if inner is None:
                bound = guess - 1
                continue
            if sum64(inner.counts >= guess) == inner.csr.m:
                part, level = inner, guess
                bound = min(bound, _highest_level(part.counts))
                continue
            if 2 * inner.csr.m <= csr.m:
                peeled, first = inner, guess
        levels = (first - 1, ALL)
        truss = engine.truss(peeled, peeled.counts, levels=levels, on_progress=on_progress)
        if (top := int(truss.max())) >= first + 2:
            return _marks(peeled, truss == top, csr.m, xp)
        bound = first - 1
    return xp.ones(csr.m, bool)  # no edge is in a triangle


def _highest_level(counts: Array) -> int:
    """Return the highest level whose truss may have an edge."""
    low, high = 0, isqrt(2 * len(counts))
    while low < high:
        level = (low + high + 1) // 2
        if sum64(counts >= level) >= _edges_of_clique(level):
            low = level
        else:
            high = level - 1
    return low


def _edges_of_clique(level: int) -> int:
    return (level + 2) * (level + 1) // 2


def _cut(part: _Part, level: int, engine: Engine, xp: Any) -> _Part | None:
    """Leave edges out that the truss of a level does not have, until nearly all others are kept.

    Returns
    -------
    _Part or None
        The other edges; None if there is no truss of this level.
    """
    while True:
        stays = part.counts >= level
        size = sum64(stays)
        if size < _edges_of_clique(level):
            return None
        if (part.csr.m - size) * NEARLY <= part.csr.m:
            return part
        part = part.among(stays, engine, xp)


def _marks(part: _Part, present: Array, m: int, xp: Any) -> Array:
    """Mark the present edges of a part among all edges."""
    if part.positions is None:
        return present
    marks = xp.zeros(m, bool)
    marks[part.positions[present]] = True
    return marks
