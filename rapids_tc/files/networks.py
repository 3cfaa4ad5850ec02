"""Readers of GraphML, GML, GEXF, graph6, sparse6 and node-link JSON, by NetworkX."""

from __future__ import annotations

import io
import json
import re
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.files.adjacency import frame_of
from rapids_tc.files.source import Stream, shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from rapids_tc.files.source import Options, Source

    Answer = tuple[Any, np.ndarray, list[str]]

_TEXT_BYTES = 10  # of memory for a byte of such a file: NetworkX makes objects of all that is in it


def read_graphml(source: Source, options: Options) -> Answer:
    """Read the edges of a GraphML file, and the vertices without any."""
    return _read(source, lambda nx, file: nx.read_graphml(file))


def read_gexf(source: Source, options: Options) -> Answer:
    """Read the edges of a GEXF file, and the vertices without any."""
    return _read(source, lambda nx, file: nx.read_gexf(file))


def read_gml(source: Source, options: Options) -> Answer:
    """Read the edges of a GML file; labels are the ids if all differ, else the numbers are."""
    guesses = []

    def graph(nx: Any, file: Any) -> Any:
        # GML is ASCII with numbers for other characters; many files are not.
        text = file.read().decode(errors="replace").encode("ascii", "xmlcharrefreplace").decode()
        if not re.search(r"\bmultigraph\b", text):  # else a repeated edge is an error
            text = re.sub(r"\bgraph\s*\[", "graph [ multigraph 1", text, count=1)
        try:
            return nx.parse_gml(text.splitlines())
        except nx.NetworkXError as error:
            if "label" not in str(error):
                raise
            guesses.append("ids are the numbers of vertices: labels are missing or repeat")
            return nx.parse_gml(text.splitlines(), label="id")

    frame, alone, _ = _read(source, graph)
    return frame, alone, guesses


def read_graph6(source: Source, options: Options) -> Answer:
    """Read the edges of the one graph of a graph6 file; its vertices are numbered from 0."""
    return _read(source, lambda nx, file: nx.from_graph6_bytes(_only_line(file)))


def read_sparse6(source: Source, options: Options) -> Answer:
    """Read the edges of the one graph of a sparse6 file; its vertices are numbered from 0."""
    return _read(source, lambda nx, file: nx.from_sparse6_bytes(_only_line(file)))


def read_json(source: Source, options: Options) -> Answer:
    """Read the edges of node-link JSON, as NetworkX and D3 write it, under either name."""

    def graph(nx: Any, file: Any) -> Any:
        data = json.load(file)
        edges = next((name for name in ("links", "edges") if name in data), None)
        if edges is None or not isinstance(data.get("nodes"), list):
            raise ValueError('expected node-link JSON, {"nodes": [...], "links": [...]}')
        return nx.node_link_graph(data, edges=edges)

    return _read(source, graph)


def _read(source: Source, graph: Callable[[Any, Any], Any]) -> Answer:
    """Return the edges of what NetworkX reads; what it cannot read is an EdgeFileError."""
    try:
        nx = import_module("networkx")
    except ImportError as error:
        raise source.fault(
            'this format needs NetworkX: pip install "rapids_tc[networkx]"'
        ) from error
    source.require("the file takes", _TEXT_BYTES * sum(map(len, source.blocks(""))))
    try:
        read = graph(nx, io.BufferedReader(Stream(source.blocks(""))))
    except (MemoryError, OSError):
        raise
    except Exception as error:  # NetworkX and parsers of XML raise many, also IndexError
        raise source.fault(f"{shortened(str(error) or type(error).__name__)}"[:200]) from error
    edges = list(read.edges())
    src, dst = ([edge[side] for edge in edges] for side in (0, 1))
    alone = [node for node, degree in read.degree() if degree == 0]
    convert = _common_type(read)
    return frame_of(convert(src), convert(dst)), convert(alone), []


def _common_type(nodes: Iterable[Any]) -> Callable[[list[Any]], Any]:
    """Return what makes an array of ids: integers if all ids are, else text."""
    import pandas as pd

    if all(type(node) is int and -(2**63) <= node < 2**63 for node in nodes):
        return lambda ids: np.array(ids, np.int64)
    return lambda ids: pd.array([str(node) for node in ids], dtype="str")


def _only_line(file: Any) -> bytes:
    """Return the line of the one graph."""
    lines: list[bytes] = [line.strip() for line in file.read().splitlines() if line.strip()]
    if len(lines) != 1:
        raise ValueError(f"{len(lines)} graphs: split the file, one graph is read")
    return lines[0]
