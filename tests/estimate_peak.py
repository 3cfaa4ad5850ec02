"""Estimates of memory over what calls really take, run by test_estimates.py on Linux."""

import ctypes
import gc
import json
import sys
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
from stage_peaks import CALLS, work_of
from stream_peak import height

import rapids_tc as tc
from rapids_tc import datasets
from rapids_tc.frames.backend import open_frame
from rapids_tc.plan import needs
from rapids_tc.preparation.distinct import estimate_size
from rapids_tc.preparation.edge_columns import edge_columns

SCALES = {"dense": 16, "sparse": 16, "text": 17}  # allocators keep a few MB of text in any case
# A k at which much of the graph is peeled, and all that estimates are promised for.
CALLS = {**CALLS, "k_truss": lambda edges: tc.k_truss(edges, 10), "clustering": tc.clustering}
OTHERS = ("list_triangles", "clustering with weights", "triangles_over_time", "cliques")
NAMES = [name for name in CALLS if name not in OTHERS]


def frame(scale, ids):
    """A skewed graph whose rows are edges of their own, and whose numbers are vertices."""
    edges = tc.simple_edges(datasets.rmat(scale).astype("int64"))
    numbers = pd.factorize(edges.to_numpy().ravel())[0].reshape(-1, 2)
    numbers = numbers[np.random.default_rng(0).permutation(len(numbers))]
    if ids == "sparse":
        names = np.random.default_rng(1).integers(-(2**62), 2**62, numbers.max() + 1)
    else:
        names = np.arange(numbers.max() + 1)
    edges = pd.DataFrame(names[numbers], columns=["src", "dst"])
    return edges.astype("str") if ids == "text" else edges


def composite(rows):
    """Frames whose ids are made of several parts, by name, with the columns of each."""
    rng = np.random.default_rng(2)
    group = rng.integers(0, rows // 60, rows)
    ends = rng.integers(0, 25, (2, rows))
    wide = rng.integers(0, 2**60, rows // 60)
    names = rng.integers(0, rows // 2, (rows // 60, 25))
    src, dst = (names[group, end] for end in ends)
    yield "groups", pd.DataFrame({"src": src, "dst": dst, "day": group}), {"by": "day"}
    far = {"src": wide[src % len(wide)], "dst": wide[dst % len(wide)], "day": wide[group]}
    yield "groups far apart", pd.DataFrame(far), {"by": "day"}
    pairs = {"ip": src, "port": ends[0], "ip2": dst, "port2": ends[1]}
    ids = {"source": ["ip", "port"], "destination": ["ip2", "port2"]}
    yield "pairs", pd.DataFrame(pairs), ids


def of_composite_ids():
    """Print the shares of calls whose ids are made of several parts."""
    shares = {}
    for (name, edges, columns), function in product(composite(600_000), ("count", "simple_edges")):
        call = partial(getattr(tc, function), edges, **columns)
        call()  # what is compiled is compiled here
        free()
        peak, answer = height(call)
        del answer
        stages = tc.memory_estimate(edges, function=function, **columns)
        shares[f"{function} of {name}"] = max(stages.values()) / peak
    print(json.dumps(shares))


def free():
    """Give back what allocators keep of earlier calls."""
    gc.collect()
    if "pyarrow" in sys.modules:
        sys.modules["pyarrow"].default_memory_pool().release_unused()
    ctypes.CDLL(None).malloc_trim(0)


def main(ids, names):
    """Print the shares of the functions named, or of all, of one kind of ids."""
    edges = frame(SCALES[ids], ids)
    opened, backend = open_frame(edges, None)
    rows, distinct, dense = estimate_size(opened, edge_columns(["src", "dst"]), backend)
    text, shares = needs.Text.of(distinct), {}
    for name in names or NAMES:
        call = CALLS[name]
        call(edges)  # what is compiled for many rows is compiled here
        stages = needs.stages(work_of(name), rows, distinct.count, dense, "cpu", text=text)
        if name == "count":
            assert {s.name: s.bytes for s in stages} == tc.memory_estimate(edges)
        free()
        peak, answer = height(lambda call=call: call(edges))
        del answer
        shares[name] = max(stage.bytes for stage in stages) / peak
    print(json.dumps(shares))


if __name__ == "__main__":
    if sys.argv[1] == "composite":
        of_composite_ids()
    else:
        main(sys.argv[1], sys.argv[2:])
