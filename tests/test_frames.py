"""Any frame: which columns are read, what comes back beside which rows, what is left alone."""

import re
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from checks import FUNCTIONS, assert_column, assert_columns, check
from graphs import ROWS, TRIANGLES, small

import rapids_tc as tc
from rapids_tc.preparation.edge_columns import PAIRS

pandas_only = pytest.mark.pandas_only


def ask_everything(edges, **columns):
    """Call every function that reads an edge frame."""
    tc.vertex_triangles(edges, vertices=[9, 1], **columns)
    tc.annotate(edges, "triangles", **columns)
    for function in FUNCTIONS:
        function(edges, **columns)


# Which columns ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "pair",
    [*PAIRS, ("Source", "Target"), ("SRC", "DST"), ("From", "to"), ("u", "V")],
    ids=" ".join,
)
def test_known_pairs_are_found_among_others(backend, pair):
    frame = small(*pair)
    frame.insert(0, "first", 1)
    frame.insert(2, "weight", 0.5)
    assert tc.count(backend.frame(frame)) == 1
    check(backend, frame, rows=ROWS)


@pytest.mark.parametrize(
    "pair",
    [
        ("from_acct", "to_acct"), ("protein1", "protein2"), ("Source IP", "Destination IP"),
        ("p:START_ID(P)", ":END_ID(P)"), ("source_id", "target_id"),
    ],
)  # fmt: skip
def test_the_one_pair_of_names_that_differ_by_known_words_is_found(backend, pair):
    frame = small(*pair).assign(weight=1, kind=2)
    check(backend, frame, rows=ROWS)
    backwards = backend.frame(small(*pair)[[*reversed(pair)]])
    plain = backend.frame(small())
    assert tc.transitivity(backwards, directed=True) == tc.transitivity(plain, directed=True)
    several = backend.frame(frame.assign(a1=1, a2=2, b1=1, b2=2).drop(columns=pair[0]))
    with pytest.raises(ValueError, match="which columns hold the edges"):
        tc.count(several)
    found = tc.count(backend.frame(small().assign(w1=0, w2=1)), source="src", destination="dst")
    assert found == tc.count(backend.frame(small().assign(w1=0, w2=1))) == 1


@pytest.mark.parametrize("pair", [("dst", "src"), ("b", "a"), (0, 1), ("from", "to"), ("", " ")])
def test_the_only_two_columns_are_the_ends(backend, pair):
    if backend.name == "cuda" and pair == (0, 1):
        pair = ("0", "1")  # Arrow names are strings
    check(backend, small(*pair), rows=ROWS)


def test_pairs_have_an_order(backend):
    frame = small("source", "destination").assign(target=[1, 2, 3, 4, 5, 6])
    assert tc.count(backend.frame(frame)) == 1
    frame = small().assign(source=1, target=2, destination=3)
    assert tc.count(backend.frame(frame)) == 1
    for first, second in pairwise(PAIRS):
        others = {name: 1 for name in second if name not in first}
        assert tc.count(backend.frame(small(*first).assign(**others))) == 1


def test_lower_case_goes_before_other_letters(backend):
    frame = small("u", "v").assign(Src=1, Dst=2)
    assert tc.count(backend.frame(frame)) == 1
    frame = small("SRC", "Dst").assign(U=1, V=2)
    assert tc.count(backend.frame(frame)) == 1


def test_names_that_differ_in_case_only_are_an_error(backend):
    frame = backend.frame(small("Src", "dst").assign(SRC=1))
    with pytest.raises(ValueError, match="'Src' and 'SRC' differ in upper and lower case only"):
        tc.count(frame)
    assert tc.count(frame, source="Src", destination="dst") == 1


def test_named_columns_win(backend):
    frame = small("a", "b").assign(src=1, dst=2)
    check(backend, frame, rows=ROWS, source="a", destination="b")


