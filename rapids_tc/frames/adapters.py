"""Adapters of dataframe libraries, one class each: columns out of a frame, and results into one."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rapids_tc.errors import IdTypeError, KernelError
from rapids_tc.frames.chunks import ColumnChunks
from rapids_tc.frames.device_memory import for_user, frame_for_user

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from rapids_tc._typing import Array, Frame, Label, Series, Sources

ID_COLUMNS = ("vertex", "src", "dst", "u", "v", "w")  # of the frames in answers
CONVERT = "cast it to integers or strings"
ARROW_TEXT = {"string", "string_view", "large_string"}
NOT_A_TIME = -(2**63)  # what datetimes of NumPy hold where there is none


class PlainColumn(NamedTuple):
    """A column's dtype in its frame, and its values as an array."""

    dtype: np.dtype
    values: Array


class FrameAdapter(ABC):
    """The operations on frames of the user's library: columns by label, and rows by position.

    Attributes
    ----------
    undirected : bool
        Whether the source of the frame says that edges have no direction: a row leads both ways.
    n_vertices : int or None
        How many vertices the source of the frame says there are, from 0 on; None if it does not.
    """

    undirected = False
    n_vertices: int | None = None

    @property
    def on_gpu(self) -> bool:
        """Whether the frames are in the memory of a GPU."""
        return False

    def labels(self, frame: Frame) -> list[Label]:
        """Return the labels of all columns."""
        return list(frame.columns)

    def rows(self, frame: Frame) -> int:
        """Return the number of rows."""
        return len(frame)

    @abstractmethod
    def column(self, frame: Frame, label: Label) -> Series:
        """Return one column, as a pandas or cuDF Series."""

    def chunks(self, frame: Frame, labels: Sequence[Label]) -> ColumnChunks:
        """Return columns that are read chunk by chunk."""
        return ColumnChunks(tuple(self.column(frame, label) for label in labels))

    def plain_integers(self, frame: Frame, label: Label) -> Array | None:
        """Return the array of a column of NumPy's integers without nulls; None for other columns.

        Libraries whose Series takes no longer return None for every column.
        """
        return None

    def plain_times(self, frame: Frame, label: Label) -> PlainColumn | None:
        """Return the times of a column as int64, if its array holds them so; None for others."""
        return None

    def typed(self, values: Series) -> Series:
        """Return objects of pandas in the dtype of their values, where an answer has no objects."""
        return values

    @abstractmethod
    def frame(self, result: Frame) -> Frame:
        """Convert a new frame from the working library to the user's library."""

    @abstractmethod
    def column_like(self, frame: Frame, values: Array, name: str) -> Series:
        """Return values of all rows as a column of the user's library, with the frame's index."""

    def large_integers(self, values: dict[str, int], columns: tuple[str, str]) -> Frame:
        """Return a frame of two columns, of names and of integers that exceed 64 bits.

        They are Python's, or decimals of 38 digits in libraries whose columns hold no objects.
        """
        names, integers = columns
        numbers = _pandas().Series([*values.values()], dtype="object")
        return _pandas().DataFrame({names: [*values], integers: numbers})

    def assign(self, frame: Frame, columns: dict[str, Series]) -> Frame:
        """Return a new frame with these aligned columns after its own."""
        return frame.assign(**columns)

    def with_counts(self, frame: Frame, names: Sequence[str], counts: Array) -> Frame:
        """Return a new frame with a column per row of an array, of values of all rows."""
        columns = zip(names, counts, strict=True)
        return self.assign(frame, {name: self.column_like(frame, of, name) for name, of in columns})

    def nbytes(self, frame: Frame) -> int:
        """Return the bytes of columns and index, without Python's objects, which rows share."""
        return int(frame.memory_usage(index=True).sum())

    def loaded(self, frame: Frame) -> int:
        """Return the bytes that the columns of a call take in memory, if they are outside of it."""
        return 0

    def snapshot(self, frame: Frame) -> Frame:
        """Return a frame that later changes of the user's frame do not reach."""
        return frame

    def copied(self, frame: Frame) -> int:
        """Return the bytes that a snapshot takes at once."""
        return 0

    def with_dtypes(self, frame: Frame, sources: Sources) -> FrameAdapter:
        """Return an adapter whose answers have, in the columns named, the dtype of their sources.

        `sources` are the columns of the user's frame that each column of an answer is made from.
        """
        return self

    @abstractmethod
    def take(self, frame: Frame, positions: Array) -> Frame:
        """Return the rows at ascending positions, with every column and the index."""

    def rows_at(self, frame: Frame, positions: Array) -> Frame:
        """Return such rows as a frame that the adapter works on, for a graph to keep."""
        return self.take(frame, positions)


