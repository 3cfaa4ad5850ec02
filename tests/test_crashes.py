"""Compiled code that crashes is one failed test; and compiled code keeps to its arrays."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CHECKED = (  # a test or more for every compiled loop of the CPU engine
    ("test_changes.py", "between and int64-False and not approximate"),
    ("test_block_counts.py", "without and cpu"),
    ("test_listing.py", "frames_may_end or long_rows"),
    ("test_truss.py", "networkx or atlas"),
)


def run(*arguments, **variables):
    """Pytest in a process of its own, with processes of its own."""
    own = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=own | variables)


@pytest.mark.cpu_only
def test_a_crash_is_one_failed_test_with_a_name():
    done = run(str(HERE / "planted" / "crash.py"))
    assert done.returncode == 1
    assert "1 failed, 3 passed" in done.stdout
    assert "crashed while running 'tests/planted/crash.py::test_crash'" in done.stdout


@pytest.mark.cpu_only
def test_compiled_loops_keep_to_their_arrays(tmp_path):
    """Numba checks every index: what lies outside of an array is an IndexError."""
    cache = {"RAPIDS_TC_CACHE": str(tmp_path), "NUMBA_BOUNDSCHECK": "1"}
    chosen = " or ".join(f"{file} and ({tests})" for file, tests in CHECKED)
    done = run("-n0", "-rA", "-k", chosen, *(str(HERE / file) for file, _ in CHECKED), **cache)
    assert done.returncode == 0, done.stdout[-8000:]
    for file, _ in CHECKED:
        assert f"PASSED tests/{file}::" in done.stdout
