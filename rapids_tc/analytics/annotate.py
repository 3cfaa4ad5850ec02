"""Several columns of an edge frame from one preparation."""

from __future__ import annotations

from difflib import get_close_matches
from os import PathLike
from typing import TYPE_CHECKING, Any

from rapids_tc._arguments import check_flag
from rapids_tc._typing import Frame, Label, Length, Method
from rapids_tc.analytics.analytic import analytic
from rapids_tc.analytics.kinds import (
    check_arcs,
    check_where,
    require_auto,
    work_where,
)
from rapids_tc.blocks.quantities import of_kind
from rapids_tc.engines import as_of
from rapids_tc.frames.written import check_folder
from rapids_tc.graphs.of_kind import counting_only
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
from rapids_tc.preparation.time_order import AsOf
from rapids_tc.preparation.times import check_length

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from rapids_tc.blocks.quantities import Within
    from rapids_tc.graphs.edge_graph import EdgeGraph
    from rapids_tc.plan.record import Column, VertexColumn
    from rapids_tc.preparation.triangle_kinds import Triangles

# The most that columns need.
ANY = Needs.EDGE_COUNTS | Needs.DEGREES | Needs.TRUSSNESS | Needs.EDGE_SUMS
ANY |= Needs.COMMUNITIES | Needs.SQUARES | Needs.BITRUSS
OF_KIND = ("triangles", "trussness", "truss_community")  # columns that a kind of triangles makes


def _check(own: OwnOptions) -> OwnOptions:
    check_names(own["columns"], [*row_columns(), *as_of.COLUMNS], "annotate")
    check_flag(own, "force")
    if own["out"] is not None:
        check_folder(own["out"], force=own["force"])
    elif own["force"]:
        raise ValueError("force=True replaces the folder of out=: give that as well")
    if name := _as_of_time(own["columns"]):
        return _check_times(name, own)
    if any(own[name] is not None for name in ("time", "within", "where")):
        own = (check_arcs if own["columns"] == ("triangles",) else check_where)(own)
    if own["where"] is not None and not {*own["columns"]} <= {*OF_KIND}:
        named = ", ".join(f'"{name}"' for name in OF_KIND)
        if own["time"] is None:
            raise ValueError(f"where= counts triangles of a kind: beside it, name none but {named}")
        raise ValueError(
            f"time= and within= count triangles of a kind: beside them, name none but {named}, or "
            f'columns as of a time, such as "{as_of.TRIANGLES[0]}"'
        )
    return own


def _as_of_time(columns: Sequence[str]) -> str:
    """Return the first of the columns that is as of a time; an empty text if none is."""
    return next((name for name in columns if name in as_of.COLUMNS), "")


def _check_times(name: str, own: OwnOptions) -> OwnOptions:
    """Return the options of a call with such a column; ValueError if they are about all rows."""
    others = [column for column in own["columns"] if column not in as_of.COLUMNS]
    if others:
        raise ValueError(
            f'"{name}" is of earlier rows, and "{others[0]}" of all rows: add them in two calls'
        )
    if own["where"] is not None:
        raise ValueError(f'where= is of all rows, and "{name}" of earlier rows: leave one out')
    if own["time"] is None:
        raise ValueError(f'"{name}" is of earlier rows: name the column of times by time=')
    _of_earlier_rows(own["columns"], own["time"], own["within"])  # or the error of a wrong length
    return own


def _of_earlier_rows(columns: tuple[str, ...], time: Any, within: Any) -> AsOf:
    """Return columns as of a time as they are counted; ValueError if `within` is no length."""
    length = None if within is None else check_length("within", within, zero=True)
    return AsOf(columns, time, length)


def _sums(own: OwnOptions) -> list[Within | AsOf]:
    if _as_of_time(own["columns"]):
        return [_of_earlier_rows(own["columns"], own["time"], own["within"])]
    return [] if own["where"] is None else [of_kind("triangles", own["where"].reading)]


def _work(own: OwnOptions) -> Work:
    if _as_of_time(own["columns"]):
        squares = costs.TIMED_STEPS if {*own["columns"]} & {*as_of.SQUARES} else 0
        return Work(Needs.AS_OF, Result.COLUMNS, len(own["columns"]), values=squares)
    if own["where"] is not None and own["columns"] == ("triangles",):
        return work_where(Work(Needs.EDGE_SUMS, Result.COLUMNS))(own)
    known, needs = row_columns(), Needs.NOTHING
    for name in own["columns"]:
        needs |= known[name].needs
    values = costs.EDGE_SUM if needs & Needs.EDGE_SUMS else 0
    levels = bool(needs & Needs.TRUSSNESS)
    work = Work(needs, Result.COLUMNS, len(own["columns"]), values=values, levels=levels)
    return work if own["where"] is None else work_where(work)(own)


def _in_memory(own: OwnOptions) -> str:
    if _as_of_time(own["columns"]):
        return ""
    return without_columns(own["columns"], row_columns())


def _local(own: OwnOptions, kind: str) -> Exception | None:
    if own["where"] is not None and "truss_community" in own["columns"]:
        return of_one_machine('annotate with "truss_community"', kind, "")  # all rows count
    if own["out"] is not None:
        return TypeError(f"edges is a {kind}: leave out= out, and write what comes back")
    if _as_of_time(own["columns"]):
        return None
    return of_one_column("annotate", own["columns"], row_columns(), kind)


