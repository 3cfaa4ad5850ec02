"""Time measures of pairs of vertices, and of all edges: one JSON line per figure.

    python benchmarks/pairs.py rmat:16 rmat:18 --pairs 1000000
    python benchmarks/pairs.py rmat:20 --pairs 10000000 --library cudf

Pairs are random vertices, joined by an edge or not. "engine" lines time `common_sums` and
`CommonNeighborSums` on a graph that is laid out, with "ratio" over edge counts; "call" lines time
whole calls on a `Graph`. With cuDF, `cugraph.jaccard` answers for the same pairs, and "largest" is
the largest difference. Calls take turns, so that other work of the machine slows all of them alike.
"""

from __future__ import annotations

import sys
from typing import Any

import click
import numpy as np
from arguments import need, read
from datasets import label
from machine import machine, write

import rapids_tc as tc
from rapids_tc.bench import take_turns
from rapids_tc.blocks.quantities import CommonNeighborSums
from rapids_tc.blocks.third_sums import third_values


@click.command()
@click.argument("graphs", nargs=-1, required=True)
@click.option("--pairs", type=click.IntRange(1), default=10**6, show_default=True)
@click.option("--library", type=click.Choice(["pandas", "cudf"]), default="pandas")
@click.option("--repeat", type=click.IntRange(1), default=5, show_default=True)
@click.option("--out", type=click.File("a"), default="-", help="File to add lines to.")
def main(graphs, pairs, library, repeat, out) -> None:
    """Time measures of GRAPHS, named as for bench.py."""
    need(library)
    about = machine(gpu=library == "cudf")
    for name in graphs:
        edges = read(name, library)
        graph = tc.Graph(edges)
        frame = random_pairs(graph, edges, pairs)
        calls = engine_calls(graph._prepared) | whole_calls(graph, frame)
        others = cugraph_calls(edges, frame) if library == "cudf" else {}
        wait = getattr(graph._prepared.engine, "wait", lambda: None)
        answers: dict[str, Any] = {}
        found = take_turns({**calls, **others}, repeat, wait=wait, seen=answers.__setitem__)
        base = found["engine: edge counts"].seconds
        for what, times in found.items():
            line = {"graph": label(name), "edges": graph.n_edges, "pairs": pairs, "what": what}
            line |= times.line
            if what.startswith("engine"):
                line["ratio"] = round(times.seconds / base, 3)
            if what in others:
                ours = answers["call: jaccard of pairs"]
                line["largest"] = float(abs(ours - others[what].in_order(answers[what])).max())
            write(out, about | line)


def random_pairs(graph, edges, size: int) -> Any:
    """Return a frame of random vertices, with the columns and the dtypes of the edges."""
    prepared = graph._prepared
    ids = prepared.ids_of(prepared.backend.xp.arange(prepared.n_vertices))
    columns = list(edges.columns[:2])
    random = np.random.default_rng(0)
    ends = [ids.iloc[random.integers(0, len(ids), size)].reset_index(drop=True) for _ in columns]
    return type(edges)(dict(zip(columns, ends, strict=True)))


def engine_calls(prepared) -> dict[str, Any]:
    """Return what the engine does for all edges of a layout, by what is timed."""
    engine, layout = prepared.engine, prepared.layout
    values = third_values("adamic_adar", prepared.degrees, prepared.backend).by_rank
    return {
        "engine: edge counts": lambda: engine.edge_counts(layout),
        "engine: sums of third vertices": lambda: engine.visit(
            layout, CommonNeighborSums(""), values
        ),
    }


def whole_calls(graph, pairs) -> dict[str, Any]:
    """Return whole calls on a prepared graph, by what is timed."""
    return {
        "call: adamic_adar of edges": lambda: graph.similarity(measure="adamic_adar"),
        "call: jaccard of pairs": lambda: graph.similarity(pairs=pairs),
        "call: adamic_adar of pairs": lambda: graph.similarity(measure="adamic_adar", pairs=pairs),
    }


def cugraph_calls(edges, pairs) -> dict[str, Any]:
    """Return what cuGraph answers for the pairs, in their order."""
    import cugraph

    source, destination = edges.columns[:2]
    simple = edges[edges[source] != edges[destination]]
    graph = cugraph.Graph(directed=False)
    graph.from_cudf_edgelist(simple, source=source, destination=destination)
    named = pairs.rename(columns={source: "first", destination: "second"})
    placed = named.assign(place=np.arange(len(named)))

    def jaccard() -> Any:
        return cugraph.jaccard(graph, named)

    def in_order(found: Any) -> Any:
        found = found.drop_duplicates(["first", "second"])
        merged = placed.merge(found, on=["first", "second"], how="left").sort_values("place")
        values = merged["jaccard_coeff"].fillna(0).reset_index(drop=True)
        return values.where(named["first"] != named["second"], 0)

    jaccard.in_order = in_order
    return {"cuGraph: jaccard of pairs": jaccard}


if __name__ == "__main__":
    sys.exit(main())
