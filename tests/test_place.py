"""Which device a call works on, told from frames that only look like cuDF's."""

from types import SimpleNamespace

import pytest

from rapids_tc.frames.device import _device


def frame_of(*columns):
    """A frame on a card: each column its array, or the error of one that has none."""

    class Column:
        def __init__(self, held):
            self.held = held

        @property
        def values(self):
            if isinstance(self.held, Exception):
                raise self.held
            return self.held

    class Rows:
        def __getitem__(self, key):
            return Column(columns[key[1]])

    kind = type("DataFrame", (), {"__module__": "cudf.core.dataframe", "ndim": 2})
    frame = kind()
    frame.iloc, frame.shape = Rows(), (1, len(columns))
    return frame


@pytest.mark.parametrize("before", [0, 1, 3])
def test_columns_without_an_array_are_passed_over(before):
    array = SimpleNamespace(device=SimpleNamespace(id=1))
    assert _device(frame_of(*[NotImplementedError("text")] * before, array)) == 1


@pytest.mark.parametrize("edges", [None, 3, "edges", [1, 2]])
def test_what_is_no_frame_is_on_no_device(edges):
    assert _device(edges) is None
