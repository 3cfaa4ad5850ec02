"""Edges that are arrays of any library, or sparse matrices, and the arrays that come back."""

import pickle
import sys
from dataclasses import replace

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import reference
import scipy.sparse
from every_path import CALLS, FRAME, NAMES, assert_right
from graphs import ROWS, TRIANGLES
from stream_support import in_blocks
from tensors import Tensor, Unreadable

import rapids_tc as tc
from rapids_tc.frames.arrays import array_edges
from rapids_tc.plan.record import ANALYTICS, COLUMNS, Result
from rapids_tc.preparation.triangle_kinds import COLUMNS as KINDS

ENDS = np.array(ROWS)


LIBRARIES = {"numpy": (np.asarray, np.ndarray), "dlpack": (Tensor, Tensor)}


@pytest.fixture(params=[*LIBRARIES, pytest.param("cupy", marks=pytest.mark.card_only)])
def library(request):
    """How to make an array of a library of one of NumPy, and the class that it has."""
    if request.param == "cupy":
        cupy = sys.modules["cupy"]
        return cupy.asarray, cupy.ndarray
    return LIBRARIES[request.param]


def shapes(make):
    """The same edges in each shape, as positional and as named arguments of a function."""
    source, destination = ENDS.T.copy()
    yield ((make(source), make(destination)),), {}
    yield (make(ENDS),), {}
    yield (), {"edge_index": make(ENDS.T.copy())}


def test_answers_are_arrays_of_the_same_library(backend, library):
    make, kind = library
    for args, named in shapes(make):
        assert tc.count(*args, **named) == reference.count(ROWS)
        sides = tc.edge_triangles(*args, **named)
        assert (type(sides), sides.dtype, sides.tolist()) == (kind, np.int64, TRIANGLES)
        corners = tc.vertex_triangles(*args, **named)
        assert [*corners] == ["vertex", "triangles"]
        assert {type(values) for values in corners.values()} == {kind}
        right = reference.vertex_triangles(ROWS)
        assert dict(zip(*(v.tolist() for v in corners.values()), strict=True)) == right
        wide = tc.annotate(*args, "triangles", "jaccard", **named)
        assert [*wide] == ["src", "dst", "triangles", "jaccard"]
        assert wide["triangles"].tolist() == TRIANGLES
        assert np.c_[wide["src"].tolist(), wide["dst"].tolist()].tolist() == ENDS.tolist()
        inside = tc.k_truss(*args, 3, **named)
        assert [type(inside[end]) for end in ("src", "dst")] == [kind, kind]
        graph = tc.Graph(*args, **named, vertices=make(np.array([100])))
        assert graph.vertex_triangles()["vertex"].tolist() == [1, 2, 5, 7, 9, 100]
        assert type(graph.trussness()) is kind


def columns(name, own, make=np.asarray):
    """The options of a call, with arrays in place of the columns that they name."""
    own, record = dict(own), ANALYTICS[name]
    star = own.pop("columns", ())
    arrays = {o: make(FRAME[own[o]].to_numpy()) for o in COLUMNS if own.get(o) is not None}
    if (where := own.get("where")) is not None:
        given = {o: make(FRAME[getattr(where, o)].to_numpy()) for o in KINDS if getattr(where, o)}
        arrays["where"] = replace(where, **given)
    if own.get("pairs") is not None:
        own["pairs"] = own["pairs"].to_numpy()
    return record, star, own | arrays


def as_frame(name, found):
    """An answer in arrays as the test of every path reads it: frames, and rows by their place."""
    if isinstance(found, np.ndarray):
        return pd.Series(found)
    if not isinstance(found, dict):
        return found
    frame = pd.DataFrame(found)
    if "parent" in frame:
        frame["parent"] = frame["parent"].astype("Int64").mask(frame["parent"] < 0)
    elif ANALYTICS[name].result in (Result.ROWS, Result.COMMUNITIES):
        places = FRAME.reset_index().groupby(["src", "dst"])["index"].min()
        frame.index = [places[ends] for ends in zip(frame["src"], frame["dst"], strict=True)]
    return frame


def is_of_its_own_shape(name, own):
    """Whether no call before has an answer of the same shape."""
    is_first = own is next(options for function, options in CALLS if function == name)
    several = own.get("pairs") is not None or own.get("bipartite") or own.get("per")
    several = several or own.get("where") is not None
    return is_first or several


