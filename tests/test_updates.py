"""Edges put into a graph and taken out: against sets and loops, and a graph made anew."""

import copy
import pickle
from collections import Counter
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
import reference
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from needs import need_module

import rapids_tc as tc
from rapids_tc import _parallel, testing

KARATE = [
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 0, 2, 2,
    1, 0, 2, 0, 0, 0, 3, 1, 3, 1, 1, 1, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 1, 2, 1, 1, 0, 1, 10,
]  # fmt: skip
K3 = [(0, 1), (1, 2), (2, 0)]
IDS = {
    "integers": lambda i: i,
    "far apart": lambda i: (i - 4) * 10**12,
    "text": lambda i: f"v{i * 7 % 10}",
    "moments": lambda i: pd.Timestamp("2026-01-01") + pd.Timedelta(days=i),
}
STEP = st.tuples(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=12),
    st.lists(st.tuples(st.integers(0, 99), st.booleans()), max_size=6),
)


@pytest.fixture(params=["own", "emulator"], scope="module")
def library(request, backend):
    """The library under test; pandas by the emulated GPU, too."""
    if request.param == "emulator" and backend.name != "pandas":
        pytest.skip("the backend has a GPU, or emulates it")
    with testing.host_engine() if request.param == "emulator" else nullcontext():
        yield backend


def table(rows, **columns):
    rows = list(rows)
    source, destination = zip(*rows, strict=True) if rows else ((), ())
    return pd.DataFrame({"src": source, "dst": destination, **columns})


def key(row):
    return tuple(sorted(row))


def after(rows, inserted, deleted):
    gone = {key(row) for row in deleted}
    return [row for row in rows if key(row) not in gone] + list(inserted)


def without(frame, gone):
    pairs = zip(frame["src"], frame["dst"], strict=True)
    return frame[np.array([key(row) not in gone for row in pairs], bool)]


def edge_counts(rows):
    return dict(
        zip(map(key, rows), reference.by_row(rows, reference.edge_triangles(rows)), strict=True)
    )


def check_delta(delta, before, now, library):
    """The changes are those of two lists of rows, in sets and loops."""
    assert delta.triangles == reference.count(now) - reference.count(before)
    for frame, old, new in (
        (delta.edges, edge_counts(before), edge_counts(now)),
        (delta.vertices, reference.vertex_triangles(before), reference.vertex_triangles(now)),
    ):
        frame, old, new = library.to_pandas(frame), Counter(old), Counter(new)
        changed = sorted(item for item in {*old, *new} if old[item] != new[item])
        ids = frame.drop(columns=["triangles", "delta"])
        listed = list(ids.itertuples(index=False, name=None))
        assert listed == [item if isinstance(item, tuple) else (item,) for item in changed]
        assert frame["triangles"].tolist() == [new[item] for item in changed]
        assert frame["delta"].tolist() == [new[item] - old[item] for item in changed]
        assert all(frame[name].dtype == "int64" for name in ("triangles", "delta"))


def check_graph(graph, anew, library):
    """Every function answers as for a graph made anew, floats to the bit."""
    assert graph.count() == anew.count() == graph.count(method="auto")
    assert repr(graph) == repr(anew)
    for call in (
        lambda g: g.annotate("triangles", "trussness", "jaccard"),
        lambda g: g.clustering(),
        lambda g: g.simple_edges(),
        lambda g: g.list_triangles(),
        lambda g: g.triad_counts(),
        lambda g: g.k_truss("max"),
    ):
        answers = [library.to_pandas(call(g)) for g in (graph, anew)]
        pd.testing.assert_frame_equal(*answers, check_exact=True)
    for call in (tc.transitivity, tc.average_clustering):
        np.testing.assert_equal(call(graph), call(anew))


