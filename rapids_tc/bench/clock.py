"""The clock, and the referee who compares what was answered."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

from rapids_tc.errors import KernelError


def _nothing() -> None:
    """A library whose calls are done when they return needs no waiting for."""


@dataclass(frozen=True)
class Job:
    """A figure to take.

    Attributes
    ----------
    tool : str
        Who works, such as ``"rapids_tc cuda polak"`` or ``"igraph"``.
    what : str
        Which figure, such as ``"count"`` or ``"frame to count"``.
    call : callable
        What is timed; it takes what `run` hands it, a frame or what was built of one.
    answer : callable
        Of what `call` returned, the number that other tools must give too; it is not timed.
    question : str
        What that number is of: answers to one question are compared.
    wait : callable
        Returns when all that was queued is done.
    """

    tool: str
    what: str
    call: Callable[[Any], Any]
    answer: Callable[[Any], int] = int
    question: str = "triangles"
    wait: Callable[[], None] = _nothing


@dataclass(frozen=True)
class Timing:
    """Seconds of a job: of the first call, which warms up, and of those after it."""

    job: Job
    first: float
    times: tuple[float, ...]
    answer: int

    @property
    def seconds(self) -> float:
        """The median of the calls after the first."""
        return median(self.times)

    @property
    def least(self) -> float:
        return min(self.times)

    @property
    def most(self) -> float:
        return max(self.times)


class TooLongError(Exception):
    """A first call took longer than patience allows; `seconds` of it."""

    def __init__(self, seconds: float, patience: float) -> None:
        super().__init__(f"a call took {seconds:.3g} s, patience is {patience:.3g} s")
        self.seconds = seconds


def measure(job: Job, given: Any, *, repeat: int, patience: float = math.inf) -> Timing:
    """Time a job: a first call and `repeat` more, fewer where they would exceed `patience`.

    Raises
    ------
    TooLongError
        The first call took longer than `patience` seconds.
    """
    times: list[float] = []
    answer: Any = None
    while len(times) <= repeat:
        answer = None  # an array of the call before would be held through the next
        job.wait()
        start = time.perf_counter()
        answer = job.call(given)
        job.wait()
        times.append(time.perf_counter() - start)
        if times[0] > patience:
            raise TooLongError(times[0], patience)
        if len(times) > 1 and sum(times[1:]) + times[-1] > patience:
            break
    return Timing(job, times[0], tuple(times[1:]), job.answer(answer))


class DisagreementError(KernelError):
    """Two tools gave different answers to one question."""


class AnswerCheck:
    """Compares the answers that were given about one graph."""

    def __init__(self, known: dict[str, int] | None = None) -> None:
        """`known` are answers by question that hold without counting."""
        self._heard = {question: ("the closed form", n) for question, n in (known or {}).items()}

    def answer(self, question: str) -> int | None:
        """What everybody answered; None where nobody was asked."""
        return self._heard[question][1] if question in self._heard else None

    def hear(self, timing: Timing) -> None:
        """Take an answer.

        Raises
        ------
        DisagreementError
            Somebody gave another answer to the same question before.
        """
        job = timing.job
        tool, answer = self._heard.setdefault(job.question, (job.tool, timing.answer))
        if answer != timing.answer:
            raise DisagreementError(
                f"they disagree on {job.question}: {answer:,} says {tool}, "
                f"{timing.answer:,} says {job.tool} ({job.what})"
            )
