"""`Graph`, prepared once and asked many times, and `vertices=`, which selects or adds."""

import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_all_start_methods

import numpy as np
import pandas as pd
import pytest
from checks import assert_column, assert_columns
from graphs import ROWS, SMALL, TRIANGLES, small

import rapids_tc as tc

pandas_only = pytest.mark.pandas_only


# vertices= ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [list, tuple, np.array, pd.Series, pd.Index])
def test_vertices_select_in_the_order_given(backend, kind):
    edges = backend.frame(small())
    chosen = kind([9, 7, 1, 9, 7])
    frame = backend.to_pandas(tc.vertex_triangles(edges, vertices=chosen))
    assert_columns(frame, "vertex", "triangles")
    assert frame["vertex"].tolist() == [9, 7, 1, 9, 7]
    assert frame["triangles"].tolist() == [1, 0, 1, 1, 0]
    assert [dtype.name for dtype in frame.dtypes] == ["int64", "int64"]


def test_vertices_of_the_frames_own_library(backend):
    edges = backend.frame(small())
    frame = backend.to_pandas(tc.vertex_triangles(edges, vertices=edges["dst"]))
    right = {1: 1, 2: 0, 5: 1, 7: 0, 9: 1}
    assert frame["vertex"].tolist() == small()["dst"].tolist()
    assert frame["triangles"].tolist() == [right[v] for v in small()["dst"]]


def test_no_vertices_chosen(backend):
    frame = backend.to_pandas(tc.vertex_triangles(backend.frame(small()), vertices=[]))
    assert_columns(frame, "vertex", "triangles")
    assert (len(frame), frame["triangles"].dtype) == (0, np.int64)


def test_unknown_vertices_are_listed_up_to_five(backend):
    edges = backend.frame(small())
    with pytest.raises(ValueError) as caught:
        tc.vertex_triangles(edges, vertices=[9, 1111, 5, 2222])
    assert "1111" in str(caught.value) and "2222" in str(caught.value)
    with pytest.raises(ValueError) as caught:
        tc.vertex_triangles(edges, vertices=[1, *range(1111, 10000, 1111)])
    assert sum(str(v) in str(caught.value) for v in range(1111, 10000, 1111)) == 5


def test_unknown_strings_are_listed(backend):
    edges = backend.frame({"src": ["a", "b"], "dst": ["b", "c"]})
    with pytest.raises(ValueError, match="nobody"):
        tc.vertex_triangles(edges, vertices=["a", "nobody"])


# Graph --------------------------------------------------------------------------------------------


def test_a_graph_answers_like_its_frame(backend):
    edges = backend.frame(small().set_axis(list("abcdef"), axis=0))
    graph = tc.Graph(edges)
    for _ in range(2):
        assert (graph.n_vertices, graph.n_edges) == (5, 4)
        assert type(graph.n_vertices) is type(graph.n_edges) is int
        assert tc.count(graph) == 1
        assert tc.transitivity(graph) == tc.transitivity(edges) == pytest.approx(3 / 5)
        for function in (tc.vertex_triangles, tc.simple_edges):
            pd.testing.assert_frame_equal(
                backend.to_pandas(function(graph)), backend.to_pandas(function(edges))
            )
        pd.testing.assert_series_equal(
            backend.to_pandas(tc.edge_triangles(graph)), backend.to_pandas(tc.edge_triangles(edges))
        )


def test_a_graph_is_of_its_frames_library(backend):
    edges = backend.frame(small())
    graph = tc.Graph(edges)
    assert type(tc.vertex_triangles(graph)) is type(edges)
    assert type(tc.simple_edges(graph)) is type(edges)
    assert type(tc.edge_triangles(graph)) is type(edges["src"])


def test_isolated_vertices(backend):
    graph = tc.Graph(backend.frame(small()), vertices=[100, 9, -3, 100])
    assert (graph.n_vertices, graph.n_edges, tc.count(graph)) == (7, 4, 1)
    frame = backend.to_pandas(tc.vertex_triangles(graph))
    assert frame["vertex"].tolist() == [-3, 1, 2, 5, 7, 9, 100]
    assert frame["triangles"].tolist() == [0, 1, 0, 1, 0, 1, 0]
    chosen = backend.to_pandas(tc.vertex_triangles(graph, vertices=[100, 1]))
    assert chosen["triangles"].tolist() == [0, 1]
    assert len(backend.to_pandas(tc.simple_edges(graph))) == 4


