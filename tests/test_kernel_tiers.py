"""Every method and visitor on graphs made to be hard, in any thread order, under each sanitizer.

The graphs of test_kernels.py are run by it as they are; here they are run under the sanitizers too.
ThreadSanitizer is slow: it meets graphs of a hundred edges, which `hundred` in a test's name says.
"""

import json
import subprocess
import sys
from dataclasses import replace
from functools import cache
from itertools import cycle
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import reference
from emulator_support import SEEDS, compiler, long, plain_only, run_again
from graphs import book, complete, star, wheel
from kernel_support import (
    CASES,
    ENGINE,
    each_case,
    gives_edges,
    hundred,
    keys_of,
    pages,
    union,
)

import rapids_tc as tc
from rapids_tc import datasets, testing

__all__ = ["compiler"]
pytestmark = pytest.mark.usefixtures("compiler")

HERE = Path(__file__).parent


def atlas():
    """All 1253 graphs of up to seven vertices, side by side."""
    return list(nx.disjoint_union_all(nx.graph_atlas_g()).edges)


def cases():
    """The graphs of cases.json side by side, their ids numbered."""
    rows = []
    for case in json.loads((HERE / "data" / "cases.json").read_text()):
        ids = {
            id: i for i, id in enumerate(dict.fromkeys(end for row in case["edges"] for end in row))
        }
        rows.append([(ids[u], ids[v]) for u, v in case["edges"]])
    return union(*rows)


def degrees():
    """Hubs, rims and cliques of degrees where a kernel may change its mind."""
    around = [1, 2, 31, 32, 33, 100, 101, 1024, 1025]
    wheels = [wheel(d).rows for d in around if d > 3]
    stars = [star(d).rows for d in around]
    cliques = [complete(d + 1).rows for d in around if d < 100]
    return union(*wheels, *stars, *cliques, complete(102).rows, book(1024).rows)


GRAPHS = {f.__name__: f for f in (atlas, cases, degrees, hundred, pages)}


@cache
def known(name):
    """The rows of a graph as a frame, its triangles, and those of every row."""
    rows = GRAPHS[name]()
    by_row = reference.by_row(rows, reference.edge_triangles(rows))
    return pd.DataFrame(rows, columns=["src", "dst"]), reference.count(rows), by_row


@cache
def prepared(name, sizes):
    """The graph as all methods get it: what is made of it does not depend on the method."""
    with testing.host_engine(capacities=sizes), testing.thread_order(SEEDS[-1]):
        graph = tc.Graph(known(name)[0])
        tc.count(graph)  # makes the layout
        return graph


# Every case in one thread order, every method in several.
each_case_once = pytest.mark.parametrize(
    "method, sizes, seed",
    [(*case, seed) for case, seed in zip(CASES.values(), cycle(SEEDS), strict=False)],
    ids=CASES,
)


def check(name, method, sizes, seed):
    _, total, by_row = known(name)
    graph = prepared(name, sizes)
    with testing.thread_order(seed):
        assert tc.count(graph, method=method) == total
        if gives_edges(method):
            assert tc.edge_triangles(graph, method=method).tolist() == by_row


small = pytest.mark.parametrize("name", ["hundred", "pages"])


@each_case_once
@small
def test_hundred_edges(name, method, sizes, seed):
    check(name, method, sizes, seed)


