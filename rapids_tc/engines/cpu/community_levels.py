"""Truss communities of all levels in Numba: triangles joined from the highest level down.

The edges of a level are added to the rows of both ends, and then each is joined with the other two
sides of its triangles in the rows. So each triangle is found at its lowest sides, when all that is
joined above is one tree for each set: a set is found by its root, and paths to roots are halved on
the way, as in any union-find. Where a tree hangs on another at first is what the forest tells.

The larger row of an edge is that of its lower rank, as a rule. It is marked, once for all edges of
the level that have it, and the other row is walked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rapids_tc._parallel import run_together, thread_count, threads_for
from rapids_tc.engines.cpu import in_edges
from rapids_tc.engines.cpu.clique_rows import TABLE
from rapids_tc.engines.cpu.compiled import compiled
from rapids_tc.engines.cpu.parallel import LINE, atomic_add, load, swap_if, wait_for_all
from rapids_tc.preparation.community_tree import words_of

if TYPE_CHECKING:
    from rapids_tc.engines.protocol import ProgressCallback
    from rapids_tc.preparation.csr import Array, Csr

_DRAWN = 64  # edges that a thread draws at once, at most
_PARTS = 64  # parts of the levels, after which one thread alone shows progress, and Ctrl-C comes in
_HALF, _LOW_HALF = np.uint64(32), np.uint64(2**32 - 1)


class Rows(NamedTuple):
    """The edges of all levels so far: the ends of edges, and the rows of vertices.

    Attributes
    ----------
    rows, columns : array of uint32, shape (m,)
        The larger and the smaller rank of each edge.
    begins : array of int64, shape (n,)
        Where the row of each vertex begins.
    sizes : array of uint32, shape (n,)
        How many entries it has.
    entries : array of uint64, shape (2 m,)
        Edge << 32 | neighbor, in any order.
    """

    rows: Array
    columns: Array
    begins: Array
    sizes: Array
    entries: Array


class Forest(NamedTuple):
    """Sets of edges, uint32: where each edge was hung first, the way to its root, and its level."""

    parents: Array
    up: Array
    levels: Array


def join_levels(csr: Csr, levels: Array, *, on_progress: ProgressCallback | None = None) -> Array:
    """Join the sides of triangles, level by level; return the word of every edge: uint64, m."""
    in_offsets, _, positions = in_edges.csc(csr)
    order, bounds = _by_level(levels, positions)
    begins = csr.offsets[:-1] + in_offsets[:-1]  # both are of the entries of all vertices before
    del positions, in_offsets
    entries = np.empty(2 * csr.m, np.uint64)
    rows = Rows(csr.rows, csr.columns, begins, np.zeros(csr.n, np.uint32), entries)
    every = np.arange(csr.m, dtype=np.uint32)
    forest = Forest(every, every.copy(), levels)
    # Tables of marks take no more than those of a count.
    threads = threads_for(csr.m, max(1, thread_count() * TABLE // max(csr.n, 1)))
    marks = np.zeros((threads, csr.n), np.uint32)
    tickets, barrier = np.zeros(len(bounds), np.int64), np.zeros(3 * LINE, np.int64)
    done = np.zeros(1, np.int64)

    def run(first: int, last: int, thread: int) -> int:
        sync = (tickets, barrier, done, thread, threads)
        return int(_join_levels(rows, forest, order, bounds, first, last, marks[thread], *sync))

    def report() -> None:
        if on_progress is not None:
            on_progress(done[0] / max(len(order), 1))

    def stop() -> None:
        barrier[2 * LINE] = 1

    if threads > 1:
        run_together(lambda thread: run(0, len(bounds) - 1, thread), threads, stop, report)
    else:
        for part in np.array_split(np.arange(len(bounds) - 1), _PARTS):
            if len(part):
                run(part[0], part[-1] + 1, 0)
                report()
    return words_of(forest.parents, levels, np)


def _by_level(levels: Array, positions: Array) -> tuple[Array, Array]:
    """Order the edges by level, the highest first, in each level by column; and where each begins.

    `positions` are all edges by column. Edges of level 0 are left out.
    """
    top = int(levels.max()) if len(levels) else 0
    below = top - levels[positions]
    if top < 1 << 16:
        below = below.astype(np.uint16)  # which NumPy sorts by digits
    order = positions[np.argsort(below, kind="stable")]
    ends = np.cumsum(np.bincount(below, minlength=top + 1)[:top])
    return order[: ends[-1] if top else 0], np.append(0, ends)


@compiled
def _join_levels(
    rows: Any, forest: Any, order: Array, bounds: Array, first: int, last: int, marks: Array,
    tickets: Array, barrier: Array, done: Array, thread: int, threads: int,
) -> bool:  # fmt: skip
    """Add and join levels `first` to `last` - 1, together with other threads; False if stopped."""
    for level in range(first, last):
        begin, end = bounds[level], bounds[level + 1]
        size = end - begin
        if size == 0:
            continue
        own = order[begin + size * thread // threads : begin + size * (thread + 1) // threads]
        _add_edges(rows, own)
        if threads > 1 and not wait_for_all(barrier, threads):
            return False
        drawn = max(1, min(size // (8 * threads), _DRAWN))
        _join_edges(rows, forest, order[begin:end], tickets, level, drawn, marks)
        if threads > 1 and not wait_for_all(barrier, threads):
            return False
        if thread == 0:
            done[0] = end
    return True


@compiled
def _add_edges(rows: Any, edges: Array) -> None:
    """Add edges to the rows of both ends."""
    begins, sizes, entries = rows.begins, rows.sizes, rows.entries
    of_rows, of_columns = rows.rows, rows.columns
    for e in edges:
        u, v = np.int64(of_rows[e]), np.int64(of_columns[e])
        for end, other in ((u, v), (v, u)):
            place = begins[end] + np.int64(atomic_add(sizes, end, np.uint32(1)))
            entries[place] = np.uint64(e) << _HALF | np.uint64(other)


@compiled
def _join_edges(
    rows: Any, forest: Any, edges: Array, tickets: Array, level: int, drawn: int, marks: Array
) -> None:
    """Draw edges of a level, and join each with the other sides of its triangles."""
    # Not by name within loops, where Numba would count references to the arrays.
    begins, sizes, entries = rows.begins, rows.sizes, rows.entries
    of_rows, of_columns = rows.rows, rows.columns
    up, parents, levels = forest.up, forest.parents, forest.levels
    marked = np.int64(-1)
    while True:
        first = atomic_add(tickets, level, drawn)
        if first >= len(edges):
            break
        for place in range(first, min(first + drawn, len(edges))):
            e = np.int64(edges[place])
            u, v = np.int64(of_rows[e]), np.int64(of_columns[e])
            if v != marked:
                _unmark(begins, sizes, entries, marked, marks)
                for p in range(begins[v], begins[v] + np.int64(sizes[v])):
                    entry = entries[p]
                    marks[np.int64(entry & _LOW_HALF)] = (entry >> _HALF) + np.uint64(1)
                marked = v
            root = _root(up, e)
            for p in range(begins[u], begins[u] + np.int64(sizes[u])):
                entry = entries[p]
                mark = np.int64(marks[np.int64(entry & _LOW_HALF)])
                if mark:
                    side = np.int64(entry >> _HALF)
                    if np.int64(load(up, side)) != root:
                        root = _join(up, parents, levels, root, side)
                    if np.int64(load(up, mark - 1)) != root:
                        root = _join(up, parents, levels, root, mark - 1)
    _unmark(begins, sizes, entries, marked, marks)


@compiled
def _unmark(begins: Array, sizes: Array, entries: Array, v: Any, marks: Array) -> None:
    """Write zeros at the neighbors of v; v is -1 if none is marked."""
    if v >= 0:
        for p in range(begins[v], begins[v] + np.int64(sizes[v])):
            marks[np.int64(entries[p] & _LOW_HALF)] = 0


@compiled
def _join(up: Array, parents: Array, levels: Array, x: Any, y: Any) -> Any:
    """Join the sets of x, which was a root, and of y; return a root, or what was one.

    The root of a set has the lowest level, and the smallest number of these.
    """
    y = _root(up, y)
    while x != y:
        if levels[x] > levels[y] or (levels[x] == levels[y] and x > y):
            x, y = y, x
        if swap_if(up, y, np.uint32(y), np.uint32(x)) == y:
            parents[y] = np.uint32(x)
            return x
        x, y = _root(up, x), _root(up, y)
    return x


@compiled
def _root(up: Array, x: Any) -> Any:
    """Return the root of x, and halve the way to it."""
    while True:
        above = np.int64(load(up, x))
        if above == x:
            return x
        further = np.int64(load(up, above))
        if further == above:
            return above
        up[x] = np.uint32(further)
        x = further
