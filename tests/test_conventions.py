"""Every value in the table of conventions is what the tools give that are installed."""

import math
import re
import warnings
from pathlib import Path

import igraph as ig
import networkx as nx
import pandas as pd
import pytest

import rapids_tc as tc

PAGE = Path(__file__).parents[1] / "docs" / "conventions.md"
TOOLS = ("rapids_tc", "NetworkX", "igraph")
TAILED = [(0, 1), (1, 2), (2, 0), (2, 3)]
CYCLE, EDGE = TAILED[:3], [(0, 1)]
WEIGHTS = [1, 2, 4, 1]


def rows():
    """{first cell: {tool: cell}} of every row of values."""
    found = {}
    for line in PAGE.read_text().splitlines():
        if line.startswith("| ") and not line.startswith("| |"):
            name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
            assert len(cells) == 4 and name not in found
            found[name] = dict(zip((*TOOLS, "cuGraph"), cells, strict=True))
    return found


def frame(edges, **columns):
    return pd.DataFrame(edges, columns=["src", "dst"]).assign(**columns)


def weighted(edges, weights):
    graph = nx.Graph()
    graph.add_weighted_edges_from((*e, w) for e, w in zip(edges, weights, strict=True))
    return graph


def of_vertex(values, vertex):
    return values.set_index("vertex").iloc[:, 0][vertex]


def corners(graph, *of):
    """Triangles of an igraph graph that hold all of these."""
    return sum(set(of) <= set(triangle) for triangle in graph.list_triangles())


def average(graph, **options):
    return graph.transitivity_avglocal_undirected(**options)


ours, theirs, graphs = frame(TAILED), nx.Graph(TAILED), ig.Graph(TAILED)
isolated = nx.Graph(TAILED)
isolated.add_node(4)
null = pd.DataFrame({"source": ["a", "b", None], "target": ["b", None, "a"]})

