"""A Graph of a partitioned frame: prepared once, every function answered from what is kept."""

import copy
import gc
import pickle
import time
from types import SimpleNamespace
from unittest.mock import Mock

import dask
import dask.dataframe as dd
import every_path
import pandas as pd
import pytest
import reference
import worker_peaks
from dask_support import ASKED, Here, apart, assert_same, layout, plain, together
from dask_support import worked_on_here as here
from distributed import Client, LocalCluster, get_task_stream
from every_path import FRAME, IDS, in_parts
from graphs import TRIANGLES, edge_frames, small
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import rapids_tc as tc
from rapids_tc import datasets, plot
from rapids_tc.blocks import grid, sums
from rapids_tc.executors import dask_cluster
from rapids_tc.executors.dask_cluster import DaskExecutor
from rapids_tc.executors.local import PartitionedFrame
from rapids_tc.graphs import stages
from rapids_tc.plan.block_layout import BlockLayout, use_layout
from rapids_tc.plan.record import ANALYTICS

pytestmark = pytest.mark.clustered


@pytest.fixture(autouse=True)
def every_worker_counts(monkeypatch):
    monkeypatch.setattr(stages, "LEAST_ROWS", 1)


# Answers ------------------------------------------------------------------------------------------


@pytest.mark.cpu_only
@pytest.mark.parametrize(
    ("way", "cut"), enumerate([BlockLayout(1), BlockLayout(2, 2, peel_below=20)])
)
def test_one_graph_answers_every_call(way, cut):
    """From the frame alone, and from what the calls before have left."""
    with use_layout(cut):
        graph = tc.Graph(in_parts(FRAME, 7), **IDS)
        refused, asked = 0, [*every_path.share(way, 2)]
        for (name, own), shown in asked + asked[:3]:
            options = dict(own)
            columns = options.pop("columns", ())
            refusal = ANALYTICS[name].local(own, "Graph of a PartitionedFrame")
            refusal = refusal or every_path.in_blocks(name, own, cut)
            try:
                if refusal is None:
                    answer = ANALYTICS[name].call(graph, *columns, **options)
                    every_path.assert_right(name, own, answer)
                    continue
                refused += 1
                with pytest.raises(type(refusal)) as caught:
                    ANALYTICS[name].call(graph, *columns, **options)
                assert str(caught.value) == str(refusal)
            except BaseException as error:
                error.add_note(shown)
                raise
        assert len(asked) + 3 - refused > 60
    assert graph.n_vertices == len({v for row in every_path.ROWS for v in row})
    assert graph.n_edges == len(reference.simple_edges(every_path.ROWS))


@settings(max_examples=15, deadline=None, phases=[Phase.generate])
@given(
    frame=edge_frames(),
    partitions=st.integers(1, 5),
    n=st.integers(1, 3),
    asked=st.permutations(list(ASKED)),
)
def test_answers_do_not_depend_on_the_calls_before(backend, frame, partitions, n, asked):
    with here(), layout(n, 2):
        graph = tc.Graph(apart(backend, frame, partitions))
        answers = {name: together(backend, ASKED[name](graph)) for name in asked[:5]}
    for name, answer in answers.items():
        expected = plain(backend, ASKED[name](backend.frame(frame)))
        if isinstance(expected, pd.DataFrame):
            pd.testing.assert_frame_equal(answer, expected, rtol=0, atol=0)
        else:
            assert_same(answer, expected)


def test_groups_and_ids_of_several_columns(backend):
    frame = pd.concat([small().assign(day="b", host=1), small().assign(day="a", host=2)])
    frame = frame.reset_index(drop=True).assign(server=frame["host"].to_numpy())
    options = {"source": ["src", "host"], "destination": ["dst", "server"], "by": "day"}
    edges = apart(backend, frame, 3)
    with here():
        graph = tc.Graph(edges, **options)
        for function in (tc.count, tc.simple_edges, tc.clustering, tc.approximate_count):
            own = {} if function is not tc.approximate_count else {"colors": 1, "seed": 1}
            expected = together(backend, function(edges, **options, **own))
            assert_same(together(backend, function(graph, **own)), expected)
        with pytest.raises(ValueError, match=r"give by= to Graph\(\) instead"):
            tc.count(graph, by="day")
    whole = tc.Graph(backend.frame(frame), **options)
    assert (graph.n_vertices, graph.n_edges) == (whole.n_vertices, whole.n_edges)
    assert repr(graph) == repr(whole) and "2 groups" in repr(graph)
    assert graph._repr_html_() == whole._repr_html_()


