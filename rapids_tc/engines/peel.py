"""The truss decomposition: what is common to both engines.

An edge has trussness k if it is in the k-truss, the largest subgraph whose every edge is in k - 2
of its triangles, and not in the (k + 1)-truss. Start from the triangles of every edge and take
away, level by level, the edges that are in too few: *level* s removes edges in at most s triangles,
of trussness s + 2. Removing edges takes triangles from others, some of which fall to the level too:
they are the next *round*'s *frontier*. A round takes away its whole frontier at once:

- For an edge {a, b} of the frontier, walk the shorter of the rows of a and b, and look up each w
  of it in the other: {a, b}, {a, w}, {b, w} is a triangle, unless one of them is already dead,
  removed in a round before.
- Of the edges of a triangle that are in the frontier, the one of the smallest number takes it
  away, and counts it off those that are not. So each triangle is counted off once, and the
  triangles of an edge never fall below 0.

When a share of the edges is dead, those left are renumbered to a smaller graph (`ActiveGraph`), so
that few entries of rows are dead. R-MAT 18 takes 16 such graphs and walks 1.6 W1 entries, 1.2 of
them alive; with one graph it walks more than 4. Edges in no triangle are not even in the first.

A level is found by looking at every edge left. Over all levels that is at most the sum of the
trussness of all edges, so at most 2 edges + 3 triangles: never more than counting was.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from rapids_tc.engines.protocol import ProgressCallback
from rapids_tc.errors import CapacityError
from rapids_tc.preparation.csr import Array, Csr

DEAD = 1 << 31  # in `ActiveGraph.support` of a removed edge; its trussness is in the other bits
ALL = DEAD - 1  # a level that no edge is above: no edge is in 2**31 triangles, see `decompose`


@dataclass(frozen=True)
class ActiveGraph:
    """The edges that are left, numbered 0 to m - 1 in the order of the CSR.

    Attributes
    ----------
    ids : array of uint32, shape (m,)
        Their positions in the whole graph's ``csr.columns``.
    rows, columns : array of uint32, shape (m,)
        The larger and the smaller rank.
    support : array of uint32, shape (m,)
        Triangles that are left, or `DEAD` and the trussness.
    offsets : array of int64, shape (n + 1,)
        The edges of larger rank u are offsets[u] to offsets[u + 1]: here edges are looked up.
    starts : array of int64, shape (n + 1,)
        The neighbours of u are ``adjacency[starts[u]:starts[u + 1]]``: these are walked.
    adjacency : array of uint64, shape (2 * m,)
        Edge << 32 | neighbour.
    """

    ids: Array
    rows: Array
    columns: Array
    support: Array
    offsets: Array
    starts: Array
    adjacency: Array

    @property
    def m(self) -> int:
        return len(self.ids)


@dataclass
class PeelState:
    """Where the peeling is: written by the engine as it goes.

    Attributes
    ----------
    level : int
        The last one begun.
    first, last : int
        Levels below `first` are peeled with it, those above `last` not at all.
    rounds : int
    """

    level: int
    first: int
    last: int
    rounds: int = 0


class Peeler(Protocol):
    """An engine's part."""

    @property
    def xp(self) -> Any:
        """NumPy or CuPy."""

    def rows(self, csr: Csr) -> Array:
        """The larger rank of every edge, uint32."""

    def build_adjacency(self, rows: Array, columns: Array, n: int) -> tuple[Array, Array, Array]:
        """``offsets``, ``starts`` and ``adjacency`` of `ActiveGraph`."""

    def peel(
        self, left: ActiveGraph, levels: PeelState, on_progress: Callable[[int], None]
    ) -> bool:
        """Remove edges: True when all levels are done, False when too few are left of `left`.

        `on_progress` is called between batches with the number of dead edges.
        """


def decompose(
    peeler: Peeler,
    csr: Csr,
    counts: Array,
    k: int | None = None,
    on_progress: ProgressCallback | None = None,
) -> Array:
    """The trussness of every edge; see `rapids_tc.engines.Engine.truss`."""
    xp, m = peeler.xp, csr.m
    if m >= 2**32:  # edges are 32 bits; and one in s triangles is one of 2 s + 1 edges
        raise CapacityError(
            f"{m:,} edges: trussness takes fewer than 2**32; k_truss(edges, k, memory_limit=...) "
            "counts more, in blocks"
        )
    result = xp.full(m, 2, "int32")
    if k == 2:
        return result
    levels = PeelState(0, 0, ALL) if k is None else PeelState(0, k - 3, k - 3)
    ids = xp.flatnonzero(counts).astype("uint32")
    rows, columns, support = peeler.rows(csr)[ids], csr.columns[ids], counts[ids]
    total = len(ids)
    while len(ids):
        left = ActiveGraph(
            ids, rows, columns, support, *peeler.build_adjacency(rows, columns, csr.n)
        )
        del rows, columns, support
        done = peeler.peel(left, levels, _report(on_progress, left.m, total, levels))
        result[left.ids] = left.support & np.uint32(DEAD - 1)
        kept = xp.flatnonzero(left.support < DEAD)
        ids = left.ids[kept]
        if done:
            result[ids] = k or 0  # without k, none is left
            break
        rows, columns, support = left.rows[kept], left.columns[kept], left.support[kept]
        del left, kept  # the next is made where this was
    return result


def _report(
    on_progress: ProgressCallback | None, m: int, total: int, levels: PeelState
) -> Callable[[int], None]:
    def report(dead: int) -> None:
        if on_progress is not None:
            note = f"k = {levels.level + 2}, {m - dead:,} edges, round {levels.rounds:,}"
            on_progress(1 - (m - dead) / total, note)

    return report
