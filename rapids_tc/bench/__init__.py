"""The clock of ``rapids-tc bench`` and of ``benchmarks/``, and the libraries that it times.

A `Contestant` is a library with the graph that it builds from a frame and the jobs that are timed.
`run` takes a contestant through its jobs, `measure` times one, `take_turns` any calls, and an
`AnswerCheck` compares all answers.
"""

from rapids_tc.bench.clock import (
    AnswerCheck,
    DisagreementError,
    Job,
    Times,
    Timing,
    TooLongError,
    clocked,
    measure,
    take_turns,
)
from rapids_tc.bench.contestants import Contestant, ours, run
from rapids_tc.bench.other_libraries import OTHER_LIBRARIES, installed, not_installed

__all__ = [
    "OTHER_LIBRARIES",
    "AnswerCheck",
    "Contestant",
    "DisagreementError",
    "Job",
    "Times",
    "Timing",
    "TooLongError",
    "clocked",
    "installed",
    "measure",
    "not_installed",
    "ours",
    "run",
    "take_turns",
]
