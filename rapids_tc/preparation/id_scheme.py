"""Id columns of a partitioned frame: each machine profiles its part, and one decides for all.

The rules of `rapids_tc.preparation.id_columns` and `rapids_tc.preparation.numbering` apply to the
columns of all partitions together. So partitions may differ in width or categories as two columns
of one frame may, and other differences raise the same errors. Columns come as
`EdgeColumns.labels_by_part` lists them: the groups, then a source and a destination of each part.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from rapids_tc.errors import CapacityError, RapidsTCError
from rapids_tc.preparation.id_columns import (
    GROUPS,
    NUMERIC,
    ROWS,
    IdColumn,
    inspect,
    inspect_group,
    integers,
    refuse_nulls,
)
from rapids_tc.preparation.ids import DensePart, Ids, IndexedPart
from rapids_tc.preparation.numbering import (
    MAX_NUMBERS,
    can_be_dense,
    check_part,
    common_integer,
    comparison_dtype,
    dense_between,
    factorize,
    in_common_dtype,
    join_ends,
    order_by_value,
    returned_dtype,
    too_many,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np

    from rapids_tc._typing import Array, Series
    from rapids_tc.frames.backend import Backend
    from rapids_tc.preparation.edge_columns import EdgeColumns
    from rapids_tc.preparation.fingerprints import Fingerprint
    from rapids_tc.preparation.ids import Part


@dataclass
class PartProfile:
    """What one machine found in the columns of a part of ids.

    Attributes
    ----------
    rows : int
        Rows of all its partitions.
    columns : list of IdColumn
        The columns without their rows; of equal columns only one.
    nulls : dict of int
        The number of missing ids, by the name of the column.
    dtypes : list of dtype
        The integer dtypes as which columns of numbers are read.
    low, high : int
        The range of all integers; 0 and -1 if there are none.
    problem : RapidsTCError or None
        The error of the first column whose numbers are not ids.
    """

    rows: int = 0
    columns: list[IdColumn] = field(default_factory=list)
    nulls: dict[str, int] = field(default_factory=dict)
    dtypes: list[np.dtype[Any]] = field(default_factory=list)
    low: int = 0
    high: int = -1
    problem: RapidsTCError | None = None

    def add(self, column: IdColumn, nulls: int, backend: Backend) -> None:
        """Add one column of one partition."""
        _add_distinct(self.columns, replace(column, values=column.values.iloc[:0], used=None))
        self.nulls[column.name] = self.nulls.get(column.name, 0) + nulls
        if nulls or column.kind not in NUMERIC or self.problem is not None:
            return
        try:
            values = integers(column.distinct, column.name, backend)
        except RapidsTCError as error:
            self.problem = error
            return
        if len(values):
            self.extend(*backend.min_max([values])[0])
        if values.dtype not in self.dtypes:
            self.dtypes.append(values.dtype)

    def extend(self, low: int, high: int) -> None:
        """Extend the range of the integers to hold [low, high]."""
        has_range = self.low <= self.high
        self.low = min(self.low, low) if has_range else low
        self.high = max(self.high, high) if has_range else high


@dataclass
class IdProfile:
    """What one machine found in the columns of its partitions.

    Attributes
    ----------
    parts : list of PartProfile
    memory : int
        Free bytes of memory at the machine's engine.
    fingerprints : list of Fingerprint
        One per partition; empty if partitions are never read again.
    """

    parts: list[PartProfile]
    memory: int = 0
    fingerprints: list[Fingerprint] = field(default_factory=list)


@dataclass(frozen=True)
class PartScheme:
    """How the values of a part of ids are numbered, decided from the profiles of all machines.

    Attributes
    ----------
    kind : str
        The kind of `IdColumn`; "empty" if there are no rows.
    common_dtype : dtype
        The dtype in which the values of all columns are compared.
    id_dtype : dtype
        The dtype of the values in answers.
    dense : tuple of int or None
        The first value and their number, if integers are their own numbers.
    group : bool
        Whether the columns hold groups.
    """

    kind: str
    common_dtype: Any
    id_dtype: Any
    dense: tuple[int, int] | None
    group: bool = False


@dataclass(frozen=True)
class IdScheme:
    """How the ids of all partitions are numbered.

    Attributes
    ----------
    columns : EdgeColumns
    parts : list of PartScheme
    memory : int
        Free bytes of memory on the machine that has the least.
    fingerprints : list of list of Fingerprint
        One per partition, by machine; empty if partitions are never read again.
    """

    columns: EdgeColumns
    parts: list[PartScheme]
    memory: int
    fingerprints: list[list[Fingerprint]]

    @property
    def dense(self) -> tuple[int, int] | None:
        """The first id and the number of ids, if these are integers and their own numbers."""
        return self.parts[0].dense if len(self.parts) == 1 else None


def inspect_columns(
    series: Iterable[Series], columns: EdgeColumns, backend: Backend
) -> list[tuple[IdColumn, int]]:
    """Describe the columns of a partition, and count the missing values of each."""
    groups, result = len(columns.groups), []
    for place, (values, name) in enumerate(zip(series, columns.names, strict=True)):
        inspect_one = inspect_group if place < groups else inspect
        result.append(inspect_one(backend.to_working_series(values), name, backend))
    return result


def profile(
    inspected: Iterable[list[tuple[IdColumn, int]]], columns: EdgeColumns, backend: Backend
) -> IdProfile:
    """Profile the described columns of some partitions."""
    parts = [PartProfile() for _ in columns.components]
    for partition in inspected:
        for part, described in zip(parts, columns.by_part(partition), strict=True):
            part.rows += len(described[0][0].values)
            for column, nulls in described:
                part.add(column, nulls, backend)
    return IdProfile(parts)


def resolve_scheme(profiles: list[IdProfile], columns: EdgeColumns) -> IdScheme:
    """Decide how all ids are numbered; raise the errors that a frame of one machine would."""
    by_part = zip(*(profiled.parts for profiled in profiles), strict=True)
    parts = [_resolve_part(part) for part in by_part]
    memory = min(profiled.memory for profiled in profiles)
    return IdScheme(columns, parts, memory, [profiled.fingerprints for profiled in profiles])


def _resolve_part(profiles: Sequence[PartProfile]) -> PartScheme:
    """Decide how the values of a part are numbered."""
    columns: list[IdColumn] = []
    for profiled in profiles:
        for column in profiled.columns:
            _add_distinct(columns, column)
    names = list(dict.fromkeys(column.name for column in columns))
    columns.sort(key=lambda column: names.index(column.name))
    group = columns[0].group
    for name in names:
        nulls = sum(profiled.nulls.get(name, 0) for profiled in profiles)
        refuse_nulls(nulls, name, GROUPS if group else ROWS)
    filled = [column for column in columns if column.kind != "empty"]
    if not filled:
        dtype = columns[0].dtype
        return PartScheme("empty", dtype, dtype, None, group)
    check_part(filled)
    for profiled in profiles:
        if profiled.problem is not None:
            raise profiled.problem
    kind = "integer" if filled[0].kind in NUMERIC else filled[0].kind
    common_dtype, dense = comparison_dtype(filled[0]), None
    if kind == "integer":
        total = PartProfile()
        for profiled in profiles:
            if profiled.low <= profiled.high:
                total.extend(profiled.low, profiled.high)
        dtypes = [dtype for profiled in profiles for dtype in profiled.dtypes]
        common_dtype = common_integer(filled, dtypes, lambda: total.low)
        if all(can_be_dense(column) for column in filled):
            rows = sum(profiled.rows for profiled in profiles)
            dense = dense_between(total.low, total.high, rows)
    id_dtype = returned_dtype(filled, common_dtype)
    return PartScheme(kind, common_dtype, id_dtype, dense, group)


def distinct(partitions: list[list[IdColumn]], scheme: IdScheme, backend: Backend) -> list[Any]:
    """Return the distinct values of each part as an Index; None for a dense range of integers."""
    by_partition = [scheme.columns.by_part(columns) for columns in partitions]
    return [
        None if part.dense else _distinct_values([*chain(*described)], part, backend)
        for part, described in zip(scheme.parts, zip(*by_partition, strict=True), strict=True)
    ]


def _distinct_values(columns: list[IdColumn], part: PartScheme, backend: Backend) -> Any:
    filled = [column for column in columns if column.kind != "empty"]
    if not filled:  # no zone of times, of which cuDF makes no Series
        filled = [IdColumn(backend.library.Series([], dtype=part.common_dtype), "", part.kind)]
    found = (factorize(_comparable(column, part, backend), column) for column in filled)
    return union_values([backend.library.Index(values) for _, values in found])


def union(found: list[list[Any]]) -> list[Any]:
    """Return the distinct values of each part from those of several machines."""
    return [None if part[0] is None else union_values([*part]) for part in zip(*found, strict=True)]


def union_values(indexes: list[Any]) -> Any:
    """Return the distinct values of several Indexes."""
    return indexes[0].append(indexes[1:]).unique() if len(indexes) > 1 else indexes[0]


def require_numbers(ids: int) -> None:
    """Raise CapacityError if there are more ids than numbers."""
    if ids > MAX_NUMBERS:
        raise CapacityError(
            f"{ids} distinct ids; a graph numbers at most {MAX_NUMBERS}: pass fewer edges"
        )


def make_ids(scheme: IdScheme, distinct_values: list[Any], backend: Backend) -> Ids:
    """Return the ids by number; of several parts, the keys are still to be found."""
    parts = [
        _make_part(part, index, backend)
        for part, index in zip(scheme.parts, distinct_values, strict=True)
    ]
    return Ids.of(parts, scheme.columns)


def _make_part(scheme: PartScheme, index: Any, backend: Backend) -> Part:
    require_numbers(scheme.dense[1] if scheme.dense else len(index))
    if scheme.dense:
        base, size = scheme.dense
        return DensePart(size, base, scheme.id_dtype, backend)
    none = IdColumn(index, "by=" if scheme.group else "ids", scheme.kind, group=scheme.group)
    ordered = index.take(order_by_value(index, none, scheme.id_dtype, backend))
    return IndexedPart(ordered, scheme.id_dtype, backend, scheme.kind)


def keys(
    columns: list[IdColumn], ids: Ids, scheme: IdScheme, digits: int | None = None
) -> list[Array]:
    """Return the keys of both ends of the rows of a partition; of ids of one part, the numbers.

    With `digits`, the keys have the first digits alone.
    """
    xp, ends = ids.backend.xp, []
    parts = zip(scheme.columns.by_part(columns), ids.parts, scheme.parts, strict=True)
    by_part = [
        [_numbers(column, part, rule, ids.backend) for column in described]
        for described, part, rule in parts
    ]
    ends = [[numbers[end % len(numbers)] for numbers in by_part] for end in range(2)]
    if len(by_part) == 1:
        return [digit for [digit] in ends]
    if digits is None:
        return join_ends(ends, ids.groups, ids.radix, xp)
    return [ids.radix.join(end[:digits], xp) for end in ends]


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


def with_keys(ids: Ids, keys_found: Array, digits: int | None) -> Ids:
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
    return ids.with_keys(ids.radix, keys_found)


def _numbers(column: IdColumn, part: Part, scheme: PartScheme, backend: Backend) -> Array:
    """Return the number of the value in every row of a column."""
    if column.kind == "empty":
        return backend.xp.zeros(0, "uint32")
    if isinstance(part, DensePart):
        return part.number(integers(column.values, column.name, backend))
    of_distinct = part.find(_comparable(column, scheme, backend), column.name).astype("uint32")
    return column.by_row(of_distinct, backend) if column.categorical else of_distinct


def _comparable(column: IdColumn, scheme: PartScheme, backend: Backend) -> Series:
    """Return the ids of a column, or a categorical's distinct ids, in the common dtype."""
    if scheme.kind != "integer":
        return in_common_dtype(column, scheme.common_dtype, backend)
    values = integers(column.distinct, column.name, backend)
    return backend.library.Series(values.astype(scheme.common_dtype, copy=False))


def _add_distinct(columns: list[IdColumn], column: IdColumn) -> None:
    """Append a column unless the list has one of its name, kind and dtype."""
    identity = (column.name, column.kind, column.dtype)
    if all((other.name, other.kind, other.dtype) != identity for other in columns):
        columns.append(column)
