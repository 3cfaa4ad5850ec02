"""The table of ids, row by row: what may name a vertex, what comes back, what is refused, how."""

import datetime
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from checks import check, rows_of

import rapids_tc as tc
from rapids_tc._backend import open_frame
from rapids_tc.ids import integers

# Five ids: a triangle repeated in part, a tail, and a vertex known by its loop alone.
SOURCE, DESTINATION = [0, 1, 2, 2, 3, 1, 4], [1, 2, 0, 3, 3, 0, 4]
HINT = re.compile(r"\b(cast|convert|use|astype|drop|fill|pass|give|make|try|map|rename)\b", re.I)

pandas_only = pytest.mark.pandas_only


def edge_frame(ids, source_dtype, destination_dtype=None):
    """The five-vertex graph over `ids`; source and destination of the dtypes named."""
    source = pd.Series([ids[i] for i in SOURCE], dtype=source_dtype)
    destination = pd.Series([ids[i] for i in DESTINATION], dtype=destination_dtype or source_dtype)
    return pd.DataFrame({"src": source, "dst": destination})


def check_ids(backend, frame, expected_dtype=None):
    """All answers by value, the ids' dtype, and the same ids accepted again as `vertices=`."""
    out = check(backend, frame)["vertex"]
    assert out.dtype == (expected_dtype or backend.to_pandas(backend.frame(frame))["src"].dtype)
    chosen = [out.tolist()[i] for i in (3, 0, 3)]
    some = backend.to_pandas(tc.vertex_triangles(backend.frame(frame), vertices=chosen))
    assert some["vertex"].tolist() == [chosen[0], chosen[1]]
    assert some["vertex"].dtype == out.dtype
    again = backend.frame({"v": pd.Series(chosen[:2], dtype=out.dtype)})["v"]
    some = backend.to_pandas(tc.vertex_triangles(backend.frame(frame), vertices=again))
    assert some["vertex"].tolist() == chosen[:2]


ASKED = (tc.count, tc.vertex_triangles, tc.edge_triangles, tc.simple_edges, tc.Graph)


def refused(backend, frame, error, *columns, words=(), source="left", destination="right"):
    """Every function refuses `frame`: the message has the columns, their dtypes and a hint."""
    edges = backend.frame(frame)
    dtypes = [str(edges[column].dtype) for column in columns if error is tc.IdTypeError]
    for function in (*ASKED, tc.memory_estimate):
        with pytest.raises(error) as caught:
            function(edges, source=source, destination=destination)
        assert isinstance(caught.value, tc.RapidsTCError)
        message = str(caught.value)
        for word in (*columns, *dtypes, *words):
            assert re.search(rf"(?<!\w){re.escape(word)}(?!\w)", message), f"no {word}: {message}"
        assert HINT.search(message), f"no hint: {message}"


# Integers -----------------------------------------------------------------------------------------

INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


