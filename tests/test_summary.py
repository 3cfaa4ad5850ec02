"""A graph that was counted elsewhere: the functions of vertices answer from its sums."""

import pytest
from graphs import small, tube

import rapids_tc as tc
from rapids_tc.graphs.edge_graph import VertexTotals
from rapids_tc.plan.record import ANALYTICS

FUNCTIONS = {
    "count": tc.count,
    "transitivity": tc.transitivity,
    "triad_counts": tc.triad_counts,
    "vertex_triangles": tc.vertex_triangles,
    "clustering": tc.clustering,
    "average_clustering": tc.average_clustering,
}
OF_THE_TOTAL = ("count", "transitivity", "triad_counts")
GRAPHS = {"small": small(), "tube": tube(4, 6).frame(), "empty": small()[:0]}


def ask(function, graph, **given):
    """What the body of an analytic answers of a graph."""
    record = ANALYTICS[function]
    method = {"method": "auto"} if record.takes_method else {}
    return record.body(graph, **{**record.defaults, **method, **given})


def summed(graph, **known):
    graph = graph._prepared
    return VertexTotals(
        graph.backend, graph.ids, graph.order, n_edges=graph.n_edges, degrees=graph.degrees, **known
    )


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("name", GRAPHS)
def test_answers_are_those_of_the_graph(backend, name, function):
    graph = tc.Graph(backend.frame(GRAPHS[name]))
    expected = FUNCTIONS[function](graph)
    given = {
        "sums": {"sums": graph._prepared.vertex_counts("auto")},
        "total": {"total": tc.count(graph)},
    }
    for known in ("sums", "total") if function in OF_THE_TOTAL else ("sums",):
        found = ask(function, summed(graph, **given[known]))
        assert type(found) is type(expected)
        if hasattr(expected, "equals"):
            assert backend.to_pandas(found).equals(backend.to_pandas(expected))
        else:
            assert found == pytest.approx(expected, abs=0, nan_ok=True)


def test_vertices_are_chosen_and_refused_alike(backend):
    graph = tc.Graph(backend.frame(small()), vertices=[3])
    elsewhere = summed(graph, sums=graph._prepared.vertex_counts("auto"))
    frame = backend.to_pandas(ask("vertex_triangles", elsewhere, vertices=[9, 3, 9, 1]))
    assert frame.to_dict("list") == {"vertex": [9, 3, 9, 1], "triangles": [1, 0, 1, 1]}
    assert ask("average_clustering", elsewhere, vertices=[1, 2]) == 0.5
    with pytest.raises(ValueError, match=r"1 of vertices= not in the graph: 4"):
        ask("clustering", elsewhere, vertices=[4])
    with pytest.raises(tc.IdTypeError):
        ask("vertex_triangles", elsewhere, vertices=["a"])


def test_what_was_not_counted_is_not_made_up(backend):
    graph = tc.Graph(backend.frame(small()))
    with pytest.raises(ValueError, match="vertices"):
        ask("vertex_triangles", summed(graph, total=1))


def test_ranks_are_named_by_the_ids_of_the_user(backend):
    graph = tc.Graph(backend.frame(small()))
    graph = graph._prepared
    ids = backend.to_pandas(graph.ids_of(graph.backend.xp.arange(graph.n_vertices)))
    assert sorted(ids.tolist()) == [1, 2, 5, 7, 9]
    degrees = graph.backend.host(graph.degrees).tolist()
    assert dict(zip(ids.tolist(), degrees, strict=True)) == {1: 2, 2: 1, 5: 2, 7: 0, 9: 3}
