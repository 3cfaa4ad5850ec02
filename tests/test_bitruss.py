"""The bitruss decomposition: the engines against a naive peel, closed forms, and memory."""

from functools import partial
from itertools import cycle

import numpy as np
import pandas as pd
import pytest
import reference
from emulator_support import SEEDS, Numpy, compiler, long, plain_only, run_again
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_support import biclique, clique, keys_of, random_rows, union, wheel

import rapids_tc as tc
from rapids_tc import _parallel, testing
from rapids_tc._parallel import limit_threads
from rapids_tc.engines.blooms import require_index
from rapids_tc.engines.cpu import bitruss
from rapids_tc.engines.cpu import engine as cpu
from rapids_tc.engines.gpu.bitruss import CudaBitruss
from rapids_tc.executors.local import PartitionedFrame

__all__ = ["compiler"]
pytestmark = [pytest.mark.cpu_only, pytest.mark.usefixtures("compiler")]

TINY = {"threads": 128, "options": ("-DRTC_PEEL_TINY",)}
ON_CARD = {
    "default": {},  # one block
    "blocks": {**TINY, "share": 9},
    "pauses": {**TINY, "share": 50, "rounds": 2, "batch": 30},
}


def sided(size, edges, skew):
    """Rows between two sides, of which a few vertices have many."""
    return [(u, size + v) for u, v in random_rows(size, edges, skew)]


def hundred():
    """About a hundred edges: cliques, bicliques, squares that hang together, and a tail."""
    ladder = [*((2 * i, 2 * i + 2) for i in range(6)), *((2 * i + 1, 2 * i + 3) for i in range(6))]
    ladder += [(2 * i, 2 * i + 1) for i in range(7)]
    return union(clique(6), biclique(3, 5), biclique(2, 7), ladder, [*wheel(7), (7, 8), (8, 9)])


ROWS = {
    "empty": [],
    "loops": [(0, 0), (2, 2)],
    "star": [(0, leaf) for leaf in range(1, 40)],
    "hundred": hundred(),
    # Loops, repeats, both directions, and ranks that do not follow degrees.
    "mixed": union(clique(9), [*wheel(20), (1, 0), (3, 3), (2, 1)], random_rows(40, 300, 1.3)),
    "skewed": random_rows(120, 900, 3.0),
    "two sides": sided(80, 700, 2.0),
}


@pytest.fixture(scope="module", params=ROWS)
def graph(request):
    """The wedges of a graph, the squares of its edges and their bitruss numbers."""
    rows = ROWS[request.param]
    csr = cpu.csr(keys_of(rows), 1 + max((max(row) for row in rows), default=-1))
    number = reference.bitruss(rows)
    edges = zip(csr.columns.tolist(), csr.rows.tolist(), strict=True)
    return *laid_out(csr), np.array([number[edge] for edge in edges], np.int32)


def laid_out(csr):
    wedges = cpu.prepare_wedges(csr)
    return wedges, cpu.squares(wedges, per="edge")[1]


def check(decompose, graph):
    wedges, squares, numbers = graph
    before, reports = squares.copy(), []
    found = decompose(wedges, squares, 2**40, on_progress=lambda part, note: reports.append(part))
    assert found.dtype == np.int32
    assert found.tolist() == numbers.tolist()
    assert (squares == before).all()
    assert reports == sorted(reports) and reports[-1:] == [1] * bool(len(numbers))


@plain_only
@pytest.mark.parametrize("threads", [1, 3])
def test_on_the_cpu(monkeypatch, graph, threads):
    check(bitruss.decompose, graph)
    monkeypatch.setattr(_parallel, "SERIAL_BELOW", 0)
    with limit_threads(threads):
        for large, pause in ((0, 50), (20, 2**28)):  # threads share all work, or what is large
            check(partial(bitruss.decompose, large=large, pause=pause), graph)


@pytest.mark.parametrize(
    ("sizes", "seed"), [*zip(ON_CARD.values(), cycle(SEEDS), strict=False)], ids=ON_CARD
)
def test_on_the_emulated_card(graph, sizes, seed):
    peeler = CudaBitruss(Numpy(), testing.compile, 2, **sizes)
    with testing.thread_order(seed):
        check(peeler.decompose, graph)


