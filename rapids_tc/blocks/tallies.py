"""Tallies: the triangles of each group, vertex or edge, by the types of their sides or corners."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.errors import CapacityError
from rapids_tc.plan import costs
from rapids_tc.preparation.edge_values import Directions
from rapids_tc.preparation.triads import places_of
from rapids_tc.preparation.triangles import ordered_corners

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rapids_tc.blocks.task_triangles import TaskTriangles
    from rapids_tc.frames.backend import Array
    from rapids_tc.preparation.edge_values import Reading

BITS = 8  # of a type in a key
COMBINATION = 3 * BITS  # bits of three types
BATCH = 1 << 22  # triangles that are listed at a time, at most
BATCHES = 4  # lists that a batch takes as much memory as, with its keys


@dataclass(frozen=True)
class TypeTally:
    """How many triangles there are of each combination of types, for each owner that has any.

    Attributes
    ----------
    owner : array of int64
        A group, the rank of a vertex, or the position of an edge; ascending. 0 if all is one.
    codes : list of three arrays of int64
        The types; ascending in each row, or the states of uv, uw and vw. Or one array: see
        `by_triad`.
    counts : array of int64
    reading : Reading
        What was read, which knows the types that codes stand for.
    ends : pair of array of int64, optional
        The larger and the smaller rank of owners that are edges, if the graph cannot say.
    """

    owner: Array
    codes: list[Array]
    counts: Array
    reading: Reading
    ends: tuple[Array, Array] | None = None

    @classmethod
    def of_keys(cls, keys: Array, counts: Array, reading: Reading) -> TypeTally:
        """Make the tally of ascending keys."""
        codes = [(keys >> (BITS * i) & 255).astype("int64") for i in (2, 1, 0)]
        return cls((keys >> COMBINATION).astype("int64"), codes, counts, reading)

    @classmethod
    def of_counters(cls, counts: Any, reading: Reading) -> TypeTally:
        """Make the tally of the whole graph from counters, on the host, of uv, uw and vw.

        The counters are sorted as their three types are, by exchanges of two of these. States keep
        their order.
        """
        for first in () if of_states(reading) else (1, 0, 1):
            two = np.moveaxis(counts, (first, first + 1), (0, 1))
            for low in range(len(two)):
                two[low, low + 1 :] += two[low + 1 :, low]
                two[low + 1 :, low] = 0
        codes = np.nonzero(counts)
        return cls(np.zeros(len(codes[0]), "int64"), [*codes], counts[codes], reading)

    def by_triad(self, xp: Any) -> TypeTally:
        """Return the tally by closed triads, whose places in `CLOSED` are the codes, of states."""
        keys = self.owner.astype("uint64") << BITS | places_of(self.codes, xp).astype("uint64")
        order = xp.argsort(keys)
        keys = keys[order]
        is_last = xp.concatenate([keys[1:] != keys[:-1], xp.ones(min(len(keys), 1), bool)])
        last = xp.flatnonzero(is_last)
        counts = xp.diff(self.counts[order].cumsum()[last], prepend=0)
        codes, owner = [(keys[last] & 255).astype("int64")], self.owner[order[last]]
        ends = self.ends and tuple(end[order[last]] for end in self.ends)
        return replace(self, owner=owner, codes=codes, counts=counts, ends=ends)

    def with_ends(self, larger: Array, smaller: Array) -> TypeTally:
        """Return the tally with the ends of its owners."""
        return replace(self, ends=(larger, smaller))


def of_states(reading: Reading) -> bool:
    """Return whether the types of a reading are states of edges, which have an order."""
    return isinstance(reading.rule, Directions)


def batches(total: int, memory: int) -> Iterator[tuple[int, int]]:
    """Yield the bounds of lists of triangles that so much memory takes."""
    batch = min(BATCH, max(memory // (BATCHES * costs.LISTED), 1))
    for first in range(0, total, batch):
        yield first, min(first + batch, total)


def require_rows(rows: int, memory: int) -> None:
    """Raise CapacityError if an answer of so many rows is more than can be tallied."""
    need = costs.LISTED * rows
    if rows > costs.MOST_ROWS or need > memory:
        raise CapacityError(
            f"triangles_by_type has {rows:,} rows or more, which take about {need:,} bytes; a "
            f"frame may have {costs.MOST_ROWS:,} rows and take {memory:,} bytes: raise the limit, "
            "or give fewer types; without per= it is one row per combination"
        )


def keys_of(
    triangles: TaskTriangles, ranks: Array, values: Sequence[Array], reading: Reading, what: str,
    *, groups: Array | None, starts: Sequence[int], xp: Any,
) -> Iterator[Array]:  # fmt: skip
    """Yield the keys, owner << 24 | combination, of some triangles of a task for their owners.

    Only states of edges keep the order of the sides uv, uw and vw in a combination.

    Parameters
    ----------
    values : sequence of array
        The types of the edges of uv, uw and vw, unless the types are of vertices.
    what : {"all", "group", "vertex", "edge"}
    groups : array, optional
        The group of every rank, if groups are the owners.
    starts : sequence of int
        The number of the first edge of uv, of uw and of vw.
    """
    of_vertices = reading.vertex_types
    sides = triangles.sides(ranks) if what == "edge" or of_vertices is None else []
    if of_vertices is None:
        pairs = zip(values, sides, strict=True)
        types = [of_side[side].astype("uint64") for of_side, side in pairs]
    else:
        types = [of_vertices.codes[corner].astype("uint64") for corner in ranks]
    first, second, third = types if of_states(reading) else ordered_corners(types, xp)
    combination = (first << (2 * BITS)) | (second << BITS) | third
    if what == "all":
        yield combination
        return
    if groups is not None:
        owners = [groups[ranks[0]]]
    else:
        owners = list(ranks) if what == "vertex" else [*map(_add, sides, starts)]
    for owner in owners:
        yield (owner.astype("uint64") << COMBINATION) | combination


def _add(side: Array, start: int) -> Array:
    return side + start


def add(keys: Array, counts: Array, new: Array, xp: Any) -> tuple[Array, Array]:
    """Add one to the count of each new key; keys ascend."""
    new, numbers = xp.unique(new, return_counts=True)
    return merge([keys, new], [counts, numbers], xp)


def merge(keys: list[Array], counts: list[Array], xp: Any) -> tuple[Array, Array]:
    """Add up the counts of lists of keys, each of which has a key once."""
    joined, place = xp.unique(xp.concatenate(keys), return_inverse=True)
    added, first = xp.zeros(len(joined), "int64"), 0
    for of_list, numbers in zip(keys, counts, strict=True):
        added[place[first : first + len(of_list)]] += numbers
        first += len(of_list)
    return joined, added
