"""Several columns of an edge frame from one preparation."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from rapids_tc._typing import Frame, Method
from rapids_tc.analytics.analytic import analytic
from rapids_tc.analytics.kinds import check_where, require_auto, work_where
from rapids_tc.blocks.quantities import of_kind
from rapids_tc.plan import costs
from rapids_tc.plan.record import (
    ANALYTICS,
    ROWS_THAT_MATTER,
    Needs,
    OwnOptions,
    Result,
    Work,
    of_one_machine,
    row_columns,
    vertex_columns,
)
from rapids_tc.preparation.edge_columns import check_new

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from rapids_tc.blocks.quantities import Within
    from rapids_tc.graphs.edge_graph import EdgeGraph
    from rapids_tc.plan.record import Column, VertexColumn
    from rapids_tc.preparation.triangle_kinds import Triangles

# The most that columns need.
ANY = Needs.EDGE_COUNTS | Needs.DEGREES | Needs.TRUSSNESS | Needs.EDGE_SUMS
ANY |= Needs.COMMUNITIES | Needs.SQUARES | Needs.BITRUSS


def _check(own: OwnOptions) -> OwnOptions:
    check_names(own["columns"], row_columns(), "annotate")
    if own["where"] is not None and check_where(own)["columns"] != ("triangles",):
        raise ValueError('where= counts triangles of a kind: name "triangles" alone beside it')
    return own


def _sums(own: OwnOptions) -> list[Within]:
    return [] if own["where"] is None else [of_kind("triangles", own["where"].reading)]


def _work(own: OwnOptions) -> Work:
    if own["where"] is not None:
        return work_where(Work(Needs.EDGE_SUMS, Result.COLUMNS))(own)
    known, needs = row_columns(), Needs.NOTHING
    for name in own["columns"]:
        needs |= known[name].needs
    values = costs.EDGE_SUM if needs & Needs.EDGE_SUMS else 0
    levels = bool(needs & Needs.TRUSSNESS)
    return Work(needs, Result.COLUMNS, len(own["columns"]), values=values, levels=levels)


def _in_memory(own: OwnOptions) -> str:
    return without_columns(own["columns"], row_columns())


def _local(own: OwnOptions, kind: str) -> Exception | None:
    return of_one_column("annotate", own["columns"], row_columns(), kind)


@analytic(
    Work(ANY, Result.COLUMNS, columns=2), check=_check, work=_work, in_memory=_in_memory,
    local=_local, sums=_sums,
)  # fmt: skip
def annotate(
    graph: EdgeGraph, *columns: str, where: Triangles | None = None, method: Method = "auto"
) -> Frame:
    """Add columns to the edge frame, all from one preparation.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge; the frame is not changed.
    *columns : str
        The columns to add, by their names in the table below.
    where : Triangles, optional
        Count only triangles of a kind: see `count`. Of columns, it takes "triangles" alone.

    Returns
    -------
    DataFrame
        The user's rows, columns and index, followed by the added columns:

        =================== ======= =========================================
        triangles           int64   as `edge_triangles`
        trussness           int32   as `trussness`
        truss_community     int64   see below
        jaccard             float64 as `similarity`, as are the next seven
        overlap             float64
        sorensen            float64
        cosine              float64
        adamic_adar         float64
        resource_allocation float64
        forman              float64
        edge_clustering     float64
        squares             int64   as `edge_squares`
        bitruss             int32   as `bitruss`
        =================== ======= =========================================

        ``truss_community`` is the community that an edge has in the k-truss whose k is the edge's
        trussness, by its number in `truss_hierarchy`; -1 for self loops and for
        edges in no triangle, which are in no community from k = 3 on.

    Raises
    ------
    ValueError
        No column is named, or one that is unknown, named twice or in the frame already.
        Other errors: see `Graph`.

    See Also
    --------
    annotate_vertices : Columns of vertices.
    edge_triangles : One column of triangles.
    trussness : One column of truss numbers.
    truss_communities : The communities of one k.
    truss_hierarchy : The communities of all k.
    similarity : One column of a similarity.
    edge_squares : One column of squares.
    bitruss : One column of bitruss numbers.

    Notes
    -----
    Cost: as `edge_triangles`, or as `trussness` or `truss_communities` if these are added, for any
    number of columns; and as `edge_triangles` once more for each of "adamic_adar" and
    "resource_allocation", and as `edge_squares` for "squares".

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> df = pd.DataFrame({"src": [0, 1, 2, 2], "dst": [1, 2, 0, 3]})
    >>> tc.annotate(df, "triangles", "overlap")
       src  dst  triangles  overlap
    0    0    1          1      0.5
    1    1    2          1      0.5
    2    2    0          1      0.5
    3    2    3          0      0.0
    """
    check_new(columns, graph.labels)
    if where is None:
        return graph.assign(graph.row_columns(columns, method))
    require_auto(method, where)
    return graph.assign(graph.row_columns(_sums({"where": where}), method))


def without_columns(names: Sequence[str], known: Mapping[str, Column | VertexColumn]) -> str:
    """Return the end of a sentence that names the columns which blocks do not have."""
    local = [f'"{name}"' for name in names if known[name].needs & Needs.IN_MEMORY]
    return f"without {' and '.join(local)} it is" if local else ""


def of_one_column(
    function: str, names: Sequence[str], known: Mapping[str, Column | VertexColumn], kind: str
) -> Exception | None:
    """Return the error of a function for the first column that partitioned frames do not get."""
    column = next((name for name in names if known[name].needs & Needs.ONE_MACHINE), None)
    if column is None:
        return None
    rows = "" if known[column].needs & Needs.BITRUSS else ROWS_THAT_MATTER  # those of a truss
    return of_one_machine(f'{function} with "{column}"', kind, rows)


def check_names(columns: tuple[Any, ...], known: Collection[str], function: str) -> None:
    """Raise ValueError unless a function can add all columns and each is named once."""
    unknown = [c for c in columns if not isinstance(c, str) or c not in known]
    if not unknown and columns and len(set(columns)) == len(columns):
        return
    if not columns:
        fault = f"{function}(edges) names no column to add"
    elif unknown:
        fault = _about(unknown[0], columns, known, function)
    else:
        fault = f"columns={list(columns)!r} names a column twice"
    raise ValueError(f"{fault}; name each of {list(known)} at most once")


def _about(name: Any, columns: tuple[Any, ...], known: Collection[str], function: str) -> str:
    """Say what is wrong with a name that is no column that a function adds."""
    text, no_column = isinstance(name, str), f"{name!r} is no column that {function} adds"
    if isinstance(name, list | tuple | set) and name and all(isinstance(c, str) for c in name):
        names = ", ".join(repr(c) for c in name)
        kind = type(name).__name__
        return f"names follow one another, not in a {kind}: {function}(edges, {names})"
    if text and name in row_columns():
        return f'{no_column}, but one of rows: annotate(edges, "{name}")'
    if text and name in ANALYTICS:
        return f"{name!r} is no column of the rows, but a function, tc.{name}(edges)"
    if text and name in vertex_columns():
        return f'{no_column}, but one of vertices: annotate_vertices(edges, "{name}")'
    if text and (close := get_close_matches(name.lower(), known, n=1)):
        return f"{no_column}, did you mean {close[0]!r}?"
    if len(columns) == 2 and all(isinstance(c, str) for c in columns):
        ids = "source={!r}, destination={!r}".format(*columns)
        return f"{no_column}; id columns are named by {ids}"
    return no_column
