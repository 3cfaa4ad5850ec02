"""Readers of files that hold arrays: NumPy's ``.npz`` and Parquet."""

from __future__ import annotations

import errno
import math
import zipfile
from typing import Any

import numpy as np

from rapids_tc.files.adjacency import check_vertices, frame_of, without_edges
from rapids_tc.files.guess import choose_columns
from rapids_tc.files.source import EdgeFileError, Options, Source
from rapids_tc.preparation.edges import find_pair

Frame = Any  # pandas.DataFrame
Array = Any  # numpy.ndarray

_NPZ = ("src", "dst", "n")


def read_npz(source: Source, options: Options) -> tuple[Frame, Array, list[str]]:
    """Read the edges and, if there is a scalar ``n``, the vertices from 0 to n - 1 without any."""
    try:
        with source.open() as (plain, _):
            if not zipfile.is_zipfile(plain):
                raise source.fault("no .npz file, as numpy.savez writes them")
            with zipfile.ZipFile(plain) as archive:
                arrays = _arrays(source, archive)
    except EdgeFileError:
        raise
    # zipfile and NumPy raise these for files that are damaged or of an unknown kind.
    except (zipfile.BadZipFile, ValueError, RuntimeError, NotImplementedError) as error:
        raise source.fault(str(error).partition("\n")[0]) from error
    except OSError as error:
        if error.errno != errno.EINVAL:  # a position before the start of the file
            raise
        raise source.fault("a position in it is wrong") from error
    src, dst = arrays["src"], arrays["dst"]
    if "n" not in arrays:
        return frame_of(src, dst), np.zeros(0, np.int64), []
    if {array.dtype.kind for array in arrays.values()} - {"i", "u"}:
        raise source.fault("with n, the number of vertices, there, all three must be integers")
    n = int(arrays["n"])
    if n < 0:
        raise source.fault(f"n, the number of vertices, is {n}")
    if len(src) and not 0 <= min(src.min(), dst.min()) <= max(src.max(), dst.max()) < n:
        raise source.fault(f"ids must run from 0 to n - 1 = {n - 1}")
    check_vertices(source, n)
    return frame_of(src, dst), without_edges(src, dst, 0, n).astype(src.dtype, copy=False), []


def _arrays(source: Source, archive: zipfile.ZipFile) -> dict[str, Array]:
    """Read the arrays of an .npz file, once all that their headers say has been checked."""
    names = [name[:-4] for name in archive.namelist() if name.endswith(".npy")]
    if not {"src", "dst"} <= set(names):
        raise source.fault(f"expected the arrays src and dst, not {names[:5]}")
    present = [name for name in _NPZ if name in names]
    size = sum(archive.getinfo(f"{name}.npy").file_size for name in present)
    source.claim(f"{size:,} bytes of arrays", size)
    shapes = {name: _shape(source, archive, name) for name in present}
    if shapes["src"] != shapes["dst"] or len(shapes["src"]) != 1:
        raise source.fault(f"src and dst have the shapes {shapes['src']} and {shapes['dst']}")
    if shapes.get("n", ()) != ():
        raise source.fault("n, the number of vertices, must be one of the integers")
    return {name: _load(archive, name) for name in present}


def _shape(source: Source, archive: zipfile.ZipFile, name: str) -> tuple[int, ...]:
    """Return the shape of an array; EdgeFileError if the file holds more or fewer bytes of it."""
    size = archive.getinfo(f"{name}.npy").file_size
    with archive.open(f"{name}.npy") as file:
        if np.lib.format.read_magic(file) == (1, 0):
            shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        else:
            shape, _, dtype = np.lib.format.read_array_header_2_0(file)
        if dtype.hasobject:
            raise source.fault(f"{name} is an array of objects")
        need = math.prod(shape) * dtype.itemsize
        if need != size - file.tell():
            raise source.fault(
                f"{name} says {need:,} bytes of values, the file has {size - file.tell():,}"
            )
    return shape


def _load(archive: zipfile.ZipFile, name: str) -> Array:
    with archive.open(f"{name}.npy") as file:
        return np.lib.format.read_array(file, allow_pickle=False)


def read_parquet(source: Source, options: Options) -> tuple[Frame, Array, list[str]]:
    """Read the two id columns, and no other."""
    try:
        import pyarrow
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise source.fault('Parquet needs PyArrow: pip install "rapids_tc[arrow]"') from error
    try:
        with source.open() as (plain, _):
            file = ParquetFile(plain)
            names = file.schema_arrow.names
            chosen = options.columns != (None, None) or find_pair(names) is not None
            if not chosen and len(names) != 2:
                raise source.fault(f"name source and destination; columns: {names}")
            places = choose_columns(source, names, options.columns, width=len(names))
            ids = [names[place] for place in places]
            for name in ids:
                if names.count(name) > 1:
                    raise source.fault(f"{names.count(name)} columns are called {name!r}: rename")
            rows = file.metadata.num_rows
            least = sum(_least_bytes(file.schema_arrow.field(place).type) for place in places)
            source.claim(f"{rows:,} rows", rows * least)
            table = file.read(columns=ids).select(ids).replace_schema_metadata()
            frame = table.to_pandas()
    except MemoryError:
        raise
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise source.fault(str(error)) from error
    frame.columns = ["src", "dst"]
    return frame, np.zeros(0, np.int64), []


def _least_bytes(kind: Any) -> int:
    """Return the least bytes of a value of an Arrow type; of a text, the bytes of its offset."""
    try:
        return max(int(kind.bit_width) // 8, 1)
    except ValueError:
        return 4
