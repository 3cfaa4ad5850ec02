"""Workers that die: the right answer or a clear error, soon, and a cluster that goes on."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import psutil
import pytest
import reference
from checks import rows_of
from dask_support import a_cluster, apart, assert_same, layout, together
from distributed import (
    Client,
    Event,
    LocalCluster,
    SchedulerPlugin,
    Status,
    futures_of,
    get_worker,
)
from graphs import small

import rapids_tc as tc
from rapids_tc import datasets
from rapids_tc.blocks import degree_codes
from rapids_tc.executors import dask_cluster, watch
from rapids_tc.graphs import one_worker, stages

pytestmark = pytest.mark.clustered

SOON = 600.0  # seconds that only what hangs takes, however busy the machine


@pytest.fixture(scope="module")
def client(backend):
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        a_cluster(backend) as started,
        Client(started) as client,
    ):
        yield client


@pytest.fixture(autouse=True)
def all_workers_count(monkeypatch):
    monkeypatch.setattr(one_worker, "MOST_BYTES", {"cpu": 0, "cuda": 0})


def stop_when(client, stage, killed):
    """Kill the first worker that is seen at work in a stage of a call."""
    until = time.monotonic() + SOON
    while time.monotonic() < until and not killed:
        for address, keys in client.processing().items():
            if any(f"rapids_tc-{stage}" in str(key) for key in keys):
                os.kill(client.run(os.getpid, workers=[address])[address], signal.SIGKILL)
                killed.append(address)
                return
        time.sleep(0.002)


@pytest.mark.parametrize("stage", ["pack", "count"])
def test_a_worker_that_dies_at_work_costs_time_alone(client, backend, monkeypatch, stage):
    monkeypatch.setattr(stages, "LEAST_ROWS", 1)
    frame = datasets.rmat(16)
    edges, total = apart(backend, frame, 6), tc.count(backend.frame(frame))
    killed = []
    killer = threading.Thread(target=stop_when, args=(client, stage, killed))
    killer.start()
    found = tc.count(edges)
    killer.join()
    assert len(killed) == 1
    assert found == total
    assert tc.count(apart(backend, small(), 3)) == 1


def die(part):
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_task_that_kills_every_worker_is_given_up(client, backend):
    part = backend.from_pandas(small())
    edges = dd.from_map(lambda p: die(p), [part], meta=part.iloc[:0])
    with pytest.raises(tc.KernelError, match=r"workers died.*memory_limit"):
        tc.count(edges)
    assert tc.count(apart(backend, small(), 2)) == 1


def test_a_partition_that_nobody_can_make_again_is_told(client, backend):
    address = next(iter(client.scheduler_info()["workers"]))
    part = backend.from_pandas(small())
    future = client.scatter(part, workers=[address])
    edges = client.persist(dd.from_delayed([future], meta=part.iloc[:0], verify_meta=False))
    assert tc.count(edges) == 1
    os.kill(client.run(os.getpid, workers=[address])[address], signal.SIGKILL)
    future.release()
    with pytest.raises(tc.KernelError, match=r"lost.*again"):
        tc.count(edges)


def test_a_restart_between_calls(backend):
    edges = apart(backend, small(), 3)
    with a_cluster(backend, n_workers=1) as started, Client(started) as client:
        held = client.persist(apart(backend, small(), 2))
        assert tc.count(held) == tc.count(edges) == 1
        client.restart(wait_for_workers=False)
        assert tc.count(edges) == 1
        with pytest.raises(tc.KernelError, match="again"):
            tc.count(held)


def test_no_worker_is_waited_for_but_not_for_ever(client, backend, monkeypatch):
    monkeypatch.setattr(watch, "NO_WORKER_LIMIT", 1.0)
    edges = apart(backend, small(), 3)
    client.cluster.scale(0)
    while client.scheduler_info()["workers"]:
        time.sleep(0.1)
    with pytest.raises(tc.KernelError, match="no worker"):
        tc.count(edges)
    monkeypatch.setattr(watch, "NO_WORKER_LIMIT", SOON)
    client.cluster.scale(1)
    assert tc.count(edges) == 1


def pause(dask_worker):
    dask_worker.status = Status.paused


@pytest.mark.parametrize("stage", ["before", "meanwhile"])
def test_paused_workers_are_waited_for_but_not_for_ever(backend, monkeypatch, stage):
    """Dask pauses a worker whose memory is full, and one that is paused starts no task."""
    monkeypatch.setattr(watch, "NO_WORKER_LIMIT", 1.5)
    part = backend.from_pandas(small())
    with a_cluster(backend, n_workers=1, memory_limit=0) as started, Client(started) as client:
        if stage == "before":
            client.run(pause)
            edges = apart(backend, small(), 3)
        else:
            edges = dd.from_map(lambda p: (pause(get_worker()), p)[1], [part], meta=part.iloc[:0])
        with pytest.raises(tc.KernelError, match=r"paused.*memory"):
            tc.count(edges)


def test_what_a_worker_was_given_before_it_was_paused_is_done_by_others(backend, monkeypatch):
    """Dask steals from a worker only if it has more tasks than threads."""
    monkeypatch.setattr(watch, "NUDGE_AFTER", 0.5)
    monkeypatch.setattr(watch, "STANDSTILL_LIMIT", 20.0)
    edges = apart(backend, small(), 2)
    with (
        threads(memory_limit=0) as (scheduler, client),
        dask_cluster.DaskExecutor(edges, False) as executor,
    ):
        full, other = list(scheduler.workers)
        begun = executor.submit("begun", begin_and_pause, "goes on", on=full)
        executor.send()
        Event("begun", client=client).wait(SOON)
        waiting = executor.submit("waiting", first, ["done"], on=full)
        executor.send()
        Event("goes on", client=client).set()
        assert executor.gather([begun, waiting]) == ["paused", "done"]
        assert [worker.address for worker in scheduler.tasks[waiting.key].who_has] == [other]
        assert scheduler.workers[full].status == Status.paused


def begin_and_pause(name):
    """Pause this worker, as if its memory were full, once it has been given another task."""
    Event("begun").set()
    Event(name).wait(SOON)
    pause(get_worker())
    return "paused"


def test_a_workers_libraries_are_not_free_memory(backend):
    """A plan that took them for free would fill a small worker, which Dask then pauses."""
    edges = apart(backend, small(), 2)
    with (
        a_cluster(backend, n_workers=1, memory_limit="2 GiB") as started,
        Client(started) as client,
    ):
        assert tc.count(edges) == 1
        with dask_cluster.DaskExecutor(edges, False) as executor:
            [worker] = executor.workers()
        [resident] = client.run(lambda: psutil.Process().memory_info().rss).values()
    if backend.name == "pandas":
        assert 0.75 * resident < 2**31 - worker.memory < 1.3 * resident


def spilled(dask_worker):
    """How many results a worker has moved out of its memory, or its card's, by now."""
    held = dask_worker.data
    if hasattr(held, "device_keys"):  # of dask_cuda
        return len(held.device_keys) - len(held.device)
    return len(held.slow)


