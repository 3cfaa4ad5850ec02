"""Pictures of the triangles of a graph, by matplotlib: from edges or a Graph to axes.

They need ``pip install 'rapids_tc[plot]'``. No global setting of matplotlib is changed.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc._typing import Frame, Labels
from rapids_tc.analytics.clustering import per_pair
from rapids_tc.analytics.trusses import checked_k
from rapids_tc.graphs import resolve
from rapids_tc.plan.record import Options

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from rapids_tc.graphs.in_memory import InMemoryGraph

_MAIN, _ACCENT, _FAINT, _INK = "#2b6cb0", "#dd6b20", "#c9d1d9", "#2d3748"
_DRAWN = 400  # vertices: a picture of more shows no single line


def clustering_by_degree(
    edges: Frame, *, ax: Any = None, source: Labels | None = None, destination: Labels | None = None
) -> Any:
    """Draw the clustering of every vertex over its degree as a dot, and the mean as a line.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge.
    ax : matplotlib.axes.Axes, optional
        The axes to draw on; by default new ones.
    source, destination : label, optional
        The two id columns; see `Graph`.

    Returns
    -------
    matplotlib.axes.Axes

    Notes
    -----
    Vertices with fewer than two neighbors are left out. Each mean is over degrees that differ
    by less than a factor of 1.4. In many real graphs the mean falls with the degree, in random
    graphs it does not: Ravasz and Barabási, "Hierarchical organization in complex networks" (2003).

    Examples
    --------
    >>> from rapids_tc import datasets, plot
    >>> ax = plot.clustering_by_degree(datasets.karate())
    >>> ax.get_xlabel()
    'degree'
    """
    with _opened(edges, source, destination) as graph:
        degrees = graph.backend.host(graph.degrees)
        values = graph.backend.host(per_pair(graph, graph.vertex_counts("auto")))[degrees > 1]
        degrees = degrees[degrees > 1]
        ax = _axes(ax, "degree", "clustering")
        ax.scatter(degrees, values, s=12, color=_MAIN, alpha=0.25, linewidths=0, label="vertices")
        bins = np.floor(2 * np.log2(degrees)).astype(int)
        size = np.bincount(bins)
        sums = [np.bincount(bins, weights=w)[size > 0] for w in (np.log2(degrees), values)]
        x, y = sums / size[size > 0]
        ax.plot(2**x, y, "o-", color=_ACCENT, lw=2, ms=5, label="mean")
        ax.set_ylim(-0.03, 1.03)
        _logarithmic(ax, "x", degrees)
        ax.legend(frameon=False)
        return ax


def triangle_distribution(
    edges: Frame, *, ax: Any = None, source: Labels | None = None, destination: Labels | None = None
) -> Any:
    """Draw how many vertices are in at least x triangles over x, on logarithmic scales.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge.
    ax : matplotlib.axes.Axes, optional
        The axes to draw on; by default new ones.
    source, destination : label, optional
        The two id columns; see `Graph`.

    Returns
    -------
    matplotlib.axes.Axes

    Notes
    -----
    A straight line is a power law. Cumulative counts need no bins and show the whole tail: Newman,
    "Power laws, Pareto distributions and Zipf's law" (2005).

    Examples
    --------
    >>> from rapids_tc import datasets, plot
    >>> ax = plot.triangle_distribution(datasets.karate())
    >>> ax.get_xscale(), ax.get_yscale()
    ('log', 'log')
    """
    with _opened(edges, source, destination) as graph:
        counts = graph.backend.host(graph.vertex_counts("auto"))
        triangles, vertices = np.unique(counts[counts > 0], return_counts=True)
        at_least = np.cumsum(vertices[::-1])[::-1]
        ax = _axes(ax, "triangles", "vertices in at least as many")
        ax.plot(triangles, at_least, "o-", color=_MAIN, lw=1, ms=4)
        _logarithmic(ax, "xy", triangles)
        return ax


def truss_profile(
    edges: Frame, *, ax: Any = None, source: Labels | None = None, destination: Labels | None = None
) -> Any:
    """Draw how many edges are in the k-truss, and how many have trussness k, for every k.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge.
    ax : matplotlib.axes.Axes, optional
        The axes to draw on; by default new ones.
    source, destination : label, optional
        The two id columns; see `Graph`.

    Returns
    -------
    matplotlib.axes.Axes

    Notes
    -----
    The edges of trussness k are in the k-truss, but not in the next; a high dot far to the right
    is a dense core.

    Examples
    --------
    >>> from rapids_tc import datasets, plot
    >>> ax = plot.truss_profile(datasets.karate())
    >>> ax.get_xlabel()
    'k'
    """
    with _opened(edges, source, destination) as graph:
        counts = np.bincount(graph.backend.host(graph.trussness), minlength=3)[2:]
        k = 2 + np.arange(len(counts))
        ax = _axes(ax, "k", "edges")
        at_least = np.cumsum(counts[::-1])[::-1]
        ax.step(k, at_least, where="mid", color=_MAIN, lw=2, label="in the k-truss")
        ax.plot(k[counts > 0], counts[counts > 0], "o", color=_ACCENT, ms=6, label="of trussness k")
        _logarithmic(ax, "y", k[counts > 0])
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.legend(frameon=False)
        return ax


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
    edges : DataFrame or Graph
        One row per edge.
    k : int or "max", optional
        The truss to draw; "max" is the last that has an edge.
    ax : matplotlib.axes.Axes, optional
        The axes to draw on; by default new ones.
    labels : bool, optional
        Whether to write ids beside the vertices of the truss.
    source, destination : label, optional
        The two id columns; see `Graph`.

    Returns
    -------
    matplotlib.axes.Axes

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
    with _opened(edges, source, destination) as graph:
        trussness = graph.backend.host(graph.trussness)
        smallest = checked_k(k) or graph.max_truss
        inside = trussness >= smallest
        ends = np.stack(
            [graph.backend.host(graph.csr.rows), graph.backend.host(graph.csr.columns)], axis=1
        )
        core = np.unique(ends[inside])
        if not graph.n_edges:
            raise ValueError("the graph has no edge, and so no truss to draw")
        if not 0 < len(core) <= _DRAWN:
            raise ValueError(
                f"k={k!r}: that truss has {len(core):,} vertices, drawn are 1 to {_DRAWN}; "
                f"the last one is the {graph.max_truss}-truss"
            )
        outside = ~inside if graph.n_vertices <= _DRAWN else np.zeros_like(inside)
        positions = _positions(ends[inside | outside], core)
        ax = _axes(ax, "", "")
        ax.set_axis_off()
        ax.set_title(
            f"the {smallest}-truss: {len(core):,} vertices, {inside.sum():,} edges", color=_INK
        )
        lines = _library("matplotlib.collections").LineCollection
        for edges_drawn, color, width, size in (
            (outside, _FAINT, 0.7, 12),
            (inside, _ACCENT, 1.1, 42),
        ):
            pairs = [(positions[u], positions[v]) for u, v in ends[edges_drawn].tolist()]
            ax.add_collection(lines(pairs, colors=color, linewidths=width, zorder=1))
            dots = np.array([positions[v] for v in np.unique(ends[edges_drawn])]).reshape(-1, 2)
            ax.scatter(*dots.T, s=size, color=color, edgecolors="white", linewidths=0.6, zorder=2)
        halo = [_library("matplotlib.patheffects").withStroke(linewidth=2.5, foreground="white")]
        for vertex, name in zip(core.tolist() if labels else (), _names(graph, core), strict=False):
            x, y = positions[vertex]  # on the unit circle: names go outside of it
            ax.annotate(
                name, (x, y), xytext=(8 * x, 8 * y), textcoords="offset points",
                ha="center" if abs(x) < 0.2 else "left" if x > 0 else "right",
                va="center" if abs(y) < 0.9 else "bottom" if y > 0 else "top",
                fontsize=8, color=_INK, path_effects=halo, zorder=3,
            )  # fmt: skip
        ax.set_aspect("equal")
        ax.autoscale()
        return ax


def _opened(
    edges: Frame, source: Labels | None, destination: Labels | None
) -> AbstractContextManager[InMemoryGraph]:
    return resolve.opened(edges, Options(source, destination))


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(f"pictures need {error.name}: pip install 'rapids_tc[plot]'") from error


def _names(graph: InMemoryGraph, ranks: np.ndarray) -> list[str]:
    """Return the ids of vertices by their ranks."""
    ids = graph.ids_of(graph.backend.xp.asarray(ranks))
    names: list[Any] = (ids.to_pandas() if hasattr(ids, "to_pandas") else ids).tolist()
    return names


def _positions(ends: np.ndarray, core: np.ndarray) -> dict[int, np.ndarray]:
    """Place the core on a circle, which shows its dense parts, and other vertices around it."""
    networkx = _library("networkx")
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


def _axes(ax: Any, x: str, y: str) -> Any:
    """Return the axes to draw on, with names and without decoration."""
    if ax is None:
        ax = _library("matplotlib.pyplot").subplots(layout="constrained")[1]
    ax.set_xlabel(x, color=_INK)
    ax.set_ylabel(y, color=_INK)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(color=_FAINT, lw=0.5, alpha=0.6)
    ax.set_axisbelow(True)
    return ax


def _logarithmic(ax: Any, names: str, shown: np.ndarray) -> None:
    """Set logarithmic scales with plain numbers; leave linear ones if nothing is shown."""
    ticker = _library("matplotlib.ticker")
    for name in names if len(shown) else "":
        getattr(ax, f"set_{name}scale")("log")
        axis = getattr(ax, f"{name}axis")
        axis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5), numticks=10))
        axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:,.10g}"))
        axis.set_minor_formatter(ticker.NullFormatter())
