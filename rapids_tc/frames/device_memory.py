"""The memory of a call on a GPU: from a pool of this package, where the user has made none.

The import of cuDF gives CuPy the allocator of RMM, and RMM asks the device for every array unless
it is told otherwise. A call makes some forty arrays, and the device stops each time that one of
them is freed. So a call takes them from a pool, but only if both libraries are as the import of
cuDF leaves them. A resource of RMM or an allocator of CuPy that the user has chosen is what the
user gets.

Nothing of the user's is changed. RMM's current resource is one for all threads, so it is never set:
libcudf is told by ``mr=``, and takes only what it frees before it returns from the user's. CuPy has
an allocator for each thread, which is set for as long as the call works. The arrays of answers are
copied into the user's memory, so that nothing holds the pool's but the arrays of a `Graph`.

The pool is CUDA's own, of ``cudaMallocFromPoolAsync``, and not a `MemoryPool` of CuPy, for these
reasons. It serves CuPy and libcudf alike. It knows the order of work on streams, also of threads.
It maps pages, so that it is not fragmented. The driver gives what exceeds the bound back whenever a
stream is waited for. (CuPy's `MemoryAsyncPool` would make the pool the device's current one.)
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from rapids_tc._arguments import as_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rapids_tc._typing import Array, Frame

    Made = TypeVar("Made")

BOUND = "RAPIDS_TC_POOL"  # the variable that names the bytes a pool keeps
SHARE = 8  # by default, a pool keeps this part of the device's memory
_FEW_ROWS = 1 << 16  # of a frame that is copied at once, which takes less time
_NUMBERS = "biufmM"  # kinds of dtypes whose columns may be arrays of ours


@dataclass(frozen=True)
class DevicePool:
    """A pool of CUDA on one device.

    Attributes
    ----------
    device : int
    handle : int
        CUDA's own name of the pool.
    resource : rmm.mr.DeviceMemoryResource
        The pool, as RMM and libcudf take it.
    """

    device: int
    handle: int
    resource: Any

    def allocate(self, size: int) -> Any:
        """Take memory on the current stream, as an allocator of CuPy does."""
        cupy, rmm = sys.modules["cupy"], sys.modules["rmm"]
        stream = rmm.pylibrmm.stream.Stream(obj=cupy.cuda.get_current_stream())
        buffer = self.made(lambda: rmm.DeviceBuffer(size=size, stream=stream, mr=self.resource))
        memory = cupy.cuda.UnownedMemory(buffer.ptr, size, buffer, self.device)
        return cupy.cuda.MemoryPointer(memory, 0)

    def made(self, make: Callable[[], Made]) -> Made:
        """Return what a function makes; once more without what the pool keeps, if memory is out."""
        try:
            return make()
        except MemoryError:
            if not self.release():
                raise
        return make()

    @property
    def idle(self) -> int:
        """The bytes that the pool has taken from the device, and has not given to an array."""
        runtime = sys.modules["cupy"].cuda.runtime
        held, used = (
            runtime.memPoolGetAttribute(self.handle, attribute)
            for attribute in (
                runtime.cudaMemPoolAttrReservedMemCurrent,
                runtime.cudaMemPoolAttrUsedMemCurrent,
            )
        )
        return int(held) - int(used)

    def release(self) -> int:
        """Give back to the device what is idle; return the bytes."""
        cuda = sys.modules["cupy"].cuda
        with cuda.Device(self.device) as device:
            device.synchronize()  # what was freed is idle once the work before it is done
            before = self.idle
            cuda.runtime.memPoolTrimTo(self.handle, 0)
            return before - self.idle


_pools: dict[int, DevicePool | None] = {}
_making = Lock()
_current: ContextVar[DevicePool | None] = ContextVar("_current", default=None)


@contextmanager
def pooled() -> Iterator[None]:
    """Take the arrays that this thread makes from the pool, unless the user has chosen a memory."""
    pool = None if _current.get() is not None or not _is_plain() else _pool()
    if pool is None:
        yield
        return
    token = _current.set(pool)
    try:
        with sys.modules["cupy"].cuda.using_allocator(pool.allocate):
            yield
    except MemoryError:
        pool.release()
        raise
    finally:
        _current.reset(token)


def by_libcudf(operation: Callable[..., Made], *arguments: Any) -> Made:
    """Call an operation of libcudf, whose result is to lie in the memory of the call."""
    pool = _current.get()
    if pool is None:
        return operation(*arguments)
    return pool.made(lambda: operation(*arguments, mr=pool.resource))


def for_user(values: Array) -> Array:
    """Return an array in the user's memory: a copy, if it may lie in the pool."""
    pool = _current.get()
    if pool is None or not hasattr(values, "__cuda_array_interface__"):
        return values
    with sys.modules["cupy"].cuda.using_allocator(_allocator_of_rmm()):
        return pool.made(values.copy)


