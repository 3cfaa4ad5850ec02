"""The trusses of a graph on a cluster: the rounds of `recount` for one, of `levels` for all.

The state of a block in rounds of `recount` is whether each edge remains.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rapids_tc.blocks import codec, counting, geometry, levels, recount, sums
from rapids_tc.blocks.arrivals import require_length
from rapids_tc.blocks.distributed_levels import DistributedLevels
from rapids_tc.blocks.worker_tasks import WorkerContext, edges_of, one, worker_task
from rapids_tc.engines import registry

if TYPE_CHECKING:
    from rapids_tc.blocks.codec import EncodedBlock
    from rapids_tc.executors.protocol import Task
    from rapids_tc.frames.backend import Array
    from rapids_tc.graphs.distributed import DistributedGraph
    from rapids_tc.preparation.composite import CompositeIds

NO_EDGE = 2**32  # more than the triangles of any edge


def of_every_edge(graph: DistributedGraph) -> list[list[Task]]:
    """Submit the trussness of every edge of each block, from the counts of edges.

    Returns
    -------
    for each block a list of tasks, slices (int32).
    """
    by_block: list[list[Task]] = graph.once("trussness", lambda: _of_every_edge(graph))
    return by_block


def _of_every_edge(graph: DistributedGraph) -> list[list[Task]]:
    counts = sums.by_edge(graph)
    if graph.n == 1:
        return _peel_whole(graph, counts, None)
    blocks = DistributedLevels(graph, counts)
    levels.find_levels(blocks)
    return blocks.trussness()


def _one_truss(graph: DistributedGraph, k: int) -> list[list[Task]]:
    """Mark the edges of each block in the k-truss."""
    if graph.n == 1:
        [[truss]] = _peel_whole(graph, sums.by_edge(graph), k)
        return [[graph.submit("peel", at_least, truss, k)]]
    active = DistributedActiveBlocks(graph, graph.known.get("edge counts"))
    recount.peel_blocks(active, k)
    return active.in_truss()


def _peel_whole(
    graph: DistributedGraph, counts: list[list[Task]], k: int | None
) -> list[list[Task]]:
    """Submit the trussness of every edge of a graph that is one block; with k, as engines do."""
    worker = graph.counting_workers[0]
    block = graph.block_at(0, worker)
    return [[graph.submit("peel", peel, block, counts[0], k, on=worker)]]


class DistributedActiveBlocks:
    """See `rapids_tc.blocks.recount.ActiveBlocks`: what remains of each block, and its state."""

    def __init__(self, graph: DistributedGraph, counts: list[list[Task]] | None) -> None:
        self._graph, self._blocks = graph, graph.blocks
        self._states = self._each(begin, self._blocks)
        self._known = counts  # of the whole graph
        self._counts: list[list[Task]] = []
        self.edges = self._size()

    def fits(self) -> bool:
        """See `ActiveBlocks`."""
        return self._graph.fits(self.edges)

    def count(self) -> int:
        """See `ActiveBlocks`."""
        self._counts = self._known or sums.by_edge(self._graph, self._blocks)
        self._known = None
        of_blocks: list[int] = self._graph.executor.gather(self._each(fewest, self._counts))
        return min(of_blocks)

    def drop(self, k: int) -> None:
        """See `ActiveBlocks`."""
        levels = [k] * len(self._blocks)
        self._states = self._each(drop, self._states, self._counts, levels)
        self._blocks = self._each(compress, self._blocks, self._counts, levels)
        self._counts = []
        self.edges = self._size()

    def peel(self, k: int) -> None:
        """See `ActiveBlocks`; one worker does it."""
        graph = self._graph
        peeled = graph.submit("peel", finish, self._blocks, graph.n, k)
        by_block = [graph.submit("peel", one, peeled, i) for i in range(len(self._states))]
        self._states = self._each(settle, self._states, by_block)

    def in_truss(self) -> list[list[Task]]:
        """Return the marks of the edges of each block in the k-truss."""
        return [[state] for state in self._states]

    def _size(self) -> int:
        of_blocks: list[int] = self._graph.executor.gather(self._each(edges_of, self._blocks))
        return sum(of_blocks)

    def _each(self, task: Any, *of_blocks: list[Any]) -> list[Task]:
        """Submit a task per block."""
        return [self._graph.submit("peel", task, *own) for own in zip(*of_blocks, strict=True)]


def in_truss(graph: DistributedGraph, k: int | None, *, by_group: bool = False) -> list[list[Task]]:
    """Mark the edges of each block in the k-truss; without k, in the last truss that has any.

    With `by_group`, the last truss is that of each group.
    """
    if k == 2:
        blocks_of = [graph.block_at(place, None) for place in range(graph.n**2)]
        return [[graph.submit("peel", every, block)] for block in blocks_of]
    by_block = graph.known.get("trussness")
    if k is None:
        by_block = of_every_edge(graph)
    elif by_block is None:
        return _one_truss(graph, k)
    if k is None and by_group:
        parts, groups = [part for (part,) in by_block], sums.edge_groups(graph)
        both = list(zip(parts, groups, strict=True))
        largest = [graph.submit("peel", top_by_group, *pair, graph.ids) for pair in both]
        tops_of_all = graph.tree("peel", counting.largest, largest)
        return [[graph.submit("peel", at_top, *pair, tops_of_all)] for pair in both]
    if k is None:
        tops = [graph.submit("peel", top, part) for (part,) in by_block]
        k = max(graph.executor.gather(tops))
    return [[graph.submit("peel", at_least, part, k)] for (part,) in by_block]


@worker_task
def every(context: WorkerContext, rows: EncodedBlock) -> Array:
    """Mark all edges of a block."""
    return context.backend.xp.ones(len(rows[1]), bool)


@worker_task
def top(context: WorkerContext, truss: Array) -> int:
    """Return the largest trussness of a block; 0 if it has no edge."""
    return int(truss.max()) if len(truss) else 0


@worker_task
def top_by_group(context: WorkerContext, truss: Array, groups: Array, ids: CompositeIds) -> Array:
    """Return the largest trussness in a block of each group; 0 without an edge."""
    require_length(groups, len(truss), "groups of edges")
    backend = context.backend
    series = backend.library.Series(truss).groupby(backend.library.Series(groups)).max()
    tops = backend.xp.zeros(len(ids.starts), "int32")
    tops[backend.array(series.index)] = backend.array(series)
    return tops


@worker_task
def at_top(context: WorkerContext, truss: Array, groups: Array, tops: Array) -> Array:
    """Mark the edges of a block with the largest trussness of their group."""
    require_length(groups, len(truss), "groups of edges")
    return truss == tops[groups]


@worker_task
def at_least(context: WorkerContext, truss: Array, k: int) -> Array:
    """Mark the edges of a block whose trussness is k or more."""
    return truss >= k


@worker_task
def peel(context: WorkerContext, rows: EncodedBlock, counts: list[Array], k: int | None) -> Array:
    """Find the trussness of every edge of a graph that is one block."""
    engine, graph = registry.load(context.backend.engine), codec.csr(rows, context.backend.xp)
    triangles = context.backend.xp.concatenate(counts)
    require_length(triangles, graph.m, "counts of edges")
    return engine.truss(engine.prepare(graph), triangles, k=k)


@worker_task
def begin(context: WorkerContext, rows: EncodedBlock) -> Array:
    """Return the state of a block none of whose edges has gone."""
    return context.backend.xp.ones(len(rows[1]), bool)


@worker_task
def fewest(context: WorkerContext, counts: list[Array]) -> int:
    """Return the fewest triangles of an edge of a block, `NO_EDGE` if it has none."""
    return min((int(part.min()) for part in counts if len(part)), default=NO_EDGE)


@worker_task
def drop(context: WorkerContext, remains: Array, counts: list[Array], k: int) -> Array:
    """Return the state without the remaining edges in fewer than k - 2 triangles."""
    xp = context.backend.xp
    triangles, edges = xp.concatenate(counts), xp.flatnonzero(remains)
    require_length(triangles, len(edges), "counts of edges")
    remains = remains.copy()
    remains[edges[triangles < k - 2]] = False
    return remains


@worker_task
def compress(
    context: WorkerContext, rows: EncodedBlock, counts: list[Array], k: int
) -> EncodedBlock:
    """Return a block without the edges in fewer than k - 2 triangles."""
    xp = context.backend.xp
    triangles, block = xp.concatenate(counts), codec.csr(rows, xp)
    require_length(triangles, block.m, "counts of edges")
    return codec.rows(recount.remaining(block, triangles, k), xp)


@worker_task
def finish(context: WorkerContext, remaining: list[EncodedBlock], n: int, k: int) -> list[Array]:
    """Mark the edges of each block that are in the k-truss, from a graph of them alone."""
    xp, engine = context.backend.xp, registry.load(context.backend.engine)
    blocks = [(divmod(place, n), codec.csr(rows, xp)) for place, rows in enumerate(remaining)]
    edges = sum(block.m for _, block in blocks)
    ranks = max(geometry.rank_limit(block, n, at, xp) for at, block in blocks)
    graph, relabel = recount.join_blocks(blocks, edges, ranks, n, engine=engine, xp=xp)
    in_truss = recount.peel_graph(graph, k, engine) >= k
    ends = (geometry.block_ends(block, n, at) for at, block in blocks)
    return [in_truss[engine.find_edges(graph, relabel[u], relabel[v])] for u, v in ends]


@worker_task
def settle(context: WorkerContext, remains: Array, in_truss: Array) -> Array:
    """Return the state without the remaining edges that are not in the k-truss."""
    edges = context.backend.xp.flatnonzero(remains)
    require_length(in_truss, len(edges), "marks of edges")
    remains = remains.copy()
    remains[edges] = in_truss
    return remains
