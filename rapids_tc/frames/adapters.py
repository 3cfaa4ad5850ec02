"""How columns come out of the user's frame, and how results go home: one class a library."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

from rapids_tc.errors import IdTypeError

Array = Any  # numpy.ndarray or cupy.ndarray
Frame = Any  # a frame of the user's library
Series = Any  # a pandas or cuDF Series

ID_COLUMNS = ("vertex", "src", "dst", "u", "v", "w")  # of frames that functions make


class FrameAdapter:
    """The user's library. Columns are told by label, rows by position."""

    def labels(self, frame: Frame) -> list[Any]:
        return list(frame.columns)

    def rows(self, frame: Frame) -> int:
        return len(frame)

    def column(self, frame: Frame, label: Any) -> Series:
        raise NotImplementedError

    def frame(self, result: Frame) -> Frame:
        """A whole new frame, made in the working library, in the user's."""
        raise NotImplementedError

    def column_like(self, frame: Frame, values: Array, name: str) -> Series:
        """Values of every row as the user's kind of column, with the frame's index."""
        raise NotImplementedError

    def assign(self, frame: Frame, columns: dict[str, Series]) -> Frame:
        """A new frame with these aligned columns behind the others."""
        return frame.assign(**columns)

    def snapshot(self, frame: Frame) -> Frame:
        """The frame as it is now, whatever is done to the user's later."""
        return frame

    def with_id_dtype(self, frame: Frame, labels: tuple[Any, Any]) -> FrameAdapter:
        """The home that gives ids back in the type of these columns, where it is one of text."""
        return self

    def take(self, frame: Frame, positions: Array) -> Frame:
        """Return the rows at ascending positions, with every column and the index."""
        raise NotImplementedError


class PandasAdapter(FrameAdapter):
    def column(self, frame: Frame, label: Any) -> Series:
        return frame[label]

    def frame(self, result: Frame) -> Frame:
        return _on_host(result)

    def column_like(self, frame: Frame, values: Array, name: str) -> Series:
        return _pandas().Series(to_host(values), index=frame.index, name=name, copy=False)

    def assign(self, frame: Frame, columns: dict[str, Series]) -> Frame:
        wide = self.snapshot(frame)
        for name, values in columns.items():
            wide[name] = values  # of the same index: pandas copies no value
        return wide

    def snapshot(self, frame: Frame) -> Frame:
        return frame.copy(deep=False)  # pandas copies what is written to

    def take(self, frame: Frame, positions: Array) -> Frame:
        positions = to_host(positions)
        try:
            return frame.take(positions)
        except NotImplementedError:  # by PyArrow, for columns of some types
            return _take_by_column(frame, positions)


class CudfAdapter(FrameAdapter):
    def column(self, frame: Frame, label: Any) -> Series:
        return frame[label]

    def frame(self, result: Frame) -> Frame:
        return result if root(result) == "cudf" else sys.modules["cudf"].from_pandas(result)

    def snapshot(self, frame: Frame) -> Frame:
        return frame.copy(deep=True)  # a shallow copy would see what is written

    def take(self, frame: Frame, positions: Array) -> Frame:
        return frame.take(positions)  # where they are

    def column_like(self, frame: Frame, values: Array, name: str) -> Series:
        return sys.modules["cudf"].Series(values, index=frame.index, name=name)


class ProxyAdapter(FrameAdapter):
    """Frames under cudf.pandas: proxies round cuDF, and proxies are given back."""

    def snapshot(self, frame: Frame) -> Frame:
        return frame.copy(deep=True)

    def take(self, frame: Frame, positions: Array) -> Frame:
        return frame.take(to_host(positions))

    def column(self, frame: Frame, label: Any) -> Series:
        return frame[label].as_gpu_object()

    def frame(self, result: Frame) -> Frame:
        return sys.modules["cudf.pandas"].as_proxy_object(result)

    def column_like(self, frame: Frame, values: Array, name: str) -> Series:
        index = frame.index.as_gpu_object()
        return self.frame(sys.modules["cudf"].Series(values, index=index, name=name))


@dataclass(frozen=True)
class ArrowAdapter(FrameAdapter):
    """PyArrow tables, also for any object that only speaks the Arrow C stream interface."""

    ids: Any = None  # the type of id columns of text or categories; others find theirs

    def labels(self, frame: Frame) -> list[Any]:
        return frame.column_names

    def rows(self, frame: Frame) -> int:
        return frame.num_rows

    def with_id_dtype(self, frame: Frame, labels: tuple[Any, Any]) -> FrameAdapter:
        kinds = {frame.schema.field(frame.column_names.index(label)).type for label in labels}
        text = {"string", "string_view", "large_string"} & {str(kind) for kind in kinds}
        return replace(self, ids=kinds.pop()) if text and len(kinds) == 1 else self

    def column(self, frame: Frame, label: Any) -> Series:
        return _to_pandas(frame.column(frame.column_names.index(label)), label)

    def frame(self, result: Frame) -> Frame:
        table = pyarrow().Table.from_pandas(_on_host(result), preserve_index=False)
        for place, name in enumerate(table.column_names):
            if self.ids is not None and name in ID_COLUMNS:
                table = table.set_column(place, name, table.column(place).cast(self.ids))
        return table

    def column_like(self, frame: Frame, values: Array, name: str) -> Series:
        return pyarrow().chunked_array([to_host(values)])

    def assign(self, frame: Frame, columns: dict[str, Series]) -> Frame:
        for name, values in columns.items():
            frame = frame.append_column(name, values)
        return frame

    def take(self, frame: Frame, positions: Array) -> Frame:
        from rapids_tc.frames.arrow_take import take_rows

        columns = [take_rows(column, to_host(positions)) for column in frame.columns]
        return pyarrow().Table.from_arrays(columns, schema=frame.schema)


