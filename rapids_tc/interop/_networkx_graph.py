"""A NetworkX graph as arrays, and back."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, compress
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

import rapids_tc as tc


class ConvertedGraph:
    """A NetworkX graph as arrays, its nodes numbered in their order.

    Attributes
    ----------
    nodes : list
    index : dict
        The number of each node.
    src, dst : arrays of int64
        NetworkX's adjacency, row after row: every edge twice, a loop once.
    edge_data, node_data : list of dict, or None where they were not asked for
        The attributes of each entry of the adjacency and of each node: NetworkX's own, no copies.
    """

    __networkx_backend__ = "rapids_tc"

    def __init__(self, graph: nx.Graph, edge_data: bool, node_data: bool) -> None:
        rows = graph._adj.values()
        self.kind, self.attributes = graph.__class__, graph.graph
        self.nodes = list(graph._adj)
        self.index = self._adj = {node: number for number, node in enumerate(self.nodes)}
        lengths = np.fromiter(map(len, rows), np.int64, len(self.nodes))
        self.src = np.repeat(np.arange(len(self.nodes)), lengths)
        ends = map(self.index.__getitem__, chain.from_iterable(rows))
        self.dst = np.fromiter(ends, np.int64, len(self.src))
        self.edge_data = list(chain.from_iterable(r.values() for r in rows)) if edge_data else None
        self.node_data = list(graph._node.values()) if node_data else None
        self._prepared: dict[str | None, tc.Graph] = {}

    def is_directed(self) -> bool:
        return False

    def is_multigraph(self) -> bool:
        return False

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.nodes)

    def __contains__(self, node: Any) -> bool:
        try:
            return node in self.index
        except TypeError:
            return False

    nbunch_iter = nx.Graph.nbunch_iter  # of these methods and `_adj`

    @property
    def loops(self) -> bool:
        return bool((self.src == self.dst).any())

    @property
    def symmetric(self) -> bool:
        """Whether each edge stands at both of its ends: filters of views may see one alone."""
        there, back = self.src * len(self) + self.dst, self.dst * len(self) + self.src
        return bool((np.sort(there) == np.sort(back)).all())

    def frame(self) -> pd.DataFrame:
        """Each edge once, labelled by the first of its places in the adjacency."""
        first = np.flatnonzero(self.src <= self.dst)
        return pd.DataFrame({"src": self.src[first], "dst": self.dst[first]}, index=first)

    def prepared(self, engine: str | None) -> tc.Graph:
        """The graph on that engine, or on that of NetworkX's configuration; made once."""
        engine = engine or nx.config.backends.rapids_tc.engine
        if engine not in self._prepared:
            self._prepared[engine] = self._prepare(self.frame(), engine)
        return self._prepared[engine]

    def weighted(self, engine: str | None, name: Any) -> tuple[tc.Graph, float]:
        """The graph with a column ``weight``, and its largest weight over NetworkX's largest.

        NetworkX counts loops among the weights, and an edge without one as 1.
        """
        engine, frame = engine or nx.config.backends.rapids_tc.engine, self.frame()
        data = self.edge_data or []
        weights = np.array([data[place].get(name, 1) for place in frame.index])
        if len(weights):
            numbers = weights.dtype.kind in "iuf"
            if not numbers or not ((weights >= 0) & (weights < np.inf)).all() or not weights.any():
                raise NotImplementedError(f"some {name!r} of the edges are no numbers from 0 on")
        frame["weight"] = weights.astype(np.float64)
        sides = frame.loc[frame["src"] != frame["dst"], "weight"]
        share = sides.max() / frame["weight"].max() if len(sides) else 1.0
        return self._prepare(frame, engine), share

    def _prepare(self, frame: pd.DataFrame, engine: str | None) -> tc.Graph:
        return tc.Graph(
            frame, source="src", destination="dst", engine=engine, vertices=np.arange(len(self))
        )

    def places(self, src: np.ndarray, dst: np.ndarray) -> np.ndarray:
        """Where in the adjacency these edges are, as entries of `src`."""
        keys = self.src * len(self) + self.dst
        order = np.argsort(keys)
        return order[np.searchsorted(keys, src * len(self) + dst, sorter=order)]

    def bare(self) -> nx.Graph:
        """The nodes and edges alone as a NetworkX graph, all in the order they have there."""
        graph = nx.empty_graph(self.nodes)
        for u, v in zip(self.src.tolist(), self.dst.tolist(), strict=True):
            graph._adj[self.nodes[u]][self.nodes[v]] = {}
        return graph

    def subgraph(self, nodes: np.ndarray, edges: np.ndarray) -> nx.Graph:
        """The NetworkX graph of some nodes and some entries of the adjacency (masks)."""
        graph = self.kind()
        graph.graph.update(self.attributes)
        data = self.node_data or [{}] * len(self)
        chosen = compress(zip(self.nodes, data, strict=True), nodes)
        graph.add_nodes_from((node, attributes.copy()) for node, attributes in chosen)
        for place in np.flatnonzero(edges).tolist():
            attributes = self.edge_data[place] if self.edge_data else {}
            ends = self.nodes[self.src[place]], self.nodes[self.dst[place]]
            graph.add_edge(*ends, **attributes)
        return graph
