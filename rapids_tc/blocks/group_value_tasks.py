"""The tasks of a cluster's workers that read values of edges by the groups of their rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rapids_tc.blocks.arrivals import require_below, require_length
from rapids_tc.blocks.id_tasks import Fingerprints, id_columns
from rapids_tc.blocks.value_tasks import Merged, Profiled, columns_of, unchanged
from rapids_tc.blocks.worker_tasks import Numbers, WorkerContext, worker_task

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rapids_tc.frames.backend import Array, Frame
    from rapids_tc.preparation.composite import CompositeIds
    from rapids_tc.preparation.edge_values import Reading


@worker_task
def resolve_range(
    context: WorkerContext, reading: Reading, profiled: list[Profiled], prints: list[Fingerprints]
) -> Reading:
    """Return the reading that all profiles give, for groups to be summarized by."""
    reader: Any = reading.reader
    return replace(reading, reader=reader.resolve_range(unchanged(profiled, prints)))


@worker_task
def summarize(
    context: WorkerContext, partitions: list[Frame], prints: Fingerprints, numbers: Numbers,
    ids: CompositeIds, reading: Reading,
) -> list[Any]:  # fmt: skip
    """Summarize the column of a reading by the groups of the rows of a batch."""
    reader: Any = reading.reader
    columns = _columns_of_groups(context, partitions, prints, numbers, ids, reading)
    return [reader.summarize(*part, context.backend) for part in columns]


@worker_task
def of_groups(
    context: WorkerContext, reading: Reading, summaries: list[list[Any]], ids: CompositeIds
) -> Reading:
    """Return the reading that the summaries of all rows give."""
    reader: Any = reading.reader
    of_all = [part for batch in summaries for part in batch]
    return replace(reading, reader=reader.of_groups(of_all, len(ids.starts)))


@worker_task
def read_by_group(
    context: WorkerContext, partitions: list[Frame], prints: Fingerprints, numbers: Numbers,
    ids: CompositeIds, reading: Reading,
) -> list[Array]:  # fmt: skip
    """Read the column for all rows of a batch by the values of their groups."""
    reader: Any = reading.reader
    columns = _columns_of_groups(context, partitions, prints, numbers, ids, reading)
    parts = [reader.read_by_group(*part, context.backend) for part in columns]
    return [context.backend.xp.concatenate(parts)]


def _columns_of_groups(
    context: WorkerContext, partitions: list[Frame], prints: Fingerprints, numbers: Numbers,
    ids: CompositeIds, reading: Reading,
) -> Iterator[tuple[Any, Array]]:  # fmt: skip
    """Yield the column of a reading in each partition, and the group of each row."""
    id_columns(context, partitions, prints)
    (columns, _), first = columns_of(context, partitions, prints, reading), 0
    require_length(numbers[0], sum(map(len, columns)), "numbers of rows")
    require_below(numbers[0], ids.size, "numbers of ids")
    for column in columns:
        yield column, ids.group_of[numbers[0][first : first + len(column)]]
        first += len(column)


@worker_task
def largest_by_group(
    context: WorkerContext, merged: Merged, group: Array, reading: Reading, ids: CompositeIds
) -> Array:
    """Return the largest value in a block of each group."""
    groups, xp = len(ids.starts), context.backend.xp
    _require_groups(merged, group, groups)
    return reading.largest_by_group(merged[0], group, groups, xp)


@worker_task
def arrays_by_group(
    context: WorkerContext, merged: Merged, group: Array, reading: Reading, largest: Array
) -> list[Array]:
    """Return the arrays of a block, once the largest value of each group is known."""
    _require_groups(merged, group, len(largest))
    return reading.formula(merged[0], largest[group], context.backend.xp)


def _require_groups(merged: Merged, group: Array, groups: int) -> None:
    """Raise KernelError unless each edge of a block has one of so many groups."""
    for array in merged[0]:
        require_length(group, len(array), "groups of edges")
    require_below(group, groups, "groups")
