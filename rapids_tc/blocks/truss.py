"""The k-truss of a graph in blocks: edges in too few triangles go, and the rest is counted again.

Most edges of most graphs go in the first rounds. As soon as what is left fits into memory as one
graph, it is peeled there.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rapids_tc.blocks import grid
from rapids_tc.blocks.grid import Block
from rapids_tc.blocks.store import StoredBlocks
from rapids_tc.frames.backend import sum64
from rapids_tc.plan.layout import given_layout
from rapids_tc.preparation.csr import Array, Csr, pack_keys

if TYPE_CHECKING:
    from rapids_tc.graphs.out_of_core import OutOfCoreGraph

LEAST = 3  # of the levels: every edge is in the 2-truss
EDGE, VERTEX, RANK = 64, 80, 16  # bytes that peeling takes in memory, the last of all ranks


def truss_rows(graph: OutOfCoreGraph, k: int | None) -> Array:
    """See `rapids_tc.graphs.protocol.EdgeGraph.truss_rows`."""
    xp, whole = graph.backend.xp, graph.blocks
    level = LEAST if k is None else k
    left = below = whole  # what may be in the truss of this level, and the truss of the one below
    spare: dict[Block, Any] = {}  # of the shelf, which may be written over
    counts: dict[Block, Any] = {}
    while level >= LEAST and left.edges:
        if fits(left):
            csr, relabel = _peeled(graph, left, k, level)
            if csr is None:
                left = below
                break
            rank = relabel[xp.minimum(graph.rank, whole.vertices - 1)]
            return _first_rows(graph, [((0, 0), csr)], 1, rank)
        counts = graph.edge_counts("auto", left, counts)
        fewest = _fewest(left, counts)
        if fewest < level - 2:
            left = _drop(left, counts, level, spare if left is below else left.stored)
        elif k is not None:
            break
        else:
            spare, below, level = below.stored if below is not left else spare, left, fewest + LEAST
    if k is None and not left.edges:
        left = below
    return _first_rows(graph, left, left.n, graph.rank)


def fits(left: StoredBlocks) -> bool:
    """Whether what is left can be peeled as one graph in memory."""
    if (layout := given_layout()) and layout.peel_below is not None:
        return left.edges < layout.peel_below
    vertices = min(left.vertices, 2 * left.edges)
    return EDGE * left.edges + VERTEX * vertices + RANK * left.vertices <= left.allowed


def _fewest(left: StoredBlocks, counts: dict[Block, Any]) -> int:
    """The triangles of the edge that is in the fewest."""
    return min(int(left.store.load(own).min()) for own in counts.values() if own.size)


def _drop(
    left: StoredBlocks, counts: dict[Block, Any], level: int, over: dict[Block, Any]
) -> StoredBlocks:
    """Without the edges in fewer than level - 2 triangles.

    Blocks are kept in place of those of `over`, which are as large at least, where there are any.
    """
    stored = {}
    for at, block in left:
        smaller = block.select(left.store.load(counts[at]) >= level - 2)
        stored[at] = left.put(smaller, over.get(at))
    left.store.synchronize()
    return replace(left, stored=stored)


def _peeled(
    graph: OutOfCoreGraph, left: StoredBlocks, k: int | None, level: int
) -> tuple[Csr | None, Array]:
    """The k-truss of what is left as a graph of its own, and the rank there of every rank.

    Without k the last truss, if it is of this level or above; else None. A rank that is not there
    is the last one, which has no edge.
    """
    xp, engine = graph.backend.xp, graph.engine
    relabel, size = _relabelled(left, xp)
    csr = engine.csr(_keys(left, relabel, xp), size + 1)
    layout = engine.prepare(csr)
    with graph.stage("peeling") as report:
        truss = engine.truss(
            layout, engine.edge_counts(layout), k=k, on_progress=report.on_progress
        )
    if k is None and (k := int(truss.max())) < level:
        return None, relabel
    return csr.select(truss >= k), relabel


def _relabelled(left: StoredBlocks, xp: Any) -> tuple[Array, int]:
    """The rank of every rank among those that have an edge, the last for others; their number."""
    present = xp.zeros(left.vertices, bool)
    for at, block in left:
        for ends in grid.ends(block, left.n, *at):
            present[ends] = True
    size = sum64(present)
    return xp.where(present, xp.cumsum(present, dtype="uint32") - 1, size).astype("uint32"), size


def _keys(left: StoredBlocks, relabel: Array, xp: Any) -> Array:
    """The edges of all blocks as keys of one graph."""
    keys, first = xp.empty(left.edges, "uint64"), 0
    for at, block in left:
        u, v = (relabel[ends] for ends in grid.ends(block, left.n, *at))
        pack_keys(u, v, xp, keys[first : first + block.m])
        first += block.m
    return keys


def _first_rows(graph: OutOfCoreGraph, left: Any, n: int, rank: Array) -> Array:
    """Where the first row of every edge of some blocks is, ascending."""
    xp, library = graph.backend.xp, graph.backend.library
    kept = xp.zeros(graph.size, bool)
    with graph.stage("looking rows up"):
        for at, block in left:
            seen = xp.zeros(block.m, bool)
            for row, where, _ in graph.located(at, block, n, rank):
                new = ~seen[where]
                row, where = row[new], where[new]
                again = graph.backend.array(library.Series(where).duplicated())
                kept[row[~again]] = True
                seen[where] = True
    return xp.flatnonzero(kept)
