"""A disk that is full, or soon: the right answer or an error that says so, never a crash."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from needs import need_module

CHILD = Path(__file__).with_name("full_disk.py")


@pytest.mark.cpu_only
@pytest.mark.parametrize("ids", ["int64", "str"])
def test_a_disk_of_any_size(ids, tmp_path):
    """In a process of its own, which a fault may kill: the last line says where it was."""
    need_module("resource")
    done = subprocess.run(
        [sys.executable, CHILD, ids], capture_output=True, text=True, timeout=250,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, f"{done.stdout[-200:]}\n{done.stderr[-4000:]}"
