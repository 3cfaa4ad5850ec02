"""Answers as pictures: over time, by types, signs and triads, and squares."""

from __future__ import annotations

from typing import Any

import numpy as np

from rapids_tc._typing import Aggregate, Frame, Label, Labels, Length, Vertices
from rapids_tc.analytics import types as typed
from rapids_tc.analytics.over_time import triangles_over_time
from rapids_tc.analytics.squares import vertex_squares
from rapids_tc.analytics.triads import triad_counts
from rapids_tc.plot.style import (
    ACCENT,
    COLORS,
    FAINT,
    INK,
    MAIN,
    columns_of,
    library,
    logarithmic,
    new_axes,
    picture,
)  # fmt: skip

# {triad: its edges, among the corners left, top and right}
_SETS = {
    "empty": [],
    "edge": [(0, 1)],
    "wedge": [(0, 1), (1, 2)],
    "triangle": [(0, 1), (1, 2), (0, 2)],
}
_CORNERS = ((0.12, 0.12), (0.5, 0.8), (0.88, 0.12))  # of a little drawing of size 1
_SHOWN = 20  # combinations of types
_SPREAD = 100  # from which on a scale is logarithmic


@picture
def over_time(
    edges: Frame,
    *,
    time: Label,
    window: Length | None = None,
    step: Length | None = None,
    ax: Any = None,
    source: Labels | None = None,
    destination: Labels | None = None,
) -> Any:
    """Draw the triangles of each window of time, or those that have formed so far.

    Parameters
    ----------
    time : label
        The column of times.
    window, step : optional
        The length of the windows, and from one to the next: see `triangles_over_time`. Without a
        window, the line is of all triangles up to each time.

    Notes
    -----
    On axes of yours that have such a line already, the next has another color, and a legend tells
    which is which.

    Examples
    --------
    >>> import pandas as pd
    >>> from rapids_tc import plot
    >>> df = pd.DataFrame({"src": [0, 1, 2, 2], "dst": [1, 2, 0, 3], "day": [1, 1, 2, 5]})
    >>> ax = plot.over_time(df, time="day")
    >>> ax.get_ylabel()
    'triangles so far'
    """
    table = triangles_over_time(
        edges, time=time, window=window, step=step, source=source, destination=destination
    )
    counted = f"triangles of a window of {window}" if window is not None else "triangles so far"
    ax = new_axes(ax, str(time), counted)
    color = COLORS[len(ax.lines) % len(COLORS)]
    x, y = columns_of(table, time, "triangles")
    # A count holds until the next row comes; a window has a dot where it begins.
    style = "default" if window is not None else "steps-post"
    ax.plot(x, y, color=color, lw=1.6, drawstyle=style, label=counted)
    if len(ax.lines) > 1:
        ax.set_ylabel("triangles", color=INK)
        ax.legend(frameon=False)
    ax.set_ylim(bottom=0)
    if x.dtype.kind == "M":
        dates = library("matplotlib.dates")
        ax.xaxis.set_major_formatter(dates.ConciseDateFormatter(ax.xaxis.get_major_locator()))
    return ax


