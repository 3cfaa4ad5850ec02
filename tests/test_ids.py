"""The table of ids, row by row: what may name a vertex, what comes back, what is refused, how."""

import datetime
import re
from contextlib import contextmanager, nullcontext

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import reference
from checks import check, rows_of
from dask_support import from_parts, worked_on_here
from stream_support import in_blocks

import rapids_tc as tc
from rapids_tc.frames.backend import open_frame
from rapids_tc.preparation.id_columns import integers
from rapids_tc.preparation.ids import DensePart
from rapids_tc.testing import host_engine

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
    assert some["vertex"].tolist() == chosen
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
@pytest.mark.parametrize("ids", [NAMES, UNICODE, AWKWARD])
def test_views_of_strings_come_back_as_large_strings(backend, ids):
    """pandas can make a column of views, but neither sort nor print it."""
    views, large = (pd.ArrowDtype(kind()) for kind in (pa.string_view, pa.large_string))
    frame = edge_frame(ids, views)
    check_ids(backend, frame, large)
    check_ids(backend, edge_frame(ids, views, "object"), large)
    named = pd.Series(ids[:1], dtype=views)
    assert tc.vertex_triangles(frame, vertices=named)["vertex"].tolist() == ids[:1]
    assert tc.annotate(frame, "triangles").dtypes.tolist() == [views, views, "int64"]
    frame["src"] = pd.Series([None, *frame["src"].tolist()[1:]], dtype=views)
    with pytest.raises(tc.NullIdError, match=r"'src' has 1 null"):
        tc.count(frame)


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


WAYS = {
    "whole": nullcontext,
    "blocks": lambda: in_blocks(2),
    "emulated": host_engine,
    "emulated blocks": lambda: emulated_blocks(),
    "partitions": nullcontext,
}


@contextmanager
def emulated_blocks():
    with host_engine(), in_blocks(2):
        yield


def answers(way, frame):
    """Vertices, rows and the count of a pandas frame, on one of the ways that it can go."""
    with WAYS[way]():
        if way != "partitions":
            return tc.vertex_triangles(frame), tc.k_truss(frame, 3), tc.count(frame)
        with worked_on_here():
            edges = from_parts([frame[:2], frame[2:2], frame[2:]])
            found = tc.vertex_triangles(edges), tc.k_truss(edges, 3), tc.count(edges)
            return tuple(part.compute(scheduler="sync") for part in found[:2]) + found[2:]


UNUSED = {  # ids, and categories that do not occur
    "halves": ([30, 4, 5, 7, 1], [2.5, 0.25]),
    "negative beside uint64": ([30, 4, 5, 2**63, 1], [-5]),
    "too large": ([30.0, 4.0, 5.0, 7.0, 1.0], [2.0**60]),
    "text": ([30, 4, 5, 7, 1], ["a"]),
    "numbers": (NAMES, [5, 2.5]),
    "lists": (NAMES, [(1, 2)]),
}


@pytest.mark.cpu_only
@pytest.mark.parametrize("sides", ["src", "dst", "both"])
@pytest.mark.parametrize(
    ("name", "way"),
    [*((name, "whole") for name in UNUSED), *(("halves", way) for way in WAYS),
     ("negative beside uint64", "blocks"), ("numbers", "partitions")],
)  # fmt: skip
def test_categories_that_do_not_occur_decide_nothing(name, sides, way):
    """The answer is that of the same frame without them, or both are refused alike."""
    ids, more = UNUSED[name]
    dtype = "uint64" if "uint64" in name else None
    frame = edge_frame(ids, dtype)
    bare, wide = frame.copy(), frame.copy()
    for side in ("src", "dst") if sides == "both" else (sides,):
        objects = pd.Index([*more, *ids], dtype=object)
        mixed = objects if name in ("text", "numbers", "lists") else objects.infer_objects()
        wide[side] = frame[side].astype(object).astype(pd.CategoricalDtype(mixed))
        bare[side] = wide[side].cat.remove_unused_categories()
    try:
        corners, _, count = answers(way, bare)
    except tc.IdTypeError:
        with pytest.raises(tc.IdTypeError):
            answers(way, wide)
        return
    assert count == reference.count(rows_of(frame)) == 1
    found = answers(way, wide)
    assert found[0].astype({"vertex": object}).equals(corners.astype({"vertex": object}))
    assert found[0]["vertex"].tolist() == sorted(ids)
    assert found[1].equals(wide.iloc[[0, 1, 2]]) and found[2] == count
    some = tc.vertex_triangles(frame, vertices=wide[sides if sides != "both" else "src"])
    assert some["vertex"].tolist() == frame[sides if sides != "both" else "src"].tolist()


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


