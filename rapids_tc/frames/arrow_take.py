"""Take rows of Arrow columns, also of types that PyArrow cannot take from.

These types are views of text or bytes, and run-end encoding (apache/arrow#43010), at any depth.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa


def take_rows(column: Any, positions: Any) -> Any:
    """Return the rows of a chunked array at ascending `positions`; the type stays."""
    try:
        return column.take(pa.array(positions))
    except NotImplementedError:
        starts = np.cumsum([0, *map(len, column.chunks)])
        cuts = np.split(positions, np.searchsorted(positions, starts[1:-1]))
        chunks = zip(column.chunks, cuts, starts.tolist(), strict=False)
        return pa.chunked_array([_take(c, own - start) for c, own, start in chunks], column.type)


def _take(array: Any, positions: Any) -> Any:
    """Return the rows of one chunk at ascending `positions`."""
    kind, plain = array.type, _without_views(array.type)
    if plain != kind:
        return _take(array.cast(plain), positions).cast(kind)
    if isinstance(kind, pa.BaseExtensionType):
        return kind.wrap_array(_take(array.storage, positions))
    if pa.types.is_run_end_encoded(kind):
        runs = np.searchsorted(array.run_ends, positions + array.offset, side="right")
        first = np.flatnonzero(np.diff(runs, prepend=-1))
        ends = pa.array(np.append(first[1:], len(runs))[: len(first)], kind.run_end_type)
        values = _take(array.values, runs[first])
        return pa.RunEndEncodedArray.from_arrays(ends, values, kind)
    try:
        return array.take(pa.array(positions))
    except NotImplementedError:  # runs inside of lists and records: slices work
        first = np.flatnonzero(np.diff(positions, prepend=-2) != 1)
        lengths = np.diff(first, append=len(positions))
        slices = zip(positions[first].tolist(), lengths.tolist(), strict=True)
        return pa.concat_arrays([array[:0], *(array.slice(*piece) for piece in slices)])


def _without_views(kind: Any) -> Any:
    """Return the type with offsets in place of views."""
    types = pa.types

    def plain(field: Any) -> Any:
        return field.with_type(_without_views(field.type))

    if types.is_struct(kind):
        return pa.struct([plain(field) for field in kind])
    if types.is_map(kind):
        return pa.map_(_without_views(kind.key_type), plain(kind.item_field))
    if types.is_fixed_size_list(kind):
        return pa.list_(plain(kind.value_field), kind.list_size)
    if types.is_list(kind) or types.is_large_list(kind):
        return (pa.list_ if types.is_list(kind) else pa.large_list)(plain(kind.value_field))
    views = {"string_view": pa.large_string, "binary_view": pa.large_binary}
    return views[str(kind)]() if str(kind) in views else kind
