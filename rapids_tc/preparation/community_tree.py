"""The tree of the sets of edges that an engine has joined level by level.

A set that does not change from one level to the next is one community, and has the higher level.
Communities are numbered by their smallest edge, and the larger of two with the same one comes
first, so that a community's number is below the numbers of all communities inside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.preparation.csr import pack_keys

if TYPE_CHECKING:
    from rapids_tc.preparation.csr import Array, Csr


@dataclass(frozen=True)
class CommunityTree:
    """Communities of edges, each inside another or at a root.

    Attributes
    ----------
    of_edge : array of uint32, shape (m,)
        The community of each edge at its own level; `size` for an edge that is absent.
    level, parent, edges : array of int64, one per community
        Its level; the community around it, `size` at a root; how many edges it has.
    smallest : array of int64, one per community
        The number of the smaller end of its smallest edge.
    """

    of_edge: Array
    level: Array
    parent: Array
    edges: Array
    smallest: Array

    @property
    def size(self) -> int:
        """The number of communities."""
        return len(self.level)


def tree(words: Array, levels: Array, csr: Csr, number: Array, xp: Any) -> CommunityTree:
    """Read the tree of communities out of a forest.

    Parameters
    ----------
    words : array of uint64, shape (m,)
        The forest; see `rapids_tc.engines.protocol.Engine.join_triangles`.
    levels : array of uint32, shape (m,)
    csr : Csr
    number : array, shape (n,)
        The number of every rank.
    xp : module
    """
    heads = _heads(words, levels, xp)
    chosen = xp.flatnonzero((heads == xp.arange(csr.m, dtype="uint32")) & (levels > 0))
    size, level, above = len(chosen), levels[chosen].astype("int64"), words[chosen]
    del words
    place = xp.zeros(csr.m, "uint32")
    place[chosen] = xp.arange(size, dtype="uint32")
    parent = place[heads[(above & _NODE).astype("int64")]].astype("int64")
    parent[above == 0] = -1
    of_edge = place[heads]
    del heads, place
    of_edge[levels == 0] = size
    smallest, edges = _own_edges(of_edge, csr, number, size, xp)
    for members in _by_level(level, xp):
        members = members[parent[members] >= 0]
        xp.minimum.at(smallest, parent[members], smallest[members])
        xp.add.at(edges, parent[members], edges[members])
    order = xp.lexsort(xp.stack([level.astype("uint64"), smallest]))
    rank = xp.empty(size + 1, "int64")
    rank[order] = xp.arange(size, dtype="int64")
    rank[-1] = size
    parent[parent < 0] = size
    low_end = (smallest[order] >> np.uint64(32)).astype("int64")
    parents = rank[parent[order]]
    counts = edges[order].astype("int64")
    return CommunityTree(rank.astype("uint32")[of_edge], level[order], parents, counts, low_end)


LEVEL_AT = 40  # the lowest bit of a level in a word of a forest: levels are below 2**24
OF_ENDS = (1 << 24) - 1  # the level of the ends of edges, if these join: above all others
_NODE = np.uint64((1 << LEVEL_AT) - 1)
_LEAST, _BATCHES = 1 << 14, 64  # least edges of a batch, and the most batches


def _heads(words: Array, levels: Array, xp: Any) -> Array:
    """Find the edge (uint32) that stands for each edge's set at its own level."""
    heads = xp.arange(len(words), dtype="uint32")
    same = xp.flatnonzero((words >> np.uint64(LEVEL_AT) == levels) & (levels > 0))
    heads[same] = (words[same] & _NODE).astype("uint32")
    del same
    while True:
        after = heads[heads]
        if bool((after == heads).all()):
            return heads
        heads = after


def _own_edges(of_edge: Array, csr: Csr, number: Array, size: int, xp: Any) -> tuple[Array, Array]:
    """Return the smallest edge, numbers as a key, and how many edges, of each community (uint64).

    Edges of communities inside others are left out.
    """
    smallest, rows = xp.full(size + 1, ~np.uint64(0), "uint64"), csr.rows
    edges = xp.zeros(size + 1, "int64")
    size_of_batch = max(_LEAST, -(-csr.m // _BATCHES))
    for first in range(0, csr.m, size_of_batch):
        part = slice(first, first + size_of_batch)
        one, other = number[rows[part]], number[csr.columns[part]]
        keys = pack_keys(xp.minimum(one, other), xp.maximum(one, other).astype("uint32"), xp)
        community = of_edge[part].astype("int64")
        xp.minimum.at(smallest, community, keys)
        edges += xp.bincount(community, minlength=size + 1)
    return smallest[:-1], edges[:-1].astype("uint64")


def _by_level(level: Array, xp: Any) -> list[Array]:
    """Return the places of each level's communities, the highest level first."""
    order = xp.argsort(-level)
    ordered = level[order]
    cuts = xp.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    bounds = [0, *cuts.tolist(), len(level)]
    return [order[a:b] for a, b in pairwise(bounds) if a < b]


def vertices(communities: CommunityTree, csr: Csr, xp: Any) -> Array:
    """Count the vertices of each community: int64.

    From the highest level on, the vertices of a level's communities are counted, and then become
    vertices of the communities around these.
    """
    size = communities.size
    counts, groups = xp.zeros(size, "int64"), _by_level(communities.level, xp)
    if not groups:
        return counts
    order = xp.concatenate(groups)  # of communities; a key is place << 32 | vertex
    place = xp.empty(size + 1, "int64")
    place[order], place[-1] = xp.arange(size, dtype="int64"), size
    parent = place[communities.parent[order]]
    own = place.astype("uint32")[communities.of_edge]
    present = own < size
    ends = (pack_keys(own[present], end[present], xp) for end in (csr.rows, csr.columns))
    keys = xp.unique(xp.concatenate(list(ends)))
    del own, present
    firsts = np.cumsum([0, *map(len, groups)])
    borders = xp.asarray(firsts.astype("uint64") << np.uint64(32))
    bounds = xp.searchsorted(keys, borders).tolist()
    lifted: dict[int, list[Array]] = {}
    for i, group in enumerate(groups):
        pairs = keys[bounds[i] : bounds[i + 1]]
        if more := lifted.pop(i, None):
            pairs = xp.unique(xp.concatenate([pairs, *more]))
        community = (pairs >> np.uint64(32)).astype("int64")
        counts[group] = xp.bincount(community - int(firsts[i]), minlength=len(group))
        inside = xp.flatnonzero(parent[community] < size)
        if not len(inside):
            continue
        vertex = (pairs[inside] & np.uint64(0xFFFFFFFF)).astype("uint32")
        pairs = xp.unique(pack_keys(parent[community[inside]], vertex, xp))
        cuts = xp.searchsorted(pairs, borders)
        for target in xp.flatnonzero(cuts[1:] > cuts[:-1]).tolist():
            lifted.setdefault(target, []).append(pairs[int(cuts[target]) : int(cuts[target + 1])])
    return counts
