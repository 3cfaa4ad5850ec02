"""What users hold: sizes, the functions as methods, and of what is in rank order ``csr`` alone."""

import inspect
import pickle

import pandas as pd
import pytest
from graphs import ROWS, small

import rapids_tc as tc
from rapids_tc import datasets
from rapids_tc.engines import registry
from rapids_tc.frames.backend import Backend
from rapids_tc.plan.record import ANALYTICS

PUBLIC = {"n_vertices", "n_edges", "csr"}


def test_the_face_has_sizes_and_functions_alone(backend):
    graph = tc.Graph(backend.frame(small()))
    public = {name for name in dir(graph) if not name.startswith("_")}
    assert public == PUBLIC | ANALYTICS.keys() | {"memory_estimate", "update"}
    assert all(getattr(tc.Graph, name) is getattr(tc, name) for name in ANALYTICS)


def test_methods_are_aligned_with_the_rows_of_the_user(backend):
    """In rank order, 40 of the 78 rows of the karate club would be wrong."""
    frame = datasets.karate().sample(frac=1, random_state=1)
    frame.index = frame.index + 100
    edges = backend.frame(frame)
    graph = tc.Graph(edges)
    for name in ("trussness", "edge_triangles", "similarity"):
        column = backend.to_pandas(getattr(graph, name)())
        pd.testing.assert_series_equal(column, backend.to_pandas(getattr(tc, name)(edges)))
    assert graph.count() == tc.count(edges)
    assert graph.memory_estimate() == tc.memory_estimate(graph)
    assert graph.k_truss(4).equals(tc.k_truss(edges, 4))
    frames = [
        backend.to_pandas(f(vertices=[3, 1])) for f in (graph.vertex_triangles, graph.clustering)
    ]
    assert [frame["vertex"].tolist() for frame in frames] == [[3, 1], [3, 1]]


def test_methods_tell_what_they_take():
    assert list(inspect.signature(tc.Graph.k_truss).parameters)[1] == "k"
    assert tc.Graph.count.__doc__ == tc.count.__doc__


def test_the_face_is_shown_and_pickled(backend):
    graph = tc.Graph(backend.frame(small()))
    again = pickle.loads(pickle.dumps(graph))
    assert repr(again) == repr(graph) and "5 vertices, 4 edges" in repr(graph)
    assert "<strong>rapids_tc.Graph</strong>: 5 vertices, 4 edges" in graph._repr_html_()
    assert again.count() == graph.count() == 1


def test_a_wrong_name_gets_a_hint():
    for name, meant in (("triangles", "edge_triangles"), ("truss", "k_truss"), ("counts", "count")):
        with pytest.raises(AttributeError, match=f"did you mean .*{meant}"):
            getattr(tc, name)
    for name, meant in (("Count", "count"), ("ktruss", "k_truss"), ("similarty", "similarity")):
        with pytest.raises(AttributeError, match=f"did you mean {meant}"):
            getattr(tc, name)
    for name in ("zzz", "a", "ed", "", "__wrapped__"):
        with pytest.raises(AttributeError, match=rf"no attribute '{name}'$"):
            getattr(tc, name)


def test_a_graph_is_no_frame_of_a_graph(backend):
    graph = tc.Graph(backend.frame(small()))
    with pytest.raises(TypeError, match=r"edges is a Graph already.*give it to the functions"):
        tc.Graph(graph)


# A call looks at the ids once ---------------------------------------------------------------------


@pytest.fixture
def passes(monkeypatch):
    """How often the ids of a column are read for their extent."""
    read, min_max = [], Backend.min_max

    def counted(self, arrays):
        read.extend(map(len, arrays))
        return min_max(self, arrays)

    monkeypatch.setattr(Backend, "min_max", counted)
    return read


@pytest.mark.parametrize("function", [tc.count, tc.edge_triangles, tc.trussness, tc.list_triangles])
@pytest.mark.parametrize("limit", [None, 2**30])
def test_ids_are_looked_at_once(backend, passes, function, limit):
    function(backend.frame(small()), memory_limit=limit)
    assert passes == [len(ROWS)] * 2  # one pass a column


def test_a_graph_under_a_limit_looks_at_ids_once(backend, passes):
    tc.Graph(backend.frame(small()), memory_limit=2**30)
    assert passes == [len(ROWS)] * 2


def test_degrees_are_counted_once_a_graph(backend, monkeypatch):
    graph = tc.Graph(backend.frame(small()))
    engine = registry.load(graph._prepared.backend.engine)
    monkeypatch.setitem(vars(engine), "degrees", None)  # the CUDA engine is frozen
    assert graph.count() == 1 and len(graph.trussness()) == len(ROWS)


# Further vertices, under a limit ------------------------------------------------------------------


@pytest.mark.parametrize("added", [[3], [9], [-(2**40), 2**40]])
def test_further_vertices_may_lie_outside_the_range_of_the_edges(backend, added):
    edges = backend.frame(small())
    limited, free = (tc.Graph(edges, vertices=added, memory_limit=n) for n in (2**20, None))
    assert repr(limited) == repr(free)
    counts = [backend.to_pandas(graph.vertex_triangles()) for graph in (limited, free)]
    pd.testing.assert_frame_equal(*counts)


def test_further_vertices_count_towards_the_limit(backend):
    with pytest.raises(tc.CapacityError, match="memory_limit= allows 100,000"):
        tc.Graph(backend.frame(small()), vertices=range(10**5), memory_limit=10**5)
