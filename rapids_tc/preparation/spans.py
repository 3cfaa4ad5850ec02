"""Times of rows → the windows in which each edge is present, as intervals of windows.

A *presence* says in which windows a row counts: `Windows` are the intervals of time that the user
asks for, `Formation` begins at the row's time and never ends, `Reach` lasts as long as `within=`.
Windows have numbers from 0 on, and a row is in consecutive ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.errors import CapacityError
from rapids_tc.frames.backend import sum64
from rapids_tc.preparation.csr import pack_keys
from rapids_tc.preparation.times import NANOSECONDS, Length, TimeRange, common_unit, finest_unit

if TYPE_CHECKING:
    from rapids_tc._typing import Array, Series
    from rapids_tc.frames.backend import Backend

MOST_WINDOWS = 2**32 - 1  # one past the last is a uint32, too
MOST_EDGES = 2**32  # while intervals are merged, a key is an edge and a window, 32 bits each
LOW_BITS = 2**32 - 1
Intervals = tuple[Any, Any, Any]  # first and last window of each interval; offsets by edge or None


@dataclass(frozen=True)
class Formation:
    """A window per distinct time: an edge is present from its earliest row on.

    Attributes
    ----------
    times : TimeRange
    distinct : array
        The distinct ticks of all rows, ascending, in the memory of the host.
    """

    times: TimeRange
    distinct: Array

    @property
    def count(self) -> int:
        """The number of windows."""
        return len(self.distinct)

    def of(self, ticks: Array, xp: Any) -> tuple[Array, Array]:
        """Return the first and the last window (uint32) of rows."""
        first = xp.searchsorted(xp.asarray(self.distinct), ticks).astype("uint32")
        return first, xp.full(len(ticks), self.count - 1, "uint32")

    def starts(self, backend: Backend) -> Series:
        """Return the times themselves."""
        times, counts = self.times.of_dtype, backend.xp.asarray(self.distinct)
        if times.kind in ("integer", "datetime"):
            counts = (counts + np.uint64(times.first % 2**64)).view(times.number_dtype)
        unit = times.unit if times.kind == "datetime" else ""
        return times.series(counts, unit, backend)


@dataclass(frozen=True)
class Reach(Formation):
    """A window per distinct time: an edge is present from each of its times for a length of time.

    Three edges are present together if and only if some choice of one time each spans at most this
    length.

    Attributes
    ----------
    times, distinct
        See `Formation`.
    within : Length
    """

    within: Length

    def of(self, ticks: Array, xp: Any) -> tuple[Array, Array]:
        """Return the first and the last window (uint32) of rows."""
        times, distinct = self.times, xp.asarray(self.distinct)
        first = xp.searchsorted(distinct, ticks).astype("uint32")
        last = self._reached(times.amount(self.within), ticks, distinct, xp)
        return first, last.astype("uint32")

    def _reached(self, within: Any, ticks: Array, distinct: Array, xp: Any) -> Array:
        """Return the last distinct time that is at most `within` past each time."""
        times = self.times
        if times.kind == "float":
            return _float_reach(distinct, ticks, within, xp) - 1
        if times.kind == "datetime":
            within //= NANOSECONDS[times.unit]
        if within >= times.extent:
            return xp.full(len(ticks), self.count - 1)
        far = np.uint64(within)
        ends = xp.minimum(ticks, np.uint64(times.extent) - far) + far
        return xp.searchsorted(distinct, ends, side="right") - 1


def _float_reach(distinct: Array, times: Array, within: float, xp: Any) -> Array:
    """Return how many distinct times are at most `within` past each time, without rounding.

    The sum and its rounding error are exact together: Knuth's TwoSum.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        ends = times + within
        added = ends - times
        error = (times - (ends - added)) + (within - added)
    below = xp.searchsorted(distinct, ends, side="left")
    return xp.where(error >= 0, xp.searchsorted(distinct, ends, side="right"), below)


