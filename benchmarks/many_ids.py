"""What a worker holds of a graph with far more ids than edges: the largest peak of each task.

    python benchmarks/many_ids.py [IDS] [ROWS] [WORKERS]

Every task of a call runs in this process, one after another, on a frame of as many partitions as
there are workers. tracemalloc counts what a task allocates at its peak; arguments count too. So the
figures are of one worker, whatever this machine has. The first table ranks all ids on each worker,
the second in the ranges that a plan would choose on workers that cannot hold all ranks.
"""

import sys
import tracemalloc
from collections import defaultdict
from itertools import pairwise
from math import sqrt

import numpy as np
import pandas as pd

import rapids_tc as tc
from rapids_tc.blocks import grid
from rapids_tc.executors import local
from rapids_tc.executors.local import LocalExecutor, PartitionedFrame
from rapids_tc.graphs import stages
from rapids_tc.plan.block_layout import BlockLayout, use_layout

BLOCKS = 4  # a side
ROWS = ("pack", "merge", "pick", "count", "edge_counts")  # of rows and blocks, not of ids


def size_of(value):
    """Return the bytes of the arrays and frames in a value."""
    if isinstance(value, list | tuple):
        return sum(map(size_of, value))
    if isinstance(value, dict):
        return sum(map(size_of, value.values()))
    if isinstance(value, pd.DataFrame):
        return int(value.memory_usage().sum())
    return getattr(value, "nbytes", 0) if not isinstance(value, int) else 0


def counted(call, edges):
    """Return how many tasks a call has, and the most bytes of one, by function."""
    peaks, tasks = defaultdict(int), [0]
    submit = LocalExecutor.submit

    def traced(self, stage, function, *args, **options):
        tasks[0] += 1
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        result = submit(self, stage, function, *args, **options)
        peak = tracemalloc.get_traced_memory()[1] - before + size_of(args)
        peaks[function.__name__] = max(peaks[function.__name__], peak)
        return result

    LocalExecutor.submit = traced
    tracemalloc.start()
    try:
        call(edges)
    finally:
        tracemalloc.stop()
        LocalExecutor.submit = submit
    return tasks[0], peaks


def main(ids=2**18, rows=2**16, workers=16):
    """Print both tables."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.integers(0, ids, (rows, 2), "uint32"), columns=["src", "dst"])
    local.WORKERS, stages.LEAST_ROWS = workers, 1
    cuts = np.linspace(0, rows, workers + 1).astype(int)
    edges = PartitionedFrame([frame.iloc[a:b] for a, b in pairwise(cuts)])
    bound = 4 * ids / sqrt(workers)
    print(f"{ids:,} ids, {rows:,} rows, {workers} workers: 4 ids / sqrt(workers) = {bound:,.0f}")
    for name, call in (("count", tc.count), ("clustering", tc.clustering)):
        for count in (1, grid.range_count(ids, 23 * ids, workers)):
            with use_layout(BlockLayout(BLOCKS, 1, ranges=count)):
                call(edges)  # what is compiled, is not counted
                tasks, peaks = counted(call, edges)
            print(f"\n{name}, ids in {count} ranges: {tasks} tasks; bytes, multiples of the bound")
            for function, peak in sorted(peaks.items(), key=lambda item: -item[1]):
                if peak > bound / 10:
                    kind = "  (rows and blocks)" if function in ROWS else ""
                    print(f"  {function:20} {peak:>12,} {peak / bound:6.2f}{kind}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
