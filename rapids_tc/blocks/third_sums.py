"""Sums over the triangles of every edge of a value of their third vertices.

The values are integers, multiples of a unit that is a power of two: their sums are exact, whatever
the order of addition. So threads, GPUs, blocks and workers come to the same bits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from rapids_tc.frames.backend import Array, Backend

BITS = 62  # a sum, its rounding included, stays below 2^63

FORMULAS: dict[str, Callable[[Array], Array]] = {  # of degrees from 2 on
    "adamic_adar": lambda degrees: 1 / np.log(degrees),
    "resource_allocation": lambda degrees: 1 / degrees,
    "newman": lambda degrees: 1 / (degrees - 1),
}


@dataclass(frozen=True)
class ThirdValues:
    """The value of every rank, in multiples of a unit.

    Attributes
    ----------
    by_rank : array of int64
        0 for a vertex of one neighbor, which is the third vertex of no edge.
    unit : float
        A power of two, the least for which no sum of as many values as an edge can have triangles
        overflows: about 2^-62 times the largest degree.
    """

    by_rank: Array
    unit: float

    def as_floats(self, sums: Array) -> Array:
        """Return sums of values as float64, rounded once."""
        floats = sums.astype("float64")
        floats *= self.unit
        return floats


@dataclass(frozen=True)
class ThirdTable:
    """What a formula gives for each degree that a graph has, in multiples of a unit.

    Attributes
    ----------
    degrees : array of int64, on the host, ascending
    values : array of int64
    unit : float
        See `ThirdValues`.
    """

    degrees: Any
    values: Any
    unit: float

    def of(self, degrees: Array, xp: ModuleType) -> ThirdValues:
        """Return the values of ranks from their degrees."""
        places = xp.searchsorted(xp.asarray(self.degrees), degrees)
        return ThirdValues(xp.asarray(self.values)[places], self.unit)


def third_table(name: str, degrees: Any) -> ThirdTable:
    """Return what a formula gives for distinct degrees, ascending, which are on the host.

    Each value is rounded to a multiple of the unit once. An edge has fewer triangles than the
    largest degree, so that the error of a sum is less than half a unit for each of them: relative
    to the sum, 2^-62 times the square of the largest degree at the most, if the third vertices are
    all of that degree. The host computes formulas, for a GPU may round a logarithm differently.
    """
    on_host = degrees.astype("float64")
    values = np.zeros(len(on_host))
    third = on_host > 1
    values[third] = FORMULAS[name](on_host[third])
    most = float(on_host[-1]) * values.max() if len(values) else 0.0
    exponent = BITS - math.frexp(most)[1]
    whole = np.rint(np.ldexp(values, exponent)).astype("int64")
    return ThirdTable(degrees, whole, math.ldexp(1.0, -exponent))


def third_values(name: str, degrees: Array, backend: Backend) -> ThirdValues:
    """Return what a formula gives for the degree of every rank: see `third_table`."""
    distinct = backend.host(backend.xp.unique(degrees))
    return third_table(name, distinct).of(degrees, backend.xp)
