"""The height of resident memory of calls with a memory_limit=, run by test_stream.py on Linux."""

import ctypes
import gc
import re
from functools import partial
from pathlib import Path

import pandas as pd
from stage_peaks import WEIGHTED, work_of

import rapids_tc as tc
from rapids_tc import datasets
from rapids_tc.frames.backend import open_frame
from rapids_tc.plan import needs
from rapids_tc.preparation.distinct import estimate_size
from rapids_tc.preparation.edge_columns import edge_columns

FUNCTIONS = {
    "count": (tc.count, (0.4,)),
    "vertex_triangles": (tc.vertex_triangles, (0.95,)),
    "edge_triangles": (tc.edge_triangles, (0.6, 0.14)),
    "similarity": (tc.similarity, (0.12,)),
    "simple_edges": (tc.simple_edges, (0.125,)),
    "clustering": (tc.clustering, (0.55,)),
    "k_truss": (lambda edges, **options: tc.k_truss(edges, 60, **options), (0.3,)),
}
WHOLE = 16 << 20  # bytes: memory that is free but in pieces, too
SLACK = 1 << 20  # bytes: stacks of threads, objects of Python


def resident(field):
    status = Path("/proc/self/status").read_text()
    return 1024 * int(re.search(rf"{field}:\s+(\d+)", status)[1])


def height(call):
    """Bytes by which resident memory rose, at most, while the call ran; and its answer."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # starts VmHWM anew
    answer = call()
    return resident("VmHWM") - before, answer


def answer_bytes(answer):
    """What a limit is beside: columns of rows, and edges, as long as the frame at most."""
    if isinstance(answer, pd.Series):
        return answer.memory_usage(index=False)
    is_edges = isinstance(answer, pd.DataFrame) and list(answer) == ["src", "dst"]
    return answer.memory_usage(index=False).sum() if is_edges else 0


def check(name, function, shares, edges):
    need = max(tc.memory_estimate(edges, function=name).values())
    free, expected = height(partial(function, edges))
    for share in shares:
        limit = int(share * need)
        peak, found = height(partial(function, edges, memory_limit=limit))
        own = answer_bytes(found)
        print(f"{name}: {peak:,} of {limit:,} + {own:,} bytes; without a limit {free:,}")
        assert peak < limit + own + SLACK
        assert share > 0.5 or free > 1.2 * limit
        assert found.equals(expected) if hasattr(found, "equals") else found == expected
        del found


def check_whole(small, edges, ids, turn):
    """Under its own estimate a function is counted whole, and takes no more but for `WHOLE`.

    Every other function, the first of them in that turn.
    """
    weighted = {"weight": "w", "source": "src", "destination": "dst"}
    calls = {
        "count": tc.count,
        "vertex_triangles": tc.vertex_triangles,
        "edge_triangles": tc.edge_triangles,
        "simple_edges": tc.simple_edges,
        "Graph": tc.Graph,
        "approximate_count": partial(tc.approximate_count, colors=2, seed=1),
        WEIGHTED: lambda edges, **o: tc.clustering(edges.assign(w=1.0), **weighted, **o),
    }
    for name, call in list(calls.items())[turn::2]:
        opened, backend = open_frame(edges, None)
        rows, distinct, dense = estimate_size(opened, edge_columns(["src", "dst"]), backend)
        work, text = work_of(name), needs.Text.of(distinct)
        stages = needs.stages(work, rows, distinct.count, dense, "cpu", text=text)
        limit = int(1.05 * max(s.bytes for s in stages))  # chunks of another size are sketched
        call(small, memory_limit=limit)
        peak, answer = height(partial(call, edges, memory_limit=limit))
        del answer
        print(f"{ids} {name}: {peak:,} of its estimate, {limit:,} bytes")
        assert peak < limit + WHOLE


def main():
    small, edges = datasets.rmat(9), datasets.rmat(16)
    for name, (function, shares) in FUNCTIONS.items():  # what is compiled is compiled here
        need = max(tc.memory_estimate(small, function=name).values())
        for share in (2, *shares):
            function(small, memory_limit=int(share * need))
        check(name, function, shares, edges)
    pair = [frame.astype("int64") for frame in (small, edges)]
    for turn, ids in enumerate(("sparse", "str")):
        frames = [frame * 2**40 if ids == "sparse" else frame.astype(ids) for frame in pair]
        check_whole(*frames, ids, turn)
    wide = datasets.rmat(18).astype("int64") * 2**40  # ids that a table of all of them numbers
    tc.count(wide[:9999], memory_limit=10**7)
    check("count", tc.count, (0.28,), wide)


if __name__ == "__main__":
    main()
