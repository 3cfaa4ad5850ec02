"""The CPU engine: the W1 count in Numba, on all cores.

For a *pivot* vertex v, mark N+(v) in a table of bytes. For every u with v in N+(u), walk the
prefix of N+(u) below v: each marked entry w closes the triangle (u, v, w). Every wedge at the
corner of lowest degree is tested once, so the work is W1 = sum over u of C(d+(u), 2).

The in-edges of all pivot vertices lie one after another, and a task is a range of them with
about the same number of probes: a hub of a million in-neighbors is many tasks. The table of a
thread has at most `TABLE` entries, whatever the graph: a vertex below that is its own slot; above
it, ranks share slots and a hit is confirmed in N+(v).

The rows of v, the rows of u that are walked and the edges (u, v) come from one graph, or from
three blocks of it: see `rapids_tc.blocks.grid`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc._parallel import parallel_for, thread_count, threads_for
from rapids_tc.engines import peel
from rapids_tc.engines.cpu import as_of as earlier_rows
from rapids_tc.engines.cpu import bitruss as bitruss_index
from rapids_tc.engines.cpu import (
    changes,
    clique_rows,
    communities,
    community_levels,
    counting,
    host_slots,
    in_edges,
    listing,
    look_up,
    pairs,
    raw_rows,
    row_counts,
    similar,
    small,
    sorting,
    time_entries,
    visitors,
    wedges,
)
from rapids_tc.engines.cpu.coded import pack_kind
from rapids_tc.engines.cpu.kind_test import kind_test as kind_test
from rapids_tc.engines.cpu.layout import CpuLayout
from rapids_tc.engines.cpu.spans import Always
from rapids_tc.engines.cpu.truss import CpuPeeler
from rapids_tc.engines.host import host_free, host_memory
from rapids_tc.engines.protocol import Costs, PivotRange, ProgressCallback, Residues, shifts
from rapids_tc.errors import require_unchanged
from rapids_tc.plan import costs as model

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rapids_tc.engines.protocol import Kind, RowColumn
    from rapids_tc.engines.quantity import Quantity
    from rapids_tc.preparation.csr import Array, Csr

TABLE = 1 << 22  # slots of a thread's table: 4 MiB of marks, 16 MiB of places
TASKS_PER_THREAD = 64  # their lengths still differ, so threads draw them one by one
DEGREE_TABLES = 6  # at most: a table takes 4 bytes a number

memory, free, take, bare = host_memory, host_free, look_up.take, in_edges.bare
neighbors, common_sums = pairs.neighbors, pairs.common_sums
prepare_ends, most_similar = similar.prepare_ends, similar.most_similar
count_pairs, list_pairs = similar.count_pairs, similar.list_pairs
csc, find_slots = in_edges.csc, changes.find_slots
add_changes, settle = changes.add_changes, changes.settle
join_ends = communities.join_ends
join_levels = community_levels.join_levels
block_store, slot_pool, small_graph = host_slots.BlockStore, host_slots.SlotPool, small.graph
cliques = clique_rows.count
prepare_wedges, squares = wedges.prepare_wedges, wedges.squares
bitruss = bitruss_index.decompose
as_of, keep_rows = earlier_rows.as_of, earlier_rows.KeptRows
costs = Costs(
    tables=lambda vertices, sides: _table_bytes(vertices, sides),
    positions=model.MOST_POSITIONS["cpu"],
    text=model.TEXT["cpu"],
    order=model.ORDERING["cpu"],
    sort=model.SORTING["cpu"],
    row=model.CHUNK_ROW["cpu"],
    uv_stays_loaded=True,
    prefetch=False,
    slots=lambda sides: 3,
    local_graphs=clique_rows.bits_bytes,
    wedge_counters=wedges.counters_bytes,
    timed_tables=time_entries.tables_bytes,
    similarity_tables=similar.tables_bytes,
    task=lambda edges, rows, *more: host_slots.task_bytes(
        thread_count() * _slots(rows), edges, rows, *more
    ),
    levels=model.LEVELS["cpu"],
    levels_of_slot=model.LEVELS_OF_SLOT["cpu"],
)


def degrees(src: Array, dst: Array, size: int, out: Array = None) -> tuple[Array, int]:
    """Count how often each number below `size` occurs in both arrays, and how many occur.

    Each thread counts in a table of its own. Tables take less than the sort that follows.
    """
    if small.is_small(len(src), size):
        return small.degrees(src, dst, size)
    threads = threads_for(len(src) + len(dst), DEGREE_TABLES)
    rows = [sorting.cut_evenly(len(end), threads) for end in (src, dst)]
    tables = np.zeros((threads, size), np.uint32)

    def count(number: int, thread: int) -> int:
        parts = (end[cuts[number]] for end, cuts in zip((src, dst), rows, strict=True))
        return sum(raw_rows.count_ends(raw_rows.read_only(part), tables[number]) for part in parts)

    require_unchanged(parallel_for(count, threads, threads))
    degree, numbers = np.empty(size, np.int64), sorting.cut_evenly(size, threads)

    def add(number: int, thread: int) -> None:
        np.sum(tables[:, numbers[number]], axis=0, out=degree[numbers[number]])

    parallel_for(add, threads, threads)
    return degree, int(np.count_nonzero(degree))


def csr(keys: Array, n: int) -> Csr:
    """Build the CSR of `n` ranks from packed keys (larger rank << 32 | smaller rank).

    The keys are sorted in the memory of the keys and as much again; see
    `rapids_tc.engines.cpu.sorting`. Repeats and self loops are dropped.
    """
    if small.is_small(len(keys), n):
        return small.csr(keys, n)
    return sorting.sort_keys(keys, n, threads_for(len(keys)))


def csr_of_rows(keys: Array, n: int) -> tuple[Csr, None]:
    """Build the CSR as `csr` does: the rows of its edges are found by a search."""
    return csr(keys, n), None


def prepare(csr: Csr, pivot_range: PivotRange | None = None) -> CpuLayout:
    """Group the in-edges by pivot vertex. O(m) time, 8 m + 16 n bytes."""
    range_of_v = pivot_range or (0, csr.n)
    groups = in_edges.group(csr, csr, 0, 0, csr.n, range_of_v, threads_for(csr.m))
    return CpuLayout(csr, *groups, csr, csr, range_of_v, 0, whole=True)


def to_csc(uv: Csr) -> Csr:
    """Return the block itself: in-edges are grouped anew for each task, with their walks."""
    return uv


def prepare_blocks(
    uv: Csr, uw: Csr, vw: Csr, residues: Residues, *, pivot_range: PivotRange | None = None
) -> CpuLayout:
    """Group the in-edges of a task on blocks."""
    to_row, shift = shifts(residues)
    range_of_v = pivot_range or (0, vw.n - shift)
    groups = in_edges.group(uv, uw, to_row, shift, vw.n, range_of_v, threads_for(uv.m))
    return CpuLayout(vw, *groups, uw, uv, range_of_v, shift, whole=False)


def probe_counts(uv: Csr, uw: Csr | None = None, residues: Residues = (0, 0, 0)) -> Array:
    """Count the probes of every pivot vertex: int64, by column of `uv`."""
    to_row, shift = shifts(residues)
    return raw_rows.probe_counts(*_arrays(uv), *_arrays(uw or uv), to_row, shift)


def count(
    layout: CpuLayout, *, method: str = "auto", on_progress: ProgressCallback | None = None
) -> int:
    """Count the triangles of the graph, or the triangles of a task."""
    none = np.zeros(0, np.uint32)
    return _run(layout, counting.total, np.uint8, on_progress, lambda thread: (none,))


def edge_counts(
    layout: CpuLayout, *, method: str = "auto", on_progress: ProgressCallback | None = None
) -> Any:
    """Count the triangles of every oriented edge: uint32, aligned with ``csr.columns``.

    A task on blocks gives three arrays, aligned with the columns of uv, uw and vw.
    """
    counts: tuple[Array, ...] = tuple(np.zeros(graph.m, np.uint32) for graph in layout.graphs)
    if layout.whole:
        sizes = _slots(layout.csr.n), _threads(layout)
        row_counts.count_edges(layout, counts[0], *sizes, on_progress)
        return counts[0]
    _visit(layout, [visitors.SpanEdgeCounts(Always(), *counts)], on_progress)
    return counts


def visit(
    layout: CpuLayout,
    quantity: Quantity,
    values: Any,
    *,
    on_progress: ProgressCallback | None = None,
) -> Any:
    """Combine what the visitor of a quantity makes of every triangle; see `protocol.Engine`."""
    if layout.whole and quantity.visitor in row_counts.BY_ROWS:
        sizes = _slots(layout.csr.n), _threads(layout)
        return row_counts.BY_ROWS[quantity.visitor](layout, values, *sizes, on_progress)
    walk = partial(_visit, layout, on_progress=on_progress)
    return visitors.visit(quantity, layout, values, _threads(layout), walk)


def join_triangles(
    layout: CpuLayout,
    levels: Array,
    *,
    kind: Kind | None = None,
    on_progress: ProgressCallback | None = None,
) -> Array:
    """Join the sides of triangles, level by level; return the word of every edge: uint64, m."""
    parents, hints = (np.zeros(layout.csr.m, np.uint64) for _ in range(2))
    _visit(
        layout, [communities.JoinTriangles(pack_kind(kind), levels, parents, hints)], on_progress
    )
    return parents


def sum_counts(csr: Csr, counts: Array) -> tuple[Array, Array]:
    """Sum the counts of edges by row, and by column: int64, n each."""
    return raw_rows.sum_counts(*_arrays(csr), counts)


def split(
    ends: tuple[Array, Array],
    rank: Array | None,
    n: int,
    group: PivotRange,
    *,
    free: Array,
    keys: Array,
) -> None:
    """Write the keys of some of n x n blocks; see `rapids_tc.engines.protocol.Engine`."""
    src, dst = map(raw_rows.read_only, ends)
    by_number = np.empty(0, "uint32") if rank is None else rank
    numbers = 2**32 if rank is None else len(rank)
    rows = src, dst, by_number, numbers
    require_unchanged(raw_rows.split(*rows, n, *group, free, keys))


def triangles_per_in_edge(
    layout: CpuLayout, *, on_progress: ProgressCallback | None = None
) -> Array:
    """Count the triangles that each in-edge closes: uint32, in the order of the layout."""
    counts = np.zeros(len(layout.in_edges), np.uint32)
    _run(layout, counting.total, np.uint8, on_progress, lambda thread: (counts,))
    return counts


def list_triangles(layout: CpuLayout, starts: Array, first: int, last: int) -> Array:
    """List the ranks u > v > w of triangles `first` to `last` - 1: uint32, (3, last - first).

    On blocks, list u by row of uv, v by column of uv, and w by column of uw.
    """
    sizes = threads_for(last - first), _slots(layout.csr.n)
    return listing.list_ranks(layout, starts, first, last, *sizes)


def find_edges(csr: Csr, u: Array, v: Array, rank: Array | None = None) -> Array:
    """Find the position in ``csr.columns`` of the edge {u, v} for pairs of ranks; -1 if none.

    With `rank`, the pairs are numbers of vertices, whose ranks it holds.
    """
    return look_up.find_edges(csr, u, v, threads_for(len(u)), rank)


def row_values(
    csr: Csr, u: Array, v: Array, rank: Array, columns: Sequence[RowColumn]
) -> list[Array]:
    """Find the edge of each row, and return its value of every column."""
    return look_up.row_values(csr, u, v, threads_for(len(u)), rank, columns)


def rank_finder(part: Any, rank: Array) -> None:
    """Return None: pandas keeps the table in which it finds ids."""


def number_ids() -> None:
    """Return None: few ids come at a time."""


def truss(
    layout: CpuLayout,
    counts: Array,
    *,
    k: int | None = None,
    levels: tuple[int, int] | None = None,
    kind: Kind | None = None,
    on_progress: ProgressCallback | None = None,
) -> Array:
    """Find the trussness of every oriented edge; with `k`, k in the k-truss, and less elsewhere."""
    peeler = CpuPeeler() if kind is None else CpuPeeler(kind=pack_kind(kind))
    return peel.decompose(peeler, layout.csr, counts, k, on_progress, levels=levels)


def _arrays(graph: Csr) -> tuple[Array, Array]:
    return graph.offsets, graph.columns


def _table_bytes(vertices: int, sides: bool) -> int:
    slot = model.TABLE_SLOT["place" if sides else "mark"]
    return thread_count() * _slots(vertices) * slot


def _slots(n: int) -> int:
    return min(TABLE, 1 << max(n - 1, 1).bit_length())


def _run(
    layout: CpuLayout,
    kernel: Callable[..., int | None],
    slot: type[np.generic],
    on_progress: ProgressCallback | None,
    arguments: Callable[[int], tuple[Any, ...]],
) -> int:
    """Call the kernel on ranges of in-edges, about equal in probes; return the sum of its results.

    `slot` is the dtype of the threads' tables, and `arguments` are the kernel's last ones, by
    thread.
    """
    threads = _threads(layout)
    bounds = in_edges.cut_by_probes(
        layout.probe_counts, layout.in_offsets, threads * TASKS_PER_THREAD if threads > 1 else 1
    )
    tables = np.zeros((threads, _slots(layout.csr.n)), slot)
    graph = (*_arrays(layout.csr), *_arrays(layout.walked), layout.in_offsets, layout.in_edges)

    def task(number: int, thread: int) -> int | None:
        part = (bounds[number], bounds[number + 1], tables[thread])
        return kernel(*graph, *part, *arguments(thread))

    return parallel_for(task, len(bounds) - 1, threads, on_progress)


def _visit(
    layout: CpuLayout, by_thread: Sequence[Any], on_progress: ProgressCallback | None
) -> None:
    """Call the visitor of a thread, or the only visitor, for every triangle."""
    uv, size = layout.edges, 0 if layout.whole else len(layout.in_edges)
    uv_at = np.empty(size, np.uint32 if uv.m < 2**32 else np.int64)
    if not layout.whole:
        ranges = (layout.in_offsets, layout.shift, *layout.pivot_range)
        raw_rows.find_in_edges(uv.columns, *ranges, uv_at)

    def arguments(thread: int) -> tuple[Any, ...]:
        return uv_at, by_thread[thread % len(by_thread)]

    _run(layout, counting.visit, np.int32, on_progress, arguments)


def _threads(layout: CpuLayout) -> int:
    """Return how many threads are worth starting to count a layout."""
    return threads_for(int(layout.probe_counts.sum()))
