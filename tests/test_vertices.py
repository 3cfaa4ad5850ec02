"""Several measures of vertices at once: by their definitions, by NetworkX and by igraph."""

import logging
from math import nan

import every_path
import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import reference
from every_path import PATHS, Path
from graphs import edge_lists
from hypothesis import given, settings
from needs import need_module

import rapids_tc as tc
from rapids_tc.plan.block_layout import BlockLayout
from rapids_tc.plan.record import vertex_columns

pytestmark = pytest.mark.cpu_only
COLUMNS = tuple(vertex_columns())


def frame_of(rows):
    return pd.DataFrame(rows, columns=["src", "dst"], dtype="int64")


def simple(rows):
    """NetworkX's graph of the rows: a loop drops out, and its vertex stays."""
    graph = nx.Graph([(u, v) for u, v in rows if u != v])
    graph.add_nodes_from(v for row in rows for v in row)
    return graph


@settings(max_examples=40, deadline=None)
@given(rows=edge_lists())
def test_any_graph(rows):
    """Also with reversed and repeated rows."""
    found = tc.annotate_vertices(frame_of(rows + [(v, u) for u, v in rows[::2]]), *COLUMNS)
    expected = reference.annotate_vertices(rows, COLUMNS)
    assert found["vertex"].tolist() == sorted(expected)
    for row in found.itertuples(index=False, name=None):
        assert row[1:] == pytest.approx(expected[row[0]], rel=1e-12, nan_ok=True)
    assert [str(dtype) for dtype in found.dtypes[1:]] == [
        column.dtype for column in vertex_columns().values()
    ]


def test_networkx_agrees():
    graph = nx.gnm_random_graph(60, 300, seed=5)
    graph.add_edges_from([(60, 61), (61, 62)])
    graph.add_node(63)
    prepared = tc.Graph(nx.to_pandas_edgelist(graph), vertices=list(graph))
    found = prepared.annotate_vertices(*COLUMNS).set_index("vertex")
    others = {
        "degree": dict(graph.degree),
        "triangles": nx.triangles(graph),
        "clustering": nx.clustering(graph),
        "trussness": {
            v: max((k for k in range(2, 9) if v in nx.k_truss(graph, k)), default=0) if d else 0
            for v, d in graph.degree
        },
        "effective_size": nx.effective_size(graph),
        "constraint": nx.constraint(graph),
    }
    for name, expected in others.items():
        values = [expected[v] for v in found.index]
        assert found[name].tolist() == pytest.approx(values, rel=1e-9, nan_ok=True), name


def test_igraph_agrees_on_the_constraint():
    igraph = need_module("igraph")
    graph = nx.gnm_random_graph(200, 1500, seed=6)
    found = tc.Graph(nx.to_pandas_edgelist(graph), vertices=list(graph)).annotate_vertices(
        "constraint"
    )
    expected = igraph.Graph(200, list(graph.edges)).constraint()
    assert found["constraint"].tolist() == pytest.approx(expected, rel=1e-12, nan_ok=True)


@pytest.mark.parametrize(
    ("rows", "closure"),
    [
        ([(0, 0)], [nan]),
        ([(0, 1)], [0.0, 0.0]),  # no path of two edges begins at either
        ([(0, 1), (1, 2)], [0.0, 0.0, 0.0]),
        ([(0, 1), (1, 2), (2, 0)], [1.0, 1.0, 1.0]),
        ([(0, 1), (1, 2), (2, 0), (2, 3)], [2 / 3, 2 / 3, 1.0, 0.0]),
    ],
)
def test_the_closure_of_small_graphs(rows, closure):
    found = tc.annotate_vertices(frame_of(rows), "closure")["closure"].tolist()
    assert found == pytest.approx(closure, nan_ok=True)


def test_columns_come_in_the_order_of_the_call():
    found = tc.annotate_vertices(frame_of([(0, 1)]), "triangles", "degree")
    assert found.columns.tolist() == ["vertex", "triangles", "degree"]


def test_chosen_vertices():
    frame = frame_of([(5, 3), (3, 9), (9, 5), (9, 1)])
    found = tc.annotate_vertices(frame, "degree", "trussness", vertices=[9, 1, 9])
    assert found.to_numpy().tolist() == [[9, 3, 3], [1, 1, 2], [9, 3, 3]]
    with pytest.raises(ValueError, match="7"):
        tc.annotate_vertices(frame, "degree", vertices=[9, 7])


