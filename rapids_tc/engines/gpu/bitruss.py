"""The bitruss decomposition on the CUDA engine; see `rapids_tc.engines.blooms`.

Blooms are made of some wedges at a time, by a sort; ``bitruss.cu`` peels in one launch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.engines.blooms import NO_BLOOM, Blooms, WedgeLists, require_index
from rapids_tc.kernels import launch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rapids_tc.engines.protocol import ProgressCallback
    from rapids_tc.engines.wedges import WedgeRows
    from rapids_tc.kernels.method import Kernel
    from rapids_tc.preparation.csr import Array

_THREADS, _EACH, _WARP = 1024, 8, 32  # as in peel.cuh and block.cuh; threads of a warp
_DONE, _LEVEL, _ROUND, _HEAD, _FAR, _STATE = 0, 1, 3, 4, 7, 28  # places in State, its words
_STEPS = ("number_edges", "write_ends", "pair_edges")


@dataclass(frozen=True)
class CudaBitruss:
    """A bitruss peeler on a GPU, or on the emulator.

    Attributes
    ----------
    xp, compile, sm_count
        As in `rapids_tc.engines.gpu.cuda.CudaEngine`.
    batch : int
        Wedges whose keys are sorted at a time, if those of one vertex are no more.
    share : int
        Edges of a block: a small graph has fewer blocks than the GPU has multiprocessors, since
        the barrier of all blocks costs more the more blocks there are.
    rounds : int
        Rounds of one launch; progress and Ctrl-C come through between two launches.
    threads : int
        Threads of a block; tests on the emulator take few.
    options : tuple of str
        Options of the compiler.
    """

    xp: Any
    compile: Callable[..., Mapping[str, Kernel]]
    sm_count: int
    batch: int = 1 << 24
    share: int = 1 << 11
    rounds: int = 1 << 11
    threads: int = _THREADS
    options: tuple[str, ...] = ()

    def decompose(
        self,
        wedges: WedgeRows,
        squares: Array,
        memory: int,
        *,
        on_progress: ProgressCallback | None = None,
    ) -> Array:
        """Find the bitruss number of every edge; see `rapids_tc.engines.protocol.Engine`."""
        xp, m = self.xp, wedges.csr.m
        if m == 0:
            return xp.zeros(0, "int32")
        lists, starts = self.list_wedges(wedges)
        require_index(int(starts[-1]), memory, self.batch)
        blooms = self.make_blooms(lists, starts)
        del starts
        words = xp.empty(m, "uint64")
        words[lists.numbers] = squares
        blocks = min(self.sm_count, max(1, m // self.share))
        result = xp.empty(m, "uint32")
        if not self._peel(blooms, words, result, blocks, on_progress):
            self._peel(blooms, words, result, 1, on_progress)
        return result[lists.numbers].view("int32")

    def list_wedges(self, wedges: WedgeRows) -> tuple[WedgeLists, Array]:
        """Give edges and wedges their numbers; return where each list of wedges starts, too."""
        xp, csr, rows = self.xp, wedges.csr, wedges.rows
        lower, numbers, sizes = (xp.empty(csr.m, "uint32") for _ in range(3))
        edges = (csr.offsets, rows.offsets - csr.offsets, rows.columns, wedges.places)
        counts = np.uint64(csr.n), np.uint64(csr.m)
        self._step("number_edges", -(-csr.m // _EACH), *edges, *counts, lower, numbers, sizes)
        starts = xp.zeros(csr.m + 1, "int64")
        xp.cumsum(sizes, out=starts[1:])
        return WedgeLists(wedges, lower, numbers, starts[:-1] - wedges.places), starts

    def make_blooms(self, lists: WedgeLists, starts: Array) -> Blooms:
        """Find the blooms of all wedges, those of some vertices at a time."""
        xp, wedges = self.xp, lists.wedges
        size = int(starts[-1])
        bloom_of, pairs = xp.full(size, NO_BLOOM, "uint32"), xp.empty((size, 2), "uint32")
        begins, blooms, kept = [xp.zeros(1, "int64")], 0, 0
        firsts = wedges.rows.offsets - wedges.csr.offsets  # of each vertex, its first list
        for first, last, begin, end in self._parts(firsts, starts):
            keys, of_list = xp.empty(end - begin, "uint64"), xp.empty(end - begin, "uint32")
            part = (self._pack(lists), np.uint32(first), np.uint32(last), np.uint64(begin))
            self._step("write_ends", (last - first) * _WARP, *part, keys, of_list)
            order, sizes = self._group(keys)
            del keys
            numbers = xp.zeros(len(order), "int64")  # of the bloom of each wedge, from 0 on
            ends = xp.cumsum(sizes)
            numbers[ends[:-1]] = 1
            xp.cumsum(numbers, out=numbers)
            places = (np.int64(blooms), np.uint64(begin), of_list, pairs[kept:], bloom_of)
            counted = (order, numbers, np.uint64(len(order)))
            self._step("pair_edges", len(order), self._pack(lists), *counted, *places)
            begins.append(ends + kept)
            blooms, kept = blooms + len(sizes), kept + len(order)
        return Blooms(lists, bloom_of, xp.concatenate(begins), pairs)

    def _parts(self, firsts: Array, starts: Array) -> list[tuple[int, int, int, int]]:
        """Return the lists of vertices that are sorted together, and their wedges, as ranges."""
        xp, ends = self.xp, starts[firsts]
        total = int(ends[-1])
        targets = xp.arange(self.batch, total + 1, self.batch)
        found = xp.searchsorted(ends, targets, side="right") - 1
        vertices = xp.unique(xp.concatenate([xp.zeros(1, found.dtype), found]))
        lists = [*firsts[vertices].tolist(), len(starts) - 1]
        cuts = [*starts[firsts[vertices]].tolist(), total]
        parts = zip(lists, lists[1:], cuts, cuts[1:], strict=False)
        return [part for part in parts if part[3] > part[2]]

    def _group(self, keys: Array) -> tuple[Array, Array]:
        """Return the places of keys that are there several times, key by key, and how often."""
        xp = self.xp
        order = xp.argsort(keys)
        keys = keys[order]
        starts = xp.concatenate([xp.ones(1, bool), keys[1:] != keys[:-1]])
        begins = xp.flatnonzero(starts)
        sizes = xp.diff(begins, append=xp.asarray([len(keys)]))
        several = sizes > 1
        return order[several[xp.cumsum(starts) - 1]], sizes[several]

    def _peel(
        self,
        blooms: Blooms,
        words: Array,
        result: Array,
        blocks: int,
        on_progress: ProgressCallback | None,
    ) -> bool:
        """Peel all levels; return False if the GPU cannot hold all blocks."""
        xp, m = self.xp, len(words)
        name = "bitruss_peel"
        kernel = self.compile(launch.read("bitruss.cu"), (name,), self.options)[name]
        sizes = xp.diff(blooms.begins).astype("uint32")
        taken, touched = xp.zeros(len(sizes), "uint32"), xp.empty(len(sizes), "uint32")
        index = (blooms.begins, blooms.pairs, sizes, taken, touched)
        queue = xp.empty(m, "uint32")
        near, far = xp.empty(2 * m, "uint32"), xp.empty(2 * m, "uint32")
        far[:m] = xp.arange(m, dtype="uint32")
        state = xp.zeros(_STATE, "uint32")
        state[_FAR] = m
        args = (
            self._pack(blooms.lists),
            launch.Payload(index).pack(blooms.bloom_of),
            launch.Payload((result, queue, near, far)).pack(words),
            np.uint32(m), np.uint32(self.rounds), state,
        )  # fmt: skip

        def is_done(values: list[int]) -> bool:
            if on_progress is not None:
                dead = values[_HEAD]
                note = f"k = {values[_LEVEL]}, {m - dead:,} edges, round {values[_ROUND]:,}"
                on_progress(dead / m, note)
            return bool(values[_DONE])

        return launch.until_done(kernel, blocks, self.threads, args, is_done)

    @staticmethod
    def _pack(lists: WedgeLists) -> np.ndarray:
        """Return the lists as ``wedge_lists.cuh`` reads them."""
        wedges, csr = lists.wedges, lists.wedges.csr
        rows = (wedges.rows.offsets, wedges.rows.columns, wedges.places)
        return launch.Payload((*rows, lists.lower, lists.numbers, lists.bases)).pack(csr.offsets)

    def _step(self, kernel: str, size: int, *args: Any) -> None:
        """Launch a kernel of ``blooms.cu`` with a thread per element."""
        kernels = self.compile(launch.read("blooms.cu"), _STEPS, ())
        launch.per_element(kernels[kernel], size, *args)
