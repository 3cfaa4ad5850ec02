"""The truss numbers of a partitioned graph: the rounds of `levels` on the blocks of workers.

The state of a block is [whether each edge remains, the trussness of each edge that does not].
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from rapids_tc.blocks import block_work, codec, geometry, levels
from rapids_tc.blocks.block_work import KindOfBlocks, kind_of
from rapids_tc.blocks.codec import require_below, require_length
from rapids_tc.blocks.quantities import TrianglesByLevel
from rapids_tc.frames.backend import sum64

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rapids_tc.blocks.block_map import Blocked
    from rapids_tc.blocks.block_work import BlockJob, PlacedBlock
    from rapids_tc.blocks.codec import EncodedBlock
    from rapids_tc.blocks.geometry import Block
    from rapids_tc.blocks.levels import Bounds, Goal, Levels, Survey
    from rapids_tc.blocks.quantities import Within
    from rapids_tc.executors.protocol import Task
    from rapids_tc.frames.backend import Array, Backend
    from rapids_tc.preparation.csr import Csr

AT_ONCE = 4  # counts of a block that a task adds: there are many rounds of them
State = list[Any]
Part = list[Any]  # an encoded block of some edges, their triangles, and what a kind has of them


class LevelBlocks:
    """The edges of a graph in blocks, with the bounds of their levels: all of them are tasks.

    Parameters
    ----------
    graph : Blocked
    counts : list of list of Task
        The triangles of the edges of each block, in slices.
    """

    def __init__(self, graph: Blocked, counts: list[list[Task]]) -> None:
        self._graph, self._blocks, self._first = graph, graph.blocks, counts
        self._kind = graph.kind_or_all
        self.edges = sum(map(sum, graph.rows))  # at most, until they are surveyed
        self._most = levels.most_levels(self.edges)
        self._bounds: list[Task] = []
        self._states = graph.each("peel", begin, self._blocks)
        self._asked: list[Task] = []
        self._counts: list[Task] = []
        self._parts: list[Task] = []

    def fits(self, edges: int, low: int) -> bool:
        """Return whether so many edges, of bounds from `low` on, can be peeled as one graph."""
        return self._graph.fits(edges, low)

    def begin(self) -> Survey:
        """Bound the level of every edge by its triangles."""
        self._bounds = self._graph.each("peel", first_bounds, self._first, more=(self._most,))
        survey = self._survey(None)
        self.edges = int(survey.edges.sum())
        return survey

    def count(self, goal: Goal) -> tuple[int, int]:
        """Count all triangles for a round; return how many edges are chosen, and companions."""
        graph = self._graph
        self._asked = graph.each("peel", levels.asked, self._bounds, more=(goal,))
        values = [[*both] for both in zip(self._asked, self._kind.arrays, strict=True)]
        jobs = graph.by_job(level_counts, self._kind.quantity, of=self._blocks, values=values)
        self._counts, self._parts = graph.by_block(jobs, at_once=AT_ONCE), []
        if not goal.chooses:
            return 0, 0
        asked = self._asked, self._counts, self._kind.arrays
        self._parts = graph.each_block("peel", select, *asked, of=self._blocks)
        by_block = graph.executor.gather(graph.each("peel", sizes, self._parts))
        chosen, companions = map(sum, zip(*by_block, strict=True))
        return chosen, companions

    def lower(self, goal: Goal, survey: Survey, *, peel: bool) -> Survey:
        """Lower the bounds by what was counted; `peel` the chosen edges with their companions."""
        graph, asked = self._graph, (self._asked, self._counts)
        if peel:
            of_all = self._parts, graph.n, goal, self._kind.quantity
            peeled = self._apart(graph.submit("peel", peel_chosen, *of_all))
            self._bounds = graph.each("peel", settled, *asked, peeled, more=(goal,))
        else:
            self._bounds = graph.each("peel", lowered, *asked, more=(goal,))
        self._counts, self._parts = [], []
        return self._survey(survey)

    def drop(self, floor: int) -> None:
        """Note the levels of the edges below the floor, and remove these edges."""
        graph, bounds = self._graph, self._bounds
        self._states = graph.each("peel", note, self._states, bounds, more=(floor,))
        self._blocks = graph.each_block("peel", keep, bounds, more=(floor,), of=self._blocks)
        self._kind = self._kind.with_arrays(
            lambda arrays: graph.each("peel", keep_kind, arrays, bounds, more=(floor,))
        )
        self._bounds = graph.each("peel", keep_bounds, bounds, more=(floor,))
        self.edges = sum(graph.edges_of("peel", self._blocks))

    def peel(self, floor: int) -> None:
        """Peel all edges of the blocks as one graph; all reach the level below the floor."""
        kind = self._kind.quantity, self._kind.arrays
        where = self._blocks, self._graph.n, floor, *kind
        self._bounds = self._apart(self._graph.submit("peel", peel_all, *where))

    def trussness(self) -> list[list[Task]]:
        """Submit the trussness of every edge of each block: for each a list of one task."""
        graph = self._graph
        states = graph.each("peel", note, self._states, self._bounds, more=(0,))
        return [[truss] for truss in graph.each("peel", operator.getitem, states, more=(1,))]

    def _survey(self, before: Survey | None) -> Survey:
        tallies = self._graph.each("peel", tally, self._bounds, more=(self._most,))
        total = self._graph.executor.gather(self._graph.reduce("peel", block_work.add, tallies))
        return levels.Survey.of(total.reshape(2, -1), before)

    def _apart(self, by_block: Task) -> list[Task]:
        """Return a task for each block of a task that returns a list of all."""
        places = [*range(self._graph.n**2)]
        return self._graph.each("peel", operator.getitem, [by_block] * len(places), places)


def find_levels(blocks: LevelBlocks) -> None:
    """Lower the bounds of all edges until they are the levels, or what is left fits in memory."""
    survey, guess = blocks.begin(), levels.Guess()
    while survey.open_edges:
        fits = blocks.fits(survey.remaining, survey.floor)
        if fits or survey.remaining < levels.SHRINK * blocks.edges:
            blocks.drop(survey.floor)
        if fits:
            blocks.peel(survey.floor)
            return
        goal = survey.goal(blocks.fits, guess)
        edges, companions = blocks.count(goal)
        fit = bool(edges) and blocks.fits(edges + companions, goal.low)
        if edges:
            guess = guess.after(goal, edges, companions, fit=fit)
        survey = blocks.lower(goal, survey, peel=fit)
        guess = guess.after_peel(edges if fit else 0, int(survey.edges[goal.low : goal.high].sum()))


# What workers do ----------------------------------------------------------------------------------


def begin(rows: EncodedBlock, *, xp: Any) -> State:
    """Return the state of a block none of whose edges has gone."""
    m = codec.edges(rows)
    return [xp.ones(m, bool), xp.full(m, 2, "int32")]


def level_counts(
    job: BlockJob, of_blocks: list[tuple[Levels, Any]], quantity: Within | None
) -> list[Array]:
    """Count triangles by edge that reach the levels of the edges: an array for each block."""
    values = []
    for block, (asked, arrays) in zip(job.three, of_blocks, strict=True):
        require_length(asked, block.m, "levels of edges")
        values.append((asked, kind_of(quantity, arrays, block.m)))
    return job.visit(TrianglesByLevel("levels"), values)


def first_bounds(counts: list[Array], most: int, *, xp: Any) -> Bounds:
    """Bound the levels of edges by their triangles, which come in slices."""
    return levels.first_bounds(xp.concatenate(counts), most, xp)


def tally(bounds: Bounds, most: int, *, backend: Backend) -> Array:
    """Tally the bounds of a block."""
    require_below(bounds[2], most + 1, "levels of edges")
    require_length(bounds[2], len(bounds[0]), "levels of edges")
    return backend.host(levels.tally(bounds, most, backend.xp).ravel())


def lowered(asked: Levels, counts: Array, goal: Goal, *, xp: Any) -> Bounds:
    """Return the bounds of the edges of a block after a round."""
    require_length(counts[0], len(asked), "counts of edges")
    return levels.lowered(asked, counts, goal, xp)


def settled(asked: Levels, counts: Array, peeled: Array, goal: Goal, *, xp: Any) -> Bounds:
    """Return the bounds of the edges of a block after a round whose chosen edges were peeled."""
    bounds = lowered(asked, counts, goal, xp=xp)
    require_length(peeled, sum64(levels.is_peeled(asked, counts)), "levels of edges")
    return levels.settled(asked, counts, bounds, peeled, goal.low, xp)


def note(state: State, bounds: Bounds, floor: int, *, xp: Any) -> State:
    """Return the state with the trussness of the edges that remain; those below the floor go."""
    (remains, truss), upper = state, bounds[0]
    edges = xp.flatnonzero(remains)
    require_length(upper, len(edges), "levels of edges")
    remains, truss = remains.copy(), truss.copy()
    truss[edges] = upper.astype("int32") + 2
    remains[edges[upper < floor]] = False
    return [remains, truss]


def keep(block: PlacedBlock, bounds: Bounds, floor: int) -> EncodedBlock:
    """Return a block without the edges below the floor."""
    return block.select(bounds[0] >= floor)


def keep_kind(arrays: Any, bounds: Bounds, floor: int, *, xp: Any) -> Any:
    """Return what was read for a kind without the edges below the floor."""
    return block_work.select(arrays, bounds[0] >= floor, xp)


def keep_bounds(bounds: Bounds, floor: int) -> Bounds:
    """Return the bounds without the edges below the floor."""
    stays = bounds[0] >= floor
    return [values[stays] for values in bounds]


def select(block: PlacedBlock, asked: Levels, counts: Array, arrays: Any) -> Part:
    """Return the chosen edges of a block and their companions, and their triangles."""
    require_length(counts[0], len(asked), "counts of edges")
    peeled = levels.is_peeled(asked, counts)
    of_kind = block_work.select(arrays, peeled, block.xp)
    return [*block.select(peeled), levels.support(asked, counts, block.xp), of_kind]


def sizes(part: Part) -> tuple[int, int]:
    """Return how many edges of a part are chosen, and how many are companions."""
    chosen = sum64(part[2] != levels.STAYS)
    return chosen, len(part[2]) - chosen


def peel_chosen(
    parts: list[Part], n: int, goal: Goal, quantity: Within | None, *, engine: Any, xp: Any
) -> list[Array]:
    """Peel the chosen edges of all blocks as one graph; return levels, block by block."""
    blocks = DecodedBlocks([part[:2] for part in parts], n, xp)
    for (_, block), part in zip(blocks, parts, strict=True):
        require_length(part[2], block.m, "triangles of edges")
    supports = (part[2] for part in parts)
    size = blocks.edges, blocks.vertices, n
    kind = KindOfBlocks(quantity, [part[3] for part in parts])
    return list(levels.peel_chosen(blocks, supports, *size, goal, kind, engine=engine, xp=xp))


def peel_all(
    remaining: list[EncodedBlock], n: int, floor: int, quantity: Within | None, arrays: list[Any],
    *, engine: Any, xp: Any,
) -> list[Bounds]:  # fmt: skip
    """Peel all blocks as one graph; return the bounds of their edges, which are their levels."""
    blocks = DecodedBlocks(remaining, n, xp)
    size = blocks.edges, blocks.vertices, n
    kind = KindOfBlocks(quantity, arrays)
    peeled = levels.peel_all(blocks, *size, floor, kind, engine=engine, xp=xp)
    return [[upper, upper, upper] for upper in peeled]


class DecodedBlocks:
    """Blocks as they arrived, decoded one at a time."""

    def __init__(self, encoded: list[EncodedBlock], n: int, xp: Any) -> None:
        self._encoded, self._n, self._xp = encoded, n, xp

    @property
    def edges(self) -> int:
        """The number of edges of all blocks."""
        return sum(map(codec.edges, self._encoded))

    @property
    def vertices(self) -> int:
        """The largest rank at an edge, plus one."""
        return max(geometry.rank_limit(block, self._n, at, self._xp) for at, block in self)

    def __iter__(self) -> Iterator[tuple[Block, Csr]]:
        for place, rows in enumerate(self._encoded):
            yield divmod(place, self._n), codec.csr(rows, self._xp)
