"""What follows from the weights of the edges around vertices, and of the triangles of these edges.

A step is a function of a block, or of ranks. In memory the graph is one block, and elsewhere steps
are tasks: `Steps` says how they are made. Floats are added up as integers, in a unit that follows
from what is added up at a vertex or an edge. So the answers have the same bits on all paths.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from rapids_tc.blocks import block_work, geometry, sums
from rapids_tc.blocks.block_work import PlacedBlock
from rapids_tc.blocks.codec import require_length
from rapids_tc.blocks.quantities import EndPairSums, PairSums, TieSum
from rapids_tc.engines.quantity import (
    ADDED,
    LARGEST,
    LEAST,
    REDUNDANT,
    THROUGH,
    Quantity,
)
from rapids_tc.preparation.edge_values import UNREAD

if TYPE_CHECKING:
    from types import ModuleType

    from rapids_tc.blocks.block_map import Blocked
    from rapids_tc.frames.backend import Array

OfEdges = Any  # an array, or a task for each block
OfRanks = Any  # an array, or a task for each residue of ranks
BITS = 62  # a sum of integers stays below 2^62, its rounding included
MOST_SHIFT = 1000  # of weights, in bits: what is smaller by more is lost


# How steps are made -------------------------------------------------------------------------------


class Steps(ABC):
    """Makes steps of a graph."""

    degrees: OfRanks

    @abstractmethod
    def of_edges(
        self, function: Callable[..., Any], *edges: OfEdges, ranks: Sequence[OfRanks] = ()
    ) -> OfEdges:
        """Call a function of a block, of values of its edges, and of the ranks at its ends.

        Of `ranks`, it gets the values of its rows, and those of its columns.
        """

    @abstractmethod
    def at_ends(
        self, function: Callable[..., Any], *edges: OfEdges, ranks: Sequence[OfRanks] = (),
        combine: Callable[..., Any] = block_work.add,
    ) -> OfRanks:  # fmt: skip
        """Combine by rank what such a function returns by `PlacedBlock.by_end`."""

    @abstractmethod
    def of_ranks(self, function: Callable[..., Any], *ranks: OfRanks) -> OfRanks:
        """Call a function of the values of ranks."""

    @abstractmethod
    def visited(self, quantity: PairSums, values: OfEdges) -> OfEdges:
        """Return what a quantity makes of the triangles of every edge; of two rows, two columns."""

    def sorted_edges(self, weights: OfEdges) -> tuple[Array, Array]:
        """Return all ends of edges, ascending, and their weights, ascending for one end."""
        raise NotImplementedError("the edges of a vertex are in several blocks")


class WholeSteps(Steps):
    """Makes steps of a graph in memory, whose `visit` combines what a quantity makes of it."""

    def __init__(self, graph: Any, visit: Callable[[Quantity, Any], Array]) -> None:
        self.degrees, self._visit, xp = graph.degrees, visit, graph.backend.xp
        self._block = PlacedBlock(graph.csr, (0, 0), 1, graph.csr.n, graph.engine, xp)

    def of_edges(
        self, function: Callable[..., Any], *edges: OfEdges, ranks: Sequence[OfRanks] = ()
    ) -> OfEdges:
        """See `Steps`."""
        return function(self._block, *edges, *(each for of_ends in ranks for each in [of_ends] * 2))

    def at_ends(
        self, function: Callable[..., Any], *edges: OfEdges, ranks: Sequence[OfRanks] = (),
        combine: Callable[..., Any] = block_work.add,
    ) -> OfRanks:  # fmt: skip
        """See `Steps`."""
        return self.of_edges(function, *edges, ranks=ranks)

    def of_ranks(self, function: Callable[..., Any], *ranks: OfRanks) -> OfRanks:
        """See `Steps`."""
        return function(*ranks, xp=self._block.xp)

    def visited(self, quantity: PairSums, values: OfEdges) -> OfEdges:
        """See `Steps`."""
        found = self._visit(quantity, values)
        return found.T if found.ndim > 1 else found

    def sorted_edges(self, weights: OfEdges) -> tuple[Array, Array]:
        """See `Steps`."""
        csr, xp = self._block.csr, self._block.xp
        ends, of_ends = xp.concatenate([csr.rows, csr.columns]), xp.concatenate([weights] * 2)
        order = xp.lexsort(xp.stack([of_ends, ends.astype("float64")]))
        return ends[order].astype("int64"), of_ends[order]


class BlockedSteps(Steps):
    """Makes steps of a graph in blocks."""

    def __init__(self, graph: Blocked) -> None:
        self._graph, self.degrees = graph, sums.degrees(graph)

    def _by_block(self, ranks: Sequence[OfRanks]) -> list[OfRanks]:
        places = list(zip(*self._graph.places_of_blocks, strict=True))
        return [[of_ends[i] for i in side] for of_ends in ranks for side in places]

    def of_edges(
        self, function: Callable[..., Any], *edges: OfEdges, ranks: Sequence[OfRanks] = ()
    ) -> OfEdges:
        """See `Steps`."""
        return self._graph.each_block("sum", function, *edges, *self._by_block(ranks))

    def at_ends(
        self, function: Callable[..., Any], *edges: OfEdges, ranks: Sequence[OfRanks] = (),
        combine: Callable[..., Any] = block_work.add,
    ) -> OfRanks:  # fmt: skip
        """See `Steps`."""
        by_block = self._by_block(ranks)
        return self._graph.at_ends(function, *edges, *by_block, combine=combine)

    def of_ranks(self, function: Callable[..., Any], *ranks: OfRanks) -> OfRanks:
        """See `Steps`."""
        by_residue = zip(*ranks, strict=True)
        return [self._graph.submit("sum", function, *own) for own in by_residue]

    def visited(self, quantity: PairSums, values: OfEdges) -> OfEdges:
        """See `Steps`."""
        slices = sums.visited_by_edge(self._graph, quantity, UNREAD, values)
        return self._graph.each_block("sum", _joined, slices)


def _joined(block: PlacedBlock, slices: list[Array]) -> Array:
    return block.joined(slices, "sums")


# What is asked for --------------------------------------------------------------------------------


class Constraint(TieSum):
    """Burt's constraint, of the edges whose weight is not 0; NaN without one."""

    def by_rank(self, steps: Steps, weights: OfEdges) -> OfRanks:
        """See `TieSum`."""
        strengths = _strengths(steps, weights, _largest(steps, weights))
        pairs = steps.of_edges(_through, weights, ranks=[strengths])
        found = steps.visited(PairSums("ties", rule=THROUGH), pairs)
        shifts = steps.of_ranks(_constraint_shifts, steps.degrees)
        sums = _exact_sums(steps, _local_constraints, [weights, found], [strengths], shifts)
        return steps.of_ranks(_constraints, *sums, shifts, strengths)


