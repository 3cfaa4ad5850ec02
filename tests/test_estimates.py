"""Estimates of memory against the height of resident memory: upper bounds, by half at most."""

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


@pytest.mark.cpu_only
@pytest.mark.parametrize(
    ("ids", "names"),
    [
        ("dense", ["count", "edge_triangles"]),
        pytest.param("sparse", ["count", "trussness"], marks=long),
        pytest.param("text", ["edge_triangles", "simple_edges"], marks=long),
        ("composite", []),
    ],
)
def test_estimates_are_upper_bounds(ids, names):
    environment = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "65536"}  # what is freed goes back
    done = subprocess.run(
        [sys.executable, SCRIPT, ids, *names], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    shares = json.loads(done.stdout)
    assert len(shares) == (len(names) or 6)
    assert not {name: share for name, share in shares.items() if not 1 <= share <= 1.5}


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
