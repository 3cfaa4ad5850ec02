"""Frames of triangles by type: of the whole graph, and of its vertices or edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.analytics.listing import Listing, memory_for
from rapids_tc.errors import CapacityError
from rapids_tc.plan import costs
from rapids_tc.preparation.composite import answer_columns
from rapids_tc.preparation.edge_values import Directions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rapids_tc.frames.backend import Array, Backend, Frame, Series
    from rapids_tc.graphs.in_memory import InMemoryGraph
    from rapids_tc.graphs.protocol import EdgeArrays, VertexStatistics
    from rapids_tc.preparation.edge_values import Reading

BATCH = 1 << 22  # triangles that are listed at a time
BITS = 8  # of a type in a key


def frame(graph: VertexStatistics, counts: Any, reading: Reading) -> Frame:
    """Return the combinations that occur, from the counts by the types of sides uv, uw and vw."""
    backend = graph.backend
    totals: dict[tuple[int, ...], int] = {}
    for place in zip(*np.nonzero(counts), strict=True):
        key = tuple(sorted(map(int, place)))
        totals[key] = totals.get(key, 0) + int(counts[place])
    keys = sorted(totals)
    codes = np.array(keys, "int64").reshape(len(keys), 3)
    by_place = [backend.xp.asarray(codes[:, i]) for i in range(3)]
    columns = _type_columns(backend, by_place, reading.types)
    columns["triangles"] = np.array([totals[key] for key in keys], "int64")
    return _in_users_library(graph, columns, reading)


def _in_users_library(graph: VertexStatistics, columns: dict[Any, Any], reading: Reading) -> Frame:
    """Return a frame of the user's library, in which types have the dtype of their column."""
    label = reading.label
    sources = {} if label is None else {f"type_{place}": (label,) for place in (1, 2, 3)}
    answer = graph.backend.library.DataFrame(columns)
    return graph.adapter_of(sources).frame(answer)


@dataclass(frozen=True)
class Tally:
    """How many triangles there are of each combination of types, for each owner that has any.

    Attributes
    ----------
    owner : array of int64
        A group, the rank of a vertex, or the position of an edge; ascending.
    codes : list of three arrays of int64
        The types; ascending in each row, or those of uv, uw and vw.
    counts : array of int64
    reading : Reading
        What was read, which knows the types that codes stand for.
    """

    owner: Array
    codes: list[Array]
    counts: Array
    reading: Reading


def tally(graph: InMemoryGraph, reading: Reading, what: str, limit: int | None = None) -> Tally:
    """Count the triangles of each "group", "vertex" or "edge" by type, by listing all triangles.

    Only states of edges keep the order of the sides uv, uw and vw.

    Raises
    ------
    CapacityError
        The answer has more rows than a frame, or takes more than memory.
    """
    values, xp = graph.edge_values(reading), graph.backend.xp
    listing, keys, counts = Listing(graph), xp.zeros(0, "uint64"), xp.zeros(0, "int64")
    memory = memory_for(graph, limit)
    for first in range(0, listing.total, BATCH):
        with graph.stage("listing"):
            ranks = listing.ranks(first, min(first + BATCH, listing.total))
            for owners, combination in _owned(graph, values, ranks, what):
                new = (owners.astype("uint64") << (3 * BITS)) | combination
                keys, counts = _add(keys, counts, new, xp)
        _require(len(keys), memory)
    codes = [(keys >> (BITS * i) & 255).astype("int64") for i in (2, 1, 0)]
    return Tally((keys >> (3 * BITS)).astype("int64"), codes, counts, values.reading)


def per(graph: InMemoryGraph, reading: Reading, what: str, limit: int | None) -> Frame:
    """Return the combinations of every vertex, or of every edge; see `tally`."""
    tallied, backend = tally(graph, reading, what, limit), graph.backend
    with graph.stage("sorting the answer"):
        ends = _owner_numbers(graph, tallied.owner, what)
        order = backend.xp.lexsort(backend.xp.stack([*tallied.codes[::-1], *ends[::-1]]))
        names = ("vertex",) if what == "vertex" else ("src", "dst")
        ordered_ends = (end[order] for end in ends)
        ids = answer_columns(graph.ids, dict(zip(names, ordered_ends, strict=True)))
        types = _type_columns(
            backend, [codes[order] for codes in tallied.codes], tallied.reading.types
        )
        columns = {**ids, **types, "triangles": tallied.counts[order]}
        return _in_users_library(graph, columns, tallied.reading)