def dates(dtype, units=range(5)):
    """Five moments of a dtype, the same whichever its library, unit and zone."""
    values = pd.Series([DAYS[i] for i in units], dtype="datetime64[us]").dt.tz_localize("UTC")
    zone = (
        dtype.pyarrow_dtype.tz if isinstance(dtype, pd.ArrowDtype) else getattr(dtype, "tz", None)
    )
    return (values if zone else values.dt.tz_localize(None)).astype(dtype)


def arrow_time(unit, zone=None):
    return pd.ArrowDtype(pa.timestamp(unit, zone))


def numpy_time(unit, zone=None):
    return pd.DatetimeTZDtype(unit, zone) if zone else np.dtype(f"datetime64[{unit}]")


FIXED = datetime.timezone(datetime.timedelta(hours=5, minutes=45))
SAME_MOMENTS = {  # pairs of dtypes that mean the same
    "arrow": (numpy_time("ns"), arrow_time("ns")),
    "arrow seconds": (numpy_time("s"), arrow_time("s")),
    "arrow UTC": (numpy_time("us", "UTC"), arrow_time("us", "UTC")),
    "both": (numpy_time("us", "Etc/UTC"), arrow_time("us", "UTC")),
    "names": (numpy_time("ns", "UTC"), numpy_time("ns", "Etc/UTC")),
    "old name": (numpy_time("us", "Asia/Kathmandu"), numpy_time("us", "Asia/Katmandu")),
    "object": (numpy_time("us", "UTC"), numpy_time("us", datetime.UTC)),
    "arrow names": (arrow_time("ms", "UTC"), arrow_time("ms", "Etc/UTC")),
    "no offset": (arrow_time("ms", "+00:00"), arrow_time("ms", "UTC")),
    "offset": (arrow_time("ms", "+05:45"), numpy_time("ms", FIXED)),
}
OTHER_MOMENTS = {
    "arrow unit": (numpy_time("ns"), arrow_time("us")),
    "arrow zone": (numpy_time("ns"), arrow_time("ns", "UTC")),
    "zones of one offset today": (
        numpy_time("us", "Africa/Lagos"),
        numpy_time("us", "Europe/Berlin"),
    ),
    "summer time": (numpy_time("us", "Europe/London"), arrow_time("us", "UTC")),
    "a fixed offset": (arrow_time("us", "+05:30"), numpy_time("us", "Asia/Kathmandu")),
}


def as_category(values):
    return values.astype("category")


WRAPS = {
    "plain": (pd.Series.copy, pd.Series.copy),
    "one categorical": (as_category, pd.Series.copy),
    "categorical": (as_category, as_category),
}


@pandas_only
@pytest.mark.cpu_only
@pytest.mark.parametrize("wrap", WRAPS)
@pytest.mark.parametrize(
    ("name", "way"),
    [*((name, "whole") for name in SAME_MOMENTS), *(("both", way) for way in WAYS)],
)
def test_the_same_moments_are_the_same_ids(name, way, wrap):
    rows = [(DAYS[u], DAYS[v]) for u, v in zip(SOURCE, DESTINATION, strict=True)]
    expected = reference.vertex_triangles(rows)
    for left, right in (SAME_MOMENTS[name], SAME_MOMENTS[name][::-1]):
        ends = dates(left, SOURCE), dates(right, DESTINATION)
        src, dst = (cast(end) for cast, end in zip(WRAPS[wrap], ends, strict=True))
        frame = pd.DataFrame({"src": src, "dst": dst})
        corners, kept, count = answers(way, frame)
        assert count == reference.count(rows) == 1
        assert [plain_stamp(t) for t in corners["vertex"].tolist()] == sorted(expected)
        assert corners["triangles"].tolist() == [expected[t] for t in sorted(expected)]
        assert kept.equals(frame.iloc[[0, 1, 2]])


def plain_stamp(moment):
    moment = pd.Timestamp(moment)
    return moment.tz_convert("UTC").tz_localize(None) if moment.tz else moment


@pandas_only
@pytest.mark.parametrize("name", OTHER_MOMENTS)
def test_other_moments_are_refused_by_name(backend, name):
    left, right = OTHER_MOMENTS[name]
    frame = pd.DataFrame({"left": dates(left), "right": dates(right)})
    refused(backend, frame, tc.IdTypeError, "left", "right")
    refused(backend, frame, tc.IdTypeError, "left", "right", source="right", destination="left")
    with in_blocks(2), pytest.raises(tc.IdTypeError, match=r"tz_localize"):
        tc.count(frame)


