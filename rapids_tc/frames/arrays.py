"""Edges that are arrays: pairs of arrays, arrays of two columns or rows, and sparse matrices.

Arrays of NumPy and CuPy are taken as they are, those of other libraries, such as torch, by DLPack
without a copy. Answers are arrays of the same library in the same memory.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.errors import ColumnNotFoundError, IdTypeError, shown
from rapids_tc.frames.adapters import (
    CudfAdapter,
    FrameAdapter,
    PandasAdapter,
    gpu_libraries,
    root,
    to_host,
)
from rapids_tc.frames.device_memory import for_user

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rapids_tc._typing import Array, Frame, Label, Series

HOST, GPU = (1, 3), (2, 13)  # the kinds of memory in DLPack that NumPy and CuPy read
NUMBERS = "biufc"  # kinds of dtypes that all libraries have
ENDS = ("src", "dst")  # the columns of ids
VALUES = "weight"  # the column of the values of a matrix, as in files
NO_COLUMN = (
    "{}={} is not a column, as edges that are arrays have none but src and dst: give an array with "
    "one value per edge"
)


@dataclass(frozen=True, eq=False)
class ArrayEdges:
    """Edges that came as arrays.

    Attributes
    ----------
    columns : dict of str to array
        The ids in ``src`` and ``dst``, and further columns of as many rows: of NumPy or CuPy.
    home : str
        The module whose arrays they were, and answers will be.
    n_vertices : int, optional
        How many rows the matrix has that they were: all are vertices, from 0 on.
    given : tuple of str
        The columns that options have given, which are in no rows of an answer.
    """

    columns: Mapping[str, Array]
    home: str
    n_vertices: int | None = None
    given: tuple[str, ...] = ()

    @property
    def some_array(self) -> Array:
        """An array in the memory where the edges are."""
        return self.columns["src"]

    def with_columns(self, arrays: Mapping[str, Any]) -> ArrayEdges:
        """Return the edges with further columns, which options of these names have given.

        Raises
        ------
        TypeError
            An array is of another library, or cannot be read.
        ValueError
            An array has not one value per edge.
        """
        rows, on_gpu = len(self.some_array), root(self.some_array) == "cupy"
        added = {
            name: own_array(array, f"{name}=", rows, self.home, on_gpu=on_gpu)
            for name, array in arrays.items()
        }
        return replace(self, columns={**self.columns, **added}, given=(*added,))

    def require_columns(self, named: Mapping[str, Any]) -> None:
        """Raise ColumnNotFoundError if an option names a column, one of which arrays have few."""
        for option, value in named.items():
            for label in value if isinstance(value, list) else [value]:
                label = getattr(label, "key", label)  # of a Grouper
                is_label = isinstance(label, Hashable) and not is_array(label)
                if is_label and label is not None and label not in self.columns:
                    raise ColumnNotFoundError(NO_COLUMN.format(option, shown(label)))

    def opened(self) -> tuple[ArraysAdapter, Frame]:
        """Return the adapter of the arrays, and a frame of them, which are not copied."""
        if root(self.some_array) == "cupy":
            frame, inner = gpu_libraries()[1].DataFrame({**self.columns}), CudfAdapter()
            return ArraysAdapter(inner, self.home, self.n_vertices, self.given), frame
        frame = import_module("pandas").DataFrame({**self.columns}, copy=False)
        return ArraysAdapter(PandasAdapter(), self.home, self.n_vertices, self.given), frame


@dataclass(frozen=True)
class ArraysAdapter(FrameAdapter):
    """The adapter of arrays: it works on a frame of them; a frame in answers is a dict of arrays.

    What the library has no dtype for, such as text in torch, is a NumPy array.

    Attributes
    ----------
    inner : FrameAdapter
        The adapter of the frame, of pandas or cuDF.
    home, n_vertices, given
        See `ArrayEdges`.
    """

    inner: FrameAdapter
    home: str
    n_vertices: int | None = None
    given: tuple[str, ...] = ()

    @property
    def on_gpu(self) -> bool:
        """Whether the arrays are in the memory of a GPU."""
        return self.inner.on_gpu

    def column(self, frame: Frame, label: Label) -> Series:
        """Return one column, as a pandas or cuDF Series."""
        return self.inner.column(frame, label)

    def plain_integers(self, frame: Frame, label: Label) -> Array | None:
        """Return the array of a column, if no Series is needed."""
        return self.inner.plain_integers(frame, label)

    def frame(self, result: Frame) -> Frame:
        """Convert a new frame from the working library to a dict of arrays."""
        return self._arrays(self.inner.frame(result))

    def column_like(self, frame: Frame, values: Array, name: str) -> Series:
        """Return values of all rows as an array."""
        if self.on_gpu:
            return self._in_library(for_user(sys.modules["cupy"].asarray(values)))
        return self._in_library(to_host(values))

    def large_integers(self, values: dict[str, int], columns: tuple[str, str]) -> Frame:
        """Return named integers as a dict of NumPy's arrays of objects."""
        named = zip(columns, (values, values.values()), strict=True)
        return {name: np.array([*column], dtype="object") for name, column in named}

    def assign(self, frame: Frame, columns: dict[str, Series]) -> Frame:
        """Return a dict of the columns of a frame, or of such a dict, and of these behind them."""
        if not isinstance(frame, dict):
            frame = self._own(frame)
            frame = self._arrays(self.snapshot(frame) if self.on_gpu else frame)
        return {**frame, **columns}

    def snapshot(self, frame: Frame) -> Frame:
        """Return a copy, since the frame has the memory of the user's arrays."""
        return frame.copy(deep=True)

    def copied(self, frame: Frame) -> int:
        """Return the bytes that a snapshot takes at once."""
        return self.nbytes(frame)

    def take(self, frame: Frame, positions: Array) -> Frame:
        """Return the rows at ascending positions, as a dict of arrays."""
        return self._arrays(self.rows_at(self._own(frame), positions))

    def rows_at(self, frame: Frame, positions: Array) -> Frame:
        """See `FrameAdapter`."""
        return self.inner.take(frame, positions)

    def own_array(self, array: Any, name: str, rows: int) -> Array:
        """Return an array that an option has given; see `own_array`."""
        return own_array(array, name, rows, self.home, on_gpu=self.on_gpu)

    def _own(self, frame: Frame) -> Frame:
        """Return the columns that no option has given."""
        return frame[[label for label in frame.columns if label not in self.given]]

    def _arrays(self, frame: Frame) -> dict[Label, Array]:
        """Return all columns of a frame of the inner library that nobody else has."""
        return {label: self._values(frame[label]) for label in frame.columns}

    def _values(self, column: Series) -> Array:
        if column.dtype.kind not in NUMBERS:
            return (column.to_pandas() if self.on_gpu else column).to_numpy(copy=True)
        # Of pandas, a copy: its arrays are read-only.
        return self._in_library(column.values if self.on_gpu else column.to_numpy(copy=True))

    def _in_library(self, values: Array) -> Array:
        """Return an array of NumPy or CuPy as one of the user's library."""
        if self.home in ("numpy", "cupy") or values.dtype.kind not in NUMBERS:
            return values
        made = import_module(self.home).from_dlpack(values)
        # JAX makes narrower integers, unless it is told to have those of 64 bits.
        return made if str(made.dtype).endswith(str(values.dtype)) else values