@pytest.mark.parametrize(
    "names", [["a", "b", "c"], ["src", "target", "w"], ["src", "x", "y"], ["a"]]
)
def test_columns_that_cannot_be_guessed_are_listed(backend, names):
    frame = backend.frame({name: [1, 2] for name in names})
    for function in FUNCTIONS:
        with pytest.raises(ValueError) as caught:
            function(frame)
        for name in names:
            assert re.search(rf"\b{name}\b", str(caught.value))


def test_a_frame_without_columns(backend):
    with pytest.raises(ValueError):
        tc.count(backend.frame({}))


@pytest.mark.parametrize("wrong", [{"source": "nope"}, {"destination": "nope"}])
def test_a_missing_column_lists_those_present(backend, wrong):
    columns = {"source": "a", "destination": "b"} | wrong
    frame = backend.frame(small("a", "b").assign(other=1))
    for function in FUNCTIONS:
        with pytest.raises(tc.ColumnNotFoundError) as caught:
            function(frame, **columns)
        assert isinstance(caught.value, KeyError)
        message = str(caught.value)
        assert all(re.search(rf"\b{name}\b", message) for name in ("nope", "a", "b", "other"))
        assert not message.startswith(("'", '"'))  # a sentence, not the repr that KeyError prints


def test_the_same_column_twice(backend):
    with pytest.raises(ValueError, match="src"):
        tc.count(backend.frame(small()), source="src", destination="src")


@pandas_only
@pytest.mark.parametrize("labels", [np.arange(3), np.arange(3.0), np.array(["a", "b", "c"])])
def test_labels_that_are_scalars_of_numpy(backend, labels):
    """As columns[0] of an Index of integers gives them."""
    frame = small().assign(other=1)[["other", *small().columns]].set_axis(labels.tolist(), axis=1)
    names = {"source": labels[1], "destination": labels[2]}
    assert tc.count(backend.frame(frame), **names) == 1
    with pytest.raises(tc.ColumnNotFoundError, match="not a column"):
        tc.count(backend.frame(frame), source=labels[1], destination=np.int64(9))


@pandas_only
@pytest.mark.parametrize("labels", [["a", "a", "b"], ["b", "a", "a"]])
def test_a_repeated_label(backend, labels):
    frame = pd.DataFrame([(1, 2, 3)], columns=labels)
    with pytest.raises(ValueError, match="a"):
        tc.count(frame, source="a", destination="b")
    with pytest.raises(ValueError, match="a"):
        tc.count(frame, source="b", destination="a")


@pandas_only
def test_two_columns_of_one_label(backend):
    with pytest.raises(ValueError, match="a"):
        tc.count(pd.DataFrame([(1, 2)], columns=["a", "a"]))


def test_two_column_ids(backend):
    edges = backend.frame(small().assign(b=1, c=2))
    star = tc.simple_edges(edges, source=["src", "dst"], destination=["b", "c"])
    assert len(star) == len(set(ROWS) - {(1, 2)})  # each of the pairs, with the pair 1, 2
    with pytest.raises(ValueError, match="b"):
        tc.count(edges, source="src", destination=["b", "c"])
    with pytest.raises((ValueError, tc.ColumnNotFoundError), match="src"):  # could be one label
        tc.count(edges, source=("src", "dst"), destination=("b", "c"))


# Which rows ---------------------------------------------------------------------------------------

INDEXES = {
    "counting down": pd.RangeIndex(50, 38, -2),
    "named as the ends": pd.Index([3, 1, 2, 6, 5, 4], name="src"),
    "named as the answer": pd.Index([3, 1, 2, 6, 5, 4], name="triangles"),
    "repeated labels": pd.Index([1, 1, 0, 0, 1, 0]),
    "strings": pd.Index(list("fabcde"), name="row"),
    "dates": pd.date_range("2024-02-27", periods=6, name="day"),
    "floats with a gap": pd.Index([0.5, np.nan, -1, 2, 2, 9]),
    "two levels": pd.MultiIndex.from_arrays([[1, 1, 2, 2, 3, 3], list("ababab")], names=["n", "s"]),
    "levels named as the ends": pd.MultiIndex.from_arrays(
        [[1, 1, 1, 2, 2, 2], list("aababb")], names=["src", "dst"]
    ),
    "categories": pd.CategoricalIndex(list("abcabc"), name="kind"),
}


