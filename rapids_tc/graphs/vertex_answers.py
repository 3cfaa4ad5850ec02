"""Answers about the vertices of a graph on a cluster, from values that were added up by vertex.

If one worker may hold a value of every vertex, the body of the analytic runs there, on all of them.
If not, it runs on the vertices of each range of ids as on a graph of its own, and what it returns
is joined: frames one after another, or the parts of a mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.blocks import grid, id_ranges, ranges
from rapids_tc.blocks.codec import require_length
from rapids_tc.frames.adapters import root
from rapids_tc.graphs.edge_graph import VertexTotals
from rapids_tc.plan.record import ANALYTICS, Needs, OwnOptions, Result
from rapids_tc.preparation.named_ids import look_up_vertices, require_vertices
from rapids_tc.preparation.orient import Order

if TYPE_CHECKING:
    from rapids_tc.blocks.block_map import Blocked, TaskMap
    from rapids_tc.blocks.context import WorkerContext
    from rapids_tc.blocks.quantities import Summed
    from rapids_tc.blocks.tallies import TypeTally
    from rapids_tc.executors.protocol import Task
    from rapids_tc.frames.backend import Array, Backend, Frame, Series
    from rapids_tc.plan.record import Work
    from rapids_tc.preparation.ids import Ids

PART_ROWS = 2**20  # the least rows of a partition, if one worker's answer is split

ByResidue = dict[str, list["Task"]]  # values of all ranks by name, a task per residue


@dataclass(frozen=True)
class PartOfMean:
    """The sum of some of the values of a mean, and their number."""

    sum: float
    count: int


@dataclass
class Named:
    """The vertices that the user names, of which some are in a range.

    Attributes
    ----------
    ids : Series
        All of them, in the user's order.
    is_found : array of bool
        Which are in the range.
    """

    ids: list[Series]
    is_found: Array


@dataclass
class RangeAnswer:
    """The answer of the body of an analytic for a range; `named` if the user named vertices."""

    answer: Any
    named: Named | None


class VertexRange(VertexTotals):
    """The vertices of a range of ids, each with its sums."""

    named: Named | None = None

    def row_numbers(self, vertices: Any) -> Array:
        """Return the numbers of the vertices of the range, or of those that the user names."""
        if vertices is None:
            return super().row_numbers(None)
        ids: Any = self.ids
        rows, numbers, named = look_up_vertices(ids, vertices, self.order.present)
        is_found = self.backend.xp.zeros(len(named[0]), bool)
        is_found[rows] = True
        self.named = Named(named, is_found)
        return numbers

    def mean(self, values: Array) -> PartOfMean:
        """Return the part of the mean that these values are."""
        return PartOfMean(float(values.sum()), len(values))


class GraphTotals(VertexTotals):
    """The sums over all vertices of a graph, for analytics that ask for no value of a vertex."""

    def __init__(
        self, backend: Backend, vertices: int, edges: int, wedges: int, total: int | None,
        summed: dict[str, Summed],
    ) -> None:  # fmt: skip
        nothing: Any = None
        super().__init__(
            backend, nothing, nothing, n_edges=edges, degrees=nothing, total=total, summed=summed
        )
        self._n_vertices, self._wedges = vertices, wedges

    @property
    def groups(self) -> None:
        """None: a graph of groups has its ids."""

    @property
    def n_vertices(self) -> int:
        """Distinct ids, isolated ones included."""
        return self._n_vertices

    @property
    def wedges(self) -> int:
        """Paths of two edges."""
        return self._wedges


def answer(
    graph: Blocked, work: Work, name: str, own: OwnOptions, by_residue: ByResidue,
    total: int | None, summed: dict[str, Task], tally: Task | None,
) -> Any:  # fmt: skip
    """Answer an analytic of vertices, or of the whole graph: a frame, or a value."""
    listed = bool(work.needs & Needs.TRIANGLES)  # rows of vertices, edges or groups
    is_frame = listed or work.result in (Result.VERTICES, Result.TIMES)
    if len(graph.ranges) > 1 and tally is None:
        if work.result is not Result.VERTICES:
            reply = _value(graph, name, own, by_residue, total, summed)
            return split(graph, reply) if is_frame else graph.executor.gather(reply)
        frames, lengths = _frames(graph, name, own, by_residue)
        return graph.to_frame("answer", frames, lengths)
    reply = graph.submit(
        "answer", answer_whole, name, own, graph.ids, graph.order, by_residue, total, summed,
        tally, on=graph.counting_workers[0],
    )  # fmt: skip
    return split(graph, reply) if is_frame else graph.executor.gather(reply)


def split(graph: TaskMap, frame: Task) -> Frame:
    """Split the frame of one worker into at most one partition per worker, or keep it whole."""
    rows = graph.executor.gather(graph.submit("answer", len, frame))
    cuts = grid.cut(rows, max(1, min(len(graph.workers), rows // PART_ROWS)))
    frames = [frame]
    if len(cuts) > 1:
        bounds = ((part.first, part.first + part.size) for part in cuts)
        frames = [graph.submit("answer", rows_of, frame, *bound) for bound in bounds]
    return graph.to_frame("answer", frames, [part.size for part in cuts])


def _frames(
    graph: Blocked, name: str, own: OwnOptions, by_residue: ByResidue
) -> tuple[list[Task], list[int]]:
    """Answer an analytic of vertices in frames, by ascending ids; return the rows of each, too.

    If the user names vertices, one frame has them in the user's order.
    """
    answers = _by_range(graph, name, own, by_residue)
    if own.get("vertices") is not None:
        frame = graph.submit("answer", in_order, answers)
        return [frame], graph.executor.gather([graph.submit("answer", len, frame)])
    frames = [graph.submit("answer", getattr, answer, "answer") for answer in answers]
    lengths = graph.executor.gather([graph.submit("answer", len, frame) for frame in frames])
    starts = np.cumsum([0, *lengths]).tolist()
    return [
        graph.submit("answer", numbered, frame, start)
        for frame, start in zip(frames, starts, strict=False)
    ], lengths


def _value(
    graph: Blocked, name: str, own: OwnOptions, by_residue: ByResidue, total: int | None,
    summed: dict[str, Task],
) -> Task:  # fmt: skip
    """Answer an analytic of the whole graph, from totals or from parts of a mean."""
    if "sums" in by_residue:
        return graph.submit("answer", mean, _by_range(graph, name, own, by_residue))
    moments = [graph.submit("answer", degree_moments, each) for each in by_residue["degrees"]]
    totals = graph.vertices, moments, total, summed
    return graph.submit("answer", answer_totals, name, own, *totals)


def _by_range(graph: Blocked, name: str, own: OwnOptions, by_residue: ByResidue) -> list[Task]:
    """Answer an analytic on the vertices of each range."""
    ranked, vertices = graph.ranked, graph.vertices
    keys = [graph.submit("answer", ranges.ranks_of_vertices, each, vertices) for each in ranked]
    residues = [grid.Residue(residue, graph.n) for residue in range(graph.n)]
    workers = [None] * len(keys)
    values = {
        kind: ranges.look_up(graph, "answer", keys, workers, each, residues)
        for kind, each in by_residue.items()
    }
    result = []
    for place, ids in enumerate(id_ranges.ids_of(graph)):
        order = graph.submit("answer", ranges.order_of_range, ranked[place], vertices)
        of_range = {kind: each[place] for kind, each in values.items()}
        result.append(graph.submit("answer", answer_range, name, own, ids, order, of_range))
    return result


def rows_of(frame: Frame, first: int, last: int) -> Frame:
    """Copy some rows of a frame, which then need not be kept."""
    return frame.iloc[first:last].copy()


def answer_whole(
    name: str, options: OwnOptions, ids: Ids, order: list[Any], by_residue: dict[str, list[Array]],
    total: int | None, summed: dict[str, Summed], tallied: TypeTally | None, *, backend: Backend,
) -> Any:  # fmt: skip
    """Answer an analytic of vertices, or of the whole graph, from the sums over all blocks."""
    rank, n = order
    by_rank = {kind: grid.by_rank(values, backend.xp) for kind, values in by_residue.items()}
    for values in by_rank.values():
        require_length(values, n, "sums by vertex")
    graph = VertexTotals(
        backend, ids, Order.of_ranks(rank, n, backend.xp), **by_rank,
        n_edges=int(by_rank["degrees"].sum()) // 2, total=total, summed=summed, tallied=tallied,
    )  # fmt: skip
    return ANALYTICS[name].body(graph, **options)


def answer_range(
    name: str, options: OwnOptions, ids: Ids, order: list[Any],
    values: dict[str, list[Array]], *, backend: Backend,
) -> RangeAnswer:  # fmt: skip
    """Answer an analytic on the vertices of a range."""
    rank, n = order
    by_number = {kind: array for kind, [array] in values.items()}
    require_length(rank, ids.size, "ranks")
    for array in by_number.values():
        require_length(array, n, "sums by vertex")
    graph = VertexRange(
        backend, ids, Order.of_ranks(rank, n, backend.xp), **by_number,
        n_edges=int(by_number["degrees"].sum()) // 2,
    )  # fmt: skip
    return RangeAnswer(ANALYTICS[name].body(graph, **options), graph.named)


def numbered(frame: Frame, start: int) -> Frame:
    """Return a frame whose rows are numbered from `start` on."""
    result = frame.copy(deep=False)
    result.index = result.index + start
    return result


def in_order(answers: list[RangeAnswer], *, context: WorkerContext) -> Frame:
    """Join the rows of the vertices that the user names, in the user's order.

    Raises
    ------
    ValueError
        Some are in no range.
    """
    xp, places = context.backend.xp, _places(answers, context.backend)
    rows = xp.empty(len(places), "int64")
    rows[places] = xp.arange(len(places))
    frames = [each.answer for each in answers]
    joined = import_module(root(frames[0])).concat(frames, ignore_index=True)
    return context.adapter.take(joined, rows).reset_index(drop=True)


def _places(answers: list[RangeAnswer], backend: Backend) -> Array:
    """Return the places in the user's order of the vertices that are found, range by range."""
    xp, of_ranges = backend.xp, [each.named for each in answers if each.named is not None]
    is_found = xp.zeros(len(of_ranges[0].is_found), bool)
    for named in of_ranges:
        is_found |= named.is_found
    require_vertices(is_found, of_ranges[0].ids, backend)
    return xp.concatenate([xp.flatnonzero(named.is_found) for named in of_ranges])


def mean(answers: list[RangeAnswer], *, backend: Backend) -> float:
    """Join the parts of a mean; NaN if there is nothing to average over."""
    if answers[0].named is not None:
        _places(answers, backend)  # raises an error if some are no vertices
    parts_of_mean = [each.answer for each in answers]
    count = sum(part.count for part in parts_of_mean)
    return sum(part.sum for part in parts_of_mean) / count if count else nan


def degree_moments(degrees: Array) -> tuple[int, int]:
    """Sum degrees, and the pairs of neighbors."""
    return int(degrees.sum()), int((degrees * (degrees - 1) // 2).sum())


def answer_totals(
    name: str, options: OwnOptions, vertices: int, moments: list[tuple[int, int]],
    total: int | None, summed: dict[str, Summed], *, backend: Backend,
) -> Any:  # fmt: skip
    """Answer an analytic from the totals of a graph."""
    degrees, wedges = (sum(side) for side in zip(*moments, strict=True))
    graph = GraphTotals(backend, vertices, degrees // 2, wedges, total, summed)
    return ANALYTICS[name].body(graph, **options)
