"""The ids of vertices that a graph did not have, beside those that it has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rapids_tc.engines.neighbor_rows import NO_VERTEX
from rapids_tc.preparation.id_columns import NUMERIC, IdColumn, integers
from rapids_tc.preparation.ids import DensePart
from rapids_tc.preparation.named_ids import find_named
from rapids_tc.preparation.numbering import by_value, comparison_dtype
from rapids_tc.preparation.triangles import edge_keys

if TYPE_CHECKING:
    from collections.abc import Callable

    from rapids_tc._typing import Array, Series
    from rapids_tc.frames.backend import Backend
    from rapids_tc.preparation.ids import IndexedPart, Part


class NewIds:
    """The ids of all vertices of a tally: those of its graph by rank, and new ones after them.

    Parameters
    ----------
    ids : DensePart or IndexedPart
        The ids of the graph.
    rank, number : array of uint32
        The rank of every number of the graph, and the other way round.
    rank_finder : callable or None
        What the engine's `rank_finder` returns for the ids.
    values : Series, optional
        The new ids, in the order in which they came.
    """

    def __init__(
        self,
        ids: Part,
        rank: Array,
        number: Array,
        rank_finder: Callable[[Array], Array] | None,
        values: Series | None = None,
    ) -> None:
        self._ids, self._rank, self._number, self._values = ids, rank, number, values
        self._backend, self._rank_finder = ids.backend, rank_finder
        if values is not None:
            column = IdColumn(values, "insert=", ids.kind)
            [self._place], self._index = by_value([column], _dtype(column, ids), ids.backend)
            xp = ids.backend.xp
            self._arrival = xp.empty(len(values), "int64")
            self._arrival[self._place] = xp.arange(len(values))
            before = _numbers_before(ids, self._index)[self._place].astype("uint64")
            self._keys = (before << 32) + self._place + xp.uint64(1)

    def __len__(self) -> int:
        return 0 if self._values is None else len(self._values)

    def find(self, column: IdColumn) -> Array:
        """Return the vertices (uint32) of the ids in a checked column; `NO_VERTEX` if not known."""
        xp, vertices = self._backend.xp, self._ranks(column)
        if self._values is None:
            return vertices
        unknown = xp.flatnonzero(vertices == NO_VERTEX)
        if len(unknown):
            values = _plain(column, self._backend).take(unknown)
            places = self._index.find(values, column.name)
            arrival = self._arrival[xp.maximum(places, 0)] + self._ids.size
            vertices[unknown] = xp.where(places >= 0, arrival, NO_VERTEX)
        return vertices

    def _ranks(self, column: IdColumn) -> Array:
        """Return the ranks (uint32) of the ids that the graph has, and `NO_VERTEX` of others."""
        xp = self._backend.xp
        if self._rank_finder is not None and column.kind in NUMERIC:
            words = integers(column.values, column.name, self._backend)
            return self._rank_finder(words.astype("uint64", copy=False))
        numbers = find_named(self._ids, column, _plain(column, self._backend))
        known = numbers >= 0
        return xp.where(known, self._rank[numbers * known], xp.uint32(NO_VERTEX))

    def with_all(self, columns: list[IdColumn], vertices: list[Array]) -> NewIds:
        """Return the ids with those of some columns added; `find` gave `vertices` for these."""
        xp, library = self._backend.xp, self._backend.library
        unknown = [
            _plain(column, self._backend).take(xp.flatnonzero(of_column == NO_VERTEX))
            for column, of_column in zip(columns, vertices, strict=True)
        ]
        if not any(map(len, unknown)):
            return self
        values = library.concat(unknown).astype(self._ids.dtype)
        values = values.drop_duplicates().reset_index(drop=True)
        if self._values is not None:
            values = library.concat([self._values, values]).reset_index(drop=True)
        return NewIds(self._ids, self._rank, self._number, self._rank_finder, values)

    # Answers -------------------------------------------------------------------------------------

    def take(self, vertices: Array) -> Series:
        """Return the ids of some vertices."""
        xp, size = self._backend.xp, self._ids.size
        if self._values is None:
            return self._ids.take(self._number[vertices])
        is_new = vertices >= size
        old, new = xp.flatnonzero(~is_new), xp.flatnonzero(is_new)
        ids = [self._ids.take(self._number[vertices[old]])]
        ids.append(self._index.take(self._place[vertices[new] - xp.uint32(size)]))
        place = xp.empty(len(vertices), "int64")
        place[xp.concatenate([old, new])] = xp.arange(len(vertices))
        joined = self._backend.library.concat(ids).reset_index(drop=True)
        return joined.take(place).reset_index(drop=True)

    def by_value(self, vertices: Array) -> Array:
        """Return the order of some vertices by their ids."""
        return self._backend.xp.argsort(self._order_keys(vertices))

    def edges(self, u: Array, v: Array) -> tuple[dict[str, Series], Array]:
        """Return two sorted columns of the ids of edges, the smaller id first, and the order."""
        xp = self._backend.xp
        take: Callable[[Array], Series] = self._ids.take
        if self._values is None:
            ends = self._number[u], self._number[v]
        else:
            both = xp.concatenate([u, v])
            distinct, place = xp.unique(self._order_keys(both), return_inverse=True)
            vertex = xp.empty(len(distinct), "uint32")
            vertex[place] = both
            ends = place.astype("uint32").reshape(2, -1)
            take = lambda places: self.take(vertex[places])  # noqa: E731
        keys = edge_keys(*ends, xp)
        order = xp.argsort(keys)
        src, dst = (keys[order] >> 32).astype("uint32"), keys[order].astype("uint32")
        return {"src": take(src), "dst": take(dst)}, order

    def _order_keys(self, vertices: Array) -> Array:
        """Return keys (uint64) in the order of the ids."""
        xp, size = self._backend.xp, self._ids.size
        if self._values is None:
            return self._number[vertices]
        is_new = vertices >= size
        keys = (self._number[xp.where(is_new, 0, vertices)].astype("uint64") + xp.uint64(1)) << 32
        keys[is_new] = self._keys[vertices[is_new] - xp.uint32(size)]
        return keys


def _plain(column: IdColumn, backend: Backend) -> Series:
    """Return the ids of a column, whole floats as integers."""
    if column.kind in NUMERIC:
        return backend.library.Series(integers(column.values, column.name, backend))
    return column.values


def _dtype(column: IdColumn, ids: Part) -> Any:
    if ids.kind in NUMERIC:
        return integers(column.distinct, column.name, ids.backend).dtype
    return comparison_dtype(column)


def _numbers_before(ids: Part, new: IndexedPart) -> Array:
    """Return how many ids of a graph are less than each new id, which the graph does not have."""
    xp = ids.backend.xp
    if isinstance(ids, DensePart):
        values = ids.backend.array(new.index)
        return xp.where(values < values.dtype.type(ids.base), 0, ids.size)
    return xp.asarray(ids.index.searchsorted(new.index))
