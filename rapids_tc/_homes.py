"""How columns come out of the user's frame, and how results go home: one class a library."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

Array = Any  # numpy.ndarray or cupy.ndarray
Frame = Any  # a frame of the user's library
Series = Any  # a pandas or cuDF Series


class Home:
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

    def aligned(self, frame: Frame, values: Array, name: str) -> Series:
        """Values of every row as the user's kind of column, with the frame's index."""
        raise NotImplementedError

    def assign(self, frame: Frame, columns: dict[str, Series]) -> Frame:
        """A new frame with these aligned columns behind the others."""
        return frame.assign(**columns)

    def take(self, frame: Frame, positions: Array) -> Frame:
        """The rows at these positions, every column and the index with them."""
        return frame.take(to_host(positions))


class PandasHome(Home):
    def column(self, frame: Frame, label: Any) -> Series:
        return frame[label]

    def frame(self, result: Frame) -> Frame:
        return _on_host(result)

    def aligned(self, frame: Frame, values: Array, name: str) -> Series:
        return _pandas().Series(to_host(values), index=frame.index, name=name)

    def assign(self, frame: Frame, columns: dict[str, Series]) -> Frame:
        # One concat keeps repeated labels apart and copies no block of the user's frame.
        return _pandas().concat([frame, *columns.values()], axis=1)


class CudfHome(Home):
    def column(self, frame: Frame, label: Any) -> Series:
        return frame[label]

    def frame(self, result: Frame) -> Frame:
        return result if root(result) == "cudf" else sys.modules["cudf"].from_pandas(result)

    def take(self, frame: Frame, positions: Array) -> Frame:
        return frame.take(positions)  # where they are

    def aligned(self, frame: Frame, values: Array, name: str) -> Series:
        return sys.modules["cudf"].Series(values, index=frame.index, name=name)


class ProxyHome(Home):
    """Frames under cudf.pandas: proxies round cuDF, and proxies are given back."""

    def column(self, frame: Frame, label: Any) -> Series:
        return frame[label].as_gpu_object()

    def frame(self, result: Frame) -> Frame:
        return sys.modules["cudf.pandas"].as_proxy_object(result)

    def aligned(self, frame: Frame, values: Array, name: str) -> Series:
        index = frame.index.as_gpu_object()
        return self.frame(sys.modules["cudf"].Series(values, index=index, name=name))


class ArrowHome(Home):
    """PyArrow tables, also for any object that only speaks the Arrow C stream interface."""

    def labels(self, frame: Frame) -> list[Any]:
        return frame.column_names

    def rows(self, frame: Frame) -> int:
        return frame.num_rows

    def column(self, frame: Frame, label: Any) -> Series:
        return frame.column(frame.column_names.index(label)).to_pandas()

    def frame(self, result: Frame) -> Frame:
        return pyarrow().Table.from_pandas(_on_host(result), preserve_index=False)

    def aligned(self, frame: Frame, values: Array, name: str) -> Series:
        return pyarrow().chunked_array([to_host(values)])

    def assign(self, frame: Frame, columns: dict[str, Series]) -> Frame:
        for name, values in columns.items():
            frame = frame.append_column(name, values)
        return frame


class PolarsHome(Home):
    def column(self, frame: Frame, label: Any) -> Series:
        return pyarrow().chunked_array([frame.get_column(label).to_arrow()]).to_pandas()

    def frame(self, result: Frame) -> Frame:
        table = pyarrow().Table.from_pandas(_on_host(result), preserve_index=False)
        return sys.modules["polars"].from_arrow(table)

    def aligned(self, frame: Frame, values: Array, name: str) -> Series:
        return sys.modules["polars"].Series(name, to_host(values))

    def assign(self, frame: Frame, columns: dict[str, Series]) -> Frame:
        return frame.with_columns(**columns)

    def take(self, frame: Frame, positions: Array) -> Frame:
        return frame[to_host(positions)]


def root(value: Any) -> str:
    """The library that a value is of."""
    return type(value).__module__.partition(".")[0]


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
