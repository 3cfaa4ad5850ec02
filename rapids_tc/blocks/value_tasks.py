"""The tasks of a cluster's workers that read values of edges from rows, and add them up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rapids_tc.blocks import codec, counting, geometry, row_lookup
from rapids_tc.blocks.arrivals import require_below, require_length
from rapids_tc.blocks.id_tasks import Fingerprints, id_columns
from rapids_tc.blocks.triangle_sums import EdgeSum, Summed, TriangleSum
from rapids_tc.blocks.worker_tasks import Ranks, WorkerContext, worker_task
from rapids_tc.engines import registry
from rapids_tc.frames.backend import Array, Frame
from rapids_tc.preparation.composite import ids_in_messages
from rapids_tc.preparation.edge_values import EdgeError, EdgeRows
from rapids_tc.preparation.edges import check_label
from rapids_tc.preparation.orient import Order
from rapids_tc.preparation.time_values import Intervals

if TYPE_CHECKING:
    from rapids_tc.blocks.codec import EncodedBlock
    from rapids_tc.blocks.grid import Task
    from rapids_tc.preparation.edge_values import Reading
    from rapids_tc.preparation.numbering import ColumnIds, Ids

Profiled = tuple[list[Any], Fingerprints]  # of the partitions of a batch
Merged = tuple[list[Array], float, Any]  # arrays of a block, the largest value, what is wrong


@worker_task
def profile(
    context: WorkerContext, partitions: list[Frame], prints: Fingerprints, reading: Reading,
    starts: list[int],
) -> Profiled:  # fmt: skip
    """Profile the column of a reading; `starts` are the first rows of the partitions."""
    reader: Any = reading.reader
    columns, seen = columns_of(context, partitions, prints, reading)
    both = zip(columns, starts, strict=True)
    return [reader.profile(column, first, context.backend) for column, first in both], seen


@worker_task
def seen(context: WorkerContext, profiled: Profiled) -> Fingerprints:
    """Return the fingerprints of the partitions that were profiled, with the column's values."""
    return profiled[1]


def unchanged(profiled: list[Profiled], prints: list[Fingerprints]) -> list[Any]:
    """Return the profiles of all partitions; KernelError if one was made again of other values."""
    for (_, found), batch in zip(profiled, prints, strict=True):
        for other, own in zip(found, batch, strict=True):
            own.require(other)
    return [part for profiles, _ in profiled for part in profiles]


@worker_task
def resolve(
    context: WorkerContext, reading: Reading, profiled: list[Profiled], prints: list[Fingerprints]
) -> Reading:
    """Return the reading that all profiles give; ValueError if values are unusable."""
    return reading.resolved(unchanged(profiled, prints))


@worker_task
def read(
    context: WorkerContext, partitions: list[Frame], prints: Fingerprints, reading: Reading,
    starts: list[int],
) -> list[Array]:  # fmt: skip
    """Read the column for all rows of a batch; if their order matters, add their places."""
    id_columns(context, partitions, prints)
    xp = context.backend.xp
    columns, _ = columns_of(context, partitions, prints, reading)
    values = [xp.concatenate([reading.read(column, context.backend) for column in columns])]
    if reading.rule.ordered:
        first_rows = zip(starts, partitions, strict=True)
        places = [xp.arange(first, first + len(partition)) for first, partition in first_rows]
        values.append(xp.concatenate(places))
    return values


def columns_of(
    context: WorkerContext, partitions: list[Frame], prints: Fingerprints, reading: Reading
) -> tuple[list[Any], Fingerprints]:
    """Return the column of a reading in each partition, in the working library.

    Also return the fingerprints with those of the column; KernelError if one has changed.
    """
    reader: Any = reading.reader
    columns, seen = [], []
    for partition, own in zip(partitions, prints, strict=True):
        labels = context.adapter.labels(partition)
        check_label(f"partition {own.place}: {reader.role}", reader.label, labels)
        column = context.adapter.column(partition, reader.label)
        columns.append(context.backend.to_working_series(column))
        name = f"{reader.role}={reader.label!r}"
        seen.append(own.with_values(name, columns[-1], context.backend))
    return columns, seen


@worker_task
def rows(
    context: WorkerContext, ranks: Ranks, block: EncodedBlock,
    values: list[Array], reading: Reading, place: int, n: int,
) -> list[Array]:  # fmt: skip
    """Select the rows of a batch in a block: [edges, directions if asked for, *values]."""
    *block_rows, edge = row_lookup.locate(context, ranks, block, place, n)
    for column in values:
        require_length(column, len(ranks[0]), "values of rows")
    inside = edge >= 0
    row = (block_rows[0] if block_rows else context.backend.xp.arange(len(edge)))[inside]
    directions = []
    if reading.rule.directed:
        source, destination = (end[row] for end in ranks)
        directions = [source < destination]
    return [edge[inside], *directions, *(column[row] for column in values)]


@worker_task
def merge(
    context: WorkerContext, block: EncodedBlock, parts: list[list[Array]], reading: Reading
) -> Merged:
    """Collect the arrays of a block from the rows of all batches."""
    backend, m = context.backend, len(block[1])
    edge, *rest = (backend.xp.concatenate(arrays) for arrays in zip(*parts, strict=True))
    require_below(edge, m, "edges")
    if reading.rule.ordered:
        by_place = backend.xp.argsort(rest.pop())
        edge, rest = edge[by_place], [array[by_place] for array in rest]
    reverse = rest.pop(0) if reading.rule.directed else None
    rows_of_block = EdgeRows(edge, reverse, rest[0] if rest else None)
    try:
        arrays = reading.collect([rows_of_block], m, backend)
    except EdgeError as error:
        return [], 0.0, error
    if reading.scaled:
        return arrays, reading.largest(arrays), None
    return reading.formula(arrays, 0.0, backend.xp), 0.0, None


