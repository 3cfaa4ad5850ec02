"""The libraries to be timed: the graph each builds from a frame, its jobs, and our own engines."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import rapids_tc as tc
from rapids_tc.bench.clock import Job
from rapids_tc.engines import registry
from rapids_tc.frames.backend import open_frame
from rapids_tc.graphs import resolve
from rapids_tc.graphs.in_memory import InMemoryGraph
from rapids_tc.kernels import catalogue
from rapids_tc.plan.record import Options

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Frame = Any  # pandas.DataFrame or cudf.DataFrame
TRUSSES = (4, 8, 16)
_Result = TypeVar("_Result")


@dataclass(frozen=True)
class Contestant:
    """A library that counts triangles.

    Attributes
    ----------
    name : str
    convert : callable
        Turns the edge frame into the kind of frame that this library starts from; never timed.
    build : callable
        Turns the converted frame into the argument of the stages.
    stages, whole : tuple of Job
        The jobs on the built graph, and the jobs on the frame.
    """

    name: str
    convert: Callable[[Frame], Frame]
    build: Callable[[Frame], Any]
    stages: tuple[Job, ...]
    whole: tuple[Job, ...]


def run(
    contestant: Contestant,
    frame: Frame,
    each: Callable[[Job, Any], _Result],
    wanted: Callable[[Job], bool] = lambda job: True,
) -> Iterator[_Result]:
    """Yield ``each(job, argument of the job)`` for every wanted job.

    While a job runs, nothing is held but its argument and the converted frame.
    """
    converted = contestant.convert(frame)
    stages = [job for job in contestant.stages if wanted(job)]
    if stages:
        built = contestant.build(converted)
        for job in stages:
            yield each(job, built)
        del built
    for job in filter(wanted, contestant.whole):
        yield each(job, converted)


def ours(engine: str, methods: Sequence[str]) -> Contestant:
    """Return rapids_tc on one engine, with a job per method.

    Raises
    ------
    ValueError
        There is no such method.
    KernelError
        The engine cannot work on this machine.
    """
    wait = getattr(registry.load(engine), "wait", None)
    quiet: dict[str, Any] = {"engine": engine, "progress": False}  # showing a bar costs time
    stages: list[Job] = []
    whole: list[Job] = []
    for method in methods:
        tool, returns = f"rapids_tc {engine} {method}", catalogue.find(method).returns
        stages.append(Job(tool, "count", partial(InMemoryGraph.count, method=method)))
        if "edges" in returns:
            # The public way keeps the counts, and a second call would measure nothing.
            edge_counts = partial(InMemoryGraph._count_edges, method=method)
            stages.append(Job(tool, "edge counts", edge_counts, _third))
        whole.append(Job(tool, "frame to count", partial(tc.count, method=method, **quiet)))
    if "auto" in methods:
        stages += _peels(f"rapids_tc {engine} auto")
        whole += _functions(f"rapids_tc {engine} auto", quiet)
    if wait is not None:
        stages, whole = ([replace(job, wait=wait) for job in jobs] for jobs in (stages, whole))

    def build(frame: Frame) -> InMemoryGraph:
        with resolve.opened(frame, Options(**quiet)) as graph:
            _ = graph.layout
        return graph

    convert = to_pandas if engine == "cpu" else to_cudf
    return Contestant(f"rapids_tc {engine}", convert, build, tuple(stages), tuple(whole))


def _peels(tool: str) -> list[Job]:
    def truss(k: int) -> Job:
        return Job(
            tool, f"peel to {k}", lambda graph: graph.peel(k),
            lambda trussness: int((trussness >= k).sum()), f"the edges of the {k}-truss",
        )  # fmt: skip

    full = Job(tool, "peel", lambda graph: graph.peel(None), _sum, "truss numbers of edges")
    return [full, *map(truss, TRUSSES)]


def _functions(tool: str, quiet: dict[str, Any]) -> list[Job]:
    def truss(k: int) -> Job:
        call = partial(tc.k_truss, k=k, **quiet)
        return Job(tool, f"{k}-truss", call, len, f"the edges of the {k}-truss")

    def prepare(frame: Frame) -> int:
        with resolve.opened(frame, Options(**quiet)) as graph:
            return int(graph.layout.csr.m)

    def by_vertex(frame: Frame) -> Any:
        return tc.vertex_triangles(frame, **quiet)["triangles"]

    by_row, truss_numbers = (partial(call, **quiet) for call in (tc.edge_triangles, tc.trussness))
    return [
        Job(tool, "prepare", prepare, question="edges"),
        Job(tool, "frame to edge column", by_row, _sum, "triangles of rows"),
        Job(tool, "frame to vertex frame", by_vertex, _third),
        Job(tool, "frame to trussness", truss_numbers, _sum, "truss numbers of rows"),
        *map(truss, TRUSSES),
    ]


def _sum(values: Any) -> int:
    return int(values.sum())


def _third(counts: Any) -> int:
    """Return the triangles of a graph from the counts of all its edges or all its vertices."""
    return int(counts.sum(dtype="uint64") if counts.dtype == "uint32" else counts.sum()) // 3


def to_pandas(frame: Frame) -> Frame:
    """Return the frame as a pandas frame."""
    return frame.to_pandas() if hasattr(frame, "to_pandas") else frame


def to_cudf(frame: Frame) -> Frame:
    """Return the frame as a cuDF frame, on the GPU."""
    library = open_frame(frame, "cuda")[1].library
    return frame if isinstance(frame, library.DataFrame) else library.from_pandas(frame)
