"""Graphs, sizes and cases that the tests of kernels share."""

import graphs
import numpy as np
import pytest
from emulator_support import Numpy

from rapids_tc import testing
from rapids_tc.engines.gpu.cuda import CudaEngine
from rapids_tc.kernels.catalogue import METHODS, Capacities, find

ENGINE = CudaEngine(xp=Numpy(), compile=testing.compile)
LARGE = {"small": 0, "small_sparse": 0}  # graphs have a layout, however small
SIZES = {  # what forces a path: each is exact, whatever the graph
    "default": Capacities(),
    "heavy": Capacities(**LARGE, drain_after=1, heavy_from=0, warp_from=0, block_from=10**9),
    "light": Capacities(
        **LARGE, warps=1, heavy_from=2**40, least_heavy=2**40, run=2**40, least_run=2**40
    ),
    "single": Capacities(
        **LARGE, heavy_from=2**40, least_heavy=2**40, run=1, light_bits=64, bits=64
    ),
    "hubs": Capacities(
        **LARGE, heavy_from=0, hubs=1024, least_hubs=1, hubs_from=0, edge_hubs_from=0
    ),
    "more-hubs": Capacities(
        **LARGE,
        **{"bits": 4096, "hubs": 2048, "least_hubs": 4, "hubs_from": 0, "edge_hubs_from": 0},
        **{"counters": 32, "heavy_from": 200, "piece": 300, "least_piece": 300},
    ),
    "tiny": Capacities(
        **{"bits": 64, "counters": 4, "heavy_from": 1, "piece": 64},
        **{"shared_counters": 0},
        **{"in_lane": 2, "warps": 1},
        **{"nodes": 1, "narrow_rows": 4, "wide_buckets": 4, "wide_bucket": 1},
        **{"warp_buckets": 4, "warp_bucket": 1, "narrow_buckets": 4, "bucket": 1},
        **{"chunk": 3, "kept": 1, "team": 32, "steps": 1, "vector": 1, "heads_from": 0},
        **{"batch": 9000, "tile": 33},
        **{"warp_from": 10**9, "block_from": 10**9},
        **LARGE,
        **{"bucketed_from": 0, "grouped_from": 0, "hot": 256, "counted": 3},
    ),
    "pieces": Capacities(
        **{"bits": 128, "counters": 32, "light_bits": 64, "heavy_from": 200, "piece": 300},
        **{"entry_cost": 8, "run": 500, "drain_after": 3},
        **{"warps": 4},
        **{"nodes": 7, "narrow_rows": 20, "wide_buckets": 64, "wide_bucket": 3},
        **{"warp_buckets": 2, "warp_bucket": 3, "narrow_buckets": 2, "bucket": 3},
        **{"chunk": 37, "kept": 5, "team": 1, "steps": 3, "vector": 9},
        **{"batch": 30000, "tile": 200},
        **{"block_from": 0, "filter": 3, "scratch": 1},
        **{**LARGE, "grouped_from": 0},
    ),
}

# What has no use for a size need not be run with it.
USERS = {
    "heavy": ("bitmap", "bisson", "vertex-elimination"),
    "light": ("bitmap", "short-rows", "vertex-elimination"),
    "single": ("bitmap",),
    "hubs": ("bitmap",),
    "more-hubs": ("bitmap",),
}
CASES = {
    f"{method.name}-{name}": (method.name, sizes)
    for method in METHODS
    for name, sizes in SIZES.items()
    if method.name in USERS.get(name, (method.name,))
    if name == "default" or method.name != "polak"
}
each_case = pytest.mark.parametrize("method, sizes", CASES.values(), ids=CASES)


def gives_edges(method: str) -> bool:
    """Whether a method has edge counts besides the total."""
    return "edges" in find(method).returns


def keys_of(rows) -> np.ndarray:
    """Packed keys of rows of ranks, sorted, repeats and loops among them."""
    ends = np.array(rows, np.uint64).reshape(-1, 2)
    keys = ends.max(axis=1, initial=0) << np.uint64(32) | ends.min(axis=1, initial=2**32 - 1)
    return np.sort(keys)


def union(*graphs):
    """The disjoint union of lists of rows."""
    rows, first = [], 0
    for graph in graphs:
        rows += [(u + first, v + first) for u, v in graph]
        first += 1 + max((max(row) for row in graph), default=-1)
    return rows


def clique(n):
    return [(u, v) for u in range(n) for v in range(u)]


def biclique(a, b):
    """Each of a vertices joined to each of b others."""
    return [(i, a + j) for i in range(a) for j in range(b)]


def book(pages):
    """Triangles that share the edge of the two lowest ranks: long in-edge lists."""
    return [(1, 0), *((page, spine) for page in range(2, pages + 2) for spine in (0, 1))]


def fan(length):
    """A last vertex with a long row, and one before it that shares all of it."""
    return [(v, w) for v in (length, length + 1) for w in range(v)]


def wheel(rim):
    """A ring, and a hub of the last rank: one long row is met by every edge of the hub."""
    return [edge for v in range(rim) for edge in ((rim, v), (v, (v + 1) % rim))]


def random_rows(n, size, power, seed=0):
    """Rows that favor low ranks by the power, with repeats and loops."""
    ends = np.random.default_rng(seed).random((size, 2)) ** power * n
    return [(int(u), int(v)) for u, v in ends]


GRAPHS = {
    "empty": [],
    "loops": [(0, 0), (2, 2)],
    "edge": [(0, 1)],
    "triangle": [(0, 1), (1, 2), (2, 0), (0, 1), (1, 0), (1, 1)],
    "late": [(7000, 9000), (7000, 9001), (9000, 9001)],  # ranks that no row precedes
    "cliques": union(*(clique(n) for n in (2, 3, 4, 31, 32, 33, 34, 66))),
    "rows": union(*(fan(n) for n in (99, 100, 101, 129))),
    "long": union(fan(1023), fan(1025)),
    "books": union(*(book(n) for n in (31, 32, 33, 127, 1025))),
    "wheels": union(wheel(40), wheel(600)),
    "star": [(0, leaf) for leaf in range(1, 300)],
    "sparse": random_rows(3000, 6000, 1),
    "skewed": random_rows(600, 6000, 3),
    "dense": random_rows(90, 3000, 1),
}


def hundred():
    """A hundred rows with something of everything: long rows, deep cliques, repeats, loops."""
    loops = [(0, 0), (0, 1), (1, 0), (1, 1)]
    return union(
        loops, clique(8), fan(8), graphs.wheel(8).rows, graphs.book(6).rows, graphs.star(9).rows
    )


def pages():
    """A book of fewer than a hundred edges: the spine's in-edges are the work of two warps."""
    return graphs.book(45).rows
