# ruff: noqa: D102 - each hook has its docstring in `spans`
"""Whether the three sides of a triangle are of a kind, by their codes, and by when these hold.

The classes stand where `rapids_tc.engines.cpu.visitors.SpanEdgeCounts` takes spans.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rapids_tc.engines.cpu.compiled import inlined
from rapids_tc.engines.cpu.spans import (
    PLAIN,
    Always,
    OneInterval,
    SeveralIntervals,
    begins,
    common,
    next_common,
    open_span,
    pack_spans,
)
from rapids_tc.engines.protocol import Coded

if TYPE_CHECKING:
    from rapids_tc.engines.protocol import Kind
    from rapids_tc.preparation.csr import Array


class Table(NamedTuple):
    """Which codes go together: see `rapids_tc.preparation.code_tables.CodeTable`."""

    bits: Array
    uv_shift: Any
    uw_shift: Any
    uw_mask: Any
    vw_mask: Any


class Codes(NamedTuple):
    """A code of every edge."""

    uv: Array
    uw: Array
    vw: Array
    table: Table

    def open_span(self, uv: Any) -> Any:
        return self.uv[uv]

    def meet(self, edge: Any, uw: Any, vw: Any) -> Any:
        return _allowed(self.table, edge, self.uw[np.uint64(uw)], self.vw[np.uint64(vw)])


class CodedInterval(NamedTuple):
    """One interval of every edge, and its code."""

    spans: OneInterval
    codes: Codes

    def open_span(self, uv: Any) -> Any:
        return open_span(self.spans, uv), self.codes.uv[uv]

    def meet(self, edge: Any, uw: Any, vw: Any) -> Any:
        interval, code = edge
        first, last = common(self.spans, interval, uw, vw)
        of_uw, of_vw = self.codes.uw[np.uint64(uw)], self.codes.vw[np.uint64(vw)]
        return np.int64(first <= last) & _allowed(self.codes.table, code, of_uw, of_vw)


class CodedIntervals(NamedTuple):
    """Intervals of every edge, each with its code."""

    spans: SeveralIntervals
    codes: Codes

    def open_span(self, uv: Any) -> Any:
        return uv

    def meet(self, edge: Any, uw: Any, vw: Any) -> Any:
        spans, codes = self.spans, self.codes
        at, ends = begins(spans, edge, uw, vw), begins(spans, edge + 1, uw + 1, vw + 1)
        hit, step = np.int64(0), PLAIN
        while (at[0] < ends[0]) & (at[1] < ends[1]) & (at[2] < ends[2]) & (hit == 0):
            a, b, c = at
            first, last, at, step = next_common(spans, at, ends, step)
            if first <= last:
                hit = _allowed(codes.table, codes.uv[a], codes.uw[b], codes.vw[c])
        return hit


@inlined
def _allowed(table: Any, uv: Any, uw: Any, vw: Any) -> Any:
    """Return 1 if three codes go together, else 0."""
    place = np.int64(uv) << table.uv_shift
    place |= (np.int64(uw) & table.uw_mask) << table.uw_shift | np.int64(vw) & table.vw_mask
    return np.int64(table.bits[np.uint64(place >> 5)]) >> (place & 31) & 1


def pack_kind(kind: Kind | None) -> Any:
    """Return which triangles of a graph count, as `meet` takes it; without a kind all do."""
    return pack_sides(kind, kind, kind)


def pack_sides(uv: Any, uw: Any, vw: Any) -> Any:
    """Return which triangles count, as `meet` takes it, from the kind of each of three sides."""
    if uv is None:
        return Always()
    return (pack_coded if isinstance(uv, Coded) else pack_spans)(uv, uw, vw)


def pack_coded(uv: Coded, uw: Coded, vw: Coded) -> Codes | CodedInterval | CodedIntervals:
    """Return what is coded of three sides as `SpanEdgeCounts` takes it."""
    table = uv.table
    shifts = table.uv_shift, table.uw_shift, table.uw_mask, table.vw_mask
    codes = Codes(uv.codes, uw.codes, vw.codes, Table(table.bits, *map(np.int64, shifts)))
    if uv.spans is None or uw.spans is None or vw.spans is None:
        return codes
    spans = pack_spans(uv.spans, uw.spans, vw.spans)
    if isinstance(spans, OneInterval):
        return CodedInterval(spans, codes)
    return CodedIntervals(spans, codes)
