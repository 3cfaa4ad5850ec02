"""Run the tasks of a cluster's workers on ids: look at the ids of partitions, and number them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rapids_tc.blocks.codec import require_below
from rapids_tc.engines import registry
from rapids_tc.frames.backend import Backend, Frame, as_uint32
from rapids_tc.preparation import id_scheme, sampling
from rapids_tc.preparation.fingerprints import Fingerprint
from rapids_tc.preparation.numbering import NumberedEdges

if TYPE_CHECKING:
    from rapids_tc._typing import Array
    from rapids_tc.blocks.context import WorkerContext
    from rapids_tc.blocks.grid import Range
    from rapids_tc.preparation.id_columns import IdColumn
    from rapids_tc.preparation.id_scheme import IdProfile, IdScheme
    from rapids_tc.preparation.ids import Ids

Fingerprints = list[Fingerprint]  # of the partitions of one group
Numbers = list["Array"]  # of the source and of the destination of every row


def profile(
    partitions: list[Frame], places: list[int], *, context: WorkerContext, backend: Backend
) -> IdProfile:
    """Describe the id columns of some partitions; `places` are their positions in the frame."""
    inspected = [context.inspect(*both) for both in zip(partitions, places, strict=True)]
    seen = id_scheme.profile(inspected, context.labels, backend)
    described = zip(places, inspected, strict=True)
    seen.fingerprints = [Fingerprint.of(*each, backend) for each in described]
    seen.memory = registry.load(backend.engine).free()
    return seen


def resolve_scheme(seen: list[IdProfile], *, context: WorkerContext) -> IdScheme:
    """Decide how ids are numbered, from what all workers saw."""
    return id_scheme.resolve_scheme(seen, context.labels)


def known(scheme: IdScheme) -> tuple[list[Fingerprints], int | None, int]:
    """Return what the client needs: fingerprints, how many numbers (if ids are dense), memory."""
    return scheme.fingerprints, scheme.dense and scheme.dense[1], scheme.memory


def settled(scheme: IdScheme, prints: list[Fingerprints]) -> IdScheme:
    """Return the scheme; KernelError if it was made again from other partitions."""
    for seen, found in zip(prints, scheme.fingerprints, strict=True):
        for own, other in zip(seen, found, strict=True):
            own.require(other)
    return scheme


def distinct(
    partitions: list[Frame], prints: Fingerprints, scheme: IdScheme, *, context: WorkerContext
) -> list[Any]:
    """Find all distinct values of each part of the ids of some partitions."""
    return id_scheme.distinct(id_columns(context, partitions, prints), scheme, context.backend)


def overflow(ids: Ids) -> int | None:
    """Return how many digits of the keys are folded next; None if all keys fit."""
    return ids.radix.overflow()


def distinct_keys(
    partitions: list[Frame], prints: Fingerprints, ids: Ids, scheme: IdScheme,
    digits: int | None, *, context: WorkerContext,
) -> Array:  # fmt: skip
    """Find all keys of the ids of some partitions, or those of their first digits."""
    described = id_columns(context, partitions, prints)
    ends = (id_scheme.keys(columns, ids, scheme, digits) for columns in described)
    return id_scheme.distinct_keys(ends, context.backend.xp)


def group_count(ids: Ids) -> int:
    """Return how many groups there are."""
    return len(ids.starts)


def ids_in(ids: Ids, part: Range) -> Ids:
    """Return the ids of a range of numbers."""
    return ids.slice(part.first, part.size)


def compact(numbers: Numbers) -> Numbers:
    """Return numbers in 32 bits, as they are kept."""
    return [*map(as_uint32, numbers)]


def number(
    partitions: list[Frame], prints: Fingerprints, ids: Ids, scheme: IdScheme, *,
    context: WorkerContext,
) -> Numbers:  # fmt: skip
    """Assign numbers to both ends of every row of some partitions, one after another."""
    xp, made = context.backend.xp, []
    for columns in id_columns(context, partitions, prints):
        ends = id_scheme.keys(columns, ids, scheme)
        if ids.keys is not None:
            for end in ends:
                require_below(end, ids.radix.size(len(ids.parts)), "keys of ids")
        made.append([ids.numbers(end) for end in ends])
    if len(made) == 1:
        return made[0]
    return [xp.concatenate([*map(as_uint32, end)]) for end in zip(*made, strict=True)]


def id_columns(
    context: WorkerContext, partitions: list[Frame], prints: Fingerprints
) -> list[list[IdColumn]]:
    """Return the id columns of some partitions.

    Raises
    ------
    KernelError
        A partition has changed since it was first looked at.
    """
    result: list[list[IdColumn]] = []
    for partition, own in zip(partitions, prints, strict=True):
        inspected = context.inspect(partition, own.place)
        own.require(Fingerprint.of(own.place, inspected, context.backend))
        result.append([column for column, _ in inspected])
    return result


def one_colored(numbers: Numbers, ids: Ids, colors: int, seed: int) -> Numbers:
    """Select the rows that `approximate_count` samples."""
    src, dst = numbers
    kept = sampling.one_colored(NumberedEdges(src, dst, len(src), ids), colors=colors, seed=seed)
    return [*kept.ends]


def rows_of(numbers: Numbers) -> int:
    """Return the number of rows."""
    return len(numbers[0])
