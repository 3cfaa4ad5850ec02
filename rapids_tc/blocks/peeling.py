"""The trusses of a partitioned graph: rounds that remove edges for one, `levels` for all.

In a round, edges in too few triangles go, and the rest is counted again. Most edges of most graphs
go in the first rounds. As soon as what remains fits a worker as one graph, it is peeled there. The
state of a block in these rounds is whether each edge remains.
"""

from __future__ import annotations

import operator
from functools import partial
from typing import TYPE_CHECKING, Any

from rapids_tc.blocks import block_map, block_work, codec, levels, sums
from rapids_tc.blocks.block_work import KindOfBlocks, kind_of
from rapids_tc.blocks.codec import require_length
from rapids_tc.blocks.distributed_levels import DecodedBlocks, LevelBlocks, find_levels
from rapids_tc.engines.last_truss import last_truss

if TYPE_CHECKING:
    from rapids_tc.blocks.block_map import Blocked
    from rapids_tc.blocks.block_work import PlacedBlock
    from rapids_tc.blocks.codec import EncodedBlock
    from rapids_tc.blocks.quantities import Within
    from rapids_tc.executors.protocol import Task
    from rapids_tc.frames.backend import Array, Backend
    from rapids_tc.preparation.ids import Ids

NO_EDGE = 2**32  # more than the triangles of any edge


@block_map.once
def of_every_edge(graph: Blocked) -> list[list[Task]]:
    """Submit the trussness of every edge of each block, from the counts of edges.

    Returns
    -------
    for each block a list of tasks, slices (int32).
    """
    counts = sums.by_edge(graph)
    if graph.peels_whole:
        return _peel_whole(graph, counts, None)
    blocks = LevelBlocks(graph, counts)
    find_levels(blocks)
    return blocks.trussness()


def _one_truss(graph: Blocked, k: int) -> list[list[Task]]:
    """Mark the edges of each block in the k-truss."""
    if graph.peels_whole:
        [[truss]] = _peel_whole(graph, sums.by_edge(graph), k)
        return [[graph.submit("peel", operator.ge, truss, k)]]
    active = ActiveBlocks(graph, graph.known.get(sums.by_edge))
    peel_blocks(active, k)
    return active.in_truss()


def _peel_whole(graph: Blocked, counts: list[list[Task]], k: int | None) -> list[list[Task]]:
    """Submit the trussness of every edge of a graph that is one block; with k, as engines do."""
    (block, worker, [triangles]), kind = _whole(graph, counts), graph.kind_or_all
    of_kind = kind.quantity, kind.arrays[0]
    return [[graph.submit("peel", peel, block, triangles, k, *of_kind, on=worker)]]


def _whole(graph: Blocked, counts: list[list[Task]]) -> tuple[Any, Any, list[list[Task]]]:
    """Return the only block of a graph, the worker that has it, and the counts of its edges."""
    worker = graph.counting_workers[0]
    return graph.block_at(0, worker), worker, counts


def peel_blocks(active: ActiveBlocks, k: int) -> None:
    """Remove edges until those that remain are the k-truss, or fit into memory and are peeled."""
    while k > 2 and active.edges:  # every edge is in the 2-truss
        if active.fits():
            active.peel(k)
            return
        if active.count() >= k - 2:
            return
        active.drop(k)


class ActiveBlocks:
    """What remains of each block while rounds remove edges, and its state."""

    def __init__(self, graph: Blocked, counts: list[list[Task]] | None) -> None:
        self._graph, self._blocks = graph, graph.blocks
        self._states = graph.each("peel", every, self._blocks)
        self._known = counts  # of the whole graph
        self._kind = graph.kind_or_all
        self._counts: list[list[Task]] = []
        self.edges = self._size()

    def fits(self) -> bool:
        """Return whether the edges that remain can be peeled as one graph in memory."""
        return self._graph.fits(self.edges)

    def count(self) -> int:
        """Count the triangles of every edge that remains; return the fewest of any edge."""
        self._counts = self._known or sums.by_edge_of(self._graph, self._blocks, self._kind)
        self._known = None
        of_blocks = self._graph.executor.gather(self._graph.each("peel", fewest, self._counts))
        return int(min(of_blocks))

    def drop(self, k: int) -> None:
        """Remove the edges that were just counted in fewer than k - 2 triangles."""
        graph, counts, blocks = self._graph, self._counts, self._blocks
        self._states = graph.each("peel", drop, self._states, counts, more=(k,))
        self._kind = self._kind.with_arrays(
            lambda arrays: graph.each("peel", drop_kind, arrays, counts, more=(k,))
        )
        self._blocks = graph.each_block("peel", remaining, counts, more=(k,), of=blocks)
        self._counts = []
        self.edges = self._size()

    def peel(self, k: int) -> None:
        """Find the k-truss of the edges that remain, as one graph, on one worker."""
        graph, count, kind = self._graph, len(self._states), self._kind
        of_all = self._blocks, graph.n, k, kind.quantity, kind.arrays
        peeled = [graph.submit("peel", finish, *of_all)] * count
        by_block = graph.each("peel", operator.getitem, peeled, [*range(count)])
        self._states = graph.each("peel", settle, self._states, by_block)

    def in_truss(self) -> list[list[Task]]:
        """Return the marks of the edges of each block in the k-truss."""
        return [[state] for state in self._states]

    def _size(self) -> int:
        return sum(self._graph.edges_of("peel", self._blocks))


