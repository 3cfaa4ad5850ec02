"""Read the rows of a frame as numbers, some at a time."""

from __future__ import annotations

from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.frames.adapters import root
from rapids_tc.frames.backend import Backend, Frame, Series, as_uint32
from rapids_tc.frames.chunks import ColumnChunks
from rapids_tc.frames.scans import RowSource
from rapids_tc.plan import costs
from rapids_tc.preparation import id_scheme
from rapids_tc.preparation.distinct import DistinctIds, distinct_ids
from rapids_tc.preparation.given import column_of
from rapids_tc.preparation.numbering import InspectedColumns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rapids_tc.frames.chunks import Cut
    from rapids_tc.preparation.edge_columns import EdgeColumns
    from rapids_tc.preparation.id_columns import IdColumn
    from rapids_tc.preparation.ids import Ids

LEAST = 1024  # rows of a chunk, however little memory there is

Pair = tuple[Any, Any]


class Rows:
    """The id columns of a frame, which are read and numbered chunk by chunk.

    Integers in a dense range are their own numbers, and are read again each time. The distinct
    values of the parts of other ids are collected chunk by chunk, then the distinct keys of several
    parts; then each chunk is numbered once, and its numbers are kept on a block store. So are the
    numbers of rows that lie outside of memory, whose chunks are read in their order alone.

    Parameters
    ----------
    frame, columns, backend
        The user's frame, its id columns, and where work is done.
    memory : int
        Bytes that work on a chunk may take.

    Attributes
    ----------
    size : int
        How many rows there are.
    dense : tuple of int or None
        The first id and the length of the range, if integers are their own numbers.
    """

    def __init__(self, frame: Frame, columns: EdgeColumns, backend: Backend, memory: int) -> None:
        self._backend, self._edge_columns = backend, columns
        labels = columns.labels_by_part
        if isinstance(frame, RowSource):
            self._columns = backend.adapter.chunks(frame, labels)
        else:
            self._columns = ColumnChunks(tuple(column_of(frame, c, backend) for c in labels))
        self.size = backend.adapter.rows(frame)
        # As if all were two columns.
        self._memory = max(memory * 2 // len(labels), 1)
        self._stored: list[list[Any]] = []
        self._whole: list[IdColumn] = []
        seen = id_scheme.profile(self._profiled(), columns, backend)
        self._scheme = id_scheme.resolve_scheme([seen], columns)
        self.dense = self._scheme.dense

    def _profiled(self) -> Iterator[list[tuple[IdColumn, int]]]:
        """Yield the columns described, chunk by chunk; keep those of all rows in one chunk."""
        for chunk in self._slices(0 if self._width else costs.ROW_PROFILE):
            inspected = id_scheme.inspect_columns(chunk, self._edge_columns, self._backend)
            if len(chunk[0]) == self.size:
                self._whole = [column for column, _ in inspected]
            yield inspected

    @property
    def inspected(self) -> InspectedColumns | None:
        """The id columns with what is known of them, if they were looked at in one piece."""
        if not self._whole:
            return None
        return InspectedColumns(self._edge_columns.by_part(self._whole), self.dense)

    def distinct_ids(self) -> DistinctIds:
        """Estimate the number of distinct ids, chunk by chunk; dense ids are not read again."""
        if self.dense:
            return DistinctIds(self.dense[1])
        chunks = (self._look(chunk) for chunk in self._pairs(costs.ROW_WORK))
        return distinct_ids(chunks, self._edge_columns.widths, self._backend)

    def number(self, store: Any, check: Callable[[int], None] | None = None) -> Ids:
        """Assign numbers to the ids, and return these. `check` gets the distinct texts so far."""
        self._whole = []
        self._store = store
        found = [None] if self.dense else self._distinct(check)
        self._ids = id_scheme.make_ids(self._scheme, found, self._backend)
        if len(self._ids.parts) > 1:
            self._find_keys()
        if self._columns.outside or not self.dense:
            self._keep()
        if not self.dense:
            self._ids = self._ids.without_tables()
        return self._ids

    def _find_keys(self) -> None:
        """Find the keys of ids of several parts; if 64 bits are too few, fold some digits first."""
        digits: int | None = 0
        while digits is not None:
            digits = self._ids.radix.overflow()
            keys = id_scheme.distinct_keys(
                (
                    id_scheme.keys(self._look(chunk), self._ids, self._scheme, digits)
                    for chunk in self._pairs(costs.ROW_WORK)
                ),
                self._backend.xp,
            )
            self._ids = id_scheme.with_keys(self._ids, keys, digits)

    def _keep(self) -> None:
        """Store the numbers of every chunk, so that no more than one chunk is held in memory."""
        self._store.reserve(8 * self.size + 16 * (self.size // LEAST + 1))
        try:
            for pair in self._pairs(costs.ROW_WORK):
                self._stored.append([self._store.store(end) for end in self._numbers(pair)])
                self._store.synchronize()
        finally:
            self._store.synchronize()

    def cuts(self, work: int = costs.ROW_WORK) -> list[Cut]:
        """Cut all rows in chunks for so many bytes of work per row, one chunk at least."""
        work = costs.ROW_WORK if self._stored else work + costs.ROW_CAST * self._is_cast
        return self._cuts(work)

    def ends(self, first: int, last: int) -> Pair:
        """Read the numbers (uint32) of both ends of some rows."""
        if not self._stored:
            [columns] = self._columns.read([(first, last)])
            return self._numbers(tuple(map(self._backend.to_working_series, columns)))
        step, pieces = self._step(costs.ROW_WORK), []
        for start in range(first // step * step, max(last, 1), step):
            both = map(self._store.load, self._stored[start // step])
            pieces.append([end[max(first - start, 0) : last - start] for end in both])
        source, destination = (
            end[0] if len(end) == 1 else self._backend.xp.concatenate(end)
            for end in zip(*pieces, strict=True)
        )
        return source, destination

    def chunks(self, work: int = costs.ROW_WORK) -> Iterator[Pair]:
        """Yield the numbers of both ends of all rows, chunk by chunk: see `cuts`."""
        return (self.ends(*cut) for cut in self.cuts(work))

    def memory(self, work: int) -> int:
        """Return the bytes that reading chunks takes, for so many bytes of work per row."""
        return self._memory if work or self._is_cast or self._stored else 0

    @property
    def _is_cast(self) -> bool:
        """Whether reading ids takes memory: they are elsewhere, or are not their own numbers."""
        return not (self._width == 4 and self.dense and self.dense[0] == 0)

    @property
    def _width(self) -> int:
        """Bytes of an id, if all are plain integers, and where work is done; else 0.

        Two columns of different widths count as the widest integers.
        """
        columns = self._columns.columns
        dtypes = [column.dtype for column in columns]  # which cuDF cannot always hash
        here = all(root(column) == self._backend.library.__name__ for column in columns)
        plain = here and all(isinstance(dtype, np.dtype) and dtype.kind in "iu" for dtype in dtypes)
        widths = {dtype.itemsize for dtype in dtypes if plain}
        return 8 if len(widths) > 1 else max(widths, default=0)

    def _distinct(self, check: Callable[[int], None] | None) -> list[Any]:
        """Collect the distinct values of each part by chunk; join them whenever they double."""
        found: list[list[Any]] = []
        is_text = [part.kind == "string" for part in self._scheme.parts]
        for chunk in self._pairs(costs.ROW_WORK):
            found.append(id_scheme.distinct([self._look(chunk)], self._scheme, self._backend))
            if len(found) > 1 and sum(map(_length, found[1:])) >= _length(found[0]):
                found = [id_scheme.union(found)]
                self._store.synchronize()
            if check is not None:
                check(sum(map(len, compress(found[0], is_text))))
        return id_scheme.union(found)

    def _numbers(self, chunk: tuple[Series, ...]) -> Pair:
        source, destination = id_scheme.keys(self._look(chunk), self._ids, self._scheme)
        return as_uint32(self._ids.numbers(source)), as_uint32(self._ids.numbers(destination))

    def _look(self, chunk: tuple[Series, ...]) -> list[IdColumn]:
        inspected = id_scheme.inspect_columns(chunk, self._edge_columns, self._backend)
        return [column for column, _ in inspected]

    def _pairs(self, work: int) -> Iterator[tuple[Series, ...]]:
        """Yield the columns in the working library, chunk by chunk."""
        for columns in self._slices(work):
            yield tuple(map(self._backend.to_working_series, columns))

    def _slices(self, work: int) -> Iterator[tuple[Series, ...]]:
        return self._columns.read(self._cuts(work))

    def _cuts(self, work: int) -> list[Cut]:
        size = max(self.size, 1)  # a chunk without rows has dtypes, too
        step = self._step(work) if work else size
        return [(first, min(first + step, size)) for first in range(0, size, step)]

    def _step(self, work: int) -> int:
        """Return the rows of a chunk, for so many bytes of work per row."""
        return max(LEAST, self._memory // (work + costs.ROW_CAST * self._columns.outside))


def _length(distinct: list[Any]) -> int:
    """Return how many values there are of all parts that are not dense."""
    return sum(len(index) for index in distinct if index is not None)
