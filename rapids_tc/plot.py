"""Pictures of a graph's triangles, by matplotlib: each takes edges or a Graph and returns axes.

They need ``pip install 'rapids_tc[plot]'``. Nothing global is changed.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from importlib import import_module
from typing import Any

import numpy as np

from rapids_tc.analytics.clustering import per_pair
from rapids_tc.analytics.truss import checked_k
from rapids_tc.graphs import resolve
from rapids_tc.graphs.in_memory import InMemoryGraph
from rapids_tc.plan.record import Options

_MAIN, _ACCENT, _FAINT, _INK = "#2b6cb0", "#dd6b20", "#c9d1d9", "#2d3748"
_DRAWN = 400  # vertices, past which a picture of lines is a blot


def clustering_by_degree(
    edges: Any, *, ax: Any = None, source: Any = None, destination: Any = None
) -> Any:
    """Draw the clustering of vertices over their degree: a dot each, and the mean as a line.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row an edge.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default new axes.
    source, destination : label, optional
        The two id columns; see `Graph`.

    Returns
    -------
    matplotlib.axes.Axes

    Notes
    -----
    Vertices of fewer than two neighbours are left out. The mean is taken over degrees that differ
    by less than a factor of 1.4. In many real graphs it falls with the degree; in a random graph
    it does not: Ravasz and Barabási, "Hierarchical organization in complex networks" (2003).

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
        sums = [np.bincount(bins, weights=of)[size > 0] for of in (np.log2(degrees), values)]
        x, y = sums / size[size > 0]
        ax.plot(2**x, y, "o-", color=_ACCENT, lw=2, ms=5, label="mean")
        ax.set_ylim(-0.03, 1.03)
        _logarithmic(ax, "x", degrees)
        ax.legend(frameon=False)
        return ax