@pytest.mark.parametrize("name", IDS)
@settings(max_examples=8, phases=(Phase.explicit, Phase.generate))
@given(
    first=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=25),
    steps=st.lists(STEP, min_size=1, max_size=4),
    asks=st.booleans(),
    extra=st.booleans(),
)
def test_updates_in_turn(library, name, first, steps, asks, extra):
    """Rows come and go, with new ids, repeats, loops, and edges that are put back."""
    named = IDS[name]
    rows = [(named(u), named(v)) for u, v in first]
    options = {"vertices": [named(3), named(8)] if extra else None}
    tables = [table(rows, t=range(len(rows)))]
    options |= {"source": "src", "destination": "dst"}
    graph = tc.Graph(library.frame(tables[0]), **options)
    for inserts, deletes in steps:
        simple = reference.simple_edges(rows)
        chosen = {simple[place % len(simple)]: turned for place, turned in deletes if simple}
        deleted = [edge[::-1] if turned else edge for edge, turned in chosen.items()]
        inserted = [(named(u), named(v)) for u, v in inserts]
        inserted = [row for row in inserted if key(row) not in chosen]
        new = table(inserted, t=range(100, 100 + len(inserted)))
        delta = graph.update(insert=library.frame(new), delete=library.frame(table(deleted)))
        before, rows = rows, after(rows, inserted, deleted)
        check_delta(delta, before, rows, library)
        assert graph.count() == reference.count(rows)
        tables = [*(without(each, chosen) for each in tables), new]
        if asks and rows:
            graph.trussness()
    joined = pd.concat([each for each in tables if len(each)] or tables[:1])
    check_graph(graph, tc.Graph(library.frame(joined), **options), library)


# What is made anew --------------------------------------------------------------------------------


GROUPED = [("a", 0, 1), ("a", 1, 2), ("a", 2, 0), ("b", 0, 1), ("b", 1, 2), ("b", 7, 7)]


def frame_3(rows):
    return pd.DataFrame(rows, columns=["day", "src", "dst"])


def test_groups_are_updated_alone(library):
    graph = tc.Graph(library.frame(frame_3(GROUPED)), by="day")
    delta = graph.update(
        insert=library.frame(frame_3([("b", 2, 0), ("c", 0, 1)])),
        delete=library.frame(frame_3([("a", 1, 0)])),
    )
    assert delta.triangles == 0
    vertices = library.to_pandas(delta.vertices)
    expected = [("a", i, 0, -1) for i in range(3)] + [("b", i, 1, 1) for i in range(3)]
    assert list(vertices.itertuples(index=False, name=None)) == expected
    assert list(vertices) == ["day", "vertex", "triangles", "delta"]
    edges = library.to_pandas(delta.edges)
    assert list(edges) == ["day", "src", "dst", "triangles", "delta"] and len(edges) == 6
    rows = [*GROUPED[1:], ("b", 2, 0), ("c", 0, 1)]
    anew = tc.Graph(library.frame(frame_3(rows)), by="day")
    for call in (tc.count, tc.clustering, tc.annotate):
        answers = [
            library.to_pandas(call(g, *["trussness"] * (call is tc.annotate)))
            for g in (graph, anew)
        ]
        pd.testing.assert_frame_equal(answers[0].reset_index(drop=True), answers[1])
    with pytest.raises(
        ValueError, match=r"1 edge of delete= not in the graph: \(\(c, 5\), \(c, 6\)\)"
    ):
        graph.update(delete=library.frame(frame_3([("c", 5, 6)])))


def test_ids_of_several_columns_and_categories_are_updated(library):
    names = ["ip", "port", "ip2", "port2"]
    rows = [("x", 1, "y", 1), ("y", 1, "z", 2), ("x", 2, "z", 2)]
    first = pd.DataFrame(rows, columns=names)
    graph = tc.Graph(library.frame(first), source=names[:2], destination=names[2:])
    new = pd.DataFrame([("z", 2, "x", 1)], columns=names)
    delta = graph.update(insert=library.frame(new))
    assert delta.triangles == graph.count() == 1
    ends = ["src_ip", "src_port", "dst_ip", "dst_port"]
    assert list(library.to_pandas(delta.edges)) == [*ends, "triangles", "delta"]
    texts = table([("a", "b"), ("b", "c")]).astype("category")
    graph = tc.Graph(library.frame(texts))
    delta = graph.update(insert=library.frame(table([("d", "a"), ("c", "a")]).astype("category")))
    assert delta.triangles == graph.count() == 1 and graph.n_vertices == 4
    assert library.to_pandas(delta.vertices)["vertex"].tolist() == ["a", "b", "c"]


