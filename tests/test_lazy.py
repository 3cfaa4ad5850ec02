"""Lazy frames of Polars, frames of narwhals: what is answered lazily, and in which wrapper."""

import sys

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import reference
from graphs import ROWS, TRIANGLES, edge_frames
from hypothesis import given, settings
from needs import need_module
from polars.testing import assert_frame_equal

import rapids_tc as tc
from rapids_tc.plan.record import ANALYTICS, Result

pytestmark = pytest.mark.cpu_only

COLUMNS = {"src": [u for u, _ in ROWS], "dst": [v for _, v in ROWS], "w": [1.5, 2, 3, 4, 5, 6]}
EDGES = pl.DataFrame(COLUMNS).with_columns(
    when=pl.Series([1, 2, 3, 4, 5, 6]), sign=pl.Series([1, -1, 1, 1, -1, 1]), g=pl.lit("a")
)
KEYS = {"source": "src", "destination": "dst"}
# The own options of every function whose answer is a frame.
TYPES = dict.fromkeys([1, 2, 5, 7, 9], "x")
CALLS = [
    ("annotate", ("triangles", "trussness", "cosine"), {}),
    ("annotate_vertices", ("degree", "closure"), {}),
    ("vertex_cliques", (), {"k": 3}),
    ("graphlets", (), {}),
    ("graphlet_counts", (), {"by": "g"}),
    ("most_similar", (2,), {"measure": "cosine"}),
    ("project", (), {"measure": "newman"}),
    ("vertex_squares", (), {}),
    ("vertex_squares", (), {"bipartite": True}),
    ("vertex_triangles", (), {}),
    ("vertex_triangles", (), {"vertices": [9, 1]}),
    ("clustering", (), {"weight": "w", "aggregate": "sum"}),
    ("simple_edges", (), {}),
    ("k_truss", (3,), {}),
    ("k_truss", ("max",), {}),
    ("truss_communities", (3,), {}),
    ("truss_hierarchy", (), {}),
    ("list_triangles", (), {}),
    ("triangles_over_time", (), {"time": "when"}),
    ("balance", (), {"sign": "sign", "aggregate": "last"}),
    ("triangles_by_type", (), {"edge_type": "when", "aggregate": "first"}),
    (
        "triangles_by_type",
        (),
        {"vertex_type": TYPES, "per": "vertex"},
    ),
    ("triad_counts", (), {"directed": True}),
    ("count", (), {"by": "g"}),
    ("transitivity", (), {"by": ["g"]}),
    ("clustering", (), {"by": "g"}),
]


@pytest.mark.parametrize(("name", "args", "options"), CALLS, ids=[f"{c[0]}-{c[2]}" for c in CALLS])
def test_a_lazy_frame_has_the_answer_of_the_frame(name, args, options):
    function = getattr(tc, name)
    expected = function(EDGES, *args, **KEYS, **options)
    lazy = function(EDGES.lazy(), *args, **KEYS, **options)
    assert isinstance(expected, pl.DataFrame) and isinstance(lazy, pl.LazyFrame)
    assert lazy.collect_schema() == expected.schema
    assert_frame_equal(lazy.collect(), expected)
    assert_frame_equal(lazy.collect(engine="streaming"), expected)


def test_every_function_with_a_frame_is_tried():
    frames = {
        name for name, record in ANALYTICS.items()
        if record.result not in (Result.VALUE, Result.COLUMN, Result.TRIANGLES)
        and not record.by_frames
    }  # fmt: skip
    assert frames <= {name for name, _, _ in CALLS}


@settings(max_examples=15, deadline=None)
@given(edges=edge_frames())
def test_any_dtype_of_ids_has_the_schema_that_was_promised(edges):
    frame = pl.from_pandas(edges)
    for lazy in (tc.annotate(frame.lazy(), "triangles"), tc.vertex_triangles(frame.lazy())):
        assert lazy.collect().schema == lazy.collect_schema()
    assert tc.vertex_triangles(frame.lazy()).collect().equals(tc.vertex_triangles(frame))
    rows = list(zip(frame[:, 0].to_list(), frame[:, 1].to_list(), strict=True))
    assert tc.count(frame.lazy()) == reference.count(rows)


DTYPES = {
    "Enum": pl.Enum([*"edcba"]),
    "Categorical": pl.Categorical,
    "String": pl.String,
    "Int16": pl.Int16,
    "UInt64": pl.UInt64,
    "Float64": pl.Float64,  # of integers, which are integers in answers
    "Date": pl.Date,
    "Datetime": pl.Datetime("ms", "Europe/Berlin"),
}


MIXED = [
    (name, other) for name in ("Int16", "UInt64", "Float64") for other in ("UInt32", "Float32")
]