class PandasAdapter(FrameAdapter):
    """The adapter of pandas."""

    def column(self, frame: Frame, label: Label) -> Series:
        return frame[label]

    def plain_integers(self, frame: Frame, label: Label) -> Array | None:
        values = self._array(frame, label)
        return None if values is None or values.dtype.kind not in "iu" else values

    def plain_times(self, frame: Frame, label: Label) -> PlainColumn | None:
        values = self._array(frame, label)
        if values is None or values.dtype.kind not in "iM" or not len(values):
            return None
        is_number = values.dtype.kind == "i"
        codes = values.astype("int64", copy=False) if is_number else values.view("int64")
        has_none = not is_number and codes.min() == NOT_A_TIME
        return None if has_none else PlainColumn(values.dtype, codes)

    def _array(self, frame: Frame, label: Label) -> np.ndarray | None:
        """Return the array of NumPy that holds a column, if one does."""
        # What a Series is made of: making two takes a fifth of a small call.
        try:
            values = frame._get_column_array(frame.columns.get_loc(label))
            return values if isinstance(values, np.ndarray) and values.dtype.isnative else None
        except (AttributeError, KeyError, TypeError, ValueError):  # of another version of pandas
            return None

    def frame(self, result: Frame) -> Frame:
        return _on_host(result)

    def column_like(self, frame: Frame, values: Array, name: str) -> Series:
        return _pandas().Series(to_host(values), index=frame.index, name=name, copy=False)

    def assign(self, frame: Frame, columns: dict[str, Series]) -> Frame:
        result = self.snapshot(frame)
        # pandas 3.1 warns of a label that is shorter than the tuples of a MultiIndex.
        rest = [""] * (frame.columns.nlevels - 1)
        for name, values in columns.items():
            # Without a copy, since the index is the same.
            result[(name, *rest) if rest else name] = values
        return result

    def with_counts(self, frame: Frame, names: Sequence[str], counts: Array) -> Frame:
        pandas = _pandas()
        if type(frame) is not pandas.DataFrame or frame.columns.names != [None] or frame.attrs:
            return super().with_counts(frame, names, counts)
        added = pandas.DataFrame(to_host(counts).T, frame.index, [*names], copy=False)
        return pandas.concat([frame, added], axis=1)  # as one: a column alone takes as long

    def snapshot(self, frame: Frame) -> Frame:
        return frame.copy(deep=not _copies_on_write())

    def copied(self, frame: Frame) -> int:
        return 0 if _copies_on_write() else self.nbytes(frame)

    def take(self, frame: Frame, positions: Array) -> Frame:
        positions = to_host(positions)
        try:
            return frame.take(positions)
        except NotImplementedError:  # from PyArrow, for columns of some types
            from rapids_tc.frames.arrow_take import take_by_column

            return take_by_column(frame, positions)


