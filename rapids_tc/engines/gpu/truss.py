"""The launches of the peel: `rapids_tc.engines.peel` says what is done, ``truss.cu`` how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.engines.peel import ActiveEdges, remaining
from rapids_tc.frames.backend import sum64
from rapids_tc.kernels import launch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rapids_tc.engines.peel import ActiveGraph, PeelState
    from rapids_tc.kernels.method import Kernel
    from rapids_tc.preparation.csr import Array, Csr

_THREADS, _SMALL_THREADS, _ROW_LANES = 256, 1024, 8  # as in truss.cu
_BLOCKS_PER_SM = 8
_STATUS_EDGES = 16  # edges of a word of status, as in truss.cuh
_STAGE, _LEVEL, _HEAD, _ROUNDS, _STATE = 0, 1, 4, 7, 8  # places in State of truss.cuh, and its size
_BEGIN, _SCAN, _SHRINK, _DONE = 0, 3, 5, 6  # stages of truss.cuh
_MAKE = ("truss_rows", "truss_degrees", "truss_offsets", "truss_adjacency")
_PEEL = ("truss_mark", "truss_peel", "truss_scan", "truss_collect", "truss_small")


@dataclass(frozen=True)
class CudaPeeler:
    """A peeler on a GPU, or on the emulator.

    Attributes
    ----------
    xp, compile, sm_count
        As in `rapids_tc.engines.gpu.cuda.CudaEngine`.
    marked, steps : int
        Edges and steps of a round that one block peels, at most.
    scanned : int
        Edges of a graph that one block scans for the next level, at most.
    rounds : int
        Rounds of one launch of that block, at most; progress and Ctrl-C come through between.
    batch : int
        Large rounds that are launched before the host reads the state again.
    shrink : float
        Ratio of active edges to all edges below which a smaller `ActiveGraph` is made.
    least : int
        Edges up to which an `ActiveGraph` is never made smaller.
    """

    xp: Any
    compile: Callable[..., Mapping[str, Kernel]]
    sm_count: int
    marked: int = 1 << 11
    steps: int = 1 << 13
    scanned: int = 1 << 16
    rounds: int = 1 << 14
    batch: int = 4
    shrink: float = 0.75
    least: int = 1 << 16

    def rows(self, csr: Csr) -> Array:
        """Return the larger rank of every edge."""
        rows = self.xp.empty(csr.m, "uint32")
        self._make("truss_rows", _ROW_LANES * csr.n, csr.offsets, np.uint64(csr.n), rows)
        return rows

    def edges_in_triangles(self, csr: Csr, counts: Array) -> ActiveEdges:
        """Return the edges whose count is not 0, with their counts as support."""
        ids = self.xp.flatnonzero(counts).astype("uint32")
        return ActiveEdges(ids, self.rows(csr)[ids], csr.columns[ids], counts[ids])

    def remaining(self, edges: ActiveEdges, result: Array) -> ActiveEdges:
        """Write the trussness of dead edges to the result, by id; return the active edges."""
        return remaining(edges, result, self.xp)

    def build_adjacency(self, edges: ActiveEdges, n: int, total: int) -> tuple[Array, Array, Array]:
        """Build the arrays by which the neighbours of each vertex are walked.

        Returns
        -------
        offsets : array of int64, shape (n + 1,)
            The edges of larger rank u are offsets[u] to offsets[u + 1] - 1: look-ups search these.
        starts : array of int64, shape (n + 1,)
            The neighbours of u are ``adjacency[starts[u]:starts[u + 1]]``: rounds walk these.
        adjacency : array of uint64, shape (2 * m,)
            Edge << 32 | neighbour.
        """
        xp, rows, columns, m = self.xp, edges.rows, edges.columns, np.uint32(edges.m)
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
        self, graph: ActiveGraph, peeling: PeelState, on_progress: Callable[[int], None]
    ) -> bool:
        """Remove edges until all levels are done, or too few edges of the graph are active."""
        xp, edges, (offsets, starts, adjacency) = self.xp, graph.edges, graph.adjacency
        m = edges.m
        first, last = np.uint32(peeling.first), np.uint32(peeling.last)
        start = np.zeros(_STATE, "uint32")
        start[_LEVEL] = peeling.level
        state = xp.asarray(start)
        status, queue = xp.zeros(m // _STATUS_EDGES + 1, "uint32"), xp.empty(m, "uint32")
        arrays = (edges.rows, edges.columns, offsets, starts, adjacency)
        sizes = (np.uint32(m), np.uint32(self._lanes(starts, m)))
        args = (*arrays, edges.support, status, queue, *sizes, state)
        shrink_at = m - int(m * self.shrink) if m > self.least else m
        limits = (shrink_at, self.scanned, self.marked, self.steps, self.rounds)
        small = (*args, first, last, *map(np.uint32, limits))
        kernels = self.compile(launch.read("truss.cu"), _MAKE + _PEEL, ())
        many, one = (
            (-(-min(32 * m, self._resident_threads) // _THREADS),),
            ((1,), (_SMALL_THREADS,)),
        )
        stage, rounds_before = _BEGIN, peeling.rounds
        while stage not in (_SHRINK, _DONE):
            if stage == _SCAN:
                kernels["truss_scan"](many, (_THREADS,), args)
                kernels["truss_collect"](many, (_THREADS,), (*args, first, last))
            if stage in (_BEGIN, _SCAN):
                kernels["truss_small"](*one, small)
            for _ in range(self.batch):
                kernels["truss_mark"](many, (_THREADS,), args)
                kernels["truss_peel"](many, (_THREADS,), args)
                kernels["truss_small"](*one, small)
            values = state.tolist()  # waits for the GPU
            stage, peeling.level = values[_STAGE], values[_LEVEL]
            peeling.rounds = rounds_before + values[_ROUNDS]
            on_progress(values[_HEAD])
        return stage == _DONE

    @property
    def _resident_threads(self) -> int:
        """The threads that the GPU runs at once."""
        return self.sm_count * _BLOCKS_PER_SM * _THREADS

    def _lanes(self, starts: Array, m: int) -> int:
        """Return the lanes that walk a row together: about as many as a row has entries."""
        vertices = sum64(starts[1:] != starts[:-1])
        return min(32, max(4, 1 << (2 * m // max(vertices, 1)).bit_length()))

    def _make(self, kernel: str, size: Any, *args: Any) -> None:
        """Launch a kernel with a thread per element."""
        kernels = self.compile(launch.read("truss.cu"), _MAKE + _PEEL, ())
        if size:
            kernels[kernel]((-(-int(size) // _THREADS),), (_THREADS,), args)
