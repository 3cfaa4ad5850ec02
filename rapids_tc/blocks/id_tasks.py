"""Run the tasks of a cluster's workers on ids: look at the ids of partitions, and number them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rapids_tc.blocks.codec import require_below
from rapids_tc.engines import registry
from rapids_tc.frames.backend import Backend, Frame, as_uint32
from rapids_tc.preparation import composite_scheme, id_scheme, sampling
from rapids_tc.preparation.composite import CompositeIds
from rapids_tc.preparation.composite_scheme import CompositeProfile, CompositeScheme
from rapids_tc.preparation.edges import NumberedEdges
from rapids_tc.preparation.fingerprints import Fingerprint

if TYPE_CHECKING:
    from rapids_tc._typing import Array
    from rapids_tc.blocks.context import WorkerContext
    from rapids_tc.blocks.grid import Range
    from rapids_tc.preparation.id_columns import IdColumn
    from rapids_tc.preparation.numbering import ColumnIds, Ids

Fingerprints = list[Fingerprint]  # of the partitions of one group
Numbers = list["Array"]  # of the source and of the destination of every row
Profile = id_scheme.IdProfile | CompositeProfile
Scheme = id_scheme.IdScheme | CompositeScheme


def profile(
    partitions: list[Frame], places: list[int], *, context: WorkerContext, backend: Backend
) -> Profile:
    """Describe the id columns of some partitions; `places` are their positions in the frame."""
    seen: Profile
    if context.labels.pair is None:
        inspected = [context.inspect(*both) for both in zip(partitions, places, strict=True)]
        seen = composite_scheme.profile(inspected, context.labels, backend)
        described = zip(places, inspected, strict=True)
        seen.fingerprints = [Fingerprint.of(*each, backend) for each in described]
    else:
        pairs = [context.columns(*given) for given in zip(partitions, places, strict=True)]
        seen = id_scheme.profile(pairs, context.labels.names, backend, places)
    seen.memory = registry.load(backend.engine).free()
    return seen


def resolve_scheme(seen: list[Any], *, context: WorkerContext) -> Scheme:
    """Decide how ids are numbered, from what all workers saw."""
    if context.labels.pair is None:
        return composite_scheme.resolve(seen, context.labels)
    return id_scheme.resolve_scheme(seen)


def known(scheme: Scheme) -> tuple[list[Fingerprints], int | None, int]:
    """Return what the client needs: fingerprints, how many numbers (if ids are dense), memory."""
    return scheme.fingerprints, scheme.dense and scheme.dense[1], scheme.memory


def settled(scheme: Scheme, prints: list[Fingerprints]) -> Scheme:
    """Return the scheme; KernelError if it was made again from other partitions."""
    for seen, found in zip(prints, scheme.fingerprints, strict=True):
        for own, other in zip(seen, found, strict=True):
            own.require(other)
    return scheme


def distinct(
    partitions: list[Frame], prints: Fingerprints, scheme: Scheme, *, context: WorkerContext
) -> Any:
    """Find all distinct ids of some partitions, or the distinct values of each part of ids."""
    columns, backend = id_columns(context, partitions, prints), context.backend
    if isinstance(scheme, CompositeScheme):
        width = len(scheme.columns.names)
        starts = range(0, len(columns), width)
        by_partition = [
            composite_scheme.distinct(columns[i : i + width], scheme, backend) for i in starts
        ]
        return composite_scheme.union(by_partition)
    return id_scheme.distinct(columns, scheme, backend)


def union(found: list[Any], *, context: WorkerContext) -> Any:
    """Join the distinct ids of several batches."""
    if context.labels.pair is None:
        return composite_scheme.union(found)
    return id_scheme.union(found)


def make_ids(scheme: Scheme, found: Any, *, backend: Backend) -> Ids:
    """Make the way back from numbers to ids; of composite ids, from numbers to their parts."""
    if isinstance(scheme, CompositeScheme):
        return composite_scheme.make_ids(scheme, found, backend)
    return id_scheme.make_ids(scheme, found, backend)


def overflow(ids: CompositeIds) -> int | None:
    """Return how many digits of the keys are folded next; None if all keys fit."""
    return ids.radix.overflow()


def distinct_keys(
    partitions: list[Frame], prints: Fingerprints, ids: CompositeIds, scheme: CompositeScheme,
    digits: int | None, *, context: WorkerContext,
) -> Array:  # fmt: skip
    """Find all keys of composite ids of some partitions, or those of their first digits."""
    columns = id_columns(context, partitions, prints)
    ends = composite_scheme.keys(columns, ids, scheme, digits)
    return composite_scheme.distinct_keys(ends, context.backend.xp)


def group_count(ids: CompositeIds) -> int:
    """Return how many groups there are."""
    return len(ids.starts)


def ids_in(ids: ColumnIds, part: Range) -> ColumnIds:
    """Return the ids of a range of numbers."""
    return ids.part(part.first, part.size)


def compact(numbers: Numbers) -> Numbers:
    """Return numbers in 32 bits, as they are kept."""
    return [*map(as_uint32, numbers)]


def number(
    partitions: list[Frame], prints: Fingerprints, ids: Ids, scheme: Scheme, *,
    context: WorkerContext,
) -> Numbers:  # fmt: skip
    """Assign numbers to both ends of every row of some partitions, one after another."""
    backend, columns = context.backend, id_columns(context, partitions, prints)
    made: Numbers = []
    if isinstance(ids, CompositeIds) and isinstance(scheme, CompositeScheme):
        for ends in composite_scheme.keys(columns, ids, scheme):
            for end in ends:
                require_below(end, ids.radix.size(len(ids.parts)), "keys of ids")
            made += composite_scheme.numbers(ids, ends)
    elif not isinstance(ids, CompositeIds) and not isinstance(scheme, CompositeScheme):
        made = [id_scheme.numbers(column, ids, scheme, backend) for column in columns]
    if len(made) == 2:
        return made
    return [backend.xp.concatenate([*map(as_uint32, made[side::2])]) for side in (0, 1)]


def id_columns(
    context: WorkerContext, partitions: list[Frame], prints: Fingerprints
) -> list[IdColumn]:
    """Return the id columns of some partitions, one partition after another.

    Raises
    ------
    KernelError
        A partition has changed since it was first looked at.
    """
    result: list[IdColumn] = []
    for partition, own in zip(partitions, prints, strict=True):
        inspected = context.inspect(partition, own.place)
        own.require(Fingerprint.of(own.place, inspected, context.backend))
        result += [column for column, _ in inspected]
    return result


def one_coloured(numbers: Numbers, ids: Ids, colours: int, seed: int) -> Numbers:
    """Select the rows that `approximate_count` samples."""
    src, dst = numbers
    kept = sampling.one_coloured(NumberedEdges(src, dst, len(src), ids), colours=colours, seed=seed)
    return [*kept.ends]


def rows_of(numbers: Numbers) -> int:
    """Return the number of rows."""
    return len(numbers[0])