# What is kept -------------------------------------------------------------------------------------


class Traced(Here):
    """Writes down the stage of every task, and the columns of partitions that are evaluated."""

    stages, read = [], []

    def submit(self, stage, function, *args, on=None, first=False):
        self.stages.append(stage)
        return function(*args)

    def partitions(self, labels):
        self.read.append(labels)
        return super().partitions(labels)


def traced(call):
    Traced.stages.clear(), Traced.read.clear()
    call()
    return list(Traced.stages), list(Traced.read)


PREPARING = {"profile", "ids", "number", "order", "pack", "merge"}


def test_second_calls_repeat_nothing(backend):
    edges = apart(backend, datasets.rmat(7).astype("int64").assign(t=1, w=2.0), 5)
    with here(Traced), layout(2, 1):
        stages, read = traced(lambda: setattr(edges, "graph", tc.Graph(edges)))
        graph = edges.graph
        assert set(stages) >= PREPARING and read == [["src", "dst"]]
        first, _ = traced(graph.count)
        assert set(first) == {"count"} and len(first) >= 8
        assert traced(graph.count) == ([], [])
        stages, read = traced(graph.vertex_triangles)
        assert not PREPARING & set(stages) and read == []
        again, _ = traced(graph.clustering)
        assert set(again) == {"answer"} and len(again) <= 4 < len(stages)
        stages, read = traced(lambda: graph.annotate("triangles", "trussness"))
        assert not PREPARING & set(stages) and {"count", "peel"} <= set(stages) and read == [None]
        again, read = traced(lambda: graph.annotate("triangles", "trussness", "jaccard"))
        assert set(again) == {"rank", "columns", "rows"} and read == [None]
        again, _ = traced(lambda: graph.k_truss(4))
        assert not {"count", "sum"} & set(again) and again.count("peel") == 4
        assert traced(lambda: graph.triangles_over_time(time="t"))[1] == [["src", "dst", "t"]]
        stages, read = traced(lambda: graph.approximate_count(colors=2, seed=1))
        assert {"sample", "order", "pack"} <= set(stages) and read == []


def test_counts_of_edges_serve_vertices_and_the_total(backend):
    frame = datasets.rmat(7).astype("int64")
    edges = apart(backend, frame, 5)
    for n in (1, 3):
        with here(Traced), layout(n, 1):
            graph = tc.Graph(edges)
            graph.annotate("triangles")
            assert "count" not in traced(graph.vertex_triangles)[0]
            corners = together(backend, graph.vertex_triangles())
            assert_same(corners, plain(backend, tc.vertex_triangles(backend.frame(frame))))
            assert graph.count() == tc.count(backend.frame(frame))


def test_an_error_leaves_the_graph_as_it_was(backend):
    edges = apart(backend, small().assign(w=[0.5, 1, 2, 3, 4, -1]), 3)
    with here():
        graph = tc.Graph(edges, source="src", destination="dst")
        graph.annotate("triangles")
        known = dict(graph._prepared.blocked.known)
        with pytest.raises(ValueError, match="not in the graph: 77"):
            graph.vertex_triangles(vertices=[77])
        with pytest.raises(ValueError, match=r"negative|below|-1"):
            graph.clustering(weight="w")
        with pytest.raises(tc.ColumnNotFoundError, match="'nothing'"):
            graph.clustering(weight="nothing")
        assert graph._prepared.blocked.known.keys() == known.keys()
        assert together(backend, graph.annotate("triangles"))["triangles"].tolist() == TRIANGLES


def test_what_a_lost_call_has_asked_is_asked_again(backend, monkeypatch):
    """Some of what was kept may be lost, and nothing of the call that failed is there."""
    with here():
        graph = tc.Graph(apart(backend, small(), 3), source="src", destination="dst")
        graph.annotate("triangles")
        with monkeypatch.context() as patch, pytest.raises(tc.KernelError, match="lost"):
            patch.setattr(sums, "of_row_ends", Mock(side_effect=tc.KernelError("lost")))
            graph.annotate("jaccard")
        assert graph._prepared.blocked.known == {}
        assert together(backend, graph.annotate("triangles"))["triangles"].tolist() == TRIANGLES