def test_what_is_spilled_comes_back(backend):
    """Workers may keep about 2 MB: a call's own results are far more."""
    frame, limits = datasets.rmat(16), {"memory_limit": "2 GiB", "device_memory_limit": "2 MB"}
    with (
        dask.config.set({"distributed.worker.memory.target": 0.001}),
        a_cluster(backend, **limits) as started,
        Client(started) as client,
    ):
        edges = client.persist(apart(backend, frame, 8))
        with layout(3, 1):
            found = tc.count(edges)
            wide = tc.annotate(edges, "triangles")
        assert sum(client.run(spilled).values()) > 0
        whole = backend.frame(frame)
        assert found == tc.count(whole)
        assert_same(together(backend, wide), backend.to_pandas(tc.annotate(whole, "triangles")))


def start_worker(scheduler, package):
    """A worker that finds the rapids_tc of a folder before any other."""
    command = [sys.executable, "-m", "distributed.cli.dask_worker", scheduler, "--no-dashboard"]
    return subprocess.Popen(
        [*command, "--no-nanny", "--nthreads", "1", "--local-directory", str(package)],
        cwd=package,  # which comes before PYTHONPATH
        env={**os.environ, "PYTHONPATH": str(package)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def test_workers_of_other_versions_are_named_and_nothing_is_sent_to_them(backend, tmp_path):
    """One has other sources of the same version, one another version, and one none."""
    for name in ("sources", "version"):
        shutil.copytree(Path(tc.__file__).parent, tmp_path / name / "rapids_tc")
        with (tmp_path / name / "rapids_tc" / "__init__.py").open("a") as first:
            first.write(f"\n# {name}\n" if name == "sources" else '__version__ = "0.0.1"\n')
    (tmp_path / "none" / "rapids_tc").mkdir(parents=True)
    absent = 'raise ModuleNotFoundError("No module named rapids_tc")\n'
    (tmp_path / "none" / "rapids_tc" / "__init__.py").write_text(absent)
    edges, said = apart(backend, small(), 3), {"of other sources", "0.0.1", "none"}
    with a_cluster(backend, n_workers=1) as started, Client(started) as client:
        assert tc.count(edges) == 1
        others = [start_worker(started.scheduler_address, folder) for folder in tmp_path.iterdir()]
        try:
            client.wait_for_workers(4, timeout=SOON)
            for _ in range(2):
                with pytest.raises(tc.KernelError, match=r"workers.*pip install") as error:
                    tc.count(edges)
                assert all(words in str(error.value) for words in said)
            assert all(other.poll() is None for other in others)
        finally:
            for other in others:
                other.kill()
                other.wait()


# Losses at one moment, in a cluster that is threads of this process -------------------------------


class At(SchedulerPlugin):
    """Do something once, when a task of a stage comes to a state."""

    name = "at"

    def __init__(self, scheduler, stage, state, act):
        self.scheduler, self.stage, self.state, self.act = scheduler, stage, state, act
        self.happened = threading.Event()

    def transition(self, key, start, finish, *_, **__):
        if self.stage in str(key) and finish == self.state and not self.happened.is_set():
            self.happened.set()
            self.scheduler.loop.add_callback(self.act, key)


@contextmanager
def threads(workers=2, saturation=1.1, **options):
    """A cluster of workers with a thread each, and a client of it."""
    options |= {"processes": False, "threads_per_worker": 1, "dashboard_address": ":0"}
    with (
        dask.config.set({"distributed.scheduler.worker-saturation": saturation}),
        LocalCluster(n_workers=workers, **options) as started,
        Client(started) as client,
    ):
        yield started.scheduler, client


def at(scheduler, stage, state, act):
    scheduler.add_plugin(plugin := At(scheduler, stage, state, act), name=f"{stage} {state}")
    return plugin.happened


def losing(scheduler, address=None):
    """What loses a worker: one of choice, or one that has the result of the task."""

    async def lose(key):
        lost = address or next(iter(scheduler.tasks[key].who_has)).address
        await scheduler.remove_worker(lost, stimulus_id="lost")

    return lose


def first(parts):
    return parts[0]


def test_tasks_in_a_queue_that_nobody_opens_are_freed(backend, monkeypatch):
    """Dask queues what it makes again while the worker that is left is full, and forgets it.

    What `last` waits for is on the lost worker alone, and so is what has been made of the same
    partitions since: they are queued for this one while `last` still fills the worker.
    """
    monkeypatch.setattr(watch, "NUDGE_AFTER", 1.0)
    edges = apart(backend, small(), 6)
    with (
        threads(saturation=1.0) as (scheduler, _),
        dask_cluster.DaskExecutor(edges, False) as tasks,
    ):
        goes, stays = list(scheduler.workers)
        partitions = tasks.partitions(None)
        old, new = (tasks.submit("made", first, partitions, on=goes) for _ in range(2))
        tasks.wait([old, new])
        del partitions
        lost = at(scheduler, "-last-", "processing", losing(scheduler, goes))
        last = tasks.submit("last", first, [old], on=stays)
        assert len(tasks.gather(last)) == 1
        assert lost.is_set()
        assert len(tasks.gather(new)) == 1


@pytest.mark.parametrize("stage", ["profile", "number", "order", "pack", "merge", "count", "rows"])
@pytest.mark.parametrize("n", [1, 2])
def test_a_worker_that_is_lost_at_any_moment_costs_time_alone(backend, monkeypatch, stage, n):
    monkeypatch.setattr(stages, "LEAST_ROWS", 1)
    frame = datasets.rmat(8)
    with threads(3) as (scheduler, _), layout(n, 1):
        lost = at(scheduler, f"rapids_tc-{stage}-", "memory", losing(scheduler))
        found = tc.annotate(apart(backend, frame, 6), "triangles")
        assert lost.is_set()
        whole = tc.annotate(backend.frame(frame), "triangles")
        assert_same(together(backend, found), backend.to_pandas(whole))


@pytest.mark.parametrize("stage", ["count", "rows"])
def test_a_worker_that_answers_alone_and_is_lost_costs_time_alone(backend, monkeypatch, stage):
    monkeypatch.setattr(one_worker, "MOST_BYTES", {"cpu": 2**22, "cuda": 2**22})
    frame = datasets.rmat(8)
    with threads(3) as (scheduler, _):
        lost = at(scheduler, f"rapids_tc-{stage}-", "memory", losing(scheduler))
        found = tc.annotate(apart(backend, frame, 6), "triangles")
        assert lost.is_set()
        whole = tc.annotate(backend.frame(frame), "triangles")
        assert_same(together(backend, found), backend.to_pandas(whole))


def wait_for(name, _=None):
    Event(name).wait(60)
    return name


def test_what_is_lost_while_others_run_is_waited_for(backend):
    """Dask says "lost" of a result until it has been made again, behind what runs now."""
    edges = apart(backend, small(), 2)
    with threads() as (scheduler, client), dask_cluster.DaskExecutor(edges, False) as tasks:
        goes, stays = list(scheduler.workers)
        goes_on = {name: Event(name, client=client) for name in ("had", "other")}
        goes_on["had"].set()
        had = tasks.submit("had", wait_for, "had", on=goes)
        tasks.wait([had])
        other = tasks.submit("other", wait_for, "other", on=stays)

        def lose():
            time.sleep(0.5)  # until both are waited for
            goes_on["had"].clear()
            client.cluster.sync(losing(scheduler, goes), had.key)
            while had.status != "lost":
                time.sleep(0.01)
            goes_on["other"].set()
            time.sleep(0.5)  # in which it is there and `had` is not
            goes_on["had"].set()

        loser = threading.Thread(target=lose)
        loser.start()
        assert tasks.gather([had, other]) == ["had", "other"]
        loser.join()


def test_a_standstill_is_told(client, backend, monkeypatch):
    """Of tasks that no worker may take, for one."""
    monkeypatch.setattr(watch, "STANDSTILL_LIMIT", 6.0)
    with (
        dask.annotate(resources={"nobody has it": 1}),
        pytest.raises(tc.KernelError, match=r"(?s)nothing has moved.*0 of \d+.*running.*restart"),
    ):
        tc.count(apart(backend, small(), 2))
    monkeypatch.undo()
    assert tc.count(apart(backend, small(), 2)) == 1


def nap(_, number):
    time.sleep(0.02)
    return get_worker().address


def test_workers_that_join_get_tasks(backend, monkeypatch):
    """Dask gives none to a worker that holds nothing that is needed, while others have room."""
    monkeypatch.setattr(dask_cluster, "LOOK", 0.05)
    with threads(1) as (_, client):
        tasks = dask_cluster.DaskExecutor(apart(backend, small(), 2), False)
        with tasks:
            [before] = (worker.address for worker in tasks.workers())
            block = tasks.submit("merge", bytes, 2**20)

            def submitted():
                for number in range(150):
                    if number == 20:
                        client.cluster.scale(2)
                        client.wait_for_workers(2, timeout=SOON)
                    yield number, tasks.submit("count", nap, block, number)

            at = [task.result() for _, task in tasks.as_completed(submitted(), 2, 150)]
    assert len(at) == 150
    assert at.count(before) < 110  # those of before it joined are 20


# What a call that fails leaves --------------------------------------------------------------------


def fail():
    raise MemoryError("planted")


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture
def interruptible():
    """Ctrl-C is heard, though a shell that runs the tests in the background has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


CALLS = {"count": tc.count, "annotate": lambda edges: tc.annotate(edges, "triangles")}


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("act, error", [(fail, MemoryError), (interrupt, KeyboardInterrupt)])
def test_a_call_that_fails_leaves_the_client_as_it_was(backend, monkeypatch, act, error, name):
    """The first task of a stage fails, or has the caller interrupted, while others go on."""
    real, acts = degree_codes.codes, [act]

    def codes(*args):
        acts.pop()() if acts else time.sleep(0.3)
        return real(*args)

    with threads() as (scheduler, client):
        edges, other = (client.persist(apart(backend, small(), 6)) for _ in range(2))
        value = client.submit(str, 7, pure=False)
        client.gather([value, *futures_of([edges, other])])
        before = set(scheduler.tasks)
        monkeypatch.setattr(degree_codes, "codes", codes)
        with pytest.raises(error) as kept:
            CALLS[name](edges)
        until = time.monotonic() + SOON
        while set(scheduler.tasks) != before and time.monotonic() < until:
            time.sleep(0.05)
        assert set(scheduler.tasks) == before
        assert kept.tb is not None  # which names what the call had
        assert client.id in scheduler.clients
        assert value.result() == "7"
        assert len(edges) == len(other) == len(small())
        assert tc.count(edges) == tc.count(other) == 1


def test_a_cluster_that_closes_meanwhile_is_told_at_once(backend, monkeypatch):
    """It waits for its workers first, and they for their tasks."""
    with threads() as (_, client):
        monkeypatch.setattr(client.cluster, "status", Status.closing)
        try:
            with pytest.raises(tc.KernelError, match=r"(?s)cluster, is closing.*Client"):
                tc.count(apart(backend, small(), 2))
        finally:
            monkeypatch.undo()


# Answers ------------------------------------------------------------------------------------------


def test_another_client_may_ask_for_an_answer_at_once(client, backend):
    with Client(client.scheduler.address, set_as_default=False) as second:
        edges = second.persist(apart(backend, small(), 6))
        for _ in range(5):
            found = tc.annotate(edges, "triangles")
            assert len(client.compute(found).result()) == len(small())


def test_no_call_changes_what_other_threads_have_configured(client, backend, monkeypatch):
    """What is set for a while in two threads may stay as the first has set it."""
    edges, changed = apart(backend, small(), 2), []
    real = dask.config.set.__init__

    def told(self, arg=None, *args, **options):
        changed.extend({**(arg or {}), **options})
        real(self, arg, *args, **options)

    monkeypatch.setattr(dask.config.set, "__init__", told)
    tc.annotate(edges, "triangles")
    tc.vertex_triangles(edges)
    assert "dataframe.convert-string" not in changed


def unseeded(_, library):
    rng = np.random.default_rng()
    rows = rng.integers(0, 30, (2, int(rng.integers(90, 120))))
    return library.from_pandas(pd.DataFrame({"src": rows[0], "dst": rows[1]}))


@pytest.mark.pandas_only
@pytest.mark.parametrize("stage", ["profile", "number", "order", "count", "columns"])
def test_a_frame_that_differs_when_it_is_computed_again(backend, stage):
    """Every value is that of the rows that came back, or the call ends with an error."""
    meta = pd.DataFrame({"src": [0], "dst": [0]}).iloc[:0]
    edges = dd.from_map(unseeded, range(6), library=backend, meta=meta)
    with threads() as (scheduler, _):
        lost = at(scheduler, f"rapids_tc-{stage}-", "memory", losing(scheduler))
        try:
            rows = tc.annotate(edges, "triangles").compute()
        except tc.KernelError as error:
            assert "changed during the call" in str(error)
        else:
            right = reference.edge_triangles(rows_of(rows))
            ends = zip(rows["src"], rows["dst"], strict=True)
            assert [right.get((min(e), max(e)), 0) for e in ends] == rows["triangles"].tolist()
        assert lost.is_set()
