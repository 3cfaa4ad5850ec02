"""Selection of rows of Arrow columns, also of types for which PyArrow's ``take`` fails.

These types are views of text or bytes, and run-end encoding (apache/arrow#43010), at any depth.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from rapids_tc._typing import Array, DType, Frame, Series


def take_rows(column: Series, positions: Array) -> Frame:
    """Return the rows of a chunked array at ascending `positions`, in the same type."""
    try:
        return column.take(pa.array(positions))
    except NotImplementedError:
        starts = np.cumsum([0, *map(len, column.chunks)])
        cuts = np.split(positions, np.searchsorted(positions, starts[1:-1]))
        chunks = zip(column.chunks, cuts, starts.tolist(), strict=False)
        return pa.chunked_array([_take(c, cut - start) for c, cut, start in chunks], column.type)


def take_by_column(frame: Frame, positions: Array) -> Frame:
    """Take rows of a pandas frame; of columns of Arrow types one by one, by PyArrow."""
    places = [i for i, dtype in enumerate(frame.dtypes) if hasattr(dtype, "pyarrow_dtype")]
    result = frame.copy(deep=False)
    for place in places:
        result.isetitem(place, 0)
    result = result.take(positions)
    for place in places:
        array = frame.iloc[:, place].array
        [column] = pa.table([array], ["values"]).columns
        result.isetitem(place, type(array)(take_rows(column, positions)))
    return result


def _take(array: Array, positions: Array) -> Array:
    """Return the rows of one chunk at ascending `positions`."""
    arrow_type, without_views = array.type, _without_views(array.type)
    if without_views != arrow_type:
        return _take(array.cast(without_views), positions).cast(arrow_type)
    if isinstance(arrow_type, pa.BaseExtensionType):
        return arrow_type.wrap_array(_take(array.storage, positions))
    if pa.types.is_run_end_encoded(arrow_type):
        runs = np.searchsorted(array.run_ends, positions + array.offset, side="right")
        first = np.flatnonzero(np.diff(runs, prepend=-1))
        ends = pa.array(np.append(first[1:], len(runs))[: len(first)], arrow_type.run_end_type)
        values = _take(array.values, runs[first])
        return pa.RunEndEncodedArray.from_arrays(ends, values, arrow_type)
    try:
        return array.take(pa.array(positions))
    except NotImplementedError:  # run-end encoding inside of lists and records allows slices
        first = np.flatnonzero(np.diff(positions, prepend=-2) != 1)
        lengths = np.diff(first, append=len(positions))
        slices = zip(positions[first].tolist(), lengths.tolist(), strict=True)
        return pa.concat_arrays([array[:0], *(array.slice(*bounds) for bounds in slices)])


def _without_views(arrow_type: DType) -> DType:
    """Return the type with offsets in place of views."""
    types = pa.types

    def converted(field: Any) -> DType:
        return field.with_type(_without_views(field.type))

    if types.is_struct(arrow_type):
        return pa.struct([converted(field) for field in arrow_type])
    if types.is_map(arrow_type):
        return pa.map_(_without_views(arrow_type.key_type), converted(arrow_type.item_field))
    if types.is_fixed_size_list(arrow_type):
        return pa.list_(converted(arrow_type.value_field), arrow_type.list_size)
    if types.is_list(arrow_type) or types.is_large_list(arrow_type):
        make = pa.list_ if types.is_list(arrow_type) else pa.large_list
        return make(converted(arrow_type.value_field))
    views = {"string_view": pa.large_string, "binary_view": pa.large_binary}
    return views[str(arrow_type)]() if str(arrow_type) in views else arrow_type
