"""The k-truss of a graph whose blocks are outside of memory: the rounds of `recount`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from rapids_tc.blocks import geometry, recount
from rapids_tc.plan import costs
from rapids_tc.plan.layout import given_layout

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from contextlib import AbstractContextManager

    from rapids_tc._progress import Report
    from rapids_tc.blocks.geometry import Block
    from rapids_tc.blocks.store import StoredBlocks
    from rapids_tc.frames.backend import Backend
    from rapids_tc.preparation.csr import Array, Csr


class StoredGraph(Protocol):
    """What peeling asks of a graph whose blocks are outside of memory.

    Attributes
    ----------
    backend : Backend
    engine : Engine
    blocks : StoredBlocks
    rank : array
        The rank of every number.
    """

    backend: Backend
    engine: Any
    blocks: StoredBlocks
    rank: Array

    @property
    def size(self) -> int:
        """The rows of the frame."""

    def edge_counts(
        self, method: str, of: StoredBlocks | None = None, over: dict[Block, Any] | None = None
    ) -> dict[Block, Any]:
        """Count the triangles of the edges of every block; return the counters on the store."""

    def located(
        self, at: Block, block: Csr, n: int, rank: Array
    ) -> Iterator[tuple[Array, Array, tuple[Array, Array]]]:
        """Yield the rows whose edges are in a block, some at a time, and where in the block."""

    def stage(self, name: str) -> AbstractContextManager[Report]:
        """Report a stage of the call."""


def truss_rows(graph: StoredGraph, k: int | None) -> Array:
    """See `rapids_tc.graphs.protocol.EdgeGraph.truss_rows`."""
    active = StoredActiveBlocks(graph)
    recount.peel_blocks(active, k)
    return active.first_rows(k)


def fits(active: StoredBlocks) -> bool:
    """Return whether these blocks can be peeled as one graph in memory."""
    if (layout := given_layout()) and layout.peel_below is not None:
        return active.edges < layout.peel_below
    vertices = min(active.vertices, 2 * active.edges)
    peeling = costs.PEELED_EDGE * active.edges + costs.PEELED_VERTEX * vertices
    return peeling + costs.PEELED_RANK * active.vertices <= active.allowed


class StoredActiveBlocks:
    """See `rapids_tc.blocks.recount.ActiveBlocks`: what remains, and the last truss, on a store."""

    def __init__(self, graph: StoredGraph) -> None:
        self._graph = graph
        self._active = self._last_truss = graph.blocks
        self._spare: dict[Block, Any] = {}  # blocks of the store that may be written over
        self._counts: dict[Block, Any] = {}
        self._peeled: tuple[Csr, Array] | None = None

    @property
    def edges(self) -> int:
        """The number of edges that remain."""
        return self._active.edges

    def fits(self) -> bool:
        """See `ActiveBlocks`."""
        return fits(self._active)

    def count(self) -> int:
        """See `ActiveBlocks`."""
        active = self._active
        self._counts = self._graph.edge_counts("auto", active, self._counts)
        stored = [counts for counts in self._counts.values() if counts.size]
        return min(int(active.store.load(counts).min()) for counts in stored)

    def mark_truss(self, k: int) -> None:
        """Keep the blocks as they are: `drop` writes over those of the truss before, if any."""
        if self._last_truss is not self._active:
            self._spare = self._last_truss.stored
        self._last_truss = self._active

    def drop(self, level: int) -> None:
        """See `ActiveBlocks`; blocks are written over larger ones that nothing reads any more."""
        active = self._active
        over = self._spare if active is self._last_truss else active.stored
        stored = {}
        for at, block in active:
            smaller = recount.remaining(block, active.store.load(self._counts[at]), level)
            stored[at] = active.put(smaller, over.get(at))
        active.store.synchronize()
        self._active = replace(active, stored=stored)

    def peel(self, k: int | None, level: int) -> None:
        """Find the k-truss, or the last truss if `k` is None."""
        graph, active = self._graph, self._active
        engine, xp = graph.engine, graph.backend.xp
        joined, relabel = recount.join_blocks(
            active, active.edges, active.vertices, active.n, engine=engine, xp=xp
        )
        with graph.stage("peeling") as report:
            truss = recount.peel_graph(joined, k, engine, report.on_progress)
        top = int(truss.max()) if k is None else k
        if k is None and top < level:
            self._active = self._last_truss
        else:
            self._peeled = joined.select(truss >= top), relabel

    def first_rows(self, k: int | None) -> Array:
        """Return the first row of every edge of the k-truss, or of the last truss, ascending."""
        graph, truss = self._graph, self._active
        if self._peeled:
            peeled, relabel = self._peeled
            rank = relabel[graph.backend.xp.minimum(graph.rank, truss.vertices - 1)]
            return _first_rows(graph, [((0, 0), peeled)], 1, rank)
        if k is None and not truss.edges:
            truss = self._last_truss
        return _first_rows(graph, truss, truss.n, graph.rank)


def _first_rows(
    graph: StoredGraph, blocks: Iterable[tuple[Block, Csr]], n: int, rank: Array
) -> Array:
    """Return where the first row of every edge of some blocks is, ascending."""
    xp = graph.backend.xp
    chosen = xp.zeros(graph.size, bool)
    with graph.stage("looking rows up"):
        for at, block in blocks:
            seen = xp.zeros(block.m, bool)
            for row, edge, _ in graph.located(at, block, n, rank):
                new = ~seen[edge]
                row, edge = row[new], edge[new]
                chosen[row[geometry.is_first(edge, graph.backend)]] = True
                seen[edge] = True
    return xp.flatnonzero(chosen)
