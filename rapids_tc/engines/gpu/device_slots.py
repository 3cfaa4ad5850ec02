"""Where the CUDA engine keeps what is not on the card: pinned memory, and a room for what is.

Copies run on a stream of their own. A block may be copied into a slot only when what read the slot
before is done, and read only when the copy is done: both are waited for by the card, by events.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any

import numpy as np

from rapids_tc.engines.gpu.block_layout import write_codes
from rapids_tc.engines.gpu.layout import SlotView
from rapids_tc.engines.protocol import Costs
from rapids_tc.errors import CapacityError
from rapids_tc.preparation.csr import Array


def task_bytes(edges: int, rows: int, sides: bool, slots: int) -> int:
    """See `rapids_tc.engines.Costs`."""
    blocks = slots * (6 * edges + 12 * rows)
    layout = 17 * edges + 56 * rows
    return blocks + layout + ((4 * slots + 8) * edges + 32 * rows if sides else 0)


# The blocks of a task and of the next; where edges are counted, uv stays too.
COSTS = Costs(
    stages={
        "order": (16, 0),
        "orient": (28, 0),
        "sample": (16, 0),
        "numbers": (8, 0),
        "layout": (22, 32),
        "count": (12, 32),
        "count by edge": (12, 32),
        "peel": (64, 80),
        "by vertex": (24, 56),
        "by row": (60, 32),
        "by row from degrees": (80, 32),
        "listing": (60, 32),
        "weights by vertex": (76, 56),
        "edges": (66, 0),
    },
    tables=lambda vertices, sides: 0,
    most=2**31,
    positions=2**32,
    unasked=2**30,
    text=0,
    order=40,
    sort=17,
    row=0,
    uv_stays_loaded=False,
    prefetch=True,
    slots=lambda sides: 4 + sides,
    task=task_bytes,
)


class HostCopies:
    """Copies between arrays of NumPy, as the emulator has them: each is done at once."""

    def host(self, size: int, dtype: Any) -> np.ndarray:
        """An array of the host that a card copies from and to by itself."""
        return np.empty(size, dtype)

    def mark(self) -> Any:
        """What has been launched so far, to be waited for."""

    def wait(self, mark: Any) -> None:
        """Let what is launched from now on wait."""

    def up(self, host: np.ndarray, device: Array, after: list[Any]) -> Any:
        """Copy to the card when all of that is done; the mark of the copy."""
        device[...] = host

    def down(self, device: Array, host: np.ndarray) -> None:
        """Copy from the card what is there when all that is launched is done."""
        host[...] = device

    def finish(self) -> None:
        """Return when all copies are done."""

    def pooled(self, size: int) -> AbstractContextManager[Any]:
        """A block in which what is let go is kept for what is asked for next."""
        return nullcontext()


class CardCopies:
    """Copies on a stream of their own.

    Parameters
    ----------
    cupy : module
    """

    def __init__(self, cupy: Any) -> None:
        self._cuda, self._stream = cupy.cuda, cupy.cuda.Stream(non_blocking=True)

    def host(self, size: int, dtype: Any) -> np.ndarray:
        need = max(size * np.dtype(dtype).itemsize, 1)
        try:
            pinned = self._cuda.alloc_pinned_memory(need)
        except self._cuda.runtime.CUDARuntimeError as error:
            raise CapacityError(
                f"{need:,} bytes of the host's memory cannot be pinned for blocks: {error}; "
                "free some of it, or raise memory_limit= so that the graph stays on the card"
            ) from error
        return np.frombuffer(pinned, dtype, size)

    def mark(self) -> Any:
        return self._mark(self._cuda.get_current_stream())

    def wait(self, mark: Any) -> None:
        self._cuda.get_current_stream().wait_event(mark)

    def up(self, host: np.ndarray, device: Array, after: list[Any]) -> Any:
        for mark in after:
            self._stream.wait_event(mark)
        device.data.copy_from_host_async(host.ctypes.data, host.nbytes, self._stream)
        return self._mark(self._stream)

    def down(self, device: Array, host: np.ndarray) -> None:
        self._stream.wait_event(self.mark())
        device.data.copy_to_host_async(host.ctypes.data, host.nbytes, self._stream)

    def finish(self) -> None:
        self._stream.synchronize()

    @contextmanager
    def pooled(self, size: int) -> Iterator[None]:
        """Lend memory from one piece of `size` bytes, and take more only when that is full.

        The user's allocator may ask the device for every array, which is slow, and freeing waits
        for all copies. Several pieces would be fragmented: a small array in each leaves no room for
        a large one, and up to two thirds more memory were taken than the arrays had.
        """
        outer = self._cuda.get_allocator()
        pool: Any = None

        def take(size: int) -> Any:
            pool.free_all_blocks()
            try:
                return outer(size)
            except MemoryError:  # parts that an error left behind hold one another, and all of it
                gc.collect()
                return outer(size)

        pool = self._cuda.MemoryPool(take)
        try:
            with suppress(MemoryError):  # the user's pool may have no piece as large, but smaller
                pool.malloc(size)  # let go of at once, which leaves it to the pool
            with self._cuda.using_allocator(pool.malloc):
                yield
        finally:
            pool.free_all_blocks()
            pool = None  # else it and `take` hold each other

    def _mark(self, stream: Any) -> Any:
        return stream.record(self._cuda.Event(disable_timing=True))


def free_memory(cupy: Any, device: int) -> int:
    """Bytes that may be taken: those of the device, and those that CuPy's pool has and lends again.

    Where RMM has pooled memory it does not tell what it would lend: all of it is taken for free.
    """
    free, total = cupy.cuda.Device(device).mem_info
    if "rmm" in sys.modules:
        resource = sys.modules["rmm"].mr.get_current_device_resource()
        if type(resource).__name__ != "CudaMemoryResource":
            return int(total)
    return int(free) + int(cupy.get_default_memory_pool().free_bytes())


class BlockStore:
    """Arrays in memory of the host, pinned in as few pieces as can be: pinning takes long."""

    def __init__(self, engine: Any) -> None:
        self._engine, self.copies = engine, engine.copies()
        self._free = self.copies.host(0, "uint8")
        self._sources: list[Array] = []  # of copies that may still run

    def close(self) -> None:
        """Do nothing: the memory is freed with its last reference."""

    def reserve(self, size: int) -> None:
        """Pin memory for arrays of so many bytes, eight more each."""
        if size > len(self._free):
            self._free = self.copies.host(size, "uint8")

    def store(self, array: Array, over: np.ndarray | None = None) -> np.ndarray:
        """Keep an array, in place of one that is no smaller where that is given.

        It is not to be written before `synchronize`.
        """
        if over is not None:
            kept = over[: len(array)]
        else:
            size = -(-array.nbytes // 8) * 8
            self.reserve(size)
            kept, self._free = self._free[: array.nbytes].view(array.dtype), self._free[size:]
        self.copies.down(array, kept)
        self._sources.append(array)
        return kept

    def pooled(self, size: int) -> AbstractContextManager[Any]:
        """A block in which arrays on the card are parts of one piece of `size` bytes."""
        return self.copies.pooled(size)

    def synchronize(self) -> None:
        """Return when what was put is kept."""
        self.copies.finish()
        self._sources.clear()

    def zeros(self, size: int, dtype: str, over: np.ndarray | None = None) -> np.ndarray:
        """Keep zeros, to which arrays are added; in place of an array that is no smaller."""
        if over is None:
            return np.zeros(size, dtype)
        over[:size] = 0
        return over[:size]

    def add(self, kept: np.ndarray, array: Array) -> None:
        """Add to an array that is kept."""
        kept += array if isinstance(array, np.ndarray) else array.get()

    def load(self, kept: np.ndarray) -> Array:
        """The array on the card."""
        self.synchronize()
        return self._engine.xp.array(kept)


class SlotPool:
    """Slots for blocks on the card, side by side in one array.

    Parameters
    ----------
    shelf : Shelf
    slots, edges, rows : int
        How many there are, and how large a block may be.
    """

    def __init__(self, store: BlockStore, engine: Any, slots: int, edges: int, rows: int) -> None:
        xp, self._engine, self._copies = engine.xp, engine, store.copies
        store.synchronize()
        self._size, self._rows = -(-edges // 8) * 8, rows + 1
        self._columns = xp.empty(slots * self._size, "uint32")
        self._codes = engine.empty_codes(slots * self._size + 8)
        self._offsets = xp.empty((slots, self._rows), "int64")
        self._narrow = xp.empty((slots, self._rows), "uint32")
        start = self._copies.mark()  # what had this memory before
        self._left, self._loaded = [start] * slots, [start] * slots
        self._lengths, self._fresh = [(0, 0)] * slots, [False] * slots

    def load(self, slot: int, offsets: np.ndarray, columns: np.ndarray) -> None:
        """Copy a block of the shelf into a slot, when what reads it now is done."""
        at, after = slot * self._size, [self._left[slot]]
        self._copies.up(columns, self._columns[at : at + len(columns)], after)
        self._loaded[slot] = self._copies.up(offsets, self._narrow[slot, : len(offsets)], [])
        self._lengths[slot], self._fresh[slot] = (len(offsets), len(columns)), True

    def block(self, slot: int) -> SlotView:
        """The block of a slot, ready to be read."""
        at, (rows, m) = slot * self._size, self._lengths[slot]
        offsets, columns = self._offsets[slot, :rows], self._columns[at : at + m]
        if self._fresh[slot]:
            self._copies.wait(self._loaded[slot])
            offsets[...] = self._narrow[slot, :rows]
            write_codes(self._engine, columns, self._codes[at : at + m])
            self._fresh[slot] = False
        return SlotView(offsets, columns, self._columns, self._codes, at)

    def release(self, slot: int) -> None:
        """What is launched so far is the last that reads the slot before another block comes."""
        self._left[slot] = self._copies.mark()


def block_store(engine: Any) -> BlockStore:
    """Where arrays are kept that are not on the card."""
    return BlockStore(engine)


def slot_pool(engine: Any, store: BlockStore, slots: int, edges: int, rows: int) -> SlotPool:
    """Where blocks of a shelf are put to be counted."""
    return SlotPool(store, engine, slots, edges, rows)