def test_groups_and_ids_of_several_columns():
    rows = [(0, 1), (1, 2), (2, 0), (0, 1), (1, 3)]
    frame = frame_of(rows).assign(day=["a", "a", "a", "b", "b"], port=7)
    found = tc.annotate_vertices(frame, *COLUMNS, by="day", source="src", destination="dst")
    parts = [
        tc.annotate_vertices(part[["src", "dst"]], *COLUMNS).assign(day=day)
        for day, part in frame.groupby("day")
    ]
    together = pd.concat(parts, ignore_index=True)[["day", "vertex", *COLUMNS]]
    pd.testing.assert_frame_equal(found, together, check_dtype=False)
    pairs = {"source": ["src", "port"], "destination": ["dst", "gate"]}
    wide = tc.annotate_vertices(frame.assign(gate=7), "degree", "closure", **pairs)
    assert wide.columns.tolist() == ["vertex_src", "vertex_port", "degree", "closure"]
    assert wide["degree"].tolist() == [2, 3, 2, 1]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ((), r"annotate_vertices\(edges\) names no column.*name each of.*'degree'"),
        (("degree", "degree"), "names a column twice"),
        (("degrees",), "did you mean 'degree'"),
        (("jaccard",), r'one of rows: annotate\(edges, "jaccard"\)'),
        (("bitruss",), r'one of rows: annotate\(edges, "bitruss"\)'),
        ((["degree", "closure"],), r"follow one another.*annotate_vertices\(edges, 'degree', "),
        ((3,), "3 is no column that annotate_vertices adds"),
    ],
)
def test_names_that_are_no_columns(columns, message):
    with pytest.raises(ValueError, match=message):
        tc.annotate_vertices(frame_of([(0, 1)]), *columns)


def test_a_column_of_vertices_is_none_of_rows():
    with pytest.raises(ValueError, match=r'one of vertices: annotate_vertices\(edges, "degree"\)'):
        tc.annotate(frame_of([(0, 1)]), "degree")


def test_trussness_in_blocks_and_on_a_cluster(caplog):
    """Beside other columns and alone, of graphs that are peeled whole and in blocks."""
    frame = frame_of(np.random.default_rng(0).integers(0, 300, (4000, 2)))
    expected = tc.annotate_vertices(frame, "degree", "trussness")
    with caplog.at_level(logging.INFO, "rapids_tc"):
        found = tc.annotate_vertices(frame, "degree", "trussness", memory_limit=200_000)
    assert "counted in" in caplog.text
    pd.testing.assert_frame_equal(found, expected)
    right = every_path.expected("annotate_vertices", {"columns": ("trussness",), "vertices": None})
    chosen = ("3 x 3 blocks", "7 partitions", "7 partitions, 3 x 3 blocks to the end")
    by_range = Path(7, BlockLayout(2, 1, peel_below=0, ranges=3))
    for path in (*map(PATHS.get, chosen), by_range):
        for columns in (("trussness",), ("triangles", "trussness")):
            found = path.call("annotate_vertices", {"columns": columns})
            found = pd.concat(found.partitions) if path.partitions else found
            assert found["trussness"].dtype == "int32"
            assert [*zip(found["vertex"], found["trussness"], strict=True)] == right


@pytest.mark.parametrize("convert", [pl.from_pandas, pa.Table.from_pandas])
def test_what_has_no_value_is_nan_and_no_null(convert):
    """A mean passes over nulls in silence."""
    edges = convert(frame_of([(1, 2), (2, 3), (3, 1), (4, 4)]).assign(g=[1, 1, 1, 2]))
    ids = {"source": "src", "destination": "dst"}
    measured = pa.table(tc.annotate_vertices(edges, "closure", "effective_size", **ids))
    for values in measured.columns[1:]:
        assert values.null_count == 0 and np.isnan(values).tolist() == [False, False, False, True]
    means = pa.table(tc.average_clustering(edges, by="g", count_zeros=False, **ids))
    assert str(means.to_pydict()) == "{'g': [1, 2], 'average_clustering': [1.0, nan]}"
