"""Recognition of the user's frame, and of the libraries that work on it.

No library is imported to recognize a frame: a cuDF frame exists only if cuDF is in ``sys.modules``.
"""

from __future__ import annotations

import sys
from contextvars import ContextVar
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc._typing import ENGINES, EngineName
from rapids_tc._typing import Array as Array
from rapids_tc._typing import Frame as Frame
from rapids_tc._typing import Series as Series
from rapids_tc.errors import CHANGED, IdTypeError, KernelError
from rapids_tc.frames.adapters import (
    CONVERT,
    ArrowAdapter,
    CudfAdapter,
    FrameAdapter,
    PandasAdapter,
    PolarsAdapter,
    ProxyAdapter,
    column_of_arrow,
    gpu_libraries,
    in_plain_dtype,
    is_dask,
    is_spark,
    pyarrow,
    root,
    to_host,
    without_views,
)
from rapids_tc.frames.arrays import ArrayEdges, array_edges, is_array, plain_array
from rapids_tc.frames.device_stream import is_on_device, read_device_array
from rapids_tc.frames.objects import refusal
from rapids_tc.frames.operations import operations_of
from rapids_tc.frames.scans import RowSource, SourceAdapter
from rapids_tc.frames.wrapped import NarwhalsAdapter, is_narwhals, module_of, native
from rapids_tc.kernels import _nvrtc, raw_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import ModuleType

    from rapids_tc.frames.operations import Operations
    from rapids_tc.kernels.method import Kernel

# Set by rapids_tc.testing.host_engine: an engine that runs CUDA kernels on NumPy arrays.
emulator: ContextVar[Any] = ContextVar("emulator", default=None)

_PLAIN = ("pandas", "polars", "cudf")
_BATCH = 1 << 24  # numbers that are cast to 64 bits at a time


@dataclass(frozen=True)
class Backend:
    """The libraries and the engine that work on one graph.

    Attributes
    ----------
    xp : module
        numpy or cupy, for arrays.
    library : module
        pandas or cudf, for frames: the working library.
    engine : str
        "cpu" or "cuda".
    adapter : FrameAdapter
        The user's library, in which results are returned.
    """

    xp: ModuleType
    library: ModuleType
    engine: EngineName
    adapter: FrameAdapter

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.xp.__name__, self.library.__name__, self.engine, self.adapter)

    def with_adapter(self, adapter: FrameAdapter) -> Backend:
        """Return the same backend with results for another library."""
        return replace(self, adapter=adapter)

    def answer(self, columns: dict[Any, Any]) -> Frame:
        """Make a frame of the user's library from arrays and Series of the working one."""
        return self.adapter.frame(self.library.DataFrame(columns))

    def to_working_series(self, column: Series) -> Series:
        """Return a column as a Series of the working library, copied only if it must be."""
        column = without_views(column)
        if root(column) == self.library.__name__:
            return column
        if self.library.__name__ == "cudf":
            return self.library.Series(column)
        return column.to_pandas()

    def series(self, values: Array) -> Series:
        """Return ids (a list, array, Series or Index) as a Series of the working library.

        Raises
        ------
        TypeError
            `values` are none of these, or of a kind that pandas cannot hold.
        """
        if not isinstance(values, np.ndarray) and is_array(values):
            values = plain_array(values, "vertices=")
        is_sequence = hasattr(values, "__iter__") and root(values) != "pyspark"
        is_sequence = is_sequence and len(getattr(values, "shape", (0,))) == 1
        if not is_sequence or isinstance(values, set | frozenset | dict | str | bytes):
            raise TypeError(
                f"vertices= is a {type(values).__name__}; give a list, an array of one dimension, "
                "a Series or an Index"
            )
        values = native(values)
        if root(values) in ("polars", "pyarrow"):
            values = column_of_arrow(values, "vertices=")
        elif root(values) in ("cudf", "cupy") and self.library.__name__ == "pandas":
            values = values.get() if root(values) == "cupy" else values.to_pandas()
        if root(values) not in ("cudf", "cupy"):  # cuDF overflows on ids from 2**63 on
            try:
                values = in_plain_dtype(import_module("pandas").Series(values))
            except (ValueError, TypeError, NotImplementedError) as error:
                raise IdTypeError(f"vertices= cannot be read: {error}; {CONVERT}") from error
        return self.to_working_series(self.library.Series(values)).reset_index(drop=True)

    def array(self, column: Series) -> Array:
        """Return the values of a numeric column without nulls, without a copy if possible."""
        return column.to_numpy() if self.library.__name__ == "pandas" else column.values

    def min_max(self, arrays: Sequence[Array]) -> list[tuple[int, int]]:
        """Return the least and the greatest of the integers of each array, none of which is empty.

        On a GPU a kernel of ours reads them: a reduction of cuDF takes longer than a small count.
        """
        if self.engine == "cpu":
            return [(int(values.min()), int(values.max())) for values in arrays]
        return raw_rows.id_ranges(self.compile, self.xp, arrays)

    @property
    def compile(self) -> Callable[..., Mapping[str, Kernel]]:
        """The compiler of kernels, for the GPU or for the emulator."""
        emulated = emulator.get()
        return _nvrtc.compile if emulated is None else emulated.compile

    @property
    def operations(self) -> Operations:
        """The dataframe operations on arrays of a GPU, or of the emulator."""
        return operations_of(self.xp)

    def host(self, values: Array) -> Array:
        """Return an array in the memory of the host."""
        return to_host(values)