def in_truss(graph: Blocked, k: int | None, *, by_group: bool = False) -> list[list[Task]]:
    """Mark the edges of each block in the k-truss; without k, in the last truss that has any.

    With `by_group`, the last truss is that of each group.
    """
    if k == 2:
        return [[marks] for marks in graph.each("peel", every, graph.blocks[: graph.n**2])]
    if k is not None and of_every_edge not in graph.known:
        return _one_truss(graph, k)
    from_top = k is None and not by_group and graph.peels_whole and graph.kind is None
    if from_top and of_every_edge not in graph.known:
        block, worker, [counts] = _whole(graph, sums.by_edge(graph))
        return [[graph.submit("peel", last, block, counts, on=worker)]]
    truss = [part for (part,) in of_every_edge(graph)]
    if k is None and by_group:
        both = truss, sums.edge_groups(graph)
        largest = graph.each("peel", top_by_group, *both, more=(graph.ids,))
        tops = graph.reduce("peel", block_work.largest, largest)
        return [[marks] for marks in graph.each("peel", at_top, *both, more=(tops,))]
    if k is None:
        k = max(graph.executor.gather(graph.each("peel", top, truss)))
    return [[marks] for marks in graph.each("peel", operator.ge, truss, more=(k,))]


# What workers do ----------------------------------------------------------------------------------


def every(rows: EncodedBlock, *, xp: Any) -> Array:
    """Mark all edges of a block."""
    return xp.ones(codec.edges(rows), bool)


def top(truss: Array) -> int:
    """Return the largest trussness of a block; 0 if it has no edge."""
    return int(truss.max()) if len(truss) else 0


def top_by_group(truss: Array, groups: Array, ids: Ids, *, backend: Backend) -> Array:
    """Return the largest trussness in a block of each group; 0 without an edge."""
    require_length(groups, len(truss), "groups of edges")
    series = backend.library.Series(truss).groupby(backend.library.Series(groups)).max()
    tops = backend.xp.zeros(len(ids.starts), "int32")
    tops[backend.array(series.index)] = backend.array(series)
    return tops


def at_top(truss: Array, groups: Array, tops: Array) -> Array:
    """Mark the edges of a block with the largest trussness of their group."""
    require_length(groups, len(truss), "groups of edges")
    return truss == tops[groups]


def peel(
    rows: EncodedBlock, counts: list[Array], k: int | None, quantity: Within | None, arrays: Any,
    *, engine: Any, xp: Any,
) -> Array:  # fmt: skip
    """Find the trussness of every edge of a graph that is one block."""
    graph, triangles = codec.csr(rows, xp), xp.concatenate(counts)
    require_length(triangles, graph.m, "counts of edges")
    kind = kind_of(quantity, arrays, graph.m)
    return engine.truss(engine.prepare(graph), triangles, k=k, kind=kind)


def last(rows: EncodedBlock, counts: list[Array], *, engine: Any, xp: Any) -> Array:
    """Mark the edges of the largest trussness in a graph that is one block."""
    graph, triangles = codec.csr(rows, xp), xp.concatenate(counts)
    require_length(triangles, graph.m, "counts of edges")
    return last_truss(engine, graph, triangles, xp)


def fewest(counts: list[Array]) -> int:
    """Return the fewest triangles of an edge of a block, `NO_EDGE` if it has none."""
    return min((int(part.min()) for part in counts if len(part)), default=NO_EDGE)


def drop(remains: Array, counts: list[Array], k: int, *, xp: Any) -> Array:
    """Return the state without the remaining edges in fewer than k - 2 triangles."""
    triangles, edges = xp.concatenate(counts), xp.flatnonzero(remains)
    require_length(triangles, len(edges), "counts of edges")
    remains = remains.copy()
    remains[edges[triangles < k - 2]] = False
    return remains


def drop_kind(arrays: Any, counts: list[Array], k: int, *, xp: Any) -> Any:
    """Return what was read for a kind without the edges in fewer than k - 2 triangles."""
    return block_work.select(arrays, xp.concatenate(counts) >= k - 2, xp)


def remaining(block: PlacedBlock, counts: list[Array], k: int) -> EncodedBlock:
    """Return a block without the edges in fewer than k - 2 triangles."""
    return block.select(block.joined(counts, "counts") >= k - 2)


def finish(
    remaining: list[EncodedBlock], n: int, k: int, quantity: Within | None, arrays: list[Any],
    *, engine: Any, xp: Any,
) -> list[Array]:  # fmt: skip
    """Mark the edges of each block that are in the k-truss, from a graph of them alone."""
    blocks, kinds = DecodedBlocks(remaining, n, xp), KindOfBlocks(quantity, arrays)
    size = blocks.edges, blocks.vertices, n
    graph, relabel = levels.join_blocks(blocks, *size, engine=engine, xp=xp)
    where = partial(levels.places, blocks, graph, relabel, n, engine)
    kind = kinds.joined(where, graph.m, xp)
    in_truss = levels.peel_graph(graph, k, engine, kinds, kind) >= k
    return [in_truss[place] for place in where()]


def settle(remains: Array, in_truss: Array, *, xp: Any) -> Array:
    """Return the state without the remaining edges that are not in the k-truss."""
    edges = xp.flatnonzero(remains)
    require_length(in_truss, len(edges), "marks of edges")
    remains = remains.copy()
    remains[edges] = in_truss
    return remains
