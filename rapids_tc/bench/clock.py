"""The clock, and the comparison of the answers."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any, TypeVar

from rapids_tc.errors import KernelError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


_Answer = TypeVar("_Answer")
_Name = TypeVar("_Name")


def _nothing() -> None:
    """Wait for nothing: the calls of most libraries are done when they return."""


@dataclass(frozen=True)
class Job:
    """A figure to measure.

    Attributes
    ----------
    tool : str
        The library, such as ``"rapids_tc cuda polak"`` or ``"igraph"``.
    what : str
        The name of the figure, such as ``"count"`` or ``"frame to count"``.
    call : callable
        The timed function. Its argument is the frame, or the graph built from the frame.
    answer : callable
        Turns the result of `call` into a number that other tools must agree on; it is not timed.
    question : str
        The quantity that the number measures: answers to one question are compared.
    wait : callable
        Returns when all queued work is done.
    """

    tool: str
    what: str
    call: Callable[[Any], Any]
    answer: Callable[[Any], int] = int
    question: str = "triangles"
    wait: Callable[[], None] = _nothing


@dataclass(frozen=True)
class Times:
    """Seconds of a first call, which warms up, and of the calls after it."""

    first: float
    times: tuple[float, ...]

    @property
    def seconds(self) -> float:
        """The median of the calls after the first."""
        return median(self.times)

    @property
    def least(self) -> float:
        """The fastest of the calls after the first."""
        return min(self.times)

    @property
    def most(self) -> float:
        """The slowest of the calls after the first."""
        return max(self.times)

    @property
    def line(self) -> dict[str, float]:
        """The figures of a line of a results file."""
        spread = {"seconds": self.seconds, "least": self.least, "most": self.most}
        return spread | {"repeat": len(self.times), "first": self.first}


@dataclass(frozen=True)
class Timing(Times):
    """The times of a job, and its answer."""

    job: Job
    answer: int


class TooLongError(Exception):
    """A first call that took longer than the timeout, with its `seconds`."""

    def __init__(self, seconds: float, timeout: float) -> None:
        super().__init__(f"a call took {seconds:.3g} s, patience is {timeout:.3g} s")
        self.seconds = seconds


def clocked(
    call: Callable[[], _Answer], wait: Callable[[], None] = _nothing
) -> tuple[float, _Answer]:
    """Return the seconds of a call, until all that it queued is done, and its answer."""
    wait()
    start = time.perf_counter()
    answer = call()
    wait()
    return time.perf_counter() - start, answer


def take_turns(
    calls: Mapping[_Name, Callable[[], Any]],
    repeat: int,
    *,
    wait: Callable[[], None] = _nothing,
    seen: Callable[[_Name, Any], None] = lambda name, answer: None,
) -> dict[_Name, Times]:
    """Time a first call and `repeat` more of each, in turns.

    What else the machine does slows all of them alike. `seen` gets every answer, and is not timed.
    """
    times: dict[_Name, list[float]] = {name: [] for name in calls}
    for _ in range(repeat + 1):
        for name, call in calls.items():
            seconds, answer = clocked(call, wait)
            seen(name, answer)
            del answer  # free its arrays before the next call
            times[name].append(seconds)
    return {name: Times(first, tuple(rest)) for name, (first, *rest) in times.items()}


def measure(job: Job, data: Any, *, repeat: int, timeout: float = math.inf) -> Timing:
    """Time a first call and `repeat` more, or fewer if these would exceed `timeout` seconds.

    Raises
    ------
    TooLongError
        The first call took longer than `timeout` seconds.
    """
    times: list[float] = []
    result: Any = None
    while len(times) <= repeat:
        result = None  # free the arrays of one call before the next
        seconds, result = clocked(partial(job.call, data), job.wait)
        times.append(seconds)
        if times[0] > timeout:
            raise TooLongError(times[0], timeout)
        if len(times) > 1 and sum(times[1:]) + times[-1] > timeout:
            break
    return Timing(times[0], tuple(times[1:]), job, job.answer(result))


class DisagreementError(KernelError):
    """Two different answers to one question."""


class AnswerCheck:
    """The answers to questions about one graph, compared as they arrive.

    Parameters
    ----------
    answers : dict of str to int, optional
        Answers by question that closed forms give.
    """

    def __init__(self, answers: dict[str, int] | None = None) -> None:
        self._answers = {
            question: ("the closed form", answer) for question, answer in (answers or {}).items()
        }

    def answer(self, question: str) -> int | None:
        """Return the answer to a question; None if no tool has answered it."""
        return self._answers[question][1] if question in self._answers else None

    def add(self, timing: Timing) -> None:
        """Compare an answer with the earlier answers to its question.

        Raises
        ------
        DisagreementError
            An earlier answer to the same question is different.
        """
        job = timing.job
        tool, answer = self._answers.setdefault(job.question, (job.tool, timing.answer))
        if answer != timing.answer:
            raise DisagreementError(
                f"they disagree on {job.question}: {answer:,} says {tool}, "
                f"{timing.answer:,} says {job.tool} ({job.what})"
            )