def triangle_distribution(
    edges: Any, *, ax: Any = None, source: Any = None, destination: Any = None
) -> Any:
    """Draw how many vertices are in at least so many triangles, both on logarithmic scales.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row an edge.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default new axes.
    source, destination : label, optional
        The two id columns; see `Graph`.

    Returns
    -------
    matplotlib.axes.Axes

    Notes
    -----
    A straight line is a power law. Cumulative counts need no bins and hide no tail: Newman, "Power
    laws, Pareto distributions and Zipf's law" (2005).

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
    edges: Any, *, ax: Any = None, source: Any = None, destination: Any = None
) -> Any:
    """Draw how many edges are left in the k-truss, and how many have trussness k, for every k.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row an edge.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default new axes.
    source, destination : label, optional
        The two id columns; see `Graph`.

    Returns
    -------
    matplotlib.axes.Axes

    Notes
    -----
    The edges of trussness k are those that leave on the step from the k-truss to the next; a high
    dot far to the right is a dense core.

    Examples
    --------
    >>> from rapids_tc import datasets, plot
    >>> ax = plot.truss_profile(datasets.karate())
    >>> ax.get_xlabel()
    'k'
    """
    with _opened(edges, source, destination) as graph:
        of_k = np.bincount(graph.backend.host(graph.trussness), minlength=3)[2:]
        k = 2 + np.arange(len(of_k))
        ax = _axes(ax, "k", "edges")
        left = np.cumsum(of_k[::-1])[::-1]
        ax.step(k, left, where="mid", color=_MAIN, lw=2, label="in the k-truss")
        ax.plot(k[of_k > 0], of_k[of_k > 0], "o", color=_ACCENT, ms=6, label="of trussness k")
        _logarithmic(ax, "y", k[of_k > 0])
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.legend(frameon=False)
        return ax


def draw_truss(
    edges: Any,
    *,
    k: int | str = "max",
    ax: Any = None,
    labels: bool = True,
    source: Any = None,
    destination: Any = None,
) -> Any:
    """Draw the graph with its k-truss on top of it.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row an edge.
    k : int or "max", optional
        Which truss; "max" is the last that has an edge.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default new axes.
    labels : bool, optional
        Whether vertices of the truss have their ids beside them.
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
    Of a graph of more than 400 vertices the truss alone is drawn. Places are those of
    ``networkx.spring_layout``, with a fixed seed.

    Examples
    --------
    >>> from rapids_tc import datasets, plot
    >>> ax = plot.draw_truss(datasets.karate())
    >>> ax.get_title()
    'the 5-truss: 6 vertices, 14 edges'
    """
    with _opened(edges, source, destination) as graph:
        trussness = graph.backend.host(graph.trussness)
        least = checked_k(k) or graph.max_truss
        inside = trussness >= least
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
        around = ~inside if graph.n_vertices <= _DRAWN else np.zeros_like(inside)
        places = _places(ends[inside | around], core)
        ax = _axes(ax, "", "")
        ax.set_axis_off()
        ax.set_title(
            f"the {least}-truss: {len(core):,} vertices, {inside.sum():,} edges", color=_INK
        )
        lines = _library("matplotlib.collections").LineCollection
        for chosen, color, width, size in ((around, _FAINT, 0.7, 12), (inside, _ACCENT, 1.1, 42)):
            pairs = [(places[u], places[v]) for u, v in ends[chosen].tolist()]
            ax.add_collection(lines(pairs, colors=color, linewidths=width, zorder=1))
            seen = np.array([places[v] for v in np.unique(ends[chosen])]).reshape(-1, 2)
            ax.scatter(*seen.T, s=size, color=color, edgecolors="white", linewidths=0.6, zorder=2)
        halo = [_library("matplotlib.patheffects").withStroke(linewidth=2.5, foreground="white")]
        for vertex, name in zip(core.tolist() if labels else (), _names(graph, core), strict=False):
            x, y = places[vertex]  # on the unit circle: names stand outside of it
            ax.annotate(
                name, (x, y), xytext=(8 * x, 8 * y), textcoords="offset points",
                ha="center" if abs(x) < 0.2 else "left" if x > 0 else "right",
                va="center" if abs(y) < 0.9 else "bottom" if y > 0 else "top",
                fontsize=8, color=_INK, path_effects=halo, zorder=3,
            )  # fmt: skip
        ax.set_aspect("equal")
        ax.autoscale()
        return ax


def _opened(edges: Any, source: Any, destination: Any) -> AbstractContextManager[InMemoryGraph]:
    return resolve.opened(edges, Options(source, destination))


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(f"pictures need {error.name}: pip install 'rapids_tc[plot]'") from error


def _names(graph: InMemoryGraph, ranks: np.ndarray) -> list[Any]:
    """The ids of some ranks."""
    ids = graph.ids_of(graph.backend.xp.asarray(ranks))
    return (ids.to_pandas() if hasattr(ids, "to_pandas") else ids).tolist()


def _places(ends: np.ndarray, core: np.ndarray) -> dict[int, np.ndarray]:
    """Where to draw each vertex: the core on a circle, where dense parts show, the rest around."""
    networkx = _library("networkx")
    graph = networkx.Graph(ends.tolist())
    free = networkx.spring_layout(graph, seed=4, iterations=200)
    middle = np.mean([free[v] for v in core.tolist()], axis=0)
    places = {v: 3 * (place - middle) for v, place in free.items()}
    round_about = sorted(core.tolist(), key=lambda v: np.arctan2(*places[v]))
    for v, turn in zip(round_about, np.linspace(0, 2 * np.pi, len(core), False), strict=True):
        places[v] = np.array([np.sin(turn), np.cos(turn)])
    places = networkx.spring_layout(graph, k=0.4, pos=places, fixed=round_about, seed=4)
    for v in places.keys() - set(round_about):  # none inside the circle
        places[v] *= 1.2 / np.hypot(*places[v]) + 0.6
    return places


def _axes(ax: Any, x: str, y: str) -> Any:
    """The axes to draw on, named and bare of what is no data."""
    if ax is None:
        ax = _library("matplotlib.pyplot").subplots(layout="constrained")[1]
    ax.set_xlabel(x, color=_INK)
    ax.set_ylabel(y, color=_INK)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(color=_FAINT, lw=0.5, alpha=0.6)
    ax.set_axisbelow(True)
    return ax


def _logarithmic(ax: Any, names: str, shown: np.ndarray) -> None:
    """Logarithmic scales with plain numbers; linear ones where nothing is shown."""
    ticker = _library("matplotlib.ticker")
    for name in names if len(shown) else "":
        getattr(ax, f"set_{name}scale")("log")
        axis = getattr(ax, f"{name}axis")
        axis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5), numticks=10))
        axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:,.10g}"))
        axis.set_minor_formatter(ticker.NullFormatter())
