"""Tables that say whether the codes of the three sides of a triangle go together.

The code of a side is the set of what its rows offer. A row offers *slots*: bit i stands for place i
of the three types that are asked for, and is set if the row's type may stand there. It offers them
under its sign. So codes have

- for types of edges the slots of all rows, 3 bits, and if signs are asked for, too, those under
  minus and those under plus, 6 bits;
- for signs alone the signs of all rows, 2 bits: minus and plus;
- for types of vertices the slots of both ends, 6 bits, above the bits of signs;
- for arcs, one bit in place of signs, if nothing else says that an arc has a row.

A triangle counts if some choice of one row of each side fills all three places, and has the right
product of signs. So one look-up answers for all choices.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import permutations, product
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from rapids_tc._typing import Array

SLOTS, SIGNS = 3, 2  # bits of a code
ALL = (1 << SLOTS) - 1


@dataclass(frozen=True, eq=False)
class CodeTable:
    """Which codes of three sides go together, in the memory of the host.

    For a triangle u > v > w, bit uv << uv_shift | (uw & uw_mask) << uw_shift | vw & vw_mask says
    whether the codes uv, uw and vw do.

    Attributes
    ----------
    bits : array of uint32
        32 bits a word, the lowest first.
    uv_shift, uw_shift, uw_mask, vw_mask : int
    """

    bits: Array
    uv_shift: int
    uw_shift: int
    uw_mask: int
    vw_mask: int


@cache
def code_table(types: str, product_of_signs: str, mark: int = 0) -> CodeTable:
    """Return the table of triangles of three types, or of a product of signs, or of both.

    Parameters
    ----------
    types : {"", "edge", "vertex"}
        What the types are of, if types are asked for.
    product_of_signs : {"", "+", "-"}
        The product of the three signs, if signs are asked for.
    mark : int
        1 if a bit says that there is a row at all.
    """
    signs = SIGNS if product_of_signs else mark
    if types == "vertex":  # of u and v at uv, and of w at uw
        widths = 2 * SLOTS + signs, SLOTS + signs, signs
    else:
        widths = (SLOTS * max(signs, 1) if types else signs,) * 3
    uw_shift, uv_shift = widths[2], widths[1] + widths[2]
    place = np.arange(1 << sum(widths))
    sides: list[Array] = [
        place >> at & _low(width) for at, width in zip((uv_shift, uw_shift, 0), widths, strict=True)
    ]
    chosen = [
        tuple(map(_offered, sides, choice, (types,) * 3))
        for choice in ([(0, 0, 0)] if mark else _signs(product_of_signs))
    ]
    allowed = np.logical_or.reduce([_fills(*slots) for slots in chosen])
    if types == "vertex":
        uv, uw, _ = sides
        allowed &= _fills(uv >> (SLOTS + signs), uv >> signs, uw >> signs)
    allowed = np.resize(allowed, max(len(allowed), 32))  # of a word at least
    bits = np.packbits(allowed, bitorder="little").view(np.uint32)
    return CodeTable(bits, uv_shift, uw_shift, _low(widths[1]), _low(widths[2]))


def _low(width: int) -> int:
    return (1 << width) - 1


def _signs(product_of_signs: str) -> list[tuple[int | None, ...]]:
    """Return the signs that the chosen rows of three sides may have: 0 is minus, and 1 is plus."""
    if not product_of_signs:
        return [(None,) * 3]
    minus = int(product_of_signs == "-")  # an odd number of signs
    return [signs for signs in product((0, 1), repeat=3) if signs.count(0) % 2 == minus]


def _offered(codes: Array, sign: int | None, types: str) -> Any:
    """Return the slots that codes offer under a sign; without types of edges, all or none."""
    if types == "edge":
        return codes >> SLOTS * (sign or 0) & ALL
    return ALL * (codes >> sign & 1) if sign is not None else np.full_like(codes, ALL)


def _fills(*slots: Array) -> Array:
    """Return whether three sets of slots fill all three places, each one of them."""
    filled = [
        (slots[0] >> i) & (slots[1] >> j) & (slots[2] >> k) & 1
        for i, j, k in permutations(range(SLOTS))
    ]
    return np.logical_or.reduce(filled)
