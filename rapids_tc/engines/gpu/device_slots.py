"""The CUDA engine's block store, pinned memory of the host, and the slots on the GPU.

Copies run on a stream of their own. A block may be copied into a slot only after the last kernel
that reads the slot, and read only after the copy: the GPU waits for both, by events.
"""

from __future__ import annotations

import gc
import sys
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.engines.gpu import cliques, similar
from rapids_tc.engines.gpu.block_layout import write_codes
from rapids_tc.engines.gpu.layout import CHUNK, GpuEngine, SlotView
from rapids_tc.engines.protocol import Costs
from rapids_tc.errors import CapacityError
from rapids_tc.frames import device_memory
from rapids_tc.plan import costs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rapids_tc.preparation.csr import Array


PIECE = 2**22  # bytes that are pinned at least, if more arrays come than memory was reserved for


def task_bytes(edges: int, rows: int, sides: bool, slots: int) -> int:
    """Return the bytes of a task: see `rapids_tc.engines.protocol.Costs`."""
    own = costs.TASK["cuda"]
    blocks = slots * costs.total(own["block"], edges, rows)
    layout = costs.total(own["layout"], edges, rows)
    counts = costs.total(own["counts"], edges, rows)
    counts += slots * costs.total(own["counts of a slot"], edges, rows)
    return blocks + layout + (counts if sides else 0)


# Slots hold the blocks of a task and of the next; if edges are counted, uv, too.
COSTS = Costs(
    tables=lambda vertices, sides: 0,
    local_graphs=cliques.bits_bytes,
    wedge_counters=lambda rows, vertices: 0,  # they lie in shared memory
    timed_tables=lambda rows, vertices: 0,  # there are none
    similarity_tables=similar.tables_bytes,
    positions=costs.MOST_POSITIONS["cuda"],
    text=costs.TEXT["cuda"],
    order=costs.ORDERING["cuda"],
    sort=costs.SORTING["cuda"],
    row=costs.CHUNK_ROW["cuda"],
    uv_stays_loaded=False,
    prefetch=True,
    slots=lambda sides: 4 + sides,
    task=task_bytes,
    levels=costs.LEVELS["cuda"],
    levels_of_slot=costs.LEVELS_OF_SLOT["cuda"],
)


class HostCopies:
    """Copies between NumPy arrays, for the emulator: each is done at once."""

    def host(self, size: int, dtype: Any) -> Array:
        """Make an array of the host that the GPU copies from and to by itself."""
        return np.empty(size, dtype)

    def mark(self) -> Any:
        """Mark what has been launched so far, to be waited for."""

    def wait(self, mark: Any) -> None:
        """Let all that is launched from now on wait for a mark."""

    def up(self, host: Array, device: Array, after: list[Any]) -> Any:
        """Copy to the GPU after some marks; return the mark of the copy."""
        device[...] = host

    def down(self, device: Array, host: Array) -> None:
        """Copy from the GPU after all that has been launched."""
        host[...] = device

    def follow(self) -> None:
        """Let all that is launched from now on wait for all copies."""

    def finish(self) -> None:
        """Return when all copies are done."""

    def pooled(self, size: int) -> AbstractContextManager[Any]:
        """Keep memory that is freed within for the arrays that are made next."""
        return nullcontext()

    def apart(self) -> AbstractContextManager[Any]:
        """Take memory for what outlives `pooled`."""
        return nullcontext()


