"""Charts of the figures in ``benchmarks/results``: bars, each with its value."""

import sys
from pathlib import Path

from drawings.registry import drawing
from drawings.style import NORMAL, Sheet

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import report
from names import shown

WIDTH, LEFT, RIGHT = 5.2, 1.25, 1.3  # of a chart, of its labels and of its values, in inches
ROLES = {
    "rapids_tc": "accent", "with a pool": "accent", "cuGraph": "third", "NetworkX": "fourth",
    "igraph": "main", "networkit": "faint",
}  # fmt: skip


OURS, CPU, COUNT = "rapids_tc cuda auto", "rapids_tc cpu auto", "frame to count"
POOL = f"{COUNT}, rmm pool"


def file_of(pattern):
    """The name of the newest file of a kind."""
    return sorted(report.RESULTS.glob(f"{pattern}.jsonl"))[-1].name


def newest(pattern):
    """The figures of the newest file of a kind."""
    return report.read(file_of(pattern))


def seconds(lines):
    """{(tool, graph, figure): seconds}; of two figures of one kind, the last, as in tables."""
    return {(x["tool"], x["graph"], x["what"]): x["seconds"] for x in lines if "seconds" in x}


def time(value):
    """Seconds with their unit."""
    return f"{report.three(value)} s" if value >= 1 else f"{report.three(1e3 * value)} ms"


def times(value):
    """How many times faster."""
    return f"{value:.{1 if value < 10 else 0}f} \N{MULTIPLICATION SIGN}"


def bars(groups, left=LEFT, right=RIGHT):
    """A sheet of groups of bars: {title: [(label, value, what is written behind the bar)]}."""
    height = sum(0.5 + 0.27 * len(rows) for rows in groups.values())
    sheet = Sheet(height, WIDTH)
    panel = sheet.panel(0, 0, WIDTH, height, frame=False)
    y = height
    for title, rows in groups.items():
        panel.text((0.08, y - 0.2), title, size=NORMAL, weight="bold", ha="left")
        y -= 0.52
        longest = max(value for _, value, _ in rows)
        for label, value, said in rows:
            width = (WIDTH - left - right) * value / longest
            panel.text((left - 0.1, y), label, ha="right")
            panel.bar((left, y), width, 0.17, ROLES.get(label, "main"))
            panel.text((left + width + 0.07, y), said, ha="left")
            y -= 0.27
        y += 0.02
    return sheet


def beside(rows):
    """Bars of seconds, the first ours; others say how many times as long they take."""
    ours = rows[0][1]
    return [
        (label, value, time(value) + (f", {times(value / ours)}" if value > ours else ""))
        for label, value in rows
    ]


NAMES = {
    OURS: "rapids_tc", CPU: "rapids_tc", "cugraph": "cuGraph", "gapbs": "GAPBS",
    "networkit": "networkit", "igraph": "igraph", "networkx": "NetworkX",
}  # fmt: skip


def of_graph(found, graph, what=COUNT):
    """Bars of all tools that have a figure of a graph."""
    return beside(
        [(n, found[t, graph, what]) for t, n in NAMES.items() if (t, graph, what) in found]
    )


def titled(lines, graph):
    """A graph with the number of its rows."""
    rows = next(x["rows"] for x in lines if x["graph"] == graph)
    size = f"{rows:,}" if rows < 1e6 else f"{rows / 1e6:,.0f} million"
    return f"{shown(graph)}, {size} rows"


def largest(found, tool, what="frame to count"):
    """The largest R-MAT graph that a tool counted."""
    graphs = [g for t, g, w in found if t == tool and w == what and g.startswith("rmat")]
    return max(graphs, key=lambda graph: int(graph.partition(":")[2]))


