"""The reader of Pajek's networks.

NetworkX's reader takes the heads of later sections for edges, and joins vertices of one label.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.files.adjacency import check_vertices, frame_of, without_edges
from rapids_tc.files.beside import one_or_each, with_values
from rapids_tc.files.guess import NUMBER
from rapids_tc.files.source import shortened

if TYPE_CHECKING:
    from rapids_tc._typing import Frame
    from rapids_tc.files.source import ReadOptions, Source

_VERTEX = re.compile(r"\s*([0-9]{1,10})(?:\s+(?:\"([^\"]*)\"|(\S+)))?(?:\s.*)?")
_SECTION = re.compile(r"\s*\*\s*(\w+)\s*([0-9]{1,18})?.*")
_ENDS = re.compile(r"\s*([0-9]{1,10})(\s+[0-9]{1,10})+.*")


def read_pajek(source: Source, options: ReadOptions) -> tuple[Frame, np.ndarray, list[str]]:
    """Read the edges, and the vertices without any; labels are the ids if all differ."""
    labels: dict[int, str] = {}
    pairs: list[tuple[int, int]] = []
    directed: list[bool] = []
    weights: list[str | None] = []
    section, sections, n, number = "", set(), 0, 0
    for block in source.blocks("%"):
        for line in block.decode(errors="replace").splitlines():
            number += 1
            if head := _SECTION.fullmatch(line):
                section = head[1].lower()
                sections.add(section)
                if section == "vertices":
                    n = int(head[2] or 0)
                    check_vertices(source, n)
                elif section not in ("network", "arcs", "edges", "arcslist", "edgeslist"):
                    raise source.fault(f"the section *{head[1]} is not read: save *Edges", number)
            elif not line.strip():
                continue
            elif section == "vertices" and (vertex := _VERTEX.fullmatch(line)):
                labels[int(vertex[1])] = vertex[2] or vertex[3] or ""
            elif section != "vertices" and _ENDS.fullmatch(line):
                first, *ends = line.split()
                value = None
                if not section.endswith("list"):
                    value = next(iter(ends[1:]), None)
                    ends = ends[:1]
                pairs += [(int(first), int(end)) for end in ends]
                directed += [section.startswith("arcs")] * len(ends)
                weights += [value] * len(ends)
            else:
                raise source.fault(f"no line of Pajek's {section}: {shortened(line)}", number)
    if sections <= {"network", "vertices"}:
        raise source.fault(
            "no edges: a partition or a vector of Pajek (.clu, .vec) has none; save the network "
            "with its section *Edges or *Arcs"
        )
    src, dst = np.array(pairs, np.int64).reshape(-1, 2).T
    if pairs and not 1 <= min(src.min(), dst.min()) <= max(src.max(), dst.max()) <= n:
        raise source.fault(f"ids run from 1 to {n}, the number behind *Vertices")
    alone = without_edges(src, dst, 1, n)
    names = [labels.get(vertex) for vertex in range(1, n + 1)] if labels else []
    source.directed = one_or_each(np.array(directed)) if directed else None
    if all(names) and len(set(names)) == n:
        ids = np.array(["", *names], object)
        frame, alone = frame_of(ids[src], ids[dst]).astype("str"), ids[alone]
        guess = "ids are labels of vertices"
    else:
        frame, why = frame_of(src, dst), "labels are missing or repeat"
        guess = f"ids are the numbers of vertices: {why if labels else 'there are no labels'}"
    if options.keep:
        frame = with_values(source, options, frame, _values(weights))
    return frame, alone, [guess]


def _values(weights: list[str | None]) -> dict[str, Any]:
    """Return the weights, if a line has one; others have 1 then, as in Pajek."""
    numbers = [w if w is not None and NUMBER.fullmatch(w) else None for w in weights]
    if not any(numbers):
        return {}
    return {"weight": np.array([1.0 if w is None else float(w) for w in numbers])}
