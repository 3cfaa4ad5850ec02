"""The k-truss of a graph whose blocks are outside of memory: the rounds of `recount`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from rapids_tc.blocks import geometry, recount
from rapids_tc.plan import costs
from rapids_tc.plan.layout import forced_layout

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager

    from rapids_tc._progress import Report
    from rapids_tc.blocks.geometry import Block
    from rapids_tc.blocks.store import Found, StoredBlocks
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
    def groups(self) -> Any:
        """The ids, if they have groups."""

    @property
    def order(self) -> Any:
        """The maps from numbers to ranks and back."""

    @property
    def size(self) -> int:
        """The rows of the frame."""

    def edge_counts(
        self, method: str, of: StoredBlocks | None = None, over: dict[Block, Any] | None = None
    ) -> dict[Block, Any]:
        """Count the triangles of the edges of every block; return the counters on the store."""

    def run(
        self, found: Found, of: StoredBlocks | None = None,
        at_end: Callable[[], None] = lambda: None,
    ) -> None:  # fmt: skip
        """Count every task of some blocks, or of those of the graph; `at_end` drops arrays."""

    def located(
        self, at: Block, block: Csr, n: int, rank: Array
    ) -> Iterator[tuple[Array, Array, tuple[Array, Array]]]:
        """Yield the rows whose edges are in a block, some at a time, and where in the block."""

    def stage(self, name: str) -> AbstractContextManager[Report]:
        """Report a stage of the call."""


def truss_rows(graph: StoredGraph, k: int) -> Array:
    """Find the first row of every edge of the k-truss, ascending."""
    active = StoredActiveBlocks(graph)
    recount.peel_blocks(active, k)
    return active.first_rows()


def last_truss_rows(graph: StoredGraph, trussness: dict[Block, Any]) -> Array:
    """Find the first row of every edge of the largest trussness, ascending.

    If ids have groups, an edge is compared with the edges of its group alone.
    """
    load = graph.blocks.store.load
    if graph.groups is not None:
        last = _last_of_groups(graph, trussness)
    else:
        tops = (int(load(truss).max()) for truss in trussness.values() if truss.size)
        top = max(tops, default=2)
        last = ((at, block.select(load(trussness[at]) >= top)) for at, block in graph.blocks)
    return _first_rows(graph, last, graph.blocks.n, graph.rank)


def _last_of_groups(graph: StoredGraph, trussness: dict[Block, Any]) -> Iterator[tuple[Block, Csr]]:
    """Yield each block with only the edges of the largest trussness of their group."""
    ids, xp, load = graph.groups, graph.backend.xp, graph.blocks.store.load
    of_rank = ids.group_of[graph.order.number]
    tops = xp.zeros(len(ids.starts), "int32")
    for at, block in graph.blocks:
        larger, _ = geometry.block_ends(block, graph.blocks.n, at)
        xp.maximum.at(tops, of_rank[larger], load(trussness[at]))
    for at, block in graph.blocks:
        larger, _ = geometry.block_ends(block, graph.blocks.n, at)
        yield at, block.select(load(trussness[at]) == tops[of_rank[larger]])


def fits(active: StoredBlocks, edges: int, ranks: int | None = None) -> bool:
    """Return whether so many edges of these blocks can be peeled as one graph in memory.

    `ranks` is a limit of their ends' ranks, if it is known.
    """
    if (layout := forced_layout.get()) and layout.peel_below is not None:
        return edges < layout.peel_below
    ranks = active.vertices if ranks is None else ranks
    peeling = costs.PEELED_EDGE * edges + costs.PEELED_VERTEX * min(ranks, 2 * edges)
    return peeling + costs.PEELED_RANK * ranks <= active.allowed


class StoredActiveBlocks:
    """See `rapids_tc.blocks.recount.ActiveBlocks`: what remains of the graph, on a store."""

    def __init__(self, graph: StoredGraph) -> None:
        self._graph, self._active = graph, graph.blocks
        self._counts: dict[Block, Any] = {}
        self._peeled: tuple[Csr, Array] | None = None

    @property
    def edges(self) -> int:
        """The number of edges that remain."""
        return self._active.edges

    def fits(self) -> bool:
        """See `ActiveBlocks`."""
        return fits(self._active, self.edges)

    def count(self) -> int:
        """See `ActiveBlocks`."""
        active = self._active
        self._counts = self._graph.edge_counts("auto", active, self._counts)
        stored = [counts for counts in self._counts.values() if counts.size]
        return min(int(active.store.load(counts).min()) for counts in stored)

    def drop(self, k: int) -> None:
        """See `ActiveBlocks`; blocks are written over larger ones that nothing reads any more."""
        active = self._active
        over = {} if active is self._graph.blocks else active.stored
        stored = {}
        for at, block in active:
            smaller = recount.remaining(block, active.store.load(self._counts[at]), k)
            stored[at] = active.put(smaller, over.get(at))
        active.store.synchronize()
        self._active = replace(active, stored=stored)

    def peel(self, k: int) -> None:
        """See `ActiveBlocks`."""
        graph, active = self._graph, self._active
        engine, xp = graph.engine, graph.backend.xp
        joined, relabel = recount.join_blocks(
            active, active.edges, active.vertices, active.n, engine=engine, xp=xp
        )
        with graph.stage("peeling") as report:
            truss = recount.peel_graph(joined, k, engine, report.on_progress)
        self._peeled = joined.select(truss >= k), relabel

    def first_rows(self) -> Array:
        """Return the first row of every edge of the k-truss, ascending."""
        graph, truss = self._graph, self._active
        if self._peeled:
            peeled, relabel = self._peeled
            rank = relabel[graph.backend.xp.minimum(graph.rank, truss.vertices - 1)]
            return _first_rows(graph, [((0, 0), peeled)], 1, rank)
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
