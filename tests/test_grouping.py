"""In-edges that are moved to their vertices, beside those that are sorted, on the emulator."""

from dataclasses import replace

import numpy as np
import pytest
from emulator_support import SEEDS, compiler
from kernel_support import ENGINE, fan, keys_of, random_rows, union

from rapids_tc import testing
from rapids_tc.engines.cpu import engine as cpu
from rapids_tc.kernels.method import Capacities

__all__ = ["compiler"]
pytestmark = pytest.mark.usefixtures("compiler")

# Repeats, loops, hubs, and more columns than are grouped without a sort; edges of several tiles.
ROWS = {
    "none": [],
    "one": [(0, 1)],
    "fan": fan(700),
    "random": random_rows(900, 9000, 3),
    "far": union(random_rows(300, 5000, 1), [(u, 900 - u) for u in range(400)], fan(40)),
}


def by_vertex(layout):
    """The in-edges of each middle vertex, sorted."""
    parts = np.split(layout.in_edges, layout.in_offsets[1:-1])
    return [np.sort(part).tolist() for part in parts]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
def test_a_layout_is_the_same_with_and_without_a_sort(rows, seed):
    n = 3 + max((max(row) for row in rows), default=-1)
    csr = ENGINE.csr(keys_of(rows), n)
    by_sort = replace(ENGINE, capacities=Capacities(grouped_from=2**40)).prepare(csr)
    for sizes in ({}, {"hot": 256, "counted": 20}, {"hot": 512, "counted": 512}):
        engine = replace(ENGINE, capacities=Capacities(grouped_from=0, **sizes))
        with testing.thread_order(seed):
            moved = engine.prepare(csr)
        assert moved.in_offsets.tolist() == by_sort.in_offsets.tolist()
        assert by_vertex(moved) == by_vertex(by_sort)
        assert moved.codes.tolist() == by_sort.codes.tolist()
        pieces = [np.sort(layout.heavy.view("uint64")).tolist() for layout in (moved, by_sort)]
        assert pieces[0] == pieces[1]
        assert engine.count(moved, method="bitmap") == engine.count(by_sort, method="bitmap")


@pytest.mark.parametrize("seed", SEEDS)
def test_in_edges_say_where_their_rows_start(seed):
    rows = random_rows(700, 6000, 5)
    csr = ENGINE.csr(keys_of(rows), 700)
    with testing.thread_order(seed):
        engine = replace(ENGINE, capacities=Capacities(grouped_from=0, hot=256))
        layout = engine.prepare(csr)
    starts, entries = layout.in_edges >> 32, layout.in_edges & 0xFFFFFFFF
    positions = (starts + entries).astype("int64")
    assert np.sort(positions).tolist() == [*range(csr.m)]
    assert starts.tolist() == csr.offsets[csr.rows[positions]].tolist()
    vertices = np.repeat(np.arange(csr.n), np.diff(layout.in_offsets.astype("int64")))
    assert csr.columns[positions].tolist() == vertices.tolist()


def test_triangles_are_listed_in_one_order():
    """The order in which blocks of threads run does not matter."""
    csr = ENGINE.csr(keys_of(ROWS["random"]), 903)
    engine, by_cpu = replace(ENGINE, capacities=Capacities(grouped_from=0)), cpu.prepare(csr)
    with testing.thread_order(1):
        layout = engine.prepare(csr)
        counts = engine.triangles_per_in_edge(layout)
    assert counts.tolist() == cpu.triangles_per_in_edge(by_cpu).tolist()
    starts = np.concatenate([[0], np.cumsum(counts, dtype="int64")])
    listed = engine.list_triangles(layout, starts, 0, int(starts[-1]))
    assert (listed == cpu.list_triangles(by_cpu, starts, 0, int(starts[-1]))).all()
