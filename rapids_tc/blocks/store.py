"""The blocks of a graph outside of memory: made from rows, read back, and counted task by task."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from rapids_tc.blocks import grid
from rapids_tc.blocks.grid import Block, Partition, Task
from rapids_tc.blocks.prefetch import load_plan, most_at_once, prefetch
from rapids_tc.blocks.rows import Rows
from rapids_tc.errors import require_unchanged
from rapids_tc.plan.budget import Budget
from rapids_tc.preparation.csr import Array, Csr

Stored = tuple[Any, Any]  # offsets (uint32) and columns, as the shelf keeps them
Key = tuple[int, int, int]  # a block, and which copy of it
Found = Callable[[Task, list[Csr], Any], None]  # (task, uv, uw and vw of it, layout)


@dataclass(frozen=True)
class StoredBlocks:
    """n x n blocks on a shelf.

    Attributes
    ----------
    engine : Engine
    shelf : Shelf of the engine
    budget : Budget
    allowed : int
        Bytes that may be taken for blocks.
    vertices, n : int
    stored : dict
        What the shelf has of each block.
    """

    engine: Any
    store: Any
    budget: Budget
    allowed: int
    vertices: int
    n: int
    stored: dict[Block, Stored]

    @property
    def edges(self) -> int:
        return sum(columns.size for _, columns in self.stored.values())

    def __iter__(self) -> Iterator[tuple[Block, Csr]]:
        """Every block, one at a time in memory."""
        for at, (offsets, columns) in self.stored.items():
            yield at, Csr(self.store.load(offsets).astype("int64"), self.store.load(columns))

    def put(self, block: Csr, over: Stored | None = None) -> Stored:
        """Keep a block, in place of one that is no smaller where that is given."""
        self.store.synchronize()  # of the one before, which was kept meanwhile
        offsets, columns = over or (None, None)
        kept = self.store.store(block.offsets.astype("uint32"), offsets)
        return kept, self.store.store(block.columns, columns)

    def zeros(self, over: dict[Block, Any]) -> dict[Block, Any]:
        """A counter (uint32) for every edge, on the shelf; in place of those given, if any."""
        sizes = {at: columns.size for at, (_, columns) in self.stored.items()}
        return {at: self.store.zeros(size, "uint32", over.get(at)) for at, size in sizes.items()}

    def run(self, found: Found, on_progress: Callable[..., None]) -> None:
        """Prepare every task while its blocks are in memory."""
        costs = self.engine.costs
        edges = max(columns.size for _, columns in self.stored.values())
        rows = max(offsets.size for offsets, _ in self.stored.values()) - 1
        tasks = grid.tasks(Partition(self.n, 1))
        plan = self._plan([task for task in tasks if self._may_have_triangles(task)])
        if not plan.tasks:
            return
        slots = self.budget.slots(edges, rows, len(plan.keys), self.allowed)
        if most_at_once(plan.needs, prefetch=costs.prefetch) > slots:
            plan = self._plan(tasks)  # neighbours have more in common
        with self.store.pooled(costs.task(edges, rows, self.budget.sides, slots)):
            try:
                self._tasks(plan, (slots, edges, rows), found, on_progress)
            finally:
                self.store.synchronize()  # no copy runs when its memory is released

    def _tasks(
        self,
        plan: Plan,
        sizes: tuple[int, int, int],
        found: Found,
        on_progress: Callable[..., None],
    ) -> None:
        """Run the tasks of a plan in a room of so many slots, for blocks of so many edges and rows.

        Nothing of a step is held when the blocks of the next are asked for, and nothing at the end.
        """
        slots, ahead = sizes[0], self.engine.costs.prefetch
        stored = {key: self.stored[key[:2]] for key in plan.keys}
        pool = self.engine.slot_pool(self.store, *sizes)
        blocks_of = prefetch(pool, stored, load_plan(plan.needs, slots, prefetch=ahead))
        grouped: Any = None
        last = [step.begins for step in plan.steps[1:]] + [True]
        for step, made, ends in zip(plan.steps, blocks_of, last, strict=True):
            uv, uw, vw = step.names
            if step.begins:
                grouped = self.engine.to_csc(made[uv])
                continue
            layout = self.engine.prepare_blocks(grouped, made[uw], made[vw], step.task.residues)
            found(step.task, [made[key] for key in (uv, uw, vw) if key in made], layout)
            del layout
            if ends:
                grouped = None
            on_progress((step.number + 1) / plan.tasks)

    def _plan(self, tasks: list[Task]) -> Plan:
        sides = self.budget.sides
        steps: list[Step] = []
        for number, task in enumerate(tasks):
            names = _names(task, sides)
            if not steps or steps[-1].names[0] != names[0]:
                steps.append(Step(number, task, names, begins=True))
            steps.append(Step(number, task, names, begins=False))
        return Plan(len(tasks), steps, sides or self.engine.costs.uv_stays_loaded)

    def _may_have_triangles(self, task: Task) -> bool:
        return all(self.stored[at][1].size for at in task.blocks)


@dataclass(frozen=True)
class Step:
    """A task, by its number and the names of its blocks uv, uw and vw; or what `begins` tasks of
    another uv: it is transposed."""

    number: int
    task: Task
    names: tuple[Key, Key, Key]
    begins: bool


@dataclass(frozen=True)
class Plan:
    """So many tasks in steps; uv may have to stay after it is transposed."""

    tasks: int
    steps: list[Step]
    uv_stays_loaded: bool

    @property
    def needs(self) -> list[list[Key]]:
        """What is in memory at each step."""
        return [
            [s.names[0]]
            if s.begins
            else list(dict.fromkeys(s.names[0 if self.uv_stays_loaded else 1 :]))
            for s in self.steps
        ]

    @property
    def keys(self) -> set[Key]:
        return {key for step in self.steps for key in step.names}


def _names(task: Task, sides: bool) -> tuple[Key, Key, Key]:
    """Under which names the blocks of a task are put into slots.

    Where edges are counted, a block that is both uw and vw stands in two slots, so that its edges
    are counted apart.
    """
    uv, uw, vw = task.blocks
    return (*uv, 0), (*uw, 0), (*vw, int(sides and vw == uw))


def cut(
    rows: Rows, rank: Array, vertices: int, engine: Any, store: Any, budget: Budget, allowed: int,
    xp: Any, on_progress: Callable[..., None],
) -> StoredBlocks:  # fmt: skip
    """Cut the edges of all rows in blocks, as few as fit what is allowed, and keep them."""
    reading = rows.memory(engine.costs.row)
    for n in budget.sides_of(rows.size, vertices, allowed, reading):
        sizes = _tally(rows, rank, n, engine, xp)
        longest = grid.members(vertices, n, 0) + 2  # offsets, at most: one row more if i > j
        if budget.fits(max(sizes), longest, rows.size, allowed, reading):
            break
    made = StoredBlocks(engine, store, budget, allowed, vertices, n, {})
    store.reserve(sum(4 * size + 4 * longest + 16 for size in sizes))
    _fill(made, rows, rank, sizes, longest, reading, xp, on_progress)
    return made


def _fill(
    made: StoredBlocks, rows: Rows, rank: Array, sizes: list[int], longest: int, reading: int,
    xp: Any, on_progress: Callable[..., None],
) -> None:  # fmt: skip
    """Make the blocks, as many at a time as their keys fit."""
    budget, n = made.budget, made.n
    while (first := len(made.stored)) < n * n:
        last = first + budget.together(sizes[first:], longest, made.allowed - reading)
        group = sizes[first:last]
        with made.store.pooled(budget.collecting(group, longest)):
            try:
                _fill_some(made, rows, rank, first, group, xp)
            finally:
                made.store.synchronize()
        on_progress(last / n**2)


def _fill_some(
    made: StoredBlocks, rows: Rows, rank: Array, first: int, sizes: list[int], xp: Any
) -> None:
    """Make the blocks from `first` on that have so many rows, and keep them; hold nothing else."""
    engine, n, last = made.engine, made.n, first + len(sizes)
    starts = np.cumsum([0, *sizes])
    free, keys = xp.zeros(n * n, "uint64"), xp.empty(int(starts[-1]), "uint64")
    free[first:last] = xp.asarray(starts[:-1].astype("uint64"))
    for chunk in rows.chunks(engine.costs.row):
        engine.split(chunk.ends, rank, n, (first, last), free=free, keys=keys)
        del chunk  # or the last would be held while blocks are sorted
    require_unchanged(free[first:last].tolist() != starts[1:].tolist())
    for place, (start, end) in enumerate(pairwise(starts.tolist()), first):
        at = divmod(place, n)
        block = engine.csr(keys[start:end], grid.shape(made.vertices, n, *at))
        made.stored[at] = made.put(block)


def _tally(rows: Rows, rank: Array, n: int, engine: Any, xp: Any) -> list[int]:
    """The rows of every block."""
    found, nothing = xp.zeros(n * n, "uint64"), xp.empty(0, "uint64")
    for chunk in rows.chunks(engine.costs.row):
        engine.split(chunk.ends, rank, n, (0, n * n), free=found, keys=nothing)
    return [int(size) for size in found.tolist()]
