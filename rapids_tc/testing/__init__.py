"""CUDA kernels on a CPU, for tests on machines without a GPU.

A C++ compiler, ``g++`` or the one that ``CXX`` names, builds a ``.cu`` file with a header that
defines the words of CUDA; every CUDA thread becomes a fiber, and the kernel is called in CuPy's
form. Your tests then run wherever pytest does, at about 20 million switches between threads per
second.

Testing your own kernel
-----------------------
Say ``halve.cu`` holds::

    #include "device.cuh"                   // u32, RTC_SHARED, ...; inlined when it is read

    extern "C" __global__ void halve(u32* values, u32 n) {
      const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) values[i] /= 2;
    }

Then a test is::

    import numpy as np
    from rapids_tc import testing

    def test_halve():
        kernel = testing.compile(testing.read("halve.cu"), ("halve",))["halve"]
        values = np.arange(1000, dtype=np.uint32)
        for seed in range(3):
            halved = values.copy()
            with testing.thread_order(seed):
                kernel((4,), (256,), (halved, np.uint32(1000)))
            assert (halved == values // 2).all()

Names may have template arguments, ``"count<Bitmap, 64>"``. For a GPU, compile the same string by
`cupy.RawModule`. `host_engine` runs whole functions of rapids_tc, with your method, too::

    with testing.host_engine():
        assert rapids_tc.count(frame, method="mine") == 17

What is caught
--------------
Always, as a `KernelError` with the line of the ``.cu`` file: a lane missing from its own mask, a
lane that its mask names but that never comes, lanes of one mask in different collectives, a
shuffle from a lane that takes no part, ``__syncthreads`` in diverged code or after a thread has
returned, any deadlock, and a launch with the wrong number, dtype or layout of arguments, or with
more threads per block than ``__launch_bounds__`` allows. Shared memory starts as 0xCD bytes, so
that a read before the first write gives visibly wrong results; a write up to 256 bytes past the end
of shared memory is an error, which names the array.

More under a sanitizer, in a process of its own: ``python -m rapids_tc.testing address -m pytest
test_mine.py``, or `run_sanitized` from a test.

- ``address``: reads and writes outside of an array or of shared memory; undefined arithmetic such
  as a shift by 32.
- ``thread``: two threads, of one block or of two, use a word without ``__syncthreads`` or
  ``__syncwarp`` between them, one of them writes, and not both use atomics. Shuffles and votes
  order nothing. This sanitizer is much slower: give it graphs of a hundred edges.

What a kernel must do
---------------------
Declare shared memory by ``RTC_SHARED(T, name, n)`` and ``RTC_DYNAMIC_SHARED(T, name)``, name lanes
by explicit masks, include only files beside it or of rapids_tc, and never spin on memory: blocks
run one after another. For the same reason blocks cannot share work by an atomic counter; draw from
the counter by ``RTC_TICKET(counter)``, which deals numbers round by block in the emulator.
Blocks that wait for each other do so in ``RTC_GRID_BARRIER(arrived, goal)``, in a launch with
``enable_cooperative_groups=True``, whose blocks run at once. Read a word that others change by
atomics by ``RTC_PEEK(pointer)``, else it is a race. ``RTC_PROBE(n)`` counts work, see `measure`.
Not emulated: the header of cooperative groups, textures, warp matrix functions,
``__activemask``.

Compiled kernels stay in the user's cache directory (``RAPIDS_TC_CACHE`` names another), under a
hash of all that they are made of. `rapids-tc doctor` names the directory.
"""

from __future__ import annotations

import functools
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy

from rapids_tc.frames.backend import emulator
from rapids_tc.kernels._source import read
from rapids_tc.testing import _build, _launch
from rapids_tc.testing._launch import HostKernel, LaunchWork, measure, thread_order
from rapids_tc.testing._sanitize import run_sanitized, sanitizer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = [
    "HostKernel",
    "LaunchWork",
    "compile",
    "host_engine",
    "measure",
    "read",
    "run_sanitized",
    "sanitizer",
    "thread_order",
]


def compile(
    source: str, names: Sequence[str], options: Sequence[str] = ()
) -> Mapping[str, HostKernel]:
    """Compile kernels for the emulator, unless the cache has them.

    Parameters
    ----------
    source : str
        One string that includes nothing, such as `read` gives.
    names : sequence of str
        Names of the kernels, with their template arguments.
    options : sequence of str
        Options of NVRTC, of which the emulator uses macros (``-DNAME=value``, ``-UNAME``) alone.

    Returns
    -------
    mapping of str to HostKernel

    Raises
    ------
    KernelError
        There is no compiler, or the compiler refuses the source; the error has its messages.
    """
    kernels: Mapping[str, HostKernel] = _compile(source, tuple(names), tuple(options))
    return kernels


@functools.cache
def _compile(source: str, names: tuple[str, ...], options: tuple[str, ...]) -> Any:
    return _launch.load(_build.build(source, names, options, sanitizer()), names)


@contextmanager
def host_engine(**fields: Any) -> Iterator[Any]:
    """Serve pandas frames by the CUDA engine, whose kernels run on the emulator.

    Parameters
    ----------
    **fields
        Fields of `rapids_tc.engines.gpu.cuda.CudaEngine` with other values, such as ``capacities``.

    Yields
    ------
    CudaEngine

    Examples
    --------
    >>> import rapids_tc as tc
    >>> from rapids_tc import datasets, testing
    >>> with testing.host_engine():
    ...     tc.count(datasets.karate(), method="bitmap")
    45
    """
    from rapids_tc.engines.gpu.cuda import CudaEngine

    engine = CudaEngine(**{"xp": numpy, "compile": compile, **fields})
    token = emulator.set(engine)
    try:
        yield engine
    finally:
        emulator.reset(token)
