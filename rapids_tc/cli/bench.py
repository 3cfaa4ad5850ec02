"""The command bench: who counts the graph of a file fastest, on this machine."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from math import isnan
from pathlib import Path
from typing import Any

import click

from rapids_tc._progress import Report
from rapids_tc.bench import (
    NEIGHBOURS,
    AnswerCheck,
    Contender,
    DisagreementError,
    Job,
    TooLongError,
    installed,
    measure,
    ours,
    run,
)
from rapids_tc.bench.other_libraries import SENSIBLE
from rapids_tc.cli.machine import has_card
from rapids_tc.cli.reading import read, takes_file

FIGURES = ("count", "frame to count")
_NAMES = {"count": "count stage", "frame to count": "frame to count"}


@dataclass(frozen=True)
class Line:
    """What came of a job: seconds, or a remark that says why there are none."""

    tool: str
    what: str
    seconds: float | None = None
    least: float | None = None
    most: float | None = None
    first: float | None = None
    calls: int = 0
    remark: str = ""


def _number(_: click.Context, option: click.Parameter, value: float) -> float:
    """The value of an option, which no range keeps from being NaN."""
    if isnan(value):
        raise click.BadParameter("nan is no number", param=option)
    return value


@click.command()
@takes_file
@click.option("--method", multiple=True, help="A method of cuda to time; may be given again.")
@click.option("--repeat", type=click.IntRange(1), default=5, show_default=True, help="Calls.")
@click.option(
    "--patience", type=click.FloatRange(0, min_open=True), default=20.0, show_default=True,
    help="Seconds for a figure.", callback=_number,
)  # fmt: skip
@click.option(
    "--as", "shape", type=click.Choice(["table", "json", "csv"]), default="table",
    show_default=True, help="How to print.",
)  # fmt: skip
def bench(
    file: Path,
    engine: str | None,
    method: tuple[str, ...],
    repeat: int,
    patience: float,
    shape: str,
    **reading: Any,
) -> None:
    """Find the fastest method for the graph in FILE.

    On a card every method is timed, and the CPU engine; without one the CPU engine. --engine and
    --method narrow it. igraph, networkit, NetworkX and cuGraph are timed beside them where they
    are installed, NetworkX on up to a million rows. The count stage is the count of a graph that is
    prepared; frame to count is the whole call. Figures are medians after a call that warms up, and
    all answers must agree.
    `rapids-tc count --help` tells how FILE is read.
    """
    contenders = _contenders(engine, method)
    frame = read(file, reading).frame
    beside, lines = _neighbours(len(frame), contenders)
    racing = [*contenders, *beside]
    jobs = [job for one in racing for job in (*one.stages, *one.whole) if job.what in FIGURES]
    referee, report = AnswerCheck(), Report(None)
    report.stage("timing")

    def each(job: Job, given: Any) -> Line:
        report.tick(jobs.index(job) / len(jobs), f"{job.tool}, {job.what}")
        try:
            timing = measure(job, given, repeat=repeat, patience=patience)
        except Exception as error:  # of this figure; the others go on
            return _failed(job, error)
        referee.hear(timing)
        spread = (timing.seconds, timing.least, timing.most, timing.first)
        return Line(job.tool, job.what, *spread, len(timing.times))

    try:
        for contender in racing:
            try:
                lines += run(contender, frame, each, lambda job: job.what in FIGURES)
            except DisagreementError:
                raise
            except Exception as error:  # what its build raised; the others go on
                lines += [_failed(Job(contender.name, what, int), error) for what in FIGURES]
    finally:
        report.close()
    if shape == "json":
        about = {"file": str(file), "rows": len(frame), "triangles": referee.answer("triangles")}
        click.echo(json.dumps(about | {"figures": [asdict(line) for line in lines]}))
    elif shape == "csv":
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(asdict(lines[0]))
        writer.writerows(asdict(line).values() for line in lines)
    else:
        _show(lines)


def _contenders(engine: str | None, methods: Sequence[str]) -> list[Contender]:
    """Our own engines, the methods checked before the file is read."""
    import rapids_tc as tc

    place = engine or ("cuda" if has_card() else "cpu")
    wanted = [*dict.fromkeys(methods)] or ["auto"]
    if place == "cuda":
        made = [ours("cuda", wanted if methods else ["auto", *tc.methods()["name"]])]
        return made if engine or methods else [*made, ours("cpu", ["auto"])]
    made = [ours("cpu", wanted)]
    if wanted != ["auto"]:
        named = next(method for method in wanted if method != "auto")
        raise ValueError(
            f"--method {named} names a CUDA kernel and needs a card, which is not in use here: "
            "`rapids-tc doctor` tells what is missing; without --method the CPU engine is timed"
        )
    return made


def _neighbours(rows: int, contenders: list[Contender]) -> tuple[list[Contender], list[Line]]:
    """The neighbours that are installed, and lines on those that are too slow for the graph."""
    card = contenders[0].name == "rapids_tc cuda"
    found = installed("cuda" if card and find_spec("cudf") else "cpu")
    slow = [name for name in found if rows > SENSIBLE.get(name, rows)]
    return [NEIGHBOURS[name]() for name in found if name not in slow], [
        Line(
            name, what, remark=f"left out: of more than {SENSIBLE[name]:,} rows it may take minutes"
        )
        for name in slow
        for what in FIGURES
    ]


def _failed(job: Job, error: Exception) -> Line:
    """A line that says why there is no figure."""
    words = " ".join(str(error).split())
    if isinstance(error, MemoryError):
        words = words or "out of memory"
    elif not isinstance(error, TooLongError):
        words = f"failed: {words or type(error).__name__}"
    return Line(job.tool, job.what, remark=words)


def _show(lines: list[Line]) -> None:
    """A row a tool, the fastest first."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("")
    for what in FIGURES:
        table.add_column(_NAMES[what], justify="right")
    table.add_column("least to most", justify="right")
    table.add_column("", overflow="fold")
    by_tool: dict[str, dict[str, Line]] = {}
    for line in lines:
        by_tool.setdefault(line.tool, {})[line.what] = line
    best = {what: _fastest(lines, what) for what in FIGURES}
    for tool, of in sorted(by_tool.items(), key=lambda item: _rank(item[1])):
        cells = [_seconds(of[what].seconds) if what in of else "" for what in FIGURES]
        whole = of.get("frame to count", Line(tool, ""))
        spread = f"{_seconds(whole.least)} to {_seconds(whole.most)}" if whole.seconds else ""
        remark = "; ".join(dict.fromkeys(line.remark for line in of.values() if line.remark))
        table.add_row(tool, *cells, spread, remark)
    Console(highlight=False).print(table)
    for what, first in best.items():
        if first is not None:
            click.echo(f"fastest, {_NAMES[what]}: {first.tool}")


def _rank(of: dict[str, Line]) -> tuple[float, ...]:
    figures = (of.get(what, Line("", what)).seconds for what in reversed(FIGURES))
    return tuple(float("inf") if seconds is None else seconds for seconds in figures)


def _fastest(lines: list[Line], what: str) -> Line | None:
    timed = [line for line in lines if line.what == what and line.seconds is not None]
    return min(timed, key=lambda line: line.seconds or 0.0, default=None)


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{1e3 * value:,.3g} ms" if value < 1 else f"{value:,.3g} s"
