"""The CPU engine: the W1 count in Numba, on all cores.

For a *middle* vertex v, mark N+(v) in a table of bytes. For every u with v in N+(u), walk the
prefix of N+(u) below v: each marked entry w closes the triangle (u, v, w). Every wedge at the
corner of lowest degree is looked at once, so the work is W1 = sum over u of C(d+(u), 2).

The in-edges of all middle vertices lie one after another, and a task is a range of them with
about the same number of probes: a hub of a million in-neighbours is many tasks. The table of a
thread has at most `TABLE` entries, whatever the graph: a vertex below that is its own slot; above
it, ranks share slots and a hit is confirmed in N+(v).

The rows of v, the rows of u that are walked and the edges (u, v) are those of one graph, or of
three blocks of it, see `rapids_tc.blocks.grid`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rapids_tc.engines import peel
from rapids_tc.engines.cpu import counting, host_slots, listing, raw_rows
from rapids_tc.engines.cpu.compiled import compiled
from rapids_tc.engines.cpu.parallel import find, parallel_for, thread_count
from rapids_tc.engines.cpu.truss import CpuPeeler
from rapids_tc.engines.host import host_free, host_memory
from rapids_tc.engines.protocol import Costs, PivotRange, ProgressCallback, Residues, shifts
from rapids_tc.errors import require_unchanged
from rapids_tc.frames.backend import as_uint32
from rapids_tc.preparation.csr import Array, Csr

TABLE = 1 << 22  # slots of a thread's table: 4 MiB of marks, 16 MiB where places are kept
TASKS_A_THREAD = 64  # of uneven length after all, and drawn one by one
SERIAL_BELOW = 1 << 18  # probes, or look-ups, that are not worth waking a second thread

memory, free = host_memory, host_free
block_store, slot_pool = host_slots.BlockStore, host_slots.SlotPool
costs = Costs(
    stages=host_slots.STAGES,
    tables=lambda vertices, sides: thread_count() * _slots(vertices) * (4 if sides else 1),
    most=2**63,
    positions=2**63,
    unasked=2**24,  # to ask reads a dozen small files: longer than to count a small frame
    text=260,
    order=96,
    sort=32,
    row=24,
    uv_stays_loaded=True,
    prefetch=False,
    slots=lambda sides: 3,
    task=lambda edges, rows, *more: host_slots.task_bytes(
        thread_count() * _slots(rows), edges, rows, *more
    ),
)


@dataclass(frozen=True)
class Layout:
    """What the CPU engine keeps of a graph, or of a task on blocks, between calls.

    Attributes
    ----------
    csr : Csr
        The rows N+(v) that are marked: the graph, or block vw.
    in_offsets : array of int64, shape (n + 1,)
        The in-edges of row ``v`` are ``in_edges[in_offsets[v]:in_offsets[v + 1]]``.
    in_edges : array of uint64
        Every u with v in N+(u), ascending: its row in `walked` << 32 | the entries there below v.
    probe_counts : array of int64, shape (n,)
        Probes of each middle vertex.
    walked : Csr
        The rows N+(u) that are walked: the graph, or block uw.
    edges : Csr
        Of which the in-edges were made: the graph, or block uv.
    middles : tuple of int
        Those that are counted, as columns of `edges`.
    shift : int
        From a column of `edges` to the row of the same vertex in `csr`.
    whole : bool
        The three are one graph, not blocks.
    """

    csr: Csr
    in_offsets: Array
    in_edges: Array
    probe_counts: Array
    walked: Csr
    edges: Csr
    pivot_range: PivotRange
    shift: int
    whole: bool


def degrees(src: Array, dst: Array, size: int) -> tuple[Array, int]:
    """Count how often each number below `size` stands in either array, and how many do."""
    degree = np.zeros(size, np.int64)
    require_unchanged(sum(raw_rows.count_ends(_read_only(end), degree) for end in (src, dst)))
    return degree, int(np.count_nonzero(degree))


def csr(keys: Array, n: int) -> Csr:
    """Build the CSR of `n` ranks from packed keys (larger rank << 32 | smaller rank).

    They are sorted by counting: a stable pass over the smaller ranks and one over the larger,
    O(rows + n) each, in the memory of the keys and as much again. Repeats and self loops among
    them are dropped.
    """
    ordered = np.empty_like(keys)
    inside = raw_rows.sort_by(keys, np.uint64(0), n, ordered)
    inside = raw_rows.sort_by(ordered[:inside], np.uint64(32), n, keys)
    require_unchanged(len(keys) - inside)
    del ordered
    columns = keys.view(np.uint32)
    offsets = raw_rows.csr(keys, n, columns)
    return Csr(offsets, columns[: offsets[-1]].copy())


def prepare(csr: Csr, pivot_range: PivotRange | None = None) -> Layout:
    """Group the in-edges by middle vertex. O(m) time, 8 m + 16 n bytes."""
    return _prepare(csr, csr, csr, (0, 0, 0), pivot_range, whole=True)


def to_csc(uv: Csr) -> Csr:
    """The block itself: in-edges are grouped with their walks, for each task."""
    return uv


def prepare_blocks(
    uv: Csr, uw: Csr, vw: Csr, residues: Residues, pivot_range: PivotRange | None = None
) -> Layout:
    """As `prepare`, for a task on blocks."""
    return _prepare(uv, uw, vw, residues, pivot_range, whole=False)


def _prepare(
    uv: Csr, uw: Csr, vw: Csr, residues: Residues, pivot_range: PivotRange | None, whole: bool
) -> Layout:
    to_row, shift = shifts(residues)
    range_of_v = pivot_range or (0, vw.n - shift)
    in_offsets, in_edges, probes = raw_rows.group(
        *_arrays(uv), *_arrays(uw), to_row, shift, vw.n, *range_of_v
    )
    return Layout(vw, in_offsets, in_edges, probes, uw, uv, range_of_v, shift, whole)


def probe_counts(uv: Csr, uw: Csr | None = None, residues: Residues = (0, 0, 0)) -> Array:
    """Probes of every middle vertex: int64, by column of `uv`."""
    to_row, shift = shifts(residues)
    return raw_rows.probe_counts(*_arrays(uv), *_arrays(uw or uv), to_row, shift)


def count(
    layout: Layout, *, method: str = "auto", on_progress: ProgressCallback | None = None
) -> int:
    """Count the triangles of the graph, or those of a task."""
    return _run(layout, counting.total, np.uint8, on_progress, np.zeros(0, np.uint32))


def edge_counts(
    layout: Layout, *, method: str = "auto", on_progress: ProgressCallback | None = None
) -> Array:
    """Count the triangles of every oriented edge: uint32, aligned with ``csr.columns``.

    Of a task, the triangles that it finds: three arrays, aligned with those of uv, uw and vw.
    """
    graphs = (layout.csr,) if layout.whole else (layout.edges, layout.walked, layout.csr)
    counts = tuple(np.zeros(graph.m, np.uint32) for graph in graphs)
    of_uv = np.zeros(len(layout.in_edges), np.uint32)
    _run(layout, counting.edges, np.int32, on_progress, of_uv, counts[len(counts) // 2], counts[-1])
    where = layout.in_offsets, of_uv, layout.shift, *layout.pivot_range
    raw_rows.add_in_edges(*_arrays(layout.edges), *where, counts[0])
    return counts[0] if layout.whole else counts


def sum_counts(csr: Csr, counts: Array) -> tuple[Array, Array]:
    """The sums (int64, n) of the counts of edges by row, and by column."""
    return raw_rows.sum_counts(*_arrays(csr), counts)


def split(
    ends: tuple[Array, Array], rank: Array, n: int, group: PivotRange, free: Array, keys: Array
) -> None:
    """Write the keys of some of n x n blocks; see `rapids_tc.engines.Engine.split`."""
    require_unchanged(raw_rows.split(*map(_read_only, ends), rank, n, *group, free, keys))


def _read_only(ends: Array) -> Array:
    """Return the ends as read-only uint32 or int64, so that one compiled version serves all."""
    known = (ends if ends.dtype == "int64" else as_uint32(ends)).view()
    known.flags.writeable = False
    return known


def triangles_per_in_edge(layout: Layout, *, on_progress: ProgressCallback | None = None) -> Array:
    """Count the triangles that each in-edge closes: uint32, in the order of the layout."""
    counts = np.zeros(len(layout.in_edges), np.uint32)
    _run(layout, counting.total, np.uint8, on_progress, counts)
    return counts


def list_triangles(layout: Layout, starts: Array, first: int, last: int) -> Array:
    """The ranks u > v > w of triangles `first` to `last` - 1: uint32, shape (3, last - first)."""
    graph, threads = layout.csr, thread_count() if last - first > SERIAL_BELOW else 1
    ranks = np.empty((3, last - first), np.uint32)
    targets = np.linspace(first, last, threads * TASKS_A_THREAD + 1).astype(np.int64)
    bounds = np.searchsorted(starts, targets, side="right") - 1
    bounds[-1] = np.searchsorted(starts, last)
    bounds = np.unique(bounds)
    tables = np.zeros((threads, _slots(graph.n)), np.uint8)
    arrays = (graph.offsets, graph.columns, layout.in_offsets, layout.in_edges)

    def task(number: int, thread: int) -> None:
        here, end = bounds[number], bounds[number + 1]
        listing.write(*arrays, here, end, tables[thread], starts, first, last, ranks)

    parallel_for(task, len(bounds) - 1, threads)
    return ranks


def vertex_sums(
    layout: Layout, sides: Array, *, on_progress: ProgressCallback | None = None
) -> Array:
    """For each rank the sum, over its triangles, of the products of their sides' values."""
    sums = np.zeros(layout.csr.n, np.float64)
    _run(layout, listing.sum_products, np.int32, on_progress, sides, sums)
    return sums