def test_vertices_are_moments_in_any_unit(backend):
    """By one rule, whether they are chosen or added."""
    other = pd.Timestamp("2031-01-01")
    for unit in ("s", "ms", "us", "ns"):
        edges = backend.frame(edge_frame(DAYS, f"datetime64[{unit}]"))
        for given in ("s", "ms", "us", "ns", None):
            asked = [pd.Timestamp(DAYS[0]), pd.Timestamp(DAYS[4])]
            asked = pd.Series(asked).astype(f"datetime64[{given}]") if given else asked
            some = backend.to_pandas(tc.vertex_triangles(edges, vertices=asked))
            assert some["vertex"].tolist() == [*asked]
            assert tc.Graph(edges, vertices=asked).n_vertices == 5
            more = pd.Series([other, *asked]).astype(f"datetime64[{given or 'us'}]")
            graph = tc.Graph(edges, vertices=more if given else [*more])
            assert graph.n_vertices == 6
            out = backend.to_pandas(tc.vertex_triangles(graph))["vertex"]
            assert out.dtype == f"datetime64[{unit}]" and out.tolist()[-1] == other
            with pytest.raises(ValueError, match="2031"):
                tc.vertex_triangles(edges, vertices=more)


@pandas_only
@pytest.mark.parametrize(
    "dtype",
    [numpy_time("us", "Asia/Kathmandu"), arrow_time("us", "UTC"), arrow_time("us")],
    ids=str,
)
def test_vertices_are_moments_in_any_zone(backend, dtype):
    edges = pd.DataFrame({"src": dates(dtype, SOURCE), "dst": dates(dtype, DESTINATION)})
    asked = dates(dtype, [2, 0])
    aware = getattr(plain_dtype(dtype), "tz", None) is not None
    forms = [asked, asked.tolist(), asked.astype("category"), asked.astype(plain_dtype(dtype))]
    if aware:
        forms += [[pd.Timestamp(t).tz_convert("Europe/Berlin") for t in asked]]
    for form in forms:
        some = tc.vertex_triangles(edges, vertices=form)["vertex"]
        assert some.tolist() == asked.tolist() and some.dtype == dtype
        graph = tc.Graph(edges, vertices=form)
        assert graph.n_vertices == 5 and tc.vertex_triangles(graph)["vertex"].dtype == dtype
    wrong = [pd.Timestamp(DAYS[0]) if aware else pd.Timestamp(DAYS[0], tz="UTC")]
    for call in (tc.vertex_triangles, tc.Graph):
        with pytest.raises(tc.IdTypeError, match=r"vertices=.*zone.*tz_localize"):
            call(edges, vertices=wrong)


def plain_dtype(dtype):
    """pandas' own dtype of the same unit and zone."""
    arrow = getattr(dtype, "pyarrow_dtype", None)
    return dtype if arrow is None else numpy_time(arrow.unit, arrow.tz)


def test_moments_that_the_ids_cannot_hold_are_refused(backend):
    fine, far = pd.Timestamp("2024-05-09 12:00:00.5"), pd.Timestamp("3024-05-09")
    for unit, wrong in (("s", fine), ("ns", far)):
        edges = backend.frame(edge_frame(DAYS, f"datetime64[{unit}]"))
        with pytest.raises(tc.IdTypeError, match=r"vertices=.*as_unit"):
            tc.Graph(edges, vertices=[wrong])
        with pytest.raises(ValueError, match=r"not in the graph: .024-05-09"):
            tc.vertex_triangles(edges, vertices=[wrong])


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
def test_nan_of_arrow_is_no_id(backend):
    """Arrow does not call it missing."""
    values = pd.arrays.ArrowExtensionArray(pa.array([1.0, float("nan"), 2.0, float("nan")]))
    frame = pd.DataFrame({"left": values, "right": [1.0, 2.0, 1.0, 2.0]})
    refused(backend, frame, tc.NullIdError, "left", words=("2", "Graph", "vertices"))


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


# The ends of a dense range -----------------------------------------------------------------------

STRADDLES = [
    (2**31, "int64"),
    (2**31, "uint32"),
    (2**32, "int64"),
    (2**32, "uint64"),
    (2**63, "uint64"),
    (2**64 - 4, "uint64"),
    (2**63 - 4, "int64"),
    (-(2**31), "int64"),
    (-(2**32), "int64"),
    (-(2**63) + 3, "int64"),
    (0, "int8"),
    (127 - 3, "int8"),
    (2**53, "int64"),
]