@dataclass(frozen=True)
class Windows:
    """Windows [first + k * step, first + k * step + window) from the first to the last time.

    Integers and datetimes are compared exactly. For floats, window k begins at the float64
    first + k * step, and ends at its start + window; if step and window are equal, it ends where
    the next one begins, so that each time is in one window.

    Attributes
    ----------
    times : TimeRange
    window, step : Length
    """

    times: TimeRange
    window: Length
    step: Length

    def __post_init__(self) -> None:
        _ = self.amounts  # raises for lengths that do not fit the times
        if self.times.kind == "float":
            least = float(np.spacing(max(abs(self.times.first), abs(self.times.last))))
            for length in (self.window, self.step):
                if self.times.amount(length) < least:
                    raise ValueError(
                        f"{length.name}={length.value!r} is below {least}, the distance of floats "
                        f"as large as those of time={self.times.label!r}: subtract the first time"
                    )
        elif self.times.kind == "datetime":
            per_unit = NANOSECONDS[self.times.unit] // NANOSECONDS[self._unit]
            ends = self.times.first * per_unit, self.times.last * per_unit
            if self._extent >= 2**64 or min(ends) < -(2**63) or max(ends) >= 2**63:
                raise ValueError(
                    f"the times of time={self.times.label!r} do not fit int64 in the unit of "
                    f"window= and step=, which is finer than theirs: give a whole number of "
                    f"{self.times.unit!r}"
                )

    @cached_property
    def _fine(self) -> int:
        """Nanoseconds in which datetimes are compared."""
        lengths = (self.times.amount(length) for length in (self.window, self.step))
        return common_unit(self.times.unit, *lengths)

    @cached_property
    def _per_tick(self) -> int:
        if self.times.kind != "datetime":
            return 1
        return NANOSECONDS[self.times.unit] // self._fine

    @cached_property
    def amounts(self) -> tuple[Any, Any]:
        """The window and the step, in the unit in which times are compared."""
        window, step = (self.times.amount(length) for length in (self.window, self.step))
        if self.times.kind != "datetime":
            return window, step
        return window // self._fine, step // self._fine

    @property
    def _extent(self) -> int:
        return int(self.times.extent) * self._per_tick

    @property
    def _unit(self) -> str:
        """The unit in which starts are shown: the user's, or a finer one if the step needs it."""
        return finest_unit(self.times.unit, self.times.amount(self.step))

    @cached_property
    def count(self) -> int:
        """The number of windows."""
        times, (_, step) = self.times, self.amounts
        if times.kind == "empty":
            return 0
        if times.kind != "float":
            return self._extent // int(step) + 1
        count = int((Fraction(times.last) - Fraction(times.first)) / Fraction(step)) + 1
        while self._start(count) <= times.last:  # as rounded
            count += 1
        while count > 1 and self._start(count - 1) > times.last:
            count -= 1
        return count

    def counts(self, extents: Array) -> Array:
        """Return the numbers of windows (int64) of ranges of ticks, no floats, by their extents."""
        step = np.uint64(min(self.amounts[1], 2**64 - 1))
        windows = extents * np.uint64(self._per_tick) // step
        return np.minimum(windows, np.uint64(MOST_WINDOWS)).astype("int64") + 1

    def _start(self, k: int) -> float:
        return float(self.times.first + k * self.amounts[1])

    def of(self, ticks: Array, xp: Any) -> tuple[Array, Array]:
        """Return the first and the last window (uint32) of rows; first > last is none."""
        bounds = self._of_floats if self.times.kind == "float" else self._of_ticks
        first, last = bounds(ticks, xp)
        return first.astype("uint32"), last.astype("uint32")

    def _of_floats(self, times: Array, xp: Any) -> tuple[Array, Array]:
        window, step = self.amounts
        starts = self._float_starts(xp)
        ends = starts[1:] if window == step else starts[:-1] + window
        last = xp.searchsorted(starts[:-1], times, side="right") - 1
        return xp.searchsorted(ends, times, side="right"), last

    def _of_ticks(self, ticks: Array, xp: Any) -> tuple[Array, Array]:
        window, step = self.amounts
        if not len(ticks):  # nor is there a last window
            return xp.zeros(0, "uint32"), xp.zeros(0, "uint32")
        ticks = ticks * np.uint64(self._per_tick)
        step = np.uint64(min(step, 2**64 - 1))
        last = xp.minimum(ticks // step, np.uint64(self.count - 1))
        if window > self._extent:
            return xp.zeros(len(ticks), "uint32"), last
        past = ticks >= np.uint64(window)
        first = (ticks - np.uint64(window)) // step + np.uint64(1)
        return xp.where(past, first, np.uint64(0)), last

    def _float_starts(self, xp: Any) -> Array:
        """Return where windows begin, and where one more would."""
        starts = xp.arange(self.count + 1, dtype="float64")
        starts *= self.amounts[1]
        starts += self.times.first
        return starts

    def _no_starts(self, backend: Backend) -> Series:
        """Return no starts, in the dtype that starts of rows would have."""
        times = self.times.of_dtype
        if times.kind == "empty":
            return times.series(backend.xp.zeros(0, "int64"), "", backend)
        of_datetimes = times.kind == "datetime"
        if any(length.is_number == of_datetimes for length in (self.window, self.step)):
            # With rows, lengths of the other kind are an error.
            return Formation(times, np.zeros(0, times.tick_dtype)).starts(backend)
        return replace(self, times=times).starts(backend).iloc[:0]

    def starts(
        self, backend: Backend, windows: Array | None = None, ticks: Array | int = 0
    ) -> Series:
        """Return where windows begin: in the dtype of the times, or float64 of floats.

        Numbers of windows, if given, count from `ticks` on; the times are then no floats.
        """
        times, xp = self.times, backend.xp
        if times.kind == "empty":
            return self._no_starts(backend)
        if times.kind == "float":
            return backend.library.Series(self._float_starts(xp)[:-1])
        step, first, unit = self.amounts[1], times.first, ""
        if times.kind == "datetime":
            unit = self._unit
            step = times.amount(self.step) // NANOSECONDS[unit]
            first = first * NANOSECONDS[times.unit] // NANOSECONDS[unit]
        numbers = xp.arange(self.count) if windows is None else windows
        counts = numbers.astype("uint64") * np.uint64(step % 2**64)
        per_tick = NANOSECONDS[times.unit] // NANOSECONDS[unit] if unit else 1
        counts += ticks * np.uint64(per_tick) if windows is not None else np.uint64(0)
        counts += np.uint64(first % 2**64)  # modulo 2**64
        apart = times.amount(self.step) if unit else 0
        return times.series(counts.view(times.number_dtype), unit, backend, apart)


Presence = Windows | Formation


def merged(edges: Array, first: Array, last: Array, size: int, backend: Backend) -> Intervals:
    """Merge the windows of all rows of each edge into disjoint ascending intervals.

    Parameters
    ----------
    edges : array of int64
        The edge of each row, below `size`; -1 for self loops.
    first, last : array of uint32
        The first and the last window of each row; a row whose first is larger is in none.

    Returns
    -------
    first, last : array of uint32
        Without offsets one interval per edge, empty (first > last) if the edge is in no window;
        with them all intervals, by edge.
    offsets : array of int64, shape (size + 1,), or None
        Where the intervals of each edge begin; None if no edge has two.
    """
    if size > MOST_EDGES:
        raise CapacityError(f"{size:,} edges; times are kept of at most {MOST_EDGES:,}")
    xp = backend.xp
    present = (edges >= 0) & (first <= last)
    if sum64(present) < len(present):
        edges, first, last = edges[present], first[present], last[present]
    del present
    # A gap follows the i-th start if the next start is later than the i-th end, of any row.
    starts, ends = pack_keys(edges, first, xp), pack_keys(edges, last, xp)
    del edges, first, last
    starts.sort()
    ends.sort()
    ends += 1
    begins = xp.ones(len(starts), bool)
    begins[1:] = starts[1:] > ends[:-1]  # of another edge, too: ends are below 2**32
    lasts = xp.ones(len(ends), bool)
    lasts[:-1] = begins[1:]  # an interval ends where the next one begins
    starts, ends = starts[begins], ends[lasts] - 1
    edges = (starts >> 32).astype("int64")
    first, last = (starts & LOW_BITS).astype("uint32"), (ends & LOW_BITS).astype("uint32")
    if sum64(edges[1:] == edges[:-1]):
        return first, last, xp.searchsorted(edges, xp.arange(size + 1))
    first_of, last_of = xp.ones(size, "uint32"), xp.zeros(size, "uint32")  # none
    first_of[edges], last_of[edges] = first, last
    return first_of, last_of, None
