"""The memory of a call on a GPU: told by a CuPy and an RMM that only look like them."""

import sys
import threading
from contextlib import contextmanager
from functools import partial, partialmethod
from types import SimpleNamespace as Fake

import numpy as np
import pandas as pd
import pytest
from needs import need_module

import rapids_tc as tc
from rapids_tc.engines.gpu.device_slots import free_memory
from rapids_tc.frames import device_memory
from rapids_tc.frames.device import on_device, place

FREE, TOTAL = 1000, 8000


class Library:
    """CuPy and RMM of one device, with what they were asked for."""

    def __init__(self):
        self.taken = []  # (whose memory, bytes)
        self.refused = 0  # so many of the next arrays of the pool find no memory
        self.held, self.used, self.trims, self.waits = 700, 100, [], 0
        self.of_thread = threading.local()
        self.allocator = self.plain = partial(self.take, "user")
        self.CudaMemoryResource = type("CudaMemoryResource", (), {})
        self.resource = self.CudaMemoryResource()
        self.pool = device_memory.DevicePool(0, 5, "resource of the pool")
        runtime = Fake(
            memPoolTrimTo=self.trim, memPoolGetAttribute=lambda pool, name: getattr(self, name),
            cudaMemPoolAttrReservedMemCurrent="held", cudaMemPoolAttrUsedMemCurrent="used",
            CUDARuntimeError=type("CUDARuntimeError", (Exception,), {}), getDeviceCount=lambda: 1,
        )  # fmt: skip
        stream = Fake(ptr=0, synchronize=self.wait)

        class Device:
            def __init__(self, number=0):
                self.id, self.mem_info = number, (FREE, TOTAL)

            def __enter__(self):
                return self

            def __exit__(self, *error):
                pass

            synchronize = staticmethod(self.wait)

        cuda = Fake(
            runtime=runtime, get_allocator=self.get, using_allocator=self.using,
            Device=Device, get_current_stream=lambda: stream, Stream=Fake(null=stream),
            UnownedMemory=lambda *given: given, MemoryPointer=lambda memory, offset: memory,
        )  # fmt: skip
        of_cupy = Fake(free_bytes=lambda: 20)
        self.cupy = Fake(cuda=cuda, get_default_memory_pool=lambda: of_cupy)
        self.rmm = Fake(
            mr=Fake(
                CudaMemoryResource=self.CudaMemoryResource,
                get_current_device_resource=lambda: self.resource,
            ),
            DeviceBuffer=self.buffer, pylibrmm=Fake(stream=Fake(Stream=lambda obj: obj)),
            allocators=Fake(cupy=Fake(rmm_cupy_allocator=self.plain)),
        )  # fmt: skip

    def get(self):
        return getattr(self.of_thread, "allocator", None) or self.allocator

    @contextmanager
    def using(self, allocator):
        before = getattr(self.of_thread, "allocator", None)
        self.of_thread.allocator = allocator
        try:
            yield
        finally:
            self.of_thread.allocator = before

    def wait(self):
        self.waits += 1

    def trim(self, pool, kept):
        assert (pool, kept) == (5, 0) and self.waits
        self.trims.append(self.held - self.used)
        self.held = self.used

    def take(self, whose, size):
        if self.refused:
            self.refused -= 1
            raise MemoryError("none left")
        self.taken.append((whose, size))
        return whose

    def buffer(self, size, stream, mr):
        assert mr == "resource of the pool"
        self.take("pool", size)
        return Fake(ptr=64)

    def made(self, size=1):
        """Whose memory an array of CuPy gets now."""
        before = len(self.taken)
        self.get()(size)
        return self.taken[before][0]


@pytest.fixture
def bare(monkeypatch):
    """The libraries in the place of the real ones, before a pool is made."""
    fake = Library()
    modules = {
        "cupy": fake.cupy, "rmm": fake.rmm, "rmm.allocators": fake.rmm.allocators,
        "rmm.allocators.cupy": fake.rmm.allocators.cupy,
    }  # fmt: skip
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(device_memory, "_pools", {})
    return fake


@pytest.fixture
def library(bare, monkeypatch):
    monkeypatch.setattr(device_memory, "_make_pool", lambda device: bare.pool)
    return bare


def test_a_call_takes_arrays_from_the_pool_and_leaves_all_settings(library):
    before = library.get(), library.resource
    with on_device(0):
        assert library.made() == "pool"
        seen = []
        other = threading.Thread(target=lambda: seen.append(library.made()))
        other.start()
        other.join()
        with on_device(0):  # such as a graph's own functions
            assert library.made() == "pool"
        assert library.made() == "pool" and seen == ["user"]
    assert library.made() == "user"
    with pytest.raises(KeyError), on_device(0):
        raise KeyError
    assert (library.get(), library.resource) == before and library.made() == "user"
    with on_device(0, pool=False):
        assert library.made() == "user"


@pytest.mark.parametrize("edges", [pd.DataFrame(), object()])
def test_edges_of_the_host_that_a_gpu_works_on_are_placed(library, edges):
    with place(edges):
        assert library.made() == "user"
    with place(edges, "cuda"):
        assert library.made() == "pool"

    def no_driver():
        raise library.cupy.cuda.runtime.CUDARuntimeError

    library.cupy.cuda.Device = no_driver
    with place(edges, "cuda"):  # the engine will say what is missing
        assert library.made() == "user"


def pool_of_rmm(library):
    library.resource = object()


def derived(library):
    library.resource = type("Mine", (library.CudaMemoryResource,), {})()


def pool_of_cupy(library):
    library.allocator = partial(library.take, "user")


