"""Read the hardware counters of kernels by Nsight Compute: one JSON line per kernel.

    python benchmarks/ncu.py rmat:20 --method auto --method trust --out results/ncu.jsonl

Needs a GPU, CuPy and ``ncu``, but not cuDF: the graph is prepared on the CPU. Kernels are selected
by name, so that preparation is not profiled. ncu runs each launch several times, once per group of
counters, and does not lock the clocks; its times are of kernels alone, with caches flushed. A
kernel that is launched more than once gets the averages of its launches, weighted by their time.
"""

from __future__ import annotations

import csv
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click
from arguments import require_graph
from datasets import label, load
from machine import machine, write

from rapids_tc.kernels.catalogue import METHODS, find

DURATION = "gpu__time_duration.sum"
COUNTERS = {
    "warp efficiency": "smsp__thread_inst_executed_per_inst_executed.ratio",  # threads of 32
    "sectors a load": "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
    "occupancy": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "DRAM": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "L2": "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "L2 hits": "lts__t_sector_hit_rate.pct",
}
NANOSECONDS = {"ns": 1, "nsecond": 1, "us": 1e3, "usecond": 1e3, "ms": 1e6, "msecond": 1e6,
               "s": 1e9, "second": 1e9}  # fmt: skip


@click.command()
@click.argument("graph")
@click.option("--method", multiple=True, help="Methods. [default: all but those of many launches]")
@click.option("--what", type=click.Choice(["count", "edge counts"]), default="count")
@click.option("--out", type=click.File("a"), default="-", help="File to add lines to.")
def main(graph, method, what, out) -> None:
    """Profile the counting kernels of methods on GRAPH, as bench.py names it."""
    ncu = shutil.which("ncu")
    if ncu is None:
        raise click.ClickException("needs ncu, of NVIDIA Nsight Compute, on the PATH")
    require_graph(graph)
    returns = "total" if what == "count" else "edges"
    # Methods with a driver launch hundreds of kernels, minutes under ncu: only if they are named.
    every = [m.name for m in METHODS if m.driver is None and returns in m.returns]
    methods = [find(name, returns) for name in method or every]
    owner = {kernel: method.name for method in methods for kernel in method.kernels}
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log")
        command = [
            ncu, "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none",
            "--log-file", str(log), "--kernel-name", f"regex:^({'|'.join(owner)})$",
            "--metrics", ",".join([DURATION, *COUNTERS.values()]),
            sys.executable, __file__, "--child", graph, what, *dict.fromkeys(owner.values()),
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True)
        text = log.read_text() if log.exists() else ""
    lines = list(parse(text.splitlines()))
    if done.returncode or not lines:
        messages = f"{done.stdout[-1000:]}{done.stderr[-1000:]}{text[-1000:]}"
        raise click.ClickException(f"ncu gave no counters: {messages}")
    about = machine(gpu=True) | {"graph": label(graph), "what": f"ncu, {what}"}
    for line in lines:
        write(out, about | {"tool": f"rapids_tc cuda {owner[line['kernel']]}"} | line)


def child(graph: str, what: str, *methods: str) -> None:
    """Count once by every method, in the process that ncu profiles."""
    import cupy

    import rapids_tc as tc
    from rapids_tc.engines import registry
    from rapids_tc.preparation.csr import Csr

    csr = tc.Graph(load(graph), engine="cpu", progress=False).csr
    engine = registry.load("cuda")
    layout = engine.prepare(Csr(cupy.asarray(csr.offsets), cupy.asarray(csr.columns)))
    count = engine.count if what == "count" else engine.edge_counts
    for method in methods:
        count(layout, method=method)


def parse(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Make a line per kernel from ncu's CSV: a row of names, a row of units, and the launches.

    Other output of ncu and of the program does not begin with a quotation mark.
    """
    rows = list(csv.reader(line for line in lines if line.startswith('"')))
    if len(rows) < 3:
        return
    header, units, *launches = rows
    unit = NANOSECONDS[units[header.index(DURATION)]]
    by_kernel = defaultdict(list)
    for launch in launches:
        named = dict(zip(header, launch, strict=True))
        by_kernel[named["Kernel Name"].partition("(")[0]].append(named)
    for kernel, each in by_kernel.items():
        times = [unit * number(launch[DURATION]) for launch in each]
        total = sum(times)
        counters = {
            name: sum(t * number(x[metric]) for t, x in zip(times, each, strict=True)) / total
            for name, metric in COUNTERS.items()
        }
        counters["warp efficiency"] *= 100 / 32
        yield {
            "kernel": kernel, "launches": len(each), "kernel_seconds": total / 1e9,
            "counters": counters,
        }  # fmt: skip


def number(text: str) -> float:
    """Read a number with separated thousands; a counter that a kernel lacks is 0."""
    return float(text.replace(",", "") if text not in ("", "n/a", "nan") else 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:])
    else:
        main()
