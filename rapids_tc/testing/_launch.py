"""Kernels of a compiled library, called in CuPy's form."""

from __future__ import annotations

import ctypes
import functools
import threading
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.errors import KernelError
from rapids_tc.testing import _build, _sanitize

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

STATIC_SHARED = 48 * 1024  # of a kernel that does not ask for more
MAX_SHARED = 227 * 1024  # of a block on an H100

_seed: ContextVar[int] = ContextVar("seed", default=0)
_works: ContextVar[tuple[LaunchWork, ...]] = ContextVar("works", default=())
_one_at_a_time = threading.Lock()  # ctypes releases the GIL, and the runtime's state is global


@dataclass
class LaunchWork:
    """The work of the launches inside a `measure` block.

    Attributes
    ----------
    launches : int
        Launches of kernels.
    probes : int
        The sum of all ``RTC_PROBE(n)``.
    switches : int
        Switches from one CUDA thread to another, which the time of an emulated launch follows.
    """

    launches: int = 0
    probes: int = 0
    switches: int = 0


@contextmanager
def measure() -> Iterator[LaunchWork]:
    """Add up the work of the launches inside of the block."""
    work = LaunchWork()
    token = _works.set((*_works.get(), work))
    try:
        yield work
    finally:
        _works.reset(token)


@contextmanager
def thread_order(seed: int) -> Iterator[None]:
    """Run threads and blocks in another order: ascending for seed 0, else shuffled by the seed."""
    token = _seed.set(seed)
    try:
        yield
    finally:
        _seed.reset(token)


class _Launch(ctypes.Structure):
    """The struct Launch of ``host_runtime.hpp``."""

    _fields_ = (
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("dynamic_shared", ctypes.c_uint),
        ("seed", ctypes.c_uint),
        ("arguments", ctypes.POINTER(ctypes.c_void_p)),
        ("probes", ctypes.c_uint64),
        ("switches", ctypes.c_uint64),
        ("body", ctypes.c_void_p),
        ("bound", ctypes.c_uint),
        ("cooperative", ctypes.c_uint),
    )


class _Parameter(ctypes.Structure):
    """The struct Parameter of ``cuda_host.hpp``."""

    _fields_ = (
        ("pointer", ctypes.c_bool),
        ("constant", ctypes.c_bool),
        ("kind", ctypes.c_char),
        ("bytes", ctypes.c_uint),
    )

    def accepts(self, dtype: np.dtype[Any]) -> bool:
        """Return whether the parameter takes an array or a scalar of the dtype."""
        if self.kind == b"V":  # void or a struct
            return bool(self.pointer) or dtype.itemsize == int(self.bytes)
        return (dtype.kind.encode(), dtype.itemsize) == (bytes(self.kind), int(self.bytes))

    def __str__(self) -> str:
        kind = {b"V": "struct", b"b": "bool", b"i": "int", b"u": "uint", b"f": "float"}[self.kind]
        name = kind if self.kind in b"Vb" else f"{kind}{8 * self.bytes}"
        return f"{'const ' * self.constant}{name}{'*' * self.pointer}"


