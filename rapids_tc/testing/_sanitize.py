"""Kernels under AddressSanitizer or ThreadSanitizer.

A sanitizer's library must be in the process before everything else, so such kernels run in a
process of their own, with the library preloaded. Reports go to a file; a launch during which the
file grows raises what was added.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from rapids_tc.errors import KernelError
from rapids_tc.testing import _build, _report

if TYPE_CHECKING:
    from collections.abc import Sequence

_CHOSEN, _REPORTS = "RAPIDS_TC_SANITIZER", "RAPIDS_TC_SANITIZER_REPORTS"
_LIBRARIES = {"address": ("asan", "ubsan"), "thread": ("tsan",)}
_OPTIONS = {
    "ASAN_OPTIONS": "detect_leaks=0:halt_on_error=0:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    # Only kernels count; a race is reported again if its array comes back at another's address.
    "TSAN_OPTIONS": "ignore_noninstrumented_modules=1:report_thread_leaks=0"
    ":suppress_equal_addresses=0:history_size=0",
}
_ADDR_NO_RANDOMIZE = 0x0040000

_read: dict[Path, int] = {}  # of each report file, the bytes that were raised already


def sanitizer() -> str | None:
    """Return the sanitizer of this process: ``"address"``, ``"thread"`` or None."""
    return os.environ.get(_CHOSEN) or None


def run_sanitized(
    sanitizer: str, arguments: Sequence[str], *, timeout: float | None = None
) -> subprocess.CompletedProcess[str]:
    """Run Python with ``arguments``, and compile every kernel in that process with the sanitizer.

    Parameters
    ----------
    sanitizer : {"address", "thread"}
        "address" finds overruns of arrays and of shared memory (AddressSanitizer) and undefined
        arithmetic (UndefinedBehaviorSanitizer); "thread" finds races inside a block and between
        blocks (ThreadSanitizer). A fault raises a `KernelError` from the launch.
    arguments : sequence of str
        Such as ``["-m", "pytest", "tests/test_mine.py"]``.
    timeout : float, optional
        Seconds.

    Returns
    -------
    subprocess.CompletedProcess
        ``returncode`` and ``stdout``, which holds the standard error, too. If a fault has killed
        the process, the code is not 0, and ``stdout`` ends with the sanitizer's report.

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
            # Threads of a library that is compiled without sanitizers only cost time.
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
    """Turn off address randomisation: TSan's shadow memory covers few of the random layouts."""
    ctypes.CDLL(None).personality(_ADDR_NO_RANDOMIZE)


@functools.cache
def collect_reports() -> None:
    """Send reports to files of this process from now on, not to the standard error."""
    if chosen := sanitizer():
        for name in _LIBRARIES[chosen]:
            library = ctypes.CDLL(_build.compiler_library(name))
            library.__sanitizer_set_report_path(os.fsencode(f"{os.environ[_REPORTS]}/{name}"))
        # Sanitizers end a process with an exit code of their own, set to 0 for faults that are
        # raised: a file that is still there at the end tells a process that a fault has killed.
        running = Path(os.environ[_REPORTS], f"{os.getpid()}.running")
        running.touch()
        atexit.register(running.unlink)


def new_report() -> str:
    """Return what this process's sanitizer has written since the last call."""
    if sanitizer() is None:
        return ""
    return _report.readable(_text(Path(os.environ[_REPORTS]), f"*.{os.getpid()}"))


def _text(folder: Path, pattern: str) -> str:
    """Return what was added to files since the last call."""
    text = ""
    for path in sorted(folder.glob(pattern)):
        with path.open(errors="replace") as file:
            file.seek(_read.get(path, 0))
            text += file.read()
            _read[path] = file.tell()
    return text
