"""Columns of integers that may be null, in the user's library."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from rapids_tc.frames.adapters import pyarrow, root, to_host
from rapids_tc.frames.arrays import ArraysAdapter
from rapids_tc.frames.wrapped import NarwhalsAdapter, native, wrap

if TYPE_CHECKING:
    from rapids_tc._typing import Array, Frame, Series
    from rapids_tc.frames.adapters import FrameAdapter


def nullable_like(
    adapter: FrameAdapter, frame: Frame, values: Array, valid: Array, name: str
) -> Series:
    """Return integers as the adapter's `column_like` does, null if not valid; -1 in arrays."""
    if isinstance(adapter, ArraysAdapter):
        values = values.copy()
        values[~valid] = -1
        return adapter.column_like(frame, values, name)
    if isinstance(adapter, NarwhalsAdapter):
        inside = nullable_like(adapter.inner, native(frame), values, valid, name)
        return wrap(inside, adapter.module).alias(name)
    column = adapter.column_like(frame, values, name)
    if root(column) == "pandas":
        return column.astype("Int64").mask(~to_host(valid))
    integers = pyarrow().array(to_host(values), mask=~to_host(valid))
    in_library: dict[str, Any] = {
        "polars": lambda: sys.modules["polars"].from_arrow(integers).rename(name),
        "cudf": lambda: sys.modules["cudf"].Series(integers, index=frame.index, name=name),
        "pyarrow": lambda: pyarrow().chunked_array([integers]),
    }
    return in_library[root(column)]()
