"""Ids, and the numbers that stand for them.

An id is made of one or more parts, such as a group and an id, or an address and a port. Each part
is numbered by value. The number of an id of one part is that of the part. Of several parts, the
numbers are the digits of the id's key, in a number system whose digits have different bases: keys
follow the order of the parts, and an id's number is the place of its key among all keys that occur.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rapids_tc.errors import IdTypeError
from rapids_tc.frames.backend import as_uint32, sum64
from rapids_tc.preparation import moments
from rapids_tc.preparation.edge_columns import OF_ONE_SIDE, SIDE, SIDES, name_in_answers
from rapids_tc.preparation.id_columns import IdColumn, integers, text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rapids_tc._typing import Array, Frame, Series
    from rapids_tc.frames.backend import Backend
    from rapids_tc.preparation.edge_columns import EdgeColumns

MOST = 2**63  # keys below it have room to spare in 64 bits


@dataclass(frozen=True)
class DensePart:
    """Values of a part that are integers, and their own numbers less `base`."""

    size: int
    base: int
    dtype: Any
    backend: Backend
    kind: str = "integer"
    dense: ClassVar[bool] = True
    nbytes: ClassVar[int] = 0  # of memory for the ids
    text: ClassVar[int] = 0

    def words(self, numbers: Array) -> Array:
        """Return the values (uint64) of some numbers (uint64), modulo 2**64."""
        return numbers + np.uint64(self.base % 2**64)

    def slice(self, first: int, size: int) -> DensePart:
        """Return the values of the numbers from `first` on, `size` of them."""
        return replace(self, base=self.base + first, size=size)

    def number(self, ids: Array) -> Array:
        """Return the numbers of integers, all of which are among these ids."""
        if not self.base and ids.dtype != "uint64":  # no signed dtype would hold a uint64
            return ids  # the user's own buffer
        if ids.itemsize < 4:
            ids = ids.astype("int64" if ids.dtype.kind == "i" else "uint64")
        # Unsigned, so that the difference is right modulo the width, whatever the signs are.
        words = ids.view(f"uint{8 * ids.itemsize}")
        base = words.dtype.type(self.base % 2 ** (8 * ids.itemsize))
        return (words - base).astype("uint32", copy=False)

    def take(self, numbers: Array) -> Series:
        """Return the ids of some numbers, in the user's dtype."""
        scalar = np.dtype("int64" if self.base + self.size <= 2**63 else "uint64").type
        ids = numbers.astype(scalar)
        del numbers  # frees them, unless the caller holds them: they are as many as rows
        ids += scalar(self.base)
        return self.backend.library.Series(ids).astype(self.dtype)

    def find(self, ids: Series, name: str) -> Array:
        """Return the number of each id (int64) of a column; -1 for an id without a number."""
        values = integers(ids, name, self.backend)
        inside = _within(values, self.base, self.base + self.size - 1)
        numbers = (values.astype("uint64") - np.uint64(self.base % 2**64)).astype("int64")
        return self.backend.xp.where(inside, numbers, -1)


