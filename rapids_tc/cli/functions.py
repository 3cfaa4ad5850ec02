"""The command ``rapids-tc functions``: what can be asked of a graph."""

from __future__ import annotations

import click

from rapids_tc.cli import tables
from rapids_tc.cli.output import Command, print_pairs


@click.command(cls=Command, example="--json")
@tables.takes_out_of_few
def functions(output: tables.Output) -> None:
    """List the functions of the Python package.

    Each is called with a data frame of edges: rapids_tc.count(frame). --json and --out tell more:
    what an answer has a row for, and whether graphs larger than memory and Dask frames are taken.
    """
    from rapids_tc.analytics.overview import overview

    tables.require_out(output)
    rows = overview()
    if output.is_free:
        print_pairs([(row.name, row.summary) for row in output.some(rows)])
        return
    told = [
        {
            "function": row.name, "answer": row.result, "larger_than_memory": row.in_blocks,
            "dask": row.distributed, "summary": row.summary,
        }
        for row in rows
    ]  # fmt: skip
    tables.write_rows(told, output)