@picture
def types(
    edges: Frame,
    *,
    edge_type: Label | None = None,
    vertex_type: Any = None,
    aggregate: Aggregate | None = None,
    ax: Any = None,
    source: Labels | None = None,
    destination: Labels | None = None,
) -> Any:
    """Draw a bar for each combination of three types that triangles have.

    Parameters
    ----------
    edge_type, vertex_type : optional
        The types of the sides, or of the corners: see `triangles_by_type`.
    aggregate : str, optional
        Which of the types of its rows an edge gets: see `triangles_by_type`.

    Notes
    -----
    The largest stand on top. Of more than 20, the last bar is the sum of the others, and says how
    many these are. If the bars differ by a factor of 100 or more, their scale is logarithmic.

    Examples
    --------
    >>> import pandas as pd
    >>> from rapids_tc import plot
    >>> df = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 0], "kind": ["pay", "call", "pay"]})
    >>> ax = plot.types(df, edge_type="kind")
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['call + pay + pay']
    """
    table = typed.triangles_by_type(
        edges, edge_type=edge_type, vertex_type=vertex_type, aggregate=aggregate, source=source,
        destination=destination,
    )  # fmt: skip
    counts, *three = columns_of(table, "triangles", "type_1", "type_2", "type_3")
    kinds = zip(*(column.tolist() for column in three), strict=True)
    names = np.array([" + ".join(map(str, kind)) for kind in kinds], dtype=object)
    order = np.argsort(-counts, kind="stable")
    largest, others = order[:_SHOWN], order[_SHOWN:]
    shown, labels = counts[largest].tolist(), names[largest].tolist()
    if len(others):
        shown.append(int(counts[others].sum()))
        labels.append(f"{len(others):,} others")
    ax = new_axes(ax, "triangles", "")
    ax.barh(range(len(shown)), shown, color=MAIN, height=0.7)
    ax.set_yticks(range(len(shown)), labels)
    ax.invert_yaxis()
    ax.grid(visible=False, axis="y")
    _scaled(ax, "x", shown)
    return ax


@picture
def balance(
    edges: Frame,
    *,
    sign: Label,
    aggregate: Aggregate | None = None,
    ax: Any = None,
    source: Labels | None = None,
    destination: Labels | None = None,
) -> Any:
    """Draw a bar for each choice of three signs: balanced triangles, and others.

    Parameters
    ----------
    sign : label
        The column of numbers whose signs count: see `balance`.
    aggregate : str, optional
        How the numbers of its rows become that of an edge: see `balance`.

    Notes
    -----
    If the bars differ by a factor of 100 or more, their scale is logarithmic.

    Examples
    --------
    >>> import pandas as pd
    >>> from rapids_tc import plot
    >>> df = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 0], "rating": [2, -1, -3]})
    >>> ax = plot.balance(df, sign="rating")
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['balanced', 'not balanced']
    """
    table = typed.balance(
        edges, sign=sign, aggregate=aggregate, source=source, destination=destination
    )
    counts, names, balanced = columns_of(table, "triangles", "signs", "balanced")
    balanced = balanced.astype(bool)
    ax = new_axes(ax, "signs of the sides", "triangles")
    for chosen, color, label in ((balanced, MAIN, "balanced"), (~balanced, ACCENT, "not balanced")):
        ax.bar(np.flatnonzero(chosen), counts[chosen], color=color, width=0.7, label=label)
    ax.set_xticks(
        range(len(names)), [name.replace("-", "\N{MINUS SIGN}") for name in names.tolist()]
    )
    ax.grid(visible=False, axis="x")
    _scaled(ax, "y", counts.tolist())
    ax.legend(frameon=False)
    return ax


@picture
def triads(
    edges: Frame,
    *,
    vertices: Vertices | None = None,
    directed: bool = False,
    ax: Any = None,
    source: Labels | None = None,
    destination: Labels | None = None,
) -> Any:
    """Draw the census of sets of three vertices: a bar over a little drawing of each kind.

    Parameters
    ----------
    vertices : list, array, Series, Index or DataFrame, optional
        Count only sets with at least one of these: see `triad_counts`.
    directed : bool, optional
        Whether edges lead from source to destination: 16 kinds instead of four.

    Notes
    -----
    The counts are those of `triad_counts`. Their scale is logarithmic: in most graphs nearly all
    sets of three have no edge. A kind that is not there has no bar.

    Examples
    --------
    >>> from rapids_tc import datasets, plot
    >>> ax = plot.triads(datasets.karate())
    >>> [int(bar.get_height()) for bar in ax.patches]
    [3971, 1575, 393, 45]
    """
    table = triad_counts(
        edges, vertices=vertices, directed=directed, source=source, destination=destination
    )
    names, counts = (column.tolist() for column in columns_of(table, "triad", "count"))
    ax = new_axes(ax, "", "sets of three vertices")
    ax.bar(range(len(names)), [float(n) for n in counts], color=MAIN, width=0.7)
    ax.set_xticks(range(len(names)), names, rotation=90 if directed else 0)
    size = 16 if directed else 26  # points of a little drawing
    ax.tick_params(axis="x", length=0, pad=size + 8)
    ax.grid(visible=False, axis="x")
    if any(counts):
        ax.set_yscale("log")
        ax.set_ylim(bottom=0.5)
    arcs = library("networkx").triad_graph if directed else None
    box = library("matplotlib.offsetbox").AnnotationBbox
    for place, name in enumerate(names):
        pairs = _arcs(arcs(name)) if arcs else [(*pair, "-") for pair in _SETS[name]]
        ax.add_artist(
            box(
                _drawn(pairs, size), (place, 0), xybox=(0, -4), xycoords=("data", "axes fraction"),
                boxcoords="offset points", frameon=False, box_alignment=(0.5, 1), pad=0,
                annotation_clip=False,
            )
        )  # fmt: skip
    return ax


