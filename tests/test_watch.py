"""What a call does while it waits for a cluster: made-up workers, on a clock of its own."""

import logging
import re
from types import SimpleNamespace

import pytest

import rapids_tc as tc
from rapids_tc.executors import waiting, watch
from rapids_tc.executors.protocol import Worker as Named
from rapids_tc.executors.waiting import AT_ONCE, Joined

pytestmark = pytest.mark.cpu_only


class Told:
    """Stands in for a client: of workers that tell the same every second.

    `workers` are by address the counts of tasks that each tells, or told before it was silent, how
    many tasks it was given, and when its last heartbeat was (None: it goes on).
    """

    status, cluster, now = "running", None, 0.0

    def __init__(self, **workers):
        self.workers, self.nudged = workers, []

    def monotonic(self):
        return self.now

    def scheduler_info(self, n_workers):
        return {
            "workers": {
                f"tcp://{name}": {
                    "status": "running",
                    "metrics": {"task_counts": counts},
                    "last_seen": self.now if last is None else min(last, self.now),
                }
                for name, (counts, _, last) in self.workers.items()
            }
        }

    def processing(self):
        return {f"tcp://{name}": ["a task"] * own[1] for name, own in self.workers.items()}

    def submit(self, *_, workers, **__):
        self.nudged.append(workers)


@pytest.fixture
def waited(monkeypatch, caplog):
    """Wait with a client for so long, or until it is given up; when, why, and what was said."""

    def wait(client, seconds=600, each=lambda now: None, done=lambda now: 3):
        monkeypatch.setattr(watch.time, "monotonic", client.monotonic)
        eye, said = watch.Watch(client), []
        with caplog.at_level(logging.WARNING, "rapids_tc"):
            while client.now < seconds:
                each(client.now)
                caplog.clear()
                try:
                    eye.check(done(client.now), 4)
                except tc.KernelError as error:
                    return client.now, str(error), said
                said += [(client.now, record.getMessage()) for record in caplog.records]
                client.now += 1
        return None, "", said

    return wait


IDLE = ({}, 0, None)
STANDS = {  # what worker "a" tells beside an idle one, and when the call is given up
    "computes": (({"executing": 1}, 1, None), None),
    "fetches": (({"flight": 3, "waiting": 1}, 1, None), None),
    "computes for a call that has failed": (({"cancelled": 1, "ready": 2}, 2, None), None),
    "has nothing to do, and is silent": (({}, 0, 0), watch.STANDSTILL_LIMIT),
    "has nothing to do": (IDLE, watch.STANDSTILL_LIMIT),
    "waits for ever": (({"waiting": 2}, 2, None), watch.STANDSTILL_LIMIT),
    "waits itself, as a call in a task": (({"long-running": 1}, 1, None), watch.STANDSTILL_LIMIT),
    "is silent, and may compute": (({"executing": 1}, 1, 0), watch.SILENT_LIMIT),
    "is silent, and was given a task": (({}, 1, 0), watch.SILENT_LIMIT),
}


@pytest.mark.parametrize("case", STANDS)
def test_what_is_a_standstill(waited, case):
    worker, limit = STANDS[case]
    client = Told(a=worker, b=IDLE)
    ended, told, said = waited(client)
    if limit is None:
        assert (ended, said, client.nudged) == (None, [], [])
        return
    assert limit <= ended <= limit + 3
    assert "3 of 4 tasks" in told and "call again" in told
    assert [at for at, _ in said] == [pytest.approx(watch.SPEAK_AFTER, abs=3)]
    left = re.search(r"waits for (\d+) seconds more", said[0][1])
    assert int(left[1]) == pytest.approx(limit - watch.SPEAK_AFTER, abs=3)
    silent = worker[2] is not None
    assert ("no sign of life of tcp://a for" in told) == silent
    assert ("no sign of life of tcp://a for" in said[0][1]) == silent
    assert client.nudged and all(("tcp://a" in asked) != silent for asked in client.nudged[12:])


def test_what_others_fetch_of_a_silent_worker_is_no_movement(waited):
    """One is stopped and holds what the other wants: that one says "flight" until Dask gives up."""
    ended, told, said = waited(Told(a=({"executing": 1}, 1, 0), b=({"flight": 2}, 3, None)))
    assert ended <= watch.SILENT_LIMIT + 3
    assert "tcp://a" in told and "tcp://b" not in told
    at, text = said[0]
    assert at <= watch.SPEAK_AFTER + 3
    assert "tcp://a" in text and "Let it go on, or end the process" in text


def test_silence_is_of_all_waits_of_a_call(monkeypatch, caplog):
    """Other tasks end meanwhile, and the call waits for the next ones."""
    client, beats, said = Told(a=({"executing": 1}, 1, 0), b=IDLE), {}, []
    monkeypatch.setattr(watch.time, "monotonic", client.monotonic)
    with pytest.raises(tc.KernelError, match=r"of tcp://a for 12[1-7] seconds"):
        while client.now < 600:
            if client.now % 25 == 0:
                eye = watch.Watch(client, beats)
            caplog.clear()
            eye.check(3, 4)
            said += [(client.now, record.getMessage()) for record in caplog.records]
            client.now += 1
    assert [at for at, _ in said] == [pytest.approx(watch.SPEAK_AFTER, abs=3)]


