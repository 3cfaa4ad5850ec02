"""Workers that join while a call runs, or after a graph was laid out that answers it.

They hold nothing of the graph, and Dask gives a task to a worker that holds what it needs. So some
of the tasks that may run anywhere are given to them: what they fetch for one serves the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakSet

if TYPE_CHECKING:
    from collections.abc import Callable

    from rapids_tc.executors.protocol import Worker

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
