# ruff: noqa: D102 - each hook has its docstring where it is declared
"""The windows in which edges are present, and the windows that the sides of a triangle share.

Comparisons are arithmetic: the branches that LLVM makes of them cannot be predicted, and made
`WindowChanges` take twice as long.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rapids_tc.engines.cpu.compiled import compiled, dispatched, inlined
from rapids_tc.engines.protocol import SHORT

if TYPE_CHECKING:
    from rapids_tc.engines.protocol import Spans
    from rapids_tc.preparation.csr import Array

PLAIN = np.int64(-3)  # the first step; those up to 0, four in all, pass over one interval each


@dispatched
def meet(spans: Any, edge: Any, uw: Any, vw: Any) -> Any:
    """Return 1 if there is a window in which all sides of a triangle are present, else 0."""
    return 1


@dispatched
def open_span(spans: Any, uv: Any) -> Any:
    """Return what `meet` needs of the edge (u, v)."""
    return None


class Always(NamedTuple):
    """Spans of edges that are present in every window."""


class OneInterval(NamedTuple):
    """One interval of every edge: first << bits | last."""

    uv: Array
    uw: Array
    vw: Array
    bits: Any

    def open_span(self, uv: Any) -> Any:
        return _ends(self.uv[uv], self.bits)

    def meet(self, edge: Any, uw: Any, vw: Any) -> Any:
        first, last = common(self, edge, uw, vw)
        return np.int64(first <= last)


class SeveralIntervals(NamedTuple):
    """Intervals of every edge: `protocol.Spans` of the three sides."""

    uv: Intervals
    uw: Intervals
    vw: Intervals

    def open_span(self, uv: Any) -> Any:
        return uv

    def meet(self, edge: Any, uw: Any, vw: Any) -> Any:
        at, ends = begins(self, edge, uw, vw), begins(self, edge + 1, uw + 1, vw + 1)
        hit, step = np.int64(0), PLAIN
        while (at[0] < ends[0]) & (at[1] < ends[1]) & (at[2] < ends[2]) & (hit == 0):
            first, last, at, step = next_common(self, at, ends, step)
            hit = np.int64(first <= last)
        return hit


class Intervals(NamedTuple):
    """The intervals of the edges of a graph or block: see `protocol.Spans`."""

    first: Array
    last: Array
    offsets: Array


@inlined
def larger(a: Any, b: Any) -> Any:
    """Return the larger of two integers (int64) by arithmetic."""
    difference = a - b
    return a - (difference & (difference >> 63))


@inlined
def smaller(a: Any, b: Any) -> Any:
    """Return the smaller of two integers (int64) by arithmetic."""
    difference = a - b
    return b + (difference & (difference >> 63))


@inlined
def _ends(word: Any, bits: Any) -> Any:
    word = np.uint64(word)
    return np.int64(word >> bits), np.int64(word & ((np.uint64(1) << bits) - np.uint64(1)))


@inlined
def common(spans: Any, edge: Any, uw: Any, vw: Any) -> Any:
    """Return the first and the last window that three intervals have in common."""
    first_uw, last_uw = _ends(spans.uw[np.uint64(uw)], spans.bits)
    first_vw, last_vw = _ends(spans.vw[np.uint64(vw)], spans.bits)
    first = larger(larger(first_uw, first_vw), edge[0])
    return first, smaller(smaller(last_uw, last_vw), edge[1])


@inlined
def arcs_of(choice: Any, edges: Any, uv: Any, uw: Any, vw: Any) -> Any:
    """Return the places of three arcs, from those of their edges: see `Quantity.choices`."""
    a = np.int64(uv) + (choice & 1) * edges[0]
    b = np.int64(uw) + (choice >> 1 & 1) * edges[1]
    return a, b, np.int64(vw) + (choice >> 2) * edges[2]


@inlined
def begins(spans: Any, uv: Any, uw: Any, vw: Any) -> Any:
    """Return where the intervals of three edges begin."""
    return spans.uv.offsets[uv], spans.uw.offsets[uw], spans.vw.offsets[vw]


@inlined
def next_common(spans: Any, at: Any, ends: Any, step: Any) -> Any:
    """Return the windows that three intervals have in common, where to go on, and the next step.

    An interval that ends first, or before the latest of the three begins, has nothing in common
    with later ones of the other edges. At first, one such interval of each edge is passed over at a
    time. Then steps double while they pass over such intervals alone, so that a long list costs its
    logarithm.
    """
    (a, b, c), (a_end, b_end, c_end) = at, ends
    of_uv, of_uw = np.int64(spans.uv.last[a]), np.int64(spans.uw.last[b])
    of_vw = np.int64(spans.vw.last[c])
    first = larger(np.int64(spans.uv.first[a]), np.int64(spans.uw.first[b]))
    first = larger(first, np.int64(spans.vw.first[c]))
    last = smaller(smaller(of_uv, of_uw), of_vw)
    past = larger(first, last + 1)
    if step > 0:
        x = smaller(a + step, a_end - 1)
        y = smaller(b + step, b_end - 1)
        z = smaller(c + step, c_end - 1)
        far_x = np.int64(np.int64(spans.uv.last[x]) < past)
        far_y = np.int64(np.int64(spans.uw.last[y]) < past)
        far_z = np.int64(np.int64(spans.vw.last[z]) < past)
        a, b, c = a + far_x * (x - a), b + far_y * (y - b), c + far_z * (z - c)
        far = far_x | far_y | far_z
        step = (step << far) >> (1 - far) | 1
    else:
        step += 1
    return first, last, (a + (of_uv < past), b + (of_uw < past), c + (of_vw < past)), step


def pack_spans(
    uv: Spans, uw: Spans, vw: Spans, windows: int | None = None
) -> OneInterval | SeveralIntervals:
    """Return the spans of three sides as `EdgeCounts` and `WindowChanges` take them.

    Without several intervals, those of an edge are cut to `windows`, if given.
    """
    spans = {id(one): one for one in (uv, uw, vw)}  # on a whole graph, the three are one
    several = any(one.offsets is not None for one in spans.values())
    most, bits = (1 << 32, 32) if windows is None else (windows, 16 if windows < SHORT else 32)

    def of_graph(one: Spans) -> Any:
        size = len(one.first)
        if several:
            offsets = np.arange(size + 1) if one.offsets is None else one.offsets
            return Intervals(one.first, one.last, offsets)
        packed = np.empty(size, np.uint32 if bits == 16 else np.uint64)
        _pack(one.first, one.last, most, np.uint64(bits), packed)
        return packed

    by_graph = {at: of_graph(one) for at, one in spans.items()}
    of_uv, of_uw, of_vw = (by_graph[id(one)] for one in (uv, uw, vw))
    if several:
        return SeveralIntervals(of_uv, of_uw, of_vw)
    return OneInterval(of_uv, of_uw, of_vw, np.uint64(bits))


@compiled
def _pack(first: Array, last: Array, windows: int, bits: Any, packed: Array) -> None:
    """Write first << bits | last; an interval past the last window begins behind it."""
    for edge in range(len(first)):
        begin, end = min(int(first[edge]), windows), min(int(last[edge]), windows - 1)
        packed[edge] = np.uint64(begin) << bits | np.uint64(end)
