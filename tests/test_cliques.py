"""Cliques of three to five vertices: against igraph, closed forms, and the other counts."""

from collections import Counter
from contextlib import nullcontext
from dataclasses import replace
from itertools import combinations, cycle
from math import comb

import igraph as ig
import numpy as np
import pandas as pd
import pytest
import reference
from emulator_support import SEEDS, compiler, long, plain_only, run_again
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_support import ENGINE, clique, hundred, keys_of, random_rows, union, wheel

import rapids_tc as tc
from rapids_tc import _parallel, datasets, testing
from rapids_tc.engines.cpu import clique_rows
from rapids_tc.engines.cpu import engine as cpu
from rapids_tc.engines.local_graphs import check_rows
from rapids_tc.kernels.method import Capacities
from rapids_tc.plan import costs
from rapids_tc.preparation.csr import Csr

__all__ = ["compiler"]
pytestmark = [pytest.mark.cpu_only, pytest.mark.usefixtures("compiler")]

SIZES = (3, 4, 5)
LONG = [  # rows in shared memory, and in global memory: each by itself, or some together
    Capacities(),
    Capacities(clique_row=6, clique_words=1),
    Capacities(clique_row=20, clique_words=2000),
]
ROWS = {
    "empty": [],
    "loops": [(0, 0), (2, 2)],
    # Loops, repeats, both directions, hubs without cliques, cliques of every size up to 9.
    "mixed": union(
        *(clique(n) for n in range(2, 10)),
        [*wheel(40), (1, 0), (3, 3), (2, 1)],
        random_rows(60, 700, 1.3),
    ),
    # A row of more entries than a warp lists at once, and of more parts than one.
    "long": [*random_rows(320, 1500, 2.0), *((320, v) for v in range(320))],
}


def csr_of(rows):
    n = 1 + max((max(row) for row in rows), default=-1)
    return cpu.csr(keys_of(rows), n)


def counted(rows, k, csr):
    """By igraph: the cliques at their last rank, by rank, and by edge."""
    graph = ig.Graph(n=csr.n, edges=[row for row in rows if row[0] != row[1]]).simplify()
    last, corners, sides = (np.zeros(csr.n, int), np.zeros(csr.n, int), Counter())
    for found in graph.cliques(k, k):
        last[max(found)] += 1
        corners[list(found)] += 1
        sides.update(combinations(sorted(found, reverse=True), 2))
    edges = zip(csr.rows.tolist(), csr.columns.tolist(), strict=True)
    return last, corners, np.array([sides[edge] for edge in edges], int)


def assert_counts(engine, csr, k, right):
    last, corners, sides = right
    for per, values in (("row", None), ("vertex", corners), ("edge", sides)):
        at_last, counts = engine.cliques(csr, k, per=per)
        np.testing.assert_array_equal(at_last, last)
        assert at_last.dtype == np.int64
        if values is None:
            assert counts is None
        else:
            np.testing.assert_array_equal(counts, values)
            assert counts.dtype == np.int64


@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
def test_engines_agree_with_igraph(rows, monkeypatch):
    csr = csr_of(rows)
    for k in SIZES:
        right = counted(rows, k, csr)
        for seed, sizes in zip(cycle(SEEDS), LONG, strict=False):
            with testing.thread_order(seed):
                assert_counts(replace(ENGINE, capacities=sizes), csr, k, right)
        if testing.sanitizer() is None:
            assert_counts(cpu, csr, k, right)
            monkeypatch.setattr(costs, "CLIQUE_ROW", 5)  # all threads share what is longer
            monkeypatch.setattr(_parallel, "SERIAL_BELOW", 0)
            with monkeypatch.context() as patch:
                patch.setattr(clique_rows, "TABLE", 16)  # ranks share slots
                assert_counts(cpu, csr, k, right)
            monkeypatch.undo()


@plain_only
def test_closed_forms():
    for n, sizes in ((60, SIZES), (300, (3, 4))):
        csr = csr_of(clique(n))
        for k in sizes:
            for per, each in (("vertex", comb(n - 1, k - 1)), ("edge", comb(n - 2, k - 2))):
                at_last, counts = cpu.cliques(csr, k, per=per)
                assert int(at_last.sum()) == comb(n, k) and (counts == each).all()
    assert int(cpu.cliques(csr, 5)[0].sum()) == comb(300, 5)