def by_turns():
    """Every case with the smallest graphs, and with larger ones in turn."""
    for turn, (case, seed) in enumerate(zip(CASES, cycle(SEEDS), strict=False)):
        for name in ("atlas", ("cases", "degrees")[(turn + turn // 4) % 2]):
            yield pytest.param(name, *CASES[case], seed, id=f"{name}-{case}")


@pytest.mark.parametrize("name, method, sizes, seed", by_turns())
def test_many_graphs_at_once(name, method, sizes, seed):
    check(name, method, sizes, seed)


@pytest.mark.parametrize("seed", SEEDS)
@small
def test_hundred_edges_listed_and_summed(name, seed):
    frame, total, _ = known(name)
    weighted = frame.assign(weight=1 + np.arange(len(frame)) % 7)
    expected = reference.weighted_clustering(
        list(weighted.itertuples(index=False, name=None)), aggregate="last"
    )
    with testing.host_engine(), testing.thread_order(seed):
        assert len(tc.list_triangles(frame)) == total
        found = tc.clustering(
            weighted, weight="weight", aggregate="last", source="src", destination="dst"
        )
    assert dict(found.itertuples(index=False, name=None)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("size", [1, 8191, 8192, 8193, 16_384, 16_385, 20_000])
@pytest.mark.parametrize("seed", SEEDS)
def test_hundred_blocks_scanned_in_tiles(seed, size):
    counts = np.arange(size + 1, dtype=np.uint32) % 11
    sums = np.concatenate([[0], np.cumsum(counts[:-1])])
    with testing.thread_order(seed):
        ENGINE.scan(counts, len(counts) - 1)
    assert counts.tolist() == sums.tolist()


def colliding():
    """Cliques whose ranks are equal modulo the size of every table, or stand at its end."""
    steps = (32, 64, 128, 1024, 4096)
    strided = [range(1, 12 * step, step) for step in steps] + [range(1, 4 * 65536, 65536)]
    ends = [range(size - 6, size + 6) for size in (*steps, 65536)]
    rows = [(u, v) for ranks in (*strided, *ends) for u in ranks for v in ranks if v < u]
    long = {*strided[3], *range(2, 102)}  # a row for a block, in few of its buckets
    return rows + [(200_000, v) for v in long]


def colliding_hundred():
    """As `colliding`, of a hundred edges: past the smallest bitmaps, and at their end."""
    ranks = range(1, 9 * 64, 64), range(58, 70)
    return [(u, v) for some in ranks for u in some for v in some if v < u]


@cache
def ranked(graph):
    """The CSR of rows of ranks, their triangles, and those of every edge in its order."""
    rows = graph()
    csr = ENGINE.csr(keys_of(rows), max(max(row) for row in rows) + 1)
    by_edge = reference.edge_triangles(rows)
    edges = list(zip(csr.columns.tolist(), csr.rows.tolist(), strict=True))
    assert sorted(edges) == sorted(by_edge)
    return csr, reference.count(rows), [by_edge[edge] for edge in edges]


@cache
def laid_out(graph, sizes):
    return replace(ENGINE, capacities=sizes).prepare(ranked(graph)[0])


def check_ranks(graph, method, sizes):
    _, total, by_edge = ranked(graph)
    layout = laid_out(graph, sizes)
    assert ENGINE.count(layout, method=method) == total
    if gives_edges(method):
        assert ENGINE.edge_counts(layout, method=method).tolist() == by_edge


@each_case
def test_colliding_ranks(method, sizes):
    check_ranks(colliding, method, sizes)


@each_case
def test_hundred_edges_of_colliding_ranks(method, sizes):
    check_ranks(colliding_hundred, method, sizes)


def test_the_whole_stack_agrees_with_the_cpu():
    frame = datasets.rmat(8, seed=1)
    frame.index = np.arange(len(frame))[::-1] * 3

    def answers():
        graph = tc.Graph(frame)
        return tc.vertex_triangles(graph), tc.edge_triangles(graph), tc.simple_edges(graph)

    with testing.host_engine():
        emulated = answers()
    pd.testing.assert_frame_equal(emulated[0], answers()[0])
    pd.testing.assert_series_equal(emulated[1], answers()[1])
    pd.testing.assert_frame_equal(emulated[2], answers()[2])


@long
@plain_only
@pytest.mark.parametrize("file", ["test_kernel_tiers.py", "test_kernels.py"])
def test_overruns_and_undefined_arithmetic(file):
    run_again(str(HERE / file), "address")


@long
@plain_only
@pytest.mark.parametrize("part", ["scanned", "hundred and not scanned"])
def test_races(part):
    run_again(__file__, "thread", "-k", part)


@plain_only
def test_what_users_do():
    """Frames, and trusses of the cases, served by the emulated card."""
    files = [str(HERE / name) for name in ("test_cases.py", "test_frames.py")]
    which = "test_frames or k_truss"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--backend", "host"]
    done = subprocess.run([*command, *files, "-k", which], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-8000:]
