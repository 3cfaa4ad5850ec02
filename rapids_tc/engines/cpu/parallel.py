"""What the Numba engine's files share: tasks on all cores, an atomic, a search."""

from __future__ import annotations

import queue
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait

import numba
from numba import njit
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from rapids_tc.engines.protocol import thread_limit

TICK = 0.1  # seconds between looks at the progress, and for Ctrl-C to come through


def thread_count() -> int:
    """Threads that may work at once, as NUMBA_NUM_THREADS or the machine has it."""
    there = int(numba.config.NUMBA_NUM_THREADS)
    return min(there, thread_limit.get() or there)


def parallel_for(
    task: Callable[[int, int], int | None],
    tasks: int,
    threads: int,
    on_progress: Callable[[float], None] | None = None,
) -> int:
    """Call ``task(number, thread)`` for every number below `tasks`; the sum of what they return.

    Compiled code lets go of the interpreter's lock, so plain threads do: unlike Numba's own they
    draw tasks as they get ready, may be entered from several threads, and survive a fork.
    """
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number in range(tasks):
        waiting.put(number)

    def work(thread: int) -> int:
        total = 0
        while True:
            try:
                number = waiting.get_nowait()
            except queue.Empty:
                return total
            total += task(number, thread) or 0

    if threads == 1 or tasks == 1:
        return work(0)
    with ThreadPoolExecutor(threads) as pool:
        running = [pool.submit(work, thread) for thread in range(threads)]
        try:
            while wait(running, timeout=TICK).not_done:
                if on_progress is not None:
                    on_progress(1.0 - waiting.qsize() / tasks)
        except BaseException:
            while not waiting.empty():  # those at work end their task, and find no other
                waiting.get()
            raise
    return sum(done.result() for done in running)


@intrinsic
def atomic_add(typing_context, array, index, value):
    """``array[index] += value`` that no other thread can come between; returns what was there."""

    def generate(context, builder, signature, arguments):
        item, position, addend = arguments
        view = make_array(signature.args[0])(context, builder, item)
        pointer = cgutils.get_item_pointer(
            context, builder, signature.args[0], view, [position], wraparound=False
        )
        addend = context.cast(builder, addend, signature.args[2], array.dtype)
        add = "fadd" if isinstance(array.dtype, types.Float) else "add"
        return builder.atomic_rmw(add, pointer, addend, "monotonic")

    return array.dtype(array, index, value), generate


@njit(inline="always")
def find(columns, begin, end, w):
    """Position of `w` in the ascending columns[begin:end], -1 where it is not."""
    stop = end
    while begin < end:
        middle = (begin + end) >> 1
        if columns[middle] < w:
            begin = middle + 1
        else:
            end = middle
    return begin if begin < stop and columns[begin] == w else -1
