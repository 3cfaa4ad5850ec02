"""Columns of rows as of their time: what each row forms with earlier rows, and not with later."""

from datetime import timedelta
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
import reference
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import rapids_tc as tc
from rapids_tc import _parallel
from rapids_tc.cli import main
from rapids_tc.engines.as_of import COLUMNS
from rapids_tc.engines.cpu import time_entries
from rapids_tc.engines.gpu import as_of as card
from rapids_tc.plan.record import row_columns, vertex_columns


@st.composite
def timed_frames(draw):
    """Rows of few vertices and times: loops, repeats, both directions and ties, in any order."""
    row = st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(0, 12))
    rows = draw(st.lists(row, min_size=1, max_size=60))
    return pd.DataFrame(rows, columns=["src", "dst", "t"])


def random_frame(rows, vertices, times, seed=0):
    """Rows with hubs among the first vertices."""
    rng = np.random.default_rng(seed)
    ends = np.minimum(*rng.integers(0, vertices, (2, 2, rows)))
    return pd.DataFrame({"src": ends[0], "dst": ends[1], "t": rng.integers(0, times, rows)})


def right(frame, within=None):
    """The columns of a frame by their definition."""
    rows = list(frame[["src", "dst", "t"]].itertuples(index=False, name=None))
    return pd.DataFrame(reference.as_of(rows, COLUMNS, within=within), frame.index)


def made(backend, frame, within=None, columns=COLUMNS, **options):
    """The columns that are added to a frame."""
    wide = tc.annotate(backend.frame(frame), *columns, time="t", within=within, **options)
    return backend.to_pandas(wide)[list(columns)]


def assert_same(found, expected):
    pd.testing.assert_frame_equal(found, expected.astype("int64"))


@settings(max_examples=60, deadline=None)
@given(frame=timed_frames(), within=st.sampled_from([None, 0, 1, 4, 100]))
def test_every_column_of_any_rows(backend, frame, within):
    assert_same(made(backend, frame, within), right(frame, within))


@pytest.mark.parametrize("within", [None, 0, 7, 60])
def test_rows_of_hubs(backend, monkeypatch, within):
    if within:
        monkeypatch.setattr(card, "_FEW", 0)  # rows are answered in the order of their pivots
    frame = random_frame(400, 24, 200)
    assert_same(made(backend, frame, within), right(frame, within))


@pytest.mark.cpu_only
@pytest.mark.parametrize("within", [None, 5, 40])
@pytest.mark.parametrize("tasks", [1, 7, 400])
def test_tasks_that_begin_in_the_middle_of_a_vertex(backend, monkeypatch, within, tasks):
    monkeypatch.setattr(_parallel, "SERIAL_BELOW", 0)
    monkeypatch.setattr(time_entries, "TASKS_PER_THREAD", tasks)
    for seed in range(4):
        frame = random_frame(400, 8 if seed else 2, 150, seed)
        assert_same(made(backend, frame, within), right(frame, within))


@pytest.mark.parametrize("columns", [(name,) for name in COLUMNS] + [COLUMNS[::-1]])
def test_a_column_alone_is_the_same(backend, columns):
    frame = random_frame(120, 10, 40)
    assert_same(made(backend, frame, 9, columns), right(frame, 9)[list(columns)])


@pytest.mark.parametrize("within", [None, 6])
def test_later_rows_change_nothing(backend, within):
    frame = random_frame(300, 12, 60)
    found, early = made(backend, frame, within), frame["t"] <= 30
    rng = np.random.default_rng(1)
    shuffled = frame.copy()
    for column in ("src", "dst"):
        shuffled.loc[~early, column] = rng.permutation(frame.loc[~early, column])
    shuffled.loc[~early, "t"] += rng.integers(0, 9, (~early).sum())
    assert_same(made(backend, shuffled, within)[early], found[early])
    assert_same(made(backend, frame[early], within), found[early])


