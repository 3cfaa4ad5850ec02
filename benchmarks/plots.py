"""Plots of a results file: time by graph, speed-up, memory, and counters of kernels."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from names import Found, Line, graphs_of, short, shown, tools_of

MARKS = "osD^v<>pPX*hdH8"
FEWEST = 3  # graphs of a plot by graph


def draw(name: str, lines: list[Line], folder: Path) -> list[Path]:
    """Draw the plots of a file's lines into `folder`, and return their paths."""
    found = {(x["graph"], x["tool"], x["what"]): x for x in lines if "what" in x}
    found = {key: x for key, x in found.items() if "seconds" in x or "bytes" in x}
    pictures = []
    for title, plot in (
        ("count", lambda axes: by_graph(axes, lines, found, "count", seconds, "seconds")),
        ("frame-to-count",
         lambda axes: by_graph(axes, lines, found, "frame to count", seconds, "seconds")),
        ("memory", lambda axes: by_graph(
            axes, lines, found, "peak memory", lambda x: x["bytes"] / x["rows"], "bytes a row")),
        ("speed-up", lambda axes: speedup(axes, lines, found)),
        ("kernels", lambda axes: kernels(axes, lines)),
    ):  # fmt: skip
        figure, axes = plt.subplots(figsize=(9, 6), layout="constrained")
        if plot(axes):
            folder.mkdir(exist_ok=True)
            path = folder / f"{name}-{title}.png"
            figure.savefig(path, dpi=110, metadata={"Software": None})
            pictures.append(path)
        plt.close(figure)
    return pictures


def seconds(line: Line) -> float:
    """Return the seconds of a line."""
    return line["seconds"]


def by_graph(
    axes: Any, lines: list[Line], found: Found, what: str, value: Callable[[Line], float], unit: str
) -> bool:
    """Draw a mark per tool in a row per graph; return whether there is enough to compare."""
    tools, graphs = tools_of(found, what), graphs_of(lines)
    graphs = [g for g in graphs if sum((g, tool, what) in found for tool in tools) > 1]
    if len(graphs) < FEWEST:
        return False
    axes.figure.set_figheight(2 + 0.25 * len(graphs))
    for number, tool in enumerate(tools):
        rows = [row for row, graph in enumerate(graphs) if (graph, tool, what) in found]
        values = [value(found[graphs[row], tool, what]) for row in rows]
        filled = {} if tool.endswith("auto") else {"markerfacecolor": "none"}
        mark, color = MARKS[number % len(MARKS)], f"C{number % 10}"
        axes.plot(values, rows, mark, color=color, label=short(tool), **filled)
    axes.set_yticks(range(len(graphs)), [shown(graph) for graph in graphs])
    axes.invert_yaxis()
    axes.set(xscale="log", xlabel=unit, title=what)
    axes.grid(axis="both", alpha=0.3)
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    return True


def speedup(axes: Any, lines: list[Line], found: Found) -> bool:
    """Draw how many times faster auto is than cuGraph, and than the count stage of tricore."""
    auto = "rapids_tc cuda auto"
    pairs = [("cugraph", "frame to count", "frame to count, over cuGraph"),
             ("rapids_tc cuda tricore", "count", "count stage, over tricore")]  # fmt: skip

    def times_faster(graph: str, tool: str, what: str) -> float:
        fast, slow = found.get((graph, auto, what)), found.get((graph, tool, what))
        return slow["seconds"] / fast["seconds"] if fast and slow else 0.0

    graphs = [g for g in graphs_of(lines) if any(times_faster(g, *pair[:2]) for pair in pairs)]
    axes.figure.set_figheight(2 + 0.25 * len(graphs))
    for number, (tool, what, title) in enumerate(pairs):
        times = [times_faster(graph, tool, what) for graph in graphs]
        rows = [row + 0.4 * number - 0.2 for row in range(len(graphs))]
        axes.barh(rows, times, height=0.38, label=title)
    axes.set_yticks(range(len(graphs)), [shown(graph) for graph in graphs])
    axes.invert_yaxis()
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set(xscale="log", xlabel="times faster", title="auto")
    axes.legend(frameon=False)
    return len(graphs) >= FEWEST


def kernels(axes: Any, lines: list[Line]) -> bool:
    """Draw a mark per kernel: how full its warps are over how scattered its loads are."""
    profiled = [x for x in lines if "counters" in x]
    for x in profiled:
        position = x["counters"]["sectors a load"], x["counters"]["warp efficiency"]
        axes.plot(*position, "o", markersize=3 + 30 * x["kernel_seconds"] ** 0.3, alpha=0.4)
        axes.annotate(x["kernel"], position, xytext=(4, 4), textcoords="offset points", fontsize=8)
    axes.set(xlabel="sectors a load, of 32", ylabel="warp efficiency, %", ylim=(0, 102),
             title="kernels; the larger, the longer")  # fmt: skip
    axes.grid(alpha=0.3)
    return bool(profiled)
