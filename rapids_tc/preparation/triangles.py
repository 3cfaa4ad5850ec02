"""The numbers of edges' ends, and of triangles' corners → columns of ids, sorted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rapids_tc.preparation.csr import pack_keys

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rapids_tc._typing import Array, Frame
    from rapids_tc.preparation.ids import Ids


def edge_keys(u: Array, v: Array, xp: Any, out: Array | None = None) -> Array:
    """Return keys (uint64) smaller number << 32 | larger number; in `out`, if given."""
    return pack_keys(xp.minimum(u, v), xp.maximum(u, v).astype("uint64"), xp, out)


def sorted_edges(u: Array, v: Array, ids: Ids) -> Frame:
    """Return a sorted frame `src`, `dst` of ids, from the numbers of both ends of every edge."""
    keys = edge_keys(u, v, ids.backend.xp)
    del u, v  # frees them, since the caller holds no reference either
    keys.sort()
    return named_edges(keys, ids)


def named_edges(keys: Array, ids: Ids) -> Frame:
    """Return a frame `src`, `dst` of ids, from keys that `edge_keys` makes."""
    ends = (keys >> shift & 0xFFFFFFFF for shift in (32, 0))
    return ids.backend.library.DataFrame(ids.columns(("src", "dst"), ends))


def ordered_corners(numbers: Array, xp: Any) -> tuple[Array, Array, Array]:
    """Return the smallest, the middle and the largest of the three numbers of each triangle."""
    a, b, c = numbers
    low = xp.minimum(xp.minimum(a, b), c)
    high = xp.maximum(xp.maximum(a, b), c)
    return low, a ^ b ^ c ^ low ^ high, high


def sorted_corners(numbers: Array, size: int, xp: Any) -> Iterator[Array]:
    """Yield the columns u < v < w of the triangles, sorted by all three; numbers are below `size`.

    The numbers are dropped as soon as they have been read.
    """
    low, middle, high = ordered_corners(numbers, xp)
    del numbers
    bits = max(size - 1, 1).bit_length()
    if 3 * bits > 64:
        order = xp.lexsort(xp.stack([high, middle, low]))
        yield from (corner[order] for corner in (low, middle, high))
        return
    keys = low.astype("uint64")  # all three in one number, which sorts faster
    for corner in (middle, high):
        keys <<= bits
        keys |= corner
    del low, middle, high, corner
    keys.sort()
    for shift in (2 * bits, bits, 0):
        yield keys >> shift & (1 << bits) - 1


def named_triangles(corners: Iterator[Array], ids: Ids) -> Frame:
    """Return a frame `u`, `v`, `w` of ids, from the columns of their numbers."""
    return ids.backend.library.DataFrame(ids.columns("uvw", corners))
