"""The command ``rapids-tc functions``: what can be asked of a graph."""

from __future__ import annotations

import click

from rapids_tc.cli.output import Command


@click.command(cls=Command)
def functions() -> None:
    """List the functions of the Python package.

    Each is called with a data frame of edges: rapids_tc.count(frame).
    """
    from rapids_tc.analytics.overview import overview

    rows = overview()
    width = max(len(row.name) for row in rows)
    for row in rows:
        click.echo(f"{click.style(row.name.ljust(width), bold=True)}  {row.summary}")
