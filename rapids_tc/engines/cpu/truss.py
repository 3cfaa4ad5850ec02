"""The peel in Numba: `rapids_tc.engines.peel` says what is done, this file how.

The edges of a frontier are put into tasks by the end with the longer row. A task marks that row in
a table, then walks the other end's row for each of its edges: a step is one look-up in the table.
If so few steps are walked that marking would cost more, each step is a search instead. Frontiers
of little work are peeled one after another without leaving the compiled code: there can be a
hundred thousand, and a start of several threads costs as much as thousands of steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rapids_tc._parallel import parallel_for, thread_count
from rapids_tc.engines.cpu.compiled import compiled, inlined
from rapids_tc.engines.cpu.parallel import atomic_add, find
from rapids_tc.engines.peel import DEAD, ActiveGraph, PeelState

if TYPE_CHECKING:
    from collections.abc import Callable

    from rapids_tc.preparation.csr import Array, Csr

_LEVEL, _HEAD, _END, _TAIL, _TASKS, _TICKET, _ROUNDS = range(7)  # entries of a state
_SHRINK, _DONE, _LARGE, _PAUSE = range(4)  # why serial peeling stopped
_SEARCH = 8  # steps of marking that a search costs
_SPARE = 64  # tasks per thread, beside one per vertex, for vertices with many steps
_NONE = np.uint32(0xFFFFFFFF)
_FRONT, _GONE = 1, 2  # states of an edge; 0: neither


@dataclass(frozen=True)
class CpuPeeler:
    """A peeler on all cores.

    Attributes
    ----------
    large : int
        Steps from which a round is shared among threads.
    pause : int
        Steps of serial peeling after which progress and Ctrl-C come through.
    piece : int
        Steps after which another task is begun.
    table : int
        Slots of a thread's table, at most.
    shrink : float
        Ratio of active edges to all edges below which a smaller `ActiveGraph` is made.
    least : int
        Edges up to which an `ActiveGraph` is never made smaller.
    """

    large: int = 1 << 18
    pause: int = 1 << 26
    piece: int = 1 << 22
    table: int = 1 << 22
    shrink: float = 0.75
    least: int = 1 << 12
    xp: ClassVar[Any] = np

    def rows(self, csr: Csr) -> Array:
        """Return the larger rank of every edge."""
        return np.repeat(np.arange(csr.n, dtype=np.uint32), np.diff(csr.offsets))

    def build_adjacency(self, rows: Array, columns: Array, n: int) -> tuple[Array, Array, Array]:
        """Build the arrays by which the neighbours of each vertex are walked."""
        return _build_adjacency(rows, columns, n)

    def peel(
        self, graph: ActiveGraph, peeling: PeelState, on_progress: Callable[[int], None]
    ) -> bool:
        """Remove edges until all levels are done, or too few edges of the graph are active."""
        n, threads = len(graph.starts) - 1, thread_count()
        state = np.zeros(7, np.int64)
        state[_LEVEL] = peeling.level
        status, queue = np.zeros(graph.m, np.uint8), np.empty(graph.m, np.uint32)
        next_edge, tasks = (
            np.empty(graph.m, np.uint32),
            np.zeros((n + _SPARE * threads, 3), np.int64),
        )
        shared = (status, queue, state, next_edge, tasks)
        tables = np.zeros((threads, min(self.table, 1 << max(n - 1, 1).bit_length())), np.uint32)
        arrays = (
            graph.rows,
            graph.columns,
            graph.support,
            graph.offsets,
            graph.starts,
            graph.adjacency,
        )
        open_task = np.full(n, -1, np.int64)
        shrink_at = graph.m - int(graph.m * self.shrink) if graph.m > self.least else graph.m
        limits = (peeling.first, peeling.last, shrink_at)

        def task(_: int, thread: int) -> None:
            _peel_tasks(*arrays, *shared, tables[thread])

        while True:
            sizes = (self.large, self.pause, self.piece)
            stopped = _peel_serially(*arrays, *shared, tables, open_task, *limits, *sizes)
            peeling.level, peeling.rounds = int(state[_LEVEL]), peeling.rounds + int(state[_ROUNDS])
            state[_ROUNDS] = 0
            on_progress(int(state[_HEAD]))
            if stopped in (_SHRINK, _DONE):
                return stopped == _DONE
            if stopped == _LARGE:
                parallel_for(task, threads, threads)


@compiled
def _build_adjacency(rows: Array, columns: Array, n: int) -> tuple[Array, Array, Array]:
    offsets, starts = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    for e in range(len(rows)):
        offsets[np.int64(rows[e]) + 1] += 1
        starts[np.int64(rows[e]) + 1] += 1
        starts[np.int64(columns[e]) + 1] += 1
    for u in range(n):
        offsets[u + 1] += offsets[u]
        starts[u + 1] += starts[u]
    free = starts[:-1].copy()
    adjacency = np.empty(2 * len(rows), np.uint64)
    for e in range(len(rows)):  # every row is ascending: first the smaller ranks, then the larger
        adjacency[free[rows[e]]] = np.uint64(e) << np.uint64(32) | np.uint64(columns[e])
        free[rows[e]] += 1
    for e in range(len(rows)):
        adjacency[free[columns[e]]] = np.uint64(e) << np.uint64(32) | np.uint64(rows[e])
        free[columns[e]] += 1
    return offsets, starts, adjacency


@compiled
def _peel_serially(
    rows: Array, columns: Array, support: Array, offsets: Array, starts: Array, adjacency: Array,
    status: Array, queue: Array, state: Array, next_edge: Array, tasks: Array, tables: Array,
    open_task: Array, first: int, last: int, shrink_at: int, large: int, pause: int, piece: int,
) -> int:  # fmt: skip
    """Peel until a round is large (its tasks are then ready) or there is another reason to stop."""
    m, walked = len(rows), 0
    while True:
        for i in range(state[_HEAD], state[_END]):  # the frontier of the round before
            e = queue[i]
            status[e] = _GONE
            support[e] = DEAD | state[_LEVEL] + 2
        state[_HEAD] = state[_END]
        if shrink_at <= state[_HEAD] < m:
            return _SHRINK
        if state[_HEAD] == state[_TAIL]:
            least = np.int64(DEAD)
            for e in range(m):
                least = min(least, np.int64(support[e]))  # of a dead edge it is DEAD or more
            if least > last or state[_HEAD] == m:
                return _DONE
            state[_LEVEL] = max(state[_LEVEL], least, first)
            for e in range(m):
                if support[e] <= state[_LEVEL]:
                    queue[state[_TAIL]] = e
                    state[_TAIL] += 1
        state[_END], state[_TASKS], state[_TICKET] = state[_TAIL], 0, 0
        state[_ROUNDS] += 1
        if state[_END] == m:  # no active edge loses a triangle
            continue
        steps, spare = 0, len(tasks) - len(open_task)  # beyond one per vertex
        for i in range(state[_HEAD], state[_END]):
            e = queue[i]
            status[e] = _FRONT
            short, long = rows[e], columns[e]
            if starts[short + 1] - starts[short] > starts[long + 1] - starts[long]:
                short, long = long, short
            length = starts[short + 1] - starts[short]
            task = open_task[long]
            if task < 0 or (tasks[task, 2] > piece and spare > 0):
                spare -= task >= 0
                task = state[_TASKS]
                state[_TASKS] += 1
                open_task[long] = task
                tasks[task, 0], tasks[task, 1], tasks[task, 2] = long, _NONE, 0
            next_edge[e] = tasks[task, 1]
            tasks[task, 1] = e
            tasks[task, 2] += length
            steps += length
        for task in range(state[_TASKS]):
            open_task[tasks[task, 0]] = -1
        walked += steps
        if steps >= large:
            return _LARGE
        for task in range(state[_TASKS]):
            _peel_task(
                rows, columns, support, offsets, starts, adjacency, status, queue, state, next_edge,
                tasks[task], tables[0],
            )  # fmt: skip
        if walked >= pause:
            return _PAUSE


@compiled
def _peel_tasks(
    rows: Array, columns: Array, support: Array, offsets: Array, starts: Array, adjacency: Array,
    status: Array, queue: Array, state: Array, next_edge: Array, tasks: Array, table: Array,
) -> None:  # fmt: skip
    """Draw the tasks of a large round one by one, until none is left."""
    while True:
        task = atomic_add(state, _TICKET, 1)
        if task >= state[_TASKS]:
            break
        _peel_task(
            rows, columns, support, offsets, starts, adjacency, status, queue, state, next_edge,
            tasks[task], table,
        )  # fmt: skip


@compiled
def _peel_task(
    rows: Array, columns: Array, support: Array, offsets: Array, starts: Array, adjacency: Array,
    status: Array, queue: Array, state: Array, next_edge: Array, task: Array, table: Array,
) -> None:  # fmt: skip
    """Remove the triangles of the task's edges, all of which end at its vertex.

    Nothing writes `status` meanwhile; `support` and the tail of the queue are changed by atomics.
    """
    vertex, e, level = task[0], np.uint32(task[1]), state[_LEVEL]
    begin, end = starts[vertex], starts[vertex + 1]
    low_bits, mask = np.uint64(0xFFFFFFFF), np.uint64(len(table) - 1)
    marked, exact = end - begin <= _SEARCH * task[2], len(table) >= len(offsets) - 1
    if marked:
        for i in range(begin, end):
            f = adjacency[i] >> np.uint64(32)
            if status[f] != _GONE:
                table[adjacency[i] & mask] = f + np.uint64(1)
    while e != _NONE:
        other = np.int64(rows[e]) ^ np.int64(columns[e]) ^ vertex
        for i in range(starts[other], starts[other + 1]):
            f, w = adjacency[i] >> np.uint64(32), adjacency[i] & low_bits
            if status[f] == _GONE:
                continue
            if marked:
                slot = table[w & mask]
                if slot == 0:
                    continue
                g = np.int64(slot) - 1
                # If there are more vertices than slots, the entry may be another vertex's.
                confirmed = exact or rows[g] ^ columns[g] ^ vertex == np.int64(w)
            else:
                confirmed = False
            if not confirmed:
                larger, smaller = max(np.int64(w), vertex), min(np.int64(w), vertex)
                g = find(columns, offsets[larger], offsets[larger + 1], smaller)
                if g < 0 or status[g] == _GONE:
                    continue
            if (status[f] and f < e) or (status[g] and g < e):
                continue
            if not status[f]:
                _count_off(support, np.int64(f), level, queue, state)
            if not status[g]:
                _count_off(support, g, level, queue, state)
        e = next_edge[e]
    if marked:
        for i in range(begin, end):
            table[adjacency[i] & mask] = 0


@inlined
def _count_off(support: Array, e: Array, level: Array, queue: Array, state: Array) -> None:
    """Take one triangle off an edge; if it falls to the level, it joins the next frontier."""
    if atomic_add(support, e, np.uint32(0xFFFFFFFF)) == level + 1:
        queue[atomic_add(state, _TAIL, 1)] = e
