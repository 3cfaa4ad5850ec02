"""A truss in its graph, and the communities of a truss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from rapids_tc._arguments import check_flag, check_integer
from rapids_tc._typing import Frame, Labels
from rapids_tc.analytics.communities import truss_hierarchy
from rapids_tc.analytics.trusses import checked_k
from rapids_tc.graphs.communities import joined
from rapids_tc.graphs.row_values import numbers
from rapids_tc.plot.style import (
    ACCENT,
    COLORS,
    DRAWN,
    FAINT,
    INK,
    MAIN,
    columns_of,
    library,
    new_axes,
    opened,
    picture,
)  # fmt: skip

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rapids_tc.graphs.in_memory import InMemoryGraph


@picture
def draw_truss(
    edges: Frame,
    k: int | str = "max",
    *,
    ax: Any = None,
    labels: bool = True,
    source: Labels | None = None,
    destination: Labels | None = None,
) -> Any:
    """Draw the graph with its k-truss on top of it.

    Parameters
    ----------
    k : int or "max", optional
        The truss to draw; "max" is the last that has an edge.
    labels : bool, optional
        Whether to write ids beside the vertices of the truss.

    Raises
    ------
    ValueError
        There is no such truss, or it has more than 400 vertices: a higher k has fewer.

    Notes
    -----
    Of a graph of more than 400 vertices only the truss is drawn. ``networkx.spring_layout`` places
    the vertices, with a fixed seed.

    Examples
    --------
    >>> from rapids_tc import datasets, plot
    >>> ax = plot.draw_truss(datasets.karate())
    >>> ax.get_title()
    'the 5-truss: 6 vertices, 14 edges'
    """
    check_flag({"labels": labels}, "labels")
    with opened(edges, source, destination) as graph:
        trussness = graph.backend.host(graph.trussness)
        smallest = checked_k(k) or graph.max_truss
        inside = trussness >= smallest
        ends = _ends(graph)
        core = np.unique(ends[inside])
        _check_drawn(graph, k, len(core))
        outside = ~inside if graph.n_vertices <= DRAWN else np.zeros_like(inside)
        positions = _positions(ends[inside | outside], core)
        ax = _graph_axes(ax)
        ax.set_title(
            f"the {smallest}-truss: {len(core):,} vertices, {inside.sum():,} edges", color=INK
        )
        for edges_drawn, color, width, size in (
            (outside, FAINT, 0.7, 12),
            (inside, ACCENT, 1.1, 42),
        ):
            _add_lines(ax, ends[edges_drawn].tolist(), positions, colors=color, linewidths=width)
            _add_dots(ax, np.unique(ends[edges_drawn]).tolist(), positions, s=size, color=color)
        halo = [library("matplotlib.patheffects").withStroke(linewidth=2.5, foreground="white")]
        for vertex, name in zip(core.tolist() if labels else (), _names(graph, core), strict=False):
            x, y = positions[vertex]  # on the unit circle: names go outside of it
            ax.annotate(
                name, (x, y), xytext=(8 * x, 8 * y), textcoords="offset points",
                ha="center" if abs(x) < 0.2 else "left" if x > 0 else "right",
                va="center" if abs(y) < 0.9 else "bottom" if y > 0 else "top",
                fontsize=8, color=INK, path_effects=halo, zorder=3,
            )  # fmt: skip
        ax.set_aspect("equal")
        ax.autoscale()
        return ax


@picture
def communities(
    edges: Frame,
    k: int | Literal["max"] = "max",
    *,
    ax: Any = None,
    source: Labels | None = None,
    destination: Labels | None = None,
) -> Any:
    """Draw the graph with the communities of its k-truss in colors.

    Parameters
    ----------
    k : int or "max", optional
        The truss to draw; "max" is the last that has an edge.

    Raises
    ------
    ValueError
        There is no such truss, or it has more than 400 vertices: a higher k has fewer.

    See Also
    --------
    hierarchy : The communities of every k.

    Notes
    -----
    The communities are those of `truss_communities`. A vertex may be in several, an edge is in one,
    so that the edges have the colors. Past seven communities, colors come again. Other edges are
    gray; of a graph of more than 400 vertices they are left out. ``networkx.spring_layout`` places
    the vertices, with a fixed seed.

    Examples
    --------
    >>> from rapids_tc import datasets, plot
    >>> ax = plot.communities(datasets.karate(), 4)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['community 0: 6 vertices', 'community 1: 6 vertices']
    """
    with opened(edges, source, destination) as graph:
        present = graph.truss_edges(checked_k(k))
        inside = graph.backend.host(present)
        ends, others = _ends(graph)[inside], _ends(graph)[~inside]
        core = np.unique(ends)
        _check_drawn(graph, k, len(core))
        tree = joined(graph, present, "triangles")
        community = graph.backend.host(numbers(graph, tree)[tree.of_edge])[inside]
        others = others[: len(others) if graph.n_vertices <= DRAWN else 0]
        networkx = library("networkx")
        whole = networkx.Graph([*ends.tolist(), *others.tolist()])
        positions = networkx.spring_layout(whole, seed=4, iterations=200)
        ax = _graph_axes(ax)
        _add_lines(ax, others.tolist(), positions, colors=FAINT, linewidths=0.7, zorder=0)
        for number in np.unique(community).tolist():
            own = ends[community == number]
            size = f"{len(np.unique(own)):,} vertices"
            label, color = f"community {number}: {size}", COLORS[number % len(COLORS)]
            _add_lines(ax, own.tolist(), positions, colors=color, linewidths=1.4, label=label)
        _add_dots(ax, core.tolist(), positions, s=24, color=INK)
        found = len(np.unique(community))
        ax.set_title(f"{found:,} {'community' if found == 1 else 'communities'}", color=INK)
        if found <= len(COLORS):
            ax.legend(frameon=False, fontsize=8)
        ax.set_aspect("equal")
        ax.autoscale()
        return ax


@picture
def hierarchy(
    edges: Frame,
    *,
    ax: Any = None,
    at_least: int = 3,
    source: Labels | None = None,
    destination: Labels | None = None,
) -> Any:
    """Draw the truss communities of every k as a tree: each below those that lie inside it.

    Parameters
    ----------
    at_least : int, optional
        Draw only communities of at least so many vertices.

    Raises
    ------
    ValueError
        There are no such communities, or more than 400: a higher `at_least` leaves fewer.

    See Also
    --------
    communities : Those of one k, on the graph.

    Notes
    -----
    The table is that of `truss_hierarchy`. The area of a dot follows the number of vertices.

    Examples
    --------
    >>> from rapids_tc import datasets, plot
    >>> ax = plot.hierarchy(datasets.karate())
    >>> ax.get_ylabel()
    'k'
    """
    check_integer({"at_least": at_least}, "at_least", 1)
    table = truss_hierarchy(edges, source=source, destination=destination)
    number, k, parent, size = columns_of(table, "truss_community", "k", "parent", "vertices")
    if not len(size):
        raise ValueError("the graph has no triangle, and so no community to draw")
    shown = size >= at_least
    if not 0 < shown.sum() <= DRAWN:
        raise ValueError(
            f"at_least={at_least!r}: {shown.sum():,} communities have as many vertices, drawn are "
            f"1 to {DRAWN}; the largest one has {size.max():,}"
        )
    level = dict(zip(number[shown].tolist(), k[shown].tolist(), strict=True))
    around = {
        child: int(above) if isinstance(above, int | float) and above >= 0 else None
        for child, above in zip(number[shown].tolist(), parent[shown].tolist(), strict=True)
    }
    inside: dict[Any, list[int]] = {}
    for child, above in around.items():
        inside.setdefault(above, []).append(child)
    place: dict[int, float] = {}
    leaves = 0
    # Numbers of parents are below those inside them: backwards, all inside come first. Leaves
    # stand side by side in the order of a walk from the roots.
    waiting = inside[None][::-1]
    while waiting:
        child = waiting.pop()
        if child not in inside:
            place[child] = leaves
            leaves += 1
        waiting.extend(inside.get(child, [])[::-1])
    for child in sorted(inside.keys() - {None}, reverse=True):
        place[child] = float(np.mean([place[each] for each in inside[child]]))
    ax = new_axes(ax, "", "k")
    positions = {each: (place[each], level[each]) for each in level}
    pairs = [(a, b) for a, b in around.items() if b in place]
    _add_lines(ax, pairs, positions, colors=FAINT, linewidths=1.2)
    _add_dots(ax, [*level], positions, s=12 + 300 * size[shown] / size.max(), color=MAIN)
    ax.set_xticks([])
    ax.spines["bottom"].set_visible(False)
    ax.yaxis.get_major_locator().set_params(integer=True)
    ax.margins(0.1)
    return ax


def _graph_axes(ax: Any) -> Any:
    """Return axes for a picture of a graph, which has no scales."""
    ax = new_axes(ax, "", "")
    ax.set_axis_off()
    return ax


def _add_lines(
    ax: Any, pairs: Iterable[Sequence[Any]], at: Mapping[Any, Any], zorder: int = 1, **style: Any
) -> None:
    """Draw a line between the two places of each pair."""
    lines = library("matplotlib.collections").LineCollection
    ax.add_collection(lines([(at[a], at[b]) for a, b in pairs], zorder=zorder, **style))


def _add_dots(ax: Any, names: list[Any], at: Mapping[Any, Any], **style: Any) -> None:
    """Draw a dot at the place of each name, in front of the lines."""
    dots = np.array([at[name] for name in names]).reshape(-1, 2)
    ax.scatter(*dots.T, edgecolors="white", linewidths=0.6, zorder=2, **style)


def _ends(graph: InMemoryGraph) -> np.ndarray:
    """Return the two ranks of every edge."""
    return np.stack([graph.backend.host(x) for x in (graph.csr.rows, graph.csr.columns)], axis=1)


def _check_drawn(graph: InMemoryGraph, k: int | str, size: int) -> None:
    """Refuse a truss without a vertex, and one of too many."""
    if not graph.n_edges:
        raise ValueError("the graph has no edge, and so no truss to draw")
    if not 0 < size <= DRAWN:
        raise ValueError(
            f"k={k!r}: that truss has {size:,} vertices, drawn are 1 to {DRAWN}; "
            f"the last one is the {graph.max_truss}-truss"
        )


def _names(graph: InMemoryGraph, ranks: np.ndarray) -> list[str]:
    """Return the ids of vertices by their ranks."""
    ids = graph.ids_of(graph.backend.xp.asarray(ranks))
    names: list[Any] = (ids.to_pandas() if hasattr(ids, "to_pandas") else ids).tolist()
    return names


def _positions(ends: np.ndarray, core: np.ndarray) -> dict[int, np.ndarray]:
    """Place the core on a circle, which shows its dense parts, and other vertices around it."""
    networkx = library("networkx")
    graph = networkx.Graph(ends.tolist())
    layout = networkx.spring_layout(graph, seed=4, iterations=200)
    middle = np.mean([layout[v] for v in core.tolist()], axis=0)
    positions: dict[int, np.ndarray] = {v: 3 * (xy - middle) for v, xy in layout.items()}
    circle = sorted(core.tolist(), key=lambda v: np.arctan2(*positions[v]))
    for v, angle in zip(circle, np.linspace(0, 2 * np.pi, len(core), endpoint=False), strict=True):
        positions[v] = np.array([np.sin(angle), np.cos(angle)])
    positions = networkx.spring_layout(graph, k=0.4, pos=positions, fixed=circle, seed=4)
    for v in positions.keys() - set(circle):  # moved out of the circle
        positions[v] *= 1.2 / np.hypot(*positions[v]) + 0.6
    return positions
