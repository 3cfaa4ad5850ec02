"""The windows of rows → the intervals of windows in which each edge is present.

The windows of a row are its first and its last, in the halves of a word: see
`rapids_tc.preparation.spans`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.errors import CapacityError
from rapids_tc.frames.backend import sum64
from rapids_tc.kernels import time_spans
from rapids_tc.preparation.csr import pack_keys
from rapids_tc.preparation.times import LOW_BITS

if TYPE_CHECKING:
    from rapids_tc._typing import Array
    from rapids_tc.frames.backend import Backend

ABSENT = np.uint64(1 << 32)  # the first window and the last, in halves, of what is in none
MOST_EDGES = 2**32  # while intervals are merged, a key is an edge and a window, 32 bits each
Intervals = tuple[Any, Any, Any]  # first and last window of each interval; offsets by edge or None


def merged(edges: Array, windows: Array, size: int, backend: Backend) -> Intervals:
    """Merge the windows of all rows of each edge into disjoint ascending intervals.

    Most edges have one row. Each row writes its windows at its edge, and what is not found there
    afterwards is of an edge that has more: the rows of such edges alone are sorted.

    Parameters
    ----------
    edges : array of int64
        The edge of each row, below `size`; -1 for a self loop.
    windows : array of uint64
        The first window of each row, in the upper half, and the last. A row whose first is larger
        is in none.

    Returns
    -------
    first, last : array of uint32
        All intervals, by edge, of which each has one at least: an empty one (first > last) if it
        is in no window.
    offsets : array of int64, shape (size + 1,), or None
        Where the intervals of each edge begin; None if no edge has two.
    """
    _require_keys(size)
    xp = backend.xp
    of_edges = xp.full(size, ABSENT, "uint64")
    edges, windows = _write(edges, windows, of_edges, backend)
    if not len(edges):
        return (*_halves(of_edges), None)
    windows = xp.concatenate([windows, of_edges[edges]])
    edges, windows = _united(xp.concatenate([edges, edges]), windows, xp)
    [windows], offsets = _beside_others([of_edges], [windows], edges, xp)
    return (*_halves(windows), offsets)


def coded(
    edges: Array, windows: Array, codes: Array, size: int, backend: Backend
) -> tuple[Intervals, Array]:
    """Cut the windows of all rows of each edge where the codes of the rows in them change.

    As in `merged`, the rows of edges that have several are sorted, and no others.

    Parameters
    ----------
    edges, windows
        See `merged`.
    codes : array of uint8
        The code of each row; a row of code 0 is in no window.

    Returns
    -------
    intervals
        See `merged`; an interval may begin where another of the edge ends.
    codes : array of uint8
        For each interval, the bits of the codes of all rows that are present in it.
    """
    _require_keys(size)
    xp = backend.xp
    first, last = _halves(windows)
    present = (first <= last) & (codes > 0)
    if sum64(present) < len(present):
        edges, windows, codes = edges[present], windows[present], codes[present]
    del first, last, present
    of_edges, codes_of = xp.full(size, ABSENT, "uint64"), xp.zeros(size, "uint8")
    of_edges[edges], codes_of[edges] = windows, codes
    several = xp.zeros(size, bool)
    several[edges[(of_edges[edges] != windows) | (codes_of[edges] != codes)]] = True
    rows = xp.flatnonzero(several[edges])
    del several
    if not len(rows):
        return (*_halves(of_edges), None), codes_of
    edges, windows, codes = _cut(edges[rows], windows[rows], codes[rows], xp)
    arrays, offsets = _beside_others([of_edges, codes_of], [windows, codes], edges, xp)
    return (*_halves(arrays[0]), offsets), arrays[1]


def _cut(edges: Array, windows: Array, codes: Array, xp: Any) -> tuple[Array, Array, Array]:
    """Return the intervals of `coded` of some edges, by edge and ascending, and their codes."""
    by_bit, bounds = {}, []
    for bit in range(8):
        rows = xp.flatnonzero(codes >> bit & 1)
        if len(rows):
            of_bit, present = _united(edges[rows], windows[rows], xp)
            first, last = _halves(present)
            starts, behind = pack_keys(of_bit, first, xp), pack_keys(of_bit, last, xp) + 1
            by_bit[bit] = starts, behind
            bounds += [starts, behind]
    cuts = xp.concatenate(bounds)
    del bounds
    cuts.sort()
    cuts = cuts[_are_first(cuts, xp)]
    found = xp.zeros(len(cuts), "uint8")
    for bit, (starts, behind) in by_bit.items():
        begun = xp.searchsorted(starts, cuts, side="right")
        ended = xp.searchsorted(behind, cuts, side="right")
        found |= (begun > ended).astype("uint8") << bit
    place = xp.flatnonzero(found)  # behind the last window of an edge no row is present
    starts, ends = cuts[place], cuts[place + 1] - 1
    return (starts >> 32).astype("int64"), starts << 32 | ends & LOW_BITS, found[place]


def _are_first(sorted_values: Array, xp: Any) -> Array:
    """Return whether each of some sorted values is the first of its kind."""
    first = xp.ones(len(sorted_values), bool)
    first[1:] = sorted_values[1:] != sorted_values[:-1]
    return first


def _require_keys(size: int) -> None:
    """Raise CapacityError if there are more edges than keys of an edge and a window tell apart."""
    if size > MOST_EDGES:
        raise CapacityError(f"{size:,} edges; times are kept of at most {MOST_EDGES:,}")


def _write(edges: Array, windows: Array, of_edges: Array, backend: Backend) -> tuple[Array, Array]:
    """Write the windows of a row at each edge; return edges and windows of rows that find others.

    A GPU does it in one pass.
    """
    xp = backend.xp
    if backend.engine != "cpu":
        others = time_spans.write_windows(backend.compile, xp, edges, windows, of_edges)
    else:
        first, last = _halves(windows)
        present = (first <= last) & (edges >= 0)
        if sum64(present) < len(present):
            edges, windows = edges[present], windows[present]
        of_edges[edges] = windows
        others = of_edges[edges] != windows
    rows = xp.flatnonzero(others)
    return edges[rows], windows[rows]


def _halves(windows: Array) -> tuple[Array, Array]:
    """Return the first windows and the last: in memory, the lower half of a word comes first."""
    words = windows.view("uint32")
    return words[1::2].copy(), words[::2].copy()


def _united(edges: Array, windows: Array, xp: Any) -> tuple[Array, Array]:
    """Return disjoint intervals of the same windows, by edge and ascending, and their edges."""
    first, last = _halves(windows)
    starts, ends = pack_keys(edges, first, xp), pack_keys(edges, last, xp)
    del edges, first, last, windows
    starts.sort()
    ends.sort()
    ends += 1
    # A gap follows the i-th start if the next start is later than the i-th end, of any row.
    begins = xp.ones(len(starts), bool)
    begins[1:] = starts[1:] > ends[:-1]  # of another edge, too: ends are below 2**32
    lasts = xp.ones(len(ends), bool)
    lasts[:-1] = begins[1:]  # an interval ends where the next one begins
    starts, ends = starts[begins], ends[lasts] - 1
    return (starts >> 32).astype("int64"), starts << 32 | ends & LOW_BITS


def _beside_others(
    of_edges: list[Array], of_some: list[Array], edges: Array, xp: Any
) -> tuple[list[Array], Array | None]:
    """Put arrays of the intervals of some edges beside those of the others, which have one each.

    Also return where the intervals of each edge begin; None if each has one. `edges` is the edge of
    each interval of some, ascending.
    """
    begins = _are_first(edges, xp)
    if sum64(begins) == len(begins):
        for whole, some in zip(of_edges, of_some, strict=True):
            whole[edges] = some
        return of_edges, None
    offsets, places = _places(len(of_edges[0]), edges, begins, xp)
    both = zip(of_edges, of_some, strict=True)
    return [_laid(whole, some, offsets, places, xp) for whole, some in both], offsets


def _places(size: int, edges: Array, begins: Array, xp: Any) -> tuple[Array, Array]:
    """Return where the intervals of each edge begin, and the places of those of some edges.

    Parameters
    ----------
    size : int
        How many edges there are. The others have one interval each.
    edges : array
        The edge of each interval, ascending.
    begins : array of bool
        Whether each of them is the first of its edge.
    """
    own_begin = xp.flatnonzero(begins)
    sizes = xp.full(len(own_begin), len(edges), "int64")
    sizes[:-1] = own_begin[1:]
    sizes -= own_begin
    offsets = xp.ones(size + 1, "int64")
    offsets[0] = 0
    offsets[edges[own_begin] + 1] = sizes
    offsets = xp.cumsum(offsets)
    owner = xp.cumsum(begins, dtype="int64") - 1
    return offsets, offsets[edges] + xp.arange(len(edges)) - own_begin[owner]


def _laid(of_edges: Array, of_some: Array, offsets: Array, places: Array, xp: Any) -> Array:
    """Return what is known of all intervals: one of each edge, and at their `places` of some."""
    laid = xp.empty(int(offsets[-1]), of_edges.dtype)
    laid[offsets[:-1]] = of_edges
    laid[places] = of_some
    return laid
