"""Many columns at once, all from one preparation."""

from collections import Counter
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
import reference
from checks import rows_of
from graphs import ROWS, TRIANGLES, edge_frames, small
from hypothesis import given, settings

import rapids_tc as tc
from rapids_tc.analytics.similarity import MEASURES
from rapids_tc.engines import registry

COLUMNS = ["triangles", "trussness", *MEASURES]


@contextmanager
def counted_calls():
    """How often each entry point of the engine is called inside the block."""
    calls = Counter()
    load = registry.load

    class Counting:
        def __init__(self, engine):
            self.engine = engine

        def __getattr__(self, name):
            calls[name] += 1
            return getattr(self.engine, name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "load", lambda name: Counting(load(name)))
        yield calls


def column_of(rows, name):
    """The oracle's column of raw rows."""
    if name == "triangles":
        return reference.by_row(rows, reference.edge_triangles(rows))
    if name == "trussness":
        return reference.by_row(rows, reference.trussness(rows))
    return reference.by_row(rows, reference.similarity(rows, name))


@settings(max_examples=50, deadline=None)
@given(edges=edge_frames())
def test_all_columns_of_any_frame(backend, edges):
    if not len(edges):
        return
    rows = rows_of(edges)
    wide = backend.to_pandas(tc.annotate(backend.frame(edges), *COLUMNS))
    assert list(wide.columns) == ["src", "dst", *COLUMNS]
    assert [wide[name].dtype for name in COLUMNS] == [np.int64, np.int32] + [np.float64] * 8
    for name in COLUMNS:
        assert wide[name].tolist() == pytest.approx(column_of(rows, name), abs=1e-12)


def test_columns_stand_in_the_order_asked_for(backend):
    wide = backend.to_pandas(tc.annotate(backend.frame(small()), "cosine", "triangles"))
    assert list(wide.columns) == ["src", "dst", "cosine", "triangles"]
    assert wide["triangles"].tolist() == TRIANGLES


def test_each_column_is_that_of_its_function(backend):
    edges = backend.frame(small())
    wide = backend.to_pandas(tc.annotate(edges, *COLUMNS))
    pd.testing.assert_series_equal(wide["triangles"], backend.to_pandas(tc.edge_triangles(edges)))
    pd.testing.assert_series_equal(wide["trussness"], backend.to_pandas(tc.trussness(edges)))
    for measure in COLUMNS[2:]:
        alone = backend.to_pandas(tc.similarity(edges, measure=measure))
        pd.testing.assert_series_equal(wide[measure], alone)


def laid_out(backend):
    """How many layouts are made: small graphs need none on a GPU."""
    return {"prepare": int(backend.name == "pandas")}


def test_one_preparation_and_one_count_for_all_columns(backend):
    edges = backend.frame(small())
    with counted_calls() as calls:
        tc.annotate(edges, *COLUMNS)
    dear = {"csr": 1, "prepare": 1, "edge_counts": 1, "truss": 1, "row_values": 1}
    assert {name: calls[name] for name in dear} == dear
    assert not calls["count"]


def test_a_graph_counts_its_edges_once(backend):
    with counted_calls() as calls:
        graph = tc.Graph(backend.frame(small()))
        tc.edge_triangles(graph)
        tc.similarity(graph, measure="cosine")
        tc.annotate(graph, "jaccard", "trussness")
        tc.trussness(graph)
        tc.k_truss(graph, "max")
        tc.clustering(graph)
        tc.average_clustering(graph)
        tc.vertex_triangles(graph)
        assert tc.count(graph) == reference.count(ROWS)
        tc.triad_counts(graph)
        tc.transitivity(graph)
    dear = {"csr": 1, **laid_out(backend), "edge_counts": 1, "truss": 1}
    assert {name: calls[name] for name in dear} == dear
    assert not calls["count"]


@pytest.mark.parametrize("columns", [(), ("jaccard", "jaccard"), ("triangles", "dice")])
def test_columns_are_named_once_each(backend, columns):
    with pytest.raises(ValueError, match=r"jaccard.*cosine"):
        tc.annotate(backend.frame(small()), *columns)


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_of_the_frame_is_not_overwritten(backend, name):
    with pytest.raises(ValueError, match=name):
        tc.annotate(backend.frame(small().assign(**{name: 7})), *COLUMNS)


@pytest.mark.filterwarnings("error")  # pandas 3.1 warns of labels shorter than the others
def test_annotate_keeps_the_columns_index_and_the_attributes():
    columns = pd.MultiIndex.from_tuples([("a", "x"), ("a", "y"), ("b", "z")])
    frame = pd.DataFrame([[0, 1, 5], [1, 2, 6], [2, 0, 7]], columns=columns)
    frame.attrs["from"] = "somewhere"
    wide = tc.annotate(frame, "triangles", source=("a", "x"), destination=("a", "y"))
    assert isinstance(wide.columns, pd.MultiIndex)
    assert wide.columns[-1] == ("triangles", "")
    assert wide["triangles"].tolist() == [1, 1, 1] and wide.attrs == frame.attrs
    assert list(frame.columns) == list(columns)
    ends = {"source": ("a", "x"), "destination": ("a", "y")}
    with pytest.raises(ValueError, match="has a column 'triangles' already"):
        tc.annotate(wide, "triangles", **ends)
    with pytest.raises(ValueError, match="has a column 'community' already"):
        tc.truss_communities(wide.rename(columns={"triangles": "community"}), 3, **ends)


def test_a_list_of_columns_is_told_how():
    with pytest.raises(ValueError, match="triangles"):
        tc.annotate(pd.DataFrame({"src": [0], "dst": [1]}), ["triangles"])
