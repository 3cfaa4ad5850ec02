"""Cut a graph into blocks and tasks that are counted apart, wherever the blocks are.

n x n blocks by residue of the rank, the hash partition of TRUST (Pandey et al., TPDS 32(11), 2021):
edge (u, v), u > v, lies in block (u % n, v % n) under the local ids u // n and v // n. Ranks follow
degrees, so that residues deal hubs out evenly. A triangle u > v > w of residues i, j, k is found by
task (i, j, k) and no other, from blocks uv = (i, j), uw = (i, k) and vw = (j, k): n**3 tasks that
need nothing of one another. Each is cut in m parts by ranges of its pivot vertices v of about
equal work, the workload partition of TRUST and of TriCore (Hu, Liu, Huang, SC 2018).

A block is a `Csr` whose columns are v // n and whose row numbers are u // n + (i > j). Two ranks of
one local id are in the order of their residues, so the addend is what makes every column less than
its row, but for loops, whose row and column are equal: a block's rows are made from its keys by
``engine.csr`` like any graph's. Likewise for a task: of the row of u in uw, the entries below the
pivot vertex v are those below v // n + (j > k), which is the row number of v in vw.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil, sqrt
from typing import TYPE_CHECKING, Any

from rapids_tc.blocks import geometry
from rapids_tc.blocks.codec import require_length
from rapids_tc.engines import protocol
from rapids_tc.errors import CapacityError
from rapids_tc.frames.backend import sum64
from rapids_tc.plan import costs, needs
from rapids_tc.plan.block_layout import forced_layout
from rapids_tc.plan.record import Needs, Result, Work
from rapids_tc.preparation.csr import Array, Csr

if TYPE_CHECKING:
    from types import ModuleType

    from rapids_tc.blocks.geometry import Block
    from rapids_tc.engines.protocol import Engine
    from rapids_tc.executors.protocol import Task

PEELING = Work(Needs.EDGE_COUNTS | Needs.TRUSSNESS, Result.ROWS)
LIST_COST = 32  # probes that a list costs besides its own
TASKS_A_WORKER = 4  # at least: workers that are slower than others draw fewer


@dataclass(frozen=True)
class BlockTask:
    """The triangles u > v > w of residues i, j, k, v in the `part`-th of `parts` ranges."""

    i: int
    j: int
    k: int
    part: int = 0
    parts: int = 1

    @property
    def residues(self) -> tuple[int, int, int]:
        """The residues of u, v and w."""
        return self.i, self.j, self.k

    @property
    def blocks(self) -> tuple[Block, Block, Block]:
        """The blocks uv, uw and vw."""
        return (self.i, self.j), (self.i, self.k), (self.j, self.k)


@dataclass(frozen=True)
class Partition:
    """n x n blocks, and m parts of each of the n**3 tasks."""

    n: int
    m: int


def tasks(partition: Partition) -> list[BlockTask]:
    """List every task, in an order in which neighbors have blocks in common."""
    there_and_back = list(range(partition.n)), list(range(partition.n))[::-1]
    result, turns = [], 0
    for i in range(partition.n):
        for j in there_and_back[i % 2]:
            for k in there_and_back[turns % 2]:
                result += [BlockTask(i, j, k, part, partition.m) for part in range(partition.m)]
            turns += 1
    return result


def assign_snake(tasks: list[BlockTask], workers: int) -> list[list[BlockTask]]:
    """Assign tasks there and back: a task that costs more than expected has neighbors that do."""
    result: list[list[BlockTask]] = [[] for _ in range(workers)]
    for number, task in enumerate(tasks):
        turn = number % (2 * workers)
        result[min(turn, 2 * workers - 1 - turn)].append(task)
    return result


def values_of(work: Work) -> int:
    """Return the bytes that a call takes of the values of an edge, or of its levels of a peel."""
    of_kind = work.values if work.of_kind else 0
    return max(work.values, of_kind + costs.CLUSTER_LEVELS * work.levels)


def kind_bytes(work: Work, edges: int) -> int:
    """Return the bytes that a kind takes of so many edges at most, while they are peeled."""
    return (costs.PEELED_KIND + work.values) * edges if work.of_kind else 0


def need(edges: int, vertices: int, n: int, values: int = 0) -> int:
    """Return the bytes of the largest task: three blocks, and what counting makes of them.

    `values` are the bytes of what is read from the user's rows for each edge.
    """
    own = (costs.CLUSTER_TASK[0] + values, costs.CLUSTER_TASK[1])
    if n == 1:
        return costs.total(own, edges, vertices)
    share = ceil(costs.UNEVEN * edges / n**2)
    return 3 * costs.total(own, share, ceil(vertices / n + 1))


def choose(
    edges: int,
    vertices: int,
    free_bytes: int,
    workers: int = 1,
    least: int = 1,
    values: int = 0,
) -> Partition:
    """Choose the fewest blocks, at least `least` a side, of which three fit; and tasks per worker.

    Raises
    ------
    CapacityError
        Three blocks do not fit, however many blocks there are.
    """
    most = costs.MOST_CLUSTER_BLOCKS
    for n in range(least, most + 1):
        if need(edges, vertices, n, values) <= free_bytes:
            tasks = TASKS_A_WORKER * workers if workers > 1 else 1
            return Partition(n, ceil(tasks / n**3))
    smallest = need(edges, vertices, most, values)
    raise CapacityError(
        f"three of {most} x {most} blocks of {edges:,} edges over {vertices:,} "
        f"vertices take {smallest:,} bytes, and {free_bytes:,} are free: raise memory_limit=, or "
        "give more memory"
    )


def fits(edges: int, ids: int, free: int, engine: str) -> bool:
    """Return whether one machine can peel a graph of so many edges."""
    if (layout := forced_layout.get()) and layout.peel_below is not None:
        return edges < layout.peel_below
    return _on_one_machine(PEELING, edges, ids, engine) <= free


def plan(
    rows: int, ids: int, free: int, workers: int, work: Work, engine: str, name: str
) -> Partition:
    """Choose the blocks of a graph, and the parts of its tasks, for what a call needs.

    Raises
    ------
    CapacityError
        Three blocks do not fit, however many there are, or a call needs all edges in one block.
    """
    if layout := forced_layout.get():
        made = Partition(layout.n, layout.m)
    else:
        made = _chosen(rows, ids, free, workers, work, engine)
    require_one_block(made.n, rows, ids, free, work, engine, name)
    return made


def _chosen(rows: int, ids: int, free: int, workers: int, work: Work, engine: str) -> Partition:
    least = 1
    free_to_peel = free - kind_bytes(work, rows)
    if work.needs & Needs.TRUSSNESS and not fits(rows, ids, free_to_peel, engine):
        least = 2
    if engine == "cuda" and rows > costs.MOST_KEYS:  # limits three blocks' edges to 2**32
        least = max(2, ceil(sqrt(3 * costs.UNEVEN * rows / costs.MOST_POSITIONS["cuda"])))
    return choose(rows, ids, free, workers, least, values_of(work))


def require_one_block(
    n: int, rows: int, ids: int, free: int, work: Work, engine: str, name: str
) -> None:
    """Raise CapacityError if a call counts on whole graphs, and this one does not fit a machine.

    `n` are the blocks per side in which it is cut.
    """
    if not work.needs & Needs.IN_ONE_BLOCK:
        return
    need = _on_one_machine(work, rows, ids, engine)
    if n == 1 and (need <= free or forced_layout.get()):
        return
    told = f"{name}, as it is called, counts a whole graph on each worker, "
    if need > free:
        raise CapacityError(
            f"{told}which takes about {need:,} bytes of it, and {free:,} may be taken: raise "
            "memory_limit=, take workers of more memory, or leave out vertices of one neighbor"
        )
    raise CapacityError(
        f"{told}and this one is cut into {n} x {n} blocks: give the frame in place of its Graph, "
        "or leave out vertices of one neighbor"
    )


def _on_one_machine(work: Work, edges: int, ids: int, engine: str) -> int:
    """Return the bytes that a call needs whose graph is on one machine, with numbers for ids."""
    dense = True
    stages = needs.stages(work, edges, min(ids, 2 * edges), dense, engine)
    return max(stage.bytes for stage in stages)


def of_method(partition: Partition, method: str) -> Partition:
    """Return a partition as a method takes it: any but "auto" counts on one machine.

    Raises
    ------
    CapacityError
        The graph is more than one block.
    """
    if method == "auto":
        return partition
    if partition.n > 1:
        raise CapacityError(
            f"method={method!r} counts whole graphs, and this one does not fit a "
            'machine: method="auto" counts it in blocks'
        )
    return Partition(1, 1)


def sampled(graph: Csr, every: int, xp: ModuleType) -> Csr:
    """Return the graph with one row in `every`; the other rows are empty."""
    lengths = xp.zeros(graph.n, "int64")
    lengths[::every] = xp.diff(graph.offsets)[::every]
    offsets = xp.zeros(graph.n + 1, "int64")
    xp.cumsum(lengths, out=offsets[1:])
    rows = Csr(offsets, xp.empty(int(offsets[-1]), "uint8")).rows
    before = graph.offsets[rows] - offsets[rows]
    before += xp.arange(len(rows))
    return Csr(offsets, graph.columns[before])


def cost(probes: Array, uv: Csr, engine: Engine) -> Array:
    """Estimate the cost of every pivot vertex: its probes, and more for each list."""
    lists = protocol.column_counts(engine, uv, len(probes))
    return probes + LIST_COST * lists.astype("int64")


def cuts(work: Array, parts: int) -> list[int]:
    """Return the bounds of `parts` ranges of pivot vertices of about equal work."""
    through = work.cumsum(dtype="float64")
    total = float(through[-1]) if len(work) else 0.0
    targets = (total * part / parts for part in range(1, parts))
    return [0, *(sum64(through <= target) for target in targets), len(work)]


# Parts of keys: ranges of numbers or ranks, or residues -------------------------------------------


@dataclass(frozen=True)
class Range:
    """The keys from `first` on, `size` of them."""

    first: int
    size: int

    def select(self, keys: Array) -> Array:
        """Return which keys are in the part."""
        return (keys >= self.first) & (keys < self.first + self.size)

    def place(self, keys: Array) -> Array:
        """Return the places in the part of keys that are in it."""
        return keys - keys.dtype.type(self.first)


@dataclass(frozen=True)
class Residue:
    """The keys whose remainder is `residue` if they are divided by `n`."""

    residue: int
    n: int

    def select(self, keys: Array) -> Array:
        """Return which keys are in the part."""
        return keys % self.n == self.residue

    def place(self, keys: Array) -> Array:
        """Return the places in the part of keys that are in it."""
        return keys // self.n


Part = Range | Residue


@dataclass(frozen=True)
class IdRanges:
    """The ids of a graph in several ranges of numbers.

    Attributes
    ----------
    parts : list of Range
    ids : list of Task
        The ids of each range.
    pieces : list of Task
        The distinct ids of each batch, by range.
    numbers : list of list of Task
        The numbers of the ids of each piece, by batch and range.
    """

    parts: list[Range]
    ids: list[Task]
    pieces: list[Task]
    numbers: list[list[Task]]

    @property
    def size(self) -> int:
        """How many ids there are."""
        return sum(part.size for part in self.parts)

    def without_rows(self) -> IdRanges:
        """Return the ids without `pieces` and `numbers`, which only rows need."""
        return replace(self, pieces=[], numbers=[])


def range_count(size: int, free: int, workers: int, id_bytes: int = 0) -> int:
    """Return in how many ranges to rank numbers below `size`: in one, if all fit a worker at once.

    Else a range takes a small share of what is `free` on a worker, and its ranks at most 4 bytes
    times `size` over the root of the workers. `id_bytes` are the bytes of ids that are in a list.
    """
    of_ids, of_ranks = costs.CLUSTER_IDS * id_bytes, costs.CLUSTER_NUMBER * size
    if of_ids + of_ranks <= free:
        return 1
    share = max(free / costs.RANGE_SHARE, 1)
    most = min(share, costs.RANGE_BYTES * max(size, 1) / sqrt(workers))
    return min(ceil(max(of_ids / share, of_ranks / most)), costs.RANGES)


def cut(size: int, parts: int) -> list[Range]:
    """Cut the numbers below `size` in ranges of about equal size."""
    bounds = [size * part // parts for part in range(parts + 1)]
    return [Range(a, b - a) for a, b in pairwise(bounds)]


def by_rank(residues: list[Array], xp: Any) -> Array:
    """Join the values of the ranks of all residues, in the order of the ranks."""
    n, vertices = len(residues), sum(map(len, residues))
    if n == 1:
        return residues[0]
    result = xp.empty(vertices, residues[0].dtype)
    for residue, values in enumerate(residues):
        require_length(values, geometry.members(vertices, n, residue), "values of ranks")
        result[residue::n] = values
    return result
