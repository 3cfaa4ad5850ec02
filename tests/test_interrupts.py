"""Ctrl-C while compiled code runs, or is compiled, is KeyboardInterrupt; the next call works."""

import os
import subprocess
import sys

import pytest

SCRIPT = """
import os, signal, sys, threading, time
import numpy as np
import rapids_tc as tc
from rapids_tc import datasets
from rapids_tc.engines.cpu import engine as cpu

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background has it ignored

def interrupted(call, after):
    timer = threading.Timer(after, os.kill, (os.getpid(), signal.SIGINT))
    try:
        timer.start()
        try:
            call()
        finally:
            timer.join()  # it may be late
            time.sleep(0.01)
    except KeyboardInterrupt:
        return True
    return False
"""

RUNNING = """
random = np.random.default_rng(1)
keys = np.sort(random.integers(1, 1 << 12, (2, 1 << 20), dtype="uint64"), 0)
keys = keys[1] << np.uint64(32) | keys[0]
graph = cpu.csr(keys, 1 << 12)
cpu.prepare(graph)
for call in (lambda: cpu.csr(keys, 1 << 12), lambda: cpu.prepare(graph)):
    seconds = time.perf_counter()
    call()
    seconds = time.perf_counter() - seconds
    print([interrupted(call, seconds * share / 8) for share in range(1, 8)])
frame = datasets.rmat(10)
right = tc.count(frame)
for function in (tc.count, tc.trussness, tc.clustering):
    function(frame)
    seconds = time.perf_counter()
    function(frame)
    seconds = time.perf_counter() - seconds
    print([interrupted(lambda: function(frame), seconds * share / 8) for share in range(8)])
assert tc.count(frame) == right
"""

COMPILING = """
frame = datasets.karate()
tries = 0
while interrupted(lambda: tc.count(frame), 0.3 * (1 + tries)) and tries < 6:
    tries += 1
print(tries)
assert tc.count(frame) == 45
"""


def outcome(code, folder=None):
    environment = {**os.environ, **({"RAPIDS_TC_CACHE": str(folder)} if folder else {})}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT + code], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, (done.returncode, done.stderr[-3000:])
    return done.stdout


@pytest.mark.cpu_only
def test_interrupts_of_compiled_code():
    assert "True" in outcome(RUNNING)


@pytest.mark.cpu_only
def test_interrupts_of_the_compiler(tmp_path):
    """In the middle of LLVM it would end the process, or be an error of Numba's types."""
    assert int(outcome(COMPILING, tmp_path))
