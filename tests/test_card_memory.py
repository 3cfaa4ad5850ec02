"""Where the memory of calls on a real card comes from, and that nothing of the user's changes."""

import gc
import os
import threading
from contextlib import contextmanager
from functools import partial

import numpy as np
import pandas as pd
import pytest
from every_path import CALLS, FRAME, IDS, names_vertices

import rapids_tc as tc
from rapids_tc import datasets
from rapids_tc.frames import device_memory
from rapids_tc.frames.adapters import CudfAdapter
from rapids_tc.plan.record import ANALYTICS

pytestmark = pytest.mark.card_only
MB = 1 << 20


@contextmanager
def memory(make=None):
    """Let RMM take memory from a resource, the plain one if None, and CuPy from RMM."""
    import cupy
    import rmm
    from rmm.allocators.cupy import rmm_cupy_allocator

    resource, allocator = rmm.mr.get_current_device_resource(), cupy.cuda.get_allocator()
    chosen = rmm.mr.CudaMemoryResource()
    chosen = make(rmm.mr, chosen) if make else chosen
    rmm.mr.set_current_device_resource(chosen)
    cupy.cuda.set_allocator(rmm_cupy_allocator)
    try:
        yield
        gc.collect()
        assert rmm.mr.get_current_device_resource() is chosen
        assert cupy.cuda.get_allocator() is rmm_cupy_allocator
    finally:
        gc.collect()
        rmm.mr.set_current_device_resource(resource)
        cupy.cuda.set_allocator(allocator)


@pytest.fixture
def plain():
    with memory():
        tc.count(datasets.karate(library="cudf"))  # makes the pool
        yield device_memory._pools[0]
        tc.release_memory()


def used(pool, name="Current"):
    """The bytes of the pool that arrays have, or had at most since `start`."""
    from cupy.cuda import runtime

    attribute = getattr(runtime, f"cudaMemPoolAttrUsedMem{name}")
    return runtime.memPoolGetAttribute(pool.handle, attribute)


def start(pool):
    """Forget how much of the pool arrays had at most."""
    from cupy.cuda import runtime

    runtime.memPoolSetAttribute(pool.handle, runtime.cudaMemPoolAttrUsedMemHigh, 0)


def pointers(column):
    """Where a column of pylibcudf lies, with all that is inside it."""
    if column.data() is not None and column.size():
        yield column.data().ptr
    for child in column.children():
        yield from pointers(child)


def in_the_pool(answer, pool):
    """The columns of an answer that lie in the pool."""
    from cuda.bindings import driver

    attribute = driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE
    frame = answer.to_frame() if getattr(answer, "ndim", 2) == 1 else answer
    found = []
    for name, column in zip(frame.columns, frame.to_pylibcudf()[0].columns(), strict=True):
        for pointer in pointers(column):
            error, handle = driver.cuPointerGetAttribute(attribute, pointer)
            assert error == driver.CUresult.CUDA_SUCCESS
            found += [name] * (int(handle or 0) == pool.handle)
    return found


def answers(name, own, edges):
    """The frames, columns or values that a call returns."""
    own = dict(own)
    named = own.pop("columns", ())
    found = ANALYTICS[name].call(edges, *named, **own, **IDS)
    return list(found) if ANALYTICS[name].by_frames else [found]


def on_host(answer):
    return answer.to_pandas() if hasattr(answer, "to_pandas") else answer


def same(one, other):
    one, other = on_host(one), on_host(other)
    if isinstance(one, pd.DataFrame):
        pd.testing.assert_frame_equal(one, other)
    elif isinstance(one, pd.Series):
        pd.testing.assert_series_equal(one, other)
    else:
        assert one == other or (one != one and other != other)


def spoil(pool):
    """Leave bytes of no use in the memory that the pool keeps."""
    import cupy

    with cupy.cuda.using_allocator(pool.allocate):
        for size in (64 * MB, MB, 4096):
            cupy.full(size, 0xA5, "uint8")


@pytest.mark.parametrize("name", [*ANALYTICS])
def test_no_answer_lies_in_the_pool(name, plain):
    import cudf

    edges = cudf.from_pandas(FRAME)
    text = edges.assign(src=edges["src"].astype("str"), dst=edges["dst"].astype("str"))
    for own in [own for called, own in CALLS if called == name]:
        spoil(plain)
        start(plain)
        found = answers(name, own, edges)
        assert used(plain, "High")
        with memory(lambda mr, base: mr.CudaAsyncMemoryResource()):
            start(plain)
            expected = answers(name, own, edges)
            assert used(plain, "High") == 0
        for one, other in zip(found, expected, strict=True):
            same(one, other)
            if hasattr(one, "to_pylibcudf"):
                assert not in_the_pool(one, plain)
        if own.get("pairs") is None and not names_vertices(own):
            for one in answers(name, own, text):
                assert not hasattr(one, "to_pylibcudf") or not in_the_pool(one, plain)
    del found, expected
    gc.collect()
    assert used(plain) == 0


