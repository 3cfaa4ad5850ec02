"""The tree of communities of a graph in memory: its edges joined, and what they are read out of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rapids_tc.frames.backend import sum64
from rapids_tc.preparation import community_tree

if TYPE_CHECKING:
    from rapids_tc._typing import Array
    from rapids_tc.preparation.community_tree import CommunityTree


def joined(graph: Any, present: Array, connected: str) -> CommunityTree:
    """Join edges that are present (bool), by "triangles" or "edges"."""
    levels = present.astype("uint32")
    layout = graph.layout if connected == "triangles" else None  # reports a stage of its own
    with graph.stage("joining communities") as report:
        if connected == "triangles":
            words = graph.engine.join_triangles(layout, levels, on_progress=report.on_progress)
        else:
            words = graph.engine.join_ends(graph.csr, levels)
        return _tree(graph, words, levels)


def hierarchy(graph: Any, connected: str) -> CommunityTree:
    """Find the communities of every k from 3 on: an edge's level is its trussness."""
    xp = graph.backend.xp
    levels = xp.where(graph.trussness > 2, graph.trussness, 0).astype("uint32")
    with graph.stage("joining communities") as report:
        if connected == "triangles":
            words = _join_levels(graph, levels, report.on_progress)
        else:
            words = graph.engine.join_ends(graph.csr, levels)
        return _tree(graph, words, levels)


def _join_levels(graph: Any, levels: Array, on_progress: Any) -> Array:
    """Join the sides of triangles at all levels, among the edges in a triangle if these are few."""
    csr, engine, xp, present = graph.csr, graph.engine, graph.backend.xp, levels > 0
    total = sum64(present)
    if total == 0:
        return xp.zeros(csr.m, "uint64")
    if 2 * total > csr.m:
        return engine.join_levels(csr, levels, on_progress=on_progress)
    kept, positions = csr.select(present).without_last_rows(), xp.flatnonzero(present)
    words = engine.join_levels(kept, levels[positions], on_progress=on_progress)
    return community_tree.placed(words, positions, csr.m, xp)


def _tree(graph: Any, words: Array, levels: Array) -> CommunityTree:
    count, number = graph.engine.degrees, graph.order.number
    return community_tree.tree(words, levels, graph.csr, number, count, graph.backend.xp)
