"""Frames that speak Arrow: Polars in, Polars out; PyArrow, readers and DuckDB in, tables out."""

import datetime
import io
from contextlib import nullcontext
from functools import partial

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import reference
from checks import FUNCTIONS
from graphs import ROWS, TRIANGLES
from pyarrow.dataset import dataset
from stream_support import in_blocks

import rapids_tc as tc

pytestmark = pytest.mark.cpu_only

COLUMNS = {"src": [u for u, _ in ROWS], "dst": [v for _, v in ROWS], "w": list("abcdef")}


MAKERS = {
    "pyarrow.Table": lambda: pa.table(COLUMNS),
    "pyarrow.RecordBatch": lambda: pa.table(COLUMNS).to_batches()[0],
    "duckdb relation": lambda: duckdb.from_arrow(pa.table(COLUMNS)),
    "chunked table": lambda: pa.concat_tables([pa.table(COLUMNS)[:2], pa.table(COLUMNS)[2:]]),
}


@pytest.fixture(params=MAKERS)
def make(request):
    return MAKERS[request.param]


def test_scalars(make):
    assert tc.count(make()) == 1
    assert tc.transitivity(make()) == pytest.approx(reference.transitivity(ROWS))
    assert tc.Graph(make()).n_vertices == 5


def test_tables_come_back(make):
    corners = tc.vertex_triangles(make())
    assert isinstance(corners, pa.Table)
    assert corners.schema.field("triangles").type == pa.int64()
    assert corners.to_pydict() == {"vertex": [1, 2, 5, 7, 9], "triangles": [1, 0, 1, 0, 1]}
    once = tc.simple_edges(make())
    assert isinstance(once, pa.Table)
    assert once.to_pydict() == {"src": [1, 1, 2, 5], "dst": [5, 9, 9, 9]}
    sides = tc.edge_triangles(make())  # a column of a table, as a Series is of a frame
    assert isinstance(sides, pa.ChunkedArray)
    assert (sides.type, sides.to_pylist()) == (pa.int64(), TRIANGLES)
    wide = tc.annotate(make(), "triangles")
    assert isinstance(wide, pa.Table)
    assert wide.to_pydict() == {**COLUMNS, "triangles": TRIANGLES}
    assert wide.schema.field("w").type in (pa.string(), pa.large_string())


class Stream:
    """What only speaks the Arrow C stream interface: `tables` are what it holds, call by call."""

    def __init__(self, *tables):
        self.tables, self.asked = tables, 0

    def __arrow_c_stream__(self, requested_schema=None):
        self.asked += 1
        if self.asked > len(self.tables):
            raise RuntimeError("the stream has ended")
        return self.tables[self.asked - 1].__arrow_c_stream__(requested_schema)


def ipc_stream(table):
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return pa.ipc.open_stream(sink.getvalue())


ONCE = {
    "pyarrow.RecordBatchReader": lambda table: table.to_reader(max_chunksize=2),
    "pyarrow.ipc.open_stream": ipc_stream,
    "pyarrow.dataset": lambda table: dataset(table).scanner().to_reader(),
    "empty the second time": lambda table: Stream(table, table[:0]),
    "an error the second time": Stream,
    "a reader inside": lambda table: Stream(*[table.to_reader()] * 9),
}


@pytest.mark.parametrize("kind", ONCE)
def test_a_stream_that_ends_is_read_by_a_graph_alone(kind):
    """Every other function would count the second time what is left of it: nothing."""
    table = pa.table(COLUMNS)
    for function in (*FUNCTIONS, partial(tc.k_truss, k=2), partial(tc.iter_triangles, max_rows=9)):
        stream = ONCE[kind](table)
        if function is tc.Graph:
            graph = function(stream, vertices=[100])
            assert (graph.n_vertices, graph.n_edges) == (6, 4)
            continue
        with pytest.raises(TypeError, match=r"once.*\.read_all\(\).*tc\.Graph\(reader\)"):
            function(stream)
    with pytest.raises(TypeError, match="read_all"):
        tc.count(ONCE[kind](table), memory_limit=10**9)
    for _ in range(2):
        assert tc.count(graph) == 1
        assert tc.edge_triangles(graph).to_pylist() == TRIANGLES
        assert tc.annotate(graph, "triangles").select(list(COLUMNS)).equals(table)


