"""What the Numba engine's files share: a lock, an atomic, a search."""

from __future__ import annotations

import threading

from numba import njit
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

# Numba's fallback threading layer dies when two Python threads enter it together.
one_at_a_time = threading.Lock()


@intrinsic
def atomic_add(typing_context, array, index, value):
    """``array[index] += value`` that no other thread can come between; returns what was there."""

    def generate(context, builder, signature, arguments):
        item, position, addend = arguments
        view = make_array(signature.args[0])(context, builder, item)
        pointer = cgutils.get_item_pointer(
            context, builder, signature.args[0], view, [position], wraparound=False
        )
        addend = context.cast(builder, addend, signature.args[2], array.dtype)
        add = "fadd" if isinstance(array.dtype, types.Float) else "add"
        return builder.atomic_rmw(add, pointer, addend, "monotonic")

    return array.dtype(array, index, value), generate


@njit(inline="always")
def find(columns, begin, end, w):
    """Position of `w` in the ascending columns[begin:end], -1 where it is not."""
    stop = end
    while begin < end:
        middle = (begin + end) >> 1
        if columns[middle] < w:
            begin = middle + 1
        else:
            end = middle
    return begin if begin < stop and columns[begin] == w else -1
