"""NetworkX's functions of bipartite graphs, from squares and from common neighbors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
import pandas as pd

import rapids_tc as tc

if TYPE_CHECKING:
    from rapids_tc._typing import EngineName, Side
    from rapids_tc.interop._networkx_graph import ConvertedGraph

MODES = {  # of `latapy_clustering`: what the common neighbors of two nodes are divided by
    "dot": lambda common, u, v: u + v - common,
    "min": lambda common, u, v: np.minimum(u, v),
    "max": lambda common, u, v: np.maximum(u, v),
}


def butterflies(
    G: nx.Graph, nodes: Any = None, *, engine: EngineName | None = None
) -> dict[Any, int]:
    """Answer ``networkx.bipartite.butterflies``, which NetworkX has from version 3.7 on."""
    G.require_no_loop()
    counts = tc.vertex_squares(G.prepared(engine))["squares"].tolist()
    return {node: counts[G.index[node]] for node in G.nbunch_iter(nodes)}


def robins_alexander_clustering(G: nx.Graph, *, engine: EngineName | None = None) -> float:
    """Answer ``networkx.bipartite.robins_alexander_clustering``."""
    G.require_no_loop()
    graph, beyond = G.prepared(engine), G.degrees - 1
    walks = int((beyond[G.src] * beyond[G.dst]).sum()) // 2
    paths = walks - 3 * tc.count(graph)  # a walk of three edges may end where it begins
    return 4 * tc.squares(graph) / paths if paths else 0  # 0, not 0.0, as in NetworkX


def latapy_clustering(
    G: nx.Graph, nodes: Any = None, mode: str = "dot", *, engine: EngineName | None = None
) -> dict[Any, float]:
    """Answer ``networkx.bipartite.latapy_clustering``."""
    is_right = _sides(G)
    if mode not in MODES:
        raise nx.NetworkXError("Mode for bipartite clustering must be: dot, min or max")
    asked = G.nodes if nodes is None else list(nodes)
    numbers = np.array([G.index[node] for node in asked], np.int64)
    entries, degrees = ~is_right[G.src], G.degrees
    edges = pd.DataFrame({"left": G.src[entries], "right": G.dst[entries]})
    sums, partners = np.zeros(len(G)), np.zeros(len(G), np.int64)
    for right in np.unique(is_right[numbers]):
        u, v, common = _pairs(G, edges, "destination" if right else "source", engine)
        shares = common / MODES[mode](common, degrees[u], degrees[v])
        for ends in (u, v):
            sums += np.bincount(ends, shares, minlength=len(G))
            partners += np.bincount(ends, minlength=len(G))
    values = sums / np.maximum(partners, 1)
    return dict(zip(asked, values[numbers].tolist(), strict=True))


def bipartite_average_clustering(
    G: nx.Graph, nodes: Any = None, mode: str = "dot", *, engine: EngineName | None = None
) -> float:
    """Answer ``networkx.bipartite.average_clustering``, whose name NetworkX has for another one."""
    asked = list(G) if nodes is None else nodes
    values = latapy_clustering(G, asked, mode, engine=engine)
    mean: float = sum(values[node] for node in asked) / len(asked)
    return mean


def weighted_projected_graph(
    B: nx.Graph, nodes: Any, ratio: bool = False, *, engine: EngineName | None = None
) -> nx.Graph:
    """Answer ``networkx.bipartite.weighted_projected_graph``; neighbors are in the order of nodes.

    NetworkX has the order of a set there.
    """
    chosen = list(dict.fromkeys(nodes))
    numbers = np.array([B.index[node] for node in chosen], np.int64)
    others = len(B) - len(nodes)  # nodes may repeat, as in NetworkX
    if others < 1:
        raise nx.NetworkXAlgorithmError(
            f"the size of the nodes to project onto ({len(nodes)}) is >= the graph size "
            f"({len(B)}).\nThey are either not a valid bipartite partition or contain duplicates"
        )
    place = np.full(len(B), -1)
    place[numbers] = np.arange(len(numbers))
    is_chosen = place >= 0
    if (is_chosen[B.src] == is_chosen[B.dst]).any():
        raise NotImplementedError("nodes= is not one side of a bipartite graph")
    entries = is_chosen[B.src]
    edges = pd.DataFrame({"left": place[B.src[entries]], "right": B.dst[entries]})
    u, v, common = _pairs(B, edges, "source", engine)
    weights = common / others if ratio else common
    projection = nx.Graph()
    projection.graph.update(B.attributes)
    projection.add_nodes_from((node, B.node_data[B.index[node]]) for node in chosen)
    rows = zip(u.tolist(), v.tolist(), weights.tolist(), strict=True)
    projection.add_weighted_edges_from((chosen[i], chosen[j], weight) for i, j, weight in rows)
    return projection


def _sides(G: ConvertedGraph) -> np.ndarray:
    """Return which nodes are of the second side: bool. NetworkXError: there are no two sides."""
    try:
        colors = nx.bipartite.color.orig_func(G.bare())
    except nx.NetworkXError:
        raise nx.NetworkXError("Graph is not bipartite") from None
    return np.fromiter((colors[node] for node in G), bool, len(G))


def _pairs(
    G: ConvertedGraph, edges: pd.DataFrame, side: Side, engine: EngineName | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the pairs u < v of one side with neighbors in common, sorted, and how many.

    NotImplementedError: there are more pairs than memory holds, so that NetworkX goes on.
    """
    engine = G.engine(engine)
    try:
        frame = tc.project(edges, source="left", destination="right", side=side, engine=engine)
    except tc.CapacityError as error:
        raise NotImplementedError("more pairs of nodes than memory holds") from error
    u, v, common = (frame[name].to_numpy() for name in ("u", "v", "common"))
    return u, v, common
