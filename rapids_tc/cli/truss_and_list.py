"""The commands truss and list, whose answers are no function's own: a choice, and parts."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import click

import rapids_tc as tc
from rapids_tc.cli import analytics, tables
from rapids_tc.cli.edges import open_edges
from rapids_tc.cli.output import Command
from rapids_tc.cli.reading import takes_file
from rapids_tc.plan.record import ANALYTICS

if TYPE_CHECKING:
    from pathlib import Path

    from rapids_tc._typing import EngineName

_ROWS = 10_000_000  # triangles that `list` keeps in memory at a time


@click.command(cls=Command)
@takes_file
@tables.takes_out
@click.option("--k", metavar="K", help="Only the k-truss: an integer from 2 on, or 'max'.")
def truss(
    file: Path, engine: EngineName | None, out: Path | None, k: str | None, **reading: Any
) -> None:
    """Write the edges in FILE with their truss numbers.

    The rows of FILE, and trussness: the largest k whose k-truss holds the edge. With --k the edges
    of that truss alone, each once. `rapids-tc count --help` tells how FILE is read.
    """
    record = ANALYTICS["trussness" if k is None else "k_truss"]
    options = {"by": (), "memory_limit": None, **({} if k is None else {"k": k}), **reading}
    analytics.answer_file(record, file, options, engine, out)


@click.command("list", cls=Command)
@takes_file
@tables.takes_out
def list_(file: Path, engine: EngineName | None, out: Path | None, **reading: Any) -> None:
    """Write every triangle of the graph in FILE once.

    Columns: u, v, w, with u < v < w. Ten million rows are made, sorted and written at a time.
    `rapids-tc count --help` tells how FILE is read.
    """
    tables.require_out(out)
    graph = open_edges(file, reading, ()).prepared(engine)
    frames = tc.iter_triangles(graph, max_rows=_ROWS)
    first = next(frames, None)
    tables.write(chain([tc.list_triangles(graph) if first is None else first], frames), out)


COMMANDS = (truss, list_)
