"""Names of graphs and tools as tables and plots show them, and their order."""

from __future__ import annotations

from typing import Any

Line = dict[str, Any]
Found = dict[tuple[str, str, str], Line]  # a figure by graph, tool and what it is
OURS = ("rapids_tc cuda ", "rapids_tc cpu ", "rapids_tc ")


def shown(graph: str) -> str:
    """Return the name of a graph in a table."""
    kind, _, rest = graph.partition(":")
    titles = {"rmat": "R-MAT", "grid": "3-D grid", "theory": "Theory"}
    return f"{titles.get(kind, kind)} {rest}".strip().replace(":", ", ")


def short(tool: str) -> str:
    """Return the name of a tool without the name of our package and engine."""
    return next((tool.removeprefix(ours) for ours in OURS if tool.startswith(ours)), tool)


def graphs_of(lines: list[Line]) -> list[str]:
    """List the graphs, the graphs of a family by size."""
    size = {x["graph"]: x.get("rows", 0) for x in lines}
    kinds = [*dict.fromkeys(graph.partition(":")[0] for graph in size)]
    return sorted(size, key=lambda g: (kinds.index(g.partition(":")[0]), size[g]))


def tools_of(found: Found, what: str) -> list[str]:
    """List the tools that have a figure: auto, the methods, the other libraries."""
    tools = dict.fromkeys(tool for _, tool, figure in found if figure == what)
    return sorted(tools, key=lambda t: (not t.endswith("auto"), not t.startswith(OURS)))
