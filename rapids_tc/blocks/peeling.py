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
from rapids_tc.blocks.codec import Packed
from rapids_tc.blocks.worker_tasks import Site, chunk, one
from rapids_tc.engines import registry
from rapids_tc.frames.backend import Array, wide_sum
from rapids_tc.graphs.distributed import Future, Spread
from rapids_tc.preparation.csr import packed_keys

FIRST = 3  # of the levels: every edge is in the 2-truss


def trussness(
    spread: Spread, k: int | None, counts: list[list[Future]] | None = None
) -> list[list[Future]]:
    """The trussness of every edge of each block; with `k`, k or more in the k-truss, less outside.

    `counts` are the triangles of the edges, where they are known already.

    Returns
    -------
    for each block a list of tasks, slices (int32).
    """
    if spread.n == 1:
        (known,), worker = counts or sums.by_edge(spread), spread.shares[0]
        block = spread.block_at(0, worker)
        return [[spread.submit("peel", peel, block, known, k, on=worker)]]
    level = FIRST if k is None else k
    left = spread.blocks
    states = [spread.submit("peel", begin, block) for block in left]
    while edges := sum(spread.cluster.get([spread.submit("peel", size, b) for b in left])):
        if spread.fits(edges):
            found = spread.submit("peel", finish, left, spread.n, k, level)
            for place, state in enumerate(states):
                own = spread.submit("peel", one, found, place)
                states[place] = spread.submit("peel", settle, state, own)
            break
        now = counts if counts and left is spread.blocks else sums.by_edge(spread, left)
        states = [
            spread.submit("peel", drop, state, own, level)
            for state, own in zip(states, now, strict=True)
        ]
        facts = spread.cluster.get([spread.submit("peel", facts_of, state) for state in states])
        if any(gone for gone, _, _ in facts):
            left = [
                spread.submit("peel", compress, block, state)
                for block, state in zip(spread.blocks, states, strict=True)
            ]
        elif k is None:
            level = min(fewest for _, some, fewest in facts if some) + FIRST
        else:
            states = [spread.submit("peel", settle, state, k) for state in states]
            break
    return [[spread.submit("peel", one, state, 1)] for state in states]


def in_truss(spread: Spread, k: int | None) -> list[list[Future]]:
    """Which edges of each block are in the k-truss; without k, in the last one that has any."""
    if k == FIRST - 1:
        blocks_of = [spread.block_at(place, None) for place in range(spread.n**2)]
        return [[spread.submit("peel", every, block)] for block in blocks_of]
    found = trussness(spread, k)
    if k is None:
        tops = [spread.submit("peel", top, part) for (part,) in found]
        k = max(spread.cluster.get(tops))
    return [[spread.submit("peel", at_least, part, k)] for (part,) in found]


@chunk
def every(site: Site, rows: Packed) -> Array:
    """All edges of a block."""
    return site.backend.xp.ones(len(rows[1]), bool)


@chunk
def top(site: Site, truss: Array) -> int:
    """The largest trussness of a block, 0 of one without an edge."""
    return int(truss.max()) if len(truss) else 0


@chunk
def at_least(site: Site, truss: Array, k: int) -> Array:
    """The edges of a block whose trussness is k or more."""
    return truss >= k


@chunk
def peel(site: Site, rows: Packed, counts: list[Array], k: int | None) -> Array:
    """The trussness of every edge of a graph that is one block."""
    engine, graph = registry.load(site.backend.engine), codec.csr(rows, site.backend.xp)
    triangles = site.backend.xp.concatenate(counts)
    require_length(triangles, graph.m, "counts of edges")
    return engine.truss(engine.prepare(graph), triangles, k=k)


@chunk
def begin(site: Site, rows: Packed) -> list[Array]:
    """The state of a block none of whose edges has gone."""
    xp, m = site.backend.xp, len(rows[1])
    return [xp.ones(m, bool), xp.zeros(m, "int32"), np.array([0, m, 0])]


@chunk
def size(site: Site, rows: Packed) -> int:
    """The edges of a block."""
    return len(rows[1])


@chunk
def drop(site: Site, state: list[Array], counts: list[Array], level: int) -> list[Array]:
    """Without the edges that are left in fewer than level - 2 triangles."""
    xp, (left, truss, _) = site.backend.xp, state
    own = xp.concatenate(counts)
    stays = own >= level - 2
    at = xp.flatnonzero(left)
    require_length(own, len(at), "counts of edges")
    left, truss = left.copy(), truss.copy()
    left[at[~stays]], truss[at[~stays]] = False, level - 1
    there = wide_sum(stays)
    fewest = int(own[stays].min()) if there else 0
    return [left, truss, np.array([len(own) - there, there, fewest])]


@chunk
def facts_of(site: Site, state: list[Array]) -> tuple[int, int, int]:
    """Edges that went last, edges left, the fewest triangles of one left."""
    return tuple(state[2].tolist())


@chunk
def compress(site: Site, rows: Packed, state: list[Array]) -> Packed:
    """A block without the edges that are gone."""
    xp = site.backend.xp
    require_length(state[0], len(rows[1]), "marks of edges")
    return codec.rows(codec.csr(rows, xp).only(state[0]), xp)


@chunk
def finish(site: Site, left: list[Packed], n: int, k: int | None, level: int) -> list[Array]:
    """The trussness of all edges that are left, block by block, from a graph of them alone."""
    backend, xp = site.backend, site.backend.xp
    engine = registry.load(backend.engine)
    whole = [codec.csr(rows, xp) for rows in left]
    ends = [grid.ends(block, n, *divmod(place, n)) for place, block in enumerate(whole)]
    ranks = xp.unique(xp.concatenate([end for pair in ends for end in pair]))
    pairs = [[xp.searchsorted(ranks, end).astype("uint32") for end in pair] for pair in ends]
    keys = xp.concatenate([packed_keys(u, v, xp) for u, v in pairs])
    graph = engine.csr(keys, len(ranks))
    layout = engine.prepare(graph)
    truss = engine.truss(layout, engine.edge_counts(layout), k=k)
    truss = xp.maximum(truss, level - 1)  # edges of that level may have lost what kept them in it
    return [truss[engine.locate(graph, u, v)] for u, v in pairs]


@chunk
def settle(site: Site, state: list[Array], found: Any) -> list[Array]:
    """The edges that were left get the trussness that was found for them, one for all or each."""
    left, truss, _ = state
    truss = truss.copy()
    truss[left] = found
    return [site.backend.xp.zeros_like(left), truss, np.array([0, 0, 0])]
