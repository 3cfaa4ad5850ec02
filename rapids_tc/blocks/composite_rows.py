"""Read the rows of a frame, whose ids are made of several columns, as numbers, some at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rapids_tc.blocks.rows import Pair, Rows
from rapids_tc.plan import costs
from rapids_tc.preparation import composite_scheme
from rapids_tc.preparation.distinct import DistinctIds, distinct_composites
from rapids_tc.preparation.numbering import ColumnIds, DenseIds

if TYPE_CHECKING:
    from collections.abc import Callable

    from rapids_tc.frames.backend import Backend, Frame, Series
    from rapids_tc.preparation.composite import CompositeIds
    from rapids_tc.preparation.edge_columns import EdgeColumns
    from rapids_tc.preparation.id_columns import IdColumn


class CompositeRows(Rows):
    """The columns of composite ids, which are read and numbered chunk by chunk.

    The distinct values of each part are collected, then the distinct keys; then each chunk is
    numbered once, and its numbers are kept on a block store. See `Rows`.
    """

    def __init__(self, frame: Frame, columns: EdgeColumns, backend: Backend, memory: int) -> None:
        self._backend, self._edge_columns = backend, columns
        self._columns = tuple(backend.adapter.column(frame, c) for c in columns.labels_by_part)
        self.size = backend.adapter.rows(frame)
        self._memory = max(memory * 2 // len(self._columns), 1)  # as if all were two columns
        self._stored, self.dense, self._whole = [], None, []
        chunks = (
            composite_scheme.inspect_columns(chunk, columns, backend)
            for chunk in self._slices(costs.ROW_PROFILE)
        )
        profiled = composite_scheme.profile(chunks, columns, backend)
        self._composite = composite_scheme.resolve([profiled], columns)

    def distinct_ids(self) -> DistinctIds:
        """Estimate the number of distinct ids, chunk by chunk."""
        chunks = (self._look(chunk) for chunk in self._pairs(costs.ROW_WORK))
        return distinct_composites(chunks, self._edge_columns.widths, self._backend)

    def number(self, store: Any, check: Callable[[int], None] | None = None) -> CompositeIds:
        """Assign numbers to the ids; return the way back. `check` receives the texts so far."""
        self._store = store
        ids = composite_scheme.make_ids(self._composite, self._distinct(check), self._backend)
        ids = replace(ids, parts=tuple(map(_without_table, ids.parts)))
        while (digits := ids.radix.overflow()) is not None:
            ids = composite_scheme.with_keys(ids, self._distinct_keys(ids, digits), digits)
        self._of_keys = composite_scheme.with_keys(ids, self._distinct_keys(ids, None), None)
        self._keep()
        return self._of_keys

    def _distinct(self, check: Callable[[int], None] | None) -> list[Any]:
        """Collect the distinct values of each part from all chunks."""
        distinct: list[list[Any]] = []
        text = [part.kind == "string" for part in self._composite.parts]
        for chunk in self._pairs(costs.ROW_WORK):
            of_chunk = composite_scheme.distinct(self._look(chunk), self._composite, self._backend)
            distinct = [composite_scheme.union([*distinct, of_chunk])]
            if check is not None:
                check(sum(len(i) for i, is_text in zip(distinct[0], text, strict=True) if is_text))
        return distinct[0]

    def _distinct_keys(self, ids: CompositeIds, digits: int | None) -> Any:
        ends = (
            pair
            for chunk in self._pairs(costs.ROW_WORK)
            for pair in composite_scheme.keys(self._look(chunk), ids, self._composite, digits)
        )
        return composite_scheme.distinct_keys(ends, self._backend.xp)

    def _numbers(self, pair: tuple[Series, ...]) -> Pair:
        [ends] = composite_scheme.keys(self._look(pair), self._of_keys, self._composite)
        source, destination = composite_scheme.numbers(self._of_keys, ends)
        return source, destination

    def _look(self, pair: tuple[Series, ...]) -> list[IdColumn]:
        inspected = composite_scheme.inspect_columns(pair, self._edge_columns, self._backend)
        return [column for column, _ in inspected]

    @property
    def _is_cast(self) -> bool:
        return True


def _without_table(part: ColumnIds) -> ColumnIds:
    """Copy ids without the table that they were found by, which is larger than they are."""
    if isinstance(part, DenseIds):
        return part
    return replace(part, index=part.index.copy(deep=True))
