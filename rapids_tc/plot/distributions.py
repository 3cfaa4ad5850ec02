"""Distributions: clustering by degree, triangles of vertices, edges of every truss."""

from __future__ import annotations

from typing import Any

import numpy as np

from rapids_tc._typing import Frame, Labels
from rapids_tc.analytics.clustering import per_pair
from rapids_tc.plot.style import ACCENT, MAIN, logarithmic, new_axes, opened, picture


@picture
def clustering_by_degree(
    edges: Frame, *, ax: Any = None, source: Labels | None = None, destination: Labels | None = None
) -> Any:
    """Draw the clustering of every vertex over its degree as a dot, and the mean as a line.

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
    with opened(edges, source, destination) as graph:
        degrees = graph.backend.host(graph.degrees)
        values = graph.backend.host(per_pair(graph, graph.vertex_counts("auto")))[degrees > 1]
        degrees = degrees[degrees > 1]
        ax = new_axes(ax, "degree", "clustering")
        ax.scatter(degrees, values, s=12, color=MAIN, alpha=0.25, linewidths=0, label="vertices")
        bins = np.floor(2 * np.log2(degrees)).astype(int)
        size = np.bincount(bins)
        sums = [np.bincount(bins, weights=w)[size > 0] for w in (np.log2(degrees), values)]
        x, y = sums / size[size > 0]
        ax.plot(2**x, y, "o-", color=ACCENT, lw=2, ms=5, label="mean")
        ax.set_ylim(-0.03, 1.03)
        logarithmic(ax, "x", degrees)
        ax.legend(frameon=False)
        return ax


@picture
def triangle_distribution(
    edges: Frame, *, ax: Any = None, source: Labels | None = None, destination: Labels | None = None
) -> Any:
    """Draw how many vertices are in at least x triangles over x, on logarithmic scales.

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
    with opened(edges, source, destination) as graph:
        counts = graph.backend.host(graph.vertex_counts("auto"))
        triangles, vertices = np.unique(counts[counts > 0], return_counts=True)
        at_least = np.cumsum(vertices[::-1])[::-1]
        ax = new_axes(ax, "triangles", "vertices in at least as many")
        ax.plot(triangles, at_least, "o-", color=MAIN, lw=1, ms=4)
        logarithmic(ax, "xy", triangles)
        return ax


@picture
def truss_profile(
    edges: Frame, *, ax: Any = None, source: Labels | None = None, destination: Labels | None = None
) -> Any:
    """Draw how many edges are in the k-truss, and how many have trussness k, for every k.

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
    with opened(edges, source, destination) as graph:
        counts = np.bincount(graph.backend.host(graph.trussness), minlength=3)[2:]
        k = 2 + np.arange(len(counts))
        ax = new_axes(ax, "k", "edges")
        at_least = np.cumsum(counts[::-1])[::-1]
        ax.step(k, at_least, where="mid", color=MAIN, lw=2, label="in the k-truss")
        ax.plot(k[counts > 0], counts[counts > 0], "o", color=ACCENT, ms=6, label="of trussness k")
        logarithmic(ax, "y", k[counts > 0])
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.legend(frameon=False)
        return ax
