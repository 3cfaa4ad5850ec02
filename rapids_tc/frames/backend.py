"""What a frame is, where its work runs, and how results go home: the only file that asks.

Libraries are recognised by what is already in ``sys.modules``: a cuDF frame exists only where
cuDF was imported, so nothing is imported to find out.
"""

from __future__ import annotations

import sys
from contextvars import ContextVar
from dataclasses import dataclass, replace
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from rapids_tc.errors import CHANGED, KernelError
from rapids_tc.frames.adapters import (
    Array,
    ArrowAdapter,
    CudfAdapter,
    Frame,
    FrameAdapter,
    PandasAdapter,
    PolarsAdapter,
    ProxyAdapter,
    Series,
    is_dask,
    pyarrow,
    root,
    to_host,
)

# Set by rapids_tc.testing.host_engine: an engine that runs CUDA kernels on NumPy arrays.
emulator: ContextVar[Any] = ContextVar("emulator", default=None)

_PIECE = 1 << 24  # numbers that are made wide at a time

ACCEPTED = (
    "a pandas or cuDF DataFrame, a Dask DataFrame of those, a cugraph.Graph, anything with "
    "__arrow_c_stream__ (Polars, PyArrow, DuckDB), or a prepared Graph for the functions"
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
    adapter: FrameAdapter

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.xp.__name__, self.library.__name__, self.engine, self.adapter)

    def at(self, adapter: FrameAdapter) -> Backend:
        """The same place, and results that go to another home."""
        return replace(self, adapter=adapter)

    def to_working_series(self, column: Series) -> Series:
        """The column as a Series of `library`, moved only when it has to be."""
        if root(column) == self.library.__name__:
            return column
        if self.library.__name__ == "cudf":
            return self.library.Series(column)
        return column.to_pandas()

    def series(self, values: Any) -> Series:
        """Ids that the user gave (a list, an array, a Series or an Index) as a Series here."""
        many = hasattr(values, "__iter__") and getattr(values, "ndim", 1) == 1
        if not many or isinstance(values, set | frozenset | dict | str | bytes):
            raise TypeError(
                f"vertices= is a {type(values).__name__}; give a list, an array of one dimension, "
                "a Series or an Index"
            )
        given = root(values)
        if given == "polars":
            values = values.to_pandas()
        if hasattr(values, "index") and hasattr(values, "dtype"):
            values = self.to_working_series(values)
        elif given == "cupy" and self.library.__name__ == "pandas":
            values = values.get()
        elif given != "cupy" and self.library.__name__ == "cudf":
            values = import_module("pandas").Series(values)  # cuDF overflows on ids from 2**63 on
        return self.library.Series(values).reset_index(drop=True)

    def array(self, column: Series) -> Array:
        """The values of a numeric column without nulls, zero-copy where the library can."""
        return column.to_numpy() if self.library.__name__ == "pandas" else column.values

    def min_max(self, values: Array) -> tuple[int, int]:
        """The least and the greatest of some integers.

        By cuDF on a card, whose reductions are compiled: CuPy compiles its own in a first call.
        """
        known = values if self.xp.__name__ == "numpy" else self.library.Series(values)
        return int(known.min()), int(known.max())

    def host(self, values: Array) -> Array:
        return to_host(values)


def open_frame(edges: Any, engine: str | None, once: bool = False) -> tuple[Frame, Backend]:
    """Recognise the user's edges; say where they are worked on.

    With `once`, the caller never reads the edges again: an Arrow stream may be used up.

    Raises
    ------
    TypeError
        `edges` is none of the kinds that can be served.
    ValueError
        `engine` is neither None, "cpu" nor "cuda".
    KernelError
        The place asked for cannot serve here; the message says what to install.
    """
    check_engine(engine)
    adapter: FrameAdapter
    if is_dask(edges):
        raise TypeError(
            "edges is a Dask DataFrame, and this is of one machine: .compute() brings the edges "
            "there; count, vertex_triangles, annotate and others take Dask frames as they are"
        )
    if _is(edges, "cugraph", "Graph"):
        edges = _cugraph_edges(edges)
    proxies = sys.modules.get("cudf.pandas")
    if proxies is not None and proxies.is_proxy_object(edges) and hasattr(edges, "columns"):
        adapter = ProxyAdapter()
    elif _is(edges, "pandas", "DataFrame"):
        adapter = PandasAdapter()
    elif _is(edges, "cudf", "DataFrame"):
        adapter = CudfAdapter()
    elif _is(edges, "polars", "LazyFrame"):
        raise TypeError("edges is a polars.LazyFrame: call .collect() first")
    elif _is(edges, "polars", "DataFrame"):
        adapter = PolarsAdapter()
    elif hasattr(edges, "__arrow_c_stream__") and not isinstance(edges, type) and _wide(edges):
        edges = edges if _is(edges, "pyarrow", "Table") else _read_stream(edges, once)
        adapter = ArrowAdapter()
    else:
        raise TypeError(f"edges is of type {type(edges).__qualname__}; accepted: {ACCEPTED}")
    return edges, backend_of(adapter, engine)


