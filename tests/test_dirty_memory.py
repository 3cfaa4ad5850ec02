"""New memory is dirty in all tests, and no array of the emulated card is copied onto itself."""

import os

import numpy as np
import pytest
from dirty_memory import PATTERNS, PERTURB
from emulator_support import Numpy


@pytest.mark.skipif(not hasattr(os, "confstr"), reason="there is no glibc")
def test_memory_of_the_process_is_dirty():
    if "glibc" not in (os.confstr("CS_GNU_LIBC_VERSION") or ""):
        pytest.skip("there is no glibc")
    new = np.empty(1 << 20, "uint8")
    assert (new[64:] == 255 - int(os.environ[PERTURB])).all()


@pytest.mark.parametrize("pattern", PATTERNS)
def test_memory_of_the_emulated_card_is_dirty(pattern):
    new = Numpy(pattern).empty(1 << 12, "uint8")
    assert set(new.tolist()) == ({pattern} if pattern is not None else set(range(256)))


@pytest.mark.parametrize("made", [lambda xp: xp.arange(9), lambda xp: xp.flatnonzero(range(9))])
def test_a_copy_onto_itself_is_noticed(made):
    values = made(Numpy())
    with pytest.raises(AssertionError, match="copied onto itself"):
        values[:-1] = values[1:]
    view = values[2:6]
    with pytest.raises(AssertionError, match="copied onto itself"):
        values[[0, 1, 2, 3]] = view  # places may be written while others are read
    values[:-1] = values[1:].copy()
    values[:4] = values[4:8]
    values[...] = values
