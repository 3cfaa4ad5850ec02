"""Pictures: what they show, where they go, and the examples that make those of the README."""

import json
import os
import sys
from functools import partial
from pathlib import Path
from runpy import run_path

import matplotlib
import networkx as nx
import numpy as np
import pandas as pd
import pytest
import reference
from graphs import complete, cycle, star
from needs import need_module

import rapids_tc as tc
from rapids_tc import plot
from rapids_tc.datasets import karate

matplotlib.use("Agg")
from matplotlib import pyplot as plt

OF_TRUSSES = [plot.draw_truss, plot.communities]  # these need an edge
PICTURES = [
    plot.clustering_by_degree,
    plot.squares,
    plot.triads,
    plot.triangle_distribution,
    plot.truss_profile,
    *OF_TRUSSES,
]
ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
sys.path.append(str(ROOT / "docs"))
from drawings import pictures  # noqa: E402

each_picture = pytest.mark.parametrize(
    "picture", [*PICTURES, plot.hierarchy], ids=lambda p: p.__name__
)


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
def test_a_picture_says_what_it_takes(backend, club, picture):
    for wrong in ("x", np.empty(2), plt.figure(), plt.subplot(projection="polar")):
        with pytest.raises(TypeError, match=r"^ax is of type .*: give flat axes of matplotlib"):
            picture(club, ax=wrong)
    with pytest.raises(TypeError, match=r"did you mean source=\?"):
        picture(club, src="src")
    with pytest.raises(TypeError, match=r"options are named: .*ax=, .*source=, destination=\)"):
        picture(club, 3, 4)
    frame = karate().assign(day=1)
    with pytest.raises(ValueError, match=r"one graph, and this one has groups by=.*rows of one"):
        picture(tc.Graph(backend.frame(frame), by="day"))


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
        if picture not in OF_TRUSSES:
            drawn(picture(edges))
        else:
            with pytest.raises(ValueError, match="no edge"):
                picture(edges)
    for edges in (backend.frame({"src": [1], "dst": [1]}), backend.frame(star(3).frame())):
        with pytest.raises(ValueError, match="no triangle, and so no community to draw"):
            plot.hierarchy(edges)


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
    assert {text.get_text() for text in ax.texts} == {str(v) for v in SHOWN}
    assert not plot.draw_truss(club, labels=False).texts
    with pytest.raises(ValueError, match="labels='no'; accepted: True, False"):
        plot.draw_truss(club, labels="no")


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


SHOWN = (0, 1, 2, 3, 7, 8, 13, 23, 29, 30, 32, 33)  # of the 4-truss


def test_the_names_of_the_module_are_its_pictures():
    assert dir(plot) == sorted(plot.__all__)
    assert all(callable(getattr(plot, name)) for name in dir(plot))


