"""Triangles by what is known of their sides and corners, on the CUDA engine: types, times, values.

The functions are methods of `rapids_tc.engines.gpu.cuda.CudaEngine`. On blocks, values of edges
are laid out as `GpuLayout` has the edges: the columns of uw and vw, then the in-edges.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from rapids_tc.engines.gpu import block_layout, listing
from rapids_tc.engines.gpu.block_layout import align, require_positions
from rapids_tc.engines.protocol import SHORT, Coded
from rapids_tc.kernels import catalogue, launch, raw_rows, time_spans
from rapids_tc.kernels.launch import ANY_TRIANGLE, KindStruct, Payload

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rapids_tc.engines.gpu.layout import GpuEngine, GpuLayout
    from rapids_tc.engines.protocol import Kind, ProgressCallback, Spans
    from rapids_tc.engines.quantity import Quantity
    from rapids_tc.preparation.csr import Array, Csr

    # (arrays of each graph or block, their dtype) to one array, in the order of positions
    InOrder = Callable[[list[Array], str], Array]


def visit(
    engine: GpuEngine,
    layout: GpuLayout,
    quantity: Quantity,
    values: Any,
    *,
    on_progress: ProgressCallback | None = None,
) -> Any:
    """Combine what the visitor of a quantity makes of every triangle; see `protocol.Engine`."""
    if quantity.per == "vertex":
        assert quantity.visitor == "VertexSums", "no other visitor has a kernel by vertex"
        if quantity.small and layout.blocks is None:
            return _small_products(engine, layout, quantity, values, on_progress)
        return listing.vertex_sums(engine, layout, quantity, values, on_progress=on_progress)
    with engine.device(layout.csr.columns):
        visitor, arrays = _taken(engine, layout, quantity, values)
        if quantity.per == "total":
            sums = engine.xp.zeros(quantity.shape, quantity.dtype)
            limits = _limits(layout, sums.size)
            payload = Payload((*arrays, np.uint32(quantity.size), *limits), int(limits[0]))
            _run(engine, layout, visitor, sums, payload, on_progress)
            if quantity.takes == "spans":  # what ends behind the last window, kernels leave out
                sums[-1] = -sums[:-1].sum()
            return sums
        size = block_layout.positions_of(layout)
        require_positions(size, quantity.rows if quantity.by_arc else 1)
        sums = quantity.start(size, engine.xp)
        payload = Payload((*arrays, np.uint32(size)))
        _run(engine, layout, visitor, sums, payload, on_progress)
        sums = quantity.finished(sums)
        return sums if layout.blocks is None else block_layout.apart(engine, layout.blocks, sums)


def _taken(
    engine: GpuEngine, layout: GpuLayout, quantity: Quantity, values: Any
) -> tuple[str, tuple[Any, ...]]:
    """Return the visitor of a quantity, and the arrays of its ``Input``."""
    csr, blocks, dtype = layout.csr, layout.blocks, quantity.value
    if quantity.takes in ("spans", "codes", "levels"):
        graphs: Any = (values,) if blocks is None else tuple(values)
        levels: tuple[Array, ...] = ()

        def of_edges(of_graphs: Sequence[Array], dtype: str) -> Array:
            return align(engine, layout, of_graphs if blocks else of_graphs[0], dtype)

        if quantity.takes == "levels":
            of_graphs, graphs = zip(*graphs, strict=True)
            levels = (of_edges(of_graphs, dtype),)
        in_order = partial(_of_arcs, engine, of_edges) if quantity.by_arc else of_edges
        windows = quantity.size if quantity.per == "total" else None
        kind, arrays = _pack_kind(engine, graphs, windows, in_order)
        if levels:
            return f"{quantity.visitor}<{kind}>", (*levels, *arrays)
        choices = (np.uint32(quantity.choices),) if quantity.by_arc else ()
        return f"{quantity.visitor}<{kind}>", (*arrays, *choices)
    if quantity.takes == "sides":
        return quantity.visitor, (align(engine, layout, values, dtype),)
    if quantity.takes == "pairs":
        by_kind = zip(*values, strict=True) if blocks else values
        of_kinds = (align(engine, layout, own, dtype) for own in by_kind)
        return quantity.visitor, (*of_kinds, np.uint32(cast("Any", quantity).rule))
    if blocks is None:
        return quantity.visitor, (values[csr.rows], values[csr.columns])
    (of_u, of_v, of_w), uv, of_vw = values, blocks.uv, np.zeros(1, dtype)[0]
    smaller = of_v[uv.columns], of_w[csr.columns[blocks.uw]], of_vw  # nothing is read at vw,
    larger = of_u[uv.rows], of_vw, of_vw  # and of u nothing at uw
    return quantity.visitor, tuple(align(engine, layout, ends, dtype) for ends in (larger, smaller))


def kind_test(
    engine: GpuEngine, values: Any, choices: int = 1
) -> Callable[[Sequence[Array]], Array]:
    """Return a function that says which triangles are of a kind: see `protocol.Engine`."""
    xp, [first, *rest] = engine.xp, values
    graphs = (first,) if all(one is first for one in rest) else tuple(values)

    def of_edges(of_graphs: list[Array], dtype: str) -> Array:
        return _joined(engine, of_graphs)

    arcs = 2 if choices > 1 else 1
    in_order = partial(_of_arcs, engine, of_edges) if arcs > 1 else of_edges
    kind, arrays = _pack_kind(engine, graphs, None, in_order)
    sizes = [one.size // arcs for one in graphs]
    begins = (sizes[0], sizes[0] + sizes[1]) if graphs[1:] else (0, 0)
    require_positions(sum(sizes), arcs)
    of_kind, payload = [*map(np.uint32, (*begins, choices, sum(sizes)))], Payload(arrays)
    source, options = launch.read("kind_test.cu"), (f"-DRTC_KIND={kind}",)

    def test(sides: Sequence[Array]) -> Array:
        size = len(sides[0])
        with engine.device(sides[0]):
            hits = xp.empty(size, bool)
            kernel = engine.compile(source, ("test_kind",), options)["test_kind"]
            arguments = *sides, np.uint64(size), *of_kind, payload.pack(hits)
            launch.per_element(kernel, size, *arguments)
            return hits

    return test


def _of_arcs(engine: GpuEngine, of_edges: InOrder, of_graphs: list[Array], dtype: str) -> Array:
    """Return what is known of arcs in the order of positions: of those down, then of those up."""
    halves = [(one[: len(one) // 2], one[len(one) // 2 :]) for one in of_graphs]
    ways = (of_edges(list(of_way), dtype) for of_way in zip(*halves, strict=True))
    return engine.xp.concatenate([*ways])


def _small_products(
    engine: GpuEngine,
    layout: GpuLayout,
    quantity: Quantity,
    values: Array,
    on_progress: ProgressCallback | None,
) -> Array:
    """Sum for each rank, over its triangles, the products of the small values of their sides.

    The first row of the sums of edges has the triangles of both of their ends, the second row those
    of their smaller end. So no atomic of floats is needed, nor one per triangle in global memory.
    """
    csr = layout.csr
    with engine.device(csr.columns):
        sums = engine.xp.zeros((2, csr.m), "int64")
        payload = Payload((values.astype("int8"), np.uint32(csr.m)))
        _run(engine, layout, "SideProducts", sums, payload, on_progress)
        by_row, by_column = block_layout.sum_counts(engine, csr, sums[0])
        by_row += by_column
        by_row += block_layout.sum_counts(engine, csr, sums[1])[1]
        return by_row.astype(quantity.dtype)


def join_triangles(
    engine: GpuEngine,
    layout: GpuLayout,
    levels: Array,
    *,
    kind: Kind | None = None,
    on_progress: ProgressCallback | None = None,
) -> Array:
    """Join the sides of triangles, level by level; return the word of every edge: uint64, m."""
    with engine.device(layout.csr.columns):
        words, hints = (engine.xp.zeros(layout.csr.m, "uint64") for _ in range(2))
        which = kind_of(engine, layout, kind)
        payload = Payload((hints, levels, *which.fields))
        _run(engine, layout, f"JoinTriangles<{which.struct}>", words, payload, on_progress)
        return words


def join_ends(engine: GpuEngine, csr: Csr, levels: Array) -> Array:
    """Join edges with a common end, level by level; return the word of every edge: uint64, m."""
    with engine.device(csr.columns):
        words, hints = (engine.xp.zeros(csr.m + csr.n, "uint64") for _ in range(2))
        kernel = engine.compile(launch.read("join.cu"), ("join_ends",), ())["join_ends"]
        arguments = (csr.rows, csr.columns, levels, np.uint64(csr.m), words, hints)
        launch.per_element(kernel, csr.m, *arguments)
        return words[: csr.m]


def kind_of(engine: GpuEngine, layout: GpuLayout, kind: Kind | None) -> KindStruct:
    """Return which triangles of a graph count, as kernels are told; without a kind all do."""
    return KindStruct(*_pack_kind(engine, (kind,), None, _only))


def _pack_kind(
    engine: GpuEngine, graphs: tuple[Any, ...], windows: int | None, in_order: InOrder
) -> tuple[str, tuple[Any, ...]]:
    """Return the struct of a kind, `Spans` or `Coded` of each graph or None, and its fields."""
    if graphs[0] is None:
        return ANY_TRIANGLE.struct, ANY_TRIANGLE.fields
    if isinstance(graphs[0], Coded):
        return _pack_coded(engine, graphs, in_order)
    return _pack_spans(engine, graphs, windows, in_order)


def _pack_spans(
    engine: GpuEngine, graphs: tuple[Spans, ...], windows: int | None, in_order: InOrder
) -> tuple[str, tuple[Array, ...]]:
    """Return the struct of spans in ``spans.cuh``, words or intervals, and its arrays."""
    if all(one.offsets is None for one in graphs):
        word = "uint64" if windows is None or windows >= SHORT else "uint32"
        words = in_order([_words(engine.xp, one, windows, word) for one in graphs], word)
        return f"SpanWords<u{8 * words.itemsize}>", (words,)
    return "SpanIntervals", _intervals(engine, graphs, in_order)


def _pack_coded(
    engine: GpuEngine, graphs: tuple[Coded, ...], in_order: InOrder
) -> tuple[str, tuple[Any, ...]]:
    """Return the struct in ``kinds.cuh``, of codes or of coded intervals, and its fields."""
    table, codes = graphs[0].table, [one.codes for one in graphs]
    numbers = table.uv_shift, table.uw_shift, table.uw_mask, table.vw_mask
    of_table = engine.xp.asarray(table.bits), *map(np.uint32, numbers)
    spans = tuple(one.spans for one in graphs if one.spans is not None)
    if not spans:
        return "Codes", (in_order(codes, "uint8"), *of_table)
    in_one = _joined(engine, codes)
    return "CodedIntervals", (*_intervals(engine, spans, in_order), in_one, *of_table)


def _only(of_graphs: list[Array], dtype: str) -> Array:
    """Return the array of the only graph, which is in the order of positions."""
    return of_graphs[0]


def _joined(engine: GpuEngine, of_graphs: list[Array]) -> Array:
    """Return the arrays of blocks as one, or the only array."""
    return engine.xp.concatenate(of_graphs) if of_graphs[1:] else of_graphs[0]


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


def _intervals(
    engine: GpuEngine, graphs: tuple[Spans, ...], in_order: InOrder
) -> tuple[Array, ...]:
    """Return the marks of each edge, all intervals, and where its own begin and end."""
    xp, marks, begins, ends, base = engine.xp, [], [], [], 0
    filled = [one.last for one in graphs if len(one.last)]
    latest = max((last for _, last in raw_rows.id_ranges(engine.compile, xp, filled)), default=0)
    width = latest // time_spans.BINS + 1
    for one in graphs:
        size = len(one.first)
        offsets = xp.arange(size + 1, dtype="int64") if one.offsets is None else one.offsets
        intervals = one.first, one.last, offsets
        marks.append(time_spans.write_marks(engine.compile, xp, *intervals, width))
        begins.append(offsets[:-1] + base if base else offsets[:-1])
        ends.append(offsets[1:] + base if base else offsets[1:])
        base += size
    firsts, lasts = (
        _joined(engine, [getattr(one, side) for one in graphs]) for side in ("first", "last")
    )
    bounds = (in_order(side, "int64") for side in (begins, ends))
    return in_order(marks, "uint64"), firsts, lasts, *bounds


def _limits(layout: GpuLayout, size: int) -> tuple[np.uint32, np.uint32]:
    """Return the limits of the counters in shared memory: see ``triangles.cuh``."""
    capacities = layout.capacities
    in_shared = size if size <= capacities.shared_counters else 0
    return np.uint32(in_shared), np.uint32(capacities.drain_after)


def _run(
    engine: GpuEngine,
    layout: GpuLayout,
    visit: str,
    out: Array,
    payload: Payload,
    on_progress: ProgressCallback | None,
) -> None:
    method = catalogue.find("auto", returns="edges")
    launch.run(engine, layout, method, visit, out, payload=payload, on_progress=on_progress)
