"""The ranks and the numbers of ids, found by kernels, on the CUDA engine.

The functions are methods of `rapids_tc.engines.gpu.cuda.CudaEngine`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.engines.neighbor_rows import NO_VERTEX
from rapids_tc.kernels import launch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rapids_tc.engines.gpu.layout import GpuEngine
    from rapids_tc.kernels.method import Kernel
    from rapids_tc.preparation.csr import Array

_MOST_IDS = 1 << 30  # places of the table are numbered in 32 bits


def rank_finder(engine: GpuEngine, part: Any, rank: Array) -> Callable[[Array], Array] | None:
    """Return a function that finds the ranks of ids: see `rapids_tc.engines.protocol.Engine`.

    Ids that are not dense take 8 bytes each, and their table 8 to 16 more.
    """
    if part.kind != "integer" or part.size > _MOST_IDS:
        return None
    xp = engine.xp
    if part.dense:
        none = xp.empty(0, "uint64"), xp.empty(0, "uint32"), np.uint32(0)
        return partial(_find_ranks, engine, rank, (part.base, part.size), none)
    with engine.device(rank):
        ids = part.words(xp.arange(part.size))
        bits = (2 * part.size).bit_length()
        table = xp.full(1 << bits, NO_VERTEX, "uint32")
        arguments = (ids, None, np.uint64(part.size), table, np.uint32(bits))
        launch.per_element(_kernels(engine)["fill_table"], part.size, *arguments)
    return partial(_find_ranks, engine, rank, (0, 0), (ids, table, np.uint32(bits)))


def _find_ranks(
    engine: GpuEngine, rank: Array, dense: tuple[int, int], table: tuple[Any, ...], words: Array
) -> Array:
    """Find the ranks of words: of ids in a table, or of dense ids, a base and a size."""
    base, size = dense
    with engine.device(rank):
        ranks = engine.xp.empty(len(words), "uint32")
        ids = (words, np.uint64(len(words)), np.uint64(base % 2**64), np.uint64(size))
        launch.per_element(_kernels(engine)["find_ranks"], len(words), *ids, *table, rank, ranks)
        return ranks


class NumberTable:
    """The numbers of integers: see `rapids_tc.engines.protocol.IdNumbers`.

    Each word that comes has a place of its own in `_ids`, which may become its number. So no word
    waits for another, nor the host for the GPU.
    """

    def __init__(self, engine: GpuEngine) -> None:
        self._engine, self._size = engine, 0
        self._ids, self._table = engine.xp.zeros(0, "uint64"), engine.xp.zeros(0, "uint32")

    def __len__(self) -> int:
        return self._size

    def find(self, ids: Array) -> Array:
        """Return the numbers (uint32) of words of 64 bits; see the protocol."""
        xp, first, self._size = self._engine.xp, self._size, self._size + len(ids)
        with self._engine.device(ids):
            if self._size > len(self._ids):
                numbers = self._table[xp.flatnonzero(self._table != np.uint32(NO_VERTEX))]
                self._hold(self._ids[:first], 2 * self._size, numbers)
            self._ids[first : self._size] = ids
            numbers = xp.empty(len(ids), "uint32")
            arguments = np.uint64(first), np.uint64(len(ids)), self._table, self._bits, numbers
            kernel = _kernels(self._engine)["number_ids"]
            launch.per_element(kernel, len(ids), self._ids, *arguments)
            return numbers

    def keep(self, numbers: list[Array], room: int) -> list[Array]:
        """Forget all but some numbers, and return what these are from now on; see the protocol."""
        xp = self._engine.xp
        with self._engine.device(self._ids):
            used = xp.zeros(self._size, bool)
            for some in numbers:
                used[some] = True
            kept, renamed = xp.flatnonzero(used), xp.cumsum(used, dtype="uint32") - np.uint32(1)
            self._hold(self._ids[kept], len(kept) + room)
            self._size = len(kept)
            return [renamed[some] for some in numbers]

    def _hold(self, ids: Array, room: int, numbers: Array | None = None) -> None:
        """Hold ids, with room for so many; of all, or of some numbers, no two have the same id."""
        xp = self._engine.xp
        self._ids = xp.empty(room, "uint64")
        self._ids[: len(ids)] = ids
        self._bits = np.uint32((2 * room).bit_length())
        self._table = xp.full(1 << int(self._bits), NO_VERTEX, "uint32")
        size = len(ids if numbers is None else numbers)
        arguments = self._ids, numbers, np.uint64(size), self._table, self._bits
        launch.per_element(_kernels(self._engine)["fill_table"], size, *arguments)


def number_ids(engine: GpuEngine) -> NumberTable:
    """Return what numbers integers: see `rapids_tc.engines.protocol.Engine`."""
    return NumberTable(engine)


def _kernels(engine: GpuEngine) -> Mapping[str, Kernel]:
    """Return the kernels of ``id_table.cu``."""
    names = "fill_table", "find_ranks", "number_ids"
    return engine.compile(launch.read("id_table.cu"), names, ())