def of_this_thread(library):
    library.of_thread.allocator = partial(library.take, "user")


def without_rmm(library):
    del sys.modules["rmm"]


def without_support(library):
    device_memory._make_pool = lambda device: None


@pytest.mark.parametrize(
    "chosen",
    [pool_of_rmm, derived, pool_of_cupy, of_this_thread, without_rmm, without_support],
)
def test_what_the_user_has_chosen_is_what_a_call_uses(library, chosen):
    chosen(library)
    with on_device(0):
        assert library.made() == "user"
        operation = lambda *given, **named: (given, named)  # noqa: E731
        assert device_memory.by_libcudf(operation, 1, 2) == ((1, 2), {})
        values = object()
        assert device_memory.for_user(values) is values
        assert device_memory.frame_for_user(values) is values
    assert tc.release_memory() == 0 and not library.trims


class Array:
    """An array of CuPy, of so many bytes."""

    __cuda_array_interface__ = "seen"

    def __init__(self, library, size):
        self.library, self.size = library, size

    def copy(self):
        self.library.get()(self.size)
        return Array(self.library, self.size)


def test_answers_lie_in_the_memory_of_the_user(library):
    values, numbers = Array(library, 9), np.arange(3)
    assert device_memory.for_user(values) is values  # outside of a call
    with on_device(0):
        copied = device_memory.for_user(values)
        assert copied is not values and library.taken == [("user", 9)]
        assert library.made() == "pool"
        assert device_memory.for_user(numbers) is numbers


@pytest.mark.parametrize(("rows", "copied"), [(3, ["frame"]), (1 << 17, ["id", "share"])])
def test_the_columns_of_a_large_answer_are_copied_one_by_one(library, monkeypatch, rows, copied):
    columns = {"id": np.arange(rows), "share": np.ones(rows), "label": ["text"] * rows}
    frame, copies = pd.DataFrame(columns), []

    def noted(self, *given, copy, **named):
        copies.append(getattr(self, "name", "frame"))
        return copy(self, *given, **named)

    for kind in (pd.Series, pd.DataFrame):
        monkeypatch.setattr(kind, "copy", partialmethod(noted, copy=kind.copy))
    with on_device(0):
        found = device_memory.frame_for_user(frame)
    assert copies[: len(copied)] == copied and "label" not in copies
    assert (found is frame) == (rows > 3)
    pd.testing.assert_frame_equal(found, pd.DataFrame(columns))


@pytest.mark.parametrize("step", ["array", "libcudf", "answer"])
def test_without_memory_the_pool_is_given_back_and_the_step_done_again(library, step):
    steps = {
        "array": library.made,
        "libcudf": partial(device_memory.by_libcudf, lambda mr: library.take(mr, 1)),
        "answer": lambda: device_memory.for_user(Array(library, 1)),
    }
    with on_device(0):
        library.refused = 1
        steps[step]()
        assert library.trims == [600] and len(library.taken) == 1
        library.refused = 1  # now nothing is kept, and the error is as it was
        with pytest.raises(MemoryError, match="none left"):
            steps[step]()
        assert len(library.taken) == 1
    library.held = 300
    with pytest.raises(MemoryError), on_device(0):
        raise MemoryError  # of whatever the call did
    assert library.held == library.used


def test_what_the_pool_keeps_is_free(library):
    assert free_memory(library.cupy, 0) == FREE + 20
    with on_device(0):
        assert free_memory(library.cupy, 0) == FREE + 20 + 600
    assert tc.release_memory() == 600 and tc.release_memory() == 0
    library.held = 150
    assert free_memory(library.cupy, 0) == FREE + 20 + 50
    library.resource = object()  # what a pool of the user's would lend is not known
    assert free_memory(library.cupy, 0) == TOTAL


@pytest.mark.parametrize(("text", "kept"), [("", 10), ("0", 0), ("123", 123)])
def test_the_bound_is_an_eighth_or_what_the_environment_says(monkeypatch, text, kept):
    monkeypatch.setenv(device_memory.BOUND, text)
    assert device_memory._bound(80) == kept


@pytest.mark.parametrize("fails", ["", "by the driver", "by the device", "by the user"])
def test_a_pool_is_made_once_with_its_bound(bare, monkeypatch, fails):
    runtime = need_module("cuda.bindings.runtime")
    bounds, places, of_cupy = [], [], bare.cupy.cuda.runtime
    of_cupy.cudaDevAttrMemoryPoolsSupported = "pools"
    of_cupy.deviceGetAttribute = lambda name, device: int(fails != "by the device")
    of_cupy.cudaMemPoolAttrReleaseThreshold = "bound"
    of_cupy.memPoolSetAttribute = lambda *given: bounds.append(given)
    bare.rmm.mr.CudaAsyncViewMemoryResource = lambda pool: ("resource", int(pool))

    def create(properties):
        places.append(properties.location.id)
        if fails:
            return runtime.cudaError_t.cudaErrorInsufficientDriver, None
        return runtime.cudaError_t.cudaSuccess, runtime.cudaMemPool_t(7)

    monkeypatch.setattr(runtime, "cudaMemPoolCreate", create)
    monkeypatch.setenv(device_memory.BOUND, "0" if fails == "by the user" else "")
    pools = [device_memory._pool(), device_memory._pool()]
    assert pools[0] is pools[1] and places == [0] * (fails in ("", "by the driver"))
    if fails:
        assert pools[0] is None and not bounds
    else:
        assert pools[0] == device_memory.DevicePool(0, 7, ("resource", 7))
        assert bounds == [(7, "bound", TOTAL // device_memory.SHARE)]
