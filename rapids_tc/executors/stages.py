"""The stages of a call on a cluster, which are named for the tasks that the call waits for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rapids_tc._progress import Report
    from rapids_tc.executors.protocol import Task

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
