"""Who counts a graph fastest: one clock for ``rapids-tc bench`` and for ``benchmarks/``.

A `Contender` is a library with what it builds of a frame and the jobs that are timed on it, `run`
leads one through its jobs, `measure` is the clock, and an `AnswerCheck` compares all the answers.
"""

from rapids_tc.bench.clock import AnswerCheck, DisagreementError, Job, Timing, TooLongError, measure
from rapids_tc.bench.contestants import Contender, ours, run
from rapids_tc.bench.other_libraries import NEIGHBOURS, installed

__all__ = [
    "NEIGHBOURS",
    "AnswerCheck",
    "Contender",
    "DisagreementError",
    "Job",
    "Timing",
    "TooLongError",
    "installed",
    "measure",
    "ours",
    "run",
]
