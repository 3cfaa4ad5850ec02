"""The charts of the study, and what it found, from the files in ``benchmarks/results``."""

from math import prod

import report
from names import shown

from drawings.charts import COUNT, NAMES, OURS, bars, beside, newest, seconds, time, times
from drawings.registry import drawing

STUDY, GPU, TRUSSES, APPROXIMATE, BLOCKS, KINDS, COLD = (
    "study-*", "speed-h*", "h200-*", "approximate-*", "stream-*", "sides-*", "cold-2026*",
)  # fmt: skip


def ratios(found, of, over, what):
    """{graph: how many times as long as another tool a tool takes}, of what both finished."""
    graphs = [graph for tool, graph, figure in found if (tool, figure) == (of, what)]
    return {
        graph: found[of, graph, what] / found[over, graph, what]
        for graph in graphs if (over, graph, what) in found
    }  # fmt: skip


def mean(values):
    """The geometric mean, as is right for ratios."""
    values = [*values]
    return prod(values) ** (1 / len(values))


def of_methods():
    """{method: its count stage over that of "auto", the mean over all graphs}, shortest first."""
    found = seconds(newest(STUDY))
    tools = {tool for tool, _, what in found if what == "count" and tool.startswith("rapids_tc")}
    means = {
        tool.rpartition(" ")[2]: mean(ratios(found, tool, OURS, "count").values())
        for tool in tools - {OURS}
    }
    return dict(sorted(means.items(), key=lambda item: item[1]))


@drawing(
    alt="""A bar for each published method: how many times as long as the chosen one it takes to
    count, as a mean over all graphs. None is shorter than one.""",
    caption="""The count of a prepared graph by each published method, over the time of
    `method="auto"`: the geometric mean over all graphs that the method finished.""",
    narrow=True,
)
def study_methods():
    rows = [(name, value, times(value)) for name, value in of_methods().items()]
    return bars({"times as long as auto": rows}, left=1.8)


@drawing(
    alt="""A bar for each graph: how many times as long as rapids_tc cuGraph takes, longer on all
    of them; the longest bars are those of graphs with hubs.""",
    caption="""From the frame to the count: how many times as long as rapids_tc cuGraph takes on
    each graph.""",
    narrow=True,
)
def study_graphs():
    found = ratios(seconds(newest(STUDY)), "cugraph", OURS, COUNT)
    rows = [(_brief(g), x, times(x)) for g, x in sorted(found.items(), key=lambda x: -x[1])]
    return bars({"cuGraph, times as long": rows}, left=1.8)


def _brief(graph):
    """A name that fits beside a bar."""
    name = shown(graph).removeprefix("Theory ")
    return name if len(name) < 18 else f"{name[:16]}\N{HORIZONTAL ELLIPSIS}"


@drawing(
    alt="""Bars of bytes per row on top of the frame, for R-MAT graphs: rapids_tc stays at about
    28, cuGraph takes several times as much.""",
    caption="""The most memory of a GPU that a count takes on top of the frame, in bytes per
    row.""",
    narrow=True,
)
def study_memory():
    lines = [x for x in newest(STUDY) if x["what"] == "peak memory" and "bytes" in x]
    found = {(x["tool"], x["graph"]): x["bytes"] / x["rows"] for x in lines}
    groups = {}
    for graph in report.graphs_of(lines):
        if graph.startswith("rmat") and ("cugraph", graph) in found:
            both = [(NAMES[tool], found[tool, graph]) for tool in (OURS, "cugraph")]
            groups[shown(graph)] = [(name, x, f"{report.three(x)} bytes") for name, x in both]
    return bars(groups)


@drawing(
    alt="""Bars of the k-truss of two graphs for k of 4, 8 and 16: the bars of rapids_tc are short
    beside those of cuGraph.""",
    caption="""The k-truss of a prepared graph, for three values of k.""",
    narrow=True,
)
def study_trusses():
    found, groups = seconds(newest(TRUSSES)), {}
    for tool, graph, what in found:
        if tool == "cugraph" and what.endswith("-truss"):
            both = [(NAMES[t], found[t, graph, what]) for t in (OURS, "cugraph")]
            groups[f"{shown(graph)}, {what}"] = beside(both)
    return bars(groups)


@drawing(
    alt="""Bars of estimates from more and more colors, for three graphs: on the largest graph an
    estimate is up to three times faster than the exact count, on the smallest it is not.""",
    caption="""How many times faster an estimate is than the exact count, with the mean error of
    30 estimates.""",
    narrow=True,
)
def study_approximate():
    groups = {}
    lines = newest(APPROXIMATE)
    for graph in report.graphs_of(lines):
        own = [x for x in lines if x["graph"] == graph]
        exact = next(x["seconds"] for x in own if x["what"] == "exact")
        groups[shown(graph)] = [
            (x["what"].replace("colours", "colors"), exact / x["seconds"],
             f"{times(exact / x['seconds'])}, error {100 * x['error']:.2g} %")
            for x in own if "error" in x
        ]  # fmt: skip
    return bars(groups, right=1.6)


