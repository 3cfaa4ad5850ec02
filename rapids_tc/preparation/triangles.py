"""The numbers of triangles' corners → columns of ids, sorted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rapids_tc.preparation.composite import CompositeIds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rapids_tc._typing import Array, Frame
    from rapids_tc.preparation.numbering import Ids


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
    if isinstance(ids, CompositeIds):
        columns = ids.columns(dict(zip("uvw", corners, strict=True)))
    else:  # takes one corner at a time, since three of them are as large as the answer
        columns = dict(zip("uvw", map(ids.take, corners), strict=True))
    return ids.backend.library.DataFrame(columns)
