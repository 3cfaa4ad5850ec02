"""The dataframe operations on arrays of a GPU, told by a libcudf that is made of NumPy."""

import sys
from types import SimpleNamespace as Fake

import numpy as np
import pytest

from rapids_tc.frames import operations


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