@analytic(
    Work(ANY, Result.COLUMNS, columns=2), check=_check, work=_work, in_memory=_in_memory,
    local=_local, sums=_sums,
)  # fmt: skip
def annotate(
    graph: EdgeGraph,
    *columns: str,
    time: Label | None = None,
    within: Length | None = None,
    where: Triangles | None = None,
    out: str | PathLike[str] | None = None,
    force: bool = False,
    method: Method = "auto",
) -> Frame:
    """Add columns to the edge frame, all from one preparation.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge; the frame is not changed.
    *columns : str
        The columns to add, by their names in the tables below.
    time : label, optional
        A column of times, for columns of rows as of their time: see below.
    within : number, str, Timedelta, timedelta or timedelta64, optional
        How far back these columns look, as in `count`; by default to the first row.
    where : Triangles, optional
        Count only triangles of a kind: see `count`, and for trusses `trussness`. Of columns, it
        takes "triangles", "trussness" and "truss_community", as do `time` and `within` for short.
    out : path, optional
        A folder to write the rows to, as Parquet, in place of a frame that is given back: of
        `files.scan`, which may be larger than memory, and of datasets, tables of Arrow, DuckDB
        relations and lazy frames of Polars. The path is returned. The folder appears when all is
        written.
    force : bool, optional
        Replace the folder, if it is there.

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

        Columns of rows *as of their time*, all int64, tell what the row u -> v forms with earlier
        rows, so that later rows change none of their values. Earlier rows are those before it in
        the order of time, and at most `within` before; rows of equal time are in the order of the
        frame. Self loops are left out, and get 0:

        ================ =======================================================
        u_out            earlier rows u -> any vertex
        u_in             earlier rows any vertex -> u
        v_out            earlier rows v -> any vertex
        v_in             earlier rows any vertex -> v
        u_out_distinct   the distinct other ends of these rows, as the next
                         three: u_in_distinct, v_out_distinct, v_in_distinct
        pair_repeats     earlier rows u -> v
        pair_reversed    earlier rows v -> u
        triangles_closed vertices w with an earlier row between u and w, and one
                         between v and w, in any direction
        closed_cycle     those with v -> w and w -> u
        closed_middle    those with u -> w and w -> v: the row is the shortcut
        closed_in        those with u -> w and v -> w
        closed_out       those with w -> u and w -> v
        cycles_closed    those with a row v -> w before a row w -> u
        scatter_gather   squares a -> b -> d, a -> c -> d of which the row is one
                         side, and the other three sides are earlier rows
        ================ =======================================================

    Raises
    ------
    ValueError
        No column is named, or one that is unknown, named twice or in the frame already; or columns
        as of a time are named without `time`, or beside others; or `out` holds the files that are
        read, or lies among them. Other errors: see `Graph`.
    FileExistsError
        `out` is there, and is not empty.
    OSError
        `out` cannot be written, as if the disk is full. What was there stays.
    TypeError
        Columns of one machine, or in a folder, are asked of a Dask frame; or a folder of a frame
        whose own library writes it.
    CapacityError
        Rows in one window of time take more memory than there is.

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

    Columns as of a time cost a sort of the rows; those of triangles also a walk for each row over
    the earlier rows of the one of its two ends that has fewer; and "scatter_gather" a walk over the
    earlier rows of their other ends as well. Rows that do not fit in memory, and rows of a cluster,
    are cut by time; each part is counted with the earlier rows that its windows reach.
    `memory_estimate` is of columns of all rows.
    Blanuša et al., "Graph Feature Preprocessor: real-time subgraph-based feature extraction for
    financial crime detection" (2024), has features of this kind.

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
    >>> tc.annotate(df.assign(t=[1, 2, 3, 9]), "u_in", "cycles_closed", time="t", within=5)
       src  dst  t  u_in  cycles_closed
    0    0    1  1     0              0
    1    1    2  2     1              0
    2    2    0  3     1              1
    3    2    3  9     0              0
    """
    check_new(columns, graph.labels)
    counted = graph
    if name := _as_of_time(columns):
        if method != "auto":
            raise ValueError(f'method={method!r}: with "{name}" only method="auto" works')
        timed = _of_earlier_rows(columns, time, within)
        parts = iter([graph.as_of_columns(timed)]) if out is None else graph.as_of_parts(timed)
    else:
        asked: Sequence[Any] = columns
        if where is not None:
            require_auto(method, where)
            if columns == ("triangles",):
                asked = [of_kind("triangles", where.reading)]
            else:
                counted = counting_only(graph, where)
        if out is None:
            parts = iter([counted.row_columns(asked, method)])
        else:
            parts = counted.row_parts(asked, method)
    if out is None:
        return counted.assign(next(parts))
    graph.write(parts, out)
    return out


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
        fault = f"{function}(edges, {', '.join(map(repr, columns))}) names a column twice"
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
    if text and name in as_of.COLUMNS:
        return f'{no_column}, but one of rows: annotate(edges, "{name}", time=...)'
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
