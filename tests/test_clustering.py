"""Clustering of vertices, plain and weighted, its averages, and transitivity beside them."""

import math

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import reference
from checks import assert_columns, rows_of
from graphs import SMALL, dense_edge_lists, edge_frames, edge_lists
from hypothesis import example, given, settings
from hypothesis import strategies as st

import rapids_tc as tc

many = settings(max_examples=50, deadline=None)
fine = pytest.approx  # of floats that may differ in the last digits

WEIGHTS = st.one_of(st.floats(0, 1e3), st.sampled_from([0.0, 1.0, 1e-30, 1e30]))
TRIANGLE = [(0, 1), (1, 2), (2, 0), (2, 3)]


def frame_of(rows, columns=("src", "dst")):
    return pd.DataFrame(rows, columns=list(columns))


def weighted(rows, weights):
    return frame_of(rows).assign(w=weights)


def assert_clustering(frame, expected):
    """`frame` has these values by vertex, sorted by id."""
    assert_columns(frame, "vertex", "clustering")
    assert frame["clustering"].dtype == np.float64
    assert frame["vertex"].tolist() == sorted(expected)
    values = [expected[v] for v in sorted(expected)]
    assert frame["clustering"].tolist() == fine(values, rel=1e-12, abs=1e-12)


# Against the oracle and NetworkX ------------------------------------------------------------------


@many
@given(edges=edge_frames())
def test_raw_rows_of_any_dtype(backend, edges):
    rows = rows_of(edges)
    frame = backend.to_pandas(tc.clustering(backend.frame(edges)))
    assert_clustering(frame, reference.clustering(rows))


@many
@given(rows=st.one_of(edge_lists(), dense_edge_lists()), extra=st.lists(st.integers(-3, 20)))
def test_averages(backend, rows, extra):
    graph = tc.Graph(backend.frame(frame_of(rows)), vertices=extra)
    for count_zeros in (True, False):
        average = tc.average_clustering(graph, count_zeros=count_zeros)
        assert type(average) is float
        expected = reference.average_clustering(rows, extra, count_zeros=count_zeros)
        assert average == fine(expected, abs=1e-12, nan_ok=True)


@many
@given(rows=edge_lists(9, 50), data=st.data())
def test_weights(backend, rows, data):
    weights = data.draw(st.lists(WEIGHTS, min_size=len(rows), max_size=len(rows)))
    frame = weighted(rows, np.array(weights, "float64"))
    aggregate = data.draw(st.sampled_from([None, *reference.AGGREGATES]))
    call = {"weight": "w", "aggregate": aggregate, "source": "src", "destination": "dst"}
    valued = list(frame.itertuples(index=False, name=None))
    try:
        expected = reference.weighted_clustering(valued, aggregate=aggregate)
    except ValueError:
        with pytest.raises(ValueError, match=r"weight='w': the rows of the edge \d, \d say"):
            tc.clustering(backend.frame(frame), **call)
        return
    assert_clustering(backend.to_pandas(tc.clustering(backend.frame(frame), **call)), expected)
    for count_zeros in (True, False):
        own = {"aggregate": aggregate, "count_zeros": count_zeros}
        average = tc.average_clustering(backend.frame(frame), **call, count_zeros=count_zeros)
        right = reference.weighted_average_clustering(valued, **own)
        assert average == fine(right, abs=1e-12, nan_ok=True)


@many
@given(rows=edge_lists(), data=st.data())
@example(rows=TRIANGLE, data=None)
def test_networkx_agrees(backend, rows, data):
    edges = backend.frame(frame_of(rows))
    graph = nx.Graph(rows)
    if not graph:
        return
    found = backend.to_pandas(tc.clustering(edges))
    assert dict(rows_of(found, "vertex", "clustering")) == fine(nx.clustering(graph), abs=1e-12)
    chosen = data and data.draw(st.lists(st.sampled_from(sorted(graph)), min_size=1, unique=True))
    average = tc.average_clustering(edges, vertices=chosen)
    assert average == fine(nx.average_clustering(graph, nodes=chosen), abs=1e-12)
    if any(nx.clustering(graph).values()):
        average = tc.average_clustering(edges, count_zeros=False)
        assert average == fine(nx.average_clustering(graph, count_zeros=False), abs=1e-12)


@many
@given(rows=edge_lists(8, 60), data=st.data())
def test_networkx_agrees_on_weights(backend, rows, data):
    """Repeats in both directions among them; loops aside, whose weights NetworkX counts."""
    rows = [(u, v) for u, v in rows if u != v]
    weights = data.draw(st.lists(st.integers(0, 9), min_size=len(rows), max_size=len(rows)))
    graph = nx.Graph()
    for (u, v), w in zip(rows, weights, strict=True):
        graph.add_edge(u, v, weight=w)
    if not graph or not max(nx.get_edge_attributes(graph, "weight").values()):
        return
    frame = weighted(rows, weights)
    found = backend.to_pandas(tc.clustering(backend.frame(frame), weight="w", aggregate="last"))
    assert_clustering(found, nx.clustering(graph, weight="weight"))
    average = tc.average_clustering(backend.frame(frame), weight="w", aggregate="last")
    assert average == fine(nx.average_clustering(graph, weight="weight"), abs=1e-12)


