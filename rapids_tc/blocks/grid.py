"""Cut a graph into blocks and tasks that are counted apart, wherever the blocks are.

n x n blocks by residue of the rank, the hash partition of TRUST (Pandey et al., TPDS 32(11), 2021):
edge (u, v), u > v, lies in block (u % n, v % n) under the local ids u // n and v // n. Ranks follow
degrees, so that residues deal hubs out evenly. A triangle u > v > w of residues i, j, k is found by
task (i, j, k) and no other, from blocks uv = (i, j), uw = (i, k) and vw = (j, k): n**3 tasks that
need nothing of one another. Each is cut in m parts by ranges of its middle vertices v of about
equal work, the workload partition of TRUST and of TriCore (Hu, Liu, Huang, SC 2018).

A block is a `Csr` whose columns are v // n and whose row numbers are u // n + (i > j). Two ranks of
one local id are in the order of their residues, so the addend is what makes every column less than
its row, but for loops, whose row and column are equal: a block's rows are made from its keys by
``engine.csr`` like any graph's. Likewise for a task: of the row of u in uw, the entries below the
middle vertex v are those below v // n + (j > k), which is the row number of v in vw.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt
from typing import TYPE_CHECKING

from rapids_tc.engines import protocol
from rapids_tc.errors import CapacityError
from rapids_tc.frames.backend import sum64
from rapids_tc.plan import costs, needs
from rapids_tc.plan.layout import forced_layout
from rapids_tc.plan.record import Needs, Result, Work
from rapids_tc.preparation.csr import Array, Csr

if TYPE_CHECKING:
    from types import ModuleType

    from rapids_tc.blocks.geometry import Block
    from rapids_tc.engines.protocol import Engine

PEELING = Work(Needs.EDGE_COUNTS | Needs.TRUSSNESS, Result.ROWS)
LIST_COST = 32  # probes that a list costs besides its own
TASKS_A_WORKER = 4  # at least: workers that are slower than others draw fewer


@dataclass(frozen=True)
class Task:
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


def tasks(partition: Partition) -> list[Task]:
    """List every task, in an order in which neighbours have blocks in common."""
    there_and_back = list(range(partition.n)), list(range(partition.n))[::-1]
    result, turns = [], 0
    for i in range(partition.n):
        for j in there_and_back[i % 2]:
            for k in there_and_back[turns % 2]:
                result += [Task(i, j, k, part, partition.m) for part in range(partition.m)]
            turns += 1
    return result


def assign_snake(tasks: list[Task], workers: int) -> list[list[Task]]:
    """Assign tasks there and back: a task that costs more than expected has neighbours that do."""
    result: list[list[Task]] = [[] for _ in range(workers)]
    for number, task in enumerate(tasks):
        turn = number % (2 * workers)
        result[min(turn, 2 * workers - 1 - turn)].append(task)
    return result


def values_of(work: Work) -> int:
    """Return the bytes that a call takes of the values of an edge, or of its levels of a peel."""
    return max(work.values, costs.CLUSTER_LEVELS * work.levels)


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
    dense = True
    stages = needs.stages(PEELING, edges, min(ids, 2 * edges), dense, engine)
    return max(stage.bytes for stage in stages) <= free


def plan(rows: int, ids: int, free: int, workers: int, work: Work, engine: str) -> Partition:
    """Choose the blocks of a graph, and the parts of its tasks, for what a call needs."""
    if layout := forced_layout.get():
        return Partition(layout.n, layout.m)
    least = 1
    if work.needs & Needs.TRUSSNESS and not fits(rows, ids, free, engine):
        least = 2
    if engine == "cuda" and rows > costs.MOST_KEYS:  # limits three blocks' edges to 2**32
        least = max(2, ceil(sqrt(3 * costs.UNEVEN * rows / costs.MOST_POSITIONS["cuda"])))
    return choose(rows, ids, free, workers, least, values_of(work))


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
    """Estimate the cost of every middle vertex: its probes, and more for each list."""
    lists = protocol.column_counts(engine, uv, len(probes))
    return probes + LIST_COST * lists.astype("int64")


def cuts(work: Array, parts: int) -> list[int]:
    """Return the bounds of `parts` ranges of middle vertices of about equal work."""
    through = work.cumsum(dtype="float64")
    total = float(through[-1]) if len(work) else 0.0
    targets = (total * part / parts for part in range(1, parts))
    return [0, *(sum64(through <= target) for target in targets), len(work)]
