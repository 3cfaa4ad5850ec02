"""The NetworkX backend: the same answers, types and order, by NetworkX's own rules and tests."""

import copy
import inspect
import os
import pickle
import re
import subprocess
import sys
import tomllib
import warnings
from collections import Counter
from itertools import combinations
from math import comb
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from graphs import dense_edge_lists, edge_lists
from hypothesis import example, given, settings
from hypothesis import strategies as st

import rapids_tc as tc
from rapids_tc.interop import networkx as ours
from rapids_tc.interop._networkx_info import FUNCTIONS, get_info

many = settings(max_examples=40, deadline=None)
PROJECT = Path(__file__).parents[1] / "pyproject.toml"
GROUPS = tomllib.loads(PROJECT.read_text())["project"]["entry-points"]
BY_NODE = ("triangles", "clustering", "generalized_degree", "square_clustering")
HOLES = ("constraint", "effective_size")
PAIRS = ("adamic_adar_index", "jaccard_coefficient", "resource_allocation_index")
OF_SIDES = (
    "bipartite_average_clustering", "latapy_clustering", "weighted_projected_graph",
)  # fmt: skip
BIPARTITE = ("butterflies", "robins_alexander_clustering", *OF_SIDES)
THEIRS = nx.utils.backends._registered_algorithms
SERVED = FUNCTIONS.keys() & THEIRS.keys()  # of this NetworkX: `butterflies` is new in 3.7
pytestmark = pytest.mark.usefixtures("networkx_backend")


def theirs(name):
    """A function of NetworkX by its name, those of bipartite graphs among them."""
    if hasattr(nx, name):
        return getattr(nx, name)
    return getattr(nx.bipartite, name.removeprefix("bipartite_"))


def caller(backend):
    """Call a function of NetworkX by the backend, on the engine under test."""

    def run(name, *args, **keywords):
        keywords |= backend.engine_kwargs
        if name not in THEIRS:  # of a later NetworkX than this one
            return getattr(ours, name)(ours.convert_from_nx(args[0]), *args[1:], **keywords)
        return theirs(name)(*args, backend="rapids_tc", **keywords)

    return run


@pytest.fixture
def call(backend):
    return caller(backend)


@pytest.fixture
def first_choice():
    """The backend before NetworkX, for every call."""
    chosen = nx.utils.configs.BackendPriorities(
        algos=["rapids_tc"], generators=["rapids_tc"], classes=[]
    )
    with nx.config(backend_priority=chosen):
        yield


def original(name, *args, **keywords):
    return theirs(name)(*args, backend="networkx", **keywords)


def assert_same(found, expected):
    """The same values of the same types in the same order, all the way down."""
    assert type(found) is type(expected)
    if isinstance(expected, nx.Graph):
        for part in ("graph", "_node", "_adj"):
            assert_same(getattr(found, part), getattr(expected, part))
    elif isinstance(expected, Counter):  # in which NetworkX has the order of a set
        assert found == expected
        assert {type(x) for item in found.items() for x in item} <= {int}
    elif isinstance(expected, dict):
        assert list(found) == list(expected)
        for key, value in expected.items():
            assert_same(found[key], value)
    else:
        assert found == expected


def assert_same_triangles(found, expected):
    """The same tuples, and their first two corners in the same order."""
    found, expected = list(found), list(expected)
    assert sorted(map(repr, found)) == sorted(map(repr, expected))
    assert [t[:2] for t in found] == [t[:2] for t in expected]
    assert {type(t) for t in found} <= {tuple}


def marked(graph, seed=0):
    """The graph with attributes on everything."""
    rng = np.random.default_rng(seed)
    graph.graph["name"] = "marked"
    for node in list(graph)[::2]:
        graph.nodes[node]["label"] = [str(node)]
    for u, v in list(graph.edges)[::3]:
        graph.edges[u, v].update(weight=float(rng.integers(0, 9)), kind="x")
    return graph


GRAPHS = [
    nx.Graph(),
    nx.empty_graph(3),
    nx.Graph([(5, 5)]),
    nx.Graph([("a", "b"), ("b", "c"), ("c", "a"), ("c", (1, 2)), (None.__class__, "a")]),
    nx.Graph([(2, 1.5), (1.5, "x"), ("x", 2), (frozenset({1}), 2), (2, 2), ("x", "x")]),
    nx.karate_club_graph(),
    nx.les_miserables_graph(),
    nx.gnm_random_graph(40, 200, seed=3),
    nx.relabel_nodes(nx.gnm_random_graph(30, 220, seed=4), lambda n: (7 * n) % 31 - 9),
    nx.subgraph_view(nx.complete_graph(9), filter_edge=lambda u, v: (u + v) % 4),
    nx.complete_graph(12).subgraph([9, 1, 7, 3, 2]),
    nx.freeze(nx.wheel_graph(9)),
]

ANY = pytest.mark.parametrize("graph", GRAPHS, ids=str)


@st.composite
def random_graphs(draw):
    """Graphs of few nodes in any order, loops among them."""
    graph = nx.Graph()
    graph.add_nodes_from(draw(st.lists(st.integers(-2, 13), unique=True)))
    graph.add_edges_from(draw(st.one_of(edge_lists(), dense_edge_lists())))
    return graph


# Answers ------------------------------------------------------------------------------------------


@ANY
def test_answers_have_the_types_and_order_of_networkx(call, graph):
    for name in (*BY_NODE, "transitivity"):
        assert_same(call(name, graph), original(name, graph))
    assert_same_triangles(call("all_triangles", graph), original("all_triangles", graph))
    if graph:
        for zeros in (True, False)[: 1 + any(nx.clustering(graph).values())]:
            expected = original("average_clustering", graph, count_zeros=zeros)
            assert_same(call("average_clustering", graph, count_zeros=zeros), expected)


@many
@given(graph=random_graphs(), data=st.data())
def test_any_graph_and_any_nodes(backend, graph, data):
    keywords = {"backend": "rapids_tc", **backend.engine_kwargs}
    nodes = data.draw(st.lists(st.integers(-4, 15)))
    for name in BY_NODE:
        assert_same(getattr(nx, name)(graph, nodes, **keywords), original(name, graph, nodes))
    found = nx.all_triangles(graph, nodes, **keywords)
    assert_same_triangles(found, original("all_triangles", graph, nodes))