def test_loops_are_taken_out_and_further_vertices_stay(library, monkeypatch):
    rows = [(1, 1), (2, 2), (2, 3), (3, 4), (4, 2), (1, 1), (5, 5)]
    graph = tc.Graph(library.frame(table(rows)), vertices=[4, 9])
    with monkeypatch.context() as patch:
        patch.setattr("rapids_tc.updates.updated.update", None)  # nothing is made anew
        assert graph.update(delete=library.frame(table([(1, 1), (3, 2)]))).triangles == -1
        for again in ([(1, 1)], [(9, 9)], [(8, 8)]):  # taken out; no row; no vertex
            with pytest.raises(ValueError, match="1 edge of delete= not in the graph"):
                graph.update(delete=library.frame(table([(2, 2), *again])))
        graph.update(insert=library.frame(table([(8, 8), (7, 7), (5, 5)])))
        graph.update(delete=library.frame(table([(7, 7), (5, 5), (5, 5)])))
        graph.update(insert=library.frame(table([(5, 5)])))
    left = [
        *zip(
            *library.to_pandas(graph.annotate("triangles"))[["src", "dst"]].T.to_numpy(),
            strict=True,
        )
    ]
    assert left == [(2, 2), (3, 4), (4, 2), (8, 8), (5, 5)]
    graph.update(delete=library.frame(table([(8, 8), (5, 5)])))
    assert (graph.n_vertices, graph.n_edges) == (4, 2)  # 2, whose loop stays, 3, 4 and 9
    graph.update(delete=library.frame(table([(2, 4), (4, 3), (2, 2)])))
    vertices = library.to_pandas(graph.vertex_triangles())
    assert vertices["vertex"].tolist() == [4, 9]
    graph.update(insert=library.frame(table([(4, 9)])))
    assert graph.n_edges == 1 and graph.count() == 0


def test_a_graph_without_rows_takes_any_ids(library):
    graph = tc.Graph(library.frame(table([(1, 2)]).head(0)))
    delta = graph.update(insert=library.frame(table([("a", "b"), ("b", "c"), ("c", "a")])))
    assert delta.triangles == graph.count() == 1


def test_a_graph_that_lost_all_rows_takes_edges_again(library):
    graph = tc.Graph(library.frame(table(K3)))
    graph.update(delete=library.frame(table(K3)))
    other = copy.copy(graph)
    for each in (graph, other):  # the second has no tally
        assert (each.count(), each.n_vertices) == (0, 0)
        delta = each.update(insert=library.frame(table([(7, 1), (1, 5), (5, 7)])))
        assert delta.triangles == each.count() == 1 and each.n_vertices == 3


def test_changes_are_those_of_their_update_whenever_they_are_read(library):
    graph, rows = tc.Graph(library.frame(table(K3))), [K3]
    deltas = []
    for new in ([(3, 0), (3, 1)], [(9, 1), (9, 3), (3, 2)], [(0, 9)]):
        deltas.append(graph.update(insert=library.frame(table(new))))
        rows.append(rows[-1] + new)
    deltas[1] = pickle.loads(pickle.dumps(deltas[1]))
    assert repr(deltas[0]) == "Delta(triangles=+1, vertices=3 rows, edges=3 rows)"
    for delta, before, now in zip(deltas, rows, rows[1:], strict=False):
        check_delta(delta, before, now, library)


# What is refused ----------------------------------------------------------------------------------


