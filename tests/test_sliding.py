"""Graphs of a window of time: rows that come and go, and their columns as they come."""

import copy
import pickle
from functools import partial
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import reference
from needs import need_module

import rapids_tc as tc
from rapids_tc import _parallel, testing
from rapids_tc.engines import registry
from rapids_tc.engines.as_of import COLUMNS
from rapids_tc.engines.cpu import time_entries
from rapids_tc.updates import kept_rows, sliding

K3 = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 0], "t": [1, 2, 3]})


def rows_of(frame):
    return list(frame[["src", "dst", "t"]].itertuples(index=False, name=None))


def stream(rows, late, seed, vertices=14):
    """Rows with hubs, ties, repeats and loops, of vertices that come and go; some are late."""
    rng = np.random.default_rng(seed)
    times = np.sort(rng.integers(0, rows // 2, rows))
    ends = np.minimum(*rng.integers(0, vertices, (2, 2, rows))) + times // (rows // 5) * 5
    times = times - rng.integers(0, late + 1, rows) * (rng.random(rows) < 0.3)
    return pd.DataFrame({"src": ends[0], "dst": ends[1], "t": times, "row": np.arange(rows)})


class Oracle:
    """The rows of a window in a list, and their columns by loops."""

    def __init__(self, first, within, lateness):
        self.within, self.lateness, self.newest, self.rows = within, lateness, None, []
        self.put_in(rows_of(first))

    def put_in(self, rows):
        """Put rows in that are not late; return them, their columns, and the others."""
        late = [self.newest is not None and t < self.newest - self.lateness for *_, t in rows]
        came = [row for row, is_late in zip(rows, late, strict=True) if not is_late]
        since = len(self.rows)
        self.rows += came
        found = reference.as_of(self.rows, COLUMNS, within=self.within, since=since)
        self.newest = max((t for *_, t in self.rows), default=None)
        self.rows = [
            row for row in self.rows if row[2] >= self.newest - self.within - self.lateness
        ]
        return {name: values[since:] for name, values in found.items()}, late


@pytest.mark.parametrize(("late", "lateness"), [(0, 0), (9, 6), (40, 25)])
def test_rows_are_those_of_all_rows_so_far(backend, monkeypatch, late, lateness):
    """Of any batches, buffers that fill up, pickles and copies in the middle."""
    monkeypatch.setattr(kept_rows, "ROOM", 24)
    monkeypatch.setattr(sliding, "FEW", 3)
    if late == 9:  # by several threads
        monkeypatch.setattr(_parallel, "SERIAL_BELOW", 0)
        monkeypatch.setattr(time_entries, "TASKS_PER_THREAD", 5)
    frame, rng, within = stream(130, late, seed=late), np.random.default_rng(1), 14
    asked = {"time": "t", "within": within, "lateness": lateness, "columns": COLUMNS}
    first, place = frame.iloc[:40], 40
    graph = tc.Graph(backend.frame(first), source="src", destination="dst", **asked)
    oracle = Oracle(first, within, lateness)
    while place < len(frame):
        batch = frame.iloc[place : place + rng.choice([1, 1, 2, 5, 30])]
        other = [copy.copy, lambda graph: pickle.loads(pickle.dumps(graph))][place % 2](graph)
        delta = graph.update(insert=backend.frame(batch))
        found, late_rows = oracle.put_in(rows_of(batch))
        on_time = batch[~np.array(late_rows)]
        expected = on_time.assign(**{name: np.array(found[name], "int64") for name in COLUMNS})
        pd.testing.assert_frame_equal(backend.to_pandas(delta.rows), expected)
        dropped = backend.to_pandas(delta.dropped)
        pd.testing.assert_frame_equal(dropped, batch[np.array(late_rows)])
        kept = [row[:2] for row in oracle.rows]
        if place % 3 == 0:
            graph = other  # as it was before, and is put the same rows in
            again = backend.to_pandas(graph.update(insert=backend.frame(batch)).rows)
            pd.testing.assert_frame_equal(again, expected)
            wide = backend.to_pandas(graph.annotate("triangles"))
            assert [*zip(wide["src"], wide["dst"], wide["t"], strict=True)] == oracle.rows
            assert graph.count() == reference.count(kept)
        place += len(batch)
    assert sum(found["triangles_closed"]) >= 0 and graph.n_vertices == len({*sum(kept, ())})


@pytest.mark.parametrize("seed", range(3))
def test_late_rows_take_the_places_of_others(backend, seed):
    """Rows get the numbers of others, and close triangles with the same vertices."""
    rng = np.random.default_rng(seed)
    ends, t = rng.integers(0, 9, (2, 240)), np.arange(240) // 2 - rng.integers(0, 9, 240)
    frame = pd.DataFrame({"src": ends[0], "dst": ends[1], "t": t})
    columns = ["triangles_closed", "closed_cycle", "cycles_closed", "pair_repeats"]
    window = {"time": "t", "within": 30, "lateness": 12, "columns": columns}
    graph = tc.Graph(backend.frame(frame.iloc[:60]), source="src", destination="dst", **window)
    oracle = Oracle(frame.iloc[:60], 30, 12)
    for place in range(60, 240, 12):
        batch = frame.iloc[place : place + 12]
        found = backend.to_pandas(graph.update(insert=backend.frame(batch)).rows)
        right, _ = oracle.put_in(rows_of(batch))
        for name in columns:
            assert found[name].tolist() == right[name]


@pytest.mark.parametrize(("lateness", "left"), [("500ms", 3), ("499ms", 1)])
def test_parts_of_a_unit_of_the_times_add_up(backend, lateness, left):
    seconds = pd.to_datetime(K3["t"].clip(2), unit="s").astype("datetime64[s]")
    frame = backend.frame(K3.assign(t=seconds))
    graph = tc.Graph(frame, time="t", within="500ms", lateness=lateness)
    assert graph.n_edges == left


def test_rows_in_the_order_of_time_are_those_of_the_whole_history(backend):
    frame = stream(200, 0, seed=3)
    whole = pd.DataFrame(reference.as_of(rows_of(frame), COLUMNS, within=15))
    graph = tc.Graph(
        backend.frame(frame.head(0)), source="src", destination="dst", time="t", within=15,
        columns=COLUMNS,
    )  # fmt: skip
    cuts = [0, 1, 2, 3, 50, 51, 120, 200]
    parts = [
        backend.to_pandas(graph.update(insert=backend.frame(frame.iloc[a:b])).rows)
        for a, b in pairwise(cuts)
    ]
    pd.testing.assert_frame_equal(pd.concat(parts)[[*COLUMNS]], whole.astype("int64"))


@pytest.mark.parametrize("columns", [("u_out",), ("cycles_closed",), ("scatter_gather",)])
def test_a_column_alone_is_the_same(backend, columns):
    frame = stream(120, 0, seed=4)
    expected = reference.as_of(rows_of(frame), columns, within=12)
    asked = {"time": "t", "within": 12, "columns": columns}
    graph = tc.Graph(backend.frame(frame.head(60)), source="src", destination="dst", **asked)
    for place in range(60, 120, 20):
        rows = graph.update(insert=backend.frame(frame.iloc[place : place + 20])).rows
        found = backend.to_pandas(rows)[columns[0]].tolist()
        assert found == expected[columns[0]][place : place + 20]


def test_what_is_written_to_the_rows_of_a_delta_stays_there(backend):
    graph = tc.Graph(backend.frame(K3.head(2)), source="src", destination="dst", time="t", within=9)
    rows = graph.update(insert=backend.frame(K3.tail(1))).rows
    rows.iloc[0, 0] = 1
    assert graph.count() == 1


def test_a_delta_compares_the_rows_before_and_after(backend):
    frame = stream(90, 0, seed=5)
    graph = tc.Graph(
        backend.frame(frame.head(60)), source="src", destination="dst", time="t", within=10
    )
    oracle = Oracle(frame.head(60), 10, 0)
    before = [row[:2] for row in oracle.rows]
    delta = graph.update(insert=backend.frame(frame.tail(30)))
    graph.update(insert=backend.frame(frame.tail(1).assign(t=10**6)))
    oracle.put_in(rows_of(frame.tail(30)))
    now = [row[:2] for row in oracle.rows]
    assert delta.triangles == reference.count(now) - reference.count(before)
    old, new = reference.vertex_triangles(before), reference.vertex_triangles(now)
    changed = {v for v in {*old, *new} if old.get(v, 0) != new.get(v, 0)}
    vertices = backend.to_pandas(delta.vertices)
    assert vertices["vertex"].tolist() == sorted(changed)
    assert vertices["triangles"].tolist() == [new.get(v, 0) for v in sorted(changed)]
    assert len(backend.to_pandas(delta.edges)) and graph.n_edges <= 1
    assert "rows=30 rows, dropped=0 rows" in repr(pickle.loads(pickle.dumps(delta)))


def test_what_is_kept_does_not_grow(backend, monkeypatch):
    monkeypatch.setattr(kept_rows, "ROOM", 16)
    monkeypatch.setattr(sliding, "FEW", 2)
    graph = tc.Graph(backend.frame(K3), time="t", within=30)
    for t in range(4, 160):
        batch = pd.DataFrame({"src": [t], "dst": [t + 1], "t": [t]})  # of new vertices
        graph.update(insert=backend.frame(batch))
    prepared = graph._prepared
    assert len(prepared.rows) == graph.n_edges == 31
    assert len(prepared.rows._numbers) < 130 and len(prepared.rows._times[0]) < 130
    assert sum(len(chunk.until) for chunk in prepared.chunks) < 80 and len(prepared.chunks) < 9


# Ids, times and libraries -------------------------------------------------------------------------


NAMES = ("u_out", "pair_repeats", "triangles_closed", "cycles_closed")


def check_parts(backend, frame, cuts=(0, 50, 51, 90), lateness=None, **options):
    """All rows but the first are put in; their columns are those of the whole frame."""
    within = options.pop("within", 8)
    options |= {"time": "t", "within": within, "columns": NAMES, "lateness": lateness}
    graph = tc.Graph(backend.frame(frame.iloc[: cuts[1]]), **options)
    parts = [graph.update(insert=backend.frame(frame.iloc[a:b])) for a, b in pairwise(cuts[1:])]
    return pd.concat([backend.to_pandas(part.rows) for part in parts])[[*NAMES]]


@pytest.mark.parametrize(
    "name",
    [
        lambda i: f"v{i}",
        lambda i: i * 10**15 - 4,
        float,
        lambda i: pd.Timestamp("2026-01-01") + pd.Timedelta(days=i),
    ],
)
@pytest.mark.parametrize(
    "convert",
    [lambda t: t, lambda t: t / 8, lambda t: pd.Timestamp("2024-02-28") + pd.to_timedelta(t, "h")],
)
def test_ids_and_times_of_any_kind(backend, name, convert):
    frame = stream(90, 0, seed=6)[["src", "dst", "t"]]
    expected = pd.DataFrame(reference.as_of(rows_of(frame), NAMES, within=8)).iloc[50:]
    within = {"i": 8, "f": 1.0, "M": "8h"}[convert(frame["t"]).dtype.kind]
    named = frame.assign(
        src=frame["src"].map(name), dst=frame["dst"].map(name), t=convert(frame["t"])
    )
    found = check_parts(backend, named, within=within, source="src", destination="dst")
    pd.testing.assert_frame_equal(found, expected.astype("int64"))


def test_groups_and_ids_of_several_columns(backend):
    frame = stream(90, 0, seed=7)[["src", "dst", "t"]].assign(g=lambda f: f.index % 2)
    parts = frame.assign(
        a=frame["src"] // 3, b=frame["src"] % 3, c=frame["dst"] // 3, d=frame["dst"] % 3
    )
    expected = pd.DataFrame(0, frame.index, [*NAMES])
    for _, group in frame.groupby("g"):
        found = pd.DataFrame(reference.as_of(rows_of(group), NAMES, within=8), group.index)
        expected.loc[group.index] = found
    parts = parts.drop(columns=["src", "dst"])
    found = check_parts(backend, parts, by="g", source=["a", "b"], destination=["c", "d"])
    pd.testing.assert_frame_equal(found, expected.iloc[50:].astype("int64"))


@pytest.mark.cpu_only
@pytest.mark.parametrize("kind", ["polars", "pyarrow", "narwhals", "category"])
def test_frames_come_in_the_library_of_the_graph(kind):
    frame = stream(90, 0, seed=8)[["src", "dst", "t"]]
    expected = pd.DataFrame(reference.as_of(rows_of(frame), NAMES, within=8)).iloc[50:]
    make = {
        "polars": lambda f: need_module("polars").from_pandas(f),
        "pyarrow": lambda f: need_module("pyarrow").table(f),
        "narwhals": lambda f: need_module("narwhals").from_native(
            need_module("polars").from_pandas(f)
        ),
        "category": lambda f: f.astype({"src": "category", "dst": "category"}),
    }[kind]
    graph = tc.Graph(
        make(frame.iloc[:50]), source="src", destination="dst", time="t", within=8, columns=NAMES
    )
    found = [graph.update(insert=make(frame.iloc[a:b])) for a, b in ((50, 55), (55, 90))]
    assert type(found[0].rows) is type(make(frame)) is type(found[0].dropped)
    for name in NAMES:
        assert [v for each in found for v in np.asarray(each.rows[name])] == expected[name].tolist()
    assert graph.count() == reference.count(
        [r[:2] for r in rows_of(frame) if r[2] >= frame["t"].max() - 8]
    )


@pytest.mark.cpu_only
def test_numbers_of_integers_stay_theirs():
    """While a table grows, forgets ids, and gets the same ones again, several times in a batch."""
    rng, known = np.random.default_rng(0), {}
    with testing.host_engine(), testing.thread_order(1):
        table = registry.load("cuda").number_ids()
        for turn in range(9):
            ids = rng.integers(0, 70, 20 + 5 * turn).astype("uint64") << np.uint64(40)
            numbers = table.find(ids)
            for vertex, number in zip(ids.tolist(), numbers.tolist(), strict=True):
                assert known.setdefault(vertex, number) == number
            assert len({*known.values()}) == len(known) and max(known.values()) < len(table)
            if turn % 3 == 2:
                [kept] = table.keep([numbers], 30)
                known = dict(zip(ids.tolist(), kept.tolist(), strict=True))


# What is refused ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"within": 3}, ValueError, "within= is of a window of time: name the column by time="),
        ({"columns": ["u_out"]}, ValueError, "columns= is of a window"),
        ({"time": "t"}, ValueError, "give its length"),
        ({"time": "x", "within": 3}, KeyError, "'x' is not a column"),
        ({"time": "t", "within": "3d"}, ValueError, "give a number"),
        ({"time": "t", "within": 3, "lateness": "1h"}, ValueError, "give a number"),
        ({"time": "t", "within": -1}, ValueError, "from 0 on"),
        ({"time": "t", "within": 3, "columns": ["jaccard"]}, ValueError, "is no column as of"),
        ({"time": "t", "within": 3, "columns": []}, ValueError, "name each of"),
        ({"time": np.arange(3), "within": 3}, ValueError, "name a column of a frame"),
        ({"time": "t", "within": 3, "memory_limit": 1}, ValueError, "leave it out beside time="),
        ({"time": "t", "within": 3, "bipartite": True}, TypeError, "takes no bipartite Graph"),
        ({"time": "t", "within": 3, "by": np.arange(3)}, TypeError, "came as an array"),
    ],
)  # fmt: skip
def test_graphs_that_are_refused(backend, options, error, message):
    with pytest.raises(error, match=message):
        tc.Graph(backend.frame(K3), **options)