RESOURCES = {
    "pool": lambda mr, base: mr.PoolMemoryResource(base, initial_pool_size=256 * MB),
    "async": lambda mr, base: mr.CudaAsyncMemoryResource(),
    "managed": lambda mr, base: mr.ManagedMemoryResource(),
    "statistics": lambda mr, base: mr.StatisticsResourceAdaptor(base),
    "logging": lambda mr, base: mr.LoggingResourceAdaptor(base, log_file_name="/dev/null"),
    "limiting": lambda mr, base: mr.LimitingResourceAdaptor(base, 4096 * MB),
}


@pytest.mark.parametrize("resource", RESOURCES)
def test_a_resource_that_the_user_has_chosen_is_used(resource, plain):
    edges = datasets.rmat(14, library="cudf")
    calls = tc.count, tc.edge_triangles, tc.vertex_triangles, tc.trussness
    expected = [call(edges) for call in calls]
    with memory(RESOURCES[resource]):
        start(plain)
        for call, right in zip(calls, expected, strict=True):
            same(call(edges), right)
        assert used(plain, "High") == 0


def test_an_allocator_of_cupy_that_the_user_has_chosen_is_used(plain):
    import cupy

    edges = datasets.rmat(12, library="cudf")
    expected = tc.count(edges)
    pool = cupy.cuda.MemoryPool()
    start(plain)
    with cupy.cuda.using_allocator(pool.malloc):
        assert tc.count(edges) == expected
    assert used(plain, "High") == 0 and pool.total_bytes()
    pool.free_all_blocks()


def test_settings_stay_after_errors_and_between_frames(plain):
    import cupy
    import rmm
    from rmm.allocators.cupy import rmm_cupy_allocator

    def unchanged():
        assert cupy.cuda.get_allocator() is rmm_cupy_allocator
        assert type(rmm.mr.get_current_device_resource()) is rmm.mr.CudaMemoryResource
        return True

    edges = datasets.rmat(10, library="cudf")
    with pytest.raises(tc.ColumnNotFoundError):
        tc.count(edges, source="no", destination="dst")
    assert unchanged()
    frames = []
    for frame in tc.iter_triangles(edges, max_rows=5000):
        frames.append(frame.to_pandas())
        assert unchanged() and not in_the_pool(frame, plain)
        assert cupy.ones(1 << 20).sum() == 1 << 20  # the user's own work
    listed = pd.concat(frames).sort_values(["u", "v", "w"], ignore_index=True)  # each frame is
    pd.testing.assert_frame_equal(listed, tc.list_triangles(edges).to_pandas())
    for frame in tc.iter_project(edges, max_rows=5000):
        assert unchanged() and not in_the_pool(frame, plain)


def test_answers_outlive_the_pool(plain):
    edges = datasets.rmat(14, library="cudf")
    kept = [tc.annotate(edges, "triangles", "trussness"), tc.vertex_triangles(edges)]
    copies = [on_host(frame) for frame in kept]
    graph = tc.Graph(edges)
    truss = graph.trussness()
    delta = graph.update(delete=edges.head(100))
    assert used(plain)  # by the graph, and by what the delta is made of
    spoil(plain)  # takes pages without an array of the graph, which alone can be given back
    assert tc.release_memory() > 0 and device_memory.idle(0) < 64 * MB
    for scale in (13, 15):
        tc.edge_triangles(datasets.rmat(scale, library="cudf"))  # writes over what was freed
    spoil(plain)
    for frame, copy in zip(kept, copies, strict=True):
        pd.testing.assert_frame_equal(on_host(frame), copy)
    same(truss, tc.trussness(edges))
    after = tc.edge_triangles(edges.iloc[:0])
    assert len(after) == 0 and not in_the_pool(delta.edges, plain)
    assert graph.count() == tc.count(graph._prepared.user_frame)
    del graph, delta
    gc.collect()
    assert used(plain) == 0
    tc.release_memory()
    assert device_memory.idle(0) == 0