@pytest.mark.parametrize("name", BY_NODE)
@pytest.mark.parametrize(
    "nodes", [0, [0], (33, 5, 5, 0), {7}, {3: 1}, [99, 2, -1], [], "ab", range(4, 9)], ids=repr
)
def test_nodes_asked_for(call, name, nodes):
    graph = nx.karate_club_graph()
    assert_same(call(name, graph, nodes), original(name, graph, nodes))
    assert_same(call(name, graph, nodes=nodes), original(name, graph, nodes))


@pytest.mark.parametrize("name", [*BY_NODE, "all_triangles"])
def test_an_iterator_of_nodes_is_taken_once(call, name):
    graph = nx.karate_club_graph()
    found, expected = (f(name, graph, iter([3, 2, 0])) for f in (call, original))
    if name == "all_triangles":
        assert_same_triangles(found, expected)
    else:
        assert_same(found, expected)


@pytest.mark.parametrize("name", [*BY_NODE, "all_triangles"])
@pytest.mark.parametrize("nodes", [99, 1.5, [[0]], [0, {}]], ids=repr)
def test_nodes_that_are_none(call, name, nodes):
    graph = nx.karate_club_graph()
    with pytest.raises(nx.NetworkXError) as expected:
        list(original(name, graph, nodes))
    with pytest.raises(nx.NetworkXError, match=re.escape(str(expected.value))):
        list(call(name, graph, nodes))


@pytest.mark.parametrize("nodes", [[1, 2, 3], [33], range(0, 30, 3)], ids=repr)
def test_averages_of_some_nodes(call, nodes):
    graph = nx.karate_club_graph()
    expected = original("average_clustering", graph, nodes)
    assert_same(call("average_clustering", graph, nodes), expected)


def test_averages_without_what_is_0(call):
    graph = nx.Graph([(0, 1), (1, 2), (2, 0), (2, 3)])
    assert call("average_clustering", graph, count_zeros=False) == pytest.approx(7 / 9)


def test_averages_of_nothing_fail_alike(call):
    with pytest.raises(ZeroDivisionError):
        call("average_clustering", nx.Graph())
    with pytest.raises(ZeroDivisionError):
        call("average_clustering", nx.path_graph(3), count_zeros=False)
    with pytest.raises(AttributeError):
        original("average_clustering", nx.path_graph(3), 1)
    with pytest.raises(AttributeError):
        call("average_clustering", nx.path_graph(3), 1)


@pytest.mark.parametrize("graph", [g for g in GRAPHS if g and not nx.number_of_selfloops(g)])
def test_trusses_are_graphs_of_networkx(call, graph):
    graph = graph if nx.is_frozen(graph) else marked(graph.copy())
    for k in (-1, 2, 3, 4, 5, 9, 2**40, np.int64(3), True):
        assert_same(call("k_truss", graph, k), original("k_truss", graph, k))


def test_a_truss_shares_no_attributes(call):
    graph = marked(nx.complete_graph(5))
    truss = call("k_truss", graph, 3)
    truss.add_edge(0, 1, weight="changed")
    truss.nodes[0]["label"] = "changed"
    truss.graph["name"] = "changed"
    assert_same(graph, marked(nx.complete_graph(5)))


class Subclass(nx.Graph):
    pass


def test_a_truss_keeps_the_class(call):
    graph = Subclass(nx.complete_graph(4))
    assert_same(call("k_truss", graph, 3), original("k_truss", graph, 3))


def test_a_truss_refuses_loops_alike(call):
    graph = nx.Graph([(0, 1), (1, 2), (2, 0), (1, 1)])
    with pytest.raises(nx.NetworkXNotImplemented) as expected:
        original("k_truss", graph, 3)
    with pytest.raises(nx.NetworkXNotImplemented, match=re.escape(str(expected.value))):
        call("k_truss", graph, 3)


# Directed graphs ----------------------------------------------------------------------------------


DIRECTED = [
    nx.DiGraph(),
    nx.empty_graph(3, create_using=nx.DiGraph),
    nx.DiGraph([(5, 5), (5, 4), (4, 5)]),
    nx.DiGraph([("a", "b"), ("b", "c"), ("c", "a"), ("b", "a"), ("c", "c"), ("c", (1, 2))]),
    nx.gnp_random_graph(40, 0.12, seed=11, directed=True),
    nx.gnp_random_graph(12, 0.7, seed=2, directed=True),
    nx.karate_club_graph().to_directed(as_view=True),
    nx.gnp_random_graph(20, 0.3, seed=5, directed=True).reverse(copy=False),
    nx.subgraph_view(nx.complete_graph(9, nx.DiGraph), filter_edge=lambda u, v: (u + 2 * v) % 4),
]


@st.composite
def random_digraphs(draw):
    """Directed graphs of few nodes in any order, loops and pairs of both directions among them."""
    graph = nx.DiGraph()
    graph.add_nodes_from(draw(st.lists(st.integers(-2, 13), unique=True)))
    graph.add_edges_from(draw(st.one_of(edge_lists(), dense_edge_lists())))
    graph.add_edges_from((v, u) for u, v in draw(edge_lists()))
    return graph


def assert_directed_answers(call, graph):
    assert_same(call("triadic_census", graph), original("triadic_census", graph))
    assert_same(call("clustering", graph), original("clustering", graph))
    assert_same(call("transitivity", graph), original("transitivity", graph))


@pytest.mark.parametrize("graph", DIRECTED, ids=str)
def test_directed_graphs(call, graph):
    assert_directed_answers(call, graph)
    nodes = list(graph)[1:3]
    assert_same(call("clustering", graph, nodes), original("clustering", graph, nodes))
    if graph:
        average = call("average_clustering", graph)
        assert average == pytest.approx(original("average_clustering", graph), rel=1e-12)


@many
@given(graph=random_digraphs())
def test_any_directed_graph(backend, graph):
    def call(name, *arguments):
        return getattr(nx, name)(*arguments, backend="rapids_tc", **backend.engine_kwargs)

    assert_directed_answers(call, graph)


