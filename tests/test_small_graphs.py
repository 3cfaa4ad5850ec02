"""Small graphs on the CPU, which are counted on one core without a layout."""

import subprocess
import sys

import numpy as np
import pytest
import reference
from block_support import keys_of
from hypothesis import given
from hypothesis import strategies as st

import rapids_tc as tc
from rapids_tc import datasets
from rapids_tc.engines.cpu import engine as cpu
from rapids_tc.engines.cpu import small

pytestmark = pytest.mark.cpu_only
rows_of_graphs = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=60)


@given(rows_of_graphs, st.integers(0, 3))
def test_keys_become_rows_and_triangles(rows, without_edges):
    n = max((max(row) for row in rows), default=-1) + 1 + without_edges
    csr = small.csr(keys_of(rows), n)
    csr.validate()
    edges = zip(csr.columns.tolist(), csr.rows.tolist(), strict=True)
    assert csr.n == n
    assert sorted(edges) == reference.simple_edges(rows)
    assert small.count_keys(keys_of(rows), n) == reference.count(rows)
    lengths = np.diff(csr.offsets)[csr.columns]
    for probes in (1, 5, small.SLICE):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(small, "SLICE", probes)
            assert small._count_by_search(csr, lengths) == reference.count(rows)


@given(rows_of_graphs, st.sampled_from(["uint32", "int64"]))
def test_degrees_count_raw_rows(rows, dtype):
    src, dst = np.array(rows, dtype).reshape(-1, 2).T
    ends = [end for row in rows for end in row]
    degree, n = cpu.degrees(src, dst, 15)
    assert degree.dtype == "int64"
    assert degree.tolist() == [ends.count(number) for number in range(15)]
    assert n == len(set(ends))


@pytest.mark.parametrize("changed", [-1, 13, 2**40, -(2**63)])
def test_ends_that_another_thread_changed_are_refused(changed):
    ends = np.array([0, 12, changed]), np.array([0, 1, 2])
    for src, dst in (ends, ends[::-1]):
        with pytest.raises(tc.KernelError, match="changed during the call"):
            cpu.degrees(src, dst, 13)


@pytest.mark.parametrize("rank", [13, 2**31, 2**32 - 1])
def test_keys_without_a_row_are_refused(rank):
    keys = keys_of([(1, 2), (rank, 3), (4, 5)])
    with pytest.raises(tc.KernelError, match="changed during the call"):
        cpu.csr(keys.copy(), 13)
    with pytest.raises(tc.KernelError, match="changed during the call"):
        small.count_keys(keys, 13)


def test_which_graphs_are_small():
    most, more = (np.zeros(small.MOST_KEYS + extra, "int32") for extra in (0, 1))
    assert cpu.small_graph(most, most, small.MOST_RANKS)
    assert cpu.small_graph(more, more, 10) is None
    assert cpu.small_graph(most, most, small.MOST_RANKS + 1) is None


FIRST_CALLS = """
import sys
import pandas as pd, rapids_tc as tc
from rapids_tc import datasets

club, calls = datasets.karate(), 0
while "numba" not in sys.modules and calls < 10_000:
    assert tc.count(club) == 45
    calls += 1
print(10 < calls < 10_000)
assert tc.count(club) == 45 and tc.vertex_triangles(club)["triangles"].sum() == 135
"""


def test_a_process_that_asks_rarely_loads_no_compiled_code():
    """To load it takes longer than the first counts of small graphs do."""
    command = [sys.executable, "-c", FIRST_CALLS]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


def test_both_ways_agree(monkeypatch):
    frame = datasets.rmat(12)
    assert len(frame) == small.MOST_KEYS
    counted = tc.count(frame), tc.edge_triangles(frame).tolist()
    monkeypatch.setattr(small, "MOST_KEYS", -1)
    assert counted == (tc.count(frame), tc.edge_triangles(frame).tolist())
    assert counted[0] == tc.Graph(frame).count()
