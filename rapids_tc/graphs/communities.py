"""The trusses of a graph in memory, and their communities: edges that triangles, or ends, join."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rapids_tc.blocks import geometry
from rapids_tc.preparation import communities

if TYPE_CHECKING:
    from rapids_tc._typing import Array
    from rapids_tc.preparation.communities import CommunityTree


def truss_edges(graph: Any, k: int | None) -> Array:
    """Return whether each edge is in the k-truss; None is the largest k with an edge."""
    if k is not None:
        return (graph.trussness if "trussness" in graph.__dict__ else graph.peel(k)) >= k
    top = graph.max_truss if graph.groups is None else graph.group_largest(graph.trussness)
    return graph.trussness == top


def first_rows(graph: Any, where: Array, present: Array) -> Array:
    """Find the first row of each edge that is present; `where` is the edge of each row, or -1."""
    positions = graph.backend.xp.flatnonzero(graph.engine.take(present, where))
    return positions[geometry.is_first(where[positions], graph.backend)]


def joined(graph: Any, levels: Array, connected: str) -> CommunityTree:
    """Join edges that are present up to these levels (uint32), by "triangles" or common "edges"."""
    engine, csr = graph.engine, graph.csr
    by_triangles = connected == "triangles"
    layout = graph.layout if by_triangles else None  # reports a stage of its own
    with graph.stage("joining communities") as report:
        report_to = report.on_progress
        return communities.tree(
            engine.join_triangles(layout, levels, on_progress=report_to)
            if by_triangles
            else engine.join_ends(csr, levels),
            levels, csr, graph.order.number, graph.backend.xp,
        )  # fmt: skip


def hierarchy(graph: Any, connected: str = "triangles") -> CommunityTree:
    """Find the communities of every k from 3 on: an edge's level is its trussness."""
    trussness, xp = graph.trussness, graph.backend.xp
    levels = xp.where(trussness > 2, trussness, 0).astype("uint32")
    return joined(graph, levels, connected)


def numbers(graph: Any, tree: CommunityTree) -> Array:
    """Return the number that each community has in answers, within its group; behind all, -1."""
    xp = graph.backend.xp
    number = xp.arange(tree.size + 1, dtype="int64")
    if graph.groups is not None:
        group = graph.groups.group_of[tree.smallest]
        number[:-1] -= xp.searchsorted(group, group)
    number[-1] = -1
    return number
