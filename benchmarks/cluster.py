r"""Time calls on a cluster of this machine, from a persisted frame: one JSON line per figure.

    python benchmarks/cluster.py rmat:18 --workers 2
    python benchmarks/cluster.py rmat:24 rmat:26 --gpus 4 --protocol ucxx --one --against cugraph
    python benchmarks/cluster.py rmat:30 --gpus 4 --protocol ucxx --pool 135GB --lazy 20 \
        --memory-limit 46e9 --repeat 1

Workers are processes of one thread each, or with `--gpus` of Dask-CUDA, one per GPU with a pool of
RMM. Each makes its own part of an R-MAT graph, or with `--lazy` so many parts in each call, which
are not kept; other graphs are cut into parts. A figure is the
median of `--repeat` calls after one that warms up, with the smallest and the largest beside it; the
time of the warm-up is "first", which compiles on the workers if "new workers" is true. With
`--one` the same calls on one GPU, or in this process, come last. If two counts of a graph differ,
the exit code is 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import metadata
from typing import Any

import click
from arguments import need, read, require_graph, use_pool
from datasets import label
from machine import machine, write

import rapids_tc as tc
from rapids_tc import datasets
from rapids_tc.bench import take_turns

CALLS: dict[str, Callable[..., Any]] = {
    "count": tc.count,
    "vertex_triangles": tc.vertex_triangles,
    "annotate triangles": lambda edges, **limit: tc.annotate(edges, "triangles", **limit),
    "annotate trussness": lambda edges, **limit: tc.annotate(edges, "trussness", **limit),
}
PACKAGES = ("dask", "distributed", "dask-cuda", "dask-cudf-cu13", "distributed-ucxx-cu13",
            "ucxx-cu13")  # fmt: skip
ENGINES = {"pandas": "cpu", "cudf": "cuda"}


@click.command()
@click.argument("graphs", nargs=-1, required=True)
@click.option("--workers", type=click.IntRange(1), help="Processes on the CPU. [default: 2]")
@click.option("--gpus", type=click.IntRange(1), help="GPUs, a worker each, in place of --workers.")
@click.option("--protocol", type=click.Choice(["tcp", "ucxx"]), default="tcp", show_default=True)
@click.option("--pool", default="60GB", show_default=True, help="RMM's: none, rmm, or its bytes.")
@click.option("--what", multiple=True, type=click.Choice([*CALLS]), help="[default: count]")
@click.option("--against", multiple=True, type=click.Choice(["cugraph"]), help="Others.")
@click.option("--one", is_flag=True, help="Beside it, one GPU, or this process.")
@click.option("--lazy", type=click.IntRange(1), help="Parts per worker, made in each call.")
@click.option("--memory-limit", type=float, help="Bytes that a worker may take.")
@click.option("--repeat", type=click.IntRange(1), default=5, show_default=True)
@click.option("--out", type=click.File("a"), default="-", help="File to add lines to.")
def main(
    graphs, workers, gpus, protocol, pool, what, against, one, lazy, memory_limit, repeat, out
) -> None:
    """Time calls on GRAPHS, named as for bench.py."""
    if gpus and workers:
        raise click.UsageError("--workers are on the CPU, and --gpus are workers: give one of them")
    if against and not gpus:
        raise click.UsageError("--against cugraph needs --gpus")
    library, size = ("cudf", gpus) if gpus else ("pandas", workers or 2)
    need(library, ("distributed", *(("dask_cuda", "dask_cudf") if gpus else ()), *against))
    for graph in graphs:
        require_graph(graph)  # before a cluster starts
    about = machine(gpu=bool(gpus)) | {"workers": size}
    about["versions"] |= versions()
    of_all = {"card": f"{gpus} {about['card']} of one host"} if gpus else {}
    limit = {} if memory_limit is None else {"memory_limit": int(memory_limit)}
    calls = {f"frame to {name}": partial(CALLS[name], **limit) for name in what or ("count",)}
    counts: dict[str, set[int]] = {graph: set() for graph in graphs}
    where = f"dask {protocol}"

    def measure(graph: str, tool: str, edges: Any, calls: Any, **more: Any) -> None:
        origin = about | more | {"graph": label(graph), "rows": len(edges), "tool": tool}
        for name, call in calls.items():
            line = timed(call, edges, repeat)
            if name == "frame to count":
                counts[graph].add(line["answer"])
            write(out, origin | {"what": name} | line)

    with cluster(gpus, size, protocol, pool) as client:
        for place, graph in enumerate(graphs):
            edges = parts(graph, size, library, client, lazy)
            more = of_all | {"new workers": not place}
            measure(graph, f"rapids_tc {where}", edges, calls, **more)
            if against:
                counted = {"frame to count": cugraph_count}
                with communicator():
                    measure(graph, f"cugraph {where}", edges, counted, **of_all)
            del edges
    for graph in graphs if one else ():
        measure(graph, f"rapids_tc {ENGINES[library]} auto", alone(graph, library, pool), calls)
    if wrong := [label(graph) for graph, answers in counts.items() if len(answers) > 1]:
        raise click.ClickException(f"the answers about {', '.join(wrong)} differ")


def versions() -> dict[str, str]:
    """Return the versions of what a cluster adds."""
    found = {}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


@contextmanager
def cluster(gpus: int | None, size: int, protocol: str, pool: str) -> Iterator[Any]:
    """Start workers of this machine, and yield their client."""
    from distributed import Client, LocalCluster

    options: dict[str, Any] = {"n_workers": size, "protocol": protocol, "dashboard_address": ":0"}
    if gpus:
        from dask_cuda import LocalCUDACluster as LocalCluster

        sizes = {"none": None, "rmm": 0.5}  # of the memory of a GPU
        options |= {"rmm_pool_size": sizes.get(pool, pool)}
    else:
        options |= {"threads_per_worker": 1, "processes": True}
    with LocalCluster(**options) as started, Client(started) as client:
        client.wait_for_workers(size)
        yield client


def parts(graph: str, size: int, library: str, client: Any, lazy: int | None) -> Any:
    """Persist the frame of a graph, a part per worker; or return the lazy frame of more parts."""
    import dask.dataframe as dd
    from distributed import wait

    kind, _, scale = graph.partition(":")
    if kind == "rmat":
        rows, size = 16 << int(scale), size * (lazy or 1)
        bounds = [rows * part // size for part in range(size + 1)]
        meta = rmat_part(0, 1, int(scale), library).iloc[:0]
        options = {"scale": int(scale), "library": library, "meta": meta}
        edges = dd.from_map(rmat_part, bounds[:-1], bounds[1:], **options)
    else:
        edges = dd.from_pandas(read(graph, library), npartitions=size * (lazy or 1))
    if lazy:
        return edges
    edges = client.persist(edges)
    wait(edges)
    return edges


def rmat_part(first: int, last: int, scale: int, library: str) -> Any:
    """Make some rows of an R-MAT graph."""
    frames = __import__(library)
    xp = __import__("cupy" if library == "cudf" else "numpy")
    src, dst = datasets.rmat_rows(scale, first, last, xp=xp)
    return frames.DataFrame({"src": src, "dst": dst})


def alone(graph: str, library: str, pool: str) -> Any:
    """Read the frame of a graph in this process, on a GPU into a pool as large as a worker's."""
    if library == "cudf":
        use_pool(pool)
    return read(graph, library)


@contextmanager
def communicator() -> Iterator[None]:
    """Let cuGraph's workers reach each other."""
    from cugraph.dask.comms import comms

    comms.initialize(p2p=True)
    yield
    comms.destroy()


def cugraph_count(edges: Any) -> int:
    """Build a graph of cuGraph, and count its triangles."""
    import cugraph
    import cugraph.dask

    graph = cugraph.Graph(directed=False)
    graph.from_dask_cudf_edgelist(edges, source="src", destination="dst")
    return int(cugraph.dask.triangle_count(graph)["counts"].sum().compute()) // 3


def timed(call: Callable[[Any], Any], edges: Any, repeat: int) -> dict[str, Any]:
    """Time a call after one that warms up, each until its answer is there."""
    answers: dict[str, Any] = {}
    found = take_turns({"": partial(call, edges)}, repeat, seen=answers.__setitem__)
    return found[""].line | {"answer": number(answers[""])}


def number(answer: Any) -> int:
    """Return a count as it is, and the sum of the last column of a frame."""
    if isinstance(answer, int):
        return answer
    total = answer[answer.columns[-1]].sum()
    return int(total.compute() if hasattr(total, "compute") else total)


if __name__ == "__main__":
    main()
