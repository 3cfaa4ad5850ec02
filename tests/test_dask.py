"""Functions on a Dask cluster: the answers of one machine, evaluated once, nothing left over."""

import asyncio
import gc
import re
import subprocess
import sys
import textwrap
import time
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import reference
from answers import CASES
from checks import Terminal, rows_of
from dask_support import (
    ASKED,
    a_cluster,
    apart,
    assert_same,
    from_parts,
    layout,
    plain,
    together,
    worked_on_here,
)
from distributed import Client, futures_of, get_client, get_task_stream, worker_client
from graphs import ID_DTYPES, ROWS, TRIANGLES, clique_and_tube, small

import rapids_tc as tc
from rapids_tc import _progress, datasets
from rapids_tc.blocks.distributed_levels import LevelBlocks
from rapids_tc.executors import dask_cluster
from rapids_tc.executors.waiting import Joined
from rapids_tc.graphs import one_worker, stages

pytestmark = pytest.mark.clustered

each = pytest.mark.parametrize("name", ASKED)


@pytest.fixture(scope="module")
def client(backend):
    """A client of two worker processes, on cards where frames are on cards."""
    with a_cluster(backend) as started, Client(started) as client:
        yield client


@pytest.fixture(autouse=True)
def every_worker_counts(monkeypatch):
    monkeypatch.setattr(stages, "LEAST_ROWS", 1)
    monkeypatch.setattr(one_worker, "MOST_BYTES", {"cpu": 0, "cuda": 0})


def left_over(client):
    """What the scheduler still knows of, once it has had time to forget."""
    for _ in range(50):
        tasks = client.run_on_scheduler(
            lambda dask_scheduler: [str(k) for k in dask_scheduler.tasks]
        )
        if not tasks:
            break
        gc.collect()  # a Dask frame can be in a circle with itself
        time.sleep(0.1)
    return tasks


# Answers ------------------------------------------------------------------------------------------


def union_of_cases():
    """All reported cases side by side, their ids renumbered in order: rows, and each case's ids."""
    rows, named, first = [], [], 0
    for case in (param.values[0] for param in CASES):
        ids = sorted({end for row in case["edges"] for end in row})
        number = {v: first + i for i, v in enumerate(ids)}
        rows += [(number[u], number[v]) for u, v in case["edges"]]
        named.append((case, number))
        first += len(ids)
    return rows, named


@pytest.mark.parametrize("partitions", [1, 24])
def test_the_reported_cases(client, backend, partitions):
    rows, named = union_of_cases()
    edges = apart(backend, pd.DataFrame(rows, columns=["src", "dst"]), partitions)
    assert tc.count(edges) == sum(case["total"] for case, _ in named)

    def told(key):
        return {number[v]: value for case, number in named for v, value in case[key] if v in number}

    def by_row(key):
        known = {
            tuple(sorted((number[u], number[v]))): value
            for case, number in named
            for u, v, value in case[key]
        }
        return [known.get(tuple(sorted(row)), 0) for row in rows]

    corners = together(backend, tc.vertex_triangles(edges))
    assert dict(rows_of(corners, "vertex", "triangles")) == told("per_vertex")
    shares = together(backend, tc.clustering(edges))
    assert dict(rows_of(shares, "vertex", "clustering")) == pytest.approx(told("clustering"))
    wide = together(backend, tc.annotate(edges, "triangles", "trussness"))
    assert wide["triangles"].tolist() == by_row("per_edge")
    assert wide["trussness"].tolist() == by_row("truss")
    once = together(backend, tc.simple_edges(edges))
    assert rows_of(once) == reference.simple_edges(rows)
    kept = together(backend, tc.k_truss(edges, 4))
    assert sorted(tuple(sorted(row)) for row in rows_of(kept)) == sorted(
        {tuple(sorted(row)) for row, k in zip(rows, by_row("truss"), strict=True) if k >= 4}
    )


