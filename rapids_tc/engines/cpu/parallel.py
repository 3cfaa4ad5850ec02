"""An atomic addition and a search, for all files of the Numba engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from rapids_tc.engines.cpu.compiled import inlined

if TYPE_CHECKING:
    from collections.abc import Callable

    from rapids_tc.preparation.csr import Array


def _atomic_add(typing_context: Any, array: Any, index: Any, value: Any) -> Any:
    """Do ``array[index] += value`` so that no other thread comes between; return the old value."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        item, position, addend = arguments
        view = make_array(signature.args[0])(context, builder, item)
        pointer = cgutils.get_item_pointer(
            context, builder, signature.args[0], view, [position], wraparound=False
        )
        addend = context.cast(builder, addend, signature.args[2], array.dtype)
        add = "fadd" if isinstance(array.dtype, types.Float) else "add"
        return builder.atomic_rmw(add, pointer, addend, "monotonic")

    return array.dtype(array, index, value), generate


atomic_add: Callable[[Array, Any, Any], Any] = intrinsic(_atomic_add)


@inlined
def find(columns: Array, begin: Any, end: Any, w: Any) -> Any:
    """Return the position of `w` in the ascending columns[begin:end]; -1 if it is not in there."""
    stop = end
    while begin < end:
        middle = (begin + end) >> 1
        if columns[middle] < w:
            begin = middle + 1
        else:
            end = middle
    return begin if begin < stop and columns[begin] == w else -1
