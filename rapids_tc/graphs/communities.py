"""The tree of communities of a graph in memory: its edges joined, and what they are read out of."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from rapids_tc.frames.backend import sum64
from rapids_tc.preparation import community_tree

if TYPE_CHECKING:
    from collections.abc import Callable

    from rapids_tc._typing import Array
    from rapids_tc.preparation.community_tree import CommunityTree


def joined(graph: Any, present: Array, connected: str) -> CommunityTree:
    """Join edges that are present (bool), by "triangles" or "edges"."""
    layout = graph.layout if connected == "triangles" else None  # reports a stage of its own
    join = partial(graph.engine.join_triangles, layout, kind=graph.kind)
    return _tree(graph, present.astype("uint32"), connected, join)


def hierarchy(graph: Any, connected: str) -> CommunityTree:
    """Find the communities of every k from 3 on: an edge's level is its trussness."""
    xp = graph.backend.xp
    levels = xp.where(graph.trussness > 2, graph.trussness, 0).astype("uint32")
    join = partial(_join_levels, graph)
    if connected == "triangles" and graph.kind is not None:
        join = partial(graph.engine.join_triangles, graph.layout, kind=graph.kind)
    return _tree(graph, levels, connected, join)


def _tree(graph: Any, levels: Array, connected: str, join: Callable[..., Array]) -> CommunityTree:
    """Join edges up to their levels: the sides of triangles by `join`, or edges by their ends."""
    engine, number, xp = graph.engine, graph.order.number, graph.backend.xp
    with graph.stage("joining communities") as report:
        if connected == "triangles":
            words = join(levels, on_progress=report.on_progress)
        else:
            words = engine.join_ends(graph.csr, levels)
        return community_tree.tree(words, levels, graph.csr, number, engine.degrees, xp)


def _join_levels(graph: Any, levels: Array, *, on_progress: Any) -> Array:
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