def test_truss_numbers_in_blocks(client, backend, monkeypatch):
    """Workers peel some edges of each round in two processes, and the rest of the bounds falls."""
    rows, peeled, lower = clique_and_tube(), [], LevelBlocks.lower

    def noted(self, *args, peel):
        peeled.append(peel)
        return lower(self, *args, peel=peel)

    monkeypatch.setattr(LevelBlocks, "lower", noted)
    edges = apart(backend, pd.DataFrame(rows, columns=["src", "dst"]), 3)
    with layout(2, 1, 300):
        found = together(backend, tc.annotate(edges, "trussness"))
    assert found["trussness"].tolist() == reference.by_row(rows, reference.trussness(rows))
    assert True in peeled and False in peeled


@pytest.mark.parametrize("case", CASES)
def test_each_case_alone(backend, case):
    """By tasks of this process: the cluster has met them side by side."""
    edges = apart(backend, pd.DataFrame(case["edges"], columns=["src", "dst"]), 3)
    with worked_on_here():
        assert tc.count(edges) == case["total"]


# Triangles of three blocks, by what is made of them: the other functions read the same counts.
THREE = ("count", "clustering", "annotate", "k_truss max", "triad_counts")
CUT = [*((name, 2) for name in ASKED), *((name, 3) for name in THREE)]
CUT += [("annotate", 1), ("triad_counts", 1)]  # all in one, in two parts


