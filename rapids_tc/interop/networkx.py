"""NetworkX's calls, answered by rapids_tc: the backend ``rapids_tc`` of NetworkX's dispatcher.

``nx.triangles(G, backend="rapids_tc")``, or ``nx.config.backend_priority.algos = ["rapids_tc"]``
for every call; ``engine="cuda"``, or ``nx.config.backends.rapids_tc.engine = "cuda"``, counts on a
card. Answers have NetworkX's types and order. NetworkX keeps the converted graph with its own, so
that further questions are asked of a prepared one.

What is not served (directed graphs, multigraphs, negative weights) is told by `can_run`, or by
NotImplementedError where only the data can tell, and NetworkX goes on by its own rules.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from inspect import signature
from numbers import Integral
from typing import Any

import networkx as nx
import numpy as np

import rapids_tc as tc
from rapids_tc.interop._networkx_graph import ConvertedGraph
from rapids_tc.interop._networkx_info import FUNCTIONS

SMALL = 2000  # edges, below which NetworkX has answered before a graph is converted
FEW = 25  # one node in so many, below which NetworkX is done sooner than a whole graph
ROWS = 1 << 22  # triangles looked at together

_log = logging.getLogger("rapids_tc")


# NetworkX's protocol ------------------------------------------------------------------------------


def convert_from_nx(
    graph: Any,
    *,
    edge_attrs: dict[Any, Any] | None = None,
    node_attrs: dict[Any, Any] | None = None,
    preserve_edge_attrs: bool = False,
    preserve_node_attrs: bool = False,
    preserve_graph_attrs: bool = False,
    name: str | None = None,
    graph_name: str | None = None,
) -> ConvertedGraph:
    """Convert a NetworkX graph; its attributes are referred to, not copied.

    That of a view is not kept: NetworkX would not drop it when the graph below changes.
    """
    if _is_view(graph):
        graph.__networkx_cache__ = None  # NetworkX's way to say so
    edge_data = bool(edge_attrs) or preserve_edge_attrs
    if reason := _not_served(graph, edge_data):
        raise NotImplementedError(reason)
    converted = ConvertedGraph(graph, edge_data, bool(node_attrs) or preserve_node_attrs)
    if _is_view(graph) and not converted.symmetric:
        raise NotImplementedError("the view has edges in one direction alone: mind its filter")
    return converted


def convert_to_nx(result: Any, *, name: str | None = None) -> Any:
    """Convert a graph of ours back; anything else is NetworkX's already."""
    if not isinstance(result, ConvertedGraph):
        return result
    return result.subgraph(np.ones(len(result), bool), result.src <= result.dst)


def can_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Whether a call can be served; if not, why."""
    if name not in FUNCTIONS:
        return "rapids_tc has no such function"
    try:
        call = signature(globals()[name]).bind(*args, **kwargs).arguments
    except TypeError as error:
        return f"{name}: {error}"
    if callable(call.get("weight")):
        return "weight= is a function: rapids_tc takes the name of an attribute"
    if not isinstance(call.get("k", 0), Integral):
        return f"k={call['k']!r} is not an integer"
    edge_data = name == "k_truss" or call.get("weight") is not None
    return _not_served(call["G"], edge_data) or True


def should_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Whether a graph is worth converting for this call; if not, why."""
    call = signature(globals()[name]).bind(*args, **kwargs).arguments
    graph, nodes = call["G"], call.get("nodes", call.get("nbunch"))
    if (getattr(graph, "__networkx_cache__", None) or {}).get("backends", {}).get("rapids_tc"):
        return True
    if graph.number_of_edges() < SMALL:
        return f"fewer than {SMALL} edges: NetworkX has answered before they are converted"
    one = nodes in graph or not hasattr(nodes, "__len__")
    if nodes is not None and (1 if one else len(nodes)) * FEW < len(graph):
        return "few nodes are asked for: NetworkX looks at their neighbours alone"
    return True


def _is_view(graph: Any) -> bool:
    """Whether the edges are those of another graph, as NetworkX marks it."""
    return hasattr(graph, "_graph")


def _not_served(graph: Any, edge_data: bool) -> str:
    if isinstance(graph, ConvertedGraph):
        return ""
    if not isinstance(graph, nx.Graph):
        return f"a {type(graph).__name__} is no graph of NetworkX"
    if graph.is_directed():
        return "the graph is directed: rapids_tc counts triangles of undirected graphs"
    if graph.is_multigraph():
        return "the graph is a multigraph: rapids_tc counts triangles of simple graphs"
    while _is_view(graph):
        graph = graph._graph
    if edge_data and graph.is_directed():
        return "a view of a directed graph: an edge may have other attributes each way"
    return ""


# The functions ------------------------------------------------------------------------------------


def triangles(G: Any, nodes: Any = None, *, engine: str | None = None) -> Any:
    """``networkx.triangles``."""
    counts = tc.vertex_triangles(G.prepared(engine))["triangles"]
    return _at(G, nodes, counts.tolist())