@plain_only
def test_closed_forms():
    """An edge of K_ab is in (a - 1) (b - 1) squares, one of K_n in (n - 2) (n - 3)."""
    cases = {(a, b): (biclique(a, b), (a - 1) * (b - 1)) for a, b in ((60, 50), (2, 70_000))}
    cases |= {n: (clique(n), (n - 2) * (n - 3)) for n in (4, 40)}
    for rows, number in cases.values():
        csr = cpu.csr(keys_of(rows), 1 + max(map(max, rows)))
        assert set(bitruss.decompose(*laid_out(csr), 2**40).tolist()) == {number}


@plain_only
def test_a_gpu_that_cannot_hold_all_blocks_gets_one(monkeypatch):
    from rapids_tc.kernels import launch

    launches, together = [], launch.together

    def some(kernel, blocks, threads, args):
        launches.append(blocks)
        return blocks == 1 and together(kernel, blocks, threads, args)

    monkeypatch.setattr("rapids_tc.engines.gpu.bitruss.launch.together", some)
    peeler = CudaBitruss(Numpy(), testing.compile, 2, **TINY, share=9)
    csr = cpu.csr(keys_of(clique(9)), 9)
    assert peeler.decompose(*laid_out(csr), 2**40).tolist() == [42] * csr.m
    assert launches == [2, 1]


@plain_only
@pytest.mark.parametrize(
    ("wedges", "memory", "together"), [(101, 2400, 0), (2**32 - 1, 2**40, 0), (100, 3119, 10)]
)
def test_an_index_that_does_not_fit(wedges, memory, together):
    require_index(100, 2400)
    require_index(100, 3120, 10)
    with pytest.raises(tc.CapacityError, match=f"index of {wedges:,} wedges.*edge_squares"):
        require_index(wedges, memory, together)


@plain_only
def test_a_limit_leaves_room_for_the_index():
    """K_99 has 65 wedges for each edge: their index is most of what it takes."""
    club = pd.DataFrame(clique(99), columns=["src", "dst"])
    wedges = 99 * 98 * 97 // 3
    for edges in (club, tc.Graph(club)):
        held = max(tc.memory_estimate(edges, function="bitruss").values())
        with pytest.raises(tc.CapacityError, match=f"index of {wedges:,} wedges"):
            tc.bitruss(edges, memory_limit=held + 24 * wedges - 1)
        assert set(tc.bitruss(edges, memory_limit=held + 24 * wedges)) == {97 * 96}
    with pytest.raises(tc.CapacityError, match="index of"):
        tc.annotate(club, "bitruss", memory_limit=held + 10**6)


def test_a_cluster_is_not_told_to_keep_a_truss():
    square = pd.DataFrame({"src": [0, 1, 2, 3], "dst": [1, 2, 3, 0]})  # in no 3-truss
    for function in (tc.bitruss, lambda edges: tc.annotate(edges, "bitruss")):
        with pytest.raises(TypeError, match=r"on one machine: give it edges\.compute\(\)$"):
            function(PartitionedFrame([square]))


@plain_only
@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(*[st.integers(0, 9)] * 2, st.integers(0, 1)), min_size=1, max_size=60))
def test_any_rows_in_groups(rows):
    """Loops, repeats and both directions, of two groups whose ids are alike."""
    frame = pd.DataFrame(rows, columns=["src", "dst", "day"])
    right = [reference.bitruss([(u, v) for u, v, g in rows if g == day]) for day in (0, 1)]
    found = tc.bitruss(frame, by="day")
    assert found.dtype == np.int32
    assert found.tolist() == [right[day].get((min(u, v), max(u, v)), 0) for u, v, day in rows]


@long
@plain_only
@pytest.mark.parametrize("sanitizer", ["address", "thread"])
def test_overruns_and_races(sanitizer):
    run_again(__file__, sanitizer, "-k", "hundred and card")
