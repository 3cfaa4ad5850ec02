"""Cut rows into blocks outside of memory, read the blocks back, and lay them out task by task."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from rapids_tc.blocks import build, codec, geometry, grid
from rapids_tc.blocks.grid import BlockTask, Partition
from rapids_tc.blocks.prefetch import load_plan, prefetch
from rapids_tc.executors.spill import Spilled, SpillExecutor

if TYPE_CHECKING:
    from rapids_tc.blocks.geometry import Block
    from rapids_tc.blocks.rows import Rows
    from rapids_tc.plan.budget import Budget
    from rapids_tc.preparation.csr import Array, Csr

Key = tuple[int, int, int]  # a block, and which copy of it
# A task, its blocks uv, uw and vw, and its layout. There may be no uv where no edge is counted.
LaidOut = tuple[BlockTask, tuple[Any, ...], Any]


@dataclass(frozen=True)
class StoredBlocks:
    """The n x n blocks of a graph on a block store.

    Attributes
    ----------
    engine : Engine
    executor : SpillExecutor
        Has the blocks on its store.
    budget : Budget
    allowed : int
        Bytes that may be taken for blocks.
    vertices, n : int
    xp : module
    stored : dict
        By block, a task that returns it, encoded.
    """

    engine: Any
    executor: SpillExecutor
    budget: Budget
    allowed: int
    vertices: int
    n: int
    xp: Any
    stored: dict[Block, Any]

    @property
    def edges(self) -> int:
        """The edges of all blocks."""
        return sum(len(columns) for _, columns in self.stored.values())

    @property
    def first_edges(self) -> dict[Block, int]:
        """The number of the first edge of each block, if edges are numbered block by block."""
        sizes = [len(columns) for _, columns in self.stored.values()]
        return dict(zip(self.stored, accumulate([0, *sizes]), strict=False))

    def __iter__(self) -> Iterator[tuple[Block, Csr]]:
        """Yield every block, one at a time in memory."""
        for at in self.stored:
            yield at, self._load(at)

    def _load(self, at: Block) -> Csr:
        self.executor.store.synchronize()
        return codec.csr(self.executor.gather(self.stored[at]), self.xp)

    def pooled(self, on_progress: Callable[..., None]) -> Generator[LaidOut, None, None]:
        """Yield each task; its blocks are in the slots of a pool meanwhile.

        The blocks of the next tasks are on their way. What the caller makes between two tasks is
        part of the memory of all tasks, which is given back whole: the caller holds none of it.
        """
        store = self.executor.store
        edges = max(len(columns) for _, columns in self.stored.values())
        rows = max(len(lengths) for lengths, _ in self.stored.values())
        plan = self._plan(self._tasks_of_all_blocks())
        slots = self.budget.slots(edges, rows, len(plan.keys), self.allowed)
        with store.pooled(self.budget.task(edges, rows, slots)):
            try:
                yield from self._tasks(plan, (slots, edges, rows), on_progress)
            finally:
                store.synchronize()  # no copy runs when its memory is released

    def laid_out(self) -> Iterator[tuple[BlockTask, list[Csr], Any]]:
        """Yield each task that may have triangles, with its three blocks and its layout.

        A block is loaded when a task needs it, unless the task before has it; none is on its way
        in advance, so that the caller may do anything between two tasks.
        """
        loaded: dict[Block, Csr] = {}
        grouped_at: Block | None = None
        grouped: Any = None
        for task in filter(self._may_have_triangles, grid.tasks(Partition(self.n, 1))):
            loaded = {at: block for at, block in loaded.items() if at in task.blocks}
            if begins := grouped_at != task.blocks[0]:
                grouped = None
            for at in task.blocks:
                if at not in loaded:
                    loaded[at] = self._load(at)
            uv, uw, vw = (loaded[at] for at in task.blocks)
            if begins:
                grouped_at, grouped = task.blocks[0], self.engine.to_csc(uv)
            layout = self.engine.prepare_blocks(grouped, uw, vw, task.residues)
            yield task, [uv, uw, vw], layout
            del uv, uw, vw, layout  # before others are loaded

    def _tasks(
        self, plan: Plan, sizes: tuple[int, int, int], on_progress: Callable[..., None]
    ) -> Iterator[LaidOut]:
        """Yield the tasks of a plan in a room of so many slots, for blocks of so many edges.

        Nothing of a step is held when the blocks of the next are asked for, and nothing at the end.
        """
        slots, ahead = sizes[0], self.engine.costs.prefetch
        stored = {key: self._places(key[:2]) for key in plan.keys}
        pool = self.engine.slot_pool(self.executor.store, *sizes)
        blocks_of = prefetch(pool, stored, load_plan(plan.needs, slots, prefetch=ahead))
        grouped: Any = None
        last = [step.begins for step in plan.steps[1:]] + [True]
        for step, made, ends in zip(plan.steps, blocks_of, last, strict=True):
            uv, uw, vw = step.names
            if step.begins:
                grouped = self.engine.to_csc(made[uv])
                continue
            layout = self.engine.prepare_blocks(grouped, made[uw], made[vw], step.task.residues)
            yield step.task, tuple(map(made.get, (uv, uw, vw))), layout
            del layout
            if ends:
                grouped = None
            on_progress((step.number + 1) / plan.tasks)

    def _places(self, at: Block) -> tuple[Any, Any]:
        lengths, columns = self.stored[at]
        return lengths.stored, columns.stored

    def _plan(self, tasks: list[BlockTask]) -> Plan:
        sides = self.budget.sides
        steps: list[Step] = []
        for number, task in enumerate(tasks):
            names = _names(task, sides=sides)
            if not steps or steps[-1].names[0] != names[0]:
                steps.append(Step(number, task, names, begins=True))
            steps.append(Step(number, task, names, begins=False))
        return Plan(len(tasks), steps, sides or self.engine.costs.uv_stays_loaded)

    def _tasks_of_all_blocks(self) -> list[BlockTask]:
        """List the tasks that may have triangles, and one of each other block, whose sum is 0."""
        tasks = grid.tasks(Partition(self.n, 1))
        counted = set(filter(self._may_have_triangles, tasks))
        covered = {at for task in counted for at in task.blocks}
        for task in tasks:
            if not covered.issuperset(task.blocks):
                counted.add(task)
                covered.update(task.blocks)
        return [task for task in tasks if task in counted]

    def _may_have_triangles(self, task: BlockTask) -> bool:
        return all(len(self.stored[at][1]) for at in task.blocks)


@dataclass(frozen=True)
class Step:
    """A task, by its number and the keys of its blocks uv, uw and vw.

    A step that `begins` the tasks of another uv transposes that block, and counts nothing.
    """

    number: int
    task: BlockTask
    names: tuple[Key, Key, Key]
    begins: bool


@dataclass(frozen=True)
class Plan:
    """The steps of so many tasks; uv may have to stay in memory after it is transposed."""

    tasks: int
    steps: list[Step]
    uv_stays_loaded: bool

    @property
    def needs(self) -> list[list[Key]]:
        """The blocks that are in memory at each step."""
        return [
            [s.names[0]]
            if s.begins
            else list(dict.fromkeys(s.names[0 if self.uv_stays_loaded else 1 :]))
            for s in self.steps
        ]

    @property
    def keys(self) -> set[Key]:
        """All blocks that some step needs."""
        return {key for step in self.steps for key in step.names}


def _names(task: BlockTask, *, sides: bool) -> tuple[Key, Key, Key]:
    """Return the keys by which the blocks of a task stand in slots.

    If edges are counted, a block that is both uw and vw stands in two slots, so that its edges are
    counted apart.
    """
    uv, uw, vw = task.blocks
    return (*uv, 0), (*uw, 0), (*vw, int(sides and vw == uw))


def cut(
    rows: Rows, rank: Array, vertices: int, *, engine: Any, executor: SpillExecutor,
    budget: Budget, allowed: int, xp: Any, on_progress: Callable[..., None],
) -> StoredBlocks:  # fmt: skip
    """Cut the edges of all rows into blocks, as few as fit what is allowed, and store them."""
    reading = rows.memory(engine.costs.row)
    for n in budget.blocks_per_side(rows.size, vertices, allowed, reading):
        sizes = build.count_rows(_ends(rows, engine), rank, n, engine=engine, xp=xp)
        longest = geometry.members(vertices, n, 0) + 2  # offsets, at most: one row more if i > j
        if budget.fits(max(sizes), longest, rows.size, allowed, reading):
            break
    blocks = StoredBlocks(engine, executor, budget, allowed, vertices, n, xp, {})
    executor.store.reserve(sum(4 * size + 4 * longest + 16 for size in sizes))
    _fill(blocks, rows, rank, sizes, longest, reading=reading, on_progress=on_progress)
    return blocks


def _fill(
    blocks: StoredBlocks, rows: Rows, rank: Array, sizes: list[int], longest: int, *,
    reading: int, on_progress: Callable[..., None],
) -> None:  # fmt: skip
    """Make the blocks, as many at a time as have keys that fit."""
    budget, n, store = blocks.budget, blocks.n, blocks.executor.store
    while (first := len(blocks.stored)) < n * n:
        last = first + budget.together(sizes[first:], longest, blocks.allowed - reading)
        group = sizes[first:last]
        with store.pooled(budget.collecting(group, longest)):
            try:
                _fill_some(blocks, rows, rank, first, group)
            finally:
                store.synchronize()
        on_progress(last / n**2)


def _fill_some(blocks: StoredBlocks, rows: Rows, rank: Array, first: int, sizes: list[int]) -> None:
    """Make the blocks from `first` on that have so many rows, and store them; hold nothing else."""
    engine, n, xp = blocks.engine, blocks.n, blocks.xp
    chunks = _ends(rows, engine)
    by_block = build.collect_keys(chunks, rank, n, first, sizes, engine=engine, xp=xp)
    del chunks
    for place, keys in enumerate(by_block, first):
        at = divmod(place, n)
        block = engine.csr(keys, geometry.block_rows(blocks.vertices, n, at))
        blocks.executor.store.synchronize()  # of the block before, which was kept meanwhile
        blocks.stored[at] = [Spilled(blocks.executor, a) for a in codec.rows(block, xp)]


def _ends(rows: Rows, engine: Any) -> Iterator[build.Ends]:
    return rows.chunks(engine.costs.row)
