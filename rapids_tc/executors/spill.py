"""An executor that runs tasks in this process, and keeps their arrays outside of memory.

Of a graph larger than memory, no more is in memory than one task takes: what tasks return lies on
the block store of the engine, a file or pinned memory, and is read when another task asks for it.
"""

from __future__ import annotations

import operator
from bisect import bisect_left, insort
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rapids_tc.executors.local import LocalExecutor
from rapids_tc.executors.protocol import Worker

if TYPE_CHECKING:
    from rapids_tc.engines.protocol import BlockStore
    from rapids_tc.executors.protocol import Task
    from rapids_tc.frames.backend import Array

OF_JOB = 3  # lists that are read at once, as for a job; of more lists, each when it is asked for
LARGER = 2  # an array takes a free place of at most so many times its own bytes


class Spilled:
    """An array on the store. Its place is free for others as soon as nobody holds this object."""

    def __init__(self, executor: SpillExecutor, array: Array) -> None:
        self._executor, self.shape, self.dtype = executor, array.shape, array.dtype
        self._size, self._place = executor.free_place(array.nbytes)
        self.stored = executor.store.store(array.ravel(), self._place)
        if self._place is None:
            self._place = self.stored

    def __len__(self) -> int:
        return int(self.shape[0])

    def __del__(self) -> None:
        self._executor.free(self._size, self._place)


@dataclass(frozen=True)
class Unread:
    """A value that is read anew each time that a task asks for it, such as rows of a frame."""

    read: Callable[[], Any]


class Items(Sequence[Any]):
    """The lists of arrays of all blocks: each is read when it is asked for."""

    def __init__(self, executor: SpillExecutor, items: Sequence[Any]) -> None:
        self._executor, self._items = executor, items

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return Items(self._executor, self._items[place])
        return self._executor.gather(self._items[place])


class SpillExecutor(LocalExecutor):
    """The tasks of one call, whose arrays are kept on a block store.

    Parameters
    ----------
    store : BlockStore
    array : type
        The type of the arrays where the engine works.
    """

    kind = "frame"

    def __init__(self, store: BlockStore[Any], array: type[Any]) -> None:
        self.store, self._array = store, array
        self._places: list[tuple[int, int, Any]] = []  # free ones: bytes, a tie-breaker, the place
        self._given_back: list[tuple[int, Any]] = []
        self._freed = 0

    def workers(self) -> list[Worker]:
        """Return this process."""
        return [Worker("this process", 1, 0)]

    def submit(
        self, stage: str, function: Any, *args: Any, on: str | None = None, first: bool = False
    ) -> Task:
        """Run a function now; keep the arrays that it returns on the store."""
        if args and args[0] is operator.getitem:  # an item of a list: no array is read
            _, several, place = args
            return several[place]
        return self.keep(self.run(function, *args))

    def run(self, function: Any, *args: Any) -> Any:
        """Run a function now; return its result as it is."""
        seen: dict[int, Any] = {}
        return function(*(self._read(arg, seen) for arg in args))

    def keep(self, result: Any) -> Task:
        """Return a result whose arrays are on the store; it may be an argument of tasks."""
        kept = self._keep(result)
        if kept is not result:
            self.store.release()
        return kept

    def gather(self, tasks: Any) -> Any:
        """Read results."""
        return self._read(tasks, {})

    def _keep(self, result: Any) -> Any:
        if isinstance(result, self._array) and result.ndim:
            return Spilled(self, result)
        if type(result) in (list, tuple):
            return type(result)(map(self._keep, result))
        return result

    def _read(self, value: Any, seen: dict[int, Any]) -> Any:
        """Read the arguments of a task; one that occurs twice is read once."""
        if isinstance(value, Spilled):
            return self.store.load(value.stored).reshape(value.shape)
        if isinstance(value, Unread):
            return value.read()
        if type(value) is dict:
            return {name: self._read(item, seen) for name, item in value.items()}
        if type(value) not in (list, tuple):
            return value
        if type(value) is list and len(value) > OF_JOB and type(value[0]) is list:
            return Items(self, value)
        if id(value) not in seen:
            seen[id(value)] = type(value)(self._read(item, seen) for item in value)
        return seen[id(value)]

    def free_place(self, size: int) -> tuple[int, Any]:
        """Find a free place of at least so many bytes; return its bytes and the place.

        If there is none, the bytes are `size`, and the place is None.
        """
        while self._given_back:
            self._freed += 1
            larger, place = self._given_back.pop()
            insort(self._places, (larger, self._freed, place))
        at = bisect_left(self._places, (size, 0))
        if at < len(self._places) and self._places[at][0] <= LARGER * size:
            size, _, place = self._places.pop(at)
            return size, place
        return size, None

    def free(self, size: int, place: Any) -> None:
        """Free a place of so many bytes; nothing was stored if it is None.

        Garbage may be collected at any time, so the sorted list of places is not touched here.
        """
        if place is not None:
            self._given_back.append((size, place))