def test_a_copy_of_the_graph_is_the_graph(backend):
    with here():
        graph = copy.copy(tc.Graph(apart(backend, small(), 2)))
        assert graph.count() == 1


# What a call will take ----------------------------------------------------------------------------

CALLS_OF_A_WORKER = ("count", "vertex_triangles", "annotate", "simple_edges")


@pytest.mark.cpu_only
@pytest.mark.parametrize(
    ("workers", "n", "kind", "graph"),
    [
        (1, 1, "dense", "rows"),
        (1, 3, "dense", "vertices"),
        (4, 3, "dense", "vertices"),
        (1, 1, "text", "vertices"),
        (2, 3, "composite", "rows"),
    ],
)
def test_an_estimate_is_an_upper_bound_of_what_a_worker_holds(workers, n, kind, graph):
    frame, ids = worker_peaks.frame_of(graph, 2**15 * workers, kind)
    with worker_peaks.metered(workers):
        # sums by vertex alone are near what four workers hold; other calls hold less
        names = ("clustering", "annotate_vertices") if workers == 4 else CALLS_OF_A_WORKER
        for name in (*names, "vertex_squares") if n == 1 else names:
            share = worker_peaks.share(name, frame, ids, workers, n)
            assert 1 <= share <= 1.5, (name, share)


def test_the_rows_of_an_estimate_are_read_or_asked_for(client, backend, tmp_path):
    frame = datasets.rmat(7).astype("int64")
    edges = apart(backend, frame, 3)
    with pytest.raises(ValueError, match=r"how many rows.*persist\(\).*Parquet"):
        tc.memory_estimate(edges)
    held = tc.memory_estimate(client.persist(edges))
    dd.from_pandas(frame, npartitions=3).to_parquet(tmp_path)
    read = tc.memory_estimate(dd.read_parquet(tmp_path))
    assert read.keys() == held.keys() == {"worker", "blocks"}
    assert read["worker"] >= held["worker"]  # as if of more ids
    graph = tc.Graph(client.persist(edges))
    assert graph.memory_estimate()["worker"] <= held["worker"]
    least = grid.need(len(frame), 128, 1) - 1
    assert tc.memory_estimate(client.persist(edges), memory_limit=least)["blocks"] > 1
    with pytest.raises(tc.CapacityError, match="memory_limit= allows 9"):
        tc.memory_estimate(client.persist(edges), memory_limit=9)
    with pytest.raises(TypeError, match=r"annotate\(edges"):
        tc.memory_estimate(client.persist(edges), function="trussness")


# What is refused ----------------------------------------------------------------------------------

KIND = "Graph of a Dask DataFrame"
REFUSED = [
    (lambda g, e: g.csr, TypeError, rf"a {KIND}.*frame\.compute\(\), for its csr"),
    (lambda g, e: pickle.dumps(g), TypeError, rf"a {KIND}.*pickled: make another of the same"),
    (lambda g, e: copy.deepcopy(g), TypeError, "cannot be pickled"),
    (lambda g, e: tc.Graph(g), TypeError, "edges is a Graph already: give it to the functions"),
    (lambda g, e: tc.Graph(e, vertices=[7]), TypeError, "append a row to it for each isolated"),
    (lambda g, e: g.trussness(), TypeError, rf'a {KIND}.*annotate\(edges, "trussness"\)'),
    (lambda g, e: plot.truss_profile(g), TypeError, rf"a {KIND}.*the frame itself by compute\(\)"),
    (lambda g, e: g.count(source="src"), ValueError, r"give source= to Graph\(\) instead"),
    (lambda g, e: g.k_truss(3, by="src"), ValueError, r"give by= to Graph\(\) instead"),
    (lambda g, e: g.count(engine="cuda"), ValueError, "lives on 'cpu', not on 'cuda': make"),
    (lambda g, e: g.count(engine="gpu"), ValueError, "engine='gpu'"),
    (lambda g, e: g.count(memory_limit=0), ValueError, "memory_limit=0"),
    (lambda g, e: g.count(progress="yes"), ValueError, "progress='yes'"),
    (lambda g, e: tc.Graph(e, source="no", destination="dst"), tc.ColumnNotFoundError, "'no'"),
    (lambda g, e: tc.Graph(e, memory_limit=9), tc.CapacityError, "memory_limit= allows 9"),
]