@pytest.mark.parametrize("name", INDEXES)
def test_any_index_is_kept(backend, name):
    frame = small().set_axis(INDEXES[name], axis=0)
    edges = backend.frame(frame)
    expected = backend.to_pandas(edges).index
    sides = backend.to_pandas(tc.edge_triangles(edges))
    assert_column(sides, "triangles", np.int64, expected, TRIANGLES)
    wide = backend.to_pandas(tc.annotate(edges, "triangles"))
    pd.testing.assert_frame_equal(wide, backend.to_pandas(edges).assign(triangles=TRIANGLES))
    corners = backend.to_pandas(tc.vertex_triangles(edges))
    assert_columns(corners, "vertex", "triangles")
    assert corners["triangles"].tolist() == [1, 0, 1, 0, 1]
    assert_columns(backend.to_pandas(tc.simple_edges(edges)), "src", "dst")


def test_the_series_is_one_honest_line(backend):
    for index in (INDEXES["counting down"], INDEXES["repeated labels"], INDEXES["two levels"]):
        edges = backend.frame(small().set_axis(index, axis=0))
        edges["triangles"] = tc.edge_triangles(edges)
        assert backend.to_pandas(edges)["triangles"].tolist() == TRIANGLES


def test_piped(backend):
    assert backend.frame(small()).pipe(tc.count) == 1
    piped = backend.frame(small("a", "b")).pipe(tc.edge_triangles, source="b", destination="a")
    assert backend.to_pandas(piped).tolist() == TRIANGLES


def test_filtered_sorted_and_strided_rows(backend):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.integers(0, 12, (90, 3)), columns=["src", "w", "dst"])
    for part in (
        frame[frame["w"] > 5],
        frame.iloc[::-2],
        frame.sort_values("w"),
        frame.sample(40, random_state=1),
        frame.drop(index=[0, 5, 89]),
        frame.tail(30),
    ):
        check(backend, part)


@pandas_only
def test_read_only_strided_and_big_endian_arrays(backend):
    table = np.array(ROWS * 3, dtype="int64")
    frozen = table.copy()
    frozen.flags.writeable = False
    for array in (frozen, np.asfortranarray(table), table[::-2], np.ascontiguousarray(table.T).T):
        check(backend, pd.DataFrame(array, columns=["src", "dst"], copy=False))
    swapped = table.astype(">i8")
    check(backend, pd.DataFrame({"src": swapped[:, 0], "dst": swapped[:, 1]}, copy=False))


@pandas_only
def test_a_subclass_of_a_frame(backend):
    class Roads(pd.DataFrame):
        @property
        def _constructor(self):
            return Roads

    check(backend, Roads(small()))


# What is left alone -------------------------------------------------------------------------------


def test_the_frame_is_untouched(backend):
    frame = small().astype({"src": "int32"})
    frame.index = pd.Index([9, 9, 1, 0, 4, 2], name="row")
    frame["name"] = pd.Series(list("abcdef"), dtype="str").to_numpy()
    frame["half"] = [0.5, np.nan, 1, 2, 3, 4]
    edges = backend.frame(frame)
    before, columns = backend.to_pandas(edges).copy(deep=True), list(edges.columns)
    ask_everything(edges)
    ask_everything(edges, source="dst", destination="src")
    pd.testing.assert_frame_equal(backend.to_pandas(edges), before, check_exact=True)
    assert list(edges.columns) == columns
    assert edges.index.name == "row"


@pandas_only
def test_what_a_frame_says_of_itself_is_untouched(backend):
    edges = small()
    edges.attrs["about"] = {"keep": ["me"]}
    edges.columns.name = "fields"
    ask_everything(edges)
    assert edges.attrs == {"about": {"keep": ["me"]}}
    assert edges.columns.name == "fields"


