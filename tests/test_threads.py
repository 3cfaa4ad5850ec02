"""What the CPU engine does on several threads: the same arrays, to the bit, for any number."""

import threading
from functools import partial

import numpy as np
import pandas as pd
import pytest
import reference
from block_support import keys_of
from hypothesis import given, settings
from hypothesis import strategies as st

import rapids_tc as tc
from rapids_tc import _parallel, datasets
from rapids_tc.engines.cpu import engine as cpu
from rapids_tc.engines.cpu import in_edges, look_up, row_counts, small, sorting, truss
from rapids_tc.engines.protocol import RowColumn
from rapids_tc.frames.adapters import PandasAdapter
from rapids_tc.frames.backend import open_frame
from rapids_tc.preparation import orient
from rapids_tc.preparation.csr import Csr

pytestmark = pytest.mark.cpu_only
THREADS = [1, 2, 3, 7]
each_count = pytest.mark.parametrize("threads", THREADS)
pairs = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=60)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    """Every array is cut, however small."""
    monkeypatch.setattr(small, "MOST_KEYS", -1)
    for module in (_parallel, in_edges):
        monkeypatch.setattr(module, "SERIAL_BELOW", 0)
    peeler = partial(truss.CpuPeeler, shared=0, large=8, scanned=0, least=0)
    monkeypatch.setattr(cpu, "CpuPeeler", peeler)
    monkeypatch.setattr(sorting, "BUCKET", 4)
    monkeypatch.setattr(look_up, "BUCKET", 4)
    monkeypatch.setattr(look_up, "SHORT", 0)
    monkeypatch.setattr(look_up, "BATCH", 20)
    monkeypatch.setattr(look_up, "SORTED", 8)
    monkeypatch.setattr(look_up, "SLOTS", 4)  # columns share slots
    monkeypatch.setattr(orient, "BATCH_ROWS", 64)


def use(monkeypatch, threads):
    for module in (_parallel, truss):
        monkeypatch.setattr(module, "thread_count", lambda: threads)


def neighbors_below(rows, n):
    """Offsets and columns, by sets."""
    below = [sorted({min(row) for row in rows if max(row) == u} - {u}) for u in range(n)]
    offsets = np.cumsum([0, *map(len, below)])
    return offsets, np.array([v for row in below for v in row], np.uint32)


def in_edges_of(offsets, columns, n, first, last):
    """In-edges of a whole graph one by one: u << 32 | the entries of row u below v."""
    groups = [[] for _ in range(n)]
    for u in range(n):
        for place, v in enumerate(columns[offsets[u] : offsets[u + 1]].tolist()):
            if first <= v < last:
                groups[v].append(u << 32 | place)
    probes = [sum(edge & 0xFFFFFFFF for edge in group) for group in groups]
    return np.cumsum([0, *map(len, groups)]), [edge for group in groups for edge in group], probes


def skewed(n, rows, seed):
    """Rows whose low ranks occur much more often, repeats and loops among them."""
    ends = np.random.default_rng(seed).random((rows, 2)) ** 3 * n
    return ends.astype(np.int64).tolist()


@each_count
@settings(max_examples=60, deadline=None)
@given(rows=pairs, extra=st.integers(0, 40))
def test_rows_are_the_sets_of_neighbors(threads, rows, extra):
    n = max((max(row) for row in rows), default=-1) + 1 + extra
    csr = sorting.sort_keys(keys_of(rows), n, threads)
    offsets, columns = neighbors_below(rows, n)
    assert csr.offsets.dtype == np.int64 and csr.columns.dtype == np.uint32
    assert csr.offsets.tolist() == offsets.tolist()
    assert csr.columns.tolist() == columns.tolist()


@each_count
@pytest.mark.parametrize("n", [1, 2, 70, 5000, 3_000_000])
def test_rows_of_many_digits(threads, n):
    rows = [*skewed(n, 3000, n), *[[n - 1, 0]] * 500, [n - 1, n - 1]]
    csr = sorting.sort_keys(keys_of(rows), n, threads)
    keys = np.unique(keys_of(rows))
    keys = keys[keys >> 32 != keys & 0xFFFFFFFF]
    assert csr.columns.tolist() == (keys & 0xFFFFFFFF).tolist()
    lengths = np.diff(csr.offsets)
    assert np.repeat(np.arange(n), lengths).tolist() == (keys >> 32).tolist()


