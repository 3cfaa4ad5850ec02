"""Time updates of a window of time, and what comes back with them: one JSON line per figure.

    python benchmarks/streams.py latency rmat:12 rmat:14 --against snapml
    python benchmarks/streams.py latency rmat:20 --library cudf
    python benchmarks/streams.py endless rmat:12

The rows of a graph come in a random order, at random seconds of 30 days. "latency" puts the last of
them into a `Graph` of the days before, in batches of several sizes, and reads `Delta.rows`: the
median and the 99th percentile. The rows are compared with `annotate` on all of them; "whole" is
what that takes. Of snapml's GraphFeaturePreprocessor `transform` is timed, which puts a batch into
its graph and gives it columns, too. Its questions are others: histograms of the sizes of patterns,
of rows that it holds apart, cycles through the new row, and patterns of which the row is any part.

"endless" sends a million rows through a window of 100,000, and states ten times the memory of the
process, and whether the rows of the batch are those of `annotate`.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
from arguments import need, read
from datasets import label
from machine import machine, write

import rapids_tc as tc
from rapids_tc.engines.as_of import DISTINCT, SQUARES

DAY = 86_400
QUESTIONS = {
    "default": None,
    "fans": DISTINCT,
    "fans and cycles": (*DISTINCT, "pair_reversed", "closed_cycle"),
    "scatter-gather": SQUARES,
}
THEIRS = {"fans": ("fan",), "fans and cycles": ("fan", "lc-cycle"),
          "scatter-gather": ("scatter-gather",)}  # fmt: skip


@click.group()
def main() -> None:
    """Time updates of a window of time."""


@main.command()
@click.argument("graphs", nargs=-1, required=True)
@click.option("--library", type=click.Choice(["pandas", "cudf"]), default="pandas")
@click.option("--days", type=click.IntRange(1, 30), default=3, show_default=True)
@click.option("--batch", "batches", type=click.IntRange(1), multiple=True, default=(1, 100, 4096))
@click.option("--turns", type=click.IntRange(2), default=200, show_default=True, help="At most.")
@click.option("--against", type=click.Choice(["snapml"]), help="The same of another library.")
@click.option("--out", type=click.File("a"), default="-", help="File to add lines to.")
def latency(graphs, library, days, batches, turns, against, out) -> None:
    """Time batches of rows of GRAPHS, named as for bench.py."""
    need(library, [against] if against else [])
    about = machine(gpu=library == "cudf")
    for name in graphs:
        rows = timed(read(name), 1)
        about |= {"graph": label(name), "rows": len(rows), "days": days}
        for question, columns in QUESTIONS.items():
            for size in batches:
                cut = max(len(rows) - size * turns, len(rows) // 2)
                parts = [rows.iloc[i : i + size] for i in range(cut, len(rows) - size + 1, size)]
                lines = [ours(rows, cut, parts, columns, days, library)]
                if against and question in THEIRS:
                    lines.append(theirs(rows, cut, parts, THEIRS[question], days))
                for line in lines:
                    write(out, about | {"question": question, "batch": size} | line)


def timed(frame: Any, repeats: int) -> Any:
    """Return the rows in a random order, several times, with seconds in ascending order."""
    random = np.random.default_rng(0)
    frame = pd.concat([frame.set_axis(["src", "dst"], axis=1)] * repeats, ignore_index=True)
    frame = frame.iloc[random.permutation(len(frame))].reset_index(drop=True)
    return frame.assign(t=np.sort(random.integers(0, 30 * DAY, len(frame))))


def graph_of(rows: Any, within: int, columns: Any) -> tc.Graph:
    """Make a graph of a window."""
    ids = {"source": "src", "destination": "dst"}
    return tc.Graph(rows, time="t", within=within, columns=columns, **ids)


def ours(rows: Any, cut: int, parts: Any, columns: Any, days: int, library: str) -> dict[str, Any]:
    """Time updates, and compare what comes back with `annotate`."""
    wait: Any = lambda: None  # noqa: E731
    first, convert = rows.iloc[:cut], lambda frame: frame
    if library == "cudf":
        import cudf
        import cupy

        first, parts = cudf.from_pandas(first), [cudf.from_pandas(part) for part in parts]
        convert, wait = cudf.DataFrame.to_pandas, cupy.cuda.Device().synchronize
    graph, found = graph_of(first, days * DAY, columns), []

    def put_in(part: Any) -> None:
        found.append(graph.update(insert=part).rows)
        wait()

    line = clocked(put_in, parts)
    names = list(found[0].columns)[3:]
    window = rows[rows["t"] >= rows["t"].iloc[cut] - days * DAY]
    ids = {"source": "src", "destination": "dst", "time": "t", "within": days * DAY}
    start = time.perf_counter()
    whole = tc.annotate(window, *names, **ids)
    seconds = time.perf_counter() - start
    both = pd.concat([convert(each) for each in found])
    if not both[names].equals(whole.loc[both.index, names]):
        raise click.ClickException("the rows of updates are not those of annotate")
    kept = len(graph._prepared.rows)
    return {"library": "rapids_tc", "columns": names, "window": kept} | line | {
        "whole": seconds, "whole rows per s": round(len(window) / seconds)
    }  # fmt: skip


def theirs(rows: Any, cut: int, parts: Any, patterns: Any, days: int) -> dict[str, Any]:
    """Time snapml's GraphFeaturePreprocessor."""
    from snapml import GraphFeaturePreprocessor

    preprocessor = GraphFeaturePreprocessor()
    params = preprocessor.get_params()
    params |= {name: name in patterns for name in ("fan", "degree", "scatter-gather", "lc-cycle")}
    params |= {"temp-cycle": False, "vertex_stats": False, "lc-cycle_len": 3, "num_threads": 2}
    params |= {f"{name}_tw": days * DAY for name in patterns} | {"time_window": days * DAY}
    preprocessor.set_params(params)

    def array(part: Any) -> Any:
        return np.ascontiguousarray(part.reset_index()[["index", "src", "dst", "t"]], "float64")

    preprocessor.partial_fit(array(rows.iloc[:cut]))
    line = clocked(preprocessor.transform, [array(part) for part in parts])
    return {"library": "snapml", "columns": [*patterns]} | line