@pytest.mark.parametrize(("name", "other"), [*((name, None) for name in DTYPES), *MIXED])
def test_ids_have_the_dtype_of_the_eager_answer(name, other):
    is_text = name in ("Enum", "Categorical", "String")
    letters = [[*"edcba"], [*"dceab"]]
    src, dst = letters if is_text else ([4, 3, 2, 1, 0], [3, 2, 4, 0, 1])
    second = getattr(pl, other) if other else DTYPES[name]
    frame = pl.DataFrame(
        {"src": pl.Series(src).cast(DTYPES[name]), "dst": pl.Series(dst).cast(second)}
    )
    for function in (tc.vertex_triangles, tc.simple_edges, tc.list_triangles):
        expected, lazy = function(frame), function(frame.lazy())
        assert lazy.collect_schema() == expected.schema
        assert_frame_equal(lazy.collect(), expected)
        assert function(frame.head(0).lazy()).collect().schema == expected.schema


def test_a_query_goes_on_behind_annotate():
    query = (
        EDGES.lazy().filter(pl.col("w") < 7).pipe(tc.annotate, "triangles")
        .filter(pl.col("triangles") > 0).select("src", "triangles").head(2)
    )  # fmt: skip
    rows = [(u, t) for (u, _), t in zip(ROWS, TRIANGLES, strict=True) if t]
    assert query.collect().rows() == rows[:2]


def test_nothing_is_read_before_the_answer_is_collected_and_then_once():
    runs = []

    def watched(frame):
        runs.append(frame.columns)
        return frame

    edges = EDGES.lazy().map_batches(watched, schema=EDGES.schema)
    lazy = tc.annotate(edges, "triangles")
    assert not runs
    assert lazy.collect()["triangles"].to_list() == TRIANGLES
    assert len(runs) == 1


def test_only_the_columns_that_count_are_read():
    """A column that fails if it is computed is not touched where the answer lacks it."""
    failing = EDGES.lazy().with_columns(bad=pl.col("w").cast(pl.String).str.to_date())
    assert tc.count(failing) == 1
    assert tc.vertex_triangles(failing).collect()["triangles"].to_list() == [1, 0, 1, 0, 1]
    with pytest.raises(pl.exceptions.PolarsError):
        tc.annotate(failing, "triangles").collect()


def test_values_are_values():
    lazy = EDGES.lazy()
    assert lazy.pipe(tc.count) == tc.Graph(lazy).count() == 1
    assert tc.transitivity(lazy) == pytest.approx(reference.transitivity(ROWS))
    assert [len(part) for part in tc.iter_triangles(lazy, max_rows=5)] == [1]
    assert isinstance(tc.Graph(lazy).vertex_triangles(), pl.DataFrame)


@pytest.mark.parametrize(
    ("call", "column"),
    [
        (tc.edge_triangles, "triangles"),
        (tc.trussness, "trussness"),
        (tc.similarity, "jaccard"),
        (lambda lazy: tc.similarity(lazy, measure="cosine"), "cosine"),
    ],
)
def test_a_column_is_added_by_annotate(call, column):
    with pytest.raises(TypeError, match=rf'annotate\(edges, "{column}"\) adds the column lazily'):
        call(EDGES.lazy())
    assert column in tc.annotate(EDGES.lazy(), column).collect_schema()


def test_options_are_checked_before_anything_is_read():
    failing = pl.LazyFrame({"src": ["x"], "dst": ["y"]}).cast(pl.Int64)
    for call, error in [
        (lambda: tc.annotate(failing, "triangels"), ValueError),
        (lambda: tc.k_truss(failing, 1), ValueError),
        (lambda: tc.vertex_triangles(failing, source="no", destination="dst"), KeyError),
        (lambda: tc.vertex_triangles(failing, engine="gpu"), ValueError),
    ]:
        with pytest.raises(error):
            call()


def test_an_error_of_the_rows_is_ours_when_they_are_collected():
    lazy = tc.annotate(pl.LazyFrame({"src": [0, None], "dst": [1, 2]}), "triangles")
    with pytest.raises(tc.NullIdError, match="'src' has 1 null"):
        lazy.collect()


# Methods ------------------------------------------------------------------------------------------


def test_methods_are_a_frame_of_the_library_that_is_named():
    expected = tc.methods()
    assert isinstance(expected, pd.DataFrame)
    as_polars, as_table = tc.methods(library="polars"), tc.methods(library="pyarrow")
    assert isinstance(as_polars, pl.DataFrame) and isinstance(as_table, pa.Table)
    assert as_polars.to_dicts() == as_table.to_pylist() == expected.to_dict("records")
    with pytest.raises(ValueError, match="library='dask'; accepted: pandas, cudf, polars, pyarrow"):
        tc.methods(library="dask")


# Accessors ----------------------------------------------------------------------------------------


@pytest.fixture
def registered():
    yield tc.register_accessor("tc")
    for frame in (pl.DataFrame, pl.LazyFrame, pd.DataFrame):
        del frame.tc
        frame._accessors.discard("tc")
    dask = getattr(sys.modules.get("dask.dataframe"), "DataFrame", None)
    if hasattr(dask, "tc"):
        del dask.tc


