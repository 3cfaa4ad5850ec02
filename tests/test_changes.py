"""A frame that is written to while it is read: a KernelError or an answer, and never a crash.

That nothing is read or written outside of an array is seen where test_crashes.py runs this file
with checks in compiled code.
"""

import subprocess
import sys
from itertools import cycle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from stream_support import FUNCTIONS, in_blocks

import rapids_tc as tc
from rapids_tc.engines.cpu import engine as cpu
from rapids_tc.engines.cpu.small import SmallGraph

CALLS = (
    "degrees",
    "csr",
    "split",
    "find_edges",
    "row_values",
)  # of the engine: between them the frame is read
ABSENT = 7  # an id of the range that stands in no row
GIVEN = {
    **{name: FUNCTIONS[name] for name in ("count", "edge_triangles", "jaccard", "3-truss")},
    "approximate_count": lambda edges: tc.approximate_count(edges, colors=2, seed=1),
    "weighted": lambda edges: tc.clustering(
        edges.assign(w=1.0), source="src", destination="dst", weight="w"
    ),
}
WHOLE = [(name, None) for name in GIVEN]
PATHS = [*WHOLE, *((name, 2) for name in GIVEN if name in FUNCTIONS)]
OTHER = cycle([("int64", True), ("int32", False), ("uint8", False)])
CASES = [(*path, *kind) for path in PATHS for kind in (("int64", False), next(OTHER))]


def columns(dtype, strided=False):
    """The ends of 300 rows, which a frame shares: ids below 40, which number themselves."""
    ids = np.random.default_rng(5).choice(np.delete(np.arange(40), ABSENT), (300, 2))
    return ids.astype(dtype).T if strided else np.array(ids.T, dtype, order="C")


def wrong(dtype):
    """Ids that were not there before: far outside, a negative one, one outside of 32 bits."""
    limits = np.iinfo(dtype)
    values = [int(limits.max), ABSENT, -1 if limits.min < 0 else 200]
    return values + [2**32 + 5] * (limits.max > 2**32)


def outcomes(monkeypatch, call, ends, value):
    """What comes of the call if the frame is written to when the engine has done its n-th part."""
    done, last, found = 0, -1, []

    def write(number):
        if number == last:
            ends[:, 100:200] = value

    def noted(real):
        def run(*args, **keywords):
            nonlocal done
            result = real(*args, **keywords)
            done += 1
            write(done)
            return result

        return run

    for owner, name in (*((cpu, name) for name in CALLS), (SmallGraph, "degrees")):
        monkeypatch.setattr(owner, name, noted(getattr(owner, name)))
    before = ends.copy()
    while last <= done:
        ends[:], done = before, 0
        frame = pd.DataFrame({"src": ends[0], "dst": ends[1]}, copy=False)
        last += 1
        # The first part is done with the ids as numbered: written to before it, they are not.
        numbered = _numbered(monkeypatch, write)
        try:
            with numbered:
                call(frame)
            found.append(None)
        except tc.KernelError as error:
            found.append(str(error))
    return found


def _numbered(monkeypatch, write):
    """Write for number 0 as soon as ids are numbers."""
    from rapids_tc.preparation.ids import DensePart

    real, patch = DensePart.number, pytest.MonkeyPatch()

    def number(self, ids):
        result = real(self, ids)
        write(0)
        return result

    class Once:
        def __enter__(self):
            patch.setattr(DensePart, "number", number)

        def __exit__(self, *_):
            patch.undo()

    return Once()


@pytest.mark.cpu_only
@pytest.mark.parametrize("name, n, dtype, strided", CASES)
def test_a_frame_that_changes_between_two_readings(monkeypatch, name, n, dtype, strided):
    def call(frame):
        if n is None:
            return GIVEN[name](frame)
        with in_blocks(n):
            return GIVEN[name](frame)

    for value in wrong(dtype):
        found = outcomes(monkeypatch, call, columns(dtype, strided), value)
        errors = [error for error in found if error is not None]
        assert len(found) > 2 and all("changed during the call" in error for error in errors)
        assert errors or value in (ABSENT, -1)  # NumPy takes -1 for the last


@pytest.mark.cpu_only
def test_a_thread_that_writes_larger_ids():
    script = Path(__file__).with_name("racing_frame.py")
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", str(script)], capture_output=True, text=True
    )
    assert done.returncode == 0, (done.returncode, done.stdout[-2000:], done.stderr[-2000:])
    assert done.stdout.split()[-1] == "done"