def test_what_a_second_reading_said_is_told():
    """The source may have failed for another reason: its query runs again."""
    with pytest.raises(TypeError, match=r"once \(the second reading failed:.* has ended") as caught:
        tc.count(Stream(pa.table(COLUMNS)))
    assert "the stream has ended" in str(caught.value.__cause__)


def test_a_reader_is_refused_before_it_is_read():
    reader = pa.table(COLUMNS).to_reader()
    with pytest.raises(TypeError, match="read_all"):
        tc.count(reader)
    assert tc.count(reader.read_all()) == 1


def test_a_stream_without_rows_needs_no_second_reading():
    empty = pa.table(COLUMNS)[:0]
    assert tc.count(Stream(empty)) == tc.count(Stream(empty, empty)) == 0


def test_a_graph_of_a_table(make):
    graph = tc.Graph(make(), vertices=[100])
    for _ in range(2):
        assert tc.count(graph) == 1
        assert tc.vertex_triangles(graph)["vertex"].to_pylist() == [1, 2, 5, 7, 9, 100]
        assert tc.edge_triangles(graph).to_pylist() == TRIANGLES


def test_polars_comes_back():
    edges = pl.DataFrame(COLUMNS)
    before = edges.clone()
    assert tc.count(edges) == edges.pipe(tc.count) == 1
    corners = tc.vertex_triangles(edges)
    assert isinstance(corners, pl.DataFrame)
    assert corners.schema == {"vertex": pl.Int64, "triangles": pl.Int64}
    assert corners.to_dict(as_series=False) == {
        "vertex": [1, 2, 5, 7, 9],
        "triangles": [1, 0, 1, 0, 1],
    }
    once = tc.simple_edges(edges)
    assert isinstance(once, pl.DataFrame)
    assert once.rows() == [(1, 5), (1, 9), (2, 9), (5, 9)]
    sides = tc.edge_triangles(edges)
    assert isinstance(sides, pl.Series)
    assert (sides.name, sides.dtype, sides.to_list()) == ("triangles", pl.Int64, TRIANGLES)
    assert edges.with_columns(sides)["triangles"].to_list() == TRIANGLES
    wide = tc.annotate(edges, "triangles")
    assert isinstance(wide, pl.DataFrame)
    assert wide.drop("triangles").equals(before)
    assert wide["triangles"].to_list() == TRIANGLES
    assert edges.equals(before)
    graph = tc.Graph(edges)
    assert isinstance(tc.vertex_triangles(graph), pl.DataFrame)


def test_polars_keeps_what_pandas_could_not():
    odd = [[1], [], None, [2, 3], [], []]
    edges = pl.DataFrame(COLUMNS).with_columns(
        lists=pl.Series(odd), none=None, when=pl.lit(datetime.date(2024, 1, 1))
    )
    wide = tc.annotate(edges, "triangles")
    assert wide.drop("triangles").equals(edges)
    assert wide.drop("triangles").schema == edges.schema


def test_chosen_vertices_of_their_own_library():
    edges = pl.DataFrame(COLUMNS)
    for chosen in ([9, 7, 9], pl.Series([9, 7, 9]), np.array([9, 7, 9])):
        frame = tc.vertex_triangles(edges, vertices=chosen)
        assert frame.rows() == [(9, 1), (7, 0), (9, 1)]
    table = pa.table(COLUMNS)
    for chosen in ([9, 7, 9], pa.array([9, 7, 9]), pa.chunked_array([[9], [7, 9]])):
        assert tc.vertex_triangles(table, vertices=chosen)["triangles"].to_pylist() == [1, 0, 1]


IDS = {
    "int8": pa.array([-3, 1, 2], pa.int8()),
    "uint32": pa.array([2**32 - 1, 0, 7], pa.uint32()),
    "uint64": pa.array([2**64 - 1, 2**63, 2**53 + 1], pa.uint64()),
    "string": pa.array(["é", "", "b"]),
    "large_string": pa.array(["é", "a", "b"], pa.large_string()),
    "string_view": pa.array(["é", "a", "b"], pa.string_view()),
    "date32": pa.array([3, -1, 2], pa.int32()).cast(pa.date32()),
    "date64": pa.array([86400000, 0, -86400000]).cast(pa.date64()),
    "timestamp": pa.array([3, 1, 2], pa.timestamp("us")),
    "zoned timestamp": pa.array([3, 1, 2], pa.timestamp("ms", "Asia/Kathmandu")),
}


