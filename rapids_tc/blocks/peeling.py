"""Trussness of a graph on many machines: on one of them, as soon as what is left fits it.

Until then it is peeled on its blocks: edges in too few triangles go, the rest is counted again.
Most edges of most graphs go in the first rounds. The state of a block is [which edges are left,
trussness of those that are not, (edges that went last, edges left, fewest triangles of one left)].
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rapids_tc.blocks import codec, grid, sums
from rapids_tc.blocks.arrivals import require_length
from rapids_tc.blocks.codec import EncodedBlock
from rapids_tc.blocks.worker_tasks import WorkerContext, one, worker_task
from rapids_tc.engines import registry
from rapids_tc.executors.protocol import Task
from rapids_tc.frames.backend import Array, sum64
from rapids_tc.graphs.distributed import DistributedGraph
from rapids_tc.preparation.csr import pack_keys

FIRST = 3  # of the levels: every edge is in the 2-truss


def trussness(
    graph: DistributedGraph, k: int | None, counts: list[list[Task]] | None = None
) -> list[list[Task]]:
    """The trussness of every edge of each block; with `k`, k or more in the k-truss, less outside.

    `counts` are the triangles of the edges, where they are known already.

    Returns
    -------
    for each block a list of tasks, slices (int32).
    """
    if graph.n == 1:
        (known,), worker = counts or sums.by_edge(graph), graph.counting_workers[0]
        block = graph.block_at(0, worker)
        return [[graph.submit("peel", peel, block, known, k, on=worker)]]
    level = FIRST if k is None else k
    left = graph.blocks
    states = [graph.submit("peel", begin, block) for block in left]
    while edges := sum(graph.executor.gather([graph.submit("peel", size, b) for b in left])):
        if graph.fits(edges):
            found = graph.submit("peel", finish, left, graph.n, k, level)
            for place, state in enumerate(states):
                own = graph.submit("peel", one, found, place)
                states[place] = graph.submit("peel", settle, state, own)
            break
        now = counts if counts and left is graph.blocks else sums.by_edge(graph, left)
        states = [
            graph.submit("peel", drop, state, own, level)
            for state, own in zip(states, now, strict=True)
        ]
        facts = graph.executor.gather([graph.submit("peel", facts_of, state) for state in states])
        if any(gone for gone, _, _ in facts):
            left = [
                graph.submit("peel", compress, block, state)
                for block, state in zip(graph.blocks, states, strict=True)
            ]
        elif k is None:
            level = min(fewest for _, some, fewest in facts if some) + FIRST
        else:
            states = [graph.submit("peel", settle, state, k) for state in states]
            break
    return [[graph.submit("peel", one, state, 1)] for state in states]


def in_truss(graph: DistributedGraph, k: int | None) -> list[list[Task]]:
    """Which edges of each block are in the k-truss; without k, in the last one that has any."""
    if k == FIRST - 1:
        blocks_of = [graph.block_at(place, None) for place in range(graph.n**2)]
        return [[graph.submit("peel", every, block)] for block in blocks_of]
    found = trussness(graph, k)
    if k is None:
        tops = [graph.submit("peel", top, part) for (part,) in found]
        k = max(graph.executor.gather(tops))
    return [[graph.submit("peel", at_least, part, k)] for (part,) in found]


@worker_task
def every(context: WorkerContext, rows: EncodedBlock) -> Array:
    """All edges of a block."""
    return context.backend.xp.ones(len(rows[1]), bool)


@worker_task
def top(context: WorkerContext, truss: Array) -> int:
    """The largest trussness of a block, 0 of one without an edge."""
    return int(truss.max()) if len(truss) else 0


@worker_task
def at_least(context: WorkerContext, truss: Array, k: int) -> Array:
    """The edges of a block whose trussness is k or more."""
    return truss >= k


@worker_task
def peel(context: WorkerContext, rows: EncodedBlock, counts: list[Array], k: int | None) -> Array:
    """The trussness of every edge of a graph that is one block."""
    engine, graph = registry.load(context.backend.engine), codec.csr(rows, context.backend.xp)
    triangles = context.backend.xp.concatenate(counts)
    require_length(triangles, graph.m, "counts of edges")
    return engine.truss(engine.prepare(graph), triangles, k=k)


@worker_task
def begin(context: WorkerContext, rows: EncodedBlock) -> list[Array]:
    """The state of a block none of whose edges has gone."""
    xp, m = context.backend.xp, len(rows[1])
    return [xp.ones(m, bool), xp.zeros(m, "int32"), np.array([0, m, 0])]


@worker_task
def size(context: WorkerContext, rows: EncodedBlock) -> int:
    """The edges of a block."""
    return len(rows[1])


@worker_task
def drop(
    context: WorkerContext, state: list[Array], counts: list[Array], level: int
) -> list[Array]:
    """Without the edges that are left in fewer than level - 2 triangles."""
    xp, (left, truss, _) = context.backend.xp, state
    own = xp.concatenate(counts)
    stays = own >= level - 2
    at = xp.flatnonzero(left)
    require_length(own, len(at), "counts of edges")
    left, truss = left.copy(), truss.copy()
    left[at[~stays]], truss[at[~stays]] = False, level - 1
    there = sum64(stays)
    fewest = int(own[stays].min()) if there else 0
    return [left, truss, np.array([len(own) - there, there, fewest])]


@worker_task
def facts_of(context: WorkerContext, state: list[Array]) -> tuple[int, int, int]:
    """Edges that went last, edges left, the fewest triangles of one left."""
    return tuple(state[2].tolist())


@worker_task
def compress(context: WorkerContext, rows: EncodedBlock, state: list[Array]) -> EncodedBlock:
    """A block without the edges that are gone."""
    xp = context.backend.xp
    require_length(state[0], len(rows[1]), "marks of edges")
    return codec.rows(codec.csr(rows, xp).select(state[0]), xp)


@worker_task
def finish(
    context: WorkerContext, left: list[EncodedBlock], n: int, k: int | None, level: int
) -> list[Array]:
    """The trussness of all edges that are left, block by block, from a graph of them alone."""
    backend, xp = context.backend, context.backend.xp
    engine = registry.load(backend.engine)
    whole = [codec.csr(rows, xp) for rows in left]
    ends = [grid.ends(block, n, *divmod(place, n)) for place, block in enumerate(whole)]
    ranks = xp.unique(xp.concatenate([end for pair in ends for end in pair]))
    pairs = [[xp.searchsorted(ranks, end).astype("uint32") for end in pair] for pair in ends]
    keys = xp.concatenate([pack_keys(u, v, xp) for u, v in pairs])
    graph = engine.csr(keys, len(ranks))
    layout = engine.prepare(graph)
    truss = engine.truss(layout, engine.edge_counts(layout), k=k)
    truss = xp.maximum(truss, level - 1)  # edges of that level may have lost what kept them in it
    return [truss[engine.find_edges(graph, u, v)] for u, v in pairs]


@worker_task
def settle(context: WorkerContext, state: list[Array], found: Any) -> list[Array]:
    """The edges that were left get the trussness that was found for them, one for all or each."""
    left, truss, _ = state
    truss = truss.copy()
    truss[left] = found
    return [context.backend.xp.zeros_like(left), truss, np.array([0, 0, 0])]
