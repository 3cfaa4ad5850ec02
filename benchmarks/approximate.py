"""Error against speed of `approximate_count`: one JSON line a number of colours.

    python benchmarks/approximate.py rmat:18 --out results/approximate-cpu-2026-11-28.jsonl
    python benchmarks/approximate.py rmat:24 rmat:26 --library cudf --out results/...

A line holds the median time of as many calls as there are seeds, and over these seeds the root mean
square of the relative errors, the mean of the relative standard errors that the calls stated, and
the share of their intervals of 95 % that hold the count. "exact" is `count`.
"""

from __future__ import annotations

import sys
import time
from math import sqrt
from statistics import mean, median
from typing import Any

import click
from datasets import label, load
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
    about, tool = machine(card=library == "cudf"), "rapids_tc approximate"
    for graph in graphs:
        frame = load(graph, library)
        name = {"graph": label(graph), "rows": len(frame), "tool": tool}
        count, exact = timed(lambda frame=frame: tc.count(frame), 7)
        write(out, about | name | {"what": "exact", **exact, "answer": count[0]})
        for number in colours:
            line = accuracy(frame, number, seeds, count[0])
            write(out, about | name | {"what": f"{number} colours"} | line)


def accuracy(frame: Any, colours: int, seeds: int, count: int) -> dict[str, Any]:
    """What estimates of so many seeds took, and how far off they were."""
    seed = iter(range(-1, seeds))  # the first call warms up
    found, times = timed(
        lambda: tc.approximate_count(frame, colours=colours, seed=max(next(seed), 0)), seeds
    )
    return times | {
        "colours": colours,
        "error": sqrt(mean((e.value / count - 1) ** 2 for e in found)),
        "stated": mean(e.stderr / count for e in found),
        "held": mean(e.low <= count <= e.high for e in found),
    }


def timed(call: Any, repeat: int) -> tuple[list[Any], dict[str, Any]]:
    """What `repeat` calls after a first returned, and their times."""
    times, answers = [], []
    for _ in range(repeat + 1):
        start = time.perf_counter()
        answers.append(call())  # a number of Python: nothing is left to wait for
        times.append(time.perf_counter() - start)
    first, *later = times
    seconds = {"seconds": median(later), "least": min(later), "most": max(later)}
    return answers[1:], {**seconds, "repeat": repeat, "first": first}


if __name__ == "__main__":
    sys.exit(main())
