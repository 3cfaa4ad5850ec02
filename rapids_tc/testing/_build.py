"""From one source string to a library of kernels, by g++, kept in the user's cache."""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from .._cache import cache_directory
from ..errors import KernelError

_HERE = Path(__file__).parent
_RUNTIME = _HERE / "host_runtime.cpp"
_HEADERS = tuple(
    _HERE / f"{name}.hpp" for name in ("cuda_host", "host_runtime", "host_threads", "host_fibers")
)
# addr2line takes #line for what it says in version 4 only.
_COMMON = ("-std=c++17", "-fPIC", "-shared", "-fvisibility=hidden", "-w", "-g1", "-gdwarf-4")
# Kernels may look at the same bytes by two types, as nvcc lets them.
_KERNEL = ("-fno-strict-aliasing", "-fno-omit-frame-pointer")
_CHECKS = {
    None: ("-O2",),
    "address": ("-O1", "-fsanitize=address,undefined", "-fsanitize-recover=all"),
    "thread": ("-O1", "-fsanitize=thread"),
}
_TOLD = {None: (), "address": ("-DRTC_ASAN",), "thread": ("-DRTC_TSAN",)}  # the runtime


def build(source: str, names: Sequence[str], options: Sequence[str], sanitizer: str | None) -> Path:
    """The library that holds these kernels, compiled unless it is in the cache."""
    macros = tuple(option for option in options if option.startswith(("-D", "-U")))
    exports = "".join(f"RTC_KERNEL({i}, {name})\n" for i, name in enumerate(names))
    text = f'#include "{_HEADERS[0].name}"\n{source}\n#line 1 "exports"\n{exports}'
    return _made(text, (*_KERNEL, *_CHECKS[sanitizer], *macros))


def build_runtime(sanitizer: str | None) -> Path:
    """The scheduler's library: one for all kernels, which find its functions when they are loaded.

    Compiled without the sanitizer, so that its own memory is no part of reports.
    """
    text = f'#line 1 "{_RUNTIME.name}"\n{_RUNTIME.read_text()}'
    return _made(text, ("-O2", *_TOLD[sanitizer]))


def _made(text: str, flags: Sequence[str]) -> Path:
    compiler, version = _compiler()
    command = [compiler, *_COMMON, *flags]
    headers = [header.read_text() for header in _HEADERS]
    parts = (text, *headers, *command, version, platform.machine())
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]
    made = cache_directory("emulator") / f"{key}.so"
    if not made.exists():
        # Made beside its place and renamed, so that no process sees half a library.
        with tempfile.TemporaryDirectory(dir=made.parent) as folder:
            written, result = Path(folder, "kernels.cpp"), Path(folder, made.name)
            written.write_text(text)
            run = [*command, f"-I{_HERE}", str(written), "-o", str(result)]
            done = subprocess.run(run, capture_output=True, text=True, errors="replace")
            if done.returncode:
                raise KernelError(f"{compiler} cannot compile the kernel:\n{done.stderr}")
            os.replace(result, made)
    return made


@functools.cache
def _compiler() -> tuple[str, str]:
    """The compiler's path and what it says of itself."""
    path = shutil.which(os.environ.get("CXX", "g++"))
    if path is None:
        raise KernelError(
            "the emulator compiles kernels with g++, and there is none: install it "
            "(Debian: apt install g++, conda: conda install gxx) or name a compiler in CXX"
        )
    return path, subprocess.run([path, "--version"], capture_output=True, text=True).stdout


def tool(name: str) -> str:
    """The compiler's own program of that name, of its binutils."""
    return _asked("prog", name)


def compiler_library(name: str) -> str:
    """Path of the compiler's own ``lib<name>.so``."""
    path = _asked("file", f"lib{name}.so")
    if not os.path.isabs(path):
        raise KernelError(f"{_compiler()[0]} has no lib{name}.so: install its sanitizers")
    return path


def _asked(what: str, name: str) -> str:
    command = [_compiler()[0], f"-print-{what}-name={name}"]
    return subprocess.run(command, capture_output=True, text=True).stdout.strip()
