"""Objects that hold edges and are no frames, and the line that makes a frame or a graph of each.

They are refused rather than converted: whether vertices without an edge count, which columns of a
file are read, and in which order rows stand is then seen in the user's own line.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

from rapids_tc.frames.arrays import is_array, is_sparse

ACCEPTED = (
    "a pandas or cuDF DataFrame, a Dask DataFrame of those, a cugraph.Graph, anything with "
    "__arrow_c_stream__ (Polars, PyArrow, DuckDB, narwhals), two arrays (sources, destinations), "
    "an array of the shape (m, 2), a square sparse matrix, or a prepared Graph for the functions"
)
_PAIRS = 'pd.DataFrame({}, columns=["src", "dst"])'


def refusal(edges: Any) -> TypeError:
    """Return the error of edges that are no frame, with the line that makes them one."""
    line = _line(edges)
    write = f"write tc.{line}" if line.startswith("Graph(") else f"give {line}"
    advice = f": {write}" if line else ""
    return TypeError(f"edges is of type {type(edges).__qualname__}{advice}; accepted: {ACCEPTED}")


def is_edge_file(edges: Any) -> bool:
    """Return whether edges are what `rapids_tc.files` has read."""
    return _is(edges, "rapids_tc.files", "EdgeFile")


def _line(edges: Any) -> str:
    """Return the expression that makes a frame, or a graph, of `edges`; empty if none is known."""
    if isinstance(edges, type):
        return ""
    if _is(edges, "networkx", "Graph"):
        return (
            'Graph(nx.to_pandas_edgelist(edges), source="source", destination="target", '
            'vertices=list(edges)), or call NetworkX with backend="rapids_tc"'
        ) + _once(edges.is_directed(), "give edges.to_directed()")
    if _is(edges, "igraph", "Graph"):
        pairs = _PAIRS.format("edges.get_edgelist()")
        once = _once(edges.is_directed(), "give edges.as_directed()")
        return f"Graph({pairs}, vertices=range(edges.vcount())){once}"
    if _is(edges, "networkit", "Graph"):
        once = _once(edges.isDirected(), "add the rows the other way")
        pairs = _PAIRS.format("edges.iterEdges()")
        return f"Graph({pairs}, vertices=list(edges.iterNodes())){once}"
    if is_sparse(edges):
        return (
            "(m.row, m.col) of m = edges.tocoo(), where a row and a column of the same number are "
            "the same vertex"
        )
    if is_edge_file(edges):
        return "edges.frame"
    if _is(edges, "rapids_tc.updates.batches", "Delta"):
        return "the Graph itself, which update has changed: it returns what is different"
    if isinstance(edges, str | os.PathLike):
        path = os.fspath(edges)
        return f"tc.files.read_edges({path!r}).frame, which lists its guesses in .guesses"
    if isinstance(edges, Mapping):
        return "pd.DataFrame(edges)"
    if is_array(edges):
        return _of_array(edges)
    if isinstance(edges, list | tuple):
        if len(edges) == 2 and all(map(is_array, edges)):
            return "tuple(edges)"
        if len(edges) == 2 and all(hasattr(end, "dtype") for end in edges):
            return 'pd.DataFrame({"src": edges[0], "dst": edges[1]})'
        if _is_two_columns(edges):
            return "tuple(map(np.asarray, edges)), if each part is a column"
        return _PAIRS.format("edges")
    if type(edges).__name__ in {"DataFrameGroupBy", "GroupBy", "GroupedData", "LazyGroupBy"}:
        return "the frame that was grouped, and the columns of its groups as by="
    return _by_method(edges)


def _is_two_columns(edges: list[Any] | tuple[Any, ...]) -> bool:
    """Return whether two lists in a list are rather the columns of edges than two edges."""
    if len(edges) != 2 or not all(isinstance(part, list | tuple | range) for part in edges):
        return False
    if any(isinstance(value, str) for part in edges for value in part):
        return False  # arrays take no text
    of_lists = isinstance(edges, tuple) and not any(isinstance(part, tuple) for part in edges)
    return of_lists or any(len(part) != 2 for part in edges)


def _once(directed: bool, advice: str) -> str:  # noqa: FBT001
    """Return what to add to a line that would give edges without a direction one row."""
    return "" if directed else f", which has each edge once: for directed=True, {advice}"


def _of_array(edges: Any) -> str:
    """Return what to give in place of an array that is not of the shape (m, 2)."""
    shape = tuple(edges.shape)
    if getattr(edges.dtype, "names", None):  # a record per row
        return "pd.DataFrame(edges)"
    if len(shape) != 2:
        return ""
    if str(getattr(edges, "layout", "")).startswith("torch.sparse"):
        return "edge_index=edges.to_sparse_coo().coalesce().indices() in place of edges"
    if shape == (2, 2):
        return (
            "(edges[:, 0], edges[:, 1]), if a row is an edge, and else edge_index=edges, "
            "in place of edges, if a column is one"
        )
    if shape[0] == 2:
        return "edges.T, or edge_index=edges in place of edges, if each column is an edge"
    if shape[0] == shape[1]:
        return "scipy.sparse.coo_array(edges), if it is an adjacency matrix"
    return "edges[:, :2], if the first two columns are the ids"


def _by_method(edges: Any) -> str:
    """Return the conversion that a frame of another library has as a method."""
    for method in ("to_pandas", "toPandas", "to_arrow", "toArrow", "_to_pandas"):
        if hasattr(type(edges), method) and hasattr(type(edges), "columns"):
            return f"edges.{method}()"
    return ""


def _is(value: Any, library: str, name: str) -> bool:
    module = sys.modules.get(library)
    return module is not None and isinstance(value, getattr(module, name, ()))
