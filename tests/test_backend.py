"""What works on arrays of NumPy and of CuPy alike."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rapids_tc.frames import backend


@pytest.mark.parametrize("piece", [1, 3, 1 << 24])
@pytest.mark.parametrize("dtype, most", [("bool", 1), ("uint8", 255), ("uint32", 2**32 - 1)])
@given(data=st.data())
def test_a_wide_sum_is_exact(piece, dtype, most, data):
    values = data.draw(st.lists(st.integers(0, most) | st.just(most), max_size=9))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(backend, "_BATCH", piece)
        assert backend.sum64(np.array(values, dtype)) == sum(values)


@given(st.sampled_from(["uint8", "int8", "uint32", "int64", "uint64"]), st.data())
def test_numbers_are_below_a_bound_that_is_none_of_them(dtype, data):
    """A negative number is a large one: neither is a place in an array."""
    limits = np.iinfo(dtype)
    near = st.integers(0, 4) | st.just(limits.min) | st.just(limits.max)
    values, bound = data.draw(st.lists(near, max_size=4)), data.draw(st.integers(0, 5))
    right = all(0 <= value < bound for value in values)
    assert backend.all_below(np.array(values, dtype), bound) == right