@pytest.mark.parametrize("name", SMALL)
def test_equal_weights_are_no_weights(backend, name):
    frame = SMALL[name].frame()
    edges = backend.frame(frame.assign(w=np.float32(0.3)))
    plain = backend.to_pandas(tc.clustering(edges, source="src", destination="dst"))
    same = backend.to_pandas(tc.clustering(edges, weight="w"))
    assert_clustering(same, dict(rows_of(plain, "vertex", "clustering")))


# Weights ------------------------------------------------------------------------------------------


def test_the_last_of_repeated_rows_gives_the_weight_if_asked(backend):
    rows = [*TRIANGLE, (1, 0), (3, 2)]
    frame = weighted(rows, [7.0, 1.0, 8.0, 9.0, 27.0, 1.0])
    edges = backend.frame(frame)
    found = backend.to_pandas(tc.clustering(edges, weight="w", aggregate="last"))
    mean = (1 * 1 / 27 * 8 / 27) ** (1 / 3)
    assert_clustering(found, {0: mean, 1: mean, 2: mean / 3, 3: 0.0})


@pytest.mark.parametrize("ids", [(0, 1, 2), ("a", "b", "c")])
def test_rows_that_disagree_are_named(backend, ids):
    rows = [(ids[1], ids[0]), (ids[1], ids[2]), (ids[2], ids[0]), (ids[0], ids[2])]
    edges = backend.frame(weighted(rows, [7.0, 1.0, 8.0, 8.5]))
    message = rf"'w': the rows of the edge {ids[0]}, {ids[2]} say 8.0 and 8.5; aggregate="
    for graph in (edges, tc.Graph(edges, source="src", destination="dst")):
        with pytest.raises(ValueError, match=message):
            tc.clustering(graph, weight="w")
    found = backend.to_pandas(tc.clustering(edges, weight="w", aggregate="max"))
    assert found["clustering"].tolist() == fine([np.cbrt(7 * 8.5) / 8.5] * 3)


def test_aggregates_that_are_none(backend):
    edges = backend.frame(weighted(TRIANGLE, 1.0))
    for aggregate in ("median", 1, ["sum"]):
        with pytest.raises(ValueError, match=r'aggregate=.*accepted: "first", "last", "sum"'):
            tc.clustering(edges, weight="w", aggregate=aggregate)


def test_an_aggregate_is_of_weights(backend):
    edges = backend.frame(weighted(TRIANGLE, 1.0))
    for function in (tc.clustering, tc.average_clustering):
        with pytest.raises(ValueError, match="aggregate='sum' is about weights: give weight="):
            function(edges, aggregate="sum", source="src", destination="dst")


def test_a_loops_weight_is_not_the_largest(backend):
    frame = weighted([*TRIANGLE, (3, 3)], [2, 2, 2, 2, 1000])
    found = backend.to_pandas(tc.clustering(backend.frame(frame), weight="w"))
    assert_clustering(found, {0: 1.0, 1: 1.0, 2: 1 / 3, 3: 0.0})


@pytest.mark.parametrize("aggregate", ["min", "max"])
def test_the_least_and_largest_weight_are_exact(backend, aggregate):
    """CuPy has them of float64 in float32."""
    weights = [1.0, 1.0 + 2**-30, 1.0 - 2**-31, 1e-60] * 2
    frame = weighted(TRIANGLE * 2, np.array(weights)).assign(g=[0, 0, 0, 1] * 2)
    rows = list(frame[["src", "dst", "w"]].itertuples(index=False, name=None))
    call = {"weight": "w", "aggregate": aggregate, "source": "src", "destination": "dst"}
    found = backend.to_pandas(tc.clustering(backend.frame(frame), **call))
    assert_clustering(found, reference.weighted_clustering(rows, aggregate=aggregate))
    found = backend.to_pandas(tc.clustering(backend.frame(frame[frame.g == 0]), by="g", **call))
    expected = reference.weighted_clustering(rows[:3], aggregate=aggregate)
    assert found["clustering"].tolist() == fine([*expected.values()], rel=1e-12)


def test_weights_of_zero(backend):
    frame = weighted(TRIANGLE, [0, 0, 0, 0])
    found = backend.to_pandas(tc.clustering(backend.frame(frame), weight="w"))
    assert_clustering(found, dict.fromkeys(range(4), 0.0))


@pytest.mark.parametrize("dtype", ["int8", "uint64", "float32", "float64"])
def test_weights_of_any_number_dtype(backend, dtype):
    frame = weighted(TRIANGLE, np.array([1, 8, 27, 64], dtype))
    found = backend.to_pandas(tc.clustering(backend.frame(frame), weight="w"))
    expected = reference.weighted_clustering(list(frame.itertuples(index=False, name=None)))
    assert_clustering(found, expected)