@pytest.mark.parametrize("name", IDS)
def test_ids_of_any_arrow_type(name):
    ids = IDS[name]
    table = pa.table({"src": ids, "dst": pa.array([ids[i].as_py() for i in (1, 2, 0)], ids.type)})
    assert tc.count(table) == 1
    corners = tc.vertex_triangles(table)
    assert corners["vertex"].to_pylist() == sorted(ids.to_pylist())
    if "string" not in name:
        assert corners["vertex"].type == ids.type
    assert tc.simple_edges(table).num_rows == 3


@pytest.mark.parametrize("kind", [pa.date32(), pa.date64()], ids=str)
@pytest.mark.parametrize("home", ["pandas", "pyarrow", "polars"])
def test_days_are_ids_and_are_asked_for_by_moments(kind, home):
    days = [datetime.date(2020, 2, day) for day in (27, 28, 29)]
    table = pa.table({"src": pa.array(days, kind), "dst": pa.array(days[1:] + days[:1], kind)})
    edges = table
    if home != "pyarrow":
        pandas = table.to_pandas(types_mapper=pd.ArrowDtype)
        edges = pandas if home == "pandas" else pl.from_arrow(table)
    corners = tc.vertex_triangles(edges)
    with in_blocks(2):
        again = tc.vertex_triangles(edges)
        assert again.equals(corners)
    for asked in (
        pd.to_datetime(days[::-1]),
        pd.to_datetime(days[::-1]).as_unit("ns"),
        pl.Series(days[::-1]),
        pd.Series(pd.array(days[::-1], pd.ArrowDtype(kind))),
    ):
        some = tc.vertex_triangles(edges, vertices=asked)["vertex"]
        assert [str(day)[:10] for day in some.to_numpy()] == [str(day) for day in days[::-1]]
        assert tc.Graph(edges, vertices=asked).n_vertices == 3
    late = [pd.Timestamp("2020-02-28"), pd.Timestamp("2020-02-28 12:00")]
    with pytest.raises(ValueError, match=r"1 of vertices= not in.*2020-02-28 12:00"):
        tc.vertex_triangles(edges, vertices=late)
    if home != "polars" or kind == pa.date32():  # Polars has milliseconds for date64
        with pytest.raises(tc.IdTypeError, match="cannot hold"):
            tc.Graph(edges, vertices=late)
    more = tc.Graph(edges, vertices=[pd.Timestamp("1999-01-01")])
    assert str(tc.vertex_triangles(more)["vertex"].to_numpy()[0])[:10] == "1999-01-01"


def test_moments_are_asked_for_by_days():
    days = pd.to_datetime(["2020-02-27", "2020-02-28", "2020-02-29"])
    edges = pd.DataFrame({"src": days, "dst": days[[1, 2, 0]]})
    asked = pd.Series(pd.array([d.date() for d in days[:2]], pd.ArrowDtype(pa.date32())))
    assert tc.vertex_triangles(edges, vertices=asked)["triangles"].tolist() == [1, 1]
    assert tc.Graph(edges, vertices=asked).n_vertices == 3


def test_dictionaries_are_by_value():
    table = pa.table(
        {
            "src": pa.array(["z", "a", "m"]).dictionary_encode(),
            "dst": pa.array(["a", "m", "z"]).dictionary_encode(),
        }
    )
    assert tc.count(table) == 1
    vertices = tc.vertex_triangles(table)["vertex"]
    assert vertices.to_pylist() == ["a", "m", "z"]


@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical, pl.Enum(["z", "a", "m"])], ids=str)
def test_polars_strings(dtype):
    edges = pl.DataFrame({"src": ["z", "a", "m"], "dst": ["a", "m", "z"]})
    edges = edges.with_columns(pl.all().cast(dtype))
    frame = tc.vertex_triangles(edges)
    assert frame["vertex"].cast(pl.String).to_list() == ["a", "m", "z"]
    assert frame["triangles"].to_list() == [1, 1, 1]


