"""Contenders: what of a frame is built, what is timed on it, and our own engines as one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from rapids_tc.analytics.triangles import count, edge_triangles, vertex_triangles
from rapids_tc.analytics.truss import k_truss, trussness
from rapids_tc.bench.clock import Job
from rapids_tc.engines import registry
from rapids_tc.frames.backend import Frame, open_frame
from rapids_tc.graphs import resolve
from rapids_tc.graphs.in_memory import InMemoryGraph as Graph
from rapids_tc.kernels import catalogue
from rapids_tc.plan.record import Options

TRUSSES = (4, 8, 16)
_Result = TypeVar("_Result")


@dataclass(frozen=True)
class Contender:
    """A library that counts triangles.

    Attributes
    ----------
    name : str
    bring : callable
        The edge frame where this library starts from, its own kind of frame; never timed.
    build : callable
        Of that frame, what the stages work on.
    stages, whole : tuple of Job
        Jobs on what was built, and jobs on the frame.
    """

    name: str
    bring: Callable[[Frame], Frame]
    build: Callable[[Frame], Any]
    stages: tuple[Job, ...]
    whole: tuple[Job, ...]


def run(
    contender: Contender,
    frame: Frame,
    each: Callable[[Job, Any], _Result],
    wanted: Callable[[Job], bool] = lambda job: True,
) -> Iterator[_Result]:
    """What `each` makes of every wanted job and what the job is to be called with.

    Only what a job needs is held while it runs.
    """
    given = contender.bring(frame)
    stages = [job for job in contender.stages if wanted(job)]
    if stages:
        built = contender.build(given)
        for job in stages:
            yield each(job, built)
        del built
    for job in filter(wanted, contender.whole):
        yield each(job, given)


def ours(engine: str, methods: Sequence[str]) -> Contender:
    """rapids_tc on one engine, by some of its methods.

    Raises
    ------
    ValueError
        There is no such method.
    KernelError
        The engine cannot work here.
    """
    wait = getattr(registry.load(engine), "wait", None)
    quiet: Any = {"engine": engine, "progress": False}  # a bar that is shown costs time
    stages: list[Job] = []
    whole: list[Job] = []
    for method in methods:
        tool, returns = f"rapids_tc {engine} {method}", catalogue.find(method).returns
        stages.append(Job(tool, "count", partial(Graph.count, method=method)))
        if "edges" in returns:
            counts = partial(Graph._count_edges, method=method)
            stages.append(Job(tool, "edge counts", counts, _third))
        whole.append(Job(tool, "frame to count", partial(count, method=method, **quiet)))
    if "auto" in methods:
        stages += _peels(f"rapids_tc {engine} auto")
        whole += _functions(f"rapids_tc {engine} auto", quiet)
    if wait is not None:
        stages, whole = ([replace(job, wait=wait) for job in jobs] for jobs in (stages, whole))

    def build(frame: Frame) -> Graph:
        with resolve.opened(frame, Options(**quiet)) as graph:
            _ = graph.layout
        return graph

    bring = to_pandas if engine == "cpu" else to_card
    return Contender(f"rapids_tc {engine}", bring, build, tuple(stages), tuple(whole))


def _peels(tool: str) -> list[Job]:
    def edges(k: int) -> Job:
        return Job(
            tool, f"peel to {k}", lambda graph: graph.peel(k),
            lambda peeled: int((peeled >= k).sum()), f"the edges of the {k}-truss",
        )  # fmt: skip

    numbers = Job(tool, "peel", lambda graph: graph.peel(None), _sum, "truss numbers of edges")
    return [numbers, *map(edges, TRUSSES)]


def _functions(tool: str, quiet: Any) -> list[Job]:
    def truss(k: int) -> Job:
        take = partial(k_truss, k=k, **quiet)
        return Job(tool, f"{k}-truss", take, len, f"the edges of the {k}-truss")

    def prepare(frame: Frame) -> int:
        with resolve.opened(frame, Options(**quiet)) as graph:
            return graph.layout.csr.m

    by_vertex = lambda frame: vertex_triangles(frame, **quiet)["triangles"]  # noqa: E731
    by_row, numbers = (partial(work, **quiet) for work in (edge_triangles, trussness))
    return [
        Job(tool, "prepare", prepare, question="edges"),
        Job(tool, "frame to edge column", by_row, _sum, "triangles of rows"),
        Job(tool, "frame to vertex frame", by_vertex, _third),
        Job(tool, "frame to trussness", numbers, _sum, "truss numbers of rows"),
        *map(truss, TRUSSES),
    ]


def _sum(values: Any) -> int:
    return int(values.sum())


def _third(counts: Any) -> int:
    """Triangles, from those of all edges or of all vertices."""
    return int(counts.sum(dtype="uint64") if counts.dtype == "uint32" else counts.sum()) // 3


def to_pandas(frame: Frame) -> Frame:
    """The frame in pandas."""
    return frame.to_pandas() if hasattr(frame, "to_pandas") else frame


def to_card(frame: Frame) -> Frame:
    """The frame on the card, in cuDF."""
    library = open_frame(frame, "cuda")[1].library
    return frame if isinstance(frame, library.DataFrame) else library.from_pandas(frame)
