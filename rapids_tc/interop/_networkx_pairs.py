"""NetworkX's functions of pairs of nodes, as `rapids_tc.similarity` answers them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
import pandas as pd

import rapids_tc as tc

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rapids_tc._typing import EngineName
    from rapids_tc.interop._networkx_graph import ConvertedGraph

PAIRS: dict[str, tc.Measure] = {  # by the name of a function of pairs, our measure
    "adamic_adar_index": "adamic_adar",
    "jaccard_coefficient": "jaccard",
    "resource_allocation_index": "resource_allocation",
}


def jaccard_coefficient(
    G: nx.Graph, ebunch: Any = None, *, engine: EngineName | None = None
) -> Iterator[Any]:
    """Answer ``networkx.jaccard_coefficient`` of a list of pairs."""
    pairs, ends = _ends(G, ebunch)
    has_edge = np.bincount(G.src, minlength=len(G)) > 0
    joined = has_edge[ends].any(axis=0).tolist()
    values = zip(_similarity(G, ends, "jaccard_coefficient", engine), joined, strict=True)
    shares = (value if any_edge else 0 for value, any_edge in values)  # 0, not 0.0, as in NetworkX
    return ((u, v, share) for (u, v), share in zip(pairs, shares, strict=True))


def adamic_adar_index(
    G: nx.Graph, ebunch: Any = None, *, engine: EngineName | None = None
) -> Iterator[Any]:
    """Answer ``networkx.adamic_adar_index`` of a list of pairs."""
    return _sums(G, ebunch, "adamic_adar_index", engine)


def resource_allocation_index(
    G: nx.Graph, ebunch: Any = None, *, engine: EngineName | None = None
) -> Iterator[Any]:
    """Answer ``networkx.resource_allocation_index`` of a list of pairs."""
    return _sums(G, ebunch, "resource_allocation_index", engine)


def _sums(G: ConvertedGraph, ebunch: Any, name: str, engine: EngineName | None) -> Iterator[Any]:
    """Return pairs with sums over their common neighbors: 0, not 0.0, without any."""
    pairs, ends = _ends(G, ebunch)
    values = _similarity(G, ends, name, engine)
    return ((u, v, value or 0) for (u, v), value in zip(pairs, values, strict=True))


def _ends(G: ConvertedGraph, ebunch: Any) -> tuple[list[Any], np.ndarray]:
    """Return the pairs, and the numbers of their ends: int64, shape (2, pairs)."""
    pairs = list(ebunch)
    for pair in pairs:
        for node in pair:
            if node not in G:
                raise nx.NodeNotFound(f"Node {node} not in G.")
    ends = np.array([[G.index[u], G.index[v]] for u, v in pairs], np.int64).reshape(-1, 2).T
    G.require_no_loop()
    if (ends[0] == ends[1]).any():
        raise NotImplementedError("a node with itself is no pair in rapids_tc")
    return pairs, ends


def _similarity(
    G: ConvertedGraph, ends: np.ndarray, name: str, engine: EngineName | None
) -> list[float]:
    pairs = pd.DataFrame({"src": ends[0], "dst": ends[1]})
    values: list[float] = tc.similarity(
        G.prepared(engine), measure=PAIRS[name], pairs=pairs
    ).tolist()
    return values
