"""The command ``rapids-tc``: it answers questions about the graph in a file."""

from __future__ import annotations

import json
import time
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import click

import rapids_tc as tc
from rapids_tc._compiling import compiling, loading
from rapids_tc.cli import analytics, kinds, tables, truss_and_list
from rapids_tc.cli.bench import bench
from rapids_tc.cli.edges import open_edges
from rapids_tc.cli.functions import functions
from rapids_tc.cli.output import GRAPH, Commands, print_pairs
from rapids_tc.cli.reading import takes_file
from rapids_tc.plan.record import ANALYTICS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rapids_tc._typing import EngineName, Frame


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(tc.__version__, prog_name="rapids-tc")
def main() -> None:
    """Exact triangle counts of graphs, on the CPU or an NVIDIA GPU.

    The beginning of a name is enough where no other command begins so: triads, clust.
    """


@main.command(topic=GRAPH, example="--json")
@takes_file
@analytics.takes_options(ANALYTICS["count"])
@tables.takes_out_of_few
def count(*, file: Path, engine: EngineName | None, output: tables.Output, **options: Any) -> None:
    """Count the triangles of the graph in FILE.

    FILE is text (two ids per line: CSV, TSV, blanks; with comments, with or without a header) or
    of another format that --format lists, plain, compressed or alone in an archive; a folder or a
    quoted pattern of such files; or - for stdin. What FILE does not say is guessed and printed on
    stderr; the options override it. Text that does not look like an edge list is refused.

    Direction, repeated edges and self loops do not count. Vertices are the ids in edges and
    self loops, and those that FILE names without an edge. With --by, the answer is a table with
    one row per group, and of triangles of a kind the count alone.
    """
    of_kind = any(options[name] is not None for name in kinds.names(ANALYTICS["count"]))
    if options["by"] or of_kind or output.out is not None:
        analytics.answer_file(ANALYTICS["count"], file, options, engine, output)
        return
    asked, reading = analytics.split_options(ANALYTICS["count"], options, engine)
    seconds: dict[str, float] = {}
    with _timed(seconds, "read"):
        edges = open_edges(file, reading, ())
    with _timed(seconds, "prepare"):
        graph = edges.prepared(engine)
    with _timed(seconds, "count"):
        triangles = tc.count(graph, method=asked["method"])
    wedges = graph._prepared.wedges
    answers = {
        "vertices": graph.n_vertices,
        "edges": graph.n_edges,
        "triangles": triangles,
        # tc.transitivity would count a second time.
        "transitivity": 3 * triangles / wedges if wedges else 0.0,
    }
    if output.as_json:
        source = {
            "file": str(file), "format": edges.file.format, "guesses": edges.file.guesses,
        }  # fmt: skip
        settings = {"engine": engine or "cpu", "method": asked["method"], "seconds": seconds}
        click.echo(json.dumps(source | answers | settings))
    else:
        shown = [(name, f"{value:,}") for name, value in answers.items() if name != "transitivity"]
        shown.append(("transitivity", f"{answers['transitivity']:.6g}"))
        shown += [(f"{name} time", f"{value:.3f} s") for name, value in seconds.items()]
        print_pairs(output.some(shown))


for own in (*truss_and_list.COMMANDS, functions, bench):
    main.add_command(own)
for command in analytics.commands():
    if command.name not in main.commands:
        main.add_command(command)


@main.command(example="--json")
@tables.takes_out_of_few
def doctor(output: tables.Output) -> None:
    """Say what is installed and what a GPU needs.

    Tells the versions, where compiled code is kept, the GPU and its driver, and the command that
    installs what is missing.
    """
    from rapids_tc.cli.machine import findings

    tables.require_out(output)
    found = [("rapids_tc", tc.__version__), *findings()]
    if output.is_free:
        print_pairs(output.some(found))
    else:
        tables.write_rows([{"part": part, "finding": text} for part, text in found], output)


@main.group(cls=Commands)
def datasets() -> None:
    """Write a well-known or a generated graph."""


_takes_out = partial(tables.takes_out, files="File to write; - is stdout.")


@datasets.command(example="10 --out graph.npz")
@click.argument("scale", type=int)
@click.option("--edge-factor", default=16, show_default=True, help="Rows per vertex.")
@click.option("--seed", default=0, show_default=True, help="Another seed, another graph.")
@_takes_out
def rmat(scale: int, edge_factor: int, seed: int, output: tables.Output) -> None:
    """Write the Graph500 R-MAT graph of 2**SCALE vertices.

    The suffix of the file says how: .npz, .parquet, .csv, or anything else for text with tabs.
    """
    from rapids_tc import datasets

    _check_edges(output)
    _write_edges(datasets.rmat(scale, edge_factor=edge_factor, seed=seed), output)


@datasets.command(example="--out karate.csv")
@_takes_out
def karate(output: tables.Output) -> None:
    """Write Zachary's karate club: 34 vertices, 78 edges, 45 triangles.

    The suffix of the file says how, as for rmat.
    """
    from rapids_tc import datasets

    _check_edges(output)
    _write_edges(datasets.karate(), output)


def _check_edges(output: tables.Output) -> None:
    """Raise the error that would stop edges from being written, before they are made."""
    out = output.file
    tables.require_out(output, () if out is None else (tables.suffix_of(out),))


def _write_edges(frame: Frame, output: tables.Output) -> None:
    """Write a frame `src`, `dst` in the format that the suffix names."""
    if (out := output.file) is None:
        tables.write([frame], output)
        return
    frame, suffix = frame.head(output.limit or len(frame)), out.suffix.lower()
    with tables.whole(out) as part:
        if suffix == ".npz":
            import numpy as np

            with part.open("wb") as file:  # given a name, NumPy makes .NPZ.npz of .NPZ
                np.savez(file, src=frame["src"], dst=frame["dst"])
        elif suffix == ".parquet":
            frame.to_parquet(part, index=False)
        else:
            frame.to_csv(part, index=False, sep="," if ".csv" in out.name.lower() else "\t")


@contextmanager
def _timed(seconds: dict[str, float], stage: str) -> Iterator[None]:
    """Measure a stage, without what it compiles, which the next run does not, and loads."""
    clocks = {"load": loading, "compile": compiling}
    start, before = time.perf_counter(), {name: clock.seconds for name, clock in clocks.items()}
    yield
    seconds[stage] = time.perf_counter() - start
    for name, clock in clocks.items():
        aside = clock.seconds - before[name]
        seconds[stage] -= aside
        seconds[name] = seconds.pop(name, 0.0) + aside
