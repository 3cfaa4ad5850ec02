"""The launches of the peel: `rapids_tc.engines.peel` says what is done, ``truss.cu`` how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.engines.peel import levels_of
from rapids_tc.kernels.launch import ANY_TRIANGLE, KindStruct, read, until_done

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rapids_tc.engines.protocol import ProgressCallback
    from rapids_tc.kernels.method import Kernel
    from rapids_tc.preparation.csr import Array, Csr

_THREADS, _WARP, _BUCKET, _SUMS, _TASK = 1024, 32, 8, 3, 4  # as in truss.cu; a task's words
_STAGE, _LEVEL, _ROUNDS, _EDGES, _DEAD, _STATE = 0, 1, 2, 3, 4, 26  # places in State, its words
_DONE = 2  # the stage when all is done
_MOST = (1 << 16) - 2  # the highest level: a larger clique has more edges than a GPU takes


@dataclass(frozen=True)
class CudaPeeler:
    """A peeler on a GPU, or on the emulator.

    Attributes
    ----------
    xp, compile, sm_count
        As in `rapids_tc.engines.gpu.cuda.CudaEngine`.
    share : int
        Edges of a block: a small graph has fewer blocks than the GPU has multiprocessors, since
        the barrier of all blocks costs more the more blocks there are.
    few : int
        Tasks of a round that one block peels, at most.
    many : int
        Tasks of a round after which the tasks of the next one are long.
    per_task : int
        Edges of the graph per task that is kept of a round. With more tasks than that, the warps
        look for the round's edges.
    shrink : int
        Rows are packed if fewer than so many 256ths of their edges are left.
    least : int
        Edges up to which rows are never packed.
    rounds, work : int
        Rounds and tasks of one launch; progress and Ctrl-C come through between two launches.
    threads : int
        Threads of a block; tests on the emulator take few.
    kind : KindStruct
        Which triangles count.
    options : tuple of str
        Options of the compiler.
    """

    xp: Any
    compile: Callable[..., Mapping[str, Kernel]]
    sm_count: int
    share: int = 1 << 11
    few: int = 64
    many: int = 1 << 16
    per_task: int = 8
    shrink: int = 192
    least: int = 1 << 14
    rounds: int = 1 << 14
    work: int = 1 << 26
    threads: int = _THREADS
    kind: KindStruct = ANY_TRIANGLE
    options: tuple[str, ...] = ()

    def decompose(
        self,
        csr: Csr,
        counts: Array,
        k: int | None = None,
        on_progress: ProgressCallback | None = None,
        *,
        levels: tuple[int, int] | None = None,
    ) -> Array:
        """Find the trussness of every edge: see `rapids_tc.engines.protocol.Engine`.

        Beside the result, 40 bytes per edge are taken, 36 of them only per edge in a triangle, and
        at most 76 per vertex.
        """
        words = counts.astype("uint32")  # a copy, which becomes the result
        active = 0 if k == 2 else self._active(words)
        if active == 0:
            words.fill(2)
            return words.view("int32")
        blocks = min(self.sm_count, max(1, active // self.share))
        first, last = (min(level, _MOST) for level in levels_of(k, levels))
        if not self._peel(csr, words, active, blocks, (first, last), on_progress):
            self._peel(csr, words, active, 1, (first, last), on_progress)
        return words.view("int32")

    def _active(self, words: Array) -> int:
        """Count the edges in a triangle."""
        state, m = self.xp.zeros(_STATE, "uint32"), len(words)
        if m:
            blocks = min(self.sm_count, -(-m // self.threads))
            self._kernels["truss_count"]((blocks,), (self.threads,), (words, np.uint32(m), state))
        return int(state[_EDGES])

    @property
    def _kernels(self) -> Mapping[str, Kernel]:
        """The kernels of ``truss.cu``."""
        options = (*self.options, f"-DRTC_KIND={self.kind.struct}")
        return self.compile(read("truss.cu"), ("truss_count", "truss_peel"), options)

    def _peel(
        self,
        csr: Csr,
        words: Array,
        active: int,
        blocks: int,
        levels: tuple[int, int],
        on_progress: ProgressCallback | None,
    ) -> bool:
        """Launch until all levels are done; return False if the GPU cannot hold all blocks."""
        kernel = self._kernels["truss_peel"]
        state = self.xp.zeros(_STATE, "uint32")
        graph = (csr.offsets, csr.columns, np.uint32(csr.n), np.uint32(csr.m))
        limits = self._limits(active, *levels)
        arrays = self._arrays(csr, words, active, blocks)
        args = (*graph, *arrays, *map(np.uint32, limits), self.kind.pack(), state)

        def is_done(values: list[int]) -> bool:
            if on_progress is not None:
                left = active - values[_DEAD]
                note = f"k = {values[_LEVEL] + 2}, {left:,} edges, round {values[_ROUNDS]:,}"
                on_progress(1 - left / active, note)
            return values[_STAGE] == _DONE

        return until_done(kernel, blocks, self.threads, args, is_done)

    def _arrays(self, csr: Csr, words: Array, active: int, blocks: int) -> tuple[Array, ...]:
        """Allocate what the kernel keeps: the arrays of ``truss.cuh``, then tasks and sums."""
        xp, n = self.xp, csr.n
        rows, edges = xp.empty(csr.m, "uint32"), xp.empty(active, "uint32")
        by_vertex, cursor = xp.zeros(4 * n, "uint32"), xp.empty(n, "uint32")
        vertices = (by_vertex[:n], by_vertex[n : 2 * n], by_vertex[2 * n :], cursor)
        # A table has room for half as many ids again, in whole buckets.
        slots = (_BUCKET - 1) * min(n, active) + active + active // 2
        adjacency = xp.empty(2 * active, "uint64")
        tables = xp.empty(slots, "uint32"), xp.empty(slots, "uint32")
        lengths = xp.empty(blocks * self.threads // _WARP, "uint32")
        tasks = xp.empty(2 * _TASK * self._room(active), "uint32")
        parts = xp.empty(_SUMS * blocks, "uint32")
        return (rows, words, *vertices, adjacency, *tables, edges, lengths, tasks, parts)

    def _limits(self, active: int, first: int, last: int) -> tuple[int, ...]:
        """Return the parameters of ``truss.cu``'s Limits, and what edges of higher levels get."""
        tasks = (self._room(active), self.few, self.many)
        packing = (self.shrink, self.least)
        return (first, last, *tasks, *packing, self.rounds, self.work, last + 3)

    def _room(self, active: int) -> int:
        """Return the tasks of a round that are kept."""
        return max(1, active // self.per_task)
