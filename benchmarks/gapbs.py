"""Time `count` of the CPU engine beside `tc` of the GAP Benchmark Suite, on the same rows.

    python benchmarks/gapbs.py FOLDER rmat:18 rmat:20 --out benchmarks/results/gapbs-….jsonl

FOLDER is a clone of https://github.com/sbeamer/gapbs, in which `make tc` was run; GAPBS_COMMIT
names its commit. It reads the rows from a text file, which is left out of its time. "frame to
count" is the sum of what it prints as the times to build the graph and to count, which relabels the
graph where that pays; that it takes repeated rows out is in neither. Tools take turns; their
answers must agree.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

import click
from arguments import read
from datasets import label
from machine import machine, write

import rapids_tc as tc


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("graphs", nargs=-1, required=True)
@click.option("--repeat", type=click.IntRange(1), default=5, show_default=True)
@click.option("--out", type=click.File("a"), default="-", help="File to add lines to.")
def main(folder, graphs, repeat, out) -> None:
    """Count the triangles of GRAPHS by both."""
    about = machine(gpu=False)
    about["versions"]["gapbs"] = os.environ.get("GAPBS_COMMIT", "unknown")
    for graph in graphs:
        frame = read(graph)
        answer = tc.count(frame)  # compiles
        ours, theirs = [], []
        with tempfile.TemporaryDirectory() as temporary:
            file = Path(temporary) / "edges.el"
            frame.to_csv(file, sep=" ", header=False, index=False)
            for _ in range(repeat):
                began = perf_counter()
                assert tc.count(frame) == answer
                ours.append(perf_counter() - began)
                theirs.append(_theirs(folder / "tc", file, answer))
        for tool, what, seconds in (
            ("rapids_tc cpu auto", "frame to count", ours),
            ("gapbs", "frame to count", [build + count for build, count in theirs]),
            ("gapbs", "count", [count for _, count in theirs]),
        ):
            write(out, about | {
                "graph": label(graph), "rows": len(frame), "tool": tool, "what": what,
                "seconds": median(seconds), "least": min(seconds), "most": max(seconds),
                "repeat": repeat, "answer": answer,
            })  # fmt: skip


def _theirs(program: Path, file: Path, answer: int) -> tuple[float, float]:
    """Return the seconds that it builds and counts, if it finds as many triangles."""
    command = [program, "-f", file, "-s", "-n", "1", "-a"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert int(re.search(r"(\d+) triangles", text)[1]) == answer, text
    build, count = (
        float(re.search(rf"{name} Time:\s+([\d.]+)", text)[1]) for name in ("Build", "Trial")
    )
    return build, count


if __name__ == "__main__":
    main()
