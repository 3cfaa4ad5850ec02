"""A sample of the edges of a graph out of core: each block is thinned out, beside itself."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from rapids_tc.blocks import geometry
from rapids_tc.blocks.stored_values import StoredGraph
from rapids_tc.preparation import sampling

if TYPE_CHECKING:
    from typing import Any

    from rapids_tc.blocks.geometry import Block
    from rapids_tc.blocks.store import StoredBlocks
    from rapids_tc.frames.backend import Array
    from rapids_tc.preparation.csr import Csr


class CountedGraph(StoredGraph, Protocol):
    """What a sample asks of a graph out of core."""

    def edge_counts(self, method: str, of: StoredBlocks | None = None) -> dict[Block, Any]:
        """Count the triangles of the edges of every block; return the counters on the store."""


def moments(graph: CountedGraph, colours: int, seed: int, method: str) -> list[tuple[int, float]]:
    """Count a sample of the edges: `sampling.moments` of each block, or of each group."""
    groups, blocks, host, n = graph.groups, graph.blocks, graph.backend.host, graph.blocks.n
    with graph.stage("sampling the edges"):
        colour = sampling.draw(graph.ids.words, colours, seed)[graph.order.number]
        stored = {at: blocks.put(_of_one_colour(at, block, n, colour)) for at, block in blocks}
        del colour
    sample = replace(blocks, stored=stored)
    counts = graph.edge_counts(method, sample)
    triangles = ((at, block, blocks.store.load(counts[at])) for at, block in sample)
    if groups is None:
        return [sampling.moments(of_block) for _, _, of_block in triangles]
    by_rank, size = groups.group_of[graph.order.number], len(groups.starts)
    sums = np.zeros((size, 2), object)  # numbers of triangles may exceed 2**63
    for at, block, of_block in triangles:
        group = by_rank[geometry.block_ends(block, n, at)[0]]
        of_groups = sampling.moments_by(host(of_block), host(group), size)
        sums += np.array(of_groups, object).reshape(size, 2)
    return [(int(total), float(pairs)) for total, pairs in sums]


def _of_one_colour(at: Block, block: Csr, n: int, colour: Array) -> Csr:
    """Return a block with only the edges whose ends have the same colour, which is by rank."""
    larger, smaller = geometry.block_ends(block, n, at)
    return block.select(colour[larger] == colour[smaller])