@pytest.mark.cpu_only
@pytest.mark.parametrize(("call", "error", "told"), REFUSED)
def test_what_a_kept_graph_refuses(backend, call, error, told):
    edges = apart(backend, small(), 3)
    with here():
        graph = tc.Graph(edges)
        with pytest.raises(error, match=f"(?s){told}"):
            call(graph, edges)
        assert graph.count() == 1


def test_a_limit_cuts_the_graph_once(backend):
    frame = datasets.rmat(10)
    edges, total = apart(backend, frame, 8), tc.count(backend.frame(frame))
    with here():
        whole = tc.Graph(edges)
        need = grid.need(len(frame), 1024, 1)
        assert whole.count(memory_limit=need) == total
        with pytest.raises(tc.CapacityError, match=r"cut into 1 x 1.*Graph\(edges, memory_limit"):
            whole.count(memory_limit=need - 1)
        cut = tc.Graph(edges, memory_limit=need - 1)
        assert cut._prepared.blocked.partition.n > 1
        assert cut.count(memory_limit=need - 1) == cut.count() == total
        assert_same(
            together(backend, cut.annotate("trussness")),
            plain(backend, tc.annotate(backend.frame(frame), "trussness")),
        )


def test_a_named_method_counts_on_one_machine(backend):
    edges = apart(backend, datasets.rmat(7), 3)
    with here():
        graph = tc.Graph(edges)
        if backend.engine_kwargs["engine"] == "cpu":
            with pytest.raises(ValueError, match="CUDA"):
                graph.count(method="polak")
            return
        assert graph.count() == graph.count(method="polak") == tc.count(edges)
    with here(), layout(2, 1):
        graph = tc.Graph(edges)
        with pytest.raises(tc.CapacityError, match="polak"):
            graph.count(method="polak")


# Partitions that change ---------------------------------------------------------------------------

READING = {
    "annotate": lambda graph: graph.annotate("triangles"),
    "k_truss": lambda graph: graph.k_truss(3),
    "times": lambda graph: graph.triangles_over_time(time="t"),
}


@pytest.mark.parametrize("name", READING)
@pytest.mark.parametrize("change", ["order", "ids", "rows", "partitions"])
def test_partitions_that_have_changed_are_told(backend, name, change):
    parts = [backend.from_pandas(small().assign(t=1).iloc[i : i + 2]) for i in (0, 2, 4)]
    frame = PartitionedFrame(list(parts))
    graph = tc.Graph(frame, source="src", destination="dst")
    assert graph.count() == 1
    if change == "partitions":
        frame.partitions.append(parts[0])
    else:
        last = plain(backend, parts[2])
        last = {
            "order": last.iloc[::-1],
            "ids": last.assign(src=last["src"].to_numpy()[::-1]),
            "rows": last.iloc[:1],
        }[change]
        frame.partitions[2] = backend.from_pandas(last)
    told = "4 partitions, and had 3.*make another" if change == "partitions" else "partition 2 .*"
    with pytest.raises(tc.KernelError, match=told):
        READING[name](graph)
    assert graph.count() == 1
    frame.partitions[2:] = parts[2:]
    READING[name](graph)