@pytest.mark.parametrize(
    "dtype", [pl.UInt8, pl.Int16, pl.UInt32, pl.UInt64, pl.Date, pl.Datetime("us")]
)
def test_polars_dtypes_come_back(dtype):
    edges = pl.DataFrame({"src": [1, 2, 3], "dst": [2, 3, 1]}).with_columns(pl.all().cast(dtype))
    assert tc.vertex_triangles(edges).schema == {"vertex": dtype, "triangles": pl.Int64}
    assert tc.simple_edges(edges).schema == {"src": dtype, "dst": dtype}


@pytest.mark.parametrize(
    ("source", "error"),
    [
        (pa.array([1, None, 2]), tc.NullIdError),
        (pa.array(["a", None, "b"]), tc.NullIdError),
        (pa.array([1.0, float("nan"), 2.0]), tc.NullIdError),
        (pa.nulls(3), tc.NullIdError),
        (pa.array(["a", None, "b"]).dictionary_encode(), tc.NullIdError),
        (pa.array([True, False, True]), tc.IdTypeError),
        (pa.array([[1], [2], [3]]), tc.IdTypeError),
        (pa.array([{"a": 1}] * 3), tc.IdTypeError),
        (pa.array([0.5, 1, 2]), tc.IdTypeError),
        (pa.array(["a", "b", "c"]), tc.IdTypeError),
    ],
    ids=str,
)
def test_arrow_columns_are_refused_by_the_same_rules(source, error):
    other = pa.array(["a", "b", "c"]) if "string" in str(source.type) else pa.array([1, 2, 3])
    if error is tc.IdTypeError:
        other = pa.array([1, 2, 3])
    table = pa.table({"left": source, "right": other})
    with pytest.raises(error, match="left"):
        tc.count(table, source="left", destination="right")
    with pytest.raises(error, match="left"):
        tc.count(pl.DataFrame(table), source="left", destination="right")


def test_no_rows():
    table = pa.table({"src": pa.array([], pa.uint32()), "dst": pa.array([], pa.uint32())})
    assert tc.count(table) == tc.count(pl.DataFrame(table)) == 0
    assert tc.vertex_triangles(table).column_names == ["vertex", "triangles"]
    assert tc.vertex_triangles(pl.DataFrame(table)).columns == ["vertex", "triangles"]
    assert tc.annotate(table, "triangles").column_names == ["src", "dst", "triangles"]
    nothing = pa.table({"src": pa.nulls(0), "dst": pa.nulls(0)})
    assert tc.count(nothing) == 0


def test_columns_are_chosen_by_the_same_rules():
    table = pa.table(COLUMNS).rename_columns(["a", "b", "c"])
    with pytest.raises(ValueError, match=r"a\b.*b\b.*c\b"):
        tc.count(table)
    with pytest.raises(tc.ColumnNotFoundError, match="nope"):
        tc.count(pl.DataFrame(table), source="nope", destination="b")
    assert tc.count(table, source="b", destination="a") == 1
    twice = pa.table([[1, 2], [2, 3], [3, 1]], names=["a", "a", "b"])
    with pytest.raises(ValueError, match="a"):
        tc.count(twice, source="a", destination="b")


def test_a_stream_is_read_as_few_times_as_can_be():
    """Once for the edges; a function of a frame asks once more whether it can be read again."""
    edges = Stream(*[pa.table(COLUMNS)] * 9)
    assert (tc.Graph(edges).n_edges, edges.asked) == (4, 1)
    assert (tc.count(edges), edges.asked) == (1, 3)
    assert isinstance(tc.simple_edges(edges), pa.Table)


def test_pandas_frames_stay_pandas():
    frame = pd.DataFrame(COLUMNS)  # it speaks Arrow too
    assert type(tc.vertex_triangles(frame)) is pd.DataFrame


# Answers of several kinds, in the library that came ----------------------------------------------

WEIGHTED = {**COLUMNS, "w": [1.0, 8.0, 27.0, 1.0, 1.0, 64.0]}