@pytest.mark.parametrize("graph", [g for g in DIRECTED if not nx.is_frozen(g)], ids=str)
def test_weights_of_directed_graphs(call, graph):
    graph = marked(graph.copy(), seed=1)
    found = call("clustering", graph, weight="weight")
    assert found == pytest.approx(original("clustering", graph, weight="weight"), rel=1e-12)


def test_a_directed_graph_comes_back(graph=DIRECTED[4]):
    assert_same(ours.convert_to_nx(ours.convert_from_nx(graph)), nx.DiGraph(graph))


# Weights ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("graph", [g for g in GRAPHS if not nx.is_frozen(g)], ids=str)
def test_weights(call, graph):
    graph = marked(graph.copy(), seed=1)
    for nodes in (None, list(graph)[:4]):
        found = call("clustering", graph, nodes, weight="weight")
        expected = original("clustering", graph, nodes, weight="weight")
        assert list(found) == list(expected)
        assert found == pytest.approx(expected, rel=1e-12)
        assert list(map(type, found.values())) == list(map(type, expected.values()))
    if graph:
        average = call("average_clustering", graph, weight="weight", count_zeros=True)
        assert average == pytest.approx(original("average_clustering", graph, weight="weight"))


def test_the_weight_of_a_loop_is_networkxs_largest(call):
    graph = nx.complete_graph(4)
    graph.add_edge(1, 1, weight=8)
    expected = original("clustering", graph, weight="weight")
    assert expected[0] == pytest.approx(1 / 8)
    assert call("clustering", graph, weight="weight") == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("weight", [-1, float("nan"), float("inf"), "heavy", None, 2**70, True])
def test_weights_that_are_left_to_networkx(call, first_choice, weight):
    graph = nx.complete_graph(4)
    nx.set_edge_attributes(graph, weight, "weight")
    with pytest.raises(NotImplementedError):
        call("clustering", graph, weight="weight")
    assert set(call("k_truss", graph, 3).edges) == set(graph.edges)  # needs no numbers


def test_weights_of_0_fail_as_networkx_says(first_choice, monkeypatch):
    monkeypatch.setattr(ours, "SMALL", 0)
    graph = nx.complete_graph(4)
    nx.set_edge_attributes(graph, 0, "weight")
    with pytest.raises(ZeroDivisionError):
        nx.clustering(graph, weight="weight")
    nx.set_edge_attributes(graph, -2, "weight")
    graph.__networkx_cache__.clear()
    assert nx.clustering(graph, weight="weight") == dict.fromkeys(graph, 1.0)


# NetworkX's rules ---------------------------------------------------------------------------------


def test_the_page_says_which_networkx_it_is_true_of():
    """The one that is installed at least, and that has everything on the page."""
    project = tomllib.loads(PROJECT.read_text())["project"]
    [least] = re.findall(r"networkx>=([\d.]+)", str(project["optional-dependencies"]["networkx"]))
    page = (PROJECT.parent / "docs/howto/networkx.md").read_text()
    assert f"NetworkX {least} or newer" in page
    installed = [int(part) for part in nx.__version__.split(".")[:2]]
    assert installed >= [int(part) for part in least.split(".")]


def test_names_and_signatures_are_networkxs():
    assert get_info()["functions"].keys() == FUNCTIONS.keys()
    for name in SERVED:
        parameters = list(inspect.signature(THEIRS[name].orig_func).parameters.values())
        *mine, engine = inspect.signature(getattr(ours, name)).parameters.values()
        assert [(p.name, p.kind, p.default) for p in mine] == [
            (p.name, p.kind, p.default) for p in parameters
        ]
        assert (engine.name, engine.kind, engine.default) == ("engine", engine.KEYWORD_ONLY, None)


def test_every_function_about_triangles_is_served():
    others = {"k_truss", "triadic_census", *HOLES, *PAIRS, "local_bridges", *BIPARTITE}
    assert {*nx.algorithms.cluster.__all__, *others} == FUNCTIONS.keys()


@pytest.mark.parametrize(
    ("name", "graph", "keywords", "reason"),
    [
        ("triangles", nx.DiGraph([(0, 1)]), {}, "directed"),
        ("generalized_degree", nx.DiGraph([(0, 1)]), {}, "directed"),
        (
            "effective_size",
            nx.DiGraph([(0, 1)]),
            {},
            "weights and directions of all nodes are left",
        ),
        ("effective_size", nx.path_graph(2), {"weight": "w"}, "of all nodes are left to NetworkX"),
        ("jaccard_coefficient", nx.path_graph(2), {}, "without a list of pairs"),
        ("adamic_adar_index", nx.path_graph(2), {"ebunch": iter([(0, 1)])}, "a list of pairs"),
        ("local_bridges", nx.path_graph(2), {}, "with_span=True is left"),
        ("local_bridges", nx.path_graph(2), {"with_span": True}, "with_span=True is left"),
        ("clustering", nx.MultiDiGraph([(0, 1)]), {}, "multigraph"),
        ("triangles", nx.MultiGraph([(0, 1)]), {}, "multigraph"),
        ("all_triangles", nx.MultiGraph([(0, 1)]), {}, "multigraph"),
        ("clustering", nx.path_graph(2), {"weight": len}, "weight= is a function"),
        ("average_clustering", nx.path_graph(2), {"weight": len}, "weight= is a function"),
        ("k_truss", nx.path_graph(2), {"k": 2.5}, "k=2.5 is not an integer"),
        ("triangles", nx.path_graph(2), {"noodles": 1}, "noodles"),
        ("triangles", "abc", {}, "str is no graph"),
        ("square_clustering", nx.DiGraph([(0, 1)]), {}, "directed"),
        ("robins_alexander_clustering", nx.DiGraph([(0, 1)]), {}, "directed"),
        ("core_number", nx.path_graph(2), {}, "no such function"),
    ],
)
def test_what_is_not_served_has_its_reason(name, graph, keywords, reason):
    assert reason in ours.can_run(name, (graph,), keywords)
    assert reason in ours.can_run(name, (), {"G": graph, **keywords})


def test_what_is_not_served_falls_back(first_choice):
    graph = nx.gnm_random_graph(30, 40, seed=1)
    spans = [*original("local_bridges", graph)]
    assert_same([*nx.local_bridges(graph)], spans)
    with pytest.raises(NotImplementedError, match=r"local_bridges.*rapids_tc.*given arguments"):
        nx.local_bridges(graph, backend="rapids_tc")