def test_isolated_vertices_alone(backend):
    graph = tc.Graph(backend.frame(small().head(0)), vertices=[4, 2])
    assert (graph.n_vertices, graph.n_edges, tc.count(graph)) == (2, 0, 0)
    frame = backend.to_pandas(tc.vertex_triangles(graph))
    assert frame["vertex"].tolist() == [2, 4]
    assert tc.transitivity(graph) == 0.0


def test_isolated_strings(backend):
    names = small().replace(dict(zip(range(10), "abcdefghij", strict=True))).astype("str")
    graph = tc.Graph(backend.frame(names), vertices=["zoe", "b"])
    assert backend.to_pandas(tc.vertex_triangles(graph))["vertex"].tolist() == [
        *("b", "c", "f", "h", "j", "zoe")
    ]


def test_isolated_vertices_of_nulls_or_another_kind_are_refused(backend):
    with pytest.raises(tc.NullIdError):
        tc.Graph(backend.frame(small()), vertices=[1.0, None])
    with pytest.raises(tc.IdTypeError):
        tc.Graph(backend.frame(small()), vertices=["a"])
    with pytest.raises(tc.IdTypeError):
        tc.Graph(backend.frame(small()), vertices=[0.5])


def test_a_graph_is_pickled(backend):
    for frame in (small(), small().replace({1: 2**40}).astype("uint64"), small().astype("str")):
        graph = tc.Graph(backend.frame(frame), vertices=frame["src"].tolist())
        again = pickle.loads(pickle.dumps(graph))
        assert (again.n_vertices, again.n_edges) == (graph.n_vertices, graph.n_edges)
        assert tc.count(again) == 1
        for function in (tc.vertex_triangles, tc.simple_edges, tc.edge_triangles):
            one, two = backend.to_pandas(function(again)), backend.to_pandas(function(graph))
            assert one.equals(two)


def test_a_graph_does_not_follow_later_changes_of_its_frame(backend):
    edges = backend.frame(small())
    graph = tc.Graph(edges)
    edges["dst"] = edges["src"]
    edges.iloc[0, 0] = 77
    edges.index = list("abcdef")
    assert tc.count(graph) == 1
    assert backend.to_pandas(tc.vertex_triangles(graph))["vertex"].tolist() == [1, 2, 5, 7, 9]
    sides = backend.to_pandas(tc.edge_triangles(graph))
    assert_column(sides, "triangles", np.int64, pd.RangeIndex(6), TRIANGLES)


@pandas_only
def test_a_graph_does_not_follow_the_array_below_its_frame(backend):
    array = np.array(ROWS)
    graph = tc.Graph(pd.DataFrame(array, columns=["src", "dst"], copy=False))
    array[:] = 0
    assert tc.count(graph) == 1
    assert tc.edge_triangles(graph).tolist() == TRIANGLES
    assert tc.vertex_triangles(graph)["vertex"].tolist() == [1, 2, 5, 7, 9]


def test_many_threads_ask_at_once(backend):
    frames = {name: backend.frame(known.frame()) for name, known in SMALL.items()}
    shared = tc.Graph(frames["K9"])

    def ask(name):
        return tc.count(frames[name]), tc.count(shared)

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, list(SMALL) * 6))
    assert answers == [(known.triangles, 84) for known in SMALL.values()] * 6


FORKED = """
import multiprocessing
import pandas as pd
import rapids_tc as tc

def ask(shift):
    return tc.count(pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, shift]}))

print(ask(0))  # the parent's threads are running before it forks
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(pool.map(ask, [0, 3, 0]))
"""


@pytest.mark.cpu_only
@pytest.mark.skipif("fork" not in get_all_start_methods(), reason="this system does not fork")
def test_a_forked_child_asks_too(backend):
    command = [sys.executable, "-c", FORKED]
    out = subprocess.run(command, capture_output=True, text=True, check=True)
    assert out.stdout.splitlines() == ["1", "[1, 0, 1]"]