@each_count
@pytest.mark.parametrize("key", [5 << 32 | 2, 2 << 32 | 5, 2**63])
def test_a_rank_that_is_none_is_refused(threads, key):
    keys = np.array([1 << 32, key, 3 << 32 | 1] * 9, np.uint64)
    with pytest.raises(tc.KernelError, match="changed"):
        sorting.sort_keys(keys, 5, threads)
    csr = Csr(np.array([0, 0, 1, 1, 1, 1]), np.zeros(1, np.uint32))
    u, v = (np.array([1, end] * 9, np.uint32) for end in (key >> 32, key & 0xFFFFFFFF))
    with pytest.raises(tc.KernelError, match="changed"):
        look_up.find_edges(csr, u, v, threads)


@each_count
@settings(max_examples=40, deadline=None)
@given(rows=pairs, ranges=st.tuples(st.integers(0, 14), st.integers(0, 14)))
def test_in_edges_are_grouped_by_pivot_vertex(threads, rows, ranges):
    n, (first, last) = 13, sorted(min(end, 13) for end in ranges)
    offsets, columns = neighbors_below(rows, n)
    csr = Csr(offsets, columns)
    expected = in_edges_of(offsets, columns, n, first, last)
    groups = in_edges.group(csr, csr, 0, 0, n, (first, last), threads)
    assert [array.dtype for array in groups] == [np.int64, np.uint64, np.int64]
    assert [array.tolist() for array in groups] == [list(array) for array in expected]


@each_count
@settings(max_examples=40, deadline=None)
@given(rows=pairs, asked=pairs)
def test_edges_are_found(threads, rows, asked):
    offsets, columns = neighbors_below(rows, 13)
    position = {}
    for u in range(13):
        for p in range(offsets[u], offsets[u + 1]):
            position[u, int(columns[p])] = p
    expected = [position.get((max(row), min(row)), -1) for row in asked]
    for dtype in (np.uint32, np.int64):
        u, v = (np.array([row[end] for row in asked], dtype) for end in (0, 1))
        positions = look_up.find_edges(Csr(offsets, columns), u, v, threads)
        assert positions.dtype == np.int64 and positions.tolist() == expected
    values, rank = np.arange(len(columns), dtype=np.uint32) + 7, np.arange(13, dtype=np.uint32)
    kinds = [RowColumn(values, absent, "int64") for absent in (0, -1)]
    counts, labels = look_up.row_values(Csr(offsets, columns), u, v, threads, rank, kinds)
    assert counts.dtype == np.int64
    assert counts.tolist() == [p + 7 if p >= 0 else 0 for p in expected]
    assert labels.tolist() == [p + 7 if p >= 0 else -1 for p in expected]


def test_a_pair_that_came_after_pairs_were_counted_has_no_place():
    u, none = np.array([3, 3], np.uint32), np.empty(0, np.uint32)
    places, ends = np.zeros(1, np.int64), np.ones(1, np.int64)
    keys, row = np.zeros(2, np.uint64), np.zeros(2, np.uint32)
    size = (none, 5, 5, 3, 7)
    assert look_up._write_rows(u, u - 1, *size, places, ends, keys, row) == 1
    assert (keys.tolist(), row.tolist()) == ([3 << 32 | 2, 0], [7, 0])


@each_count
@pytest.mark.parametrize("slots", [4, 64])
def test_edge_counts_are_the_common_neighbors(monkeypatch, threads, slots):
    use(monkeypatch, threads)
    monkeypatch.setattr(cpu, "TABLE", slots)  # ranks share slots, or each has its own
    monkeypatch.setattr(row_counts, "RANGE", 50)
    monkeypatch.setattr(row_counts, "PROBES", 1)  # so that the work of a range is cut, too
    rows = [*skewed(40, 500, threads), (0, 0), (45, 0), (45, 1)]
    offsets, columns = neighbors_below(rows, 50)  # the last ranks have no edge
    neighbors = [set() for _ in range(50)]
    for u, v in rows:
        if u != v:
            neighbors[u].add(v)
            neighbors[v].add(u)
    edges = zip(np.repeat(range(50), np.diff(offsets)), columns.tolist(), strict=True)
    expected = [len(neighbors[u] & neighbors[v]) for u, v in edges]
    counts = cpu.edge_counts(cpu.prepare(Csr(offsets, columns)))
    assert counts.dtype == np.uint32 and counts.tolist() == expected
    assert sum(expected) > 1000