# What is computed for each row, by tool: the values that the cells show, in their order.
VALUES = {
    "triangles of the graph": (
        [lambda: tc.count(ours)],
        [lambda: sum(nx.triangles(theirs).values()) // 3],
        [lambda: len(graphs.list_triangles())],
    ),
    "triangles of vertex 2": (
        [lambda: of_vertex(tc.vertex_triangles(ours), 2)],
        [lambda: nx.triangles(theirs, 2)],
        [lambda: corners(graphs, 2)],
    ),
    "triangles of the edge 0-1": (
        [lambda: tc.edge_triangles(ours)[0]],
        [lambda: len(list(nx.common_neighbors(theirs, 0, 1)))],
        [lambda: corners(graphs, 0, 1)],
    ),
    "direction: the cycle 0→1→2→0": (
        [lambda: tc.count(frame(CYCLE))],
        [
            lambda: nx.triangles(nx.DiGraph(CYCLE)),
            lambda: nx.clustering(nx.DiGraph(CYCLE), 0),
        ],
        [lambda: len(ig.Graph(CYCLE, directed=True).list_triangles())],
    ),
    "repeated edges: 0-1 twice": (
        [lambda: tc.count(frame([*TAILED, (1, 0)]))],
        [
            lambda: nx.triangles(nx.Graph([*TAILED, (1, 0)]), 0),
            lambda: nx.clustering(nx.MultiGraph([*TAILED, (1, 0)])),
        ],
        [lambda: len(ig.Graph([*TAILED, (1, 0)]).list_triangles())],
    ),
    "self loop at 2: its clustering": (
        [lambda: of_vertex(tc.clustering(frame([*TAILED, (2, 2)])), 2)],
        [
            lambda: nx.clustering(nx.Graph([*TAILED, (2, 2)]), 2),
            lambda: nx.k_truss(nx.Graph([*TAILED, (2, 2)]), 3),
        ],
        [lambda: ig.Graph([*TAILED, (2, 2)]).transitivity_local_undirected(2)],
    ),
    "self loop at 4: number of vertices": (
        [lambda: tc.Graph(frame([*TAILED, (4, 4)])).n_vertices],
        [lambda: len(nx.Graph([*TAILED, (4, 4)]))],
        [lambda: ig.Graph([*TAILED, (4, 4)]).vcount()],
    ),
    "isolated vertex 4: average clustering": (
        [lambda: tc.average_clustering(tc.Graph(ours, vertices=[4]))],
        [lambda: nx.average_clustering(isolated)],
        [lambda: average(ig.Graph(n=5, edges=TAILED), mode="zero")],
    ),
    "gaps: the ids 10, 11, 12": (
        [lambda: tc.Graph(frame([(u + 10, v + 10) for u, v in CYCLE])).n_vertices],
        [lambda: len(nx.Graph([(u + 10, v + 10) for u, v in CYCLE]))],
        [lambda: ig.Graph([(u + 10, v + 10) for u, v in CYCLE]).vcount()],
    ),
    "edges of the 3-truss": (
        [lambda: len(tc.k_truss(ours, 3))],
        [lambda: nx.k_truss(theirs, 3).size()],
        [],
    ),
    "edges of the 2-truss": (
        [lambda: len(tc.k_truss(ours, 2))],
        [lambda: nx.k_truss(theirs, 2).size()],
        [],
    ),
    "edges of the 9-truss": (
        [lambda: len(tc.k_truss(ours, 9))],
        [lambda: nx.k_truss(theirs, 9).size()],
        [],
    ),
    "k = 1": ([lambda: tc.k_truss(ours, 1)], [lambda: nx.k_truss(theirs, 1).size()], []),
    "truss number of the edge 2-3": ([lambda: tc.trussness(ours)[3]], [], []),
    "clustering of vertex 3, of degree 1": (
        [lambda: of_vertex(tc.clustering(ours), 3)],
        [lambda: nx.clustering(theirs, 3)],
        [
            lambda: graphs.transitivity_local_undirected(3),
            lambda: graphs.transitivity_local_undirected(3, mode="zero"),
        ],
    ),
    "average clustering": (
        [lambda: tc.average_clustering(ours)],
        [lambda: nx.average_clustering(theirs)],
        [lambda: average(graphs), lambda: average(graphs, mode="zero")],
    ),
    "average clustering without zeros": (
        [lambda: tc.average_clustering(ours, count_zeros=False)],
        [lambda: nx.average_clustering(theirs, count_zeros=False)],
        [],
    ),
    "average clustering of no vertex": (
        [lambda: tc.average_clustering(ours.head(0))],
        [lambda: nx.average_clustering(nx.Graph())],
        [lambda: average(ig.Graph())],
    ),
    "transitivity": (
        [lambda: tc.transitivity(ours)],
        [lambda: nx.transitivity(theirs)],
        [lambda: graphs.transitivity_undirected()],
    ),
    "transitivity of a single edge": (
        [lambda: tc.transitivity(frame(EDGE))],
        [lambda: nx.transitivity(nx.Graph(EDGE))],
        [lambda: ig.Graph(EDGE).transitivity_undirected()],
    ),
    "weights 1, 2, 4, 1: clustering of vertex 2": (
        [lambda: of_vertex(tc.clustering(frame(TAILED, w=WEIGHTS), weight="w"), 2)],
        [lambda: nx.clustering(weighted(TAILED, WEIGHTS), 2, weight="weight")],
        [lambda: graphs.transitivity_local_undirected(2, weights=WEIGHTS)],
    ),
    "the same and a self loop of weight 8": (
        [
            lambda: of_vertex(
                tc.clustering(frame([*TAILED, (2, 2)], w=[*WEIGHTS, 8]), weight="w"), 2
            )
        ],
        [lambda: nx.clustering(weighted([*TAILED, (2, 2)], [*WEIGHTS, 8]), 2, weight="weight")],
        [],
    ),
    "weights 1, 2, 4 of a triangle: effective size of vertex 0": (
        [
            lambda: of_vertex(
                tc.annotate_vertices(frame(CYCLE, w=WEIGHTS[:3]), "effective_size", weight="w"), 0
            )
        ],
        [
            lambda: nx.effective_size(weighted(CYCLE, WEIGHTS[:3]), nodes=[0], weight="weight")[0],
            lambda: nx.effective_size(weighted(CYCLE, WEIGHTS[:3]), weight="weight")[0],
        ],
        [],
    ),
    "Jaccard of 0 and 2": (
        [lambda: tc.similarity(ours)[2]],
        [lambda: next(nx.jaccard_coefficient(theirs, [(0, 2)]))[2]],
        [
            lambda: graphs.similarity_jaccard(pairs=[(0, 2)])[0],
            lambda: graphs.similarity_jaccard(pairs=[(0, 2)], loops=False)[0],
        ],
    ),
    "a null as id": (
        [lambda: tc.count(null)],
        [lambda: len(nx.from_pandas_edgelist(null))],
        [lambda: ig.Graph.DataFrame(null, directed=False, use_vids=False).vcount()],
    ),
    "vertices asked for that are not there": (
        [lambda: tc.clustering(ours, vertices=[7])],
        [lambda: len(nx.clustering(theirs, [7]))],
        [lambda: graphs.transitivity_local_undirected([7])],
    ),
    "triangles of vertices": (
        [lambda: tc.vertex_triangles(ours)["triangles"].dtype.name],
        [lambda: type(nx.triangles(theirs)[2]).__name__],
        [],
    ),
    "clustering of vertices": (
        [lambda: tc.clustering(ours)["clustering"].dtype.name],
        [
            lambda: type(nx.clustering(theirs)[2]).__name__,
            lambda: type(nx.clustering(theirs)[3]).__name__,
        ],
        [lambda: type(graphs.transitivity_local_undirected()[3]).__name__],
    ),
}
WORDS = {"what comes back", "which pairs", "ids"}  # rows without a value


def shown(compute):
    """What a computation gives, as the table writes it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = compute()
    except Exception as error:
        return type(error).__name__
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else repr(round(float(value), 4))
    return str(int(value))


@pytest.mark.cpu_only
@pytest.mark.parametrize("name", VALUES)
def test_a_row_is_what_the_tools_give(name):
    for tool, computations in zip(TOOLS, VALUES[name], strict=True):
        told = re.findall(r"`([^`]+)`", rows()[name][tool])
        values = [shown(compute) for compute in computations]
        assert [code for code in told if code in values] == values, f"{name}, {tool}: {values}"
        numbers = [code for code in told if re.fullmatch(r"[\d.]+|NaN|\w+Error", code)]
        assert set(numbers) <= set(values), f"{name}, {tool} tells more than was computed"


def test_every_row_is_checked():
    assert rows().keys() == VALUES.keys() | WORDS


def test_what_is_said_to_be_missing_is_missing():
    """A dash in igraph's column is no function of that name; NetworkX has no truss numbers."""
    assert not [name for name in dir(ig.Graph) if "truss" in name.lower()]
    assert not [name for name in dir(nx) if name in ("trussness", "truss_number", "edge_truss")]