def open_frame(edges: Frame, engine: str | None, *, once: bool = False) -> tuple[Frame, Backend]:
    """Recognize the user's edges, and resolve the libraries that work on them.

    With `once`, the caller never reads the edges again: an Arrow stream may be used up.

    Raises
    ------
    TypeError
        `edges` is of no accepted kind.
    ValueError
        `engine` is neither None, "cpu" nor "cuda".
    KernelError
        The engine cannot run on this machine; the message says what to install.
    """
    check_engine(engine)
    adapter, frame = _recognize(edges, once=once)
    return frame, resolve_backend(adapter, engine)


def _recognize(edges: Frame, *, once: bool) -> tuple[FrameAdapter, Frame]:
    """Return the adapter of the user's edges, and the frame that it works on; see `open_frame`."""
    if not is_plain(edges):
        if is_dask(edges):
            raise TypeError(
                "edges is a Dask DataFrame, and this runs on one machine: .compute() brings the "
                "edges there; count, vertex_triangles, annotate and others take Dask frames as "
                "they are"
            )
        if is_narwhals(edges) and type(edges).__name__ == "DataFrame":
            inner, frame = _recognize(native(edges), once=once)
            return NarwhalsAdapter(inner, module_of(edges)), frame
        if is_lazy(edges):
            raise TypeError(f"edges is a {root(edges)}.LazyFrame: call .collect() first")
    if _is(edges, "cugraph", "Graph"):
        adapter, frame = _recognize(_cugraph_edges(edges), once=once)
        adapter.undirected = not edges.is_directed()
        return adapter, frame
    proxies = sys.modules.get("cudf.pandas")
    if proxies is not None and proxies.is_proxy_object(edges) and hasattr(edges, "columns"):
        return ProxyAdapter(), edges
    if _is(edges, "pandas", "DataFrame"):
        return PandasAdapter(), edges
    if _is(edges, "cudf", "DataFrame"):
        return CudfAdapter(), edges
    if _is(edges, "polars", "DataFrame"):
        return PolarsAdapter(), edges
    if is_spark(edges):
        raise TypeError(
            "edges is a Spark DataFrame, and this runs on one machine: give it edges.toArrow(), "
            "which brings the rows to the driver"
        )
    if isinstance(edges, RowSource):
        return SourceAdapter(), edges
    if hasattr(edges, "__arrow_c_stream__") and not isinstance(edges, type) and _is_table(edges):
        table = edges if _is(edges, "pyarrow", "Table") else _read_stream(edges, once=once)
        return ArrowAdapter(), table
    if is_on_device(edges):
        gpu_libraries()  # or the error that says what to install
        return CudfAdapter(), read_device_array(edges)
    arrays = array_edges(edges)
    if isinstance(arrays, ArrayEdges):
        return arrays.opened()
    raise refusal(edges)


def is_plain(edges: Frame) -> bool:
    """Return whether edges are a frame of this process, of a library that wraps no other frames."""
    return type(edges).__name__ == "DataFrame" and root(edges) in _PLAIN


def is_lazy(edges: Frame) -> bool:
    """Return whether edges are a lazy frame, of Polars or in a wrapper of narwhals."""
    of_narwhals = is_narwhals(edges) and type(edges).__name__ == "LazyFrame"
    return of_narwhals or _is(edges, "polars", "LazyFrame")


def sum64(values: Array) -> int:
    """Return the sum of booleans or of unsigned integers, in 64 bits.

    Batches are cast to 64 bits, because CuPy has a compiled sum for integers as wide as their sum.
    For others, and for any() and all(), CuPy compiles a sum of CUB in the first call, for seconds.
    """
    batches = (values[first : first + _BATCH] for first in range(0, len(values), _BATCH))
    return sum(int(batch.astype("uint64").sum()) for batch in batches)


def exact_sum(values: Array) -> int:
    """Return the sum of int64 that are not negative, even if it is 2**63 or more."""
    return (sum64(values >> 32) << 32) + sum64(values & 0xFFFFFFFF)


