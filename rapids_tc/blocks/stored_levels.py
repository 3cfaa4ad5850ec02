"""The truss numbers of a graph whose blocks are outside of memory: the rounds of `levels`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.blocks import geometry, levels
from rapids_tc.blocks.truss import fits
from rapids_tc.frames.backend import sum64

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rapids_tc.blocks.geometry import Block
    from rapids_tc.blocks.grid import Task
    from rapids_tc.blocks.levels import Goal, Survey
    from rapids_tc.blocks.store import StoredBlocks
    from rapids_tc.blocks.truss import StoredGraph
    from rapids_tc.preparation.csr import Array, Csr

Stored = dict[tuple[int, int], Any]  # by block, an array as the store keeps it
Pairs = dict[tuple[int, int], list[Any]]  # by block, two arrays


def trussness(graph: StoredGraph, counts: Stored) -> Stored:
    """Find the trussness of every edge of each block, on the store, from the triangles of each."""
    found = StoredLevels(graph, counts)
    levels.find_levels(found)
    return found.trussness()


class StoredLevels:
    """See `rapids_tc.blocks.levels.LevelBlocks`: the edges that are left, on a store."""

    def __init__(self, graph: StoredGraph, counts: Stored) -> None:
        self._graph, self._blocks, self._first = graph, graph.blocks, counts
        self._store, self._xp = graph.blocks.store, graph.backend.xp
        self._most = levels.most_levels(graph.blocks.edges)
        self._bounds: Pairs = {}
        self._levels: Stored = {}
        self._counts: Stored = {}
        self._edges: Stored = {}  # where the edges that are left are in the whole block
        self._trussness: Stored = {}

    @property
    def edges(self) -> int:
        """See `LevelBlocks`."""
        return self._blocks.edges

    def fits(self, edges: int, low: int) -> bool:
        """See `LevelBlocks`."""
        return fits(self._blocks, edges, self._ranks(low))

    def _ranks(self, low: int) -> int:
        """Return a limit of the ranks at edges of bounds from `low` on: of high degrees, mostly."""
        return int(self._rank_limits[low])

    @cached_property
    def _rank_limits(self) -> Any:
        """By level x: the largest rank of a degree above x, plus one; others have no such edge."""
        blocks, graph = self._graph.blocks, self._graph
        degrees: Any = self._xp.zeros(blocks.vertices, "int64")
        for at, block in blocks:
            geometry.add_degrees(degrees, blocks.n, at, block, graph.engine)
        ascending = np.maximum.accumulate(graph.backend.host(degrees)[::-1])
        return blocks.vertices - np.searchsorted(ascending, np.arange(1, self._most + 3))

    def begin(self) -> Survey:
        """See `LevelBlocks`."""
        total: Any = 0
        for at, counts in self._first.items():
            triangles = self._store.load(counts)
            bounds = levels.first_bounds(triangles, self._most, self._xp)
            total = total + levels.tally(bounds, self._most, self._xp)
            self._bounds[at] = self._put(bounds[:2], None)
        return self._survey(total, None)

    def count(self, goal: Goal) -> tuple[int, int]:
        """See `LevelBlocks`."""
        store, xp = self._store, self._xp
        for at, bounds in self._bounds.items():
            asked = levels.asked(self._get(bounds), goal, xp)
            (self._levels[at],) = self._put([asked], [self._levels.get(at)])
        self._counts = {
            at: store.zeros(2 * columns.size, "uint32", self._counts.get(at))
            for at, (_, columns) in self._blocks.stored.items()
        }

        loaded: dict[Block, Array] = {}

        def found(task: Task, made: list[Csr], layout: Any) -> None:
            for at in loaded.keys() - set(task.blocks):
                del loaded[at]  # before others are loaded
            for at in task.blocks:
                if at not in loaded:
                    loaded[at] = store.load(self._levels[at])
            three = [loaded[at] for at in task.blocks]
            counts = self._graph.engine.level_counts(layout, three)
            for at, part in zip(task.blocks, counts, strict=True):
                store.add(self._counts[at], part.ravel())

        self._graph.run(found, self._blocks, loaded.clear)
        chosen = peeled = 0
        if goal.chooses:
            for at, stored in self._levels.items():
                asked = store.load(stored)
                chosen += sum64(levels.is_chosen(asked))
                peeled += sum64(levels.is_peeled(asked, self._counted(at)))
        return chosen, peeled - chosen

    def lower(self, goal: Goal, survey: Survey, *, peel: bool) -> Survey:
        """See `LevelBlocks`."""
        xp, total = self._xp, 0
        peeled = self._peel_chosen(goal) if peel else repeat(None)
        for of_peeled, (at, stored) in zip(peeled, self._levels.items(), strict=False):
            asked, counts = self._store.load(stored), self._counted(at)  # once all edges are peeled
            bounds = levels.lowered(asked, counts, goal, xp)
            if of_peeled is not None:
                bounds = levels.settled(asked, counts, bounds, of_peeled, goal.low, xp)
            total = total + levels.tally(bounds, self._most, xp)
            self._bounds[at] = self._put(bounds[:2], self._bounds[at])
            del asked, counts, bounds
        return self._survey(total, survey)

    def drop(self, floor: int) -> None:
        """See `LevelBlocks`."""
        stored = {}
        for at, block in self._blocks:
            upper, reached = self._get(self._bounds[at])
            stays = upper >= floor
            edges = self._note(at, upper)
            self._bounds[at] = self._put([upper[stays], reached[stays]], self._bounds[at])
            self._edges[at] = self._store.store(edges[stays], self._edges.get(at))
            stored[at] = self._blocks.put(block.select(stays), self._spare(at))
        self._store.synchronize()
        self._blocks = replace(self._blocks, stored=stored)

    def peel(self, floor: int) -> None:
        """See `LevelBlocks`."""
        blocks, graph = self._blocks, self._graph
        with graph.stage("peeling") as report:
            peeled = levels.peel_all(
                blocks, blocks.edges, self._ranks(floor), blocks.n, floor,
                engine=graph.engine, xp=self._xp, on_progress=report.on_progress,
            )  # fmt: skip
            for at, upper in zip(blocks.stored, peeled, strict=True):
                self._bounds[at] = self._put([upper, upper], self._bounds[at])

    def _peel_chosen(self, goal: Goal) -> Iterator[Array]:
        """Peel the chosen edges and their companions; yield the levels of each block."""
        blocks, graph = self._blocks, self._graph
        part = _PeeledEdges(blocks, self._peeled)
        supports = (self._support(at) for at in self._levels)
        with graph.stage("peeling"):
            yield from levels.peel_chosen(
                part, supports, part.edges, self._ranks(goal.low), blocks.n, goal,
                engine=graph.engine, xp=self._xp,
            )  # fmt: skip

    def _peeled(self, at: Block) -> Array:
        """Mark the chosen edges of a block and their companions."""
        return levels.is_peeled(self._store.load(self._levels[at]), self._counted(at))

    def _support(self, at: Block) -> Array:
        return levels.support(self._store.load(self._levels[at]), self._counted(at), self._xp)

    def trussness(self) -> Stored:
        """Return the trussness of every edge of each block of the graph."""
        for at, bounds in self._bounds.items():
            self._note(at, self._get(bounds)[0])
        return self._trussness

    def _counted(self, at: Block) -> Array:
        return self._store.load(self._counts[at]).reshape(2, -1)

    def _note(self, at: Block, upper: Array) -> Array:
        """Note what is known of the edges that are left; return where these are in the block."""
        xp, level = self._xp, upper.astype("int32") + 2
        if at in self._edges:
            edges, truss = self._get([self._edges[at], self._trussness[at]])
            truss[edges] = level
        else:  # all are left
            edges, truss = xp.arange(len(upper), dtype="uint32"), level
        self._trussness[at] = self._store.store(truss, self._trussness.get(at))
        self._store.synchronize()
        return edges

    def _spare(self, at: Block) -> Any:
        """Return a block that may be written over: what is left of it, but not the graph's."""
        return None if self._blocks is self._graph.blocks else self._blocks.stored[at]

    def _get(self, pair: list[Any]) -> list[Array]:
        return [self._store.load(array) for array in pair]

    def _put(self, pair: list[Array], over: list[Any] | None) -> list[Any]:
        stored = [
            self._store.store(array, place)
            for array, place in zip(pair, over or [None] * len(pair), strict=True)
        ]
        self._store.synchronize()
        return stored

    def _survey(self, total: Array, before: Survey | None) -> Survey:
        return levels.Survey.of(self._graph.backend.host(total), before)


@dataclass(frozen=True)
class _PeeledEdges:
    """The edges of each block that are peeled, one block at a time in memory."""

    blocks: StoredBlocks
    marks: Callable[[Block], Array]

    @property
    def edges(self) -> int:
        """The number of edges that are peeled."""
        return sum(sum64(self.marks(at)) for at in self.blocks.stored)

    def __iter__(self) -> Iterator[tuple[Block, Csr]]:
        for at, block in self.blocks:
            yield at, block.select(self.marks(at))
