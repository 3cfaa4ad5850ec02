"""Executors: a third one, of threads, answers whatever Dask's answers, in under 60 lines."""

import inspect
import weakref
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

import every_path
import numpy as np
import pandas as pd
import pytest
from every_path import FRAME, IDS
from needs import need_module

import rapids_tc as tc
from rapids_tc import testing
from rapids_tc.engines import registry as registry_of_engines
from rapids_tc.engines.gpu.cuda import CudaEngine
from rapids_tc.executors import registry
from rapids_tc.executors.local import LocalExecutor, PartitionedFrame
from rapids_tc.executors.protocol import Batch, Executor
from rapids_tc.executors.spill import SpillExecutor
from rapids_tc.plan.block_layout import BlockLayout, use_layout
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


@pytest.mark.parametrize(
    ("way", "layout"), [*enumerate((None, BlockLayout(2, 2, peel_below=20)))], ids=["one", "blocks"]
)
def test_threads_answer_what_a_cluster_answers(threaded, way, layout):
    answered = 0
    for (name, own), shown in every_path.share(way, 2):
        if ANALYTICS[name].local(own, Threads.kind) is None:
            refusal = every_path.in_blocks(name, own, layout)
            frame = ThreadedFrame([FRAME.iloc[a : a + 20] for a in range(0, len(FRAME), 20)])
            own = dict(own)
            columns = own.pop("columns", ())
            with use_layout(layout) if layout else nullcontext():
                if refusal is not None:
                    with pytest.raises(type(refusal)) as caught:
                        ANALYTICS[name].call(frame, *columns, **own, **IDS)
                    assert str(caught.value) == str(refusal)
                    continue
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
    with registered(CountedFrame, Counted), use_layout(BlockLayout(n=8)):
        assert tc.count(CountedFrame([frame.iloc[at::256] for at in range(256)])) == whole
    assert 8**3 + 2 * 256 < Counted.tasks < 3_000


# Out of memory ------------------------------------------------------------------------------------


@pytest.fixture(params=["cpu", "cuda"])
def spilling(request):
    engine = registry_of_engines.load("cpu")
    if request.param == "cuda":
        engine = CudaEngine(xp=np, compile=testing.compile)
    return SpillExecutor(engine.block_store(), np.ndarray)


def test_what_a_task_returns_is_out_of_memory_until_it_is_asked_for(spilling):
    shapes = (0, 5, (2, 3))
    pair = spilling.submit("stage", lambda: ([np.ones(s, "uint8") for s in shapes], "text"))
    alive = spilling.submit("stage", weakref.ref, np.arange(3))  # only while it ran
    assert spilling.gather(alive)() is None
    arrays, text = spilling.gather(pair)
    assert text == "text" and [(a.shape, a.dtype) for a in arrays] == [
        ((0,), "uint8"), ((5,), "uint8"), ((2, 3), "uint8"),
    ]  # fmt: skip
    assert all((array == 1).all() for array in arrays)
    total = spilling.submit("stage", lambda several: sum(map(np.sum, several)), pair[0])
    assert spilling.gather(total) == 11


def test_blocks_are_read_one_at_a_time(spilling):
    blocks = [spilling.submit("stage", lambda n: [np.full(9, n)], n) for n in range(4)]

    def ask(blocks):
        seen = []
        for block in blocks:
            assert not any(array() is not None for array in seen)
            seen.append(weakref.ref(block[0]))
            assert len(block) == 1 and len(blocks) == 4 and len(blocks[1:]) == 3
            del block
        return len(seen)

    assert spilling.submit("stage", ask, blocks) == 4


def test_what_is_given_twice_is_read_once(spilling):
    block = spilling.submit("stage", lambda: [np.arange(9)])
    assert spilling.submit("stage", lambda three: three[0] is three[2], [block] * 3)


def test_a_place_is_taken_again_once_nobody_has_its_array(spilling):
    kept = spilling.submit("stage", np.arange, 1000)
    for size in (1000, 700, 1000):
        task = spilling.submit("stage", np.zeros, size)
        place = task.stored
        assert (spilling.gather(task) == np.zeros(size)).all()
        del task
    again = spilling.submit("stage", np.ones, 1000)
    if hasattr(place, "at"):
        assert again.stored.at == place.at
    else:
        assert np.shares_memory(again.stored, place)
    assert (spilling.gather(kept) == np.arange(1000)).all()
    assert (spilling.gather(again) == 1).all()


def test_a_place_where_nothing_was_stored_is_not_given_to_others():
    class Full:
        def store(self, array, place):
            raise OSError("no room")

    executor = SpillExecutor(Full(), np.ndarray)
    with pytest.raises(OSError, match="no room"):
        executor.keep(np.arange(100))
    assert executor.free_place(800) == (800, None)
