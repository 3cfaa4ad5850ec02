"""The generated graphs: the same on every machine, with the distribution they promise."""

import subprocess
import sys
from functools import partial

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from rapids_tc import datasets
from rapids_tc.datasets import rmat, rmat_rows
from rapids_tc.errors import CapacityError, KernelError

PROBABILITIES = (0.57, 0.19, 0.19, 0.05)


def plain_rmat(scale: int, rows: int, rng: np.random.Generator) -> np.ndarray:
    """The definition, a level at a time, from NumPy's generator; no permutation."""
    edges = np.zeros((rows, 2), np.int64)
    for _ in range(scale):
        quadrants = rng.choice(4, size=rows, p=PROBABILITIES)
        edges = 2 * edges + np.column_stack([quadrants // 2, quadrants % 2])
    return edges


def test_the_edges_are_pinned():
    # A change here is another graph for everybody who wrote the seed down.
    expected = [[445, 389], [921, 956], [739, 812], [454, 649]]
    assert rmat(10, seed=7).head(4).to_numpy().tolist() == expected
    far = np.column_stack(rmat_rows(40, 10**9, 10**9 + 2, seed=1))
    assert far.tolist() == [[1036585685651, 198803432888], [223400287617, 946480740968]]


def test_frame():
    edges = rmat(10, edge_factor=8)
    assert edges.columns.tolist() == ["src", "dst"]
    assert edges.dtypes.tolist() == [np.int32, np.int32]
    assert len(edges) == 8 * 1024
    assert edges.min().min() >= 0 and edges.max().max() < 1024
    assert edges.duplicated().any() and (edges.src == edges.dst).any()


def test_seed_is_the_graph():
    assert rmat(8, seed=1).equals(rmat(8, seed=1))
    assert not rmat(8, seed=1).equals(rmat(8, seed=2))
    assert not rmat(8, seed=-1).equals(rmat(8, seed=1))


@pytest.mark.parametrize("chunk", [1, 7, 1000, 2**20])
def test_pieces_make_the_whole(monkeypatch, chunk):
    whole = rmat(7).to_numpy()
    monkeypatch.setitem(datasets._CHUNK, "numpy", chunk)
    pieces = [rmat_rows(7, first, first + 512) for first in range(0, 2048, 512)]
    assert np.array_equal(np.concatenate([np.column_stack(p) for p in pieces]), whole)


@pytest.mark.parametrize("scale", [1, 2, 3, 4, 5, 8, 11, 31, 32, 48])
def test_ids_fill_the_scale(scale):
    src, dst = rmat_rows(scale, 0, 5000)
    assert src.dtype == dst.dtype == ("int32" if scale <= 31 else "int64")
    for ids in (src, dst):
        assert ids.min() >= 0 and ids.max() < 2**scale
        assert ids.max() >= 2**scale * 0.9 or scale < 4


@pytest.mark.parametrize("scale", [1, 2, 3, 7, 12, 17])
@pytest.mark.parametrize("seed", [0, 1])
def test_permutation_is_one_to_one(scale, seed):
    ids = np.arange(2**scale, dtype=np.uint32)
    permuted = datasets._permute(ids.copy(), scale, datasets._keys(seed, 6))
    assert np.array_equal(np.sort(permuted), ids)
    if scale >= 12:  # and says nothing about the order
        assert abs(np.corrcoef(ids, permuted)[0, 1]) < 5 / 2 ** (scale / 2)


@pytest.mark.parametrize("scale", [9, 16])
def test_quadrants_have_their_probabilities(monkeypatch, scale):
    # Ids left as drawn: their bits are the quadrants.
    monkeypatch.setattr(datasets, "_permute", lambda ids, scale, keys: ids)
    rows = 200_000
    src, dst = rmat_rows(scale, 0, rows, seed=3)
    previous = None
    for level in range(scale):
        quadrants = (src >> level & 1) * 2 + (dst >> level & 1)
        shares = np.bincount(quadrants, minlength=4) / rows
        for share, p in zip(shares, PROBABILITIES, strict=True):
            assert abs(share - p) < 5 * (p * (1 - p) / rows) ** 0.5 + 2**-16
        if previous is not None:  # levels are independent
            both = np.bincount(previous * 4 + quadrants, minlength=16) / rows
            expected = np.outer(PROBABILITIES, PROBABILITIES).ravel()
            assert np.all(np.abs(both - expected) < 5 * (expected / rows) ** 0.5 + 2**-15)
        previous = quadrants


def test_degrees_are_as_skewed_as_the_definition_makes_them():
    def degrees(edges: np.ndarray) -> np.ndarray:
        return np.sort(np.bincount(edges.ravel(), minlength=1024))[::-1]

    ours = np.mean([degrees(rmat(10, seed=s).to_numpy()) for s in range(20)], axis=0)
    rng = np.random.default_rng(0)
    plain = np.mean([degrees(plain_rmat(10, 16384, rng)) for _ in range(20)], axis=0)
    for rank in (0, 1, 10, 100, 500):
        assert ours[rank] == pytest.approx(plain[rank], rel=0.05), rank
    assert (ours == 0).mean() == pytest.approx((plain == 0).mean(), abs=0.02)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"scale": 0}, "scale"),
        ({"scale": 49}, "scale"),
        ({"scale": 5, "edge_factor": -1}, "edge_factor"),
        ({"scale": 5, "library": "polars"}, "polars"),
        ({"scale": 10.0}, "scale.*10.0"),
        ({"scale": "10"}, "scale.*'10'"),
        ({"scale": True}, "scale"),
        ({"scale": 5, "edge_factor": None}, "edge_factor"),
        ({"scale": 5, "seed": 0.5}, "seed"),
    ],
)
def test_wrong_arguments(arguments, word):
    with pytest.raises(ValueError, match=word):
        rmat(**arguments)


@pytest.mark.cpu_only
@pytest.mark.parametrize("make", [partial(rmat, 4), datasets.karate])
def test_without_cudf_the_error_says_what_to_install(make):
    with pytest.raises(KernelError, match=r"rapids_tc\[cu13\]"):
        make(library="cudf")


def test_more_rows_than_a_cudf_column(monkeypatch):
    monkeypatch.setattr(datasets, "_library", lambda name: (None, None))
    with pytest.raises(CapacityError, match="2,147,483,648"):
        rmat(27, library="cudf")


def test_every_library_gets_the_same_edges(backend):
    library = "cudf" if backend.name == "cuda" else "pandas"
    for scale, factor in ((5, 3), (13, 16)):  # 13: the GPU's chunks are larger than NumPy's
        edges = rmat(scale, edge_factor=factor, seed=9, library=library)
        src, dst = rmat_rows(scale, 0, factor << scale, seed=9)
        expected = pd.DataFrame({"src": src, "dst": dst})
        pd.testing.assert_frame_equal(backend.to_pandas(edges), expected)
    pd.testing.assert_frame_equal(
        backend.to_pandas(datasets.karate(library=library)), datasets.karate()
    )


def test_no_rows():
    assert rmat(5, edge_factor=0).shape == (0, 2)


def test_karate_is_the_published_graph():
    edges = datasets.karate()
    assert edges.dtypes.tolist() == [np.int64, np.int64]
    ours = {frozenset(row) for row in edges.to_numpy().tolist()}
    assert ours == {frozenset(edge) for edge in nx.karate_club_graph().edges()}
    assert len(edges) == 78 and (edges.src < edges.dst).all()


def test_import_is_light():
    code = (
        "import sys, rapids_tc.datasets; "
        "print(sorted({'pandas', 'cudf', 'cupy', 'numba', 'dask'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
