"""The finalizer of SplitMix64 (Steele, Lea, Flood, 2014), for draws and for hashes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from rapids_tc._typing import Array


STEP = 0x9E3779B97F4A7C15  # from one word of the sequence to the next


def mix(words: Array) -> Array:
    """Mix 64-bit words (uint64) in place, so that each bit depends on all; return the words."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        words ^= words >> shift
        words *= np.uint64(factor)
    words ^= words >> 31
    return words