class HostKernel:
    """A kernel on the emulator, called in CuPy's form.

    Attributes
    ----------
    name : str
        The kernel's name, with its template arguments.
    max_dynamic_shared_size_bytes : int
        The most ``shared_mem`` that a launch may ask for; raise it as on a GPU, to 227 KiB.
    """

    def __init__(self, library: ctypes.CDLL, number: int, name: str) -> None:
        self.name = name
        self.max_dynamic_shared_size_bytes = STATIC_SHARED
        self._run = getattr(library, f"rtc_run_{number}")
        self._run.restype = ctypes.c_char_p
        parameters = ctypes.POINTER(_Parameter)()
        count = getattr(library, f"rtc_parameters_{number}")(ctypes.byref(parameters))
        self._parameters = parameters[:count]

    def __call__(
        self,
        grid: Sequence[int],
        block: Sequence[int],
        args: Sequence[Any],
        *,
        shared_mem: int = 0,
        enable_cooperative_groups: bool = False,
    ) -> None:
        """Run the kernel to its end.

        Parameters
        ----------
        grid, block : sequence of int
            Blocks of the grid and threads of a block, along up to three axes.
        args : sequence
            NumPy arrays for pointers (None: a null pointer), NumPy scalars for the rest, and
            structured arrays of no dimensions for structs. On a GPU a wrong width is silent
            garbage; on the emulator it is an error.
        shared_mem : int
            Bytes of dynamic shared memory.
        enable_cooperative_groups : bool
            Whether all blocks run at once, so that they may wait for each other in
            ``RTC_GRID_BARRIER``; as of a `cupy.cuda.Function`.

        Raises
        ------
        KernelError
            The launch is malformed, the kernel does what CUDA leaves undefined, or a sanitizer
            finds a fault. The message names the line of the ``.cu`` file.
        """
        if not 0 <= shared_mem <= min(self.max_dynamic_shared_size_bytes, MAX_SHARED):
            raise KernelError(
                f"{self.name}: {shared_mem} bytes of dynamic shared memory, "
                f"allowed are {min(self.max_dynamic_shared_size_bytes, MAX_SHARED)}"
            )
        if len(args) != len(self._parameters):
            raise KernelError(
                f"{self.name} takes {len(self._parameters)} arguments, not {len(args)}"
            )
        values = [self._value(i, argument) for i, argument in enumerate(args)]
        addresses = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))
        launch = _Launch(
            grid=(ctypes.c_uint * 3)(*(*grid, 1, 1)[:3]),
            block=(ctypes.c_uint * 3)(*(*block, 1, 1)[:3]),
            dynamic_shared=shared_mem,
            seed=_seed.get(),
            arguments=addresses,
            cooperative=enable_cooperative_groups,
        )
        with _one_at_a_time:
            error = self._run(ctypes.byref(launch))
            report = _sanitize.new_report()
        for work in _works.get():
            work.launches += 1
            work.probes += launch.probes
            work.switches += launch.switches
        if error:
            raise KernelError(f"{self.name}: {error.decode()}")
        if report:
            raise KernelError(f"{self.name}: {report}")

    def _value(self, number: int, argument: Any) -> Any:
        """Convert an argument to a ctypes object that holds its bytes."""
        parameter = self._parameters[number]
        where = f"{self.name}: argument {number}"
        if isinstance(argument, np.ndarray) and argument.dtype.names:
            argument = argument[()]  # a struct, passed by value
        if argument is None and parameter.pointer:
            return ctypes.c_void_p()
        if parameter.pointer != isinstance(argument, np.ndarray):
            raise KernelError(f"{where} is a {type(argument).__name__}, the kernel has {parameter}")
        if not isinstance(argument, np.ndarray | np.generic):
            raise KernelError(f"{where} must be a NumPy scalar for {parameter}, not {argument!r}")
        if not parameter.accepts(argument.dtype):
            raise KernelError(f"{where} has dtype {argument.dtype}, the kernel has {parameter}")
        if not isinstance(argument, np.ndarray):
            return ctypes.create_string_buffer(argument.tobytes(), argument.nbytes)
        if not argument.flags.c_contiguous:
            raise KernelError(f"{where} is an array with gaps")
        if not (parameter.constant or argument.flags.writeable):
            raise KernelError(f"{where} is a read-only array, the kernel may write {parameter}")
        return ctypes.c_void_p(argument.ctypes.data)


def load(path: Path, names: Sequence[str]) -> dict[str, HostKernel]:
    """Load the kernels of a library, by name."""
    _load_runtime()
    library = ctypes.CDLL(str(path))
    _sanitize.collect_reports()
    return {name: HostKernel(library, number, name) for number, name in enumerate(names)}


@functools.cache
def _load_runtime() -> None:
    """Load the scheduler, once in a process, so that kernels find its functions."""
    ctypes.CDLL(str(_build.build_runtime(_sanitize.sanitizer())), mode=ctypes.RTLD_GLOBAL)
