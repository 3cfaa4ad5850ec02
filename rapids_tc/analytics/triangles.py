"""Triangle counts: of the graph, of its vertices and of its edges; and the simple edges."""

from __future__ import annotations

from typing import Any

from rapids_tc._typing import EngineName
from rapids_tc.analytics.analytic import analytic
from rapids_tc.plan.record import Column, Needs, Result, Work

TRIANGLES = Column("int64", lambda edges: edges.triangles)


@analytic(Work(Needs.TOTAL, Result.VALUE), fields=("triangles",))
def count(
    edges: Any,
    *,
    source: Any = None,
    destination: Any = None,
    by: Any = None,
    engine: EngineName | None = None,
    method: str = "auto",
    progress: bool | None = None,
    memory_limit: int | None = None,
) -> Any:
    """Count the triangles of the graph.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge. Direction, repeats and self loops do not count. A Dask frame is counted by
        the cluster of the current client; functions that return a frame then return a Dask frame.
    source, destination : label or list of labels, optional
        The two id columns; see `Graph`. Lists name the parts of ids that are made of several
        columns: part i of the source, and of the destination, is in column i of its list.
    by : label or list of labels, optional
        Columns of groups: the function is applied to the rows of each group on its own, as if ids
        of different groups were different. A value becomes a frame with one row per group; other
        frames get the columns of groups in front. Values of any hashable dtype name a group.
    engine : {"cpu", "cuda"}, optional
        Where to work; by default where the frame is.
    method : str, optional
        An intersection method of `methods`, CUDA only; "auto" chooses.
    progress : bool, optional
        Show progress on stderr; by default if stderr is a terminal.
    memory_limit : int, optional
        Bytes that may be taken on top of the frame; by default, all that are free. A graph that
        needs more is cut into blocks, which are kept in host memory (for a GPU) or in a temporary
        file, and are counted in one task after another: slower, with the same answer.

    Returns
    -------
    int or DataFrame
        With `by`, one row per group, sorted by group: the columns of groups, and ``triangles``,
        int64.

    Raises
    ------
    ColumnNotFoundError, IdTypeError, NullIdError, CapacityError, KernelError, ValueError, TypeError
        See `Graph`.

    Notes
    -----
    Work: one sort of the rows, then one look-up per wedge at its corner of lowest degree, at most
    O(m ** 1.5). Ordering by degree is from Chiba and Nishizeki, "Arboricity and subgraph
    listing algorithms", SIAM J. Comput. 14 (1985).

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> df = pd.DataFrame({"src": [0, 1, 2, 2], "dst": [1, 2, 0, 3]})
    >>> df.pipe(tc.count)
    1
    >>> tc.count(df.assign(day=["mon", "mon", "mon", "tue"]), by="day")
       day  triangles
    0  mon          1
    1  tue          0
    """
    if edges.groups is not None:
        return edges.group_frame({"triangles": edges.group_counts(method)})
    return int(edges.count(method))


@analytic(Work(Needs.VERTEX_COUNTS, Result.VERTICES), fields=("triangles",))
def vertex_triangles(
    edges: Any,
    *,
    vertices: Any = None,
    source: Any = None,
    destination: Any = None,
    by: Any = None,
    engine: EngineName | None = None,
    method: str = "auto",
    progress: bool | None = None,
    memory_limit: int | None = None,
) -> Any:
    """Count the triangles that each vertex is a corner of.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge.
    vertices : list, array, Series, Index or DataFrame, optional
        The vertices to report, each once and in this order; by default all, sorted by id. A frame
        if ids are made of several columns; with `by`, in every group that has them.
    source, destination, by, engine, method, progress, memory_limit
        See `count`.

    Returns
    -------
    DataFrame
        ========= ======= ==============================================
        vertex    as ids  every id seen in either column, or `vertices`
        triangles int64   triangles with this corner
        ========= ======= ==============================================

    Raises
    ------
    ValueError
        Some of `vertices` are not in the graph. Other errors: see `Graph`.

    Notes
    -----
    Half the sum of `edge_triangles` around the vertex. Cost: as `edge_triangles`.

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> df = pd.DataFrame({"src": [0, 1, 2, 2], "dst": [1, 2, 0, 3]})
    >>> tc.vertex_triangles(df)
       vertex  triangles
    0       0          1
    1       1          1
    2       2          1
    3       3          0
    """
    return edges.vertex_frame({"triangles": edges.vertex_counts(method)}, vertices)


@analytic(Work(Needs.EDGE_COUNTS, Result.COLUMN), columns={"triangles": TRIANGLES})
def edge_triangles(
    edges: Any,
    *,
    source: Any = None,
    destination: Any = None,
    by: Any = None,
    engine: EngineName | None = None,
    method: str = "auto",
    progress: bool | None = None,
    memory_limit: int | None = None,
) -> Any:
    """Count the triangles that the edge of each row is a side of.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge. All rows of one edge get its value, a self loop gets 0.
    source, destination, by, engine, method, progress, memory_limit
        See `count`.

    Returns
    -------
    Series
        ``triangles``, int64, one value per row, with the index of `edges`.

    Raises
    ------
    ColumnNotFoundError, IdTypeError, NullIdError, CapacityError, KernelError, ValueError, TypeError
        See `Graph`.

    Notes
    -----
    The support of an edge, in the terms of Cohen, "Trusses: cohesive subgraphs for social network
    analysis" (2008). Cost: about three times `count`, and one search per row.

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> df = pd.DataFrame({"src": [0, 1, 2, 2], "dst": [1, 2, 0, 3]})
    >>> df["triangles"] = tc.edge_triangles(df)
    >>> df["triangles"].tolist()
    [1, 1, 1, 0]
    """
    return edges.row_columns(["triangles"], method)["triangles"]


@analytic(Work(Needs.EDGES, Result.EDGES))
def simple_edges(
    edges: Any,
    *,
    source: Any = None,
    destination: Any = None,
    by: Any = None,
    engine: EngineName | None = None,
    progress: bool | None = None,
    memory_limit: int | None = None,
) -> Any:
    """List each undirected edge once: the graph on which all other functions count.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge.
    source, destination, by, engine, progress, memory_limit
        See `count`.

    Returns
    -------
    DataFrame
        === ====== =========================
        src as ids the smaller id by value
        dst as ids the larger one
        === ====== =========================

        Sorted by both; no self loops, no repeats.

    Raises
    ------
    ColumnNotFoundError, IdTypeError, NullIdError, CapacityError, KernelError, ValueError, TypeError
        See `Graph`.

    Notes
    -----
    Cost: two sorts of the rows.

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> tc.simple_edges(pd.DataFrame({"src": [2, 1, 2, 3], "dst": [1, 2, 2, 1]}))
       src  dst
    0    1    2
    1    1    3
    """
    return edges.simple_edges()