def test_the_answers_are_not_windows_on_the_frame(backend):
    edges = backend.frame(small())
    before = backend.to_pandas(edges).copy(deep=True)
    wide, once, sides = (
        tc.annotate(edges, "triangles"),
        tc.simple_edges(edges),
        tc.edge_triangles(edges),
    )
    wide["src"] += 100
    wide.iloc[0, 1] = -1
    once["src"] += 100
    sides += 100
    sides.iloc[0] = -1
    pd.testing.assert_frame_equal(backend.to_pandas(edges), before)
    assert tc.count(edges) == 1


@pandas_only
def test_the_answers_share_no_memory_with_the_frame(backend):
    edges = tc.simple_edges(small())  # sorted, simple: nothing is left to do but hand it back
    once = tc.simple_edges(edges)
    for column in ("src", "dst"):
        array = once[column].to_numpy()
        shared = np.shares_memory(array, edges[column].to_numpy())
        assert not (shared and array.flags.writeable)


def odd_columns():
    """58 columns that no reader of ids should meet, by name or by value."""
    names = ["u", "v", "w", "key", "triangles", "vertex", "rank", "degree", "count", "size", "row"]
    names += ["index", "level_0", "src_x", "dst_y", "_merge", "id", "code", "weight", "trussness"]
    names += [
        "source",
        "destination",
        "target",
        "0",
        "frame",
        "edges",
        "order",
        "packed",
        "lo",
        "hi",
    ]
    names += [f"column {i}" for i in range(58 - len(names))]
    values = [
        pd.Series([1.5, np.nan, 2, 3, 4, 5]),
        pd.Series([True, False] * 3),
        pd.Series(list("abcdef"), dtype="str"),
        pd.Series(pd.Categorical(list("aabbcc"))),
        pd.Series(pd.date_range("2020", periods=6, tz="UTC")),
        pd.Series(pd.to_timedelta([1, 2, 3, 4, 5, 6], unit="s")),
        pd.Series([-1] * 6, dtype="int8"),
    ]
    return {name: values[i % len(values)] for i, name in enumerate(names)}


def test_other_columns_of_any_name_are_harmless(backend):
    frame = small().assign(**odd_columns())
    assert frame.shape[1] == 60
    check(backend, frame)
    frame = small("triangles", "vertex").assign(src=0.5, dst="x", u=None)
    check(backend, frame, rows=ROWS, source="triangles", destination="vertex")
    frame = small("u", "v").assign(key=1)
    check(backend, frame, rows=ROWS, source="u", destination="v")


@pandas_only
def test_other_columns_of_any_dtype_are_harmless(backend):
    odd = {
        "lists": pd.Series([[], [1], {}, set(), None, object()]),
        "complex": pd.Series([1j] * 6),
        "period": pd.Series(pd.period_range("2020", periods=6, freq="D")),
        "interval": pd.Series(pd.interval_range(0, 6)),
        "sparse": pd.Series(pd.arrays.SparseArray([0, 0, 1, 0, 0, 2])),
        "nullable": pd.Series([1, pd.NA, 3, 4, 5, 6], dtype="Int64"),
    }
    frame = small().assign(**odd)
    frame[0], frame[None], frame[("a", 1)] = 1, 2, 3
    check(backend, frame)
    wide = tc.annotate(frame, "triangles")
    pd.testing.assert_frame_equal(wide.drop(columns="triangles"), frame)
    assert wide["triangles"].tolist() == TRIANGLES


def test_other_columns_cost_nothing(backend):
    bare, wide = backend.frame(small()), backend.frame(small().assign(**odd_columns()))
    assert dict(tc.memory_estimate(wide)) == dict(tc.memory_estimate(bare))


# annotate -----------------------------------------------------------------------------------------


