"""The peak of the memory that a call takes, on top of what is held when it starts."""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def peak(call: Callable[[], Any], library: str) -> int:
    """Bytes at the height of a call: on the card for cuDF, else of the process."""
    return _on_card(call) if library == "cudf" else _of_process(call)


def _on_card(call: Callable[[], Any]) -> int:
    """Counted by RMM, from which cuDF, cuGraph and, by cuDF, CuPy allocate."""
    import rmm.statistics

    gc.collect()
    with rmm.statistics.statistics():
        call()
        return int(rmm.statistics.get_statistics().peak_bytes)


def _of_process(call: Callable[[], Any]) -> int:
    """Resident memory, by Linux: unlike tracemalloc it sees what C++ allocates."""
    gc.collect()
    if "pyarrow" in sys.modules:  # what was freed before is no memory of this call
        sys.modules["pyarrow"].default_memory_pool().release_unused()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")  # the high-water mark starts anew
    before = _status("VmRSS")
    call()
    return max(0, _status("VmHWM") - before)


def _status(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(name))
