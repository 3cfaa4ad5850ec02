"""What tests of kernels share: what they need of a machine, and how a sanitizer runs them."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from rapids_tc import testing
from rapids_tc.errors import KernelError

PLANTED = Path(__file__).with_name("planted")
# Thread orders. The sanitizers see a fault in any, and are slow: they get one, which is shuffled.
SEEDS = (0, 1, 2) if testing.sanitizer() is None else (1,)


class Numpy:
    """NumPy, but that new memory holds what is of no use to anybody, as a card's may."""

    def __getattr__(self, name):
        return getattr(np, name)

    @staticmethod
    def empty(shape, dtype):
        array = np.empty(shape, dtype)
        array.reshape(-1).view("uint8").fill(0xFF)
        return array


def need(present: bool, what: str) -> None:
    """Where something is not installed, skip and say why; in CI, which promises it, fail."""
    if not present:
        stop = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        stop(f"needs {what}")


@pytest.fixture(scope="session")
def compiler() -> None:
    """The emulator's compiler."""
    need(
        shutil.which(os.environ.get("CXX", "g++")) is not None,
        "g++, to compile kernels for the CPU",
    )


def run_again(file: str, sanitizer: str, *arguments: str) -> None:
    """Run a test file once more with its kernels under a sanitizer; it must pass there too."""
    command = ["-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments, file]
    try:
        done = testing.run_sanitized(sanitizer, command)
    except KernelError as error:
        need(False, f"a compiler with sanitizers: {error}")
    assert done.returncode == 0, done.stdout[-8000:]


# What is not about a sanitizer runs in the plain process only, and starts those of the sanitizers.
plain_only = pytest.mark.skipif(testing.sanitizer() is not None, reason="not about a sanitizer")
long = pytest.mark.skipif(
    not os.environ.get("RAPIDS_TC_LONG"), reason="takes a minute: RAPIDS_TC_LONG=1 runs it"
)
