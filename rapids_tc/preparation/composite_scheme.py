"""Composite ids of a partitioned frame: each machine profiles partitions, one decides for all.

Each part of an id has a scheme of its own: see `rapids_tc.preparation.id_scheme`. Columns come as
`EdgeColumns.labels_by_part` lists them: the groups, then a source and a destination of each part.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rapids_tc.frames.backend import as_uint32
from rapids_tc.preparation import id_scheme
from rapids_tc.preparation.composite import CompositeIds, MixedRadix
from rapids_tc.preparation.composite_edges import join_ends, make_composite, too_many
from rapids_tc.preparation.edges import MAX_NUMBERS
from rapids_tc.preparation.id_columns import IdColumn, inspect, inspect_group

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rapids_tc._typing import Array, Series
    from rapids_tc.frames.backend import Backend
    from rapids_tc.preparation.edge_columns import EdgeColumns
    from rapids_tc.preparation.fingerprints import Fingerprint
    from rapids_tc.preparation.id_scheme import IdProfile, IdScheme


@dataclass
class CompositeProfile:
    """What one machine found in the columns of its partitions, by part of an id.

    Attributes
    ----------
    parts : list of IdProfile
    memory : int
        Free bytes of memory at the machine's engine.
    fingerprints : list of Fingerprint
        One per partition; empty if partitions are never read again.
    """

    parts: list[IdProfile]
    fingerprints: list[Fingerprint]
    memory: int = 0


@dataclass(frozen=True)
class CompositeScheme:
    """How composite ids of all partitions are numbered.

    Attributes
    ----------
    columns : EdgeColumns
    parts : list of IdScheme
        How the values of each part are numbered.
    memory : int
        Free bytes of memory on the machine that has least.
    fingerprints : list of list of Fingerprint
        One per partition, by machine; empty if partitions are never read again.
    """

    columns: EdgeColumns
    parts: list[IdScheme]
    memory: int
    fingerprints: list[list[Fingerprint]]

    @property
    def dense(self) -> None:
        """No range of integers: composite ids are never their own numbers."""
        return


def inspect_columns(
    series: Iterable[Series], columns: EdgeColumns, backend: Backend
) -> list[tuple[IdColumn, int]]:
    """Describe the columns of a partition, and count the missing values of each."""
    groups, result = len(columns.groups), []
    for place, (values, name) in enumerate(zip(series, columns.names, strict=True)):
        inspect_ids = inspect_group if place < groups else inspect
        result.append(inspect_ids(backend.to_working_series(values), name, backend))
    return result


def profile(
    inspected: Iterable[list[tuple[IdColumn, int]]], columns: EdgeColumns, backend: Backend
) -> CompositeProfile:
    """Profile the described columns of some partitions."""
    parts = [id_scheme.IdProfile() for _ in columns.components]
    for partition in inspected:
        for part, described in zip(parts, _by_part(partition, columns), strict=True):
            part.rows += len(described[0][0].values)
            for column, nulls in described:
                part.add(column, nulls, backend)
    return CompositeProfile(parts, [])


def resolve(profiles: list[CompositeProfile], columns: EdgeColumns) -> CompositeScheme:
    """Decide how all ids are numbered; raise the errors that one machine would for the frame."""
    by_part = zip(*(profiled.parts for profiled in profiles), strict=True)
    parts = [id_scheme.resolve_scheme(list(part)) for part in by_part]
    memory = min(profiled.memory for profiled in profiles)
    return CompositeScheme(columns, parts, memory, [p.fingerprints for p in profiles])


def distinct(columns: list[IdColumn], scheme: CompositeScheme, backend: Backend) -> list[Any]:
    """Return the distinct values of each part as an Index; None for a dense range of integers."""
    return [
        None if part.dense else id_scheme.distinct(described, part, backend)
        for part, described in zip(scheme.parts, _by_part(columns, scheme.columns), strict=True)
    ]


def union(parts: list[list[Any]]) -> list[Any]:
    """Return the distinct values of each part from those of several machines."""
    return [
        None if part[0] is None else id_scheme.union(list(part))
        for part in zip(*parts, strict=True)
    ]


def make_ids(scheme: CompositeScheme, distinct_values: list[Any], backend: Backend) -> CompositeIds:
    """Return ids whose parts are numbered, and whose keys are still to be found."""
    parts = [
        id_scheme.make_ids(part, index, backend)
        for part, index in zip(scheme.parts, distinct_values, strict=True)
    ]
    radix = MixedRadix.of([max(part.size, 1) for part in parts])
    return make_composite(scheme.columns, parts, radix, backend.xp.zeros(0, "uint64"))


def keys(
    columns: list[IdColumn],
    ids: CompositeIds,
    scheme: CompositeScheme,
    digits: int | None = None,
) -> Iterator[list[Array]]:
    """Yield the keys of both ends of the rows of each partition.

    If `digits` are given, the keys are those of so many digits.
    """
    width, backend = len(scheme.columns.names), ids.backend
    for first in range(0, len(columns), width):
        partition = _by_part(columns[first : first + width], scheme.columns)
        ends: list[list[Array]] = [[], []]
        for described, part, rule in zip(partition, ids.parts, scheme.parts, strict=True):
            digits_of = [id_scheme.numbers(column, part, rule, backend) for column in described]
            shared = len(digits_of) == 1
            for end, numbers in zip(ends, digits_of * (1 + shared), strict=True):
                end.append(numbers)
        if digits is None:
            yield join_ends(ends, ids.groups, ids.radix, backend.xp)
        else:
            yield [ids.radix.join(end[:digits], backend.xp) for end in ends]


def distinct_keys(ends: Iterable[list[Array]], xp: Any) -> Array:
    """Return the distinct keys of some partitions, ascending."""
    result: list[Array] = []
    for pair in ends:
        result.append(xp.unique(xp.concatenate(pair)))
        if len(result) > 1 and sum(map(len, result[1:])) >= len(result[0]):
            result = [union_keys(result, xp)]
    return union_keys(result, xp)


def union_keys(keys_of: list[Array], xp: Any) -> Array:
    """Return the distinct keys of several arrays of distinct keys, ascending."""
    return xp.unique(xp.concatenate(keys_of)) if len(keys_of) > 1 else keys_of[0]


def with_keys(ids: CompositeIds, keys_found: Array, digits: int | None) -> CompositeIds:
    """Return the ids with all keys, or with the keys of the first digits folded.

    Raises
    ------
    CapacityError
        The distinct ids are more than the ranks.
    """
    if digits is not None:
        return replace(ids, radix=ids.radix.fold(digits, keys_found))
    if len(keys_found) > MAX_NUMBERS:
        raise too_many(len(keys_found))
    return replace(ids, keys=keys_found)


def numbers(ids: CompositeIds, ends: list[Array]) -> list[Array]:
    """Return the numbers (uint32) of keys, all of which are among those of the ids."""
    return [as_uint32(ids.backend.xp.searchsorted(ids.keys, end)) for end in ends]


def _by_part(columns: list[Any], edge_columns: EdgeColumns) -> list[list[Any]]:
    """Split what there is of each column of a partition by the parts of ids."""
    of_all = iter(columns)
    return [[next(of_all) for _ in part.columns] for part in edge_columns.components]