@pytest.mark.parametrize("dtype", INTS)
def test_integers_to_the_ends_of_their_range(backend, dtype):
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    check_ids(backend, edge_frame([low, low + 1, high // 2, high - 1, high], dtype), dtype)
    check_ids(backend, edge_frame([high, 3, low, high - 1, 0 if low else 5], dtype), dtype)


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [
        ("int8", "int16"),
        ("int8", "int64"),
        ("int32", "int64"),
        ("uint8", "uint16"),
        ("uint16", "uint64"),
        ("uint32", "uint64"),
        ("uint8", "int16"),
        ("uint32", "int64"),
    ],
)
def test_the_wider_integer_comes_back(backend, narrow, wide):
    ids = [7, 100, 0, 99, 127]
    check_ids(backend, edge_frame(ids, narrow, wide), wide)
    check_ids(backend, edge_frame(ids, wide, narrow), wide)


@pytest.mark.parametrize("pair", [("int8", "uint8"), ("int32", "uint32"), ("int16", "uint32")])
def test_signed_beside_unsigned_is_by_value(backend, pair):
    frame = pd.DataFrame(
        {
            "src": pd.Series([-1, -1, 5], dtype=pair[0]),
            "dst": pd.Series([200, 5, 200], dtype=pair[1]),
        }
    )
    check(backend, frame)
    check(backend, frame.rename(columns={"src": "dst", "dst": "src"}))


def test_wide_ids_that_only_a_narrow_wrap_would_join(backend):
    frame = pd.DataFrame(
        {
            "src": pd.Series([1, 1, 2], dtype="uint8"),
            "dst": pd.Series([2, 256 + 3, 3], dtype="int64"),
        }
    )
    check(backend, frame)
    assert tc.count(backend.frame(frame)) == 0


def test_int64_beside_uint64_is_compared_exactly(backend):
    near = 2**53  # near and near + 1 are one float64
    frame = pd.DataFrame(
        {
            "src": pd.Series([near, near, 3, near, 2**63 - 1, 4], dtype="int64"),
            "dst": pd.Series([near + 1, 3, near + 1, 2**63 - 1, 2**63, near], dtype="uint64"),
        }
    )
    for edges in (frame, frame.rename(columns={"src": "dst", "dst": "src"})):
        out = check(backend, edges)["vertex"]
        assert out.dtype == np.uint64
        assert tc.count(backend.frame(edges)) == 1
        some = tc.vertex_triangles(backend.frame(edges), vertices=[2**63, near + 1, near])
        assert backend.to_pandas(some)["vertex"].tolist() == [2**63, near + 1, near]
        assert backend.to_pandas(some)["triangles"].tolist() == [0, 1, 1]


def test_int64_beside_uint64_keeps_close_edges_apart(backend):
    frame = pd.DataFrame(
        {
            "src": pd.Series([2**53, 2**53 + 1, 1], dtype="int64"),
            "dst": pd.Series([1, 2, 2], dtype="uint64"),
        }
    )
    assert tc.count(backend.frame(frame)) == 0
    assert tc.Graph(backend.frame(frame)).n_vertices == 4


def test_negatives_beside_uint64_are_refused(backend):
    frame = pd.DataFrame(
        {"left": pd.Series([1, -1], dtype="int64"), "right": pd.Series([2, 2**63], dtype="uint64")}
    )
    both = ("left", "right")
    refused(backend, frame, tc.IdTypeError, *both)
    refused(backend, frame, tc.IdTypeError, *both, source="right", destination="left")
    refused(backend, frame.astype({"left": "int8"}), tc.IdTypeError, *both)


def test_uint64_above_two_to_the_63(backend):
    top = 2**64 - 1
    frame = edge_frame([top, 2**63, 2**63 - 1, 0, top - 1], "uint64")
    check_ids(backend, frame, "uint64")
    assert tc.count(backend.frame(frame)) == 1


def test_memory_follows_the_number_of_ids(backend):
    edges = backend.frame({"src": [0, 2**62], "dst": [2**62, 2**62]})
    graph = tc.Graph(edges)
    assert (graph.n_vertices, graph.n_edges, tc.count(graph)) == (2, 1, 0)
    assert backend.to_pandas(tc.vertex_triangles(edges))["vertex"].tolist() == [0, 2**62]
    spread = backend.frame({"src": [-(2**63), 0, 2**63 - 1], "dst": [0, 2**63 - 1, -(2**63)]})
    assert tc.count(spread) == 1
    assert backend.to_pandas(tc.simple_edges(spread))["src"].tolist() == [-(2**63), -(2**63), 0]


def test_ids_just_past_32_bits(backend):
    check_ids(backend, edge_frame([2**32, 2**32 + 1, 0, 1, 2**31], "int64"), "int64")
    check_ids(backend, edge_frame([-(2**31), 2**31 - 1, 2**31, 2**33, 2**32 - 1], "int64"), "int64")


@pandas_only
@pytest.mark.parametrize("dtype", ["Int64", "UInt8", "int64[pyarrow]", "uint64[pyarrow]"])
def test_nullable_and_arrow_integers(backend, dtype):
    out = check(backend, edge_frame([7, 100, 0, 99, 127], dtype))["vertex"]
    assert pd.api.types.is_integer_dtype(out.dtype)


@pandas_only
@pytest.mark.parametrize("dtype", ["UInt64", "uint64[pyarrow]"])
def test_nullable_integers_stay_exact(backend, dtype):
    check(backend, edge_frame([2**53, 2**53 + 1, 2**64 - 1, 2**64 - 2, 0], dtype))


# Strings ------------------------------------------------------------------------------------------

NAMES = ["delta", "alpha", "echo", "bravo", "charlie"]
UNICODE = ["\uffff", "\U00010000", "Z", "é", "e\u0301"]  # UTF-16 would turn the first two round
AWKWARD = ["", " ", "a", "A", "a "]
NULS = ["a", "a\0", "a\0\0", "\0a", "\0"]  # one C string or two, not five
STRINGS = [
    "str",
    *(
        pytest.param(dtype, marks=pandas_only)
        for dtype in (
            "object",
            "string[python]",
            "string[pyarrow]",
            pd.ArrowDtype(pa.string()),
            pd.ArrowDtype(pa.large_string()),
        )
    ),
]


@pytest.mark.parametrize("dtype", STRINGS)
@pytest.mark.parametrize("ids", [NAMES, UNICODE, AWKWARD, NULS, list("98765")])
def test_strings_come_back_as_they_came(backend, dtype, ids):
    check_ids(backend, edge_frame(ids, dtype))


@pandas_only
@pytest.mark.parametrize("dtype", ["Sparse[int64]", pd.ArrowDtype(pa.string_view())], ids=str)
def test_rare_dtypes_are_right_or_refused(backend, dtype):
    frame = edge_frame([1, 2, 3, 4, 5] if "int" in str(dtype) else NAMES, dtype)
    try:
        assert tc.count(frame) == 1
    except tc.IdTypeError as error:
        assert "src" in str(error)


@pandas_only
def test_text_that_no_encoding_holds_is_right_or_refused(backend):
    try:
        check(backend, edge_frame(["\ud800", "\ud801", "a", "b", "c"], "object"))
    except tc.IdTypeError as error:
        assert "src" in str(error)


@pandas_only
@pytest.mark.parametrize("dtype", ["str", "string[pyarrow]", pd.ArrowDtype(pa.string())])
def test_kinds_of_strings_meet_by_value(backend, dtype):
    check(backend, edge_frame(NAMES, "object", dtype))
    check(backend, edge_frame(NAMES, dtype, "object"))


# Categoricals -------------------------------------------------------------------------------------


def categorical_frame(source_categories, destination_categories, ids=NAMES, ordered=False):
    return edge_frame(
        ids,
        pd.CategoricalDtype(source_categories, ordered),
        pd.CategoricalDtype(destination_categories, ordered),
    )


def test_categoricals_of_one_set_come_back_categorical(backend):
    frame = categorical_frame(NAMES, NAMES)
    out = check(backend, frame)["vertex"]
    assert isinstance(out.dtype, pd.CategoricalDtype)


def test_category_order_is_not_an_order_of_ids(backend):
    check(backend, categorical_frame(NAMES, NAMES[::-1]))
    check(backend, categorical_frame(sorted(NAMES), NAMES))


@pandas_only
def test_ordered_categoricals_are_by_value_too(backend):
    order = ["echo", "alpha", "delta", "charlie", "bravo"]
    check(backend, categorical_frame(order, order, ordered=True))


def test_categoricals_of_different_sets_come_back_as_their_values(backend):
    more = [*NAMES[::-1], "foxtrot"]
    out = check(backend, categorical_frame(NAMES, more))["vertex"]
    assert out.dtype == pd.Index(NAMES, dtype="str").dtype


def test_categoricals_that_share_codes_and_no_value(backend):
    frame = pd.DataFrame(
        {
            "src": pd.Categorical(["a", "b", "c"]),
            "dst": pd.Categorical(["x", "y", "z"]),
        }
    )
    check(backend, frame)
    assert tc.Graph(backend.frame(frame)).n_vertices == 6


def test_unused_categories_are_not_vertices(backend):
    frame = categorical_frame([*NAMES, "unused"], ["unused", *NAMES])
    check(backend, frame)
    assert tc.Graph(backend.frame(frame)).n_vertices == 5
    with pytest.raises(ValueError, match="unused"):
        tc.vertex_triangles(backend.frame(frame), vertices=["unused"])


def test_categoricals_of_integers(backend):
    ids = [30, 4, 5, 2**40, -1]
    check(backend, categorical_frame(ids, ids, ids=ids))
    out = check(backend, categorical_frame(ids, [*ids[::-1], 17], ids=ids))["vertex"]
    assert out.dtype == np.int64


def test_categorical_beside_its_plain_values(backend):
    check(backend, edge_frame(NAMES, pd.CategoricalDtype(NAMES), "str"))
    ids = [30, 4, 5, 2**40, -1]
    check(backend, edge_frame(ids, "int64", pd.CategoricalDtype(ids)))


def test_categories_of_different_kinds_are_refused(backend):
    frame = pd.DataFrame(
        {"left": pd.Categorical([1, 2, 3]), "right": pd.Categorical(["a", "b", "c"])}
    )
    refused(backend, frame, tc.IdTypeError, "left", "right")
    refused(backend, frame, tc.IdTypeError, "left", "right", source="right", destination="left")


# Dates and times ----------------------------------------------------------------------------------

DAYS = [datetime.datetime(2024, 5, day, 12) for day in (9, 3, 30, 1, 17)]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_datetimes_of_one_unit(backend, unit):
    check_ids(backend, edge_frame(DAYS, f"datetime64[{unit}]"), f"datetime64[{unit}]")


def test_datetimes_before_1970(backend):
    early = [datetime.datetime(year, 1, 1) for year in (1969, 1900, 1970, 1800, 2000)]
    check_ids(backend, edge_frame(early, "datetime64[us]"), "datetime64[us]")


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kathmandu"])
def test_datetimes_of_one_time_zone(backend, zone):
    dtype = pd.DatetimeTZDtype("us", zone)
    aware = [pd.Timestamp(day, tz=zone) for day in DAYS]
    check_ids(backend, edge_frame(aware, dtype), dtype)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("datetime64[ns]", "datetime64[us]"),
        ("datetime64[s]", "datetime64[ms]"),
        ("datetime64[ns]", "datetime64[ns, UTC]"),
        ("datetime64[ns, UTC]", "datetime64[ns, Asia/Kathmandu]"),
    ],
)
def test_datetimes_of_two_kinds_are_refused(backend, left, right):
    frame = pd.DataFrame(
        {"left": pd.Series(DAYS).astype("datetime64[ns]"), "right": pd.Series(DAYS)}
    )
    for column, dtype in (("left", left), ("right", right)):
        plain = dtype.partition(",")[0].rstrip("]") + "]"
        frame[column] = frame[column].astype(plain)
        if "," in dtype:
            frame[column] = frame[column].dt.tz_localize(dtype.partition(", ")[2].rstrip("]"))
    assert [str(dtype) for dtype in frame.dtypes] == [left, right]
    refused(backend, frame, tc.IdTypeError, "left", "right")