def test_threads_with_streams_of_their_own(plain):
    import cupy

    frames = [datasets.rmat(scale, library="cudf") for scale in (10, 13, 14, 15)]
    expected = [(tc.count(frame), int(tc.edge_triangles(frame).sum())) for frame in frames]
    wrong = []

    def work(number):
        stream = cupy.cuda.Stream(non_blocking=True)
        with stream:
            for _ in range(15):
                graph = tc.Graph(frames[number].to_pandas(), engine="cuda") if number else None
                total = graph.count() if graph else tc.count(frames[number])
                by_edge = tc.edge_triangles(frames[number]).values.sum()
                if (total, int(by_edge)) != expected[number]:
                    wrong.append((number, total, int(by_edge)))

    threads = [threading.Thread(target=work, args=(k,)) for k in (0, 1, 2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_two_devices_have_a_pool_each(plain):
    import cupy

    if cupy.cuda.runtime.getDeviceCount() < 2:
        pytest.skip("one card")
    edges = datasets.rmat(14, library="cudf")
    with cupy.cuda.Device(1), memory():
        other = datasets.rmat(14, library="cudf")
        same(tc.edge_triangles(other), tc.edge_triangles(edges))
        assert device_memory._pools[1].handle != plain.handle
        answer = tc.edge_triangles(other)
        assert not in_the_pool(answer, device_memory._pools[1])
    assert device_memory.idle(1) and tc.release_memory()
    assert device_memory.idle(1) == 0


@contextmanager
def all_but(free):
    """Take all memory of the card but so many bytes."""
    import cupy

    tc.release_memory()
    left = cupy.cuda.Device().mem_info[0]
    taken = []
    step = 1 << 30
    while step >= MB:
        while left - step > free:
            taken.append(cupy.cuda.Memory(step))
            left = cupy.cuda.Device().mem_info[0]
        step //= 4
    try:
        yield
    finally:
        taken.clear()


@pytest.mark.skipif(
    "PYTEST_XDIST_WORKER" in os.environ, reason="fills the card, which no other test may use: -n0"
)
def test_what_is_kept_is_given_back_where_memory_is_short(plain):
    import cupy

    small, large = (datasets.rmat(scale, library="cudf") for scale in (16, 20))
    expected = tc.count(small), tc.edge_triangles(large)
    need = max(tc.memory_estimate(large, function="edge_triangles").values())
    with all_but(need + 512 * MB):
        same(tc.edge_triangles(large), expected[1])
        kept = device_memory.idle(0)
        assert kept > 256 * MB
        rest = cupy.cuda.Memory(max(cupy.cuda.Device().mem_info[0] - 64 * MB, MB))
        assert tc.count(small) == expected[0]
        same(tc.edge_triangles(large), expected[1])  # its answer is the user's
        del rest
    with all_but(96 * MB):
        with pytest.raises(tc.CapacityError, match="bytes"):
            tc.edge_triangles(large, memory_limit=2**40)
        assert tc.count(small) == expected[0]


@pytest.mark.parametrize("function", ["count", "edge_triangles", "vertex_triangles", "trussness"])
def test_a_call_takes_no_more_of_the_pool_than_its_estimate(function, plain):
    edges = datasets.rmat(18, library="cudf")
    estimate = max(tc.memory_estimate(edges, function=function).values())
    getattr(tc, function)(edges)
    start(plain)
    getattr(tc, function)(edges)
    print(function, used(plain, "High") / len(edges), estimate / len(edges))
    assert used(plain, "High") <= estimate


def test_blocks_in_the_pool_are_within_the_limit(plain):
    edges = datasets.rmat(18, library="cudf")
    expected = tc.vertex_triangles(edges)
    limit = max(tc.memory_estimate(edges, function="vertex_triangles").values()) // 3
    tc.release_memory()
    start(plain)
    same(tc.vertex_triangles(edges, memory_limit=limit), expected)
    print(used(plain, "High"), limit)
    assert used(plain, "High") <= 1.1 * limit


def test_frames_of_the_host(plain):
    edges = datasets.rmat(12)
    right = tc.edge_triangles(edges, engine="cpu")
    start(plain)
    pd.testing.assert_series_equal(tc.edge_triangles(edges, engine="cuda"), right)
    assert used(plain, "High")
    sums = [len(part) for part in tc.iter_triangles(edges, max_rows=10**5, engine="cuda")]
    assert np.sum(sums) == tc.count(edges)
    call = partial(tc.count, edges, engine="cuda", memory_limit=2**20)
    assert call() == tc.count(edges)


def test_columns_are_read_without_a_series():
    import cudf

    values = pd.DataFrame({"src": np.arange(5, dtype="int32"), "dst": [1.0, 2, 3, 4, 5]})
    frame, read = cudf.from_pandas(values), CudfAdapter().plain_integers
    found = read(frame, "src")
    assert found.data.ptr == frame["src"].values.data.ptr and found.tolist() == [0, 1, 2, 3, 4]
    assert read(frame.iloc[2:4], "src").tolist() == [2, 3]
    assert read(frame, "dst") is None
    frame["missing"] = frame["src"].where(frame["src"] > 2)
    frame["text"] = frame["src"].astype("str")
    frame["kind"] = frame["src"].astype("category")
    assert [read(frame, label) for label in ("missing", "text", "kind")] == [None] * 3
