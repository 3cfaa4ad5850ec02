"""The kernels that read raw rows, on the emulator: ranges, numbers, degrees, ranks and keys."""

from dataclasses import replace
from itertools import cycle

import numpy as np
import pytest
from emulator_support import SEEDS, compiler
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from kernel_support import ENGINE

from rapids_tc import testing
from rapids_tc.kernels import raw_rows
from rapids_tc.kernels.method import Capacities

__all__ = ["compiler"]
pytestmark = pytest.mark.usefixtures("compiler")

INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]


@pytest.mark.parametrize("dtype", INTEGERS)
@settings(max_examples=30)
@given(st.data())
def test_ranges_of_integers_of_any_width_sign_and_place(dtype, data):
    ids = data.draw(arrays.arrays(dtype, st.integers(1, 60)))
    others = data.draw(arrays.arrays(st.sampled_from(INTEGERS), st.integers(1, 5)))
    first = data.draw(st.integers(0, len(ids) - 1))
    columns = [ids[first:], others]
    ranges = raw_rows.id_ranges(testing.compile, np, columns)
    assert ranges == [(int(column.min()), int(column.max())) for column in columns]


def test_the_range_of_ids_of_many_blocks():
    ids = np.random.default_rng(2).integers(-(2**62), 2**62, 5000)
    assert raw_rows.id_ranges(testing.compile, np, [ids]) == [(ids.min(), ids.max())]


ROWS = {  # the rows, and how many numbers there are: of less than a word, of a bucket and of many
    "one": (np.zeros((2, 1), "int64"), 1),
    "loops": (np.full((2, 700), 3, "int64"), 4),
    "few": (np.random.default_rng(0).integers(0, 30, (2, 999)), 31),
    "many": (np.random.default_rng(1).integers(0, 9000, (2, 9001)), 9000),
}


@pytest.mark.parametrize(
    ("seed", "dtype"), [*zip(cycle(SEEDS), ["int32", "uint32", "int64", "int16"], strict=False)]
)
@pytest.mark.parametrize("rows, size", ROWS.values(), ids=ROWS)
def test_degrees_are_the_same_in_buckets_and_by_atomics(rows, size, dtype, seed):
    src, dst = rows.astype(dtype)
    degree = np.bincount(rows.reshape(-1), minlength=size)
    for least in (0, 2**40):
        engine = replace(ENGINE, capacities=Capacities(bucketed_from=least))
        numbers = np.empty(rows.shape, np.uint32)
        with testing.thread_order(seed):
            counted, present = engine.degrees(src, dst, size, numbers)
        assert (numbers == rows).all()
        assert counted.tolist() == degree.tolist()
        assert present == np.count_nonzero(degree)


def test_columns_may_differ_in_width():
    src, dst = np.array([5, 1, 2], "int64"), np.array([0, 5, 5], "uint32")
    numbers = np.empty((2, 3), np.uint32)
    degree, present = ENGINE.degrees(src, dst, 6, numbers)
    assert numbers.tolist() == [[5, 1, 2], [0, 5, 5]]
    assert (degree.tolist(), present) == ([1, 1, 1, 0, 0, 3], 4)


def test_keys_of_pairs_have_the_larger_first():
    first, second = np.random.default_rng(3).integers(0, 50, (2, 2100)).astype("uint32")
    keys = raw_rows.pack(testing.compile, np, first, second, first < second)
    larger, smaller = np.maximum(first, second), np.minimum(first, second)
    assert keys.tolist() == (larger.astype("uint64") << np.uint64(32) | smaller).tolist()
    out = np.empty(2100, "uint64")
    assert raw_rows.pack(testing.compile, np, second, first, second < first, out) is out
    assert (out == keys).all()
