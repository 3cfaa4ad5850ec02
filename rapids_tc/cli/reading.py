"""The argument FILE: its options, and how it is read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rapids_tc._progress import Report
from rapids_tc.cli.output import note
from rapids_tc.files import FORMATS, EdgeFile, read_edges

if TYPE_CHECKING:
    from collections.abc import Callable


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
    click.option(
        "--source",
        multiple=True,
        metavar="COLUMN",
        help="One id column: a name, or a number from 1; again for an id of several columns.",
    ),
    click.option(
        "--destination",
        multiple=True,
        metavar="COLUMN",
        help="The other id column; as often as --source.",
    ),
)


def takes_file(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the argument FILE, and the options that say how to read it, to a command."""
    for parameter in reversed(_PARAMETERS):
        command = parameter(command)
    return command


def read(file: Path, options: dict[str, Any]) -> EdgeFile:
    """Read the edges of a file with one id column for each end; print every guess on stderr."""
    ends = {name: tuple(options[name]) for name in ("source", "destination")}
    if max(map(len, ends.values())) > 1:
        raise ValueError("ids of several columns are not taken here: give source= once")
    options = options | {name: next(iter(columns), None) for name, columns in ends.items()}
    report = Report(None)
    report.stage(f"reading {file.name}")
    try:
        edges = read_edges(file, tick=report.advance, **options)
    finally:
        report.close()
    for guess in edges.guesses:
        note(f"guessed: {guess}")
    return edges