@pytest.mark.cpu_only
def test_every_function_takes_arrays():
    edges = FRAME["src"].to_numpy(), FRAME["dst"].to_numpy()
    calls = [call for call in zip(CALLS, NAMES, strict=True) if is_of_its_own_shape(*call[0])]
    for (name, own), shown in calls:
        record, star, options = columns(name, own)
        try:
            found = record.call(edges, *star, **options)
            parts = list(found) if record.by_frames else None
            found = as_frame(name, found) if parts is None else [as_frame(name, p) for p in parts]
            assert_right(name, own, found)
        except BaseException as error:
            error.add_note(shown)
            raise


# Sparse matrices ----------------------------------------------------------------------------------


def club():
    """The karate club and a vertex in no edge, as an adjacency matrix without a direction."""
    graph = nx.karate_club_graph()
    graph.add_node(34)
    return graph, nx.to_scipy_sparse_array(graph, weight=None, dtype="float32")


MATRICES = {
    "csr": scipy.sparse.csr_array,
    "csc": scipy.sparse.csc_matrix,
    "coo": scipy.sparse.coo_array,
    "lil": scipy.sparse.lil_array,
}


@pytest.mark.parametrize("form", MATRICES)
def test_rows_of_a_matrix_are_vertices(backend, form):
    graph, adjacency = club()
    matrix = MATRICES[form](adjacency)
    right = nx.triangles(graph)
    assert tc.count(matrix) == 45
    for edges in (matrix, tc.Graph(matrix), pickle.loads(pickle.dumps(tc.Graph(matrix)))):
        corners = tc.vertex_triangles(edges)
        assert corners["vertex"].tolist() == [*range(35)]
        assert corners["triangles"].tolist() == [right[v] for v in range(35)]
    assert tc.average_clustering(matrix) == pytest.approx(nx.average_clustering(graph))
    entries = matrix.tocoo()
    sides = scipy.sparse.coo_array((tc.edge_triangles(matrix), (entries.row, entries.col)))
    squares = (adjacency @ adjacency).multiply(adjacency)  # paths of two edges beside each edge
    assert (sides.toarray() == squares.toarray()[:34, :34]).all()


def test_values_of_a_matrix_are_read_as_weights_alone(backend):
    graph, matrix = club()
    matrix.data[:] = np.nan
    assert tc.count(matrix) == 45
    with pytest.raises(ValueError, match="of the weights"):
        tc.clustering(matrix, weight="weight")
    for u, v in graph.edges:
        graph[u][v]["weight"] = 1 + (u + v) % 5
    weighted = nx.to_scipy_sparse_array(graph)
    found = tc.clustering(weighted, weight="weight")
    right = nx.clustering(graph, weight="weight")
    assert found["clustering"].tolist() == pytest.approx([right[v] for v in range(35)])
    inside = tc.k_truss(weighted, 4)
    assert [*inside] == ["src", "dst", "weight"]
    kept = scipy.sparse.coo_array((inside["weight"], (inside["src"], inside["dst"])), (35, 35))
    truss = nx.k_truss(graph, 4)
    truss.add_nodes_from(range(35))
    right = nx.to_scipy_sparse_array(truss, nodelist=range(35))
    assert ((kept + kept.T) != right).nnz == 0


@pytest.mark.parametrize("n", [0, 1, 3])
def test_a_matrix_without_entries(n):
    empty = scipy.sparse.csr_array((n, n), dtype="int8")
    assert (tc.count(empty), tc.Graph(empty).n_vertices) == (0, n)
    assert tc.vertex_triangles(empty)["triangles"].tolist() == [0] * n
    assert len(tc.edge_triangles(empty)) == 0
    assert tc.triad_counts(empty)["count"][0] == (n == 3)


def test_a_matrix_is_not_counted_in_blocks():
    matrix = club()[1]
    with pytest.raises(tc.CapacityError, match=r"a matrix is not counted in blocks: give the pair"):
        tc.vertex_triangles(matrix, memory_limit=500)
    large = scipy.sparse.coo_array(([1], ([0], [1])), (10**9, 10**9))
    assert max(tc.memory_estimate(large).values()) > 10**9
    for function in (tc.count, tc.Graph):
        with pytest.raises(tc.CapacityError, match=r"memory_limit= allows 100,000,000"):
            function(large, memory_limit=10**8)
    assert tc.count((large.row, large.col), memory_limit=10**8) == 0