def test_datetimes_beside_integers_are_refused(backend):
    frame = pd.DataFrame({"left": pd.Series(DAYS).astype("datetime64[ns]"), "right": range(5)})
    refused(backend, frame, tc.IdTypeError, "left", "right")


# Floats -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("dtype", "limit"), [("float64", 2**53), ("float32", 2**24)])
def test_integral_floats_are_integers(backend, dtype, limit):
    check_ids(backend, edge_frame([3, -7, 0, limit - 1, 1 - limit], dtype), "int64")


def test_floats_beside_integers(backend):
    check_ids(backend, edge_frame([3, -7, 0, 2**53 - 1, 12], "float64", "int64"), "int64")
    check_ids(backend, edge_frame([3, -7, 0, 2**24 - 1, 12], "int32", "float32"), "int64")
    check_ids(backend, edge_frame([3, 7, 0, 2**24 - 1, 12], "float32", "float64"), "int64")
    check_ids(backend, edge_frame([3, 7, 0, 9, 12], "float64", "uint64"), "uint64")


def test_minus_zero_is_zero(backend):
    frame = pd.DataFrame({"src": [0.0, 1.0, 2.0], "dst": [1.0, 2.0, -0.0]})
    assert tc.count(backend.frame(frame)) == 1
    assert tc.Graph(backend.frame(frame)).n_vertices == 3


