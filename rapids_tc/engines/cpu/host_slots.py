"""Where the CPU engine keeps what is not in memory: a temporary file, and rooms for what is read.

Arrays are read from the file when they are needed, not mapped: what they take is memory, counted.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from rapids_tc.engines.host import trim
from rapids_tc.errors import CapacityError
from rapids_tc.preparation.csr import Array, Csr

STAGES = {  # see `rapids_tc.engines.Costs`
    "order": (0, 48),
    "orient": (18, 16),
    "sample": (20, 32),
    "numbers": (8, 0),
    "layout": (12, 24),
    "count": (12, 24),
    "count by edge": (20, 32),
    "peel": (68, 80),
    "by vertex": (16, 96),
    "by row": (50, 32),
    "by row from degrees": (72, 32),
    "weights by vertex": (56, 64),
    "listing": (26, 40),
    "edges": (46, 8),
}


def task_bytes(table: int, edges: int, rows: int, sides: bool, slots: int) -> int:
    """See `rapids_tc.engines.Costs`; `table` is the slots of all threads' tables together."""
    blocks = slots * (4 * edges + 8 * rows)
    layout = 8 * edges + 32 * rows + table * (4 if sides else 1)
    return blocks + layout + (20 * edges + 32 * rows if sides else 0)


@dataclass(frozen=True)
class Kept:
    """An array outside of memory."""

    at: int
    size: int
    dtype: np.dtype


class BlockStore:
    """Keep arrays in a temporary file, which is removed when closed or with its last reference.

    An array comes back whole and unchanged, or an error is raised. The system may write or read
    only a part of what was asked for, and C's streams hide this: so bytes are counted here.
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
        """Nothing: a file grows."""

    def store(self, array: Array, over: Kept | None = None) -> Kept:
        """Keep an array, in place of one that is no smaller where that is given."""
        kept = Kept(over.at if over else self._end, len(array), array.dtype)
        self._write(kept, array)
        self._end = max(self._end, kept.at + array.nbytes)
        return kept

    @contextmanager
    def pooled(self, size: int) -> Iterator[None]:
        """Let what was freed before, and then within, be no memory of this process."""
        trim()
        yield
        trim()

    def synchronize(self) -> None:
        """Free memory alone: what was put is kept."""
        trim()

    def zeros(self, size: int, dtype: str, over: Kept | None = None) -> Kept:
        """Keep zeros, to which arrays are added; in place of an array that is no smaller."""
        return self.store(np.zeros(size, dtype), over)

    def add(self, kept: Kept, array: Array) -> None:
        """Add to an array that is kept."""
        self._write(kept, self.load(kept) + array)

    def load(self, kept: Kept) -> Array:
        """The array, in memory."""
        array = np.empty(kept.size, kept.dtype)
        with _disk_errors(f"{array.nbytes:,} bytes of it cannot be read"):
            self._each_part(kept, array, self._file.readinto)
        return array

    def _write(self, kept: Kept, array: Array) -> None:
        with _disk_errors(f"{array.nbytes:,} bytes more do not fit it"):
            self._each_part(kept, np.ascontiguousarray(array), self._file.write)

    def _each_part(self, kept: Kept, array: Array, move: Callable[[Array], int]) -> None:
        """Write or read an array, part by part, until it is whole."""
        left = array.view("uint8")
        self._file.seek(kept.at)
        while len(left):
            moved = move(left)
            if not moved:
                raise OSError(f"{len(left):,} of them are missing")
            left = left[moved:]


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


class SlotPool:
    """Places for blocks in memory.

    Parameters
    ----------
    shelf : Shelf
    slots, edges, rows : int
        How many there are, and how large a block may be.
    """

    def __init__(self, store: BlockStore, slots: int, edges: int, rows: int) -> None:
        self._store, self._blocks = (
            store,
            [Csr(np.zeros(1, np.int64), np.zeros(0, np.uint32))] * slots,
        )

    def load(self, slot: int, offsets: Kept, columns: Kept) -> None:
        """Put a block of the shelf into a slot."""
        self._blocks[slot] = Csr(np.zeros(1, np.int64), np.zeros(0, np.uint32))  # out first
        trim()  # of what the last task freed, too
        starts = self._store.load(offsets).astype(np.int64)
        self._blocks[slot] = Csr(starts, self._store.load(columns))

    def block(self, slot: int) -> Any:
        """The block of a slot, ready to be read."""
        return self._blocks[slot]

    def release(self, slot: int) -> None:
        """Nothing reads the slot any more."""