@pytest.mark.parametrize("function", [tc.count, tc.Graph])
def test_the_advice_on_a_matrix_keeps_entries_that_are_zero(function):
    ring = scipy.sparse.coo_array(([0, 1, 1], ([0, 1, 2], [1, 2, 0])), (3, 3))
    for edges, more in [(ring, {"by": np.zeros(3)}), (scipy.sparse.csr_array((3, 5)), {})]:
        if function is tc.Graph and more:
            more = {"bipartite": True}
        with pytest.raises((TypeError, ValueError), match=r"\(m\.row, m\.col\) of m = edges\.toc"):
            function(edges, **more)
    m = ring.tocoo()
    assert tc.count((m.row, m.col)) == tc.count(ring) == 1


# What is read, and what is left alone -------------------------------------------------------------


@pytest.mark.cpu_only
@pytest.mark.parametrize("n", [1, 3])
def test_in_blocks(n):
    edges, weights = (FRAME["src"].to_numpy(), FRAME["dst"].to_numpy()), FRAME["w"].to_numpy()
    whole = (
        tc.annotate(edges, "triangles", "trussness"),
        tc.clustering(edges, weight=weights, aggregate="sum"),
    )
    with in_blocks(n):
        cut = (
            tc.annotate(edges, "triangles", "trussness"),
            tc.clustering(edges, weight=weights, aggregate="sum"),
        )
    for one, other in zip(whole, cut, strict=True):
        assert one.keys() == other.keys()
        assert all(one[name].tolist() == pytest.approx(other[name].tolist()) for name in one)


@pytest.mark.parametrize("dtype", ["int8", "uint32", ">i8", "uint64", "float32", ">f8"])
def test_ids_keep_their_dtype(backend, dtype):
    edges = ENDS.astype(dtype)
    edges.flags.writeable = False
    right = "int64" if "f" in dtype else dtype
    for args, named in shapes(np.asarray):
        if args:
            args = (edges,) if len(args[0]) != 2 else (tuple(edges.T),)
        else:
            named = {"edge_index": edges.T}
        corners = tc.vertex_triangles(*args, **named)
        assert corners["vertex"].dtype == right
        assert corners["vertex"].tolist() == [1, 2, 5, 7, 9]


@pytest.mark.parametrize("dtype", [">i4", ">f8", ">f2"])
def test_values_of_the_other_byte_order(backend, dtype):
    edges = np.array([0, 1, 2, 2, 3]), np.array([1, 2, 0, 3, 0])
    values = np.array([9, 9, 9, 0, 0])
    turned = values.astype(dtype)
    for function, option in [
        (tc.count, "by"), (tc.simple_edges, "by"), (tc.triangles_by_type, "edge_type"),
    ]:  # fmt: skip
        found, right = (function(edges, **{option: given}) for given in (turned, values))
        assert {name: column.tolist() for name, column in found.items()} == {
            name: column.tolist() for name, column in right.items()
        }
    kind = tc.Triangles(edge_type=turned, types=(0, 9, None))
    assert tc.count(edges, where=kind) == 1


def test_any_integer_is_an_id():
    assert tc.vertex_triangles((np.array([-1]), np.array([2**62])))["vertex"].tolist() == [
        -1, 2**62,
    ]  # fmt: skip


@pytest.mark.parametrize(
    "edges", [(np.zeros(0, int),) * 2, np.zeros((0, 2), int), (np.zeros(0, "float32"),) * 2]
)
def test_no_rows(backend, edges):
    assert (tc.count(edges), tc.transitivity(edges)) == (0, 0.0)
    assert [len(values) for values in tc.vertex_triangles(edges).values()] == [0, 0]
    assert len(tc.edge_triangles(edges)) == tc.count(edge_index=np.zeros((2, 0), int)) == 0


def test_what_is_given_and_what_comes_back_share_no_memory():
    edges = source, _ = tuple(ENDS.T.copy())
    graph = tc.Graph(edges)
    for found in (tc.annotate(edges, "triangles"), tc.simple_edges(edges), graph.k_truss(2)):
        for values in found.values():
            values += 100
    assert source.tolist() == ENDS[:, 0].tolist() == graph.annotate("triangles")["src"].tolist()
    source += 100
    assert graph.annotate("triangles")["src"].tolist() == ENDS[:, 0].tolist()


