"""Atomic operations, a barrier and a search, for all files of the Numba engine."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from rapids_tc.engines.cpu.compiled import compiled, inlined

if TYPE_CHECKING:
    from collections.abc import Callable

    from rapids_tc.preparation.csr import Array

LINE = 16  # entries (int64) from one word that many threads write to the next such word
SPINS = 1 << 11  # looks at a barrier before a waiting thread lets others have its core


def _pointer(context: Any, builder: Any, signature: Any, array: Any, index: Any) -> Any:
    view = make_array(signature.args[0])(context, builder, array)
    return cgutils.get_item_pointer(
        context, builder, signature.args[0], view, [index], wraparound=False
    )


def _atomic(operation: str, order: str = "monotonic") -> Callable[[Array, Any, Any], Any]:
    """Return a function for ``array[index] += value``, or another operation, as one step.

    It returns the old value. With order "acq_rel", all that the thread wrote before is written for
    the threads that read the new value, too.
    """

    def call(typing_context: Any, array: Any, index: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            item, position, operand = arguments
            pointer = _pointer(context, builder, signature, item, position)
            operand = context.cast(builder, operand, signature.args[2], array.dtype)
            of_floats = "f" if isinstance(array.dtype, types.Float) else ""
            return builder.atomic_rmw(of_floats + operation, pointer, operand, order)

        return array.dtype(array, index, value), generate

    function: Callable[[Array, Any, Any], Any] = intrinsic(call)
    return function


def _load(order: str) -> Callable[[Array, Any], Any]:
    """Return a function that reads ``array[index]`` anew, which other threads may write.

    With order "acquire", all that is read after it is read later.
    """

    def call(typing_context: Any, array: Any, index: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            pointer = _pointer(context, builder, signature, *arguments)
            return builder.load_atomic(pointer, order, array.dtype.bitwidth // 8)

        return array.dtype(array, index), generate

    function: Callable[[Array, Any], Any] = intrinsic(call)
    return function


def _swap_if(typing_context: Any, array: Any, index: Any, old: Any, new: Any) -> Any:
    """Write `new` to ``array[index]`` if `old` is in it; return what was in it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        item, position, *values = arguments
        pointer = _pointer(context, builder, signature, item, position)
        before, after = (
            context.cast(builder, value, dtype, array.dtype)
            for value, dtype in zip(values, signature.args[2:], strict=True)
        )
        swapped = builder.cmpxchg(pointer, before, after, "monotonic", "monotonic")
        return builder.extract_value(swapped, 0)

    return array.dtype(array, index, old, new), generate


def _fetch(typing_context: Any, array: Any, index: Any) -> Any:
    """Let the core fetch ``array[index]``, to write it soon, and do not wait for it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _pointer(context, builder, signature, *arguments)
        address, word = cgutils.voidptr_t, cgutils.int32_t
        kind = ir.FunctionType(ir.VoidType(), [address, word, word, word])
        fetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        to_write, keep, data = word(1), word(3), word(1)
        builder.call(fetch, [builder.bitcast(pointer, address), to_write, keep, data])
        return context.get_dummy_value()

    return types.void(array, index), generate


def _bits(operation: str) -> Callable[[Any], Any]:
    """Return a function of one word (uint64) that is an instruction of the processor."""

    def call(typing_context: Any, word: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            if operation == "ctpop":
                return builder.ctpop(arguments[0])
            return builder.cttz(arguments[0], cgutils.true_bit)  # the word is not 0

        return types.int64(types.uint64), generate

    function: Callable[[Any], Any] = intrinsic(call)
    return function


atomic_add, atomic_or, atomic_and = _atomic("add"), _atomic("or"), _atomic("and")
exchange = _atomic("xchg")
add_in_order = _atomic("add", "acq_rel")
count_ones, lowest_one = _bits("ctpop"), _bits("cttz")
swap_if: Callable[[Array, Any, Any, Any], Any] = intrinsic(_swap_if)
fetch_to_write: Callable[[Array, Any], None] = intrinsic(_fetch)
load, load_in_order = _load("monotonic"), _load("acquire")
_yield = types.ExternalFunction(
    "SwitchToThread" if sys.platform == "win32" else "sched_yield", types.int32()
)


@compiled
def wait_for_all(barrier: Array, threads: int) -> bool:
    """Return True once so many threads have called this with the same words of int64, 0 at first.

    They are `LINE` apart: how many threads wait, how often all came, and whether one of them never
    will, in which case False is returned. What a thread wrote before it came is seen by all after.
    """
    turn = load_in_order(barrier, LINE)
    if add_in_order(barrier, 0, 1) == threads - 1:
        barrier[0] = 0
        add_in_order(barrier, LINE, 1)
        return True
    looks = 0
    while load_in_order(barrier, LINE) == turn:
        looks += 1
        if looks > SPINS:
            if load_in_order(barrier, 2 * LINE):
                return False
            _yield()
    return True


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