class CardCopies:
    """Copies to and from a GPU, on a stream of their own.

    Parameters
    ----------
    cupy : module
    """

    def __init__(self, cupy: Any) -> None:
        self._cuda, self._stream = cupy.cuda, cupy.cuda.Stream(non_blocking=True)
        self._outer: Any = None  # the user's allocator, while memory is pooled

    def host(self, size: int, dtype: Any) -> Array:
        """Make an array of the host in pinned memory."""
        need = max(size * np.dtype(dtype).itemsize, 1)
        try:
            pinned = self._cuda.alloc_pinned_memory(need)
        except self._cuda.runtime.CUDARuntimeError as error:
            raise CapacityError(
                f"{need:,} bytes of the host's memory cannot be pinned for blocks: {error}; "
                "free some of it, or raise memory_limit= so that the graph stays on the GPU"
            ) from error
        return np.frombuffer(pinned, dtype, size)

    def mark(self) -> Any:
        """Mark what the current stream has been given so far."""
        return self._mark(self._cuda.get_current_stream())

    def wait(self, mark: Any) -> None:
        """Let the current stream wait for a mark."""
        self._cuda.get_current_stream().wait_event(mark)

    def up(self, host: Array, device: Array, after: list[Any]) -> Any:
        """Copy to the GPU after some marks; return the mark of the copy."""
        for mark in after:
            self._stream.wait_event(mark)
        device.data.copy_from_host_async(host.ctypes.data, host.nbytes, self._stream)
        return self._mark(self._stream)

    def down(self, device: Array, host: Array) -> None:
        """Copy from the GPU after all that the current stream has been given."""
        self._stream.wait_event(self.mark())
        device.data.copy_to_host_async(host.ctypes.data, host.nbytes, self._stream)

    def follow(self) -> None:
        """Let the current stream wait for all copies."""
        self.wait(self._mark(self._stream))

    def finish(self) -> None:
        """Return when all copies are done."""
        self._stream.synchronize()

    @contextmanager
    def pooled(self, size: int) -> Iterator[None]:
        """Lend memory from one piece of `size` bytes, and take more only if the piece is full.

        The user's allocator may ask the device for every array, which is slow, and freeing waits
        for all copies. Several pieces would be fragmented: a small array in each leaves no space
        for a large array, and up to two thirds more memory was taken than the arrays have.
        """
        outer = self._outer = self._cuda.get_allocator()
        pool: Any = None

        def take(size: int) -> Any:
            pool.free_all_blocks()
            try:
                return outer(size)
            except MemoryError:  # objects that an error left in a cycle hold all of the memory
                gc.collect()
                return outer(size)

        pool = self._cuda.MemoryPool(take)
        try:
            with suppress(MemoryError):  # the user's pool may have smaller pieces only
                pool.malloc(size)  # freed at once, which leaves the piece to the pool
            with self._cuda.using_allocator(pool.malloc):
                yield
        finally:
            self._outer = None
            pool.free_all_blocks()
            pool = None  # else the pool and `take` hold each other

    def apart(self) -> AbstractContextManager[Any]:
        """Take memory from the user's allocator: an array in the piece would keep all of it."""
        return self._cuda.using_allocator(self._outer) if self._outer else nullcontext()

    def _mark(self, stream: Any) -> Any:
        return stream.record(self._cuda.Event(disable_timing=True))


def free_memory(cupy: Any, device: int) -> int:
    """Return the bytes that may be taken: free memory of the device, of CuPy's pool, and of ours.

    If RMM pools memory, it does not tell what it would lend: all of the memory counts as free.
    """
    free, total = cupy.cuda.Device(device).mem_info
    if "rmm" in sys.modules:
        resource = sys.modules["rmm"].mr.get_current_device_resource()
        if type(resource).__name__ != "CudaMemoryResource":
            return int(total)
    kept = cupy.get_default_memory_pool().free_bytes() + device_memory.idle(device)
    return int(free) + int(kept)