def test_what_a_library_would_make_narrower_stays_an_array_of_numpy(monkeypatch):
    narrow = lambda values: Tensor(values.astype("int32"))  # noqa: E731
    monkeypatch.setattr(sys.modules["tensors"], "from_dlpack", narrow)
    edges = Tensor(ENDS.astype("int32"))
    corners = tc.vertex_triangles(edges)
    assert [type(corners[name]) for name in corners] == [Tensor, np.ndarray]
    assert corners["triangles"].dtype == np.int64


def test_an_update_takes_arrays():
    graph = tc.Graph(ENDS)
    delta = graph.update(insert=np.array([(2, 5), (2, 1), (8, 9)]))
    assert delta.triangles == 3 == graph.count() - 1
    assert repr(delta) == "Delta(triangles=+3, vertices=4 rows, edges=6 rows)"
    delta = graph.update(delete=(np.array([9]), np.array([1])))
    assert graph.k_truss(3)["dst"].tolist() == [1, 5, 2, 5, 1]
    with pytest.raises(TypeError, match=r"insert= is a frame of Pandas.* of arrays of numpy"):
        graph.update(insert=pd.DataFrame({"src": [1], "dst": [2]}))


@pytest.mark.parametrize("option", ["insert", "delete"])
def test_an_update_takes_matrices_of_the_same_shape(option):
    def entries(n, *edges):
        return scipy.sparse.csr_array((np.ones(len(edges)), np.transpose(edges)), shape=(n, n))

    graph = tc.Graph(entries(5, (0, 1), (1, 2)))
    with pytest.raises(ValueError, match=f"{option}= is a matrix of 9 rows, .* of 5: give one of"):
        graph.update(**{option: entries(9, (0, 1))})
    assert graph.update(insert=entries(5, (2, 0))).triangles == 1
    assert graph.vertex_triangles()["triangles"].tolist() == [1, 1, 1, 0, 0]


# What is refused ----------------------------------------------------------------------------------

