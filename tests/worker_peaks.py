"""The height of what the workers of a call hold: tasks run in this process, weighed by tracemalloc.

    python tests/worker_peaks.py [dense|sparse|text|composite]

prints estimates of `memory_estimate` over what the fullest worker held.
"""

import gc
import sys
import tracemalloc
import weakref
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd
from stage_peaks import circulant

import rapids_tc as tc
from rapids_tc.engines import protocol
from rapids_tc.executors import registry
from rapids_tc.executors.local import LocalExecutor, PartitionedFrame
from rapids_tc.executors.protocol import Worker
from rapids_tc.plan.block_layout import BlockLayout, use_layout

CALLS = {  # by the name that an estimate takes: the most that a call of it needs
    "count": tc.count,
    "transitivity": tc.transitivity,
    "vertex_triangles": tc.vertex_triangles,
    "vertex_squares": tc.vertex_squares,
    "clustering": tc.clustering,
    "annotate_vertices": lambda edges, **ids: tc.annotate_vertices(edges, "trussness", **ids),
    "annotate": lambda edges, **ids: tc.annotate(edges, "jaccard", "trussness", **ids),
    "k_truss": lambda edges, **ids: tc.k_truss(edges, 10, **ids),
    "simple_edges": tc.simple_edges,
    "Graph": tc.Graph,
    "approximate_count": lambda e, **ids: tc.approximate_count(e, colors=2, seed=1, **ids),
    "triangles_over_time": lambda e, **ids: tc.triangles_over_time(e, time="t", **ids),
}


class Result:
    """What a task returned, its bytes, and the workers that have it."""

    def __init__(self, value, size, worker):
        self.value, self.size, self.workers = value, size, {worker}

    def __len__(self):
        return len(self.value)


class Metered(LocalExecutor):
    """Knows what each worker holds, and how high its memory rose."""

    count, turn, held, peak = 1, 0, {}, 0

    def workers(self):
        return [Worker(f"worker-{i}", 1, 0) for i in range(self.count)]

    def submit(self, stage, function, *args, on=None, first=False):
        cls = type(self)
        cls.turn += 1
        worker = on or f"worker-{cls.turn % cls.count}"
        given = self._open(args, worker)
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        value = function(*given)
        after, top = tracemalloc.get_traced_memory()
        cls.peak = max(cls.peak, self.held.get(worker, 0) + top - before)
        result = Result(value, after - before, worker)
        self._hold(result, worker)
        return result

    def _open(self, values, worker):
        """Return the values of results; a worker that lacks one fetches it."""
        if isinstance(values, Result):
            if worker is not None and worker not in values.workers:
                values.workers.add(worker)
                self._hold(values, worker)
            return values.value
        if isinstance(values, list | tuple):
            return type(values)(self._open(value, worker) for value in values)
        if isinstance(values, dict):
            return {name: self._open(value, worker) for name, value in values.items()}
        return values

    def _hold(self, result, worker):
        held, size = self.held, result.size
        held[worker] = held.get(worker, 0) + size

        def drop():
            held[worker] -= size

        weakref.finalize(result, drop)

    def gather(self, tasks):
        return self._open(tasks, None)

    def to_frame(self, parts, meta, lengths):
        return parts


@dataclass(frozen=True)
class MeteredFrame(PartitionedFrame):
    """A frame whose executor meters."""


@contextmanager
def metered(workers):
    """Frames of this block are worked on by so many workers."""

    def load():
        return Metered

    registry.register_executor(lambda edges: isinstance(edges, MeteredFrame), load)
    Metered.count = workers
    try:
        with protocol.limit_threads(1):
            yield
    finally:
        registry.unregister_executor(load)


def frame_of(graph, rows, kind):
    """A frame of many rows for few vertices, or of many vertices, and the columns of its ids."""
    steps = 32 if graph == "rows" else 2
    src, dst = circulant(rows // steps, steps)
    frame, ids = pd.DataFrame({"src": src, "dst": dst}), {"source": "src", "destination": "dst"}
    if kind == "sparse":
        frame *= 2**40
    if kind == "text":
        frame = frame.astype("str")
    if kind == "composite":
        frame["day"], ids["by"] = np.arange(rows) * 5 // rows, "day"
    return frame.assign(t=np.arange(rows)), ids


def share(name, frame, ids, workers, n):
    """The estimate of a call over the height of its fullest worker."""
    step = -(-len(frame) // (4 * workers))
    starts = range(0, len(frame), step)
    edges = MeteredFrame([frame.iloc[start : start + step] for start in starts])
    with use_layout(BlockLayout(n)) if n > 1 else nullcontext():
        CALLS[name](edges, **ids)  # what is compiled is compiled here
        estimate = tc.memory_estimate(edges, function=name, **ids)
        assert estimate["blocks"] == n
        gc.collect()
        tracemalloc.start()
        Metered.held, Metered.peak = {}, 0
        try:
            answer = CALLS[name](edges, **ids)
        finally:
            tracemalloc.stop()
    del answer
    return estimate["worker"] / Metered.peak


def main(kinds):
    cases = product(kinds, (1, 4), (1, 3), ("rows", "vertices"))
    for kind, workers, n, graph in cases:
        frame, ids = frame_of(graph, 2**16 * min(workers, 2), kind)
        with metered(workers):
            names = [name for name in CALLS if n == 1 or name != "vertex_squares"]
            shares = {name: round(share(name, frame, ids, workers, n), 2) for name in names}
        print(f"{kind}, {workers} workers, {n} x {n} blocks, many {graph}: {shares}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or ["dense", "sparse", "text", "composite"])
