"""Submit tasks of one call to an executor, each with the context of the call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from rapids_tc.blocks.worker_tasks import WorkerContext
    from rapids_tc.executors.protocol import Batch, Executor, Task, Worker

FEW = 8  # results that every machine fetches; more results are combined first


class Submission:
    """Where and how the tasks of a call run.

    Parameters
    ----------
    executor : Executor
        Runs the tasks.
    context : WorkerContext
        The first argument of every task.
    workers, batches : list of Worker, list of Batch
        The machines, and the user's edges by the machine that has them.
    """

    def __init__(
        self,
        executor: Executor,
        context: WorkerContext,
        workers: list[Worker],
        batches: list[Batch],
    ) -> None:
        self.executor, self.context = executor, context
        self.workers, self.batches = workers, batches

    @property
    def workers_of_rows(self) -> list[str]:
        """The worker of each batch."""
        return [batch.worker for batch in self.batches]

    def submit(
        self,
        stage: str,
        chunk: Callable[..., Any],
        *args: Any,
        on: str | None = None,
        first: bool = False,
    ) -> Task:
        """Submit one task, with the context as its first argument."""
        return self.executor.submit(stage, chunk, self.context, *args, on=on, first=first)

    def map_batches(self, stage: str, chunk: Callable[..., Any], *several: Any) -> list[Task]:
        """Submit a task per batch, on its worker; a list in `several` has one item per batch."""
        return [
            self.submit(stage, chunk, *(s[i] if isinstance(s, list) else s for s in several), on=at)
            for i, at in enumerate(group.worker for group in self.batches)
        ]

    def tree(self, stage: str, chunk: Callable[..., Any], tasks: list[Task]) -> Task:
        """Combine results in pairs until one is left."""
        while len(tasks) > 1:
            pairs = [tasks[i : i + 2] for i in range(0, len(tasks), 2)]
            tasks = [self.submit(stage, chunk, p) if p[1:] else p[0] for p in pairs]
        return tasks[0]

    def combined(self, stage: str, chunk: Callable[..., Any], tasks: list[Task]) -> Task:
        """Combine results, a few at once, until one is left."""
        return self.submit(stage, chunk, self.few(stage, chunk, tasks))

    def few(self, stage: str, chunk: Callable[..., Any], tasks: list[Task]) -> list[Task]:
        """Combine results, a few at once, until few are left."""
        while len(tasks) > FEW:
            several = [tasks[i : i + FEW] for i in range(0, len(tasks), FEW)]
            tasks = [self.submit(stage, chunk, some) for some in several]
        return tasks
