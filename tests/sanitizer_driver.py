"""Every method and visitor on small graphs with CuPy alone, for compute-sanitizer.

    compute-sanitizer --tool memcheck python tests/sanitizer_driver.py

CuPy's memory pool is off, so that an overrun leaves its allocation and is seen.
"""

import sys
from itertools import combinations

import cupy
import numpy as np

from rapids_tc.engines.cuda import engine
from rapids_tc.kernels import catalogue

cupy.cuda.set_allocator(None)


def keys_of(edges: np.ndarray) -> cupy.ndarray:
    """Sorted packed keys of an edge array, ranks by degree."""
    n = int(edges.max()) + 1
    order = np.argsort(-np.bincount(edges.ravel(), minlength=n), kind="stable")
    rank = np.empty(n, np.uint64)
    rank[order] = np.arange(n, dtype=np.uint64)
    ends = np.sort(rank[edges], axis=1)
    return cupy.asarray(np.sort(ends[:, 1] << np.uint64(32) | ends[:, 0])), n


def graphs():
    random = np.random.default_rng(1)
    yield "K40", np.array(list(combinations(range(40), 2))), 9880
    hub = np.stack([np.zeros(3000, int), np.arange(1, 3001)], 1)
    rim = np.stack([np.arange(1, 3001), np.roll(np.arange(1, 3001), 1)], 1)
    yield "wheel", np.concatenate([hub, rim]), 3000
    yield "random", random.integers(0, 500, (20_000, 2)), None
    yield "K1100", np.array(list(combinations(range(1100), 2))), 221_228_700


def main() -> None:
    card = engine()
    for name, edges, total in graphs():
        keys, n = keys_of(edges)
        csr = card.csr(keys, n)
        csr.validate()
        layout = card.prepare(csr)
        totals = {}
        for method in catalogue.METHODS:
            totals[method.name] = card.count(layout, method=method.name)
            if "edges" in method.returns:
                counts = card.edge_counts(layout, method=method.name)
                assert int(counts.sum(dtype="uint64")) == 3 * totals[method.name], method.name
        assert len(set(totals.values())) == 1 and total in (None, totals["bitmap"]), (name, totals)
        print(name, totals["bitmap"], "by", len(totals), "methods", flush=True)


if __name__ == "__main__":
    sys.exit(main())