class CudfAdapter(FrameAdapter):
    """The adapter of cuDF."""

    on_gpu = True

    def column(self, frame: Frame, label: Label) -> Series:
        return frame[label]

    def plain_integers(self, frame: Frame, label: Label) -> Array | None:
        plain = self._plain(frame, label, "iu")
        return None if plain is None else plain.values

    def plain_times(self, frame: Frame, label: Label) -> PlainColumn | None:
        return self._plain(frame, label, "iM", "int64")

    def _plain(self, frame: Frame, label: Label, kinds: str, cast: str = "") -> PlainColumn | None:
        """Return the array of a column of some kinds of dtypes, without nulls, if it is one.

        It is cast to another dtype, if this is given.
        """
        # What a Series is made of: making one and asking it takes longer than a kernel.
        try:
            column = frame._data[label]
            is_plain = isinstance(column.dtype, np.dtype) and column.dtype.kind in kinds
            if not is_plain or column.null_count:
                return None
            values = column.astype(np.dtype(cast)) if cast else column
            return PlainColumn(column.dtype, sys.modules["cupy"].asarray(values))
        except (AttributeError, KeyError, TypeError, ValueError):  # of another version of cuDF
            return None

    def frame(self, result: Frame) -> Frame:
        if root(result) != "cudf":
            return sys.modules["cudf"].from_pandas(result)
        return frame_for_user(result)

    def snapshot(self, frame: Frame) -> Frame:
        return frame.copy(deep=True)  # writes would reach a shallow copy

    def copied(self, frame: Frame) -> int:
        return self.nbytes(frame)

    def large_integers(self, values: dict[str, int], columns: tuple[str, str]) -> Frame:
        return self.frame(sys.modules["cudf"].DataFrame.from_arrow(_decimals(values, columns)))

    def take(self, frame: Frame, positions: Array) -> Frame:
        return frame.take(positions)

    def column_like(self, frame: Frame, values: Array, name: str) -> Series:
        return sys.modules["cudf"].Series(for_user(values), index=frame.index, name=name)

    def with_counts(self, frame: Frame, names: Sequence[str], counts: Array) -> Frame:
        if frame.columns.nlevels > 1:
            return super().with_counts(frame, names, counts)
        added = frame.copy(deep=False)
        for name, values in zip(names, for_user(counts), strict=True):
            added[name] = values  # an array has no index that would be compared
        return added


class ProxyAdapter(FrameAdapter):
    """The adapter of cudf.pandas, whose frames are proxies of cuDF's, as are the answers."""

    on_gpu = True

    def snapshot(self, frame: Frame) -> Frame:
        return frame.copy(deep=True)

    def copied(self, frame: Frame) -> int:
        return self.nbytes(frame)

    def take(self, frame: Frame, positions: Array) -> Frame:
        return frame.take(to_host(positions))

    def column(self, frame: Frame, label: Label) -> Series:
        return frame[label].as_gpu_object()

    def frame(self, result: Frame) -> Frame:
        return sys.modules["cudf.pandas"].as_proxy_object(frame_for_user(result))

    def large_integers(self, values: dict[str, int], columns: tuple[str, str]) -> Frame:
        return self.frame(sys.modules["cudf"].DataFrame.from_arrow(_decimals(values, columns)))

    def column_like(self, frame: Frame, values: Array, name: str) -> Series:
        index = frame.index.as_gpu_object()
        made = sys.modules["cudf"].Series(for_user(values), index=index, name=name)
        return sys.modules["cudf.pandas"].as_proxy_object(made)


@dataclass(frozen=True)
class ArrowAdapter(FrameAdapter):
    """The adapter of PyArrow tables, and of any object with the Arrow C stream interface.

    Attributes
    ----------
    types : tuple of (str, DataType)
        The types of columns of answers, if the conversion would not keep those of their sources.
    """

    types: tuple[tuple[Any, Any], ...] = ()

    def labels(self, frame: Frame) -> list[Label]:
        return list(frame.column_names)

    def rows(self, frame: Frame) -> int:
        return int(frame.num_rows)

    def with_dtypes(self, frame: Frame, sources: Sources) -> FrameAdapter:
        chosen = []
        for name, labels in sources.items():
            types = {frame.schema.field(frame.column_names.index(label)).type for label in labels}
            kind = types.pop()
            is_group = len(labels) == 1 and not pyarrow().types.is_dictionary(kind)
            if not types and (is_group or str(kind) in ARROW_TEXT):
                chosen.append((name, kind))
        return replace(self, types=(*self.types, *chosen))

    def column(self, frame: Frame, label: Label) -> Series:
        return column_of_arrow(frame.column(frame.column_names.index(label)), f"column {label!r}")

    def typed(self, values: Series) -> Series:
        return _typed(values)

    def frame(self, result: Frame) -> Frame:
        table = _to_arrow(result)
        for name, kind in self.types:
            if name in table.column_names:
                place = table.column_names.index(name)
                table = table.set_column(place, name, table.column(place).cast(kind))
        return table

    def column_like(self, frame: Frame, values: Array, name: str) -> Series:
        return pyarrow().chunked_array([to_host(values)])

    def large_integers(self, values: dict[str, int], columns: tuple[str, str]) -> Frame:
        return _decimals(values, columns)

    def assign(self, frame: Frame, columns: dict[str, Series]) -> Frame:
        for name, values in columns.items():
            frame = frame.append_column(name, values)
        return frame

    def nbytes(self, frame: Frame) -> int:
        return int(frame.nbytes)

    def take(self, frame: Frame, positions: Array) -> Frame:
        from rapids_tc.frames.arrow_take import take_rows

        columns = [take_rows(column, to_host(positions)) for column in frame.columns]
        return pyarrow().Table.from_arrays(columns, schema=frame.schema)


