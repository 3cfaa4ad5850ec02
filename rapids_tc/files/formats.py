"""The table of formats: how each is recognized, and what reads it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.files.adjacency import read_metis
from rapids_tc.files.arrays import read_npy, read_npz
from rapids_tc.files.columnar import read_arrow, read_parquet
from rapids_tc.files.dimacs import read_dimacs
from rapids_tc.files.matrix_market import read_matrix_market
from rapids_tc.files.networks import read_gml, read_graph6, read_json, read_sparse6
from rapids_tc.files.pajek import read_pajek
from rapids_tc.files.sif import read_sif
from rapids_tc.files.source import ReadOptions, Source
from rapids_tc.files.text import read_text
from rapids_tc.files.xml_networks import read_gexf, read_graphml

if TYPE_CHECKING:
    from collections.abc import Iterator

# A reader returns the edges, the vertices named without an edge, and its guesses.
Reader = Callable[[Source, ReadOptions], tuple[Any, np.ndarray, list[str]]]


@dataclass(frozen=True)
class Format:
    """A format of edge files.

    Attributes
    ----------
    read : callable
        Its reader.
    starts : bytes
        A pattern that the first bytes of such a file match; none if only the name says it.
    suffixes : tuple of str
        Ends of names of such files, in lower case.
    options : tuple of str
        The options, of `ReadOptions`, that the reader uses, besides `keep` and `directed`.
    numbered : bool
        Whether the edges are lines of columns, which may be chosen by number.
    """

    read: Reader
    starts: bytes | None = None
    suffixes: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    numbered: bool = False


_COMMENTED = rb"(?:c(?:[ \t][^\n]*)?\r?\n)*"
FORMATS = {
    "text": Format(
        read_text, options=("separator", "header", "comment", "ids", "columns"), numbered=True
    ),
    "matrixmarket": Format(read_matrix_market, rb"%%?matrixmarket", numbered=True),
    "metis": Format(read_metis, None, (".graph", ".metis")),
    "npz": Format(read_npz, rb"PK\x03\x04"),
    "npy": Format(read_npy, rb"\x93NUMPY"),
    "parquet": Format(read_parquet, rb"PAR1", options=("columns",), numbered=True),
    "arrow": Format(read_arrow, rb"ARROW1", options=("columns",), numbered=True),
    "graphml": Format(read_graphml, rb"\s*<.{,2000}?<graphml\b|\s*<graphml\b"),
    "gexf": Format(read_gexf, rb"\s*<.{,2000}?<gexf\b|\s*<gexf\b"),
    "gml": Format(read_gml, rb"(?:\s*(?:#[^\n]*|creator\b[^\n]*|version\b[^\n]*))*\s*graph\s*\["),
    "pajek": Format(read_pajek, rb"(?:\s*%[^\n]*)*\s*\*(?:network|vertices)\b", numbered=True),
    "graph6": Format(read_graph6, rb">>(?:di)?graph6<<", (".g6", ".d6")),
    "sparse6": Format(read_sparse6, rb">>sparse6<<", (".s6",)),
    "json": Format(read_json, rb'\s*\{.*"(?:nodes|links)"\s*:'),
    "sif": Format(read_sif, None, (".sif",), numbered=True),
    "dimacs": Format(read_dimacs, _COMMENTED + rb"p[ \t]+[a-z]+[ \t]+[0-9]+[ \t]+[0-9]+\s"),
}


# Files of known programs that are not read, by their first bytes, and what to do with each.
_OTHERS = {
    rb"SQLite format 3\0": "a database of SQLite: give the frame of pandas.read_sql",
    rb"\x80[\x02-\x05]": "a pickle: give the frame of pandas.read_pickle",
    rb"\xff{4}": "a stream of Arrow: give the table of pyarrow.ipc.open_stream(path).read_all()",
    rb"ORC.{,99}\0": "a file of ORC: give the table of pyarrow.orc.read_table",
    rb"Obj\x01": "a file of Avro",
    rb"MATLAB \d": "a file of Matlab: give what scipy.io.loadmat reads",
    rb"\x89HDF\r\n": "a file of HDF5 (Matlab 7.3, NetCDF, pandas): give what pandas or h5py reads",
    rb"(?:RD[AX]\d\n)?X\n\0\0\0": "a file of R: write.csv(edges, row.names=FALSE) saves a table",
    rb"\xd0\xcf\x11\xe0": "a workbook of an old Excel: save the sheet as CSV",
    rb"%PDF-": "a PDF",
    rb"7z\xbc\xaf": "an archive of 7-Zip: unpack it",
    rb"Rar!": "an archive of RAR: unpack it",
    rb"\x04\x22M\x18": "compressed by LZ4: decompress it",
    rb"\xff\x06\0\0sNaPpY": "compressed by Snappy: decompress it",
}


def guess_format(source: Source) -> str:
    """Return the format that the first bytes of a file, or else its name, say."""
    head = source.head()
    if other := next((told for sign, told in _OTHERS.items() if re.match(sign, head, re.S)), None):
        raise source.fault(f"{other}; this format is not read, CSV and Parquet are")
    for name, kind in FORMATS.items():
        if kind.starts and re.match(kind.starts, head, re.I | re.S):
            return name
    if b"\0" in head:
        raise source.fault(f"binary data, and no format that is read: {', '.join(FORMATS)}")
    return next(_named(source), "text")


def _named(source: Source) -> Iterator[str]:
    suffixes = {suffix.lower() for suffix in source.path.suffixes}
    return (name for name, kind in FORMATS.items() if suffixes & set(kind.suffixes))


def refuse_unused(kind: str, options: ReadOptions) -> None:
    """Raise ValueError if an option is set that this format has no use for."""
    useful = {"format", "keep", "named", "directed", *FORMATS[kind].options}
    values = asdict(options).items()
    used = {name for name, value in values if value not in (None, (None, None))}
    if unused := sorted(used - useful):
        words = ", ".join("source, destination" if n == "columns" else n for n in unused)
        raise ValueError(f"format {kind} has no use for the option {words}")