@pytest.mark.parametrize("column", ["src", "dst"])
@pytest.mark.parametrize(
    ("dtype", "wrong"),
    [
        ("float64", 0.5),
        ("float64", -1.25),
        ("float64", 2.0**53),
        ("float64", -(2.0**53)),
        ("float64", 2.0**63),
        ("float64", 1e300),
        ("float64", np.inf),
        ("float64", -np.inf),
        ("float32", 0.5),
        ("float32", 2.0**24),
        ("float32", 2.0**40),
        ("float32", np.inf),
    ],
)
def test_other_floats_are_refused(backend, dtype, wrong, column):
    frame = pd.DataFrame({"src": [1, 2, 3], "dst": [2, 3, 1]}).astype({column: dtype})
    frame.loc[1, column] = wrong
    assert frame[column].dtype == dtype
    refused(backend, frame, tc.IdTypeError, column, source="src", destination="dst")


# What cannot name a vertex ------------------------------------------------------------------------


INTEGERS, STRINGS_OF_DIGITS = pd.Series([1, 2]), pd.Series(["1", "2"], dtype="str")
FLAGS = pd.Series([True, False])
OBJECTS = pd.Series(["a", "b"], dtype=object)
ODD = {  # what is wrong: the column
    "mixed": pd.Series([1, "a"], dtype=object),
    "bytes beside text": pd.Series(["a", b"a"], dtype=object),
    "text beside float": pd.Series(["a", 2.5], dtype=object),
    "lists": pd.Series([[1], [2]]),
    "tuples": pd.Series([(1, 2), (3, 4)]),
    "dicts": pd.Series([{"a": 1}, {}]),
    "objects": pd.Series([object(), object()]),
    "complex": pd.Series([1 + 2j, 3]),
    "nullable bool": pd.Series([True, False], dtype="boolean"),
    "arrow bool": pd.Series([True, False], dtype="bool[pyarrow]"),
    "arrow lists": pd.Series([[1], [2]], dtype=pd.ArrowDtype(pa.list_(pa.int64()))),
}


