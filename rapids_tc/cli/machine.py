"""The parts of rapids_tc that can run on this machine, and what to install for the others."""

from __future__ import annotations

import ctypes
import os
import platform
import re
import subprocess
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from rapids_tc._cache import candidates, load, store

if TYPE_CHECKING:
    from collections.abc import Iterator

# The distributions that contain each importable package; the name without a suffix is conda's.
_PACKAGES = {
    "numpy": ("numpy",),
    "pandas": ("pandas",),
    "numba": ("numba",),
    "pyarrow": ("pyarrow",),
    "polars": ("polars",),
    "dask": ("dask",),
    "networkx": ("networkx",),
    "cupy": ("cupy-cuda13x", "cupy-cuda12x", "cupy"),
    "cudf": ("cudf-cu13", "cudf-cu12", "cudf"),
    "dask_cudf": ("dask-cudf-cu13", "dask-cudf-cu12", "dask-cudf"),
    "dask_cuda": ("dask-cuda",),
    "cugraph": ("cugraph-cu13", "cugraph-cu12", "cugraph"),
}
_EXTRAS = {"pyarrow": "arrow", "dask": "dask", "networkx": "networkx"}
_GPU = ("cupy", "cudf")  # what the CUDA engine needs
# The oldest compute capability that the packages of a CUDA major version serve.
_OLDEST = {13: (7, 5), 12: (7, 0)}
_TRIAL = (
    "import rapids_tc as tc, rapids_tc.datasets as d; print(tc.count(d.karate(library='cudf')))"
)
_TRIAL_ANSWER = "45"
_UNUSABLE = "not usable"  # as every sentence about a GPU that failed begins
_CAPABILITY_MAJOR, _CAPABILITY_MINOR = 75, 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_*


@dataclass(frozen=True)
class Gpu:
    """A GPU as its driver describes it."""

    name: str
    bytes: int
    capability: tuple[int, int]


@dataclass(frozen=True)
class Driver:
    """The NVIDIA driver: its release, the newest CUDA it serves, and the GPUs."""

    release: str
    cuda: tuple[int, int]
    gpus: tuple[Gpu, ...]


class DriverError(Exception):
    """A missing or unusable NVIDIA driver; the message says why."""


def findings() -> Iterator[tuple[str, str]]:
    """Yield the findings about this machine, as pairs of a subject and a sentence."""
    yield "python", f"{platform.python_version()}, {os.cpu_count()} cores, {platform.machine()}"
    for name in _PACKAGES:
        command = f": {_pip(_EXTRAS[name])}" if name in _EXTRAS else ""
        versions = ", ".join(f"{package} {version}" for package, version in _installed(name))
        yield name, versions.removeprefix(f"{name} ") or f"not installed{command}"
    yield "CPU engine", _cache_of("numba", os.environ.get("NUMBA_CACHE_DIR", ""))
    yield "emulator", _cache_of("emulator")
    try:
        driver = find_driver()
    except DriverError as error:
        yield "driver", f"none: {error}"
        yield "GPU", "not usable without an NVIDIA driver"
        yield "to install", f"a driver, then {_pip('cu13')} or, for CUDA 12, {_pip('cu12')}"
        return
    yield "driver", "{}, serves CUDA up to {}.{}".format(driver.release, *driver.cuda)
    for number, gpu in enumerate(driver.gpus):
        capability = "compute capability {}.{}".format(*gpu.capability)
        yield f"GPU {number}", f"{gpu.name}, {gpu.bytes / 2**30:.0f} GiB, {capability}"
    yield from advice(driver)


def rapids_doctor_check(**_: object) -> str:
    """Check that rapids_tc counts a known graph right on the GPU.

    The command ``rapids doctor`` of rapids-cli calls its checks with ``verbose`` and ``gpu_info``,
    shows the sentence that a check returns, and takes an exception for a failed check.
    """
    trial = _trial()
    if trial.startswith(_UNUSABLE):
        raise DriverError(trial)
    return trial


def has_gpu() -> bool:
    """Return whether this machine has a GPU and the packages that the CUDA engine needs."""
    try:
        return bool(find_driver().gpus) and all(map(_installed, _GPU))
    except DriverError:
        return False


