"""`Csr.validate` names each precondition of the kernels that a CSR breaks; a graph breaks none."""

import numpy as np
import pytest
from graphs import SMALL, disturbed
from hypothesis import given
from hypothesis import strategies as st

import rapids_tc as tc
from rapids_tc.preparation.csr import Csr

# K4 and a pendant: ranks 0 to 4, each row holding smaller ranks.
OFFSETS, COLUMNS = [0, 0, 1, 3, 6, 7], [0, 0, 1, 0, 1, 2, 0]


def csr(offsets=OFFSETS, columns=COLUMNS, offsets_dtype="int64", columns_dtype="uint32"):
    return Csr(np.array(offsets, offsets_dtype), np.array(columns, columns_dtype))


def test_a_sound_csr_passes():
    graph = csr()
    graph.validate()
    assert (graph.n, graph.m) == (5, 7)


def test_no_vertices_and_no_edges_pass():
    csr(offsets=[0], columns=[]).validate()
    csr(offsets=[0, 0, 0], columns=[]).validate()


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ({"offsets_dtype": "int32"}, "int64"),
        ({"offsets_dtype": "uint64"}, "int64"),
        ({"columns_dtype": "int32"}, "uint32"),
        ({"columns_dtype": "uint64"}, "uint32"),
        ({"offsets": []}, "offsets"),
        ({"offsets": [1, 1, 1, 3, 6, 7]}, "offsets"),
        ({"offsets": [0, 0, 1, 3, 6, 6]}, "offsets"),
        ({"offsets": [0, 0, 1, 3, 6, 8]}, "offsets"),
        ({"offsets": [0, 0, 3, 1, 6, 7]}, "offsets"),
        ({"offsets": [0, 0, 1, 9, 6, 7]}, "offsets"),
        ({"offsets": [0, -1, 1, 3, 6, 7]}, "offsets"),
        ({"columns": [1, 0, 1, 0, 1, 2, 0]}, "below"),  # a loop at rank 1
        ({"columns": [0, 0, 1, 0, 1, 4, 0]}, "below"),  # rank 3 points up
        ({"columns": [0, 0, 1, 0, 1, 2**32 - 1, 0]}, "below"),  # outside the graph
        ({"columns": [0, 1, 0, 0, 1, 2, 0]}, "ascend"),
        ({"columns": [0, 0, 0, 0, 1, 2, 0]}, "repeats"),
        ({"columns": [0, 0, 1, 0, 2, 2, 0]}, "repeats"),
    ],
)
def test_a_broken_precondition_is_named(broken, message):
    with pytest.raises(ValueError, match=message):
        csr(**broken).validate()


@pytest.mark.parametrize("name", SMALL)
def test_a_graph_hands_a_sound_csr_ordered_by_degree(backend, name):
    frame, _ = disturbed(SMALL[name], seed=1)
    graph = tc.Graph(backend.frame(frame))
    graph.csr.validate()
    assert (graph.csr.n, graph.csr.m) == (graph.n_vertices, graph.n_edges)
    longest = int((graph.csr.offsets[1:] - graph.csr.offsets[:-1]).max())
    assert longest <= (2 * len(frame)) ** 0.5  # a star has rows of one, whatever its ids


def test_isolated_vertices_have_empty_rows_or_none(backend):
    frame, ids = disturbed(SMALL["wheel"], seed=2)
    graph = tc.Graph(backend.frame(frame), vertices=[*range(2000, 2100), int(ids[0])])
    graph.csr.validate()
    assert graph.csr.m == graph.n_edges == 16


@given(lengths=st.lists(st.integers(0, 4), max_size=12))
def test_every_edge_knows_its_row(lengths):
    offsets = np.cumsum([0, *lengths], dtype="int64")
    rows = Csr(offsets, np.zeros(offsets[-1], "uint32")).rows
    assert rows.dtype == "uint32"
    assert rows.tolist() == [row for row, length in enumerate(lengths) for _ in range(length)]
