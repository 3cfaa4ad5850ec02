"""The kernels of ``spans.cu`` on arrays: windows of rows at their edges, and marks of edges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.kernels import launch

if TYPE_CHECKING:
    from rapids_tc.kernels.method import Array
    from rapids_tc.kernels.raw_rows import Compile

BINS = 32  # as in spans.cu
_KERNELS = ("write_windows", "write_marks")


def write_windows(compile: Compile, xp: Any, edges: Array, windows: Array, out: Array) -> Array:
    """Write the windows of a row (uint64) at each edge; return whether rows find others there.

    Rows without an edge (-1), and those in no window, are left out. The windows of a row are its
    first, in the upper half, and its last. In `out` all edges are in none: 1 to 0.
    """
    rows = len(edges)
    finds_others = xp.empty(rows, bool)
    args = (edges, windows, np.uint64(rows), out, finds_others)
    launch.per_element(_kernels(compile)["write_windows"], rows, *args)
    return finds_others


def write_marks(
    compile: Compile, xp: Any, first: Array, last: Array, offsets: Array, width: int
) -> Array:
    """Return in which bins of `width` windows each edge is present (uint64), from its intervals."""
    size = len(offsets) - 1
    marks = xp.empty(size, "uint64")
    args = (first, last, offsets, np.uint64(size), np.uint32(width), marks)
    launch.per_element(_kernels(compile)["write_marks"], size, *args)
    return marks


def _kernels(compile: Compile) -> Any:
    return compile(launch.read("spans.cu"), _KERNELS, ())