def test_batches_that_are_refused_change_nothing(backend):
    graph = tc.Graph(backend.frame(K3.astype({"t": "float64"})), time="t", within=5)
    good = K3.assign(t=[4.0, 5.0, 6.0])
    for batch, error, message in (
        ({"insert": good.assign(t=[4, np.nan, 6])}, tc.NullIdError, "a row needs a time"),
        ({"insert": good.assign(t=[4, 5, 6])}, TypeError, "'t' of insert= has dtype int64"),
        ({"insert": good.astype({"src": "str"})}, tc.IdTypeError, "'src' of insert= has dtype"),
        ({"insert": good[["src", "t"]]}, tc.ColumnNotFoundError, "no column 'dst'"),
        ({"delete": K3[["src", "dst"]]}, TypeError, "leave it out, or make"),
        ({}, ValueError, "give insert="),
    ):
        frames = {name: backend.frame(frame) for name, frame in batch.items()}
        with pytest.raises(error, match=message):
            graph.update(**frames)
    rows = backend.to_pandas(graph.update(insert=backend.frame(good)).rows)
    assert rows["pair_repeats"].tolist() == [1, 1, 1]
    assert rows["cycles_closed"].tolist() == [1, 1, 1]
    assert graph.update(insert=backend.frame(good.head(0))).rows.shape[0] == 0


def test_dask_frames_are_refused():
    dask_of = partial(need_module("dask.dataframe").from_pandas, npartitions=1)
    with pytest.raises(TypeError, match=r"Graph\(time=\) runs on one machine"):
        tc.Graph(dask_of(K3), time="t", within=3)
    with pytest.raises(TypeError, match="insert= is a Dask DataFrame"):
        tc.Graph(K3, time="t", within=3).update(insert=dask_of(K3))
