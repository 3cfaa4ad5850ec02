"""The blocks of a graph on a cluster around chosen vertices, with all triangles at these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rapids_tc.blocks import block_map
from rapids_tc.blocks.arrivals import require_length
from rapids_tc.preparation.chosen_vertices import ChosenVertices
from rapids_tc.preparation.orient import Order

if TYPE_CHECKING:
    from rapids_tc.blocks.block_map import PlacedBlock
    from rapids_tc.blocks.codec import EncodedBlock
    from rapids_tc.executors.protocol import Task
    from rapids_tc.frames.backend import Array
    from rapids_tc.graphs.distributed import DistributedGraph
    from rapids_tc.preparation.numbering import Ids


@dataclass(frozen=True)
class SurroundingBlocks:
    """The edges of a graph among chosen vertices and their neighbors, block by block.

    Of the triangles of these edges, those without a chosen corner are all among the edges of
    `others`. If the graph is one block, all workers that count fetch the same edges.

    Attributes
    ----------
    chosen : Task
        Whether each rank is chosen.
    blocks, others : list of Task
        The blocks of all these edges, and of the edges that have no chosen end.
    """

    chosen: Task
    blocks: list[Task]
    others: list[Task]

    @classmethod
    def of(cls, graph: DistributedGraph, vertices: Any) -> SurroundingBlocks:
        """Submit the surroundings of the vertices that the user names."""
        chosen = graph.submit("list", chosen_ranks, graph.ids, graph.order, vertices)
        near = graph.each_block("list", near_ranks, more=(chosen,))
        members = graph.reduce("sum", block_map.largest, near)
        blocks, others = (
            graph.each_block("list", edges_among, more=(members, left_out))
            for left_out in (None, chosen)
        )
        return cls(chosen, blocks, others)


def chosen_ranks(ids: Ids, order: list[Any], vertices: Any, *, xp: Any) -> Array:
    """Mark the ranks of the vertices that the user names; for errors see `ChosenVertices`."""
    require_length(order[0], ids.size, "ranks")
    ranks = Order.of_ranks(order[0], order[1], xp)
    marks: Array = ChosenVertices(vertices).resolve(ids, ranks).codes
    return marks


def near_ranks(block: PlacedBlock, chosen: Array) -> Array:
    """Mark the chosen ranks, and their neighbors in a block."""
    larger, smaller = _ends(block, chosen)
    near = chosen.copy()
    near[larger[chosen[smaller]]] = True
    near[smaller[chosen[larger]]] = True
    return near


def edges_among(block: PlacedBlock, members: Array, left_out: Array | None) -> EncodedBlock:
    """Return the edges of a block among some ranks, without edges that have an end left out."""
    larger, smaller = _ends(block, members)
    stays = members[larger]
    stays &= members[smaller]
    if left_out is not None:
        require_length(left_out, len(members), "marks of ranks")
        stays &= ~(left_out[larger] | left_out[smaller])
    return block.select(stays)


def _ends(block: PlacedBlock, marks: Array) -> tuple[Array, Array]:
    """Return the ranks of both ends of the edges of a block, which index the marks of all ranks."""
    require_length(marks, block.vertices, "marks of ranks")
    return block.ends
