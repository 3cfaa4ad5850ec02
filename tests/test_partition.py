"""The CSR of keys that are moved to buckets, beside that of sorted keys, on the emulator."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import reference
import scipy.sparse
from emulator_support import SEEDS, compiler
from kernel_support import ENGINE, clique, fan, keys_of, random_rows, union

import rapids_tc as tc
from rapids_tc import testing
from rapids_tc.engines.gpu import partition
from rapids_tc.errors import KernelError
from rapids_tc.kernels.method import Capacities
from rapids_tc.plan import needs
from rapids_tc.plan.record import ANALYTICS

__all__ = ["compiler"]
pytestmark = pytest.mark.usefixtures("compiler")

SMALL = {"parted_from": 0, "part_ranges": 32, "sort_threads": 64}  # 1,088 keys
LAST = 1 << 20
STAR = [(0, leaf) for leaf in range(1, 2500)]
ROWS = {  # repeats, loops, empty rows; the keys and rows of a bucket; whether all buckets fit
    "one": ([(0, 1)], 2, 60, True),
    "loops": ([(0, 0), (3, 3)] * 9, 5, 60, True),
    "cliques": (union(clique(20), clique(33), [(0, 1)] * 50), 55, 60, True),
    "random": (random_rows(900, 6000, 3), 905, 60, True),
    "star": (STAR, 2500, 60, True),
    "few buckets": (random_rows(2000, 3000, 1), 2000, 900, True),
    "wide": ([(0, LAST), (LAST - 1, LAST), (5, 70_000)] * 3, LAST + 1, 40_000, True),
    "one row": (fan(1200)[1200:], 1202, 60, False),  # too many keys for a part
    "one long row": (fan(1200)[1200:], 1202, 900, False),  # and for a bucket alone
    "one edge": ([(1, 0)] * 1200, 2, 60, False),
}


def engine_of(**sizes):
    return replace(ENGINE, capacities=Capacities(**{**SMALL, **sizes}))


def shuffled(rows):
    keys = keys_of(rows)
    np.random.default_rng(0).shuffle(keys)
    return keys


def position(keys, csr):
    """Where the edge of each key is, by a search of NumPy's."""
    of_edges = csr.rows.astype("uint64") << np.uint64(32) | csr.columns
    loops = keys >> np.uint64(32) == keys & np.uint64(2**32 - 1)
    return np.where(loops, -1, np.searchsorted(of_edges, keys))


@pytest.mark.parametrize("numbered", [False, True], ids=["keys", "numbered"])
@pytest.mark.parametrize("rows, n, bucket, fits", ROWS.values(), ids=ROWS)
def test_buckets_make_the_csr_of_a_sort(rows, n, bucket, fits, numbered):
    keys, engine = shuffled(rows), engine_of(bucket_weight=bucket)
    right = replace(ENGINE, capacities=Capacities()).csr(keys.copy(), n)
    made = partition.csr(engine, own := keys.copy(), n, numbered=numbered)
    if not fits:  # and nothing has changed, so that the keys can be sorted
        assert made is None
        assert (own == keys).all()
        made = engine.csr_of_rows(own, n)
        assert made[1] is None
    csr, found = made
    csr.validate()
    assert csr.offsets.tolist() == right.offsets.tolist()
    assert csr.columns.tolist() == right.columns.tolist()
    if fits and numbered:
        assert found.dtype == "int32"
        assert found.tolist() == position(keys, csr).tolist()


@pytest.mark.parametrize("seed", SEEDS)
def test_the_order_of_threads_is_left_open(seed):
    keys = shuffled(random_rows(300, 2000, 2))
    right = ENGINE.csr(keys.copy(), 300)
    with testing.thread_order(seed):
        csr, found = engine_of(bucket_weight=200).csr_of_rows(keys.copy(), 300)
    assert csr.columns.tolist() == right.columns.tolist()
    assert csr.offsets.tolist() == right.offsets.tolist()
    assert found.tolist() == position(keys, csr).tolist()


@pytest.mark.parametrize(("numbered", "beside"), [(False, 8), (True, 16)])
def test_what_is_taken_beside_the_keys(numbered, beside):
    keys, engine = shuffled(random_rows(3000, 30_000, 1)), engine_of(bucket_weight=600)
    partition.csr(engine, keys[:90].copy(), 3000, numbered=numbered)  # compiles the kernels
    tracemalloc.start()
    made = partition.csr(engine, keys, 3000, numbered=numbered)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert made is not None
    few = 90_000  # counts and cuts, which large graphs have as many of
    assert beside * len(keys) < peak < beside * len(keys) + few


