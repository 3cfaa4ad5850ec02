"""The rows of all neighbors of some vertices, collected from the blocks of a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rapids_tc.blocks import geometry
from rapids_tc.frames.backend import as_uint32
from rapids_tc.preparation.csr import Csr, pack_keys

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from rapids_tc.blocks.geometry import Block
    from rapids_tc.frames.backend import Array

ENTRY = 32  # bytes of a neighbor in a row while rows are made: two keys, and a sort


def keys_of(block: Csr, n: int, at: Block, chosen: Array, xp: ModuleType) -> Array:
    """Return a key, vertex << 32 | neighbor, for each chosen end of the edges of a block.

    `chosen` is bool, by rank.
    """
    ends = [as_uint32(end) for end in geometry.block_ends(block, n, at)]
    keys = []
    for vertex, neighbor in (ends, ends[::-1]):
        inside = chosen[vertex]
        keys.append(pack_keys(vertex[inside], neighbor[inside], xp))
    return xp.concatenate(keys)


def rows_of(keys: list[Array], vertices: int, xp: ModuleType) -> Csr:
    """Make rows of the keys of all blocks, ascending; the rows of other vertices are empty."""
    together = xp.concatenate(keys)
    keys.clear()
    together.sort()
    offsets = xp.zeros(vertices + 1, "int64")
    lengths = xp.bincount((together >> 32).astype("int64"), minlength=vertices)
    xp.cumsum(lengths, out=offsets[1:])
    return Csr(offsets, together.astype("uint32"))


def parts_of(u: Array, v: Array, degrees: Array, most: int, xp: ModuleType) -> Iterator[slice]:
    """Cut pairs of ranks into parts the rows of whose ends have at most so many entries.

    A part of one pair may have more.
    """
    parts = [slice(0, len(u))]
    while parts:
        part = parts.pop()
        size = part.stop - part.start
        ends = xp.unique(xp.concatenate([u[part], v[part]]))
        if size > 1 and int(degrees[ends].sum()) > most:
            middle = part.start + size // 2
            parts += [slice(middle, part.stop), slice(part.start, middle)]
        elif size:
            yield part


class ValuesOfPairs:
    """What formulas of `rapids_tc.plan.record.EdgeValues` may not ask about pairs of vertices."""

    @property
    def trussness(self) -> Array:
        """Raise: a pair that is no edge has none."""
        raise NotImplementedError("trussness is of edges alone")

    @property
    def community(self) -> Array:
        """Raise: a pair that is no edge has none."""
        raise NotImplementedError("communities are of edges alone")