def test_bool_is_refused(backend):
    frame = pd.DataFrame({"left": FLAGS, "right": FLAGS[::-1]})
    refused(backend, frame, tc.IdTypeError, "left")


@pytest.mark.parametrize("other", [INTEGERS, STRINGS_OF_DIGITS], ids=["int", "str"])
def test_bool_beside_anything_is_refused(backend, other):
    refused(backend, pd.DataFrame({"left": FLAGS, "right": other}), tc.IdTypeError, "left")
    refused(backend, pd.DataFrame({"left": other, "right": FLAGS}), tc.IdTypeError, "right")


@pytest.mark.parametrize("number", ["int64", "uint64", "int8", "float64"])
def test_numbers_beside_strings_are_refused(backend, number):
    frame = pd.DataFrame({"left": INTEGERS.astype(number), "right": STRINGS_OF_DIGITS})
    refused(backend, frame, tc.IdTypeError, "left", "right")
    refused(backend, frame, tc.IdTypeError, "left", "right", source="right", destination="left")


@pandas_only
def test_numbers_beside_objects_are_refused(backend):
    frame = pd.DataFrame({"left": INTEGERS, "right": OBJECTS})
    refused(backend, frame, tc.IdTypeError, "left", "right")


@pandas_only
@pytest.mark.parametrize("name", ODD)
def test_other_dtypes_are_refused(backend, name):
    odd = ODD[name]
    refused(backend, pd.DataFrame({"left": odd, "right": OBJECTS}), tc.IdTypeError, "left")
    refused(backend, pd.DataFrame({"left": OBJECTS, "right": odd}), tc.IdTypeError, "right")
    refused(backend, pd.DataFrame({"left": odd, "right": odd[::-1]}), tc.IdTypeError, "left")


@pandas_only
def test_a_mixed_column_is_found_wherever_the_odd_one_is(backend):
    names = [f"v{i}" for i in range(5000)]
    mixed = pd.Series([*names[:-1], 7], dtype=object)
    frame = pd.DataFrame({"left": pd.Series(names, dtype=object), "right": mixed})
    refused(backend, frame, tc.IdTypeError, "right")


# Nulls --------------------------------------------------------------------------------------------


def nulls(*values, dtype, **marks):
    return pytest.param(pd.Series(list(values), dtype=dtype), id=f"{dtype} {values[1]}", **marks)


