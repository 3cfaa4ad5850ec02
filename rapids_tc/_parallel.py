"""Tasks on all cores, by plain threads."""

from __future__ import annotations

import queue
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SERIAL_BELOW = 1 << 18  # rows, probes or look-ups that are not worth a second thread
thread_limit: ContextVar[int | None] = ContextVar("thread_limit", default=None)
POLL = 0.1  # seconds between reports of progress, and for Ctrl-C to come through


def thread_count() -> int:
    """Return how many threads may work at once, by NUMBA_NUM_THREADS or the machine."""
    from numba import config  # takes long to import, and does the work on a CPU anyway

    available = int(config.NUMBA_NUM_THREADS)
    return min(available, thread_limit.get() or available)


def threads_for(steps: int, most: int | None = None) -> int:
    """Return how many threads are worth starting for so many steps, rows or entries."""
    return 1 if steps <= SERIAL_BELOW else min(thread_count(), most or steps)


def parallel_for(
    task: Callable[[int, int], int | None],
    tasks: int,
    threads: int,
    on_progress: Callable[..., None] | None = None,
) -> int:
    """Call ``task(number, thread)`` for every number below `tasks`; return the sum of the results.

    Compiled code releases the interpreter's lock, so plain threads are enough. Unlike Numba's own,
    they draw a task whenever they are idle, may be started from several threads, and survive a
    fork.
    """
    if threads == 1 or tasks == 1:
        return sum(task(number, 0) or 0 for number in range(tasks))
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

    running: list[Future[int]] = []
    with ThreadPoolExecutor(threads) as pool:
        with suppress(RuntimeError):  # no memory for a thread: those that started draw all tasks
            for thread in range(threads):
                running.append(pool.submit(work, thread))
        if not running:
            return work(0)
        try:
            while wait(running, timeout=POLL).not_done:
                if on_progress is not None:
                    on_progress(1.0 - waiting.qsize() / tasks)
        except BaseException:
            while not waiting.empty():  # busy threads end their task, and find no other
                waiting.get()
            raise
    return sum(done.result() for done in running)


def run_together(
    task: Callable[[int], int],
    threads: int,
    stop: Callable[[], None],
    on_progress: Callable[[], None],
) -> int:
    """Call ``task(thread)`` on so many threads at once, and return the result of the first.

    The tasks wait for one another. `stop` lets them return: if one fails or does not start, or on
    Ctrl-C.
    """
    with ThreadPoolExecutor(threads) as pool:
        try:
            running = _all_started(pool, task, threads)
            while waiting := wait(running, POLL, FIRST_EXCEPTION).not_done:
                on_progress()
                for done in set(running) - waiting:
                    done.result()  # raises what the task raised
        except BaseException:
            stop()
            raise
    return running[0].result()


def _all_started(
    pool: ThreadPoolExecutor, task: Callable[[int], int], threads: int
) -> list[Future[int]]:
    """Start a task on each of so many threads; MemoryError if the system cannot start them all."""
    try:
        return [pool.submit(task, thread) for thread in range(threads)]
    except RuntimeError as error:
        raise MemoryError(f"{error}, of {threads}: NUMBA_NUM_THREADS sets how many") from error


@contextmanager
def limit_threads(threads: int | None) -> Iterator[None]:
    """Let the CPU engine use so many threads; with None, as many as there are cores."""
    token = thread_limit.set(threads)
    try:
        yield
    finally:
        thread_limit.reset(token)
