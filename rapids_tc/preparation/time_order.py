"""Rows in the order of time, and where the window of time before each row begins."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from rapids_tc.errors import CHANGED, KernelError
from rapids_tc.frames.backend import all_below, as_names
from rapids_tc.preparation.edge_values import OfRows, Reading
from rapids_tc.preparation.readers import Reader
from rapids_tc.preparation.times import LATEST, joined_profile, profile_times

if TYPE_CHECKING:
    from rapids_tc._typing import Array, Series
    from rapids_tc.frames.backend import Backend
    from rapids_tc.preparation.times import Length, TimeColumn, TimeProfile


@dataclass(frozen=True)
class AsOf:
    """Columns of rows as of their time, as a call asks for them.

    Attributes
    ----------
    names : tuple of str
        Some of `rapids_tc.engines.as_of.COLUMNS`.
    label : label
        The column of times.
    within : Length or None
        How far windows reach back; None: to the first row.
    """

    names: tuple[str, ...]
    label: Any
    within: Length | None

    @property
    def reading(self) -> Reading:
        """What is read of the rows: see `CodeReader`."""
        return Reading(OfRows(), (CodeReader(self.label, self.within),))


@dataclass(frozen=True)
class CodeReader(Reader):
    """A column of times, read as codes: see `rapids_tc.preparation.times`.

    Attributes
    ----------
    label, within
        See `AsOf`.
    times : TimeColumn or None
        What the column holds; None before all parts of it are profiled.
    """

    label: Any
    within: Length | None
    times: TimeColumn | None = None
    role = "time"

    def profile(
        self, column: Series, first: int, backend: Backend, groups: Array | None = None
    ) -> TimeProfile:
        """See `Reader`."""
        return profile_times(column, self.label, None, backend, distinct=False)

    def resolve(self, profiles: list[TimeProfile]) -> CodeReader:
        """See `Reader`: NullIdError if a row has no time."""
        times, _ = joined_profile(profiles)
        if self.within is not None and times.kind != "empty":
            times.amount(self.within)  # which must suit the times
        return replace(self, times=times)

    def read(self, column: Series, backend: Backend, groups: Array | None = None) -> Array:
        """See `Reader`."""
        assert self.times is not None
        return self.times.codes(column, backend)

    def latest(self, codes: Array, xp: Any) -> Array:
        """Return the codes of the latest times whose windows reach back to some times."""
        assert self.times is not None
        if self.within is None or not len(codes):
            return xp.full(len(codes), LATEST)
        return self.times.latest(codes, self.within, xp)

    def first(self, codes: Array, xp: Any) -> Array:
        """Return where the window of each row begins (uint32), of rows in the order of time."""
        if self.within is None:
            return xp.zeros(len(codes), "uint32")
        # Codes are exact, so that a row is in reach if the latest time in its reach is not before.
        return xp.searchsorted(self.latest(codes, xp), codes).astype("uint32")


@dataclass(frozen=True)
class TimeOrder:
    """The order of rows by time; those of equal times stay in the order of the frame.

    Attributes
    ----------
    order : array of int64 or None
        The row at each place; None if rows are in this order already.
    first : array of uint32
        Of each place, in this order, that of the earliest row in its window.
    """

    order: Array | None
    first: Array

    def numbers(self, end: Array, size: int) -> Array:
        """Return the numbers (uint32, below `size`) of one end of all rows, in this order.

        They are a copy: the numbers of a frame may be the user's memory.
        """
        numbers = as_names(end)
        numbers = numbers.copy() if self.order is None else numbers[self.order]
        if not all_below(numbers, size):
            raise KernelError(CHANGED)
        return numbers

    def by_row(self, values: Array, xp: Any) -> Array:
        """Return values that are in this order as values of rows."""
        if self.order is None:
            return values
        of_rows = xp.empty(len(values), values.dtype)
        of_rows[self.order] = values
        return of_rows


def order_of(column: Series, asked: AsOf, backend: Backend) -> TimeOrder:
    """Order rows by their column of times.

    Raises
    ------
    NullIdError
        A row has no time.
    ValueError
        The column holds no times, or `within` does not suit them.
    """
    xp, [reader] = backend.xp, asked.reading.whole([column], backend).readers
    codes, order = reader.read(column, backend), None
    if bool((codes[1:] < codes[:-1]).any()):
        order = xp.argsort(codes, kind="stable")
        codes = codes[order]
    return TimeOrder(order, cast("CodeReader", reader).first(codes, xp))
