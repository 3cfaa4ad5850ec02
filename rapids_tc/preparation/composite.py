"""Ids made of several parts, such as a group and an id, or an address and a port.

Each part is numbered by value as an id is, and the numbers of an id's parts are the digits of its
key, in a number system whose digits have different bases. Keys follow the order of the parts, and
an id's number is the place of its key among all keys that occur.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rapids_tc.preparation.edge_columns import name_in_answers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rapids_tc._typing import Array, Frame, Series
    from rapids_tc.frames.backend import Backend

MOST = 2**63  # keys below it have room to spare in 64 bits


@dataclass(frozen=True)
class MixedRadix:
    """Keys made of digits, each with a base of its own, the most significant first.

    Attributes
    ----------
    bases : tuple of int
        How many values each digit has.
    folds : tuple of arrays or None, one per digit
        The ascending keys that occur of the digits up to this one, if the place of a key stands for
        it in keys of more digits, which would not fit in 64 bits otherwise.
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
        """Return the digits of keys; of only the `last` ones, after the keys of those before."""
        first = 0 if last is None else len(self.bases) - last - 1
        keys, digits = keys.astype("uint64", copy=False), []
        for place in range(len(self.bases) - 1, first, -1):
            base, fold = np.uint64(self.bases[place]), self.folds[place - 1]
            before = keys // base
            digits.append(keys - before * base)
            keys = before if fold is None else fold[before.astype("int64")]
        return [keys, *reversed(digits)]


@dataclass(frozen=True)
class CompositeIds:
    """Ids made of parts, the first of which may be groups.

    Attributes
    ----------
    parts : tuple of DenseIds or IndexedIds
        The values of each part by number.
    labels : tuple
        What each part is called in answers; None for the only part of an id, which has no name of
        its own.
    groups : int
        How many parts are groups.
    radix : MixedRadix
        How keys are made of the numbers of the parts.
    keys : array of uint64
        The key of every number, ascending.
    """

    parts: tuple[Any, ...]
    labels: tuple[Any, ...]
    groups: int
    radix: MixedRadix
    keys: Array
    backend: Backend
    kind: str = "composite"
    dense: ClassVar[bool] = False

    @property
    def size(self) -> int:
        """The number of distinct ids."""
        return len(self.keys)

    @property
    def nbytes(self) -> int:
        """The bytes of the ids, and of the group of every number."""
        by_number = int(self.keys.nbytes) * (2 if self.groups else 1)
        return by_number + sum(int(part.nbytes) for part in self.parts)

    @property
    def text(self) -> int:
        """The bytes of an id's text in every row of a frame."""
        return sum(int(part.text) for part in self.parts)

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
        """A uint64 per number, to sample by: an integer id's value, else the place in its group."""
        xp = self.backend.xp
        part = self.parts[-1]
        if len(self.parts) - self.groups == 1 and part.kind == "integer":
            digits = self.radix.split(self.keys, 1)[1].astype("int64")
            return part.words[digits]
        places = xp.arange(self.size, dtype="int64") - self.starts[self.group_of]
        return places.astype("uint64")

    def digits(self, numbers: Array, last: int | None = None) -> list[Array]:
        """Return the numbers of the parts of some ids; see `MixedRadix.split`."""
        return self.radix.split(self.keys[numbers.astype("int64", copy=False)], last)

    def columns(self, roles: dict[str, Array]) -> dict[Any, Series]:
        """Return columns of an answer: the groups, then the ids of some numbers in each role.

        The ids in one row are of one group.
        """
        result: dict[Any, Any] = {}
        for place, (role, numbers) in enumerate(roles.items()):
            values = zip(self.parts, self.labels, self.digits(numbers), strict=True)
            for i, (part, label, digit) in enumerate(values):
                if i >= self.groups:
                    result[name_in_answers(role, label)] = part.take(digit)
                elif place == 0:
                    result[label] = part.take(digit)
        return result

    def names(self, numbers: Array) -> Any:
        """Return a text for each of some ids: its parts, in a Series of pandas."""
        columns = self.backend.library.DataFrame(self.columns({"vertex": numbers}))
        frame = columns.to_pandas() if hasattr(columns, "to_pandas") else columns
        return "(" + frame.astype("str").agg(", ".join, axis=1) + ")"

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


def largest_by_group(values: Array, group: Array, backend: Backend) -> Array:
    """Return, for every value, the largest value of its group."""
    library = backend.library
    largest = library.Series(values).groupby(library.Series(group)).max()
    by_group = backend.xp.zeros(int(group.max()) + 1 if len(group) else 0, values.dtype)
    by_group[backend.array(largest.index)] = backend.array(largest)
    return by_group[group]


def answer_columns(ids: Any, roles: dict[str, Array]) -> dict[Any, Series]:
    """Return columns of an answer: the ids of some numbers in each role."""
    if isinstance(ids, CompositeIds):
        return ids.columns(roles)
    return {role: ids.take(numbers) for role, numbers in roles.items()}


def ids_in_messages(ids: Any, numbers: Array) -> list[Any]:
    """Return some ids as messages show them; ids of several parts are text."""
    names = ids.names(numbers) if isinstance(ids, CompositeIds) else ids.take(numbers)
    return [names.iloc[i] for i in range(len(names))]


def fullest(ids: CompositeIds, counts: Array) -> tuple[int, str]:
    """Return the largest of the counts of groups, and the name of its group."""
    group = int(counts.argmax())
    named = ids.group_columns().items()
    values = (f"{label!r}: {values.iloc[group]}" for label, values in named)
    return int(counts[group]), f"the group {', '.join(values)}"
