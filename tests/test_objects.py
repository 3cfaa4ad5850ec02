"""What is no frame is refused with a line to type, and the line works."""

import inspect
import json
import re
import subprocess
import sys
import types

import igraph
import networkx as nx
import numpy as np
import pandas as pd
import pytest
import reference
import scipy.sparse
from needs import need_module

import rapids_tc as tc
from rapids_tc import files

pytestmark = pytest.mark.cpu_only

# Two triangles on an edge, a path to 5, and 6, which is in no edge.
EDGES = [(0, 1), (1, 2), (2, 0), (1, 3), (3, 2), (3, 4), (4, 5)]
NODES = 7


def nx_graph(kind=nx.Graph):
    graph = kind()
    graph.add_nodes_from(range(NODES))
    graph.add_edges_from(EDGES)
    return graph


def networkit_graph(folder):
    graph = need_module("networkit").Graph(NODES)
    for edge in EDGES:
        graph.addEdge(*edge)
    return graph


def adjacency():
    return nx.to_scipy_sparse_array(nx_graph())


def edge_file(name, text):
    def make(folder):
        (folder / name).write_text(text)
        return files.read_edges(folder / name)

    return make


def paid_file(folder):
    (folder / "paid.csv").write_text(PAID)
    named = {"source": "payer", "destination": "payee"}
    return files.read_edges(folder / "paid.csv", columns="all", **named)


METIS = "7 7\n2 3\n1 3 4\n1 2 4\n2 3 5\n4 6\n5\n\n"
PAID = "payer,payee,kg\n" + "".join(f"{u},{v},1\n" for u, v in EDGES)
GML = "graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 ] ]"
CSV = "src,dst\n" + "".join(f"{u},{v}\n" for u, v in EDGES)

# By name: the object, and whether it says that 6 is a vertex.
OBJECTS = {
    "nx.Graph": (lambda folder: nx_graph(), True),
    "nx.DiGraph": (lambda folder: nx_graph(nx.DiGraph), True),
    "nx.MultiGraph": (lambda folder: nx_graph(nx.MultiGraph), True),
    "igraph": (lambda folder: igraph.Graph(n=NODES, edges=EDGES), True),
    "networkit": (networkit_graph, True),
    "dense matrix": (lambda folder: adjacency().toarray(), True),
    "array of two rows": (lambda folder: np.array(EDGES).T, False),
    "array with weights": (lambda folder: np.array([(*edge, 9) for edge in EDGES]), False),
    "records": (lambda folder: np.array(EDGES, [("src", "i8"), ("dst", "i8")]), False),
    "list": (lambda folder: EDGES, False),
    "dict": (
        lambda folder: dict(zip(["src", "dst"], zip(*EDGES, strict=True), strict=True)),
        False,
    ),
    "path": (lambda folder: [edge_file("g.csv", CSV)(folder), folder / "g.csv"][1], False),
    "name": (lambda folder: [edge_file("g.csv", CSV)(folder), str(folder / "g.csv")][1], False),
}


def line_of(error):
    """The expression that the message of an error says to write or to give."""
    [line] = re.findall(
        r": (?:write|give) (.*?)(?:, or call|, or edge_index|, if |, which|; accepted: )", error
    )
    return line


@pytest.mark.parametrize("name", OBJECTS)
def test_the_line_to_type_works(tmp_path, name):
    make, isolated = OBJECTS[name]
    edges = make(tmp_path)
    with pytest.raises(TypeError, match="DataFrame") as caught:
        tc.count(edges)
    assert type(edges).__name__ in str(caught.value)
    with pytest.raises(TypeError, match=re.escape(line_of(str(caught.value)))):
        tc.annotate(edges, "triangles")
    names = {"nx": nx, "pd": pd, "np": np, "scipy": scipy, "tc": tc, "edges": edges}
    found = eval(line_of(str(caught.value)), names)
    assert tc.count(found) == reference.count(EDGES) == 2
    n = NODES if isolated else NODES - 1
    assert sum(tc.triad_counts(found)["count"]) == n * (n - 1) * (n - 2) // 6


