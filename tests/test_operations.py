"""What is asked of the columns of cuDF, and of libcudf, told by libraries made of NumPy."""

import sys
from types import SimpleNamespace as Fake

import numpy as np
import pandas as pd
import pytest

import rapids_tc as tc
from rapids_tc import datasets
from rapids_tc.frames import operations
from rapids_tc.frames.adapters import CudfAdapter, PandasAdapter


class Column:
    """A column of pylibcudf."""

    def __init__(self, values):
        self.values = values

    def size(self):
        return len(self.values)

    def data(self):
        return Fake(ptr=64)


def gather(table, places, policy):
    assert policy == "unchecked"
    return Fake(columns=lambda: [Column(table[0].values[places.values])])


def binary_operation(first, second, operator, dtype):
    assert (operator, dtype) == ("less", "bool")
    return Column(first.values < second.values)


def parts(column, bounds):
    pairs = zip(bounds[::2], bounds[1::2], strict=True)
    return [Column(column.values[begin:end]) for begin, end in pairs]


@pytest.fixture
def of_libcudf(monkeypatch):
    """The operations, on arrays of NumPy, and the names of libcudf's that were called."""
    called = []

    def noted(operation):
        def call(*given):
            called.append(operation.__name__)
            return operation(*given)

        return call

    cuda = Fake(
        UnownedMemory=lambda pointer, size, owner: owner.values,
        MemoryPointer=lambda memory, offset: memory,
    )
    cupy = Fake(cuda=cuda, empty=np.empty, ndarray=lambda shape, dtype, memory: memory.view(dtype))
    copying = Fake(
        gather=noted(gather), slice=parts, OutOfBoundsPolicy=Fake(DONT_CHECK="unchecked")
    )
    plc = Fake(
        Column=Fake(from_cuda_array_interface=Column), Table=list, copying=copying,
        binaryop=Fake(binary_operation=noted(binary_operation), BinaryOperator=Fake(LESS="less")),
        DataType=lambda kind: kind, TypeId=Fake(BOOL8="bool"),
    )  # fmt: skip
    monkeypatch.setitem(sys.modules, "pylibcudf", plc)
    return operations.LibcudfOperations(cupy), called


@pytest.mark.parametrize("most", [2**31 - 1, 11])
def test_pairs_are_gathered_and_compared(of_libcudf, monkeypatch, most):
    monkeypatch.setattr(operations, "_MOST", most)
    libcudf, called = of_libcudf
    rng = np.random.default_rng(5)
    values, places = rng.permutation(9).astype("uint32"), rng.integers(0, 9, (2, 6), "uint32")
    found = libcudf.compared(values, places)
    expected = operations.PandasOperations().compared(values, places)
    for array, right in zip(found, expected, strict=True):
        assert array.dtype == right.dtype and array.tolist() == right.tolist()
    assert called == ["gather"] * (1 if most > 11 else 2) + ["binary_operation"]
    assert [array.tolist() for array in libcudf.compared(values, places[:, :0])] == [[]] * 3


OTHERS = {
    "missing": Fake(dtype=np.dtype("int32"), null_count=1, values=[0]),
    "float": Fake(dtype=np.dtype("float32"), null_count=0, values=[0]),
    "extension": Fake(dtype=pd.Int32Dtype(), null_count=0, values=[0]),
    "without an array": Fake(dtype=np.dtype("int32"), null_count=0),
    "of another version": Fake(),
}


def test_a_column_of_integers_is_read_without_a_series(monkeypatch):
    def asarray(column):
        if not hasattr(column, "values"):
            raise TypeError
        return column.values

    monkeypatch.setitem(sys.modules, "cupy", Fake(asarray=asarray))
    ids = np.arange(3, dtype="int32")
    plain = Fake(dtype=ids.dtype, null_count=0, values=ids)
    frame, read = Fake(_data={"src": plain} | OTHERS), CudfAdapter().plain_integers
    assert read(frame, "src") is ids
    assert [read(frame, label) for label in [*OTHERS, "no such"]] == [None] * (len(OTHERS) + 1)
    assert read(Fake(), "src") is None
    times, of_times = np.arange("2024-01", "2024-04", dtype="datetime64[M]"), Fake(values=ids)
    column = Fake(dtype=times.dtype, null_count=0, astype={np.dtype("int64"): of_times}.__getitem__)
    read = CudfAdapter().plain_times
    assert read(Fake(_data={"t": column}), "t") == (times.dtype, ids)
    assert [read(frame, label) for label in [*OTHERS, "no such"]] == [None] * (len(OTHERS) + 1)


def test_a_column_of_pandas_is_read_without_a_series():
    ids = pd.Series([2, 0, 1], dtype="int32")
    dtypes = ["bool", "float64", "Int32", ">i4", "category", "str", "datetime64[ns]", "object"]
    others = {dtype: ids.astype(dtype) for dtype in dtypes}
    frame = pd.DataFrame({"src": ids, ("a", "b"): ids} | others)
    read = PandasAdapter().plain_integers
    assert np.shares_memory(read(frame, "src"), frame["src"].to_numpy())
    assert read(frame, ("a", "b")).tolist() == [2, 0, 1]
    assert [read(frame, label) for label in [*others, "no such"]] == [None] * (len(others) + 1)
    levels = pd.DataFrame([[0, 1]], columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")]))
    assert read(levels, "a") is None
    assert read(levels, ("a", "c")) == [1]
    assert read(Fake(), "src") is None


IDS = {
    "dense": ("int32", "int32", 0),
    "from a base on": ("int64", "int64", 10**12),
    "of two dtypes": ("int32", "int64", 0),
    "of 64 bits": ("uint64", "uint64", 2**63 + 5),
    "negative": ("int16", "int16", -9),
}


@pytest.mark.parametrize("src, dst, base", IDS.values(), ids=IDS)
@pytest.mark.parametrize("far", [0, 10**6], ids=["near", "far"])
def test_ids_that_are_read_without_a_series_are_numbered_the_same(monkeypatch, src, dst, base, far):
    if far and src in ("int16", "int32"):
        far = 30_000
    rows = np.random.default_rng(7).integers(0, 9, (2, 40)).astype(object)
    rows[0][0] = far
    ends = {"src": (rows[0] + base).astype(src), "dst": (rows[1] + base).astype(dst)}
    edges, none = pd.DataFrame(ends), pd.DataFrame(ends).iloc[:0]
    calls = tc.count, tc.vertex_triangles, tc.edge_triangles, tc.simple_edges
    found = [call(frame) for frame in (edges, none) for call in calls]
    monkeypatch.setattr(PandasAdapter, "plain_integers", lambda *asked: None)
    expected = [call(frame) for frame in (edges, none) for call in calls]
    for one, right in zip(found, expected, strict=True):
        if isinstance(right, pd.DataFrame):
            pd.testing.assert_frame_equal(one, right)
        else:
            assert one == right if isinstance(right, int) else one.equals(right)


def test_columns_in_the_memory_of_another_device_are_copied_first(monkeypatch):
    """As those of a cuDF frame with engine="cpu"."""
    monkeypatch.setattr(PandasAdapter, "plain_integers", lambda *asked: pytest.fail("read"))
    monkeypatch.setattr(PandasAdapter, "on_gpu", True)
    assert tc.count(datasets.karate(), engine="cpu") == 45