@pytest.mark.parametrize(("middle", "dtype"), STRADDLES)
@pytest.mark.parametrize("way", ["whole", "blocks"])
def test_dense_ids_around_the_ends_of_words(backend, middle, dtype, way):
    """Each id from three below to three above is found again, and those past the ends are not."""
    ids = [*range(middle - 3, middle + 4)]
    source, destination = ids, [*ids[1:], ids[0]]  # a ring, and a triangle at its middle
    frame = pd.DataFrame(
        {"src": [*source, middle - 1], "dst": [*destination, middle + 1]}, dtype=dtype
    )
    opened = open_frame(backend.frame(frame), None)[1]
    kept = DensePart(7, ids[0], np.dtype(dtype), opened)
    for wide in (dtype, "int64", "uint64"):
        limits = np.iinfo(wide)
        fit = [i for i in range(ids[0] - 2, ids[-1] + 3) if limits.min <= i <= limits.max]
        asked = opened.library.Series(fit, dtype=wide)
        places = opened.host(kept.find(asked, "vertices=")).tolist()
        assert places == [i - ids[0] if ids[0] <= i <= ids[-1] else -1 for i in fit]
    column = opened.array(opened.library.Series(ids, dtype=dtype))
    assert opened.host(kept.number(column)).tolist() == [*range(7)]
    back = kept.take(opened.xp.arange(7, dtype="uint32"))
    assert (backend.to_pandas(back).tolist(), back.dtype) == (ids, dtype)
    assert [int(w) for w in opened.host(kept.words(opened.xp.arange(7, dtype="uint64")))] == [
        i % 2**64 for i in ids
    ]
    with in_blocks(2) if way == "blocks" else nullcontext():
        out = check(backend, frame)["vertex"]
        assert (out.tolist(), out.dtype) == (ids, dtype)
        for end in (ids[0], ids[-1]):
            some = backend.to_pandas(tc.vertex_triangles(backend.frame(frame), vertices=[end]))
            assert some.to_dict("list") == {"vertex": [end], "triangles": [0]}
        for stranger in (ids[0] - 1, ids[-1] + 1):
            if -(2**63) <= stranger < 2**64:
                with pytest.raises(ValueError, match=f"not in the graph: {stranger};"):
                    tc.vertex_triangles(backend.frame(frame), vertices=[stranger])


@pytest.mark.parametrize("size", [1, 5, 2**31, 2**32 - 1])
@pytest.mark.parametrize("base", [0, 1, -1, 2**31 - 1, 2**63, -(2**63)])
def test_one_past_either_end_of_any_range_is_not_found(size, base):
    """Made-up ids, of which none are held."""
    library = open_frame(pd.DataFrame(), None)[1]
    kept = DensePart(size, base, np.dtype("int64"), library)
    for wide in ("int64", "uint64"):
        limits = np.iinfo(wide)
        ends = [base - 1, base, base + size - 1, base + size]
        fit = [i for i in ends if limits.min <= i <= limits.max]
        expected = [i - base if base <= i < base + size else -1 for i in fit]
        assert kept.find(pd.Series(fit, dtype=wide), "ids").tolist() == expected
        inside = np.array([i for i in fit if base <= i < base + size], wide)
        assert kept.number(inside).tolist() == [int(i) - base for i in inside]
        if base + size <= limits.max:
            back = DensePart(size, base, np.dtype(wide), library).take(
                np.array([0, size - 1], "uint32")
            )
            assert back.tolist() == [base, base + size - 1] or base < limits.min


@pytest.mark.parametrize("wrong", [0, 1.0, np.int64(1), np.array(1), b"01", pd.Timestamp(0)])
def test_one_vertex_alone_is_no_list_of_them(backend, wrong):
    """As a number of vertices, which is what it may be meant for, it would be taken for an id."""
    edges = backend.frame(edge_frame(range(5), "int64"))
    for function in (tc.Graph, tc.vertex_triangles, tc.clustering, tc.average_clustering):
        with pytest.raises(TypeError, match="give a list"):
            function(edges, vertices=wrong)


def test_a_null_among_vertices_is_no_row(backend):
    """The advice that rows get, to name isolated vertices by Graph(vertices=), is none there."""
    edges = backend.frame(edge_frame(range(5), "int64"))
    for function in (tc.Graph, tc.vertex_triangles, tc.clustering, tc.average_clustering):
        with pytest.raises(tc.NullIdError, match=r"= has 1 null: drop what names no vertex$"):
            function(edges, vertices=pd.Series([1.0, None]))
