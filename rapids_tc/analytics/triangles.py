"""Triangle counts: of the graph, of its vertices, of its edges; and the edges they are made on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rapids_tc.analytics.analytic import analytic
from rapids_tc.plan.record import Column, Needs, Result, Work

if TYPE_CHECKING:
    from rapids_tc._typing import EngineName

TRIANGLES = Column("int64", lambda edges: edges.triangles)


@analytic(Work(Needs.TOTAL, Result.VALUE))
def count(
    edges: Any,
    *,
    source: Any = None,
    destination: Any = None,
    engine: EngineName | None = None,
    method: str = "auto",
    progress: bool | None = None,
    memory_limit: int | None = None,
) -> int:
    """Count the triangles of the graph.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row an edge. Direction, repeats and self loops do not count. A Dask frame is worked on
        by the cluster of the current client, and functions that return a frame return one of Dask.
    source, destination : label, optional
        The two id columns; see `Graph`.
    engine : {"cpu", "cuda"}, optional
        Where to work; by default where the frame is.
    method : str, optional
        An intersection method of `methods`, CUDA only; "auto" chooses.
    progress : bool, optional
        Show progress on stderr; by default where that is a terminal.
    memory_limit : int, optional
        Bytes that may be taken on top of the frame, by default those that are free. A graph that
        needs more is cut in blocks, which are kept in memory of the host (for a card) or in a
        temporary file and counted one task after another: the same answer, and slower.

    Returns
    -------
    int

    Raises
    ------
    ColumnNotFoundError, IdTypeError, NullIdError, CapacityError, KernelError, ValueError, TypeError
        See `Graph`.

    Notes
    -----
    Work: one sort of the rows, then one look-up a wedge at its corner of lowest degree, at most
    O(m ** 1.5). Ordering by degree is that of Chiba and Nishizeki, "Arboricity and subgraph
    listing algorithms", SIAM J. Comput. 14 (1985).

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> df = pd.DataFrame({"src": [0, 1, 2, 2], "dst": [1, 2, 0, 3]})
    >>> df.pipe(tc.count)
    1
    """
    return int(edges.count(method))


@analytic(Work(Needs.VERTEX_COUNTS, Result.VERTICES))
def vertex_triangles(
    edges: Any,
    *,
    vertices: Any = None,
    source: Any = None,
    destination: Any = None,
    engine: EngineName | None = None,
    method: str = "auto",
    progress: bool | None = None,
    memory_limit: int | None = None,
) -> Any:
    """Count the triangles that each vertex is a corner of.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row an edge.
    vertices : list, array, Series or Index, optional
        The vertices to report, in this order, repeats once; by default all, sorted by id.
    source, destination, engine, method, progress, memory_limit
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
        Some of `vertices` are not in the graph. Further: see `Graph`.

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
    engine: EngineName | None = None,
    method: str = "auto",
    progress: bool | None = None,
    memory_limit: int | None = None,
) -> Any:
    """Count the triangles that the edge of each row is a side of.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row an edge. All rows of one edge get its value, a self loop gets 0.
    source, destination, engine, method, progress, memory_limit
        See `count`.

    Returns
    -------
    Series
        ``triangles``, int64, one value a row, with the index of `edges`.

    Raises
    ------
    ColumnNotFoundError, IdTypeError, NullIdError, CapacityError, KernelError, ValueError, TypeError
        See `Graph`.

    Notes
    -----
    The support of an edge, in the terms of Cohen, "Trusses: cohesive subgraphs for social network
    analysis" (2008). Cost: about three times `count`, and one search a row.

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
    engine: EngineName | None = None,
    progress: bool | None = None,
    memory_limit: int | None = None,
) -> Any:
    """List each undirected edge once: what every other function counts on.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row an edge.
    source, destination, engine, progress, memory_limit
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