@worker_task
def status(context: WorkerContext, merged: Merged) -> tuple[float, Any]:
    """Return the largest value of a block, and what is wrong with one of its edges, if anything."""
    return merged[1:]


@worker_task
def arrays(context: WorkerContext, merged: Merged, reading: Reading, largest: float) -> list[Array]:
    """Return the arrays of a block, once the largest value of the graph is known."""
    if not reading.scaled:
        return merged[0]
    return reading.formula(merged[0], largest, context.backend.xp)


@worker_task
def number_of_types(context: WorkerContext, reading: Reading) -> int:
    """Return how many types a resolved reading has."""
    return len(reading.types)


@worker_task
def of_graph(context: WorkerContext, reading: Reading, ids: Ids, order: list[Any]) -> Reading:
    """Find the vertices that a reading names, as the user gives them."""
    return reading.of_graph(ids, Order.of_ranks(order[0], order[1], context.backend.xp))


@worker_task
def marked(
    context: WorkerContext, block: EncodedBlock, arrays: list[Array], reading: Reading, place: int,
    n: int,
) -> list[Array]:  # fmt: skip
    """Mark the edges of a block by the vertices that the user chooses."""
    csr = codec.csr(block, context.backend.xp)
    require_values(reading, arrays, csr.m)
    return reading.marked(arrays, *geometry.block_ends(csr, n, divmod(place, n)))


@worker_task
def end_types(
    context: WorkerContext, block: EncodedBlock, reading: Reading, place: int, n: int
) -> list[Array]:
    """Return the types of both ends of the edges of a block."""
    csr = codec.csr(block, context.backend.xp)
    return reading.end_types(*geometry.block_ends(csr, n, divmod(place, n)))


@worker_task
def end_ranks(
    context: WorkerContext, block: EncodedBlock, error: EdgeError, place: int, n: int
) -> list[int]:
    """Return the larger and the smaller rank of the edge of an error."""
    at = divmod(place, n)
    ranks = geometry.block_ends(codec.csr(block, context.backend.xp), n, at)
    return [int(end[error.position]) for end in ranks]


@worker_task
def ids_of_ranks(
    context: WorkerContext, ranked: Array, ids: ColumnIds, ranks: list[int]
) -> list[list[Any]]:
    """Return the id of each of some ranks, in a list that is empty if it is in another range."""
    xp = context.backend.xp
    return [ids_in_messages(ids, xp.flatnonzero(ranked == rank)) for rank in ranks]


@worker_task
def ends(
    context: WorkerContext, block: EncodedBlock, error: EdgeError, ids: Ids, order: list[Any],
    place: int, n: int,
) -> list[Any]:  # fmt: skip
    """Return the ids of the edge of an error: of the larger rank, and of the smaller."""
    xp = context.backend.xp
    at, chosen = divmod(place, n), slice(error.position, error.position + 1)
    ranks = geometry.block_ends(codec.csr(block, xp), n, at)
    number = Order.of_ranks(order[0], order[1], xp).number
    return [ids_in_messages(ids, number[end[chosen]])[0] for end in ranks]


def require_values(reading: Reading, values: list[Array], edges: int) -> None:
    """Raise KernelError unless the arrays are of a block of so many edges."""
    if not isinstance(reading.rule, Intervals):
        for array in values:
            require_length(array, edges, "values of edges")
        return
    first, last, offsets = values
    require_length(last, len(first), "ends of intervals")
    if len(offsets):
        require_length(offsets, edges + 1, "places of intervals")
        require_below(offsets, len(first) + 1, "places of intervals")
    else:
        require_length(first, edges, "intervals")


# Sums ---------------------------------------------------------------------------------------------


@worker_task
def triangle_sum(
    context: WorkerContext, uv: EncodedBlock, uw: EncodedBlock, vw: EncodedBlock,
    tasks: list[Task], n: int, method: str, values: list[list[Array]], quantity: TriangleSum,
    reading: Reading, vertices: int,
) -> Array:  # fmt: skip
    """Add up the parts of a sum that some tasks on the same blocks have."""
    engine, xp = registry.load(context.backend.engine), context.backend.xp
    quantity = quantity.resolved(reading)
    for block, arrays in zip((uv, uw, vw), values, strict=True):
        require_values(reading, arrays, len(block[1]))
    total, three = quantity.zeros(vertices, xp), counting.decode_blocks(context, uv, uw, vw)
    of_blocks = n > 1 or quantity.of_blocks
    sides = [*zip(*values, strict=True)] if of_blocks else values[0]
    for layout in counting.task_layouts(context, three, tasks, n, of_blocks=of_blocks):
        total = quantity.add_task(total, engine, layout, sides, n, tasks[0].residues, three)
    return total


@worker_task
def edge_sum(
    context: WorkerContext, block: EncodedBlock, values: list[Array], quantity: EdgeSum,
    reading: Reading, place: int, n: int, vertices: int,
) -> Array:  # fmt: skip
    """Add up the part of a sum that a block has."""
    engine, xp = registry.load(context.backend.engine), context.backend.xp
    require_values(reading, values, len(block[1]))
    total, at = quantity.zeros(vertices, xp), divmod(place, n)
    quantity = quantity.resolved(reading)
    return quantity.add_block(total, engine, codec.csr(block, xp), values, n, at)


@worker_task
def summed(context: WorkerContext, values: Array, reading: Reading) -> Summed:
    """Return a sum with the reading that it was made of."""
    return Summed(values, reading)