@dataclass(frozen=True)
class IndexedPart:
    """Values of a part, of any kind, sorted: the number of a value is its place in `index`."""

    index: Any
    dtype: Any
    backend: Backend
    kind: str
    dense: ClassVar[bool] = False

    @property
    def size(self) -> int:
        """The number of distinct ids."""
        return len(self.index)

    @property
    def nbytes(self) -> int:
        """The bytes of the ids."""
        return int(self.index.memory_usage(deep=True))

    @property
    def text(self) -> int:
        """The bytes of an id's text in every row of a frame, beside an offset of eight bytes.

        Zero if rows share Python's string objects.
        """
        is_shared = self.backend.library.__name__ == "pandas" and self.dtype == object
        in_rows = self.kind == "string" and not is_shared
        return max(self.nbytes // self.size - 8, 0) if in_rows and self.size else 0

    def words(self, numbers: Array) -> Array:
        """Return the values (uint64) of some numbers, of integers, modulo 2**64."""
        return self.backend.array(self.index).astype("uint64")[numbers.astype("int64", copy=False)]

    def slice(self, first: int, size: int) -> IndexedPart:
        """Return the values of the numbers from `first` on, `size` of them."""
        return self.with_index(self.index[first : first + size])

    def with_index(self, index: Any) -> IndexedPart:
        """Return other ids of the same kind."""
        return replace(self, index=index)

    def take(self, numbers: Array) -> Series:
        """Return the ids of some numbers, in the user's dtype."""
        library, places = self.backend.library, numbers.astype("int64")
        del numbers  # frees them, unless the caller holds them: they are as many as rows
        if len(places) < self.size:
            return self._in_user_dtype(self.index.take(places))
        # Each id is converted once: all rows of an id share one of Python's string objects.
        return library.Series(library.Index(self._in_user_dtype(self.index)).take(places))

    def _in_user_dtype(self, index: Any) -> Series:
        ids = self.backend.library.Series(index)
        categories = getattr(self.dtype, "categories", None)
        if categories is not None:  # pandas finds a value only among categories of its own dtype
            ids = ids.astype(categories.dtype)
        return ids.astype(self.dtype)

    def find(self, ids: Series, name: str) -> Array:
        """Return the number of each id (int64) of a column; -1 for an id without a number."""
        xp, in_bounds = self.backend.xp, self.backend.xp.ones(len(ids), bool)
        if self.kind == "integer":
            values = integers(ids, name, self.backend)
            limits = np.iinfo(self.index.dtype)
            in_bounds = _within(values, int(limits.min), int(limits.max))
            values = xp.where(in_bounds, values, 0).astype(self.index.dtype)
            ids = self.backend.library.Series(values)
        elif self.kind == "string":
            ids = text(IdColumn(ids, name, "string"), self.backend)
        elif self.kind == "datetime":
            ids = moments.cast_named(ids, self.index.dtype, name)
            if ids.dtype != self.index.dtype:  # the bounds of the index's unit may be narrower
                ids = ids.where((ids >= self.index.min()) & (ids <= self.index.max()))
        numbers = xp.asarray(self.index.get_indexer(self.backend.library.Index(ids)))
        return xp.where(in_bounds, numbers.astype("int64"), -1)


@dataclass(frozen=True)
class SidedPart:
    """Values of a part whose two columns never meet: those of sources, then of destinations.

    Attributes
    ----------
    source, destination : DensePart or IndexedPart
        The values of each column by number; numbers of destinations follow those of sources.
    only : {"source", "destination"}, optional
        The side that all numbers are of, if that is known.
    """

    source: DensePart | IndexedPart
    destination: DensePart | IndexedPart
    only: str = ""
    dense: ClassVar[bool] = False
    kind: ClassVar[str] = "sides"

    @property
    def backend(self) -> Backend:
        """Where the values are."""
        return self.source.backend

    @property
    def size(self) -> int:
        """The number of distinct ids of both sides."""
        return self.source.size + self.destination.size

    @property
    def nbytes(self) -> int:
        """The bytes of the ids."""
        return self.source.nbytes + self.destination.nbytes

    @property
    def text(self) -> int:
        """The bytes of an id's text in every row of a frame, beside an offset of eight bytes."""
        return max(self.source.text, self.destination.text)

    def is_destination(self, numbers: Array) -> Array:
        """Return whether each number is of a destination."""
        return numbers >= self.source.size

    def side(self, numbers: Array) -> Series:
        """Return the side of some numbers, as answers name it."""
        library = self.backend.library
        sides = self.is_destination(numbers).astype("int64")
        return library.Series(library.Index([*SIDES]).take(sides))

    @cached_property
    def dtype(self) -> Any:
        """The dtype of a column of both sides.

        Raises
        ------
        IdTypeError
            No column holds ids of both kinds.
        """
        parts = self.source, self.destination
        filled = [part for part in parts if part.kind != "empty"] or [self.source]
        dtypes = [part.dtype for part in filled]
        if dtypes[1:] and dtypes[0] != dtypes[1]:
            dtypes = [getattr(getattr(d, "categories", None), "dtype", d) for d in dtypes]
        kinds = {part.kind for part in filled}
        if dtypes[0] == dtypes[-1] or kinds == {"string"}:
            return dtypes[0]
        if kinds == {"integer"}:
            common = np.result_type(*(f"{dtype.kind}{dtype.itemsize}" for dtype in dtypes))
            if common.kind != "f":
                return common
            first = self.backend.xp.zeros(1, "int64")  # the number of the least id
            if all(int(part.take(first).iloc[0]) >= 0 for part in filled):
                return np.dtype("uint64")
        both = " and of destinations ".join(str(part.dtype) for part in parts)
        raise IdTypeError(
            "the vertices of both sides are one column of the answer, and ids of sources have "
            f"dtype {both}, which no column holds together: convert one of them"
        )

    def take(self, numbers: Array) -> Series:
        """Return the ids of some numbers, in the dtype of their column if all are of one side."""
        library, xp = self.backend.library, self.backend.xp
        behind = xp.zeros(len(numbers), bool) if self.only else self.is_destination(numbers)
        destinations = len(numbers) if self.only == "destination" else sum64(behind)
        if not destinations:
            return self.source.take(numbers)
        first = numbers.dtype.type(self.source.size)
        if destinations == len(numbers):
            return self.destination.take(numbers - first)
        of_sides = [
            self.source.take(numbers[~behind]),
            self.destination.take(numbers[behind] - first),
        ]
        places = xp.concatenate([xp.flatnonzero(~behind), xp.flatnonzero(behind)])
        with suppress(IdTypeError):  # in a message alone, which may name ids of two kinds
            of_sides = [ids.astype(self.dtype) for ids in of_sides]
        both = library.concat(of_sides, ignore_index=True)
        return both.take(xp.argsort(places)).reset_index(drop=True)


@dataclass(frozen=True)
class MixedRadix:
    """Keys made of digits, each with a base of its own, the most significant first.

    Attributes
    ----------
    bases : tuple of int
        How many values each digit has.
    folds : tuple of arrays or None, one per digit
        The ascending keys that occur of the digits up to this one, if keys of more digits would not
        fit in 64 bits: in these, the place of a key among the keys that occur stands for it.
    """

    bases: tuple[int, ...]
    folds: tuple[Any, ...]

    @classmethod
    def of(cls, bases: Sequence[int]) -> MixedRadix:
        """Return the keys of these bases, with nothing folded."""
        return cls(tuple(bases), (None,) * len(bases))

    def size(self, digits: int) -> int:
        """Return how many different keys the first digits can make."""
        size = 1
        for base, fold in zip(self.bases[:digits], self.folds, strict=False):
            size = size * base if fold is None else len(fold)
        return size

    def overflow(self) -> int | None:
        """Return the number of digits to fold next; None if all keys fit in 64 bits."""
        for digits in range(2, len(self.bases)):
            too_large = self.size(digits) * self.bases[digits] >= MOST
            if too_large and self.folds[digits - 1] is None:
                return digits
        return None

    def fold(self, digits: int, keys: Array) -> MixedRadix:
        """Return the same keys, in which places among `keys` stand for the first digits."""
        folds = [*self.folds]
        folds[digits - 1] = keys
        return MixedRadix(self.bases, tuple(folds))

    def join(self, numbers: Sequence[Array], xp: Any, last: int | None = None) -> Array:
        """Return the keys (uint64) of as many digits as there are arrays of numbers.

        If these are the `last` digits, the first array holds the keys of all digits before them.
        """
        first = 0 if last is None else len(self.bases) - last - 1
        keys = numbers[0].astype("uint64")
        for place, digit in enumerate(numbers[1:], first + 1):
            if (fold := self.folds[place - 1]) is not None:
                keys = xp.searchsorted(fold, keys).astype("uint64")
            keys *= np.uint64(self.bases[place])
            keys += digit.astype("uint64", copy=False)
        return keys

    def split(self, keys: Array, last: int | None = None) -> list[Array]:
        """Return the digits of keys; with `last`, only so many, after the keys of those before."""
        first = 0 if last is None else len(self.bases) - last - 1
        keys, digits = keys.astype("uint64", copy=False), []
        for place in range(len(self.bases) - 1, first, -1):
            base, fold = np.uint64(self.bases[place]), self.folds[place - 1]
            before = keys // base
            digits.append(keys - before * base)
            keys = before if fold is None else fold[before.astype("int64")]
        return [keys, *reversed(digits)]


Part = DensePart | IndexedPart


@dataclass(frozen=True)
class Ids:
    """Ids by number.

    Attributes
    ----------
    parts : tuple of DensePart or IndexedPart
        The values of each part by number; groups first. Of a bipartite frame, parts that are no
        groups are a `SidedPart` each.
    labels : tuple
        What each part is called in answers; None for the only part of an id, which has no name of
        its own.
    groups : int
        How many parts are groups.
    backend : Backend
    radix : MixedRadix
        How keys are made of the numbers of several parts.
    size : int
        The number of distinct ids.
    keys : array of uint64 or None
        The key of every number, ascending; None for ids of one part.
    """

    parts: tuple[Part, ...]
    labels: tuple[Any, ...]
    groups: int
    backend: Backend
    radix: MixedRadix
    size: int
    keys: Array | None = None

    @classmethod
    def of(cls, parts: Sequence[Part], columns: EdgeColumns) -> Ids:
        """Return the ids of these parts; of several, the keys are still to be found."""
        radix = MixedRadix.of([max(part.size, 1) for part in parts])
        labels = tuple(component.label for component in columns.components)
        groups = sum(component.group for component in columns.components)
        size = 0 if parts[1:] else parts[0].size
        return cls(tuple(parts), labels, groups, parts[0].backend, radix, size)

    @property
    def dense(self) -> bool:
        """Whether ids are integers, and their own numbers less the smallest."""
        return self.keys is None and self.parts[0].dense

    @property
    def nbytes(self) -> int:
        """The bytes of the ids, and of the group of every number."""
        by_number = 0 if self.keys is None else int(self.keys.nbytes) * (2 if self.groups else 1)
        return by_number + sum(part.nbytes for part in self.parts)

    @property
    def text(self) -> int:
        """The bytes of an id's text in every row of a frame, beside an offset of eight bytes."""
        return sum(part.text for part in self.parts)

    def of_side(self, side: str) -> Ids:
        """Return the ids of a bipartite frame for numbers of "source" or "destination" alone."""
        parts: list[Any] = [*self.parts]
        for place, part in enumerate(parts):
            if isinstance(part, SidedPart):
                parts[place] = replace(part, only=side)
        return replace(self, parts=tuple(parts))

    @property
    def bipartite(self) -> bool:
        """Whether ids have a side."""
        return isinstance(self.parts[-1], SidedPart)

    def require_one_column(self) -> None:
        """Raise IdTypeError if no column holds the ids of both sides of a bipartite frame."""
        for part in self.parts:
            if isinstance(part, SidedPart):
                _ = part.dtype

    def is_destination(self, numbers: Array) -> Array:
        """Return whether some numbers of a bipartite frame are of destinations."""
        part: Any = self.parts[-1]
        return part.is_destination(self.digits(numbers)[-1])

    @cached_property
    def starts(self) -> Array:
        """The first number (int64) of each group; of all ids if there are no groups."""
        xp = self.backend.xp
        if not self.groups:
            return xp.zeros(min(self.size, 1), "int64")
        before = self.radix.split(self.keys, len(self.parts) - self.groups)[0]
        new = xp.ones(self.size, bool)
        new[1:] = before[1:] != before[:-1]
        return xp.flatnonzero(new)

    @cached_property
    def group_of(self) -> Array:
        """The group (int64) of every number, counted from 0."""
        xp = self.backend.xp
        new = xp.zeros(self.size, "int64")
        new[self.starts[1:]] = 1
        return xp.cumsum(new)

    @property
    def words(self) -> Array:
        """A uint64 per number, to sample by: an integer id's value, else its place in its group."""
        xp, [*_, part] = self.backend.xp, self.parts
        numbers = xp.arange(self.size, dtype="uint64")
        if len(self.parts) - self.groups == 1 and part.kind == "integer":
            return part.words(self.digits(numbers, 1)[-1])
        return numbers - self.starts[self.group_of].astype("uint64") if self.groups else numbers

    def slice(self, first: int, size: int) -> Ids:
        """Return the ids of the numbers from `first` on, `size` of them, of ids of one part."""
        [part] = self.parts
        return replace(self, parts=(part.slice(first, size),), size=size)

    def without_tables(self) -> Ids:
        """Copy the ids without the hash tables of their indexes, which are larger than the ids."""
        return self._with_indexes(lambda part: part.index.copy(deep=True))

    def with_shared_texts(self) -> Ids:
        """Return the ids with one object of Python per text, shared by all rows that are taken."""
        index = self.backend.library.Index

        def shared(part: IndexedPart) -> Any:
            return index(part.take(np.arange(part.size))) if part.dtype == object else part.index

        return self._with_indexes(shared)

    def _with_indexes(self, change: Callable[[IndexedPart], Any]) -> Ids:
        parts = (
            part.with_index(change(part)) if isinstance(part, IndexedPart) else part
            for part in self.parts
        )
        return replace(self, parts=tuple(parts))

    def with_keys(self, radix: MixedRadix, keys: Array) -> Ids:
        """Return ids of several parts with the keys that occur."""
        return replace(self, radix=radix, keys=keys, size=len(keys))

    def digits(self, numbers: Array, last: int | None = None) -> list[Array]:
        """Return the numbers of the parts of some ids; see `MixedRadix.split`."""
        if self.keys is None:
            return [numbers]
        return self.radix.split(self.keys[numbers.astype("int64", copy=False)], last)

    def numbers(self, keys: Array) -> Array:
        """Return the numbers of keys, all of which are among those of the ids."""
        if self.keys is None:
            return keys
        return as_uint32(self.backend.xp.searchsorted(self.keys, keys))

    def columns(self, roles: Sequence[str], numbers: Iterable[Array]) -> dict[Any, Series]:
        """Return columns of an answer: the groups, then the ids of some numbers in each role.

        The ids in one row are of one group. `numbers` is asked for one role at a time, since all
        numbers together are as large as the answer. In a bipartite graph, vertices get their side
        in a last column, unless it is known.
        """
        result: dict[Any, Series] = {}
        side: dict[Any, Series] = {}
        of_roles = iter(numbers)
        for role in roles:
            digits = self.digits(next(of_roles))
            side = side or self._side(roles, digits[-1])
            for place, (part, label) in enumerate(zip(self.parts, self.labels, strict=True)):
                is_group = place < self.groups
                name = label if is_group else name_in_answers(role, label)
                if is_group and name in result:
                    del digits[0]
                else:
                    result[name] = part.take(digits.pop(0))
        return result | side

    def _side(self, roles: Sequence[str], digits: Array) -> dict[Any, Series]:
        """Return the column of the side of vertices, if an answer with these roles has one."""
        part: Any = self.parts[-1]
        has_side = isinstance(part, SidedPart) and not part.only and tuple(roles) in OF_ONE_SIDE
        return {SIDE: part.side(digits)} if has_side else {}

    def named(self, numbers: Array) -> Series:
        """Return some ids; those of several parts are text, in a Series of pandas."""
        if self.keys is None:
            return self.parts[0].take(numbers)
        columns = self.backend.library.DataFrame(self.columns(["vertex"], [numbers]))
        frame = columns.to_pandas() if hasattr(columns, "to_pandas") else columns
        return "(" + frame.astype("str").agg(", ".join, axis=1) + ")"

    def in_messages(self, numbers: Array) -> list[Any]:
        """Return some ids as messages show them."""
        names = self.named(numbers)
        return [names.iloc[i] for i in range(len(names))]

    def group_columns(self, groups: Array | None = None) -> dict[Any, Series]:
        """Return the values of some groups in each column of groups; of every group if None."""
        digits = self.digits(self.starts if groups is None else self.starts[groups])
        columns = zip(self.parts[: self.groups], self.labels, digits, strict=False)
        return {label: part.take(digit) for part, label, digit in columns}

    def group_frame(self, columns: dict[str, Any], backend: Backend) -> Frame:
        """Return a frame of values by group, sorted by group, in the user's library."""
        values = {name: backend.xp.asarray(column) for name, column in columns.items()}
        frame = backend.library.DataFrame({**self.group_columns(), **values})
        return backend.adapter.frame(frame)

    def fullest_group(self, counts: Array) -> tuple[int, str]:
        """Return the largest of the counts of groups, and the name of its group."""
        group = int(counts.argmax())
        named = self.group_columns().items()
        values = (f"{label!r}: {values.iloc[group]}" for label, values in named)
        return int(counts[group]), f"the group {', '.join(values)}"


def largest_by_group(values: Array, group: Array, backend: Backend) -> Array:
    """Return, for every value, the largest value of its group."""
    library = backend.library
    largest = library.Series(values).groupby(library.Series(group)).max()
    by_group = backend.xp.zeros(int(group.max()) + 1 if len(group) else 0, values.dtype)
    by_group[backend.array(largest.index)] = backend.array(largest)
    return by_group[group]


def _within(values: Array, low: int, high: int) -> Array:
    """Return which integers, of any width and sign, lie in [low, high]."""
    limits, scalar = np.iinfo(values.dtype), values.dtype.type
    if high < limits.min or low > limits.max:
        return values != values
    return (values >= scalar(max(low, limits.min))) & (values <= scalar(min(high, limits.max)))