@pytest.mark.parametrize(
    ("make", "frame", "column"),
    [(pl.DataFrame, pl.DataFrame, pl.Series), (pa.table, pa.Table, pa.ChunkedArray)],
    ids=["polars", "pyarrow"],
)
def test_every_function_answers_in_kind(make, frame, column):
    edges, plain = make(WEIGHTED), pd.DataFrame(WEIGHTED)
    names = ["triangles", "trussness", "jaccard", "overlap", "sorensen", "cosine"]
    pairs = [
        (function(edges, **options), function(plain, **options))
        for function, options in [
            (tc.clustering, {}),
            (tc.clustering, {"weight": "w", "aggregate": "last", "vertices": [9, 5, 2]}),
            (tc.list_triangles, {}),
            (tc.k_truss, {"k": 3}),
        ]
    ]
    pairs.append((tc.annotate(edges, *names), tc.annotate(plain, *names)))
    for found, expected in pairs:
        assert isinstance(found, frame)
        found = found.to_dict(as_series=False) if frame is pl.DataFrame else found.to_pydict()
        assert found == expected.to_dict("list")
    for function in (tc.similarity, tc.trussness):
        found = function(edges)
        assert isinstance(found, column)
        assert [*found.to_numpy()] == function(plain).tolist()
    assert tc.average_clustering(edges) == tc.average_clustering(plain)
    triads = tc.triad_counts(edges)
    assert isinstance(triads, frame)
    assert triads.to_pandas().to_dict("list") == tc.triad_counts(plain).to_dict("list")


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table], ids=["polars", "pyarrow"])
def test_a_community_without_a_parent_has_a_null(make):
    """A clique of four and a triangle at one of its sides."""
    edges = make({"src": [0, 0, 0, 1, 1, 2, 3, 4], "dst": [1, 2, 3, 2, 3, 3, 4, 2]})
    found = tc.truss_hierarchy(edges)
    rows = found.to_dicts() if make is pl.DataFrame else found.to_pylist()
    assert rows == [
        {"truss_community": 0, "k": 3, "parent": None, "edges": 8, "vertices": 5},
        {"truss_community": 1, "k": 4, "parent": 0, "edges": 6, "vertices": 4},
    ]


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table], ids=["polars", "pyarrow"])
def test_a_missing_weight_is_refused(make):
    for dtype in (float, int):
        weights = [None if i == 4 else dtype(1) for i in range(6)]
        with pytest.raises(ValueError, match=r"1 of the weights.*row 4"):
            tc.clustering(make({**COLUMNS, "w": weights}), weight="w")


# What a library's own types and tables owe -------------------------------------------------------


def test_a_graph_does_not_follow_a_polars_frame():
    frame = pl.DataFrame({"src": [0, 1, 2, 2], "dst": [1, 2, 0, 3], "w": [1.0, 1.0, 1.0, 1.0]})
    graph = tc.Graph(frame)
    before = tc.clustering(graph, weight="w"), tc.k_truss(graph, 3), tc.annotate(graph, "triangles")
    frame[0, "w"], frame[0, "src"] = 0.0, 77
    frame.extend(frame)
    frame.drop_in_place("dst")
    after = tc.clustering(graph, weight="w"), tc.k_truss(graph, 3), tc.annotate(graph, "triangles")
    for old, new in zip(before, after, strict=True):
        assert old.equals(new)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
def test_text_comes_back_in_its_arrow_type(kind):
    table = pa.table(
        {"src": pa.array(["a", "b", "c"], kind), "dst": pa.array(["b", "c", "a"], kind)}
    )
    assert tc.vertex_triangles(table).schema.field("vertex").type == kind
    assert tc.simple_edges(table).schema.field("dst").type == kind
    assert tc.list_triangles(table).schema.field("w").type == kind


def test_an_enum_can_be_joined_with_what_comes_back():
    kind = pl.Enum(["a", "b", "c", "d"])
    frame = pl.DataFrame(
        {"src": ["a", "b", "c"], "dst": ["b", "c", "a"]}, schema=dict.fromkeys(["src", "dst"], kind)
    )
    joined = frame.join(tc.vertex_triangles(frame), left_on="src", right_on="vertex")
    assert joined["triangles"].to_list() == [1, 1, 1]


@pytest.mark.parametrize(
    "column",
    [pd.Series([1]), pl.Series([1]), pa.chunked_array([[1]])],
    ids=["pandas", "polars", "arrow"],
)
def test_a_column_alone_is_no_frame(column):
    with pytest.raises(TypeError, match="accepted"):
        tc.count(column)


def test_integers_of_128_bits_are_ids():
    wide = pl.DataFrame({"left": [0, 1, 2], "right": [1, 2, 0]}).cast(pl.Int128)
    assert tc.count(wide) == 1


