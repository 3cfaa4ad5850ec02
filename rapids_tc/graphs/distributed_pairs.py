"""Columns of pairs of vertices, which need not be edges, on a partitioned graph."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.blocks import sums
from rapids_tc.blocks.codec import require_below, require_length
from rapids_tc.blocks.third_sums import FORMULAS
from rapids_tc.executors.registry import executor_of
from rapids_tc.frames.adapters import CudfAdapter, PandasAdapter, root
from rapids_tc.graphs import pair_columns as pairs_of_graphs
from rapids_tc.graphs.edge_graph import prepared_in
from rapids_tc.graphs.one_worker import meta_with
from rapids_tc.plan.record import row_columns
from rapids_tc.preparation import named_ids
from rapids_tc.preparation.edge_columns import check_new, id_columns
from rapids_tc.preparation.named_ids import SHOWN, require_ends
from rapids_tc.preparation.orient import Order

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from rapids_tc.blocks.block_map import Blocked
    from rapids_tc.blocks.block_work import PlacedBlock
    from rapids_tc.blocks.third_sums import ThirdValues
    from rapids_tc.engines.protocol import Engine
    from rapids_tc.engines.quantity import Quantity
    from rapids_tc.executors.protocol import Executor, Task
    from rapids_tc.frames.adapters import FrameAdapter
    from rapids_tc.frames.backend import Array, Backend, Frame, Series
    from rapids_tc.graphs.partitioned import PartitionedGraph
    from rapids_tc.preparation.csr import Csr
    from rapids_tc.preparation.ids import Ids

MOST_PAIRS = 2**18  # of a frame of this process that travel together
Pairs = list[Any]  # the ranks of both ends; then how many ends are no vertices, and examples
Part = tuple[int, int]  # the first pair of a part, and the one behind its last


def pair_column(
    partitioned: PartitionedGraph, name: str, pairs: Any, source: Any, destination: Any
) -> Any:
    """Compute a column for the rows of `pairs`; loops get 0.

    `pairs` is a frame of this process, and the column is aligned with it and of its library; or a
    partitioned frame of the same kind as the edges, which is returned with the column. For errors
    see `rapids_tc.graphs.pair_columns.pair_column`.
    """
    if partitioned.id_columns.joined:
        raise ValueError(pairs_of_graphs.SINGLE_COLUMNS)
    executor = partitioned.executor
    of_pairs = _executor_of_pairs(executor, pairs)
    if of_pairs is None:
        frame, opened = pairs_of_graphs.open_pairs(pairs)
        labels = id_columns(opened.adapter.labels(frame), source, destination)
        ends = [opened.adapter.column(frame, label) for label in labels]
        if not partitioned.adapter.on_gpu:  # workers may have no cuDF
            ends = [end.to_pandas() if root(end) == "cudf" else end for end in ends]
        starts = range(0, max(len(ends[0]), 1), MOST_PAIRS)
        pieces = [[end.iloc[at : at + MOST_PAIRS] for end in ends] for at in starts]
        graph = partitioned.blocked()
        parts = _compare(graph, pieces, labels, name)
        joined = [graph.submit("pairs", together, of_piece) for of_piece in parts]
        values = np.concatenate(executor.gather(joined))
        return opened.adapter.column_like(frame, values, name)
    meta = of_pairs.meta
    adapter = CudfAdapter() if root(meta) == "cudf" else PandasAdapter()
    labels = id_columns(adapter.labels(meta), source, destination)
    check_new((name,), adapter.labels(meta), "pairs=")
    graph = partitioned.blocked()
    partitions = of_pairs.partitions(None)
    parts = _compare(graph, partitions, labels, name)
    frames = [
        graph.submit("pairs", with_column, partition, of_partition, adapter, name)
        for partition, of_partition in zip(partitions, parts, strict=True)
    ]
    return of_pairs.to_frame(frames, meta_with(adapter, meta, [name]), None)


def _executor_of_pairs(executor: Executor, pairs: Any) -> Executor | None:
    """Return the executor of a partitioned frame of pairs; None for a frame of this process.

    Raises
    ------
    TypeError
        `pairs` is a prepared graph, or partitioned in another way than the edges.
    """
    if prepared_in(pairs) is not None or (factory := executor_of(pairs)) is None:
        return None
    if not executor.kind.endswith(kind := factory(pairs, None).kind):
        raise TypeError(
            f"pairs= is a {kind}, and edges is a {executor.kind}: give a frame of one machine, or "
            "one that is partitioned as edges"
        )
    return executor.beside(pairs)


def _compare(
    graph: Blocked, partitions: list[Any], labels: tuple[Any, Any], name: str
) -> list[list[Task]]:
    """Submit the values of pairs: for each of `partitions`, a list of tasks.

    A partition of pairs is cut in parts, the rows of whose ends fit a worker. These rows are
    collected from all blocks.
    """
    submit, gather = graph.submit, graph.executor.gather
    pairs = [
        submit("pairs", ranked_pairs, graph.ids, graph.order, part, labels) for part in partitions
    ]
    unknown = gather([submit("pairs", operator.getitem, part, slice(2, 4)) for part in pairs])
    shown = [example for _, examples in unknown for example in examples]
    require_ends(sum(many for many, _ in unknown), shown[:SHOWN])
    degrees = sums.whole(graph, sums.degrees(graph))
    most = graph.free // (2 * pairs_of_graphs.ENTRY)
    parts = gather([submit("pairs", parts_of, part, degrees, most) for part in pairs])
    third = sums.third_values(graph, [degrees], name)[0] if name in FORMULAS else None
    workers = graph.counting_workers

    def submitted() -> Iterator[tuple[int, Task]]:
        turn = 0
        for place, of_pairs in enumerate(parts):
            for part in of_pairs:
                on, turn = workers[turn % len(workers)], turn + 1
                of_part = pairs[place], part
                at = on if graph.n == 1 else None
                keys = [
                    graph.submit_block("pairs", keys_of, block, *of_part, on=at)
                    for block in range(graph.n**2)
                ]
                arguments = keys, *of_part, degrees, third, name
                yield place, submit("pairs", compared, *arguments, on=on)

    values: list[list[Task]] = [[] for _ in partitions]
    at_once, total = len(graph.workers), sum(map(len, parts))
    for place, task in _in_order(graph, submitted(), at_once, total):
        values[place].append(task)
    return values


def _in_order(
    graph: Blocked, tasks: Iterator[tuple[int, Task]], at_once: int, total: int
) -> list[tuple[int, Task]]:
    """Wait for all tasks, a few at a time; return them in the order in which they are submitted."""
    numbered = (((number, place), task) for number, (place, task) in enumerate(tasks))
    ended = sorted(graph.executor.as_completed(numbered, at_once, total), key=lambda one: one[0])
    return [(place, task) for (_, place), task in ended]


# What workers do ----------------------------------------------------------------------------------


def ranked_pairs(
    ids: Ids, order: list[Any], pairs: Any, labels: tuple[Any, Any], *, backend: Backend
) -> Pairs:
    """Find the ranks of both ends of some pairs: a partition, or its two columns of ids."""
    require_length(order[0], ids.size, "ranks")
    columns: list[Series] = pairs if isinstance(pairs, list) else [pairs[name] for name in labels]
    ends = [backend.to_working_series(column).reset_index(drop=True) for column in columns]
    ranks = Order.of_ranks(order[0], order[1], backend.xp)
    numbers = named_ids.numbers_of_ends(ids, ends, labels)
    unknown = named_ids.unknown_rows(numbers, ranks.present, backend)
    many, shown = len(unknown), named_ids.shown_pairs(ends, unknown)
    return [*(ranks.rank[number] for number in numbers), many, shown]


def parts_of(pairs: Pairs, degrees: Array, most: int, *, xp: ModuleType) -> list[Part]:
    """Cut pairs into parts, the rows of whose ends have at most so many entries together."""
    u, v = _ends(pairs, len(degrees))
    parts = pairs_of_graphs.parts_of(u, v, degrees, most, xp)
    return [(part.start, part.stop) for part in parts]


def keys_of(block: PlacedBlock, pairs: Pairs, part: Part) -> Array:
    """Return a key, vertex << 32 | neighbor, for each end of a part of the pairs in a block."""
    chosen = block.xp.zeros(block.vertices, bool)
    for end in _ends(pairs, block.vertices):
        chosen[end[slice(*part)]] = True
    return pairs_of_graphs.keys_of(block.csr, block.n, block.at, chosen, block.xp)


def compared(
    keys: list[Array], pairs: Pairs, part: Part, degrees: Array, third: ThirdValues | None,
    name: str, *, engine: Engine, xp: ModuleType,
) -> Array:  # fmt: skip
    """Compute a column for a part of the pairs, from the keys of all blocks; loops get 0.

    `third` are the values that are summed over common neighbors, if the column asks for any.
    """
    vertices, column = len(degrees), row_columns()[name]
    for several in keys:
        require_below(several, vertices << 32, "keys of neighbors")
    rows = pairs_of_graphs.rows_of([*keys], vertices, xp)
    require_below(rows.columns, vertices, "ranks")
    u, v = (end[slice(*part)] for end in _ends(pairs, vertices))
    if third is not None:
        require_length(third.by_rank, vertices, "values by rank")
    with np.errstate(invalid="ignore"):  # 0 / 0 for pairs of isolated vertices
        values: Array = column.formula(_PairValues(engine, xp, rows, u, v, degrees, third))
    values[(u == v) | xp.isnan(values)] = 0
    return values


def together(parts: list[Array], *, backend: Backend) -> Array:
    """Return the values of all parts of some pairs, on the host."""
    values: Array = backend.host(backend.xp.concatenate([backend.xp.empty(0), *parts]))
    return values


def with_column(
    partition: Frame, parts: list[Array], adapter: FrameAdapter, name: str, *, xp: ModuleType
) -> Frame:
    """Return a partition of pairs with a column of their values."""
    values = xp.concatenate([xp.empty(0), *parts])
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
class _PairValues(pairs_of_graphs.ValuesOfPairs):
    """What formulas may ask about some pairs: see `rapids_tc.plan.record.EdgeValues`."""

    engine: Engine
    xp: ModuleType
    rows: Csr
    u: Array
    v: Array
    by_rank: Array
    third: ThirdValues | None

    @cached_property
    def triangles(self) -> Array:
        return self._sums(self.xp.zeros(0, "int64"))

    @cached_property
    def degrees(self) -> tuple[Array, Array]:
        return self.by_rank[self.u], self.by_rank[self.v]

    def visited(self, quantity: Quantity) -> Array:
        third: Any = self.third
        return third.as_floats(self._sums(third.by_rank))

    def _sums(self, values: Array) -> Array:
        found: Array = self.engine.common_sums(self.rows, self.u, self.v, values)
        return found
