"""Pairs of vertices that have neighbors in common: what they are measured by, and their frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rapids_tc.blocks.third_sums import FORMULAS as SUMMED
from rapids_tc.blocks.third_sums import third_values
from rapids_tc.engines.similarity_formulas import similarity_of
from rapids_tc.plan import needs
from rapids_tc.plan.record import Needs, Result, Work

if TYPE_CHECKING:
    from rapids_tc._typing import Array, Frame
    from rapids_tc.blocks.third_sums import ThirdValues
    from rapids_tc.frames.backend import Backend
    from rapids_tc.graphs.in_memory import InMemoryGraph
    from rapids_tc.preparation.csr import Csr
    from rapids_tc.preparation.ids import Ids

SIMILAR_PAIRS = Work(Needs.SIMILAR_PAIRS, Result.PAIRS)
FRACTIONS = ("jaccard", "cosine", "sorensen", "overlap")  # of `engines.similarity_formulas`
SUMS = ("adamic_adar", "resource_allocation")  # of `blocks.third_sums`


@dataclass(frozen=True)
class PairMeasure:
    """What pairs are measured by: their common neighbors, or the sum of a value of these.

    Attributes
    ----------
    formula : str
        A key of `engines.similarity_formulas.FORMULAS`.
    summed : ThirdValues or None
        The values that are added up; None if common neighbors are counted.
    degrees : array of int64
        By rank.
    """

    formula: str
    summed: ThirdValues | None
    degrees: Array

    @classmethod
    def of(cls, name: str, rows: Csr, backend: Backend) -> PairMeasure:
        """Return the measure of a name, for the rows of all neighbors of a graph."""
        degrees = backend.xp.diff(rows.offsets)
        summed = third_values(name, degrees, backend) if name in SUMMED else None
        return cls(name if name in FRACTIONS else "sum", summed, degrees)

    @property
    def values(self) -> Array | None:
        """The values by rank that are added up; None if common neighbors are counted."""
        return None if self.summed is None else self.summed.by_rank

    def of_pairs(self, u: Array, v: Array, sums: Array, backend: Backend) -> Array:
        """Measure pairs of ranks, float64, from their common neighbors or sums of values."""
        if self.summed is not None:
            return self.summed.as_floats(sums)
        return similarity_of(self.formula, sums, self.degrees[u], self.degrees[v], backend.xp)


def running_sum(counts: Array, backend: Backend) -> Array:
    """Return where the pairs of each vertex begin, and behind them their number: int64."""
    starts = backend.xp.zeros(len(counts) + 1, "int64")
    backend.xp.cumsum(counts, out=starts[1:])
    return starts


def owners(starts: Array, places: Array, backend: Backend) -> Array:
    """Return which vertex has the pair of each place, from their `running_sum`."""
    return backend.xp.searchsorted(starts, places, side="right") - 1


def require_pairs(
    graph: InMemoryGraph, pairs: int, limit: int | None, advice: str, what: str = "the answer"
) -> None:
    """Raise CapacityError if a frame of so many pairs of a graph is more than can be made."""
    room = graph.room(SIMILAR_PAIRS, limit)
    needs.require_pairs(pairs, room, advice, graph.ids.text, what)


def pair_frame(
    backend: Backend, ids: Ids, ends: tuple[Array, Array], columns: dict[str, Array]
) -> Frame:
    """Make a frame of pairs of numbers of ids, and of their columns."""
    return backend.answer({**ids.columns(("u", "v"), ends), **columns})