def array_edges(edges: Any, edge_index: Any = None) -> Any:
    """Return edges that are arrays, or those of an `edge_index`, as `ArrayEdges`.

    Other edges are returned as they are.

    Raises
    ------
    ValueError
        Both are given, or `edge_index` has not two rows, or the arrays of a pair differ in length.
    TypeError
        `edge_index` is no array, or arrays are of two libraries, or masked.
    IdTypeError
        An array of ids holds no numbers.
    """
    if edge_index is not None:
        if edges is not None:
            raise ValueError("edges and edge_index= are both given: give one of them")
        return _of_edge_index(edge_index)
    if isinstance(edges, tuple):
        is_pair = len(edges) == 2 and all(map(is_array, edges))
        return _of_pair(*edges) if is_pair else edges
    if is_sparse(edges):
        is_square = len(edges.shape) == 2 and edges.shape[0] == edges.shape[1]
        return _of_matrix(edges) if is_square else edges
    if is_array(edges) and len(edges.shape) == 2 and edges.shape[1] == 2 != edges.shape[0]:
        rows = plain_array(edges, "edges")
        return _of_ends((rows[:, 0], rows[:, 1]), _library_of(edges), ("edges", "edges"))
    return edges


def own_array(array: Any, name: str, rows: int, home: str, *, on_gpu: bool) -> Array:
    """Return an array with a value per edge, of the library and memory of the edges.

    Errors: see `ArrayEdges.with_columns`.
    """
    if not is_array(array):
        raise TypeError(
            f"{name} is of type {type(array).__qualname__}, and the edges are arrays: give an "
            "array with one value per edge"
        )
    values = plain_array(array, name)
    if _library_of(array) != home or (root(values) == "cupy") != on_gpu:
        raise TypeError(
            f"{name} is an array of {_library_of(array)}, and the edges are of {home}: give both "
            "in one library and memory"
        )
    if values.shape != (rows,):
        raise ValueError(
            f"{name} has the shape {values.shape} for {rows} edges: give one value per edge"
        )
    return values


