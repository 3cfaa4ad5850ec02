"""What type checkers say of calls, right and wrong: `typed_calls.py` has them."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from needs import need, need_module

pytestmark = pytest.mark.cpu_only

ROOT = Path(__file__).parents[1]
CALLS = "tests/typed_calls.py"


def checked(*command):
    """No type is another than is asserted, and no wrong call is taken for a right one."""
    done = subprocess.run([*command, CALLS], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_mypy():
    need_module("mypy")
    checked(sys.executable, "-m", "mypy")


def test_pyright():
    pyright = shutil.which("basedpyright")
    need(pyright is not None, "basedpyright, which is pyright with the Node.js that it runs on")
    checked(pyright, "--pythonpath", sys.executable)