@pytest.fixture(scope="module")
def many():
    """A multigraph with loops, both directions, times, kinds and signs: an edge has one of each."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"src": rng.integers(0, 16, 150), "dst": rng.integers(0, 16, 150)})
    low, high = np.sort(frame.to_numpy(), axis=1).T
    frame["kind"] = np.array(["call", "mail", "pay"])[(low * 7 + high) % 3]
    frame["sign"] = np.where((low + 3 * high) % 4, 2.5, -1)
    frame["at"] = pd.Timestamp("2026-03-01") + pd.to_timedelta(rng.integers(0, 90, 150), unit="h")
    return frame


def rows_of(frame, *columns):
    return list(frame[["src", "dst", *columns]].itertuples(index=False, name=None))


def test_over_time_draws_windows_or_what_has_formed(backend, many):
    edges = backend.frame(many)
    # Times of a picture are days since 1970.
    day = pd.Timedelta(days=1)
    since = rows_of(
        many.assign(at=(many["at"] - pd.Timestamp(0)) / day * 24).astype({"at": int}), "at"
    )
    [line] = drawn(plot.over_time(edges, time="at")).lines
    expected = [(t, total) for t, _, total in reference.triangles_over_time(since)]
    x = matplotlib.dates.date2num(line.get_xdata()) * 24
    assert list(zip(x.round(6).tolist(), line.get_ydata().tolist(), strict=True)) == expected
    assert line.get_drawstyle() == "steps-post"
    [line] = drawn(plot.over_time(edges, time="at", window="12h", step="6h")).lines
    expected = [n for _, n in reference.triangles_over_time(since, window=12, step=6)]
    assert line.get_ydata().tolist() == expected
    ax = plot.over_time(edges, time="at")
    plot.over_time(edges, time="at", window="12h", ax=ax)
    assert len({line.get_color() for line in ax.lines}) == 2 and ax.get_ylabel() == "triangles"
    told = [text.get_text() for text in ax.get_legend().get_texts()]
    assert told == ["triangles so far", "triangles of a window of 12h"]


def test_types_and_signs_have_a_bar_each(backend, many):
    edges = backend.frame(many)
    ax = drawn(plot.types(edges, edge_type="kind"))
    bars = {
        label.get_text(): int(bar.get_width())
        for label, bar in zip(ax.get_yticklabels(), ax.patches, strict=True)
    }
    rows = reference.triangles_by_type(rows_of(many, "kind"))
    assert bars == {" + ".join(kinds): number for *kinds, number in rows}
    assert [*bars.values()] == sorted(bars.values(), reverse=True)
    ax = drawn(plot.balance(edges, sign="sign"))
    shown = [(round(bar.get_x() + 0.35), int(bar.get_height())) for bar in ax.patches]
    counts = [number for _, number, _ in reference.balance(rows_of(many, "sign"))]
    assert shown == [(0, counts[0]), (2, counts[2]), (1, counts[1]), (3, counts[3])]


def test_rows_of_an_edge_that_disagree_are_settled(backend):
    rows = [(0, 1, "a", 1), (1, 2, "b", 1), (2, 0, "a", -1), (0, 1, "c", -1)]
    edges = backend.frame(pd.DataFrame(rows, columns=["src", "dst", "kind", "sign"]))
    ax = drawn(plot.types(edges, edge_type="kind", aggregate="last"))
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a + b + c"]
    ax = drawn(plot.balance(edges, sign="sign", aggregate="last"))
    assert [bar.get_height() for bar in ax.patches if bar.get_height()] == [1]
    for draw in (partial(plot.types, edge_type="kind"), partial(plot.balance, sign="sign")):
        with pytest.raises(ValueError, match="aggregate= says"):
            draw(edges)


def test_of_many_types_the_rest_is_one_bar_that_says_so(backend):
    """60 triangles apart, of a type each; the first ten of them three times."""
    corners = np.arange(240).reshape(80, 3)
    frame = pd.DataFrame({
        "src": corners.ravel(), "dst": np.roll(corners, 1, axis=1).ravel(),
        "kind": np.append(np.arange(60), np.tile(np.arange(10), 2)).repeat(3),
    })  # fmt: skip
    ax = drawn(plot.types(backend.frame(frame), edge_type="kind"))
    labels = [label.get_text() for label in ax.get_yticklabels()]
    widths = [int(bar.get_width()) for bar in ax.patches]
    assert labels[0] == "0 + 0 + 0" and labels[-1] == "40 others" and len(labels) == 21
    assert widths == [3] * 10 + [1] * 10 + [40]


@pytest.mark.parametrize("directed", [False, True])
def test_a_census_stands_over_drawings_of_its_triads(backend, many, directed):
    ax = drawn(plot.triads(backend.frame(many), directed=directed))
    bars = [int(bar.get_height()) for bar in ax.patches]
    expected = reference.triad_counts(rows_of(many), directed=directed)
    assert dict(zip([x.get_text() for x in ax.get_xticklabels()], bars, strict=True)) == expected
    some = plot.triads(backend.frame(many), directed=directed, vertices=[3, 8]).patches
    apart = reference.triad_counts(rows_of(many), among=[3, 8], directed=directed)
    assert [int(bar.get_height()) for bar in some] == [*apart.values()]
    boxes = [box for box in ax.artists if hasattr(box, "offsetbox")]
    arrows = [
        [a.get_arrowstyle().__class__.__name__ for a in box.offsetbox.get_children()
         if isinstance(a, matplotlib.patches.FancyArrowPatch)]
        for box in boxes
    ]  # fmt: skip
    if directed:
        graphs = [nx.triad_graph(name) for name in expected]
        mutual = [sum(g.has_edge(b, a) for a, b in g.edges) // 2 for g in graphs]
        assert [found.count("CurveFilledAB") for found in arrows] == mutual
        assert [len(found) for found in arrows] == [
            g.size() - both for g, both in zip(graphs, mutual, strict=True)
        ]
    else:
        assert [len(found) for found in arrows] == [0, 1, 2, 3]


def test_communities_have_their_edges_in_a_color_each(club):
    ax = drawn(plot.communities(club, 4))
    around, *communities = [lines for lines in ax.collections if hasattr(lines, "get_segments")]
    of_edge = reference.truss_communities(rows_of(karate()), 4)
    sizes = [list(of_edge.values()).count(i) for i in (0, 1)]
    assert [len(lines.get_segments()) for lines in communities] == sizes
    assert len(around.get_segments()) == 78 - sum(sizes)
    assert len({tuple(lines.get_color()[0]) for lines in communities}) == 2
    dots = ax.collections[-1].get_offsets()
    assert len(dots) == len(SHOWN)
    with pytest.raises(ValueError, match="k="):
        plot.communities(club, 6)


def test_the_hierarchy_is_a_tree_over_k(backend):
    novel = nx.to_pandas_edgelist(nx.les_miserables_graph())[["source", "target"]]
    ax = drawn(plot.hierarchy(backend.frame(novel)))
    table = reference.truss_hierarchy(list(novel.itertuples(index=False, name=None)))
    lines, dots = ax.collections
    assert sorted(dots.get_offsets()[:, 1]) == sorted(k for _, k, *_ in table)
    level = {number: k for number, k, *_ in table}
    steps = sorted((k, level[around]) for _, k, around, *_ in table if around is not None)
    drawn_steps = [(int(a[1]), int(b[1])) for a, b in lines.get_segments()]
    assert sorted(drawn_steps) == steps
    # No two stand on each other, and the area of a dot follows the number of vertices.
    assert len({tuple(xy) for xy in dots.get_offsets()}) == len(table)
    by_size = sorted(zip([n for *_, n in table], dots.get_sizes(), strict=True))
    assert [area for _, area in by_size] == sorted(dots.get_sizes())
    few = plot.hierarchy(backend.frame(novel), at_least=10).collections[1]
    assert len(few.get_offsets()) == sum(n >= 10 for *_, n in table)
    with pytest.raises(ValueError, match=r"at_least=1000: 0 communities.*the largest one has"):
        plot.hierarchy(backend.frame(novel), at_least=1000)
    for wrong in ("x", 2.5, 0):
        with pytest.raises(ValueError, match=r"at_least=.*accepted: an integer from 1 on"):
            plot.hierarchy(backend.frame(novel), at_least=wrong)


def test_squares_of_two_sides_have_a_line_each(backend, many):
    frame = many.assign(src=many["src"] + 100)
    of_vertex = reference.vertex_squares(rows_of(frame))
    ax = drawn(plot.squares(backend.frame(frame), bipartite=True))
    for line, is_side in zip(ax.lines, (lambda v: v >= 100, lambda v: v < 100), strict=True):
        own = np.array([n for v, n in of_vertex.items() if n and is_side(v)])
        x, y = line.get_data()
        assert x.tolist() == sorted({*own.tolist()})
        assert y.tolist() == [(own >= n).sum() for n in x]
    [line] = plot.squares(backend.frame(frame)).lines
    assert line.get_ydata()[0] == sum(n > 0 for n in of_vertex.values())


@pytest.mark.cpu_only
def test_answers_of_other_libraries_are_drawn(many):
    polars, pyarrow = need_module("polars"), need_module("pyarrow")
    given = {"types": {"edge_type": "kind"}, "over_time": {"time": "at", "window": "1D"}}
    given |= {"balance": {"sign": "sign"}, "triads": {}, "squares": {}, "hierarchy": {}}
    for name, options in given.items():
        frames = [many, polars.from_pandas(many), polars.from_pandas(many).lazy()]
        frames += [pyarrow.Table.from_pandas(many)]
        if not options:  # arrays have no further columns
            frames += [(many["src"].to_numpy(), many["dst"].to_numpy())]
        shown = [marks(getattr(plot, name)(frame, **options)) for frame in frames]
        assert shown[1:] == shown[:1] * (len(frames) - 1), name


def marks(ax):
    """Where bars, lines and dots are."""
    plt.close(ax.figure)
    bars = [(x.get_width(), x.get_height()) for x in ax.patches]
    lines = [line.get_ydata().tolist() for line in ax.lines]
    return bars, lines, [x.get_offsets().tolist() for x in ax.collections]


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch, club):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install 'rapids_tc\[plot\]'"):
        plot.truss_profile(club)


@pytest.mark.cpu_only
@pytest.mark.parametrize("name", [n for n, p in pictures.PICTURES.items() if not p.arguments])
def test_examples(tmp_path, monkeypatch, capsys, name):
    script = EXAMPLES / f"{name}.py"
    assert len(script.read_text().splitlines()) <= 40
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(script), "picture.png"])
    run_path(str(script), run_name="__main__")
    assert plt.imread(tmp_path / "picture.png").shape[1] == 1000
    if name != "python_imports":  # another Python has other files
        assert capsys.readouterr().out == pictures.printed(name)


def test_the_pictures_of_the_site_are_those_of_the_scripts():
    """In two forms, of which the dark one has the other color of each role."""
    made_by = json.loads(pictures.MADE_BY.read_text())
    assert made_by == {name: pictures.hashed(name) for name in pictures.PICTURES}, (
        "cd docs && python -m drawings.pictures"
    )
    for name in pictures.PICTURES:
        light, dark = (
            (pictures.IMAGES / f"{name}-{form}.svg").read_text() for form in ("light", "dark")
        )
        assert dark == pictures.dark(light) != light
