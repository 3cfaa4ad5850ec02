"""Time the CPU engine on 1, 2, 4, … threads, from frame to answer: one JSON line per figure.

    python benchmarks/threads.py
    python benchmarks/threads.py rmat:16 --what count --threads 1 --threads 2 --repeat 3

A figure is the median of `--repeat` calls after one that warms up, with the smallest and the
largest beside it, and the load of the machine before and after. Numbers of threads take turns, so
that other work on the machine slows all of them alike. Every answer is compared, to the bit, with
the first number of threads; if two differ, the exit code is 1. The table comes last, on stderr.
"""

from __future__ import annotations

import os
from functools import partial
from typing import Any

import click
from arguments import read
from calls import CALLS, digest
from datasets import label
from machine import machine, write

from rapids_tc.bench import take_turns
from rapids_tc.engines.protocol import limit_threads

Figures = dict[tuple[str, str, int], float]

WHAT = "count", "edge_triangles", "trussness"
TABLE = (
    ("count", "rmat:20"),
    ("count", "rmat:22"),
    ("edge_triangles", "rmat:20"),
    ("trussness", "rmat:18"),
)


@click.command()
@click.argument("graphs", nargs=-1)
@click.option("--what", multiple=True, type=click.Choice(WHAT), help="Calls. [default: count]")
@click.option("--threads", multiple=True, type=click.IntRange(1), help="[default: 1, 2, 4, 8, 16]")
@click.option("--repeat", type=click.IntRange(1), default=5, show_default=True)
@click.option("--out", type=click.File("a"), default="-", help="File to add lines to.")
def main(graphs, what, threads, repeat, out) -> None:
    """Time calls on GRAPHS, named as for bench.py. Without any, all figures of the table."""
    cores = len(os.sched_getaffinity(0))
    numbers = threads or [number for number in (1, 2, 4, 8, 16) if number <= cores]
    if max(numbers) > cores:
        raise click.UsageError(f"--threads {max(numbers)}: this process may use {cores} cores")
    rows = [(call, graph) for graph in graphs for call in what or ("count",)] or [
        row for row in TABLE if not what or row[0] in what
    ]
    about, frames, figures = machine(gpu=False), {}, {}
    for call, graph in rows:
        if graph not in frames:
            frames = {graph: read(graph)}  # one at a time
        for line in measure(call, frames[graph], numbers, repeat):
            figures[call, label(graph), line["threads"]] = line["seconds"]
            write(out, about | {"graph": label(graph), "rows": len(frames[graph])} | line)
    show(figures, numbers)


def measure(call: str, frame: Any, numbers: list[int], repeat: int) -> list[dict[str, Any]]:
    """Time a call on each number of threads in turn, and return a line for each."""
    answers, load = set(), os.getloadavg()[0]

    def run(number: int) -> Any:
        with limit_threads(number):
            return CALLS[call](frame)

    calls = {number: partial(run, number) for number in numbers}
    seconds = take_turns(calls, repeat, seen=lambda number, answer: answers.add(digest(answer)))
    if len(answers) != 1:
        raise click.ClickException(f"{call}: the answers on {numbers} threads differ")
    loads = {"load before": round(load, 2), "load after": round(os.getloadavg()[0], 2)}
    return [
        {
            "tool": "rapids_tc cpu auto", "what": f"frame to {call}", "threads": number,
            "speedup": seconds[numbers[0]].seconds / times.seconds, "answer": next(iter(answers)),
        } | times.line | loads
        for number, times in seconds.items()
    ]  # fmt: skip


def show(figures: Figures, numbers: list[int]) -> None:
    """Print the median seconds as a table, a row per call and graph."""
    rows = list(dict.fromkeys((call, graph) for call, graph, _ in figures))
    click.echo(f"| seconds on threads | {' | '.join(map(str, numbers))} |", err=True)
    click.echo("|---" * (len(numbers) + 1) + "|", err=True)
    for call, graph in rows:
        cells = [f"{figures[call, graph, number]:.3g}" for number in numbers]
        click.echo(f"| `{call}`, {graph} | {' | '.join(cells)} |", err=True)


if __name__ == "__main__":
    main()