# Columns of types for which PyArrow has no kernel -------------------------------------------------

TEXTS = ["a", "text that is longer than a view holds", None, "", "b", "é"]
RECORDS = [{"x": text} for text in TEXTS]
PAIRS = [[("k", text)] for text in TEXTS]
LISTS = [[text] * (i % 3) if i != 4 else None for i, text in enumerate(TEXTS)]


def runs(values):
    """Runs of a column: pairs of rows share a value."""
    ends = pa.array(range(2, 2 * len(values) + 2, 2), pa.int32())
    return pa.RunEndEncodedArray.from_arrays(ends, values)[1 : len(values) + 1]


def rare_columns():
    """Columns of six rows, each of a type that has views or runs somewhere inside."""
    view, table = pa.string_view(), {}
    table["text"] = pa.array(TEXTS, view)
    table["bytes"] = pa.array([t and t.encode() for t in TEXTS], pa.binary_view())
    table["records"] = pa.array(RECORDS, pa.struct([pa.field("x", view)]))
    table["lists"] = pa.array(LISTS, pa.list_(view))
    table["large lists"] = pa.array(LISTS, pa.large_list(pa.binary_view()))
    table["pairs"] = pa.array([[t, t] for t in TEXTS], pa.list_(view, 2))
    table["maps"] = pa.array(PAIRS, pa.map_(pa.string(), view))
    table["deep"] = pa.array([[r] for r in RECORDS], pa.list_(table["records"].type))
    table["list views"] = pa.array(LISTS, pa.list_view(view))
    table["dictionary"] = pa.DictionaryArray.from_arrays(
        pa.array([0, 1, None, 1, 0, 0]), pa.array(["a", "b"], view)
    )
    table["runs"] = runs(pa.array([7, None, 7, 8, 9, 9]))
    table["runs of text"] = runs(pa.array(TEXTS))
    table["runs of views"] = runs(pa.array(TEXTS, view))
    table["runs in records"] = pa.StructArray.from_arrays([table["runs"]], ["x"])
    table["extension"] = pa.ExtensionArray.from_storage(
        pa.json_(view), pa.array(['{"a": 1}'] * 6, view)
    )
    return table


RARE = rare_columns()


def expected_rows(column, places):
    """The rows of a column, one slice each: what has no kernel can be cut and joined."""
    slices = [column.slice(place, 1) for place in places]
    chunks = [chunk for piece in slices for chunk in getattr(piece, "chunks", [piece])]
    return pa.chunked_array(chunks, column.type)


PLACES = {3: [0, 2, 3], 2: [0, 2, 3, 4], "max": [0, 2, 3], 4: []}  # of a triangle with a tail
RARE_EDGES = {"src": [0, 5, 1, 2, 2, 2], "dst": [1, 5, 2, 0, 3, 1]}


@pytest.mark.parametrize("name", RARE)
@pytest.mark.parametrize("way", ["whole", "chunked", "blocks", "stream"])
def test_rows_come_back_in_their_types(name, way):
    column = RARE[name]
    if way == "chunked":
        column = pa.chunked_array([column[:1], column[1:1], column[1:4], column[4:]])
    table = pa.table({**RARE_EDGES, "x": column})
    edges = Stream(*[table] * 40) if way == "stream" else table
    with in_blocks(2) if way == "blocks" else nullcontext():
        for k, places in PLACES.items():
            kept = tc.k_truss(edges, k)
            kept.validate(full=True)
            assert kept.schema == table.schema
            assert kept["src"].to_pylist() == [RARE_EDGES["src"][i] for i in places]
            assert kept["x"].equals(expected_rows(column, places)), (k, kept["x"])
        assert tc.annotate(edges, "triangles").drop_columns("triangles").equals(table)


