"""What all pictures share: colors, axes, and what matplotlib needs to be told."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc._typing import Frame, Label, Labels
from rapids_tc.graphs import resolve
from rapids_tc.plan.record import Options

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from rapids_tc.graphs.in_memory import InMemoryGraph

MAIN, ACCENT, FAINT, INK = "#2b6cb0", "#dd6b20", "#c9d1d9", "#2d3748"
COLORS = (MAIN, ACCENT, "#2f855a", "#7c51c9", "#b7791f", "#c53030", "#0987a0")  # side by side
DRAWN = 400  # vertices, or communities: a picture of more shows no single line


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


def values_of(frame: Frame, name: Label) -> np.ndarray:
    """Return a column of an answer, whatever library it is of, in the memory of the host."""
    column = frame[name]
    column = column.compute() if hasattr(column, "compute") else column
    shown = column.to_pandas() if hasattr(column, "to_pandas") else column
    return np.asarray(shown)


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
