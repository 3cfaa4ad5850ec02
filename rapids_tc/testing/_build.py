"""Libraries of kernels, compiled by g++ from one source string each, in the user's cache."""

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
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from rapids_tc._cache import cache_directory, load, store
from rapids_tc._compiling import compiling
from rapids_tc.errors import KernelError

if TYPE_CHECKING:
    from collections.abc import Sequence

_HERE = Path(__file__).parent
_RUNTIME = _HERE / "host_runtime.cpp"
_HEADERS = tuple(
    _HERE / f"{name}.hpp" for name in ("cuda_host", "host_runtime", "host_threads", "host_fibers")
)
# addr2line honours #line in version 4 of DWARF only.
_COMMON = ("-std=c++17", "-fPIC", "-shared", "-fvisibility=hidden", "-w", "-g1", "-gdwarf-4")
# Kernels may read the same bytes as two types, which nvcc allows.
_KERNEL = ("-fno-strict-aliasing", "-fno-omit-frame-pointer")
_CHECKS = {
    None: ("-O1",),
    "address": ("-O1", "-fsanitize=address,undefined", "-fsanitize-recover=all"),
    "thread": ("-O1", "-fsanitize=thread"),
}
# g++ ignores __launch_bounds__, so the most threads per block are read from the source here, except
# for templates, whose bounds may depend on their arguments.
_BOUNDS = re.compile(
    r'extern "C" __global__ (?:void\s+)?__launch_bounds__\(\s*([^,()]+)[^()]*\)\s*(?:void\s+)?(\w+)'
)
_RUNTIME_MACROS = {None: (), "address": ("-DRTC_ASAN",), "thread": ("-DRTC_TSAN",)}


def build(source: str, names: Sequence[str], options: Sequence[str], sanitizer: str | None) -> Path:
    """Compile the library that holds these kernels, unless the cache has it."""
    macros = tuple(option for option in options if option.startswith(("-D", "-U")))
    bounds = {kernel: threads for threads, kernel in _BOUNDS.findall(source)}
    exports = "".join(
        f"RTC_KERNEL({i}, ({bounds.get(name, 0)}), {name})\n" for i, name in enumerate(names)
    )
    text = f'#include "{_HEADERS[0].name}"\n{source}\n#line 1 "exports"\n{exports}'
    return _compiled(text, (*_KERNEL, *_CHECKS[sanitizer], *macros))


def build_runtime(sanitizer: str | None) -> Path:
    """Compile the scheduler's library, whose functions all kernels find when they are loaded.

    It is compiled without the sanitizer, so that its own memory is no part of reports.
    """
    text = f'#line 1 "{_RUNTIME.name}"\n{_RUNTIME.read_text()}'
    return _compiled(text, ("-O2", *_RUNTIME_MACROS[sanitizer]))


def _compiled(text: str, flags: Sequence[str]) -> Path:
    """Return the library of a source, from the cache or from the compiler."""
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
    source, binary = private / f"{key}.cpp", private / f"{key}.so"
    with compiling.running():
        source.write_text(text)
        run = [*command, f"-I{_HERE}", str(source), "-o", str(binary)]
        done = subprocess.run(run, capture_output=True, text=True, errors="replace")
        source.unlink()
    if done.returncode:
        raise KernelError(f"{compiler} cannot compile the kernel:\n{done.stderr}")
    if folder is not None:
        with suppress(OSError):  # the disk is full: the library stays in the private folder
            store(folder / binary.name, binary.read_bytes())
            binary.unlink()
            return folder / binary.name
    return binary


def library(name: str) -> Path:
    """Return the path of a library that this process has loaded, given its name."""
    private = _private_folder() / name
    folder = cache_directory("emulator")
    return private if folder is None or private.exists() else folder / name


@functools.cache
def _private_folder() -> Path:
    """Return this process's own folder, where libraries are compiled, and stay without a cache."""
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
    """Remove the folder at the end of the process that made it."""
    if os.getpid() == process:  # a forked child must not remove it
        shutil.rmtree(folder, ignore_errors=True)


@functools.cache
def _compiler() -> tuple[str, str]:
    """Return the compiler's path, and its version."""
    path = shutil.which(os.environ.get("CXX", "g++"))
    if path is None:
        raise KernelError(
            "the emulator compiles kernels with g++, and there is none: install it "
            "(Debian: apt install g++, conda: conda install gxx) or name a compiler in CXX"
        )
    return path, subprocess.run([path, "--version"], capture_output=True, text=True).stdout


def tool(name: str) -> str:
    """Return the path of a program of the compiler's binutils."""
    return _printed("prog", name)


def compiler_library(name: str) -> str:
    """Return the path of the compiler's own ``lib<name>.so``."""
    path = _printed("file", f"lib{name}.so")
    if not os.path.isabs(path):
        raise KernelError(f"{_compiler()[0]} has no lib{name}.so: install its sanitizers")
    return path


def _printed(what: str, name: str) -> str:
    """Return the answer of the compiler to an option ``-print-...-name=``."""
    command = [_compiler()[0], f"-print-{what}-name={name}"]
    return subprocess.run(command, capture_output=True, text=True).stdout.strip()