class EffectiveSize(TieSum):
    """Burt's effective size, of the edges whose weight is not 0; NaN without one."""

    def by_rank(self, steps: Steps, weights: OfEdges) -> OfRanks:
        """See `TieSum`."""
        largest = _largest(steps, weights)
        strengths = _strengths(steps, weights, largest)
        pairs = steps.of_edges(_redundant, weights, ranks=[largest, steps.degrees])
        found = steps.visited(EndPairSums("overlaps", rule=REDUNDANT), pairs)
        shifts = steps.of_ranks(_overlap_shifts, steps.degrees)
        ranks = [strengths, steps.degrees]
        sums = _exact_sums(steps, _overlaps, [weights, found], ranks, shifts)
        return steps.of_ranks(_sizes, *sums, shifts, steps.at_ends(_count_ties, weights))


@dataclass(frozen=True)
class Triplets(TieSum):
    """What the pairs of edges at a rank make, or those that are sides of triangles, twice.

    Attributes
    ----------
    rule : int
        What two edges make: `ADDED` of weights, `MULTIPLIED` of their roots, `LEAST` or `LARGEST`.
    """

    rule: int = ADDED


class ClosedTriplets(Triplets):
    """Of all triangles: two sides are a pair of the third side, which counts at both its ends."""

    def by_rank(self, steps: Steps, weights: OfEdges) -> OfRanks:
        """See `TieSum`."""
        pairs = steps.of_edges(_bounded, weights, ranks=[steps.degrees])
        found = steps.visited(PairSums("closed", rule=self.rule), pairs)
        shifts = steps.of_ranks(_wedge_shifts, steps.degrees)
        sums = _exact_sums(steps, _unscaled, [found], [steps.degrees], shifts)
        return steps.of_ranks(_floats, *sums, shifts)