def by_group(graph: Any, reading: Reading, limit: int | None) -> Frame:
    """Return the combinations that occur in each group."""
    tallied, backend = tally(graph, reading, "group", limit), graph.backend
    types = _type_columns(backend, tallied.codes, tallied.reading.types)
    columns = {**graph.groups.group_columns(tallied.owner), **types, "triangles": tallied.counts}
    return _in_users_library(graph, columns, tallied.reading)


def sum_by_group(graph: Any, tallied: Tally, kind: Array, kinds: int) -> Array:
    """Sum the counts of a tally by group, and by the kind of each of its rows.

    The sums are int64, shape (groups, kinds).
    """
    backend, groups = graph.backend, len(graph.groups.starts)
    place = backend.host(tallied.owner) * kinds + backend.host(kind)
    counts = np.zeros(groups * kinds, "int64")
    np.add.at(counts, place, backend.host(tallied.counts))
    return counts.reshape(groups, kinds)


def _type_columns(backend: Backend, codes: list[Array], types: Series) -> dict[str, Any]:
    return {
        f"type_{place}": types.take(codes_of).reset_index(drop=True)
        for place, codes_of in enumerate(codes, 1)
    }


def _owned(
    graph: Any, values: EdgeArrays, ranks: Array, what: str
) -> Iterator[tuple[Array, Array]]:
    """Yield the ranks of corners, or the edges, of triangles, and the triangles' combinations."""
    u, v, w = ranks
    engine, csr, xp = graph.engine, graph.csr, graph.backend.xp
    sides = [engine.find_edges(csr, *pair) for pair in ((u, v), (u, w), (v, w))]
    if values.reading.vertex_types is None:
        a, b, c = (values.arrays[0][side].astype("uint64") for side in sides)
    else:
        a, b, c = (values.reading.vertex_types.codes[corner].astype("uint64") for corner in ranks)
    if what == "group":
        owners = [graph.groups.group_of[graph.order.number[u]]]
    else:
        owners = list(ranks) if what == "vertex" else sides
    if isinstance(values.reading.rule, Directions):
        yield owners[0], (a << (2 * BITS)) | (b << BITS) | c
        return
    low, high = xp.minimum(xp.minimum(a, b), c), xp.maximum(xp.maximum(a, b), c)
    combination = (low << (2 * BITS)) | ((a ^ b ^ c ^ low ^ high) << BITS) | high
    for owner in owners:
        yield owner, combination


def _add(keys: Array, counts: Array, new: Array, xp: Any) -> tuple[Array, Array]:
    """Add one to the count of each new key; keys ascend."""
    new, numbers = xp.unique(new, return_counts=True)
    joined, place = xp.unique(xp.concatenate([keys, new]), return_inverse=True)
    added = xp.zeros(len(joined), "int64")
    added[place[: len(keys)]] = counts
    added[place[len(keys) :]] += numbers
    return joined, added


def _owner_numbers(graph: InMemoryGraph, owner: Array, what: str) -> list[Array]:
    """Return the numbers of vertices, or of both ends of edges, the smaller first."""
    number, xp = graph.order.number, graph.backend.xp
    if what == "vertex":
        return [number[owner]]
    u, v = number[graph.csr.rows[owner]], number[graph.csr.columns[owner]]
    return [xp.minimum(u, v), xp.maximum(u, v)]


def _require(rows: int, memory: int) -> None:
    """Raise CapacityError if an answer of so many rows is more than can be tallied."""
    need = costs.LISTED * rows
    if rows > costs.MOST_ROWS or need > memory:
        raise CapacityError(
            f"triangles_by_type has {rows:,} rows or more, which take about {need:,} bytes; a "
            f"frame may have {costs.MOST_ROWS:,} rows and take {memory:,} bytes: without per= it "
            "is one row per combination"
        )