@pytest.mark.parametrize(
    ("make", "isolated"),
    [
        (edge_file("g.csv", CSV), False),
        (paid_file, False),
        (edge_file("g.graph", METIS), True),
    ],
)
def test_a_file_that_was_read_is_edges(tmp_path, make, isolated):
    file, n = make(tmp_path), NODES if isolated else NODES - 1
    assert tc.count(file) == tc.count(tc.Graph(file)) == reference.count(EDGES) == 2
    assert tc.Graph(file).n_vertices == n == len(tc.vertex_triangles(file))
    assert sum(tc.triad_counts(file)["count"]) == n * (n - 1) * (n - 2) // 6
    assert tc.edge_triangles(file).tolist() == tc.edge_triangles(file.frame, **ids(file)).tolist()
    assert tc.Graph(file, vertices=[99]).n_vertices == n + 1
    assert max(tc.memory_estimate(file).values()) > 0
    wide = tc.annotate(file, "triangles")
    assert wide.columns.tolist() == [*file.frame.columns, "triangles"]
    if isolated:
        with pytest.raises(ValueError, match="1 vertices without an edge, which are in no group"):
            tc.count(file, by="src")


def ids(file):
    return dict(zip(("source", "destination"), file.ids, strict=True))


def test_a_file_says_which_edges_have_a_direction(tmp_path):
    undirected = edge_file("g.gml", GML)(tmp_path)
    with pytest.raises(ValueError, match=r"read_edges\(path, directed=True\) reads each both ways"):
        tc.transitivity(undirected, directed=True)
    both = files.read_edges(tmp_path / "g.gml", directed=True)
    assert tc.triad_counts(both, directed=True)["count"].sum() == 0 == tc.count(undirected)
    one_way = edge_file("one.gml", GML.replace("[", "[ directed 1", 1))(tmp_path)
    assert tc.transitivity(one_way, directed=True) == 0


@pytest.mark.parametrize("name", ["nx.Graph", "igraph", "networkit"])
def test_the_line_says_that_edges_have_no_direction(tmp_path, name):
    make = OBJECTS[name][0]
    with pytest.raises(TypeError, match=r", which has each edge once: for directed=True, "):
        tc.count(make(tmp_path))
    for edges in (nx_graph(nx.DiGraph), igraph.Graph(3, EDGES[:3], directed=True)):
        with pytest.raises(TypeError, match="Graph") as caught:
            tc.count(edges)
        assert "once" not in str(caught.value)


@pytest.mark.parametrize("empty", [nx.empty_graph(3), igraph.Graph(3), np.zeros((3, 3))])
def test_the_line_works_without_edges(empty):
    with pytest.raises(TypeError) as caught:
        tc.Graph(empty)
    line = line_of(str(caught.value))
    found = eval(line, {"nx": nx, "pd": pd, "scipy": scipy, "tc": tc, "edges": empty})
    graph = found if isinstance(found, tc.Graph) else tc.Graph(found)
    assert graph.n_vertices == 3


def test_networkx_itself_is_named():
    with pytest.raises(TypeError, match='call NetworkX with backend="rapids_tc"'):
        tc.count(nx_graph())


@pytest.mark.parametrize("method", ["to_pandas", "toPandas", "to_arrow"])
def test_a_frame_of_another_library_is_converted_by_its_own_method(method):
    foreign = type("DataFrame", (), {"columns": ["src", "dst"], method: lambda self: None})()
    with pytest.raises(TypeError, match=rf"type DataFrame: give edges\.{method}\(\)"):
        tc.count(foreign)


def test_what_nobody_knows_is_refused_with_what_is_accepted():
    for edges in (None, 3, np.arange(3), object(), nx.Graph, types.SimpleNamespace(columns=[])):
        with pytest.raises(TypeError, match=r"edges is of type [^:]*; accepted: a pandas or cuDF"):
            tc.count(edges)