def test_what_a_sort_of_all_keys_does_better_is_left_to_it():
    def pays(size=10**8, n=4 * 10**6, *, numbered=False, most_shared=100 * 1024, **sizes):
        engine = replace(ENGINE, capacities=Capacities(**sizes), most_shared=most_shared)
        return partition.pays(engine, size, n, numbered=numbered)

    assert pays()
    assert pays(size=2**28, n=8_870_700)  # R-MAT 24
    assert not pays(size=2 * 10**7)
    assert not pays(size=10**9)  # more than all buckets hold
    assert not pays(n=10**4)  # long rows
    assert not pays(most_shared=64 * 1024)
    assert not pays(n=10**7)  # keys of more than 32 bits, whose search is longer than their sort
    assert pays(n=10**7, numbered=True)
    assert not pays(n=5 * 10**7, numbered=True)
    assert not pays(size=0, n=0, parted_from=0)


def test_the_host_waits_once(monkeypatch):
    reads = []

    class Array(np.ndarray):
        def tolist(self):
            reads.append("tolist")
            return super().tolist()

        def __int__(self):
            reads.append("int")
            return super().__int__()

    keys, engine = shuffled(random_rows(300, 2000, 2)), engine_of(bucket_weight=200)
    zeros = np.zeros
    monkeypatch.setattr(np, "zeros", lambda *of, **how: zeros(*of, **how).view(Array))
    assert partition.csr(engine, keys, 300, numbered=True) is not None
    assert reads == ["tolist"]


def test_keys_of_rows_that_are_none_say_that_ids_have_changed():
    keys = keys_of([(0, 1), (1, 9), (2, 3)])
    with pytest.raises(KernelError):
        engine_of().csr(keys, 9)


@pytest.fixture
def moved(monkeypatch):
    """Which graphs were made of keys in buckets."""
    made, of_keys = [], partition.csr

    def csr(*of, **how):
        made.append(of_keys(*of, **how))
        return made[-1]

    monkeypatch.setattr(partition, "csr", csr)
    return made


IDS = {
    "small": lambda row: row,
    "2^31": lambda row: row + 2**31 - 7,
    "sparse": lambda row: row * 10**15,
}


@pytest.mark.parametrize(("ids", "groups"), [*[(name, None) for name in IDS], ("small", "g")])
def test_answers_by_row_are_the_same(ids, groups, moved):
    rows = [*random_rows(120, 900, 2), *clique(9), (500, 500)]
    frame = pd.DataFrame(IDS[ids](np.array(rows)), columns=["src", "dst"])
    frame = frame.assign(g=np.arange(len(rows)) % 2)
    names = "triangles", "trussness", "jaccard"
    own = {} if groups is None else {"by": groups}
    with testing.host_engine(
        capacities=Capacities(**SMALL, bucket_weight=60, small=0, small_sparse=0)
    ):
        annotated = tc.annotate(frame, *names, **own)
        truss = tc.k_truss(frame, 4, **own)
        total = tc.count(frame, **own)
    assert len(moved) == 3
    assert [found is not None for _, found in moved] == [True, True, False]
    right = tc.annotate(frame, *names, **own)
    pd.testing.assert_frame_equal(annotated, right)
    pd.testing.assert_frame_equal(truss, tc.k_truss(frame, 4, **own))
    if groups is None:
        assert total == reference.count(rows)
        counts = reference.edge_triangles(rows)
        by_row = [counts.get((min(row), max(row)), 0) for row in rows]
        assert annotated["triangles"].tolist() == by_row


def test_vertices_of_a_matrix_are_no_rows(moved):
    ends = [0, 1, 2, 5], [1, 2, 0, 5]
    matrix = scipy.sparse.coo_array(([1] * 4, ends), (9, 9))
    with testing.host_engine(capacities=Capacities(**SMALL, small=0, small_sparse=0)):
        counts = tc.edge_triangles(matrix)
    assert len(moved) == 1
    assert list(counts) == [1, 1, 1, 0]


def test_rows_are_numbered_where_the_answer_is_the_height_of_a_call():
    def numbered(name, **own):
        record = ANALYTICS[name]
        return needs.numbers_rows(record.work_of({**record.defaults, **own}, grouped=False))

    work = ANALYTICS["edge_triangles"].most
    on_gpu, on_cpu = (
        {stage.name: stage.bytes for stage in needs.stages(work, 1000, 0, True, engine)}
        for engine in ("cuda", "cpu")
    )
    assert on_gpu["count"] - on_gpu["orient"] == 4 * 1000
    assert on_cpu["count"] - on_cpu["orient"] < 4 * 1000
    assert numbered("edge_triangles")
    assert numbered("trussness")
    assert numbered("k_truss", k=3)
    assert not numbered("count")
    assert not numbered("edge_squares")
    assert not numbered("clustering")
