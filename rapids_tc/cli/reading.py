"""The argument FILE: its options, how it is read, and the graph prepared from it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import rapids_tc as tc
from rapids_tc._progress import Report
from rapids_tc.cli.output import note
from rapids_tc.files import FORMATS, EdgeFile, read_edges

if TYPE_CHECKING:
    from collections.abc import Callable

    from rapids_tc._typing import EngineName


class FileName(click.Path):
    """A path that is not empty: pathlib would take the empty name for the current folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path, or fail with a message if the name is empty."""
        if not str(value):
            self.fail("the name of the file is empty", param, ctx)
        return super().convert(value, param, ctx)


_PARAMETERS = (
    click.argument("file", type=FileName(path_type=Path)),
    click.option(
        "--engine", type=click.Choice(["cpu", "cuda"]), help="Where to work. [default: cpu]"
    ),
    click.option("--format", type=click.Choice(FORMATS), help="Format of the file."),
    click.option("--separator", help="For text: a character, 'tab' or 'blanks'."),
    click.option("--header/--no-header", default=None, help="For text: is the first line no edge?"),
    click.option(
        "--comment", metavar="CHARS", help="For text: what begins a comment; '': nothing."
    ),
    click.option("--ids", type=click.Choice(["integer", "string"]), help="For text: what ids are."),
    click.option("--source", metavar="COLUMN", help="One id column: a name, or a number from 1."),
    click.option("--destination", metavar="COLUMN", help="The other id column."),
)


def takes_file(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the argument FILE, and the options that say how to read it, to a command."""
    for parameter in reversed(_PARAMETERS):
        command = parameter(command)
    return command


def read(file: Path, options: dict[str, Any]) -> EdgeFile:
    """Read the edges of a file, and print every guess on stderr."""
    report = Report(None)
    report.stage(f"reading {file.name}")
    try:
        edges = read_edges(file, tick=report.advance, **options)
    finally:
        report.close()
    for guess in edges.guesses:
        note(f"guessed: {guess}")
    return edges


def prepare(edges: EdgeFile, engine: EngineName | None) -> tc.Graph:
    """Return the graph of a file that was read, with its isolated vertices."""
    isolated = edges.isolated if len(edges.isolated) else None
    return tc.Graph(edges.frame, vertices=isolated, engine=engine)
