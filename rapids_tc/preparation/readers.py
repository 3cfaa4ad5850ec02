"""Readers of a column of the user's rows, such as weights, which give a value per row."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

from rapids_tc.frames.backend import sum64
from rapids_tc.preparation.decimals import as_numbers

if TYPE_CHECKING:
    from rapids_tc._typing import Array, Series
    from rapids_tc.frames.backend import Backend
    from rapids_tc.preparation.ids import Ids
    from rapids_tc.preparation.orient import Order


EXACT = 2.0**53  # integers below this are float64 each


class Reader(ABC):
    """A column of the user's rows that is read as an array, some rows at a time.

    First every part of the column is profiled; then `resolve` decides from all profiles, once, and
    returns the reader that reads. Readers and profiles travel between machines.

    Attributes
    ----------
    role : str
        The option that names the column.
    label : label
        The column.
    """

    role: str
    label: Any

    @property
    def remarks(self) -> list[str]:
        """What users are told of the column, once it is resolved, in sentences."""
        return []

    @property
    def by_group(self) -> bool:
        """Whether the values of a group have a meaning of their own: see `TimeReader`."""
        return False

    @abstractmethod
    def profile(
        self, column: Series, first: int, backend: Backend, groups: Array | None = None
    ) -> Any:
        """Profile a part of the column; `first` is the number of its first row in the frame.

        `groups` is the group of each row, if the graph has groups and `by_group` is true.
        """

    @abstractmethod
    def resolve(self, profiles: list[Any]) -> Reader:
        """Return the reader for all parts; raise ValueError if some values are unusable."""

    def whole(self, column: Series, backend: Backend, groups: Array | None = None) -> Reader:
        """Return the reader for a column of which there are no other parts."""
        return self.resolve([self.profile(column, 0, backend, groups)])

    @abstractmethod
    def read(self, column: Series, backend: Backend, groups: Array | None = None) -> Array:
        """Read a part of the column; `groups` as for `profile`."""

    def show(self, value: Any) -> str:
        """Return a value that was read as messages show it."""
        return repr(value)


class VertexReader(ABC):
    """Types of vertices, which the user gives beside the edges.

    Attributes
    ----------
    types : Series or None
        All types of the graph's vertices, sorted, once they are resolved.
    codes : array of uint8 or None
        The type of every rank, as its place in `types`.
    """

    types: Any
    codes: Any

    @property
    def remarks(self) -> list[str]:
        """What users are told of the types, once they are resolved, in sentences."""
        return []

    @abstractmethod
    def resolve(self, ids: Ids, order: Order) -> VertexReader:
        """Find the type of every vertex of a graph."""


@dataclass(frozen=True)
class NumberProfile:
    """The unusable values in a part of a column: their number, and the first of their rows.

    `dtype` is the dtype of a column that is not of numbers, else empty. `rounded` says whether some
    integers have no float64.
    """

    dtype: str
    unusable: int
    first: int
    rounded: bool = False


@dataclass(frozen=True)
class NumberReader(Reader):
    """A column of finite numbers, read as float64.

    Attributes
    ----------
    role, label
        See `Reader`.
    what, problem : str
        What the values are called in messages, and what is wrong with values that are unusable.
    """

    role: str
    label: Any
    what = "values"
    problem = "missing or infinite"
    exact = True  # whether values are compared or added up, so that none may be rounded

    def profile(
        self, column: Series, first: int, backend: Backend, groups: Array | None = None
    ) -> NumberProfile:
        """See `Reader`."""
        column = as_numbers(column)
        if len(column) and column.dtype.kind not in "iuf":
            return NumberProfile(str(column.dtype), 0, 0)
        values = _floats(column, backend)
        bad = ~self.usable(values)
        unusable, rounded = sum64(bad), False
        if self.exact and len(column) and column.dtype.kind in "iu":
            rounded = bool(sum64(abs(values) >= EXACT))
        return NumberProfile("", unusable, first + int(bad.argmax()) if unusable else 0, rounded)

    def usable(self, values: Array) -> Array:
        """Return which values are usable; NaN compares as false."""
        return abs(values) < inf

    def resolve(self, profiles: list[NumberProfile]) -> NumberReader:
        """See `Reader`."""
        for profile in profiles:
            if profile.dtype:
                raise ValueError(
                    f"{self.role}={self.label!r} has dtype {profile.dtype}; accepted: integers, "
                    "floats, decimals"
                )
        if any(profile.rounded for profile in profiles):
            raise ValueError(
                f"{self.role}={self.label!r}: some integers have more than 53 bits, and are "
                "rounded to float64: divide them, or cast the column to float64 yourself"
            )
        bad = [profile for profile in profiles if profile.unusable]
        if bad:
            raise ValueError(
                f"{self.role}={self.label!r}: {sum(p.unusable for p in bad):,} of the {self.what} "
                f"are {self.problem}, the first in row {min(p.first for p in bad)}; drop those "
                "rows or fill them first"
            )
        return self

    def read(self, column: Series, backend: Backend, groups: Array | None = None) -> Array:
        """See `Reader`."""
        return _floats(column, backend)

    def show(self, value: Any) -> str:
        """See `Reader`."""
        return repr(float(value))


@dataclass(frozen=True)
class WeightReader(NumberReader):
    """A column of weights: finite numbers from 0 on."""

    role: str = "weight"
    label: Any = None
    what = "weights"
    problem = "missing, negative or infinite"

    def usable(self, values: Array) -> Array:
        """See `NumberReader`."""
        return (values >= 0) & (values < inf)


def _floats(column: Series, backend: Backend) -> Array:
    """Return a column of numbers as float64; missing values are NaN."""
    column = as_numbers(column).astype("float64")
    if backend.library.__name__ == "cudf":
        column = column.fillna(float("nan"))
    return backend.array(column)
