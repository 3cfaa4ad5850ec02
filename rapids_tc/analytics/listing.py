"""Triangles listed: all of them in one frame, or frame after frame."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc._progress import call_report
from rapids_tc._typing import EngineName
from rapids_tc.analytics.analytic import analytic
from rapids_tc.analytics.chosen import Surroundings
from rapids_tc.engines.protocol import column_counts
from rapids_tc.errors import CapacityError
from rapids_tc.frames.device import place
from rapids_tc.plan import needs
from rapids_tc.plan.record import Needs, OwnOptions, Result, Work
from rapids_tc.preparation.composite import CompositeIds

if TYPE_CHECKING:
    from rapids_tc.frames.backend import Array, Frame
    from rapids_tc.graphs.in_memory import InMemoryGraph

LISTING = Work(Needs.TRIANGLES, Result.TRIANGLES)
OF_SOME = replace(LISTING, around=True)


def _work(own: OwnOptions) -> Work:
    return LISTING if own["vertices"] is None else OF_SOME


def _in_memory(own: OwnOptions) -> str:
    return "k_truss(edges, 3) is, and its rows have the same triangles"


def _check_most(own: OwnOptions) -> OwnOptions:
    most = own["max_rows"]
    if most is not None and not (needs.is_integer(most) and most >= 0):
        raise ValueError(f"max_rows={most!r}; accepted: an integer from 0 on, or None")
    return own


@analytic(LISTING, check=_check_most, work=_work, in_memory=_in_memory)
def list_triangles(
    edges: Any,
    *,
    vertices: Any = None,
    max_rows: int | None = None,
    source: Any = None,
    destination: Any = None,
    by: Any = None,
    engine: EngineName | None = None,
    progress: bool | None = None,
    memory_limit: int | None = None,
) -> Any:
    """List each triangle once.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge.
    vertices : list, array, Series, Index or DataFrame, optional
        List only triangles with at least one of these corners; by default all. A frame if ids are
        made of several columns; with `by`, in every group that has them.
    max_rows : int, optional
        The most triangles to list, of each group; by default as many as fit in a frame and in
        memory.
    source, destination, by, engine, progress, memory_limit
        See `count`.

    Returns
    -------
    DataFrame
        === ====== ==================================
        u   as ids the smallest of the three by value
        v   as ids the middle one
        w   as ids the largest
        === ====== ==================================

        Sorted by all three.

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
    count : How many there are.

    Notes
    -----
    There are two passes, so that every triangle has its place before it is written: the first
    counts the triangles of each edge, the second, over edges that have any, writes them. A sort
    follows, which takes longest. A triangle takes 12 bytes if ids have four, and about 80 while it
    is made; there can be as many triangles as the number of edges to the power 1.5. With
    `vertices`, only edges among these and their neighbors are counted and walked. The order is from
    Chiba and Nishizeki, "Arboricity and subgraph listing algorithms", SIAM J. Comput. 14
    (1985).

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> tc.list_triangles(pd.DataFrame({"src": [3, 1, 2, 2, 1], "dst": [1, 2, 3, 0, 0]}))
       u  v  w
    0  0  1  2
    1  1  2  3
    """
    chosen = None if vertices is None else edges.numbers_of(vertices)
    listing, memory = Listing(edges, chosen), memory_for(edges, memory_limit, chosen)
    advice = "iter_triangles(edges, rows=...) gives them frame by frame"
    if max_rows is not None:
        most, whose = _most_triangles(listing)
        if most > max_rows:
            raise CapacityError(
                f"{whose} has {most:,} triangles, more than max_rows={max_rows:,}: {advice}"
            )
    needs.require_listing(listing.total, memory, advice, edges.ids.text)
    return listing.frame(0, listing.total)


def _most_triangles(listing: Listing) -> tuple[int, str]:
    """Return the triangles of the graph, or of the group that has most; and the name of either."""
    groups = listing.graph.groups
    if groups is None or not groups.size:
        return listing.total, "the graph"
    counts = listing.by_group()
    group = int(counts.argmax())
    named = groups.group_columns().items()
    values = (f"{label!r}: {values.iloc[group]}" for label, values in named)
    return int(counts[group]), f"the group {', '.join(values)}"


def _check_rows(own: OwnOptions) -> OwnOptions:
    rows = own["rows"]
    if not (needs.is_integer(rows) and rows >= 1):
        raise ValueError(f"rows={rows!r}; accepted: an integer from 1 on")
    return {**own, "rows": int(rows)}


@analytic(LISTING, check=_check_rows, work=_work, in_memory=_in_memory)
def iter_triangles(
    edges: Any,
    *,
    rows: int,
    vertices: Any = None,
    source: Any = None,
    destination: Any = None,
    by: Any = None,
    engine: EngineName | None = None,
    progress: bool | None = None,
    memory_limit: int | None = None,
) -> Iterator[Any]:
    """List each triangle once, in frames of at most `rows` rows, made one at a time.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge.
    rows : int
        The rows of each frame, from 1 on; the last frame may have fewer. A graph without a triangle
        gives no frame.
    vertices : list, array, Series, Index or DataFrame, optional
        List only triangles with at least one of these corners; by default all. A frame if ids are
        made of several columns; with `by`, in every group that has them.
    source, destination, by, engine, progress, memory_limit
        See `count`.

    Returns
    -------
    iterator of DataFrame
        === ====== ==================================
        u   as ids the smallest of the three by value
        v   as ids the middle one
        w   as ids the largest
        === ====== ==================================

        Each frame is sorted by all three, but not all frames together. The frames and their order
        are the same on every run.

    Raises
    ------
    ValueError
        `rows` is not an integer from 1 on; some of `vertices` are not in the graph. Other errors:
        see `Graph`.
    CapacityError
        A frame of `rows` rows does not fit in memory.

    See Also
    --------
    list_triangles : All triangles in one frame.

    Notes
    -----
    The call prepares the graph; the triangles of every edge are counted before the first frame,
    and each frame is written when it is asked for. Between two frames, 12 bytes per edge are kept.
    All frames together cost as much as `list_triangles`, with the same two passes.

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> df = pd.DataFrame({"src": [3, 1, 2, 2, 1], "dst": [1, 2, 3, 0, 0]})
    >>> [len(frame) for frame in tc.iter_triangles(df, rows=1)]
    [1, 1]
    """
    _ = edges.csr  # prepared at the call, before the frame can change
    chosen = None if vertices is None else edges.numbers_of(vertices)
    return _frames(edges, chosen, rows, memory_limit, progress)


def _frames(
    graph: InMemoryGraph, chosen: Array | None, rows: int, limit: int | None, progress: bool | None
) -> Iterator[Frame]:
    with call_report(progress), place(graph):
        listing = Listing(graph, chosen)
    most, memory = min(rows, listing.total), memory_for(graph, limit, chosen)
    needs.require_listing(most, memory, "ask for fewer rows", graph.ids.text)
    for first in range(0, listing.total, rows):
        # Not around the yield: between frames, time and device are the caller's.
        with call_report(progress), place(graph):
            frame = listing.frame(first, min(first + rows, listing.total))
        yield frame


def memory_for(graph: InMemoryGraph, limit: int | None, chosen: Array | None = None) -> int:
    """Return the bytes that a frame of triangles may take."""
    spare = graph.spare(LISTING if chosen is None else OF_SOME, limit)
    return graph.engine.memory() if spare is None else min(graph.engine.memory(), spare)


class Listing:
    """The triangles of a graph, numbered in the order of the layout's in-edges.

    `chosen` are the numbers of vertices, if only the triangles with such a corner are meant.
    """

    def __init__(self, graph: InMemoryGraph, chosen: Array | None = None) -> None:
        self.graph, self.engine, xp = graph, graph.engine, graph.backend.xp
        if chosen is None:
            number, self.layout = graph.order.number, graph.layout
            with graph.stage("counting") as report:
                per_in_edge = self.engine.triangles_per_in_edge(
                    self.layout, on_progress=report.on_progress
                )
        else:
            _ = graph.csr  # reports its own stages
            with graph.stage("counting"):
                around = Surroundings.of(graph, chosen)
                number = around.number
                self.layout, per_in_edge = around.layout(self.engine)
        self.starts = xp.zeros(len(per_in_edge) + 1, "int64")
        xp.cumsum(per_in_edge, dtype="int64", out=self.starts[1:])
        self.total = int(self.starts[-1])
        self.number = number.astype("uint32")

    def by_group(self) -> Array:
        """Count the triangles of each group, on the host."""
        groups, csr, host = self.graph.groups, self.layout.csr, self.graph.backend.host
        assert groups is not None
        in_edges = column_counts(self.engine, csr, csr.n).astype("int64")
        ends = in_edges.cumsum()
        by_pivot = self.starts[ends] - self.starts[ends - in_edges]
        of_pivot = host(groups.group_of[self.number])
        sums = np.bincount(of_pivot, weights=host(by_pivot), minlength=len(groups.starts))
        return sums.astype("int64")

    def frame(self, first: int, last: int) -> Frame:
        """Make a sorted frame of the triangles `first` to `last` - 1."""
        graph = self.graph
        with graph.stage("listing"):
            ranks = self.ranks(first, last)
            numbers = self.number[ranks]
            del ranks
            corners = self._sorted(numbers)
            del numbers  # `_sorted` drops it, too, as soon as it can
            if isinstance(graph.ids, CompositeIds):
                columns = graph.ids.columns(dict(zip("uvw", corners, strict=True)))
            else:  # takes one corner at a time, since three of them are as large as the answer
                columns = dict(zip("uvw", map(graph.ids.take, corners), strict=True))
            return graph.backend.adapter.frame(graph.backend.library.DataFrame(columns))

    def ranks(self, first: int, last: int) -> Array:
        """List the ranks u > v > w of the triangles `first` to `last` - 1."""
        return self.engine.list_triangles(self.layout, self.starts, first, last)

    def _sorted(self, numbers: Array) -> Iterator[Array]:
        """Yield the columns u < v < w of the triangles, sorted by all three."""
        xp, (a, b, c) = self.graph.backend.xp, numbers
        low = xp.minimum(xp.minimum(a, b), c)
        high = xp.maximum(xp.maximum(a, b), c)
        middle = a ^ b ^ c ^ low ^ high
        del numbers, a, b, c
        bits = max(self.graph.ids.size - 1, 1).bit_length()
        if 3 * bits > 64:
            order = xp.lexsort(xp.stack([high, middle, low]))
            yield from (corner[order] for corner in (low, middle, high))
            return
        keys = low.astype("uint64")  # all three in one number, which sorts faster
        for corner in (middle, high):
            keys <<= bits
            keys |= corner
        del low, middle, high, corner
        keys.sort()
        for shift in (2 * bits, bits, 0):
            yield keys >> shift & (1 << bits) - 1
