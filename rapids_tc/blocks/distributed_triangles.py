"""List the triangles of a graph on a cluster: workers list tasks, and each merges a range.

A triangle u < v < w of numbers has the key u << 32 | v, and w beside it. Numbers are in the order
of ids, so that a range of keys is a range of rows of the answer.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.blocks import counting, sums, worker_tasks
from rapids_tc.blocks.arrivals import require_below, require_length
from rapids_tc.blocks.task_triangles import TaskTriangles
from rapids_tc.blocks.worker_tasks import WorkerContext, worker_task
from rapids_tc.engines import registry
from rapids_tc.errors import CapacityError
from rapids_tc.plan import costs
from rapids_tc.preparation.composite import fullest
from rapids_tc.preparation.orient import Order
from rapids_tc.preparation.triangles import named_triangles, ordered_corners

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rapids_tc.blocks.codec import EncodedBlock
    from rapids_tc.blocks.grid import Task as BlockTask
    from rapids_tc.executors.protocol import Task
    from rapids_tc.frames.backend import Array, Frame
    from rapids_tc.graphs.distributed import DistributedGraph
    from rapids_tc.preparation.composite import CompositeIds
    from rapids_tc.preparation.numbering import Ids

PART_ROWS = 2**20  # the least rows of a partition, if one worker could hold them all
SAMPLES = 256  # of each range, to find ranges of about equal length by
LISTED = 12  # bytes of a triangle that is held: its key, and w

Sorted = list["Array"]  # keys (uint64), ascending, and w (uint32), ascending for one key


class DistributedTriangles:
    """The triangles of a graph on a cluster. Make one before the graph drops its rows."""

    def __init__(self, graph: DistributedGraph) -> None:
        self._graph = graph
        graph.drop_rows()
        of_jobs = graph.each_job(counting.count)
        if graph.n == 1:  # a task per machine: asked for their results together
            self._totals = dict(_by_job(graph, list(of_jobs)))
        else:
            self._totals = {tuple(job.tasks): graph.executor.gather(t) for job, t in of_jobs}

    @property
    def total(self) -> int:
        """The number of triangles."""
        return sum(self._totals.values())

    def counted(self) -> tuple[int, None]:
        """Return how many triangles there are."""
        return self.total, None

    def fullest_group(self) -> tuple[int, str]:
        """Return the triangles of the group that has most, and the name of the group."""
        graph = self._graph
        given = graph.ids, graph.order, sums.by_vertex(graph)
        most: tuple[int, str] = graph.executor.gather(graph.submit("list", of_groups, *given))
        return most

    def frame(self) -> Frame:
        """Make a partitioned frame of all triangles, sorted.

        Raises
        ------
        CapacityError
            The workers cannot hold so many triangles.
        """
        graph, total = self._graph, self.total
        workers = len(graph.counting_workers)
        need, memory = 2 * LISTED * total, graph.free * len(graph.workers)
        if need > memory:
            raise CapacityError(
                f"a list of {total:,} triangles takes about {need:,} bytes while it is sorted, and "
                f"{len(graph.workers)} workers may take {memory:,}: k_truss(edges, 3) has the same "
                "triangles, or raise memory_limit="
            )
        lists = [task for _, task in self._listed()]
        fewest = ceil(costs.LISTED * total / graph.free)
        parts = max(1, fewest, min(workers, total // PART_ROWS))
        ranges = self._ranges(lists, parts, total)
        lengths = graph.executor.gather([graph.submit("list", _length, own) for own in ranges])
        starts = np.cumsum([0, *lengths]).tolist()
        frames = [
            graph.submit("list", frame, own, graph.ids, start)
            for own, start in zip(ranges, starts, strict=False)
        ]
        meta = graph.executor.gather(graph.submit("list", worker_tasks.head, frames[0]))
        return graph.executor.to_frame(frames, meta, lengths)

    def _listed(self) -> Iterator[tuple[Any, Task]]:
        """Yield tasks that return the sorted triangles of jobs, each in as many shares as fit."""
        graph, at_once = self._graph, len(self._graph.workers)
        shares = {
            tasks: ceil(costs.LISTED * total / graph.free) for tasks, total in self._totals.items()
        }

        def submitted() -> Iterator[tuple[Any, Task]]:
            for job in graph.jobs:
                three = [graph.block_at(p, job.worker) for p in graph.places(job)]
                for share in range(many := shares[tuple(job.tasks)]):
                    given = job.tasks, graph.n, graph.ids, graph.order, share, many
                    yield None, graph.submit("list", listed, *three, *given, on=job.worker)

        return graph.executor.as_completed(submitted(), at_once, sum(shares.values()))

    def _ranges(self, lists: list[Task], parts: int, total: int) -> list[Task]:
        """Cut all lists into ranges of keys of about equal length, and merge each range."""
        graph = self._graph
        if not lists:
            return [graph.submit("list", merge, [])]
        if parts == 1:
            return [graph.submit("list", merge, lists)]
        step = total // (SAMPLES * parts) + 1
        samples = graph.executor.gather([graph.submit("list", sample, own, step) for own in lists])
        keys = np.sort(np.concatenate(samples))
        cuts = tuple(int(keys[len(keys) * part // parts]) for part in range(1, parts))
        split = [graph.submit("list", split_at, own, cuts) for own in lists]
        return [
            graph.submit(
                "list", merge, [graph.submit("list", worker_tasks.one, own, p) for own in split]
            )
            for p in range(parts)
        ]


def _by_job(graph: DistributedGraph, of_jobs: list[Any]) -> Iterator[tuple[Any, int]]:
    totals = graph.executor.gather([task for _, task in of_jobs])
    for (job, _), total in zip(of_jobs, totals, strict=True):
        yield tuple(job.tasks), total


@worker_task
def of_groups(
    context: WorkerContext, ids: CompositeIds, order: list[Any], by_rank: Array
) -> tuple[int, str]:
    """Return the triangles of the group that has most, and the name of the group."""
    xp, host = context.backend.xp, context.backend.host
    require_length(order[0], ids.size, "ranks")
    require_length(by_rank, order[1], "sums by vertex")
    if not ids.size:
        return 0, "the graph"
    groups = host(ids.group_of[Order.of_ranks(order[0], order[1], xp).number])
    counts = np.zeros(len(ids.starts), "int64")
    np.add.at(counts, groups, host(by_rank))
    return fullest(ids, counts // 3)


@worker_task
def listed(
    context: WorkerContext, uv: EncodedBlock, uw: EncodedBlock, vw: EncodedBlock,
    tasks: list[BlockTask], n: int, ids: Ids, order: list[Any], share: int, shares: int,
) -> Sorted:  # fmt: skip
    """List a share of the triangles of some tasks on the same blocks, sorted."""
    engine, xp = registry.load(context.backend.engine), context.backend.xp
    require_length(order[0], ids.size, "ranks")
    number = Order.of_ranks(order[0], order[1], xp).number.astype("uint32")
    three, parts = counting.decode_blocks(context, uv, uw, vw), [xp.empty((3, 0), "uint32")]
    for layout in counting.task_layouts(context, three, tasks, n):
        triangles = TaskTriangles.count(engine, layout, three, tasks[0], n, xp)
        bounds = (triangles.total * part // shares for part in (share, share + 1))
        parts.append(number[triangles.ranks(*bounds)])
    low, middle, high = ordered_corners(xp.concatenate(parts, axis=1), xp)
    return _sorted(low.astype("uint64") << 32 | middle, high, xp)


def _sorted(keys: Array, last: Array, xp: Any) -> Sorted:
    order = xp.lexsort(xp.stack([last.astype("uint64"), keys]))
    return [keys[order], last[order]]


@worker_task
def sample(context: WorkerContext, triangles: Sorted, step: int) -> Array:
    """Copy one key in `step` to the host."""
    return context.backend.host(triangles[0][::step])


@worker_task
def split_at(context: WorkerContext, triangles: Sorted, cuts: tuple[int, ...]) -> list[Sorted]:
    """Cut triangles into the ranges below the first cut, below the second, and so on."""
    xp, (keys, last) = context.backend.xp, triangles
    ends = xp.searchsorted(keys, xp.asarray(np.array(cuts, "uint64"))).tolist()
    bounds = zip([0, *ends], [*ends, len(keys)], strict=True)
    return [[keys[a:b], last[a:b]] for a, b in bounds]


@worker_task
def merge(context: WorkerContext, lists: list[Sorted]) -> Sorted:
    """Merge one range of all lists."""
    xp = context.backend.xp
    for keys, last in lists:
        require_length(last, len(keys), "triangles")
    keys = xp.concatenate([xp.empty(0, "uint64"), *(own[0] for own in lists)])
    return _sorted(keys, xp.concatenate([xp.empty(0, "uint32"), *(own[1] for own in lists)]), xp)


@worker_task
def _length(context: WorkerContext, triangles: Sorted) -> int:
    """Return how many triangles a list has."""
    return len(triangles[0])


@worker_task
def frame(context: WorkerContext, triangles: Sorted, ids: Ids, start: int) -> Frame:
    """Make a range of the answer, whose rows are numbered from `start` on."""
    keys, last = triangles
    require_below(last, ids.size, "numbers of ids")  # the largest of the three
    corners = iter((keys >> 32, keys & 0xFFFFFFFF, last))
    rows = context.adapter.frame(named_triangles(corners, ids))
    rows.index = rows.index + start
    return rows