@pytest.mark.parametrize("nodes", [[4, 7, 2], [], range(30), {5}, (29,)], ids=repr)
def test_the_triads_of_some_nodes(call, nodes):
    graph = nx.gnm_random_graph(30, 200, seed=1, directed=True)
    assert_same(call("triadic_census", graph, nodes), original("triadic_census", graph, nodes))


@pytest.mark.parametrize("nodes", [[1, 1], [1, 99], [[0]], 3, iter([2])], ids=range(5))
def test_nodes_of_triads_that_are_none(call, nodes):
    graph = nx.gnm_random_graph(30, 200, seed=1, directed=True)
    with pytest.raises(Exception) as expected:
        original("triadic_census", graph, nodes)
    with pytest.raises(type(expected.value), match=re.escape(str(expected.value))):
        call("triadic_census", graph, nodes)


def assert_near(found, expected):
    """The same keys in the same order, and floats that differ in rounding alone."""
    assert list(found) == list(expected)
    assert list(found.values()) == pytest.approx(list(expected.values()), rel=1e-9, nan_ok=True)
    assert {type(value) for value in found.values()} <= {float}


@pytest.mark.parametrize("graph", [g for g in GRAPHS if not nx.number_of_selfloops(g)], ids=str)
def test_structural_holes_and_local_bridges(call, graph):
    for name in HOLES:
        if len(graph):
            assert_near(call(name, graph), original(name, graph))
        else:
            with pytest.raises(nx.NetworkXError, match="no nodes"):
                original(name, graph)
            with pytest.raises(nx.NetworkXError, match="no nodes"):
                call(name, graph)
        some = list(graph)[3::-1]
        assert_near(call(name, graph, some), original(name, graph, some))
        with pytest.raises(KeyError):
            original(name, graph, ["nobody"])
        with pytest.raises(KeyError):
            call(name, graph, ["nobody"])
    bridges = original("local_bridges", graph, with_span=False)
    assert list(call("local_bridges", graph, with_span=False)) == list(bridges)


def assert_same_pairs(found, expected):
    """The same pairs in the same order, values of the same types that differ in rounding alone."""
    found, expected = list(found), list(expected)
    assert [pair[:2] for pair in found] == [pair[:2] for pair in expected]
    assert [p for *_, p in found] == pytest.approx([p for *_, p in expected], rel=1e-12)
    assert [type(p) for *_, p in found] == [type(p) for *_, p in expected]


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("graph", [g for g in GRAPHS if not nx.number_of_selfloops(g)], ids=str)
def test_pairs_of_nodes(call, graph, name):
    pairs = [*combinations(list(graph)[:12], 2)]
    pairs += [(v, u) for u, v in pairs[::3]]
    assert_same_pairs(call(name, graph, pairs), original(name, graph, pairs))
    assert inspect.isgenerator(call(name, graph, pairs))


@pytest.mark.parametrize("name", PAIRS)
def test_pairs_that_are_left_to_networkx_or_refused_alike(call, first_choice, monkeypatch, name):
    monkeypatch.setattr(ours, "SMALL", 0)
    graph = nx.Graph([(0, 1), (1, 2), (2, 0), (2, 3)])
    for pairs in ([(0, 9)], [(9, 0)], [([], 0)]):
        with pytest.raises(nx.NodeNotFound) as expected:
            original(name, graph, pairs)
        with pytest.raises(nx.NodeNotFound, match=re.escape(str(expected.value))):
            call(name, graph, pairs)
    with pytest.raises(NotImplementedError, match=name):
        call(name, graph, [(0, 0)])
    looped = nx.Graph([*graph.edges, (2, 2)])
    for seen, pairs in ((graph, [(1, 1), (0, 1)]), (looped, [(0, 1), (0, 3)]), (graph, None)):
        found = getattr(nx, name)(seen, pairs)
        assert_same_pairs(found, original(name, seen, pairs))
    many_pairs = [*combinations(range(4), 2)]
    assert ours.should_run(name, (nx.path_graph(500), many_pairs), {}).startswith("few pairs")


def squares_of_nodes(graph, nodes=None):
    """The squares of each node, from its common neighbors with the opposite one."""
    neighbors = {node: set(graph[node]) for node in graph}
    return {
        u: sum(comb(len(neighbors[u] & neighbors[w]), 2) for w in graph if w != u)
        for u in graph.nbunch_iter(nodes)
    }


def assert_square_answers(call, graph):
    for name in ("robins_alexander_clustering", "square_clustering"):
        assert_same(call(name, graph), original(name, graph))
    assert_same(call("butterflies", graph), squares_of_nodes(graph))


BICLIQUES = [
    nx.complete_bipartite_graph(4, 5),
    nx.davis_southern_women_graph(),
    nx.bipartite.random_graph(20, 30, 0.2, seed=7),
    nx.path_graph(9),
    nx.star_graph(5),
]


@pytest.mark.parametrize("graph", BICLIQUES, ids=str)
def test_squares_of_bipartite_graphs(call, graph):
    assert_square_answers(call, graph)


@pytest.mark.parametrize("graph", BICLIQUES, ids=str)
@pytest.mark.parametrize("mode", ["dot", "min", "max"])
def test_clustering_of_two_sides(call, graph, mode):
    for nodes in (None, [*graph][::-2], [0] * (0 in graph)):
        asked = nodes if nodes is None else iter(nodes)
        found = call("latapy_clustering", graph, asked, mode)
        assert_near(found, original("latapy_clustering", graph, nodes, mode))
        if nodes != []:  # an average over none
            found = call("bipartite_average_clustering", graph, nodes, mode)
            mean = original("bipartite_average_clustering", graph, nodes, mode)
            assert type(found) is float and found == pytest.approx(mean, rel=1e-14)


def test_clustering_of_two_sides_fails_alike(call):
    path, triangle = nx.path_graph(4), nx.complete_graph(3)
    for arguments, error in [
        ((triangle, None, "none"), nx.NetworkXError),
        ((nx.Graph([(0, 1), (1, 1)]),), nx.NetworkXError),
        ((path, None, "none"), nx.NetworkXError),
        ((path, [0, 9]), KeyError),
        ((path, 0), TypeError),
    ]:
        with pytest.raises(error) as expected:
            original("latapy_clustering", *arguments)
        with pytest.raises(error, match=re.escape(str(expected.value))):
            call("latapy_clustering", *arguments)


