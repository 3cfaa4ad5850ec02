"""The blocks of a graph on a cluster around chosen vertices, with all triangles at these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rapids_tc.blocks import codec, counting, geometry, sums
from rapids_tc.blocks.arrivals import require_length
from rapids_tc.blocks.worker_tasks import WorkerContext, worker_task
from rapids_tc.preparation.chosen_vertices import ChosenVertices
from rapids_tc.preparation.orient import Order

if TYPE_CHECKING:
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
        near, places = sums.Sum(graph, counting.largest), range(graph.n**2)
        for place in places:
            block = graph.block_at(place, None)
            near.add(graph.submit("list", near_ranks, block, chosen, place, graph.n))
        members = near.total
        blocks, others = (
            [
                graph.submit(
                    "list", edges_among, graph.block_at(place, None), members, left_out, place,
                    graph.n,
                )
                for place in places
            ]
            for left_out in (None, chosen)
        )  # fmt: skip
        return cls(chosen, blocks, others)


@worker_task
def chosen_ranks(context: WorkerContext, ids: Ids, order: list[Any], vertices: Any) -> Array:
    """Mark the ranks of the vertices that the user names; for errors see `ChosenVertices`."""
    require_length(order[0], ids.size, "ranks")
    ranks = Order.of_ranks(order[0], order[1], context.backend.xp)
    marks: Array = ChosenVertices(vertices).resolve(ids, ranks).codes
    return marks


@worker_task
def near_ranks(
    context: WorkerContext, rows: EncodedBlock, chosen: Array, place: int, n: int
) -> Array:
    """Mark the chosen ranks, and their neighbors in a block."""
    larger, smaller = _ends(context, rows, chosen, place, n)
    near = chosen.copy()
    near[larger[chosen[smaller]]] = True
    near[smaller[chosen[larger]]] = True
    return near


@worker_task
def edges_among(
    context: WorkerContext, rows: EncodedBlock, members: Array, left_out: Array | None, place: int,
    n: int,
) -> EncodedBlock:  # fmt: skip
    """Return the edges of a block among some ranks, without edges that have an end left out."""
    larger, smaller = _ends(context, rows, members, place, n)
    stays = members[larger]
    stays &= members[smaller]
    if left_out is not None:
        require_length(left_out, len(members), "marks of ranks")
        stays &= ~(left_out[larger] | left_out[smaller])
    xp = context.backend.xp
    return codec.rows(codec.csr(rows, xp).select(stays), xp)


def _ends(
    context: WorkerContext, rows: EncodedBlock, marks: Array, place: int, n: int
) -> tuple[Array, Array]:
    """Return the ranks of both ends of the edges of a block, which index the marks of all ranks."""
    block, at = codec.block(rows, place, n, len(marks), context.backend.xp)
    return geometry.block_ends(block, n, at)
