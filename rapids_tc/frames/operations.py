"""The dataframe operations by which a GPU orders vertices and orients edges: libcudf's, on arrays.

They are called through pylibcudf, since a Series of cuDF would cost a small call a millisecond. On
the emulator, pandas and NumPy stand in for libcudf.
"""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Protocol

import numpy as np

from rapids_tc.frames.device_memory import by_libcudf

if TYPE_CHECKING:
    from types import ModuleType

    from rapids_tc._typing import Array, Series

_MOST = 2**31 - 1  # rows of a column of libcudf


class Operations(Protocol):
    """What is asked of a dataframe library for arrays of uint32."""

    def descending(self, values: Array) -> Array:
        """Return the places (int32) of the values in descending order."""

    def compared(self, values: Array, places: Array) -> tuple[Array, Array, Array]:
        """Return the values at each pair of places, (2, rows), and if the first is less (bool).

        All places exist: they are not checked.
        """


class PandasOperations:
    """The operations of pandas and NumPy."""

    def descending(self, values: Array) -> Array:
        """See `Operations`: places of equal values ascend."""
        from_last = sys.modules["pandas"].Index(values[::-1]).argsort(kind="stable")
        return (len(values) - 1 - from_last[::-1]).astype("int32")

    def compared(self, values: Array, places: Array) -> tuple[Array, Array, Array]:
        """See `Operations`."""
        first, second = (values[side] for side in places)
        return first, second, first < second


class LibcudfOperations:
    """The operations of libcudf, on CuPy arrays without a copy."""

    def __init__(self, cupy: ModuleType) -> None:
        import pylibcudf

        self._cupy, self._plc = cupy, pylibcudf

    def descending(self, values: Array) -> Array:
        """See `Operations`: a sort of libcudf."""
        if not len(values):
            return self._cupy.empty(0, "int32")
        types, table = self._plc.types, self._plc.Table([self._column(values)])
        orders = [types.Order.DESCENDING], [types.NullOrder.AFTER]
        order = by_libcudf(self._plc.sorting.sorted_order, table, *orders)
        return self._array(order, "int32")

    def compared(self, values: Array, places: Array) -> tuple[Array, Array, Array]:
        """See `Operations`: a gather of libcudf, and a comparison.

        A comparison takes a fifth of the time of the larger of two values, for which libcudf makes
        a mask of nulls and counts them, while the host waits.
        """
        plc, rows = self._plc, places.shape[1]
        if not rows:
            none = self._cupy.empty(0, "uint32")
            return none, none, none.view("bool")
        table, unchecked = plc.Table([self._column(values)]), plc.copying.OutOfBoundsPolicy
        parts = [places.reshape(-1)] if places.size <= _MOST else list(places)
        columns = [
            by_libcudf(plc.copying.gather, table, self._column(part), unchecked.DONT_CHECK)
            for part in parts
        ]
        columns = [gathered.columns()[0] for gathered in columns]
        arrays = [self._array(column, "uint32") for column in columns]
        if len(columns) == 1:
            arrays = [arrays[0][:rows], arrays[0][rows:]]
            columns = plc.copying.slice(columns[0], [0, rows, rows, 2 * rows])
        operator, dtype = plc.binaryop.BinaryOperator.LESS, plc.DataType(plc.TypeId.BOOL8)
        less = by_libcudf(plc.binaryop.binary_operation, *columns, operator, dtype)
        return arrays[0], arrays[1], self._array(less, "bool")

    def _column(self, values: Array) -> Series:
        return self._plc.Column.from_cuda_array_interface(values)

    def _array(self, column: Series, dtype: str) -> Array:
        """Return the values of a column, which the array keeps alive."""
        cuda, size = self._cupy.cuda, column.size()
        memory = cuda.UnownedMemory(column.data().ptr, size * np.dtype(dtype).itemsize, column)
        return self._cupy.ndarray((size,), dtype, cuda.MemoryPointer(memory, 0))


@functools.cache
def operations_of(xp: ModuleType) -> Operations:
    """Return the operations on arrays of a module, CuPy or NumPy."""
    return LibcudfOperations(xp) if xp.__name__ == "cupy" else PandasOperations()
