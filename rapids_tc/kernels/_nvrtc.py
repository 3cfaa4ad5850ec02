"""Kernels compiled for the GPU by NVRTC, through CuPy, whose disk cache keeps them."""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING, Any

from rapids_tc._compiling import compiling
from rapids_tc.errors import KernelError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rapids_tc.kernels.method import Kernel

OPTIONS = ("-std=c++17",)
_NOT_TOGETHER = (720, 801)  # CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, CUDA_ERROR_NOT_SUPPORTED


def compile(source: str, names: Sequence[str], options: Sequence[str] = ()) -> Mapping[str, Kernel]:
    """Compile kernels for the current device, once in a process.

    Parameters
    ----------
    source : str
        One self-contained string, see `rapids_tc.kernels._source.read`: the cache hashes it.
    names : sequence of str
        The ``extern "C"`` kernels.
    options : sequence of str
        Options of NVRTC, such as ``-DRTC_VISIT=Total``.

    Returns
    -------
    mapping of str to cupy.RawKernel

    Raises
    ------
    KernelError
        With the compiler's log.
    """
    import cupy

    kernels: Mapping[str, Kernel]
    kernels = _compile(source, tuple(names), tuple(options), cupy.cuda.Device().id)
    return kernels


def launch_cooperative(function: Any, blocks: int, threads: int, args: tuple[Any, ...]) -> bool:
    """Launch a cupy.cuda.Function whose blocks wait for each other.

    Returns False, and launches nothing, if the device cannot run so many blocks at once, or knows
    no such launches: some virtual GPUs do not, and MPS may grant a process a part of the device.
    """
    import cupy

    try:
        function((blocks,), (threads,), args, enable_cooperative_groups=True)
    except cupy.cuda.driver.CUDADriverError as error:
        if error.status not in _NOT_TOGETHER:
            raise
        return False
    return True


class Awaited:
    """A kernel that is waited for after each launch, so that an error on the device names it.

    Launches are asynchronous: without a wait, the error comes up in whatever is called next.
    """

    def __init__(self, name: str, kernel: Any, wait: Callable[[], None]) -> None:
        self.__dict__.update(_name=name, _kernel=kernel, _wait=wait)

    def __call__(self, grid: Any, block: Any, args: Any, **options: Any) -> None:
        """Launch the kernel, and wait for it."""
        self._kernel(grid, block, args, **options)
        try:
            self._wait()
        except RuntimeError as error:  # what CuPy raises of CUDA
            raise KernelError(
                f"the kernel {self._name} failed, of {grid} blocks of {block} threads: {error}"
            ) from error

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._kernel, name)
        return Awaited(self._name, value, self._wait) if name == "kernel" else value

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._kernel, name, value)


def awaited(kernels: Mapping[str, Kernel], wait: Callable[[], None]) -> Mapping[str, Kernel]:
    """Return the kernels, each waited for after every launch if RAPIDS_TC_DEBUG is 1."""
    if os.environ.get("RAPIDS_TC_DEBUG") != "1":
        return kernels
    return {name: Awaited(name, kernel, wait) for name, kernel in kernels.items()}


@functools.cache
def _compile(source: str, names: tuple[str, ...], options: tuple[str, ...], device: int) -> Any:
    import cupy

    # A module per device: a kernel is loaded on the device on which it is looked up, and no other.
    module = cupy.RawModule(code=source, options=(*OPTIONS, *options))
    try:
        with compiling.running():
            kernels = {name: module.get_function(name) for name in names}
    except cupy.cuda.compiler.CompileException as error:
        raise KernelError(
            f"NVRTC cannot compile {', '.join(names)} for device {device}:\n{error}"
        ) from error
    except cupy.cuda.driver.CUDADriverError as error:
        raise KernelError(f"device {device} cannot load {', '.join(names)}: {error}") from error
    return awaited(kernels, lambda: cupy.cuda.get_current_stream().synchronize())
