"""Estimates of memory against the height of resident memory: neither far above nor far below."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from emulator_support import long

import rapids_tc as tc
from rapids_tc import datasets

SCRIPT = Path(__file__).with_name("estimate_peak.py")
# Of text a little more: after a column is numbered, Arrow's allocator gives back what it took, or
# keeps it for the next, from one call to the next. An estimate is in between.
# What keys of composite ids take depends on how many there may be, which is not known before.
BANDS = {
    "dense": (0.8, 1.05),
    "sparse": (0.8, 1.05),
    "text": (0.8, 1.1),
    "composite": (0.8, 1.4),
}


@pytest.mark.cpu_only
@pytest.mark.parametrize(
    "ids", ["dense", *(pytest.param(ids, marks=long) for ids in ("sparse", "text")), "composite"]
)
def test_estimates_are_near_the_peak(ids):
    environment = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "65536"}  # what is freed goes back
    done = subprocess.run(
        [sys.executable, SCRIPT, ids], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    shares, (least, most) = json.loads(done.stdout), BANDS[ids]
    assert len(shares) == (3 if ids == "composite" else 16)
    assert not {name: share for name, share in shares.items() if not least <= share <= most}


@pytest.mark.cpu_only
@pytest.mark.parametrize("kind", ["sparse", "str"])
def test_a_graph_that_fits_by_its_ids_is_not_cut(kind, caplog):
    """As if all ids differed, it would need three times as much, or more."""
    edges = datasets.rmat(14).astype("int64")
    edges = edges * 2**40 if kind == "sparse" else edges.astype(kind)
    need = max(tc.memory_estimate(edges, function="vertex_triangles").values())
    with caplog.at_level("INFO", "rapids_tc"):
        tc.vertex_triangles(edges, memory_limit=int(1.1 * need))
        assert not caplog.records
        tc.vertex_triangles(edges, memory_limit=int(0.8 * need))
        assert "one task after another" in caplog.text
