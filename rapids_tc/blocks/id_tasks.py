"""Run the tasks of a cluster's workers on ids: look at the ids of partitions, and number them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rapids_tc.blocks.worker_tasks import Numbers, WorkerContext, worker_task
from rapids_tc.engines import registry
from rapids_tc.frames.backend import Frame, as_uint32
from rapids_tc.preparation import id_scheme, sampling
from rapids_tc.preparation.composite import CompositeIds
from rapids_tc.preparation.edges import NumberedEdges
from rapids_tc.preparation.fingerprints import Fingerprint

if TYPE_CHECKING:
    from rapids_tc.preparation.id_columns import IdColumn
    from rapids_tc.preparation.numbering import Ids

Fingerprints = list[Fingerprint]  # of the partitions of one group


@worker_task
def profile(
    context: WorkerContext, partitions: list[Frame], places: list[int]
) -> id_scheme.IdProfile:
    """Describe the id columns of some partitions; `places` are their positions in the frame."""
    backend = context.backend
    pairs = [context.columns(*given) for given in zip(partitions, places, strict=True)]
    seen = id_scheme.profile(pairs, context.names, backend, places)
    seen.memory = registry.load(backend.engine).free()
    return seen


@worker_task
def resolve_scheme(context: WorkerContext, seen: list[id_scheme.IdProfile]) -> id_scheme.IdScheme:
    """Decide how ids are numbered, from what all workers saw."""
    return id_scheme.resolve_scheme(seen)


@worker_task
def known(
    context: WorkerContext, scheme: id_scheme.IdScheme
) -> tuple[list[Fingerprints], int | None, int]:
    """Return what the client needs: fingerprints, how many numbers (if ids are dense), memory."""
    return scheme.fingerprints, scheme.dense and scheme.dense[1], scheme.memory


@worker_task
def settled(
    context: WorkerContext, scheme: id_scheme.IdScheme, prints: list[Fingerprints]
) -> id_scheme.IdScheme:
    """Return the scheme; KernelError if it was made again from other partitions."""
    for seen, found in zip(prints, scheme.fingerprints, strict=True):
        for own, other in zip(seen, found, strict=True):
            own.require(other)
    return scheme


@worker_task
def distinct(
    context: WorkerContext,
    partitions: list[Frame],
    prints: Fingerprints,
    scheme: id_scheme.IdScheme,
) -> Any:
    """Find all distinct ids of some partitions."""
    return id_scheme.distinct(id_columns(context, partitions, prints), scheme, context.backend)


@worker_task
def union(context: WorkerContext, found: list[Any]) -> Any:
    """Join the distinct ids of several batches."""
    return id_scheme.union(found)


@worker_task
def make_ids(context: WorkerContext, scheme: id_scheme.IdScheme, found: Any) -> Ids:
    """Make the way back from numbers to ids."""
    return id_scheme.make_ids(scheme, found, context.backend)


@worker_task
def size_of(context: WorkerContext, ids: Ids) -> int:
    """Return how many numbers there are."""
    return ids.size


@worker_task
def number(
    context: WorkerContext,
    partitions: list[Frame],
    prints: Fingerprints,
    ids: Ids,
    scheme: id_scheme.IdScheme,
) -> Numbers:
    """Assign numbers to both ends of every row of some partitions, one after another."""
    backend, columns = context.backend, id_columns(context, partitions, prints)
    assert not isinstance(ids, CompositeIds)
    made = [id_scheme.numbers(column, ids, scheme, backend) for column in columns]
    if len(made) == 2:
        return made
    return [backend.xp.concatenate([*map(as_uint32, made[side::2])]) for side in (0, 1)]


def id_columns(
    context: WorkerContext, partitions: list[Frame], prints: Fingerprints
) -> list[IdColumn]:
    """Return the id columns of some partitions, source and destination in turn.

    Raises
    ------
    KernelError
        A partition has changed since it was first looked at.
    """
    result: list[IdColumn] = []
    for partition, own in zip(partitions, prints, strict=True):
        pair = context.columns(partition, own.place)
        inspected = id_scheme.inspect_pair(pair, context.names, context.backend)
        own.require(Fingerprint.of(own.place, inspected, context.backend))
        result += [column for column, _ in inspected]
    return result


@worker_task
def one_coloured(
    context: WorkerContext, numbers: Numbers, ids: Ids, colours: int, seed: int
) -> Numbers:
    """Select the rows that `approximate_count` samples."""
    src, dst = numbers
    kept = sampling.one_coloured(NumberedEdges(src, dst, len(src), ids), colours=colours, seed=seed)
    return [*kept.ends]


@worker_task
def rows_of(context: WorkerContext, numbers: Numbers) -> int:
    """Return the number of rows."""
    return len(numbers[0])
