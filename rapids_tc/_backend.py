"""What a frame is, where its work runs, and how results go home: the only file that asks.

Libraries are recognised by what is already in ``sys.modules``: a cuDF frame exists only where
cuDF was imported, so nothing is imported to find out.
"""

from __future__ import annotations

import sys
from contextvars import ContextVar
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

from rapids_tc.errors import KernelError

Array = Any  # numpy.ndarray or cupy.ndarray
Frame = Any  # a frame of the user's library
Series = Any  # a pandas or cuDF Series

# Set by rapids_tc.testing.host_engine: an engine that runs CUDA kernels on NumPy arrays.
emulator: ContextVar[Any] = ContextVar("emulator", default=None)

ACCEPTED = (
    "a pandas or cuDF DataFrame, a cugraph.Graph, anything with __arrow_c_stream__ "
    "(Polars, PyArrow, DuckDB) or a rapids_tc.Graph"
)


@dataclass(frozen=True)
class Backend:
    """Where the work of one graph runs.

    Attributes
    ----------
    xp : module
        numpy or cupy: element-wise array work.
    library : module
        pandas or cudf: dataframe operations.
    engine : str
        "cpu" or "cuda".
    home : Home
        The user's library, to which results go back.
    """

    xp: ModuleType
    library: ModuleType
    engine: str
    home: Home

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.xp.__name__, self.library.__name__, self.engine, self.home)

    def bring(self, column: Series) -> Series:
        """The column as a Series of `library`, moved only when it has to be."""
        if type(column).__module__.partition(".")[0] == self.library.__name__:
            return column
        if self.library.__name__ == "cudf":
            return self.library.Series(column)
        return column.to_pandas()

    def series(self, values: Any) -> Series:
        """Ids that the user gave (a list, an array, a Series or an Index) as a Series here."""
        root = type(values).__module__.partition(".")[0]
        if root == "polars":
            values = values.to_pandas()
        if hasattr(values, "index") and hasattr(values, "dtype"):
            values = self.bring(values)
        elif root == "cupy" and self.library.__name__ == "pandas":
            values = values.get()
        elif root != "cupy" and self.library.__name__ == "cudf":
            values = import_module("pandas").Series(values)  # cuDF overflows on ids from 2**63 on
        return self.library.Series(values).reset_index(drop=True)

    def array(self, column: Series) -> Array:
        """The values of a numeric column without nulls, zero-copy where the library can."""
        return column.to_numpy() if self.library.__name__ == "pandas" else column.values

    def extent(self, values: Array) -> tuple[int, int]:
        """The least and the greatest of some integers.

        By cuDF on a card, whose reductions are compiled: CuPy compiles its own in a first call.
        """
        known = values if self.xp.__name__ == "numpy" else self.library.Series(values)
        return int(known.min()), int(known.max())

    def host(self, values: Array) -> Array:
        return values.get() if self.xp.__name__ == "cupy" else values


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
        return frame.take(_to_host(positions))


class PandasHome(Home):
    def column(self, frame: Frame, label: Any) -> Series:
        return frame[label]

    def frame(self, result: Frame) -> Frame:
        return result if _root(result) == "pandas" else result.to_pandas()

    def aligned(self, frame: Frame, values: Array, name: str) -> Series:
        return _pandas().Series(_to_host(values), index=frame.index, name=name)

    def assign(self, frame: Frame, columns: dict[str, Series]) -> Frame:
        # One concat keeps repeated labels apart and copies no block of the user's frame.
        return _pandas().concat([frame, *columns.values()], axis=1)


class CudfHome(Home):
    def column(self, frame: Frame, label: Any) -> Series:
        return frame[label]

    def frame(self, result: Frame) -> Frame:
        return result if _root(result) == "cudf" else sys.modules["cudf"].from_pandas(result)

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
        return _pyarrow().Table.from_pandas(_on_host(result), preserve_index=False)

    def aligned(self, frame: Frame, values: Array, name: str) -> Series:
        return _pyarrow().chunked_array([_to_host(values)])

    def assign(self, frame: Frame, columns: dict[str, Series]) -> Frame:
        for name, values in columns.items():
            frame = frame.append_column(name, values)
        return frame