def assert_same_projection(found, expected):
    """The same nodes, attributes and weights; neighbors in the order of nodes."""
    assert type(found) is type(expected) is nx.Graph
    assert_same(found.graph, expected.graph)
    assert_same(found._node, expected._node)
    assert found._adj == expected._adj
    for node in found:
        assert list(found[node]) == [other for other in found if other in found[node]]
    weights = [
        [*map(type, nx.get_edge_attributes(g, "weight").values())] for g in (found, expected)
    ]
    assert weights[0] == weights[1]


@pytest.mark.parametrize("ratio", [False, True])
@pytest.mark.parametrize("graph", BICLIQUES, ids=str)
def test_projections(call, graph, ratio):
    graph = marked(graph.copy())
    sides = nx.bipartite.color(graph)
    for side in (0, 1):
        nodes = [node for node in graph if sides[node] == side][::-1]
        for seen, asked in ((graph, nodes), (graph.subgraph(graph), {*nodes})):
            found, expected = (
                f("weighted_projected_graph", seen, asked, ratio=ratio) for f in (call, original)
            )
            assert_same_projection(found, expected)
    found.add_node(nodes[0], label="changed")
    assert graph.nodes[nodes[0]] == marked(graph.copy()).nodes[nodes[0]]


def test_projections_that_are_left_to_networkx_or_refused_alike(call, first_choice, monkeypatch):
    monkeypatch.setattr(ours, "SMALL", 0)
    name, path = "weighted_projected_graph", nx.path_graph(6)
    for nodes, error in [
        ([0, 2, 9], KeyError),
        (range(6), nx.NetworkXAlgorithmError),
        ([0, 2, 4, 4, 2, 0], nx.NetworkXAlgorithmError),
        (iter([0, 2, 4]), TypeError),
    ]:
        with pytest.raises(error) as expected:
            original(name, path, nodes)
        with pytest.raises(error, match=re.escape(str(expected.value))):
            call(name, path, nodes)
    for nodes in ([0, 1], [0, 2]):  # not a side; not all of one
        with pytest.raises(NotImplementedError, match=name):
            call(name, path, nodes)
        found, expected = (
            nx.bipartite.weighted_projected_graph(path, nodes),
            original(name, path, nodes),
        )
        assert_same(found, expected)
    repeated = [0, 2, 4, 4]
    assert_same_projection(*(f(name, path, repeated, ratio=True) for f in (call, original)))
    assert "directed" in ours.can_run(name, (nx.DiGraph([(0, 1)]), [0]), {})


def test_more_pairs_than_memory_are_left_to_networkx(first_choice, monkeypatch):
    def full(*args, **keywords):
        raise tc.CapacityError("too many")

    monkeypatch.setattr(tc, "project", full)
    monkeypatch.setattr(ours, "SMALL", 0)
    graph = nx.complete_bipartite_graph(3, 4)
    assert nx.bipartite.latapy_clustering(graph) == original("latapy_clustering", graph)


@many
@example(graph=nx.complete_graph(3))  # in which no square could close
@given(graph=random_graphs())
def test_squares_of_any_graph(backend, graph):
    """NetworkX counts them whether or not the graph is bipartite."""
    graph.remove_edges_from([*nx.selfloop_edges(graph)])
    assert_square_answers(caller(backend), graph)


@pytest.mark.parametrize("nodes", [0, [4, 0, 99], {5}, [3, 3]], ids=repr)
def test_the_butterflies_of_some_nodes(call, nodes):
    graph = nx.complete_bipartite_graph(3, 4)
    assert_same(call("butterflies", graph, nodes), squares_of_nodes(graph, nodes))
    if "butterflies" in THEIRS:
        assert_same(call("butterflies", graph, nodes), original("butterflies", graph, nodes))


@pytest.mark.parametrize("name", [*HOLES, "robins_alexander_clustering", "local_bridges"])
def test_loops_that_networkx_counts_are_left_to_it(call, first_choice, monkeypatch, name):
    monkeypatch.setattr(ours, "SMALL", 0)
    graph = nx.Graph([(0, 1), (1, 2), (2, 0), (1, 1), (3, 3), (2, 4)])
    keywords = {"with_span": False} if name == "local_bridges" else {}
    with pytest.raises(NotImplementedError, match=name):
        call(name, graph, **keywords)
    found, expected = theirs(name)(graph, **keywords), original(name, graph, **keywords)
    if name in HOLES:
        assert_near(found, expected)
    elif name == "local_bridges":
        assert list(found) == list(expected)
    else:
        assert_same(found, expected)


@many
@given(graph=random_graphs())
def test_bridges_and_holes_of_any_graph(backend, graph):
    graph.remove_edges_from([*nx.selfloop_edges(graph)])
    keywords = {"backend": "rapids_tc", **backend.engine_kwargs}
    found = nx.local_bridges(graph, with_span=False, **keywords)
    assert list(found) == list(original("local_bridges", graph, with_span=False))
    for name in HOLES:
        if len(graph):
            assert_near(getattr(nx, name)(graph, **keywords), original(name, graph))


@many
@given(graph=random_graphs(), directed=st.booleans(), data=st.data())
def test_holes_by_weight_and_direction(backend, graph, directed, data):
    """Of some nodes, a node that no edge leaves has none; of all nodes, one without an edge."""
    graph = nx.DiGraph(list(graph.edges)) if directed else graph.copy()
    graph.remove_edges_from([*nx.selfloop_edges(graph)])
    for _, _, attributes in graph.edges(data=True):
        if data.draw(st.booleans()):
            attributes["w"] = data.draw(st.sampled_from([1, 2.5, 7]))
    if not len(graph):
        return
    keywords, nodes = {"backend": "rapids_tc", **backend.engine_kwargs}, [*graph][::-1]
    for weight in (None, "w") if directed else ("w",):
        found = nx.constraint(graph, weight=weight, **keywords)
        assert_near(found, original("constraint", graph, weight=weight))
        for name in HOLES:
            found = getattr(nx, name)(graph, nodes, weight=weight, **keywords)
            assert_near(found, original(name, graph, nodes, weight=weight))


