"""The kernels of list.cu on the emulator: against the oracle, in any thread order, sanitized."""

from dataclasses import replace

import numpy as np
import pytest
import reference
from emulator_support import SEEDS, compiler, long, plain_only, run_again
from kernel_support import ENGINE, GRAPHS, SIZES, keys_of

from rapids_tc import testing
from rapids_tc.blocks.quantities import Products
from rapids_tc.engines.cpu import engine as cpu

__all__ = ["compiler"]
pytestmark = pytest.mark.usefixtures("compiler")


def laid_out(rows, engine=ENGINE):
    n = 1 + max((max(row) for row in rows), default=-1)
    return engine.prepare(engine.csr(keys_of(rows), n))


def starts_of(layout, engine=ENGINE):
    return np.concatenate([[0], np.cumsum(engine.triangles_per_in_edge(layout), dtype=np.int64)])


def oracle(rows):
    """Triangles of ranks as u > v > w."""
    return sorted(triangle[::-1] for triangle in reference.list_triangles(rows))


def values_of(layout):
    """A value for every edge: those of small ranks are the largest."""
    csr = layout.csr
    return 1.0 / (1 + csr.rows.astype(float) + 3 * csr.columns)


def sums_of(layout, ranks):
    """For each rank the sum over its triangles of the products of `values_of` their sides."""
    csr, values = layout.csr, values_of(layout)
    u, v, w = ranks
    pairs = ((u, v), (u, w), (v, w))
    products = np.prod([values[cpu.find_edges(csr, *pair)] for pair in pairs], axis=0)
    return sum(np.bincount(corner, products, minlength=csr.n) for corner in ranks)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("rows", GRAPHS.values(), ids=GRAPHS)
def test_triangles_and_sums(rows, seed):
    with testing.thread_order(seed):
        layout = laid_out(rows)
        starts = starts_of(layout)
        ranks = ENGINE.list_triangles(layout, starts, 0, int(starts[-1]))
        sums = ENGINE.visit(layout, Products(""), values_of(layout))
    assert ranks.dtype == np.uint32
    assert sorted(map(tuple, ranks.T.tolist())) == oracle(rows)
    np.testing.assert_allclose(sums, sums_of(layout, ranks), rtol=1e-12)


@pytest.mark.parametrize("name", ["triangle", "cliques", "skewed"])
def test_the_same_order_as_on_the_cpu(name):
    layout = laid_out(GRAPHS[name])
    starts = starts_of(layout)
    on_cpu = cpu.prepare(layout.csr)
    assert (cpu.triangles_per_in_edge(on_cpu) == ENGINE.triangles_per_in_edge(layout)).all()
    ends = 0, int(starts[-1])
    assert (
        cpu.list_triangles(on_cpu, starts, *ends) == ENGINE.list_triangles(layout, starts, *ends)
    ).all()


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_what_an_edge_closes_does_not_depend_on_sizes(sizes):
    engine = replace(ENGINE, capacities=sizes)
    for name in ("cliques", "skewed"):
        layout = laid_out(GRAPHS[name], engine)
        assert (
            engine.triangles_per_in_edge(layout)
            == cpu.triangles_per_in_edge(cpu.prepare(layout.csr))
        ).all()


@pytest.mark.parametrize("step", [1, 31, 32, 33, 100])
def test_parts_are_the_whole(step):
    """Parts that begin and end inside an edge's triangles."""
    layout = laid_out([(u, v) for u in range(12) for v in range(u)])
    starts = starts_of(layout)
    total = int(starts[-1])
    whole = ENGINE.list_triangles(layout, starts, 0, total)
    parts = [
        ENGINE.list_triangles(layout, starts, first, min(first + step, total))
        for first in range(0, total, step)
    ]
    assert (np.concatenate(parts, axis=1) == whole).all()


def test_progress_of_sums():
    layout, done = laid_out(GRAPHS["dense"]), []
    visited = Products(""), values_of(layout)
    sums = ENGINE.visit(layout, *visited, on_progress=done.append)
    np.testing.assert_allclose(sums, ENGINE.visit(layout, *visited), rtol=1e-12)
    assert (done == sorted(done), done[-1]) == (True, 1)


@plain_only
def test_overruns():
    graphs = "loops or late or cliques or books or skewed"
    run_again(__file__, "address", "-k", f"triangles_and_sums and ({graphs}) or parts")


@long
@plain_only
def test_races():
    run_again(__file__, "thread", "-k", "parts and 31 or (sums and late)")
