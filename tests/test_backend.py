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
