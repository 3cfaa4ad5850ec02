"""What all pictures share: colors, axes, and what matplotlib needs to be told."""

from __future__ import annotations

import functools
import inspect
import re
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc._arguments import Function, with_hints
from rapids_tc._typing import Frame, Label, Labels
from rapids_tc.frames.adapters import to_host
from rapids_tc.graphs import resolve
from rapids_tc.graphs.edge_graph import prepared_in
from rapids_tc.plan.record import Options

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from rapids_tc.graphs.in_memory import InMemoryGraph

MAIN, ACCENT, FAINT, INK = "#2b6cb0", "#dd6b20", "#c9d1d9", "#2d3748"
COLORS = (MAIN, ACCENT, "#2f855a", "#7c51c9", "#b7791f", "#c53030", "#0987a0")  # side by side
DRAWN = 400  # vertices, or communities: a picture of more shows no single line
_PARAMETERS = """\
Parameters
----------
edges : DataFrame or Graph
    One row per edge.
{own}ax : matplotlib.axes.Axes, optional
    The axes to draw on; by default new ones.
source, destination : label or list of labels, optional
    The two id columns; see `Graph`.

Returns
-------
matplotlib.axes.Axes"""
_FETCH = ("toPandas", "compute", "collect")  # of frames of Spark and Dask, and of lazy ones


def picture(draw: Function) -> Function:
    """Make a picture public: document what all of them take, and refuse a wrong call in words."""

    @functools.wraps(draw)
    def call(edges: Frame, *args: Any, ax: Any = None, **options: Any) -> Any:
        # Colors of maps, lengths of poles: other axes lack what bars and lines stand on.
        if ax is not None and getattr(ax, "name", None) != "rectilinear":
            raise TypeError(
                f"ax is of type {type(ax).__name__}: give flat axes of matplotlib, one of those of "
                "figure, axes = plt.subplots(1, 2), such as axes[0]"
            )
        columns = getattr(prepared_in(edges), "id_columns", None)
        if columns is not None and columns.groups:
            raise ValueError(
                "a picture is of one graph, and this one has groups by=: give the rows of one group"
            )
        return draw(edges, *args, ax=ax, **options)

    checked = with_hints(call)
    summary, *sections = re.split(r"\n\n(?=[A-Z][\w ]+\n-{3})", inspect.getdoc(draw) or "")
    own = ""
    if sections[0].startswith("Parameters"):
        own = sections.pop(0).split("\n", 2)[2] + "\n"
    checked.__doc__ = "\n\n".join([summary, _PARAMETERS.format(own=own), *sections])
    return checked  # type: ignore[return-value]


def opened(
    edges: Frame, source: Labels | None, destination: Labels | None
) -> AbstractContextManager[InMemoryGraph]:
    """Open the graph of edges, or a prepared one."""
    return resolve.opened(edges, Options(source, destination))


def library(name: str) -> Any:
    """Import a module that pictures need, or say how to install it."""
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(f"pictures need {error.name}: pip install 'rapids_tc[plot]'") from error


def columns_of(answer: Frame, *names: Label) -> list[np.ndarray]:
    """Return columns of an answer, whatever library it is of, in the memory of the host."""
    for fetch in _FETCH:
        if hasattr(answer, fetch):
            answer = getattr(answer, fetch)()
    columns = (answer[name] for name in names)
    return [np.asarray(x.to_pandas() if hasattr(x, "to_pandas") else to_host(x)) for x in columns]


def new_axes(ax: Any, x: str, y: str) -> Any:
    """Return the axes to draw on, with names and without decoration."""
    if ax is None:
        ax = library("matplotlib.pyplot").subplots(layout="constrained")[1]
    ax.set_xlabel(x, color=INK)
    ax.set_ylabel(y, color=INK)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(color=FAINT, lw=0.5, alpha=0.6)
    ax.set_axisbelow(True)
    return ax


def logarithmic(ax: Any, names: str, shown: np.ndarray) -> None:
    """Set logarithmic scales with plain numbers; leave linear ones if nothing is shown."""
    ticker = library("matplotlib.ticker")
    marked = (1, 2, 5) if len(shown) and shown.max() < 1000 * shown.min() else (1,)
    for name in names if len(shown) else "":
        getattr(ax, f"set_{name}scale")("log")
        axis = getattr(ax, f"{name}axis")
        axis.set_major_locator(ticker.LogLocator(subs=marked, numticks=10))
        axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:,.10g}"))
        axis.set_minor_formatter(ticker.NullFormatter())
