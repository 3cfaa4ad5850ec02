"""Waiting for tasks of Dask, and what went wrong in one of them."""

from __future__ import annotations

from concurrent.futures import CancelledError
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from distributed import Client, wait
from distributed import Future as _Future
from distributed.scheduler import KilledWorker

from rapids_tc.errors import KernelError
from rapids_tc.executors.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rapids_tc._progress import Report
    from rapids_tc.executors.protocol import Task, Worker

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


# Workers that join while a call runs --------------------------------------------------------------


AT_ONCE = 2  # tasks under way per thread of a worker that has joined


class Joined:
    """The workers that a call has found since the first look.

    Parameters
    ----------
    is_done : callable
        Whether a task has ended.
    """

    def __init__(self, is_done: Callable[[Any], bool]) -> None:
        self._is_done = is_done
        self._first: set[str] | None = None
        self._room: dict[str, int] = {}
        self._given: dict[str, WeakSet[Any]] = {}

    def look(self, workers: list[Worker]) -> None:
        """Note the workers that there are now."""
        if self._first is None:
            self._first = {worker.address for worker in workers}
        self._room = {
            w.address: AT_ONCE * w.threads for w in workers if w.address not in self._first
        }

    @property
    def room(self) -> int:
        """How many more tasks may be under way than without these workers."""
        return sum(self._room.values())

    def place(self) -> str | None:
        """Return a worker that has joined and has few tasks; None if there is none."""
        for address, room in self._room.items():
            given = self._given.get(address, ())
            if sum(not self._is_done(task) for task in given) < room:
                return address
        return None

    def gave(self, address: str, task: Any) -> None:
        """Note a task that a worker was given."""
        self._given.setdefault(address, WeakSet()).add(task)


# The stages that a user sees ----------------------------------------------------------------------


PREFIX = "rapids_tc-"  # of the keys of tasks, before the name that `submit` was given

# What the user reads for the tasks of each name, in the order of a call.
STAGES = {
    "profile": "numbering the ids",
    "ids": "numbering the ids",
    "number": "numbering the ids",
    "sample": "sampling the edges",
    "degrees": "ordering by degree",
    "order": "ordering by degree",
    "rank": "ordering by degree",
    "pack": "cutting into blocks",
    "send": "cutting into blocks",
    "merge": "cutting into blocks",
    "values": "reading the values",
    "slabs": "cutting into slabs of time",
    "count": "counting",
    "sum": "counting",
    "peel": "peeling",
    "pairs": "comparing pairs",
    "list": "listing",
    "edges": "sorting the edges",
    "answer": "summing by vertex",
    "columns": "looking rows up",
    "rows": "looking rows up",
}
_PLACES = {text: place for place, text in enumerate(dict.fromkeys(STAGES.values()))}


class TaskStages:
    """The stages of one call, reported as its tasks end.

    A stage never returns to an earlier one: a peel counts again in every round, and all of it is
    one stage.
    """

    def __init__(self, report: Report) -> None:
        self._report, self._current = report, "reading the frame"
        self._total = 1

    def begin(self, tasks: Sequence[Task], total: int) -> None:
        """Begin a wait for `total` tasks, of which these are some: perhaps that is a new stage."""
        self._total = max(total, 1)
        text = STAGES.get(_name(tasks[0]), self._current) if tasks else self._current
        if _PLACES.get(text, -1) > _PLACES.get(self._current, -1):
            self._report.end()
            self._report.stage(text)
            self._current = text

    def draw(self, done: int) -> None:
        """Report how many tasks of the wait have ended."""
        self._report.advance(min(done / self._total, 1.0))

    def close(self) -> None:
        """End the last stage."""
        self._report.end()


def _name(task: Task) -> str:
    """Return the name that a task was submitted with; an empty text for the user's own tasks."""
    key = str(task.key)
    return key.removeprefix(PREFIX).partition("-")[0] if key.startswith(PREFIX) else ""
