"""List the triangles of a graph on a cluster: workers list tasks, and each merges a range.

A triangle u < v < w of numbers has the key u << 32 | v, and w beside it. Numbers are in the order
of ids, so that a range of keys is a range of rows of the answer. For frames one by one, the sorted
lists of tasks are cut one after another; a frame merges the ends of lists that it comes from.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.blocks import block_values, block_work, sums
from rapids_tc.blocks.codec import require_below, require_length, require_values
from rapids_tc.blocks.kept_triangles import batches, kind_test
from rapids_tc.blocks.task_triangles import TaskTriangles
from rapids_tc.errors import CapacityError
from rapids_tc.plan import costs, needs
from rapids_tc.preparation.chosen_vertices import ChosenVertices
from rapids_tc.preparation.orient import Order
from rapids_tc.preparation.triangles import named_triangles, ordered_corners

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

    from rapids_tc.blocks.block_map import Blocked
    from rapids_tc.blocks.block_work import BlockJob, PlacedBlock
    from rapids_tc.blocks.codec import EncodedBlock
    from rapids_tc.blocks.context import WorkerContext
    from rapids_tc.blocks.grid import BlockTask
    from rapids_tc.blocks.quantities import Within
    from rapids_tc.executors.protocol import Task
    from rapids_tc.frames.backend import Array, Backend, Frame
    from rapids_tc.preparation.edge_values import Reading
    from rapids_tc.preparation.ids import Ids

PART_ROWS = 2**20  # the least rows of a partition, if one worker could hold them all
SAMPLES = 256  # of each range, to find ranges of about equal length by
LISTED = 12  # bytes of a triangle that is held: its key, and w

Sorted = list["Array"]  # keys (uint64), ascending, and w (uint32), ascending for one key


@dataclass(frozen=True)
class SurroundingBlocks:
    """The edges of a graph among chosen vertices and their neighbors, block by block.

    Of the triangles of these edges, those without a chosen corner are all among the edges of
    `others`. If the graph is one block, all workers that count fetch the same edges.

    Attributes
    ----------
    chosen : Task
        Whether each rank is chosen.
    blocks, others : list of Task
        The blocks of all these edges, and of the edges that have no chosen end.
    """

    chosen: Task
    blocks: list[Task]
    others: list[Task]

    @classmethod
    def of(cls, graph: Blocked, vertices: Any) -> SurroundingBlocks:
        """Submit the surroundings of the vertices that the user names."""
        chosen = graph.submit("list", chosen_ranks, graph.ids, graph.order, vertices)
        near = graph.each_block("list", near_ranks, more=(chosen,))
        members = graph.reduce("sum", block_work.largest, near)
        blocks, others = (
            graph.each_block("list", edges_among, more=(members, left_out))
            for left_out in (None, chosen)
        )
        return cls(chosen, blocks, others)


class DistributedTriangles:
    """The triangles of a graph on a cluster.

    Parameters
    ----------
    graph : Blocked
    vertices : any, optional
        Vertices as the user names them: triangles with such a corner are listed, by default all.
    kind : Within, optional
        What counts the triangles of a kind, if no others are listed: then the triangles of the
        whole graph are tested, even if vertices are named. The graph has its rows if this reads
        them.
    """

    def __init__(self, graph: Blocked, vertices: Any = None, kind: Within | None = None) -> None:
        self._graph, self._kind = graph, kind
        self._resolved = self._values = self._chosen = around = None
        if kind is not None:
            self._resolved, self._values = block_values.read(graph, kind.reading)
            if vertices is not None:
                self._chosen = graph.submit("list", chosen_ranks, graph.ids, graph.order, vertices)
        elif vertices is not None:
            around = SurroundingBlocks.of(graph, vertices)
            self._chosen = around.chosen
        self._around = around
        self._totals = self._count(None if around is None else around.blocks)
        self.total = sum(self._totals.values())
        if around is not None:
            self.total -= sum(self._count(around.others).values())
        if kind is not None:
            self.total = sum(graph.executor.gather([*self._by_job(count_selected)]))

    def _by_job(self, function: Callable[..., Any], *more: Any) -> Iterator[Task]:
        """Submit a function of what `selected` takes, for each job."""
        jobs = self._graph.by_job(function, *self._selection, *more, values=self._values)
        return (task for _, task in jobs)

    @property
    def _selection(self) -> tuple[Any, ...]:
        return self._kind, self._resolved, self._chosen, int(self._graph.free)

    def _count(self, blocks: list[Task] | None) -> dict[tuple[BlockTask, ...], int]:
        """Count the triangles of every job on the graph, or on blocks of some of its edges."""
        graph = self._graph
        of_jobs = graph.by_job(sums.count, of=blocks)
        if graph.n == 1:  # a task per machine: asked for their results together
            return dict(_by_job(graph, list(of_jobs)))
        return {tuple(job.tasks): graph.executor.gather(t) for job, t in of_jobs}

    def counted(self) -> tuple[int, None]:
        """Return how many triangles there are."""
        return self.total, None

    def fullest_group(self) -> tuple[int, str]:
        """Return the triangles of the group that has most, and the name of the group."""
        graph, around = self._graph, self._around
        if self._kind is not None:
            by_job = self._by_job(count_by_group, graph.ids, graph.order)
            by_group = graph.reduce("sum", block_work.add, by_job)
            task = graph.submit("list", fullest_of, graph.ids, by_group)
            fullest: tuple[int, str] = graph.executor.gather(task)
            return fullest
        if around is None:
            counts = [sums.by_vertex(graph)]
        else:
            parts = around.blocks, around.others
            counts = [sums.count_by_vertex(graph, blocks) for blocks in parts]
        by_vertex = [sums.whole(graph, each) for each in counts]
        task = graph.submit("list", of_groups, graph.ids, graph.order, by_vertex)
        most: tuple[int, str] = graph.executor.gather(task)
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
        need, memory = 2 * LISTED * total, int(graph.free) * len(graph.workers)
        if need > memory:
            raise CapacityError(
                f"a list of {total:,} triangles takes about {need:,} bytes while it is sorted, and "
                f"{len(graph.workers)} workers may take {memory:,}: iter_triangles(edges, "
                "max_rows=...) gives them frame by frame, or raise memory_limit="
            )
        lists = [task for _, task in self._listed()]
        fewest = ceil(costs.LISTED * total / graph.free)
        parts = max(1, fewest, min(workers, total // PART_ROWS))
        ranges = self._ranges(lists, parts, total)
        lengths = graph.executor.gather([graph.submit("list", length, own) for own in ranges])
        starts = np.cumsum([0, *lengths]).tolist()
        frames = [
            graph.submit("list", frame, own, graph.ids, start)
            for own, start in zip(ranges, starts, strict=False)
        ]
        return graph.to_frame("list", frames, lengths)

    def frames(self, rows: int) -> Iterator[Frame]:
        """Return an iterator over sorted frames of `rows` triangles; the last one may have fewer.

        Raises
        ------
        CapacityError
            A worker cannot make such a frame.
        """
        needs.require_listing(min(rows, self.total), self._graph.free, "ask for fewer rows")
        return self._frames(rows)

    def _frames(self, rows: int) -> Iterator[Frame]:
        """Yield the frames, of which the next is made while the caller has one."""
        executor, tasks = self._graph.executor, self._frame_tasks(rows)
        ahead: list[Task] = []
        while True:
            with executor:  # not around the yield: between frames, the call waits for nothing
                ahead += islice(tasks, 2 - len(ahead))
                frame = executor.gather(ahead.pop(0)) if ahead else None
            if frame is None:
                return
            yield frame
            del frame  # before the next one comes

    def _frame_tasks(self, rows: int) -> Iterator[Task]:
        """Yield a task per frame, whose triangles are cut out of the lists of jobs in turn."""
        graph, parts, size = self._graph, list[Any](), 0
        for _, task in self._lists():
            first, end = 0, graph.executor.gather(graph.submit("list", length, task))
            while first < end:
                last = min(first + rows - size, end)
                parts.append(graph.submit("list", cut, task, first, last))
                size, first = size + last - first, last
                if size == rows:
                    yield graph.submit("list", merged_frame, parts, graph.ids)
                    parts, size = [], 0
        if size:
            yield graph.submit("list", merged_frame, parts, graph.ids)

    def _listed(self) -> Iterator[tuple[Any, Task]]:
        """Yield tasks that return the sorted triangles of jobs, as they end."""
        graph, at_once = self._graph, len(self._graph.workers)
        return graph.executor.as_completed(self._lists(), at_once, sum(self._shares.values()))

    @cached_property
    def _shares(self) -> dict[tuple[BlockTask, ...], int]:
        """In how many shares the triangles of each job are listed, so that each fits a worker."""
        free = self._graph.free
        return {tasks: ceil(costs.LISTED * total / free) for tasks, total in self._totals.items()}

    def _lists(self) -> Iterator[tuple[Any, Task]]:
        """Submit the lists of one share after another."""
        graph, blocks = self._graph, None if self._around is None else self._around.blocks
        for job in graph.jobs:
            of_job, *_ = [*graph.values_of(job, self._values, None), []]
            for share in range(shares := self._shares[tuple(job.tasks)]):
                more = *self._selection, (share, shares), graph.ids, graph.order
                yield None, graph.submit_job("list", listed, job, of_job, *more, of=blocks)

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
                "list", merge, [graph.submit("list", operator.getitem, own, p) for own in split]
            )
            for p in range(parts)
        ]


def _by_job(graph: Blocked, of_jobs: list[Any]) -> Iterator[tuple[Any, int]]:
    totals = graph.executor.gather([task for _, task in of_jobs])
    for (job, _), total in zip(of_jobs, totals, strict=True):
        yield tuple(job.tasks), total


def of_groups(
    ids: Ids, order: list[Any], by_vertex: list[Array], *, backend: Backend
) -> tuple[int, str]:
    """Return the triangles of the group that has most, and the name of the group.

    `by_vertex` are the triangles at every rank, and then perhaps triangles to subtract.
    """
    xp, host = backend.xp, backend.host
    require_length(order[0], ids.size, "ranks")
    for of_ranks in by_vertex:
        require_length(of_ranks, order[1], "sums by vertex")
    by_rank = by_vertex[0] - by_vertex[1] if by_vertex[1:] else by_vertex[0]
    if not ids.size:
        return 0, "the graph"
    groups = host(ids.group_of[Order.of_ranks(order[0], order[1], xp).number])
    counts = np.zeros(len(ids.starts), "int64")
    np.add.at(counts, groups, host(by_rank))
    return ids.fullest_group(counts // 3)


def selected(
    job: BlockJob, of_blocks: list[list[Array]], kind: Within | None, reading: Reading | None,
    chosen: Array | None, memory: int, part: tuple[int, int] = (0, 1),
) -> Iterator[Array]:  # fmt: skip
    """List the triangles of a job, or a part of so many, batch by batch: their ranks.

    If ranks are `chosen`, only triangles with such a corner are listed; if there is a kind, only
    those of this kind, by the arrays of its reading for the three blocks.
    """
    test, (share, shares) = None, part
    if kind is not None and reading is not None:
        for block, arrays in zip(job.three, of_blocks, strict=True):
            require_values(reading, arrays, block.m)
        test = kind_test(job.engine, kind.resolved(reading), of_blocks)
    for layout in job.layouts():
        triangles = TaskTriangles.count(job.engine, layout, job.three, job.tasks[0], job.n, job.xp)
        first, end = (triangles.total * part // shares for part in (share, share + 1))
        for batch in batches(first, end, memory):
            ranks = triangles.ranks(*batch)
            if test is not None:
                passes = test(triangles.sides(ranks))
                if chosen is not None:
                    passes &= chosen[ranks].any(axis=0)
                ranks = ranks[:, passes]
            elif chosen is not None:
                ranks = ranks[:, chosen[ranks].any(axis=0)]
            yield ranks


def count_selected(job: BlockJob, *selection: Any) -> int:
    """Count the triangles of a job that `selected` lists."""
    return sum(ranks.shape[1] for ranks in selected(job, *selection))


def count_by_group(job: BlockJob, *selection: Any) -> Array:
    """Count the triangles of each group that `selected` lists; ids and order come last."""
    *of_kind, ids, order = selection
    require_length(order[0], ids.size, "ranks")
    group = ids.group_of[Order.of_ranks(order[0], order[1], job.xp).number]
    counts = job.xp.zeros(len(ids.starts), "int64")
    for ranks in selected(job, *of_kind):
        counts += job.xp.bincount(group[ranks[0]], minlength=len(counts))
    return counts


def fullest_of(ids: Ids, counts: Array, *, backend: Backend) -> tuple[int, str]:
    """Return the largest of the counts of groups, and the name of its group."""
    return ids.fullest_group(backend.host(counts))


def listed(
    job: BlockJob, of_blocks: list[list[Array]], kind: Within | None, reading: Reading | None,
    chosen: Array | None, memory: int, part: tuple[int, int], ids: Ids, order: list[Any],
) -> Sorted:  # fmt: skip
    """List the triangles of a job that `selected` lists, sorted."""
    xp, parts = job.xp, [job.xp.empty((3, 0), "uint32")]
    require_length(order[0], ids.size, "ranks")
    if chosen is not None:
        require_length(chosen, order[1], "marks of ranks")
    number = Order.of_ranks(order[0], order[1], xp).number.astype("uint32")
    for ranks in selected(job, of_blocks, kind, reading, chosen, memory, part):
        parts.append(number[ranks])
    low, middle, high = ordered_corners(xp.concatenate(parts, axis=1), xp)
    return _sorted(low.astype("uint64") << 32 | middle, high, xp)


def _sorted(keys: Array, last: Array, xp: ModuleType) -> Sorted:
    order = xp.lexsort(xp.stack([last.astype("uint64"), keys]))
    return [keys[order], last[order]]


def sample(triangles: Sorted, step: int, *, backend: Backend) -> Array:
    """Copy one key in `step` to the host."""
    return backend.host(triangles[0][::step])


def split_at(triangles: Sorted, cuts: tuple[int, ...], *, xp: ModuleType) -> list[Sorted]:
    """Cut triangles into the ranges below the first cut, below the second, and so on."""
    keys, last = triangles
    ends = xp.searchsorted(keys, xp.asarray(np.array(cuts, "uint64"))).tolist()
    bounds = zip([0, *ends], [*ends, len(keys)], strict=True)
    return [[keys[a:b], last[a:b]] for a, b in bounds]


def cut(triangles: Sorted, first: int, last: int) -> Sorted:
    """Copy some triangles of a list, so that the list need not be kept."""
    return [array[first:last].copy() for array in triangles]


def merge(lists: list[Sorted], *, xp: ModuleType) -> Sorted:
    """Merge one range of all lists."""
    for keys, last in lists:
        require_length(last, len(keys), "triangles")
    keys = xp.concatenate([xp.empty(0, "uint64"), *(own[0] for own in lists)])
    return _sorted(keys, xp.concatenate([xp.empty(0, "uint32"), *(own[1] for own in lists)]), xp)


def length(triangles: Sorted) -> int:
    """Return how many triangles a list has."""
    return len(triangles[0])


def frame(triangles: Sorted, ids: Ids, start: int, *, context: WorkerContext) -> Frame:
    """Make a range of the answer, whose rows are numbered from `start` on."""
    keys, last = triangles
    require_below(last, ids.size, "numbers of ids")  # the largest of the three
    corners = iter((keys >> 32, keys & 0xFFFFFFFF, last))
    rows = context.adapter.frame(named_triangles(corners, ids))
    rows.index = rows.index + start
    return rows


def merged_frame(lists: list[Sorted], ids: Ids, *, context: WorkerContext) -> Frame:
    """Make a frame of all triangles of some lists, sorted."""
    return frame(merge(lists, xp=context.backend.xp), ids, 0, context=context)


# What workers do around chosen vertices -----------------------------------------------------------


def chosen_ranks(ids: Ids, order: list[Any], vertices: Any, *, xp: Any) -> Array:
    """Mark the ranks of the vertices that the user names; for errors see `ChosenVertices`."""
    require_length(order[0], ids.size, "ranks")
    ranks = Order.of_ranks(order[0], order[1], xp)
    marks: Array = ChosenVertices(vertices).resolve(ids, ranks).codes
    return marks


def near_ranks(block: PlacedBlock, chosen: Array) -> Array:
    """Mark the chosen ranks, and their neighbors in a block."""
    larger, smaller = _ends(block, chosen)
    near = chosen.copy()
    near[larger[chosen[smaller]]] = True
    near[smaller[chosen[larger]]] = True
    return near


def edges_among(block: PlacedBlock, members: Array, left_out: Array | None) -> EncodedBlock:
    """Return the edges of a block among some ranks, without edges that have an end left out."""
    larger, smaller = _ends(block, members)
    stays = members[larger]
    stays &= members[smaller]
    if left_out is not None:
        require_length(left_out, len(members), "marks of ranks")
        stays &= ~(left_out[larger] | left_out[smaller])
    return block.select(stays)


def _ends(block: PlacedBlock, marks: Array) -> tuple[Array, Array]:
    """Return the ranks of both ends of the edges of a block, which index the marks of all ranks."""
    require_length(marks, block.vertices, "marks of ranks")
    return block.ends
