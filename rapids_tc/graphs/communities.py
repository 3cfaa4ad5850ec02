"""The tree of communities of a graph in memory: its edges joined, and what they are read out of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rapids_tc.preparation import community_tree

if TYPE_CHECKING:
    from rapids_tc._typing import Array
    from rapids_tc.preparation.community_tree import CommunityTree


def joined(graph: Any, levels: Array, connected: str) -> CommunityTree:
    """Join edges that are present up to these levels (uint32), by "triangles" or "edges"."""
    by_triangles = connected == "triangles"
    layout = graph.layout if by_triangles else None  # reports a stage of its own
    with graph.stage("joining communities") as report:
        forest = (
            graph.engine.join_triangles(layout, levels, on_progress=report.on_progress)
            if by_triangles
            else graph.engine.join_ends(graph.csr, levels)
        )
        number, xp = graph.order.number, graph.backend.xp
        return community_tree.tree(forest, levels, graph.csr, number, xp)


def hierarchy(graph: Any, connected: str) -> CommunityTree:
    """Find the communities of every k from 3 on: an edge's level is its trussness."""
    xp = graph.backend.xp
    levels = xp.where(graph.trussness > 2, graph.trussness, 0).astype("uint32")
    return joined(graph, levels, connected)
