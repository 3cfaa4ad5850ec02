"""Time graphlets of up to four vertices, from the frame, beside ORCA and igraph: JSON lines.

    python benchmarks/graphlets.py rmat:12 rmat:14 --orca ./orca --igraph
    python benchmarks/graphlets.py rmat:16 rmat:18 rmat:20 --library cudf

Calls take turns, so that other work of the machine slows all of them alike; "ratio" is over
`edge_triangles`. ORCA is the program of Hocevar and Demsar, compiled from their one C++ file: its
seconds are those that it prints for the count itself, without reading and writing files, and its
orbits are compared with ours. igraph's `motifs_randesu` finds the graphlets of four vertices.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import click
import numpy as np
import pandas as pd
from arguments import need, read
from datasets import label
from machine import machine, write

import rapids_tc as tc
from rapids_tc.bench import clocked, take_turns

CALLS = (tc.edge_triangles, tc.count, tc.vertex_cliques, tc.graphlet_counts, tc.graphlets)


@click.command()
@click.argument("graphs", nargs=-1, required=True)
@click.option("--library", type=click.Choice(["pandas", "cudf"]), default="pandas")
@click.option("--orca", type=click.Path(exists=True), help="ORCA's program, to be timed, too.")
@click.option("--igraph", is_flag=True, help="Time igraph, too.")
@click.option("--timeout", default=300, show_default=True, help="Seconds for each of these.")
@click.option("--repeat", type=click.IntRange(1), default=3, show_default=True)
@click.option("--out", type=click.File("a"), default="-", help="File to add lines to.")
def main(graphs, library, orca, igraph, timeout, repeat, out) -> None:
    """Time graphlets of GRAPHS, named as for bench.py."""
    need(library)
    about = machine(gpu=library == "cudf")
    for name in graphs:
        edges = read(name, library)
        graph = tc.Graph(edges)
        wait = getattr(graph._prepared.engine, "wait", lambda: None)
        found = take_turns(
            {call.__name__: partial(call, edges) for call in CALLS}, repeat, wait=wait
        )
        line = {"graph": label(name), "edges": graph.n_edges}
        base = found["edge_triangles"].seconds
        for what, times in found.items():
            ratio = round(times.seconds / base, 3)
            write(out, about | line | {"what": what, "ratio": ratio} | times.line)
        simple = tc.simple_edges(edges)
        simple = simple if library == "pandas" else simple.to_pandas()
        numbers = pd.factorize(simple.to_numpy().ravel(), sort=True)[0].reshape(-1, 2)
        if orca:
            write(out, about | line | {"what": "ORCA"} | run_orca(orca, numbers, timeout))
        if igraph:
            write(out, about | line | {"what": "igraph"} | run_igraph(numbers, timeout))


def run_orca(program, ends, timeout) -> dict:
    """Return ORCA's seconds, and whether its orbits are ours."""
    with tempfile.TemporaryDirectory() as folder:
        asked, answered = Path(folder, "graph"), Path(folder, "orbits")
        np.savetxt(asked, ends, fmt="%d", comments="", header=f"{ends.max() + 1} {len(ends)}")
        command = [Path(program).resolve(), "node", "4", asked, answered]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=timeout, check=True
            )
        except subprocess.TimeoutExpired:
            return {"failed": f"{timeout} seconds"}
        theirs = np.loadtxt(answered, dtype="int64", ndmin=2)
    ours = tc.graphlets(pd.DataFrame(ends, columns=["src", "dst"])).drop(columns="vertex")
    same = bool((theirs == ours.to_numpy()).all())
    return {"seconds": float(done.stdout.split()[-1]), "same": same}


def run_igraph(ends, timeout) -> dict:
    """Return igraph's seconds, in a process of its own."""
    context = get_context("spawn")
    ours_end, theirs = context.Pipe(duplex=False)
    child = context.Process(target=find_motifs, args=(ends, theirs))
    child.start()
    try:
        return ours_end.recv() if ours_end.poll(timeout) else {"failed": f"{timeout} seconds"}
    finally:
        child.kill()
        child.join()


def find_motifs(ends, pipe) -> None:
    """Time igraph's motifs of four vertices."""
    import igraph

    graph = igraph.Graph(edges=ends.tolist())
    seconds, _ = clocked(lambda: graph.motifs_randesu(4))
    pipe.send({"seconds": seconds})


if __name__ == "__main__":
    sys.exit(main())
