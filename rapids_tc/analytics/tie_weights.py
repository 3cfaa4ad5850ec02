"""Weights of ties: readings of the weights of edges, whatever their unit."""

from __future__ import annotations

from math import frexp
from typing import TYPE_CHECKING, Any

from rapids_tc.preparation.edge_values import DOWN, UP, Directions, Reading, Reduced
from rapids_tc.preparation.readers import WeightReader

if TYPE_CHECKING:
    from rapids_tc._typing import Array, ArrayModule, Label


def tie_reading(weight: Label | None, aggregate: str | None, *, directed: bool = False) -> Reading:
    """Return the reading of weights from 0 to 2: of the mutual weight, with directions.

    Without a weight, each direction has the same.
    """
    if weight is None:
        return Reading(Directions(), formula=_ways)
    formula = _mutual if directed else _units
    rule = Reduced(aggregate, directed=directed)
    return Reading(rule, (WeightReader(label=weight),), formula, scaled=True)


def root_reading(weight: Label, aggregate: str | None) -> Reading:
    """Return the reading of the square roots of weights from 0 to 1."""
    return Reading(Reduced(aggregate), (WeightReader(label=weight),), _roots, scaled=True)


def _ways(arrays: list[Array], largest: Any, xp: ArrayModule) -> list[Array]:
    return [0.5 * (1 + (arrays[0] == DOWN + UP))]


def _units(arrays: list[Array], largest: Any, xp: ArrayModule) -> list[Array]:
    return [_scaled(arrays[0], largest, xp)]


def _mutual(arrays: list[Array], largest: Any, xp: ArrayModule) -> list[Array]:
    down, up, _ = arrays
    return [_scaled(down, largest, xp) + _scaled(up, largest, xp)]


def _roots(arrays: list[Array], largest: Any, xp: ArrayModule) -> list[Array]:
    return [xp.sqrt(_scaled(arrays[0], largest, xp))]


def _scaled(weights: Array, largest: Any, xp: ArrayModule) -> Array:
    """Return weights over a power of two, so that the largest is from 0.5 to 1: no bit is lost."""
    exponent = frexp(largest)[1] if isinstance(largest, float) else xp.frexp(largest)[1]
    return xp.ldexp(weights + 0.0, -exponent)  # and -0.0 is 0.0, whose bits are in order
