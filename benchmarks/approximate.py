"""Measure the error and the speed of `approximate_count`: one JSON line per number of colours.

    python benchmarks/approximate.py rmat:18 --out results/approximate-cpu-2026-11-28.jsonl
    python benchmarks/approximate.py rmat:24 rmat:26 --library cudf --out results/...

A line holds the median time of a call per seed, and over the seeds the root mean square of the
relative errors, the mean of the relative standard errors that the calls state, and the share of
their 95 % intervals that contain the count. "exact" is `count`. Calls take turns, so that other
work of the machine slows all of them alike.
"""

from __future__ import annotations

import sys
import time
from functools import partial
from math import sqrt
from statistics import mean, median
from typing import Any

import click
from arguments import need, read, require_graph
from datasets import label
from machine import machine, write

import rapids_tc as tc


@click.command()
@click.argument("graphs", nargs=-1, required=True)
@click.option("--library", type=click.Choice(["pandas", "cudf"]), default="pandas")
@click.option("--colours", multiple=True, type=click.IntRange(1), default=[2, 4, 8, 16, 32, 64])
@click.option("--seeds", type=click.IntRange(1), default=50, show_default=True)
@click.option("--out", type=click.File("a"), default="-", help="File to add lines to.")
def main(graphs, library, colours, seeds, out) -> None:
    """Measure GRAPHS, named as for bench.py."""
    need(library)
    for graph in graphs:
        require_graph(graph)  # before any graph is measured
    about, tool = machine(gpu=library == "cudf"), "rapids_tc approximate"
    for graph in graphs:
        frame = read(graph, library)
        name = {"graph": label(graph), "rows": len(frame), "tool": tool}
        calls = {0: lambda seed, frame=frame: tc.count(frame)} | {
            number: partial(estimate, frame, number) for number in colours
        }
        results = {number: ([], []) for number in calls}
        for seed in [0, *range(seeds)]:  # the first turn warms up
            for number, call in calls.items():
                start = time.perf_counter()
                answer = call(seed)  # a Python number: no work is queued
                results[number][0].append(time.perf_counter() - start)
                results[number][1].append(answer)
        count = results[0][1][0]
        for number, ((first, *times), (_, *answers)) in results.items():
            what = f"{number} colours" if number else "exact"
            seconds = {"seconds": median(times), "least": min(times), "most": max(times)}
            line = {"what": what, **seconds, "repeat": seeds, "first": first}
            more = accuracy(answers, count) | {"colours": number} if number else {"answer": count}
            write(out, about | name | line | more)


def estimate(frame: Any, colours: int, seed: int) -> tc.Estimate:
    """Estimate the triangles of a frame."""
    return tc.approximate_count(frame, colours=colours, seed=seed)


def accuracy(estimates: list[tc.Estimate], count: int) -> dict[str, float]:
    """Compare estimates with the count: relative errors, or triangles if the count is 0."""
    whole = count or 1
    return {
        "error": sqrt(mean((e.value - count) ** 2 for e in estimates)) / whole,
        "stated": mean(e.stderr for e in estimates) / whole,
        "held": mean(e.low <= count <= e.high for e in estimates),
    }


if __name__ == "__main__":
    sys.exit(main())
