"""Make the tables of the README and of STUDY.md, and plots, from the files in ``results/``.

    python benchmarks/report.py [--plots]

Each file in ``results/`` holds the figures of one machine. The README shows a few columns of the
newest files, STUDY.md shows all. After a results file is added, only this command must be run.
Files in ``results/others/`` have lines of other kinds, which NOTES.md tells of.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from math import floor, log10
from pathlib import Path

import click
from names import OURS, Found, Line, graphs_of, short, shown, tools_of

HERE = Path(__file__).parent
RESULTS, PLOTS, STUDY = HERE / "results", HERE / "plots", HERE / "STUDY.md"
# A column of the README: heading, tool, figure.
CARD = [
    ("count stage", "rapids_tc cuda auto", "count"),
    ("frame to count", "rapids_tc cuda auto", "frame to count"),
    ("pool", "rapids_tc cuda auto", "frame to count, rmm pool"),
    ("frame to edge column", "rapids_tc cuda auto", "frame to edge_triangles"),
    ("pool", "rapids_tc cuda auto", "frame to edge_triangles, rmm pool"),
    ("frame to truss numbers", "rapids_tc cuda auto", "frame to trussness"),
    ("pool", "rapids_tc cuda auto", "frame to trussness, rmm pool"),
    ("cuGraph: build and count", "cugraph", "frame to count"),
    ("pool", "cugraph", "frame to count, rmm pool"),
]
CPU = [
    ("count stage", "rapids_tc cpu auto", "count"),
    ("frame to count", "rapids_tc cpu auto", "frame to count"),
    ("frame to edge column", "rapids_tc cpu auto", "frame to edge column"),
    ("igraph: build and count", "igraph", "frame to count"),
    ("networkit: build and count", "networkit", "frame to count"),
]
DASK = [
    ("4 GPUs over ucxx", "rapids_tc dask ucxx", "frame to count"),
    ("4 GPUs over tcp", "rapids_tc dask tcp", "frame to count"),
    ("one GPU", "rapids_tc cuda auto", "frame to count"),
    ("cuGraph, 4 GPUs over ucxx: build and count", "cugraph dask ucxx", "frame to count"),
]
# The newest file of each pattern is shown.
README = (("speed-h*", CARD), ("dask-*", DASK), ("cpu-*", CPU))
MATRICES = {  # figures that STUDY.md shows with a column per tool
    "count": "Count stage, milliseconds",
    "edge counts": "Edge counts, milliseconds",
    "frame to count": "Frame to count, milliseconds",
}
APPROXIMATE = "rapids_tc approximate"  # from approximate.py; the error is shown beside the time


def read(name: str) -> list[Line]:
    """Read the figures of a file; what was taken with a memory pool says so."""
    lines = [json.loads(line) for line in (RESULTS / name).read_text().splitlines()]
    for line in lines:
        if line.get("pool", "none") != "none":
            line["what"] += f", {line['pool']} pool"
    return lines


# Text ---------------------------------------------------------------------------------------------


def table(head: list[str], rows: Iterable[list[str]], words: int = 1) -> str:
    """Make a table of Markdown; its first columns are words, the others are numbers."""
    align = ["---"] * words + ["---:"] * (len(head) - words)
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, align, *rows])


def about(lines: list[Line]) -> str:
    """Describe the machine and the versions of some figures."""
    first, versions = lines[0], lines[0]["versions"]
    packages = ("cudf-cu13", "cupy-cuda13x", "cugraph-cu13", "numba", "igraph", "networkit")
    listed = ", ".join(f"{name} {versions[name]}" for name in packages if name in versions)
    commits = " and ".join(dict.fromkeys(x["commit"] for x in lines))
    return f"{machine(first)} ({listed}; commit {commits}; {first['date']})."


def machine(line: Line) -> str:
    """Describe the GPU of a line, or its CPU if it was measured without a GPU."""
    if "card" in line:
        return f"{line['card']}, driver {line['driver']}"
    return f"{line['cores']} cores of an {line['cpu']}"


def milliseconds(seconds: float) -> str:
    """Print seconds as milliseconds."""
    return f"{1e3 * seconds:,.{1 if seconds < 0.1 else 0}f}"


def three(value: float) -> str:
    """Print a number with three significant digits."""
    return f"{value:,.{max(0, 2 - floor(log10(value)))}f}" if value > 0 else "0"


# The README ---------------------------------------------------------------------------------------


def tables() -> str:
    """Make the section of the README on speed."""
    parts = []
    for pattern, columns in README:
        for file in sorted(RESULTS.glob(f"{pattern}.jsonl"))[-1:]:
            lines = read(file.name)
            parts.append(readme_table(lines, columns))
    return "\n\n".join([*parts, LINK]) + "\n"


LINK = "Every method on every graph, memory and cold starts: [the study](benchmarks/STUDY.md)."


def readme_table(lines: list[Line], columns: list[tuple[str, str, str]]) -> str:
    """Make a table of medians in milliseconds, with a row per R-MAT graph; no column is empty."""
    found = {(x["graph"], x["tool"], x["what"]): x for x in lines if "seconds" in x}
    graphs = [g for g in graphs_of(lines) if g.startswith("rmat")]
    columns = [c for c in columns if any((graph, *c[1:]) in found for graph in graphs)]
    rows = []
    for graph in graphs:
        cells = [found.get((graph, tool, figure)) for _, tool, figure in columns]
        size = next(x["rows"] for x in lines if x["graph"] == graph)
        times = [milliseconds(x["seconds"]) if x else "" for x in cells]
        if any(times):
            rows.append([shown(graph), f"{size / 1e6:.1f} M", *times])
    head = ["graph", "rows", *(heading for heading, _, _ in columns)]
    figures = lines[0].get("statistic", "medians")
    caption = f"Milliseconds, {figures}, on {about(lines)}"
    if "pool" in head:
        caption += " *pool*: the same with a memory pool of RMM."
    return f"{caption}\n\n{table(head, rows, words=2)}"


# STUDY.md -----------------------------------------------------------------------------------------


def study() -> str:
    """Make STUDY.md: all tables of all results."""
    parts = [
        "# The comparative study",
        "Made by `python benchmarks/report.py` from the files in `results/`, whose lines also hold "
        "the spread, the first call and the command of every figure. Figures are medians, after a "
        "call that warms up; all tools of a run gave the same answers. The count stage is the "
        "count of a graph that is prepared, frame to count the whole call on raw rows. An empty "
        "cell was not measured, or not finished: the reasons stand below a section's tables.",
    ]  # fmt: skip
    for file in sorted(RESULTS.glob("*.jsonl")):
        parts += section(file.stem, read(file.name))
    return "\n\n".join(parts) + "\n"


def section(name: str, lines: list[Line]) -> Iterator[str]:
    """Yield the parts of the section of one file."""
    yield f"## {name}"
    yield f"On {about(lines)}"
    yield from (x["remark"] for x in lines if "remark" in x)
    timed = [x for x in lines if "seconds" in x and "threads" not in x]
    found = {(x["graph"], x["tool"], x["what"]): x for x in timed}
    for what, title in MATRICES.items():
        if matrix := times(lines, found, what):
            yield f"### {title}\n\n{matrix}"
    for title, body in (
        ("Speed-up of frame to count over cuGraph", speedup(lines, found, "cugraph")),
        ("Speed-up of the count stage over tricore", speedup(lines, found, "tricore")),
        ("Peak memory on top of the frame, bytes a row", memory(lines)),
        ("Peak memory of every function on top of the frame, bytes a row", functions(lines)),
        ("Cold start to answer, seconds", cold(lines)),
        ("Seconds on threads of the CPU engine", scaling(lines)),
        ("Kernels, by Nsight Compute", kernels(lines)),
        ("Approximate counts: error against speed", approximations(lines)),
        ("Other figures, milliseconds", others(lines, found)),
        ("Not finished", unfinished(lines)),
    ):
        if body:
            yield f"### {title}\n\n{body}"
    for plot in sorted(PLOTS.glob(f"{name}-*.png")):
        yield f"![{plot.stem}](plots/{plot.name})"


def times(lines: list[Line], found: Found, what: str) -> str:
    """Make a table of milliseconds by graph and tool, and of auto over the best named method."""
    tools = tools_of(found, what)
    auto = [tool for tool in tools if tool.endswith(" auto")]
    named = [tool for tool in tools if tool.startswith(OURS) and tool not in auto]
    rows = []
    for graph in graphs_of(lines):
        of = {t: found[graph, t, what]["seconds"] for t in tools if (graph, t, what) in found}
        if not of:
            continue
        best = min(of.values())
        cells = [cell(1e3 * of[t], bold=of[t] == best) if t in of else "" for t in tools]
        if auto and named:
            methods = [of[t] for t in named if t in of]
            comparable = methods and auto[0] in of
            cells.append(f"{of[auto[0]] / min(methods):.2f}" if comparable else "")
        rows.append([shown(graph), *cells])
    head = ["graph", *map(short, tools), *(["auto ÷ best method"] if auto and named else [])]
    return table(head, rows) if rows else ""


def cell(value: float, *, bold: bool) -> str:
    """Print a number with three significant digits, perhaps in bold."""
    return f"**{three(value)}**" if bold else three(value)


def speedup(lines: list[Line], found: Found, over: str) -> str:
    """Make a table of how many times faster than another tool each method is."""
    what = "frame to count" if over == "cugraph" else "count"
    tools = [tool for tool in tools_of(found, what) if short(tool) != over]
    base = next((t for t in tools_of(found, what) if short(t) == over), "")
    rows = []
    for graph in graphs_of(lines):
        if (slow := found.get((graph, base, what))) is None:
            continue
        fast = [found.get((graph, tool, what)) for tool in tools]
        cells = [three(slow["seconds"] / x["seconds"]) if x else "" for x in fast]
        rows.append([shown(graph), *cells])
    return table(["graph", *map(short, tools)], rows) if rows and tools else ""


def memory(lines: list[Line]) -> str:
    """Make a table of peak memory per row by graph and tool."""
    found = {(x["graph"], x["tool"], x["what"]): x for x in lines if "bytes" in x}
    tools = tools_of(found, "peak memory")
    rows = []
    for graph in graphs_of(lines):
        of = [found.get((graph, tool, "peak memory")) for tool in tools]
        if any(of):
            rows.append([shown(graph), *(three(x["bytes"] / x["rows"]) if x else "" for x in of)])
    return table(["graph", *map(short, tools)], rows) if rows else ""


def functions(lines: list[Line]) -> str:
    """Make a table of peak memory per row by function and graph."""
    names = [x["what"].partition(": ")[2] for x in lines if x["what"].startswith("peak memory: ")]
    graphs = graphs_of(lines)
    found = {(x["graph"], x["what"].partition(": ")[2]): x for x in lines if "bytes" in x}
    rows = [
        [
            name,
            *(
                three(x["bytes"] / x["rows"]) if (x := found.get((graph, name))) else ""
                for graph in graphs
            ),
        ]
        for name in dict.fromkeys(names)
    ]
    return table(["function", *map(shown, graphs)], rows) if rows else ""


def cold(lines: list[Line]) -> str:
    """Make a table of cold starts."""
    rows = [
        [shown(x["graph"]), short(x["tool"]), x["what"], three(x["seconds"]), three(x["imports"])]
        for x in lines
        if "imports" in x
    ]
    return table(["graph", "tool", "figure", "seconds", "of it imports"], rows, 3) if rows else ""


def scaling(lines: list[Line]) -> str:
    """Make a table of seconds by the number of threads."""
    timed = [x for x in lines if "threads" in x and "seconds" in x]
    numbers = sorted({x["threads"] for x in timed})
    found = {(x["what"], x["graph"], x["threads"]): three(x["seconds"]) for x in timed}
    rows = [
        [what, shown(graph), *(found.get((what, graph, number), "") for number in numbers)]
        for what, graph in dict.fromkeys((x["what"], x["graph"]) for x in timed)
    ]
    head = ["", "graph", *(f"{number} thread{'s' * (number > 1)}" for number in numbers)]
    return table(head, rows, 2) if rows else ""


def kernels(lines: list[Line]) -> str:
    """Make a table of the counters of kernels."""
    profiled = [x for x in lines if "counters" in x]
    if not profiled:
        return ""
    head = ["graph", "method", "kernel", "ms", *profiled[0]["counters"]]
    rows = [
        [
            shown(x["graph"]), short(x["tool"]), x["kernel"], three(1e3 * x["kernel_seconds"]),
            *(three(value) for value in x["counters"].values()),
        ]
        for x in sorted(profiled, key=lambda x: x["kernel_seconds"])
    ]  # fmt: skip
    units = "Warp efficiency, occupancy, DRAM, L2 and L2 hits in percent."
    return f"{table(head, rows, 3)}\n\n{units}"


def approximations(lines: list[Line]) -> str:
    """Make a table of the errors and times of estimates."""
    measured = [x for x in lines if x["tool"] == APPROXIMATE]
    exact = {x["graph"]: x["seconds"] for x in measured if x["what"] == "exact"}
    rows = [
        [
            shown(x["graph"]), x["what"].replace("colours", "colors"), milliseconds(x["seconds"]),
            f"{exact[x['graph']] / x['seconds']:.1f}",
            *(f"{100 * x[k]:.2g}" if k in x else "" for k in ("error", "stated")),
            f"{100 * x['held']:.0f}" if "held" in x else "",
        ]
        for x in measured
    ]  # fmt: skip
    head = ["graph", "", "frame to count, ms", "times faster"]
    head += ["error, %", "standard error stated, %", "intervals that hold, %"]
    return table(head, rows, 2) if rows else ""


def others(lines: list[Line], found: Found) -> str:
    """Make a table of figures that few tools have: a row per figure, a column per graph."""
    known = {
        (tool, what): None
        for _, tool, what in found
        if what not in MATRICES and tool != APPROXIMATE and not what.startswith("cold start")
    }
    graphs = [g for g in graphs_of(lines) if any((g, *key) in found for key in known)]
    rows = []
    for tool, what in known:
        of = [found.get((graph, tool, what)) for graph in graphs]
        label = tool.removesuffix(" auto").removesuffix(" cuda").removesuffix(" cpu")
        rows.append([f"{label}: {what}", *(three(1e3 * x["seconds"]) if x else "" for x in of)])
    return table(["", *map(shown, graphs)], rows) if rows else ""


def unfinished(lines: list[Line]) -> str:
    """List the figures that were not measured, with the reasons."""
    why: dict[tuple[str, str], list[str]] = {}
    for x in lines:
        if "skipped" in x:
            why.setdefault((shown(x["graph"]), x["skipped"]), []).append(
                f"{short(x['tool'])} ({x['what']})"
            )
    return "\n".join(f"- {graph}: {', '.join(who)}: {text}" for (graph, text), who in why.items())


@click.command()
@click.option("--plots", is_flag=True, help="Draw the plots anew as well.")
def main(plots: bool) -> None:
    """Write the tables of the README and of STUDY.md from the files in results/."""
    if plots:
        from plots import draw

        for file in sorted(RESULTS.glob("*.jsonl")):
            draw(file.stem, read(file.name), PLOTS)
    readme = HERE.parent / "README.md"
    before = readme.read_text().partition("\n## Speed\n")[0]
    readme.write_text(f"{before}\n## Speed\n{tables()}")
    STUDY.write_text(study())


if __name__ == "__main__":
    main()
