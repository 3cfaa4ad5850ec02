"""How many distinct ids two columns hold: counted, or estimated by a sketch."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rapids_tc.frames.backend import open_frame
from rapids_tc.preparation import distinct
from rapids_tc.preparation.distinct import MARGIN, Sketch, distinct_ids
from rapids_tc.preparation.id_columns import describe

ids = st.lists(st.integers(-(2**40), 2**40) | st.integers(0, 9), min_size=1, max_size=60)


def described(backend, *columns):
    """The columns as `id_columns` describes them, and where work is done."""
    frame = backend.frame({f"c{i}": values for i, values in enumerate(columns)})
    opened, home = open_frame(frame, None)
    series = [home.to_working_series(home.adapter.column(opened, name)) for name in frame.columns]
    return [describe(values, "ids", home) for values in series], home


def sketched(values):
    """What a sketch alone says of 64-bit hashes that are drawn at random."""
    _, home = open_frame(pd.DataFrame({"a": [1], "b": [1]}), None)
    sketch = Sketch()
    for part in np.array_split(values, 7):
        sketch.add(part, home)
    return sketch.estimate()


@settings(max_examples=40, deadline=None)
@given(ids=ids)
@pytest.mark.parametrize("dtype", ["int64", "float64", "str", "object", "category"])
def test_few_ids_are_counted(backend, ids, dtype):
    assert counts(backend, ids, dtype)[0] == len(set(ids))


def counts(backend, ids, dtype):
    """The distinct ids of two columns, as they are counted and as a sketch estimates them."""
    text = dtype in ("str", "object", "category")
    values = pd.Series([str(i) for i in ids] if text else ids, dtype=dtype)
    columns, home = described(backend, values, values[::-1].reset_index(drop=True))
    return [distinct_ids([columns], [2], home, exact=exact).count for exact in (2**16, 0)]


# Hashes of ids drawn at random break any bound of an estimate once: these are drawn once for all.
@pytest.mark.parametrize("dtype", ["int64", "float64", "str", "object", "category"])
@pytest.mark.parametrize("count", [1, 2, 7, 60])
def test_few_ids_are_estimated(backend, count, dtype):
    ids = [v * 2**31 - 5 for v in range(count)]
    assert count <= counts(backend, ids, dtype)[1] <= 1.1 * count + 2


@pytest.mark.parametrize("count", [1, 16, 300, 5000, 2**14, 45_000, 200_000])
def test_a_sketch_is_near_the_truth(count):
    for seed in range(5):
        hashes = np.random.default_rng(seed).integers(0, 2**64, count, "uint64")
        assert abs(sketched(np.concatenate([hashes, hashes[::2]])) / count - 1) < 0.035


def test_the_error_at_a_million_ids():
    """Five standard errors; and the margin keeps what is told above the truth."""
    errors = []
    for seed in range(5):
        values = np.random.default_rng(seed).permutation(2**40 // 10**6 * np.arange(10**6))
        frame = pd.DataFrame({"src": values, "dst": values[::-1]})
        _, home = open_frame(frame, None)
        columns = [describe(frame[name], name, home) for name in frame]
        errors.append(distinct_ids([columns], [2], home).count / 10**6 - 1 - MARGIN)
    assert max(map(abs, errors)) < 0.04 and min(errors) > -MARGIN


@pytest.mark.parametrize(
    "dtypes", [("int32", "int64"), ("int64", "float64"), ("uint64", "int8"), ("str", "object"),
               ("category", "str"), ("object", "category")],
)  # fmt: skip
def test_ids_of_two_dtypes_meet(backend, dtypes):
    text = "str" in dtypes or "object" in dtypes
    values = [str(i) for i in range(100)] if text else [*range(100)]
    columns, home = described(backend, *(pd.Series(values, dtype=dtype) for dtype in dtypes))
    for exact in (0, 100):
        assert 100 <= distinct_ids([columns], [2], home, exact).count <= 105


def test_parts_are_one_set_of_ids(backend, monkeypatch):
    monkeypatch.setitem(distinct.CHUNK, "numpy", 7)
    columns, home = described(backend, pd.Series([f"name {i % 30}" for i in range(100)]))
    found = distinct_ids([columns, columns[:], columns], [2], home)
    assert found.count == 30 and found.text in (6, 7)
    assert distinct_ids([], [2], home).count == 0


def test_datetimes_and_unused_categories(backend):
    days = pd.Series(pd.date_range("2020-01-01", periods=40).repeat(2))
    columns, home = described(backend, days)
    assert distinct_ids([columns], [2], home).count == 40
    some = pd.Series(["a", "b"] * 9, dtype=pd.CategoricalDtype(["a", "b", "c"]))
    columns, home = described(backend, some)
    assert distinct_ids([columns], [2], home).count == 2
