"""Columns of pairs of vertices, which need not be edges, on a graph in memory."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.blocks import geometry
from rapids_tc.blocks.third_sums import ThirdValues, third_values
from rapids_tc.frames.backend import as_uint32, open_frame
from rapids_tc.graphs.in_memory import InMemoryGraph
from rapids_tc.preparation import named_ids
from rapids_tc.preparation.csr import Csr, pack_keys
from rapids_tc.preparation.edge_columns import id_columns

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from rapids_tc._typing import Frame, Series
    from rapids_tc.blocks.geometry import Block
    from rapids_tc.engines.quantity import Quantity
    from rapids_tc.frames.backend import Array, Backend
    from rapids_tc.graphs.edge_graph import EdgeGraph
    from rapids_tc.graphs.out_of_core import OutOfCoreGraph
    from rapids_tc.plan.record import Column

BATCH = 1 << 22  # pairs that are worked on at a time
SINGLE_COLUMNS = (
    "pairs= names each end by one column, and takes neither by= nor ids of several columns: "
    "combine the columns of an id into one first"
)
WITHOUT_SIDES = (
    "pairs= names each end by its id, and in a bipartite Graph an id of each side may be the same: "
    "project() lists the pairs of one side that have neighbors in common"
)


def pair_column(
    graph: EdgeGraph, name: str, column: Column, pairs: Any, source: Any,
    destination: Any,
) -> Series:  # fmt: skip
    """Compute a column aligned with the rows of `pairs`, in their library; loops get 0.

    Raises
    ------
    TypeError
        `pairs` is no frame of one machine.
    ValueError
        An id is of no vertex of the graph, or the graph has ids of several parts.
    ColumnNotFoundError, IdTypeError, NullIdError
        See `rapids_tc.Graph`, of the columns of `pairs`.
    """
    if len(graph.ids.parts) > 1:
        raise ValueError(SINGLE_COLUMNS)
    if graph.ids.bipartite:
        raise ValueError(WITHOUT_SIDES)
    frame, opened = open_pairs(pairs)
    backend, xp = graph.backend, graph.backend.xp
    labels = id_columns(opened.adapter.labels(frame), source, destination)
    ends = [backend.to_working_series(opened.adapter.column(frame, label)) for label in labels]
    numbers = named_ids.numbers_of_ends(graph.ids, ends, labels)
    unknown = named_ids.unknown_rows(numbers, graph.order.present, backend)
    named_ids.require_ends(len(unknown), named_ids.shown_pairs(ends, unknown))
    _ = graph.n_edges  # reports its own stages
    with graph.stage("comparing pairs"):
        kind = _Whole if isinstance(graph, InMemoryGraph) else _Stored
        result, whole = xp.zeros(len(numbers[0]), column.dtype), kind(graph)
        for first in range(0, len(result), BATCH):
            part = slice(first, first + BATCH)
            u, v = (graph.order.rank[number[part]] for number in numbers)
            with np.errstate(invalid="ignore"):  # 0 / 0 for pairs of isolated vertices
                values = column.formula(PairValues(whole, u, v))
            values[(u == v) | xp.isnan(values)] = 0
            result[part] = values
    return opened.adapter.column_like(frame, result, name)


def open_pairs(pairs: Any) -> tuple[Frame, Backend]:
    """Open a frame of pairs; TypeError if it is none of this process."""
    try:
        return open_frame(pairs, None, once=True)
    except TypeError as error:
        raise TypeError(
            f"pairs= is a {type(pairs).__name__}; give a frame of one machine with two columns of "
            "ids, such as src and dst"
        ) from error


@dataclass(frozen=True)
class _Rows:
    """What all batches of pairs read of a graph."""

    graph: Any

    @cached_property
    def values(self) -> dict[str, ThirdValues]:
        """The values that are summed, by the name of their formula."""
        return {}

    def sums(self, u: Array, v: Array, name: str | None) -> Array:
        """Count the common neighbors of pairs, or sum a value of them."""
        if name is None:
            return self.common(u, v, self.graph.backend.xp.zeros(0, "int64"))
        if name not in self.values:
            self.values[name] = third_values(name, self.graph.degrees, self.graph.backend)
        values = self.values[name]
        return values.as_floats(self.common(u, v, values.by_rank))

    def common(self, u: Array, v: Array, values: Array) -> Array:
        """Return the `common_sums` of an engine."""
        raise NotImplementedError


@dataclass(frozen=True)
class _Whole(_Rows):
    """What all batches of pairs read of a graph in memory."""

    def common(self, u: Array, v: Array, values: Array) -> Array:
        """See `_Rows`."""
        return self.graph.engine.common_sums(self.graph.neighbors, u, v, values)


@dataclass(frozen=True)
class _Stored(_Rows):
    """What all batches of pairs read of a graph out of core: the rows of as many ends as fit."""

    def common(self, u: Array, v: Array, values: Array) -> Array:
        """See `_Rows`; all blocks are read for each part of the pairs."""
        graph: OutOfCoreGraph = self.graph
        xp, vertices = graph.backend.xp, graph.n_vertices
        sums = xp.zeros(len(u), "int64")
        most = graph.blocks.allowed // (2 * ENTRY)
        for part in parts_of(u, v, graph.degrees, most, xp):
            chosen = xp.zeros(vertices, bool)
            chosen[u[part]] = chosen[v[part]] = True
            keys = [keys_of(block, graph.n, at, chosen, xp) for at, block in graph.blocks]
            rows = rows_of(keys, vertices, xp)
            sums[part] = graph.engine.common_sums(rows, u[part], v[part], values)
        return sums


class ValuesOfPairs:
    """What formulas of `rapids_tc.plan.record.EdgeValues` may ask about any pairs of vertices."""

    triangles: Any

    @property
    def counts(self) -> Array:
        """The common neighbors of every pair, int64."""
        values: Array = self.triangles
        return values

    @property
    def trussness(self) -> Array:
        """Raise: a pair that is no edge has none."""
        raise NotImplementedError("trussness is of edges alone")

    @property
    def community(self) -> Array:
        """Raise: a pair that is no edge has none."""
        raise NotImplementedError("communities are of edges alone")

    @property
    def squares(self) -> Array:
        """Raise: a pair that is no edge has none."""
        raise NotImplementedError("squares are of edges alone")

    @property
    def bitruss(self) -> Array:
        """Raise: a pair that is no edge has none."""
        raise NotImplementedError("bitruss numbers are of edges alone")


@dataclass(frozen=True)
class PairValues(ValuesOfPairs):
    """What formulas may ask about some pairs of ranks: see `rapids_tc.plan.record.EdgeValues`."""

    whole: _Rows
    u: Array
    v: Array

    @property
    def xp(self) -> Any:
        """NumPy or CuPy."""
        return self.whole.graph.backend.xp

    @cached_property
    def triangles(self) -> Array:
        """The common neighbors of every pair, int64: the triangles of an edge."""
        return self.whole.sums(self.u, self.v, None)

    @cached_property
    def degrees(self) -> tuple[Array, Array]:
        """The degrees of both ends of every pair, int64: 0 for an isolated vertex."""
        degrees = self.whole.graph.degrees
        return degrees[self.u], degrees[self.v]

    def visited(self, quantity: Quantity) -> Array:
        """Sum a value of the common neighbors of every pair, float64."""
        return self.whole.sums(self.u, self.v, quantity.name)


# Rows of all neighbors ----------------------------------------------------------------------------


ENTRY = 32  # bytes of a neighbor in a row while rows are made: two keys, and a sort


def keys_of(block: Csr, n: int, at: Block, chosen: Array, xp: ModuleType) -> Array:
    """Return a key, vertex << 32 | neighbor, for each chosen end of the edges of a block.

    `chosen` is bool, by rank.
    """
    ends = [as_uint32(end) for end in geometry.block_ends(block, n, at)]
    keys = []
    for vertex, neighbor in (ends, ends[::-1]):
        inside = chosen[vertex]
        keys.append(pack_keys(vertex[inside], neighbor[inside], xp))
    return xp.concatenate(keys)


def rows_of(keys: list[Array], vertices: int, xp: ModuleType) -> Csr:
    """Make rows of the keys of all blocks, ascending; the rows of other vertices are empty."""
    together = xp.concatenate(keys)
    keys.clear()
    together.sort()
    offsets = xp.zeros(vertices + 1, "int64")
    lengths = xp.bincount((together >> 32).astype("int64"), minlength=vertices)
    xp.cumsum(lengths, out=offsets[1:])
    return Csr(offsets, together.astype("uint32"))


def parts_of(u: Array, v: Array, degrees: Array, most: int, xp: ModuleType) -> Iterator[slice]:
    """Cut pairs of ranks into parts the rows of whose ends have at most so many entries.

    A part of one pair may have more.
    """
    parts = [slice(0, len(u))]
    while parts:
        part = parts.pop()
        size = part.stop - part.start
        ends = xp.unique(xp.concatenate([u[part], v[part]]))
        if size > 1 and int(degrees[ends].sum()) > most:
            middle = part.start + size // 2
            parts += [slice(middle, part.stop), slice(part.start, middle)]
        elif size:
            yield part