def clocked(call: Any, parts: Any) -> dict[str, Any]:
    """Call a function of each part; return the times but of the first one, which warms up."""
    seconds, busy = [], []
    for part in parts:
        start = time.perf_counter(), time.process_time()
        call(part)
        seconds.append(time.perf_counter() - start[0])
        busy.append(time.process_time() - start[1])
    seconds, busy = (np.array(times[1:]) * 1e3 for times in (seconds, busy))
    return {
        "turns": len(seconds), "median ms": round(float(np.median(seconds)), 3),
        "p99 ms": round(float(np.quantile(seconds, 0.99)), 3),
        "least ms": round(float(seconds.min()), 3),
        "processor ms": round(float(np.median(busy)), 3),
        "rows per s": round(len(parts[0]) / float(np.median(seconds)) * 1e3),
    }  # fmt: skip


@main.command()
@click.argument("graph")
@click.option("--rows", type=click.IntRange(100), default=1_000_000, show_default=True)
@click.option("--window", type=click.IntRange(10), default=100_000, show_default=True)
@click.option("--batch", type=click.IntRange(1), default=1000, show_default=True)
@click.option("--out", type=click.File("a"), default="-", help="File to add lines to.")
def endless(graph, rows, window, batch, out) -> None:
    """Send rows of GRAPH through a window."""
    frame, about = read(graph), machine(gpu=False)
    frame = timed(frame, -(-rows // len(frame))).iloc[:rows]
    within = int((frame["t"].iloc[-1] - frame["t"].iloc[0]) * window / rows)
    sliding = graph_of(frame.head(0), within, None)
    start, checked = time.perf_counter(), 0
    for cut in range(0, rows, batch):
        found = sliding.update(insert=frame.iloc[cut : cut + batch]).rows
        if cut + batch < (checked + 1) * rows / 10:
            continue
        checked += 1
        seconds = time.perf_counter() - start
        memory = int(Path("/proc/self/statm").read_text().split()[1]) * 4096
        seen = frame.iloc[: cut + batch]
        seen = seen[seen["t"] >= found["t"].iloc[0] - within]
        names, ids = list(found.columns)[3:], {"source": "src", "destination": "dst"}
        right = tc.annotate(seen, *names, time="t", within=within, **ids).loc[found.index]
        line = {"graph": label(graph), "sent": cut + batch, "kept": len(sliding._prepared.rows)}
        line |= {"equal": bool(right.equals(found)), "triangles": sliding.count()}
        write(out, about | line | {"resident MB": round(memory / 1e6, 1), "seconds": seconds})
        start = time.perf_counter()


if __name__ == "__main__":
    sys.exit(main())