def sum64(values: Array) -> int:
    """The sum of truths or of unsigned integers, in 64 bits.

    Made wide piece by piece: of integers as wide as their sum CuPy has a sum that is compiled; for
    others, and for any() and all(), it compiles one of CUB in a first call, which takes seconds.
    """
    pieces = (values[at : at + _PIECE] for at in range(0, len(values), _PIECE))
    return sum(int(piece.astype("uint64").sum()) for piece in pieces)


def all_below(values: Array, limit: int) -> bool:
    """Return whether all integers of an array lie in [0, limit)."""
    values = values.view(f"uint{8 * values.itemsize}")  # a negative number becomes a large one
    if limit > np.iinfo(values.dtype).max or not len(values):
        return True
    if isinstance(values, np.ndarray):
        return bool(values.max() < limit)
    return sum64(values >= limit) == 0  # CuPy would have to compile a maximum


def as_uint32(numbers: Array) -> Array:
    """Numbers as uint32, where they are if they are as wide."""
    return numbers.view("uint32") if numbers.itemsize == 4 else numbers.astype("uint32")


def gathered(values: Array, places: Array) -> Array:
    """Return the values at `places`, which another thread may write meanwhile: the user's memory.

    NumPy's ``take`` reads each place once. Indexing would check all places first and then read
    them again. CuPy takes a place that is too large modulo the size.

    Raises
    ------
    KernelError
        A place lies outside of the values.
    """
    try:
        return values.take(places)
    except IndexError as error:
        raise KernelError(CHANGED) from error


def check_engine(engine: str | None) -> None:
    """Raise ValueError where there is no such engine."""
    if engine is not None and not (isinstance(engine, str) and engine in ("cpu", "cuda")):
        raise ValueError(f'engine={engine!r}; accepted: "cpu", "cuda", None (the frame decides)')


def backend_of(adapter: FrameAdapter, engine: str | None) -> Backend:
    """Where frames of a library are worked on: by the engine asked for, or where they are."""
    place = engine_of(adapter, engine)
    return Backend(*_modules(place), place, adapter)


def engine_of(adapter: FrameAdapter, engine: str | None) -> str:
    """The engine asked for, or that which serves frames of the library where they are."""
    on_card = isinstance(adapter, CudfAdapter | ProxyAdapter) or emulator.get() is not None
    return engine or ("cuda" if on_card else "cpu")


def _read_stream(edges: Any, once: bool) -> Frame:
    """Read an Arrow stream into a table; TypeError if a later call would find the stream empty."""
    table = None if hasattr(edges, "__next__") and not once else pyarrow().table(edges)
    if table is None or not (once or table.num_rows == 0 or _has_rows(edges)):
        raise TypeError(
            f"edges is of type {type(edges).__qualname__}, an Arrow stream that can be read only "
            "once: a second call would find no rows. Give the table that .read_all() makes of it, "
            "or make graph = tc.Graph(reader), which reads it once, and give that to the functions"
        )
    return table


def _has_rows(edges: Any) -> bool:
    """Return whether a stream that was read once can be read again and still has rows."""
    if root(edges) == "duckdb":  # a relation runs its query again for every read
        return True
    try:
        batches = pyarrow().RecordBatchReader.from_stream(edges)
        return any(batch.num_rows for batch in batches)
    except Exception:  # each library has its own error for a stream that has ended
        return False


def _wide(edges: Any) -> bool:
    """Whether an Arrow stream is one of tables, not of a single column."""
    return type(edges).__name__ not in ("Series", "ChunkedArray", "Index")


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


def _restore(xp: str, library: str, engine: str, adapter: FrameAdapter) -> Backend:
    return Backend(import_module(xp), import_module(library), engine, adapter)


def _is(value: Any, library: str, name: str) -> bool:
    module = sys.modules.get(library)
    return module is not None and isinstance(value, getattr(module, name, ()))
