"""The peak of the memory that a call takes, on top of the memory in use before it."""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def peak(call: Callable[[], Any], library: str) -> int:
    """Measure the peak bytes of a call: of the GPU for cuDF, else of the process."""
    return _on_gpu(call) if library == "cudf" else _of_process(call)


def _on_gpu(call: Callable[[], Any]) -> int:
    """Measure by RMM, from which cuDF, cuGraph and, through cuDF, CuPy allocate.

    What counts is a resource of the user's, so that calls of rapids_tc have no pool of their own.
    """
    import rmm.statistics

    gc.collect()
    with rmm.statistics.statistics():
        call()
        return int(rmm.statistics.get_statistics().peak_bytes)


def _of_process(call: Callable[[], Any]) -> int:
    """Measure resident memory, which unlike tracemalloc includes allocations of C++."""
    gc.collect()
    if "pyarrow" in sys.modules:  # memory that was freed before does not belong to this call
        sys.modules["pyarrow"].default_memory_pool().release_unused()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")  # the high-water mark starts anew
    before = _status("VmRSS")
    call()
    return max(0, _status("VmHWM") - before)


def _status(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(name))
