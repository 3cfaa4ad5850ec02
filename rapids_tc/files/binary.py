"""Edge files that are arrays already: NumPy's ``.npz`` and Parquet."""

from __future__ import annotations

import zipfile
from typing import Any

import numpy as np

from rapids_tc.files.adjacency import frame_of, without_edges
from rapids_tc.files.guess import PAIRS, choose_columns
from rapids_tc.files.source import EdgeFileError, Options, Source

Frame = Any  # pandas.DataFrame
Array = Any  # numpy.ndarray


def read_npz(source: Source, options: Options) -> tuple[Frame, Array, list[str]]:
    """Edges and, if the scalar ``n`` is there, the vertices from 0 to n - 1 without any."""
    try:
        with source.open() as (plain, _):
            if not zipfile.is_zipfile(plain):
                raise source.fault("no .npz file, as numpy.savez writes them")
            plain.seek(0)
            file = np.load(plain, allow_pickle=False)
            if not {"src", "dst"} <= set(file.files):
                raise source.fault(f"expected the arrays src and dst, not {file.files[:5]}")
            src, dst = file["src"], file["dst"]
            n = file["n"] if "n" in file.files else None
    except EdgeFileError:
        raise
    except zipfile.BadZipFile as error:
        raise source.fault(str(error)) from error
    except ValueError as error:  # NumPy's advice is to unpickle them
        raise source.fault("src, dst or n is an array of objects, or none at all") from error
    if src.ndim != 1 or src.shape != dst.shape:
        raise source.fault(f"src and dst have the shapes {src.shape} and {dst.shape}")
    if n is None:
        return frame_of(src, dst), np.zeros(0, np.int64), []
    if n.ndim or {n.dtype.kind, src.dtype.kind, dst.dtype.kind} - {"i", "u"}:
        raise source.fault("with n, the number of vertices, there, all three must be integers")
    if len(src) and not 0 <= min(src.min(), dst.min()) <= max(src.max(), dst.max()) < n:
        raise source.fault(f"ids must run from 0 to n - 1 = {n - 1}")
    return frame_of(src, dst), without_edges(src, dst, 0, int(n)).astype(src.dtype), []


def read_parquet(source: Source, options: Options) -> tuple[Frame, Array, list[str]]:
    """The two id columns only."""
    try:
        import pyarrow
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise source.fault('Parquet needs PyArrow: pip install "rapids_tc[arrow]"') from error
    try:
        with source.open() as (plain, _):
            file = ParquetFile(plain)
            names = file.schema_arrow.names
            known = {name.lower() for name in names}
            told = len(names) == 2 or any(known >= set(pair) for pair in PAIRS)
            if options.columns == (None, None) and not told:
                raise source.fault(f"name source and destination; columns: {names}")
            places = choose_columns(names, options.columns, width=len(names))
            chosen = [names[place] for place in places]
            frame = file.read(columns=chosen).select(chosen).to_pandas(ignore_metadata=True)
    except (pyarrow.ArrowInvalid, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise source.fault(str(error)) from error
    frame.columns = ["src", "dst"]
    return frame, np.zeros(0, np.int64), []