@dataclass(frozen=True)
class PolarsAdapter(FrameAdapter):
    """The adapter of Polars.

    Attributes
    ----------
    types : tuple of (str, DataType)
        The types of columns of answers, if the conversion would not keep those of their sources.
    """

    types: tuple[tuple[Any, Any], ...] = ()

    def with_dtypes(self, frame: Frame, sources: Sources) -> FrameAdapter:
        chosen = []
        for name, labels in sources.items():
            first, *others = (frame.schema[label] for label in labels)
            polars = sys.modules["polars"]
            has_categories = isinstance(first, polars.Enum | polars.Categorical)
            if all(other == first for other in others) and (len(labels) == 1 or has_categories):
                chosen.append((name, first))
        return replace(self, types=(*self.types, *chosen))

    def column(self, frame: Frame, label: Label) -> Series:
        return column_of_arrow(frame.get_column(label), f"column {label!r}")

    def typed(self, values: Series) -> Series:
        return _typed(values)

    def frame(self, result: Frame) -> Frame:
        frame = sys.modules["polars"].from_arrow(_to_arrow(result))
        return frame.cast({name: kind for name, kind in self.types if name in frame.columns})

    def column_like(self, frame: Frame, values: Array, name: str) -> Series:
        return sys.modules["polars"].Series(name, to_host(values))

    def large_integers(self, values: dict[str, int], columns: tuple[str, str]) -> Frame:
        return sys.modules["polars"].from_arrow(_decimals(values, columns))

    def assign(self, frame: Frame, columns: dict[str, Series]) -> Frame:
        return frame.with_columns(**columns)

    def snapshot(self, frame: Frame) -> Frame:
        return frame.clone()

    def nbytes(self, frame: Frame) -> int:
        return int(frame.estimated_size())

    def take(self, frame: Frame, positions: Array) -> Frame:
        return frame[to_host(positions)]


def _decimals(values: dict[str, int], columns: tuple[str, str]) -> Frame:
    """Return a table of Arrow of names and of integers as decimals."""
    arrow = pyarrow()
    names = arrow.array(values, arrow.large_string())
    numbers = arrow.array(values.values(), arrow.decimal128(38, 0))
    return arrow.table([names, numbers], list(columns))


def _typed(values: Series) -> Series:
    """Return objects of one kind in Arrow's dtype of that kind, which even no rows keep."""
    if values.dtype != object:
        return values
    arrow = pyarrow()
    try:
        array = arrow.array(values, from_pandas=True)
    except arrow.ArrowException:  # of several kinds
        return values
    return _pandas().Series(array, dtype=_pandas().ArrowDtype(array.type))


def _to_arrow(result: Frame) -> Frame:
    """Return the table of an answer, in which NaN is a value: PyArrow takes pandas' for a null."""
    arrow, frame = pyarrow(), _on_host(result)
    table = arrow.Table.from_pandas(frame, preserve_index=False)
    for place, name in enumerate(frame.columns):
        if str(frame[name].dtype) in ("float32", "float64"):
            table = table.set_column(place, table.field(place), arrow.array(frame[name].to_numpy()))
    return table


def column_of_arrow(column: Series, name: str) -> Series:
    """Return a column of Polars or Arrow as one of pandas; IdTypeError if pandas has no dtype."""
    arrow = pyarrow()
    try:
        if not isinstance(column, arrow.ChunkedArray):
            array = arrow_of_polars(column, name) if root(column) == "polars" else column
            column = arrow.chunked_array([array])
        # Else dates and decimals would become objects.
        if arrow.types.is_date(column.type) or arrow.types.is_decimal(column.type):
            dtype = _pandas().ArrowDtype(column.type)
            return column.to_pandas(types_mapper=lambda _: dtype)
        return column.to_pandas()
    except arrow.ArrowException as error:
        raise IdTypeError(f"{name} cannot be read: {error}; {CONVERT}") from error


