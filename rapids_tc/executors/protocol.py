"""The protocol of executors: where the tasks of a call on a partitioned frame run.

An executor for another system is one module with such a class, and one line in
`rapids_tc.executors.registry`.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from rapids_tc.errors import KernelError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rapids_tc._progress import Choice
    from rapids_tc._typing import EngineName
    from rapids_tc.frames.backend import Frame

Task = Any  # stands for the result of a function that runs somewhere
Name = TypeVar("Name")


class ReadAgainError(KernelError):
    """Rows differ from those of a first read, because what that had kept was lost: call again."""


@dataclass(frozen=True)
class Worker:
    """A worker: its address, its cores, and its memory in bytes (0: no limit)."""

    address: str
    threads: int
    memory: int


@dataclass(frozen=True)
class Batch:
    """Partitions that one worker holds and works on together, with their places in the frame."""

    worker: str
    places: list[int]
    partitions: list[Task]


class Executor(AbstractContextManager["Executor"], Protocol):
    """The tasks of one call on one partitioned frame. Leaving the block forgets the tasks.

    The constructor takes the frame and ``progress``; it does no work and waits for nothing.

    Attributes
    ----------
    kind : str
        What users call such a frame, such as "Dask DataFrame".
    meta : DataFrame
        A frame without rows that has the columns and dtypes of the partitions.
    """

    @property
    def kind(self) -> str:
        """What users call such a frame."""

    @property
    def meta(self) -> Frame:
        """A frame without rows."""

    @property
    def engine(self) -> EngineName | None:
        """The engine of the workers, if it is another than frames like `meta` have."""

    @property
    def npartitions(self) -> int:
        """The partitions of the user's frame; a call may read several of them as one."""

    def is_held(self) -> bool:
        """Return whether the partitions are there already, and need not be computed."""

    def rows(self) -> int | None:
        """Return the rows of a frame that is not computed yet; None if they are not known."""

    def renewed(self, progress: Choice) -> Executor:
        """Return the executor of a call on a `Graph` that this one has prepared.

        Its tasks may take the results of the tasks of this one. Its kind says that it is of a
        graph.
        """

    def beside(self, frame: Any) -> Executor:
        """Return an executor of the same call for another frame of the same kind.

        Tasks of this executor may take the results of the other, which is not entered.
        """

    def workers(self) -> list[Worker]:
        """List the workers, once there is any; KernelError if they have other versions."""

    def partitions(self, labels: Sequence[Any] | None) -> list[Task]:
        """Evaluate the partitions once, in order, with some columns or all.

        KeyError if a partition lacks a column.
        """

    def heads(self) -> list[Frame]:
        """Return every partition without its rows."""

    def holder(self, partitions: list[Task]) -> tuple[str, int] | None:
        """Return the worker that holds most of evaluated partitions, and the bytes of all.

        None if they are not to be moved to one worker.
        """

    def batches(
        self, partitions: list[Task], workers: list[Worker], limit: int | None
    ) -> list[Batch]:
        """Group the partitions by the worker that holds them, together while they are small."""

    def submit(
        self, stage: str, function: Any, *args: Any, on: str | None = None, first: bool = False
    ) -> Task:
        """Run a function of the results of tasks, at a worker of choice, or before others."""

    def submit_to_new(self, stage: str, function: Any, *args: Any) -> None:
        """Run a function, whose result nobody asks for, at each worker that has run none such."""

    def gather(self, tasks: Any) -> Any:
        """Wait for tasks, and return their results."""

    def as_completed(
        self, tasks: Iterator[tuple[Name, Task]], at_once: int, total: int
    ) -> Iterator[tuple[Name, Task]]:
        """Yield all `total` named tasks as they end, drawing (so submitting) a few at a time."""

    def to_frame(self, parts: list[Task], meta: Frame, lengths: list[int] | None) -> Frame:
        """Make a partitioned frame of the frames that tasks return.

        `lengths` are the rows of each part, numbered through; without it the parts are aligned with
        the partitions of the user's frame.
        """

    def small_table(self, table: Any) -> Any:
        """Return a small table of this process, or a value, as users of such frames want it."""

    def in_process(self, values: Any) -> Any:
        """Return values that may be partitioned, such as ``vertices=``, in this process."""


def split_batches(
    batches: list[Batch], rows: list[list[int]], most: int
) -> tuple[list[Batch], list[list[int]]]:
    """Split batches so that each has at most so many rows, or one partition.

    `rows` are those of the partitions of each batch; the new ones are returned behind the batches.
    """
    result: list[Batch] = []
    result_rows: list[list[int]] = []
    for batch, sizes in zip(batches, rows, strict=True):
        first = len(result)
        for place, partition, size in zip(batch.places, batch.partitions, sizes, strict=True):
            if len(result) == first or sum(result_rows[-1]) + size > most:
                result.append(Batch(batch.worker, [], []))
                result_rows.append([])
            result[-1].places.append(place)
            result[-1].partitions.append(partition)
            result_rows[-1].append(size)
    return result, result_rows