class AllTriplets(Triplets):
    """Of all pairs of edges."""

    def by_rank(self, steps: Steps, weights: OfEdges) -> OfRanks:
        """See `TieSum`."""
        shifts = steps.of_ranks(_wedge_shifts, steps.degrees)
        if self.rule in (LEAST, LARGEST):
            sums = steps.of_ranks(
                partial(_sorted_sums, *steps.sorted_edges(weights), self.rule),
                steps.degrees,
                shifts,
            )
            return steps.of_ranks(_floats, *sums, shifts)
        largest = _largest(steps, weights)
        if self.rule == ADDED:
            return steps.of_ranks(_added, _strengths(steps, weights, largest), steps.degrees)
        own = steps.of_ranks(_strength_shifts, steps.degrees, largest)
        strengths = [*_exact_sums(steps, _twice, [weights], [], own), own]
        sums = _exact_sums(steps, _times_others, [weights], strengths, shifts)
        return steps.of_ranks(_floats, *sums, shifts)


@dataclass(frozen=True)
class WeightedJaccard(Quantity):
    """For every edge, the weighted Jaccard index of its ends: float64."""

    takes = "ties"
    answer = "float64"

    def by_edge(self, steps: Steps, weights: OfEdges) -> OfEdges:
        """Make the steps; return the values of edges."""
        strengths = _strengths(steps, weights, _largest(steps, weights))
        pairs = steps.of_edges(_least, weights, ranks=[strengths])
        found = steps.visited(PairSums("common", rule=LEAST), pairs)
        return steps.of_edges(_jaccard, found, ranks=[strengths])


# Sums at vertices ---------------------------------------------------------------------------------


def _exact_sums(
    steps: Steps, function: Callable[..., Any], edges: list[OfEdges], ranks: list[OfRanks],
    shifts: OfRanks,
) -> list[OfRanks]:  # fmt: skip
    """Sum what a function says of each edge at its larger and at its smaller end, by rank.

    The sums are whole multiples of a unit of each rank, 2^-a, and, of what is left, of a smaller
    one, 2^-(a + b), for the shifts (a, b) of the rank. So they are the same in any order.
    """
    functions = [partial(_end_sums, function, place) for place in (0, 1)]
    return [steps.at_ends(each, *edges, ranks=[*ranks, shifts]) for each in functions]


def _end_sums(function: Callable[..., Any], place: int, block: PlacedBlock, *args: Any) -> Any:
    """Add up the whole units of what a function says of each end of an edge, or what is left."""
    at_ends = zip(function(block, *args[:-2]), _at_edges(block, *args[-2:]), strict=True)
    return _by_end(block, *(_cut(*both, block.xp)[place] for both in at_ends))


def _cut(values: Array, shifts: Array, xp: ModuleType) -> tuple[Array, Array]:
    """Return the whole units of each value, and of the rest: int64."""
    scaled = values * _power(shifts[:, 0], xp)
    units = xp.trunc(scaled)
    rest = xp.trunc((scaled - units) * _power(shifts[:, 1], xp))
    return units.astype("int64"), rest.astype("int64")


def _by_end(block: PlacedBlock, of_larger: Array, of_smaller: Array) -> Any:
    """Add integers of edges up at their larger and at their smaller ends."""
    by_row, _ = block.engine.sum_counts(block.csr, of_larger)
    _, by_column = block.engine.sum_counts(block.csr, of_smaller)
    return block.by_end(by_row, by_column)


def _at_edges(block: PlacedBlock, of_rows: Array, of_columns: Array) -> tuple[Array, Array]:
    """Return the values of the larger and of the smaller end of every edge."""
    for values, residue in zip((of_rows, of_columns), block.at, strict=True):
        require_length(values, geometry.members(block.vertices, block.n, residue), "values")
    rows = block.csr.rows.astype("int64") - geometry.row_shift(block.at)
    return of_rows[rows], of_columns[block.csr.columns]


def _floats(units: Array, rest: Array, shifts: Array, *, xp: ModuleType) -> Array:
    """Return exact sums as floats."""
    first, more = shifts[:, 0], shifts[:, 1]
    whole = xp.ldexp(units.astype("float64"), -first)
    return whole + xp.ldexp(rest.astype("float64"), -first - more)


