"""Rows of frames with the same columns put together, in the library of the frames."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.frames.adapters import root
from rapids_tc.frames.wrapped import native

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import ModuleType

    from rapids_tc._typing import Array, DType, Frame, Label, Series
    from rapids_tc.frames.backend import Backend


def dtypes(frame: Frame) -> list[DType]:
    """Return the dtypes of all columns."""
    if root(frame) == "cudf":
        try:  # `dtypes` makes a Series of pandas, which takes longer than many kernels
            return [column.dtype for column in frame._data.values()]
        except AttributeError:  # of another version of cuDF
            pass
    return list(frame.schema.types if root(frame) == "pyarrow" else frame.dtypes)


def select(frame: Frame, labels: Sequence[Label]) -> Frame:
    """Return the columns with these labels, in this order."""
    return frame.select(labels) if root(frame) == "pyarrow" else frame[labels]


def with_dtypes(frame: Frame, dtypes: dict[Label, DType]) -> Frame:
    """Return a frame of pandas, cuDF, Polars or PyArrow, some columns of which get other dtypes."""
    if root(frame) == "pyarrow":
        types = [dtypes.get(field.name, field.type) for field in frame.schema]
        fields = zip(frame.schema, types, strict=True)
        return frame.cast(sys.modules["pyarrow"].schema([f.with_type(kind) for f, kind in fields]))
    return frame.cast(dtypes) if root(frame) == "polars" else frame.astype(dtypes)


def append(frames: list[Frame]) -> Frame:
    """Return the rows of frames of one library, one after another.

    Frames without rows do not affect the dtypes. Frames of narwhals are unwrapped.
    """
    frames = [native(frame) for frame in frames]
    filled = [frame for frame in frames if frame.shape[0]] or frames[:1]
    if len(filled) == 1:
        return filled[0]
    library = root(filled[0])
    if library == "pyarrow":
        return sys.modules["pyarrow"].concat_tables(filled)
    if library == "polars":
        return sys.modules["polars"].concat(filled)
    library = "cudf" if library == "cudf" else "pandas"  # any other is a subclass of pandas' frame
    return sys.modules[library].concat(_with_one_set_of_categories(filled))


def join_columns(
    parts: Iterable[dict[Any, Series]], size: int, backend: Backend
) -> dict[Any, Series]:
    """Return columns of `size` rows that come in parts, each part with some rows of all columns.

    Numbers are written to the column as they come; others are held twice while they are joined.
    """
    arrays: dict[Any, Array] = {}
    pieces: dict[Any, list[Series]] = {}
    library, first = backend.library, 0
    kinds = "iufO" if library.__name__ == "pandas" else "iuf"
    for part in parts:
        for name, values in part.items():
            dtype, last = values.dtype, first + len(values)
            if isinstance(dtype, np.dtype) and dtype.kind in kinds:
                if name not in arrays:
                    arrays[name] = backend.xp.empty(size, dtype)
                arrays[name][first:last] = backend.array(values)
            else:
                pieces.setdefault(name, []).append(values)
        first = last
    result = {}
    for name in part:
        if name in arrays:
            array = arrays.pop(name)  # without a dtype, pandas would turn objects into text
            result[name] = library.Series(array, dtype=array.dtype, **_not_copied(library))
        else:
            result[name] = _join(pieces.pop(name), library)
    return result


def _join(pieces: list[Series], library: ModuleType) -> Series:
    """Return pieces of a column one after another; pieces of categories have the same ones."""
    dtype = pieces[0].dtype
    if library.__name__ != "pandas" or not isinstance(dtype, library.CategoricalDtype):
        return library.concat(pieces, ignore_index=True)
    codes = np.concatenate([piece.cat.codes for piece in pieces])  # concat would hash the dtypes
    return library.Series(library.Categorical.from_codes(codes, dtype=dtype))


def frame_of(columns: dict[Any, Series], backend: Backend) -> Frame:
    """Return a frame of columns, which are not copied."""
    return backend.library.DataFrame(columns, **_not_copied(backend.library))


def _not_copied(library: ModuleType) -> dict[str, bool]:
    """Return the option by which pandas does not copy arrays; cuDF has none, and never copies."""
    return {"copy": False} if library.__name__ == "pandas" else {}


def _with_one_set_of_categories(frames: list[Frame]) -> list[Frame]:
    """Return frames whose columns of categories have all the categories of all the frames."""
    first, *others = frames
    of_first, *of_others = map(dtypes, frames)
    for place, dtype in enumerate(of_first):
        if all(of_other[place] == dtype for of_other in of_others):
            continue
        label, categories = first.columns[place], dtype.categories
        for other in others:
            more = other.dtypes.iloc[place].categories
            categories = categories.append(more[~more.isin(categories)])
        frames = [frame.copy(deep=False) for frame in frames]
        for frame in frames:
            frame[label] = frame[label].astype(type(dtype)(categories))
    return frames
