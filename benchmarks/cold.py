"""Time cold starts: each in a new process, from its start through the imports to the answer.

    python benchmarks/cold.py rmat:18 --library cudf --against cugraph --out results/cold.jsonl

The first process finds empty caches of compiled kernels and gives the figure "cold start, nothing
cached"; the others find filled caches and give "cold start". The graph is made beforehand, and
reading it into a frame is not timed. The file cache of the operating system is not dropped.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import click
import numpy as np
from arguments import need, read, require_graph
from datasets import known, label
from machine import machine, write

from rapids_tc.bench import OTHER_LIBRARIES, ours

# The folders of compiled code of the package, CuPy, the driver and Numba.
CACHES = ("RAPIDS_TC_CACHE", "CUPY_CACHE_DIR", "CUDA_CACHE_PATH", "NUMBA_CACHE_DIR")
ENGINES = {"pandas": "cpu", "cudf": "cuda"}


@click.command()
@click.argument("graphs", nargs=-1, required=True)
@click.option("--library", type=click.Choice([*ENGINES]), default="pandas", show_default=True)
@click.option("--against", multiple=True, type=click.Choice([*OTHER_LIBRARIES]), help="Others.")
@click.option("--repeat", type=click.IntRange(1), default=2, help="Processes after the first. [2]")
@click.option("--out", type=click.File("a"), default="-", help="File to add lines to.")
def main(graphs, library, against, repeat, out) -> None:
    """Time cold starts of rapids_tc and other libraries on GRAPHS, named as for bench.py."""
    need(library, against)
    for graph in graphs:
        require_graph(graph)  # before any graph is measured
    about = machine(gpu=library == "cudf")
    for graph in graphs:
        rows = read(graph)
        origin = about | {"graph": label(graph), "rows": len(rows)}
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "edges.npz")
            np.savez(file, src=rows["src"], dst=rows["dst"])
            answers = set(known(graph).values())
            for tool in ("rapids_tc", *against):
                caches = {name: str(Path(folder, tool, name)) for name in CACHES}
                starts = [start(tool, library, file, caches) for _ in range(repeat + 1)]
                answers |= {result["answer"] for result in starts}
                name = f"rapids_tc {ENGINES[library]} auto" if tool == "rapids_tc" else tool
                for line in lines(name, starts):
                    write(out, origin | line)
        if len(answers) != 1:
            raise click.ClickException(f"the answers about {label(graph)} differ: {answers}")


def start(tool: str, library: str, file: Path, caches: dict[str, str]) -> dict[str, Any]:
    """Start a new process, and return the seconds that it reports."""
    begun = time.monotonic()  # the clock of the machine, which the new process reads too
    command = [sys.executable, __file__, "--child", tool, library, str(file), repr(begun)]
    done = subprocess.run(
        command, capture_output=True, text=True, env=os.environ | caches, check=False
    )
    if done.returncode:
        messages = done.stderr.splitlines() or [f"exit code {done.returncode}"]
        raise click.ClickException(f"{tool}: {messages[-1]}")
    return json.loads(done.stdout.splitlines()[-1])


def child(tool: str, library: str, file: str, begun: str) -> None:
    """Import, read the frame, count, and print the seconds without those of the reading."""
    frames = __import__(library)
    if tool == "rapids_tc":
        contestant = ours(ENGINES[library], ["auto"])
    else:
        contestant = OTHER_LIBRARIES[tool]()
    imported = time.monotonic()
    with np.load(file) as ends:
        frame = frames.DataFrame({end: ends[end] for end in ("src", "dst")})
    count = next(job.call for job in contestant.whole if job.what == "frame to count")
    read = time.monotonic()
    answer = count(frame)
    counting = time.monotonic() - read
    imports = imported - float(begun)
    print(json.dumps({"seconds": imports + counting, "imports": imports, "answer": answer}))


def lines(tool: str, starts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Make a line of the first start, and one of the others, which are repeats."""
    figures = []
    for what, group in (("cold start, nothing cached", starts[:1]), ("cold start", starts[1:])):
        seconds = [start["seconds"] for start in group]
        if not seconds:
            continue
        figures.append({
            "tool": tool, "what": what, "seconds": median(seconds), "least": min(seconds),
            "most": max(seconds), "repeat": len(seconds), "first": seconds[0],
            "imports": median(start["imports"] for start in group),
            "answer": group[0]["answer"],
        })  # fmt: skip
    return figures


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:])
    else:
        main()
