"""The backend ``rapids_tc`` of NetworkX's dispatcher: rapids_tc answers calls of NetworkX.

``nx.triangles(G, backend="rapids_tc")``, or ``nx.config.backend_priority.algos = ["rapids_tc"]``
for every call; ``engine="cuda"``, or ``nx.config.backends.rapids_tc.engine = "cuda"``, counts on a
GPU. Answers have NetworkX's types and order. NetworkX keeps the converted graph beside its own, so
that further calls use a prepared graph.

Multigraphs and negative weights are not served, and directed graphs only by the functions of
`DIRECTED`: `can_run` says so, or NotImplementedError if only the data can show it, and NetworkX
continues by its own rules.
"""

from __future__ import annotations

import logging
from collections import Counter
from inspect import signature
from numbers import Integral
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np

import rapids_tc as tc
from rapids_tc.interop._networkx_bipartite import (  # noqa: F401  NetworkX finds them by name
    bipartite_average_clustering,
    butterflies,
    latapy_clustering,
    robins_alexander_clustering,
    weighted_projected_graph,
)
from rapids_tc.interop._networkx_graph import ConvertedGraph
from rapids_tc.interop._networkx_info import DIRECTED, FUNCTIONS
from rapids_tc.interop._networkx_pairs import (  # noqa: F401  NetworkX finds them here by name
    PAIRS,
    adamic_adar_index,
    jaccard_coefficient,
    resource_allocation_index,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rapids_tc._typing import EngineName, Label

SMALL = 2000  # edges: NetworkX answers about fewer before the graph is converted
FEW = 25  # if less than one node in 25 is asked for, NetworkX is faster than a whole graph

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

    A converted view is not cached: NetworkX would not drop it when the graph below changes.
    """
    if _is_view(graph):
        graph.__networkx_cache__ = None  # NetworkX takes this as "do not cache"
    edge_data = bool(edge_attrs) or preserve_edge_attrs
    if reason := _not_served(graph, edge_data=edge_data):
        raise NotImplementedError(reason)
    converted = ConvertedGraph(graph, edge_data=edge_data)
    if _is_view(graph) and not converted.symmetric:
        raise NotImplementedError("the view has edges in one direction alone: mind its filter")
    return converted


def convert_to_nx(result: Any, *, name: str | None = None) -> Any:
    """Convert a `ConvertedGraph` back; any other result has a type of NetworkX already."""
    if not isinstance(result, ConvertedGraph):
        return result
    return result.subgraph(np.ones(len(result), bool), result.once)


def can_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Return True if a call can be served, or the reason why not."""
    if name not in FUNCTIONS:
        return "rapids_tc has no such function"
    try:
        call = signature(globals()[name]).bind(*args, **kwargs).arguments
    except TypeError as error:
        return f"{name}: {error}"
    if callable(call.get("weight")):
        return "weight= is a function: rapids_tc takes the name of an attribute"
    if name == "local_bridges" and call.get("with_span", True) is True:
        return "with_span=True is left to NetworkX: rapids_tc finds bridges without their spans"
    if not isinstance(call.get("k", 0), Integral):
        return f"k={call['k']!r} is not an integer"
    edge_data = name == "k_truss" or call.get("weight") is not None
    if name in PAIRS and not hasattr(call.get("ebunch"), "__len__"):
        return "without a list of pairs, ebunch= is left to NetworkX"
    graph = _graph_of(call)
    if reason := _not_served(graph, edge_data=edge_data):
        return reason
    if graph.is_directed() and name not in DIRECTED:
        return f"the graph is directed: rapids_tc has no {name} of directed graphs"
    of_ties = graph.is_directed() or call.get("weight") is not None
    if name == "effective_size" and of_ties and call.get("nodes") is None:
        return (
            "weights and directions of all nodes are left to NetworkX, whose answer then is not "
            "that of each node"
        )
    return True


def should_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Return True if a graph is worth converting for a call, or the reason why not."""
    call = signature(globals()[name]).bind(*args, **kwargs).arguments
    graph = _graph_of(call)
    choices: tuple[str, ...] = ("nodes", "nbunch", "nodelist", "ebunch")
    if name == "weighted_projected_graph":
        choices = ()  # its nodes are a side, of which all edges are read
    nodes = next((call[choice] for choice in choices if choice in call), None)
    cache = (getattr(graph, "__networkx_cache__", None) or {}).get("backends", {})
    if any(converted is not None for converted in cache.get("rapids_tc", {}).values()):
        return True
    if graph.number_of_edges() < SMALL:
        return f"fewer than {SMALL} edges: NetworkX has answered before they are converted"
    single = nodes in graph or not hasattr(nodes, "__len__")
    if nodes is not None and (1 if single else len(nodes)) * FEW < len(graph):
        what = "pairs" if name in PAIRS else "nodes"
        return f"few {what} are asked for: NetworkX looks at their neighbors alone"
    return True


def _graph_of(call: dict[str, Any]) -> Any:
    """Return the graph among the arguments of a call: NetworkX names it G, or B if bipartite."""
    return call["G"] if "G" in call else call["B"]


def _is_view(graph: Any) -> bool:
    """Return whether a graph shows the edges of another graph: NetworkX gives it `_graph`."""
    return hasattr(graph, "_graph")


def _not_served(graph: Any, *, edge_data: bool) -> str:
    """Say why a graph cannot be served; return an empty text if it can."""
    if isinstance(graph, ConvertedGraph):
        return ""
    if not isinstance(graph, nx.Graph):
        return f"a {type(graph).__name__} is no graph of NetworkX"
    if graph.is_multigraph():
        return "the graph is a multigraph: rapids_tc counts triangles of simple graphs"
    directed = graph.is_directed()
    while _is_view(graph):
        graph = graph._graph
    if edge_data and graph.is_directed() and not directed:
        return "a view of a directed graph: an edge may have other attributes each way"
    return ""


# The functions ------------------------------------------------------------------------------------


def triangles(G: nx.Graph, nodes: Any = None, *, engine: EngineName | None = None) -> Any:
    """Answer ``networkx.triangles``."""
    counts = tc.vertex_triangles(G.prepared(engine))["triangles"]
    return _at(G, nodes, counts.tolist())


def clustering(
    G: nx.Graph, nodes: Any = None, weight: Label | None = None, *, engine: EngineName | None = None
) -> Any:
    """Answer ``networkx.clustering``."""
    if weight is None:
        values = tc.clustering(G.prepared(engine), directed=G.directed)["clustering"]
    else:
        graph, ratio = G.weighted(engine, weight)
        shares = tc.clustering(graph, weight="weight", directed=G.directed)
        values = ratio * shares["clustering"]
    return _at(G, nodes, [value or 0 for value in values.tolist()])  # 0, not 0.0, as in NetworkX


def square_clustering(G: nx.Graph, nodes: Any = None, *, engine: EngineName | None = None) -> Any:
    """Answer ``networkx.square_clustering``."""
    columns = tc.annotate_vertices(G.prepared(engine), "square_clustering", "triangles")
    values, degrees, beside = columns["square_clustering"].tolist(), G.degrees, G.src != G.dst
    walks = np.bincount(G.src[beside], (degrees - 1)[G.dst[beside]], minlength=len(G))
    # Where no square could close, NetworkX has 0, not 0.0.
    possible = (degrees - 1) * walks - 2 * columns["triangles"].to_numpy() > 0
    pairs = zip(values, possible.tolist(), strict=True)
    return _at(G, nodes, [value if any_square else 0 for value, any_square in pairs])


def average_clustering(
    G: nx.Graph,
    nodes: Any = None,
    weight: Label | None = None,
    count_zeros: bool = True,
    *,
    engine: EngineName | None = None,
) -> float:
    """Answer ``networkx.average_clustering``."""
    values: list[float] = [*clustering(G, nodes, weight, engine=engine).values()]
    if not count_zeros:
        values = [value for value in values if value]
    return sum(values) / len(values)


def transitivity(G: nx.Graph, *, engine: EngineName | None = None) -> float:
    """Answer ``networkx.transitivity``."""
    closed = tc.transitivity(G.prepared(engine), directed=G.directed)
    return closed or 0  # 0, not 0.0, as in NetworkX


def triadic_census(
    G: nx.Graph, nodelist: Any = None, *, engine: EngineName | None = None
) -> dict[str, int]:
    """Answer ``networkx.triadic_census``."""
    chosen = None if nodelist is None else {G.index[node] for node in G.nbunch_iter(nodelist)}
    if chosen is not None and len(nodelist) != len(chosen):
        raise ValueError("nodelist includes duplicate nodes or nodes not in G")
    vertices = None if chosen is None else sorted(chosen)
    counts = tc.triad_counts(G.prepared(engine), vertices=vertices, directed=True)
    return dict(zip(counts["triad"], counts["count"].tolist(), strict=True))


def generalized_degree(G: nx.Graph, nodes: Any = None, *, engine: EngineName | None = None) -> Any:
    """Answer ``networkx.generalized_degree``; the keys of each Counter ascend."""
    edges = G.frame()
    edges["triangles"] = tc.edge_triangles(G.prepared(engine)).to_numpy()
    edges = edges[edges["src"] != edges["dst"]]
    bound = int(edges["triangles"].max()) + 1 if len(edges) else 1
    ends = np.concatenate([edges["src"], edges["dst"]])
    keys, sides = np.unique(ends * bound + np.tile(edges["triangles"], 2), return_counts=True)
    degrees: list[Counter[int]] = [Counter() for _ in G.nodes]
    for key, multiplicity in zip(keys.tolist(), sides.tolist(), strict=True):
        degrees[key // bound][key % bound] = multiplicity
    return _at(G, nodes, degrees)


def all_triangles(
    G: nx.Graph, nbunch: Any = None, *, engine: EngineName | None = None
) -> Iterator[Any]:
    """Answer ``networkx.all_triangles``; if a set orders the last corners there, nodes do here.

    All triangles are made when the first is asked for.
    """
    chosen = None if nbunch is None else list(G.nbunch_iter(nbunch))
    graph, nodes = G.prepared(engine), G.nodes
    try:
        if chosen is None:
            rank, corners = np.arange(len(G)), tc.list_triangles(graph).to_numpy()
        else:
            rank, selected = _ranks(G, chosen), [G.index[node] for node in chosen]
            corners = tc.list_triangles(graph, vertices=selected).to_numpy().astype(np.int64)
    except tc.CapacityError as error:  # NetworkX can no longer take the call over
        _log.warning("%s. NetworkX makes them one by one", error)
        yield from nx.all_triangles.orig_func(G.bare(), chosen)
        return
    corners = np.take_along_axis(corners, np.argsort(rank[corners], axis=1), axis=1)
    u, v, w = corners.T
    rows = corners[np.lexsort((w, G.positions(u, v), rank[u]))].tolist()
    yield from ((nodes[u], nodes[v], nodes[w]) for u, v, w in rows)


def k_truss(G: nx.Graph, k: int, *, engine: EngineName | None = None) -> nx.Graph:
    """Answer ``networkx.k_truss``."""
    if G.loops:
        raise nx.NetworkXNotImplemented(
            "Input graph has self loops which is not permitted; "
            "Consider using G.remove_edges_from(nx.selfloop_edges(G))."
        )
    in_truss, nodes = np.zeros(len(G.src), bool), np.zeros(len(G), bool)
    in_truss[tc.k_truss(G.prepared(engine), max(int(k), 2)).index] = True
    nodes[G.src[in_truss]] = nodes[G.dst[in_truss]] = True
    return G.subgraph(nodes, in_truss)


def effective_size(
    G: nx.Graph, nodes: Any = None, weight: Label | None = None, *, engine: EngineName | None = None
) -> dict[Any, float]:
    """Answer ``networkx.effective_size``; `can_run` refuses weights of all nodes at once."""
    return _of_nodes(G, "effective_size", nodes, weight, engine)


def constraint(
    G: nx.Graph, nodes: Any = None, weight: Label | None = None, *, engine: EngineName | None = None
) -> dict[Any, float]:
    """Answer ``networkx.constraint``."""
    return _of_nodes(G, "constraint", nodes, weight, engine)


def local_bridges(
    G: nx.Graph,
    with_span: bool = True,
    weight: Label | None = None,
    *,
    engine: EngineName | None = None,
) -> Iterator[Any]:
    """Answer ``networkx.local_bridges`` without spans; `can_run` refuses the others."""
    G.require_no_loop()
    edges = G.frame()
    bridges = edges[tc.edge_triangles(G.prepared(engine)).to_numpy() == 0]
    ends = zip(bridges["src"].tolist(), bridges["dst"].tolist(), strict=True)
    return ((G.nodes[u], G.nodes[v]) for u, v in ends)


def _of_nodes(
    G: ConvertedGraph, column: str, nodes: Any, weight: Label | None, engine: EngineName | None
) -> dict[Any, float]:
    """Return a column of `annotate_vertices` for all nodes, or for each of some.

    Only of some, NetworkX takes an edge of weight 0 for a tie, and gives NaN where no edge leads
    out of a node.
    """
    G.require_no_loop()
    if nodes is None and not len(G):
        raise nx.NetworkXError("Graph has no nodes or edges")
    if weight is None:
        graph, label = G.prepared(engine), None
    else:
        (graph, _), label = G.weighted(engine, weight), "weight"
        if nodes is not None and not all(data.get(weight, 1) for data in G.edge_data or []):
            raise NotImplementedError("an edge of weight 0, which NetworkX takes for a tie of some")
    found = tc.annotate_vertices(graph, column, weight=label, directed=G.directed)[column]
    if nodes is None:
        return dict(zip(G.nodes, found.tolist(), strict=True))
    if G.directed:
        found = found.where(np.bincount(G.src, minlength=len(G)) > 0)
    values = found.tolist()
    return {node: values[G.index[node]] for node in nodes}


def _at(G: ConvertedGraph, nodes: Any, values: list[Any]) -> Any:
    """Select the values of `nodes`: a dict, or the value itself for a single node."""
    if nodes is None:
        return dict(zip(G.nodes, values, strict=True))
    if nodes in G:
        return values[G.index[nodes]]
    return {node: values[G.index[node]] for node in G.nbunch_iter(nodes)}


def _ranks(G: ConvertedGraph, nbunch: list[Any]) -> np.ndarray:
    """Return the rank of each node in NetworkX's order of corners.

    The selected nodes come first, then their neighbors, then all others.
    """
    selected = [G.index[node] for node in dict.fromkeys(nbunch)]
    rank = np.full(len(G), len(G) + len(G.src))
    starts = np.searchsorted(G.src, np.arange(len(G) + 1))
    rows = [G.dst[starts[i] : starts[i + 1]] for i in selected]
    neighbors = np.concatenate([np.zeros(0, np.int64), *rows])
    neighbors = neighbors[~np.isin(neighbors, selected)]
    # The last of repeats counts, as in a dict.
    rank[neighbors] = len(selected) + np.arange(len(neighbors))
    rank[selected] = np.arange(len(selected))
    return rank
