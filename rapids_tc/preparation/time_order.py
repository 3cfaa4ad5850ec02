"""Rows in the order of time, and where the window of time before each row begins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rapids_tc.errors import CHANGED, KernelError
from rapids_tc.frames.backend import all_below, as_names
from rapids_tc.preparation.times import joined_profile, profile_times

if TYPE_CHECKING:
    from rapids_tc._typing import Array, Series
    from rapids_tc.frames.backend import Backend
    from rapids_tc.preparation.times import Length


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


def order_of(column: Series, label: Any, within: Length | None, backend: Backend) -> TimeOrder:
    """Order rows by a column of times; their windows reach back by `within`, or to the first row.

    Raises
    ------
    NullIdError
        A row has no time.
    ValueError
        The column holds no times, or `within` does not suit them.
    """
    xp, profile = backend.xp, profile_times(column, label, None, backend, distinct=False)
    times, _ = joined_profile([profile])
    codes, order = times.codes(column, backend), None
    if bool((codes[1:] < codes[:-1]).any()):
        order = xp.argsort(codes, kind="stable")
        codes = codes[order]
    if within is None or not len(codes):
        return TimeOrder(order, xp.zeros(len(codes), "uint32"))
    # Codes are exact, so that a row is in reach if the latest time in its reach is not before.
    first = xp.searchsorted(times.latest(codes, within, xp), codes)
    return TimeOrder(order, first.astype("uint32"))