def test_weights_of_0_are_ties_of_some_nodes_alone(call):
    graph = nx.Graph()
    graph.add_weighted_edges_from([(0, 1, 0), (1, 2, 3), (0, 2, 1), (2, 3, 0)])
    assert_near(
        call("constraint", graph, weight="weight"), original("constraint", graph, weight="weight")
    )
    for name in HOLES:
        with pytest.raises(NotImplementedError, match=name):
            call(name, graph, [0, 3], weight="weight")


@pytest.mark.parametrize("name", ["triangles", "generalized_degree", "k_truss", "all_triangles"])
def test_directed_graphs_are_refused_by_networkx_itself(first_choice, name):
    arguments = [3] * (name == "k_truss")
    with pytest.raises(nx.NetworkXNotImplemented):
        list(getattr(nx, name)(nx.DiGraph([(0, 1)]), *arguments))


@pytest.mark.parametrize("nodes", [None, 3, [4, 1], iter([4, 1])], ids=lambda n: type(n).__name__)
def test_more_triangles_than_memory_are_left_to_networkx(call, monkeypatch, caplog, nodes):
    """Once they are asked for, whatever the order of nodes and neighbors."""

    def full(*args, **keywords):
        raise tc.CapacityError("too many")

    monkeypatch.setattr(tc, "list_triangles", full)
    monkeypatch.setattr(tc, "iter_triangles", full)
    graph = nx.Graph(list(nx.complete_graph(5).edges)[::-1])
    kept = nodes if nodes is None or isinstance(nodes, int) else [4, 1]
    assert list(call("all_triangles", graph, nodes)) == list(original("all_triangles", graph, kept))
    assert "too many. NetworkX makes them one by one" in caplog.text


def test_triangles_are_made_when_they_are_asked_for(call, monkeypatch):
    """As NetworkX's generator: nothing is counted or refused at the call."""
    calls, listed = [], tc.list_triangles
    monkeypatch.setattr(tc, "list_triangles", lambda *a, **k: calls.append(a) or listed(*a, **k))
    graph = nx.complete_graph(5)
    found, expected = call("all_triangles", graph), original("all_triangles", graph)
    assert type(found) is type(expected) and inspect.isgenerator(found)
    assert not calls
    assert next(found) == next(expected) == (0, 1, 2)
    assert len(calls) == 1
    assert list(found) == list(expected) and len(calls) == 1
    for nodes in (99, [[0]], [0, {}]):
        wrong, also = (f("all_triangles", graph, nodes) for f in (call, original))
        with pytest.raises(nx.NetworkXError) as told:
            list(also)
        with pytest.raises(nx.NetworkXError, match=re.escape(str(told.value))):
            next(wrong)


def test_should_run_weighs_the_conversion():
    large, small = nx.gnm_random_graph(500, 4000, seed=1), nx.path_graph(5)
    for name in FUNCTIONS:
        arguments = {"k": 3} if name == "k_truss" else {}
        if name in PAIRS:
            arguments = {"ebunch": [*large.edges]}
        if name == "weighted_projected_graph":
            arguments = {"nodes": [0, 1]}
        assert ours.should_run(name, (large,), arguments) is True
        assert "edges" in ours.should_run(name, (small,), arguments)
    for nodes in (3, [3, 4], iter([3])):
        assert "few nodes" in ours.should_run("triangles", (large, nodes), {})
    assert "few nodes" in ours.should_run("all_triangles", (large,), {"nbunch": [1]})
    assert ours.should_run("triangles", (large,), {"nodes": list(large)}) is True
    nx.triangles(large, backend="rapids_tc")
    assert ours.should_run("triangles", (large, 3), {}) is True  # converted already


@pytest.mark.parametrize("size", [10, 100])
def test_by_priority_a_large_graph_is_counted_here(first_choice, monkeypatch, size):
    calls = []
    count = tc.vertex_triangles
    monkeypatch.setattr(tc, "vertex_triangles", lambda *a, **k: calls.append(a) or count(*a, **k))
    graph = nx.complete_graph(size)
    assert_same(nx.triangles(graph), original("triangles", graph))
    assert bool(calls) is (graph.number_of_edges() >= ours.SMALL)


def test_a_graph_is_converted_once_and_again_when_it_changed(monkeypatch):
    made = []
    convert = ours.convert_from_nx
    monkeypatch.setattr(
        ours, "convert_from_nx", lambda *a, **k: made.append(convert(*a, **k)) or made[-1]
    )
    graph = nx.complete_graph(5)
    for name in (*BY_NODE, "transitivity", "average_clustering", "triangles"):
        getattr(nx, name)(graph, backend="rapids_tc")
    assert len(made) == 1
    assert graph.__networkx_cache__["backends"]["rapids_tc"].popitem()[1] is made[0]
    graph.add_edge(0, 5)
    graph.add_edge(1, 5)
    assert nx.triangles(graph, backend="rapids_tc") == original("triangles", graph)
    assert len(made) == 2
    with nx.config(cache_converted_graphs=False):
        nx.triangles(graph, backend="rapids_tc")
    assert len(made) == 3


# Every way to see a graph through another, and views of views.
VIEWS = {
    "subgraph": lambda g: g.subgraph(g),
    "subgraph of a subgraph": lambda g: g.subgraph(range(7)).subgraph(range(6)),
    "induced_subgraph": lambda g: nx.induced_subgraph(g, range(6)),
    "edge_subgraph": lambda g: g.edge_subgraph(list(g.edges)),
    "subgraph_view": lambda g: nx.subgraph_view(g, filter_edge=lambda u, v: u + v != 5),
    "restricted_view": lambda g: nx.restricted_view(g, [7], [(2, 3)]),
    "copy": lambda g: g.copy(as_view=True),
    "to_undirected": lambda g: g.to_undirected(as_view=True),
    "nx.to_undirected": nx.to_undirected,
    "there and back": lambda g: g.to_directed(as_view=True).to_undirected(as_view=True),
    "generic_graph_view": nx.graphviews.generic_graph_view,
    "of a frozen graph": lambda g: nx.freeze(g.copy(as_view=True)).subgraph(g),
    "a shallow copy": lambda g: copy.copy(g.subgraph(g)),
    "of a subclass": lambda g: nx.graphviews.generic_graph_view(g, create_using=Subclass),
}
ASKED = {
    **{name: {} for name in sorted(SERVED - {"k_truss", "triadic_census", *PAIRS, *OF_SIDES})},
    **{name: {"ebunch": [(1, 2), (0, 5)]} for name in PAIRS},
    "k_truss": {"k": 3},
    "local_bridges": {"with_span": False},
    "clustering by weight": {"weight": "weight"},
}


