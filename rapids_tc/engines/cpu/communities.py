# ruff: noqa: D102 - each hook has its docstring where it is declared
"""Sets of edges that triangles, or common ends, join level by level, in Numba.

`rapids_tc.engines.protocol.Engine.join_triangles` says what the words of a forest are. Threads join
at once, in any order: each step takes one edge of the forest away and adds another such that, with
the joins that are not done yet, the sets of all levels stay the same. So they are what they would
be if one thread did all joins. The forest is the merge tree of computational topology: see Smirnov
and Morozov, "Triplet merge trees" (2020), for other lock-free ways.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rapids_tc._parallel import parallel_for, threads_for
from rapids_tc.engines.cpu.compiled import compiled, inlined
from rapids_tc.engines.cpu.parallel import load, swap_if
from rapids_tc.engines.cpu.spans import meet, open_span
from rapids_tc.preparation.community_tree import LEVEL_AT, OF_ENDS

if TYPE_CHECKING:
    from rapids_tc.preparation.csr import Array, Csr

_TASKS = 64  # per thread
_SHIFT, _NODE = np.uint64(LEVEL_AT), np.uint64((1 << LEVEL_AT) - 1)


class JoinTriangles(NamedTuple):
    """Join the three sides of every triangle of a kind, at the level of its lowest side."""

    kind: Any
    levels: Array
    parents: Array
    hints: Array

    def open_edge(self, uv: Any) -> Any:
        return uv, open_span(self.kind, uv)

    def triangle(self, edge: Any, scratch: Any, uw: Any, vw: Any, index: Any) -> Any:
        (a, span), b, c = edge, np.int64(uw), np.int64(vw)
        la, lb, lc = self.levels[a], self.levels[b], self.levels[c]
        if (lb <= la) & (lb <= lc):
            a, la, b, lb = b, lb, a, la
        elif lc < la:
            a, la, c, lc = c, lc, a, la
        if la and meet(self.kind, span, uw, vw):
            join(self.parents, self.hints, np.uint64(b), np.uint64(lb), np.uint64(a), np.uint64(la))
            join(self.parents, self.hints, np.uint64(c), np.uint64(lc), np.uint64(a), np.uint64(la))
        return 0


@compiled
def join(parents: Array, hints: Array, x: Any, x_level: Any, y: Any, y_level: Any) -> None:
    """Join two nodes at the lower of their levels, and at all levels below.

    Parameters
    ----------
    parents, hints : array of uint64
        The words of the forest, and of `_climb`.
    x, y : uint64
        Nodes.
    x_level, y_level : uint64
        Their levels, x_level >= y_level > 0.
    """
    while True:
        x, x_level, x_word = _climb(parents, hints, x, x_level, y_level)
        y, y_level, y_word = _climb(parents, hints, y, y_level, y_level)
        if x == y:
            return
        if (x_level == y_level) & (x < y):
            x, y, x_word = y, x, y_word
        if swap_if(parents, np.int64(x), x_word, y_level << _SHIFT | y) == x_word:
            if x_word == np.uint64(0):
                return
            x, x_level = y, y_level  # is still to be joined to the old parent
            y, y_level = x_word & _NODE, x_word >> _SHIFT


@inlined
def _climb(parents: Any, hints: Any, x: Any, level: Any, least: Any) -> Any:
    """Return the last node above x whose level is not below `least`, its level, and its word.

    The hint of a node is a word of any node that is in one set with it at this node's level, which
    stays true: a chain of levels is passed over in leaps, as it would be by path compression.
    """
    while True:
        word = load(hints, np.int64(x))
        if word >> _SHIFT < least:
            word = load(parents, np.int64(x))
            if word >> _SHIFT < least:
                return x, level, word
        above, level = word & _NODE, word >> _SHIFT
        further = load(hints, np.int64(above))
        if further >> _SHIFT < least:
            further = load(parents, np.int64(above))
        hints[np.int64(x)] = further if further >> _SHIFT >= least else word
        x = above


def join_ends(csr: Csr, levels: Array) -> Array:
    """Join edges with a common end, level by level; return the word of every edge: uint64, m."""
    parents, hints = (np.zeros(csr.m + csr.n, np.uint64) for _ in range(2))
    threads = threads_for(csr.m)
    cuts = np.linspace(0, csr.m, (_TASKS * threads if threads > 1 else 1) + 1).astype(np.int64)
    rows = np.searchsorted(csr.offsets, cuts)
    rows[-1] = csr.n

    def task(number: int, thread: int) -> None:
        part = rows[number], rows[number + 1]
        _join_ends(csr.offsets, csr.columns, levels, *part, parents, hints)

    parallel_for(task, len(rows) - 1, threads)
    return parents[: csr.m]


@compiled
def _join_ends(
    offsets: Array, columns: Array, levels: Array, first: int, last: int, parents: Array,
    hints: Array,
) -> None:  # fmt: skip
    """Join the edges of rows `first` to `last` - 1 to their ends: these are the nodes m + rank."""
    m, highest = np.uint64(len(columns)), np.uint64(OF_ENDS)
    for row in range(first, last):
        for edge in range(offsets[row], offsets[row + 1]):
            level = np.uint64(levels[edge])
            if level:
                join(parents, hints, m + np.uint64(row), highest, np.uint64(edge), level)
                join(parents, hints, m + np.uint64(columns[edge]), highest, np.uint64(edge), level)
