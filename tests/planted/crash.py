"""Four tests of which one ends the process: run by test_crashes.py, never collected."""

import os
import signal


def test_before():
    pass


def test_crash():
    os.kill(os.getpid(), signal.SIGSEGV)


def test_behind():
    pass


def test_last():
    pass
