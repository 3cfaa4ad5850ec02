"""Fill new memory with bytes of no use, so that code fails that reads before it writes."""

import os
from contextlib import contextmanager

# Which bytes new memory holds, by glibc's malloc: 255 less this number.
PERTURB = "MALLOC_PERTURB_"
PATTERNS = (0xA5, 0xFF, None)  # bytes; None is random ones


def dirty_host() -> str:
    """Have processes that start from now on get dirty memory; return the setting."""
    return os.environ.setdefault(PERTURB, str(1 + int.from_bytes(os.urandom(1)) % 255))


@contextmanager
def dirty_card(byte):
    """Fill all that cuDF and CuPy take of a GPU with a byte, on the stream that takes it."""
    import cupy
    import rmm
    from rmm.allocators.cupy import rmm_cupy_allocator

    pool = rmm.mr.CudaAsyncMemoryResource()

    def allocate(size, stream):
        pointer = pool.allocate(size, stream)
        cupy.cuda.runtime.memsetAsync(pointer, byte, size, stream.__cuda_stream__()[1])
        return pointer

    resource, allocator = rmm.mr.get_current_device_resource(), cupy.cuda.get_allocator()
    rmm.mr.set_current_device_resource(rmm.mr.CallbackMemoryResource(allocate, pool.deallocate))
    cupy.cuda.set_allocator(rmm_cupy_allocator)
    try:
        yield
    finally:
        rmm.mr.set_current_device_resource(resource)
        cupy.cuda.set_allocator(allocator)
