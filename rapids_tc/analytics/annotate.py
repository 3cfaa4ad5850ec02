"""Several columns of an edge frame from one preparation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rapids_tc.analytics.similarity import FORMULAS, MEASURES
from rapids_tc.frames.device import placed
from rapids_tc.graphs.in_memory import as_graph
from rapids_tc.graphs.protocol import EdgeGraph, Formula
from rapids_tc.graphs.resolve import resolve_graph

_COLUMNS = ("triangles", "trussness", *MEASURES)


@placed
def annotate(
    edges: Any,
    *columns: str,
    source: Any = None,
    destination: Any = None,
    engine: str | None = None,
    method: str = "auto",
    progress: bool | None = None,
    memory_limit: int | None = None,
) -> Any:
    """Add columns to the edge frame, all from one preparation.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row an edge; it is not changed.
    *columns : str
        What to add; the names are those of the table.
    source, destination, engine, method, progress, memory_limit
        See `count`.

    Returns
    -------
    DataFrame
        The user's rows and columns, index included, and behind them

        ========= ======= =======================================
        triangles int64   as `edge_triangles`
        trussness int32   as `trussness`
        jaccard   float64 as `similarity`, as are the next three
        overlap   float64
        sorensen  float64
        cosine    float64
        ========= ======= =======================================

    Raises
    ------
    ValueError
        No column, an unknown one, the same twice, or one that the frame has already.
        Further: see `Graph`.

    Notes
    -----
    Cost: that of `edge_triangles`, or of `trussness`, whatever the number of columns.

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
    check_names(columns)
    given: dict[str, Any] = {
        "source": source, "destination": destination, "engine": engine, "progress": progress,
        "memory_limit": memory_limit, "function": "annotate", "method": method,
        "columns": len(columns),
    }  # fmt: skip
    known: dict[str, Formula] = {**FORMULAS, "triangles": lambda xp, common, ends: common}
    graph: EdgeGraph
    if "trussness" in columns:
        graph = whole = as_graph(edges, **given)
        known["trussness"] = lambda xp, common, ends: whole.trussness
    else:
        graph = resolve_graph(edges, **given)
    check_new(columns, graph.labels)
    return graph.assign(graph.row_columns({name: known[name] for name in columns}, method))


def check_names(columns: tuple[Any, ...]) -> None:
    """Raise ValueError unless these are columns that can be added, each named once."""
    unknown = [c for c in columns if not isinstance(c, str) or c not in _COLUMNS]
    if unknown or not columns or len(set(columns)) < len(columns):
        raise ValueError(f"columns={list(columns)!r}: name each of {list(_COLUMNS)} at most once")


def check_new(columns: Iterable[str], labels: list[Any], of: str = "the frame") -> None:
    """Raise ValueError where the frame has one of the columns."""
    clash = [c for c in columns if c in labels]
    if clash:
        raise ValueError(f"{of} has a column {clash[0]!r} already: rename or drop it first")
