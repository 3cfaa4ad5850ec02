"""Tally the triangles of a graph on a cluster by type: jobs list them, and their counts merge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.blocks import block_values, tallies
from rapids_tc.blocks.codec import require_length, require_values
from rapids_tc.blocks.quantities import TrianglesByType
from rapids_tc.blocks.tallies import TypeTally
from rapids_tc.blocks.task_triangles import TaskTriangles
from rapids_tc.preparation.orient import Order

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from rapids_tc.blocks.block_map import Blocked
    from rapids_tc.blocks.block_values import Read
    from rapids_tc.blocks.block_work import BlockJob, PlacedBlock
    from rapids_tc.blocks.quantities import Sum
    from rapids_tc.executors.protocol import Task
    from rapids_tc.frames.backend import Array
    from rapids_tc.preparation.edge_values import Reading
    from rapids_tc.preparation.ids import Ids

Counted = list["Array"]  # keys of `tallies.keys_of`, ascending, and how many triangles have each


def summed(
    graph: Blocked, quantities: Sequence[Sum], groups: Any
) -> tuple[Blocked, dict[str, Task], Task | None]:
    """Submit what an analytic asks for: sums by name, and a tally in place of sums by type.

    Types are tallied of each vertex or edge, of each group if there are any, and of the whole graph
    if the counters of all combinations do not fit a worker. All quantities are of one reading.

    Returns
    -------
    graph, sums, tally
        The graph without its rows: if the caller does not hold them either, they are gone while
        triangles are counted.
    """
    if not quantities:
        return graph.without_rows(), {}, None
    quantities = [quantity.limited(graph.free) for quantity in quantities]
    by_type = next((q for q in quantities if isinstance(q, TrianglesByType)), None)
    owner = "group" if groups is not None else ""
    what = "" if by_type is None else by_type.by or owner
    others = [q for q in quantities if not (what and q is by_type)]
    if what or any(quantity.by_vertex for quantity in others):
        graph.require_whole()
    values = block_values.read(graph, quantities[0].reading)
    graph = graph.without_rows()
    if by_type is not None and not (what or by_type.types):
        types = graph.executor.gather(graph.submit("values", number_of_types, values[0]))
        if not by_type.fits(types):
            what, others = "all", []
    sums_by_name = block_values.summed(graph, others, values)
    return graph, sums_by_name, tally(graph, what, values) if what else None


def tally(graph: Blocked, what: str, values: Read) -> Task:
    """Submit the triangles of "all", each "group", "vertex" or "edge" by type; see `TypeTally`."""
    graph.require_whole()
    resolved, arrays = values
    starts = _first_edges(graph) if what == "edge" else [0]
    ids, order = (graph.ids, graph.order) if what == "group" else ([], [])  # only groups need them
    more = resolved, what, ids, order, starts, graph.free
    jobs = graph.by_job(counted, *more, values=arrays)
    merged, ends = graph.reduce("sum", merge, (task for _, task in jobs)), None
    if what == "edge":
        ends = graph.each_block("sum", edge_ends, starts, more=(merged,))
    return graph.submit("sum", tally_of, merged, resolved, ends)


def _first_edges(graph: Blocked) -> list[int]:
    """Return the number of the first edge of each block."""
    sizes = graph.edges_of("sum", graph.blocks[: graph.n**2])
    starts: list[int] = np.cumsum([0, *sizes])[:-1].tolist()
    return starts


def number_of_types(reading: Reading) -> int:
    """Return how many types a resolved reading has."""
    return len(reading.types)


def counted(
    job: BlockJob, values: list[list[Array]], reading: Reading, what: str, ids: Ids,
    order: list[Any], starts: list[int], memory: int,
) -> Counted:  # fmt: skip
    """Count the triangles of a job, for their owners, by type."""
    (task, *_), n, xp = job.tasks, job.n, job.xp
    for block, arrays in zip(job.three, values, strict=True):
        require_values(reading, arrays, block.m)
    groups = None
    if what == "group":
        require_length(order[0], ids.size, "ranks")
        groups = ids.group_of[Order.of_ranks(order[0], order[1], xp).number]
    of_blocks = [starts[i * n + j] if what == "edge" else 0 for i, j in task.blocks]
    of_sides = reading, what
    keys, counts = xp.zeros(0, "uint64"), xp.zeros(0, "int64")
    for layout in job.layouts():
        triangles = TaskTriangles.count(job.engine, layout, job.three, task, n, xp)
        for first, last in tallies.batches(triangles.total, memory):
            listed = triangles.ranks(first, last), [arrays[0] for arrays in values]
            for new in tallies.keys_of(
                triangles, *listed, *of_sides, groups=groups, starts=of_blocks, xp=xp
            ):
                keys, counts = tallies.add(keys, counts, new, xp)
            tallies.require_rows(len(keys), memory)
    return [keys, counts]


def merge(several: list[Counted], *, xp: ModuleType) -> Counted:
    """Add the counts of several lists of keys up."""
    for keys, counts in several:
        require_length(counts, len(keys), "counts")
    columns: Any = zip(*several, strict=True)
    keys, counts = map(list, columns)
    return [*tallies.merge(keys, counts, xp)]


def edge_ends(block: PlacedBlock, start: int, merged: Counted) -> list[Array]:
    """Return the larger and the smaller rank of the owners that are edges of a block."""
    owners = (merged[0] >> tallies.COMBINATION).astype("int64")
    bounds = block.xp.asarray([start, start + block.csr.m])
    first, last = block.xp.searchsorted(owners, bounds).tolist()
    where = owners[first:last] - start
    return [end[where] for end in block.ends]


def tally_of(
    merged: Counted, reading: Reading, ends: list[list[Array]] | None, *, xp: ModuleType
) -> TypeTally:
    """Return the tally of all keys; edges with their ends."""
    keys, counts = merged
    require_length(counts, len(keys), "counts")
    tallied = TypeTally.of_keys(keys, counts, reading)
    if ends is None:
        return tallied
    larger, smaller = (xp.concatenate(side) for side in zip(*ends, strict=True))
    require_length(larger, len(keys), "ends of edges")
    require_length(smaller, len(keys), "ends of edges")
    return tallied.with_ends(larger, smaller)
