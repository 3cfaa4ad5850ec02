"""Edge files as people publish them: text, MatrixMarket, METIS, ``.npz`` and Parquet.

Compression is told by content. What the file does not say is guessed, and every guess is
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

# A reader gives the edges, the vertices named without an edge, and what it guessed.
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
    """What an edge file holds.

    Attributes
    ----------
    frame : pandas.DataFrame
        Columns ``src`` and ``dst``: the rows as they are in the file, repeats and loops inside.
    format : str
        One of `FORMATS`.
    isolated : numpy.ndarray
        Vertices that the file names without an edge: MatrixMarket, METIS and ``.npz`` say how
        many vertices there are. Empty for other formats, which name a vertex by its edges only.
    guesses : list of str
        What the file did not say and was guessed, a sentence each.
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
    """Read the edges of a file.

    Parameters
    ----------
    path : path
        A file, plain or compressed by gzip, bzip2 or xz, whatever its name says. What can be
        read only once, a pipe, is held in memory.
    format : {"text", "matrixmarket", "metis", "npz", "parquet"}, optional
        Left out: MatrixMarket, ``.npz`` and Parquet are told by content, METIS by the name
        (``.graph``, ``.metis``), and everything else is text: two ids a line, more columns are
        ignored. Lines end in LF, CRLF or CR.
    separator : str, optional
        Of text: a character, ``"tab"``, or ``"blanks"`` for any run of blanks and tabs.
    header : bool, optional
        Of text: whether the first line is no edge. Left out: it is none if it names columns, or
        is "n m" between blanks or "n,m,words", with m (or 2 m) lines behind it whose ids are no
        larger than n. "n m" that may be an edge of a triangle, both ids in other lines, is an
        edge.
    comment : str, optional
        Of text: a line that begins with one of these characters is no edge; ``""`` for none.
        Left out: ``#`` and ``%``; with ids that are text, only the one that opens the file.
    ids : {"integer", "string"}, optional
        Of text. Left out: integers if most ids of the first lines are plain integers without
        leading zeros, and any other id is then an error; otherwise text, as it comes.
    source, destination : str or int, optional
        Columns of text and Parquet by name, or by number from 1. Left out: `src` and `dst`,
        `source` and `destination` or `target`, `from` and `to`, `u` and `v` if there are such
        names, else the only two, or the first two of text whose columns have no names.
    tick : callable, optional
        Told the share read, 0 to 1, now and then.

    Returns
    -------
    EdgeFile

    Raises
    ------
    EdgeFileError
        The file does not hold what its format promises. The message has its name and line.
    ColumnNotFoundError
        `source` or `destination` is none of the columns, or must be given: text has three
        columns or more with other names.
    CapacityError
        The file says more vertices than a graph holds, or more than the memory that is free,
        which is checked before anything is made.

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
    ...     _ = path.write_text("# a triangle\\nfrom,to\\n1,2\\n2,3\\n3,1\\n")
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
    """An option that this format has no use for is a misunderstanding."""
    useful = {"text": set(asdict(options)), "parquet": {"format", "columns"}}
    given = {name for name, value in asdict(options).items() if value not in (None, (None, None))}
    if unused := sorted(given - useful.get(kind, {"format"})):
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