def test_annotate_adds_a_column_at_the_end(backend):
    frame = small("a", "b").assign(c=list("uvwxyz"))
    edges = backend.frame(frame)
    wide = backend.to_pandas(tc.annotate(edges, "triangles", source="a", destination="b"))
    assert list(wide.columns) == ["a", "b", "c", "triangles"]
    assert wide["triangles"].dtype == np.int64
    expected = backend.to_pandas(edges).assign(triangles=TRIANGLES)
    pd.testing.assert_frame_equal(wide, expected)


def test_annotate_does_not_overwrite(backend):
    frame = small("triangles", "b").assign(c=1)
    with pytest.raises(ValueError, match="triangles"):
        tc.annotate(backend.frame(frame), "triangles", source="triangles", destination="b")
    with pytest.raises(ValueError, match="triangles"):
        tc.annotate(backend.frame(small().assign(triangles=7)), "triangles")


@pytest.mark.parametrize("wrong", ["triangle", "src", "", "Triangles", 3, None])
def test_annotate_lists_what_it_can_add(backend, wrong):
    with pytest.raises(ValueError, match="triangles"):
        tc.annotate(backend.frame(small()), wrong)
    with pytest.raises(ValueError, match="triangles"):
        tc.annotate(backend.frame(small()), "triangles", wrong)


# Small and empty frames ---------------------------------------------------------------------------

EMPTY = ["int64", "uint8", "float64", "bool", "str", "category", "datetime64[ns]"]


@pytest.mark.parametrize(
    "dtype",
    [*EMPTY, *(pytest.param(d, marks=pandas_only) for d in ("object", "Int64", "string[pyarrow]"))],
)
def test_no_rows_of_any_dtype(backend, dtype):
    edges = backend.frame(pd.DataFrame({"src": [], "dst": []}).astype(dtype).assign(w=1.0))
    assert tc.count(edges) == 0
    assert tc.transitivity(edges) == 0.0
    corners = backend.to_pandas(tc.vertex_triangles(edges))
    assert_columns(corners, "vertex", "triangles")
    assert (len(corners), corners["triangles"].dtype) == (0, np.int64)
    sides = backend.to_pandas(tc.edge_triangles(edges))
    assert (len(sides), sides.name, sides.dtype) == (0, "triangles", np.int64)
    once = backend.to_pandas(tc.simple_edges(edges))
    assert_columns(once, "src", "dst")
    assert len(once) == 0
    wide = backend.to_pandas(tc.annotate(edges, "triangles"))
    assert (list(wide.columns), len(wide)) == (["src", "dst", "w", "triangles"], 0)
    assert wide["triangles"].dtype == np.int64
    graph = tc.Graph(edges)
    assert (graph.n_vertices, graph.n_edges, tc.count(graph)) == (0, 0, 0)
    assert len(backend.to_pandas(tc.vertex_triangles(edges, vertices=[]))) == 0
    with pytest.raises(ValueError):
        tc.vertex_triangles(edges, vertices=[1])


def test_no_rows_of_two_dtypes(backend):
    edges = backend.frame(
        {"src": pd.Series([], dtype="int64"), "dst": pd.Series([], dtype="float64")}
    )
    assert tc.count(edges) == 0
    assert len(backend.to_pandas(tc.vertex_triangles(edges))) == 0


def test_no_rows_keep_the_dtype_of_the_ids(backend):
    for dtype in ("int32", "uint64", "str"):
        edges = backend.frame(pd.DataFrame({"src": [], "dst": []}).astype(dtype))
        expected = backend.to_pandas(edges)["src"].dtype
        assert backend.to_pandas(tc.vertex_triangles(edges))["vertex"].dtype == expected
        assert list(backend.to_pandas(tc.simple_edges(edges)).dtypes) == [expected, expected]


@pytest.mark.parametrize(
    "rows",
    [[(1, 2)], [(2, 1)], [(4, 4)], [(4, 4)] * 3, [(4, 4), (-1, -1), (4, 4)], [(1, 2), (2, 1)]],
    ids=str,
)
def test_a_few_rows(backend, rows):
    check(backend, pd.DataFrame(rows, columns=["src", "dst"]))
