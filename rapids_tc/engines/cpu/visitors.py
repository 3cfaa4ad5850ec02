# ruff: noqa: D102 - each hook has its docstring where it is declared
"""Visitors: what is done with each triangle that `counting.visit` finds.

A visitor is a named tuple whose methods are the hooks below. The walk is compiled for each class
of visitor, its hooks within the loops, so that one walk serves all of them at the speed of loops
written for each. Edges are named by their positions: uv in the block or graph of the in-edges, uw
where rows are walked, vw where rows are marked.

The fields of the visitor of a `Quantity` are what it takes of uv, uw and vw, and where its sums go:
of the edges uv, uw and vw, or of the vertices u, v and w. The visitor of a total has the size of
the quantity instead, its counters, and whether other threads add to these, too.

The intervals of edges, and what three have in common, are in `spans`; their codes, in `coded`.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from rapids_tc.engines.cpu.coded import pack_coded, pack_sides
from rapids_tc.engines.cpu.compiled import dispatched, inlined
from rapids_tc.engines.cpu.parallel import atomic_add
from rapids_tc.engines.cpu.spans import (
    PLAIN,
    OneInterval,
    SeveralIntervals,
    arcs_of,
    begins,
    common,
    larger,
    meet,
    next_common,
    open_span,
    pack_spans,
    smaller,
)
from rapids_tc.engines.quantity import ADDED, LARGEST, LEAST, MULTIPLIED, REDUNDANT, THROUGH

if TYPE_CHECKING:
    from collections.abc import Callable

    from rapids_tc.engines.cpu.layout import CpuLayout
    from rapids_tc.engines.quantity import Quantity
    from rapids_tc.preparation.csr import Array

SHARED_FROM = 1 << 20  # counters of all threads, past which threads share one array
_HALF, _LOW_HALF = np.uint64(32), np.uint64(2**32 - 1)  # of the levels of an edge


@dispatched
def zero(visitor: Any) -> Any:
    """Return a zero of the type that `triangle` returns."""
    return 0


@dispatched
def open_middle(visitor: Any, length: Any) -> Any:
    """Return scratch memory for the triangles of a pivot vertex, whose row has this length."""
    return None


@dispatched
def open_edge(visitor: Any, uv: Any) -> Any:
    """Return what `triangle` needs of the edge (u, v)."""
    return None


@dispatched
def triangle(visitor: Any, edge: Any, scratch: Any, uw: Any, vw: Any, index: Any) -> Any:
    """Take a triangle; return what is summed for (u, v) and for v. w is at `index` in N+(v)."""
    return 0


@dispatched
def close_edge(visitor: Any, uv: Any, u: Any, amount: Any) -> None:
    """Take what `triangle` returned for (u, v), summed up."""


@dispatched
def close_middle(visitor: Any, scratch: Any, v: Any, begin: Any, row: Any, amount: Any) -> None:
    """Take what `triangle` returned for v, summed up; N+(v) is `row`, at `begin` in columns."""


class SpanEdgeCounts(NamedTuple):
    """The triangles of every edge that share a window, or are of a kind; all if spans are `Always`.

    Other threads may count (u, w) and (v, w), too.
    """

    spans: Any
    of_uv: Array
    of_uw: Array
    of_vw: Array

    def open_middle(self, length: Any) -> Any:
        return np.zeros(length, np.uint32)

    def open_edge(self, uv: Any) -> Any:
        return open_span(self.spans, uv)

    def triangle(self, edge: Any, scratch: Any, uw: Any, vw: Any, index: Any) -> Any:
        hit = meet(self.spans, edge, uw, vw)  # no branch: a wrong guess costs more than adding 0
        scratch[index] += np.uint32(hit)
        atomic_add(self.of_uw, uw, hit)
        return hit

    def close_edge(self, uv: Any, u: Any, amount: Any) -> None:
        if amount:
            atomic_add(self.of_uv, uv, amount)

    def close_middle(self, scratch: Any, v: Any, begin: Any, row: Any, amount: Any) -> None:
        for index in range(len(scratch)):
            if scratch[index]:
                atomic_add(self.of_vw, begin + index, scratch[index])


class ArcCounts(NamedTuple):
    """The directed triangles of every arc that share a window, or are of a kind."""

    spans: Any
    choices: Any
    of_uv: Array
    of_uw: Array
    of_vw: Array

    def open_edge(self, uv: Any) -> Any:
        return uv

    def triangle(self, edge: Any, scratch: Any, uw: Any, vw: Any, index: Any) -> Any:
        edges = len(self.of_uv) // 2, len(self.of_uw) // 2, len(self.of_vw) // 2
        for choice in range(8):
            if self.choices >> choice & 1:
                a, b, c = arcs_of(choice, edges, edge, uw, vw)
                if meet(self.spans, open_span(self.spans, a), b, c):
                    atomic_add(self.of_uv, a, 1)
                    atomic_add(self.of_uw, b, 1)
                    atomic_add(self.of_vw, c, 1)
        return 0


class ThirdSums(NamedTuple):
    """The sums of the values of third vertices for every edge, on blocks.

    `larger` and `smaller` are the values of the ends of the edges of uv, `of_w` by edge of uw.
    """

    larger: Array
    smaller: Array
    of_w: Array
    of_uv: Array
    of_uw: Array
    of_vw: Array

    def open_middle(self, length: Any) -> Any:
        return np.zeros(length, np.int64)

    def open_edge(self, uv: Any) -> Any:
        return self.larger[uv], self.smaller[uv]

    def triangle(self, edge: Any, scratch: Any, uw: Any, vw: Any, index: Any) -> Any:
        of_u, of_v = edge
        scratch[index] += of_u
        atomic_add(self.of_uw, uw, of_v)
        return self.of_w[uw]

    def close_edge(self, uv: Any, u: Any, amount: Any) -> None:
        if amount:
            atomic_add(self.of_uv, uv, amount)

    def close_middle(self, scratch: Any, v: Any, begin: Any, row: Any, amount: Any) -> None:
        for index in range(len(scratch)):
            if scratch[index]:
                atomic_add(self.of_vw, begin + index, scratch[index])


class PairSums(NamedTuple):
    """The sums, over the triangles of every edge, of what the two other sides make.

    Of uv, uw and vw each there are values, scales, and values of the larger and smaller ends.
    """

    uv: Any
    uw: Any
    vw: Any
    rule: Any
    of_uv: Array
    of_uw: Array
    of_vw: Array

    def open_middle(self, length: Any) -> Any:
        return np.zeros(length, np.int64)

    def open_edge(self, uv: Any) -> Any:
        return uv

    def triangle(self, edge: Any, scratch: Any, uw: Any, vw: Any, index: Any) -> Any:
        a, b, c = self.uv[0][edge], self.uw[0][uw], self.vw[0][vw]
        of_u, of_v, of_w = self.uv[2][edge], self.uv[3][edge], self.uw[3][uw]
        rule, at_uv, at_uw, at_vw = self.rule, self.uv[1][edge], self.uw[1][uw], self.vw[1][vw]
        if rule == REDUNDANT:
            _add_second(self.of_uv, edge, c, b * of_w * at_uv)
            _add_second(self.of_uw, uw, c, a * of_v * at_uw)
            _add_second(self.of_vw, vw, b, a * of_u * at_vw)
        scratch[index] += _pair(rule, a, b, of_u, at_vw)
        atomic_add(self.of_uw, uw, _pair(rule, a, c, of_v, at_uw))
        return _pair(rule, b, c, of_w, at_uv)

    def close_edge(self, uv: Any, u: Any, amount: Any) -> None:
        if amount:
            atomic_add(self.of_uv, uv, amount)

    def close_middle(self, scratch: Any, v: Any, begin: Any, row: Any, amount: Any) -> None:
        for index in range(len(scratch)):
            if scratch[index]:
                atomic_add(self.of_vw, begin + index, scratch[index])


class SideSums(NamedTuple):
    """For every triangle, the sum of the values of its sides: at uv, and at vw in a second row."""

    uv: Array
    uw: Array
    vw: Array
    of_uv: Array
    of_uw: Array
    of_vw: Array

    def open_middle(self, length: Any) -> Any:
        return np.zeros(length, np.int64)

    def open_edge(self, uv: Any) -> Any:
        return np.int64(self.uv[uv])

    def triangle(self, edge: Any, scratch: Any, uw: Any, vw: Any, index: Any) -> Any:
        amount = edge + np.int64(self.uw[uw]) + np.int64(self.vw[vw])
        scratch[index] += amount
        return amount

    def close_edge(self, uv: Any, u: Any, amount: Any) -> None:
        if amount:
            atomic_add(self.of_uv, uv, amount)

    def close_middle(self, scratch: Any, v: Any, begin: Any, row: Any, amount: Any) -> None:
        second = len(self.of_vw) // 2 + begin
        for index in range(len(scratch)):
            if scratch[index]:
                atomic_add(self.of_vw, second + index, scratch[index])


class LevelCounts(NamedTuple):
    """The triangles of every edge whose other sides reach its upper level, or just its probe.

    Triangles of a kind count alone.
    """

    kind: Any
    levels_uv: Array
    levels_uw: Array
    levels_vw: Array
    of_uv: Array
    of_uw: Array
    of_vw: Array

    def open_edge(self, uv: Any) -> Any:
        return uv, open_span(self.kind, uv)

    def triangle(self, edge: Any, scratch: Any, uw: Any, vw: Any, index: Any) -> Any:
        uv, span = edge
        if not meet(self.kind, span, uw, vw):
            return 0
        x, y, z = self.levels_uv[uv], self.levels_uw[uw], self.levels_vw[vw]
        a, b, c = np.int64(x >> _HALF), np.int64(y >> _HALF), np.int64(z >> _HALF)
        _reach(self.of_uv, uv, x, smaller(b, c))
        _reach(self.of_uw, uw, y, smaller(a, c))
        _reach(self.of_vw, vw, z, smaller(a, b))
        return 0


class VertexSums(NamedTuple):
    """The sums, over the triangles of each vertex, of the products of the values of their sides."""

    uv: Array
    uw: Array
    vw: Array
    of_u: Array
    of_v: Array
    of_w: Array

    def zero(self) -> Any:
        return 0.0

    def open_middle(self, length: Any) -> Any:
        return np.zeros(length)

    def open_edge(self, uv: Any) -> Any:
        return self.uv[uv]

    def triangle(self, edge: Any, scratch: Any, uw: Any, vw: Any, index: Any) -> Any:
        product = edge * self.uw[uw] * self.vw[vw]
        scratch[index] += product
        return product

    def close_edge(self, uv: Any, u: Any, amount: Any) -> None:
        if amount:
            atomic_add(self.of_u, u, amount)

    def close_middle(self, scratch: Any, v: Any, begin: Any, row: Any, amount: Any) -> None:
        if amount:
            atomic_add(self.of_v, v, amount)
        for index in range(len(row)):
            if scratch[index]:
                atomic_add(self.of_w, row[index], scratch[index])


class TypeCounts(NamedTuple):
    """The triangles by the types of their sides."""

    uv: Array
    uw: Array
    vw: Array
    types: Any
    counts: Array
    shared: bool

    def open_edge(self, uv: Any) -> Any:
        return np.uint64(self.uv[uv]) * np.uint64(self.types)

    def triangle(self, edge: Any, scratch: Any, uw: Any, vw: Any, index: Any) -> Any:
        of_uw, of_vw = np.uint64(self.uw[np.uint64(uw)]), np.uint64(self.vw[np.uint64(vw)])
        _add(self.counts, (edge + of_uw) * np.uint64(self.types) + of_vw, 1, self.shared)
        return 0


class WindowChanges(NamedTuple):
    """The windows where triangles begin, and those where triangles have ended.

    Each has counters of its own, one behind the other: a processor that adds to one counter twice
    in a row waits. An edge has one interval. A triangle that is present nowhere ends where it
    begins.
    """

    spans: OneInterval
    windows: Any
    counts: Array
    shared: bool

    def open_edge(self, uv: Any) -> Any:
        return open_span(self.spans, uv)

    def triangle(self, edge: Any, scratch: Any, uw: Any, vw: Any, index: Any) -> Any:
        first, last = common(self.spans, edge, uw, vw)
        _add(self.counts, np.uint64(first), 1, self.shared)
        _add(self.counts, np.uint64(self.windows + 1 + larger(last + 1, first)), 1, self.shared)
        return 0


class RepeatedChanges(NamedTuple):
    """`WindowChanges` for edges with several intervals each."""

    spans: SeveralIntervals
    windows: Any
    counts: Array
    shared: bool

    def open_edge(self, uv: Any) -> Any:
        return uv

    def triangle(self, edge: Any, scratch: Any, uw: Any, vw: Any, index: Any) -> Any:
        at = begins(self.spans, edge, uw, vw)
        ends = begins(self.spans, edge + 1, uw + 1, vw + 1)
        windows, step = self.windows, PLAIN
        while (at[0] < ends[0]) & (at[1] < ends[1]) & (at[2] < ends[2]):
            first, last, at, step = next_common(self.spans, at, ends, step)
            first, after = smaller(first, windows), smaller(last + 1, windows)
            _add(self.counts, np.uint64(first), 1, self.shared)
            _add(self.counts, np.uint64(windows + 1 + larger(after, first)), 1, self.shared)
        return 0


class Counters:
    """Counters of each thread; or of all threads together, if they are many.

    Parameters
    ----------
    counts : array of int64
        Where triangles are added: the counters of the first thread.
    threads : int

    Attributes
    ----------
    arrays : list of array of int64
        The counters of every thread.
    shared : bool
        Whether threads have the same counters, and so add to them by atomics.
    """

    def __init__(self, counts: Array, threads: int) -> None:
        self.shared = threads > 1 and threads * len(counts) > SHARED_FROM
        others = 0 if self.shared else threads - 1
        self._distinct = [counts, *(np.zeros_like(counts) for _ in range(others))]
        self.arrays = self._distinct * (threads // len(self._distinct))

    def add_up(self) -> Array:
        """Add the counters of the other threads to those of the first, and return these."""
        total, *others = self._distinct
        for other in others:
            total += other
        return total


def visit(
    quantity: Quantity, layout: CpuLayout, values: Any, threads: int,
    walk: Callable[[list[Any]], None],
) -> Any:  # fmt: skip
    """Have the visitor of a quantity see all triangles; see `protocol.Engine.visit`.

    `walk` calls the visitor of each thread, or the only one, for the triangles of a layout.
    """
    visitor, taken = globals()[quantity.visitor], (values,) * 3 if layout.whole else values
    if quantity.takes == "spans":
        windows = quantity.size if quantity.per == "total" else None
        of_uv, of_uw, of_vw = taken
        spans = pack_spans(of_uv, of_uw, of_vw, windows)
        several = isinstance(spans, SeveralIntervals) and quantity.per == "total"
        visitor, taken = RepeatedChanges if several else visitor, (spans,)
    elif quantity.takes == "codes":
        taken = (pack_coded(*taken),)
    elif quantity.takes == "levels":
        levels, kinds = zip(*taken, strict=True)
        taken = pack_sides(*kinds), *levels
    elif quantity.takes == "pairs":
        taken = (*taken, cast("Any", quantity).rule)
    elif quantity.takes == "corners":
        (of_u, of_v, of_w), uv, uw = taken, layout.edges, layout.walked
        taken = of_u[uv.rows], of_v[uv.columns], of_w[uw.columns]
    if quantity.by_arc:
        taken = *taken, quantity.choices
    if quantity.per == "total":
        arrays = 2 if quantity.takes == "spans" else 1  # triangles that begin, and that end
        counters = Counters(np.zeros(arrays * prod(quantity.shape), quantity.dtype), threads)
        walk([visitor(*taken, quantity.size, own, counters.shared) for own in counters.arrays])
        begun, *ended = counters.add_up().reshape(arrays, *quantity.shape)
        return begun - ended[0] if ended else begun
    if quantity.per == "vertex":
        return _by_vertex(quantity, layout, lambda sums: walk([visitor(*taken, *sums)]))
    sums = [quantity.start(graph.m, np) for graph in layout.graphs]
    walk([visitor(*taken, *[array.ravel() for array in sums] * (3 // len(sums)))])
    finished = tuple(map(quantity.finished, sums))
    return finished[0] if layout.whole else finished


def _by_vertex(quantity: Quantity, layout: CpuLayout, walk: Callable[[Any], None]) -> Any:
    """Return the sums of all ranks; on blocks those of u, v and w."""
    u = quantity.start(layout.walked.n, np)
    if layout.whole:
        walk((u, u, u))
        return u
    v, w = quantity.start(layout.csr.n, np), quantity.start(layout.walked.n, np)
    walk((u, v, w))
    to_row = layout.walked.n - layout.edges.n  # from a row of uv to the row of u in uw
    by_row = quantity.start(layout.edges.n, np)
    by_row[max(-to_row, 0) :] = u[max(to_row, 0) :]
    return by_row, v[layout.shift :], w


@inlined
def _add(counts: Any, index: Any, amount: Any, shared: Any) -> None:
    if shared:
        atomic_add(counts, index, amount)
    else:
        counts[index] += amount


@inlined
def _pair(rule: Any, a: Any, b: Any, third: Any, scale: Any) -> Any:
    """Return what two sides make, in the scale of the third side."""
    if rule == LEAST:
        made = a if a < b else b
    elif rule == LARGEST:
        made = b if a < b else a
    elif rule == ADDED:
        made = a + b
    elif rule == MULTIPLIED:
        made = a * b
    elif rule == THROUGH:
        made = a * b * third
    else:
        made = b * third if a > 0.0 else 0.0
    return np.int64(made * scale)


@inlined
def _add_second(sums: Any, edge: Any, side: Any, amount: Any) -> None:
    """Add an amount to the second sum of an edge, if a side has a value."""
    if side > 0.0:
        atomic_add(sums, len(sums) // 2 + edge, np.int64(amount))


@inlined
def _reach(counts: Any, edge: Any, levels: Any, others: Any) -> None:
    """Count a triangle of an edge: in the first half of the counters, in the second, or nowhere."""
    if others >= np.int64(levels & _LOW_HALF):
        reaches = others >= np.int64(levels >> _HALF)
        atomic_add(counts, edge if reaches else edge + len(counts) // 2, 1)
