"""Check that calls keep to memory_limit=: one JSON line per function, kind of ids and share.

    python benchmarks/limits.py --jobs 4 --out results/limits-cpu-2026-11-28.jsonl
    python benchmarks/limits.py --library cudf --out results/...
    python benchmarks/limits.py --scale 16 --function count --function "k_truss 20" --ids str

Limits are shares of the estimated memory of the function. A line holds the limit, the peak on top
of the frame, the bytes by which the peak exceeds the limit, whether the call answered or raised,
and whether its answer equals the answer without a limit. With pandas the peak is the resident
memory of a process per function and kind of ids, after calls on a tiny graph that compile and
import the code of the measured calls. With cuDF the peak is counted by RMM, in one process.

The exit code is 1 if a call took more than its limit and `SLACK`, answered wrongly, or raised an
error other than CapacityError.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import Any

import click
from arguments import need
from machine import machine, write
from memory import peak

import rapids_tc as tc
from rapids_tc import datasets
from rapids_tc.frames.backend import open_frame
from rapids_tc.plan import costs, needs
from rapids_tc.plan.budget import AS_LONG_AS_FRAMES
from rapids_tc.plan.record import Needs, Result, Work, estimated
from rapids_tc.preparation.distinct import estimate_size
from rapids_tc.preparation.edge_columns import edge_columns

SHARES = (1.0, 0.5, 0.25, 0.1)
SLACK = 16 << 20  # bytes over a limit that are accepted: fragments of memory, stacks of threads
IDS = {
    "int32": lambda frame: frame,
    "int64": lambda frame: frame.astype("int64"),
    "sparse": lambda frame: frame.astype("int64") * 2**40,
    "str": lambda frame: frame.astype("str"),
    "object": lambda frame: frame.astype("str").astype(object),
}
WARM = 12  # scale of the tiny graph
FEW = 4  # edges per vertex of the graph whose triangles are listed: R-MAT has too many with 16
FRAME = 1 << 18  # triangles in a frame of iter_triangles


@dataclass(frozen=True)
class Call:
    """A function with its options, and the record and options that its estimate is made from."""

    call: Callable[..., Any]
    function: str
    own: dict[str, Any] = field(default_factory=dict)

    @property
    def work(self) -> Work:
        """The needs of the call."""
        record = estimated()[self.function]
        return record.work(record.defaults | self.own)

    @property
    def lists(self) -> bool:
        """Whether the call lists triangles."""
        return bool(self.work.needs & Needs.TRIANGLES)


def iterate(frame: Any, **options: Any) -> list[Any]:
    """Return the length and some rows of each frame of triangles: all rows would take memory."""
    frames = tc.iter_triangles(frame, max_rows=FRAME, **options)
    return [(len(frame), frame.iloc[::997].copy()) for frame in frames]


def annotated(*columns: str) -> Call:
    """Return `annotate` with some columns."""

    def call(frame: Any, **options: Any) -> Any:
        return tc.annotate(frame, *columns, **options)

    return Call(call, "annotate", {"columns": columns})


PLAIN = (
    "count", "vertex_triangles", "edge_triangles", "similarity", "trussness",
    "clustering", "average_clustering", "transitivity", "triad_counts", "simple_edges",
    "list_triangles", "Graph",
)  # fmt: skip
CALLS = {name: Call(getattr(tc, name), name) for name in PLAIN} | {
    "annotate 1": annotated("triangles"),
    "annotate 3": annotated("triangles", "jaccard", "cosine"),
    "annotate trussness": annotated("trussness"),
    "annotate 3 trussness": annotated("triangles", "jaccard", "trussness"),
    "k_truss 20": Call(partial(tc.k_truss, k=20), "k_truss"),
    "k_truss max": Call(partial(tc.k_truss, k="max"), "k_truss"),
    "clustering weight": Call(
        partial(tc.clustering, weight="w", aggregate="last"), "clustering", {"weight": "w"}
    ),
    "iter_triangles": Call(iterate, "iter_triangles"),
    "approximate_count": Call(
        partial(tc.approximate_count, colors=2, seed=1), "approximate_count", {"colors": 2}
    ),
}


@click.command()
@click.option("--library", type=click.Choice(["pandas", "cudf"]), default="pandas")
@click.option("--scale", type=click.IntRange(WARM), default=18, show_default=True)
@click.option("--function", "names", multiple=True, type=click.Choice([*CALLS]))
@click.option("--ids", "kinds", multiple=True, type=click.Choice([*IDS]))
@click.option("--jobs", type=click.IntRange(1), default=1, help="Processes at once, of pandas.")
@click.option("--out", type=click.File("a"), default="-", help="File to add lines to.")
@click.option("--here", is_flag=True, hidden=True, help="Measure in this process.")
def main(library, scale, names, kinds, jobs, out, here) -> None:
    """Measure functions under limits on an R-MAT graph; by default all functions and ids."""
    need(library)
    pairs = [*product(names or CALLS, kinds or [*IDS][: 4 if library == "cudf" else None])]
    on_gpu = library == "cudf"
    if here:
        for pair in pairs:
            for line in measured(*pair, scale, library):
                write(out, line)
        return
    about = machine(gpu=on_gpu) | {"graph": f"rmat:{scale}", "tool": "rapids_tc limits"}
    if on_gpu:
        count_on_gpu()
        lines = (line for pair in pairs for line in measured(*pair, scale, library))
        sys.exit(report(lines, about, out))
    with ThreadPoolExecutor(jobs) as pool:
        runs = [pool.submit(in_a_process, *pair, scale) for pair in pairs]
        sys.exit(report((line for run in as_completed(runs) for line in run.result()), about, out))


def count_on_gpu() -> None:
    """Let RMM count all memory of the GPU, of CuPy too, as it is taken from the device."""
    import cupy
    import rmm
    from rmm.allocators.cupy import rmm_cupy_allocator

    rmm.mr.set_current_device_resource(rmm.mr.CudaMemoryResource())
    cupy.cuda.set_allocator(rmm_cupy_allocator)


def in_a_process(name: str, ids: str, scale: int) -> list[dict[str, Any]]:
    """Measure a function in a process of its own; its failure is a line too."""
    words = ["--here", "--scale", str(scale), "--function", name, "--ids", ids]
    done = subprocess.run([sys.executable, __file__, *words], capture_output=True, text=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode:
        why = (done.stderr.strip().splitlines() or [""])[-1]
        outcome = f"the process ended with {done.returncode}: {why}"
        lines.append({"what": f"limit: {name}", "ids": ids, "outcome": outcome})
    return lines


def measured(name: str, ids: str, scale: int, library: str) -> Iterator[dict[str, Any]]:
    """Measure a function under all shares of its estimate, a line for each."""
    call, factor = CALLS[name], FEW if CALLS[name].lists else 16
    small, edges = (graph(s, factor, ids, library, name) for s in (WARM, scale))
    for share in (None, *SHARES, SHARES[-1] / 2):
        attempt(call, small, share and int(share * estimate(call, small)))
    expected, whole = attempt(call, edges)
    need = estimate(call, edges)
    line = {"what": f"limit: {name}", "ids": ids, "rows": len(edges)}
    for share in SHARES:
        limit = int(share * need)
        answers: list[Any] = []
        height = peak(lambda: answers.extend(attempt(call, edges, limit)), library)  # noqa: B023
        answer, outcome = answers
        right = same(answer, expected) if outcome == whole == "answered" else None
        beside = answer_bytes(call, answer, edges)
        del answer, answers[:]
        sizes = {"limit": limit, "bytes": height, "over": height - limit - beside}
        yield line | {"share": share} | sizes | {"outcome": outcome, "same": right}


def answer_bytes(call: Call, answer: Any, edges: Any) -> int:
    """Count the bytes of the answer, if a limit is beside it."""
    if answer is None or call.work.result not in AS_LONG_AS_FRAMES:
        return 0
    columns = answer.to_frame() if answer.ndim == 1 else answer
    if call.work.result is Result.COLUMNS:
        columns = columns.drop(columns=list(edges))
    return int(columns.memory_usage(index=False).sum())


def graph(scale: int, factor: int, ids: str, library: str, name: str) -> Any:
    """Make the graph with ids of a kind, and with weights for a function that reads them."""
    frame = IDS[ids](datasets.rmat(scale, edge_factor=factor, library=library))
    return frame.assign(w=1.0 + frame.index % 7) if name == "clustering weight" else frame


def estimate(call: Call, edges: Any) -> int:
    """Estimate the memory of a call: `memory_estimate` knows no columns, weights or triangles."""
    frame, backend = open_frame(edges, None)
    rows, ids, dense = estimate_size(frame, edge_columns(["src", "dst"]), backend)
    text = needs.Text.of(ids)
    stages = needs.stages(call.work, rows, ids.count, dense, backend.engine, text=text)
    listed = 0
    if call.lists:
        triangles = tc.count(edges)
        most = triangles if call.function == "list_triangles" else min(FRAME, triangles)
        listed = stages[-1].bytes + costs.LISTED * most
    return max(listed, *(stage.bytes for stage in stages))


def attempt(call: Call, edges: Any, limit: int | None = None) -> tuple[Any, str]:
    """Return the answer of a call and "answered", or None and the error that it raised."""
    try:
        return call.call(edges, memory_limit=limit), "answered"
    except tc.CapacityError:
        return None, "CapacityError"
    except Exception as error:  # any error is an outcome
        return None, f"{type(error).__name__}: {str(error)[:200]}"


def same(answer: Any, expected: Any) -> bool:
    """Return whether two answers of a function are equal."""
    if isinstance(answer, tc.Graph):
        sizes = [(graph.n_vertices, graph.n_edges) for graph in (answer, expected)]
        return sizes[0] == sizes[1] and bool((answer.csr.columns == expected.csr.columns).all())
    if isinstance(answer, list | tuple):
        return len(answer) == len(expected) and all(map(same, answer, expected))
    if "clustering" in getattr(answer, "columns", ()):  # threads add weights in any order
        difference = (answer.pop("clustering") - expected["clustering"]).abs().max()
        return difference < 1e-12 and bool(answer.equals(expected.drop(columns="clustering")))
    return bool(answer.equals(expected) if hasattr(answer, "equals") else answer == expected)


def report(lines: Iterator[dict[str, Any]], about: dict[str, Any], out: Any) -> int:
    """Write the lines, a table of the wrong ones and the totals; return the exit code."""
    totals: Counter[str] = Counter()
    wrong = []
    for line in lines:
        write(out, about | line)
        failed = line["outcome"] not in ("answered", "CapacityError")
        totals["failed" if failed else line["outcome"]] += 1
        if failed or line["over"] > SLACK or line["same"] is False:
            wrong.append(line)
    row = "{what:28} {ids:7} {share!s:>5} {limit!s:>13} {bytes!s:>13} {over!s:>13} {outcome} {same}"
    names = ("what", "ids", "share", "limit", "bytes", "over", "outcome", "same")
    for line in [dict(zip(names, names, strict=True)), *wrong]:
        click.echo(row.format_map(dict.fromkeys(names, "") | line), err=True)
    counts = ", ".join(f"{number} {outcome}" for outcome, number in sorted(totals.items()))
    click.echo(f"{sum(totals.values())} calls: {counts}; {len(wrong)} wrong", err=True)
    return bool(wrong)


if __name__ == "__main__":
    main()
