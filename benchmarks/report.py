"""The tables of the README, made from the figures in ``results/``.

python benchmarks/report.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
# The file of a table, its columns as (heading, tool, figure), and what the time is shown in.
CARD = (
    "h200-2026-11-28.jsonl",
    [
        ("count stage", "rapids_tc cuda auto", "count"),
        ("frame to count", "rapids_tc cuda auto", "frame to count"),
        ("frame to edge column", "rapids_tc cuda auto", "frame to edge column"),
        ("frame to truss numbers", "rapids_tc cuda auto", "frame to trussness"),
        ("cuGraph: build and count", "cugraph", "frame to count"),
        ("cuGraph: one k-truss, k = 16", "cugraph", "16-truss"),
    ],
)
LATER = "h100-2026-11-28.jsonl", CARD[1][:3]
CPU = (
    "cpu-2026-11-28.jsonl",
    [
        ("count stage", "rapids_tc cpu auto", "count"),
        ("frame to count", "rapids_tc cpu auto", "frame to count"),
        ("frame to edge column", "rapids_tc cpu auto", "frame to edge column"),
        ("igraph: build and count", "igraph", "frame to count"),
        ("networkit: build and count", "networkit", "frame to count"),
    ],
)


def read(name: str) -> list[dict[str, Any]]:
    """The figures of a file."""
    return [json.loads(line) for line in (RESULTS / name).read_text().splitlines()]


def table(name: str, columns: list[tuple[str, str, str]]) -> str:
    """Medians in milliseconds, a row a graph, below a line that says where they were measured."""
    lines = read(name)
    found = {(x["graph"], x["tool"], x["what"]): x for x in lines}
    graphs = [g for g in dict.fromkeys(x["graph"] for x in lines) if g.startswith("rmat")]
    head = ["graph", "rows", *(heading for heading, _, _ in columns)]
    rows = [head, ["---"] * 2 + ["---:"] * len(columns)]
    for graph in graphs:
        cells = [found.get((graph, tool, figure)) for _, tool, figure in columns]
        size = next(x["rows"] for x in lines if x["graph"] == graph)
        shown = [milliseconds(x["seconds"]) if x else "" for x in cells]
        rows.append([graph.replace("rmat:", "R-MAT "), f"{size / 1e6:.1f} M", *shown])
    return about(lines) + "\n\n" + "\n".join(f"| {' | '.join(row)} |" for row in rows)


def about(lines: list[dict[str, Any]]) -> str:
    """What the figures were measured on and with."""
    first, versions = lines[0], lines[0]["versions"]
    place = f"{first['card']}, driver {first['driver']}" if "card" in first else cpu(first)
    wanted = ("cudf-cu13", "cupy-cuda13x", "cugraph-cu13", "numba", "igraph", "networkit")
    with_ = ", ".join(f"{name} {versions[name]}" for name in wanted if name in versions)
    commits = " and ".join(dict.fromkeys(x["commit"] for x in lines))
    return f"Milliseconds, medians, on {place} ({with_}; commit {commits}; {first['date']})."


def milliseconds(seconds: float) -> str:
    return f"{1e3 * seconds:,.{1 if seconds < 0.1 else 0}f}"


def cpu(line: dict[str, Any]) -> str:
    return f"{line['cores']} cores of an {line['cpu']}"


def tables() -> str:
    """All tables of the README."""
    return "\n\n".join(table(name, columns) for name, columns in (CARD, LATER, CPU)) + "\n"


def main() -> None:
    readme = RESULTS.parents[1] / "README.md"
    told = readme.read_text().partition("\n## Speed\n")[0]
    readme.write_text(f"{told}\n## Speed\n{tables()}")


if __name__ == "__main__":
    main()
