"""An executor without a cluster: every task runs in this process, at once and in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rapids_tc.executors.protocol import Batch, Name, Task, Worker
from rapids_tc.frames.adapters import root

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import TracebackType
    from typing import Self

    from rapids_tc._progress import Choice
    from rapids_tc.frames.backend import Frame

WORKERS = 3  # that this process pretends to be


@dataclass(frozen=True)
class PartitionedFrame:
    """A frame in partitions of this process, each a pandas or cuDF frame, at least one."""

    partitions: list[Frame]

    def __post_init__(self) -> None:
        """Raise TypeError or ValueError unless there are partitions."""
        if not isinstance(self.partitions, list | tuple):
            raise TypeError(
                f"partitions is a {type(self.partitions).__name__}; give a list of pandas or cuDF "
                "DataFrames"
            )
        if not self.partitions or root(self.partitions[0]) not in ("pandas", "cudf"):
            raise ValueError(
                "the columns are those of the first of the partitions: give at least one pandas "
                "or cuDF DataFrame, which may have no rows"
            )


class LocalExecutor:
    """The tasks of one call on a `PartitionedFrame`."""

    kind = "PartitionedFrame"
    engine = None

    def __init__(self, edges: Any, progress: bool | None) -> None:
        self.edges, self.progress = edges, progress

    @property
    def meta(self) -> Frame:
        """The first partition without its rows."""
        return self.edges.partitions[0].iloc[:0]

    @property
    def npartitions(self) -> int:
        """The number of partitions."""
        return len(self.edges.partitions)

    def is_held(self) -> bool:
        """Return True: the partitions are in this process."""
        return True

    def rows(self) -> int | None:
        """Return None: nobody asks it of partitions that are there."""
        return None

    def renewed(self, progress: Choice) -> Self:
        """Return another executor of the frame."""
        other = type(self)(self.edges, progress)
        other.kind = f"Graph of a {self.kind}"
        return other

    def beside(self, frame: Any) -> LocalExecutor:
        """Return the executor of another frame."""
        return type(self)(frame, self.progress)

    def __enter__(self) -> LocalExecutor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        return None

    def workers(self) -> list[Worker]:
        """List workers that are all this process."""
        return [Worker(f"local-{number}", 1, 0) for number in range(WORKERS)]

    def partitions(self, labels: Sequence[Any] | None) -> list[Task]:
        """Return the partitions, with some columns or all."""
        frames = self.edges.partitions
        return frames if labels is None else [frame[list(labels)] for frame in frames]

    def heads(self) -> list[Frame]:
        """Return every partition without its rows."""
        return [frame.iloc[:0] for frame in self.edges.partitions]

    def holder(self, partitions: list[Task]) -> None:
        """Return None: all partitions are in this process, which pretends to be several."""

    def batches(
        self, partitions: list[Task], workers: list[Worker], limit: int | None
    ) -> list[Batch]:
        """Deal the partitions out, so that every worker has two batches if there are enough."""
        batches = [Batch(worker.address, [], []) for worker in [*workers, *workers]]
        for place, partition in enumerate(partitions):
            batch = batches[place % len(batches)]
            batch.places.append(place)
            batch.partitions.append(partition)
        return [batch for batch in batches if batch.places]

    def submit(
        self, stage: str, function: Any, *args: Any, on: str | None = None, first: bool = False
    ) -> Task:
        """Run a function now; its result is the task."""
        return function(*args)

    def submit_to_new(self, stage: str, function: Any, *args: Any) -> None:
        """Do nothing: this process is no new worker."""

    def gather(self, tasks: Any) -> Any:
        """Return the tasks, which are their own results."""
        return tasks

    def as_completed(
        self, tasks: Iterator[tuple[Name, Task]], at_once: int, total: int
    ) -> Iterator[tuple[Name, Task]]:
        """Yield the tasks in order."""
        return tasks

    def to_frame(self, parts: list[Task], meta: Frame, lengths: list[int] | None) -> Frame:
        """Make a `PartitionedFrame` of frames."""
        return PartitionedFrame(parts)

    def small_table(self, table: Any) -> Any:
        """Return it as it is."""
        return table

    def in_process(self, values: Any) -> Any:
        """Return the values as they are."""
        return values