def advice(driver: Driver) -> Iterator[tuple[str, str]]:
    """Say whether the GPU can be used with this driver and, if not, what to install."""
    newest = max((gpu.capability for gpu in driver.gpus), default=(0, 0))
    served = [
        major for major, oldest in _OLDEST.items() if driver.cuda >= (major,) and newest >= oldest
    ]
    if not served:
        oldest = "a GPU of compute capability {}.{} or newer".format(*_OLDEST[12])
        yield "GPU", f"not usable: it takes a driver for CUDA 12 or newer, and {oldest}"
        return
    installed = [name for package in _GPU for name, _ in _installed(package)]
    majors = {int(digits[0]) for name in installed if (digits := re.findall(r"1[23]", name))}
    missing = [package for package in _GPU if not _installed(package)]
    if len(majors) > 1 or not majors <= set(served):
        yield "GPU", f"not usable: {', '.join(installed)}, but one CUDA of {served} is needed"
        yield "to install", f"pip uninstall -y {' '.join(installed)} && {_pip(f'cu{served[0]}')}"
    elif missing:
        yield "GPU", f"not usable yet: {' and '.join(missing)} missing"
        yield "to install", _pip(f"cu{max(majors, default=served[0])}")
    else:
        yield "GPU", _trial()


def find_driver() -> Driver:
    """Describe the NVIDIA driver, by the library of its own that every CUDA package uses.

    Raises
    ------
    DriverError
        The library is missing, or does not start.
    """
    try:
        cuda = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError as error:
        raise DriverError(f"no NVIDIA driver is visible ({error})") from error

    def ask(function: str, *arguments: object) -> None:
        try:
            code = getattr(cuda, function)(*arguments)
        except AttributeError as error:
            raise DriverError(f"its library has no {function}") from error
        if code:
            text = ctypes.c_char_p()
            cuda.cuGetErrorString(code, ctypes.byref(text))
            raise DriverError(f"{function}: {(text.value or b'unknown error').decode()}")

    version, count = ctypes.c_int(), ctypes.c_int()
    ask("cuInit", 0)
    ask("cuDriverGetVersion", ctypes.byref(version))
    ask("cuDeviceGetCount", ctypes.byref(count))
    gpus = []
    for device in range(count.value):
        name, size = ctypes.create_string_buffer(256), ctypes.c_size_t()
        major, minor = ctypes.c_int(), ctypes.c_int()
        ask("cuDeviceGetName", name, 256, device)
        ask("cuDeviceTotalMem_v2", ctypes.byref(size), device)
        ask("cuDeviceGetAttribute", ctypes.byref(major), _CAPABILITY_MAJOR, device)
        ask("cuDeviceGetAttribute", ctypes.byref(minor), _CAPABILITY_MINOR, device)
        gpus.append(
            Gpu(name.value.decode(errors="replace"), size.value, (major.value, minor.value))
        )
    release = Path("/sys/module/nvidia/version")
    return Driver(
        release.read_text().strip() if release.exists() else "release unknown",
        (version.value // 1000, version.value % 1000 // 10),
        tuple(gpus),
    )


def _cache_of(name: str, base: str = "") -> str:
    """Say which folder keeps compiled code, and why earlier candidates cannot be used."""
    unusable: list[str] = []
    for folder, fault in candidates(name, base):
        trial = folder / f"trial-{os.getpid()}"
        try:
            fault = fault or ("" if _keeps(trial) else "what is written is not read back")
        except OSError as error:
            fault = error.strerror or str(error)
        if not fault:
            return "; ".join([f"cache in {folder} works", *unusable])
        unusable.append(f"not {folder}: {fault}")
    why = ", ".join(unusable)
    return f"no cache, every process compiles anew; name a folder in RAPIDS_TC_CACHE; {why}"


def _keeps(file: Path) -> bool:
    try:
        store(file, bytes(2**20))  # about the size of one engine's code
        return load(file) is not None
    finally:
        file.unlink(missing_ok=True)


def _installed(package: str) -> list[tuple[str, str]]:
    """List the installed distributions that contain the package, with their versions."""
    versions = []
    for name in _PACKAGES[package]:
        try:
            versions.append((name, metadata.version(name)))
        except metadata.PackageNotFoundError:
            continue
    return versions


def _pip(extra: str) -> str:
    return f'pip install "rapids_tc[{extra}]"'


def _trial() -> str:
    """Count on the GPU in a process of its own, so that a crash there is a sentence here."""
    command = [sys.executable, "-c", _TRIAL]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    except subprocess.TimeoutExpired:
        return f"{_UNUSABLE}: a count of 78 edges took longer than 300 s"
    if done.returncode == 0 and done.stdout.strip() == _TRIAL_ANSWER:
        return "ready: a trial count on the GPU was right"
    last = done.stderr.strip() or done.stdout.strip() or f"exit code {done.returncode}"
    return f"{_UNUSABLE}: a trial count on the GPU failed: {last.splitlines()[-1]}"