class PolarsHome(Home):
    def column(self, frame: Frame, label: Any) -> Series:
        return _pyarrow().chunked_array([frame.get_column(label).to_arrow()]).to_pandas()

    def frame(self, result: Frame) -> Frame:
        table = _pyarrow().Table.from_pandas(_on_host(result), preserve_index=False)
        return sys.modules["polars"].from_arrow(table)

    def aligned(self, frame: Frame, values: Array, name: str) -> Series:
        return sys.modules["polars"].Series(name, _to_host(values))

    def assign(self, frame: Frame, columns: dict[str, Series]) -> Frame:
        return frame.with_columns(**columns)

    def take(self, frame: Frame, positions: Array) -> Frame:
        return frame[_to_host(positions)]


def open_frame(edges: Any, engine: str | None) -> tuple[Frame, Backend]:
    """Recognise the user's edges; say where they are worked on.

    Raises
    ------
    TypeError
        `edges` is none of the kinds that can be served.
    ValueError
        `engine` is neither None, "cpu" nor "cuda".
    KernelError
        The place asked for cannot serve here; the message says what to install.
    """
    if engine not in (None, "cpu", "cuda"):
        raise ValueError(f'engine={engine!r}; accepted: "cpu", "cuda", None (the frame decides)')
    home: Home
    if _is(edges, "cugraph", "Graph"):
        edges = _cugraph_edges(edges)
    proxies = sys.modules.get("cudf.pandas")
    if proxies is not None and proxies.is_proxy_object(edges) and hasattr(edges, "columns"):
        home = ProxyHome()
    elif _is(edges, "pandas", "DataFrame"):
        home = PandasHome()
    elif _is(edges, "cudf", "DataFrame"):
        home = CudfHome()
    elif _is(edges, "polars", "LazyFrame"):
        raise TypeError("edges is a polars.LazyFrame: call .collect() first")
    elif _is(edges, "polars", "DataFrame"):
        home = PolarsHome()
    elif hasattr(edges, "__arrow_c_stream__") and not isinstance(edges, type):
        pyarrow = _pyarrow()
        edges = edges if isinstance(edges, pyarrow.Table) else pyarrow.table(edges)
        home = ArrowHome()
    else:
        raise TypeError(f"edges is of type {type(edges).__qualname__}; accepted: {ACCEPTED}")
    on_card = isinstance(home, CudfHome | ProxyHome) or emulator.get() is not None
    place = engine or ("cuda" if on_card else "cpu")
    return edges, Backend(*_modules(place), place, home)


def _cugraph_edges(graph: Any) -> Frame:
    """The two id columns of a cuGraph graph's edge list."""
    frame = graph.view_edge_list()
    names = [graph.source_columns, graph.destination_columns]
    names = [name[0] if isinstance(name, list) and len(name) == 1 else name for name in names]
    if any(isinstance(name, list) for name in names):
        raise ValueError("the cugraph.Graph names a vertex by several columns; one is accepted")
    known = all(name in list(frame.columns) for name in names)
    return frame[names] if known else frame.iloc[:, :2]


def _modules(place: str) -> tuple[ModuleType, ModuleType]:
    if place == "cpu" or emulator.get() is not None:
        import numpy
        import pandas

        return numpy, pandas
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


def _restore(xp: str, library: str, engine: str, home: Home) -> Backend:
    return Backend(import_module(xp), import_module(library), engine, home)


def _root(value: Any) -> str:
    return type(value).__module__.partition(".")[0]


def _is(value: Any, library: str, name: str) -> bool:
    module = sys.modules.get(library)
    return module is not None and isinstance(value, getattr(module, name, ()))


def _pandas() -> ModuleType:
    return sys.modules["pandas"]


def _pyarrow() -> ModuleType:
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError(
            "frames that come by the Arrow interface need PyArrow: pip install 'rapids_tc[arrow]'"
        ) from error
    return pyarrow


def _to_host(values: Array) -> Array:
    return values.get() if _root(values) == "cupy" else values


def _on_host(result: Frame) -> Frame:
    return result.to_pandas() if _root(result) == "cudf" else result
