"""From one source string to a library of kernels, by g++, kept in the user's cache."""

from __future__ import annotations

import atexit
import functools
import hashlib
import os
import platform
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from rapids_tc._cache import cache_directory, load, store
from rapids_tc._compiling import clock
from rapids_tc.errors import KernelError

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
# g++ ignores __launch_bounds__, so the most threads per block are read from the source here, except
# for templates, whose bounds may depend on their arguments.
_BOUNDS = re.compile(
    r'extern "C" __global__ (?:void\s+)?__launch_bounds__\(\s*([^,()]+)[^()]*\)\s*(?:void\s+)?(\w+)'
)
_TOLD = {None: (), "address": ("-DRTC_ASAN",), "thread": ("-DRTC_TSAN",)}  # the runtime


def build(source: str, names: Sequence[str], options: Sequence[str], sanitizer: str | None) -> Path:
    """The library that holds these kernels, compiled unless it is in the cache."""
    macros = tuple(option for option in options if option.startswith(("-D", "-U")))
    bounds = {kernel: threads for threads, kernel in _BOUNDS.findall(source)}
    exports = "".join(
        f"RTC_KERNEL({i}, ({bounds.get(name, 0)}), {name})\n" for i, name in enumerate(names)
    )
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
    folder = cache_directory("emulator")
    # Loading a truncated library would kill the process: `load` checks the whole file first.
    if folder is not None and load(folder / f"{key}.so") is not None:
        return folder / f"{key}.so"
    private = _private_folder()
    written, made = private / f"{key}.cpp", private / f"{key}.so"
    with clock.running():
        written.write_text(text)
        run = [*command, f"-I{_HERE}", str(written), "-o", str(made)]
        done = subprocess.run(run, capture_output=True, text=True, errors="replace")
        written.unlink()
    if done.returncode:
        raise KernelError(f"{compiler} cannot compile the kernel:\n{done.stderr}")
    if folder is not None:
        with suppress(OSError):  # the disk is full: the library stays where it was made
            store(folder / made.name, made.read_bytes())
            made.unlink()
            return folder / made.name
    return made


def library(name: str) -> Path:
    """Return the path of a library that this process has loaded, given its name."""
    made = _private_folder() / name
    folder = cache_directory("emulator")
    return made if folder is None or made.exists() else folder / name


@functools.cache
def _private_folder() -> Path:
    """Return this process's own folder, where libraries are made, and stay if there is no cache."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="rapids_tc-"))
    except OSError as error:
        raise KernelError(
            f"the emulator compiles kernels in a temporary folder, and cannot make one ({error}): "
            "name a folder that can be written in TMPDIR"
        ) from error
    atexit.register(_remove, folder, os.getpid())
    return folder


def _remove(folder: Path, process: int) -> None:
    if os.getpid() == process:  # a forked child must not remove it
        shutil.rmtree(folder, ignore_errors=True)


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
