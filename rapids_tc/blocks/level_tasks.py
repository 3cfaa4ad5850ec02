"""The tasks of a cluster's workers on the levels of edges: the arrays of `levels`, by block.

The state of a block is [whether each edge remains, the trussness of each edge that does not].
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rapids_tc.blocks import codec, counting, geometry, levels
from rapids_tc.blocks.arrivals import require_below, require_length
from rapids_tc.blocks.worker_tasks import WorkerContext, worker_task
from rapids_tc.engines import registry
from rapids_tc.frames.backend import sum64

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rapids_tc.blocks.codec import EncodedBlock
    from rapids_tc.blocks.geometry import Block
    from rapids_tc.blocks.grid import Task
    from rapids_tc.blocks.levels import Bounds, Goal, Levels
    from rapids_tc.frames.backend import Array
    from rapids_tc.preparation.csr import Csr

State = list[Any]
Part = list[Any]  # an encoded block of some edges, and their triangles


@worker_task
def begin(context: WorkerContext, rows: EncodedBlock) -> State:
    """Return the state of a block none of whose edges has gone."""
    xp, m = context.backend.xp, len(rows[1])
    return [xp.ones(m, bool), xp.full(m, 2, "int32")]


@worker_task
def level_counts(
    context: WorkerContext,
    uv: EncodedBlock,
    uw: EncodedBlock,
    vw: EncodedBlock,
    tasks: list[Task],
    n: int,
    method: str,
    of_blocks: list[Levels],
) -> list[Array]:
    """Count triangles by edge that reach the levels of the edges: an array for each block."""
    three = counting.decode_blocks(context, uv, uw, vw)
    for block, asked in zip(three, of_blocks, strict=True):
        require_length(asked, block.m, "levels of edges")
    engine = registry.load(context.backend.engine)
    sums: list[Array] = []
    for layout in counting.task_layouts(context, three, tasks, n):
        sums = counting.added(sums, engine.level_counts(layout, of_blocks))
    return sums


@worker_task
def first_bounds(context: WorkerContext, counts: list[Array], most: int) -> Bounds:
    """Bound the levels of edges by their triangles, which come in slices."""
    xp = context.backend.xp
    return levels.first_bounds(xp.concatenate(counts), most, xp)


@worker_task
def tally(context: WorkerContext, bounds: Bounds, most: int) -> Array:
    """Tally the bounds of a block."""
    require_below(bounds[2], most + 1, "levels of edges")
    require_length(bounds[2], len(bounds[0]), "levels of edges")
    return context.backend.host(levels.tally(bounds, most, context.backend.xp).ravel())


@worker_task
def add(context: WorkerContext, pair: list[Array]) -> Array:
    """Add two tallies."""
    require_length(pair[0], len(pair[-1]), "levels")
    return pair[0] + pair[-1]


@worker_task
def asked(context: WorkerContext, bounds: Bounds, goal: Goal) -> Levels:
    """Return what the edges of a block are asked in a round."""
    return levels.asked(bounds, goal, context.backend.xp)


@worker_task
def lowered(context: WorkerContext, asked: Levels, counts: Array, goal: Goal) -> Bounds:
    """Return the bounds of the edges of a block after a round."""
    require_length(counts[0], len(asked), "counts of edges")
    return levels.lowered(asked, counts, goal, context.backend.xp)


@worker_task
def settled(
    context: WorkerContext, asked: Levels, counts: Array, peeled: Array, goal: Goal
) -> Bounds:
    """Return the bounds of the edges of a block after a round whose chosen edges were peeled."""
    bounds = lowered(context, asked, counts, goal)
    require_length(peeled, sum64(levels.is_peeled(asked, counts)), "levels of edges")
    return levels.settled(asked, counts, bounds, peeled, goal.low, context.backend.xp)


@worker_task
def note(context: WorkerContext, state: State, bounds: Bounds, floor: int) -> State:
    """Return the state with the trussness of the edges that remain; those below the floor go."""
    xp, (remains, truss), upper = context.backend.xp, state, bounds[0]
    edges = xp.flatnonzero(remains)
    require_length(upper, len(edges), "levels of edges")
    remains, truss = remains.copy(), truss.copy()
    truss[edges] = upper.astype("int32") + 2
    remains[edges[upper < floor]] = False
    return [remains, truss]


@worker_task
def compress(
    context: WorkerContext, rows: EncodedBlock, bounds: Bounds, floor: int
) -> EncodedBlock:
    """Return a block without the edges below the floor."""
    xp = context.backend.xp
    return codec.rows(_select(rows, bounds[0] >= floor, xp), xp)


@worker_task
def keep_bounds(context: WorkerContext, bounds: Bounds, floor: int) -> Bounds:
    """Return the bounds without the edges below the floor."""
    stays = bounds[0] >= floor
    return [values[stays] for values in bounds]


@worker_task
def select(context: WorkerContext, rows: EncodedBlock, asked: Levels, counts: Array) -> Part:
    """Return the chosen edges of a block and their companions, and their triangles."""
    xp = context.backend.xp
    require_length(counts[0], len(asked), "counts of edges")
    part = _select(rows, levels.is_peeled(asked, counts), xp)
    return [*codec.rows(part, xp), levels.support(asked, counts, xp)]


@worker_task
def sizes(context: WorkerContext, part: Part) -> tuple[int, int]:
    """Return how many edges of a part are chosen, and how many are companions."""
    chosen = sum64(part[2] != levels.STAYS)
    return chosen, len(part[2]) - chosen


@worker_task
def peel_chosen(context: WorkerContext, parts: list[Part], n: int, goal: Goal) -> list[Array]:
    """Peel the chosen edges of all blocks as one graph; return levels, block by block."""
    xp, engine = context.backend.xp, registry.load(context.backend.engine)
    blocks = _Decoded([part[:2] for part in parts], n, xp)
    for (_, block), part in zip(blocks, parts, strict=True):
        require_length(part[2], block.m, "triangles of edges")
    supports = [part[2] for part in parts]
    size = blocks.edges, blocks.vertices, n
    return list(levels.peel_chosen(blocks, supports, *size, goal, engine=engine, xp=xp))


@worker_task
def peel_all(
    context: WorkerContext, remaining: list[EncodedBlock], n: int, floor: int
) -> list[Bounds]:
    """Peel all blocks as one graph; return the bounds of their edges, which are their levels."""
    xp, engine = context.backend.xp, registry.load(context.backend.engine)
    blocks = _Decoded(remaining, n, xp)
    size = blocks.edges, blocks.vertices, n
    peeled = levels.peel_all(blocks, *size, floor, engine=engine, xp=xp)
    return [[upper, upper, upper] for upper in peeled]


class _Decoded:
    """Blocks as they arrived, decoded one at a time."""

    def __init__(self, encoded: list[EncodedBlock], n: int, xp: Any) -> None:
        self._encoded, self._n, self._xp = encoded, n, xp

    @property
    def edges(self) -> int:
        """The number of edges of all blocks."""
        return sum(len(rows[1]) for rows in self._encoded)

    @property
    def vertices(self) -> int:
        """The largest rank at an edge, plus one."""
        return max(geometry.rank_limit(block, self._n, at, self._xp) for at, block in self)

    def __iter__(self) -> Iterator[tuple[Block, Csr]]:
        for place, rows in enumerate(self._encoded):
            yield divmod(place, self._n), codec.csr(rows, self._xp)


def _select(rows: EncodedBlock, stays: Array, xp: Any) -> Csr:
    block = codec.csr(rows, xp)
    require_length(stays, block.m, "marks of edges")
    return block.select(stays)