def asked_of(call, graph):
    """What all functions say of a graph, or the call refuses."""
    answers = {}
    for name, arguments in ASKED.items():
        answer = call(name.split()[0], graph, **arguments)
        if name == "all_triangles":
            answers[name] = sorted(answer)
        else:
            answers[name] = list(answer) if inspect.isgenerator(answer) else answer
    return answers


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_is_of_its_graph_as_it_is_now(call, view):
    graph = marked(nx.complete_graph(8))
    seen = VIEWS[view](graph)
    changes = [
        lambda: graph.remove_edge(0, 1),
        lambda: graph.add_edge(0, 1, weight=9.0),
        lambda: graph.remove_node(4),
        lambda: graph.edges[0, 2].update(weight=5.0),
        lambda: graph.clear_edges(),
    ]
    for change in [lambda: None, *changes]:
        change()
        found, expected = asked_of(call, seen), asked_of(original, seen)
        weighted = "clustering by weight"
        assert found.pop(weighted) == pytest.approx(expected.pop(weighted), rel=1e-12)
        for name, answer in expected.items():
            if isinstance(answer, float):
                assert found[name] == pytest.approx(answer, rel=1e-12)
            elif name in HOLES:
                assert_near(found[name], answer)
            elif name in PAIRS:
                assert_same_pairs(found[name], answer)
            else:
                assert_same(found[name], answer)


@pytest.mark.parametrize("again", [copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g))])
def test_a_view_that_travels_is_of_its_own_graph(call, again):
    graph = nx.complete_graph(5)
    seen = graph.subgraph(graph)
    call("triangles", seen)
    other = again(seen)
    call("triangles", other)
    other._graph.remove_edge(0, 1)
    assert call("triangles", other, 0) == 3
    assert call("triangles", seen, 0) == 6


def test_a_filter_may_change_its_mind(call):
    hidden = set()
    view = nx.subgraph_view(nx.complete_graph(6), filter_node=lambda node: node not in hidden)
    for node in (None, 3, 4):
        hidden.add(node)
        assert_same(call("triangles", view), original("triangles", view))


@pytest.mark.parametrize("one_way", [lambda u, v: u < v, lambda u, v: u > v, lambda u, v: v != 2])
def test_a_filter_that_sees_one_direction_is_left_to_networkx(call, first_choice, one_way):
    view = nx.subgraph_view(nx.complete_graph(70), filter_edge=one_way)
    for name, arguments in ASKED.items():
        with pytest.raises(NotImplementedError):
            call(name.split()[0], view, **arguments)
    assert nx.triangles(view) == original("triangles", view)


DIRECTED_VIEWS = {
    "to_undirected": lambda g: g.to_undirected(as_view=True),
    "subgraph": lambda g: g.to_undirected(as_view=True).subgraph(g),
    "of a subgraph": lambda g: g.subgraph(g).to_undirected(as_view=True),
    "edge_subgraph": lambda g: nx.restricted_view(nx.to_undirected(g), [], [(0, 2)]),
    "copy": lambda g: nx.to_undirected(g).copy(as_view=True),
}


@pytest.mark.parametrize("view", DIRECTED_VIEWS)
def test_attributes_of_two_directions_are_left_to_networkx(call, first_choice, monkeypatch, view):
    monkeypatch.setattr(ours, "SMALL", 0)
    graph = nx.complete_graph(5, create_using=nx.DiGraph)
    for number, edge in enumerate(graph.edges):
        graph.edges[edge].update(weight=number + 1.0, way=edge)
    seen = DIRECTED_VIEWS[view](graph)
    for name in ("clustering", "average_clustering"):
        assert "directed" in ours.can_run(name, (seen,), {"weight": "weight"})
        expected = original(name, seen, weight="weight")
        assert getattr(nx, name)(seen, weight="weight") == expected
        with pytest.raises(NotImplementedError):
            call(name, seen, weight="weight")
        assert ours.can_run(name, (seen,), {}) is True
    assert "directed" in ours.can_run("k_truss", (seen, 3), {})
    assert_same(nx.k_truss(seen, 3), original("k_truss", seen, 3))
    with pytest.raises(NotImplementedError):
        call("k_truss", seen, 3)
    with pytest.raises(NotImplementedError, match="directed"):
        ours.convert_from_nx(seen, preserve_edge_attrs=True)
    for change in (lambda: None, lambda: graph.remove_edges_from([(0, 1), (1, 0)])):
        change()
        for name in BY_NODE:
            assert_same(call(name, seen), original(name, seen))


@pytest.mark.parametrize("again", [copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g))])
def test_a_graph_with_its_conversion_is_copied_and_pickled(again):
    graph = marked(nx.karate_club_graph())
    nx.k_truss(graph, 3, backend="rapids_tc")
    other = again(graph)
    assert other.__networkx_cache__["backends"]["rapids_tc"]
    for name in BY_NODE:
        assert_same(getattr(nx, name)(other, backend="rapids_tc"), original(name, graph))


def test_a_pickled_graph_does_not_carry_its_conversion(call):
    graph = nx.gnm_random_graph(300, 2000, seed=1)
    before = len(pickle.dumps(graph))
    call("triangles", graph)
    call("clustering", graph)
    assert len(pickle.dumps(graph)) < before + 200
    assert len(pickle.dumps(copy.deepcopy(graph))) < before + 200
    other = pickle.loads(pickle.dumps(graph))
    assert_same(call("triangles", other), original("triangles", graph))
    [converted] = other.__networkx_cache__["backends"]["rapids_tc"].values()
    assert converted is not None  # the next call does not convert again


def test_a_small_graph_that_travelled_is_as_small_as_before():
    graph = nx.complete_graph(5)
    nx.triangles(graph, backend="rapids_tc")
    assert ours.should_run("triangles", (graph,), {}) is True
    other = pickle.loads(pickle.dumps(graph))
    assert "fewer than" in ours.should_run("triangles", (other,), {})


