"""What a client tells its scheduler: the tasks of a stage in one message, and what it lets go.

A client of Dask sends at most one message every 10 ms, and the scheduler reads each graph of tasks
apart. Calls on small frames would wait for that more than for their tasks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from dask._task_spec import Task, parse_input
from dask.highlevelgraph import HighLevelGraph, MaterializedLayer
from distributed import Client
from distributed import Future as _Future

if TYPE_CHECKING:
    from collections.abc import Callable

Future = _Future[Any]
LINGER = 0.05  # seconds until a client lets go what a call has read, if no other call follows
_read: WeakKeyDictionary[Client, list[list[Future]]] = WeakKeyDictionary()  # to be let go


class Unsent:
    """The tasks of a call that the scheduler does not know of yet."""

    def __init__(self) -> None:
        # By the worker that they are for, and their priority.
        self._tasks: dict[tuple[str | None, int], dict[str, Task]] = {}
        # The tasks, and what they depend on: else the client could let it go before they are sent.
        self._futures: list[Future] = []
        self._needed: list[tuple[Any, ...]] = []

    def add(
        self, client: Client, key: str, function: Callable[..., Any], args: tuple[Any, ...],
        on: str | None, priority: int,
    ) -> Future:  # fmt: skip
        """Add a task, at a worker of choice while that lives."""
        task = Task(key, function, *map(parse_input, args))
        self._tasks.setdefault((on, priority), {})[key] = task
        future: Future = _Future(key, client)
        self._futures.append(future)
        self._needed.append(args)
        return future

    def send(self, client: Client) -> None:
        """Send all tasks in one message."""
        if not self._tasks:
            return
        tasks, futures, needed = self._tasks, self._futures, self._needed
        self._tasks, self._futures, self._needed = {}, [], []
        layers = {
            f"rapids_tc-{number}": MaterializedLayer(of_worker, _annotations(on, priority))
            for number, ((on, priority), of_worker) in enumerate(tasks.items())
        }
        graph = HighLevelGraph(layers, {name: set() for name in layers})
        client.get(graph, [future.key for future in futures], sync=False)
        del needed, futures
        for read in _read.pop(client, []):
            read.clear()


def _annotations(on: str | None, priority: int) -> dict[str, Any]:
    annotations: dict[str, Any] = {"priority": priority} if priority else {}
    if on is not None:
        annotations |= {"workers": [on], "allow_other_workers": True}
    return annotations


def let_go_later(client: Client, futures: list[Future]) -> None:
    """Let futures go once the client has sent other tasks, or soon.

    That is a message, too, which the tasks of a call that follows at once would wait for.
    """
    own = [*futures]
    _read.setdefault(client, []).append(own)
    loop: Any = client.loop
    loop.add_callback(loop.call_later, LINGER, own.clear)