def all_below(values: Array, limit: int) -> bool:
    """Return whether all integers of an array lie in [0, limit)."""
    values = values.view(f"uint{8 * values.itemsize}")  # a negative integer becomes a large one
    if limit > np.iinfo(values.dtype).max or not len(values):
        return True
    if isinstance(values, np.ndarray):
        return bool(values.max() < limit)
    return sum64(values >= limit) == 0  # CuPy would have to compile a maximum


def as_uint32(numbers: Array) -> Array:
    """Return numbers as uint32, without a copy if they have 32 bits."""
    return numbers.view("uint32") if numbers.itemsize == 4 else numbers.astype("uint32")


def as_names(numbers: Array) -> Array:
    """Return numbers as uint32, of which other threads may have written some.

    One that does not fit, a negative one too, becomes the largest, which names nothing.
    """
    if numbers.itemsize == 8:
        numbers = numbers.view("uint64").clip(None, 2**32 - 1)
    return as_uint32(numbers)


def gather(values: Array, places: Array) -> Array:
    """Return the values at `places`, which are the user's memory: other threads may write to them.

    NumPy's ``take`` reads each place once. Indexing would check all places first and then read
    them again. CuPy reduces a place that is too large modulo the size.

    Raises
    ------
    KernelError
        A place lies outside of the values.
    """
    try:
        return values.take(places)
    except IndexError as error:
        raise KernelError(CHANGED) from error


def check_engine(engine: str | None) -> EngineName | None:
    """Return `engine` if it is the name of an engine or None, else raise ValueError."""
    if engine is None:
        return None
    for name in ENGINES if isinstance(engine, str) else ():
        if engine == name:
            return name
    raise ValueError(f'engine={engine!r}; accepted: "cpu", "cuda", None (the frame decides)')


def resolve_backend(adapter: FrameAdapter, engine: str | None) -> Backend:
    """Return the backend for frames of a library, on the chosen engine or the frames' own."""
    name = resolve_engine(adapter, engine)
    return Backend(*_modules(name), name, adapter)


def resolve_engine(adapter: FrameAdapter, engine: str | None) -> EngineName:
    """Return the chosen engine, or the engine for the memory that has the library's frames."""
    on_gpu = adapter.on_gpu or emulator.get() is not None
    return check_engine(engine) or ("cuda" if on_gpu else "cpu")


def _read_stream(edges: Frame, *, once: bool) -> Frame:
    """Read an Arrow stream into a table; TypeError if a later call would find the stream empty."""
    if hasattr(edges, "__next__") and not once:
        raise _read_once(edges)
    table = pyarrow().table(edges)
    if not once and table.num_rows:
        _require_rows_again(edges)
    return table


def _require_rows_again(edges: Frame) -> None:
    """Raise TypeError unless a stream that was read once can be read again and still has rows."""
    if root(edges) == "duckdb":  # a relation runs its query again for every reader
        return
    try:
        batches = pyarrow().RecordBatchReader.from_stream(edges)
        rows = any(batch.num_rows for batch in batches)
    except Exception as error:  # each library has its own for a stream that has ended
        said = str(error) or type(error).__name__
        raise _read_once(edges, f" (the second reading failed: {said})") from error
    if not rows:
        raise _read_once(edges)


def _read_once(edges: Frame, seen: str = "") -> TypeError:
    return TypeError(
        f"edges is of type {type(edges).__qualname__}, an Arrow stream that can be read only "
        f"once{seen}: a second call would find no rows. Give the table that .read_all() makes of "
        "it, or make graph = tc.Graph(reader), which reads it once, and give that to the functions"
    )


def _is_table(edges: Frame) -> bool:
    """Return whether an Arrow stream is a table, and not a single column."""
    return type(edges).__name__ not in ("Series", "ChunkedArray", "Index")


def _cugraph_edges(graph: Any) -> Frame:
    """Return the two id columns of the edge list of a cuGraph graph."""
    frame = graph.view_edge_list()
    names = [graph.source_columns, graph.destination_columns]
    names = [name[0] if isinstance(name, list) and len(name) == 1 else name for name in names]
    if any(isinstance(name, list) for name in names):
        raise ValueError("the cugraph.Graph names a vertex by several columns; one is accepted")
    has_names = all(name in list(frame.columns) for name in names)
    return frame[names] if has_names else frame.iloc[:, :2]


def _modules(engine: EngineName) -> tuple[ModuleType, ModuleType]:
    """Import the libraries of arrays and of frames for an engine."""
    emulated = emulator.get()
    if engine == "cpu" or emulated is not None:
        import pandas

        return np if engine == "cpu" else emulated.xp, pandas
    return gpu_libraries()


def _restore(xp: str, library: str, engine: EngineName, adapter: FrameAdapter) -> Backend:
    return Backend(import_module(xp), import_module(library), engine, adapter)


def _is(value: Any, library: str, name: str) -> bool:
    module = sys.modules.get(library)
    return module is not None and isinstance(value, getattr(module, name, ()))