def test_a_silent_worker_that_goes_on_is_waited_for(waited):
    client = Told(a=({"executing": 1}, 1, 0), b=IDLE)

    def goes_on(now):
        if now == 100:
            client.workers["a"] = ({"executing": 1}, 1, None)

    ended, _, said = waited(client, 400, goes_on)
    assert ended is None and len(said) == 1


def test_others_at_work_are_movement_while_one_is_silent(waited):
    ended, _, said = waited(Told(a=({}, 1, 0), b=({"executing": 1}, 1, None)))
    assert ended is None and said == []


def test_a_worker_that_leaves_is_told_while_others_ask_it(waited):
    client = Told(a=IDLE, b=({"flight": 2}, 3, None))

    def leaves(now):
        if now == 10:
            del client.workers["a"]

    ended, _, said = waited(client, 60, leaves)
    assert ended is None
    [(at, text)] = said
    assert 10 <= at <= 10 + watch.TELL_LOST_AFTER + 1
    assert text.startswith("tcp://a left the cluster") and watch.TIMEOUT in text
    assert "for up to 30s" in text


@pytest.mark.parametrize("b", [({"executing": 1}, 1, None), ({"flight": 2}, 3, None)])
def test_a_worker_that_leaves_is_not_told_if_nobody_waits_for_it(waited, b):
    """The call goes on, or nobody fetches."""
    client = Told(a=IDLE, b=b)
    ended, _, said = waited(
        client, 60, lambda now: client.workers.pop("a", None) if now == 10 else None,
        done=lambda now: 3 if "executing" in b[0] else now,
    )  # fmt: skip
    assert (ended, said) == (None, [])


# What went wrong ----------------------------------------------------------------------------------


def cancelled(status):
    client = SimpleNamespace(status=status, cluster=None)
    with pytest.raises(tc.KernelError) as caught:
        waiting.require_done(client, [SimpleNamespace(status="cancelled", key="rapids_tc-sum-1")])
    return str(caught.value)


def test_a_scheduler_that_has_ended_is_not_taken_for_a_partition():
    """Dask cancels all tasks of a client that has lost its scheduler."""
    assert "the scheduler of the cluster has ended" in cancelled("connecting")
    assert "is closed" in cancelled("closed")
    assert "the cluster lost rapids_tc-sum-1: a partition" in cancelled("running")


def test_a_task_that_failed_is_told_though_nobody_awaits_it(monkeypatch):
    """Dask may leave what depends on it waiting: the scheduler is asked for all of the call."""
    asked = []

    def status(function, keys):
        asked.extend(keys)
        return {"a": "memory", "b": "waiting", "c": "erred", "d": None}

    client = SimpleNamespace(scheduler=SimpleNamespace(get_task_status=None), sync=status)

    class Failed:
        status = "pending"

        def __init__(self, key, of):
            assert (key, of) == ("c", client)

        def exception(self, timeout):
            self.status = "error"

        def result(self):
            raise tc.KernelError("partition 3 changed")

    monkeypatch.setattr(waiting, "_Future", Failed)
    with pytest.raises(tc.KernelError, match="partition 3 changed"):
        waiting.require_none_failed(client, ["a", "b", "c", "d"])
    assert asked == ["a", "b", "c", "d"]


# Workers that join --------------------------------------------------------------------------------


class Pending:
    done = False


def test_only_those_that_join_after_the_first_look_get_tasks():
    joined = Joined(lambda task: task.done)
    joined.look([Named("old", 2, 0)])
    assert (joined.room, joined.place()) == (0, None)
    joined.look([Named("old", 2, 0), Named("new", 3, 0)])
    assert joined.room == AT_ONCE * 3
    tasks = [Pending() for _ in range(AT_ONCE * 3)]
    for task in tasks:
        assert joined.place() == "new"
        joined.gave("new", task)
    assert joined.place() is None
    tasks[2].done = True
    assert joined.place() == "new"
    joined.look([Named("old", 2, 0)])  # it has left again
    assert (joined.room, joined.place()) == (0, None)


# Memory -------------------------------------------------------------------------------------------

MEBI = 1 << 20


@pytest.mark.parametrize(
    "limit, left",
    [
        (0, 0),  # no limit
        (64 * MEBI, 4 * MEBI),
        (320 * MEBI, 20 * MEBI),
        (336 * MEBI, 21 * MEBI),
        (341 * MEBI, 341 * MEBI // 16),
        (342 * MEBI, 22 * MEBI),
        (1024 * MEBI, 704 * MEBI),
    ],
)
def test_a_worker_that_its_process_fills_has_some_memory_for_data(limit, left):
    """A plan of no bytes, or of less, would cut a graph without end."""
    [worker] = watch.described({"tcp://a": {"nthreads": 2, "memory_limit": limit}})
    assert (worker.address, worker.threads, worker.memory) == ("tcp://a", 2, left)