REFUSED = {
    "neither": ({}, ValueError, "give insert= or delete="),
    "not there": ({"delete": [(0, 1), (5, 6), (1, 9)]}, ValueError, r"2 edg.* \(5, 6\), \(1, 9\)$"),
    "six": ({"delete": [(i, 9) for i in range(6)]}, ValueError, r"6 edges.*\(4, 9\), …"),
    "both": ({"insert": [(0, 1)], "delete": [(1, 0)]}, ValueError, "1 edge in insert= and"),
    "missing": ({"insert": table(K3)[["src"]]}, tc.ColumnNotFoundError, "no column 'dst'"),
    "further": ({"insert": table([(0, 1)], w=[1])}, ValueError, "has a column 'w' that"),
    "dtype": ({"insert": [("a", "b")]}, tc.IdTypeError, "'src' of insert= has dtype"),
    "other dtype": ({"delete": [(0.0, 1.0)]}, tc.IdTypeError, "'src' of delete= has dtype"),
    "no frame": ({"insert": 5}, TypeError, "insert= is of type int: give a frame"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("updated", [False, True])
def test_what_is_refused_leaves_the_graph_as_it_was(library, name, updated):
    batch, error, message = REFUSED[name]
    graph = tc.Graph(library.frame(table(K3)))
    if updated:
        graph.update(insert=library.frame(table([(3, 0)])))
    size = graph.n_vertices, graph.n_edges
    frames = {k: table(v) if isinstance(v, list) else v for k, v in batch.items()}
    frames = {k: v if isinstance(v, int) else library.frame(v) for k, v in frames.items()}
    with pytest.raises(error, match=message):
        graph.update(**frames)
    assert (graph.count(), graph.n_vertices, graph.n_edges) == (1, *size)
    assert graph.update(insert=library.frame(table([(3, 1), (0, 3)]))).triangles == 1
    assert graph.count() == 2


def test_nulls_are_refused(library):
    graph = tc.Graph(library.frame(table(K3).astype("float64")))
    new = table([(0.0, None)]).astype("float64")
    with pytest.raises(tc.NullIdError, match="column 'dst' of insert= has 1 null"):
        graph.update(insert=library.frame(new))
    with pytest.raises(tc.IdTypeError, match=r"'src' of insert= .*whole numbers"):
        graph.update(insert=library.frame(table([(0.5, 1.0)])))


def test_a_failure_in_the_middle_leaves_the_graph_as_it_was(library, monkeypatch):
    graph = tc.Graph(library.frame(table(K3)))
    graph.update(insert=library.frame(table([(3, 0)])))
    before = graph._prepared
    with monkeypatch.context() as patch:
        patch.setattr("rapids_tc.updates.tally.Delta", None)  # called when all else is done
        with pytest.raises(TypeError):
            graph.update(insert=library.frame(table([(3, 1)])))
    assert graph._prepared is before and (graph.count(), graph.n_edges) == (1, 4)
    assert graph.update(insert=library.frame(table([(3, 1)]))).triangles == 1
    assert graph.count() == 2 == tc.count(graph.simple_edges())


def test_copies_part_and_pickles_stay(library):
    graph = tc.Graph(library.frame(table(K3)))
    graph.update(insert=library.frame(table([(3, 0)])))
    others = [copy.copy(graph), copy.deepcopy(graph), pickle.loads(pickle.dumps(graph))]
    graph.update(insert=library.frame(table([(3, 1)])))
    for other in others:
        assert (other.count(), other.n_edges) == (1, 4)
        assert other.update(insert=library.frame(table([(3, 1), (3, 2)]))).triangles == 3
        assert other.count() == 4 and other.n_edges == 6
    assert (graph.count(), graph.n_edges) == (2, 5)


@pytest.mark.cpu_only
@pytest.mark.parametrize("kind", ["polars", "pyarrow", "narwhals"])
def test_frames_come_in_the_library_of_the_graph(kind):
    module = need_module(kind)
    polars, arrow = need_module("polars"), need_module("pyarrow")

    def convert(rows):
        columns = {"src": [u for u, _ in rows], "dst": [v for _, v in rows]}
        if kind == "pyarrow":
            return arrow.table(columns)
        frame = polars.DataFrame(columns)
        return frame if kind == "polars" else module.from_native(frame)

    graph = tc.Graph(convert([("a", "b"), ("b", "c"), ("b", "a")]))
    delta = graph.update(insert=convert([("c", "a"), ("d", "a")]), delete=None)
    assert type(delta.edges) is type(delta.vertices) is type(convert(K3))
    assert delta.triangles == 1
    graph.update(delete=convert([("b", "a")]))
    counts = graph.edge_triangles()
    assert (counts.to_pylist() if kind == "pyarrow" else counts.to_list()) == [0, 0, 0]
    with pytest.raises(TypeError, match="insert= is a frame of Pandas"):
        graph.update(insert=table([("c", "a")]))


def test_many_updates_begin_a_new_tally(library, monkeypatch):
    """Also in the middle of a sequence, counts stay those of the rows."""
    monkeypatch.setattr("rapids_tc.updates.updates.ROOM", 2)
    rows = list(K3)
    graph = tc.Graph(library.frame(table(rows)))
    for new in range(3, 9):
        inserted = [(new, new - 1), (new, new - 2), (new, 0)]
        delta = graph.update(insert=library.frame(table(inserted)))
        before, rows = rows, rows + inserted
        check_delta(delta, before, rows, library)
        assert graph.count() == reference.count(rows)
    parts = [table(K3), *(table([(new, new - 1), (new, new - 2), (new, 0)]) for new in range(3, 9))]
    check_graph(graph, tc.Graph(library.frame(pd.concat(parts))), library)


@pytest.mark.cpu_only
def test_threads_find_the_same_changes(monkeypatch):
    """By one thread or by three, which share hubs."""
    frame = tc.datasets.rmat(9, edge_factor=8, seed=1)
    edges = tc.simple_edges(frame)
    picked = np.random.default_rng(1).permutation(len(edges))[: len(edges) // 5]
    rest = edges.drop(picked)
    deltas = []
    for below in (2**18, 0):
        monkeypatch.setattr(_parallel, "SERIAL_BELOW", below)
        monkeypatch.setattr(_parallel, "thread_count", lambda: 3)
        graph = tc.Graph(frame)
        deltas.append(graph.update(delete=edges.loc[picked]))
        assert graph.count() == tc.count(rest)
    pd.testing.assert_frame_equal(deltas[0].edges, deltas[1].edges)
    pd.testing.assert_frame_equal(deltas[0].vertices, deltas[1].vertices)
    now = edges.assign(triangles=0).merge(
        rest.assign(triangles=tc.edge_triangles(rest)), how="left", on=["src", "dst"]
    )
    before = tc.edge_triangles(edges)
    after = now["triangles_y"].fillna(0).astype("int64")
    changed = edges.assign(triangles=after, delta=after - before)[after != before]
    pd.testing.assert_frame_equal(deltas[0].edges, changed.reset_index(drop=True))


def test_the_gains_of_the_karate_club(library):
    """One edge after another, in the order of the frame: values found by two other programs."""
    club = tc.datasets.karate()
    graph, gains = tc.Graph(library.frame(club.head(0).astype(club.dtypes))), []
    for row in range(len(club)):
        gains.append(graph.update(insert=library.frame(club.iloc[[row]])).triangles)
    assert gains == KARATE


@pytest.mark.parametrize("name", ["vertex", "src", "dst", "triangles", "delta"])
def test_groups_are_not_named_like_a_column_of_the_answer(library, name):
    frame = pd.DataFrame({"a": [0, 1, 2], "b": [1, 2, 0], name: [7, 7, 7]})
    graph = tc.Graph(library.frame(frame), by=name, source="a", destination="b")
    with pytest.raises(ValueError, match=f"by= names the column '{name}'.*rename it first"):
        graph.update(delete=library.frame(frame))
    assert graph.n_edges == 3


def test_a_graph_does_not_follow_a_frame_that_was_put_into_it(library):
    more = library.frame(table([(0, 2), (5, 6)]))
    graph = tc.Graph(library.frame(table([(0, 1), (1, 2)])))
    graph.update(insert=more)
    more["dst"] = [9, 9]
    more["src"] = [8, 8]
    assert (tc.count(graph), graph.n_vertices) == (1, 5)
    found = library.to_pandas(tc.simple_edges(graph))
    assert [*found.itertuples(index=False, name=None)] == [(0, 1), (0, 2), (1, 2), (5, 6)]


@pytest.mark.parametrize("dtype", ["int32", "uint16"])
def test_narrower_ids_get_the_width_of_the_rows(library, dtype):
    frame = table([(0, 1), (1, 2)])
    graph = tc.Graph(library.frame(frame), source="src", destination="dst")
    narrow = library.frame(table([(2, 0), (2, 3)]).astype(dtype))
    assert graph.update(insert=narrow).triangles == 1
    assert graph.update(delete=narrow).triangles == -1
    assert str(library.to_pandas(tc.simple_edges(graph))["src"].dtype).lower() == "int64"


@pytest.mark.parametrize("column, dtype", [("src", "uint64"), ("w", "float32")])
def test_rows_of_another_width_are_refused(library, column, dtype):
    """They would change the dtype of the graph's rows."""
    frame = table([(0, 1), (1, 2)], w=[1.0, 2.0])
    graph = tc.Graph(library.frame(frame), source="src", destination="dst")
    words = f"column '{column}' of insert= has dtype {dtype}, and {frame[column].dtype} in the rows"
    with pytest.raises(TypeError, match=words):
        graph.update(insert=library.frame(frame.astype({column: dtype})))


def test_what_an_update_returns_is_no_graph():
    graph = tc.Graph(pd.DataFrame({"src": [0, 1], "dst": [1, 2]}))
    with pytest.raises(TypeError, match="Delta: give the Graph itself, which update has changed"):
        tc.count(graph.update(insert=pd.DataFrame({"src": [2], "dst": [0]})))
    rows = pd.DataFrame({"src": [5, 6, 5], "dst": [6, 5, 6]})
    with pytest.raises(ValueError, match=r"^1 edge of delete= not in the graph: \(5, 6\)$"):
        graph.update(delete=rows)


@pytest.mark.parametrize("ends", [257, 400])
def test_edges_of_two_hubs(library, ends):
    """Both ends of the edges that come and go have more neighbors than a block has threads."""
    near = np.arange(2, 2 + ends)
    rows = [(hub, v) for hub in (0, 1) for v in near.tolist()]
    graph = tc.Graph(library.frame(pd.DataFrame(rows, columns=["src", "dst"])))
    edge = library.frame(pd.DataFrame({"src": [0], "dst": [1]}))
    for options, change in (({"insert": edge}, ends), ({"delete": edge}, -ends)):
        delta = graph.update(**options)
        assert delta.triangles == change
        of_vertex = library.to_pandas(delta.vertices)
        assert of_vertex["vertex"].tolist() == [0, 1, *near]
        assert of_vertex["delta"].tolist() == [change, change, *[change // ends] * ends]
        assert (
            library.to_pandas(delta.edges)["delta"].tolist()
            == [change] + [change // ends] * 2 * ends
        )


def test_triangles_far_from_the_hubs(library):
    """Of more vertices and edges than a block has counters and threads; each loses an edge."""
    first = 3 * np.arange(750)
    ends = (
        np.concatenate([first, first + 1, first + 2]),
        np.concatenate([first + 1, first + 2, first]),
    )
    graph = tc.Graph(library.frame({"src": ends[0], "dst": ends[1]}))
    delta = graph.update(delete=library.frame({"src": first + 1, "dst": first}))
    assert (delta.triangles, graph.count()) == (-750, 0)
    for frame, size in ((delta.vertices, 2250), (delta.edges, 2250)):
        frame = library.to_pandas(frame)
        assert len(frame) == size and set(frame["delta"]) == {-1} and set(frame["triangles"]) == {0}


def test_ids_in_a_table(library):
    """Ids that are not dense, from all of 64 bits, and ids beside them that the graph lacks."""
    ids = np.unique(np.random.default_rng(2).integers(-(2**63), 2**63 - 1, 600))
    rows = np.stack([ids, np.roll(ids, 1)], 1).tolist()  # a cycle
    graph = tc.Graph(library.frame(table(rows)))
    shorter = [(ids[i], ids[i + 2]) for i in range(0, 500, 2)]
    assert graph.update(insert=library.frame(table(shorter))).triangles == 250
    with pytest.raises(ValueError, match="600 edges of delete= not in the graph"):
        graph.update(delete=library.frame(table((ids ^ 1).reshape(-1, 1).repeat(2, 1))))
    assert graph.update(delete=library.frame(table(rows))).triangles == -250
    found = library.to_pandas(graph.simple_edges())
    assert [*found.itertuples(index=False, name=None)] == shorter
