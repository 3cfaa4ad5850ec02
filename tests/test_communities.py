"""Truss communities: sets of edges that chains of triangles join, for one k and for all."""

from itertools import combinations

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import reference
from checks import rows_of
from every_path import plain_communities
from graphs import dense_edge_lists, edge_frames, edge_lists
from hypothesis import given, settings
from hypothesis import strategies as st

import rapids_tc as tc
from rapids_tc import datasets
from rapids_tc._parallel import limit_threads
from rapids_tc.executors.local import PartitionedFrame

KARATE = datasets.karate()
many = settings(max_examples=15, deadline=None)


def frame_of(rows):
    return pd.DataFrame(rows, columns=["src", "dst"], dtype="int64")


def check(backend, frame):
    """Every k, the hierarchy, and the column, in both senses of connected."""
    rows, graph = rows_of(frame), tc.Graph(backend.frame(frame))
    most = max(reference.trussness(rows).values(), default=2)
    for connected in ("triangles", "edges"):
        for k in range(2, most + 2):
            found = backend.to_pandas(tc.truss_communities(graph, k, connected=connected))
            right = reference.truss_communities(rows, k, connected=connected)
            numbers = found.pop("community")
            assert numbers.dtype == np.int64
            pd.testing.assert_frame_equal(found, backend.to_pandas(tc.k_truss(graph, k)))
            edges = [(min(row), max(row)) for row in rows_of(found)]
            assert dict(zip(edges, numbers.tolist(), strict=True)) == right
        found = backend.to_pandas(tc.truss_hierarchy(graph, connected=connected))
        assert plain_communities(found) == reference.truss_communities(
            rows, "all", connected=connected
        )
    column = backend.to_pandas(tc.annotate(graph, "truss_community"))["truss_community"]
    assert column.dtype == np.int64
    assert column.tolist() == reference.by_row(rows, reference.truss_community(rows), -1)


@many
@given(edges=edge_frames())
def test_raw_rows_of_any_dtype(backend, edges):
    if len(edges):
        check(backend, edges)


@many
@given(rows=st.one_of(dense_edge_lists(), edge_lists(), dense_edge_lists(16)))
def test_dense_graphs(backend, rows):
    check(backend, frame_of(rows))


def nested(sizes, seed):
    """Cliques that share an edge with the next, some a vertex alone, in a thin graph around."""
    random, rows, first = np.random.default_rng(seed), [], 0
    for size in sizes:
        rows += combinations(range(first, first + size), 2)
        first += size - int(random.integers(0, 3))
    around = random.integers(0, first, (3 * len(sizes), 2)).tolist()
    return frame_of([*rows, *map(tuple, around)])


@pytest.mark.parametrize("seed", range(3))
def test_ids_order_and_direction_do_not_matter_but_for_numbers(backend, seed):
    frame, random = nested([3, 5, 4, 6, 3, 5, 7], seed), np.random.default_rng(seed)
    names = random.permutation(1000)
    turned = frame.sample(frac=1, random_state=seed)
    turned.loc[::2] = turned.loc[::2, ["dst", "src"]].to_numpy()
    check(backend, turned.map(lambda v: int(names[v])))


def of_networkx(frame, k):
    """Sets of edges: components of a graph of NetworkX whose nodes are the edges of its k-truss."""
    truss = nx.k_truss(nx.Graph(rows_of(frame)), k)
    joined = nx.Graph()
    joined.add_nodes_from(tuple(sorted(edge)) for edge in truss.edges)
    for triangle in (c for c in nx.enumerate_all_cliques(truss) if len(c) == 3):
        nx.add_path(joined, (tuple(sorted(side)) for side in combinations(triangle, 2)))
    return sorted(map(sorted, nx.connected_components(joined)))


def listed(found):
    """The edges of each community, by number."""
    sets = {}
    for row in found.itertuples():
        sets.setdefault(row.community, []).append((min(row.src, row.dst), max(row.src, row.dst)))
    return [sorted(sets[number]) for number in range(len(sets))]


@pytest.mark.parametrize("k", [4, 9])
def test_networkx(backend, k):
    frame = datasets.rmat(8, edge_factor=10)
    frame = frame[frame["src"] != frame["dst"]].reset_index(drop=True)
    found = backend.to_pandas(tc.truss_communities(backend.frame(frame), k))
    assert listed(found) == of_networkx(frame, k)


@pytest.mark.parametrize("connected", ["triangles", "edges"])
def test_karate(backend, connected):
    """Vertices of each community; the figures were found by two independent ways."""
    for k, edges, sizes in ((4, 25, [6, 6]), (5, 14, [6])):
        found = backend.to_pandas(
            tc.truss_communities(backend.frame(KARATE), k, connected=connected)
        )
        assert len(found) == edges
        ends = [{end for edge in members for end in edge} for members in listed(found)]
        assert sorted(map(len, ends)) == sizes


