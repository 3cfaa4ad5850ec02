"""The truss numbers of a graph in blocks: upper bounds of all edges fall together, round by round.

The *level* of an edge is its trussness less 2. It is the largest level x at which x triangles of
the edge have two other sides of level x or more: the h-index of its triangles, if each triangle
counts as the smaller level of its two other sides (Sariyuce, Seshadhri and Pinar, "Local algorithms
for hierarchical dense subgraph discovery", PVLDB 12, 2018). The same formula on upper bounds gives
lower upper bounds. A round is one count of all triangles, of which blocks add up their parts:

- An edge asks how many triangles reach its bound, and how many reach a *probe*, a level in the
  middle between its bound and a level that it is known to reach. Enough triangles raise what it
  reached, and limit its bound, too: no more triangles can reach a higher level. Too few lower the
  bound. So a round halves what is open, at least, with two counters per edge.
- A level is *closed* if all edges whose bounds reach it have enough triangles of such edges: then
  they are the truss of this level, and it stays closed. An edge of a closed bound is *settled*.
- Meanwhile, from the top down: the *chosen* edges have bounds from `low` to below `high`; all
  levels from `high` on are closed. The same count finds their triangles that reach `low`, and their
  *companions*: edges of bound `high` or more that are in a triangle with two chosen edges. If both
  fit in memory, the chosen edges are peeled there, and then all levels from `low` on are closed.
  Companions are never removed. Nor are triangles whose other sides both stay: they are counted once
  and need not be in memory.

Bounds alone take many rounds if a core collapses edge by edge: R-MAT 14 in 4 x 4 blocks took 66,
and takes 21 from the top down. All edges that are left are peeled in memory as soon as they fit.

`rapids_tc.blocks.distributed_levels` has what the rounds ask of blocks.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import isqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.blocks import geometry
from rapids_tc.frames.backend import sum64
from rapids_tc.preparation.csr import pack_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from rapids_tc.blocks.block_work import KindOfBlocks
    from rapids_tc.blocks.geometry import Block
    from rapids_tc.engines.protocol import Kind
    from rapids_tc.preparation.csr import Array, Csr

STAYS = 2**30  # more than the level, or the triangles, of any open edge: an edge that stays
NEVER = 2**31  # more than any edge counts as in a triangle
SHRINK = 0.75  # blocks are made smaller if less than that part of their edges is left
COMPANIONS = 0.3  # of a chosen edge, before any were counted. R-MAT graphs had 0 to 0.3 at first
# Of the edges of a block, uint32: upper bounds of levels, levels reached, and the bounds by which
# these were counted.
Bounds = list[Any]
# Of the edges of a block, uint64: what they count as in triangles << 32 | their probes.
Levels = Any


def most_levels(edges: int) -> int:
    """Return a level that no edge of a graph of so many edges exceeds.

    The truss of level x has at least as many edges as a clique of x + 2 vertices.
    """
    return isqrt(2 * edges)


@dataclass(frozen=True)
class Goal:
    """What a round asks of edges, by their bounds.

    Attributes
    ----------
    cap : int
        The highest level that any edge can have.
    low, high : int
        Edges with bounds from `low` to below `high` are chosen; none if both are equal. All levels
        from `high` on are closed.
    floors : array of uint32
        By level: the highest closed level up to it, which edges with this bound reach.
    """

    cap: int
    low: int
    high: int
    floors: Any

    @property
    def chooses(self) -> bool:
        """Whether any edges are chosen."""
        return self.low < self.high


@dataclass(frozen=True)
class Survey:
    """What is known of all edges after a round.

    Attributes
    ----------
    is_open : array of bool
        Whether each level is open.
    edges : array of int64
        By level: how many edges have it as their bound.
    """

    is_open: Any
    edges: Any

    @classmethod
    def of(cls, tallied: Any, before: Survey | None) -> Survey:
        """Survey edges by the sum of all tallies, and by the survey before the round, if any."""
        changes, edges = tallied
        is_open = np.cumsum(changes) > 0
        return cls(is_open if before is None else is_open & before.is_open, edges)

    @property
    def open_edges(self) -> int:
        """The number of edges that are not settled."""
        return int(self.edges[self.is_open].sum())

    @property
    def floor(self) -> int:
        """The lowest open level: all edges below are settled, and support none that is open."""
        return max(int(np.argmax(self.is_open)), 1)

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
    def floors(self) -> Any:
        """By level: the highest closed level up to it; uint32."""
        levels = np.arange(len(self.is_open), dtype="uint32")
        return np.maximum.accumulate(np.where(self.is_open, np.uint32(0), levels))

    def goal(self, fits: Callable[[int, int], bool], guess: Guess) -> Goal:
        """Choose what the next round asks, and as many edges as fit with their companions."""
        cap = self.cap
        edges, is_open = self.edges[: cap + 1].copy(), self.is_open[: cap + 1]
        edges[cap] += self.edges[cap + 1 :].sum()  # a round caps their bounds
        high = int(np.flatnonzero(is_open).max(initial=0)) + 1
        through = np.cumsum(edges[:high][::-1])  # of the highest level, of the two highest, ...

        def too_many(number: int) -> bool:
            edges = guess.with_companions(through[number - 1]) if number else 0
            return not fits(edges, high - number)

        fitting = bisect_right(range(high + 1), 0, key=too_many) - 1
        if guess.pauses:
            fitting = 0
        elif fitting < 1 or not through[fitting - 1]:  # the guess may be too high for one level
            top = 1 + int(np.argmax(through > 0))
            tries = (high - top, high) != guess.missed and fits(int(through[top - 1]), high - top)
            fitting = top if tries else 0
        low = max(high - fitting, self.floor)
        low = low + int(np.argmax(is_open[low:high])) if low < high else high
        return Goal(cap, low, high, self.floors[: cap + 1])


@dataclass(frozen=True)
class Guess:
    """How many companions edges will have, by the last round that counted any.

    Attributes
    ----------
    rate : float
        Companions of an edge.
    most : int
        All companions, at most.
    missed : tuple of int
        `Goal.low` and `Goal.high` of chosen edges that did not fit.
    pauses : bool
        Whether the next round chooses no edges, for few of the last ones stayed in their range.
    """

    rate: float = COMPANIONS
    most: int = 2**62
    missed: tuple[int, int] = (0, 0)
    pauses: bool = False

    def with_companions(self, edges: int) -> int:
        """Return the number of so many edges and their companions."""
        return int(edges) + min(int(self.rate * edges), self.most)

    def after(self, goal: Goal, edges: int, companions: int, *, fit: bool) -> Guess:
        """Return the next guess, after these were counted."""
        rate = companions / max(edges, 1)
        if fit:
            return Guess(max(COMPANIONS, 1.1 * rate))
        return Guess(2 * rate, companions, (goal.low, goal.high))  # fewer edges, no more companions

    def after_peel(self, edges: int, stayed: int) -> Guess:
        """Return the next guess, after `stayed` of the chosen edges stayed in their range."""
        return replace(self, pauses=4 * stayed < edges)


# The arrays of a block ----------------------------------------------------------------------------


def first_bounds(counts: Array, most: int, xp: Any) -> Bounds:
    """Bound the levels of edges by their triangles, and by a level that no edge exceeds."""
    upper = xp.minimum(counts, xp.uint32(most))
    return [upper, xp.zeros(len(upper), "uint32"), upper]


def asked(bounds: Bounds, goal: Goal, xp: Any) -> Levels:
    """Return what edges count as in a round, and the level that they ask for besides.

    Chosen edges count as `STAYS` more, and ask for `Goal.low`. Edges that stay ask for `STAYS`: for
    triangles with two chosen edges. Other settled edges ask for nothing.
    """
    upper, reached = (xp.minimum(values, xp.uint32(goal.cap)) for values in bounds[:2])
    floors = xp.asarray(goal.floors)[upper]
    least = xp.maximum(reached, floors)
    probe = least + (upper - least + xp.uint32(1)) // xp.uint32(2)
    probe = xp.where(floors == upper, xp.uint32(NEVER), probe)
    stays = upper >= goal.high
    chosen = (upper >= goal.low) & ~stays
    probe = xp.where(chosen, xp.uint32(goal.low), xp.where(stays, xp.uint32(STAYS), probe))
    values = xp.where(chosen, upper + xp.uint32(STAYS), upper).astype("uint64")
    return values << xp.uint64(32) | probe


def halves(levels: Levels) -> tuple[Array, Array]:
    """Return what edges count as in triangles, and their probes: uint32."""
    return (levels >> levels.dtype.type(32)).astype("uint32"), levels.astype("uint32")


def is_chosen(levels: Levels) -> Array:
    """Mark the chosen edges, by what they were asked."""
    marks: Array = halves(levels)[0] >= STAYS
    return marks


def is_peeled(levels: Levels, counts: Array) -> Array:
    """Mark the chosen edges and their companions, by what they were asked, and what was counted."""
    values, probe = halves(levels)
    marks: Array = (values >= STAYS) | ((probe == STAYS) & (counts[1] > 0))
    return marks


def support(levels: Levels, counts: Array, xp: Any) -> Array:
    """Return the triangles of the chosen edges and their companions, by which they are peeled."""
    peeled = is_peeled(levels, counts)
    return xp.where(is_chosen(levels), counts[1], xp.uint32(STAYS))[peeled]


def lowered(levels: Levels, counts: Array, goal: Goal, xp: Any) -> Bounds:
    """Return the bounds of edges by the triangles that reach their levels.

    Of chosen edges, only the triangles that reach their probe are known. No bound falls below a
    closed level: some of its edges may be dropped already, so that too few triangles were counted.
    """
    (values, probe), (of_upper, of_probe) = halves(levels), counts
    chosen, stays = values >= STAYS, probe >= STAYS
    upper = xp.where(chosen, values - xp.uint32(STAYS), values)
    below = xp.where(of_probe >= probe, of_probe, probe - xp.uint32(1))
    limit = xp.where(chosen, upper, upper - xp.uint32(1))  # wraps where it is not taken
    fails = ~stays & (chosen | (of_upper < upper))
    reached = xp.minimum(of_probe, probe)
    reached = xp.where(chosen, reached, xp.maximum(xp.minimum(of_upper, upper), reached))
    least = xp.asarray(goal.floors)[upper]
    return [
        xp.where(fails, xp.maximum(xp.minimum(below, limit), least), upper),
        xp.where(stays, upper, reached),
        upper,
    ]


def settled(
    levels: Levels, counts: Array, bounds: Bounds, peeled: Array, low: int, xp: Any
) -> Bounds:
    """Return the bounds that `lowered` has found, and of chosen edges the bounds by the peel.

    At least as many triangles of an edge reach the level below `low` as reach `low`.
    """
    (upper, reached, before), chosen = (values.copy() for values in bounds), is_chosen(levels)
    of_chosen = peeled[chosen[is_peeled(levels, counts)]]
    of_chosen = xp.minimum(xp.maximum(of_chosen, xp.uint32(low - 1)), before[chosen])
    upper[chosen] = before[chosen] = of_chosen
    reached[chosen] = xp.minimum(of_chosen, counts[1][chosen])
    return [upper, reached, before]


def tally(bounds: Bounds, most: int, xp: Any) -> Array:
    """Return the part of a block in the next survey: int64, (2, levels).

    By level: how many edges more than at the level below leave it open; and `Survey.edges`. An edge
    fails at the levels above what it reached, up to the bound by which this was counted.
    """
    upper, reached, before = bounds
    failed, size = reached < before, most + 2

    def count(levels: Array) -> Array:
        return xp.bincount(levels.astype("int64"), minlength=size)

    changes = count(reached[failed] + xp.uint32(1)) - count(before[failed] + xp.uint32(1))
    return xp.stack([changes, count(upper)]).astype("int64")


@dataclass(frozen=True)
class _Graph:
    """A graph without a layout: a peel needs none of its own."""

    csr: Csr


def peel_chosen(
    blocks: Iterable[tuple[Block, Csr]], supports: Iterable[Array], edges: int, vertices: int,
    n: int, goal: Goal, kinds: KindOfBlocks, *, engine: Any, xp: Any,
) -> Iterator[Array]:  # fmt: skip
    """Peel chosen edges and their companions as one graph; yield the levels of each block.

    `supports` are the triangles of the edges of each block.
    """
    graph, relabel = join_blocks(blocks, edges, vertices, n, engine=engine, xp=xp)
    counts = xp.empty(edges, "uint32")
    where = partial(places, blocks, graph, relabel, n, engine)
    for place, triangles in zip(where(), supports, strict=True):
        counts[place] = triangles
    kind = kinds.joined(where, edges, xp)
    truss = engine.truss(_Graph(graph), counts, levels=(goal.low - 1, goal.high - 1), kind=kind)
    del counts
    levels = (truss - 2).astype("uint32")
    yield from (levels[place] for place in where())


def peel_all(
    blocks: Iterable[tuple[Block, Csr]], edges: int, vertices: int, n: int, floor: int,
    kinds: KindOfBlocks, *, engine: Any, xp: Any,
) -> Iterator[Array]:  # fmt: skip
    """Peel all edges of the blocks as one graph; yield the levels of each block."""
    graph, relabel = join_blocks(blocks, edges, vertices, n, engine=engine, xp=xp)
    where = partial(places, blocks, graph, relabel, n, engine)
    truss = peel_graph(graph, None, engine, kinds, kinds.joined(where, edges, xp))
    levels = xp.maximum(truss - 2, floor - 1).astype("uint32")
    del truss
    yield from (levels[place] for place in where())


def places(
    blocks: Iterable[tuple[Block, Csr]], graph: Csr, relabel: Array, n: int, engine: Any
) -> Iterator[Array]:
    """Yield where the edges of each block are in the graph that joins all blocks."""
    for at, block in blocks:
        u, v = geometry.block_ends(block, n, at)
        yield engine.find_edges(graph, relabel[u], relabel[v])


def join_blocks(
    blocks: Iterable[tuple[Block, Csr]], edges: int, vertices: int, n: int, *, engine: Any, xp: Any
) -> tuple[Csr, Array]:
    """Make one graph of the edges of all blocks, whose ranks are below `vertices`.

    The blocks are read twice, one at a time.

    Returns
    -------
    graph, relabel
        `relabel` (uint32) is the rank in the graph of every rank; of a rank without an edge it is
        the last one, which has none.
    """
    present = xp.zeros(vertices, bool)
    for at, block in blocks:
        for ends in geometry.block_ends(block, n, at):
            present[ends] = True
    size = sum64(present)
    relabel = xp.where(present, xp.cumsum(present, dtype="uint32") - 1, size).astype("uint32")
    del present

    def pack(u: Array, v: Array, out: Array) -> None:
        pack_keys(relabel[u], relabel[v], xp, out)

    return engine.csr(geometry.collect_keys(blocks, edges, n, pack, xp), size + 1), relabel


def peel_graph(
    graph: Csr, k: int | None, engine: Any, kinds: KindOfBlocks, kind: Kind | None
) -> Array:
    """Return the trussness of every edge of a graph in memory, as `Engine.truss` does."""
    layout = engine.prepare(graph)
    return engine.truss(layout, kinds.counts(layout, kind, engine), k=k, kind=kind)