# Dask's own cluster -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def client(backend):
    """A client of two workers that are threads of this process."""
    options = {"processes": False, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(n_workers=2, **options) as started, Client(started) as client:
        yield client


def kept_by(client):
    """The stages of the tasks whose results the cluster has, once no other task is at work."""
    for _ in range(100):
        gc.collect()
        keys = [str(key) for keys in client.has_what().values() for key in keys]
        if not any(client.processing().values()) and all("rapids_tc-" in key for key in keys):
            return {key.split("-")[1] for key in keys}
        time.sleep(0.05)
    return set(keys)


def test_what_is_kept_goes_with_the_last_reference(client, backend):
    edges = apart(backend, small().assign(w=0.5), 3)
    graph = tc.Graph(edges)
    assert kept_by(client) == {"ids", "number", "order", "merge"}
    for ask in ASKED.values():
        expected = plain(backend, ask(backend.frame(small().assign(w=0.5))))
        assert_same(together(backend, ask(graph)), expected)
    assert kept_by(client) <= {"ids", "number", "order", "merge", "sum", "count", "peel", "degrees"}
    with get_task_stream(client=client) as stream:
        assert graph.count() == 1
        graph.clustering()
    assert len(stream.data) <= 3
    gc.disable()
    try:
        del graph, ask
        for _ in range(100):
            if not any(client.has_what().values()):
                return
            time.sleep(0.05)
        pytest.fail(f"left over: {client.has_what()}")
    finally:
        gc.enable()


def lose(client, address):
    """Have the scheduler take a worker for dead; Dask's nanny would start another."""

    async def gone(dask_scheduler):
        await dask_scheduler.remove_worker(address, stimulus_id="lost")

    client.run_on_scheduler(gone)


@pytest.mark.parametrize("n", [1, 2])
def test_a_worker_that_is_lost_between_calls_costs_time_alone(backend, n):
    frame = datasets.rmat(8)
    columns = "triangles", "trussness" if n == 1 else "jaccard"
    expected = plain(backend, tc.annotate(backend.frame(frame), *columns))
    options = {"processes": False, "threads_per_worker": 1, "dashboard_address": ":0"}
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "2s"}),  # to the lost worker
        LocalCluster(n_workers=3, **options) as started,
        Client(started) as client,
        layout(n, 1),
    ):
        graph = tc.Graph(apart(backend, frame, 6))
        graph.annotate("triangles")
        lost = max(client.has_what().items(), key=lambda held: len(held[1]))[0]
        lose(client, lost)
        assert_same(together(backend, graph.annotate(*columns)), expected)
        assert graph.count() == tc.count(frame)


def test_what_cannot_be_made_again_is_told(backend):
    options = {"processes": False, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(n_workers=1, **options) as started, Client(started) as client:
        graph = tc.Graph(apart(backend, small(), 2))
        assert graph.count() == 1
        client.restart(wait_for_workers=False)
        with pytest.raises(tc.KernelError, match=r"this Graph keeps was lost.*make another Graph"):
            graph.vertex_triangles()
    with pytest.raises(tc.KernelError, match=r"(?s)client.*closed"):
        graph.vertex_triangles()


@pytest.mark.cpu_only
def test_a_restart_that_is_heard_of_late_is_no_wait_for_workers(monkeypatch):
    """The cluster has no worker, and the client hears only at the third look what it has lost."""
    result, looks = Mock(key="rapids_tc-merge-1", status="finished"), []

    def check():
        looks.append(1)
        assert len(looks) < 4
        result.status = "cancelled" if len(looks) == 3 else "finished"
        return {}

    client = SimpleNamespace(status="running", cluster=None)
    first = DaskExecutor(None, False, client)
    first._tasks.add(result)
    first.client = client
    asked = first.renewed(None)
    asked.client = client
    monkeypatch.setattr(dask_cluster, "Watch", lambda *_: SimpleNamespace(check=check))
    with pytest.raises(tc.KernelError, match=r"the cluster lost rapids_tc-merge-1"):
        asked.workers()
    assert len(looks) == 3


def test_another_client_is_current_meanwhile(client, backend):
    with Client(client.cluster, set_as_default=False) as other:
        with other.as_current():
            graph = tc.Graph(apart(backend, small(), 2))
        wide = graph.annotate("triangles")
        assert together(backend, wide)["triangles"].tolist() == TRIANGLES


@pytest.mark.parametrize("columns", [None, ["src", "dst"]])
def test_files_that_are_read_several_at_a_time(client, backend, tmp_path, columns):
    frame = datasets.rmat(7).astype("int64")
    wide = frame.assign(**{f"w{i}": 1.0 for i in range(9)}).assign(t=frame.index % 5)
    dd.from_pandas(wide, npartitions=7).to_parquet(tmp_path)
    if backend.name == "cuda":
        pytest.skip("dask_cudf reads each file as a partition")
    edges = dd.read_parquet(tmp_path, columns=columns and [*columns, "t"])
    graph, whole = tc.Graph(edges), edges.compute()
    assert graph.count() == tc.count(whole)
    for ask in (ASKED["annotate"], ASKED["k_truss 4"]):
        assert_same(together(backend, ask(graph)), ask(whole))
    by_time = tc.triangles_over_time(whole, time="t")
    assert_same(together(backend, graph.triangles_over_time(time="t")), by_time)