def _power(shifts: Array, xp: ModuleType) -> Array:
    """Return powers of two."""
    return xp.ldexp(xp.ones(len(shifts)), shifts)


def _bits(values: Array, xp: ModuleType) -> Array:
    """Return the least power of two above each value, as its exponent; 0 for 0."""
    return xp.frexp(values.astype("float64"))[1]


def _pair_of_shifts(first: Array, degrees: Array, xp: ModuleType) -> Array:
    """Return the shifts of ranks, whose rests are added up for so many edges."""
    shifts = xp.minimum(first, MOST_SHIFT), BITS - _bits(degrees, xp)
    return xp.stack(shifts, axis=1).astype("int32")


# Strengths ----------------------------------------------------------------------------------------


def _largest(steps: Steps, weights: OfEdges) -> OfRanks:
    """Return the largest weight of the edges of every rank, as bits: int64."""
    return steps.at_ends(_largest_of, weights, combine=block_work.largest)


def _largest_of(block: PlacedBlock, weights: Array) -> Any:
    bits = weights.view("int64")  # of floats from 0 on, in the same order
    by_ends = geometry.largest_at_ends(block.csr, block.columns, bits, block.xp)
    return block.by_end(*by_ends, block.xp.maximum)


def _strengths(steps: Steps, weights: OfEdges, largest: OfRanks) -> OfRanks:
    """Return the sum of the weights of the edges of every rank."""
    shifts = steps.of_ranks(_strength_shifts, steps.degrees, largest)
    sums = _exact_sums(steps, _twice, [weights], [], shifts)
    return steps.of_ranks(_floats, *sums, shifts)


def _twice(block: PlacedBlock, weights: Array) -> tuple[Array, Array]:
    return weights, weights


def _strength_shifts(degrees: Array, largest: Array, *, xp: ModuleType) -> Array:
    first = BITS - _bits(degrees, xp) - _bits(largest.view("float64"), xp)
    return _pair_of_shifts(first, degrees, xp)


# Pairs of sides -----------------------------------------------------------------------------------


def _scale(bound: Array, xp: ModuleType) -> Array:
    """Return the scale of the sums of edges, which are no larger than a bound, or little larger."""
    return _power(xp.minimum(BITS - 1 - _bits(bound, xp), MOST_SHIFT), xp)


def _inverse(values: Array, xp: ModuleType) -> Array:
    """Return 1 over each value, and 0 for 0."""
    is_zero = values == 0
    return ~is_zero / xp.where(is_zero, 1.0, values)


def _least(block: PlacedBlock, weights: Array, *of_ends: Array) -> list[Array]:
    """Return what pairs take of every edge: common weights are no more than the lesser strength."""
    scale = _scale(block.xp.minimum(*_at_edges(block, *of_ends)), block.xp)
    return [weights, scale, weights, weights]


def _through(block: PlacedBlock, weights: Array, *of_ends: Array) -> list[Array]:
    """Return what pairs take of every edge: at its ends, one over the strength."""
    xp, strengths = block.xp, _at_edges(block, *of_ends)
    return [weights, _scale(xp.minimum(*strengths), xp), *(_inverse(s, xp) for s in strengths)]


def _redundant(block: PlacedBlock, weights: Array, *of_ends: Array) -> list[Array]:
    """Return what pairs take of every edge: at its ends, one over the largest weight."""
    xp, largest = block.xp, _at_edges(block, *of_ends[:2])
    scale = _scale(xp.minimum(*_at_edges(block, *of_ends[2:])), xp)
    return [weights, scale, *(_inverse(bits.view("float64"), xp) for bits in largest)]


# Constraint ---------------------------------------------------------------------------------------


def _constraint_shifts(degrees: Array, *, xp: ModuleType) -> Array:
    """Return the shifts of sums below 4."""
    return _pair_of_shifts(xp.full(len(degrees), BITS - 3), degrees, xp)


def _local_constraints(
    block: PlacedBlock, weights: Array, found: Array, *of_ends: Array
) -> list[Array]:
    """Return ((w + the sum over paths of two edges) / strength) ** 2, for both ends."""
    xp, strengths = block.xp, _at_edges(block, *of_ends)
    invested = weights + found / _scale(xp.minimum(*strengths), xp)
    invested *= weights > 0
    return [(invested * _inverse(each, xp)) ** 2 for each in strengths]