@pytest.mark.parametrize("name", RARE)
@pytest.mark.parametrize("way", ["whole", "blocks"])
def test_rows_of_a_pandas_frame_come_back_in_their_arrow_types(name, way):
    column = pd.Series(RARE[name], dtype=pd.ArrowDtype(RARE[name].type))
    frame = pd.DataFrame({**RARE_EDGES, "x": column, "y": list("abcdef")})
    frame["z"] = column
    with in_blocks(2) if way == "blocks" else nullcontext():
        for index in (range(10, 16), pd.Index(list("uvwxyz"), name="n")):
            edges = frame.set_axis(index, axis=0)
            for k, places in PLACES.items():
                kept = tc.k_truss(edges, k, source="src", destination="dst")
                assert kept.dtypes.equals(edges.dtypes) and kept.index.dtype == edges.index.dtype
                assert kept["y"].tolist() == [frame["y"][i] for i in places]
                for taken in (kept["x"], kept["z"]):
                    taken = pa.table([taken.array], ["x"])["x"]
                    assert taken.equals(expected_rows(RARE[name], places))


def test_rows_of_many_views_take_little_memory():
    """Slices that are joined have the buffers of all: a list as long as their product."""
    rows = 60_000
    table = pa.table(
        {
            "src": [*range(rows), *range(rows)],
            "dst": [*range(1, rows + 1), *range(rows)],
            "x": runs(pa.array([f"text of more than a dozen bytes {i}" for i in range(2 * rows)],
                               pa.string_view())),
        }
    )  # fmt: skip
    before = pa.total_allocated_bytes()
    kept = tc.k_truss(table, 2)
    assert kept.num_rows == rows
    assert pa.total_allocated_bytes() - before < 3 * table.nbytes


ODD_IDS = {
    "string_view": pa.array(["b", "a", "c"], pa.string_view()),
    "large_string": pa.array(["b", "a", "c"], pa.large_string()),
    "runs of text": pa.RunEndEncodedArray.from_arrays([1, 2, 3], pa.array(["b", "a", "c"])),
    "runs of views": pa.RunEndEncodedArray.from_arrays(
        [1, 2, 3], pa.array(["b", "a", "c"], pa.string_view())
    ),
    "runs of integers": pa.RunEndEncodedArray.from_arrays([1, 2, 3], pa.array([2, 1, 3])),
    "dictionary of views": pa.DictionaryArray.from_arrays(
        pa.array([0, 1, 2]), pa.array(["b", "a", "c"], pa.string_view())
    ),
    "dictionary of integers": pa.array([2, 1, 3]).dictionary_encode(),
    "decimal": pa.array([2, 1, 3], pa.decimal128(9)),
    "binary": pa.array([b"b", b"a", b"c"]),
    "binary_view": pa.array([b"b", b"a", b"c"], pa.binary_view()),
    "uuid": pa.ExtensionArray.from_storage(
        pa.uuid(), pa.array([bytes([i]) * 16 for i in (2, 1, 3)], pa.binary(16))
    ),
}
NO_IDS = ("binary", "binary_view", "uuid")


@pytest.mark.parametrize("name", ODD_IDS)
@pytest.mark.parametrize("library", ["pyarrow", "pandas"])
def test_ids_of_odd_types_are_right_or_refused(name, library):
    ids = ODD_IDS[name]
    ends = [ids, pa.concat_arrays([ids[1:], ids[:1]])]  # a triangle
    table, values = pa.table(ends, ["src", "dst"]), ids.to_pylist()
    if library == "pandas":
        dtype = pd.ArrowDtype(ids.type)
        source, destination = (pd.Series(end, dtype=dtype) for end in ends)
        table = pd.DataFrame({"src": source, "dst": destination})
    try:
        assert tc.count(table) == 1
    except tc.IdTypeError as error:
        assert name in (*NO_IDS, "runs of views") or library == "pandas"
        assert ("src" in str(error) and "cast" in str(error)) or "convert" in str(error)
        return
    assert name not in NO_IDS
    corners = tc.vertex_triangles(table)
    assert [*corners["vertex"].to_numpy()] == sorted(values)
    assert len(tc.vertex_triangles(table, vertices=corners["vertex"])) == 3
    kept = tc.k_truss(table, 3)
    assert kept.equals(table)
    with in_blocks(2):
        assert tc.vertex_triangles(table).equals(corners)
    if name in ("string_view", "large_string"):
        kind = (
            corners.schema.field("vertex").type if library == "pyarrow" else corners["vertex"].dtype
        )
        same = ids.type if library == "pyarrow" else table["src"].dtype
        if library == "pandas":  # which can neither print nor sort views
            same = pd.ArrowDtype(pa.large_string())
        assert kind == same
