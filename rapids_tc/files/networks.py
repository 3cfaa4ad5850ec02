"""Readers of GML, graph6 and sparse6, by NetworkX, of digraph6, and of JSON."""

from __future__ import annotations

import io
import json
import re
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.files.elements import Elements, require_memory
from rapids_tc.files.source import Stream, shortened

if TYPE_CHECKING:
    from collections.abc import Callable

    from rapids_tc.files.source import ReadOptions, Source

    Answer = tuple[Any, np.ndarray, list[str]]

_JSON = (
    '{"nodes": [{"id": ...}], "links": [{"source": ..., "target": ...}]} is read, as NetworkX, D3, '
    "graphology and Cytoscape.js write it"
)


def read_gml(source: Source, options: ReadOptions) -> Answer:
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

    frame, alone, _ = _read(source, options, "GML", graph)
    return frame, alone, guesses


def read_graph6(source: Source, options: ReadOptions) -> Answer:
    """Read the edges of the one graph of a graph6 or digraph6 file, numbered from 0."""

    def graph(nx: Any, file: Any) -> Any:
        line = _only_line(file).removeprefix(b">>digraph6<<")
        return _digraph(nx, line[1:]) if line[:1] == b"&" else nx.from_graph6_bytes(line)

    return _read(source, options, "graph6", graph)


def read_sparse6(source: Source, options: ReadOptions) -> Answer:
    """Read the edges of the one graph of a sparse6 file; its vertices are numbered from 0."""
    return _read(
        source, options, "sparse6", lambda nx, file: nx.from_sparse6_bytes(_only_line(file))
    )


def _digraph(nx: Any, line: bytes) -> Any:
    """Return the graph of a matrix of bits, six in a character, row after row."""
    n, codes = nx.readwrite.graph6.data_to_n([code - 63 for code in line])
    bits = np.unpackbits(np.array(codes, np.uint8)[:, None] * np.uint8(4), axis=1)[:, :6]
    matrix = bits.ravel()[: n * n].reshape(n, n)
    return nx.from_numpy_array(matrix, create_using=nx.DiGraph)


def _read(
    source: Source, options: ReadOptions, kind: str, graph: Callable[[Any, Any], Any]
) -> Answer:
    """Return the edges of what NetworkX reads; what it cannot read is an EdgeFileError."""
    try:
        nx = import_module("networkx")
    except ImportError as error:
        raise source.fault(
            'this format needs NetworkX: pip install "rapids_tc[networkx]"'
        ) from error
    require_memory(source)
    try:
        read = graph(nx, io.BufferedReader(Stream(source.blocks(""))))
    except (MemoryError, OSError):
        raise
    except Exception as error:  # NetworkX raises many, also IndexError
        why = shortened(f"{type(error).__name__}: {error}"[:200])
        raise source.fault(
            f"this {kind} cannot be read by NetworkX, which says {why}; mend the file, or save the "
            "graph as GraphML or as text of two ids a line"
        ) from error
    found = Elements(nodes=list(read))
    for *ends, values in read.edges(data=True):
        found.add((ends[0], ends[1]), values, directed=read.is_directed())
    return found.answer(source, options)


def _only_line(file: Any) -> bytes:
    """Return the line of the one graph."""
    lines: list[bytes] = [line.strip() for line in file.read().splitlines() if line.strip()]
    if len(lines) != 1:
        raise ValueError(f"{len(lines)} graphs: split the file, one graph is read")
    return lines[0]


# JSON ---------------------------------------------------------------------------------------------


def read_json(source: Source, options: ReadOptions) -> Answer:
    """Read the edges of JSON with lists of nodes and of links, or edges.

    A node is called by its ``id``, or ``key``; without either in any node by its place in the list.
    """
    require_memory(source)
    try:
        data = json.loads(b"".join(source.blocks("")))
    except (ValueError, RecursionError) as error:
        raise source.fault(
            f"no JSON that can be read, the file may be cut short: {error}"
        ) from error
    nested = "elements" in data  # Cytoscape.js: each is {"data": {...}}
    data = _dict(data, "elements") if nested else data
    lists = data.get("nodes"), data.get("links", data.get("edges"))
    items: list[list[Any]] = [each if isinstance(each, list) else [None] for each in lists]
    if nested:
        items = [[_dict(item, "data") or None for item in each] for each in items]
    if not all(isinstance(item, dict) for each in items for item in each):
        raise source.fault(f"JSON of another kind: {_JSON}")
    nodes, links = items
    found = Elements(nodes=_nodes(source, nodes))
    default = _direction(data)
    for number, link in enumerate(links, 1):
        values = {**link, **_dict(link, "attributes")}
        if "source" not in link or "target" not in link:
            raise source.fault(f"link {number} has no source or no target: {_JSON}")
        ends = _id(values.pop("source")), _id(values.pop("target"))
        directed = link.get("directed", default)
        directed = not link["undirected"] if "undirected" in link else directed
        found.add(ends, values, directed=directed)
    return found.answer(source, options)


def _direction(data: dict[str, Any]) -> bool | None:
    """Return whether edges have a direction, if the head of the file says it."""
    kinds = {"directed": True, "mixed": True, "undirected": False}  # graphology
    said = data.get("directed")
    default = said if isinstance(said, bool) else None
    return kinds.get(str(_dict(data, "options").get("type")), default)


def _dict(item: Any, name: str) -> dict[str, Any]:
    value = item.get(name) if isinstance(item, dict) else None
    return value if isinstance(value, dict) else {}


def _nodes(source: Source, nodes: list[dict[str, Any]]) -> list[Any]:
    """Return the ids of nodes."""
    key = next((key for key in ("id", "key") if any(key in node for node in nodes)), None)
    if key is None:
        return list(range(len(nodes)))
    ids = [_id(node.get(key)) for node in nodes]
    if None in ids:
        raise source.fault(f"node {ids.index(None) + 1} has no {key!r}, which others have")
    return ids


def _id(value: Any) -> Any:
    """Return an id that can be looked up: a list as a tuple, as NetworkX does."""
    if isinstance(value, list):
        return tuple(map(_id, value))
    return json.dumps(value) if isinstance(value, dict) else value
