"""The CPU engine's block store, a temporary file, and the slots in memory that blocks are read to.

Arrays are read from the file when they are needed, not mapped, so that the memory that they take
is counted.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.engines.host import trim
from rapids_tc.errors import CapacityError
from rapids_tc.plan import costs
from rapids_tc.preparation.csr import Array, Csr

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def task_bytes(table: int, edges: int, rows: int, sides: bool, slots: int) -> int:
    """Return the bytes of a task: see `rapids_tc.engines.protocol.Costs`.

    `table` is the number of slots of all threads' tables together.
    """
    own, slot = costs.TASK["cpu"], costs.TABLE_SLOT["place" if sides else "mark"]
    layout = costs.total(own["layout"], edges, rows) + slot * table
    counts = costs.total(own["counts"], edges, rows) if sides else 0
    return slots * costs.total(own["block"], edges, rows) + layout + counts


@dataclass(frozen=True)
class StoredArray:
    """The place of an array in the file."""

    at: int
    size: int
    dtype: np.dtype[Any]


class BlockStore:
    """Keep arrays in a temporary file, which is removed when closed or with its last reference.

    An array is read back whole and unchanged, or an error is raised. The system may write or read
    only a part of the bytes, and C's streams hide this, so the bytes are counted by this class.
    """

    def __init__(self) -> None:
        with _disk_errors("none can be made"):
            self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - see `close`
        self._end = 0

    def close(self) -> None:
        """Free the disk, even if an error's traceback still holds a reference to this object.

        Some file systems report a lost write only when the file is closed.
        """
        with _disk_errors("not all of it was kept"):
            self._file.close()

    def reserve(self, size: int) -> None:
        """Do nothing: a file grows."""

    def store(self, array: Array, over: StoredArray | None = None) -> StoredArray:
        """Keep an array, in place of the array `over`, if any, which is no smaller."""
        stored = StoredArray(over.at if over else self._end, len(array), array.dtype)
        self._write(stored, array)
        self._end = max(self._end, stored.at + array.nbytes)
        return stored

    @contextmanager
    def pooled(self, size: int) -> Iterator[None]:
        """Give memory that is free back to the system, before and after the block of code."""
        trim()
        yield
        trim()

    def apart(self) -> AbstractContextManager[None]:
        """Do nothing: each array is apart."""
        return nullcontext()

    def synchronize(self) -> None:
        """Give free memory back to the system; all arrays are kept already."""
        trim()

    def release(self) -> None:
        """Do the same: nobody waits for a copy."""
        trim()

    def load(self, stored: StoredArray) -> Array:
        """Read an array into memory."""
        array = np.empty(stored.size, stored.dtype)
        with _disk_errors(f"{array.nbytes:,} bytes of it cannot be read"):
            self._each_part(stored, array, self._file.readinto)
        return array

    def _write(self, stored: StoredArray, array: Array) -> None:
        with _disk_errors(f"{array.nbytes:,} bytes more do not fit it"):
            self._each_part(stored, np.ascontiguousarray(array), self._file.write)

    def _each_part(self, stored: StoredArray, array: Array, move: Callable[[Array], int]) -> None:
        """Write or read an array, part by part, until it is whole."""
        rest = array.view("uint8")
        self._file.seek(stored.at)
        while len(rest):
            moved = move(rest)
            if not moved:
                raise OSError(f"{len(rest):,} of them are missing")
            rest = rest[moved:]


@contextmanager
def _disk_errors(what: str) -> Iterator[None]:
    """Turn an OSError of the disk (full, broken or missing) into a CapacityError."""
    try:
        yield
    except OSError as error:
        folder = tempfile.tempdir or os.environ.get("TMPDIR", "a folder of the system")
        raise CapacityError(
            f"blocks of the graph are kept in a temporary file in {folder}, and {what}: {error}; "
            "TMPDIR names a folder that is there, may be written to and has more room"
        ) from error


_EMPTY = Csr(np.zeros(1, np.int64), np.zeros(0, np.uint32))


class SlotPool:
    """Slots for blocks in memory.

    Parameters
    ----------
    store : BlockStore
    slots, edges, rows : int
        The number of slots, and the edges and rows that a block may have.
    """

    def __init__(self, store: BlockStore, slots: int, edges: int, rows: int) -> None:
        self._store, self._blocks = store, [_EMPTY] * slots

    def load(self, slot: int, lengths: StoredArray, columns: StoredArray) -> None:
        """Load a block of the store into a slot, in place of the block before."""
        self._blocks[slot] = _EMPTY  # frees the block before, so that both are never held at once
        trim()  # also gives back what the last task freed
        starts = np.zeros(lengths.size + 1, np.int64)
        np.cumsum(self._store.load(lengths), dtype=np.int64, out=starts[1:])
        self._blocks[slot] = Csr(starts, self._store.load(columns))

    def block(self, slot: int) -> Csr:
        """Return the block of a slot, ready to be read."""
        return self._blocks[slot]

    def release(self, slot: int) -> None:
        """Do nothing: the slot keeps its block until another is loaded."""
