"""Time cliques of four and five vertices, on one engine, beside igraph: one JSON line per figure.

    python benchmarks/cliques.py rmat:12 rmat:14 rmat:16 --beside
    python benchmarks/cliques.py rmat:16 rmat:18 rmat:20 --library cudf

The graph is prepared before. "look-ups" and "words" are the work that is predicted: the entries of
the rows of each row's entries, and for each clique of k - 1 vertices the words of a row of 64-bit
words. igraph lists cliques, in a process of its own that may take some time and memory.
"""

from __future__ import annotations

import resource
import sys
from functools import partial
from multiprocessing import get_context

import click
import numpy as np
from arguments import need, read
from datasets import label
from machine import machine, write

from rapids_tc.bench import clocked, ours, take_turns


@click.command()
@click.argument("graphs", nargs=-1, required=True)
@click.option("--library", type=click.Choice(["pandas", "cudf"]), default="pandas")
@click.option("--beside", is_flag=True, help="Time igraph, too, for cliques of four.")
@click.option("--timeout", default=300, show_default=True, help="Seconds for igraph.")
@click.option("--memory", default=16, show_default=True, help="GiB for igraph.")
@click.option("--repeat", type=click.IntRange(1), default=3, show_default=True)
@click.option("--out", type=click.File("a"), default="-", help="File to add lines to.")
def main(graphs, library, beside, timeout, memory, repeat, out) -> None:
    """Time cliques of GRAPHS, named as for bench.py."""
    need(library)
    about, kind = machine(gpu=library == "cudf"), "cuda" if library == "cudf" else "cpu"
    for name in graphs:
        contestant = ours(kind, ["auto"])
        graph = contestant.build(contestant.convert(read(name, library)))
        engine, csr, host = graph.engine, graph.csr, graph.backend.host
        wait = getattr(engine, "wait", lambda: None)
        lengths = np.diff(host(csr.offsets))
        look_ups = int(lengths[host(csr.columns)].sum())
        smaller = host(engine.cliques(csr, 3)[0])
        for k in (4, 5):
            words = int((smaller * -(-lengths // 64)).sum())
            for per in ("row", "vertex", "edge"):
                call, answers = partial(engine.cliques, csr, k, per=per), {}
                found = take_turns({per: call}, repeat, wait=wait, seen=answers.__setitem__)
                counted = host(answers[per][0])
                line = {"graph": label(name), "edges": csr.m, "k": k, "per": per}
                line |= {"cliques": sum(counted.tolist()), "look-ups": look_ups, "words": words}
                write(out, about | line | found[per].line)
            smaller = counted
        if beside:
            ends = np.stack([host(csr.rows), host(csr.columns)], axis=1)
            line = {"graph": label(name), "edges": csr.m, "k": 4, "per": "igraph, a list"}
            write(out, about | line | run_igraph(ends, timeout, memory))


def run_igraph(ends, timeout, memory) -> dict:
    """Return the seconds and cliques of igraph, or why there are none."""
    context = get_context("spawn")
    ours_end, theirs = context.Pipe(duplex=False)
    child = context.Process(target=list_cliques, args=(ends, memory, theirs))
    child.start()
    theirs.close()
    try:
        return ours_end.recv() if ours_end.poll(timeout) else {"failed": f"{timeout} seconds"}
    except EOFError:
        return {"failed": f"{memory} GiB"}
    finally:
        child.kill()
        child.join()


def list_cliques(ends, memory, pipe) -> None:
    """Time igraph's list of cliques of four vertices, in a process with so many GiB."""
    import igraph

    graph = igraph.Graph(edges=ends.tolist())
    resource.setrlimit(resource.RLIMIT_AS, (memory << 30, memory << 30))
    try:
        seconds, found = clocked(lambda: len(graph.cliques(4, 4)))
    except (MemoryError, igraph.InternalError):
        pipe.send({"failed": f"{memory} GiB"})
    else:
        pipe.send({"cliques": found, "seconds": seconds})


if __name__ == "__main__":
    sys.exit(main())
