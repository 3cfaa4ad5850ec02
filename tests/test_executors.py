"""Executors: a third one, of threads, answers whatever Dask's answers, in under 60 lines."""

import inspect
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

import every_path
import pandas as pd
import pytest
from every_path import CALLS, FRAME, IDS, NAMES
from needs import need_module

import rapids_tc as tc
from rapids_tc.executors import registry
from rapids_tc.executors.local import LocalExecutor, PartitionedFrame
from rapids_tc.executors.protocol import Batch, Executor
from rapids_tc.plan.layout import Layout, use_layout
from rapids_tc.plan.record import ANALYTICS

pytestmark = pytest.mark.cpu_only


@dataclass(frozen=True)
class ThreadedFrame(PartitionedFrame):
    """A frame in partitions that threads work on."""


# An executor --------------------------------------------------------------------------------------


def settled(value):
    """A value in which every task is its result."""
    if isinstance(value, Future):
        return value.result()
    if isinstance(value, list | tuple):
        return type(value)(settled(one) for one in value)
    if isinstance(value, dict):
        return {name: settled(one) for name, one in value.items()}
    return value


class Threads(LocalExecutor):
    """Runs each task in a thread of its own, which waits for the tasks that it needs."""

    kind = "ThreadedFrame"

    def __enter__(self):
        self.pool = ThreadPoolExecutor(1000)
        return self

    def __exit__(self, *_):
        self.pool.shutdown()

    def submit(self, stage, function, *args, on=None, first=False):
        return self.pool.submit(lambda: function(*settled(args)))

    def gather(self, tasks):
        return settled(tasks)

    def as_completed(self, tasks, at_once, total):
        for name, task in tasks:
            settled(task)
            yield name, task

    def to_frame(self, parts, meta, lengths):
        return ThreadedFrame(settled(parts))


# What it answers ----------------------------------------------------------------------------------


@contextmanager
def registered(kind, executor):
    """The executor serves frames of that class within."""

    def load():
        return executor

    registry.register_executor(lambda edges: isinstance(edges, kind), load)
    try:
        yield
    finally:
        registry.unregister_executor(load)


@pytest.fixture
def threaded():
    """The executor is there in a test."""
    with registered(ThreadedFrame, Threads):
        yield lambda frame: ThreadedFrame([frame.iloc[at::5] for at in range(5)])


def test_it_is_short():
    lines = inspect.getsource(settled), inspect.getsource(Threads)
    assert sum(len(text.splitlines()) for text in lines) < 60


@pytest.mark.parametrize("layout", [None, Layout(2, 2, peel_below=20)], ids=["one block", "blocks"])
def test_threads_answer_what_a_cluster_answers(threaded, layout):
    answered = 0
    for (name, own), shown in zip(CALLS, NAMES, strict=True):
        if ANALYTICS[name].local(own, Threads.kind) is None:
            frame = ThreadedFrame([FRAME.iloc[a : a + 20] for a in range(0, len(FRAME), 20)])
            own = dict(own)
            columns = own.pop("columns", ())
            with use_layout(layout) if layout else nullcontext():
                found = ANALYTICS[name].call(frame, *columns, **own, **IDS)
            own |= {"columns": columns} if columns else {}
            try:
                every_path.assert_right(name, own, found)
            except AssertionError as error:
                error.add_note(shown)
                raise
            answered += 1
    assert answered > 15


def test_what_is_not_answered_names_the_kind_of_frame(threaded):
    with pytest.raises(TypeError, match=r"a ThreadedFrame, .*annotate\(edges, \"triangles\"\)"):
        tc.edge_triangles(threaded(FRAME), **IDS)
    with pytest.raises(tc.ColumnNotFoundError, match="'nothing'"):
        tc.count(threaded(FRAME), source="nothing", destination="dst")


@pytest.mark.parametrize("executor", [LocalExecutor, Threads])
def test_executors_have_the_whole_protocol(executor):
    public = [name for name in vars(Executor) if not name.startswith("_")]
    assert [name for name in public if not hasattr(executor, name)] == []
    for name in public:
        if callable(asked := getattr(Executor, name)):
            assert list(inspect.signature(asked).parameters) == list(
                inspect.signature(getattr(executor, name)).parameters
            )


def test_daskexecutor_has_the_whole_protocol():
    dask = need_module("rapids_tc.executors.dask_cluster")
    test_executors_have_the_whole_protocol(dask.DaskExecutor)


@pytest.mark.parametrize("partitions", [[], (), FRAME, [1], None])
def test_a_partitioned_frame_has_partitions(partitions):
    with pytest.raises((TypeError, ValueError), match=r"partitions.*at least one|list of"):
        PartitionedFrame(partitions)


def test_columns_that_a_call_does_not_read_may_differ():
    """As in a Dask DataFrame, whose partitions need not fit its meta."""
    first = pd.DataFrame({"src": [0, 1], "dst": [1, 2], "note": "mine"})
    second = pd.DataFrame({"dst": [0, 3], "weight": 0.5, "src": [2, 2]})
    for partitions in ([first, second], [second, first]):
        assert tc.count(PartitionedFrame(partitions)) == 1


def test_progress_is_checked_for_every_executor():
    with pytest.raises(ValueError, match=r"progress='yes'"):
        tc.count(PartitionedFrame([FRAME]), progress="yes")


def test_a_wrong_option_is_told_before_the_way_round():
    """Else the advice names a column that nobody asked for."""
    with pytest.raises(ValueError, match=r"measure='nonsense'"):
        tc.similarity(PartitionedFrame([FRAME]), measure="nonsense")


# Tasks --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CountedFrame(PartitionedFrame):
    """A frame whose executor counts its tasks."""


class Counted(LocalExecutor):
    """Counts its tasks; each partition is a batch, and every worker has many."""

    tasks = 0

    def batches(self, partitions, workers, limit):
        return [
            Batch(workers[place % len(workers)].address, [place], [partition])
            for place, partition in enumerate(partitions)
        ]

    def submit(self, stage, function, *args, on=None, first=False):
        type(self).tasks += 1
        return function(*args)


def test_many_batches_and_blocks_take_few_tasks():
    """A task per batch and block would be 16,384 alone."""
    Counted.tasks, frame = 0, tc.datasets.rmat(9)
    whole = tc.count(frame)
    with registered(CountedFrame, Counted), use_layout(Layout(n=8)):
        assert tc.count(CountedFrame([frame.iloc[at::256] for at in range(256)])) == whole
    assert 8**3 + 2 * 256 < Counted.tasks < 3_000
