"""A NetworkX graph as arrays, and the way back."""

from __future__ import annotations

import re
import warnings
import weakref
from itertools import chain, compress
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
import pandas as pd

import rapids_tc as tc

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rapids_tc._typing import EngineName

_CACHE_WARNING = r"(?s)Note: conversions to backend graphs are saved to cache.*'rapids_tc' backend"


def _nothing() -> None:
    """Return None, as a weak reference to a graph that is gone."""


class ConvertedGraph:
    """A NetworkX graph as arrays, its nodes numbered in their order.

    Attributes
    ----------
    nodes : list
    index : dict
        The number of each node.
    src, dst : arrays of int64
        The adjacency of NetworkX, row after row: an edge of an undirected graph twice, a loop and
        an edge of a directed graph once.
    directed : bool
    edge_data : list of dict, or None if the call needs no attributes
        The attributes of each entry of the adjacency: the dicts of NetworkX.
    node_data : list of dict
        The attributes of each node, kept for every call: NetworkX does not say that
        ``weighted_projected_graph`` needs them.
    """

    __networkx_backend__ = "rapids_tc"

    def __init__(self, graph: nx.Graph, *, edge_data: bool) -> None:
        self._source, self._calls = weakref.ref(graph), 0
        rows = graph._adj.values()
        self.kind, self.attributes = graph.__class__, graph.graph
        self.directed: bool = graph.is_directed()
        self.nodes = list(graph._adj)
        self.index = self._adj = {node: number for number, node in enumerate(self.nodes)}
        lengths = np.fromiter(map(len, rows), np.int64, len(self.nodes))
        self.src = np.repeat(np.arange(len(self.nodes)), lengths)
        ends = map(self.index.__getitem__, chain.from_iterable(rows))
        self.dst = np.fromiter(ends, np.int64, len(self.src))
        self.edge_data = list(chain.from_iterable(r.values() for r in rows)) if edge_data else None
        self.node_data = list(graph._node.values())
        self._prepared: dict[str | None, tc.Graph[pd.DataFrame]] = {}

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickle a graph in NetworkX's cache as None, for which NetworkX converts again.

        The cache is pickled and copied with the graph that was converted.
        """
        return (type(None), ()) if self._cached else super().__reduce_ex__(protocol)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_source"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _source=_nothing)

    @property
    def _cached(self) -> bool:
        """Whether the graph that was converted has this one in its cache."""
        cache = getattr(self._source(), "__networkx_cache__", None) or {}
        by_key = cache.get("backends", {}).get("rapids_tc", {})
        return any(self is converted for converted in by_key.values())

    def _warned(self) -> None:
        """Show NetworkX's warning that the cache is used no more, from the second call on.

        NetworkX has just shown it, and would again for each of its functions.
        """
        self._calls += 1
        pattern = re.compile(_CACHE_WARNING, re.IGNORECASE)  # as `filterwarnings` compiles it
        shown = self._calls > 1 and self._cached
        if shown and all(pattern != message for _, message, *_ in warnings.filters):
            warnings.filterwarnings("ignore", _CACHE_WARNING, UserWarning)

    def is_directed(self) -> bool:
        """Return whether the edges have a direction."""
        return self.directed

    def is_multigraph(self) -> bool:
        """Return False."""
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

    nbunch_iter = nx.Graph.nbunch_iter  # uses the methods above and `_adj`

    @property
    def loops(self) -> bool:
        """Whether the graph has a self loop."""
        return bool((self.src == self.dst).any())

    def require_no_loop(self) -> None:
        """Raise NotImplementedError if the graph has self loops, which some of NetworkX counts."""
        if self.loops:
            raise NotImplementedError("the graph has self loops, which rapids_tc leaves out")

    @property
    def degrees(self) -> np.ndarray:
        """The other nodes that are neighbors of each node: int64."""
        degrees: np.ndarray = np.bincount(self.src[self.src != self.dst], minlength=len(self))
        return degrees

    @property
    def symmetric(self) -> bool:
        """Whether undirected edges are stored at both ends: the filter of a view may hide one."""
        if self.directed:
            return True
        keys, reversed_keys = self.src * len(self) + self.dst, self.dst * len(self) + self.src
        return bool((np.sort(keys) == np.sort(reversed_keys)).all())

    @property
    def once(self) -> np.ndarray:
        """Which entries of the adjacency are the first of their edge."""
        return self.src <= self.dst if not self.directed else np.ones(len(self.src), bool)

    def frame(self) -> pd.DataFrame:
        """Return each edge once; its label is its first position in the adjacency."""
        first = np.flatnonzero(self.once)
        return pd.DataFrame({"src": self.src[first], "dst": self.dst[first]}, index=first)

    def engine(self, named: EngineName | None) -> EngineName | None:
        """Return the engine that a call names, by default NetworkX's configured one."""
        self._warned()
        return named or nx.config.backends.rapids_tc.engine

    def prepared(self, engine: EngineName | None) -> tc.Graph[pd.DataFrame]:
        """Return the graph on an engine; prepared once."""
        engine = self.engine(engine)
        if engine not in self._prepared:
            self._prepared[engine] = self._prepare(self.frame(), engine)
        return self._prepared[engine]

    def weighted(
        self, engine: EngineName | None, name: Any
    ) -> tuple[tc.Graph[pd.DataFrame], float]:
        """Return the graph with a column ``weight``, and the ratio of the largest weights.

        The ratio is our largest weight over NetworkX's largest: NetworkX includes the weights of
        loops, and gives an edge without a weight the weight 1.
        """
        engine, frame = self.engine(engine), self.frame()
        data = self.edge_data or []
        weights = np.array([data[position].get(name, 1) for position in frame.index])
        if len(weights):
            numeric = weights.dtype.kind in "iuf"
            if not numeric or not ((weights >= 0) & (weights < np.inf)).all() or not weights.any():
                raise NotImplementedError(f"some {name!r} of the edges are no numbers from 0 on")
        frame["weight"] = weights.astype(np.float64)
        sides = frame.loc[frame["src"] != frame["dst"], "weight"]
        ratio = sides.max() / frame["weight"].max() if len(sides) else 1.0
        return self._prepare(frame, engine), ratio

    def _prepare(self, frame: pd.DataFrame, engine: EngineName | None) -> tc.Graph[pd.DataFrame]:
        return tc.Graph(
            frame, source="src", destination="dst", engine=engine, vertices=np.arange(len(self))
        )

    def positions(self, src: np.ndarray, dst: np.ndarray) -> np.ndarray:
        """Return the positions of edges in the adjacency, as indices of `src`."""
        keys = self.src * len(self) + self.dst
        order = np.argsort(keys)
        positions: np.ndarray = order[np.searchsorted(keys, src * len(self) + dst, sorter=order)]
        return positions

    def bare(self) -> nx.Graph:
        """Return a NetworkX graph without attributes, its nodes and edges in the same order."""
        graph = nx.empty_graph(self.nodes)
        for u, v in zip(self.src.tolist(), self.dst.tolist(), strict=True):
            graph._adj[self.nodes[u]][self.nodes[v]] = {}
        return graph

    def subgraph(self, nodes: np.ndarray, edges: np.ndarray) -> nx.Graph:
        """Return the NetworkX graph of the nodes and adjacency entries that two masks select."""
        graph = self.kind()
        graph.graph.update(self.attributes)
        selected = compress(zip(self.nodes, self.node_data, strict=True), nodes)
        graph.add_nodes_from((node, attributes.copy()) for node, attributes in selected)
        for position in np.flatnonzero(edges).tolist():
            attributes = self.edge_data[position] if self.edge_data else {}
            ends = self.nodes[self.src[position]], self.nodes[self.dst[position]]
            graph.add_edge(*ends, **attributes)
        return graph
