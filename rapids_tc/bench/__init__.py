"""The clock of ``rapids-tc bench`` and of ``benchmarks/``, and the libraries that it times.

A `Contestant` is a library with the graph that it builds from a frame and the jobs that are timed.
`run` takes a contestant through its jobs, `measure` is the clock, and an `AnswerCheck` compares all
answers.
"""

from rapids_tc.bench.clock import AnswerCheck, DisagreementError, Job, Timing, TooLongError, measure
from rapids_tc.bench.contestants import Contestant, ours, run
from rapids_tc.bench.other_libraries import OTHER_LIBRARIES, installed, not_installed

__all__ = [
    "OTHER_LIBRARIES",
    "AnswerCheck",
    "Contestant",
    "DisagreementError",
    "Job",
    "Timing",
    "TooLongError",
    "installed",
    "measure",
    "not_installed",
    "ours",
    "run",
]