def test_the_order_of_the_frame_decides_among_equal_times(backend):
    names = ("closed_cycle", "cycles_closed", "pair_repeats")
    rows = [(0, 1), (1, 2), (2, 0), (0, 1)]
    for order, in_time in (((0, 1, 2, 3), [0, 0, 1, 1]), ((2, 1, 0, 3), [0, 0, 0, 0])):
        frame = pd.DataFrame([rows[i] for i in order], columns=["src", "dst"]).assign(t=5)
        found = made(backend, frame, 0, names)
        assert found["cycles_closed"].tolist() == in_time
        assert found["closed_cycle"].tolist() == [0, 0, 1, 1]
        assert found["pair_repeats"].tolist() == [0, 0, 0, 1]


def test_rows_that_are_not_in_the_order_of_time(backend):
    frame = random_frame(200, 10, 1000).drop_duplicates("t")
    by_time = frame.sort_values("t", kind="stable")
    assert_same(made(backend, frame, 90).loc[by_time.index], made(backend, by_time, 90))


def test_groups_are_graphs_of_their_own(backend):
    frame = random_frame(300, 8, 50).assign(g=lambda f: f.index % 3)
    found = made(backend, frame, 8, by="g")
    for _, part in frame.groupby("g"):
        assert_same(found.loc[part.index], right(part, 8))
    graph = tc.Graph(backend.frame(frame), source="src", destination="dst", by="g")
    wide = backend.to_pandas(graph.annotate(*COLUMNS, time="t", within=8))
    assert_same(wide[list(COLUMNS)], found)


def test_a_graph_with_further_vertices(backend):
    frame = random_frame(90, 8, 30)
    graph = tc.Graph(backend.frame(frame), vertices=[100, 3], source="src", destination="dst")
    wide = backend.to_pandas(graph.annotate(*COLUMNS, time="t", within=8))
    assert_same(wide[list(COLUMNS)], right(frame, 8))


# Ids, times and libraries -------------------------------------------------------------------------


@pytest.mark.parametrize("name", [lambda i: f"v{i}", lambda i: i * 10**15 - 4, float])
def test_ids_of_any_kind(backend, name):
    frame = random_frame(80, 9, 30)
    named = frame.assign(src=frame["src"].map(name), dst=frame["dst"].map(name))
    assert_same(made(backend, named, 5), right(frame, 5))


