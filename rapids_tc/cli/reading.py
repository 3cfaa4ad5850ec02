"""What all commands that take a FILE share: its options, the file read, the graph prepared."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

import rapids_tc as tc
from rapids_tc._progress import Report
from rapids_tc.files import FORMATS, EdgeFile, read_edges


class FileName(click.Path):
    """A path; the empty name, which would pass for the folder we are in, is none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not str(value):
            self.fail("the name of the file is empty", param, ctx)
        return super().convert(value, param, ctx)


_PARAMETERS = (
    click.argument("file", type=FileName(path_type=Path)),
    click.option(
        "--engine", type=click.Choice(["cpu", "cuda"]), help="Where to work. [default: cpu]"
    ),
    click.option("--format", type=click.Choice(FORMATS), help="Format of the file."),
    click.option("--separator", help="Of text: a character, 'tab' or 'blanks'."),
    click.option("--header/--no-header", default=None, help="Of text: is the first line no edge?"),
    click.option("--comment", metavar="CHARS", help="Of text: what begins a comment; '': nothing."),
    click.option("--ids", type=click.Choice(["integer", "string"]), help="Of text: what ids are."),
    click.option("--source", metavar="COLUMN", help="One id column: a name, or a number from 1."),
    click.option("--destination", metavar="COLUMN", help="The other id column."),
)


def takes_file(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the argument FILE and the options that say how to read it."""
    for parameter in reversed(_PARAMETERS):
        command = parameter(command)
    return command


def read(file: Path, options: dict[str, Any]) -> EdgeFile:
    """The edges of a file; what was guessed is said on stderr."""
    report = Report(None)
    report.stage(f"reading {file.name}")
    try:
        edges = read_edges(file, tick=report.tick, **options)
    finally:
        report.close()
    for guess in edges.guesses:
        click.echo(f"guessed: {guess}", err=True)
    return edges


def prepare(edges: EdgeFile, engine: str | None) -> tc.Graph:
    """The graph of a file that was read, its isolated vertices included."""
    isolated = edges.isolated if len(edges.isolated) else None
    return tc.Graph(edges.frame, vertices=isolated, engine=engine)
