"""The bytes that a call takes on a worker of a cluster, in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from rapids_tc.plan import costs
from rapids_tc.plan.record import Needs, Result

if TYPE_CHECKING:
    from rapids_tc.plan.record import Work


@dataclass(frozen=True)
class ClusterSizes:
    """The sizes of a graph on a cluster.

    Attributes
    ----------
    rows, ids : int
        Of the whole frame.
    workers : int
        Among which rows and blocks are dealt out evenly.
    n : int
        Blocks a side.
    parts : int
        Of an id, if it has several; else 0.
    free : int
        The bytes that a graph may take of a worker, below which it is peeled in memory.
    listed : int
        The bytes of the ids while they are joined, if they are no dense integers.
    """

    rows: int
    ids: int
    workers: int
    n: int
    free: int
    parts: int = 0
    listed: int = 0

    @property
    def rows_held(self) -> int:
        """The rows of a worker."""
        return ceil(self.rows / self.workers)

    @property
    def block(self) -> int:
        """The edges of the largest block."""
        return self.rows if self.n == 1 else ceil(costs.UNEVEN * self.rows / self.n**2)

    @property
    def blocks_held(self) -> int:
        """The bytes of the blocks of a worker, while further ones are made or counted."""
        if self.n == 1:
            return 0
        edge, row = costs.CLUSTER_BLOCK
        return ceil((edge * self.rows + row * self.n * self.ids) / self.workers)


def worker_bytes(work: Work, sizes: ClusterSizes) -> int:
    """Return the bytes that a call takes of a worker at its height, beside the rows of the frame.

    It is an upper bound, if rows are dealt out evenly. Listed triangles are not counted.
    """
    answered = 0 if work.result is Result.GRAPH else answering(work, sizes)
    named = costs.CLUSTER_NAMED * sizes.ids if sizes.listed else 0
    listed = sizes.listed if work.result is Result.EDGES else 0  # ids, while the list is sorted
    return named + max(sizes.listed + making(work, sizes), listed + answered)


def making(work: Work, sizes: ClusterSizes) -> int:
    """Return the bytes of a worker while the blocks of a graph are made; 0 without any."""
    if work.needs & Needs.EDGES:
        return 0
    row, edge = costs.CLUSTER_MAKING
    held, of_blocks = costs.CLUSTER_RANKED
    ranked = ceil((held + of_blocks / sizes.n) * sizes.ids)
    made = (row * sizes.rows_held + edge * sizes.block) // work.colors + sizes.blocks_held + ranked
    if not work.needs & Needs.SAMPLE:
        return made
    return max(made, costs.total(costs.CLUSTER_SAMPLED, sizes.rows_held, sizes.ids))


def answering(work: Work, sizes: ClusterSizes) -> int:
    """Return the bytes of a worker while triangles are counted, and the answer is made."""
    row, edge, vertex = costs.CLUSTER_ANSWERS[work.result.name]
    if work.result is Result.EDGES:
        row += costs.KEY * sizes.parts  # one end is named after the other
    if work.result is Result.VERTICES:
        vertex += costs.PART * sizes.parts
    if work.needs & Needs.SAMPLE:  # whose numbers are kept
        row += costs.CLUSTER_SAMPLED[0] if work.result is Result.VERTICES else costs.KEY
    if sizes.n > 1:  # a task has three blocks, of which one is laid out, and sums of its residues
        vertex += costs.CLUSTER_SUMS if work.result is Result.VERTICES else 0
        edge = 3 * edge if work.needs & Needs.VALUES else edge + 2 * costs.KEY
    counted = edge * sizes.block + vertex * sizes.ids + sizes.blocks_held
    answered = row * sizes.rows_held + counted // work.colors
    return max(answered, peeling(work, sizes)) if work.needs & Needs.TRUSSNESS else answered


def peeling(work: Work, sizes: ClusterSizes) -> int:
    """Return the bytes of the worker that peels a graph, or what of it fits in memory."""
    row, edge, vertex = costs.CLUSTER_PEELING
    if work.result is Result.VERTICES:  # whose rows are dropped
        row = costs.CLUSTER_PART if sizes.n > 1 else 0
    edge += (costs.PEELED_KIND + work.values) * work.of_kind
    peeled = edge * sizes.rows + vertex * sizes.ids
    if sizes.n > 1:
        peeled = min(peeled, sizes.free)
    return row * sizes.rows_held + peeled + sizes.blocks_held
