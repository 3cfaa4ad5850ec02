"""Truss communities: the parts of a k-truss that hang together, for one k and for all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from rapids_tc._typing import Frame
from rapids_tc.analytics.analytic import analytic
from rapids_tc.analytics.kinds import check_where, sums_where, work_where
from rapids_tc.analytics.trusses import checked_k
from rapids_tc.frames.nullable import nullable_like
from rapids_tc.frames.wrapped import native
from rapids_tc.graphs.communities import hierarchy, joined
from rapids_tc.graphs.of_kind import counting_only
from rapids_tc.graphs.row_values import numbers
from rapids_tc.plan.record import Column, Needs, OwnOptions, Result, Work, of_one_machine
from rapids_tc.preparation.community_tree import vertices
from rapids_tc.preparation.edge_columns import check_new

if TYPE_CHECKING:
    from rapids_tc.graphs.in_memory import InMemoryGraph
    from rapids_tc.preparation.triangle_kinds import Triangles

NEEDS = Needs.EDGE_COUNTS | Needs.TRUSSNESS | Needs.COMMUNITIES
COLUMN = Column("int64", lambda edges: edges.community, NEEDS, absent=-1)
Connected = Literal["triangles", "edges"]
CONNECTED: tuple[str, ...] = get_args(Connected)
ROWS = "k_truss(edges, 3).compute(), whose rows have the same communities"


OF_KIND = "k_truss(edges, k, where=) is"
ABOUT_ALL = "k_truss is, and the rows of a k-truss have the same communities from k on"
HIERARCHY = ("k", "parent", "edges", "vertices")


def _check_own(own: OwnOptions) -> OwnOptions:
    connected = own["connected"]
    if not (isinstance(connected, str) and connected in CONNECTED):
        accepted = " or ".join(f'"{name}"' for name in CONNECTED)
        raise ValueError(f"connected={connected!r}; accepted: {accepted}")
    return check_where(own)


def _check(own: OwnOptions) -> OwnOptions:
    k = _check_own(own)["k"]
    if not (isinstance(k, str) and k == "all"):
        checked_k(k)
    return own


def _work(own: OwnOptions) -> Work:
    return work_where(Work(NEEDS, Result.TABLE if own["k"] == "all" else Result.COMMUNITIES))(own)


def _fields(own: OwnOptions) -> tuple[str, ...]:
    return ("community", *(HIERARCHY if own["k"] == "all" else ()))


def _in_memory(own: OwnOptions) -> str:
    if own["where"] is not None:
        return OF_KIND
    if own["k"] == "all":
        return ABOUT_ALL
    return "k_truss(edges, k) is, and its rows have the same communities"


def _local(own: OwnOptions, kind: str) -> Exception:
    k = own["k"]
    k = {"max": '"max"', "all": 3}[k] if isinstance(k, str) else k
    rows = ROWS.replace("3", str(k)) if own["where"] is None else ""  # of a kind, all rows count
    return of_one_machine("truss_communities", kind, rows)


def _local_hierarchy(own: OwnOptions, kind: str) -> Exception:
    return of_one_machine("truss_hierarchy", kind, ROWS if own["where"] is None else "")


@analytic(
    Work(NEEDS, Result.COMMUNITIES),
    columns={"truss_community": COLUMN},
    fields=_fields,
    check=_check,
    work=_work,
    in_memory=_in_memory,
    local=_local,
    sums=sums_where,
    moved={("k", "all"): "truss_hierarchy"},
)
def truss_communities(
    graph: InMemoryGraph,
    k: int | Literal["max"],
    *,
    connected: Connected = "triangles",
    where: Triangles | None = None,
    memory_limit: int | None = None,
) -> Frame:
    """Find the communities of the k-truss: edges that chains of its triangles join.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge.
    k : int or "max"
        As in `k_truss`, from 2 on.
    connected : {"triangles", "edges"}, optional
        What joins two edges of the k-truss: a triangle of the k-truss that has both, or a common
        vertex. With "edges", communities are the connected components of the k-truss.
    where : Triangles, optional
        Count only triangles of a kind, in the k-truss as in `trussness`: others join nothing.

    Returns
    -------
    DataFrame
        The rows of `k_truss`, with all columns and the index, and a further column ``community``,
        int64: the number of the community among those of this k. Communities are numbered from 0 on
        by their smallest edges, src < dst, in the order of ids; in each group by itself, with `by`.

    Raises
    ------
    ValueError
        `k` is below 2, or neither an integer nor "max"; `connected` is neither of the two; the
        frame has a column ``community``. Other errors: see `Graph`.

    See Also
    --------
    truss_hierarchy : The communities of every k.
    k_truss : The rows of one truss.
    trussness : The truss number of every edge.
    annotate : Adds each edge's community at its own truss number, ``truss_community``.

    Notes
    -----
    Two communities may share vertices, but no edge. They are the k-truss communities of Huang,
    Cheng, Qin, Tian and Yu, "Querying k-truss community in large and dynamic graphs", SIGMOD
    (2014). An edge in no triangle is a community of its own at k = 2, and in none from k = 3 on.

    Cost: as `k_truss`, and a pass over all triangles, none of which is kept. The pass takes about
    as long as `edge_triangles` two or three times, and a forest of the edges 16 bytes per edge.

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> df = pd.DataFrame({"src": [0, 1, 2, 2, 3, 4], "dst": [1, 2, 0, 3, 4, 2]})
    >>> tc.truss_communities(df, 3)["community"].tolist()
    [0, 0, 0, 1, 1, 1]
    >>> tc.truss_communities(df, 3, connected="edges")["community"].tolist()
    [0, 0, 0, 0, 0, 0]
    """
    graph = counting_only(graph, where)
    if str(k) == "all":  # as before `truss_hierarchy`
        return _hierarchy(graph, connected, "community", "int64")
    check_new(["community"], graph.labels)
    present = graph.truss_edges(checked_k(k))
    tree = joined(graph, present, connected)
    adapter, number = graph.backend.adapter, numbers(graph, tree)
    with graph.stage("looking rows up"):
        edge_of = graph.row_edges()
        positions = graph.first_rows(edge_of, present)
        of_row = number[tree.of_edge[edge_of[positions]]]
        del edge_of
        rows = native(graph.take_rows(positions, memory_limit))
        return adapter.assign(rows, {"community": adapter.column_like(rows, of_row, "community")})


@analytic(
    Work(NEEDS, Result.TABLE),
    fields=("truss_community", *HIERARCHY),
    check=_check_own,
    work=work_where(Work(NEEDS, Result.TABLE)),
    in_memory=lambda own: ABOUT_ALL if own["where"] is None else OF_KIND,
    local=_local_hierarchy,
    sums=sums_where,
)
def truss_hierarchy(
    graph: InMemoryGraph,
    *,
    connected: Connected = "triangles",
    where: Triangles | None = None,
) -> Frame:
    """List the truss communities of every k, and which of them lies inside which.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge.
    connected : {"triangles", "edges"}, optional
        What joins two edges of a k-truss: see `truss_communities`.
    where : Triangles, optional
        Count only triangles of a kind: see `truss_communities`.

    Returns
    -------
    DataFrame
        One row per community of any k from 3 on, by number:

        =============== ============== ==================================================
        truss_community int64          its number
        k               int32          the largest k whose truss has exactly this community
        parent          nullable int64 the smallest community around it; null if there is none
        edges           int64          how many edges it has, those of communities inside it too
        vertices        int64          how many vertices these edges have
        =============== ============== ==================================================

        Communities are numbered by their smallest edges, and of two with the same smallest edge the
        larger comes first: a parent's number is below those of the communities inside it. With
        `by`, the columns of groups stand in front, and each group has numbers of its own.

    Raises
    ------
    ValueError
        `connected` is neither of the two. Other errors: see `Graph`.

    See Also
    --------
    truss_communities : The rows of one k, with its communities.
    annotate : Adds each edge's community at its own truss number, ``truss_community``, by which
        rows and this table are joined.

    Notes
    -----
    A community that is the same at k and at k + 1 stands in the hierarchy once, with the larger k.
    The table holds what the index of Akbas and Zhao, "Truss-based community search: a
    truss-equivalence based indexing approach", PVLDB 10 (2017), holds.

    Cost: as `trussness`, and a pass over all triangles, none of which is kept. Edges are added from
    the highest k down, and each is joined with the other sides of its triangles, once: less than
    `trussness` on a CPU, and some 50 bytes per edge.

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> df = pd.DataFrame({"src": [0, 1, 2, 2, 3, 4], "dst": [1, 2, 0, 3, 4, 2]})
    >>> tc.truss_hierarchy(df)
       truss_community  k  parent  edges  vertices
    0                0  3    <NA>      3         3
    1                1  3    <NA>      3         3
    """
    return _hierarchy(counting_only(graph, where), connected, "truss_community", "int32")


def _hierarchy(graph: InMemoryGraph, connected: str, number_of: str, of_k: str) -> Frame:
    """Return one row per community of any k, whose number is in a column of this name."""
    by_triangles = connected == "triangles"
    tree = graph.community_tree if by_triangles else hierarchy(graph, connected)
    xp, adapter = graph.backend.xp, graph.backend.adapter
    with graph.stage("counting vertices"):
        sizes = vertices(tree, graph.csr, xp)
        number = numbers(graph, tree)
        groups = {}
        if graph.groups is not None:
            groups = graph.groups.group_columns(graph.groups.group_of[tree.smallest])
        columns = {**groups, number_of: number[:-1], "k": tree.level.astype(of_k)}
        frame = native(graph.backend.answer(columns))
        parent = nullable_like(
            adapter, frame, number[tree.parent], tree.parent < tree.size, "parent"
        )
        counts = {"edges": tree.edges, "vertices": sizes}
        others = {name: adapter.column_like(frame, counts[name], name) for name in counts}
        return adapter.assign(frame, {"parent": parent, **others})
