"""The truss decomposition: what both engines do, and how the CPU engine goes from graph to graph.

An edge has trussness k if it is in the k-truss, the largest subgraph whose every edge is in k - 2
of its triangles, and not in the (k + 1)-truss. The *peel* starts from the *support* of every edge,
the number of its triangles, and removes, level by level, the edges of too little support: *level* s
removes edges in at most s triangles, which have trussness s + 2. A removed edge takes triangles
from other edges, some of which fall to the level, too: they are the *frontier* of the next *round*.
A round removes its whole frontier at once:

- For an edge {a, b} of the frontier, walk the shorter of the rows of a and b, and look up each
  entry w in the other row: {a, b}, {a, w}, {b, w} is a triangle, unless one of these edges is
  dead, which means that an earlier round has removed it.
- Of the edges of a triangle that are in the frontier, the edge of the smallest number removes the
  triangle, and counts it off the edges that are not in the frontier. So each triangle is counted
  off once, and the support of an edge never falls below 0.

When half of the edges are dead, the others are renumbered to a smaller graph (`ActiveGraph`), so
that few entries of rows are dead. R-MAT 18 takes 9 such graphs; with one graph it walks more than
4 W1 entries. Edges in no triangle are not even in the first graph. A GPU keeps the numbers and
takes dead entries out of the rows: ``truss.cu`` does all of the above in one launch, and has no use
for `decompose`.

A scan of all active edges finds the next level. The scans of all levels read at most the sum of the
trussness of all edges, which is at most 2 edges + 3 triangles: never more than the count took.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from rapids_tc.errors import CapacityError
from rapids_tc.plan import costs

if TYPE_CHECKING:
    from collections.abc import Callable

    from rapids_tc.engines.protocol import ProgressCallback
    from rapids_tc.preparation.csr import Array, Csr

DEAD = 1 << 31  # in `ActiveGraph.support` of a removed edge; its trussness is in the other bits
ALL = DEAD - 1  # the highest level: no edge is in 2**31 triangles, see `decompose`


@dataclass(frozen=True)
class ActiveEdges:
    """The active edges, which no round has removed, numbered 0 to m - 1 in the order of the CSR.

    Attributes
    ----------
    ids : array of uint32, shape (m,)
        The position of each edge in the whole graph's ``csr.columns``.
    rows, columns : array of uint32, shape (m,)
        The larger and the smaller rank.
    support : array of uint32, shape (m,)
        The number of triangles of active edges only; for a removed edge, `DEAD` | trussness.
    """

    ids: Array
    rows: Array
    columns: Array
    support: Array

    @property
    def m(self) -> int:
        """The number of edges."""
        return len(self.ids)


@dataclass(frozen=True)
class ActiveGraph:
    """The active edges, and the engine's own arrays by which their ends are walked."""

    edges: ActiveEdges
    adjacency: Any


@dataclass
class PeelState:
    """The progress of the peel, which the engine keeps up to date.

    Attributes
    ----------
    level : int
        The last level begun.
    first, last : int
        Levels below `first` are peeled as one with it, levels above `last` not at all.
    rounds : int
        Rounds since the beginning.
    """

    level: int
    first: int
    last: int
    rounds: int = 0


class Peeler(Protocol):
    """An engine's part of the peel."""

    @property
    def xp(self) -> Any:
        """NumPy or CuPy."""

    def edges_in_triangles(self, csr: Csr, counts: Array) -> ActiveEdges:
        """Return the edges whose count is not 0, with their counts as support."""

    def build_adjacency(self, edges: ActiveEdges, n: int, total: int) -> Any:
        """Build `ActiveGraph.adjacency`; the first graph had `total` edges.

        The ends of edges may be numbered anew, below n.
        """

    def remaining(self, edges: ActiveEdges, result: Array) -> ActiveEdges:
        """Write the trussness of dead edges to the result, by id; return the active edges."""

    def peel(
        self, graph: ActiveGraph, peeling: PeelState, on_progress: Callable[[int], None]
    ) -> bool:
        """Remove edges; return True if all levels are done, False if a smaller graph is due.

        `on_progress` is called between batches with the number of dead edges.
        """


def decompose(
    peeler: Peeler,
    csr: Csr,
    counts: Array,
    k: int | None = None,
    on_progress: ProgressCallback | None = None,
    *,
    levels: tuple[int, int] | None = None,
) -> Array:
    """Find the trussness of every edge: see `rapids_tc.engines.protocol.Engine`."""
    xp, m = peeler.xp, csr.m
    # Edges are numbered in 32 bits. An edge in s triangles is one of 2 s + 1 edges: s < 2**31.
    if m >= costs.MOST_PEELED_EDGES:
        raise CapacityError(
            f"{m:,} edges: trussness takes fewer than 2**32; k_truss(edges, k, memory_limit=...) "
            "counts more, in blocks"
        )
    result = xp.full(m, 2, "int32")
    if k == 2:
        return result
    peeling = PeelState(0, *levels_of(k, levels))
    edges = peeler.edges_in_triangles(csr, counts)
    total = edges.m
    while edges.m:
        graph = ActiveGraph(edges, peeler.build_adjacency(edges, csr.n, total))
        done = peeler.peel(graph, peeling, _report(on_progress, edges.m, total, peeling))
        del graph  # so that the next graph can take its memory
        edges = peeler.remaining(edges, result)
        if done:
            result[edges.ids] = min(peeling.last + 3, ALL)  # none is active if all levels are done
            break
    return result


def levels_of(k: int | None, levels: tuple[int, int] | None) -> tuple[int, int]:
    """Return the first and the last level that a peel tells apart."""
    return levels or ((0, ALL) if k is None else (k - 3, k - 3))


def _report(
    on_progress: ProgressCallback | None, m: int, total: int, peeling: PeelState
) -> Callable[[int], None]:
    """Return a function that reports the number of dead edges of a graph of m edges."""

    def report(dead: int) -> None:
        if on_progress is not None:
            note = f"k = {peeling.level + 2}, {m - dead:,} edges, round {peeling.rounds:,}"
            on_progress(1 - (m - dead) / total, note)

    return report
