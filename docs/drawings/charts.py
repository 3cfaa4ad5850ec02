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
    "rapids_tc": "accent", "cuGraph": "third", "NetworkX": "fourth", "igraph": "main",
    "networkit": "faint",
}  # fmt: skip


def newest(pattern):
    """The figures of the newest file of a kind."""
    return report.read(sorted(report.RESULTS.glob(f"{pattern}.jsonl"))[-1].name)


def seconds(lines):
    """{(tool, graph, figure): seconds}; of two figures of one kind, the first."""
    found = {}
    for x in lines:
        if "seconds" in x:
            found.setdefault((x["tool"], x["graph"], x["what"]), x["seconds"])
    return found


def time(value):
    """Seconds with their unit."""
    return f"{report.three(value)} s" if value >= 1 else f"{report.three(1e3 * value)} ms"


def times(value):
    """How many times faster."""
    return f"{value:.{1 if value < 10 else 0}f} \N{MULTIPLICATION SIGN}"


def bars(groups):
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
            width = (WIDTH - LEFT - RIGHT) * value / longest
            panel.text((LEFT - 0.1, y), label, ha="right")
            panel.bar((LEFT, y), width, 0.17, ROLES.get(label, "main"))
            panel.text((LEFT + width + 0.07, y), said, ha="left")
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


LAPTOP = {
    "rapids_tc cpu auto": "rapids_tc", "networkit": "networkit", "igraph": "igraph",
    "networkx": "NetworkX",
}  # fmt: skip


def on_laptop(found, graph):
    """Bars of one graph on two cores."""
    what = "frame to count"
    rows = [(n, found[t, graph, what]) for t, n in LAPTOP.items() if (t, graph, what) in found]
    return beside(rows)


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
    lines = newest("speed-h*")
    gpu, laptop = seconds(lines), newest("laptop-*")
    graph, what = largest(gpu, "cugraph"), "frame to count"
    size = next(x["rows"] for x in lines if x["graph"] == graph)
    real = max(
        (x for x in laptop if x["tool"] == "networkx" and "seconds" in x), key=lambda x: x["rows"]
    )
    ours, theirs = (gpu[tool, graph, what] for tool in ("rapids_tc cuda auto", "cugraph"))
    return bars(
        {
            f"{shown(graph)}, {size / 1e6:,.0f} million rows, one {lines[0]['card']}": beside(
                [("rapids_tc", ours), ("cuGraph", theirs)]
            ),
            f"{real['graph']}, {real['rows']:,} rows, {real['cores']} CPU cores": on_laptop(
                seconds(laptop), real["graph"]
            ),
        }
    )
