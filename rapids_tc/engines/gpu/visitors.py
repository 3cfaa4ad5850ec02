"""Triangles by what is known of their sides and corners, on the CUDA engine: types, times, values.

The functions are methods of `rapids_tc.engines.gpu.cuda.CudaEngine`. On blocks, values of edges
are laid out as `Layout` has the edges: the columns of uw and vw, then the in-edges.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.engines.gpu import block_layout
from rapids_tc.engines.protocol import SHORT
from rapids_tc.kernels import catalogue, launch
from rapids_tc.kernels.launch import Payload

if TYPE_CHECKING:
    from rapids_tc.engines.gpu.layout import GpuEngine, Layout
    from rapids_tc.engines.protocol import ProgressCallback, Spans
    from rapids_tc.preparation.csr import Array, Csr


def type_counts(
    engine: GpuEngine,
    layout: Layout,
    types: Any,
    counts: Array,
    *,
    on_progress: ProgressCallback | None = None,
) -> Array:
    """Add the triangles u > v > w to `counts` by the types of uv, uw and vw; return it."""
    with engine.device(layout.csr.columns):
        limits = _limits(layout, counts.size)
        arguments = (align(engine, layout, types, "uint8"), np.uint32(len(counts)), *limits)
        payload = Payload(arguments, int(limits[0]))
        _run(engine, layout, "TypeCounts", counts.ravel().view("uint64"), payload, on_progress)
        return counts


def third_sums(
    engine: GpuEngine,
    layout: Layout,
    values: Any,
    *,
    on_progress: ProgressCallback | None = None,
) -> Any:
    """Sum for every oriented edge, over its triangles, the values of the third vertices: int64."""
    xp, csr, blocks = engine.xp, layout.csr, layout.blocks
    with engine.device(csr.columns):
        if blocks is None:
            larger, smaller = values[csr.rows], values[csr.columns]
        else:
            of_u, of_v, of_w = values
            uv, of_vw = blocks.uv, np.int64(0)  # nothing is read at vw, and of u nothing at uw
            sides = of_v[uv.columns], of_w[csr.columns[blocks.uw]], of_vw
            smaller = align(engine, layout, sides, "int64")
            larger = align(engine, layout, (of_u[uv.rows], of_vw, of_vw), "int64")
        sums = xp.zeros(len(smaller), "uint64")
        payload = Payload((larger, smaller))
        _run(engine, layout, "ThirdSums", sums, payload, on_progress)
        sums = sums.view("int64")
        if blocks is None:
            return sums
        of_uv = xp.zeros(blocks.uv.m, "int64")
        size = len(blocks.packed)
        of_uv[block_layout.positions(engine, blocks)] = sums[len(sums) - size :]
        return of_uv, sums[blocks.uw], sums[blocks.vw]


def level_counts(
    engine: GpuEngine,
    layout: Layout,
    levels: Any,
    *,
    on_progress: ProgressCallback | None = None,
) -> Any:
    """Count the triangles of every edge at two levels: uint32, (2, m); on blocks three arrays."""
    blocks, xp = layout.blocks, engine.xp
    size = layout.csr.m + (len(layout.in_edges) if blocks else 0)
    with engine.device(layout.csr.columns):
        counts = xp.zeros((2, size), "uint32")
        bounds = align(engine, layout, levels, "uint64")
        payload = Payload((bounds, np.uint32(size)))
        _run(engine, layout, "LevelCounts", counts, payload, on_progress)
        counts[1] += counts[0]
        if blocks is None:
            return counts
        halves = (block_layout.apart(engine, blocks, half) for half in counts)
        return tuple(map(xp.stack, zip(*halves, strict=True)))


def window_changes(
    engine: GpuEngine,
    layout: Layout,
    spans: Any,
    windows: int,
    *,
    on_progress: ProgressCallback | None = None,
) -> Array:
    """Count how many triangles more each window has than the window before: int64, windows + 1."""
    with engine.device(layout.csr.columns):
        changes, limits = engine.xp.zeros(windows + 1, "uint64"), _limits(layout, windows + 1)
        kind, arrays = _pack_spans(engine, layout, spans, windows)
        payload = Payload((*arrays, np.uint32(windows), *limits), int(limits[0]))
        _run(engine, layout, f"WindowChanges<{kind}>", changes, payload, on_progress)
        return changes.view("int64")


def span_edge_counts(
    engine: GpuEngine,
    layout: Layout,
    counts: Array,
    spans: Any,
    *,
    on_progress: ProgressCallback | None,
) -> None:
    """Add the triangles whose sides have a window in common to the counts of their edges."""
    kind, arrays = _pack_spans(engine, layout, spans, None)
    _run(engine, layout, f"SpanEdgeCounts<{kind}>", counts, Payload(arrays), on_progress)


def join_triangles(
    engine: GpuEngine,
    layout: Layout,
    levels: Array,
    *,
    on_progress: ProgressCallback | None = None,
) -> Array:
    """Join the sides of triangles, level by level; return the word of every edge: uint64, m."""
    with engine.device(layout.csr.columns):
        words, hints = (engine.xp.zeros(layout.csr.m, "uint64") for _ in range(2))
        payload = Payload((hints, levels))
        _run(engine, layout, "JoinTriangles", words, payload, on_progress)
        return words


def join_ends(engine: GpuEngine, csr: Csr, levels: Array) -> Array:
    """Join edges with a common end, level by level; return the word of every edge: uint64, m."""
    with engine.device(csr.columns):
        words, hints = (engine.xp.zeros(csr.m + csr.n, "uint64") for _ in range(2))
        kernel = engine.compile(launch.read("join.cu"), ("join_ends",), ())["join_ends"]
        arguments = (csr.rows, csr.columns, levels, np.uint64(csr.m), words, hints)
        launch.per_element(kernel, csr.m, *arguments)
        return words[: csr.m]


def align(engine: GpuEngine, layout: Layout, values: Any, dtype: str) -> Array:
    """Return values of edges in the order of edge counts; on blocks from those of uv, uw and vw."""
    blocks = layout.blocks
    if blocks is None:
        return values
    of_uv, of_uw, of_vw = values
    size = len(blocks.packed)
    aligned = engine.xp.zeros(layout.csr.m + size, dtype)
    aligned[blocks.uw], aligned[blocks.vw] = of_uw, of_vw
    aligned[len(aligned) - size :] = of_uv[block_layout.positions(engine, blocks)]
    return aligned


def _pack_spans(
    engine: GpuEngine, layout: Layout, spans: Any, windows: int | None
) -> tuple[str, tuple[Array, ...]]:
    """Return the struct of spans in ``triangles.cuh``, words or intervals, and its arrays."""
    graphs = (spans,) if layout.blocks is None else tuple(spans)
    if all(one.offsets is None for one in graphs):
        word = "uint64" if windows is None or windows >= SHORT else "uint32"
        packed = [_words(engine.xp, one, windows, word) for one in graphs]
        words = align(engine, layout, packed if layout.blocks else packed[0], word)
        return f"SpanWords<u{8 * words.itemsize}>", (words,)
    return "SpanIntervals", _intervals(engine, layout, graphs)


def _words(xp: Any, spans: Spans, windows: int | None, dtype: str) -> Array:
    """Return the first window of each edge in the upper half of a word, and the last one."""
    if windows is None:
        first, last = spans.first, spans.last
    else:  # an edge that is absent begins behind the last window
        first = xp.minimum(spans.first, np.uint32(windows))
        last = xp.minimum(spans.last, np.uint32(max(windows - 1, 0)))
    words = first.astype(dtype)
    words <<= 4 * words.itemsize
    words |= last
    return words


def _intervals(engine: GpuEngine, layout: Layout, graphs: tuple[Spans, ...]) -> tuple[Array, ...]:
    """Return all intervals, and for each edge the first of its own, and one past the last."""
    xp, begins, ends, base = engine.xp, [], [], 0
    for one in graphs:
        size = len(one.first)
        offsets = xp.arange(size + 1, dtype="int64") if one.offsets is None else one.offsets
        begins.append(offsets[:-1] + base if base else offsets[:-1])
        ends.append(offsets[1:] + base if base else offsets[1:])
        base += size
    if layout.blocks is None:
        return graphs[0].first, graphs[0].last, begins[0], ends[0]
    firsts, lasts = (
        xp.concatenate([getattr(one, side) for one in graphs]) for side in ("first", "last")
    )
    return firsts, lasts, *(align(engine, layout, side, "int64") for side in (begins, ends))


def _limits(layout: Layout, size: int) -> tuple[np.uint32, np.uint32]:
    """Return the limits of the counters in shared memory: see ``triangles.cuh``."""
    capacities = layout.capacities
    in_shared = size if size <= capacities.shared_counters else 0
    return np.uint32(in_shared), np.uint32(capacities.drain_after)


def _run(
    engine: GpuEngine,
    layout: Layout,
    visit: str,
    out: Array,
    payload: Payload,
    on_progress: ProgressCallback | None,
) -> None:
    method = catalogue.find("auto", returns="edges")
    launch.run(engine, layout, method, visit, out, payload=payload, on_progress=on_progress)