def test_ids_of_several_columns(backend):
    frame = random_frame(80, 9, 30)
    parts = frame.assign(a=frame["src"] // 3, b=frame["src"] % 3)
    parts = parts.assign(c=frame["dst"] // 3, d=frame["dst"] % 3).drop(columns=["src", "dst"])
    found = made(backend, parts, 5, source=["a", "b"], destination=["c", "d"])
    assert_same(found, right(frame, 5))


EPOCH = pd.Timestamp("2024-03-30 22:00", tz="Europe/Berlin")


@pytest.mark.parametrize(
    ("convert", "within"),
    [
        (lambda t: t / 8, 0.75),
        (lambda t: t.astype("int8"), 6),
        (lambda t: t.astype("uint64") + np.uint64(2**63), 6),
        (lambda t: pd.Timestamp("2024-02-28") + pd.to_timedelta(t, "h"), "6h"),
        (lambda t: EPOCH + pd.to_timedelta(t, "h"), pd.Timedelta("6h")),
        (lambda t: pd.Timestamp("1969-12-31") + pd.to_timedelta(t, "D"), timedelta(days=6)),
    ],
)
def test_times_of_any_kind(backend, convert, within):
    frame = random_frame(150, 9, 40)
    given = backend.frame(frame.assign(t=convert(frame["t"])))
    wide = tc.annotate(given, *COLUMNS, time="t", within=within)
    assert_same(backend.to_pandas(wide)[list(COLUMNS)], right(frame, 6))


@pytest.mark.parametrize("within", [0.3 - 0.1, np.nextafter(0.2, 1), 0.1, 0.2, 0.3])
def test_floats_are_compared_exactly(backend, within):
    times = [0.1, 0.2, 0.3, 0.4, 1e300, -0.0, 5e-324]
    frame = pd.DataFrame({"src": [0] * 7, "dst": [1] * 7, "t": times})
    rows = [(0, 1, Fraction(t)) for t in times]
    expected = reference.as_of(rows, ("pair_repeats",), within=Fraction(within))
    assert made(backend, frame, within, ("pair_repeats",)).to_dict("list") == expected


def test_extreme_times(backend):
    times = [-(2**63), 2**63 - 1, 2**63 - 1, 0]
    frame = pd.DataFrame({"src": [0, 0, 1, 0], "dst": [1, 1, 0, 1], "t": times})
    rows = [tuple(map(int, row)) for row in frame.itertuples(index=False)]
    for within in (0, 2**63 - 1, 2**63, 2**64):
        expected = reference.as_of(rows, ("pair_repeats", "pair_reversed"), within=within)
        found = made(backend, frame, within, ("pair_repeats", "pair_reversed"))
        assert found.to_dict("list") == expected


def test_no_rows_and_loops_alone(backend):
    none = pd.DataFrame({"src": [], "dst": [], "t": []}).astype("int64")
    assert_same(made(backend, none, 3), right(none, 3))
    loops = pd.DataFrame({"src": [4, 4, 5], "dst": [4, 4, 5], "t": [3, 1, 2]})
    assert made(backend, loops, 3).to_numpy().sum() == 0


@pytest.mark.cpu_only
def test_frames_of_polars_and_arrays():
    frame = random_frame(80, 9, 30)
    expected = right(frame, 5)
    asked = {"time": "t", "within": 5}
    wide = tc.annotate(pl.from_pandas(frame), *COLUMNS, **asked)
    assert wide.select(COLUMNS).to_pandas().equals(expected)
    lazy = tc.annotate(pl.from_pandas(frame).lazy(), *COLUMNS, **asked)
    assert lazy.collect().equals(wide)
    arrays = frame["src"].to_numpy(), frame["dst"].to_numpy()
    found = tc.annotate(arrays, "u_out", time=frame["t"].to_numpy(), within=5)
    assert found["u_out"].tolist() == expected["u_out"].tolist()


@pytest.mark.cpu_only
def test_the_command_line(tmp_path):
    frame, names = random_frame(60, 8, 30), ("pair_repeats", "cycles_closed")
    frame = frame.assign(t=pd.Timestamp("2024-02-28") + pd.to_timedelta(frame["t"], "h"))
    frame.to_parquet(tmp_path / "rows.parquet")
    words = ["annotate", tmp_path / "rows.parquet", *names, "--time", "t", "--within", "6h"]
    answer = CliRunner().invoke(main, [*map(str, words), "--out", str(tmp_path / "answer.parquet")])
    assert answer.exit_code == 0, answer.output
    found = pd.read_parquet(tmp_path / "answer.parquet")
    expected = tc.annotate(frame, *names, time="t", within="6h")
    assert found[list(names)].equals(expected[list(names)])


# What is refused ----------------------------------------------------------------------------------


def test_names_are_those_of_no_other_column():
    assert not {*COLUMNS} & (row_columns().keys() | vertex_columns().keys())


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        (["u_out"], {}, "name the column of times by time="),
        (["u_out", "triangles"], {"time": "t"}, "in two calls"),
        (["triangles", "u_out"], {"time": "t"}, "in two calls"),
        (["u_out"], {"time": "t", "within": "1h"}, "give a number"),
        (["u_out"], {"time": "t", "within": -1}, "from 0 on"),
        (["u_out"], {"time": "t", "where": tc.Triangles(time="t", within=1)}, "leave one out"),
        (["u_out"], {"time": "none"}, "is not a column"),
        (["jaccard"], {"time": "t", "within": 1}, "columns as of a time"),
        (["triangles"], {"time": "t"}, "without within="),
    ],
)
def test_calls_that_are_refused(backend, columns, options, message):
    frame = backend.frame(random_frame(20, 5, 9))
    with pytest.raises((ValueError, KeyError), match=message):
        tc.annotate(frame, *columns, source="src", destination="dst", **options)


def test_rows_without_a_time_are_refused(backend):
    frame = random_frame(20, 5, 9).astype({"t": "float64"})
    frame.loc[3, "t"] = np.nan
    with pytest.raises(tc.NullIdError, match="a row needs a time"):
        made(backend, frame, 3)


def test_triangles_of_a_kind_may_be_asked_for_in_short(backend):
    frame = backend.frame(random_frame(60, 8, 30))
    short = tc.annotate(frame, "triangles", time="t", within=4)
    long = tc.annotate(frame, "triangles", where=tc.Triangles(time="t", within=4))
    pd.testing.assert_frame_equal(backend.to_pandas(short), backend.to_pandas(long))
