"""What tests of kernels share: what they need of a machine, and how a sanitizer runs them."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from needs import need

from rapids_tc import testing
from rapids_tc.errors import KernelError

PLANTED = Path(__file__).with_name("planted")
# Thread orders. The sanitizers see a fault in any, and are slow: they get one, which is shuffled.
SEEDS = (0, 1, 2) if testing.sanitizer() is None else (1,)


class CardArray(np.ndarray):
    """An array that may not be copied onto itself: CUDA forbids a copy of overlapping memory."""

    __module__ = "numpy"  # by which a Csr finds the functions of its arrays

    def __setitem__(self, key, value):
        if isinstance(value, np.ndarray):
            written = self[key]
            written = written if np.shares_memory(written, self) else self  # a copy: of a mask
            overlap = np.shares_memory(written, value) and not np.array_equal(written, value)
            assert not overlap, "an array is copied onto itself"
        super().__setitem__(key, value)


class Numpy:
    """NumPy as on a card: new memory is dirty, and no array may be copied onto itself.

    `pattern` is what new memory holds, one of `dirty_memory.PATTERNS`.
    """

    def __init__(self, pattern=0xFF):
        self._dirt = np.random.default_rng(0)
        self._pattern = pattern

    def __getattr__(self, name):
        found = getattr(np, name)
        if isinstance(found, type | np.ufunc) or not callable(found):
            return found
        return lambda *args, **options: self._on_card(found(*args, **options))

    @staticmethod
    def _on_card(result):
        return result.view(CardArray) if type(result) is np.ndarray else result

    def empty(self, shape, dtype=float):
        array = np.empty(shape, dtype)
        memory = array.reshape(-1).view("uint8")
        if self._pattern is None:
            memory[:] = np.frombuffer(self._dirt.bytes(len(memory)), "uint8")
        else:
            memory.fill(self._pattern)  # no temporary array: tests measure memory
        return array.view(CardArray)

    def empty_like(self, array):
        return self.empty(array.shape, array.dtype)


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