class BlockStore:
    """Arrays in memory of the host, pinned in as few pieces as possible: pinning takes long."""

    def __init__(self, engine: GpuEngine) -> None:
        self.engine, self.copies = engine, engine.copies()
        self._free = self.copies.host(0, "uint8")
        self._sources: list[Array] = []  # arrays whose copies may still run

    def close(self) -> None:
        """Do nothing: the memory is freed with its last reference."""

    def reserve(self, size: int) -> None:
        """Pin memory for arrays of so many bytes, eight more for each array."""
        if size > len(self._free):
            self._free = self.copies.host(size, "uint8")

    def store(self, array: Array, over: Array | None = None) -> Array:
        """Keep an array, in place of the array `over`, if any, which is no smaller.

        The array is not to be written before `synchronize`.
        """
        stored = self._place(len(array), array.dtype, over)
        self.copies.down(array, stored)
        self._sources.append(array)
        return stored

    def _place(self, size: int, dtype: Any, over: Array | None) -> Array:
        """Return memory of the host for an array: part of the array `over`, or pinned anew."""
        need = size * np.dtype(dtype).itemsize
        if over is not None:
            return over.view("uint8")[:need].view(dtype)
        aligned = -(-need // 8) * 8
        if aligned > len(self._free):
            self.reserve(max(aligned, PIECE))
        stored, self._free = self._free[:need].view(dtype), self._free[aligned:]
        return stored

    def pooled(self, size: int) -> AbstractContextManager[Any]:
        """Let arrays on the GPU that are made within be parts of one piece of `size` bytes."""
        pooled: AbstractContextManager[Any] = self.copies.pooled(size)
        return pooled

    def apart(self) -> AbstractContextManager[Any]:
        """Let arrays on the GPU that are made within outlive the piece."""
        apart: AbstractContextManager[Any] = self.copies.apart()
        return apart

    def synchronize(self) -> None:
        """Return when all arrays that were stored are kept."""
        self.copies.finish()
        self._sources.clear()

    def load(self, stored: Array) -> Array:
        """Copy an array to the GPU, after all that was stored before."""
        array = self.engine.xp.empty(len(stored), stored.dtype)
        self.copies.up(stored, array, [self.copies.mark()])
        self.release()
        return array

    def release(self) -> None:
        """Let what is launched from now on wait for all copies: it may use their memory."""
        self.copies.follow()
        self._sources.clear()


class SlotPool:
    """Slots for blocks on the GPU, side by side in one array.

    Parameters
    ----------
    store : BlockStore
    slots, edges, rows : int
        The number of slots, and the edges and rows that a block may have.
    """

    def __init__(self, store: BlockStore, slots: int, edges: int, rows: int) -> None:
        engine = store.engine
        xp, self._engine, self._copies = engine.xp, engine, store.copies
        store.synchronize()
        self._size, self._rows = -(-edges // CHUNK) * CHUNK, rows + 1
        self._columns = xp.empty(slots * self._size, "uint32")
        self._codes = engine.empty_codes(slots * self._size + CHUNK)
        self._offsets = xp.empty((slots, self._rows), "int64")
        self._narrow: list[Array] = [xp.empty(4 * rows, "uint8") for _ in range(slots)]
        self._row_lengths = list(self._narrow)  # the lengths of the rows of each slot's block
        start = self._copies.mark()  # of what used this memory before
        self._released, self._loaded = [start] * slots, [start] * slots
        self._edges, self._fresh = [0] * slots, [False] * slots

    def load(self, slot: int, lengths: Array, columns: Array) -> None:
        """Copy a block of the store into a slot, after the last kernel that reads the slot."""
        at, after = slot * self._size, [self._released[slot]]
        self._copies.up(columns, self._columns[at : at + len(columns)], after)
        on_gpu = self._narrow[slot][: lengths.nbytes].view(lengths.dtype)
        self._loaded[slot] = self._copies.up(lengths, on_gpu, [])
        self._row_lengths[slot], self._edges[slot], self._fresh[slot] = on_gpu, len(columns), True

    def block(self, slot: int) -> SlotView:
        """Return the block of a slot, ready to be read."""
        at, m, lengths = slot * self._size, self._edges[slot], self._row_lengths[slot]
        offsets = self._offsets[slot, : len(lengths) + 1]
        columns = self._columns[at : at + m]
        if self._fresh[slot]:
            self._copies.wait(self._loaded[slot])
            offsets[:1] = 0
            self._engine.xp.cumsum(lengths, dtype="int64", out=offsets[1:])
            write_codes(self._engine, columns, self._codes[at : at + m])
            self._fresh[slot] = False
        return SlotView(offsets, columns, self._columns, self._codes, at)

    def release(self, slot: int) -> None:
        """Say that nothing launched from now on reads the slot before another block is loaded."""
        self._released[slot] = self._copies.mark()


def block_store(engine: GpuEngine) -> BlockStore:
    """Make a store for arrays outside of the GPU."""
    return BlockStore(engine)


def slot_pool(engine: GpuEngine, store: BlockStore, slots: int, edges: int, rows: int) -> SlotPool:
    """Make slots for blocks of a store."""
    return SlotPool(store, slots, edges, rows)
