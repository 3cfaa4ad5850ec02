"""Waiting for tasks of Dask, and what went wrong in one of them."""

from __future__ import annotations

from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any

from distributed import Client, wait
from distributed import Future as _Future
from distributed.scheduler import KilledWorker

from rapids_tc.errors import KernelError
from rapids_tc.executors.watch import Watch

Future = _Future[Any]
ENDED = ("finished", "error", "cancelled")  # a "lost" task will be computed again
TELL_LIMIT = 10.0  # seconds for the scheduler to tell of a task that failed


async def ended(client: Client, tasks: list[Future], how_many: str) -> None:
    """Return when tasks have ended; time is kept outside, for an error's frames hold on to tasks.

    A task that is lost with its worker ends again later; Dask cancels it if that is impossible.
    """
    with client.as_current():
        while left := [task for task in tasks if task.status not in ENDED]:
            if how_many == "FIRST_COMPLETED" and len(left) < len(tasks):
                return
            with suppress(CancelledError):
                await wait(left, return_when=how_many)


async def gathered(client: Client, tasks: Any, several: list[Future]) -> Any:
    """Return the results of tasks, once all have ended."""
    await ended(client, several, "ALL_COMPLETED")
    return await client.gather(tasks, asynchronous=True)


def require_done(client: Client, tasks: list[Future]) -> None:
    """Raise what went wrong in one of the tasks, all of which have ended."""
    for task in tasks:
        if task.status == "error":
            try:
                task.result()
            except KilledWorker as error:
                raise KernelError(
                    f"workers died one after another: {error}. Most often they ran out of "
                    "memory: memory_limit= makes the tasks smaller"
                ) from error
        elif task.status == "cancelled":
            Watch(client).require_open()
            raise KernelError(
                f"the cluster lost {task.key}: a partition that cannot be computed again, or "
                "a client that was restarted or closed. Persist or read the frame again"
            )


def require_none_failed(client: Client, keys: list[Any]) -> None:
    """Raise what went wrong in any task of a call, also in one that nobody waits for.

    If a task fails when it is computed again, Dask may leave others waiting for it, and only the
    scheduler may know of the failure.
    """
    scheduler: Any = client.scheduler
    states: Any = client.sync(scheduler.get_task_status, keys=keys)
    for key in [key for key, state in states.items() if state == "erred"][:1]:
        failed: Future = _Future(key, client)
        failed.exception(timeout=TELL_LIMIT)
        require_done(client, [failed])
