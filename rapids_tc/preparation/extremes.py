"""Floats as integers of the same order: the least and the largest value of many places.

CuPy finds the least and largest of float64 in float32 (`minimum.at` and `maximum.at` of 14.2, in
its atomics.cuh), so they get integers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from rapids_tc._typing import Array

_TOP, _BELOW = np.uint64(1 << 63), np.uint64((1 << 63) - 1)


def ordered(values: Array) -> Array:
    """Return the uint64 of float64 values without NaN, in their order; -0.0 is 0.0."""
    bits = (values + 0.0).view("uint64")
    bits ^= (bits >> np.uint64(63)) * _BELOW  # of negative values, the larger has the lesser bits
    bits ^= _TOP
    return bits


def floats(keys: Array) -> Array:
    """Return the values that `ordered` made into keys; the keys are overwritten."""
    keys ^= _TOP
    keys ^= (keys >> np.uint64(63)) * _BELOW
    return keys.view("float64")