@plain_only
@pytest.mark.parametrize("engine", [nullcontext, testing.host_engine])
def test_turan_graphs(engine):
    """T(n, 7): a clique takes its vertices from as many of the seven parts."""
    turan = [(u, v) for u in range(21) for v in range(u) if u % 7 != v % 7]
    frame = pd.DataFrame(turan, columns=["src", "dst"])
    with engine():
        for k in SIZES:
            assert tc.cliques(frame, k=k) == comb(7, k) * 3**k
            assert set(tc.edge_cliques(frame, k=k)) == {comb(5, k - 2) * 3 ** (k - 2)}


@plain_only
def test_progress_of_both_engines():
    csr = csr_of(ROWS["long"])
    for engine in (cpu, replace(ENGINE, capacities=LONG[2])):
        done = []
        at_last, _ = engine.cliques(csr, 4, on_progress=done.append)
        assert at_last.sum() == 595 and done == sorted(done)
    assert done[-1] == 1


@plain_only
def test_the_karate_club():
    """Values that igraph and NetworkX both give."""
    edges = datasets.karate()
    assert [tc.cliques(edges, k=k) for k in SIZES] == [45, 11, 2]
    found = tc.vertex_cliques(edges, vertices=[0, 1, 2, 3, 33])
    assert found["cliques"].tolist() == [7, 7, 7, 7, 2]


@plain_only
@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.sampled_from("ab")), max_size=60)
)
def test_small_graphs_in_groups(rows):
    """Repeats, loops and both directions; every group is a graph of its own."""
    edges = pd.DataFrame(rows, columns=["src", "dst", "g"]).astype({"src": "i8", "dst": "i8"})
    for k in (4, 5):
        totals = tc.cliques(edges, k=k, by="g")
        corners, sides = tc.vertex_cliques(edges, k=k, by="g"), tc.edge_cliques(edges, k=k, by="g")
        assert totals["g"].tolist() == sorted(set(edges["g"]))
        for group, total in zip(totals["g"], totals["cliques"], strict=True):
            own = edges["g"] == group
            pairs = list(zip(edges["src"][own], edges["dst"][own], strict=True))
            assert total == reference.cliques(pairs, k)
            right = reference.vertex_cliques(pairs, k=k)
            of_group = corners[corners["g"] == group]
            found = zip(of_group["vertex"], of_group["cliques"], strict=True)
            assert dict(found) == right
            right = reference.by_row(pairs, reference.edge_cliques(pairs, k))
            assert sides[own].tolist() == right


@plain_only
def test_numbers_past_int64_are_exact_or_refused(monkeypatch):
    """No real graph has so many that can be counted: the sums at last ranks are made up."""
    edges = pd.DataFrame(clique(6), columns=["src", "dst"]).assign(g=1)
    huge = np.full(6, 2**62 + 3)
    monkeypatch.setattr(cpu, "cliques", lambda csr, k, per="row", **_: (huge, huge[:1]))
    assert tc.cliques(edges, source="src", destination="dst") == 6 * (2**62 + 3)
    for call in (tc.vertex_cliques, tc.edge_cliques, lambda e, **o: tc.cliques(e, by="g", **o)):
        with pytest.raises(tc.CapacityError, match="27,670,116,110,564,327,442 cliques of 4"):
            call(edges, source="src", destination="dst")


@long
@plain_only
def test_overruns():
    run_again(__file__, "address", "-k", "igraph and mixed")


@long
@plain_only
def test_races():
    run_again(__file__, "thread", "-k", "hundred")


def test_a_hundred_rows():
    """As few as ThreadSanitizer takes: rows in shared memory and in global memory."""
    rows = hundred()
    csr = csr_of(rows)
    for k in (4, 5):
        right = counted(rows, k, csr)
        for sizes in LONG[:2]:
            assert_counts(replace(ENGINE, capacities=sizes), csr, k, right)


@pytest.mark.parametrize("longest", [costs.MOST_CLIQUE_ROW, costs.MOST_CLIQUE_ROW + 1])
def test_the_longest_row_of_which_cliques_are_counted(longest):
    row = Csr(np.array([0, longest]), np.arange(longest, dtype="uint32"))
    with pytest.raises(tc.CapacityError) if longest > costs.MOST_CLIQUE_ROW else nullcontext():
        check_rows(row)
