"""Tasks on all cores, an atomic and a search, for all files of the Numba engine."""

from __future__ import annotations

import queue
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any

import numba
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from rapids_tc.engines.cpu.compiled import inlined
from rapids_tc.engines.protocol import ProgressCallback, thread_limit

if TYPE_CHECKING:
    from collections.abc import Callable

    from rapids_tc.preparation.csr import Array

POLL = 0.1  # seconds between reports of progress, and for Ctrl-C to come through


def thread_count() -> int:
    """Return how many threads may work at once, by NUMBA_NUM_THREADS or the machine."""
    available = int(numba.config.NUMBA_NUM_THREADS)
    return min(available, thread_limit.get() or available)


def parallel_for(
    task: Callable[[int, int], int | None],
    tasks: int,
    threads: int,
    on_progress: ProgressCallback | None = None,
) -> int:
    """Call ``task(number, thread)`` for every number below `tasks`; return the sum of the results.

    Compiled code releases the interpreter's lock, so plain threads are enough. Unlike Numba's own,
    they draw a task whenever they are idle, may be started from several threads, and survive a
    fork.
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
            while wait(running, timeout=POLL).not_done:
                if on_progress is not None:
                    on_progress(1.0 - waiting.qsize() / tasks)
        except BaseException:
            while not waiting.empty():  # busy threads end their task, and find no other
                waiting.get()
            raise
    return sum(done.result() for done in running)


def _atomic_add(typing_context: Any, array: Any, index: Any, value: Any) -> Any:
    """Do ``array[index] += value`` so that no other thread comes between; return the old value."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        item, position, addend = arguments
        view = make_array(signature.args[0])(context, builder, item)
        pointer = cgutils.get_item_pointer(
            context, builder, signature.args[0], view, [position], wraparound=False
        )
        addend = context.cast(builder, addend, signature.args[2], array.dtype)
        add = "fadd" if isinstance(array.dtype, types.Float) else "add"
        return builder.atomic_rmw(add, pointer, addend, "monotonic")

    return array.dtype(array, index, value), generate


atomic_add: Callable[[Array, Any, Any], Any] = intrinsic(_atomic_add)


@inlined
def find(columns: Array, begin: Any, end: Any, w: Any) -> Any:
    """Return the position of `w` in the ascending columns[begin:end]; -1 if it is not in there."""
    stop = end
    while begin < end:
        middle = (begin + end) >> 1
        if columns[middle] < w:
            begin = middle + 1
        else:
            end = middle
    return begin if begin < stop and columns[begin] == w else -1
