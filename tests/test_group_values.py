"""Groups that are no columns: Series and arrays beside the rows, and periods of times."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import reference
from every_path import FRAME, IDS
from hypothesis import given, settings
from hypothesis import strategies as st
from needs import need_module
from tensors import Tensor

import rapids_tc as tc
from rapids_tc.executors.local import PartitionedFrame
from rapids_tc.plan.block_layout import BlockLayout, use_layout

EDGES = FRAME[["src", "dst"]]
DAYS = pd.Series(np.array(["tue", "mon", "wed"])[np.arange(len(EDGES)) * 7 % 11 % 3], name="day")
HALVES = np.arange(len(EDGES)) % 2
TIMES = pd.Timestamp("2024-03-08 22:15") + pd.to_timedelta(np.arange(len(EDGES)) * 37 % 91, "h")


def rows_of(frame):
    return list(zip(frame["src"].tolist(), frame["dst"].tolist(), strict=True))


def counts(by):
    """The triangles of each group, by the definition."""
    return {group: reference.count(rows_of(own)) for group, own in EDGES.groupby(by)}


def found_counts(backend, found):
    *groups, triangles = backend.to_pandas(found).columns
    assert triangles == "triangles"
    frame = backend.to_pandas(found)
    keys = frame[groups[0]] if len(groups) == 1 else zip(*(frame[g] for g in groups), strict=True)
    return dict(zip(keys, frame["triangles"], strict=True))


def ways(edges):
    yield edges, {}
    yield edges, {"memory_limit": 2**20}
    for n in (1, 3):
        with use_layout(BlockLayout(n)):
            yield edges, {}


# Series and arrays --------------------------------------------------------------------------------


def test_a_series_or_an_array_beside_the_rows(backend):
    edges, right = backend.frame(EDGES), counts(DAYS.to_numpy())
    series = backend.frame({"day": DAYS})["day"]
    for by, name in ((series, "day"), (series.rename(None), "by"), (DAYS.to_numpy(), "by")):
        for given_edges, more in ways(edges):
            found = tc.count(given_edges, by=by, **IDS, **more)
            assert backend.to_pandas(found).columns.tolist() == [name, "triangles"]
            assert found_counts(backend, found) == right
        graph = tc.Graph(edges, by=by, **IDS)
        for kept in (graph, pickle.loads(pickle.dumps(graph))):
            assert found_counts(backend, kept.count()) == right


def test_several_beside_columns(backend):
    edges = backend.frame(EDGES.assign(t=FRAME["t"] % 3))
    both = [FRAME["t"] % 3, HALVES]
    for by, names, right in [
        (["t", HALVES], ["t", "by"], both),
        ([HALVES, DAYS.to_numpy()], ["by_1", "by_2"], [HALVES, DAYS.to_numpy()]),
    ]:
        found = tc.count(edges, by=by, **IDS)
        assert backend.to_pandas(found).columns.tolist() == [*names, "triangles"]
        assert found_counts(backend, found) == counts(right)


@pytest.mark.pandas_only
def test_a_series_that_is_made_of_a_column_keeps_its_name(backend):
    frame = EDGES.assign(day=FRAME["t"])
    found = tc.count(frame, by=frame["day"] // 4, **IDS)
    assert found_counts(backend, found) == counts(FRAME["t"] // 4)
    assert found.columns.tolist() == ["day", "triangles"]
    found = tc.vertex_triangles(frame, by=frame["src"] % 2, **IDS)
    assert found.columns.tolist() == ["src", "vertex", "triangles"]
    for by in (pd.Index(FRAME["t"], name="t"), pd.Categorical(DAYS), DAYS.array):
        found = tc.count(frame, by=by, **IDS)
        assert found.columns[0] == (getattr(by, "name", None) or "by")
        assert found_counts(backend, found) == counts(np.asarray(by))


def test_rows_and_columns_come_back_without_the_groups(backend):
    frame, by = EDGES.set_index(pd.Index(np.arange(len(EDGES)) + 7)), DAYS.to_numpy()
    edges = backend.frame(frame)
    wide = backend.to_pandas(tc.annotate(edges, "triangles", by=by, **IDS))
    assert wide.columns.tolist() == ["src", "dst", "triangles"]
    right = pd.Series(0, frame.index)
    for _, own in frame.groupby(by):
        right[own.index] = reference.by_row(rows_of(own), reference.edge_triangles(rows_of(own)))
    assert wide["triangles"].tolist() == right.tolist()
    inside = backend.to_pandas(tc.k_truss(edges, 3, by=by, **IDS))
    assert inside.columns.tolist() == ["src", "dst"]
    kept = [
        label
        for _, own in frame.groupby(by)
        for label, row in zip(own.index, rows_of(own), strict=True)
        if tuple(sorted(row)) in reference.k_truss(rows_of(own), 3)
    ]
    first = {
        (by[label - 7], *sorted(frame.loc[label])): label for label in sorted(kept, reverse=True)
    }
    assert inside.index.tolist() == sorted(first.values())


@pytest.mark.cpu_only
@pytest.mark.parametrize(
    "dtype", [pl.Int8, pl.Date, pl.Enum(["b", "a", "c"]), pl.Boolean, pl.Decimal(9, 2)]
)
def test_polars_and_arrow_keep_the_dtype_of_groups(dtype):
    numbers = pl.Series("day", HALVES.tolist())
    if dtype == pl.Enum:
        groups = numbers.replace_strict([0, 1], ["a", "b"], return_dtype=dtype)
    else:
        groups = numbers.cast(pl.Int64).cast(dtype)
    edges = pl.from_pandas(EDGES)
    found = tc.count(edges, by=groups, **IDS)
    assert found.schema["day"] == dtype
    right = counts(HALVES)
    order = [1, 0] if dtype == pl.Enum else [0, 1]
    assert found["triangles"].to_list() == [right[half] for half in order]
    narwhals = need_module("narwhals")
    wrapped = narwhals.from_native(groups, series_only=True)
    assert tc.count(narwhals.from_native(edges), by=wrapped, **IDS).to_native().equals(found)
    table, column = edges.to_arrow(), groups.to_arrow()
    for by in (column, pa.chunked_array([column])):
        known = tc.count(table, by=by, **IDS)
        assert known.column_names == ["by", "triangles"]
        assert known["by"].type == column.type or pa.types.is_dictionary(column.type)
        assert known["triangles"].to_pylist() == found["triangles"].to_list()
    for by in (HALVES, Tensor(HALVES)):
        assert tc.count(edges, by=by, **IDS)["triangles"].to_list() == [right[0], right[1]]


@pytest.mark.cpu_only
def test_arrays_beside_arrays():
    edges = EDGES["src"].to_numpy(), EDGES["dst"].to_numpy()
    found = tc.count(edges, by=[HALVES, DAYS.to_numpy()])
    assert [*found] == ["by_1", "by_2", "triangles"]
    keys = zip(found["by_1"].tolist(), found["by_2"].tolist(), strict=True)
    assert dict(zip(keys, found["triangles"].tolist(), strict=True)) == counts(
        [HALVES, DAYS.to_numpy()]
    )
    weights = np.ones(len(EDGES))
    for answer in (
        tc.annotate(edges, "triangles", by=HALVES),
        tc.annotate(edges, "triangles", where=tc.Triangles(time=HALVES, within=1)),
        tc.k_truss(edges, 2, by=HALVES),
    ):
        assert [*answer][:2] == ["src", "dst"]
        assert {*answer} <= {"src", "dst", "triangles"}
    assert [*tc.clustering(edges, weight=weights, by=HALVES)] == ["by", "vertex", "clustering"]


# Periods ------------------------------------------------------------------------------------------

GROUPERS = [
    {"freq": "D"}, {"freq": "W"}, {"freq": "MS"}, {"freq": "ME", "label": "left"}, {"freq": "36h"},
    {"freq": "7h", "origin": "epoch"}, {"freq": "5h", "closed": "right", "label": "right"},
    {"freq": "90min", "origin": "2024-03-01 00:11"}, {"freq": "W-TUE", "closed": "left"},
    {"freq": "6h", "offset": "17min"},
]  # fmt: skip


@pytest.mark.parametrize("options", GROUPERS)
@pytest.mark.parametrize("zone", [None, "America/New_York"])
def test_periods_are_those_of_pandas(backend, options, zone):
    options = dict(options)
    if zone is not None and options.get("origin") == "2024-03-01 00:11":
        options["origin"] = pd.Timestamp(options["origin"], tz=zone)
    times = TIMES if zone is None else TIMES.tz_localize("UTC").tz_convert(zone)
    frame = EDGES.assign(t=times)
    grouper = pd.Grouper(key="t", **options)
    right = {
        start: reference.count(rows_of(own)) for start, own in frame.groupby(grouper) if len(own)
    }
    for edges, more in ways(backend.frame(frame)):
        found = tc.count(edges, by=grouper, **IDS, **more)
        assert backend.to_pandas(found).columns.tolist() == ["t", "triangles"]
        assert found_counts(backend, found) == right
        assert backend.to_pandas(found)["t"].dtype == frame["t"].dtype
    mixed = tc.count(backend.frame(frame), by=[HALVES, grouper], **IDS)
    assert found_counts(backend, mixed) == {
        key: reference.count(rows_of(own))
        for key, own in frame.groupby([HALVES, grouper])
        if len(own)
    }
    assert grouper.key == "t"


@settings(max_examples=25)
@given(
    hours=st.lists(st.integers(-5000, 5000), min_size=1, max_size=30),
    freq=st.sampled_from(["D", "2D", "W-WED", "QS-FEB", "YE", "11h"]),
    unit=st.sampled_from(["s", "us", "ns"]),
)
def test_random_periods(hours, freq, unit):
    times = pd.Series(pd.Timestamp("1969-12-30") + pd.to_timedelta(hours, "h")).dt.as_unit(unit)
    frame = pd.DataFrame({"src": np.arange(len(hours)) % 3, "dst": np.arange(len(hours)) % 4})
    frame["when"] = times
    grouper = pd.Grouper(key="when", freq=freq)
    found = tc.simple_edges(frame, by=grouper, **IDS)
    right = [
        (start, *edge)
        for start, own in frame.groupby(grouper)
        for edge in sorted(reference.simple_edges(rows_of(own)))
    ]
    assert list(found.itertuples(index=False, name=None)) == right


@pytest.mark.cpu_only
def test_periods_of_other_libraries_and_of_dates():
    frame = EDGES.assign(t=TIMES)
    grouper = pd.Grouper(key="t", freq="D")
    right = tc.count(frame, by=grouper, **IDS)
    for edges in (pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        found = tc.count(edges, by=grouper, **IDS).to_pandas()
        assert found["t"].tolist() == right["t"].tolist()
        assert found["triangles"].tolist() == right["triangles"].tolist()
    dates = frame.assign(t=frame["t"].astype("date32[pyarrow]"))
    assert tc.count(dates, by=grouper, **IDS)["triangles"].tolist() == right["triangles"].tolist()
    assert len(tc.count(frame.iloc[:0], by=grouper, **IDS)) == 0


# What is refused ----------------------------------------------------------------------------------

ALIGNED = DAYS.rename("day")
PANDAS = EDGES.assign(t=TIMES, n=HALVES)
LAZY = pl.from_pandas(EDGES).lazy()
PARTS = PartitionedFrame([EDGES])
ARRAYS = EDGES["src"].to_numpy(), EDGES["dst"].to_numpy()
REFUSED = [
    (PANDAS, ALIGNED[::-1], ValueError, "a Series, 'day', whose index is not that of the frame"),
    (PANDAS, ALIGNED.iloc[:5], ValueError, r"has the shape \(5,\) for 91 rows"),
    (PANDAS, HALVES[:5], ValueError, r"by= has the shape \(5,\) for 91 rows: give one value per"),
    (PANDAS, np.ones((len(EDGES), 2)), ValueError, r"has the shape \(91, 2\) for 91 rows"),
    (PANDAS, pl.Series(HALVES), TypeError, "by= is of polars, and the edges are a frame of pandas"),
    (pl.from_pandas(EDGES), ALIGNED, TypeError, "by= is of pandas, and the edges are a frame of p"),
    (PANDAS, [ALIGNED, ALIGNED], ValueError, "two groups of by= are called 'day'"),
    (PANDAS, ["n", HALVES, pd.Series(HALVES, name="n")], ValueError, "two groups of by= are call"),
    (PANDAS, ALIGNED.rename("triangles"), ValueError, "the answer has a column of that name"),
    (PANDAS, ALIGNED.where(HALVES == 0), tc.NullIdError, "the group 'day' has 45 nulls: a row"),
    (PANDAS, pd.Grouper(key="t"), TypeError, r"pandas.Grouper without key= and freq="),
    (PANDAS, pd.Grouper(freq="D"), TypeError, r"pandas.Grouper without key= and freq="),
    (PANDAS, pd.Grouper(key="x", freq="D"), tc.ColumnNotFoundError, "by='x' is not a column"),
    (PANDAS, pd.Grouper(key="n", freq="D"), ValueError, "the column has dtype int64; periods are"),
    (PANDAS.assign(t=PANDAS["t"].where(HALVES == 0)), pd.Grouper(key="t", freq="D"),
     tc.NullIdError, "column 't' has 45 nulls: a row needs a group"),
    (LAZY, HALVES, TypeError, "edges is a lazy frame, whose rows have no order"),
    (LAZY, pd.Grouper(key="t", freq="D"), TypeError, "edges is a lazy frame"),
    (PARTS, HALVES, TypeError, "edges is a PartitionedFrame, whose rows have no order"),
    (PARTS, pd.Grouper(key="t", freq="D"), TypeError, "or the start of each period, to it"),
    (ARRAYS, ALIGNED, TypeError, "by= is of type Series, and the edges are arrays: give an array"),
    (ARRAYS, Tensor(HALVES), TypeError, "an array of tensors, and the edges are of numpy"),
    (ARRAYS, [HALVES, HALVES[:3]], ValueError, r"by= has the shape \(3,\) for 91 edges"),
    (ARRAYS, "day", tc.ColumnNotFoundError, "by='day' is not a column, as edges that are arrays"),
    (ARRAYS, ["src", "day"], tc.ColumnNotFoundError, "by='day' is not a column, as edges that are"),
    (ARRAYS, pd.Grouper(key="t", freq="D"), tc.ColumnNotFoundError, "by='t' is not a column, as"),
]  # fmt: skip


@pytest.mark.cpu_only
@pytest.mark.parametrize(("edges", "by", "error", "words"), REFUSED)
def test_what_is_refused(edges, by, error, words):
    ids = {} if edges is ARRAYS else IDS
    for function in (tc.count, tc.vertex_triangles, tc.Graph, tc.memory_estimate):
        if "the answer has" in words and function in (tc.Graph, tc.memory_estimate):
            continue
        if function is tc.memory_estimate and edges is LAZY:
            continue
        with pytest.raises(error, match=words):
            function(edges, by=by, **ids)


@pytest.mark.cpu_only
def test_a_graph_of_values_is_not_updated():
    graph = tc.Graph(EDGES, by=HALVES, **IDS)
    with pytest.raises(TypeError, match="update has no values of the group 'by'"):
        graph.update(insert=EDGES)
    assert tc.memory_estimate(EDGES, by=HALVES, **IDS) == tc.memory_estimate(
        EDGES.assign(by=HALVES), by="by", **IDS
    )
