"""Calls whose types `test_type_checkers.py` asks mypy and pyright for; nobody runs them.

The comments on wrong calls are checked, too: one that hides no error is an error itself.
"""

from collections.abc import Iterator
from typing import Any, assert_type

import dask.dataframe as dd
import duckdb
import narwhals as nw
import numpy as np
import numpy.typing as npt
import pandas as pd
import polars as pl

import rapids_tc as tc


class Matrix:
    """What a sparse matrix has."""

    def tocoo(self, copy: bool = False) -> Any: ...


def pandas(df: pd.DataFrame) -> None:
    assert_type(tc.count(df), int)
    assert_type(tc.count(df, by="day"), pd.DataFrame)
    assert_type(tc.count(df, time="t", within=pd.Timedelta("1h"), by=["day", "city"]), pd.DataFrame)
    assert_type(df.pipe(tc.count), int)
    assert_type(df.pipe(tc.k_truss, 4), pd.DataFrame)
    assert_type(tc.edge_triangles(df), "pd.Series[Any]")
    assert_type(tc.annotate(df, "triangles", "jaccard"), pd.DataFrame)
    assert_type(tc.transitivity(df, directed=True), float)
    assert_type(tc.approximate_count(df, colors=4, seed=1), tc.Estimate)
    assert_type(tc.triad_counts(df), pd.DataFrame)
    assert_type(tc.iter_triangles(df, max_rows=10), Iterator[pd.DataFrame])
    assert_type(tc.iter_project(df, max_rows=10, side="destination"), Iterator[pd.DataFrame])
    assert_type(tc.truss_hierarchy(df), pd.DataFrame)
    assert_type(tc.memory_estimate(df, function="trussness"), dict[str, int])
    assert_type(tc.datasets.karate(), Any)
    assert_type(tc.files.read_edges("edges.csv"), tc.files.EdgeFile)


def other_libraries(
    frame: pl.DataFrame,
    lazy: pl.LazyFrame,
    parts: dd.DataFrame,
    wrapped: nw.DataFrame[pd.DataFrame],
    relation: duckdb.DuckDBPyRelation,
    df: pd.DataFrame,
) -> None:
    assert_type(frame.pipe(tc.count), int)
    assert_type(tc.trussness(frame), pl.Series)
    assert_type(tc.triad_counts(frame), pl.DataFrame)
    assert_type(tc.similarity(df, measure="cosine", pairs=frame), pl.Series)
    assert_type(tc.k_truss(lazy, "max"), pl.LazyFrame)
    assert_type(tc.clustering(parts), dd.DataFrame)
    assert_type(tc.simple_edges(wrapped), nw.DataFrame[pd.DataFrame])
    assert_type(tc.count(relation), int)
    assert_type(tc.k_truss(relation, 3), Any)


def arrays(ids: npt.NDArray[np.int64], weights: npt.NDArray[np.float64], matrix: Matrix) -> None:
    assert_type(tc.count((ids, ids)) + tc.count(ids) + tc.count(matrix), int)
    assert_type(tc.count(edge_index=ids), int)
    assert_type(tc.edge_triangles((ids, ids)), npt.NDArray[np.int64])
    assert_type(tc.annotate("triangles", edge_index=ids), dict[str, npt.NDArray[np.int64]])
    assert_type(tc.triad_counts(ids), dict[str, npt.NDArray[np.int64]])
    assert_type(tc.vertex_triangles(matrix), dict[str, Any])
    assert_type(tc.Graph(ids).count() + tc.Graph(edge_index=ids).count(), int)
    tc.clustering((ids, ids), weight=weights)
    tc.memory_estimate(edge_index=ids)


def graphs(df: pd.DataFrame, lazy: pl.LazyFrame, graph: tc.Graph[pd.DataFrame]) -> None:
    assert_type(tc.Graph(df), tc.Graph[pd.DataFrame])
    assert_type(tc.count(graph) + graph.count() + graph.n_edges, int)
    assert_type(graph.edge_triangles(), "pd.Series[Any]")
    assert_type(tc.Graph(lazy).k_truss(3), pl.DataFrame)
    assert_type(graph.memory_estimate(), dict[str, int])
    assert_type(tc.Graph(df, by="day").count(), pd.DataFrame)
    assert_type(tc.count(tc.Graph(df, by="day")), pd.DataFrame)


def wrong(df: pd.DataFrame, lazy: pl.LazyFrame, graph: tc.Graph[pd.DataFrame]) -> None:
    tc.similarity(df, measure="jacard")  # type: ignore
    tc.truss_communities(df, 3, connected="vertices")  # type: ignore
    tc.balance(df, sign="s", per="edge")  # type: ignore
    tc.clustering(df, weight="w", aggregate="median")  # type: ignore
    tc.count(df, engine="gpu")  # type: ignore
    tc.count(df, method="polack")  # type: ignore
    tc.count(df, within=[1])  # type: ignore
    tc.count(df, sorce="a")  # type: ignore
    tc.count(df, "src", "dst")  # type: ignore
    tc.count("edges.csv")  # type: ignore
    tc.k_truss(df)  # type: ignore
    tc.k_truss(df, "maximum")  # type: ignore
    tc.edge_triangles(lazy)  # type: ignore
    tc.count(df, edge_index=df)  # type: ignore
    tc.count()  # type: ignore
    tc.vertex_triangles(df, vertices=5)  # type: ignore
    tc.memory_estimate(df, function="trusness")  # type: ignore
    graph.count(by="day")  # type: ignore
    graph.trusness()  # type: ignore
    tc.trusness(df)  # type: ignore
    tc.Graph("edges.csv")  # type: ignore
    len(tc.count(df))  # type: ignore