@drawing(
    alt="""Three bars: a count in memory, in blocks within an eighth of the memory, and the first
    such call, which is the longest.""",
    caption="""R-MAT 24 in the memory of a GPU, and in blocks that lie in the memory of the host,
    within an eighth of the GPU's. The first call makes the memory of the host ready.""",
    narrow=True,
)
def study_blocks():
    names = {
        COUNT: "in memory", f"{COUNT}, in blocks within an eighth": "in blocks",
        f"{COUNT}, in blocks, the first call": "first call",
    }  # fmt: skip
    found = seconds(newest(BLOCKS))
    rows = [(names[what], value) for (*_, what), value in found.items()]
    return bars({"R-MAT 24": beside(rows)})


@drawing(
    alt="""Bars of what a pass over all triangles costs: counts of edges, twelve types, a thousand
    windows, windows with lists, and sums by vertex, which take the longest.""",
    caption="""One pass over the triangles of a prepared graph of R-MAT 24: what it costs to ask
    more of each triangle than to count it.""",
    narrow=True,
)
def study_kinds():
    names = {
        "edge counts": "count edges", "12 types": "12 types", "1000 windows": "1,000 windows",
        "windows, lists": "several spans", "vertex sums": "vertex sums",
    }  # fmt: skip
    lines = newest(KINDS)
    found, graph = seconds(lines), report.graphs_of(lines)[-1]
    return bars({
        shown(graph): beside([(name, found[OURS, graph, what]) for what, name in names.items()])
    })  # fmt: skip


@drawing(
    alt="""Bars of the seconds from the start of Python to the first count, with nothing cached
    and with the compiled code on disk, for rapids_tc and cuGraph.""",
    caption="""From the start of Python to the first count of R-MAT 18 on a GPU, most of it
    imports.""",
    narrow=True,
)
def study_cold():
    found, groups = seconds(newest(COLD)), {}
    for title, what in (("nothing compiled yet", "cold start, nothing cached"),
                        ("compiled code on disk", "cold start")):  # fmt: skip
        graph = next(graph for _, graph, figure in found if figure == what)
        groups[title] = beside([(NAMES[t], found[t, graph, what]) for t in (OURS, "cugraph")])
    return bars(groups)


def findings():
    """{name: what a chart says, in words}, for the page of the study."""
    found, methods = seconds(newest(STUDY)), of_methods()
    nearest, second, *_, last = methods
    graphs = ratios(found, "cugraph", OURS, COUNT)
    memory = [x for x in newest(STUDY) if x["what"] == "peak memory" and "bytes" in x]
    per_row = {(x["tool"], x["graph"]): x["bytes"] / x["rows"] for x in memory}
    shared = [g for tool, g in per_row if tool == "cugraph" and (OURS, g) in per_row]
    less = mean(per_row["cugraph", g] / per_row[OURS, g] for g in shared)
    gpu = seconds(newest(TRUSSES))
    trusses = [
        gpu["cugraph", graph, what] / gpu[OURS, graph, what]
        for tool, graph, what in gpu if tool == "cugraph" and what.endswith("-truss")
    ]  # fmt: skip
    blocks = {what: value for (*_, what), value in seconds(newest(BLOCKS)).items()}
    return {
        "found_methods": (
            f"`{nearest}`, of whose kind the kernels of `auto` are, takes {methods[nearest]:.1f} "
            f"times as long as `auto`, the next, `{second}`, {methods[second]:.1f} times, and the "
            f"last, `{last}`, {methods[last]:.1f} times."
        ),
        "found_graphs": (
            f"cuGraph takes longer on {sum(x > 1 for x in graphs.values())} of {len(graphs)} "
            f"graphs: {mean(graphs.values()):.1f} times as long in the geometric mean, from "
            f"{min(graphs.values()):.1f} to {max(graphs.values()):,.0f}."
        ),
        "found_memory": (
            f"In the mean of {len(shared)} graphs, cuGraph takes {less:.1f} times as much memory "
            "on top of the frame."
        ),
        "found_trusses": (f"cuGraph takes {min(trusses):.0f} to {max(trusses):.0f} times as long."),
        "found_blocks": (
            f"{time(blocks[f'{COUNT}, in blocks within an eighth'])} in place of "
            f"{time(blocks[COUNT])}: less than twice as long, in an eighth of the memory."
        ),
    }
