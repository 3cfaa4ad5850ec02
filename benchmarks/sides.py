"""Time what engines do with the three sides of a triangle: one JSON line per figure.

    python benchmarks/sides.py rmat:16 rmat:18
    python benchmarks/sides.py rmat:20 rmat:22 rmat:24 --library cudf

Types and spans of edges are random. Calls take turns, so that other work of the machine slows all
of them alike; "ratio" is the median time over that of edge counts.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from typing import Any

import click
import numpy as np
from arguments import need, read
from datasets import label
from machine import machine, write

from rapids_tc.bench import ours, take_turns
from rapids_tc.blocks.quantities import ChangesByWindow, Products, TrianglesByType, Within
from rapids_tc.engines.protocol import Spans


@click.command()
@click.argument("graphs", nargs=-1, required=True)
@click.option("--library", type=click.Choice(["pandas", "cudf"]), default="pandas")
@click.option("--types", type=click.IntRange(1, 255), default=12, show_default=True)
@click.option("--windows", type=click.IntRange(1), default=1000, show_default=True)
@click.option("--repeat", type=click.IntRange(1), default=5, show_default=True)
@click.option("--out", type=click.File("a"), default="-", help="File to add lines to.")
def main(graphs, library, types, windows, repeat, out) -> None:
    """Time the engine on GRAPHS, named as for bench.py."""
    need(library)
    about, kind = machine(gpu=library == "cudf"), "cuda" if library == "cudf" else "cpu"
    for name in graphs:
        contestant = ours(kind, ["auto"])
        graph = contestant.build(contestant.convert(read(name, library)))
        calls = calls_of(graph, types, windows)
        wait = getattr(graph.engine, "wait", lambda: None)
        of_layout = {what: partial(call, graph.layout) for what, call in calls.items()}
        found = take_turns(of_layout, repeat, wait=wait)
        base = found["edge counts"].seconds
        for what, times in found.items():
            line = {"graph": label(name), "edges": graph.csr.m, "what": what}
            write(out, about | line | times.line | {"ratio": round(times.seconds / base, 3)})


def calls_of(graph, types: int, windows: int) -> dict[str, Any]:
    """Return the calls of a layout, by what is timed."""
    engine, xp, m = graph.engine, graph.backend.xp, graph.csr.m
    random = np.random.default_rng(0)
    of_edge = xp.asarray(random.integers(0, types, m, dtype=np.uint8))
    first = xp.asarray(random.integers(0, windows, m, dtype=np.uint32))
    one = Spans(first, first + np.uint32(-(-windows // 4)))
    lists, values = replace(one, offsets=xp.arange(m + 1)), xp.asarray(random.random(m))

    def visit(quantity, values):
        return lambda layout: engine.visit(layout, quantity, values)

    return {
        "edge counts": engine.edge_counts,
        f"{types} types": visit(TrianglesByType("", types=types), of_edge),
        f"{windows} windows": visit(ChangesByWindow("", windows=windows), one),
        "windows, lists": visit(ChangesByWindow("", windows=windows), lists),
        "edge counts in spans": visit(Within(""), one),
        "edge counts in lists": visit(Within(""), lists),
        "vertex sums": visit(Products(""), values),
    }


if __name__ == "__main__":
    sys.exit(main())
