"""Projections of bipartite frames: the pairs of one side with enough neighbors in common."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from rapids_tc._arguments import check_choice, check_integer
from rapids_tc._progress import call_report
from rapids_tc._typing import Frame, ProjectionMeasure, Side
from rapids_tc.analytics.analytic import analytic
from rapids_tc.analytics.pair_frames import FRACTIONS, SIMILAR_PAIRS, SUMS, require_pairs
from rapids_tc.analytics.side_pairs import SidePairs
from rapids_tc.analytics.triangle_lists import check_rows
from rapids_tc.engines.wedge_ends import MOST_DEGREE
from rapids_tc.frames.device import device_of, on_device
from rapids_tc.plan.record import OwnOptions, of_one_machine

if TYPE_CHECKING:
    from rapids_tc.graphs.in_memory import InMemoryGraph

SIDES = ("source", "destination")
MEASURES = (*FRACTIONS, *SUMS, "newman", "ratio")
ROWS = "the rows that matter, such as those of one group"
FEWER = "ask for at_least= more"
BY_FRAMES = "iter_project(edges, max_rows=...) gives them frame by frame"


def _check(own: OwnOptions) -> OwnOptions:
    own = check_integer(check_choice(own, "side", SIDES), "at_least", 1)
    own = check_choice(own, "measure", MEASURES, optional=True)
    return {**own, "at_least": min(own["at_least"], MOST_DEGREE + 1)}


def _fields(own: OwnOptions) -> tuple[str, ...]:
    return ("common", *([own["measure"]] if own["measure"] else ()))


@analytic(
    SIMILAR_PAIRS,
    fields=_fields,
    check=_check,
    in_memory=lambda own: f"give {ROWS}",
    local=lambda own, kind: of_one_machine("project", kind, ROWS),
    bipartite=True,
)
def project(
    graph: InMemoryGraph,
    *,
    side: Side = "source",
    at_least: int = 1,
    measure: ProjectionMeasure | None = None,
    memory_limit: int | None = None,
) -> Frame:
    """List the pairs of one side of a bipartite frame that have neighbors in common.

    The ids of the two columns never meet: user 5 is not item 5.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge, from a vertex of one side to one of the other; of graphs, one made by
        ``Graph(edges, bipartite=True)``. The edges are compared in memory.
    side : {"source", "destination"}, optional
        The column whose vertices make the pairs.
    at_least : int, optional
        The least number of common neighbors of a pair, from 1 on. Other pairs are never made.
    measure : {"jaccard", "cosine", "sorensen", "overlap", "adamic_adar", "resource_allocation", \
"newman", "ratio"}, optional
        A further column. See `most_similar` for the first six. "newman" is the sum of
        ``1 / (|N(w)| - 1)`` over the common neighbors w, "ratio" the share of the other side's
        vertices that are common neighbors.

    Returns
    -------
    DataFrame
        ========= ======= ===========================================
        u         as ids  the smaller id of the pair by value
        v         as ids  the larger one
        common    int64   their common neighbors
        `measure` float64 if it is asked for
        ========= ======= ===========================================

        Sorted by u and v.

    Raises
    ------
    ValueError
        An option is none of these; or `edges` is a `Graph` that is not bipartite.
    CapacityError
        There are more pairs than the 2**31 - 1 rows of a frame, or than memory holds. They are
        counted before anything is allocated for them. Other errors: see `Graph`.

    See Also
    --------
    iter_project : The same, frame by frame.
    most_similar : The best pairs of each vertex.

    Notes
    -----
    Cost: twice a step for each path of two edges between vertices of the side; a sum over common
    neighbors takes one more walk of the shorter row of each pair. Sums are of integers, as in
    `similarity`. "newman" is ``networkx.bipartite.collaboration_weighted_projected_graph``: Newman,
    "Scientific collaboration networks. II", Phys. Rev. E 64, 016132 (2001). "ratio" is
    ``networkx.bipartite.weighted_projected_graph(ratio=True)``.

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> df = pd.DataFrame({"user": [1, 1, 2, 2, 3], "item": [1, 2, 1, 2, 2]})
    >>> tc.project(df, source="user", destination="item", measure="newman")
       u  v  common  newman
    0  1  2       2     1.5
    1  1  3       1     0.5
    2  2  3       1     0.5
    """
    _ = graph.csr  # reports its own stages
    with graph.stage("comparing vertices"):
        pairs = SidePairs.counted(graph, side, at_least)
        require_pairs(graph, pairs.total, memory_limit, f"{FEWER}; {BY_FRAMES}")
        return pairs.frame(0, *pairs.listed(0, len(pairs.chosen)), measure)


@analytic(
    SIMILAR_PAIRS,
    fields=_fields,
    check=lambda own: check_rows(_check(own)),
    in_memory=lambda own: f"give {ROWS}",
    local=lambda own, kind: of_one_machine("iter_project", kind, ROWS),
    bipartite=True,
    renamed={"rows": "max_rows"},
)
def iter_project(
    graph: InMemoryGraph,
    *,
    max_rows: int,
    side: Side = "source",
    at_least: int = 1,
    measure: ProjectionMeasure | None = None,
    progress: bool | None = None,
    memory_limit: int | None = None,
) -> Iterator[Frame]:
    """List what `project` lists in frames of at most `max_rows` rows, made one at a time.

    The ids of the two columns never meet: user 5 is not item 5.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge, from a vertex of one side to one of the other; of graphs, one made by
        ``Graph(edges, bipartite=True)``. The edges are compared in memory.
    max_rows : int
        The rows of each frame, from 1 on; the last frame may have fewer. No pair gives no frame.
    side : {"source", "destination"}, optional
        The column whose vertices make the pairs.
    at_least : int, optional
        The least number of common neighbors of a pair, from 1 on. Other pairs are never made.
    measure : {"jaccard", "cosine", "sorensen", "overlap", "adamic_adar", "resource_allocation", \
"newman", "ratio"}, optional
        A further column: see `project`.

    Returns
    -------
    iterator of DataFrame
        ========= ======= ===========================================
        u         as ids  the smaller id of the pair by value
        v         as ids  the larger one
        common    int64   their common neighbors
        `measure` float64 if it is asked for
        ========= ======= ===========================================

        All frames together are sorted by u and v: they are the rows of `project`, in its order.

    Raises
    ------
    ValueError
        An option is none of these; or `edges` is a `Graph` that is not bipartite.
    CapacityError
        A frame of `max_rows` rows does not fit in memory. Other errors: see `Graph`.

    See Also
    --------
    project : All pairs in one frame.

    Notes
    -----
    The call prepares the graph; the pairs of every vertex are counted before the first frame, and
    each frame is written when it is asked for. In memory are the rows of all neighbors, 12 bytes
    per edge, one frame, and the pairs of the vertex u with which it ends. All frames together cost
    as much as `project`, with the same two passes, if a frame holds the pairs of many vertices.

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> df = pd.DataFrame({"user": [1, 1, 2, 2, 3], "item": [1, 2, 1, 2, 2]})
    >>> frames = tc.iter_project(df, max_rows=2, source="user", destination="item")
    >>> [frame["common"].tolist() for frame in frames]
    [[2, 1], [1]]
    """
    _ = graph.csr  # prepared at the call, before the frame can change
    return _frames(graph, (side, at_least, measure), max_rows, memory_limit, progress=progress)


def _frames(
    graph: InMemoryGraph, asked: tuple[Side, int, ProjectionMeasure | None], rows: int,
    limit: int | None, *, progress: bool | None,
) -> Iterator[Frame]:  # fmt: skip
    side, at_least, measure = asked
    device = device_of(graph.some_array)
    with call_report(progress), on_device(device), graph.stage("comparing vertices"):
        pairs = SidePairs.counted(graph, side, at_least)
        require_pairs(
            graph, min(rows + pairs.most, pairs.total), limit, f"ask for fewer rows, or {FEWER}",
            "a frame, with the pairs of one vertex,",
        )  # fmt: skip
        starts = graph.backend.host(pairs.starts)
        ranks, common = pairs.listed(0, 0)
    done = 0  # the vertices whose pairs are listed
    for first in range(0, pairs.total, rows):
        size = min(rows, pairs.total - first)
        # Not around the yield: between frames, time and device are the caller's.
        with call_report(progress), on_device(device), graph.stage("listing"):
            # The vertex with which a frame ends is listed wholly, once, for the next frames, too.
            end = int(np.searchsorted(starts, first + size))
            if end > done:
                more = zip((ranks, common), pairs.listed(done, end), strict=True)
                ranks, common = map(graph.backend.xp.concatenate, more)
            frame = pairs.frame(first, ranks[:size], common[:size], measure)
            ranks, common, done = ranks[size:], common[size:], end
        yield frame
        del frame  # before the next is made
