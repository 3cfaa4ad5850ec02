"""Ids of a frame that lies apart: each machine looks at its partitions, one decides for all.

The rules are those of `rapids_tc.ids` and `rapids_tc.numbering`, asked of the columns of all
partitions together, so that partitions may differ in width or in categories as two columns of one
frame may, and are refused with the same errors.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rapids_tc.errors import CapacityError, RapidsTCError
from rapids_tc.frames.backend import Array, Backend, Series
from rapids_tc.preparation.edges import MAX_NUMBERS
from rapids_tc.preparation.fingerprints import Fingerprint
from rapids_tc.preparation.id_columns import (
    NUMERIC,
    IdColumn,
    check,
    inspect,
    integers,
    refuse_nulls,
)
from rapids_tc.preparation.numbering import (
    DenseIds,
    Ids,
    IndexedIds,
    common_integer,
    compared,
    dense_between,
    in_common,
    may_be_dense,
    returned,
)


@dataclass
class IdProfile:
    """What one machine saw in its partitions, for each of the two columns.

    Attributes
    ----------
    rows : int
        Of all its partitions.
    columns : list of IdColumn, two a partition
        Without their rows.
    nulls : dict of int
        Ids that are missing, by the name of the column.
    dtypes : list of dtype
        The integers that columns of numbers are read as.
    low, high : int
        Of all integers; 0 and -1 where there are none.
    problem : RapidsTCError or None
        The first column whose numbers are no ids.
    memory : int
        Bytes of memory that are free where the engine works there.
    prints : list of Fingerprint
        One per partition; empty if partitions are never read again.
    whole : list of IdColumn
        Both columns with their rows, if there is one partition; else empty.
    """

    rows: int = 0
    columns: list[IdColumn] = field(default_factory=list)
    nulls: dict[str, int] = field(default_factory=dict)
    dtypes: list[np.dtype] = field(default_factory=list)
    low: int = 0
    high: int = -1
    problem: RapidsTCError | None = None
    memory: int = 0
    prints: list[Fingerprint] = field(default_factory=list)
    whole: list[IdColumn] = field(default_factory=list)

    def add(self, column: IdColumn, nulls: int, backend: Backend) -> None:
        """Look at one column of one partition."""
        _note(self.columns, IdColumn(column.values.iloc[:0], column.name, column.kind))
        self.nulls[column.name] = self.nulls.get(column.name, 0) + nulls
        if nulls or column.kind not in NUMERIC or self.problem is not None:
            return
        try:
            values = integers(column.distinct, column.name, backend)
        except RapidsTCError as error:
            self.problem = error
            return
        if len(values):
            self.extend(*backend.min_max(values))
        if values.dtype not in self.dtypes:
            self.dtypes.append(values.dtype)

    def extend(self, low: int, high: int) -> None:
        seen = self.low <= self.high
        self.low = min(self.low, low) if seen else low
        self.high = max(self.high, high) if seen else high


@dataclass(frozen=True)
class IdScheme:
    """How the ids of all partitions are numbered, decided from what all machines saw.

    Attributes
    ----------
    kind : str
        As of `IdColumn`, "empty" without a row.
    meet : dtype
        In which ids of all columns are compared.
    given_back : dtype
        In which ids come back.
    dense : tuple of int or None
        First id and how many, where integers are their own numbers.
    memory : int
        Bytes of memory that are free on each of the machines.
    prints : list of list of Fingerprint
        One per partition, by machine; empty if partitions are never read again.
    """

    kind: str
    common_dtype: Any
    given_back: Any
    dense: tuple[int, int] | None
    memory: int
    prints: list[list[Fingerprint]]


def look(
    columns: list[tuple[Series, Series]],
    names: list[str],
    backend: Backend,
    places: list[int] | None = None,
) -> IdProfile:
    """Look at the two id columns of some partitions, and with `places` take their fingerprints."""
    result = IdProfile()
    for i, pair in enumerate(columns):
        result.rows += len(pair[0])
        inspected = inspect_pair(pair, names, backend)
        for column, nulls in inspected:
            result.add(column, nulls, backend)
        if len(columns) == 1 and places is None:
            result.whole = [column for column, _ in inspected]
        if places is not None:
            result.prints.append(Fingerprint.of(places[i], inspected, backend))
    return result


def inspect_pair(
    pair: tuple[Series, Series], names: list[str], backend: Backend
) -> list[tuple[IdColumn, int]]:
    """Describe the two id columns of a partition, and count the missing ids of each."""
    return [
        inspect(backend.to_working_series(values), name, backend)
        for values, name in zip(pair, names, strict=True)
    ]


def resolve_scheme(looks: list[IdProfile]) -> IdScheme:
    """Say how all ids are numbered; raise what one machine would for the whole frame."""
    columns: list[IdColumn] = []
    for look in looks:
        for column in look.columns:
            _note(columns, column)
    names = list(dict.fromkeys(c.name for c in columns))
    columns.sort(key=lambda c: names.index(c.name))
    for name in names:
        refuse_nulls(sum(look.nulls.get(name, 0) for look in looks), name)
    filled = [c for c in columns if c.kind != "empty"]
    memory, prints = min(look.memory for look in looks), [look.prints for look in looks]
    if not filled:
        dtype = columns[0].dtype
        return IdScheme("empty", dtype, dtype, None, memory, prints)
    check(filled)
    for problem in (look.problem for look in looks if look.problem is not None):
        raise problem
    kind = "integer" if filled[0].kind in NUMERIC else filled[0].kind
    common_dtype, dense = compared(filled[0]), None
    if kind == "integer":
        seen = IdProfile()
        for look in looks:
            if look.low <= look.high:
                seen.extend(look.low, look.high)
        common_dtype = common_integer(
            filled, [d for look in looks for d in look.dtypes], lambda: seen.low
        )
        if all(may_be_dense(c) for c in filled):
            dense = dense_between(seen.low, seen.high, sum(look.rows for look in looks))
    return IdScheme(kind, common_dtype, returned(filled, common_dtype), dense, memory, prints)


def distinct(columns: list[IdColumn], rules: IdScheme, backend: Backend) -> Any:
    """The distinct ids of some columns as an Index, in no order."""
    filled = [c for c in columns if c.kind != "empty"]
    none = IdColumn(backend.library.Series([], dtype=rules.common_dtype), "", rules.kind)
    parts = [_meeting(c, rules, backend) for c in filled or [none]]
    return union([backend.library.Index(part.drop_duplicates()) for part in parts])


def union(parts: list[Any]) -> Any:
    """The distinct ids of several Indexes."""
    return parts[0].append(parts[1:]).unique() if len(parts) > 1 else parts[0]


def make_ids(rules: IdScheme, found: Any, backend: Backend) -> Ids:
    """The way back from numbers, from all distinct ids where integers are not dense."""
    size = rules.dense[1] if rules.dense else len(found)
    if size > MAX_NUMBERS:
        raise CapacityError(
            f"{size} distinct ids; a graph numbers at most {MAX_NUMBERS}: pass fewer edges"
        )
    if rules.dense:
        base, size = rules.dense
        return DenseIds(size, base, rules.given_back, backend)
    index = found.take(backend.xp.asarray(found.argsort()))
    return IndexedIds(index, rules.given_back, backend, rules.kind)


def numbers(column: IdColumn, ids: Ids, rules: IdScheme, backend: Backend) -> Array:
    """The number of the id in every row of a column."""
    if column.kind == "empty":
        return backend.xp.zeros(0, "uint32")
    if isinstance(ids, DenseIds):
        return ids.number(integers(column.values, column.name, backend))
    found = ids.find(_meeting(column, rules, backend)).astype("uint32")
    return column.by_row(found, backend) if column.categorical else found


def _meeting(column: IdColumn, rules: IdScheme, backend: Backend) -> Series:
    """The distinct ids of a column, or all, as those of all columns are compared."""
    if rules.kind != "integer":
        return in_common(column, rules.common_dtype, backend)
    values = integers(column.distinct, column.name, backend)
    return backend.library.Series(values.astype(rules.common_dtype, copy=False))


def _note(known: list[IdColumn], column: IdColumn) -> None:
    """Take a column's name and type down, once."""
    own = (column.name, column.kind, column.dtype)
    if all((c.name, c.kind, c.dtype) != own for c in known):
        known.append(column)
