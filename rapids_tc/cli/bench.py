"""The command bench: times every installed library on the graph of a file."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import rapids_tc as tc
from rapids_tc._progress import Report
from rapids_tc.bench import (
    OTHER_LIBRARIES,
    AnswerCheck,
    Contestant,
    DisagreementError,
    Job,
    TooLongError,
    installed,
    measure,
    not_installed,
    ours,
    run,
)
from rapids_tc.bench.other_libraries import MAX_ROWS
from rapids_tc.cli import tables
from rapids_tc.cli.machine import has_gpu
from rapids_tc.cli.output import Command, note
from rapids_tc.cli.reading import read, takes_file

if TYPE_CHECKING:
    from collections.abc import Sequence

FIGURES = ("count", "frame to count")
_HEADINGS = {"count": "count stage", "frame to count": "frame to count"}


@dataclass(frozen=True)
class Line:
    """The outcome of a job: its seconds, or a remark that says why there are none."""

    tool: str
    what: str
    seconds: float | None = None
    least: float | None = None
    most: float | None = None
    first: float | None = None
    calls: int = 0
    remark: str = ""


def _number(_: click.Context, option: click.Parameter, value: float) -> float:
    """Return the value of an option, unless it is NaN, which every range of click accepts."""
    if isnan(value):
        raise click.BadParameter("nan is no number", param=option)
    return value


@click.command(cls=Command, example="--engine cpu --json")
@takes_file
@click.option("--method", multiple=True, help="A method of cuda to time; may be given again.")
@click.option("--repeat", type=click.IntRange(1), default=5, show_default=True, help="Calls.")
@click.option(
    "--patience", "timeout", type=click.FloatRange(0, min_open=True), default=20.0,
    show_default=True, help="Seconds for a figure.", callback=_number,
)  # fmt: skip
@click.option(
    "--as", "shape", type=click.Choice(["table", "json", "csv"]), hidden=True,
    help="What --json, or --out - for CSV, does now.",
)  # fmt: skip
@tables.takes_out_of_few
def bench(
    *,
    file: Path,
    engine: str | None,
    method: tuple[str, ...],
    repeat: int,
    timeout: float,
    shape: str | None,
    output: tables.Output,
    **reading: Any,
) -> None:
    """Find the fastest method for the graph in FILE.

    On a GPU every method is timed, and the CPU engine; without one the CPU engine. --engine and
    --method narrow it. igraph, networkit, NetworkX and cuGraph are timed beside them if they are
    installed, NetworkX on up to a million rows. The count stage is the count of a graph that is
    prepared; frame to count is the whole call. Figures are medians after a call that warms up, and
    all answers must agree.
    `rapids-tc count --help` tells how FILE is read.
    """
    output = _in_shape(output, shape)
    tables.require_out(output)
    contestants = _contestants(engine, method)
    frame = read(file, reading).frame
    others, lines = _other_libraries(len(frame), contestants)
    contestants += others
    jobs = [job for one in contestants for job in (*one.stages, *one.whole) if job.what in FIGURES]
    answer_check, report = AnswerCheck(), Report(None)
    report.stage("timing")

    def each(job: Job, data: Any) -> Line:
        report.advance(jobs.index(job) / len(jobs), f"{job.tool}, {job.what}")
        try:
            timing = measure(job, data, repeat=repeat, timeout=timeout)
        except Exception as error:  # of this figure; the others go on
            return _failed(job, error)
        answer_check.add(timing)
        spread = (timing.seconds, timing.least, timing.most, timing.first)
        return Line(job.tool, job.what, *spread, len(timing.times))

    try:
        for contestant in contestants:
            try:
                lines += run(contestant, frame, each, lambda job: job.what in FIGURES)
            except DisagreementError:
                raise
            except Exception as error:  # raised by the contestant's build; the others go on
                lines += [_failed(Job(contestant.name, what, int), error) for what in FIGURES]
    finally:
        report.close()
    on_gpu = contestants[0].name == "rapids_tc cuda"
    if missing := not_installed("cuda" if on_gpu else "cpu"):
        note(f"not installed, so not timed: {', '.join(missing)}")
    figures = [asdict(line) for line in lines]
    if output.as_json:
        triangles = answer_check.answer("triangles")
        about = {"file": str(file), "rows": len(frame), "triangles": triangles}
        about["not_installed"] = missing
        click.echo(json.dumps(about | {"figures": output.some(figures)}))
    elif output.is_free:
        _show(lines, output)
    else:
        tables.write_rows(figures, output)


def _in_shape(output: tables.Output, shape: str | None) -> tables.Output:
    """Return how figures are written, of which --as said a part before."""
    if shape is None:
        return output
    option = {"json": "--json", "csv": "--out -", "table": "left out"}[shape]
    note(f"deprecated: --as {shape} is now {option}")
    if shape == "json":
        return replace(output, as_json=True)
    return output if shape == "table" or output.out is not None else replace(output, out=Path("-"))


def _contestants(engine: str | None, methods: Sequence[str]) -> list[Contestant]:
    """Return rapids_tc on the engines to time; a wrong method is found before the file is read."""
    place = engine or ("cuda" if has_gpu() else "cpu")
    unique = [*dict.fromkeys(methods)] or ["auto"]
    if place == "cuda":
        on_gpu = ours("cuda", unique if methods else ["auto", *tc.methods()["name"]])
        return [on_gpu] if engine or methods else [on_gpu, ours("cpu", ["auto"])]
    on_cpu = ours("cpu", unique)
    if unique != ["auto"]:
        kernel = next(method for method in unique if method != "auto")
        raise ValueError(
            f"--method {kernel} names a CUDA kernel and needs a GPU, which is not in use here: "
            "`rapids-tc doctor` tells what is missing; without --method the CPU engine is timed"
        )
    return [on_cpu]


def _other_libraries(
    rows: int, contestants: list[Contestant]
) -> tuple[list[Contestant], list[Line]]:
    """Return the installed libraries, and lines for those that are too slow for the graph."""
    on_gpu = contestants[0].name == "rapids_tc cuda"
    names = installed("cuda" if on_gpu and find_spec("cudf") else "cpu")
    slow = [name for name in names if rows > MAX_ROWS.get(name, rows)]
    return [OTHER_LIBRARIES[name]() for name in names if name not in slow], [
        Line(
            name, what, remark=f"left out: of more than {MAX_ROWS[name]:,} rows it may take minutes"
        )
        for name in slow
        for what in FIGURES
    ]


def _failed(job: Job, error: Exception) -> Line:
    """Return a line that says why a figure is missing."""
    words = " ".join(str(error).split())
    if isinstance(error, MemoryError):
        words = words or "out of memory"
    elif not isinstance(error, TooLongError):
        words = f"failed: {words or type(error).__name__}"
    return Line(job.tool, job.what, remark=words)


def _show(lines: list[Line], output: tables.Output) -> None:
    """Print a row per tool, the fastest first."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("")
    for what in FIGURES:
        table.add_column(_HEADINGS[what], justify="right")
    table.add_column("least to most", justify="right")
    table.add_column("", overflow="fold")
    by_tool: dict[str, dict[str, Line]] = {}
    for line in lines:
        by_tool.setdefault(line.tool, {})[line.what] = line
    ranked = sorted(by_tool.items(), key=lambda item: _rank(item[1]))
    for tool, figures in output.some(ranked):
        cells = [_seconds(figures[what].seconds) if what in figures else "" for what in FIGURES]
        whole = figures.get("frame to count", Line(tool, ""))
        spread = f"{_seconds(whole.least)} to {_seconds(whole.most)}" if whole.seconds else ""
        remarks = dict.fromkeys(line.remark for line in figures.values() if line.remark)
        table.add_row(tool, *cells, spread, "; ".join(remarks))
    Console(highlight=False).print(table)
    for what in FIGURES:
        if (fastest := _fastest(lines, what)) is not None:
            click.echo(f"fastest, {_HEADINGS[what]}: {fastest.tool}")


def _rank(figures: dict[str, Line]) -> tuple[float, ...]:
    values = (figures.get(what, Line("", what)).seconds for what in reversed(FIGURES))
    return tuple(float("inf") if seconds is None else seconds for seconds in values)


def _fastest(lines: list[Line], what: str) -> Line | None:
    timed = [line for line in lines if line.what == what and line.seconds is not None]
    return min(timed, key=lambda line: line.seconds or 0.0, default=None)


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{1e3 * value:,.3g} ms" if value < 1 else f"{value:,.3g} s"