def find_edges(csr: Csr, u: Array, v: Array) -> Array:
    """Position in ``csr.columns`` of the edge {u, v} for each pair of ranks; -1: there is none."""
    positions, threads = np.empty(len(u), np.int64), thread_count() if len(u) >= SERIAL_BELOW else 1
    bounds = np.linspace(0, len(u), threads + 1).astype(np.int64)

    def task(number: int, thread: int) -> int:
        part = slice(bounds[number], bounds[number + 1])
        return _locate(csr.offsets, csr.columns, u[part], v[part], positions[part])

    require_unchanged(parallel_for(task, threads, threads))
    return positions


def truss(
    layout: Layout,
    counts: Array,
    *,
    k: int | None = None,
    on_progress: ProgressCallback | None = None,
) -> Array:
    """The trussness of every oriented edge; with `k`, of those in the k-truss k, of others less."""
    return peel.decompose(CpuPeeler(), layout.csr, counts, k, on_progress)


def _arrays(graph: Csr) -> tuple[Array, Array]:
    return graph.offsets, graph.columns


def _slots(n: int) -> int:
    return min(TABLE, 1 << max(n - 1, 1).bit_length())


def _run(layout: Layout, kernel, slot, on_progress: ProgressCallback | None, *arrays: Array) -> int:
    """Share out the in-edges, by probes; the sum of what the tasks return."""
    threads = thread_count() if layout.probe_counts.sum() > SERIAL_BELOW else 1
    bounds = _cut(layout, threads * TASKS_A_THREAD if threads > 1 else 1)
    tables = np.zeros((threads, _slots(layout.csr.n)), slot)
    given = (*_arrays(layout.csr), *_arrays(layout.walked), layout.in_offsets, layout.in_edges)

    def task(number: int, thread: int) -> int:
        return kernel(*given, bounds[number], bounds[number + 1], tables[thread], *arrays)

    return parallel_for(task, len(bounds) - 1, threads, on_progress)


def _cut(layout: Layout, tasks: int) -> Array:
    """Cut the in-edges into ranges of about equal work: positions, shape (tasks + 1,)."""
    ends = np.cumsum(layout.probe_counts, dtype=np.float64)
    total = ends[-1] if len(ends) else 0.0
    if total == 0.0:
        return np.zeros(1, np.int64)
    targets = np.linspace(0.0, total, tasks + 1)[1:-1]
    v = np.searchsorted(ends, targets, side="right")
    share = (targets - (ends[v] - layout.probe_counts[v])) / layout.probe_counts[v]
    first, last = layout.in_offsets[v], layout.in_offsets[v + 1]
    inner = first + (np.clip(share, 0.0, 1.0) * (last - first)).astype(np.int64)
    return np.concatenate([[0], np.maximum.accumulate(inner), [layout.in_offsets[-1]]])


@compiled
def _locate(offsets, columns, u, v, positions):
    """Write the positions of the edges; return how many edges have an end without a row."""
    n, outside = len(offsets) - 1, 0
    for i in range(len(u)):
        low, high = min(u[i], v[i]), max(u[i], v[i])
        if high < n:
            positions[i] = find(columns, offsets[high], offsets[high + 1], low)
        else:
            outside += 1
    return outside