@pytest.mark.pandas_only
@pytest.mark.parametrize(
    "dtype", ["Int64", "UInt8", "Float32", "int64[pyarrow]", "double[pyarrow]"]
)
def test_weights_of_nullable_dtypes(backend, dtype):
    frame = weighted(TRIANGLE, pd.array([1, 8, 27, 64], dtype=dtype))
    plain = weighted(TRIANGLE, [1, 8, 27, 64])
    assert tc.clustering(frame, weight="w").equals(tc.clustering(plain, weight="w"))
    with pytest.raises(ValueError, match=r"1 of the weights.*row 2"):
        tc.clustering(weighted(TRIANGLE, pd.array([1, 8, None, 64], dtype=dtype)), weight="w")


@pytest.mark.parametrize(
    ("weights", "row"),
    [
        ([1.0, -1.0, 1.0, 1.0], 1),
        ([1.0, 1.0, 1.0, math.nan], 3),
        ([math.inf, 1.0, 1.0, 1.0], 0),
        ([1, -1, 1, 1], 1),
    ],
)
def test_weights_that_cannot_be_used(backend, weights, row):
    edges = backend.frame(weighted(TRIANGLE, weights))
    with pytest.raises(ValueError, match=rf"'w'.*1 of the weights .*row {row}\b"):
        tc.clustering(edges, weight="w")


@pytest.mark.parametrize("values", [list("abcd"), [True, False, True, True]])
def test_weights_that_are_no_numbers(backend, values):
    with pytest.raises(ValueError, match="dtype"):
        tc.clustering(backend.frame(weighted(TRIANGLE, values)), weight="w")


def test_a_missing_column_of_weights_lists_those_present(backend):
    edges = backend.frame(weighted(TRIANGLE, 1.0))
    with pytest.raises(tc.ColumnNotFoundError, match=r"weight='nope'.*'src', 'dst', 'w'"):
        tc.clustering(edges, weight="nope")
    with pytest.raises(tc.ColumnNotFoundError, match="nope"):
        tc.clustering(tc.Graph(edges), weight="nope")


@pytest.mark.pandas_only
def test_only_the_weights_are_read(backend):
    bad = pd.Series([object()] * 4)
    frame = weighted(TRIANGLE, [1.0, 8.0, 27.0, 64.0]).assign(other=bad)
    found = tc.clustering(frame, weight="w")
    pd.testing.assert_frame_equal(found, tc.clustering(frame.drop(columns="other"), weight="w"))


def test_weights_have_one_way(backend):
    edges = backend.frame(weighted(TRIANGLE, 1.0))
    with pytest.raises(ValueError, match="method"):
        tc.clustering(edges, weight="w", method="bitmap")


# Vertices, and nothing ----------------------------------------------------------------------------


def test_vertices_select_in_the_order_given(backend):
    edges = backend.frame(weighted(TRIANGLE, 1.0))
    for weight in (None, "w"):
        frame = tc.clustering(edges, vertices=[3, 0, 2, 0], weight=weight)
        frame = backend.to_pandas(frame)
        assert frame["vertex"].tolist() == [3, 0, 2, 0]
        assert frame["clustering"].tolist() == fine([0.0, 1.0, 1 / 3, 1.0])
    assert tc.average_clustering(edges, vertices=[3, 0, 2, 0]) == fine(4 / 9)
    assert tc.average_clustering(edges, vertices=[3, 0], count_zeros=False) == 1.0
    assert math.isnan(tc.average_clustering(edges, vertices=[3], count_zeros=False))
    assert math.isnan(tc.average_clustering(edges, vertices=[]))
    for function in (tc.clustering, tc.average_clustering):
        with pytest.raises(ValueError, match="99"):
            function(edges, vertices=[0, 99])


def test_isolated_vertices_count_as_0(backend):
    graph = tc.Graph(backend.frame(frame_of([(0, 1), (1, 2), (2, 0)])), vertices=[9])
    assert backend.to_pandas(tc.clustering(graph))["clustering"].tolist() == [1.0, 1.0, 1.0, 0.0]
    assert tc.average_clustering(graph) == 0.75


@pytest.mark.parametrize("dtype", ["int64", "uint8", "str", "float64"])
def test_no_rows(backend, dtype):
    frame = pd.DataFrame({"src": [], "dst": []}).astype(dtype).assign(w=pd.Series([], dtype=dtype))
    edges = backend.frame(frame)
    for weight in (None, "w"):
        found = backend.to_pandas(
            tc.clustering(edges, weight=weight, source="src", destination="dst")
        )
        assert_columns(found, "vertex", "clustering")
        assert (len(found), found["clustering"].dtype) == (0, np.float64)
    assert math.isnan(tc.average_clustering(edges))
    assert math.isnan(tc.average_clustering(edges, count_zeros=False))


def test_only_loops(backend):
    edges = backend.frame(weighted([(4, 4), (5, 5)], 1.0))
    for weight in (None, "w"):
        found = backend.to_pandas(tc.clustering(edges, weight=weight))
        assert_clustering(found, {4: 0.0, 5: 0.0})
    assert tc.average_clustering(edges) == 0.0
