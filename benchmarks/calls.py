"""Time whole calls, from the frame to the answer: one JSON line per call and graph.

    python benchmarks/calls.py --library cudf --pool none --out figures.jsonl
    python benchmarks/calls.py --library cudf --pool rmm --out figures.jsonl
    python benchmarks/calls.py rmat:16 rmat:18 --what count --what trussness

Without names, calls of most functions are timed, on a few graphs each: figures.py does so for the
README and the documentation. A figure is the median of `--repeat` calls after one that warms up. A
call that no time is left for is a line that says so.
`--seen FILE` compares answers with those of an earlier run, as of another commit: if two differ,
the exit code is 1.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
from arguments import POOLS, memory_of, need, read, use_pool
from datasets import label
from machine import machine, write

import rapids_tc as tc
from rapids_tc.bench import Job, TooLongError, measure

TIMES, GROUPS, KINDS = 10**6, 30, 5  # distinct values of the columns "time", "group" and "type"
WITHIN = {"time": "time", "within": TIMES // 10}
TYPES = {"edge_type": "type", "types": (0, 1, None)}

CALLS: dict[str, Callable[[Any], Any]] = {
    "count": tc.count,
    "vertex_triangles": tc.vertex_triangles,
    "edge_triangles": tc.edge_triangles,
    "clustering": tc.clustering,
    "trussness": tc.trussness,
    "k_truss(max)": partial(tc.k_truss, k="max"),
    "truss_communities(8)": partial(tc.truss_communities, k=8),
    "truss_communities(all)": tc.truss_hierarchy,
    "directed clustering": partial(tc.clustering, directed=True),
    "triad_counts": partial(tc.triad_counts, directed=True),
    "jaccard": partial(tc.similarity, measure="jaccard"),
    "adamic_adar": partial(tc.similarity, measure="adamic_adar"),
    "within": partial(tc.edge_triangles, **WITHIN),
    "of types": partial(tc.edge_triangles, where=tc.Triangles(**TYPES)),
    "of types, within": partial(tc.edge_triangles, where=tc.Triangles(**TYPES, **WITHIN)),
    "balanced": partial(tc.edge_triangles, where=tc.Triangles(sign="sign", balanced=True)),
    "cycles": partial(tc.edge_triangles, where=tc.Triangles(directed="cycle")),
    "trussness within": partial(tc.trussness, where=tc.Triangles(**WITHIN)),
    "fans as of a time": lambda edges: tc.annotate(edges, "u_out", "v_in", **WITHIN),
    "triangles as of a time": lambda edges: tc.annotate(
        edges, "triangles_closed", "cycles_closed", **WITHIN
    ),
    "formation": partial(tc.triangles_over_time, time="time"),
    "windows": partial(tc.triangles_over_time, time="time", window=TIMES // 1000),
    "by": partial(tc.vertex_triangles, by="group"),
    "cliques(4)": partial(tc.cliques, k=4),
    "squares": tc.squares,
    "vertex_squares": tc.vertex_squares,
    "edge_squares": tc.edge_squares,
    "graphlets": tc.graphlets,
    "most_similar": partial(tc.most_similar, most_degree=1000),
    "bitruss": tc.bitruss,
}
COMPILES = "rmat:13"  # large enough for the code of large graphs
TIMED = "within", "formation", "windows", "trussness within"
OF_COLUMNS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys([*TIMED, "fans as of a time", "triangles as of a time"], ("time",)),
    **{"of types": ("type",), "of types, within": ("type", "time")},
    **{"balanced": ("sign",), "by": ("group",)},
}
SMALL = ("karate", "rmat:12", "rmat:16")
LARGE = ("rmat:18", "rmat:20", "rmat:22", "rmat:24")
FEW = ("rmat:20", "rmat:22")
PLANS: dict[str, dict[str, tuple[str, ...]]] = {  # the graphs of each call
    "cudf": {
        **dict.fromkeys(CALLS, FEW),
        "count": (*SMALL, *LARGE, "grid:200", "uniform:22:64e6"),
        **dict.fromkeys(["edge_triangles", "trussness", "squares"], (*SMALL, *LARGE)),
        **dict.fromkeys(["graphlets", "most_similar"], FEW[:1]),
        "bitruss": ("rmat:14", "rmat:16"),
    },
    "pandas": {
        **dict.fromkeys(CALLS, SMALL[-1:]),
        "bitruss": SMALL[1:2],
        **dict.fromkeys(["count", "edge_triangles"], (*SMALL, *LARGE[:2])),
        **dict.fromkeys(["trussness", "clustering", "squares"], (*SMALL, *LARGE[:1])),
        **dict.fromkeys(["vertex_squares", "edge_squares", "graphlets"], SMALL),
    },
}


@click.command()
@click.argument("graphs", nargs=-1)
@click.option("--what", multiple=True, type=click.Choice([*CALLS]), help="Calls. [default: all]")
@click.option("--library", type=click.Choice([*PLANS]), default="pandas", show_default=True)
@click.option("--pool", type=click.Choice(POOLS), default="none", show_default=True)
@click.option("--repeat", type=click.IntRange(1), default=7, show_default=True)
@click.option(
    "--patience", type=click.FloatRange(0, min_open=True), default=10, show_default=True,
    help="Seconds for the calls of a figure after the first.",
)  # fmt: skip
@click.option("--seconds", type=float, default=300, show_default=True, help="For all figures.")
@click.option("--seen", type=click.Path(exists=True, path_type=Path), help="Lines of another run.")
@click.option("--out", type=click.File("a"), default="-", help="File to add lines to.")
def main(graphs, what, library, pool, repeat, patience, seconds, seen, out) -> None:
    """Time calls on GRAPHS, named as for bench.py. Without any, all figures that are stated."""
    end, plan, different = time.monotonic() + seconds, PLANS[library], []
    need(library)
    about = machine(gpu=library == "cudf") | memory_of(pool)
    about["tool"] = f"rapids_tc {'cuda' if library == 'cudf' else 'cpu'} auto"
    use_pool(pool)
    wait = waiting(library)
    answers, warm = (answers_of(seen) if seen else {}), set()
    for graph in graphs or dict.fromkeys(name for names in plan.values() for name in names):
        frame = with_columns(read(graph, library))
        for call in what or [name for name in plan if graphs or graph in plan[name]]:
            line: dict[str, Any] = {"graph": label(graph), "rows": len(frame)}
            line["what"] = f"frame to {call}"
            if time.monotonic() > end:
                write(out, about | line | {"skipped": "no time was left"})
                continue
            job = Job("rapids_tc", call, CALLS[call], answer=digest, wait=wait)
            columns = ["src", "dst", *OF_COLUMNS.get(call, ())]
            if call not in warm:  # compile, which patience is not for
                warm.add(call)
                CALLS[call](with_columns(read(COMPILES, library))[columns])
            try:
                timing = measure(job, frame[columns], repeat=repeat, timeout=patience)
            except TooLongError as error:
                write(out, about | line | {"skipped": str(error)})
                continue
            write(out, about | line | timing.line | {"answer": timing.answer})
            if answers.get((label(graph), line["what"]), timing.answer) != timing.answer:
                different.append(f"{call} of {graph}")
    if different:
        raise click.ClickException(f"other answers than in {seen}: {', '.join(different)}")


def waiting(library: str) -> Callable[[], None]:
    """Return what waits for the GPU; the calls of a CPU are done when they return."""
    if library == "cudf":
        wait: Callable[[], None] = importlib.import_module("cupy").cuda.Device().synchronize
        return wait
    return lambda: None


def with_columns(frame: Any) -> Any:
    """Add a time, a group, a type and a sign, which is 1 or -1, to each row, at random."""
    random = np.random.default_rng(0)
    for name, size in (("time", TIMES), ("group", GROUPS), ("type", KINDS), ("sign", 2)):
        frame[name] = random.integers(0, size, len(frame)).astype("int32")
    frame["sign"] = 2 * frame["sign"] - 1
    return frame


def digest(answer: Any) -> Any:
    """Return a number as it is, and of a column or frame a hash, of floats to nine decimals."""
    if isinstance(answer, int | float):
        return answer
    answer = answer.to_pandas() if hasattr(answer, "to_pandas") else answer
    hashes = pd.util.hash_pandas_object(answer.round(9), index=False).to_numpy()
    return f"{int(np.bitwise_xor.reduce(hashes * np.arange(1, 2 * len(hashes), 2, 'uint64'))):016x}"


def answers_of(path: Path) -> dict[tuple[str, str], Any]:
    """Read the answers of another run, by graph and call."""
    lines = map(json.loads, path.read_text().splitlines())
    return {(line["graph"], line["what"]): line["answer"] for line in lines if "answer" in line}


if __name__ == "__main__":
    sys.exit(main())
