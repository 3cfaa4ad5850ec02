"""The command list, which writes in parts, and truss, the name of two commands before."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import click

import rapids_tc as tc
from rapids_tc.cli import analytics, tables
from rapids_tc.cli.output import LISTS, Command, note
from rapids_tc.cli.reading import takes_file
from rapids_tc.plan.record import ANALYTICS

if TYPE_CHECKING:
    from pathlib import Path

    from rapids_tc._typing import EngineName

_ROWS = 10_000_000  # triangles that `list` keeps in memory at a time


@click.command(cls=Command, hidden=True)
@takes_file
@tables.takes_out
@click.option("--k", metavar="K", help="Only the k-truss: an integer from 2 on, or 'max'.")
def truss(
    file: Path, engine: EngineName | None, output: tables.Output, k: str | None, **reading: Any
) -> None:
    """Write what trussness does, or k-truss with --k: the name of both before, which will go."""
    name = "trussness" if k is None else "k_truss"
    note(f"deprecated: truss is now {name.replace('_', '-')}")
    options = {"by": (), "memory_limit": None, **({} if k is None else {"k": k}), **reading}
    analytics.answer_file(ANALYTICS[name], file, options, engine, output)


@click.command("list", cls=Command, topic=LISTS, example="--out triangles.parquet")
@takes_file
@analytics.takes_options(ANALYTICS["list_triangles"])
@tables.takes_out
def list_(file: Path, engine: EngineName | None, output: tables.Output, **options: Any) -> None:
    """Write every triangle of the graph in FILE once.

    Columns: u, v, w, with u < v < w, behind those of groups. Ten million rows are made, sorted and
    written at a time. `rapids-tc count --help` tells how FILE is read.
    """
    tables.require_out(output)
    _, asked, ids = analytics.opened(ANALYTICS["list_triangles"], file, options, engine)
    graph = asked.pop("edges")
    frames = tc.iter_triangles(graph, max_rows=_ROWS, **asked, **ids)
    first = next(frames, None)
    if first is None:
        first = tc.list_triangles(graph, **asked, **ids)
    tables.write(chain([first], frames), output)


COMMANDS = (truss, list_)
