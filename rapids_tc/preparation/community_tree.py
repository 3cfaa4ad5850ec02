"""The tree of the sets of edges that an engine has joined level by level.

A set that does not change from one level to the next is one community, and has the higher level.
Communities are numbered by their smallest edge, and the larger of two with the same one comes
first, so that a community's number is below the numbers of all communities inside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.frames.backend import sum64
from rapids_tc.preparation.csr import pack_keys

if TYPE_CHECKING:
    from collections.abc import Callable

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


def tree(
    words: Array, levels: Array, csr: Csr, number: Array, count: Callable[..., Any], xp: Any
) -> CommunityTree:
    """Read the tree of communities out of a forest.

    Parameters
    ----------
    words : array of uint64, shape (m,)
        The forest; see `rapids_tc.engines.protocol.Engine.join_triangles`.
    levels : array of uint32, shape (m,)
    csr : Csr
    number : array, shape (n,)
        The number of every rank.
    count : callable
        `Engine.degrees`, which counts how often each number occurs.
    xp : module
    """
    heads = _heads(words, levels, xp)
    chosen = xp.flatnonzero((heads == xp.arange(csr.m, dtype="uint32")) & (levels > 0))
    size, level, above = len(chosen), levels[chosen].astype("int64"), words[chosen]
    del words
    place = xp.zeros(csr.m, "uint32")
    place[chosen] = xp.arange(size, dtype="uint32")
    parent = place[heads[(above & _NODE).astype("int64")]].astype("int64")
    parent[above == 0] = size
    of_edge = place[heads]
    del heads, place
    of_edge[levels == 0] = size
    smallest = _smallest_edges(of_edge, csr, number, size, xp)
    edges = count(of_edge, of_edge[:0], size + 1)[0].astype("uint64")
    for above in _ancestors(parent, xp):
        xp.minimum.at(smallest, above, smallest.copy())
        xp.add.at(edges, above, edges.copy())
    order = xp.lexsort(xp.stack([level.astype("uint64"), smallest[:-1]]))
    rank = xp.empty(size + 1, "int64")
    rank[order] = xp.arange(size, dtype="int64")
    rank[-1] = size
    low_end = (smallest[order] >> np.uint64(32)).astype("int64")
    parents = rank[parent[order]]
    counts = edges[order].astype("int64")  # those of the last, of none, are meaningless
    return CommunityTree(rank.astype("uint32")[of_edge], level[order], parents, counts, low_end)


LEVEL_AT = 40  # the lowest bit of a level in a word of a forest: levels are below 2**24
OF_ENDS = (1 << 24) - 1  # the level of the ends of edges, if these join: above all others
_NODE = np.uint64((1 << LEVEL_AT) - 1)
_LEAST, _GROWTH, _PARTS = 1 << 14, 4, 16  # edges of the first batch; batches grow to a part


def words_of(parents: Array, levels: Array, xp: Any) -> Array:
    """Return the words of a forest, from the parents of edges (uint32), themselves at a root."""
    words = levels[parents].astype("uint64")
    words <<= np.uint64(LEVEL_AT)
    words |= parents
    words[parents == xp.arange(len(parents), dtype="uint32")] = 0
    return words


def placed(words: Array, positions: Array, m: int, xp: Any) -> Array:
    """Return the words of m edges, from those of some, which are at these positions (int64)."""
    node = positions[(words & _NODE).astype("int64")].astype("uint64")
    moved = xp.zeros(m, "uint64")
    moved[positions] = xp.where(words > 0, words & ~_NODE | node, 0)
    return moved


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


def _smallest_edges(of_edge: Array, csr: Csr, number: Array, size: int, xp: Any) -> Array:
    """Return the smallest edge of each community, numbers as a key (uint64), and one for none.

    Edges of communities inside others are left out.
    """
    smallest, rows = xp.full(size + 1, ~np.uint64(0), "uint64"), csr.rows
    first = 0
    while first < csr.m:
        part = slice(first, first + max(_LEAST, min(_GROWTH * first, csr.m // _PARTS)))
        first = part.stop
        one, other = number[rows[part]], number[csr.columns[part]]
        keys = pack_keys(xp.minimum(one, other), xp.maximum(one, other).astype("uint32"), xp)
        community = of_edge[part]
        smaller = xp.flatnonzero(keys < smallest[community])  # few, from the second batch on
        xp.minimum.at(smallest, community[smaller].astype("int64"), keys[smaller])
    return smallest


def _ancestors(parent: Array, xp: Any) -> list[Array]:
    """Return who is 2 ** i generations above each community, `size` above roots and itself.

    What is combined, one after another of the list, with those above, is then combined for all
    that are inside: first within two generations, then within four, and so on.
    """
    size = len(parent)
    ancestors = [xp.append(parent, size)]
    while sum64(ancestors[-1] < size):
        ancestors.append(ancestors[-1][ancestors[-1]])
    return ancestors[:-1]


def vertices(communities: CommunityTree, csr: Csr, xp: Any) -> Array:
    """Count the vertices of each community: int64.

    Communities get places in *preorder*: one is before all communities inside it, which follow
    without a gap. The communities of a vertex's own edges, in this order, are counted at each, and
    of two that follow one another, one is taken away at the smallest community around both. So the
    vertex is counted once among the communities inside any that has it, itself included.
    """
    size = communities.size
    if not size:
        return xp.zeros(0, "int64")
    place, last, parent = _preorder(communities.parent, xp)
    own = xp.append(place, size).astype("uint32")[communities.of_edge]
    present = own < size
    ends = (pack_keys(end[present], own[present], xp) for end in (csr.rows, csr.columns))
    keys = xp.unique(xp.concatenate(list(ends)))
    del own, present
    vertex, at = (keys >> np.uint64(32)).astype("uint32"), keys.astype("uint32")
    del keys
    pairs = xp.zeros(len(at), bool)  # of an entry and the next one, of the same vertex
    pairs[:-1] = vertex[1:] == vertex[:-1]
    del vertex
    inside = pairs.copy()
    inside[:-1] &= at[1:] <= last[at[:-1]]
    changes = xp.zeros(size + 1, "int64")
    changes[1:] = xp.bincount(at[~inside], minlength=size)
    apart = xp.flatnonzero(pairs & ~inside)
    around = _around(at[apart], at[apart + 1], last, parent, xp)
    if len(around):  # CuPy counts no empty array
        changes[1:] -= xp.bincount(around, minlength=size)
    before = xp.cumsum(changes)
    return (before[last + 1] - before[xp.arange(size)])[place]


def _preorder(parent: Array, xp: Any) -> tuple[Array, Array, Array]:
    """Return the places of communities in preorder, and by place, the last inside, and the parent.

    The parent of a root is itself. All are int64.
    """
    size, ancestors = len(parent), _ancestors(parent, xp)
    sizes = xp.ones(size + 1, "uint64")  # of a community and all inside
    for above in ancestors:
        xp.add.at(sizes, above, sizes.copy())
    sizes = sizes[:-1].view("int64")
    order = xp.argsort(parent)
    ordered = parent[order]
    is_first = xp.ones(size, bool)
    is_first[1:] = ordered[1:] != ordered[:-1]
    before = xp.cumsum(sizes[order]) - sizes[order]
    steps = xp.zeros(size + 1, "int64")  # from the parent's place
    steps[order] = 1 + before - before[is_first][xp.cumsum(is_first, dtype="int64") - 1]
    for above in ancestors:
        steps += steps[above]
    place = steps[:-1] - 1
    last, around = xp.empty(size, "int64"), xp.arange(size)
    last[place] = place + sizes - 1
    inner = parent < size
    around[place[inner]] = place[parent[inner]]
    return place, last, around


def _around(first: Array, second: Array, last: Array, parent: Array, xp: Any) -> Array:
    """Find the smallest community around both of two, for those that have one.

    The first is before the second and not around it. All are places in preorder.
    """
    leaps = [parent]  # 2 ** i generations up
    while len(first) and not bool((leaps[-1] == leaps[-1][leaps[-1]]).all()):
        leaps.append(leaps[-1][leaps[-1]])
    for leap in reversed(leaps):
        above = leap[first]
        first = xp.where(last[above] < second, above, first)
    found = parent[first]
    return found[last[found] >= second]
