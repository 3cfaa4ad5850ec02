"""The peel in Numba: `rapids_tc.engines.peel` says what is done, this file how.

Each vertex has a table of its active edges. The triangles of an edge are found by walking the
smaller table of its two ends, and looking each neighbor up in the other: by hash, after a test of
one bit that most neighbors fail. When few vertices are left, as soon in graphs with hubs, a table
is a bit per vertex: an AND finds up to 64 triangles, and counting the bits below finds their edges.

`truss_tables` builds the tables, and `truss_rounds` peels.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rapids_tc._parallel import parallel_for, run_together, thread_count
from rapids_tc.engines.cpu import truss_rounds as rounds
from rapids_tc.engines.cpu import truss_tables
from rapids_tc.engines.cpu.compiled import compiled
from rapids_tc.engines.cpu.parallel import LINE
from rapids_tc.engines.cpu.spans import Always
from rapids_tc.engines.cpu.truss_tables import Tables, cut_edges
from rapids_tc.engines.peel import DEAD, ActiveEdges, ActiveGraph, PeelState

if TYPE_CHECKING:
    from collections.abc import Callable

    from rapids_tc.preparation.csr import Array, Csr

ALL = Always()
_BUFFER = 1 << 10  # edges of the next frontier that a thread keeps; it keeps pairs of edges, too


@dataclass(frozen=True)
class CpuPeeler:
    """A peeler on all cores.

    Attributes
    ----------
    shared : int
        Edges of a graph from which it is peeled by several threads.
    large : int
        Steps of a round above which these share it.
    scanned : int
        Edges from which these share a scan for the next level.
    pause : int
        Steps after which threads return, so that Ctrl-C comes through.
    room : int
        Bytes per edge of the first graph that a graph with bits may take.
    shrink : float
        Ratio of active edges to all edges below which a smaller `ActiveGraph` is made.
    least : int
        Edges up to which an `ActiveGraph` is never made smaller.
    kind : named tuple
        Which triangles count: see `rapids_tc.engines.cpu.coded.pack_kind`.
    """

    shared: int = 1 << 12
    large: int = 1 << 14
    scanned: int = 1 << 16
    pause: int = 1 << 28
    room: int = 40
    shrink: float = 0.5
    least: int = 1 << 12
    kind: Any = ALL
    xp: ClassVar[Any] = np

    def edges_in_triangles(self, csr: Csr, counts: Array) -> ActiveEdges:
        """Return the edges whose count is not 0, with their counts as support."""
        starts = [part.start for part in cut_edges(csr.m)[1]]
        bounds = np.append(np.searchsorted(csr.offsets, starts, "right") - 1, csr.n)
        parts = [slice(*csr.offsets[[first, last]]) for first, last in pairwise(bounds)]

        def write(number: int, place: int, edges: ActiveEdges) -> None:
            of_edges = (edges.ids, edges.rows, edges.columns, edges.support)
            rows = (bounds[number], bounds[number + 1])
            _pick(csr.offsets, csr.columns, counts, *rows, place, *of_edges)

        return _select([counts[part] for part in parts], write)

    def build_adjacency(self, edges: ActiveEdges, n: int, total: int) -> Tables:
        """Build the tables, of bits if they fit in the memory that hashes of all edges took."""
        return truss_tables.build(edges, n, self.room * total)

    def remaining(self, edges: ActiveEdges, result: Array) -> ActiveEdges:
        """Write the trussness of dead edges to the result, by id; return the active edges."""
        of_edges = (edges.ids, edges.rows, edges.columns, edges.support)
        _, parts = cut_edges(edges.m)

        def write(number: int, place: int, active: ActiveEdges) -> None:
            of_active = (active.ids, active.rows, active.columns, active.support)
            part = parts[number]
            _keep(*of_edges, part.start, part.stop, result, place, *of_active)

        return _select([edges.support[part] < DEAD for part in parts], write)

    def peel(
        self, graph: ActiveGraph, peeling: PeelState, on_progress: Callable[[int], None]
    ) -> bool:
        """Remove edges until all levels are done, or too few edges of the graph are active."""
        m = graph.edges.m
        threads = thread_count() if m >= self.shared else 1
        state, queue = np.zeros(rounds.STATE, np.int64), np.empty(m, np.uint32)
        state[rounds.LEVEL], rounds_before = peeling.level, peeling.rounds
        buffers = np.empty((threads, 2, _BUFFER), np.uint32)
        least = np.zeros((threads, LINE), np.int64)
        active = graph.edges
        of_edges = active.rows, active.columns, active.support
        edges = rounds.Edges(*of_edges, active.ids, self.kind)
        shrink_at = m - int(m * self.shrink) if m > self.least else m
        sizes = (self.large, self.scanned, self.pause)
        limits = rounds.Limits(peeling.first, peeling.last, shrink_at, *sizes)

        def task(thread: int) -> int:
            own = (buffers[thread], least, thread, threads, limits)
            return int(rounds.peel(edges, graph.adjacency, queue, state, *own))

        def report() -> None:
            peeling.level, peeling.rounds = (
                int(state[rounds.LEVEL]),
                rounds_before + int(state[rounds.ROUNDS]),
            )
            on_progress(int(state[rounds.END]))

        def stop() -> None:
            state[rounds.BARRIER + 2 * LINE] = 1

        while True:
            state[rounds.WALKED] = 0
            stopped = task(0) if threads == 1 else run_together(task, threads, stop, report)
            report()
            if stopped != rounds.PAUSE:
                return bool(stopped == rounds.DONE)


def _select(stays: list[Array], write: Callable[[int, int, ActiveEdges], None]) -> ActiveEdges:
    """Return the edges that stay, as `write` writes those of each part from a place on."""
    places, threads = np.zeros(len(stays) + 1, np.int64), min(thread_count(), len(stays))

    def count(number: int, thread: int) -> None:
        places[number + 1] = np.count_nonzero(stays[number])

    parallel_for(count, len(stays), threads)
    np.cumsum(places, out=places)
    edges = ActiveEdges(*(np.empty(places[-1], np.uint32) for _ in range(4)))
    parallel_for(lambda number, _: write(number, places[number], edges), len(stays), threads)
    return edges


@compiled
def _pick(
    offsets: Array, columns: Array, counts: Array, first: int, last: int, place: int, ids: Array,
    rows: Array, columns_of: Array, support: Array,
) -> None:  # fmt: skip
    """Write the edges of some rows whose count is not 0."""
    for u in range(first, last):
        for p in range(offsets[u], offsets[u + 1]):
            if counts[p]:
                ids[place], rows[place], columns_of[place] = p, u, columns[p]
                support[place] = counts[p]
                place += 1


@compiled
def _keep(
    ids: Array, rows: Array, columns: Array, support: Array, begin: int, end: int, result: Array,
    place: int, active_ids: Array, active_rows: Array, active_columns: Array, active_support: Array,
) -> None:  # fmt: skip
    """Write the trussness of a part's dead edges, and its active edges."""
    for e in range(begin, end):
        if support[e] >= DEAD:
            result[ids[e]] = support[e] & (DEAD - 1)
        else:
            active_ids[place], active_rows[place] = ids[e], rows[e]
            active_columns[place], active_support[place] = columns[e], support[e]
            place += 1