def is_array(value: Any) -> bool:
    """Return whether a value is an array of NumPy, of CuPy, or of a library that reads DLPack."""
    if isinstance(value, np.ndarray) or root(value) == "cupy":
        return hasattr(value, "shape")
    if isinstance(value, type) or not hasattr(value, "__dlpack_device__"):
        return False
    return hasattr(value, "shape") and hasattr(sys.modules.get(_library_of(value)), "from_dlpack")


def is_sparse(value: Any) -> bool:
    """Return whether a value is a sparse matrix or array of SciPy, or of CuPy."""
    modules = (sys.modules.get(name) for name in ("scipy.sparse", "cupyx.scipy.sparse"))
    return any(module is not None and module.issparse(value) for module in modules)


def _of_edge_index(edge_index: Any) -> ArrayEdges:
    """Return the edges of an array of two rows."""
    if not is_array(edge_index):
        raise TypeError(
            f"edge_index= is of type {type(edge_index).__qualname__}: give an array of NumPy, CuPy "
            "or torch of the shape (2, m)"
        )
    if len(edge_index.shape) != 2 or edge_index.shape[0] != 2:
        raise ValueError(
            f"edge_index= has the shape {tuple(edge_index.shape)}: it takes (2, m), the sources in "
            "the first row and the destinations in the second; an array with an edge in each row "
            "is given as edges"
        )
    source, destination = plain_array(edge_index, "edge_index=")
    return _of_ends((source, destination), _library_of(edge_index), ("edge_index=",) * 2)


def _of_pair(source: Any, destination: Any) -> ArrayEdges:
    """Return the edges of two arrays."""
    names = "the first array of edges", "the second array of edges"
    ends = plain_array(source, names[0]), plain_array(destination, names[1])
    libraries = _library_of(source), _library_of(destination)
    if libraries[0] != libraries[1] or root(ends[0]) != root(ends[1]):
        raise TypeError(
            f"edges is an array of {libraries[0]} and one of {libraries[1]}: give both in one "
            "library and memory"
        )
    if len(ends[0].shape) != 1 or ends[0].shape != ends[1].shape:
        raise ValueError(
            f"edges is two arrays of the shapes {ends[0].shape} and {ends[1].shape}: give as many "
            "sources as destinations, in one dimension"
        )
    return _of_ends(ends, libraries[0], names)


def _of_ends(ends: tuple[Array, Array], home: str, names: tuple[str, ...]) -> ArrayEdges:
    """Return the edges of two arrays of NumPy or CuPy; IdTypeError if they hold no numbers."""
    for values, name in zip(ends, names, strict=True):
        if values.dtype.kind not in "iu" and values.dtype.name not in ("float32", "float64"):
            raise IdTypeError(
                f"{name} has dtype {values.dtype}: ids in arrays are integers, or whole "
                "numbers of float32 or float64; a frame of two columns takes text and datetimes, "
                "too"
            )
    return ArrayEdges(dict(zip(ENDS, ends, strict=True)), home)


def _of_matrix(matrix: Any) -> ArrayEdges:
    """Return the entries of a square matrix as edges, in the order of its ``tocoo()``."""
    entries = matrix.tocoo(copy=False)
    columns = {ENDS[0]: entries.row, ENDS[1]: entries.col, VALUES: entries.data}
    return ArrayEdges(columns, root(entries.row), matrix.shape[0])


def plain_array(array: Any, name: str) -> Array:
    """Return an array as one of NumPy or CuPy, without a copy.

    Raises
    ------
    TypeError
        The array is masked, or lies in memory that neither library reads.
    """
    if np.ma.isMaskedArray(array):
        raise TypeError(f"{name} is a masked array: give the rows that are not masked")
    if isinstance(array, np.ndarray):
        return np.asarray(array)
    if root(array) == "cupy":
        return array
    try:
        memory = int(array.__dlpack_device__()[0])
        if memory in HOST:
            return np.from_dlpack(array)
        if memory in GPU:
            return gpu_libraries()[0].from_dlpack(array)
    except (BufferError, TypeError, ValueError) as error:
        raise TypeError(f"{name} cannot be read by DLPack: {error}") from error
    raise TypeError(
        f"{name} lies in memory of the kind {memory} of DLPack: copy it to the CPU or to a GPU of "
        "NVIDIA"
    )


def _library_of(array: Any) -> str:
    """Return the name of the module whose ``from_dlpack`` makes such arrays."""
    if isinstance(array, np.ndarray):
        return "numpy"
    if hasattr(type(array), "__array_namespace__"):
        return str(array.__array_namespace__().__name__)
    return root(array)
