"""The stages of a graph whose edges lie on many machines: numbered, sampled, cut in blocks.

Each returns a frozen value, of tasks and a few integers; what no caller holds is freed. Ids that
are not dense integers are joined on one machine, which sends the list to all others; if the list
would take too much of a machine, the ids lie in ranges. Numbers are ranked in one range, if every
machine may hold the ranks of all.

A graph that fits one machine is one block: each machine merges the parts of all batches into its
own copy, and counts the triangles of its share of the pivot vertices. A larger graph is n x n
blocks, each merged on one machine, and n**3 tasks that fetch three blocks each: see
`rapids_tc.blocks.grid`.
"""

from __future__ import annotations

import logging
import operator
from collections import Counter
from dataclasses import replace
from itertools import cycle
from math import ceil
from typing import TYPE_CHECKING

from rapids_tc.blocks import build, grid, id_ranges, id_tasks, ranges
from rapids_tc.blocks.block_map import Blocked, Numbered
from rapids_tc.executors.protocol import split_batches
from rapids_tc.plan import costs, needs
from rapids_tc.plan.block_layout import forced_layout
from rapids_tc.preparation import id_scheme

if TYPE_CHECKING:
    from rapids_tc.blocks.block_map import TaskMap
    from rapids_tc.blocks.grid import Partition, Range
    from rapids_tc.executors.protocol import Task
    from rapids_tc.plan.record import Work

LEAST_ROWS = 2**16  # per counting machine, at least: fewer rows are not worth sending
BY_HOST = ("tcp://", "tls://")  # addresses of workers that cannot send from GPU memory
log = logging.getLogger("rapids_tc")


# Ids ----------------------------------------------------------------------------------------------


