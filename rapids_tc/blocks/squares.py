"""Squares of a partitioned graph in one block, of which every counting machine has a copy.

A machine counts the squares whose lowest rank is in its share: see `rapids_tc.engines.wedges`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rapids_tc.blocks import block_map, block_work, sums

if TYPE_CHECKING:
    from rapids_tc.blocks.block_map import Blocked
    from rapids_tc.blocks.block_work import PlacedBlock
    from rapids_tc.executors.protocol import Task
    from rapids_tc.preparation.csr import Array

Share = tuple[int, int]  # a part, and of how many


def in_all(block: PlacedBlock, share: Share) -> int:
    """Count a share of the squares of a graph."""
    total, _ = _count(block, "graph", share)
    return total


def of_ranks(block: PlacedBlock, share: Share) -> Array:
    """Count a share of the squares of every rank."""
    _, by_rank = _count(block, "vertex", share)
    return by_rank


def of_edges(block: PlacedBlock, share: Share) -> list[Array]:
    """Count a share of the squares of every edge: a list, of one array, as counts of blocks are."""
    _, by_edge = _count(block, "edge", share)
    return [by_edge]


def _count(block: PlacedBlock, per: str, share: Share) -> tuple[int, Array | None]:
    engine = block.engine
    return engine.squares(engine.prepare_wedges(block.csr), per=per, share=share)


@block_map.once
def total(graph: Blocked) -> int:
    """Count the squares of the graph."""
    return sum(graph.executor.gather([*graph.by_share(in_all).values()]))


@block_map.once
def by_vertex(graph: Blocked) -> list[Task]:
    """Count the squares of every rank: a list of one task."""
    shares = graph.by_share(of_ranks).values()
    return [graph.reduce("sum", block_work.add, shares)]


@block_map.once
def by_edge(graph: Blocked) -> list[list[Task]]:
    """Count the squares of every edge, in slices, as `rapids_tc.blocks.sums.by_edge` does."""
    return [sums.in_slices(graph, graph.by_share(of_edges))]