def test_a_conversion_of_the_users_own_is_pickled_whole():
    converted = ours.convert_from_nx(nx.complete_graph(5))
    for other in (pickle.loads(pickle.dumps(converted)), copy.deepcopy(converted)):
        assert nx.triangles(other) == dict.fromkeys(range(5), 6)
        assert nx.triangles(pickle.loads(pickle.dumps(other))) == dict.fromkeys(range(5), 6)


@pytest.fixture
def warned():
    """All warnings in a list, and NetworkX's of its cache among them."""
    with nx.config(warnings_to_ignore=set()), warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        yield shown


def test_networkxs_warning_of_its_cache_is_shown_once(call, warned):
    """It is another text for each function, and each would be shown."""
    for seed in (1, 2):
        graph = nx.gnm_random_graph(20, 60, seed=seed)
        for name in (*BY_NODE, "transitivity", "average_clustering", "triangles"):
            call(name, graph)
    assert [str(note.message)[:40] for note in warned] == [
        "Note: conversions to backend graphs are "
    ]


def test_other_warnings_and_filters_of_the_user_are_left_alone(call, warned):
    graph = nx.complete_graph(5)
    for _ in range(3):
        call("triangles", graph)
    text = "Note: conversions to backend graphs are saved to cache for the 'other' backend"
    warnings.warn(text, stacklevel=1)
    assert len(warned) == 2
    warnings.simplefilter("error")
    for _ in range(2):
        with pytest.raises(UserWarning, match="'rapids_tc' backend"):
            call("triangles", graph)


@ANY
def test_a_converted_graph_is_one_of_networkxs_backends(graph):
    converted = ours.convert_from_nx(graph, preserve_edge_attrs=True, preserve_node_attrs=True)
    assert_same(nx.triangles(converted), original("triangles", graph))
    copied = nx.Graph.copy(graph)
    assert_same(ours.convert_to_nx(converted), copied)
    if not nx.number_of_selfloops(graph):
        assert_same(nx.k_truss(converted, 3), original("k_truss", graph, 3))
    with pytest.raises(NotImplementedError):
        nx.average_neighbor_degree(converted)
    with nx.config(fallback_to_nx=True):
        assert nx.average_neighbor_degree(converted) == nx.average_neighbor_degree(graph)


def test_what_cannot_be_converted():
    for graph in (nx.MultiGraph(), nx.MultiDiGraph()):
        with pytest.raises(NotImplementedError, match="multigraph"):
            ours.convert_from_nx(graph)


@pytest.mark.cpu_only
def test_the_engine_by_keyword_or_configuration():
    graph = nx.complete_graph(5)
    with pytest.raises(tc.KernelError, match="cuDF"):
        nx.triangles(graph, backend="rapids_tc", engine="cuda")
    with pytest.raises(ValueError, match="gpu"):
        nx.triangles(graph, backend="rapids_tc", engine="gpu")
    with nx.config.backends.rapids_tc(engine="cuda"):
        with pytest.raises(tc.KernelError, match="cuDF"):
            nx.triangles(graph, backend="rapids_tc")
        assert nx.triangles(graph, 0, backend="rapids_tc", engine="cpu") == 6


# NetworkX's own tests -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The environment of a process in which this package is an installed one."""
    folder = tmp_path_factory.mktemp("installed")
    metadata = folder / f"rapids_tc-{tc.__version__}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: rapids_tc\nVersion: {tc.__version__}\n"
    )
    lines = [
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in points.items())
        for group, points in GROUPS.items()
    ]
    (metadata / "entry_points.txt").write_text("\n".join(lines))
    path = os.pathsep.join([str(folder), str(Path(tc.__file__).parents[1])])
    return {**os.environ, "PYTHONPATH": path}


def run(code, env, cwd):
    return subprocess.run(
        [sys.executable, "-c", code], env=env, cwd=cwd, capture_output=True, text=True
    )


def test_networkx_finds_the_backend_and_loads_nothing_heavy_for_it(installed, tmp_path):
    code = """
import sys, networkx as nx
print([m for m in ("pandas", "numba", "cupy", "rapids_tc.interop.networkx") if m in sys.modules])
assert nx.config.backends.rapids_tc.engine is None
nx.config.backend_priority.algos = ["rapids_tc"]
print(nx.triangles(nx.complete_graph(100), [0, 1]), "numba" in sys.modules)
print(nx.triangles(nx.complete_graph(100)) == {i: 4851 for i in range(100)}, "numba" in sys.modules)
print("rapids_tc :" in nx.k_truss.__doc__)
"""
    done = run(code, {**installed, "NETWORKX_BACKEND_PRIORITY": ""}, tmp_path)
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["[]", "{0: 4851, 1: 4851} False", "True True", "True"]


OWN_TESTS = (
    *("tests.test_cluster", "tests.test_core", "tests.test_triads", "tests.test_bridges"),
    *("tests.test_structuralholes", "tests.test_link_prediction", "bipartite.tests.test_cluster"),
    "bipartite.tests.test_project",
)


def test_networkxs_own_tests_pass(installed, tmp_path):
    env = {**installed, "NETWORKX_TEST_BACKEND": "rapids_tc", "NETWORKX_FALLBACK_TO_NX": "True"}
    env.pop("PYTEST_ADDOPTS", None)
    modules = [f"networkx.algorithms.{name}" for name in OWN_TESTS]
    options = ["-p", "no:cacheprovider", "-o", "log_cli=true", "-o", "log_cli_level=DEBUG"]
    code = f"import networkx, pytest; pytest.main({[*options, '--pyargs', *modules]})"
    done = run(code, env, tmp_path)
    last = done.stdout.splitlines()[-1]
    assert re.fullmatch(r"=+ (\d+) passed(, \d+ (skipped|warnings?))* in .*=+", last), done.stdout[
        -5000:
    ]
    assert int(re.search(r"(\d+) passed", last)[1]) >= 80
    used = Counter(re.findall(r"Using backend 'rapids_tc' for call to '(\w+)'", done.stdout))
    assert used.keys() == SERVED
    assert used["triangles"] >= 10