def arrow_of_polars(column: Series, name: str) -> Series:
    """Return a column of Polars in Arrow, which has decimals but no integers of 128 bits."""
    polars = sys.modules["polars"]
    if str(column.dtype) in ("Int128", "UInt128"):
        try:
            column = column.cast(polars.Decimal(38, 0))
        except polars.exceptions.PolarsError as error:
            raise IdTypeError(f"{name} holds more than 38 digits: cast it to strings") from error
    return column.to_arrow()


def without_views(column: Series) -> Series:
    """Return a pandas column of Arrow's string views as large strings; other columns unchanged.

    pandas can make a column of string views, but cannot cast, sort or print it.
    """
    if str(getattr(column.dtype, "pyarrow_dtype", "")) != "string_view":
        return column
    dtype = _pandas().ArrowDtype(pyarrow().large_string())
    text = pyarrow().array(column).cast(dtype.pyarrow_dtype)
    return _pandas().Series(text, index=column.index, name=column.name, dtype=dtype)


def in_plain_dtype(column: Series) -> Series:
    """Return a pandas column of dates, or in another byte order, in a dtype that pandas can take.

    Other columns are returned unchanged.
    """
    if hasattr(column.dtype, "newbyteorder") and not column.dtype.isnative:
        return column.astype(column.dtype.newbyteorder("="))
    is_dates = column.dtype == object and _pandas().api.types.infer_dtype(column) == "date"
    return column.astype("datetime64[s]") if is_dates else column


def root(value: Any) -> str:
    """Return the name of the library that defines the type of a value."""
    return type(value).__module__.partition(".")[0]


def is_dask(value: Any) -> bool:
    """Return whether a value is a Dask frame of pandas, or of cuDF, whose class derives from it."""
    frames = sys.modules.get("dask.dataframe")
    return frames is not None and isinstance(value, getattr(frames, "DataFrame", ()))


def is_spark(value: Any) -> bool:
    """Return whether a value is a DataFrame of PySpark; its columns have attributes of any name."""
    return root(value) == "pyspark" and hasattr(type(value), "sparkSession")


def _pandas() -> ModuleType:
    return sys.modules["pandas"]


def _copies_on_write() -> bool:
    """Return whether pandas copies a column before the first write to it, as pandas 3 does."""
    pandas = _pandas()
    return not pandas.__version__.startswith("2.") or pandas.options.mode.copy_on_write is True


def pyarrow() -> ModuleType:
    """Import PyArrow; the ImportError says which extra has it."""
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError(
            "frames that come by the Arrow interface need PyArrow: pip install 'rapids_tc[arrow]'"
        ) from error
    module: ModuleType = pyarrow
    return module


def gpu_libraries() -> tuple[ModuleType, ModuleType]:
    """Import CuPy and cuDF; the KernelError says which extras have them."""
    try:
        import cudf
        import cupy
    except ImportError as error:
        raise KernelError(
            f'engine="cuda" needs cuDF and CuPy, and {error.name or error} is not installed: '
            "pip install 'rapids_tc[cu13]' (CUDA 13) or 'rapids_tc[cu12]' (CUDA 12); "
            "`rapids-tc doctor` tells which"
        ) from error
    return cupy, cudf


def to_host(values: Array) -> Array:
    """Return an array in the memory of the host."""
    return values.get() if root(values) == "cupy" else values


def _on_host(result: Frame) -> Frame:
    return result.to_pandas() if root(result) == "cudf" else result


def text_arrays(values: Series) -> list[Array]:
    """Return integers that determine a column of Arrow-backed text; none for other columns.

    The integers are the lengths of the strings, their bytes as words of eight, and the last bytes.
    """
    in_arrow = root(values) == "pandas" and getattr(values.dtype, "storage", "") == "pyarrow"
    is_text = str(getattr(values.dtype, "pyarrow_dtype", "string")) in ARROW_TEXT
    if not in_arrow or not is_text or not len(values):
        return []
    text = pyarrow().array(values).cast("large_string")
    if hasattr(text, "combine_chunks"):
        text = text.combine_chunks()
    _, ends, data = text.buffers()
    offsets = np.frombuffer(ends, "int64")[text.offset : text.offset + len(text) + 1]
    characters = np.frombuffer(data or b"", "uint8")[offsets[0] : offsets[-1]]
    words = len(characters) // 8 * 8
    return [np.diff(offsets), characters[:words].view("uint64"), characters[words:]]
