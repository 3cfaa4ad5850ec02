"""The truss numbers of a graph whose blocks are outside of memory: the rounds of `levels`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rapids_tc.blocks import levels
from rapids_tc.blocks.truss import fits
from rapids_tc.frames.backend import sum64

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rapids_tc.blocks.geometry import Block
    from rapids_tc.blocks.grid import Task
    from rapids_tc.blocks.levels import Survey
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
        self._levels: Pairs = {}
        self._counts: Stored = {}
        self._chosen: Stored = {}
        self._edges: Stored = {}  # where the edges that are left are in the whole block
        self._trussness: Stored = {}

    @property
    def edges(self) -> int:
        """See `LevelBlocks`."""
        return self._blocks.edges

    def fits(self, edges: int) -> bool:
        """See `LevelBlocks`."""
        return fits(self._blocks, edges)

    def begin(self) -> Survey:
        """See `LevelBlocks`."""
        total: Any = 0
        for at, counts in self._first.items():
            triangles = self._store.load(counts)
            bounds = levels.first_bounds(triangles, self._most, self._xp)
            total = total + levels.tally(bounds[0], bounds, self._most, self._xp)
            self._bounds[at] = self._put(bounds, None)
            edges = self._xp.arange(len(triangles), dtype="uint32")
            truss = self._xp.full(len(triangles), 2, "int32")
            self._edges[at], self._trussness[at] = self._put([edges, truss], None)
        return self._survey(total)

    def lower(self, survey: Survey) -> Survey:
        """See `LevelBlocks`."""
        xp, total = self._xp, 0
        self._count(lambda bounds: levels.probes(bounds, survey.cap, xp))
        for at, stored in self._levels.items():
            before = self._get(stored)
            bounds = levels.lowered(before, self._counted(at), xp)
            total = total + levels.tally(before[0], bounds, self._most, xp)
            self._bounds[at] = self._put(bounds, self._bounds[at])
        return self._survey(total)

    def drop(self, floor: int) -> None:
        """See `LevelBlocks`."""
        stored = {}
        for at, block in self._blocks:
            upper, reached = self._get(self._bounds[at])
            stays = upper >= floor
            edges = self._note(at, upper)
            self._bounds[at] = self._put([upper[stays], reached[stays]], self._bounds[at])
            self._edges[at] = self._store.store(edges[stays], self._edges[at])
            stored[at] = self._blocks.put(block.select(stays), self._spare(at))
        self._store.synchronize()
        self._blocks = replace(self._blocks, stored=stored)

    def peel(self) -> None:
        """See `LevelBlocks`."""
        blocks, graph = self._blocks, self._graph
        with graph.stage("peeling") as report:
            peeled = levels.peel_all(
                blocks, blocks.edges, blocks.vertices, blocks.n,
                engine=graph.engine, xp=self._xp, on_progress=report.on_progress,
            )  # fmt: skip
            for at, upper in zip(blocks.stored, peeled, strict=True):
                self._bounds[at] = self._put([upper, upper], self._bounds[at])

    def count_companions(self, survey: Survey) -> int:
        """See `LevelBlocks`."""
        xp, total = self._xp, 0
        self._count(lambda bounds: levels.marks(bounds[0], survey, xp))
        for at, bounds in self._bounds.items():
            upper, _ = self._get(bounds)
            chosen = levels.chosen(upper, self._counted(at)[1], survey, xp)
            total += sum64(chosen)
            self._chosen[at] = self._store.store(chosen, self._chosen.get(at))
            self._store.synchronize()
        return total

    def peel_ranges(self, survey: Survey) -> None:
        """See `LevelBlocks`."""
        xp, blocks, graph = self._xp, self._blocks, self._graph
        self._count(lambda bounds: levels.of_range(bounds[0], survey, xp))
        part = _ChosenBlocks(blocks, self._chosen)
        with graph.stage("peeling"):
            peeled = levels.peel_ranges(
                part, self._of_chosen(), part.edges, blocks.vertices, blocks.n, survey,
                engine=graph.engine, xp=xp,
            )  # fmt: skip
            for (at, stored), upper_of_chosen in zip(self._chosen.items(), peeled, strict=True):
                upper, reached = self._get(self._bounds[at])
                upper[self._store.load(stored)] = upper_of_chosen
                self._bounds[at] = self._put([upper, reached], self._bounds[at])

    def trussness(self) -> Stored:
        """Return the trussness of every edge of each block of the graph."""
        for at, bounds in self._bounds.items():
            self._note(at, self._get(bounds)[0])
        return self._trussness

    def _count(self, levels_of: Callable[[list[Array]], list[Array]]) -> None:
        """Count the triangles that reach the levels of every edge, which are made of its bounds."""
        store, stored = self._store, self._blocks.stored
        for at, bounds in self._bounds.items():
            self._levels[at] = self._put(levels_of(self._get(bounds)), self._levels.get(at))
        self._counts = {
            at: store.zeros(2 * columns.size, "uint32", self._counts.get(at))
            for at, (_, columns) in stored.items()
        }

        def found(task: Task, made: list[Csr], layout: Any) -> None:
            three = [self._levels[at] for at in task.blocks]
            upper, probe = (tuple(map(store.load, side)) for side in zip(*three, strict=True))
            counts = self._graph.engine.level_counts(layout, upper, probe)
            for at, part in zip(task.blocks, counts, strict=True):
                store.add(self._counts[at], part.ravel())

        self._graph.run(found, self._blocks)

    def _counted(self, at: Block) -> Array:
        return self._store.load(self._counts[at]).reshape(2, -1)

    def _of_chosen(self) -> Iterator[tuple[Array, Array]]:
        """Yield the bounds of the chosen edges of each block, and their triangles."""
        for at, stored in self._chosen.items():
            chosen = self._store.load(stored)
            yield self._get(self._bounds[at])[0][chosen], self._counted(at)[1][chosen]

    def _note(self, at: Block, upper: Array) -> Array:
        """Note what is known of the edges that are left; return where these are in the block."""
        edges, truss = self._store.load(self._edges[at]), self._store.load(self._trussness[at])
        truss[edges] = upper.astype("int32") + 2
        self._trussness[at] = self._store.store(truss, self._trussness[at])
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

    def _survey(self, total: Array) -> Survey:
        return levels.Survey(*self._graph.backend.host(total))


@dataclass(frozen=True)
class _ChosenBlocks:
    """The chosen edges of each block, one block at a time in memory."""

    blocks: StoredBlocks
    chosen: Stored

    @property
    def edges(self) -> int:
        """The number of chosen edges."""
        return sum(sum64(self.blocks.store.load(stored)) for stored in self.chosen.values())

    def __iter__(self) -> Iterator[tuple[Block, Csr]]:
        for at, block in self.blocks:
            yield at, block.select(self.blocks.store.load(self.chosen[at]))