@dataclass(frozen=True)
class PolarsAdapter(FrameAdapter):
    ids: Any = None  # as of `ArrowAdapter`

    def with_id_dtype(self, frame: Frame, labels: tuple[Any, Any]) -> FrameAdapter:
        kinds = [frame.schema[label] for label in labels]
        named = kinds[0] == kinds[1] and isinstance(kinds[0], sys.modules["polars"].Enum)
        return replace(self, ids=kinds[0]) if named else self

    def column(self, frame: Frame, label: Any) -> Series:
        return _to_pandas(frame.get_column(label), label)

    def frame(self, result: Frame) -> Frame:
        table = pyarrow().Table.from_pandas(_on_host(result), preserve_index=False)
        frame = sys.modules["polars"].from_arrow(table)
        if self.ids is None:
            return frame
        return frame.cast({name: self.ids for name in ID_COLUMNS if name in frame.columns})

    def column_like(self, frame: Frame, values: Array, name: str) -> Series:
        return sys.modules["polars"].Series(name, to_host(values))

    def assign(self, frame: Frame, columns: dict[str, Series]) -> Frame:
        return frame.with_columns(**columns)

    def snapshot(self, frame: Frame) -> Frame:
        return frame.clone()

    def take(self, frame: Frame, positions: Array) -> Frame:
        return frame[to_host(positions)]


def _take_by_column(frame: Frame, positions: Array) -> Frame:
    """Take rows of a pandas frame; columns of Arrow types one by one, by Arrow."""
    from rapids_tc.frames.arrow_take import take_rows

    arrow = [i for i, dtype in enumerate(frame.dtypes) if hasattr(dtype, "pyarrow_dtype")]
    result = frame.copy(deep=False)
    for place in arrow:
        result.isetitem(place, 0)
    result = result.take(positions)
    for place in arrow:
        array = frame.iloc[:, place].array
        [column] = pyarrow().table([array], ["values"]).columns
        result.isetitem(place, type(array)(take_rows(column, positions)))
    return result


def _to_pandas(column: Any, label: Any) -> Series:
    arrow = pyarrow()
    try:
        if not isinstance(column, arrow.ChunkedArray):
            column = arrow.chunked_array([column.to_arrow()])
        if arrow.types.is_date(column.type):  # pandas' own would be objects
            dated = _pandas().ArrowDtype(column.type)
            return column.to_pandas(types_mapper=lambda _: dated)
        return column.to_pandas()
    except arrow.ArrowException as error:
        raise IdTypeError(
            f"column {label!r} cannot be read: {error}; cast it to integers or strings"
        ) from error


def root(value: Any) -> str:
    """The library that a value is of."""
    return type(value).__module__.partition(".")[0]


def is_dask(value: Any) -> bool:
    """Whether it is a Dask frame: of pandas, or of cuDF (dask_cudf), which is a kind of those."""
    frames = sys.modules.get("dask.dataframe")
    return frames is not None and isinstance(value, getattr(frames, "DataFrame", ()))


def _pandas() -> ModuleType:
    return sys.modules["pandas"]


def pyarrow() -> ModuleType:
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError(
            "frames that come by the Arrow interface need PyArrow: pip install 'rapids_tc[arrow]'"
        ) from error
    return pyarrow


def to_host(values: Array) -> Array:
    """The array in the memory of the host."""
    return values.get() if root(values) == "cupy" else values


def _on_host(result: Frame) -> Frame:
    return result.to_pandas() if root(result) == "cudf" else result


def text_arrays(values: Series) -> list[Array]:
    """Return integers that determine a column of Arrow-backed text; none if it is stored otherwise.

    These are the lengths of the strings, their bytes as words of eight, and the last few bytes.
    """
    held = getattr(values.dtype, "storage", "") if root(values) == "pandas" else ""  # cuDF's too
    if held != "pyarrow" or not len(values):
        return []
    import numpy as np

    text = pyarrow().array(values).cast("large_string")
    if hasattr(text, "combine_chunks"):
        text = text.combine_chunks()
    _, ends, data = text.buffers()
    offsets = np.frombuffer(ends, "int64")[text.offset : text.offset + len(text) + 1]
    known = np.frombuffer(data or b"", "uint8")[offsets[0] : offsets[-1]]
    words = len(known) // 8 * 8
    return [np.diff(offsets), known[:words].view("uint64"), known[words:]]
