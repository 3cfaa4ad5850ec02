"""Time rapids_tc and its neighbours on one graph, in one process: one JSON line a figure.

    python benchmarks/bench.py rmat:18 --against igraph --against networkit
    python benchmarks/bench.py rmat:24 --library cudf --against cugraph --out results/h100.jsonl

A figure is the median of `--repeat` calls after one that warms up, with the smallest and the
largest beside it; the warm-up's own time is the figure "first". Every line says on what card, with
which driver and versions, from which commit and by which command it was measured.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from statistics import median
from typing import Any

import click
import numpy as np
from datasets import load

import rapids_tc as tc
from rapids_tc import engines

PACKAGES = ("rapids_tc", "numpy", "pandas", "numba", "cupy-cuda13x", "cudf-cu13", "cugraph-cu13",
            "igraph", "networkit", "networkx")  # fmt: skip

TRUSSES = (4, 8, 16)


@click.command()
@click.argument("graph")
@click.option("--library", type=click.Choice(["pandas", "cudf"]), default="pandas")
@click.option("--engine", type=click.Choice(["cpu", "cuda"]), default=None)
@click.option("--method", multiple=True, default=["auto"], help="Intersection methods to time.")
@click.option("--what", multiple=True, help="Only these figures, e.g. count.")
@click.option("--against", multiple=True, help="igraph, networkit, networkx, cugraph.")
@click.option("--repeat", default=7, show_default=True)
@click.option("--out", type=click.File("a"), default="-")
def main(graph, library, engine, method, what, against, repeat, out) -> None:
    """Time GRAPH: rmat:SCALE, grid:SIDE, uniform:SCALE:EDGES, a shape:SIZE, or an .npz file."""
    frame = load(graph, library)
    about = {"graph": graph, "rows": len(frame), **machine(library)}
    jobs = list(ours(frame, engine, method))
    for name in against:
        jobs += NEIGHBOURS[name](frame)
    for tool, figure, call in jobs:
        if what and figure not in what:
            continue
        first, times, answer = clock(call, repeat, synchronise(library))
        line = {
            **about, "tool": tool, "what": figure, "seconds": median(times), "least": min(times),
            "most": max(times), "repeat": repeat, "first": first, "answer": answer,
        }  # fmt: skip
        out.write(json.dumps(line) + "\n")
        out.flush()


def clock(call: Callable[[], Any], repeat: int, wait: Callable[[], None]):
    """Seconds of the first call, of `repeat` more, and what the last returned."""
    times, answer = [], None
    for _ in range(repeat + 1):
        wait()
        start = time.perf_counter()
        answer = call()
        wait()
        times.append(time.perf_counter() - start)
    return times[0], times[1:], None if isinstance(answer, bool) else answer


def ours(frame: Any, engine: str | None, methods: tuple[str, ...]) -> Iterator[tuple]:
    """Frame to answer, and the stages between."""
    graph = tc.Graph(frame, engine=engine)
    made = engines.load(graph.backend.engine)
    for method in methods:
        tool = f"rapids_tc {graph.backend.engine} {method}"
        yield tool, "count", lambda m=method: made.count(graph.layout, method=m)
        yield tool, "edge counts", lambda m=method: made.edge_counts(graph.layout, method=m) is None
        yield tool, "frame to count", lambda m=method: tc.count(frame, engine=engine, method=m)
    counts, peel = graph.edge_counts, made.truss
    yield tool, "peel", lambda: int(peel(graph.layout, counts).sum(dtype="int64"))
    for k in TRUSSES:
        edges = lambda k=k: int((peel(graph.layout, counts, k=k) >= k).sum())  # noqa: E731
        yield tool, f"peel to {k}", edges
        yield tool, f"{k}-truss", lambda k=k: len(tc.k_truss(frame, k, engine=engine))
    yield tool, "frame to trussness", lambda: tc.trussness(frame, engine=engine) is None
    yield tool, "prepare", lambda: tc.Graph(frame, engine=engine).layout is None
    yield tool, "frame to edge column", lambda: tc.edge_triangles(frame, engine=engine) is None
    yield tool, "frame to vertex frame", lambda: tc.vertex_triangles(frame, engine=engine) is None


def of_igraph(frame: Any) -> list[tuple]:
    import igraph

    pairs = frame[["src", "dst"]].to_numpy()

    def build():
        made = igraph.Graph(n=int(pairs.max()) + 1, edges=pairs)
        made.simplify()
        return made

    def count(graph):
        # list_triangles would make a Python tuple a triangle; this counts in C.
        degree = np.array(graph.degree(), dtype=np.float64)
        closed = np.array(graph.transitivity_local_undirected(mode="zero"))
        return round(float((closed * degree * (degree - 1) / 2).sum())) // 3

    graph = build()
    return [
        ("igraph", "count", lambda: count(graph)),
        ("igraph", "frame to count", lambda: count(build())),
    ]


def of_networkit(frame: Any) -> list[tuple]:
    import networkit

    src, dst = (frame[c].to_numpy().astype(np.uint64) for c in ("src", "dst"))

    def build():
        n = int(max(src.max(), dst.max())) + 1
        ones = np.ones(len(src))
        made = networkit.GraphFromCoo((ones, (src, dst)), n=n, directed=False, weighted=False)
        made.removeMultiEdges()
        made.removeSelfLoops()
        made.indexEdges()
        return made

    def count(graph):
        scores = networkit.sparsification.TriangleEdgeScore(graph)
        scores.run()
        return int(np.sum(scores.scores())) // 3

    graph = build()
    return [
        ("networkit", "count", lambda: count(graph)),
        ("networkit", "frame to count", lambda: count(build())),
    ]


def of_networkx(frame: Any) -> list[tuple]:
    import networkx

    def build():
        made = networkx.from_pandas_edgelist(frame, "src", "dst")
        made.remove_edges_from(list(networkx.selfloop_edges(made)))
        return made

    graph = build()
    count = lambda g: sum(networkx.triangles(g).values()) // 3  # noqa: E731
    return [("networkx", "count", lambda: count(graph))]


def of_cugraph(frame: Any) -> list[tuple]:
    import cugraph

    def build():
        made = cugraph.Graph(directed=False)
        made.from_cudf_edgelist(frame, source="src", destination="dst", renumber=True)
        return made

    graph = build()
    count = lambda g: int(cugraph.triangle_count(g)["counts"].astype("int64").sum()) // 3  # noqa: E731
    truss = lambda k: cugraph.ktruss_subgraph(graph, k).number_of_edges()  # noqa: E731
    return [
        ("cugraph", "count", lambda: count(graph)),
        ("cugraph", "frame to count", lambda: count(build())),
        *(("cugraph", f"{k}-truss", lambda k=k: truss(k)) for k in TRUSSES),
    ]


NEIGHBOURS = {
    "igraph": of_igraph,
    "networkit": of_networkit,
    "networkx": of_networkx,
    "cugraph": of_cugraph,
}


def synchronise(library: str) -> Callable[[], None]:
    if library == "pandas":
        return lambda: None
    import cupy

    return cupy.cuda.Device().synchronize


def machine(library: str) -> dict[str, Any]:
    """Where and with what a figure is measured."""
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    about = {
        "cpu": cpu_name(), "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        "versions": versions,
        "commit": os.environ.get("RTC_COMMIT") or git("rev-parse", "--short", "HEAD"),
        "changed": bool(git("status", "--porcelain", "--untracked-files=no")),
        "command": " ".join(["python", *sys.argv]), "date": time.strftime("%Y-%m-%d"),
    }  # fmt: skip
    if library == "cudf":
        import cupy

        device = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
        about["card"] = device["name"].decode()
        about["driver"] = subprocess.run(
            ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"],
            capture_output=True, text=True, check=True,
        ).stdout.split()[0]  # fmt: skip
    return about


def cpu_name() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((x.split(":")[1].strip() for x in lines if x.startswith("model name")), "unknown")


def git(*words: str) -> str:
    done = subprocess.run(
        ["git", *words], capture_output=True, text=True, cwd=Path(__file__).parent
    )
    return done.stdout.strip()


if __name__ == "__main__":
    main()
