"""The reader of DIMACS: graphs to color (``e u v``) and to find paths in (``a u v length``)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rapids_tc.files.adjacency import check_vertices, without_edges
from rapids_tc.files.beside import read_numbers, with_values
from rapids_tc.files.guess import BLANKS
from rapids_tc.files.lines import LineFormat, parse
from rapids_tc.files.source import shortened

if TYPE_CHECKING:
    import numpy as np

    from rapids_tc._typing import Frame
    from rapids_tc.files.source import ReadOptions, Source

_PROBLEM = re.compile(r"p\s+[a-z]+\s+([0-9]{1,18})\s+([0-9]{1,18})\s*", re.I)
_BESIDE = "cpndvx"  # first letters of lines that are no edges: comments, sizes, nodes


def read_dimacs(source: Source, options: ReadOptions) -> tuple[Frame, np.ndarray, list[str]]:
    """Read the edges, and the vertices from 1 to n without any."""
    problem = next(iter(source.sample("c")), "")
    if (sizes := _PROBLEM.fullmatch(problem)) is None:
        raise source.fault(f"expected the line 'p edge vertices edges', not {shortened(problem)}")
    n, edges = map(int, sizes.groups())
    check_vertices(source, n)
    lines = LineFormat(_BESIDE, BLANKS, columns=(1, 2))
    frame = parse(source, lines)
    if len(frame) not in (edges, 2 * edges, edges // 2):  # some files count both directions
        raise source.fault(f"line p says {edges:,} edges, the file has {len(frame):,}")
    src, dst = frame["src"].to_numpy(), frame["dst"].to_numpy()
    if len(frame) and not 1 <= min(src.min(), dst.min()) <= max(src.max(), dst.max()) <= n:
        raise source.fault(f"ids must run from 1 to {n}")
    alone = without_edges(src, dst, 1, n)
    first = next(iter(source.sample(_BESIDE)), "").split()
    source.directed = first[:1] == ["a"]  # arcs; e is an edge
    if options.keep:
        names = ["weight"] * (len(first) > len("euv"))
        frame = with_values(source, options, frame, read_numbers(source, lines, names, len(frame)))
    return frame, alone, []
