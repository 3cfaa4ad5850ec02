"""The k-truss of a graph in blocks: edges in too few triangles go, and the rest is counted again.

Most edges of most graphs go in the first rounds. As soon as what remains fits into memory as one
graph, it is peeled there. `rapids_tc.blocks.peeling` says how blocks are counted, how smaller ones
replace them, and what is noted of the edges on the way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from rapids_tc.blocks import geometry
from rapids_tc.frames.backend import sum64
from rapids_tc.preparation.csr import Array, Csr, pack_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from rapids_tc.blocks.geometry import Block


class ActiveBlocks(Protocol):
    """The edges of a graph in blocks that no round has removed yet."""

    @property
    def edges(self) -> int:
        """The number of edges that remain."""

    def fits(self) -> bool:
        """Return whether the edges that remain can be peeled as one graph in memory."""

    def count(self) -> int:
        """Count the triangles of every edge that remains; return the fewest of any edge."""

    def drop(self, k: int) -> None:
        """Remove the edges that were just counted in fewer than k - 2 triangles."""

    def peel(self, k: int) -> None:
        """Find the k-truss of the edges that remain, as one graph."""


def peel_blocks(active: ActiveBlocks, k: int) -> None:
    """Remove edges until those that remain are the k-truss, or fit into memory and are peeled."""
    while k > 2 and active.edges:  # every edge is in the 2-truss
        if active.fits():
            active.peel(k)
            return
        if active.count() >= k - 2:
            return
        active.drop(k)


def remaining(block: Csr, counts: Array, k: int) -> Csr:
    """Return a block with the edges alone that are in k - 2 triangles or more."""
    return block.select(counts >= k - 2)


def join_blocks(
    blocks: Iterable[tuple[Block, Csr]], edges: int, vertices: int, n: int, *, engine: Any, xp: Any
) -> tuple[Csr, Array]:
    """Make one graph of the edges of all blocks, whose ranks are below `vertices`.

    The blocks are read twice, one at a time.

    Returns
    -------
    graph, relabel
        `relabel` (uint32) is the rank in the graph of every rank; of a rank without an edge it is
        the last one, which has none.
    """
    present = xp.zeros(vertices, bool)
    for at, block in blocks:
        for ends in geometry.block_ends(block, n, at):
            present[ends] = True
    size = sum64(present)
    relabel = xp.where(present, xp.cumsum(present, dtype="uint32") - 1, size).astype("uint32")
    del present

    def pack(u: Array, v: Array, out: Array) -> None:
        pack_keys(relabel[u], relabel[v], xp, out)

    return engine.csr(geometry.collect_keys(blocks, edges, n, pack, xp), size + 1), relabel


def peel_graph(
    graph: Csr, k: int | None, engine: Any, on_progress: Callable[..., None] | None = None
) -> Array:
    """Return the trussness of every edge of a graph in memory, as `Engine.truss` does."""
    layout = engine.prepare(graph)
    return engine.truss(layout, engine.edge_counts(layout), k=k, on_progress=on_progress)
