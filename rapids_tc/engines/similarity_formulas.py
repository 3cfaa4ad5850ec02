"""How alike two vertices are, by the neighbors that they have in common: for both engines.

A similarity is a float64 that both engines compute in the same steps, each of which is rounded
once: candidates have the same order everywhere. Equal fractions give equal floats as long as the
squares of degrees are exact, below 2**53: ties are ties.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from rapids_tc.preparation.csr import Array

# By name: of xp, what two vertices have in common, and the degrees of both, all of them float64, or
# integers where a value is not ranked.
# None gives more for a larger degree. The place of each is its `kind` for the engines. The cosine
# divides before it takes the root: the roots of equal fractions are equal.
FORMULAS: dict[str, Callable[[Any, Array, Array, Array], Array]] = {
    "sum": lambda xp, common, a, b: common,
    "jaccard": lambda xp, common, a, b: common / (a + b - common),
    "cosine": lambda xp, common, a, b: xp.sqrt(common * common / (a * b)),
    "sorensen": lambda xp, common, a, b: 2 * common / (a + b),
    "overlap": lambda xp, common, a, b: common / xp.minimum(a, b),
}


def similarity_of(formula: str, common: Array, a: Array, b: Array, xp: Any) -> Array:
    """Return how alike pairs of vertices are, float64, from integers."""
    return FORMULAS[formula](xp, *(each.astype("float64") for each in (common, a, b)))


@dataclass(frozen=True)
class Ranking:
    """Which vertices are the most similar ones to a vertex.

    Attributes
    ----------
    formula : str
        A key of `FORMULAS`.
    places : array of uint32
        By rank: of two vertices that are as alike, the one of the lower place comes first.
    apart : bool
        Whether the neighbors of a vertex are left out of those that are similar to it.
    """

    formula: str
    places: Array
    apart: bool = False

    @property
    def kind(self) -> int:
        """The number of the formula."""
        return [*FORMULAS].index(self.formula)
