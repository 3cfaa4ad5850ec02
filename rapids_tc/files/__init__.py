"""Edge files as people publish them: text, MatrixMarket, METIS, ``.npz`` and Parquet.

Compression is recognised by content. What the file does not say is guessed, and every guess is
reported and can be overridden.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from rapids_tc.errors import CapacityError
from rapids_tc.files.adjacency import read_matrix_market, read_metis
from rapids_tc.files.binary import read_npz, read_parquet
from rapids_tc.files.source import Column, EdgeFileError, Options, Source
from rapids_tc.files.text import read_text

__all__ = ["FORMATS", "EdgeFile", "EdgeFileError", "read_edges"]

# A reader returns the edges, the vertices named without an edge, and its guesses.
_READERS: dict[str, Callable[[Source, Options], tuple[Any, np.ndarray, list[str]]]] = {
    "text": read_text,
    "matrixmarket": read_matrix_market,
    "metis": read_metis,
    "npz": read_npz,
    "parquet": read_parquet,
}
FORMATS = tuple(_READERS)
_METIS_NAMES = {".graph", ".metis"}


@dataclass(frozen=True)
class EdgeFile:
    """The contents of an edge file.

    Attributes
    ----------
    frame : pandas.DataFrame
        Columns ``src`` and ``dst``: the rows as they are in the file, with repeats and loops.
    format : str
        One of `FORMATS`.
    isolated : numpy.ndarray
        Vertices that the file names without an edge: MatrixMarket, METIS and ``.npz`` say how
        many vertices there are. Empty for other formats, which name a vertex by its edges only.
    guesses : list of str
        Facts that the file does not say and that were guessed, each in a sentence.
    """

    frame: Any
    format: str
    isolated: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    guesses: list[str] = field(default_factory=list)


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
    tick: Callable[[float], None] | None = None,
) -> EdgeFile:
    r"""Read the edges of a file.

    Parameters
    ----------
    path : path
        A file, plain or compressed by gzip, bzip2 or xz, whatever its name says. A pipe, which
        can be read only once, is held in memory.
    format : {"text", "matrixmarket", "metis", "npz", "parquet"}, optional
        By default MatrixMarket, ``.npz`` and Parquet are recognised by content, METIS by the name
        (``.graph``, ``.metis``), and everything else is text: two ids per line, further columns
        are ignored. Lines end in LF, CRLF or CR.
    separator : str, optional
        For text: a character, ``"tab"``, or ``"blanks"`` for any run of blanks and tabs.
    header : bool, optional
        For text: whether the first line is no edge. By default it is none if it names columns, or
        is "n m" between blanks or "n,m,words" and m (or 2 m) lines follow whose ids are no
        larger than n. "n m" that may be an edge of a triangle, because both ids are in other
        lines, is an edge.
    comment : str, optional
        For text: a line that begins with one of these characters is no edge; ``""`` for none.
        By default ``#`` and ``%``; if ids are text, only the one that opens the file.
    ids : {"integer", "string"}, optional
        For text. By default integers if most ids of the first lines are plain integers without
        leading zeros, and any other id is then an error; otherwise text, unchanged.
    source, destination : str or int, optional
        Columns of text and Parquet by name, or by number from 1. By default the first pair of
        `src` and `dst`, `source` and `destination`, `source` and `target`, `from` and `to`, `u`
        and `v`, in lower case or else in any; without one the only two columns, or the first two
        of text whose columns have no names.
    tick : callable, optional
        Called now and then with the share of the file that has been read, 0 to 1.

    Returns
    -------
    EdgeFile

    Raises
    ------
    EdgeFileError
        The file does not hold what its format promises, or two columns have the name of an id
        column. The message names the file and the line.
    ColumnNotFoundError
        `source` or `destination` is none of the columns, or must be given: text has three
        columns or more with other names.
    CapacityError
        The file says more vertices than a graph holds, or its contents need more memory than is
        free, which is checked before they are made.

    Notes
    -----
    Text is parsed by pandas as it is decompressed: about 2 s for 10 million lines, and no more
    memory than the frame.

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
    if format not in (None, *_READERS):
        raise ValueError(f"format must be one of {', '.join(FORMATS)}, not {format!r}")
    if ids not in (None, "integer", "string"):
        raise ValueError(f"ids must be 'integer' or 'string', not {ids!r}")
    if not isinstance(header, bool | None):
        raise ValueError(f"header must be True, False or None (it is guessed), not {header!r}")
    if not str(path):
        raise ValueError("the name of the file is empty")
    file = Source(Path(path), tick)
    kind = format or _guess_format(file)
    options = Options(format, separator, header, comment, ids, (source, destination))
    _refuse_unused(kind, options)
    try:
        frame, isolated, guesses = _READERS[kind](file, options)
    except MemoryError as error:
        raise CapacityError(f"{file.path.name}: {error or 'out of memory'}") from error
    if format is None and kind != "text":
        guesses = [f"format {kind}", *guesses]
    return EdgeFile(frame, kind, isolated, guesses)


def _refuse_unused(kind: str, options: Options) -> None:
    """Raise ValueError if an option is set that this format has no use for."""
    useful = {"text": set(asdict(options)), "parquet": {"format", "columns"}}
    used = {name for name, value in asdict(options).items() if value not in (None, (None, None))}
    if unused := sorted(used - useful.get(kind, {"format"})):
        raise ValueError(f"format {kind} has no use for the option {', '.join(unused)}")


def _guess_format(file: Source) -> str:
    head = file.head()
    if head.startswith(b"PK\x03\x04"):
        return "npz"
    if head.startswith(b"PAR1"):
        return "parquet"
    if head[:14].lower() == b"%%matrixmarket":
        return "matrixmarket"
    if b"\0" in head:
        raise file.fault(f"binary data, and no format that is read: {', '.join(FORMATS)}")
    return "metis" if _METIS_NAMES & {suffix.lower() for suffix in file.path.suffixes} else "text"
