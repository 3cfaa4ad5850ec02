"""Readers of NumPy's ``.npy`` and ``.npz``, sparse matrices of SciPy among them."""

from __future__ import annotations

import errno
import math
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import numpy as np

from rapids_tc.files.adjacency import check_vertices, frame_of, without_edges
from rapids_tc.files.beside import with_values
from rapids_tc.files.source import EdgeFileError, ReadOptions, Source

Frame = Any  # pandas.DataFrame
Array = Any  # numpy.ndarray

# The arrays of each kind of .npz file: rows of edges, and sparse matrices that SciPy saves.
_ROWS = ("src", "dst")
_MATRICES = {("row", "col"), ("indices", "indptr")}


def read_npz(source: Source, options: ReadOptions) -> tuple[Frame, Array, list[str]]:
    """Read the edges and, if the number of vertices is in the file, the vertices without any.

    A file of edges has ``src`` and ``dst``, and ``n`` perhaps, for vertices from 0 to n - 1. Of a
    sparse matrix, every stored entry is an edge, as of MatrixMarket.
    """
    with _opened(source) as plain:
        if not zipfile.is_zipfile(plain):
            raise source.fault("no .npz file, as numpy.savez writes them")
        with zipfile.ZipFile(plain) as archive:
            arrays, values = _arrays(source, archive, options)
    if "shape" in arrays:
        src, dst, n = _entries(source, arrays)
        source.directed = True
    else:
        src, dst = arrays["src"], arrays["dst"]
        if "n" not in arrays:
            return _with(source, options, src, dst, values), np.zeros(0, np.int64), []
        if {array.dtype.kind for array in arrays.values()} - {"i", "u"}:
            raise source.fault("with n, the number of vertices, there, all three must be integers")
        n = int(arrays["n"])
    if n < 0:
        raise source.fault(f"n, the number of vertices, is {n}")
    if len(src) and not 0 <= min(src.min(), dst.min()) <= max(src.max(), dst.max()) < n:
        raise source.fault(f"ids must run from 0 to n - 1 = {n - 1}")
    check_vertices(source, n)
    alone = without_edges(src, dst, 0, n).astype(src.dtype, copy=False)
    return _with(source, options, src, dst, values), alone, []


def _with(
    source: Source, options: ReadOptions, src: Array, dst: Array, values: dict[str, Array]
) -> Frame:
    frame = frame_of(src, dst)
    return with_values(source, options, frame, values) if options.keep else frame


def read_npy(source: Source, options: ReadOptions) -> tuple[Frame, Array, list[str]]:
    """Read an array of two columns, or of two rows, which are the ends of edges."""
    with _opened(source) as plain:
        shape = _header(source, plain, "the array", None)
        plain.seek(0)
        size = math.prod(shape) * 8
        source.claim(f"{size:,} bytes of values", size)
        array = np.lib.format.read_array(plain, allow_pickle=False)
    if array.dtype.names or array.ndim != 2 or 2 not in array.shape:
        if array.ndim == 2 and len(set(array.shape)) == 1:
            raise source.fault(
                f"{len(array)} rows and columns look like an adjacency matrix, not edges: save "
                "numpy.argwhere of it"
            )
        raise source.fault(f"expected an array of two columns or two rows, not of shape {shape}")
    in_columns = array.shape[1] == 2
    src, dst = array.T if in_columns else array
    frame = _with(source, options, src, dst, {})
    guesses = [] if in_columns else ["the 2 rows are the ends of edges"]
    return frame, np.zeros(0, np.int64), guesses


@contextmanager
def _opened(source: Source) -> Iterator[IO[bytes]]:
    """Open a file of NumPy; what is damaged in it is an EdgeFileError."""
    try:
        with source.open() as (plain, _):
            yield plain
    except EdgeFileError:
        raise
    # zipfile and NumPy raise these for files that are damaged or of an unknown kind.
    except (zipfile.BadZipFile, ValueError, RuntimeError, NotImplementedError) as error:
        raise source.fault(str(error).partition("\n")[0]) from error
    except OSError as error:
        if error.errno != errno.EINVAL:  # a position before the start of the file
            raise
        raise source.fault("a position in it is wrong") from error


