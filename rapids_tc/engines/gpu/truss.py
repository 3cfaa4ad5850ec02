"""Peeling with CUDA kernels: `_truss` says what is done, ``truss.cu`` how; this file launches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rapids_tc.engines.peel import ActiveGraph, PeelState
from rapids_tc.frames.backend import sum64
from rapids_tc.kernels import launch
from rapids_tc.preparation.csr import Array, Csr

_THREADS, _SMALL_THREADS, _ROW_LANES = 256, 1024, 8  # as in truss.cu
_BLOCKS_PER_SM = 8
_STAGE, _LEVEL, _HEAD, _ROUNDS, _STATE = 0, 1, 4, 7, 8  # places in State, and its size
_BEGIN, _SCAN, _SHRINK, _DONE = 0, 3, 5, 6  # stages
_MAKE = ("truss_rows", "truss_degrees", "truss_offsets", "truss_adjacency")
_PEEL = ("truss_mark", "truss_peel", "truss_scan", "truss_collect", "truss_small")


@dataclass(frozen=True)
class CudaPeeler:
    """Peels on a card, or on the emulator.

    Attributes
    ----------
    xp, compile, sm_count
        See `rapids_tc.engines.gpu.cuda.CudaEngine`.
    marked, steps : int
        Edges and steps of a round that one block peels, at most.
    scanned : int
        Edges of a graph that one block scans for the next level, at most.
    rounds : int
        Rounds of one launch of that block, at most: then progress and Ctrl-C come through.
    batch : int
        Large rounds that are launched before the host looks again.
    shrink : float
        Share of edges left at which `ActiveGraph` is made anew.
    least : int
        Edges of which no smaller `ActiveGraph` is made.
    """

    xp: Any
    compile: Callable[..., Mapping[str, Any]]
    sm_count: int
    marked: int = 1 << 11
    steps: int = 1 << 13
    scanned: int = 1 << 16
    rounds: int = 1 << 14
    batch: int = 4
    shrink: float = 0.75
    least: int = 1 << 16

    def rows(self, csr: Csr) -> Array:
        rows = self.xp.empty(csr.m, "uint32")
        self._make("truss_rows", _ROW_LANES * csr.n, csr.offsets, np.uint64(csr.n), rows)
        return rows

    def build_adjacency(self, rows: Array, columns: Array, n: int) -> tuple[Array, Array, Array]:
        xp, m = self.xp, np.uint32(len(rows))
        degrees, offsets = xp.zeros(n, "uint32"), xp.empty(n + 1, "int64")
        self._make("truss_degrees", m, columns, m, degrees)
        self._make("truss_offsets", n + 1, rows, m, np.uint64(n), offsets)
        smaller = offsets[1:] - offsets[:-1]
        starts = xp.zeros(n + 1, "int64")
        xp.cumsum(smaller + degrees, out=starts[1:])
        adjacency, free = xp.empty(2 * len(rows), "uint64"), (starts[:-1] + smaller).view("uint64")
        self._make("truss_adjacency", m, rows, columns, m, offsets, starts, free, adjacency)
        return offsets, starts, adjacency

    def peel(
        self, left: ActiveGraph, levels: PeelState, on_progress: Callable[[int], None]
    ) -> bool:
        xp, m, first, last = self.xp, left.m, np.uint32(levels.first), np.uint32(levels.last)
        state = np.zeros(_STATE, "uint32")
        state[_LEVEL] = levels.level
        state = xp.asarray(state)
        status, queue = xp.zeros(m // 16 + 1, "uint32"), xp.empty(m, "uint32")
        graph = (left.rows, left.columns, left.offsets, left.starts, left.adjacency, left.support)
        args = (*graph, status, queue, np.uint32(m), np.uint32(self._lanes(left)), state)
        dead = m - int(m * self.shrink) if m > self.least else m
        sizes = (dead, self.scanned, self.marked, self.steps, self.rounds)
        decide = (*args, first, last, *map(np.uint32, sizes))
        kernels = self.compile(launch.read("truss.cu"), _MAKE + _PEEL, ())
        many, one = (-(-min(32 * m, self._room) // _THREADS),), ((1,), (_SMALL_THREADS,))
        stage, before = _BEGIN, levels.rounds
        while stage not in (_SHRINK, _DONE):
            if stage == _SCAN:
                kernels["truss_scan"](many, (_THREADS,), args)
                kernels["truss_collect"](many, (_THREADS,), (*args, first, last))
            if stage in (_BEGIN, _SCAN):
                kernels["truss_small"](*one, decide)
            for _ in range(self.batch):
                kernels["truss_mark"](many, (_THREADS,), args)
                kernels["truss_peel"](many, (_THREADS,), args)
                kernels["truss_small"](*one, decide)
            found = state.tolist()  # waits for the card
            stage, levels.level = found[_STAGE], found[_LEVEL]
            levels.rounds = before + found[_ROUNDS]
            on_progress(found[_HEAD])
        return stage == _DONE

    @property
    def _room(self) -> int:
        """Threads that the card has at once."""
        return self.sm_count * _BLOCKS_PER_SM * _THREADS

    def _lanes(self, left: ActiveGraph) -> int:
        """Lanes that walk a row together: about as many as a row has entries."""
        used = sum64(left.starts[1:] != left.starts[:-1])
        return min(32, max(4, 1 << (2 * left.m // max(used, 1)).bit_length()))

    def _make(self, kernel: str, size: Any, *args: Any) -> None:
        """Launch a kernel with a thread an element."""
        kernels = self.compile(launch.read("truss.cu"), _MAKE + _PEEL, ())
        if size:
            kernels[kernel]((-(-int(size) // _THREADS),), (_THREADS,), args)
