"""Pictures: what they show, where they go, and the examples that make those of the README."""

import os
import sys
from pathlib import Path
from runpy import run_path

import matplotlib
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from graphs import complete, cycle, star

import rapids_tc as tc
from rapids_tc import plot
from rapids_tc.datasets import karate

matplotlib.use("Agg")
from matplotlib import pyplot as plt

PICTURES = [
    plot.clustering_by_degree,
    plot.draw_truss,
    plot.triangle_distribution,
    plot.truss_profile,
]
EXAMPLES = Path(__file__).parents[1] / "examples"
each_picture = pytest.mark.parametrize("picture", PICTURES, ids=lambda p: p.__name__)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.fixture
def club(backend):
    return backend.frame(karate())


def drawn(ax):
    """Force every mark and text to be laid out."""
    ax.figure.savefig(os.devnull, format="png")
    return ax


@each_picture
def test_a_picture_has_its_own_axes_or_those_given(club, picture):
    own = drawn(picture(club))
    assert isinstance(own, plt.Axes)
    figure, (left, right) = plt.subplots(1, 2)
    assert picture(tc.Graph(club), ax=right) is right
    assert (left.has_data(), right.has_data()) == (False, True)
    assert len(figure.axes) == 2


@each_picture
def test_a_picture_names_its_columns(backend, picture):
    frame = karate().rename(columns={"src": "a", "dst": "b"}).assign(c=1)
    drawn(picture(backend.frame(frame), source="a", destination="b"))
    with pytest.raises(tc.ColumnNotFoundError):
        picture(backend.frame(frame), source="a", destination="x")


@each_picture
def test_nothing_global_changes(club, picture):
    before = dict(matplotlib.rcParams)
    drawn(picture(club))
    assert dict(matplotlib.rcParams) == before


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("known", [star(3), cycle(5), complete(2)], ids=["star", "cycle", "edge"])
def test_a_graph_without_a_triangle(backend, known):
    edges = backend.frame(known.frame())
    for picture in PICTURES:
        drawn(picture(edges))


@pytest.mark.filterwarnings("error")
def test_no_edges(backend):
    edges = backend.frame({"src": [1], "dst": [1]})
    for picture in PICTURES:
        if picture is not plot.draw_truss:
            drawn(picture(edges))
    with pytest.raises(ValueError, match="no edge"):
        plot.draw_truss(edges)


def test_clustering_by_degree_shows_every_vertex_of_two_neighbors(club):
    ax = plot.clustering_by_degree(club)
    x, y = ax.collections[0].get_offsets().T
    graph = nx.Graph(karate().to_numpy().tolist())
    expected = [
        (graph.degree(v), c) for v, c in nx.clustering(graph).items() if graph.degree(v) > 1
    ]
    assert sorted(zip(x, y, strict=True)) == pytest.approx(np.array(sorted(expected)))
    low, high = ax.lines[0].get_xydata()[[0, -1]]
    assert low == pytest.approx([2, np.mean([c for d, c in expected if d == 2])])
    assert high[0] == pytest.approx(np.sqrt(16 * 17))


def test_the_distribution_counts_vertices_with_at_least_as_many(club):
    x, y = plot.triangle_distribution(club).lines[0].get_data()
    counts = np.array(list(nx.triangles(nx.Graph(karate().to_numpy().tolist())).values()))
    assert x.tolist() == sorted(set(counts[counts > 0].tolist()))
    assert y.tolist() == [(counts >= t).sum() for t in x]


def test_the_profile_counts_edges_of_every_truss(club):
    left, of_k = plot.truss_profile(club).lines
    sizes = [nx.k_truss(nx.Graph(karate().to_numpy().tolist()), k).size() for k in range(2, 7)]
    assert left.get_xydata().tolist() == [[k, sizes[k - 2]] for k in range(2, 6)]
    assert of_k.get_ydata().tolist() == (-np.diff(sizes)).tolist()


def test_a_truss_is_drawn_on_its_graph(club):
    ax = plot.draw_truss(club, k=4)
    around, truss = ax.collections[::2]
    assert (len(around.get_segments()), len(truss.get_segments())) == (78 - 25, 25)
    assert {text.get_text() for text in ax.texts} == {
        str(v) for v in (0, 1, 2, 3, 7, 8, 13, 23, 29, 30, 32, 33)
    }
    assert not plot.draw_truss(club, labels=False).texts


def test_of_a_large_graph_the_truss_alone_is_drawn(backend):
    frame = pd.concat([star(500).frame(), complete(6).frame() + 501])
    ax = plot.draw_truss(backend.frame(frame))
    around, truss = ax.collections[::2]
    assert (len(around.get_segments()), len(truss.get_segments())) == (0, 15)
    with pytest.raises(ValueError, match=r"507 vertices.*6-truss"):
        plot.draw_truss(backend.frame(frame), k=2)
    with pytest.raises(ValueError, match="no edge"):
        plot.draw_truss(backend.frame({"src": [1], "dst": [1]}))
    for wrong in (7, 1, "least"):
        with pytest.raises(ValueError, match="k="):
            plot.draw_truss(backend.frame(frame), k=wrong)


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch, club):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install 'rapids_tc\[plot\]'"):
        plot.truss_profile(club)


@pytest.mark.cpu_only
@pytest.mark.parametrize(
    "name",
    [
        "fraud_rings",
        "karate_club",
        "les_miserables",
        "messages_over_time",
        "paid_reviews",
        "python_imports",
        "rings",
    ],
)
def test_examples(tmp_path, monkeypatch, name):
    script = EXAMPLES / f"{name}.py"
    assert len(script.read_text().splitlines()) <= 40
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(script), "picture.png"])
    run_path(str(script), run_name="__main__")
    assert plt.imread(tmp_path / "picture.png").shape[1] == 1000