def _arrays(
    source: Source, archive: zipfile.ZipFile, options: ReadOptions
) -> tuple[dict[str, Array], dict[str, Array]]:
    """Read the arrays of an .npz file, once all that their headers say has been checked.

    The values of edges to keep are returned apart, by name.
    """
    names = [name[:-4] for name in archive.namelist() if name.endswith(".npy")]
    ends = next((pair for pair in _MATRICES if {*pair, "shape"} <= set(names)), _ROWS)
    if not set(ends) <= set(names):
        raise source.fault(
            f"expected the arrays src and dst, not {names[:5]}; of SciPy's sparse matrices, csr, "
            "csc and coo are read"
        )
    more = ("n",) if ends == _ROWS else ("shape", "format")
    own = [*ends, *(name for name in more if name in names)]
    others = names if ends == _ROWS else ["data"] * ("data" in names)
    values = [name for name in others if options.keep and name not in own]
    present = [*own, *values]
    size = sum(archive.getinfo(f"{name}.npy").file_size for name in present)
    source.claim(f"{size:,} bytes of arrays", size)
    shapes = {name: _shape(source, archive, name) for name in present}
    first, second = (shapes[name] for name in ends)
    if not len(first) == len(second) == 1 or (first != second and "indptr" not in ends):
        raise source.fault(f"{ends[0]} and {ends[1]} have the shapes {first} and {second}")
    if shapes.get("n", ()) != ():
        raise source.fault("n, the number of vertices, must be one of the integers")
    # A value stands for each edge; a matrix calls its values data.
    called = {name: "weight" if name == "data" else name for name in values}
    kept = {called[name]: _load(archive, name) for name in values if shapes[name] == first}
    return {name: _load(archive, name) for name in own}, kept


def _entries(source: Source, arrays: dict[str, Array]) -> tuple[Array, Array, int]:
    """Return rows and columns of the stored entries of a sparse matrix, and its size."""
    shape, kind = arrays["shape"].tolist(), arrays.get("format", np.array(b"")).item()
    if not isinstance(shape, list) or len(shape) != 2 or shape[0] != shape[1]:
        raise source.fault(f"a matrix of shape {shape} is no adjacency matrix")
    if kind not in (b"csr", b"csc", b"coo", "csr", "csc", "coo"):
        raise source.fault(f"a sparse matrix of format {kind!r}: save it as csr")
    if any(arrays[name].dtype.kind not in "iu" for name in arrays if name != "format"):
        raise source.fault("the places of entries must be integers")
    if "row" in arrays:
        return arrays["row"], arrays["col"], shape[0]
    columns, starts = arrays["indices"], arrays["indptr"].astype(np.int64)
    counts = np.diff(starts)
    ends = starts[[0, -1]].tolist() if len(starts) == shape[0] + 1 else []
    if ends != [0, len(columns)] or (counts < 0).any():
        raise source.fault("indptr does not say where the rows of the matrix begin")
    rows = np.repeat(np.arange(shape[0], dtype=columns.dtype), counts)
    return (columns, rows, shape[0]) if kind in (b"csc", "csc") else (rows, columns, shape[0])


def _shape(source: Source, archive: zipfile.ZipFile, name: str) -> tuple[int, ...]:
    """Return the shape of an array; EdgeFileError if the file holds more or fewer bytes of it."""
    with archive.open(f"{name}.npy") as file:
        return _header(source, file, name, archive.getinfo(f"{name}.npy").file_size)


def _header(source: Source, file: IO[bytes], name: str, size: int | None) -> tuple[int, ...]:
    """Return the shape that a header says, and check it against the bytes behind it."""
    if np.lib.format.read_magic(file) == (1, 0):
        shape, _, dtype = np.lib.format.read_array_header_1_0(file)
    else:
        shape, _, dtype = np.lib.format.read_array_header_2_0(file)
    if dtype.hasobject:
        raise source.fault(f"{name} is an array of objects")
    need, start = math.prod(shape) * dtype.itemsize, file.tell()
    size = file.seek(0, 2) if size is None else size
    if need != size - start:
        raise source.fault(f"{name} says {need:,} bytes of values, the file has {size - start:,}")
    return shape


def _load(archive: zipfile.ZipFile, name: str) -> Array:
    with archive.open(f"{name}.npy") as file:
        return np.lib.format.read_array(file, allow_pickle=False)