def test_no_library_is_imported_to_recognize_an_object():
    code = (
        "import sys, json, numpy, rapids_tc as tc\n"
        "for edges in ([(0, 1)], numpy.zeros((3, 3)), object()):\n"
        "    try: tc.count(edges)\n"
        "    except TypeError: pass\n"
        "others = {'networkx', 'igraph', 'scipy', 'polars'} & set(sys.modules)\n"
        "print(json.dumps([*others]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []


# Calls --------------------------------------------------------------------------------------------

FRAME = pd.DataFrame({"payer": [0, 1, 2], "payee": [1, 2, 0], "amount": [5, 6, 7]})

CALLS = [
    (
        lambda: tc.count(FRAME, "payer", "payee"),
        "count(edges, source='payer', destination='payee')",
    ),
    (
        lambda: tc.k_truss(FRAME, 3, "payer", "payee"),
        "k_truss(edges, k, source='payer', destination='payee')",
    ),
    (
        lambda: tc.k_truss(FRAME, "payer", "payee"),
        "k_truss(edges, k, source='payer', destination='payee')",
    ),
    (
        lambda: tc.Graph(FRAME, "payer", "payee"),
        "Graph(edges, source='payer', destination='payee')",
    ),
    (lambda: tc.memory_estimate(FRAME, "payer", "payee"), "memory_estimate(edges, source='payer',"),
    (lambda: tc.count(FRAME, src="payer", dst="payee"), "did you mean source=?"),
    (lambda: tc.count(FRAME, source="payer", target="payee"), "did you mean destination=?"),
    (lambda: tc.clustering(FRAME, weights="amount"), "did you mean weight=?"),
    (lambda: tc.count(FRAME, groupby="amount"), "did you mean by=?"),
    (lambda: tc.vertex_triangles(FRAME, nodes=[1]), "did you mean vertices=?"),
    (lambda: tc.count(FRAME, methods="auto"), "did you mean method=?"),
    (lambda: tc.count(FRAME, zzz=1), "it takes time=, within=, where=, source=, destination="),
    (lambda: tc.Graph(FRAME, src="payer"), "did you mean source=?"),
    (lambda: tc.vertex_triangles(FRAME, [1]), "are named: vertex_triangles(edges, vertices="),
    (lambda: tc.annotate(FRAME, columns=["triangles"]), "annotate(edges, *columns)"),
    (lambda: tc.k_truss(FRAME), "call it as k_truss(edges, k)"),
    (lambda: tc.balance(FRAME), "balance(edges, sign=)"),
]


@pytest.mark.parametrize(("call", "words"), CALLS, ids=[words for _, words in CALLS])
def test_a_wrong_call_is_told_what_to_write(call, words):
    with pytest.raises(TypeError, match=re.escape(words)):
        call()


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ((), "names no column to add"),
        (("triangels",), "did you mean 'triangles'?"),
        (("Jaccard",), "did you mean 'jaccard'?"),
        ((["triangles", "jaccard"],), "annotate(edges, 'triangles', 'jaccard')"),
        (("triangles", "triangles"), "names a column twice"),
        (("clustering",), "a function, tc.clustering(edges)"),
        (("payer", "payee"), "id columns are named by source='payer', destination='payee'"),
        ((3,), "3 is no column that annotate adds"),
    ],
)
def test_annotate_says_what_is_wrong_with_a_name(columns, words):
    with pytest.raises(
        ValueError, match=re.escape(words) + r".*name each of \[.*'jaccard', .*once"
    ):
        tc.annotate(FRAME, *columns, source="payer", destination="payee")


def test_the_first_two_columns_are_the_example_of_how_to_name_them():
    with pytest.raises(ValueError, match=r"example source='payer', destination='payee'$"):
        tc.count(FRAME)
    with pytest.raises(ValueError, match=r"the frame has the columns 'payer'$"):
        tc.count(FRAME[["payer"]])


def test_signatures_are_those_of_the_functions():
    assert [*inspect.signature(tc.Graph).parameters][:2] == ["edges", "vertices"]
    assert [*inspect.signature(tc.memory_estimate).parameters][:2] == ["edges", "function"]


@pytest.mark.parametrize("library", ["pandas", "polars", "lazy"])
def test_a_grouped_frame_is_answered_by_groups(library):
    frame = pd.DataFrame(EDGES, columns=["src", "dst"]).assign(day=0)
    if library == "pandas":
        grouped = frame.groupby("day")
    else:
        polars = need_module("polars").from_pandas(frame)
        grouped = (polars.lazy() if library == "lazy" else polars).group_by("day")
    with pytest.raises(TypeError, match=r"the frame that was grouped, and .* as by=; accepted"):
        tc.count(grouped)