NULLS = [
    nulls(1.0, np.nan, 2.0, None, dtype="float64"),
    nulls(1.0, np.nan, 2.0, None, dtype="float32"),
    nulls("a", None, "b", None, dtype="str"),
    nulls(DAYS[0], pd.NaT, DAYS[1], None, dtype="datetime64[ns]"),
    nulls("a", None, "b", None, dtype="category"),
    nulls(1, None, 2, None, dtype="category"),
    *(
        nulls(*values, dtype=dtype, marks=pandas_only)
        for values, dtype in [
            ((1, pd.NA, 2, None), "Int64"),
            ((1, pd.NA, 2, None), "UInt8"),
            ((1, None, 2, None), "int64[pyarrow]"),
            (("a", None, "b", None), pd.ArrowDtype(pa.string())),
            (("a", pd.NA, "b", None), "string[python]"),
            (("a", np.nan, "b", None), "object"),
            (("a", pd.NA, "b", None), "object"),
            (("a", None, "b", pd.NaT), "object"),
        ]
    ),
]


@pytest.mark.parametrize("column", ["left", "right"])
@pytest.mark.parametrize("values", NULLS)
def test_nulls_are_counted_and_refused(backend, values, column):
    whole = values.dropna().repeat(2).reset_index(drop=True)
    other = "right" if column == "left" else "left"
    frame = pd.DataFrame({column: values, other: whole})
    refused(backend, frame, tc.NullIdError, column, words=("2", "Graph", "vertices"))


@pandas_only
@pytest.mark.parametrize("dtype", ["object", "float64", "str", "datetime64[ns]", "Int64"])
def test_a_column_of_nulls_alone(backend, dtype):
    frame = pd.DataFrame({"left": pd.Series([None] * 3, dtype=dtype), "right": [1, 2, 3]})
    refused(backend, frame, tc.NullIdError, "left", words=("3", "Graph", "vertices"))


def test_nulls_elsewhere_do_no_harm(backend):
    frame = pd.DataFrame({"src": [1, 2, 3], "dst": [2, 3, 1], "other": [None, None, None]})
    assert tc.count(backend.frame(frame)) == 1


# Chosen vertices, by the same rules ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("ids", "dtype", "strangers"),
    [
        ([0, 1, 2, 3, 4], "int8", [256, 300, -256, 2**40]),  # 256 is 0 in eight bits
        ([0, 2**30, -(2**31), 5, 2**31 - 1], "int32", [2**32, 2**32 + 5, -(2**32), 2**31]),
        ([0, 2**62, 7, 2**64 - 1, 2**63], "uint64", [-1, -(2**63), 1]),  # -1 is 2**64 - 1 there
        ([0, 2**62, 7, -1, -(2**63)], "int64", [2**64 - 1, 2**63, 1]),
    ],
)
def test_vertices_are_never_wrapped_into_the_ids(backend, ids, dtype, strangers):
    edges = backend.frame(edge_frame(ids, dtype))
    for stranger in strangers:
        with pytest.raises(ValueError, match=str(stranger)):
            tc.vertex_triangles(edges, vertices=[stranger])


def test_vertices_of_the_wrong_kind_are_refused(backend):
    edges = backend.frame(edge_frame([0, 1, 2, 3, 4], "int64"))
    for chosen in (["a"], [0.5], [None], [[0]]):
        with pytest.raises((ValueError, TypeError)):
            tc.vertex_triangles(edges, vertices=chosen)
    names = backend.frame(edge_frame(NAMES, "str"))
    for chosen in ([0], [None]):
        with pytest.raises((ValueError, TypeError)):
            tc.vertex_triangles(names, vertices=chosen)


def test_ids_come_back_as_values_not_as_numbers(backend):
    frame = edge_frame([500, 10, 700, 20, 900], "int64")
    simple = backend.to_pandas(tc.simple_edges(backend.frame(frame)))
    assert rows_of(simple) == [(10, 500), (10, 700), (20, 700), (500, 700)]


@pytest.mark.parametrize("dtype", ["int32", "uint64", "float64"])
def test_plain_columns_are_not_copied(dtype):
    """cuDF's astype copies a column that is of the type already: a gigabyte of 2**28 rows."""

    class Column(pd.Series):
        def astype(self, dtype, copy=None, errors="raise"):
            raise AssertionError(f"copied as {dtype}")

    column, (_, backend) = Column([1, 2, 3], dtype=dtype), open_frame(pd.DataFrame(), None)
    assert integers(column, "column", backend).tolist() == [1, 2, 3]
