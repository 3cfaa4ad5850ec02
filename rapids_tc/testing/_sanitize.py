"""Kernels under AddressSanitizer or ThreadSanitizer.

A sanitizer's library must be in the process before everything else, so such kernels run in a
process started for them, with the library preloaded. Reports go to a file; a launch that adds to
it raises what was added.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rapids_tc.errors import KernelError
from rapids_tc.testing import _build, _report

_CHOSEN, _REPORTS = "RAPIDS_TC_SANITIZER", "RAPIDS_TC_SANITIZER_REPORTS"
_LIBRARIES = {"address": ("asan", "ubsan"), "thread": ("tsan",)}
_OPTIONS = {
    "ASAN_OPTIONS": "detect_leaks=0:halt_on_error=0:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    # Only kernels count; a race is told again when its array comes back at another's address.
    "TSAN_OPTIONS": "ignore_noninstrumented_modules=1:report_thread_leaks=0"
    ":suppress_equal_addresses=0:history_size=0",
}
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
        ``returncode`` and ``stdout``, which holds the standard error too. Should a fault have
        killed the process, its code is not 0 and the sanitizer's last words are there.

    Raises
    ------
    KernelError
        There is no g++ or no such sanitizer, or this is not Linux.
    """
    if sys.platform != "linux":
        raise KernelError("sanitizers are preloaded by LD_PRELOAD, which needs Linux")
    # The C++ library too: a sanitizer looks for the functions that throw when it starts.
    libraries = (_LIBRARIES[sanitizer][0], "stdc++")
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {
            _CHOSEN: sanitizer,
            _REPORTS: folder,
            "LD_PRELOAD": ":".join(map(_build.compiler_library, libraries)),
            # Threads of a library that no sanitizer has seen only cost time.
            "OPENBLAS_NUM_THREADS": "1",
        }
        for name, options in _OPTIONS.items():
            environment[name] = f"{options}:exitcode=0:symbolize=0"
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
        if any(Path(folder).glob("*.running")):
            done.returncode = done.returncode or 1
            done.stdout += _report.readable(_text(Path(folder), "*"))
    return done


def _fixed_addresses() -> None:
    """TSan's shadow has room for few of the places where a randomised layout may put things."""
    ctypes.CDLL(None).personality(_ADDR_NO_RANDOMIZE)


@functools.cache
def collect_reports() -> None:
    """From here on, reports go to files of this process, not to the standard error."""
    if chosen := sanitizer():
        for name in _LIBRARIES[chosen]:
            library = ctypes.CDLL(_build.compiler_library(name))
            library.__sanitizer_set_report_path(os.fsencode(f"{os.environ[_REPORTS]}/{name}"))
        # Sanitizers end a process with a code of theirs, which has to be 0 for those that go on.
        running = Path(os.environ[_REPORTS], f"{os.getpid()}.running")
        running.touch()
        atexit.register(running.unlink)


def new_report() -> str:
    """What this process's sanitizer has written since the last call."""
    if sanitizer() is None:
        return ""
    return _report.readable(_text(Path(os.environ[_REPORTS]), f"*.{os.getpid()}"))


def _text(folder: Path, pattern: str) -> str:
    """What was added to files since the last call."""
    text = ""
    for path in sorted(folder.glob(pattern)):
        with path.open(errors="replace") as file:
            file.seek(_read.get(path, 0))
            text += file.read()
            _read[path] = file.tell()
    return text
