"""Blocks and tasks: what is counted apart, so that a graph need not be in one place.

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
from math import ceil
from typing import Any

from rapids_tc.engines import protocol
from rapids_tc.errors import CapacityError
from rapids_tc.frames.backend import sum64
from rapids_tc.preparation.csr import Array, Csr

Block = tuple[int, int]  # residues of u and of v

LIST_COST = 32  # probes that a list costs besides its own
TASKS_A_WORKER = 4  # at least: workers that are slower than others draw fewer
MAX_BLOCKS = 64  # a side: with more, lists have too few entries left to be worth a task
UNEVEN = 1.2  # times the mean that the largest block may be expected to have
BYTES_AN_EDGE, BYTES_A_ROW = 14, 16  # of each of three blocks, and what is made of them


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
        return self.i, self.j, self.k

    @property
    def blocks(self) -> tuple[Block, Block, Block]:
        """uv, uw and vw."""
        return (self.i, self.j), (self.i, self.k), (self.j, self.k)


@dataclass(frozen=True)
class Partition:
    """n x n blocks, and m parts of each of the n**3 tasks."""

    n: int
    m: int


def tasks(partition: Partition) -> list[Task]:
    """Every task, in an order in which neighbours have blocks in common."""
    there_and_back = list(range(partition.n)), list(range(partition.n))[::-1]
    result, turns = [], 0
    for i in range(partition.n):
        for j in there_and_back[i % 2]:
            for k in there_and_back[turns % 2]:
                result += [Task(i, j, k, part, partition.m) for part in range(partition.m)]
            turns += 1
    return result


def assign_snake(tasks: list[Task], workers: int) -> list[list[Task]]:
    """Tasks given out there and back: one that costs more than thought has neighbours that do."""
    result: list[list[Task]] = [[] for _ in range(workers)]
    for number, task in enumerate(tasks):
        turn = number % (2 * workers)
        result[min(turn, 2 * workers - 1 - turn)].append(task)
    return result


def members(vertices: int, n: int, residue: int) -> int:
    """How many of the ranks below `vertices` have this residue."""
    return (vertices - residue + n - 1) // n


def shape(vertices: int, n: int, i: int, j: int) -> int:
    """Rows of block (i, j) of a graph of so many ranks."""
    return members(vertices, n, i) + (i > j)


def joined(local: Array, residue: int, n: int) -> Array:
    """The ranks (int64) of local ids of a residue."""
    ranks = local.astype("int64")
    ranks *= n
    ranks += residue
    return ranks


def ends(block: Csr, n: int, i: int, j: int) -> tuple[Array, Array]:
    """The larger and the smaller rank (int64) of every edge of block (i, j)."""
    return joined(block.rows, i, n) - n * (i > j), joined(block.columns, j, n)


def degrees(block: Csr, engine: Any) -> tuple[Array, Array]:
    """How many edges each row has, and each column."""
    by_row = block.offsets[1:] - block.offsets[:-1]
    return by_row, protocol.column_counts(engine, block, block.n)


def add_ends(sums: Array, n: int, at: Block, by_row: Array, by_column: Array) -> None:
    """Add values of the rows and of the columns of a block to those of the ranks that they are."""
    i, j = at
    sums[i::n] += by_row[int(i > j) :]
    sums[j::n] += by_column[: members(len(sums), n, j)]


def need(edges: int, vertices: int, n: int) -> int:
    """Bytes that the largest task takes: three blocks, and what counting makes of them."""
    if n == 1:
        return BYTES_AN_EDGE * edges + BYTES_A_ROW * vertices
    share = ceil(UNEVEN * edges / n**2)
    return 3 * (BYTES_AN_EDGE * share + BYTES_A_ROW * ceil(vertices / n + 1))


def choose(
    edges: int, vertices: int, free_bytes: int, workers: int = 1, least: int = 1
) -> Partition:
    """The fewest blocks of which three fit, `least` a side, and a few tasks for every worker.

    Raises
    ------
    CapacityError
        Three blocks do not fit however many there are.
    """
    for n in range(least, MAX_BLOCKS + 1):
        if need(edges, vertices, n) <= free_bytes:
            wanted = TASKS_A_WORKER * workers if workers > 1 else 1
            return Partition(n, ceil(wanted / n**3))
    smallest = need(edges, vertices, MAX_BLOCKS)
    raise CapacityError(
        f"three of {MAX_BLOCKS} x {MAX_BLOCKS} blocks of {edges:,} edges over {vertices:,} "
        f"vertices take {smallest:,} bytes, and {free_bytes:,} are free: give more memory"
    )


def sampled(graph: Csr, every: int, xp: Any) -> Csr:
    """The graph with every so-manieth row alone; the others are empty."""
    lengths = xp.zeros(graph.n, "int64")
    lengths[::every] = xp.diff(graph.offsets)[::every]
    offsets = xp.zeros(graph.n + 1, "int64")
    xp.cumsum(lengths, out=offsets[1:])
    rows = Csr(offsets, xp.empty(int(offsets[-1]), "uint8")).rows
    before = graph.offsets[rows] - offsets[rows]
    before += xp.arange(len(rows))
    return Csr(offsets, graph.columns[before])


def cost(probes: Array, uv: Csr, engine: Any) -> Array:
    """What every middle vertex costs: its probes, and more for each list."""
    lists = protocol.column_counts(engine, uv, len(probes))
    return probes + LIST_COST * lists.astype("int64")


def cuts(work: Array, parts: int) -> list[int]:
    """Bounds of `parts` ranges of middle vertices of about equal work, by its running sum."""
    through = work.cumsum(dtype="float64")
    total = float(through[-1]) if len(work) else 0.0
    targets = (total * part / parts for part in range(1, parts))
    return [0, *(sum64(through <= target) for target in targets), len(work)]