@pytest.mark.parametrize(("name", "n"), CUT)
def test_a_graph_in_blocks(client, backend, name, n):
    frame = datasets.rmat(8, edge_factor=6, seed=n).astype("int64")
    frame.index = pd.Index(range(5000, 5000 - len(frame), -1), name="row")
    edges = apart(backend, frame.assign(w=1.5, name="x"), 5)
    with layout(n, 2, fits=len(frame) // 3 * 2 if n == 2 else len(frame)):
        found = ASKED[name](edges)
    assert_same(together(backend, found), plain(backend, ASKED[name](edges.compute())))


@pytest.mark.parametrize("dtype", ["uint64", "str", "category", "datetime64[ns]"])
def test_ids_of_other_types(client, backend, dtype):
    ends = np.random.default_rng(5).integers(0, 16, (2, 90)).tolist()
    frame = pd.DataFrame(dict(zip(("src", "dst"), map(ID_DTYPES[dtype], ends), strict=True)))
    edges = apart(backend, frame, 7)
    for function in (tc.vertex_triangles, tc.simple_edges):
        found, expected = function(edges), function(backend.frame(frame))
        assert_same(together(backend, found), backend.to_pandas(expected))


def test_groups_and_ids_of_several_columns(client, backend):
    frame = pd.concat([small().assign(day="b", host=1), small().assign(day="a", host=2)])
    frame = frame.reset_index(drop=True).assign(server=frame["host"].to_numpy())
    edges = apart(backend, frame, 3)
    assert together(backend, tc.count(edges, by="day")).values.tolist() == [["a", 1], ["b", 1]]
    counted = together(backend, tc.annotate(edges, "triangles", by=["day", "host"]))
    assert counted["triangles"].tolist() == TRIANGLES * 2
    pairs = {"source": ["src", "host"], "destination": ["dst", "server"]}
    assert tc.count(edges, **pairs) == 2
    named = frame[["src", "host"]].iloc[[6, 0]]
    found = together(backend, tc.vertex_triangles(edges, vertices=named, **pairs))
    assert found.values.tolist() == [[5, 2, 1], [5, 1, 1]]


def test_times(client, backend):
    frame = datasets.karate().assign(t=pd.date_range("2024-03-09", periods=78, freq="h", tz="UTC"))
    edges = apart(backend, frame, 5)
    for options in ({}, {"window": "20h", "step": "10h"}):
        found = tc.triangles_over_time(edges, time="t", **options)
        assert type(found) is type(edges)
        right = tc.triangles_over_time(backend.frame(frame), time="t", **options)
        assert_same(together(backend, found), backend.to_pandas(right))
    assert tc.count(edges, time="t", within="20h") == 24
    by_vertex = together(backend, tc.vertex_triangles(edges, time="t", within="20h"))
    assert by_vertex["triangles"].sum() == 72
    with pytest.raises(ValueError, match=r"window=3: time='t' has dtype .*: give a length such as"):
        tc.triangles_over_time(edges, time="t", window=3)


def test_more_partitions_than_rows_and_none(client, backend):
    for rows in (0, 1, 2):
        frame = pd.DataFrame(ROWS[:rows], columns=["src", "dst"], dtype="int32")
        edges = apart(backend, frame, 9)
        assert tc.count(edges) == 0
        wide = together(backend, tc.annotate(edges, "triangles", "cosine"))
        assert_same(
            wide, backend.to_pandas(tc.annotate(backend.frame(frame), "triangles", "cosine"))
        )
        corners = together(backend, tc.vertex_triangles(edges))
        assert_same(corners, backend.to_pandas(tc.vertex_triangles(backend.frame(frame))))


@pytest.mark.parametrize("at_once", [1, 2, 5, 20])
def test_no_task_is_lost_that_ends_while_others_are_looked_at(monkeypatch, at_once):
    class Ending:
        """A task that is asked whether it has ended, and has when it is asked again."""

        def __init__(self):
            self.asked = 0

        @property
        def status(self):
            self.asked += 1
            return "finished" if self.asked > 1 else "pending"

    running = dask_cluster.DaskExecutor.__new__(dask_cluster.DaskExecutor)
    quiet = SimpleNamespace(begin=lambda *_: None, draw=lambda *_: None)
    monkeypatch.setattr(running, "_stages", quiet, raising=False)
    monkeypatch.setattr(running, "_wait", lambda *_: None, raising=False)
    monkeypatch.setattr(running, "send", lambda: None, raising=False)
    running.client, running._joined = None, Joined(bool)
    running._looked, running._drawing = time.monotonic(), False
    found = [
        name for name, _ in running.as_completed(((i, Ending()) for i in range(12)), at_once, 12)
    ]
    assert sorted(found) == list(range(12))


# Small frames -------------------------------------------------------------------------------------


@pytest.fixture
def one_counts(monkeypatch):
    """One worker answers a call on a small frame, as long as it can."""
    monkeypatch.setattr(one_worker, "MOST_BYTES", {"cpu": 2**22, "cuda": 2**22})


def stages_of(client, call):
    """What a call returns, and the stages of its tasks."""
    with get_task_stream(client=client) as stream:
        result = call()
    keys = (str(task["key"]) for task in stream.data)
    stages = {key.split("-")[1] for key in keys if key.startswith("rapids_tc-")}
    return result, stages - {"begin"}


@each
def test_one_worker_answers_for_a_small_frame(client, backend, one_counts, name):
    frame = datasets.rmat(8, edge_factor=6, seed=1).astype("int64")
    frame = pd.concat([frame, frame[:99], frame[:99].set_axis(["dst", "src"], axis=1)])
    frame.index = pd.Index(range(9000, 9000 - len(frame), -1), name="row")
    cuts = [0, 0, 40, 700, 700, len(frame)]
    parts = [frame.assign(w=1.5, name="x").iloc[a:b] for a, b in pairwise(cuts)]
    edges = client.persist(from_parts([backend.from_pandas(part) for part in parts]))
    found, stages = stages_of(client, lambda: ASKED[name](edges))
    assert stages <= {"count", "rows"} and "count" in stages
    expected = ASKED[name](backend.frame(pd.concat(parts)))
    assert_same(together(backend, found), plain(backend, expected))


def strange_parts(kind):
    """Partitions that one worker does not take as one frame, and what is said of them, if wrong."""
    first, second = small().iloc[:4], small().iloc[4:]
    if kind == "another dtype":
        return first, second.astype("int32"), None
    if kind == "another column":
        return first, second.assign(triangles=1), r"partition 1 of the frame has a column"
    if kind == "missing ids":
        holes = second["src"].astype("Int64").mask([True, False])
        return first, second.assign(src=holes), r"'src' has 1 null"
    return first, second.rename(columns={"src": "from"}), r"partition 1.*src"


@pytest.mark.parametrize("kind", ["another dtype", "another column", "missing ids", "no column"])
def test_what_one_worker_cannot_answer_is_asked_of_all(client, backend, one_counts, kind):
    *parts, told = strange_parts(kind)
    edges = from_parts([backend.from_pandas(part) for part in parts])

    def ask():
        return tc.annotate(edges, "triangles", source="src", destination="dst")

    if told is None:
        wide, stages = stages_of(client, ask)
        assert together(backend, wide)["triangles"].tolist() == TRIANGLES
        assert "profile" in stages
    else:
        with pytest.raises((ValueError, TypeError, KeyError), match=told):
            ask()


def test_new_workers_begin_while_one_answers(client, backend, one_counts, monkeypatch):
    """Each gets the call on a triangle once; nothing is left of it."""
    edges = client.persist(apart(backend, small(), 3))
    monkeypatch.setattr(dask_cluster, "_begun", known := {})
    given = []
    submit = dask_cluster.DaskExecutor.submit

    def seen(self, stage, *args, **options):
        given.append((stage, options.get("on")))
        return submit(self, stage, *args, **options)

    monkeypatch.setattr(dask_cluster.DaskExecutor, "submit", seen)
    assert [tc.count(edges) for _ in range(3)] == [1] * 3
    workers = sorted(client.scheduler_info(n_workers=-1)["workers"])
    assert sorted(on for stage, on in given if stage == "begin") == workers == sorted(known[client])
    del edges
    assert left_over(client) == []


def test_the_tasks_of_a_stage_are_sent_together(client, backend, monkeypatch):
    """A client sends one message every 10 ms, and the scheduler reads each graph of tasks apart."""
    edges, sent, send = client.persist(apart(backend, small(), 3)), [], Client.get

    def seen(self, graph, keys, **options):
        sent.append(len(keys))
        return send(self, graph, keys, **options)

    monkeypatch.setattr(Client, "get", seen)
    assert tc.count(edges) == 1
    assert len(sent) <= 4 < 10 < sum(sent)


def test_what_tasks_need_is_there_until_they_are_sent(client, backend):
    with dask_cluster.DaskExecutor(apart(backend, small(), 2), False) as tasks:
        first = tasks.submit("made", bytes, 3)
        tasks.wait([first])
        last = tasks.submit("last", len, first)
        del first
        time.sleep(0.2)  # in which the client would tell that nobody needs it
        assert tasks.gather(last) == 3


def test_a_larger_frame_is_for_all_workers(client, backend, one_counts, monkeypatch):
    edges = client.persist(apart(backend, small(), 3))
    assert "profile" not in stages_of(client, lambda: tc.count(edges))[1]
    monkeypatch.setattr(one_worker, "MOST_BYTES", {"cpu": 90, "cuda": 90})
    assert "profile" in stages_of(client, lambda: tc.count(edges))[1]
    vertices = dd.from_pandas(pd.DataFrame({"id": [2, 1]}), npartitions=1)["id"]
    monkeypatch.setattr(one_worker, "MOST_BYTES", {"cpu": 2**22, "cuda": 2**22})
    found, stages = stages_of(client, lambda: tc.vertex_triangles(edges, vertices=vertices))
    assert together(backend, found)["vertex"].tolist() == [2, 1] and "profile" not in stages


# Files --------------------------------------------------------------------------------------------

# Frames of a folder of files, of which Dask may read several as one partition.
TWO = ["src", "dst"]
FOLDERS = {
    "all columns": lambda path: dd.read_parquet(path),
    "columns=": lambda path: dd.read_parquet(path, columns=TWO),
    "two columns": lambda path: dd.read_parquet(path)[TWO],
    "arrow": lambda path: dd.read_parquet(path, filesystem="arrow"),
    "divisions": lambda path: dd.read_parquet(path, calculate_divisions=True),
    "divisions, mapped": lambda path: mapped(dd.read_parquet(path, calculate_divisions=True)),
    "mapped": lambda path: mapped(dd.read_parquet(path)),
    "filtered": lambda path: chosen(dd.read_parquet(path)),
    "optimized": lambda path: chosen(dd.read_parquet(path)).optimize(),
    "concatenated": lambda path: dd.concat([dd.read_parquet(path)] * 2),
    "shuffled": lambda path: dd.read_parquet(path).shuffle("src"),
    "repartitioned": lambda path: dd.read_parquet(path).repartition(npartitions=3),
    "repartitioned, persisted": lambda p: (
        dd.read_parquet(p)[TWO].repartition(npartitions=3).persist()
    ),
    "persisted": lambda path: dd.read_parquet(path).persist(),
}


def mapped(edges):
    return edges.map_partitions(lambda part: part)


def chosen(edges):
    return edges[edges["src"] > 3]


@pytest.fixture(scope="module")
def folder(backend, tmp_path_factory):
    """A folder of seven files in which ids are few of the columns; what frames are read as."""
    frame, path = datasets.rmat(7).astype("int64"), tmp_path_factory.mktemp("edges")
    wide = frame.assign(**{f"w{i}": 1.0 for i in range(9)})
    dd.from_pandas(wide, npartitions=7).to_parquet(path)
    with dask.config.set({"dataframe.backend": "cudf" if backend.name == "cuda" else "pandas"}):
        yield str(path)


@pytest.mark.parametrize("kind", FOLDERS)
def test_a_folder_of_files(client, backend, folder, kind):
    edges = FOLDERS[kind](folder)
    # dask_cudf's frames of Arrow fragments cannot be sent to a cluster by Dask's own compute.
    scheduler = "sync" if (backend.name, kind) == ("cuda", "arrow") else None
    frame = edges.compute(scheduler=scheduler)
    assert tc.count(edges) == tc.count(frame)
    wide = tc.annotate(edges, "triangles")
    assert wide.npartitions == len(futures_of(wide)) > (0 if scheduler else 1)  # read in one there
    assert wide.divisions == edges.optimize().divisions
    if kind != "shuffled":  # whose rows come in another order each time
        expected = plain(backend, tc.annotate(frame, "triangles"))
        assert_same(together(backend, wide), expected)
        assert_same(together(backend, tc.k_truss(edges, 5)), plain(backend, tc.k_truss(frame, 5)))


@pytest.mark.parametrize("name", ["count", "k_truss 4"])
def test_a_frame_that_dask_has_persisted_in_other_partitions(client, backend, folder, name):
    """Dask reads several files as one partition where few columns are asked for; dask_cudf not."""
    ask, lazy = ASKED[name], dd.read_parquet(folder)[TWO]
    for edges in (lazy.persist(), client.persist(lazy)):
        if backend.name == "cuda" and len(futures_of(edges)) == edges.npartitions:
            assert_same(together(backend, ask(edges)), plain(backend, ask(lazy.compute())))
            continue
        with pytest.raises(tc.KernelError, match=r"before it was persisted.*repartition"):
            ask(edges)


# What is left alone, and what is left over --------------------------------------------------------


def traced(path, part):
    """A partition that leaves a line whenever it is evaluated."""
    with open(path, "a") as file:
        file.write("read\n")
    return part


@each
def test_partitions_are_evaluated_once(client, backend, name, tmp_path):
    path, parts = tmp_path / "reads", [backend.from_pandas(small().iloc[i::3]) for i in range(3)]
    read = partial(traced, path)
    edges = dd.from_map(lambda part: read(part), parts, meta=parts[0].iloc[:0])
    found = ASKED[name](edges)
    together(backend, found)
    together(backend, found)
    assert path.read_text().split() == ["read"] * 3


def test_the_frame_is_left_as_it_is(client, backend):
    frame = small().set_axis(pd.Index(list("zyxwvu"), name="row")).assign(w=0.5)
    edges = client.persist(apart(backend, frame, 3))
    for ask in ASKED.values():
        ask(edges)
    with pytest.raises(ValueError):
        tc.vertex_triangles(edges, vertices=[77])
    assert_same(together(backend, edges), backend.to_pandas(backend.frame(frame)))
    assert tc.count(edges) == 1


def test_answers_are_persisted_frames_of_the_users_kind(client, backend):
    edges = apart(backend, small().assign(w=0.5), 4)
    wide = tc.annotate(edges, "triangles")
    assert type(wide) is type(edges)
    assert wide.npartitions == 4
    assert together(backend, wide)["triangles"].tolist() == TRIANGLES
    assert list(wide.columns) == ["src", "dst", "w", "triangles"]
    assert wide.dtypes["triangles"] == "int64"
    assert wide[wide["triangles"] > 0]["w"].sum().compute() == 2.0
    corners = tc.vertex_triangles(edges)
    assert type(corners) is type(edges) and corners.known_divisions
    once = tc.simple_edges(edges)
    assert together(backend, once).index.tolist() == [0, 1, 2, 3]
    known = dd.from_pandas(small().set_index(pd.Index(range(0, 60, 10), name="at")), npartitions=3)
    assert tc.annotate(known, "triangles").divisions == known.divisions
    assert tc.k_truss(known, 3).compute().index.tolist() == [0, 10, 20]


def test_nothing_is_left_on_the_cluster(client, backend):
    edges = apart(backend, small(), 3)
    for ask in ASKED.values():
        together(backend, ask(edges))
    with pytest.raises(tc.ColumnNotFoundError):
        tc.count(edges, source="nope", destination="dst")
    broken = apart(backend, small().assign(src=[0.5, 1, 2, 3, 4, 5]), 3)
    with pytest.raises(tc.IdTypeError, match=r"holds 0\.5") as caught:
        tc.count(broken)
    assert isinstance(caught.value, TypeError)
    assert left_over(client) == []


def test_triangles_frame_by_frame(client, backend):
    """Between two frames other calls run; frames that nobody asks for leave nothing behind."""
    frame = datasets.rmat(8, edge_factor=6, seed=2)
    edges = apart(backend, frame, 5)
    with layout(2, 1):
        frames = tc.iter_triangles(edges, max_rows=500)
        parts = [backend.to_pandas(next(frames))]
        assert tc.count(edges) == tc.count(backend.frame(frame))
        parts += map(backend.to_pandas, frames)
        some = tc.iter_triangles(edges, max_rows=10, vertices=[frame["src"].iloc[0]])
        assert len(next(some)) == 10
    right = backend.to_pandas(tc.list_triangles(backend.frame(frame)))
    found = pd.concat(parts).sort_values([*"uvw"], ignore_index=True)
    pd.testing.assert_frame_equal(found, right)
    del edges, frames, some
    assert left_over(client) == []


def test_pairs_of_vertices(client, backend):
    """A frame of this process, or of the cluster, which keeps its columns and divisions."""
    frame = datasets.rmat(8, edge_factor=6, seed=2)
    pairs = frame.sample(90, random_state=1).sort_index().assign(w=1.5)
    edges, ids = apart(backend, frame, 5), {"source": "src", "destination": "dst"}
    asked = backend.frame(pairs)
    right = backend.to_pandas(tc.similarity(backend.frame(frame), pairs=asked, **ids))
    lazy = dd.from_pandas(pairs, npartitions=3)
    with layout(2, 1):
        found = tc.similarity(edges, pairs=asked, **ids)
        spread = tc.similarity(tc.Graph(edges, **ids), pairs=lazy[["src", "dst"]])
    assert_same(backend.to_pandas(found), right)
    assert spread.divisions == lazy.divisions
    assert_same(spread.compute(), pairs[["src", "dst"]].assign(jaccard=right))
    del edges, spread
    assert left_over(client) == []


def slowly(part):
    time.sleep(0.4)
    return part


@pytest.mark.parametrize("slow", [False, True])
def test_a_call_lets_go_of_its_tasks_by_itself(client, backend, monkeypatch, slow):
    """Not only when Python looks for circles, which a process with little to do does seldom."""
    monkeypatch.setattr(dask_cluster, "LOOK", 0.1)
    parts = [backend.from_pandas(small().iloc[i::2]) for i in range(2)]
    gc.collect()
    gc.disable()
    try:
        edges = dd.from_map(lambda part: slowly(part) if slow else part, parts, meta=parts[0])
        for name in ("count", "approximate_count", "transitivity"):
            ASKED[name](edges)
        del edges
        for _ in range(50):
            if not any(client.has_what().values()):
                return
            time.sleep(0.1)
        pytest.fail(f"left over: {client.has_what()}")
    finally:
        gc.enable()


def test_tasks_have_names_to_read(client, backend):
    edges = client.persist(apart(backend, small(), 3))
    with get_task_stream(client=client) as stream:
        tc.count(edges)
    seen = {
        str(task["key"]).rsplit("-", 2)[0] for task in stream.data if "rapids_tc" in task["key"]
    }
    stages = {"profile", "ids", "number", "degrees", "order", "rank", "pack", "merge", "count"}
    if backend.name == "cuda":  # over tcp, by way of the host
        stages.add("send")
    assert seen == {f"rapids_tc-{stage}" for stage in stages}


LINE = r"([a-z ]+): \d+\.\d\d s(, of which compiling \(once\) \d+\.\d\d s)?"
OF_COUNT = ["reading the frame", "numbering the ids", "cutting into blocks", "counting"]


def test_progress_is_a_line_a_stage_elsewhere(client, backend, capfd):
    edges = apart(backend, datasets.rmat(12), 4)
    total = tc.count(edges, progress=False)
    assert tc.count(edges) == total
    assert capfd.readouterr() == ("", "")
    assert tc.count(edges, progress=True) == total
    shown = capfd.readouterr()
    lines = [re.fullmatch(LINE, line) for line in shown.err.splitlines()]
    assert shown.out == "" and all(lines)
    names = [line[1] for line in lines]
    assert names == [name for name in OF_COUNT if name in names]
    assert {"reading the frame", "numbering the ids", "counting"} <= set(names)


def test_rounds_of_a_peel_are_one_stage(client, backend, capfd):
    with layout(2, 1, fits=4):
        tc.annotate(apart(backend, datasets.rmat(7), 3), "trussness", progress=True)
    names = [re.fullmatch(LINE, line)[1] for line in capfd.readouterr().err.splitlines()]
    assert "peeling" in names and len(names) == len(set(names))


def bar_on_a_terminal(monkeypatch):
    """Something in place of stderr that is a terminal, with a bar from the beginning of a call."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(_progress, "BAR_DELAY", 0.0)
    monkeypatch.setattr(sys, "stderr", screen := Terminal())
    return screen


@pytest.mark.parametrize("n", [1, 3])
def test_a_flow_of_short_tasks_is_seen(client, backend, monkeypatch, n):
    """Those of a graph in blocks follow one another: a bar for all, though no wait is long."""
    screen, shares = bar_on_a_terminal(monkeypatch), []
    advance = _progress.Report.advance

    def seen(self, done):
        advance(self, done)
        if self._name == "counting":
            shares.append(done)
            while f"{done:.0%}" not in screen.getvalue():
                time.sleep(0.01)

    monkeypatch.setattr(_progress.Report, "advance", seen)
    with layout(n, 1):
        assert tc.count(apart(backend, small(), 3), progress=True) == 1
    assert len(shares) >= n and 1.0 in shares
    assert "counting" in screen.getvalue()


@pytest.mark.parametrize("progress", [None, True])
def test_the_bar_ends_before_the_call(client, backend, monkeypatch, progress):
    screen = bar_on_a_terminal(monkeypatch)
    monkeypatch.setattr(dask_cluster, "LOOK", 0.01)
    edges = apart(backend, datasets.rmat(12), 4)
    for _ in range(3):  # bars that are cut short, too
        tc.annotate(edges, "trussness", progress=progress)
        shown = screen.getvalue()
        assert "counting" in shown or "peeling" in shown
        time.sleep(0.3)
        assert screen.getvalue() == shown
    tc.annotate(edges, "trussness", progress=False)
    assert screen.getvalue() == shown


# Clients ------------------------------------------------------------------------------------------


def test_a_second_client(client, backend):
    held = client.persist(apart(backend, small(), 3))
    with Client(client.scheduler.address) as second:
        assert tc.count(apart(backend, small(), 3)) == 1  # the newest is the current one
        mine = second.persist(apart(backend, small(), 2))
        assert tc.count(mine) == tc.count(held) == 1
    assert tc.count(held) == 1
    with pytest.raises(tc.KernelError, match=r"(?s)client.*LocalCluster"):
        tc.count(mine)


def in_a_task(edges, way):
    """A call inside of a task: what is asked, and of which client."""
    if way == "worker_client":
        with worker_client():
            return tc.count(edges)
    if way == "get_client":
        get_client()
    return tc.count(edges)


@pytest.mark.parametrize(
    ("way", "persisted"),
    [("plain", False), ("plain", True), ("get_client", False), ("worker_client", True)],
)
def test_a_call_in_a_task(client, backend, way, persisted):
    """As Dask's own `compute`; more of them at once than there are threads of workers."""
    edges = apart(backend, small(), 3)
    edges = client.persist(edges) if persisted else edges
    asked = [client.submit(in_a_task, edges, way, pure=False) for _ in range(4)]
    for task in asked:
        assert task.result() == 1
    assert tc.count(edges) == 1


def test_an_asynchronous_client_is_refused(client, backend):
    async def ask():
        async with Client(client.scheduler.address, asynchronous=True):
            tc.count(apart(backend, small(), 2))

    with pytest.raises(tc.KernelError, match="asynchronous"):
        asyncio.run(ask())


@pytest.mark.parametrize(
    "missing, told",
    [("", ["Client(LocalCluster())", "LocalCUDACluster"]), ("distributed", ["rapids_tc[dask]"])],
)
def test_without_a_cluster_the_way_to_one_is_told(missing, told):
    code = f"""
        import sys
        import dask.dataframe as dd, pandas as pd, rapids_tc as tc
        edges = dd.from_pandas(pd.DataFrame({{"src": [0], "dst": [1]}}), npartitions=1)
        sys.modules.update(dict.fromkeys({missing.split()!r}))
        try:
            tc.count(edges)
        except (tc.KernelError, ImportError) as error:
            print(error)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert all(words in done.stdout for words in told)


# Examples -----------------------------------------------------------------------------------------

EXAMPLES = Path(__file__).parents[1] / "examples"


def shown(name, *arguments):
    """What an example prints, run alone."""
    script = EXAMPLES / f"{name}.py"
    assert len(script.read_text().splitlines()) <= 40
    command = [sys.executable, str(script), *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.cpu_only
def test_the_example_for_a_laptop():
    frame = datasets.rmat(9)
    assert f"{len(frame)} rows, {tc.count(frame)} triangles" in shown("dask_laptop", "9")


@pytest.mark.card_only
def test_the_examples_for_cards():
    assert f"{tc.count(datasets.rmat(12))} triangles" in shown("dask_gpus", "12")
    edges = pd.concat([datasets.rmat(14, seed=seed) for seed in range(4)])
    assert f"{len(edges)} rows, {tc.count(edges)} triangles" in shown("parquet_gpus")


def test_a_persisted_frame_is_not_persisted_again(client, backend):
    edges = client.persist(apart(backend, small(), 3))
    for frame in (edges, client.persist(edges)):
        with dask_cluster.DaskExecutor(frame, False) as tasks:
            assert tasks.partitions(None) == futures_of(frame)


def test_calls_one_after_another_share_no_names(client, backend):
    """Else partitions count as done by those of the call before, which are let go meanwhile."""
    edges, known = apart(backend, small(), 3).optimize(), set()
    for _ in range(3):
        with dask_cluster.DaskExecutor(edges, False) as tasks:
            partitions = tasks.partitions(None)
            assert all(client.who_has(partitions).values())
            names = {partition.key for partition in partitions}
        assert len(names) == 3 and not names & known
        known |= names
