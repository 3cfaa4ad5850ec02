"""Run CUDA kernels on a CPU, for tests on machines without a card."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy

from . import _build, _launch
from ._launch import HostKernel, Work, measure, thread_order
from ._sanitize import run_sanitized, sanitizer

__all__ = [
    "HostKernel",
    "Work",
    "compile",
    "host_engine",
    "measure",
    "run_sanitized",
    "sanitizer",
    "thread_order",
]


def compile(
    source: str, names: Sequence[str], options: Sequence[str] = ()
) -> dict[str, HostKernel]:
    """Compile kernels for the emulator."""
    return _launch.load(_build.build(source, names, options, sanitizer()), names)


@contextmanager
def host_engine() -> Iterator[Any]:
    """Serve pandas frames by the CUDA engine, its kernels on the emulator."""
    from .._backend import emulator
    from ..engines.cuda import CudaEngine

    engine = CudaEngine(xp=numpy, compile=compile)
    token = emulator.set(engine)
    try:
        yield engine
    finally:
        emulator.reset(token)
