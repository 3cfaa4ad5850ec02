"""Id columns of a frame in parts: each machine profiles its parts, and one decides for all.

The rules are the rules of `rapids_tc.preparation.id_columns` and `rapids_tc.preparation.numbering`,
applied to the columns of all partitions together. So partitions may differ in width or categories
as two columns of one frame may, and are refused with the same errors.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from rapids_tc.errors import CapacityError, RapidsTCError
from rapids_tc.preparation.edges import MAX_NUMBERS
from rapids_tc.preparation.fingerprints import Fingerprint
from rapids_tc.preparation.id_columns import (
    GROUPS,
    NUMERIC,
    ROWS,
    IdColumn,
    check,
    check_groups,
    inspect,
    integers,
    refuse_nulls,
)
from rapids_tc.preparation.numbering import (
    ColumnIds,
    DenseIds,
    IndexedIds,
    can_be_dense,
    common_integer,
    comparison_dtype,
    dense_between,
    factorize,
    in_common_dtype,
    order_by_value,
    returned_dtype,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from rapids_tc._typing import Array, Series
    from rapids_tc.frames.backend import Backend


@dataclass
class IdProfile:
    """What one machine found in the two id columns of its partitions.

    Attributes
    ----------
    rows : int
        Rows of all its partitions.
    columns : list of IdColumn, two per partition
        The columns without their rows; of equal columns only one.
    nulls : dict of int
        The number of missing ids, by the name of the column.
    dtypes : list of dtype
        The integer dtypes as which columns of numbers are read.
    low, high : int
        The range of all integers; 0 and -1 if there are none.
    problem : RapidsTCError or None
        The error of the first column whose numbers are not ids.
    memory : int
        Free bytes of memory at the machine's engine.
    fingerprints : list of Fingerprint
        One per partition; empty if partitions are never read again.
    whole : list of IdColumn
        Both columns with their rows, if there is one partition; else empty.
    """

    rows: int = 0
    columns: list[IdColumn] = field(default_factory=list)
    nulls: dict[str, int] = field(default_factory=dict)
    dtypes: list[np.dtype[Any]] = field(default_factory=list)
    low: int = 0
    high: int = -1
    problem: RapidsTCError | None = None
    memory: int = 0
    fingerprints: list[Fingerprint] = field(default_factory=list)
    whole: list[IdColumn] = field(default_factory=list)

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


@dataclass(frozen=True)
class IdScheme:
    """How the ids of all partitions are numbered, decided from the profiles of all machines.

    Attributes
    ----------
    kind : str
        The kind of `IdColumn`; "empty" if there are no rows.
    common_dtype : dtype
        The dtype in which the ids of all columns are compared.
    id_dtype : dtype
        The dtype of the ids in answers.
    dense : tuple of int or None
        The first id and the number of ids, if integers are their own numbers.
    memory : int
        Free bytes of memory on the machine that has least.
    fingerprints : list of list of Fingerprint
        One per partition, by machine; empty if partitions are never read again.
    group : bool
        Whether the columns hold groups.
    """

    kind: str
    common_dtype: Any
    id_dtype: Any
    dense: tuple[int, int] | None
    memory: int
    fingerprints: list[list[Fingerprint]]
    group: bool = False


def profile(
    pairs: Sequence[tuple[Series, ...]],
    names: list[str],
    backend: Backend,
    places: list[int] | None = None,
) -> IdProfile:
    """Profile the two id columns of some partitions; if `places` are given, with fingerprints."""
    result = IdProfile()
    for i, pair in enumerate(pairs):
        result.rows += len(pair[0])
        inspected = inspect_pair(pair, names, backend)
        for column, nulls in inspected:
            result.add(column, nulls, backend)
        if len(pairs) == 1 and places is None:
            result.whole = [column for column, _ in inspected]
        if places is not None:
            result.fingerprints.append(Fingerprint.of(places[i], inspected, backend))
    return result


def inspect_pair(
    pair: tuple[Series, ...], names: list[str], backend: Backend
) -> list[tuple[IdColumn, int]]:
    """Describe the two id columns of a partition, and count the missing ids of each."""
    return [
        inspect(backend.to_working_series(values), name, backend)
        for values, name in zip(pair, names, strict=True)
    ]


def resolve_scheme(profiles: list[IdProfile]) -> IdScheme:
    """Decide how all ids are numbered; raise the errors that one machine would for the frame."""
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
    memory = min(profiled.memory for profiled in profiles)
    fingerprints = [profiled.fingerprints for profiled in profiles]
    if not filled:
        dtype = columns[0].dtype
        return IdScheme("empty", dtype, dtype, None, memory, fingerprints, group)
    if group:
        check_groups(filled)
    else:
        check(filled)
    for profiled in profiles:
        if profiled.problem is not None:
            raise profiled.problem
    kind = "integer" if filled[0].kind in NUMERIC else filled[0].kind
    common_dtype, dense = comparison_dtype(filled[0]), None
    if kind == "integer":
        total = IdProfile()
        for profiled in profiles:
            if profiled.low <= profiled.high:
                total.extend(profiled.low, profiled.high)
        dtypes = [dtype for profiled in profiles for dtype in profiled.dtypes]
        common_dtype = common_integer(filled, dtypes, lambda: total.low)
        if all(can_be_dense(column) for column in filled):
            rows = sum(profiled.rows for profiled in profiles)
            dense = dense_between(total.low, total.high, rows)
    id_dtype = returned_dtype(filled, common_dtype)
    return IdScheme(kind, common_dtype, id_dtype, dense, memory, fingerprints, group)


def distinct(columns: list[IdColumn], scheme: IdScheme, backend: Backend) -> Any:
    """Return the distinct ids of some columns as an Index, in no order."""
    filled = [column for column in columns if column.kind != "empty"]
    none = IdColumn(backend.library.Series([], dtype=scheme.common_dtype), "", scheme.kind)
    parts = (factorize(_comparable(column, scheme, backend), column) for column in filled or [none])
    return union([backend.library.Index(values) for _, values in parts])


def union(parts: list[Any]) -> Any:
    """Return the distinct ids of several Indexes."""
    return parts[0].append(parts[1:]).unique() if len(parts) > 1 else parts[0]


def require_numbers(ids: int) -> None:
    """Raise CapacityError if there are more ids than numbers."""
    if ids > MAX_NUMBERS:
        raise CapacityError(
            f"{ids} distinct ids; a graph numbers at most {MAX_NUMBERS}: pass fewer edges"
        )


def make_ids(scheme: IdScheme, index: Any, backend: Backend) -> ColumnIds:
    """Return the ids by number, from an `index` of all distinct ids unless they are dense."""
    require_numbers(scheme.dense[1] if scheme.dense else len(index))
    if scheme.dense:
        base, size = scheme.dense
        return DenseIds(size, base, scheme.id_dtype, backend)
    none = IdColumn(index, "by=" if scheme.group else "ids", scheme.kind, group=scheme.group)
    ordered = index.take(order_by_value(index, none, scheme.id_dtype, backend))
    return IndexedIds(ordered, scheme.id_dtype, backend, scheme.kind)


def numbers(column: IdColumn, ids: ColumnIds, scheme: IdScheme, backend: Backend) -> Array:
    """Return the number of the id in every row of a column."""
    if column.kind == "empty":
        return backend.xp.zeros(0, "uint32")
    if isinstance(ids, DenseIds):
        return ids.number(integers(column.values, column.name, backend))
    of_distinct = ids.find(_comparable(column, scheme, backend), column.name).astype("uint32")
    return column.by_row(of_distinct, backend) if column.categorical else of_distinct


def _comparable(column: IdColumn, scheme: IdScheme, backend: Backend) -> Series:
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
