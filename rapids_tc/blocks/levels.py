"""The truss numbers of a graph in blocks: upper bounds of all edges fall together, round by round.

The *level* of an edge is its trussness less 2. It is the largest level x at which x triangles of
the edge have two other sides of level x or more: the h-index of its triangles, if each triangle
counts as the smaller level of its two other sides (Sariyuce, Seshadhri and Pinar, "Local algorithms
for hierarchical dense subgraph discovery", PVLDB 12, 2018). The same formula on upper bounds gives
lower upper bounds. A round is one count of all triangles, of which blocks add up their parts:

- Every edge asks how many triangles reach its bound, and how many reach a *probe*, a level in the
  middle between its bound and the level that it reached in the round before. Enough triangles
  raise what it reached, and limit its bound, too: no more triangles can reach a higher level. Too
  few lower the bound. So a round halves what is open, at least, with two counters per edge. The
  whole h-index would take a counter per level, and few rounds less: 14 for R-MAT 12, this 16.
- A level is *closed* if all edges whose bounds reach it have enough triangles of such edges: then
  they are the truss of this level. An edge is *settled* if its bound and the next level are closed.

The rest takes many rounds if a core collapses edge by edge: 45 for the last 2,656 edges of R-MAT
14. It is peeled in memory as soon as the open edges fit there, with their *companions*: settled
edges that are in a triangle with two open ones. A companion stays as long as the open edges of its
range of levels are peeled, and a triangle with two settled sides stays, too. Thus the triangles
whose other sides are settled need not be in memory: they are counted once, and never taken off.

Blocks outside of memory (`rapids_tc.blocks.stored_levels`) and blocks on a cluster
(`rapids_tc.blocks.distributed_levels`) take the same rounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import isqrt
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from rapids_tc.blocks import geometry, recount

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from rapids_tc.blocks.geometry import Block
    from rapids_tc.preparation.csr import Array, Csr

FIXED = 2**30  # more triangles than any open edge has: an edge that stays
SHRINK = 0.75  # blocks are made smaller if less than that part of their edges is left
Bounds = list[Any]  # of the edges of a block, uint32: upper bounds of levels, and levels reached
Levels = list[Any]  # of the edges of a block, uint32: upper bounds of levels, and probes


def most_levels(edges: int) -> int:
    """Return a level that no edge of so many exceeds: an edge of level x is in a clique's worth.

    The truss of level x has at least (x + 1) (x + 2) / 2 edges, a clique of x + 2 vertices.
    """
    return isqrt(2 * edges)


@dataclass(frozen=True)
class Survey:
    """What is known of all edges after a round.

    Attributes
    ----------
    changes, edges : array of int64
        By level: how many edges more than at the level below leave it open; and how many edges
        have it as their bound.
    """

    changes: Any
    edges: Any

    @cached_property
    def is_open(self) -> Any:
        """Whether each level is open."""
        return np.cumsum(self.changes) > 0

    @cached_property
    def unsettled(self) -> Any:
        """Whether the edges with each level as their bound are open; edges of level 0 never are."""
        result = self.is_open.copy()
        result[:-1] |= self.is_open[1:]
        result[0] = False
        return result

    @property
    def open_edges(self) -> int:
        """The number of edges that are not settled."""
        return int(self.edges[self.unsettled].sum())

    @property
    def floor(self) -> int:
        """The level below which all edges are settled, and none is in a triangle with the rest."""
        return max(int(np.argmax(self.is_open)) - 1, 1)

    @property
    def remaining(self) -> int:
        """The number of edges whose bounds reach the floor."""
        return int(self.edges[self.floor :].sum())

    @property
    def cap(self) -> int:
        """The highest level whose edges are enough to be a truss of it."""
        reach = np.cumsum(self.edges[::-1])[::-1]
        levels = np.arange(len(reach))
        return int(np.flatnonzero(2 * reach >= (levels + 1) * (levels + 2)).max(initial=0))

    @cached_property
    def ranges(self) -> list[tuple[int, int]]:
        """The ranges of levels, last one excluded, between which edges are open; both closed."""
        closed = np.append(np.flatnonzero(~self.is_open), len(self.is_open))
        wide = np.flatnonzero(np.diff(closed) > 1)
        return [(max(int(closed[i]), 1), int(closed[i + 1])) for i in wide]

    @cached_property
    def bottoms(self) -> Any:
        """For each level the first one of its range, itself outside of ranges; uint32."""
        result = np.arange(len(self.is_open), dtype="uint32")
        for first, last in self.ranges:
            result[first:last] = first
        return result


class LevelBlocks(Protocol):
    """The edges of a graph in blocks, with the bounds of their levels."""

    @property
    def edges(self) -> int:
        """The number of edges in the blocks."""

    def begin(self) -> Survey:
        """Bound the level of every edge by its triangles."""

    def fits(self, edges: int) -> bool:
        """Return whether so many edges can be peeled as one graph in memory."""

    def lower(self, survey: Survey) -> Survey:
        """Lower the bounds by one round."""

    def drop(self, floor: int) -> None:
        """Note the levels of the edges below the floor, and remove these edges."""

    def peel(self) -> None:
        """Peel all edges of the blocks as one graph."""

    def count_companions(self, survey: Survey) -> int:
        """Count the open edges and their companions."""

    def peel_ranges(self, survey: Survey) -> None:
        """Peel the open edges in memory, with the companions that were just counted."""


def find_levels(blocks: LevelBlocks) -> None:
    """Lower the bounds of all edges until they are the levels, or what is left fits in memory."""
    survey, tried = blocks.begin(), 2 * blocks.edges
    while survey.open_edges:
        fits = blocks.fits(survey.remaining)
        if fits or survey.remaining < SHRINK * blocks.edges:
            blocks.drop(survey.floor)
        if fits:
            blocks.peel()
            return
        if 2 * survey.open_edges <= tried and blocks.fits(with_levels(survey.open_edges)):
            tried = survey.open_edges
            if blocks.fits(with_levels(blocks.count_companions(survey))):
                blocks.peel_ranges(survey)
                return
        survey = blocks.lower(survey)


def with_levels(edges: int) -> int:
    """Return how many edges that are peeled alone take the memory of so many with their levels."""
    return edges + edges // 4


# The arrays of a block ----------------------------------------------------------------------------


def first_bounds(counts: Array, most: int, xp: Any) -> Bounds:
    """Bound the levels of edges by their triangles, and by a level that no edge exceeds."""
    upper = xp.minimum(counts, xp.uint32(most))
    return [upper, xp.zeros(len(upper), "uint32")]


def probes(bounds: Bounds, cap: int, xp: Any) -> Levels:
    """Return the levels that edges ask for in a round; no level is above the cap."""
    upper, reached = (xp.minimum(values, xp.uint32(cap)) for values in bounds)
    return [upper, reached + (upper - reached + xp.uint32(1)) // xp.uint32(2)]


def lowered(levels: Levels, counts: Array, xp: Any) -> Bounds:
    """Return the bounds of edges by the triangles that reach their levels."""
    (upper, probe), (of_upper, of_probe) = levels, counts
    below = xp.where(of_probe >= probe, of_probe, probe - xp.uint32(1))
    below = xp.minimum(below, upper - xp.uint32(1))  # wraps where it is not taken
    reached = xp.maximum(xp.minimum(of_upper, upper), xp.minimum(of_probe, probe))
    return [xp.where(of_upper >= upper, upper, below), reached]


def tally(before: Array, bounds: Bounds, most: int, xp: Any) -> Array:
    """Return the part of a block in `Survey.changes` and `Survey.edges`: int64, (2, levels).

    `before` are the upper bounds by which the levels that edges reached were counted.
    """
    (upper, reached), size = bounds, most + 2
    failed = reached < before

    def count(levels: Array) -> Array:
        return xp.bincount(levels.astype("int64"), minlength=size)

    changes = count(reached[failed] + xp.uint32(1)) - count(before[failed] + xp.uint32(1))
    return xp.stack([changes, count(upper)]).astype("int64")


def marks(upper: Array, survey: Survey, xp: Any) -> Levels:
    """Return levels by which triangles with two open edges are counted: 1 marks an open edge."""
    is_open = xp.asarray(survey.unsettled)[upper].astype("uint32")
    return [is_open, xp.ones(len(upper), "uint32")]


def chosen(upper: Array, with_open: Array, survey: Survey, xp: Any) -> Array:
    """Mark the open edges and their companions; `with_open` are the triangles with two open."""
    is_open = xp.asarray(survey.unsettled)[upper]
    return is_open | ((with_open > 0) & (upper >= survey.floor))


def of_range(upper: Array, survey: Survey, xp: Any) -> Levels:
    """Return levels by which the triangles of open edges are counted from their range upwards."""
    return [upper, xp.minimum(xp.asarray(survey.bottoms)[upper], upper)]


def peel_ranges(
    blocks: Iterable[tuple[Block, Csr]], values: Iterable[tuple[Array, Array]], edges: int,
    vertices: int, n: int, survey: Survey, *, engine: Any, xp: Any,
) -> Iterator[Array]:  # fmt: skip
    """Peel open edges and their companions as one graph; yield the levels of each block.

    `values` are the upper bounds of the edges of each block, and the triangles of `of_range`.
    """
    graph, relabel = recount.join_blocks(blocks, edges, vertices, n, engine=engine, xp=xp)
    upper, support = xp.empty(edges, "uint32"), xp.empty(edges, "uint32")
    for (at, block), (bound, triangles) in zip(blocks, values, strict=True):
        place = _places(graph, relabel, block, n, at, engine)
        upper[place], support[place] = bound, triangles
    for first, last in survey.ranges:
        present, stays = upper >= first, upper >= last
        counts = xp.where(stays, xp.uint32(FIXED), support)[present]
        part = graph.select(present)
        truss = engine.truss(engine.prepare(part), counts)
        upper[present] = xp.where(stays[present], upper[present], (truss - 2).astype("uint32"))
    for at, block in blocks:
        yield upper[_places(graph, relabel, block, n, at, engine)]


def peel_all(
    blocks: Iterable[tuple[Block, Csr]], edges: int, vertices: int, n: int, *,
    engine: Any, xp: Any, on_progress: Callable[..., None] | None = None,
) -> Iterator[Array]:  # fmt: skip
    """Peel all edges of the blocks as one graph; yield the levels of each block."""
    graph, relabel = recount.join_blocks(blocks, edges, vertices, n, engine=engine, xp=xp)
    level = (recount.peel_graph(graph, None, engine, on_progress) - 2).astype("uint32")
    for at, block in blocks:
        yield level[_places(graph, relabel, block, n, at, engine)]


def _places(graph: Csr, relabel: Array, block: Csr, n: int, at: Block, engine: Any) -> Array:
    """Return where the edges of a block are in the graph that joins all blocks."""
    u, v = geometry.block_ends(block, n, at)
    return engine.find_edges(graph, relabel[u], relabel[v])
