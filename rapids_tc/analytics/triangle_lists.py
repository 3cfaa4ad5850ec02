"""Triangles listed: all of them in one frame, or frame after frame."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rapids_tc._arguments import check_flag, check_integer
from rapids_tc._progress import call_report, outlive
from rapids_tc._typing import Array, Frame, Vertices
from rapids_tc.analytics.analytic import analytic
from rapids_tc.analytics.chosen import OF_SOME, TrianglesAround
from rapids_tc.analytics.directions import STATES
from rapids_tc.analytics.kinds import check_arcs, sums_where, work_where
from rapids_tc.analytics.listed_kinds import TrianglesOfKind
from rapids_tc.blocks.distributed_triangles import DistributedTriangles
from rapids_tc.blocks.quantities import of_kind
from rapids_tc.errors import CapacityError
from rapids_tc.graphs.edge_graph import EdgeGraph
from rapids_tc.graphs.out_of_core import StoredTriangles
from rapids_tc.graphs.whole_triangles import LISTING
from rapids_tc.plan import needs
from rapids_tc.plan.record import Needs, of_one_machine
from rapids_tc.preparation.triads import CLOSED, places_of
from rapids_tc.preparation.triangles import named_triangles, sorted_corners

if TYPE_CHECKING:
    from rapids_tc.blocks.kept_triangles import KeptTriangles
    from rapids_tc.blocks.task_triangles import TaskTriangles
    from rapids_tc.blocks.task_triangles import Triangles as Listed
    from rapids_tc.graphs.edge_graph import EdgeArrays
    from rapids_tc.graphs.partitioned import PartitionedGraph
    from rapids_tc.plan.record import OwnOptions, Work
    from rapids_tc.preparation.triangle_kinds import Triangles

BATCH = 1 << 20  # triangles whose triads are looked up at a time


def _work(own: OwnOptions) -> Work:
    work = work_where(LISTING if own["vertices"] is None else OF_SOME)(own)
    if own["directed"]:
        work = replace(
            work, needs=work.needs | Needs.TYPE_COUNTS, values=max(work.values, STATES.rule.bytes)
        )
    return work


def _check_most(own: OwnOptions) -> OwnOptions:
    return check_arcs(check_flag(check_integer(own, "max_rows", 0, optional=True)))


def _fields(own: OwnOptions) -> tuple[str, ...]:
    return ("triad",) if own["directed"] else ()


def _local(own: OwnOptions, kind: str) -> Exception | None:
    return of_one_machine("a list with directed=True", kind) if own["directed"] else None


def _local_frames(own: OwnOptions, kind: str) -> Exception | None:
    """Return the refusal of frames that come to this process, one by one, out of Spark."""
    if kind.endswith("Spark DataFrame"):
        return of_one_machine("iter_triangles", kind, "list_triangles(edges), which stays in Spark")
    return _local(own, kind)


@analytic(LISTING, check=_check_most, work=_work, fields=_fields, local=_local, sums=sums_where)
def list_triangles(
    graph: EdgeGraph,
    *,
    vertices: Vertices | None = None,
    where: Triangles | None = None,
    directed: bool = False,
    max_rows: int | None = None,
    memory_limit: int | None = None,
) -> Frame:
    """List each triangle once.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge.
    vertices : list, array, Series, Index or DataFrame, optional
        List only triangles with at least one of these corners; by default all. A frame if ids are
        made of several columns; with `by`, in every group that has them.
    where : Triangles, optional
        List only triangles of a kind: see `Triangles`.
    directed : bool, optional
        Whether the rows a, b and b, a are two edges: then a column says how the sides lead. Not of
        partitioned frames.
    max_rows : int, optional
        The most triangles to list, of each group; by default as many as fit in a frame and in
        memory.

    Returns
    -------
    DataFrame
        === ====== ==================================
        u   as ids the smallest of the three by value
        v   as ids the middle one
        w   as ids the largest
        === ====== ==================================

        Sorted by all three. With `directed`, a column ``triad``, text, follows: "030T", "030C",
        "120D", "120U", "120C", "210" or "300", as in `triad_counts`. Of a partitioned frame, a
        partitioned frame of their library, sorted from its first partition to its last.

    Raises
    ------
    CapacityError
        There are more triangles (of a group) than `max_rows`, or more than the 2**31 - 1 rows of a
        frame, or than memory holds. Triangles are counted before anything is allocated for them.
    ValueError
        Some of `vertices` are not in the graph. Other errors: see `Graph`.

    See Also
    --------
    iter_triangles : The same, frame by frame.
    triangles_by_type : How many there are of each triad.
    count : How many there are.

    Notes
    -----
    There are two passes, so that every triangle has its place before it is written: the first
    counts the triangles of each edge, the second, over edges that have any, writes them. A sort
    follows, which takes longest. A triangle takes 12 bytes if ids have four, and about 80 while it
    is made; there can be as many triangles as the number of edges to the power 1.5. With
    `vertices`, only edges among these and their neighbors are counted and walked, in memory even if
    the graph is counted in blocks; of a partitioned frame, by its workers. With `where`, each pass
    lists all triangles, part by part, and looks up their three sides; in blocks and on clusters,
    those of the whole graph even with `vertices`. The order is from Chiba and Nishizeki,
    "Arboricity and subgraph listing algorithms", SIAM J. Comput. 14 (1985).

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> tc.list_triangles(pd.DataFrame({"src": [3, 1, 2, 2, 1], "dst": [1, 2, 3, 0, 0]}))
       u  v  w
    0  0  1  2
    1  1  2  3
    """
    source = _source(graph, vertices, where)
    total, tasks = source.counted()
    advice = "iter_triangles(edges, max_rows=...) gives them frame by frame"
    if max_rows is not None:
        most, whose = _most_triangles(graph, source, total)
        if most > max_rows:
            raise CapacityError(
                f"{whose} has {most:,} triangles, more than max_rows={max_rows:,}: {advice}"
            )
    if isinstance(source, DistributedTriangles):
        return source.frame()
    memory = source.memory(memory_limit, beside_task=False)
    needs.require_listing(total, memory, advice, graph.ids.text)
    states = graph.edge_values(STATES) if directed else None
    listing = Listing(graph, source.number, tasks, memory, advice, states)
    return next(listing.frames(total)) if total else listing.frame([])


def _source(
    graph: EdgeGraph | PartitionedGraph, vertices: Vertices | None, where: Triangles | None
) -> Any:
    """Return the triangles of a graph, or only those at some vertices, or of a kind."""
    kind = None if where is None else of_kind("where", where.reading)
    if not isinstance(graph, EdgeGraph):  # its edges lie on many machines
        return graph.listing_of(vertices, kind)
    numbers = None if vertices is None else graph.numbers_of(vertices)
    if kind is None:
        return graph.listing if numbers is None else TrianglesAround(graph, numbers)
    source, chosen = graph.listing, None
    if numbers is not None and isinstance(source, StoredTriangles):
        chosen = graph.backend.xp.zeros(graph.n_vertices, bool)
        chosen[graph.order.rank[numbers]] = True
    elif numbers is not None:
        source = TrianglesAround(graph, numbers)
    return TrianglesOfKind(graph, source, kind, chosen)


def _most_triangles(graph: EdgeGraph, source: Any, total: int) -> tuple[int, str]:
    """Return the triangles of the graph, or of the group that has most; and the name of either."""
    groups = graph.groups
    if groups is None:
        return total, "the graph"
    if isinstance(source, DistributedTriangles):
        return source.fullest_group()
    return groups.fullest_group(source.by_group()) if groups.size else (total, "the graph")


def check_rows(own: OwnOptions) -> OwnOptions:
    """Return the own options, `max_rows` as an int; ValueError if no frame can have so many."""
    return check_integer(own, "max_rows", 1)


def _check_frames(own: OwnOptions) -> OwnOptions:
    return check_arcs(check_flag(check_rows(own)))


@analytic(
    LISTING,
    check=_check_frames,
    work=_work,
    fields=_fields,
    local=_local_frames,
    sums=sums_where,
    renamed={"rows": "max_rows"},
)
def iter_triangles(
    graph: EdgeGraph,
    *,
    max_rows: int,
    vertices: Vertices | None = None,
    where: Triangles | None = None,
    directed: bool = False,
    progress: bool | None = None,
    memory_limit: int | None = None,
) -> Iterator[Frame]:
    """List each triangle once, in frames of at most `max_rows` rows, made one at a time.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge.
    max_rows : int
        The rows of each frame, from 1 on; the last frame may have fewer. A graph without a triangle
        gives no frame.
    vertices : list, array, Series, Index or DataFrame, optional
        List only triangles with at least one of these corners; by default all. A frame if ids are
        made of several columns; with `by`, in every group that has them.
    where : Triangles, optional
        List only triangles of a kind: see `Triangles`.
    directed : bool, optional
        Whether the rows a, b and b, a are two edges: then a column says how the sides lead. Not of
        partitioned frames.

    Returns
    -------
    iterator of DataFrame
        === ====== ==================================
        u   as ids the smallest of the three by value
        v   as ids the middle one
        w   as ids the largest
        === ====== ==================================

        With `directed`, a column ``triad`` follows, as in `list_triangles`. Each frame is sorted by
        all three, but not all frames together. The frames and their order
        are the same on every run.

    Raises
    ------
    ValueError
        `max_rows` is not an integer from 1 on; some of `vertices` are not in the graph. Other
        errors: see `Graph`.
    CapacityError
        A frame of `max_rows` rows does not fit in memory; of a partitioned frame, in a worker's.

    See Also
    --------
    list_triangles : All triangles in one frame.

    Notes
    -----
    The call prepares the graph; the triangles of every edge are counted before the first frame,
    and each frame is written when it is asked for. Between two frames, 12 bytes per edge are kept.
    All frames together cost as much as `list_triangles`, with the same two passes.

    A graph larger than memory is listed task by task, each from three of its blocks, which are
    counted when its first frame is asked for. Frames come in another order than in memory. The
    blocks are kept until the last frame, or until nobody holds the iterator.

    Of a partitioned frame, workers list and sort one task after another; each frame comes to this
    process, in the library of the partitions, while the next is made. The order of the frames
    follows from the number of workers and their memory.

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> df = pd.DataFrame({"src": [3, 1, 2, 2, 1], "dst": [1, 2, 3, 0, 0]})
    >>> [len(frame) for frame in tc.iter_triangles(df, max_rows=1)]
    [1, 1]
    """
    source = _source(graph, vertices, where)
    if isinstance(source, DistributedTriangles):
        return source.frames(max_rows)
    _ = graph.n_edges  # prepared at the call, before the frame can change
    states = graph.edge_values(STATES) if directed else None
    frames = _frames(graph, source, max_rows, memory_limit, progress, states)
    resources = outlive()
    weakref.finalize(frames, resources.close)  # also if no frame is asked for
    return frames


def _frames(
    graph: EdgeGraph, source: Listed, rows: int, limit: int | None, progress: bool | None,
    states: EdgeArrays | None,
) -> Iterator[Frame]:  # fmt: skip
    frames = None
    while True:
        # Not around the yield: between frames, time and device are the caller's.
        with call_report(progress), source.placed():
            if frames is None:
                memory, tasks = source.memory(limit, beside_task=True), source.tasks()
                of_tasks = source.number, tasks, memory, "ask for fewer rows", states
                listing = Listing(graph, *of_tasks)
                frames = listing.frames(rows)
            frame = next(frames, None)
        if frame is None:
            return
        yield frame


class Listing:
    """The triangles of a graph, task by task, each in the order of the layout's in-edges.

    Parameters
    ----------
    graph : EdgeGraph
    number : array
        The number of every rank.
    tasks : iterator of TaskTriangles, or of KeptTriangles
    memory : int
        Bytes that a frame may take while it is made.
    advice : str
        What the error says to do if a frame takes more.
    states : EdgeArrays, optional
        How edges lead, if frames have triads.
    """

    def __init__(
        self, graph: EdgeGraph, number: Array, tasks: Iterable[TaskTriangles | KeptTriangles],
        memory: int, advice: str, states: EdgeArrays | None = None,
    ) -> None:  # fmt: skip
        self._states = states
        self.graph, self._tasks, self._memory, self._advice = graph, tasks, memory, advice
        self._number = number.astype("uint32")

    def frames(self, rows: int) -> Iterator[Frame]:
        """Yield sorted frames of `rows` triangles each; the last one may have fewer."""
        parts: list[Array] = []
        size = 0
        for task in self._tasks:
            first = 0
            while first < task.total:
                last = min(first + rows - size, task.total)
                size += last - first
                needs.require_listing(size, self._memory, self._advice, self.graph.ids.text)
                with self.graph.stage("listing"):
                    parts.append(self._number[task.ranks(first, last)])
                    ends = size == rows or (task.n == 1 and last == task.total)  # the only task
                    frame = self.frame(parts) if ends else None
                if frame is not None:
                    size = 0
                    yield frame
                first = last
            del task  # before the next is loaded
        if size:
            with self.graph.stage("listing"):
                frame = self.frame(parts)
            yield frame

    def frame(self, parts: list[Array]) -> Frame:
        """Make a sorted frame of the numbers of triangles, and empty their list."""
        xp, ids = self.graph.backend.xp, self.graph.ids
        numbers = (
            parts.pop()
            if len(parts) == 1
            else xp.concatenate([xp.empty((3, 0), "uint32"), *parts], axis=1)
        )
        parts.clear()
        corners = sorted_corners(numbers, ids.size, xp)
        del numbers  # `sorted_corners` drops it, too, as soon as it can
        adapter, library = self.graph.backend.adapter, self.graph.backend.library
        if self._states is None:
            return adapter.frame(named_triangles(corners, ids))
        kept = [corner.astype("uint32") for corner in corners]
        triads, found = self._triads(kept, self._states), named_triangles(iter(kept), ids)
        found["triad"] = library.Series([*CLOSED]).take(triads).reset_index(drop=True)
        return adapter.frame(found)

    def _triads(self, corners: list[Array], states: EdgeArrays) -> Array:
        """Return the place in `CLOSED` of each triangle of these numbers."""
        graph, xp, size = self.graph, self.graph.backend.xp, len(corners[0])
        triads = xp.empty(size, "int64")
        for first in range(0, size, BATCH):
            part = slice(first, first + BATCH)
            ranks = xp.stack([graph.order.rank[corner[part]] for corner in corners])
            w, v, u = xp.sort(ranks, axis=0).astype("uint32")
            ends = xp.concatenate([u, u, v]), xp.concatenate([v, w, w])
            sides = graph.values_at(states, *ends).reshape(3, -1)
            triads[part] = places_of([*sides], xp)
        return triads