@drawing(
    alt="""Two groups of bars. Above, the time to count a graph on a GPU: the bar of rapids_tc is a
    small part of that of cuGraph. Below, on a laptop's two cores: rapids_tc, then networkit,
    igraph and NetworkX, each longer than the one before.""",
    caption="""From the frame to the number of triangles, and how many times as long others take.
    They build their graph first, which is part of the time.""",
    narrow=True,
)
def speed():
    gpu, laptop = newest("speed-h*"), newest("laptop-*")
    graph = largest(seconds(gpu), "cugraph")
    by_all = [x for x in laptop if x["tool"] == "networkx" and "seconds" in x]
    real = max(by_all, key=lambda x: x["rows"])["graph"]
    return bars({
        f"{titled(gpu, graph)}, one {gpu[0]['card']}": of_graph(seconds(gpu), graph),
        f"{titled(laptop, real)}, {laptop[0]['cores']} CPU cores": of_graph(seconds(laptop), real),
    })  # fmt: skip


@drawing(
    alt="""Bars by graph, in two groups, with and without a memory pool: how many times faster
    rapids_tc counts than cuGraph. The larger the graph, the longer the bar.""",
    caption="""How many times faster than cuGraph, from the frame to the count, on one GPU: as
    installed, and with a memory pool of RMM for both.""",
    narrow=True,
)
def beside_cugraph():
    lines = newest("speed-h*")
    found, groups = seconds(lines), {}
    for title, what in (("as installed", COUNT), ("with an RMM pool", POOL)):
        rows = []
        for graph in report.graphs_of(lines):
            if graph.startswith("rmat") and ("cugraph", graph, what) in found:
                ours, theirs = found[OURS, graph, what], found["cugraph", graph, what]
                said = f"{times(theirs / ours)} ({time(ours)}, {time(theirs)})"
                rows.append((shown(graph), theirs / ours, said))
        groups[title] = rows
    return bars(groups, right=2.2)


@drawing(
    alt="""Bars of four real graphs on two cores: rapids_tc, networkit, igraph and NetworkX, of
    which each takes longer than the one before.""",
    caption="""From the frame, or an array, to the count of four real graphs on two cores of a
    CPU. NetworkX did not finish the largest in the time that it had.""",
    narrow=True,
)
def on_laptop():
    lines = newest("laptop-*")
    return bars({titled(lines, g): of_graph(seconds(lines), g) for g in report.graphs_of(lines)})


@drawing(
    alt="""Bars of three R-MAT graphs on sixteen cores. GAPBS takes two to five times as long as
    rapids_tc.""",
    caption="""On 16 cores of a server: the time to count beside that of `tc` of the GAP Benchmark
    Suite to build its graph and count. It reads the rows before, and takes repeated rows out,
    which is not part of its time.""",
    narrow=True,
)
def on_cores():
    lines = newest("gapbs-*")
    return bars({titled(lines, g): of_graph(seconds(lines), g) for g in report.graphs_of(lines)})


@drawing(
    alt="""Bars of one count on one, two, four, eight and sixteen threads, each about half as long
    as the one before.""",
    caption="""The same count on more threads of the CPU engine; the answer is the same to the
    bit.""",
    narrow=True,
)
def on_threads():
    lines = [x for x in newest("threads-*") if x["what"] == COUNT]
    graph = max({x["graph"] for x in lines}, key=lambda g: sum(x["graph"] == g for x in lines))
    rows = [(f"{x['threads']} thread{'s' * (x['threads'] > 1)}", x["seconds"], time(x["seconds"]))
            for x in lines if x["graph"] == graph]  # fmt: skip
    return bars({titled(lines, graph): rows})


@drawing(
    alt="""Bars of two R-MAT graphs on four GPUs of one host: rapids_tc on four, on one, and
    cuGraph on four, which takes by far the longest.""",
    caption="""Dask frames on four GPUs of one host, over ucxx. A graph that one GPU holds gains
    little from four: every edge is first sent to all.""",
    narrow=True,
)
def on_four_gpus():
    lines = newest("dask-*")
    found, groups = seconds(lines), {}
    for graph in report.graphs_of(lines):
        if ("cugraph dask ucxx", graph, COUNT) in found:
            groups[titled(lines, graph)] = beside([
                ("rapids_tc", found["rapids_tc dask ucxx", graph, COUNT]),
                ("on one GPU", found[OURS, graph, COUNT]),
                ("cuGraph", found["cugraph dask ucxx", graph, COUNT]),
            ])  # fmt: skip
    return bars(groups)
