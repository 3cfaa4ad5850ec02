"""Kernels compiled for the GPU by NVRTC, through CuPy, whose disk cache keeps them."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from rapids_tc._compiling import clock
from rapids_tc.errors import KernelError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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


@functools.cache
def _compile(source: str, names: tuple[str, ...], options: tuple[str, ...], device: int) -> Any:
    import cupy

    # A module per device: a kernel is loaded on the device on which it is looked up, and no other.
    module = cupy.RawModule(code=source, options=(*OPTIONS, *options))
    try:
        with clock.running():
            return {name: module.get_function(name) for name in names}
    except cupy.cuda.compiler.CompileException as error:
        raise KernelError(
            f"NVRTC cannot compile {', '.join(names)} for device {device}:\n{error}"
        ) from error
    except cupy.cuda.driver.CUDADriverError as error:
        raise KernelError(f"device {device} cannot load {', '.join(names)}: {error}") from error
