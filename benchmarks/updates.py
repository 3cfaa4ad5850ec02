"""Time updates of a graph beside counts of the frame: one JSON line per share of the edges.

    python benchmarks/updates.py rmat:16 rmat:18
    python benchmarks/updates.py rmat:20 rmat:22 --library cudf

Random edges are taken out, and put back, each time with the total asked for; between both, the
total is compared with a count of the rows that are left. Updates and counts of the frame take
turns, so that other work of the machine slows both alike. "ratio" is the time of a count from the
frame over the time of an update and its count; "break_even" is the share of the edges at which
both are about equal, between the two shares that stand around it.
"""

from __future__ import annotations

import sys
from functools import partial
from math import exp, log
from statistics import median
from typing import Any

import click
import numpy as np
from arguments import need, read
from datasets import label
from machine import machine, write

import rapids_tc as tc
from rapids_tc.bench import Times, clocked


@click.command()
@click.argument("graphs", nargs=-1, required=True)
@click.option("--library", type=click.Choice(["pandas", "cudf"]), default="pandas")
@click.option(
    "--share", "shares", type=click.FloatRange(0, 1, min_open=True), multiple=True,
    default=(1e-5, 1e-3, 1e-2, 5e-2), show_default=True, help="Of the edges, in a batch.",
)  # fmt: skip
@click.option("--repeat", type=click.IntRange(1), default=5, show_default=True)
@click.option("--out", type=click.File("a"), default="-", help="File to add lines to.")
def main(graphs, library, shares, repeat, out) -> None:
    """Time updates of GRAPHS, named as for bench.py."""
    need(library)
    about = machine(gpu=library == "cudf")
    for name in graphs:
        frame = read(name, library)
        edges = tc.simple_edges(frame)
        graph, random = tc.Graph(frame), np.random.default_rng(0)
        first, _ = clocked(partial(updated, graph, insert=edges.iloc[:1]))
        ratios = []
        for share in sorted(shares):
            size, times = max(1, round(len(edges) * share)), {"frame": [], "update": []}
            for turn in range(repeat + 1):  # the first turn warms up
                picked = random.choice(len(edges), size, replace=False)
                batch = edges.take(np.sort(picked)).reset_index(drop=True)
                seconds, total = clocked(partial(tc.count, frame))
                out_of, _ = clocked(partial(updated, graph, delete=batch))
                if not turn:
                    check(graph, edges, picked)
                back, again = clocked(partial(updated, graph, insert=batch))
                if again != total:
                    raise click.ClickException(f"{name}: {again:,} triangles, not {total:,}")
                if turn:
                    times["frame"].append(seconds)
                    times["update"].append((out_of + back) / 2)
            update, count = Times(first, tuple(times["update"])), median(times["frame"])
            seconds = update.seconds
            ratios.append((share, count / seconds))
            line = {"graph": label(name), "edges": len(edges), "share": share, "batch": size}
            line |= update.line | {"count": count, "ratio": count / seconds}
            write(out, about | line | {"break_even": break_even(ratios)})


def updated(graph: tc.Graph, **batch: Any) -> int:
    """Update a graph, and count its triangles."""
    graph.update(**batch)
    return graph.count()


def check(graph: tc.Graph, edges: Any, picked: Any) -> None:
    """Compare the total with a count of the edges that are left."""
    left = np.delete(np.arange(len(edges)), picked)
    expected = tc.count(edges.take(left))
    if graph.count() != expected:
        raise click.ClickException(f"{graph.count():,} triangles, not {expected:,}")


def break_even(ratios: list[tuple[float, float]]) -> float | None:
    """Return the share at which an update takes as long as a count, by the last two shares."""
    if len(ratios) < 2 or not ratios[-1][1] < 1 <= ratios[-2][1]:
        return None
    (low, faster), (high, slower) = ratios[-2:]
    part = log(faster) / (log(faster) - log(slower))
    return round(exp(log(low) + part * (log(high) - log(low))), 5)


if __name__ == "__main__":
    sys.exit(main())
