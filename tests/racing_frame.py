"""Call functions on a frame whose ids a thread writes meanwhile; a crash ends this process.

python tests/racing_frame.py
"""

import random
import sys
import threading
import time
from contextlib import nullcontext

import numpy as np
import pandas as pd
from stream_support import FUNCTIONS, in_blocks

import rapids_tc as tc
from rapids_tc import datasets

SECONDS = 0.6  # of each case
CASES = [
    ("count", None, "int64", 0),
    ("edge_triangles", None, "int64", 0),
    ("edge_triangles", None, "int64", 10**12),
    ("count", None, "int32", 0),
    ("count", None, "uint16", 0),
    ("jaccard", 2, "int64", 0),
    ("3-truss", 2, "uint32", 0),
    ("approximate_count", None, "int64", 0),
    ("ids of two columns", None, "int64", 0),
    ("ids of two columns", 2, "uint32", 0),
]


def call(name, n, frame):
    with in_blocks(n) if n else nullcontext():
        if name == "approximate_count":
            return tc.approximate_count(frame, colors=2, seed=1)
        if name == "ids of two columns":
            return tc.count(frame, source=["src", "dst"], destination=["dst", "src"])
        return FUNCTIONS[name](frame)


def race(name, n, dtype, base):
    """Call again and again while ids far outside of the range come and go."""
    frame = datasets.rmat(12)
    ends = [
        (frame[column].to_numpy().astype("int64") + base).astype(dtype) for column in ("src", "dst")
    ]
    top, stopped = np.iinfo(dtype).max, threading.Event()
    before = [end.copy() for end in ends]

    def write():
        while not stopped.is_set():
            time.sleep(random.random() * seconds)  # a call may begin with the right ids
            for end in ends:
                end[::7] = top
            time.sleep(random.random() * seconds)
            for end, old in zip(ends, before, strict=True):
                end[:] = old

    shared = pd.DataFrame({"src": ends[0], "dst": ends[1]}, copy=False)
    for _ in range(2):
        seconds = time.perf_counter()
        call(name, n, shared)
        seconds = time.perf_counter() - seconds
    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    until, answers, errors = time.monotonic() + SECONDS, 0, 0
    while time.monotonic() < until:
        try:
            call(name, n, shared)
            answers += 1
        except (tc.KernelError, tc.CapacityError):
            errors += 1
    stopped.set()
    writer.join()
    print(name, n, dtype, base, answers, "answers", errors, "errors", flush=True)


if __name__ == "__main__":
    for case in CASES:
        race(*case)
    sys.exit(print("done"))
