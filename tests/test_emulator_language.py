"""What kernels may say on the emulator, and how it is called, from test to cache."""

import subprocess
import sys

import numpy as np
import pytest
from emulator_support import PLANTED, SEEDS, compiler, plain_only

from rapids_tc import testing
from rapids_tc.errors import KernelError

__all__ = ["compiler"]
pytestmark = pytest.mark.usefixtures("compiler")

NAMES = ("collectives", "diverged", "atomics", "arithmetic", "places", "shared_memory", "tickets")
NAMES += ("trap", "mixed_parameters", "order", "large<49152>", "large<49154>")
LANE = np.arange(32)


@pytest.fixture(scope="module")
def kernels(compiler):
    return testing.compile(testing.read(PLANTED / "language.cu"), NAMES)


@pytest.mark.parametrize("seed", SEEDS)
def test_collectives(kernels, seed):
    x = (LANE * 7 % 32 + 7).astype(np.uint32)
    out = np.zeros((19, 32), np.uint32)
    with testing.thread_order(seed):
        kernels["collectives"]((1,), (32,), (x, out))
    shifted = x - 40
    rows = [
        x[5],
        x[LANE // 8 * 8 + 5],
        x[np.where(LANE >= 3, LANE - 3, LANE)],
        x[np.where(LANE % 16 < 13, LANE + 3, LANE)],
        x[LANE ^ 6],
        sum(1 << i for i in LANE.tolist() if x[i] % 3 == 0),
        2,
        2,
        [sum(1 << j for j in LANE.tolist() if x[i] % 3 == x[j] % 3) for i in LANE],
        x.sum(),
        shifted.view(np.int32).min().view(np.uint32),
        shifted.view(np.int32).max().view(np.uint32),
        x.min(),
        x.max(),
        np.bitwise_and.reduce(x | 64),
        np.bitwise_or.reduce(x),
        np.bitwise_xor.reduce(x),
        x[LANE ^ 1],
        x[LANE ^ 1],
    ]
    for got, expected in zip(out, rows, strict=True):
        assert got.tolist() == np.broadcast_to(expected, 32).tolist()


@pytest.mark.parametrize("seed", SEEDS)
def test_diverged_halves_and_lanes_that_left(kernels, seed):
    x = np.arange(32, dtype=np.uint32)
    out = np.zeros(32, np.uint32)
    with testing.thread_order(seed):
        kernels["diverged"]((1,), (32,), (x, out))
    sums = np.where(LANE < 16, 3 * x[:16].sum(), 5 * x[16:].sum()) + 31
    assert out.tolist() == [*sums[:31], 0]


def test_atomics(kernels):
    words = np.array([1, 1000, 99, 0, 2**32 - 1, 0, 0, 0, 0, 0, 0, 0], np.uint32)
    signed, real, wide = np.zeros(2, np.int32), np.zeros(1), np.zeros(1, np.uint64)
    signed[1] = -5000
    kernels["atomics"]((1,), (96,), (words, signed, real, wide))
    turned = np.bitwise_xor.reduce(np.arange(96))
    assert words.tolist() == [1 + 4560, 904, 5, 95, 0, 2**32 - 1, turned, 6, 4, 96, 96, 77]
    assert signed.tolist() == [-95, -905]
    assert (real[0], wide[0]) == (48.0, 4560 << 30)


def test_arithmetic(kernels):
    x = np.array([0, 1, 6, 2**31, 2**32 - 1, 12345], np.uint32)
    out = np.zeros((len(x), 12), np.uint32)
    kernels["arithmetic"]((1,), (len(x),), (x, out))
    for value, row in zip(x.tolist(), out.tolist(), strict=True):
        bits, lowest = value.bit_count(), (value & -value).bit_length()
        assert row[:6] == [
            *(bits, bits, 32 - value.bit_length()),
            *(64 - 20 - value.bit_length() if value else 64, lowest, lowest and lowest + 20),
        ]
        assert row[6:] == [
            *(value + 20 & 0xFFFFFFFF, value, 4 * value + 6 & 0xFFFFFFFF, value >> 1),
            *((value << 20) >> 14 & 0xFFFFFFFF, 16 + 16 + 8 + 8),
        ]


def test_grids_and_blocks_of_three_axes(kernels):
    out = np.zeros((2 * 3 * 4, 5 * 2 * 3), np.uint32)
    kernels["places"]((2, 3, 4), (5, 2, 3), (out,))
    assert (out == np.arange(24)[:, None] * 1000 + np.arange(30)).all()


def test_shared_memory_is_a_blocks_own_and_poisoned(kernels):
    out = np.zeros((3, 4), np.uint32)
    kernels["shared_memory"]((3,), (32,), (out,), shared_mem=64)
    assert (out == [0xCDCDCDCD, 32, 3, 4 * 16 + 3]).all()


def test_shared_memory_is_limited_as_on_a_card(kernels):
    out = np.zeros(32, np.uint32)
    kernels["large<49152>"]((1,), (32,), (out,))
    with pytest.raises(KernelError, match="49154 bytes of static shared memory"):
        kernels["large<49154>"]((1,), (32,), (out,))
    words = np.zeros((1, 4), np.uint32)
    kernel = kernels["shared_memory"]
    with pytest.raises(
        KernelError, match="65536 bytes of dynamic shared memory, allowed are 49152"
    ):
        kernel((1,), (32,), (words,), shared_mem=65536)
    kernel.max_dynamic_shared_size_bytes = 65536
    kernel((1,), (32,), (words,), shared_mem=65536)


@pytest.mark.parametrize("seed", SEEDS)
def test_tickets_are_shared_among_blocks(kernels, seed):
    ticket, by = np.zeros(1, np.uint32), np.zeros(100, np.uint32)
    args = (ticket, np.uint32(100), by)
    with testing.thread_order(seed), testing.measure() as work:
        kernels["tickets"]((3,), (64,), args)
    assert by.tolist() == [1 + i % 3 for i in range(100)]  # each task once, the blocks in turn
    assert ticket[0] == 100 + 3 * 2  # every warp drew once past the end
    assert (work.launches, work.probes) == (1, 1000)
    with testing.measure() as forgotten:
        kernels["tickets"]((3,), (64,), args)
    assert forgotten.probes == 0  # a counter that is not set to zero again has no work left


def test_a_barrier_of_the_grid_needs_a_cooperative_launch():
    source = testing.read(PLANTED / "race_of_phases.cu")
    kernel = testing.compile(source, ("race_of_phases<false>",))["race_of_phases<false>"]
    args = [np.array([7, 8], np.uint32), *(np.zeros(size, np.uint32) for size in (64, 1, 2))]
    with pytest.raises(KernelError, match=r"race_of_phases\.cu:\d+: .* not cooperative"):
        kernel((2,), (32,), args)
    args[-1][:] = 0
    kernel((1,), (32,), args)  # the only block need not be
    assert args[-1].tolist() == [32 * 42, 0]


@pytest.mark.parametrize("seed", SEEDS)
def test_tickets_of_blocks_that_run_at_once(kernels, seed):
    ticket, by = np.zeros(1, np.uint32), np.zeros(100, np.uint32)
    args = (ticket, np.uint32(100), by)
    with testing.thread_order(seed):
        kernels["tickets"]((3,), (64,), args, enable_cooperative_groups=True)
    assert set(by.tolist()) <= {1, 2, 3}  # each task once
    assert ticket[0] == 100 + 3 * 2


def test_thread_order_is_reproducible(kernels):
    def order(seed):
        out = np.zeros(64, np.uint32)
        with testing.thread_order(seed):
            kernels["order"]((1,), (64,), (np.zeros(1, np.uint32), out))
        return out.tolist()

    assert order(0) == list(range(64))
    assert order(1) == order(1) != order(2) != order(0)


def test_a_trap_names_its_thread_and_line(kernels):
    with pytest.raises(KernelError, match=r"trap: language\.cu:\d+: block 0, thread 21: __trap"):
        kernels["trap"]((2,), (22,), (np.arange(22, dtype=np.uint32),))


def test_a_launch_after_a_failed_one_works(kernels):
    test_a_trap_names_its_thread_and_line(kernels)
    test_collectives(kernels, 1)


ARGS = (np.ones(3, np.uint32), np.uint64(2**40), np.int32(-4), np.float64(0.5), np.bool_(True))
ARGS += (np.uint16(7), None, np.zeros(1))


def test_parameters_of_any_kind(kernels):
    kernels["mixed_parameters"]((1,), (32,), ARGS)
    assert ARGS[-1][0] == 1 + 2**40 - 4 + 0.5 + 1 + 7 + 1


READ_ONLY = np.zeros(1)
READ_ONLY.flags.writeable = False


@pytest.mark.parametrize(
    "number, argument, message",
    [
        (0, np.ones(3, np.int32), "argument 0 has dtype int32, the kernel has const uint32*"),
        (0, np.ones(6, np.uint32)[::2], "argument 0 is an array with gaps"),
        (0, 3, "argument 0 is a int, the kernel has const uint32*"),
        (1, np.uint32(3), "argument 1 has dtype uint32, the kernel has uint64"),
        (1, 3, "argument 1 must be a NumPy scalar for uint64, not 3"),
        (1, np.ones(1, np.uint64), "argument 1 is a ndarray, the kernel has uint64"),
        (7, READ_ONLY, "argument 7 is a read-only array, the kernel may write float64*"),
    ],
)
def test_wrong_arguments_are_named(kernels, number, argument, message):
    args = [*ARGS[:number], argument, *ARGS[number + 1 :]]
    with pytest.raises(KernelError) as caught:
        kernels["mixed_parameters"]((1,), (32,), args)
    assert message in str(caught.value)


def test_wrong_launches_are_named(kernels):
    with pytest.raises(KernelError, match="mixed_parameters takes 8 arguments, not 2"):
        kernels["mixed_parameters"]((1,), (32,), ARGS[:2])
    for grid, block in (((0,), (32,)), ((1, 65536), (32,)), ((1,), (1025,)), ((1,), (0,))):
        with pytest.raises(KernelError, match=r"a (block|grid) has"):
            kernels["places"](grid, block, (np.zeros(1, np.uint32),))


@plain_only
def test_compiler_messages_name_the_line():
    with pytest.raises(KernelError, match=r"language\.cu:\d+.*wrong") as caught:
        testing.compile(testing.read(PLANTED / "language.cu") + "wrong", ("order",))
    assert "cannot compile" in str(caught.value)


@plain_only
def test_plain_shared_memory_is_refused():
    source = '#line 1 "mine.cu"\nextern "C" __global__ void mine() {\n__shared__ int a[3];\n}\n'
    with pytest.raises(KernelError, match=r"(?s)RTC_SHARED.*mine\.cu:2"):
        testing.compile(source, ("mine",))


def test_macros_reach_the_source():
    source = 'extern "C" __global__ void mine(int* out) { out[0] = VALUE; }\n'
    out = np.zeros(1, np.int32)
    for value in (3, 4):
        kernel = testing.compile(source, ("mine",), (f"-DVALUE={value}", "-lineinfo"))["mine"]
        kernel((1,), (1,), (out,))
        assert out[0] == value


@plain_only
def test_the_command_runs_python_under_a_sanitizer():
    command = [sys.executable, "-m", "rapids_tc.testing"]
    code = "from rapids_tc import testing; print(testing.sanitizer()); raise SystemExit(3)"
    done = subprocess.run([*command, "thread", "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()) == (3, "thread")
    done = subprocess.run([*command, "memory", "-c", code], capture_output=True, text=True)
    assert "usage: python -m rapids_tc.testing {address|thread}" in done.stderr
