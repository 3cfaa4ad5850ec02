"""Time rapids_tc and other libraries on graphs, in one process: one JSON line per figure.

    python benchmarks/bench.py rmat:18 rmat:20 --against igraph --against networkit
    python benchmarks/bench.py --suite study --out results/study-h100.jsonl

A figure is the median of `--repeat` calls after one that warms up, with the smallest and the
largest beside it; the time of the warm-up is "first". Every line names the GPU, the driver, the
versions, the commit and the command. A figure that would take longer than `--patience` seconds,
predicted from a smaller graph of the family or shown by a first call, is a line that says so, and
so is one that runs out of memory. All answers about a graph are compared: a disagreement or an
error is a line too, and the exit code is 1. A suite leaves out graphs whose files are missing.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import click
from arguments import POOLS, absent, memory_of, need, read, use_pool
from datasets import known, label, load
from machine import machine, write
from memory import peak
from suites import SUITES, Entry, Suite

import rapids_tc as tc
from rapids_tc.bench import (
    OTHER_LIBRARIES,
    AnswerCheck,
    Contestant,
    Job,
    TooLongError,
    measure,
    ours,
    run,
)
from rapids_tc.errors import CapacityError
from rapids_tc.kernels.catalogue import METHODS

Line = dict[str, Any]
FIGURES = ("count", "edge counts", "frame to count")
OUT_OF_MEMORY = ("out_of_memory", "bad_alloc", "out of memory")  # words of cuGraph


@click.command()
@click.argument("graphs", nargs=-1)
@click.option("--suite", type=click.Choice([*SUITES]), help="Graphs, figures and all the rest.")
@click.option("--library", type=click.Choice(["pandas", "cudf"]), help="[default: pandas]")
@click.option(
    "--method", multiple=True, help="Methods to time; 'all' names all. [default: auto]",
    type=click.Choice(["auto", "all", *(name for m in METHODS for name in (m.name, *m.aliases))]),
)  # fmt: skip
@click.option("--what", multiple=True, help=f"Figures to take. [default: {', '.join(FIGURES)}]")
@click.option("--against", multiple=True, type=click.Choice([*OTHER_LIBRARIES]), help="Others.")
@click.option("--repeat", type=click.IntRange(1), help="Calls of a figure. [default: 7]")
@click.option(
    "--patience", "timeout", type=click.FloatRange(0, min_open=True),
    help="Seconds for the calls of a figure. [default: 600]",
)  # fmt: skip
@click.option(
    "--pool", type=click.Choice(POOLS), default="none", show_default=True,
    help="Where cuDF and CuPy take the memory of a GPU.",
)  # fmt: skip
@click.option("--out", type=click.File("a"), default="-", help="File to add lines to.")
def main(graphs, suite, library, method, what, against, repeat, timeout, pool, out) -> None:
    """Time GRAPHS: rmat:SCALE, grid:SIDE, uniform:SCALE:EDGES, theory:NAME, a shape:SIZE,
    shared:NAME, or an .npz file. Options overrule those of a suite."""
    plan = SUITES[suite] if suite else Suite((), "pandas", (), 7, 600.0)
    figures = what or FIGURES
    entries = [Entry(name, figures, figures, method or ("auto",)) for name in graphs] or [
        replace(x, what=what or x.what, named=what or x.named, methods=method or x.methods)
        for x in plan.entries
    ]
    plan = Suite(
        tuple(entries), library or plan.library, against or plan.against,
        repeat or plan.repeat, timeout or plan.timeout,
    )  # fmt: skip
    if not plan.entries:
        raise click.UsageError("name a graph or a suite")
    on_gpu = plan.library == "cudf"
    if not on_gpu and (named := sorted({*method} - {"auto", "all"})):
        raise click.UsageError(f"--method {named[0]} needs a GPU: --library cudf")
    if pool != "none" and not on_gpu:
        raise click.UsageError(f"--pool {pool} needs a GPU: --library cudf")
    need(plan.library)
    about, predictor, faults = machine(gpu=on_gpu) | memory_of(pool), TimePredictor(), []
    use_pool(pool)
    if "all" in method and not on_gpu:
        click.echo("left out: the methods that need a GPU, all but auto", err=True)
    figures_by_tool = offers(contestants(plan.entries[0], plan))
    offered = set().union(*figures_by_tool.values())
    if unknown := sorted({*what} - offered):
        raise click.UsageError(f"--what {unknown[0]!r}: choose of {', '.join(sorted(offered))}")
    for figure in what:
        if lacking := [tool for tool, has in figures_by_tool.items() if figure not in has]:
            click.echo(f"left out: {figure!r} of {', '.join(lacking)}: no such figure", err=True)
    for entry in plan.entries:
        for line in run_graph(entry, plan, predictor, read if graphs else load):
            write(out, about | {"graph": label(entry.graph)} | line)
            if "failed" in line:
                who = ", ".join(filter(None, (label(entry.graph), line["tool"])))
                faults.append(f"{who}: {line['failed']}")
    if faults:
        click.echo("\n".join(["FAILED", *faults]), err=True)
        sys.exit(1)


@dataclass
class TimePredictor:
    """The time of each job on the last graph of a family, from which the next is predicted.

    Methods differ, but all of them look at wedges: their time is assumed to grow as the number of
    wedges W1.
    """

    past: dict[tuple[str, str, str], tuple[str, float, float]] = field(default_factory=dict)

    def learn(self, job: Job, graph: str, work: int, seconds: float) -> None:
        """Store the seconds of a job on a graph; infinity if it ran out of memory."""
        self.past[job.tool, job.what, family(graph)] = graph, work, seconds

    def warn(self, job: Job, graph: str, work: int, timeout: float) -> str:
        """Say why a job should not be started; return an empty text if it should be."""
        for what in {job.what, "frame to count"}:
            before = self.past.get((job.tool, what, family(graph)))
            if before is None:
                continue
            smaller, work_before, seconds = before
            expected = seconds * max(1.0, work / max(1, work_before))
            if expected > timeout:
                cost = "memory" if math.isinf(expected) else f"about {expected:.0f} s"
                return f"{cost}, predicted from {smaller}; patience is {timeout:g} s"
        return ""


def family(graph: str) -> str:
    """Return the name of all graphs that differ from this one in size alone."""
    kind = graph.partition(":")[0]
    return graph if kind in ("shared", "theory") else kind


def offers(contestants: Iterable[Contestant]) -> dict[str, set[str]]:
    """Return the figures that each tool can take."""
    by_tool: dict[str, set[str]] = {}
    for contestant in contestants:
        for job in (*contestant.stages, *contestant.whole):
            by_tool.setdefault(job.tool, {"peak memory"}).add(job.what)
    return by_tool


def run_graph(entry: Entry, plan: Suite, predictor: TimePredictor, get: Any) -> Iterator[Line]:
    """Yield the lines of one graph, which `get` reads."""
    try:
        frame = get(entry.graph, plan.library)
        size, work = facts(frame)
    except Exception as error:  # its file is missing, or it is too large; the others go on
        yield {"tool": "", "what": "graph"} | fault(error)
        return
    answer_check = AnswerCheck(known(entry.graph) | {"edges": size["edges"]})

    def figures(job: Job) -> tuple[str, ...]:
        return entry.what if job.tool.split()[-1] in ("auto", *OTHER_LIBRARIES) else entry.named

    def weighs(job: Job) -> bool:
        return job.what == "frame to count" and "peak memory" in figures(job)

    def wanted(job: Job) -> bool:
        return job.what in figures(job) or weighs(job)

    def each(job: Job, data: Any) -> list[Line]:
        if reason := predictor.warn(job, entry.graph, work, plan.timeout):
            return [{"tool": job.tool, "what": job.what, "skipped": reason}]
        figures_taken = [lambda: timed(job, data, plan, answer_check)]
        if weighs(job):
            figures_taken.append(lambda: weighed(job, data, plan.library))
        learn = partial(predictor.learn, job, entry.graph, work)
        lines = attempts(job, figures_taken, learn)
        # Peak memory is measured after calls that warm up, whether or not these are a figure.
        return [x for x in lines if x["what"] in figures(job) or "seconds" not in x]

    for contestant in contestants(entry, plan):
        try:
            for lines in run(contestant, frame, each, wanted):
                yield from (size | line for line in lines)
        except Exception as error:  # raised by its build; the others go on
            yield size | {"tool": contestant.name, "what": "build"} | fault(error)


def contestants(entry: Entry, plan: Suite) -> Iterator[Contestant]:
    """Yield rapids_tc and the other libraries of a suite."""
    engine = "cuda" if plan.library == "cudf" else "cpu"
    methods = set(entry.methods)
    if "all" in methods:  # the CPU engine has one method
        named = {method.name for method in METHODS} if engine == "cuda" else {"auto"}
        methods = methods - {"all"} | named
    yield ours(engine, sorted(methods))  # "auto" first
    yield from (OTHER_LIBRARIES[name]() for name in plan.against)


def facts(frame: Any) -> tuple[dict[str, int], int]:
    """Return the size of a graph, and its wedges at corners of lowest degree: W1."""
    graph = tc.Graph(frame, progress=False)
    length = graph.csr.offsets[1:] - graph.csr.offsets[:-1]
    size = {"rows": len(frame), "vertices": graph.n_vertices, "edges": graph.n_edges}
    return size, int((length * (length - 1) // 2).sum())


def timed(job: Job, data: Any, plan: Suite, answer_check: AnswerCheck) -> Line:
    """Time a job and check its answer."""
    timing = measure(job, data, repeat=plan.repeat, timeout=plan.timeout)
    answer_check.add(timing)
    return timing.line | {"answer": timing.answer}


def weighed(job: Job, data: Any, library: str) -> Line:
    """Measure the peak memory of a job."""
    return {"what": "peak memory", "bytes": peak(lambda: job.call(data), library)}


def attempts(job: Job, figures_taken: list[Any], learn: Any) -> Iterator[Line]:
    """Yield a line per figure, up to the first that fails."""
    for take in figures_taken:
        line = {"tool": job.tool, "what": job.what}
        try:
            line |= take()
        except TooLongError as error:
            learn(error.seconds)
            yield line | {"skipped": str(error)}
            return
        except Exception as error:  # a line, so that the run goes on; main fails at its end
            outcome = fault(error)
            learn(math.inf if "skipped" in outcome else 0.0)
            yield line | outcome
            return
        if "seconds" in line:
            learn(line["seconds"])
        yield line


def fault(error: Exception) -> dict[str, str]:
    """Return an error as a line; a lack of memory or of a file is no failure of the run."""
    if isinstance(error, FileNotFoundError):
        return {"skipped": f"there is no {Path(error.filename).name}"}
    if isinstance(error, ModuleNotFoundError) and error.name in OTHER_LIBRARIES:
        return {"failed": absent(error.name)}
    text = " ".join(str(error).split())[:300] or type(error).__name__
    out = isinstance(error, MemoryError) or any(word in text for word in OUT_OF_MEMORY)
    if out and not isinstance(error, CapacityError):
        text = "out of memory"
    return {"skipped" if out else "failed": text}


if __name__ == "__main__":
    main()
