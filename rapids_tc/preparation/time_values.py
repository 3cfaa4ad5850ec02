"""Times of the user's rows as values of edges: the windows in which each edge is present."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from rapids_tc.errors import CapacityError
from rapids_tc.plan import costs
from rapids_tc.preparation.calendars import START, Calendar, Origin
from rapids_tc.preparation.edge_values import Readers, Reading, Rule
from rapids_tc.preparation.intervals import merged
from rapids_tc.preparation.readers import Reader
from rapids_tc.preparation.spans import (
    MOST_WINDOWS,
    Formation,
    Presence,
    Windows,
    has_ticks,
    reach,
)
from rapids_tc.preparation.times import (
    Length,
    TimeColumn,
    joined_profile,
    profile_times,
)
from rapids_tc.preparation.windows import laid_out

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rapids_tc._typing import Array, Series
    from rapids_tc.frames.backend import Backend
    from rapids_tc.preparation.edge_values import EdgeRows
    from rapids_tc.preparation.times import TimeProfile


@dataclass(frozen=True)
class TimeReader(Reader):
    """A column of times, read as windows: first << 32 | last, uint64; see `Presence`.

    Attributes
    ----------
    label : label
        The column.
    window, step : Length, Calendar or None
        The windows that are asked for, if any.
    origin : Origin
        From where they are laid out.
    within : Length or None
        How far apart the times of a triangle may be. Without it, and without windows, an edge stays
        from its first time on.
    memory : int or None
        Bytes that windows may take.
    times : TimeColumn or None
        What the column holds; None before all parts of it are profiled.
    presence : Presence or None
        In which windows a row counts; None before all parts of the column are profiled.
    """

    label: Any
    window: Length | Calendar | None = None
    step: Length | None = None
    within: Length | None = None
    origin: Origin = START
    memory: int | None = None
    times: TimeColumn | None = None
    presence: Presence | None = None
    role = "time"

    @property
    def by_group(self) -> bool:
        """Whether each group has windows of its own: unless lengths of time alone count."""
        return self.within is None

    def profile(
        self, column: Series, first: int, backend: Backend, groups: Array | None = None
    ) -> TimeProfile:
        """See `Reader`."""
        distinct = self.window is None
        return profile_times(column, self.label, groups, backend, distinct=distinct)

    def whole(self, column: Series, backend: Backend, groups: Array | None = None) -> TimeReader:
        """See `Reader`: for `within` the first and the last time are often enough."""
        if self.within is not None:
            ends = profile_times(column, self.label, groups, backend, distinct=False)
            if has_ticks(ends.times, ends.line):
                return self.resolve([ends])
        return self.resolve([self.profile(column, 0, backend, groups)])

    def resolve(self, profiles: list[TimeProfile]) -> TimeReader:
        """See `Reader`; CapacityError if there are more windows than memory holds."""
        times, line = joined_profile(profiles)
        presence: Presence
        if self.window is not None:
            step = self.step or self.window
            check = self.require_memory
            presence = laid_out(times, line, self.window, step, check, self.origin)
        elif self.within is not None:
            presence = reach(times, line, self.within)
        else:
            presence = Formation(times, line)
        return replace(self, times=times, presence=presence)

    def require_memory(self, windows: int) -> None:
        """Raise CapacityError if so many windows are more than memory holds."""
        most = costs.WINDOW * MOST_WINDOWS
        memory, need = min(most, self.memory or most), costs.WINDOW * windows
        if need > memory:
            raise CapacityError(
                f"{windows:,} windows take about {need:,} bytes, and {memory:,} may be taken: give "
                "a longer step="
            )

    def read(self, column: Series, backend: Backend, groups: Array | None = None) -> Array:
        """See `Reader`."""
        codes = cast("TimeColumn", self.times).codes(column, backend)
        first, last = cast("Presence", self.presence).of(codes, groups, backend.xp)
        windows = first.astype("uint64")
        windows <<= 32
        windows |= last.view("uint64")
        return windows


@dataclass(frozen=True)
class Intervals(Rule):
    """The windows of each edge, as three arrays: first, last and offsets of intervals.

    See `rapids_tc.preparation.intervals.merged`; the offsets are empty if each edge has one
    interval. With `arcs` these are of arcs, two of each edge.
    """

    arcs: str = ""
    ordered = False

    @property
    def directed(self) -> bool:  # type: ignore[override]
        """See `Rule`."""
        return bool(self.arcs)

    @property
    def takes_loops(self) -> bool:  # type: ignore[override]
        """See `Rule`."""
        return not self.arcs

    @property
    def bytes(self) -> int:
        """See `Rule`: if no edge has a second interval, which is not known before rows are read."""
        return 32 if self.arcs else 16

    def collect(
        self, chunks: Iterable[EdgeRows], edges: int, readers: Readers, backend: Backend
    ) -> list[Array]:
        """See `Rule`."""
        xp = backend.xp
        if self.arcs:
            chunks, edges = [rows.arcs(edges) for rows in chunks], 2 * edges
        parts = [(rows.edge, *rows.values) for rows in chunks] or [
            (xp.zeros(0, "int64"), xp.zeros(0, "uint64"))
        ]
        edge, windows = (
            xp.concatenate(part) if part[1:] else part[0] for part in zip(*parts, strict=True)
        )
        del parts
        first, last, offsets = merged(edge, windows, edges, backend)
        return [first, last, xp.zeros(0, "int64") if offsets is None else offsets]


def windows_of(reader: Reader | None) -> Windows:
    """Return the windows of a reader of times that is resolved, without `within`."""
    return cast("Windows", cast("TimeReader", reader).presence)


def reading(
    label: Any,
    *,
    window: Length | Calendar | None = None,
    step: Length | None = None,
    within: Length | None = None,
    origin: Origin = START,
) -> Reading:
    """Return the reading of the windows in which each edge is present; see `TimeReader`."""
    return Reading(Intervals(), (TimeReader(label, window, step, within, origin),))


def with_memory(of_times: Reading, memory: int) -> Reading:
    """Return a reading whose windows may take so many bytes, or fewer if it says so already."""
    reader = cast("TimeReader", of_times.readers[0])
    limited = replace(reader, memory=min(memory, reader.memory or memory))
    return replace(of_times, readers=(limited,))


def check_together(time: Any, within: Any) -> None:
    """Raise ValueError unless both or neither of `time` and `within` are given."""
    if (time is None) != (within is None):
        absent, present = ("time", "within") if time is None else ("within", "time")
        raise ValueError(f"{present}= was given without {absent}=: give both, or neither")
