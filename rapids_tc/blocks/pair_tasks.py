"""The tasks of a cluster's workers that compare pairs of vertices, which need not be edges."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.blocks import codec, neighbor_rows
from rapids_tc.blocks.arrivals import require_below, require_length
from rapids_tc.blocks.worker_tasks import WorkerContext, worker_task
from rapids_tc.engines import registry
from rapids_tc.plan.record import row_columns
from rapids_tc.preparation import pair_ends
from rapids_tc.preparation.orient import Order

if TYPE_CHECKING:
    from rapids_tc.blocks.codec import EncodedBlock
    from rapids_tc.blocks.third_sums import ThirdValues
    from rapids_tc.frames.adapters import FrameAdapter
    from rapids_tc.frames.backend import Array, Frame, Series
    from rapids_tc.preparation.csr import Csr
    from rapids_tc.preparation.numbering import ColumnIds

Pairs = list[Any]  # the ranks of both ends; then how many ends are no vertices, and examples
Part = tuple[int, int]  # the first pair of a part, and the one behind its last


@worker_task
def ranked_pairs(
    context: WorkerContext, ids: ColumnIds, order: list[Any], pairs: Any, labels: tuple[Any, Any]
) -> Pairs:
    """Find the ranks of both ends of some pairs: a partition, or its two columns of ids."""
    backend = context.backend
    require_length(order[0], ids.size, "ranks")
    columns: list[Series] = pairs if isinstance(pairs, list) else [pairs[name] for name in labels]
    ends = [backend.to_working_series(column).reset_index(drop=True) for column in columns]
    ranks = Order.of_ranks(order[0], order[1], backend.xp)
    numbers = pair_ends.numbers_of(ids, ends, labels)
    unknown = pair_ends.unknown_rows(numbers, ranks.present, backend)
    many, shown = len(unknown), pair_ends.examples(ends, unknown)
    return [*(ranks.rank[number] for number in numbers), many, shown]


@worker_task
def unknown_ends(context: WorkerContext, pairs: Pairs) -> tuple[int, list[str]]:
    """Return how many pairs have an end that is no vertex, and up to five of them as text."""
    return pairs[2], pairs[3]


@worker_task
def parts_of(context: WorkerContext, pairs: Pairs, degrees: Array, most: int) -> list[Part]:
    """Cut pairs into parts, the rows of whose ends have at most so many entries together."""
    u, v = _ends(pairs, len(degrees))
    parts = neighbor_rows.parts_of(u, v, degrees, most, context.backend.xp)
    return [(part.start, part.stop) for part in parts]


@worker_task
def keys_of(
    context: WorkerContext, rows: EncodedBlock, pairs: Pairs, part: Part, place: int, n: int,
    vertices: int,
) -> Array:  # fmt: skip
    """Return a key, vertex << 32 | neighbor, for each end of a part of the pairs in a block."""
    xp = context.backend.xp
    block, at = codec.block(rows, place, n, vertices, xp)
    chosen = xp.zeros(vertices, bool)
    for end in _ends(pairs, vertices):
        chosen[end[slice(*part)]] = True
    return neighbor_rows.keys_of(block, n, at, chosen, xp)


@worker_task
def compared(
    context: WorkerContext, keys: list[Array], pairs: Pairs, part: Part, degrees: Array,
    third: ThirdValues | None, name: str,
) -> Array:  # fmt: skip
    """Compute a column for a part of the pairs, from the keys of all blocks; loops get 0.

    `third` are the values that are summed over common neighbors, if the column asks for any.
    """
    xp, vertices, column = context.backend.xp, len(degrees), row_columns()[name]
    for several in keys:
        require_below(several, vertices << 32, "keys of neighbors")
    rows = neighbor_rows.rows_of([*keys], vertices, xp)
    require_below(rows.columns, vertices, "ranks")
    u, v = (end[slice(*part)] for end in _ends(pairs, vertices))
    if third is not None:
        require_length(third.by_rank, vertices, "values by rank")
    with np.errstate(invalid="ignore"):  # 0 / 0 for pairs of isolated vertices
        values: Array = column.formula(_PairValues(context, rows, u, v, degrees, third))
    values[(u == v) | xp.isnan(values)] = 0
    return values


@worker_task
def together(context: WorkerContext, parts: list[Array]) -> Array:
    """Return the values of all parts of some pairs, on the host."""
    xp = context.backend.xp
    values: Array = context.backend.host(xp.concatenate([xp.empty(0), *parts]))
    return values


@worker_task
def with_column(
    context: WorkerContext, partition: Frame, parts: list[Array], adapter: FrameAdapter, name: str
) -> Frame:
    """Return a partition of pairs with a column of their values."""
    values = context.backend.xp.concatenate([context.backend.xp.empty(0), *parts])
    require_length(values, len(partition), "values of pairs")
    return adapter.assign(partition, {name: adapter.column_like(partition, values, name)})


def _ends(pairs: Pairs, vertices: int) -> tuple[Array, Array]:
    """Return the ranks of both ends of all pairs, which index values of all ranks."""
    u, v = pairs[:2]
    require_length(v, len(u), "ends of pairs")
    for end in (u, v):
        require_below(end, vertices, "ranks of pairs")
    return u, v


@dataclass(frozen=True)
class _PairValues(neighbor_rows.ValuesOfPairs):
    """What formulas may ask about some pairs: see `rapids_tc.plan.record.EdgeValues`."""

    context: WorkerContext
    rows: Csr
    u: Array
    v: Array
    by_rank: Array
    third: ThirdValues | None

    @property
    def xp(self) -> Any:
        return self.context.backend.xp

    @cached_property
    def triangles(self) -> Array:
        return self._sums(self.xp.zeros(0, "int64"))

    @cached_property
    def degrees(self) -> tuple[Array, Array]:
        return self.by_rank[self.u], self.by_rank[self.v]

    def third_sums(self, name: str) -> Array:
        third: Any = self.third
        return third.as_floats(self._sums(third.by_rank))

    def _sums(self, values: Array) -> Array:
        engine: Any = registry.load(self.context.backend.engine)
        return engine.common_sums(self.rows, self.u, self.v, values)
