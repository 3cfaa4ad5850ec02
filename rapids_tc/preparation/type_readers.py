"""Readers of types and of signs, which give each row a code of one byte.

A code is the place of a type among all types of the graph, sorted. Types are whatever the library
of the frame can group and sort.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.errors import CapacityError, NullIdError, require_unchanged
from rapids_tc.frames.adapters import root
from rapids_tc.frames.backend import sum64
from rapids_tc.preparation.edge_values import EdgeError, EdgeRows, Readers, Reduced
from rapids_tc.preparation.id_columns import count_nulls, indexable, is_integer, no_groups
from rapids_tc.preparation.readers import NumberReader, Reader

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rapids_tc._typing import Array, Series
    from rapids_tc.frames.backend import Backend

MOST_TYPES = 255
NARROW = 2**16  # of integers in no wider a range the distinct ones are marked, not hashed


@dataclass(frozen=True)
class TypeProfile:
    """The types in a part of a column: a few rows more than `MOST_TYPES`, at most.

    Attributes
    ----------
    types : Series
        Distinct, without nulls, in any order.
    nulls : int
    problem : str
        Why the values cannot be grouped; empty if they can.
    """

    types: Series
    nulls: int
    problem: str = ""

    @classmethod
    def of(cls, column: Series, backend: Backend) -> TypeProfile:
        """Profile a part of a column."""
        column = indexable(column)
        if is_integer(column.dtype) and len(column) and not count_nulls(column):
            values = backend.array(column)
            if (distinct := _narrow(values, backend)) is not None:
                return cls(backend.library.Series(distinct[: MOST_TYPES + 1]), 0)
        if refused := no_groups(column.dtype):
            return cls(column.iloc[:0], 0, refused)
        try:
            distinct = column.dropna().drop_duplicates().reset_index(drop=True)
            distinct = distinct.iloc[: MOST_TYPES + 1]
            if str(column.dtype) == "object" and root(column) == "pandas":
                hash(tuple(distinct))  # which pandas does not always ask for
        except TypeError as error:
            return cls(column.iloc[:0], 0, str(error))
        return cls(distinct, count_nulls(column))


def _narrow(values: Array, backend: Backend) -> Array | None:
    """Return the distinct values of some integers, ascending, or None if their range is wide."""
    [(low, high)] = backend.min_max([values])
    if high - low >= NARROW:
        return None
    start = values.dtype.type(low)
    seen = backend.xp.zeros(high - low + 1, bool)
    seen[(values - start).view(f"u{values.dtype.itemsize}")] = True  # also where it wraps around
    return start + backend.xp.flatnonzero(seen).astype(values.dtype)


def sorted_types(profiles: list[TypeProfile], name: str) -> Series:
    """Return all types of a column in its dtype, by value; of an ordered categorical, by category.

    Raises
    ------
    ValueError
        The values cannot be grouped, or not be sorted.
    CapacityError
        There are more than `MOST_TYPES`.
    """
    for profile in profiles:
        if profile.problem:
            raise ValueError(
                f"{name} holds values that cannot be grouped: {profile.problem}; convert the "
                "column to text"
            )
    parts = [profile.types for profile in profiles]
    types = parts[0]
    if len(parts) > 1:
        filled = [part for part in parts if len(part)] or parts[:1]
        types = import_module(root(types)).concat(filled, ignore_index=True).drop_duplicates()
    if len(types) > MOST_TYPES:
        raise CapacityError(
            f"{name} has more than {MOST_TYPES} types: a type takes one byte of each edge; group "
            "some of them"
        )
    try:
        types = types.reset_index(drop=True)
        return types.take(_by_value(types).sort_values().index).reset_index(drop=True)
    except TypeError as error:
        raise ValueError(f"{name} holds values that cannot be sorted: {error}") from error


def _by_value(types: Series) -> Series:
    """Return types that sort by value: categories without an order would sort by their codes.

    The codes of a Polars Categorical follow the order in which a process met the categories.
    """
    is_unordered = hasattr(types.dtype, "categories") and not types.dtype.ordered
    return types.astype(types.dtype.categories.dtype) if is_unordered else types


def codes_of(column: Series, types: Series, backend: Backend) -> Array:
    """Return the place of each value among the types, uint8.

    Raises
    ------
    KernelError
        A value is none of the types, all of which were seen before: the frame was written to.
    """
    column = indexable(column)
    if is_integer(column.dtype) and column.dtype == types.dtype and len(types):
        known, values = backend.array(types), backend.array(column)
        if (places := _narrow_places(values, known, backend)) is not None:
            return places
        places = backend.xp.searchsorted(known[:-1], values)
        require_unchanged(sum64(known[places] != values))
    else:
        index = backend.library.Index
        places = backend.xp.asarray(index(types).get_indexer(index(column)))
        require_unchanged(sum64(places < 0))
    return places.astype("uint8")


def _narrow_places(values: Array, known: Array, backend: Backend) -> Array | None:
    """Return the place (uint8) of each value among ascending ones; None if their range is wide."""
    low, size = int(known[0]), int(known[-1]) - int(known[0]) + 1
    if size > NARROW:
        return None
    xp, unsigned = backend.xp, f"u{known.dtype.itemsize}"
    start = known.dtype.type(low)
    table = xp.full(size + 1, MOST_TYPES, "uint8")
    table[(known - start).view(unsigned)] = xp.arange(len(known), dtype="uint8")
    least = min(size, np.iinfo(unsigned).max)
    places = table[xp.minimum((values - start).view(unsigned), np.dtype(unsigned).type(least))]
    require_unchanged(sum64(places == MOST_TYPES))
    return places


@dataclass(frozen=True)
class TypeReader(Reader):
    """A column of types, which are read as codes of one byte."""

    label: Any
    role: str = "edge_type"
    types: Any = None

    def profile(
        self, column: Series, first: int, backend: Backend, groups: Array | None = None
    ) -> TypeProfile:
        """See `Reader`."""
        return TypeProfile.of(column, backend)

    def resolve(self, profiles: list[TypeProfile]) -> TypeReader:
        """See `Reader`."""
        name = f"{self.role}={self.label!r}"
        if nulls := sum(profile.nulls for profile in profiles):
            raise NullIdError(
                f"{name} has {nulls} null{'s' if nulls > 1 else ''}: every edge needs a type. Drop "
                "those rows, or fill them"
            )
        return replace(self, types=sorted_types(profiles, name))

    def read(self, column: Series, backend: Backend, groups: Array | None = None) -> Array:
        """See `Reader`."""
        return codes_of(column, self.types, backend)

    def show(self, value: Any) -> str:
        """See `Reader`."""
        return repr(self.types.iloc[int(value)])


NEGATIVE, POSITIVE = 0, 1  # codes of signs


@dataclass(frozen=True)
class SignReader(NumberReader):
    """A column of finite numbers, of which only the signs are read if rows must agree."""

    role: str = "sign"
    label: Any = None
    signs_alone: bool = True
    what = "signs"

    @property
    def exact(self) -> bool:  # type: ignore[override]
        """See `NumberReader`: the sign of an integer is the same after rounding."""
        return not self.signs_alone

    def read(self, column: Series, backend: Backend, groups: Array | None = None) -> Array:
        """See `Reader`."""
        values = super().read(column, backend)
        return backend.xp.sign(values) if self.signs_alone else values

    def show(self, value: Any) -> str:
        """See `Reader`."""
        return {1.0: "+", -1.0: "-", 0.0: "0"}[float(value)] if self.signs_alone else repr(value)


@dataclass(frozen=True)
class Signs(Reduced):
    """The sign of the value of each edge, as a code of one byte: `NEGATIVE` or `POSITIVE`."""

    def collect(
        self, chunks: Iterable[EdgeRows], edges: int, readers: Readers, backend: Backend
    ) -> list[Array]:
        """See `Reduced`; EdgeError for an edge whose value is zero."""
        [values] = super().collect(chunks, edges, readers, backend)
        require_signs(values, None, readers[0])
        return [(values > 0).astype("uint8")]


def require_signs(values: Array, edges: Array | None, reader: Reader) -> None:
    """Raise EdgeError if a value is zero: that of an edge, or of a row of one of `edges`."""
    zero = values == 0
    if sum64(zero):
        place = int(zero.argmax())
        raise EdgeError(
            place if edges is None else int(edges[place]),
            0,
            f"{reader.role}={reader.label!r}: the value of the edge {{edge}} is 0, which has "
            "no sign: drop its rows, or say which sign it has",
        )