def test_polars_has_the_namespace_lazily_too(registered):
    assert "polars" in registered == tc.register_accessor("tc")
    lazy = EDGES.lazy()
    assert EDGES.tc.count(**KEYS) == lazy.tc.count(**KEYS) == 1
    wide = EDGES.tc.annotate("triangles", **KEYS)
    assert_frame_equal(lazy.tc.annotate("triangles", **KEYS).collect(), wide)
    assert isinstance(EDGES.tc.Graph(**KEYS), tc.Graph)


# Narwhals -----------------------------------------------------------------------------------------

APIS = ["narwhals", "narwhals.stable.v1", "narwhals.stable.v2"]
NATIVE = {
    "pandas": lambda: pd.DataFrame(COLUMNS, index=list("abcdef")),
    "polars": lambda: pl.DataFrame(COLUMNS),
    "pyarrow": lambda: pa.table(COLUMNS),
}


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("library", NATIVE)
def test_frames_of_narwhals_come_back_as_narwhals(api, library):
    nw = need_module(api)
    native = NATIVE[library]()
    edges = nw.from_native(native)
    wide = tc.annotate(edges, "triangles")
    assert type(wide) is type(edges) and type(wide.to_native()) is type(native)
    assert wide["triangles"].to_list() == TRIANGLES and wide.columns == [*COLUMNS, "triangles"]
    assert wide["w"].to_list() == COLUMNS["w"]
    sides = tc.edge_triangles(edges)
    assert type(sides) is type(edges["src"]) and sides.to_list() == TRIANGLES
    assert edges.with_columns(sides)["triangles"].to_list() == TRIANGLES
    graph = tc.Graph(edges)
    for corners in (tc.vertex_triangles(edges), graph.vertex_triangles()):
        assert type(corners) is type(edges)
        assert corners.rows() == [(1, 1), (2, 0), (5, 1), (7, 0), (9, 1)]
    chosen = tc.vertex_triangles(edges, vertices=corners["vertex"][:2])
    assert chosen["triangles"].to_list() == [1, 0]
    assert tc.count(edges) == graph.count() == edges.pipe(tc.count) == 1
    assert type(tc.k_truss(edges, 3)) is type(edges)
    assert [type(part) for part in tc.iter_triangles(edges, max_rows=3)] == [type(edges)]
    triads = tc.triad_counts(edges)
    assert type(triads) is type(edges) and dict(triads.rows()) == reference.triad_counts(ROWS)


def test_a_frame_of_narwhals_keeps_the_index_inside():
    nw = need_module("narwhals")
    frame = NATIVE["pandas"]()
    assert tc.annotate(nw.from_native(frame), "triangles").to_native().index.tolist() == [*"abcdef"]


def test_a_lazy_frame_of_narwhals():
    nw = need_module("narwhals")
    lazy = nw.from_native(EDGES.lazy())
    wide = lazy.pipe(tc.annotate, "triangles", **KEYS)
    assert isinstance(wide, nw.LazyFrame)
    assert wide.collect()["triangles"].to_list() == TRIANGLES
    assert tc.count(lazy, **KEYS) == 1
    assert isinstance(tc.Graph(lazy, **KEYS).vertex_triangles(), nw.DataFrame)
    import duckdb

    relation = nw.from_native(duckdb.sql("SELECT 0 AS src, 1 AS dst"))
    with pytest.raises(TypeError, match=r"of a .*Relation: call \.collect\(\) first, or"):
        tc.count(relation)
    assert tc.count(relation.to_native()) == tc.count(relation.collect()) == 0


def test_narwhals_is_refused_like_what_it_wraps():
    nw = need_module("narwhals")
    lazy = nw.from_native(EDGES.lazy())
    assert [*tc.memory_estimate(lazy, **KEYS)] == ["read", *tc.memory_estimate(EDGES, **KEYS)]
    with pytest.raises(TypeError, match="edges is of type Series"):
        tc.count(nw.from_native(EDGES["src"], series_only=True))


def test_a_column_that_annotate_does_not_add_is_told_how():
    lazy = pl.LazyFrame({"src": [0, 1, 2], "dst": [1, 2, 0]})
    for name, record in ANALYTICS.items():
        if record.result is Result.COLUMN:
            with pytest.raises(TypeError, match=rf"{name}\(edges.collect\(\)\) returns it"):
                record.call(lazy)


@pytest.mark.parametrize("dtype", ["object", "str", "category", "string[pyarrow]"])
def test_types_of_vertices_in_a_lazy_answer(dtype):
    """Also if no triangle tells what they are."""
    types = pd.DataFrame({"vertex": [0, 1, 2], "type": pd.Series(["a", "b", "a"]).astype(dtype)})
    given = [types, types.set_index("vertex")["type"], pl.from_pandas(types)]
    given += [dict(zip(types["vertex"], types["type"], strict=True))]
    for rows, right in (([0, 1, 2], [("a", "a", "b", 1)]), ([0, 1, 0], [])):
        frame = pl.DataFrame({"src": rows, "dst": [1, 2, 0]})
        for types in given:
            lazy = tc.triangles_by_type(frame.lazy(), vertex_type=types)
            found = lazy.collect()
            assert found.rows() == right and found.schema == lazy.collect_schema()
            assert tc.triangles_by_type(frame, vertex_type=types).schema == found.schema