def _constraints(
    units: Array, rest: Array, shifts: Array, strengths: Array, *, xp: ModuleType
) -> Array:
    return xp.where(strengths > 0, _floats(units, rest, shifts, xp=xp), xp.nan)


# Effective size -----------------------------------------------------------------------------------


def _overlap_shifts(degrees: Array, *, xp: ModuleType) -> Array:
    """Return the shifts of sums of no more than the degree."""
    return _pair_of_shifts(BITS - 1 - _bits(degrees, xp), degrees, xp)


def _overlaps(block: PlacedBlock, weights: Array, found: Array, *of_ends: Array) -> list[Array]:
    """Return the weight over the strength, times the sum of redundant ties, for both ends."""
    xp, strengths = block.xp, _at_edges(block, *of_ends[:2])
    scale = _scale(xp.minimum(*_at_edges(block, *of_ends[2:])), xp)
    return [
        weights * _inverse(each, xp) * (found[:, place] / scale)
        for place, each in enumerate(strengths)
    ]


def _count_ties(block: PlacedBlock, weights: Array) -> Any:
    """Count the edges of every rank whose weight is not 0."""
    ties = (weights > 0).astype("uint32")
    return _by_end(block, ties, ties)


def _sizes(units: Array, rest: Array, shifts: Array, ties: Array, *, xp: ModuleType) -> Array:
    return xp.where(ties > 0, ties - _floats(units, rest, shifts, xp=xp), xp.nan)


# Triplets -----------------------------------------------------------------------------------------


def _bounded(block: PlacedBlock, weights: Array, *of_ends: Array) -> list[Array]:
    """Return what pairs take of every edge: two sides of a triangle make 2 at the most."""
    return [weights, _triplet_scale(block, *of_ends), weights, weights]


def _triplet_scale(block: PlacedBlock, *of_ends: Array) -> Array:
    return _scale(2 * block.xp.minimum(*_at_edges(block, *of_ends)), block.xp)


def _unscaled(block: PlacedBlock, found: Array, *of_ends: Array) -> tuple[Array, Array]:
    values = found / _triplet_scale(block, *of_ends)
    return values, values


def _wedge_shifts(degrees: Array, *, xp: ModuleType) -> Array:
    """Return the shifts of sums of twice the square of the degree at the most."""
    return _pair_of_shifts(BITS - 1 - 2 * _bits(degrees, xp), degrees, xp)


def _times_others(block: PlacedBlock, weights: Array, *of_ends: Array) -> list[Array]:
    """Return each weight times those of all other edges at an end.

    The difference is one of whole numbers: most of a sum may be the weight itself.
    """
    xp, products = block.xp, []
    sums = (_at_edges(block, *of_ends[first : first + 2]) for first in (0, 2, 4))
    for units, rest, shifts in zip(*sums, strict=True):
        own = _cut(weights, shifts, xp)
        others = _floats(units - own[0], rest - own[1], shifts, xp=xp)
        products.append(weights * others)
    return products


def _added(strengths: Array, degrees: Array, *, xp: ModuleType) -> Array:
    return 2 * strengths * xp.maximum(degrees - 1, 0)


def _sorted_sums(
    ends: Array, weights: Array, rule: int, degrees: Array, shifts: Array, *, xp: ModuleType
) -> list[Array]:
    """Sum the lesser or the larger weight of each pair of edges at a rank, twice."""
    last = degrees.cumsum()
    before = xp.arange(len(ends)) - (last - degrees)[ends]
    pairs = before if rule == LARGEST else degrees[ends] - 1 - before
    sums = []
    for integers in _cut(2 * weights * pairs, shifts[ends], xp):
        running = xp.concatenate([xp.zeros(1, "int64"), integers.cumsum()])  # may wrap around,
        sums.append(running[last] - running[last - degrees])  # and differences are right again
    return sums


# Jaccard ------------------------------------------------------------------------------------------


def _jaccard(block: PlacedBlock, found: Array, *of_ends: Array) -> Array:
    """Return the least weights over the largest: of all neighbors of both ends."""
    xp, strengths = block.xp, _at_edges(block, *of_ends)
    common = found / _scale(xp.minimum(*strengths), xp)
    union = strengths[0] + strengths[1] - common
    return common * _inverse(union, xp)
