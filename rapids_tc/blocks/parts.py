"""Parts of keys, which are numbers of ids or ranks: ranges of them, or residues."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil, sqrt
from typing import TYPE_CHECKING, Any

from rapids_tc.blocks import geometry
from rapids_tc.blocks.arrivals import require_length
from rapids_tc.plan import costs

if TYPE_CHECKING:
    from rapids_tc.executors.protocol import Task
    from rapids_tc.frames.backend import Array


@dataclass(frozen=True)
class Range:
    """The keys from `first` on, `size` of them."""

    first: int
    size: int

    def select(self, keys: Array) -> Array:
        """Return which keys are in the part."""
        return (keys >= self.first) & (keys < self.first + self.size)

    def place(self, keys: Array) -> Array:
        """Return the places in the part of keys that are in it."""
        return keys - keys.dtype.type(self.first)


@dataclass(frozen=True)
class Residue:
    """The keys whose remainder is `residue` if they are divided by `n`."""

    residue: int
    n: int

    def select(self, keys: Array) -> Array:
        """Return which keys are in the part."""
        return keys % self.n == self.residue

    def place(self, keys: Array) -> Array:
        """Return the places in the part of keys that are in it."""
        return keys // self.n


Part = Range | Residue


@dataclass(frozen=True)
class IdRanges:
    """The ids of a graph in several ranges of numbers.

    Attributes
    ----------
    parts : list of Range
    ids : list of Task
        The ids of each range.
    pieces : list of Task
        The distinct ids of each batch, by range.
    numbers : list of list of Task
        The numbers of the ids of each piece, by batch and range.
    """

    parts: list[Range]
    ids: list[Task]
    pieces: list[Task]
    numbers: list[list[Task]]

    @property
    def size(self) -> int:
        """How many ids there are."""
        return sum(part.size for part in self.parts)

    def without_rows(self) -> IdRanges:
        """Return the ids without `pieces` and `numbers`, which only rows need."""
        return replace(self, pieces=[], numbers=[])


def range_count(size: int, free: int, workers: int, id_bytes: int = 0) -> int:
    """Return in how many ranges to rank numbers below `size`: in one, if all fit a worker at once.

    Else a range takes a small share of what is `free` on a worker, and its ranks at most 4 bytes
    times `size` over the root of the workers. `id_bytes` are the bytes of ids that are in a list.
    """
    of_ids, of_ranks = costs.CLUSTER_IDS * id_bytes, costs.CLUSTER_NUMBER * size
    if of_ids + of_ranks <= free:
        return 1
    share = max(free / costs.RANGE_SHARE, 1)
    most = min(share, costs.RANGE_BYTES * max(size, 1) / sqrt(workers))
    return min(ceil(max(of_ids / share, of_ranks / most)), costs.RANGES)


def cut(size: int, parts: int) -> list[Range]:
    """Cut the numbers below `size` in ranges of about equal size."""
    bounds = [size * part // parts for part in range(parts + 1)]
    return [Range(a, b - a) for a, b in pairwise(bounds)]


def by_rank(residues: list[Array], xp: Any) -> Array:
    """Join the values of the ranks of all residues, in the order of the ranks."""
    n, vertices = len(residues), sum(map(len, residues))
    if n == 1:
        return residues[0]
    result = xp.empty(vertices, residues[0].dtype)
    for residue, values in enumerate(residues):
        require_length(values, geometry.members(vertices, n, residue), "values of ranks")
        result[residue::n] = values
    return result