def test_siblings_are_parts_of_one_parent(backend):
    """Three cliques of five, joined by triangles: the parent has the edges of all of them."""
    cliques = [(5 * c + u, 5 * c + v) for c in range(3) for u, v in combinations(range(5), 2)]
    joints = [(4, 5), (3, 5), (4, 6), (9, 10), (8, 10), (9, 11)]
    found = backend.to_pandas(tc.truss_hierarchy(backend.frame(frame_of(cliques + joints))))
    assert found["k"].tolist() == [3, 5, 5, 5]
    assert found["parent"].tolist()[1:] == [0, 0, 0]
    assert found["edges"].tolist() == [36, 10, 10, 10]
    assert found["vertices"].tolist() == [15, 5, 5, 5]


def test_communities_inside_one_another(backend):
    """A threshold graph: ten generations of communities."""
    rows = [(u, v) for v in range(22) for u in range(v) if u + v < 22]
    found = backend.to_pandas(tc.truss_hierarchy(backend.frame(frame_of(rows))))
    assert found["parent"].tolist()[1:] == [*range(9)]
    assert plain_communities(found) == reference.truss_communities(rows, "all")


def test_two_triangles_that_share_a_vertex(backend):
    frame = frame_of([(5, 6), (6, 7), (7, 5), (7, 1), (1, 2), (2, 7), (8, 9), (3, 3)])
    edges = backend.frame(frame)
    found = backend.to_pandas(tc.truss_communities(edges, 3))
    assert found["community"].tolist() == [1, 1, 1, 0, 0, 0]
    assert found.index.tolist() == [0, 1, 2, 3, 4, 5]
    of_ends = backend.to_pandas(tc.truss_communities(edges, 3, connected="edges"))
    assert of_ends["community"].tolist() == [0] * 6
    # At k = 2, an edge in no triangle is a community of its own.
    of_two = backend.to_pandas(tc.truss_communities(edges, 2))
    assert of_two["community"].tolist() == [1, 1, 1, 0, 0, 0, 2]
    column = backend.to_pandas(tc.annotate(edges, "truss_community"))["truss_community"]
    assert column.tolist() == [1, 1, 1, 0, 0, 0, -1, -1]


def test_a_hierarchy_without_a_triangle_is_empty(backend):
    found = backend.to_pandas(tc.truss_hierarchy(backend.frame(frame_of([(0, 1)]))))
    assert list(found.columns) == ["truss_community", "k", "parent", "edges", "vertices"]
    assert len(found) == 0


def test_rows_keep_their_columns_and_index(backend):
    frame = KARATE.assign(amount=np.arange(len(KARATE)) / 2)
    frame.index = frame.index * 3 + 1
    found = tc.truss_communities(backend.frame(frame), "max")
    assert type(found) is type(backend.frame(frame))
    found = backend.to_pandas(found)
    assert list(found.columns) == ["src", "dst", "amount", "community"]
    kept = tc.k_truss(frame, "max")
    pd.testing.assert_frame_equal(found.drop(columns="community"), kept)


def test_a_graph_of_large_work_is_shared_by_threads(backend):
    """On the CPU, several threads join at once; answers are those of one."""
    graph = tc.Graph(backend.frame(datasets.rmat(11)))
    with limit_threads(1):
        alone = backend.to_pandas(tc.truss_hierarchy(graph))
    for _ in range(3):
        again = tc.Graph(backend.frame(datasets.rmat(11)))
        pd.testing.assert_frame_equal(backend.to_pandas(tc.truss_hierarchy(again)), alone)


@pytest.mark.parametrize(
    ("k", "options", "words"),
    [
        (1, {}, 'k=1; accepted: an integer from 2 on, or "max"'),
        ("most", {}, "k='most'"),
        (3, {"connected": "ends"}, 'connected=\'ends\'; accepted: "triangles" or "edges"'),
        (3, {"connected": None}, "connected=None"),
    ],
)
def test_misuse(backend, k, options, words):
    with pytest.raises(ValueError, match=words):
        tc.truss_communities(backend.frame(KARATE), k, **options)


def test_a_column_that_is_there_already(backend):
    with pytest.raises(ValueError, match="community"):
        tc.truss_communities(backend.frame(KARATE.assign(community=1)), 3)


def test_where_it_does_not_run_it_says_what_to_call(backend):
    parts = PartitionedFrame([KARATE])
    with pytest.raises(TypeError, match=r"truss_communities runs on one machine.*k_truss"):
        tc.truss_communities(parts, 3)
    with pytest.raises(TypeError, match=r'annotate with "truss_community" runs on one machine'):
        tc.annotate(parts, "triangles", "truss_community")
    edges = backend.frame(datasets.rmat(9))
    limit = max(tc.memory_estimate(edges, function="truss_communities").values()) // 2
    with pytest.raises(tc.CapacityError, match=r"its rows have the same communities"):
        tc.truss_communities(edges, 3, memory_limit=limit)
    with pytest.raises(tc.CapacityError, match=r'without "truss_community" it is'):
        tc.annotate(edges, "truss_community", memory_limit=limit)


def test_a_k_truss_has_the_communities_of_the_graph():
    """Which is what the errors promise."""
    frame = datasets.rmat(9)
    kept = tc.truss_communities(tc.k_truss(frame, 7), 7)
    pd.testing.assert_frame_equal(kept, tc.truss_communities(frame, 7))