@each_count
@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64", "int8"])
def test_degrees_count_both_ends(monkeypatch, threads, dtype):
    use(monkeypatch, threads)
    ends = np.array(skewed(100, 1000, 3)).T.astype(dtype)
    degree, n = cpu.degrees(*ends, 120)
    assert degree.dtype == np.int64
    assert degree.tolist() == np.bincount(ends.ravel().astype(int), minlength=120).tolist()
    assert n == len(np.unique(ends))


@pytest.mark.parametrize("ids", ["dense", "text"])
def test_answers_are_the_same_for_any_number_of_threads(monkeypatch, ids):
    edges = datasets.rmat(9, seed=5)
    loops = pd.DataFrame({"src": [7, 7], "dst": [7, 7]})
    edges = pd.concat([edges, loops, edges[::-1].rename(columns={"src": "dst", "dst": "src"})])
    edges = edges.reset_index(drop=True)
    if ids == "text":
        edges = edges.astype(str)
    answers = []
    for threads in THREADS:
        use(monkeypatch, threads)
        graph = tc.Graph(edges)._prepared
        arrays = [graph.order.rank, graph.csr.offsets, graph.csr.columns]
        layout = graph.layout
        arrays += [layout.in_offsets, layout.in_edges, layout.probe_counts, graph.row_edges()]
        arrays += [graph.edge_counts, graph.trussness]
        answers.append(arrays)
    for arrays in answers[1:]:
        for array, first in zip(arrays, answers[0], strict=True):
            assert array.dtype == first.dtype and array.tobytes() == first.tobytes()
    rows = list(edges.itertuples(index=False, name=None))
    assert tc.count(edges) == reference.count(rows)


@each_count
def test_batches_of_threads_are_oriented_as_a_whole(monkeypatch, threads):
    ends = np.array(skewed(50, 1001, 1)).T.copy()
    rank = np.random.default_rng(0).permutation(50).astype(np.uint32)
    backend = open_frame(pd.DataFrame({"src": ends[0], "dst": ends[1]}), None)[1]
    use(monkeypatch, threads)
    of_ends = rank[ends]
    larger, smaller = orient.ranks_of_ends((ends[0], ends[1]), rank, backend)
    assert (larger == of_ends.max(axis=0)).all() and (smaller == of_ends.min(axis=0)).all()
    keys = orient.orient((ends[0], ends[1]), rank, backend)
    assert keys.tolist() == keys_of(of_ends.T.tolist()).tolist()


def test_an_error_of_a_thread_reaches_the_caller():
    def task(number, thread):
        if number == 5:
            raise ValueError("five")
        return number

    with pytest.raises(ValueError, match="five"):
        _parallel.parallel_for(task, 9, 3)
    assert _parallel.parallel_for(lambda number, thread: number, 9, 3) == 36


@pytest.mark.parametrize("most", [0, 1, 3])
def test_threads_that_cannot_start(monkeypatch, most):
    """Under a limit of memory: those that started do all tasks, and nothing is lost."""
    started, start = [], threading.Thread.start

    def few(thread):
        if len(started) >= most:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", few)
    assert _parallel.parallel_for(lambda number, thread: number, 1000, 8) == 499_500
    started.clear()
    stopped = threading.Event()
    with pytest.raises(MemoryError, match="can't start new thread, of 8: NUMBA_NUM_THREADS sets"):
        _parallel.run_together(lambda thread: int(stopped.wait()), 8, stopped.set, lambda: None)


def test_memory_that_runs_out_behind_the_last_stage(monkeypatch):
    def full(*args):
        raise MemoryError("Unable to allocate 5 GiB")

    monkeypatch.setattr(PandasAdapter, "frame", full)
    with pytest.raises(
        tc.CapacityError, match=r"in triangles_over_time: Unable .* 5 GiB; memory_est"
    ):
        tc.triangles_over_time(datasets.karate().assign(t=1), time="t")