def number_ids(tasks: TaskMap, limit: int | None) -> Numbered:
    """Profile the ids of all partitions; decide how to number them and how much may fit.

    `limit` are the bytes that a machine may take, if the user says so.
    """
    gather = tasks.executor.gather
    partitions = [batch.partitions for batch in tasks.batches]
    places = [batch.places for batch in tasks.batches]
    profiles = tasks.each_batch("profile", id_tasks.profile, partitions, places)
    resolved = tasks.submit("profile", id_tasks.resolve_scheme, profiles)
    prints, size, memory = gather(tasks.submit("profile", id_tasks.known, resolved))
    graph = Numbered(
        **vars(tasks), free=0, rows=[[seen.rows for seen in batch] for batch in prints], size=0,
        scheme=tasks.submit("profile", id_tasks.settled, resolved, prints), ranges=[],
        ids_of_all=None, prints={seen.place: seen for batch in prints for seen in batch},
    )  # fmt: skip
    graph = replace(graph, free=limit or _free(graph, memory))
    batches, rows = split_batches(graph.batches, graph.rows, graph.free // costs.CLUSTER_ROW)
    graph = replace(graph, batches=batches, rows=rows)
    if size is None:
        graph = _sparse_ids(graph)
    else:
        graph = replace(graph, size=size, ids_of_all=_ids_of_all(graph, [None]))
    least = graph.size if graph.context.labels.joined else ceil(graph.size / costs.RANGES)
    needs.require([needs.Stage("order", costs.CLUSTER_NUMBER * least)], limit)
    return replace(graph, ranges=_ranges(graph))


def _free(graph: Numbered, memory: int) -> int:
    """Return the bytes that a machine may take; `memory` is what the fullest one has free."""
    if graph.engine == "cpu":  # workers of one host share its memory
        memory //= max(Counter(w.address.rpartition(":")[0] for w in graph.workers).values())
    return int(costs.MEMORY_SHARE * min([memory, *(w.memory for w in graph.workers if w.memory)]))


def _sparse_ids(graph: Numbered) -> Numbered:
    """Find the distinct ids; if they take too much of a machine, they lie in ranges."""
    distinct = graph.each_batch("ids", id_tasks.distinct, *graph.to_read, more=(graph.scheme,))
    if not graph.context.labels.joined:
        held = graph.each_batch("ids", id_ranges.count_and_bytes, distinct)
        ids, used = (sum(side) for side in zip(*graph.executor.gather(held), strict=True))
        graph = replace(graph, listed=costs.CLUSTER_IDS * used)
        layout, sizes = forced_layout.get(), (ids, graph.free, len(graph.workers), used)
        count = layout.ranges if layout else grid.range_count(*sizes)
        if count > 1:
            in_ranges = id_ranges.cut(graph, graph.scheme, distinct, count)
            return replace(graph, size=in_ranges.size, id_ranges=in_ranges)
    made = _ids_of_all(graph, graph.reduce("ids", id_scheme.union, distinct))
    size = graph.executor.gather(graph.submit("ids", getattr, made, "size"))
    return replace(graph, size=size, ids_of_all=made)


def _ids_of_all(graph: Numbered, distinct: Task) -> Task:
    """Submit the ids by number, from the distinct values of their parts; None for a dense part."""
    ids = graph.submit("ids", id_scheme.make_ids, graph.scheme, distinct)
    return _with_keys(graph, ids) if graph.context.labels.joined else ids


def _with_keys(graph: Numbered, ids: Task) -> Task:
    """Find the keys of all ids; if 64 bits are too few, fold some digits first."""
    while True:
        digits = graph.executor.gather(graph.submit("ids", id_tasks.overflow, ids))
        more = ids, graph.scheme, digits
        apart = graph.each_batch("ids", id_tasks.distinct_keys, *graph.to_read, more=more)
        keys = graph.reduce("ids", id_scheme.union_keys, apart)
        ids = graph.submit("ids", id_scheme.with_keys, ids, keys, digits)
        if digits is None:
            return ids


def _ranges(graph: Numbered) -> list[Range]:
    """Return the ranges in which numbers are ranked: one, if ids have several parts."""
    if graph.id_ranges is not None:
        return graph.id_ranges.parts
    if graph.context.labels.joined:
        return grid.cut(graph.size, 1)
    layout, sizes = forced_layout.get(), (graph.size, graph.free, len(graph.workers))
    return grid.cut(graph.size, layout.ranges if layout else grid.range_count(*sizes))


# Rows ---------------------------------------------------------------------------------------------


def number_rows(graph: Numbered) -> Numbered:
    """Look up the numbers of both ends of every row."""
    function, more = id_tasks.number, (graph.scheme,)
    if graph.id_ranges is None:
        numbers = graph.each_batch("number", function, *graph.to_read, more=(graph.ids, *more))
    else:
        of_ids = graph.id_ranges.pieces, graph.id_ranges.numbers
        numbers = graph.each_batch("number", id_ranges.number, *graph.to_read, *of_ids, more=more)
    return replace(graph, numbers=numbers)


def sample(graph: Numbered, colors: int, seed: int) -> Numbered:
    """Select the edges of a sample, whose two ends have the same color.

    Numbers of a kept graph are ranked anew: the call may have a lower limit than the graph had.
    """
    graph = replace(graph, ranges=_ranges(graph))
    if len(graph.ranges) > 1:
        by_range = [
            graph.submit("sample", id_ranges.draw_colors, ids, part, colors, seed)
            for ids, part in zip(id_ranges.ids_of(graph), graph.ranges, strict=True)
        ]
        rows = graph.numbers, graph.workers_of_rows
        of_ends = ranges.look_up(graph, "sample", *rows, by_range, graph.ranges)
        numbers = graph.each_batch("sample", id_ranges.one_colored, graph.numbers, of_ends)
    else:
        more = graph.ids, colors, seed
        numbers = graph.each_batch("sample", id_tasks.one_colored, graph.numbers, more=more)
    kept = graph.each_batch("sample", id_tasks.rows_of, numbers)
    rows_of_sample = [[rows] for rows in graph.executor.gather(kept)]
    return replace(graph, numbers=numbers, rows=rows_of_sample)


def rank_rows(graph: Numbered, orders: dict[str, Task], ranked: list[Task]) -> list[Task]:
    """Look up the ranks of both ends of every row, by batch: see `Blocked`."""
    if ranked:
        rows = graph.numbers, graph.workers_of_rows
        return ranges.look_up(graph, "rank", *rows, ranked, graph.ranges)
    by_batch = [orders[worker] for worker in graph.workers_of_rows]
    return graph.each_batch("rank", ranges.ranks_of_ends, graph.numbers, by_batch)


# Blocks -------------------------------------------------------------------------------------------


def cut(graph: Numbered, work: Work) -> Blocked:
    """Order the vertices by degree, and cut the rows, which have numbers, in blocks."""
    orders: dict[str, Task] = {}
    ranked: list[Task] = []
    if len(graph.ranges) > 1:
        ranked, vertices = ranges.ranks(graph, graph.numbers, graph.size, graph.ranges)
    else:
        degrees = graph.each_batch("degrees", ranges.degrees, graph.numbers, more=(graph.size,))
        codes = graph.few("degrees", ranges.add_degrees, degrees)
        workers = dict.fromkeys(graph.workers_of_rows)
        orders = {at: graph.submit("order", ranges.order, codes, on=at) for at in workers}
        vertices = graph.submit("order", operator.getitem, next(iter(orders.values())), 1)
    ranks, counting_workers = rank_rows(graph, orders, ranked), machines_that_count(graph)
    partition = _partition(graph, work, len(counting_workers))
    return Blocked(
        **vars(graph), orders=orders, ranked=ranked, vertices=vertices, ranks=ranks,
        partition=partition, counting_workers=counting_workers,
        blocks=_blocks(graph, ranks, vertices, partition.n, counting_workers),
    )  # fmt: skip


def machines_that_count(graph: Numbered) -> list[str]:
    """Choose the machines that count: those with most rows, at most one per `LEAST_ROWS` rows."""
    held = dict.fromkeys((w.address for w in graph.workers), 0)
    for group, rows in zip(graph.batches, graph.rows, strict=True):
        held[group.worker] = held.get(group.worker, 0) + sum(rows)
    useful = 1 if graph.method != "auto" else max(1, sum(held.values()) // LEAST_ROWS)
    return sorted(held, key=lambda worker: -held[worker])[:useful]


def _partition(graph: Numbered, work: Work, workers: int) -> Partition:
    """Choose the blocks, and the parts of each task."""
    rows = sum(map(sum, graph.rows))
    made = grid.plan(rows, graph.size, graph.free, workers, work, graph.engine, graph.name)
    made = grid.of_method(made, graph.method)
    log.info(
        "%s: %d rows in %d partitions on %d workers; %d x %d blocks, %d tasks",
        graph.name, rows, sum(map(len, graph.rows)), len(graph.workers), made.n, made.n,
        made.n**3 * made.m,
    )  # fmt: skip
    return made


def _blocks(
    graph: Numbered, ranks: list[Task], vertices: Task, n: int, counting_workers: list[str]
) -> list[Task]:
    """Merge every block from the edges of all batches, encoded in one part per block."""
    batch = min(costs.MOST_KEYS, max(LEAST_ROWS, graph.free // costs.CLUSTER_ROW))
    packed = sent = graph.each_batch("pack", build.pack, ranks, more=(vertices, n, batch))
    if graph.engine == "cuda" and graph.workers[0].address.startswith(BY_HOST):
        sent = graph.each_batch("send", build.by_host, packed)
    if n == 1:
        merged_on = [(0, worker) for worker in counting_workers]
    else:
        workers = cycle(counting_workers)
        merged_on = [(place, next(workers)) for place in range(n**2)]
    blocks = []
    for place, worker in merged_on:
        pieces = _pieces(graph, packed, sent, n, place, worker)
        blocks.append(graph.submit("merge", build.merge, pieces, vertices, n, place, on=worker))
    return blocks


def _pieces(
    graph: Numbered, packed: list[Task], sent: list[Task], n: int, place: int, worker: str
) -> list[Task]:
    """Return tasks that list the parts of a block, for the machine that merges them.

    Other machines fetch what is `sent`, which is on the host if workers cannot send from a GPU. If
    there are several blocks, each worker picks the parts of all its batches in one task. A task per
    batch and block would be more tasks than all others together.
    """
    by_holder: dict[str, list[Task]] = {}
    for holder, near, far in zip(graph.workers_of_rows, packed, sent, strict=True):
        by_holder.setdefault(holder, []).append(near if holder == worker else far)
    if n == 1:
        return [task for parts_of_holder in by_holder.values() for task in parts_of_holder]
    return [
        graph.submit("pack", build.pick, parts_of_holder, place, on=holder)
        for holder, parts_of_holder in by_holder.items()
    ]
