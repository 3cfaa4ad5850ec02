"""Squares, cycles of four vertices: the engines against the square of the adjacency matrix."""

from math import comb

import numpy as np
import pytest
from emulator_support import compiler, plain_only
from kernel_support import clique, keys_of, random_rows, union, wheel

import rapids_tc as tc
from rapids_tc.engines.cpu import engine as cpu
from rapids_tc.engines.cpu import wedges
from rapids_tc.engines.wedges import check_edges
from rapids_tc.plan import costs
from rapids_tc.preparation.csr import Csr

__all__ = ["compiler"]
pytestmark = [pytest.mark.cpu_only, pytest.mark.usefixtures("compiler")]


def biclique(a, b):
    return [(i, a + j) for i in range(a) for j in range(b)]


def grid(side):
    right = [(r * side + c, r * side + c + 1) for r in range(side) for c in range(side - 1)]
    return right + [
        (r * side + c, (r + 1) * side + c) for r in range(side - 1) for c in range(side)
    ]


ROWS = {
    "empty": [],
    "loops": [(0, 0), (2, 2)],
    "star": [(0, leaf) for leaf in range(1, 100)],
    # Loops, repeats, both directions, and ranks that do not follow degrees.
    "mixed": union(
        *(clique(n) for n in range(2, 10)),
        [*wheel(40), (1, 0), (3, 3), (2, 1)],
        biclique(5, 7),
        grid(5),
        random_rows(60, 700, 1.3),
    ),
    "skewed": random_rows(400, 3000, 3.0),
}


def csr_of(rows):
    n = 1 + max((max(row) for row in rows), default=-1)
    return cpu.csr(keys_of(rows), n)


def counted(csr):
    """By the square of the adjacency matrix: the total, by rank and by edge."""
    rows, columns, near = csr.rows, csr.columns, np.zeros((csr.n, csr.n), int)
    near[rows, columns] = near[columns, rows] = 1
    common = near @ near
    np.fill_diagonal(common, 0)
    by_vertex = (common * (common - 1) // 2).sum(axis=1)
    paths = common @ near  # of three edges, whose second vertex is another than the last
    by_edge = paths[rows, columns] - (near.sum(axis=1)[columns] - 1)
    return int(by_vertex.sum()) // 4, by_vertex, by_edge


def assert_squares(engine, csr, right, parts=1):
    layout = engine.prepare_wedges(csr)
    for per, values in zip(("graph", "vertex", "edge"), (None, *right[1:]), strict=True):
        found = [engine.squares(layout, per=per, share=(part, parts)) for part in range(parts)]
        assert sum(total for total, _ in found) == right[0]
        if values is None:
            assert found[0][1] is None
        else:
            np.testing.assert_array_equal(sum(counts for _, counts in found), values)
            assert found[0][1].dtype == np.int64


@plain_only
@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
def test_the_cpu_engine(rows, monkeypatch):
    csr = csr_of(rows)
    right = counted(csr)
    assert_squares(cpu, csr, right)
    for serial_below, hot in ((0, 0), (10**9, 3)):
        monkeypatch.setattr(wedges, "SERIAL_BELOW", serial_below)
        monkeypatch.setattr(wedges, "HOT", hot)
        assert_squares(cpu, csr, right, parts=3)


@plain_only
def test_closed_forms():
    """Counters pass 2**16, and totals 2**32."""
    for rows, total in (
        (clique(60), 3 * comb(60, 4)),
        (biclique(300, 200), comb(300, 2) * comb(200, 2)),
        (biclique(2, 70_000), comb(70_000, 2)),
        (grid(30), 29**2),
    ):
        csr = csr_of(rows)
        layout = cpu.prepare_wedges(csr)
        assert cpu.squares(layout) == (total, None)
        for per in ("vertex", "edge"):
            found, counts = cpu.squares(layout, per=per)
            assert found == total and counts.sum() == 4 * total
    assert set(cpu.squares(cpu.prepare_wedges(csr_of(clique(9))), per="edge")[1]) == {42}


@plain_only
def test_fewer_threads_save_memory(monkeypatch):
    """Counters of 4 bytes for each of 100,000 vertices, at 8 bytes an edge: so many threads."""
    monkeypatch.setattr(wedges, "thread_count", lambda: 64)
    csr = Csr(np.zeros(100_001, "int64"), np.zeros(150_000, "uint32"))
    monkeypatch.setattr(costs, "MOST_WEDGE_COUNTERS", 0)
    assert wedges._threads(csr, 2**30) == 3
    monkeypatch.undo()
    assert wedges._threads(csr, 10) == 1


@pytest.mark.parametrize("edges", [2**31 - 1, 2**31])
def test_the_most_edges_of_which_squares_are_counted(edges):
    csr = Csr(np.array([0, edges]), np.broadcast_to(np.uint32(0), edges))
    if edges < 2**31:
        check_edges(csr)
        return
    with pytest.raises(tc.CapacityError, match="2,147,483,648 edges, and squares are counted of"):
        check_edges(csr)
