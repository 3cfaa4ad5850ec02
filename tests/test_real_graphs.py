"""Real graphs whose answers were made three ways, and the exactly solvable Theory graphs."""

import importlib.util

import pandas as pd
import pytest
from answers import graph_rows

import rapids_tc as tc
from rapids_tc.files import EdgeFileError, read_edges

pytestmark = pytest.mark.large

MANIFEST = graph_rows("manifest.csv")
THEORY = graph_rows("theory_answers.csv")
# Originals that are no edge list: MATLAB and WebGraph binaries, and a full adjacency matrix.
OTHER_FORMATS = ("MATLAB", "WebGraph")
MATRIX = "orig/drosophila-MB-left.csv.xz"
SENSIBLE = 3_200_000  # rows of a Theory graph that a test may build
MANY = 1_000_000  # triangles of a graph that is not peeled twice


def is_edge_list(row):
    return (
        row["orig"] and row["orig"] != MATRIX and not row["orig_format"].startswith(OTHER_FORMATS)
    )


def those(parameters, wanted):
    """The parameters whose row is wanted, and the one that stands for a missing folder."""
    return [p for p in parameters if p.values[0] is None or wanted(p.values[0])]


def sum_of_squares(series):
    """Exact: squares of counts leave 64 bits early."""
    return sum(int(value) ** 2 * int(times) for value, times in series.value_counts().items())


@pytest.mark.parametrize("row", MANIFEST)
def test_real_graph(backend, shared_graphs, row):
    file = read_edges(shared_graphs / row["file"])
    assert (len(file.frame), len(file.isolated)) == (int(row["edges"]), int(row["isolated"]))
    edges = backend.frame(file.frame)
    graph = tc.Graph(edges, vertices=file.isolated)
    assert graph.n_vertices == int(row["vertices"])
    assert graph.n_edges == int(row["edges"])
    assert tc.count(graph) == int(row["triangles"])
    assert tc.transitivity(graph) == pytest.approx(float(row["transitivity"]), rel=1e-12)
    corners = backend.to_pandas(tc.vertex_triangles(graph))["triangles"]
    assert sum_of_squares(corners) == int(row["sum_sq_vertex_triangles"])
    assert (len(corners), corners.max()) == (graph.n_vertices, int(row["max_vertex_triangles"]))
    assert tc.average_clustering(graph) == pytest.approx(float(row["avg_clustering"]), rel=1e-12)
    sides = backend.to_pandas(tc.edge_triangles(graph))
    assert sum_of_squares(sides) == int(row["sum_sq_edge_support"])
    assert (len(sides), sides.max()) == (graph.n_edges, int(row["max_edge_support"]))
    numbers = backend.to_pandas(tc.trussness(graph))
    assert int(numbers.sum()) == int(row["sum_truss_numbers"])
    assert numbers.max() == int(row["max_truss"])
    assert len(tc.k_truss(graph, "max")) == int(row["max_truss_edges"])
    if int(row["triangles"]) < MANY:
        assert len(tc.k_truss(edges, int(row["max_truss"]))) == int(row["max_truss_edges"])


@pytest.mark.parametrize("row", those(MANIFEST, is_edge_list))
def test_real_graph_as_published(backend, shared_graphs, row):
    file = read_edges(shared_graphs / row["orig"])
    if row["orig"].endswith((".xz", ".mtx")) and "drosophila" not in row["name"]:
        assert len(file.frame) == int(row["file_pairs"])
        assert (file.frame["src"] == file.frame["dst"]).sum() == int(row["file_self_loops"])
    edges = backend.frame(file.frame)
    graph = tc.Graph(edges, vertices=file.isolated)
    assert (graph.n_vertices, graph.n_edges) == (int(row["vertices"]), int(row["edges"]))
    assert tc.count(edges) == tc.count(graph) == int(row["triangles"])
    rows = backend.to_pandas(tc.annotate(edges, "triangles"))
    once = rows["src"] != rows["dst"]
    low, high = rows[["src", "dst"]].min(axis=1), rows[["src", "dst"]].max(axis=1)
    assert (rows["triangles"][~once] == 0).all()
    once &= ~pd.DataFrame({"low": low, "high": high}).duplicated()
    assert sum_of_squares(rows["triangles"][once]) == int(row["sum_sq_edge_support"])
    assert (~once).any() or len(rows) == graph.n_edges


def test_a_full_matrix_is_no_edge_list(shared_graphs):
    with pytest.raises(EdgeFileError, match="matrix"):
        read_edges(shared_graphs / MATRIX)


def test_a_broken_comment_is_an_error_with_its_line(shared_graphs):
    with pytest.raises(EdgeFileError, match=r"malformed-header.*\b4\b"):
        read_edges(shared_graphs / "orig" / "as-caida20071105.malformed-header.txt.xz")


@pytest.mark.parametrize("name", ["GraphChallenge-A_adj.mmio", "GraphChallenge-A_adj.tsv"])
def test_the_graph_challenge_example(backend, shared_graphs, name):
    edges = backend.frame(read_edges(shared_graphs / "orig" / name).frame)
    assert (tc.count(edges), tc.Graph(edges).n_edges) == (2, 6)


def test_no_graph_of_the_folder_is_left_out(shared_graphs, manifest):
    files = {path.name for path in shared_graphs.glob("*.npz")}
    assert files == {row["file"] for row in manifest.values()}
    assert len(manifest) == len(MANIFEST)
    assert sum(bool(row["orig"]) for row in manifest.values()) - 4 == (
        len(those(MANIFEST, is_edge_list))
    )


@pytest.fixture(scope="session")
def theory(shared_graphs):
    """The folder's own maker of the Theory graphs."""
    spec = importlib.util.spec_from_file_location("theory", shared_graphs / "theory_graphs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("row", those(THEORY, lambda row: int(row["directed_edges"]) <= SENSIBLE))
def test_theory_graph(backend, theory, row):
    *leaves, kind = row["name"].removeprefix("Theory-").split("-")
    leaves = [int(m) for m in leaves]
    vertices, directed, wedges, triangles = theory.theory_answers(leaves, kind)
    assert triangles == int(row["triangles"])
    source, destination, _ = theory.theory_graph(leaves, kind)
    graph = tc.Graph(backend.frame({"src": source, "dst": destination}))
    assert (graph.n_vertices, graph.n_edges) == (vertices, directed // 2)
    assert tc.count(graph) == triangles
    assert tc.transitivity(graph) == pytest.approx(3 * triangles / wedges, rel=1e-12)
    if row["sum_sq_vertex_triangles"]:
        corners = backend.to_pandas(tc.vertex_triangles(graph))["triangles"]
        assert sum_of_squares(corners) == int(row["sum_sq_vertex_triangles"])
        sides = backend.to_pandas(tc.edge_triangles(graph))  # both directions of every edge
        assert sum_of_squares(sides) == 2 * int(row["sum_sq_edge_support"])
