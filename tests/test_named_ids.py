"""Ids that a call names beside the edges, in every argument that takes ids: `vertices=`, `pairs=`,
`vertex_type=` and the frames of an update."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from every_path import PATHS

import rapids_tc as tc

# A triangle and a tail: integers that are their own numbers, 3 and 4 of which have no vertex.
HOLES = pd.DataFrame({"src": [0, 1, 2, 2], "dst": [1, 2, 0, 5]})
STRANGERS = [3, 4, 6, -1, 2**40]
OVER = ["whole", "2 x 2 blocks", "1 partitions", "7 partitions", "7 partitions, 2 x 2 blocks"]


@pytest.mark.parametrize("over", OVER)
@pytest.mark.parametrize("stranger", STRANGERS)
def test_strangers_in_the_holes_of_a_dense_range(stranger, over):
    path = PATHS[over]
    vertices = {
        "vertex_triangles": [0, stranger],
        "clustering": [stranger],
        "average_clustering": [stranger, 0],
        "triad_counts": [stranger],
        "list_triangles": [0, stranger],
    }
    asked = [(name, {"vertices": chosen}) for name, chosen in vertices.items()]
    asked.append(("annotate_vertices", {"columns": ["degree"], "vertices": [stranger, 5]}))
    for name, own in asked:
        with pytest.raises(ValueError, match=rf"1 of vertices= not in the graph: {stranger};"):
            path.call(name, own, HOLES)
    for row in ((0, stranger), (stranger, 0)):
        pairs = pd.DataFrame([(0, 1), row], columns=["src", "dst"])
        with pytest.raises(ValueError, match=r"1 of pairs= have an end that is not in the graph"):
            path.call("similarity", {"measure": "jaccard", "pairs": pairs}, HOLES)


@pytest.mark.parametrize("over", OVER)
@pytest.mark.parametrize("stranger", STRANGERS)
def test_types_of_strangers_are_ignored(stranger, over):
    """Also if they differ, or if they cannot be sorted among those of vertices."""
    types = pd.DataFrame({"vertex": [0, 1, 2, 5, stranger, stranger], "type": [*"abac", "z", 7]})
    found = PATHS[over].call("triangles_by_type", {"vertex_type": types}, HOLES)
    frames = getattr(found, "partitions", [found])
    rows = pd.concat(frames).itertuples(index=False, name=None)
    assert [*rows] == [("a", "a", "b", 1)]
    lacking = types[types["vertex"] != 5]
    with pytest.raises(tc.NullIdError, match="no type for 1 of the vertices: 5;"):
        PATHS[over].call("triangles_by_type", {"vertex_type": lacking}, HOLES)


@pytest.mark.parametrize("first", [0, 2**40])  # ids that are their own numbers, and an index
def test_errors_name_the_argument(first):
    edges = HOLES.replace(0, first)
    half = pd.DataFrame({"src": [1], "dst": [1.5]})
    with pytest.raises(tc.IdTypeError, match=r"^column 'dst' of pairs= .* holds 1\.5"):
        tc.similarity(edges, pairs=half)
    with pytest.raises(tc.IdTypeError, match=r"^vertices= .* holds 1\.5"):
        tc.vertex_triangles(edges, vertices=half["dst"])
    with pytest.raises(tc.IdTypeError, match=r"^vertex_type= .* holds 1\.5"):
        tc.triangles_by_type(edges, vertex_type=half.set_axis(["type", "vertex"], axis=1))


def test_a_zone_is_missed_in_the_argument_that_lacks_it():
    days = pd.date_range("2026-01-01", periods=3, tz="UTC").to_series(index=range(3))
    edges = pd.DataFrame({"src": days, "dst": days.iloc[[1, 2, 0]].reset_index(drop=True)})
    pairs = edges.assign(dst=edges["dst"].dt.tz_localize(None))
    with pytest.raises(tc.IdTypeError, match=r"convert column 'dst' of pairs= with \.dt\.tz_"):
        tc.similarity(edges, pairs=pairs)


def test_no_frame_is_a_list_of_vertices():
    for frame in (pd.DataFrame({"v": [1]}), pl.DataFrame({"v": [1]}), pa.table({"v": [1]})):
        with pytest.raises(TypeError, match=r"vertices= is a (DataFrame|Table); give a list"):
            tc.vertex_triangles(HOLES, vertices=frame)
        with pytest.raises(TypeError, match=r"vertices= is a (DataFrame|Table); give a list"):
            tc.Graph(HOLES, vertices=frame)


# Every dtype of ids, in every argument ------------------------------------------------------------

SRC, DST = [0, 1, 2, 2], [1, 2, 0, 3]  # a triangle and a tail, as places of ids
NUMBERS, DAYS = [10, 11, 12, 13], pd.date_range("2026-01-01", periods=4)
DTYPES = {
    **dict.fromkeys(["int8", "uint64", "Int16", "uint8[pyarrow]", "float32", "Float64"], NUMBERS),
    **dict.fromkeys([">i4", "category", "double[pyarrow]"], NUMBERS),
    **dict.fromkeys(["object", "str", "string", "string[pyarrow]"], tuple("abcd")),
    **dict.fromkeys(["datetime64[s]", "datetime64[ns]", "timestamp[us][pyarrow]"], DAYS),
    "datetime64[us, Europe/Zurich]": DAYS.tz_localize("Europe/Zurich"),
    "date32[day][pyarrow]": [day.date() for day in DAYS],
    "date64[ms][pyarrow]": [day.date() for day in DAYS],
}
LIBRARIES = {
    "pandas": lambda frame: frame,
    "arrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
    "polars": pl.from_pandas,
}


def column(dtype, places):
    """Ids at these places, in a dtype."""
    values = [DTYPES[dtype][place] for place in places]
    return pd.Series(np.array(values, dtype) if dtype == ">i4" else pd.array(values, dtype))


def listed(column):
    """The values of a column of any library."""
    return column.to_pylist() if isinstance(column, pa.ChunkedArray) else [*column]


@pytest.mark.cpu_only
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_of_ids_in_every_argument(dtype, library):
    convert = LIBRARIES["pandas" if dtype == ">i4" else library]
    frame = pd.DataFrame({"src": column(dtype, SRC), "dst": column(dtype, DST)})
    edges, ids = convert(frame), column(dtype, range(4))
    graph, named = tc.Graph(edges, vertices=ids), column(dtype, [3, 0, 3])
    of_library = convert(named.to_frame("v"))["v"]
    for vertices in (named, pd.Index(named), named.tolist(), named.to_numpy(), of_library):
        found = tc.vertex_triangles(graph, vertices=vertices)
        assert listed(found["triangles"]) == [0, 1, 0]
    pairs = pd.DataFrame({"src": column(dtype, [0, 0, 3]), "dst": column(dtype, [1, 3, 3])})
    for given in (pairs, convert(pairs)):
        found = tc.similarity(graph, pairs=given, measure="jaccard")
        assert listed(found) == pytest.approx([1 / 3, 1 / 2, 0])
    types = pd.DataFrame({"vertex": ids, "type": [*"xyxz"]})
    by_id = pd.Series([*"xyxz"], index=pd.Index(ids))
    for given in (types, convert(types), by_id, dict(zip(ids, types["type"], strict=True))):
        found = tc.triangles_by_type(graph, vertex_type=given)
        assert [listed(found[f"type_{i}"]) for i in (1, 2, 3)] == [["x"], ["x"], ["y"]]
    delta = graph.update(insert=convert(frame.iloc[3:]), delete=convert(frame.iloc[:1]))
    assert (delta.triangles, tc.count(graph)) == (-1, 0)
    assert listed(delta.vertices["delta"]) == [-1, -1, -1]


NO_IDS = {
    "a level of several": pd.MultiIndex.from_tuples([(0, 1)]),
    "records": np.zeros(2, [("a", int)]),
    "text that is no UTF-8": ["\ud800"],
    "a frame": pl.DataFrame({"v": [0]}),
    "structs": pa.array([{"a": 1}]),
    "integers beyond 64 bits": [2**70],
    "times of a day": [datetime.time(1)],
}


@pytest.mark.cpu_only
@pytest.mark.parametrize("vertices", NO_IDS.values(), ids=NO_IDS)
def test_what_cannot_name_a_vertex_is_an_error_of_the_argument(vertices):
    for call in (tc.vertex_triangles, tc.Graph):
        with pytest.raises(TypeError, match="vertices="):
            call(HOLES, vertices=vertices)