def frame_for_user(frame: Frame) -> Frame:
    """Return a new frame of cuDF with its columns in the user's memory.

    Those of a large frame are copied one by one, and none but numbers: others are made by libcudf,
    in the user's memory.
    """
    pool = _current.get()
    if pool is None:
        return frame
    if len(frame) <= _FEW_ROWS:
        return pool.made(frame.copy)
    for name, dtype in zip(frame.columns, frame.dtypes, strict=True):
        if getattr(dtype, "kind", "") in _NUMBERS:
            frame[name] = pool.made(frame[name].copy)
    return frame


def idle(device: int) -> int:
    """Return the bytes that the pool of a device keeps for the next arrays."""
    pool = _pools.get(device)
    return 0 if pool is None else pool.idle


def release() -> int:
    """Give back to the devices what all pools keep; return the bytes."""
    return sum(pool.release() for pool in [*_pools.values()] if pool is not None)


def _is_plain() -> bool:
    """Return whether CuPy and RMM take memory as after the import of cuDF, and a pool is wanted."""
    rmm = sys.modules.get("rmm")
    if rmm is None or sys.modules["cupy"].cuda.get_allocator() is not _allocator_of_rmm():
        return False
    return type(rmm.mr.get_current_device_resource()) is rmm.mr.CudaMemoryResource


def _allocator_of_rmm() -> Any:
    from rmm.allocators.cupy import rmm_cupy_allocator

    return rmm_cupy_allocator


def _pool() -> DevicePool | None:
    """Return the pool of the current device, made at the first call; None if there can be none."""
    device = int(sys.modules["cupy"].cuda.Device().id)
    if device not in _pools:
        with _making:
            if device not in _pools:
                _pools[device] = _make_pool(device)
    return _pools[device]


def _make_pool(device: int) -> DevicePool | None:
    cuda, rmm = sys.modules["cupy"].cuda, sys.modules["rmm"]
    bound = _bound(cuda.Device(device).mem_info[1])
    supported = cuda.runtime.cudaDevAttrMemoryPoolsSupported
    if not bound or not cuda.runtime.deviceGetAttribute(supported, device):
        return None
    from cuda.bindings import runtime

    properties = runtime.cudaMemPoolProps()
    properties.allocType = runtime.cudaMemAllocationType.cudaMemAllocationTypePinned
    properties.location.type = runtime.cudaMemLocationType.cudaMemLocationTypeDevice
    properties.location.id = device
    error, pool = runtime.cudaMemPoolCreate(properties)
    if error != runtime.cudaError_t.cudaSuccess:
        return None
    threshold = cuda.runtime.cudaMemPoolAttrReleaseThreshold
    cuda.runtime.memPoolSetAttribute(int(pool), threshold, bound)
    return DevicePool(device, int(pool), rmm.mr.CudaAsyncViewMemoryResource(pool))


def _bound(memory: int) -> int:
    """Return the bytes that a pool keeps of a device's memory.

    Raises
    ------
    ValueError
        The variable holds no number of bytes.
    """
    text = os.environ.get(BOUND, "")
    size = as_bytes(text) if text else memory // SHARE
    if size is None:
        raise ValueError(
            f"{BOUND}={text!r} in the environment; give the bytes that a pool on a GPU may keep "
            "between calls, such as 4GB or 4000000000, or 0 for no pool"
        )
    return size
