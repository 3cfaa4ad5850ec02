"""The reader of MatrixMarket: coordinates by our reader of text, dense matrices by SciPy."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.files.adjacency import check_vertices, frame_of, without_edges
from rapids_tc.files.beside import read_numbers, with_values
from rapids_tc.files.guess import BLANKS
from rapids_tc.files.lines import LineFormat, parse
from rapids_tc.files.source import Stream, shortened

if TYPE_CHECKING:
    from rapids_tc.files.source import ReadOptions, Source

Frame = Any  # pandas.DataFrame
Array = Any  # numpy.ndarray

_SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")
_PARTS = ("weight", "imaginary")  # of a value, which may be complex
_DENSE_BYTES = 24  # of an entry: its value, and in a mask and places of entries that are not 0


def read_matrix_market(source: Source, options: ReadOptions) -> tuple[Frame, Array, list[str]]:
    """Read the edges, the vertices without any, and the guesses. Every stored entry is an edge."""
    head = source.head().decode(errors="replace").splitlines()
    kind = head[0].lower().lstrip("%").split() if head else []
    if kind[:3] == ["matrixmarket", "matrix", "array"]:
        return _read_dense(source, options)
    if kind[:3] != ["matrixmarket", "matrix", "coordinate"]:
        wrong_line = shortened(head[0] if head else "")
        raise source.fault(f"only a coordinate or an array matrix is a graph, not {wrong_line}", 1)
    guesses = []
    sizes = next(iter(source.sample("%")), "")
    skip_first = len(sizes.split()) == 3
    if not skip_first:
        # Some published files have the size line behind a comment mark.
        behind_marks = [line[1:] for line in head if re.fullmatch(r"%(\s*[0-9]+){3}\s*", line)]
        sizes = behind_marks[0] if behind_marks else sizes
        guesses.append(f"the size line is behind a comment mark: {shortened(sizes)}")
    if not re.fullmatch(r"\s*[0-9]{1,18}(\s+[0-9]{1,18}){2}\s*", sizes):
        raise source.fault(f"expected a size line (rows columns entries), not {shortened(sizes)}")
    n, columns, entries = map(int, sizes.split())
    if n != columns:
        raise source.fault(f"{n} rows and {columns} columns are no adjacency matrix")
    check_vertices(source, n)
    lines = LineFormat("%", BLANKS, skip_first)
    frame = parse(source, lines)
    if len(frame) != entries:
        raise source.fault(f"the size line says {entries:,} entries, the file has {len(frame):,}")
    src, dst = frame["src"].to_numpy(), frame["dst"].to_numpy()
    if entries and not 1 <= min(src.min(), dst.min()) <= max(src.max(), dst.max()) <= n:

        def wrong(line: str) -> str:
            inside = all(1 <= int(field) <= n for field in line.split()[:2])
            return "" if inside else f"ids run from 1 to {n}"

        raise source.locate("%", wrong, skip_first=skip_first)
    alone = without_edges(src, dst, 1, n)
    kinds = {word: word == "general" for word in kind[3:] if word in _SYMMETRIES}
    source.directed = next(iter(kinds.values()), None)
    if options.keep:
        if options.directed and kinds.keys() & {"hermitian", "skew-symmetric"}:
            raise source.fault(
                "an entry of this matrix has another value in the other direction: save it as "
                "general to read values with directed=True"
            )
        names = () if "pattern" in kind else _PARTS if "complex" in kind else _PARTS[:1]
        values = read_numbers(source, lines, names, len(frame))
        frame = with_values(source, options, frame, values)
    return frame, alone, guesses


def _read_dense(source: Source, options: ReadOptions) -> tuple[Frame, Array, list[str]]:
    """Read a dense matrix, whose entries other than 0 are edges."""
    try:
        from scipy.io import mmread
    except ImportError as error:
        raise source.fault("a dense matrix needs SciPy: pip install scipy") from error
    sizes = next(iter(source.sample("%")), "")
    if not re.fullmatch(r"\s*[0-9]{1,9}\s+[0-9]{1,9}\s*", sizes):
        raise source.fault(f"expected a size line (rows columns), not {shortened(sizes)}")
    n, columns = map(int, sizes.split())
    if n != columns:
        raise source.fault(f"{n} rows and {columns} columns are no adjacency matrix")
    source.claim(f"{n:,} x {n:,} entries", _DENSE_BYTES * n * n)
    try:
        matrix = mmread(io.BufferedReader(Stream(source.blocks(""))))
    except (ValueError, OverflowError) as error:
        raise source.fault(str(error)) from error
    places = np.nonzero(matrix)
    src, dst = (ends + 1 for ends in places)
    frame, alone = frame_of(src, dst), without_edges(src, dst, 1, n)
    source.directed = True  # entries of symmetric matrices are there twice
    if options.keep:
        frame = with_values(source, options, frame, {"weight": matrix[places]})
    return frame, alone, []