@picture
def squares(
    edges: Frame,
    *,
    bipartite: bool = False,
    ax: Any = None,
    source: Labels | None = None,
    destination: Labels | None = None,
) -> Any:
    """Draw how many vertices are in at least x squares over x, on logarithmic scales.

    Parameters
    ----------
    bipartite : bool, optional
        Whether the two columns name different things, as buyers and goods: a line for each.

    Notes
    -----
    The counts are those of `vertex_squares`. A bump far to the right is a group that has the same
    neighbors, such as accounts that are paid to review the same goods.

    Examples
    --------
    >>> from rapids_tc import datasets, plot
    >>> ax = plot.squares(datasets.karate())
    >>> ax.get_xlabel()
    'squares'
    """
    table = vertex_squares(edges, bipartite=bipartite, source=source, destination=destination)
    counts, *sides = columns_of(table, "squares", *["side"] * bipartite)
    ax = new_axes(ax, "squares", "vertices in at least as many")
    for name, color in (("source", MAIN), ("destination", ACCENT)) if bipartite else (("", MAIN),):
        own = counts[(counts > 0) & (sides[0] == name if bipartite else True)]
        x, vertices = np.unique(own, return_counts=True)
        at_least = np.cumsum(vertices[::-1])[::-1]
        ax.plot(x, at_least, "o-", color=color, lw=1, ms=4, label=name)
    if bipartite:
        ax.legend(frameon=False)
    logarithmic(ax, "xy", counts[counts > 0])
    return ax


def _arcs(triad: Any) -> list[tuple[int, int, str]]:
    """Return the arcs of a triad of NetworkX, whose vertices are "a", "b" and "c"."""
    place = {name: i for i, name in enumerate(sorted(triad))}
    found = []
    for a, b in triad.edges:
        both = triad.has_edge(b, a)
        if not both or a < b:
            found.append((place[a], place[b], "<|-|>" if both else "-|>"))
    return found


def _drawn(arcs: list[tuple[int, int, str]], size: float) -> Any:
    """Draw three vertices and the lines between them, of a size in points."""
    patches = library("matplotlib.patches")
    area = library("matplotlib.offsetbox").DrawingArea(size, size)
    corners = [(x * size, y * size) for x, y in _CORNERS]
    for a, b, style in arcs:
        area.add_artist(
            patches.FancyArrowPatch(
                corners[a], corners[b], arrowstyle=style, color=INK, lw=0.9,
                mutation_scale=size / 4, shrinkA=size / 10, shrinkB=size / 10,
            )
        )  # fmt: skip
    for corner in corners:
        area.add_artist(patches.Circle(corner, size / 11, color=INK if arcs else FAINT, lw=0))
    return area


def _scaled(ax: Any, name: str, counts: list[int]) -> None:
    """Set a logarithmic scale where bars would not be seen on a linear one."""
    there = [count for count in counts if count]
    if there and max(there) >= _SPREAD * min(there):
        logarithmic(ax, name, np.array(there))
        getattr(ax, f"set_{name}lim")(0.5 * min(there))
