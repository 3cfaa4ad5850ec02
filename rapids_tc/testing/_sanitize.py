"""Kernels under AddressSanitizer or ThreadSanitizer.

A sanitizer's library must be in the process before everything else, so such kernels run in a
process started for them, with the library preloaded. Reports go to a file; a launch that adds to
it raises what was added.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from . import _build

_CHOSEN, _REPORTS = "RAPIDS_TC_SANITIZER", "RAPIDS_TC_SANITIZER_REPORTS"
_LIBRARIES = {"address": ("asan", "stdc++"), "thread": ("tsan", "stdc++")}
_ADDR_NO_RANDOMIZE = 0x0040000

_read: dict[Path, int] = {}  # report file: bytes raised already


def sanitizer() -> str | None:
    """The sanitizer of this process: ``"address"``, ``"thread"`` or None."""
    return os.environ.get(_CHOSEN) or None


def run_sanitized(
    sanitizer: str, arguments: Sequence[str], *, timeout: float | None = None
) -> subprocess.CompletedProcess[str]:
    """Run Python with ``arguments``; every kernel in it is compiled with the sanitizer.

    Parameters
    ----------
    sanitizer : {"address", "thread"}
        "address" finds overruns of arrays and of shared memory (AddressSanitizer) and undefined
        arithmetic (UndefinedBehaviorSanitizer); "thread" finds races inside a block and between
        blocks (ThreadSanitizer). What is found is a `KernelError` of the launch.
    arguments : sequence of str
        For example ``["-m", "pytest", "tests/test_mine.py"]``.
    timeout : float, optional
        Seconds.

    Returns
    -------
    subprocess.CompletedProcess
        ``returncode`` and ``stdout``, which holds the standard error too, and the sanitizer's
        last words should the process have died of a fault.

    Raises
    ------
    KernelError
        There is no g++ or no such sanitizer.
    """
    preload = ":".join(_build.compiler_library(name) for name in _LIBRARIES[sanitizer])
    with tempfile.TemporaryDirectory() as folder:
        common = f"log_path='{folder}/{{}}':exitcode=0:handle_segv=1"
        environment = os.environ | {
            _CHOSEN: sanitizer,
            _REPORTS: folder,
            "LD_PRELOAD": preload,
            "ASAN_OPTIONS": common.format("address")
            + ":detect_leaks=0:halt_on_error=0:allocator_may_return_null=1",
            "UBSAN_OPTIONS": common.format("undefined") + ":print_stacktrace=1",
            "TSAN_OPTIONS": common.format("thread")
            + ":ignore_noninstrumented_modules=1:report_thread_leaks=0:history_size=4",
            # Threads of a library that no sanitizer has seen only cost time.
            "OPENBLAS_NUM_THREADS": "1",
        }
        done = subprocess.run(
            [sys.executable, *arguments],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=timeout,
            preexec_fn=_fixed_addresses,
        )
        if done.returncode < 0:
            done.stdout += "".join(path.read_text() for path in sorted(Path(folder).iterdir()))
    return done


def _fixed_addresses() -> None:
    """TSan's shadow has room for few of the places where a randomised layout may put things."""
    import ctypes

    ctypes.CDLL(None).personality(_ADDR_NO_RANDOMIZE)


def new_report() -> str:
    """What this process's sanitizer has written since the last call."""
    if sanitizer() is None:
        return ""
    text = ""
    for path in sorted(Path(os.environ[_REPORTS]).glob(f"*.{os.getpid()}")):
        with path.open(errors="replace") as file:
            file.seek(_read.get(path, 0))
            text += file.read()
            _read[path] = file.tell()
    return _short(text)


def _short(report: str) -> str:
    """The report without addresses of Python's own frames."""
    return re.sub(r"^ *#\d+ .*(python|libffi|_ctypes).*\n", "", report, flags=re.M).strip()
