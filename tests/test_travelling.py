"""What travels between machines: degrees as codes, an order all agree on, and blocks in pieces."""

import numpy as np
import pytest
from block_support import keys_of
from graphs import edge_lists
from hypothesis import given, settings
from hypothesis import strategies as st

import rapids_tc as tc
from rapids_tc.blocks import codec, degree_codes
from rapids_tc.engines.cpu import engine as cpu
from rapids_tc.preparation.orient import Order

quietly = settings(deadline=None)  # the first call compiles
degrees = st.lists(st.integers(0, 2**32 - 1) | st.integers(0, 40), max_size=60)


@quietly
@given(degree=degrees)
def test_a_degree_in_a_byte_is_within_an_eighth(degree):
    code = degree_codes.codes(np.array(degree, "uint32"), np)
    assert code.dtype == "uint8"
    found = degree_codes.degrees(code, np)
    for exact, about in zip(degree, found.tolist(), strict=True):
        assert exact * 7 / 8 <= about <= exact * (1 + 1e-6)
        assert (about == 0) == (exact == 0)
        assert about == exact or exact >= 16


def test_codes_are_in_the_order_of_degrees():
    degree = np.unique(np.concatenate([2**i + np.arange(-3, 4) for i in range(2, 32)]))
    for dtype in ("uint32", "int64", "uint64"):
        code = degree_codes.codes(degree.astype(dtype), np).astype(int)
        assert (np.diff(code) >= 0).all()
    assert degree_codes.codes(np.array([2**32 - 1, 2**40, 0], "uint64"), np).tolist() == [
        255,
        255,
        0,
    ]


@quietly
@given(
    apart=st.lists(st.lists(st.integers(0, 200), min_size=9, max_size=9), min_size=1, max_size=5)
)
def test_the_order_is_by_degree_then_by_number(apart):
    codes = [degree_codes.codes(np.array(degree, "uint32"), np) for degree in apart]
    total = sum(degree_codes.degrees(code, np).astype(int) for code in codes)
    order = degree_codes.by_degree(degree_codes.total(codes, np), np)
    expected = sorted((v for v in range(9) if total[v]), key=lambda v: (-total[v], v))
    assert order.number.tolist() == expected
    assert [order.rank[v] for v in expected] == list(range(len(expected)))
    assert sorted(order.rank.tolist()) == list(range(9))
    again = Order.of_ranks(order.rank, order.n, np)
    assert again.number.tolist() == expected


@quietly
@given(rows=edge_lists(20, 60), parts=st.integers(1, 4), low=st.sampled_from([1, 3, 7, 2**16]))
def test_a_block_comes_together_from_its_pieces(rows, parts, low):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(codec, "_LOW", low)
        apart = [cpu.csr(keys_of(rows[i::parts]), 20) for i in range(parts)]
        packed = [codec.pack(block, np) for block in apart]
    whole, found = cpu.csr(keys_of(rows), 20), cpu.csr(codec.keys(packed, 20, np), 20)
    assert found.offsets.tolist() == whole.offsets.tolist()
    assert found.columns.tolist() == whole.columns.tolist()


def test_a_piece_is_narrow():
    star = cpu.csr(keys_of([(leaf, 0) for leaf in range(1, 300)]), 300)
    assert [array.dtype for array in codec.pack(star, np)] == ["uint8", "uint8", "uint16"]
    far = cpu.csr(keys_of([(200_000, v) for v in (*range(13_000), 70_000, 100_000)]), 200_001)
    packed = codec.pack(far, np)
    dtypes = ["uint8", "uint16", "uint16", "uint8", "uint8", "uint32"]
    assert [array.dtype for array in packed] == dtypes
    assert sum(len(columns) for columns in packed[2::3]) == 13_002


def test_a_row_without_entries_takes_a_bit():
    edges = [(80_000 + row, column) for row in range(100) for column in (row, 70_000 + row)]
    packed = codec.pack(cpu.csr(keys_of(edges), 80_800), np)
    assert [len(array) for array in packed] == [10_100, 100, 200]
    assert codec.keys([packed], 80_800, np).tolist() == keys_of(edges).tolist()


@pytest.mark.parametrize("length", [1, 255, 256, 257, 65_535, 65_536, 65_537])
def test_a_row_of_any_length_comes_back(length):
    """Lengths take as many bytes as the longest needs, and columns two bytes below 2**16."""
    block = cpu.csr(keys_of([(70_000, column) for column in range(length)]), 70_001)
    again = codec.csr(codec.rows(block, np), np)
    assert again.offsets.tolist() == block.offsets.tolist()
    assert codec.keys([codec.pack(block, np)], 70_001, np).tolist() == [
        70_000 << 32 | column for column in range(length)
    ]


@pytest.mark.parametrize("column", [2**16 - 1, 2**16, 2**16 + 1])
def test_a_column_at_the_end_of_two_bytes_comes_back(column):
    block = cpu.csr(keys_of([(70_000, column)]), 70_001)
    assert codec.keys([codec.pack(block, np)], 70_001, np).tolist() == [70_000 << 32 | column]


@pytest.mark.parametrize("rows", [1, 5, 70_000])
def test_a_column_that_is_no_rank_is_refused(rows):
    """It would be a place in an array, of a block that another worker sent."""
    *row, columns = codec.pack(cpu.csr(keys_of([(rows, rows - 1)]), rows + 1), np)
    with pytest.raises(tc.KernelError, match=f"ranks of {rows + 1} or more"):
        codec.keys([[*row, columns + 2]], rows + 1, np)
