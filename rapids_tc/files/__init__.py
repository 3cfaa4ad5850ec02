"""Edge files as people publish them: a reader for each format, and a row of `formats.FORMATS`.

Compression and archives are recognized by content. What the file does not say is guessed, and
every guess is reported and can be overridden.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np

from rapids_tc._typing import Frame
from rapids_tc.errors import CapacityError, KernelError
from rapids_tc.files.formats import FORMATS as _FORMATS
from rapids_tc.files.formats import guess_format, refuse_unused
from rapids_tc.files.parts import find_parts, join_parts
from rapids_tc.files.scans import scan
from rapids_tc.files.source import (
    Column,
    EdgeFileError,
    NoEdgeError,
    ReadOptions,
    Source,
    check_choices,
)
from rapids_tc.frames.scans import Scan

__all__ = ["FORMATS", "EdgeFile", "EdgeFileError", "Scan", "read_edges", "scan"]

FORMATS = tuple(_FORMATS)
_LIBRARIES = ("pandas", "polars", "pyarrow", "cudf")


@dataclass(frozen=True)
class EdgeFile:
    """The contents of an edge file.

    Attributes
    ----------
    frame : DataFrame
        Columns ``src`` and ``dst``: the rows as they are in the file, with repeats and loops. Of
        pandas, or of the library that was asked for.
    format : str
        One of `FORMATS`.
    isolated : numpy.ndarray
        Vertices that the file names without an edge. Empty for ``.npy``, files of columns, and text
        without a line of sizes, which name a vertex by its edges only.
    guesses : list of str
        Facts that the file does not say and that were guessed, each in a sentence.
    ids : tuple of str
        The id columns of `frame`, if it has others beside them.
    directed : bool, numpy.ndarray or None
        Whether rows lead from ``src`` to ``dst`` alone: False if the file says that its edges have
        no direction, an array with a value per row if it has edges of both kinds, None if it does
        not say.
    """

    frame: Any
    format: str
    isolated: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    guesses: list[str] = field(default_factory=list)
    ids: tuple[str, str] = ("src", "dst")
    directed: bool | np.ndarray | None = None


def read_edges(
    path: str | PathLike[str],
    *,
    format: str | None = None,
    separator: str | None = None,
    header: bool | None = None,
    comment: str | None = None,
    ids: str | None = None,
    source: Column = None,
    destination: Column = None,
    columns: Sequence[str | int] | Literal["all"] = (),
    library: str = "pandas",
    directed: bool = False,
    tick: Callable[[float], None] | None = None,
) -> EdgeFile:
    r"""Read the edges of a file, or of a folder of parts.

    Parameters
    ----------
    path : path
        A file, plain or compressed by gzip, bzip2, xz or zstd, or alone in a zip or tar archive,
        whatever its name says. A folder, or a pattern such as ``"day-*.csv"``: all parts, one
        after another; names that begin with ``_`` or ``.`` are left out. Keys in the names of
        folders, ``day=mo``, are columns of text, which `columns` keeps. ``"-"``: stdin. A pipe,
        which can be read only once, is held in memory.
    format : str, optional
        One of `FORMATS`. By default the first bytes of the file say it, for METIS, SIF, graph6 and
        sparse6 the name does (``.graph``, ``.metis``, ``.sif``, ``.g6``, ``.s6``), and everything
        else is text: two ids per line. Lines end in LF, CRLF or CR. Text that does not look like
        an edge list is refused, unless the format is given.
    separator : str, optional
        For text: a character, ``"tab"``, or ``"blanks"`` for any run of blanks and tabs. By
        default the one that gives the same number of columns on every line.
    header : bool, optional
        For text: whether the first line is no edge. By default it is none if it names columns, or
        is "n m" between blanks or "n,m,words" and m (or 2 m) lines follow whose ids are no larger
        than n: the vertices are 1 to n then, or 0 to n - 1 if an id is 0. "n m" that may be an edge
        of a triangle, because both ids are in other lines, is an edge. A line names columns if one
        of its words stands above numbers, dates, money or other values, if `source`, `destination`
        or one of `columns` is in it, or if it has words for the two ends of an edge. Else the last
        comment above it does, if it has as many fields as the lines.
    comment : str, optional
        For text: a line that begins with one of these characters is no edge; ``""`` for none.
        By default ``#`` and ``%``; if ids are text, only the one that opens the file.
    ids : {"integer", "string"}, optional
        For text. By default integers if most ids of the first lines are plain integers without
        leading zeros, and any other id is then an error; otherwise text, unchanged.
    source, destination : str or int, optional
        Columns of text, Parquet and Arrow by name, or by number from 1. By default the first pair
        of `src` and `dst`, `source` and `destination`, `source` and `target`, `from` and `to`, `u`
        and `v`, in lower case or else in any; the one pair of names that differ by such words or
        by 1 and 2, such as `from_address` and `to_address`; without one the only two columns, or
        the first two of text whose columns have no names.
    columns : sequence of str or int, or "all", optional
        Further columns to keep, by name, or by number from 1 if the edges are lines of columns. The
        frame then has the columns of the file by its own names and in its order, those without a
        name by their number; `EdgeFile.ids` are the two of ids. Of text, what is no id stays text.
        Other formats have what their edges have: attributes of GraphML, GEXF, GML and JSON,
        ``relation`` of SIF, arrays of ``.npz``, and ``weight`` where a format has one value.
    library : {"pandas", "polars", "pyarrow", "cudf"}
        The library of the frame.
    directed : bool
        Give edges that have no direction two rows, one each way, as functions with
        ``directed=True`` need them. A format that has directions says which these are; of others,
        every row leads from its source to its destination.
    tick : callable, optional
        Called now and then with the share of the file that has been read, 0 to 1.

    Returns
    -------
    EdgeFile

    Raises
    ------
    EdgeFileError
        The file does not hold what its format promises, is text but no edge list, has comments
        alone, or two columns have the name of an id column. The message names the file and the
        line, and what to do.
    ColumnNotFoundError
        `source` or `destination` is none of the columns, or must be given: text has three
        columns or more with other names.
    CapacityError
        The file says more vertices than a graph holds, or its contents need more memory than is
        free, which is checked before they are made.
    KernelError
        `library` is not installed.
    TypeError
        `path` is not one path.

    Notes
    -----
    Text is parsed as it is decompressed, by PyArrow if it is installed and all lines have as many
    columns, else by pandas: 1 to 2 s for 10 million lines, and no more memory than two such frames.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from rapids_tc.files import read_edges
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "edges.csv"
    ...     _ = path.write_text("# a triangle\nfrom,to\n1,2\n2,3\n3,1\n")
    ...     edges = read_edges(path)
    >>> edges.frame
       src  dst
    0    1    2
    1    2    3
    2    3    1
    >>> edges.guesses[0]
    'text separated by commas'
    """
    check_choices(FORMATS, format, ids, header=header)
    if not isinstance(path, str | PathLike):
        raise TypeError(
            f"path is of type {type(path).__name__}: give one path; several files are read by the "
            'name of a folder or a pattern, such as "day-*.csv"'
        )
    if not str(path):
        raise ValueError("the name of the file is empty")
    if library not in _LIBRARIES:
        raise ValueError(f"library must be one of {', '.join(_LIBRARIES)}, not {library!r}")
    keep = columns if isinstance(columns, str) else tuple(columns)
    if isinstance(keep, str) and keep != "all":
        raise ValueError(f'columns must be a list of columns, or "all", not {columns!r}')
    if not isinstance(directed, bool | np.bool_):
        raise ValueError(f"directed must be True or False, not {directed!r}")
    options = ReadOptions(
        format,
        separator,
        header,
        comment,
        ids,
        (source, destination),
        keep,
        directed=bool(directed),
    )
    parts = find_parts(Path(path))
    if parts is None:
        file = _read(Source(Path(path), tick), options)
    else:
        file = EdgeFile(*join_parts(Path(path), parts, options, _read_part, tick))
    file = _with_directions(file, Source(Path(path)), both_ways=options.directed)
    return file if library == "pandas" else replace(file, frame=_converted(file.frame, library))


def _with_directions(file: EdgeFile, source_file: Source, *, both_ways: bool) -> EdgeFile:
    """Tell which edges have no direction; if asked for, give each of them a row both ways."""
    import pandas as pd

    guesses, said = list(file.guesses), file.directed
    if said is None and both_ways:
        guesses.append("each row leads from {!r} to {!r}".format(*file.ids))
    if said is None or said is True:
        return replace(file, guesses=guesses)
    rows = len(file.frame)
    both = np.broadcast_to(~np.asarray(said), rows)
    told = "edges" if both.all() else f"{both.sum():,} of {rows:,} edges"
    advice = "each is read both ways" if both_ways else "directed=True reads each both ways"
    guesses.append(f"{told} have no direction: {advice}")
    if not both_ways:
        return replace(file, guesses=guesses)
    frame, (source, destination) = file.frame, file.ids
    if frame[source].dtype != frame[destination].dtype:  # int64 and uint64, which make floats
        if min(frame[source].min(), frame[destination].min()) < 0:
            raise source_file.fault(
                "negative ids beside ids of 2**63 or more: ids='string' takes both"
            )
        frame = frame.astype(dict.fromkeys(file.ids, "uint64"))
    loops = (frame[source] == frame[destination]).to_numpy(bool)
    names = {source: destination, destination: source}
    back = frame[both & ~loops].rename(columns=names)[frame.columns]
    frame = pd.concat([frame, back], ignore_index=True)
    return replace(file, frame=frame, guesses=guesses, directed=True)


def _read(source: Source, options: ReadOptions) -> EdgeFile:
    """Read one file."""
    kind = options.format or guess_format(source)
    refuse_unused(kind, options)
    source.numbered = _FORMATS[kind].numbered
    try:
        frame, isolated, guesses = _FORMATS[kind].read(source, options)
    except MemoryError as error:
        raise CapacityError(f"{source.name}: {error or 'out of memory'}") from error
    if options.format is None and kind != "text":
        guesses = [f"format {kind}", *guesses]
    guesses = [*source.unpacker.notes, *guesses]
    return EdgeFile(frame, kind, isolated, guesses, source.ends, source.directed)


def _read_part(source: Source, options: ReadOptions) -> EdgeFile | None:
    """Read one part of several; None if it has no edge."""
    try:
        return _read(source, options)
    except NoEdgeError:
        return None


def _converted(frame: Frame, library: str) -> Frame:
    """Return a pandas frame as one of another library."""
    try:
        module = import_module(library)
    except ImportError as error:
        pip = "rapids_tc[cu13]" if library == "cudf" else library
        raise KernelError(f'library={library!r} is not installed: pip install "{pip}"') from error
    if library == "pyarrow":
        return module.Table.from_pandas(frame, preserve_index=False)
    return module.from_pandas(frame)