U, V = ENDS.T.copy()
K3 = np.array([0, 1, 2]), np.array([1, 2, 0])
REFUSED = {
    "two rows": (ENDS.T, TypeError, r"give edges\.T, or edge_index=edges in place of edges"),
    "two by two": (ENDS[:2], TypeError, r"give \(edges\[:, 0\], edges\[:, 1\]\), if a row"),
    "a matrix": (np.eye(3), TypeError, r"scipy\.sparse\.coo_array\(edges\), if it is an adj"),
    "three columns": (np.zeros((4, 3)), TypeError, r"give edges\[:, :2\], if the first two"),
    "one dimension": (U, TypeError, "type ndarray; accepted: .*two arrays"),
    "not square": (scipy.sparse.csr_array((3, 5)), TypeError, r"give \(m\.row, m\.col\) of m"),
    "lengths": ((U, V[1:]), ValueError, r"the shapes \(6,\) and \(5,\): give as many"),
    "dimensions": ((ENDS, ENDS), ValueError, "in one dimension"),
    "libraries": ((U, Tensor(V)), TypeError, "of numpy and one of tensors: give both in one"),
    "three arrays": ((U, V, U), TypeError, "accepted: a pandas"),
    "a list of arrays": ([U, V], TypeError, r"give tuple\(edges\)"),
    "sparse": (Unreadable(np.eye(3)), TypeError, r"give edge_index=edges\.to_sparse_coo\(\)\.coal"),
    "two lists": (([0, 1], [1, 2]), TypeError, r"give tuple\(map\(np\.asarray, edges\)\)"),
    "a list of pairs": ([(0, 1), (1, 2)], TypeError, r"give pd\.DataFrame\(edges, columns="),
    "two columns": ((pd.Series(U), pd.Series(V)), TypeError, r'give pd\.DataFrame\(\{"src": edges'),
    "objects": (ENDS.astype(object), tc.IdTypeError, "edges has dtype object: ids in arrays are"),
    "text": ((U.astype(str), V.astype(str)), tc.IdTypeError, "the first array of edges has dtype"),
    "bools": (ENDS > 1, tc.IdTypeError, "bool"),
    "fractions": (ENDS + 0.5, tc.IdTypeError, "float ids must be whole numbers"),
    "NaN": (np.where(ENDS == 7, np.nan, ENDS), tc.NullIdError, "'src' has 1 null"),
    "masked": (np.ma.array(ENDS, mask=ENDS == 7), TypeError, "masked array: give the rows"),
    "other memory": (Tensor(ENDS, memory=8), TypeError, "memory of the kind 8 of DLPack: copy it"),
    "unreadable": (Unreadable(ENDS), TypeError, "cannot be read by DLPack: it requires a grad"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_clear_is_refused(name):
    edges, error, words = REFUSED[name]
    for function in (tc.count, tc.Graph, tc.memory_estimate):
        with pytest.raises(error, match=words):
            function(edges)


CALLS_REFUSED = [
    (lambda: tc.count(ENDS, edge_index=ENDS.T), ValueError, "both given: give one"),
    (lambda: tc.count(pd.DataFrame(ENDS), edge_index=ENDS.T), ValueError, "both given"),
    (lambda: tc.Graph(ENDS, edge_index=ENDS.T), ValueError, "both given"),
    (lambda: tc.Graph(ENDS).count(edge_index=ENDS.T), ValueError, "both given"),
    (lambda: tc.count(edge_index=ENDS), ValueError, r"the shape \(6, 2\): it takes \(2, m\)"),
    (lambda: tc.count(edge_index=[[0, 1], [1, 2]]), TypeError, "of type list: give an array of"),
    (lambda: tc.count(), TypeError, r"count\(\) missing 1 required .* 'edges'"),
    (lambda: tc.k_truss(edge_index=ENDS.T), TypeError, r"call it as k_truss\(edges, k\)"),
    (lambda: tc.clustering(K3, weight=np.ones(2)), ValueError, r"shape \(2,\) for 3 edges"),
    (lambda: tc.clustering(K3, weight=np.ones((3, 1))), ValueError, r"shape \(3, 1\) for 3"),
    (lambda: tc.clustering(K3, weight=Tensor(np.ones(3))), TypeError, "edges are of numpy: give"),
    (lambda: tc.clustering(K3, weight="w"), tc.ColumnNotFoundError, "weight='w' is not a column"),
    (lambda: tc.count(K3, where=tc.Triangles(time=np.ones(2), within=1)), ValueError, "for 3 edge"),
    (
        lambda: tc.clustering(tc.Graph(K3), weight=np.ones(3)),
        ValueError,
        "give the arrays to the f",
    ),
    (lambda: tc.clustering(tc.Graph(K3), weight="w"), tc.ColumnNotFoundError, "no columns but src"),
    (
        lambda: tc.triangles_over_time(K3, time="t"),
        tc.ColumnNotFoundError,
        "give an array with one",
    ),
    (lambda: tc.count(K3, source="a", destination="b"), tc.ColumnNotFoundError, "but src and dst"),
    (lambda: tc.Graph(scipy.sparse.eye_array(3), vertices=[4]), ValueError, "leave vertices= out"),
    (lambda: tc.squares(scipy.sparse.eye_array(3), bipartite=True), ValueError, "no side: give"),
    (lambda: tc.count(scipy.sparse.eye_array(3), by=np.arange(3)), ValueError, "of no group and"),
]


@pytest.mark.parametrize(("call", "error", "words"), CALLS_REFUSED)
def test_a_wrong_call_is_told_what_to_write(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_kinds_of_triangles_with_arrays_are_compared_by_the_arrays_themselves():
    times = np.arange(3), np.arange(3)
    one, same, other = (tc.Triangles(time=t, within=1) for t in (times[0], times[0], times[1]))
    assert (one == same, one == other, len({one, same, other})) == (True, False, 2)


def test_two_by_two_has_two_names():
    square = np.array([[0, 1], [1, 1]])
    assert tc.simple_edges(edge_index=square)["src"].tolist() == [0]
    assert tc.count(edge_index=square) == tc.count((square[:, 0], square[:, 1])) == 0


def test_edges_are_not_copied():
    source, destination = ENDS.T.copy()
    held = [("src", source), ("dst", destination)]
    pairs = (source, destination), (Tensor(source), Tensor(destination))
    matrix = scipy.sparse.csr_array((np.ones(3), ([0, 1, 2], [1, 2, 0])))
    for edges, columns in [
        *((pair, held) for pair in pairs),
        (matrix, [("dst", matrix.indices), ("weight", matrix.data)]),
    ]:
        _, frame = array_edges(edges).opened()
        for name, array in columns:
            assert np.shares_memory(frame[name].to_numpy(), array)