def clustering(G: Any, nodes: Any = None, weight: Any = None, *, engine: str | None = None) -> Any:
    """``networkx.clustering``."""
    if weight is None:
        values = tc.clustering(G.prepared(engine))["clustering"]
    else:
        graph, share = G.weighted(engine, weight)
        values = share * tc.clustering(graph, weight="weight")["clustering"]
    return _at(G, nodes, [value or 0 for value in values.tolist()])  # 0, not 0.0: as NetworkX


def average_clustering(
    G: Any,
    nodes: Any = None,
    weight: Any = None,
    count_zeros: bool = True,
    *,
    engine: str | None = None,
) -> float:
    """``networkx.average_clustering``."""
    values = clustering(G, nodes, weight, engine=engine).values()
    chosen = values if count_zeros else [value for value in values if value]
    return sum(chosen) / len(chosen)


def transitivity(G: Any, *, engine: str | None = None) -> float:
    """``networkx.transitivity``."""
    return tc.transitivity(G.prepared(engine)) or 0  # 0, not 0.0: as NetworkX


def generalized_degree(G: Any, nodes: Any = None, *, engine: str | None = None) -> Any:
    """``networkx.generalized_degree``; in a Counter the multiplicities ascend."""
    edges = G.frame()
    edges["triangles"] = tc.edge_triangles(G.prepared(engine)).to_numpy()
    edges = edges[edges["src"] != edges["dst"]]
    most = int(edges["triangles"].max()) + 1 if len(edges) else 1
    ends = np.concatenate([edges["src"], edges["dst"]])
    keys, sides = np.unique(ends * most + np.tile(edges["triangles"], 2), return_counts=True)
    degrees: list[Counter[int]] = [Counter() for _ in G.nodes]
    for key, many in zip(keys.tolist(), sides.tolist(), strict=True):
        degrees[key // most][key % most] = many
    return _at(G, nodes, degrees)


def all_triangles(G: Any, nbunch: Any = None, *, engine: str | None = None) -> Iterator[Any]:
    """``networkx.all_triangles``; the last corners in the order of nodes, where it has a set's.

    All are made when the first is asked for.
    """
    chosen = None if nbunch is None else list(G.nbunch_iter(nbunch))
    graph, nodes = G.prepared(engine), G.nodes
    try:
        if chosen is None:
            place, corners = np.arange(len(G)), tc.list_triangles(graph).to_numpy()
        else:
            place, first = _places(G, chosen)
            frames = (frame.to_numpy() for frame in tc.iter_triangles(graph, rows=ROWS))
            parts = [part[(place[part] < first).any(axis=1)] for part in frames]
            corners = np.concatenate([np.zeros((0, 3), np.int64), *parts])
    except tc.CapacityError as error:  # too late to leave the call to NetworkX
        _log.warning("%s. NetworkX makes them one by one", error)
        yield from nx.all_triangles.orig_func(G.bare(), chosen)
        return
    corners = np.take_along_axis(corners, np.argsort(place[corners], axis=1), axis=1)
    u, v, w = corners.T
    rows = corners[np.lexsort((w, G.places(u, v), place[u]))].tolist()
    yield from ((nodes[u], nodes[v], nodes[w]) for u, v, w in rows)


def k_truss(G: Any, k: int, *, engine: str | None = None) -> nx.Graph:
    """``networkx.k_truss``."""
    if G.loops:
        raise nx.NetworkXNotImplemented(
            "Input graph has self loops which is not permitted; "
            "Consider using G.remove_edges_from(nx.selfloop_edges(G))."
        )
    kept, ends = np.zeros(len(G.src), bool), np.zeros(len(G), bool)
    kept[tc.k_truss(G.prepared(engine), max(int(k), 2)).index] = True
    ends[G.src[kept]] = ends[G.dst[kept]] = True
    return G.subgraph(ends, kept)


def _at(G: ConvertedGraph, nodes: Any, values: list[Any]) -> Any:
    """Of the values of all nodes those asked for: a dict, or the one of a single node."""
    if nodes is None:
        return dict(zip(G.nodes, values, strict=True))
    if nodes in G:
        return values[G.index[nodes]]
    return {node: values[G.index[node]] for node in G.nbunch_iter(nodes)}


def _places(G: ConvertedGraph, nbunch: list[Any]) -> tuple[np.ndarray, int]:
    """The place of each node in NetworkX's order of corners: first those asked for, how many."""
    chosen = [G.index[node] for node in dict.fromkeys(nbunch)]
    place = np.full(len(G), len(G) + len(G.src))
    starts = np.searchsorted(G.src, np.arange(len(G) + 1))
    rows = [G.dst[starts[i] : starts[i + 1]] for i in chosen]
    near = np.concatenate([np.zeros(0, np.int64), *rows])
    near = near[~np.isin(near, chosen)]
    place[near] = len(chosen) + np.arange(len(near))  # the last of repeats, as in a dict
    place[chosen] = np.arange(len(chosen))
    return place, len(chosen)
