"""Measure the error and the speed of `approximate_count`: one JSON line per number of colors.

    python benchmarks/approximate.py rmat:18 --out results/approximate-cpu-2026-11-28.jsonl
    python benchmarks/approximate.py rmat:24 rmat:26 --library cudf --out results/...

A line holds the median time of a call per seed, and over the seeds the root mean square of the
relative errors, the mean of the relative standard errors that the calls state, and the share of
their 95 % intervals that contain the count. "exact" is `count`. Calls take turns, so that other
work of the machine slows all of them alike.
"""

from __future__ import annotations

import sys
from functools import partial
from math import sqrt
from statistics import mean
from typing import Any

import click
from arguments import need, read, require_graph
from datasets import label
from machine import machine, write

import rapids_tc as tc
from rapids_tc.bench import take_turns


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
        answers = {number: [] for number in (0, *colours)}
        calls = {number: partial(ask, frame, number, answers[number]) for number in answers}
        found = take_turns(calls, seeds, seen=partial(keep, answers))
        count = answers[0][0]
        for number, times in found.items():
            line = {"what": f"{number} colours" if number else "exact"} | times.line
            of_seeds = answers[number][1:]
            more = accuracy(of_seeds, count) | {"colours": number} if number else {"answer": count}
            write(out, about | name | line | more)


def keep(answers: dict[int, list[Any]], number: int, answer: Any) -> None:
    """Add an answer to the others of so many colors."""
    answers[number].append(answer)


def ask(frame: Any, colours: int, before: list[Any]) -> Any:
    """Count the triangles, or estimate them with the next seed: 0, which warms up, 0, 1, …"""
    seed = max(len(before) - 1, 0)
    return tc.approximate_count(frame, colors=colours, seed=seed) if colours else tc.count(frame)


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
